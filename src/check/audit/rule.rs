//! Rules of the spec that match no object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::audit::unmatched::finding;
use crate::check::subject::Subject;
use crate::delivery::Applied;
use crate::delivery::Apps;
use crate::delivery::classify::{Context, matches};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::repo::manifest::{ObjectId, manifests, objects};
use crate::spec::{Matcher, Placed, Rule, Spec};
use crate::text::did_you_mean;

/// Finds rules that match no object of any entry point.
///
/// One that matches and never decides is right: an earlier rule or an annotation may go. The three
/// rules that hold without any are right in every repository, and so is one about values.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let says_more = |rule: &&Placed<Rule>| {
        !rule.matcher.matches_all() && !rule.matcher.is_values && !spec.is_default(rule)
    };
    let rules: Vec<&Placed<Rule>> = spec.rules.iter().filter(says_more).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let seen = Seen::of(subject, spec);
    let fits = |rule: &Rule| seen.any(&rule.matcher) || may_be_unseen(subject, &rule.matcher);
    rules.into_iter().filter(|rule| !fits(rule)).map(|rule| unmatched(&seen, rule)).collect()
}

/// The objects that clusters get, with what rules go by beside their content.
struct Seen<'s> {
    objects: Vec<(&'s Value, String, Option<String>)>,
}

impl<'s> Seen<'s> {
    fn of(subject: &'s Subject<'_>, spec: &Spec) -> Seen<'s> {
        let root = spec.folder();
        let entries = subject.model.all_entries().iter();
        let apps: BTreeMap<&RepoPath, Apps> =
            entries.map(|entry| (&entry.path, Apps::of(subject.model, entry))).collect();
        let mut objects = Vec::new();
        for delivery in &subject.deliveries {
            let apps = apps.get(&delivery.path);
            let seen = |applied: &'s Applied| {
                let app = apps.and_then(|apps| apps.bringing(&applied.object)).unwrap_or_default();
                let path = applied.object.origin.as_ref().map(|origin| origin.path.relative_to(&root));
                (applied.value(), app.to_owned(), path)
            };
            objects.extend(delivery.objects.iter().map(seen));
        }
        Seen { objects }
    }

    fn any(&self, matcher: &Matcher) -> bool {
        let fits = |(object, app, path): &(&Value, String, Option<String>)| {
            matches(matcher, object, Context { path: path.as_deref(), ..Context::of_app(app) })
        };
        self.objects.iter().any(fits)
    }

    /// Returns what the objects have where a rule asks for a key, each once and in order.
    fn values(&self, key: &str) -> BTreeSet<String> {
        let of = |(object, app, path): &(&Value, String, Option<String>)| -> Vec<String> {
            let id = ObjectId::of(object);
            let pairs = |field: &str| {
                let pairs = object["metadata"][field].as_object().into_iter().flatten();
                let both = |(key, value): (&String, &Value)| {
                    [key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())]
                };
                pairs.flat_map(both).collect()
            };
            match key {
                "kind" => vec![id.kind],
                "apiGroup" => vec![id.group],
                "name" => vec![id.name],
                "namespace" => vec![id.namespace],
                "app" => vec![app.clone()],
                "label" => pairs("labels"),
                "annotation" => pairs("annotations"),
                _ => path.iter().cloned().collect(),
            }
        };
        self.objects.iter().flat_map(of).filter(|value| !value.is_empty()).collect()
    }
}

/// Returns whether an object may match that no build shows, since an entry point does not build.
fn may_be_unseen(subject: &Subject<'_>, matcher: &Matcher) -> bool {
    if subject.deliveries.iter().all(|delivery| delivery.error.is_none()) {
        return false;
    }
    // The app of an object is known by the build alone.
    let matcher = Matcher { app: None, ..matcher.clone() };
    let root = &subject.model.root;
    subject.snapshot.below(root).any(|(path, _)| {
        let path_of = path.relative_to(root);
        let context = Context { path: Some(&path_of), ..Context::default() };
        let documents = subject.snapshot.file(path).and_then(manifests).unwrap_or_default();
        let mut found = documents.iter().flat_map(|document| objects(&document.value));
        found.any(|object| matches(&matcher, object, context))
    })
}

/// One condition of a rule.
struct Condition {
    key: &'static str,
    wanted: String,
    alone: Matcher,
}

fn conditions(matcher: &Matcher) -> Vec<Condition> {
    let Matcher { kind, api_group, name, namespace, app, label, annotation, path, is_values: _ } =
        matcher.clone();
    let none = Matcher::default;
    let pair = |(key, value): &(String, Option<String>)| match value {
        Some(value) => format!("{key}={value}"),
        None => key.clone(),
    };
    let texts = [label.as_ref().map(pair), annotation.as_ref().map(pair)];
    let [label_text, annotation_text] = texts;
    let all = [
        ("kind", kind.clone(), Matcher { kind, ..none() }),
        ("apiGroup", api_group.clone(), Matcher { api_group, ..none() }),
        ("name", name.clone(), Matcher { name, ..none() }),
        ("namespace", namespace.clone(), Matcher { namespace, ..none() }),
        ("app", app.clone(), Matcher { app, ..none() }),
        ("label", label_text, Matcher { label, ..none() }),
        ("annotation", annotation_text, Matcher { annotation, ..none() }),
        ("path", path.clone(), Matcher { path, ..none() }),
    ];
    let given =
        all.into_iter().filter_map(|(key, wanted, alone)| Some(Condition { key, wanted: wanted?, alone }));
    given.collect()
}

fn unmatched(seen: &Seen<'_>, rule: &Placed<Rule>) -> Diagnostic {
    let help = "correct the rule, or remove it";
    let conditions = conditions(&rule.matcher);
    let Some(wrong) = conditions.iter().find(|condition| !seen.any(&condition.alone)) else {
        let keys: Vec<&str> = conditions.iter().map(|condition| condition.key).collect();
        let message =
            format!("no object has {} of this rule together. It matches nothing", keys.join(" and "));
        return finding(message, rule.place.clone(), None, help);
    };
    let Condition { key, wanted, .. } = wrong;
    let values = seen.values(key);
    let near = match *key {
        "path" => near_path(wanted, &values),
        _ => did_you_mean(wanted.trim_matches('*'), values.iter().map(String::as_str)),
    };
    let message = format!("no object has {key} `{wanted}`. This rule matches nothing");
    finding(message, rule.place.clone(), near, help)
}

/// Asks whether a glob was meant to begin with other folders, which its first segments resemble.
fn near_path(glob: &str, paths: &BTreeSet<String>) -> Option<String> {
    let segments: Vec<&str> = glob.trim_start_matches("./").split('/').collect();
    let literal = segments.iter().take_while(|segment| !segment.contains(['*', '?'])).count();
    let (head, tail) = segments.split_at(literal);
    let heads: BTreeSet<String> = paths
        .iter()
        .map(|path| path.split('/').take(literal).chain(tail.iter().copied()).collect::<Vec<_>>().join("/"))
        .collect();
    let wanted = segments.join("/");
    let heads = heads.iter().map(String::as_str).filter(|other| *other != wanted);
    if head.is_empty() { None } else { did_you_mean(&wanted, heads) }
}
