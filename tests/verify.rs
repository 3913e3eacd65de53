//! `verify` and `explain`, by the real binary.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use serde_json::Value;
use support::scratch::{SPEC, Scratch};

const ENTRY: &str = "clusters/edge-02/apps";

/// The sample with its app `web` divided, all of it committed.
fn divided() -> Scratch {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", SPEC).commit();
    scratch.take(&["split", "app", "web", "--yes"]);
    scratch
}

/// The same once Flux applies the sides of `edge-02` and no longer the whole.
fn handed_over() -> Scratch {
    let scratch = divided();
    let file = "clusters/edge-02/flux/apps.yaml";
    let old = scratch.text(file);
    for side in ["rt", "rw"] {
        let text = old
            .replace("name: apps", &format!("name: apps-{side}"))
            .replace("path: ./clusters/edge-02/apps", &format!("path: ./clusters/edge-02/apps/apps-{side}"));
        scratch.write(&format!("clusters/edge-02/flux/apps-{side}.yaml"), text);
    }
    scratch
        .write(file, old.replace("name: apps", "name: rest").replace("edge-02/apps", "edge-02/apps/probe"));
    scratch.commit();
    scratch
}

/// Runs `verify` in both formats; gives the entry point of `edge-02`.
#[track_caller]
fn verified(scratch: &Scratch, code: i32, arguments: &[&str], words: &[&str]) -> Value {
    let command = [&["verify"], arguments].concat();
    let text = scratch.expect(code, &command).stdout;
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
    let json = scratch.expect(code, &[&command[..], &["--format", "json"]].concat()).stdout;
    let value: Value = serde_json::from_str(&json).unwrap();
    let entries = value["entryPoints"].as_array().unwrap();
    entries.iter().find(|entry| entry["path"] == ENTRY).unwrap().clone()
}

/// Returns what the JSON says of one object.
fn of<'a>(entry: &'a Value, object: &str) -> Vec<&'a str> {
    let differences = entry["differences"].as_array().unwrap().iter();
    differences
        .filter(|found| found["object"] == object)
        .map(|found| found["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn what_was_divided_is_equal() {
    let line = "clusters/edge-02/apps (edge-02): equal, 6 objects\n";
    let entry = verified(&divided(), 0, &["--verbose"], &[line]);
    assert_eq!(entry["status"], "equal");
    assert_eq!(entry["differences"], serde_json::json!([]));
    verified(&divided(), 0, &["--base", "HEAD~1", "--verbose"], &["clusters/edge-01/apps (edge-01): equal"]);
    verified(&handed_over(), 0, &["--verbose"], &["clusters/edge-02/apps (edge-02): equal"]);
    // A result that is fine is one line.
    let told = divided().expect(0, &["verify"]).stdout;
    insta::assert_snapshot!(told, @"All is well: 2 entry points are equal, 2 not split.");
}

#[test]
fn an_object_that_a_side_lost() {
    let scratch = handed_over();
    scratch.replace("clusters/edge-02/apps/apps-rw/web/kustomization.yaml", "web-rw", "web-rt");
    let entry =
        verified(&scratch, 5, &["--base", "HEAD"], &["Deployment web/web is applied by nothing any more"]);
    assert_eq!(entry["status"], "lost");
    assert_eq!(of(&entry, "Deployment web/web"), ["lost"]);
    assert!(of(&entry, "ConfigMap web/web-content").contains(&"doubled"), "{entry}");
}

#[test]
fn an_object_that_a_side_changed() {
    let scratch = divided();
    let side = "clusters/edge-02/apps/apps-rw/kustomization.yaml";
    scratch.write(side, format!("{}commonAnnotations: {{odd: why}}\n", scratch.text(side)));
    let words = ["Service web/web changed: metadata.annotations from nothing to {\"odd\":\"why\"}"];
    let entry = verified(&scratch, 1, &[], &words);
    assert_eq!(entry["status"], "changed");
}

#[test]
fn an_object_on_the_side_of_another_type() {
    let scratch = divided();
    let rules =
        "rules:\n  - { kind: Service, type: rt }\n  - { kind: ConfigMap, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", format!("{SPEC}{rules}"));
    let words = [
        "Service web/web is on the side of rw; by the rules it is rt",
        "`gitops-windows sync` moves objects to the sides of their types",
    ];
    let entry = verified(&scratch, 5, &[], &words);
    assert_eq!(of(&entry, "Service web/web"), ["wrong-side"]);
}

