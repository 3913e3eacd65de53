//! The namespaces that Flux Kustomizations get from what applies them.

use std::collections::{BTreeMap, BTreeSet};

use crate::path::RepoPath;
use crate::repo::Graph;
use crate::repo::flux::FluxKustomization;

/// Gives Flux Kustomizations the namespaces that they have in their clusters, and tells by position which
/// others apply each.
///
/// The outermost word counts: `targetNamespace` of the Flux Kustomization that builds a folder
/// (fluxcd/pkg/kustomize, `WriteFile`), then `namespace` of the lists from the top down, a list's own
/// before that of its components (kustomize, `accumulateTarget`), then what the file says. Where a
/// file gets into clusters in several ways that don't agree, its own word is left, and those on which Flux
/// applies it are noted.
pub(super) fn settle(flux: &mut [FluxKustomization], graph: &Graph) -> Vec<BTreeSet<usize>> {
    let mut namespaces = Namespaces::new(flux, graph);
    let ways: Vec<BTreeSet<Way>> = flux.iter().map(|one| namespaces.of_file(&one.file)).collect();
    for (one, ways) in flux.iter_mut().zip(&ways) {
        match agreed(ways) {
            Some(Some(given)) => one.namespace = given,
            Some(None) => {}
            None => {
                let applied = ways.iter().filter(|way| way.applier.is_some());
                let given = applied.map(|way| way.namespace.as_ref().unwrap_or(&one.namespace).clone());
                let given: BTreeSet<String> = given.collect();
                if given.len() > 1 {
                    one.disputed = given.into_iter().collect();
                }
            }
        }
    }
    ways.iter().map(|ways| ways.iter().filter_map(|way| way.applier).collect()).collect()
}

/// Gives the one word of all ways; `None` where they don't agree.
fn agreed(ways: &BTreeSet<Way>) -> Option<Option<String>> {
    let mut namespaces = ways.iter().map(|way| &way.namespace).collect::<BTreeSet<_>>().into_iter();
    let first = namespaces.next().cloned().flatten();
    namespaces.next().is_none().then_some(first)
}

/// A way in which something gets into a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    /// The position of the Flux Kustomization in Git that begins it.
    applier: Option<usize>,
    /// The namespace that is given on it.
    namespace: Option<String>,
}

/// The namespaces that files get from what applies them.
pub(super) struct Namespaces<'a> {
    graph: &'a Graph,
    /// By the folder that they build, what Flux Kustomizations set as `targetNamespace`.
    appliers: BTreeMap<RepoPath, BTreeSet<Way>>,
    /// By folder, how what comes out of it gets into clusters.
    known: BTreeMap<RepoPath, BTreeSet<Way>>,
}

impl<'a> Namespaces<'a> {
    pub(super) fn new(flux: &[FluxKustomization], graph: &'a Graph) -> Namespaces<'a> {
        let mut appliers: BTreeMap<RepoPath, BTreeSet<Way>> = BTreeMap::new();
        for (position, one) in flux.iter().enumerate() {
            if let Some(path) = &one.path {
                let namespace = one.spec("targetNamespace").as_str().map(str::to_owned);
                let way = Way { applier: Some(position), namespace };
                appliers.entry(path.clone()).or_default().insert(way);
            }
        }
        Namespaces { graph, appliers, known: BTreeMap::new() }
    }

    /// Gives the namespace that what stands in a file gets from above it: where ways do not agree, that of
    /// the folder that lists it.
    pub(super) fn given(&mut self, file: &RepoPath, folder: &RepoPath) -> Option<String> {
        agreed(&self.of_file(file)).unwrap_or_else(|| self.own(folder))
    }

    /// How a file gets into clusters.
    fn of_file(&mut self, file: &RepoPath) -> BTreeSet<Way> {
        let mut ways: BTreeSet<Way> =
            self.graph.lists(file).iter().flat_map(|list| self.of_folder(list)).collect();
        // Flux lists by itself what lies below a path without a list.
        let above = file.parents();
        let mut above = above.take_while(|folder| !self.graph.has(folder));
        ways.extend(above.find_map(|folder| self.appliers.get(&folder).cloned()).unwrap_or_default());
        // A list that nothing in Git applies, such as one for tests, counts where no other does.
        if ways.iter().any(|way| way.applier.is_some()) {
            ways.retain(|way| way.applier.is_some());
        }
        ways
    }

    /// How objects that come out of a folder get into clusters.
    fn of_folder(&mut self, folder: &RepoPath) -> BTreeSet<Way> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        // A cycle builds nothing.
        self.known.insert(folder.clone(), BTreeSet::new());
        let own = self.own(folder);
        let users = self.graph.lists(folder);
        let mut found: BTreeSet<Way> = users.iter().flat_map(|user| self.of_folder(user)).collect();
        let above = folder.ancestors();
        let mut above = above.take_while(|above| above == folder || !self.graph.has(above));
        found.extend(above.find_map(|above| self.appliers.get(&above).cloned()).unwrap_or_default());
        if found.is_empty() {
            found.insert(Way { applier: None, namespace: None });
        }
        let given = |way: Way| Way { namespace: way.namespace.or_else(|| own.clone()), ..way };
        let found: BTreeSet<Way> = found.into_iter().map(given).collect();
        self.known.insert(folder.clone(), found.clone());
        found
    }

