//! One field of a cron expression as a set of bits, by robfig/cron's rules.

use std::ops::Range;

use super::cron::CronError;
use super::month_day::WEEKS;

/// Marks a field that was written with `*` or `?` (and no step above 1); robfig's `starBit`.
pub(super) const STAR: u64 = 1 << 63;

/// The values that a field may take, and the names some of them have; robfig's `bounds`.
#[derive(Debug)]
pub(super) struct Bounds {
    /// What the field holds, as people call it.
    pub(super) noun: &'static str,
    pub(super) min: u64,
    pub(super) max: u64,
    /// Names of the values from `min` on, in lower case; empty where the field has none.
    pub(super) names: &'static [&'static str],
}

pub(super) const MINUTE: Bounds = Bounds { noun: "minute", min: 0, max: 59, names: &[] };
pub(super) const HOUR: Bounds = Bounds { noun: "hour", min: 0, max: 23, names: &[] };
pub(super) const DAY_OF_MONTH: Bounds = Bounds { noun: "day of month", min: 1, max: 31, names: &[] };
pub(super) const MONTH: Bounds = Bounds {
    noun: "month",
    min: 1,
    max: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
pub(super) const DAY_OF_WEEK: Bounds =
    Bounds { noun: "day of week", min: 0, max: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

/// Reads a field: a comma-separated list whose empty items count for nothing.
///
/// robfig/cron v3.0.1 `parser.go`, `getField`. `offset` is where the field begins in the expression.
pub(super) fn parse(field: &str, offset: usize, bounds: &Bounds) -> Result<u64, CronError> {
    let mut bits = 0;
    let mut start = 0;
    for item in field.split(',') {
        if !item.is_empty() {
            bits |= parse_range(item, bounds).map_err(|problem| {
                let span = offset + start..offset + start + item.len();
                problem.into_error(item, span, bounds)
            })?;
        }
        start += item.len() + 1;
    }
    Ok(bits)
}

/// What is wrong with one item of a field, in robfig's words.
struct Problem(String);

/// robfig/cron v3.0.1 `parser.go`, `getRange`: the order of the checks decides which error is told.
fn parse_range(item: &str, bounds: &Bounds) -> Result<u64, Problem> {
    let mut slashes = item.split('/');
    let range = slashes.next().unwrap_or_default();
    let step_text = slashes.next();
    let too_many_slashes = slashes.next().is_some();

    let mut hyphens = range.split('-');
    let low = hyphens.next().unwrap_or_default();
    let high = hyphens.next();
    let too_many_hyphens = hyphens.next().is_some();

    let (start, mut end, mut star);
    if low == "*" || low == "?" {
        // Whatever follows a hyphen here is never looked at: `*-foo` is `*`.
        (start, end, star) = (bounds.min, bounds.max, STAR);
    } else {
        start = parse_value(low, bounds)?;
        if too_many_hyphens {
            return Err(Problem(format!("too many hyphens: {item}")));
        }
        end = match high {
            None => start,
            Some(high) => parse_value(high, bounds)?,
        };
        star = 0;
    }

    let mut step = 1;
    if too_many_slashes {
        return Err(Problem(format!("too many slashes: {item}")));
    }
    if let Some(text) = step_text {
        step = parse_number(text)?;
        if high.is_none() {
            end = bounds.max;
        }
        if step > 1 {
            star = 0;
        }
    }

    let Bounds { min, max, .. } = *bounds;
    if start < min {
        return Err(Problem(format!("beginning of range ({start}) below minimum ({min}): {item}")));
    }
    if end > max {
        return Err(Problem(format!("end of range ({end}) above maximum ({max}): {item}")));
    }
    if start > end {
        return Err(Problem(format!("beginning of range ({start}) beyond end of range ({end}): {item}")));
    }
    if step == 0 {
        return Err(Problem(format!("step of range should be a positive number: {item}")));
    }
    let mut bits = star;
    let mut value = start;
    while value <= end {
        bits |= 1 << value;
        value = value.saturating_add(step);
    }
    Ok(bits)
}

/// How robfig/cron says that something is no number.
const NO_NUMBER: &str = "failed to parse int from";

fn parse_value(text: &str, bounds: &Bounds) -> Result<u64, Problem> {
    match named_value(text, bounds) {
        Some(value) => Ok(value),
        None => parse_number(text),
    }
}

/// Looks a name up in any case, with the case mapping of Go's `strings.ToLower`, to which the Turkish
/// dotted capital I is an `i`.
fn named_value(text: &str, bounds: &Bounds) -> Option<u64> {
    let lower = |c: char| if c == 'İ' { 'i' } else { c.to_ascii_lowercase() };
    let position = bounds.names.iter().position(|name| name.chars().eq(text.chars().map(lower)))?;
    Some(bounds.min + position as u64)
}

/// Reads a number as Go's `strconv.Atoi` does: an optional sign, then digits, within 64 bits.
fn parse_number(text: &str) -> Result<u64, Problem> {
    let failed =
        |why: &str| Problem(format!("{NO_NUMBER} {text}: strconv.Atoi: parsing {}: {why}", quote(text)));
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(failed("invalid syntax"));
    }
    match text.parse::<i64>() {
        Err(_) => Err(failed("value out of range")),
        Ok(number) => u64::try_from(number)
            .map_err(|_| Problem(format!("negative number ({number}) not allowed: {text}"))),
    }
}

/// Quotes as Go's `strconv.Quote` does for everything that people write.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

impl Problem {
    fn into_error(self, item: &str, span: Range<usize>, bounds: &Bounds) -> CronError {
        let help = help(item, bounds).unwrap_or_else(|| allowed(bounds));
        // "failed to parse int" tells nobody who wrote a name that it is none.
        let is_name = !bounds.names.is_empty() && item.chars().all(|c| c.is_ascii_alphabetic());
        match is_name && self.0.starts_with(NO_NUMBER) {
            true => CronError {
                message: format!("unknown {} `{item}`", bounds.noun.replace("day of week", "weekday")),
                original: Some(self.0),
                span,
                help: Some(help),
            },
            false => CronError { message: self.0, original: None, span, help: Some(help) },
        }
    }
}

/// Says what the field takes.
fn allowed(bounds: &Bounds) -> String {
    let Bounds { noun, min, max, names } = bounds;
    let names = match (names.first(), names.last()) {
        (Some(first), Some(last)) => {
            format!(" or a name from {} to {}", first.to_ascii_uppercase(), last.to_ascii_uppercase())
        }
        _ => String::new(),
    };
    format!("write the {noun} as {min} to {max}{names}, or as `*`, `*/2`, `1-5` or `1,5`")
}

/// Says what to write instead of the things that other crons understand.
fn help(item: &str, bounds: &Bounds) -> Option<String> {
    let upper = item.to_ascii_uppercase();
    if bounds.names.is_empty() {
        return (bounds.max == 31 && upper.contains(['L', 'W'])).then(|| {
            "Kubernetes knows no `L` or `W`; list the days, for example `28-31` for the end of a month".into()
        });
    }
    if upper.contains('#') || (upper.len() > 1 && upper.ends_with('L') && bounds.max == 6) {
        let day = item.split('#').next().unwrap_or_default().trim_end_matches(['L', 'l']);
        let day = named_value(day, bounds)
            .or_else(|| day.parse().ok().filter(|day| (bounds.min..=bounds.max).contains(day)));
        let day = day.map(|day| bounds.names[(day - bounds.min) as usize]);
        let alone = day.map(|day| format!(": `{}`", day.to_ascii_uppercase())).unwrap_or_default();
        let week = match item.split_once('#') {
            // A fifth one does not come in every month.
            Some((_, week)) => WEEKS[..4]
                .iter()
                .enumerate()
                .find_map(|(index, name)| (week.parse() == Ok(index + 1)).then_some(name)),
            None => WEEKS.last(),
        };
        let on = day.zip(week).map(|(day, week)| {
            let (first, rest) = day.split_at(1);
            format!("\nor write the window with `on: {week} {}{rest} of month`", first.to_ascii_uppercase())
        });
        return Some(format!(
            "Kubernetes knows no `#` or `L` in the day of week; name the weekday alone{alone}{}",
            on.unwrap_or_default()
        ));
    }
    let value = |text: &str| {
        let short = text.get(..3).filter(|_| text.chars().all(|c| c.is_ascii_alphabetic()));
        match text {
            "7" if bounds.max == 6 => Some(0),
            _ => named_value(text, bounds)
                .or_else(|| short.and_then(|short| named_value(short, bounds)))
                .or_else(|| text.parse().ok().filter(|n| (bounds.min..=bounds.max).contains(n))),
        }
    };
    let name = |n: u64| bounds.names[(n - bounds.min) as usize].to_ascii_uppercase();
    if let Some((low, high)) = item.split_once('-') {
        let (low, high) = (value(low)?, value(high)?);
        if low <= high {
            return Some(format!("write `{}-{}`", name(low), name(high)));
        }
        let wrapped: Vec<_> = (low..=bounds.max).chain(bounds.min..=high).map(name).collect();
        return Some(format!("a range can't wrap round; write `{}`", wrapped.join(",")));
    }
    Some(format!("write `{}`", name(value(item)?)))
}

/// Writes a set of values as a field, with names where the field has them.
///
/// The star bit is not looked at: callers write `*` themselves where the day rule needs it.
pub(super) fn render(bits: u64, bounds: &Bounds) -> String {
    let name = |n: u64| match bounds.names.get((n - bounds.min) as usize) {
        // Months are rarely written by name, weekdays nearly always.
        Some(name) if bounds.max == 6 => name.to_ascii_uppercase(),
        _ => n.to_string(),
    };
    let mut parts = Vec::new();
    let mut value = bounds.min;
    while value <= bounds.max {
        if bits & (1 << value) == 0 {
            value += 1;
            continue;
        }
        let first = value;
        while value < bounds.max && bits & (1 << (value + 1)) != 0 {
            value += 1;
        }
        match value - first {
            0 => parts.push(name(first)),
            1 => parts.extend([name(first), name(value)]),
            _ => parts.push(format!("{}-{}", name(first), name(value))),
        }
        value += 1;
    }
    parts.join(",")
}
