//! What comes after a migration, on whole repositories: a further app, the way back, a type with
//! another name, a cluster that leaves the windows.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use divided::{SPEC, divided, finished, nothing_is_deleted};
use support::scratch::{Scratch, Tree, assert_same};

/// Two apps on two clusters, of which one is divided and migrated.
fn one_app_of_two() -> (Scratch, Tree) {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n  edge-02: {{}}\n"));
    scratch.write("apps/probe/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra }\n");
    scratch.replace("apps/probe/kustomization.yaml", "resources:\n", "resources:\n  - extra.yaml\n").commit();
    // One cluster is bootstrapped from the same repository, the other from elsewhere.
    let itself =
        scratch.text("clusters/edge-01/flux/infra.yaml").replace("name: infra\n", "name: flux-system\n");
    let itself = itself.replace("/edge-01/infra\n", "/edge-01/flux\n");
    scratch.write("clusters/edge-01/flux/flux-system/gotk-sync.yaml", itself).commit();
    scratch.take(&["sync", "--yes"]);
    let start = scratch.tree();
    scratch.take(&["split", "app", "web", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
        scratch.expect(0, &["verify"]);
    }
    (scratch, start)
}

#[test]
fn a_join_says_the_way_back_and_it_holds() {
    let (scratch, start) = one_app_of_two();
    for command in [&["join", "--all", "--yes"][..], &["join", "app", "web", "--yes"]] {
        let run = scratch.expect(5, command);
        assert!(
            run.stderr.contains("`git revert` for the commit of the last `migrate`"),
            "{command:?} {}",
            run.stderr
        );
    }
    for back in ["HEAD", "HEAD~2"] {
        scratch.git(&["revert", "--no-edit", back]);
        nothing_is_deleted(&scratch);
    }
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&start, &scratch.tree(), "the way back does not end where it began");
}

#[test]
fn an_app_that_is_split_later_moves_to_live_sides_in_three_steps() {
    let (scratch, _) = one_app_of_two();
    let finished = scratch.tree();
    let gate = |scratch: &Scratch| {
        scratch.text("clusters/edge-01/infra/reconciliation-windows/close-reconciliation-window-patch.yaml")
    };
    let split = ["split", "app", "probe", "--yes"];
    let run = scratch.expect(0, &split);
    assert!(run.stderr.contains("its sides are live and must not prune"), "{}", run.stderr);
    for name in ["apps", "apps-rt", "apps-rw"] {
        let text = scratch.text(&format!("clusters/edge-01/flux/{name}.yaml"));
        assert!(text.contains("prune: false # gitops-windows: was true\n"), "{text}");
    }
    assert!(gate(&scratch).contains("suspend: false"), "the windows stopped");
    scratch.commit();
    nothing_is_deleted(&scratch);

    let run = scratch.expect(0, &split);
    assert!(run.stderr.contains("Its sides apply it at once"), "{}", run.stderr);
    assert!(!scratch.top().join("clusters/edge-01/flux/apps.yaml").exists());
    assert!(gate(&scratch).contains("suspend: false"), "the windows stopped");
    scratch.commit();
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);

    scratch.expect(0, &["migrate", "--yes"]);
    assert!(scratch.text("clusters/edge-01/flux/apps-rt.yaml").contains("prune: true\n"));
    scratch.commit();
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    assert_eq!(scratch.expect(0, &["migrate"]).stdout, "");

    for back in ["HEAD", "HEAD~2", "HEAD~4"] {
        scratch.git(&["revert", "--no-edit", back]);
        nothing_is_deleted(&scratch);
    }
    assert_same(&finished, &scratch.tree(), "the way back does not end where it began");
}

#[test]
fn two_steps_of_a_later_split_never_share_a_commit() {
    let (scratch, _) = one_app_of_two();
    let split = ["split", "app", "probe", "--yes", "--allow-dirty"];
    scratch.expect(0, &split);
    let first = scratch.tree();
    let run = scratch.run(&split);
    assert!(run.stderr.contains("has `prune: false` here and not yet in HEAD"), "{}", run.stderr);
    assert!(run.stderr.contains("commit this step by itself"), "{}", run.stderr);
    assert_same(&first, &scratch.tree(), "both steps are in one commit");

    // What would have been said of a commit that deletes.
    scratch.git(&["checkout", "--quiet", "."]);
    scratch.git(&["rm", "--quiet", "clusters/edge-01/flux/apps-rt.yaml"]);
    scratch.commit();
    let run = scratch.run(&["check", "--base", "HEAD~1"]);
    assert!(run.code == 1 && run.stdout.contains("GW048"), "{run:?}");
}

