//! Entry points that no split divides, as all of their objects wait alike.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::delivery::classify::{Context, Reason, classify};
use crate::delivery::fleet::Undivided;
use crate::delivery::parent;
use crate::path::RepoPath;
use crate::repo::manifest::{manifests, objects};
use crate::repo::{Target, built};
use crate::when::note::is_unheld;
use crate::when::{Answer, Line};

impl Answer {
    /// Finds the entry points of which every object has a window, or none, and those that apply Flux Kustomizations alone.
    ///
    /// Only those are built whose files do not show objects of both sorts already.
    #[must_use]
    pub fn with_types(mut self, input: &Input<'_>) -> Answer {
        let is_parent = |line: &Line| line.undivided == Some(Undivided::Parent);
        let is_open = |line: &&mut Line| is_unheld(line) && (line.undivided.is_none() || is_parent(line));
        let open: Vec<&mut Line> = self.lines.iter_mut().filter(is_open).collect();
        let folders: BTreeSet<RepoPath> = open.iter().filter_map(|line| line.folder.clone()).collect();
        let parents: BTreeSet<RepoPath> =
            open.iter().filter(|line| is_parent(line)).filter_map(|line| line.folder.clone()).collect();
        let is_asked = |folder: &&RepoPath| parents.contains(*folder) || !is_mixed(input, folder);
        let alike: BTreeSet<&RepoPath> = folders.iter().filter(is_asked).collect();
        input.prepare(alike.iter().copied());
        for line in open {
            let entry = line.folder.as_ref().filter(|folder| alike.contains(folder));
            let entry = entry.and_then(|folder| input.model.entry(folder));
            let typed = entry.and_then(|entry| input.typed_entry(input.snapshot, entry).ok());
            line.undivided = typed.map_or(line.undivided, |typed| {
                // With an app beside them, Flux Kustomizations are objects like others.
                if parent::reason(input.model, &typed.objects).is_some() {
                    return Some(Undivided::Parent);
                }
                let all = typed.objects.iter().zip(&typed.types);
                let told = all.filter(|(object, _)| object.value["kind"] != "Namespace");
                verdict(input, told.map(|(_, own)| own.change_type))
            });
        }
        self
    }
}

/// Tells whether all of these types have a window, or none; `None` where some do, or there is nothing.
fn verdict(input: &Input<'_>, types: impl Iterator<Item = usize>) -> Option<Undivided> {
    let sorts: BTreeSet<bool> = types.map(|position| input.spec.types[position].is_real_time()).collect();
    match sorts.into_iter().collect::<Vec<_>>()[..] {
        [true] => Some(Undivided::RealTime),
        [false] => Some(Undivided::Gated),
        _ => None,
    }
}

/// Tells whether the files of an entry point show objects with a window and others, so that nothing has to be built.
fn is_mixed(input: &Input<'_>, entry: &RepoPath) -> bool {
    if input.spec.rules.iter().any(|rule| rule.matcher.app.is_some() || rule.matcher.is_values) {
        return false;
    }
    let root = input.spec.folder();
    let graph = &input.model.graph;
    let mut sorts = BTreeSet::new();
    for list in built(graph, entry).iter().filter_map(|folder| graph.get(folder)) {
        for reference in list.resources() {
            let Target::Path(path) = &reference.target else { continue };
            let documents = input.snapshot.file(path).and_then(manifests).unwrap_or_default();
            let below = path.relative_to(&root);
            let context = Context { path: Some(&below), ..Context::default() };
            for object in documents.iter().flat_map(|document| objects(&document.value)) {
                let Ok(own) = classify(input.spec, object, context) else { continue };
                if own.reason != Reason::Gate && object["kind"] != "Namespace" {
                    sorts.insert(input.spec.types[own.change_type].is_real_time());
                }
            }
        }
    }
    sorts.len() > 1
}
