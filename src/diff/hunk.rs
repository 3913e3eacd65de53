//! The hunks of a unified diff, over bytes and split at line feeds only, as git splits.

use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, group_diff_ops};

/// Lines of context around a change, as git shows.
pub(crate) const CONTEXT: usize = 3;

/// With more differing lines than this a file is shown as replaced: a diff of unrelated texts takes
/// quadratic time, and nobody reads it.
const EFFORT: usize = 10_000;

/// How a line of a hunk begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// In both files.
    Context,
    /// In the old file only.
    Removed,
    /// In the new file only.
    Added,
}

impl Sign {
    /// Returns the character that stands before the line.
    pub(crate) fn as_char(self) -> char {
        match self {
            Sign::Context => ' ',
            Sign::Removed => '-',
            Sign::Added => '+',
        }
    }
}

/// A stretch of changed lines with its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// Ranges of lines in the old and the new file, counted from 0.
    pub(super) old: Range<usize>,
    pub(crate) new: Range<usize>,
    /// The lines with their line feeds; only a file's last line may lack it.
    pub(crate) lines: Vec<(Sign, &'a [u8])>,
}

impl Hunk<'_> {
    /// Returns the line that begins the hunk, without a line feed.
    pub(super) fn header(&self) -> String {
        format!("@@ -{} +{} @@", range(&self.old), range(&self.new))
    }
}

fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        // An empty range is named by the line before it.
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        length => format!("{},{length}", lines.start + 1),
    }
}

/// Returns the hunks that turn `old` into `new`, with so many lines of context; none when they are equal.
pub(crate) fn hunks<'a>(old: &'a [u8], new: &'a [u8], context: usize) -> Vec<Hunk<'a>> {
    let (old, new) = (lines(old), lines(new));
    let groups = group_diff_ops(operations(&old, &new), context);
    let hunk = |group: Vec<DiffOp>| {
        let (first, last) = (group.first()?, group.last()?);
        let mut lines = Vec::new();
        for operation in &group {
            let (tag, old_range, new_range) = operation.as_tag_tuple();
            if tag == similar::DiffTag::Equal {
                lines.extend(old[old_range].iter().map(|line| (Sign::Context, *line)));
            } else {
                lines.extend(old[old_range].iter().map(|line| (Sign::Removed, *line)));
                lines.extend(new[new_range].iter().map(|line| (Sign::Added, *line)));
            }
        }
        Some(Hunk {
            old: first.old_range().start..last.old_range().end,
            new: first.new_range().start..last.new_range().end,
            lines,
        })
    };
    groups.into_iter().filter_map(hunk).collect()
}

fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (old.len() - front - back, new.len() - front - back);
    if old_len + new_len <= EFFORT {
        // Asked by its name, no other algorithm is compiled.
        let mut found = Compact::new(Replace::new(Capture::new()), old, new);
        let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
        return found.into_inner().into_inner().into_ops();
    }
    let mut operations = Vec::new();
    if front > 0 {
        operations.push(DiffOp::Equal { old_index: 0, new_index: 0, len: front });
    }
    operations.push(DiffOp::Replace { old_index: front, old_len, new_index: front, new_len });
    if back > 0 {
        operations.push(DiffOp::Equal { old_index: front + old_len, new_index: front + new_len, len: back });
    }
    operations
}

/// Splits after each line feed. A lone carriage return ends no line.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(old: &str, new: &str) -> Vec<String> {
        hunks(old.as_bytes(), new.as_bytes(), CONTEXT).iter().map(Hunk::header).collect()
    }

    #[test]
    fn counts_lines_as_git_does() {
        assert_eq!(headers("a\n", "a\n"), [""; 0]);
        assert_eq!(headers("", "a\nb"), ["@@ -0,0 +1,2 @@"]);
        assert_eq!(headers("a\n", ""), ["@@ -1 +0,0 @@"]);
        assert_eq!(headers("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n"), ["@@ -2,4 +2,4 @@"]);
        assert_eq!(headers("a\rb\n", "a\rc\n"), ["@@ -1 +1 @@"]);
    }

    #[test]
    fn unrelated_large_files_are_replaced_as_a_whole() {
        let old: String = (0..9_000).map(|n| format!("a{n}\n")).collect();
        let new: String = (0..9_000).map(|n| format!("b{n}\n")).collect();
        let old = format!("same\n{old}end\n");
        let new = format!("same\n{new}end\n");
        assert_eq!(headers(&old, &new), ["@@ -1,9002 +1,9002 @@"]);
    }
}
