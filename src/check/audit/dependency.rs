//! Who waits for whom: `dependsOn`, and gates that suspend themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::audit::circle::circles;
use crate::check::code::{DEFINED_TWICE, GATE_GATES_ITSELF, MISSING_DEPENDENCY, WAITS_FOR_GATED};
use crate::check::subject::Subject;
use crate::delivery::{Cluster, ClusterKey, Delivery, LACKED, SourceId};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::mechanism::Action;
use crate::repo::FluxKustomization;
use crate::repo::flux::GROUP;

/// Finds Kustomizations that land at once and depend on ones that wait, and gates that close themselves.
///
/// A dependency that is suspended is not at the newest revision of the source, and until it is,
/// kustomize-controller leaves the dependent one alone (`checkDependencies`).
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = gates(subject);
    for deliveries in subject.reconcilers().values() {
        let steps = steps(subject, deliveries);
        findings.extend(waits(subject, &steps));
        findings.extend(circles(&steps));
        findings.extend(twice(subject, deliveries));
    }
    // Where Git does not say what a cluster's roots are, what another one of the project defines may be its own too.
    let mut by_home: BTreeMap<&str, Defined<'_>> = BTreeMap::new();
    let mut by_cluster: BTreeMap<&ClusterKey, Defined<'_>> = BTreeMap::new();
    for delivery in &subject.deliveries {
        let home = by_home.entry(&delivery.cluster.home).or_default();
        home.name(delivery);
        home.take_in(delivery);
        by_cluster.entry(&delivery.reconciled_in).or_default().name(delivery);
        by_cluster.entry(&delivery.cluster).or_default().take_in(delivery);
    }
    findings.extend(subject.deliveries.iter().flat_map(|one| {
        let cluster = subject.model.delivered.named(&one.reconciled_in.name);
        let defined = match cluster.is_some_and(Cluster::is_said) {
            true => &by_cluster[&one.reconciled_in],
            false => &by_home[one.cluster.home.as_str()],
        };
        missing(subject, one, defined)
    }));
    findings
}

/// What a cluster, or the clusters of one project, define.
#[derive(Default)]
struct Defined<'s> {
    /// Those in Git, by name.
    by_name: BTreeMap<&'s str, Vec<&'s Delivery>>,
    /// The names of Flux Kustomizations among what is applied, each with the namespaces.
    applied: BTreeMap<&'s str, BTreeSet<&'s str>>,
    /// Whether something makes others of which nobody knows the names.
    is_open: bool,
    /// What does not build.
    unbuilt: Vec<&'s Delivery>,
}

impl<'s> Defined<'s> {
    fn name(&mut self, delivery: &'s Delivery) {
        if delivery.flux.is_some() {
            self.by_name.entry(&delivery.name).or_default().push(delivery);
        }
    }

    fn take_in(&mut self, delivery: &'s Delivery) {
        self.unbuilt.extend(delivery.error.is_some().then_some(delivery));
        for applied in &delivery.objects {
            self.is_open |= applied.id.kind == "ResourceSet" && may_make(applied.value(), "Kustomization");
            if applied.is(GROUP, "Kustomization") {
                self.applied.entry(&applied.live.name).or_default().insert(&applied.live.namespace);
            }
        }
    }

    fn has(&self, namespace: &str, name: &str) -> bool {
        let mut named = self.by_name.get(name).into_iter().flatten();
        let is_it = |own: &&str| own.is_empty() || own.contains("${") || *own == namespace;
        self.is_open
            || namespace.is_empty()
            || self.applied.get(name).is_some_and(|spaces| spaces.iter().any(is_it))
            || named.any(|delivery| delivery.is_named(namespace, name))
    }

    /// Returns another namespace that has one of this name.
    fn elsewhere(&self, name: &str) -> Option<&'s str> {
        let applied = self.applied.get(name).into_iter().flatten().copied();
        let named = self.by_name.get(name).into_iter().flatten().map(|delivery| delivery.namespace.as_str());
        applied.chain(named).find(|namespace| !namespace.is_empty())
    }
}

