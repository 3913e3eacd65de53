//! Reads what `kustomize build` prints.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Turns kustomize's output into values, one a document.
///
/// kustomize writes JSON values as YAML and quotes every string that YAML 1.1 reads as something
/// else. So this is no reader of YAML at large: a plain scalar is a boolean, a null or a number
/// only in the form in which kustomize writes them, and `yes`, `0o17` or `1_000` are strings.
///
/// # Errors
///
/// When the text is not such output: broken YAML, an alias, a tag, a key that is no string.
pub(super) fn read(text: &str) -> Result<Vec<Value>, String> {
    let options = granit_parser::options! {
        simple_key_max_lookahead: 1 << 20,
        block_nesting_limit: 10_000,
        flow_nesting_limit: 10_000,
    };
    let mut reader = Reader::default();
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, _) = next.map_err(|error| error.to_string())?;
        reader.take(event)?;
    }
    Ok(reader.documents)
}

/// A collection that is not closed yet.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    documents: Vec<Value>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, 0, None) => {
                let key = matches!(self.open.last(), Some(Open::Map(_, None)));
                let value = match style {
                    ScalarStyle::Plain if !key => plain(&text),
                    _ => Value::String(text.into_owned()),
                };
                self.place(value)
            }
            Event::SequenceStart(_, 0, None) => {
                self.open.push(Open::List(Vec::new()));
                Ok(())
            }
            Event::MappingStart(_, 0, None) => {
                self.open.push(Open::Map(Map::new(), None));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.place(Value::Array(items)),
                Some(Open::Map(fields, None)) => self.place(Value::Object(fields)),
                _ => Err("a collection ends that was not begun".to_owned()),
            },
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::Comment(..) => Ok(()),
            other => Err(format!("kustomize does not write {other:?}")),
        }
    }

    fn place(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut() {
            None => self.documents.push(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(fields, key)) => match (key.take(), value) {
                (Some(name), value) => {
                    fields.insert(name, value);
                }
                (None, Value::String(name)) => *key = Some(name),
                (None, other) => return Err(format!("kustomize does not write the key {other}")),
            },
        }
        Ok(())
    }
}

/// Returns the value of a plain scalar.
fn plain(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" | "" => Value::Null,
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// Returns the number in a form in which Go writes numbers: `-12`, `0.5`, `1e+21`.
fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    if digits.bytes().all(|letter| letter.is_ascii_digit()) {
        let whole = text.parse::<i64>().map(Number::from);
        return whole.or_else(|_| text.parse::<u64>().map(Number::from)).ok();
    }
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "+0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['+', '-'])?;
    let parts = [whole, fraction, exponent];
    let numeric = |part: &&str| !part.is_empty() && part.bytes().all(|letter| letter.is_ascii_digit());
    if !parts.iter().all(numeric) {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// The annotation by which kustomize tells origins.
pub const ORIGIN: &str = "config.kubernetes.io/origin";

/// Returns an object without the origin annotation, which says where its file lies and nothing else. kustomize-controller
/// lets kustomize set it where a list has no `resources` (fluxcd/pkg/kustomize, `Generator.GenerateManifest`).
pub fn without_origin(object: &Value) -> Cow<'_, Value> {
    if object["metadata"]["annotations"].get(ORIGIN).is_none() {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    take(&mut object);
    Cow::Owned(object)
}

/// Takes the annotation off an object, and its annotations where none are left.
fn take(object: &mut Value) -> Option<Value> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(ORIGIN)?;
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    Some(text)
}

/// Takes the origin annotation off an object, and its annotations where none are left; gives what it said.
pub(super) fn take_origin(object: &mut Value) -> Option<HashMap<String, String>> {
    let text = take(object)?;
    let origin = read(text.as_str()?).ok()?.into_iter().next()?;
    let mut fields = HashMap::new();
    for name in ["path", "repo", "configuredIn"] {
        if let Some(value) = origin.get(name).and_then(Value::as_str) {
            fields.insert(name.to_owned(), value.to_owned());
        }
    }
    if let Some(kind) = origin.pointer("/configuredBy/kind").and_then(Value::as_str) {
        fields.insert("kind".to_owned(), kind.to_owned());
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_stay_strings() {
        let text =
            "a: \"yes\"\nb: 0o17\nc: \"0777\"\nd: v1.2\ne: 1.2.3\nf: -x\ng: 10Mi\nh: ''\ni: 0x1g\ntrue: on\n";
        assert_eq!(
            read(text).unwrap(),
            [json!({
                "a": "yes", "b": "0o17", "c": "0777", "d": "v1.2", "e": "1.2.3", "f": "-x",
                "g": "10Mi", "h": "", "i": "0x1g", "true": "on",
            })]
        );
    }

    #[test]
    fn numbers_are_read_as_go_writes_them() {
        let text = "- 1\n- -5\n- 1.5\n- 1e+21\n- 18446744073709551615\n- 1e-07\n- null\n- true\n";
        assert_eq!(
            read(text).unwrap(),
            [json!([1, -5, 1.5, 1e21, 18_446_744_073_709_551_615_u64, 1e-7, null, true])]
        );
    }

    #[test]
    fn documents_and_blocks() {
        let text = "a: |\n  x\n    y\nb: |-\n  z\n---\nc: []\nd: {}\n";
        assert_eq!(read(text).unwrap(), [json!({"a": "x\n  y\n", "b": "z"}), json!({"c": [], "d": {}})]);
        assert!(read("").unwrap().is_empty());
        assert!(read("a: &x 1\nb: *x\n").is_err());
    }

    #[test]
    fn origin_is_taken_off() {
        let mut object = json!({"metadata": {"annotations": {ORIGIN: "path: ../a/b.yaml\n"}}});
        assert_eq!(take_origin(&mut object).unwrap()["path"], "../a/b.yaml");
        assert_eq!(object, json!({"metadata": {}}));
    }
}
