//! Who else names a Flux Kustomization that others take over: Alerts, Receivers, and what only
//! people can change.
//!
//! notification-controller compares the names of event sources with the object of an event
//! (`EventHandler.eventMatchesAlertSource`), and a Receiver annotates the resources that it names. So
//! once `apps` has become `apps-rt` and `apps-rw`, an Alert for `apps` would say nothing any more.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::migrate::depends::{Name, Succession};
use crate::plan::migrate::note::Note;
use crate::plan::problem::Problem;
use crate::repo::Entry;
use crate::repo::flux::{GROUP, is_yaml, names_kustomization, watches};
use crate::repo::listing::is_generated;
use crate::repo::manifest::{Manifest, ObjectId, manifests, objects};
use crate::yaml::{EditError, Editor, Key, flow_text, quote};

/// Lets every Alert and Receiver name the successors, and says who else names an old one.
///
/// # Errors
///
/// When a list can't be edited in place, with the cluster that this concerns.
pub fn rewrite(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    succession: &Succession,
) -> Result<Vec<Note>, (String, Problem)> {
    let mut notes = Vec::new();
    if succession.heirs.is_empty() {
        return Ok(notes);
    }
    let files: Vec<RepoPath> = builder.now().entries().map(|(path, _)| path.clone()).collect();
    let all = Names::of(succession);
    let beside = OnceCell::new();
    for file in files.iter().filter(|file| is_yaml(file)) {
        let Some(Entry::File(found)) = builder.now().entry(file) else { continue };
        if ownership(found) != Ownership::Theirs {
            continue;
        }
        // Most files name none, and need not be read.
        let mentioned = all.in_text(found.text().unwrap_or_default());
        if mentioned.is_empty() {
            continue;
        }
        let clusters = clusters(input, file, &beside);
        let names: Vec<&Name> =
            mentioned.into_iter().filter(|(cluster, _, _)| clusters.contains(cluster)).collect();
        if names.is_empty() {
            continue;
        }
        for manifest in manifests(found).unwrap_or_default() {
            let edited = match watches(&manifest.value) {
                Some(field) => {
                    edit(input, builder, file, &manifest, field, &clusters, succession).map_err(|stop| {
                        let first = clusters.iter().find(|cluster| all.clusters.contains(cluster.as_str()));
                        (first.cloned().unwrap_or_default(), stop)
                    })?
                }
                None => told(file, &manifest, &names, succession).map(Note::Left),
            };
            notes.extend(edited);
        }
    }
    Ok(notes)
}

/// The clusters of which a Flux Kustomization stands in a folder.
type Beside = BTreeMap<Option<RepoPath>, BTreeSet<String>>;

/// Returns the clusters that get what a file holds; where nothing in Git applies it, those whose Flux
/// Kustomizations stand beside it.
fn clusters(input: &Input<'_>, file: &RepoPath, beside: &OnceCell<Beside>) -> BTreeSet<String> {
    let model = input.model;
    let mut builders = model.graph.builders(file);
    builders.extend(file.ancestors().filter(|above| is_generated(&model.graph, above)));
    let applied = model.flux_at_any(&builders);
    let found: BTreeSet<String> = applied.iter().map(|one| one.cluster.clone()).collect();
    if !found.is_empty() {
        return found;
    }
    let beside = beside.get_or_init(|| {
        let mut all = Beside::new();
        for one in model.all_flux() {
            all.entry(one.file.parent()).or_default().insert(one.cluster.clone());
        }
        all
    });
    beside.get(&file.parent()).cloned().unwrap_or_default()
}

/// The names of old Flux Kustomizations, to be found in texts: in a fleet there are as many of them as files.
struct Names<'s> {
    /// Those that a text holds as a word, as all that Kubernetes takes.
    words: HashMap<&'s str, Vec<&'s Name>>,
    /// The others, such as those with a variable.
    others: Vec<&'s Name>,
    /// Their clusters.
    clusters: BTreeSet<&'s str>,
}

impl<'s> Names<'s> {
    fn of(succession: &'s Succession) -> Names<'s> {
        let mut names = Names { words: HashMap::new(), others: Vec::new(), clusters: BTreeSet::new() };
        for one in succession.heirs.keys() {
            names.clusters.insert(&one.0);
            match one.2.chars().all(is_of_word) {
                true => names.words.entry(&one.2).or_default().push(one),
                false => names.others.push(one),
            }
        }
        names
    }

    /// Returns those that a text holds, in their order.
    fn in_text(&self, text: &str) -> BTreeSet<&'s Name> {
        let words = text.split(|c| !is_of_word(c)).filter_map(|word| self.words.get(word)).flatten();
        let others = self.others.iter().filter(|(_, _, name)| text.contains(name.as_str()));
        words.chain(others).copied().collect()
    }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}

