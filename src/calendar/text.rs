//! A calendar for the terminal.

use jiff::{Timestamp, tz::TimeZone};

use crate::calendar::axis::days;
use crate::calendar::{Calendar, OpenTime, Row, label};
use crate::diagnostic::clean;
use crate::schedule::{Interval, minute};
use crate::text::fold;

/// The narrowest and widest timeline, in characters.
const NARROWEST: usize = 30;
const WIDEST: usize = 200;

/// The most intervals of a row that are listed with their times.
const MOST_LISTED: usize = 7;

/// The characters of a stretch that is wholly, partly or not open.
const OPEN: char = '█';
const PARTLY: char = '▒';
const CLOSED: char = '·';

/// Writes a calendar as timelines of at most `width` characters, which are readable without colour.
///
/// Each row names its type and clusters, shows when they are open, and lists the times in the zone of the
/// windows. A stretch in which it is open for a part of the time is shown as such, however short that is.
pub fn text(calendar: &Calendar, width: usize, color: bool) -> String {
    let width = width.clamp(NARROWEST, WIDEST);
    let mut text = line(
        &[
            &format!("{} –", minute(calendar.from, &calendar.zone)),
            &format!("{},", minute(calendar.to, &calendar.zone)),
            label::zone(&calendar.zone),
        ],
        width,
    );
    for name in &calendar.real_time {
        text += &line(&[&format!("{}:", clean(name)), "at once,", "in all clusters"], width);
    }
    if calendar.rows.is_empty() {
        return text;
    }
    text.push('\n');
    text += &axis(calendar, width);
    for row in &calendar.rows {
        text += &heading(calendar, row, width);
        text += &bar(calendar, row, width, color);
        text += &list(calendar, row, width);
    }
    let legend = [format!("{OPEN} open "), format!("{PARTLY} partly open "), format!("{CLOSED} closed")];
    text += "\n";
    text += &line(&[&legend[0], &legend[1], &legend[2]], width);
    text
}

/// Writes pieces in one line, or in several where they have no room.
fn line(pieces: &[&str], width: usize) -> String {
    fold(pieces.iter().copied(), width, 4) + "\n"
}

/// Writes the dates above the places at which their days begin, as many as there is room for.
fn axis(calendar: &Calendar, width: usize) -> String {
    let days = days(calendar);
    let names = if days.len() * 7 <= width { "|%a %d" } else { "|%m-%d" };
    let mut line = String::new();
    for day in days {
        let column = column(calendar, day.start, width);
        let used = line.chars().count();
        let name = day.date.strftime(names).to_string();
        let fits = column + name.len() <= width;
        if fits && (used == 0 || column > used) {
            line.extend(std::iter::repeat_n(' ', column - used));
            line += &name;
        }
    }
    line.push('\n');
    line
}

/// Returns the column that an instant falls into.
fn column(calendar: &Calendar, at: Timestamp, width: usize) -> usize {
    let whole = i128::from(calendar.to.as_second() - calendar.from.as_second()).max(1);
    let part = i128::from(at.as_second() - calendar.from.as_second());
    usize::try_from(part * width as i128 / whole).unwrap_or(0).min(width)
}

fn heading(calendar: &Calendar, row: &Row, width: usize) -> String {
    let name = clean(&row.change_type);
    let state = label::state(row);
    let used = name.chars().count() + state.chars().count() + 2;
    // Without room for a few names the clusters stand in a line of their own.
    let (left, end) = if used + 10 > width { (width - 4, "\n    ") } else { (width - used, "  ") };
    format!("{name}{state}{end}{}\n", label::clusters(row, calendar.clusters, left))
}

/// Draws one row: for each column the share of its time that is open.
fn bar(calendar: &Calendar, row: &Row, width: usize, color: bool) -> String {
    let start = |column: usize| {
        let whole = i128::from(calendar.to.as_second() - calendar.from.as_second());
        let offset = (whole * column as i128).div_euclid(width as i128);
        i128::from(calendar.from.as_second()) + offset
    };
    let mut intervals = row.times.iter().map(|time| time.interval).peekable();
    let mut cells = String::new();
    for column in 0..width {
        let (from, to) = (start(column), start(column + 1).max(start(column) + 1));
        let mut open = 0;
        while let Some(interval) = intervals.peek() {
            let (first, last) =
                (i128::from(interval.open.as_second()), i128::from(interval.close.as_second()));
            open += (last.min(to) - first.max(from)).max(0);
            if last > to {
                break;
            }
            intervals.next();
        }
        cells.push(match open {
            0 => CLOSED,
            _ if open >= to - from => OPEN,
            _ => PARTLY,
        });
    }
    if color { format!("\u{1b}[32m{cells}\u{1b}[0m\n") } else { format!("{cells}\n") }
}

fn list(calendar: &Calendar, row: &Row, width: usize) -> String {
    let mut text = String::new();
    let told = |interval: &Interval, zone: &TimeZone, reason: &str| {
        let times = label::interval(interval, zone);
        let end = format!("{}{reason}", label::zone(zone));
        let pieces = times.split_inclusive("– ").map(str::trim_end).chain([end.as_str()]);
        format!("  {}\n", fold(pieces, width - 2, 4))
    };
    for OpenTime { interval, zone, reason, .. } in row.times.iter().take(MOST_LISTED) {
        text += &told(interval, zone, &label::reason(reason.as_deref()));
        if !shows_the_same(zone, &calendar.zone, interval.open, interval.close) {
            text += &told(interval, &calendar.zone, "");
        }
    }
    if row.times.is_empty() {
        text += "  never open in these days\n";
    }
    if let Some(race) = row.race {
        let words = format!(
            "{} {}: an opening and a closing coincide. The slower Job decides (GW107); shown as closed",
            minute(race, &calendar.zone),
            label::zone(&calendar.zone)
        );
        text += &format!("  {}\n", fold(words.split(' '), width - 2, 4));
    }
    let freezes = row.freezes.iter().map(|freeze| ("frozen", freeze)).take(MOST_LISTED);
    for (what, one) in freezes.chain(row.untold().map(|given| ("override", given)).take(MOST_LISTED)) {
        let words = label::stretch(what, one, row.zone());
        text += &format!("  {}\n", fold(words.split(' '), width - 2, 4));
    }
    let more = row.times.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        let more = if row.is_cut { format!("more than {more}") } else { more.to_string() };
        text += &format!("  and {more} more\n");
    }
    text
}

/// Returns whether two zones show the same times at both ends of an interval.
fn shows_the_same(a: &TimeZone, b: &TimeZone, open: Timestamp, close: Timestamp) -> bool {
    [open, close].into_iter().all(|at| a.to_offset(at) == b.to_offset(at))
}
