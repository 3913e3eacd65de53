//! Entry points that need no split: all of their objects have one gated type, so their own Flux
//! Kustomizations are held back.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{BuiltJob, Doubt, EntryPoint, Holds, Role};
use crate::delivery::{Input, Sides, Typed, TypedError, parent};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{GateTarget, Unheld, WhyUnheld};
use crate::path::RepoPath;
use crate::plan::gate::Lone;
use crate::plan::gate::elsewhere::{self, Kept};
use crate::plan::gate::mixed::{self, Standing};
use crate::plan::gate::target::waits_for_held;
use crate::plan::gate::unbuilt::BROKEN;
use crate::plan::gate::{OutOfReach, left_out, out_of_reach, own};
use crate::plan::problem::{ADDED_TYPES, REMEDY_FOR_TYPES, is_remote};
use crate::repo::FluxKustomization;

/// The entry points of one cluster that a gate holds back as they are.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// By path: the position of the type, and the Flux Kustomizations.
    entries: BTreeMap<RepoPath, (usize, BTreeSet<GateTarget>)>,
    /// Those of which no object has a window.
    real_time: BTreeSet<RepoPath>,
    /// Those that render no objects.
    empty: BTreeSet<RepoPath>,
    /// Those that apply Flux Kustomizations, so that no split divides them.
    parents: BTreeSet<RepoPath>,
    /// Those that need the network to be read, so that no split divides them.
    remote: BTreeSet<RepoPath>,
    /// Those that something else needs, which does not wait.
    let_go: BTreeSet<RepoPath>,
    /// What reads another revision of this repository, by the position of the type.
    pub elsewhere: Kept,
    /// What could have been held back and is not.
    pub left: Vec<Diagnostic>,
    /// What is held back although objects of another type are in it.
    pub mixed: Vec<Diagnostic>,
    /// What stands in Git and is not held back, although objects of it have a window.
    pub unheld: BTreeMap<GateTarget, Unheld>,
}

