//! `clusters`: the belief, for people and programs: which clusters there are, what Flux applies to each, what is not
//! alive.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::delivery::{Cluster, Doubt, Hold, Holds, Model, Reached};
use crate::mechanism::GateTarget;
use crate::repo::FluxKustomization;
use crate::repo::flux::variables;
use crate::spec::Spec;
use crate::text::json_schema::{answers, list, nullable, object, text as text_schema, truth};
use crate::text::some;

/// The version of the JSON.
const VERSION: u64 = 1;

/// How many that no cluster gets have a line each, and how many of a folder are named otherwise.
const MOST_UNLISTED: usize = 10;
const MOST_NAMES: usize = 5;

/// Returns the belief as JSON: `version`, `clusters` and `notAlive`, with paths from the top of the git repository.
///
/// `gated` is the type whose window holds a Flux Kustomization back; where no spec says the type, it is the CronJob that
/// suspends it. A cluster of which no Flux Kustomization is in Git has no roots. `proposed` is true where nothing in
/// Git says what the roots are. `kubeConfig` has the secret or the ConfigMap by which a Flux Kustomization is applied to
/// another cluster. `path` is null where another repository is built, another revision of this one, or what only the cluster
/// knows. `sourceKnown` is false where the source may be any repository: it is not in Git, or the URL of this one is not. `error` is why a build
/// fails. What is brought by such a build is not `certain`: it is what files say, without the patches and variables that the
/// build would add. `doubt` says why the cluster perhaps lacks one.
pub fn json(model: &Model, spec: Option<&Spec>) -> Value {
    let belief = Belief::new(model, spec);
    let clusters = belief.clusters().into_iter().map(|(name, cluster)| {
        json!({
            "name": name,
            "roots": cluster.map(roots).unwrap_or_default(),
            "proposed": cluster.is_some_and(|own| !own.is_said()),
            "kustomizations": cluster.map(|cluster| kustomizations(&belief, cluster)).unwrap_or_default(),
        })
    });
    let not_alive = model
        .unlisted
        .iter()
        .map(|one| json!({ "path": one.file.to_string(), "kind": "Kustomization", "name": one.name }));
    json!({
        "version": VERSION,
        "clusters": clusters.collect::<Vec<_>>(),
        "notAlive": not_alive.collect::<Vec<_>>(),
    })
}

/// Returns the JSON Schema (draft 2020-12) of what `clusters --format json` prints; [`json()`] says what its fields mean.
pub fn schema() -> Value {
    let kustomization = object(vec![
        ("namespace", text_schema()),
        ("name", text_schema()),
        ("path", nullable(text_schema())),
        ("appliedBy", nullable(text_schema())),
        (
            "source",
            object(vec![("kind", text_schema()), ("namespace", text_schema()), ("name", text_schema())]),
        ),
        ("sourceKnown", truth()),
        ("prune", truth()),
        ("suspend", truth()),
        ("gated", nullable(text_schema())),
        ("error", nullable(text_schema())),
        ("certain", truth()),
        ("doubt", nullable(text_schema())),
        ("kubeConfig", nullable(text_schema())),
        ("alive", truth()),
    ]);
    let cluster = object(vec![
        ("name", text_schema()),
        ("roots", list(text_schema())),
        ("proposed", truth()),
        ("kustomizations", list(kustomization)),
    ]);
    let not_alive = object(vec![("path", text_schema()), ("kind", text_schema()), ("name", text_schema())]);
    answers(
        "clusters",
        object(vec![
            ("version", json!({ "const": VERSION })),
            ("clusters", list(cluster)),
            ("notAlive", list(not_alive)),
        ]),
    )
}

