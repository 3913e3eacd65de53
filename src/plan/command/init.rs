//! `init`: finds what is there and writes the spec, the gate and each cluster's patches.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::delivery::gate::LooseJob;
use crate::delivery::values::is_release;
use crate::delivery::{CORRECT, Known, Reason, SourceId};
use crate::delivery::{ClusterFolders, EntryPoint, Holds, Model, Role};
use crate::diagnostic::{Diagnostic, Place, distinct};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::command::absence::{named, nothing_found};
use crate::plan::command::adopt::{Adopted, adopt, not_taken_over};
use crate::plan::command::free_namespace::free_namespace;
use crate::plan::command::home::settle;
use crate::plan::command::said_suspend::said_in_git;
use crate::plan::command::scaffold::SWITCH_ON;
use crate::plan::command::schema_text;
use crate::plan::command::sync::obligations;
use crate::plan::command::window_name::window_name;
use crate::plan::edit::Builder;
use crate::plan::{Found, FoundEntry, Holding, Plan, Report, for_people, gate, refuse_unfetched};
use crate::render::Renderer;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::listing::listing;
use crate::repo::manifest::{manifests, objects};
use crate::repo::{Kustomization, Snapshot};
use crate::schedule::{CronExpr, zone};
use crate::spec::SCHEMA_FILE;
use crate::spec::{self, AlertDef, NewCluster, NewSpec, NewWindow, NewWindowUse, write_new};
use crate::template::Templates;
use crate::text::ranges;

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitOptions {
    /// When the window opens.
    pub open: Option<String>,
    /// When it closes.
    pub close: Option<String>,
    /// In which zone.
    pub time_zone: Option<String>,
    /// The type of the Provider that tells people of failures; `None` for no alerts.
    pub alerts: Option<String>,
    /// Folders of clusters as `NAME=FOLDER`, relative to the spec's folder.
    pub folders: Vec<String>,
    /// The GitRepository that fetches this repository, as `NAME` or `NAMESPACE/NAME`.
    pub source: Option<String>,
    /// The command that restores the spec, where a commit removed it.
    pub lost: Option<String>,
}

impl InitOptions {
    /// Returns the window, the guide's Monday 8:00 to Thursday 17:00 where nothing is said; and
    /// whether something was said.
    pub(super) fn window(&self) -> (NewWindow, bool) {
        let said = self.open.is_some() && self.close.is_some();
        let or = |given: &Option<String>, default: &str| given.clone().unwrap_or_else(|| default.to_owned());
        let window = NewWindow {
            time_zone: self.time_zone.clone().or_else(|| (!said).then(|| "UTC".to_owned())),
            open: or(&self.open, "0 8 * * MON"),
            close: or(&self.close, "0 17 * * THU"),
        };
        (window, said)
    }

    /// Returns the zone of the whole spec: the one that was given, where no window is in another one or in none.
    pub(super) fn zone_of(&self, new: &NewSpec) -> Option<String> {
        let inline = new.clusters.iter().flat_map(|cluster| &cluster.windows).flat_map(|(_, uses)| uses);
        let inline = inline.filter_map(|one| match one {
            NewWindowUse::Inline(window) => Some(window),
            NewWindowUse::Named(_) => None,
        });
        let mut all = new.windows.iter().map(|(_, window)| window).chain(inline);
        self.time_zone.clone().filter(|_| all.all(|window| window.time_zone == self.time_zone))
    }

    /// Refuses what no window can have, in the words of whoever gave it: the spec that it would
    /// stand in isn't there yet, so a place in it would name nothing.
    ///
    /// # Errors
    ///
    /// When one of the two is given without the other, an expression is not one that Kubernetes
    /// takes, or the time zone is unknown.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |message: String, help: &str| {
            Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help.to_owned()))
        };
        if self.open.is_some() != self.close.is_some() {
            return Err(wrong(
                "a window needs both --open and --close".to_owned(),
                "for example --open '0 8 * * MON' --close '0 17 * * THU'",
            ));
        }
        for (option, text) in [("--open", &self.open), ("--close", &self.close)] {
            let Some(text) = text else { continue };
            if let Err(error) = CronExpr::parse(text) {
                let help = error.help.as_deref().unwrap_or(
                    "give five fields: minute, hour, day of month, month, weekday, as in '0 8 * * MON'",
                );
                return Err(wrong(format!("{option} '{text}': {error}"), help));
            }
        }
        let Some(name) = &self.time_zone else { return Ok(()) };
        zone::parse(name).map(drop).map_err(|error| {
            let help = error.suggestion.map_or_else(
                || "name a zone of the IANA database, for example Europe/Berlin".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            wrong(format!("--time-zone '{name}': {}", error.message), &help)
        })
    }
}

