//! When the gates that stand in Git open and close: their CronJobs act, and not the spec.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Span, Timestamp};

use crate::delivery::fleet::{GateSchedule, Schedules};
use crate::delivery::{BuiltJob, Closings, Holds, Model};
use crate::diagnostic::Diagnostic;
use crate::mechanism::{Action, GateTarget};
use crate::schedule::{self, CronExpr, Interval, Window, WindowForm};
use crate::spec::Spec;

/// How many hours before and after an instant two schedules without a table are compared: windows that are some months apart
/// are seen, and a year of the clocks.
const COMPARED: (i64, i64) = (24 * 35, 24 * 400);

/// How many hours after it tables are compared at most: five years, as far as anybody looks ahead.
const MOST_COMPARED: i64 = 24 * 366 * 5;

impl Schedules {
    /// As [`new`](Schedules::new), of the gates as Git has them at an instant: a freeze, an override or a window of the spec
    /// that no gate knows of changes nothing before `sync` has written it. What no job in Git closes is as the spec says.
    ///
    /// # Errors
    ///
    /// As [`new`](Schedules::new).
    pub fn in_git(spec: &Spec, model: &Model, at: Timestamp) -> Result<Schedules, Vec<Diagnostic>> {
        let mut found = Schedules::new(spec)?;
        found.follow(&Holds::new(model, Some(spec)), model, at);
        Ok(found)
    }

    fn follow(&mut self, holds: &Holds<'_>, model: &Model, at: Timestamp) {
        let closings = &model.closings;
        let mut known: Vec<(usize, GateSchedule, Option<usize>)> = Vec::new();
        for cluster in closings.clusters() {
            let own = model.delivered.named(cluster).into_iter().flat_map(|own| &own.kustomizations);
            let reached: BTreeSet<GateTarget> =
                own.map(|one| holds.target(one.namespace(), one.name())).collect();
            for (change_type, mut targets) in holds.gated(cluster) {
                let Some(name) = change_type else {
                    for job in targets.into_values() {
                        let Some(own) = closings.schedule(cluster, &job.name) else { continue };
                        let position = self.add(own);
                        self.by_job.insert((cluster.to_owned(), job.name.clone()), position);
                    }
                    continue;
                };
                let Some(wanted) = self.of(cluster, &name) else { continue };
                // What Git does not bring to the cluster tells nothing of what it does.
                if targets.keys().any(|target| reached.contains(target)) {
                    targets.retain(|target, _| reached.contains(target));
                }
                let mut positions: BTreeMap<GateTarget, Option<usize>> = BTreeMap::new();
                for target in targets.into_keys() {
                    let job = closings.running(cluster, &target);
                    let Some(own) = job.and_then(|job| closings.schedule(cluster, &job.name)) else {
                        continue;
                    };
                    let is_it = |(of, other, _): &&(usize, GateSchedule, Option<usize>)| {
                        *of == wanted && own.is_same(other)
                    };
                    let differing = match known.iter().find(is_it) {
                        Some((.., differing)) => *differing,
                        None => {
                            let differing = self.distinct()[wanted].unlike(&own, at).map(|own| self.add(own));
                            known.push((wanted, own, differing));
                            differing
                        }
                    };
                    self.otherwise.extend(differing);
                    positions.insert(target, differing);
                }
                // What the gate of the spec closes tells of the type, where another one closes some of it too.
                let usual = match positions.values().collect::<BTreeSet<_>>() {
                    several if several.contains(&None) => None,
                    several => several.into_iter().copied().next().flatten(),
                };
                if let Some(position) = usual {
                    self.by_cluster.insert((cluster.to_owned(), name), position);
                }
                let others = positions.into_iter().filter(|(_, position)| *position != usual);
                let others = others.map(|(target, position)| (target, position.unwrap_or(wanted)));
                self.by_target
                    .extend(others.map(|(target, position)| ((cluster.to_owned(), target), position)));
            }
        }
    }

    fn add(&mut self, own: GateSchedule) -> usize {
        self.distinct.push(own);
        self.distinct.len() - 1
    }

