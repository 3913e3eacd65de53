//! What an object needs of others so that it works.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use crate::check::reference::{NameReference, Part, pods, references};
use crate::repo::manifest::ObjectId;

/// The API group of CustomResourceDefinitions.
pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io";

/// The API group of HelmReleases.
const HELM: &str = "helm.toolkit.fluxcd.io";

/// One thing without which an object does not work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// An object, or a part of it.
    Named(NameReference),
    /// Pods that a Service sends to: their labels, and a port that goes by this name.
    Pods {
        /// `spec.selector`.
        labels: BTreeMap<String, String>,
        /// A `targetPort` that is a name.
        port: Option<String>,
    },
    /// A version of a kind that a CustomResourceDefinition serves.
    Version {
        /// The API group.
        group: String,
        /// The version.
        version: String,
        /// The kind.
        kind: String,
    },
}

impl Need {
    /// Returns the keys that lead to where an object says it.
    pub(crate) fn path(&self) -> &[&'static str] {
        match self {
            Need::Named(reference) => &reference.path,
            Need::Pods { .. } => &["spec", "selector"],
            Need::Version { .. } => &["apiVersion"],
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Named(reference) => reference.fmt(f),
            Need::Pods { labels, port } => {
                let labels: Vec<String> =
                    labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let port = port.as_ref().map(|port| format!(" and port `{port}`")).unwrap_or_default();
                write!(f, "pods with {}{port}", labels.join(","))
            }
            Need::Version { group, version, kind } => write!(f, "version {version} of {kind}.{group}"),
        }
    }
}

/// Returns what an object can't do without.
///
/// Whether the cluster has something that Git does not bring is not known: what no state of Git meets says nothing.
pub(crate) fn needs(object: &Value) -> Vec<Need> {
    let named = references(object).into_iter().filter(|reference| !reference.optional);
    let mut found: Vec<Need> = named.map(Need::Named).collect();
    let id = ObjectId::of(object);
    if id.kind == "HelmRelease" && id.group == HELM {
        let sources = object["spec"]["valuesFrom"].as_array().into_iter().flatten();
        found.extend(
            sources.filter(|source| source["optional"] != true).filter_map(|source| values(&id, source)),
        );
    }
    if id.kind == "Service" && id.group.is_empty() {
        found.extend(selected(&object["spec"]));
    }
    let version = object["apiVersion"].as_str().and_then(|text| text.split_once('/'));
    if let Some((group, version)) = version {
        let [group, version, kind] = [group, version, &id.kind].map(str::to_owned);
        found.push(Need::Version { group, version, kind });
    }
    found
}

/// Returns what a HelmRelease takes its values from (helm-controller, `composeValues`).
fn values(release: &ObjectId, source: &Value) -> Option<Need> {
    let text = |field: &str| source[field].as_str().filter(|text| !text.contains('$')).map(str::to_owned);
    Some(Need::Named(NameReference {
        group: String::new(),
        kind: text("kind")?,
        namespace: release.namespace.clone(),
        name: text("name")?,
        optional: false,
        path: vec!["spec", "valuesFrom"],
        part: Part::Key(text("valuesKey").unwrap_or_else(|| "values.yaml".to_owned())),
    }))
}

/// Returns the pods that a Service needs, once for each port that goes by a name.
fn selected(service: &Value) -> Vec<Need> {
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    let labels: Option<BTreeMap<String, String>> =
        service["selector"].as_object().and_then(|selector| selector.iter().map(text).collect());
    let Some(labels) = labels.filter(|labels| !labels.is_empty()) else { return Vec::new() };
    let ports = service["ports"].as_array().into_iter().flatten();
    let named: BTreeSet<&str> = ports.filter_map(|port| port["targetPort"].as_str()).collect();
    let named = named.into_iter().map(|port| Some(port.to_owned()));
    std::iter::once(None).chain(named).map(|port| Need::Pods { labels: labels.clone(), port }).collect()
}

