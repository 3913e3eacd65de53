//! Whole answers about one cluster, from objects as kubectl prints them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::delivery::{Known, Model, World};
use crate::live::Objects;
use crate::mechanism;
use crate::path::RepoPath;
use crate::render::Lent;
use crate::repo::{Entry, File, Merged, Snapshot};
use crate::spec::{Spec, parse};

/// A Monday; the window opens on Saturday at 22:00 in Berlin, for four hours.
const NOW: &str = "2026-11-23T12:00:00Z";

/// A Saturday within the window.
const OPEN: &str = "2026-11-28T22:00:00Z";

/// The commit that is applied, and the newest one.
const OLD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const NEW: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: saturday } }
windows: { saturday: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 2 * * SUN } }
clusters: { one: { paths: [clusters/one] } }
rules: [{ kind: ConfigMap, type: rt }, { type: rw }]
gate: GATE
";

const PAIR: &str = "{ namespace: jobs }";
const TABLE: &str = "{ namespace: jobs, every: 5m, through: 2027-06-30 }";
const FOLLOW: &str = "{ mechanism: follow, namespace: jobs, every: 5m, through: 2027-06-30 }";

/// What the files of the repository, the cluster and the instant are.
struct Scene {
    spec: Spec,
    files: BTreeMap<String, String>,
    objects: Objects,
    now: Timestamp,
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Makes a field manager's entry.
fn owned(manager: &str, time: &str, fields: &Value) -> Value {
    json!({ "manager": manager, "operation": "Update", "time": time, "fieldsType": "FieldsV1", "fieldsV1": fields })
}

fn kustomization(name: &str, path: &str, source: &str) -> Value {
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {
            "name": name, "namespace": "flux-system", "generation": 3,
            "creationTimestamp": "2026-10-01T08:00:00Z",
            "managedFields": [owned("kustomize-controller", "2026-10-01T08:00:00Z", &json!({ "f:spec": { "f:path": {}, "f:interval": {} } }))],
        },
        "spec": { "path": path, "interval": "10m", "prune": true, "sourceRef": { "kind": "GitRepository", "name": source } },
        "status": {
            "lastAppliedRevision": format!("main@sha1:{NEW}"),
            "conditions": [{ "type": "Ready", "status": "True", "message": "Applied" }],
        },
    })
}

fn source(name: &str, reference: &Value) -> Value {
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": { "name": name, "namespace": "flux-system", "creationTimestamp": "2026-10-01T08:00:00Z" },
        "spec": { "interval": "1m", "url": "https://example.org/fleet", "ref": reference },
        "status": {
            "artifact": { "revision": format!("main@sha1:{NEW}"), "lastUpdateTime": "2026-11-23T09:00:00Z" },
            "conditions": [{ "type": "Ready", "status": "True", "message": "stored artifact" }],
        },
    })
}

fn cron_job(name: &str, schedule: &str, container: &Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": { "name": name, "namespace": "jobs" },
        "spec": {
            "schedule": schedule, "timeZone": "Europe/Berlin",
            "jobTemplate": { "spec": { "template": { "spec": { "containers": [container], "restartPolicy": "Never" } } } },
        },
    })
}

/// Makes a run of a CronJob that took two seconds.
fn run(cron_job: &str, start: &str, condition: &Value) -> Value {
    let end = (at(start) + jiff::SignedDuration::from_secs(2)).to_string();
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": format!("{cron_job}-1"), "namespace": "jobs",
            "ownerReferences": [{ "kind": "CronJob", "name": cron_job, "uid": cron_job }],
        },
        "status": { "startTime": start, "completionTime": end, "succeeded": 1, "conditions": [condition] },
    })
}

fn complete() -> Value {
    json!({ "type": "Complete", "status": "True" })
}

