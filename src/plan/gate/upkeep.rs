//! Brings gates up to date and proves that they do what the spec says then.

use std::collections::BTreeSet;

use crate::delivery::{Closings, Input};
use crate::error::Error;
use crate::mechanism::{GateTarget, HeldId};
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::gate::{Late, Leftover, keeps_all, sync, verify};
use crate::spec::MechanismName;
use crate::template::Templates;

/// Writes the gates as [`sync`] does and proves them as [`verify`] does.
///
/// # Errors
///
/// When either of the two refuses, and when something must wait for a window.
pub fn sync_verified(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
) -> Result<Leftover, Error> {
    let leftover = sync_late(input, templates, builder)?;
    leftover.refuse_late("write that by hand, and merge it while the window is open")?;
    Ok(leftover)
}

/// As [`sync_verified`], and leaves it to the caller what becomes of what must wait for a window.
fn sync_late(input: &Input<'_>, templates: &Templates, builder: &mut Builder<'_>) -> Result<Leftover, Error> {
    let leftover = sync(input, templates, builder, Late::Refused)?;
    verify(input, leftover.gates.as_ref(), builder)?;
    Ok(leftover)
}

/// Brings gates that stand already up to date with what is to be held back after the changes in the
/// builder, and gives what that leaves to people. Where no gate stands, none is written.
///
/// # Errors
///
/// When a gate can't be brought up to date, or would not do what the spec says, when a cluster would
/// delete what does not serve the gate alone, and when something must wait for a window.
pub fn follow(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
) -> Result<Leftover, Error> {
    let leftover = follow_late(input, templates, builder)?;
    leftover.refuse_late("write that by hand, and merge it while the window is open")?;
    Ok(leftover)
}

/// As [`follow`], and leaves it to the caller what becomes of what must wait for a window.
///
/// # Errors
///
/// As [`follow`], but for that.
pub fn follow_late(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
) -> Result<Leftover, Error> {
    let base = input.spec.gate_base()?;
    if !input.model.graph.has(&base) {
        return Ok(Leftover::default());
    }
    let after = builder.now().clone();
    let model = input.again(&after);
    let next = Input { snapshot: &after, model: &model, ..*input };
    let leftover = sync_late(&next, templates, builder)?;
    keeps_all(input, builder.now())?;
    Ok(leftover)
}

/// Gives the commands that resume what jobs close so far and close no more in `next`, where a gate stands
/// still: no job opens it either, so what the last closing suspended would stay so; and those that delete what the gates of
/// held sources have noted, which outlives them.
///
/// # Errors
///
/// When the layout gives no folder.
pub fn released(input: &Input<'_>, next: &Input<'_>) -> Result<Vec<Command>, Error> {
    let (now, then) = (&input.model.closings, &next.model.closings);
    let released = |cluster: &String| {
        let own = next.model.flux_of_cluster(cluster);
        let released = own.map(|flux| GateTarget::of(next, flux)).filter(|target| {
            now.running(cluster, target).is_some() && then.running(cluster, target).is_none()
        });
        released.map(|target| Command::release(&target, input.spec, cluster)).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for cluster in input.spec.clusters.keys() {
        if next.gate_of(cluster)?.is_some() {
            found.extend(released(cluster));
        }
    }
    let held = |closings: &Closings, cluster: &str| -> BTreeSet<(MechanismName, HeldId)> {
        closings.of(cluster).iter().filter_map(|job| Some((job.mechanism, job.held.clone()?))).collect()
    };
    for cluster in input.model.clusters() {
        // What was let in last would come back with a gate that is made much later.
        let gone = &held(now, cluster) - &held(then, cluster);
        let forget =
            |(own, source): &(MechanismName, HeldId)| Command::forget(*own, source, input.spec, cluster);
        found.extend(gone.iter().map(forget));
    }
    Ok(found)
}
