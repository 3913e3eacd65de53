use serde_json::{Value, json};

use super::*;

/// Returns the refused path where a field of a kind changes from one value to another; null is none.
fn path(api_version: &str, kind: &str, field: &str, before: Value, after: Value) -> Option<String> {
    let object = |value: Value| {
        let mut object = json!({ "apiVersion": api_version, "kind": kind });
        let mut part = &mut object;
        for name in field.split('.') {
            part = &mut part[name];
        }
        *part = value;
        object
    };
    refused(&object(before), &object(after)).map(|refusal| refusal.path)
}

/// Returns the refused path of two whole objects of a kind.
fn of(api_version: &str, kind: &str, [old, new]: [Value; 2]) -> Option<String> {
    let object = |mut value: Value| {
        value["apiVersion"] = api_version.into();
        value["kind"] = kind.into();
        value
    };
    refused(&object(old), &object(new)).map(|refusal| refusal.path)
}

#[test]
fn a_claim_may_grow_and_not_shrink() {
    let storage = |before: &str, after: &str| {
        let [before, after] = [before, after].map(Value::from);
        path("v1", "PersistentVolumeClaim", "spec.resources.requests.storage", before, after).is_some()
    };
    assert!(storage("10Gi", "9Gi") && storage("1Gi", "1G") && storage("2e3", "1e3"));
    assert!(!storage("9Gi", "10Gi") && !storage("1G", "1Gi") && !storage("${SIZE}", "1Gi"));
}

#[test]
fn only_what_the_api_server_refuses_counts() {
    for (api_version, kind, field, expected) in [
        ("apps/v1", "Deployment", "spec.selector.matchLabels.app", true),
        ("apps/v1", "Deployment", "spec.template.metadata.labels.app", false),
        ("apps/v1", "Deployment", "spec.selectors", false),
        ("example.org/v1", "Deployment", "spec.selector", false),
        ("apps/v1", "StatefulSet", "spec.serviceName", true),
        ("apps/v1", "StatefulSet", "spec.podManagementPolicy", true),
        ("apps/v1", "StatefulSet", "spec.replicas", false),
        ("apps/v1", "StatefulSet", "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", false),
        ("apps/v1", "StatefulSet", "spec.template.spec.priority", false),
        ("batch/v1", "Job", "spec.template.spec.image", true),
        ("batch/v1", "Job", "spec.completions", true),
        ("batch/v1", "Job", "spec.completionMode", true),
        ("batch/v1", "Job", "spec.podFailurePolicy.rules", true),
        ("batch/v1", "Job", "spec.backoffLimitPerIndex", true),
        ("batch/v1", "Job", "spec.managedBy", true),
        ("batch/v1", "Job", "spec.successPolicy.rules", true),
        ("batch/v1", "Job", "spec.backoffLimit", false),
        ("batch/v1", "Job", "spec.suspend", false),
        ("batch/v1", "CronJob", "spec.jobTemplate.spec.template.spec", false),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef.name", true),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef.kind", true),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "subjects", false),
        ("v1", "PersistentVolumeClaim", "spec.storageClassName", true),
        ("v1", "PersistentVolumeClaim", "spec.accessModes", true),
        ("v1", "PersistentVolumeClaim", "spec.resources.limits.storage", true),
        ("v1", "PersistentVolumeClaim", "spec.volumeAttributesClassName", false),
        ("v1", "PersistentVolumeClaim", "metadata.labels.app", false),
        ("v1", "PersistentVolume", "spec.nfs.server", true),
        ("v1", "PersistentVolume", "spec.csi.volumeHandle", true),
        ("v1", "PersistentVolume", "spec.nodeAffinity.required", true),
        ("v1", "PersistentVolume", "spec.capacity.storage", false),
        ("v1", "PersistentVolume", "spec.persistentVolumeReclaimPolicy", false),
        ("v1", "Secret", "type", true),
        ("v1", "Secret", "data.key", false),
        ("v1", "ConfigMap", "data.key", false),
        ("v1", "ResourceQuota", "spec.scopes", true),
        ("v1", "ResourceQuota", "spec.hard.pods", false),
        ("v1", "Service", "spec.clusterIP", true),
        ("v1", "Service", "spec.ports", false),
        ("v1", "Pod", "spec.nodeName", true),
        ("v1", "Pod", "spec.tolerations", false),
        ("storage.k8s.io/v1", "StorageClass", "parameters.type", true),
        ("storage.k8s.io/v1", "StorageClass", "provisioner", true),
        ("storage.k8s.io/v1", "StorageClass", "mountOptions", false),
        ("storage.k8s.io/v1", "VolumeAttributesClass", "parameters.iops", true),
        ("storage.k8s.io/v1", "CSIDriver", "spec.attachRequired", true),
        ("storage.k8s.io/v1", "CSIDriver", "spec.podInfoOnMount", false),
        ("networking.k8s.io/v1", "IngressClass", "spec.controller", true),
        ("networking.k8s.io/v1", "IngressClass", "spec.parameters", false),
        ("scheduling.k8s.io/v1", "PriorityClass", "value", true),
        ("scheduling.k8s.io/v1", "PriorityClass", "globalDefault", false),
        ("node.k8s.io/v1", "RuntimeClass", "handler", true),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec.scope", true),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec.versions", false),
    ] {
        let told = path(api_version, kind, field, json!("a"), json!("b"));
        assert_eq!(told.as_deref(), expected.then_some(field), "{kind} {field}");
        assert_eq!(path(api_version, kind, field, json!("${A}"), json!("b")), None, "{kind} {field}");
    }
}

