//! Objects with more than one owner.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{BOTH_HALVES, DOUBLE_OWNED, OVERWRITTEN};
use crate::check::subject::Subject;
use crate::delivery::{Applied, Delivery, Hold};
use crate::diagnostic::{Diagnostic, distinct_but_related};
use crate::repo::manifest::ObjectId;

/// How many objects a finding names.
const MOST_NAMES: usize = 5;

/// Up to how many owners of one object each is told with each other: beyond, there would be more findings than anybody
/// reads, or than there is memory.
const MOST_PAIRED: usize = 8;

/// One owner: which Flux Kustomization, and the object as it applies it.
type Owner<'s> = (usize, &'s Applied);

/// How a second owner goes without the objects going: whoever loses them deletes those that carry its labels
/// (kustomize-controller, `prune`).
const KEPT_OBJECTS: &str = "give the objects the annotation `kustomize.toolkit.fluxcd.io/prune: disabled`\nwait until the cluster has applied that\nremove them from the other Flux Kustomization\nwhen the cluster has applied that too, remove the annotation";

/// Finds objects that two Flux Kustomizations of one cluster apply.
///
/// One finding speaks of all objects that the same two share; where many share one object, each is told with one other.
/// Folders without a Flux Kustomization in Git are left out, since who applies them is guessed, as are names that hold a
/// value which only the cluster knows.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for deliveries in subject.clusters().values() {
        // What a bootstrap folder takes in is applied by the bootstrap Kustomization, which is among these.
        let deliveries: Vec<&Delivery> =
            deliveries.iter().copied().filter(|delivery| delivery.flux.is_some()).collect();
        let mut owners: BTreeMap<&ObjectId, Vec<Owner<'_>>> = BTreeMap::new();
        for (position, delivery) in deliveries.iter().enumerate() {
            for applied in &delivery.objects {
                if !applied.live.has_variable() {
                    owners.entry(&applied.live).or_default().push((position, applied));
                }
            }
        }
        let mut shared: BTreeMap<(usize, usize), Vec<(&Applied, &Applied)>> = BTreeMap::new();
        for owners in owners.values() {
            for ((first, one), (second, other)) in pairs(&deliveries, owners) {
                shared.entry((first, second)).or_default().push((one, other));
            }
        }
        for ((first, second), objects) in shared {
            findings.push(finding(subject, deliveries[first], deliveries[second], &objects));
        }
    }
    // Clusters may differ only in where each says what it applies.
    distinct_but_related(findings)
}

/// Returns the owners of an object in pairs: each with each other, or, where they are many, each with one that does worst
/// to it.
fn pairs<'s>(deliveries: &[&Delivery], owners: &[Owner<'s>]) -> Vec<(Owner<'s>, Owner<'s>)> {
    let apart = |one: &Owner<'_>, other: &Owner<'_>| {
        let (one, other) = (deliveries[one.0], deliveries[other.0]);
        one.name != other.name || one.namespace != other.namespace
    };
    if owners.len() <= MOST_PAIRED {
        let each = owners.iter().enumerate();
        return each
            .flat_map(|(index, one)| owners[index + 1..].iter().map(move |other| (*one, *other)))
            .filter(|(one, other)| apart(one, other))
            .collect();
    }
    let harm = |one: &Owner<'_>, other: &Owner<'_>| {
        let windows = (deliveries[one.0].window(), deliveries[other.0].window());
        match windows.0 != windows.1 {
            true if one.1.value() != other.1.value() => 2,
            true if windows.0.is_some() != windows.1.is_some() => 1,
            _ => 0,
        }
    };
    let is_like = |one: &Owner<'_>, other: &Owner<'_>| {
        deliveries[one.0].window() == deliveries[other.0].window() && one.1.value() == other.1.value()
    };
    let second = owners.iter().find(|owner| apart(&owners[0], owner));
    let mut kinds: Vec<Owner<'s>> = owners.iter().take(1).chain(second).copied().collect();
    for owner in owners {
        if kinds.len() < MOST_PAIRED && !kinds.iter().any(|kind| is_like(kind, owner)) {
            kinds.push(*owner);
        }
    }
    let worst = |owner: &Owner<'s>| {
        let others = kinds.iter().filter(|kind| apart(kind, owner));
        let worst = others.min_by_key(|kind| Reverse(harm(kind, owner)))?;
        Some(if worst.0 < owner.0 { (*worst, *owner) } else { (*owner, *worst) })
    };
    let mut known = BTreeSet::new();
    owners.iter().filter_map(worst).filter(|(one, other)| known.insert((one.0, other.0))).collect()
}

