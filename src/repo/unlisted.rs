//! Flux Kustomizations that stand in Git and reach no cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::path::RepoPath;
use crate::repo::flux::FluxKustomization;
use crate::repo::{ClusterFolders, Graph, Kustomization, generated_children};

/// Takes out the Flux Kustomizations that nothing applies: Flux builds the folder around the file, and
/// the kustomization that would have to list it does not.
///
/// People disable an app that way, and keep copies. Such a one is no owner of anything, and no twin of
/// one that is applied. The same is true of a folder that is [commented out](commented_out).
///
/// What Git does not decide stays: where no build takes in the nearest kustomization above the file, so that
/// something outside of Git may; where a kustomization lists it that something outside of Git may apply;
/// where one that would have to be asked can't be read; where nothing of its cluster's folder is taken in,
/// so that it is another's; and one that builds its own file, since `flux bootstrap` applies it.
pub(super) fn take_unlisted(
    flux: &mut Vec<FluxKustomization>,
    graph: &Graph,
    known: &ClusterFolders,
) -> Vec<FluxKustomization> {
    let mut tops: BTreeSet<RepoPath> =
        flux.iter().filter_map(|one| one.path.as_ref()).map(|path| graph.real(path)).collect();
    // A list of Flux Kustomizations that nothing in Git builds is what something outside of Git applies.
    let is_top = |folder: &RepoPath| graph.referrers(folder).next().is_none() && !tops.contains(folder);
    let lists = flux.iter().flat_map(|one| graph.builders(&one.file));
    let mut outside: BTreeSet<RepoPath> = lists.filter(is_top).collect();
    let bootstraps = |folder: &RepoPath| {
        let lists = |one: &&FluxKustomization| graph.builders(&one.file).contains(folder);
        flux.iter().filter(|one| one.applies_itself()).any(|one| lists(&one))
    };
    outside.retain(|folder| commented_out(graph, known, folder).is_none() || bootstraps(folder));
    tops.extend(outside.iter().cloned());
    let mut unlisted = Vec::new();
    // What only one of these applies is not applied either.
    loop {
        let mut reach = Reach::new(flux, &outside, &tops, graph, known);
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(flux).into_iter().partition(|one| reach.leaves_out(one));
        *flux = kept;
        if gone.is_empty() {
            return unlisted;
        }
        unlisted.extend(gone);
    }
}

/// What the Flux Kustomizations of a repository build, all together.
struct Reach<'a> {
    graph: &'a Graph,
    /// The folders that clusters are known to own.
    known: &'a ClusterFolders,
    /// The folders that any of them names, applied or not.
    tops: &'a BTreeSet<RepoPath>,
    /// The kustomization folders that the builds of those that are applied take in.
    built: BTreeSet<RepoPath>,
    /// The folders of clusters in which something is.
    clusters: BTreeSet<RepoPath>,
    /// Whether a folder's build reaches a kustomization that can't be read.
    broken: BTreeMap<RepoPath, bool>,
}

impl<'a> Reach<'a> {
    fn new(
        flux: &[FluxKustomization],
        outside: &BTreeSet<RepoPath>,
        tops: &'a BTreeSet<RepoPath>,
        graph: &'a Graph,
        known: &'a ClusterFolders,
    ) -> Reach<'a> {
        let mut queue: Vec<RepoPath> = outside.iter().cloned().collect();
        let named: BTreeSet<RepoPath> =
            flux.iter().filter_map(|one| one.path.as_ref()).map(|path| graph.real(path)).collect();
        for top in &named {
            if graph.has(top) {
                queue.push(top.clone());
            } else {
                queue.extend(generated_children(graph, top));
            }
        }
        queue.extend(flux.iter().flat_map(components));
        let mut built = BTreeSet::new();
        while let Some(next) = queue.pop() {
            if built.insert(next.clone()) {
                queue.extend(graph.children(&next));
            }
        }
        let clusters = built.iter().chain(&named).filter_map(cluster).collect();
        Reach { graph, known, tops, built, clusters, broken: BTreeMap::new() }
    }

    /// Tells whether a Flux Kustomization would be applied if its file were listed, and is not.
    fn leaves_out(&mut self, one: &FluxKustomization) -> bool {
        let file = &one.file;
        let lists = self.graph.builders(file);
        let is_out = |list: &RepoPath| {
            !self.tops.contains(list) && commented_out(self.graph, self.known, list).is_some()
        };
        if lists.iter().any(is_out) && lists.is_disjoint(&self.built) {
            return !one.applies_itself();
        }
        let Some(top) = file.parents().find(|folder| self.tops.contains(folder)) else { return false };
        let Some(list) = file.parents().find(|folder| self.graph.has(folder)) else { return false };
        // Without a list between, Flux writes one that holds every file (fluxcd/pkg/kustomize, `scanManifests`).
        if one.applies_itself() || !list.is_within(&top) || !self.may_list(&list) {
            return false;
        }
        if cluster(file).is_some_and(|cluster| !self.clusters.contains(&cluster)) {
            return false;
        }
        let may_be_applied = |folder: &RepoPath| {
            let is_top = self.graph.referrers(folder).next().is_none();
            let is_inside = || folder.ancestors().any(|above| self.tops.contains(&above));
            self.built.contains(folder) || is_top && !is_inside()
        };
        !lists.iter().any(may_be_applied)
    }

    /// Tells whether a kustomization is taken in, or is one that only unlisted ones build, and all that it
    /// leads to can be read.
    fn may_list(&mut self, folder: &RepoPath) -> bool {
        let graph = self.graph;
        let is_broken = self
            .broken
            .entry(folder.clone())
            .or_insert_with(|| graph.reach(folder).iter().any(|one| graph.broken(one).is_some()));
        !*is_broken && (self.built.contains(folder) || self.tops.contains(folder))
    }
}

