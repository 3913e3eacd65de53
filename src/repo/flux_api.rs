//! What a cluster's API server takes of Flux Kustomizations, as far as Git says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::flux::{API_VERSION, GROUP};
use crate::repo::manifest::{kept_manifests, objects};
use crate::repo::{File, Snapshot};

/// The fields of `spec` that came after Flux 2.0, with the minor version of Flux 2 that brought them
/// (kustomize-controller, `config/crd/bases` of v1.0.0 to v1.9.0).
const SINCE: [(&str, u64); 7] = [
    ("namePrefix", 3),
    ("nameSuffix", 3),
    ("deletionPolicy", 5),
    ("healthCheckExprs", 5),
    ("ignoreMissingComponents", 7),
    ("buildMetadata", 9),
    ("ignore", 9),
];

/// Which minor version of Flux 2 first served versions of its other kinds; an empty kind stands for all of a group (CHANGELOG of
/// the controllers).
const SERVED: [(&str, &str, u64); 8] = [
    ("kustomize.toolkit.fluxcd.io/v1", "", 0),
    ("source.toolkit.fluxcd.io/v1", "GitRepository", 0),
    ("source.toolkit.fluxcd.io/v1", "OCIRepository", 6),
    ("source.toolkit.fluxcd.io/v1", "Bucket", 4),
    ("source.toolkit.fluxcd.io/v1", "", 3),
    ("notification.toolkit.fluxcd.io/v1", "Receiver", 0),
    ("helm.toolkit.fluxcd.io/v2", "", 3),
    ("image.toolkit.fluxcd.io/v1", "", 7),
];

/// What the API groups of Flux end in.
const TOOLKIT: &str = ".toolkit.fluxcd.io";

/// The versions that there are, the newest first; what generated files say has not changed between them (kustomize-controller,
/// `config/crd/bases`).
const VERSIONS: [&str; 3] =
    [API_VERSION, "kustomize.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1beta1"];

/// The API of Flux Kustomizations in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct FluxApi {
    /// The version of Flux, as `v2.3.0`; empty where Git does not say it.
    pub version: String,
    /// The file that says it.
    pub place: Place,
    known: Known,
    /// The versions that are served of each kind of Flux which the same file defines, by group and kind.
    kinds: Arc<BTreeMap<(String, String), BTreeSet<String>>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Known {
    /// The schemas of the versions that are served, by the names of these.
    Schemas(BTreeMap<String, Value>),
    /// The minor version of Flux 2 that a FluxInstance asks for.
    Minor(u64),
}

impl FluxApi {
    /// The version of Flux that first serves v1 of the API, as a remedy says it (flux2, release v2.0.0).
    pub const WITH_V1: &str = "2.0 or later";

    /// Returns the APIs that files of a tree declare, each with its file.
    pub fn declared(snapshot: &Snapshot) -> Vec<(RepoPath, FluxApi)> {
        let mut found = Vec::new();
        for (path, file) in snapshot.entries().filter_map(|(path, _)| Some((path, snapshot.file(path)?))) {
            if !crate::repo::flux::is_yaml(path) || !may_declare(file) {
                continue;
            }
            let manifests = || kept_manifests(file).into_iter().flatten();
            let all = manifests().flat_map(|manifest| objects(&manifest.value));
            let kinds = Arc::new(all.filter_map(served).collect::<BTreeMap<_, _>>());
            for manifest in manifests() {
                let text = file.shared_text().unwrap_or_default();
                let place = Place::span(path.clone(), text, manifest.span.clone());
                let own = objects(&manifest.value).into_iter();
                let apis = own.filter_map(|value| of_definition(value, &place));
                found.extend(apis.map(|api| (path.clone(), FluxApi { kinds: kinds.clone(), ..api })));
            }
        }
        found
    }

    /// Returns the API of the `spec.distribution.version` of a FluxInstance, where that names a minor version: `2.x` means
    /// the newest (flux-operator, docs/api/v1/fluxinstance.md).
    pub fn of_distribution(version: &str, place: Place) -> Option<FluxApi> {
        let minor = version.trim_start_matches('v').strip_prefix("2.")?.split('.').next()?.parse().ok()?;
        Some(FluxApi {
            version: version.to_owned(),
            place,
            known: Known::Minor(minor),
            kinds: Arc::default(),
        })
    }

