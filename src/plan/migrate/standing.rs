//! Where each entry point of each cluster stands on its way, read from Git alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::plan::entry::EntrySplit;
use crate::plan::migrate::effective::suspended_above;
use crate::plan::migrate::identity::unclear;
use crate::plan::prepare::{is_prepared, is_remembering};
use crate::plan::resources::{Item, rewrite};
use crate::plan::stop::Stop;
use crate::plan::unapplied::{Unapplied, unapplied};
use crate::plan::{Builder, Input, umbrella};
use crate::render::Request;
use crate::repo::flux::artifact_path;
use crate::repo::{EntryPoint, FluxKustomization, Model, RepoPath};
use crate::spec::expand;

/// How far one entry point of one cluster has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The sides are there, and the old Flux Kustomization would delete what it loses.
    Unprepared,
    /// Step 1 is done: the old one goes on applying all of it, and would delete nothing.
    Restructured,
    /// Step 2 is done: each type has its Flux Kustomization, and none deletes anything yet.
    HandedOver,
    /// Step 3 is done.
    Finished,
    /// No Flux Kustomization in Git applies it, so only people can move it.
    NotInGit,
    /// Something is in the way.
    Stuck {
        /// What, in one sentence.
        reason: String,
        /// What to do about it.
        remedy: String,
    },
}

impl Stage {
    /// Gives the word used in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Stage::Unprepared => "unprepared",
            Stage::Restructured => "restructured",
            Stage::HandedOver => "handed over",
            Stage::Finished => "finished",
            Stage::NotInGit => "not in Git",
            Stage::Stuck { .. } => "stuck",
        }
    }
}

/// Where one entry point of one cluster stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The cluster.
    pub cluster: String,
    /// The entry point that was divided.
    pub entry: RepoPath,
    /// How far it has come.
    pub stage: Stage,
    /// The Flux Kustomizations that apply the entry point itself.
    pub old: Vec<String>,
    /// The Flux Kustomizations that apply its sides, by type.
    pub new: Vec<(String, String)>,
}

impl Standing {
    /// Gives the standing as JSON.
    pub fn to_json(&self) -> Value {
        let new: Vec<Value> =
            self.new.iter().map(|(of, name)| json!({ "type": of, "kustomization": name })).collect();
        let mut value = json!({
            "cluster": self.cluster,
            "path": self.entry.to_string(),
            "stage": self.stage.as_str(),
            "old": self.old,
            "new": new,
        });
        if let Stage::Stuck { reason, remedy } = &self.stage {
            value["reason"] = json!(reason);
            value["remedy"] = json!(remedy);
        }
        value
    }
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let old = self.old.join(", ");
        let new: Vec<&str> = self.new.iter().map(|(_, name)| name.as_str()).collect();
        let new = new.join(", ");
        write!(f, "{} ({}): {}, ", self.entry, self.cluster, self.stage.as_str())?;
        match &self.stage {
            Stage::Unprepared => write!(f, "{old} would delete what it loses; next: keep it from that"),
            Stage::Restructured => write!(f, "{old} still applies all of it; next: hand over"),
            Stage::HandedOver if old.is_empty() => {
                write!(f, "{new} apply it and delete nothing yet; next: finish")
            }
            Stage::HandedOver => {
                write!(f, "{new} apply the divided apps, {old} the others; next: finish")
            }
            Stage::Finished if old.is_empty() => write!(f, "{new} apply it"),
            Stage::Finished => write!(f, "{new} apply the divided apps, {old} the others"),
            Stage::NotInGit => f.write_str("no Flux Kustomization in Git applies it"),
            Stage::Stuck { reason, .. } => f.write_str(reason),
        }
    }
}

/// What stays with the old entry point once the divided apps have left it.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Whether it still lists something that its sides hold.
    pub overlaps: bool,
    /// The text of its kustomization without that; `None` where nothing would be left in it.
    pub text: Option<String>,
}

/// A cluster and one of its entry points.
pub type Key = (String, RepoPath);

