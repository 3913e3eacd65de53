//! The list of an entry point that its sides have left behind: what a migration goes back to.
//!
//! No Flux Kustomization applies it, so nobody keeps it as the sides are. It stands in Git between the hand-over and the last
//! step, and again once that is reverted.

use std::collections::BTreeSet;

use crate::delivery::{Input, Sides, builds, rebuilt};
use crate::path::RepoPath;
use crate::plan::migrate::verify::gate_objects;
use crate::render::Request;
use crate::repo::Graph;
use crate::repo::manifest::ObjectId;

/// A list that differs from its sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftList {
    /// The entry point.
    pub whole: RepoPath,
    /// Its kustomization.yaml.
    pub file: RepoPath,
    /// What it lists and no side has.
    surplus: Vec<String>,
    /// What a side lists and it lacks, as it would list that.
    lacking: Vec<String>,
    /// The objects that would be applied again.
    pub back: BTreeSet<ObjectId>,
}

impl LeftList {
    /// Returns what makes it equal to its sides, a step a line.
    pub fn corrections(&self) -> String {
        let file = &self.file;
        let steps = |resources: &[String], step: &dyn Fn(&str) -> String| {
            resources.iter().map(|one| step(one)).collect::<Vec<_>>()
        };
        let mut all = steps(&self.surplus, &|one| format!("remove `{one}` from {file}"));
        all.extend(steps(&self.lacking, &|one| format!("add `{one}` to `resources` of {file}")));
        all.push(format!("run `gitops-windows verify`, and edit {file} until nothing differs"));
        all.join("\n")
    }
}

/// Returns whether sides have left the list of their entry point behind: Flux Kustomizations apply these, and none that.
pub fn is_left<'p>(
    input: &Input<'_>,
    whole: &RepoPath,
    mut sides: impl Iterator<Item = &'p RepoPath>,
) -> bool {
    let is_reached = || input.model.entry(whole).is_some_and(|entry| entry.through.is_some());
    input.model.graph.has(whole)
        && !input.is_applied(whole)
        && !is_reached()
        && sides.all(|side| input.is_applied(side))
}

/// Returns the lists that differ from the sides which have left them behind.
pub fn left_lists(input: &Input<'_>, sides: &Sides) -> Vec<LeftList> {
    let divided = sides.divided(&input.model.graph);
    divided.filter_map(|whole| left_list(input, sides, whole, None)).collect()
}

/// Compares one of them; `None` where it is not left behind, it has nothing that the sides lack, or one of them does not
/// build.
///
/// What it lacks itself may have sides for longer, by an earlier hand-over: only lists of the time in which it was left tell.
pub fn left_list(
    input: &Input<'_>,
    sides: &Sides,
    whole: &RepoPath,
    then: Option<&Graph>,
) -> Option<LeftList> {
    let graph = &input.model.graph;
    let list = graph.get(whole)?;
    let standing: Vec<RepoPath> = sides.standing(graph, whole).into_keys().collect();
    if standing.is_empty() || !is_left(input, whole, standing.iter()) {
        return None;
    }
    let (apart, elsewhere) = apart(input, whole, &standing);
    let had = objects(input, whole, &standing, std::slice::from_ref(whole))?;
    let mut has = objects(input, whole, &standing, &standing)?;
    has.extend(objects(input, whole, &standing, &elsewhere)?);
    has.extend(gate_objects(input, input.snapshot));
    let back: BTreeSet<ObjectId> = had.difference(&has).cloned().collect();
    let children = graph.children(whole);
    let mut lacking: BTreeSet<RepoPath> = BTreeSet::new();
    if let Some(then) = then {
        for path in standing.iter().flat_map(|side| graph.children(side)) {
            let is_listed = children.iter().any(|child| are_one(input, child, &path));
            let is_old = standing.iter().any(|side| then.children(side).contains(&path));
            if !is_listed && !is_old {
                lacking.insert(path);
            }
        }
    }
    if back.is_empty() && lacking.is_empty() {
        return None;
    }
    Some(LeftList {
        whole: whole.clone(),
        file: list.file.clone(),
        surplus: apart.iter().map(|child| child.relative_to(whole)).collect(),
        lacking: lacking.iter().map(|child| child.relative_to(whole)).collect(),
        back,
    })
}

/// Returns what an entry point lists and no side has: what nobody applies, and the folders that take in the rest.
pub fn apart(input: &Input<'_>, whole: &RepoPath, sides: &[RepoPath]) -> (Vec<RepoPath>, Vec<RepoPath>) {
    let graph = &input.model.graph;
    let listed: Vec<RepoPath> = sides.iter().flat_map(|side| graph.children(side)).collect();
    let (mut nowhere, mut elsewhere) = (Vec::new(), BTreeSet::new());
    for child in graph.children(whole) {
        if listed.iter().any(|path| are_one(input, &child, path)) {
            continue;
        }
        let taking = input.model.flux_building(&child);
        let folders: Vec<&RepoPath> = taking.iter().filter_map(|one| one.path.as_ref()).collect();
        if folders.is_empty() {
            nowhere.push(child);
        }
        elsewhere.extend(folders.into_iter().cloned());
    }
    (nowhere, elsewhere.into_iter().collect())
}

/// Returns whether what a side lists is what an entry point lists, or a part of that, or it a part of this.
fn are_one(input: &Input<'_>, child: &RepoPath, listed: &RepoPath) -> bool {
    let graph = &input.model.graph;
    listed == child || graph.children(child).contains(listed) || graph.children(listed).contains(child)
}

/// Builds folders as the Flux Kustomizations of the sides would; `None` where one does not build.
fn objects(
    input: &Input<'_>,
    whole: &RepoPath,
    sides: &[RepoPath],
    folders: &[RepoPath],
) -> Option<BTreeSet<ObjectId>> {
    let entry_of = |folder: &RepoPath| input.model.entry(folder).filter(|entry| !entry.flux.is_empty());
    let request = |folder: &RepoPath| {
        let entry =
            entry_of(folder).or_else(|| sides.iter().find_map(entry_of)).or_else(|| input.model.entry(whole));
        let build = entry.and_then(|entry| {
            let build = builds(input.model, entry).into_iter().next()?;
            Some(rebuilt(&build, &entry.path, folder))
        });
        Request::flux(folder.clone(), &build.unwrap_or_default())
    };
    let requests: Vec<Request> = folders.iter().map(request).collect();
    let mut found = BTreeSet::new();
    for result in input.renderer.render(input.snapshot, &requests) {
        found.extend(result.ok()?.iter().map(|object| ObjectId::of(&object.value)));
    }
    Some(found)
}
