//! What reaches or harms the objects of a held source without it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::check::code::{HELD_DELETES, IMPATIENT_PARENT, LATE_LANDING, REAL_TIME_VARIABLES};
use crate::check::subject::Subject;
use crate::delivery::inventory::{is_kept, stays_without};
use crate::delivery::{Delivery, STEP, SourceId};
use crate::diagnostic::Diagnostic;
use crate::repo::FluxKustomization;
use crate::text::length;

/// Finds Flux Kustomizations that read a held source, and what acts on them at once: variables, keys, a kubeconfig, and their own end;
/// and what waits for them less long than until the next run.
///
/// Nothing suspends such a one, so kustomize-controller decrypts and fills in the values anew at each interval
/// (`postBuild`), and deletes its objects as soon as it goes (`finalize`).
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    // By cluster and held source what takes longest.
    let mut late: BTreeMap<(&str, String), (Duration, Diagnostic)> = BTreeMap::new();
    for delivery in subject.clusters().values().flatten() {
        let (Some(source), Some(flux)) = (subject.held_source(delivery), subject.flux(delivery)) else {
            continue;
        };
        findings.extend(taken(subject, delivery, flux));
        findings.extend(deletes(delivery, flux, &source));
        findings.extend(impatient(subject, delivery, flux));
        let key = (delivery.cluster.name.as_str(), source.name);
        if let Some((over, finding)) = lands_late(subject, delivery, flux)
            && late.get(&key).is_none_or(|(known, _)| *known < over)
        {
            late.insert(key, (over, finding));
        }
    }
    findings.extend(late.into_values().map(|(_, finding)| finding));
    findings
}

/// Says that it may land after its window, and by how much, where it takes longer than the window lets nothing new in before
/// its end. The gate of an older release knows no such time, and `sync` brings it.
fn lands_late(
    subject: &Subject<'_>,
    delivery: &Delivery,
    flux: &FluxKustomization,
) -> Option<(Duration, Diagnostic)> {
    let (cluster, target) = (&delivery.cluster.name, subject.target(delivery));
    let settle = subject.model.closings.running(cluster, &target)?.table.as_ref()?.settle().seconds();
    let settle = Duration::from_secs(u64::try_from(settle).ok().filter(|settle| *settle > 0)?);
    let own = subject.model.delivered.named(cluster)?;
    let mut all = own.kustomizations.iter();
    let one = all.find(|one| delivery.is_named(one.namespace(), one.name()))?;
    // From the run that lets it in: what the source takes before that is of no account.
    let fetched = own.jitters().fetched_within(own.interval(&own.followed(&one.source())));
    let needed = own.pace(one, &|_| false)?.checked_sub(fetched)?.saturating_add(STEP);
    let over = needed.checked_sub(settle).filter(|over| !over.is_zero())?;
    let minutes = needed.as_secs().div_ceil(60);
    let finding = LATE_LANDING
        .finding(format!(
            "{} may land {} after its window. It takes up to {}, and `settle` is {}",
            delivery.name,
            length(over),
            length(needed),
            length(settle)
        ))
        .at(flux.place("wait"))
        .help(format!(
            "write `settle: {minutes}m` under `gate`\nor shorten the `timeout` of its dependencies"
        ));
    Some((over, finding))
}

/// What it takes from what lands at once.
fn taken(subject: &Subject<'_>, delivery: &Delivery, flux: &FluxKustomization) -> Vec<Diagnostic> {
    let list = flux.spec("postBuild")["substituteFrom"].as_array().into_iter().flatten();
    let field = |item: &Value, key: &str| item[key].as_str().map(str::to_owned);
    let variables = list
        .filter_map(|item| Some(("variables come", "postBuild", field(item, "kind")?, field(item, "name")?)));
    let keys = field(&flux.spec("decryption")["secretRef"], "name");
    let keys = keys.map(|name| ("keys come", "decryption", "Secret".to_owned(), name));
    let to_cluster = [("Secret", "secretRef"), ("ConfigMap", "configMapRef")].into_iter();
    let to_cluster = to_cluster.filter_map(|(kind, key)| {
        let name = field(&flux.spec("kubeConfig")[key], "name")?;
        Some(("kubeconfig comes", "kubeConfig", kind.to_owned(), name))
    });
    let all = variables.chain(keys).chain(to_cluster);
    let found = all.filter_map(|(what, place, kind, name)| {
        let objects = subject.deliveries_of(&delivery.reconciled_in).flat_map(|other| &other.objects);
        let mut sources = objects.filter(|other| {
            other.is("", &kind) && other.id.name == name && other.id.namespace == delivery.namespace
        });
        let source = sources.find(|other| other.window().is_none())?;
        let (acts, help) = match place {
            "decryption" => (
                "Its build may fail",
                "give the Secret the type of the same window
or change keys while the window is open",
            ),
            "kubeConfig" => (
                "It may fail or reach another cluster",
                "give that object the type of the same window
or change it while the window is open",
            ),
            _ => (
                "Its objects change",
                "write the values into `postBuild.substitute`
or give their object the type of the same window",
            ),
        };
        Some(
            REAL_TIME_VARIABLES
                .finding(format!(
                    "{} reads a held source, but its {what} from {}, which lands at once. {acts} outside of the window",
                    delivery.name, source.id
                ))
                .at(flux.place(place))
                .related("this lands at once", subject.sources.place(source, &["metadata", "name"]))
                .help(help),
        )
    });
    found.collect()
}

/// Says that its objects go with it.
fn deletes(delivery: &Delivery, flux: &FluxKustomization, source: &SourceId) -> Option<Diagnostic> {
    // What Flux does not delete never comes to its end.
    let stays = stays_without(&flux.effective["spec"]) || is_kept(&flux.effective);
    (!stays).then(|| {
        HELD_DELETES
            .finding(format!(
                "{} reads held source {}. When it leaves Git, its objects are deleted at once",
                delivery.name, source.name
            ))
            .at(flux.place("prune"))
            .help("give it `deletionPolicy: Orphan`\nto delete its objects with it, remove that field one commit earlier")
    })
}

/// Says that what applies it and waits for it gives up before the next run of the job that moves its source.
fn impatient(subject: &Subject<'_>, delivery: &Delivery, flux: &FluxKustomization) -> Option<Diagnostic> {
    let target = subject.target(delivery);
    let minutes = subject.model.closings.running(&delivery.cluster.name, &target)?.tick();
    let tick = Duration::from_secs(u64::from(minutes) * 60);
    let parent = subject.model.impatient(flux, tick).into_iter().next()?;
    Some(
        IMPATIENT_PARENT
            .finding(format!(
                "{} waits for {}, whose held source moves every {minutes}m. It gives up before that",
                parent.name, delivery.name
            ))
            .at(parent.place("wait"))
            .help(format!("give {} a `timeout` above {minutes}m", parent.name)),
    )
}
