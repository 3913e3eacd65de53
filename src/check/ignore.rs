//! Findings that are known and wanted: left out, each with a reason.

use std::ops::Range;
use std::sync::Arc;

use crate::check::code::{BAD_IGNORE, Code, UNUSED_IGNORE};
use crate::delivery::classify::path_glob;
use crate::diagnostic::{Diagnostic, Place, line_column};
use crate::path::RepoPath;
use crate::repo::Snapshot;
use crate::repo::flux::is_yaml;
use crate::spec::Spec;
use crate::yaml::{Node, read_documents};

/// How a comment begins that leaves findings out.
const MARK: &str = "gitops-windows: ignore[";

/// How every comment for this program begins.
const NAME: &str = "gitops-windows:";

/// Leaves out the findings that the spec's `check.ignore` or a comment says are wanted.
///
/// A comment `# gitops-windows: ignore[GW014] reason` speaks of its own line, or, where it stands alone, of
/// the first line below it that is no comment. A finding about a file as a whole stands in line 1. What
/// ignores nothing, names no code or gives no reason is a finding itself, which can't be ignored.
///
/// Comments in YAML files below `root` count; `root` is the folder of the spec.
pub fn ignore(
    findings: Vec<Diagnostic>,
    spec: Option<&Spec>,
    snapshot: &Snapshot,
    root: &RepoPath,
) -> Vec<Diagnostic> {
    let mut comments = Vec::new();
    let mut kept = Vec::new();
    for (path, _) in snapshot.below(root).filter(|(path, _)| is_yaml(path)) {
        let Some(text) = snapshot.file(path).and_then(|file| file.text()) else { continue };
        if text.contains(NAME) {
            read(path, text, &mut comments, &mut kept);
        }
    }
    let ignores = spec.map(|spec| spec.ignores.as_slice()).unwrap_or_default();
    let mut used = vec![false; ignores.len()];
    for finding in findings {
        let mut wanted = false;
        let code = finding.code.unwrap_or_default();
        if let Some(place) = &finding.place {
            let path = place.path.relative_to(root);
            for (ignore, used) in ignores.iter().zip(&mut used) {
                if ignore.code == code && ignore.path.as_ref().is_none_or(|glob| path_glob(glob, &path)) {
                    (wanted, *used) = (true, true);
                }
            }
            let line = line_of(place);
            let here = comments.iter_mut().filter(|comment| {
                comment.place.path == place.path && comment.line == line && comment.code.code == code
            });
            for comment in here {
                (wanted, comment.used) = (true, true);
            }
        }
        if !wanted {
            kept.push(finding);
        }
    }
    let unused = |code: &str, place: &Place| {
        UNUSED_IGNORE
            .finding(format!("no finding {code} stands here to be ignored. This would hide a later one"))
            .at(place.clone())
            .help("remove it")
    };
    for (ignore, _) in ignores.iter().zip(used).filter(|(_, used)| !used) {
        kept.push(unused(&ignore.code, &ignore.place));
    }
    for comment in comments.iter().filter(|comment| !comment.used) {
        kept.push(unused(comment.code.code, &comment.place));
    }
    kept
}

/// Leaves out what is wanted, as [`ignore`] does, of a part of the findings: what ignores none of these may
/// ignore others, so that is not held against it.
pub fn unwanted(
    findings: Vec<Diagnostic>,
    spec: Option<&Spec>,
    snapshot: &Snapshot,
    root: &RepoPath,
) -> Vec<Diagnostic> {
    let of_ignores = [UNUSED_IGNORE.code, BAD_IGNORE.code];
    let mut left = ignore(findings, spec, snapshot, root);
    left.retain(|finding| finding.code.is_none_or(|code| !of_ignores.contains(&code)));
    left
}

/// One code of a comment.
struct Comment {
    code: Code,
    /// The line that it speaks of, counted from 1.
    line: usize,
    place: Place,
    used: bool,
}

