//! A calendar as a page for a browser.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::calendar::axis::{days, fraction};
use crate::calendar::{Calendar, Closes, OpenTime, Row, label};
use crate::delivery::UNTIL_FIRST;
use crate::page::{element, end, form, runs, start, text};
use crate::schedule::{Interval, minute};
use crate::spec::Spec;
use crate::spec::exceptions::{UNTIL_REMOVED, is_endless};

/// The most days that get a name of their own.
const MOST_DAYS: usize = 14;

/// The most clusters that a row names before its list is opened.
const NAMED: usize = 60;

/// Writes a calendar as one page: a row for each schedule of a type, with its openings in its own time and in that of
/// whoever reads. `now` is what the page says without a script; with one it goes by the clock.
pub fn html(calendar: &Calendar, spec: &Spec, now: Timestamp) -> String {
    let page = Page { calendar, clusters: clusters(calendar), now };
    let range = format!(
        "{} – {}, {}",
        minute(calendar.from, &calendar.zone),
        minute(calendar.to, &calendar.zone),
        label::zone(&calendar.zone)
    );
    let real_time: Vec<String> =
        calendar.real_time.iter().map(|name| format!("{name}: at once, in all clusters")).collect();
    let parts = [
        start("When changes reach which cluster"),
        element("h1 id=\"now\"", &text(&page.summary())),
        element("p class=\"faint\"", &text(&range)),
        real_time.iter().map(|line| element("p", &text(line))).collect(),
        page.form(spec),
        page.types().into_iter().map(|name| page.section(name)).collect(),
        element(
            "p class=\"faint\"",
            "Green: open. Dashed: an override opens it. Red below: a freeze. The red line is now.",
        ),
        end(),
    ];
    parts.concat()
}

struct Page<'c> {
    calendar: &'c Calendar,
    /// The clusters of all rows, in order: rows name them by their positions.
    clusters: Vec<&'c str>,
    now: Timestamp,
}

fn clusters(calendar: &Calendar) -> Vec<&str> {
    let all: BTreeSet<&str> =
        calendar.rows.iter().flat_map(|row| &row.clusters).map(String::as_str).collect();
    all.into_iter().collect()
}

