//! What an untagged plain scalar means, as Go's YAML readers have it.

use serde_json::{Number, Value};

/// Which of Go's two readers decides what a plain scalar means.
///
/// They differ in the booleans of YAML 1.1 alone: `yes`, `no`, `on`, `off`, `y` and `n` are text to
/// the one and booleans to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schema {
    /// go-yaml v3, through which kustomize (kyaml) reads manifests: `yes` is text.
    #[default]
    Manifest,
    /// go-yaml v2 behind `sigs.k8s.io/yaml`, through which kustomize reads `kustomization.yaml` and
    /// kubectl reads manifests: `yes` is true.
    Kustomization,
}

/// Returns the value of a plain scalar without a tag.
///
/// Follows `resolve` in `resolve.go` of go-yaml v2.4 and v3.0. Timestamps stay text, as v2 has it.
/// `.nan` and `.inf`, for which JSON has no value, stay text as well.
pub(crate) fn plain_value(text: &str, schema: Schema) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if schema == Schema::Kustomization {
        match text {
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Value::Bool(true),
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Value::Bool(false),
            _ => {}
        }
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// Returns whether go-yaml v2 writes a text without quotes as far as its meaning goes: it is no other value (`encode.go`,
/// `stringv`). Days are told generously.
pub(crate) fn is_text(text: &str) -> bool {
    !is_infinite(text)
        && !is_sixty(text)
        && !is_date(text)
        && matches!(plain_value(text, Schema::Kustomization), Value::String(_))
}

/// Returns whether a text without quotes is a number that JSON does not have.
pub(crate) fn is_infinite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// Returns whether a text is a number to the base of 60 (`encode.go`, `base60float`).
fn is_sixty(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let Some((first, rest)) = unsigned.split_once(':') else { return false };
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let is_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '_');
    let is_part = |part: &str| part.len() < 3 && part.parse::<u8>().is_ok_and(|part| part < 60);
    first.starts_with(|c: char| c.is_ascii_digit())
        && is_digits(first)
        && is_digits(fraction)
        && rest.split(':').all(is_part)
}

/// Returns whether a text may be a day, or a time of one.
fn is_date(text: &str) -> bool {
    let (day, time) = text.split_once(['T', 't', ' ']).map_or((text, None), |(day, time)| (day, Some(time)));
    let mut parts = day.split('-').skip(1).map(|part| part.parse::<u8>().ok().filter(|_| part.len() < 3));
    let is_day = is_timestamp(day)
        && matches!(parts.next(), Some(Some(1..=12)))
        && matches!(parts.next(), Some(Some(1..=31)))
        && parts.next().is_none();
    is_day && time.is_none_or(|time| time.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads the number that Go's YAML readers see in a plain scalar.
fn number(text: &str) -> Option<Number> {
    match text.as_bytes().first()? {
        b'.' => float(text),
        b'0'..=b'9' | b'+' | b'-' if !is_timestamp(text) => {
            let digits = text.replace('_', "");
            integer(&digits).or_else(|| float(&digits))
        }
        _ => None,
    }
}

fn integer(text: &str) -> Option<Number> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let signed = rest.len() != text.len();
    let (radix, digits) = match rest.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &rest[2..]),
        [b'0', b'b' | b'B', ..] => (2, &rest[2..]),
        [b'0', b'o' | b'O', ..] => (8, &rest[2..]),
        [b'0', _, ..] => (8, &rest[1..]),
        _ => (10, rest),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        let value = 0i64.checked_sub_unsigned(magnitude)?;
        return Some(Number::from(value));
    }
    // Go's ParseUint takes no sign, so a signed value has the range of an i64.
    if signed && i64::try_from(magnitude).is_err() {
        return None;
    }
    Some(Number::from(magnitude))
}

fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.bytes().any(|byte| byte.is_ascii_digit());
    let shape = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !digits || !shape {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    Number::from_f64(value)
}

/// Returns whether Go's YAML readers take the text for a timestamp: `2001-1-2` and longer forms.
///
/// Only those forms that would otherwise be a number matter, and none would.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 5 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_mean_what_go_makes_of_them() {
        for (text, value) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("True", json!(true)),
            ("yes", json!("yes")),
            ("12", json!(12)),
            ("0777", json!(511)),
            ("0o17", json!(15)),
            ("0x1F", json!(31)),
            ("-0b11", json!(-3)),
            ("1_000", json!(1000)),
            ("08", json!(8.0)),
            ("1.5", json!(1.5)),
            ("+.5", json!(0.5)),
            ("1e3", json!(1000.0)),
            (".", json!(".")),
            ("-", json!("-")),
            ("12:30", json!("12:30")),
            ("2001-01-01", json!("2001-01-01")),
            ("18446744073709551615", json!(18446744073709551615u64)),
            ("18446744073709551616", json!(18446744073709551616.0)),
            ("1e999", json!("1e999")),
            ("0x", json!("0x")),
            (".inf", json!(".inf")),
            ("v1.2", json!("v1.2")),
            ("1.2.3", json!("1.2.3")),
        ] {
            assert_eq!(plain_value(text, Schema::Manifest), value, "{text}");
        }
        assert_eq!(plain_value("yes", Schema::Kustomization), json!(true));
        assert_eq!(plain_value("off", Schema::Kustomization), json!(false));
        assert_eq!(plain_value("offer", Schema::Kustomization), json!("offer"));
    }
}
