//! Keys and kubeconfigs that land at once and act on what waits at its source.

use serde_json::Value;

use crate::check::Subject;
use crate::delivery::Kind;
use crate::pr::clock::Clock;
use crate::pr::field::Field;
use crate::pr::finding::at_once::kustomization;
use crate::pr::finding::values::still_waiting;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;
use crate::repo::FluxKustomization;
use crate::repo::flux::GROUP;

/// Finds the Flux Kustomizations whose objects can't be decrypted, or go elsewhere, until their window opens, as their keys or
/// their kubeconfig change before.
///
/// Nothing suspends what reads a held source, so it decrypts the commit that was let in last anew at each interval, and
/// applies it by the kubeconfig that is there then (kustomize-controller, `generate` and `reconcile`). A key that only comes
/// beside the others takes nothing away; of a kubeconfig any key may be the one that counts.
pub(super) fn keys(clock: &Clock<'_>, changes: &[Line], after: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for line in changes.iter().filter(|line| is_at_once(line)) {
        let own = after.deliveries.iter().filter(|delivery| {
            delivery.reconciled_in.name == line.cluster && delivery.namespace == line.id.namespace
        });
        for delivery in own.filter(|delivery| after.held_source(delivery).is_some()) {
            let read = after.flux(delivery).and_then(|flux| Read::of(flux, line));
            let Some((hold, read)) = still_waiting(clock, line, delivery).zip(read) else { continue };
            let (name, id) = (&delivery.name, &line.id);
            let (message, help) = match read {
                Read::Keys => (
                    format!(
                        "{name} waits for {hold}, but its keys in {id} change at once. Its build may fail until then"
                    ),
                    "merge it while the window is open; or keep the old key too until then",
                ),
                Read::KubeConfig => (
                    format!(
                        "{name} waits for {hold}, but its kubeconfig in {id} changes at once. It may fail or reach another cluster until then"
                    ),
                    "merge it while the window is open",
                ),
            };
            found.push(Finding {
                topic: Topic::OutsideWindow,
                cluster: line.cluster.clone(),
                object: Some(kustomization(&delivery.namespace, &delivery.name)),
                message,
                from: line.lands.earliest,
                help: help.to_owned(),
                ..Finding::default()
            });
        }
    }
    found
}

fn is_at_once(line: &Line) -> bool {
    let kinds: &[&str] = if line.id.group == GROUP { &["Kustomization"] } else { &["Secret", "ConfigMap"] };
    let is_kind = line.id.group.is_empty() || line.id.group == GROUP;
    is_kind && kinds.contains(&line.id.kind.as_str()) && line.lands.state == State::AtOnce
}

/// What of a Flux Kustomization changes with an object, or in itself.
enum Read {
    Keys,
    KubeConfig,
}

impl Read {
    fn of(flux: &FluxKustomization, line: &Line) -> Option<Read> {
        let mut fields = line.fields.iter().filter(|field| !field.path.starts_with("metadata"));
        if line.id.group == GROUP {
            let is_it = line.kind == Kind::Changed && flux.name == line.id.name;
            if !is_it {
                return None;
            }
            if fields.clone().any(|field| field.path.starts_with("spec.kubeConfig")) {
                return Some(Read::KubeConfig);
            }
            // Where there was none, nothing that was let in needs one.
            let loses = |field: &Field| field.path.starts_with("spec.decryption") && field.before.is_some();
            return fields.any(loses).then_some(Read::Keys);
        }
        let (kind, is_deleted) = (line.id.kind.as_str(), line.kind == Kind::Deleted);
        let is = |reference: &Value| reference["name"] == *line.id.name;
        let to_cluster = flux.spec("kubeConfig");
        let own = if kind == "Secret" { &to_cluster["secretRef"] } else { &to_cluster["configMapRef"] };
        if is(own) && (is_deleted || line.kind == Kind::Created || fields.clone().next().is_some()) {
            return Some(Read::KubeConfig);
        }
        let loses = is_deleted || fields.any(|field| field.before.is_some());
        (kind == "Secret" && loses && is(&flux.spec("decryption")["secretRef"])).then_some(Read::Keys)
    }
}
