//! Who waits for whom once one Flux Kustomization has become several.
//!
//! A Flux Kustomization waits until those that it depends on are ready at the same revision
//! (kustomize-controller, `checkDependencies`). One that is suspended never is, so whoever waits for
//! it stops at the next commit. So only what is held back by the same windows may wait for what is
//! held back, and nothing real-time may.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::delivery::Input;
use crate::mechanism::GateTarget;
use crate::plan::migrate::heir::Dependency;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::successor;
use crate::plan::{Stage, gate};
use crate::proof::{FluxName, Renames};
use crate::repo::FluxKustomization;

/// A Flux Kustomization of a cluster, with its namespace.
pub type Name = FluxName;

/// Who takes over from whom, and what each is held back by.
#[derive(Debug, Default)]
pub struct Succession {
    /// For each old one, whether it stays, and its successors with the positions of their types.
    pub heirs: BTreeMap<Name, (bool, Vec<(usize, String)>)>,
    /// The positions of the types by which Flux Kustomizations are held back already.
    pub held: BTreeMap<Name, usize>,
}

impl Succession {
    /// Returns the name of a Flux Kustomization as others find it.
    pub fn name(input: &Input<'_>, one: &FluxKustomization) -> Name {
        (one.cluster.clone(), input.namespace(one).to_owned(), one.name.clone())
    }

    /// Returns what the hand-over of some makes of each old Flux Kustomization.
    pub fn of(input: &Input<'_>, active: &[&Move<'_>]) -> Succession {
        Succession::with(input, held(input), active)
    }

    /// As [`of`](Succession::of), where it is known already what gates hold back.
    pub fn with(input: &Input<'_>, held: BTreeMap<Name, usize>, active: &[&Move<'_>]) -> Succession {
        let mut succession = Succession { held, ..Succession::default() };
        for one in active.iter().filter(|one| one.stage == Stage::Restructured) {
            for old in &one.old {
                let name = |position: &usize| (*position, successor::name_of(input, one, old, *position));
                let heirs = one.sides.keys().map(name).collect();
                succession.heirs.insert(Succession::name(input, old), (one.leaves_rest(), heirs));
            }
        }
        succession
    }

    /// Returns the names that go and those that come.
    pub fn names(&self, input: &Input<'_>) -> Renames {
        let mut found = Renames::default();
        for (old, (stays, heirs)) in &self.heirs {
            let (cluster, namespace, _) = old;
            if !stays {
                found.gone.insert(old.clone());
            }
            let heirs = heirs.iter().map(|(_, heir)| (cluster.clone(), namespace.clone(), heir.clone()));
            found.come.extend(heirs);
        }
        let is_called_so = |one: &Name| found.gone.iter().any(|gone| (&gone.1, &gone.2) == (&one.1, &one.2));
        let all = input.model.all_flux().iter().map(|one| Succession::name(input, one));
        found.stay = all.filter(|one| is_called_so(one) && !found.gone.contains(one)).collect();
        found
    }

    /// Returns what one waits for from now on, and what it no longer waits for.
    ///
    /// `of` is the position of its type, if it has one. A `new` one does not inherit what would stop
    /// it; what stands in Git already is its authors' word.
    pub fn depends_on(
        &self,
        input: &Input<'_>,
        waiter: &FluxKustomization,
        of: Option<usize>,
        new: bool,
    ) -> Depends {
        let (cluster, own, _) = Self::name(input, waiter);
        let Depends { on: mut found, mut lost, mut sides } = Depends::default();
        let items = waiter.said("dependsOn").as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let name = item["name"].as_str().unwrap_or_default();
            let namespace = item["namespace"].as_str().unwrap_or(&own);
            let key = (cluster.clone(), namespace.to_owned(), name.to_owned());
            let keep = |name: &str| Dependency { from: Some(index), name: name.to_owned() };
            let Some((stays, heirs)) = self.heirs.get(&key) else {
                match self.held.get(&key) {
                    Some(held) if new && !may_wait(input, &cluster, of, *held) => lost.push(name.to_owned()),
                    _ => found.push(keep(name)),
                }
                continue;
            };
            if *stays {
                found.push(keep(name));
            }
            let is_listed = |heir: &str| {
                items.iter().any(|other| {
                    other["name"] == *heir && other["namespace"].as_str().unwrap_or(&own) == namespace
                })
            };
            let (may, may_not): (Vec<_>, Vec<_>) =
                heirs.iter().partition(|(position, _)| may_wait(input, &cluster, of, *position));
            // Where others were divided before, it waits for the sides already.
            found.extend(may.iter().filter(|(_, heir)| !is_listed(heir)).map(|(_, heir)| keep(heir)));
            if !*stays && may.is_empty() {
                lost.push(name.to_owned());
            } else {
                sides.extend(
                    may_not.iter().filter(|(_, heir)| !is_listed(heir)).map(|(_, heir)| heir.clone()),
                );
            }
        }
        Depends { on: found, lost, sides }
    }
}

impl Succession {
    /// Returns whether a successor of one, by the position of its type, may wait for an item of `dependsOn` that all of them get:
    /// for what stays, and for which it may wait.
    pub fn may_append(
        &self,
        input: &Input<'_>,
        old: &FluxKustomization,
        of: Option<usize>,
        item: &Value,
    ) -> bool {
        let (cluster, own, _) = Self::name(input, old);
        let Some(name) = item["name"].as_str() else { return false };
        let namespace = item["namespace"].as_str().unwrap_or(&own).to_owned();
        let key = (cluster.clone(), namespace, name.to_owned());
        let stays = self.heirs.get(&key).is_none_or(|(stays, _)| *stays);
        stays && self.held.get(&key).is_none_or(|held| may_wait(input, &cluster, of, *held))
    }
}

/// What becomes of what one waits for.
#[derive(Debug, Default)]
pub struct Depends {
    /// What it waits for from now on.
    pub on: Vec<Dependency>,
    /// What it no longer waits for at all, though it should.
    pub lost: Vec<String>,
    /// The successors that it can't wait for, of what it waits for still.
    pub sides: Vec<String>,
}

/// Returns whether something of a type may wait for something of another in a cluster.
pub fn may_wait(input: &Input<'_>, cluster: &str, waiter: Option<usize>, on: usize) -> bool {
    let types = &input.spec.types;
    if types[on].is_real_time() {
        return true;
    }
    let windows = |position: usize| {
        let found = input.spec.windows_of(cluster, &types[position].name);
        found
            .into_iter()
            .map(|window| window.name.as_ref().map(|name| name.value.clone()))
            .collect::<Option<Vec<_>>>()
    };
    // Windows without a name are nobody else's.
    waiter.is_some_and(|waiter| waiter == on || (windows(waiter).is_some() && windows(waiter) == windows(on)))
}

/// Returns what gates hold back, or will, with the positions of the types.
pub(crate) fn held(input: &Input<'_>) -> BTreeMap<Name, usize> {
    let mut held = BTreeMap::new();
    let Ok(Some(gates)) = gate::gates(input) else { return held };
    for cluster in &gates.clusters {
        for (position, targets) in &cluster.targets {
            for GateTarget { namespace, name } in targets {
                held.insert((cluster.cluster.clone(), namespace.clone(), name.clone()), *position);
            }
        }
    }
    held
}
