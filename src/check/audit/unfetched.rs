//! Files that builds need and sources do not fetch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::audit::named;
use crate::check::code::NOT_FETCHED;
use crate::check::subject::Subject;
use crate::delivery::{Effect, Input, Lacking, LeftOut, SourceId};
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::flux::{SOURCES, is_yaml};
use crate::repo::manifest::{ObjectId, kept_manifests};
use crate::repo::{Entry, FluxKustomization, Snapshot};

/// What is lacking, one of the Flux Kustomizations that lack it, the side that is to be handed over where only that lacks it,
/// and the clusters of all.
type Found<'m> = (Lacking, &'m FluxKustomization, Option<RepoPath>, BTreeSet<&'m str>);

/// Finds what a build names and its artifact does not hold: `.sourceignore`, `spec.ignore`, a default or an
/// ArtifactGenerator leaves it out, or it is a symbolic link.
///
/// Here the folder builds, and nothing but the cluster would say why it does not there.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found: BTreeMap<(RepoPath, String, Effect), Found<'_>> = BTreeMap::new();
    for delivery in &subject.deliveries {
        let Some(flux) = subject.flux(delivery) else { continue };
        let own = subject.model.lacking(subject.snapshot, flux).into_iter().map(|lacking| (lacking, None));
        for (lacking, side) in own.chain(of_sides(subject, flux)) {
            let key = (lacking.path.clone(), flux.name.clone(), lacking.effect);
            let (.., clusters) = found.entry(key).or_insert_with(|| (lacking, flux, side, BTreeSet::new()));
            clusters.insert(&delivery.cluster.name);
        }
    }
    let lacking = found.into_values().map(|one| told(subject, &one));
    lacking.chain(without_path(subject)).collect()
}

/// Finds what the sides of an entry point lack that its Flux Kustomization is to hand over, each with the side.
fn of_sides(subject: &Subject<'_>, flux: &FluxKustomization) -> Vec<(Lacking, Option<RepoPath>)> {
    let Subject { snapshot, model, renderer, .. } = *subject;
    let (Some(spec), Some(path)) = (subject.spec, &flux.path) else { return Vec::new() };
    let input = Input { spec, snapshot, model, renderer };
    let sides =
        input.standing_sides(path, &flux.cluster).into_values().filter(|side| !input.is_applied(side));
    let artifact = model.partial_artifact(flux);
    let lacking = |side: RepoPath| {
        let found = model.lacking_in(snapshot, artifact, &side);
        found.into_iter().map(move |lacking| (lacking, Some(side.clone())))
    };
    sides.flat_map(lacking).collect()
}

fn told(subject: &Subject<'_>, (lacking, flux, side, clusters): &Found<'_>) -> Diagnostic {
    let (path, name) = (&lacking.path, &flux.name);
    let whose = named(clusters);
    let effect = match lacking.effect {
        _ if side.is_some() => {
            let side = side.as_ref().map(RepoPath::as_str).unwrap_or_default();
            format!("{name} of {whose} can't hand {side} over")
        }
        Effect::Fails => format!("{name} of {whose} does not build, and applies nothing new"),
        Effect::Lists => {
            format!("{name} of {whose} applies whatever else lies in {}", path.parent().unwrap_or_default())
        }
        Effect::Lacks => format!("{name} of {whose} does not apply its target"),
        Effect::Empties => {
            let prunes = flux.spec("prune") == true;
            let effect = if prunes { "deletes all that it applied" } else { "applies nothing" };
            format!("{name} of {whose} builds no object, and {effect}")
        }
    };
    let source = subject.model.fetched_source(flux);
    let (kind, source, lacks) = match lacking.why {
        LeftOut::NotCopied => (flux.source_kind(), flux.source_name(), "does not hold"),
        _ => (source.kind.as_str(), source.name.as_str(), "does not fetch"),
    };
    let what = if lacking.effect == Effect::Empties { "what lies in " } else { "" };
    let why = format!("{kind} {source} {lacks} {what}`{path}`: {}", lacking.why);
    let finding = NOT_FETCHED
        .finding(format!("{why}. {effect}"))
        .at(place(subject, lacking, flux))
        .help(lacking.why.remedy());
    match &lacking.named {
        Some(named) if finding.place.as_ref() != Some(named) => {
            finding.related(format!("{} names it", named.path), named.clone())
        }
        _ => finding.related(format!("{name} builds it"), flux.place("path")),
    }
}

