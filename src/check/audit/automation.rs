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
        for applied in deliveries.iter().flat_map(|delivery| &delivery.objects) {
            if let Some(origin) = &applied.object.origin {
                if applied.window().is_some() {
                    gated.insert(&origin.path)
                } else {
                    free.insert(&origin.path)
                };
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
            let finding = GATED_AUTOMATION
                .finding(format!(
                    "ImageUpdateAutomation {} commits new images to {} files that wait for a window. Images of the closed time land together when it opens",
                    automation.id.name,
                    set.len()
                ))
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
