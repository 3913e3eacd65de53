//! For each code an edit that shows it, and one that comes near and does not.

use super::repository::Edit;

/// One code.
pub struct Case {
    /// The code, with the file and line at which it is told.
    pub told: &'static str,
    /// What brings it about.
    pub shows: &'static [Edit],
    /// What looks like it and is no such finding; nothing where the unedited repository says enough.
    pub near: &'static [Edit],
}

const KS: &str = "clusters/edge/apps.yaml";
pub const INFRA: &str = "clusters/edge/infra/kustomization.yaml";
pub const OPEN: &str = "infra/gate/open.yaml";
pub const CLOSE: &str = "infra/gate/close.yaml";
const TWICE: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps-rt, namespace: flux-system }\nspec: { interval: 5m, prune: true, path: ./apps/rw, sourceRef: { kind: GitRepository, name: flux-system } }\n";
const ROLE: &str = "infra/gate/role.yaml";
/// The gate's permissions in all namespaces.
const EVERYWHERE: [Edit; 3] = [
    (
        ROLE,
        "kind: Role\nmetadata: { name: gate, namespace: flux-system }",
        "kind: ClusterRole\nmetadata: { name: gate }",
    ),
    (
        "infra/gate/account.yaml",
        "kind: RoleBinding\nmetadata: { name: gate, namespace: flux-system }",
        "kind: ClusterRoleBinding\nmetadata: { name: gate }",
    ),
    ("infra/gate/account.yaml", "kind: Role, name: gate", "kind: ClusterRole, name: gate"),
];
const SYNC: &str = "clusters/edge/flux-system/gotk-sync.yaml";
const RT: &str = "apps/rt/kustomization.yaml";
const RW: &str = "apps/rw/kustomization.yaml";
const RELEASE: &str = "apps/rw/release.yaml";

/// Makes a case.
pub const fn case(told: &'static str, shows: &'static [Edit], near: &'static [Edit]) -> Case {
    Case { told, shows, near }
}

const INNER: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: inner, namespace: flux-system }\nspec: { interval: 5m, prune: true, path: ./apps/inner, sourceRef: { kind: GitRepository, name: flux-system } }\n";
const MORE: &str = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: more, namespace: flux-system }\nspec: { interval: 5m, prune: true, path: ./apps/more, sourceRef: { kind: GitRepository, name: flux-system } }\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: infra, namespace: flux-system }";
const INFRA_HEAD: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: infra, namespace: flux-system }";
const GIVES: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: site, namespace: flux-system }\ndata: { ZONE: a }\n";
const SETTINGS: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\ndata: { a: '1' }\n";
const NAMED: &str =
    "data: { a: '1' }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: '${APP}', namespace: shop }\n";
const SETS: &str = "data: { a: '1' }\n---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: { name: sets, namespace: shop }\nspec: { resources: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: x, namespace: shop } }] }\n";
const MAKER: &str = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: { name: tenants, namespace: shop }\nspec:\n  resourcesTemplate: |\n    apiVersion: helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    metadata: { name: team, namespace: shop }\n";
const SCRIPT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: script, namespace: shop }\ndata: { run: 'echo ${PLACE} $USER' }\n";
const POD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: early, namespace: shop }\nspec: { template: { spec: { containers: [{ name: a, image: a }], volumes: [{ name: v, configMap: { name: late } }] } } }\n";
const AUTOMATION: &str = "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: { name: images, namespace: flux-system }\nspec: { interval: 5m, update: { path: ./apps/rw } }\n";

const OTHER: Edit = ("infra/other/kustomization.yaml", "", "resources: [pod.yaml]\n");
const OTHER_POD: Edit = ("infra/other/pod.yaml", "", POD);
/// A kustomization that patches what a bootstrap brings.
const BOOTSTRAP: &str = "resources: [components.yaml]\npatches:\n- target: { name: controller }\n  patch: '[{ op: add, path: /metadata/labels, value: { a: b } }]'\n";

/// A CustomResourceDefinition of Flux Kustomizations that has few fields.
const CRD: Edit = (
    "clusters/edge/flux-system/crd.yaml",
    "",
    "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: kustomizations.kustomize.toolkit.fluxcd.io
  labels: { app.kubernetes.io/version: v2.3.0 }
spec:
  group: kustomize.toolkit.fluxcd.io
  names: { kind: Kustomization }
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              interval: { type: string }
              path: { type: string }
              prune: { type: boolean }
              dependsOn: { items: { properties: { name: { type: string } } } }
              sourceRef: { properties: { kind: { type: string }, name: { type: string } } }
",
);
const LISTS_CRD: Edit =
    ("clusters/edge/kustomization.yaml", "- apps.yaml", "- flux-system/crd.yaml\n- apps.yaml");