    /// What a list says itself, or the last of its components that says something.
    fn own(&self, folder: &RepoPath) -> Option<String> {
        let list = self.graph.get(folder)?;
        let word = |folder: &RepoPath| {
            let namespace = self.graph.get(folder)?.root.get("namespace")?.as_str()?;
            (!namespace.is_empty()).then(|| namespace.to_owned())
        };
        let components = self.graph.children(&list.folder).into_iter().rev();
        let component = |path: &RepoPath| self.graph.get(path).is_some_and(|found| found.is_component());
        word(folder).or_else(|| components.filter(|path| component(path)).find_map(|path| word(&path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{ClusterFolders, File, Model, Snapshot};

    /// Gives namespace and name of every Flux Kustomization; a file that is no list is one, of which
    /// its metadata and its `spec` are given.
    fn namespaces(files: &[(&str, &str)]) -> Vec<String> {
        model(files).flux.iter().map(|one| format!("{}/{}", one.namespace, one.name)).collect()
    }

    /// Gives all namespaces in which no two ways agree.
    fn disputed(files: &[(&str, &str)]) -> Vec<String> {
        model(files).flux.into_iter().flat_map(|one| one.disputed).collect()
    }

    fn model(files: &[(&str, &str)]) -> Model {
        let mut snapshot = Snapshot::default();
        for (path, content) in files {
            let text = match path.ends_with("kustomization.yaml") {
                true => (*content).to_owned(),
                false => {
                    format!("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n{content}")
                        .replace("spec: { ", "spec: { sourceRef: { kind: GitRepository, name: s }, ")
                }
            };
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
        }
        Model::read(&snapshot, &RepoPath::top(), &ClusterFolders::new())
    }

    const APP: (&str, &str) = ("k/media/app.yaml", "metadata: { name: app }\nspec: { path: apps/app }\n");
    const LIST: (&str, &str) = ("k/media/kustomization.yaml", "namespace: media\nresources: [app.yaml]\n");

    #[test]
    fn a_list_decides_and_one_above_it_decides_over_it() {
        assert_eq!(namespaces(&[APP]), ["/app"]);
        assert_eq!(namespaces(&[APP, LIST]), ["media/app"]);
        let own = ("k/media/app.yaml", "metadata: { name: app, namespace: own }\nspec: { path: apps/app }\n");
        assert_eq!(namespaces(&[own, LIST]), ["media/app"]);
        assert_eq!(namespaces(&[own]), ["own/app"]);
        let above = ("k/kustomization.yaml", "resources: [media]\n");
        assert_eq!(namespaces(&[APP, above, LIST]), ["media/app"]);
        let above = ("k/kustomization.yaml", "namespace: all\nresources: [media]\n");
        assert_eq!(namespaces(&[APP, above, LIST]), ["all/app"]);
    }

    #[test]
    fn a_component_decides_where_its_list_does_not() {
        let common = ("c/kustomization.yaml", "kind: Component\nnamespace: common\n");
        let list = ("k/media/kustomization.yaml", "resources: [app.yaml]\ncomponents: [../../c]\n");
        assert_eq!(namespaces(&[common, APP, list]), ["common/app"]);
        let list = (
            "k/media/kustomization.yaml",
            "namespace: media\nresources: [app.yaml]\ncomponents: [../../c]\n",
        );
        assert_eq!(namespaces(&[common, APP, list]), ["media/app"]);
    }

    #[test]
    fn what_builds_the_folder_decides_over_all_lists() {
        let top = |target: &str| format!("metadata: {{ name: top }}\nspec: {{ path: k, {target} }}\n");
        let (plain, with) = (top(""), top("targetNamespace: target"));
        let list = ("k/kustomization.yaml", "resources: [media]\n");
        assert_eq!(namespaces(&[APP, list, LIST, ("top.yaml", &plain)]), ["media/app", "/top"]);
        assert_eq!(namespaces(&[APP, list, LIST, ("top.yaml", &with)]), ["target/app", "/top"]);
        // Without a list at the top, Flux writes one; without any, it lists the file itself.
        assert_eq!(namespaces(&[APP, LIST, ("top.yaml", &with)]), ["target/app", "/top"]);
        assert_eq!(namespaces(&[APP, ("top.yaml", &with)]), ["target/app", "/top"]);
        assert_eq!(namespaces(&[APP, ("top.yaml", &plain)]), ["/app", "/top"]);
    }

    #[test]
    fn a_file_that_several_clusters_apply_is_known_to_be_theirs() {
        let list = |namespace: &str| format!("{namespace}resources: [../../k/media/app.yaml, top.yaml]\n");
        let top =
            |cluster: &str| format!("metadata: {{ name: top }}\nspec: {{ path: clusters/{cluster} }}\n");
        let berlin = list("namespace: berlin\n");
        let (of_berlin, of_paris) = (top("berlin"), top("paris"));
        let files = |paris: &'static str| {
            model(&[
                APP,
                ("clusters/berlin/kustomization.yaml", berlin.as_str()),
                ("clusters/berlin/top.yaml", of_berlin.as_str()),
                ("clusters/paris/kustomization.yaml", paris),
                ("clusters/paris/top.yaml", of_paris.as_str()),
            ])
        };
        let both = files("resources: [../../k/media/app.yaml, top.yaml]\n").flux;
        let app = both.iter().find(|one| one.name == "app").unwrap();
        assert_eq!(app.disputed, ["", "berlin"]);
        assert_eq!(app.elsewhere.iter().collect::<Vec<_>>(), ["paris"]);
        let one = files("resources: [top.yaml]\n").flux;
        assert!(one.iter().all(|one| one.elsewhere.is_empty() && one.disputed.is_empty()));
    }

    #[test]
    fn where_ways_do_not_agree_the_file_s_own_word_is_left() {
        let one = ("a/kustomization.yaml", "namespace: a\nresources: [../k/media/app.yaml]\n");
        let other = ("b/kustomization.yaml", "namespace: b\nresources: [../k/media/app.yaml]\n");
        assert_eq!(namespaces(&[one, other, APP]), ["/app"]);
        assert_eq!(disputed(&[one, other, APP]), [""; 0]);
        // What Flux applies counts before a list that nothing in Git applies.
        let top = ("top.yaml", "metadata: { name: top }\nspec: { path: a }\n");
        assert_eq!(namespaces(&[one, other, APP, top]), ["a/app", "/top"]);
        let both = ("both.yaml", "metadata: { name: both }\nspec: { path: b }\n");
        assert_eq!(namespaces(&[one, other, APP, top, both]), ["/both", "/app", "/top"]);
        assert_eq!(disputed(&[one, other, APP, top, both]), ["a", "b"]);
        let plain = ("b/kustomization.yaml", "resources: [../k/media/app.yaml]\n");
        assert_eq!(disputed(&[one, plain, APP, top, both]), ["", "a"]);
        let top = ("k/top.yaml", "metadata: { name: top }\nspec: { path: k }\n");
        assert_eq!(namespaces(&[one, APP, top]), ["/app", "/top"]);
        let other = ("b/kustomization.yaml", "namespace: a\nresources: [../k/media/app.yaml]\n");
        assert_eq!(namespaces(&[one, other, APP]), ["a/app"]);
        // A patch lists nothing.
        let other = ("b/kustomization.yaml", "namespace: b\npatches: [{ path: ../k/media/app.yaml }]\n");
        assert_eq!(namespaces(&[one, other, APP]), ["a/app"]);
    }
}
