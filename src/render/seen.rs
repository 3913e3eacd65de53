//! What a build looked at: with the request, all that its outcome depends on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::render::tree::{Found, Kind, Tree};

/// What a build looks at while it is made, and what it sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    found: BTreeMap<String, Found<'static>>,
    listed: BTreeMap<String, Vec<(Kind, String)>>,
}

impl Seen {
    /// Looks at a path on behalf of a build.
    pub(super) fn find(&mut self, tree: &Tree, path: &str) -> Found<'static> {
        if let Some(found) = self.found.get(path) {
            return found.clone();
        }
        let found = tree.find(path).into_owned();
        self.found.insert(path.to_owned(), found.clone());
        found
    }

    /// Lists a folder on behalf of a build.
    pub(super) fn list(&mut self, tree: &Tree, path: &str) -> &[(Kind, String)] {
        self.listed.entry(path.to_owned()).or_insert_with(|| tree.list(path))
    }

    /// Returns what is kept of it.
    pub(super) fn looked(&self) -> Looked {
        let found = self.found.iter().map(|(path, found)| (path.as_str(), found.clone()));
        let listed = self.listed.iter().map(|(path, names)| (path.as_str(), names.clone()));
        let paths = Paths::new(self.found.keys(), self.listed.keys());
        Looked { print: print(found, listed), paths: Arc::new(paths) }
    }
}

/// What a build looked at, as it is kept: where, and a digest of what it saw there.
///
/// A build of a cluster looks at hundreds of places, and there are thousands of builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Looked {
    paths: Arc<Paths>,
    print: Print,
}

impl Looked {
    /// Looks at places again, in this tree.
    pub(super) fn again(tree: &Tree, places: &Places<'_>) -> Looked {
        let paths = Paths::new(places.found.iter(), places.listed.iter());
        Looked { print: paths.print(tree), paths: Arc::new(paths) }
    }

    /// Returns whether a build would see the same in another tree.
    pub(super) fn holds_in(&self, tree: &Tree) -> bool {
        self.paths.print(tree) == self.print
    }

    /// Keeps the places once for two builds that looked at the same.
    pub(super) fn share(&mut self, other: &Looked) {
        if self.paths == other.paths {
            self.paths = Arc::clone(&other.paths);
        }
    }

    /// Returns where it looked.
    pub(super) fn places(&self) -> Places<'_> {
        let all = |paths| lines(paths).map(Cow::Borrowed).collect();
        Places { found: all(&self.paths.found), listed: all(&self.paths.listed) }
    }

    /// Returns the digest of all places and of what was seen there.
    pub(super) fn fingerprint(&self) -> String {
        digits(&self.print)
    }
}

/// A digest of places and of what is seen there.
type Print = [u8; 32];

/// Places in their order, each with a NUL behind it, which no path holds.
#[derive(Debug, PartialEq, Eq)]
struct Paths {
    found: Box<str>,
    listed: Box<str>,
}

fn lines(paths: &str) -> impl Iterator<Item = &str> {
    paths.split_terminator('\0')
}

impl Paths {
    fn new<T: AsRef<str>>(found: impl Iterator<Item = T>, listed: impl Iterator<Item = T>) -> Paths {
        fn joined<T: AsRef<str>>(paths: impl Iterator<Item = T>) -> Box<str> {
            let mut text = String::new();
            for path in paths {
                text.push_str(path.as_ref());
                text.push('\0');
            }
            text.into()
        }
        Paths { found: joined(found), listed: joined(listed) }
    }

    fn print(&self, tree: &Tree) -> Print {
        let found = lines(&self.found).map(|path| (path, tree.find(path)));
        print(found, lines(&self.listed).map(|path| (path, tree.list(path))))
    }
}

fn print<'p>(
    found: impl Iterator<Item = (&'p str, Found<'p>)>,
    listed: impl Iterator<Item = (&'p str, Vec<(Kind, String)>)>,
) -> Print {
    let mut hash = Hash(Sha256::new());
    for (path, found) in found {
        hash.text(path);
        match found {
            Found::Missing => hash.text("missing"),
            Found::File(place, file) => {
                hash.text("file");
                hash.text(&place);
                hash.0.update(file.sha256());
            }
            Found::Folder(place) => {
                hash.text("folder");
                hash.text(&place);
            }
            Found::Large(place) => {
                hash.text("large");
                hash.text(&place);
            }
            Found::Outside => hash.text("outside"),
            Found::Cyclic => hash.text("cyclic"),
        }
    }
    for (path, names) in listed {
        hash.text("list");
        hash.text(path);
        hash.0.update((names.len() as u64).to_le_bytes());
        for (kind, name) in names {
            hash.0.update([match kind {
                Kind::File => b'f',
                Kind::Folder => b'd',
                Kind::Link => b'l',
            }]);
            hash.text(&name);
        }
    }
    hash.0.finalize().into()
}

/// Where a build looked.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Places<'p> {
    #[serde(borrow)]
    found: Vec<Cow<'p, str>>,
    #[serde(borrow)]
    listed: Vec<Cow<'p, str>>,
}

/// A digest of texts, none of which runs into the next.
struct Hash(Sha256);

impl Hash {
    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }
}

/// Returns a digest as text.
pub(super) fn hex(hash: Sha256) -> String {
    digits(&hash.finalize().into())
}

fn digits(print: &Print) -> String {
    print.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::repo::{File, Snapshot};

    fn looked(files: &[(&str, &str)]) -> Looked {
        let mut snapshot = Snapshot::default();
        for (path, text) in files {
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
        }
        let places = Places {
            found: ["a/x", "a/y", "b"].map(Cow::Borrowed).to_vec(),
            listed: vec![Cow::Borrowed("a")],
        };
        Looked::again(&Tree::new(&snapshot), &places)
    }

    #[test]
    fn whatever_was_seen_decides() {
        let print = |files: &[(&str, &str)]| looked(files).fingerprint();
        let one = print(&[("a/x", "1"), ("b/z", "2")]);
        assert_eq!(one, print(&[("a/x", "1"), ("b/other", "3"), ("c", "4")]), "nobody looked there");
        for other in [
            &[("a/x", "2"), ("b/z", "2")][..],
            &[("a/x", "1"), ("a/y", ""), ("b/z", "2")],
            &[("a/x", "1"), ("b", "2")],
            &[("a/x", "1")],
            &[("a/x", "1"), ("a/more", ""), ("b/z", "2")],
        ] {
            assert_ne!(one, print(other), "{other:?}");
        }
        assert_eq!(looked(&[("a/x", "1")]).places(), looked(&[]).places());
    }
}
