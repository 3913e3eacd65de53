//! What an answer must not leave unsaid.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::fleet::{GateState, Part, Undivided};
use crate::delivery::{
    ASSUMED, Doubt, KEPT_OUT, Stuck, UNBUILT, UNCLEAR, UNCLOSED, UNCOME, UNPRIVILEGED, UNSAID,
};
use crate::diagnostic::clean;
use crate::path::RepoPath;
use crate::plan::{OBJECTS_OUT_OF_ROOT, OUT_OF_ROOT};
use crate::text::some;
use crate::when::{Answer, Line, Ungated};

/// One remark about some clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable name.
    pub kind: &'static str,
    /// The clusters that it speaks of, in order.
    pub clusters: Vec<String>,
    /// What is the case and what follows from it, with the name of an entry point that it speaks of.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// A kind of remark: its name, when it is made, what it says.
type Kind = (&'static str, fn(&Line) -> bool, &'static str, &'static str);

/// What stands for the names of entry points in a message.
const ENTRY: &str = "an entry point";

/// What stands for the name of what depends on an entry point in a message.
const DEPENDANT: &str = "an ungated dependant needs it";

/// What stands for the name of a cluster where several have such an entry point.
const NAME: &str = "{cluster}";

/// A gate that windows.yaml does not want and that goes on closing.
const GATE_LEFT: &str = "gate-left";

/// A cluster that windows.yaml wants no gate for. Where one is left, that is what counts.
const NO_GATE_WANTED: &str = "no-gate-wanted";

/// Flux Kustomizations that may read this repository or another one.
const UNCLEAR_SOURCE: &str = "unclear-source";

/// How many Flux Kustomizations a note names at most.
const MOST_NAMES: usize = 5;

const KINDS: [Kind; 47] = [
    (
        "gate-off",
        |line| line.gate == GateState::Off,
        "the gate is off (`gate.enabled: false`): the windows exist, but nothing closes outside of them",
        "set `enabled: true` once the Flux Kustomizations run, and `gitops-windows sync`",
    ),
    (
        "not-in-git",
        |line| line.gate == GateState::NotInGit && line.entry.is_some(),
        "the Flux Kustomization is not in Git. Nothing closes outside of the windows, unless it was made by hand",
        "split the app and hand it over: its present Flux Kustomization applies all changes",
    ),
    (
        "unseen",
        |line| line.gate == GateState::Unseen,
        "the CronJobs name a Flux Kustomization that is not in Git. Nothing closes outside of the windows, unless it was made by hand",
        "split the app and hand it over, or make sure that the cluster has it",
    ),
    (
        "before-first-closing",
        |line| line.before_first_closing.is_some() && !line.is_brought && !line.is_uncome,
        UNCLOSED,
        "`gitops-windows stop --without-git` prints the command that closes at once",
    ),
    (
        "gate-never-came",
        |line| line.is_uncome && line.before_first_closing.is_some(),
        UNCOME,
        "run `gitops-windows sync`, which mends the source of a gate\nsee with `gitops-windows check` what else to correct",
    ),
    (
        "held-later",
        |line| line.is_brought,
        "a gated Flux Kustomization brings the held source only at its opening. Until then nothing holds the changes",
        "let such a move reach the cluster while the window is open\nor close it by hand: `flux suspend kustomization NAME`, and resume it after the opening",
    ),
    (
        "gate-changing",
        |line| line.changes.is_some(),
        "a commit changes the open times of the gate. Until the cluster has it, the times before count",
        "`gitops-windows stop --without-git` prints what closes at once, `gitops-windows override open` what opens",
    ),
    (
        "left-suspended",
        |line| line.is_left_suspended,
        "the CronJobs got a table while the gate before had it suspended. They resume nothing that others suspended",
        "run `flux resume kustomization NAME`, while the window is open\nsee with `gitops-windows status` what is suspended",
    ),
    (
        "assumed-closed",
        |line| line.is_assumed && line.gate_doubt.is_none(),
        ASSUMED,
        "ask the cluster with `gitops-windows status`; in a shallow clone, `git fetch --unshallow` helps too",
    ),
    (
        "unread-provider",
        |line| line.is_unread,
        "going by Git, Flux Operator has read no commit for its provider yet. Then nothing of the type is applied until the window opens",
        "ask the cluster with `gitops-windows status`\nor read one now: `gitops-windows override open --cluster NAME` prints the command",
    ),
    (
        "kept-out",
        |line| matches!(line.gate_doubt, Some(Doubt::Suspended(_))) && !line.is_uncome,
        KEPT_OUT,
        "ask the cluster with `gitops-windows status`, and remove `suspend: true`: nothing new of the gate arrives",
    ),
    (
        "gate-not-built",
        |line| matches!(line.gate_doubt, Some(Doubt::Unbuilt(_))) && !line.is_uncome,
        UNBUILT,
        "ask the cluster with `gitops-windows status`; `gitops-windows check` says what to correct in the build",
    ),
    (
        "gate-unprivileged",
        |line| {
            matches!(line.gate_doubt, Some(Doubt::Unprivileged(..)))
                && !line.is_uncome
                && line.gate != GateState::Unmoved
        },
        UNPRIVILEGED,
        "ask the cluster with `gitops-windows status`; `gitops-windows check` says what to correct (GW073)",
    ),
    (
        "unsaid-gate",
        |line| matches!(line.gate_doubt, Some(Doubt::Unsaid(..))),
        UNSAID,
        "ask the cluster with `gitops-windows status`\nwhere it lacks the other, correct `dependsOn`",
    ),
    (
        "no-entry-point",
        |line| line.folder.is_none(),
        "the cluster has no entry point in this repository, so nothing of it lands there",
        "name its folders under `clusters`, or take the cluster out of the spec",
    ),
    (
        "not-finished",
        |line| line.is_unfinished,
        "an entry point is handed over but not finished. Its CronJobs do not run yet, so its changes land at once",
        "wait until the clusters have applied that\nrun `gitops-windows migrate`, which finishes it",
    ),
    (
        "no-job",
        |line| {
            line.gate == GateState::NoJob
                && !line.is_unfinished
                && line.ungated.is_none()
                && !line.is_left_out()
        },
        "no CronJob in Git suspends the Flux Kustomization. Nothing closes outside of the windows",
        "run `gitops-windows sync`",
    ),
    (
        "left-out",
        |line| line.is_left_out() && line.ungated.is_none(),
        "the gate leaves an entry point out, as Git suspends what brings it. If the cluster has it, it lands at once",
        "ask the cluster with `flux get kustomizations`\nonce Git resumes what brings it, run `gitops-windows sync` in the same commit",
    ),
    (
        "resumed",
        |line| line.gate == GateState::Resumed,
        "`spec.suspend: false` stands in Git: each reconciliation resumes the Flux Kustomization. No window stays closed",
        "remove the line from the Flux Kustomization",
    ),
    (
        "foreign-gate",
        |line| line.gate == GateState::Foreign && line.ungated != Some(Ungated::Spec) && line.times.is_none(),
        "a gate in Git makes a Flux Kustomization wait without a window in the spec. Its openings are unknown",
        "hand the entry point over to the Flux Kustomizations of its types\nor run `gitops-windows sync` to see how that gate goes",
    ),
    (
        "foreign-times",
        |line| line.gate == GateState::Foreign && line.ungated != Some(Ungated::Spec) && line.times.is_some(),
        "a gate in Git makes a Flux Kustomization wait without a window in the spec. Its CronJobs say the times",
        "hand the entry point over to the Flux Kustomizations of its types\nor run `gitops-windows sync` to see how that gate goes",
    ),
    (
        "not-synced",
        |line| line.is_otherwise,
        "the gate in Git goes by other times than windows.yaml says. These are the times of the gate",
        "run `gitops-windows sync`\nmerge its files",
    ),
    (
        "unmoved",
        |line| line.gate == GateState::Unmoved,
        "nothing in Git moves the held source: its CronJob is suspended, or its provider disabled. Nothing lands",
        "remove `suspend: true` or the annotation there\nor run `gitops-windows sync`",
    ),
    (
        "suspended",
        |line| line.stuck() == Some(&Stuck::Suspended),
        "`spec.suspend: true` stands in Git: nothing lands, and the windows can't change that for long",
        "remove the line from the Flux Kustomization",
    ),
    (
        "suspended-source",
        |line| matches!(line.stuck(), Some(Stuck::Source(_))),
        "`spec.suspend: true` of a source stands in Git. It fetches no commit, so nothing lands",
        "remove the line from the source",
    ),
    (
        "source-fails",
        |line| matches!(line.stuck(), Some(Stuck::Unfetched(..))),
        "the `spec.sparseCheckout` of a source names a path that is not there. It fetches no commit, so nothing lands",
        "`gitops-windows check` names the path (GW066)",
    ),
    (
        "dependency-circle",
        |line| matches!(line.stuck(), Some(Stuck::Circle(_))),
        "a Flux Kustomization depends on itself, so that Flux never applies it",
        "take one `dependsOn` out of the circle: `gitops-windows check` names all of it",
    ),
    (
        "stuck-dependency",
        |line| matches!(line.stuck(), Some(Stuck::Dependency(_))),
        "Git keeps a dependency of a Flux Kustomization from applying any commit. So nothing of it lands",
        "mend the Flux Kustomization in `dependsOn`\nor take it out of `dependsOn`",
    ),
    (
        "unsaid-dependency",
        |line| line.unsaid().is_some(),
        "a Flux Kustomization depends on another, which is not in Git. Where the cluster lacks it too, nothing lands",
        "ask the cluster with `flux get kustomizations`\nwhere it lacks the other too, correct `dependsOn`, or add the other to Git",
    ),
    (
        "not-built",
        |line| line.is_failing && line.stuck().is_none(),
        "an entry point does not build, so nothing new of it lands. Its objects in the cluster stay as they are",
        "`gitops-windows check` says what to correct",
    ),
    (
        "not-split",
        |line| is_unheld(line) && line.undivided.is_none(),
        "an entry point is not split: its Flux Kustomization applies changes of every type alike",
        "run `gitops-windows split --all`, which divides it or says why not\nrun `gitops-windows migrate`, which hands it over",
    ),
    (
        "parent",
        |line| is_unheld(line) && line.undivided == Some(Undivided::Parent),
        "an entry point applies Flux Kustomizations, so no split divides it. Its own objects land at once",
        "move objects that have a window into an entry point of their own",
    ),
    (
        "empty",
        |line| is_unheld(line) && line.undivided == Some(Undivided::Empty),
        "an entry point renders no objects, so there is nothing to split and nothing lands",
        "list its apps in its kustomization.yaml, if it is to have some",
    ),
    (
        "not-gated",
        |line| is_idle(line) && line.needed_by.is_none() && !line.is_left_out(),
        "every object of an entry point has a window, but no gate suspends it. They land at once",
        "`gitops-windows sync --dry-run` says why, or `gitops-windows check` where nothing applies the gate",
    ),
    (
        "needed",
        |line| is_idle(line) && line.needed_by.is_some(),
        "no gate suspends an entry point, as an ungated dependant needs it. All of its objects have a window, but land at once",
        "`gitops-windows sync --dry-run` names that `dependsOn`, and what to do",
    ),
    (
        "of-root",
        |line| is_ungated(line) && line.ungated.is_none() && line.undivided == Some(Undivided::Root),
        "a root applies an entry point with all else. A gate would stop the whole cluster, so its objects land at once",
        OUT_OF_ROOT,
    ),
    (
        "root-only",
        |line| line.part == Part::Support && line.undivided == Some(Undivided::Root),
        "only a root applies objects of this repository. A gate would stop the whole cluster, so they land at once",
        OBJECTS_OUT_OF_ROOT,
    ),
    (
        "other-revision",
        |line| line.undivided == Some(Undivided::Elsewhere),
        "an entry point is read at another revision of this repository. A commit reaches it once it is there",
        "`gitops-windows clusters` names that revision",
    ),
    (
        "not-in-spec",
        |line| {
            let would =
                is_ungated(line) && matches!(line.undivided, Some(Undivided::Gated | Undivided::Root));
            line.ungated == Some(Ungated::Unnamed) && (would || line.gate == GateState::NoJob)
        },
        "windows.yaml does not name the cluster, so that `sync` writes no gate there. Nothing closes outside of the windows",
        "name it under `clusters`\nrun `gitops-windows sync`",
    ),
    (
        GATE_LEFT,
        |line| line.gate == GateState::Foreign && line.ungated == Some(Ungated::Spec),
        "a gate is left in Git, of which windows.yaml wants none (`hasGate: false`). It goes on closing",
        "run `gitops-windows sync` to see how that gate goes",
    ),
    (
        NO_GATE_WANTED,
        |line| line.ungated == Some(Ungated::Spec) && line.gate == GateState::RealTime,
        "`hasGate: false` stands in windows.yaml. No window holds anything back there",
        "take it out of the spec where changes should wait\nrun `gitops-windows sync`",
    ),
    (
        "remote",
        |line| is_unheld(line) && line.undivided == Some(Undivided::Remote),
        "an entry point builds on another repository. No split and no gate knows its objects, which land at once",
        "copy it with `gitops-windows fetch-bases`\nrun `gitops-windows split --all`, which divides it",
    ),
    (
        "not-handed-over",
        |line| line.part == Part::Remaining,
        "an entry point is split but not handed over. Its old Flux Kustomization still applies changes of every type",
        "`gitops-windows migrate` hands it over to the new Flux Kustomizations",
    ),
    (
        "race",
        |line| line.times.is_some_and(|times| times.race.is_some()),
        "an opening and a closing fire at the same instant. The slower Job decides; here the window counts as closed",
        "leave some minutes between them; `gitops-windows check` says which (GW107)",
    ),
    (
        "table-ended",
        |line| line.gate == GateState::Closes && line.ended.is_some(),
        "the table of open times has no opening any more",
        "run `gitops-windows sync --extend`\nmerge its files",
    ),
    (
        "frozen-for-ever",
        |line| line.never_opens() && line.is_frozen_for_ever(),
        "a freeze without an end keeps the windows closed",
        "run `gitops-windows freeze list`, which names it\nrun `gitops-windows freeze remove` with that name",
    ),
    (
        "never-opens",
        |line| line.never_opens() && !line.is_frozen_for_ever(),
        "the windows do not open again within five years, or before their table ends",
        "end a freeze that lasts\nor move the end of the table\nor let a CronJob run that opens\nor mend the windows",
    ),
];

/// Returns whether it applies changes of every type at once; what a gate holds back whole needs no split.
pub(super) fn is_unheld(line: &Line) -> bool {
    let is_held = matches!(line.gate, GateState::Closes | GateState::Resumed | GateState::Unmoved);
    let may_be_held = line.ungated != Some(Ungated::Spec);
    may_be_held && line.part == Part::Whole && !is_held && !line.lands_never()
}

/// Returns whether no gate holds it back, nor any CronJob.
pub(super) fn is_ungated(line: &Line) -> bool {
    line.gate == GateState::RealTime && is_unheld(line)
}

/// Returns whether every object has a window that no gate keeps, though the spec wants one.
pub(super) fn is_idle(line: &Line) -> bool {
    is_ungated(line) && line.ungated.is_none() && line.undivided == Some(Undivided::Gated)
}

/// Returns the names of all remarks.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, ..)| *kind).chain([UNCLEAR_SOURCE])
}

