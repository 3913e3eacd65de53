//! Writing a value as Go's `sigs.k8s.io/yaml` does.

use std::cmp::Ordering;

use serde_json::Value;

use crate::yaml::resolve::is_text;

/// The longest key that stands on its line.
const SIMPLE: usize = 128;

/// The column behind which a space ends a line.
const WIDTH: usize = 80;

/// The spaces of a level.
const INDENT: usize = 2;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// Between `'`.
    Single,
    /// Between `"`, with escapes.
    Double,
    /// Behind `|`, line by line; with the signs for its beginning and its end.
    Literal(&'static str),
}

/// Writes a value (go-yaml v2.4, `encode.go` and `emitterc.go`, by `JSONToYAML`); `None` for texts that nobody writes: keys of
/// several lines, and breaks of lines that are none of ASCII.
pub fn emit(value: &Value) -> Option<String> {
    let mut text = String::new();
    node(value, 0, &mut text)?;
    Some(text)
}

/// Writes a value that begins at the end of a line, with a line break behind it; `indent` is that of its parts.
fn node(value: &Value, indent: usize, text: &mut String) -> Option<()> {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let mut all: Vec<(&String, &Value)> = fields.iter().collect();
            all.sort_by(|one, other| order(one.0, other.0));
            for (position, (key, value)) in all.into_iter().enumerate() {
                if position > 0 {
                    spaces(indent, text);
                }
                field(key, value, indent, text)?;
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    spaces(indent, text);
                }
                *text += "- ";
                node(item, indent + INDENT, text)?;
            }
        }
        Value::String(own) => {
            scalar(own, style(own)?, indent, true, text);
            text.push('\n');
        }
        other => {
            *text += &other.to_string();
            text.push('\n');
        }
    }
    Some(())
}

fn field(key: &str, value: &Value, indent: usize, text: &mut String) -> Option<()> {
    let style = match style(key)? {
        Style::Literal(_) => return None,
        Style::Double if key.contains('\n') => return None,
        style => style,
    };
    if key.len() > SIMPLE {
        *text += "? ";
        scalar(key, style, indent + INDENT, true, text);
        text.push('\n');
        spaces(indent, text);
    } else {
        scalar(key, style, indent, false, text);
    }
    text.push(':');
    let is_below = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if key.len() > SIMPLE || !is_below {
        text.push(' ');
        return node(value, indent + INDENT, text);
    }
    text.push('\n');
    // The items of a list stand below its key.
    let below = if value.is_array() { indent } else { indent + INDENT };
    spaces(below, text);
    node(value, below, text)
}

fn spaces(count: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', count));
}

/// Writes a text; one with more than a line's width before a space goes on in the next line, but for a key on its own line.
fn scalar(own: &str, style: Style, indent: usize, folds: bool, text: &mut String) {
    let begin = text.rfind('\n').map_or(0, |at| at + 1);
    let mut line = Line { column: text[begin..].chars().count(), indent, folds, is_after_space: false };
    match style {
        Style::Plain => line.write(own, false, text, |c, text| text.push(c)),
        Style::Single => {
            line.put('\'', text);
            line.write(own, true, text, |c, text| {
                text.extend(std::iter::repeat_n(c, if c == '\'' { 2 } else { 1 }));
            });
            text.push('\'');
        }
        Style::Double => {
            line.put('"', text);
            line.write(own, true, text, escaped);
            text.push('"');
        }
        Style::Literal(signs) => {
            text.push('|');
            *text += signs;
            for line in own.strip_suffix('\n').unwrap_or(own).split('\n') {
                text.push('\n');
                if !line.is_empty() {
                    spaces(indent, text);
                    *text += line;
                }
            }
        }
    }
}

/// The line on which a text is written.
struct Line {
    column: usize,
    indent: usize,
    folds: bool,
    is_after_space: bool,
}

impl Line {
    fn put(&mut self, c: char, text: &mut String) {
        text.push(c);
        self.column += 1;
    }

    /// Writes a text, each character as `sign` does (`yaml_emitter_write_plain_scalar` and its like).
    fn write(&mut self, own: &str, is_quoted: bool, text: &mut String, sign: impl Fn(char, &mut String)) {
        let is_double = text.ends_with('"');
        let mut rest = own.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            if c != ' ' {
                let before = text.len();
                sign(c, text);
                self.column += text[before..].chars().count();
                self.is_after_space = false;
                continue;
            }
            let is_edge = is_quoted && (at == 0 || at + 1 == own.len());
            let is_next = rest.peek().is_some_and(|(_, next)| *next == ' ');
            let is_long = self.folds && !self.is_after_space && self.column > WIDTH && !is_edge;
            if is_long && (is_double || !is_next) {
                text.push('\n');
                spaces(self.indent, text);
                self.column = self.indent;
                if is_next {
                    self.put('\\', text);
                }
            } else {
                self.put(c, text);
            }
            self.is_after_space = true;
        }
    }
}

