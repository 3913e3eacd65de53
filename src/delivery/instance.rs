//! What FluxInstances sync.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::delivery::account;
use crate::delivery::bootstrap::controllers;
use crate::delivery::jitter::{FLAG, Jitters};
use crate::delivery::naming::prefix;
use crate::delivery::reading::Reader;
use crate::delivery::root::{Reason, Root};
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::SourceId;
use crate::delivery::strict;
use crate::path::RepoPath;
use crate::render::{Object, Request};
use crate::repo::flux::{holds_variable, is_yaml};
use crate::repo::manifest::{kept_manifests, objects};
use crate::repo::post_build::{Strict, substitute};
use crate::repo::{Entry, File, FluxKustomization, Snapshot};

impl Reader<'_> {
    /// Finds what the FluxInstances of a repository sync, and those that a HelmRelease of the chart `flux-instance` makes
    /// (controlplaneio-fluxcd/flux-operator, `api/v1/fluxinstance_types.go` and the chart's `values.yaml`).
    ///
    /// Source and Kustomization of a sync have the name of the instance's namespace unless `sync.name` gives another, and the
    /// fields that the operator gives them (`internal/builder/templates.go`, `syncTmpl`).
    pub(super) fn of_instances(&self) -> Vec<Root> {
        let mut found: Vec<Root> = Vec::new();
        for (path, entry) in self.snapshot.entries() {
            let Entry::File(file) = entry else { continue };
            let names_sync =
                || file.text().is_some_and(|text| text.contains("sync:") && text.contains("lux"));
            if !is_yaml(path) || !names_sync() {
                continue;
            }
            for manifest in kept_manifests(file).into_iter().flatten() {
                for value in objects(&manifest.value) {
                    let Some((namespace, spec)) = instance_of(value) else { continue };
                    for spec in self.live(path, spec) {
                        let Some(root) = self.synced(namespace, &spec) else { continue };
                        if !found.iter().any(|other| Root { file: None, ..other.clone() } == root) {
                            found.push(Root { file: Some(path.clone()), ..root });
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns a former root with the path that its FluxInstance gives it now, where that is no folder here.
    pub(super) fn without_folder(&self, former: &Root) -> Option<Root> {
        let (path, namespace, name) = former.identity()?;
        let mut manifests = kept_manifests(self.snapshot.file(path)?).into_iter().flatten();
        let lost = manifests.find_map(|manifest| {
            let mut own = objects(&manifest.value).into_iter().filter_map(instance_of);
            own.find_map(|(of, spec)| {
                let is_it = |spec: &Value| of == namespace && name_of(&spec["sync"], of) == name;
                let found = self.live(path, spec).into_iter().find(is_it)?;
                Some(found["sync"]["path"].clone())
                    .filter(|path| path.is_string() && self.synced(of, &found).is_none())
            })
        })?;
        let mut value = former.kustomization.clone()?;
        Arc::make_mut(&mut value)["spec"]["path"] = lost;
        Some(Root { kustomization: Some(value), ..former.clone() })
    }

    /// Returns an instance with the variables of the Flux Kustomizations that apply its file: once for each of them
    /// where it has some.
    fn live(&self, file: &RepoPath, spec: &Value) -> Vec<Value> {
        if !holds_variable(&spec["sync"]["path"]) {
            return vec![spec.clone()];
        }
        let taking_in = self.top.graph.taken_in_by(file);
        let applying =
            self.flux.iter().filter(|one| one.path.as_ref().is_some_and(|path| taking_in.contains(path)));
        let filled = applying.map(|one| {
            let mut spec = spec.clone();
            substitute(one.spec("postBuild"), &mut spec);
            spec
        });
        filled.collect()
    }

    /// Returns the root of an instance; `None` where its `sync` has no path, which then comes from elsewhere, or where
    /// only the cluster knows it.
    fn synced(&self, namespace: &str, spec: &Value) -> Option<Root> {
        let sync = &spec["sync"];
        let path = sync["path"].as_str().filter(|_| !holds_variable(&sync["path"]))?;
        let kind = sync["kind"].as_str().unwrap_or("GitRepository");
        let name = name_of(sync, namespace);
        let artifact = artifact(self.snapshot, kind, path)?;
        let metadata = json!({ "name": name, "namespace": namespace });
        let mut kustomization = json!({
            "apiVersion": crate::repo::flux::API_VERSION,
            "kind": "Kustomization",
            "metadata": metadata,
            "spec": {
                "interval": "10m",
                "path": path,
                "prune": true,
                "sourceRef": { "kind": kind, "name": name },
            },
        });
        account::give_own(&spec["cluster"], &mut kustomization);
        let mut source = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": kind,
            "metadata": metadata,
            "spec": { "url": sync["url"], "interval": sync["interval"].as_str().unwrap_or("1m") },
        });
        let of_ref = match kind {
            "GitRepository" => Some("name"),
            "OCIRepository" => Some("tag"),
            _ => None,
        };
        if let Some(of_ref) = of_ref {
            let fields = [(of_ref, "ref", &sync["ref"]), ("name", "secretRef", &sync["pullSecret"])];
            for (name, field, value) in fields.into_iter().filter(|(.., value)| value.is_string()) {
                source["spec"][field] = json!({ name: value });
            }
            if sync["provider"].is_string() {
                source["spec"]["provider"] = sync["provider"].clone();
            }
        }
        let (kustomization, source) = self.patched(kustomization, source, &spec["kustomize"]["patches"]);
        let folder = secure_join(&artifact, kustomization["spec"]["path"].as_str()?)?;
        let (jitters, patched, strict) = self.controllers(namespace, &spec["kustomize"]["patches"]);
        let version = spec["distribution"]["version"].as_str();
        let strict = match (strict, version.and_then(strict::of_distribution)) {
            // What its patches turn on is all that a newer one counts.
            (Some(Strict::Bare), Some(Strict::All)) => Some(Strict::All),
            (by_flag, by_version) => by_flag.or(by_version),
        };
        let id = SourceId { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
        Some(Root {
            group: prefix(&folder),
            folder,
            artifact,
            kustomization: Some(Arc::new(kustomization)),
            written: None,
            file: None,
            source: Some((id, source)),
            version: version.map(str::to_owned),
            jitters,
            default_account: patched.or_else(|| account::default_of_instance(&spec["cluster"])),
            strict,
            reason: Reason::FluxInstance,
            is_last: false,
            was: None,
        })
    }

    /// Returns the Kustomization and the source of a sync with the instance's own patches, as far as they are meant for
    /// these two (flux-operator, `internal/builder`); as they were where kustomize refuses.
    fn patched(&self, kustomization: Value, source: Value, patches: &Value) -> (Value, Value) {
        let is_for_sync = |patch: &&Value| {
            let kind = patch["target"]["kind"].as_str();
            kind.is_some_and(|kind| source["kind"] == kind || kustomization["kind"] == kind)
        };
        let patches: Vec<&Value> = patches.as_array().into_iter().flatten().filter(is_for_sync).collect();
        let files = [("sync.yaml", kustomization.to_string()), ("source.yaml", source.to_string())];
        let built = Some(&patches).filter(|patches| !patches.is_empty());
        let Some(built) = built.and_then(|patches| self.built(&files, patches)) else {
            return (kustomization, source);
        };
        let of = |kind: &Value| built.iter().map(|one| &*one.value).find(|one| one["kind"] == *kind).cloned();
        let (patched, fetched) = (of(&kustomization["kind"]), of(&source["kind"]));
        (patched.unwrap_or(kustomization), fetched.unwrap_or(source))
    }

    /// Returns by how much the controllers of an instance stretch intervals, and as which account they apply what names none,
    /// and what they say of variables, as its own patches say.
    fn controllers(&self, namespace: &str, patches: &Value) -> (Jitters, Option<String>, Option<Strict>) {
        let (mut jitters, mut default_account, mut strict) = (Jitters::default(), None, None);
        let is_said = |patch: &&Value| {
            let text = patch["patch"].as_str().unwrap_or_default();
            [FLAG, account::FLAG, strict::GATE].iter().any(|flag| text.contains(flag))
        };
        let patches: Vec<&Value> = patches.as_array().into_iter().flatten().filter(is_said).collect();
        if !patches.is_empty() {
            let built = self.built(&[("controllers.yaml", controllers(namespace))], &patches);
            for one in built.iter().flatten() {
                jitters.take_in(&one.value);
                default_account = default_account.or(account::default_of(&one.value));
                strict = strict.or(strict::strict_of(&one.value));
            }
        }
        (jitters, default_account, strict)
    }

    /// Returns what kustomize makes of some files with patches; `None` where it refuses.
    fn built(&self, files: &[(&str, String)], patches: &[&Value]) -> Option<Vec<Object>> {
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        let list = json!({ "resources": names, "patches": patches }).to_string();
        let mut own = Snapshot::default();
        let all = files.iter().map(|(name, text)| (*name, text)).chain([("kustomization.yaml", &list)]);
        for (name, text) in all {
            own.insert(RepoPath::top().join(name).ok()?, File::new(text.as_bytes()));
        }
        self.renderer.render(&own, &[Request::base(RepoPath::top())]).pop()?.ok()
    }
}

/// Returns whether an object is a FluxInstance with a `sync`, or makes one.
pub(super) fn is_instance(value: &Value) -> bool {
    instance_of(value).is_some()
}

/// Returns whether an object is the FluxInstance that made a Flux Kustomization, or makes that, and does so no more: Flux
/// Operator deletes what is gone from a FluxInstance's build (`FluxInstanceReconciler.apply`), unless that is not reconciled.
/// Each namespace has one FluxInstance, as all have one name.
pub(super) fn lets_go(value: &Value, made: &FluxKustomization) -> bool {
    let Some((namespace, spec)) = named_of(value) else { return false };
    let sync = &spec["sync"];
    let is_none = sync.as_object().is_none_or(Map::is_empty);
    let is_other = || !holds_variable(&sync["name"]) && name_of(sync, namespace) != made.name;
    let reconcile = value["metadata"]["annotations"]["fluxcd.controlplane.io/reconcile"].as_str();
    let is_disabled = reconcile.is_some_and(|value| value.eq_ignore_ascii_case("disabled"));
    namespace == made.namespace && !is_disabled && (is_none || is_other())
}

/// Returns the name of what a `sync` makes, given the namespace of its FluxInstance.
fn name_of<'v>(sync: &'v Value, namespace: &'v str) -> &'v str {
    sync["name"].as_str().filter(|name| !name.is_empty()).unwrap_or(namespace)
}

/// Returns the namespace and the `spec` of a FluxInstance with a `sync`, or of the release that makes one.
fn instance_of(value: &Value) -> Option<(&str, &Value)> {
    named_of(value).filter(|(_, spec)| spec["sync"].is_object())
}

/// Returns the namespace and the `spec` of a FluxInstance, or of the release that may make one.
fn named_of(value: &Value) -> Option<(&str, &Value)> {
    let spec = match value["kind"].as_str() {
        Some("FluxInstance") => &value["spec"],
        Some("HelmRelease") => &value["spec"]["values"]["instance"],
        // Values of the chart in a file of their own.
        None => &value["instance"],
        Some(_) => return None,
    };
    let namespace = value["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty());
    spec.is_object().then(|| (namespace.unwrap_or("flux-system"), spec))
}

/// Returns the folder of which an artifact is made: the top, or for what is pushed (`flux push artifact --path`) the
/// only folder that holds the path. `None` where none does: then it is no artifact of this repository.
fn artifact(snapshot: &Snapshot, kind: &str, path: &str) -> Option<RepoPath> {
    let holds = |top: &RepoPath| secure_join(top, path).is_some_and(|folder| snapshot.is_dir(&folder));
    let top = RepoPath::top();
    if holds(&top) {
        return Some(top);
    }
    if kind == "GitRepository" {
        return None;
    }
    let folders: BTreeSet<RepoPath> = snapshot.entries().flat_map(|(file, _)| file.parents()).collect();
    let mut holding = folders.into_iter().filter(|folder| !folder.is_top() && holds(folder));
    match (holding.next(), holding.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}