    /// Returns whether a version of one of Flux's kinds is served; `None` where Git does not say it.
    pub fn serves_kind(&self, api_version: &str, kind: &str) -> Option<bool> {
        let (group, version) = api_version.split_once('/')?;
        match self.known {
            Known::Schemas(_) => {
                let served = self.kinds.get(&(group.to_owned(), kind.to_owned()))?;
                Some(served.contains(version))
            }
            Known::Minor(minor) => first_serving(api_version, kind).map(|first| first <= minor),
        }
    }

    /// Returns which version of Flux first serves a version of a kind, as a remedy says it.
    pub fn version_serving(api_version: &str, kind: &str) -> String {
        let first = first_serving(api_version, kind);
        first.map_or("a version that serves it".to_owned(), |minor| format!("2.{minor} or later"))
    }

    /// Returns which version of Flux has a field, as a remedy says it.
    pub fn version_with(field: &str) -> String {
        let since = SINCE.iter().find(|(own, _)| *own == field);
        since.map_or("a version with it".to_owned(), |(_, minor)| format!("2.{minor} or later"))
    }

    /// Returns whether an `apiVersion` of Flux Kustomizations is served.
    pub fn serves(&self, api_version: &str) -> bool {
        match &self.known {
            Known::Schemas(schemas) => schemas.contains_key(version_of(api_version)),
            Known::Minor(_) => true,
        }
    }

    /// Returns the `apiVersion` in which a new Flux Kustomization is served; the newest, where several are.
    pub fn newest(&self) -> Option<&'static str> {
        VERSIONS.into_iter().find(|version| self.serves(version))
    }

    /// Returns whether a field of `spec` is declared.
    pub fn has(&self, api_version: &str, field: &str) -> bool {
        match &self.known {
            Known::Schemas(schemas) => schemas.get(version_of(api_version)).is_some_and(|schema| {
                let spec = &schema["properties"]["spec"];
                keeps_unknown(schema) || keeps_unknown(spec) || spec["properties"].get(field).is_some()
            }),
            Known::Minor(minor) => !SINCE.iter().any(|(own, since)| *own == field && since > minor),
        }
    }

    /// Returns the first field of the `spec` of a Flux Kustomization that is not declared, by the keys on the way; items of
    /// lists are no such keys. `None` also where its version is not served.
    ///
    /// A server-side apply fails by one (kubernetes-sigs/structured-merge-diff, `field not declared in schema`).
    pub fn undeclared(&self, value: &Value) -> Option<Vec<String>> {
        let version = value["apiVersion"].as_str().unwrap_or_default();
        match &self.known {
            Known::Schemas(schemas) => {
                let schema = schemas.get(version_of(version)).filter(|schema| !keeps_unknown(schema))?;
                undeclared(&schema["properties"]["spec"], &value["spec"])
            }
            Known::Minor(_) => {
                let mut fields = value["spec"].as_object().into_iter().flat_map(Map::keys);
                fields.find(|field| !self.has(version, field)).map(|field| vec![field.clone()])
            }
        }
    }
}

impl fmt::Display for FluxApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = if self.version.is_empty() { String::new() } else { format!(" {}", self.version) };
        write!(f, "Flux{version} of {}", self.place.path)
    }
}

/// Returns the minor version of Flux 2 that first served a version of a kind.
fn first_serving(api_version: &str, kind: &str) -> Option<u64> {
    let is_it =
        |(version, of, _): &&(&str, &str, u64)| *version == api_version && (of.is_empty() || *of == kind);
    SERVED.iter().find(is_it).map(|(.., minor)| *minor)
}

