//! The command that opens a type in a cluster at once.

use std::process::Command;

use super::follow::{asked, bootstrapped, following};
use super::scaffold;
use crate::support::flux_kustomization;
use crate::support::scratch::{Scratch, clean, program};

/// What is said and printed.
fn told(scratch: &Scratch, arguments: &[&str]) -> String {
    let run = scratch.run(&[&["override", "open"], arguments].concat());
    format!("exit {}\n{}{}", run.code, run.stderr, run.stdout)
}

#[test]
fn a_pair_is_opened_until_its_next_closing() {
    let scratch = scaffold();
    insta::assert_snapshot!(told(&scratch, &["--cluster", "edge-01"]));
    assert_eq!(
        told(&scratch, &["--cluster", "edge-01"]),
        told(&scratch, &["--cluster", "edge-01", "--type", "rw"])
    );
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  every: 5m\n  through: 2027-12-31\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    assert!(told(&scratch, &["--cluster", "edge-01"]).contains("the next run of the gate closes again"));
}

/// What stays suspended keeps what depends on it from the new commit.
#[test]
fn what_is_depended_on_is_opened_as_well() {
    let scratch = bootstrapped();
    scratch.write(
        "db/db.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: db, namespace: db }\n\
         spec:\n  selector: { matchLabels: { app: db } }\n  template:\n    metadata: { labels: { app: db } }\n    \
         spec: { containers: [{ name: db, image: db }] }\n",
    );
    scratch.write("db/kustomization.yaml", "resources: [db.yaml]\n");
    scratch.write("clusters/edge-01/flux/db.yaml", flux_kustomization("db", "db", ""));
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    let gated = scratch.text(file);
    scratch.write(file, gated.replace("  dependsOn:\n", "  dependsOn:\n    - name: db\n"));
    assert_ne!(scratch.text(file), gated, "{gated}");
    scratch.replace("windows.yaml", "  rw:\n", "  db: { window: saturday }\n  rw:\n");
    scratch.replace("windows.yaml", "  - { type: rw }\n", "  - { name: db, type: db }\n  - { type: rw }\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    let all = [["edge-01", "db"], ["edge-01", "rw"], ["edge-02", "rw"], ["edge-02", "db"]].map(
        |[cluster, type_name]| {
            let told = told(&scratch, &["--cluster", cluster, "--type", type_name]);
            format!("## {type_name} in {cluster}\n{told}")
        },
    );
    insta::assert_snapshot!(all.join("\n"));

    // Whoever stands between waits for it just so, gated or not; a dependency of another source only has to be Ready.
    let opened = || {
        let line = told(&scratch, &["--cluster", "edge-01", "--type", "rw", "--quiet"]);
        line.contains("kustomization.toolkit.fluxcd.io apps-rw db ") || line.contains(" apps-rw db ")
    };
    let gated = scratch.text(file);
    scratch.write(file, gated.replace("    - name: db\n", "    - name: between\n"));
    scratch.write("between/kustomization.yaml", "resources: []\n");
    let between = flux_kustomization("between", "between", "  dependsOn: [{ name: db }]\n");
    scratch.write("clusters/edge-01/flux/between.yaml", &between);
    assert!(opened(), "{}", told(&scratch, &["--cluster", "edge-01", "--type", "rw"]));
    let elsewhere = between.replace("name: flux-system }", "name: other }");
    assert_ne!(elsewhere, between);
    scratch.write("clusters/edge-01/flux/between.yaml", &elsewhere);
    assert!(!opened(), "{}", told(&scratch, &["--cluster", "edge-01", "--type", "rw"]));
    let asked = gated.replace("    - name: db\n", "    - name: db\n      readyExpr: \"true\"\n");
    scratch.write(file, asked);
    assert!(opened(), "{}", told(&scratch, &["--cluster", "edge-01", "--type", "rw"]));
}

