//! Why `init` finds nothing that it could divide, and what to do about it.

use std::collections::BTreeSet;

use crate::delivery::{EntryPoint, Model};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::flux::{artifact_path, holds_variable, is_yaml};
use crate::repo::{Entry, FluxKustomization, Snapshot};
use crate::spec::cluster_name;
use crate::text::some;

/// Says that Flux applies itself with all else.
fn own_bootstrap(model: &Model, own: &[EntryPoint], root: &RepoPath) -> String {
    let own = own.iter().flat_map(|entry| model.flux_of(entry));
    let names: BTreeSet<&str> = own.map(|flux| flux.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => {
            format!("all that Flux applies from {root} bootstraps Flux itself, so there is nothing to divide")
        }
        [name] => format!("{name} applies everything here, Flux included: a window would stop Flux too"),
        names => format!(
            "{} apply everything here, Flux included: a window would stop Flux too",
            some(names, MOST_NAMES)
        ),
    }
}

/// Refuses a cluster whose folder has a name that the spec does not take.
///
/// # Errors
///
/// When it is so.
pub(super) fn named(model: &Model, name: &str, root: &RepoPath) -> Result<(), Error> {
    let Some((reason, other)) = cluster_name(name) else { return Ok(()) };
    let own = model.delivered.all.iter().filter(|cluster| cluster.name == name);
    let folder = own.flat_map(|cluster| &cluster.roots).map(|one| one.folder.relative_to(root)).next();
    let folder = folder.unwrap_or_else(|| "FOLDER".to_owned());
    Err(Error::invalid(
        Diagnostic::error(format!("cluster name `{name}` {reason}"))
            .help(format!("give it a name: `gitops-windows init --cluster-folder {other}={folder}`")),
    ))
}

/// Says why no entry point of a cluster was found, with the likeliest reason as the headline.
pub(super) fn nothing_found(snapshot: &Snapshot, model: &Model, root: &RepoPath) -> Error {
    let here = here(root);
    let folders = model.graph.iter().filter(|kustomization| kustomization.folder.is_within(root)).count();
    // What `init` could divide is not there, so these bootstrap their clusters.
    let own = model.all_entries();
    let bootstraps = !own.is_empty();
    let builds_others = model.unplaced().any(|kustomization| kustomization.path.is_none());
    let lost: Vec<&FluxKustomization> = model.lost(snapshot).collect();
    let elsewhere = || model.unplaced().filter(|one| one.path.is_none());
    let is_unclear = |one: &FluxKustomization| {
        let folder = one.effective["spec"]["path"].as_str().and_then(artifact_path);
        folder.is_some_and(|folder| model.is_unclear(one, &folder))
    };
    let instead = if elsewhere().any(is_unclear) {
        let sources = elsewhere().filter(|one| is_unclear(one)).map(FluxKustomization::source_name);
        let sources: Vec<&str> = sources.collect::<BTreeSet<&str>>().into_iter().collect();
        let first = sources.first().copied().unwrap_or("NAME");
        format!(
            "put the GitRepository of the root into Git, with its URL
or say which source is this repository, of {}: `gitops-windows init --source {first}`",
            some(&sources, MOST_NAMES)
        )
    } else if elsewhere().all(|one| one.source_kind() == "ExternalArtifact") {
        "mend the reasons below; copies of an ArtifactGenerator must keep their place".to_owned()
    } else if elsewhere().all(|one| holds_variable(&one.effective["spec"]["path"])) {
        "write their paths without variables\nor let Flux apply a ConfigMap of this repository that holds the values".to_owned()
    } else {
        let sources: BTreeSet<String> =
            elsewhere().map(|one| format!("{} {}", one.source_kind(), one.source_name())).collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        format!("run it in the repository that {} fetches", some(&sources, MOST_NAMES))
    };
    let but = if bootstraps { ", apart from Flux's own bootstrap," } else { "" };
    let headline = match (folders, model.all_flux().len()) {
        _ if !lost.is_empty() && !builds_others => {
            let names: Vec<&str> = lost.iter().map(|one| one.name.as_str()).collect();
            let most = if names.len() > MOST_NAMES + 1 { MOST_NAMES } else { names.len() };
            Diagnostic::error(format!(
                "the folders of {} are not in this repository, so there is nothing to divide",
                some(&names, most)
            ))
            .at(lost[0].place("path"))
            .help("correct `spec.path` of each; it is relative to the top of the source")
        }
        _ if bootstraps && !builds_others => {
            Diagnostic::error(own_bootstrap(model, own, root)).at(Place::file(root.clone())).help(OWN_FOLDER)
        }
        (_, 1..) => Diagnostic::error(format!(
            "no Flux Kustomization in {here}{but} builds a folder of this repository: nothing can be divided"
        ))
        .at(Place::file(root.clone()))
        .help(instead),
        _ if !model.unlisted.is_empty() => no_root(model, root),
        (0, _) => templates(snapshot, root).or_else(|| of_argo_cd(snapshot, root)).unwrap_or_else(|| {
            Diagnostic::error(format!(
                "there is no kustomization in {here}, so there is nothing to write a spec for"
            ))
            .at(Place::file(root.clone()))
            .help(BEGIN)
        }),
        _ => Diagnostic::error(format!(
            "no kustomization in {here} builds a Flux Kustomization, so no cluster is known"
        ))
        .at(Place::file(root.clone()))
        .help(NAME),
    };
    // What could not be placed is the likeliest reason.
    let diagnostics = std::iter::once(headline).chain(model.remarks.iter().cloned()).collect();
    Error { kind: ErrorKind::Invalid, diagnostics }
}

