//! What `flux bootstrap` writes, where a repository is read before that.

use std::collections::BTreeSet;

use crate::path::RepoPath;
use crate::render::of_here;
use crate::repo::{File, Graph, Kustomization, Reference, Snapshot, built};

/// Flux's controllers: the name, and the port of each Service with the name.
const CONTROLLERS: [(&str, &[(&str, &str)]); 7] = [
    ("source-controller", &[("source-controller", "http")]),
    ("kustomize-controller", &[]),
    ("helm-controller", &[]),
    ("notification-controller", &[("notification-controller", "http"), ("webhook-receiver", "http-webhook")]),
    ("image-reflector-controller", &[]),
    ("image-automation-controller", &[]),
    ("source-watcher", &[("source-watcher", "http")]),
];

/// The flags of each but the first, which only notification-controller lacks (Flux, `manifests/bases`).
const FLAGS: [&str; 4] =
    ["--watch-all-namespaces=true", "--log-level=info", "--log-encoding=json", "--enable-leader-election"];

/// The first flag.
const EVENTS: &str = "--events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc.cluster.local./";

/// The further flags of what stores artifacts.
const STORAGE: [&str; 2] =
    ["--storage-path=/data", "--storage-adv-addr=CONTROLLER.$(RUNTIME_NAMESPACE).svc.cluster.local."];

/// What stores artifacts.
const STORING: [&str; 2] = ["source-controller", "source-watcher"];

/// Of each controller what people patch (Flux, Configuration).
const CONTROLLER: &str = "\
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: CONTROLLER, namespace: PLACE, labels: { app.kubernetes.io/component: CONTROLLER } }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: CONTROLLER
  namespace: PLACE
  labels: { app.kubernetes.io/component: CONTROLLER, app.kubernetes.io/part-of: flux, control-plane: controller }
spec:
  replicas: 1
  selector: { matchLabels: { app: CONTROLLER } }
  strategy: { type: Recreate }
  template:
    metadata:
      annotations: { prometheus.io/port: '8080', prometheus.io/scrape: 'true' }
      labels: { app: CONTROLLER, app.kubernetes.io/component: CONTROLLER, app.kubernetes.io/part-of: flux }
    spec:
      containers:
        - name: manager
          image: ghcr.io/fluxcd/CONTROLLER
          imagePullPolicy: IfNotPresent
          args: [ARGS]
          env: [{ name: RUNTIME_NAMESPACE, valueFrom: { fieldRef: { fieldPath: metadata.namespace } } }]
          livenessProbe: { httpGet: { path: /healthz, port: healthz } }
          readinessProbe: { httpGet: { path: /readyz, port: healthz } }
          ports: [{ containerPort: 8080, name: http-prom, protocol: TCP }, { containerPort: 9440, name: healthz, protocol: TCP }]
          resources: { limits: { cpu: 1000m, memory: 1Gi }, requests: { cpu: 100m, memory: 64Mi } }
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: { drop: [ALL] }
            readOnlyRootFilesystem: true
            runAsNonRoot: true
            seccompProfile: { type: RuntimeDefault }
          volumeMounts: [{ name: temp, mountPath: /tmp }]
      nodeSelector: { kubernetes.io/os: linux }
      priorityClassName: system-cluster-critical
      securityContext: { fsGroup: 1337 }
      serviceAccountName: CONTROLLER
      terminationGracePeriodSeconds: 60
      volumes: [{ name: temp, emptyDir: {} }]
";

/// A Service of one.
const SERVICE: &str = "\
---
apiVersion: v1
kind: Service
metadata: { name: SERVICE, namespace: PLACE, labels: { app.kubernetes.io/component: CONTROLLER, control-plane: controller } }
spec:
  type: ClusterIP
  selector: { app: CONTROLLER }
  ports: [{ name: http, port: 80, protocol: TCP, targetPort: PORT }]
";

/// Beside the controllers what people patch or delete.
const BESIDE: &str = "\
apiVersion: v1
kind: Namespace
metadata: { name: PLACE, labels: {} }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: critical-pods-PLACE, namespace: PLACE }
spec: { hard: { pods: '1000' } }
";

/// The NetworkPolicies.
const POLICIES: [&str; 3] = ["allow-egress", "allow-scraping", "allow-webhooks"];

const POLICY: &str = "\
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: NAME, namespace: PLACE }
spec: { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }], policyTypes: [Ingress] }
";

/// What the controllers may do, each with its kind.
const ROLES: [(&str, &str); 5] = [
    ("ClusterRole", "crd-controller"),
    ("ClusterRole", "flux-edit"),
    ("ClusterRole", "flux-view"),
    ("ClusterRoleBinding", "cluster-reconciler"),
    ("ClusterRoleBinding", "crd-controller"),
];

