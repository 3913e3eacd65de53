//! What is done to each repository.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use gitops_windows::delivery::Known;
use gitops_windows::delivery::Model;
use gitops_windows::delivery::{Input, app_names};
use gitops_windows::error::Error;
use gitops_windows::path::RepoPath;
use gitops_windows::plan::split::{Selection, join, split};
use gitops_windows::plan::{EntryOutcome, Plan, Way};
use gitops_windows::render::Embedded;
use gitops_windows::repo::{Entry, File, Snapshot};
use gitops_windows::spec::{self, Spec};
use gitops_windows::template::Templates;
use gitops_windows::verify::{Difference, verify};

use crate::agree;
use crate::dice::{Dice, Switches};
use crate::judge::Judge;
use crate::repository::{Layout, Repository, make};
use crate::support::{kustomize, path};

/// How often something was seen.
pub type Tally = BTreeMap<String, usize>;

/// A repository with its spec.
struct Trial {
    repository: Repository,
    before: Snapshot,
    spec: Spec,
    dice: Dice,
    /// What all plans of a trial build with: it remembers, as a judge that does not would tell.
    renderer: Embedded,
}

/// Splits a repository and joins it again, all at once and now and then app by app.
///
/// # Errors
///
/// When anything is not as it was, with what.
pub fn run(seed: u64, switches: &Switches, renderer: &Embedded) -> Result<Tally, String> {
    let mut trial = Trial::new(seed, switches, renderer)?;
    let before = trial.before.clone();
    let model = trial.model(&before);
    // Another kustomize judges every tenth.
    let outside = seed.is_multiple_of(10).then(kustomize);
    // What the judge says must not rest on what a plan remembers.
    let embedded = trial.renderer.forgetful();
    let judge = Judge::new(&before, &model, outside.as_ref(), &embedded);
    let mut tally = Tally::from([(format!("repositories of layout {:?}", trial.repository.layout), 1)]);
    let plan = trial.plan(&before, &Selection::All, true).map_err(|error| format!("split --all: {error}"))?;
    let after = plan.changes.apply(&before);
    judge.same(&after).map_err(|error| format!("after split --all, {error}"))?;
    for outcome in plan.report.entries() {
        trial.outcome(&judge, &before, &after, outcome, &mut tally)?;
    }
    trial.unchanged(&after, &Selection::All, true)?;
    trial.verified(&after, &plan)?;
    trial.joined(&after, &Selection::All)?;
    if seed.is_multiple_of(3) {
        trial.one_by_one(&judge, &mut tally)?;
    }
    Ok(tally)
}

/// Returns where the questions disagree about a repository, before it is split and after.
pub fn disagreements(seed: u64, switches: &Switches, renderer: &Embedded) -> Result<Vec<String>, String> {
    let trial = Trial::new(seed, switches, renderer)?;
    let plan = trial.plan(&trial.before, &Selection::All, true).map_err(|error| error.to_string())?;
    let after = plan.changes.apply(&trial.before);
    let ask = |tree: &Snapshot, when: &str| {
        let found = agree::disagreements(tree, &trial.spec.folder(), &trial.renderer).into_iter();
        found.map(|one| format!("seed {seed} {when}: {one}")).collect::<Vec<_>>()
    };
    Ok([ask(&trial.before, "before"), ask(&after, "after")].concat())
}

/// Writes a repository as it was and as it is split.
#[allow(clippy::disallowed_methods, reason = "writes where it was asked to")]
pub fn keep(seed: u64, switches: &Switches, folder: &Path) {
    let Ok(trial) = Trial::new(seed, switches, &Embedded::default()) else { return };
    let mut trees = vec![("before", trial.before.clone())];
    if let Ok(Ok(plan)) =
        std::panic::catch_unwind(AssertUnwindSafe(|| trial.plan(&trial.before, &Selection::All, true)))
    {
        trees.push(("after", plan.changes.apply(&trial.before)));
    }
    for (name, tree) in trees {
        for (path, entry) in tree.entries() {
            let place = folder.join(seed.to_string()).join(name).join(path.as_str());
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            match entry {
                Entry::File(file) => std::fs::write(&place, file.bytes()).unwrap(),
                #[cfg(unix)]
                Entry::Symlink { target } => drop(std::os::unix::fs::symlink(target, &place)),
                _ => {}
            }
        }
    }
}

