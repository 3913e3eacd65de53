//! What is read back of a provider.

use serde_json::{Value, json};

use super::*;
use crate::mechanism::{State, read};

fn provider(schedule: &Value) -> Value {
    json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": PROVIDER,
        "metadata": { "name": "reconciliation-window", "namespace": "flux-system" },
        "spec": {
            "defaultValues": { "held": "flux-system-rw", "live": "flux-system", "branch": "main", "spec": { "url": "u" } },
            "schedule": schedule,
        },
    })
}

#[test]
fn a_schedule_is_open_from_each_trigger_for_its_window() {
    let schedule = json!([
        { "cron": "0 22 * * SAT", "timeZone": "Europe/Berlin", "window": "1h30m0s" },
        { "cron": "0 6 * * SUN", "window": "60m" },
    ]);
    let reading = read(&provider(&schedule), None);
    assert_eq!(reading.mechanism, MechanismName::FluxOperator);
    assert_eq!(
        reading.held,
        Some(HeldId {
            kind: SourceKind::Git,
            namespace: "flux-system".to_owned(),
            name: "flux-system-rw".to_owned()
        })
    );
    assert_eq!(
        (reading.follows.as_deref(), reading.every, reading.obeys_stop),
        (Some("flux-system"), 3, true)
    );
    let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    let open = reading.table.unwrap();
    let open: Vec<String> = open
        .cut(at("2026-11-26T00:00:00Z"), at("2026-11-30T00:00:00Z"))
        .map(|one| format!("{} to {}", one.open, one.close))
        .collect();
    assert_eq!(
        open,
        ["2026-11-28T21:00:00Z to 2026-11-28T22:30:00Z", "2026-11-29T06:00:00Z to 2026-11-29T07:00:00Z",]
    );
}

/// Without a window, and without a schedule, it is reconciled at any time.
#[test]
fn what_is_open_at_any_time_holds_nothing() {
    for schedule in [
        json!([]),
        Value::Null,
        json!([{ "cron": "0 22 * * SAT" }]),
        json!([{ "cron": "0 22 * * SAT", "window": "0s" }]),
        json!([{ "cron": "0 22 * * SAT", "window": "1h" }, { "cron": "0 6 * * *", "window": "0s" }]),
        json!([{ "cron": "nonsense", "window": "1h" }]),
    ] {
        assert!(read(&provider(&schedule), None).is_empty(), "{schedule}");
    }
}

#[test]
fn a_provider_of_others_makes_no_source() {
    for (object, name) in [
        (provider(&json!([])), Some("flux-system-rw")),
        (
            json!({ "apiVersion": "example.org/v1", "kind": PROVIDER, "spec": { "defaultValues": { "held": "x", "spec": {} } } }),
            None,
        ),
        (json!({ "kind": PROVIDER, "spec": { "type": "Static", "defaultValues": { "held": "x" } } }), None),
        (json!({ "kind": "ConfigMap", "spec": { "defaultValues": { "held": "x", "spec": {} } } }), None),
    ] {
        assert_eq!(source_of(&object).map(|(_, name, _)| name), name);
    }
    let object = provider(&json!([]));
    let (_, _, spec) = source_of(&object).unwrap();
    assert_eq!(spec["ref"], json!({ "branch": "main", "tag": SourceKind::Git.placeholder() }));
}

#[test]
fn a_held_source_is_closed_open_or_stopped() {
    let kustomization = json!({ "kind": "Kustomization", "spec": {} });
    let followed = json!({ "status": { "artifact": { "revision": "main@sha1:b" } } });
    let source = |commit: &str| json!({ "kind": "GitRepository", "spec": { "ref": { "commit": commit } } });
    let job = |value: &str| json!({ "kind": PROVIDER, "metadata": { "annotations": { RECONCILE: value } } });
    for (commit, value, state) in [
        ("b", "enabled", State::Open),
        ("a", "enabled", State::Closed),
        ("b", "disabled", State::Stopped),
        ("a", "Disabled", State::Stopped),
    ] {
        let (source, job) = (source(commit), job(value));
        let observed = Observed {
            kustomization: &kustomization,
            source: &source,
            followed: &followed,
            events: &[],
            job: &job,
            has_table: true,
        };
        assert_eq!(FluxOperator.left(&observed).state, state, "{commit} {value}");
    }
}
