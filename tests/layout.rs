//! Layouts, names and numbers of types that real teams and careless ones choose, given to the real
//! binary: a right result or a clear error, and never one thing in the place of another.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::scratch::{Scratch, assert_same};

/// A spec for one cluster with these types and this layout.
fn spec(types: &str, layout: &str) -> String {
    format!(
        "apiVersion: gitops-windows/v1\ntypes: {types}\nwindows: {{ night: {{ timeZone: UTC, open: 0 1 * * *, for: 2h }} }}\nclusters: {{ edge: {{}} }}\nlayout: {layout}\n"
    )
}

const TYPES: &str = "{ rt: {}, rw: { window: night } }";

fn flux(scratch: &Scratch, name: &str, path: &str, depends_on: &str) {
    scratch.write(
        &format!("clusters/edge/flux/{name}.yaml"),
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  path: ./{path}\n  prune: true\n  dependsOn: [{depends_on}]\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n"
        ),
    );
}

/// Adds an entry point that lists an app of its own with these kinds.
fn entry(scratch: &Scratch, name: &str, kinds: &[&str]) {
    let folder = format!("clusters/edge/{name}");
    scratch.write(&format!("{folder}/kustomization.yaml"), format!("resources: [../../../apps/{name}]\n"));
    let files: Vec<String> = kinds.iter().map(|kind| format!("{kind}.yaml").to_lowercase()).collect();
    scratch.write(&format!("apps/{name}/kustomization.yaml"), format!("resources: [{}]\n", files.join(", ")));
    for (kind, file) in kinds.iter().zip(&files) {
        let version = match *kind {
            "Deployment" => "apps/v1",
            "Role" => "rbac.authorization.k8s.io/v1",
            _ => "v1",
        };
        scratch.write(
            &format!("apps/{name}/{file}"),
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{ name: {name}, namespace: x }}\n"),
        );
    }
}

fn repository(entries: &[(&str, &[&str])]) -> Scratch {
    let scratch = Scratch::empty();
    for (name, kinds) in entries {
        entry(&scratch, name, kinds);
        flux(&scratch, name, &format!("clusters/edge/{name}"), "");
    }
    scratch.write("windows.yaml", spec(TYPES, "{}")).commit();
    scratch
}

const BOTH: &[&str] = &["ConfigMap", "Deployment"];

/// Every command that writes must end with a code, say these words, and write nothing anywhere.
#[track_caller]
fn refused(scratch: &Scratch, code: i32, words: &[&str]) {
    scratch.commit();
    let before = scratch.tree();
    let outside = |scratch: &Scratch| {
        let names = std::fs::read_dir(scratch.outside()).unwrap();
        names.map(|entry| entry.unwrap().path()).collect::<BTreeSet<_>>()
    };
    let around = outside(scratch);
    for command in [&["split", "--all"][..], &["sync"]] {
        let run = scratch.expect(code, &[command, &["--yes"]].concat());
        for word in words {
            assert!(run.stderr.contains(word), "{word:?} is not in:\n{}", run.stderr);
        }
    }
    assert_same(&before, &scratch.tree(), "something was written");
    assert_eq!(outside(scratch), around, "something was written outside");
}

