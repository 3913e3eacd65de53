//! What a change set does on the way from one revision to the next.

mod bootstrap;
mod deleted;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{
    KUSTOMIZATION_REMOVED, LANDS_TOO_EARLY, MOVED_BEHIND_WINDOW, ORPHANED_OBJECT, REMOVED_TOO_EARLY,
    SINGLE_COMMIT_MIGRATION,
};
use crate::check::delivery::{Applied, Delivery};
use crate::check::reference::references;
use crate::check::subject::{ClusterKey, Subject};
use crate::diagnostic::{Diagnostic, Place, distinct};
use crate::inventory::{self, deletions, is_kept};
use crate::plan::BACK;
use crate::repo::FluxKustomization;
use crate::repo::flux::GROUP;
use crate::repo::manifest::ObjectId;

/// What keeps kustomize-controller from deleting an object.
const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";

/// How many objects a finding names.
const MOST_NAMES: usize = 5;

/// Finds what goes wrong between the moment at which a change set is merged and the opening of the next
/// window, and what it deletes or leaves behind.
///
/// Both revisions are built whole. Clusters of which a part does not build are passed over: what is missing
/// there would look removed.
pub fn history(before: &Subject<'_>, after: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = bootstrap::bootstrap(before, after);
    let deletions = deletions(&deleted::inventories(before), &deleted::inventories(after));
    let old = before.clusters();
    for (key, deliveries) in after.clusters() {
        let Some(old) = old.get(key) else { continue };
        let builds = |deliveries: &[&Delivery]| deliveries.iter().all(|delivery| delivery.error.is_none());
        if !builds(old) || !builds(&deliveries) || bootstrap::is_renamed(key, before, after) {
            continue;
        }
        let change = Change { before, after, key, old: index(old), new: index(&deliveries), deliveries };
        findings.extend(change.moved());
        let ungoverned = change.ungoverned();
        findings.extend(change.deleted(&deletions, &ungoverned));
        findings.extend(ungoverned);
        findings.extend(change.orphaned());
        findings.extend(change.early());
        findings.extend(change.removed());
    }
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
    before: &'s Subject<'s>,
    after: &'s Subject<'s>,
    key: &'s ClusterKey,
    old: Index<'s>,
    new: Index<'s>,
    deliveries: Vec<&'s Delivery>,
}

/// The names of those who apply an object.
fn owners<'s>(found: &[(&'s Delivery, &'s Applied)]) -> BTreeSet<(&'s str, &'s str)> {
    found.iter().map(|(delivery, _)| (delivery.namespace.as_str(), delivery.name.as_str())).collect()
}

fn prunes(flux: &FluxKustomization) -> bool {
    inventory::prunes(flux.spec("prune"))
}

