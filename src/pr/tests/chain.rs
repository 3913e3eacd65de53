//! What a change waits for on its way: values that others bring, dependencies, and the last instant of a merge.

use jiff::Timestamp;
use jiff::ToSpan;

use super::repository::{
    Files, NOW, OPEN, SPEC, SPEC_FILE, asked, compared_at, files, flux, job, map, source, with, without,
    words,
};
use crate::pr::Landing;

const APPS: &str = "clusters/one/apps.yaml";
const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";
const VARS: &str = "vars/vars.yaml";

/// The repository, in which Flux Kustomization `vars` brings a ConfigMap and `apps-rt` and `apps-rw` put a value of it in;
/// `targets` wait for the window.
pub(super) fn with_values(targets: &str, labels: &str, more: &str) -> Files {
    let from = format!("  postBuild: {{ substituteFrom: [{{ kind: ConfigMap, name: vars }}] }}\n{more}");
    let apps = [
        flux("vars", "vars", ""),
        flux("apps-rt", "apps/apps-rt", &from),
        flux("apps-rw", "apps/apps-rw", &from),
    ];
    let (open, close) =
        (job("open", "resume", "0 22 * * SAT", targets), job("close", "suspend", "0 2 * * SUN", targets));
    let vars = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: vars, namespace: flux-system{labels} }}\ndata: {{ color: red }}\n"
    );
    with(
        &files(),
        &[
            (APPS, "", &apps.concat()),
            ("clusters/one/gate/open.yaml", "", &open),
            ("clusters/one/gate/close.yaml", "", &close),
            (VARS, "", &vars),
            ("apps/apps-rt/settings.yaml", "", &map("settings", "a: '${color}'")),
            (DEPLOYMENT, "nginx:1.29.0", "nginx:${color}"),
        ],
    )
}

pub(super) fn landing(now: &str, base: &Files, edits: &[(&str, &str, &str)], name: &str) -> Landing {
    let report = compared_at(now, base, &with(base, edits));
    let line = report.changes.iter().find(|line| line.id.name == name);
    line.unwrap_or_else(|| panic!("{name} does not change:\n{}", words(&report))).lands.clone()
}

pub(super) fn told(lands: &Landing) -> String {
    let at = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
    let reason = lands.reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
    format!("{} {} – {}{reason}", lands.state, at(lands.earliest), at(lands.latest))
}

