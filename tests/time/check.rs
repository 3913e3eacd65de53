//! `check`.

use super::{Repository, SPEC};

fn repository(windows: &str) -> Repository {
    let spec = format!(
        "apiVersion: gitops-windows/v1\ntypes:\n  rt: {{}}\n  rw: {{ window: w }}\nwindows:\n{windows}clusters:\n  \
         edge-01: {{}}\n"
    );
    Repository::new(&[("windows.yaml", &spec)])
}

/// Runs `check`; gives the exit code and code, severity, line and column of each finding.
fn findings(repository: &Repository, options: &[&str]) -> (i32, Vec<(String, String, u64, u64)>) {
    let output = repository.run(&[&["check", "--format", "json"], options].concat());
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["version"], 1);
    let found = value["findings"].as_array().unwrap().iter().map(|finding| {
        assert!(finding["help"].is_string(), "{finding}");
        (
            finding["code"].as_str().unwrap_or("-").to_owned(),
            finding["severity"].as_str().unwrap().to_owned(),
            finding["line"].as_u64().unwrap(),
            finding["column"].as_u64().unwrap(),
        )
    });
    (output.status.code().unwrap(), found.collect())
}

fn of(windows: &str) -> Vec<String> {
    findings(&repository(windows), &[]).1.into_iter().map(|finding| finding.0).collect()
}

#[test]
fn good_windows_have_no_findings() {
    let repository = Repository::new(&[("windows.yaml", SPEC)]);
    assert_eq!(findings(&repository, &["--fail-on", "note"]), (0, Vec::new()));
    assert!(repository.stdout(&["check"]).is_empty());
}

#[test]
fn each_lint_reaches_the_user() {
    for (window, code) in [
        ("{ open: 0 8 * * MON, close: 0 17 * * THU }", "GW101"),
        ("{ timeZone: UTC, open: 0 8 31 2 *, close: 0 17 * * THU }", "GW102"),
        ("{ timeZone: UTC, open: 0 8 1-7 * MON, close: 0 17 * * * }", "GW103"),
        ("{ timeZone: Europe/Berlin, open: 0 1 * * SUN, close: 30 2 * * SUN }", "GW104"),
        ("{ timeZone: Europe/Berlin, open: 0 1 * * SUN, close: 30 2 * * SUN }", "GW105"),
        ("{ timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * MON-FRI }", "GW106"),
        ("{ timeZone: UTC, open: 0 8 * * MON, close: 0 8 * * MON }", "GW107"),
        ("{ timeZone: UTC, open: 0 8 * * *, close: 0 17 * * FRI }", "GW108"),
        ("{ timeZone: UTC, open: 0 8 * * MON, close: 0 8 30 2 * }", "GW109"),
        ("{ timeZone: UTC, open: 0 17 * * MON, close: '0 17 * * TUE,THU,FRI' }", "GW113"),
        ("{ timeZone: Europe/Berlin, open: 0 22 * * SAT, for: 4h }", "GW114"),
        ("{ timeZone: Europe/Berlin, from: Sat 22:00, to: Sun 02:30 }", "GW114"),
    ] {
        let found = of(&format!("  w: {window}\n"));
        assert!(found.iter().any(|found| found == code), "{window}: {found:?}");
    }
}

#[test]
fn overlaps_and_rare_openings_are_found() {
    let spec = "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: [a, b] }\nwindows:\n  \
                a: { timeZone: UTC, open: 0 8 1 * *, close: 0 17 1 * * }\n  \
                b: { timeZone: UTC, open: 0 9 1 * *, close: 0 18 1 * * }\nclusters: { c: {} }\n";
    let repository = Repository::new(&[("windows.yaml", spec)]);
    let codes = |options: &[&str]| {
        findings(&repository, options).1.into_iter().map(|finding| finding.0).collect::<Vec<_>>()
    };
    assert!(codes(&[]).contains(&"GW110".to_owned()), "{:?}", codes(&[]));
    assert!(!codes(&[]).contains(&"GW112".to_owned()));
    assert!(codes(&["--max-days-closed", "14"]).contains(&"GW112".to_owned()));
}

