//! Gates, by the real binary: who is held back, who may do it, and that none stops by accident.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use std::collections::{BTreeMap, BTreeSet};

use gitops_windows::render::{Embedded, Renderer};
use gitops_windows::repo::command::turns;
use serde_json::Value;
use support::scratch::{Scratch, assert_same};
use support::{folder, read};

const WINDOW: [&str; 6] =
    ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];

/// Renders a folder of the repository.
fn rendered(scratch: &Scratch, path: &str) -> Vec<Value> {
    let results = Embedded::default().render(&read(scratch.top()), &[folder(path)]);
    results.into_iter().next().unwrap().unwrap().into_iter().map(|object| object.value).collect()
}

/// Gives each CronJob's schedule, zone, whether it is suspended, and whom it turns.
fn jobs(objects: &[Value]) -> BTreeMap<String, (String, String, bool, BTreeSet<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let jobs = objects.iter().filter(|object| object["kind"] == "CronJob");
    jobs.map(|job| {
        let spec = &job["spec"];
        let held = turns(&spec["jobTemplate"]["spec"]["template"]["spec"]).into_iter().map(|turn| turn.name);
        let suspended = spec["suspend"].as_bool().unwrap_or(false);
        let value = (text(&spec["schedule"]), text(&spec["timeZone"]), suspended, held.collect());
        (text(&job["metadata"]["name"]), value)
    })
    .collect()
}

