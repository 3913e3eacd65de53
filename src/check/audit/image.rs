//! The flux command of a gate against the Flux of the cluster.

use crate::check::code::IMAGE_SKEW;
use crate::check::subject::Subject;
use crate::delivery::GateJob;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::yaml::Node;

/// A release: major and minor.
type Release = (u32, u32);

/// How many minor releases the command may differ from the controllers (Flux' support policy).
const MOST_SKEW: u32 = 1;

/// Finds images of the flux CLI that do not fit the controllers.
///
/// The version of the controllers is that of the gotk-components.yaml of the cluster. Without one, only a
/// release before 2.0 is told: it speaks `v1beta2`, which Flux 2.8 does not serve.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for job in &subject.jobs {
        for image in job.containers().filter_map(|container| container["image"].as_str()) {
            let Some(finding) = finding(subject, job, image) else { continue };
            if !findings.iter().any(|other| other.place == finding.place) {
                findings.push(finding);
            }
        }
    }
    findings
}

fn finding(subject: &Subject<'_>, job: &GateJob, image: &str) -> Option<Diagnostic> {
    let (name, tag) = name_and_tag(image);
    if !name.ends_with("flux-cli") {
        return None;
    }
    let uses_flux = job.containers().any(uses_flux);
    let installed = installed(subject, job);
    let message = match (tag.and_then(release), &installed) {
        (None, _) if tag.is_none_or(|tag| tag == "latest") && !image.contains('@') => {
            format!("`{image}` has no fixed release: each node pulls the newest")
        }
        (Some(own), _) if own.0 == 0 && uses_flux => format!(
            "`{image}` uses kustomize.toolkit.fluxcd.io/v1beta2, which Flux 2.8 does not serve. No window opens or closes"
        ),
        (Some(own), Some((theirs, _)))
            if uses_flux && (own.0 != theirs.0 || own.1.abs_diff(theirs.1) > MOST_SKEW) =>
        {
            format!(
                "`{image}` is more than one minor release from the cluster's Flux {}.{}. Its commands may fail",
                theirs.0, theirs.1
            )
        }
        _ => return None,
    };
    let finding = IMAGE_SKEW.finding(message).at(place(subject, job, image)).help(
        "use the release of the cluster's Flux, and raise both together\nor use `kubectl patch`, which needs no flux",
    );
    Some(match installed {
        Some((_, place)) => finding.related("the Flux of the cluster", place),
        None => finding,
    })
}

/// Points at the image in the file that declares the job.
fn place(subject: &Subject<'_>, job: &GateJob, image: &str) -> Place {
    let containers = ["spec", "jobTemplate", "spec", "template", "spec", "containers"];
    let written = |object: &Node| {
        let images =
            object.get_path(&containers)?.items().iter().filter_map(|container| container.get("image"));
        images.into_iter().find(|node| node.as_str() == Some(image)).cloned()
    };
    let found = subject.applied(job).and_then(|applied| subject.sources.place_of(applied, written));
    found.unwrap_or_else(|| job.place.clone())
}

fn uses_flux(container: &serde_json::Value) -> bool {
    let line = GateJob::line(container);
    container["command"].is_null()
        || line.split_whitespace().any(|word| word.rsplit('/').next() == Some("flux"))
}

fn name_and_tag(image: &str) -> (&str, Option<&str>) {
    let bare = image.split('@').next().unwrap_or(image);
    match bare.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (bare, None),
    }
}

fn release(tag: &str) -> Option<Release> {
    let mut parts = tag.trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Reads the version from the gotk-components.yaml of the cluster, or from the only one there is.
fn installed(subject: &Subject<'_>, job: &GateJob) -> Option<(Release, Place)> {
    let files: Vec<&RepoPath> = subject
        .snapshot
        .below(&subject.model.root)
        .map(|(path, _)| path)
        .filter(|path| path.name() == Some("gotk-components.yaml"))
        .collect();
    let folders: Vec<&RepoPath> =
        subject.deliveries_of(&job.cluster).map(|delivery| &delivery.path).collect();
    let of_cluster = |path: &&&RepoPath| {
        folders.iter().any(|folder| !folder.is_top() && path.is_within(folder))
            || path.as_str().starts_with(&job.cluster.home)
                && path.segments().any(|segment| segment == job.cluster.name)
    };
    let file = match files.as_slice() {
        [only] => only,
        all => all.iter().find(of_cluster)?,
    };
    let text = subject.snapshot.file(file)?.text()?;
    let start = ["# Flux Version: ", "app.kubernetes.io/version: "]
        .iter()
        .find_map(|label| text.find(label).map(|start| start + label.len()))?;
    let word = text[start..].split_whitespace().next()?.trim_matches('"');
    let place = Place::span((*file).clone(), text.into(), start..start + word.len());
    Some((release(word)?, place))
}
