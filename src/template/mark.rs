//! Marks around written values.

use std::ops::Range;

/// Stand around each written value until the result is checked. No value holds them: both are
/// written as escapes.
pub(super) const OPEN: char = '\u{e000}';
pub(super) const CLOSE: char = '\u{e001}';

/// Takes the marks away and tells where the written values stand.
pub(super) fn unmark(marked: &str) -> (String, Vec<Range<usize>>) {
    let mut text = String::with_capacity(marked.len());
    let mut written = Vec::new();
    let mut open = Vec::new();
    for c in marked.chars() {
        match c {
            OPEN => open.push(text.len()),
            CLOSE => written.extend(open.pop().map(|start| start..text.len())),
            _ => text.push(c),
        }
    }
    (text, written)
}