impl Scene {
    /// A cluster that is closed as it should be, with a commit that waits.
    fn new(gate: &str) -> Scene {
        let path = RepoPath::parse("windows.yaml").unwrap();
        let spec = parse(&path, SPEC.replace("GATE", gate).as_bytes()).unwrap().spec;
        let is_follow = gate == FOLLOW;
        let held = if is_follow { "flux-system-rw" } else { "flux-system" };
        let live = json!({ "branch": "main" });
        let mut flux = vec![
            kustomization("flux-system", "./clusters/one", "flux-system"),
            kustomization("apps-rt", "./apps/rt", "flux-system"),
            kustomization("apps-rw", "./apps/rw", held),
        ];
        let mut sources = vec![source("flux-system", &live)];
        if is_follow {
            sources.push(source(
                held,
                &json!({ "branch": "main", "tag": mechanism::SourceKind::Git.placeholder() }),
            ));
        }
        let mut jobs = jobs(&spec);
        let text = |all: &[Value]| {
            let plain = |value: &Value| {
                let mut value = value.clone();
                value["status"].take();
                value["metadata"]["managedFields"].take();
                format!("---\n{value}\n")
            };
            all.iter().map(plain).collect::<String>()
        };
        let files = [
            ("clusters/one/flux-system/gotk-sync.yaml", text(&flux[..1]) + &text(&sources)),
            ("clusters/one/apps.yaml", text(&flux[1..])),
            ("clusters/one/gate.yaml", text(&jobs)),
            ("apps/rt/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: shop }\n".to_owned()),
            ("apps/rw/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: shop }\nspec: { ports: [{ port: 80 }] }\n".to_owned()),
        ];
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();

        flux[2]["status"]["lastAppliedRevision"] = json!(format!("main@sha1:{OLD}"));
        let mut runs = Vec::new();
        for job in &mut jobs {
            let name = job["metadata"]["name"].as_str().unwrap().to_owned();
            let last = match (spec.gate.table.is_some(), name.starts_with("open")) {
                (true, _) => "2026-11-23T11:55:00Z",
                (false, true) => "2026-11-21T21:00:00Z",
                (false, false) => "2026-11-22T01:00:00Z",
            };
            job["metadata"]["uid"] = json!(name);
            job["metadata"]["creationTimestamp"] = json!("2026-10-01T08:00:00Z");
            job["status"] = json!({ "lastScheduleTime": last });
            runs.push(run(&name, last, &complete()));
        }
        if is_follow {
            let held = &mut sources[1];
            held["spec"]["ref"]["commit"] = json!(OLD);
            held["status"]["artifact"]["revision"] = json!(format!("main@sha1:{OLD}"));
            held["metadata"]["annotations"] =
                json!({ "gitops-windows/window": "held until Sat 2026-11-28 22:00:00 +01:00" });
            let fields = json!({ "f:spec": { "f:ref": { "f:commit": {} } } });
            held["metadata"]["managedFields"] = json!([owned("flux", "2026-11-22T00:55:01Z", &fields)]);
        } else {
            flux[2]["spec"]["suspend"] = json!(true);
            let fields = json!({ "f:spec": { "f:suspend": {} } });
            let entry = owned("flux", "2026-11-22T01:00:01Z", &fields);
            flux[2]["metadata"]["managedFields"].as_array_mut().unwrap().push(entry);
            if spec.gate.table.is_some() {
                flux[2]["metadata"]["annotations"] =
                    json!({ "gitops-windows/held": "until the window opens" });
            }
        }
        let objects =
            Objects { kustomizations: flux, sources, cron_jobs: jobs, jobs: runs, ..Objects::default() };
        Scene { spec, files, objects, now: at(NOW) }
    }

    /// The gated Flux Kustomization.
    fn rw(&mut self) -> &mut Value {
        &mut self.objects.kustomizations[2]
    }

    /// Says that a manager has set `spec.suspend` of the gated Flux Kustomization.
    fn suspend(&mut self, is_suspended: bool, manager: &str, time: &str) {
        let rw = self.rw();
        rw["spec"]["suspend"] = json!(is_suspended);
        let managers = rw["metadata"]["managedFields"].as_array_mut().unwrap();
        managers.retain(|entry| entry["fieldsV1"]["f:spec"]["f:suspend"].is_null());
        managers.push(owned(manager, time, &json!({ "f:spec": { "f:suspend": {} } })));
    }

    /// Looks into the window, after all has been opened.
    fn open(&mut self) {
        self.now = at(OPEN);
        for (job, run) in self.objects.cron_jobs.iter_mut().zip(&mut self.objects.jobs) {
            let is_close = job["metadata"]["name"].as_str().unwrap().starts_with("close");
            let last = match (self.spec.gate.table.is_some(), is_close) {
                (true, _) => "2026-11-28T21:55:00Z",
                (false, true) => "2026-11-22T01:00:00Z",
                (false, false) => "2026-11-28T21:00:00Z",
            };
            job["status"]["lastScheduleTime"] = json!(last);
            *run = self::run(job["metadata"]["name"].as_str().unwrap(), last, &complete());
        }
    }

