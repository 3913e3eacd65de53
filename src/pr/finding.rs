//! What of a pull request deserves a look, and what it may fail on.

mod at_once;
mod check;
mod destructive;
mod exception;
mod gone;
mod immutable;
mod keys;
mod lost;
mod near;
mod opening;
mod retargeted;
mod revision;
mod values;
mod wait;
mod window;

pub use check::Standards;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::json;

use crate::check::REFUSED_OBJECT;
use crate::delivery::{Comparison, REFUSED, World, build};
use crate::diagnostic::Diagnostic;
use crate::mechanism::shell_line;
use crate::path::RepoPath;
use crate::pr::clock::Clock;
use crate::pr::landing::Landing;
use crate::pr::report::{By, Line};
use crate::pr::withheld::Withheld;
use crate::render::{Renderer, is_of_here, without_aliases};
use crate::repo::manifest::ObjectId;

/// The code of a Flux Kustomization that is applied by one that waits, and that nothing suspends.
const NESTED: &str = "GW021";

/// The code of a Flux Kustomization that leaves its held source.
const RELEASED: &str = "GW063";

/// The code of a CronJob that turns what is not in Git.
const UNKNOWN_TARGET: &str = "GW005";

/// What a finding is about, which `--fail-on` names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Topic {
    /// Until the window opens, objects of the head and of the base do not fit together
    Skew,
    /// An object goes of which the data goes with it
    Deletion,
    /// A field changes that Kubernetes does not let change
    Immutable,
    /// Something lands outside of the window that seems to apply to it
    OutsideWindow,
    #[default]
    /// Something does not build, or `check` finds an error that was not there before
    Error,
    /// `check` finds a warning or a note that was not there before, or `spec.suspend` or a followed revision changes
    Check,
    /// A window, a freeze or an override changes
    Windows,
}

impl Topic {
    /// Returns its name, as `--fail-on` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Topic::Skew => "skew",
            Topic::Deletion => "deletion",
            Topic::Immutable => "immutable",
            Topic::OutsideWindow => "outside-window",
            Topic::Error => "error",
            Topic::Check => "check",
            Topic::Windows => "windows",
        }
    }
}

/// One thing that deserves a look.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// The cluster.
    pub cluster: String,
    /// The object, where it is about one.
    pub object: Option<ObjectId>,
    /// What happens.
    pub message: String,
    /// From when on; `None` where nobody knows.
    pub from: Option<Timestamp>,
    /// What to do.
    pub help: String,
    /// The code of `check`, where it has one.
    pub code: Option<&'static str>,
    /// The file that it is about; `None` where the files of its object are.
    pub file: Option<RepoPath>,
    /// The line there, from 1.
    pub line: Option<usize>,
    /// The time zone in which people read its times; `None` for that of the report.
    pub zone: Option<String>,
    /// The keys of the Flux Kustomizations of which `check` says it.
    pub about: BTreeSet<String>,
}

impl Finding {
    /// Says that the head's spec can't be read.
    pub fn of_spec(problem: &Diagnostic) -> Finding {
        Finding {
            message: format!("the spec can't be read: {}", problem.message),
            help: "run `gitops-windows check`; until then this uses the windows of the base".to_owned(),
            ..Finding::default()
        }
    }
}

/// What is told already.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The objects that change.
    pub changes: &'a [Line],
    /// What does not build.
    pub withheld: &'a [Withheld],
}

/// Finds all of them.
///
/// Without `standards` nothing is said of what `check` finds.
pub fn findings(
    clock: &Clock<'_>,
    comparison: &Comparison<'_>,
    landings: &[Landing],
    told: Told<'_>,
    standards: Option<&Standards<'_>>,
    renderer: &dyn Renderer,
) -> Vec<Finding> {
    let Told { changes, withheld } = told;
    let run = |one| format!("run `{}` at the top and mend the error", build_command(clock.after.world, one));
    // Of a spec that can't be read only that is told.
    let mut checked: Vec<Finding> = standards
        .into_iter()
        .flat_map(|own| check::check(clock, comparison, landings, changes, own, renderer))
        .collect();
    let mut replaced = BTreeSet::new();
    let mut found: Vec<Finding> = Vec::new();
    for one in withheld.iter().filter(|one| one.is_head && one.is_new) {
        if gone::goes_with_its_root(clock, one) {
            continue;
        }
        let build = || {
            let reason = first_line(&one.reason);
            if is_of_here(&one.reason) {
                return not_looked_at(one, &reason);
            }
            if one.reason.starts_with(REFUSED) {
                let who = one.by.kustomization.as_ref().map_or(one.by.path.as_str(), |(_, name)| name);
                return (format!("{reason}. {who} applies nothing new"), "correct that field".to_owned());
            }
            let message = format!("{} does not build, so nothing of it lands: {reason}", one.by.path);
            (message, without_aliases(&one.reason).map_or_else(|| run(one), str::to_owned))
        };
        let gone = gone::gone(clock, one);
        let of_check = checked.iter().position(|told| gone::is_told(clock, told, one));
        if of_check.is_some() && gone.is_none() || is_refused(&checked, one) {
            continue;
        }
        replaced.extend(of_check);
        let place = of_check.and_then(|at| checked.get(at));
        let is_there = |file: &RepoPath| clock.after.world.snapshot.entry(file).is_some();
        let (file, line) = place.map_or((None, None), |told| (told.file.clone(), told.line));
        let file = file.filter(is_there);
        let (cluster, from) = (one.cluster.clone(), Some(clock.now));
        let is_no_error = gone::is_retired(clock, one) || is_of_here(&one.reason);
        let topic = if is_no_error { Topic::Check } else { Topic::Error };
        let (message, help) = gone.unwrap_or_else(build);
        found.push(Finding { topic, cluster, message, from, help, file, line, ..Finding::default() });
    }
    let mut position = 0..;
    checked.retain(|_| position.next().is_none_or(|at| !replaced.contains(&at)));
    found.extend(changes.iter().filter_map(destructive::destructive));
    found.extend(changes.iter().filter_map(immutable::immutable));
    found.extend(changes.iter().filter_map(|line| at_once::at_once(clock, line)));
    found.extend(window::windows(clock));
    found.extend(wait::waits(clock));
    found.extend(revision::revisions(clock));
    found.extend(retargeted::retargeted(clock));
    found.extend(lost::losing(clock, changes));
    found.extend(checked);
    without_consequences(&mut found, withheld);
    found.sort();
    found.dedup();
    found
}

