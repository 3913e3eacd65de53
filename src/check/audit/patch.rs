//! Patches that do nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::check::code::{PATCH_WITHOUT_MATCH, UNLISTED_PATCH};
use crate::check::subject::Subject;
use crate::delivery::Applied;
use crate::delivery::Sides;
use crate::delivery::gate::Gate;
use crate::delivery::gate_patch;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::plan::edit::generated::is_generated;
use crate::render::{Object, RenderError, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::selector::fits;
use crate::repo::{File, Graph, Kustomization, Target};
use crate::yaml::Node;

/// The name of the folder below a kustomization that builds what its patches see. It is never on disk.
const BENEATH: &str = ".gitops-windows-beneath";

/// Finds patches whose target matches nothing, and patches of gates that nobody lists.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = unlisted(subject);
    findings.extend(unmatched(subject));
    findings
}

/// Returns the folders that builds reach; those only that somebody asked for, if so.
fn reached(subject: &Subject<'_>, is_asked: bool) -> BTreeSet<RepoPath> {
    let graph = &subject.model.graph;
    let own = subject.deliveries.iter().filter(|delivery| delivery.is_asked || !is_asked);
    own.flat_map(|delivery| graph.reach(&delivery.path)).collect()
}

fn unlisted(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let graph = &subject.model.graph;
    let mut findings = Vec::new();
    let mut gates: BTreeMap<&RepoPath, Vec<&Gate>> = BTreeMap::new();
    for gate in &subject.model.gates {
        gates.entry(&gate.base).or_default().push(gate);
    }
    if gates.is_empty() {
        return findings;
    }
    for folder in reached(subject, false) {
        let Some(kustomization) = graph.get(&folder) else { continue };
        let below = graph.reach(&folder);
        for gate in below.iter().filter(|base| **base != folder).filter_map(|base| gates.get(base)).flatten()
        {
            for job in [&gate.open, &gate.close] {
                let found = gate_patch(subject.snapshot, graph, &folder, &job.name);
                let Some(found) = found.filter(|found| !found.listed) else { continue };
                let source = subject.sources.get(&found.file);
                let name = source.as_ref().and_then(|source| {
                    source.objects.iter().find_map(|object| object.get_path(&["metadata", "name"]).cloned())
                });
                let place = match (source, name) {
                    (Some(source), Some(name)) => {
                        Place::span(found.file.clone(), source.text.clone(), name.span)
                    }
                    _ => Place::file(found.file.clone()),
                };
                findings.push(
                    UNLISTED_PATCH
                        .finding(format!(
                            "this patch of CronJob `{}` is not listed. The job keeps the schedule of its base{}",
                            job.name,
                            if job.value["spec"]["suspend"] == true { " and stays suspended" } else { "" }
                        ))
                        .at(place)
                        .related("this should list it", Place::file(kustomization.file.clone()))
                        .help(format!(
                            "add `- path: {}` to `patches` in {}",
                            found.file.relative_to(&folder),
                            kustomization.file
                        )),
                );
            }
        }
    }
    findings
}

/// One patch with a target, and the builds of which one must have an object for it.
struct Targeted {
    requests: Vec<usize>,
    target: Node,
    place: Place,
    what: String,
}

