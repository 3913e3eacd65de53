//! What the `postBuild` of a Flux Kustomization puts into objects.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::repo::envsubst::{Failure, Filler, Variable};
use crate::repo::manifest::ObjectId;
use crate::yaml::{
    Node, Schema, Shape, Style, emit, is_escaped, is_infinite, plain_value, read_documents, style,
};

/// The label or annotation that keeps an object out of substitution (`fluxcd/pkg/kustomize`, `kustomize_varsub.go`).
pub const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// The key beside those of a `spec.postBuild` that says how strictly its controller reads it.
const STRICT: &str = "strict";

/// By which variables without a value a build fails (kustomize-controller, `StrictPostBuildSubstitutions`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// By none: they are left empty. So it is taken where Git does not say it.
    #[default]
    Off,
    /// By a bare `${NAME}`.
    Bare,
    /// By all but those with a default.
    All,
}

impl Strict {
    /// Returns how strictly a `spec.postBuild` is read.
    pub fn of(post_build: &Value) -> Strict {
        match post_build[STRICT].as_str() {
            Some("bare") => Strict::Bare,
            Some(_) => Strict::All,
            None => Strict::Off,
        }
    }

    /// Says in a `spec.postBuild`, if it is one, how strictly it is read.
    pub fn put(self, post_build: &mut Value) {
        let word = match self {
            Strict::Off => return,
            Strict::Bare => "bare",
            Strict::All => "all",
        };
        if let Some(fields) = post_build.as_object_mut() {
            fields.insert(STRICT.to_owned(), word.into());
        }
    }
}

/// Returns whether an object says that no variable of it is to be replaced.
pub fn is_kept_out(object: &Value) -> bool {
    ["annotations", "labels"].iter().any(|map| object["metadata"][map][SUBSTITUTE] == "disabled")
}

/// Returns the id of an object with the values that a `spec.postBuild` puts into it.
///
/// What depends on a value that is known to the cluster alone stays as it is written, `${…}`.
pub fn live_id(post_build: &Value, object: &Value) -> ObjectId {
    let id = ObjectId::of(object);
    if !puts_in(post_build) || is_kept_out(object) || !may_hold(&id) {
        return id;
    }
    let metadata = json!({ "name": id.name, "namespace": id.namespace });
    let named = json!({ "apiVersion": object["apiVersion"], "kind": id.kind, "metadata": metadata });
    match substituted(post_build, &named) {
        Ok(Some(named)) => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let metadata = &named["metadata"];
            // A name of digits is a number in between.
            let name = if metadata["name"].is_null() { String::new() } else { text(&metadata["name"]) };
            ObjectId { name, ..ObjectId::of(&named) }
        }
        _ => id,
    }
}

fn may_hold(id: &ObjectId) -> bool {
    [&id.group, &id.kind, &id.name, &id.namespace].into_iter().any(|text| is_changed(text))
}

/// Returns whether a `spec.postBuild` puts anything into objects as far as Git says.
pub fn puts_in(post_build: &Value) -> bool {
    values(post_build).is_some()
}

/// Returns the values that Git tells; `None` where nothing is done. Without any only defaults count, and these only where
/// `substituteStrategy` is `Always` (fluxcd/pkg/kustomize, `SubstituteVariables`).
fn values(post_build: &Value) -> Option<Cow<'_, Map<String, Value>>> {
    let values = post_build["substitute"].as_object().filter(|values| !values.is_empty());
    let always = || (post_build["substituteStrategy"] == "Always").then(|| Cow::Owned(Map::new()));
    values.map(Cow::Borrowed).or_else(always)
}

/// Why Flux can't put values into an object, so that its whole build fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfilled {
    /// A name that none may have.
    Name(String),
    /// envsubst fails.
    Envsubst(Failure),
    /// The text with the values is no YAML.
    Yaml(String),
    /// It has a number or a key that JSON does not have.
    NoJson(String),
    /// It is no object any more.
    NoObject,
}

impl fmt::Display for Unfilled {
    /// Ends a sentence of which the object is the subject.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfilled::Name(name) => write!(f, "{name:?} is no name of a variable"),
            Unfilled::Envsubst(failure) => write!(f, "{failure}"),
            Unfilled::Yaml(message) => write!(f, "the values break its YAML: {message}"),
            Unfilled::NoJson(text) => write!(f, "JSON has no {text} in its place"),
            Unfilled::NoObject => f.write_str("the values leave no object"),
        }
    }
}

