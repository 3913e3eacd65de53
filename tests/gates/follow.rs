//! Gates that hold a source: what is written, and what is said of it.

use serde_json::{Value, json};

use super::{permissions, rendered, scaffold};
use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

pub const INFRA: &str = "clusters/edge-01/infra";
const FLUX: &str = "clusters/edge-01/flux";

/// Adds what `flux bootstrap` writes.
pub fn bootstrapped() -> Scratch {
    let scratch = scaffold();
    for cluster in ["edge-01", "edge-02"] {
        let text = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
            metadata: { name: flux-system, namespace: flux-system }\n\
            spec:\n  interval: 1m0s\n  ref: { branch: main }\n  secretRef: { name: flux-system }\n  \
            url: ssh://git@github.com/acme/fleet\n---\n\
            apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
            metadata: { name: flux-system, namespace: flux-system }\n\
            spec:\n  interval: 10m0s\n  path: ./clusters/CLUSTER/flux\n  prune: true\n  \
            sourceRef: { kind: GitRepository, name: flux-system }\n";
        scratch.write(&format!("clusters/{cluster}/flux/gotk-sync.yaml"), text.replace("CLUSTER", cluster));
    }
    scratch.commit();
    scratch
}

/// Asks for a gate that follows.
pub fn asked(scratch: &Scratch) {
    let gate = "gate:\n  mechanism: follow\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n";
    scratch.replace("windows.yaml", "gate:\n", gate);
    scratch.commit();
}

pub fn following() -> Scratch {
    let scratch = bootstrapped();
    asked(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch
}

fn object(objects: &[Value], kind: &str, name: &str) -> Value {
    let is_it = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap().clone()
}

pub fn container(objects: &[Value]) -> Value {
    let job = object(objects, "CronJob", "follow-reconciliation-window");
    job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0].clone()
}

#[test]
fn what_is_gated_reads_a_source_of_its_own() {
    let scratch = following();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let objects = rendered(&scratch, INFRA);
    let source = object(&objects, "GitRepository", "flux-system-rw");
    assert_eq!(
        source["spec"],
        json!({
            "interval": "24h",
            "ref": { "branch": "main", "tag": "held..until-the-first-tick" },
            "secretRef": { "name": "flux-system" },
            "url": "ssh://git@github.com/acme/fleet",
        })
    );
    assert_eq!(
        permissions(&objects),
        [
            "source.toolkit.fluxcd.io gitrepositories [flux-system,flux-system-rw] get",
            "source.toolkit.fluxcd.io gitrepositories [flux-system-rw] patch",
            "kustomize.toolkit.fluxcd.io kustomizations [apps-rw] get",
            " events [] create",
        ]
        .map(|rule| format!("ServiceAccount jobs/reconciliation-window in flux-system: {rule}"))
        .into_iter()
        .chain(["ServiceAccount jobs/reconciliation-window in jobs:  configmaps [flux-system-rw] get,patch"
            .to_owned()])
        .collect::<Vec<_>>()
    );
    let gated = scratch.text(&format!("{FLUX}/apps-rw.yaml"));
    for line in ["    name: flux-system-rw", "  deletionPolicy: Orphan", "  suspend: false"] {
        assert!(gated.lines().any(|own| own == line), "{line}: {gated}");
    }
    assert!(!scratch.text(&format!("{FLUX}/apps-rt.yaml")).contains("flux-system-rw"));
    let jobs = objects.iter().filter(|one| one["kind"] == "CronJob").count();
    assert_eq!(jobs, 1, "the jobs that suspend are gone with the same commit");
    assert_eq!(scratch.run(&["verify"]).code, 0);
}

