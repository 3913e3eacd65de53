//! The manifests: a base with the ServiceAccount, and in each cluster the held sources, the jobs and what they may do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::error::Error;
use crate::mechanism::cron_job::in_shell;
use crate::mechanism::follow::{SCRIPT, VARIABLES};
use crate::mechanism::{
    ClusterGate, Files, GateTarget, HeldSource, Schedule, SourceKind, Writing, held, join, table,
};
use crate::spec::Spec;

/// Adds the namespace and the ServiceAccount of the jobs.
pub fn base(writing: &Writing<'_>, wanted: &mut Files) -> Result<(), Error> {
    let Writing { spec, templates, gates, .. } = *writing;
    if gates.held.is_empty() {
        return Ok(());
    }
    let names = ["namespace.yaml", "service-account.yaml"];
    let context = json!({ "namespace": spec.gate.namespace, "service_account": spec.gate.service_account });
    for name in names {
        wanted.insert(join(&gates.base, name)?, templates.render(name, &context)?);
    }
    let list = templates.render("gate-kustomization.yaml", json!({ "files": names }))?;
    wanted.insert(join(&gates.base, "kustomization.yaml")?, list);
    Ok(())
}

/// Adds the sources, notes, jobs and rights of a cluster; none of a type of which nothing is there to be held back.
pub fn cluster(
    writing: &Writing<'_>,
    cluster: &ClusterGate,
    alerts: &[&str],
    wanted: &mut Files,
) -> Result<(), Error> {
    let Writing { spec, templates, gates, .. } = *writing;
    let mut files: Vec<(String, String)> = Vec::new();
    for source in &cluster.sources {
        let HeldSource { change_type, job, namespace, live, name: held, spec: content, .. } = source;
        let index = gates.jobs.iter().position(|job| job.change_type == *change_type);
        let Some(schedule) = index.and_then(|index| cluster.schedules.get(&index)) else { continue };
        let text = templates.render(
            "held-source.yaml",
            json!({
                "kind": source.kind.as_str(),
                "field": source.kind.field(),
                "name": held,
                "namespace": namespace,
                "live": live,
                "spec": content,
            }),
        )?;
        files.push((format!("{held}.yaml"), text));
        let text =
            templates.render("held-note.yaml", json!({ "name": held, "namespace": spec.gate.namespace }))?;
        files.push((format!("{held}-note.yaml"), text));
        let Schedule { cron, time_zone, deadline } = schedule;
        let values = VARIABLES.into_iter().zip(variables(spec, source));
        let env: Vec<Value> = values.map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let text = templates.render(
            "follow-job.yaml",
            json!({
                "job": job,
                "namespace": spec.gate.namespace,
                "schedule": cron,
                "time_zone": time_zone,
                "starting_deadline": deadline.map(|deadline| deadline.starting),
                "active_deadline": deadline.map(|deadline| deadline.active),
                "service_account": spec.gate.service_account,
                "container": "gate",
                "image": spec.gate.image,
                "command": in_shell(SCRIPT.to_owned()),
                "env": env,
                "name": table::NAME,
                "table": cluster.tables.get(change_type),
            }),
        )?;
        files.push((format!("{job}.yaml"), text));
    }
    for (namespace, rules) in rules(spec, cluster) {
        let place = namespace.as_deref().filter(|own| *own != spec.flux.namespace);
        let name = |kind: &str| place.map_or(format!("{kind}.yaml"), |own| format!("{kind}-{own}.yaml"));
        let mut context = json!({
            "namespace": spec.gate.namespace,
            "service_account": spec.gate.service_account,
            "flux_namespace": namespace,
            "rules": rules,
        });
        let [role, binding] = match &namespace {
            Some(_) => [("follow-role", "role"), ("role-binding", "role-binding")],
            None => {
                context["targets"] = rules[0]["resourceNames"].clone();
                [("follow-cluster-role", "cluster-role"), ("cluster-role-binding", "cluster-role-binding")]
            }
        };
        for (template, file) in [role, binding] {
            files.push((name(file), templates.render(&format!("{template}.yaml"), &context)?));
        }
    }
    held::list(writing, cluster, alerts, files, wanted)
}

/// Returns the values of a job's variables, in their order; of what is gated each namespace with its names is a line.
pub fn variables(spec: &Spec, source: &HeldSource) -> [String; 6] {
    let mut gated: BTreeMap<&str, String> = BTreeMap::new();
    for GateTarget { namespace, name } in &source.targets {
        let line = gated.entry(namespace).or_insert_with(|| namespace.clone());
        line.push(' ');
        line.push_str(name);
    }
    let gated: Vec<String> = gated.into_values().collect();
    let HeldSource { kind, namespace, live, name, .. } = source;
    let [kind, notes] = [kind.as_str(), &spec.gate.namespace].map(str::to_owned);
    [kind, namespace.clone(), live.clone(), name.clone(), gated.join("\n"), notes]
}

/// Returns the rules of the jobs of a cluster by namespace; under `None` those that hold in each.
///
/// A Role in a namespace that may come later keeps the gate from coming up, as with CronJobs that suspend.
pub fn rules(spec: &Spec, cluster: &ClusterGate) -> BTreeMap<Option<String>, Vec<Value>> {
    let mut found: BTreeMap<Option<String>, Vec<Value>> = BTreeMap::new();
    if cluster.sources.is_empty() {
        return found;
    }
    let mut allow = |namespace: Option<&str>, of: (&str, &str), names: &BTreeSet<&str>, verbs: &[&str]| {
        let mut rule = json!({ "apiGroups": [of.0], "resources": [of.1], "verbs": verbs });
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        found.entry(namespace.map(str::to_owned)).or_default().push(rule);
    };
    let held: BTreeSet<&str> = cluster.sources.iter().map(|source| source.name.as_str()).collect();
    let targets = cluster.sources.iter().flat_map(|source| &source.targets);
    let (usual, others): (Vec<_>, Vec<_>) =
        targets.partition(|target| target.namespace == spec.flux.namespace);
    let [usual, others] = [usual, others]
        .map(|own| own.into_iter().map(|target| target.name.as_str()).collect::<BTreeSet<_>>());
    let kustomizations = ("kustomize.toolkit.fluxcd.io", "kustomizations");
    let flux = Some(spec.flux.namespace.as_str());
    let kinds: BTreeSet<SourceKind> = cluster.sources.iter().map(|source| source.kind).collect();
    for kind in kinds {
        let own = || cluster.sources.iter().filter(|source| source.kind == kind);
        let held: BTreeSet<&str> = own().map(|source| source.name.as_str()).collect();
        let all = own().map(|source| source.live.as_str()).chain(held.iter().copied()).collect();
        let sources = ("source.toolkit.fluxcd.io", kind.plural());
        allow(flux, sources, &all, &["get"]);
        allow(flux, sources, &held, &["patch"]);
    }
    // A rule without names would allow all of them.
    if !usual.is_empty() {
        allow(flux, kustomizations, &usual, &["get"]);
    }
    allow(flux, ("", "events"), &BTreeSet::new(), &["create"]);
    if !others.is_empty() {
        allow(None, kustomizations, &others, &["get"]);
    }
    allow(Some(&spec.gate.namespace), ("", "configmaps"), &held, &["get", "patch"]);
    found
}
