//! What the API server refuses of a Flux Kustomization, or does not have, so that no step would land.

use crate::plan::problem::Problem;
use crate::repo::flux::{API_VERSION, refused_value};
use crate::repo::{FluxApi, FluxKustomization};

/// Stops at a value or a field that the API server refuses: the cluster goes by what it had before.
pub fn refused(flux: &FluxKustomization) -> Option<Problem> {
    if let Some(stop) = unknown(flux) {
        return Some(stop);
    }
    let (field, wanted) = refused_value(&flux.value["spec"])?;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} in {} has {} as `spec.{field}`. The API server refuses that, and the cluster keeps the old value",
            flux.name,
            flux.file,
            flux.spec(field)
        ),
        format!("write {wanted} there, let that reach the cluster, then go on"),
        flux.place(field),
    ))
}

/// Stops where the Flux that Git holds for a cluster is too old for what stands in a file, or for what is written there.
fn unknown(flux: &FluxKustomization) -> Option<Problem> {
    flux.apis.iter().find_map(|(cluster, api)| unknown_in(flux, cluster, api))
}

fn unknown_in(flux: &FluxKustomization, cluster: &str, api: &FluxApi) -> Option<Problem> {
    let name = &flux.name;
    let (what, since, or, place) = match api.undeclared(&flux.effective) {
        Some(keys) => (
            format!("declare `spec.{}` of Flux Kustomization {name}", keys.join(".")),
            FluxApi::version_with(&keys[0]),
            ", or take that field out",
            flux.place(&keys[0]),
        ),
        None if !api.serves(API_VERSION) => {
            (format!("serve {API_VERSION}"), FluxApi::WITH_V1.to_owned(), "", flux.place("path"))
        }
        None => return None,
    };
    Some(Problem::lasting(
        format!("{api} does not {what}. Cluster {cluster} would keep the old state"),
        format!("upgrade Flux of cluster {cluster} to {since}{or}\nlet that reach the cluster, then go on"),
        place,
    ))
}

/// Stops where the Flux that Git holds for a cluster has no policy, for steps that `prune: false` does not do for.
pub fn without_policy(flux: &FluxKustomization) -> Option<Problem> {
    let (cluster, api) = flux.without("deletionPolicy")?;
    let (name, since) = (&flux.name, FluxApi::version_with("deletionPolicy"));
    Some(Problem::lasting(
        format!("{api} has no `deletionPolicy`, which {name} needs to keep its objects in cluster {cluster}"),
        format!("upgrade Flux of cluster {cluster} to {since}\nlet that reach the cluster, then go on"),
        flux.place("prune"),
    ))
}
