//! Folders of clusters that move.

use std::collections::BTreeSet;

use super::step::Step;
use super::{Told, named};
use crate::check::code::BOOTSTRAP_PATH;
use crate::check::subject::Subject;
use crate::delivery::inventory::{is_kept, prunes};
use crate::delivery::{ClusterKey, Delivery};
use crate::diagnostic::Diagnostic;
use crate::render::Request;
use crate::repo::FluxKustomization;
use crate::repo::flux::GROUP;
use crate::repo::manifest::ObjectId;

/// Finds Flux Kustomizations that apply themselves and whose folder goes, or gets another name.
///
/// Such a one learns of its new path only from its old folder. A folder that goes without another one that
/// brings the same belongs to a cluster that goes.
pub fn bootstrap(step: &Step<'_>) -> Vec<Told> {
    let (before, after) = (step.before, step.after);
    let own = before.deliveries.iter().filter(|delivery| delivery.error.is_none());
    let own = own.filter_map(|delivery| Some((delivery, before.flux(delivery)?)));
    own.filter(|(_, flux)| flux.applies_itself())
        .filter_map(|(delivery, flux)| {
            let finding = match in_its_file(flux, after) {
                Some(_) => redirected(delivery, flux, step),
                None => renamed(delivery, flux, before, after),
            };
            let finding = finding.or_else(|| unlisted(delivery, flux, step));
            Some(Told::of(&delivery.cluster, finding?))
        })
        .collect()
}

fn is_same(one: &FluxKustomization, other: &FluxKustomization) -> bool {
    (&one.name, &one.namespace) == (&other.name, &other.namespace)
}

fn live_ids(delivery: &Delivery) -> BTreeSet<&ObjectId> {
    delivery.objects.iter().map(|applied| &*applied.live).collect()
}

fn built_ids(delivery: &Delivery) -> BTreeSet<&ObjectId> {
    delivery.objects.iter().map(|applied| &*applied.id).collect()
}

/// What may be a Flux Kustomization from now on, where its old folder goes, or what Flux knows of it does: it has its name, and
/// brings most of what that brought from a folder that is new.
fn candidates<'a>(
    delivery: &Delivery,
    flux: &FluxKustomization,
    before: &Subject<'_>,
    after: &'a Subject<'_>,
) -> Vec<(&'a Delivery, &'a FluxKustomization)> {
    let is_new = |other: &Delivery| !before.model.flux_at(&other.path).any(FluxKustomization::applies_itself);
    let found = after.deliveries.iter().filter_map(|other| {
        let now = after.flux(other).filter(|now| now.applies_itself() && is_same(now, flux))?;
        let (old, new) = (built_ids(delivery), built_ids(other));
        (is_new(other) && old.intersection(&new).count() * 2 > old.len()).then_some((other, now))
    });
    found.collect()
}

/// The old folder goes, and a new one of the same cluster is there; of a cluster with a new name only where it can be no other.
fn renamed(
    delivery: &Delivery,
    flux: &FluxKustomization,
    before: &Subject<'_>,
    after: &Subject<'_>,
) -> Option<Diagnostic> {
    let found = candidates(delivery, flux, before, after);
    let own = found.iter().find(|(other, _)| other.cluster == delivery.cluster);
    let (other, now) = *own.or_else(|| {
        let is_free = |(other, _): &&(&Delivery, _)| before.deliveries_of(&other.cluster).next().is_none();
        let mut free = found.iter().filter(is_free);
        let one = free.next().filter(|_| free.next().is_none())?;
        let mut others = before.deliveries.iter().filter(|old| old.cluster != delivery.cluster);
        let is_it = |old: &Delivery| {
            let flux =
                before.flux(old).filter(|flux| flux.applies_itself() && in_its_file(flux, after).is_none());
            flux.is_some_and(|flux| {
                candidates(old, flux, before, after).iter().any(|(other, _)| other.path == one.0.path)
            })
        };
        (!others.any(is_it)).then_some(one)
    })?;
    let (old, new) = (&delivery.path, &other.path);
    Some(
        BOOTSTRAP_PATH
            .finding(format!(
                "{new} replaces {old}, but Flux Kustomization {} in the cluster still builds {old}. Nothing of {new} reaches it",
                flux.name
            ))
            .at(now.place("path"))
            .related("this is the path that the cluster has", flux.place("path"))
            .help(format!(
                "keep {old} beside {new} for one commit, with `path: ./{new}` in {}\nremove {old} when the cluster has applied that",
                flux.file
            )),
    )
}

fn in_its_file<'a>(flux: &FluxKustomization, after: &Subject<'a>) -> Option<&'a FluxKustomization> {
    // The former folder of a cluster stays for one commit, in which nothing brings it any more.
    let unlisted = after.model.unlisted.iter().filter(|now| now.file == flux.file);
    after.model.flux_in_file(&flux.file).iter().chain(unlisted).find(|now| is_same(now, flux))
}

/// Returns what a Flux Kustomization becomes that gets another path in its file.
fn successor<'a>(flux: &FluxKustomization, after: &Subject<'a>) -> Option<&'a FluxKustomization> {
    in_its_file(flux, after).filter(|now| now.path != flux.path)
}