/// Returns the remarks about an answer. What is said of entry points is said once of all clusters of which the same is true.
pub fn notes(answer: &Answer) -> Vec<Note> {
    let mut notes = Vec::new();
    for (kind, applies, message, help) in KINDS {
        let is_left = |line: &&Line| {
            let mut left = notes.iter().filter(|note: &&Note| note.kind == GATE_LEFT);
            left.any(|note| note.clusters.contains(&line.cluster))
        };
        let lines = answer.lines.iter().filter(|line| applies(line));
        let lines: Vec<&Line> = lines.filter(|line| kind != NO_GATE_WANTED || !is_left(line)).collect();
        let mut alike: Vec<(Said<'_>, Vec<&[&Line]>)> = Vec::new();
        for own in lines.chunk_by(|a, b| a.cluster == b.cluster) {
            let said = if message.contains(ENTRY) { said(own) } else { Said::default() };
            match alike.iter_mut().find(|(known, _)| *known == said) {
                Some((_, all)) => all.push(own),
                None => alike.push((said, vec![own])),
            }
        }
        for (_, all) in alike {
            let clusters: Vec<String> =
                all.iter().flat_map(|own| own.first()).map(|line| line.cluster.clone()).collect();
            let lines = all.concat();
            let message = depending(&named(message, &lines, clusters.len() > 1), &lines);
            notes.push(Note { kind, clusters, message, help });
        }
    }
    notes.extend(unclear(answer));
    notes
}

/// Says of which Flux Kustomizations nobody knows whether they read this repository: they have no line.
fn unclear(answer: &Answer) -> Vec<Note> {
    let mut alike: BTreeMap<&BTreeSet<String>, Vec<String>> = BTreeMap::new();
    for (cluster, names) in &answer.unclear {
        alike.entry(names).or_default().push(cluster.clone());
    }
    let note = |(names, clusters): (&BTreeSet<String>, Vec<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (read, its) = if names.len() == 1 { ("reads", "its") } else { ("read", "their") };
        let names = clean(&some(&names, MOST_NAMES));
        let message = format!(
            "Git does not tell whether {names} {read} this repository. Nothing is known of when {its} objects land"
        );
        Note { kind: UNCLEAR_SOURCE, clusters, message, help: UNCLEAR }
    };
    alike.into_iter().map(note).collect()
}

/// The entry points of a cluster of which something is said, and what depends on them.
type Said<'l> = (BTreeSet<String>, BTreeSet<&'l str>);

