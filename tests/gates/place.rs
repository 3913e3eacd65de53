//! Where a gate stands, and who applies it.

use crate::support::scratch::Scratch;
use crate::{WINDOW, jobs, rendered};

#[test]
fn a_gate_has_one_owner_where_nothing_in_git_applies_the_flux_kustomizations() {
    let scratch = Scratch::fixture("overlays");
    for cluster in ["north", "south"] {
        let folder = format!("clusters/{cluster}");
        scratch.git(&[
            "rm",
            "-r",
            "--quiet",
            &format!("{folder}/flux-system"),
            &format!("{folder}/infra.yaml"),
        ]);
    }
    scratch.commit();
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    // Flux lists what lies below `clusters/north`, and the gate is not there.
    let flux = scratch.text("clusters/north/reconciliation-windows.yaml");
    assert!(flux.contains("path: ./infra/reconciliation-windows-north\n"), "{flux}");
    assert_eq!(jobs(&rendered(&scratch, "infra/reconciliation-windows-north")).len(), 2);
    assert!(!scratch.top().join("clusters/north/infra").exists());
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");

    // A spec that says otherwise is followed, with a word of warning.
    let spec = scratch.text("windows.yaml");
    let place = "infra/reconciliation-windows-{cluster}";
    scratch.write("windows.yaml", spec.replace(place, "clusters/{cluster}/infra/reconciliation-windows"));
    let run = scratch.expect(1, &["sync"]);
    assert!(run.stderr.contains("Two Flux Kustomizations may apply the gate"), "{}", run.stderr);
    assert!(run.stderr.contains(place), "{}", run.stderr);
}

#[test]
fn the_base_of_gates_is_in_no_folder_that_flux_lists_by_itself() {
    let scratch = Scratch::fixture("overlays");
    let flux = scratch.text("clusters/north/apps.yaml").replace("name: apps", "name: infra-all");
    scratch.write("clusters/north/all.yaml", flux.replace("./apps/north", "./infra"));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: i, namespace: default }\n";
    scratch.git(&["rm", "-r", "--quiet", "infra"]);
    for cluster in ["north", "south"] {
        scratch.git(&["rm", "--quiet", &format!("clusters/{cluster}/infra.yaml")]);
    }
    std::fs::create_dir(scratch.top().join("infra")).unwrap();
    scratch.write("infra/map.yaml", map).commit();
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    assert!(scratch.text("windows.yaml").contains("gate: reconciliation-windows/base\n"));
    assert!(scratch.top().join("reconciliation-windows/base/kustomization.yaml").exists());
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    assert_eq!(jobs(&rendered(&scratch, "clusters/north/infra/reconciliation-windows")).len(), 2);
}

/// A cluster whose list names the Flux Kustomizations in a folder of their own, and that list.
fn listed_apart() -> (Scratch, String) {
    let scratch = Scratch::fixture("overlays");
    let mut list = String::from("resources:\n- flux-system\n");
    scratch.git(&["rm", "--quiet", "clusters/north/infra.yaml"]);
    std::fs::create_dir(scratch.top().join("clusters/north/all")).unwrap();
    for name in ["apps.yaml", "reports.yaml"] {
        scratch.git(&["mv", &format!("clusters/north/{name}"), &format!("clusters/north/all/{name}")]);
        list += &format!("- all/{name}\n");
    }
    scratch.write("clusters/north/kustomization.yaml", &list).commit();
    (scratch, list)
}