/// Returns whether a cluster goes by another name from then on, since its folder is another one.
pub fn is_renamed(cluster: &ClusterKey, before: &Subject<'_>, after: &Subject<'_>) -> bool {
    let mut own =
        before.deliveries_of(cluster).filter_map(|delivery| Some((delivery, before.flux(delivery)?)));
    own.any(|(delivery, flux)| {
        flux.applies_itself()
            && match in_its_file(flux, after) {
                Some(_) => successor(flux, after).is_some_and(|now| now.cluster != cluster.name),
                None => delivery.error.is_none() && !candidates(delivery, flux, before, after).is_empty(),
            }
    })
}

/// The folder stands, and brings what applies it no more: that prunes itself, and its finalizer prunes all that it applied
/// (kustomize-controller, `prune` and `finalize`), or leaves what its last pass has applied.
fn unlisted(delivery: &Delivery, flux: &FluxKustomization, step: &Step<'_>) -> Option<Diagnostic> {
    let (after, path) = (step.after, &delivery.path);
    if !after.model.delivered.deletes_itself(path) {
        return None;
    }
    let last = after.model.delivered.last_in(path);
    let builds = after.deliveries.iter().filter(|other| other.path == *path && last.is_some());
    let is_left = |live: &ObjectId| builds.clone().any(|other| live_ids(other).contains(live));
    let is_itself = |live: &ObjectId| {
        live.group == GROUP
            && (&live.kind[..], &live.name, &live.namespace) == ("Kustomization", &flux.name, &flux.namespace)
    };
    let rest = delivery.objects.iter().filter(|one| !is_itself(&one.live) && !is_kept(one.value()));
    let names: BTreeSet<String> =
        rest.filter(|one| !is_left(&one.live)).map(|one| one.live.to_string()).collect();
    let gone = match (last, names.is_empty()) {
        (None, _) => format!("It deletes itself with all that it applied: {}", named(&names)),
        (Some(_), true) => format!("It deletes itself, and nothing applies {path} any more"),
        (Some(_), false) => {
            format!(
                "It deletes itself with what leaves with it: {}. Nothing applies {path} any more",
                named(&names)
            )
        }
    };
    let lost = last.map(|own| own.kustomizations.iter().filter(|one| own.lost_source(one).is_some()).count());
    let lost = match lost.unwrap_or_default() {
        0 => String::new(),
        1 => ". 1 Flux Kustomization loses its source".to_owned(),
        lost => format!(". {lost} Flux Kustomizations lose their source"),
    };
    Some(
        BOOTSTRAP_PATH
            .finding(format!("{} leaves the build of its own folder {path}. {gone}{lost}", flux.name))
            .at(flux.place("prune"))
            .help(format!(
                "let {path} bring it again\nor merge `prune: false` of {} first, and this once that is applied",
                flux.name
            )),
    )
}

/// The old folder stands, and gives another path that brings less.
fn redirected(delivery: &Delivery, flux: &FluxKustomization, step: &Step<'_>) -> Option<Diagnostic> {
    let after = step.after;
    let now = successor(flux, after)?;
    let next = after.deliveries.iter().find(|other| {
        other.error.is_none()
            && after.flux(other).is_some_and(|flux| is_same(flux, now) && flux.path == now.path)
    })?;
    let theirs = after.deliveries_of(&next.cluster).filter(|other| other.applied_by.is_some());
    let kept: BTreeSet<&ObjectId> = theirs.flat_map(live_ids).collect();
    let lost = delivery.objects.iter().filter(|one| !kept.contains(&*one.live) && !is_kept(one.value()));
    let lost: Vec<_> = lost.collect();
    if lost.is_empty() || !step.new_at(next.flux?).prune {
        return passed_once(delivery, flux, next, after);
    }
    let names: BTreeSet<String> = lost.iter().map(|one| one.live.to_string()).collect();
    let others = match lost.iter().any(|one| one.is(GROUP, "Kustomization")) {
        true => ". These Flux Kustomizations take their own objects with them",
        false => "",
    };
    Some(
        BOOTSTRAP_PATH
            .finding(format!(
                "{} builds {} instead of {}, and deletes objects that are missing there: {}{others}",
                now.name,
                next.path,
                delivery.path,
                named(&names)
            ))
            .at(now.place("path"))
            .help(format!("let {} list everything of {} before the path changes", next.path, delivery.path)),
    )
}

/// The old folder stands for the pass in which its build gives the new path, and does not bring all that it brought: that pass
/// prunes by the older spec (kustomize-controller, `reconcile`).
fn passed_once(
    delivery: &Delivery,
    flux: &FluxKustomization,
    next: &Delivery,
    after: &Subject<'_>,
) -> Option<Diagnostic> {
    let spec = &flux.effective["spec"];
    let request = Request::flux(delivery.path.clone(), spec);
    let built = after.renderer.render(after.snapshot, &[request]).pop()?.ok()?;
    let built: BTreeSet<ObjectId> = built.iter().map(|object| ObjectId::of(&object.value)).collect();
    let lost = delivery.objects.iter().filter(|one| !built.contains(&*one.id) && !is_kept(one.value()));
    let names: BTreeSet<String> = lost.map(|one| one.live.to_string()).collect();
    (prunes(&spec["prune"]) && !names.is_empty()).then(|| {
        BOOTSTRAP_PATH
            .finding(format!(
                "{} still builds {} once, and deletes what is missing there: {}. {} brings that back",
                flux.name,
                delivery.path,
                named(&names),
                next.path
            ))
            .at(flux.place("path"))
            .help(format!(
                "leave everything of {} in place for one commit\nremove it when the cluster has applied the new path",
                delivery.path
            ))
    })
}