/// Returns whether a ResourceSet may make objects of a kind: its templates name it, or leave it to an input.
pub(super) fn may_make(set: &Value, kind: &str) -> bool {
    let text = set["spec"].to_string();
    [kind, "kind: <<", r#"kind: \"<<"#, r#""kind":"<<"#].iter().any(|part| text.contains(part))
}

/// Dependencies on what no file of the project defines: such a Kustomization never becomes ready
/// (kustomize-controller, `checkDependencies`).
fn missing(subject: &Subject<'_>, from: &Delivery, defined: &Defined<'_>) -> Vec<Diagnostic> {
    let Some(flux) = subject.flux(from) else { return Vec::new() };
    let own = || subject.reconciled_in(&from.reconciled_in);
    // One that stands alone depends on what another repository holds, or on what nothing here shows.
    let alone = own().filter(|other| other.flux.is_some()).count() < 2;
    if alone {
        return Vec::new();
    }
    // What does not build may have brought what is missing; what waits for it has brought nothing.
    let may_bring = |namespace: &str| {
        let mut others = defined.unbuilt.iter().filter(|one| !std::ptr::eq(**one, from));
        others.any(|one| subject.model.may_bring_unseen(subject.snapshot, one, namespace))
    };
    let items = flux.spec("dependsOn").as_array().into_iter().flatten().enumerate();
    let unknown = items.filter_map(|(index, item)| {
        let name = item["name"].as_str().filter(|name| !name.contains("${"))?;
        let namespace = item["namespace"].as_str().unwrap_or(&from.namespace);
        (!defined.has(namespace, name) && !may_bring(namespace)).then_some((index, namespace, name))
    });
    unknown
        .map(|(index, namespace, name)| {
            let (named, help) = match defined.elsewhere(name) {
                Some(other) => {
                    (format!("{namespace}/{name}"), format!("write `namespace: {other}` beside the name"))
                }
                None => (
                    name.to_owned(),
                    format!(
                        "ask the cluster with `flux get kustomizations`\nwhere it lacks {name} too, correct `dependsOn`, or add {name} to Git"
                    ),
                ),
            };
            MISSING_DEPENDENCY
                .finding(format!(
                    "{} depends on {named}, which is not in Git. {LACKED}",
                    from.name
                ))
                .at(flux.place_of_dependency(index))
                .help(help)
        })
        .collect()
}

/// One Flux Kustomization in two files: whoever applies it last wins.
fn twice(subject: &Subject<'_>, deliveries: &[&Delivery]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let flux = || deliveries.iter().filter_map(|delivery| subject.flux(delivery)).enumerate();
    let mut named: BTreeMap<(&str, &str), Vec<(usize, &FluxKustomization)>> = BTreeMap::new();
    for (index, one) in flux().filter(|(_, one)| !one.name.contains("${")) {
        named.entry((&one.namespace, &one.name)).or_default().push((index, one));
    }
    for (index, one) in flux() {
        let same = named.get(&(one.namespace.as_str(), one.name.as_str())).into_iter().flatten();
        for (_, other) in same.filter(|(position, _)| *position > index) {
            if one.file == other.file || !one.is_document || !other.is_document {
                continue;
            }
            if let Some(parent) = failing_for(subject, one, other) {
                let path = parent.path.as_ref().map(|path| path.as_str()).unwrap_or_default();
                findings.push(Diagnostic {
                    severity: Severity::Error,
                    ..DEFINED_TWICE
                        .finding(format!(
                            "{} is defined here and in {}, and {path} builds both. That fails, and {} applies nothing new",
                            one.name, other.file, parent.name
                        ))
                        .at(one.place("path"))
                        .related("the other one", other.place("path"))
                        .help("rename or remove one of the two")
                });
                continue;
            }
            if one.value["spec"] == other.value["spec"] {
                continue;
            }
            findings.push(
                DEFINED_TWICE
                    .finding(format!(
                        "{} is defined here and in {} with another `spec`. The cluster has the last one applied",
                        one.name, other.file
                    ))
                    .at(one.place("path"))
                    .related("the other one", other.place("path"))
                    .help("give both the annotation `kustomize.toolkit.fluxcd.io/prune: disabled`, or its objects may be deleted\nwait until the cluster has applied that\nrename or remove one of the two"),
            );
        }
    }
    findings
}

/// Returns what builds both of two Flux Kustomizations of one name, and so does not build (kustomize, `resmap.Append`).
fn failing_for<'s>(
    subject: &Subject<'s>,
    one: &FluxKustomization,
    other: &FluxKustomization,
) -> Option<&'s FluxKustomization> {
    let model = subject.model;
    let of_other = model.parents(other);
    let is_failing =
        |parent: &FluxKustomization| model.reached(parent).is_some_and(|one| one.error.is_some());
    model
        .parents(one)
        .into_iter()
        .find(|parent| of_other.iter().any(|another| std::ptr::eq(*another, *parent)) && is_failing(parent))
}

/// One step from a Kustomization to one that it depends on.
pub(super) struct Step<'s> {
    pub(super) from: &'s Delivery,
    pub(super) to: &'s Delivery,
    pub(super) place: Place,
    /// Whether a `readyExpr` alone decides (kustomize-controller, `checkDependencies`).
    pub(super) is_expression: bool,
}

