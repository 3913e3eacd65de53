//! Deletions that take data with them.

use crate::delivery::Kind;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;

/// The kinds, with what goes with one of them.
const KINDS: [(&str, &str, &str); 5] = [
    ("", "Namespace", "everything in it goes too"),
    ("", "PersistentVolumeClaim", "its data goes too, unless the volume is retained"),
    ("", "PersistentVolume", "its data may go too"),
    ("apps", "StatefulSet", "its pods stop"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "every object of its kind goes too"),
];

/// Finds an object whose deletion takes more with it.
pub(super) fn destructive(line: &Line) -> Option<Finding> {
    let is_it = |(group, kind, _): &&(&str, &str, &str)| line.id.group == *group && line.id.kind == *kind;
    let (_, _, loss) = KINDS.iter().find(is_it)?;
    if line.kind != Kind::Deleted || line.lands.state == State::Never {
        return None;
    }
    Some(Finding {
        topic: Topic::Deletion,
        cluster: line.cluster.clone(),
        object: Some(line.id.clone()),
        message: format!("{} deletes {}: {loss}", line.by.name(), line.id),
        from: line.lands.earliest,
        help: "to keep it, annotate it `kustomize.toolkit.fluxcd.io/prune: disabled` and merge that first"
            .to_owned(),
        ..Finding::default()
    })
}
