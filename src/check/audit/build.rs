//! What can't be read or built.

use std::collections::BTreeSet;

use crate::check::audit::place::{NOT_HERE, missing, paths};
use crate::check::audit::unreadable::{files, unreadable};
use crate::check::code::{APPLIES_NOTHING, DOES_NOT_BUILD, NOT_JUDGED};
use crate::check::subject::Subject;
use crate::delivery::{Applied, Cluster, Delivery, Effect, MISTYPED, Reached, Reason};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::path::RepoPath;
use crate::render::without_aliases;
use crate::repo::envsubst::NOT_SET;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::ObjectId;
use crate::repo::{Kustomization, Snapshot, built};
use crate::spec::Spec;

/// Finds files that no build can read, folders that do not build, and paths that lead nowhere.
///
/// One broken file is told once, at its place, and the folders that fail for it are not told again. Of what nobody asked
/// to be built nothing is read.
/// A build that needs the network is not judged.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let (mut findings, broken) = files(subject);
    // What a bootstrap folder takes in fails with it, and is told there.
    let mut add = |new: Vec<Diagnostic>| {
        let known = findings.len();
        for new in new {
            let mut is_known = false;
            for old in findings[..known].iter_mut().filter(|old| old.place == new.place) {
                old.about.extend(new.about.iter().cloned());
                is_known = true;
            }
            findings.extend(Some(new).filter(|_| !is_known));
        }
    };
    let asked = subject.deliveries.iter().filter(|delivery| delivery.is_asked);
    for delivery in asked.filter(|delivery| delivery.flux.is_some()) {
        let found = build(subject, delivery, &broken).or_else(|| empty(subject, delivery));
        add(found.map(|found| found.about(delivery.key())).into_iter().collect());
    }
    add(roots(subject, &broken).collect());
    let unread = subject.model.delivered.unread.iter();
    add(unread.filter_map(|file| unreadable(subject.snapshot, file)).collect());
    findings.extend(paths(subject));
    findings.extend(losing(subject));
    findings
}

/// Finds the Flux Kustomizations that fail once an object is deleted from which they take values.
fn losing<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Diagnostic> + 's {
    let clusters = subject.model.delivered.all.iter();
    let all = clusters.flat_map(|cluster| cluster.losing_values().map(move |found| (cluster, found)));
    all.filter_map(|(cluster, (one, id))| {
        let (message, help) = lost_values(one, &id, "");
        let place = subject.model.standing(one)?.place("postBuild");
        Some(DOES_NOT_BUILD.finding(message).at(place).help(help).about(cluster.key(one)))
    })
}

/// Says that a Flux Kustomization fails once an object is deleted from which it takes values, and what to do. `at` is when
/// that is deleted, to follow the word, where it is known.
pub fn lost_values(one: &Reached, id: &ObjectId, at: &str) -> (String, String) {
    let name = one.name();
    (
        format!("once {id} is deleted{at}, {name} fails: it needs its values"),
        format!("keep {} until {name} takes no values from it\nor set `optional: true`", id.name),
    )
}

/// Says why roots do not build of which no file holds the Flux Kustomizations: a FluxInstance makes them, or their files are
/// gone with their folder.
fn roots<'s>(
    subject: &'s Subject<'_>,
    broken: &'s BTreeSet<RepoPath>,
) -> impl Iterator<Item = Diagnostic> + 's {
    let model = subject.model;
    let clusters = model.delivered.all.iter();
    let all = clusters.flat_map(|cluster| cluster.kustomizations.iter().map(move |one| (cluster, one)));
    let failing = all.filter(|(_, one)| one.is_made());
    failing.filter_map(|(cluster, one)| {
        let (error, folder) = (one.error.as_ref()?, one.path.as_ref()?);
        let (there, graph) = model.seen_in(subject.snapshot, model.partial_of(one));
        let is_gone = |folder: &RepoPath| !graph.stands(&there, folder);
        if is_gone(folder) {
            let name = one.name();
            let root = cluster.root_of(one).filter(|root| root.reason == Reason::FluxInstance);
            let (place, help) = match root.and_then(|root| root.file.as_ref()) {
                Some(file) => (file, format!("add {folder}\nor correct the path in its FluxInstance")),
                None => (folder, once_more(name, folder, cluster, subject.snapshot, subject.spec)),
            };
            let mut found = missing(name, folder, NOT_HERE).at(Place::file(place.clone())).help(help);
            if root.is_none() && cluster.is_retired(subject.snapshot, subject.spec) {
                found.severity = Severity::Note;
            }
            // What goes with its root is told with that.
            return (!cluster.is_below_root(one, is_gone)).then(|| found.about(cluster.key(one)));
        }
        if built(graph, folder).iter().any(|folder| broken.contains(folder)) {
            return None;
        }
        let loose = |file: &&RepoPath| is_yaml(file) && graph.is_loose(file, folder);
        let mut files = there.below(folder).map(|(file, _)| file).filter(loose);
        let of_file = files.find_map(|file| unreadable(&there, file));
        let place = Place::file(graph.get(folder).map_or(folder.clone(), |list| list.file.clone()));
        let found = of_file.unwrap_or_else(|| does_not_build(folder, one.name(), &reason(error), place));
        Some(found.about(cluster.key(one)))
    })
}

