//! The generated files: edited by hand, or behind the spec.

use std::collections::BTreeSet;

use crate::check::code::{EDITED_FILE, STALE_FILES, UNHELD, UNKNOWN_TARGET, WRONG_SIDE};
use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place, Severity, distinct};
use crate::error::Error;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, says};
use crate::plan::gate::{self, Leftover};
use crate::plan::split::refresh::{refresh, way_back};
use crate::repo::{Entry, Snapshot};
use crate::template::Templates;

/// How many files a finding names.
const MOST_NAMES: usize = 5;

/// What is to be said of generated files.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The findings.
    pub findings: Vec<Diagnostic>,
    /// The generated files, where they are behind the spec.
    behind: BTreeSet<RepoPath>,
}

/// Finds generated files that were edited by hand, gates that are not what the spec implies, and what no gate holds back.
///
/// Only the gates are made anew for that: what is in projections is told object by object. A repository
/// without any generated file is one that `sync` has not been run in yet, and is left alone.
pub fn generated(input: &Input<'_>, templates: &Templates) -> Generated {
    let root = input.spec.folder();
    let owned = |wanted: &[Ownership]| {
        let files = input.snapshot.below(&root).filter_map(|(path, entry)| match entry {
            Entry::File(file) => Some((path, file, ownership(file))).filter(|(.., own)| wanted.contains(own)),
            _ => None,
        });
        files.collect::<Vec<_>>()
    };
    let mut edited = owned(&[Ownership::Edited, Ownership::Unmerged]);
    if !edited.is_empty() {
        let all: Vec<&RepoPath> = edited.iter().map(|(path, ..)| *path).collect();
        let sealed = sealed(input, templates, &all);
        edited.retain(|(path, ..)| !sealed.contains(*path));
    }
    if !edited.is_empty() {
        let projection = |path: &RepoPath| {
            let list = input.model.graph.get(&path.parent()?).filter(|list| list.file == *path)?;
            way_back(input, list)
        };
        let finding = |(path, text, own): (&RepoPath, &str, Ownership)| {
            let line = 0..text.find('\n').unwrap_or(text.len());
            let place = Place::span(path.clone(), text.into(), line);
            if own == Ownership::Unmerged {
                let Diagnostic { message, help, .. } = gate::unmerged(path);
                return Diagnostic { help, ..EDITED_FILE.finding(message).at(place) };
            }
            EDITED_FILE
                .finding(format!(
                    "generated file {path} was edited by hand. It no longer follows {}, and `sync` refuses to write it",
                    input.spec.path
                ))
                .at(place)
                .help(projection(path).unwrap_or_else(|| {
                    format!("put the change into {}\nrevert the edit\nrun `gitops-windows sync`", input.spec.path)
                }))
        };
        let texts = edited.iter().filter_map(|(path, file, own)| Some((*path, file.text()?, *own)));
        return Generated { findings: texts.map(finding).collect(), ..Generated::default() };
    }
    let ours: BTreeSet<RepoPath> =
        owned(&[Ownership::Ours]).into_iter().map(|(path, ..)| path.clone()).collect();
    if ours.is_empty() {
        return Generated::default();
    }
    let mut builder = Builder::new(input.snapshot);
    let late = gate::Late::Refused;
    let leftover = match gate::sync_built(input, templates, &mut builder, late) {
        Ok(leftover) => leftover,
        // What stops `sync` is for `sync` to say, but that the clusters have another mechanism.
        Err(_) => {
            let found = gate::sync(input, templates, &mut builder, late, &BTreeSet::new());
            let findings =
                found.map_or_else(|error| other(input, &error).into_iter().collect(), |all| unheld(&all));
            return Generated { findings, ..Generated::default() };
        }
    };
    let mut findings = unheld(&leftover);
    let rewritten: BTreeSet<RepoPath> =
        builder.finish().changes.keys().filter(|path| !is_sealed(input, &builder, path)).cloned().collect();
    let stale = stale(input, &rewritten, builder.now());
    let behind = if stale.is_some() { ours } else { BTreeSet::new() };
    findings.extend(stale);
    Generated { findings, behind }
}