/// Returns of which entry points something is said, with what stands for the name of the cluster.
fn said<'l>(lines: &[&'l Line]) -> Said<'l> {
    let entries = lines.iter().filter_map(|line| Some(shown(line, entry(line)?, true)));
    (entries.collect(), lines.iter().filter_map(|line| line.needed_by.as_deref()).collect())
}

/// Returns the entry point of a line; `None` of one that has no name.
fn entry(line: &Line) -> Option<&RepoPath> {
    line.entry.as_ref().filter(|one| !one.is_top())
}

/// Writes an entry point, with what stands for the name of the cluster where it is one of several.
fn shown(line: &Line, entry: &RepoPath, is_of_several: bool) -> String {
    let part = |part| if is_of_several && part == line.cluster { NAME } else { part };
    entry.segments().map(part).collect::<Vec<_>>().join("/")
}

/// Puts the name of the first of those that depend on some entry points into a message, and how many others there are.
fn depending(message: &str, lines: &[&Line]) -> String {
    let names: BTreeSet<&str> = lines.iter().filter_map(|line| line.needed_by.as_deref()).collect();
    let Some(first) = names.first() else { return message.to_owned() };
    let (others, depend) = match names.len() {
        1 => (String::new(), "depends"),
        several => (format!(" (and {} more)", several - 1), "depend"),
    };
    message.replacen(DEPENDANT, &format!("ungated {}{others} {depend} on it", clean(first)), 1)
}

/// Puts the name of the first of some entry points into a message that speaks of them, and how many others there are.
///
/// Folders of several clusters, in which only the name of the cluster differs, are told as one.
fn named(message: &str, lines: &[&Line], is_of_several: bool) -> String {
    let names = lines.iter().filter_map(|line| Some(clean(&shown(line, entry(line)?, is_of_several))));
    let names: BTreeSet<String> = names.collect();
    let Some(first) = names.first() else { return message.to_owned() };
    let others = match names.len() {
        1 => String::new(),
        several => format!(" (and {} more)", several - 1),
    };
    message.replacen(ENTRY, &format!("entry point {first}{others}"), 1)
}
