//! What a change set makes Flux delete.

use std::collections::BTreeSet;

use super::step::{Fate, Step, key_of, text_of};
use super::{Change, Index, Told, bootstrap, key, named};
use crate::check::code::DELETED_OBJECTS;
use crate::delivery::classify::is_hashed;
use crate::delivery::inventory::{Deletion, is_kept};
use crate::delivery::{Delivery, Hold, Role, outside};
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::flux::GROUP;
use crate::repo::manifest::ObjectId;

/// Finds Flux Kustomizations that go and delete what nothing here tells: they build from another source, or
/// their folder does not build.
pub(super) fn unknown(step: &Step<'_>) -> Vec<Told> {
    let fluxes = step.before.model.all_kustomizations().zip(step.old()).enumerate();
    let gone = fluxes.filter(|(index, (_, old))| {
        old.objects.is_err()
            && step.now(*index).is_none()
            && step.fate(*index) == Fate::Deletes
            && !bootstrap::is_renamed(&key_of(step.before, *index), step.before, step.after)
    });
    let findings = gone.map(|(index, (flux, _))| {
        let message = match step.removed_outside(flux) {
            Some(folder) => {
                let outside = outside(folder);
                format!("{} leaves Git. If {outside} prunes, that deletes all of its objects", flux.name)
            }
            None => format!("{} leaves Git, which deletes all of its objects", flux.name),
        };
        let finding = DELETED_OBJECTS
            .finding(format!("{message}. Which these are is not known here"))
            .at(flux.place("prune"))
            .help(format!(
                "list them with `flux tree kustomization {}`\nmerge this if all of them should go\nor merge `prune: false` and `deletionPolicy: Orphan` first",
                flux.name
            ));
        Told::of(&key_of(step.before, index), finding)
    });
    findings.collect()
}

/// What to do about objects that go.
const DELETED_HELP: &str = "merge this if they should go\nor list them again\nor annotate them with `kustomize.toolkit.fluxcd.io/prune: disabled` one commit earlier";

/// What to do about objects that move between what is not in Git.
const MOVED_HELP: &str = "annotate them with `kustomize.toolkit.fluxcd.io/prune: disabled` one commit earlier\nremove the annotation when they have arrived\nor do nothing where no Flux Kustomization prunes the old folder";

/// Says how many objects there are.
fn counted(ids: &BTreeSet<&ObjectId>) -> String {
    match ids.len() {
        1 => "1 object".to_owned(),
        count => format!("{count} objects"),
    }
}

/// Names objects that go, and what goes with them; `within` are objects that stand in Namespaces among them.
fn listed(ids: &BTreeSet<&ObjectId>, within: &BTreeSet<&ObjectId>) -> String {
    let names: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    let spaces: Vec<&str> =
        ids.iter().filter(|id| id.kind == "Namespace").map(|id| id.name.as_str()).collect();
    match spaces[..] {
        [] => named(&names),
        _ => {
            let is_in = |id: &&&ObjectId| spaces.contains(&id.namespace.as_str());
            let within: BTreeSet<String> = within.iter().filter(is_in).map(ToString::to_string).collect();
            let among =
                if within.is_empty() { String::new() } else { format!(", among them {}", named(&within)) };
            format!("{}. With a Namespace go all objects in it: {}{among}", named(&names), spaces.join(", "))
        }
    }
}

/// Returns whether two ids with a hash in their names differ in that alone.
pub(super) fn is_renewed(id: &ObjectId, other: &ObjectId) -> bool {
    let but_hash = |id: &ObjectId| id.name.rsplit_once('-').map(|(stem, _)| stem.to_owned());
    (&other.kind, &other.group, &other.namespace) == (&id.kind, &id.group, &id.namespace)
        && other != id
        && but_hash(other) == but_hash(id)
}

/// Says that what applies a folder from outside of Git deletes objects.
pub(super) fn lost_outside(folder: &RepoPath, ids: &BTreeSet<&ObjectId>, place: Place) -> Diagnostic {
    let who = outside(folder);
    let message = format!(
        "{who} deletes {} by this change, if it prunes: {}",
        counted(ids),
        listed(ids, &BTreeSet::new())
    );
    DELETED_OBJECTS.finding(message).at(place).help(DELETED_HELP)
}

/// As [`lost_outside`], of objects that something else applies from then on.
pub(super) fn moved_outside(
    folder: &RepoPath,
    ids: &BTreeSet<&ObjectId>,
    to: &str,
    place: Place,
) -> Diagnostic {
    let (who, count, listed) = (outside(folder), counted(ids), listed(ids, &BTreeSet::new()));
    let message = format!("{who} deletes {count} if it prunes before {to} is applied: {listed}");
    DELETED_OBJECTS.finding(message).at(place).help(MOVED_HELP)
}

