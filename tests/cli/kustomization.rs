//! What is wrong with kustomizations, and where they lead.

use crate::{SPLIT, refused, sample};

#[test]
fn a_kustomization_that_does_not_build() {
    let scratch = sample();
    scratch.replace("apps/web/kustomization.yaml", "service.yaml", "servise.yaml");
    refused(&scratch, 3, &SPLIT, &["clusters/edge-01/apps", "servise.yaml", "help: "]);
}

#[test]
fn one_cluster_that_does_not_build_leaves_the_others_their_way() {
    let scratch = sample();
    scratch
        .replace("clusters/edge-01/apps/web/kustomization.yaml", "- namespace.yaml", "- gone.yaml")
        .commit();
    let run = scratch.expect(1, &SPLIT);
    assert!(
        run.stderr.contains("clusters/edge-01/apps in cluster edge-01 is left as it is"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("edge-02\n  clusters/edge-02/apps  "), "{}", run.stderr);
    assert!(!run.stdout.contains("clusters/edge-01"), "{}", run.stdout);
    // What could be done was done: a second run ends as the first.
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    scratch.commit();
    let again = scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    assert!(again.stderr.contains("clusters/edge-01/apps in cluster edge-01"), "{}", again.stderr);
}

#[test]
fn what_git_ignores_would_be_missing_in_the_commit() {
    let scratch = sample();
    scratch.write(".gitignore", "*-rt\n");
    let exceptions = "add a line for each exception: `!/apps/web/web-rt/`, `!/apps/web/web-rt/**`";
    let words = ["git ignores apps/web/web-rt/", "git check-ignore -v apps/web/web-rt/", exceptions];
    refused(&scratch, 4, &SPLIT, &words);
    scratch.write(".gitignore", "*-other\n").commit();
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
}

#[test]
fn two_kustomization_files_in_a_folder() {
    let scratch = sample();
    scratch.write("apps/web/kustomization.yml", "resources: []\n");
    refused(&scratch, 3, &SPLIT, &["apps/web", "kustomization.yml", "help: "]);
}

#[test]
fn a_duplicate_key_in_a_kustomization() {
    let scratch = sample();
    let text = scratch.text("apps/web/kustomization.yaml");
    scratch.write("apps/web/kustomization.yaml", format!("{text}Resources: []\n"));
    refused(&scratch, 3, &SPLIT, &["apps/web/kustomization.yaml", "esources", "help: "]);
}

#[test]
fn a_cycle() {
    let scratch = sample();
    scratch.replace(
        "apps/web/kustomization.yaml",
        "  - service.yaml",
        "  - service.yaml\n  - ../../clusters/edge-01/apps/web",
    );
    refused(&scratch, 3, &SPLIT, &["apps/web", "circle", "help: "]);
}

#[test]
fn a_path_that_leaves_the_repository() {
    let scratch = sample();
    std::fs::create_dir(scratch.outside().join("other")).unwrap();
    std::fs::write(scratch.outside().join("other/secret.yaml"), "apiVersion: v1\nkind: Secret\n").unwrap();
    for path in ["../../../other/secret.yaml", "/etc/passwd"] {
        scratch.git(&["checkout", "--quiet", "--", "apps"]);
        let item = format!("  - service.yaml\n  - {path}");
        scratch.replace("apps/web/kustomization.yaml", "  - service.yaml", &item);
        let run = refused(&scratch, 3, &SPLIT, &["clusters/edge-01/apps", "help: "]);
        assert!(!run.stdout.contains("Secret") && !run.stderr.contains("root:"), "{}", run.stderr);
        scratch.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_repository() {
    let scratch = sample();
    let other = scratch.outside().join("other");
    std::fs::create_dir(&other).unwrap();
    let file = "clusters/edge-01/apps/web/namespace.yaml";
    std::fs::rename(scratch.top().join(file), other.join("namespace.yaml")).unwrap();
    std::os::unix::fs::symlink(other.join("namespace.yaml"), scratch.top().join(file)).unwrap();
    scratch.commit();
    let content = std::fs::read(other.join("namespace.yaml")).unwrap();
    let run = scratch.run(&[&SPLIT[..], &["--yes"]].concat());
    assert!(run.stderr.contains("clusters/edge-01/apps"), "{}", run.stderr);
    assert!(!run.stdout.contains("clusters/edge-01"), "{}", run.stdout);
    assert_eq!(std::fs::read(other.join("namespace.yaml")).unwrap(), content);
}

#[cfg(unix)]
#[test]
fn a_folder_to_write_into_that_leads_outside() {
    let scratch = sample();
    let other = scratch.outside().join("other");
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(&other, scratch.top().join("apps/web/web-rt")).unwrap();
    scratch.commit();
    let run = scratch.run(&[&SPLIT[..], &["--yes"]].concat());
    assert!(run.stderr.contains("apps/web/web-rt: leads out of the repository"), "{}", run.stderr);
    assert!(scratch.top().join("apps/web/web-rt").is_symlink());
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0, "something was written outside");
}

#[test]
fn a_manifest_that_is_no_utf_8() {
    let scratch = sample();
    let text = scratch.text("apps/web/deployment.yaml");
    scratch.write("apps/web/deployment.yaml", [text.as_bytes(), b"# \xff\n"].concat());
    refused(&scratch, 3, &SPLIT, &["deployment.yaml", "help: "]);
}

#[test]
fn a_kustomization_that_is_no_utf_8() {
    let scratch = sample();
    let text = scratch.text("apps/web/kustomization.yaml");
    scratch.write("apps/web/kustomization.yaml", [text.as_bytes(), b"# \xff\n"].concat());
    refused(&scratch, 3, &SPLIT, &["apps/web/kustomization.yaml", "UTF-8", "help: "]);
}
