//! The sources that gates hold: copies of those that land at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::delivery::{BuiltJob, Cluster, Input, Reached, SourceId};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, GateTarget, HeldSource, Job, LONGEST_JOB_NAME, SourceKind, held_name};
use crate::repo::FluxKustomization;
use crate::repo::flux::holds_variable;
use crate::spec::MechanismName;

/// How often a held source looks for its commit by itself: each time takes the whole branch.
const INTERVAL: &str = "24h";

/// Returns the sources by which a cluster's gate holds back what is there to be held back, in the order of the types; that
/// which follows the source of the spec comes first.
///
/// # Errors
///
/// When Git does not say the source of all of it, or says one that can't be held.
pub fn sources(
    input: &Input<'_>,
    cluster: &str,
    targets: &BTreeMap<usize, BTreeSet<GateTarget>>,
    switched_on: &BTreeSet<usize>,
    jobs: &[Job],
) -> Result<Vec<HeldSource>, Error> {
    if !input.spec.gate.mechanism.holds_sources() {
        return Ok(Vec::new());
    }
    let place = || Place::file(input.spec.path.clone());
    if !input.spec.gate_enabled(cluster) {
        let text =
            format!("the gate of cluster {cluster} can't be off: nothing would ever move its held source");
        let help = "remove `enabled: false`, or choose `mechanism: suspend` under `gate`";
        return Err(unsafe_at(text, place(), help));
    }
    let mut found: Vec<HeldSource> = Vec::new();
    for position in switched_on {
        let own = targets.get(position).into_iter().flatten();
        for (live, (targets, own)) in live_sources(input, cluster, own)? {
            let name = held_name(&live.name, &input.spec.types[*position].name.value);
            let (kind, spec) = held_spec(input, own, &live).map_err(|(why, help)| {
                unsafe_at(format!("{} {} of cluster {cluster} {why}", live.kind, live.name), place(), help)
            })?;
            other_owner(input, cluster, &name)?;
            let held = SourceId { name: name.clone(), ..live.clone() };
            if own.source(&held).is_some() && !own.is_held(&held) {
                let text =
                    format!("cluster {cluster} has {} {name} already, which is no held source", live.kind);
                return Err(unsafe_at(text, place(), "rename that one"));
            }
            if found.iter().any(|other| other.name == name) {
                let text = format!(
                    "cluster {cluster} would have two held sources {name}: of a GitRepository and of an OCIRepository"
                );
                return Err(unsafe_at(text, place(), "rename one of the two sources that they follow"));
            }
            let job = jobs.iter().find(|job| job.change_type == *position).map_or("", |job| &job.name);
            let is_first = found.last().is_none_or(|last| last.change_type != *position);
            let job = if is_first { job.to_owned() } else { held_name(job, &live.name) };
            let is_other =
                || mechanism::of(input.spec.gate.mechanism).type_of(input.spec, &job) != Some(*position);
            if job.len() > LONGEST_JOB_NAME || found.iter().any(|other| other.job == job) || is_other() {
                let text = format!("what moves {name} would be called {job}, which can't be");
                let help = "rename the source: such a name has 52 characters at most, and is there once";
                return Err(unsafe_at(text, place(), help));
            }
            let (namespace, change_type) = (live.namespace, *position);
            found.push(HeldSource {
                change_type,
                job,
                targets,
                kind,
                namespace,
                live: live.name,
                name,
                spec,
            });
        }
    }
    Ok(found)
}

/// Refuses a held source that another mechanism moves: both would make it.
fn other_owner(input: &Input<'_>, cluster: &str, name: &str) -> Result<(), Error> {
    let wanted = input.spec.gate.mechanism;
    let mut jobs = input.model.closings.of(cluster).iter();
    let moves =
        |job: &&BuiltJob| job.mechanism != wanted && job.held.as_ref().is_some_and(|held| held.name == name);
    let Some(job) = jobs.find(moves) else { return Ok(()) };
    let text = format!(
        "cluster {cluster} can't go from `{}` to `{}` at once: two would make source {name}",
        job.mechanism.as_str(),
        wanted.as_str()
    );
    let help = "choose `mechanism: suspend` first, and this one once every cluster has that";
    Err(unsafe_at(text, Place::file(input.spec.path.clone()), help))
}

