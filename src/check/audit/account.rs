//! As which ServiceAccount Flux applies a gate.

use crate::check::audit::permission::bindings;
use crate::check::code::UNPRIVILEGED_GATE;
use crate::check::subject::Subject;
use crate::delivery::{Delivery, Role};
use crate::diagnostic::Diagnostic;

/// Finds Flux Kustomizations of gates that a lockdown lets apply nothing: Flux impersonates the default ServiceAccount of
/// their namespace, to which Git binds no role (kustomize-controller, `--default-service-account`).
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let carries = |position: usize| subject.jobs.iter().any(|job| job.delivery == position);
    let all = subject.deliveries.iter().enumerate();
    let gates = all.filter(|(position, one)| one.role == Role::Gate || carries(*position));
    gates.filter_map(|(_, delivery)| unprivileged(subject, delivery)).collect()
}

fn unprivileged(subject: &Subject<'_>, delivery: &Delivery) -> Option<Diagnostic> {
    let flux = subject.applying(delivery)?;
    let cluster = subject.model.delivered.named(&delivery.reconciled_in.name)?;
    let account = cluster.locked_to(&flux.effective["spec"])?;
    let target = subject.target(delivery);
    if !bindings(subject, &delivery.reconciled_in, (&target.namespace, account)).is_empty() {
        return None;
    }
    let wanted = cluster.account_beside(flux, &target.namespace);
    let write = match wanted {
        Some(wanted) => format!("write `serviceAccountName: {wanted}` into it, as its root has"),
        None => "write the `serviceAccountName` of an account that may apply the gate".to_owned(),
    };
    let name = &delivery.name;
    Some(
        UNPRIVILEGED_GATE
            .finding(format!(
                "Flux applies {name} as ServiceAccount {account} of {}, which no role is bound to. The gate never comes",
                target.namespace
            ))
            .at(flux.place("path"))
            .help(format!(
                "{write}\nor run `gitops-windows sync`, where that wrote {name}\nor bind a role to ServiceAccount {account}"
            )),
    )
}