/// A lockdown of kustomize-controller.
const LOCKED: Edit = (
    "clusters/edge/flux-system/crd.yaml",
    "",
    "# kustomize.toolkit.fluxcd.io\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: kustomize-controller, namespace: flux-system }\nspec: { selector: { matchLabels: { app: c } }, template: { metadata: { labels: { app: c } }, spec: { containers: [{ name: manager, image: c:1, args: [--default-service-account=tenant] }] } } }\n",
);

pub const CASES: [Case; 83] = [
    case("GW001 clusters/edge/apps.yaml:24", &[(KS, "5m # apps-rw", "5m\n  suspend: false")], &[]),
    case(
        "GW001 clusters/edge/apps.yaml:24",
        &[(KS, "5m # apps-rw", "5m\n  suspend: true")],
        &[(KS, "5m # apps-rt", "5m\n  suspend: true")],
    ),
    case("GW002 clusters/edge/apps.yaml:15", &[(KS, "5m # apps-rt", "5m\n  suspend: false")], &[]),
    case(
        "GW003 infra/gate/close.yaml:16",
        &[
            (OPEN, "apps-rw,", "apps-rw, infra,"),
            (CLOSE, "apps-rw,", "apps-rw, infra,"),
            (ROLE, "[apps-rw]", "[apps-rw, infra]"),
        ],
        &[],
    ),
    case(
        "GW003 infra/gate/close.yaml:16",
        &[(KS, "5m # infra", "5m\n  dependsOn: [{ name: apps-rw }]")],
        &[(KS, "5m # infra", "5m\n  dependsOn: [{ name: apps-rt }]")],
    ),
    case(
        "GW004 clusters/edge/apps.yaml:15",
        &[
            (KS, "5m # apps-rt", "5m\n  dependsOn: [{ name: apps-rw }]"),
            (KS, "  dependsOn: [{ name: apps-rt }] # of apps-rw\n", ""),
        ],
        &[(KS, "5m # apps-rt", "5m\n  dependsOn: [{ name: elsewhere }]")],
    ),
    // A hub reconciles for other clusters: who waits and what a gate names lie in the hub.
    case(
        "GW004 clusters/edge/apps.yaml:16",
        &[
            (
                KS,
                "5m # apps-rt",
                "5m\n  kubeConfig: { secretRef: { name: spoke } }\n  dependsOn: [{ name: apps-rw }]",
            ),
            (KS, "  dependsOn: [{ name: apps-rt }] # of apps-rw\n", ""),
        ],
        &[(KS, "5m # apps-rw", "5m\n  kubeConfig: { secretRef: { name: spoke } }")],
    ),
    case(
        "GW005 infra/gate/close.yaml:16",
        &[(OPEN, "apps-rw", "apps-rx"), (CLOSE, "apps-rw", "apps-rx"), (ROLE, "[apps-rw]", "[apps-rx]")],
        &[],
    ),
    case(
        "GW006 infra/gate/close.yaml:16",
        &[("clusters/edge/infra/open-patch.yaml", "suspend: false", "suspend: true")],
        &[
            ("clusters/edge/infra/open-patch.yaml", "suspend: false", "suspend: true"),
            ("clusters/edge/infra/close-patch.yaml", "suspend: false", "suspend: true"),
        ],
    ),
    case(
        "GW007 clusters/edge/infra/open-patch.yaml:3",
        &[(INFRA, "- path: open-patch.yaml\n", "")],
        &[("clusters/edge/infra/notes.yaml", "", "a: 1\n")],
    ),
    case("GW008 apps/rw/deployment.yaml:3", &[(KS, "./apps/rt", "./apps")], &[]),
    case(
        "GW009 apps/more/settings.yaml:3",
        &[
            (KS, INFRA_HEAD, MORE),
            ("apps/more/settings.yaml", "", SETTINGS),
            ("apps/more/kustomization.yaml", "", "resources: [settings.yaml]\n"),
        ],
        &[
            (KS, INFRA_HEAD, MORE),
            ("apps/more/settings.yaml", "", SETTINGS),
            ("apps/more/kustomization.yaml", "", "namespace: other\nresources: [settings.yaml]\n"),
        ],
    ),
    case(
        "GW010 apps/rt/settings.yaml:3",
        &[
            (
                "apps/rw/settings.yaml",
                "",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\ndata: { a: '0' }\n",
            ),
            (RW, "release.yaml", "release.yaml, settings.yaml"),
        ],
        &[("apps/rw/settings.yaml", "", SETTINGS)],
    ),
    case(
        "GW011 apps/rt/namespace.yaml:3",
        &[(RT, "namespace.yaml, ", ""), (RW, "release.yaml", "release.yaml, ../rt/namespace.yaml")],
        &[
            ("apps/rw/other.yaml", "", "apiVersion: v1\nkind: Namespace\nmetadata: { name: other }\n"),
            (RW, "release.yaml", "release.yaml, other.yaml"),
        ],
    ),
    case(
        "GW014 apps/rw/kustomization.yaml:3",
        &[(RW, "name: shop", "name: shop-old")],
        &[(RW, "name: shop", "name: sh.*")],
    ),
    case(
        "GW014 apps/rw/flux/kustomization.yaml:3",
        &[
            (RW, "release.yaml", "release.yaml, flux"),
            ("apps/rw/flux/kustomization.yaml", "", BOOTSTRAP),
            ("apps/rw/flux/components.yaml", "", POD),
        ],
        // Flux writes them when it bootstraps the cluster.
        &[
            (RW, "release.yaml", "release.yaml, flux"),
            ("apps/rw/flux/kustomization.yaml", "", BOOTSTRAP),
            ("apps/rw/flux/components.yaml", "", "# Filled by `flux bootstrap`.\n"),
        ],
    ),
    case(
        "GW014 clusters/edge/apps.yaml:25",
        &[(
            KS,
            "5m # apps-rw",
            "5m\n  patches:\n  - target: { kind: StatefulSet }\n    patch: '- { op: remove, path: /spec/replicas }'",
        )],
        &[(
            KS,
            "5m # apps-rw",
            "5m\n  patches:\n  - target: { kind: Deployment }\n    patch: '- { op: remove, path: /spec/replicas }'",
        )],
    ),
    case(
        "GW015 apps/rw/deployment.yaml:11",
        &[(RT, "resources", "namePrefix: live-\nresources")],
        &[("apps/rw/deployment.yaml", "name: settings }", "name: made-by-an-operator }")],
    ),
    case(
        "GW016 apps/rt/early.yaml:4",
        &[
            ("apps/rt/early.yaml", "", POD),
            (RT, "service.yaml", "service.yaml, early.yaml"),
            (
                "apps/rw/late.yaml",
                "",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: late, namespace: shop }\n",
            ),
            (RW, "release.yaml", "release.yaml, late.yaml"),
        ],
        &[("apps/rt/early.yaml", "", POD), (RT, "service.yaml", "service.yaml, early.yaml")],
    ),
    case(
        "GW019 apps/rw/release.yaml:6",
        &[(RELEASE, "20.1.3", "20.x")],
        &[(
            RELEASE,
            "version: 20.1.3, sourceRef: { kind: HelmRepository",
            "sourceRef: { kind: GitRepository",
        )],
    ),
    case(
        "GW020 apps/rw/release.yaml:7",
        &[(
            RELEASE,
            "name: charts } } }\n",
            "name: charts } } }\n  valuesFrom: [{ kind: ConfigMap, name: settings }]\n",
        )],
        &[(
            RELEASE,
            "name: charts } } }\n",
            "name: charts } } }\n  valuesFrom: [{ kind: ConfigMap, name: elsewhere }]\n",
        )],
    ),
    case(
        "GW021 apps/rw/sets.yaml:3",
        &[("apps/rw/sets.yaml", "", MAKER), (RW, "release.yaml", "release.yaml, sets.yaml")],
        &[("apps/rt/sets.yaml", "", MAKER), (RT, "service.yaml", "service.yaml, sets.yaml")],
    ),
    case(
        "GW021 apps/rw/inner.yaml:3",
        &[
            ("apps/rw/inner.yaml", "", INNER),
            (RW, "release.yaml", "release.yaml, inner.yaml"),
            ("apps/inner/kustomization.yaml", "", "resources: []\n"),
        ],
        &[
            ("apps/rt/inner.yaml", "", INNER),
            (RT, "service.yaml", "service.yaml, inner.yaml"),
            ("apps/inner/kustomization.yaml", "", "resources: [x.yaml]\n"),
            (
                "apps/inner/x.yaml",
                "",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x, namespace: x }\n",
            ),
        ],
    ),
    case(
        "GW022 apps/rt/automation.yaml:4",
        &[
            ("apps/rt/automation.yaml", "", AUTOMATION),
            (RT, "service.yaml", "service.yaml, automation.yaml"),
            (
                "apps/rw/deployment.yaml",
                "containers: [{ name: shop, image: 'nginx:1.29.0' }]",
                MARKED_CONTAINERS,
            ),
        ],
        &[("apps/rt/automation.yaml", "", AUTOMATION), (RT, "service.yaml", "service.yaml, automation.yaml")],
    ),
    case(
        "GW023 clusters/edge/apps.yaml:1",
        &[(KS, "kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2")],
        &[("docs/old.yaml", "", "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Other\n")],
    ),
    case(
        "GW024 clusters/edge/infra/kustomization.yaml:3",
        &[(
            INFRA,
            "patches:\n- path: open-patch.yaml\n- path: close-patch.yaml\n",
            "patchesStrategicMerge: [open-patch.yaml, close-patch.yaml]\n",
        )],
        &[(RW, "patches:", "commonLabels: { a: b }\npatches:")],
    ),
    case(
        "GW025 infra/gate/role.yaml:5",
        &[(ROLE, "  resourceNames: [apps-rw]\n", "")],
        &[(ROLE, "[get, patch]", "[get, list, patch]")],
    ),
    case(
        "GW025 infra/gate/role.yaml:5",
        &[(ROLE, "[get, patch]", "['*']")],
        &[(ROLE, "- apiGroups", "- { apiGroups: [''], resources: [events], verbs: [list] }\n- apiGroups")],
    ),
    case(
        "GW025 infra/gate/role.yaml:5",
        &EVERYWHERE,
        &[
            EVERYWHERE[0],
            EVERYWHERE[1],
            EVERYWHERE[2],
            (KS, "{ name: apps-rw, namespace: flux-system }", "{ name: apps-rw, namespace: team }"),
            (OPEN, "apps-rw, -n, flux-system", "apps-rw, -n, team"),
            (CLOSE, "apps-rw, -n, flux-system", "apps-rw, -n, team"),
        ],
    ),
    case(
        "GW026 infra/gate/close.yaml:16",
        &[(ROLE, "[get, patch]", "[get]")],
        &[("infra/gate/kustomization.yaml", ", account.yaml, role.yaml", "")],
    ),
    case(
        "GW027 infra/gate/close.yaml:15",
        &[(CLOSE, "flux-cli:v2.9.4", "flux-cli:latest")],
        &[(CLOSE, "flux-cli:v2.9.4", "flux-cli:v0.36.0")],
    ),
    case(
        "GW027 infra/gate/close.yaml:15",
        &[
            ("clusters/edge/flux-system/gotk-components.yaml", "", "# Flux Version: v2.6.4\n"),
            (
                CLOSE,
                "[kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":true}}']",
                "[sh, -c, 'flux version; kubectl patch kustomization apps-rw -n flux-system --type=merge --field-manager=flux -p ''{\"spec\":{\"suspend\":true}}''']",
            ),
        ],
        &[
            ("clusters/edge/flux-system/gotk-components.yaml", "", "# Flux Version: v2.8.0\n"),
            (
                CLOSE,
                "[kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":true}}']",
                "[sh, -c, 'flux version; kubectl patch kustomization apps-rw -n flux-system --type=merge --field-manager=flux -p ''{\"spec\":{\"suspend\":true}}''']",
            ),
        ],
    ),
    case(
        "GW028 infra/gate/close.yaml:16",
        &[(
            CLOSE,
            "[kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":true}}']",
            "[flux, suspend, kustomization, apps-rw]",
        )],
        &[(
            CLOSE,
            "[kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":true}}']",
            "[sh, -c, 'flux suspend kustomization apps-rw; kubectl get kustomization apps-rw -o yaml | grep \"suspend: true\"']",
        )],
    ),
    case(
        "GW029 infra/gate/close.yaml:16",
        &[(CLOSE, "--field-manager=flux, ", "")],
        &[(CLOSE, "--field-manager=flux", "--field-manager=gate")],
    ),
    case(
        "GW030 apps/rt/script.yaml:4",
        &[
            ("apps/rt/script.yaml", "", SCRIPT),
            (RT, "service.yaml", "service.yaml, script.yaml"),
            (KS, "5m # apps-rt", "5m\n  postBuild: { substitute: { ZONE: a } }"),
        ],
        &[("apps/rt/script.yaml", "", SCRIPT), (RT, "service.yaml", "service.yaml, script.yaml")],
    ),
    case(
        "GW031 clusters/edge/infra/open-patch.yaml:5",
        &[("clusters/edge/infra/open-patch.yaml", "  startingDeadlineSeconds: 32400\n", "")],
        &[],
    ),
    case(
        "GW031 clusters/edge/infra/close-patch.yaml:8",
        &[(
            "clusters/edge/infra/close-patch.yaml",
            "suspend: false\n",
            "suspend: false\n  startingDeadlineSeconds: 60\n",
        )],
        &[],
    ),
    case("GW032 apps/rt/kustomization.yaml:1", &[(RT, "service.yaml", "service.yml")], &[]),
    case(
        "GW032 clusters/edge/apps.yaml:15",
        &[(RT, "resources", "patches: [{ path: settings.yaml, target: 5 }]\nresources")],
        &[("apps/unused/kustomization.yaml", "", "resources: [missing.yaml]\n")],
    ),
    // In its own namespace is no such dependency, and no such source.
    case(
        "GW049 clusters/edge/apps.yaml:26",
        &[(KS, "name: apps-rw, namespace: flux-system", "name: apps-rw, namespace: shop")],
        &[
            (KS, "name: apps-rw, namespace: flux-system", "name: apps-rw, namespace: shop"),
            (KS, "[{ name: apps-rt }]", "[{ name: apps-rt, namespace: flux-system }]"),
        ],
    ),
    case(
        "GW070 clusters/edge/apps.yaml:27",
        &[(KS, "name: apps-rw, namespace: flux-system", "name: apps-rw, namespace: shop")],
        &[
            (KS, "name: apps-rw, namespace: flux-system", "name: apps-rw, namespace: shop"),
            (
                KS,
                "[{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system }",
                "[{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system, namespace: flux-system }",
            ),
        ],
    ),
    case(
        "GW070 clusters/edge/apps.yaml:27",
        &[(
            KS,
            "[{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system }",
            "[{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-sytem }",
        )],
        &[(
            KS,
            "[{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system }",
            "[{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: fleet }",
        )],
    ),
    // What does not build hides none where its files say so.
    case(
        "GW070 clusters/edge/apps.yaml:27",
        &[
            (RT, "service.yaml", "missing.yaml"),
            (KS, "name: apps-rw, namespace: flux-system", "name: apps-rw, namespace: shop"),
        ],
        &[
            (RT, "service.yaml", "missing.yaml"),
            (RT, "settings.yaml", "settings.yaml, source.yaml"),
            (RT, "resources:", "namespace: shop\nresources:"),
            (
                "apps/rt/source.yaml",
                "",
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system }\n",
            ),
            (KS, "name: apps-rw, namespace: flux-system", "name: apps-rw, namespace: shop"),
        ],
    ),
    // Two names that kustomize tells apart and the values of variables do not.
    case(
        "GW032 apps/rt/settings.yaml:8",
        &[
            (KS, "5m # apps-rt", "5m\n  postBuild: { substitute: { APP: settings } }"),
            ("apps/rt/settings.yaml", "data: { a: '1' }\n", NAMED),
        ],
        &[
            (KS, "5m # apps-rt", "5m\n  postBuild: { substitute: { APP: other } }"),
            ("apps/rt/settings.yaml", "data: { a: '1' }\n", NAMED),
        ],
    ),
    case(
        "GW033 apps/rt/service.yaml:1",
        &[("apps/rt/service.yaml", "", "kind: Service\n\tmetadata: {}\n")],
        &[("charts/templates/service.yaml", "", "{{ if }}\n")],
    ),
    case(
        "GW033 apps/rt/service.yaml:4",
        &[("apps/rt/service.yaml", "spec:\n", "<<<<<<< HEAD\nspec:\n=======\nother:\n>>>>>>> theirs\n")],
        // In a text it is one.
        &[(
            "apps/rt/settings.yaml",
            "data: { a: '1' }",
            "data:\n  a: |\n    <<<<<<< HEAD\n    x\n    >>>>>>> theirs",
        )],
    ),
    case(
        "GW033 apps/rt/kustomization.yaml:1",
        &[(RT, "resources", "<<<<<<< HEAD\n=======\nnamePrefix: x\n>>>>>>> theirs\nresources")],
        &[("apps/unused/kustomization.yaml", "", "<<<<<<< HEAD\nresources: []\n>>>>>>> theirs\n")],
    ),
    case(
        "GW033 apps/rt/service.yaml:0",
        &[("apps/rt/service.yaml", "", "<binary>")],
        &[("logo.yaml", "", "<binary>")],
    ),
    case(
        "GW034 clusters/edge/apps.yaml:15",
        &[(KS, "./apps/rt", "./apps/live")],
        &[(KS, "./apps/rt", "./apps/${side}")],
    ),
    case(
        "GW039 clusters/edge/infra/kustomization.yaml:0",
        &[(KS, "path: ./clusters/edge/infra\n", "path: ./infra/other\n"), OTHER, OTHER_POD],
        // Switched off it holds nothing back, wherever it is.
        &[
            (KS, "path: ./clusters/edge/infra\n", "path: ./infra/other\n"),
            OTHER,
            OTHER_POD,
            ("clusters/edge/infra/open-patch.yaml", "suspend: false", "suspend: true"),
            ("clusters/edge/infra/close-patch.yaml", "suspend: false", "suspend: true"),
        ],
    ),
    // What brings the gate never comes.
    case(
        "GW039 clusters/edge/flux-system/gotk-sync.yaml:11",
        &[("clusters/edge/flux-system/gotk-sync.yaml", "10m\n", "10m\n  suspend: true\n")],
        &[("clusters/edge/flux-system/gotk-sync.yaml", "10m\n", "10m\n  suspend: false\n")],
    ),
    case(
        "GW036 clusters/edge/apps.yaml:17",
        &[(
            KS,
            "path: ./apps/rt\n  prune: true\n  sourceRef: { kind: GitRepository, name: flux-system }",
            "path: ./apps/rt\n  prune: true\n  sourceRef: { kind: OCIRepository, name: apps }",
        )],
        &[],
    ),
    case(
        "GW037 apps/rt/settings.yaml:4",
        &[(
            "apps/rt/settings.yaml",
            "data: { a: '1' }",
            "data: { a: '1' } # gitops-windows: ignore[GW009] two owners on purpose",
        )],
        &[("apps/rt/settings.yaml", "data: { a: '1' }", "data: { a: '1' } # gitops-windows ignores nothing")],
    ),
    case(
        "GW038 clusters/edge/apps.yaml:15",
        &[(KS, "5m # apps-rt", "5m\n  suspend: false # gitops-windows: ignore[GW002]")],
        &[(
            KS,
            "5m # apps-rt",
            "5m\n  suspend: false # gitops-windows: ignore[GW002] the site is being moved",
        )],
    ),
    case(
        "GW033 apps/rt/settings.yaml:5",
        &[("apps/rt/settings.yaml", "data: { a: '1' }", "data: { a: '1' }\ndata: { a: '2' }")],
        &[("apps/rt/settings.yaml", "data: { a: '1' }", "data: { a: '1', b: '1' }")],
    ),
    case(
        "GW034 clusters/edge/apps.yaml:15",
        &[(KS, "./apps/rt", "../../apps/rt")],
        &[(KS, "./apps/rt", "./apps/rw/../rt")],
    ),
    case(
        "GW044 apps/rt/kustomization.yaml:0",
        &[(RT, "", "kind: Kustomization\nresources:\n# - service.yaml\n")],
        &[("apps/unused/kustomization.yaml", "", "resources: []\n")],
    ),
    case(
        "GW049 clusters/edge/apps.yaml:26",
        &[
            (KS, "name: apps-rt }] # of apps-rw", "name: apps-xx }]"),
            // What makes no Flux Kustomization makes none of that name.
            ("apps/rt/settings.yaml", "data: { a: '1' }\n", SETS),
        ],
        &[(KS, "name: apps-rt }] # of apps-rw", "name: '${FIRST}' }]")],
    ),
    case(
        "GW050 clusters/edge/apps.yaml:15",
        &[("clusters/edge/more.yaml", "", TWICE), LISTS_MORE],
        &[("clusters/edge/more.yaml", "", TWICE)],
    ),
    case(
        "GW053 clusters/edge/apps.yaml:16",
        &[(KS, "./apps/rt\n  prune: true", "./apps/rt\n  prune: yes")],
        &[(KS, "./apps/rt\n  prune: true", "./apps/rt\n  prune: '${PRUNE}'")],
    ),
    case(
        "GW053 clusters/edge/apps.yaml:16",
        &[(KS, "./apps/rt\n", "./apps/rt\n  deletionPolicy: Keep\n")],
        &[(KS, "./apps/rt\n", "./apps/rt\n  deletionPolicy: Orphan\n")],
    ),
    case(
        "GW071 clusters/edge/apps.yaml:16",
        &[CRD, LISTS_CRD, (KS, "./apps/rt\n", "./apps/rt\n  deletionPolicy: Orphan\n")],
        &[CRD, (KS, "./apps/rt\n", "./apps/rt\n  deletionPolicy: Orphan\n")],
    ),
    case(
        "GW071 clusters/edge/apps.yaml:17",
        &[
            CRD,
            LISTS_CRD,
            (
                KS,
                "name: flux-system }\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps-rw",
                "name: flux-system, branch: a }\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps-rw",
            ),
        ],
        &[CRD, LISTS_CRD],
    ),
    case(
        "GW073 clusters/edge/apps.yaml:6",
        &[LOCKED, LISTS_CRD],
        &[LOCKED, LISTS_CRD, (KS, "5m # infra", "5m\n  serviceAccountName: kustomize-controller")],
    ),
    case(
        "GW073 clusters/edge/apps.yaml:6",
        &[LOCKED, LISTS_CRD],
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "name: gate, namespace: jobs }]",
                "name: tenant, namespace: flux-system }]",
            ),
        ],
    ),
    case(
        "GW073 clusters/edge/apps.yaml:6",
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }]",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }, { kind: Group, name: 'system:serviceaccounts:jobs' }]",
            ),
        ],
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }]",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }, { kind: Group, name: 'system:serviceaccounts:flux-system' }]",
            ),
        ],
    ),
    case(
        "GW073 clusters/edge/apps.yaml:6",
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }]",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }, { kind: Group, name: 'system:masters' }]",
            ),
        ],
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }]",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }, { kind: Group, name: 'system:authenticated' }]",
            ),
        ],
    ),
    case(
        "GW073 clusters/edge/apps.yaml:6",
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }]",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }, { kind: User, name: 'system:serviceaccount:jobs:tenant' }]",
            ),
        ],
        &[
            LOCKED,
            LISTS_CRD,
            (
                "infra/gate/account.yaml",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }]",
                "[{ kind: ServiceAccount, name: gate, namespace: jobs }, { kind: User, name: 'system:serviceaccount:flux-system:tenant' }]",
            ),
        ],
    ),
    case(
        "GW074 clusters/edge/apps.yaml:1",
        &[CRD, LISTS_CRD, (KS, "kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2")],
        &[CRD, (KS, "kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2")],
    ),
    case("GW076 clusters/edge/apps.yaml:14", &[(KS, "  interval: 5m # apps-rt\n", "")], &[]),
    case(
        "GW030 apps/rt/script.yaml:4",
        &[
            ("apps/rt/script.yaml", "", SCRIPT),
            (RT, "service.yaml", "service.yaml, script.yaml"),
            ("infra/site.yaml", "", GIVES),
            (INFRA, "resources:\n", "resources:\n- ../../../infra/site.yaml\n"),
            (KS, "5m # apps-rt", "5m\n  postBuild: { substituteFrom: [{ kind: ConfigMap, name: site }] }"),
        ],
        &[
            ("apps/rt/script.yaml", "", SCRIPT),
            (RT, "service.yaml", "service.yaml, script.yaml"),
            (KS, "5m # apps-rt", "5m\n  postBuild: { substituteFrom: [{ kind: ConfigMap, name: site }] }"),
        ],
    ),
    case(
        "GW058 clusters/edge/apps.yaml:27",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, READS],
        &[
            ("clusters/edge/more.yaml", "", HELD),
            LISTS_MORE,
            (KS, "5m # apps-rw", "5m\n  postBuild: { substituteFrom: [{ kind: ConfigMap, name: site }] }"),
        ],
    ),
    case(
        "GW058 clusters/edge/apps.yaml:24",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, DECRYPTS],
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, DECRYPTS],
    ),
    case(
        "GW058 clusters/edge/apps.yaml:24",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, TO_CLUSTER],
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, TO_CLUSTER],
    ),
    case(
        "GW059 clusters/edge/apps.yaml:25",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, (KS, "  deletionPolicy: Orphan\n", "")],
        &[
            ("clusters/edge/more.yaml", "", HELD),
            LISTS_MORE,
            FOLLOWS,
            (KS, "./apps/rw\n  prune: true\n  deletionPolicy: Orphan", "./apps/rw\n  prune: false"),
        ],
    ),
    case(
        "GW060 clusters/edge/flux-system/gotk-sync.yaml:11",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, MOVES, TICKS, WAITS],
        &[
            ("clusters/edge/more.yaml", "", HELD),
            LISTS_MORE,
            FOLLOWS,
            MOVES,
            TICKS,
            WAITS,
            ("clusters/edge/flux-system/gotk-sync.yaml", "timeout: 2m", "timeout: 6m"),
        ],
    ),
    case(
        "GW075 clusters/edge/apps.yaml:24",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, MOVES, SETTLES, TICKS, ROLLS_OUT],
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, MOVES, TICKS, ROLLS_OUT],
    ),
    case(
        "GW075 clusters/edge/apps.yaml:24",
        &[("clusters/edge/more.yaml", "", HELD), LISTS_MORE, FOLLOWS, MOVES, SETTLES, TICKS, ROLLS_OUT],
        &[
            ("clusters/edge/more.yaml", "", HELD),
            LISTS_MORE,
            FOLLOWS,
            MOVES,
            SETTLES,
            TICKS,
            ROLLS_OUT,
            (KS, "timeout: 10m", "timeout: 3m"),
        ],
    ),
    case(
        "GW066 .sourceignore:2",
        &[(".sourceignore", "", "# no patches\nreplicas.yaml\n")],
        &[(".sourceignore", "", "replicas.yaml\n!/apps/rw/replicas.yaml\n")],
    ),
    case(
        "GW066 clusters/edge/flux-system/gotk-sync.yaml:4",
        &[(SYNC, "https://example.org/fleet }", "https://example.org/fleet, ignore: 'release.yaml' }")],
        &[(SYNC, "https://example.org/fleet }", "https://example.org/fleet, ignore: 'other.yaml' }")],
    ),
    case(
        "GW066 apps/.sourceignore:1",
        &[("apps/.sourceignore", "", "rw/kustomization.yaml\n")],
        &[("infra/.sourceignore", "", "rw/kustomization.yaml\n")],
    ),
    case(
        "GW068 clusters/edge/apps.yaml:15",
        &[(KS, "5m # apps-rt", "5m\n  dependsOn: [{ name: apps-rw }]")],
        &[(KS, "5m # apps-rt", "5m\n  dependsOn: [{ name: apps-rw, readyExpr: 'true' }]")],
    ),
    case(
        "GW069 apps/rt/kustomization.yaml:1",
        &[(RT, "resources:", "patch: []\nresources:")],
        &[(RT, "resources:", "x-patch: []\nPatches: []\nresources:")],
    ),
];