impl InitOptions {
    /// Returns the source that is said to fetch this repository; without a namespace it is in any.
    fn source(&self) -> Option<SourceId> {
        let said = self.source.as_deref()?;
        let (namespace, name) = said.split_once('/').unwrap_or(("", said));
        let [namespace, name] = [namespace, name].map(str::to_owned);
        Some(SourceId { kind: "GitRepository".to_owned(), namespace, name })
    }

    /// Returns the folders that each cluster is said to own.
    ///
    /// # Errors
    ///
    /// When one has no `=`, leaves the repository, is not there, or belongs to two clusters.
    fn folders(&self, snapshot: &Snapshot, root: &RepoPath) -> Result<ClusterFolders, Error> {
        let mut known = ClusterFolders::new();
        for text in &self.folders {
            let wrong = |why: String, help: &str| {
                let message = format!("--cluster-folder '{text}': {why}");
                Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help.to_owned()))
            };
            let Some((name, folder)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
                return Err(wrong(
                    "no cluster is named".to_owned(),
                    "write NAME=FOLDER, as edge-01=sites/one",
                ));
            };
            let folder = root
                .join(folder)
                .map_err(|error| wrong(error.to_string(), "name a folder below the spec's folder"))?;
            if !snapshot.is_dir(&folder) {
                return Err(wrong(
                    "there is no such folder".to_owned(),
                    "name a folder below the spec's folder",
                ));
            }
            let of_another =
                known.iter().find(|(_, folders): &(&String, &Vec<RepoPath>)| folders.contains(&folder));
            if let Some((other, _)) = of_another {
                return Err(wrong(
                    format!("the folder is given to {other} already"),
                    "give it to one cluster",
                ));
            }
            known.entry(name.to_owned()).or_default().push(folder);
        }
        Ok(known)
    }
}

/// Plans the first files of an existing repository.
///
/// # Errors
///
/// When there is a spec already, or nothing to write one for.
pub fn init(
    snapshot: &Snapshot,
    spec_path: &RepoPath,
    renderer: &dyn Renderer,
    templates: &Templates,
    options: &InitOptions,
) -> Result<Plan, Error> {
    let root = spec_path.parent().unwrap_or_default();
    if snapshot.entry(spec_path).is_some() {
        return Err(Error::invalid(
            Diagnostic::error(format!("{spec_path} is there already"))
                .at(Place::file(spec_path.clone()))
                .help(match options.window() {
                    (window, true) => format!(
                        "its windows stay; to change one: `gitops-windows windows set NAME --open '{}' --close '{}'`",
                        window.open, window.close
                    ),
                    _ => "run `gitops-windows sync` to bring the repository up to date with it".to_owned(),
                }),
        ));
    }
    let known =
        Known { paths: options.folders(snapshot, &root)?, named: options.source(), ..Known::default() };
    let model = Model::read(snapshot, &root, &known, renderer);
    if model.all_entries().iter().all(|entry| entry.role == Role::Bootstrap) {
        return Err(nothing_found(snapshot, &model, &root));
    }
    if let Some(name) = known.paths.keys().find(|name| model.entries_of(name).next().is_none()) {
        return Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!("--cluster-folder: no entry point lies in the folders of {name}"))
                .help("name folders that Flux Kustomizations build, or folders above them"),
        ));
    }
    let listed = listed_gates(snapshot, &model)?.map(|listed| {
        let model = Model::read(listed.now(), &root, &known, renderer);
        (listed, model)
    });
    let is_adopted = |(listed, model): &(Builder<'_>, Model)| {
        let names = clusters(model);
        adopt(listed.now(), model, &root, renderer, &names, None).is_ok_and(|adopted| adopted.is_some())
    };
    let gates = model.unlisted_gates.clone();
    let (mut with_spec, model) = listed.filter(is_adopted).unwrap_or_else(|| (Builder::new(snapshot), model));
    let (new, mut remarks, default_window) = new_spec(with_spec.now(), &model, &root, renderer, options)?;
    remarks.extend(told_listed(snapshot, with_spec.now(), &gates));
    let new = NewSpec { alerts: options.alerts.as_deref().map(AlertDef::new), ..new };
    let held = Holds::new(&model, None).all();
    let text = write_new(&new);
    with_spec.create(spec_path, &text)?;
    with_spec.create(&beside(&root, SCHEMA_FILE)?, &schema_text())?;
    let parsed = spec::parse(spec_path, text.as_bytes())?;
    let model = Model::read(with_spec.now(), &root, &known, renderer);
    let input = Input { spec: &parsed.spec, snapshot: with_spec.now(), model: &model, renderer };
    let mut builder = with_spec.clone();
    let leftover = gate::sync_verified(&input, templates, &mut builder)?;
    let mut plan = builder.finish();
    refuse_unfetched(input.model, &plan.changes, for_people(input.spec))?;
    let left = gate::Left::default();
    plan.obligations = obligations(&input, &plan, &left)?;
    plan.commands = leftover.commands;
    remarks.extend(parsed.warnings);
    remarks.extend(gate::told(&input, &left, &leftover.idle));
    remarks.extend(leftover.remarks);
    // Clusters that share a gate share what is wrong with it.
    plan.remarks = distinct(remarks);
    plan.report = Report::Init { found: findings(&model, &parsed.spec), held, default_window };
    Ok(plan)
}

