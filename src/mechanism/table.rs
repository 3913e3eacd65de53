//! The table of open times at which the jobs of a gate look again and again, as arguments of a container.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::limit::{TABLE_BYTES, TABLE_LINES, TABLE_REASON};
use crate::mechanism::Schedule;
use crate::mechanism::cron_job::zone_in_table;
use crate::schedule::{Deadline, Interval, Moment, OpenTimes, Settle, Stretch};
use crate::spec::{MechanismName, Placed, Spec, TableDef, WindowDef};

/// Begins the line of a table that says how many seconds before an end nothing new is let in. It comes before the intervals.
/// Jobs of older releases read it as a remark.
const SETTLE: &str = "# settle ";

/// The first argument of a job that looks at a table; the lines of the table follow.
pub const NAME: &str = "open-times";

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

/// What a table is about.
#[derive(Clone, Copy, Debug)]
pub struct Tabled<'a> {
    /// The mechanism whose jobs look at it.
    pub mechanism: MechanismName,
    /// The cluster.
    pub cluster: &'a str,
    /// The name of the type.
    pub change_type: &'a str,
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
        let what = Tabled { mechanism: spec.gate.mechanism, cluster, change_type: name };
        let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
        let Some(times) = spec.open_times(cluster, name).map_err(invalid)? else { continue };
        let words = Words::new(spec, &what, &times)?;
        let mut lines = vec![settling(table.settle)];
        for interval in times.cut(table.bounds.open, table.bounds.close) {
            lines.push(checked_line(&what, table, interval, &words)?);
            check_number(&lines[1..], &what, table)?;
        }
        lines.extend(remarks(&times, table.bounds, &words.zone));
        let end = table.bounds.close;
        // The last line is no time at all: with its end, the table ends.
        let last = end.as_second();
        lines.push(format!("{last} {last} # end of the table, {}", Moment::from(end).local(&words.zone)));
        check_size(&lines, &what, table)?;
        found.insert(position, lines);
    }
    Ok(found)
}

/// What the lines of a table say of its intervals.
struct Words<'a> {
    times: &'a OpenTimes,
    windows: Vec<&'a Placed<WindowDef>>,
    /// In which its times are told: that of the first window.
    zone: TimeZone,
}

