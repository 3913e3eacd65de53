//! `migrate`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::{Format, Global, Writing};
use crate::commands::apply::{Exit, apply};
use crate::commands::clock;
use crate::commands::contexts::{contexts, named};
use crate::commands::split::{NEXT, NEXT_WHILE_OPEN};
use crate::commands::sync::when_open;
use crate::commands::workspace::Loaded;
use crate::delivery::Input;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::live::{Cluster, Kubectl, LiveKustomization};
use crate::output::Output;
use crate::path::RepoPath;
use crate::plan::migrate::{MigrateOptions, migrate, under_way};
use crate::plan::split::at_once;
use crate::plan::{Plan, Stage, Standing, on_branches};
use crate::repo::FluxKustomization;
use crate::template::Templates;
use crate::text::some;

/// The base that nobody named.
const HEAD: &str = "HEAD";

/// The most entry points that are named.
const MOST: usize = 3;

/// Arguments of `migrate`.
#[derive(Args, Debug)]
pub struct Migrate {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The revision that the clusters have: the step before must stand in it
    #[arg(long, value_name = "REV", default_value = HEAD)]
    pub base: String,
    /// Ask the live cluster first, by kubectl and read-only, and go on only where it is ready
    #[arg(long)]
    pub confirm: bool,
    /// The context of kubectl for --confirm; CLUSTER=NAME where there are several clusters (repeatable)
    #[arg(long = "context", value_name = "NAME", requires = "confirm")]
    pub contexts: Vec<String>,
    /// The file with contexts for --confirm
    #[arg(long, value_name = "FILE", requires = "confirm")]
    pub kubeconfig: Option<PathBuf>,
    /// How many seconds a cluster may take to answer a request; kubectl is stopped after twice as many
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// Go on although objects may be deleted; says which
    #[arg(long)]
    pub allow_deletion: bool,
    /// Write also what may only be merged while the windows are open: what goes back to a held commit
    #[arg(long)]
    pub while_open: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Whether to write.
    #[command(flatten)]
    pub writing: Writing,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Migrate, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open_to_write(global, output)?;
    let templates = Templates::new(loaded.workspace.overrides())?;
    let base = loaded.base(&arguments.base)?;
    let live = if arguments.confirm { live(&loaded, arguments)? } else { BTreeMap::new() };
    let commits: BTreeSet<&str> = live.values().flatten().filter_map(|one| one.commit.as_deref()).collect();
    let relation = |commit: &str| loaded.workspace.repository.relation(commit, &arguments.base);
    let options = MigrateOptions {
        clusters: arguments.clusters.clone(),
        allow_deletion: arguments.allow_deletion,
        while_open: arguments.while_open,
        base: arguments.base.clone(),
        applied: commits.into_iter().map(|commit| (commit.to_owned(), relation(commit))).collect(),
        live,
    };
    let mut plan = migrate(&loaded.input(), &base.input(loaded.renderer.as_ref()), &templates, &options)?;
    let waiting = plan.report.entries().iter().filter(|one| one.waits_for_window());
    let concerned = plan.while_open.iter().cloned().chain(waiting.map(|one| one.cluster.clone())).collect();
    plan.remarks.extend(when_open(&loaded.spec, &loaded.model, &concerned, clock::now(global)?)?);
    // Whoever names a base knows what the clusters follow.
    if arguments.base == HEAD
        && let Some(branch) = loaded.workspace.repository.upstream_branch()
    {
        let input = loaded.input();
        let goes = |one: &&Standing| {
            !one.is_refused
                && matches!(one.stage, Stage::Unprepared | Stage::Restructured | Stage::HandedOver)
        };
        let own = plan.report.standings().iter().filter(goes).flat_map(|one| {
            let names = move |flux: &&FluxKustomization| {
                let mut names = one.old.iter().chain(one.new.iter().map(|(_, name)| name));
                names.any(|name| *name == flux.name)
            };
            input.model.flux_of_cluster(&one.cluster).filter(names)
        });
        plan.remarks.extend(on_branches(&input, own, &branch));
    }
    loaded.warn_of_broken(&mut plan);
    let renderer = loaded.renderer.as_ref();
    let exit = apply(&arguments.writing, output, &loaded.workspace, &plan, renderer, arguments.format)?;
    if plan.changes.is_empty() && plan.report.standings().is_empty() && plan.report.entries().is_empty() {
        output.say("No entry point is split, so there is nothing to hand over.");
        beside(&loaded.input(), arguments, &plan).iter().for_each(|line| output.say(line));
    } else if is_done(&plan) {
        output.say(&format!("Every split entry point{} is handed over.", of_clusters(&arguments.clusters)));
        beside(&loaded.input(), arguments, &plan).iter().for_each(|line| output.say(line));
    } else if exit == Exit::Clean && !plan.changes.is_empty() {
        let stages = || plan.report.standings().iter().map(|one| &one.stage);
        let goes_on = |stage: &Stage| matches!(stage, Stage::Unprepared | Stage::Restructured);
        let finishes = stages().any(|stage| *stage == Stage::Restructured);
        if finishes && loaded.spec.gate.mechanism.holds_sources() {
            output.say(NEXT_WHILE_OPEN);
        } else if stages().any(goes_on) {
            output.say(NEXT);
        } else if stages().any(|stage| *stage == Stage::HandedOver) {
            let is_kept = plan.report.standings().iter().any(|one| one.is_kept);
            output.say(match is_kept {
                true => "Next: commit it, and remove the patch that a warning above names.",
                false => "Next: commit it. That was the last step of these entry points.",
            });
        }
    }
    Ok(exit)
}

