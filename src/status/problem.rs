//! What is not as it should be.

use crate::text::words;

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

words! {
    /// What is not as it should be, in the order in which it is told.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Kind {
        /// The cluster has nothing of what Git says.
        OtherCluster = "other-cluster",
        /// What is new gets in outside of the windows.
        Open = "open",
        /// What is new does not get in within a window.
        Closed = "closed",
        /// Somebody keeps what is new out, and no window lets it in.
        Stopped = "stopped",
        /// A commit is applied that was made after the window had closed.
        Landed = "landed",
        /// A Flux Kustomization is not there.
        Missing = "missing",
        /// A Flux Kustomization builds something else than in Git.
        Elsewhere = "elsewhere",
        /// A Flux Kustomization or a source is not ready.
        NotReady = "not-ready",
        /// The last run of a CronJob failed, or has failed so far.
        Failed = "failed",
        /// A CronJob did not run.
        Missed = "missed",
        /// A CronJob is not there.
        NoJob = "no-job",
        /// A CronJob is suspended, and not in Git.
        JobSuspended = "job-suspended",
        /// A CronJob does something else than in Git.
        JobDiffers = "job-differs",
        /// A CronJob that Git does not have closes something.
        ForeignJob = "foreign-job",
        /// The commit of a held source was set by hand.
        Pinned = "pinned",
        /// Fields were set by hand.
        ByHand = "by-hand",
        /// What waits for no window is suspended.
        Suspended = "suspended",
        /// The cluster did not let something be read.
        Unread = "unread",
    }
}