/// Puts the values that a `spec.postBuild` tells into an object; what fails stays as it is written. See [`substituted`].
pub fn substitute(post_build: &Value, object: &mut Value) {
    if let Ok(Some(own)) = substituted(post_build, object) {
        *object = own;
    }
}

/// Returns an object with the values that a `spec.postBuild` tells; `None` where Flux leaves it as it is.
///
/// The values go into the YAML of the object, which is read anew: so `${N}` becomes a number, and quotes of the file don't
/// count (fluxcd/pkg/kustomize, `varSubstitution`). What depends on a value that Git does not tell stays as it is written.
/// So does a name without any value, unless the build [fails](Strict) by that.
///
/// # Errors
///
/// When Flux fails, whatever the values are that Git does not tell.
pub fn substituted(post_build: &Value, object: &Value) -> Result<Option<Value>, Unfilled> {
    let Some(values) = values(post_build).filter(|_| !is_kept_out(object)) else { return Ok(None) };
    if let Some(name) = values.keys().find(|name| !is_name(name)) {
        return Err(Unfilled::Name(name.clone()));
    }
    if !holds_any(object) {
        return Ok(None);
    }
    let is_all = post_build["substituteFrom"].as_array().is_none_or(Vec::is_empty);
    let strict = Strict::of(post_build);
    let lookup = |name: &str| match values.get(name) {
        Some(Value::String(text)) if text.contains('\n') => Variable::Value(text.replace('\n', "").into()),
        Some(Value::String(text)) => Variable::Value(Cow::Borrowed(text)),
        Some(value) => Variable::Value(value.to_string().into()),
        None if is_all => match strict {
            Strict::Off => Variable::Unset,
            Strict::Bare => Variable::MissingBare,
            Strict::All => Variable::Missing,
        },
        None => Variable::Unknown,
    };
    let mut own = object.clone();
    if each(&mut own, &Filler::new(&lookup)).is_some() {
        return Ok(Some(own));
    }
    whole(object, &Filler::new(&lookup))
}

/// A name of a variable (fluxcd/pkg/kustomize, `varsubRegex`).
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// Returns whether envsubst makes something else of a text.
fn is_changed(text: &str) -> bool {
    let signs = text.bytes().zip(text.bytes().skip(1));
    signs.into_iter().any(|(sign, next)| sign == b'$' && (next == b'{' || next == b'$'))
}

fn holds_any(value: &Value) -> bool {
    match value {
        Value::String(text) => is_changed(text),
        Value::Array(items) => items.iter().any(holds_any),
        Value::Object(fields) => fields.iter().any(|(key, value)| is_changed(key) || holds_any(value)),
        _ => false,
    }
}

/// Fills in text by text, where that is what the whole YAML would come to; `None` where the whole is to be looked at.
fn each(value: &mut Value, filler: &Filler<'_, '_>) -> Option<()> {
    match value {
        Value::String(text) if is_changed(text) => *value = one(text, filler)?,
        Value::Array(items) => items.iter_mut().try_for_each(|item| each(item, filler))?,
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if is_changed(key) {
                    return None;
                }
                each(value, filler)?;
            }
        }
        _ => {}
    }
    Some(())
}

/// Fills in one text, which then is read as it was written before.
fn one(text: &str, filler: &Filler<'_, '_>) -> Option<Value> {
    match style(text)? {
        Style::Plain => {
            let own = parts(text, |c| c == ' ', filler)?;
            let is_same = own.is_empty() || Shape::of(&own).is_plain;
            (is_same && !is_infinite(&own)).then(|| plain_value(&own, Schema::Kustomization))
        }
        Style::Single => parts(text, |c| matches!(c, ' ' | '\''), filler).map(Value::String),
        Style::Double => parts(text, |c| c == ' ' || is_escaped(c), filler).map(Value::String),
        was @ Style::Literal(_) => {
            let line = |line| match is_changed(line) {
                true => Some(Cow::Owned(filler.fill(line).ok()?.text)),
                false => Some(Cow::Borrowed(line)),
            };
            let lines: Option<Vec<Cow<'_, str>>> = text.split('\n').map(line).collect();
            let own = lines?.join("\n");
            (style(&own) == Some(was)).then_some(Value::String(own))
        }
    }
}

