//! Why an entry point is left undivided.

use crate::delivery::{EntryPoint, Input};
use crate::mechanism::GateTarget;
use crate::text::some;

/// How many clusters are named at most.
const MOST: usize = 5;

/// The type that all objects of an entry point have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneType {
    /// Its position among the types.
    pub position: usize,
    /// Whether Namespaces have another one.
    pub but_namespaces: bool,
}

impl Input<'_> {
    /// Says why an entry point of one type is left as it is.
    pub fn undivided(&self, entry: &EntryPoint, one: OneType) -> String {
        let name = &self.spec.types[one.position].name.value;
        let but = if one.but_namespaces { " but Namespaces" } else { "" };
        let gated = self.held_whole(entry, one.position);
        format!("all of its objects{but} have type {name}{gated}")
    }

    /// Returns whether the gate of a cluster stands in Git, and nothing applies it.
    fn lacks_its_gate(&self, cluster: &str) -> bool {
        let stands = self.spec.gate_folder(cluster).is_ok_and(|folder| self.model.graph.has(&folder));
        stands && self.model.closings.of(cluster).is_empty()
    }

    fn held_whole(&self, entry: &EntryPoint, change_type: usize) -> String {
        if self.spec.types[change_type].is_real_time() {
            return String::new();
        }
        if entry.clusters().all(|cluster| self.model.is_suspended(&entry.path, cluster)) {
            return ": Git suspends its Flux Kustomization".into();
        }
        let closings = &self.model.closings;
        let targets = |cluster: &str| -> Vec<GateTarget> {
            self.model.flux_in(entry, cluster).map(|one| GateTarget::of(self, one)).collect()
        };
        let is_free = |cluster: &&str| {
            targets(cluster).iter().all(|target| closings.running(cluster, target).is_none())
        };
        let (free, held): (Vec<&str>, Vec<&str>) =
            entry.clusters().filter(|cluster| !targets(cluster).is_empty()).partition(is_free);
        let resumed =
            |cluster: &&str| targets(cluster).iter().any(|target| closings.is_resumed(cluster, target));
        let is_resumed = free.iter().any(resumed);
        let why = if is_resumed {
            "`suspend: false` in Git resumes it"
        } else if free.iter().any(|cluster| self.spec.ungated.contains_key(*cluster)) {
            "`hasGate: false`"
        } else if free.iter().any(|cluster| !self.spec.gate_enabled(cluster)) {
            "the gate is off (`gate.enabled: false`)"
        } else if free.iter().all(|cluster| self.lacks_its_gate(cluster)) {
            // `sync` has written it already, and has nothing to say.
            "`gitops-windows check` says why"
        } else {
            "`gitops-windows sync --dry-run` says why"
        };
        match (free.as_slice(), held.as_slice()) {
            ([], []) => String::new(),
            ([], _) => ". A gate suspends its whole Flux Kustomization".into(),
            (_, []) if is_resumed => {
                ". `suspend: false` in Git resumes its Flux Kustomization, so no window closes it".into()
            }
            (_, []) => format!(". No gate suspends its Flux Kustomization: {why}"),
            (free, _) => {
                let free = some(free, MOST);
                format!(". A gate suspends its whole Flux Kustomization, but not in {free}: {why}")
            }
        }
    }
}
