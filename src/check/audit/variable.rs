//! Variables of `postBuild` that nothing sets.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::audit::named;
use crate::check::code::UNSET_VARIABLE;
use crate::check::subject::Subject;
use crate::delivery::Applied;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::flux::variables;
use crate::repo::post_build::{SUBSTITUTE, is_kept_out, puts_in};
use crate::repo::secret::is_encrypted;
use crate::text::some;

/// How many Flux Kustomizations are named.
const MOST: usize = 3;

/// By the kind of an object and its file the clusters that get it.
type Getting<'s> = BTreeMap<(&'s str, &'s RepoPath), BTreeSet<&'s str>>;

/// A place at which variables are not set.
struct Found<'s> {
    object: &'s Applied,
    names: BTreeSet<String>,
    flux: &'s FluxKustomization,
    /// The Flux Kustomizations that do not set them.
    by: BTreeSet<&'s str>,
    /// The clusters of these.
    clusters: BTreeSet<&'s str>,
}

/// Finds variables in objects under a `postBuild` of which Git tells all variables: in place, or in what `substituteFrom` names.
///
/// Where that brings some which only the cluster knows, nothing is told.
/// Kustomizations before Flux 2.9 put an empty text in place; those since then fail.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut places: Vec<Place> = Vec::new();
    let mut all: Vec<Found<'_>> = Vec::new();
    for delivery in &subject.deliveries {
        let Some(flux) = subject.flux(delivery) else { continue };
        // What Git tells of `substituteFrom` stands in it as a value.
        let post_build = &flux.post_build;
        let is_idle = !flux.spec("postBuild")["substituteFrom"].is_null() && !puts_in(post_build);
        let from_cluster = post_build["substituteFrom"].as_array().is_some_and(|list| !list.is_empty());
        // Where what applies it does not build, it may set more than the file says.
        if !post_build.is_object() || from_cluster || is_idle || !flux.is_certain {
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
            if is_kept_out(applied.value()) || is_encrypted(applied.value()) {
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
            let place = place(subject, applied, &names);
            let at = places.iter().position(|other| *other == place).unwrap_or_else(|| {
                places.push(place);
                let (by, clusters) = (BTreeSet::new(), BTreeSet::new());
                all.push(Found { object: applied, names, flux, by, clusters });
                all.len() - 1
            });
            all[at].by.insert(&delivery.name);
            all[at].clusters.insert(&delivery.cluster.name);
        }
    }
    if all.is_empty() {
        return Vec::new();
    }
    let mut getting = Getting::new();
    for delivery in &subject.deliveries {
        for key in delivery.objects.iter().filter_map(origin) {
            getting.entry(key).or_default().insert(&delivery.cluster.name);
        }
    }
    let told = places.into_iter().zip(&all);
    told.map(|(place, found)| found.told(&found.whose(&getting)).at(place)).collect()
}

/// Returns the kind of an object and the file that it stands in.
fn origin(one: &Applied) -> Option<(&str, &RepoPath)> {
    Some((&one.id.kind, &one.object.origin.as_ref()?.path))
}

impl Found<'_> {
    /// Names the clusters, where others get the object too.
    fn whose(&self, getting: &Getting<'_>) -> String {
        let all = origin(self.object).and_then(|key| getting.get(&key));
        match all.is_some_and(|all| !all.is_subset(&self.clusters)) {
            true => format!(" in {}", named(&self.clusters)),
            false => String::new(),
        }
    }

    fn told(&self, whose: &str) -> Diagnostic {
        let listed: Vec<String> = self.names.iter().map(|name| format!("`${{{name}}}`")).collect();
        let by: Vec<&str> = self.by.iter().copied().collect();
        UNSET_VARIABLE
            .finding(format!(
                "{} holds {}, which the `postBuild` of {}{whose} does not set. Flux fails, or before 2.9 leaves it empty",
                self.object.id,
                listed.join(", "),
                some(&by, MOST),
            ))
            .related(format!("the variables of {}", self.flux.name), self.flux.place("postBuild"))
            .help(format!(
                "set it\nor write `$${{…}}` for the text itself\nor annotate the object with `{SUBSTITUTE}: disabled`"
            ))
    }
}

/// Returns the variables that a Flux Kustomization's own `spec` holds, as in its patches, and that a `postBuild` of whoever
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
            let names = variables(text).filter_map(|variable| variable.strip_prefix("${")?.strip_suffix('}'));
            // Anything behind the name gives a default or works on the value.
            let is_plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let unset = names.filter(|name| !name.is_empty() && !set.contains(name)).filter(is_plain);
            found.extend(unset.map(str::to_owned));
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
