//! Gates that go, and what they held back.

use crate::follow::{bootstrapped, following};
use crate::support::scratch::{Scratch, assert_same};
use crate::{WINDOW, jobs, rendered, scaffold};

#[test]
fn what_windows_yaml_no_longer_speaks_of_is_said() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "");
    scratch.commit();
    let run = scratch.run(&["sync"]);
    assert!(run.stderr.contains("edge-02") && run.stderr.contains("goes on closing"), "{}", run.stderr);
    // A quiet run that does nothing says why as well.
    let quiet = scratch.expect(0, &["sync", "--quiet", "--yes"]);
    assert!(quiet.stderr.contains("goes on closing"), "{}", quiet.stderr);
}

#[test]
fn a_gate_that_is_switched_off_and_left_closes_nothing() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "enabled: true", "enabled: false");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "");
    scratch.commit();
    let run = scratch.run(&["sync"]);
    assert!(run.stderr.contains("It stays, and closes nothing"), "{}", run.stderr);
    assert!(!run.stderr.contains("goes on closing"), "{}", run.stderr);
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
            "clusters/edge-02/infra contains a gate of cluster edge-02, which has nothing to suspend any more",
            "`gitops-windows sync --allow-deletion` removes it, and says which objects the cluster deletes",
        ] {
            assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        }
        assert_eq!(rendered(&scratch, "clusters/edge-02/infra").len(), kept.len());
        scratch.commit();
        let run = scratch.expect(0, &["sync", "--yes", "--allow-deletion"]);
        let who = if every { "clusters edge-01, edge-02 delete " } else { "cluster edge-02 deletes " };
        for said in [who, "CronJob jobs/close-reconciliation-window"] {
            assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        }
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
    scratch.take(&["split", "app", "of-apps", "--yes"]);
    scratch.expect(0, &["join", "app", "of-apps", "--yes"]);
    assert_same(&before, &scratch.tree(), "join left a gate as it was divided");
}

#[test]
fn a_namespace_that_a_gate_leaves_goes_on_request_alone() {
    let moved = |scratch: &Scratch| {
        let spec = scratch.text("windows.yaml");
        let gate = spec.find("\ngate:").map_or(spec.len(), |at| at + 1);
        let (head, tail) = spec.split_at(gate);
        let rest = tail.split_inclusive('\n').skip(1).skip_while(|line| line.starts_with(' '));
        scratch
            .write("windows.yaml", format!("{head}{}gate: {{ namespace: ops }}\n", rest.collect::<String>()));
        scratch.commit();
    };
    // The tool's own Namespace is never pruned: something else may be in it.
    let scratch = scaffold();
    moved(&scratch);
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(!run.stderr.contains("deletes"), "{}", run.stderr);
    let objects = rendered(&scratch, "clusters/edge-01/infra");
    assert!(objects.iter().any(|one| one["kind"] == "Namespace" && one["metadata"]["name"] == "ops"));

    let scratch = scaffold();
    let own = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ namespace }}\n";
    scratch.write("templates/namespace.yaml.j2", own);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
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
    assert!(
        run.stderr.contains("clusters edge-01, edge-02 delete Namespace jobs with everything"),
        "{}",
        run.stderr
    );
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

/// Where a list of the cluster carries it, the whole gate goes at once.
#[test]
fn a_gate_that_holds_a_source_leaves_with_its_cluster() {
    let scratch = following();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "").commit();
    scratch.expect(0, &["sync", "--yes"]);
    assert!(!jobs(&rendered(&scratch, "clusters/edge-02/infra")).is_empty(), "it went without a word");
    scratch.expect(0, &["sync", "--yes", "--while-open", "--allow-deletion"]);
    assert!(jobs(&rendered(&scratch, "clusters/edge-02/infra")).is_empty());
    assert!(!jobs(&rendered(&scratch, "clusters/edge-01/infra")).is_empty());
    let apps = scratch.text("clusters/edge-02/flux/apps-rw.yaml");
    assert!(!apps.contains("name: flux-system-rw"), "{apps}");
}

/// A gate that is left goes on closing, so nothing says the contrary of its cluster.
#[test]
fn a_gate_that_is_left_and_one_that_is_not_wanted_are_one_truth() {
    let scratch = following();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "  edge-02: { hasGate: false }\n").commit();
    let told = scratch.expect(0, &["when", "--cluster", "edge-02", "--now", "2026-11-23T00:00:00Z"]).stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("goes on closing"), "{told}");
    assert!(!told.contains("No window holds anything back there"), "{told}");
}

/// A cluster that is gone keeps nobody from stopping the others.
#[test]
fn a_stop_goes_on_where_a_root_is_gone() {
    let scratch = bootstrapped();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  every: 5m\n  through: 2027-12-31\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "  edge-02: { roots: [clusters/edge-20] }\n").commit();
    let run = scratch.expect(3, &["sync"]);
    assert!(
        run.stderr.contains("root `clusters/edge-20` of cluster `edge-02` does not exist"),
        "{}",
        run.stderr
    );
    let run = scratch.expect(0, &["stop", "--without-git", "--cluster", "edge-01"]);
    assert!(run.stdout.contains("edge-01, to close") && run.stderr.contains("does not exist"), "{run:?}");
    let run = scratch.expect(0, &["stop", "--cluster", "edge-01", "--yes"]);
    assert!(run.stderr.contains("Commit and push it."), "{}", run.stderr);
}

#[test]
fn the_base_goes_with_the_last_gate_and_what_stays_is_named() {
    let scratch = scaffold();
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("clusters:\n  edge-01: {}\n  edge-02: {}\n"), "{spec}");
    scratch.replace("windows.yaml", "  edge-01: {}\n", "").commit();
    scratch.expect(0, &["sync", "--allow-deletion", "--yes"]);
    let base = scratch.top().join("infra/reconciliation-windows");
    assert!(base.exists(), "edge-02 builds on it");
    scratch.commit();
    scratch.replace("windows.yaml", "clusters:\n  edge-02: {}\n", "clusters: {}\n").commit();
    let told = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]).stderr;
    assert!(told.contains("to leave the tool: `git rm windows.yaml windows.schema.json`"), "{told}");
    assert!(!base.exists());
    scratch.commit();
    let told = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]).stderr;
    assert!(told.contains("to leave the tool: ") && told.contains("Nothing to change."), "{told}");
}
