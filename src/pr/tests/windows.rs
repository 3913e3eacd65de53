//! Windows that change.

use super::repository::{Files, SPEC, SPEC_FILE, compared, files, with};

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
