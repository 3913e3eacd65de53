//! The namespaces that the CronJobs of gates get from the lists and Flux Kustomizations above them.

use std::collections::{BTreeMap, BTreeSet};

use crate::path::RepoPath;
use crate::repo::Graph;
use crate::repo::flux::FluxKustomization;

/// Returns the one word of all ways; `None` where they don't agree.
fn agreed(ways: &BTreeSet<Way>) -> Option<Option<String>> {
    let mut namespaces = ways.iter().map(|way| &way.namespace).collect::<BTreeSet<_>>().into_iter();
    let first = namespaces.next().cloned().flatten();
    namespaces.next().is_none().then_some(first)
}

/// A way in which something gets into a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    /// Whether a Flux Kustomization in Git begins it.
    is_applied: bool,
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
        for one in flux {
            if let Some(path) = &one.path {
                let namespace = one.spec("targetNamespace").as_str().map(str::to_owned);
                let way = Way { is_applied: true, namespace };
                appliers.entry(path.clone()).or_default().insert(way);
            }
        }
        Namespaces { graph, appliers, known: BTreeMap::new() }
    }

    /// Returns the namespace that what stands in a file gets from above it: where ways do not agree, that of
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
        if ways.iter().any(|way| way.is_applied) {
            ways.retain(|way| way.is_applied);
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
            found.insert(Way { is_applied: false, namespace: None });
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