/// What is gated reads a held source.
pub const FOLLOWS: Edit = (
    KS,
    "./apps/rw\n  prune: true\n  dependsOn: [{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system }\n",
    "./apps/rw\n  prune: true\n  deletionPolicy: Orphan\n  sourceRef: { kind: GitRepository, name: held }\n",
);
const DECRYPTS: Edit =
    (KS, "5m # apps-rw", "5m\n  decryption: { provider: sops, secretRef: { name: keys } }");
const TO_CLUSTER: Edit = (KS, "5m # apps-rw", "5m\n  kubeConfig: { secretRef: { name: keys } }");
const WAITS: Edit =
    ("clusters/edge/flux-system/gotk-sync.yaml", "10m\n", "10m\n  wait: true\n  timeout: 2m\n");
const TICKS: Edit = ("clusters/edge/infra/close-patch.yaml", "0 17 * * MON", "'*/5 * * * *'");
/// A CronJob that moves the held source, in place of the one that closes.
const MOVES: Edit = (
    "infra/gate/close.yaml",
    "",
    "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: close, namespace: jobs }\nspec:\n  schedule: 0 0 1 1 *\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          containers:\n          - name: gate\n            env: [{ name: NAMESPACE, value: flux-system }, { name: LIVE, value: flux-system }, { name: HELD, value: held }, { name: GATED, value: flux-system apps-rw }]\n            args: [open-times, 1 2, 3000000000 3000000000]\n",
);

