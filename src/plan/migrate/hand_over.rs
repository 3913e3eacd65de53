//! Step 2: each type gets its Flux Kustomization, and the old one goes or keeps only the rest.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::gate::{Gate, WrittenJob};
use crate::delivery::{EntryPoint, SourceId};
use crate::delivery::{Input, build, rebuilt};
use crate::diagnostic::Place;
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::migrate::contents::{is_checked, is_encrypted, is_of_kind};
use crate::plan::migrate::depends::{Depends, Succession, may_wait};
use crate::plan::migrate::heir::{Dependency, Heir};
use crate::plan::migrate::lists::Lists;
use crate::plan::migrate::moving::{Move, heir_name};
use crate::plan::migrate::note::Note;
use crate::plan::migrate::patch::follow;
use crate::plan::migrate::place::{find, succeed};
use crate::plan::migrate::reader;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::migrate::spelling;
use crate::plan::migrate::successor::{name_of, standing};
use crate::plan::problem::Problem;
use crate::render::{Object, Request};
use crate::repo::FluxKustomization;
use crate::yaml::{EditError, read_documents};

/// Plans the hand-over of one entry point of one cluster: what becomes of its Flux Kustomizations, and of whom they need.
/// What lists their files is told to `lists`, which the caller writes.
///
/// # Errors
///
/// When a Flux Kustomization can't be copied or placed as it must be.
pub fn hand_over(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    lists: &mut Lists,
    one: &Move<'_>,
    succession: &Succession,
    rewritten: &mut Vec<Rewritten>,
) -> Result<Vec<Note>, Problem> {
    let stays = one.rest.as_ref().and_then(|rest| rest.text.as_ref());
    if stays.is_some()
        && let Some(stop) = reader::stop(input, &one.whole)
    {
        return Err(stop);
    }
    let mut notes = Vec::new();
    for old in &one.old {
        still_held(input, one, old)?;
        held_at_source(input, one, old)?;
        let heirs: Vec<String> =
            one.sides.keys().map(|position| name_of(input, one, old, *position)).collect();
        let met = follow(input, old, &heirs)?;
        let contents = contents(input, one, old)?;
        let (text, document) = find(builder, old)?;
        let edit = |error: EditError| Problem::edit(&old.file, &text, &error);
        let (mut files, mut values, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (position, side)) in one.sides.iter().enumerate() {
            if standing(input, one, old, *position).is_some() {
                continue;
            }
            let name = heir_name(input, &old.name, *position);
            free(input, one, old, &name)?;
            let Depends { on: mut depends_on, lost, .. } =
                succession.depends_on(input, old, Some(*position), true);
            notes.extend(lost.iter().map(|lost| Note::Change {
                clusters: vec![one.cluster.clone()],
                subject: format!("Flux Kustomization {name}"),
                fact: format!("`dependsOn` without {lost}, which {} has", old.name),
                why: Some(format!("{lost} waits for a window, {name} does not")),
                is_usual: false,
            }));
            for earlier in one.sides.keys().filter(|earlier| *earlier < position) {
                if may_wait(input, &one.cluster, Some(*position), *earlier) {
                    depends_on.push(Dependency { from: None, name: name_of(input, one, old, *earlier) });
                }
            }
            let heir = Heir {
                path: spelling::path_of(input, one, old, *position, side)?,
                components: components(old, &one.whole, side),
                decryption: contents.iter().all(|objects| !objects.iter().any(is_encrypted))
                    || contents[index].iter().any(is_encrypted),
                health_checks: kept(old.said("healthChecks"), &contents, index, &is_checked),
                health_check_exprs: kept(old.said("healthCheckExprs"), &contents, index, &is_of_kind),
                depends_on,
                name,
            };
            let copy = heir.write(&text, document).map_err(edit)?;
            values.push(read_documents(&copy).map_err(|error| edit(EditError::new(error.message)))?);
            files.push((file_of(input, old, *position)?, copy));
            positions.push(*position);
        }
        let mut after: Vec<Value> = values.iter().flatten().map(|document| document.root.to_json()).collect();
        let may_wait =
            |of: usize, on: &Value| succession.may_append(input, old, positions.get(of).copied(), on);
        met.leave(old, &after, &may_wait)?;
        succeed(input, builder, lists, old, &files, stays.is_some())?;
        after.extend(stays.is_some().then(|| (*old.value).clone()));
        rewritten.push(Rewritten::of(&one.cluster, old, after));
    }
    Ok(notes)
}

/// Leaves in the folder what stays with the old ones.
pub fn leave_rest(input: &Input<'_>, builder: &mut Builder<'_>, one: &Move<'_>) {
    let stays = one.rest.as_ref().and_then(|rest| rest.text.as_ref());
    if let (Some(text), Some(kustomization)) = (stays, input.model.graph.get(&one.whole)) {
        builder.put(&kustomization.file, text);
    }
}

/// The successors of what reads a held source would all read it, and find their folders there only after the opening.
fn held_at_source(input: &Input<'_>, one: &Move<'_>, old: &FluxKustomization) -> Result<(), Problem> {
    let own = input.model.delivered.named(&one.cluster);
    let id = SourceId::of(&old.effective["spec"], &old.namespace);
    let Some(live) = own.filter(|own| own.is_held(&id)).map(|own| own.live_of(&id)) else { return Ok(()) };
    Err(Problem::lasting(
        format!("Flux Kustomization {} reads held source {}, and so would its successors", old.name, id.name),
        format!(
            "while the window is open, write `name: {}` into its `sourceRef`, and commit that\nwait until the cluster has applied it: from then on its changes land at once\nrun this again, then `gitops-windows migrate`, with --while-open where a step needs an open window",
            live.name
        ),
        old.place("sourceRef"),
    ))
}

