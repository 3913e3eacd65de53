//! When a change reaches its cluster.

use std::fmt;

use jiff::Timestamp;

use crate::delivery::Release;
use crate::schedule::Stretch;

/// What decides when a change lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing holds it back.
    AtOnce,
    /// A window.
    Window,
    /// A window that a freeze keeps closed at the merge; with no instant where nothing opens after it.
    Frozen,
    /// Nothing brings it.
    Never,
    /// Git does not say it.
    Unknown,
}

impl State {
    /// Returns whether a window lets it in.
    pub fn is_windowed(self) -> bool {
        matches!(self, State::Window | State::Frozen)
    }

    /// Returns the word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            State::AtOnce => "at-once",
            State::Window => "window",
            State::Frozen => "frozen",
            State::Never => "never",
            State::Unknown => "unknown",
        }
    }
}

/// Another window than the one that something waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherWindow {
    /// Its name; `None` where it has none.
    pub name: Option<String>,
    /// Its time zone.
    pub zone: Option<String>,
}

/// When a change lands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Landing {
    /// What decides it.
    pub state: State,
    /// Before this instant it does not land; `None` where it never does, or nobody knows.
    pub earliest: Option<Timestamp>,
    /// At this instant it has landed, as long as nothing fails; `None` where Git does not say an interval on the way.
    pub latest: Option<Timestamp>,
    /// The window that it waits for: its name, or that of the type or the CronJob where it has none.
    pub window: Option<String>,
    /// What that window is of, where it has no name: `type rw`, or a CronJob.
    pub window_of: Option<String>,
    /// The freeze that keeps it closed at the merge.
    pub freeze: Option<Stretch>,
    /// The override that lets it in, where no window does.
    pub given: Option<Stretch>,
    /// The time zone of that window.
    pub zone: Option<String>,
    /// The last instant of a merge that still lands in that window.
    pub deadline: Option<Timestamp>,
    /// Since when the window is closed at the merge; `None` where it is open then.
    pub since: Option<Timestamp>,
    /// The opening that a later merge waits for.
    pub otherwise: Option<Timestamp>,
    /// The window that opens then, where it is another one.
    pub other: Option<OtherWindow>,
    /// The first closing, where nothing has closed yet and it lands before.
    pub first_closing: Option<Timestamp>,
    /// Whether it lands outside of its window because it is new, so that nothing suspends it yet.
    pub outruns: bool,
    /// What has to happen after the merge, where `latest` and `deadline` count from that.
    pub release: Option<Release>,
    /// Why, where that is not plain.
    pub reason: Option<String>,
}

impl Landing {
    /// A landing between two instants.
    pub fn at_once(earliest: Timestamp, latest: Option<Timestamp>) -> Landing {
        let none = Landing::never("");
        Landing { state: State::AtOnce, earliest: Some(earliest), latest, reason: None, ..none }
    }

    /// No landing at all.
    pub fn never(reason: impl Into<String>) -> Landing {
        Landing {
            state: State::Never,
            earliest: None,
            latest: None,
            window: None,
            window_of: None,
            freeze: None,
            given: None,
            zone: None,
            deadline: None,
            otherwise: None,
            other: None,
            since: None,
            first_closing: None,
            outruns: false,
            release: None,
            reason: Some(reason.into()),
        }
    }

    /// A landing of which Git does not say when.
    pub fn unknown(reason: impl Into<String>) -> Landing {
        Landing { state: State::Unknown, ..Landing::never(reason) }
    }

    /// Returns the opening that brings it where its window may close too soon.
    pub fn next(&self) -> Option<Timestamp> {
        self.otherwise.filter(|next| self.latest.is_some_and(|latest| latest >= *next))
    }

    /// Returns the window that it waits for, where another landing waits for another one.
    pub(super) fn beside(&self, other: &Landing) -> Option<OtherWindow> {
        let is_same = self.window == other.window && self.zone == other.zone;
        (!is_same).then(|| OtherWindow { name: self.window.clone(), zone: self.zone.clone() })
    }

    /// Adds a reason where there is none yet.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Landing {
        Landing { reason: self.reason.or_else(|| Some(reason.into())), ..self }
    }

    /// Adds a reason that stands before the others.
    #[must_use]
    pub fn besides(self, more: &str) -> Landing {
        let reason = self.reason.as_ref().map_or_else(|| more.to_owned(), |own| format!("{more}; {own}"));
        Landing { reason: Some(reason), ..self }
    }

    /// Returns when something lands that needs this and another thing.
    ///
    /// What never lands decides, then what a freeze holds without end, then what nobody knows, then the later one.
    #[must_use]
    pub fn and(self, other: Landing) -> Landing {
        let worst = |landing: &Landing| match landing.state {
            State::Unknown => 1,
            State::Frozen if landing.earliest.is_none() => 2,
            State::AtOnce | State::Window | State::Frozen => 0,
            State::Never => 3,
        };
        match worst(&self).cmp(&worst(&other)) {
            std::cmp::Ordering::Greater => return self,
            std::cmp::Ordering::Less => return other,
            std::cmp::Ordering::Equal => {}
        }
        let release = self.release.max(other.release);
        let latest = self.latest.zip(other.latest).map(|(a, b)| a.max(b));
        let is_first = other.deadline.is_some_and(|of| self.deadline.is_none_or(|own| of < own));
        let of = if is_first { &other } else { &self };
        let (deadline, otherwise, window) = (of.deadline, of.otherwise, of.other.clone());
        let earliest = self.earliest.max(other.earliest);
        let is_later =
            other.earliest > self.earliest || (self.state == State::AtOnce && other.state.is_windowed());
        let decides = if is_later { other } else { self };
        Landing { earliest, latest, deadline, otherwise, other: window, release, ..decides }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
