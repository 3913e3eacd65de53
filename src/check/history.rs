//! What a change set does on the way from one revision to the next.

mod bootstrap;
mod deleted;
mod moved;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{KUSTOMIZATION_REMOVED, LANDS_TOO_EARLY, ORPHANED_OBJECT, REMOVED_TOO_EARLY};
use crate::check::reference::references;
use crate::check::subject::Subject;
use crate::delivery::inventory::{Inventory, is_kept};
use crate::delivery::{Applied, ClusterKey, Delivery};
use crate::diagnostic::{Diagnostic, Place, distinct};
use crate::repo::manifest::ObjectId;

use step::{Fate, Step};

/// How many objects a finding names.
const MOST_NAMES: usize = 5;

/// Finds what goes wrong between the moment at which a change set is merged and the opening of the next
/// window, and what it deletes or leaves behind.
///
/// Both revisions are built whole. In clusters of which a part does not build, nothing is said of what would
/// look new, removed or unowned for that alone.
pub fn history(before: &Subject<'_>, after: &Subject<'_>) -> Vec<Diagnostic> {
    let step = Step::new(before, after);
    let mut findings = bootstrap::bootstrap(&step);
    let deletions = step.deletions();
    let new = after.clusters();
    for (key, old) in before.clusters() {
        if bootstrap::is_renamed(key, before, after) {
            continue;
        }
        let deliveries = new.get(key).cloned().unwrap_or_default();
        let builds = |deliveries: &[&Delivery]| deliveries.iter().all(|delivery| delivery.error.is_none());
        let is_whole = builds(&old) && builds(&deliveries);
        let change = Change {
            step: &step,
            key,
            old: index(&old, |_, applied| &applied.id),
            new: index(&deliveries, |_, applied| &applied.id),
            had: index(&old, |_, applied| &applied.live),
            has: now(&old, &deliveries),
            deliveries,
        };
        findings.extend(change.moved());
        findings.extend(change.deleted(&deletions));
        findings.extend(change.ungoverned());
        if is_whole {
            findings.extend(change.deleted_outside());
            findings.extend(change.orphaned());
            findings.extend(change.early());
            findings.extend(change.removed());
        }
    }
    findings.extend(deleted::unknown(&step));
    distinct(findings)
}

type Index<'s> = BTreeMap<&'s ObjectId, Vec<(&'s Delivery, &'s Applied)>>;

fn index<'s>(
    deliveries: &[&'s Delivery],
    id: impl Fn(&'s Delivery, &'s Applied) -> &'s ObjectId,
) -> Index<'s> {
    let mut index: Index<'s> = BTreeMap::new();
    for delivery in deliveries {
        for applied in &delivery.objects {
            index.entry(id(delivery, applied)).or_default().push((delivery, applied));
        }
    }
    index
}

/// Gives what the cluster has from then on, by its ids there. Where only the cluster knows one of the ids of an object
/// that is built as before, it counts as the same: whether it is another one can't be told.
fn now<'s>(old: &[&'s Delivery], new: &[&'s Delivery]) -> Index<'s> {
    let pairs = old.iter().flat_map(|one| one.objects.iter().map(|was| ((key(one), &was.id), &was.live)));
    let before: BTreeMap<_, &'s ObjectId> = pairs.collect();
    index(new, |delivery, applied| match before.get(&(key(delivery), &applied.id)) {
        Some(was) if was.has_variable() || applied.live.has_variable() => was,
        _ => &applied.live,
    })
}

/// One cluster in both revisions.
struct Change<'s> {
    step: &'s Step<'s>,
    key: &'s ClusterKey,
    /// As they are built, which is how objects name each other.
    old: Index<'s>,
    new: Index<'s>,
    /// As the cluster knows them, which is how Flux tells them apart.
    had: Index<'s>,
    has: Index<'s>,
    deliveries: Vec<&'s Delivery>,
}

/// What a Flux Kustomization goes by in its cluster: namespace and name.
fn key(delivery: &Delivery) -> (&str, &str) {
    (&delivery.namespace, &delivery.name)
}

