//! Changes of gates that stand in Git and have not reached their clusters yet.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use crate::delivery::begun::States;
use crate::delivery::fleet::wait::Waits;
use crate::delivery::fleet::{GateSchedule, Schedules};
use crate::delivery::{BuiltJob, History, Holds, Model, STEP};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::repo::Appeared;
use crate::schedule::{Interval, OpenTimes};
use crate::spec::Spec;

/// A Flux Kustomization that a gate with a table holds back.
struct Gated<'m> {
    cluster: &'m str,
    target: GateTarget,
    change_type: Option<String>,
    /// The job that does it, by its name.
    job: &'m str,
    table: &'m OpenTimes,
    /// How long after its merge a commit decides when it is open, at the latest.
    within: Duration,
}

/// A table that counts until another one has arrived.
struct Former {
    table: OpenTimes,
    /// From the commit on until it has arrived at the latest.
    arrives: Interval,
}

impl Schedules {
    /// Lets the tables that gates had count too until the clusters have those which Git has at an instant: a commit takes its
    /// time to what applies the CronJobs, and these look at the table at their next run. Nobody knows when exactly.
    #[must_use]
    pub fn until_applied(
        mut self,
        spec: Option<&Spec>,
        model: &Model,
        at: Timestamp,
        history: &dyn History,
    ) -> Schedules {
        let gated = gated(spec, model);
        let Some(longest) = gated.iter().map(|one| one.within).max() else { return self };
        let Ok(since) = at.checked_sub(longest) else { return self };
        // Mostly no commit has touched a gate, and none has to be read.
        let states = history.states_of(&files(&gated, model), since);
        let Some(states) = states.filter(|states| states.len() > 1) else { return self };
        let past = States { states, history };
        let mut known: Vec<(usize, Former, usize)> = Vec::new();
        let mut touched: BTreeSet<(&str, &str)> = BTreeSet::new();
        for one in &gated {
            let Some(former) = one.former(&past, at) else { continue };
            let of_type = one.change_type.as_deref();
            let own = self.held(one.cluster, Some(&one.target), of_type);
            let own = own.unwrap_or_else(|| self.add(GateSchedule::of_table(one.table.clone())));
            let is_it = |(of, other, _): &&(usize, Former, usize)| {
                *of == own && other.arrives == former.arrives && other.table == former.table
            };
            let position = match known.iter().find(is_it) {
                Some((.., position)) => *position,
                None => {
                    let spec = of_type.and_then(|name| self.of(one.cluster, name));
                    let Some(schedule) = self.changing(own, spec, &former, at) else { continue };
                    let position = self.add(schedule);
                    if self.is_otherwise(own) {
                        self.otherwise.insert(position);
                    }
                    known.push((own, former, position));
                    position
                }
            };
            self.by_target.insert((one.cluster.to_owned(), one.target.clone()), position);
            touched.extend(of_type.map(|name| (one.cluster, name)));
        }
        // What all of a type does is what the type does.
        for (cluster, name) in touched {
            let own = gated.iter().filter(|one| one.cluster == cluster);
            let own = own.filter(|one| one.change_type.as_deref() == Some(name));
            let positions: BTreeSet<Option<usize>> =
                own.map(|one| self.held(cluster, Some(&one.target), Some(name))).collect();
            if let [Some(position)] = positions.into_iter().collect::<Vec<_>>()[..] {
                self.by_cluster.insert((cluster.to_owned(), name.to_owned()), position);
            }
        }
        self
    }

    /// Takes over what another one knows of changes that have not arrived, where these Flux Kustomizations still have the same
    /// jobs.
    pub fn arriving_as(&mut self, older: &Schedules, is_same: impl Fn(&str, &GateTarget) -> bool) {
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        for ((cluster, target), position) in &older.by_target {
            let schedule = &older.distinct[*position];
            if schedule.changes().is_none() || !is_same(cluster, target) {
                continue;
            }
            let own = *known.entry(*position).or_insert_with(|| self.add(schedule.clone()));
            if older.is_otherwise(*position) {
                self.otherwise.insert(own);
            }
            self.by_target.insert((cluster.clone(), target.clone()), own);
        }
    }

    /// Returns a schedule that follows on another one; `None` where both do the same until then.
    fn changing(
        &self,
        own: usize,
        spec: Option<usize>,
        former: &Former,
        at: Timestamp,
    ) -> Option<GateSchedule> {
        let (own, older) = (&self.distinct()[own], GateSchedule::of_table(former.table.clone()));
        let times = |one: &GateSchedule| -> Vec<Interval> {
            let all = one.intervals(at, former.arrives.close);
            all.filter_map(|interval| interval.clip(at, former.arrives.close)).collect()
        };
        if times(own) == times(&older) {
            return None;
        }
        // The spec has the reasons, as far as the table had it.
        let told = spec.map(|spec| &self.distinct()[spec]);
        let told = told.map_or_else(|| older.clone(), |spec| spec.unlike(&older, at).unwrap_or(spec.clone()));
        own.after(&told, former.arrives).or_else(|| own.after(&older, former.arrives))
    }
}

