//! Fields that the API server does not let change once an object is there, with the rules of Kubernetes 1.36
//! (`pkg/apis/*/validation/validation.go`), each named beside its fields.

use std::borrow::Cow;

use serde_json::Value;

use crate::pr::field::{Field, fields};

/// A change that the API server refuses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The field.
    pub path: String,
    /// Whether a claim asks for less storage; everything else may not change at all.
    pub shrinks: bool,
}

/// When a field counts as changed.
#[derive(Clone, Copy)]
enum Rule {
    /// Where it comes, goes or is another.
    Any,
    /// Where both say something else: what only one of them says may be what the cluster fills in.
    Both,
    /// As `Any`, and without it the cluster fills in this.
    Or(&'static str),
    /// As `Both`, of the first item of a list.
    First,
}

use Rule::{Any, Both, First, Or};

/// The API group and the kind, and the fields with all below them.
type Rules = (&'static str, &'static str, &'static [(&'static str, Rule)]);

const FIELDS: &[Rules] = &[
    // ValidateDeploymentUpdate, ValidateDaemonSetSpecUpdate, ValidateReplicaSetUpdate, ValidateControllerRevisionUpdate
    ("apps", "Deployment", &[("spec.selector", Any)]),
    ("apps", "DaemonSet", &[("spec.selector", Any)]),
    ("apps", "ReplicaSet", &[("spec.selector", Any)]),
    ("apps", "ControllerRevision", &[("data", Any)]),
    // ValidateJobSpecUpdate
    (
        "batch",
        "Job",
        &[
            ("spec.selector", Both),
            ("spec.completionMode", Or("\"NonIndexed\"")),
            ("spec.podFailurePolicy", Any),
            ("spec.backoffLimitPerIndex", Any),
            ("spec.managedBy", Any),
            ("spec.successPolicy", Any),
        ],
    ),
    // ValidateSecretUpdate, ValidateResourceQuotaUpdate
    ("", "Secret", &[("type", Or("\"Opaque\""))]),
    ("", "ResourceQuota", &[("spec.scopes", Any)]),
    // ValidatePersistentVolumeUpdate, ValidatePersistentVolumeClaimUpdate
    ("", "PersistentVolume", &[("spec.volumeMode", Or("\"Filesystem\""))]),
    (
        "",
        "PersistentVolumeClaim",
        &[
            ("spec.accessModes", Any),
            ("spec.selector", Any),
            ("spec.volumeMode", Or("\"Filesystem\"")),
            ("spec.resources.limits", Any),
            ("spec.storageClassName", Both),
            ("spec.volumeName", Both),
            ("spec.dataSource", Both),
            ("spec.dataSourceRef", Both),
        ],
    ),
    // ValidateRoleBindingUpdate, ValidateClusterRoleBindingUpdate
    ("rbac.authorization.k8s.io", "RoleBinding", &[("roleRef.kind", Any), ("roleRef.name", Any)]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &[("roleRef.kind", Any), ("roleRef.name", Any)]),
    // ValidateStorageClassUpdate, ValidateVolumeAttributesClassUpdate, ValidateCSIDriverUpdate
    (
        "storage.k8s.io",
        "StorageClass",
        &[
            ("provisioner", Any),
            ("parameters", Any),
            ("reclaimPolicy", Or("\"Delete\"")),
            ("volumeBindingMode", Or("\"Immediate\"")),
        ],
    ),
    ("storage.k8s.io", "VolumeAttributesClass", &[("driverName", Any), ("parameters", Any)]),
    (
        "storage.k8s.io",
        "CSIDriver",
        &[("spec.attachRequired", Or("true")), ("spec.volumeLifecycleModes", Or("[\"Persistent\"]"))],
    ),
    // validateIngressClassSpecUpdate, ValidateIPAddressUpdate, ValidateServiceCIDRUpdate
    ("networking.k8s.io", "IngressClass", &[("spec.controller", Any)]),
    ("networking.k8s.io", "IPAddress", &[("spec.parentRef", Any)]),
    ("networking.k8s.io", "ServiceCIDR", &[("spec.cidrs", First)]),
    // validateCustomResourceDefinitionSpecUpdate (apiextensions-apiserver)
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        &[("spec.group", Any), ("spec.names.plural", Any), ("spec.names.kind", Any), ("spec.scope", Any)],
    ),
    // ValidatePriorityClassUpdate, ValidateRuntimeClassUpdate
    (
        "scheduling.k8s.io",
        "PriorityClass",
        &[("value", Or("0")), ("preemptionPolicy", Or("\"PreemptLowerPriority\""))],
    ),
    ("node.k8s.io", "RuntimeClass", &[("handler", Any)]),
    // ValidateEndpointSliceUpdate, ValidateResourceClaimUpdate, ValidateResourceClaimTemplateUpdate
    ("discovery.k8s.io", "EndpointSlice", &[("addressType", Any)]),
    ("resource.k8s.io", "ResourceClaim", &[("spec", Both)]),
    ("resource.k8s.io", "ResourceClaimTemplate", &[("spec", Both)]),
    // ValidateClusterTrustBundleUpdate
    ("certificates.k8s.io", "ClusterTrustBundle", &[("spec.signerName", Any)]),
];

