//! A regular file, with what has been understood of its content.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::path::RepoPath;
use crate::repo::graph::Parsed;
use crate::repo::manifest::Manifest;
use crate::repo::outline::Outline;
use crate::yaml::{Node, read_documents};

/// A regular file: its bytes and the one mode bit that git keeps.
///
/// Clones share the content and what has been understood of it, so that of a file that stands in several trees it is
/// worked out once; so do files that `Contents` makes of the same bytes.
#[derive(Clone)]
pub struct File {
    place: Arc<Place>,
    /// Whether git's mode is 100755.
    pub executable: bool,
}

/// A content at one place, with the kustomization that it is there.
struct Place {
    content: Arc<Content>,
    list: OnceLock<(RepoPath, Parsed)>,
}

/// Makes files of which those of the same bytes share them: in a fleet most clusters hold the same.
#[derive(Default)]
pub(super) struct Contents(HashSet<Same>);

impl Contents {
    /// Makes a plain, not executable file.
    pub(super) fn file(&mut self, bytes: Vec<u8>) -> File {
        if let Some(Same(content)) = self.0.get(&bytes[..]) {
            return File::of(Arc::clone(content));
        }
        let file = File::new(bytes);
        self.0.insert(Same(Arc::clone(&file.place.content)));
        file
    }
}

/// A content, known by its bytes.
struct Same(Arc<Content>);

impl Borrow<[u8]> for Same {
    fn borrow(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl Hash for Same {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.bytes().hash(state);
    }
}

impl PartialEq for Same {
    fn eq(&self, other: &Same) -> bool {
        self.0.bytes() == other.0.bytes()
    }
}

impl Eq for Same {}

/// Bytes, as text where they are UTF-8.
enum Bytes {
    Text(Arc<str>),
    Other(Box<[u8]>),
}

/// Bytes, with each part of what they mean as soon as somebody has asked.
struct Content {
    bytes: Bytes,
    /// What a kustomization with these bytes holds, wherever it stands.
    outline: OnceLock<Outline>,
    /// The documents; `None` where they are no YAML text.
    manifests: OnceLock<Option<Vec<Manifest>>>,
    /// Whether they are YAML text in which no mapping holds a key twice.
    yaml: OnceLock<Yaml>,
    /// Whether they are YAML text whose aliases stand for too much.
    is_aliased: OnceLock<bool>,
    /// The name that git gives them, by SHA-1.
    sha1: OnceLock<[u8; 20]>,
    /// Their digest.
    sha256: OnceLock<[u8; 32]>,
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Text(text) => text.as_bytes(),
            Bytes::Other(bytes) => bytes,
        }
    }
}

impl File {
    /// Makes a plain, not executable file.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> File {
        let bytes = match String::from_utf8(bytes.into().into_vec()) {
            Ok(text) => Bytes::Text(Arc::from(text)),
            Err(error) => Bytes::Other(error.into_bytes().into()),
        };
        let content = Content {
            bytes,
            outline: OnceLock::new(),
            manifests: OnceLock::new(),
            yaml: OnceLock::new(),
            is_aliased: OnceLock::new(),
            sha1: OnceLock::new(),
            sha256: OnceLock::new(),
        };
        File::of(Arc::new(content))
    }

    fn of(content: Arc<Content>) -> File {
        File { place: Arc::new(Place { content, list: OnceLock::new() }), executable: false }
    }

    fn content(&self) -> &Content {
        &self.place.content
    }

    /// Makes it executable, or not.
    #[must_use]
    pub fn with_mode(self, executable: bool) -> File {
        File { executable, ..self }
    }

    /// Returns the content.
    pub fn bytes(&self) -> &[u8] {
        self.content().bytes()
    }

    /// Returns the content as text where it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        match &self.content().bytes {
            Bytes::Text(text) => Some(text),
            Bytes::Other(_) => None,
        }
    }

    /// As [`text`](File::text), for whoever keeps it.
    pub fn shared_text(&self) -> Option<Arc<str>> {
        match &self.content().bytes {
            Bytes::Text(text) => Some(Arc::clone(text)),
            Bytes::Other(_) => None,
        }
    }

    /// Returns whether the content holds a word.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        let is_there = |bytes: &[u8]| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        self.text().map_or_else(|| is_there(self.bytes()), |text| text.contains(word))
    }

    /// Returns the kustomization that it is at a path, parsed once for all trees that hold it there.
    pub(super) fn list_at(&self, path: &RepoPath, parse: impl Fn() -> Parsed) -> Parsed {
        let (at, list) = self.place.list.get_or_init(|| (path.clone(), parse()));
        if at == path { list.clone() } else { parse() }
    }

    /// Returns what a kustomization of this content holds wherever it stands, read by `read` once for all.
    pub(super) fn outline_by(&self, read: impl FnOnce() -> Outline) -> &Outline {
        self.content().outline.get_or_init(read)
    }

    /// Returns its documents, read by `read` once for all who ask.
    pub(super) fn manifests_by(&self, read: impl FnOnce() -> Option<Vec<Manifest>>) -> Option<&[Manifest]> {
        self.content().manifests.get_or_init(read).as_deref()
    }

    /// Returns whether it is YAML text in which no mapping holds a key twice.
    pub fn is_yaml(&self) -> bool {
        self.yaml() != Yaml::No
    }

    /// Returns whether kustomize takes it for a file of resources: YAML text of which each document that is not empty has a `kind`,
    /// and a name where it is no list (kyaml, `resid` and `Factory.makeOne`).
    pub(crate) fn is_resources(&self) -> bool {
        self.yaml() == Yaml::Resources
    }

    fn yaml(&self) -> Yaml {
        *self.content().yaml.get_or_init(|| {
            let documents = self.text().and_then(|text| read_documents(text).ok());
            let Some(documents) = documents.filter(|all| all.iter().all(|one| one.duplicates.is_empty()))
            else {
                return Yaml::No;
            };
            let mut roots = documents.iter().map(|document| &document.root).filter(|root| !root.is_null());
            if roots.all(is_resource) { Yaml::Resources } else { Yaml::Other }
        })
    }

    /// Returns whether it is YAML text whose aliases stand for more than [`ALIASED_NODES`](crate::limit::ALIASED_NODES).
    pub(crate) fn is_aliased(&self) -> bool {
        let read = || {
            let text = self.text().filter(|text| text.contains('&') && text.contains('*'));
            text.is_some_and(|text| read_documents(text).is_err_and(|error| error.is_of_aliases()))
        };
        *self.content().is_aliased.get_or_init(read)
    }

    /// Returns the digest of the content.
    pub(crate) fn sha256(&self) -> &[u8; 32] {
        self.content().sha256.get_or_init(|| Sha256::digest(self.bytes()).into())
    }

    /// Returns whether git gives the content this name: a SHA-1, or a SHA-256 where names have 64 digits.
    pub(super) fn is_named(&self, object: &str) -> bool {
        let header = || format!("blob {}\0", self.bytes().len());
        if object.len() == 64 {
            return is_hex(
                object,
                &Sha256::new().chain_update(header()).chain_update(self.bytes()).finalize(),
            );
        }
        let sha1 = || Sha1::new().chain_update(header()).chain_update(self.bytes()).finalize().into();
        is_hex(object, self.content().sha1.get_or_init(sha1))
    }
}