fn named(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl<'s> Change<'s> {
    /// The Flux Kustomization of this name in the newer revision.
    fn still(&self, delivery: &Delivery) -> Option<&'s Delivery> {
        let same = |other: &&&Delivery| other.flux.is_some() && key(other) == key(delivery);
        self.deliveries.iter().find(same).copied()
    }

    /// Tells whether the Flux Kustomization of this name is in the older revision.
    fn was(&self, delivery: &Delivery) -> bool {
        self.own().any(|other| key(other) == key(delivery))
    }

    /// Those of the older revision that are in Git.
    fn own(&self) -> impl Iterator<Item = &'s Delivery> {
        let (before, key) = (self.step.before, self.key);
        before.deliveries.iter().filter(move |delivery| delivery.cluster == *key && delivery.flux.is_some())
    }

    /// What one of the older revision does with what it applies no more, where it is in Git.
    fn fate(&self, delivery: &Delivery) -> Option<Fate> {
        delivery.flux.map(|index| self.step.fate(index))
    }

    /// What one of the older revision is in the newer one.
    fn now(&self, delivery: &Delivery) -> Option<&Inventory> {
        self.step.now(delivery.flux?)
    }

    fn old_place(&self, applied: &Applied) -> Place {
        self.step.before.sources.place(applied, &["metadata", "name"])
    }

    /// Flux Kustomizations that leave Git while what they apply stays there.
    fn ungoverned(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for delivery in self.own() {
            let Some(flux) = self.step.before.flux(delivery) else { continue };
            let names = self.left_alone(delivery);
            if names.is_empty() {
                continue;
            }
            findings.push(
                KUSTOMIZATION_REMOVED
                    .finding(format!(
                        "{} leaves Git, and when the cluster deletes it, it deletes all that it applied: {}",
                        delivery.name,
                        named(&names)
                    ))
                    .at(flux.place("prune"))
                    .help(format!(
                        "keep it, or merge `prune: false` and `deletionPolicy: Orphan` of {} first and remove it then",
                        delivery.name
                    )),
            );
        }
        findings
    }

    /// The objects that one of the older revision deletes when it goes, although its folder stays in Git.
    ///
    /// What another one takes over is told as that.
    fn left_alone(&self, delivery: &Delivery) -> BTreeSet<String> {
        let stays = self.step.after.model.graph.has(&delivery.path);
        if !stays || self.now(delivery).is_some() || self.fate(delivery) != Some(Fate::Deletes) {
            return BTreeSet::new();
        }
        let is_lost = |applied: &&Applied| {
            let owners = self.has.get(&applied.live).into_iter().flatten();
            !is_kept(applied.value()) && owners.clone().all(|(owner, _)| owner.flux.is_none())
        };
        delivery.objects.iter().filter(is_lost).map(|applied| applied.live.to_string()).collect()
    }

    /// Objects that leave Git and that nobody deletes.
    fn orphaned(&self) -> Vec<Diagnostic> {
        let mut left: BTreeMap<usize, (&Delivery, BTreeSet<String>)> = BTreeMap::new();
        for (id, old) in &self.had {
            if self.has.contains_key(*id) {
                continue;
            }
            let deletes = |(from, was): &(&Delivery, &Applied)| {
                self.fate(from) == Some(Fate::Deletes) && !is_kept(was.value())
            };
            let leaves = |(from, _): &&(&Delivery, &Applied)| {
                matches!(self.fate(from), Some(Fate::Leaves | Fate::Deletes))
            };
            let orphan = old.iter().find(leaves).filter(|_| !old.iter().any(deletes));
            if let Some((from, index)) = orphan.and_then(|(from, _)| Some((*from, from.flux?))) {
                left.entry(index).or_insert((from, BTreeSet::new())).1.insert(id.to_string());
            }
        }
        let findings = left.into_values().filter_map(|(old, names)| {
            let now = self.still(old).and_then(|still| self.step.after.flux(still));
            let flux = now.or(self.step.before.flux(old))?;
            Some(
                ORPHANED_OBJECT
                    .finding(format!(
                        "{} left Git and {} does not delete them, so they stay in the cluster and nobody owns them",
                        named(&names),
                        old.name
                    ))
                    .at(flux.place("prune"))
                    .help("delete them by hand, or let the Kustomization prune before they go"),
            )
        });
        findings.collect()
    }

    /// Changes that land now and need what lands later.
    fn early(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for (id, new) in &self.has {
            let Some((_, now)) = new.first() else { continue };
            let was = self.had.get(*id).and_then(|old| old.first());
            if was.is_some_and(|(_, was)| was.value() == now.value()) {
                continue;
            }
            for reference in references(now.value()).into_iter().filter(|reference| !reference.optional) {
                let named = |index: &Index<'_>| index.keys().any(|id| reference.names(id));
                let target = self.new.iter().find(|(id, _)| reference.names(id)).and_then(|(_, found)| {
                    found.iter().map(|(_, applied)| *applied).min_by_key(|applied| applied.rank())
                });
                let Some(target) = target.filter(|target| target.rank() > now.rank()) else { continue };
                let Some(held) = target.window().filter(|_| !named(&self.old)) else { continue };
                findings.push(
                    LANDS_TOO_EARLY
                        .finding(format!(
                            "{id} {} and needs {}, which is new and waits for {held}, so it is broken until that opens",
                            now.lands(),
                            target.id
                        ))
                        .at(self.step.after.sources.place(now, &reference.path))
                        .related("this lands later", self.step.after.sources.place(target, &["metadata", "name"]))
                        .help("merge what waits first and this after its window, or give both one type"),
                );
            }
            findings.extend(self.selector(now, was.map(|(_, was)| *was)));
        }
        findings
    }

    /// A Service whose new selector fits only pods that come later.
    fn selector(&self, now: &Applied, was: Option<&Applied>) -> Option<Diagnostic> {
        if !now.is("", "Service") {
            return None;
        }
        let selector = now.value()["spec"]["selector"].as_object()?;
        if was?.value()["spec"]["selector"].as_object() == Some(selector) || selector.is_empty() {
            return None;
        }
        let selected = |applied: &Applied| {
            let labels = &applied.value()["spec"]["template"]["metadata"]["labels"];
            applied.id.namespace == now.id.namespace
                && labels.is_object()
                && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        };
        let all = |index: &'_ Index<'_>| index.values().flatten().any(|(_, applied)| selected(applied));
        if all(&self.old) {
            return None;
        }
        let pods: Vec<&Applied> = self
            .new
            .values()
            .flatten()
            .map(|(_, applied)| *applied)
            .filter(|applied| selected(applied))
            .collect();
        let first = pods.iter().min_by_key(|applied| applied.rank())?;
        let held = first.held.as_ref().filter(|_| first.rank() > now.rank())?;
        Some(
            LANDS_TOO_EARLY
                .finding(format!(
                    "{} {} and selects the labels that {} gets {}, so it has no endpoints until then",
                    now.id,
                    now.lands(),
                    first.id,
                    held.end()
                ))
                .at(self.step.after.sources.place(now, &["spec", "selector"]))
                .related(
                    "these labels land later",
                    self.step.after.sources.place(first, &["spec", "template"]),
                )
                .help("add the new label to the pods first, and change the selector after their window"),
        )
    }

    /// Objects that go now while what refers to them is replaced later.
    fn removed(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for (id, old) in &self.had {
            let Some((_, user)) = old.first() else { continue };
            // What goes itself needs nothing any more.
            let Some((_, now)) = self.has.get(*id).and_then(|new| new.first()) else { continue };
            let Some(held) = now.window() else { continue };
            for reference in references(user.value()).into_iter().filter(|reference| !reference.optional) {
                let gone =
                    self.old.iter().find(|(id, _)| reference.names(id) && !self.new.contains_key(**id));
                let Some((from, was)) = gone.and_then(|(_, found)| found.first()) else { continue };
                // One that goes on asking for it is broken for good.
                let asks_on = references(now.value()).iter().any(|other| {
                    (&other.kind, &other.group, &other.name)
                        == (&reference.kind, &reference.group, &reference.name)
                        && other.names(&was.id)
                });
                let lacks = match id.kind.as_str() {
                    "Ingress" | "HTTPRoute" | "Gateway" | "HelmRelease" | "HorizontalPodAutoscaler" => {
                        "it does not work"
                    }
                    _ => "its pods can't be started anew",
                };
                let consequence = match asks_on {
                    true => format!("{id} goes on referring to it, so {lacks} from then on"),
                    false => format!("{id} refers to it until {held} opens, so {lacks} until then"),
                };
                let stays = is_kept(was.value()) || self.fate(from).is_some_and(|fate| fate != Fate::Deletes);
                if stays || was.rank() >= now.rank() {
                    continue;
                }
                findings.push(
                    REMOVED_TOO_EARLY
                        .finding(format!("{} is deleted {}, and {consequence}", was.id, was.goes()))
                        .at(self.step.after.sources.place(now, &reference.path))
                        .related("it was here before", self.old_place(was))
                        .help(match asks_on {
                            true => "keep it, or take the reference to it out too, one window earlier",
                            false => "remove it one commit later, after the window in which its user changed",
                        }),
                );
            }
        }
        findings
    }
}