impl<'a> Words<'a> {
    /// # Errors
    ///
    /// When a window does not come exactly as it says.
    fn new(spec: &'a Spec, what: &Tabled<'_>, times: &'a OpenTimes) -> Result<Words<'a>, Error> {
        let windows = spec.windows_of(what.cluster, what.change_type);
        let zones = windows.iter().map(|window| zone_in_table(window));
        let zones: Vec<TimeZone> = zones.collect::<Result<_, Error>>()?;
        let zone = zones.into_iter().next().unwrap_or(TimeZone::UTC);
        Ok(Words { times, windows, zone })
    }

    /// Returns the line of an interval, with what opens then.
    fn line(&self, interval: Interval) -> String {
        let (open, close) = (interval.open.as_second(), interval.close.as_second());
        format!("{open} {close} # {}{}", words(interval, &self.zone), self.reason(interval))
    }

    /// Says what opens at an interval: a window by its name, where it has one, or an override, of which a remark tells more.
    fn reason(&self, interval: Interval) -> String {
        let is_alone = self.windows.len() == 1 && self.times.overrides().is_empty();
        let window = if is_alone { Some(0) } else { self.times.window_at(interval.open) };
        let named = |position: usize| Some(self.windows.get(position)?.name.as_ref()?.value.as_str());
        window.map_or(Some("override"), named).map(|name| format!(" ({name})")).unwrap_or_default()
    }
}

/// Returns the line that says how long before an end nothing new is let in.
fn settling(settle: Settle) -> String {
    let seconds = settle.seconds();
    format!("{SETTLE}{seconds} seconds before an end, at most a quarter: nothing new is let in")
}

/// Reads how long before an end nothing new is let in; the table of an older release says nothing of it.
fn settle_of(lines: &[String]) -> Settle {
    let seconds = lines.iter().find_map(|line| line.strip_prefix(SETTLE)?.split(' ').next()?.parse().ok());
    seconds.map_or(Settle::NONE, Settle::of_seconds)
}

/// Returns the line of an interval.
///
/// # Errors
///
/// When a job would see it late or not at all.
fn checked_line(
    what: &Tabled<'_>,
    table: &TableDef,
    interval: Interval,
    words: &Words<'_>,
) -> Result<String, Error> {
    let Some(missed) = unseen(what.mechanism, table, interval) else { return Ok(words.line(interval)) };
    let close = Moment::from(interval.close).local(&words.zone);
    let Tabled { cluster, change_type: name, .. } = what;
    let message = format!("type `{name}` of cluster {cluster} {missed} at {close}: no CronJob runs then");
    let help = "choose an `every` that meets that time, or let it close at another one";
    Err(Error::invalid(Diagnostic::error(message).at(table.place.clone()).help(help)))
}

/// Makes sure that a table has not too many intervals.
fn check_number(intervals: &[String], what: &Tabled<'_>, table: &TableDef) -> Result<(), Error> {
    let help = "let `from` and `through` lie nearer together";
    let is_short = intervals.len() <= TABLE_LINES;
    let error = || too_long(what, table, format!("has more than {TABLE_LINES} intervals"), help);
    if is_short { Ok(()) } else { Err(error()) }
}

/// Makes sure that Linux and Kubernetes take a table: its remarks count too.
fn check_size(lines: &[String], what: &Tabled<'_>, table: &TableDef) -> Result<(), Error> {
    let help = "let `from` and `through` lie nearer together, or name fewer freezes and overrides";
    let is_small = lines.iter().map(String::len).sum::<usize>() <= TABLE_BYTES;
    let error = || too_long(what, table, format!("has more than {} MiB", TABLE_BYTES >> 20), help);
    if is_small { Ok(()) } else { Err(error()) }
}

fn too_long(what: &Tabled<'_>, table: &TableDef, why: String, help: &str) -> Error {
    let Tabled { cluster, change_type: name, .. } = what;
    let message = format!("the table of type `{name}` in cluster {cluster} {why}");
    Error::invalid(Diagnostic::error(message).at(table.place.clone()).help(help))
}

/// Returns the lines that say why a table is as it is.
fn remarks(times: &OpenTimes, bounds: Interval, zone: &TimeZone) -> Vec<String> {
    let within = |stretch: &&Stretch| stretch.interval.clip(bounds.open, bounds.close).is_some();
    let frozen = times.freezes().iter().filter(within).map(|freeze| remark("frozen", freeze, zone));
    let given = times.overrides().iter().filter(within).map(|given| remark("override", given, zone));
    frozen.chain(given).collect()
}

/// Says what no run sees of an interval: the closing, where jobs have to do something then, or all of it.
fn unseen(mechanism: MechanismName, table: &TableDef, interval: Interval) -> Option<&'static str> {
    let tick = i64::from(table.every * 60);
    let (open, close) = (interval.open.as_second(), interval.close.as_second());
    let until = table.settle.until(interval).as_second();
    match mechanism {
        MechanismName::Suspend => {
            (close % tick != 0 && interval.close < table.bounds.close).then_some("closes")
        }
        MechanismName::Follow | MechanismName::FluxOperator => {
            let is_unseen = |end: i64| (end - 1).div_euclid(tick) == (open - 1).div_euclid(tick);
            match () {
                () if is_unseen(close) => Some("opens and closes"),
                () if is_unseen(until) => Some("opens and lets nothing more in before its end"),
                () => None,
            }
        }
    }
}

fn words(interval: Interval, zone: &TimeZone) -> String {
    let told = |at: Timestamp| Moment::from(at).local(zone);
    format!("{} to {}", told(interval.open), told(interval.close))
}

/// Says in a line that is no interval why the table is as it is. A `$` would mean something to Kubernetes, and the summary
/// of a calendar may be of any length.
fn remark(what: &str, stretch: &Stretch, zone: &TimeZone) -> String {
    let reason = stretch.reason.replace('$', " ");
    let is_long = reason.chars().nth(TABLE_REASON).is_some();
    let shown: String = reason.chars().take(if is_long { TABLE_REASON - 1 } else { TABLE_REASON }).collect();
    format!("# {what} {}: {shown}{}", words(stretch.interval, zone), if is_long { "…" } else { "" })
}

/// Reads when a remark says that a freeze is.
fn frozen(line: &str) -> Option<Interval> {
    let (open, rest) = line.strip_prefix("# frozen ")?.split_once(" to ")?;
    // As `words` writes it, the reason follows after a colon and a space.
    let (close, _) = rest.split_once(": ")?;
    let at = |told: &str| Timestamp::strptime("%a %Y-%m-%d %H:%M:%S %:z", told).ok();
    Some(Interval { open: at(open)?, close: at(close)? })
}

/// Returns the lines of the table that the arguments of a container are; `None` where they are something else.
pub fn lines(args: &Value) -> Option<&[Value]> {
    let (name, lines) = args.as_array()?.split_first()?;
    (name == NAME).then_some(lines)
}

/// Reads the table of a container back; `None` where it has none.
pub fn times(container: &Value) -> Option<OpenTimes> {
    Table::of(container).map(|table| table.times())
}

