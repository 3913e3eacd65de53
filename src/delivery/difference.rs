//! How the builds of pairs differ, as kustomize makes them and as clusters get them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::Applier;
use crate::delivery::comparison::{Built, Change, Pair, Part};
use crate::render::Object;
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::{live_id, substituted};
use crate::repo::secret::is_cipher;

/// The changes of pairs.
pub(super) struct Changes {
    /// As clusters get them.
    pub live: Vec<Change>,
    /// Those of kustomize's builds that are no change in the cluster, or another one.
    pub built: Vec<Change>,
}

/// One object of a build.
struct Named {
    /// Its id and itself, as it is built.
    built: (ObjectId, Object),
    /// The same with what `postBuild.substitute` puts in.
    live: (ObjectId, Object),
    /// What the values of the other side would make of it, where that is something else.
    between: Option<Object>,
}

/// The objects of one pair before and after; `None` where one of them is not known.
type Sides = Option<[Vec<Named>; 2]>;

/// Which of the two forms of an object is looked at.
#[derive(Clone, Copy)]
enum Form {
    Built,
    Live,
}

impl Named {
    fn of(&self, form: Form) -> &(ObjectId, Object) {
        match form {
            Form::Built => &self.built,
            Form::Live => &self.live,
        }
    }

    fn is_substituted(&self) -> bool {
        !Arc::ptr_eq(&self.built.1.value, &self.live.1.value)
    }
}

