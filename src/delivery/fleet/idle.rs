//! Types of which nothing waits in a cluster.

use std::collections::BTreeSet;

use crate::delivery::fleet::{Fleet, GateState, Part, Side};
use crate::spec::Spec;

impl Fleet {
    /// Returns the gated types of clusters of which nothing waits, nor will after a split.
    pub fn idle(&self, spec: &Spec) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for cluster in &self.clusters {
            let own: Vec<&Side> =
                self.sides.iter().filter(|side| side.cluster == *cluster && side.folder.is_some()).collect();
            let is_open = |side: &&Side| {
                let is_whole = matches!(side.part, Part::Whole | Part::Remaining);
                is_whole && side.waits_for.is_none() && side.undivided.is_none()
            };
            if own.iter().all(|side| side.part == Part::Support) || own.iter().any(is_open) {
                continue;
            }
            let gated = spec.gated_types().map(|one| &one.name.value);
            let idle = gated.filter(|name| !own.iter().any(|side| side.waits_for.as_ref() == Some(*name)));
            found.extend(idle.map(|name| (cluster.clone(), name.clone())));
        }
        found
    }
    /// Returns the gated types of clusters of which no gate holds anything yet, so that changes land at once.
    ///
    /// Where Git shows nothing that a cluster applies, only the spec knows.
    pub fn free(&self, spec: &Spec) -> BTreeSet<(String, String)> {
        let holds = |gate: GateState| {
            matches!(
                gate,
                GateState::Closes
                    | GateState::Off
                    | GateState::Unseen
                    | GateState::Foreign
                    | GateState::Unmoved
                    | GateState::NotInGit
            )
        };
        let (mut applied, mut held) = (BTreeSet::new(), BTreeSet::new());
        for side in self.sides.iter().filter(|side| side.folder.is_some() && side.part != Part::Support) {
            // Of what Git does not show nobody knows whether it waits.
            if side.kustomization.as_ref().is_some_and(|found| found.in_git) {
                applied.insert(&side.cluster);
            }
            if let Some(name) = side.waits_for.as_ref().filter(|_| holds(side.gate)) {
                held.insert((side.cluster.clone(), name.clone()));
            }
        }
        let gated = spec.gated_types().map(|one| &one.name.value);
        let all =
            gated.flat_map(|name| applied.iter().map(move |cluster| ((*cluster).clone(), name.clone())));
        all.filter(|one| !held.contains(one)).collect()
    }
}
