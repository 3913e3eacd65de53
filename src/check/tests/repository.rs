//! A small repository in which nothing is wrong, and edits of it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::check::{Subject, audit, history, ignore, sort};
use crate::delivery::{Known, Model, World};
use crate::diagnostic::{Diagnostic, distinct, line_column};
use crate::path::RepoPath;
use crate::render::Lent;
use crate::repo::{Entry, File, Snapshot};

/// A file, the text to replace in it, and what comes in its place; an empty text stands for the whole file.
pub type Edit = (&'static str, &'static str, &'static str);

const FILES: [(&str, &str); 19] = [
    ("clusters/edge/flux-system/gotk-sync.yaml", "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: flux-system, namespace: flux-system }
spec: { interval: 1m, url: https://example.org/fleet }
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: flux-system, namespace: flux-system }
spec:
  interval: 10m
  path: ./clusters/edge
  prune: true
  sourceRef: { kind: GitRepository, name: flux-system }
"),
    ("clusters/edge/kustomization.yaml", "resources:\n- flux-system/gotk-sync.yaml\n- apps.yaml\n"),
    ("clusters/edge/apps.yaml", "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: infra, namespace: flux-system }
spec:
  interval: 5m # infra
  path: ./clusters/edge/infra
  prune: true
  sourceRef: { kind: GitRepository, name: flux-system }
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: apps-rt, namespace: flux-system }
spec:
  interval: 5m # apps-rt
  path: ./apps/rt
  prune: true
  sourceRef: { kind: GitRepository, name: flux-system }
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: apps-rw, namespace: flux-system }
spec:
  interval: 5m # apps-rw
  path: ./apps/rw
  prune: true
  dependsOn: [{ name: apps-rt }] # of apps-rw
  sourceRef: { kind: GitRepository, name: flux-system }
"),
    ("clusters/edge/infra/kustomization.yaml", "resources:\n- ../../../infra/gate\npatches:\n- path: open-patch.yaml\n- path: close-patch.yaml\n"),
    ("clusters/edge/infra/open-patch.yaml", "\
apiVersion: batch/v1
kind: CronJob
metadata: { name: open, namespace: jobs }
spec:
  schedule: 0 8 * * MON
  timeZone: Europe/Berlin
  suspend: false
  startingDeadlineSeconds: 32400
"),
    ("clusters/edge/infra/close-patch.yaml", "\
apiVersion: batch/v1
kind: CronJob
metadata: { name: close, namespace: jobs }
spec:
  schedule: 0 17 * * MON
  timeZone: Europe/Berlin
  suspend: false
"),
    ("infra/gate/kustomization.yaml", "resources: [open.yaml, close.yaml, account.yaml, role.yaml]\n"),
    ("infra/gate/account.yaml", "\
apiVersion: v1
kind: ServiceAccount
metadata: { name: gate, namespace: jobs }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: gate, namespace: flux-system }
subjects: [{ kind: ServiceAccount, name: gate, namespace: jobs }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: gate }
"),
    ("infra/gate/role.yaml", "\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: gate, namespace: flux-system }
rules:
- apiGroups: [kustomize.toolkit.fluxcd.io]
  resources: [kustomizations]
  resourceNames: [apps-rw]
  verbs: [get, patch]
"),
    ("infra/gate/open.yaml", "\
apiVersion: batch/v1
kind: CronJob
metadata: { name: open, namespace: jobs }
spec:
  schedule: 0 0 1 1 *
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          serviceAccountName: gate
          restartPolicy: Never
          containers:
          - name: gate
            image: ghcr.io/fluxcd/flux-cli:v2.9.4
            command: [kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":false}}']
"),
    ("infra/gate/close.yaml", "\
apiVersion: batch/v1
kind: CronJob
metadata: { name: close, namespace: jobs }
spec:
  schedule: 0 0 1 1 *
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          serviceAccountName: gate
          restartPolicy: Never
          containers:
          - name: gate
            image: ghcr.io/fluxcd/flux-cli:v2.9.4
            command: [kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":true}}']
"),
    ("apps/rt/kustomization.yaml", "resources: [namespace.yaml, settings.yaml, service.yaml]\n"),
    ("apps/rt/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n"),
    ("apps/rt/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\ndata: { a: '1' }\n"),
    ("apps/rt/service.yaml", "\
apiVersion: v1
kind: Service
metadata: { name: shop, namespace: shop }
spec:
  selector: { app: shop }
  ports: [{ port: 80 }]
"),
    ("apps/rw/kustomization.yaml", "resources: [deployment.yaml, release.yaml]\npatches:\n- target: { kind: Deployment, name: shop }\n  path: replicas.yaml\n"),
    ("apps/rw/replicas.yaml", "- { op: add, path: /spec/replicas, value: 2 }\n"),
    ("apps/rw/deployment.yaml", "\
apiVersion: apps/v1
kind: Deployment
metadata: { name: shop, namespace: shop }
spec:
  selector: { matchLabels: { app: shop } }
  template:
    metadata: { labels: { app: shop } }
    spec:
      containers: [{ name: shop, image: 'nginx:1.29.0' }]
      volumes:
      - name: settings
        configMap: { name: settings }
"),
    ("apps/rw/release.yaml", "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: { name: cache, namespace: shop }
spec:
  interval: 1h
  chart: { spec: { chart: redis, version: 20.1.3, sourceRef: { kind: HelmRepository, name: charts } } }
"),
];

/// The files of a repository.
pub type Files = BTreeMap<String, String>;

/// Makes the repository with edits; each must find its text.
pub fn edited(edits: &[&[Edit]]) -> Files {
    let mut files: Files =
        FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    for (path, from, to) in edits.iter().copied().flatten() {
        let text = match from.is_empty() {
            true => (*to).to_owned(),
            false => {
                let old = files.get(*path).unwrap_or_else(|| panic!("{path} is not there"));
                assert!(old.contains(from), "{path} does not hold {from:?}");
                old.replacen(from, to, 1)
            }
        };
        files.insert((*path).to_owned(), text);
    }
    files
}

/// Puts repositories side by side into one, each in a folder of its own.
pub fn together(repositories: &[Files]) -> Snapshot {
    let mut entries = BTreeMap::new();
    for (index, files) in repositories.iter().enumerate() {
        for (path, text) in files {
            // A text of this kind stands for bytes that are no text.
            let file = |bytes: Vec<u8>| Entry::File(File::new(bytes));
            let entry = match (text.as_str(), text.strip_prefix("<link>")) {
                ("<binary>", _) => file(vec![0xc3, 0x28, 0, 1]),
                (_, Some(target)) => Entry::Symlink { target: target.to_owned() },
                (text, _) => {
                    file(text.replace("path: ./", &format!("path: ./{}/", folder(index))).into_bytes())
                }
            };
            let path = RepoPath::parse(&format!("{}/{path}", folder(index))).unwrap();
            entries.insert(path, entry);
        }
    }
    Snapshot::new(entries)
}

fn folder(index: usize) -> String {
    format!("p{index:03}")
}

/// Returns code and place of each finding of each repository, and the findings.
///
/// They are looked at as projects of one repository, in one go, so each must also keep to itself.
pub fn findings(repositories: &[Files], base: Option<&[Files]>) -> Vec<(Vec<String>, Vec<Diagnostic>)> {
    let snapshot = together(repositories);
    let renderer = Lent::default();
    let read = |snapshot: &Snapshot, known: Known| Model::read(snapshot, &RepoPath::top(), &known, &renderer);
    let base = base.map(together);
    let old = base.as_ref().map(|base| read(base, Known::default().before(&snapshot)));
    let known = base
        .as_ref()
        .zip(old.as_ref())
        .map(|(base, old)| Known::default().after(World { snapshot: base, model: old }));
    let model = read(&snapshot, known.unwrap_or_default());
    let subject = Subject::new(&snapshot, &model, None, &renderer);
    let now: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
    let mut found = audit(&subject, now);
    if let Some((base, old)) = base.as_ref().zip(old.as_ref()) {
        let told = history(&Subject::new(base, old, None, &renderer), &subject);
        found.extend(distinct(told.into_iter().map(|told| told.finding)));
    }
    let mut found = ignore(found, None, &snapshot, &RepoPath::top());
    sort(&mut found);
    told(found, repositories.len())
}

/// Sorts findings by the repository that they are in, each with its code and place.
pub fn told(found: Vec<Diagnostic>, repositories: usize) -> Vec<(Vec<String>, Vec<Diagnostic>)> {
    let mut told = vec![(Vec::new(), Vec::new()); repositories];
    for finding in found {
        let place = finding.place.clone().unwrap();
        let line = match (&place.text, &place.span) {
            (Some(text), Some(span)) => line_column(text, span.start).0,
            _ => 0,
        };
        let path = place.path.to_string();
        let (first, rest) = path.split_once('/').unwrap();
        let (codes, findings) = &mut told[first[1..].parse::<usize>().unwrap()];
        codes.push(format!("{} {rest}:{line}", finding.code.unwrap()));
        findings.push(finding);
    }
    told
}