#[test]
fn a_value_lands_after_the_config_map_that_brings_it() {
    let blue = [(VARS, "red", "blue")];
    let label = ", labels: { reconcile.fluxcd.io/watch: Enabled }";
    let depends = "  dependsOn: [{ name: vars }]\n";
    let all = [
        ("held, read by one at once", NOW, with_values("vars", "", ""), "settings"),
        ("at once, read by one at once", NOW, with_values("apps-rw", "", ""), "settings"),
        ("watched", NOW, with_values("apps-rw", label, ""), "settings"),
        ("depended on", NOW, with_values("apps-rw", "", depends), "settings"),
        ("at once, read by one that waits", NOW, with_values("apps-rw", "", ""), "web"),
        ("the same while it is open", OPEN, with_values("apps-rw", "", ""), "web"),
        ("just before the closing", "2026-11-29T00:55:00Z", with_values("apps-rw", "", ""), "web"),
        ("both wait", NOW, with_values("vars, apps-rw", "", ""), "web"),
    ];
    let all =
        all.map(|(what, now, base, name)| format!("{what}: {}", told(&landing(now, &base, &blue, name))));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn other_changes_of_who_reads_a_value_do_not_wait_for_it() {
    let base = with_values("vars", "", "");
    let edits = [
        (VARS, "red", "blue"),
        ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, b.yaml"),
        ("apps/apps-rt/b.yaml", "", &map("b", "")),
    ];
    assert!(told(&landing(NOW, &base, &edits, "b")).starts_with("at-once 2026-11-23T12:00:00Z"));
    assert!(told(&landing(NOW, &base, &edits, "settings")).starts_with("window 2026-11-28T21:00:00Z"));
}

/// What another repository holds only has to be ready.
#[test]
fn what_depends_on_another_repository_waits_for_its_window_all_the_same() {
    let infra = flux("infra", "elsewhere", "").replace("name: flux-system }\n", "name: other }\n");
    let apps = flux("apps-rw", "apps/apps-rw", "  dependsOn: [{ name: infra }]\n");
    let other = source("5m").replace("name: flux-system,", "name: other,").replace("/fleet", "/other");
    let base = with(&with_dependency(""), &[(APPS, "", &[infra, apps].concat())]);
    let base = with(&base, &[("clusters/one/other.yaml", "", &other)]);
    let lands = landing(NOW, &base, &[(DEPLOYMENT, "1.29.0", "1.30.0")], "web");
    assert!(told(&lands).starts_with("window 2026-11-28T21:00:00Z"), "{}", told(&lands));
}

/// Values that stand in the Flux Kustomization itself come with it.
#[test]
fn a_value_of_the_spec_lands_after_the_parent() {
    let base = with_values("apps-rw", "", "");
    let base = with(&base, &[(APPS, "postBuild: {", "postBuild: { substitute: { color: red },")]);
    let slow = with(&base, &[("clusters/one/flux-system/gotk-sync.yaml", "interval: 5m", "interval: 1h")]);
    let lands = landing(NOW, &slow, &[(APPS, "color: red", "color: blue")], "settings");
    assert_eq!(told(&lands), "at-once 2026-11-23T12:00:00Z – 2026-11-23T12:03:03Z");
}

/// The repository, in which `apps-rw` depends on `infra`.
fn with_dependency(more: &str) -> Files {
    let apps = [
        flux("infra", "infra", more),
        flux("apps-rt", "apps/apps-rt", ""),
        flux("apps-rw", "apps/apps-rw", "  dependsOn: [{ name: infra }]\n"),
    ];
    with(&files(), &[(SPEC_FILE, "", SPEC), (APPS, "", &apps.concat()), ("infra/a.yaml", "", &map("a", ""))])
}

#[test]
fn a_window_may_close_before_a_dependency_is_ready() {
    let image = [(DEPLOYMENT, "1.29.0", "1.30.0")];
    let slow = "  wait: true\n  timeout: 3h\n";
    let all = [
        ("plain", OPEN, with_dependency("")),
        ("slow, days before", NOW, with_dependency(slow)),
        ("slow, an hour before the opening", "2026-11-28T20:00:00Z", with_dependency(slow)),
        ("slow, an hour after the opening", OPEN, with_dependency(slow)),
        ("never", NOW, with_dependency("  suspend: true\n")),
        ("not in Git", NOW, with(&with_dependency(""), &[(APPS, "[{ name: infra }]", "[{ name: other }]")])),
        (
            "by an expression",
            NOW,
            with(
                &with_dependency(slow),
                &[(APPS, "[{ name: infra }]", "[{ name: infra, readyExpr: 'true' }]")],
            ),
        ),
    ];
    let all = all.map(|(what, now, base)| {
        let report = compared_at(now, &base, &with(&base, &image));
        let lands = &report.changes.iter().find(|line| line.id.name == "web").unwrap().lands;
        let until = lands.deadline.map_or_else(|| "-".to_owned(), |at| at.to_string());
        format!(
            "{what}: {}\n  until {until}\n  {}",
            told(lands),
            crate::pr::deadline::deadline(&report, &crate::pr::summary::sections(&report))
                .unwrap_or_default()
        )
    });
    insta::assert_snapshot!(all.join("\n"));
}

/// Without a spec each pair of CronJobs is a window of its own.
#[test]
fn a_dependency_may_wait_for_another_window() {
    let base = without(&with_dependency(""), SPEC_FILE);
    let (open, close) = (
        job("infra-open", "resume", "0 8 * * MON", "infra"),
        job("infra-close", "suspend", "0 9 * * MON", "infra"),
    );
    let base =
        with(&base, &[("clusters/one/gate/a.yaml", "", &open), ("clusters/one/gate/b.yaml", "", &close)]);
    let lands = landing(NOW, &base, &[(DEPLOYMENT, "1.29.0", "1.30.0")], "web");
    // Both are closed on Monday at noon: infra opens a week later, and only the Saturday after that brings the rest.
    insta::assert_snapshot!(told(&lands), @"window 2026-12-05T21:00:00Z – 2026-12-05T21:02:00Z; it depends on infra, which waits for another window");
}

#[test]
fn what_comes_too_late_is_not_told_as_sure() {
    let base = with(&files(), &[(SPEC_FILE, "", SPEC)]);
    let late = |now: &str, base: &Files| {
        words(&compared_at(now, base, &with(base, &[(DEPLOYMENT, "1.29.0", "1.30.0")])))
    };
    insta::assert_snapshot!(late("2026-11-29T00:59:30Z", &base));
    // What closes each night has not closed yet.
    let daily = [
        (SPEC_FILE, "0 2 * * SUN", "0 2 * * *"),
        ("clusters/one/gate/close.yaml", "0 2 * * SUN", "0 2 * * *"),
    ];
    let base = with(&base, &daily);
    let since = |_: &str| crate::repo::Appeared::At("2026-11-23T10:00:00Z".parse().unwrap());
    let report = super::repository::compared_since(
        "2026-11-24T00:59:30Z",
        &base,
        &with(&base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]),
        &since,
    );
    insta::assert_snapshot!(words(&report));
}

