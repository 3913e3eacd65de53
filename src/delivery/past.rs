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
use crate::repo::{Appeared, Entry, Repository, Snapshot};

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
    /// What counts of a commit, and whether what no commit has changes some of it; `None` where git can't say.
    present: OnceCell<Option<(Weight<'a>, bool)>>,
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
    fn present(&self, head: &str) -> Option<&(Weight<'a>, bool)> {
        let look = || {
            let committed = self.repository.snapshot_beside(head, self.snapshot).ok()?.snapshot;
            let weight = Weight::of(self.model, self.snapshot);
            let edited = weight.has_any(&self.snapshot.differing(&committed));
            Some((weight, edited))
        };
        self.present.get_or_init(look).as_ref()
    }
}

impl History for Past<'_> {
    fn states(&self, since: Timestamp) -> Option<Vec<State>> {
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
        let (weight, edited) = self.present(&head)?;
        let later = merged.into_iter().rev().filter(|one| weight.has_any(&one.paths));
        let later = later.map(|one| state(Appeared::At(one.at), Some(one.hash)));
        let edited = edited.then(|| state(Appeared::Nowhere, None));
        Some([state(Appeared::Before, first)].into_iter().chain(later).chain(edited).collect())
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
        Weight { model, snapshot, files, folders }
    }

    fn has_any(&self, paths: &BTreeSet<RepoPath>) -> bool {
        paths.iter().any(|path| self.has(path))
    }

    /// Tells it of a file that changed; one that is gone may have decided anything.
    fn has(&self, path: &RepoPath) -> bool {
        let is_list = path.name().is_some_and(|name| FILE_NAMES.contains(&name));
        if is_ignore_file(path) || (is_list || is_yaml(path)) && self.snapshot.entry(path).is_none() {
            return true;
        }
        let own = path.parent().filter(|_| is_list);
        let mut folders = self.model.graph.referrers(path).chain(&own);
        self.files.contains(path) || folders.any(|folder| self.folders.contains(folder))
    }
}
