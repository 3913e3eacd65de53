//! The repository's files as one value.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use crate::path::RepoPath;
use crate::repo::{File, Graph};

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File(File),
    /// A symbolic link with its target as written.
    Symlink {
        /// The link's text, relative to the folder that holds it unless absolute.
        target: String,
    },
    /// A file above the size that the reader takes; present, but its content is unknown.
    Large {
        /// Its size in bytes.
        bytes: u64,
    },
    /// A file of a commit whose content the clone lacks, as one that was made with a filter by size.
    Lacking {
        /// The name that git gives the content.
        object: String,
    },
}

/// Why a path can't be followed to where its links lead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A link on the way leads out of the repository.
    #[error("the symbolic link `{link}` points to `{target}`, which is outside of the repository")]
    Escapes {
        /// The link.
        link: RepoPath,
        /// Its text.
        target: String,
    },
    /// More links on the way than Linux follows, so most likely a cycle.
    #[error("`{0}` leads through more than 40 symbolic links")]
    Loop(RepoPath),
}

/// How many links Linux follows in one path (`MAXSYMLINKS`).
const LINKS: usize = 40;

/// The files of a repository at one moment: what git tracks and what it would track.
///
/// A snapshot is cheap to clone and to change a little, whatever its size, and never changes by
/// itself; a plan applied to it gives another snapshot.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// What clones share.
    base: Arc<BTreeMap<RepoPath, Entry>>,
    /// What stands at other paths than in `base`, or is gone.
    over: Arc<BTreeMap<RepoPath, Option<Entry>>>,
    /// Every path, and perhaps some more, at which something stands that is no folder and over which others lead: mostly
    /// links.
    crossed: Arc<BTreeSet<RepoPath>>,
    /// The folders that stand although no entry is below them, as a submodule's before anybody fetches it.
    hollow: Arc<BTreeSet<RepoPath>>,
    /// Its graph, once somebody has asked.
    graph: Arc<OnceLock<Graph>>,
}

/// How many changes a snapshot keeps beside what it shares; more grow with what is shared.
const CHANGES: usize = 64;

impl Snapshot {
    /// Makes a snapshot of the given entries.
    pub fn new(entries: BTreeMap<RepoPath, Entry>) -> Snapshot {
        let links = entries.iter().filter(|(_, entry)| matches!(entry, Entry::Symlink { .. }));
        let crossed = links.map(|(path, _)| path.clone()).collect();
        Snapshot { base: Arc::new(entries), crossed: Arc::new(crossed), ..Snapshot::default() }
    }

    /// Returns it with these folders, which stand although nothing may lie in them.
    ///
    /// git knows none but the folder of a submodule; an artifact has one where all that lay in it is left out.
    #[must_use]
    pub fn with_hollow(self, folders: BTreeSet<RepoPath>) -> Snapshot {
        Snapshot { hollow: Arc::new(folders), ..self }
    }

    /// Returns the folders that stand although nothing may lie in them, in the order of paths.
    pub fn hollow(&self) -> impl Iterator<Item = &RepoPath> {
        self.hollow.iter()
    }

    /// Returns its graph, read by `read` once for all clones that differ in nothing on which it depends.
    pub(super) fn graph_by(&self, read: impl FnOnce() -> Graph) -> Graph {
        self.graph.get_or_init(read).clone()
    }

    /// Returns whether another snapshot is known to hold the same because both share all that they hold.
    pub(crate) fn is_shared_with(&self, other: &Snapshot) -> bool {
        Arc::ptr_eq(&self.base, &other.base)
            && Arc::ptr_eq(&self.over, &other.over)
            && (Arc::ptr_eq(&self.hollow, &other.hollow) || self.hollow == other.hollow)
    }

    /// Returns everything, in the order of paths.
    pub fn entries(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.from(Bound::Unbounded)
    }

