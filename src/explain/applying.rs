//! Who applies an entry point, under which names, and what holds that back.

use crate::delivery::{Applied, Applier, BuiltJob, Delivery, EntryPoint, Hold, Holds, Input, deliveries};
use crate::explain::Consumer;
use crate::mechanism::GateTarget;
use crate::render::Object;
use crate::repo::manifest::ObjectId;

/// What all clusters apply.
pub(super) struct Appliers<'a> {
    input: Input<'a>,
    deliveries: Vec<Delivery>,
    holds: Holds<'a>,
}

/// One cluster's, or one Flux Kustomization's, share of an entry point.
pub(super) struct Applying<'d> {
    /// Who it is, of no app.
    pub consumer: Consumer,
    objects: &'d [Applied],
}

impl<'a> Appliers<'a> {
    /// Builds every entry point as what applies it builds it.
    pub fn of(input: &Input<'a>) -> Appliers<'a> {
        let Input { spec, snapshot, model, renderer } = *input;
        let deliveries = deliveries(snapshot, model, Some(spec), renderer, |_| true);
        Appliers { input: *input, deliveries, holds: Holds::new(model, Some(spec)) }
    }

    /// Returns who applies an entry point: each Flux Kustomization, or where Git has none each cluster.
    pub fn of_entry(&self, entry: &EntryPoint) -> Vec<Applying<'_>> {
        if entry.flux.is_empty() {
            let of = |cluster: &str| Applying { consumer: self.consumer(entry, cluster), objects: &[] };
            return entry.clusters().map(of).collect();
        }
        let own = self.deliveries.iter().filter(|one| one.path == entry.path && one.flux.is_some());
        own.map(|one| Applying { consumer: self.applied_by(entry, one), objects: &one.objects }).collect()
    }

    /// Returns who reads a file, of no app.
    pub fn reading(&self, reader: &Applier<'_>) -> Consumer {
        let kustomization =
            reader.kustomization.map(|one| (one.namespace().to_owned(), one.name().to_owned()));
        let held_by = kustomization.as_ref().and_then(|(namespace, name)| {
            self.held_by(
                reader.cluster,
                (namespace, name),
                reader.kustomization?.value["spec"]["suspend"] == true,
            )
        });
        Consumer {
            cluster: reader.cluster.to_owned(),
            path: reader.path.clone(),
            app: String::new(),
            kustomization,
            held_by,
        }
    }

    fn consumer(&self, entry: &EntryPoint, cluster: &str) -> Consumer {
        Consumer {
            cluster: cluster.to_owned(),
            path: entry.path.clone(),
            app: String::new(),
            kustomization: None,
            held_by: None,
        }
    }

    fn applied_by(&self, entry: &EntryPoint, delivery: &Delivery) -> Consumer {
        let is_suspended = delivery.flux.is_some_and(|index| self.input.model.flux(index).is_suspended());
        let cluster = &delivery.reconciled_in.name;
        Consumer {
            held_by: self.held_by(cluster, (&delivery.namespace, &delivery.name), is_suspended),
            kustomization: Some((delivery.namespace.clone(), delivery.name.clone())),
            ..self.consumer(entry, &delivery.cluster.name)
        }
    }

    fn held_by(&self, cluster: &str, (namespace, name): (&str, &str), is_suspended: bool) -> Option<String> {
        if is_suspended {
            return Some("`suspend: true` in Git".to_owned());
        }
        let target: GateTarget = self.holds.target(namespace, name);
        let running = self.input.model.closings.running(cluster, &target);
        let shown = |job: &BuiltJob| match job.is_kept_out {
            true => format!("{}, as the cluster has it: Git suspends its Flux Kustomization", job.shown()),
            false => job.shown(),
        };
        running.map(shown).or_else(|| {
            let held = self.holds.of(cluster, namespace, name, None);
            held.filter(|held| matches!(held, Hold::Source(_))).map(|held| held.to_string())
        })
    }
}

impl Applying<'_> {
    /// Returns the ids that an object of the folder has where it is applied: as it is built, and in the cluster.
    ///
    /// `targetNamespace`, `namePrefix` and patches of the Flux Kustomization change both, and `postBuild` the second.
    pub fn ids(&self, object: &Object) -> (ObjectId, ObjectId) {
        let id = ObjectId::of(&object.value);
        let is_alike = |one: &&Applied| {
            (&one.id.group, &one.id.kind) == (&id.group, &id.kind) && one.object.origin == object.origin
        };
        let alike: Vec<&Applied> = self.objects.iter().filter(is_alike).collect();
        let mut named = alike.iter().filter(|one| one.id.name == id.name);
        let found = match (&alike[..], named.next(), named.next()) {
            ([only], ..) => Some(*only),
            (_, Some(one), None) => Some(*one),
            _ => alike.iter().copied().find(|one| *one.id == id),
        };
        found.map_or_else(|| (id.clone(), id.clone()), |one| ((*one.id).clone(), (*one.live).clone()))
    }
}
