//! What Git keeps from a cluster.

use crate::delivery::withheld::{DEEPEST, parent};
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
            let above = next.applied_by.as_ref();
            let Some(above) =
                above.and_then(|(namespace, name)| parent(self, &next.remote, (namespace, name)))
            else {
                break;
            };
            next = above;
        }
        false
    }
}
