//! What `when` says of gates that close nothing, or something else than the spec says.

use serde_json::Value;

use super::when::{line, lines};
use super::{Repository, SPEC, flux, job, job_at};

#[test]
fn a_gate_without_jobs_closes_nothing() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/close.yaml", &job("close", true, "other"));
    repository.write("infra/reconciliation-windows/open.yaml", &job("open", false, "other"));
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(lines(&answer)[1], line("edge-01", "rw", "apps-rw", true, "no-job"));
    assert_eq!(answer["lines"][1]["windowOpen"], false);
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(
        text.contains("at once (not gated)") && text.contains("Nothing closes outside of the windows."),
        "{text}"
    );
}

/// Between the hand-over and the last step the jobs do not run yet, and `sync` is not what comes next.
#[test]
fn what_is_handed_over_and_not_finished_is_told_to_go_on() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/kustomization.yaml", OFF);
    let own = flux("apps-rw", "clusters/edge-01/apps/apps-rw");
    let own = own.replace("  prune: true\n", "  prune: false # gitops-windows: was true\n");
    assert!(own.contains("was true"), "{own}");
    repository.write("clusters/edge-01/apps-rw.yaml", &own);
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(
        text.contains("edge-01: entry point clusters/edge-01/apps is handed over but not finished"),
        "{text}"
    );
    assert!(text.contains("`gitops-windows migrate`, which finishes it") && !text.contains("sync"), "{text}");
}

/// The list of a gate whose jobs are suspended.
const OFF: &str = "resources: [open.yaml, close.yaml]\npatches:\n- target: { kind: CronJob }\n  patch: |\n    - { op: add, path: /spec/suspend, value: true }\n";

#[test]
fn a_gate_that_is_off_closes_nothing() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/kustomization.yaml", OFF);
    repository.write("windows.yaml", &SPEC.replace("edge-01: {}", "edge-01: { gate: { enabled: false } }"));
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(text.contains("at once (gate off)\n      would open   Mon 2026-11-23 08:00"), "{text}");
}

/// The parts stand and the old Flux Kustomization goes on applying them all.
#[test]
fn what_is_split_and_not_handed_over_is_said() {
    let repository = Repository::fleet();
    for side in ["rt", "rw"] {
        let list = format!("resources: [../../../../apps/nginx/nginx-{side}]\n");
        repository.write(&format!("clusters/edge-02/apps/apps-{side}/kustomization.yaml"), &list);
    }
    let answer = repository.json(&["when", "--cluster", "edge-02", "--format", "json"]);
    assert_eq!(
        lines(&answer),
        [
            line("edge-02", "-", "apps", true, "none"),
            line("edge-02", "rt", "apps-rt", true, "not-handed-over"),
            line("edge-02", "rw", "apps-rw", true, "not-handed-over"),
        ]
    );
    let text = repository.stdout(&["when", "--cluster", "edge-02"]);
    assert_eq!(text.matches("split, not handed over").count(), 2, "{text}");
    assert!(text.contains("Its old Flux Kustomization still applies"), "{text}");
}

/// A root that a FluxInstance makes has the name that it gives, and one of which Git says nothing has none.
#[test]
fn what_applies_a_root_has_no_made_up_name() {
    let repository = Repository::fleet();
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: GitRepository, url: 'https://example.org/fleet', path: clusters/edge-02 } }\n";
    let told = || repository.stdout(&["when", "--cluster", "edge-02"]);
    repository.write("clusters/edge-02/more/kustomization.yaml", "resources: [../../../apps/nginx]\n");
    let unsaid = told();
    assert!(unsaid.contains("the Flux Kustomization of clusters/edge-02/more (not in Git)"), "{unsaid}");
    assert!(!unsaid.contains("more-rw"), "{unsaid}");
    repository.write("bootstrap/instance.yaml", instance);
    let said = told();
    assert!(said.contains("apps, flux-system: ") || said.contains("flux-system: "), "{said}");
    assert!(!said.contains("not in Git"), "{said}");
}

/// Gates over Flux Kustomizations that were made in the cluster, and a list of parts that nobody applies.
#[test]
fn a_gate_over_what_is_not_in_git_closes() {
    let repository = Repository::fleet();
    for side in ["rt", "rw"] {
        std::fs::remove_file(repository.path().join(format!("clusters/edge-01/apps-{side}.yaml"))).unwrap();
    }
    repository.write("clusters/edge-01/apps/kustomization.yaml", "resources: [apps-rt, apps-rw]\n");
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(
        lines(&answer),
        [line("edge-01", "rt", "apps-rt", true, "none"), line("edge-01", "rw", "apps-rw", false, "unseen"),]
    );
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(text.contains("apps-rw (not in Git): closed"), "{text}");
}