#[test]
fn a_window_is_measured_by_what_it_gates() {
    let repository = Repository::fleet();
    let short = SPEC.replace("close: 0 17 * * THU", "close: 2 8 * * MON");
    repository.write("windows.yaml", &short);
    // One cluster of the spec is not in the repository.
    let (code, found) = findings(&repository, &["--fail-on", "warning"]);
    assert_eq!(
        (code, found.iter().map(|finding| finding.0.as_str()).collect()),
        (1, vec!["GW056", "GW031", "GW111"])
    );
    // Without anything gated there is nothing to measure by.
    assert_eq!(findings(&Repository::new(&[("windows.yaml", &short)]), &[]).1, []);
}

#[test]
fn findings_point_at_the_key_that_is_to_be_changed() {
    let window = "  w: { timeZone: Europe/Berlin, open: 0 22 * * SAT, for: 4h }\n";
    let column = window.find("4h").unwrap() as u64 + 1;
    let found = findings(&repository(window), &[]);
    assert_eq!(found, (1, vec![("GW114".into(), "error".into(), 6, column)]));
    let text = String::from_utf8(repository(window).run(&["check"]).stdout).unwrap();
    assert!(
        text.contains("error[GW114]") && text.contains("windows.yaml:6:") && text.contains("for: 5h"),
        "{text}"
    );
}

/// A table ends it in true time.
#[test]
fn a_table_ends_a_window_whose_end_the_clocks_skip() {
    let of_clocks = |gate: &str| {
        let spec = format!(
            "apiVersion: gitops-windows/v1\ntimeZone: Europe/Berlin\ntypes: {{ rt: {{}}, rw: {{ window: w }} }}\n\
             windows: {{ w: {{ open: 0 22 * * SAT, for: 4h }} }}\nclusters: {{ edge-01: {{}} }}\n{gate}"
        );
        let repository = Repository::new(&[("windows.yaml", &spec)]);
        let mut found = findings(&repository, &[]).1.into_iter().map(|finding| finding.0);
        found.any(|code| code == "GW114" || code == "GW104")
    };
    assert!(of_clocks(""));
    assert!(!of_clocks("gate: { every: 5m, from: 2026-01-01, through: 2030-12-31 }\n"));
}

#[test]
fn a_window_of_several_clusters_is_told_once() {
    let spec = "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: w }\nwindows:\n  \
                w: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * THU }\n  \
                v: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * MON-FRI }\nclusters:\n  \
                a: { windows: { rw: v } }\n  b: { windows: { rw: v } }\n  \
                c: { windows: { rw: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * MON-FRI } } }\n";
    let (_, found) = findings(&Repository::new(&[("windows.yaml", spec)]), &[]);
    let lines: Vec<u64> =
        found.iter().filter(|finding| finding.0 == "GW106").map(|finding| finding.2).collect();
    assert_eq!(lines, [7, 11], "{found:?}");
}

#[test]
fn an_unused_window_is_looked_at_too() {
    let windows = "  w: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * THU }\n  \
                   x: { timeZone: UTC, open: 0 8 31 2 *, close: 0 17 * * THU }\n";
    assert!(of(windows).contains(&"GW102".to_owned()));
}

#[test]
fn severities_decide_the_exit_code() {
    let warning = "  w: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * MON-FRI }\n";
    let error = "  w: { timeZone: UTC, open: 0 8 * * MON, close: 0 8 * * MON }\n";
    let code = |windows: &str, options: &[&str]| findings(&repository(windows), options).0;
    assert_eq!((code(warning, &[]), code(warning, &["--fail-on", "warning"])), (0, 1));
    assert_eq!((code(error, &[]), code(error, &["--fail-on", "never"])), (1, 0));
}

