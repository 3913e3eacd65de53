//! What goes by the name of an old Flux Kustomization and would not go by those of its successors.

use crate::divided::SPEC;
use crate::support::scratch::{Run, Scratch};

const LIST: &str = "apps/media/kustomization.yaml";

const MERGE: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: library, namespace: flux-system }\nspec: { retryInterval: 1m }\n";

fn repository(change: impl Fn(&Scratch)) -> Scratch {
    let scratch = Scratch::fixture("per-app");
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n"));
    change(&scratch);
    scratch.commit();
    scratch
}

fn add(scratch: &Scratch, file: &str, text: &str) {
    scratch.write(file, scratch.text(file) + text);
}

/// Splits everything, of which one entry point is left as it is.
#[track_caller]
fn left(scratch: &Scratch) -> Run {
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    let left: Vec<&str> = run.stderr.lines().filter(|line| line.contains("is left as it is:")).collect();
    assert!(left.len() == 1 && left[0].contains("apps/media/library/app in cluster home"), "{run:?}");
    scratch.git(&["reset", "--quiet", "--hard"]);
    run
}

/// Splits everything and goes the whole way.
#[track_caller]
fn goes(scratch: &Scratch) {
    let run = scratch.commit().expect(0, &["split", "--all", "--yes"]);
    assert!(!run.stderr.contains("is left as it is:"), "{run:?}");
    for next in ["this step: hand over", "this step: finish"] {
        let run = scratch.commit().expect(0, &["migrate", "--yes"]);
        assert!(run.stderr.contains(next) && !run.stderr.contains("is left as it is:"), "{run:?}");
    }
    assert!(scratch.text("apps/media/library/ks-rt.yaml").contains("name: library-rt\n"));
}

#[test]
fn a_patch_with_a_target() {
    let patch = "patches:\n  - target:\n      kind: Kustomization\n      name: library\n    patch: |-\n      - { op: add, path: /spec/retryInterval, value: 1m }\n";
    let scratch = repository(|scratch| add(scratch, LIST, patch));
    let run = left(&scratch);
    for said in [
        "the patch in line 7 of apps/media/kustomization.yaml names library, and would miss",
        "its successors library-rt and library-rw",
        "write `name: \"library(-rt|-rw)?\"` there",
        "apps/media/kustomization.yaml:7:13",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    scratch.replace(LIST, "name: library\n", "name: \"library(-rt|-rw)?\"\n");
    goes(&scratch);
    // A namespace beside the name makes it no other patch; that of others makes it one for others.
    let within = |namespace: &str| {
        let target = format!("name: library\n      namespace: {namespace}\n");
        repository(|scratch| add(scratch, LIST, &patch.replace("name: library\n", &target)))
    };
    assert!(left(&within("flux-system")).stderr.contains("names library, and would miss"));
    goes(&within("other"));
    // The same patch may as well stand there for each of them.
    let own = |name: &str| patch.replace("name: library", &format!("name: {name}")).replace("patches:\n", "");
    goes(&repository(|scratch| {
        add(scratch, LIST, &format!("{patch}{}{}", own("library-rt"), own("library-r[wx]")));
    }));
}

#[test]
fn a_patch_that_names_it_itself() {
    for (text, said, mended) in [
        (
            "patches:\n  - path: merge.yaml\n",
            "give that patch `target: { kind: Kustomization, name: \"library(-rt|-rw)?\" }`",
            "patches:\n  - path: merge.yaml\n    target: { kind: Kustomization, name: \"library(-rt|-rw)?\" }\n",
        ),
        (
            "patchesStrategicMerge:\n  - merge.yaml\n",
            "list that patch under `patches`, with `target: { kind: Kustomization, name: \"library(-rt|-rw)?\" }`",
            "patches:\n  - path: merge.yaml\n    target: { kind: Kustomization, name: \"library(-rt|-rw)?\" }\n",
        ),
    ] {
        let scratch = repository(|scratch| {
            add(scratch, LIST, text);
            scratch.write("apps/media/merge.yaml", MERGE);
        });
        let run = left(&scratch);
        assert!(run.stderr.contains(said) && run.stderr.contains(&format!("{LIST}:5:")), "{}", run.stderr);
        scratch.replace(LIST, text, mended);
        goes(&scratch);
    }
}

#[test]
fn a_patch_of_the_parent() {
    let scratch = repository(|scratch| {
        let patch = "  patches:\n    - target: { kind: Kustom.*, name: library|nothing }\n      patch: |-\n        - { op: add, path: /spec/retryInterval, value: 1m }\n";
        add(scratch, "clusters/home/flux/apps.yaml", patch);
    });
    let run = left(&scratch);
    for said in [
        "the patch in line 14 of clusters/home/flux/apps.yaml names library, and would miss",
        "write `name: \"library|nothing|library-rt|library-rw\"` there",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    scratch.replace("clusters/home/flux/apps.yaml", "name: library|nothing }", "name: lib.* }");
    goes(&scratch);
}

#[test]
fn a_name_that_a_list_changes() {
    for field in ["namePrefix", "nameSuffix"] {
        let scratch = repository(|scratch| add(scratch, LIST, &format!("{field}: -x-\n")));
        let run = scratch.expect(5, &["split", "app", "library", "--yes"]);
        let said =
            format!("library has another name in the cluster: `{field}` in line 4 of {LIST} changes it");
        assert!(run.stderr.contains(&said) && run.stderr.contains(&format!("{LIST}:4:")), "{}", run.stderr);
    }
}