#[test]
fn a_job_that_git_suspends_closes_nothing() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/kustomization.yaml", OFF);
    let gate = || {
        let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
        answer["lines"][1]["gate"].as_str().unwrap().to_owned()
    };
    assert_eq!(gate(), "no-job");
    // Whatever the spec wants, what stands in Git counts.
    let off = SPEC.replace("edge-01: {}", "edge-01: { gate: { enabled: false } }");
    repository.write("windows.yaml", &off);
    assert_eq!(gate(), "off");
    repository
        .write("infra/reconciliation-windows/kustomization.yaml", "resources: [open.yaml, close.yaml]\n");
    assert_eq!(gate(), "closes");
}

/// Flux then applies and deletes nothing, so what the cluster has runs on.
#[test]
fn a_gate_that_does_not_build_runs_on() {
    let repository = Repository::fleet();
    let list = "resources: [open.yaml, close.yaml, missing.yaml]\n";
    repository.write("infra/reconciliation-windows/kustomization.yaml", list);
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(answer["lines"][1]["gate"], "closes");
    let kinds: Vec<&Value> = answer["notes"].as_array().unwrap().iter().map(|note| &note["kind"]).collect();
    assert!(kinds.contains(&&Value::from("gate-not-built")), "{kinds:?}");
    let text = repository.stdout(&["explain", "clusters/edge-01/apps/apps-rw"]);
    assert!(!text.contains("at once"), "{text}");
}

#[test]
fn what_waits_for_a_window_and_does_not_build_lands_never() {
    let repository = Repository::fleet();
    repository.write("apps/nginx/nginx-rw/deployment.yaml", "<<<<<<< HEAD\nkind: Deployment\n=======\n");
    let answer = repository.json(&["when", "--format", "json"]);
    let lines = answer["lines"].as_array().unwrap().iter();
    let reasons: Vec<(&Value, &Value)> =
        lines.map(|line| (&line["kustomization"]["name"], &line["reason"])).collect();
    insta::assert_debug_snapshot!(reasons);
    let kinds: Vec<&Value> = answer["notes"].as_array().unwrap().iter().map(|note| &note["kind"]).collect();
    assert!(kinds.contains(&&Value::from("not-built")), "{kinds:?}");
    // What depends on it waits for it, and `clusters` says why too.
    let apps = std::fs::read_to_string(repository.path().join("clusters/edge-01/apps-rt.yaml")).unwrap();
    let apps = apps.replace("spec:\n", "spec:\n  dependsOn: [{ name: apps-rw }]\n");
    repository.write("clusters/edge-01/apps-rt.yaml", &apps);
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    insta::assert_snapshot!(text.lines().take(4).collect::<Vec<_>>().join("\n"));
    let text = repository.stdout(&["clusters"]);
    assert!(text.contains("does not build: "), "{text}");
}

#[test]
fn what_git_resumes_no_window_closes() {
    let repository = Repository::fleet();
    let file = "clusters/edge-01/apps-rw.yaml";
    let apps = std::fs::read_to_string(repository.path().join(file)).unwrap();
    repository.write(file, &apps.replace("spec:\n", "spec:\n  suspend: false\n"));
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(lines(&answer)[1], line("edge-01", "rw", "apps-rw", true, "resumed"));
    assert_eq!(answer["notes"][0]["kind"], "resumed", "{answer}");
    let clusters = repository.json(&["clusters", "--format", "json"]);
    let found = clusters["clusters"][0]["kustomizations"].as_array().unwrap().clone();
    let held: Vec<&Value> = found.iter().filter(|one| !one["gated"].is_null()).collect();
    assert!(held.is_empty(), "{held:?}");
    let explained = repository.stdout(&["explain", "apps/nginx/nginx-rw/deployment.yaml"]);
    assert!(explained.contains("apps-rw: no gate holds it"), "{explained}");
    // Nobody resumes it where what applies it is suspended too.
    let root = flux("flux-system", "clusters/edge-01").replace("spec:\n", "spec:\n  suspend: true\n");
    repository.write("clusters/edge-01/flux-system.yaml", &root);
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let of_apps = lines(&answer).into_iter().find(|line| line.2 == "apps-rw").unwrap();
    assert_eq!(of_apps.4, "closes");
    let explained = repository.stdout(&["explain", "apps/nginx/nginx-rw/deployment.yaml"]);
    assert!(!explained.contains("apps-rw: no gate holds it"), "{explained}");
}

#[test]
fn an_entry_point_of_two_clusters_is_told_for_both() {
    let repository = Repository::fleet();
    repository.write("shared/kustomization.yaml", "resources: [../apps/nginx]\n");
    for cluster in ["edge-01", "edge-02"] {
        repository.write(&format!("clusters/{cluster}/shared.yaml"), &flux("shared", "shared"));
    }
    for cluster in ["edge-01", "edge-02"] {
        let answer = repository.json(&["when", "shared", "--cluster", cluster, "--format", "json"]);
        assert_eq!(lines(&answer), [line(cluster, "-", "shared", true, "none")]);
    }
}

