//! What Flux Kustomizations need of a window.

use std::time::Duration;

use crate::delivery::Model;
use crate::repo::{FluxKustomization, duration};

/// What the Flux Kustomizations that a window gates need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needed {
    /// How long the slowest takes to apply what was merged as its window opened.
    pub whole: Duration,
    /// The shortest interval.
    pub interval: Duration,
}

impl Needed {
    /// Returns what one needs; `None` where Git does not say it.
    ///
    /// A new revision and a resume let Flux reconcile it at once (kustomize-controller, `SetupWithManager`), so its own interval
    /// does not count.
    pub fn of(model: &Model, flux: &FluxKustomization) -> Option<Needed> {
        let interval = flux.spec("interval").as_str().and_then(duration::parse)?;
        let cluster = model.delivered.named(&flux.read_in)?;
        Some(Needed { whole: cluster.pace(model.reached(flux)?, &|_| false)?, interval })
    }

    /// Returns what both need.
    pub fn and(self, other: Needed) -> Needed {
        Needed { whole: self.whole.max(other.whole), interval: self.interval.min(other.interval) }
    }
}
