//! One sum says how long a commit takes: `when`, the landing in `pr` and the deadline beside it.

use std::time::Duration;

use jiff::{Timestamp, ToSpan};

use super::chain::{landing, told, with_values};
use super::landing::with_table;
use super::repository::{
    Files, NOW, OPEN, SPEC, SPEC_FILE, compared, files, flux, job, map, model, snapshot, source, synced,
    with, with_cluster, words,
};
use crate::delivery::World;
use crate::pr::Tree;
use crate::pr::summary::sections;

const APPS: &str = "clusters/one/apps.yaml";
const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
const IMAGE: (&str, &str, &str) = ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0");

/// How long some Flux Kustomizations take, as `when` and as `pr` count it.
fn counted(files: &Files, names: &[String]) -> Vec<[Option<Duration>; 2]> {
    let (snapshot, model) = (snapshot(files), model(files));
    let cluster = model.delivered.named("one").unwrap();
    let tree = Tree::new(World { snapshot: &snapshot, model: &model }, None);
    let now: Timestamp = NOW.parse().unwrap();
    let of = |name: &String| {
        let id = ("flux-system", name.as_str());
        let lands = tree.applied(&tree.find("one", "", id).unwrap(), now);
        let latest = lands.latest.map(|at| at.duration_since(now).unsigned_abs());
        [cluster.pace(cluster.reached("", id).unwrap(), &|_| false), latest]
    };
    names.iter().map(of).collect()
}

#[test]
fn when_and_pr_count_the_same() {
    let mut seed = 3_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    let (mut unsaid, mut deepest) = (0, Duration::ZERO);
    for _ in 0..40 {
        let mut apps: Vec<String> = Vec::new();
        for position in 0..5 {
            let more = [
                "",
                "  wait: true\n",
                "  wait: true\n  timeout: 7m\n",
                "  healthChecks: [{ kind: Deployment, name: a }]\n  timeout: 2m\n",
            ][next(4)];
            let mut needed = Vec::new();
            for other in 0..position {
                match next(6) {
                    0 | 1 => needed.push(format!("{{ name: a{other} }}")),
                    2 if next(8) == 0 => {
                        needed.push(format!("{{ name: a{other}, readyExpr: 'true' }}"));
                    }
                    _ => {}
                }
            }
            let depends = format!("  dependsOn: [{}]\n", needed.join(", "));
            let from = ["flux-system", "other", "unsaid"][[0, 0, 0, 1, 2][next(5)]];
            let own = flux(&format!("a{position}"), "infra", &format!("{depends}{more}"));
            apps.push(own.replace("name: flux-system }\n", &format!("name: {from} }}\n")));
        }
        let (own, other) = (["1m", "5m", "1h"][next(3)], ["2m", "30m"][next(2)]);
        let other = source(other).replace("name: flux-system,", "name: other,");
        let base = with(
            &files(),
            &[
                (APPS, "", &apps.concat()),
                ("clusters/one/other.yaml", "", &other),
                ("infra/a.yaml", "", &map("a", "")),
                (SYNC, "interval: 1m", &format!("interval: {own}")),
            ],
        );
        let names: Vec<String> = (0..5).map(|position| format!("a{position}")).collect();
        for (name, [of_when, of_pr]) in names.iter().zip(counted(&base, &names)) {
            assert_eq!(of_when, of_pr, "{name}\n{}", apps.concat());
            deepest = deepest.max(of_when.unwrap_or_default());
            unsaid += usize::from(of_when.is_none());
        }
    }
    assert!(unsaid > 5 && deepest > Duration::from_secs(4_500), "{unsaid} {deepest:?}");
}

/// No event is lost on the way, so the interval of a Flux Kustomization is part of neither.
#[test]
fn a_landing_and_the_deadline_beside_it_count_the_same_steps() {
    let slow = [flux("apps-rt", "apps/apps-rt", ""), flux("apps-rw", "apps/apps-rw", "")];
    let slow = slow.concat().replace("interval: 5m", "interval: 6h");
    let base = with(&files(), &[(SPEC_FILE, "", SPEC), (APPS, "", &slow)]);
    insta::assert_snapshot!(words(&compared(&base, &with(&base, &[IMAGE]))));
    let open: Timestamp = OPEN.parse().unwrap();
    let lands = landing(OPEN, &base, &[IMAGE], "web");
    let within = lands.latest.unwrap().duration_since(open);
    // It closes at 02:00 in Berlin.
    let close: Timestamp = "2026-11-29T01:00:00Z".parse().unwrap();
    assert_eq!(close.duration_since(lands.deadline.unwrap()), within);
    assert_eq!(within, 123.seconds().to_duration(jiff::SpanRelativeTo::days_are_24_hours()).unwrap());
}

/// An opening sets off all of a cluster, as a commit does.
#[test]
fn each_fifty_of_a_cluster_take_a_minute_more_after_an_opening_too() {
    let lands = |number: usize| {
        let more: Vec<String> = (0..number).map(|at| flux(&format!("more-{at}"), "more", "")).collect();
        let base = with(
            &files(),
            &[
                (SPEC_FILE, "", SPEC),
                ("clusters/one/more.yaml", "", &more.concat()),
                ("more/a.yaml", "", &map("a", "")),
            ],
        );
        landing(NOW, &base, &[IMAGE], "web").latest.unwrap()
    };
    let later = |number: usize| lands(number).duration_since(lands(1)).unsigned_abs();
    assert_eq!([later(10), later(60), later(120)], [0, 60, 120].map(Duration::from_secs));
}