/// A gate that people wrote goes on naming the old one, and nothing would hold back its successors.
fn still_held(input: &Input<'_>, one: &Move<'_>, old: &FluxKustomization) -> Result<(), Problem> {
    let gated = one.sides.keys().filter(|position| !input.spec.types[**position].is_real_time());
    let wanted: Vec<String> = gated.map(|position| name_of(input, one, old, *position)).collect();
    let (own, jobs) = (input.namespace(old), input.model.closings.of(&one.cluster));
    let names = |job: &WrittenJob, name: &str| {
        let target = GateTarget::new(input, own, name);
        let mut built = jobs.iter().filter(|built| built.name == job.name).peekable();
        // What nothing in Git builds is what its file says.
        let of_file = || job.targets.contains(&(target.namespace.clone(), target.name.clone()));
        if built.peek().is_some() { built.any(|built| built.turns(&target)) } else { of_file() }
    };
    // What nothing in Git builds may be any cluster's.
    let reaches = |gate: &&Gate| {
        let builders = input.model.entries_building(&gate.base);
        let clusters: BTreeSet<&str> = builders.flat_map(EntryPoint::clusters).collect();
        clusters.is_empty() || clusters.contains(one.cluster.as_str())
    };
    // The jobs that the tool wrote follow by themselves.
    let is_theirs =
        |job: &WrittenJob| input.snapshot.file(&job.file).map(ownership) == Some(Ownership::Theirs);
    let gates = input.model.gates.iter().filter(|gate| names(&gate.close, &old.name));
    for gate in gates.filter(reaches) {
        for job in [&gate.open, &gate.close].into_iter().filter(|job| is_theirs(job)) {
            let missing = wanted.iter().find(|name| !names(job, name));
            if let Some(name) = missing {
                return Err(Problem::new(
                    format!(
                        "CronJob {} in {} names {} but not {name}. Nothing would suspend {name}",
                        job.name, job.file, old.name
                    ),
                    format!(
                        "name {name} there beside {}, and in the job's Role if that lists names\nwait until the clusters have applied that\ngo on",
                        old.name
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Renders what each side applies, as the old Flux Kustomization would build it.
fn contents(input: &Input<'_>, one: &Move<'_>, old: &FluxKustomization) -> Result<Vec<Vec<Object>>, Problem> {
    let own = build(old);
    let requests: Vec<Request> = one
        .sides
        .values()
        .map(|side| Request::flux(side.clone(), &rebuilt(&own, &one.whole, side)))
        .collect();
    let results = input.renderer.render(input.snapshot, &requests);
    results
        .into_iter()
        .zip(one.sides.values())
        .map(|(result, side)| {
            result.map_err(|error| {
                Problem::new(format!("{side} does not build: {error}"), "mend it, then go on")
            })
        })
        .collect()
}

/// Returns the items of a list that belong to a side; what belongs to none goes to the last side,
/// which nothing waits for.
fn kept(
    list: &Value,
    contents: &[Vec<Object>],
    index: usize,
    belongs: &dyn Fn(&Value, &[Object]) -> bool,
) -> Vec<usize> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_kept = |item: &Value| {
        belongs(item, &contents[index])
            || (index + 1 == contents.len() && !contents.iter().any(|objects| belongs(item, objects)))
    };
    (0..items.len()).filter(|position| is_kept(&items[*position])).collect()
}

/// Spells the components for a deeper folder: Flux finds them from the folder that it builds.
fn components(old: &FluxKustomization, whole: &RepoPath, side: &RepoPath) -> Vec<String> {
    let items = old.spec("components").as_array().map(Vec::as_slice).unwrap_or_default();
    let respelt =
        |text: &str| whole.join(text).map_or_else(|_| text.to_owned(), |path| path.relative_to(side));
    items.iter().map(|item| respelt(item.as_str().unwrap_or_default())).collect()
}

/// Names the file of a successor after that of the old one.
fn file_of(input: &Input<'_>, old: &FluxKustomization, position: usize) -> Result<RepoPath, Problem> {
    let name = old.file.name().unwrap_or("kustomization.yaml");
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "yaml"));
    let of = input.spec.types[position].name.value.as_str();
    let file = input.spec.layout.kustomization_of(stem, of);
    let folder = old.file.parent().unwrap_or_else(RepoPath::top);
    folder.join(&format!("{file}.{extension}")).map_err(|error| {
        Problem::lasting(
            error.to_string(),
            "choose another `kustomization` under `layout`",
            Place::file(old.file.clone()),
        )
    })
}

/// Makes sure that a name is one and is free.
fn free(input: &Input<'_>, one: &Move<'_>, old: &FluxKustomization, name: &str) -> Result<(), Problem> {
    if !crate::plan::gate::is_object_name(name) {
        return Err(Problem::lasting(
            format!("`{name}` is no name that a Flux Kustomization can have"),
            "choose another `kustomization` under `layout`",
            Place::file(old.file.clone()),
        ));
    }
    match input.flux_called(&one.cluster, input.namespace(old), name) {
        Some(other) => Err(Problem::lasting(
            format!("Flux Kustomization {name} stands in {} already and applies something else", other.file),
            "rename it in three steps of its own, or choose another `kustomization` under `layout`",
            Place::file(other.file.clone()),
        )),
        None => Ok(()),
    }
}
