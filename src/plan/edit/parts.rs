//! The parts of a divided app: a folder for each type.

use std::collections::BTreeMap;

use crate::delivery::EntryPoint;
use crate::delivery::{Child, Input, base_part};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::problem::Problem;
use crate::repo::Reference;

/// The folders that stand for one folder, by the position of their type.
pub type Parts = BTreeMap<usize, RepoPath>;

/// Returns the side of an entry point for the type at a position.
///
/// # Errors
///
/// When the layout names segments that the entry point's path does not have.
pub(in crate::plan) fn side(
    input: &Input<'_>,
    entry: &EntryPoint,
    position: usize,
) -> Result<RepoPath, Problem> {
    let side = input.sides_in(&entry.path, &entry.cluster).remove(&position);
    side.ok_or_else(|| Problem::layout("entryPoint", &entry.path))
}

/// Returns the parts of an app that the sides of its entry point list already; `None` where they list none.
///
/// # Errors
///
/// As [`side`].
pub(in crate::plan) fn listed(
    input: &Input<'_>,
    entry: &EntryPoint,
    builder: &Builder<'_>,
    child: &Child,
) -> Result<Option<Parts>, Problem> {
    let mut parts = Parts::new();
    for (position, change_type) in input.spec.types.iter().enumerate() {
        let side = side(input, entry, position)?;
        let Ok(Some(kustomization)) = builder.kustomization(&side) else { continue };
        for path in kustomization.resources().iter().filter_map(Reference::path) {
            let own = side.join(&child.name).is_ok_and(|folder| folder == *path);
            let base = base_part(input.spec, &child.folder, &change_type.name);
            if own || base.is_some_and(|folder| folder == *path) || *path == child.folder {
                parts.insert(position, path.clone());
            }
        }
    }
    Ok((!parts.is_empty()).then_some(parts))
}
