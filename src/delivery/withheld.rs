//! What is not known of a Flux Kustomization although it stands in Git, or may.

use std::collections::BTreeSet;
use std::fmt;

use crate::delivery::about::owned;
use crate::delivery::comparison::{Pair, World};
use crate::delivery::{Applier, Cluster, Model, Reached};
use crate::render::RenderError;
use crate::repo::flux::holds_variable;
use crate::text::words;

/// How many Flux Kustomizations apply one another at most; circles end there.
pub(super) const DEEPEST: usize = 64;

words! {
    /// Why nothing is said of what a Flux Kustomization brings.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Cause {
        /// Its folder does not build.
        Build = "build",
        /// The Flux Kustomization that applies it does not build.
        Parent = "parent",
        /// It reads an artifact that is not made of this repository's files, or not of these alone.
        Source = "source",
        /// Its source follows another revision of this repository than its root.
        Revision = "revision",
        /// Only the cluster knows its path.
        Path = "path",
        /// No cluster gets it.
        Unreached = "unreached",
        /// Git holds no Flux Kustomization at all.
        NoFlux = "no-flux",
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns why nothing here builds what a Flux Kustomization reads, in a sentence; `None` where something does.
pub fn foreign(one: &Reached) -> Option<(Cause, String)> {
    if one.path.is_some() {
        return None;
    }
    if let Some(other) = &one.other {
        return Some((Cause::Revision, format!("{other}: this commit reaches it once it is there")));
    }
    let (name, source) = (one.name(), one.source());
    let is_here = matches!(source.kind.as_str(), "GitRepository");
    Some(if is_here && holds_variable(&one.value["spec"]["path"]) {
        (Cause::Path, format!("only the cluster knows the path of Flux Kustomization {name}"))
    } else {
        let source = format!("{} {}", source.kind, source.name);
        let why = one.unmapped.as_ref().map(|unmapped| format!(": {}", unmapped.reason)).unwrap_or_default();
        (Cause::Source, format!("Flux Kustomization {name} reads {source}, which is not looked at{why}"))
    })
}

/// Marks the sides that nothing builds although something may stand there: a child of a Flux Kustomization that does not
/// build is not gone, nor is whatever begins to read another source, nor a cluster whose root the spec still names.
pub(super) fn withhold(pairs: &mut [Pair<'_>], before: World<'_>, after: World<'_>) {
    let (old_failing, new_failing) = (Failing::of(pairs, false), Failing::of(pairs, true));
    let either = |old: &Applier<'_>, new: &Applier<'_>, why: &dyn Fn(&Applier<'_>, &Model, Tense) -> Why| {
        let is_after = why(new, after.model, IS).map(|reason| (true, reason));
        is_after.or_else(|| Some((false, why(old, before.model, WAS)?)))
    };
    for pair in pairs {
        let reason = match (&pair.before, &pair.after) {
            (Some(old), None) => {
                let reason = missing(old, before.model, after.model, &pair.cluster, &new_failing, IS);
                reason.map(|reason| (true, reason))
            }
            (None, Some(new)) => {
                let reason = missing(new, after.model, before.model, &pair.cluster, &old_failing, WAS);
                reason.map(|reason| (false, reason))
            }
            (Some(old), Some(new)) if old.request() != new.request() => either(old, new, &uncertain),
            (Some(old), Some(new)) if old.spec()["postBuild"] != new.spec()["postBuild"] => {
                // What fails only here is read by its files on both sides.
                let is_one_sided = old.is_certain() != new.is_certain();
                either(old, new, if is_one_sided { &uncertain } else { &unbrought })
            }
            _ => None,
        };
        let gone = |(is_after, world)| Some((is_after, lost(world, pair)?));
        let gone = [(true, after), (false, before)].into_iter().find_map(gone);
        // What only the files of a parent that fails tell is not known to have been brought, or to be.
        let unbrought = || match (&pair.before, &pair.after) {
            (Some(old), None) => Some((false, unbrought(old, before.model, WAS)?)),
            (None, Some(new)) => Some((true, unbrought(new, after.model, IS)?)),
            _ => None,
        };
        let reason = gone.or(reason).or_else(unbrought);
        let Some((is_after, (cause, message))) = reason else { continue };
        let side = if is_after { &mut pair.new } else { &mut pair.old };
        if side.is_ok() {
            *side = Err(RenderError { message });
            pair.unsaid = Some((is_after, cause));
        }
    }
}

/// Why nothing is said of a side, if so.
type Why = Option<(Cause, String)>;

/// The words for what does not build on one side.
#[derive(Clone, Copy)]
struct Tense {
    fails: &'static str,
    /// Around the name of what nothing is said of.
    unknown: [&'static str; 2],
}

/// Those of the side after.
const IS: Tense = Tense { fails: "does not build", unknown: ["the future of ", ""] };

/// Those of the side before.
const WAS: Tense = Tense { fails: "did not build", unknown: ["whether ", " was applied"] };

impl Tense {
    fn says(self, above: &str, one: &Reached) -> (Cause, String) {
        let Tense { fails, unknown: [begin, end] } = self;
        let name = one.name();
        (Cause::Parent, format!("{above} {fails}. Git does not show {begin}{name}{end}"))
    }

    fn says_of(self, parent: &str, one: &Reached) -> (Cause, String) {
        self.says(&format!("Flux Kustomization {parent}"), one)
    }
}

/// Returns why a Flux Kustomization is only known by its file, if so.
fn uncertain(applier: &Applier<'_>, model: &Model, tense: Tense) -> Why {
    let (parent, one) = failing_parent(applier, model)?;
    Some(tense.says_of(parent.name(), one))
}

/// As [`uncertain`], but not for what fails only here: Flux may well build it.
fn unbrought(applier: &Applier<'_>, model: &Model, tense: Tense) -> Why {
    let (parent, one) = failing_parent(applier, model)?;
    parent.fails().then(|| tense.says_of(parent.name(), one))
}

/// Returns the nearest Flux Kustomization above one that does not build, with that one, where it is known by its file
/// only.
fn failing_parent<'m>(applier: &Applier<'m>, model: &'m Model) -> Option<(&'m Reached, &'m Reached)> {
    let one = applier.kustomization.filter(|one| !one.is_certain)?;
    let cluster = find(model, applier.cluster)?;
    let mut above = one;
    for _ in 0..DEEPEST {
        let Some(next) = cluster.parent(above) else { break };
        above = next;
        if above.error.is_some() {
            break;
        }
    }
    Some((above, one))
}

/// What does not build on one side.
struct Failing {
    /// The clusters with a root that Git names nobody for and that does not build.
    roots: BTreeSet<String>,
    /// The Flux Kustomizations: cluster, the secrets of `kubeConfig` on the way, namespace and name.
    named: BTreeSet<(String, [String; 3])>,
}

impl Failing {
    fn of(pairs: &[Pair<'_>], is_after: bool) -> Failing {
        let mut failing = Failing { roots: BTreeSet::new(), named: BTreeSet::new() };
        for pair in pairs {
            let (applier, outcome) =
                if is_after { (&pair.after, &pair.new) } else { (&pair.before, &pair.old) };
            let Some(applier) = applier.as_ref().filter(|_| outcome.is_err()) else { continue };
            match applier.kustomization {
                Some(one) => _ = failing.named.insert((pair.cluster.clone(), owned(one.key()))),
                None => _ = failing.roots.insert(pair.cluster.clone()),
            }
        }
        failing
    }

    fn has(&self, cluster: &str, one: &Reached) -> bool {
        one.error.is_some() || self.named.contains(&(cluster.to_owned(), owned(one.key())))
    }
}

/// Returns why a tree does not tell what becomes of a pair, where the spec names a root of its cluster that is no folder.
fn lost(world: World<'_>, pair: &Pair<'_>) -> Option<(Cause, String)> {
    let roots = world.model.known.roots.get(&pair.cluster)?;
    let root = roots.iter().find(|root| !world.snapshot.is_dir(root))?;
    let sides = [&pair.before, &pair.after];
    let reason = || format!("root {root} of cluster {} does not exist, and the spec names it", pair.cluster);
    // What another root of the cluster brings stands on both sides.
    let is_lost = |side: &Option<Applier<'_>>| side.as_ref().is_none_or(|one| one.path == *root);
    sides.into_iter().any(is_lost).then(|| (Cause::Unreached, reason()))
}

/// Returns why one side of a pair is not known where the other has nothing of that name.
fn missing(
    applier: &Applier<'_>,
    own: &Model,
    other: &Model,
    cluster: &str,
    failing: &Failing,
    tense: Tense,
) -> Why {
    let one = applier.kustomization?;
    let (own, other) = (find(own, applier.cluster)?, find(other, cluster)?);
    if let Some(same) = other.reached(&one.remote, (one.namespace(), one.name())) {
        return foreign(same);
    }
    let mut child = one;
    for _ in 0..DEEPEST {
        let Some((namespace, name)) = &child.applied_by else {
            let is_failing = failing.roots.contains(cluster);
            return is_failing.then(|| tense.says(&format!("the root of {cluster}"), one));
        };
        let id = (namespace.as_str(), name.as_str());
        match parent(other, &child.remote, id) {
            Some(there) if failing.has(cluster, there) => {
                return Some(tense.says_of(name, one));
            }
            Some(there) => return foreign(there),
            None => child = parent(own, &child.remote, id)?,
        }
    }
    None
}

impl Cluster {
    /// Returns the Flux Kustomization that applies another one; `None` for a root that Git does not say more of.
    pub fn parent(&self, one: &Reached) -> Option<&Reached> {
        let (namespace, name) = one.applied_by.as_ref()?;
        parent(self, &one.remote, (namespace, name))
    }
}

/// Returns what applies something, by the secrets of `kubeConfig` on the way: what goes to another cluster may be applied
/// by what does not.
fn parent<'m>(cluster: &'m Cluster, remote: &str, id: (&str, &str)) -> Option<&'m Reached> {
    cluster.reached(remote, id).or_else(|| cluster.reached("", id))
}

fn find<'m>(model: &'m Model, name: &str) -> Option<&'m Cluster> {
    model.delivered.named(name)
}
