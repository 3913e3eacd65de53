//! What does not fit together between the merge and the opening.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::check::{NameReference, references};
use crate::delivery::{Comparison, Pair};
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::{Landing, State};
use crate::render::Object;
use crate::repo::manifest::ObjectId;

/// Finds references that hold in the head and not before the window opens, or that the base has and that break until
/// then.
///
/// Until a window opens, its cluster runs objects that land at once as they are in the head, and those that wait as they
/// are in the base. Only what changes is looked at: what both trees lack is none of this pull request's doing.
pub(super) fn skew(clock: &Clock<'_>, comparison: &Comparison<'_>, landings: &[Landing]) -> Vec<Finding> {
    let mut clusters: BTreeMap<&str, Vec<(&Pair<'_>, &Landing)>> = BTreeMap::new();
    let known = comparison.pairs.iter().zip(landings).filter(|(pair, _)| pair.is_known());
    for (pair, lands) in known {
        clusters.entry(&pair.cluster).or_default().push((pair, lands));
    }
    let mut found = Vec::new();
    for (cluster, pairs) in clusters {
        let opens = pairs
            .iter()
            .filter(|(_, lands)| waits(clock, lands))
            .filter_map(|(_, lands)| lands.earliest)
            .min();
        let Some(opens) = opens else { continue };
        let mixed: Vec<&Object> =
            pairs.iter().flat_map(|(pair, lands)| side(pair, !waits(clock, lands))).collect();
        let (there, before, after) = (ids(&mixed), all(&pairs, false), all(&pairs, true));
        let merged = pairs
            .iter()
            .filter(|(_, lands)| !waits(clock, lands))
            .filter_map(|(_, lands)| lands.earliest)
            .min();
        for object in &mixed {
            let user = ObjectId::of(&object.value);
            for reference in references(&object.value) {
                let has = |known: &BTreeMap<ObjectId, &Value>| known.keys().any(|id| reference.names(id));
                let (was, comes) = (has(&before), has(&after));
                if reference.optional || !(was || comes) || has(&there) {
                    continue;
                }
                found.push(finding(cluster, &user, &reference, comes, merged.or(Some(clock.now)), opens));
            }
        }
    }
    found
}

/// Tells whether something lands later than what lands at once.
fn waits(clock: &Clock<'_>, lands: &Landing) -> bool {
    match lands.state {
        State::Window => lands.earliest.is_some_and(|at| at > clock.now),
        State::AtOnce => false,
        State::Never | State::Unknown => true,
    }
}

fn side<'p>(pair: &'p Pair<'_>, is_after: bool) -> &'p [Object] {
    let outcome = if is_after { &pair.new } else { &pair.old };
    outcome.as_deref().unwrap_or_default()
}

fn ids<'o>(objects: &[&'o Object]) -> BTreeMap<ObjectId, &'o Value> {
    objects.iter().map(|object| (ObjectId::of(&object.value), &*object.value)).collect()
}

fn all<'p>(pairs: &'p [(&Pair<'_>, &Landing)], is_after: bool) -> BTreeMap<ObjectId, &'p Value> {
    let objects: Vec<&Object> = pairs.iter().flat_map(|(pair, _)| side(pair, is_after)).collect();
    ids(&objects)
}

fn finding(
    cluster: &str,
    user: &ObjectId,
    reference: &NameReference,
    comes: bool,
    from: Option<jiff::Timestamp>,
    opens: jiff::Timestamp,
) -> Finding {
    let why = if comes { "comes only at" } else { "goes before it changes at" };
    Finding {
        topic: Topic::Skew,
        cluster: cluster.to_owned(),
        object: Some(user.clone()),
        message: format!("{user} needs {} {}, which {why} {opens}", reference.kind, reference.name),
        from,
        help: format!(
            "give {} {} and {user} one type, or merge while the window is open",
            reference.kind, reference.name
        ),
    }
}
