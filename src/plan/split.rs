//! `split`: divides apps and the entry points that use them.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::plan::app::{Child, app_names};
use crate::plan::build::builds;
use crate::plan::entry::EntrySplit;
use crate::plan::input::{Input, Sides};
use crate::plan::outcome::{EntryOutcome, Way};
use crate::plan::prepare::prepare;
use crate::plan::settle::Watch;
use crate::plan::{Builder, Command, Plan, ahead, gate, later, layout, listing, parent};
use crate::proof::{Mismatch, Obligation, Renames, prove};
use crate::repo::flux::artifact_path;
use crate::repo::{EntryPoint, RepoPath, Role};
use crate::suggest::nearest;
use crate::template::Templates;

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

/// Plans the restructuring of the selected apps; a step that breaks what is watched is taken back.
///
/// # Errors
///
/// When a name means no app, or a gate can't be brought up to date.
pub(super) fn split_watched(
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    templates: &Templates,
    selection: &Selection,
    watched: &[Obligation],
) -> Result<Plan, Error> {
    known(input, selection)?;
    layout::check(input)?;
    let listed = listing::listed(input);
    let model = input.model.again(&listed);
    let original = input;
    let input = &Input { snapshot: &listed, model: &model, ..*original };
    let mut builder = Builder::new(original.snapshot);
    let mut outcomes = Vec::new();
    let mut commands = Vec::new();
    let mut remarks = Vec::new();
    let mut watch = Watch::new(original, watched);
    let sides = input.sides();
    let carriers = gate::carriers(input)?;
    let live = Live { wholes: input.live(&sides), base };
    ahead::build(input, &sides, selection);
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
            outcomes.push(EntryOutcome::new(&entry.cluster, &entry.path).untouched(reason));
        }
        if entry.role == Role::Bootstrap {
            continue;
        }
        let mut trial = builder.clone();
        let said = commands.len();
        let children = parents.get(&entry.path);
        let mut outcome = children
            .and_then(|children| parent::refused(input, entry, selection, &outcomes, children))
            .unwrap_or_else(|| {
                split_entry(input, original, &mut trial, entry, selection, &live, &mut commands)
            });
        let divides = matches!(outcome.way, Way::Plain | Way::Projection);
        if let Some(change) = divides.then(|| watch.step(&entry.path, trial.now())).flatten() {
            commands.truncate(said);
            outcome = EntryOutcome::new(&entry.cluster, &entry.path).refused(
                format!("dividing it would change something else: {change}"),
                "let no entry point use another's files but through its kustomization.yaml, then split again",
            );
        } else {
            builder = trial;
        }
        if let Some(above) = &entry.through
            && !outcome.after.is_empty()
            && outcome.way != Way::Untouched
        {
            remarks.push(without_flux(input, entry, above));
        }
        outcomes.push(outcome);
    }
    outcomes.sort_by(|a, b| a.before.cmp(&b.before));
    outcomes.extend(handed_over(input, &sides));
    outcomes.extend(unplaced(input));
    if !builder.is_unchanged() {
        commands.extend(gates(original, templates, &mut builder)?);
    }
    let mut plan = builder.finish();
    plan.obligations = obligations(original, &plan, &outcomes);
    remarks.extend(outcomes.iter().flat_map(|outcome| &outcome.notes).map(Diagnostic::note));
    plan.entries = outcomes;
    plan.commands = commands;
    plan.remarks = remarks;
    Ok(plan)
}

/// Brings gates that stand already up to date with what is to be held back from now on.
pub(super) fn gates(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
) -> Result<Vec<Command>, Error> {
    let base = input.spec.folder().join(&input.spec.layout.gate).unwrap_or_default();
    if !input.model.graph.has(&base) {
        return Ok(Vec::new());
    }
    let after = builder.now().clone();
    let model = input.model.again(&after);
    let input = Input { snapshot: &after, model: &model, ..*input };
    let commands = gate::sync(&input, templates, builder)?.commands;
    gate::verify(&input, builder)?;
    Ok(commands)
}

/// What sides that are live ask of a split.
struct Live<'a> {
    /// The entry points of which a side is live.
    wholes: BTreeSet<&'a RepoPath>,
    /// The repository as the clusters are taken to have it.
    base: Option<&'a Input<'a>>,
}

