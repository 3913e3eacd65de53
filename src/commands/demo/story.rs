//! What is played, step by step.

use crate::commands::demo::player::Player;
use crate::error::Error;

/// A step of the way.
pub struct Step {
    /// What happens.
    pub title: &'static str,
    /// Why, in lines.
    pub told: &'static [&'static str],
    /// Whether it asks git, and is left out where that is not installed.
    pub needs_git: bool,
    /// Plays it.
    pub play: fn(&Player<'_>) -> Result<(), Error>,
}

/// How many lines of results are shown.
const NONE: usize = 0;
const SOME: usize = 47;
const ALL: usize = usize::MAX;

/// The steps, in the order of a first week.
pub const STEPS: &[Step] = &[
    Step {
        title: "The fleet as it is",
        told: &[
            "In each cluster, Flux Kustomization apps applies all apps.",
            "Every commit lands in all clusters at once.",
        ],
        needs_git: false,
        play: |player| {
            let and = if player.has_git() { " && git init --quiet" } else { "" };
            player.shell(&format!("cd {}{and}", player.folder.display()));
            player.commit("The fleet as it is")?;
            player.run(&["clusters"], ALL, 0)
        },
    },
    Step {
        title: "Say when",
        told: &[
            "init writes windows.yaml, and CronJobs that open and close the window.",
            "A ConfigMap is of type rt, real-time: it lands at once.",
            "A Deployment is of type rw: it waits for the reconciliation window, Saturday night.",
        ],
        needs_git: false,
        play: |player| {
            let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];
            player.run(&[&["init"], &window[..], &["--yes"]].concat(), NONE, 0)?;
            player.commit("Windows: Saturday night")
        },
    },
    Step {
        title: "See what a split would change",
        told: &[
            "A Flux Kustomization waits as a whole, so split divides its objects by type.",
            "In edge-01, all names have a prefix, and kustomize rewrites references to them.",
            "The tool builds before and after, and moves files only where no object changes.",
            "Nothing is written yet.",
        ],
        needs_git: false,
        play: |player| player.run(&["split", "--all", "--dry-run"], SOME, 1),
    },
    Step {
        title: "Write it, and prove it again",
        told: &["Each object is there once, on the side of its type, and unchanged."],
        needs_git: false,
        play: |player| {
            player.run(&["split", "--all", "--yes"], NONE, 0)?;
            player.commit("Split by change type")?;
            player.run(&["verify"], ALL, 0)
        },
    },
    Step {
        title: "Hand over, then finish",
        told: &[
            "apps-rt and apps-rw become the owners of what apps owns. Flux deletes nothing.",
            "In a real fleet, wait between two commits until the clusters have the first.",
        ],
        needs_git: true,
        play: |player| {
            player.run(&["migrate", "--yes"], NONE, 0)?;
            player.commit("Hand over to apps-rt and apps-rw")?;
            player.run(&["migrate", "--yes"], NONE, 0)?;
            player.commit("Finish: prune again, and switch the windows on")
        },
    },
    Step {
        title: "Ask when changes land",
        told: &[],
        needs_git: false,
        play: |player| player.run(&["when"], ALL, 0),
    },
    Step {
        title: "Open a pull request",
        told: &["It changes a ConfigMap and a Deployment. pr says when each line lands."],
        needs_git: true,
        play: |player| {
            player.shell("git checkout --quiet -b change");
            player.repository.begin_branch("change")?;
            player.replace("apps/web/web-rt/configmap.yaml", "All trains on time", "Delays on line 4")?;
            player.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0")?;
            player.commit("Newer nginx, and delays")?;
            player.run(&["pr", "--base", "main"], ALL, 0)
        },
    },
];

/// What to try next, and what it shows.
pub const NEXT: &[(&str, &str)] = &[
    ("gitops-windows calendar", "the windows as a timeline"),
    ("gitops-windows explain apps/web", "the type of each object, and why"),
    ("gitops-windows pr --base main --format html > pr.html", "the report as a page"),
    ("gitops-windows check", "what is wrong or doubtful"),
];
