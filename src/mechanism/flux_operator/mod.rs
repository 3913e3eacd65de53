//! A source of its own for what is gated, which Flux Operator moves while a window is open: `mechanism: flux-operator`.
//!
//! **In Git.** Each held source is a ResourceSetInputProvider beside the source that it follows: its `type` and `url` are the
//! API of the Git host, its filter is the one branch, its `schedule` is the windows ([`crate::schedule::slots`]), and its
//! `defaultValues` are the copied `spec`. One ResourceSet makes of each provider's exported commit a GitRepository with
//! `ref.commit`, which what is gated reads as it would read one of `follow`. No CronJob, ServiceAccount or Role.
//!
//! **Closed.** Outside of its schedule the provider is not reconciled and keeps what it exported (flux-operator,
//! `ResourceSetInputProviderReconciler.reconcile`): also where its `spec` changes, an annotation asks for it, or the operator
//! starts anew. So nothing has to close. It reads no later than its timeout before the end (`Scheduler.ShouldReconcile`).
//!
//! **New.** A provider that was made while closed has exported nothing. There is no held source then, and what reads it is not
//! Ready until the window opens; nothing is deleted or let in. So what begins to read one has to reach the cluster while open.
//!
//! **Lost.** A provider that is made again exports nothing either, and the ResourceSet would prune what it made before: its
//! GitRepository says `fluxcd.controlplane.io/prune: disabled`, so it stays at its commit, and drift goes on being mended.
//!
//! **By hand.** `reconcile.fluxcd.io/forceAt` reads once, whatever the schedule says; `fluxcd.controlplane.io/reconcile:
//! disabled` reads no more. Setting `ref.commit` by hand does not last: the ResourceSet sets it back.
//!
//! **Refused.** Freezes, overrides, days of the month and a gate that is off, as schedules say nothing of that; windows that no
//! schedule says exactly in ten years; sources whose host has no API that is known; the way from and to `follow`.
//!
//! **Leaks.** What was read at the end lands whenever Flux comes to it, also after the window: nothing takes it back. Whoever
//! may edit or force a provider opens it. The held source fetches by itself, so a commit may be newer than what the live one has.

mod provider;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::cron_job::{check_names, edges, in_shell};
use crate::mechanism::follow::left_at;
use crate::mechanism::{
    Action, ClusterGate, Field, Files, GateTarget, Gates, HeldId, Jobs, Left, Mechanism, Observed, Reading,
    STOP, SourceKind, Standing, StandingSource, Turn, Window, Writing, annotate, held, join,
};
use crate::repo::duration;
use crate::schedule::{CronExpr, Length, OpenTimes, Slot, slots, zone};
use crate::spec::{MechanismName, PROVIDER_EVERY, PROVIDER_TIMEOUT, Placed, Spec, WindowDef};

/// The name of the providers, before that of a further type or source, and of the ResourceSet.
const NAME: &str = "reconciliation-window";

/// The API group of Flux Operator.
pub const GROUP: &str = "fluxcd.controlplane.io";

/// The kind of the objects that have a schedule.
pub const PROVIDER: &str = "ResourceSetInputProvider";

/// The label by which the ResourceSet finds its providers.
const LABEL: &str = "gitops-windows/held-source";

/// The resource, as kubectl asks for it.
pub const RESOURCE: &str = "resourcesetinputproviders.fluxcd.controlplane.io";

/// The annotation that keeps Flux Operator from an object.
const RECONCILE: &str = "fluxcd.controlplane.io/reconcile";

/// What the ResourceSet must make of an input.
const NEEDED: [&str; 4] = [
    "<< inputs.held >>",
    "<< inputs.spec | toYaml | nindent 2 >>",
    "commit: << inputs.sha >>",
    "prune: disabled",
];

/// The mechanism that Flux Operator runs.
pub(super) struct FluxOperator;

