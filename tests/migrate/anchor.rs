//! Flux Kustomizations with anchors and aliases, as many homes have them.

use crate::divided::SPEC;
use crate::step;
use crate::support::scratch::{Scratch, assert_same};

/// The head of a Flux Kustomization whose name is anchored.
const ANCHORED: &str = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: &app NAME\n  namespace: &flux flux-system\n";
/// What it builds, with everything that hangs on the name.
const ANCHORED_SPEC: &str = "spec:
  targetNamespace: media
  commonMetadata:
    labels:
      app.kubernetes.io/name: *app # as in the dashboards
  path: ./apps/media/NAME/app
  prune: true
  sourceRef: &source { kind: GitRepository, name: *flux, namespace: *flux }
  interval: &often 30m
  retryInterval: *often
  healthChecks:
    - { apiVersion: apps/v1, kind: Deployment, name: *app, namespace: media }
  postBuild:
    substitute:
      APP: *app
";

/// The sample with a Flux Kustomization for each app, written with anchors; nothing is divided yet.
fn anchored() -> Scratch {
    let scratch = Scratch::fixture("per-app");
    let one = |name: &str| format!("{ANCHORED}{ANCHORED_SPEC}").replace("NAME", name);
    let waits = "  dependsOn:\n    - name: library\n      namespace: *flux\n";
    let last = "  dependsOn: [{ name: player, namespace: *flux }, { name: library, namespace: *flux }]\n";
    scratch.write("apps/media/library/ks.yaml", one("library"));
    scratch.write("apps/media/player/ks.yaml", one("player") + waits + &one("player-extra") + last);
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n")).commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

#[test]
fn anchors_hand_over_what_they_named() {
    let scratch = anchored();
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
    scratch.git(&["reset", "--quiet", "--hard"]);
    step(&scratch, "this step: hand over");
    let successor = |name: &str, of: &str| {
        let text =
            format!("{ANCHORED}{ANCHORED_SPEC}").replace("name: &app NAME", &format!("name: {name}-{of}"));
        let text = text.replace("/NAME/app", &format!("/{name}/app/app-{of}")).replace("*app", name);
        text.replace("prune: true", "prune: false # gitops-windows: was true")
    };
    let checks = |text: String| {
        let (start, rest) = text.split_once("  healthChecks:\n").unwrap();
        format!("{start}{}", rest.split_once('\n').unwrap().1)
    };
    let rt = checks(successor("library", "rt"));
    let rw = successor("library", "rw") + "  dependsOn:\n    - name: library-rt\n";
    assert_eq!(scratch.text("apps/media/library/ks-rt.yaml"), rt);
    assert_eq!(scratch.text("apps/media/library/ks-rw.yaml"), rw);
    assert!(!scratch.top().join("apps/media/library/ks.yaml").exists());
    let player = scratch.text("apps/media/player/ks.yaml");
    assert!(
        player.starts_with(&(checks(successor("player", "rt")) + "  dependsOn:\n    - name: library-rt\n")),
        "{player}"
    );
    // What waits keeps its own anchors.
    let extra = format!("{ANCHORED}{ANCHORED_SPEC}").replace("NAME", "player-extra");
    assert!(player.contains(&extra), "{player}");
    let waits = "  dependsOn: [{ name: player-rt, namespace: *flux }, { name: library-rt, namespace: *flux }, {name: player-rw, namespace: flux-system}, {name: library-rw, namespace: flux-system}]\n";
    assert!(player.ends_with(waits), "{player}");
    step(&scratch, "this step: finish");
    let finished = |text: &str| text.replace("prune: false # gitops-windows: was true", "prune: true");
    assert_eq!(scratch.text("apps/media/library/ks-rt.yaml"), finished(&rt));
    assert_eq!(scratch.text("apps/media/library/ks-rw.yaml"), finished(&rw));
    let run = scratch.expect(0, &["migrate"]);
    assert!(run.stderr.contains("finished") && run.stderr.contains("Nothing to change"), "{}", run.stderr);
}

#[test]
fn an_entry_point_that_could_not_be_handed_over_is_not_divided() {
    let file = "apps/media/library/ks.yaml";
    let merged = |text: String| {
        let text = text.replace("metadata:\n", "metadata: &meta\n");
        text.replace("    labels:\n", "    annotations:\n      <<: *meta\n    labels:\n")
    };
    let scratch = anchored();
    let plain = scratch.text(file);
    for (text, said, line) in [
        (merged(plain.clone()), "the alias `*meta` can't be written out", "ks.yaml:11:11"),
        (
            format!(
                "apiVersion: v1\nkind: List\nitems:\n  - {}",
                plain.replace("---\n", "").replace('\n', "\n    ").trim_end()
            ),
            "library stands inside a list",
            "ks.yaml:4:5",
        ),
        (
            format!(
                "---\nx-prune: &prune\n  suspend: false\n{}",
                plain.replace("---\n", "").replace("spec:\n", "spec:\n  <<: *prune\n")
            ),
            "`spec.suspend` comes from what is merged here",
            "ks.yaml:10:3",
        ),
    ] {
        scratch.write(file, text).commit();
        let before = scratch.tree();
        let run = scratch.expect(5, &["split", "app", "library", "--yes"]);
        for part in [said, line, "apps/media/library/app in cluster home is left as it is", "1. write "] {
            assert!(run.stderr.contains(part), "{part}\n{}", run.stderr);
        }
        assert_same(&before, &scratch.tree(), "something was written");
        // The others go on, and so they do in the next step.
        let run = scratch.expect(0, &["split", "--all", "--yes"]);
        assert!(
            run.stderr.contains(said) && run.stderr.contains("1 entry point is left as before"),
            "{}",
            run.stderr
        );
        assert!(!scratch.text(file).contains("gitops-windows"));
        assert!(
            scratch.text("apps/media/player/ks.yaml").contains("prune: false # gitops-windows: was true")
        );
        scratch.commit();
        step(&scratch, "this step: hand over");
        scratch.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    }
    scratch.write(file, plain).commit();
    scratch.expect(0, &["split", "app", "library", "--yes"]);
}

#[test]
fn who_waits_and_can_not_be_told_keeps_an_entry_point_whole() {
    let scratch = anchored();
    let waits = "x-waits: &waits\n  - name: library\n";
    let text = scratch.text("clusters/home/flux/apps.yaml").replace("name: cluster-apps", "name: late");
    let text = text
        .replace("./apps\n", "./late\n")
        .replace("  prune: true\n", "  prune: true\n  dependsOn: *waits\n");
    scratch.write("clusters/home/flux/late.yaml", format!("{waits}{text}"));
    scratch.write("late/kustomization.yaml", "resources: []\n").commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("apps/media/library/app in cluster home is left as it is:\n         line 12 of clusters/home/flux/late.yaml can't be edited: the alias `*waits`"), "{}", run.stderr);
    assert!(run.stderr.contains("1 entry point is left as before"), "{}", run.stderr);
    scratch.commit();
    step(&scratch, "this step: hand over");
}
