//! Projections: a folder that builds everything and keeps the objects of one type.
//!
//! Where references between objects are rewritten (prefixes, hashes, replacements, variables,
//! components), two builds of half the objects each would build and be wrong. So each side builds
//! the whole, and what belongs to other types is marked `config.kubernetes.io/local-config`,
//! which kustomize drops last, after every reference is settled
//! (`kustomize/api/internal/target`, `IgnoreLocal`).
//!
//! The marks follow the spec's rules and not a list of today's objects wherever kustomize can
//! select what a rule matches, so that an object that somebody adds tomorrow falls to the right
//! side by itself and never to both.

use serde_json::Value;

use crate::delivery::classify::{Context, matches, wildcard};
use crate::repo::manifest::ObjectId;
use crate::spec::{Matcher, Spec};
use crate::yaml::quote;

/// What is done with the objects that a selector finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Drop,
    Keep,
}

/// A kustomize patch target; every field is a regular expression of kustomize's or a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Selector {
    fields: Vec<(&'static str, String)>,
}

/// One object of the whole, with its type.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its id in the finished build.
    pub id: ObjectId,
    /// The position of its type.
    pub change_type: usize,
    /// Whether the rules alone, as selectors, would give it another type: it is then listed by name.
    pub exception: bool,
}

/// How the objects of other types are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By the spec's rules.
    Rules,
    /// By a list of the objects, where the rules can't be said in kustomize's words.
    List,
    /// By a list, where an object that stays holds a null: a merge of the mark would take the null away
    /// (`kyaml/yaml/merge2`), as from the empty `data:` of a ConfigMap.
    Unmerged,
}

impl Manner {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Manner; 3] = [Manner::Rules, Manner::List, Manner::Unmerged];
}

/// Writes the kustomization of one side.
///
/// `whole` is the folder that both sides build, as seen from the side's own folder. The text has
/// no header line: whoever writes the file adds it.
pub fn kustomization(
    spec: &Spec,
    app: &str,
    whole: &str,
    side: usize,
    members: &[Member],
    manner: Manner,
) -> String {
    let mut text =
        String::from("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n");
    text.push_str(&format!("  - {}\n", quote(whole)));
    let marks = match manner {
        Manner::Rules => by_rules(spec, app, side, members),
        Manner::List | Manner::Unmerged => by_list(spec, side, members),
    };
    if marks.is_empty() {
        return text;
    }
    text.push_str(
        "# Everything is built, so that names and references come out as they were; what belongs to\n\
         # another type is then left out.\n",
    );
    if manner == Manner::Unmerged && marks[0].1.is_everything() {
        push_transformers(&mut text, &marks[1..]);
        return text;
    }
    text.push_str("patches:\n");
    let marks = merge(marks);
    for (index, (mark, selector)) in marks.iter().enumerate() {
        // After "everything is dropped" the first selector to be kept surely carries the mark.
        let is_marked = index == 1 && marks[0].1.is_everything();
        push_patch(&mut text, *mark, selector, is_marked);
    }
    text
}

fn by_rules(spec: &Spec, app: &str, side: usize, members: &[Member]) -> Vec<(Mark, Selector)> {
    let mut marks = Vec::new();
    let mark_of = |position: usize| if position == side { Mark::Keep } else { Mark::Drop };
    let type_of = |name: &str| position_of(spec, name);
    // The first rule that matches wins, and the last mark that is set wins: so in reverse.
    let last = spec.rules.iter().position(|rule| rule.matcher.matches_all()).unwrap_or(spec.rules.len());
    if mark_of(default_type(spec)) == Mark::Drop {
        marks.push((Mark::Drop, Selector { fields: vec![("kind", ".*".to_owned())] }));
    }
    let names_namespace = spec.rules.iter().any(|rule| rule.matcher.kind.as_deref() == Some("Namespace"));
    for rule in spec.rules[..last.min(spec.rules.len())].iter().rev() {
        if let Some(selector) = Selector::of_rule(&rule.matcher, app) {
            marks.push((mark_of(type_of(&rule.type_name.value)), selector));
        }
    }
    if !names_namespace {
        marks.push((mark_of(0), Selector { fields: vec![("kind", "Namespace".to_owned())] }));
    }
    for member in members.iter().filter(|member| member.exception) {
        marks.push((mark_of(member.change_type), Selector::of_object(&member.id)));
    }
    // What nothing has dropped yet needs no keeping.
    let first_drop = marks.iter().position(|(mark, _)| *mark == Mark::Drop).unwrap_or(marks.len());
    marks.drain(..first_drop.min(marks.len()));
    marks
}

