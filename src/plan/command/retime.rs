//! What an edit of freezes and overrides brings along: the tables of the gates that stand, and nothing else.

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::error::Error;
use crate::plan::command::sync::obligations;
use crate::plan::{Plan, gate, is_remote};
use crate::proof::Obligation;
use crate::render::Request;
use crate::spec::Spec;

/// Plans what freezes and overrides change that are not those of the spec `before`.
///
/// Gates that can't be written are left, with what works in their place. What else differs from the spec waits for
/// `sync`.
///
/// # Errors
///
/// When jobs would see a time late or not at all, and when gates stand that the edit is about and it reaches none of them.
pub fn retime(input: &Input<'_>, before: &Spec) -> Result<Plan, Error> {
    let mut found = gate::retime(input, before)?;
    let mut plan = found.builder.finish();
    if let Some(kind) = found.missed.filter(|_| plan.changes.is_empty()) {
        let remarks = found.remarks.into_iter();
        let diagnostics = remarks.map(|one| Diagnostic { severity: Severity::Error, ..one }).collect();
        return Err(Error { kind, diagnostics });
    }
    // What applies no gate stays as it is, since no other file changes.
    let all = obligations(input, &plan, &gate::Left::default())?;
    let applying: Vec<Obligation> = all.into_iter().filter(|one| !one.free.is_empty()).collect();
    let requests: Vec<Request> =
        applying.iter().map(|one| Request::flux(one.before.clone(), &one.build)).collect();
    let results = input.renderer.render(input.snapshot, &requests);
    for (obligation, result) in applying.into_iter().zip(results) {
        let Err(error) = result else {
            plan.obligations.push(obligation);
            continue;
        };
        let path = &obligation.before;
        let message = error.to_string();
        let entry = input.model.entry(path).filter(|_| !is_remote(&message));
        let clusters = entry.into_iter().flat_map(|entry| entry.clusters());
        for cluster in clusters.filter(|cluster| found.written.contains(*cluster)).collect::<Vec<_>>() {
            let why = format!("{path} applies its gate and does not build: {message}");
            let why = Error::invalid(Diagnostic::error(why).at(Place::file(path.clone())));
            found.miss(input, before, cluster, why);
        }
    }
    (plan.remarks, plan.unreached, plan.is_urgent) = (found.remarks, found.unreached, true);
    Ok(plan)
}
