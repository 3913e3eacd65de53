//! Whether a build fails by a variable that nothing sets.

use serde_json::Value;

use crate::delivery::Cluster;
use crate::repo::post_build::Strict;

/// The flag that turns features on and off (fluxcd/pkg/runtime/features).
pub(super) const FLAG: &str = "--feature-gates";

/// The feature by which such a build fails (kustomize-controller, `internal/features`).
pub(super) const GATE: &str = "StrictPostBuildSubstitutions";

/// The controller that makes builds.
const CONTROLLER: &str = "kustomize-controller";

/// The minor version of kustomize-controller 1 from which on the feature is on without a flag (its CHANGELOG, 1.9.0).
const SINCE: u64 = 9;

/// The minor version of Flux 2 that brings it.
const FLUX_SINCE: u64 = 9;

/// Returns what an object, if it is the Deployment of kustomize-controller, says of such builds; `None` where it does not
/// say it.
pub(super) fn strict_of(value: &Value) -> Option<Strict> {
    if value["kind"] != "Deployment" || value["metadata"]["name"] != CONTROLLER {
        return None;
    }
    let containers = || value["spec"]["template"]["spec"]["containers"].as_array().into_iter().flatten();
    let by_image = containers().find_map(|one| of_image(one["image"].as_str()?));
    let label = value["metadata"]["labels"]["app.kubernetes.io/version"].as_str();
    let is_new = by_image.or_else(|| Some(minor(label?, "2.")? >= FLUX_SINCE));
    match (containers().filter_map(|one| flag(&one["args"])).next_back(), is_new) {
        (Some(false), _) | (None, Some(false)) => Some(Strict::Off),
        (None, None) => None,
        (Some(true) | None, Some(true)) => Some(Strict::All),
        // Older ones count bare variables only (fluxcd/pkg/envsubst before v1.6.0, `evalFunc`).
        (Some(true), _) => Some(Strict::Bare),
    }
}

/// Returns what the version that a FluxInstance asks for says of it; `None` for one that is not that exact.
pub(super) fn of_distribution(version: &str) -> Option<Strict> {
    let is_new = minor(version, "2.")? >= FLUX_SINCE;
    Some(if is_new { Strict::All } else { Strict::Off })
}

/// Returns whether an image is of a version that fails without a flag.
fn of_image(image: &str) -> Option<bool> {
    let (_, tag) = image.rsplit('/').next()?.split('@').next()?.split_once(':')?;
    Some(minor(tag, "1.")? >= SINCE)
}

/// Returns the minor version behind a major one.
fn minor(version: &str, major: &str) -> Option<u64> {
    version.trim_start_matches('v').strip_prefix(major)?.split(['.', '-']).next()?.parse().ok()
}

/// Returns what arguments say of the feature: each flag may name several, and the last one counts.
fn flag(args: &Value) -> Option<bool> {
    let args: Vec<&str> = args.as_array()?.iter().filter_map(Value::as_str).collect();
    let gates = args.iter().enumerate().filter_map(|(position, arg)| match arg.strip_prefix(FLAG)? {
        "" => args.get(position + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    let said = gates.flat_map(|gates| gates.split(',')).filter_map(|gate| gate.trim().split_once('='));
    said.filter(|(name, _)| *name == GATE).filter_map(|(_, on)| on.parse().ok()).next_back()
}

impl Cluster {
    /// Returns whether each `postBuild` is read as strictly as the controller does that.
    pub(super) fn is_settled(&self) -> bool {
        let own = self.kustomizations.iter().filter(|one| one.remote.is_empty());
        let mut own = own.filter(|one| one.post_build.is_object());
        own.all(|one| Strict::of(&one.post_build) == self.strict.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::delivery::Known;
    use crate::delivery::reading::tests::{flux, read};

    #[test]
    fn the_version_and_the_flags_of_the_controller_count() {
        let of = |image: &str, label: &str, args: &[&str]| {
            strict_of(&json!({
                "kind": "Deployment",
                "metadata": { "name": CONTROLLER, "labels": { "app.kubernetes.io/version": label } },
                "spec": { "template": { "spec": { "containers": [{ "image": image, "args": args }] } } },
            }))
        };
        let (old, new) = (
            "ghcr.io/fluxcd/kustomize-controller:v1.8.3",
            "ghcr.io/fluxcd/kustomize-controller:v1.9.0@sha256:0",
        );
        let off = "--feature-gates=A=true,StrictPostBuildSubstitutions=false";
        assert_eq!(of(new, "", &[]), Some(Strict::All));
        assert_eq!(of(old, "v2.9.0", &[]), Some(Strict::Off));
        assert_eq!(of("host:5000/kustomize-controller", "v2.9.4", &[]), Some(Strict::All));
        assert_eq!(of("a@sha256:0", "v2.8.1", &[]), Some(Strict::Off));
        assert_eq!(of("", "", &["--log-level=info"]), None);
        assert_eq!(of(new, "", &[off]), Some(Strict::Off));
        assert_eq!(
            of(new, "", &[off, "--feature-gates", "StrictPostBuildSubstitutions=true"]),
            Some(Strict::All)
        );
        assert_eq!(of(old, "", &["--feature-gates=StrictPostBuildSubstitutions=true"]), Some(Strict::Bare));
        assert_eq!(
            ["2.9.4", "v2.10.0", "2.8.0", "2.x", ">=2.9"].map(of_distribution),
            [Some(Strict::All), Some(Strict::All), Some(Strict::Off), None, None]
        );
    }

    /// Returns why the root and the app of a cluster fail, of which both hold a bare variable.
    fn failing(image: &str, list: &str) -> Vec<(String, Option<String>)> {
        let controller = format!(
            "# kustomize.toolkit.fluxcd.io\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: kustomize-controller, namespace: flux-system }}\nspec: {{ template: {{ spec: {{ containers: [{{ name: manager, image: '{image}', args: [--log-level=info] }}] }} }} }}\n"
        );
        let post_build = "postBuild: { substitute: { A: a } }";
        let root = flux("flux-system", "./clusters/prod", post_build);
        let apps = flux("apps", "./apps", post_build);
        let below = flux("'${Q}'", "./below", "");
        let list = format!("resources: [gotk-components.yaml, gotk-sync.yaml]\n{list}");
        let model = read(
            &Known::default(),
            &[
                ("clusters/prod/flux-system/kustomization.yaml", list.as_str()),
                ("clusters/prod/flux-system/gotk-components.yaml", controller.as_str()),
                ("clusters/prod/flux-system/gotk-sync.yaml", root.as_str()),
                ("clusters/prod/apps.yaml", apps.as_str()),
                ("apps/below.yaml", below.as_str()),
            ],
        );
        let all = model.delivered.all[0].kustomizations.iter();
        all.map(|one| (one.name().to_owned(), one.error.clone())).collect()
    }

    #[test]
    fn what_nothing_sets_fails_from_that_version_on() {
        let told = |image: &str, list: &str| {
            let all = failing(image, list);
            all.into_iter().find(|(name, _)| name == "apps").unwrap().1
        };
        let new = "ghcr.io/fluxcd/kustomize-controller:v1.9.0";
        let off = "patches:\n- target: { kind: Deployment }\n  patch: '[{ \"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/args/-\", \"value\": \"--feature-gates=StrictPostBuildSubstitutions=false\" }]'\n";
        let error = told(new, "").unwrap();
        assert!(error.ends_with(": variable not set (strict mode): \"Q\""), "{error}");
        assert_eq!(told(new, off), None);
        assert_eq!(told("ghcr.io/fluxcd/kustomize-controller:v1.8.0", ""), None);
    }
}
