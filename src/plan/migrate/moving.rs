//! One entry point of one cluster on its way.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::migrate::rest::Rest;
use crate::plan::{Stage, Standing};
use crate::repo::FluxKustomization;

/// A cluster and one of its entry points.
pub type Key = (String, RepoPath);

/// One entry point of one cluster that is under way.
#[derive(Clone)]
pub struct Move<'a> {
    /// The cluster.
    pub cluster: String,
    /// The entry point that was divided.
    pub whole: RepoPath,
    /// Its sides by the position of their type.
    pub sides: BTreeMap<usize, RepoPath>,
    /// The Flux Kustomizations of the cluster that apply it.
    pub old: Vec<&'a FluxKustomization>,
    /// Those that apply its sides, by the position of the type.
    pub new: BTreeMap<usize, Vec<&'a FluxKustomization>>,
    /// Those that name its folder or a side's, and build it from something else than this repository.
    pub foreign: Vec<&'a FluxKustomization>,
    /// What stays with the old ones.
    pub rest: Option<Rest>,
    /// How far it has come.
    pub stage: Stage,
}

impl<'a> Move<'a> {
    /// Returns what people are told, given whether its next step is refused.
    pub fn standing(&self, input: &Input<'_>, is_refused: bool) -> Standing {
        let name = |position: &usize| input.spec.types[*position].name.value.clone();
        Standing {
            cluster: self.cluster.clone(),
            entry: self.whole.clone(),
            stage: self.stage.clone(),
            is_refused,
            is_kept: false,
            old: self.old.iter().map(|one| one.name.clone()).collect(),
            new: self
                .new
                .iter()
                .flat_map(|(position, several)| several.iter().map(|one| (name(position), one.name.clone())))
                .collect(),
        }
    }

    /// Returns what it is known by.
    pub fn key(&self) -> Key {
        (self.cluster.clone(), self.whole.clone())
    }

    /// Returns whether it has a step to take.
    pub fn moves(&self) -> bool {
        self.stage != Stage::Finished
    }

    /// Returns whether both are the same step of the same files, of which each cluster has its own reading: with a variable in
    /// its path, of another folder.
    pub fn is_written_as(&self, other: &Move<'_>) -> bool {
        self.stage == other.stage && self.all().any(|own| other.all().any(|flux| flux.is_written_as(own)))
    }

    /// Returns the files in which its Flux Kustomizations stand.
    pub fn files(&self) -> BTreeSet<&'a RepoPath> {
        self.all().map(|flux| &flux.file).collect()
    }

    /// Returns whether its next step is one that edits files.
    pub fn edits(&self) -> bool {
        self.stage == Stage::Unprepared || self.is_under_way()
    }

    /// Returns whether its next step depends on what clusters have.
    pub fn is_under_way(&self) -> bool {
        matches!(self.stage, Stage::Restructured | Stage::HandedOver)
    }

    /// Returns whether something stays with the old ones.
    pub fn leaves_rest(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.text.is_some())
    }

    /// Returns every Flux Kustomization of it.
    pub fn all(&self) -> impl Iterator<Item = &'a FluxKustomization> + '_ {
        self.old.iter().chain(self.new.values().flatten()).copied()
    }
}

/// Returns the name of the Flux Kustomization that takes over a type from an old one.
pub fn heir_name(input: &Input<'_>, old: &str, position: usize) -> String {
    let of = input.spec.types[position].name.value.as_str();
    input.spec.layout.kustomization_of(old, of)
}