#[test]
fn two_entry_points_of_a_cluster_take_their_steps_together() {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n"));
    let config = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\n");
    for app in ["third", "fourth"] {
        scratch.write(&format!("apps/{app}/extra.yaml"), config(app));
        scratch.write(&format!("apps/{app}/one.yaml"), config(app).replace("ConfigMap", "Service"));
        let listed = "namespace: web\nresources:\n  - extra.yaml\n  - one.yaml\n";
        scratch.write(&format!("apps/{app}/kustomization.yaml"), listed);
    }
    scratch.write("apps/probe/extra.yaml", config("extra"));
    scratch.replace("apps/probe/kustomization.yaml", "resources:\n", "resources:\n  - extra.yaml\n");
    let more = "resources:\n  - ../../../apps/third\n  - ../../../apps/fourth\n";
    scratch.write("clusters/edge-01/more/kustomization.yaml", more);
    let apps = scratch.text("clusters/edge-01/flux/apps.yaml");
    let more = apps.replace("name: apps\n", "name: more\n").replace("/apps\n", "/more\n");
    scratch.write("clusters/edge-01/flux/more.yaml", more);
    let itself = apps.replace("name: apps\n", "name: flux-system\n").replace("/apps\n", "/flux\n");
    scratch.write("clusters/edge-01/flux/flux-system/gotk-sync.yaml", itself);
    let set = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: { name: set }\nspec:\n  dependsOn:\n    - { apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, name: more }\n";
    scratch.write("clusters/edge-01/flux/set.yaml", set).commit();
    scratch.take(&["split", "app", "web", "third", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    let split = ["split", "app", "probe", "fourth", "--yes"];
    scratch.expect(0, &split);
    scratch.commit();
    nothing_is_deleted(&scratch);
    let run = scratch.expect(0, &split);
    let took_over = run.stderr.matches("Its sides apply it at once").count();
    assert_eq!(took_over, 2, "{}", run.stderr);
    let said = "ResourceSet set in clusters/edge-01/flux/set.yaml names Flux Kustomization more, which goes";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    for name in ["apps", "more"] {
        assert!(!scratch.top().join(format!("clusters/edge-01/flux/{name}.yaml")).exists());
    }
    scratch.commit();
    nothing_is_deleted(&scratch);
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);
}

#[test]
fn a_cluster_that_leaves_loses_the_flux_kustomization_of_its_gate_too() {
    let scratch = Scratch::fixture("sample");
    let layout = "layout: { clusterGate: 'gates/{cluster}' }\n";
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n  edge-02: {{}}\n{layout}"));
    let apps = scratch.text("clusters/edge-02/flux/apps.yaml");
    let itself = apps.replace("name: apps\n", "name: flux-system\n").replace("/apps\n", "/flux\n");
    scratch.write("clusters/edge-02/flux/itself.yaml", itself);
    let list = "clusters/edge-02/flux/kustomization.yaml";
    scratch.write(list, "resources:\n  - apps.yaml\n  - infra.yaml\n  - itself.yaml\n").commit();
    for command in [["sync", "--yes"].as_slice(), &["split", "--all", "--yes"], &["sync", "--yes"]] {
        scratch.take(command);
    }
    let own =
        |cluster: &str| scratch.top().join(format!("clusters/{cluster}/flux/reconciliation-windows.yaml"));
    assert!(own("edge-01").exists() && own("edge-02").exists());
    assert!(scratch.text(list).contains("reconciliation-windows.yaml"));
    scratch.replace("windows.yaml", "  edge-02: {}\n", "").commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("`gitops-windows sync --allow-deletion` removes it"), "{}", run.stderr);
    let run = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]);
    assert!(
        run.stderr.contains("Flux Kustomization reconciliation-windows goes and deletes them"),
        "{}",
        run.stderr
    );
    assert!(
        !run.stderr.contains("It goes on closing") && !run.stderr.contains("in edge-01"),
        "{}",
        run.stderr
    );
    assert!(own("edge-01").exists() && !own("edge-02").exists());
    assert!(scratch.top().join("gates/edge-01").exists() && !scratch.top().join("gates/edge-02").exists());
    assert!(!scratch.text(list).contains("reconciliation-windows.yaml"));
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync", "--allow-deletion"]).stdout, "");
    scratch.expect(0, &["verify"]);
}

