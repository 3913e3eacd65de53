//! Gates that Flux Operator runs: what is written, what is said of it, and what is refused.

use serde_json::{Value, json};

use super::follow::{asked as follow, bootstrapped};
use super::rendered;
use crate::support::scratch::Scratch;

const INFRA: &str = "clusters/edge-01/infra";
const CLOSED: &str = "2026-11-23T00:00:00Z";

/// Asks for it.
fn asked(scratch: &Scratch) {
    let gate = "gate:\n  mechanism: flux-operator\n  provider: { secret: github-api }\n";
    scratch.replace("windows.yaml", "gate:\n", gate);
    scratch.commit();
}

fn operated() -> Scratch {
    let scratch = bootstrapped();
    asked(&scratch);
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    scratch.commit();
    scratch
}

fn object(objects: &[Value], kind: &str) -> Value {
    objects.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("no {kind}")).clone()
}

#[test]
fn windows_become_schedules() {
    let scratch = operated();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let objects = rendered(&scratch, INFRA);
    let provider = object(&objects, "ResourceSetInputProvider");
    assert_eq!(
        provider["metadata"],
        json!({
            "name": "reconciliation-window",
            "namespace": "flux-system",
            "labels": { "gitops-windows/held-source": "true" },
            "annotations": {
                "fluxcd.controlplane.io/reconcileEvery": "2m",
                "fluxcd.controlplane.io/reconcileTimeout": "1m",
            },
        })
    );
    let half_hour = |cron: &str| json!({ "cron": cron, "timeZone": "Europe/Berlin", "window": "30m" });
    assert_eq!(
        provider["spec"],
        json!({
            "type": "GitHubBranch",
            "url": "https://github.com/acme/fleet",
            "secretRef": { "name": "github-api" },
            "filter": { "includeBranch": "^main$", "limit": 1 },
            "defaultValues": {
                "held": "flux-system-rw",
                "live": "flux-system",
                "branch": "main",
                "spec": {
                    "interval": "24h",
                    "secretRef": { "name": "flux-system" },
                    "url": "ssh://git@github.com/acme/fleet",
                },
            },
            "schedule": [
                half_hour("0 0-3 * * SUN"),
                half_hour("0 22,23 * * SAT"),
                half_hour("30 0-3 * * SUN"),
                half_hour("30 22,23 * * SAT"),
            ],
        })
    );
    let set = object(&objects, "ResourceSet");
    assert_eq!(
        set["spec"]["inputsFrom"][0]["selector"]["matchExpressions"][0]["key"],
        "gitops-windows/held-source"
    );
    insta::assert_snapshot!(set["spec"]["resourcesTemplate"].as_str().unwrap());
    for kind in ["CronJob", "Role", "ServiceAccount", "GitRepository"] {
        assert!(!objects.iter().any(|one| one["kind"] == kind), "{kind}");
    }
    let gated = scratch.text("clusters/edge-01/flux/apps-rw.yaml");
    for line in ["    name: flux-system-rw", "  deletionPolicy: Orphan", "  suspend: false"] {
        assert!(gated.lines().any(|own| own == line), "{line}: {gated}");
    }
    assert_eq!(scratch.run(&["verify"]).code, 0);
}

/// A public repository needs no token, and a source that is fetched by HTTPS brings its own.
#[test]
fn the_token_is_that_of_the_source() {
    for (secret, token) in [("", Value::Null), ("secretRef: { name: own }", json!({ "name": "own" }))] {
        let scratch = bootstrapped();
        asked(&scratch);
        scratch.replace("windows.yaml", "  provider: { secret: github-api }\n", "");
        for cluster in ["edge-01", "edge-02"] {
            let file = format!("clusters/{cluster}/flux/gotk-sync.yaml");
            scratch.replace(&file, "ssh://git@github.com", "https://github.com");
            scratch.replace(&file, "secretRef: { name: flux-system }", secret);
        }
        scratch.commit();
        scratch.expect(0, &["sync", "--while-open", "--yes"]);
        let provider = object(&rendered(&scratch, INFRA), "ResourceSetInputProvider");
        assert_eq!(provider["spec"]["secretRef"], token);
    }
}

