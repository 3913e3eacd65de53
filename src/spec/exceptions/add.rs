//! A new freeze, and a new override.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::schedule::{Interval, Length, moment};
use crate::spec::edited::edited;
use crate::spec::exceptions::taken::taken;
use crate::spec::exceptions::times::{Zone, are_times, is_ahead, is_not_over, run_after, run_before};
use crate::spec::exceptions::{About, needed_table, usage};
use crate::spec::instant::instant;
use crate::spec::windows::{gated, set_names, unknown_type};
use crate::spec::{Freeze, Parsed, Placed, Spec};
use crate::yaml::{Key, quote};

/// The last day of a freeze that nobody gives an end: the last one that a spec can name.
const FOREVER: &str = "2199-12-31";

/// Its year.
const LAST_YEAR: i16 = 2199;

/// What stands in the place of an end that there is none of.
pub const UNTIL_REMOVED: &str = "until it is removed";

/// Returns whether a freeze has no end: it lasts until somebody takes it away.
pub fn is_endless(freeze: Interval) -> bool {
    freeze.close.to_zoned(TimeZone::UTC).year() >= LAST_YEAR
}

/// A freeze that is to be added.
#[derive(Clone, Debug)]
pub struct NewFreeze {
    /// Its name, which no other freeze has.
    pub name: String,
    /// The first day or time, as the spec writes it or people say it; `None` for now.
    pub from: Option<String>,
    /// The last day or the time at which it ends, alike; `None` for no end, until somebody takes it away.
    pub to: Option<String>,
    /// Why.
    pub reason: String,
    /// The types; none for every gated type.
    pub types: Vec<String>,
    /// The clusters; none for every cluster.
    pub about: About,
    /// The zone of its times; `None` for that of the spec.
    pub time_zone: Option<TimeZone>,
}

/// An override that is to be added.
#[derive(Clone, Debug)]
pub struct NewOverride {
    /// The one cluster, or the labels of some.
    pub about: About,
    /// The type; `None` where only one is gated.
    pub change_type: Option<String>,
    /// When it begins, as the spec writes it or people say it; `None` for now.
    pub from: Option<String>,
    /// When it ends.
    pub end: End,
    /// Why.
    pub reason: String,
    /// The zone of its times; `None` for that of the spec.
    pub time_zone: Option<TimeZone>,
}

/// When an override ends.
#[derive(Clone, Debug)]
pub enum End {
    /// At a time, as the spec writes it or people say it.
    At(String),
    /// That much later than it begins, at the next run of the gate's jobs.
    After(Length),
}

/// Returns a name that no freeze has: the one that is wished for, or else with a number.
pub fn free_name(spec: &Spec, wish: &str) -> String {
    let is_free = |name: &String| !spec.freezes.iter().any(|freeze| freeze.name.value == *name);
    let numbered = (2_u32..).map(|number| format!("{wish}-{number}"));
    std::iter::once(wish.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

/// Adds a freeze to the text of a spec.
///
/// One from now begins at the last run of the gate's jobs, so that a window that is open ends where a run can see it.
///
/// # Errors
///
/// [`ErrorKind::Usage`] when the gate has no table, something that is named is not there, the times are over or make no
/// sense; [`ErrorKind::Invalid`] when the text can't be edited in place.
pub fn add_freeze(
    spec: &Spec,
    text: &str,
    new: &NewFreeze,
    now: Timestamp,
) -> Result<(String, Parsed), Error> {
    new.about.known(spec)?;
    are_times(&[("--from", new.from.as_deref()), ("--to", new.to.as_deref())])?;
    let zone = Zone::new(spec, new.time_zone.as_ref(), &[new.from.as_deref(), new.to.as_deref()]);
    let told = new.time_zone.clone().unwrap_or_else(|| spec.told_zone());
    let what = format!("freeze `{}`", new.name);
    let last = new.to.as_deref().unwrap_or(FOREVER);
    if let Ok(zone) = &zone {
        is_not_over(&what, &zone.written(last, now, |at| at), zone, &told, now)?;
    }
    let table = needed_table(spec, now, "a freeze")?;
    if let Some(other) = named(spec, &new.name) {
        let error = Diagnostic::error(format!("there is a freeze `{}` already", new.name));
        let help = format!(
            "choose another name, or remove that one first: `gitops-windows freeze remove {}`",
            new.name
        );
        return Err(Error::new(ErrorKind::Usage, error.at(other.name.place.clone()).help(help)));
    }
    if let Some(name) = new.types.iter().find(|name| spec.change_type(name).is_none()) {
        return Err(unknown_type(spec, name));
    }
    let zone = zone?;
    let from = zone.written(new.from.as_deref().unwrap_or("now"), now, |at| run_before(table, at));
    let to = zone.written(last, now, |at| run_after(table, at));
    let path = [Key::from("freezes"), Key::from(new.name.as_str())];
    let (after, mut parsed) = edited(spec, text, |editor| {
        let below = |name: &str| -> Vec<Key> { path.iter().cloned().chain([Key::from(name)]).collect() };
        editor.set_scalar(&below("from"), from.as_str())?;
        editor.set_scalar(&below("to"), to.as_str())?;
        if let Some(name) = &zone.written {
            editor.set_scalar(&below("timeZone"), name.as_str())?;
        }
        editor.set_scalar(&below("reason"), new.reason.as_str())?;
        if !new.types.is_empty() {
            set_names(editor, &below("types"), &new.types)?;
        }
        new.about.write(editor, &path)
    })?;
    if let Some(freeze) = named(&parsed.spec, &new.name) {
        is_ahead(&what, freeze.interval, new.from.is_some(), &told, now)?;
        let taken = taken(&parsed.spec, freeze, &told, now);
        parsed.warnings.extend(taken);
    }
    Ok((after, parsed))
}

fn named<'a>(spec: &'a Spec, name: &str) -> Option<&'a Freeze> {
    spec.freezes.iter().find(|freeze| freeze.name.value == name)
}

