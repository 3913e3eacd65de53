//! Scalars without quotes that YAML does not read as text.

/// Says what a YAML 1.1 or 1.2 parser makes of a scalar without quotes, where that is not text.
///
/// Both versions count, since the file is read by editors, linters and other programs too:
/// <https://yaml.org/type/> and chapter 10 of <https://yaml.org/spec/1.2.2/>.
pub(crate) fn meaning(text: &str) -> Option<&'static str> {
    match text {
        "" | "~" => return Some("nothing"),
        "<<" => return Some("a merge key"),
        "=" => return Some("a default value"),
        _ => {}
    }
    let lower = text.to_ascii_lowercase();
    let mut title = lower.clone();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if text == lower || text == title || text == lower.to_ascii_uppercase() {
        match lower.as_str() {
            "null" => return Some("nothing"),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" => return Some("a boolean"),
            _ => {}
        }
    }
    if matches!(lower.as_str(), ".inf" | "+.inf" | "-.inf" | ".nan") || is_number(&lower) {
        return Some("a number");
    }
    if is_sexagesimal(text) {
        return Some("a number in base 60");
    }
    is_date(text).then_some("a date")
}

fn is_number(lower: &str) -> bool {
    let digits = lower.strip_prefix(['+', '-']).unwrap_or(lower);
    let all = |text: &str, test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
    if let Some(hex) = digits.strip_prefix("0x") {
        return all(hex, |c| c.is_ascii_hexdigit() || c == '_');
    }
    if let Some(octal) = digits.strip_prefix("0o").or_else(|| digits.strip_prefix("0b")) {
        return all(octal, |c| c.is_ascii_digit() || c == '_');
    }
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digit = |c: char| c.is_ascii_digit() || c == '_';
    exponent.chars().all(|c| c.is_ascii_digit())
        && !exponent.is_empty()
        && mantissa.contains(|c: char| c.is_ascii_digit())
        && !mantissa.starts_with('_')
        && whole.chars().all(digit)
        && fraction.chars().all(digit)
}

fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    let mut rest = parts.peekable();
    rest.peek().is_some()
        && first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '_')
        && rest.all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'))
        })
}

fn is_date(text: &str) -> bool {
    let date = text.split(['T', 't', ' ', '\t']).next().unwrap_or_default();
    let parts: Vec<&str> = date.split('-').collect();
    parts.len() == 3
        && parts.iter().all(|part| part.chars().all(|c| c.is_ascii_digit()))
        && parts[0].len() == 4
        && (1..=2).contains(&parts[1].len())
        && (1..=2).contains(&parts[2].len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_reads_as_something_else() {
        let boolean = Some("a boolean");
        let number = Some("a number");
        for (text, expected) in [
            ("on", boolean),
            ("Off", boolean),
            ("YES", boolean),
            ("n", boolean),
            ("true", boolean),
            ("0777", number),
            ("0o14", number),
            ("0x1F", number),
            ("1_000", number),
            ("-12", number),
            ("+.5", number),
            ("1e3", number),
            ("6.02e-23", number),
            ("1.", number),
            (".inf", number),
            (".NaN", number),
            ("12:30", Some("a number in base 60")),
            ("190:20:30.15", Some("a number in base 60")),
            ("2026-11-21", Some("a date")),
            ("2026-11-21 10:00:00", Some("a date")),
            ("~", Some("nothing")),
            ("Null", Some("nothing")),
            ("<<", Some("a merge key")),
        ] {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_text_everywhere() {
        for text in [
            "oN",
            "yess",
            "edge-01",
            "0 8 * * MON",
            "4h",
            "Mon 08:00",
            "v2.9.4",
            "1.2.3",
            "e3",
            ".",
            "-",
            "+",
            "_",
            "0x",
            "1e",
            "10.0.0.1",
            "a:b",
            "1:a",
            "1:",
            "rt",
            "2026-11",
            "ä",
            "-.",
            "_1",
        ] {
            assert_eq!(meaning(text), None, "{text}");
        }
    }
}
