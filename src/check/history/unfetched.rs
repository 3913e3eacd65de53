//! Sources that can't fetch a change, since what they check out leaves with it.

use super::{Change, Told};
use crate::check::audit::nothing_fetched;
use crate::delivery::SourceId;

impl Change<'_> {
    /// Finds sources that bring themselves and of which the list in the cluster names what the newer revision does not have:
    /// the shorter list comes with a commit that is never fetched (source-controller, `validateSparseCheckoutPaths`).
    ///
    /// What the newer list names is told of that.
    pub(super) fn unfetched(&self) -> Vec<Told> {
        let [before, after] = [self.step.before, self.step.after];
        let Some(cluster) = before.model.delivered.named(&self.key.name) else { return Vec::new() };
        let still_names = |id: &SourceId, path: &str| {
            let now = after.model.delivered.named(&self.key_now.name).and_then(|now| now.source(id));
            let paths = now.and_then(|spec| spec["sparseCheckout"].as_array());
            paths.is_some_and(|paths| paths.iter().any(|one| one == path))
        };
        let found = cluster.sources.iter().filter(|(id, _)| !cluster.is_held(id)).filter_map(|(id, _)| {
            let by = cluster.bringer_of(id).filter(|by| cluster.fetched(&by.source()) == *id)?;
            let path = before.model.partial_of(by)?.missing(after.snapshot)?;
            (!still_names(id, path)).then(|| {
                let effect = "The list without it comes with this change, which is never fetched";
                let finding = nothing_fetched(before.snapshot, id, path, effect);
                Told::of(
                    self.key_now,
                    finding.help(format!("drop `{path}` from the list one commit earlier")),
                )
            })
        });
        found.collect()
    }
}
