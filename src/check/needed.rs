//! What Flux Kustomizations need of a window.

use std::time::Duration;

use crate::repo::{FluxKustomization, duration};

/// What the Flux Kustomizations that a window gates need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needed {
    /// Interval plus timeout of the slowest.
    pub whole: Duration,
    /// The shortest interval.
    pub interval: Duration,
}

impl Needed {
    /// Returns what one needs; `None` where Git does not say its interval.
    ///
    /// The timeout is the interval where none is written (kustomize-controller `api/v1`, `GetTimeout`).
    pub fn of(flux: &FluxKustomization) -> Option<Needed> {
        let interval = flux.spec("interval").as_str().and_then(duration::parse)?;
        let timeout = flux.spec("timeout").as_str().and_then(duration::parse).unwrap_or(interval);
        Some(Needed { whole: interval + timeout, interval })
    }

    /// Returns what both need.
    pub fn and(self, other: Needed) -> Needed {
        Needed { whole: self.whole.max(other.whole), interval: self.interval.min(other.interval) }
    }
}
