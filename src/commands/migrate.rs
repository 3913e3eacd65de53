//! `migrate`.

use crate::cli::{Global, Migrate};
use crate::commands::apply::{Exit, apply};
use crate::commands::workspace::{Loaded, cluster_folders};
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Input, MigrateOptions, migrate};
use crate::repo::Model;
use crate::spec;
use crate::template::Templates;

/// Runs the command.
pub fn run(global: &Global, arguments: &Migrate, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open(global, output)?;
    output.diagnostics(&loaded.model.remarks);
    let templates = Templates::new(loaded.workspace.overrides())?;
    let snapshot = loaded.workspace.repository.snapshot_at(&arguments.base)?.snapshot;
    // The revision may be older than the spec; then today's says what its folders mean.
    let old = spec::read(&snapshot, &loaded.workspace.spec_path).map(|parsed| parsed.spec);
    let spec = old.as_ref().unwrap_or(&loaded.spec);
    let model = Model::read(&snapshot, &spec.folder(), &cluster_folders(spec));
    let base = Input { spec, snapshot: &snapshot, model: &model, renderer: loaded.renderer.as_ref() };
    let options = MigrateOptions {
        clusters: arguments.clusters.clone(),
        allow_deletion: arguments.allow_deletion,
        base: arguments.base.clone(),
    };
    let plan = migrate(&loaded.input(), &base, &templates, &options)?;
    apply(global, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}
