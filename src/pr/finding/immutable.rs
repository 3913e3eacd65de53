//! Fields that Kubernetes does not let change.

use crate::delivery::Kind;
use crate::pr::field::Field;
use crate::pr::finding::{Finding, Topic};
use crate::pr::report::Line;

/// By API group and kind, the fields that may not change once the object is there; a field counts with all below it
/// (Kubernetes, `ValidateDeploymentUpdate` and its like in `pkg/apis/*/validation`).
const FIELDS: [(&str, &str, &[&str]); 12] = [
    ("apps", "Deployment", &["spec.selector"]),
    ("apps", "DaemonSet", &["spec.selector"]),
    ("apps", "ReplicaSet", &["spec.selector"]),
    ("batch", "Job", &["spec.selector", "spec.template", "spec.completions", "spec.completionMode"]),
    ("", "Service", &["spec.clusterIP", "spec.clusterIPs"]),
    ("", "Secret", &["type"]),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"]),
    ("storage.k8s.io", "StorageClass", &["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"]),
    ("apiextensions.k8s.io", "CustomResourceDefinition", &["spec.group", "spec.names.kind", "spec.scope"]),
    ("scheduling.k8s.io", "PriorityClass", &["value", "preemptionPolicy"]),
    ("node.k8s.io", "RuntimeClass", &["handler"]),
];

/// What of a StatefulSet's spec may change (Kubernetes, `ValidateStatefulSetUpdate`).
const OF_STATEFUL_SETS: [&str; 8] = [
    "spec.replicas",
    "spec.ordinals",
    "spec.template",
    "spec.updateStrategy",
    "spec.persistentVolumeClaimRetentionPolicy",
    "spec.minReadySeconds",
    "spec.revisionHistoryLimit",
    "spec.paused",
];

/// What of a claim's spec may change, and the request only upwards (Kubernetes, `ValidatePersistentVolumeClaimUpdate`).
const OF_CLAIMS: [&str; 2] = ["spec.resources", "spec.volumeAttributesClassName"];

/// Finds a change that the API server refuses, so that its Flux Kustomization fails.
pub(super) fn immutable(line: &Line) -> Option<Finding> {
    if !matches!(line.kind, Kind::Changed | Kind::Moved) {
        return None;
    }
    if line.is_forced {
        return None;
    }
    // What only one of them writes may be what Kubernetes fills in.
    let told = line.fields.iter().filter(|field| field.before.is_some() && field.after.is_some());
    let mut told =
        told.chain(line.fields.iter().filter(|field| field.path.starts_with("spec.volumeClaimTemplates")));
    let field = told.find(|field| is_refused(&line.id.group, &line.id.kind, field))?;
    let what = if line.id.kind == "PersistentVolumeClaim" && field.path.starts_with("spec.resources") {
        "asks for less storage, which"
    } else {
        "changes, which"
    };
    Some(Finding {
        topic: Topic::Immutable,
        cluster: line.cluster.clone(),
        object: Some(line.id.clone()),
        message: format!("{} of {} {what} Kubernetes refuses: {} fails", field.path, line.id, line.by.name()),
        from: line.lands.earliest,
        help: "give the object another name, or annotate it `kustomize.toolkit.fluxcd.io/force: enabled`"
            .to_owned(),
        ..Finding::default()
    })
}

fn is_refused(group: &str, kind: &str, field: &Field) -> bool {
    let is_in = |path: &str| {
        field.path == path || field.path.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    match (group, kind) {
        ("apps", "StatefulSet") => is_in("spec") && !OF_STATEFUL_SETS.into_iter().any(is_in),
        ("", "PersistentVolumeClaim") => match (is_in("spec"), OF_CLAIMS.into_iter().any(is_in)) {
            (true, false) => true,
            (true, true) => shrinks(field),
            _ => false,
        },
        // An address that only the cluster gave may be left out.
        ("", "Service") => {
            field.before.is_some() && field.after.is_some() && FIELDS[4].2.iter().any(|path| is_in(path))
        }
        _ => {
            let known = FIELDS.iter().find(|(other, of, _)| *other == group && *of == kind);
            known.is_some_and(|(_, _, paths)| paths.iter().any(|path| is_in(path)))
        }
    }
}

/// Tells whether a claim asks for less storage.
fn shrinks(field: &Field) -> bool {
    let bytes = |value: &Option<serde_json::Value>| match value.as_ref()? {
        serde_json::Value::String(text) => quantity(text),
        serde_json::Value::Number(number) => number.as_f64(),
        _ => None,
    };
    field.path == "spec.resources.requests.storage"
        && bytes(&field.before).zip(bytes(&field.after)).is_some_and(|(before, after)| after < before)
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
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn refused(group: &str, kind: &str, path: &str, before: Value, after: Value) -> bool {
        is_refused(group, kind, &Field { path: path.to_owned(), before: Some(before), after: Some(after) })
    }

    #[test]
    fn a_claim_may_grow_and_not_shrink() {
        let storage = |before: &str, after: &str| {
            refused(
                "",
                "PersistentVolumeClaim",
                "spec.resources.requests.storage",
                json!(before),
                json!(after),
            )
        };
        assert!(storage("10Gi", "9Gi") && storage("1Gi", "1G") && storage("2e3", "1e3"));
        assert!(!storage("9Gi", "10Gi") && !storage("1G", "1Gi") && !storage("${SIZE}", "1Gi"));
        assert!(refused("", "PersistentVolumeClaim", "spec.storageClassName", json!("a"), json!("b")));
        assert!(!refused("", "PersistentVolumeClaim", "metadata.labels.a", json!("a"), json!("b")));
    }

    #[test]
    fn only_what_the_api_server_refuses_counts() {
        for (group, kind, path, expected) in [
            ("apps", "Deployment", "spec.selector.matchLabels.app", true),
            ("apps", "Deployment", "spec.template.metadata.labels.app", false),
            ("apps", "Deployment", "spec.selectors", false),
            ("apps", "StatefulSet", "spec.serviceName", true),
            ("apps", "StatefulSet", "spec.volumeClaimTemplates[0].spec.resources", true),
            ("apps", "StatefulSet", "spec.replicas", false),
            ("apps", "StatefulSet", "spec.template.spec.containers[name=a].image", false),
            ("batch", "Job", "spec.template.spec.containers[name=a].image", true),
            ("batch", "CronJob", "spec.jobTemplate.spec.template.spec", false),
            ("rbac.authorization.k8s.io", "RoleBinding", "roleRef.name", true),
            ("rbac.authorization.k8s.io", "RoleBinding", "subjects[name=a].namespace", false),
            ("example.org", "Deployment", "spec.selector", false),
        ] {
            assert_eq!(refused(group, kind, path, json!(1), json!(2)), expected, "{kind} {path}");
        }
    }
}
