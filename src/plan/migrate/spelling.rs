//! How a file spells the folder of a side.

use crate::delivery::Input;
use crate::delivery::classify::wildcard;
use crate::path::RepoPath;
use crate::plan::edit::resources::respell;
use crate::plan::migrate::moving::Move;
use crate::plan::problem::{OF_ITS_OWN, Problem};
use crate::repo::FluxKustomization;
use crate::repo::flux::artifact_path;
use crate::repo::post_build::{pattern, substitute};
use crate::spec::expand_folder;

/// Returns the `spec.path` of the successor that takes over a side, spelt as the old one spells its entry point.
///
/// A path with variables keeps them, so that one file goes on naming the folders of several clusters
/// (kustomize-controller fills them in by `postBuild` of whatever applies it).
///
/// # Errors
///
/// When the variables would not lead to the side.
pub fn path_of(
    input: &Input<'_>,
    one: &Move<'_>,
    old: &FluxKustomization,
    position: usize,
    side: &RepoPath,
) -> Result<String, Problem> {
    let said = old.said("path").as_str().unwrap_or_default();
    let plain = old.spelt(side);
    // Whatever else changes a path on its way would change that of the successor too.
    if !said.contains("${") {
        return Ok(respell(said, &plain));
    }
    let text = spelt(input, one, old, position).filter(|text| leads_to(input, old, text, side));
    text.map(|text| respell(said, &text)).ok_or_else(|| {
        Problem::lasting(
            format!("`{said}` of Flux Kustomization {} can't name sides by its variables", old.name),
            format!("choose `{{path}}/{{type}}` as `entryPoint` under `layout`\nor {OF_ITS_OWN}"),
            old.place("path"),
        )
    })
}

/// Makes the folder of a type from a path with variables, by the layout.
fn spelt(input: &Input<'_>, one: &Move<'_>, old: &FluxKustomization, position: usize) -> Option<String> {
    let said = old.said("path").as_str()?.trim_start_matches("./").trim_end_matches('/');
    let root = old.spelt(&input.spec.folder());
    let lead = if root == "." { String::new() } else { format!("{root}/") };
    let entry = input.model.entry(&one.whole);
    let cluster = entry.map_or(one.cluster.as_str(), |entry| entry.cluster.as_str());
    let values = [("type", input.spec.types[position].name.value.as_str()), ("cluster", cluster)];
    let side = expand_folder(&input.spec.layout.entry_point, said.strip_prefix(&lead)?, &values)?;
    Some(lead + &side)
}

/// Returns whether the cluster makes that folder of a path.
fn leads_to(input: &Input<'_>, old: &FluxKustomization, text: &str, side: &RepoPath) -> bool {
    let parents = input.parents(old);
    if parents.is_empty() {
        return wildcard(&pattern(text), &old.spelt(side));
    }
    parents.into_iter().all(|parent| {
        let mut path = serde_json::Value::from(text);
        substitute(&parent.post_build, &mut path);
        path.as_str().and_then(artifact_path).is_some_and(|path| path.as_str() == old.spelt(side))
    })
}