/// Writes a character between `"`.
fn escaped(c: char, text: &mut String) {
    let short = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' => '"',
        '\\' => '\\',
        c if is_printable(c) => return text.push(c),
        c => {
            *text += &match u32::from(c) {
                code @ ..=0xFF => format!("\\x{code:02X}"),
                code @ ..=0xFFFF => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
            return;
        }
    };
    text.push('\\');
    text.push(short);
}

/// Returns how a text is written; `None` where that is not known here.
pub(crate) fn style(text: &str) -> Option<Style> {
    if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return None;
    }
    let shape = Shape::of(text);
    Some(if text.contains('\n') {
        if shape.is_block { Style::Literal(signs(text)) } else { Style::Double }
    } else if !is_text(text) {
        Style::Double
    } else if shape.is_plain {
        Style::Plain
    } else if shape.is_single {
        Style::Single
    } else {
        Style::Double
    })
}

/// Returns the signs behind `|` (`yaml_emitter_write_block_scalar_hints`).
fn signs(text: &str) -> &'static str {
    let begins = text.starts_with([' ', '\n']);
    let chomp = match text.strip_suffix('\n') {
        None => 0,
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => 2,
        Some(_) => 1,
    };
    match (begins, chomp) {
        (false, 0) => "-",
        (false, 1) => "",
        (false, _) => "+",
        (true, 0) => "2-",
        (true, 1) => "2",
        (true, _) => "2+",
    }
}

/// What a text may be written as (`yaml_emitter_analyze_scalar`), outside of `{}` and `[]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub is_plain: bool,
    pub is_single: bool,
    pub is_block: bool,
}

impl Shape {
    pub(crate) fn of(text: &str) -> Shape {
        let mut is_marked = text.starts_with("---") || text.starts_with("...");
        let (mut is_special, mut is_broken) = (false, false);
        let (mut break_space, mut space_break) = (false, false);
        let mut last = None;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let before = last.is_none_or(|last| is_blank(last) || is_break(last));
            let after = rest.peek().copied().is_none_or(is_blank);
            is_marked |= match c {
                ':' => after,
                '#' => before,
                '-' | '?' if last.is_none() => after,
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                    last.is_none()
                }
                _ => false,
            };
            is_special |= !is_printable(c);
            is_broken |= is_break(c);
            break_space |= c == ' ' && last.is_some_and(is_break);
            space_break |= is_break(c) && last == Some(' ');
            last = Some(c);
        }
        let is_edged =
            text.starts_with(|c| c == ' ' || is_break(c)) || text.ends_with(|c| c == ' ' || is_break(c));
        let is_single = !break_space && !space_break && !is_special;
        Shape {
            is_plain: is_single && !is_edged && !is_broken && !is_marked,
            is_single,
            is_block: !text.is_empty() && !text.ends_with(' ') && !space_break && !is_special,
        }
    }
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a character is written as another one between `"`.
pub(crate) fn is_escaped(c: char) -> bool {
    matches!(c, '"' | '\\' | '\n') || !is_printable(c)
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{fffd}') && c != '\u{feff}'
}

/// The order of keys: numbers in them by size, letters last (go-yaml v2, `sorter.go`).
fn order(one: &str, other: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    for i in 0..a.len().min(b.len()) {
        if a[i] == b[i] {
            continue;
        }
        let (is_a, is_b) = (a[i].is_alphabetic(), b[i].is_alphabetic());
        if is_a && is_b {
            return a[i].cmp(&b[i]);
        }
        if is_a || is_b {
            return if is_b { Ordering::Less } else { Ordering::Greater };
        }
        let begins = a[..i].iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
        let of_zero = (a[i] == '0' || b[i] == '0') && begins;
        let number = |text: &[char]| {
            let digits = text[i..].iter().take_while(|c| c.is_ascii_digit());
            let add = |(count, sum): (usize, i64), c: &char| {
                (
                    count + 1,
                    sum.wrapping_mul(10).wrapping_add(i64::from(u32::from(*c)) - i64::from(u32::from('0'))),
                )
            };
            digits.fold((0, i64::from(of_zero)), add)
        };
        let ((length, size), (other_length, other_size)) = (number(&a), number(&b));
        return size.cmp(&other_size).then(length.cmp(&other_length)).then(a[i].cmp(&b[i]));
    }
    a.len().cmp(&b.len())
}
