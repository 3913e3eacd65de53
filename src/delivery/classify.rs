//! Gives each object its change type.

use serde_json::Value;

use crate::delivery::values::{Values, is_release};
use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::manifest::ObjectId;
use crate::spec::{Matcher, Rule, Spec};

/// The annotation that gives an object its type before any rule is asked.
pub const TYPE_ANNOTATION: &str = "gitops-windows/type";

/// Why an object has its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The object's own annotation.
    Annotation,
    /// The rule at this position, counted from 0.
    Rule(usize),
    /// A Namespace that no rule names belongs to the first type: everything else needs it.
    Namespace,
    /// A Namespace alone does not divide an entry point, so it goes with the rest.
    Whole,
    /// What a gate is made of belongs to the first type: once closed, no commit could mend it.
    Gate,
    /// A name with a hash of its content changes with it, so it lands together with what names it.
    Consumer(ObjectId),
}

/// An object's type, as a position in [`Spec::types`], and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The position of the type.
    pub change_type: usize,
    /// Why.
    pub reason: Reason,
}

/// Why objects could not be given a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifyError {
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// What an object is classified by, beside its own content.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The app that it belongs to.
    pub app: &'a str,
    /// The file that declares it, relative to the spec's folder.
    pub path: Option<&'a str>,
    /// What HelmReleases read, as far as it is known.
    pub values: Option<&'a Values>,
}

