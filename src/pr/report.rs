//! What a pull request changes, as all forms of the answer tell it.

use jiff::Timestamp;
use serde_json::Value;

use crate::delivery::metadata::{is_forced, is_only_created, is_passed_over};
use crate::delivery::{Applier, Change, Comparison, Kind, Part, Reached, Scopes};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::pr::behind::{Behind, Files};
use crate::pr::clock::Clock;
use crate::pr::field::{Field, fields, masked, shown};
use crate::pr::finding::{Finding, Standards, Told, findings as found};
use crate::pr::kinds::Kinds;
use crate::pr::landing::{Landing, State};
use crate::pr::refusal::{Refusal, refused};
use crate::pr::stage::stages;
use crate::pr::swept::Swept;
use crate::pr::train::Train;
use crate::pr::unreached::unreached;
use crate::pr::unread::unread;
use crate::pr::wanted::Wanted;
use crate::pr::withheld::{Withheld, withheld};
use crate::render::Renderer;
use crate::repo::manifest::ObjectId;
use crate::repo::secret::is_cipher;

/// What a pull request changes.
#[derive(Clone, Debug)]
pub struct Report {
    /// The commit that it is compared with.
    pub base: String,
    /// The commit of the pull request; `None` for a working tree that differs from its commit.
    pub head: Option<String>,
    /// When it is merged.
    pub now: Timestamp,
    /// The objects as clusters get them, by cluster, folder and id.
    pub changes: Vec<Line>,
    /// What kustomize builds differently and is another change in the cluster, or none, since a variable of `postBuild`
    /// decides it.
    pub built: Vec<Line>,
    /// The landing with the first [`deadline`](Landing::deadline): whoever merges before reaches every window that can
    /// still be reached. `None` where nothing waits, or it is too late.
    pub deadline: Option<Landing>,
    /// What deserves a look.
    pub findings: Vec<Finding>,
    /// What waits for the same openings already.
    pub trains: Vec<Train>,
    /// What does not build or is not looked at, so that nothing is said of its objects.
    pub withheld: Vec<Withheld>,
    /// The changed files that make objects and reach no cluster.
    pub unreached: Vec<RepoPath>,
}

/// One object of one cluster.
#[derive(Clone, Debug)]
pub struct Line {
    /// The cluster.
    pub cluster: String,
    /// What builds it, or built it where it is deleted.
    pub by: By,
    /// What built it, where that is another one.
    pub from: Option<By>,
    /// The type of the side that it is on.
    pub change_type: Option<String>,
    /// `apiVersion`, as it is, or as it was where it is deleted.
    pub api_version: String,
    /// Its id in the cluster, as far as Git tells what `postBuild` puts into it.
    pub id: ObjectId,
    /// Its id, as kustomize builds it.
    pub built: ObjectId,
    /// Whether kustomize builds the same, and only what `postBuild.substitute` puts in differs.
    pub is_substituted: bool,
    /// What becomes of it.
    pub kind: Kind,
    /// How it differs; nothing for what is new or goes.
    pub fields: Vec<Field>,
    /// The whole object, where it is new or goes.
    pub object: Option<Value>,
    /// The changed files behind it; where none is known, the file that it comes from.
    pub files: Vec<Behind>,
    /// The change that Kubernetes refuses.
    pub refused: Option<Refusal>,
    /// Whether Flux makes it anew where Kubernetes refuses the change (kustomize-controller, `force`).
    pub is_forced: bool,
    /// When it lands.
    pub lands: Landing,
}

impl Line {
    /// Returns whether it leaves Git and stays in its cluster, since Flux does not delete it.
    pub fn is_kept(&self) -> bool {
        self.kind == Kind::Deleted && self.lands.state == State::Never
    }
}

/// A Flux Kustomization, and the folder that it builds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct By {
    /// The folder, from the top of the git repository.
    pub path: RepoPath,
    /// Its namespace and its name; `None` where no Flux Kustomization in Git applies the folder.
    pub kustomization: Option<(String, String)>,
}

impl By {
    /// Names what builds something.
    pub fn of(applier: &Applier<'_>) -> By {
        let id = |one: &Reached| (one.namespace().to_owned(), one.name().to_owned());
        By { path: applier.path.clone(), kustomization: applier.kustomization.map(id) }
    }

    /// Returns the name, or the folder where there is none.
    pub fn name(&self) -> &str {
        self.kustomization.as_ref().map_or(self.path.as_str(), |(_, name)| name)
    }

    /// Returns the name beside another one: with the namespace where both have one name.
    pub fn name_beside(&self, other: &By) -> String {
        match &self.kustomization {
            Some((namespace, name)) if other.name() == name => format!("{namespace}/{name}"),
            _ => self.name().to_owned(),
        }
    }
}

/// What is compared, beside the trees.
pub struct Question<'a> {
    /// The commit that it is compared with.
    pub base: String,
    /// The commit of the pull request; `None` for a working tree that differs from its commit.
    pub head: Option<String>,
    /// Why the head's spec can't be read, if so.
    pub broken: Option<Diagnostic>,
    /// By what `check` judges the trees; `None` leaves it out.
    pub standards: Option<Standards<'a>>,
}

