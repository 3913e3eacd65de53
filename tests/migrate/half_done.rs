//! What stops a migration: a step by hand, a step missing, what others change on the way.

use crate::divided::{NAMESPACE_ONLY, SPEC, divided, rules};
use crate::support::scratch::Scratch;

#[test]
fn what_is_half_done_is_named_with_the_way_on() {
    let scratch = divided("overlays", &["north", "south"]);
    for (change, said) in [
        (
            Box::new(|scratch: &Scratch| {
                scratch.replace("clusters/north/apps.yaml", "  wait: false\n", "  suspend: true\n");
            }) as Box<dyn Fn(&Scratch)>,
            "has `suspend: true` in Git",
        ),
        (
            Box::new(|scratch| {
                let text = scratch.text("clusters/north/apps.yaml");
                scratch.write("clusters/north/copy.yaml", text);
            }),
            "stands twice",
        ),
        (
            Box::new(|scratch| {
                let text =
                    scratch.text("clusters/north/apps.yaml").replace("./apps/north", "./apps/north/north-rt");
                let text = text.replace("name: apps\n", "name: apps-rt\n");
                scratch.write("clusters/north/rt.yaml", &text);
                scratch.write("clusters/north/rt2.yaml", text.replace("name: apps-rt", "name: also"));
            }),
            "all apply apps/north/north-rt",
        ),
        (
            Box::new(|scratch| {
                let text = scratch.text("clusters/north/reports.yaml");
                scratch.write("clusters/north/taken.yaml", text.replace("name: reports", "name: apps-rw"));
            }),
            "apps-rw stands in clusters/north/taken.yaml already",
        ),
        (
            Box::new(|scratch| {
                scratch.replace("clusters/north/apps.yaml", "path: ./apps/north", "path: ./apps/${site}");
            }),
            "has a variable in `spec.path` and may apply it",
        ),
        (
            Box::new(|scratch| {
                scratch.replace("clusters/north/apps.yaml", "  name: apps\n", "  name: ${site}-apps\n");
            }),
            "has a variable in `metadata.name`",
        ),
        (
            Box::new(|scratch| {
                scratch.replace("clusters/north/apps.yaml", "  wait: false\n", "  suspend: ${held}\n");
            }),
            "has a variable in `spec.suspend`",
        ),
        (
            Box::new(|scratch| {
                scratch.replace("clusters/north/apps.yaml", "  prune: false", "  prune: \"no\"");
            }),
            "has \"no\" as `spec.prune`. The API server refuses that",
        ),
        (
            Box::new(|scratch| {
                scratch.replace("clusters/north/apps.yaml", "  wait: false\n", "  suspend: \"true\"\n");
            }),
            "has \"true\" as `spec.suspend`. The API server refuses that",
        ),
    ] {
        change(&scratch);
        scratch.commit();
        let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
        assert!(run.stderr.contains(said) && run.stderr.contains("help:"), "{said}: {}", run.stderr);
        assert_eq!(scratch.git(&["status", "--short"]), "", "{said}");
        scratch.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
}

#[test]
fn a_side_that_is_gone_and_a_folder_of_another_source_stop_the_migration() {
    let scratch = divided("overlays", &["north", "south"]);
    let file = "clusters/north/apps.yaml";
    let text = scratch.text(file);
    scratch.write(file, text.replace("kind: GitRepository", "kind: OCIRepository")).commit();
    let run = scratch.run(&["migrate", "--cluster", "north"]);
    assert!(run.code != 0 && run.stdout.is_empty(), "{run:?}");
    assert!(
        run.stderr.contains("but OCIRepository flux-system is not this repository")
            && !run.stderr.contains("flux create"),
        "{run:?}"
    );
    scratch.write(file, text).commit();
    scratch.take(&["migrate", "--cluster", "north", "--yes"]);
    let gone = scratch.text("clusters/north/apps-rw.yaml");
    let gone = gone.lines().find_map(|line| line.trim().strip_prefix("path: ./")).unwrap();
    std::fs::remove_dir_all(scratch.top().join(gone)).unwrap();
    scratch.commit();
    let run = scratch.run(&["migrate", "--cluster", "north", "--yes"]);
    assert!(run.code != 0 && run.stderr.contains("which is gone"), "{run:?}");
    assert_eq!(scratch.git(&["status", "--short"]), "", "a step was taken");
}

#[test]
fn a_copy_that_nothing_lists_is_in_nobodys_way() {
    let scratch = divided("overlays", &["north", "south"]);
    let text = scratch.text("clusters/north/apps.yaml");
    let list = "resources:\n- flux-system\n- apps.yaml\n- infra.yaml\n- reports.yaml\n- infra/reconciliation-windows\n";
    scratch.write("clusters/north/kustomization.yaml", list);
    scratch.write("clusters/north/copy.yaml", &text).commit();
    let run = scratch.expect(0, &["migrate", "--cluster", "north", "--yes"]);
    assert!(run.stderr.contains("this step: hand over"), "{run:?}");
    assert_eq!(scratch.text("clusters/north/copy.yaml"), text);
    let listed = scratch.text("clusters/north/kustomization.yaml");
    assert!(listed.contains("- apps-rt.yaml\n") && !listed.contains("- apps.yaml\n"), "{listed}");
}

#[test]
fn half_a_hand_over_is_named_with_the_way_on() {
    let scratch = divided("overlays", &["north", "south"]);
    scratch.expect(0, &["migrate", "--yes"]);
    let rw = scratch.text("clusters/north/apps-rw.yaml");
    // The removal is committed, and what comes in its place is forgotten.
    for cluster in ["north", "south"] {
        for name in ["apps-rt", "apps-rw"] {
            std::fs::remove_file(scratch.top().join(format!("clusters/{cluster}/{name}.yaml"))).unwrap();
        }
    }
    scratch.write("clusters/north/apps-rw.yaml", &rw).commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north"]);
    let way = "or write apps-rt with `path: ./apps/north/north-rt` and `prune: false`, otherwise like apps-rw in clusters/north/apps-rw.yaml";
    assert!(run.stderr.contains(way), "{run:?}");
    std::fs::remove_file(scratch.top().join("clusters/north/apps-rw.yaml")).unwrap();
    scratch.commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north"]);
    assert!(run.stderr.contains("  apps/north  stuck") && !run.stderr.contains("south"), "{run:?}");
    assert!(run.stderr.contains("revert the commit that removed or broke its Flux Kustomization"), "{run:?}");
    let run = scratch.expect(1, &["check"]);
    assert!(run.stdout.contains("GW052") || run.stderr.contains("GW052"), "{run:?}");
    // An app that nobody uses any more is no entry point.
    let scratch = divided("overlays", &["north", "south"]);
    scratch.git(&[
        "rm",
        "-r",
        "--quiet",
        "reports",
        "clusters/north/reports.yaml",
        "clusters/south/reports.yaml",
    ]);
    scratch.commit();
    assert!(!scratch.run(&["migrate"]).stderr.contains("stuck"));
}

#[test]
fn what_is_changed_on_its_way_stops_itself_alone() {
    for (field, patch) in [
        ("prune", r#"{"op": "replace", "path": "/spec/prune", "value": true}"#),
        ("deletionPolicy", r#"{"op": "add", "path": "/spec/deletionPolicy", "value": "WaitForTermination"}"#),
    ] {
        let scratch = divided("per-app", &["home"]);
        let list = scratch.text("apps/media/kustomization.yaml");
        let patch =
            format!("patches:\n- target: {{ kind: Kustomization, name: library }}\n  patch: '[{patch}]'\n");
        scratch.write("apps/media/kustomization.yaml", list + &patch).commit();
        let run = scratch.expect(0, &["migrate", "--yes"]);
        let refused: Vec<&str> =
            run.stderr.split("\nwarning: ").filter(|one| one.contains("is left as it is:")).collect();
        let said = format!("its parent's build overrides `spec.{field}`");
        assert!(matches!(refused[..], [one] if one.contains(&said)), "{refused:?}");
        assert!(refused[0].contains("apps/media/library/app"), "{refused:?}");
        assert!(scratch.text("apps/media/player/ks.yaml").contains("name: player-rt\n"));
        assert!(!scratch.text("apps/media/library/ks.yaml").contains("name: library-rt\n"));
    }
}

/// What `split` says of the one entry point that it leaves as it is.
fn left(change: impl Fn(&Scratch)) -> String {
    let scratch = Scratch::fixture("per-app");
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
    change(&scratch);
    scratch.commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(scratch.text("apps/media/player/ks.yaml").contains("prune: false # gitops-windows: was true"));
    assert!(!scratch.text("apps/media/library/ks.yaml").contains("gitops-windows"));
    let left: Vec<&str> = run.stderr.lines().filter(|line| line.contains("is left as it is:")).collect();
    assert!(left.len() == 1 && left[0].contains("apps/media/library/app in cluster home"), "{left:?}");
    run.stderr
}

#[test]
fn a_second_owner_that_comes_after_the_split_stops_the_hand_over() {
    let scratch = divided("overlays", &["north", "south"]);
    let copy = scratch.text("clusters/north/apps.yaml").replace("name: apps\n", "name: extra\n");
    scratch.write("clusters/north/extra.yaml", copy).commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
    assert!(
        run.stderr.contains("all apply the same objects of it. So would their successors"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_namespace_that_a_list_gives_goes_the_whole_way() {
    let scratch = Scratch::fixture("per-app");
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
    scratch.replace("apps/media/library/ks.yaml", "namespace: flux-system\n", "namespace: default\n");
    let list = scratch.text("apps/media/kustomization.yaml");
    scratch.write("apps/media/kustomization.yaml", format!("namespace: flux-system\n{list}")).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    for next in ["this step: hand over", "this step: finish"] {
        let run = scratch.commit().expect(0, &["migrate", "--yes"]);
        assert!(run.stderr.contains(next) && !run.stderr.contains("is left as it is:"), "{run:?}");
    }
}

#[test]
fn what_a_parent_sets_for_all_of_its_children_is_set_back_as_the_remedy_says() {
    const PARENT: &str = "clusters/home/flux/apps.yaml";
    let scratch = Scratch::fixture("per-app");
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
    let parent = scratch.text(PARENT);
    let all = "  patches:\n  - patch: |-\n      apiVersion: kustomize.toolkit.fluxcd.io/v1\n      kind: Kustomization\n      metadata: { name: _ }\n      spec: { deletionPolicy: WaitForTermination }\n    target: { group: kustomize.toolkit.fluxcd.io, kind: Kustomization }\n";
    let mut text = parent + all;
    scratch.write(PARENT, &text).commit();
    let run = scratch.run(&["split", "--all", "--yes"]);
    let items: Vec<&str> = run.stderr.split('`').filter(|part| part.starts_with("{ target: ")).collect();
    assert_eq!(items.len(), 1, "{}", run.stderr);
    for item in items {
        text += &format!("  - {item}\n");
    }
    scratch.write(PARENT, &text).commit();
    scratch.take(&["split", "--all", "--yes"]);
    for stage in ["handed over", "finished"] {
        let run = scratch.expect(0, &["migrate", "--yes"]);
        assert!(!run.stderr.contains("is left as it is"), "{}", run.stderr);
        scratch.commit();
        let run = scratch.run(&["migrate"]);
        for app in ["library", "player"] {
            let line = format!("  apps/media/{app}/app  {stage}");
            assert!(run.stderr.contains(&line) || run.stdout.contains(&line), "{stage}: {run:?}");
        }
    }
}

/// Nothing that its parent brings reaches the cluster.
#[test]
fn what_the_api_server_refuses_keeps_all_beside_it_undivided() {
    let scratch = Scratch::fixture("per-app");
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
    scratch.replace("apps/media/library/ks.yaml", "prune: true", "prune: \"true\"").commit();
    let told = scratch.expect(5, &["split", "--all", "--yes"]).stderr;
    assert!(told.contains("has \"true\" as `spec.prune`. The API server refuses that"), "{told}");
    assert!(told.contains("cluster-apps does not build, so no commit reaches player"), "{told}");
    assert_eq!(scratch.git(&["status", "--short"]), "");
}

#[test]
fn what_could_not_be_handed_over_is_not_divided() {
    for patch in ["prune: true", "deletionPolicy: WaitForTermination"] {
        let field = patch.split(':').next().unwrap();
        let said = left(|scratch| {
            let list = scratch.text("apps/media/kustomization.yaml");
            let patch = format!(
                "patches:\n- target: {{ kind: Kustomization, name: library }}\n  patch: |-\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {{ name: library }}\n    spec: {{ {patch} }}\n"
            );
            scratch.write("apps/media/kustomization.yaml", list + &patch);
        });
        assert!(said.contains(&format!("its parent's build overrides `spec.{field}`")), "{said}");
        let remedy = format!("the patch that sets `{field}` in line 5 of apps/media/kustomization.yaml");
        assert!(said.contains(&remedy) && said.contains("--> apps/media/kustomization.yaml:5:"), "{said}");
    }
    // The parent's own patches do as much.
    let said = left(|scratch| {
        let parent = scratch.text("clusters/home/flux/apps.yaml");
        let patch = "  patches:\n  - target: { kind: Kustomization, name: library }\n    patch: |-\n      - { op: add, path: /spec/deletionPolicy, value: Delete }\n";
        scratch.write("clusters/home/flux/apps.yaml", parent + patch);
    });
    assert!(said.contains("its parent's build overrides `spec.deletionPolicy`"), "{said}");
    assert!(said.contains("--> clusters/home/flux/apps.yaml:14:"), "{said}");
    for (from, to, part) in [
        ("prune: true", "prune: true\n  suspend: ${held:=false}", "has a variable in `spec.suspend`"),
        ("    name: flux-system", "    name: ${source}", "has a variable in `spec.sourceRef.name`"),
    ] {
        let said = left(|scratch| {
            scratch.replace("apps/media/library/ks.yaml", from, to);
        });
        assert!(said.contains(part), "{said}");
    }
    let said = left(|scratch| {
        let copy = scratch.text("apps/media/library/ks.yaml").replace("/library/app", "/player-extra/app");
        scratch.write("clusters/home/flux/copy.yaml", copy);
    });
    assert!(said.contains("library stands twice"), "{said}");
    let said = left(|scratch| {
        let copy = scratch.text("apps/media/library/ks.yaml").replace("name: library", "name: copy");
        scratch.write("clusters/home/flux/copy.yaml", copy);
    });
    assert!(said.contains("copy in clusters/home/flux/copy.yaml all apply the same objects of it"), "{said}");
}

#[test]
fn several_that_apply_one_folder_differently_are_divided() {
    for (field, other) in [
        ("targetNamespace: media", "targetNamespace: books"),
        ("targetNamespace: media", "targetNamespace: media\n  kubeConfig: { secretRef: { name: far } }"),
    ] {
        let scratch = Scratch::fixture("per-app");
        scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
        let text = scratch.text("apps/media/library/ks.yaml");
        let copy = text.replace("name: library", "name: copy").replace(field, other);
        scratch.write("clusters/home/flux/copy.yaml", copy).commit();
        let run = scratch.expect(0, &["split", "--all", "--yes"]);
        assert!(!run.stderr.contains("is left as it is"), "{other}: {run:?}");
        for next in ["this step: hand over", "this step: finish", "finished"] {
            scratch.commit();
            let run = scratch.expect(0, &["migrate", "--yes"]);
            assert!(run.stderr.contains(next) && !run.stderr.contains("stuck"), "{other}: {run:?}");
        }
        for name in ["library-rt", "library-rw", "copy-rt", "copy-rw"] {
            assert!(scratch.git(&["grep", "name: "]).contains(&format!("name: {name}\n")), "{name}");
        }
    }
}

#[test]
fn what_stops_on_the_way_to_the_cluster_stops_a_migration() {
    let scratch = divided("overlays", &["north", "south"]);
    let file = "clusters/north/flux-system/gotk-sync.yaml";
    let text = scratch.text(file);
    scratch.write(file, text.trim_end().to_owned() + "\n  suspend: true\n").commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
    assert!(
        run.stderr
            .contains("apps is applied by Flux Kustomization flux-system, which has `suspend: true` in Git"),
        "{run:?}"
    );
    scratch.write(file, text).commit();
    scratch.take(&["migrate", "--cluster", "north", "--yes"]);
    // A finished one would prune what a side that does not build has lost.
    let side = "apps/north/north-rw/kustomization.yaml";
    scratch.write(side, scratch.text(side) + "  - nothing.yaml\n").commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
    assert!(run.stderr.contains("apps/north/north-rw does not build"), "{run:?}");
    scratch.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    scratch.take(&["migrate", "--cluster", "north", "--yes"]);
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--base", "HEAD~4"]);
    assert!(run.stderr.contains("it is finished here, but HEAD~4 still has apps"), "{run:?}");
}

#[test]
fn steps_that_are_reverted_in_the_wrong_order_are_named_with_the_right_one() {
    let scratch = divided("overlays", &["north", "south"]);
    scratch.take(&["migrate", "--yes"]);
    scratch.take(&["migrate", "--yes"]);
    let order = "`git revert` for the commit of the last `migrate`";
    // The hand-over and the last step are taken back at once, before or after the commit.
    scratch.git(&["read-tree", "-u", "--reset", "HEAD~2"]);
    let at_once = |arguments: &[&str]| {
        let run = scratch.expect(5, arguments);
        let said = "apps-rt and apps-rw would go with `prune: true` and delete their objects";
        assert!(run.stderr.contains(said) && run.stderr.contains(order), "{run:?}");
    };
    at_once(&["migrate", "--allow-dirty"]);
    scratch.commit();
    at_once(&["migrate", "--base", "HEAD~1"]);
    let run = scratch.expect(1, &["check", "--base", "HEAD~1"]);
    assert!(run.stdout.contains("GW012") && run.stdout.contains(order), "{run:?}");
    scratch.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    // A folder of the split goes first.
    scratch.git(&["rm", "-r", "--quiet", "apps/north/north-rt"]);
    scratch.commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north"]);
    assert!(run.stderr.contains("which is gone") && run.stderr.contains(order), "{run:?}");
}

#[test]
fn a_context_of_no_cluster_is_refused() {
    let scratch = divided("overlays", &["north", "south"]);
    for clusters in [&[][..], &["--cluster", "north"]] {
        let confirm = ["migrate", "--confirm", "--context", "nroth=live"];
        let run = scratch.expect(2, &[&confirm[..], clusters].concat());
        let said = "there is no cluster `nroth`";
        assert!(run.stderr.contains(said) && run.stderr.contains("did you mean `north`"), "{run:?}");
    }
    let run = scratch.expect(2, &["migrate", "--confirm", "--context", "zz=live"]);
    assert!(run.stderr.contains("windows.yaml has north, south"), "{run:?}");
    // One that is known is not that of another.
    let other = ["migrate", "--confirm", "--cluster", "north", "--context", "south=live"];
    let run = scratch.expect(2, &other);
    assert!(
        run.stderr.contains("no context is known for cluster north, and --context names others"),
        "{run:?}"
    );
}

#[test]
fn the_lists_that_something_outside_of_git_applies_are_read() {
    let scratch = Scratch::fixture("per-app");
    scratch.git(&["rm", "-r", "--quiet", "clusters"]);
    scratch.write("windows.yaml", format!("{SPEC}  home: {{ paths: [apps] }}\n"));
    let list = scratch.text("apps/media/kustomization.yaml");
    let patch = "patches:\n- target: { kind: Kustomization, name: library }\n  patch: |-\n    - { op: replace, path: /spec/prune, value: true }\n";
    scratch.write("apps/media/kustomization.yaml", list.clone() + patch).commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("library still deletes objects that leave it"), "{run:?}");
    assert!(!scratch.text("apps/media/library/ks.yaml").contains("gitops-windows"));
    // And what they leave out is not applied.
    scratch.write("apps/media/kustomization.yaml", list.replace("  - ./library/ks.yaml\n", "")).commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    let (_, not_alive) = told.split_once("not alive").unwrap();
    assert!(not_alive.contains("apps/media/library/ks.yaml"), "{told}");
}

#[test]
fn values_of_apps_and_a_variable_in_prune_hold_nothing_up() {
    let scratch = Scratch::fixture("per-app");
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
    scratch.replace("apps/media/library/ks.yaml", "prune: true", "prune: ${prune:=true}").commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    let text = scratch.text("apps/media/library/ks.yaml");
    assert!(text.contains("prune: false # gitops-windows: was ${prune:=true}"), "{text}");
    scratch.commit();
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    let back = scratch.git(&["grep", "--fixed-strings", "-h", "prune: ${prune:=true}"]);
    assert!(!back.is_empty() && !back.contains('#'), "{back}");
}

#[test]
fn rules_that_were_edited_since_are_synced_before_the_next_step() {
    let scratch = divided("overlays", &["north", "south"]);
    rules(&scratch, NAMESPACE_ONLY);
    scratch.commit();
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
    assert!(run.stderr.contains("is on the side of rt, but the rules of windows.yaml say rw"), "{run:?}");
    assert!(run.stderr.contains("run `gitops-windows sync`"), "{run:?}");
    assert_eq!(scratch.git(&["status", "--short"]), "", "a step was taken");
    scratch.take(&["sync", "--yes"]);
    scratch.expect(0, &["migrate", "--cluster", "north", "--yes"]);
}
