//! What is surprising about one window.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::dst::clock_hits;
use super::super::interval::{Interval, Timeline};
use super::super::local::{DAY, date_of, days_of, weekday};
use super::super::recurrence::{Recurrence, WindowEdges};
use super::super::resolve::years_after;
use super::super::window::{Window, WindowKey};
use super::{Lint, LintCode, LintOptions, MOST_DATES, MOST_FIRINGS, YEARS};

/// One window that is being looked at.
#[derive(Clone)]
pub(super) struct One<'a> {
    pub(super) index: usize,
    pub(super) window: &'a Window,
    pub(super) zone: TimeZone,
    pub(super) edges: WindowEdges,
    pub(super) options: &'a LintOptions,
}

impl One<'_> {
    fn until(&self) -> Timestamp {
        years_after(self.options.from, YEARS)
    }

    pub(super) fn timeline(&self) -> Timeline {
        Timeline::of_pairs([(self.edges.clone(), self.zone.clone())])
    }

    pub(super) fn date(&self, at: Timestamp) -> Date {
        self.zone.to_datetime(at).date()
    }

    pub(super) fn finding(
        &self,
        code: LintCode,
        key: WindowKey,
        message: String,
        dates: Vec<Date>,
        remedy: impl Into<String>,
    ) -> Lint {
        Lint { code, window: Some(self.index), key: Some(key), message, dates, remedy: remedy.into() }
    }

    pub(super) fn lint(&self, lints: &mut Vec<Lint>) {
        if self.window.zone.is_none() {
            lints.push(self.finding(
                LintCode::MissingZone,
                WindowKey::TimeZone,
                "the window has no time zone. It follows the zone of each cluster's controller".into(),
                Vec::new(),
                "set `timeZone`, for example `timeZone: Europe/Berlin` or `timeZone: UTC`",
            ));
        }
        let (open_key, close_key) = self.window.keys();
        let before = lints.len();
        self.never_fires(&self.edges.open, open_key, "opens", lints);
        self.never_fires(&self.edges.close, close_key, "closes", lints);
        for (expr, key) in [(&self.edges.open, open_key), (&self.edges.close, close_key)] {
            self.either_day(expr, key, lints);
        }
        if lints[before..].iter().all(|lint| lint.code != LintCode::NeverFires) {
            self.sequence(lints);
            self.too_short(lints);
        }
    }

    /// The changes of the clocks that make an opening or a closing go wrong.
    pub(super) fn changes(&self) -> Vec<Timestamp> {
        let hits = |expr| clock_hits(expr, &self.zone, self.options.from, self.until());
        hits(&self.edges.open).iter().chain(&hits(&self.edges.close)).map(|hit| hit.transition).collect()
    }

    fn never_fires(&self, expr: &Recurrence, key: WindowKey, does: &str, lints: &mut Vec<Lint>) {
        if expr.times(self.options.from, &self.zone).next().is_some() {
            return;
        }
        let code = if does == "closes" { LintCode::AlwaysOpen } else { LintCode::NeverFires };
        lints.push(self.finding(
            LintCode::NeverFires,
            key,
            format!("`{expr}` does not fire within five years, so the window never {does}"),
            Vec::new(),
            "name days that exist in months that have them",
        ));
        if code == LintCode::AlwaysOpen {
            lints.push(self.finding(
                code,
                key,
                "the window never closes once it has opened".into(),
                Vec::new(),
                "give the type no window if it shall always be open",
            ));
        }
    }

    /// The days that are added because either day is enough.
    fn either_day(&self, expr: &Recurrence, key: WindowKey, lints: &mut Vec<Lint>) {
        let Some(fields) = expr.fields().filter(|fields| fields.either_day()) else { return };
        let today = self.zone.to_datetime(self.options.from).date();
        let first = days_of(today.year().into(), today.month() as u32, today.day().into());
        let added = (first..first + 366).filter(|&day| {
            let (_, month, date) = date_of(day);
            let by_date = fields.day_of_month & (1 << date) != 0;
            let by_weekday = fields.day_of_week & (1 << weekday(day)) != 0;
            fields.month & (1 << month) != 0 && by_date != by_weekday
        });
        let dates: Vec<Date> = added.take(MOST_DATES).filter_map(to_date).collect();
        if dates.is_empty() {
            return;
        }
        lints.push(self.finding(
            LintCode::EitherDay,
            key,
            format!("`{expr}` names days of the month and of the week. It fires on days that match either"),
            dates,
            "write `*` for one of the two\nor write `on: second Tue of month`, with a gate that has `every`",
        ));
    }

    /// Openings and closings that do not take turns.
    fn sequence(&self, lints: &mut Vec<Lint>) {
        let (_, close_key) = self.window.keys();
        let edges = self.timeline().edges(self.options.from, self.until(), MOST_FIRINGS);
        // What a change of the clocks does is told by itself.
        let changes = self.changes();
        let calm =
            |pair: &&[(Timestamp, bool)]| !changes.iter().any(|change| near(*change, pair[0].0, pair[1].0));
        if edges.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return;
        }
        let same = |opens: bool| {
            let twice = edges.windows(2).filter(|pair| pair[0].1 == opens && pair[1].1 == opens);
            twice.filter(calm).map(|pair| self.date(pair[1].0)).collect::<Vec<_>>()
        };
        let (opened, closed) = (same(true), same(false));
        let count = |opens: bool| edges.iter().filter(|edge| edge.1 == opens).count();
        if !opened.is_empty() && closed.is_empty() && opened.len() >= count(false) {
            lints.push(self.finding(
                LintCode::LongerThanPeriod,
                close_key,
                format!(
                    "`{}` opens the window again before `{}` has closed it",
                    self.edges.open, self.edges.close
                ),
                opened.into_iter().take(MOST_DATES).collect(),
                "open once for each closing",
            ));
        } else if !opened.is_empty() || !closed.is_empty() {
            let (open, close) = (&self.edges.open, &self.edges.close);
            let message = match closed.is_empty() {
                true => format!("two openings of `{open}` follow each other without a closing of `{close}`"),
                false => {
                    format!("two closings of `{close}` follow each other without an opening of `{open}`")
                }
            };
            let mut dates: Vec<Date> = opened.into_iter().chain(closed).collect();
            dates.sort_unstable();
            dates.dedup();
            dates.truncate(MOST_DATES);
            lints.push(self.finding(
                LintCode::NotAlternating,
                close_key,
                message,
                dates,
                "name the same days for both, or the days after where the window spans midnight",
            ));
        }
    }

    fn too_short(&self, lints: &mut Vec<Lint>) {
        let Some(needed) = self.options.needed.and_then(|needed| i64::try_from(needed.as_secs()).ok()) else {
            return;
        };
        let timeline = self.timeline();
        let intervals: Vec<Interval> =
            timeline.intervals(self.options.from, self.until()).take(MOST_FIRINGS).collect();
        let seconds = |interval: &Interval| interval.close.as_second() - interval.open.as_second();
        let short = || intervals.iter().filter(|interval| seconds(interval) < needed);
        let Some(shortest) = short().map(seconds).min() else { return };
        let shortest_of = short().filter(|interval| seconds(interval) == shortest);
        let mut dates: Vec<Date> = shortest_of.map(|interval| self.date(interval.open)).collect();
        dates.dedup();
        dates.truncate(MOST_DATES);
        lints.push(self.finding(
            LintCode::TooShort,
            self.window.keys().1,
            format!(
                "the window is open for {} minutes, but its Flux Kustomizations may need {} minutes",
                shortest / 60,
                (needed + 59) / 60
            ),
            dates,
            "make the window longer\nor shorten the interval of their source, and their timeout",
        ));
    }
}

/// Returns whether a change of the clocks lies between two instants or within two days of them.
pub(super) fn near(change: Timestamp, from: Timestamp, to: Timestamp) -> bool {
    let at = change.as_second();
    from.as_second() - 2 * DAY <= at && at <= to.as_second() + 2 * DAY
}

fn to_date(days: i64) -> Option<Date> {
    let (year, month, day) = date_of(days);
    Date::new(i16::try_from(year).ok()?, month as i8, day as i8).ok()
}
