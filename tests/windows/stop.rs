//! A stop, a freeze and an override reach the tables that stand, whatever else is wrong or waits in the repository.

use crate::exceptions::{NOW, tabled};
use crate::sample;
use crate::support::scratch::{Scratch, assert_same};

const GATE: &str = "infra/reconciliation-windows";

/// Runs a command that writes, and returns what it says with what it changed.
fn told(scratch: &Scratch, code: i32, arguments: &[&str]) -> String {
    let run = scratch.expect(code, &[arguments, &["--yes"], &NOW].concat());
    let changed = scratch.git(&["diff", "--stat=200", "--no-color"]);
    let changed = changed.lines().filter_map(|line| Some(line.split_once('|')?.0.trim()));
    let changed: Vec<&str> = changed.collect();
    format!("exit {}\n{}{}\n", run.code, run.stderr, changed.join("\n"))
}

fn patch(cluster: &str, action: &str) -> String {
    format!("clusters/{cluster}/{GATE}/{action}-reconciliation-window-patch.yaml")
}

/// Rules and windows that were edited, an app that does not build, a generated file of something else: all of it waits.
#[test]
fn it_carries_nothing_else_and_is_held_up_by_nothing_else() {
    let scratch = tabled();
    scratch.replace("windows.yaml", "open: 0 22 * * SAT", "open: 0 21 * * SAT");
    scratch.replace("windows.yaml", "rules:", "rules:\n  - { kind: Service, type: rt }");
    scratch.write("apps/web/web-rw/service.yaml", "kind: [\n");
    let base = format!("{GATE}/open-reconciliation-window-job.yaml");
    let job = scratch.text(&base);
    scratch.write(&base, format!("{job}# by hand\n"));
    scratch.commit();
    let mut all = told(&scratch, 0, &["stop", "--until", "2026-12-06", "--reason", "INC-2"]);
    let diff = scratch.git(&["diff", "--no-color", "--unified=0", &patch("edge-01", "open")]);
    all += diff.split_once("@@").unwrap().1;
    scratch.commit();
    all += &told(
        &scratch,
        0,
        &[
            "override",
            "add",
            "--cluster",
            "edge-02",
            "--from",
            "2026-12-08T10:00",
            "--for",
            "2h",
            "--reason",
            "INC-3",
        ],
    );
    scratch.commit();
    all += &told(&scratch, 0, &["freeze", "remove", "stop"]);
    scratch.commit();
    all += &told(&scratch, 0, &["override", "remove", "--cluster", "edge-02"]);
    insta::assert_snapshot!(all);
}

/// What was edited by hand is not overwritten, and keeps nobody from stopping the other clusters.
#[test]
fn a_cluster_whose_gate_can_t_be_written_is_named() {
    let scratch = tabled();
    let file = patch("edge-01", "close");
    let edit = |file: &str| {
        let text = scratch.text(file);
        scratch.write(file, text.replace("  suspend:", "  # by hand\n  suspend:"));
        scratch.commit();
    };
    edit(&file);
    let mut all = told(&scratch, 1, &["stop"]);
    scratch.git(&["checkout", "--quiet", "."]);
    all += &told(&scratch, 4, &["override", "add", "--label", "region=eu", "--for", "2h", "--reason", "r"]);
    scratch.git(&["checkout", "--quiet", "."]);
    edit(&patch("edge-02", "open"));
    let start = scratch.tree();
    all += &told(&scratch, 4, &["stop"]);
    assert_same(&start, &scratch.tree(), "something was written");
    insta::assert_snapshot!(all);
}

/// Its table is written, and it is said that the cluster does not get it.
#[test]
fn a_gate_that_nothing_applies_is_named() {
    let scratch = tabled();
    scratch.write("infra/priority-classes/customer-facing.yaml", "kind: [\n");
    scratch.commit();
    let mut all = told(&scratch, 1, &["stop", "--cluster", "edge-01"]);
    scratch.git(&["checkout", "--quiet", "."]);
    // The list of the gate takes in nothing of it.
    let list = format!("clusters/edge-02/{GATE}/kustomization.yaml");
    let text = scratch.text(&list);
    scratch.write(&list, text.split_once("patches:").unwrap().0);
    scratch.commit();
    all += &told(&scratch, 1, &["stop", "--cluster", "edge-02"]);
    insta::assert_snapshot!(all);
}

/// What something earlier depends on and what is not split wait for no gate, so no table stops them.
#[test]
fn what_no_gate_holds_is_named_with_what_closes_it() {
    let scratch = tabled();
    let flux = scratch.text("clusters/edge-01/flux/apps-rw.yaml");
    let early = flux.replace("clusters/edge-01/apps/apps-rw", "apps/early").replace("apps-rw", "early");
    scratch.write("clusters/edge-01/flux/early.yaml", &early);
    scratch.write("clusters/edge-02/flux/mixed.yaml", early.replace("early", "mixed"));
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: early, namespace: web }\n";
    let map = secret.replace("Secret", "ConfigMap");
    scratch.write("apps/early/kustomization.yaml", "resources: [secret.yaml]\n");
    scratch.write("apps/early/secret.yaml", secret);
    scratch.write("apps/mixed/kustomization.yaml", "resources: [all.yaml]\n");
    scratch.write("apps/mixed/all.yaml", format!("{secret}---\n{map}"));
    let needs = "  prune: true\n  dependsOn:\n    - name: early\n";
    scratch.replace("clusters/edge-01/flux/apps-rt.yaml", "  prune: true\n", needs);
    scratch.commit();
    let by_hand = scratch.expect(0, &["stop", "--without-git", "--reason", "INC-2"]).stdout;
    let (_, by_hand) = by_hand.split_once("# edge-01, to close what no gate suspends").unwrap();
    insta::assert_snapshot!(format!("{}\n{by_hand}", told(&scratch, 1, &["stop"])));
}

