//! What holds changes back, as the commands say it.

/// What holds changes back outside of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateState {
    /// Nothing, and nothing should: there is no window.
    RealTime,
    /// CronJobs that stand in Git.
    Closes,
    /// Nothing: the spec keeps the CronJobs suspended.
    Off,
    /// Nothing that is known: the Flux Kustomization that they would suspend is not in Git.
    NotInGit,
    /// Nothing yet: it is split, and its Flux Kustomization comes with the hand-over.
    NotHandedOver,
    /// CronJobs that stand in Git, if the Flux Kustomization that they name was made in the cluster by hand: it is
    /// not in Git.
    Unseen,
    /// Nothing that is known: no CronJob in Git suspends the Flux Kustomization.
    NoJob,
    /// Nothing that lasts: CronJobs in Git suspend it, and `spec.suspend: false` in Git resumes it.
    Resumed,
    /// CronJobs that stand in Git and that the spec says nothing about.
    Foreign,
    /// A held source that nothing in Git moves: its job is suspended, or Flux Operator is kept from its provider.
    Unmoved,
}

impl GateState {
    /// All of them.
    pub const ALL: [GateState; 10] = [
        GateState::RealTime,
        GateState::Closes,
        GateState::Off,
        GateState::NotInGit,
        GateState::NotHandedOver,
        GateState::Unseen,
        GateState::NoJob,
        GateState::Resumed,
        GateState::Foreign,
        GateState::Unmoved,
    ];

    /// Gives the name by which programs know it.
    pub fn as_str(self) -> &'static str {
        match self {
            GateState::RealTime => "none",
            GateState::Closes => "closes",
            GateState::Off => "off",
            GateState::NotInGit => "not-in-git",
            GateState::NotHandedOver => "not-handed-over",
            GateState::Unseen => "unseen",
            GateState::NoJob => "no-job",
            GateState::Resumed => "resumed",
            GateState::Foreign => "foreign",
            GateState::Unmoved => "unmoved",
        }
    }
}