    /// Returns the position of the schedule of a Flux Kustomization that waits for a type's windows: that of the job which
    /// closes it, where several close what has the type.
    pub fn held(&self, cluster: &str, target: Option<&GateTarget>, type_name: &str) -> Option<usize> {
        let own = target.filter(|_| !self.by_target.is_empty());
        let own = own.and_then(|target| self.by_target.get(&(cluster.to_owned(), target.clone())));
        own.copied().or_else(|| self.of(cluster, type_name))
    }

    /// Returns the position of the schedule of a job of which no spec says a window; `None` where that is not known.
    pub fn of_job(&self, cluster: &str, job: &str) -> Option<usize> {
        self.by_job.get(&(cluster.to_owned(), job.to_owned())).copied()
    }

    /// Tells whether the gate in Git opens and closes otherwise than the spec says.
    pub fn is_otherwise(&self, position: usize) -> bool {
        self.otherwise.contains(&position)
    }
}

impl GateSchedule {
    /// Returns what another schedule does in place of this one, with the reasons of this one as far as it keeps to them;
    /// `None` where both do the same from about an instant on.
    fn unlike(&self, other: &GateSchedule, at: Timestamp) -> Option<GateSchedule> {
        let later = |hours: i64| at.checked_add(Span::new().hours(hours)).unwrap_or(at);
        let (from, until) = (later(-COMPARED.0), later(COMPARED.1));
        let ends = [self, other].into_iter().filter_map(|one| Some(one.bounds()?.close));
        // A provider's times have no end.
        let ends = ends.filter(|end| *end < Timestamp::MAX);
        let until = ends.fold(until, Timestamp::max).min(later(MOST_COMPARED));
        let times = |one: &GateSchedule| -> Vec<Interval> {
            one.intervals(from, until).filter_map(|interval| interval.clip(from, until)).collect()
        };
        let acting = times(other);
        if times(self) == acting {
            return None;
        }
        let candidates = [self.keeping(other), self.as_pair()].into_iter().flatten();
        let told = candidates.into_iter().find(|one| times(one) == acting);
        Some(told.unwrap_or_else(|| other.clone().in_zones_of(self)))
    }
}

impl Closings {
    /// Returns when a job that closes, by its name, and the one that opens again do so; `None` where that is not known.
    pub fn schedule(&self, cluster: &str, close: &str) -> Option<GateSchedule> {
        let (_, close) = self.pair(cluster, close)?;
        if let Some(table) = &close.table {
            return Some(GateSchedule::of_table(table.clone()));
        }
        let own = |action: Action| {
            let jobs = self.of(cluster).iter().filter(|job| job.is_running && job.table.is_none());
            jobs.filter(move |job| job.action == action && job.targets == close.targets)
        };
        let (opens, closes): (Vec<_>, Vec<_>) = (own(Action::Open).collect(), own(Action::Close).collect());
        // A gate may have several windows, each with its own pair of jobs, or close once more than it opens: they turn one
        // switch.
        let pair = |at: usize| match (opens.get(at), closes.get(at)) {
            (Some(open), Some(close)) if opens.len() == closes.len() => window_of(open, close),
            (Some(open), _) if opens.len() > closes.len() => window_of(open, partner(&closes, at, open)?),
            (_, Some(close)) => window_of(partner(&opens, at, close)?, close),
            _ => None,
        };
        let windows: Vec<Window> = (0..opens.len().max(closes.len())).map(pair).collect::<Option<_>>()?;
        GateSchedule::of_windows(windows, 0).ok()
    }
}

/// Returns the job at a position or the last one, or else the first, that has the zone of another one.
fn partner<'j>(jobs: &[&'j BuiltJob], at: usize, of: &BuiltJob) -> Option<&'j BuiltJob> {
    let near = jobs.get(at).or(jobs.last()).copied();
    near.into_iter().chain(jobs.iter().copied()).find(|job| job.time_zone == of.time_zone)
}

/// Returns the window that two CronJobs make; `None` where they are of two zones, or not understood.
pub fn window_of(open: &BuiltJob, close: &BuiltJob) -> Option<Window> {
    if open.time_zone != close.time_zone {
        return None;
    }
    let zone = close.time_zone.as_deref().map(schedule::zone::parse).transpose().ok()?;
    let expression = |job: &BuiltJob| CronExpr::parse(&job.schedule).ok();
    Some(Window { zone, form: WindowForm::OpenClose { open: expression(open)?, close: expression(close)? } })
}
