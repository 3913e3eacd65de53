//! What a Flux Kustomization applies to a cluster, and what holds it back.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::alike::{alike, alike_reason, unfilled};
use crate::delivery::classify::classify_all;
use crate::delivery::{Apps, Artifact, ClusterKey, Hold, Holds};
use crate::delivery::{EntryPoint, Model, Role, Sides};
use crate::path::RepoPath;
use crate::render::{Object, Renderer, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::live_id;
use crate::repo::{FluxKustomization, Snapshot};
use crate::spec::Spec;

/// One object that a cluster gets.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Its id, as it is built.
    pub id: Arc<ObjectId>,
    /// Its id in the cluster, as far as Git tells what `postBuild` puts into it.
    pub live: Arc<ObjectId>,
    /// The object with its origin.
    pub object: Object,
    /// The position of its type, where a spec gives it one.
    pub change_type: Option<usize>,
    /// What keeps it from landing at once: Git, the windows that the spec wants for its type, or a gate in Git.
    pub held: Option<Hold>,
}

impl Applied {
    /// Returns the object's content.
    pub fn value(&self) -> &Value {
        &self.object.value
    }

    /// Returns whether the object is of this kind of this API group.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.id.kind == kind && self.id.group == group
    }

    /// Returns the windows that keep it from landing at once.
    pub fn window(&self) -> Option<&Hold> {
        self.held.as_ref().filter(|held| held.opens())
    }

    /// Says when it lands.
    pub fn lands(&self) -> String {
        format!("lands {}", self.goes())
    }

    /// Says when what leaves Git is deleted.
    pub fn goes(&self) -> String {
        match &self.held {
            Some(held) => held.end(),
            None => "at once".to_owned(),
        }
    }

    /// Returns the place in the order of types: nothing waits for what has a greater one.
    pub fn rank(&self) -> usize {
        match (&self.held, self.change_type) {
            (Some(Hold::Suspended | Hold::Source(_)), _) => usize::MAX,
            (Some(_), change_type) => change_type.unwrap_or(1).max(1),
            (None, _) => 0,
        }
    }
}

/// An entry point in one cluster, by one Flux Kustomization.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The cluster that gets the objects.
    pub cluster: ClusterKey,
    /// The cluster in which its Flux Kustomization lies: another one where a hub applies the objects by `kubeConfig`.
    pub reconciled_in: ClusterKey,
    /// The folder that is built.
    pub path: RepoPath,
    /// The entry point's role.
    pub role: Role,
    /// The Flux Kustomization, as a position in [`Model::flux`]; `None` where it stands in no file.
    pub flux: Option<usize>,
    /// The Flux Kustomization, also where a FluxInstance makes it, as a position in [`Model::all_kustomizations`]; `None`
    /// where Git does not say it.
    pub applied_by: Option<usize>,
    /// The namespace of the Flux Kustomization; empty where Git does not say it.
    pub namespace: String,
    /// The name that it has, or that the folder suggests.
    pub name: String,
    /// What it applies; nothing where it does not build.
    pub objects: Vec<Applied>,
    /// Whether somebody asked for its build; what nobody asked for has no objects.
    pub is_asked: bool,
    /// Why it does not build.
    pub error: Option<String>,
    /// Two objects that `postBuild` gives one name, where it does not build for that.
    pub alike: Option<Box<[Applied; 2]>>,
    /// Whether the build was stopped for its time or memory, which says nothing about the folder.
    pub unjudged: bool,
    /// The type of all of its objects, where a spec says so.
    pub change_type: Option<usize>,
    /// What holds it back as a whole: Git, the windows that the spec wants for its type, or a gate in Git.
    pub held: Option<Hold>,
    /// What the gates in Git hold it back by, whatever the spec wants.
    pub gated: Option<Hold>,
}

/// Returns whether a namespace and a name, which may be `*`, mean those of a Flux Kustomization; an empty
/// namespace is any.
pub(crate) fn names((space, of): (&str, &str), (namespace, name): (&str, &str)) -> bool {
    (of == name || of == "*") && (space == namespace || space.is_empty() || namespace.is_empty())
}

impl Delivery {
    /// Returns whether a CronJob or a reference names this Flux Kustomization.
    pub fn is_named(&self, namespace: &str, name: &str) -> bool {
        names((namespace, name), (&self.namespace, &self.name))
    }

    /// Returns the windows that hold it back as a whole.
    pub fn window(&self) -> Option<&Hold> {
        self.held.as_ref().filter(|held| held.opens())
    }

    /// Finds out what holds it and its objects back, by Git, the spec and the gates.
    pub(crate) fn hold(&mut self, spec: Option<&Spec>, model: &Model, holds: &Holds<'_>) {
        let is_suspended = model.applying(self).is_some_and(FluxKustomization::is_suspended);
        self.gated = holds.of(&self.cluster.name, &self.namespace, &self.name, Some(&self.path));
        let hold = |position: Option<usize>| {
            let wanted = || Hold::of_type(spec?, position?);
            if is_suspended { Some(Hold::Suspended) } else { wanted().or_else(|| self.gated.clone()) }
        };
        self.held = hold(self.change_type);
        for applied in &mut self.objects {
            applied.held = hold(applied.change_type);
        }
    }
}

