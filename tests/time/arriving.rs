//! What is said between a commit that changes a gate and the run of its jobs that knows of it.

use super::{NOW, Repository, SPEC, flux};

/// The spec with a window that is open now, with a table, and with more lines.
fn tabled(more: &str) -> String {
    let spec = SPEC.replace("close: 0 17 * * THU", "close: 0 17 * * SAT");
    format!("{spec}gate: {{ every: 5m, from: 2026-11-01, through: 2027-01-31 }}\n{more}")
}

const STOP: &str =
    "freezes:\n  stop: { timeZone: UTC, from: '2026-11-21T11:55', to: '2026-12-24T12:00', reason: INC-10 }\n";

/// A repository whose gate went by one spec for long, and gets another one two minutes ago.
fn changed(from: &str, to: &str) -> Repository {
    let repository = Repository::uncommitted_fleet();
    for (spec, at) in [(from, "2026-01-05T12:00:00Z"), (to, "2026-11-21T11:58:00Z")] {
        repository.write("windows.yaml", spec);
        repository.write_tables();
        repository.commit(at);
    }
    repository
}

/// What is said of the gated side of the first cluster at an instant.
fn said(repository: &Repository, at: &str) -> String {
    let answer = repository.json(&["when", "--cluster", "edge-01", "--at", at, "--format", "json"]);
    let line = &answer["lines"][1];
    let utc = |key: &str| line[key]["utc"].as_str().unwrap_or("-").to_owned();
    let (opens, closes, changes) = (utc("nextOpen"), utc("nextClose"), utc("gateChanges"));
    let (open, reason) = (&line["open"], &line["reason"]);
    let text = repository.stdout(&["when", "--cluster", "edge-01", "--at", at]);
    format!("open {open}, {reason}, opens {opens}, closes {closes}, changes {changes}\n{text}")
}

#[test]
fn what_a_stop_closes_is_open_until_its_gate_has_it() {
    let repository = changed(&tabled(""), &tabled(STOP));
    insta::assert_snapshot!(said(&repository, NOW));
    let later = said(&repository, "2026-11-21T12:10:00Z");
    assert!(later.starts_with("open false, \"freeze\"") && later.contains("INC-10)"), "{later}");
    let calendar = repository.json(&["calendar", "--cluster", "edge-01", "--format", "json"]);
    let row = &calendar["rows"][0];
    assert_eq!(row["open"][0]["until"], "2026-11-21T12:06:03Z", "{row:#}");
    // The stop itself, and what is merged after it.
    let stop = repository.stdout(&["pr", "--base", "HEAD~1"]);
    assert!(
        stop.contains("is closed from Sat 2026-11-21 13:") && !stop.contains("closed from the merge"),
        "{stop}"
    );
    repository.write("apps/nginx/nginx-rw/deployment.yaml", CHANGED);
    repository.commit("2026-11-21T11:59:00Z");
    let change = repository.stdout(&["pr", "--base", "HEAD~1"]);
    assert!(
        change.contains("At once or from Thu 2026-12-24") && change.contains("a commit closes its gate"),
        "{change}"
    );
}

const CHANGED: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: nginx, labels: { app: nginx } }\n";

#[test]
fn what_a_stop_closed_may_be_open_until_its_gate_has_the_end() {
    let repository = changed(&tabled(STOP), &tabled(""));
    insta::assert_snapshot!(said(&repository, NOW));
    let change = told_of_a_change(&repository);
    assert!(change.contains("a commit opens its gate") && !change.contains(" or from "), "{change}");
}

#[test]
fn a_table_that_only_goes_on_changes_nothing_now() {
    let longer = tabled("").replace("2027-01-31", "2027-06-30");
    let told = said(&changed(&tabled(""), &longer), NOW);
    assert!(told.contains("changes -") && told.contains(": open\n"), "{told}");
}

/// As [`changed`], where the gate comes from a source that is fetched every two days.
fn slowly_changed(from: &str, to: &str) -> Repository {
    let repository = Repository::uncommitted_fleet();
    let source = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 48h, url: 'https://example.org/fleet' }\n";
    let infra = flux("infra", "infra/reconciliation-windows") + source;
    repository.write("clusters/edge-01/infra.yaml", &infra);
    for (spec, at) in [(from, "2026-01-05T12:00:00Z"), (to, "2026-11-21T11:58:00Z")] {
        repository.write("windows.yaml", spec);
        repository.write_tables();
        repository.commit(at);
    }
    repository
}

