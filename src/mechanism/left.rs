//! How a gate has left a Flux Kustomization in its cluster.

use jiff::Timestamp;
use serde_json::Value;

use crate::mechanism::STOP;
use crate::text::words;

/// What a cluster has of a Flux Kustomization that a gate holds back, as its API gives it; null for what is not there.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'v> {
    /// The Flux Kustomization.
    pub kustomization: &'v Value,
    /// The source that it reads.
    pub source: &'v Value,
    /// The source that the other one follows; the same where that follows none.
    pub followed: &'v Value,
    /// The Events of commits that gates let in.
    pub events: &'v [Value],
    /// What moves or turns it, where the cluster has that.
    pub job: &'v Value,
    /// Whether the jobs of the gate look at a table.
    pub has_table: bool,
}

words! {
    /// Whether what is new gets in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// It does, or the newest commit is in.
        Open = "open",
        /// The gate keeps it out.
        Closed = "closed",
        /// Somebody keeps it out, and the gate leaves that alone.
        Stopped = "stopped",
    }
}

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field<'v> {
    /// The object.
    pub object: &'v Value,
    /// The names on the way to the field.
    pub path: &'static [&'static str],
}

impl<'v> Field<'v> {
    /// `spec.suspend` of an object.
    pub(super) fn suspend(object: &'v Value) -> Field<'v> {
        Field { object, path: &["spec", "suspend"] }
    }

    /// The annotation by which people have stopped an object; `None` where they have not.
    pub(super) fn stop(object: &'v Value) -> Option<Field<'v>> {
        let reason = object["metadata"]["annotations"][STOP].as_str().filter(|reason| !reason.is_empty());
        reason.map(|_| Field { object, path: &["metadata", "annotations", STOP] })
    }

    /// Returns the annotation that it is; `None` for any other field.
    pub fn annotation(&self) -> Option<&'static str> {
        match self.path {
            ["metadata", "annotations", name] => Some(name),
            _ => None,
        }
    }
}

/// How a gate has left a Flux Kustomization.
#[derive(Clone, Copy, Debug)]
pub struct Left<'v> {
    /// Whether what is new gets in.
    pub state: State,
    /// The field that decides it.
    pub field: Field<'v>,
    /// What was done by setting that field, as a verb in the past.
    pub verb: &'static str,
    /// When that was, where the gate itself has noted it.
    pub at: Option<Timestamp>,
    /// Since when there is something that could get in; `None` where that does not matter.
    pub newest_since: Option<Timestamp>,
    /// The commit at which a source is held; `None` where none is.
    pub pin: Option<&'v str>,
    /// What the gate has written down for people.
    pub note: Option<&'v str>,
}