/// It lets nothing in five minutes before an end.
const SETTLES: Edit =
    ("infra/gate/close.yaml", "[open-times, 1 2", "[open-times, '# settle 300 seconds', 1 2");
const ROLLS_OUT: Edit = (KS, "5m # apps-rw", "5m\n  wait: true\n  timeout: 10m");
/// A held source, a ConfigMap with variables, and a Secret with keys.
pub const HELD: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: held, namespace: flux-system }\nspec: { interval: 24h, url: https://example.org/fleet, ref: { branch: main, tag: held..until-the-first-tick } }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: site, namespace: flux-system }\n---\napiVersion: v1\nkind: Secret\nmetadata: { name: keys, namespace: flux-system }\n";
const READS: Edit = (
    KS,
    "  dependsOn: [{ name: apps-rt }] # of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system }\n",
    "  deletionPolicy: Orphan\n  postBuild: { substituteFrom: [{ kind: ConfigMap, name: site }] }\n  sourceRef: { kind: GitRepository, name: held }\n",
);
pub const LISTS_MORE: Edit =
    ("clusters/edge/kustomization.yaml", "- apps.yaml\n", "- apps.yaml\n- more.yaml\n");

const MARKED_CONTAINERS: &str =
    "containers:\n      - name: shop\n        image: nginx # {\"$imagepolicy\": \"flux-system:shop\"}";
