//! For each code about a change set a change that shows it, and a state from which it is safe.

use super::cases::{FOLLOWS, HELD, LISTS_MORE};
use super::repository::Edit;

/// One code.
pub struct Change {
    /// The code, with the file and line at which it is told.
    pub told: &'static str,
    /// How the older revision differs from the repository.
    pub before: &'static [Edit],
    /// What the change set does to it.
    pub shows: &'static [Edit],
    /// Another older revision, from which the same change set is no such finding.
    pub safe: &'static [Edit],
}

const KS: &str = "clusters/edge/apps.yaml";
const SYNC: &str = "clusters/edge/flux-system/gotk-sync.yaml";
const RT: &str = "apps/rt/kustomization.yaml";
const RW: &str = "apps/rw/kustomization.yaml";
const POD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: early, namespace: shop }\nspec: { template: { spec: { containers: [{ name: a, image: a }], volumes: [{ name: v, configMap: { name: late } }] } } }\n";
const LATE: Edit =
    ("apps/rw/late.yaml", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: late, namespace: shop }\n");
const LISTS_LATE: Edit = (RW, "", "resources: [deployment.yaml, release.yaml, late.yaml]\n");
const EARLY: Edit = ("apps/rt/early.yaml", "", POD);
const LISTS_EARLY: Edit = (RT, "service.yaml", "service.yaml, early.yaml");
const DROPS_SETTINGS: Edit = (RT, "settings.yaml, ", "");
const KEEPS_SETTINGS: Edit = (
    "apps/rt/settings.yaml",
    "namespace: shop }",
    "namespace: shop, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled } }",
);
const KEEPS_ALL: Edit = (KS, "path: ./apps/rt\n  prune: true", "path: ./apps/rt\n  prune: false");
// Pods that have the new label already.
const OTHER: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: other, namespace: shop }\nspec: { template: { metadata: { labels: { app: v2 } }, spec: { containers: [{ name: a, image: a }] } } }\n";
const NAMED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: '${APP}', namespace: shop }\n";
const OTHER_LISTED: &str = "resources: [deployment.yaml, release.yaml, other.yaml]\n";

const READS_LATE: Edit =
    (KS, "5m # apps-rt", "5m # apps-rt\n  postBuild: { substituteFrom: [{ kind: ConfigMap, name: late }] }");
const LATE_VARIABLES: Edit = (
    "apps/rw/late.yaml",
    "",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: late, namespace: flux-system }\ndata: { OLD: a }\n",
);
const KEYED: &str = "configMap: { name: late, items: [{ key: new, path: new }] }";
const BINDING: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: { name: r, namespace: shop }\nroleRef: { kind: Role, name: late }\n";
const LISTS_CUSTOM: Edit = (RT, "service.yaml", "service.yaml, custom.yaml");
const LATE_ROLE: Edit = (
    "apps/rw/late.yaml",
    "",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: late, namespace: shop }\n",
);
const LATE_KIND: Edit = (
    "apps/rw/late.yaml",
    "",
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: ws.x.io }\nspec: { group: x.io, names: { kind: W }, versions: [{ name: v1 }] }\n",
);
const CUSTOM_MADE: Edit =
    ("apps/rt/custom.yaml", "", "apiVersion: x.io/v1\nkind: W\nmetadata: { name: w, namespace: shop }\n");

