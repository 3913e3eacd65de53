//! Two CronJobs a window: one suspends the Flux Kustomizations, the other resumes them.

mod admission;
mod built;
mod command;
mod files;
mod jobs;
mod line;
mod look;
mod patch;
mod read;
#[cfg(test)]
mod read_tests;
mod role;
mod shell;

use std::collections::BTreeSet;

use serde_json::Value;

pub use admission::Parameter;
pub use patch::SuspendPatch;

use crate::error::Error;
use crate::mechanism::{
    ClusterGate, Field, Files, GateTarget, Gates, Jobs, Left, Mechanism, Observed, Reading, Standing, State,
    Writing,
};
use crate::spec::Spec;

/// The mechanism of the guides.
pub(super) struct Suspend;

impl Mechanism for Suspend {
    fn jobs(&self, spec: &Spec) -> Result<Jobs, Error> {
        jobs::jobs(spec)
    }

    fn type_of(&self, spec: &Spec, job: &str) -> Option<usize> {
        jobs::type_of(spec, job)
    }

    fn base(&self, writing: &Writing<'_>, wanted: &mut Files) -> Result<(), Error> {
        files::base(writing, wanted)
    }

    fn cluster(
        &self,
        writing: &Writing<'_>,
        cluster: &ClusterGate,
        alerts: &[&str],
        wanted: &mut Files,
    ) -> Result<(), Error> {
        files::cluster(writing, cluster, alerts, wanted)
    }

    fn patch(
        &self,
        writing: &Writing<'_>,
        cluster: &ClusterGate,
        job: usize,
    ) -> Result<Option<(String, String)>, Error> {
        files::patch(writing, cluster, job)
    }

    fn problem(
        &self,
        spec: &Spec,
        gates: &Gates,
        cluster: &ClusterGate,
        objects: &[&Value],
    ) -> Option<String> {
        built::problem(spec, gates, cluster, objects)
            .or_else(|| role::unpermitted(spec, &cluster.held(), objects))
            .or_else(|| admission::problem(spec, cluster, objects))
    }

    fn read(&self, job: &Value, namespace: Option<&str>) -> Reading {
        read::read(job, namespace)
    }

    fn release(&self, namespace: &str, names: &[String]) -> Vec<Vec<String>> {
        // Given several names, the command waits for none (flux2, `cmd/flux/resume.go`).
        let words = ["flux", "resume", "kustomization"].into_iter().chain(names.iter().map(String::as_str));
        vec![words.chain(["--namespace", namespace]).map(str::to_owned).collect()]
    }

    fn open_now(&self, standing: &Standing, needed: &BTreeSet<GateTarget>) -> Vec<String> {
        command::resume(standing, needed)
    }

    fn opened_until(&self, standing: &Standing) -> &'static str {
        if standing.has_table {
            "the next run of the gate closes again, unless its table says open"
        } else {
            "it stays open until the next closing"
        }
    }

    fn stop_now(&self, standing: &Standing, reason: &str) -> Vec<String> {
        command::stop(standing, reason)
    }

    fn stopped_until(&self, standing: &Standing) -> &'static str {
        match (standing.has_table, standing.obeys_stop) {
            (true, true) => "the jobs obey the annotation gitops-windows/stop until it is taken away",
            (true, false) => "its jobs obey no annotation, so this suspends as people do",
            (false, _) => "it stays closed until the next opening resumes it",
        }
    }

    fn go_on(&self, standing: &Standing) -> Vec<String> {
        command::go_on(standing)
    }

    fn left<'v>(&self, observed: &Observed<'v>) -> Left<'v> {
        let kustomization = observed.kustomization;
        if let Some(field) = Field::stop(kustomization).filter(|_| observed.has_table) {
            let (state, verb) = (State::Stopped, "stopped");
            return Left { state, field, verb, at: None, newest_since: None, pin: None, note: None };
        }
        let mark = &kustomization["metadata"]["annotations"][look::HELD];
        let state = match (kustomization["spec"]["suspend"] == true, observed.has_table && !mark.is_string())
        {
            (false, _) => State::Open,
            (true, false) => State::Closed,
            // Jobs that look at a table resume what a job has suspended, and nothing else.
            (true, true) => State::Stopped,
        };
        let verb = if state == State::Open { "resumed" } else { "suspended" };
        let field = Field::suspend(kustomization);
        Left { state, field, verb, at: None, newest_since: None, pin: None, note: None }
    }

    fn fails_closed(&self) -> bool {
        false
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[
            "CronJob",
            "ConfigMap",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ClusterRole",
            "ClusterRoleBinding",
            "Role",
            "RoleBinding",
            "ServiceAccount",
            "Namespace",
        ]
    }
}
