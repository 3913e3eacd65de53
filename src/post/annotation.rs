//! Findings as workflow commands, which GitHub and Forgejo show beside the files of a pull request.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::check::github;
use crate::diagnostic::{Diagnostic, Place};
use crate::diff::{CONTEXT, hunks};
use crate::path::RepoPath;
use crate::pr::{Behind, Finding, Report, Topic, told_in};
use crate::repo::Snapshot;

/// How many annotations of one kind GitHub shows for a step.
const MOST: usize = 10;

/// Writes findings as workflow commands: at most ten errors and ten warnings, those first that stand at a line which the
/// pull request shows, then those at another line of a file that it changes. `before` and `after` are the files of its two
/// sides.
pub fn annotations(report: &Report, before: &Snapshot, after: &Snapshot) -> String {
    let mut shown = Shown { before, after, changed: after.differing(before), lines: BTreeMap::new() };
    let mut told: Vec<(bool, Rank, Diagnostic)> = Vec::new();
    for finding in &report.findings {
        let own = finding.file.clone().map(|path| Behind { path, line: finding.line });
        let file = own.or_else(|| file(report, finding, &mut shown));
        let rank = file.as_ref().map_or(Rank::Elsewhere, |file| shown.rank(file));
        let is_error = matches!(finding.topic, Topic::Error | Topic::Immutable);
        let place =
            if finding.cluster.is_empty() { String::new() } else { format!(" in {}", finding.cluster) };
        let written = told_in(report, finding);
        let message = format!("{}{place}: {}", finding.topic.as_str(), written(&finding.message));
        let mut one = if is_error { Diagnostic::error(message) } else { Diagnostic::warning(message) };
        one.place = file.map(|file| point(file, after));
        told.push((!is_error, rank, one.help(written(&finding.help))));
    }
    // Within a kind, findings keep their order.
    told.sort_by_key(|(is_warning, rank, _)| (*is_warning, *rank));
    let warnings = told.iter().position(|(is_warning, ..)| *is_warning).unwrap_or(told.len());
    let kinds = [&told[..warnings], &told[warnings..]];
    let shown = kinds.iter().flat_map(|kind| kind.iter().take(MOST)).map(|(.., one)| one.clone());
    github(&shown.collect::<Vec<_>>())
}

/// How near to what a pull request changes a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A line that the forge shows: a changed one, or one around it.
    Line,
    /// Another one of a file that changes.
    File,
    /// Another file, or none.
    Elsewhere,
}

/// What a forge shows of a pull request.
struct Shown<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    changed: BTreeSet<RepoPath>,
    /// By file, the lines of its newer side, from 0.
    lines: BTreeMap<RepoPath, Vec<Range<usize>>>,
}

impl Shown<'_> {
    fn rank(&mut self, Behind { path, line }: &Behind) -> Rank {
        if !self.changed.contains(path) {
            return Rank::Elsewhere;
        }
        let Some(line) = line else { return Rank::File };
        let (before, after) = (self.before, self.after);
        let lines = self.lines.entry(path.clone()).or_insert_with(|| {
            let bytes =
                |files: &'_ Snapshot| files.file(path).map(|file| file.bytes().to_vec()).unwrap_or_default();
            hunks(&bytes(before), &bytes(after), CONTEXT).into_iter().map(|hunk| hunk.new).collect()
        });
        match lines.iter().any(|lines| lines.contains(&(line - 1))) {
            true => Rank::Line,
            false => Rank::File,
        }
    }
}

/// Points at the line of a file; at the file where it has no such line.
fn point(Behind { path, line }: Behind, files: &Snapshot) -> Place {
    let text = files.file(&path).and_then(|file| file.text());
    let start = text.zip(line).and_then(|(text, line)| {
        let above: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        Some((text, text.get(above..)?.lines().next()?.len(), above))
    });
    match start {
        Some((text, length, above)) => Place::span(path, text.into(), above..above + length),
        None => Place::file(path),
    }
}

