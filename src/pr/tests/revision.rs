//! Flux Kustomizations that follow another revision.

use super::repository::{Files, compared, files, flux, source, told, with};
use crate::pr::Topic;

const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
const APPS: &str = "clusters/one/apps.yaml";

/// The repository with source `release`, which `apps-rt` reads where `name` says so.
fn reading(name: &str, of_release: &str) -> Files {
    let release = source("1m").replace("name: flux-system", "name: release");
    let release = release.replace("interval: 1m", &format!("interval: 1m, {of_release}"));
    let reads =
        flux("apps-rt", "apps/apps-rt", "").replace("name: flux-system }", &format!("name: {name} }}"));
    with(&files(), &[(APPS, "", &(release + &reads + &flux("apps-rw", "apps/apps-rw", "")))])
}

#[test]
fn what_follows_another_revision_is_told() {
    let of_branch = |branch: &str| {
        with(&files(), &[(SYNC, "interval: 1m", &format!("interval: 1m, ref: {{ branch: {branch} }}"))])
    };
    let moved = with(&files(), &[(SYNC, "https://example.org/fleet", "https://example.org/other")]);
    let spelled = with(&files(), &[(SYNC, "https://example.org/fleet", "ssh://git@example.org/fleet.git")]);
    let tag = |tag: &str| reading("release", &format!("ref: {{ tag: {tag} }}"));
    let all = [
        ("unpinned", tag("v1"), reading("flux-system", "ref: { tag: v1 }")),
        ("another tag", tag("v1"), tag("v2")),
        ("a range", tag("v1"), reading("release", "ref: { semver: '>=1.0.0', tag: v1 }")),
        ("another branch of all", of_branch("main"), of_branch("next")),
        ("the branch that is the default", files(), of_branch("master")),
        ("another repository", files(), moved),
        ("the same repository", files(), spelled),
        (
            "only the tag of what nothing reads",
            reading("flux-system", "ref: { tag: v1 }"),
            reading("flux-system", "ref: { tag: v2 }"),
        ),
    ];
    let all = all.map(|(what, before, after)| {
        let report = compared(&before, &after);
        let all = told(&report, &[Topic::Check]);
        let helps = report.findings.iter().filter(|one| one.message.contains("instead of"));
        let helps = helps.map(|one| format!("  {}\n", one.help)).collect::<String>();
        format!("{what}: {}\n{helps}", all.join("\n"))
    });
    insta::assert_snapshot!(all.join(""));
}