/// Lists objects by name. What is on no list, since somebody adds it later, belongs to the side of
/// the default type, and to that side alone.
fn by_list(spec: &Spec, side: usize, members: &[Member]) -> Vec<(Mark, Selector)> {
    if side == default_type(spec) {
        let others = members.iter().filter(|member| member.change_type != side);
        return others.map(|member| (Mark::Drop, Selector::of_object(&member.id))).collect();
    }
    let own = members.iter().filter(|member| member.change_type == side);
    let everything = (Mark::Drop, Selector { fields: vec![("kind", ".*".to_owned())] });
    std::iter::once(everything)
        .chain(own.map(|member| (Mark::Keep, Selector::of_object(&member.id))))
        .collect()
}

/// Returns the type of what no other rule matches.
fn default_type(spec: &Spec) -> usize {
    let rule = spec.rules.iter().find(|rule| rule.matcher.matches_all());
    rule.map_or(spec.types.len().saturating_sub(1), |rule| position_of(spec, &rule.type_name.value))
}

fn position_of(spec: &Spec, name: &str) -> usize {
    spec.types.iter().position(|change_type| change_type.name.value == name).unwrap_or_default()
}

/// Joins neighbours that differ only in their kind: `ConfigMap|Namespace`.
fn merge(marks: Vec<(Mark, Selector)>) -> Vec<(Mark, Selector)> {
    let mut merged: Vec<(Mark, Selector)> = Vec::new();
    for (mark, selector) in marks {
        if let Some((last_mark, last)) = merged.last_mut()
            && *last_mark == mark
            && let [("kind", kinds)] = last.fields.as_mut_slice()
            && let [("kind", kind)] = selector.fields.as_slice()
        {
            if kinds != kind && kinds != ".*" {
                kinds.push('|');
                kinds.push_str(kind);
            }
            continue;
        }
        merged.push((mark, selector));
    }
    merged
}

/// The path of the mark.
const MARK: &str = "/metadata/annotations/config.kubernetes.io~1local-config";

/// Marks everything by a transformer, which touches nothing else, and takes the mark from what is kept.
fn push_transformers(text: &mut String, kept: &[(Mark, Selector)]) {
    text.push_str(
        "transformers:\n  - |-\n    apiVersion: builtin\n    kind: AnnotationsTransformer\n    metadata:\n      \
         name: leave-out\n    annotations:\n      config.kubernetes.io/local-config: \"true\"\n    fieldSpecs:\n      \
         - path: metadata/annotations\n        create: true\n",
    );
    for (index, (_, selector)) in kept.iter().enumerate() {
        text.push_str(&format!(
            "  - |-\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata:\n      name: keep-{index}\n    \
             target:\n"
        ));
        for (key, value) in &selector.fields {
            text.push_str(&format!("      {key}: {}\n", quote(value)));
        }
        text.push_str(&format!("    patch: |-\n      - op: remove\n        path: {MARK}\n"));
    }
}

fn push_patch(text: &mut String, mark: Mark, selector: &Selector, is_marked: bool) {
    let mut add = |lines: &[&str]| {
        text.push_str("  - target:\n");
        for (key, value) in &selector.fields {
            text.push_str(&format!("      {key}: {}\n", quote(value)));
        }
        text.push_str("    patch: |-\n");
        for line in lines {
            text.push_str(&format!("      {line}\n"));
        }
    };
    const DROP: [&str; 6] = [
        "apiVersion: v1",
        "kind: Any",
        "metadata:",
        "  name: any",
        "  annotations:",
        "    config.kubernetes.io/local-config: \"true\"",
    ];
    // A JSON patch, as a merge with null leaves the mark where it is. It fails where no mark
    // stands, so a mark is set before it is taken away.
    if mark == Mark::Drop || !is_marked {
        add(&DROP);
    }
    if mark == Mark::Keep {
        add(&["- op: remove", &format!("  path: {MARK}")]);
    }
}

