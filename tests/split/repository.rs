//! The small repositories and what they are made of.

use crate::support::scratch::{SPEC, Scratch};

/// What `init` is told where the spec is to come from it.
pub const INIT: [&str; 8] =
    ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];

/// Returns the spec of the sample for one cluster, `c`.
pub fn spec() -> String {
    SPEC.replace("  edge-01: {}\n  edge-02: {}\n", "  c: {}\n")
}

/// A ConfigMap; `NAME` stands for its name.
pub const CONFIG_MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n  namespace: n\ndata:\n  k: v\n";

/// A Deployment; `NAME` stands for its name.
pub const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: NAME\n  namespace: n\n\
    spec:\n  template:\n    spec:\n      containers:\n        - name: main\n          image: main:1\n";

/// A repository with a spec and these files, committed.
pub fn repository(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("windows.yaml", spec());
    for (path, text) in files {
        scratch.write(path, text);
    }
    scratch.commit();
    scratch
}

/// A Flux Kustomization named after the last word of its path.
pub fn flux(scratch: &Scratch, path: &str) {
    let name = path.rsplit('/').next().unwrap();
    let text = from_source(name, &format!("./{path}"), "flux-system");
    scratch.write(&format!("clusters/c/{name}.yaml"), text).commit();
}

/// Writes an app of a ConfigMap and a Deployment.
pub fn app(scratch: &Scratch, folder: &str) {
    let name = folder.rsplit('/').next().unwrap();
    scratch
        .write(&format!("{folder}/kustomization.yaml"), "resources:\n  - config.yaml\n  - deployment.yaml\n")
        .write(&format!("{folder}/config.yaml"), CONFIG_MAP.replace("NAME", name))
        .write(&format!("{folder}/deployment.yaml"), DEPLOYMENT.replace("NAME", name))
        .commit();
}

/// A Flux Kustomization in a file, from a source of this name.
pub fn from_source(name: &str, path: &str, source: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: {path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: {source}\n"
    )
}

/// A GitRepository of this name, after another document.
pub fn source(name: &str) -> String {
    format!(
        "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10m\n  url: https://example.com/{name}\n"
    )
}