/// Compares two trees and says when each difference lands.
pub fn report(question: Question<'_>, clock: &Clock<'_>, renderer: &dyn Renderer) -> Report {
    let comparison = Comparison::staged(clock.before.world, clock.after.world, renderer);
    let mut files = Files::new(clock.before.world, clock.after.world, &comparison);
    let wanted = Wanted::new(renderer);
    let landings: Vec<Landing> = comparison.pairs.iter().map(|pair| clock.lands(pair, &wanted)).collect();
    let by_values: Vec<Option<Landing>> =
        comparison.pairs.iter().map(|pair| clock.lands_by_values(pair)).collect();
    let kinds = Kinds::of(clock, &comparison, &landings);
    let swept = Swept::of(clock, &comparison, &landings);
    let all = comparison.changes.iter().chain(&comparison.built);
    let snapshots = [clock.before.world.snapshot, clock.after.world.snapshot];
    let scopes = Scopes::of(&snapshots, all.map(|change| &change.id));
    let mut lines = |changes: &[Change], is_live: bool| -> Vec<Line> {
        let parts = |change: &Change| {
            let of = |lands: Option<&Landing>| Some(kinds.lands(change, lands?.clone()));
            let values = of(by_values.get(change.pair()).and_then(Option::as_ref));
            match (of(landings.get(change.pair())), values) {
                (None, _) => Vec::new(),
                (Some(files), values) if is_live => stages(change, files, values),
                (Some(files), Some(values)) if change.between.is_some() => {
                    vec![(change.clone(), files.and(values))]
                }
                (Some(files), _) => vec![(change.clone(), files)],
            }
        };
        let line = |(change, lands): (Change, Landing)| {
            line(clock, (&comparison, &swept), lands, &change, &mut files)
        };
        let placed =
            |line: Line| Line { id: scopes.placed(&line.id), built: scopes.placed(&line.built), ..line };
        changes.iter().flat_map(parts).filter_map(line).map(placed).collect()
    };
    let (changes, built) = (lines(&comparison.changes, true), lines(&comparison.built, false));
    let mut withheld = withheld(&comparison);
    withheld.extend(unread(clock.before.world, clock.after.world, &comparison, &changes));
    let unreached = unreached(clock.before.world, clock.after.world, &comparison.files, &withheld);
    let waiting = changes.iter().map(|line| &line.lands);
    let waiting = waiting.filter(|lands| lands.deadline.is_some_and(|deadline| deadline > clock.now));
    let deadline = waiting.min_by_key(|lands| (lands.deadline, *lands)).cloned();
    let told = Told { changes: &changes, withheld: &withheld };
    let mut findings: Vec<Finding> = question.broken.iter().map(Finding::of_spec).collect();
    findings.extend(found(clock, &comparison, &landings, told, question.standards.as_ref(), renderer));
    Report {
        base: question.base,
        head: question.head,
        now: clock.now,
        changes,
        built,
        deadline,
        findings,
        trains: Vec::new(),
        withheld,
        unreached,
    }
}

/// Says why Flux does not apply an object as it is now.
fn passed_over(change: &Change) -> Option<&'static str> {
    let now = &change.after.as_ref()?.1.value;
    if is_passed_over(now) {
        return Some("its own settings keep Flux from applying it");
    }
    (change.kind() == Kind::Changed && is_only_created(now))
        .then_some("`ssa: IfNotPresent` on it keeps Flux from changing it")
}

fn line(
    clock: &Clock<'_>,
    (comparison, swept): (&Comparison<'_>, &Swept),
    lands: Landing,
    change: &Change,
    files: &mut Files<'_>,
) -> Option<Line> {
    let kind = change.kind();
    let pair = comparison.pairs.get(change.pair())?;
    // The newer spec takes away what leaves the files.
    let is_older = kind == Kind::Deleted && pair.part != Part::Files;
    let by = if is_older { &pair.before } else { &pair.after };
    let by = by.as_ref()?;
    let object = change.object()?;
    let from = change.before.as_ref().filter(|_| kind == Kind::Moved);
    let from = from.and_then(|(old, _)| comparison.pairs.get(*old)?.before.as_ref()).map(By::of);
    let lands = match kind {
        Kind::Deleted => swept.with(comparison, change, clock.deletes(pair, &object.value, &lands)),
        _ => passed_over(change).map_or(lands, Landing::never),
    };
    let tree = if is_older { &clock.before } else { &clock.after };
    let differing = match (&change.before, &change.after) {
        (Some((_, old)), Some((_, new))) => masked(&old.value, &new.value, fields(&old.value, &new.value)),
        _ => Vec::new(),
    };
    let sides = [&change.before, &change.after];
    let word = if kind == Kind::Deleted { "before" } else { "after" };
    Some(Line {
        cluster: pair.cluster.clone(),
        by: By::of(by),
        from,
        change_type: tree.type_of(by).map(str::to_owned),
        api_version: object.value["apiVersion"]
            .as_str()
            .filter(|own| !is_cipher(own))
            .unwrap_or_default()
            .into(),
        id: change.live.clone(),
        built: change.id.clone(),
        is_substituted: change.is_substituted,
        kind,
        fields: differing,
        object: matches!(kind, Kind::Created | Kind::Deleted).then(|| shown(&object.value, word)),
        files: files.behind(change),
        refused: match (&change.before, &change.after) {
            (Some((_, old)), Some((_, new))) => refused(&old.value, &new.value),
            _ => None,
        },
        is_forced: by.spec()["force"] == true
            || sides.into_iter().flatten().any(|(_, one)| is_forced(&one.value)),
        lands,
    })
}
