//! `freeze` and `stop`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;

use crate::cli::{Global, TextFormat};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::spec_edit::{SpecEdit, edit, file};
use crate::commands::workspace::{Loaded, Workspace};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::gate::ByHand;
use crate::spec::Spec;
use crate::spec::exceptions::{
    About, NewFreeze, add_freeze, free_name, freezes, freezes_text, remove_freeze, table_steps,
};
use crate::spec::windows::gated;
use crate::text::{length, ranges};

/// The name and the reason of a freeze for which nobody gives one.
const STOP: (&str, &str) = ("stop", "emergency stop");

/// What closes where no edit does.
const WITHOUT_GIT: &str = "`gitops-windows stop --without-git` prints what closes each cluster at once";

/// Arguments of `freeze`.
#[derive(Args, Debug)]
pub struct Freeze {
    /// What to do
    #[command(subcommand)]
    pub what: FreezeWhat,
}

/// What to do with freezes.
#[derive(Debug, Subcommand)]
pub enum FreezeWhat {
    /// Add a freeze to windows.yaml, and bring the generated files along
    Add(FreezeAdd),
    /// Print every freeze, and whether it is over
    List(ExceptionList),
    /// Take freezes away
    Remove(FreezeRemove),
}

/// Arguments of `freeze add`.
#[derive(Args, Debug)]
pub struct FreezeAdd {
    /// A name that no other freeze has
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The first day, such as 2026-12-18 or tomorrow, or time, such as `2026-12-18 17:00` [default: now]
    #[arg(long, value_name = "DAY or TIME")]
    pub from: Option<String>,
    /// The last day, or the time at which it ends, such as `now+2h`
    #[arg(long, alias = "until", value_name = "DAY or TIME")]
    pub to: String,
    /// Why, for whoever waits
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Which types and clusters
    #[command(flatten)]
    pub scope: FreezeScope,
    /// What every edit takes
    #[command(flatten)]
    pub edit: SpecEdit,
}

/// What a freeze is about.
#[derive(Args, Debug)]
pub struct FreezeScope {
    /// Only this type (repeatable) [default: every type with a window]
    #[arg(long = "type", value_name = "NAME")]
    pub types: Vec<String>,
    /// Only this cluster (repeatable) [default: every cluster]
    #[arg(long = "cluster", value_name = "NAME", conflicts_with = "labels")]
    pub clusters: Vec<String>,
    /// Only clusters with this label (repeatable: with all of them)
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// The zone of the times [default: `timeZone` of windows.yaml]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
}

/// Arguments of `freeze list` and `override list`.
#[derive(Args, Debug)]
pub struct ExceptionList {
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// Arguments of `freeze remove`.
#[derive(Args, Debug)]
pub struct FreezeRemove {
    /// The freezes
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// What every edit takes
    #[command(flatten)]
    pub edit: SpecEdit,
}

/// From how long on a cluster that takes its time is named.
const SLOW: Duration = Duration::from_secs(3_600);

/// Arguments of `stop`.
#[derive(Args, Debug)]
pub struct Stop {
    /// Why, for whoever waits [default: emergency stop]
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// The last day, such as tomorrow, or the time at which it ends, such as `now+2h` [default: none, until
    /// `freeze remove`]
    #[arg(long, alias = "to", value_name = "DAY or TIME")]
    pub until: Option<String>,
    /// Print the command for each cluster that closes without Git, and how to end that; runs nothing
    #[arg(long, conflicts_with_all = ["until", "time_zone", "if_revision"])]
    pub without_git: bool,
    /// Which types and clusters
    #[command(flatten)]
    pub scope: FreezeScope,
    /// What every edit takes
    #[command(flatten)]
    pub edit: SpecEdit,
}

/// Reads a label of the command line.
pub fn label(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    split
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "a label is written KEY=VALUE, such as region=eu".to_owned())
}

/// Runs `freeze`.
pub fn run(global: &Global, arguments: &Freeze, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    match &arguments.what {
        FreezeWhat::Add(FreezeAdd { name, from, to, reason, scope, edit: arguments }) => {
            let (from, to) = (from.clone(), Some(to.clone()));
            let new = NewFreeze { from, to, ..scope.freeze(name.clone(), reason.clone())? };
            Ok(edit(global, output, arguments, |spec, text| add_freeze(spec, text, &new, now))?.exit)
        }
        FreezeWhat::List(ExceptionList { format }) => {
            let workspace = Workspace::open(global, output)?;
            let spec = workspace.spec(output)?;
            match format {
                TextFormat::Text => output.result(freezes_text(&spec, now).as_bytes()),
                TextFormat::Json => {
                    output.json(&freezes(&spec, file(&workspace).bytes(), now));
                }
            }
            Ok(Exit::Clean)
        }
        FreezeWhat::Remove(FreezeRemove { names, edit: arguments }) => {
            Ok(edit(global, output, arguments, |spec, text| remove_freeze(spec, text, names))?.exit)
        }
    }
}

