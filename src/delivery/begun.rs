//! Since when something can have closed what waits for windows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Span, Timestamp};

use crate::delivery::Model;
use crate::delivery::fleet::{GateSchedule, GateTimes};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::repo::Appeared;

/// Tells since when files stand in Git, looking back to an instant.
pub type History<'a> = dyn Fn(&BTreeSet<RepoPath>, Timestamp) -> BTreeMap<RepoPath, Appeared> + 'a;

/// Why something is open that no window opens.
pub const UNCLOSED: &str = "nothing has closed it yet: it or its gate is newer than the last closing";

/// What is open before its first closing, as people say it.
pub const UNTIL_FIRST: &str = "open until the first closing";

/// What is taken for granted where Git can't say since when something can have closed.
pub const ASSUMED: &str = "it is assumed that the CronJobs are older than the last closing";

/// A Flux Kustomization of a cluster that waits for windows.
#[derive(Clone, Debug)]
pub struct Waiting<'a> {
    /// The cluster.
    pub cluster: &'a str,
    /// The Flux Kustomization.
    pub target: GateTarget,
    /// When it is open.
    pub schedule: &'a GateSchedule,
}

/// Since when a Flux Kustomization and what closes it are both in Git, where that may be after the last closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// As Git tells it; never [`Appeared::Before`].
    pub appeared: Appeared,
    /// The instant; `None` where Git can't say it.
    pub since: Option<Timestamp>,
    /// How many minutes lie between two looks at a table; 0 for a pair of CronJobs.
    tick: u32,
}

impl Begun {
    /// Returns the state at an instant at which nothing has closed yet; `None` where something has, or Git can't say it.
    pub fn times(&self, schedule: &GateSchedule, at: Timestamp) -> Option<GateTimes> {
        schedule.before_first_closing(at, self.since?, self.tick)
    }
}

/// Finds out of each Flux Kustomization whether anything can have closed it at an instant: a CronJob makes up for no time
/// before its creation, and closes only what is there. `None` where something has, or may close it at any time.
///
/// What counts is the latest of the files of the Flux Kustomization, of the CronJob that closes it, and of the lists that
/// bring that to the cluster. A held source is closed from the beginning.
pub fn begun(
    model: &Model,
    waiting: &[Waiting<'_>],
    at: Timestamp,
    history: &History<'_>,
) -> Vec<Option<Begun>> {
    let asked: Vec<Option<Asked>> = waiting.iter().map(|one| Asked::of(model, one, at)).collect();
    let Some(since) = asked.iter().flatten().map(|one| one.closed).min() else {
        return vec![None; waiting.len()];
    };
    let files = asked.iter().flatten().flat_map(|one| &one.files).cloned().collect();
    let known = history(&files, since);
    asked.into_iter().map(|one| one?.begun(&known, at)).collect()
}

/// What is asked of Git about one Flux Kustomization.
struct Asked {
    /// The last instant at which something would have closed it.
    closed: Timestamp,
    files: BTreeSet<RepoPath>,
    tick: u32,
}

impl Asked {
    fn of(model: &Model, waiting: &Waiting<'_>, at: Timestamp) -> Option<Asked> {
        let Waiting { cluster, target, schedule } = waiting;
        let job = model.closings.running(cluster, target).filter(|job| job.held.is_none())?;
        let closed = schedule.closed_since(at)?;
        let tick = job.tick();
        let looked = at.checked_sub(Span::new().minutes(i64::from(tick))).ok().filter(|_| tick > 0);
        let own = model.flux_named(cluster, &target.name);
        let own = own.filter(|one| one.namespace.is_empty() || one.namespace == target.namespace);
        let files = own.map(|one| &one.file).chain(model.closings.files(cluster, &job.name));
        Some(Asked { closed: closed.max(looked.unwrap_or(closed)), files: files.cloned().collect(), tick })
    }

    fn begun(self, known: &BTreeMap<RepoPath, Appeared>, at: Timestamp) -> Option<Begun> {
        let of = |file| known.get(file).copied().unwrap_or(Appeared::Unknown);
        let later = |one: Appeared, other: Appeared| match (one, other) {
            (Appeared::Nowhere, _) | (_, Appeared::Nowhere) => Appeared::Nowhere,
            (Appeared::Unknown, _) | (_, Appeared::Unknown) => Appeared::Unknown,
            (Appeared::At(one), Appeared::At(other)) => Appeared::At(one.max(other)),
            (Appeared::At(one), Appeared::Before) | (Appeared::Before, Appeared::At(one)) => {
                Appeared::At(one)
            }
            (Appeared::Before, Appeared::Before) => Appeared::Before,
        };
        let appeared = self.files.iter().map(of).reduce(later)?;
        let since = match appeared {
            Appeared::Before => return None,
            // Of a time before the commit it is asked what the windows say.
            Appeared::At(since) if since > at => return None,
            Appeared::At(since) => Some(since),
            Appeared::Nowhere => Some(at.checked_add(Span::new().seconds(1)).unwrap_or(at)),
            Appeared::Unknown => None,
        };
        Some(Begun { appeared, since, tick: self.tick })
    }
}
