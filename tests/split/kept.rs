//! What a side keeps of what all sides of a projection read.

use crate::repository::{CONFIG_MAP, DEPLOYMENT, app, flux, repository, spec};
use crate::support::scratch::Scratch;

/// Divides all, and hands it over.
fn migrate(scratch: &Scratch) {
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
}

/// Which of these names of Flux Kustomizations a command tells.
fn told(scratch: &Scratch, arguments: &[&str]) -> Vec<&'static str> {
    let run = scratch.expect(0, arguments);
    ["shop-rt", "shop-rw"].into_iter().filter(|name| run.stdout.contains(name)).collect()
}

#[test]
fn a_file_is_told_of_the_sides_that_keep_something_of_it() {
    let rules = "rules:\n  - { valuesOf: HelmRelease, type: rw }\n  - { kind: ConfigMap, type: rt }\n  - { type: rw }\n";
    let list = "resources:\n  - config.yaml\n  - deployment.yaml\npatches:\n  - path: patch.yaml\n    target: { kind: Deployment }\n\
                configMapGenerator:\n  - name: made\n    files: [made.txt]\n\
                secretGenerator:\n  - name: made\n    files: [secret.txt]\n\
                generatorOptions:\n  disableNameSuffixHash: true\n";
    let patch = "- op: add\n  path: /metadata/labels\n  value: { a: b }\n";
    let scratch = repository(&[
        ("windows.yaml", &(spec() + rules)),
        ("apps/shop/kustomization.yaml", list),
        ("apps/shop/config.yaml", &CONFIG_MAP.replace("NAME", "shop")),
        ("apps/shop/deployment.yaml", &DEPLOYMENT.replace("NAME", "shop")),
        ("apps/shop/patch.yaml", patch),
        ("apps/shop/made.txt", "a\n"),
        ("apps/shop/secret.txt", "a\n"),
    ]);
    flux(&scratch, "apps/shop");
    migrate(&scratch);
    for (file, sides) in [
        ("config.yaml", &["shop-rt"][..]),
        ("deployment.yaml", &["shop-rw"]),
        ("made.txt", &["shop-rt"]),
        ("secret.txt", &["shop-rw"]),
        // What a patch changes is not asked.
        ("patch.yaml", &["shop-rt", "shop-rw"]),
    ] {
        let path = format!("apps/shop/{file}");
        assert_eq!(told(&scratch, &["when", &path]), sides, "when {file}");
        assert_eq!(told(&scratch, &["explain", &path]), sides, "explain {file}");
    }
}

#[test]
fn a_new_app_goes_to_the_list_that_the_sides_share() {
    let scratch = repository(&[
        ("apps/a.yaml", &CONFIG_MAP.replace("NAME", "a")),
        ("apps/b.yaml", &DEPLOYMENT.replace("NAME", "b")),
    ]);
    flux(&scratch, "apps");
    scratch.take(&["sync", "--yes"]);
    let run = scratch.take(&["split", "--all", "--yes"]);
    let said =
        "Flux listed by itself what lies below apps. From now on apps/apps-all/kustomization.yaml does";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    app(&scratch, "apps/new");
    let (side, shared) = ("apps/apps-rw/kustomization.yaml", "apps/apps-all/kustomization.yaml");
    let before = scratch.text(side);
    scratch.write(side, before.replace("  - ../apps-all\n", "  - ../apps-all\n  - ../new\n")).commit();
    for (code, command) in [(5, &["split", "new"][..]), (4, &["sync"]), (1, &["check"])] {
        let run = scratch.expect(code, command);
        let told = run.stdout + &run.stderr;
        assert!(told.contains(&format!("list new apps in {shared}")), "{command:?}: {told}");
    }
    scratch.write(side, before).write(shared, scratch.text(shared) + "  - ../new\n").commit();
    for command in [&["sync"][..], &["split", "new"], &["verify"], &["check"]] {
        scratch.expect(0, command);
    }
}

/// What a copied cluster says of itself is what the tool would write: only the first lines are those of the other one.
#[test]
fn a_copy_of_a_cluster_is_no_edit_by_hand() {
    let scratch = repository(&[]);
    app(&scratch, "apps/shop");
    flux(&scratch, "apps/shop");
    migrate(&scratch);
    let own = "clusters/c/reconciliation-windows.yaml";
    assert!(scratch.text(own).contains("path: ./clusters/c/"), "{}", scratch.text(own));
    for file in scratch.git(&["ls-files", "clusters/c"]).lines() {
        let copy = scratch.text(file).replace("clusters/c", "clusters/d");
        scratch.write(&file.replace("clusters/c", "clusters/d"), copy);
    }
    scratch.replace("windows.yaml", "  c: {}\n", "  c: {}\n  d: {}\n").commit();
    let told = |code| {
        let run = scratch.expect(code, &["check"]);
        run.stdout + &run.stderr
    };
    let before = told(0);
    scratch.take(&["sync", "--yes"]);
    assert_eq!(told(0), before);
    let run = scratch.expect(0, &["sync"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to change."));
    // An edit is one.
    let copy = "clusters/d/reconciliation-windows.yaml";
    scratch.replace(copy, "interval: 10m", "interval: 11m").commit();
    assert!(told(1).contains("GW046"));
}