impl Selector {
    /// Says a rule in kustomize's words; `None` where it can't, or where it speaks of other apps.
    fn of_rule(matcher: &Matcher, app: &str) -> Option<Selector> {
        if matcher.app.as_ref().is_some_and(|wanted| !wildcard(wanted, app))
            || matcher.path.is_some()
            || matcher.is_values
            || matcher.api_group.as_deref() == Some("")
        {
            return None;
        }
        let pair = |(key, value): &(String, Option<String>)| match value {
            Some(value) => format!("{key}={value}"),
            None => key.clone(),
        };
        let mut fields: Vec<(&'static str, String)> = Vec::new();
        fields.extend(matcher.api_group.as_ref().map(|group| ("group", regex::escape(group))));
        fields.extend(matcher.kind.as_ref().map(|kind| ("kind", regex::escape(kind))));
        fields.extend(matcher.name.as_ref().map(|name| ("name", expression(name))));
        fields.extend(matcher.namespace.as_ref().map(|namespace| ("namespace", expression(namespace))));
        fields.extend(matcher.label.as_ref().map(|label| ("labelSelector", pair(label))));
        fields.extend(matcher.annotation.as_ref().map(|annotation| ("annotationSelector", pair(annotation))));
        if fields.is_empty() {
            fields.push(("kind", ".*".to_owned()));
        }
        Some(Selector { fields })
    }

    fn is_everything(&self) -> bool {
        matches!(self.fields.as_slice(), [("kind", kind)] if kind == ".*")
    }

    fn of_object(id: &ObjectId) -> Selector {
        let mut fields: Vec<(&'static str, String)> = Vec::new();
        if !id.group.is_empty() {
            fields.push(("group", regex::escape(&id.group)));
        }
        fields.push(("kind", regex::escape(&id.kind)));
        fields.push(("name", regex::escape(&id.name)));
        if !id.namespace.is_empty() {
            fields.push(("namespace", regex::escape(&id.namespace)));
        }
        Selector { fields }
    }
}

/// Returns whether the rules, said as selectors in a projection of this app, give an object its type.
///
/// A rule on `path`, on the core API group or on values can't be said to kustomize, and an annotation of the
/// object itself goes before all rules: such objects are listed by name.
pub fn is_exception(spec: &Spec, app: &str, object: &Value, change_type: usize) -> bool {
    let context = Context::of_app(app);
    let type_of = |name: &str| position_of(spec, name);
    let is_namespace = object["kind"] == "Namespace";
    let names_namespace = spec.rules.iter().any(|rule| rule.matcher.kind.as_deref() == Some("Namespace"));
    let by_rule = spec.rules.iter().find(|rule| {
        (Selector::of_rule(&rule.matcher, app).is_some() || rule.matcher.matches_all())
            && matches(&rule.matcher, object, context)
    });
    let selected = match by_rule {
        _ if is_namespace && !names_namespace => 0,
        Some(rule) => type_of(&rule.type_name.value),
        None => spec.types.len().saturating_sub(1),
    };
    selected != change_type
}

fn expression(wildcards: &str) -> String {
    wildcards.split('*').map(regex::escape).collect::<Vec<_>>().join(".*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;

    #[test]
    fn what_no_list_names_is_kept_by_the_default_side_alone() {
        let text = "apiVersion: gitops-windows/v1\ntypes: {rt: {}, rw: {window: w}}\nwindows: {w: {timeZone: UTC, open: 0 1 * * *, close: 0 2 * * *}}\nclusters: {c: {}}\n";
        let path = RepoPath::parse("windows.yaml").unwrap();
        let spec = crate::spec::parse(&path, text.as_bytes()).unwrap().spec;
        let member = |kind: &str, change_type| Member {
            id: ObjectId {
                group: String::new(),
                kind: kind.into(),
                namespace: String::new(),
                name: "x".into(),
            },
            change_type,
            exception: false,
        };
        let members = [member("ConfigMap", 0), member("Service", 1)];
        let marks = |side| {
            let marks = by_list(&spec, side, &members).into_iter();
            marks.map(|(mark, selector)| (mark, selector.fields[0].1.clone())).collect::<Vec<_>>()
        };
        assert_eq!(marks(0), [(Mark::Drop, ".*".to_owned()), (Mark::Keep, "ConfigMap".to_owned())]);
        assert_eq!(marks(1), [(Mark::Drop, "ConfigMap".to_owned())]);
    }
}