/// What of a StatefulSet's spec may change (`ValidateStatefulSetUpdate`).
const OF_STATEFUL_SETS: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
    "revisionHistoryLimit",
];

/// What of a volume's spec is not its source (`PersistentVolumeSpec`).
const BESIDE_SOURCES: [&str; 9] = [
    "capacity",
    "accessModes",
    "claimRef",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "mountOptions",
    "volumeMode",
    "nodeAffinity",
    "volumeAttributesClassName",
];

/// Fields of pods that the API server fills in (`pkg/apis/core/v1/defaults.go`).
const FILLED_IN: [&str; 22] = [
    "restartPolicy",
    "dnsPolicy",
    "schedulerName",
    "terminationGracePeriodSeconds",
    "enableServiceLinks",
    "serviceAccount",
    "serviceAccountName",
    "preemptionPolicy",
    "priority",
    "tolerations",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "protocol",
    "defaultMode",
    "apiVersion",
    "scheme",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
    "creationTimestamp",
];

/// What of a pod may change (`ValidatePodUpdate`), by the ends of paths.
const OF_PODS: [&str; 5] =
    ["image", "activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"];

/// Where the template of a suspended Job may change (`validatePodTemplateUpdate`).
const OF_SUSPENDED_JOBS: [&str; 8] = [
    "metadata",
    "spec.nodeSelector",
    "spec.tolerations",
    "spec.affinity",
    "spec.schedulingGates",
    "resources",
    "requests",
    "limits",
];

/// Returns the first change of an object that the API server refuses; `None` where it takes all of them.
///
/// What only the cluster knows the value of counts for nothing.
pub fn refused(old: &Value, new: &Value) -> Option<Refusal> {
    let group = new["apiVersion"].as_str()?.rsplit_once('/').map_or("", |(group, _)| group);
    let kind = new["kind"].as_str()?;
    let of_table = FIELDS.iter().filter(|(other, of, _)| *other == group && *of == kind);
    let of_table = of_table.flat_map(|(_, _, rules)| rules.iter());
    let path = of_table.filter_map(|(path, rule)| changed(path, *rule, old, new)).next();
    let path = path.or_else(|| match (group, kind) {
        ("", "Secret" | "ConfigMap") => of_kept_data(old, new),
        ("", "Service") => of_service(old, new),
        ("", "PersistentVolume") => of_volume(old, new),
        ("", "Pod") => of_pod(old, new),
        ("apps", "StatefulSet") => of_stateful_set(old, new),
        ("batch", "Job") => of_job(old, new),
        _ => None,
    });
    if let Some(path) = path {
        return Some(Refusal { path, shrinks: false });
    }
    let storage = "spec.resources.requests.storage";
    let shrinks = (group, kind) == ("", "PersistentVolumeClaim")
        && size(at(old, storage)).zip(size(at(new, storage))).is_some_and(|(old, new)| new < old);
    shrinks.then(|| Refusal { path: storage.to_owned(), shrinks })
}