/// Edits the list of one document; gives what became of it.
fn edit(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    file: &RepoPath,
    manifest: &Manifest,
    field: &str,
    clusters: &BTreeSet<String>,
    succession: &Succession,
) -> Result<Option<Note>, Problem> {
    let list = manifest.value["spec"][field].as_array().map(Vec::as_slice).unwrap_or_default();
    let own = manifest.value["metadata"]["namespace"].as_str().unwrap_or_default();
    let path = [Key::from("spec"), Key::from(field)];
    let text = builder.now().file(file).and_then(|file| file.text()).unwrap_or_default().to_owned();
    let stop = |error: EditError| {
        let stop = Problem::edit(file, &text, &error);
        Problem {
            reason: format!("{} names what goes, and {}", ObjectId::of(&manifest.value), stop.reason),
            ..stop
        }
    };
    let mut editor = Editor::new(&text, manifest.index).map_err(stop)?.resolving();
    let (mut removed, mut named) = (Vec::new(), BTreeSet::new());
    for (index, item) in list.iter().enumerate() {
        let Some(name) = names_kustomization(item) else { continue };
        let namespace = item["namespace"].as_str().unwrap_or(own);
        let Some(wanted) = wanted(input, clusters, succession, namespace, name) else { continue };
        let is_listed = |wanted: &String| {
            list.iter().any(|other| {
                names_kustomization(other) == Some(wanted.as_str())
                    && other["namespace"].as_str().unwrap_or(own) == namespace
            })
        };
        let mut missing = wanted.iter().filter(|wanted| !is_listed(wanted));
        if !wanted.contains(name) {
            match missing.next() {
                Some(first) => {
                    let name = [&path[..], &[Key::from(index), Key::from("name")]].concat();
                    editor.set_scalar(&name, first.as_str()).map_err(stop)?;
                }
                None => removed.push(index),
            }
        }
        for name in missing {
            editor.append_raw_item(&path, &block(item, name)).map_err(stop)?;
        }
        named.extend(wanted);
    }
    if named.is_empty() {
        return Ok(None);
    }
    if !removed.is_empty() {
        editor.remove_items(&path, &removed).map_err(stop)?;
    }
    let edited = editor.into_text();
    if edited == text {
        return Ok(None);
    }
    builder.put(file, &edited);
    let names: Vec<String> = named.into_iter().collect();
    Ok(Some(Note::Change {
        clusters: clusters.iter().cloned().collect(),
        subject: format!("{} in {file}", ObjectId::of(&manifest.value)),
        fact: format!("names {}", names.join(", ")),
        why: None,
        is_usual: false,
    }))
}

/// Returns the names that stand for one from now on, in all clusters that read it; `None` where none of
/// them hands it over now.
fn wanted(
    input: &Input<'_>,
    clusters: &BTreeSet<String>,
    succession: &Succession,
    namespace: &str,
    name: &str,
) -> Option<BTreeSet<String>> {
    let is_it = |of: &str, other: &str| other == name && (namespace.is_empty() || of == namespace);
    let (mut found, mut hands_over) = (BTreeSet::new(), false);
    for cluster in clusters {
        let heirs = succession.heirs.iter().find(|((of, space, old), _)| of == cluster && is_it(space, old));
        match heirs {
            Some((_, (stays, heirs))) => {
                hands_over = true;
                found.extend(stays.then(|| name.to_owned()));
                found.extend(heirs.iter().map(|(_, heir)| heir.clone()));
            }
            // A cluster that has it still goes on needing the name.
            None => {
                let mut named = input.model.flux_named(cluster, name);
                let has = named.any(|one| is_it(input.namespace(one), name));
                found.extend(has.then(|| name.to_owned()));
            }
        }
    }
    hands_over.then_some(found)
}

/// Writes an item like another with another name.
fn block(item: &Value, name: &str) -> String {
    let mut item = item.clone();
    item["name"] = Value::String(name.to_owned());
    let fields = item.as_object().map(|item| item.iter().map(|(key, value)| Some((key, value.as_str()?))));
    match fields.and_then(|fields| fields.collect::<Option<Vec<_>>>()) {
        Some(fields) => {
            let lines = fields.iter().map(|(key, value)| format!("{key}: {}", quote(value)));
            lines.collect::<Vec<_>>().join("\n")
        }
        None => flow_text(&item),
    }
}

/// Says of any other kind that it names what goes: what the field means is not known.
fn told(file: &RepoPath, manifest: &Manifest, names: &[&Name], succession: &Succession) -> Option<String> {
    for object in objects(&manifest.value) {
        let id = ObjectId::of(object);
        if id.group == GROUP || id.group == "kustomize.config.k8s.io" || id.kind.is_empty() {
            continue;
        }
        for name in names {
            let (stays, heirs) = &succession.heirs[*name];
            if !*stays && mentions(object, &name.2) {
                let heirs: Vec<&str> = heirs.iter().map(|(_, heir)| heir.as_str()).collect();
                return Some(format!(
                    "{id} in {file} names Flux Kustomization {}, which goes: name {} there yourself",
                    name.2,
                    heirs.join(" and ")
                ));
            }
        }
    }
    None
}

/// Returns whether a value holds a reference to a Flux Kustomization.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(fields) => {
            names_kustomization(value) == Some(name) || fields.values().any(|field| mentions(field, name))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