/// One object that differs, with the positions of its pairs.
struct Difference<'n> {
    before: Option<(usize, &'n Named)>,
    after: Option<(usize, &'n Named)>,
}

impl<'n> Difference<'n> {
    fn latest(&self) -> Option<(usize, &'n Named)> {
        self.after.or(self.before)
    }

    fn pair(&self) -> usize {
        self.latest().map_or(0, |(pair, _)| pair)
    }

    /// Returns what tells it from the others, whichever form was looked at.
    fn key(&self) -> [Option<(usize, &'n ObjectId)>; 2] {
        [self.before, self.after].map(|side| side.map(|(pair, named)| (pair, &named.built.0)))
    }

    fn change(&self, form: Form, is_substituted: bool, first: usize) -> Option<Change> {
        let named = self.latest()?.1;
        let side = |(pair, named): (usize, &Named)| (first + pair, named.of(form).1.clone());
        Some(Change {
            id: named.built.0.clone(),
            live: named.live.0.clone(),
            is_substituted,
            between: named.between.clone(),
            before: self.before.map(side),
            after: self.after.map(side),
        })
    }
}

/// Compares the builds of pairs, of which the first has this position among all.
pub(super) fn changes(pairs: &[Pair<'_>], built: &[[Built; 2]], first: usize) -> Changes {
    let sides = pairs.iter().zip(built).map(|(pair, [old, new])| {
        let [old, new] = [old, new].map(|side| side.as_ref().ok().filter(|_| pair.is_known()));
        let first = pair.first();
        let other = first.as_ref().filter(|_| pair.after.is_some()).map(Applier::post_build);
        Some([named(first, old?, None), named(&pair.after, new?, other)])
    });
    let sides: Vec<Sides> = sides.collect();
    let built = differences(pairs, &sides, Form::Built);
    if !sides.iter().flatten().flatten().flatten().any(Named::is_substituted) {
        let live = built.iter().filter_map(|one| one.change(Form::Built, false, first)).collect();
        return Changes { live, built: Vec::new() };
    }
    let live = differences(pairs, &sides, Form::Live);
    let keys = |all: &[Difference<'_>]| all.iter().map(Difference::key).map(owned).collect::<BTreeSet<_>>();
    let (of_built, of_live) = (keys(&built), keys(&live));
    Changes {
        live: live
            .iter()
            .filter_map(|one| one.change(Form::Live, !of_built.contains(&owned(one.key())), first))
            .collect(),
        built: built
            .iter()
            .filter(|one| !of_live.contains(&owned(one.key())))
            .filter_map(|one| one.change(Form::Built, false, first))
            .collect(),
    }
}

fn owned(key: [Option<(usize, &ObjectId)>; 2]) -> [Option<(usize, ObjectId)>; 2] {
    key.map(|side| side.map(|(pair, id)| (pair, id.clone())))
}

/// Returns the objects of a build with what its Flux Kustomization puts into them; `other` is the `postBuild` of the other
/// side.
fn named(applier: &Option<Applier<'_>>, built: &[Object], other: Option<&Value>) -> Vec<Named> {
    let post_build = applier.as_ref().map(Applier::post_build);
    let other = other.filter(|other| post_build != Some(*other));
    // What fails is no build, and comes to nothing here.
    let with = |post_build: &Value, value: &Value| substituted(post_build, value).ok().flatten();
    let mut hidden: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut id = |object: &Object| {
        let id = ObjectId::of(&object.value);
        let Some(id) = without_ciphers(&id, object) else { return id };
        let count = hidden.entry(id.clone()).or_default();
        *count += 1;
        let name = if *count == 1 { id.name.clone() } else { format!("{} ({count})", id.name) };
        ObjectId { name, ..id }
    };
    let named = |object: &Object| {
        let own = id(object);
        let built = (own.clone(), object.clone());
        let mut value = object.value.clone();
        if let Some(filled) =
            post_build.and_then(|post_build| with(post_build, &value)).filter(|filled| *filled != *value)
        {
            value = Arc::new(filled);
        }
        let between =
            other.map(|other| with(other, &object.value).map_or_else(|| object.value.clone(), Arc::new));
        let of = |value: Arc<Value>| Object { value, origin: object.origin.clone() };
        let between = between.filter(|other| *other != value).map(of);
        let live = match post_build {
            Some(post_build) if built.0 == ObjectId::of(&object.value) => live_id(post_build, &object.value),
            _ => own,
        };
        Named { built, live: (live, of(value)), between }
    };
    built.iter().map(named).collect()
}

/// Returns an id by the file of an object, where SOPS has encrypted its kind or its name too: a cipher is another one each time
/// that it is written. `None` where it has not.
fn without_ciphers(id: &ObjectId, object: &Object) -> Option<ObjectId> {
    let is_hidden = [&id.kind, &id.name].into_iter().any(|text| is_cipher(text));
    let file = object.origin.as_ref().filter(|_| is_hidden).map(|origin| &origin.path)?;
    let plain = |text: &str| if is_cipher(text) { String::new() } else { text.to_owned() };
    let kind = if is_cipher(&id.kind) { "object".to_owned() } else { id.kind.clone() };
    let name = if is_cipher(&id.name) { format!("encrypted in {file}") } else { id.name.clone() };
    Some(ObjectId { group: plain(&id.group), kind, namespace: plain(&id.namespace), name })
}

/// Compares one form of the objects of all pairs.
fn differences<'n>(pairs: &[Pair<'_>], sides: &'n [Sides], form: Form) -> Vec<Difference<'n>> {
    let mut found: Vec<Difference<'n>> = Vec::new();
    for (position, sides) in sides.iter().enumerate() {
        let Some([old, new]) = sides else { continue };
        let mut olds: BTreeMap<&ObjectId, &Named> = BTreeMap::new();
        olds.extend(old.iter().map(|named| (&named.of(form).0, named)));
        for named in new {
            let (id, object) = named.of(form);
            let before = olds.remove(id);
            if before.is_none_or(|before| before.of(form).1.value != object.value) {
                let before = before.map(|before| (position, before));
                found.push(Difference { before, after: Some((position, named)) });
            }
        }
        let gone = olds.into_values();
        found.extend(gone.map(|named| Difference { before: Some((position, named)), after: None }));
    }
    moved(pairs, &mut found, form);
    found.sort_by_key(|one| (one.pair(), one.latest().map(|(_, named)| &named.of(form).0)));
    found
}

/// Brings together what one Flux Kustomization of a cluster builds no more and another one begins to.
///
/// By its name in the cluster, whichever list is asked for: variables may make one name of two, and two of one.
fn moved(pairs: &[Pair<'_>], found: &mut Vec<Difference<'_>>, form: Form) {
    let place = |pair: usize, is_after: bool| {
        let pair = &pairs[pair];
        let applier = if is_after { &pair.after } else { &pair.before };
        (pair.cluster.as_str(), applier.as_ref().map(Applier::target).unwrap_or_default())
    };
    let is_said = |pair: &Pair<'_>| pair.latest().is_some_and(|applier| applier.kustomization.is_some());
    let mut deleted: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (position, one) in found.iter().enumerate() {
        if let (Some((pair, named)), None) = (one.before, one.after) {
            deleted.entry((place(pair, false), &named.live.0)).or_default().push(position);
        }
    }
    let mut left_out = BTreeSet::new();
    // Several may apply one object, each as its own: first what stays the same comes together.
    for is_other in [false, true] {
        for position in 0..found.len() {
            let (None, Some((pair, named))) = (found[position].before, found[position].after) else {
                continue;
            };
            // A folder that holds that of a Flux Kustomization takes nothing from it: nobody in Git applies it.
            let Some(olds) = deleted.get_mut(&(place(pair, true), &named.live.0)) else { continue };
            let is_taken = |old: &usize| {
                let before = found[*old].before;
                // What goes with another spec and comes again with the files does not move.
                if is_other_part(&pairs[found[*old].pair()], &pairs[pair]) {
                    return false;
                }
                let is_same =
                    || before.is_some_and(|(_, old)| old.of(form).1.value == named.of(form).1.value);
                (is_said(&pairs[pair]) || !is_said(&pairs[found[*old].pair()])) && (is_other || is_same())
            };
            if let Some(at) = olds.iter().position(is_taken) {
                let old = olds.remove(at);
                found[position].before = found[old].before;
                left_out.insert(old);
            }
        }
    }
    // What nobody in Git applies may hold the folder of a Flux Kustomization, which builds its objects too.
    let key = |one: &Difference<'_>| {
        (pairs[one.pair()].cluster.as_str(), one.latest().map(|(_, named)| named.of(form).0.clone()))
    };
    let said: BTreeSet<(&str, Option<ObjectId>)> =
        found.iter().filter(|one| is_said(&pairs[one.pair()])).map(key).collect();
    for (position, one) in found.iter().enumerate() {
        let pair = &pairs[one.pair()];
        let is_unsaid = pair.latest().is_some_and(|applier| applier.kustomization.is_none());
        if is_unsaid && said.contains(&key(one)) {
            left_out.insert(position);
        }
    }
    let mut position = 0..;
    found.retain(|_| position.next().is_none_or(|position| !left_out.contains(&position)));
}

/// Returns whether two pairs are parts of one.
fn is_other_part(one: &Pair<'_>, other: &Pair<'_>) -> bool {
    let key = |pair: &Pair<'_>| {
        let (remote, namespace, name) = pair.latest()?.key();
        Some([pair.cluster.as_str(), remote, namespace, name].map(str::to_owned))
    };
    one.part != Part::Whole && one.part != other.part && key(one) == key(other)
}
