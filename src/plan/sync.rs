//! `sync`: brings everything that the spec implies up to date.

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::plan::build::builds;
use crate::plan::refresh::refresh;
use crate::plan::{Builder, Input, Plan, gate, layout, relocation};
use crate::proof::Obligation;
use crate::repo::RepoPath;
use crate::spec;
use crate::template::Templates;

/// The file of the JSON Schema, beside the spec.
pub const SCHEMA_FILE: &str = "windows.schema.json";

/// Plans what the spec implies and the repository lacks: gates, patches, projections, the schema.
///
/// What a cluster's apps are does not change, but for the type of an object: a rule that was edited
/// moves it from side to side where nothing is deleted by that. A second run changes nothing.
///
/// # Errors
///
/// When a generated file was edited by hand, when a value can't be edited in place, and when a
/// cluster may delete an object that changes sides.
pub fn sync(input: &Input<'_>, templates: &Templates) -> Result<Plan, Error> {
    no_unknown_types(input)?;
    layout::check(input)?;
    let mut builder = Builder::new(input.snapshot);
    let leftover = gate::sync(input, templates, &mut builder)?;
    gate::verify(input, &builder)?;
    let moved = refresh(input, &mut builder)?;
    if let Ok(path) = input.spec.folder().join(SCHEMA_FILE)
        && builder.now().file(&path).is_some()
    {
        builder.put(&path, &schema_text());
    }
    let mut plan = builder.finish();
    plan.obligations = obligations(input, &plan)?;
    plan.commands = leftover.commands;
    plan.remarks = leftover.remarks;
    let relocated = relocation::guard(input, &mut plan, &moved)?;
    plan.remarks.extend(relocated);
    let after = plan.apply(input.snapshot);
    let model = input.model.again(&after);
    plan.remarks.extend(relocation::misplaced(&Input { snapshot: &after, model: &model, ..*input }));
    Ok(plan)
}

/// A side of a type that the spec no longer has would be taken for an entry point of its own, and
/// the gate would go on to something that does not exist.
///
/// # Errors
///
/// When there is one.
fn no_unknown_types(input: &Input<'_>) -> Result<(), Error> {
    const ANY: &str = "any-type-of-any-name";
    let sides = input.sides();
    let mut found = Vec::new();
    for entry in input.model.entry_points.iter().filter(|entry| !sides.contains_key(&entry.path)) {
        for above in std::iter::successors(entry.path.parent(), RepoPath::parent) {
            let Some(pattern) = input.side(&above, &entry.cluster, ANY) else { continue };
            let Some((head, tail)) = pattern.as_str().split_once(ANY) else { continue };
            let middle = entry.path.as_str().strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
            // Another side of the same folder shows that this is one too.
            let twin = sides.iter().any(|(side, (whole, _))| *whole == above && input.model.graph.has(side));
            let gone =
                middle.filter(|name| !name.is_empty() && !name.contains('/') && *name != "all" && twin);
            if let Some(name) = gone {
                found.push(
                    Diagnostic::error(format!(
                        "{above} is split into types, {} among them, and the spec has no type `{name}`",
                        entry.path
                    ))
                    .at(Place::file(input.spec.path.clone()))
                    .help("keep the name; or `gitops-windows join --all`, rename it, and `gitops-windows split --all` before the hand-over"),
                );
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics: found }) }
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
    let (carriers, folders) = (gate::carriers(input)?, gate::folders(input)?);
    let mut found = Vec::new();
    for entry in &input.model.entry_points {
        let free = gate::free_of(input, &carriers, &folders, &entry.path);
        for build in builds(input.model, entry) {
            found.push(Obligation {
                flux_may_change: true,
                free: free.clone(),
                build,
                ..Obligation::same(entry.path.clone())
            });
        }
    }
    let sides = input.sides().into_keys().filter(|side| input.model.graph.has(side));
    found.extend(sides.map(|side| Obligation {
        free: carriers.get(&side).cloned().into_iter().collect(),
        ..Obligation::same(side)
    }));
    Ok(found)
}
