//! Step 3: pruning as it was, and nothing left at the old entry point.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::{is_remembering, raised, restored};
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::place::find;
use crate::plan::migrate::reader::unseen;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::problem::Problem;
use crate::proof::compare;
use crate::render::Request;
use crate::repo::{FluxKustomization, Graph, Kustomization, umbrella};
use crate::yaml::{EditError, read_documents};

/// Returns every Flux Kustomization of a move what it remembers.
///
/// # Errors
///
/// When the result would not read as meant.
pub fn finish(
    builder: &mut Builder<'_>,
    one: &Move<'_>,
    rewritten: &mut Vec<Rewritten>,
) -> Result<(), Problem> {
    for found in one.all() {
        settle(builder, &one.cluster, found, rewritten)?;
    }
    Ok(())
}

fn settle(
    builder: &mut Builder<'_>,
    cluster: &str,
    one: &FluxKustomization,
    rewritten: &mut Vec<Rewritten>,
) -> Result<(), Problem> {
    if !is_remembering(one) {
        return Ok(());
    }
    let (text, index) = find(builder, one)?;
    let edit = |error: EditError| Problem::edit(&one.file, &text, &EditError { span: None, ..error });
    let unfit = || edit(EditError::new("its remembered values don't fit any more"));
    let documents = read_documents(&text).map_err(|error| edit(error.into()))?;
    let Some(range) = documents.get(index).map(|document| document.whole.clone()) else { return Ok(()) };
    let back = restored(&text[range.clone()]);
    let value = read_documents(&back).map_err(|error| edit(error.into()))?;
    let [document] = &value[..] else { return Err(unfit()) };
    let back = raised(&back, &document.root.to_json()).map_err(edit)?;
    let settled = format!("{}{back}{}", &text[..range.start], &text[range.end..]);
    let after = read_documents(&settled).map_err(|error| edit(error.into()))?;
    if after.len() != documents.len() {
        return Err(unfit());
    }
    let values = after.get(index).map(|document| document.root.to_json()).into_iter().collect();
    builder.put(&one.file, &settled);
    rewritten.push(Rewritten::of(cluster, one, values));
    Ok(())
}

/// Takes away what is left at an old entry point that nobody builds any more.
///
/// Nothing goes that holds an object which the sides do not.
pub fn clear(input: &Input<'_>, builder: &mut Builder<'_>, one: &Move<'_>) {
    let model = input.model;
    if let Some(found) = model.graph.get(&one.whole)
        && !input.is_applied(&one.whole)
        && unseen(input, &one.whole).is_none()
        && model.graph.referrers(&one.whole).next().is_none()
        && is_covered(input, one)
    {
        builder.remove(&found.file);
    }
}

/// Takes away the umbrellas among these folders that nobody uses, and those that only they used.
pub fn clear_umbrellas(input: &Input<'_>, builder: &mut Builder<'_>, is_meant: &dyn Fn(&RepoPath) -> bool) {
    loop {
        let graph = Graph::read(builder.now());
        // What a cluster builds by a Flux Kustomization that is not in Git is not for us to take.
        let is_entry = |folder: &RepoPath| input.model.entry(folder).is_some();
        let unused = graph.iter().filter(|found| {
            is_meant(&found.folder)
                && found.folder.is_within(&input.spec.folder())
                && is_unused(&graph, found)
                && !is_entry(&found.folder)
                && unseen(input, &found.folder).is_none()
        });
        // Of those that hold a part in common, one keeps it.
        let mut parts = BTreeSet::new();
        let gone: Vec<&Kustomization> = unused
            .filter(|found| {
                let own = graph.children(&found.folder);
                let is_free = own.iter().all(|part| !parts.contains(part));
                parts.extend(own.iter().filter(|_| is_free).cloned());
                is_free
            })
            .collect();
        if gone.is_empty() {
            return;
        }
        for found in gone {
            builder.remove(&found.file);
        }
    }
}

/// Returns whether a folder is an umbrella over parts that others use, and is used by nobody.
fn is_unused(graph: &Graph, found: &Kustomization) -> bool {
    umbrella::original(&found.text).is_some()
        && graph.referrers(&found.folder).next().is_none()
        && graph
            .children(&found.folder)
            .iter()
            .all(|part| graph.referrers(part).any(|user| *user != found.folder))
}

/// Returns whether the sides hold all that the old entry point does.
fn is_covered(input: &Input<'_>, one: &Move<'_>) -> bool {
    let folders: Vec<&RepoPath> = std::iter::once(&one.whole).chain(one.sides.values()).collect();
    let requests: Vec<Request> = folders.iter().map(|folder| Request::delivered((*folder).clone())).collect();
    let results = input.renderer.render(input.snapshot, &requests);
    let Some((Ok(whole), sides)) = results.split_first() else { return false };
    let ids: BTreeSet<_> =
        whole.iter().map(|object| crate::repo::manifest::ObjectId::of(&object.value)).collect();
    let parts: Vec<_> = one.sides.values().zip(sides).collect();
    // The sides may have grown since.
    let gone = |mismatch: &crate::proof::Mismatch| !matches!(mismatch, crate::proof::Mismatch::Added { .. });
    !ids.is_empty() && !compare(whole, &parts).iter().any(gone)
}
