//! How two states of an object differ, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::repo::manifest::ObjectId;
use crate::repo::secret::{
    COPY, NESTED, OPEN, changes_values, holds_values, is_cipher, is_encrypted, is_of_secret, is_value,
    nests_secret,
};

/// The fields by which items of lists are told apart, the first that tells all of them (Kubernetes API, `patchMergeKey`).
const KEYS: [&str; 9] =
    ["name", "key", "mountPath", "devicePath", "containerPort", "port", "id", "ip", "topologyKey"];

/// One field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Where it is, such as `spec.template.spec.containers[name=web].image`.
    pub path: String,
    /// Its value before; `None` where there was none.
    pub before: Option<Value>,
    /// Its value after; `None` where there is none.
    pub after: Option<Value>,
}

/// Returns the fields in which two objects differ, in the order of their names.
///
/// Items of a list are matched by name or by another key where all have one, otherwise by position; where only their
/// order differs, the list itself is the field. A field that only one of them has is told as a whole.
pub fn fields(before: &Value, after: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    compare("", Some(before), Some(after), &mut found);
    found
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Field>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for name in names {
                compare(&below(path, name), before.get(name), after.get(name), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => lists(path, before, after, found),
        (before, after) => {
            found.push(Field { path: path.to_owned(), before: before.cloned(), after: after.cloned() });
        }
    }
}

fn lists(path: &str, before: &[Value], after: &[Value], found: &mut Vec<Field>) {
    let start = found.len();
    match KEYS.into_iter().find_map(|key| Some((key, keyed(before, key)?, keyed(after, key)?))) {
        Some((key, olds, news)) => {
            let is_new: BTreeSet<&str> = news.iter().map(|(name, _)| name.as_str()).collect();
            for (name, item) in olds.iter().filter(|(name, _)| !is_new.contains(name.as_str())) {
                compare(&format!("{path}[{key}={name}]"), Some(item), None, found);
            }
            let olds: BTreeMap<&str, &Value> =
                olds.iter().map(|(name, item)| (name.as_str(), *item)).collect();
            for (name, item) in &news {
                let old = olds.get(name.as_str()).copied();
                compare(&format!("{path}[{key}={name}]"), old, Some(item), found);
            }
        }
        None if before.iter().chain(after).any(Value::is_object) => {
            for at in 0..before.len().max(after.len()) {
                compare(&format!("{path}[{at}]"), before.get(at), after.get(at), found);
            }
        }
        None => {}
    }
    if found.len() == start {
        let whole = |items: &[Value]| Some(Value::Array(items.to_vec()));
        found.push(Field { path: path.to_owned(), before: whole(before), after: whole(after) });
    }
}

/// Returns the items with what a key says; `None` unless each says something else.
fn keyed<'v>(items: &'v [Value], key: &str) -> Option<Vec<(String, &'v Value)>> {
    let mut seen = BTreeSet::new();
    let name = |item: &Value| match item.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    items
        .iter()
        .map(|item| name(item).filter(|name| seen.insert(name.clone())).map(|name| (name, item)))
        .collect()
}

fn below(path: &str, name: &str) -> String {
    let is_plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match (path.is_empty(), is_plain) {
        (true, true) => name.to_owned(),
        (false, true) => format!("{path}.{name}"),
        (_, false) => format!("{path}[{}]", Value::from(name)),
    }
}

