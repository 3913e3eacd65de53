//! The node: runs the pods of Jobs as local processes, with the rights of their ServiceAccounts.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Api, Change};
use crate::binaries::Binaries;
use crate::cluster::write_kubeconfig;

/// What the image `ghcr.io/fluxcd/flux-cli` starts where a container names no command.
const ENTRYPOINT: &str = "flux";

/// A thread that runs pods until it is dropped.
pub struct Node {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Node {
    /// Begins to run the pods of a cluster.
    pub fn start(api: Api, server: &str, binaries: &Arc<Binaries>, folder: &Path) -> Node {
        let stop = Arc::new(AtomicBool::new(false));
        let mut kubelet = Kubelet {
            api,
            server: server.to_owned(),
            bin: binaries.bin.clone(),
            folder: folder.to_owned(),
            running: BTreeMap::new(),
        };
        let asked = Arc::clone(&stop);
        let thread = spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                kubelet.turn();
                sleep(Duration::from_millis(200));
            }
            for run in kubelet.running.values_mut().flatten() {
                run.kill();
            }
        });
        Node { stop, thread: Some(thread) }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Kubelet {
    api: Api,
    server: String,
    bin: PathBuf,
    folder: PathBuf,
    /// By the pods' UIDs; `None` after the end.
    running: BTreeMap<String, Option<Run>>,
}

struct Run {
    child: Child,
    log: PathBuf,
}

impl Run {
    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Kubelet {
    fn turn(&mut self) {
        let Some(mut list) = self.api.get("/api/v1/pods") else { return };
        let Value::Array(pods) = list["items"].take() else { return };
        let uids: Vec<&str> = pods.iter().filter_map(|pod| pod["metadata"]["uid"].as_str()).collect();
        for (uid, run) in &mut self.running {
            // A Job that ran out of time deletes its pod.
            if !uids.contains(&uid.as_str())
                && let Some(mut run) = run.take()
            {
                run.kill();
            }
        }
        for pod in &pods {
            if pod["metadata"]["deletionTimestamp"].is_null() {
                self.pod(pod);
            }
        }
    }

    fn pod(&mut self, pod: &Value) {
        let uid = pod["metadata"]["uid"].as_str().unwrap();
        let of_job = pod["metadata"]["ownerReferences"][0]["kind"] == "Job";
        match self.running.get_mut(uid) {
            Some(Some(run)) => {
                let Ok(Some(status)) = run.child.try_wait() else { return };
                let said = std::fs::read_to_string(&run.log).unwrap_or_default();
                let code = status.code().unwrap_or(137);
                self.report(pod, if code == 0 { "Succeeded" } else { "Failed" }, code, &said);
                self.running.insert(uid.to_owned(), None);
            }
            Some(None) => {}
            None if of_job => {
                if let Some(run) = self.run(pod, uid) {
                    self.running.insert(uid.to_owned(), Some(run));
                }
            }
            None if pod["status"]["phase"] == "Pending" => self.serve(pod),
            None => {}
        }
    }

    /// Starts the pod's container with nothing but the token of its ServiceAccount.
    fn run(&self, pod: &Value, uid: &str) -> Option<Run> {
        let namespace = pod["metadata"]["namespace"].as_str()?;
        let account = pod["spec"]["serviceAccountName"].as_str()?;
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let bound = json!({ "kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": uid });
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": { "boundObjectRef": bound },
        });
        let answer = self.api.change(&path, Change::Create(&request)).ok()?;
        let home = self.folder.join("tmp").join(uid);
        std::fs::create_dir_all(&home).ok()?;
        let kubeconfig = home.join("kubeconfig");
        write_kubeconfig(&kubeconfig, &self.server, answer["status"]["token"].as_str()?);
        let container = &pod["spec"]["containers"][0];
        let words = |key: &str| -> Vec<String> {
            let words = container[key].as_array().into_iter().flatten();
            words.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut line = words("command");
        if line.is_empty() {
            line.push(ENTRYPOINT.to_owned());
        }
        line.extend(words("args"));
        let program = if line[0].contains('/') { PathBuf::from(&line[0]) } else { self.bin.join(&line[0]) };
        let log = home.join("log");
        let file = std::fs::File::create(&log).ok()?;
        let mut command = Command::new(program);
        command
            .args(&line[1..])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.bin.display()))
            .env("KUBECONFIG", kubeconfig)
            .env("HOME", &home)
            .envs(
                container["env"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|variable| Some((variable["name"].as_str()?, variable["value"].as_str()?))),
            )
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(file.try_clone().ok()?)
            .stderr(file)
            .process_group(0);
        match command.spawn() {
            Ok(child) => Some(Run { child, log }),
            Err(error) => {
                self.report(pod, "Failed", 127, &error.to_string());
                None
            }
        }
    }

    /// Tells how a container ended.
    fn report(&self, pod: &Value, phase: &str, code: i32, said: &str) {
        let container = &pod["spec"]["containers"][0];
        let ended = json!({ "exitCode": code, "reason": phase, "message": said });
        let status = json!({ "status": { "phase": phase, "containerStatuses": [{
            "name": container["name"], "image": container["image"], "imageID": "", "ready": false,
            "restartCount": 0, "state": { "terminated": ended },
        }]}});
        self.patch(pod, &status);
    }

    /// Says of a pod that runs for ever that it is ready.
    fn serve(&self, pod: &Value) {
        let ready =
            json!({ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" });
        self.patch(pod, &json!({ "status": { "phase": "Running", "conditions": [ready] } }));
    }

    fn patch(&self, pod: &Value, status: &Value) {
        let (namespace, name) = (&pod["metadata"]["namespace"], &pod["metadata"]["name"]);
        let (Some(namespace), Some(name)) = (namespace.as_str(), name.as_str()) else { return };
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/status");
        let _ = self.api.change(&path, Change::Merge("node", status));
    }
}
