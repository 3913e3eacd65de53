//! Folders that the commit of a held source does not have, though the base of the pull request has them.

use jiff::Timestamp;

use crate::delivery::Reached;
use crate::path::RepoPath;
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};
use crate::repo::Snapshot;

/// The code of a Flux Kustomization whose folder the held commit does not have.
const CODE: &str = "GW061";

/// A Flux Kustomization of a closed window that is new or builds another folder, and that reads a held source: what the
/// base has may have been merged after the closing, so that it waits too.
#[derive(Clone, Debug)]
pub struct NewlyHeld {
    /// Since when its window is closed.
    pub since: Timestamp,
    path: RepoPath,
    finding: Finding,
}

impl NewlyHeld {
    /// Returns what goes wrong where its folder is not in what was there at the closing.
    pub fn without_path(self, closed: &Snapshot) -> Option<Finding> {
        (!closed.is_dir(&self.path)).then_some(self.finding)
    }
}

/// Finds them in all clusters; of a folder that the base does not have either `check` tells.
pub fn newly_held(clock: &Clock<'_>) -> Vec<NewlyHeld> {
    let key = |one: &Reached| (one.namespace().to_owned(), one.name().to_owned(), one.path.clone());
    let (before, after) = (clock.before.world.model, clock.after.world.model);
    let mut found = Vec::new();
    for cluster in &after.delivered.all {
        let stood = before.delivered.named(&cluster.name);
        let stood = |one: &Reached| {
            stood.is_some_and(|own| own.kustomizations.iter().any(|old| key(old) == key(one)))
        };
        for (one, source) in cluster.held() {
            let since = clock.after.closed_since(&cluster.name, (one.namespace(), one.name()), clock.now);
            let (Some(path), Some(since)) = (&one.path, since) else { continue };
            if stood(one) || !clock.before.world.stands(path) {
                continue;
            }
            let mut named = after.flux_named(&cluster.name, one.name());
            let file = named.find(|flux| flux.namespace == one.namespace()).map(|flux| flux.file.clone());
            let message = format!(
                "held source {} has no {path} yet. {} is not Ready until its window opens",
                source.name,
                one.name()
            );
            let help = "merge it while the window is open: until then nothing of it is applied";
            let finding = Finding {
                topic: Topic::Check,
                cluster: cluster.name.clone(),
                message,
                from: Some(clock.now),
                help: help.to_owned(),
                code: Some(CODE),
                file,
                ..Finding::default()
            };
            found.push(NewlyHeld { since, path: path.clone(), finding });
        }
    }
    found
}
