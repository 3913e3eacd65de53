//! Files that builds take in and that can't be read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::check::code::{DOES_NOT_BUILD, UNREADABLE_FILE};
use crate::check::subject::Subject;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::path::RepoPath;
use crate::repo;
use crate::repo::flux::is_yaml;
use crate::repo::{Entry, Kustomization, Reference, Snapshot, Target, built};
use crate::yaml::read_documents;

/// Finds the files that builds take in and that can't be read: what a source does not fetch is in none.
pub(super) fn files(subject: &Subject<'_>) -> (Vec<Diagnostic>, BTreeSet<RepoPath>) {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut broken = BTreeSet::new();
    // What was found in each folder, by its positions.
    let mut seen: BTreeMap<RepoPath, Range<usize>> = BTreeMap::new();
    for delivery in subject.deliveries.iter().filter(|delivery| delivery.is_asked) {
        let flux = subject.flux(delivery);
        let whole = || (subject.snapshot.clone(), &subject.model.graph);
        let (there, graph) = flux.map_or_else(whole, |one| subject.model.seen_by(subject.snapshot, one));
        for folder in built(graph, &delivery.path) {
            if let Some(found) = seen.get(&folder) {
                for finding in &mut findings[found.clone()] {
                    finding.about.insert(delivery.key());
                }
                continue;
            }
            let first = findings.len();
            if let Some(diagnostic) = graph.broken(&folder) {
                broken.insert(folder.clone());
                let place = diagnostic.place.clone();
                let text = place.as_ref().and_then(|place| Some((&place.path, place.text.as_deref()?)));
                let unresolved = text.and_then(|(path, text)| conflict(path, text));
                let told = || Diagnostic {
                    place,
                    help: diagnostic.help.clone(),
                    ..UNREADABLE_FILE.finding(diagnostic.message.clone())
                };
                findings.push(unresolved.unwrap_or_else(told).about(delivery.key()));
            }
            let list = graph.get(&folder).into_iter();
            for (list, reference) in list.flat_map(|list| list.resources().iter().map(move |one| (list, one)))
            {
                let Target::Path(path) = &reference.target else { continue };
                let found = missing(subject, list, reference).or_else(|| unreadable(&there, path));
                if let Some(finding) = found {
                    broken.insert(folder.clone());
                    findings.push(finding.about(delivery.key()));
                }
            }
            seen.insert(folder, first..findings.len());
        }
        // Flux lists the files of a folder without a kustomization itself.
        if !graph.has(&delivery.path) && flux.is_some() {
            for (path, _) in there.below(&delivery.path) {
                if !graph.is_loose(path, &delivery.path) || !is_yaml(path) {
                    continue;
                }
                if let Some(finding) = unreadable(&there, path) {
                    broken.insert(delivery.path.clone());
                    findings.push(finding.about(delivery.key()));
                }
            }
        }
    }
    (findings, broken)
}

/// Says that nothing stands where a list leads.
fn missing(
    subject: &Subject<'_>,
    kustomization: &Kustomization,
    reference: &Reference,
) -> Option<Diagnostic> {
    let Target::Path(path) = &reference.target else { return None };
    let there = subject
        .snapshot
        .resolve(path)
        .map_or(true, |path| subject.snapshot.entry(&path).is_some() || subject.snapshot.is_dir(&path));
    // `host.example/owner/repository` is another repository.
    let first = reference.text.split('/').next().unwrap_or_default();
    let may_be_remote = reference.text.contains('/') && first.trim_matches('.').contains('.');
    if there || may_be_remote {
        return None;
    }
    let place = Place::span(kustomization.file.clone(), kustomization.text.clone(), reference.span.clone());
    let (text, folder) = (&reference.text, &kustomization.folder);
    let told = |message: String, help: &str| DOES_NOT_BUILD.finding(message).at(place).help(help);
    Some(if reference.is_components() {
        let finding = told(
            format!("`{text}` is missing. {folder} does not build before `flux bootstrap` writes it"),
            "run `flux bootstrap`, or add the file if a cluster has been bootstrapped",
        );
        Diagnostic { severity: Severity::Note, ..finding }
    } else {
        told(
            format!("`{text}` is missing. {folder} does not build, nor does anything that includes it"),
            "add the file, or remove it from the list; does .gitignore leave it out?",
        )
    })
}

/// Says why a file that is listed as a resource can't be read.
pub(super) fn unreadable(files: &Snapshot, path: &RepoPath) -> Option<Diagnostic> {
    let told =
        |message: String, place: Place, help: &str| UNREADABLE_FILE.finding(message).at(place).help(help);
    let of_file = |message: String, help: &str| Some(told(message, Place::file(path.clone()), help));
    let file = match files.entry(path)? {
        Entry::File(file) if file.is_yaml() => return None,
        Entry::File(file) => file,
        Entry::Large { bytes } => {
            return of_file(
                format!("{path} has {bytes} bytes and is too large to be checked"),
                "cut it into files below 4 MiB, or list the remote original",
            );
        }
        Entry::Lacking { .. } => {
            return of_file(
                format!("git has no content for {path}. Folders that list it are not checked"),
                "the clone is partial: fetch the whole commit, then run this again",
            );
        }
        Entry::Symlink { .. } => return None,
    };
    let Some(text) = file.text() else {
        // go-yaml, with which kustomize reads, knows it by its byte order mark (`yaml_parser_determine_encoding`).
        if file.bytes().starts_with(&[0xff, 0xfe]) || file.bytes().starts_with(&[0xfe, 0xff]) {
            let message =
                format!("{path} is UTF-16 text. kustomize reads it, and nothing here checks its objects");
            let finding = of_file(message, "save it as UTF-8")?;
            return Some(Diagnostic { severity: Severity::Note, ..finding });
        }
        return of_file(
            format!(
                "{path} is no UTF-8 text. kustomize can't read it, and folders that list it do not build"
            ),
            "save it as UTF-8, or remove it from the list",
        );
    };
    let place = |span| Place::span(path.clone(), text.into(), span);
    match read_documents(text) {
        Ok(documents) => {
            let twice = documents.iter().flat_map(|document| &document.duplicates).next()?;
            let message = format!(
                "`{}` stands twice in one mapping of {path}. Folders that list the file do not build",
                twice.key
            );
            Some(told(message, place(twice.second.clone()), "keep one of the two"))
        }
        Err(error) => Some(conflict(path, text).unwrap_or_else(|| {
            let message =
                format!("{path} is not valid YAML: {}. Folders that list it do not build", error.message);
            told(message, place(error.span), "mend the file; `kustomize build` may fail on it too")
        })),
    }
}

/// Tells of the marks that git leaves where two sides of a merge differ.
fn conflict(path: &RepoPath, text: &str) -> Option<Diagnostic> {
    let mark = repo::conflict(text)?;
    Some(
        UNREADABLE_FILE
            .finding(format!("{path} holds a merge conflict. Folders that list it do not build"))
            .at(Place::span(path.clone(), text.into(), mark))
            .help("decide between the two sides, and commit the file"),
    )
}
