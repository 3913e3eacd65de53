//! Adopts a gate that somebody built by hand.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::gate::{Gate, LooseJob};
use crate::delivery::{EntryPoint, Model, gate_patch};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::mechanism::{Action, pod_of, turns};
use crate::path::RepoPath;
use crate::render::{Object, Renderer, Request};
use crate::repo::{FluxKustomization, Snapshot, built};
use crate::spec::{GateDef, NewWindow, ProviderDef, Runner};

/// What a gate that stands there says.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// The folder of the base, relative to the spec's.
    pub base: String,
    /// The folder of a cluster's patches, as a template.
    pub cluster_gate: String,
    /// The name of the job that opens.
    pub open_job: String,
    /// The name of the job that closes.
    pub close_job: String,
    /// Namespace, image, runner and account.
    pub gate: GateDef,
    /// Each cluster's schedule.
    pub clusters: BTreeMap<String, AdoptedCluster>,
    /// What is wrong with it, and stays as it is.
    pub remarks: Vec<Diagnostic>,
}

/// One cluster's part of an adopted gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptedCluster {
    /// The schedules of the two jobs, where somebody set them.
    pub window: Option<NewWindow>,
    /// Whether the jobs run.
    pub enabled: bool,
}

/// Takes over the first gate that was found, with every cluster's settings; `names` are those of all clusters.
///
/// # Errors
///
/// When the clusters keep their gates in folders that no template of `layout` gives, or under
/// different names: they could not be edited, only doubled. When a table says when the gate opens: it was made from a
/// windows.yaml, which a command brings back if it is `lost`.
pub fn adopt(
    snapshot: &Snapshot,
    model: &Model,
    root: &RepoPath,
    renderer: &dyn Renderer,
    names: &BTreeSet<String>,
    lost: Option<&str>,
) -> Result<Option<Adopted>, Error> {
    let Some(gate) = model.gates.first() else { return Ok(None) };
    // Where each cluster has a table of its own, that stands in a patch of the jobs.
    let tabled = model.closings.all().any(|job| job.name == gate.close.name && job.table.is_some());
    if tabled || gate.close.table.is_some() {
        return Err(tabled_already(gate, lost));
    }
    let mut remarks = remarks_on(model, gate);
    let is_further = |other: &&Gate| {
        other.base == gate.base
            || !model.graph.above(&other.base).iter().any(|folder| model.entry(folder).is_some())
    };
    for other in model.gates.iter().skip(1).filter(is_further) {
        remarks.push(
            Diagnostic::warning(format!(
                "{} in {} is a further gate. The spec has only {} in {}",
                other.close.name, other.base, gate.close.name, gate.base
            ))
            .at(other.close.place())
            .help("describe it in windows.yaml as a further window or type if this tool is to keep it"),
        );
    }
    let mut clusters = BTreeMap::new();
    let mut folders: BTreeMap<String, RepoPath> = BTreeMap::new();
    for entry in model.all_entries() {
        let reach = built(&model.graph, &entry.path);
        let Some(its) = model.gates.iter().find(|its| reach.contains(&its.base)) else { continue };
        if (&its.open.name, &its.close.name) != (&gate.open.name, &gate.close.name) {
            return Err(under_other_names(gate, its));
        }
        let Some(overlay) = overlay(model, entry, its) else { continue };
        let own = cluster(snapshot, model, renderer, its, &overlay, &mut remarks);
        clusters.entry(entry.cluster.clone()).or_insert(own);
        folders.entry(entry.cluster.clone()).or_insert(overlay);
    }
    let Some(cluster_gate) = template(&folders, root, names) else {
        return Err(in_other_folders(gate, &folders));
    };
    let pod = pod_of(&gate.close.value);
    let container = &pod["containers"][0];
    let defaults = GateDef::default();
    let text = |value: &Value, default: &str| value.as_str().unwrap_or(default).to_owned();
    let uses_flux = container.to_string().contains("flux suspend")
        || container["args"][0] == "suspend"
        || container["command"][0] == "flux";
    Ok(Some(Adopted {
        base: gate.base.relative_to(root),
        cluster_gate,
        open_job: gate.open.name.clone(),
        close_job: gate.close.name.clone(),
        gate: GateDef {
            mechanism: gate.close.mechanism,
            table: None,
            admission: false,
            provider: ProviderDef::default(),
            namespace: namespace(model, gate, renderer, snapshot).unwrap_or(defaults.namespace),
            image: text(&container["image"], &defaults.image),
            runner: if uses_flux { Runner::Flux } else { Runner::Kubectl },
            enabled: true,
            service_account: text(&pod["serviceAccountName"], &defaults.service_account),
        },
        clusters,
        remarks,
    }))
}

