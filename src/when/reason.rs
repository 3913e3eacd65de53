//! Why a gate is open or closed, and why it closes, as words that stay.

use jiff::{Span, Timestamp};

use crate::delivery::Stuck;
use crate::delivery::fleet::{GateSchedule, GateState};
use crate::when::Line;

/// Why a change waits, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It has no window.
    RealTime,
    /// It depends on what is closed, or applies nothing.
    Dependency,
    /// A window is open.
    Window,
    /// An override is open, and no window.
    Override,
    /// Nothing has closed yet.
    BeforeFirstClosing,
    /// No window is open.
    OutsideWindow,
    /// The window is about to end, and what is let in now might land after it.
    Settling,
    /// A freeze holds.
    Freeze,
    /// The table of open times has ended.
    TableEnded,
    /// The table of open times has not begun.
    TableNotBegun,
    /// The gate is off.
    GateOff,
    /// Nothing closes outside of the windows.
    NotGated,
    /// It is split and not handed over.
    NotHandedOver,
    /// A CronJob closes of which the spec says nothing.
    ForeignGate,
    /// Nothing in Git moves the held source.
    Unmoved,
    /// `spec.suspend` stands in Git.
    Suspended,
    /// The gate before suspended it, and its CronJobs resume only what they suspended.
    LeftSuspended,
    /// `spec.suspend` of its source stands in Git.
    SuspendedSource,
    /// Its source can't fetch this commit, as a path of its `spec.sparseCheckout` is missing.
    SourceFails,
    /// It depends on itself.
    DependencyCircle,
    /// It does not build.
    Unbuilt,
    /// The cluster has nothing in this repository.
    NoEntryPoint,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 22] = [
        Reason::RealTime,
        Reason::Dependency,
        Reason::Window,
        Reason::Override,
        Reason::BeforeFirstClosing,
        Reason::OutsideWindow,
        Reason::Settling,
        Reason::Freeze,
        Reason::TableEnded,
        Reason::TableNotBegun,
        Reason::GateOff,
        Reason::NotGated,
        Reason::NotHandedOver,
        Reason::ForeignGate,
        Reason::Unmoved,
        Reason::Suspended,
        Reason::LeftSuspended,
        Reason::SuspendedSource,
        Reason::SourceFails,
        Reason::DependencyCircle,
        Reason::Unbuilt,
        Reason::NoEntryPoint,
    ];

    /// Returns the name by which programs know it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::RealTime => "real-time",
            Reason::Dependency => "dependency",
            Reason::Window => "window",
            Reason::Override => "override",
            Reason::BeforeFirstClosing => "before-first-closing",
            Reason::OutsideWindow => "outside-window",
            Reason::Settling => "settling",
            Reason::Freeze => "freeze",
            Reason::TableEnded => "table-ended",
            Reason::TableNotBegun => "table-not-begun",
            Reason::GateOff => "gate-off",
            Reason::NotGated => "not-gated",
            Reason::NotHandedOver => "not-handed-over",
            Reason::ForeignGate => "foreign-gate",
            Reason::Unmoved => "unmoved",
            Reason::Suspended => "suspended",
            Reason::LeftSuspended => "left-suspended",
            Reason::SuspendedSource => "suspended-source",
            Reason::SourceFails => "source-fails",
            Reason::DependencyCircle => "dependency-circle",
            Reason::Unbuilt => "not-built",
            Reason::NoEntryPoint => "no-entry-point",
        }
    }

    pub(super) fn of(line: &Line, at: Timestamp) -> Reason {
        match line.stuck() {
            Some(Stuck::Suspended) => return Reason::Suspended,
            Some(Stuck::Source(_)) => return Reason::SuspendedSource,
            Some(Stuck::Unfetched(..)) => return Reason::SourceFails,
            Some(Stuck::Circle(_)) => return Reason::DependencyCircle,
            Some(Stuck::Dependency(_)) => return Reason::Dependency,
            None => {}
        }
        if line.is_failing {
            return Reason::Unbuilt;
        }
        if line.folder.is_none() {
            return Reason::NoEntryPoint;
        }
        match (line.gate, line.times) {
            _ if line.is_left_suspended => Reason::LeftSuspended,
            _ if line.is_unsaid() => Reason::Dependency,
            (GateState::RealTime, _) if line.is_behind() => Reason::Dependency,
            (GateState::RealTime, _) => Reason::RealTime,
            (GateState::Off, _) => Reason::GateOff,
            (GateState::NotInGit | GateState::NoJob | GateState::Resumed, _) => Reason::NotGated,
            (GateState::NotHandedOver, _) => Reason::NotHandedOver,
            (GateState::Foreign, _) => Reason::ForeignGate,
            (GateState::Unmoved, _) => Reason::Unmoved,
            (GateState::Closes | GateState::Unseen, None) => Reason::RealTime,
            (GateState::Closes | GateState::Unseen, Some(times)) => match &line.table {
                _ if line.freeze.is_some() => Reason::Freeze,
                _ if line.before_first_closing.is_some() => Reason::BeforeFirstClosing,
                _ if times.open && line.given.is_some() => Reason::Override,
                _ if times.open => Reason::Window,
                _ if line.settles.is_some() => Reason::Settling,
                Some(table) if at >= table.close => Reason::TableEnded,
                Some(table) if at < table.open => Reason::TableNotBegun,
                _ => Reason::OutsideWindow,
            },
        }
    }
}

/// Why something closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CloseReason {
    /// The window ends.
    Window,
    /// A freeze begins.
    Freeze,
    /// An override ends.
    Override,
    /// The table of open times ends.
    TableEnd,
}

impl CloseReason {
    /// All of them.
    pub const ALL: [CloseReason; 4] =
        [CloseReason::Window, CloseReason::Freeze, CloseReason::Override, CloseReason::TableEnd];

    /// Returns the name by which programs know it.
    pub fn as_str(self) -> &'static str {
        match self {
            CloseReason::Window => "window",
            CloseReason::Freeze => "freeze",
            CloseReason::Override => "override",
            CloseReason::TableEnd => "table-end",
        }
    }

    /// Finds out why a schedule closes at an instant at which it does.
    pub(super) fn of(schedule: &GateSchedule, close: Timestamp) -> CloseReason {
        let before = close.checked_sub(Span::new().seconds(1)).unwrap_or(close);
        if schedule.freeze_at(close).is_some() {
            CloseReason::Freeze
        } else if schedule.bounds().is_some_and(|table| table.close == close) {
            CloseReason::TableEnd
        } else if schedule.override_at(before).is_some() {
            CloseReason::Override
        } else {
            CloseReason::Window
        }
    }
}
