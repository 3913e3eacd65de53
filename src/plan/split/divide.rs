//! `split`: divides apps and the entry points that use them.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Child, Input, Sides, app_names, parent};
use crate::delivery::{EntryPoint, Role};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::gate::Lone;
use crate::plan::migrate::part;
use crate::plan::outcome::{EntryOutcome, Way};
use crate::plan::split::parent::refused;
use crate::plan::split::promise::Promise;
use crate::plan::split::settle::Watch;
use crate::plan::split::step::{Live, Run, Step};
use crate::plan::split::{ahead, layout, newcomer, obligations};
use crate::plan::stop::Stop;
use crate::plan::{Plan, gate};
use crate::proof::Obligation;
use crate::repo::flux::artifact_path;
use crate::repo::listing::listing;
use crate::repo::{File, Snapshot};
use crate::template::Templates;
use crate::text::nearest;

/// Which apps a command means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// These, by name.
    Named(Vec<String>),
}

impl Selection {
    /// Tells whether a child of an entry point is meant.
    pub fn names(&self, child: &Child) -> bool {
        match self {
            Selection::All => true,
            Selection::Named(names) => names.iter().any(|name| child.is_named(name)),
        }
    }

    /// Tells whether an entry point is meant as a whole: it is the app itself, as where each app
    /// has a Flux Kustomization of its own.
    pub fn names_entry(&self, flux_name: &str, path: &RepoPath) -> bool {
        match self {
            Selection::All => true,
            Selection::Named(names) => {
                names.iter().any(|name| name == flux_name || Some(name.as_str()) == path.name())
            }
        }
    }
}

