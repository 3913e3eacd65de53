//! What a lockdown keeps Flux from applying.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::delivery::{Applier, Cluster, Reached, World, appliers, build_all};
use crate::render::{Object, Renderer};
use crate::repo::manifest::ObjectId;
use crate::spec::FluxDefaults;

/// The API group of roles and what binds them.
pub const RBAC: &str = "rbac.authorization.k8s.io";

/// Returns whether an object binds a role to a ServiceAccount, given by namespace and name, or to a group that has it.
pub fn binds(value: &Value, (namespace, name): (&str, &str)) -> bool {
    let ObjectId { group, kind, .. } = ObjectId::of(value);
    let is_binding = group == RBAC && matches!(kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
    let mut subjects = value["subjects"].as_array().into_iter().flatten();
    is_binding && subjects.any(|one| is_account(one, (namespace, name)) || is_group_of(one, namespace))
}

/// Returns whether a subject of a binding is a ServiceAccount, be it as the user that it is (Kubernetes, "Using RBAC
/// Authorization", "Referring to subjects").
pub fn is_account(subject: &Value, (namespace, name): (&str, &str)) -> bool {
    match subject["kind"].as_str() {
        Some("ServiceAccount") => subject["name"] == name && subject["namespace"] == namespace,
        Some("User") => subject["name"] == format!("system:serviceaccount:{namespace}:{name}").as_str(),
        _ => false,
    }
}

/// Returns whether a subject of a binding is a group that has each ServiceAccount of a namespace (as [`is_account`]).
fn is_group_of(subject: &Value, namespace: &str) -> bool {
    let name = subject["name"].as_str().filter(|_| subject["kind"] == "Group").unwrap_or_default();
    let of_namespace = name.strip_prefix("system:serviceaccounts:");
    of_namespace == Some(namespace) || matches!(name, "system:serviceaccounts" | "system:authenticated")
}

impl Cluster {
    /// Returns the ServiceAccount of a lockdown as which Flux applies what a Flux Kustomization builds; `None` where that names
    /// its own, or there is no lockdown.
    pub fn locked_to(&self, spec: &Value) -> Option<&str> {
        let is_its_own = ["serviceAccountName", "kubeConfig"].iter().any(|key| !spec[key].is_null());
        self.default_account().filter(|_| !is_its_own)
    }
}

/// The bindings of clusters with a lockdown, each cluster built once somebody asks.
pub(super) struct Privileges<'w> {
    world: World<'w>,
    renderer: &'w dyn Renderer,
    /// By cluster; `None` where something of it does not build, so that it may hold any.
    known: BTreeMap<&'w str, Option<Vec<Object>>>,
}

impl<'w> Privileges<'w> {
    pub(super) fn new(world: World<'w>, renderer: &'w dyn Renderer) -> Privileges<'w> {
        Privileges { world, renderer, known: BTreeMap::new() }
    }

    /// Returns the ServiceAccount as which Flux applies what a Flux Kustomization of a cluster builds, where no role is bound to
    /// that in its Git, so that Flux may apply nothing.
    pub(super) fn lacking(&mut self, cluster: &'w Cluster, one: &Reached) -> Option<String> {
        let account = cluster.locked_to(&one.value["spec"]).filter(|_| one.remote.is_empty())?;
        let namespace = FluxDefaults::default();
        let namespace = namespace.namespace_of(one.namespace());
        let (world, renderer) = (self.world, self.renderer);
        let bindings = self.known.entry(&cluster.name).or_insert_with(|| bindings(world, cluster, renderer));
        let mut bindings = bindings.as_ref()?.iter();
        (!bindings.any(|one| binds(&one.value, (namespace, account)))).then(|| account.to_owned())
    }
}

/// Builds what a cluster gets, and keeps what binds roles.
fn bindings(world: World<'_>, cluster: &Cluster, renderer: &dyn Renderer) -> Option<Vec<Object>> {
    let mut all = appliers(world.model);
    all.retain(|one| {
        one.cluster == cluster.name && one.kustomization.is_none_or(|one| one.target().is_empty())
    });
    let all: Vec<&Applier<'_>> = all.iter().collect();
    let mut found = Vec::new();
    for built in build_all(world, &all, renderer) {
        found.extend(built.ok()?.into_iter().filter(|one| ObjectId::of(&one.value).group == RBAC));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use crate::delivery::reading::tests::{SERVICE, flux, read};
    use crate::delivery::{Doubt, Known};

    const CONTROLLER: &str = "# kustomize.toolkit.fluxcd.io\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: kustomize-controller, namespace: flux-system }\nspec: { template: { spec: { containers: [{ name: manager, args: [--default-service-account=tenant] }] } } }\n";
    const CLOSE: &str = "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: close, namespace: flux-system }\nspec:\n  schedule: 0 2 * * SUN\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          containers:\n          - name: flux\n            image: ghcr.io/fluxcd/flux-cli:v2.9.4\n            args: [suspend, kustomization, apps]\n";

    /// Returns the doubt about the CronJob of a gate, with more of its Flux Kustomization and a binding to a ServiceAccount.
    fn doubt(more: &str, bound: &str) -> Option<Doubt> {
        let all = [
            flux("flux-system", "./clusters/prod", "serviceAccountName: kustomize-controller"),
            flux("gate", "./gate", more),
            flux("apps", "./apps", ""),
        ];
        let binding = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{ name: b, namespace: flux-system }}\nroleRef: {{ kind: Role, name: b }}\nsubjects: [{{ kind: ServiceAccount, name: {bound}, namespace: flux-system }}]\n"
        );
        let files = [
            ("clusters/prod/controller.yaml", CONTROLLER),
            ("clusters/prod/sync.yaml", &all[0]),
            ("clusters/prod/gate.yaml", &all[1]),
            ("clusters/prod/apps.yaml", &all[2]),
            ("clusters/prod/binding.yaml", &binding),
            ("apps/a.yaml", SERVICE),
            ("gate/close.yaml", CLOSE),
            ("gate/kustomization.yaml", "resources: [close.yaml]\n"),
        ];
        let model = read(&Known::default(), &files);
        let jobs = model.closings.of(&model.delivered.all[0].name);
        assert_eq!(jobs.len(), 1, "{jobs:?}");
        jobs[0].doubt.clone()
    }

    #[test]
    fn a_gate_that_flux_may_not_apply_is_kept_out() {
        let unprivileged = Some(Doubt::Unprivileged("gate".to_owned(), "tenant".to_owned()));
        assert_eq!(doubt("", "other"), unprivileged);
        assert_eq!(doubt("", "tenant"), None);
        assert_eq!(doubt("serviceAccountName: other", "other"), None);
    }
}