/// One entry point of one cluster that is under way.
#[derive(Clone)]
pub struct Move<'a> {
    /// The cluster.
    pub cluster: String,
    /// The entry point that was divided.
    pub whole: RepoPath,
    /// Its sides by the position of their type.
    pub sides: BTreeMap<usize, RepoPath>,
    /// The Flux Kustomizations of the cluster that apply it.
    pub old: Vec<&'a FluxKustomization>,
    /// Those that apply its sides, by the position of the type.
    pub new: BTreeMap<usize, Vec<&'a FluxKustomization>>,
    /// Those that name its folder or a side's, and build it from something else than this repository.
    pub foreign: Vec<&'a FluxKustomization>,
    /// What stays with the old ones.
    pub rest: Option<Rest>,
    /// How far it has come.
    pub stage: Stage,
}

impl<'a> Move<'a> {
    /// Gives what people are told.
    pub fn standing(&self, input: &Input<'_>) -> Standing {
        let name = |position: &usize| input.spec.types[*position].name.value.clone();
        Standing {
            cluster: self.cluster.clone(),
            entry: self.whole.clone(),
            stage: self.stage.clone(),
            old: self.old.iter().map(|one| one.name.clone()).collect(),
            new: self
                .new
                .iter()
                .flat_map(|(position, several)| several.iter().map(|one| (name(position), one.name.clone())))
                .collect(),
        }
    }

    /// Gives what it is known by.
    pub fn key(&self) -> Key {
        (self.cluster.clone(), self.whole.clone())
    }

    /// Tells whether it has a step to take.
    pub fn moves(&self) -> bool {
        self.stage != Stage::Finished
    }

    /// Gives every Flux Kustomization of it.
    pub fn all(&self) -> impl Iterator<Item = &'a FluxKustomization> + '_ {
        self.old.iter().chain(self.new.values().flatten()).copied()
    }
}

/// Finds everything that was divided, in the clusters of the spec.
pub fn moves<'a>(input: &Input<'a>) -> Vec<Move<'a>> {
    let model = input.model;
    let mut wholes: BTreeMap<RepoPath, BTreeMap<usize, RepoPath>> = BTreeMap::new();
    for (side, (whole, position)) in input.sides() {
        if model.graph.has(&side) {
            wholes.entry(whole).or_default().insert(position, side);
        }
    }
    // What another source has is no entry point of this repository, and its sides may stand here all the same.
    let foreign = foreign(model);
    for (other, whole) in &foreign {
        let cluster = model.cluster_of(other);
        for (position, change_type) in input.spec.types.iter().enumerate() {
            let side = input.side(whole, &cluster, &change_type.name.value);
            if let Some(side) = side.filter(|side| model.graph.has(side)) {
                wholes.entry(whole.clone()).or_default().insert(position, side);
            }
        }
    }
    let unapplied = unapplied(input);
    for one in &unapplied {
        wholes.entry(one.whole.clone()).or_insert_with(|| one.sides.clone());
    }
    let mut found = Vec::new();
    for (whole, sides) in wholes {
        let lost = unapplied.iter().find(|one| one.whole == whole);
        let entry = model.entry_points.iter().find(|entry| entry.path == whole);
        let applies = |path: &RepoPath| {
            model.flux.iter().filter(move |one| one.path.as_ref() == Some(path)).collect::<Vec<_>>()
        };
        let (old, new) = (
            applies(&whole),
            sides.iter().map(|(position, side)| (*position, applies(side))).collect::<BTreeMap<_, _>>(),
        );
        let is_meant = |path: &RepoPath| *path == whole || sides.values().any(|side| side == path);
        let others: Vec<&FluxKustomization> =
            foreign.iter().filter(|(_, path)| is_meant(path)).map(|(other, _)| *other).collect();
        // A part of an app may be called like a side; only what Flux applies is an entry point.
        if entry.is_none() && lost.is_none() && others.is_empty() && new.values().all(Vec::is_empty) {
            continue;
        }
        let rest = entry.filter(|_| !old.is_empty()).map(|entry| rest(input, entry));
        let mut clusters: Vec<String> =
            entry.into_iter().flat_map(EntryPoint::clusters).map(str::to_owned).collect();
        let all = old.iter().chain(new.values().flatten()).chain(&others);
        clusters.extend(all.map(|one| model.cluster_of(one)));
        clusters.extend(lost.map(|one| one.cluster.clone()));
        clusters.sort();
        clusters.dedup();
        for cluster in clusters.into_iter().filter(|cluster| input.spec.clusters.contains_key(cluster)) {
            let mine = |one: &&FluxKustomization| model.cluster_of(one) == cluster;
            let mut one = Move {
                whole: whole.clone(),
                sides: sides.clone(),
                old: old.iter().copied().filter(mine).collect(),
                new: new
                    .iter()
                    .map(|(position, several)| (*position, several.iter().copied().filter(mine).collect()))
                    .collect(),
                foreign: others.iter().copied().filter(mine).collect(),
                rest: None,
                stage: Stage::NotInGit,
                cluster: cluster.clone(),
            };
            one.stage = match &rest {
                Some(Err(reason)) if !one.old.is_empty() => Stage::Stuck {
                    reason: reason.clone(),
                    remedy: "mend that, then run `gitops-windows migrate` again".to_owned(),
                },
                Some(Ok(rest)) => {
                    one.rest = Some(rest.clone());
                    stage(input, &one, entry)
                }
                _ => stage(input, &one, entry),
            };
            if let (Stage::NotInGit, Some(lost)) = (&one.stage, lost) {
                one.stage = removed(lost);
            }
            found.push(one);
        }
    }
    found.sort_by(|a, b| (&a.cluster, &a.whole).cmp(&(&b.cluster, &b.whole)));
    found
}