/// Returns whether `check` says which object of a build is refused.
fn is_refused(checked: &[Finding], one: &Withheld) -> bool {
    let is_it =
        |told: &Finding| told.code == Some(REFUSED_OBJECT.code) && told.message.starts_with(&one.reason);
    one.reason.starts_with(REFUSED) && checked.iter().any(is_it)
}

/// Says of a folder that needs what is not here, which Flux may well have, that it is not looked at, and what to do.
fn not_looked_at(one: &Withheld, reason: &str) -> (String, String) {
    let message = format!("{} is not looked at: its build {reason}", one.by.path);
    let help = match (without_aliases(&one.reason), reason.contains("remote")) {
        (Some(help), _) => help,
        (None, true) => "copy it into the repository with `gitops-windows fetch-bases`",
        (None, false) => "build the folder elsewhere; Flux may well build it",
    };
    (message, help.to_owned())
}

/// Returns the command that builds what does not build: as Flux does where kustomize alone makes something else of it.
fn build_command(world: World<'_>, one: &Withheld) -> String {
    let By { path, kustomization } = &one.by;
    let flux = kustomization.as_ref().and_then(|(namespace, name)| {
        let mut own = world.model.flux_named(&one.cluster, name);
        own.find(|flux| flux.namespace == *namespace)
    });
    let by_flux = flux.filter(|flux| !world.model.graph.has(path) || build(flux) != json!({}));
    let words = match by_flux {
        Some(flux) => vec![
            "flux build kustomization".to_owned(),
            shell_line(&[
                flux.name.clone(),
                format!("--path={path}"),
                format!("--kustomization-file={}", flux.file),
                "--dry-run".to_owned(),
            ]),
        ],
        None => vec![
            "kubectl kustomize --load-restrictor=LoadRestrictionsNone".to_owned(),
            shell_line(&[path.to_string()]),
        ],
    };
    words.join(" ")
}

/// Takes out what `check` says of Flux Kustomizations that nothing suspends where another finding tells why.
fn without_consequences(found: &mut Vec<Finding>, withheld: &[Withheld]) {
    // What holds it back may be what does not build.
    let is_broken = withheld.iter().any(|one| one.is_head && one.is_new);
    let is_cause = |one: &&Finding| one.topic == Topic::OutsideWindow || one.code == Some(UNKNOWN_TARGET);
    let causes: BTreeSet<String> =
        found.iter().filter(is_cause).flat_map(|one| words(&one.message)).collect();
    let is_unheld = |one: &&Finding| one.message.contains(wait::UNHELD);
    let unheld: BTreeSet<String> =
        found.iter().filter(is_unheld).flat_map(|one| words(&one.message)).collect();
    found.retain(|one| {
        let is_told = || words(&one.message).next().is_some_and(|name| unheld.contains(&name));
        if one.code == Some(RELEASED) && is_told() {
            return false;
        }
        let name = words(&one.message).nth(2);
        one.code != Some(NESTED) || !is_broken && !name.is_some_and(|name| causes.contains(&name))
    });
}

fn words(message: &str) -> impl Iterator<Item = String> {
    message.split_whitespace().map(|word| word.trim_matches([',', ':', '.']).to_owned())
}

/// Returns the first line of a message, with the next one where it announces that.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    match lines.next().filter(|_| first.ends_with(':')) {
        Some(next) => format!("{first} {next}"),
        None => first.to_owned(),
    }
}
