//! What an object does to Flux Kustomizations.

use crate::mechanism::{HeldId, Parameter, SuspendPatch};
use crate::schedule::OpenTimes;
use crate::spec::MechanismName;

/// Which way a Flux Kustomization is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A window opens: it is resumed.
    Open,
    /// A window closes: it is suspended.
    Close,
    /// It waits at a held source, which follows another one while a window is open.
    Follow,
}

impl Action {
    /// Returns whether what it turns waits for a window by it.
    pub fn holds(self) -> bool {
        self != Action::Open
    }

    /// Tells what a job that does it does, as a verb.
    pub fn verb(self) -> &'static str {
        match self {
            Action::Open => "resumes",
            Action::Close => "suspends",
            Action::Follow => "holds",
        }
    }
}

/// One Flux Kustomization that a command suspends or resumes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// Which way.
    pub action: Action,
    /// The Kustomization's namespace. Where the command names none, kubectl takes `POD_NAMESPACE`, else that
    /// of its pod (client-go, `inClusterClientConfig.Namespace`), and flux takes `FLUX_SYSTEM_NAMESPACE`,
    /// else `flux-system` (flux2, `configureDefaultNamespace`). `flux-system` also where the pod's is not
    /// known; what a script or a command line sets and what a kubeconfig says is not read.
    pub namespace: String,
    /// The Kustomization's name; `*` for `--all`.
    pub name: String,
}

/// A command that suspends or resumes Flux Kustomizations that its words do not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// Which way, where the words tell that.
    pub action: Option<Action>,
    /// The words of the command.
    pub command: String,
}

/// What an object does to Flux Kustomizations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The mechanism that understands them.
    pub mechanism: MechanismName,
    /// What they suspend and resume, in order and once.
    pub turns: Vec<Turn>,
    /// The commands of which it is not known what they turn: variables, input of `xargs`, files.
    pub unclear: Vec<Unclear>,
    /// The patches among the commands.
    pub patches: Vec<SuspendPatch>,
    /// The open times of the table at which it looks, where it looks at one: its schedule says no more than how often.
    pub table: Option<OpenTimes>,
    /// How many minutes lie between two looks; 0 without a table.
    pub every: u32,
    /// The source that it lets follow another one; nothing is held back then but what reads that one.
    pub held: Option<HeldId>,
    /// The name of that other one, of the same kind and in the same namespace.
    pub follows: Option<String>,
    /// Where it keeps whether its type is open, for policies.
    pub parameter: Option<Parameter>,
    /// Whether it looks for the annotation by which people stop it.
    pub obeys_stop: bool,
    /// The first container, by position, that has one of these commands.
    pub container: Option<usize>,
}

impl Reading {
    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.unclear.is_empty()
    }

    /// Returns which way the job turns all that it turns; `None` where it turns nothing, or goes both ways in one run.
    pub fn action(&self) -> Option<Action> {
        let first = self.turns.first()?.action;
        self.turns.iter().all(|turn| turn.action == first).then_some(first)
    }
}
