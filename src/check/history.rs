//! What a change set does on the way from one revision to the next.

mod added;
mod bootstrap;
mod deleted;
mod held;
mod mixture;
mod moved;
mod restored;
mod rooted;
mod step;
mod unfetched;
mod unsourced;
mod variable;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{KUSTOMIZATION_REMOVED, ORPHANED_OBJECT};
use crate::check::subject::Subject;
use crate::delivery::inventory::{Inventory, is_kept};
use crate::delivery::{Applied, ClusterKey, Delivery, Hold};
use crate::diagnostic::{Diagnostic, Place};
use crate::repo::manifest::ObjectId;
use crate::text::some;

use step::{Fate, Step};

/// How many objects a finding names.
const MOST_NAMES: usize = 5;

/// A finding about one cluster.
#[derive(Clone, Debug)]
pub struct Told {
    /// The cluster.
    pub cluster: ClusterKey,
    /// What goes wrong.
    pub finding: Diagnostic,
    /// What has to open until it begins; `None` where that is as the change arrives.
    pub from: Option<Hold>,
    /// What has to open until it is over; `None` where nothing ends it, or it is no matter of time.
    pub until: Option<Hold>,
}

impl Told {
    fn of(cluster: &ClusterKey, finding: Diagnostic) -> Told {
        Told { cluster: cluster.clone(), finding, from: None, until: None }
    }
}

/// Finds what goes wrong between the moment at which a change set is merged and the opening of the next window, and
/// what it deletes or leaves behind; what several clusters share, once for each.
///
/// In clusters of which a part does not build, nothing is said of what would look new, removed or unowned for that
/// alone.
pub fn history(before: &Subject<'_>, after: &Subject<'_>) -> Vec<Told> {
    let step = Step::new(before, after);
    let mut findings = bootstrap::bootstrap(&step);
    let deletions = step.deletions();
    let new = after.clusters();
    for (key, old) in before.clusters() {
        if bootstrap::is_renamed(key, before, after) {
            continue;
        }
        let key_now = step.key_now(key);
        let deliveries = new.get(key_now).cloned().unwrap_or_default();
        let builds = |deliveries: &[&Delivery]| deliveries.iter().all(|delivery| delivery.error.is_none());
        let is_whole = builds(&old) && builds(&deliveries);
        let change = Change {
            step: &step,
            key,
            key_now,
            had: index(&old, |_, applied| &applied.live),
            has: now(&old, &deliveries),
            deliveries,
        };
        findings.extend(change.at_source());
        findings.extend(change.unfetched());
        let mut own = change.moved();
        own.extend(change.unsourced());
        own.extend(change.deleted(&deletions));
        // What goes with a root that deletes itself is told with that.
        if !old.iter().any(|delivery| after.model.delivered.deletes_itself(&delivery.path)) {
            own.extend(change.ungoverned());
        }
        if is_whole {
            own.extend(change.deleted_outside());
            own.extend(change.orphaned());
            own.extend(change.restored());
            findings.extend(change.mixed());
        }
        findings.extend(own.into_iter().map(|finding| Told::of(key_now, finding)));
    }
    findings.extend(deleted::unknown(&step));
    findings.extend(rooted::rooted(&step));
    findings.extend(added::added(&step));
    findings
}

type Index<'s> = BTreeMap<&'s ObjectId, Vec<(&'s Delivery, &'s Applied)>>;

fn index<'s>(
    deliveries: &[&'s Delivery],
    id: impl Fn(&'s Delivery, &'s Applied) -> &'s ObjectId,
) -> Index<'s> {
    let mut index: Index<'s> = BTreeMap::new();
    for delivery in deliveries {
        for applied in &delivery.objects {
            index.entry(id(delivery, applied)).or_default().push((delivery, applied));
        }
    }
    index
}

/// Returns what the cluster has from then on, by its ids there. Where only the cluster knows one of the ids of an object
/// that is built as before, it counts as the same: whether it is another one can't be told.
fn now<'s>(old: &[&'s Delivery], new: &[&'s Delivery]) -> Index<'s> {
    let pairs = old.iter().flat_map(|one| one.objects.iter().map(|was| ((key(one), &was.id), &*was.live)));
    let before: BTreeMap<_, &'s ObjectId> = pairs.collect();
    index(new, |delivery, applied| match before.get(&(key(delivery), &applied.id)) {
        Some(was) if was.has_variable() || applied.live.has_variable() => was,
        _ => &applied.live,
    })
}

/// One cluster in both revisions.
struct Change<'s> {
    step: &'s Step<'s>,
    key: &'s ClusterKey,
    /// Its name in the newer one.
    key_now: &'s ClusterKey,
    /// As the cluster knows them, which is how Flux tells them apart.
    had: Index<'s>,
    has: Index<'s>,
    deliveries: Vec<&'s Delivery>,
}

/// What a Flux Kustomization goes by in its cluster: namespace and name.
fn key(delivery: &Delivery) -> (&str, &str) {
    (&delivery.namespace, &delivery.name)
}

fn named(names: &BTreeSet<String>) -> String {
    some(&names.iter().collect::<Vec<_>>(), MOST_NAMES)
}

