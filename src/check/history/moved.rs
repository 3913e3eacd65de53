//! What changes its owner between two revisions.

use std::collections::{BTreeMap, BTreeSet};

use super::step::Fate;
use super::{Change, key, named};
use crate::check::code::{MOVED_BEHIND_WINDOW, SINGLE_COMMIT_MIGRATION};
use crate::delivery::inventory::{is_kept, prunes};
use crate::delivery::{Applied, Delivery};
use crate::diagnostic::{Diagnostic, Place};
use crate::plan::BACK;
use crate::repo::manifest::ObjectId;
use crate::text::length;

/// What keeps kustomize-controller from deleting an object.
const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";

/// Leaves those out who are not in Git: nothing says what they apply, or whether they do.
fn governed<'s>(found: &[(&'s Delivery, &'s Applied)]) -> Vec<(&'s Delivery, &'s Applied)> {
    found.iter().filter(|(delivery, _)| delivery.applied_by.is_some()).copied().collect()
}

/// The names of those who apply an object.
fn owners<'s>(found: &[(&'s Delivery, &'s Applied)]) -> BTreeSet<(&'s str, &'s str)> {
    found.iter().map(|(delivery, _)| key(delivery)).collect()
}

/// What a Flux Kustomization loses to another one.
struct Loss<'s> {
    from: &'s Delivery,
    to: &'s Delivery,
    names: BTreeSet<String>,
}

/// Losses, in the order of who loses and who gets.
#[derive(Default)]
struct Losses<'s>(BTreeMap<(Option<usize>, Option<usize>), Loss<'s>>);

impl<'s> Losses<'s> {
    fn add(&mut self, from: &'s Delivery, to: &'s Delivery, id: &ObjectId) {
        let loss = self.0.entry((from.applied_by, to.applied_by)).or_insert_with(|| Loss {
            from,
            to,
            names: BTreeSet::new(),
        });
        loss.names.insert(id.to_string());
    }
}

