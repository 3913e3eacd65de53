//! The questions never disagree about who applies an object and what it waits for, and `clusters` as a whole.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may fail and speak")]

#[path = "support/agree.rs"]
mod agree;
mod common;
mod support;

use std::path::Path;

use agree::disagreements;
use common::Copy;
use gitops_windows::check::Subject;
use gitops_windows::delivery::{Hold, Known, Model};
use gitops_windows::path::RepoPath;
use gitops_windows::render::Embedded;
use gitops_windows::repo::Snapshot;
use support::scratch::{Scratch, WINDOW};
use support::{corpus, flux_kustomization, path, read, side_by_side, snapshot};

/// Asks about the files of a folder, with its spec at the top.
fn ask(top: &Path, renderer: &Embedded, when: &str, wrong: &mut Vec<String>) {
    let found = disagreements(&read(top), &RepoPath::top(), renderer);
    wrong.extend(found.into_iter().map(|one| format!("{when}: {one}")));
}

#[test]
fn invariant_10_the_questions_agree_about_the_fixtures() {
    let fixtures = ["adopted", "features", "overlays", "per-app", "record", "sample"];
    let wrong = side_by_side(&fixtures, |fixture| {
        let (scratch, mut wrong) = (Scratch::fixture(fixture), Vec::new());
        let renderer = Embedded::default();
        ask(scratch.top(), &renderer, &format!("{fixture} as it is"), &mut wrong);
        if !scratch.top().join("windows.yaml").exists() {
            let own = if *fixture == "adopted" { &[][..] } else { &WINDOW[..] };
            scratch.take(&[&["init", "--yes"], own].concat());
            ask(scratch.top(), &renderer, &format!("{fixture} after init"), &mut wrong);
        }
        scratch.take(&["sync", "--yes"]);
        scratch.take(&["split", "--all", "--yes"]);
        ask(scratch.top(), &renderer, &format!("{fixture} after split"), &mut wrong);
        for step in ["hand-over", "finish"] {
            if scratch.run(&["migrate", "--yes"]).code == 0 {
                scratch.commit();
                ask(scratch.top(), &renderer, &format!("{fixture} after the {step}"), &mut wrong);
            } else {
                eprintln!("{fixture}: no {step}");
            }
        }
        let spec = std::fs::read_to_string(scratch.top().join("windows.yaml")).unwrap();
        let table = "\ngate:\n  every: 5m\n  through: 2027-12-31\n";
        scratch.write("windows.yaml", spec.replacen("\ngate:\n", table, 1));
        // A gate that is its authors' gets no table.
        if scratch.run(&["sync", "--yes", "--allow-dirty"]).code == 0 {
            ask(scratch.top(), &renderer, &format!("{fixture} with a table"), &mut wrong);
        } else {
            eprintln!("{fixture}: no table");
        }
        wrong
    });
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invariant_10_the_questions_agree_about_real_repositories() {
    let wrong = side_by_side(&corpus(), |origin| {
        let name = origin.file_name().unwrap().to_string_lossy().into_owned();
        let (copy, mut wrong) = (Copy::bare(origin), Vec::new());
        let renderer = Embedded::default();
        ask(copy.top(), &renderer, &format!("{name} as it is"), &mut wrong);
        for step in [&[&["init", "--yes"], &WINDOW[..]].concat(), &["split", "--all", "--yes"][..]] {
            let output = copy.run(step);
            if !output.status.success() {
                eprintln!("{name}, {}: {}", step[0], String::from_utf8_lossy(&output.stderr));
                break;
            }
            copy.commit();
            ask(copy.top(), &renderer, &format!("{name} after {}", step[0]), &mut wrong);
        }
        wrong
    });
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `clusters` prints, for people and for programs.
fn clusters(scratch: &Scratch) -> String {
    let told = scratch.expect(0, &["clusters"]).stdout;
    let json = scratch.expect(0, &["clusters", "--format", "json"]).stdout;
    format!("{told}\n{json}")
}

#[test]
fn clusters_of_the_sample_before_init() {
    insta::assert_snapshot!(clusters(&Scratch::fixture("sample")));
}

#[test]
fn clusters_of_the_sample_after_init() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"], &WINDOW[..]].concat());
    insta::assert_snapshot!(clusters(&scratch));
}

#[test]
fn clusters_of_the_sample_after_split() {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"], &WINDOW[..]].concat());
    scratch.take(&["split", "--all", "--yes"]);
    insta::assert_snapshot!(clusters(&scratch));
}

#[test]
fn clusters_of_a_repository_without_flux_kustomizations() {
    let scratch = Scratch::fixture("sample");
    scratch.git(&["rm", "-r", "--quiet", "clusters/edge-01/flux", "clusters/edge-02/flux"]);
    insta::assert_snapshot!(clusters(&scratch));
}

/// A CronJob that suspends or resumes two Flux Kustomizations.
fn job(verb: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {verb}, namespace: flux-system }}\nspec:\n  schedule: 0 4 * * *\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n          - name: {verb}\n            image: ghcr.io/fluxcd/flux-cli:v2.9.4\n            command: [/bin/sh, -c, \"flux {verb} kustomization apps c-rt -n flux-system\"]\n"
    )
}

