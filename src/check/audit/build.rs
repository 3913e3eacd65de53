//! What can't be read or built.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{
    APPLIES_NOTHING, DOES_NOT_BUILD, FOREIGN_SOURCE, MISSING_PATH, NOT_JUDGED, UNREADABLE_FILE,
};
use crate::check::subject::Subject;
use crate::delivery::{Applied, Delivery, Effect, UNMAPPED, UnmappedGroup};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::path::RepoPath;
use crate::repo::flux::{Unmapped, is_yaml};
use crate::repo::{Entry, FluxKustomization, Kustomization, Reference, Target, built};
use crate::yaml::read_documents;

/// What to do about a path that leads nowhere.
const NO_FOLDER: &str = "correct spec.path; it is relative to the top of the source, not to this file";

/// Finds files that no build can read, folders that do not build, and paths that lead nowhere.
///
/// One broken file is told once, at its place, and the folders that fail for it are not told again. Of what nobody asked
/// to be built nothing is read.
/// A build that needs the network is not judged.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let (mut findings, broken) = files(subject);
    // What a bootstrap folder takes in fails with it, and is told there.
    let asked = subject.deliveries.iter().filter(|delivery| delivery.is_asked);
    for delivery in asked.filter(|delivery| delivery.flux.is_some()) {
        findings.extend(
            build(subject, delivery, &broken)
                .or_else(|| empty(subject, delivery))
                .into_iter()
                .filter(|new| !findings.iter().any(|old| old.place == new.place))
                .collect::<Vec<_>>(),
        );
    }
    let of_roots: Vec<Diagnostic> =
        roots(subject, &broken).filter(|new| !findings.iter().any(|old| old.place == new.place)).collect();
    findings.extend(of_roots);
    let unread = subject.model.delivered.unread.iter().filter_map(|file| unreadable(subject, file));
    let unread: Vec<Diagnostic> =
        unread.filter(|new| !findings.iter().any(|old| old.place == new.place)).collect();
    findings.extend(unread);
    findings.extend(paths(subject));
    findings
}

fn files(subject: &Subject<'_>) -> (Vec<Diagnostic>, BTreeSet<RepoPath>) {
    let graph = &subject.model.graph;
    let mut findings = Vec::new();
    let mut broken = BTreeSet::new();
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    for delivery in subject.deliveries.iter().filter(|delivery| delivery.is_asked) {
        for folder in built(&subject.model.graph, &delivery.path) {
            if !seen.insert(folder.clone()) {
                continue;
            }
            if let Some(diagnostic) = graph.broken(&folder) {
                broken.insert(folder.clone());
                let mut finding = UNREADABLE_FILE.finding(diagnostic.message.clone());
                finding.place = diagnostic.place.clone();
                finding.help = diagnostic.help.clone();
                findings.push(finding);
                continue;
            }
            let Some(kustomization) = graph.get(&folder) else { continue };
            for reference in kustomization.resources() {
                let Target::Path(path) = &reference.target else { continue };
                let found = missing(subject, kustomization, reference).or_else(|| unreadable(subject, path));
                if let Some(finding) = found {
                    broken.insert(folder.clone());
                    findings.push(finding);
                }
            }
        }
        // Flux lists the files of a folder without a kustomization itself.
        if !graph.has(&delivery.path) && delivery.flux.is_some() {
            for (path, _) in subject.snapshot.below(&delivery.path) {
                if !graph.is_loose(path, &delivery.path) || !is_yaml(path) {
                    continue;
                }
                if let Some(finding) = unreadable(subject, path) {
                    broken.insert(delivery.path.clone());
                    findings.push(finding);
                }
            }
        }
    }
    (findings, broken)
}

/// Says why roots do not build that a FluxInstance applies: no file holds their Flux Kustomizations.
fn roots<'s>(
    subject: &'s Subject<'_>,
    broken: &'s BTreeSet<RepoPath>,
) -> impl Iterator<Item = Diagnostic> + 's {
    let model = subject.model;
    let all = model.delivered.all.iter().flat_map(|cluster| &cluster.kustomizations);
    let failing = all.filter(|one| one.written.is_none());
    failing.filter_map(|one| {
        let (error, folder) = (one.error.as_ref()?, one.path.as_ref()?);
        if built(&model.graph, folder).iter().any(|folder| broken.contains(folder)) {
            return None;
        }
        let loose = |file: &&RepoPath| is_yaml(file) && model.graph.is_loose(file, folder);
        let mut files = subject.snapshot.below(folder).map(|(file, _)| file).filter(loose);
        let of_file = files.find_map(|file| unreadable(subject, file));
        let place = Place::file(model.graph.get(folder).map_or(folder.clone(), |list| list.file.clone()));
        Some(of_file.unwrap_or_else(|| does_not_build(folder, one.name(), &reason(error), place)))
    })
}

