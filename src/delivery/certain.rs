//! Roots of which the spec or Git says that they are some.

use std::collections::BTreeSet;

use crate::delivery::clusters::{Cluster, Known, is_beside};
use crate::delivery::former::FormerRoot;
use crate::delivery::naming::{by_root, is_root_of};
use crate::delivery::propose::is_kept;
use crate::delivery::reading::Reader;
use crate::delivery::root::{Reason, Root, applying_themselves};
use crate::delivery::source::SourceId;
use crate::path::RepoPath;
use crate::repo::FluxKustomization;

impl Reader<'_> {
    /// Reads the clusters of which the spec or Git says the roots.
    pub(super) fn certain(&mut self, known: &Known) -> Vec<Cluster> {
        let mut roots = self.of_instances();
        let found = applying_themselves(
            self.snapshot,
            &self.top.graph,
            self.flux,
            self.pushed.as_ref(),
            self.renderer,
        );
        // Of two that apply one folder the one that is not only kept is it.
        let (kept, used): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(position, _)| is_kept(&self.flux[*position].file));
        let (of_top, mut own): (Vec<_>, Vec<_>) =
            used.into_iter().chain(kept).partition(|(_, root)| root.folder.is_top());
        self.drop_children(&roots, &mut own);
        self.drop_foreign(&mut own);
        // Every file lies within the top, so what builds it is a root only where nothing else is.
        let is_first = own.is_empty();
        if roots.is_empty() && !own.iter().any(|(position, _)| self.is_bootstrap(*position)) {
            let is_it = |position: usize| is_first || self.is_bootstrap(position);
            let of_top = of_top.into_iter().filter(|(position, _)| is_it(*position));
            own.extend(of_top.filter(|(position, _)| !self.is_foreign(&self.flux[*position])));
        }
        // What another root brings is none, unless each brings the other.
        if own.len() + roots.len() > 1 {
            let mut reach = |root: &Root| Reach::of(&self.clusters(vec![root.clone()], known));
            let of_roots: Vec<Reach> = roots.iter().map(&mut reach).collect();
            let of_own: Vec<Reach> = own.iter().map(|(_, root)| reach(root)).collect();
            let is_brought = |index: usize| {
                let (position, root) = &own[index];
                let is_written = is_bootstrapped(&own[index], self.flux);
                // Whoever else builds its folder, a cluster was made of it; what lies in the folder of a root is a part of that.
                let may_bring = |other: &Root| {
                    let is_around =
                        root.folder.is_within(&other.folder) || other.folder.is_within(&root.folder);
                    other.folder != root.folder && (is_around || !is_written)
                };
                let others = (0..own.len()).filter(|other| may_bring(&own[*other].1));
                // One whose own folder leaves it out stands there switched off where another builds that folder.
                let takes = |reach: &Reach| {
                    reach.written.contains(position)
                        || !of_own[index].brought.contains(position) && reach.paths.contains(&root.folder)
                };
                let mut by_own = others.filter(|other| takes(&of_own[*other]));
                let mut by_roots = roots.iter().zip(&of_roots).filter(|(other, _)| may_bring(other));
                by_own.any(|other| !of_own[index].written.contains(&own[other].0))
                    || by_roots.any(|(_, reach)| takes(reach))
            };
            let brought: Vec<bool> = (0..own.len()).map(is_brought).collect();
            own = own.into_iter().zip(brought).filter(|(_, brought)| !brought).map(|(one, _)| one).collect();
        }
        roots.extend(own.into_iter().map(|(_, root)| root));
        let moved = self.outlast(&mut roots, known);
        // What Git says of a root is more.
        let mut named: Vec<&RepoPath> = known.roots.values().flatten().collect();
        named.retain(|folder| {
            !roots.iter().any(|root| root.folder == **folder)
                && !moved.contains(folder)
                && !self.only_holds(folder, &roots, known)
        });
        roots.extend(named.into_iter().map(|folder| Root::folder(folder, Reason::Spec)));
        self.clusters(roots, known)
    }

    /// Joins the roots of an older state that clusters go on having although Git does not say so any more: what applies one
    /// knows nothing of a folder that goes. Drops those that delete themselves.
    ///
    /// Returns the folders that no cluster builds yet, although Git says so: each learns of it only from its former one.
    fn outlast(&mut self, roots: &mut Vec<Root>, known: &Known) -> Vec<RepoPath> {
        let moved = self.moved(roots, known);
        roots.retain(|root| !moved.contains(&root.folder));
        for one in self.former.roots() {
            let former = &one.root;
            match roots.iter().position(|root| is_same(root, former)) {
                Some(position) => {
                    if one.prunes_itself() && self.is_unlisted(&roots[position], known) {
                        let folder = roots.remove(position).folder;
                        self.take_down(one, folder, roots);
                    } else if former.reason == Reason::AppliesItself
                        && !one.is_own
                        && self.is_unlisted(&roots[position], known)
                    {
                        roots[position].keep(former);
                    } else {
                        self.come_from(former, &mut roots[position]);
                    }
                }
                None if !self.stands(&former.folder) => roots.push(former.clone()),
                None if former.reason == Reason::FluxInstance => roots.extend(self.without_folder(former)),
                None => match self.in_its_file(former).map(|now| now.path.clone()) {
                    Some(Some(path)) if self.stands(&path) && self.is_taken_in(former) => {
                        // A copy of it in the new folder is the same object.
                        let is_it = |root: &&mut Root| root.folder == path && is_alike(root, former);
                        if let Some(root) = roots.iter_mut().find(is_it) {
                            self.come_from(former, root);
                        }
                    }
                    None if one.prunes_itself()
                        && !self.is_taken_in(former)
                        && self.builds_without(former, known) =>
                    {
                        self.take_down(one, former.folder.clone(), roots);
                    }
                    _ => roots.push(former.clone()),
                },
            }
        }
        moved
    }

    /// Notes that a root builds another folder than the older state, so that what is left in that one is no cluster.
    fn come_from(&mut self, former: &Root, root: &mut Root) {
        if root.folder != former.folder {
            root.was = Some(former.folder.clone());
            self.left.insert(former.folder.clone());
        }
    }

    /// Takes a root that prunes itself out of its cluster, with all that it applied; what leaves that applies one commit more.
    fn take_down(&mut self, former: &FormerRoot, folder: RepoPath, roots: &mut Vec<Root>) {
        match former.leaves_all() {
            true => roots.push(Root { is_last: true, ..former.root.clone() }),
            false => _ = self.taken_down.insert(folder),
        }
    }

    /// Returns the folders of roots that are former ones of which the file has moved, with the path, while the folder that the
    /// cluster builds is gone.
    fn moved(&self, roots: &[Root], known: &Known) -> Vec<RepoPath> {
        let former = || self.former.roots().iter().map(|one| &one.root);
        let is_new = |root: &Root| !former().any(|former| is_same(root, former));
        let of = |root: &Root| by_root(&known.roots, &root.folder);
        let is_one_cluster = |root: &Root, former: &Root| match (of(root), of(former)) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => {
                root.group == former.group
                    || is_root_of(&root.folder, &former.folder)
                    || is_root_of(&former.folder, &root.folder)
            }
        };
        let is_gone = |old: &&Root| !roots.iter().any(|root| is_same(root, old)) && !self.stands(&old.folder);
        let gone: Vec<&Root> = former().filter(is_gone).collect();
        let is_it = |root: &Root, old: &Root| {
            root.reason == Reason::AppliesItself && is_alike(root, old) && is_one_cluster(root, old)
        };
        let moved = |root: &Root| {
            // Of several nobody knows which one it was.
            let mut olds = gone.iter().filter(|old| is_it(root, old));
            is_new(root) && olds.next().is_some() && olds.next().is_none()
        };
        roots.iter().filter(|root| moved(root)).map(|root| root.folder.clone()).collect()
    }

    /// Returns whether the folder of a root builds, and does not bring the root.
    fn is_unlisted(&mut self, root: &Root, known: &Known) -> bool {
        let Some((file, ..)) = root.identity() else { return false };
        !self.top.graph.taken_in_by(file).contains(&root.folder) && self.builds_without(root, known)
    }

    /// Returns whether a root builds, and its build does not bring it: what fails prunes nothing.
    fn builds_without(&mut self, root: &Root, known: &Known) -> bool {
        let clusters = self.clusters(vec![root.clone()], known);
        let mut own = clusters.iter().flat_map(|cluster| &cluster.kustomizations);
        own.find(|one| root.is_applied_by(&one.value)).is_some_and(|one| {
            one.error.is_none() && one.bringers.iter().all(|by| by.kustomization().is_none())
        })
    }

    /// Returns the Flux Kustomization of a former root, where it still stands in its file.
    fn in_its_file(&self, former: &Root) -> Option<&FluxKustomization> {
        self.alike(former).find(|one| Some(&one.file) == former.file.as_ref())
    }

    /// Returns whether the folder of a former root takes in a file that brings it all the same.
    fn is_taken_in(&self, former: &Root) -> bool {
        let taken_in = |one: &FluxKustomization| self.top.graph.taken_in_by(&one.file);
        self.alike(former).any(|one| taken_in(one).contains(&former.folder))
    }

    /// Returns the Flux Kustomizations with the namespace and the name of a root.
    fn alike(&self, root: &Root) -> impl Iterator<Item = &FluxKustomization> {
        let metadata = root.kustomization.as_ref().map(|own| own["metadata"].clone()).unwrap_or_default();
        let is_it = move |one: &&FluxKustomization| {
            metadata["name"] == one.name.as_str() && metadata["namespace"] == one.namespace.as_str()
        };
        self.flux.iter().filter(is_it).filter(|one| !self.top.graph.is_patch(&one.file))
    }

    /// Returns whether a folder is one that Flux could build.
    pub(super) fn stands(&self, folder: &RepoPath) -> bool {
        self.top.graph.stands(self.snapshot, folder)
    }

    /// Returns whether a folder that the spec names only holds the roots of its cluster: it has no list of its own, and they
    /// bring all that it would.
    fn only_holds(&mut self, folder: &RepoPath, roots: &[Root], known: &Known) -> bool {
        let below: Vec<Root> =
            roots.iter().filter(|root| is_root_of(&root.folder, folder)).cloned().collect();
        if below.is_empty() || self.top.graph.has(folder) {
            return false;
        }
        let mut written = |roots| Reach::of(&self.clusters(roots, known)).written;
        let own = written(vec![Root::folder(folder, Reason::Spec)]);
        own.is_subset(&written(below))
    }

    /// Returns whether the source of a Flux Kustomization stands in its file, as `flux bootstrap` writes them (flux2,
    /// `pkg/manifestgen/sync`).
    fn is_bootstrap(&self, position: usize) -> bool {
        let one = &self.flux[position];
        self.source_in(&one.file, one.source_kind(), one.source_name()).is_some()
    }

    /// Returns whether a Flux Kustomization applies the top of another repository, and not of this one: then what builds a
    /// folder of this one reads another source.
    fn is_foreign(&self, one: &FluxKustomization) -> bool {
        let is_below = |other: &&FluxKustomization| other.path.as_ref().is_none_or(|path| !path.is_top());
        let source = |of: &FluxKustomization| (of.source_kind().to_owned(), of.source_name().to_owned());
        let mut below = self.flux.iter().filter(|other| other.has_source()).filter(is_below).peekable();
        let is_unsaid = |other: &FluxKustomization| other.path.is_some() && self.is_of_unsaid_source(other);
        below.peek().is_some() && below.clone().all(|other| source(other) != source(one))
            || self.written_source(one).is_some() && below.any(is_unsaid)
    }

    /// Drops those whose source is another repository than that of others around them, or in their folder: their path is
    /// one of that repository.
    ///
    /// Which one is this repository tells what `flux bootstrap` has written (flux2, `pkg/manifestgen/sync`). Of those that
    /// apply one folder it is else the one that the spec names, or the one that at least twice as many Flux Kustomizations
    /// here read at a folder that stands here too; where neither tells, all stay.
    fn drop_foreign(&self, own: &mut Vec<(usize, Root)>) {
        let urls: Vec<Option<String>> =
            own.iter().map(|(position, _)| self.url_of(&self.flux[*position])).collect();
        if urls.iter().flatten().collect::<BTreeSet<_>>().len() < 2 {
            return;
        }
        let is_written = |root: &(usize, Root)| is_bootstrapped(root, self.flux);
        let is_named = |(_, root): &(usize, Root)| {
            let source = root.source.as_ref().map(|(id, _)| id);
            source.is_some_and(|id| self.named.as_ref().is_some_and(|named| named.is(id)))
        };
        let count = |index: usize| self.readers().counts.get(&urls[index]).copied().unwrap_or_default();
        let is_foreign = |index: usize| {
            let root = &own[index];
            let beats = |other: usize| {
                let (folder, theirs) = (&root.1.folder, &own[other].1.folder);
                if urls[other].is_none() || urls[other] == urls[index] {
                    return false;
                }
                if is_written(&own[other]) {
                    return folder.is_within(theirs) || theirs.is_within(folder);
                }
                let is_clear = count(other) >= 2 * count(index).max(1);
                folder == theirs && !is_named(root) && (is_named(&own[other]) || is_clear)
            };
            urls[index].is_some() && !is_written(root) && (0..own.len()).any(beats)
        };
        let foreign: Vec<bool> = (0..own.len()).map(is_foreign).collect();
        let mut foreign = foreign.into_iter();
        own.retain(|_| !foreign.next().unwrap_or_default());
    }

    /// Drops those that apply the folder in which they stand, as roots do, and come after a root.
    ///
    /// A root is applied before anything else, and its source with it. So it is none where another one's build brings
    /// it and its own does not, and none where its source comes with other roots.
    fn drop_children(&self, roots: &[Root], own: &mut Vec<(usize, Root)>) {
        let is_here =
            |other: &&FluxKustomization| !is_kept(&other.file) && other.spec("kubeConfig").is_null();
        let others = self.flux.iter().filter(is_here).filter_map(|other| other.path.as_ref());
        let others: BTreeSet<&RepoPath> = others.collect();
        own.retain(|one| {
            let (position, root) = one;
            if is_bootstrapped(one, self.flux) {
                return true;
            }
            let taking_in = self.top.graph.taken_in_by(&self.flux[*position].file);
            // So does whoever builds a list above its folder, as where each app's stands beside its files.
            let is_built = |path: &RepoPath| others.contains(path) || self.top.graph.has(path);
            let brings = |path: &RepoPath| {
                others.contains(path) && !path.is_top() || root.folder.is_within(path) && is_built(path)
            };
            taking_in.contains(&root.folder) || !taking_in.iter().any(brings)
        });
        let id = |root: &Root| root.source.as_ref().map(|(id, _)| id.clone());
        let has_source = |root: &Root| id(root).is_some_and(|id| self.top.holds_source(&root.folder, &id));
        let complete = own.iter().map(|(_, root)| root).filter(|root| has_source(root)).chain(roots);
        let complete: Vec<(SourceId, RepoPath)> =
            complete.filter_map(|root| Some((id(root)?, root.folder.clone()))).collect();
        own.retain(|(_, root)| {
            let Some(id) = id(root).filter(|_| !has_source(root)) else { return true };
            let folders = complete.iter().filter(|(other, _)| other.is(&id)).map(|(_, folder)| folder);
            let folders: Vec<RepoPath> = folders.cloned().collect();
            folders.is_empty() || is_beside(&root.folder, &folders)
        });
    }
}