const ROLE: &str = "\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: KIND
metadata: { name: NAME-PLACE, labels: {} }
";

/// The plurals of Flux's types, by their group.
const TYPES: [(&str, &[&str]); 6] = [
    (
        "source.toolkit",
        &[
            "buckets",
            "externalartifacts",
            "gitrepositories",
            "helmcharts",
            "helmrepositories",
            "ocirepositories",
        ],
    ),
    ("kustomize.toolkit", &["kustomizations"]),
    ("helm.toolkit", &["helmreleases"]),
    ("notification.toolkit", &["alerts", "providers", "receivers"]),
    ("image.toolkit", &["imagepolicies", "imagerepositories", "imageupdateautomations"]),
    ("source.extensions", &["artifactgenerators"]),
];

const TYPE: &str = "\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: NAME.GROUP.fluxcd.io, labels: {} }
spec: { group: GROUP.fluxcd.io, scope: Namespaced }
";

/// What kustomize says where something, as a patch, does not fit what is there (`PatchTransformer.go`,
/// `reswrangler.go`, `replacement.go`; evanphx/json-patch, `patch.go`).
const UNFIT: [&str; 7] = [
    "already registered id",
    "no matches for ",
    " operation does not apply",
    " for path: '",
    "testing value ",
    "nothing selected by ",
    "unable to find field ",
];

/// Returns the files of a repository, or of a source of it, with the controllers that lists name and that `flux bootstrap` is
/// yet to write: the cluster will have them, and whatever else fails in such a build fails for Flux. What is among `written` was
/// there before, and has been taken away.
pub(super) fn bootstrapped(
    files: &Snapshot,
    graph: &Graph,
    repository: &Snapshot,
    written: &BTreeSet<RepoPath>,
) -> Snapshot {
    let mut found = files.clone();
    let named = graph.iter().flat_map(components);
    // What only a source leaves out is written, and lacks.
    for path in named.filter(|path| repository.entry(path).is_none() && !written.contains(*path)) {
        // The folder is named by the namespace (flux2, `pkg/manifestgen/install`).
        let above = path.parent();
        let namespace = above.as_ref().and_then(RepoPath::name).unwrap_or("flux-system");
        found.insert(path.clone(), File::new(controllers(namespace).into_bytes()));
    }
    found
}

/// Returns why the build of a folder fails. Where a patch does not fit and something stands for the controllers, the real ones
/// may have what it is for; `is_new` tells of which files that is so.
pub(super) fn unjudged(
    graph: &Graph,
    folder: &RepoPath,
    is_new: impl Fn(&RepoPath) -> bool,
    message: String,
) -> String {
    if !UNFIT.iter().any(|words| message.contains(words)) {
        return message;
    }
    let lists = built(graph, folder);
    let mut named = lists.iter().filter_map(|list| graph.get(list)).flat_map(components);
    match named.find(|path| is_new(path)) {
        Some(path) => of_here(&format!("{path}, which `flux bootstrap` is yet to write: {message}")),
        None => message,
    }
}

/// Returns the files with the controllers that a list names.
fn components(list: &Kustomization) -> impl Iterator<Item = &RepoPath> {
    list.resources().iter().filter(|one| one.is_components()).filter_map(Reference::path)
}

/// Returns what stands for the controllers of a namespace.
pub(super) fn controllers(namespace: &str) -> String {
    let mut text = BESIDE.to_owned();
    text.extend(POLICIES.map(|name| POLICY.replace("NAME,", &format!("{name},"))));
    text.extend(ROLES.map(|(kind, name)| ROLE.replace("KIND", kind).replace("NAME-", &format!("{name}-"))));
    for (group, names) in TYPES {
        text.extend(
            names.iter().map(|name| TYPE.replace("NAME.", &format!("{name}.")).replace("GROUP", group)),
        );
    }
    for (name, services) in CONTROLLERS {
        let sends = Some(EVENTS).filter(|_| name != "notification-controller");
        let stores: &[&str] = if STORING.contains(&name) { &STORAGE } else { &[] };
        let flags: Vec<&str> = sends.iter().chain(&FLAGS).chain(stores).copied().collect();
        let mut own = CONTROLLER.replace("ARGS", &flags.join(", "));
        let service = |(name, port): &(&str, &str)| SERVICE.replace("SERVICE", name).replace("PORT", port);
        own.extend(services.iter().map(service));
        text.push_str(&own.replace("CONTROLLER", name));
    }
    text.replace("PLACE", namespace)
}
