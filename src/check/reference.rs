//! The names by which one object asks for another.

use std::fmt;

use serde_json::Value;

use crate::repo::manifest::ObjectId;

/// What of an object is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// That it is there.
    Whole,
    /// A key of its data.
    Key(String),
    /// A port of a Service, by its name or number.
    Port(String),
}

/// One object's word for another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameReference {
    /// The API group of what is asked for.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, as far as the manifests say it; empty for one that is not written.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whether the object works without it.
    pub optional: bool,
    /// The keys that lead to the name, for as far as they are mappings.
    pub path: Vec<&'static str>,
    /// What of it is asked for.
    pub part: Part,
}

impl NameReference {
    /// Returns whether an object is what is asked for. Objects of a cluster have no namespace.
    pub fn names(&self, id: &ObjectId) -> bool {
        id.kind == self.kind && id.group == self.group && id.name == self.name && self.same_namespace(id)
    }

    /// Returns whether an object that is [named](NameReference::names) has what is asked for.
    pub fn is_met_by(&self, object: &Value) -> bool {
        let has_key = |key: &str| {
            let maps = ["data", "binaryData", "stringData"];
            maps.iter().any(|map| object[map].get(key).is_some())
        };
        let has_port = |wanted: &str| {
            let number = wanted.parse().ok();
            let is_it =
                |port: &Value| port["name"] == wanted || number.is_some() && port["port"].as_u64() == number;
            array(&object["spec"]["ports"]).any(is_it)
        };
        match &self.part {
            Part::Whole => true,
            Part::Key(key) => has_key(key),
            Part::Port(port) => has_port(port),
        }
    }

    /// Returns whether an object lies where this one is looked for.
    pub fn same_namespace(&self, id: &ObjectId) -> bool {
        id.namespace == self.namespace
    }
}

impl fmt::Display for NameReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = format!("{} {}", self.kind, self.name);
        match &self.part {
            Part::Whole => f.write_str(&whole),
            Part::Key(key) => write!(f, "key `{key}` of {whole}"),
            Part::Port(port) => write!(f, "port `{port}` of {whole}"),
        }
    }
}

/// Returns the references of an object to ConfigMaps, Secrets, PersistentVolumeClaims, ServiceAccounts, Services, Roles
/// and ClusterRoles that its pods, its routing or its rights need (Kubernetes API: PodSpec, Ingress, RoleBinding,
/// autoscaling; Gateway API: HTTPRoute).
///
/// ```
/// use gitops_windows::check::references;
/// let pod = serde_json::json!({ "kind": "Pod", "apiVersion": "v1", "metadata": { "namespace": "shop" },
///     "spec": { "volumes": [{ "name": "x", "configMap": { "name": "settings" } }] } });
/// let found = references(&pod);
/// assert_eq!((found[0].kind.as_str(), found[0].name.as_str()), ("ConfigMap", "settings"));
/// ```
pub fn references(object: &Value) -> Vec<NameReference> {
    let mut found = Found { namespace: ObjectId::of(object).namespace, list: Vec::new() };
    for (pod, path) in pods(object) {
        found.pod(pod, path);
    }
    match ObjectId::of(object) {
        ObjectId { group, kind, .. } if group == "networking.k8s.io" && kind == "Ingress" => {
            for rule in array(&object["spec"]["rules"]) {
                for path in array(&rule["http"]["paths"]) {
                    found.service(&path["backend"]["service"], &["spec", "rules"]);
                }
            }
            found.service(&object["spec"]["defaultBackend"]["service"], &["spec", "defaultBackend"]);
        }
        ObjectId { group, kind, .. } if group == "gateway.networking.k8s.io" && kind.ends_with("Route") => {
            for rule in array(&object["spec"]["rules"]) {
                let backends = array(&rule["backendRefs"]);
                let near = |backend: &&Value| backend["namespace"].is_null() && backend["group"].is_null();
                for backend in backends.filter(near).filter(|backend| backend["kind"].is_null()) {
                    let part = port(&backend["port"]);
                    found.add_part("", "Service", &backend["name"], part, false, &["spec", "rules"]);
                }
            }
        }
        ObjectId { group, kind, .. } if group == RBAC && kind.ends_with("RoleBinding") => {
            let (role, path) = (&object["roleRef"], ["roleRef", "name"]);
            if let Some(kind @ ("Role" | "ClusterRole")) = role["kind"].as_str() {
                found.add(RBAC, kind, &role["name"], false, &path);
            }
        }
        ObjectId { group, kind, .. } if group == "autoscaling" && kind == "HorizontalPodAutoscaler" => {
            let target = &object["spec"]["scaleTargetRef"];
            if let Some(kind) = target["kind"].as_str() {
                let group = target["apiVersion"].as_str().and_then(|version| version.split_once('/'));
                let group = group.map_or("", |(group, _)| group);
                found.add(group, kind, &target["name"], false, &["spec", "scaleTargetRef", "name"]);
            }
        }
        _ => {}
    }
    found.list.sort();
    found.list.dedup();
    found.list
}

