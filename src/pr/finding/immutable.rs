//! Fields that Kubernetes does not let change.

use crate::diagnostic::one_line;
use crate::pr::finding::destructive::{dated, loss};
use crate::pr::finding::{Finding, Topic};
use crate::pr::report::Line;

/// Finds a change that the API server refuses: its Flux Kustomization fails, or with `force` makes the object anew
/// (fluxcd/pkg/ssa, `ApplyAll` and `shouldForceApply`).
pub(super) fn immutable(line: &Line) -> Option<Finding> {
    let refusal = line.refused.as_ref()?;
    let (name, id) = (line.by.name(), &line.id);
    let what = if refusal.shrinks { "asks for less storage" } else { "changes" };
    let (topic, consequence, help) = if line.is_forced {
        let loss = loss(id);
        let topic = if loss.is_some() { Topic::Deletion } else { Topic::Check };
        let loss = loss.map(|loss| format!(", and {loss}")).unwrap_or_default();
        (
            topic,
            format!("which `force` allows: {name} deletes it and creates it anew{loss}"),
            "to keep the object, take `force` away and give the new one another name",
        )
    } else {
        let is_volume = matches!(id.kind.as_str(), "PersistentVolumeClaim" | "PersistentVolume");
        let help = match is_volume && id.group.is_empty() {
            true => "leave the field as it is\nor give the new object another name, and move the data",
            false => {
                "give the object another name, or annotate it `kustomize.toolkit.fluxcd.io/force: enabled` to create it anew"
            }
        };
        (Topic::Immutable, format!("which Kubernetes refuses: {name} fails"), help)
    };
    Some(Finding {
        topic,
        cluster: line.cluster.clone(),
        object: Some(id.clone()),
        message: format!("{} of {id} {what}, {consequence}{}", refusal.path, dated(line)),
        from: line.lands.earliest,
        zone: line.lands.zone.clone(),
        help: one_line(help),
        ..Finding::default()
    })
}
