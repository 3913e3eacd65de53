//! What a pull request does to windows is told in words, and not as tables of CronJobs.

use super::{NOW, Scratch, answer, fleet, pr, text_of};

const TABLE: &str = "gate: { every: 5m, from: 2026-01-01, through: 2027-12-31 }\ntimeZone: Europe/Berlin\n";

const FREEZE: &str = "freezes: { peak: { from: 2026-12-18, to: 2027-01-07, reason: trading peak } }\n";

/// The sample with a table and more of a spec, on a branch of its own.
fn with(spec: &str) -> Scratch {
    let scratch = fleet();
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write("windows.yaml", format!("{}{TABLE}{spec}", scratch.text("windows.yaml")));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-01-06T12:00:00Z", &["commit", "--quiet", "--message", "a spec"]);
    scratch.git(&["checkout", "--quiet", "-B", "change"]);
    scratch
}

/// What is told once the spec is edited and the gates are brought along; the files are those of before again afterwards.
#[track_caller]
fn told(scratch: &Scratch, from: &str, to: &str) -> String {
    scratch.replace("windows.yaml", from, to);
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    said(scratch)
}

#[track_caller]
fn said(scratch: &Scratch) -> String {
    let text = text_of(scratch);
    scratch.git(&["checkout", "--quiet", "."]);
    scratch.git(&["clean", "--quiet", "-d", "--force"]);
    text.split("\n\nAt once").next().unwrap().to_owned()
}

#[test]
fn a_freeze_is_told_by_its_times_and_its_reason() {
    let scratch = with(FREEZE);
    let mut all = vec![("moved", told(&scratch, "from: 2026-12-18", "from: 2026-12-01"))];
    all.push(("longer", told(&scratch, "to: 2027-01-07", "to: 2027-01-10")));
    all.push(("gone", told(&scratch, FREEZE, "")));
    let second = "trading peak }, move: { from: 2026-11-20, to: 2026-11-30, reason: data centre, types: [rw], clusters: [edge-02] }";
    all.push(("added", told(&scratch, "trading peak }", second)));
    let all: Vec<String> = all.into_iter().map(|(name, text)| format!("## {name}\n{text}\n")).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_stop_is_told_in_all_forms() {
    let scratch = with("");
    scratch.expect(0, &["stop", "--reason", "INC-7", "--now", NOW, "--yes"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    insta::assert_snapshot!("stop", text_of(&scratch));
    let comment = pr(&scratch, &["--format", "markdown"]).stdout;
    let comment = comment.split("\n\n").take(9).collect::<Vec<_>>().join("\n\n");
    insta::assert_snapshot!("stop_comment", comment.split_once('\n').unwrap().1);
    let page = pr(&scratch, &["--format", "html"]).stdout;
    let start = page.find("<h2>Windows change").unwrap();
    insta::assert_snapshot!("stop_page", &page[start..page.find("<svg").unwrap()]);
    let told = answer(&scratch, &[]);
    // Programs get the tables whole.
    let changes = told["changes"].as_array().unwrap();
    let jobs = changes.iter().filter(|one| one["object"]["kind"] == "CronJob");
    assert!(jobs.clone().count() > 0, "{told:#}");
    for job in jobs {
        let before = job["fields"][0]["before"].as_array().unwrap();
        assert!(before.len() > 50, "{job:#}");
    }
    scratch.expect(1, &["pr", "--base", "main", "--now", NOW, "--fail-on", "windows"]);
}

#[test]
fn an_override_and_the_end_of_the_table_are_told() {
    let given = "overrides:\n- { cluster: edge-02, type: rw, from: 2026-11-23T12:00, until: 2026-11-23T16:00, reason: INC-1 }\n";
    let scratch = with(given);
    let mut all = vec![("gone", told(&scratch, given, ""))];
    all.push(("longer", told(&scratch, "until: 2026-11-23T16:00", "until: 2026-11-23T18:00")));
    let frozen = format!("{given}{FREEZE}").replace("2026-12-18", "2026-11-22");
    all.push(("frozen", told(&scratch, given, &frozen)));
    let later = "- { labels: { region: eu }, type: rw, from: 2026-11-24T10:00, until: 2026-11-24T12:00, reason: INC-2 }\n";
    let _ = later;
    all.push(("through", told(&scratch, "through: 2027-12-31", "through: 2028-12-31")));
    let window = scratch.text("windows.yaml");
    let line = window.lines().find(|line| line.contains("0 22 * * SAT")).unwrap_or("0 22 * * SAT").to_owned();
    all.push(("window", told(&scratch, &line, &line.replace("0 22 * * SAT", "0 20 * * SAT"))));
    let all: Vec<String> = all.into_iter().map(|(name, text)| format!("## {name}\n{text}\n")).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_no_cron_job_says_yet_is_told_to_be_so() {
    let scratch = with("");
    let stale = format!("{}{FREEZE}", scratch.text("windows.yaml"));
    scratch.write("windows.yaml", stale);
    insta::assert_snapshot!(said(&scratch));
}

#[test]
fn without_a_spec_the_page_shows_the_times_of_the_jobs() {
    let scratch = fleet();
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.git(&["rm", "--quiet", "windows.yaml"]);
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "image"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    let page = pr(&scratch, &["--format", "html"]).stdout;
    let (start, end) = (page.find("<svg").unwrap(), page.find("</svg>").unwrap());
    let told = page[start..end].lines().filter(|line| line.contains("<tspan") || line.contains("<title>"));
    insta::assert_snapshot!("page_without_a_spec", told.collect::<Vec<_>>().join("\n"));
}
