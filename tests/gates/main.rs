//! Gates, by the real binary: who is held back, who may do it, and that none stops by accident.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

mod admission;
mod artifact;
mod by_hand;
mod carried;
#[path = "../support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod follow;
mod follow_job;
mod found;
mod leaving;
mod listed;
mod mixed;
mod nameless;
mod namespaces;
mod operator;
mod place;
#[path = "../support/mod.rs"]
mod support;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gitops_windows::mechanism::turns;
use gitops_windows::render::{Embedded, Renderer};
use serde_json::Value;
use support::scratch::Scratch;
use support::{folder, read};

const WINDOW: [&str; 6] =
    ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];

/// Renders a folder of the repository.
fn rendered(scratch: &Scratch, path: &str) -> Vec<Value> {
    let results = Embedded::default().render(&read(scratch.top()), &[folder(path)]);
    results
        .into_iter()
        .next()
        .unwrap()
        .unwrap()
        .into_iter()
        .map(|object| Arc::unwrap_or_clone(object.value))
        .collect()
}

/// Returns each CronJob's schedule, zone, whether it is suspended, and whom it turns.
fn jobs(objects: &[Value]) -> BTreeMap<String, (String, String, bool, BTreeSet<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let jobs = objects.iter().filter(|object| object["kind"] == "CronJob");
    jobs.map(|job| {
        let spec = &job["spec"];
        let held = turns(job).into_iter().map(|turn| turn.name);
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
            object["kind"] == reference["kind"]
                && object["metadata"]["name"] == reference["name"]
                && (object["kind"] == "ClusterRole"
                    || object["metadata"]["namespace"] == binding["metadata"]["namespace"])
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
            scratch.take(&["sync", "--yes"]);
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
    scratch.take(&["init", "--yes"]);
    assert_eq!(state(&scratch), before);
    scratch.take(&["split", "--all", "--yes"]);
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

/// A copy has the checksums of what it was copied from; beside a file that somebody did edit it is no edit either.
#[test]
fn a_copied_cluster_is_no_edit_beside_one() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    for words in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(words);
    }
    for file in scratch.git(&["ls-files", "clusters/edge-02"]).lines() {
        let copy = scratch.text(file).replace("edge-02", "edge-03");
        scratch.write(&file.replace("edge-02", "edge-03"), copy);
    }
    scratch.replace("windows.yaml", "  edge-02:", "  edge-03: {}\n  edge-02:");
    let edited = "clusters/edge-01/infra/reconciliation-windows/open-reconciliation-window-patch.yaml";
    scratch.replace(edited, "0 22 * * SAT", "0 20 * * SAT").commit();
    let run = scratch.run(&["check"]);
    let told = run.stdout + &run.stderr;
    let found: Vec<&str> = told.lines().filter(|line| line.contains("was edited by hand")).collect();
    assert!(found.len() == 1 && found[0].contains(edited), "{told}");
}

#[test]
fn a_role_of_ones_own_may_have_a_rule_for_each_verb() {
    let scratch = scaffold();
    let role = include_str!("../../templates/role.yaml.j2");
    let rule = role[role.find("  - apiGroups").unwrap()..].to_owned();
    let one = |verb: &str| rule.replace("{{ verbs }}", &format!("[\"{verb}\"]"));
    let own = role.replace(&rule, &(one("get") + &one("patch")));
    scratch.write("templates/role.yaml.j2", &own).commit();
    scratch.expect(0, &["sync", "--yes"]);
    let objects = rendered(&scratch, "clusters/edge-01/infra/reconciliation-windows");
    assert_eq!(objects.iter().filter(|object| object["kind"] == "Role").count(), 1);
    assert_eq!(allowed(&objects), BTreeSet::from(["apps-rw".to_owned()]));
    scratch.commit();

    let names = own.rfind("    resourceNames").unwrap();
    let verbs = own.rfind("    verbs").unwrap();
    scratch.write("templates/role.yaml.j2", own[..names].to_owned() + &own[verbs..]).commit();
    let run = scratch.run(&["sync", "--yes"]);
    assert!(run.code != 0 && run.stderr.contains("names nothing, so it allows everything"), "{run:?}");
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
            run.code == 3 && run.stderr.contains("is no valid name of a Flux Kustomization"),
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

/// What both sides of a merge would bring is not decided: neither what waits for a window.
#[test]
fn what_a_merge_left_undecided_is_refused_and_nothing_is_written() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    for words in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(words);
    }
    scratch.replace("windows.yaml", "namespace: jobs", "namespace: other").commit();
    for (file, from) in [
        ("clusters/edge-01/apps/apps-rw/kustomization.yaml", "resources:"),
        ("apps/probe/deployment.yaml", "kind: Deployment"),
        ("clusters/edge-01/infra/kustomization.yaml", "resources:"),
    ] {
        let marks = format!("<<<<<<< HEAD\n{from}\n=======\n# other\n{from}\n>>>>>>> other\n");
        scratch.replace(file, from, &marks);
        scratch.commit();
        for words in [&["sync", "--yes"][..], &["diff"]] {
            let told = scratch.expect(5, words).stderr;
            assert!(told.contains(&format!("{file} holds a merge conflict")), "{words:?}: {told}");
            assert_eq!(scratch.git(&["status", "--short"]), "", "{file}");
        }
        scratch.git(&["revert", "--no-edit", "HEAD"]);
    }
    scratch.expect(0, &["sync", "--yes"]);
}

