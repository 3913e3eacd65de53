//! The manifests: a base with the ServiceAccount, and in each cluster the held sources, the jobs and what they may do.

use serde_json::{Value, json};

use crate::error::Error;
use crate::mechanism::cron_job::in_shell;
use crate::mechanism::follow::{SCRIPT, VARIABLES};
use crate::mechanism::{
    ClusterGate, Files, GateTarget, HeldSource, Job, Schedule, Writing, add, join, table,
};
use std::collections::{BTreeMap, BTreeSet};

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

/// Adds the sources, jobs and rights of a cluster; none of a type of which nothing is there to be held back.
pub fn cluster(
    writing: &Writing<'_>,
    cluster: &ClusterGate,
    alerts: &[&str],
    wanted: &mut Files,
) -> Result<(), Error> {
    let Writing { spec, templates, gates, .. } = *writing;
    let mut files: Vec<(String, String)> = Vec::new();
    for (index, Job { name, change_type, .. }) in gates.jobs.iter().enumerate() {
        let (Some(source), Some(schedule)) =
            (cluster.sources.get(change_type), cluster.schedules.get(&index))
        else {
            continue;
        };
        let HeldSource { namespace, live, name: held, spec: content } = source;
        let text = templates.render(
            "held-source.yaml",
            json!({ "name": held, "namespace": namespace, "live": live, "spec": content }),
        )?;
        files.push((format!("{held}.yaml"), text));
        let Schedule { cron, time_zone, deadline } = schedule;
        let values = VARIABLES.into_iter().zip(variables(source, &cluster.targets[change_type]));
        let env: Vec<Value> = values.map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let text = templates.render(
            "follow-job.yaml",
            json!({
                "job": name,
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
        files.push((format!("{name}.yaml"), text));
    }
    if !files.is_empty() {
        let mut context = json!({
            "namespace": spec.gate.namespace,
            "service_account": spec.gate.service_account,
            "flux_namespace": spec.flux.namespace,
        });
        for (key, names) in names(cluster) {
            context[key] = json!(names);
        }
        files.push(("role.yaml".to_owned(), templates.render("follow-role.yaml", &context)?));
        files.push(("role-binding.yaml".to_owned(), templates.render("role-binding.yaml", &context)?));
    }
    let listed = files.iter().map(|(name, _)| name.as_str()).chain(alerts.iter().copied());
    let list = templates.render(
        "follow-kustomization.yaml",
        json!({ "base": gates.base.relative_to(&cluster.folder), "files": listed.collect::<Vec<_>>() }),
    )?;
    files.push(("kustomization.yaml".to_owned(), list));
    for (name, text) in files {
        add(spec, wanted, join(&cluster.folder, &name)?, ("a part of a gate", text))?;
    }
    Ok(())
}

/// Returns the values of a job's variables, in their order.
pub fn variables(source: &HeldSource, targets: &BTreeSet<GateTarget>) -> [String; 4] {
    let gated: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    [source.namespace.clone(), source.live.clone(), source.name.clone(), gated.join(" ")]
}

/// Returns what the jobs of a cluster read, write and ask for.
fn names(cluster: &ClusterGate) -> BTreeMap<&'static str, BTreeSet<&str>> {
    let sources = || cluster.sources.values();
    let both = sources().flat_map(|source| [source.live.as_str(), source.name.as_str()]);
    let targets = cluster.sources.keys().flat_map(|position| &cluster.targets[position]);
    BTreeMap::from([
        ("sources", both.collect()),
        ("held", sources().map(|source| source.name.as_str()).collect()),
        ("targets", targets.map(|target| target.name.as_str()).collect()),
    ])
}

/// Returns the rules of the Role; `None` where nothing is held back.
pub fn rules(cluster: &ClusterGate) -> Option<Value> {
    let names = names(cluster);
    let rule = |group: &str, resource: &str, key: &str, verb: &str| json!({ "apiGroups": [group], "resources": [resource], "resourceNames": names[key], "verbs": [verb] });
    let sources = "source.toolkit.fluxcd.io";
    (!cluster.sources.is_empty()).then(|| {
        json!([
            rule(sources, "gitrepositories", "sources", "get"),
            rule(sources, "gitrepositories", "held", "patch"),
            rule("kustomize.toolkit.fluxcd.io", "kustomizations", "targets", "get"),
            { "apiGroups": [""], "resources": ["events"], "verbs": ["create"] },
        ])
    })
}
