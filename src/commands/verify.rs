//! `verify` and `verify --base REV`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Answer, Global};
use crate::commands::apply::Exit;
use crate::commands::workspace::Loaded;
use crate::delivery::Input;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{MOST_ALIKE, is_remote};
use crate::spec;
use crate::text::{count, some};
use crate::verify::{Check, Difference, Note, verify, verify_since};

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct Verify {
    /// Compare with this revision instead of the entry points with their sides
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: Answer,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Verify, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open(global, output)?;
    let checks = match &arguments.base {
        None => verify(&loaded.input()),
        Some(revision) => {
            let snapshot =
                loaded.workspace.repository.snapshot_beside(revision, &loaded.workspace.snapshot)?.snapshot;
            // The revision may be older than the spec; then today's says what its folders mean.
            let old = spec::read(&snapshot, &loaded.workspace.spec_path).map(|parsed| parsed.spec);
            let spec = old.as_ref().unwrap_or(&loaded.spec);
            let model = loaded.workspace.model_of(&snapshot, Some(spec), loaded.renderer.as_ref());
            let before =
                Input { spec, snapshot: &snapshot, model: &model, renderer: loaded.renderer.as_ref() };
            verify_since(&before, &loaded.input())
        }
    };
    match arguments.format {
        Answer::Json => {
            let entries: Vec<Value> = checks.iter().map(Check::to_json).collect();
            output.json(&json!({ "entryPoints": entries }));
        }
        Answer::Text => output.result(text(&checks, output.verbose()).as_bytes()),
    }
    Ok(exit(&checks))
}

/// Returns the answer for people; entry points of which there is nothing to say are counted, unless `all` are wanted.
fn text(checks: &[Check], all: bool) -> String {
    let mut text = String::new();
    let is_told = |check: &&Check| all || !check.differences.is_empty() || !check.notes.is_empty();
    for check in checks.iter().filter(is_told) {
        let fails = |(_, difference): &(_, Difference)| matches!(difference, Difference::Unbuildable(..));
        let is_unknown = |(_, difference): &(_, Difference)| matches!(difference, Difference::Unknown(..));
        let verdict = match &check.differences[..] {
            [] if !check.is_compared => "not split",
            [] => "equal",
            found if found.iter().all(is_unknown) => "unknown",
            found if found.iter().all(fails) => "does not build",
            _ => "different",
        };
        let objects = count(check.objects, "object");
        text.push_str(&format!("{} ({}): {verdict}, {objects}\n", check.path, check.cluster));
        for (id, difference) in &check.differences {
            let id = id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
            text.push_str(&format!("  {id}{difference}\n"));
        }
        notes(check, all, &mut text);
    }
    let success = success(checks);
    if success.is_none() {
        let fine: Vec<&Check> = checks.iter().filter(|check| !is_told(check)).collect();
        text.extend(folded(&fine));
    }
    let mut differences = checks.iter().flat_map(|check| &check.differences);
    if differences.clone().any(|(_, one)| matches!(one, Difference::WrongSide(..))) {
        text.push_str("`gitops-windows sync` moves objects to the sides of their types, or says why not.\n");
    }
    if differences.any(|(_, one)| matches!(one, Difference::Unknown(_, message) if is_remote(message))) {
        text.push_str("`gitops-windows fetch-bases` copies such bases into the repository.\n");
    }
    text.extend(success);
    text.lines().map(|line| format!("{}\n", crate::diff::clean(line.as_bytes()))).collect()
}

/// Adds what a step changes on purpose: objects of which the same is said in one line, and not `all` the lines where
/// they are many.
fn notes(check: &Check, all: bool, text: &mut String) {
    let mut alike: BTreeMap<&Note, Vec<String>> = BTreeMap::new();
    for (id, note) in &check.notes {
        alike.entry(note).or_default().push(id.to_string());
    }
    let mut kinds: BTreeMap<&str, Vec<(&Note, Vec<String>)>> = BTreeMap::new();
    for (note, ids) in alike {
        kinds.entry(note.as_str()).or_default().push((note, ids));
    }
    let most = if all { usize::MAX } else { MOST_ALIKE };
    for lines in kinds.into_values() {
        for (note, ids) in lines.iter().take(most) {
            let line = format!("  note: {} {}\n", some(ids, most), note.told(ids.len() > 1));
            text.push_str(&line);
        }
        let left: usize = lines.iter().skip(most).map(|(_, ids)| ids.len()).sum();
        if left > 0 {
            text.push_str(&format!(
                "  note: so with {} (--verbose names them)\n",
                count(left, "more object")
            ));
        }
    }
}

/// Counts the entry points that are fine, beside others that are not; `None` without one.
fn folded(fine: &[&Check]) -> Option<String> {
    let equal = fine.iter().filter(|check| check.is_compared).count();
    let told = [(equal, "equal"), (fine.len() - equal, "not split")];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(own, word)| format!("{} {word}", count(own, "entry point"))).collect();
    (!told.is_empty()).then(|| format!("{} (--verbose names them)\n", told.join(", ")))
}

/// Says in a line that nothing is wrong, and what is not known; `None` where something is wrong.
fn success(checks: &[Check]) -> Option<String> {
    if checks.is_empty() || exit(checks) != Exit::Clean {
        return None;
    }
    let unknown = checks.iter().filter(|check| !check.differences.is_empty()).count();
    let equal = checks.iter().filter(|check| check.is_compared && check.differences.is_empty()).count();
    let (rest, is) = (checks.len() - equal - unknown, if equal == 1 { "is" } else { "are" });
    let not_split = if rest == 0 { String::new() } else { format!(", {rest} not split") };
    Some(match (equal, unknown) {
        (0, 0) => "Nothing is split, so nothing can differ.\n".to_owned(),
        (_, 0) => format!("All is well: {} {is} equal{not_split}.\n", count(equal, "entry point")),
        _ => format!(
            "Nothing is known to differ: {} {is} equal, {unknown} not checked{not_split}.\n",
            count(equal, "entry point")
        ),
    })
}

fn exit(checks: &[Check]) -> Exit {
    let mut exit = Exit::Clean;
    for (_, difference) in checks.iter().flat_map(|check| &check.differences) {
        match difference {
            Difference::Lost | Difference::Doubled(_) | Difference::WrongSide(..) => return Exit::Refused,
            Difference::Unbuildable(..) => exit = Exit::Invalid,
            Difference::Unknown(..) => {}
            _ if exit == Exit::Clean => exit = Exit::Pending,
            _ => {}
        }
    }
    exit
}
