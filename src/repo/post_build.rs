//! What the `postBuild` of a Flux Kustomization puts into the names of objects.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::repo::manifest::ObjectId;

/// The label or annotation that keeps an object out of substitution (`fluxcd/pkg/kustomize`, `varsub.go`).
pub const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// How many defaults may stand within each other; what is deeper stays as it is written.
const DEEPEST: usize = 16;

/// Tells whether an object says that no variable of it is to be replaced.
pub fn is_kept_out(object: &Value) -> bool {
    ["annotations", "labels"].iter().any(|map| object["metadata"][map][SUBSTITUTE] == "disabled")
}

/// Gives the id of an object with the values that a `spec.postBuild` puts into it.
///
/// What `substituteFrom` brings is known to the cluster alone: it stays as it is written, `${…}`. So does
/// whatever is more than a variable with or without a default.
pub fn live_id(post_build: &Value, object: &Value) -> ObjectId {
    let mut id = ObjectId::of(object);
    let Some(values) = values(post_build).filter(|_| !is_kept_out(object)) else { return id };
    let is_all = post_build["substituteFrom"].as_array().is_none_or(Vec::is_empty);
    for text in [&mut id.name, &mut id.namespace] {
        *text = substituted(text, &values, is_all);
    }
    id
}

/// Tells whether a `spec.postBuild` puts anything into objects as far as Git says.
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

/// Puts the values that a `spec.postBuild` tells into every text of an object; see [`live_id`].
pub fn substitute(post_build: &Value, object: &mut Value) {
    let Some(values) = values(post_build).filter(|_| !is_kept_out(object)) else { return };
    let is_all = post_build["substituteFrom"].as_array().is_none_or(Vec::is_empty);
    let mut queue = vec![object];
    while let Some(next) = queue.pop() {
        match next {
            Value::String(text) => *text = substituted(text, &values, is_all),
            Value::Array(items) => queue.extend(items),
            Value::Object(fields) => queue.extend(fields.values_mut()),
            _ => {}
        }
    }
}

/// Puts values in place of variables (fluxcd/pkg/envsubst, and `kustomize_varsub.go`, which takes line breaks out of
/// values). Defaults count where the values are all that there is.
fn substituted(text: &str, values: &Map<String, Value>, is_all: bool) -> String {
    within(text, values, is_all, DEEPEST)
}

/// As [`substituted`], in defaults that hold variables, `depth` of them within each other at most.
fn within(text: &str, values: &Map<String, Value>, is_all: bool, depth: usize) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some(end) = closing(after) else { break };
        let expression = &after[..end];
        let ends = expression.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(end);
        let (name, tail) = expression.split_at(ends);
        let default = [":=", ":-", "="].iter().find_map(|key| tail.strip_prefix(key));
        let default = default.map(|default| match depth.checked_sub(1) {
            Some(depth) => within(default, values, is_all, depth),
            None => default.to_owned(),
        });
        let default = default.filter(|default| !default.contains('$'));
        let value = values.get(name).filter(|_| tail.is_empty() || default.is_some());
        let value = value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let value = value.map(|value| value.replace('\n', "")).filter(|value| !value.is_empty());
        let value = value.or_else(|| default.filter(|_| is_all));
        done += before;
        done += &value.unwrap_or_else(|| format!("${{{expression}}}"));
        rest = &after[end + 1..];
    }
    done + rest
}

/// Gives the byte of the brace that ends a variable of which the beginning was read.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
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
            // What else there may be is left as it stands.
            ("${OTHER}-backup", "${OTHER}-backup"),
            ("${APP:=${OTHER}}-backup", "${APP:=${OTHER}}-backup"),
            ("${APP^^}-backup", "${APP^^}-backup"),
            ("${OTHER}-${APP}", "${OTHER}-web"),
            ("${APP:=${OTHER}}-${APP}", "${APP:=${OTHER}}-web"),
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
        let mut object = json!({ "data": { "a": "${APP:-${B:=y}}" } });
        substitute(&always, &mut object);
        assert_eq!(object, json!({ "data": { "a": "y" } }));
        let deep = "${OTHER:-".repeat(100_000) + &"}".repeat(100_000);
        assert_eq!(of(&deep), deep);
        let off = json!({ "metadata": { "name": "${APP}", "annotations": { SUBSTITUTE: "disabled" } } });
        assert_eq!(live_id(&json!({ "substitute": { "APP": "web" } }), &off).name, "${APP}");
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
