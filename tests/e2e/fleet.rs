//! A fleet: its repository, the server of it, and its clusters.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::Change;
use crate::binaries::Binaries;
use crate::cluster::Cluster;
use crate::git::GitServer;
use crate::processes::Processes;
use crate::registry::Registry;
use crate::scratch::{Run, Scratch, clean};
use crate::wait::{WORK, until};

/// Where Flux's Kustomizations are.
pub const KUSTOMIZATIONS: &str = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations";
/// Returns the path of a Flux Kustomization by its name, after its namespace where that is not Flux's own.
pub fn kustomization_at(name: &str) -> String {
    match name.split_once('/') {
        Some((namespace, name)) => {
            format!("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{namespace}/kustomizations/{name}")
        }
        None => format!("{KUSTOMIZATIONS}/{name}"),
    }
}

/// Where Flux's GitRepositories are.
pub const SOURCES: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories";
/// Where the gate's CronJobs are.
pub const CRON_JOBS: &str = "/apis/batch/v1/namespaces/jobs/cronjobs";
/// Where the gate's Jobs are.
pub const JOBS: &str = "/apis/batch/v1/namespaces/jobs/jobs";

/// A repository with what serves it, and the clusters that follow it.
pub struct Fleet {
    /// The working tree, in which the tool and git run.
    pub tree: Scratch,
    /// The clusters, in the order of their start.
    pub clusters: Vec<Cluster>,
    server: GitServer,
    binaries: Arc<Binaries>,
    _tidy: Processes,
}

impl Fleet {
    /// Begins with an empty repository and no cluster.
    pub fn new(binaries: &Arc<Binaries>) -> Fleet {
        let tree = Scratch::empty().with_binary();
        let bare = tree.outside().join("fleet.git");
        tree.git(&["init", "--quiet", "--bare", "--initial-branch=main", bare.to_str().unwrap()]);
        tree.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        let server = GitServer::start(tree.outside());
        let tidy = Processes::new(tree.outside());
        Fleet { tree, clusters: Vec::new(), server, binaries: Arc::clone(binaries), _tidy: tidy }
    }

    /// Copies a folder of sample files into the repository.
    pub fn copy(&self, from: &Path) {
        crate::scratch::copy(from, self.tree.top());
    }

    /// Runs the tool, which must succeed.
    #[track_caller]
    pub fn tool(&self, arguments: &[&str]) -> String {
        self.tree.expect(0, arguments).stdout
    }

    /// Runs the tool with kubectl at hand, which knows the cluster.
    pub fn tool_on_cluster(&self, cluster: usize, arguments: &[&str]) -> Run {
        self.tool_with(&self.clusters[cluster].kubeconfig(), arguments)
    }

    /// Runs the tool with kubectl at hand, which knows what a kubeconfig says.
    pub fn tool_with(&self, kubeconfig: &Path, arguments: &[&str]) -> Run {
        let mut path = self.binaries.bin.clone().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_gitops-windows")), self.tree.top());
        command.args(arguments).arg("--kubeconfig").arg(kubeconfig);
        // kubectl keeps what it has discovered in its home.
        command.env("PATH", path).env("HOME", self.tree.outside());
        Run::of(&command.output().unwrap())
    }

    /// Commits everything and merges it: the repository that the clusters follow has it then.
    pub fn merge(&self, message: &str) -> Timestamp {
        self.merge_of(&format!("@{} +0000", Timestamp::now().as_second()), message)
    }

    /// As [`merge`](Fleet::merge), with a commit of that date.
    pub fn merge_of(&self, date: &str, message: &str) -> Timestamp {
        let at = self.push(date, message);
        for cluster in &self.clusters {
            cluster.fetch();
        }
        at
    }

    /// As [`merge`](Fleet::merge), and nobody tells Flux: it fetches as often as its source says.
    pub fn merge_unseen(&self, message: &str) -> Timestamp {
        self.push(&format!("@{} +0000", Timestamp::now().as_second()), message)
    }