impl Trial {
    fn new(seed: u64, switches: &Switches, renderer: &Embedded) -> Result<Trial, String> {
        let repository = make(seed, switches);
        let mut dice = Dice::at(seed, "trial");
        let model = Model::read(&repository.snapshot, &RepoPath::top(), &Known::default(), renderer);
        let mut clusters = model.clusters();
        // A team may leave a cluster alone.
        if clusters.len() > 1 && dice.one_in(4) {
            clusters.pop_last();
        }
        let names: String = clusters.iter().map(|name| format!("  {name}: {{}}\n")).collect();
        let text = format!("{}{names}", repository.spec);
        let mut before = repository.snapshot.clone();
        before.insert(path("windows.yaml"), File::new(text.as_bytes()));
        let spec = spec::read(&before, &path("windows.yaml")).map_err(|error| error.to_string())?.spec;
        Ok(Trial { repository, before, spec, dice, renderer: renderer.forgetful() })
    }

    fn model(&self, snapshot: &Snapshot) -> Model {
        Model::read(snapshot, &self.spec.folder(), &Known::default(), &self.renderer)
    }

    fn plan(&self, snapshot: &Snapshot, selection: &Selection, splits: bool) -> Result<Plan, Error> {
        let (renderer, model) = (&self.renderer, self.model(snapshot));
        let input = Input { spec: &self.spec, snapshot, model: &model, renderer };
        let templates = Templates::new(BTreeMap::new())?;
        if splits {
            split(&input, None, &templates, selection)
        } else {
            join(&input, &templates, selection, &BTreeMap::new())
        }
    }

    /// Looks at what became of one entry point.
    fn outcome(
        &self,
        judge: &Judge<'_>,
        before: &Snapshot,
        after: &Snapshot,
        outcome: &EntryOutcome,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let mut count = |what: &str| *tally.entry(what.to_owned()).or_default() += 1;
        count(outcome.way.as_str());
        let place = outcome.before.as_str();
        if outcome.way == Way::Refused {
            let meant = self.repository.broken.contains(place);
            let said = outcome.problem.as_ref();
            if said.is_none_or(|problem| problem.reason.is_empty() || problem.remedy().is_empty()) {
                return Err(format!("{place} is refused without a reason or a remedy: {outcome:?}"));
            }
            if outcome.is_broken() {
                count(if meant { "refused: broken on purpose" } else { "refused: does not build" });
                if !meant {
                    count(&format!("  {}", self.reason(outcome)));
                }
            } else {
                count(&format!("refused: {}", self.reason(outcome)));
            }
            return Ok(());
        }
        if self.repository.broken.contains(place) && self.spec.clusters.contains_key(&outcome.cluster) {
            return Err(format!("{place} is broken and was not refused: {outcome:?}"));
        }
        if outcome.after.is_empty() {
            return Ok(());
        }
        let (renderer, model) = (&self.renderer, self.model(before));
        let input = Input { spec: &self.spec, snapshot: before, model: &model, renderer };
        let objects = judge.divided(&input, after, outcome, outcome.remaining.is_empty())?;
        *tally.entry("objects in divided entry points".to_owned()).or_default() += objects;
        Ok(())
    }

    /// A reason without what is this repository's own.
    fn reason(&self, outcome: &EntryOutcome) -> String {
        let mut words: Vec<&str> = outcome.why().split_whitespace().collect();
        words.retain(|word| !word.contains(['/', '`', '"']));
        let mut text = words.join(" ");
        for app in &self.repository.apps {
            text = text.replace(app.as_str(), "APP");
        }
        text.chars().take(160).collect()
    }

    /// The same again must change nothing.
    fn unchanged(&self, tree: &Snapshot, selection: &Selection, splits: bool) -> Result<(), String> {
        let again =
            self.plan(tree, selection, splits).map_err(|error| format!("{selection:?} again: {error}"))?;
        match again.changes.first_key_value() {
            Some((path, _)) => Err(format!("{selection:?} again changes {path}")),
            None => Ok(()),
        }
    }

