use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::proof::Mismatch;
use crate::proof::difference::differences;

fn object(kind: &str, name: &str) -> Object {
    Object {
        value: json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name } }).into(),
        origin: None,
    }
}

fn inventory(name: &str, prune: bool, policy: &str, objects: &[&str]) -> Inventory {
    Inventory {
        cluster: "edge".to_owned(),
        namespace: "flux-system".to_owned(),
        name: name.to_owned(),
        path: RepoPath::parse(&format!("apps/{name}")).ok(),
        prune,
        deletion_policy: policy.to_owned(),
        is_kept: false,
        place: Place::file(RepoPath::parse("flux.yaml").unwrap()),
        brings_itself: false,
        beyond: [Value::Null, Value::Null],
        objects: Ok(objects.iter().map(|name| object("ConfigMap", name)).collect()),
    }
}

fn texts(before: &[Inventory], after: &[Inventory]) -> Vec<String> {
    deletions(before, after).iter().map(ToString::to_string).collect()
}

#[test]
fn a_kustomization_that_flux_keeps_deletes_nothing_when_it_goes() {
    let before = [Inventory { is_kept: true, ..inventory("apps", true, "Delete", &["a", "b"]) }];
    assert_eq!(texts(&before, &[]), [""; 0]);
    let after = [Inventory { is_kept: true, ..inventory("apps", true, "", &["a"]) }];
    assert_eq!(texts(&before, &after).len(), 1);
}

#[test]
fn one_commit_that_replaces_a_kustomization_deletes_all_of_it() {
    let before = [inventory("apps", true, "", &["a", "b"])];
    let after = [inventory("apps-rt", true, "", &["a"]), inventory("apps-rw", true, "", &["b"])];
    assert_eq!(
        texts(&before, &after),
        [
            "ConfigMap a in edge: Flux Kustomization apps goes and deletes it, before or after apps-rt has applied it",
            "ConfigMap b in edge: Flux Kustomization apps goes and deletes it, before or after apps-rw has applied it",
        ]
    );
    assert_eq!(differences(&before, &after, &BTreeSet::new()), []);
}

#[test]
fn each_of_the_three_steps_deletes_nothing() {
    let steps = [
        vec![inventory("apps", true, "", &["a", "b"])],
        vec![inventory("apps", false, "Orphan", &["a", "b"])],
        vec![inventory("apps-rt", false, "", &["a"]), inventory("apps-rw", false, "", &["b"])],
        vec![inventory("apps-rt", true, "", &["a"]), inventory("apps-rw", true, "", &["b"])],
    ];
    for step in steps.windows(2) {
        assert_eq!(texts(&step[0], &step[1]), <[String; 0]>::default());
        assert_eq!(differences(&step[0], &step[1], &BTreeSet::new()), []);
    }
    // With other values it is another object, or it is in another cluster.
    for (field, text) in [(0, "${tenant}"), (1, "a")] {
        let mut two = [inventory("a", true, "", &[text]), inventory("b", true, "", &[text])];
        for (one, name) in two.iter_mut().zip(["a", "b"]) {
            one.beyond[field] = json!({ "name": name });
        }
        let lost = differences(&two, &two[..1], &BTreeSet::new());
        assert!(matches!(&lost[..], [(_, Mismatch::Lost { .. })]), "{lost:?}");
    }
    // Without the first or the second step something goes.
    assert_eq!(deletions(&steps[0], &steps[2]).len(), 2);
    let skipped = [inventory("apps", true, "", &["b"]), inventory("apps-rt", true, "", &["a"])];
    assert_eq!(deletions(&steps[1], &skipped).len(), 1);
}

#[test]
fn what_goes_is_decided_by_the_policy_and_what_stays_by_the_object() {
    for (prune, policy, goes) in [
        (true, "", 1),
        (false, "", 0),
        (true, "Orphan", 0),
        (false, "Delete", 1),
        (false, "WaitForTermination", 1),
    ] {
        assert_eq!(
            deletions(&[inventory("apps", prune, policy, &["a"])], &[]).len(),
            goes,
            "{prune} {policy}"
        );
    }
    for (old, new, loses) in [(false, false, 0), (true, false, 1), (false, true, 1), (true, true, 1)] {
        let before = [inventory("apps", old, "", &["a", "b"])];
        let found = deletions(&before, &[inventory("apps", new, "", &["a"])]);
        assert_eq!(found.len(), loses, "{old} {new}");
    }
    let mut kept = inventory("apps", true, "", &["a"]);
    Arc::make_mut(&mut kept.objects.as_mut().unwrap()[0].value)["metadata"]["annotations"] =
        json!({ "kustomize.toolkit.fluxcd.io/prune": "disabled" });
    assert_eq!(deletions(&[kept], &[]), []);
}

#[test]
fn a_build_that_fails_prunes_nothing_and_is_a_difference() {
    let before = [inventory("apps", true, "", &["a"])];
    let mut after = inventory("apps", true, "", &[]);
    after.objects = Err("no such file".to_owned());
    assert_eq!(deletions(&before, std::slice::from_ref(&after)), []);
    let found = differences(&before, &[after], &BTreeSet::new());
    assert!(matches!(found[0].1, Mismatch::Unbuildable { .. }), "{found:?}");
}