impl<'s> Change<'s> {
    /// The Flux Kustomization of this name in the newer revision.
    fn still(&self, delivery: &Delivery) -> Option<&'s Delivery> {
        let same = |other: &&&Delivery| other.applied_by.is_some() && key(other) == key(delivery);
        self.deliveries.iter().find(same).copied()
    }

    /// Returns whether the Flux Kustomization of this name is in the older revision.
    fn was(&self, delivery: &Delivery) -> bool {
        self.own().any(|other| key(other) == key(delivery))
    }

    /// Those of the older revision of which Git says what applies them.
    fn own(&self) -> impl Iterator<Item = &'s Delivery> {
        self.step.before.deliveries_of(self.key).filter(|delivery| delivery.applied_by.is_some())
    }

    /// What one of the older revision does with what it applies no more, where it is in Git.
    fn fate(&self, delivery: &Delivery) -> Option<Fate> {
        delivery.applied_by.map(|index| self.step.fate(index))
    }

    /// What one of the older revision is in the newer one.
    fn now(&self, delivery: &Delivery) -> Option<&Inventory> {
        self.step.now(delivery.applied_by?)
    }

    fn old_place(&self, applied: &Applied) -> Place {
        self.step.before.sources.place(applied, &["metadata", "name"])
    }

    /// Says of one of the older revision when it deletes what it applied as it goes itself: a suspended one deletes nothing
    /// (kustomize-controller, `finalize`). `None` where no gate in Git suspends it.
    fn open(&self, delivery: &Delivery) -> Option<String> {
        let target = self.step.before.target(delivery);
        let job = self.step.before.model.closings.running(&delivery.reconciled_in.name, &target)?;
        let held = delivery.held.as_ref().filter(|_| job.held.is_none() && job.doubt.is_none());
        held.and_then(Hold::open)
    }

    /// Flux Kustomizations that leave Git while what they apply stays there.
    fn ungoverned(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for delivery in self.own() {
            let Some(flux) = self.step.before.applying(delivery) else { continue };
            let names = self.left_alone(delivery);
            if names.is_empty() {
                continue;
            }
            let when = match self.open(delivery) {
                Some(open) => format!("If {open} when the cluster deletes it"),
                None => "When the cluster deletes it".to_owned(),
            };
            findings.push(
                KUSTOMIZATION_REMOVED
                    .finding(format!(
                        "{} leaves Git. {when}, its objects are deleted with it: {}",
                        delivery.name,
                        named(&names)
                    ))
                    .at(flux.place("prune"))
                    .help(format!(
                        "keep it\nor merge {} first, and remove it then",
                        self.unpruned(delivery, &delivery.name)
                    )),
            );
        }
        findings
    }

    /// The objects that one of the older revision deletes when it goes, although its folder stays in Git.
    ///
    /// What another one takes over is told as that.
    fn left_alone(&self, delivery: &Delivery) -> BTreeSet<String> {
        let stays = self.step.after.model.graph.has(&delivery.path);
        if !stays || self.now(delivery).is_some() || self.fate(delivery) != Some(Fate::Deletes) {
            return BTreeSet::new();
        }
        let is_lost = |applied: &&Applied| {
            let owners = self.has.get(&*applied.live).into_iter().flatten();
            !is_kept(applied.value()) && owners.clone().all(|(owner, _)| owner.applied_by.is_none())
        };
        delivery.objects.iter().filter(is_lost).map(|applied| applied.live.to_string()).collect()
    }

    /// Objects that leave Git and that nobody deletes.
    fn orphaned(&self) -> Vec<Diagnostic> {
        let mut left: BTreeMap<usize, (&Delivery, BTreeSet<String>)> = BTreeMap::new();
        for (id, old) in &self.had {
            if self.has.contains_key(*id) {
                continue;
            }
            let deletes = |(from, was): &(&Delivery, &Applied)| {
                self.fate(from) == Some(Fate::Deletes) && !is_kept(was.value())
            };
            let leaves = |(from, _): &&(&Delivery, &Applied)| {
                matches!(self.fate(from), Some(Fate::Leaves | Fate::Deletes))
            };
            let orphan = old.iter().find(leaves).filter(|_| !old.iter().any(deletes));
            if let Some((from, index)) = orphan.and_then(|(from, _)| Some((*from, from.applied_by?))) {
                left.entry(index).or_insert((from, BTreeSet::new())).1.insert(id.to_string());
            }
        }
        let findings = left.into_values().filter_map(|(old, names)| {
            let now = self.still(old).and_then(|still| self.step.after.applying(still));
            let flux = now.or(self.step.before.applying(old))?;
            let (them, they, their, they_stay) = match names.len() {
                1 => ("it", "it", "its", "It stays"),
                _ => ("them", "they", "their", "They stay"),
            };
            Some(
                ORPHANED_OBJECT
                    .finding(format!(
                        "{} left Git, and {} does not delete {them}. {they_stay} in the cluster without an owner",
                        named(&names),
                        old.name
                    ))
                    .at(flux.place("prune"))
                    .help(match self.fate(old) {
                        // It would be pruned but for what it says itself.
                        Some(Fate::Deletes) => format!(
                            "delete {them} by hand, if {they} should go: {their} own annotation or label keeps {them}"
                        ),
                        _ => format!(
                            "delete {them} by hand\nor let the Flux Kustomization prune before objects leave Git"
                        ),
                    }),
            )
        });
        findings.collect()
    }
}
