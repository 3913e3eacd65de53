//! Paths that lead nowhere, and sources that are not looked at.

use std::collections::BTreeMap;

use crate::check::code::{FOREIGN_SOURCE, MISSING_PATH};
use crate::check::subject::Subject;
use crate::delivery::{Applied, OtherGroup, REACHES, UNCLEAR, UNMAPPED, UnmappedGroup};
use crate::diagnostic::{Diagnostic, Severity};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::flux::{Unmapped, artifact_path};
use crate::text::did_you_mean_path;

/// Why the folder of a path is none.
pub(super) const NOT_HERE: &str = "is not in this repository";

/// What to do about a path that leads nowhere.
const NO_FOLDER: &str = "correct spec.path; it is relative to the top of the source, not to this file";

/// Finds Flux Kustomizations whose path or source says of nothing here what they build.
pub(super) fn paths(subject: &Subject<'_>) -> Vec<Diagnostic> {
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
    let (mut findings, mut unmapped, mut others) = (Vec::new(), Vec::new(), Vec::new());
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
                    let near = did_you_mean_path(path.as_str(), graph.folders().map(RepoPath::as_str));
                    let help = near.map_or(NO_FOLDER.into(), |near| {
                        format!("{near} spec.path is relative to the top of the source, not to this file")
                    });
                    (NOT_HERE, help)
                } else {
                    ("leads over a symbolic link. No source fetches links", "name the folder that it leads to in spec.path".into())
                };
                findings.push(missing(&flux.name, path, why).at(flux.place("path")).help(help).about(flux.key()));
            }
            None if flux.source_kind() == "GitRepository" && leads_out(written) => findings.push(
                MISSING_PATH
                    .finding(format!(
                        "{} has the path {written}, which leads out of the repository. Flux builds another folder, or none",
                        flux.name
                    ))
                    .at(flux.place("path"))
                    .help(NO_FOLDER)
                    .about(flux.key()),
            ),
            None if flux.other.is_some() => others.push(flux),
            None if flux.unmapped.is_some() => unmapped.push(flux),
            None if flux.source_kind() != "GitRepository" => findings.push(foreign(flux)),
            None if artifact_path(written).is_some_and(|path| subject.model.is_unclear(flux, &path)) => {
                findings.push(unclear(flux));
            }
            _ => {}
        }
    }
    findings.extend(OtherGroup::all(others).iter().map(elsewhere));
    findings.extend(UnmappedGroup::all(unmapped).iter().filter_map(unlooked));
    findings
}

/// Says that the folder of a Flux Kustomization is none.
pub(super) fn missing(name: &str, path: &RepoPath, why: &str) -> Diagnostic {
    MISSING_PATH.finding(format!("{name} has the path {path}, which {why}. It fails and applies nothing"))
}

/// Says that Flux Kustomizations build another revision of this repository.
fn elsewhere(group: &OtherGroup<'_>) -> Diagnostic {
    FOREIGN_SOURCE
        .finding(format!("{}. Here nothing of {} is checked", group.other, group.names))
        .lasting(format!("{} follows another revision", group.other.source))
        .at(group.first.place("sourceRef"))
        .help(REACHES)
}

/// Says that nothing here shows what Flux Kustomizations build of what one generator makes.
fn unlooked(group: &UnmappedGroup<'_>) -> Option<Diagnostic> {
    let (one, Unmapped { reason, place }) = group.first()?;
    let (kind, source) = (one.source_kind(), one.source_name());
    let told = match group.names() {
        (name, 1) => format!("{name} builds from {kind} {source}, which is not looked at: {reason}"),
        (names, _) => format!("{names} build from {kind}s not looked at. Of {source}: {reason}"),
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

/// Says that what a Flux Kustomization builds may stand here or elsewhere.
fn unclear(flux: &FluxKustomization) -> Diagnostic {
    let (name, source) = (&flux.name, flux.source_name());
    let text = format!(
        "{name} builds from GitRepository {source}, which may be this repository or another one. Its objects are not checked"
    );
    let finding = FOREIGN_SOURCE.finding(text).at(flux.place("sourceRef")).help(UNCLEAR);
    // No gate holds it, although one may have to.
    Diagnostic { severity: Severity::Warning, ..finding }
}

/// Returns whether a path has more steps up than down.
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
