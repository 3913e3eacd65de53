//! `status`: contexts, exit codes and forms of the answer; what a real cluster says is for `tests/e2e`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use divided::finished;
use gitops_windows::render::{Embedded, Limits, Renderer, Request};
use serde_json::{Value, json};
use support::scratch::{Run, Scratch, clean, held_to_schema};

/// A Monday after all commits; the window of the sample opens on Saturday at 22:00 in Berlin.
const NOW: &str = "2031-03-03T12:00:00Z";

/// Prints what was recorded of a context, as kubectl does.
const KUBECTL: &str = r#"#!/bin/sh
context=none
for word in "$@"; do case $word in --context=*) context=${word#--context=} ;; esac; done
folder=${0%/*}
[ -f "$folder/$context.json" ] || { echo "The connection to the server was refused" >&2; exit 1; }
case $2 in jobs.batch) cat "$folder/$context-jobs.json" ;; *) cat "$folder/$context.json" ;; esac
"#;

/// The sample after its migration, with a commit that waits in `edge-01`.
struct Fleet {
    scratch: Scratch,
    applied: String,
    newest: String,
}

impl Fleet {
    fn new() -> Fleet {
        let scratch = finished("sample", &["edge-01", "edge-02"]);
        let head = || scratch.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let applied = head();
        scratch.write("README.md", "words").commit();
        scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
        scratch.git(&["commit", "--quiet", "--all", "--message", "Update nginx"]);
        let newest = head();
        let fleet = Fleet { scratch, applied, newest };
        fleet.put("kubectl", KUBECTL);
        let program = fleet.folder().join("kubectl");
        let mut mode = std::fs::metadata(&program).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        std::fs::set_permissions(program, mode).unwrap();
        for cluster in ["edge-01", "edge-02"] {
            fleet.record(cluster, |_| ());
        }
        fleet
    }

    fn folder(&self) -> PathBuf {
        self.scratch.outside().join("bin")
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.folder()).unwrap();
        std::fs::write(self.folder().join(name), text).unwrap();
    }

    /// Records a cluster that is closed as it should be, changed by an edit of `apps-rw`.
    fn record(&self, cluster: &str, edit: impl Fn(&mut Value)) {
        let files = support::read(self.scratch.top());
        let folders = ["flux", "infra"].map(|name| format!("clusters/{cluster}/{name}"));
        let requests: Vec<Request> =
            folders.iter().map(|folder| Request::flux(support::path(folder), &Value::Null)).collect();
        let built = Embedded::new(Limits::default()).render(&files, &requests);
        let mut items: Vec<Value> = Vec::new();
        let mut jobs = Vec::new();
        for object in built.into_iter().flat_map(Result::unwrap) {
            let mut value = (*object.value).clone();
            let name = value["metadata"]["name"].as_str().unwrap().to_owned();
            value["metadata"]["uid"] = json!(name);
            value["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
            match value["kind"].as_str().unwrap() {
                "Kustomization" => {
                    let applied = if name == "apps-rw" { &self.applied } else { &self.newest };
                    value["status"]["lastAppliedRevision"] = json!(format!("main@sha1:{applied}"));
                    if name == "apps-rw" {
                        value["spec"]["suspend"] = json!(true);
                        let fields = json!({ "f:spec": { "f:suspend": {} } });
                        value["metadata"]["managedFields"] = json!([{ "manager": "flux", "time": "2031-03-02T03:00:02Z", "fieldsV1": fields }]);
                        edit(&mut value);
                    }
                }
                "CronJob" => {
                    let at = if name.starts_with("open") {
                        "2031-03-01T21:00:00Z"
                    } else {
                        "2031-03-02T03:00:00Z"
                    };
                    value["status"] = json!({ "lastScheduleTime": at });
                    jobs.push(json!({
                        "apiVersion": "batch/v1", "kind": "Job",
                        "metadata": {
                            "name": format!("{name}-1"), "namespace": "jobs",
                            "ownerReferences": [{ "kind": "CronJob", "name": name, "uid": name }],
                        },
                        "status": {
                            "startTime": at, "completionTime": at.replace(":00Z", ":03Z"),
                            "conditions": [{ "type": "Complete", "status": "True" }],
                        },
                    }));
                }
                _ => continue,
            }
            items.push(value);
        }
        items.push(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": { "name": "flux-system", "namespace": "flux-system" },
            "status": { "artifact": { "revision": format!("main@sha1:{}", self.newest) } },
        }));
        self.put(&format!("{cluster}.json"), &json!({ "items": items }).to_string());
        self.put(&format!("{cluster}-jobs.json"), &json!({ "items": jobs }).to_string());
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut path = self.folder().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_gitops-windows")), self.scratch.top());
        command.env("PATH", path).args(["status", "--now", NOW]).args(arguments);
        command
    }

    /// Runs it, and gives what it printed with other names for the commits.
    #[track_caller]
    fn status(&self, code: i32, arguments: &[&str]) -> String {
        let run = Run::of(&self.command(arguments).output().unwrap());
        assert_eq!(run.code, code, "{}\n{}", run.stdout, run.stderr);
        let known = [(&self.applied, "3f2a1b9c0d"), (&self.newest, "8e0d5c7a41")];
        let named = |text: String| {
            known.iter().fold(text, |text, (commit, name)| {
                text.replace(commit.as_str(), name).replace(&commit[..10], name)
            })
        };
        named(if run.stdout.is_empty() { run.stderr } else { run.stdout })
    }
}

const BOTH: [&str; 4] = ["--context", "edge-01=edge-01", "--context", "edge-02=edge-02"];

#[test]
fn clusters_are_asked_by_their_contexts_and_the_documentation_shows_it() {
    let fleet = Fleet::new();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/status.md")).unwrap();
    let shows = |text: &str| assert!(page.contains(text.trim_end()), "docs/status.md lacks:\n{text}");
    let fine = fleet.status(0, &BOTH);
    insta::assert_snapshot!("fine", fine);
    let verbose = fleet.status(0, &[&BOTH[..2], &["--verbose"]].concat());
    insta::assert_snapshot!("verbose", verbose);

    fleet.record("edge-02", |value| {
        value["spec"]["suspend"] = json!(false);
        value["metadata"]["managedFields"][0]["manager"] = json!("kubectl-edit");
        value["metadata"]["managedFields"][0]["time"] = json!("2031-03-03T08:12:00Z");
    });
    let mixed = fleet.status(1, &BOTH);
    insta::assert_snapshot!("mixed", mixed);

    let printed = fleet.status(1, &[&BOTH[..], &["--format", "json"]].concat());
    let value = held_to_schema(&["status", "--format", "json"], &printed).unwrap();
    assert_eq!(value["clusters"][0]["gates"][0]["waits"]["commits"][0]["subject"], "Update nginx");

    let one_is_away = ["--context", "edge-01=edge-01", "--context", "edge-02=nowhere"];
    insta::assert_snapshot!("unreachable", fleet.status(1, &one_is_away));
    insta::assert_snapshot!("nobody", fleet.status(3, &["--cluster", "edge-01", "--context", "nowhere"]));
    insta::assert_snapshot!("without", fleet.status(2, &[]));
    [fine, mixed].iter().for_each(|text| shows(text));
}

#[test]
fn a_watch_asks_again_and_writes_a_line_an_answer() {
    let fleet = Fleet::new();
    let mut command =
        fleet.command(&["--cluster", "edge-01", "--context", "edge-01", "--watch", "1", "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().take(2).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines[0], lines[1]);
    assert_eq!(serde_json::from_str::<Value>(&lines[0]).unwrap()["fine"], true);
}