#[test]
fn a_gate_that_another_cluster_needs_stays() {
    let scratch = divided("sample", &["edge-01", "edge-02"]);
    let flux = scratch.text("clusters/edge-01/flux/infra.yaml");
    let flux = flux.replace("name: infra\n", "name: second\n").replace("/infra\n", "/second\n");
    scratch.write("clusters/edge-01/flux/second.yaml", flux);
    let gate = "resources:\n  - ../../edge-02/infra/reconciliation-windows\n";
    scratch.write("clusters/edge-01/second/kustomization.yaml", gate);
    scratch.replace("windows.yaml", "  edge-02: {}\n", "").commit();
    let before = scratch.tree();
    let run = scratch.run(&["sync", "--allow-deletion", "--yes"]);
    let said = "a folder of its own, as clusters/edge-01/second needs it too";
    // Its CronJobs wait for the hand-over, suspended.
    assert!(
        run.stderr.contains(said) && run.stderr.contains("It stays, and closes nothing"),
        "{}",
        run.stderr
    );
    let gate = "clusters/edge-02/infra/reconciliation-windows";
    let files = |tree: &Tree| tree.keys().filter(|path| path.starts_with(gate)).count();
    assert!(files(&before) > 0);
    assert_eq!(files(&before), files(&scratch.tree()));
}

#[test]
fn a_type_gets_another_name_by_the_way_that_is_said() {
    let (scratch, _) = one_app_of_two();
    let rename = |scratch: &Scratch| {
        let spec = scratch.text("windows.yaml").replace("rw:", "gated:").replace("type: rw", "type: gated");
        scratch.write("windows.yaml", spec.clone() + if spec.contains("rules:") { "" } else { "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { type: gated }\n" });
    };
    rename(&scratch);
    let run = scratch.expect(3, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("has no type `rw`")
            && run.stderr.contains("`git revert` for the commit of the last `migrate`"),
        "{}",
        run.stderr
    );
    scratch.git(&["checkout", "--quiet", "windows.yaml"]);
    for back in ["HEAD", "HEAD~2"] {
        scratch.git(&["revert", "--no-edit", back]);
        nothing_is_deleted(&scratch);
    }
    scratch.take(&["join", "--all", "--yes"]);
    nothing_is_deleted(&scratch);
    rename(&scratch);
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    nothing_is_deleted(&scratch);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
        nothing_is_deleted(&scratch);
    }
    scratch.expect(0, &["verify"]);
    assert!(scratch.text("clusters/edge-01/flux/apps-gated.yaml").contains("prune: true\n"));
}

#[test]
fn a_cluster_leaves_the_windows_and_loses_its_gate_alone() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    scratch.replace("windows.yaml", "  edge-02: {}\n", "").commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stdout.is_empty() && run.stderr.contains("It goes on closing"), "{}", run.stderr);
    assert!(run.stderr.contains("`gitops-windows sync --allow-deletion` removes it"), "{}", run.stderr);
    // What somebody edited is not taken away.
    let file = "clusters/edge-02/infra/reconciliation-windows/close-reconciliation-window-patch.yaml";
    scratch.write(file, scratch.text(file) + "# Ours.\n").commit();
    let before = scratch.tree();
    let run = scratch.run(&["sync", "--allow-deletion", "--yes"]);
    assert!(run.code != 0 && run.stderr.contains("was edited by hand"), "{run:?}");
    assert_same(&before, &scratch.tree(), "something was taken away");
    scratch.git(&["revert", "--no-edit", "HEAD"]);

    let run = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]);
    assert!(!run.stderr.contains("It goes on closing"), "{}", run.stderr);
    for said in [
        "cluster edge-02 deletes ServiceAccount jobs/reconciliation-window, ",
        ", CronJob jobs/close-reconciliation-window, ",
        ": Flux Kustomization infra loses and prunes them",
        "flux resume kustomization apps-rw --namespace flux-system",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("in edge-01"), "{}", run.stderr);
    for kind in ["Deployment", "ConfigMap", "Service "] {
        assert!(!run.stderr.contains(kind), "{}", run.stderr);
    }
    assert!(!scratch.top().join("clusters/edge-02/infra/reconciliation-windows").exists());
    assert!(!scratch.text("clusters/edge-02/infra/kustomization.yaml").contains("reconciliation-windows"));
    assert!(scratch.top().join("clusters/edge-01/infra/reconciliation-windows").exists());
    scratch.commit();
    let run = scratch.expect(0, &["sync", "--allow-deletion"]);
    assert!(run.stdout.is_empty() && !run.stderr.contains("It goes on closing"), "{}", run.stderr);
    scratch.expect(0, &["verify"]);
}