/// Says what to do where the folder of a root of a cluster is gone.
pub fn once_more(
    name: &str,
    folder: &RepoPath,
    cluster: &Cluster,
    files: &Snapshot,
    spec: Option<&Spec>,
) -> String {
    let retire = match spec.is_none() || cluster.is_retired(files, spec) {
        true => "do nothing, where the cluster is gone too",
        false => "take its whole folder and its line in windows.yaml away, where it is retired",
    };
    format!("bring {folder} back until {name} reads another folder\nor {retire}")
}

/// What to do about a variable that nothing sets.
const REMEDY_UNSET: &str =
    "set the variable in `postBuild`\nor write `${NAME:=value}` or, for the text itself, `$${NAME}`";

/// What to do about a value that is no text (kustomize-controller, Post build substitution of numbers and booleans).
const REMEDY_UNQUOTED: &str =
    "write it in quotes\nor, for a variable, as `${quote}${NAME}${quote}` with `quote: '\"'` in `postBuild`";

/// Says that a folder does not build for a Flux Kustomization.
fn does_not_build(folder: &RepoPath, name: &str, reason: &str, place: Place) -> Diagnostic {
    let run = || match reason {
        _ if reason.contains(NOT_SET) => REMEDY_UNSET.to_owned(),
        _ if reason.starts_with("`postBuild`") => "mend the variable, or give it another value".to_owned(),
        _ if reason.starts_with(MISTYPED) => REMEDY_UNQUOTED.to_owned(),
        _ => format!("run `kustomize build --load-restrictor LoadRestrictionsNone {folder}`"),
    };
    DOES_NOT_BUILD
        .finding(format!("{folder} does not build, and {name} applies nothing new from it: {reason}"))
        .at(place)
        .help(without_aliases(reason).map_or_else(run, str::to_owned))
}

fn build(subject: &Subject<'_>, delivery: &Delivery, broken: &BTreeSet<RepoPath>) -> Option<Diagnostic> {
    let error = delivery.error.as_ref()?;
    let reached = built(&subject.model.graph, &delivery.path);
    if reached.iter().any(|folder| broken.contains(folder)) || broken.contains(&delivery.path) {
        return None;
    }
    let graph = &subject.model.graph;
    let remote = |folder: &RepoPath| graph.get(folder).is_some_and(Kustomization::is_remote);
    if reached.iter().any(remote) {
        return None;
    }
    let lacking = |flux| subject.model.lacking(subject.snapshot, flux);
    if subject.flux(delivery).is_some_and(|flux| lacking(flux).iter().any(|one| one.effect == Effect::Fails))
    {
        // Told as GW066.
        return None;
    }
    if let Some(both) = &delivery.alike {
        // The one that a variable names is told.
        let [one, other] = &**both;
        let (one, other) = if one.id == one.live { (other, one) } else { (one, other) };
        let place = |of: &Applied| subject.sources.place(of, &["metadata", "name"]);
        return Some(
            does_not_build(&delivery.path, &delivery.name, error, place(one))
                .related("the other one", place(other))
                .help("give one of the two another name, or another value to its variable"),
        );
    }
    let place = match (subject.flux(delivery), graph.get(&delivery.path)) {
        (Some(flux), _) => flux.place("path"),
        (None, Some(kustomization)) => Place::file(kustomization.file.clone()),
        (None, None) => Place::file(delivery.path.clone()),
    };
    let reason = reason(error);
    if delivery.unjudged {
        return Some(
            NOT_JUDGED
                .finding(format!("{} is not checked: its build of {} {reason}", delivery.name, delivery.path))
                .at(place)
                .help("check again with more time and memory; Flux may well build it"),
        );
    }
    Some(does_not_build(&delivery.path, &delivery.name, &reason, place))
}

/// Joins the lines of a report, of which the first may only announce the others.
fn reason(error: &str) -> String {
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ").chars().take(400).collect()
}

/// Says that a folder builds to nothing, which `kustomize build` refuses and kustomize-controller takes
/// (`fluxcd/pkg/kustomize`, `generateKustomization`).
fn empty(subject: &Subject<'_>, delivery: &Delivery) -> Option<Diagnostic> {
    let kustomization = subject.model.graph.get(&delivery.path)?;
    let flux = subject.flux(delivery)?;
    if delivery.error.is_some() || !delivery.objects.is_empty() {
        return None;
    }
    let consequence = match flux.spec("prune") == true {
        true => "deletes all objects that it applied before",
        false => "applies nothing",
    };
    Some(
        APPLIES_NOTHING
            .finding(format!("{} builds no object. {} {consequence}", delivery.path, delivery.name))
            .at(Place::file(kustomization.file.clone()))
            .related(format!("{} builds it", delivery.name), flux.place("path"))
            .help("list its files in the kustomization, or remove the Flux Kustomization"),
    )
}