/// Lets a side bring a Flux Kustomization of a Service, and returns the manifest of that.
fn bring_inner(scratch: &Scratch) -> &'static str {
    let list = "clusters/edge-01/apps/apps-rw/kustomization.yaml";
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: inner, namespace: nginx }\n";
    scratch.write("apps/inner/kustomization.yaml", "resources: [service.yaml]\n");
    scratch.write("apps/inner/service.yaml", service);
    scratch.write("clusters/edge-01/apps/apps-rw/inner.yaml", flux_kustomization("inner", "apps/inner", ""));
    scratch.write(list, scratch.text(list) + "  - inner.yaml\n");
    service
}

/// A live side may hold Flux Kustomizations that are gated themselves. What it brings lands at its opening, and the jobs
/// that suspended them go at once.
#[test]
fn what_a_side_applies_begins_to_read_a_held_source_in_an_open_window() {
    let scratch = bootstrapped();
    bring_inner(&scratch);
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    asked(&scratch);
    let told = scratch.expect(5, &["sync", "--yes"]).stderr;
    let words = "inner of cluster edge-01 will read GitRepository flux-system-rw once gated apps-rw has applied that. \
                 Until the opening nothing makes it wait";
    assert!(told.contains(words), "{told}");
    assert!(told.contains("`gitops-windows sync --while-open` writes it"), "{told}");
    // An edit that needs no window takes no gate away.
    scratch.take(&["windows", "set", "saturday", "--close", "0 5 * * SUN", "--yes"]);
    assert!(scratch.text(&format!("{INFRA}/reconciliation-windows/kustomization.yaml")).contains("close"));
    scratch.git(&["checkout", "--quiet", "."]);
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    let held = object(&rendered(&scratch, "clusters/edge-01/apps/apps-rw"), "Kustomization", "inner");
    assert_eq!(held["spec"]["sourceRef"]["name"], "flux-system-rw");
}

