//! Where a setting of a gate's CronJob is written.

use std::sync::Arc;

use serde_json::Value;

use crate::check::subject::Subject;
use crate::delivery::{Applied, Delivery, GateJob};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::{Kustomization, Target, built};
use crate::yaml::Node;

/// Points at a field of a job's `spec` where the job's cluster gets it from.
///
/// That is the patch that sets the value which the cluster gets, a file or one within a kustomization or
/// a Flux Kustomization, else the job itself. A field that nothing sets is told where the schedule is.
pub fn setting(subject: &Subject<'_>, job: &GateJob, field: &str) -> Place {
    let wanted = &job.value["spec"][field];
    if wanted.is_null() && field != "schedule" {
        return setting(subject, job, "schedule");
    }
    let delivery = &subject.deliveries[job.delivery];
    let applied = subject.applied(job);
    let first = applied.and_then(|applied| subject.sources.first_name(applied));
    let names = [Some(job.name.as_str()), first.as_deref()];
    patched(subject, delivery, ("CronJob", names), &["spec", field], wanted).unwrap_or_else(
        || match applied {
            Some(applied) => subject.sources.place(applied, &["spec", field]),
            None => job.place.clone(),
        },
    )
}

/// Points at a field of an object where its cluster gets it from: in the file that declares it, or in the patch that sets
/// what the cluster gets; tells whether it is a patch.
pub fn field(subject: &Subject<'_>, delivery: &Delivery, applied: &Applied, path: &[&str]) -> (Place, bool) {
    let wanted = path.iter().fold(applied.value(), |value, key| &value[*key]);
    let declared = subject
        .sources
        .place_of(applied, |object| object.get_path(path).filter(|node| node.to_json() == *wanted).cloned());
    let by_patch = || {
        let first = subject.sources.first_name(applied);
        let names = [Some(applied.id.name.as_str()), first.as_deref()];
        patched(subject, delivery, (&applied.id.kind, names), path, wanted).filter(|_| !wanted.is_null())
    };
    match declared {
        Some(place) => (place, false),
        None => {
            by_patch().map_or_else(|| (subject.sources.place(applied, path), false), |place| (place, true))
        }
    }
}

/// Points at the patch that sets a field of an object to what its cluster gets: a file, or one within a Flux Kustomization
/// or a kustomization.
fn patched(
    subject: &Subject<'_>,
    delivery: &Delivery,
    (kind, names): (&str, [Option<&str>; 2]),
    path: &[&str],
    wanted: &Value,
) -> Option<Place> {
    let field = path.last()?;
    let graph = &subject.model.graph;
    let folders = built(graph, &delivery.path);
    let kustomizations = folders.iter().filter_map(|folder| graph.get(folder));
    let by_file = kustomizations.clone().flat_map(patch_files).find_map(|file| {
        let source = subject.sources.get(&file)?;
        let is_patch = |object: &&Node| {
            let name = object.get_path(&["metadata", "name"]).and_then(Node::scalar_text);
            object.get("kind").and_then(Node::as_str) == Some(kind) && names.contains(&name)
        };
        let node = source
            .objects
            .iter()
            .filter(is_patch)
            .find_map(|object| object.get_path(path).filter(|node| node.to_json() == *wanted))?;
        Some(Place::span(file, source.text.clone(), node.span.clone()))
    });
    let by_flux = || {
        let flux = subject.flux(delivery)?;
        within(flux.root.get_path(&["spec", "patches"])?, &flux.file, &flux.text, field, wanted)
    };
    let inline = || {
        kustomizations.clone().find_map(|kustomization| {
            let list = kustomization.field("patches")?;
            within(list, &kustomization.file, &kustomization.text, field, wanted)
        })
    };
    by_file.or_else(by_flux).or_else(inline)
}

/// The files that a kustomization lists as patches.
fn patch_files(kustomization: &Kustomization) -> Vec<RepoPath> {
    let references = kustomization.references();
    let patches =
        references.iter().filter(|found| matches!(found.field, "patches" | "patchesStrategicMerge"));
    let paths = patches.filter_map(|reference| match &reference.target {
        Target::Path(path) => Some(path.clone()),
        _ => None,
    });
    paths.collect()
}

/// Finds the value in the text of a patch that stands in a list itself.
fn within(list: &Node, file: &RepoPath, text: &Arc<str>, field: &str, wanted: &Value) -> Option<Place> {
    let wanted = match wanted {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let patches = list.items().iter().filter_map(|item| item.get("patch"));
    let mut setting = patches
        .filter(|node| node.as_str().is_some_and(|patch| patch.contains(field) && patch.contains(&wanted)));
    let node = setting.next()?;
    let start = text.get(node.span.clone()).and_then(|written| written.find(&wanted));
    let span = match start {
        Some(start) => node.span.start + start..node.span.start + start + wanted.len(),
        None => node.span.clone(),
    };
    Some(Place::span(file.clone(), text.clone(), span))
}
