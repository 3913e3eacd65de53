//! Entry points whose objects all wait alike: no split divides them, and nobody is told to try.

use crate::repository::{CONFIG_MAP, DEPLOYMENT, INIT, app, flux};
use crate::support::scratch::Scratch;

/// A repository with an entry point of ConfigMaps, one of Deployments, and one of both.
fn repository() -> Scratch {
    let scratch = Scratch::empty();
    let list = "resources:\n  - one.yaml\n";
    scratch
        .write("pages/kustomization.yaml", list)
        .write("pages/one.yaml", CONFIG_MAP.replace("NAME", "page"))
        .write("servers/kustomization.yaml", list)
        .write("servers/one.yaml", DEPLOYMENT.replace("NAME", "server"))
        .write("apps/kustomization.yaml", "resources:\n  - web\n");
    app(&scratch, "apps/web");
    for entry in ["pages", "servers", "apps"] {
        flux(&scratch, entry);
    }
    scratch
}

#[test]
fn init_counts_what_waits_now_and_what_will_after_the_split() {
    let scratch = repository();
    let run = scratch.take(&[&INIT[..], &["--now", "2026-11-25T12:00:00Z"]].concat());
    insta::assert_snapshot!(run.stderr);
}

#[test]
fn when_advises_no_split_where_every_object_is_real_time() {
    let scratch = repository();
    scratch.take(&INIT);
    insta::assert_snapshot!(scratch.expect(0, &["when", "--now", "2026-11-25T12:00:00Z"]).stdout);
    let told = scratch.expect(0, &["when", "pages", "--now", "2026-11-25T12:00:00Z"]).stdout;
    assert!(!told.contains("split"), "{told}");
}

#[test]
fn when_says_of_what_has_a_window_and_no_gate_where_the_reason_stands() {
    let scratch = repository();
    let needs = scratch.text("clusters/c/pages.yaml") + "  dependsOn:\n    - name: servers\n";
    scratch.write("clusters/c/pages.yaml", needs).commit();
    scratch.take(&INIT);
    let told = scratch.expect(0, &["when", "servers", "--now", "2026-11-25T12:00:00Z"]).stdout;
    insta::assert_snapshot!(told);
    let why = scratch.run(&["sync", "--dry-run"]).stderr;
    assert!(why.contains("no gate suspends Flux Kustomization servers"), "{why}");
}

#[test]
fn join_says_joined() {
    let scratch = repository();
    scratch.take(&INIT);
    scratch.take(&["split", "--all", "--yes"]);
    let run = scratch.expect(0, &["join", "--all", "--yes"]);
    assert!(run.stderr.contains("c\n  apps  joined\nProven"), "{}", run.stderr);
}

#[test]
fn a_long_note_names_some_and_says_what_names_all() {
    let scratch = Scratch::empty();
    for number in 1..=9 {
        let entry = format!("servers-{number}");
        scratch
            .write(&format!("{entry}/kustomization.yaml"), "resources:\n  - one.yaml\n")
            .write(&format!("{entry}/one.yaml"), DEPLOYMENT.replace("NAME", &entry));
        flux(&scratch, &entry);
    }
    let run = scratch.take(&INIT);
    let note = "suspends servers-1, servers-2, servers-3, servers-4, servers-5 and 4 more (`gitops-windows when --verbose` names all) entirely";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let all = scratch.expect(0, &["when", "--verbose"]).stdout;
    assert!(all.contains("servers-9"), "{all}");
}

/// The name of a Flux Kustomization that is not in Git is made of the folder's.
#[test]
fn when_names_folders_where_several_end_alike() {
    let scratch = Scratch::empty();
    for folder in ["infra/one/c", "infra/two/c"] {
        scratch.write(&format!("{folder}/kustomization.yaml"), "resources:\n  - web\n");
        app(&scratch, &format!("{folder}/web"));
    }
    scratch.write("clusters/c/README.md", "c\n").commit();
    let folders = ["--cluster-folder", "c=infra/one", "--cluster-folder", "c=infra/two"];
    scratch.take(&[&INIT[..], &folders].concat());
    insta::assert_snapshot!(scratch.expect(0, &["when", "--at", "2026-11-24T12:00:00Z"]).stdout);
}

/// A Flux Kustomization beside an app is an object like others.
#[test]
fn when_says_that_no_split_divides_only_what_no_split_divides() {
    let scratch = repository();
    let inner = scratch.text("clusters/c/pages.yaml");
    scratch.write(
        "apps/web/inner.yaml",
        inner.replace("name: pages", "name: inner").replace("./pages", "./servers"),
    );
    scratch.write(
        "apps/web/kustomization.yaml",
        "resources:\n  - config.yaml\n  - deployment.yaml\n  - inner.yaml\n",
    );
    scratch.commit();
    scratch.take(&INIT);
    let told = scratch.expect(0, &["when", "apps"]).stdout;
    assert!(told.contains("`gitops-windows split --all`, which divides it"), "{told}");
    assert!(!told.contains("no split divides it"), "{told}");
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("  apps  split"), "{}", run.stderr);
}
