//! Windows that change.

use super::repository::{Files, SPEC, SPEC_FILE, compared, compared_at, files, with};

/// The messages about windows, each with its cluster.
fn windows(before: &Files, after: &Files) -> Vec<String> {
    let report = compared(before, after);
    let own = report.findings.iter().filter(|one| one.message.starts_with("window "));
    own.map(|one| format!("{}: {}", one.cluster, one.message)).collect()
}

#[test]
fn a_window_that_changes_is_told_as_it_was_and_is() {
    let base = with(&files(), &[(SPEC_FILE, "", SPEC)]);
    let later = with(&base, &[(SPEC_FILE, "0 2 * * SUN", "30 4 * * SUN")]);
    assert_eq!(
        windows(&base, &later),
        [
            "one: window saturday changes: Sat 22:00–Sun 02:00 Europe/Berlin → Sat 22:00–Sun 04:30 Europe/Berlin, once its CronJobs say so"
        ]
    );
    let own = with(
        &base,
        &[(
            SPEC_FILE,
            "[clusters/one] }",
            "[clusters/one], windows: { rw: [{ timeZone: UTC, from: Mon 08:00, to: Mon 10:00 }] } }",
        )],
    );
    assert_eq!(
        windows(&base, &own),
        [
            "one: window of type rw is new: Mon 08:00–Mon 10:00 UTC, once its CronJobs say so",
            "one: window saturday goes: Sat 22:00–Sun 02:00 Europe/Berlin, once its CronJobs say so",
        ]
    );
    // Another way to write the same is none.
    let same = with(&base, &[(SPEC_FILE, "open: 0 22 * * SAT", "open: '00 22 * * SAT'")]);
    assert_eq!(windows(&base, &same), Vec::<String>::new());
}

#[test]
fn without_a_spec_the_cron_jobs_tell_their_windows() {
    let base = files();
    let later = with(&base, &[("clusters/one/gate/open.yaml", "0 22 * * SAT", "0 22 1 * *")]);
    assert_eq!(
        windows(&base, &later),
        [
            "one: window of CronJob close changes: Sat 22:00–Sun 02:00 Europe/Berlin → `0 22 1 * *`–Sun 02:00 Europe/Berlin"
        ]
    );
    assert_eq!(windows(&base, &with(&base, &[(SPEC_FILE, "", SPEC)])), Vec::<String>::new());
}

/// The Deployment's landing after a change of its image and of the gate, at an instant.
fn lands(now: &str, edits: &[(&str, &str, &str)]) -> String {
    let base = files();
    let image = ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0");
    let after = with(&base, &[&[image], edits].concat());
    let report = compared_at(now, &base, &after);
    let lands = &report.changes.iter().find(|line| line.id.kind == "Deployment").unwrap().lands;
    let at = |at: Option<jiff::Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
    format!("{} {} {}", lands.state, at(lands.earliest), at(lands.latest))
}

#[test]
fn until_another_window_arrives_the_old_one_counts() {
    let open = |from: &str, to: &'static str| ("clusters/one/gate/open.yaml", from.to_owned(), to);
    let later = open("0 22 * * SAT", "0 23 * * SAT");
    let later = [(later.0, later.1.as_str(), later.2)];
    // Days before, only the new one counts.
    assert_eq!(lands("2026-11-23T12:00:00Z", &later), "window 2026-11-28T22:00:00Z 2026-11-28T22:02:00Z");
    // Two minutes before the old opening the new CronJobs may not be there yet.
    assert_eq!(lands("2026-11-28T20:58:00Z", &later), "window 2026-11-28T21:00:00Z 2026-11-28T22:02:00Z");
    // The old one is open, and nothing closes it before its next run.
    let monday = [("clusters/one/gate/open.yaml", "0 22 * * SAT", "0 22 * * MON")];
    let told = lands("2026-11-28T22:00:00Z", &monday);
    assert!(told.starts_with("window 2026-11-28T22:00:00Z"), "{told}");
    // The new one would be open, but nothing has opened it.
    let earlier = [("clusters/one/gate/open.yaml", "0 22 * * SAT", "0 6 * * SAT")];
    assert_eq!(lands("2026-11-28T12:00:00Z", &earlier), "window 2026-11-28T12:00:00Z 2026-12-05T05:02:03Z");
}

#[test]
fn a_window_that_only_the_spec_has_is_not_there_yet() {
    let base = with(&files(), &[(SPEC_FILE, "", SPEC)]);
    let image = ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0");
    let after = with(&base, &[image, (SPEC_FILE, "0 22 * * SAT", "0 22 * * FRI")]);
    let report = compared(&base, &after);
    let lands = &report.changes.iter().find(|line| line.id.kind == "Deployment").unwrap().lands;
    assert_eq!(lands.earliest.unwrap().to_string(), "2026-11-28T21:00:00Z");
    assert!(lands.reason.as_ref().unwrap().contains("sync"), "{lands:?}");
}
