//! Commits that resume the way by which they come.

use super::chain::told;
use super::repository::{Files, NOW, compared_at, files, flux, source, with};

const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
const APPS: &str = "clusters/one/apps.yaml";
const SETTING: (&str, &str, &str) = ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'");

#[test]
fn nothing_brings_what_resumes_its_own_way() {
    let base = files();
    let paused = with(&base, &[(SYNC, "interval: 1m", "suspend: true, interval: 1m")]);
    let root = with(&base, &[(SYNC, "./clusters/one\n", "./clusters/one\n  suspend: true\n")]);
    let both = with(&root, &[(APPS, "./apps/apps-rt\n", "./apps/apps-rt\n  suspend: true\n")]);
    let slower = (APPS, "interval: 5m", "interval: 6m");
    // `apps-rt` reads another source, which the root brings.
    let other = |suspend: &str| -> Files {
        let other = source("1m").replace("name: flux-system", "name: other");
        let apps = flux("apps-rt", "apps/apps-rt", "").replace("name: flux-system }", "name: other }");
        let other = other.replace("interval: 1m", &format!("{suspend}interval: 1m"));
        with(&base, &[(APPS, "", &(other + &apps + &flux("apps-rw", "apps/apps-rw", "")))])
    };
    let all = [
        ("the source", &paused, with(&base, &[SETTING])),
        ("the root", &root, with(&base, &[SETTING, slower])),
        ("one below the root", &both, with(&base, &[SETTING])),
        ("a source that another one brings", &other("suspend: true, "), with(&other(""), &[SETTING])),
    ];
    let all = all.map(|(what, before, after)| {
        let report = compared_at(NOW, before, &after);
        let lines = report.changes.iter();
        let lines = lines.map(|line| format!("  {}/{}: {}\n", line.id.kind, line.id.name, told(&line.lands)));
        format!("{what}\n{}", lines.collect::<String>())
    });
    insta::assert_snapshot!(all.join(""));
}
