//! Proof, difference, question, write: the same for every command that writes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::Changes;
use crate::cli::{Consent, Format, Writing};
use crate::commands::refused;
use crate::commands::workspace::Workspace;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::path::RepoPath;
use crate::plan::{Command, EntryOutcome, MOST_ALIKE, Plan, Report, Standing, Way, by_cluster};
use crate::proof::{Mismatch, Verdict, prove};
use crate::render::{Anew, Renderer};
use crate::spec::SCHEMA_FILE;
use crate::text::some;
use crate::{diff, write};

/// How a command ended when nothing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing to do, or it was written.
    Clean = 0,
    /// There are changes that were not written, or that do not reach all clusters.
    Pending = 1,
    /// Something was to be done, all of it was refused as unsafe.
    Refused = 5,
    /// Something was to be done and could not, since the repository does not build.
    Invalid = 3,
}

/// How a command shows its plan.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    /// As a difference.
    Difference(Format),
    /// As an answer of the command's own, given whether it was written.
    Answer(&'a dyn Fn(bool) -> Value),
}

impl From<Format> for Shown<'_> {
    fn from(format: Format) -> Self {
        Shown::Difference(format)
    }
}

/// How many ways in which one entry point would differ are told.
const MISMATCHES: usize = 5;

/// The most exceptions that are written out for files that git ignores.
const MOST_EXCEPTIONS: usize = 8;

/// Proves a plan, shows it, asks, and writes it.
///
/// # Errors
///
/// When the proof fails, the tree is dirty, or writing fails; nothing is written then.
pub fn apply<'s>(
    writing: &Writing,
    output: &Output,
    workspace: &Workspace,
    plan: &Plan,
    renderer: &dyn Renderer,
    shown: impl Into<Shown<'s>>,
) -> Result<Exit, Error> {
    let shown = shown.into();
    // Before the proof, which takes the longest: nobody waits for it, or reads warnings, only to hear this.
    if !plan.changes.is_empty()
        && !writing.allow_dirty
        && (writing.consent.yes || writing.consent.may_ask(output))
    {
        refuse_dirty(workspace, plan)?;
    }
    let is_idle = plan.changes.is_empty();
    // Where nothing is to be done, they are why.
    if is_idle {
        output.refusals(&plan.remarks);
    }
    // Nothing is written that only another run has seen.
    let verdicts =
        proven(workspace, plan, &Anew(renderer)).inspect_err(|_| output.diagnostics(&plan.remarks))?;
    if is_idle {
        report(output, plan);
        show(output, plan, shown, false);
        let exit = failure(plan).unwrap_or_else(|| {
            output.say("Nothing to change.");
            Exit::Clean
        });
        if !plan.report.standings().is_empty() {
            tell_commands(output, plan, "Now run");
        }
        return Ok(exit);
    }
    refuse_ignored(workspace, plan)?;
    let written = decide(&writing.consent, output, workspace, plan, shown, &verdicts, renderer)?;
    let refused = plan.report.entries().iter().filter(|entry| entry.way == Way::Refused).count();
    if refused > 0 {
        let them =
            if refused == 1 { "1 entry point is".to_owned() } else { format!("{refused} entry points are") };
        output.say(&format!("{them} left as before, for the reasons above."));
    }
    Ok(if written { Exit::Clean } else { Exit::Pending })
}

/// Tells how a command failed of which nothing at all could be done, now or before.
///
/// Where some entry points are divided and others refused, a second run ends like the first.
fn failure(plan: &Plan) -> Option<Exit> {
    let refused = || plan.report.entries().iter().filter(|entry| entry.way == Way::Refused);
    if refused().next().is_none() || !plan.changes.is_empty() {
        return None;
    }
    if plan.report.entries().iter().any(|entry| !entry.after.is_empty()) {
        return None;
    }
    Some(if refused().any(EntryOutcome::is_broken) { Exit::Invalid } else { Exit::Refused })
}