#[test]
fn a_later_split_keeps_what_stays_and_who_waits() {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n"));
    for app in ["probe", "third"] {
        scratch.write(
            &format!("apps/{app}/extra.yaml"),
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {app} }}\n"),
        );
        scratch.write(
            &format!("apps/{app}/one.yaml"),
            format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: {app} }}\n"),
        );
        scratch.write(
            &format!("apps/{app}/kustomization.yaml"),
            "namespace: web\nresources:\n  - extra.yaml\n  - one.yaml\n",
        );
    }
    scratch.replace(
        "clusters/edge-01/apps/kustomization.yaml",
        "resources:\n",
        "resources:\n  - ../../../apps/third\n",
    );
    let waiter = scratch.text("clusters/edge-01/flux/apps.yaml");
    let waiter = waiter.replace("name: apps\n", "name: late\n").replace("/apps\n", "/late\n");
    scratch.write("clusters/edge-01/flux/late.yaml", format!("{waiter}  dependsOn:\n    - name: apps\n"));
    scratch.write("clusters/edge-01/late/kustomization.yaml", "resources: []\n");
    scratch.commit();
    scratch.take(&["split", "app", "web", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    let waits = scratch.text("clusters/edge-01/flux/late.yaml");
    assert!(waits.contains("    - name: apps\n    - name: apps-rt\n"), "{waits}");
    for _ in 0..2 {
        scratch.take(&["split", "app", "probe", "--yes"]);
        nothing_is_deleted(&scratch);
    }
    assert!(scratch.text("clusters/edge-01/apps/kustomization.yaml").contains("third"));
    assert!(scratch.text("clusters/edge-01/flux/apps.yaml").contains("prune: false"));
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);
    assert!(scratch.text("clusters/edge-01/flux/apps.yaml").contains("prune: true\n"));
    assert_eq!(waits, scratch.text("clusters/edge-01/flux/late.yaml"));
}

