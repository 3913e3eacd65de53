//! Durations as Go's `time.ParseDuration` reads them, which `@every` uses.

use super::cron::CronError;

const LIMIT: u64 = 1 << 63;

/// Reads a Go duration, such as `1h30m` or `1.5h`, in nanoseconds.
///
/// Go's `time/format.go`, `ParseDuration`, including what it does at the edges of 64 bits; `None` is an
/// invalid duration.
pub(super) fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        if !rest.starts_with(|c: char| c == '.' || c.is_ascii_digit()) {
            return Err(invalid());
        }
        let (whole, after) = leading_integer(rest).ok_or_else(invalid)?;
        let mut digits = after.len() != rest.len();
        rest = after;
        let (mut fraction, mut scale) = (0, 1.0);
        if let Some(after_point) = rest.strip_prefix('.') {
            let after;
            (fraction, scale, after) = leading_fraction(after_point);
            digits |= after.len() != after_point.len();
            rest = after;
        }
        if !digits {
            return Err(invalid());
        }
        let unit_end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
        let (unit_name, after) = rest.split_at(unit_end);
        rest = after;
        if unit_name.is_empty() {
            return Err(format!("time: missing unit in duration {}", quoted(text)));
        }
        let unit: u64 = match unit_name {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => {
                return Err(format!("time: unknown unit {} in duration {}", quoted(unit_name), quoted(text)));
            }
        };
        if whole > LIMIT / unit {
            return Err(invalid());
        }
        let mut value = whole * unit;
        if fraction > 0 {
            value = value.wrapping_add((fraction as f64 * (unit as f64 / scale)) as u64);
            if value > LIMIT {
                return Err(invalid());
            }
        }
        total = total.wrapping_add(value);
        if total > LIMIT {
            return Err(invalid());
        }
    }
    if negative {
        return Ok((total as i64).wrapping_neg());
    }
    i64::try_from(total).map_err(|_| invalid())
}

fn leading_integer(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut value: u64 = 0;
    for digit in text[..end].bytes() {
        if value > LIMIT / 10 {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
        if value > LIMIT {
            return None;
        }
    }
    Some((value, &text[end..]))
}

/// Digits after the point; those that no longer fit are dropped.
fn leading_fraction(text: &str) -> (u64, f64, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (mut value, mut scale): (u64, f64) = (0, 1.0);
    for digit in text[..end].bytes() {
        if value > (LIMIT - 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > LIMIT {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value, scale, &text[end..])
}

/// Quotes as Go's `time` package does: other than ASCII and control characters become `\x..` bytes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii() && !c.is_ascii_control() => quoted.push(c),
            c => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    quoted.push_str(&format!("\\x{byte:02x}"));
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

/// The delay in seconds of `@every TEXT`: at least one second, and cut to whole seconds.
///
/// robfig/cron v3.0.1 `parser.go`, `parseDescriptor`, and `constantdelay.go`, `Every`.
pub(super) fn every(descriptor: &str, text: &str, offset: usize) -> Result<i64, CronError> {
    let nanoseconds = parse(text).map_err(|why| CronError {
        message: format!("failed to parse duration {descriptor}: {why}"),
        original: None,
        span: offset..offset + text.len(),
        help: Some("write a duration of hours, minutes and seconds, such as `@every 1h30m`".into()),
    })?;
    Ok((nanoseconds / 1_000_000_000).max(1))
}
