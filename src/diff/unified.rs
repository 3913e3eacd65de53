//! The diff that a person reads on a terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::change::Changes;
use crate::diff::brief::{self, Brief};
use crate::diff::clean::clean;
use crate::diff::file::{FileChange, file_changes};
use crate::diff::hunk::{CONTEXT, Sign, hunks};
use crate::diff::patch::header;

const TITLE: Style = Style::new().bold();
const HUNK: Style = AnsiColor::Cyan.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// What a line of the diff is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A line above the hunks.
    Header,
    /// A line that begins a hunk.
    Hunk,
    /// A line of a file.
    Line(Sign),
    /// A remark such as the missing line feed.
    Remark,
}

impl Part {
    /// Returns whether it says what changes, wherever that stands.
    pub(super) fn is_of_body(self) -> bool {
        matches!(self, Part::Line(_) | Part::Remark)
    }
}

/// Returns the plan as a unified diff for people, each line ended by a line feed.
///
/// Whatever the files hold, no control character but tabs and line feeds is in it: see
/// [`clean`](crate::diff::clean). So it is no patch; [`patch`](crate::diff::patch()) is. Files that
/// hold NUL bytes are named and not shown.
pub fn unified(plan: &Changes, color: bool) -> String {
    painted(file_changes(plan).iter().flat_map(shown), color)
}

/// As [`unified`], but that what changes alike is shown once, and that text which stays in comments is counted; tells also
/// whether anything is left out by that.
pub fn brief(plan: &Changes, color: bool) -> (String, bool) {
    let Brief { lines, is_cut } = brief::brief(plan);
    (painted(lines, color), is_cut)
}

fn painted(lines: impl IntoIterator<Item = (Part, String)>, color: bool) -> String {
    let mut out = String::new();
    for (part, line) in lines {
        let style = match part {
            _ if !color => Style::new(),
            Part::Header => TITLE,
            Part::Hunk => HUNK,
            Part::Line(Sign::Removed) => REMOVED,
            Part::Line(Sign::Added) => ADDED,
            Part::Line(Sign::Context) | Part::Remark => Style::new(),
        };
        let _ = writeln!(out, "{style}{line}{style:#}");
    }
    out
}

/// Returns one file's diff as clean lines without line feeds.
pub(super) fn shown(change: &FileChange<'_>) -> Vec<(Part, String)> {
    let header = header(change);
    let mut out: Vec<_> =
        header.lines().map(|line| (Part::Header, clean(line.trim_end().as_bytes()))).collect();
    let (before, after) = change.bytes();
    if change.is_binary() {
        if before != after {
            let sizes = format!("binary: {} bytes before, {} after", before.len(), after.len());
            out.push((Part::Remark, sizes));
        }
        return out;
    }
    for hunk in hunks(before, after, CONTEXT) {
        out.push((Part::Hunk, hunk.header()));
        for (sign, line) in &hunk.lines {
            let text = line.strip_suffix(b"\n");
            out.push((Part::Line(*sign), format!("{}{}", sign.as_char(), clean(text.unwrap_or(line)))));
            if text.is_none() {
                out.push((Part::Remark, "\\ No newline at end of file".to_owned()));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::diff::file::Kind;
    use crate::path::RepoPath;
    use crate::repo::File;

    /// Path, where it was moved from, bytes before and after.
    type Row<'a> = (&'a str, Option<&'a str>, Option<&'a [u8]>, Option<&'a [u8]>);

    fn plan(changes: &[Row<'_>]) -> Changes {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let file = |bytes: &Option<&[u8]>| bytes.map(File::new);
        let changes = changes.iter().map(|(name, from, before, after)| {
            let moved_from = from.map(path);
            (path(name), Change { before: file(before), after: file(after), moved_from })
        });
        changes.collect()
    }

    #[test]
    fn a_removal_and_a_creation_of_the_same_bytes_are_a_move() {
        let moved =
            plan(&[("a/x.yaml", None, Some(b"x"), None), ("b/x.yaml", Some("a/x.yaml"), None, Some(b"x"))]);
        let expected = "diff --git a/a/x.yaml b/b/x.yaml\nsimilarity index 100%\n\
            rename from a/x.yaml\nrename to b/x.yaml\n";
        assert_eq!(unified(&moved, false), expected);
        assert_eq!(file_changes(&moved)[0].kind(), Kind::Move);
    }

    #[test]
    fn what_only_looks_like_a_move_is_none() {
        let kept = plan(&[("b", Some("a"), None, Some(b"x"))]);
        let twice = plan(&[
            ("a", None, Some(b"x"), None),
            ("b", Some("a"), None, Some(b"x")),
            ("c", Some("a"), None, Some(b"x")),
        ]);
        let edited = plan(&[("a", None, Some(b"x"), None), ("b", Some("a"), None, Some(b"y"))]);
        let over = plan(&[("a", None, Some(b"x"), None), ("b", Some("a"), Some(b"o"), Some(b"x"))]);
        let kinds = |plan: &Changes| file_changes(plan).iter().map(FileChange::kind).collect::<Vec<_>>();
        assert_eq!(kinds(&kept), [Kind::Create]);
        assert_eq!(kinds(&twice), [Kind::Move, Kind::Create]);
        assert_eq!(kinds(&edited), [Kind::Remove, Kind::Create]);
        assert_eq!(kinds(&over), [Kind::Remove, Kind::Edit]);
    }

    #[test]
    fn no_control_character_reaches_the_terminal() {
        let hostile =
            plan(&[("a", None, Some(b"\x1b]0;x\x07 \xe2\x80\xae\xc2\x9b\n"), Some(b"\xff\rz\x7f"))]);
        let text = unified(&hostile, false);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains("-␛]0;x␇ <U+202E><U+009B>\n+<FF>␍z␡\n\\ No newline"), "{text}");
        let coloured = unified(&hostile, true);
        assert!(coloured.contains("\x1b[31m-␛]0;x␇"), "{coloured:?}");
    }

    #[test]
    fn binary_files_are_named_and_not_shown() {
        let binary = plan(&[("a", None, Some(b"\0\x01"), Some(b"text"))]);
        assert!(unified(&binary, false).ends_with("+++ b/a\nbinary: 2 bytes before, 4 after\n"));
    }
}
