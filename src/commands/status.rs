//! `status`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;

use crate::cli::{Global, TextFormat};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::contexts::{contexts, named};
use crate::commands::workspace::{Base, Loaded};
use crate::delivery::World;
use crate::error::Error;
use crate::live::{Cluster as _, Kubectl, Objects};
use crate::output::Output;
use crate::status::{Answer, Cluster, Expected, Look, json, judge, observe, text, unknown, waiting, wanted};

/// How many clusters are asked at once.
const AT_ONCE: usize = 16;

/// Arguments of `status`.
#[derive(Args, Debug)]
pub struct Status {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The context of kubectl; CLUSTER=NAME where there are several clusters (repeatable)
    #[arg(long = "context", value_name = "NAME")]
    pub contexts: Vec<String>,
    /// The file with contexts
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// How many seconds a cluster may take to answer a request; kubectl is stopped after twice as many
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// Ask again every so many seconds until it is interrupted; JSON then is one line an answer
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "10", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub watch: Option<u64>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Status, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open(global, output)?;
    let expected = Expected::new(&loaded.spec, &loaded.model, clock::now(global)?)?;
    let asked = asked(&loaded, arguments)?;
    let mut known = Known::default();
    loop {
        let answer = answer(&loaded, &expected, &asked, arguments, clock::now(global)?, &mut known);
        loaded.workspace.repository.answered()?;
        let is_watched = arguments.watch.is_some();
        match arguments.format {
            TextFormat::Text => {
                let look = Look {
                    namespace: &loaded.spec.flux.namespace,
                    verbose: global.verbose,
                    color: output.color(),
                    width: output.width(),
                };
                if is_watched {
                    output.page();
                }
                output.result(text(&answer, look).as_bytes());
            }
            TextFormat::Json => {
                let print = if is_watched { Output::json_line } else { Output::json };
                print(output, &json(&answer));
            }
        }
        let Some(seconds) = arguments.watch else {
            return Ok(match () {
                () if answer.is_fine() => Exit::Clean,
                () if answer.is_unread() => Exit::Invalid,
                () => Exit::Pending,
            });
        };
        std::thread::sleep(Duration::from_secs(seconds));
    }
}

/// Returns the clusters to ask, each with its context: those of `--cluster`, else those that `--context` names, else all.
fn asked(loaded: &Loaded, arguments: &Status) -> Result<BTreeMap<String, Option<String>>, Error> {
    let mut clusters: BTreeSet<String> = arguments.clusters.iter().cloned().collect();
    let of_contexts = named(&arguments.contexts);
    loaded.input().known_clusters(&clusters.union(&of_contexts).cloned().collect::<Vec<_>>())?;
    if clusters.is_empty() {
        clusters = of_contexts;
    }
    if clusters.is_empty() {
        clusters = loaded.spec.clusters.keys().cloned().collect();
    }
    contexts("", &clusters, &arguments.contexts)
}

/// What is kept from one answer to the next.
#[derive(Default)]
struct Known {
    /// When commits were made; `None` for those that git does not have.
    made: BTreeMap<String, Option<Timestamp>>,
    /// What commits mean.
    bases: BTreeMap<String, Base>,
}

fn answer(
    loaded: &Loaded,
    expected: &Expected<'_>,
    asked: &BTreeMap<String, Option<String>>,
    arguments: &Status,
    now: Timestamp,
    known: &mut Known,
) -> Answer {
    let objects = read(asked, arguments);
    let mut clusters: Vec<Cluster> = Vec::new();
    for ((name, context), objects) in asked.iter().zip(&objects) {
        let gates = objects.as_ref().map(|objects| observe(expected, name, objects, now)).unwrap_or_default();
        clusters.push(Cluster {
            name: name.clone(),
            context: context.clone(),
            unread: objects.as_ref().err().cloned(),
            gates,
            problems: Vec::new(),
        });
    }
    compare(loaded, expected, &mut clusters, known);
    let repository = &loaded.workspace.repository;
    for (cluster, objects) in clusters.iter_mut().zip(&objects) {
        let Ok(objects) = objects else { continue };
        for commit in
            cluster.gates.iter().flat_map(|gated| &gated.held).filter_map(|held| held.applied.clone())
        {
            known.made.entry(commit).or_insert_with_key(|commit| repository.made_at(commit));
        }
        let made = |commit: &str| known.made.get(commit).copied().flatten();
        cluster.problems = judge(expected, cluster, objects, now, &made);
    }
    Answer { now, clusters }
}

/// Asks all clusters, several at a time.
fn read(asked: &BTreeMap<String, Option<String>>, arguments: &Status) -> Vec<Result<Objects, String>> {
    let waiting = Mutex::new(asked.values().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let found = Mutex::new(BTreeMap::new());
    let threads = NonZeroUsize::new(asked.len().min(AT_ONCE)).map_or(0, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((position, context)) = next() {
                    let kubectl = Kubectl::find(Duration::from_secs(arguments.timeout));
                    let objects = kubectl.and_then(|kubectl| {
                        let kubeconfig = arguments.kubeconfig.clone();
                        Kubectl { kubeconfig, context: context.clone(), ..kubectl }.objects()
                    });
                    found.lock().unwrap_or_else(PoisonError::into_inner).insert(position, objects);
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// Finds out what waits in each cluster, by the builds of the commits that it has applied and fetched.
fn compare(loaded: &Loaded, expected: &Expected<'_>, clusters: &mut [Cluster], known: &mut Known) {
    let repository = &loaded.workspace.repository;
    let renderer = loaded.renderer.as_ref();
    for gated in clusters.iter_mut().flat_map(|cluster| &mut cluster.gates) {
        gated.waits.unknown = gated.held.iter().filter_map(|held| held.unknown.clone()).collect();
    }
    for pair in wanted(clusters) {
        let mut missing = None;
        for commit in [&pair.0, &pair.1] {
            if known.bases.contains_key(commit) {
                continue;
            }
            match repository.commit(commit).and_then(|commit| loaded.base(&commit).ok()) {
                Some(base) => drop(known.bases.insert(commit.clone(), base)),
                None => missing = Some(commit),
            }
        }
        let (Some(before), Some(after), None) = (known.bases.get(&pair.0), known.bases.get(&pair.1), missing)
        else {
            let commit: String = missing.into_iter().flat_map(|commit| commit.chars().take(10)).collect();
            unknown(clusters, &pair, &format!("commit {commit} is not in this clone: run `git fetch`"));
            continue;
        };
        let (before, after) = (before.input(renderer), after.input(renderer));
        let worlds = (
            World { snapshot: before.snapshot, model: before.model },
            World { snapshot: after.snapshot, model: after.model },
        );
        let merged = repository.merged_since(Some(&pair.0), &pair.1).unwrap_or_default();
        waiting(expected, clusters, &pair, worlds, &merged, renderer);
    }
}
