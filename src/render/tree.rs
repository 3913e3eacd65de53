//! The snapshot as the file system that a renderer sees: folders, and links followed.

use std::borrow::Cow;

use crate::path::RepoPath;
use crate::repo::{Entry, File, Snapshot};

/// How many links one path may lead over, as on Linux.
const LINKS: usize = 40;

/// What stands at a path after links were followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found<'p> {
    /// Nothing, or a link to nothing.
    Missing,
    /// A regular file, with its path without links.
    File(Cow<'p, str>, File),
    /// A folder, with its path without links.
    Folder(Cow<'p, str>),
    /// A file whose content the snapshot lacks.
    Large(Cow<'p, str>),
    /// A link that leaves the repository.
    Outside,
    /// A link that leads to itself.
    Cyclic,
}

impl Found<'_> {
    /// Returns the same with paths of its own.
    pub(super) fn into_owned(self) -> Found<'static> {
        let own = |place: Cow<'_, str>| Cow::Owned(place.into_owned());
        match self {
            Found::Missing => Found::Missing,
            Found::File(place, file) => Found::File(own(place), file),
            Found::Folder(place) => Found::Folder(own(place)),
            Found::Large(place) => Found::Large(own(place)),
            Found::Outside => Found::Outside,
            Found::Cyclic => Found::Cyclic,
        }
    }
}

/// The kind of a name in a folder, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
}

/// The files and folders of a snapshot by path; the top is the empty path.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    snapshot: Snapshot,
}

impl Tree {
    /// Makes the tree of a snapshot.
    pub(super) fn new(snapshot: &Snapshot) -> Tree {
        Tree { snapshot: snapshot.clone() }
    }

    /// Returns the names in a folder, by its path without links; empty for anything else.
    pub(super) fn list(&self, folder: &str) -> Vec<(Kind, String)> {
        let kind = |entry: Option<&Entry>| match entry {
            None => Kind::Folder,
            Some(Entry::File(_) | Entry::Large { .. } | Entry::Lacking { .. }) => Kind::File,
            Some(Entry::Symlink { .. }) => Kind::Link,
        };
        let names = self.snapshot.names(folder);
        names.into_iter().map(|(name, entry)| (kind(entry), name.to_owned())).collect()
    }

    /// Returns whether another tree is known to hold the same, without a look at either.
    pub(super) fn is_shared_with(&self, other: &Tree) -> bool {
        self.snapshot.is_shared_with(&other.snapshot)
    }

    /// Returns the path of a file of which [`find`](Tree::find) gave the place.
    pub(super) fn path(&self, place: &str) -> Option<RepoPath> {
        self.snapshot.path_at(place).cloned()
    }

    /// Tells what stands at a path, every link on the way followed.
    pub(super) fn find<'p>(&self, path: &'p str) -> Found<'p> {
        self.find_here(path).unwrap_or_else(|| self.find_over_links(path))
    }

    /// As [`find`](Tree::find), of a path in its normal form without links on the way; `None` where it is another.
    fn find_here<'p>(&self, path: &'p str) -> Option<Found<'p>> {
        if path.is_empty() || path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return None;
        }
        if self.snapshot.may_be_crossed(path) {
            return None;
        }
        match self.snapshot.at(path) {
            None if self.snapshot.is_folder(path) => Some(Found::Folder(Cow::Borrowed(path))),
            None => Some(Found::Missing),
            Some(Entry::Symlink { .. }) => None,
            Some(Entry::File(file)) => Some(Found::File(Cow::Borrowed(path), file.clone())),
            Some(Entry::Large { .. } | Entry::Lacking { .. }) => Some(Found::Large(Cow::Borrowed(path))),
        }
    }

    fn find_over_links(&self, path: &str) -> Found<'static> {
        let mut links = 0;
        // What is still to be walked, the next segment last.
        let mut ahead: Vec<String> = segments(path).rev().map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        while let Some(segment) = ahead.pop() {
            if segment == ".." {
                if at.pop().is_none() {
                    return Found::Outside;
                }
                continue;
            }
            at.push(segment);
            let place = at.join("/");
            match self.snapshot.at(&place) {
                None if self.snapshot.is_folder(&place) => {}
                None => return Found::Missing,
                Some(Entry::Symlink { target }) => {
                    links += 1;
                    if links > LINKS {
                        return Found::Cyclic;
                    }
                    if target.starts_with('/') {
                        return Found::Outside;
                    }
                    at.pop();
                    ahead.extend(segments(target).rev().map(str::to_owned));
                }
                Some(_) if !ahead.is_empty() => return Found::Missing,
                Some(Entry::File(file)) => return Found::File(Cow::Owned(place), file.clone()),
                Some(Entry::Large { .. } | Entry::Lacking { .. }) => return Found::Large(Cow::Owned(place)),
            }
        }
        Found::Folder(Cow::Owned(at.join("/")))
    }
}

