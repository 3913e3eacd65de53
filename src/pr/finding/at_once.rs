//! What lands at once although a window seems to hold it back, and what a window holds back no more.

use serde_json::Value;

use crate::delivery::{Applier, Hold, Kind};
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;
use crate::pr::tree::Tree;
use crate::repo::flux::GROUP;
use crate::repo::manifest::ObjectId;

/// Finds an object that lands outside of the window that held it back, and whatever takes the window away.
pub(super) fn at_once(clock: &Clock<'_>, line: &Line) -> Option<Finding> {
    // Of a cluster that comes or goes nothing was held back, or will be. Whoever applies a root outside of Git mostly does so
    // at once.
    let is_unsaid = line.lands.state == State::Unknown && line.by.kustomization.is_none();
    if line.lands.state != State::AtOnce && !is_unsaid || !clock.is_in_both(&line.cluster) {
        return None;
    }
    let finding = |topic: Topic, object: &ObjectId, message: String, help: &str| Finding {
        topic,
        cluster: line.cluster.clone(),
        object: Some(object.clone()),
        message,
        from: line.lands.earliest,
        help: help.to_owned(),
        ..Finding::default()
    };
    let outside = |object: &ObjectId, message: String, help: &str| {
        Some(finding(Topic::OutsideWindow, object, message, help))
    };
    if let Some(reason) = line.lands.reason.as_ref().filter(|_| line.lands.outruns) {
        let (namespace, name) = line.by.kustomization.as_ref()?;
        return outside(
            &kustomization(namespace, name),
            format!("what Flux Kustomization {name} applies lands outside of its window: {reason}"),
            "merge it while the window is open, or accept that it starts at once",
        );
    }
    if let Some((namespace, name)) = line.from.as_ref().and_then(|from| from.kustomization.as_ref())
        && let Some(hold) = clock.before.held_of(&line.cluster, namespace, name)
        && !is_open(clock, &hold)
    {
        return outside(
            &line.id,
            format!(
                "{} moves from {name} to {} and lands at once: {} made it wait",
                line.id,
                line.by.name(),
                hold.1
            ),
            "merge it while the window is open, or suspend its new Flux Kustomization too",
        );
    }
    if line.id.group == GROUP && line.id.kind == "Kustomization" && line.kind == Kind::Changed {
        let (before, after) = suspended(line)?;
        let (name, help) = (&line.id.name, "take `spec.suspend` out of Git, unless it is meant");
        let once = if is_unsaid { "" } else { " at once" };
        let namespace = &line.id.namespace;
        let held = clock.after.held_of(&line.cluster, namespace, name);
        let held = held.or_else(|| clock.before.held_of(&line.cluster, namespace, name));
        // `false` in Git wins over what a gate sets, and so does a `true` that goes (server-side apply).
        let (topic, what) = match (held, after == Some(true)) {
            (Some((_, hold)), true) => {
                (Topic::Check, format!("is suspended by Git, so {hold} resumes it for a moment at most"))
            }
            (None, true) => (
                Topic::Check,
                format!("is suspended{once}: nothing of it lands any more until Git resumes it"),
            ),
            (Some(hold), false) if before == Some(true) || after == Some(false) => {
                // What waits at its source goes on waiting there.
                if is_open(clock, &hold) || clock.after.is_held(&hold.0) {
                    return None;
                }
                (Topic::OutsideWindow, format!("is resumed{once}, so all lands that waits for {}", hold.1))
            }
            (None, false) if before == Some(true) => {
                (Topic::Check, format!("is resumed{once}: all lands that changed while it was suspended"))
            }
            _ => return None,
        };
        return Some(finding(topic, &line.id, format!("Flux Kustomization {name} {what}"), help));
    }
    None
}

/// Returns whether what holds a Flux Kustomization back lets it go at the merge.
fn is_open(clock: &Clock<'_>, (applier, hold): &(Applier<'_>, Hold)) -> bool {
    let gate = |tree: &Tree<'_>| tree.gate(applier.cluster, applier.kustomization, hold, clock.now);
    gate(&clock.after).or_else(|| gate(&clock.before)).is_some_and(|gate| gate.times.open)
}

/// Names a Flux Kustomization.
pub(super) fn kustomization(namespace: &str, name: &str) -> ObjectId {
    ObjectId {
        group: GROUP.to_owned(),
        kind: "Kustomization".to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

/// Returns what `spec.suspend` was and is, where it changes.
fn suspended(line: &Line) -> Option<(Option<bool>, Option<bool>)> {
    let field = line.fields.iter().find(|field| field.path == "spec.suspend")?;
    let flag = |value: &Option<Value>| value.as_ref().and_then(Value::as_bool);
    Some((flag(&field.before), flag(&field.after)))
}

impl Clock<'_> {
    /// Returns whether a cluster is there before and after.
    pub(super) fn is_in_both(&self, cluster: &str) -> bool {
        let has = |tree: &Tree<'_>| tree.world.model.delivered.all.iter().any(|one| one.name == cluster);
        has(&self.before) && has(&self.after)
    }
}
