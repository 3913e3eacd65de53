//! Objects that go from one side to another since a rule or an annotation was edited.
//!
//! Before the hand-over the old Flux Kustomization applies them all, and nothing happens to them.
//! After it, the one that loses an object prunes it unless the other has applied it first. One that
//! is held back by a window prunes nothing until that opens, so a move to real time is over by then;
//! the reverse deletes the object until the window opens.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::inventory::{Deletion, Inventory, deletions, inventories, moves_of_kept};
use crate::delivery::{Input, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::migrate::contents::is_encrypted;
use crate::plan::migrate::misplaced::{Misplaced, misplaced_in, standing};
use crate::plan::migrate::{held, verify};
use crate::plan::split::newcomer::newcomers;
use crate::plan::{BACK, EntryOutcome, Plan, Problem, gate};
use crate::proof::difference::differences;
use crate::proof::{FluxName, Obligation};
use crate::render::{Object, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::umbrella;

/// What keeps an object from being pruned.
pub const KEEP: &str = "kustomize.toolkit.fluxcd.io/prune: disabled";

/// How many objects of one entry point are named.
const NAMED: usize = 5;

/// Judges what a plan moves between the sides of the entry points in `moved`, and lets the proof
/// hold their sides to the same objects together, no longer each by itself.
///
/// Returns what is to be known of the moves that are safe. What no Flux Kustomization had in `base`, the repository as the
/// clusters are taken to have it, none can lose.
///
/// # Errors
///
/// When a cluster may delete an object, or would get one otherwise than before.
pub fn guard(
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    plan: &mut Plan,
    moved: &BTreeSet<RepoPath>,
) -> Result<Vec<Diagnostic>, Error> {
    if moved.is_empty() {
        return Ok(Vec::new());
    }
    let after = plan.changes.apply(input.snapshot);
    let model = input.again(&after);
    let next = Input { snapshot: &after, model: &model, ..*input };
    let free = verify::gate_objects(input, &after);
    let (mut old, mut new) = (
        inventories(input.model, input.snapshot, input.renderer),
        inventories(&model, &after, input.renderer),
    );
    let mut gated: BTreeSet<FluxName> = held(input).into_keys().collect();
    let all = input.sides();
    for whole in moved {
        let sides = all.standing(&input.model.graph, whole);
        unknown(input, whole, &sides, &mut old, &mut gated);
        unknown(&next, whole, &sides, &mut new, &mut gated);
        together(plan, &sides.into_keys().collect::<Vec<_>>());
    }
    let wrong: Vec<Diagnostic> = differences(&old, &new, &free)
        .into_iter()
        .map(|(cluster, mismatch)| {
            Diagnostic::error(format!("{cluster} would not get the same: {mismatch}")).help(
                "report this with the kustomizations involved; nothing was written\nor take an edit of a rule or an annotation back",
            )
        })
        .collect();
    if !wrong.is_empty() {
        return Err(Error { kind: ErrorKind::Unsafe, diagnostics: wrong });
    }
    if let Some(diagnostic) = undecrypted(input, &old, &new) {
        return Err(Error::new(ErrorKind::Unsafe, diagnostic));
    }
    let is_held = |cluster: &str, one: &GateTarget| {
        gated.contains(&(cluster.to_owned(), one.namespace.clone(), one.name.clone()))
    };
    // What is held at its source applies the old commit all the while, so both would apply the object.
    let at_source = |cluster: &str, one: &GateTarget| {
        input.model.closings.running(cluster, one).is_some_and(|job| job.held.is_some())
    };
    let (mut found, mut kept) = (deletions(&old, &new), moves_of_kept(&old, &new));
    found.retain(|deletion| !free.contains(&deletion.built));
    if let Some(base) = base.filter(|_| !found.is_empty() || !kept.is_empty()) {
        let had = inventories(base.model, base.snapshot, base.renderer);
        // Of what Git does not show it says nothing either.
        let may_have = |one: &Deletion| one.namespace.is_empty() || one.is_of(&had);
        found.retain(may_have);
        kept.retain(may_have);
    }
    let mut direct: Vec<Diagnostic> = kept
        .into_iter()
        .filter(|one| is_held(&one.cluster, &GateTarget::new(input, &one.namespace, &one.kustomization)))
        .map(|one| kept_from_an_opening_on(&one))
        .collect();
    if found.is_empty() {
        return Ok(direct);
    }
    let later = &next;
    let mut deleted = Vec::new();
    for deletion in &found {
        let Deletion { cluster, kustomization, id, place, .. } = deletion;
        let own = GateTarget::new(input, &deletion.namespace, kustomization);
        let next = deletion.next.as_ref().map(|(namespace, name)| GateTarget::new(input, namespace, name));
        match next {
            Some(next) if is_held(cluster, &own) && !is_held(cluster, &next) && !at_source(cluster, &own) => {
                let next = next.name;
                match unheld(input, later, cluster, &own)? {
                    Some(why) => deleted.push(
                        Diagnostic::error(format!(
                            "{id} in {cluster} goes from {kustomization} to {next} {why}. It may be deleted before {next} applies it"
                        ))
                        .at(place.clone())
                        .help(format!("commit the gate without this, switched on\nwait until the cluster has applied that\nrun this again, and let it land while the window is closed\nor put `{KEEP}` on the object first, and wait until the cluster has applied that")),
                    ),
                    None => direct.push(
                        Diagnostic::warning(format!(
                            "{id} in {cluster} goes from {kustomization} to {next}, which applies it at once"
                        ))
                        .at(place.clone())
                        .help(format!(
                            "let this land while the window is closed, or {kustomization} may delete it before {next} applies it\nor put `{KEEP}` on the object first, and wait until the cluster has applied that"
                        )),
                    ),
                }
            }
            _ => {
                let (wait, merge) = (applied(is_held(cluster, &own)), in_window(input, cluster));
                deleted.push(
                    Diagnostic::error(format!("a cluster may delete {deletion}")).at(place.clone()).help(format!(
                        "revert the change of its type\ncommit the annotation `{KEEP}` on the object\n{wait}\nchange the type and run this again{merge}\nwhen the object has arrived, remove the annotation"
                    )),
                );
            }
        }
    }
    if deleted.is_empty() { Ok(direct) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics: deleted }) }
}