/// Git says its source, as far as the operator makes it of the instance.
#[test]
fn the_source_of_a_flux_instance_is_held_too() {
    for mechanism in ["flux-operator", "follow\n  every: 5m\n  through: 2027-01-31"] {
        let scratch = bootstrapped();
        for cluster in ["edge-01", "edge-02"] {
            let instance = format!(
                "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\n\
                 spec:\n  distribution: {{ version: 2.x, registry: ghcr.io/fluxcd }}\n  sync:\n    kind: GitRepository\n    \
                 url: https://github.com/acme/fleet.git\n    ref: refs/heads/main\n    path: clusters/{cluster}/flux\n    \
                 pullSecret: flux-pat\n"
            );
            scratch.git(&["rm", "--quiet", &format!("clusters/{cluster}/flux/gotk-sync.yaml")]);
            scratch.write(&format!("clusters/{cluster}/flux/instance.yaml"), instance);
        }
        scratch.replace("windows.yaml", "gate:\n", &format!("gate:\n  mechanism: {mechanism}\n"));
        scratch.commit();
        scratch.expect(0, &["sync", "--while-open", "--yes"]);
        let objects = rendered(&scratch, INFRA);
        let spec = match mechanism {
            "flux-operator" => {
                object(&objects, "ResourceSetInputProvider")["spec"]["defaultValues"]["spec"].clone()
            }
            _ => object(&objects, "GitRepository")["spec"].clone(),
        };
        assert_eq!(spec["url"], "https://github.com/acme/fleet.git", "{mechanism}");
        assert_eq!(spec["secretRef"], json!({ "name": "flux-pat" }), "{mechanism}");
    }
}

/// A window that always lasts equally long is one entry.
#[test]
fn a_zone_without_changes_needs_one_entry() {
    let scratch = bootstrapped();
    scratch.replace("windows.yaml", "Europe/Berlin", "Asia/Kolkata");
    asked(&scratch);
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    let schedule = object(&rendered(&scratch, INFRA), "ResourceSetInputProvider")["spec"]["schedule"].clone();
    assert_eq!(schedule, json!([{ "cron": "0 22 * * SAT", "timeZone": "Asia/Kolkata", "window": "6h" }]));
}