/// Where workloads keep the spec of their pods.
const POD_SPECS: [&[&str]; 3] =
    [&["spec"], &["spec", "template", "spec"], &["spec", "jobTemplate", "spec", "template", "spec"]];

/// The API group of roles and their bindings.
const RBAC: &str = "rbac.authorization.k8s.io";

/// Returns the specs of an object's pods, each with the keys that lead to it; an object may look like several.
pub(crate) fn pods(object: &Value) -> impl Iterator<Item = (&Value, &'static [&'static str])> {
    let specs = POD_SPECS
        .into_iter()
        .filter_map(move |path| Some((path.iter().try_fold(object, |value, key| value.get(*key))?, path)));
    specs.filter(|(pod, _)| pod.get("containers").is_some() || pod.get("volumes").is_some())
}

fn key(value: &Value) -> Part {
    text(value).map_or(Part::Whole, Part::Key)
}

fn port(value: &Value) -> Part {
    value.as_u64().map(|number| number.to_string()).or_else(|| text(value)).map_or(Part::Whole, Part::Port)
}

/// Returns a text that `postBuild` leaves as it is.
fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty() && !text.contains('$')).map(str::to_owned)
}

struct Found {
    namespace: String,
    list: Vec<NameReference>,
}

impl Found {
    fn add(&mut self, group: &str, kind: &str, name: &Value, optional: bool, path: &[&'static str]) {
        self.add_part(group, kind, name, Part::Whole, optional, path);
    }

    fn add_part(
        &mut self,
        group: &str,
        kind: &str,
        name: &Value,
        part: Part,
        optional: bool,
        path: &[&'static str],
    ) {
        let Some(name) = text(name) else { return };
        let namespace = if kind == "ClusterRole" { String::new() } else { self.namespace.clone() };
        self.list.push(NameReference {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace,
            name,
            optional,
            path: path.to_vec(),
            part,
        });
    }

    fn service(&mut self, service: &Value, path: &[&'static str]) {
        let own = &service["port"];
        let part = port(if own["number"].is_null() { &own["name"] } else { &own["number"] });
        self.add_part("", "Service", &service["name"], part, false, path);
    }

    fn pod(&mut self, pod: &Value, path: &[&'static str]) {
        let below = |key: &'static str| [path, &[key]].concat();
        let optional = |value: &Value| value["optional"] == true;
        self.add("", "ServiceAccount", &pod["serviceAccountName"], false, &below("serviceAccountName"));
        for volume in array(&pod["volumes"]) {
            let at = below("volumes");
            self.config(volume, &at);
            self.mounted(pod, volume, &at);
            let claim = &volume["persistentVolumeClaim"]["claimName"];
            self.add("", "PersistentVolumeClaim", claim, false, &at);
            for source in array(&volume["projected"]["sources"]) {
                self.config(source, &at);
                self.volume("Secret", &source["secret"], "name", &at);
            }
        }
        for secret in array(&pod["imagePullSecrets"]) {
            self.add("", "Secret", &secret["name"], true, &below("imagePullSecrets"));
        }
        for list in ["containers", "initContainers"] {
            let at = below(list);
            for container in array(&pod[list]) {
                for source in array(&container["envFrom"]) {
                    for (field, kind) in [("configMapRef", "ConfigMap"), ("secretRef", "Secret")] {
                        self.add("", kind, &source[field]["name"], optional(&source[field]), &at);
                    }
                }
                for variable in array(&container["env"]) {
                    for (field, kind) in [("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")] {
                        let source = &variable["valueFrom"][field];
                        let part = key(&source["key"]);
                        self.add_part("", kind, &source["name"], part, optional(source), &at);
                    }
                }
            }
        }
    }

    /// Adds the keys that containers mount by `subPath` from a volume that lists no items: each is a file of it.
    fn mounted(&mut self, pod: &Value, volume: &Value, path: &[&'static str]) {
        let containers = ["containers", "initContainers"].into_iter().flat_map(|list| array(&pod[list]));
        let mounts = containers.flat_map(|container| array(&container["volumeMounts"]));
        let own = mounts.filter(|mount| text(&mount["name"]).is_some() && mount["name"] == volume["name"]);
        for key in own.filter_map(|mount| text(&mount["subPath"]).filter(|key| !key.contains('/'))) {
            for (kind, field, name) in
                [("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName")]
            {
                let source = &volume[field];
                if source["items"].is_null() {
                    let (part, optional) = (Part::Key(key.clone()), source["optional"] == true);
                    self.add_part("", kind, &source[name], part, optional, path);
                }
            }
        }
    }

    fn config(&mut self, volume: &Value, path: &[&'static str]) {
        self.volume("ConfigMap", &volume["configMap"], "name", path);
        self.volume("Secret", &volume["secret"], "secretName", path);
    }

    /// Adds what a volume mounts: its object, and each key that it names.
    fn volume(&mut self, kind: &str, source: &Value, name: &str, path: &[&'static str]) {
        let optional = source["optional"] == true;
        let parts = array(&source["items"]).map(|item| key(&item["key"]));
        for part in std::iter::once(Part::Whole).chain(parts) {
            self.add_part("", kind, &source[name], part, optional, path);
        }
    }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(pod: Value) -> Vec<String> {
        let object = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "n" },
            "spec": { "template": { "spec": pod } } });
        references(&object).into_iter().map(|found| format!("{} {}", found.kind, found.name)).collect()
    }

    #[test]
    fn pods_need_what_they_mount_and_read() {
        let found = of(json!({
            "serviceAccountName": "runner",
            "volumes": [
                { "configMap": { "name": "a" } }, { "secret": { "secretName": "b" } },
                { "persistentVolumeClaim": { "claimName": "c" } },
                { "projected": { "sources": [{ "configMap": { "name": "d" } }, { "secret": { "name": "e" } }] } },
            ],
            "containers": [{ "envFrom": [{ "configMapRef": { "name": "f" } }],
                "env": [{ "valueFrom": { "secretKeyRef": { "name": "g", "key": "k" } } }] }],
        }));
        assert_eq!(
            found,
            [
                "ConfigMap a",
                "ConfigMap d",
                "ConfigMap f",
                "PersistentVolumeClaim c",
                "Secret b",
                "Secret e",
                "Secret g",
                "ServiceAccount runner"
            ]
        );
    }

    #[test]
    fn other_texts_are_no_references() {
        assert_eq!(
            of(json!({ "containers": [{ "env": [{ "name": "x", "value": "a" }] }] })),
            Vec::<String>::new()
        );
        assert_eq!(references(&json!({ "kind": "ConfigMap", "data": { "name": "a" } })), []);
        assert_eq!(references(&json!(null)), []);
    }
}