/// Proves and shows a plan that is never written.
///
/// # Errors
///
/// When the proof fails.
pub fn preview(
    output: &Output,
    workspace: &Workspace,
    plan: &Plan,
    renderer: &dyn Renderer,
    format: Format,
) -> Result<Exit, Error> {
    output.diagnostics(&plan.remarks);
    proven(workspace, plan, renderer)?;
    report(output, plan);
    show(output, plan, Shown::Difference(format), false);
    if plan.changes.is_empty() {
        return Ok(failure(plan).unwrap_or_else(|| {
            output.say("Nothing to change.");
            Exit::Clean
        }));
    }
    output.say(&format!("{} would change. `gitops-windows sync` writes them.", files(plan.changes.files())));
    Ok(Exit::Pending)
}

fn decide(
    consent: &Consent,
    output: &Output,
    workspace: &Workspace,
    plan: &Plan,
    shown: Shown<'_>,
    verdicts: &[Verdict],
    renderer: &dyn Renderer,
) -> Result<bool, Error> {
    let ask = consent.may_ask(output);
    if consent.yes {
        // Programs read stdout: what was written is told after it was.
        write::write(&workspace.repository, &plan.changes)?;
        match shown {
            Shown::Difference(Format::Unified) if output.is_quiet() => {
                output.result(format!("{}\n", wrote(plan)).as_bytes());
            }
            _ => show(output, plan, shown, true),
        }
    } else {
        show(output, plan, shown, false);
    }
    // Below the difference, which may be long: whoever is asked has it before his eyes.
    output.diagnostics(&plan.remarks);
    report(output, plan);
    if !verdicts.is_empty() {
        let objects: usize = verdicts.iter().map(|verdict| verdict.objects).sum();
        output.say(&format!(
            "Proven with {}: {} comparisons over {objects} objects, no difference.",
            renderer.describe(),
            verdicts.len(),
        ));
    }
    let written = if ask {
        let answer = output.ask(&format!("Write {}? [y/N]", files(plan.changes.files())));
        let yes = answer.is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes"));
        if yes {
            write::write(&workspace.repository, &plan.changes)?;
        }
        yes
    } else {
        consent.yes
    };
    if written {
        output.say(&wrote(plan));
        tell_commands(output, plan, "Now run");
    } else {
        let hint = if consent.dry_run { "" } else { " Run it again with --yes to write." };
        output.say(&format!("{} would change.{hint}", files(plan.changes.files())));
        tell_commands(output, plan, "Once it is written, run");
    }
    Ok(written)
}

impl Consent {
    /// Returns whether to ask whoever sits there.
    pub fn may_ask(&self, output: &Output) -> bool {
        !self.yes && !self.dry_run && output.can_ask()
    }
}

/// Tells the commands that a plan can't put into files.
fn tell_commands(output: &Output, plan: &Plan, when: &str) {
    for command in &plan.commands {
        let when = if command.is_late { "Once the cluster has this commit, run" } else { when };
        output.instruct(&format!("{when} on {}: {}", command.cluster, command.purpose));
        output.instruct(&format!("  {}", command.shell()));
    }
}

fn wrote(plan: &Plan) -> String {
    format!("Wrote {}. `gitops-windows undo` takes it back.", files(plan.changes.files()))
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

fn proven(workspace: &Workspace, plan: &Plan, renderer: &dyn Renderer) -> Result<Vec<Verdict>, Error> {
    let after = plan.changes.apply(&workspace.snapshot);
    let verdicts = prove(&workspace.snapshot, &after, &plan.obligations, renderer);
    let failed: Vec<Diagnostic> = verdicts
        .iter()
        .flat_map(|verdict| {
            let entry = &verdict.obligation.before;
            verdict.mismatches.iter().take(MISMATCHES).map(move |mismatch| {
                Diagnostic::error(format!("{entry} would not render the same: {mismatch}"))
                    .at(Place::file(entry.clone()))
                    .help(way_on(mismatch))
            })
        })
        .collect();
    if failed.is_empty() { Ok(verdicts) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics: failed }) }
}

