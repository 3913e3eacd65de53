//! Gates over Flux Kustomizations of several namespaces.

use std::collections::BTreeSet;

use gitops_windows::mechanism::{pod_of, turns};
use serde_json::Value;

use crate::divided::SPEC;
use crate::rendered;
use crate::support::scratch::{Scratch, program};

/// Namespaces with their apps.
type Namespaces<'a> = &'a [(&'a str, &'a [&'a str])];

/// A fleet in which each app has a Flux Kustomization in the app's own namespace, which the list of the
/// namespace gives it. By cluster, the namespaces with their apps; `usual` has its apps in `flux-system`.
fn fleet(clusters: &[(&str, Namespaces<'_>)]) -> Scratch {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\nspec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system, namespace: flux-system }}\n"
        )
    };
    let mut spec =
        String::from("apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: nights }\nwindows:\n");
    spec += "  nights: { timeZone: Europe/Berlin, open: 0 22 * * *, close: 0 4 * * * }\nclusters:\n";
    for (cluster, namespaces) in clusters {
        spec += &format!("  {cluster}: {{}}\n");
        let own = format!("clusters/{cluster}");
        let home = |text: String| text.replace("spec:\n", "  namespace: flux-system\nspec:\n");
        scratch.write(&format!("{own}/flux-system/gotk-sync.yaml"), home(flux("flux-system", &own)));
        scratch
            .write(&format!("{own}/flux-system/kustomization.yaml"), "resources: [gotk-sync.yaml]\n")
            .write(&format!("{own}/apps.yaml"), home(flux("apps", &format!("apps/{cluster}"))));
        let mut all = String::from("resources:\n");
        for (namespace, apps) in *namespaces {
            all += &format!("  - {namespace}\n");
            let folder = format!("apps/{cluster}/{namespace}");
            let given = if *namespace == "usual" { "flux-system" } else { namespace };
            let mut list = format!("namespace: {given}\nresources:\n");
            for app in *apps {
                list += &format!("  - {app}/ks.yaml\n");
                let path = format!("{folder}/{app}/app");
                scratch
                    .write(&format!("{folder}/{app}/ks.yaml"), flux(app, &path))
                    .write(&format!("{path}/kustomization.yaml"), "resources: [config.yaml, deployment.yaml]\n")
                    .write(
                        &format!("{path}/config.yaml"),
                        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {app}, namespace: {namespace} }}\ndata: {{ k: v }}\n"),
                    )
                    .write(
                        &format!("{path}/deployment.yaml"),
                        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {app}, namespace: {namespace} }}\nspec:\n  selector: {{ matchLabels: {{ app: {app} }} }}\n  template:\n    metadata: {{ labels: {{ app: {app} }} }}\n    spec: {{ containers: [{{ name: main, image: \"main:1\" }}] }}\n"),
                    );
            }
            scratch.write(&format!("{folder}/kustomization.yaml"), list);
        }
        scratch.write(&format!("apps/{cluster}/kustomization.yaml"), all);
    }
    scratch.write("windows.yaml", spec).commit();
    scratch
}

#[test]
fn init_takes_the_namespace_that_is_there_first() {
    let scratch = fleet(&[("edge", &[("media", &["player", "index", "guide"])])]);
    scratch.git(&["rm", "--quiet", "windows.yaml"]);
    scratch.commit();
    let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];
    scratch.expect(0, &[&["init", "--yes"][..], &window].concat());
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("\n  namespace: flux-system\n"), "{spec}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn init_tells_what_a_job_acts_on_by_its_namespace() {
    let told = |words: &str, is_in_git: bool| {
        let scratch = Scratch::fixture("adopted");
        if !is_in_git {
            scratch.git(&["rm", "-r", "--quiet", "clusters/plant-north/flux", "clusters/plant-south/flux"]);
        }
        for job in ["begin", "end"] {
            let file = format!("infra/maintenance/{job}.yaml");
            scratch.replace(&file, "\"apps\", \"--namespace\", \"flux-system\"", words);
        }
        scratch.commit();
        scratch.expect(1, &["init"]).stderr
    };
    let carries = "end-maintenance suspends Flux Kustomization infra, which carries the gate";
    let here = told("\"apps\", \"infra\"", true);
    assert!(here.contains(carries) && !here.contains("which is not in Git"), "{here}");
    let elsewhere = told("\"apps\", \"infra\", \"-nhome\"", true);
    assert!(!elsewhere.contains(carries), "{elsewhere}");
    for name in ["apps", "infra"] {
        let lost = format!("suspends Flux Kustomization {name} in namespace home, which is not in Git");
        assert!(elsewhere.contains(&lost), "{elsewhere}");
    }
    for is_in_git in [true, false] {
        let all = told("\"--all\"", is_in_git);
        assert!(all.contains(carries), "{all}");
    }
}

/// Divides everything, hands it over and finishes.
fn handed_over(scratch: &Scratch) {
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    for _ in 0..2 {
        let run = scratch.take(&["migrate", "--yes"]);
        assert!(!run.stderr.contains("is left as it is"), "{}", run.stderr);
    }
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// What a job of a cluster's gate acts on, as `namespace/name`.
fn held(objects: &[Value], job: &str) -> BTreeSet<String> {
    let job = objects.iter().find(|one| one["kind"] == "CronJob" && one["metadata"]["name"] == job);
    turns(job.unwrap()).into_iter().map(|turn| format!("{}/{}", turn.namespace, turn.name)).collect()
}

/// What the roles of a cluster's gate allow that are bound, as `namespace/name`; `*` for any namespace.
fn allowed(objects: &[Value]) -> BTreeSet<String> {
    let of = |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
    let mut allowed = BTreeSet::new();
    for (kind, binding) in [("Role", "RoleBinding"), ("ClusterRole", "ClusterRoleBinding")] {
        let roles: Vec<&Value> = of(kind).collect();
        let bindings: Vec<&Value> = of(binding).collect();
        assert_eq!(roles.len(), bindings.len());
        for (role, binding) in roles.into_iter().zip(bindings) {
            assert_eq!(role["metadata"]["namespace"], binding["metadata"]["namespace"]);
            assert_eq!(binding["roleRef"]["kind"], kind);
            assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
            assert_eq!(binding["subjects"][0]["namespace"], "jobs");
            let names = role["rules"][0]["resourceNames"].as_array().unwrap();
            assert!(!names.is_empty(), "without names it allows everything");
            let namespace = role["metadata"]["namespace"].as_str().unwrap_or("*");
            allowed.extend(names.iter().map(|name| format!("{namespace}/{}", name.as_str().unwrap())));
        }
    }
    allowed
}

#[test]
fn each_cluster_acts_in_the_namespaces_that_it_has() {
    let scratch = fleet(&[
        ("edge", &[("media", &["player", "index"]), ("tools", &["player"]), ("usual", &["web"])]),
        ("home", &[("media", &["player"])]),
        ("plain", &[("usual", &["web"])]),
    ]);
    handed_over(&scratch);
    for (cluster, wanted) in [
        ("edge", &["flux-system/web-rw", "media/index-rw", "media/player-rw", "tools/player-rw"][..]),
        ("home", &["media/player-rw"]),
        ("plain", &["flux-system/web-rw"]),
    ] {
        let objects = rendered(&scratch, &format!("clusters/{cluster}/infra/reconciliation-windows"));
        let wanted: BTreeSet<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        for job in ["open-reconciliation-window", "close-reconciliation-window"] {
            assert_eq!(held(&objects, job), wanted, "{cluster}: {job}");
        }
        let anywhere = |name: &String| match name.split_once('/') {
            Some(("flux-system", _)) => name.clone(),
            Some((_, name)) => format!("*/{name}"),
            None => unreachable!("{name}"),
        };
        assert_eq!(allowed(&objects), wanted.iter().map(anywhere).collect(), "{cluster}");
    }
    let run = scratch.run(&["check"]);
    assert!(run.code == 0 && !run.stdout.contains("GW02"), "{run:?}");
    let run = scratch.expect(0, &["when", "--format", "json"]);
    assert!(run.stdout.contains("\"media\"") && !run.stdout.contains("no job"), "{}", run.stdout);
}

#[test]
fn the_commands_of_several_namespaces_run_whatever_becomes_of_one() {
    let scratch = fleet(&[("edge", &[("media", &["player"]), ("tools", &["player"])])]);
    handed_over(&scratch);
    let objects = rendered(&scratch, "clusters/edge/infra/reconciliation-windows");
    let job = |name: &str| {
        let job = objects.iter().find(|one| one["kind"] == "CronJob" && one["metadata"]["name"] == name);
        let words = pod_of(job.unwrap())["containers"][0]["command"].as_array().unwrap().clone();
        words.iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // A shell runs them, with a `kubectl` that knows one of the two.
    let tools = scratch.outside().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let script = "echo \"$*\" >>\"$LOG\"\ncase \"$*\" in *$MISSING*) exit 1;; esac";
    program(&tools.join("kubectl"), script);
    for (missing, code) in [("namespace=media", 1), ("namespace=tools", 1), ("namespace=none", 0)] {
        let words = job("close-reconciliation-window");
        let log = scratch.outside().join(missing);
        let status = std::process::Command::new(&words[0])
            .args(&words[1..])
            .env("PATH", format!("{}:/usr/bin:/bin", tools.display()))
            .env("LOG", &log)
            .env("MISSING", missing)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{missing}");
        let lines = std::fs::read_to_string(&log).unwrap();
        for namespace in ["media", "tools"] {
            let line = format!(
                "patch kustomizations.kustomize.toolkit.fluxcd.io player-rw --namespace={namespace} --type=merge --field-manager=flux --patch={{\"spec\":{{\"suspend\":true}}}}\n"
            );
            assert!(lines.contains(&line), "{missing}: {lines}");
        }
    }
}

#[test]
fn of_one_name_in_two_namespaces_only_what_has_a_window_is_held() {
    let scratch = fleet(&[("edge", &[("media", &["player"]), ("tools", &["player"])])]);
    let spec = scratch.text("windows.yaml");
    scratch
        .write("windows.yaml", spec.clone() + "rules: [{ namespace: tools, type: rt }, { type: rw }]\n")
        .commit();
    let run = scratch.take(&["sync", "--yes"]);
    assert!(
        run.stderr.contains("the gate of cluster edge suspends media/player entirely."),
        "{}",
        run.stderr
    );
    let objects = rendered(&scratch, "clusters/edge/infra/reconciliation-windows");
    let held = held(&objects, "close-reconciliation-window");
    assert_eq!(held, BTreeSet::from(["media/player".to_owned()]));
    assert_eq!(allowed(&objects), BTreeSet::from(["*/player".to_owned()]));
    assert!(!objects.iter().any(|one| one["kind"] == "Role"), "nothing is held in flux-system");

    // Let go, it is resumed where it is.
    scratch.write("windows.yaml", spec + "rules: [{ namespace: media, type: rt }, { type: rw }]\n").commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    let resume = "flux resume kustomization player --namespace media";
    assert!(run.stdout.contains(resume) || run.stderr.contains(resume), "{run:?}");
    assert!(!(run.stdout + &run.stderr).contains("--namespace tools"));
}

#[test]
fn an_alert_says_the_namespace_of_what_lies_in_another() {
    let scratch = fleet(&[("edge", &[("media", &["player"]), ("usual", &["web"])])]);
    let more = "rules: [{ type: rw }]\nalerts: { type: slack, channel: ops }\n";
    scratch.write("windows.yaml", scratch.text("windows.yaml") + more).commit();
    scratch.take(&["sync", "--yes"]);
    let objects = rendered(&scratch, "clusters/edge/infra/reconciliation-windows");
    let alert = objects.iter().find(|one| one["kind"] == "Alert").unwrap();
    let wanted = serde_json::json!([
        { "kind": "Kustomization", "name": "web" },
        { "kind": "Kustomization", "name": "player", "namespace": "media" },
    ]);
    assert_eq!(alert["spec"]["eventSources"], wanted);
}

#[test]
fn an_app_follows_later_in_a_namespace_where_another_of_its_name_has_moved_elsewhere() {
    let scratch = fleet(&[("edge", &[("media", &["player"]), ("tools", &["player"])])]);
    let spec = scratch.text("windows.yaml");
    scratch
        .write(
            "windows.yaml",
            spec.clone()
                + "rules: [{ namespace: tools, type: rw }, { kind: ConfigMap, type: rt }, { type: rw }]\n",
        )
        .commit();
    handed_over(&scratch);
    scratch.write("windows.yaml", spec).commit();
    handed_over(&scratch);
    let objects = rendered(&scratch, "clusters/edge/infra/reconciliation-windows");
    let wanted = ["media/player-rw", "tools/player-rw"].map(str::to_owned);
    assert_eq!(held(&objects, "close-reconciliation-window"), BTreeSet::from(wanted));
}

#[test]
fn who_waits_for_one_of_the_same_name_in_another_namespace_stops_no_gate() {
    let scratch = Scratch::empty();
    let flux = |name: &str, namespace: &str, path: &str, more: &str| {
        scratch.write(
            &format!("clusters/north/{namespace}-{name}.yaml"),
            format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: {namespace} }}\nspec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system, namespace: flux-system }}\n{more}"
            ),
        );
    };
    flux("flux-system", "flux-system", "clusters/north", "");
    flux("apps", "flux-system", "apps/north", "");
    flux("apps", "team", "team/own", "");
    flux("tenant", "team", "team/tenant", "  dependsOn: [{ name: apps }]\n");
    for (folder, kind) in [("apps/north", "Secret"), ("team/own", "ConfigMap"), ("team/tenant", "ConfigMap")]
    {
        let name = folder.replace('/', "-");
        scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [all.yaml]\n");
        scratch.write(
            &format!("{folder}/all.yaml"),
            format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: default }}\n"),
        );
    }
    scratch.write("windows.yaml", format!("{}  north: {{}}\n", SPEC)).commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(!run.stderr.contains("no gate suspends"), "{}", run.stderr);
    assert!(!run.stderr.contains("is real-time and depends on"), "{}", run.stderr);
    let objects = rendered(&scratch, "clusters/north/infra/reconciliation-windows");
    assert_eq!(allowed(&objects), BTreeSet::from(["flux-system/apps".to_owned()]));

    // Said with its namespace, it is the one that the gate holds back.
    flux("tenant", "team", "team/tenant", "  dependsOn: [{ name: apps, namespace: flux-system }]\n");
    scratch.commit();
    let run = scratch.run(&["sync"]);
    assert!(run.stderr.contains("no gate suspends Flux Kustomization apps"), "{}", run.stderr);
}