/// Marks in files that the tool wrote are no edit, and their folder is still the gate's.
#[test]
fn marks_of_a_merge_in_the_gate_are_told_as_such() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    let files = scratch.git(&["ls-files", "*reconciliation-windows*"]);
    assert!(files.lines().count() > 2, "{files}");
    for file in files.lines() {
        let text = std::fs::read_to_string(scratch.top().join(file)).unwrap();
        let (line, body) = text.split_once('\n').unwrap();
        let whole = format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n");
        let rest = format!("{line}\n<<<<<<< HEAD\n{body}=======\n{body}# other\n>>>>>>> other\n");
        for marked in [whole, rest] {
            scratch.write(file, marked).commit();
            let run = scratch.run(&["sync", "--yes"]);
            assert!(matches!(run.code, 4 | 5), "{file}: {run:?}");
            let is_told = ["has conflict markers of git", "holds a merge conflict"];
            assert!(is_told.iter().any(|told| run.stderr.contains(told)), "{file}: {}", run.stderr);
            for wrong in ["choose another folder", "edited by hand"] {
                assert!(!run.stderr.contains(wrong), "{file}: {}", run.stderr);
            }
            assert_eq!(scratch.git(&["status", "--short"]), "", "{file}");
        }
        scratch.write(file, &text).commit();
    }
}

/// That nothing is to be done may be for want of what can't be read.
#[test]
fn what_does_not_build_is_told_where_nothing_else_changes() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    for words in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(words);
    }
    let side = "clusters/edge-01/apps/apps-rw";
    scratch.replace(&format!("{side}/kustomization.yaml"), "resources:", "}{\nresources:").commit();
    let all = [
        (0, &["sync", "--yes"][..]),
        (0, &["diff"]),
        (0, &["split", "--all", "--dry-run"]),
        (0, &["migrate"]),
    ];
    for (code, words) in all {
        let told = scratch.expect(code, words).stderr;
        assert_eq!(
            told.matches(&format!("warning: {side} does not build: ")).count(),
            1,
            "{words:?}: {told}"
        );
    }
    let told = scratch.expect(0, &["windows", "list"]).stderr;
    assert!(!told.contains("does not build"), "{told}");
}

