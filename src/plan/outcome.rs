//! What a split came to, entry point by entry point.

use serde_json::{Value, json};

use crate::delivery::{EntryPoint, Input, OneType};
use crate::path::RepoPath;
use crate::plan::problem::{Nature, Problem};
use crate::proof::Renames;
use crate::text::words;

/// Why an entry point is left alone that has nothing to do with what was asked for.
pub const BESIDE: &str = "it uses none of the named apps";

/// How many are named at most of which the same is said.
pub const MOST_ALIKE: usize = 3;

words! {
    /// How objects were divided.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Way {
        /// Nothing had to be divided.
        Untouched = "untouched",
        /// Its parts are one again.
        Joined = "joined",
        /// Files moved into a folder for each type.
        Plain = "plain",
        /// Each side builds everything and keeps its own objects.
        Projection = "projection",
        /// It can't be done; nothing changes here.
        Refused = "refused",
    }
}

impl Way {
    /// Returns it in the words of people; a program reads [`as_str`](Way::as_str).
    fn told(self) -> &'static str {
        match self {
            Way::Untouched => "not divided",
            Way::Joined => "joined",
            Way::Plain => "split",
            Way::Projection => "split by projection",
            Way::Refused => "refused",
        }
    }
}

/// What became of one app at one entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppOutcome {
    /// The app's name.
    pub app: String,
    /// The way that was taken.
    pub way: Way,
    /// Why, in one sentence.
    pub reason: String,
}

/// What became of one entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryOutcome {
    /// The cluster, or of a shared entry point each of them, for people.
    pub cluster: String,
    /// The entry point that was there.
    pub before: RepoPath,
    /// The entry points of each type, in the order of types.
    pub after: Vec<(String, RepoPath)>,
    /// The way that was taken; with several apps the least plain.
    pub way: Way,
    /// Why, in one sentence; empty where a problem says it.
    pub reason: String,
    /// What it was refused for.
    pub problem: Option<Problem>,
    /// The apps that were looked at.
    pub apps: Vec<AppOutcome>,
    /// What stays with the old entry point for good, since nobody named it.
    pub remaining: Vec<String>,
    /// Where its objects are applied from then on, if sides that were live take over in the same
    /// step; otherwise empty.
    pub taken_over: Vec<RepoPath>,
    /// The Flux Kustomizations that go or come by that.
    pub renamed: Renames,
    /// What else people are to know of it.
    pub notes: Vec<String>,
    /// The type of all of its objects, where it is left undivided for that.
    pub one_type: Option<OneType>,
}

impl EntryOutcome {
    /// Begins an outcome of which only the entry point is known.
    pub fn new(cluster: &str, before: &RepoPath) -> EntryOutcome {
        EntryOutcome {
            cluster: cluster.to_owned(),
            before: before.clone(),
            after: Vec::new(),
            way: Way::Untouched,
            reason: String::new(),
            problem: None,
            apps: Vec::new(),
            remaining: Vec::new(),
            taken_over: Vec::new(),
            renamed: Renames::default(),
            notes: Vec::new(),
            one_type: None,
        }
    }

    /// Begins the outcome of an entry point.
    pub fn of(entry: &EntryPoint) -> EntryOutcome {
        EntryOutcome::new(&entry.named_clusters(), &entry.path)
    }

    /// Returns whether it has nothing to do with what was asked for.
    pub fn is_beside(&self) -> bool {
        self.is_untouched() && self.reason == BESIDE
    }

    /// Returns whether it is divided and not handed over yet. What joins sides that are live is done with that.
    pub fn is_begun(&self) -> bool {
        matches!(self.way, Way::Plain | Way::Projection)
            && self.taken_over.is_empty()
            && !self.after.is_empty()
    }

    /// Returns whether nothing is done to it.
    pub fn is_untouched(&self) -> bool {
        self.way == Way::Untouched
    }

