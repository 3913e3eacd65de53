//! One entry point's step of a split.

use crate::delivery::EntryPoint;
use crate::delivery::{Effect, GIVES, Input, Partial, TypedError, shared, told_apart};
use crate::diagnostic::{Diagnostic, Place};
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::prepare;
use crate::plan::migrate::precondition::identity;
use crate::plan::outcome::{BESIDE, EntryOutcome, Way};
use crate::plan::problem::Problem;
use crate::plan::split::promise::Promise;
use crate::plan::split::run::Run;
use crate::plan::split::side::OWN_FIELDS;
use crate::plan::split::{EntrySplit, later, obligations};
use crate::plan::{Command, gate};
use crate::render::Request;
use crate::repo::flux::each_written;
use crate::repo::post_build::puts_in;
use crate::repo::{FluxKustomization, Kustomization};

/// What a split of an entry point leaves beside the tree.
pub struct Step {
    /// What became of it.
    pub outcome: EntryOutcome,
    /// What its sides must build, where that is not proven yet.
    pub promise: Option<Promise>,
    /// What people are to run, since its Flux Kustomization is not in Git.
    pub command: Option<Command>,
}

impl From<EntryOutcome> for Step {
    fn from(outcome: EntryOutcome) -> Step {
        Step { outcome, promise: None, command: None }
    }
}

impl Run<'_> {
    /// Splits an entry point into the builder, in which nothing stays after a refusal.
    ///
    /// What is not trusted is proven at once.
    pub fn step(&self, builder: &mut Builder<'_>, entry: &EntryPoint, trusts: bool) -> Step {
        let Run { input, original, selection, live, .. } = self;
        let outcome = EntryOutcome::of(entry);
        if !input.knows_cluster(entry) {
            return outcome.untouched(format!("the spec has no cluster `{}`", entry.cluster)).into();
        }
        let kustomization = match usable(input, entry) {
            Ok(kustomization) => kustomization,
            // What has no list uses no app by its name.
            Err(_)
                if !input.model.graph.has(&entry.path)
                    && !selection.names_entry(input.model.name_of(entry), &entry.path) =>
            {
                return outcome.untouched(BESIDE).into();
            }
            Err(problem) => return outcome.refused(problem).into(),
        };
        let mut trial = builder.clone();
        if !original.model.graph.has(&entry.path) {
            // What Flux made up by itself is written down, so that it can be divided.
            trial.put(&kustomization.file, &kustomization.text);
        }
        let is_live = live.wholes.contains(&entry.path);
        let split =
            EntrySplit::new(input, entry, kustomization).trusting(trusts && !is_live).leaving(self.lone);
        let (mut outcome, promised) = match split.split(&mut trial, selection) {
            Ok(done) => done,
            Err(problem) => return outcome.refused(unlisted(original, entry).unwrap_or(problem)).into(),
        };
        let changes = trial.now() != builder.now();
        if changes && let Some((name, error)) = unbuildable(original, entry) {
            let mut problem = Problem::unbuilt(&entry.path, &TypedError::Render(error));
            problem.reason = format!("Flux Kustomization {name} can't build it: {}", problem.reason);
            return outcome.refused(problem).into();
        }
        if changes && let Some(problem) = one_name(original, entry) {
            return outcome.refused(problem).into();
        }
        let is_gated = input.spec.has_gated_type();
        let outside = entry.clusters().find_map(|cluster| gate::out_of_reach(input, entry, cluster));
        let outside = outside.or_else(|| gate::shared(input, entry));
        if let Some(outside) = outside.filter(|_| is_gated && changes && !outcome.after.is_empty()) {
            let why = format!("its Flux Kustomization {} {}", outside.flux.name, outside.why);
            let problem = Problem::new(why, outside.help).at(outside.flux.place("path"));
            return EntryOutcome::of(entry).refused(problem).into();
        }
        if outcome.way == Way::Untouched {
            if outcome.after.is_empty() {
                return outcome.into();
            }
            if !changes {
                outcome.reason = "split already".into();
                return outcome.into();
            }
            // An app of one type alone joins the side that others made.
            outcome.way = Way::Plain;
        }
        if is_live {
            outcome = later::step(original, live.base, builder, &mut trial, entry, outcome);
            if outcome.way == Way::Refused {
                return outcome.into();
            }
        }
        // What no step of `migrate` comes to would keep what leaves Git for good.
        let moves = |one: &&FluxKustomization| !is_live && input.spec.clusters.contains_key(&one.cluster);
        for kustomization in each_written(input.model.flux_of(entry).filter(moves)) {
            // What no edit of this step mends comes first: the other would be mended in vain.
            let unsaid = identity::variable(kustomization).or_else(|| identity::unheld(input, kustomization));
            if let Err(stop) = unsaid.map_or_else(|| prepare(&mut trial, kustomization), Err) {
                return outcome.refused(stop).into();
            }
        }
        let promise = promised.map(|typed| Promise::new(input, &outcome, &typed));
        let proven =
            promise.is_none().then(|| obligations::mismatch(original, self.sides, &trial, entry, &outcome));
        if let Some(mismatch) = proven.flatten() {
            let reason = format!("{} would not render the same: {mismatch}", entry.path);
            return outcome.refused(Problem::new(reason, OWN_FIELDS)).into();
        }
        // kustomize-controller asks for origins where `resources` is empty, and a divided one lists its parts
        // (fluxcd/pkg/kustomize, `Generator.WriteFile`).
        let lists_none = kustomization.resources().iter().all(|one| one.field != "resources");
        if lists_none && !outcome.after.is_empty() && !entry.flux.is_empty() {
            outcome.notes.push(format!(
                "the objects of {} lose the annotation `config.kubernetes.io/origin`. kustomize-controller sets it only without `resources`, and the proof leaves it out",
                entry.path
            ));
        }
        if !original.model.graph.has(&entry.path) && !outcome.after.is_empty() {
            let shared = shared(input.spec, &entry.path, &entry.cluster);
            let shared = shared.and_then(|shared| trial.kustomization(&shared).ok().flatten());
            let list = shared.map_or_else(|| kustomization.file.clone(), |shared| shared.file.clone());
            outcome.notes.push(format!(
                "Flux listed by itself what lies below {}. From now on {list} does: add new files to it",
                entry.path
            ));
        }
        *builder = trial;
        let is_by_hand = entry.flux.is_empty() && entry.through.is_none();
        let command = is_by_hand.then(|| {
            let has_policy = input.model.takes_policies(&entry.cluster);
            let (name, namespace) = (input.model.name_of(entry), &input.spec.flux.namespace);
            Command::prepare(name, namespace, &entry.cluster, has_policy)
        });
        Step { outcome, promise, command }
    }
}