/// Pods that an object makes, or is.
struct Pod<'o> {
    /// The object's position.
    object: usize,
    labels: &'o Map<String, Value>,
    spec: &'o Value,
}

/// The objects that a cluster has at one moment.
#[derive(Default)]
pub(crate) struct State<'o> {
    objects: Vec<(&'o ObjectId, &'o Value)>,
    /// Positions, by kind and name.
    by_name: BTreeMap<(&'o str, &'o str), Vec<usize>>,
    /// By namespace.
    pods: BTreeMap<&'o str, Vec<Pod<'o>>>,
    /// The positions of CustomResourceDefinitions.
    definitions: Vec<usize>,
}

impl<'o> State<'o> {
    pub(crate) fn new(objects: impl IntoIterator<Item = (&'o ObjectId, &'o Value)>) -> State<'o> {
        let mut state = State { objects: objects.into_iter().collect(), ..State::default() };
        for (position, (id, object)) in state.objects.iter().enumerate() {
            for (spec, path) in pods(object) {
                let above = path.split_last().map_or(&[][..], |(_, above)| above);
                let owner = above.iter().fold(*object, |value, key| &value[*key]);
                if let Some(labels) = owner["metadata"]["labels"].as_object() {
                    state.pods.entry(&id.namespace).or_default().push(Pod { object: position, labels, spec });
                }
            }
            if id.kind == "CustomResourceDefinition" && id.group == DEFINITIONS {
                state.definitions.push(position);
            }
            state.by_name.entry((&id.kind, &id.name)).or_default().push(position);
        }
        state
    }

    /// Returns the object that gives another one of a namespace what it needs, by the order in which they were told.
    pub(crate) fn meeting(&self, namespace: &str, need: &Need) -> Option<usize> {
        match need {
            Need::Named(reference) => {
                let named = self.by_name.get(&(reference.kind.as_str(), reference.name.as_str()));
                named.into_iter().flatten().copied().find(|position| {
                    let (id, object) = self.objects[*position];
                    reference.names(id) && reference.is_met_by(object)
                })
            }
            Need::Pods { labels, port } => {
                let mut pods = self.pods.get(namespace).into_iter().flatten();
                let fits = |pod: &&Pod<'_>| {
                    let has_label = |(key, value): (&String, &String)| {
                        pod.labels.get(key).is_some_and(|own| own == value)
                    };
                    labels.iter().all(has_label) && port.as_ref().is_none_or(|port| has_port(pod.spec, port))
                };
                pods.find(fits).map(|pod| pod.object)
            }
            Need::Version { group, version, kind } => self
                .definitions
                .iter()
                .copied()
                .find(|position| serves_version(self.objects[*position].1, group, version, kind)),
        }
    }
}

/// Returns whether a CustomResourceDefinition serves the kind of an object in its version.
pub fn serves(definition: &Value, object: &Value) -> bool {
    let text = |field: &str| object[field].as_str();
    let named = text("apiVersion").and_then(|text| text.split_once('/')).zip(text("kind"));
    named.is_some_and(|((group, version), kind)| serves_version(definition, group, version, kind))
}

fn serves_version(definition: &Value, group: &str, version: &str, kind: &str) -> bool {
    let spec = &definition["spec"];
    let is_it = |own: &Value| own["name"] == *version && own["served"] != false;
    spec["group"] == *group
        && spec["names"]["kind"] == *kind
        && spec["versions"].as_array().into_iter().flatten().any(is_it)
}

