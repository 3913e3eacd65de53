//! Invariant 10: what the questions say of one repository, side by side.

use std::collections::{BTreeMap, BTreeSet};

use gitops_windows::check::Subject;
use gitops_windows::delivery::fleet::{Fleet, Schedules};
use gitops_windows::delivery::{Hold, Input, Known, Model, Role};
use gitops_windows::path::RepoPath;
use gitops_windows::render::Renderer;
use gitops_windows::repo::Snapshot;
use gitops_windows::spec::{self, Spec};
use gitops_windows::when::{Selected, answer};
use gitops_windows::{clusters, explain, verify, when};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Cluster, namespace and name of a Flux Kustomization.
type Id = (String, String, String);

/// Returns where `clusters`, `check`, `when`, `explain` and `verify` disagree about a repository.
pub fn disagreements(snapshot: &Snapshot, root: &RepoPath, renderer: &dyn Renderer) -> Vec<String> {
    let file = root.join("windows.yaml").unwrap();
    let spec = snapshot.entry(&file).map(|_| spec::read(snapshot, &file).unwrap().spec);
    let known = spec.as_ref().map(Known::of).unwrap_or_default();
    let model = Model::read(snapshot, root, &known, renderer);
    let mut all = Answers {
        spec: spec.as_ref(),
        model: &model,
        belief: belief(&clusters::json(&model, spec.as_ref())),
        wrong: Vec::new(),
    };
    let subject = Subject::new(snapshot, &model, spec.as_ref(), renderer);
    all.check(&subject);
    if let Some(spec) = &spec {
        let lines = lines(spec, &model);
        all.when(&lines);
        let input = Input { spec, snapshot, model: &model, renderer };
        all.explain(&input, &subject, &lines);
        all.verify(&input, &lines);
    }
    all.wrong
}

/// Returns the Flux Kustomizations that `clusters` tells of.
fn belief(answer: &Value) -> BTreeMap<Id, Vec<Value>> {
    let mut found: BTreeMap<Id, Vec<Value>> = BTreeMap::new();
    for cluster in array(&answer["clusters"]) {
        for one in array(&cluster["kustomizations"]) {
            let id = (text(&cluster["name"]), text(&one["namespace"]), text(&one["name"]));
            found.entry(id).or_default().push(one.clone());
        }
    }
    found
}

/// Returns what `when` says of everything, of what is never split too.
fn lines(spec: &Spec, model: &Model) -> Vec<Value> {
    let schedules = Schedules::new(spec).unwrap();
    let fleet = Fleet::new(spec, model, &schedules);
    let selected = Selected { sides: (0..fleet.sides.len()).collect(), ..Selected::default() };
    let at: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
    let answer = answer(spec, &fleet, &schedules, &selected, at, TimeZone::UTC);
    array(&when::json(&answer)["lines"]).to_vec()
}

/// The answers, and where one contradicts another.
struct Answers<'a> {
    spec: Option<&'a Spec>,
    model: &'a Model,
    belief: BTreeMap<Id, Vec<Value>>,
    wrong: Vec<String>,
}