fn allowed(objects: &[Value]) -> BTreeSet<String> {
    let roles = objects.iter().filter(|object| object["kind"] == "Role");
    let rules = roles.flat_map(|role| role["rules"].as_array().unwrap());
    let names = rules.flat_map(|rule| rule["resourceNames"].as_array().unwrap());
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// A repository that is split and handed over from the start.
fn scaffold() -> Scratch {
    let scratch = Scratch::empty();
    let mut arguments = vec!["init", "--yes", "--cluster", "edge-01", "--cluster", "edge-02", "--app", "web"];
    arguments.extend(WINDOW);
    scratch.expect(0, &arguments);
    scratch.commit();
    scratch
}

#[test]
fn gated_list_role_and_jobs_are_one() {
    for runner in ["kubectl", "flux"] {
        let scratch = scaffold();
        scratch.replace("windows.yaml", "runner: kubectl", &format!("runner: {runner}"));
        scratch.commit();
        scratch.expect(if runner == "kubectl" { 0 } else { 1 }, &["sync"]);
        scratch.expect(0, &["sync", "--yes"]);
        for cluster in ["edge-01", "edge-02"] {
            let objects = rendered(&scratch, &format!("clusters/{cluster}/infra"));
            let held = BTreeSet::from(["apps-rw".to_owned()]);
            assert_eq!(allowed(&objects), held, "{runner}");
            let jobs = jobs(&objects);
            assert_eq!(jobs.len(), 2);
            assert!(jobs.values().all(|(_, zone, suspended, turned)| {
                zone == "Europe/Berlin" && !suspended && *turned == held
            }));
        }
    }
}

/// Lists what every binding of a build allows: who, where, on what, by which name, which verbs.
fn permissions(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("*").to_owned();
    let list = |value: &Value| {
        let words = value.as_array().into_iter().flatten().map(text);
        words.collect::<Vec<_>>().join(",")
    };
    let bindings = objects.iter().filter(|object| text(&object["kind"]).ends_with("RoleBinding"));
    let mut found = Vec::new();
    for binding in bindings {
        let reference = &binding["roleRef"];
        let role = objects.iter().find(|object| {
            object["kind"] == reference["kind"] && object["metadata"]["name"] == reference["name"]
        });
        for rule in role.unwrap()["rules"].as_array().unwrap() {
            for subject in binding["subjects"].as_array().unwrap() {
                found.push(format!(
                    "{} {}/{} in {}: {} {} [{}] {}",
                    text(&subject["kind"]),
                    text(&subject["namespace"]),
                    text(&subject["name"]),
                    text(&binding["metadata"]["namespace"]),
                    list(&rule["apiGroups"]),
                    list(&rule["resources"]),
                    list(&rule["resourceNames"]),
                    list(&rule["verbs"]),
                ));
            }
        }
    }
    found
}

#[test]
fn the_service_account_may_do_exactly_this() {
    for (runner, verbs) in [("kubectl", "get,patch"), ("flux", "get,list,patch")] {
        for (types, names) in [(1, "apps-rw"), (2, "apps-db,apps-rw")] {
            let scratch = scaffold();
            scratch.replace("windows.yaml", "runner: kubectl", &format!("runner: {runner}"));
            if types == 2 {
                let spec = scratch.text("windows.yaml");
                let window = spec.lines().find(|line| line.starts_with("    window: ")).unwrap();
                scratch.replace("windows.yaml", window, &format!("{window}\n  db:\n{window}"));
                scratch.replace("windows.yaml", "rules:", "rules:\n  - { kind: Secret, type: db }");
                for cluster in ["edge-01", "edge-02"] {
                    let flux = scratch.text(&format!("clusters/{cluster}/flux/apps-rw.yaml"));
                    scratch.write(
                        &format!("clusters/{cluster}/flux/apps-db.yaml"),
                        flux.replace("apps-rw", "apps-db"),
                    );
                    scratch.write(
                        &format!("clusters/{cluster}/apps/apps-db/kustomization.yaml"),
                        "resources: [settings.yaml]\n",
                    );
                    scratch.write(
                        &format!("clusters/{cluster}/apps/apps-db/settings.yaml"),
                        "apiVersion: v1\nkind: Secret\nmetadata: { name: db, namespace: web }\n",
                    );
                }
            }
            scratch.commit();
            scratch.expect(0, &["sync", "--yes"]);
            scratch.commit();
            let objects = rendered(&scratch, "clusters/edge-01/infra");
            assert_eq!(
                permissions(&objects),
                [format!(
                    "ServiceAccount jobs/reconciliation-window in flux-system: kustomize.toolkit.fluxcd.io \
                     kustomizations [{names}] {verbs}"
                )],
                "{runner}, {types} gated types"
            );
            // The tool has nothing to say against its own gates.
            let check = scratch.run(&["check", "--format", "github", "--fail-on", "note"]);
            for code in ["GW003", "GW005", "GW006", "GW025", "GW026", "GW027", "GW028", "GW029", "GW031"] {
                assert!(!check.stdout.contains(code), "{runner} {types}: {}", check.stdout);
            }
        }
    }
}

#[test]
fn windows_that_differ_reach_their_cluster_only() {
    let scratch = scaffold();
    let own = "  edge-02: { windows: { rw: { timeZone: America/New_York, open: 0 20 * * TUE, close: 0 2 * * WED } } }";
    scratch.replace("windows.yaml", "  edge-02: {}", own);
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    let of = |cluster: &str| jobs(&rendered(&scratch, &format!("clusters/{cluster}/infra")));
    let open = "open-reconciliation-window";
    assert_eq!(
        (of("edge-01")[open].0.as_str(), of("edge-01")[open].1.as_str()),
        ("0 22 * * SAT", "Europe/Berlin")
    );
    assert_eq!(
        (of("edge-02")[open].0.as_str(), of("edge-02")[open].1.as_str()),
        ("0 20 * * TUE", "America/New_York")
    );
}

#[test]
fn a_gate_that_works_goes_on_working() {
    let scratch = Scratch::fixture("adopted");
    let clusters = ["plant-north", "plant-south"];
    let state = |scratch: &Scratch| {
        clusters.map(|cluster| jobs(&rendered(scratch, &format!("clusters/{cluster}/infra"))))
    };
    let before = state(&scratch);
    assert!(before.iter().all(|jobs| jobs.len() == 2 && jobs.values().all(|job| !job.2)));
    scratch.expect(0, &["init", "--yes"]);
    scratch.commit();
    assert_eq!(state(&scratch), before);
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    assert_eq!(state(&scratch), before);
    scratch.expect(0, &["sync"]);
}

#[test]
fn a_new_entry_point_or_type_stops_no_gate() {
    let scratch = scaffold();
    let flux = scratch.text("clusters/edge-01/flux/apps-rt.yaml");
    let more =
        flux.replace("apps-rt", "extras").replace("clusters/edge-01/apps/extras", "clusters/edge-01/extras");
    scratch.write("clusters/edge-01/flux/extras.yaml", more);
    scratch.write(
        "clusters/edge-01/extras/kustomization.yaml",
        "resources:\n- ../../../apps/web/web-rw\nnamePrefix: extra-\n",
    );
    scratch.replace("windows.yaml", "types:\n", "types:\n  now: {}\n");
    scratch.commit();
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    let jobs = jobs(&rendered(&scratch, "clusters/edge-01/infra"));
    assert!(jobs.values().all(|(_, _, suspended, held)| !suspended && held.contains("apps-rw")), "{jobs:?}");
}

#[test]
fn what_windows_yaml_no_longer_speaks_of_is_said() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "");
    scratch.commit();
    let run = scratch.run(&["sync"]);
    assert!(run.stderr.contains("edge-02") && run.stderr.contains("goes on closing"), "{}", run.stderr);
}

