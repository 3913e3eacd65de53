//! Entry points of several types that a gate holds back as a whole, since they had one type before.
//!
//! Where an object of another type comes to one, its gate stays until it is divided: a window that goes by itself would let
//! all of its objects land at once, and nobody asked for that.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{BuiltJob, EntryPoint, Input, Typed};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{GateTarget, shown};
use crate::plan::gate::landing::is_namespace;
use crate::plan::gate::whole;
use crate::repo::manifest::{ObjectId, manifests};

/// The finding of `check` that an object waits for another window than its type's.
const WRONG_SIDE: &str = "GW045";

/// The jobs of a gate that stands.
#[derive(Clone, Debug)]
pub struct Standing<'j> {
    /// All of them, also of types that the spec has no more.
    pub all: &'j [BuiltJob],
    /// By the position of the type that they open and close.
    pub by_type: BTreeMap<usize, Vec<&'j BuiltJob>>,
}

/// Returns what a gate holds back already of an entry point in a cluster, with the position of the type.
pub fn held(
    input: &Input<'_>,
    entry: &EntryPoint,
    cluster: &str,
    standing: &Standing<'_>,
) -> Option<(usize, BTreeSet<GateTarget>)> {
    // What is not in Git is held back by the spec's word alone.
    input.model.flux_in(entry, cluster).next()?;
    let own = whole::targets(input, entry, cluster);
    standing.by_type.iter().find_map(|(position, jobs)| {
        let turns = |target: &&GateTarget| jobs.iter().any(|job| job.turns(target));
        let held: BTreeSet<GateTarget> = own.iter().filter(turns).cloned().collect();
        (!held.is_empty()).then_some((*position, held))
    })
}

/// Says that objects of other types wait with the rest of an entry point; nothing of Namespaces alone, which wait with what
/// is in them.
pub fn told(
    input: &Input<'_>,
    entry: &EntryPoint,
    cluster: &str,
    typed: &Typed,
    (position, targets): &(usize, BTreeSet<GateTarget>),
) -> Option<Diagnostic> {
    let of = |position: usize| &input.spec.types[position].name.value;
    let all = typed.objects.iter().zip(&typed.types);
    let mut others = all.filter(|(object, own)| own.change_type != *position && !is_namespace(object));
    let (first, own) = others.next()?;
    let id = ObjectId::of(&first.value);
    let (more, verb) = match others.count() {
        0 => (String::new(), "waits"),
        more => (format!(" and {more} more"), "wait"),
    };
    let (name, held) = (shown(targets, input.spec), of(*position));
    let text = format!(
        "{id}{more} {verb} for `{held}`, although of type `{}`. The gate of cluster {cluster} holds Flux Kustomization {name} as a whole",
        of(own.change_type)
    );
    let place = place_of(input, entry, &id).unwrap_or_else(|| Place::file(entry.path.clone()));
    let warning = Diagnostic::warning(text).code(WRONG_SIDE);
    Some(warning.at(place).help(format!(
        "split it: `gitops-windows split {}`\nor let the object wait: give it the annotation `gitops-windows/type: {held}`",
        input.model.name_of_folder(&entry.path)
    )))
}

/// Points at an object of an entry point in the file that declares it.
fn place_of(input: &Input<'_>, entry: &EntryPoint, id: &ObjectId) -> Option<Place> {
    let located = input.located_entry(entry, None).ok()?;
    let object = located.objects.iter().find(|object| ObjectId::of(&object.value) == *id)?;
    let path = &object.origin.as_ref()?.path;
    let file = input.snapshot.file(path)?;
    let declares = |value: &serde_json::Value| {
        let own = ObjectId::of(value);
        own.kind == id.kind && own.name == id.name
    };
    let manifest = manifests(file)?.into_iter().find(|manifest| declares(&manifest.value));
    let node = manifest.as_ref().and_then(|manifest| manifest.root.get_path(&["metadata", "name"]));
    Some(match (node, file.text()) {
        (Some(node), Some(text)) => Place::span(path.clone(), text.into(), node.span.clone()),
        _ => Place::file(path.clone()),
    })
}
