//! Kinds that stand in no namespace.

use std::collections::BTreeSet;

use crate::repo::Snapshot;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::{ObjectId, manifests, objects};

/// The kinds of Kubernetes itself (`kubectl api-resources --namespaced=false`), each with its API group.
const KINDS: [(&str, &str); 30] = [
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
];

/// The kinds that stand in no namespace: those of Kubernetes, and those of the CustomResourceDefinitions in a repository.
///
/// Of a kind that is neither nothing is known: whatever namespace is built counts.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    defined: BTreeSet<(String, String)>,
}

impl Scopes {
    /// Looks up the definitions of the kinds of some objects.
    pub fn of<'i>(snapshots: &[&Snapshot], ids: impl Iterator<Item = &'i ObjectId>) -> Scopes {
        // Groups without a dot are those of Kubernetes.
        let ids = ids.filter(|id| id.group.contains('.') && !id.namespace.is_empty() && !is_built_in(id));
        let wanted: BTreeSet<(&str, &str)> = ids.map(|id| (id.group.as_str(), id.kind.as_str())).collect();
        let mut defined = BTreeSet::new();
        let files =
            snapshots.iter().flat_map(|snapshot| snapshot.entries().map(move |(path, _)| (snapshot, path)));
        let texts = files
            .filter(|(_, path)| !wanted.is_empty() && is_yaml(path))
            .filter_map(|(snapshot, path)| snapshot.file(path));
        for file in texts {
            let speaks = |text: &str| {
                text.contains("scope: Cluster")
                    && text.contains("CustomResourceDefinition")
                    && wanted.iter().any(|(group, kind)| text.contains(group) && text.contains(kind))
            };
            if !file.text().is_some_and(speaks) {
                continue;
            }
            let documents = manifests(file).unwrap_or_default();
            let all = documents.iter().flat_map(|manifest| objects(&manifest.value));
            for definition in all.filter(|value| value["kind"] == "CustomResourceDefinition") {
                let spec = &definition["spec"];
                if let ("Cluster", Some(group), Some(kind)) = (
                    spec["scope"].as_str().unwrap_or_default(),
                    spec["group"].as_str(),
                    spec["names"]["kind"].as_str(),
                ) {
                    defined.insert((group.to_owned(), kind.to_owned()));
                }
            }
        }
        Scopes { defined }
    }

    /// Returns an id as the cluster knows it: without the namespace that Kubernetes drops.
    pub fn placed(&self, id: &ObjectId) -> ObjectId {
        let is_of_cluster = is_built_in(id) || self.defined.contains(&(id.group.clone(), id.kind.clone()));
        let namespace = if is_of_cluster { String::new() } else { id.namespace.clone() };
        ObjectId { namespace, ..id.clone() }
    }
}

fn is_built_in(id: &ObjectId) -> bool {
    KINDS.contains(&(id.group.as_str(), id.kind.as_str()))
}
