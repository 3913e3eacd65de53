//! The JSON Schema of `windows.yaml`, for editors.

use serde_json::{Map as Object, Value as Json, json};

use crate::spec::keys::{self, Map, Shape, Table};
use crate::spec::names::TextRule;

/// The file of the JSON Schema, beside the spec.
pub const SCHEMA_FILE: &str = "windows.schema.json";

/// Returns the JSON Schema (draft 2020-12) of the spec.
///
/// It is made of the table that the parser reads by, so that an editor accepts a key exactly when
/// [`parse`](crate::spec::parse()) does. What needs more than one value to judge, such as a reference
/// to a window, and what is lost when YAML becomes JSON, such as a missing quote, is the parser's
/// alone.
pub fn schema() -> Json {
    let mut schema = table(&keys::SPEC);
    if let Json::Object(object) = &mut schema {
        object.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        object.insert("title".into(), "windows.yaml of gitops-windows".into());
        object.insert("$defs".into(), json!({ "window": table(&keys::WINDOW) }));
    }
    schema
}

fn shape(shape: &Shape) -> Json {
    match shape {
        Shape::Text(rule) => text(*rule),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Table(inner) if inner.about == keys::WINDOW.about => window(),
        Shape::Table(inner) => table(inner),
        Shape::Map(inner) => map(inner),
        Shape::List(inner) => {
            let mut list = json!({ "type": ["array", "null"], "items": self::shape(inner) });
            if matches!(inner, Shape::Table(table) if table.about == keys::RULE.about) {
                // The last word: a rule without condition.
                list["contains"] = json!({ "type": "object", "required": ["type"], "maxProperties": 1 });
            }
            list
        }
        Shape::OneOrMore(inner) => {
            let one = self::shape(inner);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Shape::Chosen(inner, other) => json!({ "anyOf": [self::shape(inner), table(other)] }),
        Shape::Window => json!({ "anyOf": [text(TextRule::Label), window()] }),
    }
}

fn window() -> Json {
    json!({ "$ref": "#/$defs/window" })
}

fn text(rule: TextRule) -> Json {
    match rule {
        TextRule::OneOf(words) => json!({ "enum": words }),
        _ => match rule.pattern() {
            Some(pattern) => json!({ "type": "string", "pattern": pattern }),
            None => json!({ "type": "string" }),
        },
    }
}

fn object_or_null(null: bool) -> Json {
    if null { json!(["object", "null"]) } else { json!("object") }
}

fn map(map: &Map) -> Json {
    let mut schema = json!({
        "type": object_or_null(!map.required),
        "propertyNames": text(map.rule),
        "additionalProperties": shape(&map.values),
    });
    if map.required {
        schema["minProperties"] = 1.into();
    }
    schema
}

fn table(table: &Table) -> Json {
    let mut properties = Object::new();
    for key in table.keys {
        let mut value = shape(&key.shape);
        value["description"] = key.about.into();
        properties.insert(key.name.into(), value);
    }
    let mut schema = json!({
        "type": object_or_null(table.may_be_null),
        "properties": properties,
        "additionalProperties": false,
    });
    let required: Vec<&str> = table.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if let Some(both) = table.exclusive {
        // `required` says nothing of what is no object, so it holds for an absent value.
        schema["not"] = json!({ "type": "object", "required": both });
    }
    if !table.forms.is_empty() {
        schema["oneOf"] = table.forms.iter().map(|form| one_form(table, form)).collect();
    }
    schema
}

/// Demands the keys of one form and forbids those of the others.
fn one_form(table: &Table, form: &[&str]) -> Json {
    let mut others: Vec<&str> = table.forms.iter().flat_map(|form| form.iter().copied()).collect();
    others.retain(|key| !form.contains(key));
    others.sort_unstable();
    others.dedup();
    let others: Vec<Json> = others.iter().map(|key| json!({ "required": [key] })).collect();
    json!({ "required": form, "not": { "anyOf": others } })
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;
    use crate::spec::tests::{HEAD, WHOLE, read};

    /// Judges a spec by the schema, as an editor would: YAML 1.2 to JSON first.
    fn by_schema(text: &str) -> bool {
        let value: Json = serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();
        VALIDATOR.get_or_init(|| jsonschema::validator_for(&schema()).unwrap()).is_valid(&value)
    }

    #[test]
    fn the_schema_is_a_schema() {
        assert!(jsonschema::meta::is_valid(&schema()));
    }

    #[test]
    fn both_accept_the_same_specs() {
        let with = |rest: &str| {
            format!(
                "{HEAD}types: {{ rt: {{}}, rw: {{ window: w }} }}\n\
                 windows: {{ w: {{ timeZone: UTC, from: Mon 08:00, to: Thu 17:00 }} }}\n{rest}"
            )
        };
        for (accepted, rest) in [
            (true, ""),
            (true, "timeZone: Europe/Berlin"),
            (false, "timeZone: ''"),
            (false, "timeZone: [UTC]"),
            (
                true,
                "freezes: { a: { from: 2026-12-18, to: 2026-12-20T12:00, timeZone: UTC, reason: x, types: rw } }\n\
                    gate: { every: 5m, through: 2027-12-31 }",
            ),
            (true, "freezes:\noverrides:\nclusters: { a: { labels: { region: eu } }, b: { labels: } }"),
            (false, "clusters: { a: { labels: { region: [eu] } } }"),
            (false, "freezes: { a: { from: 2026-12-18, to: 2026-12-20 } }"),
            (false, "freezes: { a: { from: 18.12.2026, to: 2026-12-20, reason: x } }"),
            (
                false,
                "freezes: { a: { from: 2026-12-18, to: 2026-12-20, reason: x, clusters: a, labels: { b: c } } }",
            ),
            (
                true,
                "freezes: { a: { from: 2026-12-18, to: 2026-12-20, reason: x, clusters: { labels: { b: c } } } }\n\
                    clusters: { a: { labels: { b: c } } }\ngate: { every: 5m, through: 2027-12-31 }",
            ),
            (
                false,
                "freezes: { a: { from: 2026-12-18, to: 2026-12-20, reason: x, clusters: { names: a } } }",
            ),
            (false, "freezes: { a: { from: 2026-12-18, to: 2026-12-20, reason: x, clusters: {} } }"),
            (false, "overrides: [{ cluster: a, type: rw, from: 2026-12-18T10:00, reason: x }]"),
            (false, "gate: { every: 7m, through: 2027-12-31 }"),
            (false, "gate: { every: 5m, through: soon }"),
            (true, "gate: { every: 5m, through: 2027-12-31, settle: 10m }"),
            (false, "gate: { every: 5m, through: 2027-12-31, settle: '' }"),
            (true, "waves: { order: [a, b], by: wave, offset: 30m }\nstagger: 10m"),
            (false, "waves: { order: [], by: wave, offset: 30m }"),
            (false, "waves: { order: [a, b], offset: 30m }"),
            (false, "waves:"),
            (false, "stagger: ''"),
            (true, "clusters:\nrules:\nflux:\ngate:\nlayout:\n"),
            (true, "clusters: { a: , b: {}, C_1.x: { path: ./x/ }, d: { paths: x }, e: { paths: [x, z] } }"),
            (false, "clusters: { a: { path: x, paths: z } }"),
            (false, "clusters: { a: { path: [x] } }"),
            (false, "clusters: { a: { path: ../x } }"),
            (false, "clusters: { a: { paths: [] } }"),
            (false, "clusters: { a..b: {} }"),
            (false, "clusters: { a: 1 }"),
            (false, "clusters: []"),
            (true, "clusters: { a: { windows: { rw: w } } }"),
            (
                true,
                "clusters: { a: { windows: { rw: [w, { timeZone: UTC, open: 0 8 * * MON, for: 4h }] } } }",
            ),
            (true, "clusters: { a: { windows: , gate: { enabled: false } } }"),
            (false, "clusters: { a: { windows: { rw: [] } } }"),
            (false, "clusters: { a: { windows: { rw: { open: 0 8 * * MON } } } }"),
            (false, "clusters: { a: { windows: { rw: { open: 0 8 * * MON, for: 4h, to: Mon 08:00 } } } }"),
            (
                false,
                "clusters: { a: { windows: { rw: { open: 0 8 * * MON, for: 4h, close: 0 9 * * MON } } } }",
            ),
            (false, "clusters: { a: { windows: { rw: } } }"),
            (false, "clusters: { a: { gate: { enabled: 'true' } } }"),
            (false, "clusters: { a: { gate: { image: x } } }"),
            (true, "rules: [{ kind: A, apiGroup: '', label: a/b=c, path: '**', type: rt }, { type: rw }]"),
            (false, "rules: []"),
            (false, "rules: [{ kind: A, type: rt }]"),
            (false, "rules: [{ kind: A* , type: rt }, { type: rw }]"),
            (false, "rules: [{ type: rw }, { kind: A }]"),
            (false, "rules: [{ type: rw }, ~]"),
            (false, "rules: { type: rw }"),
            (true, "flux: { namespace: a, source: { kind: OCIRepository, name: a.b } }"),
            (true, "flux: { source: }"),
            (false, "flux: { source: { kind: HelmRepository } }"),
            (false, "flux: { namespace: a.b }"),
            (false, "flux: { namespace: 1 }"),
            (true, "gate: { image: a, runner: flux, enabled: true, serviceAccount: x, namespace: z }"),
            (false, "gate: { image: a b }"),
            (false, "gate: { runner: sh }"),
            (false, "gate: { enabled: 1 }"),
            (false, "gate: { image: }"),
            (true, "layout: { gate: x/y, app: '{path}/sets-{type}', openJobFile: '{job}.yml' }"),
            (false, "layout: { gate: '{path}' }"),
            (false, "layout: { app: '{path}' }"),
            (false, "layout: { app: '../{path}/{type}' }"),
            (false, "layout: { openJob: Open }"),
            (false, "layout: { openJobFile: a/b.yaml }"),
            (false, "layout: { openJobFile: kustomization.yaml }"),
            (false, "layout: { kustomisation: a }"),
            (false, "other: 1"),
        ] {
            let text = with(rest);
            let parsed = read(&text);
            assert_eq!(parsed.is_ok(), accepted, "parser: {rest}\n{parsed:#?}");
            assert_eq!(by_schema(&text), accepted, "schema: {rest}");
        }
        for rest in [
            "",
            "types: {}\n",
            "types:\n",
            "types: []\n",
            "types: { Rt: {} }\n",
            "types: { rt: { window: [] } }\n",
        ] {
            let text = format!("{HEAD}{rest}");
            assert!(read(&text).is_err() && !by_schema(&text), "{rest}");
        }
        let text = "types: { rt: {} }\n";
        assert!(read(text).is_err() && !by_schema(text));
    }

    #[test]
    fn what_the_parser_accepts_the_schema_accepts() {
        let mut accepted = 0;
        for (index, at) in (0..WHOLE.len()).step_by(4).enumerate() {
            let mut text = WHOLE.to_owned();
            // Each place is damaged in one of these ways, or cut out.
            let damage = ["x", "1", " ", ":", "*", "", "-", "'", "\n"][index % 9];
            text.replace_range(at..at + 1, damage);
            if read(&text).is_ok() {
                accepted += 1;
                assert!(by_schema(&text), "{text}");
            }
        }
        assert!(accepted > 30, "{accepted}");
    }

    /// Every key of every table of the schema.
    fn walk(schema: &Json, found: &mut Vec<String>) {
        match schema {
            Json::Object(object) => {
                if let Some(Json::Object(properties)) = object.get("properties") {
                    found.extend(properties.keys().cloned());
                }
                object.values().for_each(|value| walk(value, found));
            }
            Json::Array(items) => items.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_key_of_the_parser_is_in_the_schema_and_the_reverse() {
        let mut in_schema = Vec::new();
        walk(&schema(), &mut in_schema);
        let tables = [
            &keys::SPEC,
            &keys::CHANGE_TYPE,
            &keys::WINDOW,
            &keys::CLUSTER,
            &keys::CLUSTER_GATE,
            &keys::FREEZE,
            &keys::SELECTED,
            &keys::OVERRIDE,
            &keys::WAVES,
            &keys::RULE,
            &keys::FLUX,
            &keys::SOURCE,
            &keys::GATE,
            &keys::PROVIDER,
            &keys::LAYOUT,
            &keys::CHECK,
            &keys::IGNORE,
            &keys::ALERTS,
        ];
        let mut in_parser: Vec<String> =
            tables.iter().flat_map(|table| table.keys).map(|key| key.name.to_owned()).collect();
        in_parser.sort();
        in_schema.sort();
        assert_eq!(in_schema, in_parser);
    }

    fn rules() -> Vec<TextRule> {
        let mut rules = vec![
            TextRule::Label,
            TextRule::Cluster,
            TextRule::Object,
            TextRule::Image,
            TextRule::Minor,
            TextRule::Kind,
            TextRule::Group,
            TextRule::Wildcard,
            TextRule::KeyValue,
            TextRule::Glob,
            TextRule::Folder,
            TextRule::Time,
            TextRule::Clock,
            TextRule::Moment,
            TextRule::Code,
            TextRule::Sentence,
        ];
        rules.extend(keys::LAYOUT.keys.iter().filter_map(|key| match key.shape {
            Shape::Text(rule) => Some(rule),
            _ => None,
        }));
        rules
    }

    fn agree(text_value: &str) {
        static VALIDATORS: OnceLock<Vec<(TextRule, jsonschema::Validator)>> = OnceLock::new();
        let validators = VALIDATORS.get_or_init(|| {
            rules().into_iter().map(|rule| (rule, jsonschema::validator_for(&text(rule)).unwrap())).collect()
        });
        for (rule, validator) in validators {
            let value = Json::String(text_value.to_owned());
            assert_eq!(rule.check(text_value).is_ok(), validator.is_valid(&value), "{rule:?} {text_value:?}");
        }
    }

    #[test]
    fn patterns_and_checks_agree_at_the_edges() {
        for length in [5, 52, 53, 62, 63, 64, 252, 253, 254, 512, 513] {
            agree(&"a".repeat(length));
            agree(&format!("{}/a", "a".repeat(length)));
            agree(&format!("a/{}", "a".repeat(length)));
        }
    }

    proptest! {
        #[test]
        fn patterns_and_checks_agree(
            text in r"([a-zA0=:*@+.,_/\\ {}-]|\{path\}|\{name\}|\{type\}|\{job\}|\{cluster\}|\{[1-9]\}|\{[0-9]\.\.\}|\.ya?ml|\.\.|//){0,9}"
        ) {
            agree(&text);
        }

        #[test]
        fn patterns_and_checks_agree_on_any_text(text in "(?s).{0,12}") {
            agree(&text);
        }
    }
}