pub const CHANGES: [Change; 21] = [
    Change {
        told: "GW057 apps/rw/late.yaml:0",
        before: &[],
        shows: &[LATE],
        // It may be switched off on purpose.
        safe: &[LATE],
    },
    Change {
        told: "GW012 clusters/edge/apps.yaml:24",
        before: &[],
        shows: &[(KS, "name: apps-rw, namespace", "name: apps-gated, namespace")],
        safe: &[(
            KS,
            "5m # apps-rw\n  path: ./apps/rw\n  prune: true",
            "5m\n  path: ./apps/rw\n  prune: false",
        )],
    },
    Change {
        told: "GW013 apps/rt/settings.yaml:3",
        before: &[],
        shows: &[DROPS_SETTINGS, (RW, "release.yaml", "release.yaml, ../rt/settings.yaml")],
        safe: &[KEEPS_SETTINGS],
    },
    Change {
        told: "GW017 apps/rt/early.yaml:4",
        before: &[],
        shows: &[EARLY, LISTS_EARLY, LISTS_LATE, LATE],
        safe: &[LISTS_LATE, LATE],
    },
    Change {
        told: "GW017 apps/rt/service.yaml:5",
        before: &[],
        shows: &[
            ("apps/rt/service.yaml", "app: shop", "app: v2"),
            ("apps/rw/deployment.yaml", "labels: { app: shop", "labels: { app: v2, a: b"),
        ],
        safe: &[("apps/rw/other.yaml", "", OTHER), (RW, "", OTHER_LISTED)],
    },
    Change {
        told: "GW017 apps/rt/early.yaml:4",
        before: &[EARLY, LISTS_EARLY, LISTS_LATE, LATE],
        shows: &[
            ("apps/rt/early.yaml", "configMap: { name: late }", KEYED),
            ("apps/rw/late.yaml", "namespace: shop }\n", "namespace: shop }\ndata: { new: a }\n"),
        ],
        safe: &[
            EARLY,
            LISTS_EARLY,
            LISTS_LATE,
            LATE,
            ("apps/rw/late.yaml", "namespace: shop }\n", "namespace: shop }\nbinaryData: { new: '' }\n"),
        ],
    },
    Change {
        told: "GW017 apps/rt/binding.yaml:4",
        before: &[],
        shows: &[
            ("apps/rt/binding.yaml", "", BINDING),
            (RT, "service.yaml", "service.yaml, binding.yaml"),
            LISTS_LATE,
            LATE_ROLE,
        ],
        safe: &[LISTS_LATE, LATE_ROLE],
    },
    Change {
        told: "GW017 apps/rt/custom.yaml:1",
        before: &[CUSTOM_MADE, LISTS_CUSTOM, LISTS_LATE, LATE_KIND],
        shows: &[
            ("apps/rt/custom.yaml", "x.io/v1", "x.io/v2"),
            ("apps/rw/late.yaml", "[{ name: v1 }", "[{ name: v1 }, { name: v2 }"),
        ],
        safe: &[
            CUSTOM_MADE,
            LISTS_CUSTOM,
            LISTS_LATE,
            LATE_KIND,
            ("apps/rw/late.yaml", "name: v1 }]", "name: v1 }, { name: v2, served: true }]"),
        ],
    },
    Change {
        told: "GW017 clusters/edge/apps.yaml:15",
        before: &[READS_LATE, LISTS_LATE, LATE_VARIABLES],
        shows: &[("apps/rt/settings.yaml", "'1'", "'${NEW}'"), ("apps/rw/late.yaml", "OLD: a", "NEW: a")],
        safe: &[READS_LATE, LISTS_LATE, LATE_VARIABLES, ("apps/rw/late.yaml", "OLD: a", "NEW: a, OLD: a")],
    },
    Change {
        told: "GW018 apps/rw/deployment.yaml:11",
        before: &[(
            "apps/rw/deployment.yaml",
            "{ name: settings }",
            "{ name: settings, items: [{ key: a, path: a }] }",
        )],
        shows: &[("apps/rt/settings.yaml", "data: { a:", "data: { b:")],
        safe: &[],
    },
    Change {
        told: "GW018 apps/rw/deployment.yaml:11",
        before: &[],
        shows: &[DROPS_SETTINGS],
        safe: &[KEEPS_ALL],
    },
    // Two have one name until `postBuild` completes it.
    Change {
        told: "GW018 apps/rw/deployment.yaml:11",
        before: &[
            (KS, "5m # apps-rt", "5m # apps-rt\n  postBuild: { substitute: { APP: a } }"),
            (RT, "service.yaml", "service.yaml, own.yaml"),
            ("apps/rt/own.yaml", "", NAMED),
            (KS, "5m # apps-rw", "5m\n  postBuild: { substitute: { APP: shop } }"),
            ("apps/rw/deployment.yaml", "name: shop, namespace", "name: '${APP}', namespace"),
            (RW, "", "resources: [deployment.yaml, release.yaml]\n"),
        ],
        shows: &[DROPS_SETTINGS],
        safe: &[KEEPS_ALL],
    },
    Change {
        told: "GW035 clusters/edge/apps.yaml:16",
        before: &[KEEPS_ALL],
        shows: &[DROPS_SETTINGS],
        safe: &[],
    },
    Change {
        told: "GW048 clusters/edge/apps.yaml:16",
        before: &[],
        shows: &[(
            KS,
            "kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps-rt,",
            "v1\nkind: ConfigMap\nmetadata: { name: apps-rt,",
        )],
        safe: &[KEEPS_ALL],
    },
    Change {
        told: "GW054 clusters/edge/apps.yaml:16",
        before: &[],
        shows: &[DROPS_SETTINGS],
        safe: &[KEEPS_SETTINGS],
    },
    Change {
        told: "GW055 clusters/edge/flux-system/gotk-sync.yaml:11",
        before: &[],
        shows: &[(SYNC, "path: ./clusters/edge\n", "path: ./clusters/edge/infra\n")],
        safe: &[(SYNC, "prune: true", "prune: false")],
    },
    Change {
        told: "GW061 clusters/edge/apps.yaml:24",
        before: &[MORE, LISTS_MORE, FOLLOWS],
        shows: &[(KS, "path: ./apps/rw", "path: ./apps/new"), ("apps/new/kustomization.yaml", "", NEW_LIST)],
        safe: &[MORE, LISTS_MORE, FOLLOWS, ("apps/new/kustomization.yaml", "", NEW_LIST)],
    },
    Change {
        told: "GW062 clusters/edge/apps.yaml:27",
        before: &[MORE, LISTS_MORE],
        shows: &[MORE, FOLLOWS],
        safe: &[LISTS_MORE, ("clusters/edge/more.yaml", "", SITE)],
    },
    Change {
        told: "GW063 clusters/edge/apps.yaml:27",
        before: &[MORE, LISTS_MORE, FOLLOWS],
        shows: &[(KS, "name: held }", "name: flux-system }")],
        safe: &[
            MORE,
            LISTS_MORE,
            FOLLOWS,
            ("clusters/edge/more.yaml", ", tag: held..until-the-first-tick", ""),
        ],
    },
    Change {
        told: "GW070 clusters/edge/apps.yaml:27",
        before: &[(SYNC, "---\n", MIRROR), READS_MIRROR],
        shows: &[(SYNC, MIRROR, "---\n")],
        safe: &[(SYNC, "---\n", MIRROR)],
    },
    Change {
        told: "GW064 apps/rw/deployment.yaml:3",
        before: &[MORE, LISTS_MORE, FOLLOWS],
        shows: &[
            (RW, "deployment.yaml, ", ""),
            (RW, "patches:\n- target: { kind: Deployment, name: shop }\n  path: replicas.yaml\n", ""),
            (RT, "service.yaml", "service.yaml, ../rw/deployment.yaml"),
        ],
        safe: &[MORE, LISTS_MORE],
    },
];

const MIRROR: &str = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: mirror, namespace: flux-system }\nspec: { interval: 1m, url: https://example.org/fleet }\n---\n";
const READS_MIRROR: Edit = (
    KS,
    "# of apps-rw\n  sourceRef: { kind: GitRepository, name: flux-system }",
    "# of apps-rw\n  sourceRef: { kind: GitRepository, name: mirror }",
);
const MORE: Edit = ("clusters/edge/more.yaml", "", HELD);
const SITE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: site, namespace: flux-system }\n";
const NEW_LIST: &str = "resources: [../rw/deployment.yaml, ../rw/release.yaml]\n";