/// What reads a source in a cluster, with that.
type Followed<'a> = (SourceId, (BTreeSet<GateTarget>, &'a Cluster));

/// Returns the sources that targets read, or that what they read follows; that of the spec comes first.
///
/// The source stands where Flux is: a held one in a namespace that may come later would keep the gate from coming up.
fn live_sources<'a, 't>(
    input: &Input<'a>,
    cluster: &str,
    targets: impl Iterator<Item = &'t GateTarget>,
) -> Result<Vec<Followed<'a>>, Error> {
    let place = || Place::file(input.spec.path.clone());
    let mut found: Vec<Followed<'a>> = Vec::new();
    for target in targets {
        let Some((own, one)) = reached(input, cluster, target) else {
            let name = target.shown(input.spec);
            let text =
                format!("Flux Kustomization {name} of {cluster} is not in Git: it can't read a held source");
            return Err(unsafe_at(
                text,
                place(),
                "add it to Git, or choose `mechanism: suspend` under `gate`",
            ));
        };
        // Git says no namespace of a source that stands beside what reads it.
        let said = one.source();
        let namespace = Some(&said.namespace).filter(|own| !own.is_empty()).unwrap_or(&target.namespace);
        let source = own.live_of(&SourceId { namespace: namespace.clone(), ..said });
        let source =
            SourceId { namespace: input.spec.flux.namespace_of(&source.namespace).to_owned(), ..source };
        if source.namespace != input.spec.flux.namespace {
            let text = format!(
                "{} reads {} in namespace {}, and a held source can only stand in {}",
                target.shown(input.spec),
                source.name,
                source.namespace,
                input.spec.flux.namespace
            );
            let at = of_file(input, cluster, target).map_or_else(place, |flux| flux.place("sourceRef"));
            let help = "let it read a source of that namespace, or choose `mechanism: suspend` under `gate`";
            return Err(unsafe_at(text, at, help));
        }
        match found.iter_mut().find(|(known, _)| *known == source) {
            Some((_, (targets, _))) => {
                targets.insert(target.clone());
            }
            None => found.push((source, (BTreeSet::from([target.clone()]), own))),
        }
    }
    found.sort_by_key(|(id, _)| (id.name != input.spec.flux.source.name, id.clone()));
    Ok(found)
}

/// Returns an error about what would not be safe.
pub(super) fn unsafe_at(text: String, place: Place, help: &str) -> Error {
    Error::new(ErrorKind::Unsafe, Diagnostic::error(text).at(place).help(help))
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
fn held_spec(
    input: &Input<'_>,
    cluster: &Cluster,
    live: &SourceId,
) -> Result<(SourceKind, Value), (String, &'static str)> {
    const SUSPEND: &str = "choose `mechanism: suspend` under `gate`";
    const FOLLOW: &str = "choose `mechanism: follow` under `gate`, with `every` and `through`";
    if live.kind == "Bucket" {
        // source-controller, `api/v1/bucket_types.go`: nothing in its `spec` names a revision.
        return Err(("has no field that names a revision, so nothing can hold it".to_owned(), SUSPEND));
    }
    let Some(kind) = SourceKind::of(&live.kind) else {
        return Err(("is no GitRepository and no OCIRepository, so nothing can hold it".to_owned(), SUSPEND));
    };
    if kind == SourceKind::Oci && input.spec.gate.mechanism == MechanismName::FluxOperator {
        return Err((
            "is no GitRepository, and Flux Operator's providers here hold only such".to_owned(),
            FOLLOW,
        ));
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
        return Err(("is held itself, and its original source is gone".to_owned(), "bring that back"));
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
    let mut held = spec.clone();
    if let Some(fields) = held.as_object_mut() {
        fields.remove("suspend");
    }
    held["interval"] = INTERVAL.into();
    if kind == SourceKind::Oci {
        held["ref"] = json!({ "tag": kind.placeholder() });
        return Ok((kind, held));
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
    held["ref"] = json!({ "branch": branch, "tag": kind.placeholder() });
    Ok((kind, held))
}
