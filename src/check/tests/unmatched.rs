//! Names of the spec that match nothing.

use super::spec::{SPEC, files, gated_by, spec, with};
use crate::check::tests::repository::together;
use crate::check::{Subject, audit, sort};
use crate::diagnostic::{Severity, render};
use crate::repo::Snapshot;

/// Returns all that is told beside a spec, as it is shown.
fn shown(snapshot: &Snapshot, text: &str) -> String {
    let found = with(snapshot, &spec(text), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
    });
    render(&found, false, 100)
}

fn with_rules(rules: &str) -> String {
    SPEC.replace("rules: [{ kind: ConfigMap, type: rt }", &format!("rules: [{rules}"))
}

#[test]
fn a_condition_that_no_object_meets_is_told_with_what_was_meant() {
    let mut files = files();
    let labelled =
        "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: shop, labels: { tier: front } }\n";
    files.insert("apps/web/rw/service.yaml".to_owned(), labelled.to_owned());
    let rules = "{ kind: Configmap, type: rt }, { app: rvv, type: rt }, { namespace: shpo, type: rt }, \
                 { name: setings*, type: rt }, { label: tier=frnt, type: rt }, { path: apps/wbe/**, type: rt }, \
                 { apiGroup: apps, type: rt }, { kind: Service, name: settings, type: rt }";
    insta::assert_snapshot!(shown(&together(&[files]), &with_rules(rules)));
}

#[test]
fn rules_that_match_are_right_whatever_decides() {
    let rules = "{ kind: ConfigMap, type: rt }, { kind: Namespace, type: rt }, { name: setting?, type: rw }"
        .replace("setting?", "sett*");
    assert_eq!(shown(&together(&[files()]), &with_rules(&rules)), "");
}

#[test]
fn what_does_not_build_may_hold_what_a_rule_speaks_of() {
    let mut files = files();
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: { name: late, namespace: shop }\n";
    files.insert("apps/web/rw/job.yaml".to_owned(), job.to_owned());
    files
        .insert("apps/web/rw/kustomization.yaml".to_owned(), "resources: [job.yaml, gone.yaml]\n".to_owned());
    let snapshot = together(&[files]);
    let told = |rule: &str| shown(&snapshot, &with_rules(rule)).contains("GW056");
    assert!(!told("{ kind: Job, type: rt }"));
    assert!(told("{ kind: Jbo, type: rt }"));
}

#[test]
fn clusters_windows_and_flux_names_that_nothing_has() {
    let text = SPEC
        .replace("{ edge: {} }", "{ edg: {}, other: { path: clusters/egde } }")
        .replace(
            "windows: { week:",
            "windows: { spare: { timeZone: UTC, from: Mon 08:00, to: Thu 17:00 }, week:",
        )
        .replace("name: flux-system }", "name: flux-sytem }")
        .replace("namespace: flux-system,", "namespace: flux-systm,");
    insta::assert_snapshot!(shown(&together(&[files()]), &text));
}

#[test]
fn the_gate_of_a_cluster_is_no_sign_of_it() {
    let text = SPEC.replace("{ edge: {} }", "{ edge: {}, edge-2: {} }");
    let told = shown(&gated_by(&text), &text);
    assert!(told.contains("cluster `edge-2` has no entry point"), "{told}");
}

#[test]
fn a_cluster_may_be_meant_that_the_spec_has_or_that_only_its_folder_names() {
    let near = |clusters: &str| {
        let text = SPEC.replace("{ edge: {} }", clusters);
        let found = with(&together(&[files()]), &spec(&text), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
        });
        let found = found.into_iter().find(|one| one.code == Some("GW056"));
        found.and_then(|one| one.help).unwrap_or_default()
    };
    assert_eq!(near("{ egde: {} }"), "did you mean `edge`?");
    assert_eq!(near("{ edge: {}, ed-ge: {} }"), "did you mean `edge`?");
    assert!(near("{ edge: {}, edges: {} }").starts_with("name its folders"), "another cluster to come");
}

#[test]
fn a_name_that_is_nearly_that_of_a_cluster_is_an_error() {
    let told = |clusters: &str| {
        let text = SPEC.replace("{ edge: {} }", clusters);
        let found = with(&together(&[files()]), &spec(&text), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
        });
        found.into_iter().find(|one| one.code == Some("GW056")).map(|one| one.severity)
    };
    assert_eq!(told("{ egde: {} }"), Some(Severity::Error));
    assert_eq!(told("{ edge: {}, west: {} }"), Some(Severity::Warning));
    assert_eq!(told("{ edge: {} }"), None);
}

#[test]
fn what_is_spelled_wrong_is_told_before_what_follows_from_it() {
    let text = with_rules("{ kind: Configmap, type: rt }");
    let codes = with(&together(&[files()]), &spec(&text), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        let mut found = audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap());
        sort(&mut found);
        found.into_iter().filter_map(|one| one.code).collect::<Vec<_>>()
    });
    assert_eq!(codes, ["GW056", "GW008"]);
}