impl<'a> Context<'a> {
    /// Makes the context of an app, of which nothing else is known.
    pub fn of_app(app: &'a str) -> Context<'a> {
        Context { app, ..Context::default() }
    }
}

/// Returns the type of one object by annotation and rules alone.
///
/// # Errors
///
/// When the object's annotation names a type that the spec lacks.
pub fn classify(spec: &Spec, object: &Value, context: Context<'_>) -> Result<Classified, ClassifyError> {
    if let Some(name) = object["metadata"]["annotations"][TYPE_ANNOTATION].as_str() {
        let position = spec.types.iter().position(|change_type| change_type.name.value == name);
        return match position {
            Some(change_type) => Ok(Classified { change_type, reason: Reason::Annotation }),
            None => Err(ClassifyError {
                message: format!(
                    "{} is annotated `{TYPE_ANNOTATION}: {name}`, and no such type is in the spec",
                    ObjectId::of(object)
                ),
                help: format!("use one of: {}", type_names(spec)),
            }),
        };
    }
    if context.path.is_some_and(|path| lies_in_gate(spec, path)) {
        return Ok(Classified { change_type: 0, reason: Reason::Gate });
    }
    let is_read = |rule: &Rule| {
        let reader = spec.types.iter().position(|own| own.name.value == rule.type_name.value);
        let read = |values: &Values| values.has(object, reader);
        !rule.matcher.is_values || context.values.is_some_and(read)
    };
    let found = spec.rules.iter().position(|rule| matches(&rule.matcher, object, context) && is_read(rule));
    let Some(position) = found else {
        return Ok(Classified { change_type: spec.types.len().saturating_sub(1), reason: Reason::Rule(0) });
    };
    let rule = &spec.rules[position];
    if object["kind"] == "Namespace" && rule.matcher.kind.is_none() {
        return Ok(Classified { change_type: 0, reason: Reason::Namespace });
    }
    let named = spec.types.iter().position(|change_type| change_type.name.value == rule.type_name.value);
    Ok(Classified { change_type: named.unwrap_or_default(), reason: Reason::Rule(position) })
}

/// Returns whether a file lies in the folder of a gate.
pub fn lies_in_gate(spec: &Spec, path: &str) -> bool {
    let is_in = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    // Of a fleet's files few end as its gates do, so the clusters are asked about few.
    let last = spec.layout.cluster_gate.rsplit('}').next().unwrap_or_default();
    is_in(&spec.layout.gate)
        || (path.contains(last)
            && spec.all_clusters().any(|one| is_in(&spec.gate_folder_below(&one.name.value))))
}

fn type_names(spec: &Spec) -> String {
    spec.types.iter().map(|change_type| change_type.name.value.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the types of a whole build, in its order.
///
/// A generated object whose name carries a hash goes where the objects that name it go. It gains
/// nothing from landing earlier: its consumers still ask for the old name, which is pruned.
///
/// # Errors
///
/// When consumers of a hashed object have different types, so that it fits nowhere.
pub fn classify_all(
    spec: &Spec,
    objects: &[Object],
    app_of: &dyn Fn(&Object) -> String,
) -> Result<Vec<Classified>, ClassifyError> {
    let folder = spec.folder();
    let context_of = |object: &Object| {
        let path = object.origin.as_ref().map(|origin| below(&origin.path, &folder));
        (app_of(object), path)
    };
    let mut values = Values::default();
    if spec.rules.iter().any(|rule| rule.matcher.is_values) {
        for object in objects.iter().filter(|object| is_release(&object.value)) {
            let (app, path) = context_of(object);
            let own =
                classify(spec, &object.value, Context { path: path.as_deref(), ..Context::of_app(&app) })?;
            values.add(&object.value, own.change_type);
        }
    }
    let mut types = Vec::with_capacity(objects.len());
    for object in objects {
        let (app, path) = context_of(object);
        let context = Context { app: &app, path: path.as_deref(), values: Some(&values) };
        types.push(classify(spec, &object.value, context)?);
    }
    let plain = types.clone();
    for (index, object) in objects.iter().enumerate() {
        if !is_hashed(object) {
            continue;
        }
        let name = object.value["metadata"]["name"].as_str().unwrap_or_default();
        let consumers: Vec<usize> = (0..objects.len())
            .filter(|other| *other != index && names(&objects[*other].value, name))
            .collect();
        let Some(first) = consumers.first() else { continue };
        let wanted = plain[*first].change_type;
        if let Some(other) = consumers.iter().find(|other| plain[**other].change_type != wanted) {
            return Err(ClassifyError {
                message: format!(
                    "the name of {} holds a hash of its content. {} and {} use it and have different types",
                    ObjectId::of(&object.value),
                    ObjectId::of(&objects[*first].value),
                    ObjectId::of(&objects[*other].value),
                ),
                help: "give its users one type, or set `disableNameSuffixHash: true` on the generator".into(),
            });
        }
        let explicit = plain[index].reason == Reason::Annotation && plain[index].change_type != wanted;
        if explicit {
            return Err(ClassifyError {
                message: format!(
                    "the name of {} holds a hash of its content. It can't land without {}, which has another type",
                    ObjectId::of(&object.value),
                    ObjectId::of(&objects[*first].value)
                ),
                help: format!(
                    "take the annotation `{TYPE_ANNOTATION}` away, or set `disableNameSuffixHash: true` on the generator"
                ),
            });
        }
        types[index] = Classified {
            change_type: wanted,
            reason: Reason::Consumer(ObjectId::of(&objects[*first].value)),
        };
    }
    Ok(types)
}

fn below(path: &RepoPath, folder: &RepoPath) -> String {
    path.relative_to(folder)
}

/// Returns whether kustomize's hash suffix ends the object's name
/// (`kustomize/api/internal/hasher`, `encode`: ten of sixteen characters).
pub fn is_hashed(object: &Object) -> bool {
    let generated = object.origin.as_ref().is_some_and(|origin| origin.generator.is_some());
    let name = object.value["metadata"]["name"].as_str().unwrap_or_default();
    let hash = name.rsplit_once('-').map_or("", |(_, hash)| hash);
    generated
        && matches!(object.value["kind"].as_str(), Some("ConfigMap" | "Secret"))
        && hash.len() == 10
        && hash.bytes().all(|byte| b"2456789bcdfghkmt".contains(&byte))
}

/// Returns whether a text stands anywhere in a value as a whole string.
fn names(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        Value::Array(items) => items.iter().any(|item| names(item, text)),
        Value::Object(fields) => fields.values().any(|field| names(field, text)),
        _ => false,
    }
}

/// Returns whether a rule's conditions on the object itself hold; who reads it is asked elsewhere.
pub fn matches(matcher: &Matcher, object: &Value, context: Context<'_>) -> bool {
    let id = ObjectId::of(object);
    let metadata = &object["metadata"];
    let pattern =
        |wanted: &Option<String>, text: &str| wanted.as_ref().is_none_or(|wanted| wildcard(wanted, text));
    let pair = |wanted: &Option<(String, Option<String>)>, map: &Value| {
        wanted.as_ref().is_none_or(|(key, value)| match map.get(key) {
            Some(found) => value.as_ref().is_none_or(|value| found.as_str() == Some(value)),
            None => false,
        })
    };
    matcher.kind.as_ref().is_none_or(|kind| *kind == id.kind)
        && matcher.api_group.as_ref().is_none_or(|group| *group == id.group)
        && pattern(&matcher.name, &id.name)
        && pattern(&matcher.namespace, &id.namespace)
        && pattern(&matcher.app, context.app)
        && pair(&matcher.label, &metadata["labels"])
        && pair(&matcher.annotation, &metadata["annotations"])
        && matcher.path.as_ref().is_none_or(|glob| context.path.is_some_and(|path| path_glob(glob, path)))
}

/// Matches a text in which `*` stands for any characters.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else { return text.is_empty() };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(position) => rest = &rest[position + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Matches a path: `*` and `?` within a segment, `**` over segments.
pub fn path_glob(glob: &str, path: &str) -> bool {
    let globs: Vec<&str> = glob.trim_start_matches("./").split('/').collect();
    let segments: Vec<&str> = path.split('/').collect();
    // reachable[i]: the globs so far can match the first i segments.
    let mut reachable = vec![false; segments.len() + 1];
    reachable[0] = true;
    for glob in globs {
        let mut next = vec![false; segments.len() + 1];
        for position in 0..=segments.len() {
            if !reachable[position] {
                continue;
            }
            if glob == "**" {
                next[position..].fill(true);
            } else if segments
                .get(position)
                .is_some_and(|segment| segment_glob(glob.as_bytes(), segment.as_bytes()))
            {
                next[position + 1] = true;
            }
        }
        reachable = next;
    }
    reachable[segments.len()]
}

/// Matches one segment in time linear in glob and text each: only the last `*` is ever taken back.
fn segment_glob(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((back, from)) = star else { return false };
                star = Some((back, from + 1));
                at = back + 1;
                seen = from + 1;
            }
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("nginx", "nginx", true),
            ("nginx", "nginx-conf", false),
            ("nginx*", "nginx-conf", true),
            ("*-conf", "nginx-conf", true),
            ("n*x*f", "nginx-conf", true),
            ("*", "", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_gate_lies_in_its_own_folder_and_nowhere_else() {
        let text = "apiVersion: gitops-windows/v1\ntypes: { rt: {} }\nclusters: { a: {}, b: { path: sites/b } }\nlayout: { gate: base/gate, clusterGate: '{path}/gate' }\n";
        let path = RepoPath::parse("windows.yaml").unwrap();
        let spec = crate::spec::parse(&path, text.as_bytes()).unwrap().spec;
        for (path, expected) in [
            ("base/gate/role.yaml", true),
            ("a/gate/alert.yaml", true),
            ("sites/b/gate/alert.yaml", true),
            ("apps/gate/web.yaml", false),
            ("base/gates/role.yaml", false),
            ("b/gate/alert.yaml", false),
        ] {
            assert_eq!(lies_in_gate(&spec, path), expected, "{path}");
        }
    }

    #[test]
    fn path_globs_know_segments() {
        for (glob, path, expected) in [
            ("apps/*/configmap.yaml", "apps/nginx/configmap.yaml", true),
            ("apps/*.yaml", "apps/nginx/configmap.yaml", false),
            ("**/configmap.yaml", "configmap.yaml", true),
            ("apps/**", "apps/nginx/a/b.yaml", true),
            ("a?c/**/z", "abc/x/y/z", true),
            ("apps/**", "infra/x", false),
            ("*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(path_glob(glob, path), expected, "{glob} {path}");
        }
    }
}