#[test]
fn templates_that_leave_the_repository() {
    let scratch = repository(&[("apps", BOTH)]);
    for (key, template) in [
        ("gate", "../gate"),
        ("gate", "/etc/gate"),
        ("gate", "infra/../../gate"),
        ("clusterGate", "../{cluster}"),
        ("entryPoint", "{path}/../../../../{type}"),
        ("entryPoint", "/{path}/{type}"),
        ("app", "../{path}-{type}"),
        ("openJobFile", "../open.yaml"),
    ] {
        scratch.write("windows.yaml", spec(TYPES, &format!("{{ {key}: '{template}' }}")));
        refused(&scratch, 3, &[&format!("{key} `{template}`"), "windows.yaml:5:", "^"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_on_the_way_is_not_written_through() {
    let scratch = repository(&[("apps", BOTH)]);
    let target = scratch.outside().join("target");
    std::fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, scratch.top().join("link")).unwrap();
    scratch.write("windows.yaml", spec(TYPES, "{ gate: link/gate }")).commit();
    let before = scratch.tree();
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("link/gate: leads out of the repository"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "something was written");
    assert!(std::fs::read_dir(target).unwrap().next().is_none());
}

#[test]
fn templates_that_make_two_types_one() {
    let scratch = repository(&[("apps", BOTH)]);
    for (key, template) in [
        ("entryPoint", "{path}/x"),
        ("entryPoint", "sides/{type}"),
        ("app", "{path}"),
        ("app", "parts/{type}"),
        ("kustomization", "{name}"),
        ("kustomization", "{type}"),
        ("clusterGate", "gate"),
    ] {
        scratch.write("windows.yaml", spec(TYPES, &format!("{{ {key}: '{template}' }}")));
        refused(&scratch, 3, &[&format!("{key} `{template}`"), "the same name"]);
    }
    scratch.write("windows.yaml", spec(TYPES, "{ openJob: gate, closeJob: gate }"));
    refused(&scratch, 3, &["`openJob` and `closeJob`"]);
    scratch.write("windows.yaml", spec(TYPES, "{ openJobFile: job.yaml, closeJobFile: job.yaml }"));
    refused(&scratch, 3, &["`openJobFile` and `closeJobFile`"]);
}

/// `b-c` of `apps` and `c` of `apps-b`: each template tells types apart, and still two meet.
#[test]
fn names_that_meet() {
    let scratch = repository(&[("apps", BOTH), ("apps-b", BOTH)]);
    let types = "{ c: {}, b-c: { window: night } }";
    scratch.write("windows.yaml", spec(types, "{ entryPoint: 'clusters/{cluster}/{name}-{type}' }"));
    refused(
        &scratch,
        3,
        &["the folder clusters/edge/apps-b-c", "type b-c of clusters/edge/apps", "type c of"],
    );
    scratch.write("windows.yaml", spec(types, "{}"));
    refused(&scratch, 3, &["the name apps-b-c in cluster edge", "windows.yaml"]);
    // Segments that leave the last one out put two entry points into one folder.
    scratch.write("windows.yaml", spec(TYPES, "{ entryPoint: '{1}/{2}/sides-{type}' }"));
    refused(&scratch, 3, &["the folder clusters/edge/sides-rt", "clusters/edge/apps-b"]);
}

#[test]
fn a_name_that_another_kustomization_has() {
    let scratch = repository(&[("apps", BOTH), ("apps-rw", BOTH)]);
    refused(&scratch, 3, &["the name apps-rw", "applies clusters/edge/apps-rw"]);
}

#[test]
fn a_folder_with_too_few_segments_is_left_as_it_is() {
    let scratch = repository(&[("apps", BOTH)]);
    scratch.write("windows.yaml", spec(TYPES, "{ entryPoint: '{1}/{2}/{3}/{4}-{type}' }")).commit();
    let before = scratch.tree();
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    assert!(
        run.stderr.contains("`entryPoint`") && run.stderr.contains("clusters/edge/apps"),
        "{}",
        run.stderr
    );
    assert_same(&before, &scratch.tree(), "something was written");
}

#[test]
fn job_names_end_at_52_characters() {
    let long = "w".repeat(60);
    let text = |types: &str| spec(types, "{}").replace("night", &long);
    let scratch = repository(&[("apps", BOTH)]);
    // A window's name is no part of a job's, a type's is where several have windows.
    scratch.write("windows.yaml", text(&format!("{{ rt: {{}}, rw: {{ window: {long} }} }}"))).commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let types = format!("{{ rt: {{}}, rw: {{ window: {long} }}, {long}: {{ window: {long} }} }}");
    scratch.write("windows.yaml", text(&types));
    scratch.commit();
    let before = scratch.tree();
    let run = scratch.expect(3, &["sync", "--yes"]);
    assert!(run.stderr.contains("Kubernetes takes at most 52"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "something was written");
}

/// Names that begin with each other, and names that look like numbers of windows.
#[test]
fn types_that_are_prefixes_of_each_other() {
    let scratch = repository(&[("apps", &["ConfigMap", "Secret", "Deployment", "Role"])]);
    let types = "{ r: {}, r-t: { window: night }, r-t-w: { window: night }, r-t-w-2: { window: night } }";
    let rules = "rules: [{ kind: ConfigMap, type: r }, { kind: Secret, type: r-t }, { kind: Role, type: r-t-w }, { type: r-t-w-2 }]\n";
    scratch.write("windows.yaml", spec(types, "{}") + rules).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    for (name, file) in [("r", "configmap"), ("r-t", "secret"), ("r-t-w", "role"), ("r-t-w-2", "deployment")]
    {
        assert!(scratch.top().join(format!("apps/apps/apps-{name}/{file}.yaml")).exists(), "{name}");
        assert_eq!(gated(&scratch).contains(&format!("apps-{name}")), name != "r", "{name}");
    }
    scratch.expect(0, &["verify"]);
    // A second window of `r-t-w` has the very job of `r-t-w-2`.
    let two = spec(types, "{}")
        .replace("r-t-w: { window: night }", "r-t-w: { window: [night, day] }")
        .replace("{ night:", "{ day: { timeZone: UTC, open: 0 9 * * *, for: 1h }, night:");
    scratch.write("windows.yaml", two + rules).commit();
    let run = scratch.expect(3, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("both have the CronJob `open-reconciliation-window-r-t-w-2`"),
        "{}",
        run.stderr
    );
}

/// Fifty types in an order, each with its own kind of object and window.
#[test]
fn fifty_types() {
    let scratch = Scratch::empty();
    let mut types = vec!["t0: {}".to_owned()];
    let (mut rules, mut resources) = (Vec::new(), Vec::new());
    for number in 0..50 {
        if number > 0 {
            types.push(format!("t{number}: {{ window: night }}"));
        }
        rules.push(format!("{{ name: o{number}, type: t{number} }}"));
        resources.push(format!("o{number}.yaml"));
        scratch.write(
            &format!("apps/a/o{number}.yaml"),
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: o{number}, namespace: x }}\n"),
        );
    }
    rules.push("{ type: t0 }".to_owned());
    scratch.write("apps/a/kustomization.yaml", format!("resources: [{}]\n", resources.join(", ")));
    scratch.write("clusters/edge/apps/kustomization.yaml", "resources: [../../../apps/a]\n");
    flux(&scratch, "apps", "clusters/edge/apps", "");
    let text = spec(&format!("{{ {} }}", types.join(", ")), "{}");
    scratch.write("windows.yaml", format!("{text}rules: [{}]\n", rules.join(", "))).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    for number in 0..50 {
        let side = scratch.text(&format!("clusters/edge/apps/apps-t{number}/kustomization.yaml"));
        assert!(
            side.contains(&format!("apps/a/a-t{number}\n")) || side.contains(&format!("a-t{number}]")),
            "{side}"
        );
        assert!(scratch.top().join(format!("apps/a/a-t{number}/o{number}.yaml")).exists());
    }
    let jobs = scratch.tree().into_keys().filter(|path| {
        path.starts_with("infra/reconciliation-windows") && path.to_string_lossy().ends_with("-job.yaml")
    });
    assert_eq!(jobs.count(), 2 * 49);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// What Kubernetes takes as a name (RFC 1123 subdomain) and what only its objects' paths take.
#[test]
fn names_with_every_character_that_kubernetes_allows() {
    let scratch = Scratch::empty();
    let name = format!("0-a.b-c.{}9", "x".repeat(40));
    entry(&scratch, &name, BOTH);
    flux(&scratch, &name, &format!("clusters/edge/{name}"), "");
    // RBAC names may hold nearly anything; they stay as they are.
    scratch.write(
        &format!("apps/{name}/deployment.yaml"),
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: \"system:a b'\\\"${x}{{ y }}#\" }\n",
    );
    scratch.write("windows.yaml", spec(TYPES, "{}")).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    assert_eq!(gated(&scratch), [format!("{name}-rw")]);
    assert!(Path::new(&scratch.top().join(format!("apps/{name}/{name}-rw/deployment.yaml"))).exists());
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// Gives the Flux Kustomizations that the gate may suspend.
fn gated(scratch: &Scratch) -> Vec<String> {
    let role = scratch.text("infra/reconciliation-windows/role.yaml");
    let line = role.lines().find_map(|line| line.trim().strip_prefix("resourceNames: [")).unwrap();
    line.trim_end_matches(']').split(", ").map(str::to_owned).collect()
}

/// One type with a window and no split: the whole cluster waits.
#[test]
fn a_window_over_a_whole_cluster() {
    let scratch = repository(&[("apps", BOTH), ("web", BOTH)]);
    scratch.write("windows.yaml", spec("{ all-of-it: { window: night } }", "{}")).commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("holds back all of apps, web"), "{}", run.stderr);
    assert_eq!(gated(&scratch), ["apps", "web"]);
    let patch = "clusters/edge/infra/reconciliation-windows/close-reconciliation-window-patch.yaml";
    assert!(scratch.text(patch).contains("suspend: false"), "{}", scratch.text(patch));
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let split = scratch.expect(0, &["split", "--all"]);
    assert!(
        split.stderr.contains("its own Flux Kustomization is what a gate holds back"),
        "{}",
        split.stderr
    );
}

#[test]
fn an_entry_point_of_a_gated_type_alone_is_held_back_by_its_own_name() {
    let scratch = repository(&[("apps", BOTH), ("web", &["Deployment"]), ("conf", &["ConfigMap"])]);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    assert_eq!(gated(&scratch), ["web"]);
    // An object of another type does not open the gate behind everybody's back.
    entry(&scratch, "web", BOTH);
    scratch.commit();
    scratch.expect(0, &["sync"]);
}

#[test]
fn what_real_time_depends_on_is_not_held_back() {
    let scratch = repository(&[("apps", BOTH), ("web", &["Deployment"]), ("db", &["Deployment"])]);
    flux(&scratch, "apps", "clusters/edge/apps", "{ name: web }");
    flux(&scratch, "web", "clusters/edge/web", "{ name: db }");
    scratch.commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("no gate holds back Flux Kustomization web of cluster edge"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("no gate holds back Flux Kustomization db of cluster edge"),
        "{}",
        run.stderr
    );
    let gated = gated(&scratch);
    assert!(!gated.contains(&"web".to_owned()) && !gated.contains(&"db".to_owned()), "{gated:?}");
}

/// A cluster whose infrastructure holds an app beside the gate, divided and migrated to its end.
fn divided_infra(apps: &[&str]) -> Scratch {
    let scratch = repository(&[("apps", BOTH), ("storage", BOTH)]);
    flux(&scratch, "infra", "clusters/edge/infra", "");
    std::fs::remove_file(scratch.top().join("clusters/edge/flux/storage.yaml")).unwrap();
    let list = scratch.text("clusters/edge/storage/kustomization.yaml");
    scratch.write("clusters/edge/infra/kustomization.yaml", list);
    std::fs::remove_dir_all(scratch.top().join("clusters/edge/storage")).unwrap();
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch.expect(0, &[&["split", "app"], apps, &["--yes"]].concat());
    for _ in 0..2 {
        scratch.commit();
        scratch.expect(0, &["migrate", "--yes"]);
    }
    scratch.commit();
    scratch
}

/// A change of the window reaches the cluster through what no gate holds back.
#[track_caller]
fn windows_change_in_real_time(scratch: &Scratch, carrier: &str) {
    assert_eq!(gated(scratch), ["infra-rw"]);
    let carries = scratch.text(&format!("{carrier}/kustomization.yaml"));
    assert!(carries.contains("reconciliation-windows"), "{carries}");
    scratch.expect(0, &["windows", "set", "night", "--open", "0 2 * * *", "--yes"]);
    let patch = "clusters/edge/infra/reconciliation-windows/open-reconciliation-window-patch.yaml";
    let patch = scratch.text(patch);
    assert!(patch.contains("schedule: \"0 2 * * *\"") && patch.contains("suspend: false"), "{patch}");
    assert!(scratch.expect(0, &["verify"]).stdout.contains("clusters/edge/infra (edge): equal"));
}

#[test]
fn an_app_beside_the_gate_gets_windows_and_the_gate_stays_real_time() {
    let scratch = divided_infra(&["storage"]);
    assert!(!scratch.top().join("clusters/edge/infra/infra-rw/reconciliation-windows").exists());
    windows_change_in_real_time(&scratch, "clusters/edge/infra");
}

#[test]
fn a_gate_that_is_divided_with_the_apps_beside_it_goes_to_the_real_time_side() {
    let scratch = divided_infra(&["storage", "reconciliation-windows"]);
    windows_change_in_real_time(&scratch, "clusters/edge/infra/infra-rt");
}

#[test]
fn what_carries_the_gate_is_divided_only_when_its_app_is_named() {
    let scratch = repository(&[("apps", BOTH), ("infra", BOTH)]);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let split = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(split.stdout.contains("apps-rw") && !split.stdout.contains("infra-rw"), "{}", split.stdout);
}

#[test]
fn a_cluster_that_lives_in_several_folders() {
    let scratch = repository(&[("apps", BOTH), ("infra", BOTH)]);
    for (name, folder) in [("apps", "sites/one"), ("infra", "platform/one")] {
        flux(&scratch, name, folder, "");
        let list = scratch.text(&format!("clusters/edge/{name}/kustomization.yaml"));
        scratch.write(&format!("{folder}/kustomization.yaml"), list.replace("../../../", "../../"));
        let text = scratch.text(&format!("clusters/edge/flux/{name}.yaml"));
        scratch.write(&format!("flux/{name}.yaml"), text);
    }
    for gone in ["clusters", "windows.yaml"] {
        let place = scratch.top().join(gone);
        if place.is_dir() { std::fs::remove_dir_all(place) } else { std::fs::remove_file(place) }.unwrap();
    }
    scratch.commit();
    let init = ["init", "--open", "0 1 * * *", "--close", "0 3 * * *", "--time-zone", "UTC", "--yes"];
    for (folder, said) in [
        ("sites/one", "write NAME=FOLDER"),
        ("edge=../sites", "name a folder below"),
        ("edge=sites/two", "there is no such folder"),
        ("edge=apps", "no entry point lies in"),
    ] {
        let run = scratch.expect(2, &[&init[..], &["--cluster-folder", folder]].concat());
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let folders = ["--cluster-folder", "edge=sites", "--cluster-folder", "edge=platform"];
    scratch.expect(0, &[&init[..], &folders].concat());
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("paths: [sites, platform]") && spec.matches("edge").count() == 1, "{spec}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    scratch.expect(0, &["split", "--all", "--yes"]);
    let run = scratch.expect(0, &["verify"]);
    assert_eq!(run.stdout, "platform/one (edge): equal, 2 objects\nsites/one (edge): equal, 2 objects\n");
}

#[test]
fn a_gate_that_nothing_applies_is_told_and_listed_again() {
    let scratch = repository(&[("apps", BOTH), ("storage", &["Deployment"])]);
    flux(&scratch, "infra", "clusters/edge/infra", "");
    scratch.write("clusters/edge/infra/kustomization.yaml", "resources: [../../../apps/storage]\n");
    std::fs::remove_file(scratch.top().join("clusters/edge/flux/storage.yaml")).unwrap();
    std::fs::remove_dir_all(scratch.top().join("clusters/edge/storage")).unwrap();
    for arguments in [&["sync"][..], &["split", "--all"], &["migrate"], &["migrate"]] {
        scratch.commit();
        scratch.expect(0, &[arguments, &["--yes"]].concat());
    }
    scratch.commit();
    let before = scratch.tree();
    assert_eq!(gated(&scratch), ["apps-rw"]);
    let list = "clusters/edge/infra/kustomization.yaml";
    let text = scratch.text(list);
    assert!(text.contains("reconciliation-windows"), "{text}");
    scratch.write(list, "resources: [../../../apps/storage]\n").commit();
    let check = scratch.run(&["check"]);
    assert!(check.code == 1 && check.stdout.contains("GW039"), "{}", check.stdout);
    scratch.expect(0, &["sync", "--yes"]);
    assert!(scratch.text(list).contains("reconciliation-windows"));
    scratch.write(list, text);
    assert_same(&before, &scratch.tree(), "something else was written");
}

#[test]
fn sides_beside_what_was_divided_are_known_when_that_is_gone() {
    let scratch = Scratch::fixture("record");
    // The gate comes after the split here, and its carrier is handed over with it.
    for arguments in [&["split", "--all"][..], &["sync"], &["migrate"], &["migrate"]] {
        scratch.commit();
        scratch.expect(0, &[arguments, &["--yes"]].concat());
    }
    scratch.commit();
    assert!(!scratch.top().join("clusters/dev-edge/infra/kustomization.yaml").exists());
    let when = scratch.expect(0, &["when"]);
    assert!(when.stdout.contains("live") && !when.stdout.contains("(all)"), "{}", when.stdout);
    assert_eq!(scratch.expect(0, &["split", "--all"]).stdout, "");
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let folder = "clusters/dev-edge/infra-live/storage";
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: late, namespace: storage }\n";
    scratch.write(&format!("{folder}/late.yaml"), service);
    scratch.replace(&format!("{folder}/kustomization.yaml"), "limits.yaml", "limits.yaml\n  - late.yaml");
    scratch.commit();
    let verify = scratch.expect(5, &["verify"]);
    assert!(verify.stdout.contains("is on the side of live"), "{}", verify.stdout);
}
