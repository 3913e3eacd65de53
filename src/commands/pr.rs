//! `pr`.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::check::{SpecLintOptions, Standard};
use crate::cli::Global;
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::post::{self, Posting};
use crate::commands::renderer::renderer;
use crate::commands::workspace::{Workspace, tell_guess};
use crate::delivery::{Past, World};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::output::Output;
use crate::post::{Marker, annotations};
use crate::pr::{
    Clock, Commit, Flavor, Question, SMALLEST, Standards, Topic, Tree, closings, html, json, newly_held,
    report, text, trains, zone_of,
};
use crate::repo::{Repository, Snapshot, conflict};
use crate::spec::{self, Parsed};
use crate::template::Templates;

/// Arguments of `pr`.
#[derive(Args, Debug)]
pub struct Pr {
    /// Compare with where the history parts from this revision [default: the upstream's default branch]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Tell of this revision [default: the files as they are]
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: PrFormat,
    /// The forge that shows the Markdown [default: github]
    #[arg(long, value_enum)]
    pub flavor: Option<Flavor>,
    /// The most bytes of Markdown, at least 2200 [default: what the forge takes]
    #[arg(long, value_name = "N", value_parser = bytes)]
    pub max_bytes: Option<usize>,
    /// The findings that make the exit code 1
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub fail_on: Vec<Topic>,
    /// Where to post.
    #[command(flatten)]
    pub posting: Posting,
}

/// Reads how long a comment may be: its hidden line, and then the least in which anything can be said.
fn bytes(text: &str) -> Result<usize, String> {
    const LEAST: usize = SMALLEST + 200;
    match text.parse() {
        Ok(number) if number >= LEAST => Ok(number),
        Ok(_) => Err(format!("a comment takes at least {LEAST} bytes")),
        Err(error) => Err(format!("{error}")),
    }
}

/// The forms of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PrFormat {
    /// For people
    #[default]
    Text,
    /// For the comment on a pull request
    Markdown,
    /// For a browser: one page
    Html,
    /// For programs
    Json,
    /// As annotations of GitHub Actions
    Github,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Pr, output: &Output) -> Result<Exit, Error> {
    if let (Some(file), Some(head)) = (&arguments.posting.from, &arguments.head) {
        return post::foreign(global, &arguments.posting, file, head, output);
    }
    // Before anything is built: who posts needs a token.
    let target = arguments.posting.post.map(|forge| post::target(&arguments.posting, forge)).transpose()?;
    output.diagnostics(&without_effect(arguments));
    // Times are told to the second, and the merge is known by its own.
    let now = clock::now(global)?;
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let workspace = Workspace::open(global, output)?;
    let (repository, renderer) = (&workspace.repository, renderer(global, output)?);
    let base = base_of(repository, arguments)?;
    let head = arguments.head.as_deref().unwrap_or("HEAD");
    let merge_base = repository.merge_base(&base, head)?;
    let after = match &arguments.head {
        Some(revision) => repository.snapshot_near(revision, &workspace.snapshot)?.snapshot,
        None => workspace.snapshot.clone(),
    };
    let before = repository.snapshot_beside(&merge_base, &after)?.snapshot;
    let commit = repository.commit(head);
    let commit = match &arguments.head {
        Some(_) => commit,
        None => commit.filter(|commit| is_same(repository, commit, &after)),
    };
    if arguments.head.is_none() {
        undecided(&after, &workspace)?;
    }
    let (old, new) = (parsed(&before, &workspace), parsed(&after, &workspace));
    // What the base says still tells what waits where the head's spec can't be read.
    let broken = new.as_ref().err().map(|error| error.diagnostics.clone()).unwrap_or_default();
    output.diagnostics(&broken);
    let old = old.ok().flatten();
    let (before_templates, after_templates) = (
        Templates::new(workspace.overrides_of(&before)).ok(),
        Templates::new(workspace.overrides_of(&after)).ok(),
    );
    let standard = |parsed: &Option<Parsed>, templates| Standard {
        warnings: parsed.as_ref().map(|parsed| parsed.warnings.clone()).unwrap_or_default(),
        templates,
        now,
        options: SpecLintOptions::default(),
    };
    // What is wrong with templates is for `sync` to say.
    let standards = new.as_ref().ok().map(|new| Standards {
        before: standard(&old, before_templates.as_ref()),
        after: standard(new, after_templates.as_ref()),
        has_spec: old.is_some(),
    });
    let (old, new) = (old.map(|parsed| parsed.spec), new.map(|parsed| parsed.map(|parsed| parsed.spec)));
    let old = old.or_else(|| new.as_ref().ok().cloned().flatten());
    let new = new.unwrap_or_else(|_| old.clone());
    let old_model = workspace.model_before(&after, &before, old.as_ref(), renderer.as_ref());
    let old_world = World { snapshot: &before, model: &old_model };
    let new_model = workspace.model_after(old_world, &after, new.as_ref(), renderer.as_ref());
    tell_guess(&new_model, new.as_ref(), output);
    let history = Past::new(repository, &merge_base, (&before, &old_model), renderer.as_ref());
    let tree = |world, spec| Tree::new(world, spec).by_its_gates(now);
    let before_tree = tree(old_world, old.as_ref()).with_history(now, &history);
    let after_tree =
        tree(World { snapshot: &after, model: &new_model }, new.as_ref()).in_place_of(&before_tree, now);
    let clock = Clock { before: before_tree, after: after_tree, now };
    let question = Question { base: merge_base, head: commit, broken: broken.into_iter().next(), standards };
    let mut report = report(question, &clock, renderer.as_ref());
    for closing in closings(&report) {
        let Some(commit) =
            repository.commit_at(&report.base, closing.0).filter(|commit| *commit != report.base)
        else {
            continue;
        };
        let closed = repository.snapshot_beside(&commit, &before)?.snapshot;
        let closed_model = workspace.model_of(&closed, old.as_ref(), renderer.as_ref());
        let commits: Vec<Commit> = match repository.merged_since(Some(&commit), &report.base) {
            Some(all) => all
                .into_iter()
                .map(|one| Commit { hash: one.hash, subject: one.subject, paths: Some(one.paths) })
                .collect(),
            None => {
                let all = repository.commits_since(&commit, &report.base).into_iter();
                all.map(|(hash, subject)| Commit { hash, subject, paths: None }).collect()
            }
        };
        let world = World { snapshot: &closed, model: &closed_model };
        report.trains.extend(trains(&clock, &report, &closing, world, &commits, renderer.as_ref()));
    }
    for held in newly_held(&clock) {
        let Some(commit) = repository.commit_at(&report.base, held.since) else { continue };
        let closed = repository.snapshot_beside(&commit, &before)?.snapshot;
        report.findings.extend(held.without_path(&closed));
        report.findings.sort();
    }
    repository.answered()?;
    match arguments.format {
        PrFormat::Text => output.result(text(&report).as_bytes()),
        PrFormat::Markdown => {
            let flavor = arguments.flavor.unwrap_or_default();
            let limit = arguments.max_bytes.unwrap_or_else(|| flavor.limit());
            let marker = Marker { name: &arguments.posting.comment, head: report.head.as_deref() };
            output.result(post::marked(&report, marker, flavor, limit).as_bytes());
        }
        PrFormat::Html => {
            let clusters: BTreeSet<String> = report.changes.iter().map(|line| line.cluster.clone()).collect();
            let clusters: Vec<String> = clusters.into_iter().collect();
            let calendar =
                clock.calendar(&clusters, zone_of(&report), &report).filter(|_| !clusters.is_empty());
            output.result(html(&report, calendar.as_ref()).as_bytes());
        }
        PrFormat::Json => output.json(&json(&report)),
        PrFormat::Github => output.result(annotations(&report, &before, &after).as_bytes()),
    }
    if let Some(target) = &target {
        post::report(&arguments.posting, target, &report, output)?;
    }
    let fails = report.findings.iter().any(|finding| arguments.fail_on.contains(&finding.topic));
    Ok(if fails { Exit::Pending } else { Exit::Clean })
}

