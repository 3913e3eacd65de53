//! Who else builds a folder that a step takes something from.

use crate::delivery::Input;
use crate::delivery::classify::wildcard;
use crate::path::RepoPath;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;
use crate::repo::flux::holds_variable;
use crate::repo::post_build::pattern;

/// Returns a Flux Kustomization that may build a folder and whose inventory nobody compares, with the
/// reason for that: it stands outside of the spec's folder, its path has a variable, or it builds from
/// something of which Git does not say that it is this repository.
pub fn unseen<'a>(input: &Input<'a>, folder: &RepoPath) -> Option<(&'a FluxKustomization, String)> {
    let graph = &input.model.graph;
    let above = graph.above(folder);
    let builds = |path: &RepoPath| above.contains(path) || !graph.has(path) && folder.is_within(path);
    let why = |flux: &FluxKustomization| {
        let path = flux.folder_of(flux.spec("path").as_str().unwrap_or_default())?;
        if holds_variable(flux.spec("path")) {
            let pattern = pattern(path.as_str());
            let may = above.iter().any(|one| wildcard(&pattern, one.as_str()));
            return may.then(|| "its path has a variable".to_owned());
        }
        // The top of another repository holds anything.
        if flux.path.is_none() {
            let source = format!("it builds from {} {}", flux.source_kind(), flux.source_name());
            return (!path.is_top() && above.contains(&path)).then_some(source);
        }
        let root = input.spec.folder();
        (!flux.file.is_within(&root) && builds(&path)).then(|| format!("it stands outside of {root}"))
    };
    let mut all = input.model.unplaced().chain(input.model.outside());
    all.find_map(|flux| Some((flux, why(flux)?)))
}

/// Stops where a folder may lose something that such a one applies.
pub fn stop(input: &Input<'_>, folder: &RepoPath) -> Option<Problem> {
    let (flux, why) = unseen(input, folder)?;
    let name = &flux.name;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {name} in {} may build {folder} too ({why}). It would lose the objects of the sides",
            flux.file
        ),
        format!(
            "divide the rest of it too with `gitops-windows split --all`; then {folder} builds the same\nor let {name} build a folder of its own, and wait until its cluster has applied that"
        ),
        flux.place("path"),
    ))
}
