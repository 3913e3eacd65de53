//! Walks over one cluster, from its roots through builds, level by level.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::delivery::account::default_of;
use crate::delivery::alike::unfilled;
use crate::delivery::cluster::target_of;
use crate::delivery::clusters::{Bringer, Cluster, Generated, Reached};
use crate::delivery::fetched::Artifact;
use crate::delivery::former::Left;
use crate::delivery::generator::{self, Fault};
use crate::delivery::reading::Reader;
use crate::delivery::refused::refusal;
use crate::delivery::root::Root;
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::{EXTERNAL, SourceId};
use crate::delivery::strict::strict_of;
use crate::delivery::variables::{Bringing, Variables};
use crate::delivery::view::{Built, View};
use crate::limit::{KUSTOMIZATIONS, KUSTOMIZATIONS_DEPTH};
use crate::mechanism;
use crate::path::RepoPath;
use crate::render::{Request, is_of_here};
use crate::repo::flux::{EXTENSIONS, Unmapped, holds_variable, is_flux_kustomization};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::{Strict, substitute};

/// A build that is to be made.
pub(super) struct Step {
    /// The position of its Flux Kustomization among those that are reached; `None` for a folder that nothing in Git
    /// applies.
    pub by: Option<usize>,
    /// The position of the root from which it is reached.
    root: usize,
    pub folder: RepoPath,
    pub artifact: Artifact,
    spec: Value,
    /// Its `spec.postBuild`, with the values that Git tells.
    pub post_build: Value,
    pub remote: String,
}

impl Step {
    fn bringer(&self) -> Bringer {
        self.by.map_or(Bringer::Root(self.root), Bringer::Kustomization)
    }
}

/// A cluster while it is read.
pub(super) struct Walk<'r, 'a> {
    pub reader: &'r mut Reader<'a>,
    pub cluster: Cluster,
    /// The positions of those that are reached, by the secrets of `kubeConfig` on the way and their id.
    seen: BTreeMap<(String, ObjectId), Vec<usize>>,
    queue: VecDeque<Step>,
    /// The positions of all roots that stand in files.
    roots: &'r BTreeSet<usize>,
    /// What is known of variables before, and what is found of them now.
    known: Variables,
    pub(super) found: Variables,
    /// What brings these.
    pub(super) bringing: BTreeMap<(String, ObjectId), Bringing>,
    /// What brought each of those that are reached first.
    above: Vec<Option<usize>>,
    /// The positions of those of which a build has succeeded.
    built: BTreeSet<usize>,
}

/// How often a cluster is read until its variables have no further values.
const ROUNDS: usize = 4;

impl<'r, 'a> Walk<'r, 'a> {
    /// Reads the cluster of some roots; it has no name yet.
    ///
    /// A ConfigMap with the values of variables may come after those who need it, as may what says how strictly they are
    /// read: then all is read again with these.
    pub(super) fn over(reader: &'r mut Reader<'a>, roots: Vec<Root>, of_all: &'r BTreeSet<usize>) -> Cluster {
        let (mut known, mut strict) = (Variables::default(), None);
        for _ in 1..ROUNDS {
            let (cluster, found) = Walk::once(reader, roots.clone(), of_all, known.clone(), strict);
            if found == known && cluster.is_settled() {
                return cluster;
            }
            (known, strict) = (found, cluster.strict);
        }
        Walk::once(reader, roots, of_all, known, strict).0
    }

