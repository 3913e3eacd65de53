//! Who waits for a Flux Kustomization that others take over: `dependsOn` of each.

use serde_json::Value;

use crate::delivery::Input;
use crate::plan::edit::Builder;
use crate::plan::migrate::depends::{Depends, Succession};
use crate::plan::migrate::heir::{Dependency, rewrite_dependencies};
use crate::plan::migrate::note::Note;
use crate::plan::migrate::patch::names_gone;
use crate::plan::migrate::place::find;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::problem::{OF_ITS_OWN, Problem};
use crate::repo::FluxKustomization;
use crate::yaml::{EditError, read_documents};

/// Rewrites `dependsOn` of everybody who waits for an old one.
///
/// # Errors
///
/// When somebody would wait for nothing any more, for different ones in clusters that apply one file, or a list can't be
/// edited; with the cluster that this concerns.
pub fn rewrite_waiters(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    succession: &Succession,
    rewritten: &mut Vec<Rewritten>,
) -> Result<Vec<Note>, (String, Problem)> {
    let goes = |waiter: &&FluxKustomization| {
        let heirs = succession.heirs.get(&Succession::name(input, waiter));
        heirs.is_some_and(|(stays, _)| !stays)
    };
    let mut notes = Vec::new();
    for waiter in input.model.all_written().into_iter().filter(|waiter| !goes(waiter)) {
        let Some(Wanted { on: wanted, open, sides }) = wanted(input, succession, waiter)? else { continue };
        let all: Vec<&FluxKustomization> = input.model.twins(waiter).chain([waiter]).collect();
        let stop = |stop: Problem| (waiter.cluster.clone(), stop);
        let (text, document) = find(builder, waiter).map_err(stop)?;
        let edit = |error: EditError| stop(Problem::edit(&waiter.file, &text, &error));
        let edited = rewrite_dependencies(&text, document, &wanted).map_err(edit)?;
        let after = read_documents(&edited).map_err(|error| edit(EditError::new(error.message)))?;
        let after: Vec<Value> =
            after.get(document).map(|document| document.root.to_json()).into_iter().collect();
        builder.put(&waiter.file, &edited);
        let mut clusters: Vec<&str> = all.iter().map(|one| one.cluster.as_str()).collect();
        clusters.sort_unstable();
        clusters.dedup();
        let names: Vec<&str> = wanted.iter().map(|one| one.name.as_str()).collect();
        let why = match (open, sides.is_empty()) {
            (Some(open), _) => {
                Some(format!("in {open} no gate holds it. It can't depend on what waits for a window"))
            }
            (None, false) => Some(format!(
                "it no longer waits for {}: it can't depend on what waits for another window",
                sides.join(", ")
            )),
            (None, true) => None,
        };
        let clusters = clusters.into_iter().map(str::to_owned).collect();
        notes.push(Note::depends(clusters, &waiter.name, &names, why));
        rewritten.extend(all.iter().map(|one| Rewritten::of(&one.cluster, one, after.clone())));
    }
    Ok(notes)
}

/// The dependencies that one gets.
struct Wanted {
    on: Vec<Dependency>,
    /// The cluster in which no gate holds it, where its dependencies are fewer for that in others.
    open: Option<String>,
    /// The successors that it can't wait for.
    sides: Vec<String>,
}

