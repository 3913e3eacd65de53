//! Entry points that are divided, or left, as a whole.

use crate::repository::{CONFIG_MAP, DEPLOYMENT, INIT, app, flux, from_source, repository, source};
use crate::support::scratch::{Scratch, assert_same};

#[test]
fn an_entry_point_whose_division_changes_another_is_refused_by_itself() {
    // The generator's own file names what it reads, which nothing but a build finds out.
    let generator = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: copy\n  namespace: n\n\
        files:\n  - ../first/web/config.yaml\n";
    let scratch = repository(&[
        ("apps/first/kustomization.yaml", "resources:\n  - web\n"),
        ("apps/second/kustomization.yaml", "generators:\n  - generator.yaml\n"),
        ("apps/second/generator.yaml", generator),
        ("apps/third/kustomization.yaml", "resources:\n  - mail\n"),
    ]);
    for (folder, entry) in [("apps/first/web", "apps/first"), ("apps/third/mail", "apps/third")] {
        app(&scratch, folder);
        flux(&scratch, entry);
    }
    flux(&scratch, "apps/second");
    let before = scratch.tree();
    let run = scratch.expect(0, &["split", "--all", "--yes", "--format", "json"]);
    let told = run
        .stderr
        .lines()
        .skip_while(|line| !line.contains("apps/first in cluster c is left as it is"))
        .nth(1)
        .unwrap();
    assert!(told.contains("dividing it would change apps/second: "), "{told}");
    let ways: Vec<(String, String)> =
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["entryPoints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["before"]["path"].to_string(), entry["way"].to_string()))
            .collect();
    let ways: Vec<(&str, &str)> =
        ways.iter().map(|(path, way)| (path.trim_matches('"'), way.trim_matches('"'))).collect();
    assert_eq!(ways, [("apps/first", "refused"), ("apps/second", "untouched"), ("apps/third", "plain")]);
    scratch.commit();
    // A second run ends as the first.
    let again = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(again.stderr.contains("apps/first in cluster c is left as it is"), "{}", again.stderr);
    assert_eq!(again.stdout, "");
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

/// A merge takes fields with null from every object that it meets; what a side keeps must keep its own.
#[test]
fn a_null_survives_a_projection() {
    let scratch = repository(&[
        ("apps/all/kustomization.yaml", "resources:\n  - web\n"),
        ("apps/all/web/kustomization.yaml", "resources:\n  - all.yaml\npatchesStrategicMerge:\n"),
        (
            "apps/all/web/all.yaml",
            &format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: empty\n  namespace: n\ndata:\n---\n{}",
                DEPLOYMENT.replace("NAME", "web")
            ),
        ),
    ]);
    flux(&scratch, "apps/all");
    scratch.take(&["sync", "--yes"]);
    let before = scratch.tree();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("c\n  apps/all  split by projection\n"), "{}", run.stderr);
    scratch.commit();
    scratch.expect(0, &["verify"]);
    let run = scratch.expect(0, &["sync"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to change."));
    let run = scratch.expect(0, &["split", "--all"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to change."));
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join");
}

#[test]
fn a_parent_of_flux_kustomizations_is_left_and_its_children_are_divided() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: media\n";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\n  namespace: media\n";
    let list = "resources:\n  - namespace.yaml\n  - secret.yaml\n  - web/ks.yaml\n";
    for runs in [false, true] {
        let scratch = repository(&[
            ("apps/media/kustomization.yaml", list),
            ("apps/media/namespace.yaml", namespace),
            ("apps/media/secret.yaml", secret),
            ("apps/media/web/ks.yaml", &from_source("web", "./apps/media/web/app", "flux-system")),
        ]);
        app(&scratch, "apps/media/web/app");
        if runs {
            scratch
                .write("apps/media/kustomization.yaml", format!("{list}  - own.yaml\n"))
                .write("apps/media/own.yaml", DEPLOYMENT.replace("NAME", "own"));
        }
        scratch.write("clusters/c/cluster.yaml", from_source("cluster", "./clusters/c", "flux-system"));
        flux(&scratch, "apps/media");
        let run = scratch.expect(0, &["split", "--all", "--yes", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let entry = |path: &str| {
            let entries = found["entryPoints"].as_array().unwrap();
            entries.iter().find(|entry| entry["before"]["path"] == path).unwrap().clone()
        };
        let parent = entry("apps/media");
        if runs {
            assert_eq!(parent["way"], "refused", "{parent}");
            assert!(
                parent["reason"].as_str().unwrap().contains(
                    "objects, and Flux Kustomizations of divided entry points, such as apps/media/web/app"
                ),
                "{parent}"
            );
        } else {
            assert_eq!(parent["way"], "untouched", "{parent}");
            assert!(parent["reason"].as_str().unwrap().contains("runs nothing itself"), "{parent}");
        }
        let child = entry("apps/media/web/app");
        assert_eq!(child["after"].as_array().unwrap().len(), 2, "{child}");
        scratch.commit();
        assert_eq!(scratch.expect(0, &["split", "--all", "--yes"]).stdout, "");
        scratch.expect(0, &["migrate", "--yes"]);
    }
}

#[test]
fn sync_keeps_the_manner_in_which_the_sides_were_written() {
    let scratch = Scratch::fixture("sample");
    scratch.write(
        "windows.yaml",
        "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  later: { window: nights }\n  rw: { window: nights }\nwindows:\n  nights: { timeZone: UTC, open: 0 22 * * *, for: 4h }\nclusters: { edge-01: {}, edge-02: {} }\nrules:\n  - { kind: Namespace, type: rt }\n  - { kind: ConfigMap, name: 'web*', type: later }\n  - { kind: Service, type: rt }\n  - { type: rw }\n",
    );
    for arguments in [["sync", "--yes"].as_slice(), &["split", "--all", "--yes"]] {
        scratch.commit();
        scratch.expect(0, arguments);
    }
    scratch.commit();
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "");
}

#[test]
fn what_another_cluster_s_gate_holds_stops_nobody() {
    let scratch = Scratch::empty();
    for cluster in ["north", "south"] {
        let top = format!("clusters/{cluster}");
        let own = from_source("flux-system", &format!("./{top}"), "flux-system") + &source("flux-system");
        scratch.write(&format!("{top}/flux-system.yaml"), own).write(
            &format!("{top}/all.yaml"),
            from_source("all", &format!("./all/{cluster}"), "flux-system"),
        );
    }
    scratch
        .write("all/north/kustomization.yaml", "resources:\n  - deployment.yaml\n")
        .write("all/north/deployment.yaml", DEPLOYMENT.replace("NAME", "db"))
        .write("all/south/kustomization.yaml", "resources:\n  - web.yaml\n")
        .write("all/south/web.yaml", from_source("web", "./apps/web", "flux-system"));
    app(&scratch, "apps/web");
    scratch.expect(0, &INIT);
    let close = scratch.text("infra/reconciliation-windows/close-reconciliation-window-job.yaml");
    assert!(close.contains("\"all\""), "{close}");
    scratch.commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("  apps/web  split by projection\n"), "{}", run.stderr);
}

#[test]
fn what_a_gated_side_applies_is_left_whole() {
    let scratch = Scratch::empty();
    let own = from_source("flux-system", "./clusters/c", "flux-system") + &source("flux-system");
    scratch
        .write("clusters/c/flux-system.yaml", own)
        .write("clusters/c/all.yaml", from_source("all", "./all", "flux-system"))
        .write("all/kustomization.yaml", "resources:\n  - web.yaml\n  - extra\n")
        .write("all/web.yaml", from_source("web", "./apps/web", "flux-system"))
        .write("apps/web/deployment.yaml", DEPLOYMENT.replace("NAME", "web"))
        .write("apps/web/kustomization.yaml", "resources:\n  - deployment.yaml\n");
    app(&scratch, "all/extra");
    scratch.expect(0, &INIT);
    scratch.commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    for _ in 0..2 {
        scratch.expect(0, &["migrate", "--yes"]);
        scratch.commit();
    }
    // It had one type before, and is mixed from now on.
    let list = "resources:\n  - deployment.yaml\n  - config.yaml\n";
    scratch.write("apps/web/config.yaml", CONFIG_MAP.replace("NAME", "web"));
    scratch.write("apps/web/kustomization.yaml", list).commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let before = scratch.tree();
    let run = scratch.run(&["split", "app", "web", "--yes"]);
    let said = "a CronJob suspends Flux Kustomization all-rw, which applies web. The steps would reach";
    assert!(run.stderr.contains(said), "{run:?}");
    assert!(run.stderr.contains("--> clusters/c/all-rw.yaml:"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "what was refused was written");
}

#[test]
fn what_any_job_suspends_applies_no_single_step() {
    let job = |name: &str| {
        format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {name}, namespace: jobs }}\nspec:\n  schedule: 0 6 * * *\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n          - name: flux\n            image: flux-cli\n            command: [flux, {name}, kustomization, tops, -n, flux-system]\n"
        )
    };
    let off = "patches:\n- target: { kind: CronJob }\n  patch: |\n    - op: add\n      path: /spec/suspend\n      value: true\n";
    let on = off.replace("true", "false");
    let is_off = job("suspend").replace("spec:\n  schedule", "spec:\n  suspend: true\n  schedule");
    let both = job("suspend").replace(
        "[flux, suspend, kustomization, tops, -n, flux-system]",
        "[sh, -c, 'flux suspend ks tops; flux resume ks tops']",
    );
    // The job, what its overlay makes of it, and whether that holds something back.
    for (stop, overlay, holds) in [
        (job("suspend"), "", true),
        (job("suspend"), off, false),
        (is_off.clone(), "", false),
        (is_off, &on, true),
        (both, "", false),
    ] {
        let scratch = Scratch::empty();
        let own = from_source("flux-system", "./clusters/c", "flux-system") + &source("flux-system");
        scratch
            .write("clusters/c/flux-system.yaml", own)
            .write("clusters/c/tops.yaml", from_source("tops", "./tops", "flux-system"))
            .write("clusters/c/jobs/kustomization.yaml", format!("resources: [../../../jobs]\n{overlay}"))
            .write("jobs/kustomization.yaml", "resources: [suspend.yaml]\n")
            .write("jobs/suspend.yaml", stop)
            .write("tops/web.yaml", from_source("web", "./apps/web", "flux-system"));
        app(&scratch, "apps/web");
        scratch.expect(0, &INIT);
        scratch.commit();
        let run = scratch.run(&["split", "--all", "--yes"]);
        let said = "a CronJob suspends Flux Kustomization tops, which applies web";
        assert_eq!(run.stderr.contains(said), holds, "{overlay}: {run:?}");
        if !holds {
            scratch.commit();
            // One comes half-way.
            scratch.write("clusters/c/jobs/more.yaml", job("suspend"));
            scratch.write("clusters/c/jobs/kustomization.yaml", "resources: [more.yaml]\n").commit();
            let run = scratch.expect(5, &["migrate", "--yes"]);
            assert!(run.stderr.contains(said), "{run:?}");
        }
    }
}