#[test]
fn a_held_source_gets_the_newest_commit_and_nothing_else() {
    let scratch = following();
    insta::assert_snapshot!(told(&scratch, &["--cluster", "edge-01"]));
    let line = scratch.expect(0, &["override", "open", "--cluster", "edge-01", "--quiet"]).stdout;
    let kubectl = scratch.outside().join("kubectl");
    for (live, is_let_in) in [("echo main@sha1:abc123", true), ("echo", false), ("exit 1", false)] {
        program(&kubectl, &format!("if [ $1 = get ]; then {live}; else printf '%s\\n' \"$@\"; fi"));
        let path = format!("{}:/usr/bin:/bin", scratch.outside().display());
        let mut shell = clean(Command::new("/bin/sh"), scratch.outside());
        let output = shell.args(["-c", &line]).env("PATH", path).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.success(), is_let_in, "{live}: {said}");
        let wanted = [
            "patch",
            "gitrepositories.source.toolkit.fluxcd.io",
            "flux-system-rw",
            "--namespace=flux-system",
            "--type=merge",
            "--field-manager=flux",
            r#"--patch={"spec":{"ref":{"commit":"abc123"}}}"#,
        ];
        let wanted = if is_let_in { wanted.join("\n") + "\n" } else { String::new() };
        assert_eq!(said, wanted, "{live}");
    }
}

#[test]
fn what_nothing_holds_back_is_not_opened() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "  edge-02: { gate: { enabled: false } }\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    let all: Vec<String> =
        [&["--cluster", "edge-02"][..], &["--cluster", "edge-3"], &["--cluster", "edge-01", "--type", "rt"]]
            .map(|arguments| told(&scratch, arguments))
            .into();
    insta::assert_snapshot!(all.join("\n"));
}

/// What `stop --without-git` prints for each mechanism, and where there is nothing to close.
#[test]
fn one_command_for_each_cluster_closes_without_git() {
    let scratch = scaffold();
    let mut told = format!("## pair\n{}", stop(&scratch, &[]));
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  every: 5m\n  through: 2027-12-31\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    told += &format!("## table\n{}", stop(&scratch, &["--cluster", "edge-01", "--reason", "it's INC-1"]));
    let following = following();
    told += &format!("## follow\n{}", stop(&following, &["--type", "rw", "--cluster", "edge-01"]));
    told += &format!("## real-time\n{}", stop(&following, &["--type", "rt"]));
    told += &format!("## unknown\n{}", stop(&following, &["--cluster", "edge-1"]));
    insta::assert_snapshot!(told);
}

/// What `stop --without-git` says and prints.
fn stop(scratch: &Scratch, arguments: &[&str]) -> String {
    let run = scratch.run(&[&["stop", "--without-git"], arguments].concat());
    format!("exit {}\n{}{}", run.code, run.stderr, run.stdout)
}

/// An edit of the spec that reached no cluster yet changes nothing about what closes there.
#[test]
fn the_gate_that_stands_is_stopped_and_not_the_one_that_is_wanted() {
    let scratch = bootstrapped();
    let before = stop(&scratch, &[]);
    asked(&scratch);
    assert_eq!(stop(&scratch, &[]), before, "the pair still stands");
    // What no held source could follow in one cluster is no matter of the others, or of the gate that stands.
    scratch.replace("clusters/edge-02/flux/gotk-sync.yaml", "ref: { branch: main }", "ref: { semver: 1.x }");
    scratch.expect(5, &["sync"]);
    assert_eq!(stop(&scratch, &[]), before, "a source that is refused is no matter of the pair");
    let opened = told(&scratch, &["--cluster", "edge-01"]);
    assert!(opened.contains("kubectl patch kustomizations.kustomize.toolkit.fluxcd.io apps-rw"), "{opened}");
}

/// Jobs of an earlier version know no annotation.
#[test]
fn jobs_that_obey_no_annotation_are_stopped_by_what_they_leave_alone() {
    let following = following();
    let job = "clusters/edge-01/infra/reconciliation-windows/follow-reconciliation-window.yaml";
    let text = following.text(job);
    following.write(job, text.replace("gitops-windows/stop", "gitops-windows/other"));
    let mut told =
        format!("## follow\n{}", stop(&following, &["--cluster", "edge-01", "--reason", "it's INC-1"]));
    let scratch = scaffold();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  every: 5m\n  through: 2027-12-31\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    for name in ["open", "close"] {
        let job = format!("infra/reconciliation-windows/{name}-reconciliation-window-job.yaml");
        let text = scratch.text(&job);
        assert!(text.contains("gitops-windows/stop"), "{job}");
        scratch.write(&job, text.replace("gitops-windows/stop", "gitops-windows/other"));
    }
    told += &format!("## table\n{}", stop(&scratch, &["--cluster", "edge-01"]));
    insta::assert_snapshot!(told);
}

