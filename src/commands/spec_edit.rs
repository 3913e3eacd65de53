//! An edit of the spec, and what it then implies, planned and written as one.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;

use crate::change::Change;
use crate::cli::{Format, Global, Writing};
use crate::commands::apply::{Exit, Shown, apply};
use crate::commands::renderer::renderer;
use crate::commands::schedules::shown;
use crate::commands::sync;
use crate::commands::workspace::{Loaded, Workspace};
use crate::delivery::fleet::gates_within;
use crate::diff;
use crate::error::Error;
use crate::output::Output;
use crate::plan::Plan;
use crate::plan::command::{SyncOptions, retime};
use crate::plan::gate::Late;
use crate::repo::File;
use crate::spec::windows::{changed, check_revision};
use crate::spec::{self, Parsed, Spec};

/// What every edit by a person takes.
#[derive(Args, Debug)]
pub struct SpecEdit {
    /// Edit only if windows.yaml is still at this revision, as an earlier answer gave it
    #[arg(long, value_name = "SHA-256")]
    pub if_revision: Option<String>,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Whether to write.
    #[command(flatten)]
    pub writing: Writing,
}

/// What an edit of the spec brings along.
#[derive(Clone, Copy, Debug)]
pub enum Along {
    /// All that `sync` would.
    Everything(SyncOptions),
    /// What freezes and overrides change of the tables that stand.
    Tables,
}

/// What must wait for a window holds up no edit: it is left for `sync`.
pub const AS_FAR_AS_POSSIBLE: Along =
    Along::Everything(SyncOptions { allow_deletion: false, late: Late::Left });

/// A spec that was edited, with the plan that brings everything else along.
pub struct Edited {
    /// The repository as it stands, understood in the light of the new spec.
    pub loaded: Loaded,
    /// All that changes, the spec among it.
    pub plan: Plan,
    /// The spec's file.
    pub before: File,
    /// The spec's file as it is to be.
    pub after: File,
}

impl Edited {
    /// Edits the spec and plans what follows.
    ///
    /// # Errors
    ///
    /// Those of the edit and of the plan, and a conflict where the spec is at another revision.
    pub fn plan(
        global: &Global,
        output: &Output,
        if_revision: Option<&str>,
        along: Along,
        edit: impl FnOnce(&Spec, &str) -> Result<(String, Parsed), Error>,
    ) -> Result<Edited, Error> {
        let mut workspace = Workspace::open(global, output)?;
        let old = workspace.shown(spec::read_in_need(&workspace.snapshot, &workspace.spec_path)?, output);
        let path = workspace.spec_path.clone();
        let before = file(&workspace);
        if let Some(revision) = if_revision {
            check_revision(&path, before.bytes(), revision)?;
        }
        let (text, parsed) = edit(&old, before.text().unwrap_or_default())?;
        let after = File::new(text.into_bytes()).with_mode(before.executable);

        let original = workspace.snapshot.clone();
        workspace.snapshot.insert(path.clone(), after.clone());
        let spec = workspace.shown(parsed, output);
        let renderer = renderer(global, output)?;
        let model = workspace.model(Some(&spec), renderer.as_ref());
        let mut loaded = Loaded { workspace, spec, model, renderer };
        let mut plan = match along {
            Along::Everything(options) => sync::plan_of(global, output, &loaded, options)?,
            Along::Tables => {
                shown(global, output, &loaded.spec, &loaded.model, &loaded.workspace.snapshot)?;
                retime(&loaded.input(), &old)?
            }
        };
        let change = Change { before: Some(before.clone()), after: Some(after.clone()), moved_from: None };
        plan.changes.include(path, change);
        loaded.workspace.snapshot = original;
        Ok(Edited { loaded, plan, before, after })
    }

    /// Shows and writes the plan, as a difference or as the answer for services.
    ///
    /// # Errors
    ///
    /// Those of [`apply`].
    pub fn apply(&self, writing: &Writing, output: &Output, format: Format) -> Result<Exit, Error> {
        let answer = |written: bool| {
            let changes = &diff::json(&self.plan.changes)["changes"];
            changed(self.before.bytes(), self.after.bytes(), changes, &self.plan.unreached, written)
        };
        let shown = match format {
            Format::Json => Shown::Answer(&answer),
            format => Shown::Difference(format),
        };
        let Loaded { workspace, renderer, .. } = &self.loaded;
        apply(writing, output, workspace, &self.plan, renderer.as_ref(), shown)
    }
}

/// Returns the file of a spec that was read.
pub fn file(workspace: &Workspace) -> File {
    workspace.snapshot.file(&workspace.spec_path).cloned().unwrap_or_else(|| File::new([]))
}

/// How an edit ended when nothing failed.
pub struct Done {
    /// The exit code: also pending where it is written and does not reach all clusters.
    pub exit: Exit,
    /// Whether the files are as they should be.
    pub is_written: bool,
    /// How long each cluster takes to follow it, at the latest, where that is known.
    pub within: BTreeMap<String, Duration>,
}

/// Edits freezes and overrides by the word of a person, and says when a cluster hears of it, and which one does not.
///
/// # Errors
///
/// Those of [`Edited::plan`] and [`Edited::apply`].
pub fn edit(
    global: &Global,
    output: &Output,
    arguments: &SpecEdit,
    edit: impl FnOnce(&Spec, &str) -> Result<(String, Parsed), Error>,
) -> Result<Done, Error> {
    let revision = arguments.if_revision.as_deref();
    let edited = Edited::plan(global, output, revision, Along::Tables, edit)?;
    let exit = edited.apply(&arguments.writing, output, arguments.format)?;
    let every = edited.loaded.spec.gate.table.as_ref().map_or(0, |table| table.every);
    let spec = &edited.loaded.workspace.spec_path;
    if exit == Exit::Clean && edited.plan.changes.keys().any(|path| path != spec) {
        output.say(&format!(
            "Commit and push it. Once applied, a cluster follows it at its gate's next run (every {every}m)."
        ));
    } else if exit == Exit::Clean && !edited.plan.changes.is_empty() {
        output.say("No gate changes by it: it reaches no cluster yet.");
    }
    let is_written = exit == Exit::Clean;
    let within = match is_written {
        true => gates_within(&edited.loaded.spec, &edited.loaded.model),
        false => BTreeMap::new(),
    };
    let unreached: Vec<&str> = edited.plan.unreached.iter().map(String::as_str).collect();
    if unreached.is_empty() {
        return Ok(Done { exit, is_written, within });
    }
    output.say(&format!("It does not reach all of {}, for the reasons above.", unreached.join(", ")));
    Ok(Done { exit: Exit::Pending, is_written, within })
}