/// Returns a field of an object; `None` where it is not there or holds nothing.
fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let found = path.split('.').try_fold(object, |value, name| value.get(name))?;
    (!is_hollow(found)).then_some(found)
}

/// Returns whether a variable of which only the cluster knows the value stands in it.
fn is_unknown(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.to_string().contains("${"))
}

fn is_known(field: &Field) -> bool {
    ![&field.before, &field.after].into_iter().any(|value| is_unknown(value.as_ref()))
}

/// Returns the path of what differs, as precisely as both sides say it.
fn changed(path: &str, rule: Rule, old: &Value, new: &Value) -> Option<String> {
    let (old, new) = (at(old, path), at(new, path));
    if old == new || is_unknown(old) || is_unknown(new) {
        return None;
    }
    let filled = |value: Option<&Value>, with: &str| match value {
        Some(value) => Cow::Owned(value.clone()),
        None => Cow::<Value>::Owned(serde_json::from_str(with).unwrap_or_default()),
    };
    let differs = match rule {
        Any => true,
        Both => old.is_some() && new.is_some(),
        Or(with) => filled(old, with) != filled(new, with),
        First => old.zip(new).is_some_and(|(old, new)| old.get(0) != new.get(0)),
    };
    let (Some(old), Some(new)) = (old, new) else { return differs.then(|| path.to_owned()) };
    differs.then(|| first(path, old, new).unwrap_or_else(|| path.to_owned()))
}

/// Returns the path of the first field below a path that differs.
fn first(path: &str, old: &Value, new: &Value) -> Option<String> {
    fields(old, new).first().map(|field| joined(path, field))
}

fn joined(path: &str, field: &Field) -> String {
    let dot = if field.path.is_empty() || field.path.starts_with('[') { "" } else { "." };
    format!("{path}{dot}{}", field.path)
}

/// `immutable: true` stays, and the data with it (`ValidateConfigMapUpdate`, `ValidateSecretUpdate`).
fn of_kept_data(old: &Value, new: &Value) -> Option<String> {
    let is_kept = old["immutable"] == true;
    let mut kept = ["immutable", "data", "stringData", "binaryData"].into_iter().filter(|_| is_kept);
    kept.find_map(|path| changed(path, Any, old, new))
}

/// An address stays, but for what is an external name (`validateUpgradeDowngradeClusterIPs`,
/// `validateUpgradeDowngradeIPFamilies`, `validateLoadBalancerClassField`); one that is left out is what it was.
fn of_service(old: &Value, new: &Value) -> Option<String> {
    let is_both = |kind: &str| old["spec"]["type"] == kind && new["spec"]["type"] == kind;
    if [old, new].iter().any(|one| one["spec"]["type"] == "ExternalName") {
        return None;
    }
    let was = |path: &str| at(old, path);
    let class = "spec.loadBalancerClass";
    let (from, to) = (was("spec.clusterIP"), at(new, "spec.clusterIP"));
    let becomes_headless =
        from.is_none() && was("spec.clusterIPs").is_none() && to.is_some_and(|to| to == "None");
    if becomes_headless {
        return Some("spec.clusterIP".to_owned());
    }
    if is_both("LoadBalancer") && was(class).is_some() {
        return changed(class, Any, old, new);
    }
    let rules = [("spec.clusterIP", Both), ("spec.clusterIPs", First), ("spec.ipFamilies", First)];
    rules.into_iter().find_map(|(path, rule)| changed(path, rule, old, new))
}

