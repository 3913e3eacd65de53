//! What is changed in kustomize, to find objects without comparing each with each, changes no result.

use std::fmt::Write as _;

use gitops_windows::render::Request;
use gitops_windows::repo::{File, Snapshot};

use super::dice::Dice;
use super::support::thorough::some;
use super::{agree, names, path, snapshot};

impl Dice {
    fn name(&mut self) -> String {
        format!("app-{}", self.below(40))
    }

    /// An object that mostly refers to others by names that several kinds, folders and namespaces have.
    fn object(&mut self, kind: &str, name: &str) -> String {
        let namespace = match kind {
            "Namespace" | "ClusterRole" | "ClusterRoleBinding" => "",
            _ => self.of(&["", "", ", namespace: default", ", namespace: n1", ", namespace: n2"]),
        };
        let (one, two, three) = (self.name(), self.name(), self.name());
        let role = self.of(&["Role", "ClusterRole"]);
        let subject =
            self.of(&["", ", namespace: n1", ", namespace: n2", ", namespace: default", ", namespace: n9"]);
        let (version, more) = match kind {
            "ConfigMap" => ("v1", "data: { key: value }\n".to_owned()),
            "Secret" => ("v1", "stringData: { key: value }\n".to_owned()),
            "ServiceAccount" => ("v1", format!("imagePullSecrets: [{{ name: {one} }}]\n")),
            "Role" | "ClusterRole" => (
                "rbac.authorization.k8s.io/v1",
                format!(
                    "rules: [{{ apiGroups: [''], resources: [configmaps], resourceNames: [{one}], verbs: [get] }}]\n"
                ),
            ),
            "RoleBinding" | "ClusterRoleBinding" => (
                "rbac.authorization.k8s.io/v1",
                format!(
                    "roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: {role}, name: {one} }}\nsubjects: [{{ kind: ServiceAccount, name: {two}{subject} }}, {{ kind: ServiceAccount, name: {three}, namespace: n1 }}]\n"
                ),
            ),
            "Ingress" => (
                "networking.k8s.io/v1",
                format!(
                    "spec: {{ tls: [{{ secretName: {one} }}], defaultBackend: {{ service: {{ name: {two} }} }} }}\n"
                ),
            ),
            "HorizontalPodAutoscaler" => (
                "autoscaling/v2",
                format!(
                    "spec: {{ scaleTargetRef: {{ apiVersion: apps/v1, kind: Deployment, name: {one} }} }}\n"
                ),
            ),
            "Deployment" => (
                "apps/v1",
                format!(
                    "spec: {{ template: {{ spec: {{ serviceAccountName: {one}, containers: [{{ name: main, image: i, envFrom: [{{ configMapRef: {{ name: {two} }} }}] }}], volumes: [{{ name: v, secret: {{ secretName: {three} }} }}] }} }} }}\n"
                ),
            ),
            _ => ("v1", String::new()),
        };
        format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{ name: {name}{namespace} }}\n{more}")
    }

    /// A folder with so many objects, and folders in it; what it says of them is by chance.
    fn fill(&mut self, tree: &mut Snapshot, at: &str, depth: usize, objects: usize) {
        const KINDS: [&str; 12] = [
            "ConfigMap",
            "Secret",
            "ServiceAccount",
            "Role",
            "ClusterRole",
            "RoleBinding",
            "ClusterRoleBinding",
            "Ingress",
            "HorizontalPodAutoscaler",
            "Deployment",
            "Service",
            "Namespace",
        ];
        let mut text = String::new();
        for (field, choices) in
            [("namePrefix", ["a-", "b-"]), ("nameSuffix", ["-x", "-y"]), ("namespace", ["n1", "n3"])]
        {
            if self.once_in(3) {
                let _ = writeln!(text, "{field}: {}", self.of(&choices));
            }
        }
        if self.once_in(2) {
            let behavior = self.of(&["create", "create", "create", "merge"]);
            let _ = writeln!(
                text,
                "configMapGenerator:\n  - {{ name: made, literals: [a=b] }}\n  - {{ name: {}, behavior: {behavior}, literals: [c=d] }}",
                self.name()
            );
        }
        if self.once_in(3) {
            let kind = self.of(&["ConfigMap", "Deployment", "ServiceAccount"]);
            let change =
                self.of(&["annotations: {config.kubernetes.io/local-config: 'true'}", "labels: {a: b}"]);
            let _ = writeln!(
                text,
                "patches:\n  - target: {{ kind: {kind} }}\n    patch: '{{apiVersion: v1, kind: Any, metadata: {{name: any, {}}}}}'",
                change.replace('\'', "''")
            );
        }
        text.push_str("resources:\n");
        let mut files = [String::new(), String::new()];
        for number in 0..objects {
            let kind = KINDS[self.below(KINDS.len())];
            let name = format!("app-{}", number % 40);
            let object = self.object(kind, &name);
            let _ = write!(files[number % 2], "---\n{object}");
        }
        for (number, content) in files.iter().enumerate().filter(|(_, content)| !content.is_empty()) {
            let _ = writeln!(text, "  - file-{number}.yaml");
            tree.insert(path(&format!("{at}/file-{number}.yaml")), File::new(content.as_bytes()));
        }
        for number in 0..if depth > 0 { 1 + self.below(2) } else { 0 } {
            let _ = writeln!(text, "  - inner-{number}");
            self.fill(tree, &format!("{at}/inner-{number}"), depth - 1, objects / 2);
        }
        tree.insert(path(&format!("{at}/kustomization.yaml")), File::new(text.as_bytes()));
    }
}

