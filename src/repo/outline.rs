//! What the text of a kustomization holds, whatever file it stands in.

use std::ops::Range;
use std::sync::Arc;

use crate::path::RepoPath;
use crate::yaml::{Node, ReadError, read_documents};

/// The root mapping of a kustomization, or why there is none: what does not depend on where it stands.
pub(super) type Outline = Result<Arc<Node>, Flaw>;

/// What is wrong with the text of a kustomization.
pub(super) enum Flaw {
    /// It is no YAML.
    Invalid(ReadError),
    /// A second document is there.
    Several(Range<usize>),
    /// The root is no mapping.
    NoMapping(Range<usize>),
    /// A key stands twice.
    Doubled(String, Range<usize>),
}

impl Flaw {
    /// Returns what people are told of a file: the problem, its place, and what helps.
    pub(super) fn told(&self, file: &RepoPath) -> (String, Range<usize>, &'static str) {
        match self {
            Flaw::Invalid(error) => (
                format!("{file} is not valid YAML: {}", error.message),
                error.span.clone(),
                "mend the file; `kustomize build` may fail on it too",
            ),
            Flaw::Several(span) => (
                format!("{file} holds more than one YAML document. kustomize reads the first alone"),
                span.clone(),
                "keep one kustomization in a file",
            ),
            Flaw::NoMapping(span) => {
                let message = format!("{file} is not a mapping, so it is no kustomization");
                (message, span.clone(), "write `resources:` with a list")
            }
            Flaw::Doubled(key, span) => (
                format!("the key `{key}` stands twice; kustomize silently takes the last"),
                span.clone(),
                "merge the two into one",
            ),
        }
    }
}

/// Reads the text of a kustomization.
pub(super) fn outline(text: &str) -> Outline {
    let documents = read_documents(text).map_err(Flaw::Invalid)?;
    // Flux builds an empty list to nothing, and kustomize tells where it needs one (fluxcd/pkg/kustomize,
    // `Generator.GenerateManifest`).
    let nothing = documents.first().map_or_else(Node::nothing, |document| document.root.clone());
    let mut documents = documents.into_iter().filter(|document| !document.root.is_null());
    let root = documents.next().map_or(nothing, |document| document.root);
    if let Some(second) = documents.next() {
        return Err(Flaw::Several(second.root.span));
    }
    if !root.is_null() && root.as_mapping().is_none() {
        return Err(Flaw::NoMapping(root.span));
    }
    match doubled_key(&root) {
        Some((key, span)) => Err(Flaw::Doubled(key, span)),
        None => Ok(Arc::new(root)),
    }
}

fn doubled_key(root: &Node) -> Option<(String, Range<usize>)> {
    let mut seen: Vec<String> = Vec::new();
    for (key, _) in root.entries() {
        let name = key.as_str()?.to_lowercase();
        if seen.contains(&name) {
            return Some((name, key.span.clone()));
        }
        seen.push(name);
    }
    None
}