/// Returns the steps between those that read one source: only of one source revisions are compared (kustomize-controller,
/// `checkDependencies`).
fn steps<'s>(subject: &Subject<'_>, deliveries: &[&'s Delivery]) -> Vec<Step<'s>> {
    let source = |one: &FluxKustomization| SourceId::of(&one.effective["spec"], &one.namespace);
    let source = |one: &Delivery| subject.flux(one).map(source);
    let mut steps = all_steps(subject, deliveries);
    steps.retain(|step| match (source(step.from), source(step.to)) {
        (Some(from), Some(to)) => to.is(&from),
        _ => true,
    });
    steps
}

fn all_steps<'s>(subject: &Subject<'_>, deliveries: &[&'s Delivery]) -> Vec<Step<'s>> {
    let mut steps = Vec::new();
    for from in deliveries {
        let Some(flux) = subject.flux(from) else { continue };
        for (index, item) in flux.spec("dependsOn").as_array().into_iter().flatten().enumerate() {
            let Some(name) = item["name"].as_str() else { continue };
            let namespace = item["namespace"].as_str().unwrap_or(&from.namespace);
            let to = deliveries.iter().find(|to| to.flux.is_some() && to.is_named(namespace, name));
            let is_expression = item["readyExpr"].as_str().is_some_and(|text| !text.is_empty());
            let place = flux.place_of_dependency(index);
            steps.extend(to.map(|to| Step { from, to, place, is_expression }));
        }
    }
    steps
}

/// The order in which a Kustomization as a whole stands; one that is not split yet has none.
fn rank(delivery: &Delivery) -> Option<usize> {
    match (delivery.window(), delivery.change_type) {
        (Some(_), change_type) => Some(change_type.unwrap_or(1).max(1)),
        (None, Some(_)) => Some(0),
        // By a spec, apps that are not split wait as well as not.
        (None, None) if delivery.objects.iter().any(|applied| applied.window().is_some()) => None,
        (None, None) => Some(0),
    }
}

fn waits(subject: &Subject<'_>, steps: &[Step<'_>]) -> Vec<Diagnostic> {
    let mut waiting: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for step in steps {
        waiting.entry(step.to.name.as_str()).or_default().insert(step.from.name.as_str());
    }
    let mut findings = Vec::new();
    for step in steps {
        let (Some(from), Some(to)) = (rank(step.from), rank(step.to)) else { continue };
        let Some(held) = step.to.window().filter(|_| from < to) else { continue };
        let mut through = BTreeSet::new();
        let mut queue = vec![step.from.name.as_str()];
        while let Some(name) = queue.pop() {
            for other in waiting.get(name).into_iter().flatten() {
                if through.insert(*other) {
                    queue.push(other);
                }
            }
        }
        let others = if through.is_empty() {
            String::new()
        } else {
            format!(", and with it {}", through.into_iter().collect::<Vec<_>>().join(", "))
        };
        let place = subject.flux(step.to).map(|flux| flux.place("path"));
        let finding = WAITS_FOR_GATED
            .finding(format!(
                "{} depends on {}, which waits for {held}. At each commit it waits for the window too{others}",
                step.from.name, step.to.name
            ))
            .at(step.place.clone())
            .help("reverse the dependency
or move the objects it needs to a Kustomization that lands at once");
        findings.push(match place {
            Some(place) => finding.related("the Kustomization that waits", place),
            None => finding,
        });
    }
    findings
}

fn gates(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for job in subject.jobs.iter().filter(|job| job.action.holds()) {
        let carrier = &subject.deliveries[job.delivery];
        let closes = |delivery: &Delivery| job.turns(&delivery.namespace, &delivery.name);
        let message = if closes(carrier) {
            format!(
                "CronJob `{}` {} {}, which applies the CronJob itself. While the window is closed, Git can't change the windows",
                job.name,
                job.action.verb(),
                carrier.name
            )
        } else {
            let cluster: Vec<&Delivery> = subject.reconciled_in(&job.cluster).collect();
            // What is held has to be Ready once, whatever it reads.
            let steps = match job.action {
                Action::Follow => all_steps(subject, &cluster),
                _ => steps(subject, &cluster),
            };
            let mut reached = vec![carrier];
            let mut index = 0;
            while index < reached.len() {
                let next: Vec<&Delivery> = steps
                    .iter()
                    .filter(|step| std::ptr::eq(step.from, reached[index]))
                    .map(|step| step.to)
                    .filter(|to| !reached.iter().any(|known| std::ptr::eq(*known, *to)))
                    .collect();
                reached.extend(next);
                index += 1;
            }
            let Some(gated) = reached.iter().skip(1).find(|delivery| closes(delivery)) else { continue };
            let consequence = match job.action {
                Action::Follow => "In a new cluster each waits for the other",
                _ => "While the window is closed, Git can't change the windows",
            };
            format!(
                "CronJob `{}` {} {}, and {} depends on that. {consequence}",
                job.name,
                job.action.verb(),
                gated.name,
                carrier.name
            )
        };
        let finding = GATE_GATES_ITSELF
            .finding(message)
            .at(job.place.clone())
            .help("let a Kustomization that is never suspended apply the CronJobs");
        let place = subject.flux(carrier).map(|flux| flux.place("path"));
        findings.push(match place {
            Some(place) => finding.related(format!("{} carries the CronJob", carrier.name), place),
            None => finding,
        });
    }
    findings
}
