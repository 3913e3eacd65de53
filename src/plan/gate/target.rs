//! Flux Kustomizations as what a gate holds back: whether it can name and reach them.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::plan::Input;
use crate::render::{Object, Request};
use crate::repo::command::{pod_of, turns};
use crate::repo::{EntryPoint, FluxKustomization, RepoPath};
use crate::spec::Spec;

/// A Flux Kustomization that no gate can hold back.
#[derive(Clone, Debug)]
pub struct OutOfReach<'a> {
    /// Which one.
    pub flux: &'a FluxKustomization,
    /// Why, as the end of a sentence that begins with its name.
    pub why: String,
    /// What to do.
    pub help: &'static str,
}

/// Gives the Flux Kustomization of an entry point in a cluster that no gate can hold back: it is in
/// another namespace than the one in which gates act, or its name stands open, as `${APP}-database`
/// does in a component that several apps use.
pub fn out_of_reach<'a>(input: &Input<'a>, entry: &'a EntryPoint, cluster: &str) -> Option<OutOfReach<'a>> {
    let mut own = input.model.flux_of(entry).filter(|flux| input.model.cluster_of(flux) == cluster);
    own.find_map(|flux| {
        if !is_object_name(&flux.name) {
            let why = "has a name that no object can have, so no gate can call it by that".to_owned();
            return Some(OutOfReach { flux, why, help: WHOLE_NAME });
        }
        if !is_in_reach(input.spec, flux) {
            let (own, gates) = (&flux.namespace, &input.spec.flux.namespace);
            let why = format!("is in namespace {own}, and gates act in {gates}");
            return Some(OutOfReach { flux, why, help: ONE_NAMESPACE });
        }
        None
    })
}

/// Tells whether a Flux Kustomization is in the namespace in which gates act.
pub(super) fn is_in_reach(spec: &Spec, kustomization: &FluxKustomization) -> bool {
    kustomization.namespace.is_empty() || kustomization.namespace == spec.flux.namespace
}

/// Gives the name of something held back for which a Flux Kustomization waits; one of the same name in
/// another namespace is none of these.
pub(super) fn waits_for_held<'k>(
    spec: &Spec,
    kustomization: &'k FluxKustomization,
    held: &BTreeSet<&str>,
) -> Option<&'k str> {
    let is_held = |namespace: &str, name: &str| {
        (namespace.is_empty() || namespace == spec.flux.namespace) && held.contains(name)
    };
    let found = kustomization.waits_for().into_iter();
    found.filter(|(namespace, name)| is_held(namespace, name)).map(|(_, name)| name).next()
}

const WHOLE_NAME: &str = "write its name out, with lowercase letters, digits and hyphens";

/// What is to be done about a Flux Kustomization that no gate reaches.
const ONE_NAMESPACE: &str =
    "keep gated Flux Kustomizations in one namespace, and name it as `namespace` under `flux`";

/// Makes sure that a gate can name a Flux Kustomization: in a command, and in the one namespace
/// that its Role covers.
///
/// # Errors
///
/// When it can't.
pub fn check_target(input: &Input<'_>, kustomization: &FluxKustomization) -> Result<(), Error> {
    if !is_object_name(&kustomization.name) {
        return Err(no_name(&kustomization.name, kustomization.place("path")));
    }
    if is_in_reach(input.spec, kustomization) {
        return Ok(());
    }
    Err(Error::invalid(
        Diagnostic::error(format!(
            "Flux Kustomization {} is in namespace {}, and the gate acts in {}: it would never be held back",
            kustomization.name, kustomization.namespace, input.spec.flux.namespace
        ))
        .at(kustomization.place("path"))
        .help(ONE_NAMESPACE),
    ))
}

/// Tells whether the gate that stands in a cluster's folder holds back a whole entry point already, which
/// goes on until its halves are handed over.
///
/// `jobs` are those that count, where not all do.
pub fn is_held(
    input: &Input<'_>,
    folder: &RepoPath,
    path: &RepoPath,
    name: &str,
    jobs: Option<&[&str]>,
) -> bool {
    let in_git = |kustomization: &&FluxKustomization| kustomization.path.as_ref() == Some(path);
    input.model.flux.iter().filter(in_git).any(|kustomization| kustomization.name == name)
        && input.model.gates.iter().any(|gate| {
            jobs.is_none_or(|jobs| jobs.contains(&gate.open.name.as_str()))
                && gate.targets().any(|target| target == name)
        })
        && is_named(input, folder, name, jobs)
}

/// Tells whether a job of a cluster names a Flux Kustomization: those of a base that clusters share name
/// what any of them holds back.
fn is_named(input: &Input<'_>, folder: &RepoPath, name: &str, jobs: Option<&[&str]>) -> bool {
    let built = input.renderer.render(input.snapshot, &[Request::folder(folder.clone())]).pop();
    // What can't be asked may hold it.
    let Some(Ok(objects)) = built.filter(|_| input.model.graph.has(folder)) else { return true };
    let counts = |job: &Object| {
        let own = job.value["metadata"]["name"].as_str().unwrap_or_default();
        job.value["kind"] == "CronJob" && jobs.is_none_or(|jobs| jobs.contains(&own))
    };
    objects
        .iter()
        .filter(|object| counts(object))
        .flat_map(|job| turns(pod_of(&job.value)))
        .any(|turn| turn.name == name)
}

/// Tells whether Kubernetes takes a text as the name of a Flux Kustomization (RFC 1123 subdomain).
pub(crate) fn is_object_name(name: &str) -> bool {
    let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.iter().all(|byte| edge(*byte) || *byte == b'-')
            && bytes.first().is_some_and(|byte| edge(*byte))
            && bytes.last().is_some_and(|byte| edge(*byte))
    };
    name.len() <= 253 && name.split('.').all(part)
}

/// Says that no gate can hold back a Flux Kustomization of such a name.
pub fn no_name(name: &str, place: Place) -> Error {
    Error::invalid(
        Diagnostic::error(format!(
            "`{name}` is no name that a Flux Kustomization can have, so no gate can hold it back"
        ))
        .at(place)
        .help(
            "rename it with lowercase letters, digits and hyphens, or choose `kustomization` under `layout`",
        ),
    )
}
