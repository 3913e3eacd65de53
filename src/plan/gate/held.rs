//! The sources that gates hold: copies of those that land at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::delivery::{Cluster, Input, Reached, SourceId};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{GateTarget, HeldSource, PLACEHOLDER, held_name};
use crate::repo::FluxKustomization;
use crate::repo::flux::holds_variable;
use crate::spec::MechanismName;

/// How often a held source looks for its commit by itself: each time takes the whole branch.
const INTERVAL: &str = "24h";

/// Returns the sources by which a cluster's gate holds back what is there to be held back, by the position of the type.
///
/// # Errors
///
/// When Git does not say the source of all of it, or says one that can't be held.
pub fn sources(
    input: &Input<'_>,
    cluster: &str,
    targets: &BTreeMap<usize, BTreeSet<GateTarget>>,
    switched_on: &BTreeSet<usize>,
) -> Result<BTreeMap<usize, HeldSource>, Error> {
    if input.spec.gate.mechanism != MechanismName::Follow {
        return Ok(BTreeMap::new());
    }
    let place = || Place::file(input.spec.path.clone());
    if !input.spec.gate_enabled(cluster) {
        let text =
            format!("the gate of cluster {cluster} can't be off: nothing would ever move its held source");
        let help = "remove `enabled: false`, or choose `mechanism: suspend` under `gate`";
        return Err(unsafe_at(text, place(), help));
    }
    let mut found = BTreeMap::new();
    for position in switched_on {
        let mut live: Option<(SourceId, &Cluster)> = None;
        for target in targets.get(position).into_iter().flatten() {
            let Some((own, one)) = reached(input, cluster, target) else {
                let text = format!(
                    "Flux Kustomization {} of cluster {cluster} is not in Git, so it can't read a held source",
                    target.name
                );
                return Err(unsafe_at(
                    text,
                    place(),
                    "add it to Git, or choose `mechanism: suspend` under `gate`",
                ));
            };
            let source = in_namespace(input, own.live_of(&one.source()));
            let at = || of_file(input, cluster, target).map_or_else(place, |flux| flux.place("sourceRef"));
            if target.namespace != input.spec.flux.namespace || source.namespace != target.namespace {
                let text = format!(
                    "{} or its source is in another namespace than {}, which a held source can't serve yet",
                    target.name, input.spec.flux.namespace
                );
                return Err(unsafe_at(text, at(), "choose `mechanism: suspend` under `gate`"));
            }
            match &live {
                Some((known, _)) if *known != source => {
                    let text = format!(
                        "{} reads {}, and others of its type read {}: a type has one held source",
                        target.name, source.name, known.name
                    );
                    return Err(unsafe_at(
                        text,
                        at(),
                        "let all of them read one source, or choose `mechanism: suspend` under `gate`",
                    ));
                }
                _ => live = Some((source, own)),
            }
        }
        let Some((live, own)) = live else { continue };
        let name = held_name(&live.name, &input.spec.types[*position].name.value);
        let spec = held_spec(own, &live).map_err(|(why, help)| {
            unsafe_at(format!("{} {} of cluster {cluster} {why}", live.kind, live.name), place(), help)
        })?;
        let held = SourceId { name: name.clone(), ..live.clone() };
        if own.source(&held).is_some() && !own.is_held(&held) {
            let text =
                format!("cluster {cluster} has a GitRepository {name} already, which is no held source");
            return Err(unsafe_at(text, place(), "rename that one"));
        }
        found.insert(*position, HeldSource { namespace: live.namespace, live: live.name, name, spec });
    }
    Ok(found)
}

/// Returns an error about what would not be safe.
pub(super) fn unsafe_at(text: String, place: Place, help: &str) -> Error {
    Error::new(ErrorKind::Unsafe, Diagnostic::error(text).at(place).help(help))
}

fn in_namespace(input: &Input<'_>, id: SourceId) -> SourceId {
    SourceId { namespace: input.spec.flux.namespace_of(&id.namespace).to_owned(), ..id }
}

/// Finds a Flux Kustomization as its cluster gets it.
fn reached<'a>(input: &Input<'a>, cluster: &str, target: &GateTarget) -> Option<(&'a Cluster, &'a Reached)> {
    let own = input.model.delivered.named(cluster)?;
    let is_it = |one: &&Reached| {
        one.remote.is_empty() && *target == GateTarget::new(input, one.namespace(), one.name())
    };
    Some((own, own.kustomizations.iter().find(is_it)?))
}

/// Finds the file of a target in a cluster.
pub(super) fn of_file<'a>(
    input: &Input<'a>,
    cluster: &str,
    target: &GateTarget,
) -> Option<&'a FluxKustomization> {
    input.model.flux_of_cluster(cluster).find(|flux| GateTarget::of(input, flux) == *target)
}

/// Returns what a held source is like that follows another one; else why there can't be one, as the end of a sentence, and
/// what to do.
fn held_spec(cluster: &Cluster, live: &SourceId) -> Result<Value, (String, &'static str)> {
    const SUSPEND: &str = "choose `mechanism: suspend` under `gate`";
    if live.kind != "GitRepository" {
        return Err(("is no GitRepository, and only such a one can be held yet".to_owned(), SUSPEND));
    }
    let known = cluster.source(live).filter(|spec| spec["url"].is_string() && spec["interval"].is_string());
    let Some(spec) = known else {
        return Err((
            "does not stand in Git, so it can't be copied".to_owned(),
            "add it to Git, or choose `mechanism: suspend` under `gate`",
        ));
    };
    if holds_variable(&Value::from(spec.to_string())) {
        return Err((
            "has a variable that only the cluster knows, so it can't be copied".to_owned(),
            "write it out",
        ));
    }
    if cluster.is_held(live) {
        return Err(("is held itself, and what it follows is gone".to_owned(), "bring that back"));
    }
    if spec["include"].as_array().is_some_and(|sources| !sources.is_empty()) {
        return Err((
            "has `include`, whose sources would change what is held at once".to_owned(),
            "give what is included to Flux Kustomizations of its own, or choose `mechanism: suspend` under `gate`",
        ));
    }
    if let Some(mode @ ("Tag" | "TagAndHEAD")) = spec["verify"]["mode"].as_str() {
        return Err((
            format!("has `verify.mode: {mode}`, and a held source has a commit and no tag"),
            "use `verify.mode: HEAD`",
        ));
    }
    let own = &spec["ref"];
    let by_name = own["name"].as_str().map(|name| name.strip_prefix("refs/heads/"));
    let branch = match by_name {
        Some(branch) => branch,
        None if ["tag", "semver", "commit"].iter().any(|key| own[*key].is_string()) => None,
        // As source-controller does without a `ref`.
        None => Some(own["branch"].as_str().unwrap_or("master")),
    };
    let Some(branch) = branch else {
        return Err(("follows no branch, so it can't be copied".to_owned(), SUSPEND));
    };
    let mut spec = spec.clone();
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("suspend");
    }
    spec["interval"] = INTERVAL.into();
    spec["ref"] = json!({ "branch": branch, "tag": PLACEHOLDER });
    Ok(spec)
}