#[test]
fn a_gate_that_holds_back_nothing_any_more_goes_on_request() {
    for every in [false, true] {
        let scratch = scaffold();
        let clusters = if every { ["edge-01", "edge-02"].as_slice() } else { &["edge-02"] };
        for cluster in clusters {
            scratch.git(&["rm", "-r", "--quiet", &format!("clusters/{cluster}/apps")]);
            scratch.git(&["rm", "--quiet", "-r", &format!("clusters/{cluster}/flux/apps-rt.yaml")]);
            scratch.git(&["rm", "--quiet", "-r", &format!("clusters/{cluster}/flux/apps-rw.yaml")]);
        }
        scratch.commit();
        let kept = rendered(&scratch, "clusters/edge-02/infra");
        let run = scratch.run(&["sync", "--yes"]);
        assert!(matches!(run.code, 0 | 1), "{run:?}");
        for said in [
            "clusters/edge-02/infra carries a gate of cluster edge-02 which has nothing to hold back any more",
            "`gitops-windows sync --allow-deletion` takes it out and says what the cluster deletes",
        ] {
            assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        }
        assert_eq!(rendered(&scratch, "clusters/edge-02/infra").len(), kept.len());
        scratch.commit();
        let run = scratch.expect(0, &["sync", "--yes", "--allow-deletion"]);
        let said = "a cluster deletes CronJob jobs/close-reconciliation-window in edge-02";
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert!(jobs(&rendered(&scratch, "clusters/edge-02/infra")).is_empty());
        assert_eq!(jobs(&rendered(&scratch, "clusters/edge-01/infra")).is_empty(), every);
        scratch.commit();
        let run = scratch.expect(0, &["sync", "--yes"]);
        assert!(run.stderr.contains("Nothing to change"), "{}", run.stderr);
    }
}

#[test]
fn what_no_job_opens_any_more_is_to_be_resumed() {
    let scratch = scaffold();
    let run = scratch.expect(0, &["sync"]);
    assert!(!run.stderr.contains("flux resume"), "{run:?}");
    scratch.replace("windows.yaml", "enabled: true", "enabled: false").commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    let said = "flux resume kustomization apps-rw --namespace flux-system";
    assert!(run.stderr.matches(said).count() == 2, "{run:?}");
    scratch.commit();
    let run = scratch.expect(0, &["sync"]);
    assert!(!run.stderr.contains("flux resume"), "{run:?}");
}

#[test]
fn a_bootstrapped_repository_needs_no_sync() {
    let scratch = scaffold();
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: ./clusters/edge-01/flux\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n";
    scratch.write("clusters/edge-01/flux/flux-system/gotk-sync.yaml", sync);
    scratch.write("clusters/edge-01/flux/flux-system/kustomization.yaml", "resources:\n- gotk-sync.yaml\n");
    scratch.commit();
    let run = scratch.expect(0, &["sync"]);
    assert!(run.stderr.contains("Nothing to change"), "{}", run.stderr);
}