/// What decides when a commit lands may be in the same commit, which comes by what decided before.
#[test]
fn until_another_spec_arrives_the_old_one_counts() {
    const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
    let image = (DEPLOYMENT, "1.29.0", "1.30.0");
    let setting = ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'");
    let slow = "  wait: true\n  timeout: 3h\n";
    let apps = |of_rt: &str| {
        let infra = flux("infra", "infra", slow);
        let all = [infra, flux("apps-rt", "apps/apps-rt", of_rt), flux("apps-rw", "apps/apps-rw", "")];
        with(&files(), &[(APPS, "", &all.concat()), ("infra/a.yaml", "", &map("a", ""))])
    };
    let (plain, suspended) = (apps(""), apps("  suspend: true\n"));
    let depends = apps("  dependsOn: [{ name: apps-rw }]\n");
    let seldom = with(&files(), &[(SYNC, "interval: 1m", "interval: 2h")]);
    let slow_root =
        with(&suspended, &[(SYNC, "interval: 5m", "interval: 5m\n  dependsOn: [{ name: infra }]")]);
    let paused = with(&files(), &[(SYNC, "interval: 1m", "suspend: true, interval: 1m")]);
    let of = |before: &Files, after: &Files| {
        let report = compared_at(NOW, before, after);
        let own = report.changes.iter().filter(|line| ["settings", "web"].contains(&line.id.name.as_str()));
        own.map(|line| told(&line.lands)).collect::<Vec<_>>().join(", ")
    };
    let all = [
        ("resumed with its files", of(&suspended, &with(&plain, &[setting]))),
        (
            "resumed by one that comes late",
            of(&slow_root, &with(&slow_root, &[setting, (APPS, "  suspend: true\n", "")])),
        ),
        ("suspended with its files", of(&plain, &with(&suspended, &[setting]))),
        ("a dependency that waits comes", of(&plain, &with(&depends, &[setting]))),
        ("and goes", of(&depends, &with(&plain, &[setting]))),
        ("fetched more often from now on", of(&seldom, &with(&files(), &[setting]))),
        ("a source that Git suspends", of(&paused, &with(&paused, &[setting, image]))),
    ];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}: {told}")).join("\n"));
}

/// The parent fills in the values as it looks again, and only then the Flux Kustomization has another spec.
#[test]
fn a_spec_that_its_parent_fills_in_lands_after_the_values() {
    const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
    let root = flux("flux-system", "clusters/one", "").replace("interval: 5m", "interval: 1h");
    let takes = "  postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars }] }\n";
    let apps = [flux("vars", "vars", ""), flux("apps-rt", "apps/${side}", "")];
    let vars = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: vars, namespace: flux-system }\ndata: { side: apps-rt }\n";
    let base = with(
        &files(),
        &[
            (SYNC, "", &format!("{}{root}{takes}", source("1m"))),
            (APPS, "", &apps.concat()),
            (VARS, "", vars),
            ("apps/other/settings.yaml", "", &map("settings", "a: '2'")),
            // What no cluster gets stands before it in the order of files.
            (
                "archive/all.yaml",
                "",
                &["a", "b", "c", "d", "e"].map(|name| flux(name, "apps/other", "")).concat(),
            ),
        ],
    );
    let other = (VARS, "side: apps-rt", "side: other");
    let told = |edits: &[(&str, &str, &str)]| told(&landing(NOW, &base, edits, "settings"));
    assert_eq!(told(&[other]), "at-once 2026-11-23T12:00:00Z – 2026-11-23T13:07:03Z");
    let both = [other, (APPS, "apps/${side}", "./apps/${side}")];
    assert_eq!(told(&both), "at-once 2026-11-23T12:00:00Z – 2026-11-23T13:07:03Z");
    let written = [(APPS, "apps/${side}", "apps/other")];
    assert_eq!(told(&written), "at-once 2026-11-23T12:00:00Z – 2026-11-23T12:03:03Z");
}