/// Returns whether each entry point that was split has taken its last step.
fn is_done(plan: &Plan) -> bool {
    let is_finished = |one: &Standing| one.stage == Stage::Finished && !one.is_kept;
    plan.changes.is_empty()
        && plan.commands.is_empty()
        && plan.report.entries().is_empty()
        && plan.report.standings().iter().all(is_finished)
}

/// Names the clusters that are meant, behind what is said of them.
fn of_clusters(clusters: &[String]) -> String {
    match clusters {
        [] => String::new(),
        [one] => format!(" of cluster {one}"),
        several => format!(" of clusters {}", several.join(", ")),
    }
}

/// Says what lands at once beside what is handed over, and what tells of it.
fn beside(input: &Input<'_>, arguments: &Migrate, plan: &Plan) -> Vec<String> {
    let clusters = &arguments.clusters;
    let is_split = |path: &RepoPath| plan.report.standings().iter().any(|one| one.entry == *path);
    let others = at_once(input, clusters).into_iter().filter(|path| !is_split(path));
    let others: Vec<String> = others.map(|path| path.to_string()).collect();
    let mut told = Vec::new();
    if !others.is_empty() {
        let stay = match others.len() {
            1 => "1 entry point stays as it is, so its changes land".to_owned(),
            count => format!("{count} entry points stay as they are, so their changes land"),
        };
        let names = some(&others, MOST);
        told.push(format!("{stay} at once: {names}. `gitops-windows split --all --dry-run` says why."));
    }
    let own =
        input.model.delivered.all.iter().filter(|own| clusters.is_empty() || clusters.contains(&own.name));
    let unclear = own.flat_map(|own| own.kustomizations.iter().filter(|one| own.may_build_here(one)));
    let unclear: Vec<String> = unclear.map(|one| one.name().to_owned()).collect();
    if !unclear.is_empty() {
        let names = some(&unclear, MOST);
        told.push(format!("{names} may read this repository: `gitops-windows check` says what to do."));
    }
    told
}

/// Asks each cluster whose next step depends on it.
fn live(loaded: &Loaded, arguments: &Migrate) -> Result<BTreeMap<String, Vec<LiveKustomization>>, Error> {
    let clusters = under_way(&loaded.input(), &arguments.clusters);
    loaded.input().known_clusters(&named(&arguments.contexts).into_iter().collect::<Vec<_>>())?;
    let contexts = contexts("--confirm: ", &clusters, &arguments.contexts)?;
    let mut found = BTreeMap::new();
    for (cluster, context) in contexts {
        let installed = Kubectl::find(Duration::from_secs(arguments.timeout));
        let asked = installed.and_then(|kubectl| {
            Kubectl { kubeconfig: arguments.kubeconfig.clone(), context, ..kubectl }.kustomizations()
        });
        let live = asked.map_err(|reason| {
            Error::invalid(
                Diagnostic::error(format!("--confirm: cluster {cluster} gave no answer: {reason}"))
                    .help("name the right cluster with --context or --kubeconfig; nothing was written\nor leave --confirm out and look yourself"),
            )
        })?;
        found.insert(cluster, live);
    }
    Ok(found)
}