/// Replaces what nobody but the cluster may see: values of Secrets, and all that SOPS keeps.
///
/// A value becomes `*** (before)` or `*** (after)`; that a key is there is told. Where an object holds a Secret, or a patch of
/// one, before or after, no value of either is told.
pub fn masked(before: &Value, object: &Value, fields: Vec<Field>) -> Vec<Field> {
    if is_encrypted(object) {
        let stars = |word| Some(Value::from(format!("*** ({word})")));
        return vec![Field {
            path: "(encrypted by SOPS)".to_owned(),
            before: stars("before"),
            after: stars("after"),
        }];
    }
    let id = ObjectId::of(object);
    let nests = nests_secret(before) || nests_secret(object);
    fields
        .into_iter()
        .map(|field| {
            let of_secret = |value: &Value| value.as_str().is_none_or(changes_values);
            let is_patch = || [&field.before, &field.after].into_iter().flatten().any(of_secret);
            let is_hidden = is_value(&id, &field.path)
                || field.path.split(['.', '[']).any(|name| match name {
                    "stringData" => true,
                    "data" => nests,
                    "patch" => nests && is_patch(),
                    _ => false,
                });
            let mask = |value: Option<Value>, word| value.map(|value| hidden(value, is_hidden, word));
            Field { before: mask(field.before, "before"), after: mask(field.after, "after"), ..field }
        })
        .collect()
}

/// Returns an object that may be shown whole.
pub fn shown(object: &Value, word: &str) -> Value {
    let is_sops = is_encrypted(object);
    let id = ObjectId::of(object);
    let Value::Object(object) = object else { return Value::Null };
    let fields = object.iter().filter(|(name, _)| *name != "sops").map(|(name, value)| {
        let hide = is_sops && !OPEN.contains(&name.as_str()) || is_value(&id, name);
        (name.clone(), hidden(value.clone(), hide, word))
    });
    Value::Object(fields.collect())
}