/// Until the hand-over one Flux Kustomization applies all of it.
#[test]
fn what_is_split_and_not_handed_over_is_named_too() {
    let scratch = tabled();
    let flux = scratch.text("clusters/edge-02/flux/apps-rw.yaml");
    let late =
        flux.replace("clusters/edge-02/apps/apps-rw", "clusters/edge-02/late").replace("apps-rw", "late");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: late, namespace: web }\n";
    scratch.write("clusters/edge-02/flux/late.yaml", late);
    scratch.write("clusters/edge-02/late/kustomization.yaml", "resources: [secret.yaml, map.yaml]\n");
    scratch.write("clusters/edge-02/late/secret.yaml", secret);
    scratch.write("clusters/edge-02/late/map.yaml", secret.replace("Secret", "ConfigMap"));
    scratch.commit();
    scratch.expect(0, &["split", "--all", "--yes", "--quiet"]);
    scratch.commit();
    insta::assert_snapshot!(told(&scratch, 1, &["stop"]));
}

/// kustomize-controller sets it back at the next reconciliation of whoever applies it.
#[test]
fn nobody_is_told_to_suspend_what_git_resumes() {
    let scratch = tabled();
    let flux = scratch.text("clusters/edge-01/flux/apps-rw.yaml");
    let mixed = flux.replace("clusters/edge-01/apps/apps-rw", "apps/mixed").replace("apps-rw", "mixed");
    scratch.write(
        "clusters/edge-01/flux/mixed.yaml",
        mixed.replace("  prune: true\n", "  prune: true\n  suspend: false\n"),
    );
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: early, namespace: web }\n";
    let both = format!("{secret}---\n{}", secret.replace("Secret", "ConfigMap"));
    scratch
        .write("apps/mixed/kustomization.yaml", "resources: [all.yaml]\n")
        .write("apps/mixed/all.yaml", both);
    scratch.commit();
    let by_hand = scratch.expect(0, &["stop", "--without-git", "--reason", "INC-2"]).stdout;
    assert!(!by_hand.contains(" mixed "), "{by_hand}");
    let told = told(&scratch, 1, &["stop"]);
    assert!(told.contains("remove `suspend: false` from Git"), "{told}");
    assert!(!told.contains("flux suspend"), "{told}");
}

/// A pair of CronJobs looks at no table, also where the spec has asked for one since.
#[test]
fn a_pair_is_stopped_by_no_commit() {
    let scratch = sample();
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n",
    );
    scratch.commit();
    let start = scratch.tree();
    let mut all = told(&scratch, 5, &["stop"]);
    assert_same(&start, &scratch.tree(), "something was written");
    scratch.replace("windows.yaml", "clusters:\n", "clusters:\n  edge-03:\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty", "--quiet"]);
    scratch.commit();
    all += &told(
        &scratch,
        0,
        &[
            "freeze",
            "add",
            "x",
            "--to",
            "2026-11-30",
            "--time-zone",
            "UTC",
            "--reason",
            "r",
            "--cluster",
            "edge-03",
        ],
    );
    insta::assert_snapshot!(all);
}

/// What nobody has committed holds up no stop that leaves it alone.
#[test]
fn uncommitted_edits_of_other_files_hold_up_no_stop() {
    let scratch = tabled();
    scratch.write("notes.md", "half a thought\n");
    let web = scratch.text("apps/web/web-rw/service.yaml");
    scratch.write("apps/web/web-rw/service.yaml", format!("{web}# half an edit\n"));
    scratch.expect(0, &[&["stop", "--yes"], &NOW[..]].concat());
    assert!(scratch.text(&patch("edge-01", "close")).contains("# frozen"));
    assert!(scratch.text("apps/web/web-rw/service.yaml").ends_with("# half an edit\n"));
    // An edit of what it writes would come along.
    scratch.git(&["checkout", "--quiet", "."]);
    scratch.write("windows.yaml", scratch.text("windows.yaml") + "# a note\n");
    let run = scratch.expect(4, &[&["stop", "--yes"], &NOW[..]].concat());
    assert!(run.stderr.contains("uncommitted changes: windows.yaml\n"), "{}", run.stderr);
}

/// A program reads which clusters hear nothing of it.
#[test]
fn the_answer_names_the_clusters_that_it_does_not_reach() {
    let scratch = tabled();
    let file = patch("edge-01", "close");
    scratch.replace(&file, "  suspend:", "  # by hand\n  suspend:");
    scratch.commit();
    let run = scratch.expect(1, &[&["stop", "--yes", "--format", "json"], &NOW[..]].concat());
    let answer = crate::answer(&run.stdout);
    assert_eq!(answer["unreached"], serde_json::json!(["edge-01"]));
    assert_eq!(answer["written"], true);
}
