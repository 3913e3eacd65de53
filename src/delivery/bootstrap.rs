//! What `flux bootstrap` writes, where a repository is read before that.

use crate::path::RepoPath;
use crate::repo::{File, Graph, Kustomization, Reference, Snapshot};

/// The Deployments of Flux's controllers.
const CONTROLLERS: [&str; 6] = [
    "helm-controller",
    "image-automation-controller",
    "image-reflector-controller",
    "kustomize-controller",
    "notification-controller",
    "source-controller",
];

/// Of each controller what people patch (Flux, Configuration).
const CONTROLLER: &str = "\
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: CONTROLLER, namespace: NAMESPACE }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: CONTROLLER
  namespace: NAMESPACE
  labels: { app.kubernetes.io/component: CONTROLLER, app.kubernetes.io/part-of: flux, control-plane: controller }
spec:
  replicas: 1
  selector: { matchLabels: { app: CONTROLLER } }
  template:
    metadata: { annotations: {}, labels: { app: CONTROLLER } }
    spec:
      containers:
        - name: manager
          image: ghcr.io/fluxcd/CONTROLLER
          args: [--log-level=info, --log-encoding=json, --enable-leader-election]
          env: [{ name: RUNTIME_NAMESPACE, value: NAMESPACE }]
          resources: { limits: { cpu: 1000m, memory: 1Gi }, requests: { cpu: 100m, memory: 64Mi } }
          securityContext: {}
          volumeMounts: [{ name: temp, mountPath: /tmp }]
      nodeSelector: { kubernetes.io/os: linux }
      priorityClassName: system-cluster-critical
      securityContext: { fsGroup: 1337 }
      serviceAccountName: CONTROLLER
      terminationGracePeriodSeconds: 60
      volumes: [{ name: temp, emptyDir: {} }]
";

/// Beside the controllers what people patch or delete.
const BESIDE: &str = "\
apiVersion: v1
kind: Namespace
metadata: { name: NAMESPACE, labels: {} }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: allow-egress, namespace: NAMESPACE }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: allow-scraping, namespace: NAMESPACE }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: allow-webhooks, namespace: NAMESPACE }
";

/// Returns the files of a repository, or of a source of it, with the controllers that lists name and that `flux bootstrap` is
/// yet to write: the cluster will have them, and whatever else fails in such a build fails for Flux.
pub(super) fn bootstrapped(files: &Snapshot, graph: &Graph, repository: &Snapshot) -> Snapshot {
    let named = graph.iter().flat_map(Kustomization::resources).filter(|one| one.is_components());
    let mut found = files.clone();
    // What only a source leaves out is written, and lacks.
    for path in named.filter_map(Reference::path).filter(|path| repository.entry(path).is_none()) {
        // The folder is named by the namespace (flux2, `pkg/manifestgen/install`).
        let above = path.parent();
        let namespace = above.as_ref().and_then(RepoPath::name).unwrap_or("flux-system");
        found.insert(path.clone(), File::new(controllers(namespace).into_bytes()));
    }
    found
}

/// Returns what stands for the controllers of a namespace.
pub(super) fn controllers(namespace: &str) -> String {
    let mut text = BESIDE.to_owned();
    text.extend(CONTROLLERS.map(|name| CONTROLLER.replace("CONTROLLER", name)));
    text.replace("NAMESPACE", namespace)
}
