//! Proves the gates: each cluster's jobs do what the spec says, and its Role allows just that.

use serde_json::Value;

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, Gates};
use crate::plan::edit::Builder;
use crate::plan::gate::adopted;
use crate::render::Request;

/// Builds each cluster's generated gate as it will be and looks at what comes out.
///
/// The gated list, the commands and the Role are one thing: whoever is suspended can be, and nobody
/// else. An adopted gate is its authors' and is only held to go on building.
///
/// # Errors
///
/// When a gate does not build or differs from the spec; templates that a user replaced are the
/// likeliest reason.
pub fn verify(input: &Input<'_>, gates: Option<&Gates>, builder: &Builder<'_>) -> Result<(), Error> {
    let Some(gates) = gates else { return Ok(()) };
    let active = || gates.clusters.iter().filter(|cluster| !cluster.is_idle());
    let folders = active().map(|cluster| &cluster.folder);
    let standing = folders.filter(|folder| matches!(builder.kustomization(folder), Ok(Some(_))));
    let requests: Vec<Request> = standing.cloned().map(Request::delivered).collect();
    input.renderer.prepare(builder.now(), &requests);
    let mut wrong = Vec::new();
    for cluster in active() {
        if !matches!(builder.kustomization(&cluster.folder), Ok(Some(_))) {
            continue;
        }
        let mut results = input.renderer.render(builder.now(), &[Request::delivered(cluster.folder.clone())]);
        let problem = match results.pop() {
            Some(Ok(objects)) => {
                let ours = !adopted::is_adopted(builder, &cluster.folder)
                    && !adopted::is_adopted(builder, &gates.base);
                let values: Vec<&Value> = objects.iter().map(|object| &*object.value).collect();
                let mechanism = mechanism::of(input.spec.gate.mechanism);
                if ours { mechanism.problem(input.spec, gates, cluster, &values) } else { None }
            }
            Some(Err(error)) => Some(format!("it would not build: {error}")),
            None => None,
        };
        wrong.extend(problem.map(|problem| {
            Diagnostic::error(format!(
                "the gate of cluster {} would not do what the spec says: {problem}",
                cluster.cluster
            ))
            .at(Place::file(cluster.folder.clone()))
            .help("correct the files of that folder, of the gate's base, and your own templates")
        }));
    }
    if wrong.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics: wrong }) }
}