/// Adds an override to the text of a spec.
///
/// One from now begins at the last run of the gate's jobs.
///
/// # Errors
///
/// As [`add_freeze`]; also when the table ends before it, or a freeze takes all of it.
pub fn add_override(
    spec: &Spec,
    text: &str,
    new: &NewOverride,
    now: Timestamp,
) -> Result<(String, Parsed), Error> {
    new.about.known(spec)?;
    let until = match &new.end {
        End::At(until) => Some(until.as_str()),
        End::After(_) => None,
    };
    are_times(&[("--from", new.from.as_deref()), ("--until", until)])?;
    let table = needed_table(spec, now, "an override")?;
    let change_type = gated(spec, new.change_type.as_deref())?;
    let zone = Zone::new(spec, new.time_zone.as_ref(), &[new.from.as_deref(), until])?;
    let (begin, end) = (|at| run_before(table, at), |at| run_after(table, at));
    let from = zone.minute(new.from.as_deref().unwrap_or("now"), now, false, begin);
    let until = match &new.end {
        End::At(until) => zone.minute(until, now, true, end),
        End::After(length) => {
            let begins = match &new.from {
                Some(_) => {
                    // As it is written, whatever was said.
                    let from = Placed::new(from.clone(), Place::file(spec.path.clone()));
                    let usage = |error: Box<Diagnostic>| Error::new(ErrorKind::Usage, *error);
                    instant(&from, &zone.zone, false).map_err(usage)?
                }
                None => now,
            };
            zone.text(end(begins + SignedDuration::from_mins(i64::from(length.minutes()))))
        }
    };
    let told = new.time_zone.clone().unwrap_or_else(|| spec.told_zone());
    is_not_over("the override", &until, &zone, &told, now)?;
    let mut lines: Vec<String> = Vec::new();
    let mut line = |key: &str, value: &str| lines.push(format!("{key}: {}", quote(value)));
    if let Some(name) = new.about.clusters.first() {
        line("cluster", name);
    }
    if !new.about.labels.is_empty() {
        lines.push("labels:".to_owned());
        let labels =
            new.about.labels.iter().map(|(key, value)| format!("  {}: {}", quote(key), quote(value)));
        lines.extend(labels);
    }
    let mut line = |key: &str, value: &str| lines.push(format!("{key}: {}", quote(value)));
    line("type", change_type);
    line("from", &from);
    line("until", &until);
    if let Some(name) = &zone.written {
        line("timeZone", name);
    }
    line("reason", &new.reason);
    let (after, mut parsed) =
        edited(spec, text, |editor| editor.append_raw_item(&[Key::from("overrides")], &lines.join("\n")))?;
    if let Some(given) = parsed.spec.overrides.last() {
        let interval = given.interval;
        is_ahead("the override", interval, new.from.is_some(), &told, now)?;
        let bounds = table.bounds;
        if interval.clip(bounds.open, bounds.close) != Some(interval) {
            let message = format!(
                "the override lies outside of the table of open times, {} to {}",
                moment(bounds.open, &told),
                moment(bounds.close, &told)
            );
            return Err(usage(message, "`gitops-windows sync --extend` moves the end of the table"));
        }
        let frozen = frozen(&parsed.spec, interval, &told)?;
        parsed.warnings.extend(frozen);
    }
    Ok((after, parsed))
}

/// Says what freezes take of the last override; refuses it where that is all.
fn frozen(spec: &Spec, interval: Interval, zone: &TimeZone) -> Result<Option<Diagnostic>, Error> {
    let Some(given) = spec.overrides.last() else { return Ok(None) };
    let own = spec.clusters.keys().filter(|cluster| spec.is_one_of(cluster, &given.clusters));
    let (mut is_open, mut taken) = (false, None);
    for cluster in own {
        let times = spec
            .open_times(cluster, &given.type_name)
            .map_err(|diagnostics| Error { kind: ErrorKind::Invalid, diagnostics })?;
        let Some(times) = times else { continue };
        let open: Vec<Interval> = times.cut(interval.open, interval.close).collect();
        is_open |= !open.is_empty();
        if open != [interval] {
            let freezes = spec.freezes_of(cluster, &given.type_name);
            let takes = |freeze: &&&Freeze| freeze.interval.clip(interval.open, interval.close).is_some();
            taken = taken.or(freezes.iter().find(takes).map(|freeze| (cluster, (*freeze).clone())));
        }
    }
    let Some((cluster, freeze)) = taken else { return Ok(None) };
    let name = &freeze.name.value;
    let end = match is_endless(freeze.interval) {
        true => UNTIL_REMOVED.to_owned(),
        false => format!("until {}", moment(freeze.interval.close, zone)),
    };
    let what = if is_open { "a part of the override" } else { "all of the override" };
    let message = format!(
        "freeze `{name}` ({}) takes {what} in cluster {cluster} {end}: a freeze always wins",
        freeze.reason
    );
    if is_open {
        return Ok(Some(Diagnostic::warning(message)));
    }
    let help =
        format!("remove the freeze with `gitops-windows freeze remove {name}`, or give it an earlier end");
    Err(usage(message, help))
}
