//! Findings as workflow commands, which GitHub and Forgejo show beside the files of a pull request.

use std::collections::BTreeSet;

use crate::check::github;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::pr::{Behind, Finding, Report, Topic};
use crate::repo::Snapshot;

/// How many annotations of one kind GitHub shows for a step.
const MOST: usize = 10;

/// Writes findings as workflow commands: at most ten errors and ten warnings, those first that stand at a file of
/// `changed`, the files that the pull request itself changes. `files` are those of its head, for the lines.
pub fn annotations(report: &Report, changed: &BTreeSet<RepoPath>, files: &Snapshot) -> String {
    let mut told: Vec<(bool, bool, Diagnostic)> = Vec::new();
    for finding in &report.findings {
        let own = finding.file.clone().map(|path| Behind { path, line: finding.line });
        let file = own.or_else(|| file(report, finding, changed));
        let is_elsewhere = !file.as_ref().is_some_and(|file| changed.contains(&file.path));
        let is_error = matches!(finding.topic, Topic::Error | Topic::Immutable);
        let place =
            if finding.cluster.is_empty() { String::new() } else { format!(" in {}", finding.cluster) };
        let message = format!("{}{place}: {}", finding.topic.as_str(), finding.message);
        let mut one = if is_error { Diagnostic::error(message) } else { Diagnostic::warning(message) };
        one.place = file.map(|file| point(file, files));
        told.push((!is_error, is_elsewhere, one.help(finding.help.as_str())));
    }
    // Within a kind, findings keep their order.
    told.sort_by_key(|(is_warning, is_elsewhere, _)| (*is_warning, *is_elsewhere));
    let warnings = told.iter().position(|(is_warning, ..)| *is_warning).unwrap_or(told.len());
    let kinds = [&told[..warnings], &told[warnings..]];
    let shown = kinds.iter().flat_map(|kind| kind.iter().take(MOST)).map(|(.., one)| one.clone());
    github(&shown.collect::<Vec<_>>())
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

/// Returns the file behind a finding, if possible one that the pull request changes.
fn file(report: &Report, finding: &Finding, changed: &BTreeSet<RepoPath>) -> Option<Behind> {
    let object = finding.object.as_ref()?;
    let of = |line: &&crate::pr::Line| line.cluster == finding.cluster && line.id == *object;
    let files = || report.changes.iter().filter(of).flat_map(|line| &line.files);
    files().find(|file| changed.contains(&file.path)).or_else(|| files().next()).cloned()
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
        let text = annotations(&report, &BTreeSet::new(), &Snapshot::default());
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
        let file = File::new(*b"kind: StatefulSet\nname: web\n");
        let files = Snapshot::new([(path("apps/StatefulSet.yaml"), Entry::File(file))].into());
        let text = annotations(&report, &[path("apps/StatefulSet.yaml")].into(), &files);
        insta::assert_snapshot!(text, @r"
        ::warning file=apps/StatefulSet.yaml,line=2,col=1::deletion in edge-01: number 2%0Ahelp: look
        ::warning file=apps/kustomization.yaml::deletion in edge-01: number 1%0Ahelp: look
        ");
    }
}