fn stage(input: &Input<'_>, one: &Move<'_>, entry: Option<&EntryPoint>) -> Stage {
    if let Some(stuck) = obstacle(input, one) {
        return stuck;
    }
    let empty = one.new.iter().filter(|(_, several)| several.is_empty());
    let missing: Vec<usize> = empty.map(|(position, _)| *position).collect();
    let overlaps = one.rest.as_ref().is_some_and(|rest| rest.overlaps);
    if !one.old.is_empty() && overlaps {
        return if one.old.iter().all(|old| is_prepared(old)) {
            Stage::Restructured
        } else {
            Stage::Unprepared
        };
    }
    if missing.len() == one.new.len() {
        if let Some(above) = entry.and_then(|entry| entry.through.as_ref()) {
            return Stage::Stuck {
                reason: format!(
                    "it has no Flux Kustomization of its own: the one of {above} applies all types together"
                ),
                remedy: format!(
                    "write a Flux Kustomization for {} with `prune: false`, take it out of what {above} lists, and let that reach the cluster",
                    one.whole
                ),
            };
        }
        if one.old.is_empty() {
            return one.foreign.first().map_or(Stage::NotInGit, |other| elsewhere(other));
        }
    }
    if !missing.is_empty() {
        return incomplete(input, one, &missing);
    }
    if one.all().any(is_remembering) { Stage::HandedOver } else { Stage::Finished }
}

/// What is said where some sides have no Flux Kustomization and others have.
fn incomplete(input: &Input<'_>, one: &Move<'_>, missing: &[usize]) -> Stage {
    let of = |position: usize| input.spec.types[position].name.value.as_str();
    let sibling = one.new.iter().find_map(|(position, several)| Some((*position, several.first()?)));
    let wanted = missing.iter().map(|position| {
        let old = sibling.and_then(|(other, found)| predecessor(input, &found.name, other));
        let name = heir_name(input, old.as_deref().or(one.whole.name()).unwrap_or("apps"), *position);
        format!("{name} with `path: ./{}` and `prune: false`", one.sides[position])
    });
    let wanted = wanted.collect::<Vec<_>>().join(" and ");
    let like = sibling.map(|(_, found)| format!(", otherwise like {} in {}", found.name, found.file));
    Stage::Stuck {
        reason: format!(
            "nothing applies its side for {}",
            missing.iter().map(|position| of(*position)).collect::<Vec<_>>().join(" and ")
        ),
        remedy: format!(
            "take the commit back that removed its Flux Kustomization, or write {wanted}{}",
            like.unwrap_or_default()
        ),
    }
}

