//! What a table, a freeze, or a gate that is new says of when something lands.

use super::{NOW, Scratch, fleet, pr};

/// The sample with a new image for what waits, on a branch of its own, and what `add` changes of its spec before that.
fn changed(spec: &str, date: &str) -> Scratch {
    let scratch = fleet();
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write("windows.yaml", format!("{}{spec}", scratch.text("windows.yaml")));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.git(&["add", "--all"]);
    scratch.git_at(date, &["commit", "--quiet", "--allow-empty", "--message", "a spec"]);
    scratch.git(&["checkout", "--quiet", "-b", "image"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0").commit();
    scratch
}

const TABLE: &str = "gate: { every: 5m, from: 2026-01-01, through: 2027-12-31 }\n";

/// What is said of the first change.
fn told(scratch: &Scratch, now: &str) -> String {
    let text = scratch.expect(0, &["pr", "--base", "main", "--now", now]).stdout;
    let text = text.split("  changed").next().unwrap().trim_end().to_owned();
    let when = scratch.expect(0, &["when", "--cluster", "edge-01", "--now", now]).stdout;
    let calendar = scratch.expect(0, &["calendar", "--time-zone", "UTC", "--now", now]).stdout;
    let row = calendar.lines().skip_while(|line| !line.starts_with("rw"));
    let row: Vec<&str> = row.take_while(|line| !line.is_empty()).collect();
    format!("{text}\n\n{when}\n{}", row.join("\n"))
}

#[test]
fn before_the_first_closing_all_say_the_same() {
    let scratch = changed("", "2026-11-23T11:00:00Z");
    // The gate is older than its spec.
    insta::assert_snapshot!(told(&scratch, "2026-01-05T12:01:00Z"));
    insta::assert_snapshot!(told(&scratch, NOW));
}

#[test]
fn a_table_closes_when_a_job_looks_at_it() {
    let scratch = fleet();
    let made = "2026-11-23T11:56:30Z";
    // The whole gate comes late, with its table.
    scratch.git(&["checkout", "--quiet", "--orphan", "late"]);
    scratch.write("windows.yaml", format!("{}{TABLE}", scratch.text("windows.yaml")));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.git(&["add", "--all"]);
    scratch.git_at(made, &["commit", "--quiet", "--message", "all"]);
    scratch.git(&["branch", "--force", "main"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.git_at(made, &["commit", "--all", "--quiet", "--message", "an image"]);
    insta::assert_snapshot!(told(&scratch, "2026-11-23T11:57:00Z"));
    let later = told(&scratch, NOW);
    assert!(later.contains("apps-rw: closed") && !later.contains("first closing"), "{later}");
}

#[test]
fn a_freeze_that_takes_the_next_opening_is_named() {
    let freeze = "timeZone: Europe/Berlin\nfreezes: { peak: { from: 2026-11-27, to: 2026-11-29, reason: trading peak } }\n";
    let scratch = changed(&format!("{TABLE}{freeze}"), "2026-01-06T12:00:00Z");
    insta::assert_snapshot!(told(&scratch, NOW));
}

#[test]
fn what_a_pair_suspended_is_not_resumed_by_a_table() {
    let scratch = fleet();
    scratch.write("windows.yaml", format!("{}{TABLE}", scratch.text("windows.yaml")));
    let said = scratch.expect(0, &["sync", "--yes", "--allow-dirty"]).stderr;
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0").commit();
    let told = pr(&scratch, &[]).stdout;
    let words = "CronJobs with a table resume only Flux Kustomizations that they suspended themselves";
    assert!(said.replace("\n", " ").contains("resume only Flux Kustomizations"), "{said}");
    assert!(told.contains(&format!("Why: {words}: resume apps-rw by hand")), "{told}");
    let finding = "nothing resumes what the CronJobs before suspended";
    assert!(told.contains(finding) && told.contains("flux resume kustomization apps-rw"), "{told}");
    // While the window is open, nothing is suspended.
    let open = scratch.expect(0, &["pr", "--base", "main", "--now", "2026-11-28T22:00:00Z"]).stdout;
    assert!(!open.contains(words) && !open.contains(finding), "{open}");
}

#[test]
fn a_table_in_place_of_a_pair_that_closed_nothing_yet_closes_at_its_first_look() {
    let scratch = fleet();
    // The gate comes after the last closing.
    scratch.git(&["checkout", "--quiet", "--orphan", "late"]);
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-23T11:00:00Z", &["commit", "--quiet", "--message", "all"]);
    scratch.git(&["branch", "--force", "main"]);
    scratch.write("windows.yaml", format!("{}{TABLE}", scratch.text("windows.yaml")));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0").commit();
    let text = scratch.expect(0, &["pr", "--base", "main", "--now", NOW]).stdout;
    let told = text.split("\n\n").find(|part| part.contains("Deployment")).unwrap();
    insta::assert_snapshot!(told);
}

/// What only looks since its commit has not looked before it.
#[test]
fn a_look_before_the_table_came_is_no_closing() {
    let scratch = fleet();
    // The gate comes after the last closing.
    scratch.git(&["checkout", "--quiet", "--orphan", "late"]);
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-23T11:00:00Z", &["commit", "--quiet", "--message", "all"]);
    scratch.write("windows.yaml", format!("{}{TABLE}", scratch.text("windows.yaml")));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-23T11:56:30Z", &["commit", "--quiet", "--message", "a table"]);
    scratch.git(&["branch", "--force", "main"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.git_at("2026-11-23T11:56:40Z", &["commit", "--all", "--quiet", "--message", "an image"]);
    insta::assert_snapshot!(told(&scratch, "2026-11-23T11:57:00Z"));
    let later = told(&scratch, NOW);
    assert!(later.contains("apps-rw: closed") && !later.contains("first closing"), "{later}");
}