fn line_of(place: &Place) -> usize {
    match (&place.text, &place.span) {
        (Some(text), Some(span)) => line_column(text, span.start).0,
        _ => 1,
    }
}

/// Reads the comments of a file; those that do not count become findings.
fn read(path: &RepoPath, text: &str, comments: &mut Vec<Comment>, findings: &mut Vec<Diagnostic>) {
    let shared: Arc<str> = Arc::from(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut start = 0;
    let scalars = block_scalars(text);
    for (index, line) in lines.iter().enumerate() {
        let from = start;
        start += line.len() + 1;
        let Some((hash, rest)) = comment(line) else { continue };
        // What looks like a comment in a text of several lines is a part of the text.
        if scalars.iter().any(|scalar| scalar.start < from && scalar.contains(&(from + hash))) {
            continue;
        }
        let alone = line[..hash].trim_start_matches('\u{feff}').trim().is_empty();
        let is_comment = |line: &&&str| !line.trim_start().starts_with('#');
        let target = if alone {
            let below = lines[index + 1..].iter().take_while(|line| !is_comment(line)).count();
            index + 1 + below
        } else {
            index
        };
        let place = |range: Range<usize>| Place::span(path.clone(), shared.clone(), range);
        let whole = from + hash..from + line.trim_end().len();
        let Some(rest) = rest else {
            findings.push(bad("it has no list of codes right after `gitops-windows: ignore`", place(whole)));
            continue;
        };
        let Some((codes, reason)) = rest.split_once(']') else {
            findings.push(bad("the list of codes has no `]`", place(whole)));
            continue;
        };
        if reason.trim().is_empty() {
            findings.push(bad("no reason is given", place(whole)));
            continue;
        }
        for word in codes.split(',').map(str::trim) {
            match Code::find(word) {
                Some(code) => comments.push(Comment {
                    code,
                    line: target + 1,
                    place: place(whole.clone()),
                    used: false,
                }),
                None => findings.push(bad(&format!("`{word}` is no code"), place(whole.clone()))),
            }
        }
    }
}

fn bad(why: &str, place: Place) -> Diagnostic {
    BAD_IGNORE
        .finding(format!("{why}, so this ignores nothing"))
        .at(place)
        .help("write `# gitops-windows: ignore[GW014] why it is wanted`")
}

/// Returns the spans of the texts of several lines.
fn block_scalars(text: &str) -> Vec<Range<usize>> {
    fn collect(node: &Node, text: &str, found: &mut Vec<Range<usize>>) {
        for (key, value) in node.entries() {
            collect(key, text, found);
            collect(value, text, found);
        }
        node.items().iter().for_each(|item| collect(item, text, found));
        let is_block = text.get(node.span.clone()).is_some_and(|text| text.starts_with(['|', '>']));
        if node.as_str().is_some() && is_block {
            found.push(node.span.clone());
        }
    }
    let mut found = Vec::new();
    for document in read_documents(text).into_iter().flatten() {
        collect(&document.root, text, &mut found);
    }
    found
}

/// Returns where a comment that ignores begins in a line, and what follows its bracket, where it has one.
fn comment(line: &str) -> Option<(usize, Option<&str>)> {
    let mark = line.find(NAME)?;
    let word = line[mark + NAME.len()..].trim_start().strip_prefix("ignore")?;
    // Another word may only begin like it.
    if word.starts_with(|next: char| next.is_alphanumeric()) {
        return None;
    }
    let rest = line[mark..].strip_prefix(MARK);
    let hash = line[..mark].trim_end().strip_suffix('#')?.len();
    let before = line[..hash].trim_start_matches('\u{feff}');
    // Within a word, `#` begins no comment.
    (before.is_empty() || before.ends_with([' ', '\t'])).then_some((hash, rest))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::check::code::{DOUBLE_OWNED, PATCH_WITHOUT_MATCH};
    use crate::repo::{Entry, File};

    /// Returns code and line of what is left of findings GW014 on the lines that hold `x`.
    fn left(text: &str) -> Vec<(&'static str, usize)> {
        let path = RepoPath::parse("a.yaml").unwrap();
        let snapshot =
            Snapshot::new(BTreeMap::from([(path.clone(), Entry::File(File::new(text.as_bytes())))]));
        let shared: Arc<str> = Arc::from(text);
        let places =
            text.match_indices(": x").map(|(at, _)| Place::span(path.clone(), shared.clone(), at..at + 1));
        let findings = places.map(|place| PATCH_WITHOUT_MATCH.finding("m").at(place)).collect();
        let left = ignore(findings, None, &snapshot, &RepoPath::top());
        left.iter().map(|finding| (finding.code.unwrap(), line_of(finding.place.as_ref().unwrap()))).collect()
    }

    #[test]
    fn a_comment_speaks_of_its_line_or_the_next() {
        assert_eq!(left("a: x # gitops-windows: ignore[GW014] it is wanted\nb: x\n"), [("GW014", 2)]);
        assert_eq!(left("# gitops-windows: ignore[GW014] wanted\n# more\na: x\nb: x\n"), [("GW014", 4)]);
        assert_eq!(left("#gitops-windows: ignore[GW003, gw014] wanted\r\na: x\r\n"), [("GW037", 1)]);
    }

    #[test]
    fn what_does_not_count_is_a_finding() {
        assert_eq!(left("a: x # gitops-windows: ignore[GW014]\n"), [("GW038", 1), ("GW014", 1)]);
        assert_eq!(left("a: x # gitops-windows: ignore[GW9] why\n"), [("GW038", 1), ("GW014", 1)]);
        assert_eq!(left("a: x # gitops-windows: ignore[GW014 why\n"), [("GW038", 1), ("GW014", 1)]);
        assert_eq!(left("# gitops-windows: ignore[GW014] why\nb: 1\n"), [("GW037", 1)]);
        assert_eq!(left("u: a#gitops-windows: ignore[GW014] why\n"), []);
    }

    #[test]
    fn what_was_meant_to_ignore_and_does_not_is_told() {
        assert_eq!(left("a: x # gitops-windows: ignore moved\n"), [("GW038", 1), ("GW014", 1)]);
        assert_eq!(left("a: x # gitops-windows:ignore[GW014] why\n"), [("GW038", 1), ("GW014", 1)]);
        assert_eq!(left("a: x # gitops-windows: ignore [GW014] why\n"), [("GW038", 1), ("GW014", 1)]);
        assert_eq!(left("a: x # gitops-windows: ignores nothing\n"), [("GW014", 1)]);
    }

    #[test]
    fn a_text_of_several_lines_holds_no_comments() {
        let text = "a: |\n  # gitops-windows: ignore[GW014] why\n  b\nc: x\n";
        assert_eq!(left(text), [("GW014", 4)]);
        assert_eq!(left("a: | # gitops-windows: ignore[GW014] why\n  b: x\n"), [("GW014", 2), ("GW037", 1)]);
    }

    #[test]
    fn the_spec_ignores_by_glob_and_says_what_is_unused() {
        let text = "apiVersion: gitops-windows/v1\ntypes: { rt: {} }\ncheck:\n  ignore:\n    \
                    - { code: GW009, path: 'apps/**', reason: shared }\n    - { code: GW014, reason: none }\n";
        let spec =
            crate::spec::parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
        let at = |path: &str| DOUBLE_OWNED.finding("m").at(Place::file(RepoPath::parse(path).unwrap()));
        let left = ignore(
            vec![at("apps/a/b.yaml"), at("infra/a.yaml")],
            Some(&spec),
            &Snapshot::default(),
            &RepoPath::top(),
        );
        let said: Vec<_> = left
            .iter()
            .map(|finding| (finding.code.unwrap(), line_of(finding.place.as_ref().unwrap())))
            .collect();
        assert_eq!(said, [("GW009", 1), ("GW037", 6)]);
    }
}
