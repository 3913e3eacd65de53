//! What gates hold that reads another revision of this repository.

use crate::delivery;
use crate::delivery::fleet::sides::Reading;
use crate::delivery::fleet::{Part, Side, Undivided};
use crate::repo::FluxKustomization;

impl Reading<'_> {
    /// Returns what the CronJobs of a cluster suspend and resume although no build here makes it: that works whatever it reads.
    pub(super) fn elsewhere(&self, cluster: &str) -> Vec<Side> {
        let side = |flux: &FluxKustomization| {
            flux.other.as_ref()?;
            let folder = self.model.reached(flux)?.read_elsewhere()?;
            let own = self.named(flux);
            self.waits.holds.by_jobs(cluster, &own.namespace, &own.name, Some(&folder))?;
            let (entry, part) = match delivery::by_place(self.spec, &folder, cluster) {
                Some((base, position)) => (base, Part::Type(position)),
                None => (folder.clone(), Part::Whole),
            };
            Some(Side {
                entry: Some(entry),
                awaited: self.awaited(flux),
                undivided: Some(Undivided::Elsewhere),
                ..self.applied(cluster, part, &folder, Some(own))
            })
        };
        self.model.flux_of_cluster(cluster).filter_map(side).collect()
    }
}
