//! A calendar for programs.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::calendar::{Calendar, Row, label};
use crate::schedule::zone::database_release;
use crate::schedule::{Interval, Stretch, utc};
use crate::text::json_schema::{list, nullable, object};

/// The version of the form; it grows when something is taken away or means something else.
const VERSION: u32 = 1;

/// Writes a calendar as JSON.
///
/// Times are in UTC. `rows` are the gated types, each with the clusters in which it has the same windows, what is open in
/// the range, and the freezes and overrides in it, not cut to it; `from` and `until` are `null` where something never opened
/// or never closes. `reason` is that of an override that opens where no window does. `enabled` is false where nothing closes
/// outside of the windows: the gate is off, or holds nothing of the type. `firstClosing` is when something closes for the first time, so that it is open until then; `null`
/// where something has closed already. `race` is the first instant at which something opens and something closes, and `cut` says that
/// there are more times than are told.
pub fn json(calendar: &Calendar) -> Value {
    json!({
        "version": VERSION,
        "from": utc(calendar.from),
        "until": utc(calendar.to),
        "timeZone": label::zone(&calendar.zone),
        "timeZoneDatabase": database_release(),
        "realTime": calendar.real_time,
        "rows": calendar.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    let stretches = |all: &[Stretch]| all.iter().map(stretch).collect::<Vec<_>>();
    let times = row.times.iter().map(|time| {
        let Interval { open, close } = time.interval;
        json!({
            "from": (open != Timestamp::MIN).then(|| utc(open)),
            "until": (close != Timestamp::MAX).then(|| utc(close)),
            "timeZone": zone(&time.zone),
            "reason": time.reason,
        })
    });
    json!({
        "type": row.change_type,
        "clusters": row.clusters,
        "enabled": row.is_closing(),
        "firstClosing": row.first_closing.map(utc),
        "open": times.collect::<Vec<_>>(),
        "freezes": stretches(&row.freezes),
        "overrides": stretches(&row.overrides),
        "race": row.race.map(utc),
        "cut": row.is_cut,
    })
}

fn stretch(stretch: &Stretch) -> Value {
    let Interval { open, close } = stretch.interval;
    json!({ "from": utc(open), "until": utc(close), "reason": stretch.reason })
}

fn zone(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

/// Returns the JSON Schema (draft 2020-12) of what `calendar --format json` prints; [`json()`] says what its fields mean.
pub fn schema() -> Value {
    let (text, truth) = (|| json!({ "type": "string" }), || json!({ "type": "boolean" }));
    let instant = || json!({ "type": "string", "format": "date-time" });
    let stretches = || list(object(vec![("from", instant()), ("until", instant()), ("reason", text())]));
    let open = object(vec![
        ("from", nullable(instant())),
        ("until", nullable(instant())),
        ("timeZone", text()),
        ("reason", nullable(text())),
    ]);
    let row = object(vec![
        ("type", text()),
        ("clusters", list(text())),
        ("enabled", truth()),
        ("firstClosing", nullable(instant())),
        ("open", list(open)),
        ("freezes", stretches()),
        ("overrides", stretches()),
        ("race", nullable(instant())),
        ("cut", truth()),
    ]);
    let mut top = object(vec![
        ("version", json!({ "const": VERSION })),
        ("from", instant()),
        ("until", instant()),
        ("timeZone", text()),
        ("timeZoneDatabase", nullable(text())),
        ("realTime", list(text())),
        ("rows", list(row)),
    ]);
    top["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    top["title"] = json!("Answers of gitops-windows calendar");
    top
}
