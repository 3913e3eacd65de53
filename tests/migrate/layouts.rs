//! The layouts of Flux's own guides, one fixture each: the whole way, as its user reads it.
//!
//! Repository structure (monorepo, one repository for each environment, for each team), multi-tenancy, hub and spoke,
//! Flux Operator, and the fleet repositories D1 and D2 of the reference architecture.

use crate::divided::{SPEC, nothing_is_deleted};
use crate::support::scratch::Scratch;

/// Goes the whole way through a fixture, and returns what was said on it, without the differences.
fn way(layout: &str) -> String {
    let scratch = Scratch::fixture(&format!("layouts/{layout}"));
    let mut told = String::new();
    let mut tell = |arguments: &[&str], is_shown: bool| {
        let run = scratch.run(arguments);
        let shown = if is_shown { run.stdout.as_str() } else { "" };
        told += &format!("$ {}\n{shown}{}[exit {}]\n\n", arguments.join(" "), run.stderr, run.code);
        run
    };
    let commit = || {
        let is_changed = !scratch.git(&["status", "--porcelain"]).is_empty();
        if is_changed {
            scratch.commit();
        }
        is_changed
    };
    tell(&["clusters"], true);
    tell(&["check"], true);
    let saturday = ["--open=0 22 * * SAT", "--close=0 4 * * SUN", "--time-zone=Europe/Berlin"];
    let init = tell(&[&["init", "--yes", "--now=2026-11-23T12:00:00Z"][..], &saturday].concat(), false);
    if init.code != 0 {
        return told;
    }
    commit();
    for (command, most) in [(&["split", "--all", "--yes"][..], 1), (&["migrate", "--yes"], 4)] {
        for _ in 0..most {
            tell(command, false);
            if !commit() {
                break;
            }
            let said = nothing_is_deleted(&scratch);
            // What the tool has written reaches its clusters, now or at the hand-over.
            assert!(!said.contains("GW057"), "{layout}: {said}");
        }
    }
    tell(&["verify"], true);
    tell(&["check"], true);
    let end = tell(&["clusters"], true).stdout;
    // All that D1's fleet repository applies is another repository's, so that it has no window, and no gate for nothing.
    let is_gated = layout != "d1-fleet";
    assert_eq!(end.contains("gated by "), is_gated, "{layout}: {end}");
    let files = scratch.git(&["ls-files"]);
    assert_eq!(files.contains("reconciliation-window"), is_gated, "{layout}: {files}");
    told
}

macro_rules! layouts {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), way(&stringify!($name).replace('_', "-")));
        }
    )*};
}

layouts! { monorepo environment teams hub_and_spoke flux_instance d1_fleet d2_fleet }

/// Where a gate holds a source, no dependant stops (kustomize-controller, `checkDependencies`), so that nothing has to be
/// let through for the sake of one.
#[test]
fn what_something_real_time_depends_on_waits_in_a_held_source() {
    let scratch = Scratch::fixture("layouts/monorepo");
    let gate = "gate: { mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-01-31 }\n";
    scratch.write("windows.yaml", format!("{SPEC}  production: {{}}\n  staging: {{}}\n{gate}")).commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    insta::assert_snapshot!("a_held_source_for_what_others_depend_on", run.stderr);
    let sources: Vec<String> = scratch
        .text("clusters/production/infrastructure.yaml")
        .lines()
        .skip_while(|line| *line != "  name: infra-configs")
        .filter(|line| line.starts_with("    name: "))
        .map(|line| line.trim().to_owned())
        .collect();
    assert_eq!(sources, ["name: flux-system-rw"]);
    // What carries the gate has to start without it.
    scratch.commit();
    let at = "spec:\n  interval: 10m\n";
    let depends = format!("{at}  dependsOn: [{{ name: infra-configs }}]\n");
    scratch.replace("clusters/production/flux-system/gotk-sync.yaml", at, &depends).commit();
    insta::assert_snapshot!("the_gate_waits_for_what_it_holds", scratch.run(&["check"]).stdout);
    // Going back to the live source lets in what waits, so that is for an open window.
    let run = scratch.expect(5, &["sync", "--dry-run"]);
    insta::assert_snapshot!("the_gate_lets_go_what_it_waits_for", run.stderr);
}

/// A hub has a Flux Kustomization of one name for each of its clusters.
#[test]
fn a_hub_tells_its_flux_kustomizations_apart() {
    let scratch = Scratch::fixture("layouts/hub-and-spoke");
    scratch.write("windows.yaml", format!("{SPEC}  hub: {{}}\n")).commit();
    scratch.take(&["sync", "--yes"]);
    let run = scratch.expect(0, &["when", "--now=2026-11-23T12:00:00Z"]);
    insta::assert_snapshot!(run.stdout);
}