/// Returns the versions that a CustomResourceDefinition of Flux serves, by its group and kind; `None` for any other object.
fn served(value: &Value) -> Option<((String, String), BTreeSet<String>)> {
    let spec = &value["spec"];
    let group = spec["group"].as_str().filter(|group| group.ends_with(TOOLKIT))?;
    let kind = spec["names"]["kind"].as_str().filter(|_| value["kind"] == "CustomResourceDefinition")?;
    let served = spec["versions"].as_array()?.iter().filter(|version| version["served"] == true);
    let names = served.filter_map(|version| version["name"].as_str().map(str::to_owned));
    Some(((group.to_owned(), kind.to_owned()), names.collect()))
}

fn may_declare(file: &File) -> bool {
    file.mentions(GROUP) && file.mentions("CustomResourceDefinition")
}

fn version_of(api_version: &str) -> &str {
    api_version.rsplit('/').next().unwrap_or_default()
}

/// Reads the CustomResourceDefinition of Flux Kustomizations; `None` for any other object.
fn of_definition(value: &Value, place: &Place) -> Option<FluxApi> {
    let (metadata, spec) = (&value["metadata"], &value["spec"]);
    let is_it = value["kind"] == "CustomResourceDefinition"
        && spec["group"] == GROUP
        && spec["names"]["kind"] == "Kustomization";
    let served = spec["versions"].as_array()?.iter().filter(|version| version["served"] == true);
    let schemas = served.filter_map(|version| {
        Some((version["name"].as_str()?.to_owned(), version["schema"]["openAPIV3Schema"].clone()))
    });
    let version = metadata["labels"]["app.kubernetes.io/version"].as_str().unwrap_or_default();
    is_it.then(|| FluxApi {
        version: version.to_owned(),
        place: place.clone(),
        known: Known::Schemas(schemas.collect()),
        kinds: Arc::default(),
    })
}