impl Answers<'_> {
    /// Returns whether the questions are about a cluster: a spec may leave some out.
    fn is_asked(&self, cluster: &str) -> bool {
        self.spec.is_none_or(|spec| spec.clusters.is_empty() || spec.clusters.contains_key(cluster))
    }

    /// Returns what `clusters` says of a Flux Kustomization that applies a folder, or what is below it.
    fn find(&self, cluster: &str, namespace: &str, name: &str, folder: &str) -> Option<&Value> {
        let namespaces = [namespace, ""];
        let mut found = namespaces.iter().flat_map(|namespace| {
            let id = (cluster.to_owned(), (*namespace).to_owned(), name.to_owned());
            self.belief.get(&id).into_iter().flatten()
        });
        let folder = RepoPath::parse(folder).ok()?;
        found.find(|one| {
            one["path"]
                .as_str()
                .and_then(|path| RepoPath::parse(path).ok())
                .is_some_and(|path| folder.is_within(&path))
        })
    }

    /// Returns what `clusters` says a gate holds a Flux Kustomization back by.
    fn hold(&self, one: &Value) -> Option<Hold> {
        let name = one["gated"].as_str()?.to_owned();
        let is_type =
            |spec: &Spec| spec.types.iter().any(|one| !one.is_real_time() && one.name.value == name);
        Some(if self.spec.is_some_and(is_type) { Hold::Window(name) } else { Hold::Job(name) })
    }

    /// Holds what `check` takes to be applied and held back to what `clusters` says.
    fn check(&mut self, subject: &Subject<'_>) {
        let mut wrong = Vec::new();
        for delivery in subject.deliveries.iter().filter(|delivery| delivery.flux.is_some()) {
            let (cluster, name) = (&delivery.cluster.name, &delivery.name);
            let place = format!("check, {cluster}, {}/{name}", delivery.namespace);
            let Some(one) = self.find(cluster, &delivery.namespace, name, delivery.path.as_str()) else {
                wrong.push(format!("{place}: clusters has none over {}", delivery.path));
                continue;
            };
            let gated = self.hold(one);
            if delivery.gated != gated {
                wrong.push(format!("{place}: gated by {:?}, and clusters says {gated:?}", delivery.gated));
            }
            let is_suspended = delivery.held == Some(Hold::Suspended);
            if one["suspend"] != is_suspended {
                wrong.push(format!(
                    "{place}: held by {:?}, and clusters says {}",
                    delivery.held, one["suspend"]
                ));
            }
            // Without a word of the spec, what holds it back is what the gates do.
            let is_wanted = |held: &Hold| matches!(held, Hold::Window(_)) && delivery.change_type.is_some();
            let held = delivery.held.clone().filter(|held| held.opens() && !is_wanted(held));
            if held.is_some() && held != gated {
                wrong.push(format!("{place}: held by {held:?}, and clusters says {gated:?}"));
            }
        }
        self.wrong.extend(wrong);
    }

    /// Holds what `when` says to what `clusters` says, and the reverse.
    fn when(&mut self, lines: &[Value]) {
        let spec = self.spec.unwrap();
        let gated: Vec<&str> =
            spec.types.iter().filter(|one| !one.is_real_time()).map(|one| one.name.as_str()).collect();
        let mut wrong = Vec::new();
        let mut told: BTreeSet<Id> = BTreeSet::new();
        for line in lines.iter().filter(|line| line["kustomization"].is_object()) {
            let kustomization = &line["kustomization"];
            let (cluster, name) = (text(&line["cluster"]), text(&kustomization["name"]));
            let (namespace, folder) = (text(&kustomization["namespace"]), text(&line["entryPoint"]));
            let place = format!("when, {cluster}, {namespace}/{name} over {folder}");
            let one = self.find(&cluster, &namespace, &name, &folder);
            if kustomization["inGit"] != true {
                if one.is_some_and(|one| one["path"] == line["entryPoint"]) {
                    wrong.push(format!("{place}: not in Git, and clusters has it"));
                }
                continue;
            }
            let Some(one) = one else {
                wrong.push(format!("{place}: clusters has none"));
                continue;
            };
            told.insert((cluster, text(&one["namespace"]), name));
            if one["suspend"] != kustomization["suspended"] {
                wrong.push(format!(
                    "{place}: suspended {}, and clusters says {}",
                    kustomization["suspended"], one["suspend"]
                ));
            }
            if one["doubt"] != line["doubt"] {
                wrong.push(format!("{place}: {}, and clusters says {}", line["doubt"], one["doubt"]));
            }
            let waits = match line["gate"].as_str().unwrap() {
                "closes" => Some(line["type"].as_str().unwrap_or(gated[0])),
                "foreign" | "unmoved" => one["gated"].as_str().or(Some("something")),
                _ => None,
            };
            if one["gated"].as_str() != waits {
                wrong.push(format!(
                    "{place}: gate {} of {waits:?}, and clusters says {}",
                    line["gate"], one["gated"]
                ));
            }
        }
        let entries: BTreeSet<&str> =
            self.model.all_entries().iter().map(|entry| entry.path.as_str()).collect();
        for (id, all) in self.belief.iter().filter(|((cluster, ..), _)| self.is_asked(cluster)) {
            let is_here = |one: &&Value| one["path"].as_str().is_some_and(|path| entries.contains(path));
            if let Some(one) = all.iter().find(is_here).filter(|_| !told.contains(id)) {
                wrong.push(format!("clusters has {id:?} over {}, and when does not", one["path"]));
            }
        }
        self.wrong.extend(wrong);
    }

    /// Holds what `explain` says of every object to what `check` builds and `when` tells of.
    fn explain(&mut self, input: &Input<'_>, subject: &Subject<'_>, lines: &[Value]) {
        let mut wrong = Vec::new();
        let explained = explain::explain(input, &input.model.root).unwrap();
        let mut told: BTreeMap<(&str, &str, String), &str> = BTreeMap::new();
        let mut appliers: BTreeSet<(&str, &str, String, &str, &str)> = BTreeSet::new();
        for one in &explained.objects {
            for consumer in &one.consumers {
                let place = (consumer.cluster.as_str(), consumer.path.as_str());
                told.insert((place.0, place.1, one.id.to_string()), &one.change_type);
                let Some((namespace, name)) = &consumer.kustomization else { continue };
                appliers.insert((place.0, place.1, one.id.to_string(), namespace, name));
                let said = format!("explain, {}, {namespace}/{name} over {}", place.0, place.1);
                let Some(own) = self.find(place.0, namespace, name, place.1) else {
                    wrong.push(format!("{said}: clusters has none"));
                    continue;
                };
                let doubt = consumer.doubt.as_ref().map(ToString::to_string);
                if own["doubt"].as_str() != doubt.as_deref() {
                    wrong.push(format!("{said}: {doubt:?}, and clusters says {}", own["doubt"]));
                }
                if consumer.held_by.is_some() != (own["gated"].is_string() || own["suspend"] == true) {
                    wrong.push(format!(
                        "{said}: held by {:?}, and clusters says gated by {}, suspended {}",
                        consumer.held_by, own["gated"], own["suspend"]
                    ));
                }
            }
        }
        // Where no Flux Kustomization of a side is in Git, nobody knows whether the whole or the side is applied.
        let wholes = input.sides();
        let entries = |line: &Value| {
            let folder = text(&line["entryPoint"]);
            let whole = RepoPath::parse(&folder).ok().and_then(|path| wholes.get(&path));
            let whole = whole.filter(|_| line["kustomization"]["inGit"] != true);
            [whole.map(|(whole, _)| whole.to_string()), Some(folder)].into_iter().flatten()
        };
        let of_line =
            |line: &Value| entries(line).map(|entry| (text(&line["cluster"]), entry)).collect::<Vec<_>>();
        let sides: BTreeSet<(String, String)> = lines.iter().flat_map(of_line).collect();
        let consumers: BTreeSet<(&str, &str)> =
            told.keys().map(|(cluster, entry, _)| (*cluster, *entry)).collect();
        for (cluster, entry) in consumers.iter().filter(|(cluster, _)| self.is_asked(cluster)) {
            if !sides.contains(&((*cluster).to_owned(), (*entry).to_owned())) {
                wrong.push(format!("explain, {cluster}, {entry}: when does not have it"));
            }
        }
        let divided: BTreeSet<RepoPath> = input.sides().values().map(|(whole, _)| whole.clone()).collect();
        for delivery in subject.deliveries.iter().filter(|one| one.role != Role::Bootstrap) {
            if divided.contains(&delivery.path) || delivery.error.is_some() {
                continue;
            }
            let (cluster, entry) = (delivery.cluster.name.as_str(), delivery.path.as_str());
            let own = delivery.objects.iter().filter(|one| {
                one.object.origin.as_ref().is_some_and(|origin| origin.path.is_within(&input.model.root))
            });
            for one in own {
                let by_check = one.change_type.map(|position| input.spec.types[position].name.as_str());
                match told.get(&(cluster, entry, one.id.to_string())) {
                    None => wrong.push(format!("check, {cluster}, {entry}, {}: explain has none", one.id)),
                    Some(by_explain) if by_check.is_some_and(|by_check| by_check != *by_explain) => wrong
                        .push(format!(
                            "check, {cluster}, {entry}, {}: {by_check:?}, and explain says {by_explain}",
                            one.id
                        )),
                    Some(_) => {}
                }
                let applied = (cluster, entry, one.id.to_string(), &*delivery.namespace, &*delivery.name);
                if delivery.flux.is_some() && !appliers.contains(&applied) {
                    wrong.push(format!("check, {applied:?} applies it, and explain says otherwise"));
                }
            }
        }
        self.wrong.extend(wrong);
    }

    /// Holds the entry points of `verify` to those of `when`, and the reverse.
    fn verify(&mut self, input: &Input<'_>, lines: &[Value]) {
        let sides = input.sides();
        let whole = |line: &Value| {
            let path = RepoPath::parse(line["entryPoint"].as_str()?).ok()?;
            Some((text(&line["cluster"]), sides.get(&path).map_or(path, |(whole, _)| whole.clone())))
        };
        let told: BTreeSet<(String, RepoPath)> = lines.iter().filter_map(whole).collect();
        // One that several clusters share is told once, with all of them.
        let checks = verify::verify(input);
        let in_clusters =
            checks.iter().flat_map(|check| check.cluster.split(", ").map(|cluster| (cluster, &check.path)));
        let checks: BTreeSet<(&str, &RepoPath)> = in_clusters.collect();
        for (own, whole) in &checks {
            // An entry point that is only planned to be split has lines for its sides to come.
            let is_it = |(cluster, path): &(String, RepoPath)| cluster == own && path.is_within(whole);
            if !told.iter().any(is_it) {
                self.wrong.push(format!("verify, {own}, {whole}: when does not have it"));
            }
        }
        let is_apps = |path: &RepoPath| input.model.entry(path).is_some_and(|entry| entry.role == Role::Apps);
        for (cluster, path) in told.iter().filter(|(_, path)| is_apps(path)) {
            if !checks.contains(&(cluster.as_str(), path)) {
                self.wrong.push(format!("when, {cluster}, {path}: verify does not have it"));
            }
        }
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
