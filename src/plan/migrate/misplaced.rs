//! Objects on the side of another type than the rules say.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::EntryPoint;
use crate::delivery::{Input, Sides};
use crate::path::RepoPath;
use crate::plan::edit::generated::is_ours;
use crate::plan::gate::Carriers;
use crate::render::Request;
use crate::repo::Target;
use crate::repo::manifest::ObjectId;

/// Returns the entry point that was divided, or that of a side where only those are left.
pub fn standing<'a>(input: &Input<'a>, side: &RepoPath, whole: &RepoPath) -> Option<&'a EntryPoint> {
    let find = |path: &RepoPath| input.model.entry(path);
    find(whole).or_else(|| find(side))
}

/// An object on the side of another type than the rules say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The object.
    pub id: ObjectId,
    /// The position of the type on whose side it lies.
    pub side: usize,
    /// The position of the type that the rules give it.
    pub rule: usize,
}

/// Returns the objects of an entry point that lie on a wrong side, by id.
///
/// What does not build or fits nowhere is left to those who report that.
pub fn misplaced_in(input: &Input<'_>, all: &Sides, carriers: &Carriers, whole: &RepoPath) -> Vec<Misplaced> {
    let sides = all.standing(&input.model.graph, whole);
    let requests: Vec<Request> = sides.keys().cloned().map(Request::delivered).collect();
    let results = input.renderer.render(input.snapshot, &requests);
    let gates = gates_on(input, carriers, &sides);
    let mut found = Vec::new();
    for ((side, position), result) in sides.iter().zip(results) {
        let (Ok(objects), Some(rules)) = (result, by_rule(input, side, whole)) else { continue };
        let ids = objects.iter().map(|object| ObjectId::of(&object.value));
        for id in ids.filter(|id| !gates.contains(id)) {
            if let Some(rule) = rules.get(&id).filter(|rule| *rule != position) {
                found.push(Misplaced { id, side: *position, rule: *rule });
            }
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

/// Returns the objects of the gates that sides carry, which rules say nothing about.
fn gates_on(input: &Input<'_>, carriers: &Carriers, sides: &BTreeMap<RepoPath, usize>) -> BTreeSet<ObjectId> {
    let requests = sides.keys().filter_map(|side| carriers.get(side).cloned()).map(Request::delivered);
    let results = input.renderer.render(input.snapshot, &requests.collect::<Vec<_>>());
    results.into_iter().flatten().flatten().map(|object| ObjectId::of(&object.value)).collect()
}

/// Returns the type of every object by the rules, as they were told to the split.
fn by_rule(input: &Input<'_>, side: &RepoPath, whole: &RepoPath) -> Option<BTreeMap<ObjectId, usize>> {
    let mut found = BTreeMap::new();
    // The other apps stay with the old entry point after a hand-over, so both are asked.
    for entry in [side, whole].into_iter().filter_map(|path| input.model.entry(path)) {
        let path = if entry.path == *side { content(input, side)? } else { entry.path.clone() };
        let typed = input.typed_entry(input.snapshot, &EntryPoint { path, ..entry.clone() }).ok()?;
        found.extend(typed.ids().zip(typed.types.iter().map(|classified| classified.change_type)));
    }
    Some(found)
}

/// Returns the folder that a side takes its objects from: a projection builds all of another one, and
/// lists no apps itself.
fn content(input: &Input<'_>, side: &RepoPath) -> Option<RepoPath> {
    let kustomization = input.model.graph.get(side)?;
    match kustomization.resources() {
        [only] if is_ours(input, side) => match &only.target {
            Target::Path(all) => Some(input.model.graph.real(all)),
            _ => None,
        },
        _ => Some(side.clone()),
    }
}