#[test]
fn a_gate_is_listed_where_the_flux_kustomizations_beside_it_are() {
    let (scratch, mut list) = listed_apart();
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    list += "- all/reconciliation-windows.yaml\n";
    assert_eq!(scratch.text("clusters/north/kustomization.yaml"), list);
    let flux = scratch.text("clusters/north/all/reconciliation-windows.yaml");
    assert!(flux.contains("name: reconciliation-windows\n"), "{flux}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn a_gate_is_listed_by_the_root_where_that_leaves_its_own_flux_kustomization_out() {
    let scratch = Scratch::fixture("overlays");
    for file in ["apps.yaml", "infra.yaml", "reports.yaml"] {
        scratch.git(&["rm", "--quiet", &format!("clusters/north/{file}")]);
    }
    scratch.write("clusters/north/web/kustomization.yaml", "resources:\n- ../../../apps/north\n");
    scratch.write("clusters/north/kustomization.yaml", "resources:\n- web\n").commit();
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    let list = scratch.text("clusters/north/kustomization.yaml");
    assert_eq!(list, "resources:\n- web\n- reconciliation-windows.yaml\n");
    assert!(!scratch.text("clusters/north/flux-system/kustomization.yaml").contains("reconciliation"));
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// Moves the Flux Kustomizations of a cluster into folders whose lists give these namespaces, and the
/// first of which gives `targetNamespace` to all of them.
fn by_namespace(scratch: &Scratch, cluster: &str, folders: &[(&str, &str, &str)]) {
    let mut list = String::from("resources:\n");
    if scratch.top().join(format!("clusters/{cluster}/flux-system")).exists() {
        list += "- flux-system\n";
    }
    for (index, (folder, namespace, name)) in folders.iter().enumerate() {
        let folder = format!("clusters/{cluster}/{folder}");
        std::fs::create_dir(scratch.top().join(&folder)).unwrap();
        scratch.git(&["mv", &format!("clusters/{cluster}/{name}.yaml"), &format!("{folder}/{name}.yaml")]);
        let mut text = format!("namespace: {namespace}\nresources: [namespace.yaml, {name}.yaml]\n");
        if index == 0 {
            text += "replacements:\n- source: { kind: Namespace, fieldPath: metadata.name }\n  targets:\n  - select: { group: kustomize.toolkit.fluxcd.io, kind: Kustomization }\n    fieldPaths: [spec.targetNamespace]\n    options: { create: true }\n";
        }
        let own = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {namespace} }}\n");
        scratch.write(&format!("{folder}/namespace.yaml"), own);
        scratch.write(&format!("{folder}/kustomization.yaml"), text);
        list += &format!("- {}\n", folder.rsplit('/').next().unwrap());
    }
    scratch.write(&format!("clusters/{cluster}/kustomization.yaml"), list).commit();
}

