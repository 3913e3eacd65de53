//! What nothing can have closed yet, by since when it and its gate are in Git.

use super::repository::{
    Files, NOW, SPEC, SPEC_FILE, compared_since, files, job, map, unclosed_since, with, without,
};
use crate::pr::Report;
use crate::repo::Appeared;

/// A day after the last closing.
const LATE: &str = "2026-11-23T08:00:00Z";

const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";

/// The objects that change, a line each, with when they land and why.
fn landings(report: &Report) -> String {
    let line = |line: &crate::pr::Line| {
        let lands = &line.lands;
        let at = |at: Option<jiff::Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        format!(
            "{}/{} {}: {} to {}, first closing {}; {}",
            line.id.kind,
            line.id.name,
            lands.state,
            at(lands.earliest),
            at(lands.latest),
            at(lands.first_closing),
            lands.reason.as_deref().unwrap_or("-")
        )
    };
    report.changes.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn with_image(files: &Files) -> Files {
    with(files, &[(DEPLOYMENT, "nginx:1.29.0", "nginx:1.30.0")])
}

/// What becomes of a new image where one file is in Git since then, and all others for long.
fn told(base: &Files, file: &str, since: Appeared) -> String {
    let of = |one: &str| if one == file { since } else { Appeared::Before };
    landings(&compared_since(NOW, base, &with_image(base), &of))
}

#[test]
fn whatever_came_last_counts_of_a_gate_and_what_it_closes() {
    let base = files();
    let late = Appeared::At(LATE.parse().unwrap());
    let closed = told(&base, "", late);
    insta::assert_snapshot!(closed, @"Deployment/web window: 2026-11-28T21:00:00Z to 2026-11-28T21:02:00Z, first closing -; -");
    let open = told(&base, "clusters/one/gate/close.yaml", late);
    insta::assert_snapshot!(open, @"Deployment/web window: 2026-11-23T12:00:00Z to 2026-11-23T12:02:03Z, first closing 2026-11-29T01:00:00Z; no closing has come since the gate or its Flux Kustomization was added");
    assert_eq!(told(&base, "clusters/one/apps.yaml", late), open);
    // The job that opens closes nothing, and other files tell nothing.
    for file in ["clusters/one/gate/open.yaml", DEPLOYMENT] {
        assert_eq!(told(&base, file, late), closed, "{file}");
    }
    let before = Appeared::At("2026-11-22T01:00:00Z".parse().unwrap());
    assert_eq!(told(&base, "clusters/one/gate/close.yaml", before), closed);
    // With a spec the same is so.
    let base = with(&base, &[(SPEC_FILE, "", SPEC)]);
    assert_eq!(
        told(&base, "clusters/one/gate/close.yaml", late).replace("saturday", "close"),
        open.replace("saturday", "close")
    );
    insta::assert_snapshot!(told(&base, "clusters/one/gate/close.yaml", Appeared::Unknown), @"Deployment/web window: 2026-11-28T21:00:00Z to 2026-11-28T21:02:00Z, first closing -; it is assumed that the CronJobs are older than the last closing");
}

/// A suspended Flux Kustomization applies and deletes nothing, so the CronJobs of the cluster run on.
#[test]
fn a_gate_whose_own_flux_kustomization_is_suspended_still_holds() {
    let suspended = super::repository::flux("gate", "gates", "  suspend: true\n");
    let mut base = with(&files(), &[("clusters/one/gate.yaml", "", &suspended)]);
    for file in ["open", "close"] {
        let job = base.remove(&format!("clusters/one/gate/{file}.yaml")).unwrap();
        base.insert(format!("gates/{file}.yaml"), job);
    }
    insta::assert_snapshot!(told(&base, "", Appeared::Before), @"Deployment/web window: 2026-11-28T21:00:00Z to 2026-11-28T21:02:00Z, first closing -; Git suspends the Flux Kustomization of its gate. It is assumed that the cluster has the CronJobs, which run on");
    // One that comes with the change never arrives.
    let before = without(&without(&base, "gates/open.yaml"), "gates/close.yaml");
    let of = |_: &str| Appeared::Before;
    insta::assert_snapshot!(landings(&compared_since(NOW, &before, &with_image(&base), &of)), @"Deployment/web at-once: 2026-11-23T12:00:00Z to 2026-11-23T12:02:03Z, first closing -; Git suspends the Flux Kustomization of its gate, so the new CronJobs never come");
    // Nor does another window of one that is there.
    let later = with(&with_image(&base), &[("gates/open.yaml", "0 22 * * SAT", "0 23 * * SAT")]);
    insta::assert_snapshot!(landings(&compared_since(NOW, &base, &later, &of)), @r"
    Deployment/web window: 2026-11-28T21:00:00Z to 2026-11-28T21:02:00Z, first closing -; Git suspends the Flux Kustomization of its gate. It is assumed that the cluster has the CronJobs, which run on
    CronJob/open never: - to -, first closing -; Git suspends Flux Kustomization gate
    ");
}

#[test]
fn each_gate_of_a_cluster_has_begun_by_itself() {
    let more = with(
        &files(),
        &[
            ("clusters/one/more.yaml", "", &super::repository::flux("more-rw", "more", "")),
            ("more/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("more/a.yaml", "", &map("a", "k: v")),
            ("clusters/one/later/open.yaml", "", &job("later-open", "resume", "0 22 * * SAT", "more-rw")),
            ("clusters/one/later/close.yaml", "", &job("later-close", "suspend", "0 2 * * SUN", "more-rw")),
        ],
    );
    let late = |one: &str| match one {
        "clusters/one/later/close.yaml" => Appeared::At(LATE.parse().unwrap()),
        _ => Appeared::Before,
    };
    let changed = with(&with_image(&more), &[("more/a.yaml", "k: v", "k: w")]);
    insta::assert_snapshot!(landings(&compared_since(NOW, &more, &changed, &late)), @r"
    Deployment/web window: 2026-11-28T21:00:00Z to 2026-11-28T21:02:00Z, first closing -; -
    ConfigMap/a window: 2026-11-23T12:00:00Z to 2026-11-23T12:02:03Z, first closing 2026-11-29T01:00:00Z; no closing has come since the gate or its Flux Kustomization was added
    ");
}

#[test]
fn a_type_is_open_until_its_first_closing_only_where_all_of_it_is() {
    let of = |since: &dyn Fn(&str) -> Appeared| {
        unclosed_since(NOW, &with(&files(), &[(SPEC_FILE, "", SPEC)]), since)
    };
    let late = || Appeared::At(LATE.parse().unwrap());
    let close = |one: &str| if one.ends_with("close.yaml") { late() } else { Appeared::Before };
    let first = "2026-11-29T01:00:00Z".parse().unwrap();
    assert_eq!(of(&close), [(("one".to_owned(), "rw".to_owned()), first)].into());
    let more = with(
        &files(),
        &[
            (SPEC_FILE, "", SPEC),
            ("clusters/one/more.yaml", "", &super::repository::flux("more-rw", "more", "")),
            ("more/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("more/a.yaml", "", &map("a", "k: v")),
            ("clusters/one/gate/open.yaml", "apps-rw", "apps-rw, more-rw"),
            ("clusters/one/gate/close.yaml", "apps-rw", "apps-rw, more-rw"),
        ],
    );
    let one = |file: &str| if file == "clusters/one/more.yaml" { late() } else { Appeared::Before };
    assert_eq!(unclosed_since(NOW, &more, &one), [].into());
}

#[test]
fn a_gate_that_comes_with_the_change_has_closed_nothing() {
    let base = without(&files(), "clusters/one/gate/close.yaml");
    let known = |one: &str| match one {
        "clusters/one/gate/close.yaml" => Appeared::Nowhere,
        _ => Appeared::Before,
    };
    insta::assert_snapshot!(landings(&compared_since(NOW, &base, &with_image(&files()), &known)), @r"
    CronJob/close at-once: 2026-11-23T12:00:00Z to 2026-11-23T12:02:03Z, first closing -; -
    Deployment/web window: 2026-11-23T12:00:00Z to 2026-11-23T12:02:03Z, first closing 2026-11-29T01:00:00Z; no closing has come since the gate or its Flux Kustomization was added
    ");
}

#[test]
fn what_moves_to_another_file_has_been_closed() {
    let base = files();
    let apps = base["clusters/one/apps.yaml"].clone();
    let moved = with(
        &without(&with_image(&base), "clusters/one/apps.yaml"),
        &[("clusters/one/moved.yaml", "", &apps)],
    );
    let close = moved["clusters/one/gate/close.yaml"].clone();
    let moved = with(
        &without(&moved, "clusters/one/gate/close.yaml"),
        &[("clusters/one/gate/shut.yaml", "", &close)],
    );
    let known = |one: &str| match base.contains_key(one) {
        true => Appeared::Before,
        false => Appeared::Nowhere,
    };
    let told = landings(&compared_since(NOW, &base, &moved, &known));
    assert_eq!(told, landings(&compared_since(NOW, &base, &with_image(&base), &known)));
}

#[test]
fn a_job_that_begins_to_name_one_has_not_closed_that() {
    let edits = [
        ("clusters/one/more.yaml", "", &*super::repository::flux("more-rw", "more", "")),
        ("more/kustomization.yaml", "", "resources: [a.yaml]\n"),
        ("more/a.yaml", "", &*map("a", "k: v")),
    ];
    let base = with(&files(), &edits);
    let named = with(
        &base,
        &[
            ("clusters/one/gate/close.yaml", "apps-rw", "apps-rw, more-rw"),
            ("clusters/one/gate/open.yaml", "apps-rw", "apps-rw, more-rw"),
            ("more/a.yaml", "k: v", "k: w"),
        ],
    );
    insta::assert_snapshot!(landings(&compared_since(NOW, &base, &named, &|_: &str| Appeared::Before)));
}

#[test]
fn a_list_that_came_later_takes_no_closing_back() {
    let list = "clusters/one/gate/kustomization.yaml";
    let base = with(&files(), &[(list, "", "resources: [open.yaml, close.yaml]\n")]);
    let late = Appeared::At(LATE.parse().unwrap());
    assert_eq!(told(&base, list, late), told(&base, "", late));
}
