//! Alerts: a Flux notification Provider and Alert beside each cluster's gate, so that people hear
//! when what a window lets in fails to apply.

use serde_json::json;

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{ClusterGate, Files, GateTarget, add, join};
use crate::path::RepoPath;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::edit::{Builder, resources};
use crate::plan::gate::{adopted, carrier};
use crate::proof::ALERTS;
use crate::spec::Spec;
use crate::template::Templates;

/// The files, each with its template.
const FILES: [&str; 2] = ["alert-provider.yaml", "alert.yaml"];

/// Returns the names of the files that a cluster's gate lists.
pub fn names(spec: &Spec, cluster: &ClusterGate) -> Vec<&'static str> {
    let is_needed = spec.alerts.is_some() && cluster.targets.values().any(|targets| !targets.is_empty());
    FILES.into_iter().filter(|_| is_needed).collect()
}

/// Adds the files of a cluster to what is wanted. A gate that is not ours gets them into its
/// `resources`, and loses them with the `alerts` of the spec.
///
/// # Errors
///
/// When the layout needs a file of the same name, or a list can't be edited in place.
pub fn sync(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    cluster: &ClusterGate,
    wanted: &mut Files,
) -> Result<(), Error> {
    let names = names(input.spec, cluster);
    let is_adopted = adopted::is_adopted(builder, &cluster.folder);
    if is_adopted {
        unlist(builder, &cluster.folder, &names)?;
    }
    let Some(alerts) = &input.spec.alerts else { return Ok(()) };
    // An event source without a namespace is one of the Alert's own.
    let own = &input.spec.flux.namespace;
    let elsewhere = |target: &GateTarget| Some(target.namespace.clone()).filter(|namespace| namespace != own);
    let held = cluster.held();
    let sources: Vec<_> =
        held.iter().map(|target| json!({ "name": target.name, "namespace": elsewhere(target) })).collect();
    for file in names {
        let text = templates.render(
            file,
            json!({
                "name": ALERTS,
                "namespace": input.spec.flux.namespace,
                "type": alerts.kind,
                "channel": alerts.channel,
                "secret": alerts.secret,
                "cluster": cluster.cluster,
                "sources": sources,
            }),
        )?;
        let path = join(&cluster.folder, file)?;
        add(input.spec, wanted, path.clone(), ("an alert", text))?;
        if is_adopted {
            carrier::add(builder, &cluster.folder, &path)?;
        }
    }
    Ok(())
}

/// Takes files of ours that nobody wants any more out of a gate that is not ours.
fn unlist(builder: &mut Builder<'_>, folder: &RepoPath, names: &[&str]) -> Result<(), Error> {
    for file in FILES.into_iter().filter(|file| !names.contains(file)) {
        let path = join(folder, file)?;
        if builder.now().file(&path).map(ownership) != Some(Ownership::Ours) {
            continue;
        }
        if let Ok(Some(kustomization)) = builder.kustomization(folder) {
            let text = resources::remove(&kustomization, &path).map_err(|error| {
                let diagnostic = error.diagnostic(kustomization.file.clone(), kustomization.text.clone());
                Error::new(ErrorKind::Unsafe, diagnostic)
            })?;
            builder.put(&kustomization.file, &text);
        }
        builder.remove(&path);
    }
    Ok(())
}

/// Says what the alerts need in each cluster that is not in Git, where they are new.
pub fn needs(input: &Input<'_>, clusters: &[ClusterGate]) -> Option<Diagnostic> {
    let alerts = input.spec.alerts.as_ref()?;
    let is_new = |cluster: &&ClusterGate| {
        names(input.spec, cluster)
            .iter()
            .any(|file| join(&cluster.folder, file).is_ok_and(|path| input.snapshot.file(&path).is_none()))
    };
    let new: Vec<&str> = clusters.iter().filter(is_new).map(|cluster| cluster.cluster.as_str()).collect();
    if new.is_empty() {
        return None;
    }
    let (secret, namespace) = (&alerts.secret, &input.spec.flux.namespace);
    Some(
        Diagnostic::note(format!(
            "alerts need Flux's notification-controller in {} and the Secret {secret} in {namespace}",
            new.join(", ")
        ))
        .at(Place::file(input.spec.path.clone()))
        .help(format!(
            "for example: kubectl create secret generic {secret} --namespace={namespace} --from-file=address --from-file=token"
        )),
    )
}
