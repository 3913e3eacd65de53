//! What an answer must not leave unsaid.

use crate::delivery::fleet::{GateState, Part, Undivided};
use crate::delivery::{ASSUMED, KEPT_OUT, UNBUILT, UNCLOSED};
use crate::when::{Answer, Line};

/// One remark about some clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable name.
    pub kind: &'static str,
    /// The clusters that it speaks of, in order.
    pub clusters: Vec<String>,
    /// What is the case and what follows from it.
    pub message: &'static str,
    /// What to do.
    pub help: &'static str,
}

/// A kind of remark: its name, when it is made, what it says.
type Kind = (&'static str, fn(&Line) -> bool, &'static str, &'static str);

const KINDS: [Kind; 21] = [
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
        |line| line.before_first_closing.is_some(),
        UNCLOSED,
        "`gitops-windows stop --without-git` prints the command that closes at once",
    ),
    (
        "assumed-closed",
        |line| line.is_assumed && !line.is_kept_out,
        ASSUMED,
        "ask the cluster with `gitops-windows status`; in a shallow clone, `git fetch --unshallow` helps too",
    ),
    (
        "unread-provider",
        |line| line.is_unread,
        "Flux Operator has read no commit for its provider yet. Nothing of the type is applied until the window opens",
        "let it wait, or read one now: `gitops-windows override open --cluster NAME` prints the command",
    ),
    (
        "kept-out",
        |line| line.is_kept_out && !line.is_unbuilt,
        KEPT_OUT,
        "ask the cluster with `gitops-windows status`, and remove `suspend: true`: nothing new of the gate arrives",
    ),
    (
        "gate-not-built",
        |line| line.is_unbuilt,
        UNBUILT,
        "ask the cluster with `gitops-windows status`; `gitops-windows check` says what to correct in the build",
    ),
    (
        "no-entry-point",
        |line| line.folder.is_none(),
        "the cluster has no entry point in this repository, so nothing of it lands there",
        "name its folders under `clusters`, or take the cluster out of the spec",
    ),
    (
        "no-job",
        |line| line.gate == GateState::NoJob,
        "no CronJob in Git suspends the Flux Kustomization. Nothing closes outside of the windows",
        "run `gitops-windows sync`",
    ),
    (
        "resumed",
        |line| line.gate == GateState::Resumed,
        "`spec.suspend: false` stands in Git: each reconciliation resumes the Flux Kustomization. No window stays closed",
        "remove the line from the Flux Kustomization",
    ),
    (
        "foreign-gate",
        |line| line.gate == GateState::Foreign,
        "a gate in Git makes a Flux Kustomization wait without a window in the spec. Its openings are unknown",
        "hand the entry point over to the Flux Kustomizations of its types\nor run `gitops-windows sync` to see how that gate goes",
    ),
    (
        "unmoved",
        |line| line.gate == GateState::Unmoved,
        "nothing in Git moves the held source: its CronJob is suspended, or its provider disabled. Nothing lands",
        "remove `suspend: true` or the annotation there\nor run `gitops-windows sync`",
    ),
    (
        "suspended",
        Line::is_suspended,
        "`spec.suspend: true` stands in Git: nothing lands, and the windows can't change that for long",
        "remove the line from the Flux Kustomization",
    ),
    (
        "not-split",
        |line| is_unheld(line) && line.undivided.is_none(),
        "an entry point is not split: its Flux Kustomization applies changes of every type alike",
        "`gitops-windows split --all` divides it or says why not; then `gitops-windows migrate` hands it over",
    ),
    (
        "parent",
        |line| is_unheld(line) && line.undivided == Some(Undivided::Parent),
        "an entry point applies Flux Kustomizations, so no split divides it. Its own objects land at once",
        "move objects that have a window into an entry point of their own",
    ),
    (
        "not-gated",
        |line| {
            line.gate == GateState::RealTime && is_unheld(line) && line.undivided == Some(Undivided::Gated)
        },
        "every object of an entry point has a window, but no gate suspends it. They land at once",
        "`gitops-windows sync --dry-run` says why, and what to change",
    ),
    (
        "remote",
        |line| is_unheld(line) && line.undivided == Some(Undivided::Remote),
        "an entry point builds on another repository. No split and no gate knows its objects, which land at once",
        "copy it with `gitops-windows fetch-bases`; then `gitops-windows split --all` divides it",
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
        "never-opens",
        |line| {
            line.gate == GateState::Closes
                && !line.is_open()
                && line.times.is_some_and(|times| times.next_open.is_none())
        },
        "the windows do not open again within five years, or before their table ends",
        "end a freeze that lasts, move the end of the table, or mend the windows",
    ),
];

/// Tells whether it applies changes of every type at once; what a gate holds back whole needs no split.
pub(super) fn is_unheld(line: &Line) -> bool {
    let is_held = matches!(line.gate, GateState::Closes | GateState::Resumed | GateState::Unmoved);
    line.part == Part::Whole && !is_held && !line.is_suspended()
}

/// Returns the names of all remarks.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, ..)| *kind)
}

/// Gives the remarks about an answer, each kind once.
pub fn notes(answer: &Answer) -> Vec<Note> {
    let mut notes = Vec::new();
    for (kind, applies, message, help) in KINDS {
        let mut clusters: Vec<String> =
            answer.lines.iter().filter(|line| applies(line)).map(|line| line.cluster.clone()).collect();
        clusters.dedup();
        if !clusters.is_empty() {
            notes.push(Note { kind, clusters, message, help });
        }
    }
    notes
}
