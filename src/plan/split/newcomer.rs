//! Apps that a side lists whole although they hold objects of other types: they came after the split.
//!
//! Such an app is divided as any other, and its parts take its place in the lists of the sides, which are live:
//! nobody hands anything over, so one commit does it. Where a cluster has the app already, what changes
//! sides is judged as every such move is.

use crate::delivery::EntryPoint;
use crate::delivery::values::Values;
use crate::delivery::{Child, Input, Sides, base_part, children};
use crate::path::RepoPath;
use crate::plan::edit::generated::is_ours;
use crate::plan::edit::prepare::is_orphaning;
use crate::plan::split::folder::FolderSplit;

/// An app that one side lists whole.
pub struct Newcomer<'a> {
    /// The entry point that was divided.
    pub whole: RepoPath,
    /// The side that lists it.
    pub(super) side: &'a EntryPoint,
    /// The position of the side's type.
    pub(super) position: usize,
    /// The app.
    pub child: Child,
}

/// Finds them on the sides that Flux Kustomizations in Git apply.
pub fn newcomers<'a>(input: &Input<'a>, sides: &Sides) -> Vec<Newcomer<'a>> {
    let mut found = Vec::new();
    for (side, (whole, position)) in input.entries_of_sides(sides).filter(|(side, _)| !side.flux.is_empty()) {
        let Some(list) = input.model.graph.get(&side.path).filter(|_| !is_ours(input, &side.path)) else {
            continue;
        };
        for child in children(input.model, side, list).0 {
            if is_part(input, sides, whole, side, &child) {
                continue;
            }
            let typed = input.typed(input.snapshot, &child.folder, &child.app);
            let is_right = |present: &[usize]| present.is_empty() || present == [*position];
            if typed.is_ok_and(|typed| !is_right(&typed.present())) {
                found.push(Newcomer { whole: whole.clone(), side, position: *position, child });
            }
        }
    }
    found
}

impl Newcomer<'_> {
    /// Returns whether a file is the app's, or of what it builds on.
    pub fn brings(&self, input: &Input<'_>, file: &RepoPath) -> bool {
        let reach = input.model.graph.reach(&self.child.folder);
        file.ancestors().any(|above| reach.contains(&above))
    }

    /// Returns the way on.
    pub fn help(&self) -> String {
        let app = &self.child.app;
        let split =
            format!("run `gitops-windows split app {app}`, which brings the parts of {app} to their sides");
        let out = self.way_out().map(|out| format!("{out}\nlist it there again\n"));
        out.unwrap_or_default() + &split
    }

    /// Says where the app has to go before it can be divided: a side holds parts alone.
    pub(super) fn way_out(&self) -> Option<String> {
        let (folder, side) = (&self.child.folder, &self.side.path);
        folder.is_within(side).then(|| format!("move {folder} out of {side}"))
    }
}

/// Returns whether a folder is a part that a split made: by the layout, or beside another of its name.
fn is_part(input: &Input<'_>, sides: &Sides, whole: &RepoPath, side: &EntryPoint, child: &Child) -> bool {
    let values = Values::default();
    let split = FolderSplit::new(input.spec, &input.model.graph, &child.app, &values);
    let of_base = |base: RepoPath| {
        let mut names = input.spec.types.iter().map(|change_type| change_type.name.value.as_str());
        names.any(|name| base_part(input.spec, &base, name).as_ref() == Some(&child.folder))
            && input.model.graph.get(&base).is_none_or(|base| split.existing_parts(base).is_some())
    };
    let mut twins = sides.of_whole(whole).filter(|(other, _)| **other != side.path);
    is_ours(input, &child.folder)
        || child.folder.is_within(&side.path)
            && twins.any(|(other, _)| {
                let twin = other.join(&child.folder.relative_to(&side.path));
                twin.is_ok_and(|twin| input.model.graph.has(&twin))
            })
        || child.folder.parents().any(of_base)
}

/// Returns whether a later split may be at its second step here, or an app came after the split, so that it
/// must be known what the clusters have.
pub fn needs_base(input: &Input<'_>) -> bool {
    input.model.all_flux().iter().any(is_orphaning) || !newcomers(input, &input.sides()).is_empty()
}