#[test]
fn a_gate_on_what_was_not_split_closes_all_of_it() {
    let repository = Repository::fleet();
    let zone = "America/New_York";
    let (open, close) = (("0 20 * * TUE", zone), ("0 2 * * WED", zone));
    repository.write("infra/reconciliation-windows/close.yaml", &job_at("close", true, "apps", close));
    repository.write("infra/reconciliation-windows/open.yaml", &job_at("open", false, "apps", open));
    repository.write("clusters/edge-02/infra.yaml", &flux("infra", "infra/reconciliation-windows"));
    // The job names it only now, so nothing has closed it yet, and the calendar says so too.
    let week = ["calendar", "--from", "2026-11-23", "--cluster", "edge-02"];
    let told = repository.stdout(&week);
    assert!(told.contains("rw (open until the first closing, "), "{told}");
    repository.commit("2026-01-05T13:00:00Z");
    assert!(!repository.stdout(&week).contains("until the first closing"));
    let asked = ["when", "--cluster", "edge-02", "--format", "json"];
    let answer = repository.json(&asked);
    assert_eq!(lines(&answer), [line("edge-02", "-", "apps", false, "closes")]);
    assert_eq!(answer["lines"][0]["nextOpen"]["cluster"], "2026-11-24T20:00:00-05:00");
    // Among several types it waits for that of the job, which has the name that the spec gives.
    repository.write(
        "windows.yaml",
        &SPEC.replace("windows:\n  work", "  other: { window: work-week }\nwindows:\n  work"),
    );
    let answer = repository.json(&asked);
    assert_eq!(lines(&answer), [line("edge-02", "-", "apps", false, "closes")]);
    let told = repository.stdout(&week);
    assert!(told.contains("rw  edge-02"), "{told}");
    // By which it waits for a job of another name is not guessed at: its own CronJobs say when it opens.
    for (name, suspend, at) in [("close", true, close), ("open", false, open)] {
        let text = job_at(name, suspend, "apps", at).replace("reconciliation-window", "nights");
        repository.write(&format!("infra/reconciliation-windows/{name}.yaml"), &text);
    }
    repository.commit("2026-01-05T14:00:00Z");
    let answer = repository.json(&asked);
    assert_eq!(answer["lines"][0]["gate"], "foreign");
    assert_eq!(answer["lines"][0]["reaches"]["cluster"], "2026-11-24T20:00:00-05:00");
    assert_eq!(answer["lines"][0]["open"], Value::Bool(false));
}

#[test]
fn a_suspension_in_git_is_said() {
    let repository = Repository::fleet();
    let suspended = format!("{}  suspend: true\n", flux("apps-rt", "clusters/edge-01/apps/apps-rt"));
    repository.write("clusters/edge-01/apps-rt.yaml", &suspended);
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(
        (&answer["lines"][0]["open"], &answer["lines"][0]["reaches"]),
        (&Value::Bool(false), &Value::Null)
    );
    assert!(repository.stdout(&["when", "--cluster", "edge-01"]).contains("suspended"));
}

/// It said that nothing of the cluster lands.
#[test]
fn what_only_a_root_applies_lands_at_once() {
    let sync = flux("flux-system", "clusters/one");
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 1m, url: 'https://example.org/fleet' }\n---\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: shop }\n";
    let spec = SPEC.replace("clusters:\n", "clusters:\n  one: {}\n");
    let repository = Repository::new(&[
        ("windows.yaml", &spec),
        ("clusters/one/flux-system/gotk-sync.yaml", &format!("{source}{sync}")),
        ("clusters/one/web.yaml", service),
    ]);
    insta::assert_snapshot!(repository.stdout(&["when", "--cluster", "one"]));
    let answer = repository.json(&["when", "--cluster", "one", "--format", "json"]);
    assert_eq!(answer["notes"][0]["kind"], "root-only");
    // One of which nothing stands here is told as before.
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let is_it = |note: &Value| note["kind"] == "no-entry-point";
    assert!(answer["notes"].as_array().unwrap().iter().any(is_it), "{answer:#}");
}

#[test]
fn a_gate_that_only_closes_never_opens() {
    let repository = Repository::fleet();
    let open =
        job("open", false, "apps-rw").replace("spec:\n  schedule", "spec:\n  suspend: true\n  schedule");
    repository.write("infra/reconciliation-windows/open.yaml", &open);
    insta::assert_snapshot!(repository.stdout(&["when", "--cluster", "edge-01"]));
}

/// A job that names all of a namespace turns the same switch as one that names a Flux Kustomization.
#[test]
fn jobs_of_another_list_close_the_same() {
    let repository = Repository::fleet();
    let list = "resources: [open.yaml, close.yaml, all.yaml]\n";
    repository.write("infra/reconciliation-windows/kustomization.yaml", list);
    let all = job_at("all", true, "apps-rw", ("0 12 * * WED", "Europe/Berlin"));
    let (before, _) = all.split_once("command:").unwrap();
    let command = "command: [flux, suspend, kustomization, --all, --namespace=flux-system]\n";
    repository.write("infra/reconciliation-windows/all.yaml", &format!("{before}{command}"));
    insta::assert_snapshot!(repository.stdout(&[
        "when",
        "--cluster",
        "edge-01",
        "--at",
        "2026-11-24T12:00:00Z"
    ]));
}
