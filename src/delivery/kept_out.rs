//! What Git keeps from a cluster.

use crate::delivery::withheld::DEEPEST;
use crate::delivery::{Cluster, Reached};

impl Cluster {
    /// Tells whether Git keeps from the cluster what a Flux Kustomization that is new would apply: by `suspend: true` of
    /// that, or of one on the way to it.
    pub fn is_kept_out(&self, one: &Reached) -> bool {
        let mut next = one;
        for _ in 0..DEEPEST {
            if next.is_suspended() {
                return true;
            }
            let Some(above) = self.parent(next) else { break };
            next = above;
        }
        false
    }
}