/// Says that a folder does not build for a Flux Kustomization.
fn does_not_build(folder: &RepoPath, name: &str, reason: &str, place: Place) -> Diagnostic {
    DOES_NOT_BUILD
        .finding(format!("{folder} does not build, and {name} applies nothing new from it: {reason}"))
        .at(place)
        .help(format!("run `kustomize build --load-restrictor LoadRestrictionsNone {folder}`"))
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
    if reference.text.ends_with("gotk-components.yaml") {
        let message = format!(
            "`{}` is missing. {} does not build before `flux bootstrap` writes it",
            reference.text, kustomization.folder
        );
        let finding = DOES_NOT_BUILD.finding(message).at(place);
        let finding =
            finding.help("run `flux bootstrap`, or add the file if a cluster has been bootstrapped");
        return Some(Diagnostic { severity: Severity::Note, ..finding });
    }
    Some(
        DOES_NOT_BUILD
            .finding(format!(
                "`{}` is missing. {} does not build, nor does anything that includes it",
                reference.text, kustomization.folder
            ))
            .at(place)
            .help("add the file, or remove it from the list; does .gitignore leave it out?"),
    )
}

/// Says why a file that is listed as a resource can't be read.
fn unreadable(subject: &Subject<'_>, path: &RepoPath) -> Option<Diagnostic> {
    let whole = || Place::file(path.clone());
    let file = match subject.snapshot.entry(path)? {
        Entry::File(file) if file.is_yaml() => return None,
        Entry::File(file) => file,
        Entry::Large { bytes } => {
            return Some(
                UNREADABLE_FILE
                    .finding(format!("{path} has {bytes} bytes and is too large to be checked"))
                    .at(whole())
                    .help("cut it into files below 4 MiB, or list the remote original"),
            );
        }
        Entry::Lacking { .. } => {
            return Some(
                UNREADABLE_FILE
                    .finding(format!("git has no content for {path}. Folders that list it are not checked"))
                    .at(whole())
                    .help("the clone is partial: fetch the whole commit, then run this again"),
            );
        }
        Entry::Symlink { .. } => return None,
    };
    let Some(text) = file.text() else {
        // go-yaml, with which kustomize reads, knows it by its byte order mark (`yaml_parser_determine_encoding`).
        if file.bytes().starts_with(&[0xff, 0xfe]) || file.bytes().starts_with(&[0xfe, 0xff]) {
            let finding = UNREADABLE_FILE
                .finding(format!(
                    "{path} is UTF-16 text. kustomize reads it, and nothing here checks its objects"
                ))
                .at(whole())
                .help("save it as UTF-8");
            return Some(Diagnostic { severity: Severity::Note, ..finding });
        }
        return Some(
            UNREADABLE_FILE
                .finding(format!(
                    "{path} is no UTF-8 text. kustomize can't read it, and folders that list it do not build"
                ))
                .at(whole())
                .help("save it as UTF-8, or remove it from the list"),
        );
    };
    let error = match read_documents(text) {
        Ok(documents) => {
            let twice = documents.iter().flat_map(|document| &document.duplicates).next()?;
            return Some(
                UNREADABLE_FILE
                    .finding(format!(
                        "`{}` stands twice in one mapping of {path}. Folders that list the file do not build",
                        twice.key
                    ))
                    .at(Place::span(path.clone(), text.into(), twice.second.clone()))
                    .help("keep one of the two"),
            );
        }
        Err(error) => error,
    };
    Some(
        UNREADABLE_FILE
            .finding(format!(
                "{path} is not valid YAML: {}. Folders that list it do not build",
                error.message
            ))
            .at(Place::span(path.clone(), text.into(), error.span))
            .help("mend the file; `kustomize build` fails on it too"),
    )
}

fn build(subject: &Subject<'_>, delivery: &Delivery, broken: &BTreeSet<RepoPath>) -> Option<Diagnostic> {
    let error = delivery.error.as_ref()?;
    let reached = built(&subject.model.graph, &delivery.path);
    if reached.iter().any(|folder| broken.contains(folder)) || broken.contains(&delivery.path) {
        return None;
    }
    let graph = &subject.model.graph;
    let remote = |folder: &RepoPath| graph.get(folder).is_some_and(Kustomization::is_remote);
    if reached.iter().any(remote) {
        return None;
    }
    let lacking = |flux| subject.model.lacking(subject.snapshot, flux);
    if subject.flux(delivery).is_some_and(|flux| lacking(flux).iter().any(|one| one.effect == Effect::Fails))
    {
        // Told as GW066.
        return None;
    }
    let place = match (subject.flux(delivery), graph.get(&delivery.path)) {
        (Some(flux), _) => flux.place("path"),
        (None, Some(kustomization)) => Place::file(kustomization.file.clone()),
        (None, None) => Place::file(delivery.path.clone()),
    };
    let reason = reason(error);
    if delivery.unjudged {
        return Some(
            NOT_JUDGED
                .finding(format!("{} is not checked: its build of {} {reason}", delivery.name, delivery.path))
                .at(place)
                .help("check again with more time and memory; Flux may well build it"),
        );
    }
    Some(does_not_build(&delivery.path, &delivery.name, &reason, place))
}