/// Returns the kustomization of an entry point of which all can be read.
///
/// # Errors
///
/// When it goes in a circle, a part of it can't be read, or there is none.
fn usable<'a>(input: &Input<'a>, entry: &EntryPoint) -> Result<&'a Kustomization, Problem> {
    let graph = &input.model.graph;
    if let Some(chain) = graph.cycle(&entry.path) {
        let texts: Vec<String> = chain.iter().map(ToString::to_string).collect();
        let file = chain.first().and_then(|folder| graph.get(folder)).map(|found| found.file.clone());
        let message = format!("its kustomizations go in a circle: {}", texts.join(" → "));
        let fault = Diagnostic::error(message).help("take one of the references out");
        return Err(Problem::broken(&fault.at(Place::file(file.unwrap_or_else(|| entry.path.clone())))));
    }
    if let Some(broken) = graph.reach(&entry.path).iter().find_map(|folder| graph.broken(folder)) {
        return Err(Problem::broken(broken));
    }
    graph.get(&entry.path).ok_or_else(|| {
        Problem::new(
            format!("{} has no kustomization.yaml, and nothing that Flux could list in one", entry.path),
            "mend spec.path, or put manifests there",
        )
    })
}

/// Says of an entry point that a source leaves out its list: Flux builds what else lies in the folder, and no side of the list
/// would be that.
fn unlisted(input: &Input<'_>, entry: &EntryPoint) -> Option<Problem> {
    input.model.flux_of(entry).find_map(|one| {
        let all = input.model.lacking(input.snapshot, one);
        let list =
            all.into_iter().find(|lacking| matches!(lacking.effect, Effect::Lists | Effect::Empties))?;
        Some(Problem::unfetched(&Partial { name: one.name.clone(), lacking: Some(list) }))
    })
}

/// Returns the first Flux Kustomization with which an entry point does not build, though it does alone.
fn unbuildable(input: &Input<'_>, entry: &EntryPoint) -> Option<(String, String)> {
    input.model.flux_of(entry).find_map(|kustomization| {
        let request = Request::flux(entry.path.clone(), &kustomization.effective["spec"]);
        let error = input.renderer.render(input.snapshot, &[request]).pop()?.err()?;
        Some((kustomization.name.clone(), error.message))
    })
}

/// Says of an entry point that the variables of a Flux Kustomization give two of its objects one name, or can't be filled in,
/// so that Flux refuses the build.
fn one_name(input: &Input<'_>, entry: &EntryPoint) -> Option<Problem> {
    input.model.flux_of(entry).filter(|one| puts_in(&one.post_build)).find_map(|one| {
        let request = Request::flux(entry.path.clone(), &one.effective["spec"]);
        let objects = input.renderer.render(input.snapshot, &[request]).pop()?.ok()?;
        let error = told_apart(&one.post_build, objects).err()?;
        let remedy = if error.message.starts_with(GIVES) {
            "give one of the two another name, or another value to its variable"
        } else {
            "mend the variable, or give it another value"
        };
        Some(Problem::new(
            format!("Flux Kustomization {} can't build it: {}", one.name, error.message),
            remedy,
        ))
    })
}