#[test]
fn what_reads_a_new_source_waits_for_who_brings_it() {
    let other = source("1m").replace("name: flux-system,", "name: other,");
    let reads = |name: &str| {
        let own = flux("apps-rt", "apps/apps-rt", "")
            .replace("name: flux-system }\n", &format!("name: {name} }}\n"));
        let brings = flux("sources", "sources", "  wait: true\n  timeout: 40m\n");
        [own, brings, flux("apps-rw", "apps/apps-rw", "")].concat()
    };
    let of = |held: &str| {
        let base =
            with(&files(), &[(APPS, "", &reads("flux-system")), ("sources/a.yaml", "", &map("a", ""))]);
        let (open, close) =
            (job("open", "resume", "0 22 * * SAT", held), job("close", "suspend", "0 2 * * SUN", held));
        with(
            &base,
            &[("clusters/one/gate/open.yaml", "", &open), ("clusters/one/gate/close.yaml", "", &close)],
        )
    };
    let edits = [
        (APPS, "", reads("other")),
        ("sources/other.yaml", "", other.clone()),
        ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'".to_owned()),
    ];
    let edits = || edits.iter().map(|(path, from, to)| (*path, *from, to.as_str())).collect::<Vec<_>>();
    let by_root = || {
        let mut edits = edits();
        edits[1].0 = "clusters/one/other.yaml";
        edits
    };
    let all = [
        ("by another one", landing(NOW, &of("apps-rw"), &edits(), "settings")),
        ("by another one that waits for its window", landing(NOW, &of("sources"), &edits(), "settings")),
        ("by its parent", landing(NOW, &of("sources"), &by_root(), "settings")),
    ];
    insta::assert_snapshot!(all.map(|(what, lands)| format!("{what}: {}", told(&lands))).join("\n"));
}

/// A new Flux Kustomization fails until the ConfigMap is there. Where it need not be, or is, the values of the cluster do.
#[test]
fn what_is_new_waits_for_the_values_that_others_bring() {
    let (vars, value) = ("vars/vars.yaml", ("vars/vars.yaml", "red", "blue"));
    let label = ", labels: { reconcile.fluxcd.io/watch: Enabled }";
    let new = |more: &str| {
        let reader = flux("apps-new", "apps/apps-new", "  retryInterval: 2m\n").replace("5m", "3h");
        format!("{reader}  postBuild: {{ substituteFrom: [{{ kind: ConfigMap, name: vars{more} }}] }}\n")
    };
    let of = |held: &str, labels: &str, is_missed: bool, more: &str| {
        let full = with_values(held, labels, "");
        let flux = full[APPS].replace("  postBuild:", "  #");
        let full = with(&full, &[(APPS, "", &flux)]);
        let base = match is_missed {
            true => with(&full, &[(vars, "name: vars", "name: none")]),
            false => full,
        };
        let changed = if is_missed { (vars, "name: none", "name: vars") } else { value };
        let head = with(
            &base,
            &[
                changed,
                (APPS, "", &(flux + &new(more))),
                ("apps/apps-new/a.yaml", "", &map("plain", "")),
                ("apps/apps-new/b.yaml", "", &map("filled", "a: '${color}'")),
            ],
        );
        let report = compared(&base, &head);
        let own = report.changes.iter().filter(|line| ["plain", "filled"].contains(&line.id.name.as_str()));
        own.map(|line| format!("{} {}", line.id.name, told(&line.lands))).collect::<Vec<_>>().join("\n  ")
    };
    let all = [
        ("missed", of("apps-rw", "", true, "")),
        ("missed and watched", of("apps-rw", label, true, "")),
        ("missed until the window", of("vars", "", true, "")),
        ("optional", of("apps-rw", "", true, ", optional: true")),
        ("another value", of("apps-rw", "", false, "")),
        ("another value, watched", of("apps-rw", label, false, "")),
        ("another value in the window", of("vars", "", false, "")),
    ];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}:\n  {told}")).join("\n"));
}

/// Since when it is closed is not told, so what differs by that alone is one.
#[test]
fn an_override_that_is_over_makes_no_second_heading() {
    let given = "overrides: [{ cluster: two, type: rw, from: 2026-11-22T10:00, until: 2026-11-22T11:00, reason: fix }]\n";
    let base = with_cluster(&with_table(""), "two");
    let zone = "timeZone: Europe/Berlin\n";
    let base = with(
        &base,
        &[
            (SPEC_FILE, "clusters: { one: {", "clusters: { two: { paths: [clusters/two] }, one: {"),
            (SPEC_FILE, zone, &format!("{zone}{given}")),
        ],
    );
    let base = synced(&base);
    let report = compared(&base, &with(&base, &[IMAGE]));
    let since: Vec<_> = report.changes.iter().map(|line| line.lands.since).collect();
    assert_ne!(since[0], since[1]);
    let all = sections(&report);
    assert_eq!(all.len(), 1, "{}", words(&report));
    assert_eq!(all[0].rows[0].clusters, ["one", "two"]);
}
