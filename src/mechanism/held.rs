//! What the mechanisms that hold a source have in common.

use serde_json::json;

use crate::error::Error;
use crate::mechanism::cron_job::{each, shell_line};
use crate::mechanism::{Action, ClusterGate, Files, Job, Writing, add, join};
use crate::spec::Spec;

/// Returns the jobs of the gated types, by the names that they have for the first source of each: the first type's has this
/// name, a further one's its type's behind it.
pub(super) fn jobs(spec: &Spec, first: &str) -> Vec<Job> {
    let job = |(order, change_type): (usize, usize)| {
        let suffix = spec.types[change_type].name.value.as_str();
        let name = if order == 0 { first.to_owned() } else { format!("{first}-{suffix}") };
        Job { name, change_type, action: Action::Follow }
    };
    spec.gated_positions().enumerate().map(job).collect()
}

/// Returns the position of the type of a job, by those that have the names for the first source of each type: the job of
/// each further source has the name of that behind its own.
pub(super) fn type_of(jobs: &[Job], name: &str) -> Option<usize> {
    let is_it = |own: &&Job| own.name == name || name.starts_with(&format!("{}-", own.name));
    jobs.iter().filter(is_it).max_by_key(|own| own.name.len()).map(|own| own.change_type)
}

/// Adds the files of a cluster's gate, by their names in its folder, and the list of them and of its alerts.
///
/// # Errors
///
/// When a template fails, or something else has a file's place.
pub(super) fn list(
    writing: &Writing<'_>,
    cluster: &ClusterGate,
    alerts: &[&str],
    mut files: Vec<(String, String)>,
    wanted: &mut Files,
) -> Result<(), Error> {
    let Writing { spec, templates, gates, .. } = *writing;
    let listed = files.iter().map(|(name, _)| name.as_str()).chain(alerts.iter().copied());
    let list = templates.render(
        "follow-kustomization.yaml",
        json!({ "base": gates.base.relative_to(&cluster.folder), "files": listed.collect::<Vec<_>>() }),
    )?;
    files.push(("kustomization.yaml".to_owned(), list));
    for (name, text) in files {
        add(spec, wanted, join(&cluster.folder, &name)?, ("a part of a gate", text))?;
    }
    Ok(())
}

/// Returns the command that runs each of some commands; the one by itself where it is the only one.
pub(super) fn all_of(mut commands: Vec<Vec<String>>) -> Vec<String> {
    match commands.len() {
        1 => commands.remove(0),
        _ => each(commands.iter().map(|words| shell_line(words))),
    }
}
