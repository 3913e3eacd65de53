//! Which pairs of CronJobs a spec needs, and when they run.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::mechanism::cron_job::{check_names, pair};
use crate::mechanism::table;
use crate::mechanism::{Action, Job, Jobs, Schedule};
use crate::schedule::{CronPair, Deadlines, Length, Timeline, deadlines};
use crate::spec::{Placed, Spec, TableDef, WindowDef};

/// One window of one gated type, by its place in the spec: the same in every cluster.
struct Slot {
    change_type: usize,
    /// Which of the type's windows, from 0.
    number: usize,
}

/// Returns two jobs for each window of each gated type, the one that opens first, with the windows.
fn slots(spec: &Spec) -> (Vec<Slot>, Vec<Job>) {
    let (mut slots, mut jobs) = (Vec::new(), Vec::new());
    for (order, change_type) in spec.gated_positions().enumerate() {
        let name = spec.types[change_type].name.value.as_str();
        // All windows of a type stand in one table.
        let has_table = spec.gate.table.is_some();
        let widest = spec
            .clusters
            .keys()
            .map(|cluster| spec.windows_of(cluster, name).len())
            .max()
            .filter(|_| !has_table);
        for number in
            0..widest.unwrap_or(if has_table { 1 } else { spec.types[change_type].windows.len() }).max(1)
        {
            let mut suffix = String::new();
            if order > 0 {
                suffix.push_str(&format!("-{name}"));
            }
            if number > 0 {
                suffix.push_str(&format!("-{}", number + 1));
            }
            slots.push(Slot { change_type, number });
            for (action, name) in
                [(Action::Open, &spec.layout.open_job), (Action::Close, &spec.layout.close_job)]
            {
                jobs.push(Job { name: format!("{name}{suffix}"), change_type, action });
            }
        }
    }
    (slots, jobs)
}

/// Returns the position of the type that a job of a name turns.
pub fn type_of(spec: &Spec, name: &str) -> Option<usize> {
    slots(spec).1.into_iter().find(|job| job.name == name).map(|job| job.change_type)
}

/// Returns the jobs, with what each cluster makes of them.
pub fn jobs(spec: &Spec) -> Result<Jobs, Error> {
    let (slots, all) = slots(spec);
    let mut found = Jobs { all, ..Jobs::default() };
    check_names(spec, &found.all)?;
    let mut measured = Measured::default();
    for cluster in spec.clusters.keys() {
        let own = match &spec.gate.table {
            Some(def) => {
                found.tables.insert(cluster.clone(), table::tables(spec, cluster, def)?);
                looks(&slots, def)
            }
            None => schedules(spec, cluster, &slots, &mut measured)?,
        };
        found.schedules.insert(cluster.clone(), own);
    }
    Ok(found)
}

/// Returns when jobs run that look at a table.
fn looks(slots: &[Slot], def: &TableDef) -> BTreeMap<usize, Schedule> {
    (0..2 * slots.len()).map(|job| (job, table::schedule(def))).collect()
}

/// The deadlines of the windows of a type, and pairs so much later, once for all clusters that have the same.
#[derive(Default)]
struct Measured {
    known: BTreeMap<String, Vec<Deadlines>>,
    later: BTreeMap<(String, u32), Result<CronPair, String>>,
}

impl Measured {
    fn of(&mut self, windows: &[(CronPair, TimeZone)]) -> &[Deadlines] {
        let key = windows.iter().map(key).collect();
        self.known.entry(key).or_insert_with(|| deadlines(&Timeline::of_pairs(windows.iter().cloned())))
    }

    /// Returns the pair of a window for a cluster that is so many minutes later.
    fn later(
        &mut self,
        cluster: &str,
        minutes: u32,
        window: &(CronPair, TimeZone),
        def: &Placed<WindowDef>,
    ) -> Result<CronPair, Error> {
        let Some(length) = Length::from_minutes(minutes) else { return Ok(window.0.clone()) };
        let found = self.later.entry((key(window), minutes));
        found.or_insert_with(|| window.0.later(length, &window.1)).clone().map_err(|reason| {
            Error::invalid(
                Diagnostic::error(format!("CronJobs of cluster {cluster} can't be {length} later: {reason}"))
                    .at(def.place.clone())
                    .help("give the gate a table, with `every` and `through`, or the window other times"),
            )
        })
    }
}

fn key((pair, zone): &(CronPair, TimeZone)) -> String {
    format!("{}\t{}\t{}\n", zone.iana_name().unwrap_or("UTC"), pair.open, pair.close)
}

fn schedules(
    spec: &Spec,
    cluster: &str,
    slots: &[Slot],
    measured: &mut Measured,
) -> Result<BTreeMap<usize, Schedule>, Error> {
    let mut windows: BTreeMap<usize, Vec<(CronPair, TimeZone)>> = BTreeMap::new();
    let mut defs_of: BTreeMap<(usize, usize), &Placed<WindowDef>> = BTreeMap::new();
    for slot in slots {
        let defs = spec.windows_of(cluster, &spec.types[slot.change_type].name.value);
        let Some(def) = defs.get(slot.number) else { continue };
        windows.entry(slot.change_type).or_default().push(pair(def)?);
        defs_of.insert((slot.change_type, slot.number), def);
    }
    let mut found = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        let Some(def) = defs_of.get(&(slot.change_type, slot.number)) else { continue };
        let time_zone = def.time_zone.as_ref().map(|zone| zone.value.clone());
        let own = &windows[&slot.change_type];
        let deadlines = measured.of(own).get(slot.number).copied();
        let pair = measured.later(cluster, spec.later(cluster), &own[slot.number], def)?;
        let Deadlines { open, close } = deadlines.unwrap_or_default();
        for (position, (expression, deadline)) in
            [(&pair.open, open), (&pair.close, close)].into_iter().enumerate()
        {
            let cron = expression.as_str().to_owned();
            found.insert(2 * index + position, Schedule { cron, time_zone: time_zone.clone(), deadline });
        }
    }
    Ok(found)
}
