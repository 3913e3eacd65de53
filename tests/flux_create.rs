//! The `flux create` commands: complete, quoted for a shell, and accepted by the flux command itself.
//!
//! The flux command is found by `GITOPS_WINDOWS_FLUX`, or on PATH.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may fail and speak, in a folder of its own"
)]

mod support;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use support::scratch::{Scratch, clean};

/// The sample as a team has it that keeps no Flux Kustomizations in Git.
fn sample() -> Scratch {
    let scratch = Scratch::fixture("sample");
    for cluster in ["edge-01", "edge-02"] {
        std::fs::remove_dir_all(scratch.top().join(format!("clusters/{cluster}/flux"))).unwrap();
    }
    scratch.commit();
    let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];
    scratch.expect(0, &[&["init", "--yes"], &window[..]].concat());
    scratch.commit();
    scratch.take(&["split", "--all", "--yes"]);
    scratch
}

const URL: &str = "ssh://git@example.com/it's a $(fleet)";

/// Returns the objects that a script makes, by the flux command; none where there is no flux command.
fn exported(scratch: &Scratch, script: &str) -> Option<Vec<Value>> {
    let path = std::env::var_os("PATH")?;
    let on_path =
        || std::env::split_paths(&path).map(|folder| folder.join("flux")).find(|flux| flux.is_file());
    let Some(flux) = std::env::var_os("GITOPS_WINDOWS_FLUX").map(PathBuf::from).or_else(on_path) else {
        eprintln!("skipped: there is no flux command, by GITOPS_WINDOWS_FLUX or on PATH");
        return None;
    };
    // The shell reads the script as people's shells do; only what creates becomes what prints.
    let script = format!("set -eu\nflux() {{ \"$FLUX\" \"$@\" --export; }}\n{script}");
    let mut shell = clean(Command::new("sh"), scratch.outside());
    let output = shell.args(["-c", &script]).env("FLUX", flux).output().unwrap();
    assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let documents = gitops_windows::yaml::read_documents(&text).unwrap();
    Some(documents.iter().map(|document| document.root.to_json()).filter(|value| !value.is_null()).collect())
}

#[test]
fn a_cluster_is_created_whole() {
    let scratch = sample();
    let script = scratch.expect(0, &["flux-create", "--cluster", "edge-01", "--url", URL]).stdout;
    let expected = r"# against cluster edge-01
flux create source git flux-system --namespace=flux-system '--url=ssh://git@example.com/it'\''s a $(fleet)' --branch=main --interval=1m
flux create kustomization apps-rt --namespace=flux-system --source=GitRepository/flux-system --path=./clusters/edge-01/apps/apps-rt --prune=true --interval=10m
flux create kustomization apps-rw --namespace=flux-system --source=GitRepository/flux-system --path=./clusters/edge-01/apps/apps-rw --prune=true --interval=10m --depends-on=apps-rt
flux create kustomization infra --namespace=flux-system --source=GitRepository/flux-system --path=./clusters/edge-01/infra --prune=true --interval=10m
";
    assert_eq!(script, expected);
    let both = scratch.expect(0, &["flux-create"]).stdout;
    assert_eq!(both.lines().filter(|line| line.starts_with("flux create kustomization")).count(), 6);
    assert!(!both.contains("create source"), "{both}");
    let words: Value =
        serde_json::from_str(&scratch.expect(0, &["flux-create", "--format", "json"]).stdout).unwrap();
    assert_eq!(words["commands"][1]["command"][3], "apps-rw");

    let Some(objects) = exported(&scratch, &script) else { return };
    assert_eq!(objects[0]["kind"], "GitRepository");
    assert_eq!(objects[0]["spec"]["url"], URL);
    assert_eq!(objects[2]["metadata"], json!({ "name": "apps-rw", "namespace": "flux-system" }));
    assert_eq!(objects[2]["spec"]["path"], "./clusters/edge-01/apps/apps-rw");
    assert_eq!(objects[2]["spec"]["dependsOn"], json!([{ "name": "apps-rt" }]));
    assert_eq!(objects[2]["spec"]["prune"], true);
    assert_eq!(objects.len(), 4);
}

