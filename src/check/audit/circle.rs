//! Flux Kustomizations that depend on themselves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::check::audit::dependency::Step;
use crate::check::code::DEPENDENCY_CIRCLE;
use crate::delivery::Delivery;
use crate::diagnostic::Diagnostic;

type Id<'s> = (&'s str, &'s str);

fn id(delivery: &Delivery) -> Id<'_> {
    (&delivery.namespace, &delivery.name)
}

/// Finds circles among steps of which each waits for the revision of the next, each circle once.
pub(super) fn circles(steps: &[Step<'_>]) -> Vec<Diagnostic> {
    let mut after: BTreeMap<Id<'_>, Vec<&Step<'_>>> = BTreeMap::new();
    for step in steps.iter().filter(|step| !step.is_expression) {
        after.entry(id(step.from)).or_default().push(step);
    }
    let mut told: BTreeSet<Id<'_>> = BTreeSet::new();
    let mut findings = Vec::new();
    for step in after.values().flatten() {
        let known = told.contains(&id(step.from));
        let Some(way) = (!known).then(|| way_back(&after, step)).flatten() else { continue };
        told.extend(way.iter().map(|step| id(step.from)));
        let others: Vec<&str> = way.iter().skip(1).map(|step| step.from.name.as_str()).collect();
        let (through, them) = match &others[..] {
            [] => (String::new(), "it"),
            others => (format!(", through {}", others.join(", ")), "them"),
        };
        let finding = DEPENDENCY_CIRCLE
            .finding(format!("{} depends on itself{through}. Flux never applies {them}", step.from.name))
            .at(step.place.clone())
            .help(match others.is_empty() {
                true => "remove the dependency",
                false => "remove one dependency of the circle",
            });
        findings.push(way.iter().skip(1).fold(finding, |finding, step| {
            finding.related(format!("{} depends on {}", step.from.name, step.to.name), step.place.clone())
        }));
    }
    findings
}

/// Returns the shortest way that begins with a step and comes back to where that begins.
fn way_back<'w, 's>(
    after: &BTreeMap<Id<'s>, Vec<&'w Step<'s>>>,
    first: &'w Step<'s>,
) -> Option<Vec<&'w Step<'s>>> {
    let mut ways = VecDeque::from([vec![first]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = id(way.last()?.to);
        if last == id(first.from) {
            return Some(way);
        }
        if seen.insert(last) {
            let next = after.get(&last).into_iter().flatten();
            ways.extend(next.map(|step| way.iter().copied().chain([*step]).collect()));
        }
    }
    None
}