/// Says that the annotation which keeps an object is only in the cluster once a window has let it in.
fn kept_from_an_opening_on(one: &Deletion) -> Diagnostic {
    let Deletion { cluster, kustomization, id, place, .. } = one;
    let text = format!(
        "{id} in {cluster} leaves gated {kustomization}, which applies its annotation at an opening alone. Before that it may delete it"
    );
    Diagnostic::warning(text).at(place.clone()).help(
        "make sure that a window was open after the annotation had been merged\nelse wait for the next opening, which `gitops-windows when` tells",
    )
}

/// Says what to wait for once an annotation is committed: what a window holds back is applied at an opening alone.
fn applied(is_held: bool) -> &'static str {
    if is_held {
        "wait until the next opening has applied that"
    } else {
        "wait until the cluster has applied that"
    }
}

/// Returns whether a job of a cluster holds a source, whose readers apply the old commit while its window is closed.
fn holds_source(input: &Input<'_>, cluster: &str) -> bool {
    input.model.closings.of(cluster).iter().any(|job| job.held.is_some())
}

/// Returns the step after a move of objects in a cluster: of a held source both sides have one commit in an open window
/// alone.
fn in_window(input: &Input<'_>, cluster: &str) -> &'static str {
    if holds_source(input, cluster) { "\nmerge it while the window is open" } else { "" }
}

/// Says why no job holds back a Flux Kustomization yet; `later` is the repository after the step.
///
/// # Errors
///
/// When the layout gives no folder.
fn unheld(
    input: &Input<'_>,
    later: &Input<'_>,
    cluster: &str,
    own: &GateTarget,
) -> Result<Option<String>, Error> {
    if input.model.closings.running(cluster, own).is_some() {
        return Ok(None);
    }
    let name = &own.name;
    if input.gate_of(cluster)?.is_some() {
        return Ok(Some(format!("and no job that runs in {cluster} closes {name} yet")));
    }
    // A gate that is not in Git where the layout has it is its authors'.
    let is_first = later.gate_of(cluster)?.is_some();
    Ok(is_first.then(|| format!("in the step that brings the first gate, when nothing closes {name} yet")))
}

/// Finds an encrypted object that goes to a Flux Kustomization which would apply it as it is.
fn undecrypted(input: &Input<'_>, old: &[Inventory], new: &[Inventory]) -> Option<Diagnostic> {
    let decrypts = |one: &Inventory| {
        let mut named = input.model.flux_named(&one.cluster, &one.name);
        named
            .find(|flux| flux.namespace == one.namespace)
            .is_none_or(|flux| !flux.spec("decryption").is_null())
    };
    let holds = |one: &Inventory, object: &Object| {
        let id = ObjectId::of(&object.value);
        one.objects.as_ref().is_ok_and(|own| own.iter().any(|other| ObjectId::of(&other.value) == id))
    };
    new.iter().filter(|one| !decrypts(one)).find_map(|next| {
        let before = || old.iter().filter(|one| one.cluster == next.cluster);
        let arrives = |object: &&Object| {
            is_encrypted(object) && before().any(|one| decrypts(one) && holds(one, object))
                && !before().any(|one| one.name == next.name && holds(one, object))
        };
        let object = next.objects.as_ref().ok()?.iter().find(arrives)?;
        Some(
            Diagnostic::error(format!(
                "{} is encrypted. Its new Flux Kustomization {} in {} does not decrypt",
                ObjectId::of(&object.value), next.name, next.cluster
            ))
            .at(next.place.clone())
            .help(format!("give {} the `decryption` of its present Flux Kustomization\nwait until the cluster has applied that\nrun this again", next.name)),
        )
    })
}

/// Adds what the sides apply that no Flux Kustomization in Git names: one may stand in the cluster.
fn unknown(
    input: &Input<'_>,
    whole: &RepoPath,
    sides: &BTreeMap<RepoPath, usize>,
    inventories: &mut Vec<Inventory>,
    gated: &mut BTreeSet<FluxName>,
) {
    if input.is_applied(whole) || sides.keys().any(|side| input.is_applied(side)) {
        return;
    }
    let requests: Vec<Request> = sides.keys().cloned().map(Request::delivered).collect();
    let results = input.renderer.render(input.snapshot, &requests);
    for ((side, position), result) in sides.iter().zip(results) {
        let Some(entry) = standing(input, side, whole) else { continue };
        for cluster in entry.clusters() {
            let name = format!("the Flux Kustomization of {side}");
            if !input.spec.types[*position].is_real_time() {
                gated.insert((cluster.to_owned(), input.spec.flux.namespace.clone(), name.clone()));
            }
            inventories.push(Inventory {
                cluster: cluster.to_owned(),
                namespace: String::new(),
                name,
                path: Some(side.clone()),
                prune: true,
                deletion_policy: String::new(),
                is_kept: false,
                place: Place::file(side.clone()),
                brings_itself: false,
                beyond: Default::default(),
                objects: result.clone().map_err(|error| error.message),
            });
        }
    }
}

/// Lets the proof hold the sides of these entry points to the same objects together.
pub fn hold_together(input: &Input<'_>, plan: &mut Plan, wholes: &BTreeSet<RepoPath>) {
    let all = input.sides();
    for whole in wholes {
        together(plan, &all.standing(&input.model.graph, whole).into_keys().collect::<Vec<_>>());
    }
}

/// Holds sides to their objects together.
fn together(plan: &mut Plan, sides: &[RepoPath]) {
    let is_side = |path: &RepoPath| sides.contains(path);
    let free: Vec<RepoPath> =
        plan.obligations.iter().filter(|one| is_side(&one.before)).flat_map(|one| one.free.clone()).collect();
    plan.obligations.retain(|one| !is_side(&one.before));
    if let [first, rest @ ..] = sides {
        plan.obligations.push(Obligation {
            beside: rest.to_vec(),
            after: sides.to_vec(),
            free: free.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
            ..Obligation::same(first.clone())
        });
    }
}

/// Says how an entry point whose sides are live gets a side for a further type.
pub fn further_side(whole: &RepoPath, name: &str) -> String {
    format!(
        "give its objects a type with a side, by a rule or an annotation\nor go back to give {whole} a side for `{name}`:\n{BACK}\nrun `gitops-windows join --all`\nrun `gitops-windows split --all`\nrun `gitops-windows migrate`, step by step, as at first"
    )
}

/// Refuses every entry point of which an object lies on the side of another type than the rules say,
/// with the way on.
pub fn misplaced(input: &Input<'_>) -> Vec<EntryOutcome> {
    let (all, carriers) = (input.sides(), gate::carriers(input).unwrap_or_default());
    let told = |whole| told(input, &all, whole, &misplaced_in(input, &all, &carriers, whole));
    all.divided(&input.model.graph).filter_map(told).collect()
}

fn told(input: &Input<'_>, all: &Sides, whole: &RepoPath, found: &[Misplaced]) -> Option<EntryOutcome> {
    let first = found.first()?;
    let name = |position: usize| input.spec.types[position].name.value.as_str();
    let side = |one: &Misplaced| {
        format!("{} is {} by the rules and on the side of {}", one.id, name(one.rule), name(one.side))
    };
    let more = found.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let some = found.iter().take(NAMED).map(side).collect::<Vec<_>>().join("; ");
    let sides = all.standing(&input.model.graph, whole);
    let cluster = sides.keys().find_map(|side| standing(input, side, whole));
    let cluster = cluster.map_or("", |entry| entry.cluster.as_str());
    let is_live = sides.keys().any(|side| input.is_applied(side));
    let is_whole =
        input.model.graph.get(whole).is_some_and(|found| umbrella::original(&found.text).is_some());
    let (here, there) = (name(first.side), name(first.rule));
    let newcomer = newcomers(input, all).into_iter().find(|one| one.whole == *whole);
    let lacks_side = |one: &&Misplaced| is_live && !all.has(&input.model.graph, whole, one.rule);
    let help = if let Some(lacking) = found.iter().find(lacks_side) {
        further_side(whole, name(lacking.rule))
    } else if let Some(newcomer) = newcomer {
        newcomer.help()
    } else if !is_live {
        let what = if is_whole { "--all" } else { "app NAME" };
        format!("run `gitops-windows join {what}`, which deletes nothing before the hand-over\nsplit again")
    } else {
        let is_real_time = |position: usize| input.spec.types[position].is_real_time();
        let first = if found.iter().all(|one| is_real_time(one.rule)) && !holds_source(input, cluster) {
            "to move it, wait until the window is closed".to_owned()
        } else {
            let wait = applied(found.iter().any(|one| !is_real_time(one.side)));
            format!("to move it, commit the annotation `{KEEP}`, or Flux deletes it\n{wait}")
        };
        let last = in_window(input, cluster);
        format!(
            "{first}\nlist its manifest below the side for {there} in place of {here}\nrun `gitops-windows verify`{last}\nor annotate it with `gitops-windows/type: {here}` to leave it on its side"
        )
    };
    let problem = Problem::new(format!("{some}{more}"), help).at(Place::file(whole.clone()));
    Some(EntryOutcome::new(cluster, whole).refused(problem))
}
