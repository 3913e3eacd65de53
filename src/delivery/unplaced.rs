//! Flux Kustomizations of which Git does not say the folder.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::source::EXTERNAL;
use crate::delivery::{Clusters, Model};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::repo::flux::{Unmapped, artifact_path, holds_variable};
use crate::repo::{FluxKustomization, OtherRevision};
use crate::text::some;

/// How many names a message has.
const MOST_NAMES: usize = 5;

/// What a commit comes to where another revision is read.
pub(crate) const REACHES: &str = "bring commits there too: a commit reaches it once it is there";

/// What to do about it.
pub(crate) const UNMAPPED: &str =
    "copy folders with `/**` to places that end as theirs, from this repository alone";

/// What to do where nobody knows whether a GitRepository is this repository.
pub(crate) const UNCLEAR: &str = "put the GitRepository of the root into Git, with its URL\nor name the source of this repository as `source` under `flux` in windows.yaml";

/// Those that read what the generators of one file make and that can't be mapped back to folders, of which one message tells.
#[derive(Clone, Debug)]
pub(crate) struct UnmappedGroup<'a> {
    flux: Vec<&'a FluxKustomization>,
}

impl<'a> UnmappedGroup<'a> {
    /// Returns the groups in the order of their first one.
    pub(crate) fn all(flux: impl IntoIterator<Item = &'a FluxKustomization>) -> Vec<UnmappedGroup<'a>> {
        let file =
            |one: &'a FluxKustomization| one.unmapped.as_ref()?.place.as_ref().map(|place| &place.path);
        let mut found: Vec<UnmappedGroup<'a>> = Vec::new();
        for one in flux.into_iter().filter(|one| one.unmapped.is_some()) {
            let mut groups = found.iter_mut();
            match groups.find(|group| {
                file(one).is_some() && group.flux.first().map(|own| file(own)) == Some(file(one))
            }) {
                Some(group) => group.flux.push(one),
                None => found.push(UnmappedGroup { flux: vec![one] }),
            }
        }
        found
    }

    /// Returns the first one, with why it is not mapped.
    pub(crate) fn first(&self) -> Option<(&'a FluxKustomization, &'a Unmapped)> {
        let one = self.flux.first()?;
        Some((one, one.unmapped.as_ref()?))
    }

    /// Returns the names, and how many there are.
    pub(crate) fn names(&self) -> (String, usize) {
        let names: Vec<&str> = self.flux.iter().map(|one| one.name.as_str()).collect();
        let most = if names.len() > MOST_NAMES + 1 { MOST_NAMES } else { names.len() };
        (some(&names, most), names.len())
    }
}

/// Says of which Flux Kustomizations only the cluster knows the path.
pub(super) fn unknown_paths(flux: &[FluxKustomization], clusters: &Clusters) -> Option<Diagnostic> {
    let is_unknown = |one: &&FluxKustomization| {
        one.path.is_none()
            && one.source_kind() == "GitRepository"
            && holds_variable(&one.effective["spec"]["path"])
    };
    let found: Vec<&FluxKustomization> = flux.iter().filter(is_unknown).collect();
    let names: BTreeSet<&str> = found.iter().map(|one| one.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let most = if names.len() > MOST_NAMES + 1 { MOST_NAMES } else { names.len() };
    let (path, their, land) = match names.len() {
        1 => ("path of Flux Kustomization", "Its", "its path"),
        _ => ("paths of Flux Kustomizations", "Their", "their paths"),
    };
    let untold: BTreeSet<String> = found.iter().filter_map(|one| untold(one, clusters)).collect();
    let untold: Vec<&str> = untold.iter().map(String::as_str).collect();
    let holds = match untold.as_slice() {
        [] => String::new(),
        objects => format!(", since Git does not tell the values of {}", objects.join(" or ")),
    };
    let text = format!(
        "only the cluster knows the {path} {}{holds}. {their} objects land at once, as no split and no gate knows them",
        some(&names, most)
    );
    let place = found.first()?.place("path");
    Some(
        Diagnostic::warning(text)
            .at(place)
            .help(format!("write {land} without variables, if objects there are to wait")),
    )
}

/// Names the objects that may hold the values of its variables and that Git does not tell.
fn untold(kustomization: &FluxKustomization, clusters: &Clusters) -> Option<String> {
    let cluster = clusters.named(&kustomization.cluster)?;
    let one = cluster.reached(&kustomization.remote, (&kustomization.namespace, &kustomization.name))?;
    let (namespace, name) = one.applied_by.as_ref()?;
    let above =
        cluster.reached(&one.remote, (namespace, name)).or_else(|| cluster.reached("", (namespace, name)))?;
    let from = above.post_build["substituteFrom"].as_array().filter(|from| !from.is_empty())?;
    let named = |item: &Value| Some(format!("{} {}", item["kind"].as_str()?, item["name"].as_str()?));
    Some(from.iter().filter_map(named).collect::<Vec<_>>().join(" or "))
}

impl Model {
    /// Returns a folder from which the paths of Flux Kustomizations that no cluster gets begin, where that is not the top
    /// of the repository: files of several repositories lie in this one.
    pub fn inner_top(&self) -> Option<(&FluxKustomization, RepoPath)> {
        let top = |one: &FluxKustomization| {
            let path = artifact_path(one.spec("path").as_str()?).filter(|path| !path.is_top())?;
            let above = one.file.parents().find(|above| {
                above.as_str().strip_suffix(path.as_str()).is_some_and(|rest| rest.ends_with('/'))
            })?;
            above.ancestors().nth(path.segments().count()).filter(|top| !top.is_top())
        };
        self.unlisted.iter().find_map(|one| Some((one, top(one)?)))
    }
}

/// Says that what ArtifactGenerators make maps to no folders, once for each file of them.
pub(super) fn unmapped(flux: &[FluxKustomization]) -> Vec<Diagnostic> {
    let tell = |group: UnmappedGroup<'_>| {
        let (one, Unmapped { reason, place }) = group.first()?;
        let (kind, source, place) = (one.source_kind(), one.source_name(), place.clone());
        let message = match group.names() {
            (name, 1) => format!(
                "Flux Kustomization {name} stays as it is: {kind} {source} maps to no folder, since {reason}"
            ),
            (names, _) => format!("{kind}s of {names} map to no folder. Of {source}: {reason}"),
        };
        let place = place.unwrap_or_else(|| one.place("path"));
        Some(Diagnostic::warning(message).at(place).help(UNMAPPED))
    };
    UnmappedGroup::all(flux).into_iter().filter_map(tell).collect()
}

/// Those that read one source which follows another revision of this repository than their root.
#[derive(Clone, Debug)]
pub(crate) struct OtherGroup<'a> {
    /// How that follows another one.
    pub other: &'a OtherRevision,
    /// The first one.
    pub first: &'a FluxKustomization,
    /// Their names.
    pub names: String,
}

