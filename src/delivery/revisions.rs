//! Whether two sources fetch the same revisions of the same files.

use serde_json::Value;

use crate::delivery::{Cluster, SourceId};

/// The fields of a source that decide how it is fetched, or what builds leave out: another value of them brings no other
/// revision (source-controller, docs/spec/v1).
const HOW: [&str; 10] = [
    "interval",
    "timeout",
    "ignore",
    "sparseCheckout",
    "provider",
    "secretRef",
    "certSecretRef",
    "proxySecretRef",
    "serviceAccountName",
    "verify",
];

impl Cluster {
    /// Returns whether a source fetches the same revisions as another one does in an older state of the cluster, as far as
    /// Git says: the same source, a held copy of it, or one of the same URL and reference.
    pub fn has_same_revisions(&self, id: &SourceId, older: &Cluster, old: &SourceId) -> bool {
        let (is, was) = (self.followed(id), older.followed(old));
        let is_copy = |cluster: &Cluster, held: &SourceId, of: &SourceId| {
            cluster.is_held(held) && held.is_named_after(of)
        };
        if is.is(&was) || is_copy(self, &is, &was) || is_copy(older, &was, &is) {
            return true;
        }
        let of = |cluster: &Cluster, id: &SourceId| Some((id.kind.clone(), what(cluster.source(id)?)));
        of(self, &is).is_some_and(|said| of(older, &was) == Some(said))
    }
}

/// Returns what a source fetches, by its `spec`.
fn what(spec: &Value) -> Value {
    let mut what = spec.clone();
    if let Some(fields) = what.as_object_mut() {
        fields.retain(|field, _| !HOW.contains(&field.as_str()));
    }
    what
}
