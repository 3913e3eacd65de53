//! What a pull request may say something new of beside what it changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::classify::is_hashed;
use crate::delivery::{Change, Comparison, EntryPoint, Kind};
use crate::path::RepoPath;
use crate::pr::clock::Clock;
use crate::render::Object;
use crate::repo::Entry;
use crate::repo::flux::{GROUP, is_yaml};
use crate::spec::Spec;

/// Kinds by whose content others live, not only by their name.
const READ: [&str; 6] = ["ConfigMap", "Secret", "Service", "Role", "ClusterRole", "CustomResourceDefinition"];

/// The words by which files ask for objects: each with what such a file holds besides, in small letters.
type Words = BTreeMap<String, BTreeSet<String>>;

/// Returns the entry points that a pull request may say something new of, by cluster: those that build something else,
/// and those of the same clusters with a file that names an object by which others live.
pub(super) fn near(clock: &Clock<'_>, comparison: &Comparison<'_>) -> BTreeSet<(String, RepoPath)> {
    let appliers = comparison.pairs.iter().flat_map(|pair| [&pair.before, &pair.after]).flatten();
    let mut found: BTreeSet<(String, RepoPath)> =
        appliers.map(|applier| (applier.cluster.to_owned(), applier.path.clone())).collect();
    let clusters: BTreeSet<String> = found.iter().map(|(cluster, _)| cluster.clone()).collect();
    found.extend(judged_anew(clock));
    let mut words = Words::new();
    for change in &comparison.changes {
        ask_for(change, &mut words);
    }
    if words.is_empty() {
        return found;
    }
    for tree in [&clock.before, &clock.after] {
        let (snapshot, model) = (tree.world.snapshot, tree.world.model);
        let files = snapshot.entries().filter(|(path, entry)| match entry {
            Entry::File(file) => is_yaml(path) && asks(file.bytes(), &words),
            _ => false,
        });
        let mut takers: Option<Vec<&EntryPoint>> = None;
        for (file, _) in files {
            let own = || clusters.iter().flat_map(|cluster| model.entries_of(cluster)).collect();
            let taking_in = model.graph.taken_in_by(file);
            let takers =
                takers.get_or_insert_with(own).iter().filter(|entry| taking_in.contains(&entry.path));
            found.extend(takers.map(|entry| (entry.cluster.clone(), entry.path.clone())));
        }
    }
    found
}

/// Returns the entry points, by cluster, of which another spec says something else although they build the same: which type
/// their objects have, and whether something should wait there.
fn judged_anew(clock: &Clock<'_>) -> BTreeSet<(String, RepoPath)> {
    let (Some(old), Some(new)) = (clock.before.spec, clock.after.spec) else { return BTreeSet::new() };
    let types = |spec: &Spec| -> Vec<(String, bool)> {
        spec.types.iter().map(|one| (one.name.value.clone(), one.is_real_time())).collect()
    };
    let is_other = types(old) != types(new) || old.rules != new.rules || old.layout != new.layout;
    let is_judged = |cluster: &str| {
        let gated = |spec: &Spec| (spec.gates(cluster), spec.gate_enabled(cluster));
        is_other || gated(old) != gated(new)
    };
    let models = [&clock.before, &clock.after].map(|tree| tree.world.model);
    let judged = models.into_iter().flat_map(|model| {
        let clusters = model.clusters().into_iter().filter(|cluster| is_judged(cluster));
        clusters.flat_map(|cluster| model.entries_of(cluster))
    });
    judged.map(|entry| (entry.cluster.clone(), entry.path.clone())).collect()
}

/// Adds the words by which others ask for an object that changes, where it may matter to them.
fn ask_for(change: &Change, words: &mut Words) {
    let kind = change.id.kind.as_str();
    if change.kind() == Kind::Changed && !READ.contains(&kind) {
        return;
    }
    let marks: &[&str] = match kind {
        // Backends are Services where they name no kind.
        "Service" => &["service", "backendrefs"],
        "PersistentVolumeClaim" => &["claim"],
        "ClusterRole" => &["role"],
        // Commands have short names for it.
        "Kustomization" if change.id.group == GROUP => &[""],
        _ => &[],
    };
    let marks: BTreeSet<String> = match marks {
        [] => BTreeSet::from([kind.to_lowercase()]),
        marks => marks.iter().map(|mark| (*mark).to_owned()).collect(),
    };
    let name = &change.id.name;
    for (_, object) in [&change.before, &change.after].into_iter().flatten() {
        for name in [Some(name.as_str()), without_hash(name, object)].into_iter().flatten() {
            words.entry(name.to_owned()).or_default().extend(marks.iter().cloned());
        }
        // Objects of a kind name its group.
        if let Some(group) = object.value["spec"]["group"].as_str() {
            words.entry(group.to_owned()).or_default().insert("apiversion".to_owned());
        }
    }
}

fn without_hash<'n>(name: &'n str, object: &Object) -> Option<&'n str> {
    name.rsplit_once('-').filter(|_| is_hashed(object)).map(|(name, _)| name)
}

/// Returns whether a file holds one of the words, other than as a key, with something that belongs to it.
fn asks(file: &[u8], words: &Words) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let (mut at, mut found) = (0, BTreeSet::new());
    for word in file.split(|byte| !is_part(byte)) {
        at += word.len() + 1;
        let is_key =
            || file.get(at - 1) == Some(&b':') && file.get(at).is_none_or(|byte| byte.is_ascii_whitespace());
        let marks = std::str::from_utf8(word).ok().and_then(|word| words.get(word));
        if let Some(marks) = marks.filter(|_| !is_key()) {
            found.extend(marks);
        }
    }
    if found.is_empty() {
        return false;
    }
    let text = String::from_utf8_lossy(file).to_lowercase();
    found.into_iter().any(|mark| text.contains(mark.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_where_it_may_name_the_object() {
        let words = Words::from([("app".to_owned(), BTreeSet::from(["configmap".to_owned()]))]);
        let asks = |text: &str| asks(text.as_bytes(), &words);
        assert!(asks("volumes: [{ configMap: { name: app } }]"));
        assert!(asks("configMapGenerator:\n- name: app\n"));
        assert!(asks("kind: ConfigMap\nmetadata:\n  name: \"app\""));
        // A key of labels, a part of another name, and a word of what names no such object.
        assert!(!asks("kind: ConfigMap\nmetadata: { name: web, labels: { app: web } }"));
        assert!(!asks("kind: ConfigMap\nmetadata: { name: app-web }"));
        assert!(!asks("kind: Deployment\nspec: { containers: [{ name: app, image: 'x/app:1' }] }"));
    }
}
