//! What nothing is said of, since it does not build or nobody here reads it.

use crate::delivery::{Cause, Comparison};
use crate::pr::report::By;

/// A Flux Kustomization, or a folder, of which the objects are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The cluster; empty where it is about none.
    pub cluster: String,
    /// What builds it; where nothing here does, the folder is the one that Git names.
    pub by: By,
    /// Why nothing is said of it.
    pub cause: Cause,
    /// Whether it is the head that is not known.
    pub is_head: bool,
    /// Whether the head does not build, and the base does, or is not there.
    pub is_new: bool,
    /// What kustomize says, or what keeps it from being looked at.
    pub reason: String,
}

impl Withheld {
    /// Returns whether it would be built here, were nothing wrong with it.
    pub fn is_broken(&self) -> bool {
        matches!(self.cause, Cause::Build | Cause::Parent)
    }
}

/// Returns the pairs that are not known on a side.
pub(super) fn withheld(comparison: &Comparison<'_>) -> Vec<Withheld> {
    let mut found = Vec::new();
    for pair in &comparison.pairs {
        let is_new = pair.old.is_ok() || pair.new.is_ok();
        let sides = [(&pair.before, &pair.old, false), (&pair.after, &pair.new, true)];
        for (applier, outcome, is_head) in sides {
            // What one side lacks may stand there all the same.
            let named = applier.as_ref().or(pair.latest());
            if let (Some(applier), Err(error)) = (named, outcome) {
                let unsaid = pair.unsaid.filter(|(is_after, _)| *is_after == is_head);
                let cause = unsaid.map_or(Cause::Build, |(_, cause)| cause);
                let (cluster, by) = (pair.cluster.clone(), By::of(applier));
                let is_new = is_new && cause == Cause::Build;
                found.push(Withheld { cluster, by, cause, is_head, is_new, reason: error.message.clone() });
            }
        }
    }
    found
}