#[test]
fn a_side_that_does_not_build() {
    let scratch = divided();
    scratch.replace("clusters/edge-02/apps/apps-rw/web/kustomization.yaml", "web-rw", "gone");
    let entry = verified(&scratch, 3, &[], &["does not build"]);
    assert_eq!(entry["status"], "unbuildable");
}

/// What is not divided and needs the network is not this tree's fault; it is told, and no more.
#[test]
fn an_undivided_entry_point_with_a_remote_base_is_unknown() {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", SPEC);
    let list = "resources:\n  - https://example.com/base.yaml\n";
    scratch.write(&format!("{ENTRY}/kustomization.yaml"), list).commit();
    let words = [
        "clusters/edge-02/apps (edge-02): unknown, 0 objects",
        "clusters/edge-02/apps is not checked: ",
        "needs the remote base `https://example.com/base.yaml`",
        "`gitops-windows fetch-bases` copies such bases into the repository.",
    ];
    let entry = verified(&scratch, 0, &[], &words);
    assert_eq!(entry["status"], "unknown");
}

#[test]
fn since_a_revision_an_object_changed_came_and_went() {
    let scratch = divided();
    scratch
        .replace("apps/web/web-rw/deployment.yaml", "replicas: 2", "replicas: 3")
        .write("apps/web/web-rw/extra.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: extra\n")
        .replace("apps/web/web-rw/kustomization.yaml", "  - service.yaml", "  - extra.yaml");
    let words = [
        "Deployment web/web changed: spec.replicas from 2 to 3",
        "Secret web/extra is new in clusters/edge-02/apps",
        "Service web/web is applied by nothing any more",
    ];
    let entry = verified(&scratch, 5, &["--base", "HEAD"], &words);
    assert_eq!(of(&entry, "Deployment web/web"), ["changed"]);
    assert_eq!(of(&entry, "Secret web/extra"), ["added"]);
    assert_eq!(of(&entry, "Service web/web"), ["lost"]);
    verified(&scratch, 0, &["--verbose"], &["clusters/edge-02/apps (edge-02): equal"]);
    scratch.expect(3, &["verify", "--base", "nowhere"]);
}

#[test]
fn since_a_revision_an_object_moved() {
    let scratch = handed_over();
    let (rt, rw) = ("apps/web/web-rt", "apps/web/web-rw");
    scratch
        .write(&format!("{rt}/service.yaml"), scratch.text(&format!("{rw}/service.yaml")))
        .replace(
            &format!("{rt}/kustomization.yaml"),
            "  - configmap.yaml",
            "  - configmap.yaml\n  - service.yaml",
        )
        .replace(&format!("{rw}/kustomization.yaml"), "  - service.yaml\n", "");
    let entry = verified(&scratch, 1, &["--base", "HEAD"], &["Service web/web moved from rw to rt"]);
    assert_eq!(of(&entry, "Service web/web"), ["moved"]);
    assert_eq!(entry["status"], "moved");
}

#[test]
fn since_a_revision_an_object_was_doubled() {
    let scratch = handed_over();
    scratch.replace(
        "clusters/edge-02/apps/apps-rt/kustomization.yaml",
        "  - web",
        "  - web\n  - ../apps-rw/web",
    );
    let words = ["is applied by clusters/edge-02/apps/apps-rt and by clusters/edge-02/apps/apps-rw"];
    let entry = verified(&scratch, 5, &["--base", "HEAD"], &words);
    assert!(entry["differences"].as_array().unwrap().iter().any(|found| found["kind"] == "doubled"));
}