impl Change<'_> {
    /// Objects that change their owner while the old one deletes what it loses.
    pub(super) fn moved(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let (mut migrated, mut shared) = (Losses::default(), Losses::default());
        for (id, old) in &self.had {
            // Where nobody takes over, that is told of the Kustomization as a whole.
            let (old, new) = (governed(old), governed(self.has.get(*id).map_or(&[], Vec::as_slice)));
            let deletes =
                |(from, was): &&(&Delivery, &Applied)| !is_kept(was.value()) && self.takes_along(from, was);
            let (had, has) = (owners(&old), owners(&new));
            if !had.is_disjoint(&has) {
                // Of several, the one that applied it last is the one that deletes it.
                let gone = old.iter().filter(|(from, _)| !has.contains(&key(from))).find(deletes);
                let stays = new.iter().find(|(to, _)| had.contains(&key(to)));
                if let (Some((from, _)), Some((to, _))) = (gone, stays) {
                    shared.add(from, to, id);
                }
                continue;
            }
            let (Some((from, was)), Some((to, now))) = (old.iter().find(deletes), new.first()) else {
                continue;
            };
            let stand = self.stand(from, to);
            let held = now.held.as_ref().filter(|_| stand && now.rank() > was.rank());
            if let Some(held) = held {
                findings.push(
                    MOVED_BEHIND_WINDOW
                        .finding(format!(
                            "{id} moves from {} to {}, which waits for {held}. It is deleted {} and comes back {}",
                            from.name,
                            to.name,
                            was.goes(),
                            held.end()
                        ))
                        .at(self.step.after.sources.place(now, &["metadata", "name"]))
                        .related("it was here before", self.old_place(was))
                        .help(format!("annotate it with `{PRUNE}: disabled` in one commit\nmove it in the next")),
                );
            } else if !stand || (was.rank() == now.rank() && !self.waits(from, to)) {
                migrated.add(from, to, id);
            }
        }
        findings.extend(migrated.0.values().map(|loss| self.migrated(loss)));
        findings.extend(shared.0.values().map(|loss| self.shared(loss)));
        findings
    }

    /// Returns whether both are there before and after.
    fn stand(&self, from: &Delivery, to: &Delivery) -> bool {
        self.still(from).is_some() && self.was(to)
    }

    /// Returns whether one of the older revision deletes an object that another one has from then on.
    fn takes_along(&self, from: &Delivery, was: &Applied) -> bool {
        let Some(index) = from.applied_by else { return false };
        match self.step.fate(index) {
            Fate::Deletes => true,
            Fate::Leaves => false,
            // The cluster keeps it, and it goes on building its folder.
            Fate::Keeps => {
                let brings = |delivery: &Delivery| {
                    delivery.path == from.path
                        && delivery.objects.iter().any(|object| object.live == was.live)
                };
                self.now(from).is_none()
                    && self.step.old()[index].prune
                    && self.step.has_now(&from.path)
                    && !self.step.after.deliveries.iter().any(brings)
            }
        }
    }

    /// Returns whether one that stands loses what it loses after the other has applied it.
    fn waits(&self, from: &Delivery, to: &Delivery) -> bool {
        let fluxes = self.step.before.applying(from).zip(self.step.after.applying(to));
        fluxes.is_some_and(|(from, to)| self.step.waits(from, to))
    }

    /// Says of one of several owners that it deletes what another one goes on applying.
    fn shared(&self, Loss { from, to, names }: &Loss<'_>) -> Diagnostic {
        let gone = if self.still(from).is_some() { "loses" } else { "goes with" };
        let them = them(names);
        let (old, new) = apart(from, to);
        let finding = SINGLE_COMMIT_MIGRATION
            .finding(format!(
                "{old} {gone} {}, which {new} applies too. {old} deletes {them} if it was the last to apply {them}",
                named(names)
            ))
            .at(self.new_place(to))
            .help(self.first(from, &old, them));
        match self.step.before.applying(from) {
            Some(flux) => finding.related("it prunes, before the change", flux.place("prune")),
            None => finding,
        }
    }

    /// Says that a deletion and a new owner come in one step.
    fn migrated(&self, loss: &Loss<'_>) -> Diagnostic {
        let Loss { from, to, names } = loss;
        let (them, objects) = (them(names), named(names));
        let stays = self.still(from).is_some();
        let (old, new) = apart(from, to);
        let moves = match stays {
            true => format!("{old} loses {objects} while {new} starts to apply {them}"),
            false => format!("{old} goes while {new} starts to apply {objects}"),
        };
        let outcome = self.outcome(loss, (&old, &new), them);
        let finding = SINGLE_COMMIT_MIGRATION
            .finding(format!("{moves}. {outcome}"))
            .at(self.new_place(to))
            .help(if from.change_type.is_some() && to.path != from.path && from.path.is_within(&to.path) {
                format!("where this takes a migration back: {BACK} the rest")
            } else if self.stand(from, to) {
                format!("annotate {them} with `{PRUNE}: disabled` in one commit\nmove {them} in the next")
            } else if stays {
                self.first(from, &old, them)
            } else {
                format!(
                    "merge {} first\nor let `gitops-windows migrate` plan the steps",
                    self.unpruned(from, &old)
                )
            });
        let (Some(flux), Some(index)) = (self.step.before.applying(from), from.applied_by) else {
            return finding;
        };
        let (label, key) = match (self.step.old()[index].prune, prunes(flux.spec("prune"))) {
            (true, true) => ("it prunes, before the change", "prune"),
            (true, false) => ("its parent lets it prune, before the change", "prune"),
            (false, _) if self.now(from).is_none() => ("it deletes when it goes", "deletionPolicy"),
            (false, _) => ("it does not prune before the change", "prune"),
        };
        finding.related(label, flux.place(key))
    }

    /// Says what becomes of objects that one gives to another one: that may come first, but for where it depends on it.
    fn outcome(&self, Loss { from, to, .. }: &Loss<'_>, (old, new): (&str, &str), them: &str) -> String {
        let flux = |delivery: &Delivery| self.step.after.applying(delivery);
        let was = self.own().find(|other| key(other) == key(to));
        let was = was.and_then(|was| self.step.before.applying(was));
        let both = self.step.before.applying(from).zip(self.still(from).and_then(flux));
        let follows = both.zip(flux(to)).and_then(|(both, to)| self.step.follows((to, was), both));
        let Some(pace) = follows else { return format!("If {old} reconciles first, it deletes {them}") };
        let gone = match (&to.held, pace) {
            (None, Some(pace)) => format!(", up to {} after the merge", length(pace)),
            _ => String::new(),
        };
        let (they, come) = if them == "it" { ("It", "comes") } else { ("They", "come") };
        format!(
            "{new} depends on {old}, so {old} deletes {them} first. {they} {come} back once {new} applies {them}{gone}"
        )
    }

    /// What to merge before the objects of one that stays may go to another one.
    fn first(&self, from: &Delivery, old: &str, them: &str) -> String {
        format!(
            "merge {}, or annotate {them} with `{PRUNE}: disabled`\nwait until the cluster has applied that\nmerge this",
            self.unpruned(from, old)
        )
    }

    /// What keeps one from deleting, and where it is said.
    pub(super) fn unpruned(&self, from: &Delivery, old: &str) -> String {
        match from.applied_by.is_some_and(|position| self.step.before.model.is_made(position)) {
            true => format!("`prune: false` of {old} by `spec.kustomize.patches` of its FluxInstance"),
            false => format!("`prune: false` and `deletionPolicy: Orphan` of {old}"),
        }
    }

    /// Where one of the newer revision says what it builds, or its folder where it is not in Git.
    fn new_place(&self, to: &Delivery) -> Place {
        let flux = self.step.after.applying(to).map(|flux| flux.place("path"));
        flux.unwrap_or_else(|| Place::file(to.path.clone()))
    }
}

/// The word for one object or several.
fn them(names: &BTreeSet<String>) -> &'static str {
    if names.len() == 1 { "it" } else { "them" }
}

/// Names two Flux Kustomizations, by their namespaces too where their names are one.
fn apart(from: &Delivery, to: &Delivery) -> (String, String) {
    let name = |one: &Delivery| match from.name == to.name {
        true => format!("{}/{}", one.namespace, one.name),
        false => one.name.clone(),
    };
    (name(from), name(to))
}
