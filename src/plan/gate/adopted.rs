//! Gates that stood there before: their files are edited, not replaced.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::{BuiltJob, Input, Sides, gate_patch};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, Action, ClusterGate, GateTarget, Gates, Writing, join, shown};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, with_header};
use crate::render::Request;
use crate::repo::Graph;
use crate::repo::kustomization::FILE_NAMES;
use crate::yaml::{EditError, Editor, Key, ScalarText};

/// Returns whether a folder of a gate belongs to its authors: it has a kustomization that is not ours.
pub fn is_adopted(builder: &Builder<'_>, folder: &RepoPath) -> bool {
    match builder.kustomization(folder) {
        Ok(Some(kustomization)) => {
            builder.now().file(&kustomization.file).map(ownership) == Some(Ownership::Theirs)
        }
        Ok(None) => false,
        // What can't be read may be ours all the same: two versions of it that git could not merge.
        Err(_) => {
            let files = FILE_NAMES.iter().filter_map(|name| folder.join(name).ok());
            let mut found = files.filter_map(|path| builder.now().file(&path).map(ownership));
            found.all(|own| own == Ownership::Theirs)
        }
    }
}

/// Edits a cluster's patches where what the cluster gets differs from what the spec says.
///
/// A gate that is switched off and stays so is left as it is, whatever its schedule says: a
/// CronJob that is suspended has none.
pub fn sync(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    writing: &Writing<'_>,
    cluster: &ClusterGate,
) -> Result<(), Error> {
    let Writing { spec, gates, .. } = *writing;
    same_targets(input, gates, cluster)?;
    let jobs = effective(input, builder, &cluster.folder)?;
    let graph = Graph::read(builder.now());
    for (index, schedule) in &cluster.schedules {
        let name = gates.jobs[*index].name.as_str();
        let job = jobs.get(name).unwrap_or(&Value::Null);
        let suspended = job["suspend"].as_bool().unwrap_or(false);
        if !cluster.enabled && suspended {
            continue;
        }
        let mut edits: Vec<(&str, ScalarText)> = Vec::new();
        if job["schedule"] != schedule.cron.as_str() {
            edits.push(("schedule", schedule.cron.as_str().into()));
        }
        if let Some(zone) = schedule.time_zone.as_deref().filter(|zone| job["timeZone"] != *zone) {
            edits.push(("timeZone", zone.into()));
        }
        if suspended == cluster.enabled {
            edits.push(("suspend", ScalarText::Bool(!cluster.enabled)));
        }
        let found = gate_patch(builder.now(), &graph, &cluster.folder, name);
        let file = match &found {
            Some(found) if edits.is_empty() && found.listed => continue,
            Some(found) => found.file.clone(),
            None if edits.is_empty() => continue,
            None => {
                let written = mechanism::of(spec.gate.mechanism).patch(writing, cluster, *index)?;
                let Some((file, text)) = written else { continue };
                let path = join(&cluster.folder, &file)?;
                builder.create(&path, &with_header(&text))?;
                edits.clear();
                path
            }
        };
        edit(builder, &file, name, &edits)?;
        if !found.is_some_and(|found| found.listed) {
            list_patch(builder, &cluster.folder, &file)?;
        }
    }
    Ok(())
}

/// What jobs of a base that is not ours hold back can't be changed for one cluster by a patch of
/// ours: its containers and its Role are its authors'.
fn same_targets(input: &Input<'_>, gates: &Gates, cluster: &ClusterGate) -> Result<(), Error> {
    let reach = input.model.graph.reach(&cluster.folder);
    if reach.iter().any(|folder| input.model.gates.iter().any(|gate| gate.base == *folder)) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        Diagnostic::error(format!(
            "{} is the place of cluster {}'s gate, but builds on no known gate",
            cluster.folder, cluster.cluster
        ))
        .at(Place::file(cluster.folder.clone()))
        .help(format!("let it build on {}, or name other folders under `layout`", gates.base)),
    ))
}