    fn once(
        reader: &mut Reader<'_>,
        roots: Vec<Root>,
        of_all: &BTreeSet<usize>,
        known: Variables,
        strict: Option<Strict>,
    ) -> (Cluster, Variables) {
        let mut walk = Walk {
            reader,
            cluster: Cluster { strict, ..Cluster::default() },
            seen: BTreeMap::new(),
            queue: VecDeque::new(),
            roots: of_all,
            known,
            found: Variables::default(),
            bringing: BTreeMap::new(),
            above: Vec::new(),
            built: BTreeSet::new(),
        };
        for root in roots {
            walk.begin(root);
        }
        while !walk.queue.is_empty() {
            walk.level();
        }
        // Whatever applied a root first, it is that which stands in its file.
        for root in &walk.cluster.roots {
            let is_root =
                |one: &&mut Reached| one.written.is_none() && root.kustomization.as_ref() == Some(&one.value);
            if let Some(one) = walk.cluster.kustomizations.iter_mut().find(is_root) {
                one.written = root.written;
            }
        }
        walk.take_written_sources();
        walk.lose_sources();
        walk.take_gone();
        walk.cluster.index();
        walk.note_unfetched();
        walk.cluster.variables = walk.known;
        walk.cluster.bringing = walk.bringing;
        (walk.cluster, walk.found)
    }

    /// Takes in sources that only stand in a file: held ones, whatever fails to bring them, and those in the file of a
    /// root, which are applied together with it (flux2, `pkg/bootstrap`, `ReconcileSyncConfig`).
    fn take_written_sources(&mut self) {
        for id in self.cluster.kustomizations.iter().map(Reached::source).collect::<BTreeSet<SourceId>>() {
            if self.cluster.source(&id).is_some() {
                continue;
            }
            let held = self.source(&id).filter(|spec| mechanism::is_held(&id.kind, spec));
            if let Some(spec) = held.or_else(|| self.beside_root(&id)) {
                let object = json!({ "spec": spec });
                self.cluster.sources.push((id, object));
            }
        }
    }

    /// Notes the sources that can't fetch this tree.
    fn note_unfetched(&mut self) {
        let missing = |one: &Reached| {
            let path = one.artifact.missing(self.reader.snapshot)?.to_owned();
            Some((self.cluster.fetched(&one.source()), path))
        };
        let built = self.cluster.kustomizations.iter().filter(|one| one.path.is_some());
        self.cluster.unfetched = built.filter_map(missing).collect();
    }

    /// Notes what a root in its last pass deletes: the sources that its former build has brought, and none brings now.
    fn lose_sources(&mut self) {
        let last = self.cluster.roots.iter().filter(|root| root.is_last);
        let had: BTreeSet<SourceId> = last.flat_map(|root| self.reader.former.sources_of(root)).collect();
        let has = |id: &SourceId| self.cluster.source_bringers.iter().any(|(other, _)| other == id);
        self.cluster.lost = had.into_iter().filter(|id| !has(id)).collect();
    }

    /// Returns the `spec` of a source that stands in the file of a root that reads it.
    fn beside_root(&self, id: &SourceId) -> Option<&Value> {
        let is_its = |root: &&Root| root.source.as_ref().is_some_and(|(own, _)| own.is(id));
        let mut files = self.cluster.roots.iter().filter(is_its).filter_map(|root| root.file.as_ref());
        files.find_map(|file| self.reader.source_in(file, &id.kind, &id.name))
    }

    fn begin(&mut self, root: Root) {
        self.cluster.sources.extend(root.source.clone().filter(|(_, value)| !value.is_null()));
        let position = self.cluster.roots.len();
        self.cluster.jitters.join(root.jitters);
        self.cluster.default_account = self.cluster.default_account.take().or(root.default_account.clone());
        self.cluster.strict = self.cluster.strict.or(root.strict);
        self.cluster.roots.push(root.clone());
        if let Some(value) = root.kustomization {
            return self.reach(Built { value, file: None }, Bringer::People, position, "", false);
        }
        self.queue.push_back(Step {
            by: None,
            root: position,
            folder: root.folder.clone(),
            artifact: Artifact { top: root.artifact, ..Artifact::default() },
            spec: Value::Null,
            post_build: Value::Null,
            remote: String::new(),
        });
        for written in self.reader.by_hand.get(&root.folder).cloned().unwrap_or_default() {
            let one = &self.reader.flux[written];
            let one = Built { value: one.value.clone(), file: Some(one.file.clone()) };
            self.reach(one, Bringer::People, position, "", false);
        }
    }