/// Returns whether a text is bytes in hexadecimal digits, as git writes them.
fn is_hex(text: &str, bytes: &[u8]) -> bool {
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
    let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.eq(text.bytes())
}

impl PartialEq for File {
    fn eq(&self, other: &File) -> bool {
        self.executable == other.executable
            && (Arc::ptr_eq(&self.place.content, &other.place.content) || self.bytes() == other.bytes())
    }
}

impl Eq for File {}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let File { executable, .. } = self;
        f.debug_struct("File").field("bytes", &self.bytes()).field("executable", executable).finish()
    }
}

/// What a file is to kustomize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Yaml {
    /// No YAML text, or one in which a mapping holds a key twice.
    No,
    /// YAML, but no resources.
    Other,
    /// Resources, or nothing but comments.
    Resources,
}

/// Returns whether kustomize takes a document for a resource.
fn is_resource(root: &Node) -> bool {
    let text = |node: Option<&Node>| node.and_then(Node::as_str).is_some_and(|text| !text.is_empty());
    let name = |field: &str| text(root.get("metadata").and_then(|metadata| metadata.get(field)));
    let is_list = root.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"));
    text(root.get("kind")) && (is_list || name("name") || name("generateName"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{Graph, Snapshot};

    #[test]
    fn a_list_of_two_trees_is_parsed_once_and_for_each_path() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let file = File::new(&b"resources: [x.yaml]\n"[..]);
        let tree = |places: &[&str]| {
            let mut snapshot = Snapshot::default();
            places.iter().for_each(|place| snapshot.insert(path(place), file.clone().with_mode(true)));
            Graph::read(&snapshot)
        };
        let (one, other) =
            (tree(&["a/kustomization.yaml"]), tree(&["a/kustomization.yaml", "b/Kustomization"]));
        assert!(std::ptr::eq(one.get(&path("a")).unwrap(), other.get(&path("a")).unwrap()));
        assert_eq!(other.get(&path("b")).unwrap().resources()[0].path(), Some(&path("b/x.yaml")));
    }

    #[test]
    fn files_of_the_same_bytes_share_what_they_mean_and_no_place() {
        let mut contents = Contents::default();
        let (one, other) =
            (contents.file(b"resources: [x]\n".into()), contents.file(b"resources: [x]\n".into()));
        assert!(Arc::ptr_eq(&one.place.content, &other.place.content));
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(path("a/kustomization.yaml"), one.with_mode(true));
        snapshot.insert(path("b/kustomization.yaml"), other);
        let graph = Graph::read(&snapshot);
        let of = |folder: &str| graph.get(&path(folder)).unwrap();
        assert!(Arc::ptr_eq(&of("a").root, &of("b").root));
        assert_eq!(of("a").resources()[0].path(), Some(&path("a/x")));
        assert_eq!(of("b").resources()[0].path(), Some(&path("b/x")));
        assert!(
            contents.file(b"resources: [y]\n".into())
                != *snapshot.file(&path("b/kustomization.yaml")).unwrap()
        );
    }

    #[test]
    fn git_names_a_content_as_git_does() {
        let file = File::new(&b"a\n"[..]);
        assert!(file.is_named("78981922613b2afb6025042ff6bd878ac1994e85"));
        assert!(file.is_named("f8625e43f9e04f24291f77cdbe4c71b3c2a3b0003f60419b3ed06a058d766c8b"));
        assert!(!file.is_named("78981922613b2afb6025042ff6bd878ac1994e8") && !file.is_named(""));
    }
}