#[test]
fn join_gives_gates_back_too() {
    let scratch = Scratch::empty();
    for entry in ["apps", "infrastructure"] {
        let flux = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {entry}\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: ./{entry}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
        );
        scratch.write(&format!("clusters/c/{entry}.yaml"), flux);
        scratch.write(&format!("{entry}/kustomization.yaml"), format!("resources:\n- of-{entry}\n"));
        let folder = format!("{entry}/of-{entry}");
        scratch.write(&format!("{folder}/kustomization.yaml"), "resources:\n- a.yaml\n- b.yaml\n");
        let object = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {entry}\n");
        scratch.write(&format!("{folder}/a.yaml"), object("ConfigMap"));
        scratch.write(&format!("{folder}/b.yaml"), object("Service"));
    }
    scratch.commit();
    let mut arguments = vec!["init", "--yes"];
    arguments.extend(WINDOW);
    scratch.expect(0, &arguments);
    scratch.commit();
    let before = scratch.tree();
    // The gate then holds back the side of one, and what the other's would be no more.
    scratch.expect(0, &["split", "app", "of-apps", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["join", "app", "of-apps", "--yes"]);
    assert_same(&before, &scratch.tree(), "join left a gate as it was divided");
}

#[test]
fn a_crlf_checkout_needs_no_sync() {
    let scratch = scaffold();
    for path in [
        "infra/reconciliation-windows/role.yaml",
        "clusters/edge-01/infra/reconciliation-windows/kustomization.yaml",
    ] {
        scratch.write(path, scratch.text(path).replace('\n', "\r\n"));
    }
    scratch.commit();
    scratch.expect(0, &["sync"]);
}

#[test]
fn a_generated_file_that_was_edited_is_a_conflict() {
    let scratch = scaffold();
    scratch.replace("infra/reconciliation-windows/role.yaml", "verbs: [get, patch]", "verbs: [\"*\"]");
    scratch.replace("windows.yaml", "0 22 * * SAT", "0 21 * * SAT");
    scratch.commit();
    let run = scratch.expect(4, &["sync", "--yes"]);
    assert!(run.stderr.contains("edited by hand") && run.stderr.contains("role.yaml"), "{}", run.stderr);
}

#[test]
fn invariant_9_a_hostile_name_reaches_no_command() {
    for name in ["apps-rw; id", "$(id)", "apps-rw\\n- x", "--all"] {
        let scratch = scaffold();
        let quoted = format!("name: \"{name}\"");
        scratch.replace("clusters/edge-01/flux/apps-rw.yaml", "name: apps-rw", &quoted);
        scratch.commit();
        let run = scratch.run(&["sync", "--yes"]);
        assert!(
            run.code == 3 && run.stderr.contains("no name that a Flux Kustomization can have"),
            "{name}: {run:?}"
        );
        assert_eq!(scratch.git(&["status", "--short"]), "", "{name}");
    }
}

#[test]
fn a_renamed_type_is_refused_while_its_side_stands() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "  rw:\n", "  slow:\n").replace("windows.yaml", "type: rw", "type: slow");
    scratch.commit();
    let run = scratch.expect(3, &["sync", "--yes"]);
    assert!(run.stderr.contains("no type `rw`"), "{}", run.stderr);
}

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
    assert!(run.stderr.contains("two Flux Kustomizations apply the gate"), "{}", run.stderr);
    assert!(run.stderr.contains(place), "{}", run.stderr);
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
    // What a list puts into another namespace is out of the gate's reach, whatever its file says.
    assert!(run.stderr.contains("Flux Kustomization infra of cluster north"), "{}", run.stderr);
    assert!(run.stderr.contains("it is in namespace tools, and gates act in flux-system"), "{}", run.stderr);
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
    let reason = "the build of clusters/north sets its `spec.targetNamespace` to \"shop\"";
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
fn what_does_not_build_is_said_to_have_no_gate() {
    let scratch = Scratch::fixture("overlays");
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    scratch.write("apps/north/kustomization.yaml", "resources: [nothing.yaml]\n").commit();
    let run = scratch.run(&["sync"]);
    let said = "warning: apps/north of cluster north does not build, so no gate holds it back";
    assert!(run.stderr.contains(said) && run.stderr.contains("clusters/north/apps.yaml:"), "{run:?}");
}

