//! The plan as a pull request's comment.

use crate::change::Changes;
use crate::diff::brief::brief;
use crate::diff::clean::clean;
use crate::diff::file::{FileChange, Kind, file_changes};

/// GitHub refuses comments above 65,536 characters; this leaves room for a sender's own line.
pub const LIMIT: usize = 65_000;

/// Room that the fixed text around table and diff takes at most.
const FRAME: usize = 600;

/// Returns the plan as Markdown of at most `limit` bytes: a headline, a table of files, the diff.
///
/// `limit` is held between 1,000 and [`LIMIT`]. What does not fit is cut at the end of a line, the
/// table after half of the room, and the text says how much was cut. What files and names hold can't
/// end the fence, the table or the folded part.
pub fn markdown(plan: &Changes, limit: usize) -> String {
    let limit = limit.clamp(1_000, LIMIT);
    let changes = file_changes(plan);
    if changes.is_empty() {
        return "Nothing changes.\n".to_owned();
    }
    let mut out = format!("**{}**\n\n| change | file |\n|---|---|\n", headline(&changes));
    let rows: Vec<String> = changes.iter().map(row).collect();
    let kept = fitting(&rows, (limit - FRAME) / 2);
    out.extend(rows[..kept].iter().map(String::as_str));
    if kept < rows.len() {
        out.push_str(&format!("| … | {} more files |\n", rows.len() - kept));
    }

    let lines: Vec<String> = brief(plan).lines.into_iter().map(|(_, line)| line + "\n").collect();
    // A fence longer than the room would leave none for the diff: then the diff is cut as a whole.
    let fence = fence(&lines);
    let room = limit.saturating_sub(out.len() + FRAME + 2 * fence.len());
    let kept = fitting(&lines, room);
    if kept > 0 {
        out.push_str(&format!("\n<details><summary>Diff</summary>\n\n{fence}diff\n"));
        out.extend(lines[..kept].iter().map(String::as_str));
        out.push_str(&format!("{fence}\n\n</details>\n"));
    }
    if kept < lines.len() {
        let cut = lines.len() - kept;
        out.push_str(&format!(
            "\nCut: {cut} of {} lines of the diff don't fit into a comment. `gitops-windows diff` shows all.\n",
            lines.len()
        ));
    }
    out
}

/// Counts how many of the first pieces fit into the room.
fn fitting(pieces: &[String], room: usize) -> usize {
    let mut left = room;
    pieces
        .iter()
        .take_while(|piece| match left.checked_sub(piece.len()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .count()
}

fn headline(changes: &[FileChange<'_>]) -> String {
    let count = |kind| changes.iter().filter(|change| change.kind() == kind).count();
    let kinds =
        [(Kind::Create, "created"), (Kind::Edit, "edited"), (Kind::Move, "moved"), (Kind::Remove, "removed")];
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(kind, word)| (count(kind), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let noun = if changes.len() == 1 { "file changes" } else { "files change" };
    format!("{} {noun}: {}", changes.len(), parts.join(", "))
}

fn row(change: &FileChange<'_>) -> String {
    let name = code(&clean(change.path.as_str().as_bytes()));
    match change.from {
        Some(from) => format!("| move | {} → {name} |\n", code(&clean(from.as_str().as_bytes()))),
        None => format!("| {} | {name} |\n", change.kind().as_str()),
    }
}

/// Writes a name as code that fits into a table's cell.
fn code(name: &str) -> String {
    let ticks = "`".repeat(longest_run(name) + 1);
    let pad = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
    // A bar ends the cell even inside of code, unless it is escaped.
    format!("{ticks}{pad}{}{pad}{ticks}", name.replace('|', "\\|"))
}

/// Returns a fence that is longer than any run of backticks in these lines.
pub(crate) fn fence(lines: &[String]) -> String {
    let run = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    "`".repeat(run.max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::path::RepoPath;
    use crate::repo::File;

    fn create(files: &[(String, String)]) -> Changes {
        let change = |text: &String| Change {
            before: None,
            after: Some(File::new(text.as_bytes())),
            moved_from: None,
        };
        files.iter().map(|(name, text)| (RepoPath::parse(name).unwrap(), change(text))).collect()
    }

    #[test]
    fn shows_a_table_and_the_diff() {
        let text = markdown(&create(&[("a|`b".to_owned(), "x\n```\n</details>\n".to_owned())]), LIMIT);
        let expected = "**1 file changes: 1 created**\n\n| change | file |\n|---|---|\n| create | ``a\\|`b`` |\n\n\
            <details><summary>Diff</summary>\n\n````diff\ndiff --git a/a|`b b/a|`b\nnew file mode 100644\n\
            --- /dev/null\n+++ b/a|`b\n@@ -0,0 +1,3 @@\n+x\n+```\n+</details>\n````\n\n</details>\n";
        assert_eq!(text, expected);
        assert_eq!(markdown(&Changes::default(), LIMIT), "Nothing changes.\n");
    }

    #[test]
    fn never_exceeds_the_limit_and_says_what_was_cut() {
        let long = "é: 1\n".repeat(20_000);
        let many: Vec<_> =
            (0..3_000).map(|n| (format!("apps/{n}/deployment.yaml"), format!("a: {n}\n"))).collect();
        let ticks = "`".repeat(64_000);
        let wide = "x".repeat(200_000);
        let cases = [
            create(&[("a".to_owned(), long)]),
            create(&many),
            create(&[("t".to_owned(), ticks)]),
            create(&[("w".to_owned(), wide)]),
        ];
        for limit in [0, 1_000, 5_000, LIMIT, usize::MAX] {
            for plan in &cases {
                let text = markdown(plan, limit);
                assert!(text.len() <= limit.clamp(1_000, LIMIT), "{} > {limit}", text.len());
                assert!(text.contains("\nCut: "), "{limit}");
                assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
            }
        }
        assert!(markdown(&cases[1], LIMIT).contains("more files |\n"));
    }
}