fn kustomizations(belief: &Belief<'_>, cluster: &Cluster) -> Vec<Value> {
    let one = |one: &Reached| {
        let hold = belief.hold(cluster, one);
        let source = one.source();
        json!({
            "namespace": one.namespace(),
            "name": one.name(),
            "path": one.path.as_ref().map(|path| path.to_string()),
            "appliedBy": one.applied_by.as_ref().map(|(namespace, name)| format!("{namespace}/{name}")),
            "source": { "kind": source.kind, "namespace": source.namespace, "name": source.name },
            "sourceKnown": !cluster.unknown.contains(&source) && !cluster.is_unclear(&source),
            "prune": one.value["spec"]["prune"] == true,
            "suspend": one.value["spec"]["suspend"] == true,
            "gated": hold.as_ref().and_then(Hold::name),
            "error": one.error,
            "certain": one.is_certain,
            "doubt": cluster.doubt(one).map(ToString::to_string),
            "kubeConfig": Some(&one.remote).filter(|secret| !secret.is_empty()),
            "alive": true,
        })
    };
    cluster.kustomizations.iter().map(one).collect()
}

/// Returns the belief as lines: a heading for each cluster, a line for each Flux Kustomization.
///
/// Many that no cluster gets are told by their folders at the top of the repository, unless `all` are wanted.
pub fn text(model: &Model, spec: Option<&Spec>, all: bool) -> String {
    let (belief, mut text) = (Belief::new(model, spec), String::new());
    let mut is_gated = false;
    for (name, cluster) in belief.clusters() {
        let Some(cluster) = cluster else {
            text.push_str(&format!("{name}  no Flux Kustomization of it is in Git\n"));
            continue;
        };
        let proposed = if !cluster.is_said() { " (proposed: nothing in Git names it)" } else { "" };
        text.push_str(&format!("{name}  root {}{proposed}\n", roots(cluster).join(", ")));
        let ids = cluster.kustomizations.iter().map(|one| format!("{}/{}", one.namespace(), one.name()));
        let ids: Vec<String> = ids.collect();
        let width = ids.iter().map(String::len).max().unwrap_or_default();
        for (id, one) in ids.iter().zip(&cluster.kustomizations) {
            let source = one.source();
            let path = match &one.path {
                Some(path) => path.to_string(),
                None => format!("{} of {} {}", path_of(one), source.kind, source.name),
            };
            let mut facts = vec![path];
            if one.path.is_none() && cluster.unknown.contains(&source) {
                facts.push("which is not in Git and may be any repository".to_owned());
            }
            if cluster.is_unclear(&source) {
                facts.push("which may be this repository or another one".to_owned());
            }
            if let Some(other) = &one.other {
                facts.push(format!("which follows {}, and {} {}", other.follows, other.root, other.of_root));
            }
            let hold = belief.hold(cluster, one);
            let gated = hold.as_ref().and_then(Hold::name).map(|gated| format!("gated by {gated}"));
            is_gated |= gated.is_some();
            facts.extend(gated);
            facts.extend(belief.kept_out(cluster, one).map(str::to_owned));
            if !one.remote.is_empty() {
                facts.push(format!("in another cluster by kubeConfig {}", one.remote));
            }
            if one.value["spec"]["suspend"] == true {
                facts.push("suspended in Git".to_owned());
            }
            if one.value["spec"]["prune"] != true {
                facts.push("prunes nothing".to_owned());
            }
            facts.extend(cluster.doubt(one).map(ToString::to_string));
            if let Some(error) = &one.error {
                facts.push(format!("does not build: {}", error.lines().next().unwrap_or_default()));
            }
            text.push_str(&format!("  {id:width$}  {}\n", facts.join(", ")));
        }
    }
    if is_gated {
        text.push_str("Gated: its changes wait for a window.\n");
    }
    if !model.unlisted.is_empty() {
        text.push_str("not alive: no cluster gets them\n");
        let unlisted = match all || model.unlisted.len() <= MOST_UNLISTED {
            true => model.unlisted.iter().map(unlisted).collect(),
            false => by_folder(&model.unlisted),
        };
        unlisted.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        if let Some((one, top)) = model.inner_top() {
            text.push_str(&format!(
                "  Flux Kustomization {} takes {top} for the top of a repository. Copy {top} into a git repository of its own\n",
                one.name
            ));
        }
    }
    if text.is_empty() {
        text.push_str("no cluster: no Flux Kustomization is in Git\n");
    }
    text.lines().map(|line| format!("{}\n", crate::diff::clean(line.as_bytes()))).collect()
}

