//! Brings gates up to date and proves that they do what the spec says then.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Closings, Input, Model};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::mechanism::{GateTarget, HeldId};
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::gate::{Late, Leftover, keeps_all, sync, unbuilt_held, verify};
use crate::repo::FluxKustomization;
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
    let leftover = sync_late(input, templates, builder, &BTreeSet::new())?;
    leftover.refuse_late("write that by hand, and merge it while the window is open")?;
    Ok(leftover)
}

/// As [`sync_verified`], and leaves it to the caller what becomes of what must wait for a window. The gates of the clusters in
/// `without` stay as they stand.
fn sync_late(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    without: &BTreeSet<String>,
) -> Result<Leftover, Error> {
    let leftover = sync(input, templates, builder, Late::Refused, without)?;
    verify(input, leftover.gates.as_ref(), builder)?;
    Ok(leftover)
}

/// Brings gates that stand already up to date with what is to be held back after the changes in the
/// builder, and gives what that leaves to people. Where no gate stands, none is written. The gates of the clusters in
/// `without` stay as they stand.
///
/// # Errors
///
/// When a gate can't be brought up to date, or would not do what the spec says, when the gate of a cluster would change and
/// something that it holds back does not build, when a cluster would delete what does not serve the gate alone, and when
/// something must wait for a window.
pub fn follow(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    without: &BTreeSet<String>,
) -> Result<Leftover, Error> {
    let leftover = followed(input, templates, builder, without)?;
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
    followed(input, templates, builder, &BTreeSet::new())
}

fn followed(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    without: &BTreeSet<String>,
) -> Result<Leftover, Error> {
    let base = input.spec.gate_base()?;
    if !input.model.graph.has(&base) {
        return Ok(Leftover::default());
    }
    let after = builder.now().clone();
    let model = input.again(&after);
    let next = Input { snapshot: &after, model: &model, ..*input };
    let leftover = sync_late(&next, templates, builder, without)?;
    unbuilt_held(input, builder)?;
    keeps_all(input, builder.now())?;
    Ok(leftover)
}

/// Says what jobs close so far and close no more in `next`, where a gate stands still that is not switched off.
///
/// # Errors
///
/// When the layout gives no folder.
pub fn opened(input: &Input<'_>, next: &Input<'_>) -> Result<Vec<Diagnostic>, Error> {
    let mut found = Vec::new();
    for cluster in input.spec.clusters.keys() {
        if next.gate_of(cluster)?.is_none() || !input.spec.gate_enabled(cluster) {
            continue;
        }
        for flux in next.model.flux_of_cluster(cluster).filter(|flux| is_released(input, next, cluster, flux))
        {
            let entry = flux.path.as_ref().and_then(|path| next.model.entry(path));
            let typed = entry.and_then(|entry| next.typed_entry(next.snapshot, entry).ok());
            let objects = match typed.map(|typed| typed.objects.len()) {
                None => "its objects land".to_owned(),
                Some(1) => "its object lands".to_owned(),
                Some(count) => format!("its {count} objects land"),
            };
            let name = GateTarget::of(next, flux).shown(input.spec);
            let text = format!(
                "Flux Kustomization {name} of cluster {cluster} waits for no window any more. From now on {objects} at once"
            );
            found.push(Diagnostic::warning(text).at(flux.place("path")));
        }
    }
    Ok(found)
}

/// Returns whether a job closes a Flux Kustomization of a cluster so far, and none in `next`.
fn is_released(input: &Input<'_>, next: &Input<'_>, cluster: &str, flux: &FluxKustomization) -> bool {
    let target = GateTarget::of(next, flux);
    let closes = |model: &Model| model.closings.running(cluster, &target).is_some();
    closes(input.model) && !closes(next.model)
}

/// Returns the commands that resume some Flux Kustomizations of a cluster: one for each namespace, where the mechanism has such.
pub fn resuming(
    targets: impl IntoIterator<Item = GateTarget>,
    mechanism: MechanismName,
    cluster: &str,
) -> Vec<Command> {
    let mut namespaces: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for GateTarget { namespace, name } in targets {
        namespaces.entry(namespace).or_default().push(name);
    }
    let all = namespaces.into_iter();
    all.flat_map(|(namespace, names)| Command::release(&namespace, &names, mechanism, cluster)).collect()
}

/// Returns the commands that resume what jobs close so far and close no more in `next`, where a gate stands
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
        let released = own.filter(|flux| is_released(input, next, cluster, flux));
        resuming(released.map(|flux| GateTarget::of(next, flux)), input.spec.gate.mechanism, cluster)
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