/// A Flux Kustomization reads another source once its parent says so, and the old one until then.
#[test]
fn another_source_counts_once_the_parent_brings_it() {
    const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
    let setting = ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'");
    let named = |interval: &str| source(interval).replace("name: flux-system,", "name: other,") + "---\n";
    let from_other = flux("apps-rt", "apps/apps-rt", "").replace("name: flux-system }\n", "name: other }\n");
    let of = |own: &str, other: &str, more: &str| {
        let root = flux("flux-system", "clusters/one", more);
        let sync = format!("{}---\n{}{root}", named(other), source(own));
        let base = with(&files(), &[(SYNC, "", &sync), (APPS, "", &flux("apps-rt", "apps/apps-rt", ""))]);
        let base = with(&base, &[("clusters/one/rw.yaml", "", &flux("apps-rw", "apps/apps-rw", ""))]);
        told(&landing(NOW, &base, &[(APPS, "", &from_other), setting], "settings"))
    };
    let all = [
        ("the parent comes late", of("2h", "1m", "")),
        ("the other source comes late", of("1m", "2h", "")),
        ("the parent waits", of("1m", "1m", "  dependsOn: [{ name: apps-rw }]\n")),
    ];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}: {told}")).join("\n"));
}

/// A merge at the deadline still lands in the opening, and one a minute later does not surely.
#[test]
fn the_deadline_is_the_last_merge_that_surely_lands_in_the_opening() {
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    let mut counted = 0;
    let rounds = if crate::is_thorough() { 150 } else { 40 };
    for _ in 0..rounds {
        let zone = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "Pacific/Auckland"][next(5)];
        let open = format!("{} {} * * {}", next(60), next(20), ["SAT", "*", "MON,WED", "1-5"][next(4)]);
        let length = ["1h", "2h", "3h30m", "20m"][next(4)];
        let every = ["", ", every: 1m, from: 2026-01-01, through: 2027-12-31"][next(2)];
        let spec = SPEC
            .replace(
                "timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 2 * * SUN",
                &format!("timeZone: {zone}, open: '{open}', for: {length}"),
            )
            .replace("namespace: flux-system }\n", &format!("namespace: flux-system{every} }}\n"));
        let interval = ["1m", "5m", "10m", "30m"][next(4)];
        let waits = [
            "",
            "  wait: true\n  timeout: 4m\n",
            "  wait: true\n",
            "  healthChecks: [{ kind: Deployment, name: a }]\n",
        ];
        let depth = next(4);
        let mut apps = vec![flux("apps-rt", "apps/apps-rt", "")];
        for position in 0..depth {
            let depends = if position > 0 {
                format!("  dependsOn: [{{ name: infra-{} }}]\n", position - 1)
            } else {
                String::new()
            };
            apps.push(flux(&format!("infra-{position}"), "infra", &format!("{depends}{}", waits[next(4)])));
        }
        let depends = if depth > 0 {
            format!("  dependsOn: [{{ name: infra-{} }}]\n", depth - 1)
        } else {
            String::new()
        };
        apps.push(flux("apps-rw", "apps/apps-rw", &format!("{depends}{}", waits[next(2)])));
        let held = if depth > 0 && next(3) == 0 { "apps-rw, infra-0" } else { "apps-rw" };
        let (from, to) = (
            job("open", "resume", &open, held).replace("Europe/Berlin", zone),
            job("close", "suspend", "0 0 * * *", held),
        );
        let base = with(
            &files(),
            &[
                (SPEC_FILE, "", spec.as_str()),
                (APPS, "", &apps.concat()),
                ("infra/a.yaml", "", &map("a", "")),
                ("clusters/one/flux-system/gotk-sync.yaml", "interval: 1m", &format!("interval: {interval}")),
                ("clusters/one/gate/open.yaml", "", &from),
                ("clusters/one/gate/close.yaml", "", &to),
            ],
        );
        let now =
            ["2026-11-23T12:00:00Z", "2026-03-28T11:00:00Z", "2026-10-24T21:30:00Z", "2026-10-25T00:10:00Z"]
                [next(4)];
        let now: Timestamp = now.parse().unwrap();
        let what = format!("{now} {zone} {open} {length} {every} {interval} {held}\n{}", apps.concat());
        asked(&base, "apps-rw", |at| {
            let first = at(now);
            let Some(deadline) = first.deadline.filter(|deadline| *deadline > now) else { return };
            counted += 1;
            let [before, last, after] =
                [deadline - 1.minute(), deadline, deadline + 1.minute()].map(|one| at(one.max(now)));
            // What comes after the opening is the same for all merges that are in it.
            let is_in = |lands: &Landing| {
                lands.otherwise == first.otherwise && lands.next().is_none() && lands.latest.is_some()
            };
            for lands in [&first, &before, &last] {
                assert!(is_in(lands), "{deadline} {}: {what}", told(lands));
            }
            assert!(!is_in(&after), "{deadline} {}: {what}", told(&after));
            // Whoever asks later hears the same.
            let again = before.deadline.unwrap().as_second() - deadline.as_second();
            assert!(again.abs() <= 1, "{deadline} {before:?}: {what}");
        });
    }
    assert!(counted > rounds / 2, "{counted}");
}