#[test]
fn explain_says_type_rule_origin_and_consumer() {
    let scratch = divided();
    let text = scratch.expect(0, &["explain", "apps/web/web-rt"]).stdout;
    assert_eq!(
        text,
        "\
ConfigMap web/edge-01-web-content: rt (rule 2 of the spec)
  from apps/web/web-rt/configmap.yaml
  in cluster edge-01, clusters/edge-01/apps, app web
    by Flux Kustomization apps, at once
ConfigMap web/web-content: rt (rule 2 of the spec)
  from apps/web/web-rt/configmap.yaml
  in cluster edge-02, clusters/edge-02/apps, app web
    by Flux Kustomization apps, at once
"
    );
}

#[test]
fn explain_of_an_entry_point_tells_all_that_it_builds() {
    let scratch = Scratch::fixture("overlays");
    scratch.expect(0, &["init", "--yes"]);
    insta::assert_snapshot!(scratch.expect(0, &["explain", "apps/north"]).stdout);
}

#[test]
fn explain_says_what_nobody_builds() {
    let scratch = Scratch::fixture("features");
    scratch
        .write("apps/base/spare.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: spare\n  annotations:\n    gitops-windows/type: rw\n")
        .commit();
    let text = scratch.expect(0, &["explain", "apps/base/spare.yaml"]).stdout;
    assert_eq!(
        text,
        "ConfigMap spare: rw (its annotation gitops-windows/type)\n  from apps/base/spare.yaml\n  no entry point builds it\n"
    );
    scratch
        .write(
            "spare/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n",
        )
        .commit();
    let list = scratch.expect(0, &["explain", "spare/kustomization.yaml"]).stdout;
    assert_eq!(list, "It declares no object.\n");
    scratch.expect(2, &["explain", "apps/none"]);
}