/// A table of open times follows from windows, and not the other way round.
fn tabled_already(gate: &Gate, lost: Option<&str>) -> Error {
    let diagnostic = Diagnostic::error(format!(
        "CronJob {} reads a table of open times, made from a windows.yaml. No windows follow from a table",
        gate.close.name
    ));
    let help = match lost {
        Some(command) => format!(
            "run `{command}`, which restores that windows.yaml\nrun `gitops-windows sync`, which says what differs"
        ),
        None => "restore the windows.yaml from which the table was made\nor remove the gate from Git, and run this once the clusters have applied that".to_owned(),
    };
    Error::new(ErrorKind::Unsafe, diagnostic.at(gate.close.place()).help(help))
}

/// The jobs of one spec have the same names in every cluster.
fn under_other_names(gate: &Gate, other: &Gate) -> Error {
    let names = |gate: &Gate| format!("`{}` and `{}` in {}", gate.open.name, gate.close.name, gate.base);
    let diagnostic = Diagnostic::error(format!(
        "the gates' CronJobs differ in name by cluster; one windows.yaml names them once: {}, {}",
        names(gate),
        names(other)
    ));
    let help = "give the opening CronJobs one name in every cluster\ngive the closing CronJobs one name too\nrun this again";
    Error::new(ErrorKind::Unsafe, diagnostic.at(other.close.place()).help(help))
}

/// The folders of one spec's gates differ by the names of the clusters alone.
fn in_other_folders(gate: &Gate, folders: &BTreeMap<String, RepoPath>) -> Error {
    let folders: Vec<String> =
        folders.iter().map(|(cluster, folder)| format!("{folder} of {cluster}")).collect();
    let diagnostic = Diagnostic::error(format!(
        "the clusters' names alone do not tell the folders of their gates apart: {}",
        folders.join(", ")
    ));
    let help = format!(
        "give each cluster's gate a folder with the cluster's name, such as `gates/{{cluster}}`\nlist {} or the present content there\nlet the cluster's Flux Kustomization build that folder\nrun this again",
        gate.base
    );
    Error::new(ErrorKind::Unsafe, diagnostic.at(gate.close.place()).help(help))
}

/// The namespace that the gate's base gives its jobs.
fn namespace(model: &Model, gate: &Gate, renderer: &dyn Renderer, snapshot: &Snapshot) -> Option<String> {
    let by_transformer = model.graph.get(&gate.base)?.field("namespace").and_then(|node| node.as_str());
    let jobs = cron_jobs(renderer, snapshot, &gate.base);
    let rendered = jobs.get(&gate.close.name).and_then(|job| job["metadata"]["namespace"].as_str());
    rendered.or(by_transformer).map(str::to_owned)
}

/// The folder through which a cluster takes the gate: the one that refers to the base.
fn overlay(model: &Model, entry: &EntryPoint, gate: &Gate) -> Option<RepoPath> {
    let reach = built(&model.graph, &entry.path);
    if !reach.contains(&gate.base) {
        return None;
    }
    let above = model.graph.referrers(&gate.base).find(|folder| reach.contains(*folder)).cloned();
    above.or_else(|| Some(gate.base.clone()))
}

fn cron_jobs(renderer: &dyn Renderer, snapshot: &Snapshot, folder: &RepoPath) -> BTreeMap<String, Value> {
    let mut results = renderer.render(snapshot, &[Request::base(folder.clone())]);
    let objects: Vec<Object> = results.pop().and_then(Result::ok).unwrap_or_default();
    objects
        .into_iter()
        .filter(|object| object.value["kind"] == "CronJob")
        .map(|object| {
            let name = object.value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            (name, std::sync::Arc::unwrap_or_clone(object.value))
        })
        .collect()
}

