//! What all entry points of a split have in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Input, Sides};
use crate::path::RepoPath;
use crate::plan::gate::{Carriers, Lone};
use crate::plan::split::Selection;
use crate::template::Templates;

/// What sides that are live ask of a split.
pub struct Live<'a> {
    /// The entry points of which a side is live.
    pub wholes: BTreeSet<&'a RepoPath>,
    /// The repository as the clusters are taken to have it.
    pub base: Option<&'a Input<'a>>,
}

/// What all entry points of a split have in common.
pub struct Run<'a> {
    /// The repository with what Flux makes up by itself written down.
    pub input: &'a Input<'a>,
    /// The repository as it is.
    pub original: &'a Input<'a>,
    /// What generated files are made from.
    pub templates: &'a Templates,
    /// Which apps are to be divided.
    pub selection: &'a Selection,
    /// The folders that are a side of an entry point.
    pub sides: &'a Sides,
    /// The folders of gates, by the entry points that apply them.
    pub carriers: &'a Carriers,
    /// For each entry point that applies Flux Kustomizations of others, those others.
    pub parents: &'a BTreeMap<&'a RepoPath, BTreeSet<&'a RepoPath>>,
    /// What a Namespace alone does not divide.
    pub lone: &'a Lone,
    /// What sides that are live ask of it.
    pub live: Live<'a>,
}
