//! How far a commit has come on its way into a cluster.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::delivery::Hold;
use crate::pr::arrival::after;
use crate::pr::landing::{Landing, State};

/// When a Flux Kustomization has applied a commit.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// As it is told; its [`deadline`](Landing::deadline) is not known yet.
    pub(super) landing: Landing,
    /// At this instant it has applied it, where nothing fails: each step begins with the event of the one before. `None` where
    /// Git does not say it.
    pub(super) sure: Option<Timestamp>,
    /// The time from the merge until then, were all windows open and each step busy with another commit.
    pub(super) chain: Option<Duration>,
    /// The opening that decides; `None` where no window does.
    pub(super) opening: Option<Opening>,
}

/// The opening of a window that decides when a commit is applied.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    /// The end of the first one that may have the commit; `None` where it does not close again.
    pub(super) close: Option<Timestamp>,
    /// The end of the one that surely has it; `None` where none does, or it does not close again.
    pub(super) sure: Option<Timestamp>,
    /// As [`Course::chain`], of what waits for this window.
    pub(super) chain: Option<Duration>,
    /// Until when it lets something in, and the time from the merge until the commit is let in, as [`chain`](Opening::chain) says
    /// it; `None` where that is until the end.
    pub(super) entry: Option<(Timestamp, Duration)>,
    /// From this instant on until the end it is open for all that waits for it.
    pub(super) from: Option<Timestamp>,
    /// All that holds something back on the way.
    pub(super) holds: BTreeSet<Hold>,
}

impl Course {
    /// What does not get on, or nobody knows when.
    pub(super) fn stuck(landing: Landing) -> Course {
        Course { landing, sure: None, chain: None, opening: None }
    }

    /// What a folder holds that nobody in Git applies.
    pub(super) fn unapplied() -> Course {
        Course::stuck(Landing::unknown("no Flux Kustomization in Git applies the folder"))
    }

    /// Returns whether it does not get on, or nobody knows when.
    fn is_stuck(&self) -> bool {
        self.landing.earliest.is_none()
    }
}

/// When all has come to a Flux Kustomization that it needs to apply a commit.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    /// Not before this instant.
    pub(super) earliest: Timestamp,
    /// As [`Course::sure`].
    pub(super) sure: Option<Timestamp>,
    /// As [`Course::chain`].
    pub(super) chain: Option<Duration>,
    /// What waits for a window and comes last, with why that counts.
    pub(super) windowed: Option<(Course, Option<String>)>,
    /// What never comes, or nobody knows when.
    pub(super) stuck: Option<Landing>,
    /// What comes last, as the end of a sentence, where that is not the commit itself.
    pub(super) last: Option<String>,
    /// As [`Opening::holds`].
    pub(super) holds: BTreeSet<Hold>,
}

/// Something that has to happen before a Flux Kustomization applies a commit.
#[derive(Clone, Debug)]
pub(super) struct Before {
    /// When.
    pub(super) course: Course,
    /// How long it takes from then on; `None` where Git does not say it.
    pub(super) lag: Option<Duration>,
    /// Why it counts, as a clause; `None` where that is plain.
    pub(super) why: Option<String>,
    /// That it has happened, as a clause; `None` where that is plain.
    pub(super) done: Option<String>,
}

impl Before {
    /// The parent of a Flux Kustomization, which applies another spec of it: that is reconciled at once
    /// (kustomize-controller, `GenerationChangedPredicate`).
    pub(super) fn parent(course: Course) -> Before {
        Before { course, lag: Some(Duration::ZERO), why: None, done: None }
    }
}

impl Arrival {
    /// A commit that its source fetches at most so long after the merge.
    pub(super) fn fetched(merged: Timestamp, within: Duration) -> Arrival {
        Arrival {
            earliest: merged,
            sure: after(merged, within),
            chain: Some(within),
            windowed: None,
            stuck: None,
            last: None,
            holds: BTreeSet::new(),
        }
    }

    /// Waits for something else too.
    pub(super) fn wait(&mut self, before: Before) {
        let Before { course, lag, why, done } = before;
        if course.is_stuck() {
            let landing = &course.landing;
            let told = match landing.state {
                State::Unknown => "and Git does not say when that lands",
                State::Frozen => "which a freeze holds",
                _ => "which never lands",
            };
            let reason = why.map(|why| format!("{why}, {told}")).or_else(|| landing.reason.clone());
            let stuck = Landing { reason, ..landing.clone() };
            self.stuck = Some(match self.stuck.take() {
                Some(other) => other.and(stuck),
                None => stuck,
            });
            return;
        }
        let later = |at: Option<Timestamp>| at.zip(lag).and_then(|(at, lag)| after(at, lag));
        self.earliest = self.earliest.max(course.landing.earliest.unwrap_or(self.earliest));
        let sure = later(course.sure);
        if self.sure.is_some() && (sure.is_none() || sure > self.sure) {
            self.last = done;
        }
        self.sure = self.sure.zip(sure).map(|(own, other)| own.max(other));
        let chain = course.chain.zip(lag).map(|(chain, lag)| chain.saturating_add(lag));
        self.chain = self.chain.zip(chain).map(|(own, other)| own.max(other));
        self.holds.extend(course.opening.iter().flat_map(|opening| opening.holds.iter().cloned()));
        let known = self.windowed.as_ref().map(|(other, _)| other.landing.earliest);
        if course.landing.state.is_windowed() && known.is_none_or(|known| known < course.landing.earliest) {
            self.windowed = Some((course, why));
        }
    }
}

/// Returns the last instant of a merge that surely is in the opening which decides; `again` tells how far another merge comes.
///
/// What comes to an open window takes as long as the chain is. Before the opening it may take less.
pub(super) fn last_merge(
    merged: Timestamp,
    course: &Course,
    again: &dyn Fn(Timestamp) -> Course,
) -> Option<Timestamp> {
    let opening = course.opening.as_ref()?;
    let close = opening.close?;
    let usual = close.checked_sub(opening.chain?).ok()?;
    let entry = opening.entry.and_then(|(until, chain)| until.checked_sub(chain).ok());
    let usual = entry.map_or(usual, |entry| entry.min(usual));
    if opening.sure != Some(close) {
        // It is too late.
        return Some(usual.min(merged));
    }
    if opening.holds.len() < 2 && opening.from.is_some_and(|from| usual >= from.max(merged)) {
        return Some(usual);
    }
    let is_in = |at: i64| {
        let at = Timestamp::from_second(at).ok().map(again);
        at.and_then(|course| course.opening).is_some_and(|opening| opening.sure == Some(close))
    };
    let (mut last, mut too_late) = (merged.as_second(), close.as_second());
    while too_late - last > 1 {
        let middle = last + (too_late - last) / 2;
        if is_in(middle) { last = middle } else { too_late = middle }
    }
    Timestamp::from_second(last).ok()
}