/// Writes down what Flux lists by itself of a folder that holds a gate: only what a kustomization.yaml lists is edited.
fn listed_gates<'s>(snapshot: &'s Snapshot, model: &Model) -> Result<Option<Builder<'s>>, Error> {
    let (mut builder, mut is_any) = (Builder::new(snapshot), false);
    for gate in &model.unlisted_gates {
        let is_built = gate.ancestors().any(|folder| model.entry(&folder).is_some());
        let Some(text) = listing(&model.graph, snapshot, gate).filter(|_| is_built) else { continue };
        builder.create(&beside(gate, FILE_NAMES[0])?, &text)?;
        is_any = true;
    }
    Ok(is_any.then_some(builder))
}

/// Says of each list that `init` writes for a gate that others have to go on with it.
fn told_listed(before: &Snapshot, after: &Snapshot, gates: &BTreeSet<RepoPath>) -> Vec<Diagnostic> {
    let files = gates.iter().filter_map(|gate| beside(gate, FILE_NAMES[0]).ok());
    let new = files.filter(|file| before.file(file).is_none() && after.file(file).is_some());
    let told = |file: RepoPath| {
        Diagnostic::note(format!("{file} lists the gate, as Flux did by itself"))
            .at(Place::file(file))
            .help("add each new file of its folder to `resources`, or no cluster gets it")
    };
    new.map(told).collect()
}

/// Returns the place of a file in a folder.
pub(super) fn beside(folder: &RepoPath, file: &str) -> Result<RepoPath, Error> {
    folder.join(file).map_err(|error| Error::invalid(Diagnostic::error(error.to_string())))
}

/// Returns the clusters of which a new spec speaks.
fn clusters(model: &Model) -> BTreeSet<String> {
    // Beside Flux Kustomizations a folder that makes nothing and that none of them builds is kept for later.
    let is_void = |entry: &EntryPoint| {
        let list = model.graph.get(&entry.path).filter(|_| entry.flux.is_empty() && entry.through.is_none());
        !model.all_flux().is_empty() && list.is_some_and(Kustomization::is_empty)
    };
    let all = model.all_entries().iter();
    let own = all.filter(|entry| entry.role != Role::Bootstrap && !is_void(entry));
    own.flat_map(|entry| entry.clusters().map(str::to_owned)).collect()
}

