//! What should be, by spec and Git.

use std::collections::BTreeMap;

use jiff::{Span, Timestamp};

use crate::delivery::fleet::Schedules;
use crate::delivery::{BuiltJob, Cluster, Doubt, Holds, Model, Reached};
use crate::error::{Error, ErrorKind};
use crate::mechanism::GateTarget;
use crate::spec::Spec;
use crate::status::{LiveJob, Window};

/// The spec and the repository, with what is asked for often.
pub struct Expected<'a> {
    /// What is wanted.
    pub spec: &'a Spec,
    /// What the repository means.
    pub model: &'a Model,
    schedules: Schedules,
    holds: Holds<'a>,
}

/// The Flux Kustomizations that a gate should hold back, each with the job that does.
pub(super) type Targets<'a> = BTreeMap<GateTarget, &'a BuiltJob>;

impl<'a> Expected<'a> {
    /// Brings spec and repository together, as the gates stand in Git at an instant.
    ///
    /// # Errors
    ///
    /// When a window is none that Kubernetes takes.
    pub fn new(spec: &'a Spec, model: &'a Model, at: Timestamp) -> Result<Expected<'a>, Error> {
        let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
        let schedules = Schedules::in_git(spec, model, at).map_err(invalid)?;
        Ok(Expected { spec, model, schedules, holds: Holds::new(model, Some(spec)) })
    }

    /// Returns the cluster as Git says it.
    pub(super) fn cluster(&self, name: &str) -> Option<&'a Cluster> {
        self.model.delivered.named(name)
    }

    /// Returns the Flux Kustomizations that a cluster gets itself, and no other one by way of it.
    pub(super) fn reached(&self, cluster: &str) -> impl Iterator<Item = &'a Reached> {
        let all = self.cluster(cluster).into_iter().flat_map(|cluster| &cluster.kustomizations);
        all.filter(|one| one.remote.is_empty())
    }

    /// Names a Flux Kustomization.
    pub(super) fn target(&self, one: &Reached) -> GateTarget {
        let namespace = self.spec.flux.namespace_of(one.namespace()).to_owned();
        GateTarget { namespace, name: one.name().to_owned() }
    }

    /// Returns why it is open whether a cluster has what a target means.
    pub(super) fn doubt(&self, cluster: &str, target: &GateTarget) -> Option<&'a Doubt> {
        self.cluster(cluster)?.doubt(self.find(cluster, target)?)
    }

    /// Returns the Flux Kustomization that a target means.
    pub(super) fn find(&self, cluster: &str, target: &GateTarget) -> Option<&'a Reached> {
        self.reached(cluster).find(|one| self.target(one) == *target)
    }

    /// Returns what the gates of a cluster should hold back, by the name of the type.
    pub(super) fn gated(&self, cluster: &str) -> BTreeMap<Option<String>, Targets<'a>> {
        self.holds.gated(cluster)
    }

    /// Returns the window of a type in a cluster at an instant, where its `jobs` are there: that of the gate in Git, which may be
    /// another one than the spec says until `sync` has written it.
    pub(super) fn window(
        &self,
        cluster: &str,
        change_type: &str,
        at: Timestamp,
        jobs: &[LiveJob],
    ) -> Option<Window> {
        let schedule = self.schedules.distinct().get(self.schedules.of(cluster, change_type)?)?;
        let closing = || jobs.iter().filter(|job| job.action.holds());
        let made = closing().filter_map(|job| job.created).max().filter(|_| !closing().any(LiveJob::has_run));
        if let Some(times) = made.and_then(|made| schedule.before_first_closing(at, made, 0)) {
            return Some(Window {
                is_open: true,
                is_first: true,
                since: None,
                until: times.next_close,
                reason: Some("nothing has closed yet".to_owned()),
                zone: schedule.zone(times.closes),
                tick: 0,
            });
        }
        let times = schedule.letting_in(at);
        let until = if times.open { times.next_close } else { times.next_open };
        let end = at.checked_add(Span::new().seconds(1)).unwrap_or(at);
        let opened = || schedule.intervals(at, end).next().map(|interval| interval.open);
        let since =
            if times.open { opened() } else { schedule.closed_since(at).or_else(|| schedule.shut_since(at)) };
        let stretch = schedule.freeze_at(at).map(|freeze| format!("frozen, {}", freeze.reason));
        let given = || schedule.override_at(at).map(|given| format!("override, {}", given.reason));
        Some(Window {
            is_open: times.open,
            is_first: false,
            since: since.filter(|since| *since > Timestamp::MIN),
            until: until.filter(|until| *until < Timestamp::MAX),
            reason: stretch.or_else(given),
            zone: schedule.zone(if times.open { times.closes } else { times.opens }),
            tick: self.spec.gate.tick(),
        })
    }
}
