//! Files that come and reach no cluster.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Told;
use super::step::Step;
use crate::check::code::UNLISTED_FILE;
use crate::delivery::{Input, Unlisted, is_taken, unlisted};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::built;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::manifests;

/// Finds manifests and folders with a kustomization of their own that come below a folder which a cluster builds, and that
/// no list names: whoever adds them thinks that they reach the cluster.
///
/// What stood there before may be switched off on purpose.
pub(super) fn added(step: &Step<'_>) -> Vec<Told> {
    let (before, after) = (step.before, step.after);
    let (model, graph) = (after.model, &after.model.graph);
    let is_chart = |file: &RepoPath| {
        let mut above = file.parents();
        above.any(|above| above.join("Chart.yaml").is_ok_and(|chart| after.snapshot.file(&chart).is_some()))
    };
    let is_new = |path: &RepoPath| before.snapshot.entry(path).is_none();
    let new = after.snapshot.differing(before.snapshot).into_iter();
    let new = new.filter(|file| is_yaml(file) && is_new(file) && model.delivered.is_fetched(file));
    let new = new.filter(|file| !is_chart(file));
    let holds_objects = |file: &RepoPath| {
        let objects = after.snapshot.file(file).and_then(manifests);
        let is_object = |one: &Value| {
            one["apiVersion"].is_string() && one["kind"].is_string() && one["metadata"]["name"].is_string()
        };
        objects.is_some_and(|all| all.iter().any(|one| is_object(&one.value)))
    };
    let mut found = BTreeSet::new();
    for file in new {
        let folders = file.parents().filter(|above| graph.has(above) && !before.model.graph.has(above));
        match folders.last() {
            Some(folder) => _ = found.insert(folder),
            None if holds_objects(&file) => _ = found.insert(file),
            None => {}
        }
    }
    found.retain(|path| path.is_within(&model.root) && !is_taken(model, path));
    if found.is_empty() {
        return Vec::new();
    }
    // What a split has written down is told of with the way to mend that.
    let spec =
        after.spec.map(|spec| Input { spec, snapshot: after.snapshot, model, renderer: after.renderer });
    let told: Vec<Unlisted> = spec.iter().flat_map(unlisted).collect();
    // What a split has just written gets Flux Kustomizations of its own at the hand-over.
    let sides = spec.map(|input| input.sides()).unwrap_or_default();
    let finding = |path: RepoPath| {
        let list = graph.get(&path.parents().find(|above| graph.has(above))?)?;
        let is_told =
            told.iter().any(|one| path.is_within(&one.path)) || sides.keys().any(|side| path.is_within(side));
        let builds = after.deliveries.iter().find(|one| built(graph, &one.path).contains(&list.folder));
        let delivery = builds.filter(|_| !is_told)?;
        let text = format!("{path} is new and reaches no cluster: {} does not list it", list.file);
        let help = format!(
            "add `- {}` to `resources` of {}\nor leave it, where it should wait there",
            path.relative_to(&list.folder),
            list.file
        );
        Some(Told::of(&delivery.cluster, UNLISTED_FILE.finding(text).at(Place::file(path)).help(help)))
    };
    found.into_iter().filter_map(finding).collect()
}
