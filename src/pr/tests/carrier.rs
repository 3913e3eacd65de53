//! What brings the CronJobs of a gate, where that does not build or the source leaves some of it out.

use super::repository::{Files, SPEC, SPEC_FILE, compared, files, flux, with, words};

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
