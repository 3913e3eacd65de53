//! The gates that `sync` would write.

use std::cell::OnceCell;

use crate::delivery::{Applier, Hold, Input};
use crate::mechanism::Gates;
use crate::plan::gate;
use crate::pr::tree::Tree;
use crate::render::Renderer;

/// The gates that `sync` would write for a tree, worked out once somebody asks: that may take builds.
pub struct Wanted<'r> {
    renderer: &'r dyn Renderer,
    gates: OnceCell<Option<Gates>>,
}

impl<'r> Wanted<'r> {
    /// Prepares to ask; nothing is built yet.
    pub fn new(renderer: &'r dyn Renderer) -> Wanted<'r> {
        Wanted { renderer, gates: OnceCell::new() }
    }

    /// Returns the type whose windows should hold back what an applier builds and that no gate of the cluster knows of:
    /// `sync` was not run. `None` in a cluster without a gate.
    pub(super) fn hold(&self, tree: &Tree<'_>, applier: &Applier<'_>) -> Option<Hold> {
        let (spec, one) = tree.spec.zip(applier.kustomization.filter(|one| one.remote.is_empty()))?;
        let is_of = |name: &str| spec.change_type(name).is_some_and(|of| !of.is_real_time());
        let may_wait = tree.type_of(applier).is_none_or(is_of);
        if !may_wait || !tree.world.model.closings.closes_any(applier.cluster) {
            return None;
        }
        let gates = self.gates.get_or_init(|| {
            let (snapshot, model) = (tree.world.snapshot, tree.world.model);
            gate::wanted(&Input { spec, snapshot, model, renderer: self.renderer })
        });
        let (gate, target) = (gates.as_ref()?.of(applier.cluster)?, tree.target(one));
        let (position, _) = gate.targets.iter().find(|(_, targets)| targets.contains(&target))?;
        Hold::of_type(spec, *position)
    }
}