#[test]
fn a_namespace_that_a_gate_leaves_goes_on_request_alone() {
    let scratch = scaffold();
    let spec = scratch.text("windows.yaml");
    let moved = |scratch: &Scratch| {
        let gate = spec.find("\ngate:").map_or(spec.len(), |at| at + 1);
        let (head, tail) = spec.split_at(gate);
        let rest = tail.split_inclusive('\n').skip(1).skip_while(|line| line.starts_with(' '));
        scratch
            .write("windows.yaml", format!("{head}{}gate: {{ namespace: ops }}\n", rest.collect::<String>()));
        scratch.commit();
    };
    moved(&scratch);
    let before = scratch.tree();
    let run = scratch.expect(5, &["sync", "--yes"]);
    for cluster in ["edge-01", "edge-02"] {
        let goes = format!("a cluster deletes Namespace jobs in {cluster}: ");
        assert!(
            run.stderr.contains(&goes) && run.stderr.contains("with everything that is in it"),
            "{}",
            run.stderr
        );
    }
    assert!(run.stderr.contains("kubectl annotate namespace jobs --field-manager=flux"), "{}", run.stderr);
    assert!(!run.stderr.contains("CronJob"), "what serves the gate alone may go: {}", run.stderr);
    scratch.expect(5, &["diff"]);
    assert_same(&before, &scratch.tree(), "a refused sync wrote");
    let run = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]);
    assert!(run.stderr.contains("a cluster deletes Namespace jobs in edge-01"), "{}", run.stderr);
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");

    // Other names for what serves the gate alone need no leave.
    let scratch = scaffold();
    let spec = scratch.text("windows.yaml");
    scratch.write("windows.yaml", format!("{spec}layout: {{ openJob: begin, closeJob: end }}\n")).commit();
    if spec.contains("\nlayout:") {
        scratch.write(
            "windows.yaml",
            spec.replace("\nlayout:\n", "\nlayout:\n  openJob: begin\n  closeJob: end\n"),
        );
        scratch.commit();
    }
    scratch.expect(0, &["sync", "--yes"]);
}

#[test]
fn who_waits_for_one_of_the_same_name_in_another_namespace_stops_no_gate() {
    let scratch = Scratch::empty();
    let flux = |name: &str, namespace: &str, path: &str, more: &str| {
        scratch.write(
            &format!("clusters/north/{namespace}-{name}.yaml"),
            format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: {namespace} }}\nspec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system, namespace: flux-system }}\n{more}"
            ),
        );
    };
    flux("flux-system", "flux-system", "clusters/north", "");
    flux("apps", "flux-system", "apps/north", "");
    flux("apps", "team", "team/own", "");
    flux("tenant", "team", "team/tenant", "  dependsOn: [{ name: apps }]\n");
    for (folder, kind) in [("apps/north", "Secret"), ("team/own", "ConfigMap"), ("team/tenant", "ConfigMap")]
    {
        let name = folder.replace('/', "-");
        scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [all.yaml]\n");
        scratch.write(
            &format!("{folder}/all.yaml"),
            format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: default }}\n"),
        );
    }
    scratch.write("windows.yaml", format!("{}  north: {{}}\n", divided::SPEC)).commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(!run.stderr.contains("no gate holds back"), "{}", run.stderr);
    assert!(!run.stderr.contains("is real-time and waits for"), "{}", run.stderr);
    let objects = rendered(&scratch, "clusters/north/infra/reconciliation-windows");
    assert_eq!(allowed(&objects), BTreeSet::from(["apps".to_owned()]));

    // Said with its namespace, it is the one that the gate holds back.
    flux("tenant", "team", "team/tenant", "  dependsOn: [{ name: apps, namespace: flux-system }]\n");
    scratch.commit();
    let run = scratch.run(&["sync"]);
    assert!(run.stderr.contains("no gate holds back Flux Kustomization apps"), "{}", run.stderr);
}
