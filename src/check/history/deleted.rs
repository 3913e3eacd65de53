//! What a change set makes Flux delete.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, named};
use crate::check::code::DELETED_OBJECTS;
use crate::check::delivery::{Delivery, cluster_key};
use crate::check::subject::{ClusterKey, Subject};
use crate::diagnostic::Diagnostic;
use crate::inventory::{Deletion, Inventory, inventories_from};
use crate::plan::classify::is_hashed;
use crate::repo::FluxKustomization;
use crate::repo::manifest::ObjectId;

/// Gives what the Flux Kustomizations of a revision apply, from what has been built of it.
pub(super) fn inventories(subject: &Subject<'_>) -> Vec<Inventory> {
    let deliveries: BTreeMap<usize, &Delivery> =
        subject.deliveries.iter().filter_map(|delivery| Some((delivery.flux?, delivery))).collect();
    inventories_from(subject.model, &|index| {
        let Some(delivery) = deliveries.get(&index) else {
            let flux = &subject.model.flux[index];
            let path = flux.path.as_ref().unwrap_or(&flux.file);
            let key = cluster_key(path, Some(flux), subject.model.cluster_of(flux));
            return (text_of(&key), Err("it builds no folder of this repository".to_owned()));
        };
        let objects = delivery.objects.iter().map(|applied| applied.object.clone());
        (text_of(&delivery.cluster), delivery.error.clone().map_or_else(|| Ok(objects.collect()), Err))
    })
}

/// Gives a cluster as one text.
fn text_of(key: &ClusterKey) -> String {
    format!("{} {} {}", key.home, key.name, key.remote)
}

impl Change<'_> {
    /// Objects that leave Git and that Flux deletes; those of which `told` speaks are left out.
    ///
    /// What another Flux Kustomization applies from then on is told as a move, and a generated object whose
    /// hash alone is another one comes anew.
    pub(super) fn deleted(&self, deletions: &[Deletion], told: &[Diagnostic]) -> Vec<Diagnostic> {
        let cluster = text_of(self.key);
        let mut found: Vec<(&Delivery, &FluxKustomization, bool, BTreeSet<&ObjectId>)> = Vec::new();
        let own = deletions.iter().filter(|deletion| deletion.cluster == cluster && deletion.next.is_none());
        for deletion in own.filter(|deletion| !self.comes_anew(&deletion.id)) {
            let known = found.iter_mut().find(|(_, flux, goes, _)| {
                flux.name == deletion.kustomization
                    && *goes == deletion.goes
                    && flux.place("prune") == deletion.place
            });
            if let Some((.., ids)) = known {
                ids.insert(&deletion.id);
            } else if let Some((delivery, flux)) = self.deleting(deletion, told) {
                found.push((delivery, flux, deletion.goes, BTreeSet::from([&deletion.id])));
            }
        }
        let findings =
            found.into_iter().map(|(delivery, flux, goes, ids)| self.told(delivery, flux, goes, &ids));
        findings.collect()
    }

    /// Gives who deletes, if it does and is not told of elsewhere.
    fn deleting(&self, deletion: &Deletion, told: &[Diagnostic]) -> Option<(&Delivery, &FluxKustomization)> {
        let own = self.before.deliveries.iter().filter(|delivery| delivery.cluster == *self.key);
        let mut own = own.filter_map(|delivery| Some((delivery, self.before.flux(delivery)?)));
        let (delivery, flux) = own
            .find(|(_, flux)| flux.name == deletion.kustomization && flux.place("prune") == deletion.place)?;
        let now = self.still(delivery).and_then(|still| self.after.flux(still));
        let is_told = told.iter().any(|finding| finding.place.as_ref() == Some(&deletion.place));
        // A finalizer of a suspended one deletes nothing (kustomize-controller, `finalize`).
        let is_kept = deletion.goes && (*flux.spec("suspend") == true || self.stands(flux));
        let is_bootstrap = flux.applies_itself() && now.is_some_and(|now| now.path != flux.path);
        (!is_told && !is_kept && !is_bootstrap).then_some((delivery, flux))
    }

    fn told(
        &self,
        delivery: &Delivery,
        flux: &FluxKustomization,
        goes: bool,
        ids: &BTreeSet<&ObjectId>,
    ) -> Diagnostic {
        let names: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
        let count = match names.len() {
            1 => "1 object".to_owned(),
            count => format!("{count} objects"),
        };
        let now = self.still(delivery);
        let is_suspended =
            now.and_then(|now| self.after.flux(now)).is_some_and(|now| *now.spec("suspend") == true);
        let when = match now.and_then(|now| now.held.as_ref()) {
            Some(held) => format!(" when {held} opens"),
            None if is_suspended => " when it is resumed".to_owned(),
            None => String::new(),
        };
        let spaces: Vec<&str> =
            ids.iter().filter(|id| id.kind == "Namespace").map(|id| id.name.as_str()).collect();
        let spaces = match spaces[..] {
            [] => String::new(),
            _ => format!("; with a Namespace goes all that is in it: {}", spaces.join(", ")),
        };
        let by = &flux.name;
        let message = match goes {
            true => {
                format!("{by} leaves Git, which deletes {count} that it applied: {}{spaces}", named(&names))
            }
            false => format!(
                "{by} deletes{when} {count} that this change takes from it: {}{spaces}",
                named(&names)
            ),
        };
        let place = now.and_then(|now| self.after.flux(now)).unwrap_or(flux).place("prune");
        DELETED_OBJECTS.finding(message).at(place).help(
            "merge it if they are to go; else list them again, or annotate them with `kustomize.toolkit.fluxcd.io/prune: disabled` one commit earlier",
        )
    }

    /// Tells whether an object that goes has a hash in its name, and comes again with another one.
    fn comes_anew(&self, id: &ObjectId) -> bool {
        let is_hashed = |found: &Vec<(&Delivery, &super::Applied)>| {
            found.iter().any(|(_, applied)| is_hashed(&applied.object))
        };
        let stem = |id: &ObjectId| id.name.rsplit_once('-').map(|(stem, _)| stem.to_owned());
        self.old.get(id).is_some_and(is_hashed)
            && self.new.iter().any(|(other, found)| {
                (&other.kind, &other.group, &other.namespace) == (&id.kind, &id.group, &id.namespace)
                    && stem(other) == stem(id)
                    && is_hashed(found)
            })
    }
}