#[test]
fn everybody_knows_what_waits() {
    let scratch = operated();
    let found = scratch.run(&["check", "--now", CLOSED, "--format", "json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let codes: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    // `suspend: false` may go once the commit has landed.
    assert_eq!(codes, ["GW002", "GW002"], "{found:#}");
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps-rw      clusters/edge-01/apps/apps-rw, gated by rw"), "{told}");
    let told = scratch.expect(0, &["when", "--now", CLOSED, "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let line = told["lines"].as_array().unwrap().iter().find(|line| line["type"] == "rw").unwrap();
    assert_eq!((&line["open"], &line["gate"]), (&json!(false), &json!("closes")), "{line:#}");
    assert_eq!(line["nextOpen"]["utc"], "2026-11-28T21:00:00Z");
    assert_eq!(line["nextClose"]["utc"], "2026-11-29T03:00:00Z");
    let told = scratch.expect(0, &["calendar", "--now", CLOSED, "--days", "7"]).stdout;
    assert!(told.contains("22:00"), "{told}");
    let told = scratch.expect(0, &["explain", "apps/web/web-rw/deployment.yaml"]).stdout;
    assert!(told.contains("rw"), "{told}");

    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "replicas: 1", "replicas: 3");
    scratch.commit();
    let told = scratch.run(&["pr", "--base", base.trim(), "--now", CLOSED, "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let lands = &told["changes"][0]["lands"];
    assert_eq!(lands["earliest"], "2026-11-28T21:00:00Z", "{lands:#}");
    // The provider looks within three minutes, and two steps follow.
    assert_eq!(lands["latest"], "2026-11-28T21:05:00Z", "{lands:#}");
}

/// Without windows.yaml, and as nothing says a type.
#[test]
fn what_a_provider_holds_is_read_from_what_is_built() {
    let scratch = operated();
    scratch.git(&["rm", "--quiet", "windows.yaml"]);
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps/apps-rw, gated by reconciliation-window"), "{told}");
    let list = "clusters/edge-01/infra/reconciliation-windows/kustomization.yaml";
    scratch.replace(list, "  - reconciliation-window.yaml\n", "");
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps/apps-rw, gated by flux-system-rw"), "{told}");
}

/// Until its first window a provider has read nothing.
#[test]
fn the_first_window_of_a_new_cluster_is_told() {
    for (date, is_told) in [("2026-11-22T12:00:00Z", true), ("2026-11-20T12:00:00Z", false)] {
        let scratch = bootstrapped();
        asked(&scratch);
        scratch.expect(0, &["sync", "--while-open", "--yes"]);
        scratch.git(&["add", "--all"]);
        scratch.git_at(date, &["commit", "--quiet", "--message", "a new cluster"]);
        let when = scratch.expect(0, &["when", "--cluster", "edge-01", "--now", CLOSED]).stdout;
        let told = "going by Git, Flux Operator has read no commit for its provider yet";
        assert_eq!(when.contains(told), is_told, "{date}: {when}");
    }
}

#[test]
fn by_hand_it_is_forced_and_disabled() {
    let scratch = operated();
    let told = [
        scratch.expect(0, &["override", "open", "--cluster", "edge-01", "--type", "rw"]).stdout,
        scratch.expect(0, &["stop", "--without-git", "--cluster", "edge-01", "--reason", "INC-1"]).stdout,
    ];
    insta::assert_snapshot!(told.concat());
}

#[test]
fn what_begins_to_read_a_source_waits_for_the_window() {
    let scratch = bootstrapped();
    asked(&scratch);
    let told = scratch.expect(5, &["sync", "--yes"]).stderr;
    assert!(told.contains("only there once the window has opened"), "{told}");
    assert!(told.contains("sync --while-open"), "{told}");
}

#[test]
fn what_no_schedule_says_is_refused() {
    let freeze =
        "freezes:\n  year-end: { timeZone: UTC, from: 2026-12-20, to: 2027-01-06, reason: Holidays }\n";
    let given = "overrides:\n  - { cluster: edge-01, type: rw, timeZone: UTC, from: 2026-12-01T08:00, until: 2026-12-01T09:00, reason: INC-1 }\n";
    let mut all = String::new();
    for (code, from, to) in [
        (3, "windows:\n", format!("{freeze}windows:\n")),
        (3, "windows:\n", format!("{given}windows:\n")),
        (
            3,
            "    open: 0 22 * * SAT\n    close: 0 4 * * SUN\n",
            "    on: second Tue of month\n    from: \"20:00\"\n    for: 4h\n".to_owned(),
        ),
        (3, "timeZone: Europe/Berlin\n", String::new()),
        (3, "  provider: { secret: github-api }\n", "  every: 5m\n  through: 2027-12-31\n".to_owned()),
        (3, "  mechanism: flux-operator\n", String::new()),
        (3, "close: 0 4 * * SUN", "close: 2 22 * * SAT".to_owned()),
        (3, "close: 0 4 * * SUN", "close: 30 2 * * SUN".to_owned()),
        (5, "  provider: { secret: github-api }\n", String::new()),
        (5, "  enabled: true", "  enabled: false".to_owned()),
    ] {
        let scratch = bootstrapped();
        asked(&scratch);
        scratch.replace("windows.yaml", from, &to);
        scratch.commit();
        all += &scratch.expect(code, &["sync", "--while-open"]).stderr;
        all += "\n";
    }
    let scratch = bootstrapped();
    asked(&scratch);
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/flux/gotk-sync.yaml");
        scratch.replace(&file, "ssh://git@github.com/acme/fleet", "https://git.acme.example/acme/fleet");
    }
    scratch.commit();
    all += &scratch.expect(5, &["sync", "--while-open"]).stderr;
    insta::assert_snapshot!(all);
}

#[test]
fn stops_and_freezes_name_what_can() {
    let scratch = operated();
    let mut all = String::new();
    for arguments in [
        &["stop", "--yes"] as &[&str],
        &["freeze", "add", "x", "--to", "2027-01-01", "--reason", "y", "--yes"],
        &["override", "add", "--cluster", "edge-01", "--type", "rw", "--for", "2h", "--reason", "y", "--yes"],
    ] {
        let run = scratch.run(arguments);
        all += &format!("{}: {}\n", run.code, run.stderr);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_provider_of_which_the_spec_wants_nothing_is_told() {
    let scratch = operated();
    let spec = scratch.text("windows.yaml");
    scratch.write("windows.yaml", spec.replace("  edge-01: {}\n", ""));
    scratch.commit();
    let told = scratch.run(&["check", "--now", CLOSED]).stdout;
    assert!(
        told.contains("ResourceSetInputProvider `reconciliation-window` closes in cluster edge-01, which is not in windows.yaml"),
        "{told}"
    );
}

/// Both would make the held source.
#[test]
fn the_way_from_a_source_that_cron_jobs_move_leads_by_suspending() {
    let scratch = bootstrapped();
    follow(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch.replace(
        "windows.yaml",
        "  mechanism: follow\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n",
        "  mechanism: flux-operator\n  provider: { secret: github-api }\n",
    );
    scratch.commit();
    let told = scratch.expect(5, &["sync", "--while-open"]).stderr;
    assert!(told.contains("can't go from `follow` to `flux-operator` at once"), "{told}");
}

#[test]
fn the_way_back_takes_the_source_along() {
    let scratch = operated();
    scratch.replace("windows.yaml", "  mechanism: flux-operator\n  provider: { secret: github-api }\n", "");
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("apps-rw reads held source flux-system-rw"), "{told}");
    let run = scratch.expect(0, &["sync", "--while-open", "--yes"]);
    let told = run.stdout + &run.stderr;
    assert!(
        told.contains(
            "kubectl delete gitrepositories.source.toolkit.fluxcd.io flux-system-rw --namespace=flux-system"
        ),
        "{told}"
    );
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    assert!(!rendered(&scratch, INFRA).iter().any(|one| one["kind"] == "ResourceSetInputProvider"));
}

/// Whoever commits the annotation of an emergency closes for good.
#[test]
fn a_provider_that_git_disables_opens_nothing_and_is_told() {
    let scratch = operated();
    let objects = rendered(&scratch, INFRA);
    assert_eq!(
        object(&objects, "ResourceSetInputProvider")["metadata"]["annotations"].as_object().unwrap().len(),
        2
    );
    let files =
        scratch.git(&["grep", "--files-with-matches", "kind: ResourceSetInputProvider", "clusters/edge-01"]);
    let file = files.trim();
    let annotations = "fluxcd.controlplane.io/reconcileEvery";
    scratch.replace(
        file,
        annotations,
        &format!("fluxcd.controlplane.io/reconcile: disabled\n    {annotations}"),
    );
    scratch.commit();
    let told = scratch.run(&["check", "--now", CLOSED]).stdout;
    assert!(told.contains("apps-rw reads held source flux-system-rw, which nothing moves"), "{told}");
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps/apps-rw, gated by flux-system-rw"), "{told}");
    let when = scratch.expect(0, &["when", "--cluster", "edge-01", "--now", CLOSED]).stdout;
    let calendar = scratch.expect(0, &["calendar", "--cluster", "edge-01", "--now", CLOSED]).stdout;
    insta::assert_snapshot!(format!("{when}---\n{calendar}"));
}

#[test]
fn a_migration_ends_with_a_provider_and_leads_back() {
    let scratch = Scratch::fixture("overlays");
    scratch.expect(0, &[&["init", "--yes"], &super::WINDOW[..]].concat());
    asked(&scratch);
    // A host of which nobody knows what API it has.
    scratch.replace("windows.yaml", "{ secret: github-api }", "{ type: GitLabBranch, secret: git-api }");
    scratch.commit();
    scratch.take(&["sync", "--while-open", "--yes"]);
    scratch.commit();
    super::migrate_to_a_held_source(&scratch);
    for cluster in ["north", "south"] {
        let text = scratch.text(&format!("clusters/{cluster}/apps-rw.yaml"));
        assert!(text.contains("    name: flux-system-rw\n") && text.contains("  prune: true"), "{text}");
    }
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    // To a pair of jobs, in an open window.
    scratch.replace("windows.yaml", "mechanism: flux-operator", "mechanism: suspend");
    scratch.replace("windows.yaml", "  provider: { type: GitLabBranch, secret: git-api }\n", "");
    scratch.commit();
    scratch.expect(5, &["sync", "--yes"]);
    scratch.take(&["sync", "--while-open", "--yes"]);
    scratch.commit();
    for cluster in ["north", "south"] {
        let text = scratch.text(&format!("clusters/{cluster}/apps-rw.yaml"));
        assert!(text.contains("    name: flux-system\n"), "{text}");
    }
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}
