//! What comes into a folder that Flux listed by itself, after the split.

use crate::repository::{CONFIG_MAP, DEPLOYMENT, app, flux, repository};
use crate::support::scratch::Scratch;

/// A migrated entry point for which Flux made the list.
fn migrated(files: &[(&str, &str)], apps: &[&str]) -> Scratch {
    let scratch = repository(files);
    flux(&scratch, "apps");
    for folder in apps {
        app(&scratch, folder);
    }
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    for _ in 0..2 {
        assert_eq!(told(&scratch), "Nothing to report.\n");
        scratch.take(&["migrate", "--yes"]);
    }
    assert_eq!(told(&scratch), "Nothing to report.\n");
    scratch
}

fn told(scratch: &Scratch) -> String {
    let run = scratch.run(&["check"]);
    run.stdout + &run.stderr
}

#[test]
fn a_new_file_is_told_with_the_list_that_it_lacks() {
    let (config, deployment) = (CONFIG_MAP.replace("NAME", "a"), DEPLOYMENT.replace("NAME", "a"));
    let scratch = migrated(&[("apps/n/a.yaml", &config), ("apps/n/b.yaml", &deployment)], &[]);
    scratch.write("apps/n/new.yaml", CONFIG_MAP.replace("NAME", "new"));
    scratch.write("apps/n/notes.yaml", "no: manifest\n").commit();
    insta::assert_snapshot!(told(&scratch));
    let list = "apps/apps-all/kustomization.yaml";
    scratch.write(list, scratch.text(list) + "  - ../n/new.yaml\n");
    scratch.take(&["sync", "--yes"]);
    assert_eq!(told(&scratch), "Nothing to report.\n");
}

#[test]
fn a_new_app_is_told_with_the_command_that_divides_it() {
    let scratch = migrated(&[], &["apps/web", "apps/shop"]);
    app(&scratch, "apps/new");
    insta::assert_snapshot!(told(&scratch));
    let list = "apps/apps-rw/kustomization.yaml";
    scratch.write(list, scratch.text(list) + "  - ../new\n");
    scratch.take(&["split", "app", "new", "--yes", "--allow-dirty"]);
    assert_eq!(told(&scratch), "Nothing to report.\n");
}