fn has_port(pod: &Value, name: &str) -> bool {
    let containers = pod["containers"].as_array().into_iter().flatten();
    let mut ports = containers.flat_map(|one| one["ports"].as_array().into_iter().flatten());
    ports.any(|port| port["name"] == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn met(objects: &[Value], user: &Value) -> Vec<String> {
        let ids: Vec<ObjectId> = objects.iter().map(ObjectId::of).collect();
        let state = State::new(ids.iter().zip(objects));
        let namespace = ObjectId::of(user).namespace;
        let said = |need: Need| {
            format!("{} {need}", if state.meeting(&namespace, &need).is_some() { '+' } else { '-' })
        };
        needs(user).into_iter().map(said).collect()
    }

    #[test]
    fn parts_of_objects_are_needed() {
        let map = json!({ "kind": "ConfigMap", "apiVersion": "v1", "metadata": { "name": "m", "namespace": "n" },
            "data": { "a": "1" }, "binaryData": { "b": "" } });
        let item = |key: &str| json!({ "valueFrom": { "configMapKeyRef": { "name": "m", "key": key } } });
        let pod = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": { "namespace": "n" },
            "spec": { "containers": [{ "env": [item("a"), item("b"), item("c"), item("${d}")] }] } });
        assert_eq!(
            met(&[map], &pod),
            [
                "+ ConfigMap m",
                "+ key `a` of ConfigMap m",
                "+ key `b` of ConfigMap m",
                "- key `c` of ConfigMap m"
            ]
        );
        let service = json!({ "kind": "Service", "apiVersion": "v1", "metadata": { "name": "s", "namespace": "n" },
            "spec": { "ports": [{ "name": "http", "port": 80 }] } });
        let to = |port: Value| json!({ "http": { "paths": [{ "backend": { "service": { "name": "s", "port": port } } }] } });
        let ingress = json!({ "kind": "Ingress", "apiVersion": "networking.k8s.io/v1", "metadata": { "namespace": "n" },
            "spec": { "rules": [to(json!({ "name": "http" })), to(json!({ "number": 80 })), to(json!({ "number": 81 }))] } });
        assert_eq!(
            met(&[service], &ingress)[..3],
            ["+ port `80` of Service s", "- port `81` of Service s", "+ port `http` of Service s"]
        );
    }

    #[test]
    fn a_service_needs_pods_and_their_ports() {
        let deployment = |namespace: &str| {
            json!({ "kind": "Deployment", "apiVersion": "apps/v1", "metadata": { "namespace": namespace, "name": "d" },
                "spec": { "template": { "metadata": { "labels": { "app": "d", "tier": "x" } },
                    "spec": { "containers": [{ "ports": [{ "name": "web" }] }] } } } })
        };
        let service = json!({ "kind": "Service", "apiVersion": "v1", "metadata": { "name": "s", "namespace": "n" },
            "spec": { "selector": { "app": "d" }, "ports": [{ "targetPort": "web" }, { "targetPort": "grpc" }, {}] } });
        assert_eq!(
            met(&[deployment("n")], &service),
            ["+ pods with app=d", "- pods with app=d and port `grpc`", "+ pods with app=d and port `web`"]
        );
        assert_eq!(met(&[deployment("other")], &service)[0], "- pods with app=d");
    }

    #[test]
    fn roles_and_versions_are_needed() {
        let role = json!({ "kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": { "name": "r" } });
        let crd = json!({ "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
            "metadata": { "name": "ws.x.io" }, "spec": { "group": "x.io", "names": { "kind": "W" },
                "versions": [{ "name": "v1", "served": true }, { "name": "v1beta1", "served": false }] } });
        let binding = json!({ "kind": "RoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": { "name": "b", "namespace": "n" }, "roleRef": { "kind": "ClusterRole", "name": "r" } });
        let objects = [role, crd];
        assert_eq!(met(&objects, &binding)[0], "+ ClusterRole r");
        let custom = |version: &str| json!({ "kind": "W", "apiVersion": format!("x.io/{version}") });
        assert_eq!(met(&objects, &custom("v1")), ["+ version v1 of W.x.io"]);
        assert_eq!(met(&objects, &custom("v1beta1")), ["- version v1beta1 of W.x.io"]);
    }
}
