//! Windows, as the spec writes and names them.

use crate::schedule::WindowKey;
use crate::spec::Placed;

/// Recurring intervals during which a gated type reconciles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowDef {
    /// The name under `windows`; `None` for one that is written inline under a cluster.
    pub name: Option<Placed<String>>,
    /// The IANA time zone, its own or that of the whole spec; `None` leaves the choice to the zone of the cluster's controller.
    pub time_zone: Option<Placed<String>>,
    /// Whether a time zone is written that is no text, which was told; then `time_zone` is `None` as well.
    pub(crate) zone_refused: bool,
    /// When it opens and closes, as it is written by key; which keys go together, [`schedule`] knows.
    ///
    /// [`schedule`]: WindowDef::schedule
    pub times: Vec<(WindowKey, Placed<String>)>,
}

/// A window as a cluster names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowUse {
    /// One of [`Spec::windows`](crate::spec::Spec::windows), which exists.
    Named(Placed<String>),
    /// A window written in place.
    Inline(Box<Placed<WindowDef>>),
}