    /// Makes it a refusal.
    #[must_use]
    pub fn refused(self, problem: Problem) -> EntryOutcome {
        EntryOutcome {
            way: Way::Refused,
            reason: String::new(),
            problem: Some(problem),
            after: Vec::new(),
            ..self
        }
    }

    /// Returns why it came out so, in one sentence.
    pub fn why(&self) -> &str {
        self.problem.as_ref().map_or(&self.reason, |problem| &problem.reason)
    }

    /// Returns whether its step may only be merged while the window is open.
    pub fn waits_for_window(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.nature == Nature::Window)
    }

    /// Returns whether it was refused because the repository is broken, not because a split would be unsafe.
    pub fn is_broken(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.nature == Nature::Broken)
    }

    /// Makes it an entry point that nothing is done to.
    #[must_use]
    pub fn untouched(mut self, reason: impl Into<String>) -> EntryOutcome {
        self.way = Way::Untouched;
        self.reason = reason.into();
        self
    }

    /// Makes it an entry point that is left as it is for want of a second type.
    #[must_use]
    pub fn undivided(self, input: &Input<'_>, entry: &EntryPoint, one: OneType) -> EntryOutcome {
        EntryOutcome { one_type: Some(one), ..self.untouched(input.undivided(entry, one)) }
    }

    /// Says of one that is left so what holds it back in `next`.
    pub fn held_in(&mut self, next: &Input<'_>) {
        if let Some((one, entry)) = self.one_type.zip(next.model.entry(&self.before)) {
            self.reason = next.undivided(entry, one);
        }
    }

    /// Returns the lines that tell people of it, below its cluster, with each app by itself if `all` are wanted.
    pub fn told(&self, all: bool) -> Vec<String> {
        std::iter::once(format!("  {}  {}", self.before, self.way.told())).chain(self.reasons(all)).collect()
    }

    /// Returns the lines of those that say why; apps of which the same is said share one, unless `all` are wanted.
    pub fn reasons(&self, all: bool) -> Vec<String> {
        // What decides for the whole entry point is said already.
        let said = |app: &&AppOutcome| self.why() == format!("{}: {}", app.app, app.reason);
        let why = match self.apps.iter().find(said) {
            Some(AppOutcome { app, way, reason }) => format!("{app}: {}, {reason}", way.told()),
            None => self.why().to_owned(),
        };
        let mut lines: Vec<String> =
            Some(why).filter(|why| !why.is_empty()).iter().map(|why| format!("    why: {why}")).collect();
        let others = self.apps.iter().filter(|app| self.apps.len() > 1 && !said(app));
        let mut groups: Vec<(Vec<&str>, Way, &str)> = Vec::new();
        for app in others {
            match groups.iter_mut().find(|(_, way, why)| !all && (*way, *why) == (app.way, &app.reason)) {
                Some((names, ..)) => names.push(&app.app),
                None => groups.push((vec![&app.app], app.way, &app.reason)),
            }
        }
        lines.extend(groups.into_iter().map(|(names, way, why)| {
            let names = match names.len() {
                ..=MOST_ALIKE => names.join(", "),
                count => format!("{count} apps (--verbose names them)"),
            };
            format!("    {names}: {}, {why}", way.told())
        }));
        lines
    }

    /// Returns the outcome as JSON; paths are relative to the top of the git repository.
    pub fn to_json(&self) -> Value {
        let after: Vec<Value> =
            self.after.iter().map(|(name, path)| json!({ "type": name, "path": path.to_string() })).collect();
        let apps: Vec<Value> = self
            .apps
            .iter()
            .map(|app| json!({ "app": app.app, "way": app.way.as_str(), "reason": app.reason }))
            .collect();
        let mut value = json!({
            "cluster": self.cluster,
            "before": { "path": self.before.to_string() },
            "after": after,
            "way": self.way.as_str(),
            "reason": self.why(),
            "apps": apps,
            "remaining": self.remaining,
        });
        if let Some(problem) = &self.problem {
            value["remedy"] = json!(problem.remedy());
        }
        value
    }
}
