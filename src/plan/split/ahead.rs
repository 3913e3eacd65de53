//! Builds that a split will ask for one by one, made side by side before.

use crate::delivery::{Input, Sides, builds, children};
use crate::path::RepoPath;
use crate::plan::split::Selection;
use crate::render::Request;

/// Builds ahead, side by side, every entry point that is to be divided and the apps in it; as its Flux
/// Kustomizations build it, in the repository as it is.
pub fn build(input: &Input<'_>, original: &Input<'_>, sides: &Sides, selection: &Selection) {
    let mut folders: Vec<RepoPath> = Vec::new();
    let mut requests: Vec<Request> = Vec::new();
    for entry in input.wholes(sides) {
        let Some(kustomization) = input.model.graph.get(&entry.path) else { continue };
        let whole = selection.names_entry(input.model.name_of(entry), &entry.path);
        let (children, _) = children(input.model, entry, kustomization);
        let selected = children.into_iter().filter(|child| whole || selection.names(child));
        let apps: Vec<RepoPath> = selected.map(|child| child.folder).collect();
        if whole || !apps.is_empty() {
            folders.push(entry.path.clone());
            let fields = builds(original.model, entry).into_iter();
            requests.extend(fields.map(|fields| Request::flux(entry.path.clone(), &fields)));
            // With a field that speaks of all of them it is divided as a whole.
            if kustomization.uniting_key().is_none() {
                folders.extend(apps);
            }
        }
    }
    input.prepare(&folders);
    original.renderer.prepare(original.snapshot, &requests);
}