/// Names the folder of the spec.
fn here(root: &RepoPath) -> String {
    if root.is_top() { "this repository".to_owned() } else { root.to_string() }
}

/// How many Flux Kustomizations are named at most.
const MOST_NAMES: usize = 5;

/// Says that Flux Kustomizations stand in Git and that nothing tells which cluster gets them.
fn no_root(model: &Model, root: &RepoPath) -> Diagnostic {
    if let Some((one, top)) = model.inner_top() {
        return Diagnostic::error(format!(
            "Flux Kustomization {} takes {top} for the top of a repository. No cluster gets it",
            one.name
        ))
        .at(one.place("path"))
        .help(format!("copy {top} into a git repository of its own\nrun `gitops-windows init` there"));
    }
    let names: Vec<&str> = model.unlisted.iter().map(|one| one.name.as_str()).collect();
    let most = if names.len() > MOST_NAMES + 1 { MOST_NAMES } else { names.len() };
    let first = model.unlisted.first();
    let place = first.map_or_else(|| Place::file(root.clone()), |one| one.place("path"));
    let known = model.delivered.all.iter().flat_map(|cluster| &cluster.roots).next();
    if let Some(known) = known {
        return Diagnostic::error(format!(
            "no cluster gets {}: the build of {} leaves them out",
            some(&names, most),
            known.folder
        ))
        .at(place)
        .help(format!("list their files in the kustomization of {}", known.folder));
    }
    Diagnostic::error(format!("no cluster gets {}: no root of a cluster is known", some(&names, most)))
        .at(place)
        .help("write windows.yaml with `clusters: { NAME: { roots: [FOLDER] } }`, and give each name once")
}

/// How objects that only a root applies come to a Flux Kustomization of their own, without being deleted on the way.
const OWN_FOLDER: &str = "give the objects that are to wait the annotation `kustomize.toolkit.fluxcd.io/prune: disabled`\nwait until the cluster has applied that\nmove their files into a folder with a Flux Kustomization of its own\nrun `gitops-windows init` again\nwhen the cluster has applied that too, remove the annotation";

const BEGIN: &str = "run it where the repository is, or name what to begin with: `gitops-windows init --cluster edge-01 --app nginx`";

const NAME: &str = "name the folder of each cluster: `gitops-windows init --cluster-folder edge-01=FOLDER`; or run it where the Flux Kustomizations stand";

/// Files that another tool makes Flux Kustomizations or kustomizations of, as `ks.yaml.j2`.
fn templates(snapshot: &Snapshot, root: &RepoPath) -> Option<Diagnostic> {
    const APIS: [&str; 2] = ["kustomize.toolkit.fluxcd.io/", "kustomize.config.k8s.io/"];
    let is_template = |path: &RepoPath| {
        let name = path.name().unwrap_or_default();
        [".yaml.", ".yml."].iter().any(|middle| name.contains(middle))
    };
    let mut found = texts(snapshot, root)
        .filter(|(path, text)| is_template(path) && APIS.iter().any(|api| text.contains(api)));
    let (first, _) = found.next()?;
    let more = match found.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let here = here(root);
    Some(
        Diagnostic::error(format!(
            "there is no kustomization in {here}, only templates of kustomizations: {first}{more}"
        ))
        .at(Place::file(first.clone()))
        .help("fill them in first, and run it in the repository that comes of it"),
    )
}

/// Objects that Argo CD reads, which no Flux Kustomization applies.
fn of_argo_cd(snapshot: &Snapshot, root: &RepoPath) -> Option<Diagnostic> {
    let is_application = |text: &str| {
        text.contains("apiVersion: argoproj.io/")
            && ["kind: Application\n", "kind: ApplicationSet\n"].iter().any(|kind| text.contains(kind))
    };
    let (path, _) = texts(snapshot, root).find(|(path, text)| is_yaml(path) && is_application(text))?;
    Some(
        Diagnostic::error(format!(
            "{path} is for Argo CD, and {root} has no kustomization that Flux could apply"
        ))
        .at(Place::file(path.clone()))
        .help("for Argo CD use `syncWindows` of an AppProject: windows here are for Flux alone"),
    )
}

fn texts<'a>(snapshot: &'a Snapshot, root: &RepoPath) -> impl Iterator<Item = (&'a RepoPath, &'a str)> {
    snapshot.under(root.as_str()).filter_map(|(path, entry)| match entry {
        Entry::File(file) => Some((path, file.text()?)),
        _ => None,
    })
}
