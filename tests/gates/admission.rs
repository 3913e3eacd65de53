//! Admission policies beside a gate that looks at a table.

use std::process::Command;

use super::{rendered, scaffold};
use crate::support::flux_kustomization;
use crate::support::scratch::{Scratch, assert_same, clean, program};

const FOLDER: &str = "clusters/edge-01/infra/reconciliation-windows";

/// Returns the gate a table, and these further lines.
fn tabled(more: &str) -> Scratch {
    let scratch = scaffold();
    let gate = format!("gate:\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n{more}");
    scratch.replace("windows.yaml", "gate:\n", &gate);
    scratch.commit();
    scratch
}

#[test]
fn the_policies_of_a_cluster_come_and_go_with_the_key() {
    let scratch = tabled("");
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let without = scratch.tree();
    scratch.replace(
        "windows.yaml",
        "  every: 5m\n",
        "  every: 5m\n  admission: true\n  kubernetes: \"1.36\"\n",
    );
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "", "a second sync changes something");
    let check = scratch.run(&["check", "--format", "github", "--fail-on", "note"]);
    assert!(!check.stdout.contains("GW025"), "{}", check.stdout);
    let text = scratch.text(&format!("{FOLDER}/admission.yaml"));
    let text = text.split_once('\n').unwrap().1;
    let objects = rendered(&scratch, FOLDER);
    let all: Vec<String> = objects
        .iter()
        .map(|one| format!("{} {}", one["kind"].as_str().unwrap(), one["metadata"]["name"].as_str().unwrap()))
        .collect();
    let job = objects.iter().find(|one| one["metadata"]["name"] == "open-reconciliation-window").unwrap();
    let script = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"][2];
    insta::assert_snapshot!(format!("{}\n---\n{}\n---\n{text}", all.join("\n"), script.as_str().unwrap()));

    scratch.replace("windows.yaml", "  admission: true\n  kubernetes: \"1.36\"\n", "");
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    assert_same(&without, &scratch.tree(), "the policies left something behind");
}

/// What has no clusters to close, or may stand in clusters that do not know it, is told.
#[test]
fn what_can_have_no_policies_is_refused() {
    let told = |scratch: &Scratch, words: &str| {
        let told = scratch.expect(3, &["sync"]).stderr;
        assert!(told.contains(words), "{words}: {told}");
    };
    told(&tabled("  admission: true\n"), "all clusters have MutatingAdmissionPolicy");
    told(&tabled("  admission: true\n  kubernetes: \"1.35\"\n"), "since Kubernetes 1.36");
    told(
        &tabled("  mechanism: follow\n  admission: true\n  kubernetes: \"1.36\"\n"),
        "a held source is closed without them",
    );
    let scratch = scaffold();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  admission: true\n  kubernetes: \"1.36\"\n");
    told(&scratch, "this gate has none");
    // A template of one's own that says something else is none of the spec's.
    let scratch = tabled("  admission: true\n  kubernetes: \"1.36\"\n");
    let own = include_str!("../../templates/admission.yaml.j2");
    for (from, to) in [
        ("[\"Deny\"]", "[\"Audit\"]"),
        ("failurePolicy: Fail", "failurePolicy: Ignore"),
        ("operations: [\"UPDATE\"]", "operations: [\"CREATE\"]"),
        (
            "resources: [\"kustomizations\"]",
            "resources: [\"kustomizations\"]\n    namespaceSelector: { matchLabels: { a: b } }",
        ),
        ("verbs: [\"get\", \"patch\"]", "verbs: [\"get\"]"),
        (
            "  policyName: {{ policy.name }}",
            "  policyName: {{ policy.name }}\n  matchResources: { objectSelector: { matchLabels: { a: b } } }",
        ),
    ] {
        let changed = own.replace(from, to);
        assert_ne!(changed, own, "{from}");
        scratch.write("templates/admission.yaml.j2", changed);
        scratch.commit();
        let run = scratch.run(&["sync"]);
        assert_eq!(run.code, 5, "{from}: {}", run.stderr);
        let told = ["say something else", "do something else"].iter().any(|words| run.stderr.contains(words));
        assert!(told, "{from}: {}", run.stderr);
    }
}

/// Whoever opens by hand tells the policies first.
#[test]
fn opening_by_hand_sets_the_parameter_first() {
    let scratch = tabled("  admission: true\n  kubernetes: \"1.36\"\n");
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let open = scratch.expect(0, &["override", "open", "--cluster", "edge-01", "--quiet"]).stdout;
    let stop = scratch.expect(0, &["stop", "--without-git", "--cluster", "edge-01", "--quiet"]).stdout;
    insta::assert_snapshot!(format!("{open}{stop}"));
}

/// Of another type only what the opened ones depend on is resumed, and its others stay closed.
#[test]
fn what_is_depended_on_is_opened_by_itself() {
    let scratch = tabled("  admission: true\n  kubernetes: \"1.36\"\n");
    scratch.write("db/db.yaml", "apiVersion: v1\nkind: Secret\nmetadata: { name: db, namespace: db }\n");
    scratch.write("db/kustomization.yaml", "resources: [db.yaml]\n");
    scratch.write("clusters/edge-01/flux/db.yaml", flux_kustomization("db", "db", ""));
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    let gated = scratch.text(file);
    scratch.write(file, gated.replace("  dependsOn:\n", "  dependsOn:\n    - name: db\n"));
    assert_ne!(scratch.text(file), gated, "{gated}");
    scratch.replace("windows.yaml", "  rw:\n", "  db: { window: saturday }\n  rw:\n");
    scratch.replace("windows.yaml", "  - { type: rw }\n", "  - { name: db, type: db }\n  - { type: rw }\n");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    let open = ["override", "open", "--cluster", "edge-01", "--type", "rw", "--quiet"];
    let line = scratch.expect(0, &open).stdout;
    insta::assert_snapshot!(line);
    // It is said again as it was, whatever becomes of the rest.
    let with = |kubectl: &str| {
        program(&scratch.outside().join("kubectl"), kubectl);
        let path = format!("{}:/usr/bin:/bin", scratch.outside().display());
        let mut shell = clean(Command::new("/bin/sh"), scratch.outside());
        shell.args(["-c", &line]).env("PATH", path).output().unwrap()
    };
    for (was, resumes, back) in
        [("closed", "true", true), ("open", "true", false), ("closed", "exit 1", true)]
    {
        let script = format!(
            "case \"$1 $2\" in \"get configmaps\") echo {was};; *kustomizations*) echo resumed; {resumes};; *) echo \"$@\";; esac"
        );
        let output = with(&script);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.success(), resumes == "true", "{said}");
        assert_eq!(said.trim_end().ends_with(r#"--patch={"data":{"db":"closed"}}"#), back, "{said}");
    }
    // What can't be asked is not set either.
    let output = with("case \"$1\" in get) exit 1;; *) echo \"$@\";; esac");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
}
