//! What a gate that stands goes on holding although it reads another revision of this repository.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{self, Input};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{GateTarget, shown};
use crate::plan::edit::prepare::{is_orphaning, is_remembering};
use crate::plan::gate::mixed::Standing;
use crate::repo::OtherRevision;

/// What goes on being held, by the position of the type.
pub type Kept = BTreeMap<usize, BTreeSet<GateTarget>>;

/// Returns what the jobs of the gate of a cluster name and what reads another revision, with a note of it.
///
/// Which types that has is not known here, and suspending works whatever it reads: it would begin to land at once, and nobody
/// asked for that.
pub fn kept(input: &Input<'_>, cluster: &str, standing: &Standing<'_>) -> (Kept, Vec<Diagnostic>) {
    let mut kept = Kept::new();
    let mut groups: BTreeMap<&OtherRevision, (Place, BTreeSet<GateTarget>)> = BTreeMap::new();
    // An opening would resume what Git suspends.
    for flux in input.model.flux_of_cluster(cluster).filter(|flux| !flux.is_suspended()) {
        let (Some(other), target) = (&flux.other, GateTarget::of(input, flux)) else { continue };
        // Nothing suspends yet what has not taken over its objects for good.
        let is_unfinished = is_remembering(flux) && !is_orphaning(flux);
        if is_unfinished || !standing.all.iter().any(|job| job.turns(&target)) {
            continue;
        }
        let by_job = || {
            let mut types = standing.by_type.iter();
            types.find(|(_, jobs)| jobs.iter().any(|job| job.turns(&target))).map(|(position, _)| *position)
        };
        let by_side = || {
            let folder = input.model.reached(flux)?.read_elsewhere()?;
            let (_, position) = delivery::by_place(input.spec, &folder, cluster)?;
            Some(position).filter(|position| !input.spec.types[*position].is_real_time())
        };
        // Of a type that has another name now the jobs tell none.
        let Some(position) = by_job().or_else(by_side).or_else(|| input.spec.gated_positions().last()) else {
            continue;
        };
        groups
            .entry(other)
            .or_insert_with(|| (flux.place("sourceRef"), BTreeSet::new()))
            .1
            .insert(target.clone());
        kept.entry(position).or_default().insert(target);
    }
    let told = |(other, (place, targets)): (&OtherRevision, (Place, BTreeSet<GateTarget>))| {
        let (names, them) = (shown(&targets, input.spec), if targets.len() == 1 { "it" } else { "them" });
        Diagnostic::note(format!("the gate of cluster {cluster} goes on holding {names}: {other}"))
            .at(place)
            .help(format!(
                "to let {them} land at once, remove {them} from the command of each CronJob\nrun `gitops-windows sync`"
            ))
    };
    (kept, groups.into_iter().map(told).collect())
}