#[test]
fn explain_says_who_reads_what_brings_no_object() {
    let scratch = Scratch::fixture("features");
    let told = |path: &str| scratch.expect(0, &["explain", path]).stdout;
    insta::assert_snapshot!(told("apps/prod/merged/merged.conf"), @r"
    apps/prod/merged/merged.conf: no object of its own; it shapes what is built
      in cluster prod, apps/prod
        by Flux Kustomization apps
    ");
    insta::assert_snapshot!(told("apps/base/linked/kustomization.yaml"), @r"
    apps/base/linked/kustomization.yaml: no object of its own; it shapes what is built
      in cluster prod, apps/prod
        by Flux Kustomization apps
    ");
}

#[test]
fn explain_tells_the_objects_of_a_root() {
    let scratch = divided();
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: GitRepository, url: https://example.org/fleet, ref: refs/heads/main, path: clusters/new } }\n";
    let vars = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: vars, namespace: flux-system }\n";
    scratch
        .write("clusters/new/flux-system/flux-instance.yaml", instance)
        .write("clusters/new/vars.yaml", vars)
        .commit();
    let told = scratch.expect(0, &["explain", "clusters/new/vars.yaml"]).stdout;
    insta::assert_snapshot!(told, @r"
    ConfigMap flux-system/vars: rt (its folder bootstraps the cluster, and is never divided)
      from clusters/new/vars.yaml
      in cluster new, clusters/new
        by Flux Kustomization flux-system, at once
    ");
    // What bootstraps a cluster waits for no window, even where every type has one.
    let windowed = scratch.text("windows.yaml").replace("rt: {}", "rt: { window: nights }");
    scratch.write("windows.yaml", windowed).commit();
    let told = scratch.expect(0, &["explain", "clusters/new/vars.yaml"]).stdout;
    assert!(told.contains("by Flux Kustomization flux-system, at once"), "{told}");
}

#[test]
fn a_rule_about_an_app_holds_for_what_it_takes_from_elsewhere() {
    let scratch = Scratch::fixture("features");
    let rules = "rules:\n  - { app: linked, kind: ConfigMap, type: rw }\n  - { type: rt }\n";
    scratch.write("windows.yaml", format!("{}{rules}", scratch.text("windows.yaml"))).commit();
    let text = scratch.expect(0, &["explain", "apps/shared/limits.yaml"]).stdout;
    assert!(text.contains("rw (rule 1 of the spec)"), "{text}");
    assert!(text.contains("app linked"), "{text}");
}

#[test]
fn a_broken_file_in_the_root_of_a_flux_instance_is_told() {
    let scratch = divided();
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: GitRepository, url: https://example.org/fleet, ref: refs/heads/main, path: clusters/new } }\n";
    scratch
        .write("clusters/new/flux-system/flux-instance.yaml", instance)
        .write("clusters/new/more.yaml", "a: [\n")
        .commit();
    let told = scratch.expect(1, &["check"]).stdout;
    assert!(told.contains("error[GW033]: clusters/new/more.yaml is not valid YAML"), "{told}");
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("clusters/new, does not build: "), "{told}");
}

/// A Flux Kustomization of the sample that is gone takes nothing with it where another one has its objects.
#[test]
fn since_a_revision_a_flux_kustomization_left() {
    let scratch = handed_over();
    let file = "clusters/edge-02/flux/apps-rt.yaml";
    let new = scratch.text(file).replace("name: apps-rt", "name: first");
    scratch.write("clusters/edge-02/flux/first.yaml", new);
    scratch.git(&["rm", "--quiet", file]);
    let rw = "clusters/edge-02/flux/apps-rw.yaml";
    scratch.write(rw, scratch.text(rw).replace("interval: 10m", "interval: 10m\n  suspend: true"));
    let run = scratch.expect(0, &["verify", "--base", "HEAD"]);
    insta::assert_snapshot!(run.stdout);
    // What only it applied is lost, and so is it.
    scratch.commit();
    scratch.git(&["rm", "--quiet", "clusters/edge-02/flux/first.yaml"]);
    let run = scratch.expect(5, &["verify", "--base", "HEAD"]);
    insta::assert_snapshot!(run.stdout);
    scratch.git(&["reset", "--quiet", "--hard"]);
    scratch.replace(rw, "interval: 10m", "interval: 20m");
    let run = scratch.expect(1, &["verify", "--base", "HEAD"]);
    assert!(run.stdout.contains("changed: spec.interval from \"10m\" to \"20m\""), "{}", run.stdout);
}

/// Whatever a cluster gets counts, not its apps alone.
#[test]
fn since_a_revision_an_object_of_the_infrastructure_went() {
    let scratch = divided();
    let list = "clusters/edge-01/infra/kustomization.yaml";
    scratch.write(list, "resources: []\n");
    let run = scratch.expect(5, &["verify", "--base", "HEAD"]);
    insta::assert_snapshot!(run.stdout);
}

/// Gates come and go, and no object with them.
#[test]
fn since_a_revision_gates_came_and_went() {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", SPEC).commit();
    scratch.take(&["sync", "--yes"]);
    let run = scratch.expect(0, &["verify", "--base", "HEAD~1"]);
    insta::assert_snapshot!(run.stdout);
    scratch.write("windows.yaml", SPEC.replace(": {}\n  edge", ": { hasGate: false }\n  edge")).commit();
    scratch.take(&["sync", "--allow-deletion", "--yes"]);
    let run = scratch.expect(0, &["verify", "--base", "HEAD~1"]);
    insta::assert_snapshot!(run.stdout);
}

/// A second Flux Kustomization over a folder doubles what stands there, and what is new in it has both as well.
#[test]
fn since_a_revision_a_folder_got_a_second_owner() {
    let scratch = handed_over();
    let rw = "clusters/edge-02/flux/apps-rw.yaml";
    let copy = scratch.text(rw).replace("name: apps-rw", "name: copy");
    scratch.write("clusters/edge-02/flux/copy.yaml", copy);
    let run = scratch.expect(5, &["verify", "--base", "HEAD"]);
    let twice = "is applied by clusters/edge-02/apps/apps-rw and by clusters/edge-02/apps/apps-rw";
    assert!(run.stdout.contains(twice), "{}", run.stdout);
    scratch.commit();
    scratch
        .write("apps/web/web-rw/extra.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: extra\n")
        .replace(
            "apps/web/web-rw/kustomization.yaml",
            "  - service.yaml",
            "  - service.yaml\n  - extra.yaml",
        );
    let run = scratch.expect(1, &["verify", "--base", "HEAD"]);
    assert!(
        run.stdout.contains("Secret web/extra is new in clusters/edge-02/apps/apps-rw"),
        "{}",
        run.stdout
    );
}

/// The source and the root of a cluster as `flux bootstrap` writes them, with a Flux Kustomization `apps` and its folder.
fn bootstrapped() -> Scratch {
    let scratch = Scratch::empty();
    let spec =
        "apiVersion: gitops-windows/v1\ntypes: { rt: {} }\nclusters: { c1: {} }\ngate: { enabled: false }\n";
    scratch
        .write("windows.yaml", spec)
        .write(
            "clusters/c1/flux-system/gotk-sync.yaml",
            format!("{SYNC}---\n{}", flux("flux-system", "clusters/c1", "")),
        )
        .write("clusters/c1/apps.yaml", flux("apps", "apps", ""))
        .write("clusters/c1/kustomization.yaml", "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n")
        .write("apps/kustomization.yaml", "resources: [map.yaml, more.yaml]\n")
        .write("apps/map.yaml", MAP)
        .write("apps/more.yaml", MAP.replace("name: map", "name: more"))
        .commit();
    scratch
}

const SYNC: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: flux-system, namespace: flux-system }
spec: { interval: 1m, url: ssh://git@example.com/a/b, ref: { branch: main } }
";

const MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: { name: map, namespace: web }
data: { a: one }
";

/// A Flux Kustomization with further fields.
fn flux(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\n\
         spec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n{more}"
    )
}

