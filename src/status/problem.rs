//! What is not as it should be.

/// One thing that is not as it should be in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub kind: Kind,
    /// The type that it is about, where it is about one.
    pub change_type: Option<String>,
    /// What is wrong, beginning with the resource.
    pub message: String,
    /// How it came to that, and what follows.
    pub reasons: Vec<String>,
    /// What to do, step by step.
    pub steps: Vec<String>,
}

/// What is not as it should be, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The cluster has nothing of what Git says.
    OtherCluster,
    /// What is new gets in outside of the windows.
    Open,
    /// What is new does not get in within a window.
    Closed,
    /// Somebody keeps what is new out, and no window lets it in.
    Stopped,
    /// A commit is applied that was made after the window had closed.
    Landed,
    /// A Flux Kustomization is not there.
    Missing,
    /// A Flux Kustomization builds something else than in Git.
    Elsewhere,
    /// A Flux Kustomization or a source is not ready.
    NotReady,
    /// The last run of a CronJob failed, or has failed so far.
    Failed,
    /// A CronJob did not run.
    Missed,
    /// A CronJob is not there.
    NoJob,
    /// A CronJob is suspended, and not in Git.
    JobSuspended,
    /// A CronJob does something else than in Git.
    JobDiffers,
    /// A CronJob that Git does not have closes something.
    ForeignJob,
    /// The commit of a held source was set by hand.
    Pinned,
    /// Fields were set by hand.
    ByHand,
    /// What waits for no window is suspended.
    Suspended,
    /// The cluster did not let something be read.
    Unread,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 18] = [
        Kind::OtherCluster,
        Kind::Open,
        Kind::Closed,
        Kind::Stopped,
        Kind::Landed,
        Kind::Missing,
        Kind::Elsewhere,
        Kind::NotReady,
        Kind::Failed,
        Kind::Missed,
        Kind::NoJob,
        Kind::JobSuspended,
        Kind::JobDiffers,
        Kind::ForeignJob,
        Kind::Pinned,
        Kind::ByHand,
        Kind::Suspended,
        Kind::Unread,
    ];

    /// Returns the name by which programs know it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::OtherCluster => "other-cluster",
            Kind::Open => "open",
            Kind::Closed => "closed",
            Kind::Stopped => "stopped",
            Kind::Landed => "landed",
            Kind::Missing => "missing",
            Kind::Elsewhere => "elsewhere",
            Kind::NotReady => "not-ready",
            Kind::Failed => "failed",
            Kind::Missed => "missed",
            Kind::NoJob => "no-job",
            Kind::JobSuspended => "job-suspended",
            Kind::JobDiffers => "job-differs",
            Kind::ForeignJob => "foreign-job",
            Kind::Pinned => "pinned",
            Kind::ByHand => "by-hand",
            Kind::Suspended => "suspended",
            Kind::Unread => "unread",
        }
    }
}