#[test]
fn a_broken_spec_is_told_as_findings() {
    let (code, found) =
        findings(&repository("  w: { timeZone: UTC, open: 0 8 * * 7, close: 0 17 * * THU }\n"), &[]);
    assert_eq!((code, found.len()), (3, 1));
    let (code, stderr) =
        repository("  w: { timeZone: utc, open: 0 8 * * 1, close: 0 17 * * THU }\n").failure(&["check"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("did you mean `UTC`?"), "{stderr}");
}

/// `init` shows what is doubtful about the windows that it writes; what is an error it refuses.
#[test]
fn init_shows_findings() {
    let repository = Repository::new(&[]);
    let said = |code: i32, open: &str, close: &str| {
        let window = ["--open", open, "--close", close, "--time-zone", "Europe/Berlin"];
        let output = repository
            .run(&[&["init", "--cluster", "edge-01", "--app", "nginx", "--dry-run"], &window[..]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        stderr
    };
    assert!(said(3, "0 1 * * SUN", "30 2 * * SUN").contains("GW104"));
    assert!(said(1, "0 8 1 * MON", "0 17 * * THU").contains("GW103"));
    let silent = said(1, "0 8 * * MON", "0 17 * * THU");
    assert!(!silent.contains("GW1"), "{silent}");
}

/// What `check` says of freezes over a table that lasts long enough, by those of its findings that are about time left.
fn left(window: &str, freezes: &str, options: &[&str]) -> String {
    let spec = format!(
        "apiVersion: gitops-windows/v1\ntimeZone: Europe/Berlin\ntypes: {{ rt: {{}}, rw: {{ window: w }} }}\n\
         windows: {{ w: {window} }}\nclusters: {{ edge-01: {{ labels: {{ region: eu }} }}, edge-02: {{}} }}\n\
         gate: {{ every: 5m, from: 2026-01-01, through: 2028-12-31 }}\nfreezes:\n{freezes}"
    );
    let output =
        Repository::new(&[("windows.yaml", &spec)]).run(&[&["check", "--format", "json"], options].concat());
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = value["findings"].as_array().unwrap().iter().map(|one| {
        let text = |key: &str| one[key].as_str().unwrap_or_default();
        format!("{} {}:{} {}", text("code"), one["line"], text("severity"), text("message"))
    });
    found
        .filter(|told| ["GW120", "GW121", "GW122", "GW123"].iter().any(|code| told.starts_with(code)))
        .collect::<Vec<_>>()
        .join("\n")
}

const WEEKEND: &str = "{ from: Sat 08:00, to: Sun 20:00 }";
const YEAR_END: &str = "  year-end: { from: 2026-12-18, to: 2027-01-07, reason: peak }\n";

#[test]
fn usual_windows_and_freezes_are_no_news() {
    for window in [WEEKEND, "{ from: Mon 08:00, to: Thu 17:00 }", "{ from: Sat 22:00, to: Sun 03:00 }"] {
        assert_eq!(left(window, YEAR_END, &["--fail-on", "never"]), "", "{window}");
    }
    // Windows that open seldom by themselves are what somebody wanted.
    let monthly = "{ on: second Tue of month, from: 20:00, for: 4h }";
    let brief = "  peak: { from: 2026-12-24, to: 2026-12-26, reason: peak }\n";
    assert_eq!(left(monthly, brief, &[]), "");
}

#[test]
fn what_freezes_take_is_told() {
    let endless = |from: &str| format!("  stop: {{ from: {from}, to: 2199-12-31, reason: stop }}\n");
    let long = "  peak: { from: 2026-12-01, to: 2027-01-31, reason: peak, labels: { region: eu } }\n";
    let told = [
        left(WEEKEND, &endless("2026-11-20"), &[]),
        left(WEEKEND, &endless("2026-11-21"), &[]),
        left(WEEKEND, long, &[]),
        left("{ on: second Tue of month, from: 20:00, for: 4h }", YEAR_END, &[]),
        left(
            "{ on: second Tue of month, from: 20:00, for: 4h }",
            "  d: { from: 2026-12-01, to: 2026-12-31, reason: d }\n",
            &[],
        ),
        left(WEEKEND, "  long: { from: 2026-12-01, to: 2027-03-31, reason: long }\n", &[]),
        left(WEEKEND, YEAR_END, &["--max-days-frozen", "14"]),
        left(WEEKEND, YEAR_END, &["--max-days-closed", "14"]),
        left("{ from: Sat 22:00, to: Sun 03:00 }", YEAR_END, &["--min-open", "48h"]),
        left("{ from: Sat 22:00, to: Sun 01:00 }", YEAR_END, &["--min-open", "4h"]),
        left("{ from: Mon 08:00, to: Thu 17:00 }", YEAR_END, &["--min-open", "48h"]),
    ];
    insta::assert_snapshot!(told.join("\n--\n"));
}

#[test]
fn an_old_time_zone_database_is_told() {
    let told = |now: &'static str, zone: &str| {
        let spec = SPEC.replace("Europe/Berlin", zone).replace("America/New_York", zone);
        let repository = Repository::new(&[("windows.yaml", &spec)]);
        let output = super::program()
            .current_dir(repository.path())
            .args(["check", "--now", now, "--format", "json"])
            .output()
            .unwrap();
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let found =
            value["findings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned());
        found.filter(|code| code == "GW123").count()
    };
    assert_eq!(told("2026-12-31T00:00:00Z", "Europe/Berlin"), 0);
    assert_eq!(told("2031-01-01T00:00:00Z", "Europe/Berlin"), 1);
    assert_eq!(told("2031-01-01T00:00:00Z", "UTC"), 0);
}

/// What was there is counted, and shown to whoever asks.
#[test]
fn only_what_is_new_since_a_revision_is_told() {
    let fleet = repository("  w: { timeZone: Europe/Berlin, open: 0 1 * * SUN, close: 30 2 * * SUN }\n");
    fleet.commit("2026-11-20T12:00:00Z");
    let told = |options: &[&str]| {
        let run = fleet.run(&[&["check", "--base", "HEAD"], options].concat());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (run.status.code().unwrap(), text(&run.stdout), text(&run.stderr))
    };
    let (code, stdout, stderr) = told(&[]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.starts_with("Nothing new.\n"), "{stderr}");
    assert!(stderr.contains("findings were there at HEAD already: --verbose shows them."), "{stderr}");
    let (_, stdout, _) = told(&["--verbose"]);
    assert!(stdout.starts_with("Found at HEAD already:\n\n") && stdout.contains("GW104"), "{stdout}");
    fleet.write(
        "windows.yaml",
        &std::fs::read_to_string(fleet.path().join("windows.yaml")).unwrap().replace(
            "clusters:",
            "  w2: { timeZone: UTC, open: 0 8 31 2 *, close: 0 17 * * THU }\nclusters:",
        ),
    );
    let (_, stdout, _) = told(&[]);
    assert!(stdout.contains("GW102") && !stdout.contains("GW104"), "{stdout}");
    let output = fleet.run(&["check", "--base", "HEAD", "--format", "json"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let value = crate::support::scratch::held_to_schema(&["check", "--format", "json"], &printed).unwrap();
    let new = |code: &str| {
        let mut found = value["findings"].as_array().unwrap().iter();
        found.find(|finding| finding["code"] == code).unwrap()["new"].clone()
    };
    assert_eq!((new("GW102"), new("GW104")), (true.into(), false.into()));
    let output = fleet.run(&["check", "--base", "HEAD", "--format", "sarif"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = value["runs"][0]["results"].as_array().unwrap();
    let state =
        |code: &str| results.iter().find(|one| one["ruleId"] == code).unwrap()["baselineState"].clone();
    assert_eq!((state("GW102"), state("GW104")), ("new".into(), "unchanged".into()));
}

/// Nothing was looked at, so nothing is well.
#[test]
fn where_no_cluster_is_nothing_is_said_to_be_well() {
    let lost = Repository::new(&[("fleet/clusters/a/apps.yaml", &super::flux("apps", "apps/a"))]);
    let output = lost.run(&["check"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("Looked at no cluster: "), "{told}");
    assert!(!told.contains("Nothing to report") && !told.contains("reaches no cluster"), "{told}");
    let none = Repository::new(&[("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n")]);
    assert_eq!(none.stdout(&["clusters"]), "no cluster: no Flux Kustomization is in Git\n");
}
