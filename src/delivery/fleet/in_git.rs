//! When the gates that stand in Git open and close: their CronJobs act, and not the spec.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::delivery::fleet::{GateSchedule, Schedules};
use crate::delivery::{BuiltJob, Closings, Holds, Model};
use crate::diagnostic::Diagnostic;
use crate::mechanism::{Action, GateTarget};
use crate::schedule::{self, CronExpr, Interval, Recurrence, Window, WindowEdges, WindowForm};
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
                    for target in targets.into_keys() {
                        let Some(own) = closings.schedule(cluster, &target) else { continue };
                        let position = self.add(own);
                        self.by_target.insert((cluster.to_owned(), target), position);
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
                    let Some(own) = closings.schedule(cluster, &target) else { continue };
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

    pub(super) fn add(&mut self, own: GateSchedule) -> usize {
        self.distinct.push(own);
        self.distinct.len() - 1
    }

    /// Returns the position of the schedule of a Flux Kustomization that waits for a type's windows, or for jobs of which no
    /// spec says a type: that of what closes it; `None` where that is not known.
    pub fn held(&self, cluster: &str, target: Option<&GateTarget>, type_name: Option<&str>) -> Option<usize> {
        let own = target.filter(|_| !self.by_target.is_empty());
        let own = own.and_then(|target| self.by_target.get(&(cluster.to_owned(), target.clone())));
        own.copied().or_else(|| self.of(cluster, type_name?))
    }

    /// Returns whether the gate in Git opens and closes otherwise than the spec says.
    pub fn is_otherwise(&self, position: usize) -> bool {
        self.otherwise.contains(&position)
    }
}

impl GateSchedule {
    /// Returns what another schedule does in place of this one, with the reasons of this one as far as it keeps to them;
    /// `None` where both do the same from about an instant on.
    pub(super) fn unlike(&self, other: &GateSchedule, at: Timestamp) -> Option<GateSchedule> {
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
            let is_same = self.settle() == other.settle();
            return (!is_same).then(|| self.clone().settling_as(other).marked());
        }
        let candidates = [self.keeping(other), self.as_pair()].into_iter().flatten();
        let told = candidates.into_iter().find(|one| times(one) == acting);
        Some(told.map_or_else(|| other.clone().in_zones_of(self), |told| told.settling_as(other)))
    }
}

impl Closings {
    /// Returns when a Flux Kustomization is open, by all jobs that run and turn it: each turns the same switch, whichever others
    /// it names. `None` where nothing closes it, or a time is not understood.
    pub fn schedule(&self, cluster: &str, target: &GateTarget) -> Option<GateSchedule> {
        let close = self.running(cluster, target)?;
        if let Some(table) = &close.table {
            return Some(GateSchedule::of_table(table.clone()));
        }
        let jobs = self.of(cluster).iter().filter(|job| job.is_running && job.table.is_none());
        let mut opens = Vec::new();
        let mut closes = Vec::new();
        for job in jobs.filter(|job| job.turns(target) && !job.resumed.contains(target)) {
            let of_action = if job.action == Action::Open { &mut opens } else { &mut closes };
            of_action.push(times_of(job)?);
        }
        // As they stand in the folder of a gate; an opening or a closing that is left over turns the switch all the same.
        let mut edges: Vec<(WindowEdges, TimeZone)> = Vec::new();
        for (close, zone) in closes {
            let at = opens.iter().position(|(_, own)| *own == zone);
            let open = at.map_or(Recurrence::Never, |at| opens.remove(at).0);
            edges.push((WindowEdges { open, close }, zone));
        }
        let left =
            opens.into_iter().map(|(open, zone)| (WindowEdges { open, close: Recurrence::Never }, zone));
        Some(GateSchedule::of_edges(edges.into_iter().chain(left)))
    }
}

/// Returns the window that two CronJobs make; `None` where they are of two zones, or not understood.
pub fn window_of(open: &BuiltJob, close: &BuiltJob) -> Option<Window> {
    if open.time_zone != close.time_zone {
        return None;
    }
    let ((open, _), (close, zone)) = (schedule_of(open)?, schedule_of(close)?);
    Some(Window { zone, form: WindowForm::OpenClose { open, close } })
}

/// Returns when a CronJob runs, and in which zone; `None` where that is not understood, or it has no times.
fn times_of(job: &BuiltJob) -> Option<(Recurrence, TimeZone)> {
    let (expression, zone) = schedule_of(job)?;
    let times = Recurrence::Cron(expression);
    times.has_times().then(|| (times, zone.unwrap_or(TimeZone::UTC)))
}

/// Returns the schedule of a CronJob, with the zone that it names; `None` where either is not understood.
fn schedule_of(job: &BuiltJob) -> Option<(CronExpr, Option<TimeZone>)> {
    let zone = job.time_zone.as_deref().map(schedule::zone::parse).transpose().ok()?;
    Some((CronExpr::parse(&job.schedule).ok()?, zone))
}
