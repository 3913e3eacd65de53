//! Several windows of one type, of different time zones.

use super::repository::{Files, SPEC, SPEC_FILE, compared_at, files, flux, job, with, words};
use crate::pr::{Flavor, html, json, markdown};

const APPS: &str = "clusters/one/apps.yaml";
const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";

/// The repository with a second window, in New York; `apps-rw` depends on what waits too.
fn several() -> Files {
    let apps = [
        flux("infra", "infra", ""),
        flux("apps-rt", "apps/apps-rt", ""),
        flux("apps-rw", "apps/apps-rw", "  dependsOn: [{ name: infra }]\n"),
    ];
    let spec = SPEC
        .replace("window: saturday", "window: [saturday, wed]")
        .replace("} }\nclusters", &format!("}}, {WED} }}\nclusters"));
    let targets = "infra, apps-rw";
    let new_york = |job: String| job.replace("Europe/Berlin", "America/New_York");
    with(
        &files(),
        &[
            (SPEC_FILE, "", &spec),
            (APPS, "", &apps.concat()),
            ("infra/kustomization.yaml", "", "resources: []\nconfigMapGenerator: [{ name: a }]\n"),
            ("clusters/one/gate/open.yaml", "", &job("open", "resume", "0 22 * * SAT", targets)),
            ("clusters/one/gate/close.yaml", "", &job("close", "suspend", "0 2 * * SUN", targets)),
            ("clusters/one/gate/open2.yaml", "", &new_york(job("open2", "resume", "0 20 * * WED", targets))),
            (
                "clusters/one/gate/close2.yaml",
                "",
                &new_york(job("close2", "suspend", "0 23 * * WED", targets)),
            ),
        ],
    )
}

const WED: &str = "wed: { timeZone: America/New_York, open: 0 20 * * WED, close: 0 23 * * WED }";

/// What is said of another image that is merged at an instant.
fn told(now: &str, base: &Files) -> String {
    let report = compared_at(now, base, &with(base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]));
    let lands = json(&report)["changes"][0]["lands"].clone();
    format!(
        "{now}\n{}{}: {} otherwise {}\n",
        words(&report),
        lands["window"],
        lands["earliest"],
        lands["otherwise"]
    )
}

#[test]
fn the_window_that_has_a_change_is_named_in_its_zone() {
    let base = several();
    let all = [
        // Before Saturday's window, in it, at its end, and before and in Wednesday's.
        "2026-12-04T12:00:00Z",
        "2026-12-05T22:00:00Z",
        "2026-12-06T00:58:00Z",
        "2026-12-08T12:00:00Z",
        "2026-12-10T02:00:00Z",
    ];
    insta::assert_snapshot!(all.map(|now| told(now, &base)).join("\n"));
}

#[test]
fn every_form_names_the_same_window() {
    let base = several();
    let report =
        compared_at("2026-12-04T12:00:00Z", &base, &with(&base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]));
    let markdown = markdown(&report, Flavor::Github, usize::MAX);
    for text in [markdown, html(&report, None)] {
        assert!(text.contains("Sat 2026-12-05 22:00 Europe/Berlin (saturday)"), "{text}");
        assert!(text.contains("to reach window saturday; the opening after that is Wed 2026-12-09 20:00 America/New_York (wed)"), "{text}");
    }
}
