//! Flux Kustomizations as what a gate holds back: whether it can name and reach them.

use std::collections::BTreeSet;

use crate::delivery::{BuiltJob, EntryPoint, Input};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::problem::OF_ITS_OWN;
use crate::repo::FluxKustomization;
use crate::repo::flux::holds_variable;

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

/// Returns the Flux Kustomization of an entry point in a cluster that no gate can hold back: its name or its
/// namespace stands open, as `${APP}-database` does in a component that several apps use, or lists give it
/// different namespaces.
pub fn out_of_reach<'a>(input: &Input<'a>, entry: &'a EntryPoint, cluster: &str) -> Option<OutOfReach<'a>> {
    let mut own = input.model.flux_in(entry, cluster);
    own.find_map(|flux| {
        if is_object_name(&flux.name) {
            let (why, help) = nowhere(input, flux)?;
            return Some(OutOfReach { flux, why, help });
        }
        let why = "has a name that no object can have. No gate can suspend it".to_owned();
        Some(OutOfReach { flux, why, help: WRITTEN_OUT })
    })
}

/// Returns the Flux Kustomization of an entry point that a further cluster makes something else of, or without a word of
/// the spec, from the same file: what is handed over in that file is handed over in all of them at once.
pub fn shared<'a>(input: &Input<'a>, entry: &'a EntryPoint) -> Option<OutOfReach<'a>> {
    input.model.flux_of(entry).find_map(|flux| {
        input.model.twins(flux).find_map(|twin| {
            let by = format!("is applied by cluster {} too, from the same file", twin.cluster);
            if input.spec.ungated.contains_key(&twin.cluster) {
                let why = format!(
                    "{by}, of which {} wants no gate. It would be handed over unasked",
                    input.spec.path
                );
                return Some(OutOfReach { flux, why, help: OF_ITS_OWN });
            }
            if !input.spec.clusters.contains_key(&twin.cluster) {
                let why = format!(
                    "{by}. {} has no such cluster, and it would be handed over unasked",
                    input.spec.path
                );
                return Some(OutOfReach { flux, why, help: "name that cluster under `clusters`" });
            }
            // By a variable of that path, one file names the sides of both: what these are, is seen once both are divided.
            if twin.path == flux.path || twin.path.is_some() && holds_variable(flux.said("path")) {
                return None;
            }
            let why = match &twin.path {
                Some(other) => {
                    format!("{by}, where it builds {other}. One file can't name the sides of both")
                }
                None => format!("{by}, where Git does not show its path"),
            };
            Some(OutOfReach { flux, why, help: OF_ITS_OWN })
        })
    })
}

/// Says that the namespace of a Flux Kustomization is none or not known, as the end of a sentence that begins
/// with its name, and what to do.
fn nowhere(input: &Input<'_>, kustomization: &FluxKustomization) -> Option<(String, &'static str)> {
    let namespace = input.namespace(kustomization);
    let why = format!("is in namespace {namespace}, which is no valid name. No gate can suspend it");
    (!is_namespace(namespace)).then_some((why, WRITTEN_OUT))
}

/// Returns something held back for which a Flux Kustomization waits.
pub(super) fn waits_for_held(
    input: &Input<'_>,
    kustomization: &FluxKustomization,
    held: &BTreeSet<GateTarget>,
) -> Option<(GateTarget, Place)> {
    let waited = kustomization.waits_for().into_iter().enumerate();
    let mut targets =
        waited.map(|(index, (namespace, name))| (index, GateTarget::new(input, namespace, name)));
    let (index, target) = targets.find(|(_, target)| held.contains(target))?;
    Some((target, kustomization.place_of_dependency(index)))
}

/// What is to be done about a Flux Kustomization that no gate can call.
const WRITTEN_OUT: &str = "write it out, with lowercase letters, digits and hyphens";

/// Makes sure that a gate can name a Flux Kustomization in a command.
///
/// # Errors
///
/// When it can't.
pub fn check_target(input: &Input<'_>, kustomization: &FluxKustomization) -> Result<(), Error> {
    let place = || kustomization.place("path");
    if !is_object_name(&kustomization.name) {
        return Err(no_name(&kustomization.name, place()));
    }
    let Some((why, help)) = nowhere(input, kustomization) else { return Ok(()) };
    let text = format!("Flux Kustomization {} {why}", kustomization.name);
    Err(Error::invalid(Diagnostic::error(text).at(place()).help(help)))
}

/// Returns whether one of a gate's jobs holds back a whole entry point already, which goes on until its halves are handed
/// over.
pub fn is_held<'j>(
    input: &Input<'_>,
    path: &RepoPath,
    target: &GateTarget,
    jobs: impl IntoIterator<Item = &'j BuiltJob>,
) -> bool {
    let mut in_git = input.model.flux_at(path);
    in_git.any(|flux| GateTarget::of(input, flux) == *target) && jobs.into_iter().any(|job| job.turns(target))
}

/// Returns whether Kubernetes takes a text as the name of a Flux Kustomization (RFC 1123 subdomain).
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

/// Returns whether Kubernetes takes a text as the name of a namespace (RFC 1123 label).
pub(crate) fn is_namespace(name: &str) -> bool {
    is_object_name(name) && name.len() <= 63 && !name.contains('.')
}

/// Says that no gate can hold back a Flux Kustomization of such a name.
pub fn no_name(name: &str, place: Place) -> Error {
    Error::invalid(
        Diagnostic::error(format!(
            "`{name}` is no valid name of a Flux Kustomization. No gate can suspend it"
        ))
        .at(place)
        .help(
            "rename it with lowercase letters, digits and hyphens, or choose `kustomization` under `layout`",
        ),
    )
}
