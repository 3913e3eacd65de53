//! Image automation that writes into what waits.

use std::collections::BTreeSet;

use crate::check::code::GATED_AUTOMATION;
use crate::check::subject::Subject;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::flux::artifact_path;

const GROUP: &str = "image.toolkit.fluxcd.io";

/// What image-automation-controller looks for in files (`update/setters.go`).
const MARKER: &str = "$imagepolicy";

/// Finds ImageUpdateAutomations that set images in files which only objects behind a window are made from.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for deliveries in subject.clusters().values() {
        let mut gated: BTreeSet<&RepoPath> = BTreeSet::new();
        let mut free: BTreeSet<&RepoPath> = BTreeSet::new();
        // The rules say what waits, and only a gate makes it so.
        let mut held: BTreeSet<&RepoPath> = BTreeSet::new();
        for delivery in deliveries {
            for applied in &delivery.objects {
                let Some(origin) = &applied.object.origin else { continue };
                if applied.window().is_some() {
                    gated.insert(&origin.path);
                    if delivery.gated.is_some() {
                        held.insert(&origin.path);
                    }
                } else {
                    free.insert(&origin.path);
                }
            }
        }
        let all = deliveries.iter().flat_map(|delivery| &delivery.objects);
        for automation in all.filter(|applied| applied.is(GROUP, "ImageUpdateAutomation")) {
            let path = automation.value()["spec"]["update"]["path"].as_str().unwrap_or_default();
            let Some(folder) = artifact_path(path) else { continue };
            let written = gated.iter().filter(|path| path.is_within(&folder) && !free.contains(**path));
            let set = written.filter_map(|path| {
                let source = subject.sources.get(path)?;
                let start = source.text.find(MARKER)?;
                Some(Place::span((*path).clone(), source.text.clone(), start..start + MARKER.len()))
            });
            let set: Vec<Place> = set.collect();
            let Some(first) = set.first() else { continue };
            let is_held = set.iter().any(|place| held.contains(&place.path));
            let message = |(waits, wait, will): (&str, &str, &str)| {
                let files = match set.len() {
                    1 => format!("1 file that {waits}"),
                    several => format!("{several} files that {wait}"),
                };
                format!(
                    "ImageUpdateAutomation {} commits new images to {files} for a window. Images of the closed time {will}land together when it opens",
                    automation.id.name
                )
            };
            let held = ("waits", "wait", "");
            let finding = GATED_AUTOMATION
                .finding(message(if is_held { held } else { ("is to wait", "are to wait", "will ") }))
                .lasting(message(held))
                .at(subject.sources.place(automation, &["spec", "update", "path"]))
                .related("one of the files", first.clone())
                .help("let the automation push to a branch, and merge that in the window\nor keep it so, if that is meant");
            if !findings.iter().any(|other| other.place == finding.place) {
                findings.push(finding);
            }
        }
    }
    findings
}