#[test]
fn what_does_not_build_changes_no_gate() {
    let scratch = Scratch::fixture("overlays");
    scratch.write("apps/north/kustomization.yaml", "resources: [nothing.yaml]\n").commit();
    let run = scratch.run(&[&["init", "--yes"][..], &WINDOW].concat());
    let said = "warning: apps/north of cluster north does not build, and no gate suspends it";
    assert!(run.stderr.contains(said) && run.stderr.contains("clusters/north/apps.yaml:"), "{run:?}");

    for (file, from, to, is_known) in [
        ("clusters/edge-01/apps/apps-rw/kustomization.yaml", "resources:", "}{\nresources:", true),
        ("clusters/edge-01/apps/apps-rw/kustomization.yaml", "  - ../probe", "  - ../gone", true),
        ("apps/probe/deployment.yaml", "kind: Deployment", "}{\nkind: Deployment", true),
        ("clusters/edge-01/infra/kustomization.yaml", "resources:", "}{\nresources:", true),
        ("clusters/edge-01/flux/apps-rw.yaml", "kind: Kustomization", "}{\nkind: Kustomization", false),
    ] {
        let scratch = Scratch::fixture("sample");
        scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
        for words in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
            scratch.take(words);
        }
        scratch
            .replace(file, from, to)
            .replace("windows.yaml", "namespace: jobs", "namespace: other")
            .commit();
        if is_known {
            // The gate holds back just what it did.
            let told = scratch.expect(0, &["sync", "--yes"]).stderr;
            assert!(told.contains("mend it; until then its gate goes by the same targets"), "{file}: {told}");
            let gate = "clusters/edge-01/infra/reconciliation-windows/close-reconciliation-window-patch.yaml";
            let diff = scratch.git(&["diff", "--no-color", gate]);
            assert!(diff.contains("+  namespace: other"), "{file}: {diff}");
            assert!(!diff.contains("+  suspend:") && !diff.contains("apps-rw"), "{file}: {diff}");
            scratch.git(&["checkout", "--quiet", "."]);
        }
        let run = if is_known { scratch.expect(1, &["sync"]) } else { scratch.expect(3, &["sync", "--yes"]) };
        assert!(
            is_known || run.stderr.contains("the targets of the cluster's gate are unknown"),
            "{file}: {}",
            run.stderr
        );
        assert_eq!(scratch.git(&["status", "--short"]), "", "{file}");
        let told = scratch.run(&["check"]);
        assert_eq!((told.stdout + &told.stderr).contains("GW047"), is_known, "{file}");
        scratch.run(&["split", "--all", "--yes"]);
        let changed = scratch.git(&["status", "--short"]);
        assert!(!changed.contains("reconciliation-window"), "{file}: {changed}");
    }

    // A quote of several lines that kustomize reads, and a stricter reader does not.
    let scratch = divided::finished("sample", &["edge-01", "edge-02"]);
    let quote = "  name: probe\n  annotations:\n    note: 'a\n    b'\n";
    scratch.replace("apps/probe/deployment.yaml", "  name: probe\n", quote);
    scratch.replace("windows.yaml", "0 4 * * SUN", "0 5 * * SUN").commit();
    let told = scratch.expect(0, &["sync", "--yes"]);
    assert!(!told.stderr.contains("mend") && told.stdout.contains("0 5 * * SUN"), "{told:?}");

    // What a side takes its objects from.
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    scratch.take(&["split", "app", "web", "--yes"]);
    scratch.git(&["rm", "--quiet", "clusters/edge-01/apps/web/kustomization.yaml"]);
    scratch.commit();
    let run = scratch.run(&["sync"]);
    assert!(run.code != 0 && run.stderr.contains("clusters/edge-01/apps/web does not build"), "{run:?}");
}

/// A gate that holds back what it did is written; one of which that is not known stays as it stands, and the others go on.
#[test]
fn what_does_not_build_stops_the_gate_of_its_cluster_alone() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    for words in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(words);
    }
    scratch.write("clusters/edge-02/more/kustomization.yaml", "resources: [nothing.yaml]\n");
    let flux = scratch.text("clusters/edge-02/flux/apps-rw.yaml");
    let more =
        flux.replace("clusters/edge-02/apps/apps-rw", "clusters/edge-02/more").replace("apps-rw", "more");
    scratch.write("clusters/edge-02/flux/more.yaml", more).commit();
    let told = scratch.expect(0, &["sync", "--every", "5m", "--now", "2026-11-24T19:03:20Z", "--yes"]).stderr;
    assert!(
        told.contains("clusters/edge-02/more of cluster edge-02 does not build, and no gate suspends it"),
        "{told}"
    );
    assert!(told.contains("all windows of edge-01, edge-02 are next open together from Sat 2026-11-28 22:00 Europe/Berlin. The first closes at "), "{told}");
    let changed = scratch.git(&["status", "--short"]);
    for cluster in ["edge-01", "edge-02"] {
        let patch =
            format!("clusters/{cluster}/infra/reconciliation-windows/open-reconciliation-window-patch.yaml");
        assert!(changed.contains(&patch), "{changed}");
    }
    scratch.commit();

    // What the gate of one is to hold back can't be read.
    scratch.replace(
        "clusters/edge-02/flux/apps-rw.yaml",
        "kind: Kustomization",
        "<<<<<<< HEAD\nkind: Kustomization",
    );
    scratch.replace("windows.yaml", "open: 0 22 * * SAT", "open: 0 21 * * SAT").commit();
    let told = scratch.expect(0, &["sync", "--yes"]).stderr;
    assert!(told.contains("the gate of cluster edge-02 stays as it stands"), "{told}");
    let changed = scratch.git(&["status", "--short"]);
    assert!(
        changed.contains("clusters/edge-01/infra") && !changed.contains("clusters/edge-02/"),
        "{changed}"
    );
}

/// Splits everything and migrates it to what reads a held source, which only an open window allows: what is held already
/// stands at a commit that knows nothing of this.
fn migrate_to_a_held_source(scratch: &Scratch) {
    for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"]] {
        scratch.take(command);
        scratch.commit();
    }
    let told = scratch.expect(5, &["migrate", "--yes"]).stderr;
    assert!(told.contains("`gitops-windows migrate --while-open` writes it"), "{told}");
    scratch.take(&["migrate", "--while-open", "--yes"]);
    scratch.commit();
}
