//! The repository's files as one value.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::repo::RepoPath;

/// A regular file: its bytes and the one mode bit that git keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The content.
    pub bytes: Arc<[u8]>,
    /// Whether git's mode is 100755.
    pub executable: bool,
}

impl File {
    /// Makes a plain, not executable file.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> File {
        File { bytes: bytes.into(), executable: false }
    }

    /// Gives the content as text where it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

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
/// A snapshot is cheap to clone (contents are shared) and never changes; a plan applied to it
/// gives another snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    entries: BTreeMap<RepoPath, Entry>,
}

impl Snapshot {
    /// Makes a snapshot of the given entries.
    pub fn new(entries: BTreeMap<RepoPath, Entry>) -> Snapshot {
        Snapshot { entries }
    }

    /// Gives everything, in the order of paths.
    pub fn entries(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.entries.iter()
    }

    /// Gives the entry at exactly this path, links not followed.
    pub fn entry(&self, path: &RepoPath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Gives the regular file at exactly this path, links not followed.
    pub fn file(&self, path: &RepoPath) -> Option<&File> {
        match self.entries.get(path) {
            Some(Entry::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Puts a file in place of whatever stands at the path.
    pub fn insert(&mut self, path: RepoPath, file: File) {
        self.entries.insert(path, Entry::File(file));
    }

    /// Takes away what stands at the path.
    pub fn remove(&mut self, path: &RepoPath) {
        self.entries.remove(path);
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
    /// use gitops_windows::repo::{Entry, File, RepoPath, Snapshot};
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
            let Some(Entry::Symlink { target }) = self.entries.get(&next) else {
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

    /// Tells whether the path is a folder with something in it; links are not followed.
    ///
    /// git knows no empty folders, so neither does a snapshot. The top always is one.
    pub fn is_dir(&self, path: &RepoPath) -> bool {
        path.is_top() || self.below(path).next().is_some()
    }

    /// Gives the files and folders directly in a folder, in the order of their names.
    ///
    /// Links are not followed; a path that is no folder holds nothing.
    pub fn list(&self, folder: &RepoPath) -> Vec<RepoPath> {
        let skip = if folder.is_top() { 0 } else { folder.as_str().len() + 1 };
        let mut children: Vec<RepoPath> = self
            .below(folder)
            .filter_map(|(path, _)| {
                let rest = &path.as_str()[skip..];
                folder.join(rest.split('/').next().unwrap_or(rest)).ok()
            })
            .collect();
        // `a-b` sorts between `a` and `a/b`, so equal children need not stand together.
        children.sort();
        children.dedup();
        children
    }

    /// Gives everything below a folder, in the order of paths.
    pub fn below(&self, folder: &RepoPath) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        let prefix = if folder.is_top() { String::new() } else { format!("{folder}/") };
        let start: (Bound<&str>, Bound<&str>) = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        self.entries.range::<str, _>(start).take_while(move |(path, _)| path.as_str().starts_with(&prefix))
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