/// How a split makes sure of each step.
pub(super) enum Care<'a> {
    /// A step is taken to be right, but at these entry points; the caller proves all of them together.
    Trusting(&'a BTreeSet<RepoPath>),
    /// Each step is proven before the next one. One that breaks any of these is taken back.
    Watching(&'a [Obligation]),
}

/// Plans the restructuring of the selected apps, and gives what is still to be proven of it beside the
/// plan's obligations. What is hindered is left as it is.
///
/// # Errors
///
/// When a name means no app, or a gate can't be brought up to date.
pub(super) fn split_with(
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    templates: &Templates,
    selection: &Selection,
    care: &Care<'_>,
    hindered: &BTreeMap<RepoPath, Stop>,
) -> Result<(Plan, Vec<Promise>), Error> {
    known(input, selection)?;
    layout::check(input)?;
    let listed = listed(input);
    let model = input.again(&listed);
    let original = input;
    let input = &Input { snapshot: &listed, model: &model, ..*original };
    let mut builder = Builder::new(original.snapshot);
    let mut outcomes = Vec::new();
    let mut commands = Vec::new();
    let mut remarks = Vec::new();
    let mut promises = Vec::new();
    let (doubted, watched) = match care {
        Care::Trusting(doubted) => (Some(*doubted), &[][..]),
        Care::Watching(watched) => (None, *watched),
    };
    let mut watch = Watch::new(original, watched);
    let sides = input.sides();
    let carriers = gate::carriers(input)?;
    let live = Live { wholes: input.live(&sides), base };
    ahead::build(input, original, &sides, selection);
    let lone = Lone::of(input, &sides);
    let run = Run { input, original, selection, sides: &sides, lone: &lone, live };
    // What applies others' Flux Kustomizations comes after them.
    let parents = parent::children(input.model);
    let (last, first): (Vec<_>, Vec<_>) =
        input.model.entry_points.iter().partition(|entry| parents.contains_key(&entry.path));
    for entry in first.into_iter().chain(last) {
        if sides.contains_key(&entry.path) {
            continue;
        }
        let carries = entry.role == Role::Gate || carriers.contains_key(&entry.path);
        if carries && !is_named(input, entry, selection) {
            continue;
        }
        if entry.role == Role::Bootstrap && *selection == Selection::All && input.knows_cluster(entry) {
            let reason = "it applies Flux Kustomizations, which gate what they apply themselves";
            outcomes.push(EntryOutcome::new(&entry.named_clusters(), &entry.path).untouched(reason));
        }
        if entry.role == Role::Bootstrap {
            continue;
        }
        let mut trial = builder.clone();
        let children = parents.get(&entry.path);
        let trusts = doubted.is_some_and(|doubted| !doubted.contains(&entry.path));
        let stopped = hindered.get(&entry.path).cloned();
        let refused = stopped
            .map(|stop| stop.refuse(EntryOutcome::new(&entry.named_clusters(), &entry.path)))
            .or_else(|| refused(input, entry, selection, &lone, &outcomes, children?));
        let Step { mut outcome, promise, command } = match refused {
            Some(outcome) => outcome.into(),
            None => run.step(&mut trial, entry, trusts),
        };
        let divides = matches!(outcome.way, Way::Plain | Way::Projection);
        if let Some(change) = divides.then(|| watch.step(&entry.path, trial.now())).flatten() {
            outcome = EntryOutcome::new(&entry.named_clusters(), &entry.path).refused(
                format!("dividing it would change something else: {change}"),
                "let no entry point use another's files but through its kustomization.yaml, then split again",
            );
        } else {
            builder = trial;
            commands.extend(command);
            promises.extend(promise);
        }
        if let Some(above) = &entry.through
            && !outcome.after.is_empty()
            && outcome.way != Way::Untouched
        {
            remarks.push(without_flux(input, entry, above));
        }
        outcomes.push(outcome);
    }
    let came = newcomer::split(input, original, base, selection, &sides, &mut builder);
    outcomes.retain(|outcome| !outcome.is_untouched() || came.iter().all(|one| one.before != outcome.before));
    outcomes.extend(came.iter().cloned());
    outcomes.sort_by(|a, b| a.before.cmp(&b.before));
    // Where a newcomer is named, those that do not list it have nothing to say.
    if came.is_empty() || *selection == Selection::All {
        let split_before = handed_over(input, &sides).into_iter();
        outcomes.extend(split_before.filter(|outcome| came.iter().all(|one| one.before != outcome.before)));
    }
    outcomes.extend(unplaced(input));
    if !builder.is_unchanged() {
        commands.extend(gate::follow(original, templates, &mut builder)?);
    }
    let mut plan = builder.finish();
    plan.obligations = obligations::all(original, &plan, &outcomes);
    newcomer::hold(original, &mut plan, &came);
    remarks.extend(outcomes.iter().flat_map(|outcome| &outcome.notes).map(Diagnostic::note));
    // Where an app is used somewhere, those that do not use it have nothing to say.
    if !outcomes.iter().all(EntryOutcome::is_beside) {
        outcomes.retain(|outcome| !outcome.is_beside());
    }
    plan.entries = outcomes;
    plan.commands = commands;
    plan.remarks = remarks;
    Ok((plan, promises))
}

/// Says what an entry point lacks before its sides can be applied each by its own Kustomization.
fn without_flux(input: &Input<'_>, entry: &EntryPoint, above: &RepoPath) -> Diagnostic {
    let bootstrap = input.model.entry(above);
    let name = bootstrap.map_or("flux-system", |bootstrap| input.model.name_of(bootstrap));
    Diagnostic::warning(format!(
        "{} has no Flux Kustomization of its own: {name} applies it through {above}, all types together",
        entry.path
    ))
    .at(Place::file(entry.path.clone()))
    .help(format!(
        "{}; `gitops-windows migrate` then hands over to its sides",
        part::apart(input, &entry.path, above)
    ))
}

/// Entry points of which only the sides are left are named, so that a second split says why it does
/// nothing.
fn handed_over(input: &Input<'_>, sides: &Sides) -> Vec<EntryOutcome> {
    let mut found: BTreeMap<RepoPath, EntryOutcome> = BTreeMap::new();
    for entry in &input.model.entry_points {
        let Some((whole, position)) = sides.get(&entry.path) else { continue };
        if input.model.entry(whole).is_some() {
            continue;
        }
        let outcome = found.entry(whole.clone()).or_insert_with(|| {
            EntryOutcome::new(&entry.named_clusters(), whole).untouched("it was split before")
        });
        outcome.after.push((input.spec.types[*position].name.value.clone(), entry.path.clone()));
    }
    found.into_values().collect()
}

/// Tells whether an app of an entry point is meant by its name.
///
/// What carries a gate stays real-time as a whole unless somebody asks for one of its apps; then the
/// gate goes to the first side, so that windows can be changed while they are closed.
fn is_named(input: &Input<'_>, entry: &EntryPoint, selection: &Selection) -> bool {
    let Some(kustomization) = input.model.graph.get(&entry.path) else { return false };
    let (children, _) = crate::delivery::children(input.model, entry, kustomization);
    *selection != Selection::All && children.iter().any(|child| selection.names(child))
}

/// Flux Kustomizations whose paths are not this repository's are named, lest they seem forgotten.
fn unplaced(input: &Input<'_>) -> Vec<EntryOutcome> {
    let flux = input.model.flux.iter().filter(|kustomization| kustomization.path.is_none());
    flux.filter(|kustomization| kustomization.source_kind() != "GitRepository")
        .filter_map(|kustomization| {
            let text = kustomization.spec("path").as_str()?;
            let path = artifact_path(text)?;
            let cluster = kustomization.cluster.clone();
            let (kind, name) = (kustomization.source_kind(), kustomization.source_name());
            Some(EntryOutcome::new(&cluster, &path).refused(
                format!("its path is relative to {kind} {name}, not to this repository"),
                "split it in the repository that the artifact is made from",
            ))
        })
        .collect()
}

fn known(input: &Input<'_>, selection: &Selection) -> Result<(), Error> {
    let Selection::Named(names) = selection else { return Ok(()) };
    let apps = app_names(input.model);
    let mut unknown = Vec::new();
    for name in names {
        let is_app = input.model.entry_points.iter().any(|entry| {
            let kustomization = input.model.graph.get(&entry.path);
            let children = kustomization.map(|found| crate::delivery::children(input.model, entry, found).0);
            children.unwrap_or_default().iter().any(|child| child.is_named(name))
                || (entry.role == Role::Apps
                    && (entry.path.name() == Some(name) || input.model.name_of(entry) == name))
        });
        if is_app {
            continue;
        }
        let near = nearest(name, apps.iter().map(String::as_str));
        let help = match near.as_slice() {
            [] if apps.is_empty() => {
                "no app was found: run `gitops-windows init --dry-run` to see what was".to_owned()
            }
            [] => format!("the apps are: {}", apps.join(", ")),
            near => format!("did you mean {}? The apps are: {}", near.join(" or "), apps.join(", ")),
        };
        unknown.push(
            Diagnostic::error(format!("there is no app `{name}` in any entry point"))
                .at(Place::file(input.spec.path.clone()))
                .help(help),
        );
    }
    if unknown.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Usage, diagnostics: unknown }) }
}

/// Gives the snapshot with a list in every entry point that has none.
fn listed(input: &Input<'_>) -> Snapshot {
    let mut snapshot = input.snapshot.clone();
    for entry in &input.model.entry_points {
        if entry.role != Role::Apps || entry.flux.is_empty() || !input.knows_cluster(entry) {
            continue;
        }
        if let Some(text) = listing(&input.model.graph, input.snapshot, &entry.path)
            && let Ok(path) = entry.path.join("kustomization.yaml")
        {
            snapshot.insert(path, File::new(text.as_bytes()));
        }
    }
    snapshot
}