fn unmatched(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let graph = &subject.model.graph;
    let mut snapshot = subject.snapshot.clone();
    let mut requests = Vec::new();
    let mut patches = Vec::new();
    for folder in reached(subject, true) {
        let Some(kustomization) = graph.get(&folder) else { continue };
        let targeted = targeted(kustomization.field("patches"));
        // What a projection drops, it drops whether or not an app has such objects.
        let is_ours = || subject.snapshot.file(&kustomization.file).is_some_and(is_generated);
        if targeted.is_empty() || kustomization.is_component() || is_ours() {
            continue;
        }
        let Some(beneath) = beneath(graph, kustomization) else { continue };
        let Ok(below) = folder.join(BENEATH) else { continue };
        let Ok(file) = below.join("kustomization.yaml") else { continue };
        snapshot.insert(file, File::new(beneath.to_string().into_bytes()));
        requests.push(Request::base(below));
        for (target, node) in targeted {
            patches.push(Targeted {
                requests: vec![requests.len() - 1],
                place: Place::span(kustomization.file.clone(), kustomization.text.clone(), node.span.clone()),
                target,
                what: format!("no object of {folder}"),
            });
        }
    }
    let sides = subject.spec.map(|spec| Sides::of(spec, subject.model)).unwrap_or_default();
    let asked: BTreeSet<usize> =
        subject.deliveries.iter().filter(|one| one.is_asked).filter_map(|one| one.flux).collect();
    let all = subject.model.all_flux().iter().enumerate();
    for (_, flux) in all.filter(|(position, _)| asked.contains(position)) {
        let node = flux.root.get_path(&["spec", "patches"]);
        let targeted = targeted(node);
        let Some(path) = flux.path.as_ref().filter(|_| !targeted.is_empty() && flux.is_document) else {
            continue;
        };
        let mut spec = flux.effective["spec"].clone();
        if let Some(fields) = spec.as_object_mut() {
            fields.remove("patches");
        }
        // Successors carry the patches of the old one, and each side has some of the objects that they mean.
        let is_there = |side: &&RepoPath| *side == path || graph.has(side);
        let paths = twins(&sides, path).filter(is_there);
        let first = requests.len();
        requests.extend(paths.map(|path| Request::flux(path.clone(), &spec)));
        for (target, node) in targeted {
            patches.push(Targeted {
                requests: (first..requests.len()).collect(),
                place: Place::span(flux.file.clone(), flux.text.clone(), node.span.clone()),
                target,
                what: format!("no object of {path}"),
            });
        }
    }
    if requests.is_empty() {
        return Vec::new();
    }
    let results = subject.renderer.render(&snapshot, &requests);
    let misses = |patch: &Targeted, result: Option<&Result<Vec<Object>, RenderError>>| match result {
        // Where nothing is built at all, as before Flux has bootstrapped a cluster, no patch is to blame.
        Some(Ok(objects)) => !objects.is_empty() && !matches_any(subject, &patch.target, objects),
        _ => false,
    };
    patches.retain(|patch| patch.requests.iter().all(|position| misses(patch, results.get(*position))));
    // A target may name what a prefix has changed since; only origins tell that, and they cost another build.
    let again: BTreeSet<usize> = patches.iter().flat_map(|patch| patch.requests.clone()).collect();
    let with_origins: Vec<Request> =
        again.iter().map(|position| requests[*position].clone().with_origins()).collect();
    let results: BTreeMap<usize, _> =
        again.into_iter().zip(subject.renderer.render(&snapshot, &with_origins)).collect();
    patches.retain(|patch| patch.requests.iter().all(|position| misses(patch, results.get(position))));
    let finding = |patch: Targeted| {
        PATCH_WITHOUT_MATCH
            .finding(format!("this target matches {}. kustomize leaves the patch out silently", patch.what))
            .at(patch.place)
            .help("correct the target, or remove the patch; was the object renamed, moved or removed?")
    };
    patches.into_iter().map(finding).collect()
}

/// Returns a path, and where it is a side all sides of its entry point.
fn twins<'s>(all: &'s Sides, path: &'s RepoPath) -> impl Iterator<Item = &'s RepoPath> {
    let others = all.get(path).into_iter().flat_map(|(whole, _)| all.of_whole(whole)).map(|(side, _)| side);
    std::iter::once(path).chain(others.filter(move |side| *side != path))
}

/// Returns the patches with a target, each with the node to point at.
fn targeted(patches: Option<&Node>) -> Vec<(Node, Node)> {
    let items = patches.map(Node::items).unwrap_or_default();
    let targets = items.iter().filter_map(|item| item.get("target"));
    targets
        .filter(|target| target.as_mapping().is_some_and(|fields| !fields.is_empty()))
        .map(|target| {
            let shown = target.get("name").or_else(|| target.get("kind")).unwrap_or(target);
            (target.clone(), shown.clone())
        })
        .collect()
}