/// Gives the Flux Kustomizations that build from something else than this repository, with the paths that
/// they name there.
fn foreign(model: &Model) -> Vec<(&FluxKustomization, RepoPath)> {
    let others = model.flux.iter().filter(|one| one.path.is_none());
    others.filter_map(|one| Some((one, artifact_path(one.spec("path").as_str()?)?))).collect()
}

/// What is said where the Flux Kustomizations of an entry point have left Git.
fn removed(lost: &Unapplied) -> Stage {
    let sides = lost.sides.values().map(ToString::to_string).collect::<Vec<_>>();
    Stage::Stuck {
        reason: format!(
            "no Flux Kustomization in Git applies it or its sides, though others of cluster {} are in Git: what it applied is deleted, or left to nobody",
            lost.cluster
        ),
        remedy: format!(
            "take back the commit that removed or broke its Flux Kustomization; where one applies it that is not in Git, commit what `flux export kustomization` prints; where its apps are to go, remove {} too",
            sides.join(" and ")
        ),
    }
}

/// What a Flux Kustomization that names the folder in another source is in the way of.
fn elsewhere(found: &FluxKustomization) -> Stage {
    Stage::Stuck {
        reason: format!(
            "Flux Kustomization {} names its folder, and builds from {} {}, which is not this repository",
            found.name,
            found.source_kind(),
            found.source_name()
        ),
        remedy: "let it build from this repository, or divide it where what it builds from is made"
            .to_owned(),
    }
}

/// A Flux Kustomization of a side that is not there any more.
fn lost(input: &Input<'_>, one: &Move<'_>) -> Option<Stage> {
    let names = input.spec.types.iter().map(|change_type| change_type.name.value.as_str());
    let gone: Vec<RepoPath> = names
        .filter_map(|name| input.side(&one.whole, &one.cluster, name))
        .filter(|side| !input.snapshot.is_dir(side))
        .collect();
    let found = input
        .applying(|path| gone.contains(path))
        .find(|found| input.model.cluster_of(found) == one.cluster)?;
    Some(Stage::Stuck {
        reason: format!(
            "Flux Kustomization {} names {}, which is not there, so what it applied is applied by nothing",
            found.name,
            found.path.as_ref().map(ToString::to_string).unwrap_or_default()
        ),
        remedy: "take back the commit that removed the folder; where nothing of that type is left, remove the Flux Kustomization too".to_owned(),
    })
}

/// What is said where a cluster would get two Flux Kustomizations of one name.
pub fn twin(input: &Input<'_>, one: &Move<'_>) -> Option<Stop> {
    let (found, other) = one.all().find_map(|found| {
        let other = input.model.flux.iter().find(|other| {
            (&other.name, &other.namespace) == (&found.name, &found.namespace)
                && (&other.file, other.document) != (&found.file, found.document)
                && input.model.cluster_of(other) == one.cluster
        });
        Some((found, other?))
    })?;
    Some(Stop::lasting(
        format!("Flux Kustomization {} stands twice, in {} and in {}", found.name, found.file, other.file),
        "a cluster keeps only one of them: remove the other from Git",
        other.place("path"),
    ))
}