#[test]
fn what_the_cluster_fills_in_may_be_written_down() {
    let given = |api_version, kind, field, value: Value| path(api_version, kind, field, Value::Null, value);
    assert_eq!(given("batch/v1", "Job", "spec.completionMode", json!("NonIndexed")), None);
    assert!(given("batch/v1", "Job", "spec.completionMode", json!("Indexed")).is_some());
    assert!(given("batch/v1", "Job", "spec.podFailurePolicy", json!({ "rules": [1] })).is_some());
    assert_eq!(given("batch/v1", "Job", "spec.template.spec.dnsPolicy", json!("ClusterFirst")), None);
    assert!(given("batch/v1", "Job", "spec.template.spec.volumes", json!([{ "name": "a" }])).is_some());
    assert_eq!(given("v1", "Secret", "type", json!("Opaque")), None);
    assert!(given("v1", "Secret", "type", json!("kubernetes.io/tls")).is_some());
    assert_eq!(given("v1", "PersistentVolumeClaim", "spec.volumeName", json!("pv-1")), None);
    assert_eq!(given("v1", "PersistentVolumeClaim", "spec.storageClassName", json!("fast")), None);
    assert_eq!(given("v1", "PersistentVolumeClaim", "spec.volumeMode", json!("Filesystem")), None);
    assert!(given("v1", "PersistentVolumeClaim", "spec.volumeMode", json!("Block")).is_some());
    assert_eq!(given("apps/v1", "StatefulSet", "spec.podManagementPolicy", json!("OrderedReady")), None);
    assert!(given("apps/v1", "StatefulSet", "spec.serviceName", json!("web")).is_some());
    assert_eq!(given("storage.k8s.io/v1", "StorageClass", "reclaimPolicy", json!("Delete")), None);
    assert!(given("storage.k8s.io/v1", "StorageClass", "reclaimPolicy", json!("Retain")).is_some());
    assert_eq!(given("v1", "PersistentVolume", "spec.nodeAffinity", json!({ "required": 1 })), None);
    assert_eq!(
        given("v1", "PersistentVolume", "spec.csi.controllerExpandSecretRef", json!({ "name": "a" })),
        None
    );
    assert!(given("v1", "PersistentVolume", "spec.nfs", json!({ "server": "a" })).is_some());
}

#[test]
fn templates_of_claims_stay_as_they_are() {
    let claims = |claim: Value| json!({ "spec": { "volumeClaimTemplates": [claim] } });
    let change = |old: Value, new: Value| of("apps/v1", "StatefulSet", [claims(old), claims(new)]);
    let named = json!({ "metadata": { "name": "data" }, "spec": { "accessModes": ["ReadWriteOnce"] } });
    let mut other = named.clone();
    other["spec"]["storageClassName"] = "fast".into();
    assert_eq!(
        change(named.clone(), other).as_deref(),
        Some("spec.volumeClaimTemplates[0].spec.storageClassName")
    );
    let mut same = named.clone();
    same["spec"]["volumeMode"] = "Filesystem".into();
    assert_eq!(change(named, same), None);
}

#[test]
fn what_is_immutable_keeps_its_data() {
    for kind in ["ConfigMap", "Secret"] {
        let map = |immutable: bool, value: &str| json!({ "immutable": immutable, "data": { "key": value } });
        assert_eq!(of("v1", kind, [map(true, "a"), map(true, "b")]).as_deref(), Some("data.key"));
        assert_eq!(of("v1", kind, [map(true, "a"), map(false, "a")]).as_deref(), Some("immutable"));
        assert_eq!(of("v1", kind, [map(false, "a"), map(true, "b")]), None);
    }
}

#[test]
fn addresses_of_services_stay() {
    let service = |spec: [Value; 2]| of("v1", "Service", spec.map(|spec| json!({ "spec": spec })));
    let headless = || json!({ "clusterIP": "None" });
    assert_eq!(service([json!({ "ports": [] }), headless()]).as_deref(), Some("spec.clusterIP"));
    assert_eq!(service([json!({}), json!({ "clusterIP": "10.0.0.1" })]), None);
    assert_eq!(service([headless(), json!({})]), None);
    assert_eq!(service([json!({ "type": "ExternalName" }), headless()]), None);
    let class = |name: &str| json!({ "type": "LoadBalancer", "loadBalancerClass": name });
    assert_eq!(service([class("a"), class("b")]).as_deref(), Some("spec.loadBalancerClass"));
    let families = |all: Value| json!({ "ipFamilies": all });
    assert_eq!(service([families(json!(["IPv4"])), families(json!(["IPv4", "IPv6"]))]), None);
    assert!(service([families(json!(["IPv4"])), families(json!(["IPv6"]))]).is_some());
}

#[test]
fn suspended_and_indexed_jobs_may_change_more() {
    let job = |specs: [Value; 2]| of("batch/v1", "Job", specs.map(|spec| json!({ "spec": spec })));
    let placed = |suspend: bool, zone: &str| json!({ "suspend": suspend, "template": { "spec": { "nodeSelector": { "zone": zone } } } });
    assert_eq!(job([placed(true, "a"), placed(true, "b")]), None);
    assert!(job([placed(false, "a"), placed(false, "b")]).is_some());
    let indexed = |number: u8| json!({ "completionMode": "Indexed", "completions": number });
    assert_eq!(job([indexed(1), indexed(2)]), None);
}