#[test]
fn what_only_has_sides_left_is_not_joined_in_silence() {
    let scratch = finished("overlays", &["north", "south"]);
    let run = scratch.expect(5, &["join", "--all", "--yes"]);
    assert!(
        run.stderr.contains("applies one of its sides")
            && run.stderr.contains("`git revert` for the commit of the last `migrate`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_later_split_stops_before_its_first_step_where_a_parent_decides_what_prunes() {
    let (scratch, _) = one_app_of_two();
    let start = scratch.git(&["rev-parse", "HEAD"]);
    for (field, value) in [("prune", "true"), ("deletionPolicy", "\"WaitForTermination\"")] {
        scratch.git(&["reset", "--quiet", "--hard", start.trim()]);
        let parent = "clusters/edge-01/flux/flux-system/gotk-sync.yaml";
        let text = scratch.text(parent).trim_end().to_owned();
        let patch = format!("[{{\"op\": \"add\", \"path\": \"/spec/{field}\", \"value\": {value}}}]");
        scratch.write(
            parent,
            format!("{text}\n  patches:\n  - {{ target: {{ kind: Kustomization, name: \"apps.*\" }}, patch: '{patch}' }}\n"),
        );
        scratch.commit();
        let run = scratch.run(&["split", "app", "probe", "--yes"]);
        assert!(run.stderr.contains("its parent's build overrides `spec."), "{}", run.stderr);
        assert!(!scratch.text("clusters/edge-01/flux/apps.yaml").contains("prune: false"), "{}", run.stderr);
        // As it says.
        let item = run
            .stderr
            .split('`')
            .find(|part| part.starts_with("{ target: "))
            .unwrap_or_else(|| panic!("{}", run.stderr))
            .to_owned();
        let text = scratch.text(parent);
        scratch.git(&["checkout", "--quiet", "--", "."]);
        scratch.write(parent, format!("{text}  - {item}\n")).commit();
        for _ in 0..2 {
            let run = scratch.expect(0, &["split", "app", "probe", "--yes"]);
            assert!(!run.stderr.contains("is left as it is"), "{}", run.stderr);
            scratch.commit();
        }
    }
}

const LIST: &str = "clusters/edge-02/apps/kustomization.yaml";

/// A migrated fleet from which an app went afterwards, and to which another one came.
fn lived_on() -> Scratch {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    scratch.replace("clusters/edge-02/apps/apps-rw/kustomization.yaml", "../probe\n", "../news\n");
    let news = "clusters/edge-02/apps/news";
    scratch.write(&format!("{news}/kustomization.yaml"), "namespace: web\nresources: [news.yaml]\n");
    let object = "apiVersion: v1\nkind: Service\nmetadata: { name: news }\nspec: { ports: [{ port: 80 }] }\n";
    scratch.write(&format!("{news}/news.yaml"), object).commit();
    scratch.expect(0, &["verify"]);
    scratch
}

/// The list that a revert restores is of the time of the migration.
#[test]
fn the_way_back_names_what_the_restored_list_has_too_much_and_too_little() {
    let scratch = lived_on();
    let last = scratch.git(&["rev-parse", "HEAD~1"]);
    let told = scratch.expect(5, &["join", "--all", "--yes"]).stderr;
    let steps = [
        format!("run `git revert --no-commit {}`", &last[..10]),
        format!("remove `probe` from {LIST}"),
        format!("add `news` to `resources` of {LIST}"),
        "run `gitops-windows verify`".to_owned(),
        "run `git revert` for the commit of the hand-over".to_owned(),
        "run `gitops-windows join` again".to_owned(),
    ];
    let places: Vec<Option<usize>> = steps.iter().map(|step| told.find(step)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {told}");

    scratch.git(&["revert", "--no-commit", "HEAD~1"]);
    let differ = scratch.expect(5, &["verify"]).stdout;
    assert!(differ.contains("Deployment web/probe is applied by nothing any more"), "{differ}");
    let found = scratch.run(&["check"]).stdout;
    assert!(found.contains("GW077") && found.contains("builds ConfigMap web/probe-"), "{found}");
    let again = scratch.expect(5, &["join", "--all", "--yes"]).stderr;
    assert!(again.contains(&steps[1]) && !again.contains("the last `migrate`"), "{again}");
    scratch.replace(LIST, "- probe\n", "- news\n");
    scratch.expect(0, &["verify"]);
    scratch.commit();
    for back in [None, Some("HEAD~3")] {
        back.into_iter().for_each(|back| drop(scratch.git(&["revert", "--no-edit", back])));
        let said = nothing_is_deleted(&scratch);
        assert!(!said.contains("GW077") && !said.contains("GW035"), "{said}");
        scratch.expect(0, &["verify", "--base", "HEAD~1"]);
    }
    scratch.expect(0, &["join", "--all", "--yes"]);
    let list = scratch.text(LIST);
    assert!(list.contains("- news") && !list.contains("probe"), "{list}");
}

/// Whoever reverts without a look at the list hears of it before the merge.
#[test]
fn a_hand_over_that_is_taken_back_with_an_old_list_is_told() {
    let scratch = lived_on();
    for back in ["HEAD~1", "HEAD~3"] {
        scratch.git(&["revert", "--no-edit", back]);
    }
    let said = nothing_is_deleted(&scratch);
    let told = "apps replaces the Flux Kustomizations of the sides of clusters/edge-02/apps. It applies ConfigMap web/probe-";
    assert!(said.contains("GW077") && said.contains(told), "{said}");
    assert!(said.contains("GW035") && said.contains("Service web/news left Git"), "{said}");
}
