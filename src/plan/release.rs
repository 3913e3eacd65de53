//! What reaches a cluster only as a release: its source names a tag, a commit or versions, and no branch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::{Input, SourceId, Sources};
use crate::diagnostic::{Diagnostic, Place};
use crate::repo::flux::is_yaml;
use crate::repo::{FluxKustomization, Followed};
use crate::text::some;
use crate::yaml::Node;

/// The most clusters that are named.
const MOST: usize = 5;

/// What has to reach clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A step of the way from one Flux Kustomization to several: each has to come before the next.
    Step,
    /// The last step of that way.
    LastStep,
    /// What may only come while windows are open.
    WhileOpen,
}

/// Warns of sources that fetch no commit by itself, by which a plan reaches the Flux Kustomizations that it concerns. Of two
/// steps that come together the cluster sees only what both make of it: the old Flux Kustomization goes before it has been
/// kept from deleting.
pub(crate) fn unreleased<'f>(
    input: &Input<'_>,
    concerned: impl IntoIterator<Item = &'f FluxKustomization>,
    purpose: Purpose,
) -> Vec<Diagnostic> {
    let is_fixed = |id: &SourceId, follows: &Followed| follows.is_fixed(&id.kind);
    warned(input, concerned, is_fixed, |id, follows, clusters| told(id, follows, clusters, purpose))
}

/// Warns of sources that follow another branch than that into which changes are merged, by which steps reach Flux
/// Kustomizations: a step lands once it is merged there too, and until then the next one must wait.
pub(crate) fn on_branches<'f>(
    input: &Input<'_>,
    concerned: impl IntoIterator<Item = &'f FluxKustomization>,
    default: &str,
) -> Vec<Diagnostic> {
    let is_other = |_: &SourceId, follows: &Followed| follows.field == "branch" && follows.value != default;
    warned(input, concerned, is_other, |id, follows, clusters| {
        let (kind, name, branch) = (&id.kind, &id.name, &follows.value);
        let of = if clusters.len() == 1 { "cluster" } else { "clusters" };
        let clusters = some(clusters, MOST);
        Diagnostic::warning(format!(
            "{kind} {name} of {of} {clusters} follows branch {branch}. A step lands once it is merged into that"
        ))
        .help(format!(
            "merge each step alone into {branch}, and wait until the clusters have applied it\nrun `gitops-windows migrate --base origin/{branch}` for the next"
        ))
    })
}

/// Warns of some of the sources by which a plan reaches Flux Kustomizations, each once.
fn warned<'f>(
    input: &Input<'_>,
    concerned: impl IntoIterator<Item = &'f FluxKustomization>,
    is_meant: impl Fn(&SourceId, &Followed) -> bool,
    told: impl Fn(&SourceId, &Followed, &[&str]) -> Diagnostic,
) -> Vec<Diagnostic> {
    let mut found: BTreeMap<(SourceId, Followed), (BTreeSet<&str>, &Value)> = BTreeMap::new();
    for flux in concerned {
        for (cluster, id) in input.model.sources_of(flux).filter(|(cluster, id)| !cluster.is_held(id)) {
            let Some(spec) = cluster.source(&id) else { continue };
            let follows = Followed::of(&id.kind, spec);
            if is_meant(&id, &follows) {
                let (clusters, _) = found.entry((id, follows)).or_insert((BTreeSet::new(), spec));
                clusters.insert(&flux.cluster);
            }
        }
    }
    let told = |((id, follows), (clusters, spec)): ((SourceId, Followed), (BTreeSet<&str>, &Value))| {
        let clusters: Vec<&str> = clusters.into_iter().collect();
        let told = told(&id, &follows, &clusters);
        match place(input, &id, &clusters, spec) {
            Some(place) => told.at(place),
            None => told,
        }
    };
    found.into_iter().map(told).collect()
}

fn told(id: &SourceId, follows: &Followed, clusters: &[&str], purpose: Purpose) -> Diagnostic {
    let (field, value) = (follows.field, &follows.value);
    let (kind, name) = (&id.kind, &id.name);
    let lands = match field {
        "semver" => "A commit lands with the next release".to_owned(),
        _ => format!("No commit lands before {kind} {name} names another {field}"),
    };
    let of = if clusters.len() == 1 { "cluster" } else { "clusters" };
    let clusters = some(clusters, MOST);
    let text = format!("{kind} {name} of {of} {clusters} follows {field} {value}. {lands}");
    let (alone, next) = match field {
        "semver" => (
            "release this step alone: two steps in one release may delete objects".to_owned(),
            "run `gitops-windows migrate --base TAG` with the tag of that release".to_owned(),
        ),
        _ => (
            format!("let it name a {field} of this step alone: two steps together may delete objects"),
            format!("run `gitops-windows migrate --base REVISION` with that {field}"),
        ),
    };
    let help = match (purpose, field) {
        (Purpose::Step, _) => format!("{alone}\n{next}"),
        (Purpose::LastStep, _) => alone,
        (Purpose::WhileOpen, "semver") => "release it while the window is open".to_owned(),
        (Purpose::WhileOpen, _) => format!("name the new {field} while the window is open"),
    };
    Diagnostic::warning(text).help(help)
}

/// Points at what a source follows, in the file that says so; of several, in one that one of these clusters builds.
fn place(input: &Input<'_>, id: &SourceId, clusters: &[&str], spec: &Value) -> Option<Place> {
    let files = input.snapshot.entries().filter_map(|(path, _)| {
        let file = input.snapshot.file(path)?;
        (is_yaml(path) && file.mentions("source.toolkit.fluxcd.io")).then_some(path)
    });
    let sources = Sources::new(input.snapshot);
    let found = files.filter_map(|path| {
        let source = sources.get(path)?;
        let is_it = |object: &&Node| {
            let says = |field: &[&str]| object.get_path(field).and_then(Node::as_str);
            says(&["kind"]) == Some(&id.kind)
                && says(&["metadata", "name"]) == Some(&id.name)
                && object.get("spec").is_some_and(|own| own.to_json() == *spec)
        };
        let mut own = source.objects.iter().filter(is_it);
        let follows = own.find_map(|object| object.get_path(&["spec", "ref"]))?;
        Some(Place::span(path.clone(), source.text.clone(), follows.span.clone()))
    });
    let is_built = |place: &&Place| {
        let all = input.model.flux_taking_in(&place.path);
        all.iter().any(|one| clusters.contains(&one.cluster.as_str()))
    };
    let found: Vec<Place> = found.collect();
    found.iter().find(is_built).or_else(|| found.first()).cloned()
}