/// Says which Flux Kustomizations the spec wants held back and a gate that is not ours leaves alone.
///
/// Before an entry point is split the gate may well hold back all of it; what the sides will be
/// called is of interest only once there are sides.
pub fn not_held(input: &Input<'_>, sides: &Sides, cluster: &ClusterGate) -> Option<Diagnostic> {
    let reach = input.model.graph.reach(&cluster.folder);
    let gates: Vec<_> = input.model.gates.iter().filter(|gate| reach.contains(&gate.base)).collect();
    let jobs: Vec<BuiltJob> = input.jobs_in(&cluster.folder);
    let holds = |target: &GateTarget| jobs.iter().any(|job| job.closes(target));
    let graph = &input.model.graph;
    let is_split = input.model.entries_of(&cluster.cluster).any(|entry| {
        sides.contains_key(&entry.path) && graph.has(&entry.path)
            || !sides.standing(graph, &entry.path).is_empty()
    });
    let real = cluster.targets.iter().filter(|(position, _)| !cluster.without.contains(position));
    let wanted: BTreeSet<&GateTarget> = real.flat_map(|(_, names)| names).collect();
    let missing = wanted.iter().copied().filter(|target| is_split || cluster.whole.contains(*target));
    let missing = shown(missing.filter(|target| !holds(target)), input.spec);
    let base = &gates.first()?.base;
    if missing.is_empty() || !cluster.enabled {
        return None;
    }
    let closing = jobs.iter().filter(|job| job.action == Action::Close);
    let held: BTreeSet<&GateTarget> = closing.flat_map(|job| &job.targets).collect();
    Some(
        Diagnostic::warning(format!(
            "the jobs in {base} suspend {} but not {missing}. In cluster {} its changes land at once",
            shown(held, input.spec),
            cluster.cluster
        ))
        .at(Place::file(base.clone()))
        .help(format!(
            "add {missing} to both jobs, and to their Role if that lists names, before it reaches the cluster"
        )),
    )
}

/// Builds a cluster's gate and gives the `spec` of each CronJob by name.
pub fn effective(
    input: &Input<'_>,
    builder: &Builder<'_>,
    folder: &RepoPath,
) -> Result<BTreeMap<String, Value>, Error> {
    let mut results = input.renderer.render(builder.now(), &[Request::delivered(folder.clone())]);
    match results.pop() {
        Some(Ok(objects)) => Ok(objects
            .into_iter()
            .filter(|object| object.value["kind"] == "CronJob")
            .map(|object| {
                let name = object.value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                (name, object.value["spec"].clone())
            })
            .collect()),
        Some(Err(error)) => Err(Error::invalid(
            Diagnostic::error(format!("the gate in {folder} does not build: {error}"))
                .at(Place::file(folder.clone()))
                .help(format!("mend it until `kustomize build {folder}` works")),
        )),
        None => Ok(BTreeMap::new()),
    }
}

fn edit(
    builder: &mut Builder<'_>,
    path: &RepoPath,
    job: &str,
    edits: &[(&str, ScalarText)],
) -> Result<(), Error> {
    if edits.is_empty() {
        return Ok(());
    }
    let Some(text) = builder.now().file(path).and_then(|file| file.text()).map(str::to_owned) else {
        return Ok(());
    };
    let documents = crate::yaml::read_documents(&text).unwrap_or_default();
    let index = documents.iter().position(|document| {
        let value = document.root.to_json();
        value["kind"] == "CronJob" && value["metadata"]["name"] == job
    });
    let edited = (|| -> Result<String, EditError> {
        let mut editor = Editor::new(&text, index.unwrap_or_default())?;
        for (key, value) in edits {
            editor.set_scalar(&[Key::from("spec"), Key::from(*key)], value.clone())?;
        }
        Ok(editor.into_text())
    })()
    .map_err(|error| {
        let diagnostic = error.diagnostic(path.clone(), text.as_str().into());
        Error::new(ErrorKind::Unsafe, diagnostic)
    })?;
    builder.put(path, &edited);
    Ok(())
}

/// Adds a patch file to the kustomization that forgot it, in the field that it uses already.
fn list_patch(builder: &mut Builder<'_>, folder: &RepoPath, file: &RepoPath) -> Result<(), Error> {
    let Ok(Some(kustomization)) = builder.kustomization(folder) else { return Ok(()) };
    let relative = file.relative_to(folder);
    let edited = (|| -> Result<String, EditError> {
        let mut editor = Editor::new(&kustomization.text, 0)?.ignore_case();
        if kustomization.field("patchesStrategicMerge").is_some() {
            editor.append_item(&[Key::from("patchesStrategicMerge")], relative.as_str())?;
        } else {
            let item = format!("path: {}", crate::yaml::quote(&relative));
            editor.append_raw_item(&[Key::from("patches")], &item)?;
        }
        Ok(editor.into_text())
    })()
    .map_err(|error| {
        Error::new(
            ErrorKind::Unsafe,
            error.diagnostic(kustomization.file.clone(), kustomization.text.clone()),
        )
    })?;
    builder.put(&kustomization.file, &edited);
    Ok(())
}