/// Runs `verify --base HEAD`, which must end with this code and say these words.
#[track_caller]
fn since(scratch: &Scratch, code: i32, words: &[&str]) {
    let text = scratch.expect(code, &["verify", "--base", "HEAD"]).stdout;
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}

/// A root that builds a smaller folder prunes what stands in the rest, though nobody says that the rest is no root.
#[test]
fn since_a_revision_the_root_builds_another_folder() {
    let lost = ["Kustomization flux-system/apps is applied by nothing any more"];
    let scratch = bootstrapped();
    let file = "clusters/c1/flux-system/gotk-sync.yaml";
    scratch.replace(file, "path: ./clusters/c1\n", "path: ./clusters/c1/flux-system\n");
    since(&scratch, 5, &lost);
    scratch
        .replace(file, "path: ./clusters/c1/flux-system\n", "path: ./clusters/c1/sub\n")
        .write("clusters/c1/sub/kustomization.yaml", "resources: [../flux-system/gotk-sync.yaml]\n");
    since(&scratch, 5, &lost);
}

/// What Git suspends applies nothing: an object that goes to it is pruned and does not come back.
#[test]
fn since_a_revision_an_object_went_to_a_suspended_one() {
    let lost = ["ConfigMap web/more is applied by nothing any more"];
    let scratch = bootstrapped();
    let list = "clusters/c1/kustomization.yaml";
    scratch
        .write("clusters/c1/other.yaml", flux("other", "other", "  suspend: true\n"))
        .replace(list, "apps.yaml", "apps.yaml, other.yaml")
        .write("other/kustomization.yaml", "resources: [more.yaml]\n")
        .write("other/more.yaml", scratch.text("apps/more.yaml"))
        .replace("apps/kustomization.yaml", ", more.yaml", "");
    since(&scratch, 5, &lost);
    // By one that is not suspended it is applied on.
    scratch.write("clusters/c1/other.yaml", flux("other", "other", ""));
    since(&scratch, 0, &["Kustomization flux-system/other is new, with objects of apps"]);
    // One that comes with a suspended one does not come.
    scratch
        .replace(list, ", other.yaml", ", above.yaml")
        .write("clusters/c1/above.yaml", flux("above", "above", "  suspend: true\n"))
        .write("above/kustomization.yaml", "resources: [other.yaml]\n")
        .write("above/other.yaml", flux("other", "other", ""));
    scratch.git(&["clean", "--quiet", "--force", "clusters/c1/other.yaml"]);
    since(&scratch, 5, &lost);
}