impl Whole {
    /// Finds them.
    ///
    /// Left out is what something real-time depends on, directly or through others, where the mechanism
    /// [stops dependants](crate::spec::MechanismName::stops_dependants); in any case, what the gate's `carrier` depends
    /// on: in a new cluster each would wait for the other. What the jobs of the gate that stands hold back stays where an
    /// object of another type has come.
    pub fn of(
        input: &Input<'_>,
        sides: &Sides,
        lone: &Lone,
        cluster: &str,
        carrier: Option<&RepoPath>,
        standing: &Standing<'_>,
    ) -> Whole {
        let mut whole = Whole::default();
        let gated = |types: Vec<usize>| -> BTreeSet<usize> {
            types.into_iter().filter(|position| !input.spec.types[*position].is_real_time()).collect()
        };
        let all_gated = || -> BTreeSet<usize> { input.spec.gated_positions().collect() };
        let managed = is_managed(input, cluster);
        let mut holds: Option<Holds<'_>> = None;
        let mine = |entry: &&EntryPoint| {
            (!managed || !entry.flux.is_empty())
                && entry.role == Role::Apps
                && Some(&entry.path) != carrier
                && entry.through.is_none()
                && !sides.contains_key(&entry.path)
        };
        for entry in input.model.entries_of(cluster).filter(mine) {
            let standing_sides = input.standing_sides(&entry.path, cluster);
            if !standing_sides.is_empty() {
                let types = gated(standing_sides.into_keys().collect());
                whole.leave_open(input, entry, cluster, types, WhyUnheld::NotHandedOver);
                continue;
            }
            let typed = match typed(input, entry, cluster) {
                Ok(Some(typed)) => lone.settle(&entry.path, typed),
                Ok(None) => {
                    whole.leave_open(input, entry, cluster, all_gated(), WhyUnheld::Unreachable);
                    whole.left.push(apart(input, entry, cluster));
                    continue;
                }
                Err(TypedError::Classify(_)) => continue,
                Err(_) if input.model.is_suspended(&entry.path, cluster) => continue,
                Err(error) => {
                    // What does not build changes nothing; what needs the network, Flux builds.
                    if error.unbuilt().is_some_and(is_remote) {
                        whole.leave_open(input, entry, cluster, all_gated(), WhyUnheld::Unreachable);
                        whole.remote.insert(entry.path.clone());
                    }
                    let holds = holds
                        .get_or_insert_with(|| Holds::with(input.model, Some(input.spec), sides.clone()));
                    whole.left.extend(unknown(input, entry, cluster, &error, holds));
                    continue;
                }
            };
            if typed.objects.is_empty() {
                whole.empty.insert(entry.path.clone());
            }
            if parent::reason(input.model, &typed.objects).is_some() {
                whole.parents.insert(entry.path.clone());
                continue;
            }
            let present = typed.present();
            if !present.is_empty()
                && present.iter().all(|position| input.spec.types[*position].is_real_time())
            {
                whole.real_time.insert(entry.path.clone());
            }
            if present.iter().any(|position| !input.spec.types[*position].is_real_time())
                && present.len() > 1
                && let Some(held) = mixed::held(input, entry, cluster, standing)
            {
                whole.mixed.extend(mixed::told(input, entry, cluster, &typed, &held));
                whole.entries.insert(entry.path.clone(), held);
                continue;
            }
            if present.len() > 1 {
                whole.leave_open(input, entry, cluster, gated(present.clone()), WhyUnheld::Unsplit);
            }
            if present.len() > 1 && is_held_alone(input, entry, cluster) {
                whole.left.push(mixed(input, entry, cluster));
            }
            if let [only] = &present[..]
                && !input.spec.types[*only].is_real_time()
            {
                if let Some(outside) = out_of_reach(input, entry, cluster) {
                    whole.leave_open(input, entry, cluster, gated(present), WhyUnheld::Unreachable);
                    whole.left.push(unheld("no gate", &format!(" of cluster {cluster}"), &outside));
                    continue;
                }
                let own = held_of(input, entry, cluster, standing.all);
                whole.entries.insert(entry.path.clone(), (*only, own));
            }
        }
        whole.left.extend(left_out::notes(input, sides, &whole.entries, cluster, standing));
        let (kept, told) = elsewhere::kept(input, cluster, standing);
        whole.elsewhere = kept;
        whole.left.extend(told);
        whole.leave_needed(input, sides, cluster, carrier);
        whole
    }

    /// Builds ahead what all clusters will ask for.
    pub fn prepare(input: &Input<'_>, sides: &Sides) {
        let is_whole = |entry: &&EntryPoint| {
            entry.through.is_none() && input.standing_sides(&entry.path, &entry.cluster).is_empty()
        };
        let wanted = input.wholes(sides).filter(is_whole);
        input.prepare(wanted.map(|entry| &entry.path));
    }

    /// Returns what a type's gate holds back at a path; `None` where the path is not one of these.
    pub fn targets(&self, path: &RepoPath, change_type: usize) -> Option<BTreeSet<GateTarget>> {
        let (only, targets) = self.entries.get(path)?;
        Some(if *only == change_type { targets.clone() } else { BTreeSet::new() })
    }

    /// Returns whether no object at a path has a window.
    pub fn is_real_time(&self, path: &RepoPath) -> bool {
        self.real_time.contains(path)
    }

    /// Returns whether no gate holds back a path as a whole, although one may have so far.
    pub fn is_free(&self, path: &RepoPath) -> bool {
        self.is_real_time(path) || self.let_go.contains(path)
    }

    /// Returns whether nothing will ever divide a path: it gets no sides.
    pub fn stays(&self, path: &RepoPath) -> bool {
        self.is_real_time(path) || self.parents.contains(path) || self.remote.contains(path)
    }

    /// Returns all that is held back.
    pub fn all(&self) -> BTreeSet<GateTarget> {
        self.entries.values().flat_map(|(_, targets)| targets).cloned().collect()
    }

