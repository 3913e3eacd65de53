//! What lands at once although a window seems to hold it back.

use crate::delivery::Kind;
use crate::pr::clock::{Clock, Tree};
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;
use crate::repo::flux::GROUP;

/// Fields of a Flux Kustomization that change nothing in the cluster.
const HARMLESS: [&str; 3] = ["spec.interval", "spec.retryInterval", "spec.timeout"];

/// Finds an object that decides what a window holds back, and that no window holds back itself.
pub(super) fn at_once(clock: &Clock<'_>, line: &Line) -> Option<Finding> {
    // Of a cluster that comes or goes nothing was held back, or will be.
    if line.lands.state != State::AtOnce || !clock.is_in_both(&line.cluster) {
        return None;
    }
    let finding = |message: String, help: &str| {
        Some(Finding {
            topic: Topic::OutsideWindow,
            cluster: line.cluster.clone(),
            object: Some(line.id.clone()),
            message,
            from: line.lands.earliest,
            help: help.to_owned(),
            ..Finding::default()
        })
    };
    if let Some(reason) = line.lands.reason.as_ref().filter(|_| line.lands.outruns) {
        return finding(
            format!("{} lands outside of its window: {reason}", line.id),
            "merge it while the window is open, or accept that it starts at once",
        );
    }
    if line.id.group == GROUP && line.id.kind == "Kustomization" && line.kind != Kind::Created {
        let hold = clock.hold_of(&line.cluster, &line.id)?;
        let spec: Vec<&str> = line
            .fields
            .iter()
            .map(|field| field.path.as_str())
            .filter(|path| path.starts_with("spec") && !HARMLESS.contains(path))
            .collect();
        let what = match line.kind {
            Kind::Deleted => "leaves Git".to_owned(),
            _ if spec.is_empty() => return None,
            _ => format!("changes {}", spec.join(", ")),
        };
        return finding(
            format!(
                "Flux Kustomization {} {what} at once, though {hold} holds back its objects",
                line.id.name
            ),
            "merge it while the window is open if its objects must not change earlier",
        );
    }
    if line.id.group == "batch" && line.id.kind == "CronJob" && clock.is_gate_job(line) {
        let action = match line.kind {
            Kind::Created => "begins",
            Kind::Deleted => "ends",
            _ => "changes",
        };
        return finding(
            format!("CronJob {} of the gate {action} at once", line.id.name),
            "look at the openings and closings that it makes: `gitops-windows calendar`",
        );
    }
    None
}

impl Clock<'_> {
    /// Tells whether a cluster is there before and after.
    fn is_in_both(&self, cluster: &str) -> bool {
        let has = |tree: &Tree<'_>| tree.world.model.delivered.all.iter().any(|one| one.name == cluster);
        has(&self.before) && has(&self.after)
    }

    /// Tells whether a CronJob opens or closes windows, before or after.
    fn is_gate_job(&self, line: &Line) -> bool {
        let mut trees = [&self.before, &self.after].into_iter();
        let has = |tree: &Tree<'_>| {
            tree.world.model.closings.of(&line.cluster).iter().any(|job| job.name == line.id.name)
        };
        trees.any(has)
    }
}