/// Of what reads a held source from now on nothing may land that is older, but that is no reason not to stop.
#[test]
fn a_stop_is_written_whatever_else_must_wait_for_a_window() {
    let words =
        ["stop", "--until", "2026-12-01", "--time-zone", "UTC", "--now", "2026-11-20T00:00:00Z", "--yes"];
    // What no gate holds stays open, and that is told.
    let freeze = |scratch: &Scratch| scratch.expect(1, &words);
    // One that is to read its held source again, in a window.
    let scratch = following();
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    scratch.replace(file, "name: flux-system-rw", "name: flux-system");
    scratch.commit();
    let astray = scratch.text(file);
    let run = freeze(&scratch);
    assert_eq!(scratch.text(file), astray, "it waits for `sync --while-open`");
    for cluster in ["edge-01", "edge-02"] {
        let job =
            format!("clusters/{cluster}/infra/reconciliation-windows/follow-reconciliation-window.yaml");
        assert!(scratch.text(&job).contains("emergency stop"), "{cluster}");
    }
    let mut told = format!("## to a held source\n{}", run.stderr);
    // One that leaves its held source, as its type has no window any more.
    let scratch = following();
    scratch.replace("windows.yaml", "mechanism: follow", "mechanism: suspend");
    scratch.commit();
    let run = scratch.run(&words);
    // The tables that stand are stopped, and nothing else changes.
    let changed = scratch.git(&["diff", "--name-only"]);
    told += &format!("## from a held source\nexit {}\n{}\n{changed}", run.code, run.stderr);
    insta::assert_snapshot!(told);
}

/// The gate of a cluster that has left the spec runs on until its files go.
#[test]
fn a_cluster_that_left_the_spec_is_stopped_too() {
    let scratch = scaffold();
    let before = stop(&scratch, &["--cluster", "edge-02"]);
    assert!(before.contains("kubectl patch"), "{before}");
    scratch.replace("windows.yaml", "  edge-02: {}\n", "");
    scratch.commit();
    let after = stop(&scratch, &["--cluster", "edge-02"]);
    assert!(after.ends_with(before.trim_start_matches("exit 0\n")), "{after}");
    let all = stop(&scratch, &[]);
    assert!(all.contains("# edge-01,") && all.contains("# edge-02,"), "{all}");
    assert!(stop(&scratch, &["--cluster", "edge-3"]).starts_with("exit 2"));
    let opened = told(&scratch, &["--cluster", "edge-02"]);
    assert!(opened.contains("kubectl patch"), "{opened}");
}

/// Whatever fails, the rest is tried, and the command fails at the end.
#[test]
fn what_is_missing_keeps_nothing_else_open() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  every: 5m\n  through: 2027-12-31\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    let run = scratch.expect(0, &["stop", "--without-git", "--cluster", "edge-01", "--quiet"]);
    let line = run.stdout.lines().find(|line| line.starts_with("/bin/sh")).unwrap();
    let line = line
        .replace("apps-rw --namespace", "gone apps-rw --namespace")
        .replace("in apps-rw", "in gone apps-rw");
    let kubectl = scratch.outside().join("kubectl");
    program(
        &kubectl,
        "case \"$*\" in *gone*) exit 1 ;; 'get '*) ;; *) printf '%s\\n' \"$1 $3\" >>\"$STATE\" ;; esac",
    );
    let path = format!("{}:/usr/bin:/bin", scratch.outside().display());
    let state = scratch.outside().join("state");
    let mut shell = clean(Command::new("/bin/sh"), scratch.outside());
    let output = shell.args(["-c", &line]).env("PATH", path).env("STATE", &state).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "patch apps-rw\n");
}

/// Whoever stops everything hears of what a gate that is off leaves open.
#[test]
fn a_gate_that_is_off_stops_nothing_and_that_is_told() {
    let scratch = scaffold();
    let gate = "gate:\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n";
    scratch.replace("windows.yaml", "gate:\n", gate);
    scratch.replace("windows.yaml", "  edge-02: {}\n", "  edge-02: { gate: { enabled: false } }\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    let run = scratch.expect(1, &["stop", "--yes", "--now", "2026-11-20T00:00:00Z"]);
    assert!(run.stderr.contains("the gate of cluster edge-02 is off"), "{}", run.stderr);
    assert!(!run.stderr.contains("edge-01"), "{}", run.stderr);
}
