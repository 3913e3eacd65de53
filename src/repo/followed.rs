//! What a source follows, and what is not read here since its source follows something else.

use std::fmt;

use serde_json::Value;

/// The fields of `spec.ref`, the first that is there decides (source-controller, docs/spec/v1/gitrepositories.md and
/// ocirepositories.md).
const FIELDS: [&str; 6] = ["commit", "digest", "name", "semver", "tag", "branch"];

/// The field of a source's `spec.ref` that decides, with its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Followed {
    /// The field; `branch` or `tag` also where `name` says such a one.
    pub field: &'static str,
    /// Its value.
    pub value: String,
}

impl Followed {
    /// Returns what a source of a kind follows, by its `spec`: without a `ref` it is the one that source-controller takes.
    pub fn of(kind: &str, spec: &Value) -> Followed {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let said = FIELDS.into_iter().find_map(|field| Some((field, text(&spec["ref"][field])?)));
        let (field, value) = said.unwrap_or_else(|| match kind {
            "OCIRepository" => ("tag", "latest".to_owned()),
            _ => ("branch", "master".to_owned()),
        });
        let named = |prefix: &str| value.strip_prefix(prefix).filter(|_| field == "name").map(str::to_owned);
        match (named("refs/heads/"), named("refs/tags/")) {
            (Some(value), _) => Followed { field: "branch", value },
            (_, Some(value)) => Followed { field: "tag", value },
            _ => Followed { field, value },
        }
    }

    /// Returns whether no commit arrives by it before somebody names another one, or makes a release. A branch goes on by itself,
    /// and so does the tag of an artifact, which is pushed anew.
    pub fn is_fixed(&self, kind: &str) -> bool {
        match self.field {
            "commit" | "digest" | "semver" => true,
            "tag" => kind == "GitRepository",
            _ => false,
        }
    }
}

impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.field, self.value)
    }
}

/// A source of this repository that follows another revision than the root which brings it: what reads it does not build
/// the files that the root does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherRevision {
    /// The name of the GitRepository.
    pub source: String,
    /// What it follows.
    pub follows: Followed,
    /// The name of the Flux Kustomization that applies the root.
    pub root: String,
    /// What the source of that follows.
    pub of_root: Followed,
}

impl fmt::Display for OtherRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OtherRevision { source, follows, root, of_root } = self;
        write!(f, "GitRepository {source} follows {follows}, and {root}, which brings it, {of_root}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_revision_may_be_written_in_several_ways() {
        let of = |reference: Value| Followed::of("GitRepository", &json!({ "ref": reference })).to_string();
        assert_eq!(of(json!(null)), "branch `master`");
        assert_eq!(of(json!({ "branch": "main" })), of(json!({ "name": "refs/heads/main" })));
        assert_eq!(of(json!({ "tag": "v1" })), of(json!({ "name": "refs/tags/v1", "branch": "main" })));
        assert_eq!(of(json!({ "branch": "main", "semver": "1.x", "tag": "v1" })), "semver `1.x`");
        assert_eq!(of(json!({ "branch": "main", "commit": "abc" })), "commit `abc`");
        assert_eq!(of(json!({ "name": "refs/pull/1/head" })), "name `refs/pull/1/head`");
    }

    #[test]
    fn a_tag_of_git_is_fixed_and_that_of_an_artifact_is_not() {
        let is_fixed =
            |kind: &str, reference: Value| Followed::of(kind, &json!({ "ref": reference })).is_fixed(kind);
        for (git, oci, reference) in [
            (true, false, json!({ "tag": "v1" })),
            (true, false, json!({ "name": "refs/tags/v1" })),
            (true, true, json!({ "semver": ">=1.0.0" })),
            (true, true, json!({ "commit": "abc", "branch": "main" })),
            (true, true, json!({ "digest": "sha256:abc" })),
            (false, false, json!({ "branch": "main" })),
            (false, false, json!({ "name": "refs/heads/main" })),
            (false, false, json!(null)),
        ] {
            assert_eq!(
                (is_fixed("GitRepository", reference.clone()), is_fixed("OCIRepository", reference.clone())),
                (git, oci),
                "{reference}"
            );
        }
    }
}