/// Fills in a text part by part: breaks of lines and escapes may stand between two, so that they would be in what spans both.
/// What is filled in may need no escape, and not begin or end with a space, or go.
fn parts(text: &str, is_between: impl Fn(char) -> bool, filler: &Filler<'_, '_>) -> Option<String> {
    let mut done = String::with_capacity(text.len());
    for part in text.split_inclusive(&is_between) {
        let whole = part.trim_end_matches(&is_between);
        if !is_changed(whole) {
            done += part;
            continue;
        }
        let own = filler.fill(whole).ok()?.text;
        let is_edged = own.is_empty() && whole != text || own.starts_with(' ') || own.ends_with(' ');
        if is_edged || own.contains(['\'', '"', '\\']) || !Shape::of(&own).is_single {
            return None;
        }
        done += &own;
        done += &part[whole.len()..];
    }
    Some(done)
}

/// Fills in the YAML of an object.
fn whole(object: &Value, filler: &Filler<'_, '_>) -> Result<Option<Value>, Unfilled> {
    let Some(text) = emit(object) else { return Ok(None) };
    let filled = filler.fill(&text).map_err(Unfilled::Envsubst)?;
    let failed = |failure: Unfilled| if filled.is_known { Err(failure) } else { Ok(None) };
    let documents = match read_documents(&filled.text) {
        Ok(documents) => documents,
        Err(error) => return failed(Unfilled::Yaml(error.message)),
    };
    let Some(root) = documents.first().map(|document| &document.root) else {
        return failed(Unfilled::NoObject);
    };
    if let Some(text) = beyond_json(root) {
        return failed(Unfilled::NoJson(text));
    }
    match root.to_json_as(Schema::Kustomization) {
        own @ Value::Object(_) => Ok(Some(own)),
        _ => failed(Unfilled::NoObject),
    }
}

/// Finds a number or a key in what is written that JSON does not have (sigs.k8s.io/yaml, `convertToJSONableObject`).
fn beyond_json(node: &Node) -> Option<String> {
    let plain = node.as_plain().filter(|text| is_infinite(text));
    let is_key =
        |(key, _): &&(Node, Node)| key.is_null() || !key.items().is_empty() || !key.entries().is_empty();
    let key = || node.entries().iter().find(is_key).map(|_| String::from("null"));
    let below =
        || node.items().iter().chain(node.entries().iter().map(|(_, value)| value)).find_map(beyond_json);
    plain.map(str::to_owned).or_else(key).or_else(below)
}