fn cluster(
    snapshot: &Snapshot,
    model: &Model,
    renderer: &dyn Renderer,
    gate: &Gate,
    overlay: &RepoPath,
    remarks: &mut Vec<Diagnostic>,
) -> AdoptedCluster {
    let jobs = cron_jobs(renderer, snapshot, overlay);
    let find = |action: Action, name: &str| {
        let by_deed = |job: &&Value| {
            let found = turns(job);
            !found.is_empty() && found.iter().all(|turn| turn.action == action)
        };
        jobs.get(name)
            .or_else(|| jobs.values().find(by_deed))
            .map(|job| job["spec"].clone())
            .unwrap_or_default()
    };
    let (mut open, mut close) = (find(Action::Open, &gate.open.name), find(Action::Close, &gate.close.name));
    let enabled = [&open, &close].iter().all(|job| job["suspend"] != true && !job.is_null());
    let mut set = enabled;
    for (job, name) in [(&mut open, &gate.open.name), (&mut close, &gate.close.name)] {
        let Some(found) = gate_patch(snapshot, &model.graph, overlay, name) else { continue };
        if found.listed {
            set = true;
        } else if found.value["spec"]["schedule"].is_string() {
            remarks.push(
                Diagnostic::warning(format!(
                    "{} is not listed in {overlay}, so it has no effect and {name} stays suspended",
                    found.file
                ))
                .at(crate::diagnostic::Place::file(found.file.clone()))
                .help("set `enabled: true` under `gate` in windows.yaml and run `gitops-windows sync`: it lists the patch"),
            );
            *job = found.value["spec"].clone();
            set = true;
        }
    }
    let schedule = |job: &Value| job["schedule"].as_str().map(str::to_owned);
    let zone = open["timeZone"].as_str().or(close["timeZone"].as_str()).map(str::to_owned);
    let window = match (schedule(&open), schedule(&close)) {
        (Some(open), Some(close)) if set => Some(NewWindow { open, close, time_zone: zone }),
        _ => None,
    };
    AdoptedCluster { window, enabled }
}

/// Finds the template that gives each cluster's folder; `None` where none gives all of them. The folder of the only cluster
/// needs not have its name.
fn template(
    folders: &BTreeMap<String, RepoPath>,
    root: &RepoPath,
    names: &BTreeSet<String>,
) -> Option<String> {
    let mut templates: Vec<String> = Vec::new();
    for (cluster, folder) in folders {
        let path = folder.relative_to(root);
        let segments: Vec<&str> =
            path.split('/').map(|segment| if segment == cluster { "{cluster}" } else { segment }).collect();
        templates.push(segments.join("/"));
    }
    templates.sort();
    templates.dedup();
    let default = crate::spec::LayoutTemplates::default().cluster_gate;
    match templates.as_slice() {
        [] => Some(default),
        [one] if one.contains("{cluster}") || names.len() == 1 => Some(one.clone()),
        _ => None,
    }
}

/// Returns whether a command on a target acts on a Flux Kustomization.
fn is_it(one: &FluxKustomization, (namespace, name): &(String, String)) -> bool {
    (one.name == *name || name == "*") && (one.namespace.is_empty() || one.namespace == *namespace)
}

/// Returns the name of what the gate closes of an entry point, if it closes anything of it.
fn closed<'m>(model: &'m Model, gate: &Gate, entry: &'m EntryPoint) -> Option<&'m str> {
    let mut targets = gate.close.targets.iter();
    if entry.flux.is_empty() {
        let name = model.name_of(entry);
        return targets.any(|(_, target)| target == name || target == "*").then_some(name);
    }
    let mut own = model.flux_of(entry);
    let closed = own.find(|one| gate.close.targets.iter().any(|target| is_it(one, target)));
    closed.map(|one| one.name.as_str())
}

/// What a platform engineer should know about the gate that is taken over.
fn remarks_on(model: &Model, gate: &Gate) -> Vec<Diagnostic> {
    let mut remarks = Vec::new();
    for entry in model.all_entries() {
        if overlay(model, entry, gate).is_some()
            && let Some(name) = closed(model, gate, entry)
        {
            remarks.push(
                Diagnostic::warning(format!(
                    "{} suspends Flux Kustomization {name}, which carries the gate: no commit mends it while closed",
                    gate.close.name
                ))
                .at(gate.close.place())
                .help(format!("take `{name}` out of both jobs; it stays as it is until you do")),
            );
        }
    }
    for target in gate.close.targets.iter().filter(|(_, name)| name != "*") {
        let (namespace, name) = target;
        let known = model.all_flux().iter().any(|one| is_it(one, target));
        if !known && model.applied_folders().next().is_some() {
            remarks.push(
                Diagnostic::warning(format!(
                    "{} suspends Flux Kustomization {name} in namespace {namespace}, which is not in Git",
                    gate.close.name
                ))
                .at(gate.close.place())
                .help("`flux suspend` exits 0 for an object that does not exist, so nobody would notice"),
            );
        }
    }
    remarks
}

/// What can't be taken over goes on beside the gate, and against it.
pub fn not_taken_over(job: &LooseJob) -> Diagnostic {
    Diagnostic::warning(job.told.clone()).at(job.place.clone()).help(job.help)
}