/// Runs `stop`: a freeze from now.
pub fn stop(global: &Global, arguments: &Stop, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    let reason = arguments.reason.clone().unwrap_or_else(|| STOP.1.to_owned());
    if arguments.without_git {
        // An empty annotation would stop nothing.
        let reason = if reason.trim().is_empty() { STOP.1 } else { &reason };
        return without_git(global, &arguments.scope, reason, output);
    }
    let mut new = NewFreeze { to: arguments.until.clone(), ..arguments.scope.freeze(String::new(), reason)? };
    let done = edit(global, output, &arguments.edit, |spec, text| {
        // Who misspells a cluster is told that first.
        new.about.known(spec)?;
        if spec.gate.table.is_none() {
            return Err(without_table(spec, now));
        }
        new.name = free_name(spec, STOP.0);
        add_freeze(spec, text, &new, now)
    });
    let is_program = arguments.edit.if_revision.is_some();
    let done = done.map_err(|mut error| {
        // Who spelled it wrong, or asks for a revision, is told that alone.
        if error.kind == ErrorKind::Usage || is_program {
            return error;
        }
        let one = "or stop one cluster after the other: `--cluster NAME`";
        error.diagnostics.push(Diagnostic::note(WITHOUT_GIT).help(one));
        error
    })?;
    if done.is_written {
        say_slow(&done.within, &arguments.scope, output);
        output.say(&format!("`gitops-windows freeze remove {}` ends it.", new.name));
    }
    Ok(done.exit)
}

/// Names the clusters that a stop reaches late.
fn say_slow(within: &BTreeMap<String, Duration>, scope: &FreezeScope, output: &Output) {
    let is_meant = |name: &str| scope.clusters.is_empty() || scope.clusters.iter().any(|own| own == name);
    let slow = within.iter().filter(|(name, within)| **within > SLOW && is_meant(name));
    let slow: Vec<(&str, Duration)> = slow.map(|(name, within)| (name.as_str(), *within)).collect();
    let Some(longest) = slow.iter().map(|(_, within)| *within).max() else { return };
    let names = ranges(slow.iter().map(|(name, _)| *name)).join(", ");
    output.say(&format!("{names} may take {} to follow it: {WITHOUT_GIT}.", length(longest)));
}

/// Says that no edit stops a pair of CronJobs, and what does.
fn without_table(spec: &Spec, now: Timestamp) -> Error {
    let message = format!(
        "{} obeys no commit. A commit would stop nothing",
        spec.gate.inflexible().unwrap_or_default()
    );
    let error = Diagnostic::error(message).at(Place::file(spec.path.clone()));
    let mut error = Error::new(ErrorKind::Usage, error.help(table_steps(spec, now)));
    error.diagnostics.push(Diagnostic::note(WITHOUT_GIT));
    error
}

/// Prints the commands that close at once in the clusters that are meant.
fn without_git(global: &Global, scope: &FreezeScope, reason: &str, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open_in_need(global, output)?;
    let (input, spec) = (loaded.input(), &loaded.spec);
    let mut types: Vec<Option<&str>> = match &scope.types[..] {
        [] => spec.gated_types().map(|one| Some(&*one.name.value)).collect(),
        names => names.iter().map(|name| gated(spec, Some(name)).map(Some)).collect::<Result<_, _>>()?,
    };
    if scope.types.is_empty() {
        types.push(None);
    }
    let by_hand = ByHand::new(&input);
    let clusters = clusters_of(scope, spec, by_hand.beside_spec())?;
    let mut found = Vec::new();
    let mut left = Vec::new();
    let is_meant = |position: &usize| types.contains(&Some(&*spec.types[*position].name.value));
    let positions: BTreeSet<usize> = (0..spec.types.len()).filter(is_meant).collect();
    let mut unheld = by_hand.close_unheld(&positions);
    for (cluster, name) in clusters.iter().flat_map(|cluster| types.iter().map(move |name| (cluster, name))) {
        match by_hand.stop(cluster, *name, reason) {
            Ok(commands) => found.extend(commands),
            // What holds nothing back has nothing to close.
            Err(error) if error.kind == ErrorKind::Usage => left.push(error),
            Err(error) => return Err(error),
        }
    }
    found.extend(clusters.iter().filter_map(|cluster| unheld.remove(cluster)).flatten());
    if found.is_empty() {
        if left.is_empty() {
            let error = Diagnostic::error("no type has a window, so there is nothing to close");
            return Err(Error::new(ErrorKind::Usage, error));
        }
        let diagnostics = left.into_iter().flat_map(|error| error.diagnostics).collect();
        return Err(Error { kind: ErrorKind::Usage, diagnostics });
    }
    for error in left {
        output.say(&format!("Left out: {error}."));
    }
    for command in found {
        output.result(
            format!("# {}, to {}\n{}\n", command.cluster, command.purpose, command.shell()).as_bytes(),
        );
    }
    Ok(Exit::Clean)
}

/// Returns the clusters that are meant: of the spec, and of those `beside` it, whose gates stand all the same.
fn clusters_of(scope: &FreezeScope, spec: &Spec, beside: Vec<String>) -> Result<Vec<String>, Error> {
    let FreezeScope { clusters, labels, .. } = scope;
    let is_beside = |name: &&String| beside.contains(*name);
    let known: Vec<String> = clusters.iter().filter(|name| !is_beside(name)).cloned().collect();
    let mut found = Vec::new();
    if clusters.is_empty() || !known.is_empty() {
        found = About { clusters: known, labels: labels.clone() }.among(spec)?;
    }
    let is_meant =
        |name: &String| if clusters.is_empty() { labels.is_empty() } else { clusters.contains(name) };
    found.extend(beside.into_iter().filter(is_meant));
    Ok(found)
}

impl FreezeScope {
    /// Makes a freeze of these clusters and types from now on.
    fn freeze(&self, name: String, reason: String) -> Result<NewFreeze, Error> {
        let FreezeScope { types, clusters, labels, time_zone } = self;
        Ok(NewFreeze {
            name,
            from: None,
            to: None,
            reason,
            types: types.clone(),
            about: About { clusters: clusters.clone(), labels: labels.clone() },
            time_zone: time_zone.as_deref().map(|name| clock::zone("--time-zone", name)).transpose()?,
        })
    }
}