/// Holds that the questions agree about a tree, and returns what `clusters` says of it.
fn agreed(tree: &Snapshot) -> String {
    let renderer = Embedded::default();
    let found = disagreements(tree, &RepoPath::top(), &renderer);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let spec = gitops_windows::spec::read(tree, &path("windows.yaml")).unwrap().spec;
    let model = Model::read(tree, &RepoPath::top(), &Known::of(&spec), &renderer);
    gitops_windows::clusters::text(&model, Some(&spec), true)
}

#[test]
fn a_gate_holds_back_in_the_clusters_that_get_it() {
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\n");
    let flux = |name: &str, path: &str| flux_kustomization(name, path, "");
    let tree = snapshot(&[
        ("windows.yaml", &format!("{SPEC_OF_TYPES}clusters: {{ a: {{}}, b: {{}}, c: {{}} }}\n")),
        ("clusters/a/apps.yaml", &flux("apps", "apps/a")),
        ("clusters/a/infra.yaml", &flux("infra", "infra")),
        ("clusters/b/apps.yaml", &flux("apps", "apps/b")),
        ("clusters/c/infra.yaml", &flux("infra", "infra")),
        ("clusters/c/rt.yaml", &flux("c-rt", "apps/c/c-rt")),
        ("clusters/c/rw.yaml", &flux("c-rw", "apps/c/c-rw")),
        ("apps/a/map.yaml", &map("a")),
        ("apps/b/map.yaml", &map("b")),
        ("apps/c/c-rt/kustomization.yaml", "resources: [map.yaml]\n"),
        ("apps/c/c-rt/map.yaml", &map("c")),
        ("apps/c/c-rw/kustomization.yaml", "resources: [account.yaml]\n"),
        ("apps/c/c-rw/account.yaml", &map("c").replace("ConfigMap", "ServiceAccount")),
        ("infra/kustomization.yaml", "resources: [suspend.yaml, resume.yaml]\n"),
        ("infra/suspend.yaml", &job("suspend")),
        ("infra/resume.yaml", &job("resume")),
    ]);
    insta::assert_snapshot!(agreed(&tree), @r"
    a  root clusters/a (proposed: nothing in Git names it)
      flux-system/apps   apps/a, gated by rw
      flux-system/infra  infra
    b  root clusters/b (proposed: nothing in Git names it)
      flux-system/apps  apps/b
    c  root clusters/c (proposed: nothing in Git names it)
      flux-system/infra  infra
      flux-system/c-rt   apps/c/c-rt, gated by suspend
      flux-system/c-rw   apps/c/c-rw
    Gated: its changes wait for a window.
    ");
}

/// What only a suspended one brings, or one that does not build, is perhaps not in the cluster, and says so everywhere.
#[test]
fn invariant_10_the_questions_agree_about_what_is_perhaps_not_there() {
    let map =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: a }}\n");
    let flux = |name: &str, more: &str| flux_kustomization(name, name, more);
    let all = [flux("root", ""), flux("off", "  suspend: true\n"), flux("torn", "")];
    let tree = snapshot(&[
        ("windows.yaml", &format!("{SPEC_OF_TYPES}clusters: {{ root: {{}} }}\n")),
        ("root/flux.yaml", &all.join("---\n")),
        ("off/apps.yaml", &flux("apps", "")),
        (
            "torn/kustomization.yaml",
            "resources:\n<<<<<<< HEAD\n- db.yaml\n=======\n- web.yaml\n>>>>>>> other\n",
        ),
        ("torn/db.yaml", &flux("db", "")),
        ("torn/web.yaml", &flux("web", "")),
        ("apps/map.yaml", &map("apps")),
        ("db/map.yaml", &map("db")),
        ("web/map.yaml", &map("web")),
    ]);
    insta::assert_snapshot!(agreed(&tree), @r"
    root  root root
      flux-system/root  root
      flux-system/off   off, suspended in Git
      flux-system/torn  torn, does not build: error converting YAML to JSON: yaml: line 3: could not find expected ':'
      flux-system/apps  apps, perhaps not in the cluster: Git suspends off, which brings it
      flux-system/db    db, perhaps not in the cluster: torn, which brings it, does not build
      flux-system/web   web, perhaps not in the cluster: torn, which brings it, does not build
    ");
}

/// A Deployment that runs with a ConfigMap of another folder.
const RUNS: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web, namespace: web }\nspec:\n  selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    spec:\n      containers: [{ name: web, image: nginx:1, envFrom: [{ configMapRef: { name: content } }] }]\n";