impl<'s> Change<'s> {
    /// Objects that leave Git and that Flux deletes.
    ///
    /// What another Flux Kustomization applies from then on is told as a move, and a generated object whose
    /// hash alone is another one comes anew.
    pub(super) fn deleted(&self, deletions: &[Deletion]) -> Vec<Diagnostic> {
        let cluster = text_of(self.key_now);
        let mut found: Vec<(&Delivery, &FluxKustomization, bool, BTreeSet<&ObjectId>)> = Vec::new();
        let own = deletions.iter().filter(|deletion| deletion.cluster == cluster && deletion.next.is_none());
        let own: Vec<_> = own.filter(|deletion| !self.comes_anew(&deletion.id)).collect();
        let spaces = self.going(&own);
        // What waits goes all the same with its Namespace, and is told with that.
        let (within, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|deletion| {
            spaces.contains(deletion.id.namespace.as_str()) && self.waits_to_delete(deletion)
        });
        let within: BTreeSet<&ObjectId> = within.iter().map(|deletion| &deletion.id).collect();
        for deletion in own {
            let known = found.iter_mut().find(|(_, flux, goes, _)| {
                flux.name == deletion.kustomization
                    && *goes == deletion.goes
                    && flux.place("prune") == deletion.place
            });
            if let Some((.., ids)) = known {
                ids.insert(&deletion.id);
            } else if let Some((delivery, flux)) = self.deleting(deletion) {
                found.push((delivery, flux, deletion.goes, BTreeSet::from([&deletion.id])));
            }
        }
        let findings = found
            .into_iter()
            .map(|(delivery, flux, goes, ids)| self.told(delivery, flux, goes, (&ids, &within)));
        findings.collect()
    }

