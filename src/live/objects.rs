//! What a cluster has of Flux and of gates.

use serde_json::Value;

use crate::mechanism::{self, SourceKind, is_provider};

/// The objects of a cluster by which it is told what its gates do, as its API gives them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    /// Its Flux Kustomizations.
    pub kustomizations: Vec<Value>,
    /// Its GitRepositories, and its OCIRepositories where something reads one.
    pub sources: Vec<Value>,
    /// Its CronJobs, and what else opens and closes.
    pub cron_jobs: Vec<Value>,
    /// The Jobs in the namespaces of gates.
    pub jobs: Vec<Value>,
    /// The Events of commits that gates let in.
    pub events: Vec<Value>,
    /// What it did not let be read, in a sentence each.
    pub unread: Vec<String>,
}

impl Objects {
    /// Takes in the items of a list; what is of another kind is left out.
    pub fn take(&mut self, list: &mut Value) {
        let Value::Array(items) = list["items"].take() else { return };
        for item in items {
            let group = item["apiVersion"].as_str().unwrap_or_default().split('/').next().unwrap_or_default();
            let own = match (group, item["kind"].as_str().unwrap_or_default()) {
                ("kustomize.toolkit.fluxcd.io", "Kustomization") => &mut self.kustomizations,
                ("source.toolkit.fluxcd.io", "GitRepository" | "OCIRepository") => &mut self.sources,
                ("batch", "CronJob") => &mut self.cron_jobs,
                _ if is_provider(&item) => &mut self.cron_jobs,
                ("batch", "Job") => &mut self.jobs,
                (_, "Event") => &mut self.events,
                _ => continue,
            };
            own.push(item);
        }
    }

    /// Returns whether Flux Operator may make sources here: one says so, or one is missing.
    pub fn may_have_providers(&self) -> bool {
        let is_made = |source: &Value| {
            source["metadata"]["labels"]["resourceset.fluxcd.controlplane.io/name"].is_string()
        };
        let lacks = |one: &Value| {
            let source = &one["spec"]["sourceRef"];
            let namespace = source["namespace"].as_str().or(one["metadata"]["namespace"].as_str());
            let name = source["name"].as_str().unwrap_or_default();
            source["kind"] == "GitRepository"
                && self.source("GitRepository", namespace.unwrap_or_default(), name).is_none()
        };
        self.sources.iter().any(is_made) || self.kustomizations.iter().any(lacks)
    }

    /// Returns whether a Flux Kustomization reads an OCIRepository.
    pub fn reads_artifacts(&self) -> bool {
        self.kustomizations.iter().any(|one| one["spec"]["sourceRef"]["kind"] == SourceKind::Oci.as_str())
    }

    /// Returns the Flux Kustomization of a namespace and a name.
    pub fn kustomization(&self, namespace: &str, name: &str) -> Option<&Value> {
        find(self.kustomizations.iter(), namespace, name)
    }

    /// Returns the CronJob of a gate, or the like, by its name.
    pub fn job(&self, name: &str) -> Option<&Value> {
        let is_it = |job: &&Value| job["metadata"]["name"] == name && !mechanism::read(job, None).is_empty();
        self.cron_jobs.iter().find(is_it)
    }

    /// Returns the source of a kind, a namespace and a name.
    pub fn source(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        find(self.sources.iter().filter(|source| source["kind"] == kind), namespace, name)
    }
}

fn find<'v>(mut all: impl Iterator<Item = &'v Value>, namespace: &str, name: &str) -> Option<&'v Value> {
    all.find(|one| one["metadata"]["name"] == name && one["metadata"]["namespace"] == namespace)
}
