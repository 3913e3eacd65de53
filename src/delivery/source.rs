//! Which repository a source of Flux fetches.

use serde_json::Value;

use crate::mechanism::HeldId;
use crate::repo::manifest::ObjectId;

/// The kind of what something else than source-controller makes, as ArtifactGenerators do.
pub(crate) const EXTERNAL: &str = "ExternalArtifact";

/// What names a source in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId {
    /// `GitRepository`, `OCIRepository`, `Bucket` or `ExternalArtifact`.
    pub kind: String,
    /// The namespace; empty where Git does not say it.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl SourceId {
    /// Returns the source that the `spec.sourceRef` of a Flux Kustomization in `namespace` names.
    ///
    /// A missing kind counts as `GitRepository`, a missing namespace as that of the Kustomization
    /// (kustomize-controller, `getSource`).
    pub fn of(spec: &Value, namespace: &str) -> SourceId {
        let field = |name: &str, default: &str| {
            let value = spec["sourceRef"][name].as_str().filter(|value| !value.is_empty());
            value.unwrap_or(default).to_owned()
        };
        SourceId {
            kind: field("kind", "GitRepository"),
            namespace: field("namespace", namespace),
            name: field("name", ""),
        }
    }

    /// Returns the id of a source, given its object.
    pub(super) fn of_object(value: &Value) -> SourceId {
        let ObjectId { kind, namespace, name, .. } = ObjectId::of(value);
        SourceId { kind, namespace, name }
    }

    /// Returns whether two ids may name one source: a namespace that Git does not say is any.
    pub(crate) fn is(&self, other: &SourceId) -> bool {
        let any = |namespace: &String| namespace.is_empty();
        (&self.kind, &self.name) == (&other.kind, &other.name)
            && (self.namespace == other.namespace || any(&self.namespace) || any(&other.namespace))
    }
}

impl SourceId {
    /// Returns whether it has the name of another one of its kind and namespace with something behind, as a held source has
    /// that of the one that it follows.
    pub(super) fn is_named_after(&self, other: &SourceId) -> bool {
        let rest = self.name.strip_prefix(&other.name).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some() && SourceId { name: self.name.clone(), ..other.clone() }.is(self)
    }
}

impl From<&HeldId> for SourceId {
    fn from(held: &HeldId) -> SourceId {
        let HeldId { kind, namespace, name } = held.clone();
        SourceId { kind: kind.as_str().to_owned(), namespace, name }
    }
}

/// Returns a URL without what the spellings of one repository differ in: scheme, user, port and `.git`.
pub fn bare_url(url: &str) -> String {
    let bare = url.trim_end_matches('/').trim_end_matches(".git");
    let (scheme, bare) = bare.split_once("://").unwrap_or(("", bare));
    let bare = bare.rsplit_once('@').map_or(bare, |(_, rest)| rest);
    // Only a URL has a port: `git@host:team/fleet` has a path there.
    let bare = match bare.split_once('/') {
        Some((host, path)) if !scheme.is_empty() => {
            format!("{}/{path}", host.split(':').next().unwrap_or(host))
        }
        _ => bare.replace(':', "/"),
    };
    bare.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_repository_are_one() {
        let all = [
            "https://github.com/Team/fleet",
            "https://github.com/team/fleet.git",
            "ssh://git@github.com:22/team/fleet",
            "git@github.com:team/fleet.git",
        ];
        assert!(all.iter().all(|url| bare_url(url) == "github.com/team/fleet"));
    }
}
