//! Since when something can have closed what waits for windows.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use jiff::{Span, Timestamp};

use crate::delivery::fleet::{GateSchedule, GateTimes};
use crate::delivery::moved::Moved;
use crate::delivery::uncome::never_let_in;
use crate::delivery::{BuiltJob, Model};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::repo::{Appeared, FluxKustomization};
use crate::spec::MechanismName;

/// What a branch held at earlier instants, as far as that decides what gates hold.
pub trait History {
    /// Returns the states since an instant: first that of the instant itself, last the present one. `None` where Git can't
    /// say.
    fn states(&self, since: Timestamp) -> Option<Vec<State>>;

    /// As [`states`](History::states), of what files say: only what brings these differs.
    fn states_of(&self, files: &BTreeSet<RepoPath>, since: Timestamp) -> Option<Vec<State>>;

    /// Returns what a commit means; `None` where it can't be read.
    fn model(&self, commit: &str) -> Option<Rc<Model>>;

    /// Tells since when files stand in Git, looking back to an instant.
    fn appeared(&self, files: &BTreeSet<RepoPath>, since: Timestamp) -> BTreeMap<RepoPath, Appeared>;
}

/// A state of a branch that differs from the one before in what gates may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Since when it is there; [`Appeared::Before`] for the first one.
    pub since: Appeared,
    /// A commit of it; `None` where there is none.
    pub commit: Option<String>,
}

/// Why something is open that no window opens.
pub const UNCLOSED: &str = "no closing has come since the gate or its Flux Kustomization was added";

/// Why something is open that reads a held source in Git.
pub const BROUGHT: &str = "a gated Flux Kustomization brings its held source only at its opening";

/// What is open before its first closing, as people say it.
pub const UNTIL_FIRST: &str = "open until the first closing";

/// Why something is open of which the gate has not come.
pub const UNCOME: &str = "the Flux Kustomization of its gate has never built, or never been let apply anything. The cluster has no CronJobs of it";

/// What is taken for granted where Git can't say since when something can have closed.
pub const ASSUMED: &str = "it is assumed that the CronJobs are older than the last closing";

/// What is taken for granted where Git suspends what applies a gate. kustomize-controller then applies nothing and deletes
/// nothing, and a CronJob that is there runs on by the schedule that it has.
pub const KEPT_OUT: &str = "Git suspends the Flux Kustomization of its gate. It is assumed that the cluster has the CronJobs, which run on";

/// What is taken for granted where what applies a gate does not build, which ends the same way.
pub const UNBUILT: &str = "the Flux Kustomization of its gate does not build. It is assumed that the cluster has the CronJobs, which run on";

/// What is taken for granted where a lockdown lets Flux apply nothing of a gate, which ends the same way.
pub const UNPRIVILEGED: &str = "Flux may apply nothing of its gate: no role is bound to its ServiceAccount. It is assumed that the cluster has the CronJobs";

/// What is taken for granted where what applies a gate depends on what is not in Git: that may be there all the same.
pub const UNSAID: &str = "the Flux Kustomization of its gate depends on another, which is not in Git. It is assumed that the cluster has the CronJobs";

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

/// What nothing has closed yet, or may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Since when a gate holds it, as Git tells it; never [`Appeared::Before`].
    pub appeared: Appeared,
    /// When something closes it for the first time.
    first: First,
    /// How many minutes lie between two looks at a table; 0 for a pair of CronJobs.
    tick: u32,
    /// What is taken for granted of the gate, where the cluster may not have it.
    assumption: Option<&'static str>,
}

/// When something closes for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// Git can't say it.
    Unknown,
    /// At the first closing after an instant.
    After(Timestamp),
    /// As soon as it is closed once what brings its held source has opened; `None` where that never opens.
    Brought(Option<Timestamp>),
    /// Never, as Git goes: what applies the gate never could.
    Never,
}

impl Begun {
    fn new(appeared: Appeared, at: Timestamp, tick: u32) -> Begun {
        let from = at.checked_add(Span::new().seconds(1)).unwrap_or(at);
        let first = if appeared == Appeared::Unknown { First::Unknown } else { First::After(from) };
        Begun { appeared, first, tick, assumption: None }
    }

    /// Returns what is said of something that reads its held source only from the opening of what applies it on.
    pub(super) fn brought(appeared: Appeared, opening: Option<Timestamp>) -> Begun {
        Begun { appeared, first: First::Brought(opening), tick: 0, assumption: None }
    }