    /// Returns the Namespaces that go at once: what is in one goes with it, whatever holds back the Flux Kustomization of that
    /// (Kubernetes, `namespaced_resources_deleter.go`).
    fn going<'d>(&self, own: &[&'d Deletion]) -> BTreeSet<&'d str> {
        let spaces = own.iter().filter(|deletion| deletion.id.is_namespace());
        let at_once =
            spaces.filter(|deletion| self.deletes(deletion).is_some() && !self.waits_to_delete(deletion));
        at_once.map(|deletion| deletion.id.name.as_str()).collect()
    }

    /// Returns whether what deletes an object is held back until then.
    fn waits_to_delete(&self, deletion: &Deletion) -> bool {
        let by = (deletion.namespace.as_str(), deletion.kustomization.as_str());
        let mut now = self.deliveries.iter().filter(|now| now.applied_by.is_some() && key(now) == by);
        now.any(|now| now.held.is_some())
    }

    /// Objects that leave a folder which something outside of Git builds, for good or for another such folder.
    pub(super) fn deleted_outside(&self) -> Vec<Diagnostic> {
        let is_outside = |delivery: &&Delivery| delivery.applied_by.is_none() && delivery.role == Role::Apps;
        let mut findings = Vec::new();
        for delivery in self.step.before.deliveries_of(self.key).filter(is_outside) {
            // Where the folder goes, its build fails, which prunes nothing.
            let now =
                self.deliveries.iter().find(|now| now.path == delivery.path).filter(|now| is_outside(now));
            let Some(now) = now else { continue };
            let owners = |index: &Index<'s>, id: &ObjectId| -> Vec<&'s Delivery> {
                index.get(id).into_iter().flatten().map(|(owner, _)| *owner).collect()
            };
            let leaves = |id: &&ObjectId| {
                let (had, has) = (owners(&self.had, id), owners(&self.has, id));
                let is_new =
                    |owner: &&Delivery| is_outside(owner) && !had.iter().any(|was| was.path == owner.path);
                had.iter().all(is_outside) && has.iter().all(is_new) && !self.comes_anew(id)
            };
            let applied = delivery.objects.iter().filter(|applied| !is_kept(applied.value()));
            let ids: BTreeSet<&ObjectId> = applied.map(|applied| &*applied.live).filter(leaves).collect();
            let (lost, moved): (BTreeSet<&ObjectId>, BTreeSet<&ObjectId>) =
                ids.into_iter().partition(|id| owners(&self.has, id).is_empty());
            let place = self.step.after.model.graph.get(&now.path).map(|list| list.file.clone());
            let place = Place::file(place.unwrap_or_else(|| now.path.clone()));
            if !lost.is_empty() {
                findings.push(lost_outside(&now.path, &lost, place.clone()));
            }
            if let Some(first) = moved.first() {
                let to: Vec<String> =
                    owners(&self.has, first).iter().map(|owner| owner.path.to_string()).collect();
                findings.push(moved_outside(&now.path, &moved, &to.join(" and "), place));
            }
        }
        findings
    }

    /// Returns who deletes, if it does.
    fn deletes(&self, deletion: &Deletion) -> Option<(&'s Delivery, &'s FluxKustomization)> {
        let mut own =
            self.own().filter_map(|delivery| Some((delivery, self.step.before.applying(delivery)?)));
        let (delivery, flux) = own
            .find(|(_, flux)| flux.name == deletion.kustomization && flux.place("prune") == deletion.place)?;
        let deletes =
            self.fate(delivery) == Some(Fate::Deletes) && deletion.goes == self.now(delivery).is_none();
        deletes.then_some((delivery, flux))
    }

    /// As [`deletes`](Change::deletes), where it is not told of elsewhere.
    fn deleting(&self, deletion: &Deletion) -> Option<(&'s Delivery, &'s FluxKustomization)> {
        let (delivery, flux) = self.deletes(deletion)?;
        let is_told =
            deletion.goes && !self.left_alone(delivery).is_empty() || self.is_unknown(&deletion.built);
        let now = self.still(delivery).and_then(|still| self.step.after.applying(still));
        let is_bootstrap =
            delivery.flux.is_some() && flux.applies_itself() && now.is_some_and(|now| now.path != flux.path);
        (!is_told && !is_bootstrap).then_some((delivery, flux))
    }

    /// Returns whether an object is a Flux Kustomization of which [`unknown`] speaks.
    fn is_unknown(&self, id: &ObjectId) -> bool {
        id.group == GROUP
            && self.step.before.model.all_kustomizations().zip(self.step.old()).any(|(flux, old)| {
                old.objects.is_err() && (&flux.name, &flux.namespace) == (&id.name, &id.namespace)
            })
    }

    fn told(
        &self,
        delivery: &Delivery,
        flux: &FluxKustomization,
        goes: bool,
        (ids, within): (&BTreeSet<&ObjectId>, &BTreeSet<&ObjectId>),
    ) -> Diagnostic {
        let (count, listed) = (counted(ids), listed(ids, within));
        let now = self.still(delivery);
        let flux_now = now.and_then(|now| self.step.after.applying(now));
        let when = match now.and_then(|now| now.held.as_ref()) {
            Some(Hold::Suspended) => " when it is resumed".to_owned(),
            Some(held) if flux_now.is_some_and(|now| self.step.rebuilds(flux, now)) => {
                format!(" at once, by its new spec, or {}", held.end())
            }
            Some(held) => format!(" {}", held.within()),
            None => String::new(),
        };
        let by = &flux.name;
        // It may reconcile before or after whoever applies it has given it the other value.
        let changes = delivery.applied_by.is_some_and(|index| {
            self.now(delivery).is_some_and(|now| now.prune != self.step.old()[index].prune)
        });
        let deletes = if changes { "may delete" } else { "deletes" };
        let message = match goes {
            true => match self.step.removed_outside(flux) {
                Some(folder) => {
                    let outside = outside(folder);
                    format!(
                        "{by} leaves Git. If {outside} prunes, that deletes {count} that it applied: {listed}"
                    )
                }
                None => match self.open(delivery) {
                    Some(open) => format!(
                        "{by} leaves Git. If {open} then, that deletes {count} that it applied: {listed}"
                    ),
                    None => format!("{by} leaves Git, which deletes {count} that it applied: {listed}"),
                },
            },
            false => {
                let them = if ids.len() == 1 { "it" } else { "them" };
                format!("this change takes {count} from {by}, which {deletes} {them}{when}: {listed}")
            }
        };
        let place = flux_now.unwrap_or(flux).place("prune");
        DELETED_OBJECTS.finding(message).at(place).help(DELETED_HELP)
    }

    /// Returns whether an object that goes has a hash in its name, and comes again with another one from what applies it:
    /// a folder that nothing in Git builds says so only of objects that nothing in Git had.
    fn comes_anew(&self, id: &ObjectId) -> bool {
        let Some(had) = self.had.get(id).filter(|had| had.iter().any(|(_, was)| is_hashed(&was.object)))
        else {
            return false;
        };
        let was_in_git = had.iter().any(|(owner, _)| owner.applied_by.is_some());
        self.has.iter().any(|(other, found)| {
            is_renewed(id, other)
                && found
                    .iter()
                    .any(|(owner, now)| is_hashed(&now.object) && (owner.applied_by.is_some() || !was_in_git))
        })
    }
}