/// Returns the dependencies that one gets, where they differ from those that it has.
fn wanted(
    input: &Input<'_>,
    succession: &Succession,
    waiter: &FluxKustomization,
) -> Result<Option<Wanted>, (String, Problem)> {
    let goes = |namespace: &str, name: &str| {
        let key =
            (waiter.cluster.clone(), input.spec.flux.namespace_of(namespace).to_owned(), name.to_owned());
        succession.heirs.get(&key).is_some_and(|(stays, _)| !stays)
    };
    if let Some((_, gone)) = waiter.waits_for().into_iter().find(|(namespace, name)| goes(namespace, name))
        && let Some(stop) = names_gone(input, waiter, gone)
    {
        return Err((waiter.cluster.clone(), stop));
    }
    let list = waiter.said("dependsOn").as_array().map(Vec::as_slice).unwrap_or_default();
    if list.is_empty() {
        return Ok(None);
    }
    let of = |one: &FluxKustomization| {
        let key = Succession::name(input, one);
        let found = succession.depends_on(input, one, succession.held.get(&key).copied(), false);
        match found.lost.first() {
            Some(lost) => Err((one.cluster.clone(), left_alone(input, one, lost))),
            None => Ok((found.on, found.sides)),
        }
    };
    let changes = |wanted: &[Dependency]| {
        let stays =
            |(index, one): (usize, &Dependency)| one.from == Some(index) && list[index]["name"] == *one.name;
        wanted.len() != list.len() || !wanted.iter().enumerate().all(stays)
    };
    let (own, sides) = of(waiter)?;
    for twin in input.model.twins(waiter) {
        let (other, _) = of(twin)?;
        if other != own {
            // What a gate holds in some clusters only waits in all for what it may wait for where it lands at once.
            if let Some(common) = in_common(input, succession, waiter) {
                let is_open =
                    |one: &&FluxKustomization| !succession.held.contains_key(&Succession::name(input, one));
                let open = input.model.twins(waiter).chain([waiter]).find(is_open);
                let open = open.map(|one| one.cluster.clone());
                return Ok(changes(&common).then_some(Wanted { on: common, open, sides }));
            }
            let cluster = if changes(&own) { &waiter.cluster } else { &twin.cluster };
            return Err((cluster.clone(), apart(input, waiter, twin)));
        }
    }
    Ok(changes(&own).then_some(Wanted { on: own, open: None, sides }))
}

/// Returns what one may wait for in each cluster that reads its file, whether a gate holds it there or not; `None` where
/// that is not the same, or would leave something out.
fn in_common(
    input: &Input<'_>,
    succession: &Succession,
    waiter: &FluxKustomization,
) -> Option<Vec<Dependency>> {
    let common = |one: &FluxKustomization| match succession.depends_on(input, one, None, false) {
        Depends { on, lost, .. } if lost.is_empty() => Some(on),
        _ => None,
    };
    let own = common(waiter)?;
    input.model.twins(waiter).all(|twin| common(twin).as_ref() == Some(&own)).then_some(own)
}

/// Somebody who waits for what will wait for a window. No step of that one would end this.
fn left_alone(input: &Input<'_>, waiter: &FluxKustomization, lost: &str) -> Problem {
    let or_wait = if input.takes_window(waiter) { "\nor give it a window too" } else { "" };
    Problem::lasting(
        format!(
            "Flux Kustomization {} depends on {lost}, which will wait for a window. It would stop at the next commit",
            waiter.name
        ),
        format!("remove {lost} from its `dependsOn` in {}{or_wait}", waiter.file),
        waiter.place("dependsOn"),
    )
}

/// Somebody who would wait for different ones in clusters that apply one file.
fn apart(input: &Input<'_>, waiter: &FluxKustomization, twin: &FluxKustomization) -> Problem {
    let mut both = [&waiter.cluster, &twin.cluster].into_iter();
    let place = waiter.place("dependsOn");
    let reason = |text: &str| {
        format!(
            "Flux Kustomization {} stands in {} for clusters {} and {}. Its dependencies are handed over in {text}",
            waiter.name, waiter.file, waiter.cluster, twin.cluster
        )
    };
    match both.find(|cluster| !input.spec.clusters.contains_key(*cluster)) {
        // No step would ever come to that one.
        Some(other) => Problem::lasting(
            reason(&format!("no step of {other}, which {} does not have", input.spec.path)),
            format!("name {other} under `clusters` in {}\nor {OF_ITS_OWN}", input.spec.path),
            place,
        ),
        None => Problem::new(
            reason("one of them only"),
            format!("let both take this step in one commit\nor {OF_ITS_OWN}"),
        )
        .at(place),
    }
}