/// Gives the list that names a folder in a comment alone, as people switch an app off; `None` for the folder
/// of a cluster, which may be applied by itself, and for one that a cluster is known to own or that holds such a one.
///
/// The comment stands among the items of the list and has nothing else in it: what people write about a folder
/// says nothing of this kind. What stands above it may be a heading, or why it is off.
pub(crate) fn commented_out<'g>(
    graph: &'g Graph,
    known: &ClusterFolders,
    folder: &RepoPath,
) -> Option<&'g Kustomization> {
    let is_known = || known.values().flatten().any(|own| own.is_within(folder));
    if cluster(folder).as_ref() == Some(folder) || graph.referrers(folder).next().is_some() || is_known() {
        return None;
    }
    let list = folder.parents().find_map(|above| graph.get(&above))?;
    let names = |item: &str| list.folder.join(item).is_ok_and(|named| named == *folder);
    let mut is_inside = false;
    for line in list.text.lines() {
        if line.starts_with(|first: char| first.is_alphabetic()) {
            is_inside = ["resources:", "bases:", "components:"].iter().any(|key| line.starts_with(key));
        }
        let item =
            line.trim().strip_prefix('#').map(str::trim_start).and_then(|item| item.strip_prefix("- "));
        let Some(item) = item.filter(|_| is_inside) else { continue };
        let (item, rest) = item.trim().split_once(' ').unwrap_or((item.trim(), ""));
        if (rest.is_empty() || rest.trim_start().starts_with('#')) && names(item.trim_matches(['"', '\''])) {
            return Some(list);
        }
    }
    None
}

/// Gives the folder of the cluster that a path is in: that below `clusters`, as clusters are told by.
fn cluster(path: &RepoPath) -> Option<RepoPath> {
    let segments: Vec<&str> = path.segments().collect();
    let position = segments.iter().position(|segment| matches!(*segment, "clusters" | "cluster"))?;
    let folder = segments.get(..position + 2)?;
    RepoPath::parse(&folder.join("/")).ok()
}

