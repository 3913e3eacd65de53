//! Who waits for whom in each cluster, found once: many sides ask of the same Flux Kustomizations.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::delivery::{Cluster, Hold, Holds, Paces, Reached};

/// What is known of a cluster.
#[derive(Default)]
struct Known<'m> {
    /// Whether a window or Git holds one back, by the address of the Flux Kustomization.
    held: RefCell<BTreeMap<*const Reached, bool>>,
    paces: RefCell<Paces<'m>>,
}

/// What the Flux Kustomizations of all clusters wait for.
pub(super) struct Waits<'m> {
    /// What the gates hold back.
    pub holds: Holds<'m>,
    known: RefCell<BTreeMap<&'m str, Rc<Known<'m>>>>,
}

impl<'m> Waits<'m> {
    pub(super) fn new(holds: Holds<'m>) -> Waits<'m> {
        Waits { holds, known: RefCell::default() }
    }

    /// Returns how long one takes at most to apply a commit; `None` where it is held back or Git does not say it.
    pub(super) fn pace(&self, cluster: &'m Cluster, one: &'m Reached) -> Option<Duration> {
        let known = self.known(cluster);
        let is_held = |one: &'m Reached| self.is_held(cluster, one);
        cluster.pace_with(one, &is_held, &mut known.paces.borrow_mut())
    }

    /// Returns the first on the way of what one depends on that is held back, or is not in Git, by its name.
    pub(super) fn awaited(
        &self,
        cluster: &'m Cluster,
        one: &'m Reached,
    ) -> Option<(&'m str, Option<&'m Reached>)> {
        cluster.awaited(one, &|one| self.is_held(cluster, one))
    }

    /// Returns what the gates hold one back by.
    pub(super) fn hold(&self, cluster: &Cluster, one: &Reached) -> Option<Hold> {
        self.holds.of(&cluster.name, one.namespace(), one.name(), one.path.as_ref())
    }

    fn is_held(&self, cluster: &'m Cluster, one: &'m Reached) -> bool {
        let find = || cluster.is_stuck(one) || self.hold(cluster, one).is_some();
        *self.known(cluster).held.borrow_mut().entry(one).or_insert_with(find)
    }

    fn known(&self, cluster: &'m Cluster) -> Rc<Known<'m>> {
        self.known.borrow_mut().entry(&cluster.name).or_default().clone()
    }
}
