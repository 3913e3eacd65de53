//! What a change set does on the way from one revision to the next.

mod bootstrap;
mod deleted;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{
    KUSTOMIZATION_REMOVED, LANDS_TOO_EARLY, MOVED_BEHIND_WINDOW, ORPHANED_OBJECT, REMOVED_TOO_EARLY,
    SINGLE_COMMIT_MIGRATION,
};
use crate::check::delivery::{Applied, Delivery};
use crate::check::reference::references;
use crate::check::subject::{ClusterKey, Subject};
use crate::diagnostic::{Diagnostic, Place, distinct};
use crate::inventory::{Inventory, is_kept, prunes};
use crate::plan::BACK;
use crate::repo::manifest::ObjectId;

use step::{Fate, Step};

/// What keeps kustomize-controller from deleting an object.
const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";

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
        let change = Change { step: &step, key, old: index(&old), new: index(&deliveries), deliveries };
        findings.extend(change.moved());
        findings.extend(change.deleted(&deletions));
        findings.extend(change.ungoverned());
        if is_whole {
            findings.extend(change.orphaned());
            findings.extend(change.early());
            findings.extend(change.removed());
        }
    }
    findings.extend(deleted::unknown(&step));
    distinct(findings)
}

type Index<'s> = BTreeMap<&'s ObjectId, Vec<(&'s Delivery, &'s Applied)>>;

fn index<'s>(deliveries: &[&'s Delivery]) -> Index<'s> {
    let mut index: Index<'s> = BTreeMap::new();
    for delivery in deliveries {
        for applied in &delivery.objects {
            index.entry(&applied.id).or_default().push((delivery, applied));
        }
    }
    index
}

/// One cluster in both revisions.
struct Change<'s> {
    step: &'s Step<'s>,
    key: &'s ClusterKey,
    old: Index<'s>,
    new: Index<'s>,
    deliveries: Vec<&'s Delivery>,
}

/// Leaves those out who are not in Git: nothing says what they apply, or whether they do.
fn governed<'s>(found: &[(&'s Delivery, &'s Applied)]) -> Vec<(&'s Delivery, &'s Applied)> {
    found.iter().filter(|(delivery, _)| delivery.flux.is_some()).copied().collect()
}

/// What a Flux Kustomization goes by in its cluster: namespace and name.
fn key(delivery: &Delivery) -> (&str, &str) {
    (&delivery.namespace, &delivery.name)
}

/// The names of those who apply an object.
fn owners<'s>(found: &[(&'s Delivery, &'s Applied)]) -> BTreeSet<(&'s str, &'s str)> {
    found.iter().map(|(delivery, _)| key(delivery)).collect()
}

fn named(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A Flux Kustomization that loses objects to another one, and their names.
struct Migrated<'s> {
    from: &'s Delivery,
    to: &'s Delivery,
    /// Whether both are there before and after.
    stand: bool,
    names: BTreeSet<String>,
}

/// One that loses objects, one that had them too and keeps them, and their names.
type Shared<'s> = (&'s Delivery, &'s Delivery, BTreeSet<String>);