/// States that no step leads out of.
fn obstacle(input: &Input<'_>, one: &Move<'_>) -> Option<Stage> {
    if let Some(stuck) = lost(input, one) {
        return Some(stuck);
    }
    if let Some(Stop { reason, remedy, .. }) = twin(input, one).or_else(|| unclear(input, one)) {
        return Some(Stage::Stuck { reason, remedy });
    }
    for found in one.all() {
        if *found.spec("suspend") == Value::Bool(true) {
            return Some(Stage::Stuck {
                reason: format!(
                    "Flux Kustomization {} has `suspend: true` in Git, so nothing of it reaches the cluster",
                    found.name
                ),
                remedy: "take that line out, let it reach the cluster, then go on".to_owned(),
            });
        }
    }
    for found in one.all() {
        if let Some(above) = suspended_above(input, found) {
            return Some(Stage::Stuck {
                reason: format!(
                    "Flux Kustomization {}, which applies {}, has `suspend: true` in Git: the steps would reach the cluster all at once",
                    above.name, found.name
                ),
                remedy: format!("resume {}, let it reach the cluster, then go on", above.name),
            });
        }
    }
    for (position, several) in &one.new {
        // Several old ones each have a successor; one old one has one.
        if several.len() > one.old.len().max(1) && !are_heirs(input, one, *position) {
            let names: Vec<&str> = several.iter().map(|one| one.name.as_str()).collect();
            return Some(Stage::Stuck {
                reason: format!("{} all apply {}", names.join(" and "), one.sides[position]),
                remedy: "give all but one `prune: false` and `deletionPolicy: Orphan`, let that reach the cluster, then remove them".to_owned(),
            });
        }
    }
    None
}

/// Tells whether several Flux Kustomizations of a side come from several old ones: they then build
/// different objects of the same folder, as with `targetNamespace`.
fn are_heirs(input: &Input<'_>, one: &Move<'_>, position: usize) -> bool {
    let builds: Vec<_> = one.new[&position]
        .iter()
        .map(|found| crate::plan::build(input.model, &one.sides[&position], &found.value["spec"]))
        .collect();
    (1..builds.len()).all(|index| !builds[..index].contains(&builds[index]))
}

/// Gives the name of the Flux Kustomization that takes over a type from an old one.
pub fn heir_name(input: &Input<'_>, old: &str, position: usize) -> String {
    let of = input.spec.types[position].name.value.as_str();
    expand(&input.spec.layout.kustomization, &[("name", old), ("type", of)])
}

/// Gives the name of the old Flux Kustomization from which one took over a type; `None` where it has a
/// name of its own.
fn predecessor(input: &Input<'_>, heir: &str, position: usize) -> Option<String> {
    const NAME: &str = "\0";
    let made = heir_name(input, NAME, position);
    let (before, after) = made.split_once(NAME)?;
    Some(heir.strip_prefix(before)?.strip_suffix(after)?.to_owned())
}

/// Works out what stays with the old entry point.
fn rest(input: &Input<'_>, entry: &EntryPoint) -> Result<Rest, String> {
    let Some(kustomization) = input.model.graph.get(&entry.path) else {
        let broken = input.model.graph.broken(&entry.path).map(|broken| broken.message.clone());
        return Err(broken.unwrap_or_else(|| format!("{} has no kustomization.yaml", entry.path)));
    };
    if umbrella::original(&kustomization.text).is_some() {
        return Ok(Rest { overlaps: true, text: None });
    }
    let split = EntrySplit::new(input, entry, kustomization);
    let builder = Builder::new(input.snapshot);
    let (children, _) = crate::plan::app::children(input.model, entry, kustomization);
    let mut items = vec![Item::Keep; kustomization.resources().len()];
    for child in &children {
        if split.already(&builder, child).map_err(|refusal| refusal.reason)?.is_some() {
            items[child.index] = Item::Remove;
        }
    }
    if !items.contains(&Item::Remove) {
        return Ok(Rest { overlaps: false, text: Some(kustomization.text.to_string()) });
    }
    if !items.contains(&Item::Keep) {
        return Ok(Rest { overlaps: true, text: None });
    }
    let text = rewrite(kustomization, &items).map_err(|error| error.to_string())?;
    let mut trial = builder;
    trial.put(&kustomization.file, &text);
    // An app that builds to nothing needs nobody to apply it.
    let empty = match input.renderer.render(trial.now(), &[Request::folder(entry.path.clone())]).pop() {
        Some(Ok(objects)) => objects.is_empty(),
        Some(Err(error)) => {
            return Err(format!("{} would not build without its divided apps: {error}", entry.path));
        }
        None => false,
    };
    Ok(Rest { overlaps: true, text: (!empty).then_some(text) })
}
