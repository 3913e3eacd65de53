//! The end of the table of open times, moved on.

use jiff::{Timestamp, ToSpan, civil::Date};

use crate::error::Error;
use crate::spec::edited::edited;
use crate::spec::exceptions::{last_day, needed_table, usage};
use crate::spec::{MechanismName, Parsed, Spec};
use crate::yaml::{Editor, Key};

/// Lets the jobs look at a table so often; a gate that has none gets one, to the end of next year.
///
/// # Errors
///
/// [`ErrorKind::Usage`](crate::error::ErrorKind::Usage) where the mechanism has no tables, or the spec would be none any
/// more; [`ErrorKind::Invalid`](crate::error::ErrorKind::Invalid) when the text can't be edited in place.
pub fn look(spec: &Spec, text: &str, every: &str, now: Timestamp) -> Result<(String, Parsed), Error> {
    if spec.gate.mechanism == MechanismName::FluxOperator {
        needed_table(spec, now, "a table of open times")?;
    }
    let path = |key: &str| [Key::from("gate"), Key::from(key)];
    edited(spec, text, |editor| {
        editor.set_scalar(&path("every"), every)?;
        match spec.gate.table {
            Some(_) => Ok(()),
            None => editor.set_scalar(&path("through"), last_day(spec, now)),
        }
    })
}

/// Moves the last day of the table on: to a day, or by whole years until a year lies ahead.
///
/// So the second time changes nothing.
///
/// # Errors
///
/// [`ErrorKind::Usage`](crate::error::ErrorKind::Usage) when the gate has no table, the day is none or lies before the
/// last one, or the table gets too long; [`ErrorKind::Invalid`](crate::error::ErrorKind::Invalid) when the text can't be
/// edited in place.
pub fn extend(
    spec: &Spec,
    text: &str,
    through: Option<&str>,
    now: Timestamp,
) -> Result<(String, Parsed), Error> {
    let table = needed_table(spec, now, "a table of open times")?;
    let zone = spec.told_zone();
    let last = |at: Timestamp| at.to_zoned(zone.clone()).date().yesterday();
    let none = || usage("the table of open times can't end later", "give --extend a day such as 2027-12-31");
    let known = last(table.bounds.close).map_err(|_| none())?;
    let wish = match through {
        Some(text) => {
            let wish: Date = text.parse().map_err(|_| {
                usage(format!("--extend: `{text}` is no day"), "write it like 2027-12-31, or leave it out")
            })?;
            if wish < known {
                let message =
                    format!("--extend: {wish} lies before {known}, the last day of the table already");
                return Err(usage(message, "edit `through` under `gate` to let the table end earlier"));
            }
            wish
        }
        None => {
            let least =
                now.to_zoned(zone.clone()).date().checked_add(1.year()).map_err(|_| none())?.max(known);
            let years = (0_i64..).map(|years| known.checked_add(years.years()));
            years.take_while(Result::is_ok).flatten().find(|day| *day >= least).ok_or_else(none)?
        }
    };
    let path = [Key::from("gate"), Key::from("through")];
    let change = |editor: &mut Editor| {
        if wish == known { Ok(()) } else { editor.set_scalar(&path, wish.to_string()) }
    };
    let (text, parsed) = edited(spec, text, change)?;
    // Without `from` the first day moves along with the last one.
    let first = parsed.spec.gate.table.as_ref().map_or(table.bounds.open, |table| table.bounds.open);
    if first > now && first > table.bounds.open {
        let first = first.to_zoned(zone).date();
        let message =
            format!("--extend: the table would begin on {first}, and before that nothing would open");
        return Err(usage(message, "choose an earlier day, or give `gate` a `from`"));
    }
    Ok((text, parsed))
}
