//! Windows, as the spec writes and names them.

use crate::spec::Placed;

/// Recurring intervals during which a gated type reconciles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowDef {
    /// The name under `windows`; `None` for one that is written inline under a cluster.
    pub name: Option<Placed<String>>,
    /// The IANA time zone; `None` leaves the choice to the zone of the cluster's controller.
    pub time_zone: Option<Placed<String>>,
    /// Whether a time zone is written that is no text, which was told; then `time_zone` is `None` as well.
    pub(crate) zone_refused: bool,
    /// When it opens and closes.
    pub form: WindowForm,
}

/// The three ways to write a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowForm {
    /// Two cron expressions.
    OpenClose {
        /// When it opens, for example `0 8 * * MON`.
        open: Placed<String>,
        /// When it closes, for example `0 17 * * THU`.
        close: Placed<String>,
    },
    /// A cron expression and a length.
    OpenFor {
        /// When it opens.
        open: Placed<String>,
        /// How long it stays open, for example `4h` or `90m`; written `for`.
        length: Placed<String>,
    },
    /// Two moments of the week.
    FromTo {
        /// When it opens, for example `Mon 08:00`.
        from: Placed<String>,
        /// When it closes, for example `Thu 17:00`.
        to: Placed<String>,
    },
}

impl WindowForm {
    /// Tells whether all of it was read; what was not is said elsewhere.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            WindowForm::FromTo { from, to } => !from.is_empty() && !to.is_empty(),
            _ => true,
        }
    }
}

/// A window as a cluster names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowUse {
    /// One of [`Spec::windows`](crate::spec::Spec::windows), which exists.
    Named(Placed<String>),
    /// A window written in place.
    Inline(Box<Placed<WindowDef>>),
}
