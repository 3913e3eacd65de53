//! Durations as Flux Kustomizations write them.

use std::time::Duration;

/// Reads a Go duration such as `10m`, `1h30m0s` or `90s`; `None` for anything else, and for negative ones.
///
/// Fractions and units below the second are read and rounded up to whole seconds.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|end| *end > 0)?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let units =
            [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
        let (unit, factor) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
        rest = &rest[unit.len()..];
        seconds += number * factor;
    }
    Duration::try_from_secs_f64(seconds.ceil()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go_are_read() {
        for (text, seconds) in [
            ("10m", 600),
            ("1h30m0s", 5400),
            ("90s", 90),
            ("1.5h", 5400),
            ("0", 0),
            ("100ms", 1),
            ("1m0.5s", 61),
        ] {
            assert_eq!(parse(text), Some(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in ["", "10", "m", "-5m", "5d", "1h ", "1.2.3s", "99999999999999999999999h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