/// Returns the schedule of a window in a cluster that is so many minutes later.
fn schedule(def: &Placed<WindowDef>, later: u32) -> Result<Vec<Window>, Error> {
    const OTHER: &str = "choose `mechanism: follow` under `gate`, with `every` and `through`\nor write its times for `timeZone: UTC`, whose clocks never change";
    let refuse = |why: &str| {
        Error::invalid(
            Diagnostic::error(format!("Flux Operator can't schedule this window: {why}"))
                .at(def.place.clone())
                .help(OTHER),
        )
    };
    let (edges, zone) = edges(def)?;
    let pair = edges.cron().ok_or_else(|| refuse("cron expressions can't say it"))?;
    let pair = match Length::from_minutes(later) {
        Some(length) => pair.later(length, &zone).map_err(|why| refuse(&why))?,
        None => pair,
    };
    // A window that is not twice as long as the timeout is refused (flux-operator, `NewScheduler`).
    let shortest = (2 * PROVIDER_TIMEOUT).max(PROVIDER_EVERY + PROVIDER_TIMEOUT);
    let found = slots(&pair, &zone, shortest);
    let found = found.ok_or_else(|| refuse("it is shorter than 3m, or clocks change it"))?;
    let name = def.time_zone.as_ref().map_or("UTC", |zone| &zone.value);
    Ok(found.into_iter().map(|slot| Window { slot, time_zone: name.to_owned() }).collect())
}

/// Returns the entries of `spec.schedule`.
fn entries(windows: &[Window]) -> Vec<Value> {
    let entry = |Window { slot: Slot { cron, minutes }, time_zone }: &Window| {
        let length = if minutes % 60 == 0 { format!("{}h", minutes / 60) } else { format!("{minutes}m") };
        json!({ "cron": cron.as_str(), "timeZone": time_zone, "window": length })
    };
    windows.iter().map(entry).collect()
}

/// Reads `spec.schedule` back; `None` where it says no exact times.
fn times(provider: &Value) -> Option<OpenTimes> {
    let all = provider["spec"]["schedule"].as_array().filter(|all| !all.is_empty())?;
    let window = |entry: &Value| {
        let zone = match entry["timeZone"].as_str() {
            None | Some("") => TimeZone::UTC,
            Some(name) => zone::parse(name).ok()?,
        };
        let cron = CronExpr::parse(entry["cron"].as_str()?).ok()?;
        let seconds = duration::parse(entry["window"].as_str()?)?.as_secs();
        // Without a window it is reconciled at any time (flux-operator, `ShouldReconcile`).
        let minutes = u32::try_from(seconds / 60).ok().filter(|minutes| *minutes > 0 && seconds % 60 == 0)?;
        Some((Slot { cron, minutes }.edges(), zone))
    };
    let windows = all.iter().map(window).collect::<Option<Vec<_>>>()?;
    Some(OpenTimes::new(windows, Vec::new(), Vec::new()))
}

/// Returns whether an object is a ResourceSetInputProvider of Flux Operator.
pub fn is_provider(object: &Value) -> bool {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    object["kind"] == PROVIDER && version.split_once('/').is_some_and(|(group, _)| group == GROUP)
}

/// Returns the annotation of a provider by which people keep Flux Operator from it; `None` where they do not.
pub(super) fn disabled(provider: &Value) -> Option<Field<'_>> {
    let value = provider["metadata"]["annotations"][RECONCILE].as_str();
    let is_off = value.is_some_and(|value| value.eq_ignore_ascii_case("disabled"));
    is_off.then_some(Field { object: provider, path: &["metadata", "annotations", RECONCILE] })
}

/// Returns the held source that a provider makes, as its namespace, its name and its `spec`; `None` for any other object.
pub fn source_of(object: &Value) -> Option<(&str, &str, Value)> {
    let values = Some(&object["spec"]["defaultValues"]).filter(|_| is_provider(object))?;
    let (name, mut spec) = (values["held"].as_str()?, values["spec"].clone());
    if !spec.is_object() {
        return None;
    }
    spec["ref"] = json!({ "branch": values["branch"], "tag": SourceKind::Git.placeholder() });
    Some((object["metadata"]["namespace"].as_str().unwrap_or_default(), name, spec))
}