    /// Returns whether nothing has ever brought its gate to the cluster.
    pub fn is_uncome(&self) -> bool {
        self.first == First::Never
    }

    /// Returns whether it waits only from the opening of what applies it on.
    pub fn is_brought(&self) -> bool {
        matches!(self.first, First::Brought(_))
    }

    /// Says why it is open that no window opens.
    pub fn why(&self) -> &'static str {
        match self.first {
            First::Brought(_) => BROUGHT,
            First::Never => UNCOME,
            First::Unknown | First::After(_) => UNCLOSED,
        }
    }

    /// Returns what is said of something that only comes at an instant, or its gate.
    pub fn coming(job: &BuiltJob, at: Timestamp) -> Begun {
        Begun::new(Appeared::Nowhere, at, job.tick())
    }

    /// Returns the same of another job in place of the one that would have closed it.
    #[must_use]
    pub fn by(self, job: &BuiltJob) -> Begun {
        Begun { tick: job.tick(), ..self }
    }

    /// Says why it is only taken for closed, where Git can't say whether anything has closed it.
    pub fn assumed(&self) -> Option<&'static str> {
        (self.first == First::Unknown).then_some(self.assumption.unwrap_or(ASSUMED))
    }

    /// Returns the state at an instant at which nothing has closed yet; `None` where something has, or Git can't say it.
    pub fn times(&self, schedule: &GateSchedule, at: Timestamp) -> Option<GateTimes> {
        match self.first {
            First::Unknown => None,
            First::After(from) => schedule.before_first_closing(at, from, self.tick),
            First::Brought(opening) => schedule.before_brought(at, opening),
            First::Never => schedule.before_brought(at, None),
        }
    }
}

/// Finds out of each Flux Kustomization whether anything has closed it at an instant: a CronJob makes up for no time
/// before its creation, and closes only what it names and what is there. `None` where something has, or may close it at any
/// time.
///
/// The commits that were there at the closings are asked what their gates held. Of a cluster that they do not have, the files
/// are asked since when they are there: those of the Flux Kustomization, of the CronJob that closes it, and of the lists that
/// bring that to the cluster. A held source is closed from the beginning, but for one that is read only once something that
/// waits itself has opened.
pub fn begun(
    model: &Model,
    waiting: &[Waiting<'_>],
    at: Timestamp,
    history: &dyn History,
) -> Vec<Option<Begun>> {
    let asked: Vec<Option<Asked<'_>>> = waiting.iter().map(|one| Asked::of(model, one, at)).collect();
    let brought: Vec<Option<Moved<'_>>> =
        waiting.iter().map(|one| Moved::of(model, one, waiting, at)).collect();
    let closings = asked.iter().flatten().flat_map(|one| &one.closings);
    let Some(since) = closings.chain(brought.iter().flatten().map(|one| &one.since)).min() else {
        return vec![None; waiting.len()];
    };
    let past = history.states(*since).map(|states| States { states, history });
    let begun = |one: Asked<'_>| match &past {
        _ if one.is_kept_out => one.never_came(history, at).or(Some(one.unknown(at))),
        Some(past) => one.begun(past, at).or_else(|| one.assumption.map(|_| one.unknown(at))),
        None => Some(one.unknown(at)),
    };
    let moved = |one: Moved<'_>| past.as_ref().and_then(|past| one.begun(past));
    let all = asked.into_iter().zip(brought);
    all.map(|(asked, brought)| asked.and_then(begun).or_else(|| brought.and_then(moved))).collect()
}

/// Returns whether what moves the held source of a Flux Kustomization has never come to its cluster, as far as Git goes, and
/// nothing new of it comes.
pub fn has_never_come(model: &Model, cluster: &str, target: &GateTarget, history: &dyn History) -> bool {
    let job = |model: &Model| {
        let job = model.closings.running(cluster, target).filter(|job| job.held.is_some());
        job.map(|job| (job.name.clone(), job.is_kept_out()))
    };
    let Some((name, true)) = job(model) else { return false };
    let files: BTreeSet<RepoPath> = model.closings.files(cluster, &name).cloned().collect();
    let is_let_in = |model: &Model| job(model).is_some_and(|(_, is_kept_out)| !is_kept_out);
    never_let_in(history, &files, &is_let_in).is_some()
}