fn named(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl Change<'_> {
    /// The Flux Kustomization of this name in the newer revision.
    fn still(&self, delivery: &Delivery) -> Option<&Delivery> {
        let same = |other: &&&Delivery| other.name == delivery.name && other.namespace == delivery.namespace;
        self.deliveries.iter().find(same).copied()
    }

    /// The Flux Kustomization of this name in the older revision.
    fn was(&self, delivery: &Delivery) -> bool {
        self.before.deliveries.iter().any(|other| {
            other.cluster == *self.key && other.name == delivery.name && other.namespace == delivery.namespace
        })
    }

    fn old_place(&self, applied: &Applied) -> Place {
        self.before.sources.place(applied, &["metadata", "name"])
    }

    /// Objects that change their owner while the old one deletes what it loses.
    fn moved(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut migrated: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for (id, old) in &self.old {
            let Some(new) = self.new.get(*id) else { continue };
            if !owners(old).is_disjoint(&owners(new)) {
                continue;
            }
            let known = new.iter().find(|(owner, _)| owner.flux.is_some());
            let (Some((from, was)), Some((to, now))) = (old.first(), known.or(new.first())) else { continue };
            // Nobody takes over: that is told of the Kustomization as a whole.
            if to.flux.is_none() {
                continue;
            }
            let flux = self.before.flux(from);
            if is_kept(was.value()) || flux.is_some_and(|flux| !prunes(flux)) {
                continue;
            }
            if self.still(from).is_some() && self.was(to) {
                let Some(held) = now.held.as_ref().filter(|_| now.rank() > was.rank()) else { continue };
                findings.push(
                    MOVED_BEHIND_WINDOW
                        .finding(format!(
                            "{id} moves from {} to {}, which {held} holds back, so it is deleted {} and comes back when \
                             {held} opens",
                            from.name,
                            to.name,
                            was.goes()
                        ))
                        .at(self.after.sources.place(now, &["metadata", "name"]))
                        .related("it was here before", self.old_place(was))
                        .help(format!("annotate it with `{PRUNE}: disabled` one commit earlier, and move it then")),
                );
            } else if flux
                .is_some_and(|flux| self.still(from).is_some() || flux.spec("deletionPolicy") != "Orphan")
            {
                migrated.entry((from.name.as_str(), to.name.as_str())).or_default().insert(id.to_string());
            }
        }
        findings
            .extend(migrated.into_iter().filter_map(|((from, to), names)| self.migrated(from, to, &names)));
        findings
    }

    fn migrated(&self, from: &str, to: &str, names: &BTreeSet<String>) -> Option<Diagnostic> {
        let to = self.deliveries.iter().find(|delivery| delivery.name == to)?;
        let from = self
            .before
            .deliveries
            .iter()
            .find(|delivery| delivery.cluster == *self.key && delivery.name == from)?;
        let gone = if self.still(from).is_some() { "loses them" } else { "goes" };
        let place = match self.after.flux(to) {
            Some(flux) => flux.place("path"),
            None => Place::file(to.path.clone()),
        };
        let finding = SINGLE_COMMIT_MIGRATION
            .finding(format!(
                "{} {gone} and {} takes over {} in one step, so if {} reconciles first it deletes them",
                from.name,
                to.name,
                named(names),
                from.name
            ))
            .at(place)
            .help(if from.change_type.is_some() && to.path != from.path && from.path.is_within(&to.path) {
                format!("where this takes a migration back: {BACK} the rest")
            } else {
                format!(
                    "merge `prune: false` and `deletionPolicy: Orphan` of {} first; `gitops-windows migrate` plans the steps",
                    from.name
                )
            });
        Some(match self.before.flux(from) {
            Some(flux) => finding.related("it prunes, before the change", flux.place("prune")),
            None => finding,
        })
    }

    /// Flux Kustomizations that leave Git while what they apply stays there.
    fn ungoverned(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for delivery in self.before.deliveries.iter().filter(|delivery| delivery.cluster == *self.key) {
            let Some(flux) = self.before.flux(delivery) else { continue };
            let stays = self.after.model.graph.has(&delivery.path);
            let kept =
                !prunes(flux) || flux.spec("deletionPolicy") == "Orphan" || flux.spec("suspend") == true;
            if !stays
                || kept
                || self.stands(flux)
                || self.still(delivery).is_some_and(|still| still.flux.is_some())
            {
                continue;
            }
            // What another one takes over is told as that.
            let is_lost = |applied: &&Applied| {
                let owners = self.new.get(&applied.id).into_iter().flatten();
                !is_kept(applied.value()) && owners.clone().all(|(owner, _)| owner.flux.is_none())
            };
            let lost = delivery.objects.iter().filter(is_lost);
            let names: BTreeSet<String> = lost.map(|applied| applied.id.to_string()).collect();
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

    /// Tells whether the cluster keeps a Flux Kustomization that leaves Git: whoever applies it has to delete
    /// it first.
    fn stands(&self, flux: &FluxKustomization) -> bool {
        let is_own = |applied: &Applied| {
            applied.is(GROUP, "Kustomization")
                && applied.id.name == flux.name
                && applied.id.namespace == flux.namespace
        };
        let parents = self.before.deliveries.iter().filter(|other| other.objects.iter().any(is_own));
        let mut fluxes = parents.filter_map(|parent| self.before.flux(parent)).peekable();
        fluxes.peek().is_some() && fluxes.all(|parent| !prunes(parent))
    }

    /// Objects that leave Git and that nobody deletes.
    fn orphaned(&self) -> Vec<Diagnostic> {
        let mut left: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (id, old) in &self.old {
            if self.new.contains_key(*id) {
                continue;
            }
            let orphan = old.iter().find(|(from, was)| {
                let Some(flux) = self.before.flux(from) else { return false };
                let goes = self.still(from).is_none();
                !prunes(flux)
                    || is_kept(was.value())
                    || goes && (flux.spec("deletionPolicy") == "Orphan" || flux.spec("suspend") == true)
            });
            if let Some((from, _)) = orphan {
                left.entry(from.name.as_str()).or_default().insert(id.to_string());
            }
        }
        let findings = left.into_iter().filter_map(|(from, names)| {
            let old = self.old.values().flatten().find(|(delivery, _)| delivery.name == from)?.0;
            let flux = self.still(old).and_then(|still| self.after.flux(still)).or(self.before.flux(old))?;
            Some(
                ORPHANED_OBJECT
                    .finding(format!(
                        "{} left Git and {from} does not delete them, so they stay in the cluster and nobody owns them",
                        named(&names)
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
                        .at(self.after.sources.place(now, &reference.path))
                        .related("this lands later", self.after.sources.place(target, &["metadata", "name"]))
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
                .at(self.after.sources.place(now, &["spec", "selector"]))
                .related("these labels land later", self.after.sources.place(first, &["spec", "template"]))
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
                let stays = is_kept(was.value()) || self.before.flux(from).is_some_and(|flux| !prunes(flux));
                if stays || was.rank() >= now.rank() {
                    continue;
                }
                findings.push(
                    REMOVED_TOO_EARLY
                        .finding(format!("{} is deleted {}, and {consequence}", was.id, was.goes()))
                        .at(self.after.sources.place(now, &reference.path))
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