impl<'a> OtherGroup<'a> {
    /// Returns the groups in the order of what they read.
    pub(crate) fn all(flux: impl IntoIterator<Item = &'a FluxKustomization>) -> Vec<OtherGroup<'a>> {
        let mut found: BTreeMap<&OtherRevision, Vec<&FluxKustomization>> = BTreeMap::new();
        for one in flux {
            if let Some(other) = &one.other {
                found.entry(other).or_default().push(one);
            }
        }
        let group = |(other, all): (&'a OtherRevision, Vec<&'a FluxKustomization>)| {
            let names: BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
            let names: Vec<&str> = names.into_iter().collect();
            Some(OtherGroup { other, first: all.first()?, names: some(&names, MOST_NAMES) })
        };
        found.into_iter().filter_map(group).collect()
    }
}

/// Says that Flux Kustomizations read another revision of this repository, once for each source that follows one.
pub(super) fn of_other_revisions(flux: &[FluxKustomization]) -> Vec<Diagnostic> {
    let tell = |group: OtherGroup<'_>| {
        Diagnostic::note(format!("{}. Nothing of {} is split", group.other, group.names))
            .at(group.first.place("sourceRef"))
            .help(REACHES)
    };
    OtherGroup::all(flux).into_iter().map(tell).collect()
}

/// Says that the folder of a Flux Kustomization is not known; one of another repository is nobody's business here.
pub(super) fn unplaced(kustomization: &FluxKustomization) -> Option<Diagnostic> {
    let (name, kind) = (&kustomization.name, kustomization.source_kind());
    let place = kustomization.place("path");
    if kind == "GitRepository" || kustomization.unmapped.is_some() {
        return None;
    }
    let source = kustomization.source_name();
    let help = match kind {
        EXTERNAL => "no ArtifactGenerator in Git makes it: nothing of it waits for a window",
        _ => "its entry point is not touched: split it where the artifact is made",
    };
    Some(
        Diagnostic::warning(format!(
            "Flux Kustomization {name} builds from {kind} {source}, which is not this repository"
        ))
        .at(place)
        .help(help),
    )
}
