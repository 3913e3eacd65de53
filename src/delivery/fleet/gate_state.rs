//! What holds changes back, as the commands say it.

use crate::text::words;

words! {
    /// What holds changes back outside of the windows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum GateState {
        /// Nothing, and nothing should: there is no window.
        RealTime = "none",
        /// CronJobs that stand in Git.
        Closes = "closes",
        /// Nothing: the spec keeps the CronJobs suspended.
        Off = "off",
        /// Nothing that is known: the Flux Kustomization that they would suspend is not in Git.
        NotInGit = "not-in-git",
        /// Nothing yet: it is split, and its Flux Kustomization comes with the hand-over.
        NotHandedOver = "not-handed-over",
        /// CronJobs that stand in Git, if the Flux Kustomization that they name was made in the cluster by hand: it is
        /// not in Git.
        Unseen = "unseen",
        /// Nothing that is known: no CronJob in Git suspends the Flux Kustomization.
        NoJob = "no-job",
        /// Nothing that lasts: CronJobs in Git suspend it, and `spec.suspend: false` in Git resumes it.
        Resumed = "resumed",
        /// CronJobs that stand in Git and that the spec says nothing about.
        Foreign = "foreign",
        /// A held source that nothing in Git moves: its job is suspended, or Flux Operator is kept from its provider.
        Unmoved = "unmoved",
    }
}