/// Returns the command that annotates providers.
fn on_providers(standing: &Standing, annotations: &[&str]) -> Vec<String> {
    let line = |StandingSource { held: HeldId { namespace, .. }, job, .. }: &StandingSource| {
        let mut words = annotate(RESOURCE, namespace, &[job], annotations[0]);
        words.extend(annotations[1..].iter().map(|one| (*one).to_owned()));
        words
    };
    held::all_of(standing.sources.iter().map(line).collect())
}

impl Mechanism for FluxOperator {
    fn jobs(&self, spec: &Spec) -> Result<Jobs, Error> {
        let mut found = Jobs { all: held::jobs(spec, NAME), ..Jobs::default() };
        check_names(spec, &found.all)?;
        let mut known: Vec<((&str, u32), Vec<Window>)> = Vec::new();
        for cluster in spec.clusters.keys() {
            let (later, own) = (spec.later(cluster), found.windows.entry(cluster.clone()).or_default());
            for job in &found.all {
                let all: &mut Vec<Window> = own.entry(job.change_type).or_default();
                for def in spec.windows_of(cluster, &spec.types[job.change_type].name.value) {
                    let name = def.name.as_ref().map(|name| (name.value.as_str(), later));
                    match known.iter().find(|(key, _)| Some(*key) == name) {
                        Some((_, windows)) => all.extend(windows.iter().cloned()),
                        None => {
                            let windows = schedule(def, later)?;
                            all.extend(windows.iter().cloned());
                            known.extend(name.map(|name| (name, windows)));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    fn type_of(&self, spec: &Spec, job: &str) -> Option<usize> {
        held::type_of(&held::jobs(spec, NAME), job)
    }

    fn base(&self, writing: &Writing<'_>, wanted: &mut Files) -> Result<(), Error> {
        let Writing { spec, templates, gates, .. } = *writing;
        if gates.held.is_empty() {
            return Ok(());
        }
        let context = json!({ "name": NAME, "namespace": spec.flux.namespace, "label": LABEL });
        wanted
            .insert(join(&gates.base, "resource-set.yaml")?, templates.render("operator-set.yaml", context)?);
        let list = templates.render("gate-kustomization.yaml", json!({ "files": ["resource-set.yaml"] }))?;
        wanted.insert(join(&gates.base, "kustomization.yaml")?, list);
        Ok(())
    }

    fn cluster(
        &self,
        writing: &Writing<'_>,
        cluster: &ClusterGate,
        alerts: &[&str],
        wanted: &mut Files,
    ) -> Result<(), Error> {
        let Writing { spec, templates, .. } = *writing;
        let mut files: Vec<(String, String)> = Vec::new();
        for source in &cluster.sources {
            let wanted = provider::spec(spec, cluster, source).map_err(|(why, help)| {
                let text = format!("{} of cluster {} {why}", source.live, cluster.cluster);
                let error = Diagnostic::error(text).at(Place::file(spec.path.clone())).help(help);
                Error::new(ErrorKind::Unsafe, error)
            })?;
            let context = json!({
                "name": source.job,
                "namespace": source.namespace,
                "label": LABEL,
                "every": format!("{PROVIDER_EVERY}m"),
                "timeout": format!("{PROVIDER_TIMEOUT}m"),
                "held": source.name,
                "live": source.live,
                "secret": wanted["secretRef"],
                "spec": wanted,
            });
            files.push((
                format!("{}.yaml", source.job),
                templates.render("operator-provider.yaml", &context)?,
            ));
        }
        held::list(writing, cluster, alerts, files, wanted)
    }

    fn problem(&self, spec: &Spec, _: &Gates, cluster: &ClusterGate, objects: &[&Value]) -> Option<String> {
        let all = |kind: &'static str| objects.iter().filter(move |one| one["kind"] == kind);
        for source in &cluster.sources {
            let name = &source.job;
            let Some(found) = all(PROVIDER).find(|one| one["metadata"]["name"] == name.as_str()) else {
                return Some(format!("it has no {PROVIDER} {name}"));
            };
            let annotation = |name: &str| &found["metadata"]["annotations"][name];
            let is_it = provider::spec(spec, cluster, source).is_ok_and(|wanted| found["spec"] == wanted)
                && found["metadata"]["namespace"] == source.namespace.as_str()
                && found["metadata"]["labels"][LABEL].is_string()
                && *annotation("fluxcd.controlplane.io/reconcileTimeout")
                    == format!("{PROVIDER_TIMEOUT}m").as_str()
                && annotation(RECONCILE).is_null();
            if !is_it {
                return Some(format!("{PROVIDER} {name} does something else"));
            }
        }
        if all(PROVIDER).count() > cluster.sources.len() {
            return Some(format!("it has a {PROVIDER} too many"));
        }
        let makes = |set: &&&Value| {
            let text = set["spec"]["resourcesTemplate"].as_str().unwrap_or_default();
            NEEDED.iter().all(|part| text.contains(part))
                && set["metadata"]["namespace"] == spec.flux.namespace.as_str()
        };
        let is_made = cluster.sources.is_empty() || all("ResourceSet").any(|set| makes(&set));
        (!is_made).then(|| "no ResourceSet makes its held sources".to_owned())
    }

    fn read(&self, job: &Value, namespace: Option<&str>) -> Reading {
        let mut found = Reading { mechanism: MechanismName::FluxOperator, ..Reading::default() };
        let (Some((own, held, _)), Some(times)) = (source_of(job), times(job)) else { return found };
        let namespace = namespace.unwrap_or(own).to_owned();
        // Git says who reads the source; no object names them.
        let name = held.to_owned();
        found.turns.push(Turn { action: Action::Follow, namespace: namespace.clone(), name });
        found.follows = job["spec"]["defaultValues"]["live"].as_str().map(str::to_owned);
        let held = HeldId { kind: SourceKind::Git, namespace, name: held.to_owned() };
        (found.table, found.held) = (Some(times), Some(held));
        (found.every, found.obeys_stop) = (PROVIDER_EVERY + PROVIDER_TIMEOUT, true);
        found
    }

    /// Nothing prunes it.
    fn forget(&self, _: &Spec, HeldId { kind, namespace, name }: &HeldId) -> Vec<String> {
        let of = format!("--namespace={namespace}");
        ["kubectl", "delete", kind.resource(), name, &of, "--ignore-not-found"].map(str::to_owned).into()
    }

    /// A request by force counts where its token is that of the request, and another one than before
    /// (fluxcd/pkg, `apis/meta`, `ShouldHandleForceRequest`).
    fn open_now(&self, standing: &Standing, _: &BTreeSet<GateTarget>) -> Vec<String> {
        let line = |StandingSource { held: HeldId { namespace, .. }, job, .. }: &StandingSource| {
            format!(
                "kubectl annotate {RESOURCE} {job} --namespace={namespace} --overwrite --field-manager=flux \
                 reconcile.fluxcd.io/requestedAt=\"$now\" reconcile.fluxcd.io/forceAt=\"$now\""
            )
        };
        let lines: Vec<String> = standing.sources.iter().map(line).collect();
        if let [line] = &lines[..] {
            return in_shell(format!("now=$(date +%s) && {line}"));
        }
        let tried: String = lines.iter().map(|line| format!("{line} || failed=1; ")).collect();
        in_shell(format!("now=$(date +%s) || exit 1; failed=0; {tried}exit \"$failed\""))
    }

    fn stop_now(&self, standing: &Standing, reason: &str) -> Vec<String> {
        on_providers(standing, &[&format!("{RECONCILE}=disabled"), &format!("{STOP}={reason}")])
    }

    fn stopped_until(&self, _: &Standing) -> &'static str {
        "Flux Operator reads nothing while the provider has the annotation fluxcd.controlplane.io/reconcile"
    }

    fn go_on(&self, standing: &Standing) -> Vec<String> {
        on_providers(standing, &[&format!("{RECONCILE}-"), &format!("{STOP}-")])
    }

    fn left<'v>(&self, observed: &Observed<'v>) -> Left<'v> {
        left_at(observed, disabled(observed.job))
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[PROVIDER, "ResourceSet", "GitRepository"]
    }
}
