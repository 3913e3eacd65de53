//! What a gate leaves out, as Git suspends it or what brings it.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{BuiltJob, Doubt, Input, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{GateTarget, shown};
use crate::path::RepoPath;
use crate::plan::gate::mixed::Standing;
use crate::repo::FluxKustomization;

/// Returns whether a gate leaves out a Flux Kustomization: an opening would resume what Git suspends.
///
/// What only a suspended one brings may not be there, and a job that names what is missing fails at each run. What the jobs
/// of the gate that stands name stays: it may be there. What holds a source names none.
pub fn is_left_out<'j>(
    input: &Input<'_>,
    flux: &FluxKustomization,
    jobs: impl IntoIterator<Item = &'j BuiltJob>,
) -> bool {
    flux.is_suspended() || suspended_above(input, flux, jobs).is_some()
}

/// Returns the name of the suspended one for which a gate leaves out what it brings.
fn suspended_above<'a, 'j>(
    input: &Input<'a>,
    flux: &FluxKustomization,
    jobs: impl IntoIterator<Item = &'j BuiltJob>,
) -> Option<&'a str> {
    let Doubt::Suspended(above) = input.model.doubt(flux)? else { return None };
    let target = GateTarget::of(input, flux);
    let is_named = || jobs.into_iter().any(|job| job.turns(&target));
    (!input.spec.gate.mechanism.holds_sources() && !is_named()).then_some(above.as_str())
}

/// Says which Flux Kustomizations a gate would hold back if Git did not suspend them, or what brings them.
pub(super) fn notes(
    input: &Input<'_>,
    sides: &Sides,
    entries: &BTreeMap<RepoPath, (usize, BTreeSet<GateTarget>)>,
    cluster: &str,
    standing: &Standing<'_>,
) -> Vec<Diagnostic> {
    let is_gated = |path: &RepoPath| {
        let side = sides.get(path).map(|(_, position)| *position);
        side.is_some_and(|position| !input.spec.types[position].is_real_time()) || entries.contains_key(path)
    };
    let mut suspended: BTreeSet<GateTarget> = BTreeSet::new();
    let mut brought: BTreeMap<&str, (Place, BTreeSet<GateTarget>)> = BTreeMap::new();
    let own = input.model.flux_of_cluster(cluster);
    for flux in own.filter(|flux| flux.path.as_ref().is_some_and(is_gated)) {
        let target = GateTarget::of(input, flux);
        if flux.is_suspended() {
            suspended.insert(target);
        } else if let Some(above) = suspended_above(input, flux, standing.all) {
            let by = input.model.kept_out_by(flux);
            let place = || by.map_or_else(|| flux.place("path"), |by| by.place("suspend"));
            brought.entry(above).or_insert_with(|| (place(), BTreeSet::new())).1.insert(target);
        }
    }
    let mut found = Vec::new();
    if !suspended.is_empty() {
        let names = shown(&suspended, input.spec);
        found.push(Diagnostic::note(format!(
            "the gate of cluster {cluster} leaves out {names}: `suspend: true` stands in Git"
        )));
    }
    found.extend(brought.into_iter().map(|(above, (place, targets))| {
        let (names, them) = (shown(&targets, input.spec), if targets.len() == 1 { "it" } else { "them" });
        Diagnostic::note(format!(
            "the gate of cluster {cluster} leaves out {names}: Git suspends {above}, which brings {them}"
        ))
        .at(place)
        .help(format!(
            "what the cluster has of this lands at once; `flux get kustomizations` shows it\nwhen Git resumes {above}, run `gitops-windows sync` in the same commit"
        ))
    }));
    found
}
