//! What the preconditions of a step look at.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::delivery::Input;
use crate::delivery::inventory::Inventory;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::migrate::MigrateOptions;
use crate::plan::migrate::effective::Parents;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::migrate::standing::moves;
use crate::plan::problem::Problem;

/// What the preconditions of a step look at.
pub struct Subject<'a> {
    /// The tree.
    pub input: &'a Input<'a>,
    /// The revision that clusters are taken to have.
    pub base: &'a Input<'a>,
    /// What was asked for, and what live clusters say.
    pub options: &'a MigrateOptions,
    /// What the tree's Flux Kustomizations apply.
    pub before: &'a [Inventory],
    /// How far everything is in the base.
    pub bases: BTreeMap<Key, Move<'a>>,
    /// What the builds that apply old Flux Kustomizations make of these in the base.
    pub parents: Parents<'static>,
    /// As `parents`, in the tree.
    pub parents_here: Parents<'a>,
    /// All moves that may take a step.
    pub found: &'a [Move<'a>],
    /// The entry points under way of which a side is not what the rules say, once that was asked.
    pub outdated: OnceCell<BTreeMap<RepoPath, Problem>>,
}

impl<'a> Subject<'a> {
    /// Looks up what the preconditions of these moves ask for.
    pub fn new(
        input: &'a Input<'a>,
        base: &'a Input<'a>,
        options: &'a MigrateOptions,
        before: &'a [Inventory],
        found: &'a [Move<'a>],
    ) -> Subject<'a> {
        let bases: BTreeMap<Key, Move<'_>> = moves(base).into_iter().map(|one| (one.key(), one)).collect();
        let restructured = found.iter().filter(|one| one.stage == Stage::Restructured);
        let stood: Vec<&Move<'_>> = restructured.filter_map(|one| bases.get(&one.key())).collect();
        let parents = Parents::of(base, &stood);
        let parents_here = Parents::new(before);
        Subject {
            input,
            base,
            options,
            before,
            bases,
            parents,
            parents_here,
            found,
            outdated: OnceCell::new(),
        }
    }
}
