//! Flux Kustomizations of which a change takes the source away.

use super::Change;
use crate::check::audit::lacks;
use crate::check::code::MISSING_SOURCE;
use crate::delivery::SourceId;
use crate::diagnostic::{Diagnostic, Severity};
use crate::repo::FluxKustomization;

impl Change<'_> {
    /// Finds Flux Kustomizations that read a source which the older revision brings and this one does not: without it, Flux
    /// applies nothing (kustomize-controller, `getSource`).
    pub(super) fn unsourced(&self) -> Vec<Diagnostic> {
        let all = self.deliveries.iter().filter_map(|delivery| self.step.after.flux(delivery));
        all.filter_map(|flux| self.unsourced_one(flux)).collect()
    }

    fn unsourced_one(&self, flux: &FluxKustomization) -> Option<Diagnostic> {
        let after = self.step.after.model.delivered.named(&flux.cluster)?;
        let before = self.step.before.model.delivered.named(&self.key.name)?;
        let id = lacks(self.step.after, after, flux).filter(|id| before.source(id).is_some())?;
        let live = before.live_of(&id);
        let help = match live != id && after.source(&live).is_some() {
            true => format!("write `name: {}` in its `sourceRef`, which the source followed", live.name),
            false => "keep the source, or name another one in its `sourceRef`".to_owned(),
        };
        let SourceId { kind, namespace, name } = &id;
        let text = format!(
            "{} reads {kind} {namespace}/{name}, which this change takes out of Git. Without it, nothing is applied",
            flux.name
        );
        let finding = MISSING_SOURCE.finding(text).at(flux.place("sourceRef")).help(help);
        Some(Diagnostic { severity: Severity::Error, ..finding })
    }
}