/// What gates hold back is what each cluster's build makes of them.
#[test]
fn invariant_10_the_questions_agree_about_gates_that_clusters_change() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: content, namespace: web }\n";
    let flux = |name: &str, path: &str| flux_kustomization(name, path, "");
    let only = |name: &str| {
        format!(
            "patches:\n- target: {{ kind: CronJob, name: suspend }}\n  patch: |\n    - {{ op: replace, path: /spec/jobTemplate/spec/template/spec/containers/0/command/2, value: flux suspend kustomization {name} }}\n"
        )
    };
    let off = "patches:\n- target: { kind: CronJob }\n  patch: |\n    - { op: add, path: /spec/suspend, value: true }\n";
    let lists = |more: &str| format!("resources: [../../jobs]\n{more}");
    let nameless = flux("free", "apps/free").replace(", namespace: flux-system", "");
    let tree = snapshot(&[
        ("jobs/kustomization.yaml", "resources: [suspend.yaml, resume.yaml]\n"),
        ("jobs/suspend.yaml", &job("suspend").replace("apps c-rt", "apps free")),
        ("jobs/resume.yaml", &job("resume").replace("apps c-rt", "apps free")),
        ("gates/all/kustomization.yaml", &lists("")),
        ("gates/fewer/kustomization.yaml", &lists(&only("infra"))),
        ("gates/free/kustomization.yaml", &lists(&only("free"))),
        ("gates/off/kustomization.yaml", &lists(off)),
        (
            "clusters/all/flux.yaml",
            &format!("{}---\n{}---\n{nameless}", flux("apps", "apps/web"), flux("gate", "gates/all")),
        ),
        (
            "clusters/fewer/flux.yaml",
            &format!("{}---\n{}", flux("apps", "apps/web"), flux("gate", "gates/fewer")),
        ),
        (
            "clusters/off/flux.yaml",
            &format!("{}---\n{}", flux("apps", "apps/web"), flux("gate", "gates/off")),
        ),
        (
            "clusters/unfed/flux.yaml",
            &format!(
                "{}---\n{}",
                flux("apps", "apps/web"),
                flux_kustomization("gate", "gates/all", "  suspend: true\n")
            ),
        ),
        (
            "clusters/still/flux.yaml",
            &format!(
                "{}---\n{}---\n{}",
                flux_kustomization("apps", "apps/web", "  suspend: true\n"),
                flux("free", "apps/free"),
                flux("gate", "gates/free")
            ),
        ),
        ("apps/web/map.yaml", RUNS),
        ("apps/free/map.yaml", map),
    ]);
    let renderer = Embedded::default();
    let found = disagreements(&tree, &RepoPath::top(), &renderer);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let model = Model::read(&tree, &RepoPath::top(), &Known::default(), &renderer);
    insta::assert_snapshot!(gitops_windows::clusters::text(&model, None, true), @r"
    all  root clusters/all (proposed: nothing in Git names it)
      flux-system/apps  apps/web, gated by suspend
      flux-system/gate  gates/all
      /free             apps/free, gated by suspend
    fewer  root clusters/fewer (proposed: nothing in Git names it)
      flux-system/apps  apps/web
      flux-system/gate  gates/fewer
    off  root clusters/off (proposed: nothing in Git names it)
      flux-system/apps  apps/web
      flux-system/gate  gates/off
    still  root clusters/still (proposed: nothing in Git names it)
      flux-system/apps  apps/web, suspended in Git
      flux-system/free  apps/free, gated by suspend
      flux-system/gate  gates/free
    unfed  root clusters/unfed (proposed: nothing in Git names it)
      flux-system/apps  apps/web, gated by suspend, nothing new of its gate arrives
      flux-system/gate  gates/all, suspended in Git
    Gated: its changes wait for a window.
    ");
    // What Git suspends runs nothing that could lack what waits for a window.
    let subject = Subject::new(&tree, &model, None, &renderer);
    let still: Vec<(&str, Option<Hold>)> = subject
        .deliveries
        .iter()
        .filter(|one| one.cluster.name == "still")
        .map(|one| (one.name.as_str(), one.held.clone()))
        .collect();
    assert!(still.contains(&("apps", Some(Hold::Suspended))), "{still:?}");
    let findings = gitops_windows::check::audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap());
    let told: Vec<&str> = findings.iter().map(|one| one.message.as_str()).collect();
    assert!(!told.iter().any(|told| told.contains("needs ConfigMap")), "{told:#?}");
}

/// A spec without its clusters.
const SPEC_OF_TYPES: &str = "apiVersion: gitops-windows/v1\ntypes: { rt: {}, rw: { window: nights } }\nwindows: { nights: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN } }\n";