    /// Notes that what stands in Git of an entry point waits for no window, although objects of these types are in it.
    fn leave_open(
        &mut self,
        input: &Input<'_>,
        entry: &EntryPoint,
        cluster: &str,
        types: BTreeSet<usize>,
        why: WhyUnheld,
    ) {
        if types.is_empty() {
            return;
        }
        let own = input.model.flux_in(entry, cluster).filter(|flux| !flux.is_suspended());
        let of = |flux| (GateTarget::of(input, flux), Unheld { types: types.clone(), why: why.clone() });
        self.unheld.extend(own.map(of));
    }

    /// Returns whether a gate only leaves out a Flux Kustomization since it is perhaps not there: it lets go of nothing that is.
    fn is_perhaps_gated(&self, input: &Input<'_>, flux: &FluxKustomization) -> bool {
        flux.path.as_ref().is_some_and(|path| self.entries.contains_key(path))
            && matches!(input.model.doubt(flux), Some(Doubt::Suspended(_)))
    }

    /// Returns whether a Flux Kustomization applies objects, or something ungated that does depends on it, directly or
    /// through others: what renders none can wait as long as nothing waits for it.
    fn applies_for(
        &self,
        input: &Input<'_>,
        all: &[&FluxKustomization],
        flux: &FluxKustomization,
        is_gated: &dyn Fn(&FluxKustomization) -> bool,
    ) -> bool {
        let is_empty =
            |one: &FluxKustomization| one.path.as_ref().is_some_and(|path| self.empty.contains(path));
        let (mut known, mut next) = (vec![flux], 0);
        while let Some(one) = known.get(next).copied() {
            if !is_empty(one) {
                return true;
            }
            let target = GateTarget::of(input, one);
            let waits = |other: &&&FluxKustomization| {
                let mut waited = other.waits_for().into_iter();
                waited.any(|(namespace, name)| GateTarget::new(input, namespace, name) == target)
            };
            let further = all.iter().filter(waits).copied().filter(|other| !is_gated(other));
            let further: Vec<&FluxKustomization> =
                further.filter(|other| !known.iter().any(|one| std::ptr::eq(*one, *other))).collect();
            known.extend(further);
            next += 1;
        }
        false
    }

    fn leave_needed(&mut self, input: &Input<'_>, sides: &Sides, cluster: &str, carrier: Option<&RepoPath>) {
        let mut of_cluster: Vec<&FluxKustomization> = input.model.flux_of_cluster(cluster).collect();
        if !input.spec.gate.mechanism.stops_dependants() {
            of_cluster = upstream(input, of_cluster, carrier);
        }
        let gated_side = |flux: &FluxKustomization| {
            let side = flux.path.as_ref().and_then(|path| sides.get(path));
            side.is_some_and(|(_, position)| !input.spec.types[*position].is_real_time())
        };
        let or_hold = match input.spec.gate.mechanism.stops_dependants() {
            true => "\nor let the gate hold a source: `mechanism: follow` under `gate`",
            false => "",
        };
        loop {
            let held = self.all();
            let is_gated = |flux: &FluxKustomization| {
                held.contains(&GateTarget::of(input, flux))
                    || gated_side(flux)
                    || self.is_perhaps_gated(input, flux)
            };
            let found = of_cluster.iter().find_map(|flux| {
                if is_gated(flux) || !self.applies_for(input, &of_cluster, flux, &is_gated) {
                    return None;
                }
                Some((*flux, waits_for_held(input, flux, &held)?))
            });
            let Some((flux, (needed, place))) = found else { return };
            let let_go = self.entries.extract_if(.., |_, (_, targets)| targets.contains(&needed));
            let dependant = GateTarget::of(input, flux);
            for (path, (position, targets)) in let_go {
                self.let_go.insert(path);
                let unheld = |target: GateTarget| {
                    let why = WhyUnheld::NeededBy(dependant.clone());
                    (target, Unheld { types: BTreeSet::from([position]), why })
                };
                self.unheld.extend(targets.into_iter().map(unheld));
            }
            let (needed, dependant) = (needed.shown(input.spec), dependant.shown(input.spec));
            let is_real_time = flux.path.as_ref().is_none_or(|path| {
                let side = sides.get(path).map(|(_, position)| input.spec.types[*position].is_real_time());
                side.unwrap_or_else(|| self.is_real_time(path))
            });
            let word = if is_real_time { "real-time" } else { "ungated" };
            let or_wait = match input.takes_window(flux) {
                true => format!("\nor give all objects of {dependant} a window too"),
                false => String::new(),
            };
            self.left.push(
                Diagnostic::warning(format!(
                    "no gate suspends Flux Kustomization {needed} of cluster {cluster}: {word} {dependant} depends on it. Its changes land at once, although all of its objects have a window"
                ))
                .at(place)
                .help(format!("remove {needed} from the `dependsOn` of {dependant}{or_wait}{or_hold}")),
            );
        }
    }
}

