//! What the audits look at: the repository as each cluster applies it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::delivery::Model;
use crate::delivery::{
    Applied, ClusterKey, Delivery, EntryPoint, GateJob, Holds, SourceId, Sources, UnclearJob, World,
    deliveries, gate_jobs,
};
use crate::mechanism::GateTarget;
use crate::render::Renderer;
use crate::repo::{FluxKustomization, Snapshot};
use crate::spec::{FluxDefaults, Spec};

/// The repository, as the audits see it.
pub struct Subject<'a> {
    /// The files.
    pub snapshot: &'a Snapshot,
    /// What they mean.
    pub model: &'a Model,
    /// What is wanted, where the repository has a spec.
    pub spec: Option<&'a Spec>,
    /// What each Flux Kustomization applies to its cluster, in the order of entry points.
    pub deliveries: Vec<Delivery>,
    /// The positions of these, by the cluster that gets the objects.
    by_cluster: BTreeMap<ClusterKey, Vec<usize>>,
    /// The positions of these, by the cluster in which the Flux Kustomization lies.
    by_reconciler: BTreeMap<ClusterKey, Vec<usize>>,
    /// The CronJobs that suspend or resume Flux Kustomizations, as the clusters get them.
    pub jobs: Vec<GateJob>,
    /// The positions of these, by cluster.
    jobs_by_cluster: BTreeMap<ClusterKey, Vec<usize>>,
    /// The CronJobs with commands of that kind that are not understood.
    pub unclear: Vec<UnclearJob>,
    /// Who builds.
    pub renderer: &'a dyn Renderer,
    /// The files, parsed when they are asked for.
    pub sources: Sources<'a>,
    /// Whether a ResourceSet may make sources of any name, once somebody has asked.
    pub(super) makes_repositories: OnceCell<bool>,
}

impl<'a> Subject<'a> {
    /// Builds every entry point and finds out what is held back.
    pub fn new(
        snapshot: &'a Snapshot,
        model: &'a Model,
        spec: Option<&'a Spec>,
        renderer: &'a dyn Renderer,
    ) -> Subject<'a> {
        Subject::of(World { snapshot, model }, spec, renderer, |_| true)
    }

    /// As [`new`](Subject::new), as if entry points that are not `wanted` held nothing.
    pub fn of(
        World { snapshot, model }: World<'a>,
        spec: Option<&'a Spec>,
        renderer: &'a dyn Renderer,
        wanted: impl Fn(&EntryPoint) -> bool,
    ) -> Subject<'a> {
        let mut deliveries = deliveries(snapshot, model, spec, renderer, wanted);
        let sources = Sources::new(snapshot);
        let (jobs, unclear) = gate_jobs(&deliveries, &sources);
        let holds = Holds::new(model, spec);
        for delivery in &mut deliveries {
            delivery.hold(spec, model, &holds);
        }
        let by_cluster = positions(deliveries.iter().map(|delivery| &delivery.cluster));
        let by_reconciler = positions(deliveries.iter().map(|delivery| &delivery.reconciled_in));
        let jobs_by_cluster = positions(jobs.iter().map(|job| &job.cluster));
        Subject {
            snapshot,
            model,
            spec,
            deliveries,
            by_cluster,
            by_reconciler,
            jobs,
            jobs_by_cluster,
            unclear,
            renderer,
            sources,
            makes_repositories: OnceCell::new(),
        }
    }

    /// Returns the deliveries of each cluster that gets objects.
    pub fn clusters(&self) -> BTreeMap<&ClusterKey, Vec<&Delivery>> {
        self.grouped(&self.by_cluster)
    }

    /// Returns the deliveries of one cluster, in the order of entry points.
    pub fn deliveries_of(
        &self,
        cluster: &ClusterKey,
    ) -> impl Iterator<Item = &Delivery> + Clone + use<'_, 'a> {
        self.at(self.by_cluster.get(cluster))
    }

    /// Returns the deliveries by the clusters in which their Flux Kustomizations lie.
    pub fn reconcilers(&self) -> BTreeMap<&ClusterKey, Vec<&Delivery>> {
        self.grouped(&self.by_reconciler)
    }

    /// Returns the deliveries of which the Flux Kustomization lies in a cluster, in the order of entry points: those that a
    /// CronJob there can suspend, and that may depend on one another.
    pub fn reconciled_in(
        &self,
        cluster: &ClusterKey,
    ) -> impl Iterator<Item = &Delivery> + Clone + use<'_, 'a> {
        self.at(self.by_reconciler.get(cluster))
    }

    fn at<'s>(
        &'s self,
        positions: Option<&'s Vec<usize>>,
    ) -> impl Iterator<Item = &'s Delivery> + Clone + use<'s, 'a> {
        positions.into_iter().flatten().map(|position| &self.deliveries[*position])
    }

    fn grouped<'s>(
        &'s self,
        index: &'s BTreeMap<ClusterKey, Vec<usize>>,
    ) -> BTreeMap<&'s ClusterKey, Vec<&'s Delivery>> {
        index.iter().map(|(cluster, all)| (cluster, self.at(Some(all)).collect())).collect()
    }

    /// Returns the Flux Kustomization of a delivery, where one stands in Git.
    pub fn flux(&self, delivery: &Delivery) -> Option<&'a FluxKustomization> {
        delivery.flux.map(|index| self.model.flux(index))
    }

    /// Returns the Flux Kustomization of a delivery, also where a FluxInstance makes it.
    pub fn applying(&self, delivery: &Delivery) -> Option<&'a FluxKustomization> {
        self.model.applying(delivery)
    }

    /// Names a Flux Kustomization as jobs do.
    pub fn target(&self, delivery: &Delivery) -> GateTarget {
        let usual = FluxDefaults::default();
        let namespace = self.spec.map_or(&usual, |spec| &spec.flux).namespace_of(&delivery.namespace);
        GateTarget { namespace: namespace.to_owned(), name: delivery.name.clone() }
    }

    /// Returns the held source that a Flux Kustomization in Git reads.
    pub fn held_source(&self, delivery: &Delivery) -> Option<SourceId> {
        delivery.flux?;
        let mut held = self.model.delivered.named(&delivery.cluster.name)?.held_as(&delivery.name);
        held.find(|(one, _)| delivery.is_named(one.namespace(), one.name())).map(|(_, source)| source)
    }

    /// Returns a job as an applied object, with its origin.
    pub fn applied(&self, job: &GateJob) -> Option<&Applied> {
        self.deliveries[job.delivery].objects.iter().find(|applied| {
            applied.id.kind == "CronJob"
                && applied.id.name == job.name
                && applied.id.namespace == job.namespace
        })
    }

    /// Returns the jobs of a cluster.
    pub fn jobs_of<'s>(&'s self, cluster: &'s ClusterKey) -> impl Iterator<Item = &'s GateJob> {
        self.jobs_by_cluster.get(cluster).into_iter().flatten().map(|position| &self.jobs[*position])
    }
}

/// Returns the positions of what belongs to each cluster.
fn positions<'c>(clusters: impl Iterator<Item = &'c ClusterKey>) -> BTreeMap<ClusterKey, Vec<usize>> {
    let mut found: BTreeMap<ClusterKey, Vec<usize>> = BTreeMap::new();
    for (position, cluster) in clusters.enumerate() {
        found.entry(cluster.clone()).or_default().push(position);
    }
    found
}
