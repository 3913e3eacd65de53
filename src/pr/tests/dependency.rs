//! Dependencies that change with what waits for them, and circles.

use super::chain::told;
use super::repository::{
    Files, NOW, OPEN, SPEC, SPEC_FILE, codes, compared_at, files, flux, job, map, synced, with,
};
use crate::pr::Landing;

const APPS: &str = "clusters/one/apps.yaml";
const ON_INFRA: &str = "  dependsOn: [{ name: infra }]\n";

/// The repository, in which `infra` waits for a window on Monday; more lines of each spec.
fn apps(of_infra: &str, of_rt: &str, of_rw: &str) -> Files {
    let all = [
        flux("infra", "infra", of_infra),
        flux("apps-rt", "apps/apps-rt", of_rt),
        flux("apps-rw", "apps/apps-rw", of_rw),
    ];
    let gate = |verb, schedule| job(&format!("infra-{verb}"), verb, schedule, "infra");
    with(
        &files(),
        &[
            (APPS, "", &all.concat()),
            ("infra/a.yaml", "", &map("a", "")),
            ("clusters/one/gate/a.yaml", "", &gate("resume", "0 8 * * MON")),
            ("clusters/one/gate/b.yaml", "", &gate("suspend", "0 9 * * MON")),
        ],
    )
}

/// Returns when an object of each Flux Kustomization lands, of which the files change too.
fn lands(now: &str, before: &Files, after: &Files, name: &str) -> Landing {
    let edits = [
        ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0"),
        ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'"),
    ];
    let report = compared_at(now, before, &with(after, &edits));
    report.changes.iter().find(|line| line.id.name == name).unwrap().lands.clone()
}

/// What the old spec may let in first has the deadline of that window, and at once it has none.
#[test]
fn a_deadline_is_that_of_the_window_which_may_have_it_first() {
    let (alone, depends) = (apps("", "", ""), apps("", "", ON_INFRA));
    // The new spec is there long before the old one would let it in.
    let (new, known) = (lands(NOW, &alone, &depends, "web"), lands(NOW, &depends, &depends, "web"));
    assert_eq!((told(&new), new.deadline), (told(&known), known.deadline));
    // While the old window is open both count.
    let open = lands(OPEN, &alone, &depends, "web");
    let at_once = lands(NOW, &alone, &apps("", "  dependsOn: [{ name: apps-rw }]\n", ""), "settings");
    let told = |lands: &Landing| {
        let until = lands.deadline.map_or_else(|| "-".to_owned(), |at| at.to_string());
        format!("{}; until {until}", told(lands))
    };
    insta::assert_snapshot!([new, open, at_once].map(|lands| told(&lands)).join("\n"));
}

#[test]
fn a_circle_never_lands() {
    let alone = apps("", "", "");
    let circle = apps("  dependsOn: [{ name: apps-rt }]\n", ON_INFRA, ON_INFRA);
    let itself = apps("", "  dependsOn: [{ name: apps-rt }]\n", "");
    let expression = apps(
        "  dependsOn: [{ name: apps-rt, readyExpr: 'true' }]\n",
        ON_INFRA,
        "  dependsOn: [{ name: apps-rt }]\n",
    );
    let all = [
        ("in the circle", lands(NOW, &circle, &circle, "settings")),
        ("depends on it", lands(NOW, &circle, &circle, "web")),
        ("on itself", lands(NOW, &itself, &itself, "settings")),
        ("by an expression", lands(NOW, &expression, &expression, "settings")),
        ("begins", lands(NOW, &alone, &circle, "settings")),
        ("ends", lands(NOW, &itself, &alone, "settings")),
    ];
    insta::assert_snapshot!(all.map(|(what, lands)| format!("{what}: {}", told(&lands))).join("\n"));
    let codes = |before: &Files, after: &Files| codes(&compared_at(NOW, before, after));
    assert!(codes(&alone, &circle).contains(&"GW068") && codes(&alone, &itself).contains(&"GW068"));
    assert!(!codes(&alone, &expression).contains(&"GW068"));
}

/// What a freeze holds itself is not told of what it depends on.
#[test]
fn what_is_frozen_itself_says_so() {
    let freeze = "freezes: { stop: { timeZone: UTC, from: 2026-11-20, to: 2199-12-31, reason: INC-2 } }\n";
    let spec = SPEC.replace("gate: {", "gate: { every: 5m, through: 2027-12-31,");
    let base = with(
        &files(),
        &[
            (SPEC_FILE, "", &format!("{spec}{freeze}")),
            (
                APPS,
                "",
                &[
                    flux("apps-rt", "apps/apps-rt", ""),
                    flux("apps-rw", "apps/apps-rw", ON_CORE),
                    flux("core-rw", "core", ""),
                ]
                .concat(),
            ),
            ("core/a.yaml", "", &map("core", "")),
        ],
    );
    let base = synced(&base);
    let base = with(
        &base,
        &[
            ("clusters/one/gate/open.yaml", "apps-rw", "core-rw apps-rw"),
            ("clusters/one/gate/close.yaml", "apps-rw", "core-rw apps-rw"),
        ],
    );
    let lands = lands(NOW, &base, &base, "web");
    assert_eq!(lands.reason.as_deref(), Some("held by freeze without end (stop: INC-2)"), "{lands:#?}");
}

const ON_CORE: &str = "  dependsOn: [{ name: core-rw }]\n";