/// Returns whether two roots of two states are one: they apply one folder, or the same object in the same file does.
fn is_same(root: &Root, former: &Root) -> bool {
    root.folder == former.folder || root.identity().is_some_and(|own| former.identity() == Some(own))
}

/// Returns whether what applies two roots has the same namespace, name and source.
fn is_alike(root: &Root, former: &Root) -> bool {
    let name = |root: &Root| {
        let metadata = &root.kustomization.as_ref()?["metadata"];
        Some((metadata["namespace"].clone(), metadata["name"].clone()))
    };
    let is_source = match (&root.source, &former.source) {
        (Some((own, _)), Some((theirs, _))) => own.is(theirs),
        _ => false,
    };
    is_source && name(root).is_some() && name(root) == name(former)
}

/// Returns whether a root stands where `flux bootstrap` writes it in the folder of a cluster (flux2, `pkg/manifestgen/sync`).
fn is_bootstrapped((position, root): &(usize, Root), flux: &[FluxKustomization]) -> bool {
    let one = &flux[*position];
    let file = root.folder.join(&format!("{}/gotk-sync.yaml", one.namespace));
    file.is_ok_and(|file| file == one.file)
}

/// What a root brings.
struct Reach {
    /// The positions of the Flux Kustomizations that stand in files, its own included.
    written: BTreeSet<usize>,
    /// Those that a build brings.
    brought: BTreeSet<usize>,
    /// The folders that they build.
    paths: BTreeSet<RepoPath>,
}

impl Reach {
    fn of(clusters: &[Cluster]) -> Reach {
        // What is applied to another cluster may be the root of that one.
        let all = || {
            clusters.iter().flat_map(|cluster| &cluster.kustomizations).filter(|one| one.remote.is_empty())
        };
        let brought = all().filter(|one| one.applied_by.is_some());
        Reach {
            written: all().filter_map(|one| one.written).collect(),
            brought: brought.filter_map(|one| one.written).collect(),
            paths: all().filter_map(|one| one.path.clone()).collect(),
        }
    }
}

#[cfg(test)]
#[path = "certain_tests.rs"]
mod tests;
