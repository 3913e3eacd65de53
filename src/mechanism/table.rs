//! The table of open times at which the jobs of a gate look again and again, as arguments of a container.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::mechanism::Schedule;
use crate::mechanism::cron_job::edges;
use crate::schedule::{Deadline, Interval, Moment, OpenTimes, Stretch, WindowEdges};
use crate::spec::{MechanismName, Spec, TableDef};

/// The first argument of a job that looks at a table; the lines of the table follow.
pub const NAME: &str = "open-times";

/// The most lines of a table, a few hundred kilobytes: Linux takes two megabytes of arguments, and etcd an object of one
/// and a half.
const MOST: usize = 4_000;

/// Returns when the jobs run: at each tick, and no later.
pub fn schedule(table: &TableDef) -> Schedule {
    let minutes = if table.every == 1 { "*".to_owned() } else { format!("*/{}", table.every) };
    let tick = table.every * 60;
    Schedule {
        cron: format!("{minutes} * * * *"),
        // The zone of a controller may lie beside the hours of the table.
        time_zone: Some("Etc/UTC".to_owned()),
        deadline: Some(Deadline { starting: tick, active: tick - 5 }),
    }
}

/// Returns the table of each gated type in a cluster, by the position of the type: lines of the first second of an
/// interval, the first one after it, and a remark.
///
/// # Errors
///
/// When one is too long, a window does not come exactly as it says, or a job would see an interval late or not at all.
pub fn tables(spec: &Spec, cluster: &str, table: &TableDef) -> Result<BTreeMap<usize, Vec<String>>, Error> {
    let mut found = BTreeMap::new();
    for (position, change_type) in spec.types.iter().enumerate().filter(|(_, one)| !one.is_real_time()) {
        let name = &change_type.name.value;
        let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
        let Some(times) = spec.open_times(cluster, name).map_err(invalid)? else { continue };
        let windows = spec.windows_of(cluster, name);
        let windows: Vec<_> = windows.into_iter().map(edges).collect::<Result<_, _>>()?;
        let zone = windows.into_iter().next().map_or(TimeZone::UTC, |(_, zone)| zone);
        let refuse = |message: String, help: &str| {
            Error::invalid(Diagnostic::error(message).at(table.place.clone()).help(help))
        };
        let mut lines = Vec::new();
        for interval in times.cut(table.bounds.open, table.bounds.close) {
            if let Some(what) = unseen(spec.gate.mechanism, table, interval) {
                let close = Moment::from(interval.close).local(&zone);
                return Err(refuse(
                    format!(
                        "type `{name}` of cluster {cluster} {what} at {close}, between two runs of its CronJobs"
                    ),
                    "choose an `every` that meets that time, or let it close at another one",
                ));
            }
            lines.push(line(interval, &zone));
            if lines.len() > MOST {
                return Err(refuse(
                    format!("the table of type `{name}` in cluster {cluster} has more than {MOST} intervals"),
                    "let `from` and `through` lie nearer together",
                ));
            }
        }
        let bounds =
            |stretch: &&Stretch| stretch.interval.clip(table.bounds.open, table.bounds.close).is_some();
        for freeze in times.freezes().iter().filter(bounds) {
            lines.push(remark("frozen", freeze, &zone));
        }
        for given in times.overrides().iter().filter(bounds) {
            lines.push(remark("override", given, &zone));
        }
        let end = table.bounds.close;
        // The last line is no time at all: with its end, the table ends.
        let last = end.as_second();
        lines.push(format!("{last} {last} # end of the table, {}", Moment::from(end).local(&zone)));
        found.insert(position, lines);
    }
    Ok(found)
}

/// Says what no run sees of an interval: the closing, where jobs have to do something then, or all of it.
fn unseen(mechanism: MechanismName, table: &TableDef, interval: Interval) -> Option<&'static str> {
    let tick = i64::from(table.every * 60);
    let (open, close) = (interval.open.as_second(), interval.close.as_second());
    match mechanism {
        MechanismName::Suspend => {
            (close % tick != 0 && interval.close < table.bounds.close).then_some("closes")
        }
        MechanismName::Follow => {
            (close - 1).div_euclid(tick).eq(&(open - 1).div_euclid(tick)).then_some("opens and closes")
        }
    }
}

fn line(interval: Interval, zone: &TimeZone) -> String {
    let (open, close) = (interval.open.as_second(), interval.close.as_second());
    format!("{open} {close} # {}", words(interval, zone))
}

fn words(interval: Interval, zone: &TimeZone) -> String {
    let told = |at: Timestamp| Moment::from(at).local(zone);
    format!("{} to {}", told(interval.open), told(interval.close))
}

/// Says in a line that is no interval why the table is as it is. A `$` would mean something to Kubernetes.
fn remark(what: &str, stretch: &Stretch, zone: &TimeZone) -> String {
    format!("# {what} {}: {}", words(stretch.interval, zone), stretch.reason.replace('$', " "))
}

/// Reads the table of a container back; `None` where it has none.
pub fn times(container: &Value) -> Option<OpenTimes> {
    let mut lines = container["args"].as_array()?.iter().filter_map(Value::as_str);
    lines.next().filter(|name| *name == NAME)?;
    let mut intervals = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let mut second = || words.next()?.parse::<i64>().ok();
        let (Some(open), Some(close)) = (second(), second()) else { continue };
        let at = |second: i64| Timestamp::from_second(second).ok();
        intervals.push(Interval { open: at(open)?, close: at(close)? });
    }
    let end = intervals.pop().filter(|end| end.open == end.close)?;
    let stretch = |interval: Interval| Stretch { interval, reason: String::new() };
    let bounds = Interval { open: Timestamp::MIN, close: end.close };
    let windows: [(WindowEdges, TimeZone); 0] = [];
    let intervals = intervals.into_iter().map(stretch).collect();
    Some(OpenTimes::new(windows, Vec::new(), intervals).within(bounds))
}
