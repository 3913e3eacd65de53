//! What lands outside of a window, and what seems to.

use super::repository::{
    Files, OPEN, SPEC, SPEC_FILE, codes, compared, compared_at, files, flux, job, lines, map, told, with,
};
use crate::pr::Topic;

const APPS: &str = "clusters/one/apps.yaml";

fn outside(before: &Files, after: &Files) -> Vec<String> {
    told(&compared(before, after), &[Topic::OutsideWindow])
}

/// The Flux Kustomizations, with more lines in the spec of each.
fn apps(real_time: &str, gated: &str) -> String {
    [flux("apps-rt", "apps/apps-rt", real_time), flux("apps-rw", "apps/apps-rw", gated)].concat()
}

#[test]
fn an_app_that_no_gate_knows_yet_lands_at_once() {
    let base = with(&files(), &[(SPEC_FILE, "", SPEC)]);
    let new = with(
        &base,
        &[
            ("clusters/one/more.yaml", "", &flux("more-rw", "more/more-rw", "")),
            ("more/more-rw/kustomization.yaml", "", "resources: [a.yaml, b.yaml]\n"),
            ("more/more-rw/a.yaml", "", &map("a", "")),
            ("more/more-rw/b.yaml", "", &map("b", "")),
        ],
    );
    // Once for all that it applies.
    let told = outside(&base, &new);
    assert!(told.len() == 1 && told[0].contains("no gate suspends it for type `rw` yet"), "{told:?}");
    let open = compared_at(OPEN, &base, &new);
    assert_eq!(super::repository::told(&open, &[Topic::OutsideWindow]), Vec::<String>::new());
    // One of the gate closes at its next closing only.
    let targets = "apps-rw, more-rw";
    let known = with(
        &new,
        &[
            ("clusters/one/gate/open.yaml", "", &job("open", "resume", "0 22 * * SAT", targets)),
            ("clusters/one/gate/close.yaml", "", &job("close", "suspend", "0 2 * * SUN", targets)),
        ],
    );
    let told = outside(&base, &known);
    assert!(told.len() == 1 && told[0].contains("suspends it only when it closes"), "{told:?}");
    // Undivided, with objects of one type, it is to be held as a whole.
    let whole = |kind: &str| {
        let object = map("a", "").replace("ConfigMap", kind);
        with(
            &base,
            &[("clusters/one/more.yaml", "", &flux("more", "more", "")), ("more/a.yaml", "", &object)],
        )
    };
    let told = outside(&base, &whole("Secret"));
    assert!(
        told.len() == 1 && told[0].contains("more is new, and no gate suspends it for type `rw` yet"),
        "{told:?}"
    );
    assert_eq!(outside(&base, &whole("ConfigMap")), Vec::<String>::new());
    // Of a type that lands at once that is meant.
    let real_time = with(&base, &[("clusters/one/more.yaml", "", &flux("more-rt", "apps/apps-rt", ""))]);
    assert_eq!(outside(&base, &real_time), Vec::<String>::new());
}

#[test]
fn an_object_that_leaves_what_is_held_back_moves_at_once() {
    let base = files();
    let moved = with(
        &base,
        &[
            ("apps/apps-rw/kustomization.yaml", "[deployment.yaml]", "[]"),
            ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, deployment.yaml"),
            ("apps/apps-rt/deployment.yaml", "", &base["apps/apps-rw/deployment.yaml"]),
        ],
    );
    let told = outside(&base, &moved);
    assert!(told.len() == 1 && told[0].contains("moves from apps-rw to apps-rt"), "{told:?}");
    assert_eq!(outside(&moved, &base), Vec::<String>::new());
}

