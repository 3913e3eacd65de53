//! Flux Kustomizations of several clusters that stand in one file, whose path names the folder of each by variables.

use crate::divided::{SPEC, nothing_is_deleted};
use crate::support::flux_kustomization;
use crate::support::scratch::{Scratch, assert_same};

/// Three clusters that list `common`. There `web` builds a folder of each, `base` one of each region, and `after` waits for
/// both. What each root fills in is told by its own `postBuild`.
fn fleet(web: &str) -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("windows.yaml", format!("{SPEC}  eu-00: {{}}\n  eu-01: {{}}\n  us: {{}}\n"));
    for (region, cluster) in [("eu", "00"), ("eu", "01"), ("us", "00")] {
        let top = format!("clusters/{region}/{cluster}");
        let values =
            format!("  postBuild: {{ substitute: {{ REGION: {region}, CLUSTER: \"{cluster}\" }} }}\n");
        scratch
            .write(&format!("{top}/kustomization.yaml"), "resources: [flux-system.yaml, ../../../common]\n")
            .write(&format!("{top}/flux-system.yaml"), flux_kustomization("flux-system", &top, &values));
        app(&scratch, &format!("apps/web/{region}/{cluster}"), &["ConfigMap", "Secret"]);
        app(&scratch, &format!("apps/base/{region}"), &["ConfigMap", "Secret"]);
    }
    let waits = "  dependsOn: [{ name: web }, { name: base }]\n";
    scratch
        .write("common/kustomization.yaml", "resources: [web.yaml, base.yaml, after.yaml]\n")
        .write("common/web.yaml", flux_kustomization("web", web, ""))
        .write("common/base.yaml", flux_kustomization("base", "apps/base/${REGION}", ""))
        .write("common/after.yaml", flux_kustomization("after", "apps/after", waits));
    app(&scratch, "apps/after", &["Secret"]);
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

/// Writes an entry point with one app of these kinds.
fn app(scratch: &Scratch, folder: &str, kinds: &[&str]) {
    let name = folder.replace('/', "-");
    let files: Vec<String> = kinds.iter().map(|kind| format!("{kind}.yaml")).collect();
    scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [app]\n");
    let list = format!("resources: [{}]\n", files.join(", "));
    scratch.write(&format!("{folder}/app/kustomization.yaml"), list);
    for kind in kinds {
        let text = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: shop }}\n");
        scratch.write(&format!("{folder}/app/{kind}.yaml"), text);
    }
}

const WEB: &str = "apps/web/${REGION}/${CLUSTER}";

#[test]
fn one_file_goes_on_naming_the_folder_of_each_cluster() {
    let scratch = fleet(WEB);
    scratch.take(&["split", "--all", "--yes"]);
    let prepared = scratch.text("common/web.yaml");
    assert_eq!(prepared.matches("gitops-windows: was").count(), 2, "{prepared}");
    scratch.expect(0, &["verify"]);
    // Not one cluster alone.
    insta::assert_snapshot!(scratch.expect(5, &["migrate", "--cluster", "eu-00", "--yes"]).stderr);
    insta::assert_snapshot!(scratch.take(&["migrate", "--yes"]).stderr);
    nothing_is_deleted(&scratch);
    let made = ["web-rt", "web-rw", "base-rt", "base-rw", "after"]
        .map(|name| scratch.text(&format!("common/{name}.yaml")));
    insta::assert_snapshot!(made.concat());
    assert!(!scratch.top().join("common/web.yaml").exists());
    scratch.expect(0, &["verify"]);
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    assert!(scratch.text("common/web-rw.yaml").contains("  prune: true\n"));
    for left in ["apps/web/eu/00", "apps/web/eu/01", "apps/web/us/00", "apps/base/eu", "apps/base/us"] {
        assert!(!scratch.top().join(left).join("kustomization.yaml").exists(), "{left} has nobody any more");
    }
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["check"]).stdout, "");
    let run = scratch.take(&["migrate", "--dry-run"]);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
}

#[test]
fn its_split_is_taken_back_whole() {
    let scratch = fleet(WEB);
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.take(&["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join left something");
}

#[test]
fn folders_of_one_file_are_divided_alike_or_not_at_all() {
    let scratch = fleet(WEB);
    // Nothing of it waits there.
    app(&scratch, "apps/web/us/00", &["ConfigMap"]);
    scratch.commit();
    insta::assert_snapshot!(scratch.run(&["split", "--all", "--dry-run"]).stderr);
    scratch.take(&["split", "--all", "--yes"]);
    assert!(scratch.text("common/base.yaml").contains("gitops-windows: was"));
    assert!(!scratch.text("common/web.yaml").contains("gitops-windows: was"));
    assert!(!scratch.top().join("apps/web/eu/00/00-rt").exists());
}

#[test]
fn a_variable_of_several_folders_names_no_side_by_its_name() {
    let scratch = fleet("apps/web/${REGION:=eu}/${CLUSTER}");
    scratch.take(&["split", "--all", "--yes"]);
    let scratch = fleet(WEB);
    for (region, cluster) in [("eu", "00"), ("eu", "01"), ("us", "00")] {
        let file = format!("clusters/{region}/{cluster}/flux-system.yaml");
        let value = format!("CLUSTER_PATH: {region}/{cluster}, REGION");
        scratch.replace(&file, "REGION", &value);
    }
    scratch.replace("common/web.yaml", "${REGION}/${CLUSTER}", "${CLUSTER_PATH}");
    scratch.commit();
    insta::assert_snapshot!(scratch.run(&["split", "--all", "--dry-run"]).stderr);
    scratch.replace("windows.yaml", "types:\n", "layout: { entryPoint: \"{path}/{type}\" }\ntypes:\n");
    scratch.commit();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    assert!(scratch.text("common/web-rw.yaml").contains("apps/web/${CLUSTER_PATH}/rw\"\n"));
}
