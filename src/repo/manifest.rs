//! The view of a manifest file: the objects that its documents declare.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::repo::File;
use crate::repo::secret::is_cipher;
use crate::yaml::{Node, read_documents};

/// What names an object inside one build.
///
/// `namespace` is empty where none is written: an object's scope is not known from its manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace as written, or empty.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectId {
    /// Reads the id of an object.
    ///
    /// Fields that are missing count as empty, so that every object has some id.
    pub fn of(value: &Value) -> ObjectId {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let api_version = value["apiVersion"].as_str().unwrap_or_default();
        ObjectId {
            group: api_version.split_once('/').map_or("", |(group, _)| group).to_owned(),
            kind: text(&value["kind"]),
            namespace: text(&value["metadata"]["namespace"]),
            name: text(&value["metadata"]["name"]),
        }
    }

    /// Returns whether it is that of a Namespace of Kubernetes.
    pub fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.kind == "Namespace"
    }

    /// Returns whether it holds a variable of `postBuild`, so that only the cluster knows which object is meant.
    pub fn has_variable(&self) -> bool {
        self.name.contains("${") || self.namespace.contains("${")
    }
}

impl std::fmt::Display for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn shown(text: &str) -> &str {
            if is_cipher(text) { "***" } else { text }
        }
        write!(f, "{} ", shown(&self.kind))?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", shown(&self.namespace))?;
        }
        f.write_str(shown(&self.name))
    }
}

/// One document of a manifest file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its position among the documents of the file, empty ones counted.
    pub index: usize,
    /// Its bytes in the file.
    pub span: Range<usize>,
    /// The parsed document.
    pub root: Arc<Node>,
    /// The document as JSON.
    pub value: Arc<Value>,
}

impl Manifest {
    /// Returns the objects of the document, as [`objects`] does, for whoever keeps them.
    pub(crate) fn shared_objects(&self) -> impl Iterator<Item = Arc<Value>> {
        let share = |value: &Value| match std::ptr::eq(value, &*self.value) {
            true => Arc::clone(&self.value),
            false => Arc::new(value.clone()),
        };
        objects(&self.value).into_iter().map(share)
    }
}

/// Reads the objects of a file; `None` where it is no YAML text.
///
/// Empty documents are left out. A `kind: List` is given as it stands: kustomize opens it, so
/// whoever cares must look into `items`.
pub fn manifests(file: &File) -> Option<Vec<Manifest>> {
    let documents = read_documents(file.text()?).ok()?;
    Some(
        documents
            .into_iter()
            .enumerate()
            .filter(|(_, document)| !document.root.is_null())
            .map(|(index, document)| Manifest {
                index,
                span: document.span.clone(),
                value: Arc::new(document.root.to_json()),
                root: Arc::new(document.root),
            })
            .collect(),
    )
}

/// As [`manifests`], kept for whoever asks again, in another tree too: for files by which clusters are read.
pub(crate) fn kept_manifests(file: &File) -> Option<&[Manifest]> {
    file.manifests_by(|| manifests(file))
}

/// Opens lists: the objects that kustomize makes of one document.
pub fn objects(value: &Value) -> Vec<&Value> {
    let is_list = value["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    match value["items"].as_array() {
        Some(items) if is_list => items.iter().flat_map(objects).collect(),
        _ => vec![value],
    }
}
