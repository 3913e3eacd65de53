//! Whether a live cluster is ready for the next step.

use std::collections::BTreeMap;

use crate::delivery::Input;
use crate::delivery::inventory::Inventory;
use crate::live::LiveKustomization;
use crate::plan::Stage;
use crate::plan::migrate::MigrateOptions;
use crate::plan::migrate::moving::Move;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Relation};

/// Returns what is missing before the next step of a move; nothing where the cluster is ready.
///
/// `inventories` are what Git says, `live` what the cluster says.
pub fn missing(
    input: &Input<'_>,
    one: &Move<'_>,
    inventories: &[Inventory],
    live: &[LiveKustomization],
    options: &MigrateOptions,
) -> Vec<String> {
    let mut missing = Vec::new();
    let mut found = Vec::new();
    for expected in one.all() {
        match lookup(input, expected, live) {
            Ok(live) => {
                missing.extend(behind(expected, live));
                missing.extend(applied(live, options));
                found.push((expected, live));
            }
            Err(reason) => missing.push(reason),
        }
    }
    if one.stage == Stage::HandedOver && found.len() == one.all().count() {
        missing.extend(still_there(input, one, live));
        missing.extend(held(one, inventories, &found));
    }
    missing
}

fn lookup<'l>(
    input: &Input<'_>,
    expected: &FluxKustomization,
    live: &'l [LiveKustomization],
) -> Result<&'l LiveKustomization, String> {
    let (space, name) = (input.namespace(expected), &expected.name);
    let found = live.iter().find(|live| live.namespace == space && live.name == *name);
    let found = found.ok_or_else(|| format!("the cluster has no Flux Kustomization {space}/{name}"))?;
    if expected.folder_of(&found.path) != expected.path {
        return Err(format!(
            "Flux Kustomization {space}/{name} builds {} there and {} in Git. It is another cluster, or lacks the last commit",
            found.path,
            expected.spec("path").as_str().unwrap_or_default()
        ));
    }
    let (kind, source) = (found.source_kind.as_str(), found.source_name.as_str());
    if (kind, source) != (expected.source_kind(), expected.source_name()) {
        return Err(format!(
            "Flux Kustomization {space}/{name} builds from {kind} {source} there and from {} {} in Git. Compare by hand, and go on without --confirm",
            expected.source_kind(),
            expected.source_name()
        ));
    }
    Ok(found)
}

/// Returns whether a live Flux Kustomization has applied the base: it may be ready with an older commit.
fn applied(live: &LiveKustomization, options: &MigrateOptions) -> Option<String> {
    let (name, base) = (&live.name, &options.base);
    let Some(commit) = &live.commit else {
        let revision = if live.revision.is_empty() { "nothing" } else { live.revision.as_str() };
        return Some(format!("{name} has applied {revision} there, which is no commit"));
    };
    let short = commit.get(..12).unwrap_or(commit);
    match options.applied.get(commit) {
        Some(Relation::Contains) => None,
        Some(Relation::Lacks) => Some(format!(
            "{name} has applied commit {short} there, which lacks {base}. Push that and wait, or name the cluster's revision with --base"
        )),
        Some(Relation::Unknown) | None => Some(format!(
            "{name} has applied commit {short} there, which is not in this repository. Fetch it, and name it with --base"
        )),
    }
}

/// Says how a live Flux Kustomization lags behind Git.
fn behind(expected: &FluxKustomization, live: &LiveKustomization) -> Vec<String> {
    let name = &live.name;
    let mut found = Vec::new();
    let prune = expected.spec("prune").as_bool().unwrap_or_default();
    if live.prune != prune {
        found.push(format!("{name} has `prune: {}` there, not {prune}", live.prune));
    }
    let policy = expected.spec("deletionPolicy").as_str().unwrap_or_default();
    if policy == "Orphan" && live.deletion_policy != policy {
        found.push(format!("{name} has no `deletionPolicy: Orphan` there"));
    }
    if live.suspended {
        found.push(format!("{name} is suspended there"));
    }
    if !live.observed {
        found.push(format!("{name}: the controller has not seen the last change"));
    } else if !live.ready {
        let said = if live.message.is_empty() { "nothing said" } else { live.message.as_str() };
        found.push(format!("{name} is not ready: {said}"));
    }
    found
}

/// An old Flux Kustomization that Git no longer has may live on: its parent does not prune.
fn still_there(input: &Input<'_>, one: &Move<'_>, live: &[LiveKustomization]) -> Vec<String> {
    if !one.old.is_empty() {
        return Vec::new();
    }
    let in_git = |live: &LiveKustomization| {
        input
            .model
            .all_flux()
            .iter()
            .any(|other| other.name == live.name && input.namespace(other) == live.namespace)
    };
    // A path says nothing of another artifact.
    let is_read = |live: &LiveKustomization, own: &FluxKustomization| {
        own.top.is_top()
            || (live.source_kind.as_str(), live.source_name.as_str())
                == (own.source_kind(), own.source_name())
    };
    let applies = |live: &LiveKustomization| {
        one.all().any(|own| is_read(live, own) && own.folder_of(&live.path).as_ref() == Some(&one.whole))
    };
    live.iter()
        .filter(|live| applies(live) && !in_git(live))
        .map(|live| {
            format!("{}/{} still applies {}, and Git has it no more", live.namespace, live.name, one.whole)
        })
        .collect()
}

/// Says which objects no live inventory holds, or several do.
fn held(
    one: &Move<'_>,
    inventories: &[Inventory],
    found: &[(&FluxKustomization, &LiveKustomization)],
) -> Vec<String> {
    let mut missing = Vec::new();
    let mut owners: BTreeMap<&ObjectId, Vec<&str>> = BTreeMap::new();
    for (_, live) in found {
        for id in &live.inventory {
            owners.entry(id).or_default().push(&live.name);
        }
    }
    for (id, names) in owners.iter().filter(|(_, names)| names.len() > 1) {
        missing.push(format!("{id} is held by {}", names.join(" and by ")));
    }
    for (expected, live) in found {
        let own = Inventory::find(inventories, &one.cluster, expected);
        let Some((own, Ok(objects))) = own.map(|own| (own, &own.objects)) else {
            missing.push(format!("{} does not build here, so its objects can't be compared", expected.name));
            continue;
        };
        let wanted: Vec<ObjectId> = objects.iter().map(|object| own.live_id(object)).collect();
        for id in wanted.iter().filter(|id| !id.has_variable()) {
            if !live.inventory.iter().any(|other| is_same(id, other)) {
                missing.push(format!("{id} is not held by {} yet", live.name));
            }
        }
        if wanted.iter().any(ObjectId::has_variable) {
            continue;
        }
        for id in live.inventory.iter().filter(|id| !wanted.iter().any(|other| is_same(other, id))) {
            missing.push(format!("{id} is held by {}, and Git has it no more", live.name));
        }
    }
    missing
}

/// Compares ids; a manifest that names no namespace may get one on its way into the cluster.
fn is_same(git: &ObjectId, live: &ObjectId) -> bool {
    (&git.group, &git.kind, &git.name) == (&live.group, &live.kind, &live.name)
        && (git.namespace.is_empty() || git.namespace == live.namespace)
}

#[cfg(test)]
mod tests;
