//! Moves to a held source that have not arrived: what applies the Flux Kustomization waits for a window itself.

use jiff::Timestamp;

use crate::delivery::begun::{Begun, States, Waiting};
use crate::delivery::{Cluster, Model, Reached};
use crate::mechanism::GateTarget;

/// A Flux Kustomization that reads a held source in Git, and that only gated ones apply.
///
/// What applies it has the commit that its own held source is at: the `sourceRef` of a newer one reaches the cluster at its
/// opening. Nothing suspends what reads the live source until then.
pub(super) struct Moved<'a> {
    waiting: &'a Waiting<'a>,
    /// Since when what applies it is closed.
    pub(super) since: Timestamp,
    /// When that opens next; `None` where it does not.
    opening: Option<Timestamp>,
}

impl<'a> Moved<'a> {
    /// Finds it, where what applies it is closed at an instant.
    pub(super) fn of(
        model: &Model,
        waiting: &'a Waiting<'a>,
        all: &[Waiting<'_>],
        at: Timestamp,
    ) -> Option<Moved<'a>> {
        let Waiting { cluster, target, schedule } = waiting;
        let parent = target_of(brought_by(model, cluster, target)?, target);
        let of_parent = all.iter().find(|one| one.cluster == *cluster && one.target == parent);
        let schedule = of_parent.map_or(*schedule, |one| one.schedule);
        let since = schedule.closed_since(at)?;
        Some(Moved { waiting, since, opening: schedule.times(at).next_open })
    }

    /// Tells since when Git has it so, where what was let in last does not have it yet; `None` where it has, and where that
    /// can't be read.
    pub(super) fn begun(&self, past: &States<'_>) -> Option<Begun> {
        let Waiting { cluster, target, .. } = self.waiting;
        let first = past.at(self.since);
        if first + 1 == past.states.len() {
            return None;
        }
        let reads_live = |position: usize| {
            let commit = past.states[position].commit.as_ref()?;
            let model = past.history.model(commit)?;
            let is_there = model.delivered.named(cluster).is_some_and(|own| find(own, target).is_some());
            Some(is_there && !is_held(&model, cluster, target))
        };
        reads_live(first)?.then_some(())?;
        let later = first + 1..past.states.len();
        let moved = later.clone().find(|position| reads_live(*position) == Some(false));
        let position = moved.unwrap_or(later.end - 1);
        // What CronJobs had suspended by then stays so until its new spec resumes it.
        if past.was_closed(position, cluster, target) == Some(true) {
            return None;
        }
        Some(Begun::brought(past.states[position].since, self.opening))
    }
}

/// Returns the gated Flux Kustomization that applies one which reads a held source: where that is new, it comes with the opening
/// of the other. `None` where there is none.
pub(crate) fn brought_by<'m>(model: &'m Model, cluster: &str, target: &GateTarget) -> Option<&'m Reached> {
    is_held(model, cluster, target).then_some(())?;
    let own = model.delivered.named(cluster)?;
    let parent = own.parent(find(own, target)?)?;
    is_held(model, cluster, &target_of(parent, target)).then_some(parent)
}

fn is_held(model: &Model, cluster: &str, target: &GateTarget) -> bool {
    model.closings.running(cluster, target).is_some_and(|job| job.held.is_some())
}

fn find<'m>(cluster: &'m Cluster, target: &GateTarget) -> Option<&'m Reached> {
    cluster.reached("", (&target.namespace, &target.name)).or_else(|| cluster.reached("", ("", &target.name)))
}

/// Names what applies a Flux Kustomization; without a namespace of its own it is in the same one.
fn target_of(parent: &Reached, own: &GateTarget) -> GateTarget {
    let namespace = Some(parent.namespace()).filter(|namespace| !namespace.is_empty());
    GateTarget { namespace: namespace.unwrap_or(&own.namespace).to_owned(), name: parent.name().to_owned() }
}