/// Returns a kustomization of what the patches of another see: its resources, components and generated
/// names. `None` where plugins, charts or the network make more.
fn beneath(graph: &Graph, kustomization: &Kustomization) -> Option<Value> {
    for field in ["generators", "helmCharts", "helmChartInflationGenerator"] {
        if kustomization.field(field).is_some_and(|node| !node.is_null()) {
            return None;
        }
    }
    let references = kustomization.references();
    let list = |fields: &[&str]| -> Option<Vec<String>> {
        let wanted = references.iter().filter(|reference| fields.contains(&reference.field));
        wanted
            .map(|reference| match &reference.target {
                Target::Path(_) => Some(format!("../{}", reference.text)),
                _ => None,
            })
            .collect()
    };
    // What a reached base needs from the network can't be built here either.
    let remote = |folder: &RepoPath| {
        graph.get(folder).is_some_and(|base| base.resources().iter().any(|r| r.target == Target::Remote))
    };
    if graph.reach(&kustomization.folder).iter().any(remote) {
        return None;
    }
    let generated = |field: &str| -> Vec<Value> {
        let items = kustomization.field(field).map(Node::items).unwrap_or_default();
        let made = items
            .iter()
            .filter(|item| !matches!(item.get("behavior").and_then(Node::as_str), Some("merge" | "replace")));
        made.filter_map(|item| {
            let mut entry = json!({ "name": item.get("name")?.as_str()?, "literals": ["key=value"] });
            for key in ["namespace", "options"] {
                if let Some(node) = item.get(key) {
                    entry[key] = node.to_json();
                }
            }
            Some(entry)
        })
        .collect()
    };
    Some(json!({
        "resources": list(&["resources", "bases"])?,
        "components": list(&["components"])?,
        "configMapGenerator": generated("configMapGenerator"),
        "secretGenerator": generated("secretGenerator"),
        "generatorOptions": { "disableNameSuffixHash": true },
    }))
}

/// Returns whether a target selects any object (kustomize `types.SelectorRegex`: each field is a regular
/// expression over the whole text). Names count as declared and as built; namespaces are not asked, since
/// transformers change them on the way.
fn matches_any(subject: &Subject<'_>, target: &Node, objects: &[Object]) -> bool {
    let field =
        |key: &str| target.get_ignore_case(key).and_then(Node::scalar_text).filter(|text| !text.is_empty());
    let fits = |key: &str, text: &str| {
        // What is no regular expression fails the build, which is told elsewhere.
        field(key).is_none_or(|pattern| fits(pattern, text))
    };
    objects.iter().any(|object| {
        let id = Arc::new(ObjectId::of(&object.value));
        let applied = Applied { live: id.clone(), id, object: object.clone(), change_type: None, held: None };
        let version = object.value["apiVersion"].as_str().unwrap_or_default();
        let version = version.rsplit('/').next().unwrap_or_default();
        let metadata = &object.value["metadata"];
        fits("group", &applied.id.group)
            && fits("version", version)
            && fits("kind", &applied.id.kind)
            && selects(field("labelSelector"), &metadata["labels"])
            && selects(field("annotationSelector"), &metadata["annotations"])
            && (fits("name", &applied.id.name)
                || subject.sources.first_name(&applied).is_some_and(|name| fits("name", &name)))
    })
}

/// Returns whether a selector of equalities holds; anything else counts as holding.
fn selects(selector: Option<&str>, map: &Value) -> bool {
    selector.is_none_or(|selector| {
        selector.contains(['(', '!', '<', '>'])
            || selector.split(',').all(|term| match term.split_once('=') {
                Some((key, value)) => map[key.trim()].as_str() == Some(value.trim_start_matches('=').trim()),
                None => map.get(term.trim()).is_some(),
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_of_equalities_are_understood() {
        let labels = json!({ "app": "shop", "tier": "web" });
        assert!(
            selects(None, &labels)
                && selects(Some("app=shop"), &labels)
                && selects(Some("app == shop, tier"), &labels)
        );
        assert!(!selects(Some("app=blog"), &labels) && !selects(Some("zone"), &labels));
        assert!(selects(Some("app in (x)"), &labels) && selects(Some("app!=shop"), &labels));
    }
}
