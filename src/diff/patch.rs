//! The patch that `git apply` takes.

use std::fmt::Write;

use crate::change::{Changes, similarity};
use crate::diff::file::{FileChange, Kind, file_changes};
use crate::diff::hunk::{CONTEXT, hunks};
use crate::repo::File;

/// Returns the plan as a patch; `git apply` at the top of the repository makes what the writer makes.
///
/// Contents are exact bytes, whatever their encoding: git takes hunks as bytes, so a file that is no
/// text needs no other form, and the patch fits repositories of SHA-1 and SHA-256 objects alike.
/// Names are quoted as git quotes them. An empty plan gives nothing.
///
/// A `git apply` that is configured to mend white space (`apply.whitespace=fix`) or line endings
/// changes what it applies; `--whitespace=nowarn` takes the patch as it is.
pub fn patch(plan: &Changes) -> Vec<u8> {
    let mut out = Vec::new();
    for change in file_changes(plan) {
        out.extend_from_slice(header(&change).as_bytes());
        let (before, after) = change.bytes();
        for hunk in hunks(before, after, CONTEXT) {
            out.extend_from_slice(hunk.header().as_bytes());
            out.push(b'\n');
            for (sign, line) in &hunk.lines {
                out.push(sign.as_char() as u8);
                out.extend_from_slice(line);
                if !line.ends_with(b"\n") {
                    out.extend_from_slice(b"\n\\ No newline at end of file\n");
                }
            }
        }
    }
    out
}

/// Returns git's lines above a file's hunks, each ended by a line feed.
pub(super) fn header(change: &FileChange<'_>) -> String {
    let old = change.from.unwrap_or(change.path).as_str();
    let new = change.path.as_str();
    let mut out = String::new();
    let _ = writeln!(out, "diff --git {} {}", quoted("a/", old), quoted("b/", new));
    let mode = |file: Option<&File>| match file {
        Some(file) if file.executable => "100755",
        _ => "100644",
    };
    let (before, after) = (mode(change.before), mode(change.after));
    match change.kind() {
        Kind::Create => {
            let _ = writeln!(out, "new file mode {after}");
        }
        Kind::Remove => {
            let _ = writeln!(out, "deleted file mode {before}");
        }
        Kind::Edit | Kind::Move if before != after => {
            let _ = writeln!(out, "old mode {before}\nnew mode {after}");
        }
        Kind::Edit | Kind::Move => {}
    }
    let (old_bytes, new_bytes) = change.bytes();
    if let (Kind::Move, Some(before), Some(after)) = (change.kind(), change.before, change.after) {
        let (from, to) = (quoted("", old), quoted("", new));
        let same = if old_bytes == new_bytes { 100 } else { similarity(before, after).min(99) };
        let _ = writeln!(out, "similarity index {same}%\nrename from {from}\nrename to {to}");
    }
    if old_bytes != new_bytes {
        // A tab after a name with a space keeps readers from ending the name there.
        let side = |prefix, name: &str, file: Option<&File>| match file {
            None => "/dev/null".to_owned(),
            Some(_) if name.contains(' ') => quoted(prefix, name) + "\t",
            Some(_) => quoted(prefix, name),
        };
        let _ = writeln!(out, "--- {}", side("a/", old, change.before));
        let _ = writeln!(out, "+++ {}", side("b/", new, change.after));
    }
    out
}

/// Writes a name as git does with `core.quotePath=false`: in C's quotes where it holds a control
/// character, a quote or a backslash (git, quote.c, `quote_c_style`).
fn quoted(prefix: &str, name: &str) -> String {
    if !name.bytes().any(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)) {
        return format!("{prefix}{name}");
    }
    let mut out = format!("\"{prefix}");
    for character in name.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if (control as u32) < 0x20 || control == '\x7f' => {
                let _ = write!(out, "\\{:03o}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;
