//! Who applies an entry point, under which names, and what holds that back.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{
    Applied, Applier, Artifact, BuiltJob, Delivery, Doubt, EntryPoint, Hold, Holds, Input, brought_by,
    deliveries,
};
use crate::explain::Consumer;
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::FluxKustomization;
use crate::repo::manifest::ObjectId;

/// What all clusters apply.
pub(super) struct Appliers<'a> {
    input: Input<'a>,
    deliveries: Vec<Delivery>,
    /// By the folder that they build, those of which a Flux Kustomization stands in a file.
    by_path: BTreeMap<RepoPath, Vec<usize>>,
    holds: Holds<'a>,
}

/// One cluster's, or one Flux Kustomization's, share of an entry point.
pub(super) struct Applying<'d> {
    /// Who it is, of no app.
    pub consumer: Consumer,
    /// The files that it sees; `None` for all of the repository.
    pub artifact: Option<&'d Artifact>,
    /// By group, kind and origin.
    objects: BTreeMap<Alike<'d>, Vec<&'d Applied>>,
    /// Whether `spec.components` may bring objects beside those of the folder.
    may_add: bool,
}

/// What objects have in common of which one may be the other under another name.
type Alike<'o> = (&'o str, &'o str, Option<(&'o RepoPath, Option<&'o str>)>);

impl<'a> Appliers<'a> {
    /// Builds the entry points that are `wanted` as what applies them builds them.
    pub fn of(input: &Input<'a>, wanted: impl Fn(&EntryPoint) -> bool) -> Appliers<'a> {
        let Input { spec, snapshot, model, renderer } = *input;
        let deliveries = deliveries(snapshot, model, Some(spec), renderer, wanted);
        let mut by_path: BTreeMap<RepoPath, Vec<usize>> = BTreeMap::new();
        for (position, one) in deliveries.iter().enumerate().filter(|(_, one)| one.flux.is_some()) {
            by_path.entry(one.path.clone()).or_default().push(position);
        }
        Appliers { input: *input, deliveries, by_path, holds: Holds::new(model, Some(spec)) }
    }

    /// Returns who applies an entry point: each Flux Kustomization, or where Git has none each cluster.
    pub fn of_entry(&self, entry: &EntryPoint) -> Vec<Applying<'_>> {
        if entry.flux.is_empty() {
            return entry.clusters().map(|cluster| self.unwritten(entry, cluster)).collect();
        }
        let own = self.by_path.get(&entry.path).into_iter().flatten();
        own.map(|position| self.applying(entry, &self.deliveries[*position])).collect()
    }