/// Such repositories, each folder of which is built by both.
#[test]
fn references_by_chance() {
    let mut built = 0;
    for seed in some(1..60_u64, 3) {
        let mut tree = Snapshot::default();
        let size = if seed % 10 == 0 { 120 } else { 6 };
        Dice(seed * 7919).fill(&mut tree, "top", (seed % 4) as usize, size);
        let folders = super::support::kustomizations(&tree);
        let requests: Vec<Request> = folders.into_iter().map(Request::base).collect();
        built += agree(&tree, &requests).iter().filter(|outcome| outcome.is_ok()).count();
    }
    assert!(built > 20, "{built} of them build");
}

fn config_maps(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = write!(text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: map-{number} }}\n");
        text
    })
}

/// 20,000 objects in one file, 4,000 in as many, and a name twice at the end of them. With the square none of it would
/// be built within the time that a build may take.
#[test]
fn many_objects_take_time_that_grows_with_their_number() {
    let size = |all: usize| some(0..all, 5).count();
    let (most, files) = (size(20_000), size(4_000));
    let many = config_maps(most);
    let twice =
        format!("{}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: map-7 }}\n", config_maps(files));
    let mut list = String::from("namePrefix: x-\nnamespace: web\nresources:\n");
    let mut tree = snapshot(&[
        ("one/kustomization.yaml", "namePrefix: x-\nnamespace: web\nresources: [all.yaml]\n"),
        ("one/all.yaml", &many),
        ("twice/kustomization.yaml", "resources: [all.yaml]\n"),
        ("twice/all.yaml", &twice),
    ]);
    for number in 0..files {
        let _ = writeln!(list, "  - {number}.yaml");
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: map-{number} }}\n");
        tree.insert(path(&format!("each/{number}.yaml")), File::new(text.as_bytes()));
    }
    tree.insert(path("each/kustomization.yaml"), File::new(list.as_bytes()));
    let built = super::build(&tree, "one").unwrap();
    assert_eq!((built.len(), names(&built)[0]), (most, "x-map-0"));
    assert_eq!(super::build(&tree, "each").unwrap().len(), files);
    let refusal = super::build(&tree, "twice").unwrap_err().message;
    assert!(refusal.contains("may not add resource with an already registered id"), "{refusal}");
}