    /// Makes the builds that are wanted and takes in what they bring.
    fn level(&mut self) {
        let steps: Vec<Step> = self.queue.drain(..).collect();
        let mut answers: Vec<(Vec<Built>, Option<String>)> = Vec::with_capacity(steps.len());
        // Who applies a root that Git says nothing of may not fetch it: everything is there.
        let mut wanted: BTreeMap<Option<Artifact>, Vec<(usize, Request)>> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let artifact = self.read_by(step);
            if let Some(by) = step.by {
                self.cluster.kustomizations[by].artifact.clone_from(&artifact);
            }
            if step.by.is_some() && step.remote.is_empty() {
                self.cluster.artifacts.insert(artifact.source());
            }
            let artifact = step.by.map(|_| artifact);
            let view = self.view(artifact.as_ref());
            let known = if view.may_bring(&step.folder, &step.spec) {
                view.listed(&step.folder, &step.spec)
            } else {
                // Only a build says whether one of which files can't be read fails.
                (!view.may_fail(&step.folder)).then(Vec::new)
            };
            if known.is_none() {
                wanted.entry(artifact).or_default().push((index, View::request(&step.folder, &step.spec)));
            }
            answers.push((known.unwrap_or_default(), None));
        }
        for (artifact, requests) in wanted {
            let view = self.view(artifact.as_ref());
            let (indexes, requests): (Vec<usize>, Vec<Request>) = requests.into_iter().unzip();
            let files = view.bootstrapped(self.reader.snapshot, self.reader.components);
            let results = self.reader.renderer.render(files, &requests);
            for (index, result) in indexes.into_iter().zip(results) {
                answers[index] = match result {
                    Ok(objects) => (objects.into_iter().map(Built::from).collect(), None),
                    Err(error) => {
                        let Step { folder, spec, .. } = &steps[index];
                        (view.written(folder, spec), Some(view.unjudged(folder, files, error.message)))
                    }
                };
            }
        }
        for (step, (objects, error)) in steps.iter().zip(&mut answers) {
            if error.is_none() {
                let values = || objects.iter().map(|one| &*one.value);
                // Whoever applies a root by hand gets the other objects of it all the same.
                let refusal = || step.by.and_then(|_| refusal(&step.post_build, values()));
                *error = unfilled(&step.post_build, values()).or_else(refusal);
            }
        }
        for (step, (_, error)) in steps.iter().zip(&answers) {
            match (step.by, error) {
                (Some(by), Some(_)) => self.cluster.kustomizations[by].error.clone_from(error),
                (None, Some(message)) if !is_of_here(message) => {
                    self.cluster.failing_roots.insert(step.root, message.clone());
                }
                _ => {}
            }
        }
        for (step, (objects, error)) in steps.iter().zip(&mut answers) {
            if let Some(id) = self.patched_root(step, objects).filter(|_| error.is_none()) {
                objects.retain(|one| is_flux_kustomization(&one.value) && ObjectId::of(&one.value) == id);
            }
        }
        let near = steps.iter().zip(&answers).filter(|(step, _)| step.remote.is_empty());
        for one in near.flat_map(|(_, (objects, _))| objects) {
            self.cluster.jitters.take_in(&one.value);
            self.cluster.default_account = default_of(&one.value).or(self.cluster.default_account.take());
            self.cluster.strict = strict_of(&one.value).or(self.cluster.strict);
        }
        for (step, (objects, _)) in steps.iter().zip(&mut answers) {
            let by = step.by.map(|by| &self.cluster.kustomizations[by]);
            let root = &self.cluster.roots[step.root].folder;
            if let Some(had) = by.and_then(|by| self.reader.former.applied_by(root, by)) {
                had.keep_passed_over(objects);
            }
        }
        let left: Vec<Option<Left>> = steps.iter().map(|step| self.left_of(step).cloned()).collect();
        for ((objects, _), left) in answers.iter_mut().zip(&left) {
            if let Some(left) = left {
                let is_other = |one: &Built| {
                    is_flux_kustomization(&one.value)
                        && !left.kustomizations.contains_key(&ObjectId::of(&one.value))
                };
                objects.retain(is_other);
                objects.extend(left.others.iter().cloned());
            }
        }
        self.take_variables(&steps, &answers);
        self.take_sources(&steps, &answers);
        self.take_generators(&steps, &answers);
        let built = steps.iter().zip(&answers).filter(|(_, (_, error))| error.is_none());
        self.built.extend(built.filter_map(|(step, _)| step.by));
        for ((step, (objects, _)), left) in steps.into_iter().zip(answers).zip(left) {
            for one in left.into_iter().flat_map(|left| left.kustomizations.into_values()) {
                self.reach(one, step.bringer(), step.root, &step.remote, true);
            }
            for mut one in objects.into_iter().filter(|one| is_flux_kustomization(&one.value)) {
                if !step.post_build.is_null() {
                    substitute(&step.post_build, Arc::make_mut(&mut one.value));
                }
                self.reach(one, step.bringer(), step.root, &step.remote, false);
            }
        }
    }

    /// Returns the id of a root of which the own build has another `spec` than its file, as by a patch in the list of its folder.
    /// What it brings is built anew by that: the values of its `postBuild` may stand there only.
    fn patched_root(&self, step: &Step, objects: &[Built]) -> Option<ObjectId> {
        let root = Some(&self.cluster.kustomizations[step.by?]).filter(|one| one.is_as_its_file())?;
        let id = ObjectId::of(&root.value);
        let is_it = |one: &&Built| is_flux_kustomization(&one.value) && ObjectId::of(&one.value) == id;
        let mut own = objects.iter().find(is_it)?.value.clone();
        if !step.post_build.is_null() {
            substitute(&step.post_build, Arc::make_mut(&mut own));
        }
        let path = own["spec"]["path"].as_str().unwrap_or_default();
        // Where there is none of that path, this build is its last one.
        let stands = || secure_join(&step.artifact.top, path).is_none_or(|path| self.reader.stands(&path));
        (own["spec"] != root.value["spec"] && stands()).then_some(id)
    }

    /// Returns the files of an artifact; without one, those of the repository.
    fn view(&mut self, artifact: Option<&Artifact>) -> Arc<View> {
        match artifact {
            Some(artifact) => self.reader.view(artifact),
            None => self.reader.top.clone(),
        }
    }

    /// Returns what one that applies nothing any more has applied before; `None` where it has just built another folder.
    pub(super) fn left_of(&self, step: &Step) -> Option<&Left> {
        let by = step.by.filter(|by| !self.built.contains(by))?;
        let root = self.cluster.roots.get(step.root)?;
        self.reader.former.left_by(&root.folder, &self.cluster.kustomizations[by])
    }

    /// Takes in the sources of a level: one may come with what reads it.
    fn take_sources(&mut self, steps: &[Step], answers: &[(Vec<Built>, Option<String>)]) {
        for (step, (objects, _)) in steps.iter().zip(answers) {
            for one in objects.iter().filter(|_| step.remote.is_empty()) {
                let mut value = match one.value["kind"].as_str() {
                    Some("GitRepository" | "OCIRepository") => (*one.value).clone(),
                    // What it makes is all that Git says of that source.
                    _ => match mechanism::source_of(&one.value) {
                        Some((namespace, name, spec)) => {
                            let metadata = json!({ "namespace": namespace, "name": name });
                            json!({ "kind": "GitRepository", "metadata": metadata, "spec": spec })
                        }
                        None => continue,
                    },
                };
                substitute(&step.post_build, &mut value);
                let id = SourceId::of_object(&value);
                self.cluster.source_bringers.extend(step.by.map(|by| (id.clone(), by)));
                let own = |by| (by, Built { value: Arc::new(value.clone()), file: one.file.clone() });
                self.cluster.brought.extend(step.by.map(own));
                if !self.cluster.sources.iter().any(|(other, _)| *other == id) {
                    self.cluster.sources.push((id, value));
                }
            }
        }
    }

    /// Takes in what the generators of a level make of this repository, also for what was reached before.
    fn take_generators(&mut self, steps: &[Step], answers: &[(Vec<Built>, Option<String>)]) {
        let mut is_new = false;
        for (step, (objects, _)) in steps.iter().zip(answers).filter(|(step, _)| step.remote.is_empty()) {
            for one in objects.iter().filter(|one| is_generator(&one.value)) {
                let mut value = (*one.value).clone();
                substitute(&step.post_build, &mut value);
                let own = |by| (by, Built { value: Arc::new(value.clone()), file: one.file.clone() });
                self.cluster.brought.extend(step.by.map(own));
                let mut read = Vec::new();
                for (position, id) in generator::sources(&value).into_iter().enumerate() {
                    let folder = generator::copied_of(&value, position).find(|one| self.reader.is_here(one));
                    let is_other = self.other_revision(&id, step.root).is_some();
                    let artifact = self.artifact(&id, folder.as_ref().map(RepoPath::as_str), is_other);
                    let artifact = artifact.map(|artifact| self.narrowed(artifact, &id));
                    read.push(artifact.map(|artifact| (self.reader.view(&artifact), artifact)));
                }
                let place =
                    |fault: &Fault| generator::place(self.reader.snapshot, one.file.as_ref()?, &value, fault);
                for made in generator::generated(&value, read) {
                    let artifact = made
                        .artifact
                        .map_err(|fault| Unmapped { place: place(&fault), reason: fault.reason });
                    if !self.cluster.generated.iter().any(|other| other.id == made.id) {
                        self.cluster.generated.push(Generated { id: made.id, artifact });
                        is_new = true;
                    }
                }
            }
        }
        let waiting = self.cluster.kustomizations.iter().enumerate();
        let waiting =
            waiting.filter(|(_, one)| is_new && one.path.is_none() && one.source().kind == EXTERNAL);
        for position in waiting.map(|(position, _)| position).collect::<Vec<_>>() {
            self.resolve(position);
        }
    }

    /// Takes in a Flux Kustomization that the cluster gets, or that what applies nothing any more has `left` there.
    fn reach(&mut self, one: Built, bringer: Bringer, root: usize, remote: &str, is_left: bool) {
        let id = ObjectId::of(&one.value);
        let by = bringer.kustomization();
        let above = by.map(|by| &self.cluster.kustomizations[by]);
        let applied_by = above.map(|above| (above.namespace().to_owned(), above.name().to_owned()));
        let is_brought = |above: &Reached| above.error.is_none() || is_left;
        let is_certain = above.is_none_or(|above| above.is_certain && is_brought(above));
        let written = one.file.as_ref().and_then(|file| self.reader.written(file, &id.namespace, &id.name));
        // The root of the cluster to which it is applied is read by itself.
        if !remote.is_empty() && written.is_some_and(|position| self.roots.contains(&position)) {
            return;
        }
        if self.leads_back(&id, &one.value, by, remote) {
            return;
        }
        let seen = self.seen.entry((remote.to_owned(), id)).or_default();
        for position in seen.iter().copied() {
            let known = &mut self.cluster.kustomizations[position];
            if (known.is_as_its_file() || known.written == written) && !known.bringers.contains(&bringer) {
                known.bringers.push(bringer);
            }
            // A root's own build says more of it than its file does.
            if known.is_as_its_file() {
                (known.written, known.applied_by) = (written, applied_by);
                let is_same = known.value["spec"] == one.value["spec"];
                known.value = one.value;
                if !is_same {
                    self.resolve(position);
                }
                return;
            }
            // Two files may fight over one name.
            if known.written == written {
                return;
            }
        }
        let position = self.cluster.kustomizations.len();
        // The first that is too many tells it.
        if position > KUSTOMIZATIONS {
            return;
        }
        seen.push(position);
        let depth = self.way(by).count();
        self.above.push(by);
        let error = if position >= KUSTOMIZATIONS {
            Some(format!("the cluster has more than {KUSTOMIZATIONS} Flux Kustomizations"))
        } else {
            (depth >= KUSTOMIZATIONS_DEPTH)
                .then(|| format!("Flux Kustomizations bring each other, {} deep", depth + 1))
        };
        let is_read = error.is_none();
        self.cluster.kustomizations.push(Reached {
            value: one.value,
            post_build: Value::Null,
            written,
            path: None,
            artifact: Artifact::default(),
            unmapped: None,
            other: None,
            applied_by,
            bringers: vec![bringer],
            root,
            remote: remote.to_owned(),
            error,
            is_certain,
        });
        if is_read {
            self.resolve(position);
        }
    }

    /// Returns the positions of those that brought each other, the last one first.
    fn way(&self, by: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(by, |by| self.above[*by])
    }

    /// Returns whether a Flux Kustomization leads from a cluster to one to which the same leads from a cluster on its way: the
    /// Secrets of a hub are in the hub, and without end it would bring itself by a folder that holds it.
    fn leads_back(&self, id: &ObjectId, value: &Value, by: Option<usize>, remote: &str) -> bool {
        if remote.is_empty() || target_of(&value["spec"]["kubeConfig"]).is_none() {
            return false;
        }
        let is_same =
            |position: &usize| self.cluster.kustomizations[*position].value["spec"] == value["spec"];
        let remotes = self.way(by).map(|by| &self.cluster.kustomizations[by].remote);
        let mut clusters = remotes.filter(|other| *other != remote);
        clusters.any(|other| {
            self.seen.get(&(other.clone(), id.clone())).is_some_and(|seen| seen.iter().any(is_same))
        })
    }

    /// Finds out which folder one builds, and asks for that build.
    fn resolve(&mut self, position: usize) {
        let one = &self.cluster.kustomizations[position];
        let spec = one.value["spec"].clone();
        let mut post_build = self.known.known(&spec["postBuild"], &one.remote, one.namespace());
        // What reads one in another cluster is not known.
        if one.remote.is_empty() {
            self.cluster.strict.unwrap_or_default().put(&mut post_build);
        }
        let (id, remote, root) = (one.source(), one.target(), one.root);
        let path = Some(&spec["path"]).filter(|path| !holds_variable(path));
        self.cluster.kustomizations[position].post_build.clone_from(&post_build);
        // A path that is left out is the top (`kustomization_types.go`, `Path`).
        let other = self.other_revision(&id, root);
        let artifact = self.artifact(&id, spec["path"].as_str().or(Some("./")), other.is_some());
        self.cluster.kustomizations[position].other = other;
        let Some(artifact) = artifact else {
            if id.kind == "GitRepository" && self.source(&id).is_none() {
                self.cluster.unknown.insert(id.clone());
            }
            let unclear = self.unclear(&id, spec["path"].as_str());
            self.cluster.unclear.extend(unclear.map(|folder| (id.clone(), folder)));
            let made = self.cluster.made(&id).and_then(|made| made.artifact.as_ref().err());
            self.cluster.kustomizations[position].unmapped = made.cloned();
            return;
        };
        let path = path.and_then(|path| secure_join(&artifact.top, path.as_str().unwrap_or_default()));
        let one = &mut self.cluster.kustomizations[position];
        (one.path, one.artifact, one.unmapped) = (path.clone(), artifact.clone(), None);
        if let Some(folder) = path {
            let root = one.root;
            self.queue.push_back(Step {
                by: Some(position),
                root,
                folder,
                artifact,
                spec,
                post_build,
                remote,
            });
        }
    }
}

impl Reached {
    /// Returns whether it is a root of which no build has said anything yet, so that it is what its file says.
    fn is_as_its_file(&self) -> bool {
        self.applied_by.is_none() && self.written.is_none()
    }
}

/// Returns whether an object is an ArtifactGenerator.
fn is_generator(value: &Value) -> bool {
    value["kind"] == "ArtifactGenerator" && ObjectId::of(value).group == EXTENSIONS
}

#[cfg(test)]
#[path = "endless_tests.rs"]
mod tests;
