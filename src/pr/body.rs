//! How an object differs, as lines of a difference.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::Kind;
use crate::diagnostic::is_command;
use crate::diff::{clean, hunks};
use crate::mechanism::table_lines;
use crate::pr::field::Field;
use crate::pr::summary::Row;
use crate::text::count;

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 400;

/// The lines of a text around one that differs.
const AROUND: usize = 1;

/// Returns the lines, each with `+`, `-` or a space before it, without control characters.
pub fn body(row: &Row) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(whole) = &row.whole {
        let sign = if row.kind == Kind::Deleted { '-' } else { '+' };
        let mut yaml = Vec::new();
        written(whole, 0, &mut yaml);
        lines.extend(yaml.into_iter().map(|line| format!("{sign} {line}")));
    }
    for field in &row.fields {
        lines.extend(of_field(field));
    }
    lines.iter().map(|line| safe(&clean(line.as_bytes()))).collect()
}

/// Lets no line begin as what a CI system or a forge takes for a command: both look past spaces.
pub fn safe(line: &str) -> String {
    let is_taken = is_command(line) || line.trim_start().starts_with('/');
    format!("{}{line}", if is_taken { "| " } else { "" })
}

fn of_field(field: &Field) -> Vec<String> {
    let values = [&field.before, &field.after];
    if let [Some(before), Some(after)] = values.map(|value| value.as_ref().and_then(table_lines)) {
        let lines = |table: &[Value]| table.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        let (before, after) = (lines(before), lines(after));
        let (gone, new) = (before.difference(&after).count(), after.difference(&before).count());
        return vec![format!("  table of open times: {} new, {gone} gone", count(new, "line"))];
    }
    if values.into_iter().flatten().any(has_lines) {
        let mut lines = vec![format!("  {}:", field.path)];
        let [before, after] = values.map(|value| value.as_ref().map(block).unwrap_or_default());
        for hunk in hunks(before.as_bytes(), after.as_bytes(), AROUND) {
            for (sign, line) in hunk.lines {
                let line = String::from_utf8_lossy(line);
                lines.push(format!("{}   {}", sign.as_char(), short(line.trim_end_matches(['\n', '\r']))));
            }
        }
        return lines;
    }
    let line = |sign: char, value: &Value| format!("{sign} {}: {}", field.path, scalar(value));
    let before = field.before.iter().map(|value| line('-', value));
    before.chain(field.after.iter().map(|value| line('+', value))).collect()
}

/// Returns whether a value is written on lines of its own.
fn has_lines(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Writes a value as lines: a text as it is, all else as YAML.
fn block(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => {
            let mut lines = Vec::new();
            written(value, 0, &mut lines);
            lines.join("\n") + "\n"
        }
    }
}

/// Cuts what is too long for anybody to read.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text.to_owned(),
    }
}

/// Writes a value as YAML, for eyes alone.
fn written(value: &Value, indent: usize, lines: &mut Vec<String>) {
    let space = " ".repeat(indent);
    match value {
        Value::Object(fields) if fields.is_empty() => lines.push(format!("{space}{{}}")),
        Value::Array(items) if items.is_empty() => lines.push(format!("{space}[]")),
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(table) = table_lines(value) {
                    lines.push(format!(
                        "{space}{name}: (table of open times, {})",
                        count(table.len(), "line")
                    ));
                    continue;
                }
                nested(&format!("{space}{name}:"), value, indent + 2, lines);
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut below = Vec::new();
                written(item, 0, &mut below);
                for (at, line) in below.into_iter().enumerate() {
                    lines.push(format!("{space}{}{line}", if at == 0 { "- " } else { "  " }));
                }
            }
        }
        other => lines.push(format!("{space}{}", scalar(other))),
    }
}

fn nested(head: &str, value: &Value, indent: usize, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            lines.push(head.to_owned());
            written(value, indent, lines);
        }
        Value::Array(items) if !items.is_empty() => {
            lines.push(head.to_owned());
            written(value, indent - 2, lines);
        }
        Value::String(text) if text.contains('\n') => {
            lines.push(format!("{head} |"));
            lines.extend(text.lines().map(|line| format!("{}{}", " ".repeat(indent), short(line))));
        }
        other => lines.push(format!("{head} {}", scalar(other))),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => short(&crate::yaml::quote(text)),
        other => short(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_reads_as_yaml() {
        let mut lines = Vec::new();
        let object = json!({ "a": [{ "b": "x", "c": ["1", 2] }, []], "d": "l1\nl2\n", "e": {}, "f": null });
        written(&object, 0, &mut lines);
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn texts_are_compared_line_by_line() {
        let field = Field {
            path: "data[\"app.conf\"]".to_owned(),
            before: Some(json!("a\nb\nc\nd\n")),
            after: Some(json!("a\nb\nX\nd\n")),
        };
        insta::assert_snapshot!(of_field(&field).join("\n"));
        let field = Field {
            path: "spec.ports".to_owned(),
            before: Some(json!([{ "port": 80, "name": "http" }, { "port": 90 }])),
            after: Some(json!([{ "port": 81, "name": "http" }, { "port": 90 }])),
        };
        insta::assert_snapshot!(of_field(&field).join("\n"));
        let field =
            Field { path: "spec.image".to_owned(), before: Some(json!("a:1")), after: Some(json!("1")) };
        insta::assert_snapshot!(of_field(&field).join("\n"));
    }
}
