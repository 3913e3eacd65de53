//! Text of new lines and the style that they take from the file.

use super::lines;
use super::node::{Node, NodeKind};

/// The indentation that a document uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Columns from a key to the keys of the mapping below it.
    pub(crate) step: usize,
    /// Columns from a key to the dashes of the list below it.
    pub(crate) list: usize,
}

impl Style {
    /// Takes the style from the first block list and the first nested block mapping.
    ///
    /// Two columns for what the document does not show.
    pub(crate) fn of(text: &str, root: &Node) -> Style {
        let mut found = (None, None);
        look(text, root, &mut found);
        let step = found.0.unwrap_or(2);
        Style { step, list: found.1.unwrap_or(2) }
    }
}

fn look(text: &str, node: &Node, found: &mut (Option<usize>, Option<usize>)) {
    match &node.kind {
        NodeKind::Mapping(entries) => {
            for (key, value) in entries {
                if !node.flow
                    && !value.flow
                    && let Some(by) = distance(text, key.start, value.span.start)
                {
                    match &value.kind {
                        NodeKind::Mapping(_) if by > 0 => found.0 = found.0.or(Some(by)),
                        NodeKind::Sequence(_) => found.1 = found.1.or(Some(by)),
                        _ => {}
                    }
                }
                look(text, value, found);
            }
        }
        NodeKind::Sequence(items) => items.iter().for_each(|item| look(text, item, found)),
        _ => {}
    }
}

fn distance(text: &str, key: usize, value: usize) -> Option<usize> {
    column(text, value)?.checked_sub(column(text, key)?)
}

/// Returns the column of an offset; `None` where a tab stands before it.
pub(crate) fn column(text: &str, at: usize) -> Option<usize> {
    let before = &text[lines::line_start(text, at)..at];
    let before = before.strip_prefix('\u{feff}').unwrap_or(before);
    (!before.contains('\t')).then(|| before.chars().count())
}

/// Returns whether only spaces stand before an offset on its line.
pub(crate) fn first_on_line(text: &str, at: usize) -> bool {
    let before = &text[lines::line_start(text, at)..at];
    before.strip_prefix('\u{feff}').unwrap_or(before).bytes().all(|byte| byte == b' ')
}

/// A mapping entry to write: as lines, or on one line in flow style.
#[derive(Clone, Debug)]
pub(crate) struct NewEntry {
    pub(crate) block: Vec<String>,
    pub(crate) flow: String,
}

impl NewEntry {
    /// An entry with a value on the key's line.
    pub(crate) fn scalar(key: &str, value: &str) -> NewEntry {
        let text = format!("{}: {value}", super::quote(key));
        NewEntry { block: vec![text.clone()], flow: text }
    }

    /// An entry that holds a list of these items.
    pub(crate) fn list(key: &str, items: &NewItems, style: Style) -> NewEntry {
        let key = super::quote(key);
        let mut block = vec![format!("{key}:")];
        block.extend(items.lines(1).iter().map(|line| indent(line, style.list)));
        NewEntry { block, flow: format!("{key}: [{}]", items.flow) }
    }

    /// The entry as the only one of a mapping below `key`.
    pub(crate) fn under(self, key: &str, style: Style) -> NewEntry {
        let key = super::quote(key);
        let mut block = vec![format!("{key}:")];
        block.extend(self.block.iter().map(|line| indent(line, style.step)));
        NewEntry { block, flow: format!("{key}: {{{}}}", self.flow) }
    }
}

/// List items to write: each as lines without the dash, or all on one line in flow style.
#[derive(Clone, Debug)]
pub(crate) struct NewItems {
    pub(crate) contents: Vec<Vec<String>>,
    pub(crate) flow: String,
}

impl NewItems {
    /// Returns the lines, each item's first with a dash and `gap` spaces after it.
    pub(crate) fn lines(&self, gap: usize) -> Vec<String> {
        let line = |(index, line): (usize, &String)| match index {
            0 => format!("-{}{line}", " ".repeat(gap)),
            _ => indent(line, gap + 1),
        };
        self.contents.iter().flat_map(|content| content.iter().enumerate().map(line)).collect()
    }
}

/// Puts spaces before a line that is not empty.
pub(crate) fn indent(line: &str, by: usize) -> String {
    if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(by)) }
}

/// Splits text into lines without the indentation that all of them share.
pub(crate) fn dedent(block: &str) -> Vec<String> {
    let lines: Vec<&str> = block.lines().collect();
    let shared = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    lines.iter().map(|line| line.get(shared..).unwrap_or_default().to_owned()).collect()
}
