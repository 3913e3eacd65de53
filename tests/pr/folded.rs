//! What differs alike in many objects is told once.

use super::{Scratch, answer, changes, pr, support, text_of};

#[test]
fn what_differs_alike_is_told_once_with_all_objects() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    for app in ["web", "api"] {
        scratch.write(&format!("clusters/one/{app}.yaml"), flux(app, app));
        let list = format!("namespace: {app}\nresources: [all.yaml]\nlabels:\n- pairs: {{ release: old }}\n");
        scratch.write(&format!("{app}/kustomization.yaml"), list);
        let maps = ["a", "b"].map(|name| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ k: v }}\n")
        });
        scratch.write(&format!("{app}/all.yaml"), maps.join("---\n"));
    }
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    for app in ["web", "api"] {
        scratch.replace(&format!("{app}/kustomization.yaml"), "release: old", "release: new");
    }
    assert_eq!(changes(&answer(&scratch, &[])).len(), 4);
    insta::assert_snapshot!(text_of(&scratch));
    let told = |format: &str| {
        let run = pr(&scratch, &["--format", format]).stdout;
        assert_eq!(run.matches("release").count(), 2, "{run}");
        run.lines()
            .filter(|line| line.contains("ConfigMap"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    insta::assert_snapshot!(told("markdown"));
    insta::assert_snapshot!(told("html"));
    // Two are no crowd.
    scratch.replace("web/kustomization.yaml", "release: new", "release: old");
    let text = text_of(&scratch);
    assert_eq!(text.matches("release: new").count(), 2, "{text}");
}

#[test]
fn what_stands_in_no_namespace_is_told_without_one() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/apps.yaml", flux("apps", "apps"));
    let of = |kind: &str, version: &str, value: &str| {
        format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata: {{ name: a, namespace: n, labels: {{ k: {value} }} }}\n"
        )
    };
    let all = |value: &str| {
        let kinds = [
            ("ClusterIssuer", "cert-manager.io/v1"),
            ("Issuer", "cert-manager.io/v1"),
            ("PersistentVolume", "v1"),
            ("StorageClass", "storage.k8s.io/v1"),
            ("Unknown", "example.com/v1"),
        ];
        kinds.map(|(kind, version)| of(kind, version, value)).join("---\n")
    };
    let definition = |kind: &str, scope: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{ name: {kind} }}\nspec:\n  \
             scope: {scope}\n  group: cert-manager.io\n  names: {{ kind: {kind} }}\n"
        )
    };
    scratch.write("crds/a.yaml", definition("ClusterIssuer", "Cluster"));
    scratch.write("crds/b.yaml", definition("Issuer", "Namespaced"));
    scratch.write("apps/all.yaml", all("v")).write("apps/kustomization.yaml", "resources: [all.yaml]\n");
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("apps/all.yaml", all("w"));
    let told = answer(&scratch, &[]);
    let spaces: Vec<String> = told["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["object"]["kind"], one["object"]["namespace"]).replace('"', ""))
        .collect();
    assert_eq!(
        spaces,
        ["PersistentVolume null", "ClusterIssuer null", "Issuer n", "Unknown n", "StorageClass null"]
    );
}

/// A script of a ConfigMap is behind that ConfigMap, and not behind a Deployment beside it.
#[test]
fn what_a_generator_reads_is_behind_what_it_makes() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/web.yaml", flux("web", "web"));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: plain, namespace: web }\ndata: { k: v }\n";
    let job = "apiVersion: v1\nkind: Pod\nmetadata: { name: job, namespace: web }\nspec:\n  volumes: [{ name: s, configMap: { name: scripts } }]\n";
    let list = "namespace: web\nresources: [plain.yaml, pod.yaml]\nconfigMapGenerator:\n- { name: scripts, files: [refresh.sh] }\n";
    scratch.write("web/kustomization.yaml", list).write("web/refresh.sh", "echo 1\n");
    scratch.write("web/plain.yaml", map).write("web/pod.yaml", job).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("web/refresh.sh", "echo 2\n").replace("web/plain.yaml", "k: v", "k: w");
    let answer = answer(&scratch, &[]);
    let files = answer["changes"].as_array().unwrap().iter().map(|change| {
        let kind = change["object"]["kind"].as_str().unwrap();
        format!("{kind} {}: {}", change["change"].as_str().unwrap(), change["files"])
    });
    insta::assert_snapshot!(files.collect::<Vec<_>>().join("\n"), @r#"
    ConfigMap changed: ["web/plain.yaml"]
    ConfigMap deleted: ["web/refresh.sh"]
    ConfigMap created: ["web/refresh.sh"]
    Pod changed: ["web/refresh.sh"]
    "#);
}
