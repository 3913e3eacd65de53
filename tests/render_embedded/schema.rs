//! The schema by which patches are merged.

use crate::agree;
use crate::support::{folder, snapshot};

#[test]
fn a_schema_of_its_own_does_not_leak() {
    let schema = r#"{"definitions":{"v1.X":{"properties":{"list":{"type":"array","items":{"type":"object"},"x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"}},"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"X","version":"v1"}]}}}"#;
    let object =
        "apiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\nlist: [{name: a, v: 1}, {name: b}]\n";
    let patch = "apiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\nlist: [{name: a, w: 2}]\n";
    let with = "resources: [x.yaml]\nopenapi: {path: schema.json}\npatches: [{path: patch.yaml}]\n";
    let without = "resources: [../with/x.yaml]\npatches: [{path: ../with/patch.yaml}]\n";
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}}\n";
    let change = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: b, image: z}]}}}\n";
    let plain = "resources: [d.yaml]\npatches: [{path: p.yaml}]\n";
    let both = format!("{with}namePrefix: x-\n")
        .replace("[x.yaml]", "[x.yaml, ../plain/d.yaml]")
        .replace("patches: [", "patches: [{path: ../plain/p.yaml}, ");
    let tree = snapshot(&[
        ("with/kustomization.yaml", with),
        ("with/schema.json", schema),
        ("with/x.yaml", object),
        ("with/patch.yaml", patch),
        ("without/kustomization.yaml", without),
        ("plain/kustomization.yaml", plain),
        ("plain/d.yaml", deployment),
        ("plain/p.yaml", change),
        (
            "both/kustomization.yaml",
            &both
                .replace("x.yaml", "../with/x.yaml")
                .replace("schema", "../with/schema")
                .replace("{path: patch", "{path: ../with/patch"),
        ),
    ]);
    let order = ["plain", "with", "without", "plain", "both", "plain", "with"].map(folder);
    let built = agree(&tree, &order[..3]);
    assert_ne!(built[1], built[2], "the schema makes a difference");
    agree(&tree, &order);
}

/// Kinds of many groups and of none, namespaced or not, and what no schema knows.
const KINDS: [&str; 24] = [
    "v1/Namespace",
    "v1/ConfigMap",
    "v1/Secret",
    "v1/Node",
    "v1/PersistentVolume",
    "v1/ServiceAccount",
    "v1/Unheard",
    "apps/v1/StatefulSet",
    "batch/v1beta1/CronJob",
    "policy/v1/PodDisruptionBudget",
    "policy/v1beta1/PodSecurityPolicy",
    "rbac.authorization.k8s.io/v1/ClusterRole",
    "rbac.authorization.k8s.io/v1/Role",
    "networking.k8s.io/v1/IngressClass",
    "networking.k8s.io/v1/NetworkPolicy",
    "extensions/v1beta1/Ingress",
    "storage.k8s.io/v1/StorageClass",
    "storage.k8s.io/v1beta1/CSIStorageCapacity",
    "apiregistration.k8s.io/v1/APIService",
    "apiextensions.k8s.io/v1/CustomResourceDefinition",
    "gateway.networking.k8s.io/v1/Gateway",
    "kustomize.toolkit.fluxcd.io/v1/Kustomization",
    "node.k8s.io/v1/RuntimeClass",
    "apps/v1/Unheard",
];

/// An instance reads Kubernetes' schema without its paths: scopes are known, and how lists are merged stands elsewhere.
#[test]
fn the_schema_without_its_paths_says_the_same() {
    let mut all = String::new();
    for (position, kind) in KINDS.iter().enumerate() {
        let (version, kind) = kind.rsplit_once('/').unwrap();
        all += &format!("---\napiVersion: {version}\nkind: {kind}\nmetadata: {{ name: n{position} }}\n");
    }
    let merged = |ports: &str, env: &str, mounts: &str, hosts: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: d, finalizers: [{hosts}] }}\nspec:\n  template:\n    spec:\n      hostAliases: [{{ ip: 10.0.0.1, hostnames: [{hosts}] }}]\n      topologySpreadConstraints: [{{ topologyKey: {hosts}, whenUnsatisfiable: DoNotSchedule, maxSkew: 1 }}]\n      containers:\n        - name: a\n          command: [{hosts}]\n          ports: [{ports}]\n          env: [{env}]\n          volumeMounts: [{mounts}]\n"
        )
    };
    let object = merged(
        "{ containerPort: 1, protocol: TCP }, { containerPort: 1, protocol: UDP }",
        "{ name: A, value: a }, { name: B, value: b }",
        "{ name: x, mountPath: /x }",
        "one",
    );
    let patch = merged(
        "{ containerPort: 1, protocol: UDP, name: dns }",
        "{ name: B, $patch: delete }, { name: C, value: c }",
        "{ name: y, mountPath: /x }",
        "other",
    );
    let service = |port: &str| {
        format!("---\napiVersion: v1\nkind: Service\nmetadata: {{ name: s }}\nspec: {{ ports: [{port}] }}\n")
    };
    let object = object + &service("{ port: 80, name: web }, { port: 81, name: old }");
    let patch = patch + &service("{ port: 80, targetPort: 8080 }");
    let tree = snapshot(&[
        ("kinds/kustomization.yaml", "namespace: there\nresources: [all.yaml]\n"),
        ("kinds/all.yaml", &all),
        ("merged/kustomization.yaml", "resources: [object.yaml]\npatches: [{ path: patch.yaml }]\n"),
        ("merged/object.yaml", &object),
        ("merged/patch.yaml", &patch),
    ]);
    let built = agree(&tree, &["kinds", "merged"].map(folder));
    let kinds = built[0].as_ref().unwrap();
    let namespaced = kinds.iter().filter(|one| one.value["metadata"]["namespace"] == "there");
    assert_eq!((kinds.len(), namespaced.count()), (24, 14));
    let merged = built[1].as_ref().unwrap();
    let merged = merged.iter().find(|one| one.value["kind"] == "Deployment").unwrap();
    let merged = &merged.value["spec"]["template"]["spec"]["containers"][0];
    let lengths =
        ["command", "ports", "env", "volumeMounts"].map(|key| merged[key].as_array().unwrap().len());
    assert_eq!(lengths, [1, 2, 2, 1], "{merged}");
}