impl<'s> Change<'s> {
    /// The Flux Kustomization of this name in the newer revision.
    fn still(&self, delivery: &Delivery) -> Option<&'s Delivery> {
        let same = |other: &&&Delivery| {
            other.flux.is_some() && other.name == delivery.name && other.namespace == delivery.namespace
        };
        self.deliveries.iter().find(same).copied()
    }

    /// Tells whether the Flux Kustomization of this name is in the older revision.
    fn was(&self, delivery: &Delivery) -> bool {
        self.own().any(|other| other.name == delivery.name && other.namespace == delivery.namespace)
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

    /// Objects that change their owner while the old one deletes what it loses.
    fn moved(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut migrated: BTreeMap<(Option<usize>, Option<usize>), Migrated<'_>> = BTreeMap::new();
        let mut shared: BTreeMap<(Option<usize>, Option<usize>), Shared<'_>> = BTreeMap::new();
        for (id, old) in &self.old {
            // Where nobody takes over, that is told of the Kustomization as a whole.
            let (old, new) = (governed(old), governed(self.new.get(*id).map_or(&[], Vec::as_slice)));
            let deletes =
                |(from, was): &&(&Delivery, &Applied)| !is_kept(was.value()) && self.takes_along(from, was);
            let (had, has) = (owners(&old), owners(&new));
            if !had.is_disjoint(&has) {
                // Of several, the one that applied it last is the one that deletes it.
                let gone = old.iter().filter(|(from, _)| !has.contains(&key(from))).find(deletes);
                let stays = new.iter().find(|(to, _)| had.contains(&key(to)));
                if let (Some((from, _)), Some((to, _))) = (gone, stays) {
                    let known =
                        shared.entry((from.flux, to.flux)).or_insert_with(|| (*from, *to, BTreeSet::new()));
                    known.2.insert(id.to_string());
                }
                continue;
            }
            let (Some((from, was)), Some((to, now))) = (old.iter().find(deletes), new.first()) else {
                continue;
            };
            let stand = self.still(from).is_some() && self.was(to);
            let held = now.held.as_ref().filter(|_| stand && now.rank() > was.rank());
            if let Some(held) = held {
                findings.push(
                    MOVED_BEHIND_WINDOW
                        .finding(format!(
                            "{id} moves from {} to {}, which {held} holds back, so it is deleted {} and comes back when \
                             {held} opens",
                            from.name,
                            to.name,
                            was.goes()
                        ))
                        .at(self.step.after.sources.place(now, &["metadata", "name"]))
                        .related("it was here before", self.old_place(was))
                        .help(format!("annotate it with `{PRUNE}: disabled` one commit earlier, and move it then")),
                );
            } else if !stand || (was.rank() == now.rank() && !self.waits(from, to)) {
                let names = BTreeSet::new();
                let known =
                    migrated.entry((from.flux, to.flux)).or_insert(Migrated { from, to, stand, names });
                known.names.insert(id.to_string());
            }
        }
        findings.extend(migrated.into_values().map(|migrated| self.migrated(&migrated)));
        findings.extend(shared.into_values().map(|shared| self.shared(&shared)));
        findings
    }

    /// Tells whether one of the older revision deletes an object that another one has from then on.
    fn takes_along(&self, from: &Delivery, was: &Applied) -> bool {
        let Some(index) = from.flux else { return false };
        match self.step.fate(index) {
            Fate::Deletes => true,
            Fate::Leaves => false,
            // The cluster keeps it, and it goes on building its folder.
            Fate::Keeps => {
                let brings = |delivery: &Delivery| {
                    delivery.path == from.path && delivery.objects.iter().any(|object| object.id == was.id)
                };
                self.now(from).is_none()
                    && self.step.old()[index].prune
                    && self.step.has_now(&from.path)
                    && !self.step.after.deliveries.iter().any(brings)
            }
        }
    }

    /// Tells whether one that stands loses what it loses after the other has applied it.
    fn waits(&self, from: &Delivery, to: &Delivery) -> bool {
        let fluxes = self.step.before.flux(from).zip(self.step.after.flux(to));
        fluxes.is_some_and(|(from, to)| self.step.waits(from, to))
    }

    /// Says of one of several owners that it deletes what another one goes on applying.
    fn shared(&self, (from, to, names): &Shared<'_>) -> Diagnostic {
        let gone = if self.still(from).is_some() { "loses" } else { "goes with" };
        let place = self.step.after.flux(to).map(|flux| flux.place("path"));
        let finding = SINGLE_COMMIT_MIGRATION
            .finding(format!(
                "{} {gone} {}, which {} applies too: where {} was the last to apply them, it deletes them",
                from.name,
                named(names),
                to.name,
                from.name
            ))
            .at(place.unwrap_or_else(|| Place::file(to.path.clone())))
            .help(format!(
                "merge `prune: false` and `deletionPolicy: Orphan` of {} first, or annotate them with `{PRUNE}: disabled`, and let that reach the cluster",
                from.name
            ));
        match self.step.before.flux(from) {
            Some(flux) => finding.related("it prunes, before the change", flux.place("prune")),
            None => finding,
        }
    }

    fn migrated(&self, migrated: &Migrated<'_>) -> Diagnostic {
        let Migrated { from, to, .. } = *migrated;
        let gone = if self.still(from).is_some() { "loses them" } else { "goes" };
        let place = match self.step.after.flux(to) {
            Some(flux) => flux.place("path"),
            None => Place::file(to.path.clone()),
        };
        let finding = SINGLE_COMMIT_MIGRATION
            .finding(format!(
                "{} {gone} and {} takes over {} in one step, so if {} reconciles first it deletes them",
                from.name,
                to.name,
                named(&migrated.names),
                from.name
            ))
            .at(place)
            .help(if from.change_type.is_some() && to.path != from.path && from.path.is_within(&to.path) {
                format!("where this takes a migration back: {BACK} the rest")
            } else if migrated.stand {
                format!("annotate them with `{PRUNE}: disabled` one commit earlier, and move them then")
            } else {
                format!(
                    "merge `prune: false` and `deletionPolicy: Orphan` of {} first; `gitops-windows migrate` plans the steps",
                    from.name
                )
            });
        let (Some(flux), Some(index)) = (self.step.before.flux(from), from.flux) else { return finding };
        let (label, key) = match (self.step.old()[index].prune, prunes(flux.spec("prune"))) {
            (true, true) => ("it prunes, before the change", "prune"),
            (true, false) => ("what applies it lets it prune, before the change", "prune"),
            (false, _) if self.now(from).is_none() => ("it deletes when it goes", "deletionPolicy"),
            (false, _) => ("it does not prune before the change", "prune"),
        };
        finding.related(label, flux.place(key))
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
            let owners = self.new.get(&applied.id).into_iter().flatten();
            !is_kept(applied.value()) && owners.clone().all(|(owner, _)| owner.flux.is_none())
        };
        delivery.objects.iter().filter(is_lost).map(|applied| applied.id.to_string()).collect()
    }

    /// Objects that leave Git and that nobody deletes.
    fn orphaned(&self) -> Vec<Diagnostic> {
        let mut left: BTreeMap<usize, (&Delivery, BTreeSet<String>)> = BTreeMap::new();
        for (id, old) in &self.old {
            if self.new.contains_key(*id) {
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
        for (id, new) in &self.new {
            let Some((_, now)) = new.first() else { continue };
            let was = self.old.get(*id).and_then(|old| old.first());
            if was.is_some_and(|(_, was)| was.value() == now.value()) {
                continue;
            }
            for reference in references(now.value()).into_iter().filter(|reference| !reference.optional) {
                let named = |index: &Index<'_>| index.keys().any(|id| reference.names(id));
                let target = self.new.iter().find(|(id, _)| reference.names(id)).and_then(|(_, found)| {
                    found.iter().map(|(_, applied)| *applied).min_by_key(|applied| applied.rank())
                });
                let Some(target) = target.filter(|target| target.rank() > now.rank()) else { continue };
                let Some(held) = target.held.as_ref().filter(|_| !named(&self.old)) else { continue };
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
                    "{} {} and selects the labels that {} gets when {held} opens, so it has no endpoints until then",
                now.id,
                now.lands(),
                first.id
                ))
                .at(self.step.after.sources.place(now, &["spec", "selector"]))
                .related("these labels land later", self.step.after.sources.place(first, &["spec", "template"]))
                .help("add the new label to the pods first, and change the selector after their window"),
        )
    }

    /// Objects that go now while what refers to them is replaced later.
    fn removed(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for (id, old) in &self.old {
            let Some((_, user)) = old.first() else { continue };
            // What goes itself needs nothing any more.
            let Some((_, now)) = self.new.get(*id).and_then(|new| new.first()) else { continue };
            let Some(held) = &now.held else { continue };
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