fn split_entry(
    input: &Input<'_>,
    original: &Input<'_>,
    builder: &mut Builder<'_>,
    entry: &EntryPoint,
    selection: &Selection,
    live: &Live<'_>,
    commands: &mut Vec<Command>,
) -> EntryOutcome {
    let outcome = EntryOutcome::new(&entry.cluster, &entry.path);
    if !input.knows_cluster(entry) {
        return outcome.untouched(format!("the spec has no cluster `{}`", entry.cluster));
    }
    if let Some(chain) = input.model.graph.cycle(&entry.path) {
        let texts: Vec<String> = chain.iter().map(ToString::to_string).collect();
        let file =
            chain.first().and_then(|folder| input.model.graph.get(folder)).map(|found| found.file.clone());
        let message = format!("its kustomizations go in a circle: {}", texts.join(" → "));
        let diagnostic = Diagnostic::error(message).help("take one of the references out");
        return outcome.broken(&diagnostic.at(Place::file(file.unwrap_or_else(|| entry.path.clone()))));
    }
    let reach = input.model.graph.reach(&entry.path);
    if let Some(broken) = reach.iter().find_map(|folder| input.model.graph.broken(folder)) {
        return outcome.broken(broken);
    }
    let Some(kustomization) = input.model.graph.get(&entry.path) else {
        return outcome.refused(
            format!("{} has no kustomization.yaml, and nothing that Flux could list in one", entry.path),
            "mend spec.path, or put manifests there",
        );
    };
    let mut trial = builder.clone();
    if !original.model.graph.has(&entry.path) {
        // What Flux made up by itself is written down, so that it can be divided.
        trial.put(&kustomization.file, &kustomization.text);
    }
    let mut outcome = EntrySplit::new(input, entry, kustomization).split(&mut trial, selection);
    let changes = trial.now() != builder.now();
    if outcome.way == Way::Refused {
        return outcome;
    }
    let is_gated = input.spec.types.iter().any(|change_type| !change_type.is_real_time());
    let outside = entry.clusters().find_map(|cluster| gate::out_of_reach(input, entry, cluster));
    if let Some(outside) = outside.filter(|_| is_gated && changes && !outcome.after.is_empty()) {
        return EntryOutcome::new(&entry.cluster, &entry.path).refused(
            format!(
                "its Flux Kustomization {} is in namespace {}, and gates act in {}, so nothing would hold back a side of it",
                outside.name, outside.namespace, input.spec.flux.namespace
            ),
            gate::ONE_NAMESPACE,
        );
    }
    if outcome.way == Way::Untouched {
        if outcome.after.is_empty() {
            return outcome;
        }
        if !changes {
            outcome.reason = "it was split before".into();
            return outcome;
        }
        // An app of one type alone joins the side that others made.
        outcome.way = Way::Plain;
    }
    let is_live = live.wholes.contains(&entry.path);
    if is_live {
        outcome = later::step(original, live.base, builder, &mut trial, entry, outcome);
        if outcome.way == Way::Refused {
            return outcome;
        }
    }
    for kustomization in input.model.flux_of(entry).filter(|_| !is_live) {
        if let Err(reason) = prepare(&mut trial, kustomization) {
            return outcome.refused(
                format!("Flux Kustomization {} can't be prepared: {reason}", kustomization.name),
                "set `prune: false` and `deletionPolicy: Orphan` there by hand, then split again",
            );
        }
    }
    if let Some(mismatch) = broken_promise(input, original, &trial, entry, &outcome) {
        return outcome.refused(
            format!("{} would not render the same: {mismatch}", entry.path),
            "move what the Flux Kustomization's own fields do into the folder's kustomization.yaml, then split again",
        );
    }
    *builder = trial;
    if entry.flux.is_empty() && entry.through.is_none() {
        commands.push(Command::prepare(
            input.model.name_of(entry),
            &input.spec.flux.namespace,
            &entry.cluster,
        ));
    }
    outcome
}

/// The way back from a migration, in which nothing is deleted.
pub(super) const BACK: &str = "go back as you came, a step at a time: `git revert` the commit of the last `migrate`, which takes `prune: true` away again, and let it reach every cluster; then `git revert` that of the hand-over, and let it reach every cluster; then";

/// Holds one entry point to its promise, as its controller builds it.
fn broken_promise(
    input: &Input<'_>,
    original: &Input<'_>,
    trial: &Builder<'_>,
    entry: &EntryPoint,
    outcome: &EntryOutcome,
) -> Option<Mismatch> {
    let obligations = of_entry(original, &entry.path, std::slice::from_ref(outcome));
    let verdicts = prove(original.snapshot, trial.now(), &obligations, input.renderer);
    verdicts.into_iter().find_map(|verdict| verdict.mismatches.into_iter().next())
}

/// Says what an entry point lacks before its sides can be applied each by its own Kustomization.
fn without_flux(input: &Input<'_>, entry: &EntryPoint, above: &RepoPath) -> Diagnostic {
    let bootstrap = input.model.entry_points.iter().find(|other| other.path == *above);
    let name = bootstrap.map_or("flux-system", |bootstrap| input.model.name_of(bootstrap));
    Diagnostic::warning(format!(
        "{} has no Flux Kustomization of its own: {name} applies it through {above}, all types together",
        entry.path
    ))
    .at(Place::file(entry.path.clone()))
    .help(format!(
        "write a Flux Kustomization for it with `prune: false`, take it out of what {above} lists, and let that reach the cluster; `gitops-windows migrate` then hands over to its sides"
    ))
}

