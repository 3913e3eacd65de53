//! What a build looked at: with the request, all that its outcome depends on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::render::tree::{Found, Kind, Tree};

/// What a build looked at, and what it saw.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    found: BTreeMap<String, Found>,
    listed: BTreeMap<String, Vec<(Kind, String)>>,
}

impl Seen {
    /// Looks at a path on behalf of a build.
    pub(super) fn find(&mut self, tree: &Tree, path: &str) -> Found {
        if let Some(found) = self.found.get(path) {
            return found.clone();
        }
        let found = tree.find(path);
        self.found.insert(path.to_owned(), found.clone());
        found
    }

    /// Lists a folder on behalf of a build.
    pub(super) fn list(&mut self, tree: &Tree, path: &str) -> &[(Kind, String)] {
        self.listed.entry(path.to_owned()).or_insert_with(|| tree.list(path))
    }

    /// Tells whether a build would see the same in another tree.
    pub(super) fn holds_in(&self, tree: &Tree) -> bool {
        self.found.iter().all(|(path, found)| tree.find(path) == *found)
            && self.listed.iter().all(|(path, names)| tree.list(path) == *names)
    }

    /// Looks at places again, in this tree.
    pub(super) fn again(tree: &Tree, places: &Places) -> Seen {
        let mut seen = Seen::default();
        for path in &places.found {
            seen.find(tree, path);
        }
        for path in &places.listed {
            seen.list(tree, path);
        }
        seen
    }

    /// Returns where it looked.
    pub(super) fn places(&self) -> Places {
        Places { found: self.found.keys().cloned().collect(), listed: self.listed.keys().cloned().collect() }
    }

    /// Returns the digest of all places and of what was seen there.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = Hash(Sha256::new());
        for (path, found) in &self.found {
            hash.text(path);
            match found {
                Found::Missing => hash.text("missing"),
                Found::File(place, file) => {
                    hash.text("file");
                    hash.text(place);
                    hash.0.update(file.sha256());
                }
                Found::Folder(place) => {
                    hash.text("folder");
                    hash.text(place);
                }
                Found::Large(place) => {
                    hash.text("large");
                    hash.text(place);
                }
                Found::Outside => hash.text("outside"),
                Found::Cyclic => hash.text("cyclic"),
            }
        }
        for (path, names) in &self.listed {
            hash.text("list");
            hash.text(path);
            hash.0.update((names.len() as u64).to_le_bytes());
            for (kind, name) in names {
                hash.0.update([match kind {
                    Kind::File => b'f',
                    Kind::Folder => b'd',
                    Kind::Link => b'l',
                }]);
                hash.text(name);
            }
        }
        hex(hash.0)
    }
}

/// Where a build looked.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Places {
    found: Vec<String>,
    listed: Vec<String>,
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
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::repo::{File, Snapshot};

    fn seen(files: &[(&str, &str)]) -> Seen {
        let mut snapshot = Snapshot::default();
        for (path, text) in files {
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
        }
        let places =
            Places { found: ["a/x", "a/y", "b"].map(str::to_owned).to_vec(), listed: vec!["a".to_owned()] };
        Seen::again(&Tree::new(&snapshot), &places)
    }

    #[test]
    fn whatever_was_seen_decides() {
        let print = |files: &[(&str, &str)]| seen(files).fingerprint();
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
        assert_eq!(seen(&[("a/x", "1")]).places(), seen(&[]).places());
    }
}