/// What is gone with a suspended one stays in the cluster.
#[test]
fn since_a_revision_a_suspended_one_got_another_name() {
    let scratch = bootstrapped();
    let file = "clusters/c1/apps.yaml";
    scratch.write(file, flux("apps", "apps", "  suspend: true\n")).commit();
    scratch.write(file, flux("first", "apps", "  suspend: true\n"));
    since(&scratch, 0, &["is gone: its objects belong to first"]);
    scratch.git(&["reset", "--quiet", "--hard"]);
    scratch.write(file, flux("apps", "apps", "")).commit();
    scratch.write(file, flux("first", "apps", "  suspend: true\n"));
    since(&scratch, 5, &["ConfigMap web/map is applied by nothing any more"]);
}

/// An object that one of two makes no more is from now on what the other one makes of it.
#[test]
fn since_a_revision_one_of_two_owners_left_an_object() {
    let scratch = bootstrapped();
    scratch
        .write("clusters/c1/other.yaml", flux("other", "other", ""))
        .replace("clusters/c1/kustomization.yaml", "apps.yaml", "apps.yaml, other.yaml")
        .write("other/kustomization.yaml", "resources: [more.yaml]\n")
        .write("other/more.yaml", scratch.text("apps/more.yaml"))
        .commit()
        .replace("apps/kustomization.yaml", ", more.yaml", "");
    since(&scratch, 0, &[]);
    scratch.git(&["reset", "--quiet", "--hard"]);
    scratch.replace("other/more.yaml", "a: one", "a: two").commit();
    scratch.replace("apps/kustomization.yaml", ", more.yaml", "");
    since(&scratch, 1, &["ConfigMap web/more changed: data.a from \"one\" to \"two\""]);
    scratch.git(&["reset", "--quiet", "--hard"]);
    scratch.write("clusters/c1/other.yaml", flux("other", "other", "  suspend: true\n")).commit();
    scratch.replace("apps/kustomization.yaml", ", more.yaml", "");
    since(&scratch, 5, &["ConfigMap web/more is applied by nothing any more"]);
}

/// A Namespace that another cluster's gate has by the same name is none of a gate where that is not.
#[test]
fn since_a_revision_a_namespace_went_that_is_of_a_gate_elsewhere() {
    let scratch = Scratch::fixture("sample");
    let spec = SPEC.replace("edge-02: {}", "edge-02: { hasGate: false }");
    scratch.write("windows.yaml", spec.replace("enabled: false", "enabled: false, namespace: jobs")).commit();
    scratch.take(&["sync", "--yes"]);
    let (list, file) = ("clusters/edge-02/infra/kustomization.yaml", "clusters/edge-02/infra/jobs.yaml");
    let old = scratch.text(list);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: jobs }\n";
    scratch
        .write(file, namespace)
        .write(list, old.replace("resources:\n", "resources:\n  - jobs.yaml\n"))
        .commit();
    scratch.write(list, old);
    since(&scratch, 5, &["Namespace jobs is applied by nothing any more"]);
}

