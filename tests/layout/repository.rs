//! The repositories and their specs.

use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

/// A spec for one cluster with these types and this layout.
pub fn spec(types: &str, layout: &str) -> String {
    format!(
        "apiVersion: gitops-windows/v1\ntypes: {types}\nwindows: {{ night: {{ timeZone: UTC, open: 0 1 * * *, for: 2h }} }}\nclusters: {{ edge: {{}} }}\nlayout: {layout}\n"
    )
}

/// One real-time type and one with a window.
pub const TYPES: &str = "{ rt: {}, rw: { window: night } }";

/// An object of each of the two types.
pub const BOTH: &[&str] = &["ConfigMap", "Deployment"];

/// Writes the file of a Flux Kustomization.
pub fn flux(scratch: &Scratch, name: &str, path: &str, depends_on: &str) {
    scratch.write(
        &format!("clusters/edge/flux/{name}.yaml"),
        flux_kustomization(
            name,
            path,
            &format!(
                "  dependsOn: [{depends_on}]
"
            ),
        ),
    );
}

/// Adds an entry point that lists an app of its own with these kinds.
pub fn entry(scratch: &Scratch, name: &str, kinds: &[&str]) {
    let folder = format!("clusters/edge/{name}");
    scratch.write(&format!("{folder}/kustomization.yaml"), format!("resources: [../../../apps/{name}]\n"));
    let files: Vec<String> = kinds.iter().map(|kind| format!("{kind}.yaml").to_lowercase()).collect();
    scratch.write(&format!("apps/{name}/kustomization.yaml"), format!("resources: [{}]\n", files.join(", ")));
    for (kind, file) in kinds.iter().zip(&files) {
        let version = match *kind {
            "Deployment" => "apps/v1",
            "Role" => "rbac.authorization.k8s.io/v1",
            _ => "v1",
        };
        scratch.write(
            &format!("apps/{name}/{file}"),
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{ name: {name}, namespace: x }}\n"),
        );
    }
}

/// A repository of entry points with objects of these kinds, each with a Flux Kustomization.
pub fn repository(entries: &[(&str, &[&str])]) -> Scratch {
    let scratch = Scratch::empty();
    for (name, kinds) in entries {
        entry(&scratch, name, kinds);
        flux(&scratch, name, &format!("clusters/edge/{name}"), "");
    }
    scratch.write("windows.yaml", spec(TYPES, "{}")).commit();
    scratch
}

/// Returns the Flux Kustomizations that the gate may suspend.
pub fn gated(scratch: &Scratch) -> Vec<String> {
    let role = scratch.text("infra/reconciliation-windows/role.yaml");
    let line = role.lines().find_map(|line| line.trim().strip_prefix("resourceNames: [")).unwrap();
    line.trim_end_matches(']').split(", ").map(str::to_owned).collect()
}