    /// Returns everything from a path on, in the order of paths.
    fn from<'a>(&'a self, start: Bound<&str>) -> impl Iterator<Item = (&'a RepoPath, &'a Entry)> + use<'a> {
        let mut base = self.base.range::<str, _>((start, Bound::Unbounded)).peekable();
        let mut over = self.over.range::<str, _>((start, Bound::Unbounded)).peekable();
        std::iter::from_fn(move || {
            loop {
                let Some((changed, _)) = over.peek() else { return base.next() };
                match base.peek().map(|(path, _)| (*path).cmp(*changed)) {
                    Some(Ordering::Less) => return base.next(),
                    Some(Ordering::Equal) => _ = base.next(),
                    _ => {}
                }
                if let Some((path, Some(entry))) = over.next() {
                    return Some((path, entry));
                }
            }
        })
    }

    /// Returns the entry at exactly this path, links not followed.
    pub fn entry(&self, path: &RepoPath) -> Option<&Entry> {
        self.at(path.as_str())
    }

    /// Returns the entry at a path in its normal form.
    pub(crate) fn at(&self, path: &str) -> Option<&Entry> {
        match self.over.get(path) {
            Some(changed) => changed.as_ref(),
            None => self.base.get(path),
        }
    }

    /// Returns a path in its normal form as whoever holds the entry there has it, so that its text is shared.
    pub(crate) fn path_at(&self, path: &str) -> Option<&RepoPath> {
        match self.over.get_key_value(path) {
            Some((path, changed)) => changed.as_ref().map(|_| path),
            None => self.base.get_key_value(path).map(|(path, _)| path),
        }
    }

    /// Returns whether a path in its normal form leads over something that is no folder, as far as that is known without a
    /// look.
    pub(crate) fn may_be_crossed(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
        !self.crossed.is_empty() && above.any(|above| self.crossed.contains(above))
    }

    /// Returns the regular file at exactly this path, links not followed.
    pub fn file(&self, path: &RepoPath) -> Option<&File> {
        match self.entry(path) {
            Some(Entry::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Puts a file in place of whatever stands at the path.
    pub fn insert(&mut self, path: RepoPath, file: File) {
        self.put(path, Entry::File(file));
    }

    /// As [`insert`](Snapshot::insert), whatever it is.
    pub fn put(&mut self, path: RepoPath, entry: Entry) {
        self.set(path, Some(entry));
    }

    /// Returns the paths at which another snapshot holds something else, in order.
    pub fn differing(&self, other: &Snapshot) -> BTreeSet<RepoPath> {
        let folders = self.hollow.symmetric_difference(&other.hollow);
        if Arc::ptr_eq(&self.base, &other.base) {
            let changed = self.over.keys().chain(other.over.keys());
            let changed = changed.filter(|path| self.entry(path) != other.entry(path));
            return changed.chain(folders).cloned().collect();
        }
        let here = self.entries().filter(|(path, entry)| other.entry(path) != Some(*entry));
        let gone = other.entries().filter(|(path, _)| self.entry(path).is_none());
        here.chain(gone).map(|(path, _)| path).chain(folders).cloned().collect()
    }

    /// Takes away what stands at the path.
    pub fn remove(&mut self, path: &RepoPath) {
        self.set(path.clone(), None);
    }

    fn set(&mut self, path: RepoPath, entry: Option<Entry>) {
        if [self.entry(&path), entry.as_ref()].into_iter().any(|one| Graph::depends_on(&path, one)) {
            self.graph = Arc::default();
        }
        let is_link = matches!(entry, Some(Entry::Symlink { .. }));
        let above = path.parents().filter(|above| self.entry(above).is_some());
        let own = Some(path.clone()).filter(|path| is_link || self.is_dir(path));
        let crossed: Vec<RepoPath> = above.chain(own).filter(|path| !self.crossed.contains(path)).collect();
        if entry.is_some() && !crossed.is_empty() {
            Arc::make_mut(&mut self.crossed).extend(crossed);
        }
        Arc::make_mut(&mut self.over).insert(path, entry);
        if self.over.len() <= CHANGES + self.base.len() / CHANGES {
            return;
        }
        let base = Arc::make_mut(&mut self.base);
        for (path, entry) in Arc::unwrap_or_clone(std::mem::take(&mut self.over)) {
            match entry {
                Some(entry) => base.insert(path, entry),
                None => base.remove(&path),
            };
        }
    }

    /// Follows every symbolic link of a path, in its folders and at its end.
    ///
    /// The answer is the place that the path means; whether something stands there is for
    /// [`Snapshot::entry`] and [`Snapshot::is_dir`] to say. `..` in a link's text is taken from
    /// where the link really stands, as the kernel does.
    ///
    /// # Errors
    ///
    /// When a link is absolute or leaves the repository, or after 40 links.
    ///
    /// ```
    /// use gitops_windows::path::RepoPath;
    /// use gitops_windows::repo::{Entry, File, Snapshot};
    /// let path = |text| RepoPath::parse(text).unwrap();
    /// let snapshot = Snapshot::new([
    ///     (path("apps/nginx/a.yaml"), Entry::File(File::new(*b"a: 1"))),
    ///     (path("clusters/edge-01/nginx"), Entry::Symlink { target: "../../apps/nginx".to_owned() }),
    /// ].into());
    /// assert_eq!(snapshot.resolve(&path("clusters/edge-01/nginx/a.yaml")), Ok(path("apps/nginx/a.yaml")));
    /// ```
    pub fn resolve(&self, path: &RepoPath) -> Result<RepoPath, ResolveError> {
        let mut left: Vec<String> = path.segments().rev().map(str::to_owned).collect();
        let mut reached = RepoPath::top();
        let mut links = 0;
        // The link whose text is being walked, to name it if it leaves.
        let mut last: Option<(RepoPath, String)> = None;
        while let Some(segment) = left.pop() {
            let Ok(next) = reached.join(&segment) else {
                let (link, target) = last.unwrap_or((reached, segment));
                return Err(ResolveError::Escapes { link, target });
            };
            let Some(Entry::Symlink { target }) = self.entry(&next) else {
                reached = next;
                continue;
            };
            links += 1;
            if links > LINKS {
                return Err(ResolveError::Loop(path.clone()));
            }
            if target.starts_with('/') || target.contains(['\0', '\\']) {
                return Err(ResolveError::Escapes { link: next, target: target.clone() });
            }
            left.extend(target.split('/').rev().map(str::to_owned));
            last = Some((next, target.clone()));
        }
        Ok(reached)
    }

    /// Returns whether the path is a folder; links are not followed.
    ///
    /// Something lies in it, but for [hollow](Snapshot::with_hollow) ones. The top always is one.
    pub fn is_dir(&self, path: &RepoPath) -> bool {
        self.is_folder(path.as_str())
    }

    /// As [`is_dir`](Snapshot::is_dir), of a path in its normal form.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.under(path).next().is_some() || self.is_hollow(path)
    }

    fn is_hollow(&self, path: &str) -> bool {
        if self.hollow.is_empty() || self.hollow.contains(path) {
            return !self.hollow.is_empty();
        }
        let prefix = format!("{path}/");
        let next = self.hollow.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded)).next();
        next.is_some_and(|one| one.as_str().starts_with(&prefix))
    }

    /// Returns the files and folders directly in a folder, in the order of their names.
    ///
    /// Links are not followed; a path that is no folder holds nothing.
    pub fn list(&self, folder: &RepoPath) -> Vec<RepoPath> {
        let names = self.names(folder.as_str());
        let mut children: Vec<RepoPath> =
            names.into_iter().filter_map(|(name, _)| folder.join(name).ok()).collect();
        // `a-b` sorts between `a` and `a/b`.
        children.sort();
        children.dedup();
        children
    }

    /// Returns the names in a folder with what stands there; `None` is a folder.
    pub(crate) fn names(&self, folder: &str) -> Vec<(&str, Option<&Entry>)> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut names = Vec::new();
        let mut next = self.first(Bound::Included(&prefix));
        while let Some((path, entry)) = next {
            let Some(rest) = path.as_str().strip_prefix(&prefix) else { break };
            next = match rest.split_once('/') {
                None => {
                    names.push((rest, Some(entry)));
                    self.first(Bound::Excluded(path.as_str()))
                }
                Some((name, _)) => {
                    names.push((name, None));
                    // What follows all that begins with `name/`.
                    self.first(Bound::Included(&format!("{prefix}{name}0")))
                }
            };
        }
        names
    }

    fn first<'a>(&'a self, start: Bound<&str>) -> Option<(&'a RepoPath, &'a Entry)> {
        self.from(start).next()
    }

    /// Returns everything below a folder, in the order of paths.
    pub fn below(&self, folder: &RepoPath) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.under(folder.as_str())
    }

    /// Returns everything below a folder that is named by its path in normal form.
    pub(crate) fn under<'a>(
        &'a self,
        folder: &str,
    ) -> impl Iterator<Item = (&'a RepoPath, &'a Entry)> + use<'a> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.from(Bound::Included(prefix.as_str()))
            .take_while(move |(path, _)| path.as_str().starts_with(&prefix))
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Snapshot) -> bool {
        if Arc::ptr_eq(&self.base, &other.base) {
            let mut changed = self.over.keys().chain(other.over.keys());
            return self.hollow == other.hollow && changed.all(|path| self.entry(path) == other.entry(path));
        }
        self.hollow == other.hollow && self.entries().eq(other.entries())
    }
}