/// That another source is read, and what only the cluster knows of values, is a note only where the objects tell all.
#[test]
fn since_a_revision_a_flux_kustomization_reads_something_else() {
    let scratch = bootstrapped();
    let file = "clusters/c1/apps.yaml";
    let named = |name: &str, what: &str| {
        format!(
            "{SYNC}---\n{}---\n{}",
            flux("flux-system", "clusters/c1", ""),
            SYNC.replace("name: flux-system", &format!("name: {name}")).replace("branch: main", what)
        )
    };
    let sync = "clusters/c1/flux-system/gotk-sync.yaml";
    let source = |kind: &str, name: &str| {
        flux("apps", "apps", "")
            .replace("kind: GitRepository, name: flux-system", &format!("kind: {kind}, name: {name}"))
    };
    // The same repository and branch under another name.
    scratch.write(sync, named("same", "branch: main")).commit();
    scratch.write(file, source("GitRepository", "same"));
    since(&scratch, 0, &["note: Kustomization flux-system/apps changed: spec.sourceRef.name"]);
    // A tag of it.
    scratch.write(sync, named("rel", "tag: v1")).commit().write(file, source("GitRepository", "rel"));
    scratch.commit().write(file, source("GitRepository", "flux-system"));
    since(&scratch, 1, &["  Kustomization flux-system/apps changed: spec.sourceRef.name"]);
    // Sources that Git does not hold.
    for (kind, name) in [("GitRepository", "other"), ("OCIRepository", "other")] {
        scratch.write(file, source("GitRepository", "flux-system")).commit();
        scratch.write(file, source(kind, name));
        since(&scratch, 1, &["  Kustomization flux-system/apps changed: spec.sourceRef"]);
    }
    // Values of a Secret that Git does not hold.
    let from = |name: &str| {
        flux(
            "apps",
            "apps",
            &format!("  postBuild: {{ substituteFrom: [{{ kind: Secret, name: {name} }}] }}\n"),
        )
    };
    scratch.write(file, from("one")).commit();
    for text in [from("two"), flux("apps", "apps", "")] {
        scratch.write(file, text);
        since(&scratch, 1, &["  Kustomization flux-system/apps changed: spec.postBuild"]);
    }
    // Values that Git says.
    scratch.write(file, flux("apps", "apps", "  postBuild: { substitute: { a: b } }\n")).commit();
    scratch.write(file, flux("apps", "apps", "  postBuild: { substitute: { a: c } }\n"));
    since(&scratch, 0, &["note: Kustomization flux-system/apps changed: spec.postBuild"]);
}

/// A folder that a root takes in has no objects of its own: they are those of the root.
#[test]
fn since_a_revision_a_folder_that_a_root_takes_in_is_compared_with_it() {
    let scratch = bootstrapped();
    scratch
        .replace("windows.yaml", "enabled: false", "enabled: false, namespace: flux-system")
        .write("clusters/c1/kustomization.yaml", "resources: [flux-system/gotk-sync.yaml, apps.yaml, web]\n")
        .write("clusters/c1/web/kustomization.yaml", "resources: [map.yaml]\n")
        .write("clusters/c1/web/map.yaml", MAP.replace("name: map", "name: web"))
        .commit();
    insta::assert_snapshot!(scratch.expect(0, &["verify", "--base", "HEAD"]).stdout);
}

/// kustomize-controller lets kustomize name the file of each object where a list has no `resources`.
#[test]
fn since_a_revision_the_file_moved_that_an_annotation_names() {
    let part = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [map.yaml]\n";
    let scratch = bootstrapped();
    scratch
        .write("apps/kustomization.yaml", "components: [../parts]\n")
        .write("parts/kustomization.yaml", part)
        .write("parts/map.yaml", MAP)
        .commit();
    scratch
        .write("apps/kustomization.yaml", "components: [../pieces]\n")
        .write("pieces/kustomization.yaml", part)
        .write("pieces/map.yaml", MAP);
    insta::assert_snapshot!(scratch.expect(0, &["verify", "--base", "HEAD"]).stdout);
}

/// What a root lists and can't be read keeps all that it applies from the cluster.
#[test]
fn a_root_that_does_not_build_is_told() {
    let scratch = bootstrapped();
    scratch
        .write(
            "clusters/c1/kustomization.yaml",
            "resources: [flux-system/gotk-sync.yaml, apps.yaml, web.yaml]\n",
        )
        .write("clusters/c1/web.yaml", "<<<<<<< HEAD\nkind: ConfigMap\n=======\n")
        .commit();
    let told = scratch.expect(3, &["verify"]).stdout;
    assert!(told.contains("clusters/c1 does not build"), "{told}");
    assert!(!told.contains("All is well"), "{told}");
}