/// Puts `*` in the place of each variable.
pub fn pattern(path: &str) -> String {
    let (mut pattern, mut rest) = (String::new(), path);
    while let Some((before, after)) = rest.split_once("${") {
        pattern = pattern + before + "*";
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    pattern + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_get_the_values_that_git_tells() {
        let live = |name: &str, post_build: Value| {
            let object =
                json!({ "kind": "ConfigMap", "metadata": { "name": name, "namespace": "of-${APP}" } });
            let id = live_id(&post_build, &object);
            (id.name, id.namespace)
        };
        let of = |name: &str| {
            live(name, json!({ "substitute": { "APP": "web", "TWO": "a\nb", "NO": "", "N": 3 } })).0
        };
        for (written, expected) in [
            ("${APP}-backup", "web-backup"),
            ("${APP}-${N}", "web-3"),
            ("${APP:=x}-${APP:-y}", "web-web"),
            ("${TWO}", "ab"),
            ("${OTHER:=x}-${OTHER=y}-backup", "x-y-backup"),
            ("${NO:-x}", "x"),
            ("${OTHER:-${APP}}", "web"),
            ("${OTHER:=x-${NO:-${APP}}-y}-backup", "x-web-y-backup"),
            ("${OTHER:-${APP}-${UNKNOWN}}", "${OTHER:-${APP}-${UNKNOWN}}"),
            ("${APP:=${OTHER}}-backup", "web-backup"),
            ("${APP^^}-${APP:0:1}-${#APP}", "WEB-w-3"),
            ("${N}", "3"),
            ("$${APP}-$APP", "${APP}-$APP"),
            ("${APP:=${OTHER}}-${APP}", "web-web"),
            // Flux before 2.9 leaves it empty, and fails since.
            ("${OTHER}-backup", "${OTHER}-backup"),
            ("${OTHER^}-${APP}", "${OTHER^}-web"),
            ("${APP", "${APP"),
            ("plain", "plain"),
        ] {
            assert_eq!(of(written), expected, "{written}");
        }
        assert_eq!(live("a", json!({ "substitute": { "APP": "web" } })).1, "of-web");
        // The cluster may know another value.
        let from = json!({ "substitute": { "APP": "web" }, "substituteFrom": [{ "kind": "ConfigMap", "name": "c" }] });
        assert_eq!(live("${APP}-${OTHER:=x}", from.clone()).0, "web-${OTHER:=x}");
        assert_eq!(live("${OTHER:-${APP}}", from).0, "${OTHER:-${APP}}");
        assert_eq!(live("${APP:=x}", json!({ "substitute": {} })).0, "${APP:=x}");
        assert_eq!(live("${APP:=x}", json!(null)).0, "${APP:=x}");
        let always = json!({ "substituteStrategy": "Always" });
        assert_eq!(live("${APP:=x}-${OTHER}", always.clone()).0, "x-${OTHER}");
        let from =
            json!({ "substituteStrategy": "Always", "substituteFrom": [{ "kind": "Secret", "name": "c" }] });
        assert_eq!(live("${APP:=x}", from).0, "${APP:=x}");
        let mut object = json!({ "data": { "a": "${APP:-${B:=yy}}" } });
        substitute(&always, &mut object);
        assert_eq!(object, json!({ "data": { "a": "yy" } }));
        let deep = "${OTHER:-".repeat(100_000) + &"}".repeat(100_000);
        assert_eq!(of(&deep), deep);
        let off = json!({ "metadata": { "name": "${APP}", "annotations": { SUBSTITUTE: "disabled" } } });
        assert_eq!(live_id(&json!({ "substitute": { "APP": "web" } }), &off).name, "${APP}");
    }

    /// The whole of it is compared with the real thing in `tests/envsubst.rs`.
    #[test]
    fn the_yaml_with_the_values_is_read_anew() {
        let of = |values: Value, text: &str| {
            let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": text } });
            let filled = substituted(&json!({ "substitute": values }), &object);
            filled.map(|own| own.unwrap_or(object)["data"]["a"].clone()).map_err(|error| error.to_string())
        };
        let value = |value: &str| of(json!({ "V": value }), "${V}");
        assert_eq!(value("2"), Ok(json!(2)));
        assert_eq!(value("yes"), Ok(json!(true)));
        assert_eq!(value(""), Ok(json!(null)));
        assert_eq!(value("{a: b}"), Ok(json!({ "a": "b" })));
        assert_eq!(of(json!({ "V": "2" }), "${V}: x"), Ok(json!("2: x")));
        assert_eq!(of(json!({ "V": "2" }), "$$V $${V}"), Ok(json!("$V ${V}")));
        for (text, error) in [
            ("${V", "missing closing brace"),
            ("${a.b}", "missing closing brace"),
            ("${V-x}", "missing closing brace"),
            ("${}", "unable to parse variable name"),
        ] {
            assert_eq!(of(json!({ "V": "2" }), text), Err(error.to_owned()), "{text}");
        }
        for breaking in ["a: b", "*", "[", "- a"] {
            let error = value(breaking).unwrap_err();
            assert!(error.starts_with("the values break its YAML: "), "{breaking}: {error}");
        }
        assert_eq!(value(".inf").unwrap_err(), "JSON has no .inf in its place");
        assert_eq!(of(json!({ "a-b": "" }), "x"), Err("\"a-b\" is no name of a variable".to_owned()));
        // Without any value nothing is done.
        assert_eq!(of(json!({}), "$${V} ${V"), Ok(json!("$${V} ${V")));
    }

    #[test]
    fn what_depends_on_the_cluster_stays() {
        let post_build =
            json!({ "substitute": { "V": "a" }, "substituteFrom": [{ "kind": "Secret", "name": "s" }] });
        let object = json!({ "kind": "A", "data": { "a": "${V}-${W}-${W:-x}-${#W}", "b": "${V:-${W}}", "c": "${W:-${V}}" } });
        let filled = substituted(&post_build, &object).unwrap().unwrap();
        assert_eq!(filled["data"], json!({ "a": "a-${W}-${W:-x}-${#W}", "b": "a", "c": "${W:-${V}}" }));
        // Whatever the values are, that fails.
        assert!(substituted(&post_build, &json!({ "data": "${W" })).is_err());
        let quoted =
            json!({ "substitute": { "V": "'" }, "substituteFrom": [{ "kind": "Secret", "name": "s" }] });
        assert_eq!(substituted(&quoted, &json!({ "a": "${V}${W}" })), Ok(None));
    }

    #[test]
    fn a_variable_stands_for_any_text() {
        for (path, expected) in [
            ("apps/${site}", "apps/*"),
            ("${root:=apps}/a${b}c", "*/a*c"),
            ("apps/north", "apps/north"),
            ("apps/${site", "apps/*"),
        ] {
            assert_eq!(pattern(path), expected);
        }
    }
}