fn hidden(value: Value, hide: bool, word: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let nests = is_of_secret(&fields);
            let fields = fields.into_iter().map(|(name, value)| {
                let hide = hide || name == COPY || nests && NESTED.contains(&name.as_str());
                (name, hidden(value, hide, word))
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(|item| hidden(item, hide, word)).collect(),
        Value::String(text) if is_cipher(&text) || holds_values(&text) => {
            Value::from(format!("*** ({word})"))
        }
        Value::Null if hide => Value::Null,
        _ if hide => Value::from(format!("*** ({word})")),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(before: &Value, after: &Value) -> Vec<String> {
        let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "-".to_owned(), Value::to_string);
        let line = |field: &Field| format!("{} {} {}", field.path, value(&field.before), value(&field.after));
        fields(before, after).iter().map(line).collect()
    }

    #[test]
    fn items_are_matched_by_name_and_not_by_position() {
        let of = |containers: Value| json!({ "spec": { "containers": containers } });
        assert_eq!(
            told(
                &of(json!([{ "name": "a", "image": "x:1" }, { "name": "b", "image": "y" }])),
                &of(json!([{ "name": "c", "image": "z" }, { "name": "a", "image": "x:2" }])),
            ),
            [
                "spec.containers[name=b] {\"image\":\"y\",\"name\":\"b\"} -",
                "spec.containers[name=c] - {\"image\":\"z\",\"name\":\"c\"}",
                "spec.containers[name=a].image \"x:1\" \"x:2\"",
            ]
        );
        assert_eq!(
            told(
                &of(json!([{ "name": "a" }, { "name": "b" }])),
                &of(json!([{ "name": "b" }, { "name": "a" }]))
            ),
            ["spec.containers [{\"name\":\"a\"},{\"name\":\"b\"}] [{\"name\":\"b\"},{\"name\":\"a\"}]"]
        );
    }

    #[test]
    fn lists_without_a_key_are_told_by_position_or_whole() {
        assert_eq!(
            told(&json!({ "args": ["a", "b"] }), &json!({ "args": ["b"] })),
            ["args [\"a\",\"b\"] [\"b\"]"]
        );
        assert_eq!(
            told(&json!({ "rules": [{ "verbs": ["get"] }] }), &json!({ "rules": [{ "verbs": ["*"] }] })),
            ["rules[0].verbs [\"get\"] [\"*\"]"]
        );
    }

    #[test]
    fn keys_that_are_no_plain_words_are_quoted() {
        let of = |value: &str| json!({ "metadata": { "annotations": { "a.b/c": value } } });
        assert_eq!(told(&of("1"), &of("2")), ["metadata.annotations[\"a.b/c\"] \"1\" \"2\""]);
        assert_eq!(told(&json!({}), &json!({ "a": null })), ["a - null"]);
    }

    #[test]
    fn values_of_secrets_in_other_objects_are_never_told() {
        let patch = |value: &str| json!({ "patch": format!("kind: Secret\nstringData: {{ a: {value} }}\n") });
        let target = |value: &str| json!({ "patch": format!("- {{ op: add, path: /data/a, value: {value} }}"), "target": { "kind": "Secret" } });
        let whole = |value: &str| json!({ "kind": "Secret", "data": { "a": value } });
        let named = |value: &str| json!({ "patch": format!("- op: add\n  path: /stringData/a\n  value: {value}\n"), "target": { "name": "a" } });
        // One of the two no longer says that it is of a Secret.
        let changing = |value: &str| {
            let kind = if value == "bmV3" { "ConfigMap" } else { "Secret|ConfigMap" };
            json!({ "patch": format!("- {{ op: add, path: /data/a, value: {value} }}"), "target": { "kind": kind } })
        };
        let old = |value: &str| json!({ "spec": { "patches": [changing(value)] } });
        let text = format!("{:?}", masked(&old("b2xk"), &old("bmV3"), fields(&old("b2xk"), &old("bmV3"))));
        assert!(!text.contains("b2xk") && !text.contains("bmV3"), "{text}");
        for of in [&patch as &dyn Fn(&str) -> Value, &target, &whole, &named] {
            let object = |value: &str| json!({ "kind": "Kustomization", "spec": { "patches": [of(value)] } });
            let [none, old, new] = [json!({}), object("b2xk"), object("bmV3")];
            for (old, new) in [(&none, &new), (&old, &new), (&old, &none)] {
                let text = format!("{:?}{}", masked(old, new, fields(old, new)), shown(new, "after"));
                assert!(!text.contains("b2xk") && !text.contains("bmV3"), "{text}");
            }
        }
    }

    #[test]
    fn values_of_secrets_are_never_told() {
        let secret = |value: &str| {
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "data": { "k": value },
                "stringData": { "deep": [value] } })
        };
        let (old, new) = (secret("b2xk"), secret("bmV3"));
        let found = masked(&old, &new, fields(&old, &new));
        let text = format!("{found:?}{}", shown(&new, "after"));
        assert!(!text.contains("b2xk") && !text.contains("bmV3"), "{text}");
        assert!(text.contains("*** (before)") && text.contains("*** (after)"), "{text}");
        let applied = |value: &str| {
            let mut secret = secret("b2xk");
            secret["immutable"] = true.into();
            secret["metadata"]["annotations"] = json!({ COPY: format!("{{\"data\":\"{value}\"}}") });
            secret
        };
        for (old, new) in [(secret("b2xk"), applied("bmV3")), (applied("b2xk"), applied("bmV3"))] {
            let text = format!("{:?}{}", masked(&old, &new, fields(&old, &new)), shown(&new, "after"));
            assert!(!text.contains("b2xk") && !text.contains("bmV3"), "{text}");
            assert!(text.contains("\"immutable\":true"), "{text}");
        }
        let misspelt = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "Data": { "k": "bmV3" } });
        let text = format!(
            "{:?}{}",
            masked(&json!({}), &misspelt, fields(&json!({}), &misspelt)),
            shown(&misspelt, "after")
        );
        assert!(!text.contains("bmV3"), "{text}");
        let sops =
            json!({ "kind": "ConfigMap", "data": { "k": "ENC[AES256_GCM,data:x]" }, "sops": { "mac": "m" } });
        let text =
            format!("{:?}{}", masked(&json!({}), &sops, fields(&json!({}), &sops)), shown(&sops, "after"));
        assert!(!text.contains("AES256") && !text.contains("mac"), "{text}");
    }
}
