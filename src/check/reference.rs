//! The names by which one object asks for another.

use serde_json::Value;

use crate::repo::manifest::ObjectId;

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
}

impl NameReference {
    /// Tells whether an object is what is asked for. Objects of a cluster have no namespace.
    pub fn names(&self, id: &ObjectId) -> bool {
        id.kind == self.kind && id.group == self.group && id.name == self.name && self.same_namespace(id)
    }

    /// Tells whether an object lies where this one is looked for.
    pub fn same_namespace(&self, id: &ObjectId) -> bool {
        id.namespace == self.namespace
    }
}

/// Gives the references of an object to ConfigMaps, Secrets, PersistentVolumeClaims, ServiceAccounts and
/// Services that its pods or its routing need (Kubernetes API: PodSpec, Ingress, RoleBinding, autoscaling).
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
    for path in POD_SPECS {
        if let Some(pod) = path.iter().try_fold(object, |value, key| value.get(*key))
            && (pod.get("containers").is_some() || pod.get("volumes").is_some())
        {
            found.pod(pod, path);
        }
    }
    match ObjectId::of(object) {
        ObjectId { group, kind, .. } if group == "networking.k8s.io" && kind == "Ingress" => {
            for rule in array(&object["spec"]["rules"]) {
                for path in array(&rule["http"]["paths"]) {
                    found.add("", "Service", &path["backend"]["service"]["name"], false, &["spec", "rules"]);
                }
            }
            let default = &object["spec"]["defaultBackend"]["service"]["name"];
            found.add("", "Service", default, false, &["spec", "defaultBackend"]);
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

struct Found {
    namespace: String,
    list: Vec<NameReference>,
}

impl Found {
    fn add(&mut self, group: &str, kind: &str, name: &Value, optional: bool, path: &[&'static str]) {
        let Some(name) = name.as_str().filter(|name| !name.is_empty() && !name.contains('$')) else { return };
        self.list.push(NameReference {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: self.namespace.clone(),
            name: name.to_owned(),
            optional,
            path: path.to_vec(),
        });
    }

    fn pod(&mut self, pod: &Value, path: &[&'static str]) {
        let below = |key: &'static str| [path, &[key]].concat();
        let optional = |value: &Value| value["optional"] == true;
        self.add("", "ServiceAccount", &pod["serviceAccountName"], false, &below("serviceAccountName"));
        for volume in array(&pod["volumes"]) {
            let at = below("volumes");
            self.config(volume, &at);
            let claim = &volume["persistentVolumeClaim"]["claimName"];
            self.add("", "PersistentVolumeClaim", claim, false, &at);
            for source in array(&volume["projected"]["sources"]) {
                self.config(source, &at);
                self.add("", "Secret", &source["secret"]["name"], optional(&source["secret"]), &at);
            }
        }
        for secret in array(&pod["imagePullSecrets"]) {
            self.add("", "Secret", &secret["name"], true, &below("imagePullSecrets"));
        }
        for key in ["containers", "initContainers"] {
            let at = below(key);
            for container in array(&pod[key]) {
                for source in array(&container["envFrom"]) {
                    for (field, kind) in [("configMapRef", "ConfigMap"), ("secretRef", "Secret")] {
                        self.add("", kind, &source[field]["name"], optional(&source[field]), &at);
                    }
                }
                for variable in array(&container["env"]) {
                    for (field, kind) in [("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")] {
                        let source = &variable["valueFrom"][field];
                        self.add("", kind, &source["name"], optional(source), &at);
                    }
                }
            }
        }
    }

    fn config(&mut self, volume: &Value, path: &[&'static str]) {
        let map = &volume["configMap"];
        self.add("", "ConfigMap", &map["name"], map["optional"] == true, path);
        let secret = &volume["secret"];
        self.add("", "Secret", &secret["secretName"], secret["optional"] == true, path);
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
