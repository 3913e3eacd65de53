//! The manifests: a base with all jobs, and patches by cluster.

use serde_json::json;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::mechanism::suspend::admission;
use crate::mechanism::suspend::command::command;
use crate::mechanism::suspend::role::{permission, reached};
use crate::mechanism::table;
use crate::mechanism::{Action, ClusterGate, Files, Writing, add, join};
use crate::spec::{Spec, expand};

/// The name of the container, by which a cluster's patch finds it.
const CONTAINER: &str = "gate";

/// Adds the namespace, the rights and the jobs, suspended and with schedules that only hold the place.
pub fn base(writing: &Writing<'_>, wanted: &mut Files) -> Result<(), Error> {
    let Writing { spec, templates, gates, .. } = *writing;
    let held = &gates.held;
    if held.is_empty() {
        return Ok(());
    }
    let (usual, _) = reached(spec, held);
    let mut names = vec!["namespace.yaml", "service-account.yaml"];
    if !usual.is_empty() {
        names.extend(["role.yaml", "role-binding.yaml"]);
    }
    let mut files: Vec<(String, String)> = Vec::new();
    for name in names {
        files.push((name.to_owned(), templates.render(name, permission(spec, &usual))?));
    }
    for job in &gates.jobs {
        // kubectl and flux refuse a command without a name, at every run.
        let Some(targets) = gates.targets.get(&job.change_type).filter(|own| !own.is_empty()) else {
            return Err(nameless(spec, &job.name));
        };
        let template = match job.action {
            Action::Open => &spec.layout.open_job_file,
            _ => &spec.layout.close_job_file,
        };
        let text = templates.render(
            "job.yaml",
            json!({
                "job": job.name,
                "namespace": spec.gate.namespace,
                "service_account": spec.gate.service_account,
                "container": CONTAINER,
                "image": spec.gate.image,
                // What looks at a table tries again at its next tick.
                "tries": if spec.gate.table.is_some() { 0 } else { 10 },
                "command": command(spec, job, targets),
            }),
        )?;
        files.push((expand(template, &[("job", &job.name)]), text));
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let list = templates.render("gate-kustomization.yaml", json!({ "files": names }))?;
    files.push(("kustomization.yaml".to_owned(), list));
    for (name, text) in files {
        wanted.insert(join(&gates.base, &name)?, text);
    }
    Ok(())
}

/// Says that a job would hold back nothing.
fn nameless(spec: &Spec, job: &str) -> Error {
    Error::invalid(
        Diagnostic::error(format!(
            "CronJob {job} would name no Flux Kustomization. Each of its runs would fail"
        ))
        .at(Place::file(spec.path.clone()))
        .help(
            "take its type out\nor choose `kustomization` under `layout` so that Kubernetes takes the names",
        ),
    )
}

/// Adds a cluster's patches and its list.
pub fn cluster(
    writing: &Writing<'_>,
    cluster: &ClusterGate,
    alerts: &[&str],
    wanted: &mut Files,
) -> Result<(), Error> {
    let Writing { spec, templates, gates, has_adopted_base } = *writing;
    let mut patches = Vec::new();
    for job in 0..gates.jobs.len() {
        if let Some((name, text)) = patch(writing, cluster, job)? {
            wanted.insert(join(&cluster.folder, &name)?, text);
            patches.push(name);
        }
    }
    let own = cluster.held();
    let ((all, _), (own, elsewhere)) = (reached(spec, &gates.held), reached(spec, &own));
    // Without a name left, a Role would allow all of them.
    let drops_role = !all.is_empty() && own.is_empty() && !has_adopted_base;
    let role_patch = (all != own && !drops_role).then_some("role-patch.yaml");
    if let Some(name) = role_patch {
        let text = templates.render("role-patch.yaml", json!({ "targets": own }))?;
        add(spec, wanted, join(&cluster.folder, name)?, ("a role", text))?;
    }
    let mut roles = Vec::new();
    // What the jobs of a base that is not ours may do is its authors' to say.
    if !elsewhere.is_empty() && !has_adopted_base {
        roles.extend(["cluster-role.yaml", "cluster-role-binding.yaml"]);
    }
    for name in &roles {
        let text = templates.render(name, permission(spec, &elsewhere))?;
        add(spec, wanted, join(&cluster.folder, name)?, ("a role", text))?;
    }
    if let Some(text) = admission::text(writing, cluster)? {
        add(spec, wanted, join(&cluster.folder, admission::FILE)?, ("admission policies", text))?;
        roles.push(admission::FILE);
    }
    let list = templates.render(
        "cluster-gate-kustomization.yaml",
        json!({
            "base": gates.base.relative_to(&cluster.folder),
            "alerts": alerts,
            "patches": patches,
            "roles": roles,
            "role_patch": role_patch,
            "drops_role": drops_role,
            "flux_namespace": spec.flux.namespace,
            "service_account": spec.gate.service_account,
        }),
    )?;
    wanted.insert(join(&cluster.folder, "kustomization.yaml")?, list);
    Ok(())
}

/// Returns a cluster's patch of a job: its schedule, and its command where that differs from the base's.
pub fn patch(
    writing: &Writing<'_>,
    cluster: &ClusterGate,
    job: usize,
) -> Result<Option<(String, String)>, Error> {
    let Writing { spec, templates, gates, .. } = *writing;
    let Some(schedule) = cluster.schedules.get(&job) else { return Ok(None) };
    let job = &gates.jobs[job];
    let own = cluster.targets.get(&job.change_type);
    let differs = own.filter(|own| gates.targets.get(&job.change_type) != Some(*own) && !own.is_empty());
    let template = match job.action {
        Action::Open => &spec.layout.open_patch_file,
        _ => &spec.layout.close_patch_file,
    };
    let text = templates.render(
        "patch.yaml",
        json!({
            "job": job.name,
            "namespace": spec.gate.namespace,
            "container": CONTAINER,
            "schedule": schedule.cron,
            "time_zone": schedule.time_zone,
            "suspend": !cluster.switched_on.contains(&job.change_type),
            "starting_deadline": schedule.deadline.map(|deadline| deadline.starting),
            "active_deadline": schedule.deadline.map(|deadline| deadline.active),
            "name": table::NAME,
            "table": cluster.tables.get(&job.change_type),
            "command": differs.map(|targets| command(spec, job, targets)),
        }),
    )?;
    Ok(Some((expand(template, &[("job", &job.name)]), text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{GateTarget, Gates, Job};
    use crate::path::RepoPath;
    use crate::template::Templates;

    #[test]
    fn a_job_without_a_name_is_never_written() {
        let path = RepoPath::parse("windows.yaml").unwrap();
        let text = "apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: week } }
windows: { week: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN } }
clusters: { edge: {} }
";
        let spec = crate::spec::parse(&path, text.as_bytes()).unwrap().spec;
        let templates = Templates::new(std::collections::BTreeMap::new()).unwrap();
        let job = |name: &str, change_type| Job { name: name.to_owned(), change_type, action: Action::Open };
        let mut gates = Gates::new(path.clone(), vec![job("open", 1), job("open-night", 2)], Vec::new());
        let one = GateTarget { namespace: "flux-system".to_owned(), name: "web-rw".to_owned() };
        gates.held.insert(one.clone());
        gates.targets.insert(1, [one.clone()].into());
        gates.targets.insert(2, [].into());
        let told = |gates: &Gates| {
            let writing = Writing { spec: &spec, templates: &templates, gates, has_adopted_base: false };
            base(&writing, &mut Files::new()).map_err(|error| error.to_string())
        };
        let refused = "CronJob open-night would name no Flux Kustomization. Each of its runs would fail";
        assert_eq!(told(&gates), Err(refused.to_owned()));
        gates.targets.remove(&2);
        assert_eq!(told(&gates), Err(refused.to_owned()));
        gates.targets.insert(2, [one].into());
        assert_eq!(told(&gates), Ok(()));
    }
}
