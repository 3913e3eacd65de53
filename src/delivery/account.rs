//! As which ServiceAccount Flux applies what a Flux Kustomization without `serviceAccountName` builds.

use serde_json::Value;

use crate::delivery::Cluster;
use crate::delivery::jitter::said;
use crate::repo::FluxKustomization;

/// The flag that says it (kustomize-controller, `main.go`).
pub(super) const FLAG: &str = "--default-service-account";

/// The controller whose flag counts.
const CONTROLLER: &str = "kustomize-controller";

/// Returns the ServiceAccount that an object, if it is the Deployment of kustomize-controller, gives to what names none.
pub(super) fn default_of(value: &Value) -> Option<String> {
    if value["kind"] != "Deployment" || value["metadata"]["name"] != CONTROLLER {
        return None;
    }
    let containers = value["spec"]["template"]["spec"]["containers"].as_array();
    let mut accounts = containers.into_iter().flatten().filter_map(|one| said(&one["args"], FLAG));
    accounts.find(|account| !account.is_empty()).map(str::to_owned)
}

/// Returns that of the `cluster` of a FluxInstance (flux-operator, `internal/builder/profiles.go`, `GetMultitenantProfile`).
pub(super) fn default_of_instance(cluster: &Value) -> Option<String> {
    let account = cluster["tenantDefaultServiceAccount"].as_str().filter(|account| !account.is_empty());
    (cluster["multitenant"] == true).then(|| account.unwrap_or("default").to_owned())
}

/// Returns the Flux Kustomization of a `sync` the account that a FluxInstance with `multitenant` patches into it (the same).
pub(super) fn give_own(cluster: &Value, kustomization: &mut Value) {
    if default_of_instance(cluster).is_some() {
        kustomization["spec"]["serviceAccountName"] = CONTROLLER.into();
    }
}

impl Cluster {
    /// Returns the ServiceAccount as which Flux applies what names none, in the namespace of that; `None` where Git has no
    /// such lockdown, so that the controller's own rights count.
    pub fn default_account(&self) -> Option<&str> {
        self.default_account.as_deref()
    }

    /// Returns the ServiceAccount that a Flux Kustomization in a namespace, beside another one, has to name there: that of a
    /// root, or else that of the other one. `None` without a lockdown.
    pub fn account_beside<'v>(&'v self, sibling: &'v FluxKustomization, namespace: &str) -> Option<&'v str> {
        self.default_account()?;
        let roots = self.roots.iter().filter_map(|root| self.reached("", root.key()?));
        let roots = roots.filter(|one| one.namespace() == namespace);
        let mut accounts = roots.map(|root| &root.value["spec"]).chain([&sibling.effective["spec"]]);
        accounts.find_map(|spec| spec["serviceAccountName"].as_str().filter(|account| !account.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use crate::delivery::Known;
    use crate::delivery::reading::tests::{flux, read};

    /// What fluxcd.io says for a lockdown (Flux, Multi-tenancy).
    const PATCHES: &str = "patches:\n- target: { kind: Deployment, name: (kustomize-controller|helm-controller) }\n  patch: '[{ \"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/args/-\", \"value\": \"--default-service-account=ARG\" }]'\n- target: { kind: Kustomization, name: flux-system }\n  patch: '[{ \"op\": \"add\", \"path\": \"/spec/serviceAccountName\", \"value\": \"kustomize-controller\" }]'\n";

    fn accounts(files: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let model = read(&Known::default(), files);
        let cluster = &model.delivered.all[0];
        let sibling = model.flux_of_cluster(&cluster.name).find(|one| one.name == "apps").unwrap();
        let own = cluster.account_beside(sibling, "flux-system").map(str::to_owned);
        (cluster.default_account().map(str::to_owned), own)
    }

    #[test]
    fn a_lockdown_of_the_controller_is_read_from_its_build() {
        let controller = "# kustomize.toolkit.fluxcd.io\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: kustomize-controller, namespace: flux-system }\nspec: { template: { spec: { containers: [{ name: manager, args: [--log-level=info] }] } } }\n";
        let root = flux("flux-system", "./clusters/prod", "");
        let apps = flux("apps", "./apps", "");
        let of = |patches: &str| {
            let list = format!("resources: [gotk-components.yaml, gotk-sync.yaml]\n{patches}");
            accounts(&[
                ("clusters/prod/flux-system/kustomization.yaml", list.as_str()),
                ("clusters/prod/flux-system/gotk-components.yaml", controller),
                ("clusters/prod/flux-system/gotk-sync.yaml", root.as_str()),
                ("clusters/prod/apps.yaml", apps.as_str()),
            ])
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of(""), (None, None));
        assert_eq!(of(&PATCHES.replace("ARG", "tenant")), (some("tenant"), some("kustomize-controller")));
        assert_eq!(of(&PATCHES.replace("ARG", "")), (None, None));
    }

    #[test]
    fn a_lockdown_of_a_flux_instance_counts() {
        let apps = flux("apps", "./apps", "");
        let of = |cluster: &str| {
            let instance = format!(
                "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec:\n  cluster: {cluster}\n  sync: {{ kind: GitRepository, url: u, path: clusters/prod }}\n"
            );
            accounts(&[
                ("clusters/prod/instance.yaml", instance.as_str()),
                ("clusters/prod/apps.yaml", apps.as_str()),
            ])
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("{ multitenant: false }"), (None, None));
        assert_eq!(of("{ multitenant: true }"), (some("default"), some("kustomize-controller")));
        let named = of("{ multitenant: true, tenantDefaultServiceAccount: tenant }");
        assert_eq!(named, (some("tenant"), some("kustomize-controller")));
    }
}