/// Returns the file behind a finding that is nearest to what the pull request changes.
fn file(report: &Report, finding: &Finding, shown: &mut Shown<'_>) -> Option<Behind> {
    let object = finding.object.as_ref()?;
    let of = |line: &&crate::pr::Line| line.cluster == finding.cluster && line.id == *object;
    let files = report.changes.iter().filter(of).flat_map(|line| &line.files);
    files.min_by_key(|file| shown.rank(file)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{Entry, File};

    #[test]
    fn ten_of_each_kind_are_told_and_those_of_changed_files_first() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let finding = |topic, number: usize| Finding {
            topic,
            cluster: "edge-01".to_owned(),
            object: None,
            message: format!("number {number}"),
            from: None,
            help: "look".to_owned(),
            ..Finding::default()
        };
        let mut report = Report {
            base: String::new(),
            head: None,
            now: jiff::Timestamp::UNIX_EPOCH,
            changes: Vec::new(),
            built: Vec::new(),
            deadline: None,
            findings: (0..12).flat_map(|at| [finding(Topic::Skew, at), finding(Topic::Error, at)]).collect(),
            trains: Vec::new(),
            withheld: Vec::new(),
            unreached: Vec::new(),
        };
        let text = annotations(&report, &Snapshot::default(), &Snapshot::default());
        let count = |kind: &str| text.lines().filter(|line| line.starts_with(&format!("::{kind} "))).count();
        assert_eq!((count("error"), count("warning"), text.lines().count()), (10, 10, 20));
        assert!(text.starts_with("::error ::error in edge-01: number 0%0Ahelp: look\n"), "{text}");

        report.findings = vec![finding(Topic::Deletion, 1), finding(Topic::Deletion, 2)];
        for (at, kind) in ["Namespace", "StatefulSet"].into_iter().enumerate() {
            let id = crate::repo::manifest::ObjectId {
                group: String::new(),
                kind: kind.to_owned(),
                namespace: String::new(),
                name: "web".to_owned(),
            };
            report.findings[at].object = Some(id.clone());
            report.changes.push(crate::pr::Line {
                cluster: "edge-01".to_owned(),
                by: crate::pr::By { path: path("apps"), kustomization: None },
                from: None,
                change_type: None,
                api_version: "v1".to_owned(),
                built: id.clone(),
                id,
                is_substituted: false,
                kind: crate::delivery::Kind::Deleted,
                fields: Vec::new(),
                object: None,
                files: [path("apps/kustomization.yaml"), path(&format!("apps/{kind}.yaml"))]
                    .map(|path| Behind { path, line: Some(2) })
                    .to_vec(),
                refused: None,
                is_forced: false,
                lands: crate::pr::Landing::unknown("x"),
            });
        }
        let files = |text: &str| {
            let file = File::new(text.as_bytes());
            Snapshot::new([(path("apps/StatefulSet.yaml"), Entry::File(file))].into())
        };
        let (before, after) =
            (files("kind: StatefulSet\nname: old\n"), files("kind: StatefulSet\nname: web\n"));
        let text = annotations(&report, &before, &after);
        insta::assert_snapshot!(text, @r"
        ::warning file=apps/StatefulSet.yaml,line=2,col=1::deletion in edge-01: number 2%0Ahelp: look
        ::warning file=apps/kustomization.yaml::deletion in edge-01: number 1%0Ahelp: look
        ");

        // A line that the forge shows counts before another one of the file.
        let lines = |first: &str| files(&(first.to_owned() + &"same: x\n".repeat(20) + "name: web\n"));
        for (line, at) in report.changes.iter_mut().zip([2, 20]) {
            line.files = vec![Behind { path: path("apps/StatefulSet.yaml"), line: Some(at) }];
        }
        report.findings.reverse();
        let text = annotations(&report, &lines("kind: Old\n"), &lines("kind: New\n"));
        insta::assert_snapshot!(text, @r"
        ::warning file=apps/StatefulSet.yaml,line=2,col=1::deletion in edge-01: number 1%0Ahelp: look
        ::warning file=apps/StatefulSet.yaml,line=20,col=1::deletion in edge-01: number 2%0Ahelp: look
        ");
    }
}