impl Eq for Snapshot {}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn snapshot(files: &[&str], links: &[(&str, &str)]) -> Snapshot {
        let files = files.iter().map(|name| (path(name), Entry::File(File::new(*b"x"))));
        let links =
            links.iter().map(|(name, target)| (path(name), Entry::Symlink { target: (*target).to_owned() }));
        Snapshot::new(files.chain(links).collect())
    }

    #[test]
    fn lists_direct_children_once_and_in_order() {
        let tree = snapshot(&["a/b/c", "a/b-d", "a/b/e", "ab", "a.yaml"], &[]);
        assert_eq!(tree.list(&path("a")), [path("a/b"), path("a/b-d")]);
        assert_eq!(tree.list(&RepoPath::top()), [path("a"), path("a.yaml"), path("ab")]);
        assert_eq!(tree.list(&path("ab")), []);
        assert!(tree.is_dir(&path("a/b")) && tree.is_dir(&RepoPath::top()));
        assert!(!tree.is_dir(&path("a/b-d")) && !tree.is_dir(&path("a/").join("x").unwrap()));
    }

    /// Clones go on sharing while each changes, and every view of one is that of a plain map.
    #[test]
    fn changes_beside_what_is_shared_read_as_one() {
        let name = |number: u64| {
            let folder = ["a", "a-b", "a/b", "ab", "b/c/d"][number as usize % 5];
            path(&format!("{folder}/{}", number / 5 % 23))
        };
        let mut tree = snapshot(&["a/0", "z"], &[("a/link", "0")]);
        let mut plain: BTreeMap<RepoPath, Entry> =
            tree.entries().map(|(path, entry)| (path.clone(), entry.clone())).collect();
        let mut kept = Vec::new();
        let mut dice = 7_u64;
        for round in 0..2000_u64 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = name(dice >> 33);
            if dice >> 60 < 6 {
                tree.remove(&at);
                plain.remove(&at);
            } else {
                let file = File::new(round.to_string().into_bytes());
                tree.insert(at.clone(), file.clone());
                plain.insert(at, Entry::File(file));
            }
            if round % 100 == 0 {
                kept.push((tree.clone(), plain.clone()));
            }
        }
        kept.push((tree.clone(), plain));
        for (tree, plain) in &kept {
            assert!(tree.entries().eq(plain.iter()));
            for folder in ["", "a", "a-b", "b", "b/c", "a/b", "nowhere"] {
                let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
                let inside = || plain.iter().filter(|(path, _)| path.as_str().starts_with(&prefix));
                let folder = path(folder);
                assert!(tree.below(&folder).eq(inside()));
                let mut names: Vec<&str> = inside()
                    .map(|(path, _)| path.as_str()[prefix.len()..].split('/').next().unwrap())
                    .collect();
                names.sort_unstable();
                names.dedup();
                let children: Vec<RepoPath> = names.iter().map(|name| folder.join(name).unwrap()).collect();
                assert_eq!(tree.list(&folder), children);
            }
            for (other, other_plain) in &kept {
                assert_eq!(tree == other, plain == other_plain);
            }
            assert_eq!(*tree, Snapshot::new(plain.clone()));
        }
    }

    #[test]
    fn follows_links_in_folders_and_from_where_they_stand() {
        let tree = snapshot(
            &["real/deep/file", "real/other"],
            &[("link", "real/deep"), ("hop", "link/../other"), ("chain", "./link//file")],
        );
        assert_eq!(tree.resolve(&path("link/file")), Ok(path("real/deep/file")));
        assert_eq!(tree.resolve(&path("hop")), Ok(path("real/other")));
        assert_eq!(tree.resolve(&path("chain")), Ok(path("real/deep/file")));
        assert_eq!(tree.resolve(&path("missing/x")), Ok(path("missing/x")));
    }

    #[test]
    fn invariant_7_no_link_is_followed_out_of_the_repository() {
        let tree = snapshot(&[], &[("a/up", "../../etc"), ("root", "/etc"), ("x", "y"), ("y", "x/z")]);
        assert!(matches!(tree.resolve(&path("a/up/passwd")), Err(ResolveError::Escapes { .. })));
        assert!(matches!(tree.resolve(&path("root/passwd")), Err(ResolveError::Escapes { .. })));
        assert_eq!(tree.resolve(&path("x")), Err(ResolveError::Loop(path("x"))));
    }
}
