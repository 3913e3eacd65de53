//! By how much controllers stretch intervals.

use std::time::Duration;

use serde_json::Value;

use crate::delivery::Cluster;
use crate::delivery::clusters::BOOTSTRAP;

/// The flag that says it (fluxcd/pkg/runtime/jitter).
pub(super) const FLAG: &str = "--interval-jitter-percentage";

/// How many percent it is without the flag.
const USUAL: u32 = 5;

/// The controllers whose intervals count, as `flux install` names their Deployments.
const CONTROLLERS: [&str; 2] = ["source-controller", "kustomize-controller"];

/// By how many percent controllers of a cluster stretch intervals, in the order of `CONTROLLERS`; `None` where Git has no
/// flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitters([Option<u32>; 2]);

impl Jitters {
    /// Reads the flag of a controller's Deployment; of several the largest counts.
    pub(super) fn take_in(&mut self, value: &Value) {
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        let position = CONTROLLERS.iter().position(|own| *own == name);
        let Some(position) = position.filter(|_| is_controller(value)) else { return };
        let containers = value["spec"]["template"]["spec"]["containers"].as_array();
        let percent = containers
            .into_iter()
            .flatten()
            .filter_map(|container| said(&container["args"], FLAG)?.parse().ok())
            .max();
        self.0[position] = self.0[position].max(percent);
    }

    /// Takes in what is known from elsewhere; of two the larger counts.
    pub(super) fn join(&mut self, other: Jitters) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).max(other);
        }
    }

    /// Returns how long after a merge a source has fetched the commit at the latest; `interval` is how often Git says that it
    /// looks.
    pub fn fetched_within(self, interval: Option<Duration>) -> Duration {
        stretched(self.0[0], interval.unwrap_or(BOOTSTRAP))
    }

    /// Returns the longest time between two reconciliations of a Flux Kustomization with an interval.
    pub fn reconciled_within(self, interval: Duration) -> Duration {
        stretched(self.0[1], interval)
    }
}

/// Returns whether an object is the Deployment of a controller whose intervals count.
pub(super) fn is_controller(value: &Value) -> bool {
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    value["kind"] == "Deployment" && CONTROLLERS.contains(&name)
}

/// Returns the value of a flag among arguments: that of the last one, in one word or in two.
pub(super) fn said<'v>(args: &'v Value, flag: &str) -> Option<&'v str> {
    let args: Vec<&str> = args.as_array()?.iter().filter_map(Value::as_str).collect();
    let mut values = args.iter().enumerate().filter_map(|(position, arg)| match arg.strip_prefix(flag)? {
        "" => args.get(position + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    values.next_back()
}

fn stretched(percent: Option<u32>, interval: Duration) -> Duration {
    interval.saturating_add(interval.saturating_mul(percent.unwrap_or(USUAL)) / 100)
}

impl Cluster {
    /// Returns by how much its controllers stretch intervals.
    pub fn jitters(&self) -> Jitters {
        self.jitters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Known;
    use crate::delivery::reading::tests::{flux, read};

    /// `flux bootstrap` writes the Deployments, and people patch them beside these (Flux, Configuration).
    #[test]
    fn a_flag_of_a_controller_stretches_its_intervals() {
        let controller = |name: &str| {
            format!(
                "# kustomize.toolkit.fluxcd.io\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name}, namespace: \
                 flux-system }}\nspec: {{ template: {{ spec: {{ containers: [{{ name: manager, args: [--log-level=info] }}] }} }} }}\n"
            )
        };
        let list = |patch: &str| format!("resources: [gotk-components.yaml, gotk-sync.yaml]\n{patch}");
        let patch = |name: &str, args: &[&str]| {
            let path = "/spec/template/spec/containers/0/args";
            let patch = serde_json::json!([{ "op": "replace", "path": path, "value": args }]);
            format!("patches: [{{ target: {{ kind: Deployment, name: {name} }}, patch: '{patch}' }}]\n")
        };
        let of = |patch: &str| {
            let all = CONTROLLERS.map(controller).join("---\n");
            let (root, list) = (flux("flux-system", "./clusters/prod", ""), list(patch));
            let files = [
                ("clusters/prod/flux-system/kustomization.yaml", list.as_str()),
                ("clusters/prod/flux-system/gotk-components.yaml", all.as_str()),
                ("clusters/prod/flux-system/gotk-sync.yaml", root.as_str()),
            ];
            let jitters = read(&Known::default(), &files).delivered.all[0].jitters();
            let hundred = Duration::from_secs(100);
            [jitters.fetched_within(Some(hundred)), jitters.reconciled_within(hundred)]
                .map(|one| one.as_secs())
        };
        assert_eq!(of(""), [105, 105]);
        assert_eq!(of(&patch("source-controller", &["--interval-jitter-percentage=50"])), [150, 105]);
        let two = patch("kustomize-controller", &["--log-level=info", "--interval-jitter-percentage", "20"]);
        assert_eq!(of(&two), [105, 120]);
        assert_eq!(of(&patch("source-controller", &["--interval-jitter-percentage=0"])), [100, 105]);
    }

    /// Flux Operator makes the Deployments, and its FluxInstance patches them.
    #[test]
    fn a_flag_in_the_patches_of_a_flux_instance_counts() {
        let of = |patches: &str| {
            let sync = "sync: { kind: GitRepository, url: u, path: clusters/prod }";
            let instance = format!(
                "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec:\n  {sync}\n  kustomize:\n    patches:\n{patches}"
            );
            let apps = flux("apps", "./apps", "");
            let files =
                [("clusters/prod/instance.yaml", instance.as_str()), ("clusters/prod/apps.yaml", &apps)];
            let jitters = read(&Known::default(), &files).delivered.all[0].jitters();
            let hundred = Duration::from_secs(100);
            [jitters.fetched_within(Some(hundred)), jitters.reconciled_within(hundred)]
                .map(|one| one.as_secs())
        };
        let patch = |target: &str, percent: u32| {
            format!(
                "    - target: {{ kind: Deployment, {target} }}\n      patch: |\n        - op: add\n          path: /spec/template/spec/containers/0/args/-\n          value: --interval-jitter-percentage={percent}\n"
            )
        };
        assert_eq!(of(&patch("name: (source-controller|kustomize-controller)", 20)), [120, 120]);
        let by_label = patch("labelSelector: app.kubernetes.io/component in (kustomize-controller)", 30);
        assert_eq!(of(&by_label), [105, 130]);
        // Other patches may be about what is not known here.
        let crd = "    - target: { kind: CustomResourceDefinition }\n      patch: '- { op: remove, path: /spec/x }'\n";
        assert_eq!(of(&(patch("name: source-controller", 40) + crd)), [140, 105]);
    }
}
