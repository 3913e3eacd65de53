//! What goes with its Namespace.

use std::collections::BTreeMap;

use crate::delivery::{Applier, Change, Comparison, Kind};
use crate::pr::clock::Clock;
use crate::pr::landing::{Landing, State};

/// A cluster, the secrets of `kubeConfig` on the way, and the name of a Namespace.
type Key = (String, String, String);

/// The Namespaces that are deleted: Kubernetes deletes all that is in one with it, whatever holds back the Flux Kustomization
/// of that (`namespaced_resources_deleter.go`).
pub(super) struct Swept(BTreeMap<Key, Landing>);

impl Swept {
    /// Finds the Namespaces that go, by the landings of the pairs.
    pub(super) fn of(clock: &Clock<'_>, comparison: &Comparison<'_>, landings: &[Landing]) -> Swept {
        let going = comparison.changes.iter().filter_map(|change| {
            let is_it = change.kind() == Kind::Deleted && change.live.is_namespace();
            let (pair, object) = change.before.as_ref().filter(|_| is_it)?;
            let lands = landings.get(*pair)?;
            let lands = clock.deletes(comparison.pairs.get(*pair)?, &object.value, lands);
            let is_said =
                lands.state == State::AtOnce || lands.state.is_windowed() && lands.earliest.is_some();
            is_said.then(|| Some((key(comparison, change, &change.live.name)?, lands))).flatten()
        });
        Swept(going.collect())
    }

    /// Returns when an object is deleted, with its Namespace where that goes earlier.
    pub(super) fn with(&self, comparison: &Comparison<'_>, change: &Change, lands: Landing) -> Landing {
        let key = key(comparison, change, &change.live.namespace);
        let Some((key, with)) = key.and_then(|key| self.0.get_key_value(&key)) else { return lands };
        let is_earlier = lands.earliest.is_none_or(|own| with.earliest < Some(own));
        if !is_earlier {
            return lands;
        }
        let reason = format!("it goes with Namespace {}", key.2);
        Landing { outruns: lands.state.is_windowed(), reason: Some(reason), ..with.clone() }
    }
}

fn key(comparison: &Comparison<'_>, change: &Change, namespace: &str) -> Option<Key> {
    let pair = comparison.pairs.get(change.pair()).filter(|_| !namespace.is_empty())?;
    let target = pair.before.as_ref().map(Applier::target)?;
    Some((pair.cluster.clone(), target, namespace.to_owned()))
}
