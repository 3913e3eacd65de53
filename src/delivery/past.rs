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
use crate::repo::{Appeared, Entry, Merged, Repository, Snapshot, built_any};

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
    /// The commit at its end; `None` where there is none.
    head: OnceCell<Option<String>>,
    /// What was read of its commits.
    line: RefCell<Option<Line>>,
    /// What counts of a commit, and the files that no commit has so; `None` where git can't say.
    present: OnceCell<Option<(Weight<'a>, BTreeSet<RepoPath>)>>,
}

/// The commits of a branch's own line since an instant.
struct Line {
    since: Timestamp,
    /// The newest one at that instant; `None` where all are later.
    first: Option<String>,
    /// Those after it, the newest first.
    later: Vec<Merged>,
}

impl Line {
    /// Returns the newest commit at the same instant or a later one, and those after it: the last one of a line up to an
    /// instant stands before all that are later.
    fn since(&self, since: Timestamp) -> (Option<String>, &[Merged]) {
        let position = self.later.iter().position(|one| one.at.as_second() <= since.as_second());
        match position {
            Some(position) => (Some(self.later[position].hash.clone()), &self.later[..position]),
            None => (self.first.clone(), &self.later),
        }
    }
}

impl<'a> Past<'a> {
    /// Looks back from files and what they mean, by the commits of a revision.
    pub fn new(
        repository: &'a Repository,
        revision: &'a str,
        (snapshot, model): (&'a Snapshot, &'a Model),
        renderer: &'a dyn Renderer,
    ) -> Past<'a> {
        Past {
            repository,
            revision,
            snapshot,
            model,
            renderer,
            known: RefCell::default(),
            head: OnceCell::new(),
            line: RefCell::default(),
            present: OnceCell::new(),
        }
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
        let Some(head) = self.head.get_or_init(|| self.repository.commit(self.revision)) else {
            return Some(vec![state(Appeared::Before, None), state(Appeared::Nowhere, None)]);
        };
        let mut line = self.line.borrow_mut();
        if line.as_ref().is_none_or(|known| since < known.since) {
            let first = self.repository.commit_at(head, since);
            if first.is_none() && self.repository.is_shallow() {
                return None;
            }
            let later = self.repository.merged_since(first.as_deref(), head)?;
            *line = Some(Line { since, first, later });
        }
        let (first, merged) = line.as_ref()?.since(since);
        let (all, edited) = self.present(head)?;
        let has_any =
            |paths: &BTreeSet<RepoPath>| own.map_or_else(|| all.has_any(paths), |own| own.has_any(paths));
        let later = merged.iter().rev().filter(|one| has_any(&one.paths));
        let later = later.map(|one| state(Appeared::At(one.at), Some(one.hash.clone())));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_since_a_later_instant_is_a_part_of_that_since_an_earlier_one() {
        let second = |second: i64| Timestamp::from_second(second).unwrap();
        let merged = |hash: &str, at: i64| Merged {
            hash: hash.to_owned(),
            subject: String::new(),
            at: second(at),
            paths: BTreeSet::new(),
        };
        let line = Line {
            since: second(10),
            first: Some("a".to_owned()),
            later: vec![merged("d", 40), merged("c", 30), merged("b", 20)],
        };
        let told = |at: Timestamp| {
            let (first, later) = line.since(at);
            let later: Vec<&str> = later.iter().map(|one| one.hash.as_str()).collect();
            format!("{}: {}", first.unwrap_or_default(), later.join(" "))
        };
        assert_eq!(told(second(10)), "a: d c b");
        assert_eq!(told(second(19)), "a: d c b");
        assert_eq!(told(second(20)), "b: d c");
        assert_eq!(told("1970-01-01T00:00:30.5Z".parse().unwrap()), "c: d");
        assert_eq!(told(second(50)), "d: ");
    }
}