/// What is said of a change of the gated side that is merged right after that.
fn told_of_a_change(repository: &Repository) -> String {
    repository.write("apps/nginx/nginx-rw/deployment.yaml", CHANGED);
    repository.commit("2026-11-21T11:59:00Z");
    repository.stdout(&["pr", "--base", "HEAD~1"])
}

/// How long it takes is what the source of the gate says.
#[test]
fn a_slow_source_keeps_the_times_before_for_long() {
    let repository = slowly_changed(&tabled(""), &tabled(STOP));
    let told = said(&repository, NOW);
    // The window closes first, if the stop has not come by then.
    assert!(told.contains("closes 2026-11-21T16:00:00Z, changes 2026-11-23T14:"), "{told}");
    assert!(
        told.contains("open until the gate has its new times\n      closes  Sat 2026-11-21 17:00"),
        "{told}"
    );
    assert!(told.contains("at the latest"), "{told}");
    let change = told_of_a_change(&repository);
    assert!(change.contains("a commit closes its gate"), "{change}");
}

/// What a commit opens may be open as soon as it is merged, long before it surely is.
#[test]
fn what_a_slow_source_opens_may_be_open_at_once() {
    let repository = slowly_changed(&tabled(STOP), &tabled(""));
    let told = said(&repository, NOW);
    assert!(told.starts_with("open true, \"window\", opens 2026-11-23T07:00:00Z"), "{told}");
    assert!(
        told.contains("open once the gate has its new times\n      closes  Sat 2026-11-21 17:00"),
        "{told}"
    );
    assert!(told.contains("at the latest"), "{told}");
    let change = told_of_a_change(&repository);
    assert!(change.contains("At once or from Mon 2026-11-23"), "{change}");
    assert!(change.contains("a commit opens its gate"), "{change}");
}

/// CronJobs with a table resume only what they suspended.
#[test]
fn what_the_pair_before_had_suspended_never_opens_by_itself() {
    let with_table = format!("{SPEC}gate: {{ every: 5m, from: 2026-11-01, through: 2027-01-31 }}\n");
    let at = |came: &str| {
        let repository = Repository::fleet();
        repository.write("windows.yaml", &with_table);
        repository.write_tables();
        repository.commit(came);
        repository
    };
    let closed = at("2026-11-20T12:00:00Z");
    insta::assert_snapshot!(said(&closed, NOW));
    let open = said(&closed, "2026-11-24T12:00:00Z");
    assert!(open.starts_with("open false, \"left-suspended\""), "{open}");
    // People have seen it by the next one.
    let next = said(&closed, "2026-12-01T12:00:00Z");
    assert!(next.starts_with("open true, \"window\""), "{next}");
    let while_open = said(&at("2026-11-18T12:00:00Z"), NOW);
    assert!(while_open.starts_with("open false, \"outside-window\""), "{while_open}");
    closed.write("apps/nginx/nginx-rw/deployment.yaml", CHANGED);
    closed.commit("2026-11-21T11:00:00Z");
    let pr = closed.stdout(&["pr", "--base", "HEAD~1"]);
    assert!(pr.contains("resume apps-rw by hand"), "{pr}");
}

#[test]
fn a_table_that_has_ended_says_so() {
    let repository = Repository::uncommitted_fleet();
    repository.write("windows.yaml", &tabled("").replace("2027-01-31", "2026-11-15"));
    repository.write_tables();
    repository.commit("2026-01-05T12:00:00Z");
    insta::assert_snapshot!(said(&repository, NOW));
    let last = said(&repository, "2026-11-15T12:00:00Z");
    assert!(last.contains("never: the table ends on"), "{last}");
}

#[test]
fn a_freeze_without_an_end_is_named_where_nothing_opens() {
    let stop = "freezes:\n  stop: { timeZone: UTC, from: 2026-11-10, to: 2199-12-31, reason: INC-10 }\n";
    let repository = Repository::uncommitted_fleet();
    repository.write("windows.yaml", &tabled(stop));
    repository.write_tables();
    repository.commit("2026-01-05T12:00:00Z");
    let told = repository.stdout(&["when", "--cluster", "edge-01"]);
    let note =
        "edge-01: a freeze without an end keeps the windows closed.\n  → 1. run `gitops-windows freeze list`";
    assert!(told.contains(note) && !told.contains("do not open again"), "{told}");
}