/// Entry points of which only the sides are left are named, so that a second split says why it does
/// nothing.
fn handed_over(input: &Input<'_>, sides: &Sides) -> Vec<EntryOutcome> {
    let mut found: BTreeMap<RepoPath, EntryOutcome> = BTreeMap::new();
    for entry in &input.model.entry_points {
        let Some((whole, position)) = sides.get(&entry.path) else { continue };
        if input.model.entry_points.iter().any(|other| other.path == *whole) {
            continue;
        }
        let outcome = found
            .entry(whole.clone())
            .or_insert_with(|| EntryOutcome::new(&entry.cluster, whole).untouched("it was split before"));
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
    let (children, _) = crate::plan::app::children(input.model, entry, kustomization);
    *selection != Selection::All && children.iter().any(|child| selection.names(child))
}

/// Flux Kustomizations whose paths are not this repository's are named, lest they seem forgotten.
fn unplaced(input: &Input<'_>) -> Vec<EntryOutcome> {
    let flux = input.model.flux.iter().filter(|kustomization| kustomization.path.is_none());
    flux.filter(|kustomization| kustomization.source_kind() != "GitRepository")
        .filter_map(|kustomization| {
            let text = kustomization.spec("path").as_str()?;
            let path = artifact_path(text)?;
            let cluster = input.model.cluster_of(kustomization);
            let (kind, name) = (kustomization.source_kind(), kustomization.source_name());
            Some(EntryOutcome::new(&cluster, &path).refused(
                format!("its path is relative to {kind} {name}, not to this repository"),
                "split it in the repository that the artifact is made from",
            ))
        })
        .collect()
}

/// Every old entry point must go on rendering what it did, and the sides must add up to it.
pub(super) fn obligations(input: &Input<'_>, plan: &Plan, outcomes: &[EntryOutcome]) -> Vec<Obligation> {
    if plan.changes.is_empty() {
        return Vec::new();
    }
    // A side that nothing in Git builds yet is what a split makes; it may take in another app.
    let sides = input.sides();
    let is_made = |entry: &&EntryPoint| entry.flux.is_empty() && sides.contains_key(&entry.path);
    let entries = input.model.entry_points.iter().filter(|entry| !is_made(entry));
    let mut found: Vec<Obligation> =
        entries.flat_map(|entry| of_entry(input, &entry.path, outcomes)).collect();
    let gates = gate::GateFolders::of(input).unwrap_or_default();
    let mut renames = Renames::default();
    outcomes.iter().for_each(|outcome| renames.extend(&outcome.renamed));
    for obligation in &mut found {
        let of = input.model.entry_points.iter().filter(|entry| entry.path == obligation.before);
        obligation.renamed = renames.of(of.flat_map(EntryPoint::clusters));
        obligation.free.extend(gates.free(input, &obligation.before));
    }
    found
}

/// What must be true of one entry point, for each way in which a cluster builds it.
fn of_entry(input: &Input<'_>, path: &RepoPath, outcomes: &[EntryOutcome]) -> Vec<Obligation> {
    let mut found = Vec::new();
    let entry = input.model.entry_points.iter().find(|entry| entry.path == *path);
    let builds = entry.map_or_else(|| vec![None], |entry| builds(input.model, entry));
    if let Some(found) = later::obligations(input, path, builds.clone(), outcomes) {
        return found;
    }
    for build in builds {
        found.push(Obligation {
            flux_may_change: true,
            build: build.clone(),
            ..Obligation::same(path.clone())
        });
        let outcomes = outcomes.iter().filter(|outcome| outcome.before == *path);
        for outcome in outcomes.filter(|outcome| outcome.remaining.is_empty() && !outcome.after.is_empty()) {
            let after = outcome.after.iter().map(|(_, path)| path.clone()).collect();
            found.push(Obligation {
                after,
                build: build.clone(),
                ..Obligation::same(outcome.before.clone())
            });
        }
    }
    found
}

fn known(input: &Input<'_>, selection: &Selection) -> Result<(), Error> {
    let Selection::Named(names) = selection else { return Ok(()) };
    let apps = app_names(input.model);
    let mut unknown = Vec::new();
    for name in names {
        let is_app = input.model.entry_points.iter().any(|entry| {
            let kustomization = input.model.graph.get(&entry.path);
            let children = kustomization.map(|found| crate::plan::app::children(input.model, entry, found).0);
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