/// Finds out of each Flux Kustomization that is closed whether its held source is not there yet: a provider that Flux Operator
/// has reconciled in no window exports nothing, so no GitRepository is made of it. Where Git can't say since when the provider
/// is there, it counts as older.
pub fn unread(model: &Model, waiting: &[Waiting<'_>], at: Timestamp, history: &dyn History) -> Vec<bool> {
    let is_unread = |Waiting { cluster, target, schedule }: &Waiting<'_>| {
        let job = model.closings.running(cluster, target)?;
        if job.mechanism != MechanismName::FluxOperator || job.held.is_none() {
            return None;
        }
        let since = schedule.closed_since(at)?;
        let files: BTreeSet<RepoPath> = model.closings.files(cluster, &job.name).cloned().collect();
        let known = history.appeared(&files, since);
        Some(known.values().any(|appeared| match appeared {
            // Of a time before the commit it is asked what the windows say.
            Appeared::At(there) => *there > since && *there <= at,
            Appeared::Nowhere => true,
            Appeared::Before | Appeared::Unknown => false,
        }))
    };
    waiting.iter().map(|one| is_unread(one).unwrap_or(false)).collect()
}

/// By cluster and type, the first closing of what nothing has closed yet.
pub type Unclosed = BTreeMap<(String, String), Timestamp>;

/// Collects the first closings of what waits for each type in each cluster: one counts only where nothing has closed anything
/// that waits for that type there.
pub fn unclosed(all: impl Iterator<Item = ((String, String), Option<Timestamp>)>) -> Unclosed {
    let mut found: BTreeMap<(String, String), Option<Timestamp>> = BTreeMap::new();
    for (key, first) in all {
        let known = found.entry(key).or_insert(first);
        *known = known.zip(first).map(|(one, other)| one.max(other));
    }
    found.into_iter().filter_map(|(key, first)| Some((key, first?))).collect()
}

/// The states of a branch, with what they mean.
pub(super) struct States<'a> {
    pub(super) states: Vec<State>,
    pub(super) history: &'a dyn History,
}

impl States<'_> {
    /// Returns the position of the state that is there at an instant.
    pub(super) fn at(&self, at: Timestamp) -> usize {
        let is_there = |state: &State| matches!(state.since, Appeared::At(since) if since <= at);
        self.states.iter().rposition(is_there).unwrap_or(0)
    }

    /// Returns whether CronJobs of the state before one had a Flux Kustomization closed as that one came; `None` where that is
    /// not known, or none did.
    pub(super) fn was_closed(&self, position: usize, cluster: &str, target: &GateTarget) -> Option<bool> {
        let Appeared::At(came) = self.states[position].since else { return None };
        let before = self.states[position.checked_sub(1)?].commit.as_ref()?;
        let before = self.history.model(before)?;
        closer(&before, cluster, target)?;
        Some(!before.closings.schedule(cluster, target)?.times(came).open)
    }

    /// Says what a state holds of what the present one holds.
    fn holds(&self, position: usize, asked: &Asked<'_>) -> Holding {
        if position + 1 == self.states.len() {
            return Holding::Held { tick: asked.tick };
        }
        let Some(commit) = &self.states[position].commit else { return Holding::Elsewhere };
        self.history.model(commit).map_or(Holding::Unread, |model| asked.held_by(&model))
    }

    /// Says what the state that is there at an instant of a closing held by then: a job closes at its own runs alone, of
    /// which it makes up for none before it was there.
    fn closed(&self, closing: Timestamp, asked: &Asked<'_>) -> Holding {
        let mut position = self.at(closing);
        let holding = self.holds(position, asked);
        let Holding::Held { tick } = holding else { return holding };
        let schedule = asked.waiting.schedule;
        let run = schedule.last_closing(closing, tick).or_else(|| schedule.closed_since(closing));
        let is_there = |position: usize| match self.states[position].since {
            Appeared::At(since) => run.is_some_and(|run| since <= run),
            Appeared::Before => true,
            Appeared::Nowhere | Appeared::Unknown => false,
        };
        while !is_there(position) {
            match position.checked_sub(1).filter(|before| self.holds(*before, asked) == holding) {
                Some(before) => position = before,
                None => return Holding::Open,
            }
        }
        holding
    }
}

/// What a state of a branch holds of one Flux Kustomization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    /// A running CronJob closes it, which looks so often at a table; 0 for a pair of jobs.
    Held { tick: u32 },
    /// None does, or it is not there.
    Open,
    /// The cluster is not there, or has another name.
    Elsewhere,
    /// The state can't be read.
    Unread,
}

/// What is asked of Git about one Flux Kustomization.
struct Asked<'a> {
    waiting: &'a Waiting<'a>,
    /// The last instants at which something would have closed it: the last run, and the one since which it is closed.
    closings: BTreeSet<Timestamp>,
    files: BTreeSet<RepoPath>,
    tick: u32,
    is_in_git: bool,
    is_kept_out: bool,
    assumption: Option<&'static str>,
}

