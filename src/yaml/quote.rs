//! Writes one scalar so that every reader finds the same text.

use serde_json::Value;

/// Words that some reader of YAML 1.1 or 1.2 takes for something else than text.
const TRAPS: [&str; 13] =
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "none", "infinity"];

/// Writes text as a YAML scalar that means this text in block and flow style, as value, item or key.
///
/// Plain only where no reader could see anything else: names and paths of ASCII letters, digits and
/// `_ . / @ + = -`, inner `:` before a letter, digit or slash, and single inner spaces. Everything
/// else is double quoted: booleans of YAML 1.1, whatever looks like a number, a time or a date, text
/// with indicators, line breaks, control or invisible characters and characters beyond the basic
/// plane. The result is always one line.
///
/// ```
/// use gitops_windows::yaml::quote;
/// assert_eq!(quote("../../apps/nginx"), "../../apps/nginx");
/// assert_eq!(quote("on"), r#""on""#);
/// assert_eq!(quote("0 22 * * SAT"), r#""0 22 * * SAT""#);
/// assert_eq!(quote("a\nb"), r#""a\nb""#);
/// ```
pub fn quote(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { double_quote(text) }
}

/// Writes text in double quotes, with escapes for everything that is not plainly visible.
pub fn double_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            _ if is_visible(c) => out.push(c),
            _ => {
                let code = u32::from(c);
                out.push_str(&match code {
                    0..=0xff => format!("\\x{code:02x}"),
                    0x100..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
        }
    }
    out.push('"');
    out
}

/// Writes a value in flow style on one line: `{path: a.yaml, options: [1, true]}`.
pub fn flow_text(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", quote(key), flow_text(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Returns whether a character beyond ASCII may stand for itself: letters and symbols of the basic
/// plane, but no spaces, invisible or direction characters, private use or marks of byte order.
fn is_visible(c: char) -> bool {
    let outside = matches!(u32::from(c),
        0..=0xa0 | 0xad | 0x300..=0x36f | 0x61c | 0x115f..=0x1160 | 0x1680 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x3000 | 0x3164 | 0xd800..=0xf8ff
        | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..);
    !outside
}

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if TRAPS.iter().any(|trap| trap.eq_ignore_ascii_case(text)) {
        return false;
    }
    let opens = match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'/' => true,
        b'.' => text.starts_with("./") || text.starts_with("../") || text == "..",
        // A letter that no number, date or special float holds.
        b'0'..=b'9' => {
            bytes.iter().any(|byte| matches!(byte, b'g' | b'h' | b'j'..=b'm' | b'p'..=b's' | b'u'..=b'w'))
        }
        _ => false,
    };
    opens
        && !matches!(last, b' ' | b':')
        && bytes.iter().enumerate().all(|(index, byte)| {
            let next = bytes.get(index + 1);
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b'@' | b'+' | b'=' | b'-' => {
                    true
                }
                b':' => next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'/'),
                b' ' => next.is_some_and(|next| next.is_ascii_alphanumeric()),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Schema, read_documents};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn plain_only_where_nothing_else_can_be_read() {
        for text in [
            "apps-rt",
            "../x",
            "./a/b.yaml",
            "Europe/Berlin",
            "ghcr.io/fluxcd/flux-cli:v2.9.4",
            "01-app.yaml",
            "a b",
        ] {
            assert_eq!(quote(text), text);
        }
        for text in [
            "",
            " ",
            "a ",
            " a",
            "~",
            "null",
            "NULL",
            "On",
            "yes",
            "n",
            "0777",
            "1e3",
            "1_000",
            "12:30",
            "0x1f",
            "2001-01-01",
            "2001-01-01T00:00:00Z",
            ".5",
            ".nan",
            "-",
            "- a",
            "? a",
            "a: b",
            "a #b",
            "a:",
            "#a",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "{a",
            "[a",
            "a,b",
            "a]",
            "'a'",
            "\"a\"",
            "---",
            "...",
            "<<",
            "=",
            "a\tb",
            "é",
            "${x}",
            "a\u{85}",
            "\u{feff}a",
            "a\u{2028}b",
            "😀",
            "a\0b",
        ] {
            assert!(quote(text).starts_with('"'), "{text:?}");
        }
    }

    #[test]
    fn a_value_in_flow_style_reads_back() {
        let value = json!({"a": [1, true, null, "on", {"b: c": "x\ny"}], "é": 1.5, "": []});
        let read = read_documents(&format!("- {}\n", flow_text(&value))).unwrap();
        assert_eq!(read[0].root.to_json(), json!([value]));
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ -~]{0,12}",
            "[-+.:_~0-9a-fA-FxoeEtTzZ]{0,8}",
            "[ \t\r\n#:,{}\\[\\]&*!|>'\"%@`-]{0,6}",
            proptest::sample::select(TRAPS.as_slice()).prop_map(str::to_owned),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn quoted_text_reads_back(text in text()) {
            let quoted = quote(&text);
            let file = format!("key: {quoted}\nlist:\n- {quoted}\nflow: [{quoted}, {{{quoted}: {quoted}}}]\n");
            let ours = read_documents(&file).unwrap();
            let expected = json!({"key": text, "list": [text], "flow": [text, {text.clone(): text}]});
            prop_assert_eq!(ours[0].root.to_json(), expected.clone());
            prop_assert_eq!(ours[0].root.to_json_as(Schema::Kustomization), expected.clone());
            let theirs: Value = serde_saphyr::from_str(&file).unwrap();
            prop_assert_eq!(theirs, expected);
        }
    }
}