    /// Asks, as the command does.
    fn answer(&self) -> Answer {
        let renderer = Lent::default();
        let mut newer = self.files.clone();
        let service = newer.get_mut("apps/rw/service.yaml").unwrap();
        *service = service.replace("80", "8080");
        let (before, after) = (snapshot(&self.files), snapshot(&newer));
        let model =
            |files: &Snapshot| Model::read(files, &RepoPath::top(), &Known::of(&self.spec), &renderer);
        let (old, new) = (model(&before), model(&after));
        let expected = Expected::new(&self.spec, &new, self.now).unwrap();
        let mut clusters = vec![Cluster {
            name: "one".to_owned(),
            context: Some("kind-one".to_owned()),
            unread: None,
            gates: observe(&expected, "one", &self.objects, self.now),
            problems: Vec::new(),
        }];
        for gated in &mut clusters[0].gates {
            gated.waits.unknown = gated.held.iter().filter_map(|held| held.unknown.clone()).collect();
        }
        let pair = (OLD.to_owned(), NEW.to_owned());
        if wanted(&clusters).contains(&pair) {
            let merged = |hash: &str, path: &str| Merged {
                hash: hash.repeat(10),
                at: Timestamp::UNIX_EPOCH,
                subject: format!("Change {path}"),
                paths: BTreeSet::from([RepoPath::parse(path).unwrap()]),
            };
            let merged = [merged("beef", "README.md"), merged("cafe", "apps/rw/service.yaml")];
            let worlds = (World { snapshot: &before, model: &old }, World { snapshot: &after, model: &new });
            waiting(&expected, &mut clusters, &pair, worlds, &merged, &renderer);
        }
        let made = |commit: &str| {
            Some(at(if commit == OLD { "2026-11-20T08:00:00Z" } else { "2026-11-23T09:00:00Z" }))
        };
        clusters[0].problems = judge(&expected, &clusters[0], &self.objects, self.now, &made);
        Answer { now: self.now, clusters }
    }
}

fn snapshot(files: &BTreeMap<String, String>) -> Snapshot {
    let entry = |(path, text): (&String, &String)| {
        (RepoPath::parse(path).unwrap(), Entry::File(File::new(text.clone().into_bytes())))
    };
    Snapshot::new(files.iter().map(entry).collect())
}

/// Makes the CronJobs of a gate.
fn jobs(spec: &Spec) -> Vec<Value> {
    let tables = mechanism::of(spec.gate.mechanism).jobs(spec).unwrap().tables;
    let table = tables.get("one").and_then(|own| own.get(&1)).cloned().unwrap_or_default();
    let lines = |table: Vec<String>| [vec!["open-times".to_owned()], table].concat();
    if spec.gate.mechanism == crate::spec::MechanismName::Follow {
        let env = [
            ("NAMESPACE", "flux-system"),
            ("LIVE", "flux-system"),
            ("HELD", "flux-system-rw"),
            ("NOTES", "jobs"),
            ("GATED", "flux-system apps-rw"),
        ];
        let env: Vec<Value> =
            env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let container =
            json!({ "name": "gate", "command": ["/bin/sh", "-c", ":"], "args": lines(table), "env": env });
        return vec![cron_job("follow-reconciliation-window", "*/5 * * * *", &container)];
    }
    let job = |name: &str, schedule: &str, suspend: bool| {
        let patch = format!(
            "kubectl patch kustomization apps-rw --namespace=flux-system --type=merge --field-manager=flux --patch='{{\"spec\":{{\"suspend\":{suspend}}}}}'"
        );
        let mut container = json!({ "name": "gate", "command": ["/bin/sh", "-c", patch] });
        let mut schedule = schedule;
        if !table.is_empty() {
            container["args"] = json!(lines(table.clone()));
            schedule = "*/5 * * * *";
        }
        cron_job(name, schedule, &container)
    };
    vec![job("open-window", "0 22 * * SAT", false), job("close-window", "0 2 * * SUN", true)]
}

