//! What goes to the kustomize inside and comes from it: kustomizations and manifests that nobody wrote.

use std::collections::BTreeMap;

use gitops_windows::delivery::{Known, Model};
use gitops_windows::render::{Embedded, Renderer};
use gitops_windows::repo::{Entry, File, Snapshot};

use crate::support::{folder, kustomizations, path, snapshot};
use crate::{fuzz, samples};

const WORDS: [&str; 40] = [
    "resources:\n",
    "- ../base\n",
    "- x.yaml\n",
    "- .\n",
    "- https://example.com/x\n",
    "namePrefix: a-\n",
    "namespace: b\n",
    "patches:\n",
    "- path: x.yaml\n",
    "  target: {kind: .*}\n",
    "configMapGenerator:\n",
    "- {name: c, files: [x.yaml]}\n",
    "replacements:\n",
    "vars:\n",
    "components:\n",
    "generators:\n",
    "transformers:\n",
    "openapi: {path: x.yaml}\n",
    "buildMetadata: [originAnnotations]\n",
    "images: [{name: i, newTag: t}]\n",
    "replicas: [{name: w, count: -1}]\n",
    "sortOptions: {order: legacy}\n",
    "labels: [{pairs: {a: b}, includeSelectors: true}]\n",
    "helmCharts: [{name: x}]\n",
    "$patch: delete\n",
    "$setElementOrder/x: []\n",
    "apiVersion: v1\n",
    "kind: List\n",
    "kind: ConfigMap\n",
    "metadata: {name: \"\"}\n",
    "metadata: {name: a, annotations: {config.kubernetes.io/local-config: \"true\"}}\n",
    "null\n",
    "[]\n",
    "\u{0}",
    "{{",
    "*a",
    "&a ",
    "spec: {template: {spec: {containers: [{}]}}}\n",
    "kind: Kustomization\n",
    "data: {a: 1, b: [c]}\n",
];

const BASE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\n";

#[test]
fn builds_end_and_harm_no_other_build() {
    let renderer = Embedded::default();
    let good = snapshot(&[("base/kustomization.yaml", "resources: [b.yaml]\n"), ("base/b.yaml", BASE)]);
    let usual = renderer.render(&good, &[folder("base")]).remove(0).unwrap();
    let mut number = 0;
    fuzz("builds", 40, &samples("kustomization.yaml"), &WORDS, &mut |text| {
        number += 1;
        let mut tree = good.clone();
        // As a kustomization and as what one lists.
        tree.insert(path("a/kustomization.yaml"), File::new(text.as_bytes()));
        tree.insert(path("a/x.yaml"), File::new(BASE.as_bytes()));
        tree.insert(
            path("c/kustomization.yaml"),
            File::new(*b"resources: [x.yaml, ../base]\nnamePrefix: p-\n"),
        );
        tree.insert(path("c/x.yaml"), File::new(text.as_bytes()));
        let requests = [folder("a"), folder("a").with_origins(), folder("c"), folder("base")];
        let built = renderer.forgetful().render(&tree, &requests);
        assert_eq!(built[3].as_ref().unwrap(), &usual, "a build changed by those before it");
        let values = |at: usize| -> Option<Vec<_>> {
            built[at].as_ref().ok().map(|all| all.iter().map(|one| one.value.clone()).collect())
        };
        assert_eq!(values(0), values(1), "origins change the build");
        if let Err(error) = &built[0] {
            assert!(!error.message.is_empty() && !error.message.contains("panicked"), "{}", error.message);
        }
    });
}

#[test]
fn a_model_is_made_of_any_files() {
    let manifests = samples(".yaml");
    let renderer = Embedded::default();
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sample");
    let files: BTreeMap<_, Entry> =
        crate::support::read(&top).entries().map(|(path, entry)| (path.clone(), entry.clone())).collect();
    let names: Vec<_> = files.keys().cloned().collect();
    let mut number = 0;
    fuzz("model", 20, &manifests, &WORDS, &mut |text| {
        number += 1;
        let mut files = files.clone();
        files.insert(names[number % names.len()].clone(), Entry::File(File::new(text.as_bytes())));
        let tree = Snapshot::new(files);
        let model = Model::read(&tree, &path(""), &Known::default(), &renderer);
        for folder in kustomizations(&tree) {
            let _ = model.entry(&folder);
        }
    });
}