/// The folders that `spec.components` of a Flux Kustomization names.
fn components(one: &FluxKustomization) -> Vec<RepoPath> {
    let Some(path) = &one.path else { return Vec::new() };
    let items = one.spec("components").as_array().into_iter().flatten();
    items.filter_map(|item| path.join(item.as_str()?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{ClusterFolders, File, Model, Snapshot};

    /// Gives the names of those that are unlisted; files are `path: names of what stands or is listed there`, or the
    /// text of several lines of a list.
    fn unlisted(files: &[(&str, &str)]) -> Vec<String> {
        unlisted_beside(&ClusterFolders::new(), files)
    }

    /// As [`unlisted`], where clusters are known to own folders.
    fn unlisted_beside(known: &ClusterFolders, files: &[(&str, &str)]) -> Vec<String> {
        let mut snapshot = Snapshot::default();
        for (path, content) in files {
            let text = match path.ends_with("kustomization.yaml") {
                true if content.contains('\n') => (*content).to_owned(),
                true => format!("resources: [{content}]\n"),
                false => {
                    let (name, folder) = content.split_once(' ').unwrap();
                    format!(
                        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name} }}\nspec: {{ path: {folder}, sourceRef: {{ kind: GitRepository, name: s }} }}\n"
                    )
                }
            };
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
        }
        let model = Model::read(&snapshot, &RepoPath::top(), known);
        model.unlisted.into_iter().map(|one| one.name).collect()
    }

    const TOP: (&str, &str) = ("k/c/top.yaml", "top k/c");

    #[test]
    fn what_a_list_that_is_built_leaves_out_is_not_applied() {
        let list = ("k/c/kustomization.yaml", "top.yaml, a.yaml");
        assert_eq!(unlisted(&[TOP, list, ("k/c/a.yaml", "a a"), ("k/c/b.yaml", "b b")]), ["b"]);
        assert_eq!(unlisted(&[TOP, list, ("k/c/a.yaml", "a a"), ("k/c/b/x.yaml", "b b")]), ["b"]);
        // Flux lists every file where there is no list.
        assert_eq!(unlisted(&[TOP, ("k/c/a.yaml", "a a"), ("k/c/b/x.yaml", "b b")]), [""; 0]);
        // What is bootstrapped applies itself.
        assert_eq!(unlisted(&[TOP, ("k/c/kustomization.yaml", "a.yaml"), ("k/c/a.yaml", "a a")]), [""; 0]);
        // Nothing in Git builds the folder around it: a list of others is built all the same.
        let list = ("k/c/kustomization.yaml", "a.yaml");
        assert_eq!(unlisted(&[list, ("k/c/b.yaml", "b b")]), [""; 0]);
        assert_eq!(unlisted(&[list, ("k/c/a.yaml", "a a"), ("k/c/b.yaml", "b b")]), ["b"]);
    }

    #[test]
    fn what_only_an_unlisted_one_applies_is_not_applied_either() {
        let files = [
            TOP,
            ("k/c/kustomization.yaml", "top.yaml"),
            ("k/c/old.yaml", "old legacy"),
            ("legacy/kustomization.yaml", "inner.yaml"),
            ("legacy/inner.yaml", "inner legacy/inner"),
        ];
        assert_eq!(unlisted(&files), ["old", "inner"]);
    }

    #[test]
    fn a_folder_that_is_commented_out_is_no_cluster() {
        let below = |list: &str| {
            let own = ("k/c/own/kustomization.yaml", "x.yaml");
            unlisted(&[TOP, ("k/c/kustomization.yaml", list), own, ("k/c/own/x.yaml", "x x")])
        };
        for comment in
            ["# - ./own", "#- own # until June", "  #  - \"own/\"", "# Off:\n# - own", "# - x\n# - own"]
        {
            let list = format!("resources:\n- top.yaml\n{comment}\nlabels: []\n");
            assert_eq!(below(&list), ["x"], "{comment}");
        }
        // No comment, or one that says something else of it.
        for list in [
            "top.yaml",
            "# Applied by itself:\n# - own\nresources: [top.yaml]\n",
            "resources:\n- top.yaml\n# - own (see there)\n",
            "resources:\n- top.yaml\n# - other\n",
            "resources: [top.yaml]\nlabels: []\n# - own\n",
        ] {
            assert_eq!(below(list), [""; 0], "{list}");
        }
        // The same where nothing in Git applies the list.
        let mut files = vec![
            ("k/kustomization.yaml", "resources:\n- apps\n# - other\n"),
            ("k/apps/kustomization.yaml", "a.yaml"),
            ("k/apps/a.yaml", "a a"),
            ("k/other/kustomization.yaml", "y.yaml"),
            ("k/other/y.yaml", "y y"),
        ];
        assert_eq!(unlisted(&files), ["y"]);
        // The folder of a cluster, as somebody says, or one around it.
        for own in ["k/other", "k/other/more"] {
            let known = ClusterFolders::from([("c".to_owned(), vec![RepoPath::parse(own).unwrap()])]);
            assert_eq!(unlisted_beside(&known, &files), [""; 0], "{own}");
        }
        // A Flux Kustomization builds it, so something applies it after all.
        files[1].1 = "a.yaml, more.yaml";
        files.push(("k/apps/more.yaml", "more k/other"));
        assert_eq!(unlisted(&files), [""; 0]);
        // What bootstraps a cluster is applied with all that is listed beside it.
        let files = [
            ("k/c/kustomization.yaml", "resources:\n- a.yaml\n# - own\n"),
            ("k/c/a.yaml", "a a"),
            ("k/c/own/kustomization.yaml", "top.yaml, x.yaml"),
            ("k/c/own/top.yaml", "top k/c"),
            ("k/c/own/x.yaml", "x x"),
        ];
        assert_eq!(unlisted(&files), [""; 0]);
    }

    #[test]
    fn what_something_outside_of_git_may_apply_stays() {
        // A kustomization of its own, that no build takes in.
        let list = ("k/c/kustomization.yaml", "top.yaml");
        let own = ("k/c/own/kustomization.yaml", "x.yaml");
        assert_eq!(unlisted(&[TOP, list, own, ("k/c/own/x.yaml", "x x")]), [""; 0]);
        // A file beside a kustomization that no build takes in either.
        let boot = ("k/c/boot/kustomization.yaml", "config.yaml");
        assert_eq!(unlisted(&[TOP, list, boot, ("k/c/boot/z.yaml", "z z")]), [""; 0]);
        // Another cluster beside the one that the hub lists.
        let hub = [
            ("hub.yaml", "hub clusters"),
            ("clusters/kustomization.yaml", "one/a.yaml"),
            ("clusters/one/a.yaml", "a a"),
            ("clusters/two/b.yaml", "b b"),
            ("clusters/three/kustomization.yaml", "c.yaml"),
            ("clusters/three/c.yaml", "c clusters/three/apps"),
        ];
        assert_eq!(unlisted(&hub), [""; 0]);
        let mut hub = hub.to_vec();
        hub[1].1 = "resources:\n- one/a.yaml\n# - three\n";
        assert_eq!(unlisted(&hub), [""; 0]);
    }
}
