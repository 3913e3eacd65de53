//! Types of which nothing has a side yet: their jobs hold a place, and never run without a name.

use std::collections::BTreeSet;

use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;
use crate::{jobs, rendered};

const SPEC: &str = "apiVersion: gitops-windows/v1
timeZone: Europe/Berlin
types: { rt: {}, rw: { window: sat }, night: { window: night } }
windows:
  sat: { open: 0 22 * * SAT, close: 0 4 * * SUN }
  night: { open: 0 4 * * *, close: 0 5 * * * }
clusters: { one: {} }
rules:
  - { kind: ConfigMap, type: rt }
  - { kind: Secret, type: night }
  - { type: rw }
";

/// Returns of each job of a gate whether it is suspended, and whom it turns. Apps are (name, kind of its object, more of its
/// Flux Kustomization); there is none where `is_in_git` is false.
fn told(gate: &str, apps: &[(&str, &str, &str)], is_in_git: bool) -> Vec<String> {
    let scratch = Scratch::empty();
    let clusters = match is_in_git {
        true => SPEC.to_owned(),
        false => {
            let paths: Vec<String> = apps.iter().map(|(name, ..)| format!("clusters/one/{name}")).collect();
            SPEC.replace("one: {}", &format!("one: {{ paths: [{}] }}", paths.join(", ")))
        }
    };
    scratch.write("windows.yaml", format!("{clusters}gate: {{ enabled: true{gate} }}\n"));
    if is_in_git {
        scratch.write("clusters/one/flux-system.yaml", flux_kustomization("flux-system", "clusters/one", ""));
    }
    for (name, kind, more) in apps {
        let folder = format!("clusters/one/{name}");
        let folder = if is_in_git { format!("apps/{name}") } else { folder };
        let object = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: n }}\n");
        scratch.write(&format!("{folder}/object.yaml"), object);
        scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [object.yaml]\n");
        if is_in_git {
            scratch.write(&format!("clusters/one/{name}.yaml"), flux_kustomization(name, &folder, more));
        }
    }
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "", "a second sync changes something");
    let jobs = jobs(&rendered(&scratch, "clusters/one/infra/reconciliation-windows"));
    assert!(!jobs.is_empty());
    let line = |(name, (_, _, suspended, held)): (String, (String, String, bool, BTreeSet<String>))| {
        let held = held.into_iter().collect::<Vec<_>>().join(" ");
        let name = name.replace("reconciliation-window", "");
        format!("{name}: {held}{}", if suspended { ", suspended" } else { "" })
    };
    jobs.into_iter().map(line).collect()
}

const HELD: (&str, &str, &str) = ("held", "Service", "");
const LIVE: (&str, &str, &str) = ("live", "ConfigMap", "");
const STOPPED: (&str, &str, &str) = ("stopped", "Service", "  suspend: true\n");

#[test]
fn what_gets_no_side_holds_the_place_where_nothing_else_does() {
    let alive = |night: &str| {
        let night = |way: &str| format!("{way}--night: {night}, suspended");
        vec!["close-: held".to_owned(), night("close"), "open-: held".to_owned(), night("open")]
    };
    for runner in ["", ", runner: flux", ", every: 5m, from: 2026-11-01, through: 2027-12-31"] {
        assert_eq!(told(runner, &[HELD, LIVE], true), alive("live-night"), "{runner}");
    }
    assert_eq!(told("", &[HELD], true), alive("held-night"));
    assert_eq!(told("", &[HELD, STOPPED], true), alive("held-night stopped-night"));
}

/// Where Git has no Flux Kustomization the spec says what runs, but of a type that nothing has.
#[test]
fn no_job_is_switched_on_for_what_gets_no_side() {
    let found = told("", &[HELD, LIVE], false);
    let expected = [
        "close-: held",
        "close--night: live-night, suspended",
        "open-: held",
        "open--night: live-night, suspended",
    ];
    assert_eq!(found, expected);
}

/// What another cluster holds back by that type is none of this one.
#[test]
fn a_cluster_without_anything_of_a_type_has_names_of_its_own() {
    let scratch = Scratch::empty();
    scratch.write(
        "windows.yaml",
        format!("{}gate: {{ enabled: true }}\n", SPEC.replace("one: {}", "one: {}, two: {}")),
    );
    for (cluster, apps) in [("one", &["web", "key"][..]), ("two", &["web"])] {
        let folder = format!("clusters/{cluster}");
        scratch.write(&format!("{folder}/flux-system.yaml"), flux_kustomization("flux-system", &folder, ""));
        for name in apps {
            scratch.write(
                &format!("{folder}/{name}.yaml"),
                flux_kustomization(name, &format!("apps/{name}"), ""),
            );
        }
    }
    for (name, kind) in [("web", "Service"), ("key", "Secret")] {
        let object = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: n }}\n");
        scratch.write(&format!("apps/{name}/object.yaml"), object);
        scratch.write(&format!("apps/{name}/kustomization.yaml"), "resources: [object.yaml]\n");
    }
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    for (cluster, name, suspended) in [("one", "key", false), ("two", "web-night", true)] {
        let jobs = jobs(&rendered(&scratch, &format!("clusters/{cluster}/infra/reconciliation-windows")));
        let (_, _, is_suspended, held) = &jobs["open-reconciliation-window-night"];
        assert_eq!((*is_suspended, held), (suspended, &BTreeSet::from([name.to_owned()])), "{cluster}");
    }
}
