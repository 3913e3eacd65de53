//! `init` of what is not as it expects, and what it says.

use crate::support::scratch::Scratch;
use crate::{refused, sample};

#[test]
fn init_twice() {
    let scratch = sample();
    refused(&scratch, 3, &["init"], &["windows.yaml is there already", "gitops-windows sync"]);
}

#[test]
fn init_with_half_a_window() {
    let scratch = Scratch::fixture("sample").with_binary();
    refused(&scratch, 2, &["init", "--open", "0 8 * * *"], &["--close", "help: "]);
    let window = |open, zone| ["init", "--open", open, "--close", "0 9 * * *", "--time-zone", zone];
    refused(&scratch, 2, &window("0 8 * *", "UTC"), &["--open '0 8 * *'", "help: "]);
    refused(
        &scratch,
        2,
        &window("0 8 * * *", "europe/berlin"),
        &["--time-zone 'europe/berlin'", "Europe/Berlin?"],
    );
}

#[test]
fn init_where_nothing_is() {
    let scratch = Scratch::empty().with_binary();
    refused(&scratch, 3, &["init"], &["help: ", "--cluster"]);
}

#[test]
fn hostile_names_for_a_new_repository() {
    let scratch = Scratch::empty().with_binary();
    for name in ["../out", "a/b", "", "a b", "-x", "A\u{202e}b", "x: y", "{{ a }}", "."] {
        let run = scratch.run(&["init", &format!("--cluster={name}"), "--app=web", "--yes"]);
        assert!([2, 3].contains(&run.code), "{name:?}: {} {}", run.code, run.stderr);
        assert!(run.stderr.contains("error: "), "{}", run.stderr);
        assert!(scratch.tree().is_empty(), "{name:?} was written");
    }
}

/// A window that somebody gives and does not get is told.
#[test]
fn init_says_which_windows_are_not_used() {
    let scratch = Scratch::fixture("adopted").with_binary();
    let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN"];
    let run = scratch.expect(1, &[&["init", "--now", "2026-11-23T12:00:00Z"], &window[..]].concat());
    insta::assert_snapshot!(run.stderr, @"
    note: the folders of plant-north, plant-south are a guess: nothing in Git names their roots
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`

    warning: --open and --close are not used: the gate in infra/maintenance keeps its window
     = help: to change it: `gitops-windows windows set reconciliation-window --open '0 22 * * SAT' --close '0 4 * * SUN'`
    plant-north, plant-south
      clusters/{cluster}/apps   Flux Kustomization apps   apps web
      clusters/{cluster}/infra  Flux Kustomization infra  carries the gate
    gate infra/maintenance: begin-maintenance and end-maintenance over apps
    Gate: what opens and closes the windows in a cluster.
    Proven with embedded kustomize api/v0.21.1: 4 comparisons over 20 objects, no difference.
    2 files would change. Run it again with --yes to write.
    Nothing changes: 2 Flux Kustomizations wait for their windows as before.
    After `gitops-windows split --all` and `gitops-windows migrate`, 2 Flux Kustomizations in 2 clusters wait for their windows.
    ");
    let scratch = sample();
    let run = scratch.expect(3, &[&["init"], &window[..]].concat());
    insta::assert_snapshot!(run.stderr, @r"
    error: windows.yaml is there already
     --> windows.yaml
     = help: its windows stay; to change one: `gitops-windows windows set NAME --open '0 22 * * SAT' --close '0 4 * * SUN'`
    ");
}

#[test]
fn init_ends_with_what_will_wait() {
    let last = |scratch: &Scratch, more: &[&str]| {
        let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];
        let run = scratch.run(&[&["init", "--now", "2026-11-23T12:00:00Z"], more, &window[..]].concat());
        run.stderr.lines().last().unwrap_or_default().to_owned()
    };
    let scratch = Scratch::fixture("sample").with_binary();
    insta::assert_snapshot!(last(&scratch, &["--yes"]), @"After `gitops-windows split --all` and `gitops-windows migrate`, 2 Flux Kustomizations in 2 clusters wait for their windows.");
    // Where the objects of an entry point have one type, its Flux Kustomization waits as a whole.
    let scratch = Scratch::fixture("sample").with_binary();
    for cluster in ["edge-01", "edge-02"] {
        let apps = format!("clusters/{cluster}/apps/kustomization.yaml");
        scratch.replace(&apps, "  - web\n", "");
    }
    scratch.commit();
    insta::assert_snapshot!(last(&scratch, &[]), @"From Sun 2026-11-29 04:00 Europe/Berlin, 2 Flux Kustomizations in 2 clusters wait for Sat 2026-12-05 22:00 Europe/Berlin. Nothing else changes.");
}

#[test]
fn init_refuses_times_that_make_no_window() {
    let scratch = Scratch::fixture("sample");
    let before = scratch.tree();
    let cases = [
        ("0 20 * * TUE", "0 20 * * TUE", "UTC", "GW107"),
        ("0 20 30 2 *", "0 20 * * TUE", "UTC", "GW102"),
        ("0 1 * * SUN", "30 2 * * SUN", "Europe/Berlin", "GW104"),
    ];
    for (open, close, zone, code) in cases {
        let given = ["init", "--open", open, "--close", close, "--time-zone", zone, "--yes"];
        let told = scratch.expect(3, &given).stderr;
        assert!(told.contains("error: the given times make no window. Nothing was written"), "{told}");
        assert!(told.contains(&format!("error[{code}]")), "{told}");
        assert_eq!(scratch.tree(), before);
    }
}