    fn push(&self, date: &str, message: &str) -> Timestamp {
        self.tree.git(&["add", "--all"]);
        self.tree.git_at(date, &["commit", "--quiet", "--allow-empty", "--message", message]);
        let at = Timestamp::now();
        self.tree.git(&["push", "--quiet", "origin", "HEAD:main"]);
        at
    }

    /// Writes the branch anew, with everything in one commit.
    pub fn rewrite(&self, message: &str) {
        self.tree.git(&["checkout", "--quiet", "--orphan", "anew"]);
        self.tree.git(&["add", "--all"]);
        self.tree.git(&["commit", "--quiet", "--message", message]);
        self.tree.git(&["push", "--quiet", "--force", "origin", "HEAD:main"]);
        let bare = self.tree.outside().join("fleet.git");
        let prune = ["-C", bare.to_str().unwrap(), "gc", "--quiet", "--prune=now"];
        self.tree.git(&prune);
        for cluster in &self.clusters {
            cluster.fetch();
        }
    }

    /// Returns the revision that Flux reports for the last commit.
    pub fn revision(&self) -> String {
        format!("main@sha1:{}", self.tree.git(&["rev-parse", "HEAD"]).trim())
    }

    /// Starts a cluster and bootstraps it onto a folder, as `flux bootstrap` does.
    ///
    /// What bootstrap commits into the folder is committed here: the GitRepository and the
    /// Kustomization of the folder itself. Where a FluxInstance stands in Git nothing is committed, as Flux Operator
    /// makes these two in the cluster alone.
    pub fn bootstrap(&mut self, name: &str, folder: &str) -> usize {
        let cluster = Cluster::start(name, &self.binaries);
        let url = format!("--url={}", self.server.url("fleet.git"));
        let source =
            cluster.flux_cli(&["create", "source", "git", "flux-system", &url, "--branch=main", "--export"]);
        let path = format!("--path=./{folder}");
        let source_ref = "--source=GitRepository/flux-system";
        let itself = cluster.flux_cli(&[
            "create",
            "kustomization",
            "flux-system",
            source_ref,
            &path,
            "--prune",
            "--interval=10m",
            "--export",
        ]);
        let files = self.tree.git(&["ls-files"]);
        let of_operator = files.lines().any(|file| self.tree.text(file).contains("kind: FluxInstance"));
        let place = match of_operator {
            true => self.tree.outside().join("instance.yaml"),
            false => self.tree.top().join(format!("{folder}/flux-system/gotk-sync.yaml")),
        };
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, format!("{source}{itself}")).unwrap();
        self.clusters.push(cluster);
        self.merge(&format!("Add Flux to {name}"));
        self.clusters.last().unwrap().kubectl(&["apply", "--filename", place.to_str().unwrap()]);
        self.clusters.len() - 1
    }

    /// Starts a cluster with Flux, which follows nothing yet.
    pub fn start(&mut self, name: &str) {
        self.clusters.push(Cluster::start(name, &self.binaries));
    }

    /// Starts a registry.
    pub fn registry(&self) -> Registry {
        Registry::start(&self.binaries)
    }

    /// Waits until these Kustomizations of a cluster have applied the last commit.
    #[track_caller]
    pub fn landed(&self, cluster: usize, names: &[&str]) {
        let revision = self.revision();
        for name in names {
            until(&format!("{name} applies {revision}"), WORK, || {
                self.clusters[cluster].has_applied(name, &revision).then_some(())
            });
        }
    }
}

impl Cluster {
    /// Keeps Flux from looking at the repository, or lets it again.
    pub fn hold_source(&self, held: bool) {
        let patch = json!({ "spec": { "suspend": held } });
        self.api.change(&format!("{SOURCES}/flux-system"), Change::Merge("flux", &patch)).unwrap();
    }

