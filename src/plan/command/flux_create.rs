//! `flux create` commands for clusters whose Flux Kustomizations don't stand in Git.

use std::collections::BTreeMap;

use crate::delivery::Input;
use crate::delivery::Role;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::{Command, gate};
use crate::spec::{FluxSource, Spec};

/// Where a source comes from, as the command line says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceUrl {
    /// The address of the repository.
    pub url: String,
    /// The branch.
    pub branch: String,
}

/// Returns the commands that create what a cluster needs: the source, if its address is known, and a
/// Flux Kustomization for each type of each entry point, each waiting for the real-time one before it.
///
/// Clusters whose Flux Kustomizations stand in Git need none. Everything has `--prune=true`, so the
/// commands are for clusters that hold none of the objects yet.
///
/// # Errors
///
/// When the spec lacks one of the clusters, a name is one that `flux create` refuses, or the spec's source
/// is none that it makes.
pub fn flux_create(
    input: &Input<'_>,
    clusters: &[String],
    source: Option<&SourceUrl>,
) -> Result<Vec<Command>, Error> {
    input.known_clusters(clusters)?;
    let mut commands = Vec::new();
    let mut refused = Vec::new();
    let carriers = gate::carriers(input)?;
    let chosen = |name: &&String| clusters.is_empty() || clusters.contains(*name);
    for cluster in input.spec.clusters.keys().filter(chosen) {
        let mine = || input.model.entries_of(cluster);
        if mine().any(|entry| !entry.flux.is_empty()) {
            continue;
        }
        if let Some(source) = source {
            commands.push(create_source(input.spec, cluster, source)?);
        }
        let sides = input.sides();
        let mut wholes: BTreeMap<&RepoPath, &str> = BTreeMap::new();
        for entry in mine().filter(|entry| entry.role != Role::Bootstrap && entry.through.is_none()) {
            match sides.get(&entry.path) {
                // Of an entry point that was handed over, only the sides are left.
                Some((whole, _)) => wholes.entry(whole).or_insert(input.model.name_of_folder(whole)),
                None => wholes.entry(&entry.path).or_insert(input.model.name_in(entry, cluster)),
            };
        }
        for (path, name) in wholes {
            commands.extend(of_entry(input, cluster, path, name, &mut refused));
        }
        let carried = carriers.iter().any(|(path, _)| mine().any(|entry| entry.path == *path));
        if let Some(folder) = input.gate_of(cluster)?.filter(|_| !carried) {
            commands.push(Command::create_gate(gate::CARRIER_NAME, input.spec, cluster, &folder));
        }
    }
    if refused.is_empty() {
        Ok(commands)
    } else {
        Err(Error { kind: ErrorKind::Invalid, diagnostics: refused })
    }
}

fn of_entry(
    input: &Input<'_>,
    cluster: &str,
    entry: &RepoPath,
    own: &str,
    refused: &mut Vec<Diagnostic>,
) -> Vec<Command> {
    let mut sides: Vec<(String, RepoPath, bool)> = Vec::new();
    for (position, side) in input.standing_sides(entry, cluster) {
        let change_type = &input.spec.types[position];
        let name = input.spec.layout.kustomization_of(own, &change_type.name);
        sides.push((name, side, change_type.is_real_time()));
    }
    if sides.is_empty() {
        sides.push((own.to_owned(), entry.clone(), true));
    }
    let mut before: Option<String> = None;
    let mut commands = Vec::new();
    for (name, path, real_time) in sides {
        if !is_taken(&name) {
            refused.push(
                Diagnostic::error(format!(
                    "`flux create` refuses the name `{name}`. It takes 2 to 63 lowercase letters, digits and inner hyphens"
                ))
                .at(Place::file(path))
                .help("choose `kustomization` under `layout`, or put the Flux Kustomizations into Git"),
            );
            continue;
        }
        commands.push(Command::create_new(&name, input.spec, cluster, &path, before.as_deref()));
        if real_time {
            before = Some(name);
        }
    }
    commands
}

/// Returns whether the flux command takes a name (flux2 `cmd/flux/create.go`, `validateObjectName`).
fn is_taken(name: &str) -> bool {
    let edge =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = name.as_bytes();
    (2..=63).contains(&bytes.len())
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| edge(Some(byte)) || *byte == b'-')
}

fn create_source(spec: &Spec, cluster: &str, from: &SourceUrl) -> Result<Command, Error> {
    let FluxSource { kind, name, namespace, .. } = &spec.flux.source;
    let fault = if kind != "GitRepository" {
        Some(format!("the spec's source is {kind} {name}: an address of a Git repository does not fit"))
    } else if !is_taken(name) {
        Some(format!("`flux create` refuses the name `{name}` of the spec's source"))
    } else {
        None
    };
    if let Some(message) = fault {
        return Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(message)
                .at(Place::file(spec.path.clone()))
                .help("leave --url out, and create the source by hand"),
        ));
    }
    let namespace = namespace.as_ref().unwrap_or(&spec.flux.namespace);
    let words = [
        "flux".to_owned(),
        "create".to_owned(),
        "source".to_owned(),
        "git".to_owned(),
        name.clone(),
        format!("--namespace={namespace}"),
        format!("--url={}", from.url),
        format!("--branch={}", from.branch),
        "--interval=1m".to_owned(),
    ];
    let purpose = "create the source".to_owned();
    Ok(Command { cluster: cluster.to_owned(), purpose, is_late: false, words: words.into() })
}
