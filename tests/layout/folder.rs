//! Clusters in several folders, and sides beside what was divided.

use crate::repository::{BOTH, flux, repository};
use crate::support::scratch::Scratch;

#[test]
fn a_cluster_that_lives_in_several_folders() {
    let scratch = repository(&[("apps", BOTH), ("infra", BOTH)]);
    for (name, folder) in [("apps", "sites/one"), ("infra", "platform/one")] {
        flux(&scratch, name, folder, "");
        let list = scratch.text(&format!("clusters/edge/{name}/kustomization.yaml"));
        scratch.write(&format!("{folder}/kustomization.yaml"), list.replace("../../../", "../../"));
        let text = scratch.text(&format!("clusters/edge/flux/{name}.yaml"));
        scratch.write(&format!("flux/{name}.yaml"), text);
    }
    for gone in ["clusters", "windows.yaml"] {
        let place = scratch.top().join(gone);
        if place.is_dir() { std::fs::remove_dir_all(place) } else { std::fs::remove_file(place) }.unwrap();
    }
    scratch.commit();
    let init = ["init", "--open", "0 1 * * *", "--close", "0 3 * * *", "--time-zone", "UTC", "--yes"];
    for (folder, said) in [
        ("sites/one", "write NAME=FOLDER"),
        ("edge=../sites", "name a folder below"),
        ("edge=sites/two", "there is no such folder"),
        ("edge=apps", "no entry point lies in"),
    ] {
        let run = scratch.expect(2, &[&init[..], &["--cluster-folder", folder]].concat());
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let folders = ["--cluster-folder", "edge=sites", "--cluster-folder", "edge=platform"];
    scratch.expect(0, &[&init[..], &folders].concat());
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("paths: [sites, platform]") && spec.matches("edge").count() == 1, "{spec}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    scratch.expect(0, &["split", "--all", "--yes"]);
    let run = scratch.expect(0, &["verify", "--verbose"]);
    let told = "platform/one (edge): equal, 2 objects\nsites/one (edge): equal, 2 objects\n";
    assert_eq!(run.stdout, format!("{told}All is well: 2 entry points are equal.\n"));
}

#[test]
fn sides_beside_what_was_divided_are_known_when_that_is_gone() {
    let scratch = Scratch::fixture("record");
    // The gate comes after the split here, and its carrier is handed over with it.
    for arguments in [&["split", "--all"][..], &["sync"], &["migrate"], &["migrate"]] {
        scratch.commit();
        scratch.expect(0, &[arguments, &["--yes"]].concat());
    }
    scratch.commit();
    assert!(!scratch.top().join("clusters/dev-edge/infra/kustomization.yaml").exists());
    let when = scratch.expect(0, &["when"]);
    assert!(when.stdout.contains("live") && !when.stdout.contains("(all)"), "{}", when.stdout);
    assert_eq!(scratch.expect(0, &["split", "--all"]).stdout, "");
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let folder = "clusters/dev-edge/infra-live/storage";
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: late, namespace: storage }\n";
    scratch.write(&format!("{folder}/late.yaml"), service);
    scratch.replace(&format!("{folder}/kustomization.yaml"), "limits.yaml", "limits.yaml\n  - late.yaml");
    scratch.commit();
    let verify = scratch.expect(5, &["verify"]);
    assert!(verify.stdout.contains("is on the side of live"), "{}", verify.stdout);
}