/// Returns how long after its merge a commit decides at the latest when the gates of each cluster open that have tables.
pub fn gates_within(spec: &Spec, model: &Model) -> BTreeMap<String, Duration> {
    let mut found: BTreeMap<String, Duration> = BTreeMap::new();
    for one in gated(Some(spec), model) {
        let known = found.entry(one.cluster.to_owned()).or_default();
        *known = one.within.max(*known);
    }
    found
}

/// Returns all that gates with tables hold back.
fn gated<'m>(spec: Option<&'m Spec>, model: &'m Model) -> Vec<Gated<'m>> {
    let waits = Waits::new(Holds::new(model, spec));
    let mut found = Vec::new();
    for cluster in model.closings.clusters() {
        let mut known: BTreeMap<&str, Option<Duration>> = BTreeMap::new();
        for (change_type, targets) in waits.holds.gated(cluster) {
            for (target, job) in targets {
                let Some(table) = &job.table else { continue };
                let within = *known.entry(&job.name).or_insert_with(|| within(model, &waits, cluster, job));
                let Some(within) = within else { continue };
                let (change_type, job) = (change_type.clone(), job.name.as_str());
                found.push(Gated { cluster, target, change_type, job, table, within });
            }
        }
    }
    found
}

/// Returns the files that bring the jobs to their clusters, with those of the Flux Kustomizations that apply these.
fn files(gated: &[Gated<'_>], model: &Model) -> BTreeSet<RepoPath> {
    let jobs: BTreeSet<(&str, &str)> = gated.iter().map(|one| (one.cluster, one.job)).collect();
    let of = |(cluster, job)| {
        let applied_by = model.bringing(cluster, job).into_iter().map(|flux| &flux.file);
        model.closings.files(cluster, job).chain(applied_by)
    };
    jobs.into_iter().flat_map(of).cloned().collect()
}

/// Returns how long after a merge a job of a cluster acts by it, at the latest; `None` where Git does not say it, or what
/// brings the job is held back itself.
fn within<'m>(model: &'m Model, waits: &Waits<'m>, cluster: &str, job: &BuiltJob) -> Option<Duration> {
    let own = model.delivered.named(cluster)?;
    let all = model.bringing(cluster, &job.name).into_iter();
    let paces = all.map(|flux| {
        let one = own.reached(&flux.remote, (&flux.namespace, &flux.name))?;
        waits.pace(own, one)
    });
    let pace = paces.reduce(|one, other| Some(one?.max(other?)))??;
    Some(pace + Duration::from_secs(u64::from(job.tick()) * 60) + STEP)
}

impl Gated<'_> {
    /// Returns the table at which something looks that holds it back in a state.
    fn table_in<'s>(&self, model: &'s Model) -> Option<&'s OpenTimes> {
        model.closings.running(self.cluster, &self.target)?.table.as_ref()
    }

    /// Finds the table that counts at an instant in place of that of the present state.
    fn former(&self, past: &States<'_>, at: Timestamp) -> Option<Former> {
        let mut last = past.states.len() - 1;
        let model = |position: usize| past.history.model(past.states[position].commit.as_deref()?);
        let is_same = |position: usize| {
            position + 1 == past.states.len()
                || model(position).is_some_and(|model| self.table_in(&model) == Some(self.table))
        };
        let table_at = |position: usize| self.table_in(&*model(position)?).cloned();
        if past.states[last].since == Appeared::Nowhere {
            // Of what no commit has it is asked what the windows say.
            last = last.checked_sub(1).filter(|last| is_same(*last))?;
        }
        let first = (0..=last).rev().take_while(|position| is_same(*position)).last()?;
        let arrived = |position: usize| match past.states[position].since {
            Appeared::At(since) => since.checked_add(self.within).ok(),
            _ => Some(Timestamp::MIN),
        };
        let Appeared::At(since) = past.states[first].since else { return None };
        let until = arrived(first).filter(|until| since <= at && at < *until)?;
        let before = (0..first).rfind(|position| arrived(*position).is_some_and(|arrived| arrived <= at));
        let before = before.unwrap_or(0);
        // Of several on the way, nobody knows which has arrived: what may be open counts.
        let mut known = (before..first).rev().filter_map(table_at);
        let table = known.find(|table| table.is_open(at)).or_else(|| table_at(before))?;
        Some(Former { table, arrives: Interval { open: since, close: until } })
    }
}
