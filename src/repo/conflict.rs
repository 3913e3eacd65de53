//! What git leaves where two sides of a merge differ.

use std::ops::Range;

/// Returns the first mark of a merge conflict in a text; a parser stumbles over what follows it.
pub fn conflict(text: &str) -> Option<Range<usize>> {
    let begins = |mark: &str| {
        let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some((*at - line.len(), line))
        });
        lines.find(|(_, line)| line.starts_with(mark)).map(|(at, _)| at)
    };
    let (start, end) = (begins("<<<<<<< ")?, begins(">>>>>>> ")?);
    (start < end).then(|| start..start + 7)
}