#[test]
fn folders_with_any_name_arrive_as_they_are() {
    let scratch = Scratch::empty();
    let above = "it's $(a) \"b\" `c`; #d %e & {f}, ä";
    let entry = format!("{above}/clusters/edge/apps");
    scratch.write(&format!("{entry}/kustomization.yaml"), "resources: [a.yaml]\n");
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n";
    scratch.write(&format!("{entry}/a.yaml"), object);
    let spec = "apiVersion: gitops-windows/v1\ntypes: { rt: {} }\nclusters: { edge: {} }\n";
    scratch.write("windows.yaml", spec).commit();
    let script = scratch.expect(0, &["flux-create"]).stdout;
    if let Some(objects) = exported(&scratch, &script) {
        assert_eq!(objects[0]["spec"]["path"], format!("./{entry}"));
    }
    // Some names are none that the command takes, whatever they are quoted with.
    std::fs::rename(scratch.top().join(&entry), scratch.top().join(format!("{above}/clusters/edge/a")))
        .unwrap();
    scratch.commit();
    let run = scratch.expect(3, &["flux-create"]);
    assert!(run.stderr.contains("`flux create` refuses the name `a`"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn a_source_with_a_dot_is_not_taken_for_a_namespace() {
    let scratch = sample();
    scratch.replace("windows.yaml", "    name: flux-system", "    name: fleet.main").commit();
    let script = scratch.expect(0, &["flux-create", "--cluster", "edge-02"]).stdout;
    assert!(script.contains("--source=GitRepository/fleet.main.flux-system "), "{script}");
    let run = scratch.expect(2, &["flux-create", "--url", URL]);
    assert!(run.stderr.contains("refuses the name `fleet.main`"), "{}", run.stderr);
    let Some(objects) = exported(&scratch, &script) else { return };
    let source = json!({ "kind": "GitRepository", "name": "fleet.main", "namespace": "flux-system" });
    assert_eq!(objects[0]["spec"]["sourceRef"], source);
}

#[test]
fn what_stands_in_git_needs_no_command() {
    let scratch = Scratch::fixture("adopted");
    scratch.take(&["init", "--yes"]);
    let run = scratch.expect(0, &["flux-create"]);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("stand in Git"), "{}", run.stderr);
}

#[test]
fn a_cluster_that_the_spec_lacks_is_named() {
    let scratch = Scratch::fixture("sample");
    scratch.expect(0, &[&["init", "--yes"], &support::scratch::WINDOW[..]].concat());
    let run = scratch.expect(2, &["flux-create", "--cluster", "edge-1"]);
    assert!(run.stderr.contains("there is no cluster `edge-1`"), "{}", run.stderr);
}

/// Two folders of one name would replace one another's Flux Kustomization.
#[test]
fn folders_of_one_name_get_names_of_their_own() {
    let scratch = Scratch::fixture("sample");
    for cluster in ["edge-01", "edge-02"] {
        std::fs::remove_dir_all(scratch.top().join(format!("clusters/{cluster}/flux"))).unwrap();
    }
    let folder = "clusters/edge-01/tenants/apps";
    scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [web]\n");
    let web = "namespace: tenants\nresources: [../../../../../apps/web]\n";
    scratch.write(&format!("{folder}/web/kustomization.yaml"), web);
    scratch.commit();
    scratch.take(&[
        "init",
        "--yes",
        "--open",
        "0 22 * * SAT",
        "--close",
        "0 4 * * SUN",
        "--time-zone",
        "UTC",
    ]);
    for divide in [false, true] {
        if divide {
            scratch.take(&["split", "--all", "--yes"]);
        }
        let script = scratch.expect(0, &["flux-create", "--cluster", "edge-01"]).stdout;
        let names: Vec<&str> =
            script.lines().filter_map(|line| line.strip_prefix("flux create kustomization ")).collect();
        let names: Vec<&str> = names.iter().filter_map(|line| line.split(' ').next()).collect();
        let expected = match divide {
            false => vec!["edge-01-apps", "tenants-apps"],
            true => vec!["edge-01-apps-rt", "edge-01-apps-rw", "tenants-apps-rt", "tenants-apps-rw"],
        };
        assert_eq!(
            names.into_iter().filter(|name| name.contains("apps")).collect::<Vec<_>>(),
            expected,
            "{script}"
        );
    }
    let told = scratch.expect(0, &["migrate", "--cluster", "edge-01"]).stderr;
    for name in ["edge-01-apps", "tenants-apps"] {
        assert!(told.contains(&format!("fi' sh {name} flux-system\n")), "{told}");
        assert!(told.contains(&format!("flux create kustomization {name}-rw ")), "{told}");
    }
}