/// Merged while closed all the same, such a move is in Git at once, and in the cluster only from the opening on.
#[test]
fn what_a_gated_one_brings_is_not_held_before_the_opening() {
    let scratch = following();
    let service = bring_inner(&scratch);
    let at = |date: &str| {
        scratch.git(&["add", "--all"]);
        scratch.git_at(date, &["commit", "--quiet", "--message", "a state"]);
    };
    scratch.git(&["checkout", "--quiet", "--orphan", "dated"]);
    at("2026-11-20T10:00:00Z");
    scratch.expect(5, &["sync", "--yes"]);
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    at("2026-11-23T10:00:00Z");
    let inner = |now: &str| {
        let told =
            scratch.expect(0, &["when", "--now", now, "--cluster", "edge-01", "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        let lines = told["lines"].as_array().unwrap();
        let line = lines.iter().find(|line| line["kustomization"]["name"] == "inner").unwrap().clone();
        let notes = told["notes"].as_array().unwrap().iter();
        let is_told = notes.filter(|note| note["kind"] == "held-later").count() == 1;
        (line["open"] == true, line["nextClose"]["utc"].as_str().unwrap().to_owned(), is_told)
    };
    assert_eq!(inner("2026-11-24T10:00:00Z"), (true, "2026-11-29T03:00:00Z".to_owned(), true));
    assert_eq!(inner("2026-11-30T10:00:00Z"), (false, "2026-12-06T03:00:00Z".to_owned(), false));
    let told = scratch.expect(0, &["explain", "apps/inner"]).stdout;
    assert!(told.contains("once apps-rw has applied that at its opening"), "{told}");
    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.write("apps/inner/service.yaml", format!("{service}spec: {{ type: ClusterIP }}\n"));
    at("2026-11-24T09:00:00Z");
    let lands = |now: &str| {
        let told = scratch.run(&["pr", "--base", base.trim(), "--now", now, "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        told["changes"][0]["lands"]["earliest"].as_str().unwrap().to_owned()
    };
    assert_eq!(lands("2026-11-24T10:00:00Z"), "2026-11-24T10:00:00Z");
    assert_eq!(lands("2026-11-30T10:00:00Z"), "2026-12-05T21:00:00Z");
}

/// The same of what CronJobs had suspended: nothing resumes it before its new spec comes.
#[test]
fn what_jobs_had_suspended_stays_so_until_a_gated_one_brings_its_source() {
    let scratch = bootstrapped();
    let service = bring_inner(&scratch);
    scratch.commit();
    scratch.expect(0, &["sync", "--yes"]);
    let at = |date: &str| {
        scratch.git(&["add", "--all"]);
        scratch.git_at(date, &["commit", "--quiet", "--message", "a state"]);
    };
    scratch.git(&["checkout", "--quiet", "--orphan", "dated"]);
    at("2026-01-05T10:00:00Z");
    asked(&scratch);
    scratch.expect(0, &["sync", "--while-open", "--yes", "--allow-dirty"]);
    at("2026-11-23T10:00:00Z");
    let told = ["when", "--now", "2026-11-24T10:00:00Z", "--cluster", "edge-01", "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.expect(0, &told).stdout).unwrap();
    let lines = told["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["kustomization"]["name"] == "inner").unwrap();
    let closed = (&line["open"], line["nextOpen"]["utc"].as_str());
    assert_eq!(closed, (&json!(false), Some("2026-11-28T21:00:00Z")), "{line:#}");
    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.write("apps/inner/service.yaml", format!("{service}spec: {{ type: ClusterIP }}\n"));
    at("2026-11-24T09:00:00Z");
    let now = ["pr", "--base", base.trim(), "--now", "2026-11-24T10:00:00Z", "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.run(&now).stdout).unwrap();
    assert_eq!(told["changes"][0]["lands"]["earliest"], "2026-11-28T21:00:00Z");
}

#[test]
fn everybody_knows_what_waits() {
    let scratch = following();
    let found = scratch.run(&["check", "--now", "2026-11-20T00:00:00Z", "--format", "json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let codes: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    // `suspend: false` may go once the commit has landed.
    assert_eq!(codes, ["GW002", "GW002"], "{found:#}");
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps-rw      clusters/edge-01/apps/apps-rw, gated by rw"), "{told}");
    let told = scratch.expect(0, &["when", "--now", "2026-11-23T00:00:00Z", "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let line = told["lines"].as_array().unwrap().iter().find(|line| line["type"] == "rw").unwrap();
    assert_eq!((&line["open"], &line["gate"]), (&json!(false), &json!("closes")));
    assert_eq!(line["nextOpen"]["utc"], "2026-11-28T21:00:00Z");

    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "replicas: 1", "replicas: 3");
    scratch.commit();
    let of = |now: &str| -> Value {
        let told = scratch.run(&["pr", "--base", base.trim(), "--now", now, "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        told["changes"][0]["lands"].clone()
    };
    let lands = of("2026-11-23T00:00:00Z");
    assert_eq!(lands["earliest"], "2026-11-28T21:00:00Z");
    // The tick, a minute for the Job and one to apply it; the source is moved and not polled.
    assert_eq!(lands["latest"], "2026-11-28T21:07:00Z");
    // The last run that lets something in, less what comes before and a minute for its Job.
    assert_eq!(lands["deadline"], "2026-11-29T02:47:57Z");
}

#[test]
fn a_held_source_that_no_job_moves_holds_for_good() {
    let scratch = following();
    let list = "clusters/edge-01/infra/reconciliation-windows/kustomization.yaml";
    scratch.replace(list, "  - follow-reconciliation-window.yaml\n", "");
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps/apps-rw, gated by flux-system-rw"), "{told}");
    let told = scratch.run(&["check"]).stdout;
    assert!(told.contains("which nothing moves"), "{told}");
}

#[test]
fn the_way_back_is_refused_with_the_safe_one() {
    let scratch = following();
    scratch.replace("windows.yaml", "mechanism: follow", "mechanism: suspend");
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("apps-rw reads held source flux-system-rw"), "{told}");
    // `suspend: false` stands in Git, so what people suspend does not last.
    assert!(told.contains("wait until the window is open") && !told.contains("flux suspend"), "{told}");
    // By hand, or by the tool, which says when it may be merged.
    let by_hand = Scratch::empty();
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/flux/apps-rw.yaml");
        by_hand.write(&file, scratch.text(&file)).replace(&file, "name: flux-system-rw", "name: flux-system");
        by_hand.replace(&file, "  suspend: false\n", "");
    }
    let told = scratch.expect(0, &["sync", "--while-open", "--yes"]).stderr;
    assert!(
        told.contains(
            "apps-rw of clusters edge-01, edge-02 will read flux-system again: every commit that waits lands at once"
        ),
        "{told}"
    );
    assert!(!told.contains("flux suspend"), "{told}");
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/flux/apps-rw.yaml");
        assert_eq!(scratch.text(&file), by_hand.text(&file));
    }
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let found = scratch.run(&["check"]).stdout;
    assert!(!found.contains("GW001"), "nothing keeps it suspended: {found}");
    let objects = rendered(&scratch, INFRA);
    assert!(!objects.iter().any(|one| one["kind"] == "GitRepository"));
}

#[test]
fn what_would_go_back_to_an_older_commit_is_refused() {
    let scratch = following();
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    let held = scratch.text(file);
    scratch.replace(file, "name: flux-system-rw", "name: flux-system");
    scratch.commit();
    let told = scratch.expect(5, &["sync", "--yes"]).stderr;
    assert!(told.contains("Until the opening, newer changes go back and new objects are deleted"), "{told}");
    assert!(told.contains("`gitops-windows sync --while-open` writes it"), "{told}");
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    assert_eq!(scratch.text(file), held);
}

/// What `pr` finds of a change in the first cluster, at an instant, by its code.
fn found(scratch: &Scratch, base: &str, now: &str) -> Vec<String> {
    let arguments = ["pr", "--base", base, "--now", now, "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.run(&arguments).stdout).unwrap();
    let all = told["findings"].as_array().unwrap().iter().filter(|one| one["cluster"] == "edge-01");
    let mut codes: Vec<String> = all
        .filter_map(|one| one["code"].as_str())
        .filter(|code| *code > "GW058")
        .map(str::to_owned)
        .collect();
    codes.dedup();
    codes
}

#[test]
fn what_must_not_come_while_closed_is_told_until_the_window_opens() {
    let scratch = following();
    let base = scratch.git(&["rev-parse", "HEAD"]);
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    let (closed, open) = ("2026-11-23T00:00:00Z", "2026-11-28T22:00:00Z");
    for (code, edit) in [
        (
            "GW061",
            &(|| {
                scratch.git(&["mv", "clusters/edge-01/apps/apps-rw", "clusters/edge-01/apps/apps-rx"]);
                scratch.replace(file, "apps/apps-rw", "apps/apps-rx");
            }) as &dyn Fn(),
        ),
        ("GW063", &|| {
            scratch.replace(file, "name: flux-system-rw", "name: flux-system");
        }),
    ] {
        edit();
        scratch.commit();
        assert_eq!(found(&scratch, base.trim(), closed), [code]);
        assert_eq!(found(&scratch, base.trim(), open), Vec::<String>::new(), "{code}");
        scratch.git(&["reset", "--quiet", "--hard", base.trim()]);
    }
}

/// What the base has may have been merged after the closing, and then it waits as well.
#[test]
fn a_folder_that_came_after_the_closing_is_none_of_the_held_commit() {
    let scratch = following();
    let folder = "clusters/edge-01/apps/apps-rw";
    for file in scratch.git(&["ls-files", folder]).lines() {
        scratch.write(&file.replace(folder, "clusters/edge-01/apps/apps-rx"), scratch.text(file));
    }
    let list = "clusters/edge-01/apps/apps-rx/web/kustomization.yaml";
    scratch.write(list, scratch.text(list) + "replicas:\n  - { name: web, count: 3 }\n");
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-22T12:00:00Z", &["commit", "--quiet", "--message", "a folder"]);
    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.replace("clusters/edge-01/flux/apps-rw.yaml", "apps/apps-rw", "apps/apps-rx");
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-22T13:00:00Z", &["commit", "--quiet", "--message", "its reader"]);
    assert_eq!(found(&scratch, base.trim(), "2026-11-23T00:00:00Z"), ["GW061"]);
    // The window of Saturday has let it in.
    assert_eq!(found(&scratch, base.trim(), "2026-11-30T00:00:00Z"), [""; 0]);
}

#[test]
fn what_cannot_be_held_is_refused() {
    for (from, to, words) in [
        (
            "interval: 1m0s",
            "interval: 1m0s\n  verify: { mode: Tag, secretRef: { name: keys } }",
            "`verify.mode: Tag`",
        ),
        ("ref: { branch: main }", "ref: { semver: '>=1.0.0' }", "follows no branch"),
        ("interval: 1m0s", "interval: 1m0s\n  include: [{ repository: { name: other } }]", "has `include`"),
        ("acme/fleet", "acme/${FLEET}", "has a variable"),
    ] {
        let scratch = bootstrapped();
        asked(&scratch);
        for cluster in ["edge-01", "edge-02"] {
            scratch.replace(&format!("clusters/{cluster}/flux/gotk-sync.yaml"), from, to);
        }
        scratch.commit();
        let told = scratch.expect(5, &["sync"]).stderr;
        assert!(told.contains(words), "{words}: {told}");
        // What Git holds is the pair still, and `check` says so.
        let told =
            scratch.expect(1, &["check", "--fail-on", "warning", "--now", "2026-11-20T00:00:00Z"]).stdout;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("GW047") && told.contains("have mechanism `suspend` and not `follow`"),
            "{told}"
        );
    }
    let scratch = bootstrapped();
    asked(&scratch);
    for file in scratch.git(&["ls-files"]).lines() {
        let text = scratch.text(file).replace("kind: GitRepository", "kind: Bucket");
        let text = text.replace("  ref: { branch: main }\n", "  bucketName: fleet\n");
        scratch.write(file, text.replace("url: ssh://git@github.com/acme/fleet", "endpoint: s3.example.org"));
    }
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(
        told.contains("Bucket flux-system of cluster edge-01 has no field that names a revision"),
        "{told}"
    );
    assert!(told.contains("choose `mechanism: suspend`"), "{told}");
    let scratch = scaffold();
    asked(&scratch);
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("does not stand in Git"), "{told}");
    let scratch = bootstrapped();
    asked(&scratch);
    scratch.replace("windows.yaml", "  enabled: true", "  enabled: false");
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("can't be off"), "{told}");
    let scratch = bootstrapped();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  mechanism: follow\n");
    scratch.commit();
    let told = scratch.expect(3, &["sync"]).stderr;
    assert!(told.contains("looks at a table"), "{told}");
}

/// Tells when what a pull request changes lands, by kind and name, in the first cluster.
fn lands(scratch: &Scratch, base: &str) -> Vec<(String, String, String)> {
    let arguments = ["pr", "--base", base, "--now", "2026-11-23T00:00:00Z", "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.run(&arguments).stdout).unwrap();
    let changes = told["changes"].as_array().unwrap().iter().filter(|one| one["cluster"] == "edge-01");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |one: &Value| (text(&one["kind"]), text(&one["lands"]["state"]), text(&one["lands"]["reason"]));
    changes.map(of).collect()
}

#[test]
fn what_a_held_source_does_not_hold_back_is_told() {
    let scratch = following();
    let base = scratch.git(&["rev-parse", "HEAD"]);
    let file = format!("{FLUX}/apps-rw.yaml");
    // The spec of the gated Flux Kustomization acts on the old commit at once.
    let patch = "  deletionPolicy: Orphan\n  commonMetadata: { labels: { team: shop } }\n";
    scratch.replace(&file, "  deletionPolicy: Orphan\n", patch);
    scratch.commit();
    let told = lands(&scratch, base.trim());
    let by_spec =
        told.iter().filter(|(.., reason)| reason.starts_with("changes of the spec of apps-rw act at once"));
    assert_eq!(by_spec.count(), 2, "{told:#?}");
    assert!(told.iter().all(|(_, state, _)| state == "at-once"), "{told:#?}");
    scratch.git(&["reset", "--quiet", "--hard", base.trim()]);
    // One that leaves Git keeps its objects, closed or not.
    scratch.git(&["rm", "--quiet", &file]);
    scratch.commit();
    let told = lands(&scratch, base.trim());
    assert!(
        told.iter().any(|(_, state, reason)| state == "never" && reason.contains("deletes nothing")),
        "{told:#?}"
    );
}

#[test]
fn an_object_that_leaves_what_is_held_is_refused() {
    let scratch = following();
    // Until the opening both would apply it.
    scratch.replace(
        "windows.yaml",
        "  - { kind: ConfigMap, type: rt }\n",
        "  - { kind: ConfigMap, type: rt }\n  - { kind: Service, type: rt }\n",
    );
    scratch.commit();
    let told = scratch.run(&["sync"]);
    assert_eq!(told.code, 5, "{}", told.stderr);
    assert!(told.stderr.contains("a cluster may delete Service web/web"), "{}", told.stderr);
    assert!(told.stderr.contains("prune: disabled"), "{}", told.stderr);
    // The commit with the annotation is held back too, and both sides have one commit in an open window alone.
    assert!(told.stderr.contains("wait until the next opening has applied that"), "{}", told.stderr);
    assert!(told.stderr.contains("merge it while the window is open"), "{}", told.stderr);
    // Git has the annotation at once, and the cluster only from an opening on.
    let service = scratch.text("apps/web/web-rw/service.yaml");
    let kept = "metadata:\n  annotations: { kustomize.toolkit.fluxcd.io/prune: disabled }\n";
    scratch.write("apps/web/web-rw/service.yaml", service.replacen("metadata:\n", kept, 1));
    scratch.commit();
    let told = scratch.expect(1, &["sync"]).stderr;
    let words =
        "Service web/web in edge-01 leaves gated apps-rw, which applies its annotation at an opening alone";
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_migration_ends_with_a_held_source() {
    let scratch = Scratch::fixture("overlays");
    scratch.expect(0, &[&["init", "--yes"], &super::WINDOW[..]].concat());
    asked(&scratch);
    scratch.take(&["sync", "--yes"]);
    scratch.commit();
    super::migrate_to_a_held_source(&scratch);
    for cluster in ["north", "south"] {
        let text = scratch.text(&format!("clusters/{cluster}/apps-rw.yaml"));
        assert!(text.contains("    name: flux-system-rw\n") && text.contains("  prune: true"), "{text}");
        assert!(text.ends_with("  deletionPolicy: Orphan\n"), "{text}");
        assert!(!scratch.text(&format!("clusters/{cluster}/apps-rt.yaml")).contains("flux-system-rw"));
    }
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// A later split: what it gates would begin to read a source that is held at a commit which knows nothing of it.
#[test]
fn a_step_that_goes_back_to_an_older_commit_waits_for_the_window() {
    let scratch = following();
    scratch.write("more/kustomization.yaml", "resources: [deployment.yaml, settings.yaml]\n");
    scratch.write(
        "more/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: more, namespace: web }\n\
         spec:\n  selector: { matchLabels: { app: more } }\n  template:\n    metadata: { labels: { app: more } }\n    \
         spec: { containers: [{ name: more, image: more }] }\n",
    );
    scratch.write(
        "more/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more, namespace: web }\ndata: { a: b }\n",
    );
    scratch.write(&format!("{FLUX}/more.yaml"), flux_kustomization("more", "more", ""));
    scratch.commit();
    for command in [&["split", "more", "--yes"][..], &["migrate", "--yes"]] {
        scratch.take(command);
        scratch.commit();
    }
    let run = scratch.run(&["migrate", "--yes", "--now", "2026-11-24T10:00:00Z"]);
    insta::assert_snapshot!(format!("exit {}\n{}{}", run.code, run.stdout, run.stderr));
    assert!(!scratch.text(&format!("{FLUX}/more-rw.yaml")).contains("flux-system-rw"));
    scratch.take(&["migrate", "--while-open", "--yes"]);
    assert!(scratch.text(&format!("{FLUX}/more-rw.yaml")).contains("name: flux-system-rw"));
}

/// Flux Kustomizations that are held as a whole, of which one waits for the other.
fn held_as_a_whole() -> Scratch {
    let scratch = following();
    let deployment = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name}, namespace: {name} }}\n\
             spec:\n  selector: {{ matchLabels: {{ app: {name} }} }}\n  template:\n    \
             metadata: {{ labels: {{ app: {name} }} }}\n    \
             spec: {{ containers: [{{ name: {name}, image: {name} }}] }}\n"
        )
    };
    for (name, waits) in [("base", ""), ("more", "  dependsOn: [{ name: base }]\n")] {
        let namespace = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {name} }}\n");
        scratch
            .write(&format!("{name}/kustomization.yaml"), "resources: [namespace.yaml, deployment.yaml]\n");
        scratch.write(&format!("{name}/namespace.yaml"), namespace);
        scratch.write(&format!("{name}/deployment.yaml"), deployment(name));
        scratch.write(&format!("{FLUX}/{name}.yaml"), flux_kustomization(name, name, waits));
    }
    scratch.commit();
    scratch.take(&["sync", "--while-open", "--yes"]);
    scratch.commit();
    for name in ["base", "more"] {
        assert!(
            scratch.text(&format!("{FLUX}/{name}.yaml")).contains("flux-system-rw"),
            "{name} is not held"
        );
    }
    scratch
}

/// What is held as a whole is divided only after it reads the live source again: as the refusal says, and to the end.
#[test]
fn a_real_time_object_that_comes_to_what_is_held_as_a_whole_gets_a_side() {
    let scratch = held_as_a_whole();
    scratch.write("more/kustomization.yaml", "resources: [namespace.yaml, deployment.yaml, settings.yaml]\n");
    scratch.write(
        "more/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more, namespace: more }\ndata: { a: b }\n",
    );
    scratch.commit();
    let told = scratch.run(&["split", "--all", "--yes"]);
    insta::assert_snapshot!(format!("exit {}\n{}{}", told.code, told.stdout, told.stderr));
    scratch.replace(&format!("{FLUX}/more.yaml"), "flux-system-rw", "flux-system");
    scratch.commit();
    // What is to be divided is not taken back, and what it waits for stays held.
    scratch.take(&["sync", "--yes"]);
    assert!(!scratch.text(&format!("{FLUX}/more.yaml")).contains("flux-system-rw"));
    scratch.commit();
    let migrate = &["migrate", "--while-open", "--yes"][..];
    for command in [&["split", "--all", "--yes"], migrate, migrate] {
        scratch.take(command);
        scratch.commit();
        assert!(scratch.text(&format!("{FLUX}/base.yaml")).contains("flux-system-rw"), "{command:?}");
    }
    assert!(scratch.text(&format!("{FLUX}/more-rw.yaml")).contains("name: flux-system-rw"));
    assert!(!scratch.text(&format!("{FLUX}/more-rt.yaml")).contains("flux-system-rw"));
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// All files that can't be edited are told at once.
#[test]
fn everything_that_is_in_the_way_of_a_held_source_is_told() {
    let scratch = bootstrapped();
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/flux/apps-rw.yaml");
        scratch.replace(&file, "kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2");
    }
    asked(&scratch);
    let run = scratch.expect(5, &["sync", "--yes"]);
    for cluster in ["edge-01", "edge-02"] {
        assert!(run.stderr.contains(&format!("clusters/{cluster}/flux/apps-rw.yaml:")), "{}", run.stderr);
    }
}