/// Builds every entry point that is `wanted` for each of its Flux Kustomizations, of the files that its source fetches;
/// the others have no objects.
pub fn deliveries(
    snapshot: &Snapshot,
    model: &Model,
    spec: Option<&Spec>,
    renderer: &dyn Renderer,
    wanted: impl Fn(&EntryPoint) -> bool,
) -> Vec<Delivery> {
    let sides = spec.map(|spec| Sides::of(spec, model)).unwrap_or_default();
    let mut found = Vec::new();
    let mut requests: BTreeMap<Option<&Artifact>, Vec<Request>> = BTreeMap::new();
    let mut known: BTreeMap<Option<&Artifact>, HashMap<Request, usize>> = BTreeMap::new();
    let mut positions = Vec::new();
    for entry in model.all_entries() {
        let is_wanted = wanted(entry);
        for position in model.positions_of(entry) {
            let one = position.map(|position| model.kustomization(position));
            let request = match one {
                Some(flux) => Request::flux(entry.path.clone(), &flux.effective["spec"]),
                None => Request::delivered(entry.path.clone()),
            };
            let request = Some(request.with_origins()).filter(|_| is_wanted);
            let artifact = one.and_then(|one| model.partial_artifact(one));
            positions.push(request.map(|request| {
                let known = known.entry(artifact).or_default();
                let position = *known.entry(request.clone()).or_insert_with(|| {
                    let requests = requests.entry(artifact).or_default();
                    requests.push(request);
                    requests.len() - 1
                });
                (artifact, position)
            }));
            let side = sides.get(&entry.path).map(|(_, position)| *position);
            found.push(Delivery { is_asked: is_wanted, ..delivery(model, entry, position, side) });
        }
    }
    let build = |(artifact, requests): (_, Vec<Request>)| {
        (artifact, renderer.render(&model.delivered.files(snapshot, artifact), &requests))
    };
    let results: BTreeMap<Option<&Artifact>, _> = requests.into_iter().map(build).collect();
    let mut ids = Ids::new();
    for (delivery, position) in found.iter_mut().zip(positions) {
        let Some((artifact, position)) = position else { continue };
        match results.get(&artifact).and_then(|results| results.get(position)) {
            Some(Ok(objects)) => delivery.objects = applied(model, spec, delivery, objects, &mut ids),
            Some(Err(error)) => {
                delivery.error = Some(error.message.clone());
                delivery.unjudged = error.is_unjudged();
            }
            None => delivery.error = Some("the renderer gave no answer".to_owned()),
        }
    }
    settle(model, &mut found);
    found
}

/// Returns objects the ids that they have in their clusters; two of one id are an error of the build.
fn settle(model: &Model, deliveries: &mut [Delivery]) {
    for delivery in deliveries {
        let Some(flux) = model.applying(delivery) else { continue };
        if delivery.error.is_none() && delivery.is_asked {
            delivery.error = unfilled(&flux.post_build, delivery.objects.iter().map(Applied::value));
            if delivery.error.is_some() {
                delivery.objects.clear();
                continue;
            }
        }
        for applied in &mut delivery.objects {
            let live = live_id(&flux.post_build, applied.value());
            if live != *applied.id {
                applied.live = Arc::new(live);
            }
        }
        let ids = delivery.objects.iter().map(|applied| (applied.value(), &*applied.id, &*applied.live));
        if let Some((first, second)) = alike(ids) {
            let both = [first, second].map(|position| delivery.objects[position].clone());
            delivery.error = Some(alike_reason(&both[0].live));
            delivery.alike = Some(Box::new(both));
            delivery.objects.clear();
        }
    }
}

fn delivery(model: &Model, entry: &EntryPoint, applied_by: Option<usize>, side: Option<usize>) -> Delivery {
    let kustomization = applied_by.map(|position| model.kustomization(position));
    let own = || ClusterKey {
        home: model.home_of_entry(entry),
        name: entry.cluster.clone(),
        remote: String::new(),
    };
    Delivery {
        cluster: kustomization.map_or_else(own, |flux| ClusterKey::of(model, flux)),
        reconciled_in: kustomization.map_or_else(own, |flux| ClusterKey::around(model, flux)),
        path: entry.path.clone(),
        role: entry.role,
        flux: applied_by.filter(|position| !model.is_made(*position)),
        applied_by,
        namespace: kustomization.map(|flux| flux.namespace.clone()).unwrap_or_default(),
        name: kustomization.map_or_else(|| model.name_of(entry).to_owned(), |flux| flux.name.clone()),
        objects: Vec::new(),
        is_asked: false,
        error: None,
        alike: None,
        unjudged: false,
        change_type: side,
        held: None,
        gated: None,
    }
}

/// The ids of values, by their addresses: builds share what they have alike.
type Ids = HashMap<*const Value, Arc<ObjectId>>;

fn applied(
    model: &Model,
    spec: Option<&Spec>,
    delivery: &Delivery,
    objects: &[Object],
    ids: &mut Ids,
) -> Vec<Applied> {
    let types = match spec {
        // What is not split yet is judged as the split would divide it.
        Some(spec) if delivery.change_type.is_none() && delivery.role == Role::Apps => {
            let apps = model.entry(&delivery.path).map(|entry| Apps::of(model, entry));
            let app_of = |object: &Object| {
                apps.as_ref().and_then(|apps| apps.bringing(object)).unwrap_or_default().to_owned()
            };
            classify_all(spec, objects, &app_of).ok()
        }
        _ => None,
    };
    let of = |index: usize| types.as_ref().map(|types| types[index].change_type).or(delivery.change_type);
    objects
        .iter()
        .enumerate()
        .map(|(index, object)| {
            let id = ids.entry(Arc::as_ptr(&object.value));
            let id = Arc::clone(id.or_insert_with(|| Arc::new(ObjectId::of(&object.value))));
            Applied { live: id.clone(), id, object: object.clone(), change_type: of(index), held: None }
        })
        .collect()
}