/// Says how to come to a plan that is proven.
fn way_on(mismatch: &Mismatch) -> &'static str {
    match mismatch {
        // kustomize's words (`api/resmap/reswrangler.go`, `Append`).
        Mismatch::Unbuildable { message, .. } if message.contains("already registered id") => {
            "give the gate another `gate.namespace` in windows.yaml: the build has an object of its name\nor give its jobs other names in `layout`; nothing was written"
        }
        _ => {
            "report this with the kustomizations involved; nothing was written\nor take an edit of a rule, template or generated file back"
        }
    }
}

/// A file that git ignores would be missing in the commit, and with it what the others refer to.
fn refuse_ignored(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    let created = plan.changes.iter().filter(|(_, change)| change.before.is_none());
    let ignored = workspace.repository.ignored(created.map(|(path, _)| path))?;
    let Some(first) = ignored.first() else { return Ok(()) };
    let names: BTreeSet<String> = ignored
        .iter()
        .map(|file| {
            file.parent()
                .filter(|folder| !folder.is_top())
                .map_or(file.to_string(), |folder| format!("{folder}/"))
        })
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    let snapshot = &workspace.snapshot;
    // A folder that is ignored itself hides its files from every exception for them.
    let excepted = |file: &RepoPath| {
        let above = file.parents().filter(|one| !one.is_top() && !snapshot.is_dir(one));
        above.min_by_key(|one| one.segments().count()).map_or((file.clone(), false), |folder| (folder, true))
    };
    let exceptions: BTreeSet<(RepoPath, bool)> = ignored.iter().map(excepted).collect();
    let exceptions = exceptions.into_iter().flat_map(|(path, is_folder)| match is_folder {
        true => vec![format!("`!/{path}/`"), format!("`!/{path}/**`")],
        false => vec![format!("`!/{path}`")],
    });
    let exceptions = some(&exceptions.collect::<Vec<_>>(), MOST_EXCEPTIONS);
    Err(Error::new(
        ErrorKind::Conflict,
        Diagnostic::error(format!("git ignores {}. A commit would lack the new files", names.join(", ")))
            .at(Place::file(first.clone()))
            .help(format!(
                "`git check-ignore -v {first}` names the line that matches\nbelow it, add a line for each exception: {exceptions}"
            )),
    ))
}

fn refuse_dirty(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    let mut dirty = workspace.repository.dirty()?;
    dirty.retain(|path| !workspace.edited.iter().any(|edited| path.is_within(edited)));
    if plan.is_urgent {
        dirty.retain(|path| plan.changes.contains_key(path));
    }
    if dirty.is_empty() {
        return Ok(());
    }
    let some: Vec<String> = dirty.iter().take(5).map(ToString::to_string).collect();
    let more = if dirty.len() > 5 { format!(" and {} more", dirty.len() - 5) } else { String::new() };
    Err(Error::new(
        ErrorKind::Conflict,
        Diagnostic::error(format!("git has uncommitted changes: {}{more}", some.join(", ")))
            .help("commit or stash them first, so that this change stands alone\nor pass --allow-dirty"),
    ))
}