fn keeps_unknown(schema: &Value) -> bool {
    !schema.is_object() || schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// Returns the way to the first field of a value that its schema does not declare. What a variable stands for, and what a
/// schema leaves open, is no such field.
fn undeclared(schema: &Value, value: &Value) -> Option<Vec<String>> {
    let below = |key: &String, rest: Vec<String>| [vec![key.clone()], rest].concat();
    match value {
        Value::Array(items) => items.iter().find_map(|item| undeclared(&schema["items"], item)),
        Value::Object(fields) => {
            let (declared, others) = (schema["properties"].as_object(), &schema["additionalProperties"]);
            let is_open = keeps_unknown(schema) || declared.is_none();
            fields.iter().filter(|(key, value)| !value.is_null() && !key.contains("${")).find_map(
                |(key, value)| match declared.and_then(|declared| declared.get(key)) {
                    Some(schema) => undeclared(schema, value).map(|rest| below(key, rest)),
                    None if others.is_object() => undeclared(others, value).map(|rest| below(key, rest)),
                    None => (!is_open && *others != true).then(|| vec![key.clone()]),
                },
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn api(spec: Value) -> FluxApi {
        let schema = json!({ "type": "object", "properties": { "spec": spec } });
        let place = Place::file(RepoPath::parse("crd.yaml").unwrap());
        let version = |name: &str, served: bool| json!({ "name": name, "served": served, "schema": { "openAPIV3Schema": schema } });
        let definition = json!({
            "kind": "CustomResourceDefinition",
            "metadata": { "labels": { "app.kubernetes.io/version": "v2.3.0" } },
            "spec": {
                "group": GROUP,
                "names": { "kind": "Kustomization" },
                "versions": [version("v1", true), version("v1beta1", false)],
            },
        });
        of_definition(&definition, &place).unwrap()
    }

    #[test]
    fn a_field_is_looked_for_where_the_schema_says_what_there_is() {
        let api = api(json!({
            "type": "object",
            "properties": {
                "prune": { "type": "boolean" },
                "sourceRef": { "type": "object", "properties": { "name": {} } },
                "patches": { "items": { "properties": { "target": { "properties": { "kind": {} } } } } },
                "labels": { "additionalProperties": { "type": "string" } },
                "open": { "x-kubernetes-preserve-unknown-fields": true, "properties": { "a": { "properties": {} } } },
                "bare": { "type": "object" },
            },
        }));
        let first = |spec: Value| {
            let value = json!({ "apiVersion": format!("{GROUP}/v1"), "spec": spec });
            api.undeclared(&value).map(|keys| keys.join("."))
        };
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(first(json!({ "prune": true, "labels": { "x": "y" }, "bare": { "x": {} } })), None);
        assert_eq!(first(json!({ "open": { "x": { "y": 1 } } })), None);
        assert_eq!(first(json!({ "open": { "a": { "y": 1 } } })), told("open.a.y"));
        assert_eq!(first(json!({ "deletionPolicy": "Orphan" })), told("deletionPolicy"));
        assert_eq!(first(json!({ "deletionPolicy": null, "${x}": 1 })), None);
        assert_eq!(first(json!({ "sourceRef": { "name": "a", "tag": "b" } })), told("sourceRef.tag"));
        let patches = json!([{ "target": { "kind": "A" } }, { "target": { "labels": "b" } }]);
        assert_eq!(first(json!({ "patches": patches })), told("patches.target.labels"));
        assert!(api.serves("kustomize.toolkit.fluxcd.io/v1"));
        assert!(!api.serves("kustomize.toolkit.fluxcd.io/v1beta1"));
        assert_eq!(api.newest(), Some("kustomize.toolkit.fluxcd.io/v1"));
        assert!(api.has("kustomize.toolkit.fluxcd.io/v1", "prune"));
        assert!(!api.has("kustomize.toolkit.fluxcd.io/v1", "deletionPolicy"));
    }

    #[test]
    fn the_versions_of_all_kinds_of_a_file_are_known() {
        let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: a }\nspec: { group: kustomize.toolkit.fluxcd.io, names: { kind: Kustomization }, versions: [{ name: v1, served: true, schema: {} }] }\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: b }\nspec: { group: helm.toolkit.fluxcd.io, names: { kind: HelmRelease }, versions: [{ name: v2beta2, served: true, schema: {} }, { name: v2, served: false, schema: {} }] }\n";
        let mut snapshot = Snapshot::default();
        snapshot.insert(RepoPath::parse("crd.yaml").unwrap(), File::new(text.as_bytes()));
        let declared = FluxApi::declared(&snapshot);
        let [(_, api)] = &declared[..] else { panic!("{declared:?}") };
        let told = |version: &str, kind: &str| api.serves_kind(version, kind);
        assert_eq!(told("helm.toolkit.fluxcd.io/v2", "HelmRelease"), Some(false));
        assert_eq!(told("helm.toolkit.fluxcd.io/v2beta2", "HelmRelease"), Some(true));
        assert_eq!(told("image.toolkit.fluxcd.io/v1", "ImagePolicy"), None);
        assert_eq!(told("v1", "ConfigMap"), None);
        let place = Place::file(RepoPath::parse("instance.yaml").unwrap());
        let old = FluxApi::of_distribution("2.3.x", place).unwrap();
        assert_eq!(old.serves_kind("image.toolkit.fluxcd.io/v1", "ImagePolicy"), Some(false));
        assert_eq!(old.serves_kind("source.toolkit.fluxcd.io/v1", "HelmRepository"), Some(true));
        assert_eq!(old.serves_kind("source.toolkit.fluxcd.io/v1beta2", "HelmRepository"), None);
        let since = FluxApi::version_serving("source.toolkit.fluxcd.io/v1", "OCIRepository");
        assert_eq!(since, "2.6 or later");
    }

    #[test]
    fn a_distribution_tells_its_minor_version() {
        let place = Place::file(RepoPath::parse("instance.yaml").unwrap());
        let has = |version: &str| {
            let api = FluxApi::of_distribution(version, place.clone());
            api.is_none_or(|api| api.has("kustomize.toolkit.fluxcd.io/v1", "deletionPolicy"))
        };
        assert!(["2.x", "2.*", ">=2.3.0", "2.5.x", "v2.10.1", "2"].into_iter().all(has));
        assert!(!["2.4.x", "v2.3.0", "2.4"].into_iter().any(has));
    }
}