impl<'a> Asked<'a> {
    fn of(model: &Model, waiting: &'a Waiting<'a>, at: Timestamp) -> Option<Asked<'a>> {
        let Waiting { cluster, target, schedule } = waiting;
        let job = closer(model, cluster, target)?;
        let closed = schedule.closed_since(at)?;
        let tick = job.tick();
        let own = named(model, cluster, target);
        let files = own.map(|one| &one.file).into_iter().chain(model.closings.files(cluster, &job.name));
        Some(Asked {
            waiting,
            closings: schedule.last_closing(at, tick).into_iter().chain([closed]).collect(),
            files: files.cloned().collect(),
            tick,
            is_in_git: own.is_some(),
            is_kept_out: job.is_kept_out(),
            assumption: job.assumption(),
        })
    }

    fn held_by(&self, model: &Model) -> Holding {
        let Waiting { cluster, target, .. } = self.waiting;
        if model.entries_of(cluster).next().is_none() && model.closings.of(cluster).is_empty() {
            return Holding::Elsewhere;
        }
        let is_there = !self.is_in_git || named(model, cluster, target).is_some();
        let job = closer(model, cluster, target).filter(|_| is_there);
        job.map_or(Holding::Open, |job| Holding::Held { tick: job.tick() })
    }

    /// Returns it where the gate never came; `None` where it did, or that is not known.
    fn never_came(&self, history: &dyn History, at: Timestamp) -> Option<Begun> {
        let Waiting { cluster, target, .. } = self.waiting;
        let is_let_in = |model: &Model| closer(model, cluster, target).is_some_and(|job| !job.is_kept_out());
        let appeared = never_let_in(history, &self.files, &is_let_in)?;
        Some(Begun { first: First::Never, ..Begun::new(appeared, at, self.tick) })
    }

    /// Returns what is said where Git does not tell whether something has closed it.
    fn unknown(&self, at: Timestamp) -> Begun {
        Begun { assumption: self.assumption, ..Begun::new(Appeared::Unknown, at, self.tick) }
    }

    fn begun(&self, past: &States<'_>, at: Timestamp) -> Option<Begun> {
        let held: Vec<Holding> = self.closings.iter().map(|closing| past.closed(*closing, self)).collect();
        let has = |what: Holding| held.contains(&what);
        let is_held = |one: &Holding| matches!(one, Holding::Held { .. });
        let appeared = if held.iter().any(is_held) {
            return None;
        } else if has(Holding::Unread) {
            Appeared::Unknown
        } else if has(Holding::Elsewhere) {
            let elsewhere = self.closings.iter().zip(&held).filter(|(_, one)| **one == Holding::Elsewhere);
            let closed = elsewhere.map(|(closing, _)| closing).next_back()?;
            match self.appeared(past.history) {
                // Of a time before the commit it is asked what the windows say.
                Appeared::At(since) if since <= *closed => return None,
                appeared => appeared,
            }
        } else {
            let first = self.closings.last().map_or(0, |last| past.at(*last));
            let later: Vec<usize> = (first..past.states.len()).collect();
            let begins = later.partition_point(|one| !is_held(&past.holds(*one, self)));
            past.states[later[begins]].since
        };
        match appeared {
            Appeared::At(since) if since > at => None,
            Appeared::Before => None,
            appeared => Some(Begun::new(appeared, at, self.tick)),
        }
    }

    /// Tells since when all files are there.
    fn appeared(&self, history: &dyn History) -> Appeared {
        let since = self.closings.first().copied().unwrap_or(Timestamp::MIN);
        let known = history.appeared(&self.files, since);
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
        self.files.iter().map(of).reduce(later).unwrap_or(Appeared::Unknown)
    }
}

/// Returns the job that closes a Flux Kustomization of a cluster, and does not hold its source.
pub(super) fn closer<'m>(model: &'m Model, cluster: &str, target: &GateTarget) -> Option<&'m BuiltJob> {
    model.closings.running(cluster, target).filter(|job| job.held.is_none())
}

/// Returns a Flux Kustomization of a cluster.
fn named<'m>(model: &'m Model, cluster: &str, target: &GateTarget) -> Option<&'m FluxKustomization> {
    let mut own = model.flux_named(cluster, &target.name);
    own.find(|one| one.namespace.is_empty() || one.namespace == target.namespace)
}
