//! What a cluster says about its Flux Kustomizations and its gates. Read-only, and behind one interface.

mod download;
mod kubectl;
mod objects;
mod owner;

use serde_json::Value;

pub use download::{download, trusted};
pub use kubectl::Kubectl;
pub use objects::Objects;
pub use owner::{Owner, by_hand, owner};

use crate::repo::manifest::ObjectId;

/// A Flux Kustomization as the cluster has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveKustomization {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `spec.path` as written.
    pub path: String,
    /// `spec.sourceRef.kind`.
    pub source_kind: String,
    /// `spec.sourceRef.name`.
    pub source_name: String,
    /// `spec.prune`.
    pub prune: bool,
    /// `spec.deletionPolicy`; empty where it is not set.
    pub deletion_policy: String,
    /// `spec.suspend`.
    pub suspended: bool,
    /// Whether the controller has seen the last change of its `spec`.
    pub observed: bool,
    /// Whether its condition `Ready` is true, of the last change of its `spec`.
    pub ready: bool,
    /// What the condition says.
    pub message: String,
    /// `status.lastAppliedRevision`, for example `main@sha1:…`; empty before the first.
    pub revision: String,
    /// The commit that [`applied_revision`] names.
    pub commit: Option<String>,
    /// The objects of its inventory.
    pub inventory: Vec<ObjectId>,
}

impl LiveKustomization {
    /// Reads an object of the API; whatever is missing counts as empty.
    pub fn of(value: &Value) -> LiveKustomization {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (metadata, spec, status) = (&value["metadata"], &value["spec"], &value["status"]);
        let generation = metadata["generation"].as_i64();
        let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition["type"] == "Ready").unwrap_or(&Value::Null);
        let entries = status["inventory"]["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        LiveKustomization {
            namespace: text(&metadata["namespace"]),
            name: text(&metadata["name"]),
            path: text(&spec["path"]),
            source_kind: text(&spec["sourceRef"]["kind"]),
            source_name: text(&spec["sourceRef"]["name"]),
            prune: spec["prune"].as_bool().unwrap_or_default(),
            deletion_policy: text(&spec["deletionPolicy"]),
            suspended: spec["suspend"].as_bool().unwrap_or_default(),
            observed: generation.is_some() && status["observedGeneration"].as_i64() == generation,
            ready: ready["status"] == "True"
                && ready["observedGeneration"].as_i64().is_none_or(|seen| Some(seen) == generation),
            message: text(&ready["message"]),
            revision: text(&status["lastAppliedRevision"]),
            commit: commit_of(applied_revision(&text(&spec["sourceRef"]["kind"]), value)).map(str::to_owned),
            inventory: entries.iter().filter_map(|entry| object_id(entry["id"].as_str()?)).collect(),
        }
    }
}

/// Returns the commit that the revision of a GitRepository names.
///
/// A revision is written `main@sha1:HASH`, or `HASH` alone for an old source.
pub fn commit_of(revision: &str) -> Option<&str> {
    let hash = revision.rsplit(['@', ':', '/']).next()?;
    let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(hash)
}

/// Returns the revision, as a Flux Kustomization has applied it, that names a commit where one does: that of an artifact is
/// a digest, and the commit that it is made of stands beside it where `flux push artifact --revision` has said that.
pub fn applied_revision<'v>(kind: &str, kustomization: &'v Value) -> &'v str {
    let status = &kustomization["status"];
    let field = if kind == "GitRepository" { "lastAppliedRevision" } else { "lastAppliedOriginRevision" };
    status[field].as_str().unwrap_or_default()
}

/// As [`applied_revision`], of what a source has fetched: an artifact says it in its annotations (kustomize-controller,
/// `getOriginRevision`).
pub fn fetched_revision(source: &Value) -> &str {
    let artifact = &source["status"]["artifact"];
    let revision = match source["kind"].as_str() {
        Some("GitRepository") => &artifact["revision"],
        _ => &artifact["metadata"]["org.opencontainers.image.revision"],
    };
    revision.as_str().unwrap_or_default()
}

/// Reads `NAMESPACE_NAME_GROUP_KIND`, in which `__` in the name stands for a colon
/// (fluxcd/cli-utils, `object.ParseObjMetadata`).
fn object_id(text: &str) -> Option<ObjectId> {
    let (namespace, rest) = text.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    Some(ObjectId {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.replace("__", ":"),
    })
}

/// Something that can be asked for the Flux Kustomizations of a cluster.
pub trait Cluster {
    /// Lists those of every namespace.
    ///
    /// # Errors
    ///
    /// One sentence that says why the cluster gave no answer.
    fn kustomizations(&self) -> Result<Vec<LiveKustomization>, String>;

    /// Reads the objects by which it is told what gates do, with who set their fields.
    ///
    /// # Errors
    ///
    /// As [`kustomizations`](Cluster::kustomizations); what else can't be read is told in the answer.
    fn objects(&self) -> Result<Objects, String>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_of_the_api_is_read() {
        let value = json!({
            "metadata": { "name": "apps", "namespace": "flux-system", "generation": 3 },
            "spec": {
                "path": "./apps", "prune": false, "deletionPolicy": "Orphan",
                "sourceRef": { "kind": "GitRepository", "name": "fleet" },
            },
            "status": {
                "observedGeneration": 3,
                "lastAppliedRevision": "main@sha1:0123456789012345678901234567890123456789",
                "conditions": [{ "type": "Ready", "status": "True", "message": "Applied", "observedGeneration": 3 }],
                "inventory": { "entries": [{ "id": "web_web_apps_Deployment", "v": "v1" }, { "id": "_system__a_b_rbac.authorization.k8s.io_ClusterRole", "v": "v1" }] },
            },
        });
        let live = LiveKustomization::of(&value);
        assert!(live.observed && live.ready && !live.prune && !live.suspended);
        assert_eq!(live.commit.as_deref(), Some("0123456789012345678901234567890123456789"));
        assert_eq!(live.source_name, "fleet");
        let mut artifact = value.clone();
        artifact["spec"]["sourceRef"]["kind"] = json!("OCIRepository");
        artifact["status"]["lastAppliedRevision"] = json!(format!("latest@sha256:{}", "0".repeat(64)));
        assert_eq!(LiveKustomization::of(&artifact).commit, None);
        artifact["status"]["lastAppliedOriginRevision"] = json!(live.revision);
        assert_eq!(LiveKustomization::of(&artifact).commit, live.commit);
        let texts: Vec<String> = live.inventory.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["Deployment web/web", "ClusterRole system:a_b"]);
    }

    #[test]
    fn a_condition_of_an_older_spec_says_nothing() {
        let value = json!({
            "metadata": { "generation": 4 },
            "status": { "observedGeneration": 3, "conditions": [{ "type": "Ready", "status": "True", "observedGeneration": 3 }] },
        });
        let live = LiveKustomization::of(&value);
        assert!(!live.observed && !live.ready && live.commit.is_none());
    }
}
