//! The source from which a cluster fetches its gate.

use serde_json::{Value, json};

use crate::delivery::{Input, SourceId};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::mechanism::{ClusterGate, join};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::repo::FluxKustomization;

/// The files of a gate that decide whether its build can begin.
pub(super) struct GateLists(Vec<RepoPath>);

impl GateLists {
    /// Returns the lists of a cluster's gate and of the base that it builds on.
    ///
    /// # Errors
    ///
    /// When the layout gives no folder.
    pub fn of(input: &Input<'_>, builder: &Builder<'_>, cluster: &ClusterGate) -> Result<GateLists, Error> {
        let folders = [cluster.folder.clone(), input.spec.gate_base()?];
        let stand = folders.iter().filter(|folder| matches!(builder.kustomization(folder), Ok(Some(_))));
        Ok(GateLists(stand.map(|folder| join(folder, "kustomization.yaml")).collect::<Result<_, _>>()?))
    }

    /// Returns whether the source of a Flux Kustomization fetches them.
    pub fn are_fetched(&self, input: &Input<'_>, flux: &FluxKustomization) -> bool {
        let top = input.model.top_of_source(flux);
        let is_fetched =
            |list: &RepoPath| list.is_within(&top) && input.model.left_out_for(flux, list).is_none();
        self.0.iter().all(is_fetched)
    }

    /// Returns the Flux Kustomization whose source is to fetch them: `own`, or where that source leaves them out, another
    /// one of its cluster, first one that reads the source of the spec, then a root.
    ///
    /// # Errors
    ///
    /// When the source of none fetches them.
    pub fn reader<'m>(
        &self,
        input: &Input<'m>,
        own: &'m FluxKustomization,
    ) -> Result<&'m FluxKustomization, Error> {
        if self.are_fetched(input, own) {
            return Ok(own);
        }
        let wanted = &input.spec.flux.source.name;
        let is_here = |other: &&FluxKustomization| {
            let reached = input.model.reached(other);
            other.path.is_some()
                && other.remote == own.remote
                && reached.is_some_and(|one| one.other.is_none())
        };
        let all = input.model.flux_of_cluster(&own.cluster).filter(is_here);
        let fetching = all.filter(|other| self.are_fetched(input, other));
        let rank = |other: &&FluxKustomization| (other.source_name() != wanted, !other.applies_itself());
        match fetching.min_by_key(rank) {
            Some(other) => Ok(other),
            None => self.unfetched(input, own).map_or(Ok(own), Err),
        }
    }

    /// Says that nothing fetches them; `None` where the artifact only begins elsewhere.
    fn unfetched(&self, input: &Input<'_>, own: &FluxKustomization) -> Option<Error> {
        let left_out = |list: &RepoPath| Some((list.clone(), input.model.left_out_for(own, list)?));
        let (list, why) = self.0.iter().find_map(left_out)?;
        let text = format!(
            "{} {} does not fetch {list} of the gate: {why}. No other source in Git does",
            own.source_kind(),
            own.source_name()
        );
        let help = format!(
            "commit what `flux bootstrap` wrote, so that its source is known\nor {}\nor name folders that Flux fetches under `layout`",
            why.remedy()
        );
        Some(Error::new(ErrorKind::Unsafe, Diagnostic::error(text).at(own.place("sourceRef")).help(help)))
    }
}

/// Returns the `sourceRef` of a Flux Kustomization, or that of what its held source follows: a gate that waits for itself
/// could never be mended. It names its namespace where that is not `namespace`.
pub(super) fn live_source(input: &Input<'_>, flux: &FluxKustomization, namespace: &str) -> Value {
    let own = input.model.delivered.named(&flux.cluster);
    let id = SourceId::of(&flux.effective["spec"], &flux.namespace);
    let fetched = input.model.fetched_source(flux);
    let live = own.map_or(fetched.clone(), |own| own.live_of(&fetched));
    let mut source = flux.spec("sourceRef").clone();
    if live != id {
        let namespace = Some(live.namespace).filter(|namespace| *namespace != flux.namespace);
        source = json!({ "kind": live.kind, "name": live.name, "namespace": namespace });
    }
    let home = input.namespace(flux);
    if source["namespace"].is_null() && home != namespace {
        source["namespace"] = json!(home);
    }
    source
}