/// Returns where something says that it is left out; what nothing says, where it is named.
fn place(subject: &Subject<'_>, lacking: &Lacking, flux: &FluxKustomization) -> Place {
    let whole = || lacking.named.clone().unwrap_or_else(|| Place::file(lacking.path.clone()));
    match &lacking.why {
        LeftOut::File { file, span, .. } => {
            let text = subject.snapshot.file(file).and_then(|file| file.shared_text());
            text.map_or_else(whole, |text| Place::span(file.clone(), text, span.clone()))
        }
        LeftOut::Source { line, .. } => {
            let id = subject.model.fetched_source(flux);
            let has_line =
                |spec: &Value| spec["ignore"].as_str().is_some_and(|text| text.contains(line.as_str()));
            in_source(subject.snapshot, &id, "ignore", has_line).unwrap_or_else(whole)
        }
        LeftOut::Link(link) if lacking.named.is_none() => Place::file(link.clone()),
        LeftOut::Submodule(_) => flux.place("path"),
        LeftOut::Link(_) | LeftOut::Sparse(_) | LeftOut::Default | LeftOut::Pushed | LeftOut::NotCopied => {
            whole()
        }
    }
}

/// Returns where a field of a source stands whose `spec` fits. Its build may be the one that fails.
fn in_source(
    snapshot: &Snapshot,
    id: &SourceId,
    field: &str,
    fits: impl Fn(&Value) -> bool,
) -> Option<Place> {
    let is_it = |value: &Value| {
        let own = ObjectId::of(value);
        own.group == SOURCES && (&own.kind, &own.name) == (&id.kind, &id.name) && fits(&value["spec"])
    };
    snapshot.entries().find_map(|(path, entry)| {
        let Entry::File(file) = entry else { return None };
        let all = Some(file).filter(|file| is_yaml(path) && file.mentions(SOURCES)).and_then(kept_manifests);
        let found = all?.iter().find(|one| is_it(&one.value))?;
        let node = found.root.get("spec")?.get(field)?;
        Some(Place::span(path.clone(), file.shared_text()?, node.span.clone()))
    })
}

/// Finds sources that fetch nothing, since `spec.sparseCheckout` names what is not there.
fn without_path(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found: BTreeMap<(SourceId, &str), BTreeSet<&str>> = BTreeMap::new();
    for delivery in &subject.deliveries {
        let Some(flux) = subject.flux(delivery) else { continue };
        let artifact = subject.model.partial_artifact(flux);
        let missing = artifact.and_then(|artifact| artifact.missing(subject.snapshot));
        if let Some(path) = missing {
            let source = subject.model.fetched_source(flux);
            found.entry((source, path)).or_default().insert(&delivery.cluster.name);
        }
    }
    let told = |((source, path), clusters): ((SourceId, &str), BTreeSet<&str>)| {
        let text = format!("No build of {} gets a newer commit", named(&clusters));
        nothing_fetched(subject.snapshot, &source, path, &text).help(format!(
            "put a file into `{path}`\nor drop it from the list one commit before its files go"
        ))
    };
    found.into_iter().map(told).collect()
}

/// Says of a source that it fetches nothing since `spec.sparseCheckout` names a path that is not there, and what that means;
/// at the list in these files.
pub(in crate::check) fn nothing_fetched(
    snapshot: &Snapshot,
    source: &SourceId,
    path: &str,
    effect: &str,
) -> Diagnostic {
    let names = |spec: &Value| {
        spec["sparseCheckout"].as_array().is_some_and(|paths| paths.iter().any(|one| one == path))
    };
    let SourceId { kind, name, .. } = source;
    let finding = NOT_FETCHED.finding(format!(
        "{kind} {name} fetches nothing: its `spec.sparseCheckout` names `{path}`, which is not there. {effect}"
    ));
    match in_source(snapshot, source, "sparseCheckout", names) {
        Some(place) => finding.at(place),
        None => finding,
    }
}
