//! What is held as a whole, and gets an object of another type.

use std::collections::BTreeSet;

use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;
use crate::{allowed, jobs, rendered, scaffold};

const FLUX: &str = "clusters/edge-01/flux";

/// Two Flux Kustomizations beside the divided apps that are held as a whole, of which one waits for the other.
fn held_as_a_whole() -> Scratch {
    let scratch = scaffold();
    for (name, waits) in [("base", "  dependsOn: [{ name: more }]\n"), ("more", "")] {
        scratch.write(&format!("{name}/kustomization.yaml"), "resources: [namespace.yaml, secret.yaml]\n");
        scratch.write(
            &format!("{name}/namespace.yaml"),
            format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {name} }}\n"),
        );
        scratch.write(
            &format!("{name}/secret.yaml"),
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: {name}, namespace: {name} }}\n"),
        );
        scratch.write(&format!("{FLUX}/{name}.yaml"), flux_kustomization(name, name, waits));
    }
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch.commit();
    scratch
}

fn held(scratch: &Scratch) -> BTreeSet<String> {
    let objects = rendered(scratch, "clusters/edge-01/infra");
    let held = allowed(&objects);
    assert!(jobs(&objects).values().all(|(_, _, suspended, turned)| !suspended && *turned == held));
    held
}

/// A window that goes by itself would let all objects land at once.
#[test]
fn a_real_time_object_takes_no_gate_off() {
    let scratch = held_as_a_whole();
    let before = held(&scratch);
    assert_eq!(before, BTreeSet::from(["apps-rw", "base", "more"].map(str::to_owned)));
    scratch.write("more/kustomization.yaml", "resources: [namespace.yaml, secret.yaml, settings.yaml]\n");
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more, namespace: more }\n";
    scratch.write("more/settings.yaml", settings);
    scratch.commit();
    let told = scratch.run(&["sync", "--yes"]);
    assert_eq!(held(&scratch), before);
    insta::assert_snapshot!(format!("exit {}\n{}{}", told.code, told.stdout, told.stderr));

    scratch.commit();
    let told = scratch.run(&["check"]);
    assert!(
        told.stdout.contains("GW045") && told.stdout.contains("ConfigMap more/more waits for `rw`"),
        "{told:?}"
    );

    // Both ways lead on.
    let annotated = "  annotations: { gitops-windows/type: rw }\n";
    scratch.write(
        "more/settings.yaml",
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\n  namespace: more\n{annotated}"),
    );
    scratch.commit();
    let told = scratch.expect(0, &["sync", "--yes"]);
    assert!(!told.stderr.contains("warning"), "{}", told.stderr);
    assert_eq!(held(&scratch), before);
    scratch.write("more/settings.yaml", settings).commit();
    for step in [&["split", "more", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(step);
        scratch.commit();
    }
    let after = BTreeSet::from(["apps-rw", "base", "more-rw"].map(str::to_owned));
    assert!(after.is_subset(&held(&scratch)), "{:?}", held(&scratch));
}

#[test]
fn what_something_real_time_needs_loses_its_gate_in_plain_words() {
    let scratch = held_as_a_whole();
    scratch.write(&format!("{FLUX}/first.yaml"), {
        flux_kustomization("first", "first", "  dependsOn: [{ name: more }]\n")
    });
    scratch.write("first/kustomization.yaml", "resources: [settings.yaml]\n");
    scratch.write(
        "first/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: first, namespace: more }\n",
    );
    scratch.commit();
    let told = scratch.run(&["sync", "--yes"]);
    assert_eq!(held(&scratch), BTreeSet::from(["apps-rw", "base"].map(str::to_owned)));
    insta::assert_snapshot!(format!("exit {}\n{}{}", told.code, told.stdout, told.stderr));
}

#[test]
fn what_loses_its_gate_is_resumed_by_one_command() {
    let scratch = held_as_a_whole();
    let waits = "  dependsOn: [{ name: more }, { name: base }]\n";
    scratch.write(&format!("{FLUX}/first.yaml"), flux_kustomization("first", "first", waits));
    scratch.write("first/kustomization.yaml", "resources: [settings.yaml]\n");
    scratch.write(
        "first/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: first, namespace: more }\n",
    );
    scratch.commit();
    let told = scratch.expect(0, &["sync", "--yes"]);
    assert_eq!(
        told.stderr
            .matches("Once the cluster has this commit, run on edge-01: this resumes base, more, which")
            .count(),
        1,
        "{}",
        told.stderr
    );
    let command = "flux resume kustomization base more --namespace flux-system";
    assert_eq!(told.stderr.matches("flux resume").count(), 1, "{}", told.stderr);
    assert!(told.stderr.contains(command), "{}", told.stderr);
}