/// Says which options change nothing.
fn without_effect(arguments: &Pr) -> Vec<Diagnostic> {
    if arguments.format == PrFormat::Markdown {
        return Vec::new();
    }
    let given = [("--flavor", arguments.flavor.is_some()), ("--max-bytes", arguments.max_bytes.is_some())];
    let warning = |(option, _): (&str, bool)| {
        Diagnostic::warning(format!("{option} changes nothing without `--format markdown`"))
            .help(format!("add `--format markdown`, or leave {option} out"))
    };
    given.into_iter().filter(|(_, is_given)| *is_given).map(warning).collect()
}

/// Returns the revision from which the pull request's history parts.
fn base_of(repository: &Repository, arguments: &Pr) -> Result<String, Error> {
    if repository.git().is_none() {
        let problem = Diagnostic::error("there is no git repository here, so nothing can be compared");
        return Err(Error::invalid(problem.help("run inside a git repository, or name one with -C")));
    }
    arguments.base.clone().or_else(|| repository.default_branch()).ok_or_else(|| {
        let problem = Diagnostic::error("git does not say which branch the pull request goes to");
        Error::invalid(problem.help("name it with --base, for example --base origin/main"))
    })
}

/// Refuses a spec in the middle of a merge: nobody has said yet what it is to say.
fn undecided(files: &Snapshot, workspace: &Workspace) -> Result<(), Error> {
    let text = files.file(&workspace.spec_path).and_then(|file| file.shared_text());
    let Some((text, mark)) = text.and_then(|text| Some((text.clone(), conflict(&text)?))) else {
        return Ok(());
    };
    let path = &workspace.spec_path;
    let problem = Diagnostic::error(format!("{path} holds a merge conflict, so nothing can be compared"));
    let help = "decide between the two sides, then run this again\nor name a commit with --head";
    Err(Error::invalid(problem.at(Place::span(path.clone(), text, mark)).help(help)))
}

/// Returns whether a commit holds the same files.
fn is_same(repository: &Repository, commit: &str, files: &Snapshot) -> bool {
    repository.snapshot_beside(commit, files).is_ok_and(|own| files.differing(&own.snapshot).is_empty())
}

/// Reads the spec of a tree; `None` where it has none.
fn parsed(snapshot: &Snapshot, workspace: &Workspace) -> Result<Option<Parsed>, Error> {
    if snapshot.entry(&workspace.spec_path).is_none() {
        return Ok(None);
    }
    spec::read(snapshot, &workspace.spec_path).map(Some)
}
