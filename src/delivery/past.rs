//! What a branch held at earlier instants, as far as that decides what gates hold.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use jiff::Timestamp;

use crate::delivery::Model;
use crate::delivery::begun::{History, State};
use crate::delivery::fetched::is_ignore_file;
use crate::delivery::variables::wanted;
use crate::delivery::view::of_interest;
use crate::path::RepoPath;
use crate::render::Renderer;
use crate::repo::flux::is_yaml;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Appeared, Entry, Repository, Snapshot, built_any};

/// The history of a branch up to a state of its files.
///
/// A commit is read only where one after it changes a file that gates depend on.
pub struct Past<'a> {
    repository: &'a Repository,
    revision: &'a str,
    snapshot: &'a Snapshot,
    model: &'a Model,
    renderer: &'a dyn Renderer,
    known: RefCell<BTreeMap<String, Option<Rc<Model>>>>,
    /// What counts of a commit, and the files that no commit has so; `None` where git can't say.
    present: OnceCell<Option<(Weight<'a>, BTreeSet<RepoPath>)>>,
}

impl<'a> Past<'a> {
    /// Looks back from files and what they mean, by the commits of a revision.
    pub fn new(
        repository: &'a Repository,
        revision: &'a str,
        (snapshot, model): (&'a Snapshot, &'a Model),
        renderer: &'a dyn Renderer,
    ) -> Past<'a> {
        let (known, present) = (RefCell::default(), OnceCell::new());
        Past { repository, revision, snapshot, model, renderer, known, present }
    }

    /// Looks at the files once, whenever it is asked.
    fn present(&self, head: &str) -> Option<&(Weight<'a>, BTreeSet<RepoPath>)> {
        let look = || {
            let committed = self.repository.snapshot_beside(head, self.snapshot).ok()?.snapshot;
            Some((Weight::of(self.model, self.snapshot), self.snapshot.differing(&committed)))
        };
        self.present.get_or_init(look).as_ref()
    }

    /// Returns the states since an instant, as far as some weight tells them apart; without one, by that of all gates.
    fn weighed(&self, own: Option<&Weight<'_>>, since: Timestamp) -> Option<Vec<State>> {
        self.repository.git()?;
        let state = |since, commit| State { since, commit };
        let Some(head) = self.repository.commit(self.revision) else {
            return Some(vec![state(Appeared::Before, None), state(Appeared::Nowhere, None)]);
        };
        let first = self.repository.commit_at(&head, since);
        if first.is_none() && self.repository.is_shallow() {
            return None;
        }
        let merged = self.repository.merged_since(first.as_deref(), &head)?;
        let (all, edited) = self.present(&head)?;
        let has_any =
            |paths: &BTreeSet<RepoPath>| own.map_or_else(|| all.has_any(paths), |own| own.has_any(paths));
        let later = merged.into_iter().rev().filter(|one| has_any(&one.paths));
        let later = later.map(|one| state(Appeared::At(one.at), Some(one.hash)));
        let edited = has_any(edited).then(|| state(Appeared::Nowhere, None));
        Some([state(Appeared::Before, first)].into_iter().chain(later).chain(edited).collect())
    }
}

impl History for Past<'_> {
    fn states(&self, since: Timestamp) -> Option<Vec<State>> {
        self.weighed(None, since)
    }

    fn states_of(&self, files: &BTreeSet<RepoPath>, since: Timestamp) -> Option<Vec<State>> {
        self.weighed(Some(&Weight::of_files(self.model, self.snapshot, files)), since)
    }

    fn model(&self, commit: &str) -> Option<Rc<Model>> {
        let read = || {
            let files = self.repository.snapshot_beside(commit, self.snapshot).ok()?.snapshot;
            Some(Rc::new(self.model.again(&files, self.renderer)))
        };
        self.known.borrow_mut().entry(commit.to_owned()).or_insert_with(read).clone()
    }

    fn appeared(&self, files: &BTreeSet<RepoPath>, since: Timestamp) -> BTreeMap<RepoPath, Appeared> {
        self.repository.appeared_at(self.revision, files, since)
    }
}

/// Tells which files decide what gates hold: Flux Kustomizations, sources and CronJobs, and what has a part in their builds.
struct Weight<'a> {
    model: &'a Model,
    snapshot: &'a Snapshot,
    files: BTreeSet<&'a RepoPath>,
    /// The folders whose builds take one of them in.
    folders: BTreeSet<RepoPath>,
    /// Whether the other objects of these builds count.
    has_siblings: bool,
}

impl<'a> Weight<'a> {
    fn of(model: &'a Model, snapshot: &'a Snapshot) -> Weight<'a> {
        let yaml = snapshot.entries().filter(|(path, _)| is_yaml(path));
        let names = wanted(snapshot);
        let is_own =
            |entry: &Entry| matches!(entry, Entry::File(file) if of_interest(file, &names).is_some());
        let own = yaml.filter(|(_, entry)| is_own(entry));
        let files: BTreeSet<&RepoPath> = own.map(|(path, _)| path).chain(&model.turning).collect();
        let folders = files.iter().flat_map(|file| model.graph.builders(file)).collect();
        Weight { model, snapshot, files, folders, has_siblings: true }
    }

    /// As [`of`](Weight::of), of files alone: these, and the lists and patches of their builds.
    fn of_files(model: &'a Model, snapshot: &'a Snapshot, files: &'a BTreeSet<RepoPath>) -> Weight<'a> {
        let mut folders = BTreeSet::new();
        for file in files {
            folders.extend(model.graph.builders(file));
            if let Some(folder) = file.parent().filter(|_| is_list(file)) {
                folders.extend(model.graph.builders(&folder));
                folders.insert(folder);
            }
        }
        let lists: Vec<&RepoPath> = folders.iter().filter(|folder| model.graph.has(folder)).collect();
        let folders = built_any(&model.graph, lists);
        Weight { model, snapshot, files: files.iter().collect(), folders, has_siblings: false }
    }

    fn has_any(&self, paths: &BTreeSet<RepoPath>) -> bool {
        paths.iter().any(|path| self.has(path))
    }

    /// Tells it of a file that changed; one that is gone may have decided anything.
    fn has(&self, path: &RepoPath) -> bool {
        let is_list = is_list(path);
        if is_ignore_file(path) || (is_list || is_yaml(path)) && self.snapshot.entry(path).is_none() {
            return true;
        }
        let graph = &self.model.graph;
        let own = path.parent().filter(|_| is_list);
        let is_sibling = !self.has_siblings && !graph.lists(path).is_empty();
        let mut folders = graph.referrers(path).filter(|_| !is_sibling).chain(&own);
        self.files.contains(path) || folders.any(|folder| self.folders.contains(folder))
    }
}

fn is_list(path: &RepoPath) -> bool {
    path.name().is_some_and(|name| FILE_NAMES.contains(&name))
}
