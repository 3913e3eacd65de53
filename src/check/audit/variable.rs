//! Variables of `postBuild` that nothing sets.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::code::UNSET_VARIABLE;
use crate::check::subject::Subject;
use crate::delivery::Applied;
use crate::diagnostic::{Diagnostic, Place};
use crate::repo::FluxKustomization;
use crate::repo::post_build::{SUBSTITUTE, is_kept_out};

/// Finds variables in objects under a `postBuild` that sets all of its variables in place.
///
/// Where `substituteFrom` brings some from the cluster, what they are is not known, and nothing is told.
/// Kustomizations before Flux 2.9 put an empty text in place; those since then fail.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for delivery in &subject.deliveries {
        let Some(flux) = subject.flux(delivery) else { continue };
        let post_build = flux.spec("postBuild");
        let from_cluster = post_build["substituteFrom"].as_array().is_some_and(|list| !list.is_empty());
        // Where what applies it does not build, it may set more than the file says.
        if !post_build.is_object() || from_cluster || !flux.is_certain {
            continue;
        }
        let set: BTreeSet<&str> = post_build["substitute"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        let own = left_to_parents(subject, flux, &set);
        for applied in &delivery.objects {
            if is_kept_out(applied.value()) || applied.value().get("sops").is_some() {
                continue;
            }
            let mut names = BTreeSet::new();
            unset(applied.value(), &set, &mut names);
            // What the object's own file holds comes with no patch.
            let is_written = |name: &String| written(subject, applied, name).is_some();
            names.retain(|name| !own.contains(name) || is_written(name));
            if names.is_empty() {
                continue;
            }
            let listed: Vec<String> = names.iter().map(|name| format!("`${{{name}}}`")).collect();
            let finding = UNSET_VARIABLE
                .finding(format!(
                    "{} holds {}, which the `postBuild` of {} does not set. Flux fails, or before 2.9 leaves it empty",
                    applied.id,
                    listed.join(", "),
                    delivery.name
                ))
                .at(place(subject, applied, &names))
                .related(format!("the variables of {}", delivery.name), flux.place("postBuild"))
                .help(format!(
                    "set it\nor write `$${{…}}` for the text itself\nor annotate the object with `{SUBSTITUTE}: disabled`"
                ));
            if !findings.iter().any(|other| other.place == finding.place) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// Gives the variables that a Flux Kustomization's own `spec` holds, as in its patches, and that a `postBuild` of whoever
/// applies it replaces before it is read: they are told of that object, and never reach what it builds.
fn left_to_parents(
    subject: &Subject<'_>,
    flux: &FluxKustomization,
    set: &BTreeSet<&str>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut parents = subject.model.parents(flux).into_iter();
    if !is_kept_out(&flux.effective) && parents.any(|parent| parent.spec("postBuild").is_object()) {
        let fields = flux.effective["spec"].as_object().into_iter().flatten();
        fields.filter(|(key, _)| *key != "postBuild").for_each(|(_, field)| unset(field, set, &mut found));
    }
    found
}

/// Points at the first of the variables in the file that declares the object.
fn place(subject: &Subject<'_>, applied: &Applied, names: &BTreeSet<String>) -> Place {
    let found = names.iter().find_map(|name| written(subject, applied, name));
    found.unwrap_or_else(|| subject.sources.place(applied, &field(applied)))
}

/// Finds a variable in the file that declares the object.
fn written(subject: &Subject<'_>, applied: &Applied, name: &str) -> Option<Place> {
    subject.sources.place_of_text(applied, &format!("${{{name}}}"))
}

/// The field of most scripts of an object.
fn field(applied: &Applied) -> [&'static str; 1] {
    if applied.value().get("data").is_some() { ["data"] } else { ["spec"] }
}

/// Collects the variables without a value or default in all texts of a value (`drone/envsubst`).
pub(in crate::check) fn unset(value: &Value, set: &BTreeSet<&str>, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some(start) = rest.find("${") {
                let escaped = rest[..start].ends_with('$');
                rest = &rest[start + 2..];
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                // Anything behind the name gives a default or works on the value.
                if !escaped && after.starts_with('}') && !name.is_empty() && !set.contains(name) {
                    found.insert(name.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| unset(item, set, found)),
        Value::Object(fields) => fields.values().for_each(|field| unset(field, set, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        unset(&Value::String(text.to_owned()), &BTreeSet::from(["known"]), &mut found);
        found.into_iter().collect()
    }

    #[test]
    fn only_plain_variables_without_a_value_are_unset() {
        assert_eq!(of("a ${x} ${known} ${y:=1} ${z:-2} $${e} $v $(c) ${} ${1a"), ["x"]);
        assert_eq!(of("${one}${two}"), ["one", "two"]);
    }
}
