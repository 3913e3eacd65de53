//! The commands that open and close a type in a cluster at once, for when Git is too slow or down.
//!
//! They are about the gate that stands in Git: of one that is only wanted no cluster has heard.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{BuiltJob, Holds, Input, SourceId};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, GateTarget, Standing, StandingSource};
use crate::plan::Command;
use crate::plan::gate::unheld::unheld;
use crate::repo::FluxKustomization;
use crate::spec::MechanismName;

/// Makes the commands.
pub struct ByHand<'a> {
    input: Input<'a>,
    holds: Holds<'a>,
}

impl<'a> ByHand<'a> {
    /// Asks the gates that stand.
    pub fn new(input: &Input<'a>) -> ByHand<'a> {
        ByHand { input: *input, holds: Holds::new(input.model, Some(input.spec)) }
    }

    /// Returns the clusters of which gates run, and that the spec does not name, as those that have left it.
    pub fn beside_spec(&self) -> Vec<String> {
        let closings = &self.input.model.closings;
        let is_beside = |name: &&str| !self.input.spec.clusters.contains_key(*name);
        let all = closings.clusters().filter(is_beside).filter(|name| closings.closes_any(name));
        all.map(str::to_owned).collect()
    }

    /// Makes sure that a cluster is one of the spec, or has a gate that runs.
    fn known(&self, cluster: &str) -> Result<(), Error> {
        if self.input.model.closings.closes_any(cluster) {
            return Ok(());
        }
        self.input.known_clusters(&[cluster.to_owned()])
    }

    /// Returns the commands that let in what waits for a type in a cluster, and all held Flux Kustomizations that this
    /// depends on: one of them that stays suspended keeps it from the new commit
    /// (kustomize-controller, `checkDependencies`: "revision is not up to date").
    ///
    /// # Errors
    ///
    /// When the spec has no such cluster, or its gate holds nothing of the type back.
    pub fn open(&self, cluster: &str, type_name: &str) -> Result<Vec<Command>, Error> {
        self.known(cluster)?;
        let all = self.standing(cluster);
        let held = all.iter().flat_map(|part| &part.standing.targets).cloned().collect();
        let open = |Part { mechanism, standing, .. }: &Part| {
            let mechanism = mechanism::of(*mechanism);
            let needed = with_dependencies(&self.input, cluster, &held, &standing.targets);
            let mut standing = standing.clone();
            // What it depends on may be of another type, which stays closed but for that.
            let others = all.iter().filter(|other| !other.standing.targets.is_disjoint(&needed));
            standing.beside.extend(others.flat_map(|other| other.standing.parameters.iter().cloned()));
            let until = mechanism.opened_until(&standing);
            let purpose = format!("let in at once what waits for type {type_name}: {until}");
            Command {
                cluster: cluster.to_owned(),
                purpose,
                is_late: false,
                words: mechanism.open_now(&standing, &needed),
            }
        };
        let own = all.iter().filter(|part| part.change_type.as_deref() == Some(type_name));
        let found: Vec<Command> = own.map(open).collect();
        if found.is_empty() { Err(self.nothing(cluster, type_name)) } else { Ok(found) }
    }

    /// Returns the commands that close a type in a cluster at once without Git, and those that end that, where it does not
    /// end by itself. Without a type, it is about what gates hold back of which no type is known.
    ///
    /// # Errors
    ///
    /// When the spec has no such cluster, or its gate holds nothing of the type back.
    pub fn stop(&self, cluster: &str, type_name: Option<&str>, reason: &str) -> Result<Vec<Command>, Error> {
        self.known(cluster)?;
        let mut found = Vec::new();
        for Part { change_type, mechanism, standing, job } in self.standing(cluster) {
            if change_type.as_deref() != type_name {
                continue;
            }
            let what =
                type_name.map_or_else(|| format!("what {job} makes wait"), |name| format!("type {name}"));
            let mechanism = mechanism::of(mechanism);
            let until = mechanism.stopped_until(&standing);
            let stop = (format!("close {what} at once: {until}"), mechanism.stop_now(&standing, reason));
            let go_on = (format!("end that for {what}"), mechanism.go_on(&standing));
            for (purpose, words) in [stop, go_on].into_iter().filter(|(_, words)| !words.is_empty()) {
                found.push(Command { cluster: cluster.to_owned(), purpose, is_late: false, words });
            }
        }
        match type_name {
            Some(name) if found.is_empty() => Err(self.nothing(cluster, name)),
            _ => Ok(found),
        }
    }

    /// Returns by cluster the commands that close what no gate suspends of some types, and those that end that; none of what
    /// can't be known.
    pub fn close_unheld(&self, types: &BTreeSet<usize>) -> BTreeMap<String, Vec<Command>> {
        let suspend = mechanism::of(MechanismName::Suspend);
        let of = |(cluster, targets): (String, BTreeSet<GateTarget>)| {
            let standing = Standing { targets, ..Standing::default() };
            let close = "close what no gate suspends, and what depends on it, until people resume it";
            let commands = [
                (close, suspend.stop_now(&standing, "")),
                (
                    "end that for what no gate suspends",
                    suspend.open_now(&Standing::default(), &standing.targets),
                ),
            ];
            let commands = commands.map(|(purpose, words)| Command {
                cluster: cluster.clone(),
                purpose: purpose.to_owned(),
                is_late: false,
                words,
            });
            (cluster, commands.into())
        };
        unheld(&self.input, types).into_iter().map(of).collect()
    }

    /// Returns what the gates of a cluster hold back as they stand.
    fn standing(&self, cluster: &str) -> Vec<Part> {
        let closings = &self.input.model.closings;
        let mut found: BTreeMap<(Option<String>, MechanismName, bool, bool), Part> = BTreeMap::new();
        for (change_type, targets) in self.holds.gated(cluster) {
            for (target, job) in targets {
                let change_type = change_type.clone().or_else(|| type_of(&self.input, job));
                let has_table = job.table.is_some();
                let other = closings.pair(cluster, &job.name).map(|(open, _)| open.obeys_stop);
                let obeys_stop = job.obeys_stop && other.unwrap_or(true);
                let key = (change_type.clone(), job.mechanism, has_table, obeys_stop);
                let part = found.entry(key).or_insert_with(|| Part {
                    change_type,
                    mechanism: job.mechanism,
                    standing: Standing { has_table, obeys_stop, ..Standing::default() },
                    job: job.shown(),
                });
                part.standing.targets.insert(target);
                part.standing.parameters.extend(job.parameter.clone());
                part.standing.sources.extend(
                    job.held.clone().zip(job.follows.clone()).map(|(held, live)| StandingSource {
                        held,
                        live,
                        job: job.name.clone(),
                    }),
                );
            }
        }
        found.into_values().collect()
    }

    fn nothing(&self, cluster: &str, type_name: &str) -> Error {
        let message = format!("the gate of cluster {cluster} holds nothing of type `{type_name}` back");
        let help = "`gitops-windows when` says what waits for which window, and why";
        let place = Place::file(self.input.spec.path.clone());
        Error::new(ErrorKind::Usage, Diagnostic::error(message).at(place).help(help))
    }
}

/// What jobs of one kind hold back of a type.
struct Part {
    /// The name of the type, as far as one is known.
    change_type: Option<String>,
    mechanism: MechanismName,
    standing: Standing,
    /// One of the jobs.
    job: String,
}

/// Returns the type of which a job of the tool has the name.
fn type_of(input: &Input<'_>, job: &BuiltJob) -> Option<String> {
    let position = mechanism::of(job.mechanism).type_of(input.spec, &job.name)?;
    Some(input.spec.types.get(position)?.name.value.clone())
}

/// Returns targets of a cluster with everything `held` in it that they wait for, whoever stands between.
///
/// A dependency with another source only has to be Ready, as it stays while it is suspended (kustomize-controller,
/// `checkDependencies`); what a `readyExpr` asks nobody here knows.
fn with_dependencies(
    input: &Input<'_>,
    cluster: &str,
    held: &BTreeSet<GateTarget>,
    targets: &BTreeSet<GateTarget>,
) -> BTreeSet<GateTarget> {
    let mut found = targets.clone();
    let mut open: Vec<GateTarget> = found.iter().cloned().collect();
    let called = |target: &GateTarget| input.flux_called(cluster, &target.namespace, &target.name);
    let source = |flux: &FluxKustomization| {
        SourceId::of(&flux.effective["spec"], input.spec.flux.namespace_of(&flux.namespace))
    };
    while let Some(target) = open.pop() {
        let Some(flux) = called(&target) else { continue };
        for (namespace, name, is_asked) in flux.waits_for_ready() {
            let namespace = input.spec.flux.namespace_of(namespace).to_owned();
            let next = GateTarget { namespace, name: name.to_owned() };
            let is_other = || called(&next).is_some_and(|other| source(other) != source(flux));
            if (is_asked || !is_other()) && found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found.retain(|target| held.contains(target) || targets.contains(target));
    found
}