/// Joins the lines of a report, of which the first may only announce the others.
fn reason(error: &str) -> String {
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ").chars().take(400).collect()
}

/// Says that a folder builds to nothing, which `kustomize build` refuses and kustomize-controller takes
/// (`fluxcd/pkg/kustomize`, `generateKustomization`).
fn empty(subject: &Subject<'_>, delivery: &Delivery) -> Option<Diagnostic> {
    let kustomization = subject.model.graph.get(&delivery.path)?;
    let flux = subject.flux(delivery)?;
    if delivery.error.is_some() || !delivery.objects.is_empty() {
        return None;
    }
    let consequence = match flux.spec("prune") == true {
        true => "deletes all objects that it applied before",
        false => "applies nothing",
    };
    Some(
        APPLIES_NOTHING
            .finding(format!("{} builds no object. {} {consequence}", delivery.path, delivery.name))
            .at(Place::file(kustomization.file.clone()))
            .related(format!("{} builds it", delivery.name), flux.place("path"))
            .help("list its files in the kustomization, or remove the Flux Kustomization"),
    )
}

fn paths(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let (graph, snapshot) = (&subject.model.graph, subject.snapshot);
    // A Kustomization that another build changes is what that build makes of it.
    let mut applied: BTreeMap<(&RepoPath, &str), Vec<&Applied>> = BTreeMap::new();
    for one in subject.deliveries.iter().flat_map(|delivery| &delivery.objects) {
        if let Some(origin) = one.object.origin.as_ref()
            && one.is(crate::repo::flux::GROUP, "Kustomization")
        {
            applied.entry((&origin.path, &one.id.name)).or_default().push(one);
        }
    }
    let (mut findings, mut unmapped) = (Vec::new(), Vec::new());
    for flux in subject.model.all_flux() {
        let written = flux.spec("path").as_str().unwrap_or_default();
        let mut own = applied.get(&(&flux.file, flux.name.as_str())).into_iter().flatten();
        let changed = own.any(|other| other.value()["spec"]["path"].as_str().unwrap_or_default() != written);
        if written.contains("${") || changed {
            continue;
        }
        match &flux.path {
            Some(path) if !graph.has(path) && !snapshot.is_dir(path) => {
                let (why, help) = if graph.real(path) == *path {
                    ("is not in this repository", NO_FOLDER)
                } else {
                    ("leads over a symbolic link. No source fetches links", "name the folder that it leads to in spec.path")
                };
                let text = format!("{} has the path {path}, which {why}. It fails and applies nothing", flux.name);
                findings.push(MISSING_PATH.finding(text).at(flux.place("path")).help(help));
            }
            None if flux.source_kind() == "GitRepository" && leads_out(written) => findings.push(
                MISSING_PATH
                    .finding(format!(
                        "{} has the path {written}, which leads out of the repository. Flux builds another folder, or none",
                        flux.name
                    ))
                    .at(flux.place("path"))
                    .help(NO_FOLDER),
            ),
            None if flux.unmapped.is_some() => unmapped.push(flux),
            None if flux.source_kind() != "GitRepository" => findings.push(foreign(flux)),
            _ => {}
        }
    }
    findings.extend(UnmappedGroup::all(unmapped).iter().filter_map(unlooked));
    findings
}

/// Says that nothing here shows what Flux Kustomizations build of what one generator makes.
fn unlooked(group: &UnmappedGroup<'_>) -> Option<Diagnostic> {
    let (one, Unmapped { reason, place }) = group.first()?;
    let (kind, source) = (one.source_kind(), one.source_name());
    let told = match group.names() {
        (name, 1) => format!("{name} builds from {kind} {source}, which is not looked at: {reason}"),
        (names, _) => format!("{names} build from {kind}s that are not looked at. Of {source}: {reason}"),
    };
    let place = place.clone().unwrap_or_else(|| one.place("sourceRef"));
    Some(FOREIGN_SOURCE.finding(told).at(place).help(UNMAPPED))
}

/// Says that nothing here shows what a Flux Kustomization builds.
fn foreign(flux: &FluxKustomization) -> Diagnostic {
    let (name, kind, source) = (&flux.name, flux.source_kind(), flux.source_name());
    let place = flux.place("sourceRef");
    FOREIGN_SOURCE
        .finding(format!(
            "{name} builds from {kind} {source}, which is not this repository. Its objects are not checked"
        ))
        .at(place)
        .help(match kind {
            "OCIRepository" => {
                "check the repository that the artifact is made from\nif that is this one, name the pushed folder as `path` under `flux.source`"
            }
            _ => "check the repository that the artifact is made from",
        })
}

/// Tells whether a path has more steps up than down.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_i64;
    path.split('/').any(|segment| {
        depth += match segment {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth < 0
    })
}