/// Returns those that build a folder, and all that they depend on, directly or through others.
fn upstream<'f>(
    input: &Input<'_>,
    all: Vec<&'f FluxKustomization>,
    folder: Option<&RepoPath>,
) -> Vec<&'f FluxKustomization> {
    let (mut found, mut others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|flux| folder.is_some() && flux.path.as_ref() == folder);
    let mut next = 0;
    while let Some(flux) = found.get(next).copied() {
        let waits: BTreeSet<GateTarget> =
            flux.waits_for().into_iter().map(|(space, name)| GateTarget::new(input, space, name)).collect();
        let (needed, rest) =
            others.into_iter().partition(|other| waits.contains(&GateTarget::of(input, other)));
        found.extend::<Vec<_>>(needed);
        others = rest;
        next += 1;
    }
    found
}

/// Returns whether Flux Kustomizations of a cluster are in Git beside the bootstrap one, so that what none of them
/// applies is not applied at all.
pub fn is_managed(input: &Input<'_>, cluster: &str) -> bool {
    let mut others = input.model.flux_of_cluster(cluster).filter(|flux| !flux.applies_itself());
    others.any(|flux| flux.name != own::NAME)
}

/// Returns what a cluster gets of an entry point; `None` where its Flux Kustomizations make objects of other types of it.
fn typed(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> Result<Option<Typed>, TypedError> {
    let alone = || input.typed_entry(input.snapshot, entry).map(Some);
    // Sources of several clusters may leave out other files.
    if input.adds_objects(entry, cluster) || input.model.artifacts_over(entry).len() > 1 {
        return match input.typed_as_applied(entry, cluster) {
            // What comes from elsewhere is not known, and Flux fetches it.
            Err(TypedError::Render(message)) if is_remote(&message) => alone(),
            applied => applied,
        };
    }
    // Some do not build without what their Flux Kustomizations say.
    alone().or_else(|error| match input.typed_as_applied(entry, cluster) {
        Ok(Some(typed)) => Ok(Some(typed)),
        _ => Err(error),
    })
}

/// Returns whether a gate would hold back an entry point but for what its Flux Kustomizations bring.
fn is_held_alone(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> bool {
    let is_gated =
        |typed: &Typed| matches!(typed.present()[..], [only] if !input.spec.types[only].is_real_time());
    input.adds_objects(entry, cluster)
        && input.typed_entry(input.snapshot, entry).is_ok_and(|typed| is_gated(&typed))
}

/// Says that what a Flux Kustomization brings keeps a gate from holding it back.
fn mixed(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> Diagnostic {
    let place = place(input, entry, cluster, "components");
    let text = format!("no gate suspends {} of cluster {cluster}: {ADDED_TYPES}", entry.path);
    Diagnostic::warning(text).at(place).help(REMEDY_FOR_TYPES)
}

/// Says that one gate can't hold back what several Flux Kustomizations make of one folder.
fn apart(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> Diagnostic {
    let names: Vec<&str> = input.model.flux_in(entry, cluster).map(|flux| flux.name.as_str()).collect();
    let place = place(input, entry, cluster, "components");
    Diagnostic::warning(format!(
        "no gate suspends {} of cluster {cluster}: `components` of {} add objects of other types",
        entry.path,
        names.join(" and ")
    ))
    .at(place)
    .help("give each of them a folder of its own that lists its components")
}

/// Says that something with a window is not held back, or not everywhere.
fn unheld(gate: &str, of: &str, outside: &OutOfReach<'_>) -> Diagnostic {
    let OutOfReach { flux, why, help } = outside;
    let text = format!(
        "{gate} suspends Flux Kustomization {}{of}: it {why}. All of its objects have a window",
        flux.name
    );
    Diagnostic::warning(text).at(flux.place("path")).help(*help)
}

/// The code of what `check` tells too: `sync` alone would say it, and nobody runs that again.
const UNKNOWN: &str = "GW067";

/// Says that it is not known whether a gate should hold back an entry point.
///
/// While something is [broken](crate::plan::gate::sync_built) no gate of its cluster is written anew. What needs the network keeps
/// no gate from that, and is not in it.
fn unknown(
    input: &Input<'_>,
    entry: &EntryPoint,
    cluster: &str,
    error: &TypedError,
    holds: &Holds<'_>,
) -> Option<Diagnostic> {
    let message = error.unbuilt()?;
    let is_held = |flux: &FluxKustomization| {
        holds.of(cluster, &flux.namespace, &flux.name, Some(&entry.path)).is_some()
    };
    let mut own = input.model.flux_in(entry, cluster).peekable();
    let stays = !is_remote(message) && own.peek().is_some() && own.all(is_held);
    // Flux builds what needs the network.
    let why = if is_remote(message) { " is not read, as it needs the network" } else { BROKEN };
    let told = |gate: &str| format!("{} of cluster {cluster}{why}, and {gate}: {message}", entry.path);
    let told = match stays {
        true => Diagnostic::note(told("its gate stays as it is")),
        false => Diagnostic::warning(told("no gate suspends it")).code(UNKNOWN),
    };
    let again = "run `gitops-windows sync`";
    let help = match error {
        TypedError::Unfetched { remedy, .. } => format!("{remedy}\n{again}"),
        _ if is_remote(message) => {
            "copy it into the repository with `gitops-windows fetch-bases`\nrun `gitops-windows sync`"
                .to_owned()
        }
        _ => format!("correct it\n{again}"),
    };
    Some(told.at(place(input, entry, cluster, "path")).help(help))
}

/// Points at a field of the first Flux Kustomization of a cluster over an entry point, or else at that.
fn place(input: &Input<'_>, entry: &EntryPoint, cluster: &str, field: &str) -> Place {
    let first = input.model.flux_in(entry, cluster).next();
    first.map_or_else(|| Place::file(entry.path.clone()), |flux| flux.place(field))
}

/// Returns an entry point's Flux Kustomizations in a cluster, as they are or would be, but for those that Git suspends:
/// an opening would resume them.
pub(super) fn targets(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> BTreeSet<GateTarget> {
    let mut own = input.model.flux_in(entry, cluster).peekable();
    if own.peek().is_none() {
        return BTreeSet::from([GateTarget::of_entry(input, entry, cluster)]);
    }
    own.filter(|flux| !flux.is_suspended()).map(|flux| GateTarget::of(input, flux)).collect()
}

/// As [`targets`], of those that a gate with these jobs does not leave out.
fn held_of(input: &Input<'_>, entry: &EntryPoint, cluster: &str, jobs: &[BuiltJob]) -> BTreeSet<GateTarget> {
    let mut held = targets(input, entry, cluster);
    let own = input.model.flux_in(entry, cluster);
    for left in own.filter(|flux| left_out::is_left_out(input, flux, jobs)) {
        held.remove(&GateTarget::of(input, left));
    }
    held
}