fn segments(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty() && *segment != ".")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn tree(entries: &[(&str, Entry)]) -> Tree {
        let entries: BTreeMap<RepoPath, Entry> =
            entries.iter().map(|(path, entry)| (RepoPath::parse(path).unwrap(), entry.clone())).collect();
        Tree::new(&Snapshot::new(entries))
    }

    fn file(text: &str) -> Entry {
        Entry::File(File::new(text.as_bytes()))
    }

    fn link(target: &str) -> Entry {
        Entry::Symlink { target: target.to_owned() }
    }

    #[test]
    fn folders_exist_because_of_what_they_hold() {
        let tree = tree(&[("a/b/c.yaml", file("x")), ("a/d.yaml", file("y"))]);
        assert_eq!(tree.find(""), Found::Folder(Cow::Borrowed("")));
        assert_eq!(tree.find("a/b"), Found::Folder(Cow::Borrowed("a/b")));
        assert_eq!(tree.list("a").len(), 2);
        assert_eq!(tree.find("a/x"), Found::Missing);
        assert_eq!(tree.find("a/d.yaml/x"), Found::Missing);
    }

    #[test]
    fn what_is_put_below_a_file_or_a_link_is_not_there() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let mut snapshot = Snapshot::new([(path("a"), file("x")), (path("b/c"), file("y"))].into());
        snapshot.insert(path("a/below"), File::new(&b"z"[..]));
        snapshot.insert(path("b"), File::new(&b"z"[..]));
        snapshot.put(path("link"), link("real"));
        snapshot.insert(path("link/below"), File::new(&b"z"[..]));
        snapshot.insert(path("real/below"), File::new(&b"real"[..]));
        let tree = Tree::new(&snapshot);
        assert_eq!(["a/below", "b/c"].map(|path| tree.find(path)), [Found::Missing, Found::Missing]);
        assert!(matches!(tree.find("link/below"), Found::File(place, _) if place == "real/below"));
    }

    #[test]
    fn links_are_followed_inside_and_refused_outside() {
        let tree = tree(&[
            ("apps/nginx/x.yaml", file("x")),
            ("links/nginx", link("../apps/nginx")),
            ("links/file", link("nginx/x.yaml")),
            ("links/out", link("../../elsewhere")),
            ("links/absolute", link("/etc/passwd")),
            ("links/loop", link("loop")),
            ("links/dangling", link("nothing")),
        ]);
        assert_eq!(tree.find("links/nginx"), Found::Folder(Cow::Borrowed("apps/nginx")));
        assert!(matches!(tree.find("links/nginx/x.yaml"), Found::File(at, _) if at == "apps/nginx/x.yaml"));
        assert!(matches!(tree.find("links/file"), Found::File(at, _) if at == "apps/nginx/x.yaml"));
        assert_eq!(tree.find("links/out"), Found::Outside);
        assert_eq!(tree.find("links/absolute"), Found::Outside);
        assert_eq!(tree.find("links/loop"), Found::Cyclic);
        assert_eq!(tree.find("links/dangling"), Found::Missing);
    }
}