#[test]
fn suspending_and_resuming_is_told() {
    let base = files();
    let with_apps = |real_time: &str, gated: &str| with(&base, &[(APPS, "", &apps(real_time, gated))]);
    let said =
        |before: &Files, after: &Files| told(&compared(before, after), &[Topic::OutsideWindow, Topic::Check]);
    let suspended = with_apps("  suspend: true\n", "");
    let told = said(&base, &suspended);
    assert!(told.iter().any(|one| one.contains("apps-rt is suspended at once")), "{told:?}");
    let told = said(&suspended, &base);
    assert!(told.iter().any(|one| one.contains("apps-rt is resumed at once")), "{told:?}");
    let spelled = said(&base, &with_apps("  suspend: false\n", ""));
    assert!(!spelled.iter().any(|one| one.contains("at once")), "{spelled:?}");
    let told = said(&base, &with_apps("", "  suspend: false\n"));
    assert!(told.iter().any(|one| one.starts_with("outside-window") && one.contains("apps-rw")), "{told:?}");
}

#[test]
fn edits_that_change_nothing_in_the_cluster_are_not_told() {
    let base = files();
    // Another folder that builds the same, a gate that comes, and one that gets other windows.
    let moved = with(
        &base,
        &[
            (APPS, "./apps/apps-rw", "./apps/web"),
            ("apps/web/kustomization.yaml", "", "resources: [../apps-rw]\n"),
        ],
    );
    assert_eq!(outside(&base, &moved), Vec::<String>::new());
    let open = ("clusters/one/gate/open.yaml", "0 22 * * SAT", "0 20 * * SAT");
    assert_eq!(outside(&base, &with(&base, &[open])), Vec::<String>::new());
    let mut bare = base.clone();
    bare.retain(|path, _| !path.contains("/gate/"));
    assert_eq!(outside(&bare, &base), Vec::<String>::new());
    // With the last one that closes, all that is held back is no more.
    let told = outside(&base, &bare);
    assert_eq!(
        told,
        [
            "outside-window Flux Kustomization apps-rw waits for CronJob `close` no more, and nothing resumes what is suspended"
        ]
    );
}

#[test]
fn what_follows_from_another_finding_is_not_told() {
    let base = files();
    // It is applied by what waits, and the gate does not know it.
    let inner = flux("inner", "inner", "");
    let nested = [
        ("apps/apps-rw/kustomization.yaml", "deployment.yaml", "deployment.yaml, inner.yaml"),
        ("apps/apps-rw/inner.yaml", "", inner.as_str()),
        ("inner/kustomization.yaml", "", "resources: [a.yaml]\n"),
        ("inner/a.yaml", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: shop }\n"),
    ];
    let alone = compared(&base, &with(&base, &nested));
    assert_eq!(codes(&alone), ["GW021"], "{:?}", lines(&alone));
    // The gate has it under a wrong name.
    let close = ("clusters/one/gate/close.yaml", "apps-rw]", "apps-rw, inner-]");
    let open = ("clusters/one/gate/open.yaml", "apps-rw]", "apps-rw, inner-]");
    let wrong = compared(&base, &with(&with(&base, &nested), &[open, close]));
    assert_eq!(codes(&wrong), ["GW005", "GW021"], "{:?}", lines(&wrong));
    // What does not build may be what holds it back.
    let broken = ("clusters/one/gate/kustomization.yaml", "", "resources: [gone.yaml]\n");
    let broken = compared(&base, &with(&with(&base, &nested), &[broken]));
    assert!(!codes(&broken).contains(&"GW021"), "{:?}", codes(&broken));
}

/// What fails for another reason keeps no CronJob that goes from elsewhere.
#[test]
fn a_gate_that_goes_beside_a_folder_that_is_missing() {
    let base =
        with(&files(), &[(SPEC_FILE, "", SPEC), ("clusters/one/lost.yaml", "", &flux("lost", "lost", ""))]);
    let mut gone = with(&base, &[("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0")]);
    gone.retain(|path, _| !path.starts_with("clusters/one/gate/"));
    let told = outside(&base, &gone);
    assert!(told.len() == 1 && told[0].contains("waits for type `rw` no more"), "{told:?}");
}