fn new_spec(
    snapshot: &Snapshot,
    model: &Model,
    root: &RepoPath,
    renderer: &dyn Renderer,
    options: &InitOptions,
) -> Result<(NewSpec, Vec<Diagnostic>, bool), Error> {
    let mut new = NewSpec::default();
    let mut remarks = Vec::new();
    let mut default_window = false;
    let clusters = clusters(model);
    clusters.iter().try_for_each(|name| named(model, name, root))?;
    let paths = |name: &String| {
        let folders = model.known().get(name).map(Vec::as_slice).unwrap_or_default();
        folders.iter().map(|folder| folder.relative_to(root)).collect()
    };
    // What Git does not say, the spec does.
    let roots = |name: &String| -> Vec<String> {
        let own = model.delivered.all.iter().filter(|cluster| cluster.name == *name);
        let proposed = own.flat_map(|cluster| &cluster.roots).filter(|one| one.reason == Reason::Proposed);
        proposed.map(|one| one.folder.relative_to(root)).collect()
    };
    new.clusters = clusters
        .iter()
        .map(|name| NewCluster {
            name: name.clone(),
            paths: paths(name),
            roots: roots(name),
            ..NewCluster::default()
        })
        .collect();
    remarks.extend(said_in_git(model));
    remarks.extend(model.remarks.iter().cloned());
    // What no cluster gets goes on nowhere.
    let is_alive = |job: &&LooseJob| !model.has_flux() || model.is_taken_in(&job.place.path);
    remarks.extend(model.loose_jobs.iter().filter(is_alive).map(not_taken_over));
    remarks.extend(not_alive(model));
    remarks.extend(suggested(model, &clusters));
    flux_defaults(model, options.source().as_ref(), &mut new);
    new.has_releases = has_releases(snapshot, root);
    let adopted = adopt(snapshot, model, root, renderer, &clusters, options.lost.as_deref())?;
    remarks.extend(adopted.iter().flat_map(|adopted| adopted.remarks.clone()));
    match adopted {
        Some(adopted) => default_window = take_over(&mut new, adopted, options, &mut remarks),
        None => {
            let (window, said) = options.window();
            new.set_window(window_name(&window.open, &window.close), window.clone());
            new.gate.enabled = said;
            new.gate.namespace = free_namespace(snapshot, model);
            settle(&mut new.layout, model, root, &clusters);
            if said {
                // Without Flux Kustomizations in Git nobody can tell when the gated ones exist.
                for cluster in &mut new.clusters {
                    let managed = model.entries_of(&cluster.name).any(|entry| !entry.flux.is_empty());
                    cluster.enabled = (!managed).then_some(false);
                }
            } else {
                default_window = true;
                remarks.push(
                    Diagnostic::warning(format!(
                        "no schedule was found: Mon 8:00 to Thu 17:00 {} stands there, switched off",
                        window.time_zone.as_deref().unwrap_or("UTC")
                    ))
                    .help(SWITCH_ON),
                );
            }
        }
    }
    new.time_zone = options.zone_of(&new);
    Ok((new, remarks, default_window))
}

/// Takes the adopted gate's schedules, names and folders into the spec.
fn take_over(
    new: &mut NewSpec,
    adopted: Adopted,
    options: &InitOptions,
    remarks: &mut Vec<Diagnostic>,
) -> bool {
    const NAME: &str = "reconciliation-window";
    new.gate = adopted.gate;
    new.layout.gate = adopted.base;
    new.layout.cluster_gate = adopted.cluster_gate;
    new.layout.open_job = adopted.open_job;
    new.layout.close_job = adopted.close_job;
    let (given, said) = options.window();
    let mut counts: BTreeMap<(String, String, Option<String>), usize> = BTreeMap::new();
    for window in adopted.clusters.values().filter_map(|cluster| cluster.window.as_ref()) {
        *counts.entry((window.open.clone(), window.close.clone(), window.time_zone.clone())).or_default() +=
            1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count).map(|((open, close, time_zone), _)| {
        NewWindow { open: open.clone(), close: close.clone(), time_zone: time_zone.clone() }
    });
    let found = most.is_some();
    // What runs in a cluster goes before what the command line offers for those without.
    let common = most.unwrap_or_else(|| given.clone());
    if said && common != given {
        remarks.push(
            Diagnostic::warning(format!(
                "--open and --close are not used: the gate in {} keeps its window",
                new.layout.gate
            ))
            .help(format!(
                "to change it: `gitops-windows windows set {NAME} --open '{}' --close '{}'`",
                given.open, given.close
            )),
        );
    }
    new.set_window(NAME.to_owned(), common.clone());
    let switched_on = adopted.clusters.values().filter(|cluster| cluster.enabled).count();
    new.gate.enabled = switched_on * 2 > new.clusters.len();
    for cluster in &mut new.clusters {
        let own = adopted.clusters.get(&cluster.name);
        let window = own.and_then(|own| own.window.clone());
        if let Some(window) = window.filter(|window| *window != common) {
            cluster.windows = vec![("rw".to_owned(), vec![NewWindowUse::Inline(window)])];
        }
        let enabled = own.is_some_and(|own| own.enabled);
        cluster.enabled = (enabled != new.gate.enabled).then_some(enabled);
    }
    if !found && !said {
        remarks.push(
            Diagnostic::warning("the gate has no schedule: Mon 8:00 to Thu 17:00 UTC stands there, switched off")
                .help("edit `windows` in windows.yaml, set `enabled: true` under `gate`, and run `gitops-windows sync`"),
        );
    }
    !found && !said
}

/// Returns whether a file below a folder declares a HelmRelease.
fn has_releases(snapshot: &Snapshot, root: &RepoPath) -> bool {
    let texts = snapshot
        .below(root)
        .filter_map(|(path, _)| snapshot.file(path))
        .filter_map(|file| Some((file.text()?, file)));
    let mut likely = texts.filter(|(text, _)| text.contains("kind: HelmRelease")).map(|(_, file)| file);
    likely.any(|file| {
        let documents = manifests(file).unwrap_or_default();
        documents.iter().flat_map(|document| objects(&document.value)).any(is_release)
    })
}