/// A source of this repository, as `flux bootstrap` writes it.
fn repository(name: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  interval: 1m\n  ref: {{ branch: main }}\n  url: ssh://git@github.com/acme/fleet\n"
    )
}

/// What the jobs of a gate move, and for whom.
fn moved(objects: &[Value]) -> Vec<String> {
    let jobs = objects.iter().filter(|one| one["kind"] == "CronJob");
    let of = |job: &Value| {
        let env = pod_of(job)["containers"][0]["env"].as_array().unwrap().clone();
        let values = env.iter().map(|one| one["value"].as_str().unwrap().to_owned());
        format!("{}: {}", job["metadata"]["name"].as_str().unwrap(), values.collect::<Vec<_>>().join("; "))
    };
    jobs.map(of).collect()
}

#[test]
fn one_held_source_serves_several_namespaces() {
    let scratch = fleet(&[("edge", &[("usual", &["web"]), ("media", &["player", "guide"])])]);
    let sync = "clusters/edge/flux-system/gotk-sync.yaml";
    // One app reads a second source of the same repository.
    scratch.write(
        sync,
        format!("{}---\n{}---\n{}", scratch.text(sync), repository("flux-system"), repository("media")),
    );
    scratch.replace("apps/edge/media/guide/ks.yaml", "name: flux-system,", "name: media,");
    let spec = scratch.text("windows.yaml");
    let gate = "gate: { mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-01-31 }\n";
    scratch.write("windows.yaml", format!("{spec}{gate}"));
    scratch.commit();
    handed_over(&scratch);
    let list = scratch.git(&["ls-files", "*/kustomization.yaml"]);
    let folder =
        list.lines().find(|file| scratch.text(file).contains("follow-reconciliation-window")).unwrap();
    let objects = rendered(&scratch, folder.trim_end_matches("/kustomization.yaml"));
    assert_eq!(
        moved(&objects),
        [
            "follow-reconciliation-window: GitRepository; flux-system; flux-system; flux-system-rw; flux-system web-rw\nmedia player-rw; jobs",
            "follow-reconciliation-window-media: GitRepository; flux-system; media; media-rw; media guide-rw; jobs",
        ]
    );
    insta::assert_snapshot!(super::permissions(&objects).join("\n"));
    for (file, source) in
        [("media/player", "flux-system-rw"), ("media/guide", "media-rw"), ("usual/web", "flux-system-rw")]
    {
        let files = scratch.git(&["ls-files", &format!("apps/edge/{file}*")]);
        let reads = |file: &&str| scratch.text(file).contains(&format!("name: {source}"));
        assert!(files.lines().any(|file| reads(&file)), "{file}: {files}");
    }
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert_eq!(told.matches("gated by rw").count(), 3, "{told}");
    let found = scratch.run(&["check", "--now", "2026-11-20T00:00:00Z", "--format", "json"]).stdout;
    let found: Value = serde_json::from_str(&found).unwrap();
    let codes: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(codes, Vec::<&str>::new(), "{found:#}");
}