/// A table as it stands in the arguments of a container.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its lines, without [`NAME`].
    lines: Vec<String>,
    /// The intervals, each with the position of its line; the end of the table is none.
    intervals: Vec<(Interval, usize)>,
    /// Where it ends, with the position of the line that says so.
    end: (Timestamp, usize),
}

impl Table {
    /// Reads it; `None` where a container has none.
    pub fn of(container: &Value) -> Option<Table> {
        let words = lines(&container["args"])?.iter().filter_map(Value::as_str).map(str::to_owned);
        Table::of_lines(words.collect())
    }

    /// Reads its lines; `None` where the last one is not its end.
    pub fn of_lines(lines: Vec<String>) -> Option<Table> {
        let mut intervals = Vec::new();
        for (position, line) in lines.iter().enumerate() {
            let mut words = line.split_whitespace();
            let mut second = || words.next()?.parse::<i64>().ok();
            let (Some(open), Some(close)) = (second(), second()) else { continue };
            let at = |second: i64| Timestamp::from_second(second).ok();
            intervals.push((Interval { open: at(open)?, close: at(close)? }, position));
        }
        let (end, position) = intervals.pop().filter(|(end, _)| end.open == end.close)?;
        Some(Table { lines, intervals, end: (end.close, position) })
    }

    /// Returns its lines, as they stand.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns when it says open.
    pub fn times(&self) -> OpenTimes {
        let bounds = Interval { open: Timestamp::MIN, close: self.end.0 };
        let own = OpenTimes::of_intervals(self.intervals.iter().map(|(interval, _)| *interval), []);
        own.within(bounds).settling(settle_of(&self.lines))
    }

    /// Returns its lines with what freezes and overrides take and give otherwise in `after` than in `before`, and nothing
    /// else that differs from it: neither other windows, nor another end.
    ///
    /// # Errors
    ///
    /// When a job would see a new interval late or not at all, or the table becomes too long.
    pub fn edited(&self, before: &Spec, after: &Spec, what: &Tabled<'_>) -> Result<Vec<String>, Error> {
        let Tabled { cluster, change_type, .. } = *what;
        let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
        let times = |spec: &Spec| spec.open_times(cluster, change_type).map_err(invalid);
        let (Some(def), Some(old), Some(new)) = (&after.gate.table, times(before)?, times(after)?) else {
            return Ok(self.lines.clone());
        };
        let words = Words::new(after, what, &new)?;
        // Whoever stops must not be refused since the time before becomes too short to let something in.
        let def = &TableDef { settle: Settle::NONE, ..def.clone() };
        let bounds = Interval { open: def.bounds.open, close: self.end.0 };
        let [was, is] = [&old, &new].map(|times| times.clone().within(bounds));
        let beyond = |one: &OpenTimes, other| one.beyond(other, bounds.open, bounds.close);
        let standing = self.intervals.iter().map(|(interval, _)| *interval);
        let first = standing.clone().map(|own| own.open).min().unwrap_or(bounds.open).min(bounds.open);
        let wanted = OpenTimes::of_intervals(standing.chain(beyond(&is, &was)), beyond(&was, &is));
        let settles = |line: &&String| line.starts_with(SETTLE);
        let mut lines: Vec<String> = self.lines.iter().find(settles).cloned().into_iter().collect();
        let head = lines.len();
        for interval in wanted.cut(first, self.end.0) {
            match self.intervals.iter().find(|(own, _)| *own == interval) {
                Some((_, position)) => lines.push(self.lines[*position].clone()),
                None => lines.push(checked_line(what, def, interval, &words)?),
            }
            check_number(&lines[head..], what, def)?;
        }
        let [before, after] = [&old, &new].map(|times| remarks(times, bounds, &words.zone));
        let is_interval = |position: usize| {
            self.intervals.iter().any(|(_, own)| *own == position) || position == self.end.1
        };
        let is_own = |(position, line): &(usize, &String)| !is_interval(*position) && !settles(line);
        let own = self.lines.iter().enumerate().filter(is_own);
        // A calendar file may have changed since: of what is open again no line says that it is frozen.
        let is_frozen = |line: &String| {
            let frozen = frozen(line).and_then(|frozen| frozen.clip(first, self.end.0));
            frozen.is_none_or(|frozen| wanted.cut(frozen.open, frozen.close).next().is_none())
        };
        let own: Vec<&String> = own.map(|(_, line)| line).filter(|line| is_frozen(line)).collect();
        lines.extend(
            own.iter().filter(|line| !before.contains(line) && !after.contains(line)).copied().cloned(),
        );
        lines.extend(after.into_iter().filter(|line| own.contains(&line) || !before.contains(line)));
        lines.push(self.lines[self.end.1].clone());
        check_size(&lines, what, def)?;
        Ok(lines)
    }
}