    /// Returns who applies an entry point without a Flux Kustomization of its own in Git: what a FluxInstance makes, or the
    /// one of the root that lists it.
    fn unwritten(&self, entry: &EntryPoint, cluster: &str) -> Applying<'_> {
        let model = self.input.model;
        let above = entry.through.as_ref().and_then(|above| model.entry(above));
        let listing = above.and_then(|above| model.flux_in(above, cluster).next());
        let (one, artifact) = match (listing, model.made(entry, cluster)) {
            (Some(one), _) => {
                let id = (one.namespace.as_str(), one.name.as_str());
                (Some((id, one.is_suspended())), model.partial_artifact(one))
            }
            (None, Some(made)) => {
                let is_suspended = made.is_suspended();
                (Some(((made.namespace(), made.name()), is_suspended)), model.partial_of(made))
            }
            (None, None) => (None, None),
        };
        let mut consumer = self.consumer(entry, cluster);
        consumer.doubt = listing.and_then(|one| model.doubt(one)).cloned();
        if let Some((id, is_suspended)) = one {
            consumer.kustomization = Some((id.0.to_owned(), id.1.to_owned()));
            consumer.held_by = self.held_by(cluster, id, is_suspended);
        }
        Applying { consumer, artifact, objects: BTreeMap::new(), may_add: false }
    }

    fn applying<'d>(&'d self, entry: &EntryPoint, delivery: &'d Delivery) -> Applying<'d> {
        let mut objects: BTreeMap<Alike<'_>, Vec<&Applied>> = BTreeMap::new();
        for one in &delivery.objects {
            objects.entry(alike(&one.id, &one.object)).or_default().push(one);
        }
        let flux = delivery.flux.map(|index| self.input.model.flux(index));
        let artifact = flux.and_then(|one| self.input.model.partial_artifact(one));
        let may_add = flux.is_some_and(|one| one.components().next().is_some());
        Applying { consumer: self.applied_by(entry, delivery), artifact, objects, may_add }
    }

    /// Returns who reads a file, of no app.
    pub fn reading(&self, reader: &Applier<'_>) -> Consumer {
        let kustomization =
            reader.kustomization.map(|one| (one.namespace().to_owned(), one.name().to_owned()));
        let held_by = kustomization.as_ref().and_then(|(namespace, name)| {
            self.held_by(reader.cluster, (namespace, name), reader.kustomization?.is_suspended())
        });
        let own = self.input.model.delivered.named(reader.cluster).zip(reader.kustomization);
        let doubt = own.and_then(|(cluster, one)| cluster.doubt(one)).cloned();
        Consumer {
            cluster: reader.cluster.to_owned(),
            path: reader.path.clone(),
            app: String::new(),
            kustomization,
            held_by,
            doubt,
        }
    }

    fn consumer(&self, entry: &EntryPoint, cluster: &str) -> Consumer {
        Consumer {
            cluster: cluster.to_owned(),
            path: entry.path.clone(),
            app: String::new(),
            kustomization: None,
            held_by: None,
            doubt: None,
        }
    }

    fn applied_by(&self, entry: &EntryPoint, delivery: &Delivery) -> Consumer {
        let flux = delivery.flux.map(|index| self.input.model.flux(index));
        let is_suspended = flux.is_some_and(FluxKustomization::is_suspended);
        let cluster = &delivery.reconciled_in.name;
        Consumer {
            held_by: self.held_by(cluster, (&delivery.namespace, &delivery.name), is_suspended),
            kustomization: Some((delivery.namespace.clone(), delivery.name.clone())),
            doubt: flux.and_then(|flux| self.input.model.doubt(flux)).cloned(),
            ..self.consumer(entry, &delivery.cluster.name)
        }
    }

    fn held_by(&self, cluster: &str, (namespace, name): (&str, &str), is_suspended: bool) -> Option<String> {
        if is_suspended {
            return Some("`suspend: true` in Git".to_owned());
        }
        let target: GateTarget = self.holds.target(namespace, name);
        let running = self.input.model.closings.running(cluster, &target);
        let shown = |job: &BuiltJob| match &job.doubt {
            Some(Doubt::Unbuilt(_)) => {
                format!("{}, as the cluster has it: its Flux Kustomization does not build", job.shown())
            }
            Some(Doubt::Suspended(_)) => {
                format!("{}, as the cluster has it: Git suspends its Flux Kustomization", job.shown())
            }
            Some(Doubt::Unprivileged(..)) => {
                format!("{}, as the cluster has it: Flux may apply nothing of its gate", job.shown())
            }
            Some(Doubt::Unsaid(above, other)) => {
                format!(
                    "{}, if the cluster has it: {above} depends on {other}, which is not in Git",
                    job.shown()
                )
            }
            None => match brought_by(self.input.model, cluster, &target) {
                Some(parent) => {
                    format!("{}, once {} has applied that at its opening", job.shown(), parent.name())
                }
                None => job.shown(),
            },
        };
        running.map(shown).or_else(|| {
            let held = self.holds.of(cluster, namespace, name, None);
            held.filter(|held| matches!(held, Hold::Source(_))).map(|held| held.to_string())
        })
    }
}

impl<'d> Applying<'d> {
    /// Returns what `spec.components` bring beside the objects of the folder.
    pub fn added<'o>(&'o self, folder: &'o [Object]) -> impl Iterator<Item = &'d Applied> + 'o {
        let ids: Vec<ObjectId> = folder.iter().map(|object| ObjectId::of(&object.value)).collect();
        let own: BTreeSet<Alike<'_>> = ids.iter().zip(folder).map(|(id, one)| alike(id, one)).collect();
        let added = self.objects.iter().filter(|(key, _)| self.may_add && !own.contains(*key));
        added.flat_map(|(_, all)| all.iter().copied()).collect::<Vec<_>>().into_iter()
    }

    /// Returns the ids that an object of the folder has where it is applied: as it is built, and in the cluster.
    ///
    /// `targetNamespace`, `namePrefix` and patches of the Flux Kustomization change both, and `postBuild` the second.
    pub fn ids(&self, object: &Object) -> (ObjectId, ObjectId) {
        let id = ObjectId::of(&object.value);
        let none = Vec::new();
        let alike = self.objects.get(&alike(&id, object)).unwrap_or(&none);
        let mut named = alike.iter().filter(|one| one.id.name == id.name);
        let found = match (&alike[..], named.next(), named.next()) {
            ([only], ..) => Some(*only),
            (_, Some(one), None) => Some(*one),
            _ => alike.iter().copied().find(|one| *one.id == id),
        };
        found.map_or_else(|| (id.clone(), id.clone()), |one| ((*one.id).clone(), (*one.live).clone()))
    }
}

fn alike<'o>(id: &'o ObjectId, object: &'o Object) -> Alike<'o> {
    let origin = object.origin.as_ref().map(|origin| (&origin.path, origin.generator.as_deref()));
    (&id.group, &id.kind, origin)
}
