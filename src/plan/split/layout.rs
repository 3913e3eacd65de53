//! The names that the layout's templates give, held against each other and against what is there.

use std::collections::BTreeMap;

use crate::delivery::Input;
use crate::delivery::{EntryPoint, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;

/// Makes sure that no two types of entry points share a folder or the name of a Flux Kustomization.
///
/// Each template alone tells types apart; only with the names of a repository can two of them meet:
/// type `b-c` of `apps` and type `c` of `apps-b` are both `apps-b-c`. Written, one would silently take
/// in the other.
///
/// # Errors
///
/// All that meet.
pub fn check(input: &Input<'_>) -> Result<(), Error> {
    let sides = input.sides();
    let mut diagnostics = folders(input, &sides);
    for cluster in input.spec.clusters.keys() {
        diagnostics.extend(names(input, cluster, &sides));
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics }) }
}

fn folders(input: &Input<'_>, sides: &Sides) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<RepoPath, (&EntryPoint, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for entry in input.wholes(sides) {
        for (position, side) in input.sides_in(&entry.path, &entry.cluster) {
            let name = input.spec.types[position].name.as_str();
            if side == entry.path {
                let message =
                    format!("`entryPoint` of the layout gives type {name} of {side} that folder itself");
                found.push(problem(input, message));
            } else if let Some((other, other_type)) = seen.get(&side) {
                found.push(problem(
                    input,
                    format!(
                        "`layout.entryPoint` gives {side} twice: type {other_type} of {} and type {name} of {}",
                        other.path, entry.path
                    ),
                ));
            } else {
                seen.insert(side, (entry, name));
            }
        }
    }
    found
}

fn names(input: &Input<'_>, cluster: &str, sides: &Sides) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<GateTarget, (&EntryPoint, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    // Nothing is named after an entry point that no Flux Kustomization in Git applies.
    let wholes = input.model.entries_of(cluster).filter(|entry| input.is_whole(entry, sides));
    for entry in wholes.filter(|entry| !entry.flux.is_empty()) {
        let own = input.sides_in(&entry.path, cluster);
        for (position, change_type) in input.spec.types.iter().enumerate() {
            let type_name = change_type.name.as_str();
            let whole = GateTarget::of_entry(input, entry, cluster);
            let name = input.spec.layout.kustomization_of(&whole.name, type_name);
            // Of one name in two namespaces neither takes the other's place.
            let heir = GateTarget { name: name.clone(), ..whole };
            let standing = input.model.flux_named(cluster, &name).find(|flux| {
                GateTarget::of(input, flux) == heir
                    && flux.path.is_some()
                    && flux.path.as_ref() != own.get(&position)
            });
            if let Some(standing) = standing {
                found.push(problem(
                    input,
                    format!(
                        "`kustomization` of the layout names type {type_name} of {} {name}. In cluster {cluster}, that Flux Kustomization applies {}",
                        entry.path,
                        standing.path.as_ref().map(ToString::to_string).unwrap_or_default()
                    ),
                ));
            } else if let Some((other, other_type)) = seen.get(&heir) {
                // Two of one name were there before any template; `migrate` refuses to go on with them.
                if *other_type == type_name {
                    continue;
                }
                found.push(problem(
                    input,
                    format!(
                        "`kustomization` of the layout gives {name} twice in cluster {cluster}. Type {other_type} of {} and type {type_name} of {} get it",
                        other.path, entry.path
                    ),
                ));
            } else {
                seen.insert(heir, (entry, type_name));
            }
        }
    }
    found
}

fn problem(input: &Input<'_>, message: String) -> Diagnostic {
    Diagnostic::error(format!("{message}: one would take the place of the other"))
        .at(Place::file(input.spec.path.clone()))
        .help("choose another template under `layout`, or another name for the type")
}