fn told(answer: &Answer, verbose: bool) -> String {
    text(answer, Look { namespace: "flux-system", verbose, color: false, width: 100 })
}

#[test]
fn what_is_as_it_should_be_is_one_line_and_more_where_that_is_asked_for() {
    let mut shown = String::new();
    for gate in [PAIR, TABLE, FOLLOW] {
        let mut scene = Scene::new(gate);
        for is_open in [false, true] {
            if is_open {
                scene.open();
                if gate == FOLLOW {
                    scene.objects.sources[1]["spec"]["ref"]["commit"] = json!(NEW);
                } else {
                    scene.suspend(false, "flux", "2026-11-28T21:00:01Z");
                    scene.rw()["metadata"]["annotations"].take();
                }
                scene.rw()["status"]["lastAppliedRevision"] = json!(format!("main@sha1:{NEW}"));
            }
            let answer = scene.answer();
            assert!(answer.is_fine(), "{}", told(&answer, true));
            shown += &format!("# {gate}\n{}\n{}\n", told(&answer, false), told(&answer, true));
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn nothing_is_wrong_before_the_first_closing() {
    let mut scene = Scene::new(PAIR);
    scene.suspend(false, "kustomize-controller", "2026-11-23T08:00:00Z");
    for job in &mut scene.objects.cron_jobs {
        job["metadata"]["creationTimestamp"] = json!("2026-11-23T08:00:00Z");
        job["status"].take();
    }
    scene.objects.jobs.clear();
    let answer = scene.answer();
    assert_eq!(
        told(&answer, false),
        "one is as it should be: rw is open until Sun 2026-11-29 02:00 Europe/Berlin (nothing has closed\n  yet), 1 object from 1 commit waits.\n"
    );
}

#[test]
fn until_sync_has_written_a_window_the_gate_in_git_counts() {
    let mut scene = Scene::new(PAIR);
    let text = SPEC
        .replace("GATE", PAIR)
        .replace("0 22 * * SAT", "0 12 * * MON")
        .replace("0 2 * * SUN", "0 14 * * MON");
    scene.spec = parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
    let answer = scene.answer();
    assert!(answer.is_fine(), "{}", told(&answer, true));
    assert!(told(&answer, false).contains("Sat 2026-11-28 22:00"), "{}", told(&answer, false));
}

/// Something that is not as it should be: what it is, by what gate, and how the cluster comes to it.
type Case = (&'static str, &'static str, fn(&mut Scene));

const CASES: &[Case] = &[
    ("resumed by hand while closed", PAIR, |scene| {
        scene.suspend(false, "kubectl-edit", "2026-11-23T08:12:00Z");
        scene.rw()["status"]["lastAppliedRevision"] = json!(format!("main@sha1:{NEW}"));
    }),
    ("the closing failed", PAIR, |scene| {
        scene.suspend(false, "flux", "2026-11-21T21:00:01Z");
        let failed = json!({ "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": "2026-11-22T01:40:00Z" });
        scene.objects.jobs[1] = run("close-window", "2026-11-22T01:00:00Z", &failed);
    }),
    ("the closing is tried again", TABLE, |scene| {
        scene.objects.jobs[1]["status"] =
            json!({ "startTime": "2026-11-23T11:55:00Z", "failed": 2, "active": 1 });
    }),
    ("no job ran", PAIR, |scene| {
        scene.suspend(false, "flux", "2026-11-14T21:00:01Z");
        for (job, last) in
            scene.objects.cron_jobs.iter_mut().zip(["2026-11-14T21:00:00Z", "2026-11-15T01:00:00Z"])
        {
            job["status"]["lastScheduleTime"] = json!(last);
        }
        scene.objects.jobs.clear();
    }),
    ("made again while closed", PAIR, |scene| {
        let rw = scene.rw();
        rw["spec"]["suspend"].take();
        rw["metadata"]["managedFields"].take();
        rw["metadata"]["creationTimestamp"] = json!("2026-11-23T07:00:00Z");
    }),
    ("suspended in the window", PAIR, |scene| {
        scene.open();
        scene.suspend(true, "flux", "2026-11-28T21:30:00Z");
    }),
    ("suspended by somebody, not by the table's jobs", TABLE, |scene| {
        scene.rw()["metadata"]["annotations"].take();
        scene.suspend(true, "k9s", "2026-11-23T08:12:00Z");
    }),
    ("the source does not follow", FOLLOW, |scene| scene.open()),
    ("the source is suspended", FOLLOW, |scene| {
        let source = &mut scene.objects.sources[1];
        source["spec"]["suspend"] = json!(true);
        let entry = owned("flux", "2026-11-23T08:12:00Z", &json!({ "f:spec": { "f:suspend": {} } }));
        source["metadata"]["managedFields"].as_array_mut().unwrap().push(entry);
    }),
    ("the source stands in another namespace, and is suspended", FOLLOW, |scene| {
        let rw = scene.rw();
        rw["metadata"]["namespace"] = json!("media");
        rw["spec"]["sourceRef"]["namespace"] = json!("flux-system");
        let mut plain = rw.clone();
        plain["status"].take();
        plain["metadata"]["managedFields"].take();
        let file = scene.files.get_mut("clusters/one/apps.yaml").unwrap();
        let rt = file.split("---\n").nth(1).unwrap().to_owned();
        *file = format!("---\n{rt}---\n{plain}\n");
        scene.objects.sources[1]["spec"]["suspend"] = json!(true);
    }),
    ("a commit was set by hand while the source is stopped", FOLLOW, |scene| {
        let source = &mut scene.objects.sources[1];
        source["metadata"]["annotations"]["gitops-windows/stop"] = json!("INC-7");
        source["spec"]["ref"]["commit"] = json!(NEW);
        let fields = json!({ "f:spec": { "f:ref": { "f:commit": {} } } });
        source["metadata"]["managedFields"] =
            json!([owned("kubectl-patch", "2026-11-23T09:30:00Z", &fields)]);
    }),
    ("stopped by an annotation, without Git", FOLLOW, |scene| {
        scene.objects.sources[1]["metadata"]["annotations"]["gitops-windows/stop"] = json!("INC-7");
    }),
    ("stopped by an annotation, with a table", TABLE, |scene| {
        scene.rw()["metadata"]["annotations"]["gitops-windows/stop"] = json!("INC-7");
    }),
    ("a commit was set by hand", FOLLOW, |scene| {
        let source = &mut scene.objects.sources[1];
        source["spec"]["ref"]["commit"] = json!(NEW);
        let fields = json!({ "f:spec": { "f:ref": { "f:commit": {} } } });
        source["metadata"]["managedFields"] =
            json!([owned("kubectl-patch", "2026-11-23T09:30:00Z", &fields)]);
        scene.rw()["status"]["lastAppliedRevision"] = json!(format!("main@sha1:{NEW}"));
    }),
    ("what reads a new held source is at several commits", FOLLOW, |scene| {
        let source = &mut scene.objects.sources[1];
        source["spec"]["ref"]["commit"].take();
        source["metadata"]["annotations"].take();
        source["metadata"]["managedFields"].take();
        let failed = json!({ "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded" });
        scene.objects.jobs = vec![run("follow-reconciliation-window", "2026-11-23T11:55:00Z", &failed)];
    }),
    ("fields were set by hand", PAIR, |scene| {
        let fields = json!({ "f:spec": { "f:interval": {}, "f:timeout": {}, "f:wait": {} } });
        let entry = owned("kubectl-edit", "2026-11-23T08:12:00Z", &fields);
        scene.rw()["metadata"]["managedFields"].as_array_mut().unwrap().push(entry);
    }),
    ("it is not there", PAIR, |scene| drop(scene.objects.kustomizations.remove(2))),
    ("another path and a failure", PAIR, |scene| {
        let rw = scene.rw();
        rw["spec"]["path"] = json!("./apps/old");
        rw["status"]["conditions"] = json!([{ "type": "Ready", "status": "False", "message": "kustomization path not found:\n\u{1b}[31m./apps/old\u{202e}" }]);
    }),
    ("the source can't be fetched", PAIR, |scene| {
        scene.objects.sources[0]["status"] = json!({ "conditions": [{ "type": "Ready", "status": "False", "message": "failed to checkout and determine revision" }] });
    }),
    ("a job is missing, the other is suspended and changed", PAIR, |scene| {
        scene.objects.cron_jobs.remove(0);
        scene.objects.cron_jobs[0]["spec"]["suspend"] = json!(true);
        scene.objects.cron_jobs[0]["spec"]["schedule"] = json!("0 3 * * SUN");
    }),
    ("an older gate closes too", PAIR, |scene| {
        let mut old = scene.objects.cron_jobs[1].clone();
        old["metadata"]["name"] = json!("suspend-apps");
        scene.objects.cron_jobs.push(old);
    }),
    ("what waits for no window is suspended", PAIR, |scene| {
        scene.objects.kustomizations[1]["spec"]["suspend"] = json!(true);
    }),
    ("it may not be read", PAIR, |scene| {
        scene.objects.jobs.clear();
        scene.objects.unread.push(
            "context kind-one does not allow to list jobs.batch of namespace jobs: forbidden".to_owned(),
        );
    }),
    ("another cluster", PAIR, |scene| scene.objects = Objects::default()),
];

#[test]
fn whatever_is_not_as_it_should_be_is_told_with_why_and_what_to_do() {
    let mut shown = String::new();
    let mut kinds: BTreeSet<Kind> = BTreeSet::new();
    for (title, gate, edit) in CASES {
        let mut scene = Scene::new(gate);
        edit(&mut scene);
        let answer = scene.answer();
        assert!(!answer.is_fine(), "{title}");
        kinds.extend(answer.clusters[0].problems.iter().map(|problem| problem.kind));
        shown += &format!("# {title}\n{}\n", told(&answer, false));
    }
    assert_eq!(kinds, Kind::ALL.into(), "each kind needs a case");
    insta::assert_snapshot!(shown);
}

#[test]
fn several_clusters_stand_in_one_table() {
    let mut wrong = Scene::new(PAIR);
    wrong.suspend(false, "kubectl-edit", "2026-11-23T08:12:00Z");
    let mut answer = Scene::new(PAIR).answer();
    answer
        .clusters
        .extend(wrong.answer().clusters.into_iter().map(|one| Cluster { name: "two".to_owned(), ..one }));
    answer.clusters.push(Cluster {
        name: "three".to_owned(),
        context: None,
        unread: Some("the cluster of the current context can't be reached: refused".to_owned()),
        gates: Vec::new(),
        problems: Vec::new(),
    });
    insta::assert_snapshot!(told(&answer, false));
    answer.clusters.truncate(1);
    answer.clusters.push(Cluster { name: "two".to_owned(), ..answer.clusters[0].clone() });
    assert_eq!(
        told(&answer, false),
        "2 clusters are as they should be: rw is closed until Sat 2026-11-28 22:00 Europe/Berlin, 1 object\n  from 1 commit waits.\n"
    );
}

#[test]
fn where_no_cluster_answers_the_remedy_fits_their_number() {
    let mut answer = Scene::new(PAIR).answer();
    answer.clusters[0].unread = Some("the cluster can't be reached".to_owned());
    assert!(told(&answer, false).contains("status --context NAME`"), "{}", told(&answer, false));
    answer.clusters.push(Cluster { name: "two".to_owned(), ..answer.clusters[0].clone() });
    insta::assert_snapshot!(told(&answer, false), @r"
    none of 2 clusters gives an answer, so nothing is known.

      CLUSTER  TYPE  BY THE SPEC                        IN TRUTH  COMMIT      WAITS
    ! one      -     no answer
    ! one      rw    closed until Sat 2026-11-28 22:00  closed    aaaaaaaaaa  1 object
    ! two      -     no answer
    ! two      rw    closed until Sat 2026-11-28 22:00  closed    aaaaaaaaaa  1 object

    one (context kind-one)
      ! no answer: the cluster can't be reached

    two (context kind-one)
      ! no answer: the cluster can't be reached
          → name their contexts: `gitops-windows status --context CLUSTER=NAME`; `kubectl config get-contexts` lists them
            or go by Git: `gitops-windows when` asks no cluster
    ");
}

#[test]
fn an_answer_for_programs_fits_its_schema() {
    let mut scene = Scene::new(FOLLOW);
    scene.rw()["status"]["conditions"] =
        json!([{ "type": "Ready", "status": "False", "message": "it failed" }]);
    let value = json(&scene.answer());
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