impl<'c> Page<'c> {
    fn types(&self) -> Vec<&'c str> {
        let mut found: Vec<&str> = Vec::new();
        for row in &self.calendar.rows {
            if !found.contains(&row.change_type.as_str()) {
                found.push(&row.change_type);
            }
        }
        found
    }

    /// Returns whether now is one of the days.
    fn is_shown(&self) -> bool {
        (self.calendar.from..self.calendar.to).contains(&self.now)
    }

    /// Says in how many clusters each type is open.
    fn summary(&self) -> String {
        let told = |name: &str| {
            let rows = || self.calendar.rows.iter().filter(|row| row.change_type == name);
            let open: usize = rows().filter(|row| self.is_open(row)).map(|row| row.clusters.len()).sum();
            let all: usize = rows().map(|row| row.clusters.len()).sum();
            format!("{name} in {open} of {all} clusters")
        };
        let all: Vec<String> = self.types().into_iter().map(told).collect();
        if !self.is_shown() {
            return "Now lies outside of these days".to_owned();
        }
        if all.is_empty() {
            "No type has a window".to_owned()
        } else {
            format!("Open now: {}", all.join(", "))
        }
    }

    fn runs(&self, clusters: &BTreeSet<&str>) -> String {
        runs(self.clusters.len(), |at| clusters.contains(self.clusters[at]))
    }

    fn form(&self, spec: &Spec) -> String {
        if self.clusters.is_empty() {
            return String::new();
        }
        let mut labels: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (name, cluster) in &spec.clusters {
            for (key, value) in &cluster.labels {
                labels.entry(format!("{key}={}", value.value)).or_default().insert(name);
            }
        }
        let cluster = self.clusters.iter().enumerate().map(|(at, name)| (at.to_string(), *name)).collect();
        let label = labels.iter().map(|(name, own)| (self.runs(own), name.as_str())).collect();
        let types = self.types().into_iter().map(|name| (name.to_owned(), name)).collect();
        let lists =
            [("cluster", "Cluster", cluster), ("label", "Label", label), ("type", "Type of change", types)];
        form(&lists, "<label><input type=\"checkbox\" name=\"open\"> only what is open now</label>\n")
    }

    fn section(&self, name: &str) -> String {
        let Calendar { from, to, .. } = self.calendar;
        let rows = self.calendar.rows.iter().filter(|row| row.change_type == name);
        let rows: String = rows.map(|row| self.row(row)).collect();
        format!(
            "<section data-name=\"{}\" data-range=\"{} {}\">\n{}{}{rows}</section>\n",
            text(name),
            from.as_second(),
            to.as_second(),
            element("h2", &text(name)),
            self.axis()
        )
    }

    fn axis(&self) -> String {
        let days = days(self.calendar);
        let step = days.len().div_ceil(MOST_DAYS).max(1);
        let format = if days.len() <= MOST_DAYS { "%a %d" } else { "%m-%d" };
        let day = |day: &crate::calendar::axis::Day| {
            let left = fraction(self.calendar, day.start) * 100.0;
            format!("<span style=\"left:{left:.3}%\">{}</span>", day.date.strftime(format))
        };
        let days: String = days.iter().step_by(step).map(day).collect();
        format!("<div class=\"axis\" aria-hidden=\"true\">{days}</div>\n")
    }

    fn open(&self, row: &Row) -> Option<Interval> {
        self.times(row).into_iter().find(|interval| interval.contains(self.now))
    }

    /// Returns when a row is open: until the first closing where nothing has closed yet, and then in its windows.
    fn times(&self, row: &Row) -> Vec<Interval> {
        let first = row.first_closing.map(|close| Interval { open: self.calendar.from.min(self.now), close });
        let windows = row.times.iter().map(|time| time.interval);
        let windows = windows.filter(|window| first.is_none_or(|first| window.open >= first.close));
        first.into_iter().chain(windows).collect()
    }

    /// Returns whether what is merged now lands: where the gate is off, nothing closes.
    fn is_open(&self, row: &Row) -> bool {
        !row.is_closing() || self.open(row).is_some()
    }

    /// Returns whether a row is open, and until when.
    fn state(&self, row: &Row) -> String {
        if !self.is_shown() {
            return String::new();
        }
        match row.closes {
            Closes::Gate => {}
            Closes::Off => return "open now: the gate is off".to_owned(),
            Closes::Nothing => return "at once: nothing waits yet".to_owned(),
        }
        if let Some(first) = row.first_closing.filter(|first| self.now < *first) {
            return format!("{UNTIL_FIRST}, {}", minute(first, &self.calendar.zone));
        }
        let open = self.open(row);
        let next = || row.times.iter().map(|time| time.interval.open).find(|open| *open > self.now);
        let until = open.map(|interval| interval.close).or_else(next).filter(|at| *at < self.calendar.to);
        let until = until.map(|at| format!(" until {}", minute(at, &self.calendar.zone)));
        format!("{} now{}", if open.is_some() { "open" } else { "closed" }, until.unwrap_or_default())
    }

    fn row(&self, row: &Row) -> String {
        let own: BTreeSet<&str> = row.clusters.iter().map(String::as_str).collect();
        let seconds = |interval: Interval| {
            let shown = self.within(interval);
            format!("{}/{}", shown.open.as_second(), shown.close.as_second())
        };
        let times: Vec<String> = self.times(row).into_iter().map(seconds).collect();
        let off = if row.is_closing() { "" } else { " data-off" };
        let race = row.race.map_or("", |_| " (some open and close at the same instant)");
        let names: Vec<String> = row.clusters.iter().map(|name| text(name)).collect();
        let all = if names.len() > 3 { element("p", &names.join(", ")) } else { String::new() };
        format!(
            "<article class=\"row{}\" data-clusters=\"{}\" data-type=\"{}\" data-times=\"{}\"{off}>\n\
             <h3>{}{race}</h3><span class=\"state\">{}</span>\n{}\
             <details>\n<summary>Openings</summary>\n{all}{}</details>\n</article>\n",
            if self.is_shown() && self.is_open(row) { " is-open" } else { "" },
            self.runs(&own),
            text(&row.change_type),
            times.join(" "),
            text(&label::clusters(row, self.calendar.clusters, NAMED)),
            text(&self.state(row)),
            self.bar(row),
            self.openings(row),
        )
    }

    /// Cuts an interval to what the page shows.
    fn within(&self, interval: Interval) -> Interval {
        interval.clip(self.calendar.from, self.calendar.to).unwrap_or(interval)
    }

    fn bar(&self, row: &Row) -> String {
        let part = |class: &str, interval: Interval, title: &str| {
            let shown = self.within(interval);
            let (left, right) =
                (fraction(self.calendar, shown.open) * 100.0, fraction(self.calendar, shown.close) * 100.0);
            format!(
                "<i class=\"{class}\" style=\"left:{left:.3}%;width:{:.3}%\" title=\"{}\"></i>",
                right - left,
                text(title)
            )
        };
        let open = if row.is_closing() { "open" } else { "off" };
        let opens = row.times.iter().map(|OpenTime { interval, zone, reason, .. }| {
            let class = if reason.is_some() { format!("{open} given") } else { open.to_owned() };
            let title = format!(
                "{} {}{}",
                label::interval(interval, zone),
                label::zone(zone),
                label::reason(reason.as_deref())
            );
            part(&class, *interval, &title)
        });
        let frozen = row
            .freezes
            .iter()
            .map(|freeze| part("frozen", freeze.interval, &label::stretch("frozen", freeze, row.zone())));
        let zone = row.zone();
        let given = row
            .untold()
            .map(|given| part("only given", given.interval, &label::stretch("override", given, zone)));
        let parts: String = opens.chain(frozen).chain(given).collect();
        let now = fraction(self.calendar, self.now) * 100.0;
        let hidden = if self.is_shown() { "" } else { " hidden" };
        format!("<div class=\"bar\">{parts}<b class=\"now\" style=\"left:{now:.3}%\"{hidden}></b></div>\n")
    }

    /// The openings and freezes in words, in the row's own zone and in that of whoever reads.
    fn openings(&self, row: &Row) -> String {
        let mut rows = String::new();
        // A script writes the times of the second column in the reader's zone.
        let times = |interval: Interval, zone: &TimeZone, start: &dyn Fn(Timestamp) -> String| {
            if interval.open == Timestamp::MIN || interval.close == Timestamp::MAX {
                return text(&label::interval(&interval, zone));
            }
            let [open, close] = [interval.open, interval.close]
                .map(|at| format!("<time{}>{}</time>", start(at), minute(at, zone)));
            if is_endless(interval) {
                format!("{open} – {UNTIL_REMOVED}")
            } else {
                format!("{open} – {close}")
            }
        };
        let local = |interval| times(interval, &self.calendar.zone, &|at| format!(" datetime=\"{at}\""));
        for OpenTime { interval, zone, reason, .. } in &row.times {
            let own = times(*interval, zone, &|_| String::new());
            let (zone, reason) = (text(label::zone(zone)), text(&label::reason(reason.as_deref())));
            rows += &format!("<tr><td>{own} {zone}{reason}</td><td>{}</td></tr>\n", local(*interval));
        }
        let freezes = row.freezes.iter().map(|freeze| ("frozen", freeze));
        for (what, stretch) in freezes.chain(row.untold().map(|given| ("override", given))) {
            let own = label::stretch(what, stretch, row.zone());
            rows += &format!("<tr><td>{}</td><td>{}</td></tr>\n", text(&own), local(stretch.interval));
        }
        if rows.is_empty() {
            return element("p class=\"faint\"", "nothing opens in this time");
        }
        format!(
            "<table>\n<thead><tr><th scope=\"col\">The cluster's time</th><th scope=\"col\" class=\"zone\">{}</th></tr>\
             </thead>\n<tbody>\n{rows}</tbody>\n</table>\n",
            text(label::zone(&self.calendar.zone))
        )
    }
}