/// Returns those of the files with another text than their first line says that `sync` would write all the same, as a copy
/// of a cluster has them: nobody edited them.
fn sealed(input: &Input<'_>, templates: &Templates, edited: &[&RepoPath]) -> BTreeSet<RepoPath> {
    let write = |builder: &mut Builder<'_>| {
        gate::sync(input, templates, builder, gate::Late::Written, &BTreeSet::new()).is_ok()
    };
    let mut builder = Builder::new(input.snapshot);
    let mut is_written = write(&mut builder);
    if !is_written {
        // One that somebody did edit stops the writing of all.
        builder = Builder::new(input.snapshot);
        edited.iter().for_each(|path| builder.remove(path));
        is_written = write(&mut builder);
    }
    let mut found = BTreeSet::new();
    let mut note = |builder: &Builder<'_>| {
        let changes = builder.finish().changes;
        found.extend(changes.keys().filter(|path| is_sealed(input, builder, path)).cloned());
    };
    if is_written {
        note(&builder);
    }
    let sides = input.sides();
    let of_sides = edited.iter().filter_map(|path| path.parents().find_map(|above| sides.get(&above)));
    for entry in of_sides.map(|(entry, _)| entry).collect::<BTreeSet<_>>() {
        let mut builder = Builder::new(input.snapshot);
        if refresh(input, &mut builder, &|other| other == entry).is_ok() {
            note(&builder);
        }
    }
    found
}

/// Returns whether only the first line of a generated file is written anew.
fn is_sealed(input: &Input<'_>, builder: &Builder<'_>, path: &RepoPath) -> bool {
    let text = builder.now().file(path).and_then(|file| file.text());
    let before = input.snapshot.file(path).filter(|file| ownership(file) == Ownership::Edited);
    before.zip(text).is_some_and(|(file, text)| says(file, text))
}

impl Generated {
    /// Leaves out what comes of generated files that are behind the spec: jobs in them that name what is no longer in Git.
    pub fn without_mended(&self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let is_mended = |one: &Diagnostic| {
            let file = one.place.as_ref().map(|place| &place.path);
            one.code == Some(UNKNOWN_TARGET.code) && file.is_some_and(|file| self.behind.contains(file))
        };
        found.into_iter().filter(|one| !is_mended(one)).collect()
    }
}

/// Finds that clusters have another mechanism than the spec says, which `sync` refuses to change.
fn other(input: &Input<'_>, refused: &Error) -> Option<Diagnostic> {
    let wanted = input.spec.gate.mechanism;
    let gated = input.spec.clusters.keys().filter(|cluster| input.spec.gates(cluster));
    let mut jobs = gated.flat_map(|cluster| input.model.closings.of(cluster));
    let job = jobs.find(|job| job.is_running && job.action.holds() && job.mechanism != wanted)?;
    let why = refused.diagnostics.first()?;
    let finding = STALE_FILES.finding(format!(
        "the clusters have mechanism `{}` and not `{}`, and `sync` can't write that: {}",
        job.mechanism.as_str(),
        wanted.as_str(),
        why.message
    ));
    let place = why.place.clone().unwrap_or_else(|| Place::file(input.spec.path.clone()));
    Some(
        finding
            .at(place)
            .help("run `gitops-windows sync`: it says the way on\nor take the change of `gate` back"),
    )
}

/// Finds what no gate holds back although it has a window, or may have one, and what waits for that of another type: what
/// `sync` says of that, and nothing else does.
fn unheld(leftover: &Leftover) -> Vec<Diagnostic> {
    let written = leftover.gates.iter().flat_map(|gates| &gates.clusters);
    let clusters = written.chain(&leftover.kept).filter(|cluster| cluster.enabled);
    let is_told = |code| [UNHELD.code, WRONG_SIDE.code].map(Some).contains(&code);
    let left = clusters.flat_map(|cluster| &cluster.left).filter(|one| is_told(one.code));
    distinct(left.cloned())
}

fn stale(input: &Input<'_>, rewritten: &BTreeSet<RepoPath>, later: &Snapshot) -> Option<Diagnostic> {
    if rewritten.is_empty() {
        return None;
    }
    let mut names: Vec<String> = rewritten.iter().take(MOST_NAMES).map(ToString::to_string).collect();
    if rewritten.len() > MOST_NAMES {
        names.push(format!("{} more", rewritten.len() - MOST_NAMES));
    }
    let (names, spec) = (names.join(", "), &input.spec.path);
    let finding = match input.later(later).changes_nothing() {
        // A base keeps what only a cluster that is gone needed.
        true => Diagnostic {
            severity: Severity::Note,
            ..STALE_FILES.finding(format!(
                "`sync` would write files anew, and no cluster would get anything else: {names}"
            ))
        },
        false => STALE_FILES
            .finding(format!("the clusters do not get what {spec} says: {names} would be written anew")),
    };
    let help = "run `gitops-windows diff` to see the changes, and `gitops-windows sync` to make them";
    Some(finding.at(Place::file(spec.clone())).help(help))
}
