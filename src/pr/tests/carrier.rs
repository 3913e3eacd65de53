//! What brings the CronJobs of a gate, where that does not build or the source leaves some of it out.

use super::repository::{Files, SPEC, SPEC_FILE, compared, files, flux, map, model, with, without, words};
use crate::mechanism::GateTarget;

/// A gate whose CronJobs stand suspended in a base, and a cluster that switches them on.
fn gated() -> Files {
    let mut base = with(
        &files(),
        &[
            (SPEC_FILE, "", SPEC),
            ("clusters/one/gate.yaml", "", &flux("gate", "gates/one", "")),
            (
                "gates/one/kustomization.yaml",
                "",
                "resources: [../../infra/gate]\npatches:\n- target: { kind: CronJob }\n  patch: |\n    - { op: replace, path: /spec/suspend, value: false }\n",
            ),
            ("infra/gate/kustomization.yaml", "", "resources: [open.yaml, close.yaml]\n"),
        ],
    );
    for file in ["open", "close"] {
        let job = base.remove(&format!("clusters/one/gate/{file}.yaml")).unwrap();
        base.insert(
            format!("infra/gate/{file}.yaml"),
            job.replace("spec:\n  schedule", "spec:\n  suspend: true\n  schedule"),
        );
    }
    base
}

/// What is said of a new image that comes with an edit.
fn told(base: &Files, edits: &[(&str, &str, &str)]) -> String {
    let image = [("apps/apps-rw/deployment.yaml", "nginx:1.29.0", "nginx:1.30.0")];
    words(&compared(base, &with(&with(base, edits), &image)))
}

#[test]
fn a_gate_holds_on_where_what_brings_it_does_not_build() {
    let base = gated();
    insta::assert_snapshot!("carrier_as_ever", told(&base, &[]));
    insta::assert_snapshot!("carrier_left_out", told(&base, &[(".sourceignore", "", "/infra/\n")]));
    let list = "gates/one/kustomization.yaml";
    insta::assert_snapshot!(
        "carrier_lacks_a_file",
        told(&base, &[(list, "infra/gate]", "infra/gate, more.yaml]")])
    );
}

#[test]
fn a_gate_of_which_a_file_cannot_be_read_runs_on() {
    let broken = [("infra/gate/close.yaml", "metadata:", "metadata: [")];
    insta::assert_snapshot!("carrier_unread", told(&gated(), &broken));
    // A patch that is missing leaves it open whether another one lets the jobs run.
    let list = "gates/one/kustomization.yaml";
    let patch = [(list, "patches:\n", "patches:\n- path: patch.yaml\n")];
    assert_eq!(closes(&with(&gated(), &patch)), Some(true));
}

#[test]
fn a_gate_that_comes_with_a_build_that_fails_closes_nothing() {
    let base = without(&without(&gated(), "clusters/one/gate.yaml"), "gates/one/kustomization.yaml");
    let list = gated().remove("gates/one/kustomization.yaml").unwrap().replace("gate]", "gate, more.yaml]");
    let flux = gated().remove("clusters/one/gate.yaml").unwrap();
    let new =
        [("clusters/one/gate.yaml", "", flux.as_str()), ("gates/one/kustomization.yaml", "", list.as_str())];
    insta::assert_snapshot!("carrier_new_fails", told(&base, &new));
}

/// The same with the part of the cluster in the folder of its root, which Flux lists by itself.
fn in_root() -> Files {
    let mut base = without(&gated(), "clusters/one/gate.yaml");
    let list = base.remove("gates/one/kustomization.yaml").unwrap();
    base.insert(
        "clusters/one/infra/kustomization.yaml".to_owned(),
        list.replace("../../infra", "../../../infra"),
    );
    base
}

#[test]
fn a_gate_that_the_source_leaves_out_is_gone() {
    insta::assert_snapshot!(
        "carrier_gone",
        told(&in_root(), &[(".sourceignore", "", "/clusters/one/infra/\n")])
    );
}

/// Returns whether a gate closes in a repository, and whether its CronJobs are kept out.
fn closes(files: &Files) -> Option<bool> {
    let model = model(files);
    let target = GateTarget { namespace: "flux-system".to_owned(), name: "apps-rw".to_owned() };
    model.closings.running("one", &target).map(|job| job.is_kept_out())
}

#[test]
fn what_the_source_leaves_out_decides_what_a_gate_closes() {
    let ignoring = |base: &Files, line: &str| closes(&with(base, &[(".sourceignore", "", line)]));
    // The base stays; the part of the cluster goes, and Flux lists what else is there.
    assert_eq!(closes(&in_root()), Some(false));
    assert_eq!(ignoring(&in_root(), "/clusters/one/infra/\n"), None);
    assert_eq!(ignoring(&files(), "/clusters/one/gate/\n"), None);
    // What fails keeps what is there, whatever it lacks.
    assert_eq!(ignoring(&in_root(), "/infra/\n"), Some(true));
    assert_eq!(ignoring(&gated(), "/gates/\n"), Some(true));
    assert_eq!(ignoring(&gated(), "close.yaml\n"), Some(true));
    assert_eq!(ignoring(&gated(), "/apps/\n"), Some(false));
}

#[test]
fn a_list_that_lacks_another_part_keeps_all_of_its_gates() {
    let list = (
        "clusters/one/kustomization.yaml",
        "",
        "resources: [flux-system/gotk-sync.yaml, apps.yaml, infra, more]\n",
    );
    let more = ("clusters/one/more/kustomization.yaml", "", "resources: [map.yaml]\n");
    let base = with(&in_root(), &[list, more, ("clusters/one/more/map.yaml", "", &map("more", ""))]);
    assert_eq!(closes(&base), Some(false));
    assert_eq!(closes(&without(&base, "clusters/one/more/map.yaml")), Some(true));
    assert_eq!(closes(&with(&base, &[(".sourceignore", "", "/clusters/one/infra/\n")])), Some(true));
}

#[test]
fn a_job_of_another_name_that_closes_the_same_is_not_new() {
    let suspended = |base: &Files| {
        with(base, &[("clusters/one/gate.yaml", "prune: true", "prune: true\n  suspend: true")])
    };
    let renamed = [
        ("infra/gate/open.yaml", "name: open", "name: rw-open"),
        ("infra/gate/close.yaml", "name: close", "name: rw-close"),
    ];
    let base = suspended(&gated());
    insta::assert_snapshot!("carrier_suspended", told(&base, &renamed));
    // A job that is there and never learns of another Flux Kustomization does not close that.
    let other = [("infra/gate/open.yaml", "apps-rw", "other"), ("infra/gate/close.yaml", "apps-rw", "other")];
    let before = with(&base, &other);
    let back = other.map(|(file, from, to)| (file, to, from));
    insta::assert_snapshot!("carrier_suspended_named", told(&before, &back));
}

#[test]
fn a_gate_that_depends_on_what_is_not_in_git_is_only_assumed() {
    let depends = ("clusters/one/gate.yaml", "prune: true", "prune: true\n  dependsOn: [{ name: outside }]");
    insta::assert_snapshot!("carrier_unsaid", told(&with(&gated(), &[depends]), &[]));
}