/// Names two Flux Kustomizations; equal names by what else tells them apart.
fn told_apart(one: &Delivery, other: &Delivery) -> [String; 2] {
    let name = |own: &Delivery| {
        if one.name != other.name {
            own.name.clone()
        } else if one.namespace != other.namespace {
            format!("{}/{}", own.namespace, own.name)
        } else {
            format!("{} of {}", own.name, own.path)
        }
    };
    [one, other].map(name)
}

fn finding(
    subject: &Subject<'_>,
    first: &Delivery,
    second: &Delivery,
    objects: &[(&Applied, &Applied)],
) -> Diagnostic {
    let names: BTreeSet<String> = objects.iter().map(|(one, _)| one.live.to_string()).collect();
    let named: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = format!("{}{more}", named.join(", "));
    let (them, their) = if names.len() == 1 { ("it", "Its") } else { ("them", "Their") };
    // What counts is the Kustomization: one that is not split yet lands as a whole, whatever its objects' types.
    let differ = first.window() != second.window();
    let apart = objects.iter().find(|(one, other)| differ && one.value() != other.value());
    let ungated = objects.first().filter(|_| first.window().is_some() != second.window().is_some());
    let (one, other) = *apart.unwrap_or(&objects[0]);
    let (mut early, mut late, mut one_at, mut other_at) = (first, second, one, other);
    if first.window().is_some() && (second.window().is_none() || first.change_type > second.change_type) {
        (early, late, one_at, other_at) = (second, first, other, one);
    }
    let [first_name, second_name] = told_apart(early, late);
    let held = late.window().map(ToString::to_string).unwrap_or_default();
    let end = late.window().map(Hold::end).unwrap_or_default();
    let lands = match early.window() {
        Some(held) => format!("{} applies it in the windows of {held}", early.name),
        None => format!("{} applies it at once", early.name),
    };
    let diagnostic = if apart.is_some() {
        OVERWRITTEN
            .finding(format!(
                "{} and {} apply {named} with different content. {lands}, and {} overwrites it {end}",
                first_name, second_name, second_name
            ))
            .help(format!("choose one place and one Flux Kustomization for each object\n{KEPT_OBJECTS}"))
    } else if ungated.is_some() {
        BOTH_HALVES
            .finding(format!(
                "{} applies {named} at once, though {held} of {} should hold {them}. {their} windows have no effect",
                early.name, late.name
            ))
            .help(match subject.model.graph.get(&early.path) {
                Some(list) => format!(
                    "take the objects of {} out of the lists that {} builds on\n{KEPT_OBJECTS}",
                    late.name, list.file
                ),
                None => format!(
                    "choose a folder for {} without the folder of {}; without a kustomization.yaml it applies everything below\n{KEPT_OBJECTS}",
                    early.name, late.name
                ),
            })
    } else {
        DOUBLE_OWNED
            .finding(format!(
                "{} and {} both apply {named}. Removing {them} from one deletes {them}, although the other still lists {them}",
                first_name, second_name
            ))
            .help(format!("choose one Flux Kustomization for each object\n{KEPT_OBJECTS}"))
    };
    let diagnostic = diagnostic.at(subject.sources.place(one_at, &["metadata", "name"]));
    let mut diagnostic = diagnostic;
    for delivery in [early, late] {
        if let Some(flux) = subject.flux(delivery) {
            let place = flux.place("path");
            diagnostic = diagnostic.related(format!("{} applies {}", delivery.name, delivery.path), place);
        }
    }
    let place = subject.sources.place(other_at, &["metadata", "name"]);
    if diagnostic.place.as_ref() != Some(&place) {
        diagnostic = diagnostic.related(format!("{} applies it from here", late.name), place);
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Place;
    use crate::path::RepoPath;

    #[test]
    fn what_several_clusters_do_alike_is_told_once_with_the_places_of_each() {
        let place = |path: &str| Place::file(RepoPath::parse(path).unwrap());
        let of = |cluster: &str| {
            let finding = DOUBLE_OWNED.finding("a and b both apply it").at(place("apps/settings.yaml"));
            finding.related("a applies apps", place(&format!("clusters/{cluster}.yaml")))
        };
        let other = of("east").help("another way on");
        let told = distinct_but_related(vec![of("east"), of("west"), of("east"), other.clone()]);
        let both = of("east").related("a applies apps", place("clusters/west.yaml"));
        assert_eq!(told, [both, other]);
    }
}
