//! `sync`: brings everything that the spec implies up to date.

use crate::error::Error;
use crate::plan::build::builds;
use crate::plan::refresh::refresh;
use crate::plan::{Builder, Input, Plan, gate};
use crate::proof::Obligation;
use crate::spec;
use crate::template::Templates;

/// The file of the JSON Schema, beside the spec.
pub const SCHEMA_FILE: &str = "windows.schema.json";

/// Plans what the spec implies and the repository lacks: gates, patches, projections, the schema.
///
/// What a cluster's apps are does not change. A second run changes nothing.
///
/// # Errors
///
/// When a generated file was edited by hand, or a value can't be edited in place.
pub fn sync(input: &Input<'_>, templates: &Templates) -> Result<Plan, Error> {
    let mut builder = Builder::new(input.snapshot);
    gate::sync(input, templates, &mut builder)?;
    // Only now does an entry point carry a gate, and so can't be gated: say what that changes.
    let placed = builder.now().clone();
    let model = input.model.again(&placed);
    let input = &Input { snapshot: &placed, model: &model, ..*input };
    let leftover = gate::sync(input, templates, &mut builder)?;
    gate::verify(input, &builder)?;
    refresh(input, &mut builder)?;
    if let Ok(path) = input.spec.folder().join(SCHEMA_FILE)
        && builder.now().file(&path).is_some()
    {
        builder.put(&path, &schema_text());
    }
    let mut plan = builder.finish();
    plan.obligations = obligations(input, &plan)?;
    plan.commands = leftover.commands;
    plan.remarks = leftover.remarks;
    Ok(plan)
}

/// Gives the text of the schema's file.
pub fn schema_text() -> String {
    format!("{:#}\n", spec::schema())
}

/// Every entry point must go on rendering what it did, but for the gate that it carries.
///
/// # Errors
///
/// When the layout gives no folder for a gate.
pub fn obligations(input: &Input<'_>, plan: &Plan) -> Result<Vec<Obligation>, Error> {
    if plan.changes.is_empty() {
        return Ok(Vec::new());
    }
    let carriers = gate::carriers(input)?;
    let mut found = Vec::new();
    for entry in &input.model.entry_points {
        for build in builds(input.model, entry) {
            let free = carriers.get(&entry.path).cloned().into_iter().collect();
            found.push(Obligation {
                flux_may_change: true,
                free,
                build,
                ..Obligation::same(entry.path.clone())
            });
        }
    }
    let sides = input.sides().into_keys().filter(|side| input.model.graph.has(side));
    found.extend(sides.map(Obligation::same));
    Ok(found)
}