    /// Asks Flux to look at the repository now, as a webhook would.
    pub fn fetch(&self) {
        self.reconcile(&format!("{SOURCES}/flux-system"));
    }

    /// Asks Flux to reconcile an object now; nothing happens where there is none yet.
    pub fn reconcile(&self, path: &str) {
        let annotation = json!({ "reconcile.fluxcd.io/requestedAt": Timestamp::now().to_string() });
        let patch = json!({ "metadata": { "annotations": annotation } });
        let _ = self.api.change(path, Change::Merge("flux", &patch));
    }

    /// Asks for a reconciliation of a Kustomization and waits until it was done.
    #[track_caller]
    pub fn reconciled(&self, name: &str) {
        let path = kustomization_at(name);
        self.reconcile(&path);
        until(&format!("{name} is reconciled"), WORK, || {
            let found = self.api.get(&path)?;
            let asked = &found["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"];
            (*asked == found["status"]["lastHandledReconcileAt"] && ready(&found)).then_some(())
        });
    }

    /// Returns a Flux Kustomization.
    pub fn kustomization(&self, name: &str) -> Option<Value> {
        self.api.get(&kustomization_at(name))
    }

    /// Returns whether a Kustomization has applied a revision and is ready.
    pub fn has_applied(&self, name: &str, revision: &str) -> bool {
        self.kustomization(name).is_some_and(|found| {
            found["status"]["lastAppliedRevision"] == revision
                && found["status"]["observedGeneration"] == found["metadata"]["generation"]
                && ready(&found)
        })
    }

    /// Returns whether a Kustomization is suspended.
    #[track_caller]
    pub fn is_suspended(&self, name: &str) -> bool {
        let found = self.kustomization(name).unwrap_or_else(|| panic!("there is no {name}"));
        found["spec"]["suspend"] == true
    }

    /// Starts a job of a CronJob now and waits until it has succeeded.
    #[track_caller]
    pub fn run_job(&self, cron_job: &str) {
        let job = self.start_job(cron_job);
        until(&format!("{job} succeeds"), WORK, || {
            (self.api.get(&format!("{JOBS}/{job}"))?["status"]["succeeded"] == 1).then_some(())
        });
    }

    /// Starts a job of a CronJob now.
    #[track_caller]
    pub fn start_job(&self, cron_job: &str) -> String {
        let job = format!("{cron_job}-{}", Timestamp::now().as_millisecond());
        let from = format!("--from=cronjob/{cron_job}");
        self.kubectl(&["create", "job", &job, &from, "--namespace=jobs"]);
        job
    }

    /// Returns the UIDs of everything that is applied from the repository but Flux's own objects.
    pub fn uids(&self) -> BTreeMap<String, String> {
        let kinds = [
            "/api/v1/namespaces",
            "/api/v1/configmaps",
            "/api/v1/services",
            "/api/v1/serviceaccounts",
            "/apis/apps/v1/deployments",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            "/apis/notification.toolkit.fluxcd.io/v1beta3/providers",
            "/apis/notification.toolkit.fluxcd.io/v1beta3/alerts",
            "/apis/batch/v1/cronjobs",
        ];
        let ours = |object: &Value| {
            let labels = object["metadata"]["labels"].as_object();
            labels.is_some_and(|labels| labels.contains_key("kustomize.toolkit.fluxcd.io/name"))
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        kinds
            .iter()
            .flat_map(|kind| self.api.list(kind))
            .filter(ours)
            .map(|object| {
                let metadata = &object["metadata"];
                let name = format!(
                    "{} {}/{}",
                    text(&object["kind"]),
                    text(&metadata["namespace"]),
                    text(&metadata["name"])
                );
                (name, text(&metadata["uid"]))
            })
            .collect()
    }
}

/// Returns whether a Flux object is ready.
pub fn ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|found| found["type"] == "Ready" && found["status"] == "True")
}
