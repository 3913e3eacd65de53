//! Which files are behind a change, and which reach no cluster.

use super::repository::{
    Files, SPEC, SPEC_FILE, compared, files, flux, map, with, with_cluster, without, words,
};

fn unreached(before: &Files, after: &Files) -> Vec<String> {
    compared(before, after).unreached.iter().map(ToString::to_string).collect()
}

#[test]
fn files_that_no_list_names_reach_no_cluster() {
    let base = with(&files(), &[(SPEC_FILE, "", SPEC)]);
    let alone = with(
        &base,
        &[
            ("apps/apps-rt/new.yaml", "", &map("new", "")),
            ("minecraft/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("minecraft/a.yaml", "", &map("a", "")),
            ("charts/web/Chart.yaml", "", "apiVersion: v2\nname: web\n"),
            ("charts/web/templates/a.yaml", "", &map("chart", "")),
            ("mkdocs.yml", "", "site_name: docs\n"),
            (".github/a.yaml", "", &map("tools", "")),
        ],
    );
    let all = ["apps/apps-rt/new.yaml", "minecraft/a.yaml", "minecraft/kustomization.yaml"];
    assert_eq!(unreached(&base, &alone), all);
    insta::assert_snapshot!(words(&compared(&base, &alone)));
    // Listed, Flux-listed, and of the spec.
    let listed = with(
        &alone,
        &[("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, new.yaml, ../../minecraft")],
    );
    assert_eq!(unreached(&base, &listed), Vec::<String>::new());
    let edited = with(
        &listed,
        &[("minecraft/a.yaml", "", &map("a", "b: '1'")), (SPEC_FILE, "0 2 * * SUN", "0 3 * * SUN")],
    );
    assert_eq!(unreached(&listed, &edited), Vec::<String>::new());
    // What a list names no more did reach it.
    assert_eq!(unreached(&listed, &alone), Vec::<String>::new());
    // What goes and reached none is no news.
    assert_eq!(unreached(&alone, &without(&alone, "minecraft/a.yaml")), Vec::<String>::new());
}

#[test]
fn a_folder_without_a_list_is_read_whole() {
    let mut base = files();
    base.remove("apps/apps-rt/kustomization.yaml");
    let new = with(&base, &[("apps/apps-rt/deep/new.yaml", "", &map("new", ""))]);
    assert_eq!(unreached(&base, &new), Vec::<String>::new());
}

#[test]
fn the_patches_of_other_clusters_are_not_behind_a_change() {
    let one = files();
    let mut base: Files = one
        .iter()
        .filter(|(path, _)| !path.contains("/gate/"))
        .map(|(a, b)| (a.clone(), b.clone()))
        .collect();
    for (path, text) in one.iter().filter(|(path, _)| path.contains("/gate/")) {
        base.insert(path.replace("clusters/one/gate", "gate"), text.clone());
    }
    base.insert("gate/kustomization.yaml".to_owned(), "resources: [open.yaml, close.yaml]\n".to_owned());
    let patch = |name: &str, minute: &str| {
        format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ schedule: \"{minute} 22 * * SAT\" }}\n"
        )
    };
    let mut base = with_cluster(&base, "two");
    for cluster in ["one", "two"] {
        let list = "resources: [../../../gate]\npatches: [{ path: open.yaml }, { path: close.yaml }]\n";
        base.insert(format!("clusters/{cluster}/gate/kustomization.yaml"), list.to_owned());
        for name in ["open", "close"] {
            base.insert(format!("clusters/{cluster}/gate/{name}.yaml"), patch(name, "1"));
        }
    }
    let mut after = base.clone();
    for cluster in ["one", "two"] {
        for name in ["open", "close"] {
            after.insert(format!("clusters/{cluster}/gate/{name}.yaml"), patch(name, "2"));
        }
    }
    let report = compared(&base, &after);
    let files = report.changes.iter().map(|line| {
        let files: Vec<String> = line.files.iter().map(ToString::to_string).collect();
        format!("{} {}: {}", line.cluster, line.id.name, files.join(", "))
    });
    insta::assert_snapshot!(files.collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_follows_another_branch_gets_a_commit_once_it_is_there() {
    let staging = super::repository::source("1m")
        .replace("name: flux-system", "name: staging")
        .replace("interval: 1m", "interval: 1m, ref: { branch: staging }");
    let own = flux("web", "apps/staging", "").replace("name: flux-system }", "name: staging }");
    let base = with(
        &files(),
        &[
            ("clusters/one/staging.yaml", "", &(staging + &own)),
            ("apps/staging/kustomization.yaml", "", "resources: [../base]\n"),
            ("apps/base/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("apps/base/a.yaml", "", &map("a", "")),
        ],
    );
    let report = compared(&base, &with(&base, &[("apps/base/a.yaml", "", &map("a", "b: '1'"))]));
    assert!(report.changes.is_empty() && report.unreached.is_empty());
    insta::assert_snapshot!(words(&report));
    let beside =
        compared(&base, &with(&base, &[("apps/apps-rt/settings.yaml", "", &map("settings", "b: '1'"))]));
    assert!(beside.withheld.is_empty());
}

#[test]
fn what_the_flux_project_publishes_holds_nothing_of_the_repository() {
    let withheld = |url: &str| {
        let source = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {{ name: manifests, namespace: flux-system }}\nspec: {{ interval: 1m, url: '{url}', ref: {{ tag: v2.9.4 }} }}\n"
        );
        let own = flux("flux", "", "")
            .replace("kind: GitRepository, name: flux-system", "kind: OCIRepository, name: manifests");
        let base = with(&files(), &[("clusters/one/flux.yaml", "", &(source + &own))]);
        let after = with(&base, &[("hack/a.yaml", "", &map("a", ""))]);
        compared(&base, &after).withheld.len()
    };
    assert_eq!(withheld("oci://ghcr.io/acme/manifests"), 1);
    assert_eq!(withheld("oci://ghcr.io/fluxcd/flux-manifests"), 0);
}

/// A patch says by its target, or else by itself, whom it changes.
#[test]
fn a_patch_of_another_kind_is_not_behind_a_change() {
    let scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: web, namespace: shop }\nspec: { maxReplicas: 3, minReplicas: 1, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }\n";
    let list = "resources: [deployment.yaml, scaler.yaml]\npatches: [{ path: replicas.yaml, target: { kind: HorizontalPodAutoscaler } }, { path: image.yaml }, { path: labels.yaml, target: { kind: Deployment } }]\n";
    let patch = |replicas: u8| format!("- {{ op: replace, path: /spec/maxReplicas, value: {replicas} }}\n");
    let image = |tag: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: web, namespace: shop }}\nspec: {{ template: {{ spec: {{ containers: [{{ name: web, image: 'nginx:{tag}' }}] }} }} }}\n"
        )
    };
    let label = |value: &str| format!("- {{ op: add, path: /metadata/labels, value: {{ a: {value} }} }}\n");
    let state = |replicas: u8, tag: &str, value: &str| {
        with(
            &files(),
            &[
                ("apps/apps-rw/kustomization.yaml", "", list),
                ("apps/apps-rw/scaler.yaml", "", scaler),
                ("apps/apps-rw/replicas.yaml", "", &patch(replicas)),
                ("apps/apps-rw/image.yaml", "", &image(tag)),
                ("apps/apps-rw/labels.yaml", "", &label(value)),
            ],
        )
    };
    let report = compared(&state(3, "1.29.0", "b"), &state(5, "1.30.0", "c"));
    let files = report.changes.iter().map(|line| {
        let files: Vec<String> = line.files.iter().map(ToString::to_string).collect();
        format!("{}: {}", line.id.kind, files.join(", "))
    });
    let files: Vec<String> = files.collect();
    assert_eq!(
        files,
        [
            "Deployment: apps/apps-rw/image.yaml:4, apps/apps-rw/labels.yaml:1",
            "HorizontalPodAutoscaler: apps/apps-rw/replicas.yaml:1",
        ]
    );
}