/// The source stays, and so does an affinity that is there (`ValidatePersistentVolumeUpdate`).
fn of_volume(old: &Value, new: &Value) -> Option<String> {
    if at(old, "spec.nodeAffinity").is_some()
        && let Some(path) = changed("spec.nodeAffinity", Any, old, new)
    {
        return Some(path);
    }
    let is_source = |field: &&Field| {
        let name = field.path.split(['.', '[']).next().unwrap_or_default();
        let is_whole = field.path == name;
        !BESIDE_SOURCES.contains(&name)
            && (is_whole || !is_nothing(&field.before) && !is_nothing(&field.after))
            && is_known(field)
    };
    fields(&old["spec"], &new["spec"]).iter().find(is_source).map(|field| joined("spec", field))
}

fn of_stateful_set(old: &Value, new: &Value) -> Option<String> {
    let is_refused = |field: &&Field| {
        let name = field.path.split(['.', '[']).next().unwrap_or_default();
        let filled = |value: &Option<Value>, with: &str| {
            value.as_ref().is_none_or(|value| *value == with || value.is_null())
        };
        let is_filled_in = |with: &str| filled(&field.before, with) && filled(&field.after, with);
        let is_default = match name {
            "podManagementPolicy" => is_filled_in("OrderedReady"),
            "serviceName" => is_filled_in(""),
            _ => field.path.ends_with(".volumeMode") && is_filled_in("Filesystem"),
        };
        !OF_STATEFUL_SETS.contains(&name) && !is_default && is_known(field)
    };
    fields(&old["spec"], &new["spec"]).iter().find(is_refused).map(|field| joined("spec", field))
}

fn of_job(old: &Value, new: &Value) -> Option<String> {
    // `validateCompletions`: what is indexed may grow and shrink.
    if new["spec"]["completionMode"] != "Indexed"
        && let Some(path) = changed("spec.completions", Both, old, new)
    {
        return Some(path);
    }
    let is_suspended = old["spec"]["suspend"] == true;
    let may_change =
        |field: &Field| is_suspended && OF_SUSPENDED_JOBS.iter().any(|part| field.path.contains(part));
    in_pod("spec.template", &old["spec"]["template"], &new["spec"]["template"], may_change)
}

fn of_pod(old: &Value, new: &Value) -> Option<String> {
    let may_change = |field: &Field| {
        OF_PODS.iter().any(|end| field.path == *end || field.path.ends_with(&format!(".{end}")))
    };
    in_pod("spec", &old["spec"], &new["spec"], may_change)
}

/// Finds what differs in pods and is no value that the API server fills in.
fn in_pod(path: &str, old: &Value, new: &Value, may_change: impl Fn(&Field) -> bool) -> Option<String> {
    let is_refused = |field: &&Field| {
        let name = field.path.rsplit('.').next().unwrap_or_default();
        let [was_nothing, is_nothing] = [&field.before, &field.after].map(is_nothing);
        let is_said = !was_nothing && !is_nothing;
        let counts = if FILLED_IN.contains(&name) { is_said } else { !was_nothing || !is_nothing };
        counts && is_known(field) && !may_change(field)
    };
    fields(old, new).iter().find(is_refused).map(|field| joined(path, field))
}

fn is_nothing(value: &Option<Value>) -> bool {
    value.as_ref().is_none_or(is_hollow)
}

fn is_hollow(value: &Value) -> bool {
    matches!(value, Value::Null)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_str().is_some_and(str::is_empty)
}

/// Returns the bytes that a claim asks for.
fn size(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::String(text) => quantity(text),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// Reads a quantity of Kubernetes, such as `10Gi` or `500M` (apimachinery, `resource.Quantity`).
fn quantity(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let binary = |power: i32| 1024_f64.powi(power);
    let decimal = |power: i32| 1000_f64.powi(power);
    let factor = match &text[end..] {
        "" => 1.0,
        "m" => 0.001,
        "k" => decimal(1),
        "M" => decimal(2),
        "G" => decimal(3),
        "T" => decimal(4),
        "P" => decimal(5),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        exponent => 10_f64.powi(exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    Some(number * factor)
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