#[test]
fn a_gate_goes_where_no_list_gives_it_another_namespace() {
    let scratch = Scratch::fixture("overlays");
    let folders =
        [("a-media", "media", "apps"), ("b-system", "flux-system", "reports"), ("c-tools", "tools", "infra")];
    by_namespace(&scratch, "north", &folders);
    let run = scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    // What a list puts into another namespace is held there, whatever its file says.
    assert!(
        run.stderr.contains("the gate of cluster north suspends tools/infra entirely."),
        "{}",
        run.stderr
    );
    let flux = scratch.text("clusters/north/b-system/reconciliation-windows.yaml");
    assert!(flux.contains("namespace: flux-system\n"), "{flux}");
    let listed = rendered(&scratch, "clusters/north");
    let own = listed.iter().find(|object| object["metadata"]["name"] == "reconciliation-windows").unwrap();
    assert!(own["spec"]["targetNamespace"].is_null(), "{own}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn a_gate_that_every_list_changes_is_refused() {
    let scratch = Scratch::fixture("overlays");
    let gone = ["flux-system", "infra.yaml", "reports.yaml"].map(|name| format!("clusters/north/{name}"));
    scratch.git(&["rm", "-r", "--quiet", &gone[0], &gone[1], &gone[2]]);
    by_namespace(&scratch, "north", &[("system", "flux-system", "apps")]);
    let run = scratch.expect(5, &[&["init", "--yes"][..], &WINDOW].concat());
    let reason = "the build of clusters/north sets its `spec.targetNamespace` to \"flux-system\"";
    assert!(run.stderr.contains(reason), "{}", run.stderr);
    assert!(run.stderr.contains("clusterGate"), "{}", run.stderr);
}

#[test]
fn a_gate_that_a_parent_changes_is_refused() {
    let (scratch, _) = listed_apart();
    let sync = "clusters/north/flux-system/gotk-sync.yaml";
    let patch = "  patches:\n  - target: { kind: Kustomization }\n    patch: |-\n      - { op: add, path: /spec/targetNamespace, value: shop }\n";
    let path = "  path: ./clusters/north\n";
    scratch.replace(sync, path, &format!("{path}{patch}")).commit();
    let run = scratch.expect(5, &[&["init", "--yes"][..], &WINDOW].concat());
    // The list of lists gets that namespace too, and gives it to what it brings.
    let reason = "the build of clusters/north sets its `metadata.namespace` to \"shop\"";
    assert!(run.stderr.contains(reason), "{}", run.stderr);
    // Where a source is said to be what it is without a word, nothing changes.
    let source = "[{ \"op\": \"add\", \"path\": \"/spec/sourceRef/namespace\", \"value\": \"flux-system\" }]";
    let harmless = format!("  patches:\n  - target: {{ kind: Kustomization }}\n    patch: '{source}'\n");
    scratch.replace(sync, patch, &harmless).commit();
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
}

#[test]
fn a_gate_is_not_told_by_that_of_another_cluster() {
    let scratch = Scratch::fixture("overlays");
    let flux = scratch.text("clusters/south/reports.yaml");
    let waits = flux.replace("name: reports\n", "name: notes\n").replace("./reports", "./notes");
    let waits = waits.trim_end().to_owned() + "\n  dependsOn: [{ name: reports }]\n";
    scratch.write("clusters/south/notes.yaml", waits);
    scratch.write(
        "reports/daily.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: { name: daily, namespace: reports }\n",
    );
    scratch.write(
        "notes/notes.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes, namespace: shop }\n",
    );
    scratch.write("notes/kustomization.yaml", "resources: [notes.yaml]\n").commit();
    // Something real-time waits for it in the south, so only the north holds it back.
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    for (cluster, held) in [("north", true), ("south", false)] {
        let objects = rendered(&scratch, &format!("clusters/{cluster}/infra/reconciliation-windows"));
        let found = format!("{:?}", jobs(&objects));
        assert_eq!(found.contains("\"reports\""), held, "{cluster}: {found}");
    }
}

#[test]
fn a_namespace_that_is_another_s_is_not_taken() {
    let namespace = |name: &str| format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
    let list = "infra/priority-classes/kustomization.yaml";
    let given = |scratch: &Scratch, name: &str| {
        let listed = scratch.text(list) + &format!("  - {name}.yaml\n");
        scratch.write(&format!("infra/priority-classes/{name}.yaml"), namespace(name)).write(list, listed);
    };
    let arguments = [&["init", "--yes"][..], &WINDOW].concat();
    let scratch = Scratch::fixture("sample");
    given(&scratch, "jobs");
    scratch.commit().expect(0, &arguments);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("  namespace: reconciliation-windows\n"), "{spec}");

    // Where the spec says it, kustomize refuses it.
    let scratch = Scratch::fixture("sample");
    scratch.expect(0, &arguments);
    given(&scratch, "ops");
    scratch.replace("windows.yaml", "  namespace: jobs\n", "  namespace: ops\n").commit();
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("already registered id: Namespace"), "{}", run.stderr);
    assert!(run.stderr.contains("give the gate another `gate.namespace`"), "{}", run.stderr);
}

/// What git could not merge is neither edited nor taken for somebody else's.
#[test]
fn a_flux_kustomization_of_a_gate_with_conflict_markers() {
    let scratch = Scratch::fixture("per-app");
    scratch.take(&["init", "--yes"]);
    let files = scratch.git(&["ls-files", "*reconciliation-windows.yaml"]);
    let file = files.lines().next().unwrap();
    let text = scratch.text(file);
    let other = text.replace("sha256:", "sha256:0");
    let unmerged = format!("<<<<<<< HEAD\n{text}=======\n{other}>>>>>>> main\n");
    scratch.write(file, &unmerged);
    let told = scratch.expect(4, &["sync", "--yes", "--allow-dirty"]).stderr;
    insta::assert_snapshot!(told);
    assert_eq!(scratch.text(file), unmerged);
    let told = scratch.expect(1, &["check"]).stdout;
    assert!(told.contains("GW014") || told.contains("has conflict markers of git"), "{told}");
}