/// Returns the line of a Flux Kustomization that no cluster gets.
fn unlisted(one: &FluxKustomization) -> String {
    let lacking = match lacking(one).as_slice() {
        [] => String::new(),
        variables => format!(", nothing in Git fills {}", variables.join(", ")),
    };
    format!("{}  {}{lacking}", one.file, one.name)
}

/// Returns the lines of many: one for each folder at the top of the repository.
fn by_folder(all: &[FluxKustomization]) -> Vec<String> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in all {
        let folder = one.file.as_str().split_once('/').map_or("./", |(folder, _)| folder);
        folders.entry(folder).or_default().push(&one.name);
    }
    let told = folders.iter().map(|(folder, names)| {
        let most = if names.len() > MOST_NAMES + 1 { MOST_NAMES } else { names.len() };
        format!("{folder}  {}", some(names, most))
    });
    told.chain(["(--verbose names their files)".to_owned()]).collect()
}

/// Returns the variables in what names a Flux Kustomization and its folder: without their values no cluster takes it.
fn lacking(one: &FluxKustomization) -> Vec<&str> {
    let metadata = &one.value["metadata"];
    let mut found = Vec::new();
    for value in [&metadata["name"], &metadata["namespace"], one.spec("path")] {
        for variable in variables(value.as_str().unwrap_or_default()) {
            if !found.contains(&variable) {
                found.push(variable);
            }
        }
    }
    found
}

fn path_of(one: &Reached) -> &str {
    one.value["spec"]["path"].as_str().filter(|path| !path.is_empty()).unwrap_or("./")
}

fn roots(cluster: &Cluster) -> Vec<String> {
    let mut roots: Vec<String> = cluster.roots.iter().map(|root| root.folder.to_string()).collect();
    roots.dedup();
    roots
}

/// What Flux applies to clusters, and what holds it back.
struct Belief<'a> {
    model: &'a Model,
    holds: Holds<'a>,
}

impl<'a> Belief<'a> {
    fn new(model: &'a Model, spec: Option<&'a Spec>) -> Belief<'a> {
        Belief { model, holds: Holds::new(model, spec) }
    }

    /// Returns the clusters by name: those with roots, and those that only have entry points.
    fn clusters(&self) -> Vec<(&'a str, Option<&'a Cluster>)> {
        let delivered = &self.model.delivered.all;
        let rooted: BTreeSet<&str> = delivered.iter().map(|cluster| cluster.name.as_str()).collect();
        let others = self.model.clusters().into_iter().filter(|name| !rooted.contains(name));
        let mut all: Vec<_> = others.map(|name| (name, None)).collect();
        all.extend(delivered.iter().map(|cluster| (cluster.name.as_str(), Some(cluster))));
        all.sort_by_key(|(name, _)| *name);
        all
    }

    /// Says that its gate may not be there as Git has it.
    fn kept_out(&self, cluster: &Cluster, one: &Reached) -> Option<&'static str> {
        let target = GateTarget { namespace: one.namespace().to_owned(), name: one.name().to_owned() };
        let job = self.model.closings.running(&cluster.name, &target)?;
        job.doubt.as_ref().map(|doubt| match doubt {
            Doubt::Suspended(_) | Doubt::Unbuilt(_) | Doubt::Unprivileged(..) => {
                "nothing new of its gate arrives"
            }
            Doubt::Unsaid(..) => "its gate perhaps never arrives",
        })
    }

    /// Returns what holds a Flux Kustomization of a cluster back.
    fn hold(&self, cluster: &Cluster, one: &Reached) -> Option<Hold> {
        self.holds.of(&cluster.name, one.namespace(), one.name(), one.path.as_ref())
    }
}
