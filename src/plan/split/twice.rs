//! Objects of a divided entry point that something else applies at once: no window will hold them.

use std::collections::BTreeSet;

use crate::delivery::inventory::{Inventory, inventories_of};
use crate::delivery::{EntryPoint, Input};
use crate::diagnostic::Diagnostic;
use crate::mechanism::GateTarget;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, built};
use crate::text::some;

/// The most objects that a warning names.
const MOST: usize = 5;

/// Warns of Flux Kustomizations that land at once and apply objects with a window of entry points that are to be divided.
///
/// Only those are built that take in a folder which such an entry point takes in too.
pub(super) fn applied_at_once(input: &Input<'_>, divided: &[&EntryPoint]) -> Vec<Diagnostic> {
    let graph = &input.model.graph;
    let is_divided =
        |flux: &FluxKustomization| divided.iter().any(|entry| flux.path.as_ref() == Some(&entry.path));
    let is_free = |flux: &&FluxKustomization| {
        let gated = input.model.closings.running(&flux.cluster, &GateTarget::of(input, flux));
        !is_divided(flux) && gated.is_none() && !flux.is_suspended()
    };
    // One file may be for several clusters, each by a `kubeConfig`.
    let goes_to = |flux: &FluxKustomization| (flux.remote.clone(), flux.spec("kubeConfig").clone());
    let mut pairs: Vec<(&EntryPoint, &FluxKustomization)> = Vec::new();
    for entry in divided {
        let own = built(graph, &entry.path);
        let overlaps = |flux: &&FluxKustomization| {
            flux.path.as_ref().is_some_and(|path| !built(graph, path).is_disjoint(&own))
        };
        for cluster in entry.clusters() {
            let places: Vec<_> = input.model.flux_in(entry, cluster).map(goes_to).collect();
            let is_near = |flux: &&FluxKustomization| places.contains(&goes_to(flux));
            let all = input.model.flux_of_cluster(cluster).filter(is_free).filter(is_near).filter(overlaps);
            pairs.extend(all.map(|flux| (*entry, flux)));
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let is_asked = |flux: &FluxKustomization| pairs.iter().any(|(_, one)| std::ptr::eq(*one, flux));
    let inventories = inventories_of(input.model, input.snapshot, input.renderer, &is_asked);
    let told = pairs.into_iter().filter_map(|(entry, flux)| {
        let typed = match input.typed_as_applied(entry, &flux.cluster) {
            Ok(Some(typed)) => typed,
            _ => input.typed_entry(input.snapshot, entry).ok()?,
        };
        let waits = typed.objects.iter().zip(&typed.types).filter(|(_, classified)| {
            !input.spec.types[classified.change_type].is_real_time()
        });
        let waiting: BTreeSet<ObjectId> = waits.map(|(object, _)| ObjectId::of(&object.value)).collect();
        let own = Inventory::find(&inventories, &flux.cluster, flux)?;
        let objects = own.objects.as_ref().ok()?;
        let both: BTreeSet<ObjectId> = objects
            .iter()
            .map(|object| own.live_id(object))
            .filter(|id| !id.has_variable() && waiting.contains(id))
            .collect();
        let names: Vec<String> = both.iter().map(ToString::to_string).collect();
        let them = if names.len() == 1 { "it" } else { "them" };
        (!names.is_empty()).then(|| {
            Diagnostic::warning(format!(
                "{} of cluster {} applies {} of {} too, and at once. No window will hold {them}",
                flux.name,
                flux.cluster,
                some(&names, MOST),
                entry.path
            ))
            .at(flux.place("path"))
            .help(
                "let one Flux Kustomization apply each object, before or after the split\nsee with `gitops-windows check` how no cluster deletes anything by that",
            )
        })
    });
    told.collect()
}