/// Says what became of each entry point.
fn report(output: &Output, plan: &Plan) {
    if let Report::Init { found, .. } = &plan.report {
        found.lines(output.verbose()).iter().for_each(|line| output.say(line));
    }
    let standings = plan.report.standings().iter().map(|one| (one.cluster.as_str(), one.told()));
    let mut usual: BTreeMap<&str, usize> = BTreeMap::new();
    for one in plan.report.beside().iter().filter(|one| one.is_usual && !output.verbose()) {
        *usual.entry(&one.cluster).or_default() += 1;
    }
    usual.retain(|_, count| *count > MOST_ALIKE);
    let beside = plan.report.beside().iter();
    let beside = beside.filter(|one| !one.is_usual || !usual.contains_key(one.cluster.as_str()));
    let beside = beside.map(|one| (one.cluster.as_str(), one.lines.clone()));
    let usual = usual.iter().map(|(cluster, count)| {
        let line = format!("  {count} Flux Kustomizations get a new `dependsOn` (--verbose names them)");
        (*cluster, vec![line])
    });
    let mut steps: Vec<(&str, Vec<String>)> = standings.chain(beside).chain(usual).collect();
    steps.sort_by_key(|(cluster, _)| *cluster);
    by_cluster(steps.into_iter(), output.verbose()).iter().for_each(|line| output.say(line));
    let mut entries: Vec<&EntryOutcome> = plan.report.entries().iter().collect();
    entries.sort_by_key(|entry| (entry.problem.is_some(), &entry.cluster));
    let folded = if output.verbose() { BTreeMap::new() } else { alike(&entries) };
    entries.retain(|entry| !entry.is_untouched() || !folded.contains_key(&entry.reasons(output.verbose())));
    let divided = entries.iter().filter(|entry| entry.problem.is_none());
    let divided = divided.map(|entry| (entry.cluster.as_str(), entry.told(output.verbose())));
    by_cluster(divided, output.verbose()).iter().for_each(|line| output.say(line));
    // Where nothing else goes on, it is what the command failed of.
    let make = if failure(plan).is_some() { Diagnostic::error } else { Diagnostic::warning };
    output.refusals(&refused::told(&entries, output.verbose(), make));
    for (reasons, count) in folded {
        output.say(&format!("{count} entry points not divided (--verbose names them)"));
        reasons.iter().for_each(|line| output.say(&line[2..]));
    }
    if plan.report.entries().iter().any(|entry| matches!(entry.way, Way::Plain | Way::Projection)) {
        output.say("Entry point: the folder of a Flux Kustomization. Side: its part of one change type.");
    }
    if matches!(plan.report, Report::Init { .. }) {
        output.say("Gate: what opens and closes the windows in a cluster.");
    }
    if plan.report.entries().iter().any(|entry| entry.way == Way::Projection) {
        output.say("Projection: each side builds the whole app and keeps the objects of its change type.");
    }
}

/// Returns the reasons for which more entry points than these are not divided, with their number.
fn alike(entries: &[&EntryOutcome]) -> BTreeMap<Vec<String>, usize> {
    let mut found: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.is_untouched()) {
        *found.entry(entry.reasons(false)).or_default() += 1;
    }
    found.retain(|_, count| *count > MOST_ALIKE);
    found
}

fn show(output: &Output, plan: &Plan, shown: Shown<'_>, written: bool) {
    let json = |value: Value| output.json(&value);
    match shown {
        Shown::Difference(Format::Unified) => {
            output.result(unified(&plan.changes, output).as_bytes());
        }
        Shown::Difference(Format::Patch) => output.result(&diff::patch(&plan.changes)),
        Shown::Difference(Format::Markdown) => {
            output.result(diff::markdown(&plan.changes, diff::LIMIT).as_bytes());
        }
        Shown::Difference(Format::Json) => json(to_json(plan, written)),
        Shown::Answer(answer) => json(answer(written)),
    }
}

/// Returns the difference for people. The schema of the spec is told in a line: it is the program's
/// own, and would bury what people came for. So is what changes alike, unless people asked for all.
pub(super) fn unified(changes: &Changes, output: &Output) -> String {
    let is_schema = |path: &&RepoPath| path.name() == Some(SCHEMA_FILE);
    let mut shown = changes.clone();
    shown.retain(|path, _| !is_schema(&path));
    let color = output.color();
    let (mut text, is_cut) = match output.verbose() {
        true => (diff::unified(&shown, color), false),
        false => diff::brief(&shown, color),
    };
    for path in changes.keys().filter(is_schema) {
        text.push_str(&format!("and {path}, the schema that editors read: see `gitops-windows schema`\n"));
    }
    if is_cut {
        text.push_str("Equal changes are shown once (--verbose shows all).\n");
    }
    text
}

/// Returns a plan as JSON: the difference, and what became of each entry point.
fn to_json(plan: &Plan, written: bool) -> Value {
    let mut value = diff::json(&plan.changes);
    let entries: Vec<Value> = plan.report.entries().iter().map(|entry| entry.to_json()).collect();
    let commands: Vec<Value> = plan.commands.iter().map(Command::to_json).collect();
    value["entryPoints"] = entries.into();
    if !plan.report.standings().is_empty() {
        let standings: Vec<Value> = plan.report.standings().iter().map(Standing::to_json).collect();
        value["standings"] = standings.into();
    }
    value["commands"] = commands.into();
    value["written"] = written.into();
    value
}