    /// `verify` must find nothing but what was refused and does not build, here or at all.
    fn verified(&self, after: &Snapshot, plan: &Plan) -> Result<(), String> {
        let (renderer, model) = (&self.renderer, self.model(after));
        let input = Input { spec: &self.spec, snapshot: after, model: &model, renderer };
        let refused = |path: &RepoPath| {
            plan.report.entries().iter().any(|outcome| outcome.before == *path && outcome.way == Way::Refused)
        };
        for check in verify(&input) {
            let found = check.differences.iter().find(|(_, difference)| {
                !(matches!(difference, Difference::Unbuildable(..) | Difference::Unknown(..))
                    && refused(&check.path))
            });
            if let Some((id, difference)) = found {
                let id = id.as_ref().map(ToString::to_string).unwrap_or_default();
                return Err(format!("verify of {}: {id} {difference}", check.path));
            }
        }
        Ok(())
    }

    /// Joining must give back every byte and mode, and leave nothing.
    fn joined(&self, after: &Snapshot, selection: &Selection) -> Result<(), String> {
        let plan = self.plan(after, selection, false).map_err(|error| format!("join --all: {error}"))?;
        let joined = plan.changes.apply(after);
        for (path, entry) in self.before.entries() {
            match joined.entry(path) {
                Some(found) if found == entry => {}
                None => return Err(format!("join loses {path}")),
                Some(_) => return Err(format!("join does not give back {path}")),
            }
        }
        match joined.entries().find(|(path, _)| self.before.entry(path).is_none()) {
            Some((path, _)) => Err(format!("join leaves {path}")),
            None => Ok(()),
        }
    }

    /// Splits app by app, then what is left; joins in another order.
    fn one_by_one(&mut self, judge: &Judge<'_>, tally: &mut Tally) -> Result<(), String> {
        let mut apps = match self.repository.layout {
            Layout::C => self.repository.apps.clone(),
            _ => app_names(&self.model(&self.before)),
        };
        let mut tree = self.before.clone();
        self.dice.shuffle(&mut apps);
        for app in &apps {
            tree = self.step(judge, tree, app, true, tally)?;
        }
        let plan = self.plan(&tree, &Selection::All, true).map_err(|error| format!("the rest: {error}"))?;
        tree = plan.changes.apply(&tree);
        judge.same(&tree).map_err(|error| format!("after the rest, {error}"))?;
        let model = self.model(&self.before);
        let renderer = &self.renderer;
        let input = Input { spec: &self.spec, snapshot: &self.before, model: &model, renderer };
        for outcome in plan.report.entries().iter().filter(|outcome| !outcome.after.is_empty()) {
            judge
                .divided(&input, &tree, outcome, outcome.remaining.is_empty())
                .map_err(|error| format!("after the rest, {error}"))?;
        }
        self.unchanged(&tree, &Selection::All, true)?;
        self.verified(&tree, &plan)?;
        self.dice.shuffle(&mut apps);
        for app in &apps {
            tree = self.step(judge, tree, app, false, tally)?;
        }
        self.joined(&tree, &Selection::All).map_err(|error| format!("one by one, {error}"))
    }

    /// Splits or joins one app; where that is refused, the tree stays as it is.
    fn step(
        &self,
        judge: &Judge<'_>,
        tree: Snapshot,
        app: &str,
        splits: bool,
        tally: &mut Tally,
    ) -> Result<Snapshot, String> {
        let what = if splits { "split" } else { "join" };
        let selection = Selection::Named(vec![app.to_owned()]);
        let plan = match self.plan(&tree, &selection, splits) {
            Ok(plan) => plan,
            Err(error) => {
                if error.diagnostics.iter().any(|one| one.help.is_none()) {
                    return Err(format!("{what} app {app} is refused without help: {error}"));
                }
                *tally.entry(format!("{what} app: {:?}", error.kind)).or_default() += 1;
                return Ok(tree);
            }
        };
        let after = plan.changes.apply(&tree);
        judge.same(&after).map_err(|error| format!("after {what} app {app}, {error}"))?;
        if splits {
            self.unchanged(&after, &selection, true)?;
        }
        *tally.entry(format!("{what} app")).or_default() += 1;
        Ok(after)
    }
}
