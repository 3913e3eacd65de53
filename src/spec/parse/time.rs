//! Freezes, overrides, and the table of a gate.

use indexmap::IndexMap;
use jiff::ToSpan;
use jiff::tz::TimeZone;

use super::Parser;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::schedule::{CalendarError, Event, Interval, Length, LengthError, Settle, events, is_reckoned};
use crate::spec::instant::{instant, is_day};
use crate::spec::keys::{self, Shape};
use crate::spec::model::{CalendarFile, Clusters, Freeze, Override, TableDef, Waves};
use crate::spec::node::{Node, Value};
use crate::spec::reader::{Field, Fields};
use crate::spec::{Placed, check_time};
use crate::text::sha256;

/// How many days before its last a table begins where nothing says it.
const BEFORE: i64 = 731;

/// The most days of a table.
const MOST: i64 = 3_660;

/// How many minutes before the end of each open time nothing new is let in, where nothing says it: a start of a job, a fetch and
/// a chain of several applies that succeed take less.
const SETTLE: u32 = 5;

impl Parser<'_> {
    pub(super) fn freezes(&mut self, field: Option<Field<'_>>) -> Vec<Freeze> {
        let mut freezes = Vec::new();
        for (name, key, node) in self.map(field) {
            let fields = self.reader.table(node, key, &keys::FREEZE);
            let types = fields.get("types").map(|field| self.texts(field)).unwrap_or_default();
            let clusters = match fields.get("clusters") {
                Some(field) if matches!(field.node.value, Value::Mapping(_)) => {
                    let own = self.reader.table(field.node, field.home, &keys::SELECTED);
                    self.labelled(&own).unwrap_or(Clusters::All)
                }
                Some(field) => Clusters::Named(self.texts(field)),
                None => self.labelled(&fields).unwrap_or(Clusters::All),
            };
            if fields.get("calendar").is_some() {
                let (events, calendar) = self.calendar(&fields, key).unwrap_or_default();
                freezes.extend(events.into_iter().map(|Event { interval, summary: reason }| Freeze {
                    name: name.clone(),
                    interval,
                    reason,
                    types: types.clone(),
                    clusters: clusters.clone(),
                    calendar: calendar.clone(),
                }));
                continue;
            }
            let reason = self.reader.field_text(fields.get("reason"));
            let interval = self.interval(&fields, "to", key);
            if let (Some(reason), Some(interval)) = (reason, interval) {
                let reason = reason.value;
                freezes.push(Freeze { name, interval, reason, types, clusters, calendar: None });
            }
        }
        freezes
    }

    /// Reads the events of the calendar file that a freeze names.
    fn calendar(&mut self, fields: &Fields<'_>, home: &Node) -> Option<(Vec<Event>, Option<CalendarFile>)> {
        let named = self.reader.field_text(fields.get("calendar"))?;
        let zone = self.zone_of(fields, home)?;
        let path = self.reader.file().path.parent().unwrap_or_else(RepoPath::top).join(&named.value);
        // The rule has said that it does not leave the folder.
        let path = path.ok()?;
        let Some(text) = (self.files)(&path) else {
            let error = Diagnostic::error(format!("there is no calendar {path}"));
            let help = "put the .ics file there, as text of at most 4 MiB, and commit it";
            self.reader.diagnostics.push(error.at(named.place).help(help));
            return None;
        };
        let found = events(&text, &zone);
        self.calendars.insert(path.clone(), text.clone());
        match found {
            Ok(mut events) => {
                events.retain(|event| is_reckoned(event.interval));
                let sha256 = sha256(text.as_bytes());
                Some((events, Some(CalendarFile { path, sha256 })))
            }
            Err(CalendarError { message, help, span }) => {
                let error = Diagnostic::error(format!("{message} (freeze of {})", self.reader.file().path));
                self.reader.diagnostics.push(error.at(Place::span(path, text, span)).help(help));
                None
            }
        }
    }

    pub(super) fn overrides(&mut self, field: Option<Field<'_>>) -> Vec<Placed<Override>> {
        let mut overrides = Vec::new();
        for item in self.reader.items(field).unwrap_or_default() {
            let fields = self.reader.table(item, item, &keys::OVERRIDE);
            let reason = self.reader.field_text(fields.get("reason"));
            let type_name = self.reader.field_text(fields.get("type"));
            let clusters = match fields.get("cluster") {
                Some(field) => {
                    Some(Clusters::Named(self.reader.field_text(Some(field)).into_iter().collect()))
                }
                None => self.labelled(&fields),
            };
            let place = self.reader.place(&item.span);
            if clusters.is_none() {
                let error = Diagnostic::error("an override says no cluster, and never is one for all");
                self.reader.diagnostics.push(error.at(place.clone()).help("add `cluster` or `labels`"));
            }
            for key in ["from", "until"] {
                if let Some(text) = self.reader.field_text(fields.get(key)).filter(|text| is_day(text)) {
                    let error = Diagnostic::error(format!("`{key}` of an override is a day and no time"));
                    self.reader
                        .diagnostics
                        .push(error.at(text.place.clone()).help(format!("write {}T20:00", text.value)));
                }
            }
            let interval = self.interval(&fields, "until", item);
            if let (Some(clusters), Some(type_name), Some(interval), Some(reason)) =
                (clusters, type_name, interval, reason)
            {
                let given = Override { clusters, type_name, interval, reason: reason.value };
                overrides.push(Placed::new(given, place));
            }
        }
        overrides
    }

    pub(super) fn labels(&mut self, field: Option<Field<'_>>) -> IndexMap<String, Placed<String>> {
        let mut labels = IndexMap::new();
        for (name, _, node) in self.map(field) {
            if let Shape::Text(rule) = keys::LABEL
                && let Some(value) = self.reader.text(node, rule, "label")
            {
                labels.insert(name.value, value);
            }
        }
        labels
    }

    pub(super) fn waves(&mut self, field: Option<Field<'_>>) -> Option<Waves> {
        let fields = self.table(field)?;
        let order = fields.get("order").map(|field| self.texts(field)).unwrap_or_default();
        let by = self.reader.field_text(fields.get("by"));
        let offset = self.length(fields.get("offset"));
        Some(Waves { by: by?.value, order, offset: offset? })
    }

    /// Reads a length of time.
    pub(super) fn length(&mut self, field: Option<Field<'_>>) -> Option<Placed<Length>> {
        let text = self.reader.field_text(field)?;
        match text.value.parse() {
            Ok(length) => Some(Placed::new(length, text.place)),
            Err(LengthError { message }) => {
                let error = Diagnostic::error(message).at(text.place);
                self.reader.diagnostics.push(error.help("write a length such as `30m` or `1h`"));
                None
            }
        }
    }

    fn labelled(&mut self, fields: &Fields<'_>) -> Option<Clusters> {
        let field = fields.get("labels")?;
        Some(Clusters::Labelled(self.labels(Some(field))))
    }

    /// Reads what lies between `from` and the key of the end.
    fn interval(&mut self, fields: &Fields<'_>, end: &str, home: &Node) -> Option<Interval> {
        let from = self.reader.field_text(fields.get("from"));
        let to = self.reader.field_text(fields.get(end));
        let zone = self.zone_of(fields, home)?;
        self.between(&from?, &to?, &zone)
    }

    /// Reads the zone of days and times: their own, that of the spec, or that of all windows.
    fn zone_of(&mut self, fields: &Fields<'_>, home: &Node) -> Option<TimeZone> {
        let own = fields.get("timeZone");
        if own.is_some() {
            let zone = check_time::time_zone(&self.reader.field_text(own)?);
            return zone.map_err(|error| self.reader.diagnostics.push(*error)).ok();
        }
        match &self.day_zone {
            Some(zone) => Some(zone.clone()),
            None if self.zone_refused => None,
            None => {
                let error = Diagnostic::error("the days and times here have no time zone");
                let place = self.reader.place(&home.span);
                let help = "add `timeZone`, here or at the top, for example `Europe/Berlin`";
                self.reader.diagnostics.push(error.at(place).help(help));
                None
            }
        }
    }

    fn between(&mut self, from: &Placed<String>, to: &Placed<String>, zone: &TimeZone) -> Option<Interval> {
        let mut read = |text: &Placed<String>, is_end: bool| {
            instant(text, zone, is_end).map_err(|error| self.reader.diagnostics.push(*error)).ok()
        };
        let (open, close) = (read(from, false), read(to, true));
        let interval = Interval { open: open?, close: close? };
        if interval.open >= interval.close {
            let error = Diagnostic::error(format!("this ends at {}, before it begins", to.value));
            self.reader.diagnostics.push(error.at(to.place.clone()).help("give it a later end"));
            return None;
        }
        Some(interval)
    }

    /// Reads how often a gate looks at its table, and from when to when that goes.
    pub(super) fn gate_table(&mut self, fields: &Fields<'_>) -> Option<TableDef> {
        let every = self.reader.field_text(fields.get("every"));
        let from = self.reader.field_text(fields.get("from"));
        let through = self.reader.field_text(fields.get("through"));
        let settle = self.length(fields.get("settle"));
        let Some(every) = every else {
            let lone = ["from", "through", "settle"].into_iter();
            let lone = lone.filter_map(|key| Some((key, fields.get(key)?)));
            for (key, field) in lone.filter(|_| fields.get("every").is_none()) {
                let error =
                    Diagnostic::error(format!("`{key}` is of a table, and only a gate with `every` has one"));
                let place = self.reader.place(&field.node.span);
                self.reader.diagnostics.push(error.at(place).help("add `every: 5m`, or remove it"));
            }
            return None;
        };
        let Some(through) = through else {
            if fields.get("through").is_none() {
                let error = Diagnostic::error("a gate with `every` needs the last day of its table");
                let help = "add `through`, for example the end of next year";
                self.reader.diagnostics.push(error.at(every.place.clone()).help(help));
            }
            return None;
        };
        let days: Vec<&Placed<String>> = from.iter().chain([&through]).filter(|text| !is_day(text)).collect();
        for text in &days {
            let error = Diagnostic::error(format!("`{}` is a time, and a table has whole days", text.value));
            self.reader.diagnostics.push(error.at(text.place.clone()).help("write a day such as 2027-12-31"));
        }
        if !days.is_empty() || self.zone_refused {
            return None;
        }
        let zone = self.day_zone.clone().unwrap_or(TimeZone::UTC);
        let bounds = match &from {
            Some(from) => self.between(from, &through, &zone)?,
            None => {
                let close =
                    instant(&through, &zone, true).map_err(|error| self.reader.diagnostics.push(*error));
                let close = close.ok()?;
                let first = close.to_zoned(zone).checked_sub(BEFORE.days()).ok()?;
                Interval { open: first.timestamp(), close }
            }
        };
        if bounds.close.as_second() - bounds.open.as_second() > MOST * 86_400 {
            let error = Diagnostic::error("the table would be longer than ten years");
            self.reader
                .diagnostics
                .push(error.at(through.place.clone()).help("choose days that lie nearer together"));
            return None;
        }
        let minutes = every.value.trim_end_matches('m').parse().ok()?;
        let settle = settle.map_or(SETTLE, |own| own.minutes());
        Some(TableDef { every: minutes, place: every.place, bounds, settle: Settle::of_minutes(settle) })
    }
}
