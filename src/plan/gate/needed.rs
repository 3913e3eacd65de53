//! What no gate suspends, since something earlier depends on it.

use std::collections::BTreeMap;

use crate::delivery::Input;
use crate::mechanism::{GateTarget, Unheld, WhyUnheld};
use crate::plan::gate::wanted;

/// By cluster, the Flux Kustomizations whose objects all have a window and that no gate suspends, each with the real-time
/// one that depends on it.
pub type Needed = BTreeMap<String, BTreeMap<GateTarget, GateTarget>>;

/// Returns them; none of clusters that can't have a gate.
pub fn needed(input: &Input<'_>) -> Needed {
    let Some(gates) = wanted(input) else { return Needed::new() };
    let of = |(target, unheld): (GateTarget, Unheld)| match unheld.why {
        WhyUnheld::NeededBy(by) => Some((target, by)),
        WhyUnheld::Unsplit | WhyUnheld::NotHandedOver | WhyUnheld::Unreachable => None,
    };
    let all = gates.clusters.into_iter();
    all.map(|cluster| (cluster.cluster, cluster.unheld.into_iter().filter_map(of).collect())).collect()
}