/// Says that nothing in Git tells of clusters but their folders.
fn suggested(model: &Model, clusters: &BTreeSet<String>) -> Option<Diagnostic> {
    if model.has_flux() || !model.known().is_empty() {
        return model.guess_among(&|name| clusters.contains(name));
    }
    let names = ranges(clusters.iter().map(String::as_str)).join(", ");
    let text =
        format!("no Flux Kustomization of a cluster is in Git. Folders alone suggest the clusters {names}");
    (!clusters.is_empty()).then(|| Diagnostic::note(text).help(CORRECT))
}

/// Says in one line that no cluster gets some Flux Kustomizations.
fn not_alive(model: &Model) -> Option<Diagnostic> {
    let first = model.unlisted.first()?;
    let place = Place::file(first.file.clone());
    let message = match model.unlisted.len() {
        1 => format!("Flux Kustomization {} is not alive: no cluster gets it", first.name),
        count => format!("{count} Flux Kustomizations are not alive: no cluster gets them"),
    };
    Some(Diagnostic::note(message).at(place).help("`gitops-windows clusters` lists them"))
}

/// Takes namespace and source from the Flux Kustomizations that are there, the most frequent first; of a source that is
/// `said`, from those that read it.
fn flux_defaults(model: &Model, said: Option<&SourceId>, new: &mut NewSpec) {
    type Key = (String, String, String, Option<String>, RepoPath);
    let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
    for kustomization in model.all_flux().iter().filter(|one| one.path.is_some()) {
        let namespace = Some(kustomization.namespace.as_str()).filter(|namespace| !namespace.is_empty());
        let namespace = namespace.unwrap_or("flux-system").to_owned();
        let fetched = model.fetched_source(kustomization);
        if said.is_some_and(|said| !said.is(&fetched)) {
            continue;
        }
        let SourceId { kind, namespace: source_namespace, name } = fetched;
        let source_namespace =
            Some(source_namespace).filter(|other| !other.is_empty() && *other != namespace);
        // What a variable or a template stands for is known to whoever fills it in.
        let namespaces = std::iter::once(&namespace).chain(&source_namespace);
        if !namespaces.into_iter().all(|name| gate::is_namespace(name)) || !gate::is_object_name(&name) {
            continue;
        }
        let key = (namespace, kind, name, source_namespace, model.top_of_source(kustomization));
        *counts.entry(key).or_default() += 1;
    }
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    if let Some(((namespace, kind, name, source_namespace, top), _)) = most {
        // Of several namespaces the one of the source is there before all others.
        let stands = |other: &String| model.all_flux().iter().any(|one| one.namespace == *other);
        let (home, source_namespace) = match source_namespace {
            Some(other) if stands(&other) => (other, None),
            other => (namespace, other),
        };
        new.flux.namespace = home;
        new.flux.source.kind = kind;
        new.flux.source.name = name;
        new.flux.source.namespace = source_namespace;
        let is_folder = !top.is_top() && top.is_within(&model.root);
        new.flux.source.path = is_folder.then(|| top.relative_to(&model.root));
    }
}

/// Tells what was found.
fn findings(model: &Model, spec: &spec::Spec) -> Found {
    let entry = |entry: &EntryPoint, cluster: &str| FoundEntry {
        path: entry.path.to_string(),
        flux: model.flux_in(entry, cluster).map(|kustomization| kustomization.name.clone()).collect(),
        is_of_root: entry.through.as_ref().is_some_and(|root| *root != entry.path),
        holds: match (entry.role, model.graph.get(&entry.path)) {
            (Role::Gate, _) => Holding::Other("carries the gate"),
            (Role::Bootstrap, _) => Holding::Bootstrap,
            (Role::Apps, None) => Holding::Other("no kustomization.yaml: Flux makes one"),
            (Role::Apps, Some(kustomization)) => {
                let (children, _) = crate::delivery::children(model, entry, kustomization);
                Holding::Apps(children.into_iter().map(|child| child.app).collect())
            }
        },
    };
    let clusters = spec.clusters.keys();
    let clusters =
        clusters.map(|name| (name.clone(), model.entries_of(name).map(|one| entry(one, name)).collect()));
    let gates = model.gates.iter().map(|gate| {
        let targets: Vec<&str> = gate.targets().collect();
        let (open, close) = (&gate.open.name, &gate.close.name);
        format!("gate {}: {open} and {close} over {}", gate.base, targets.join(", "))
    });
    Found { clusters: clusters.collect(), others: gates.collect() }
}
