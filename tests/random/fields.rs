//! The fields of kustomizations beside `resources`.

use crate::dice::Dice;
use crate::objects::{App, head};
use crate::repository::{Maker, seen};

/// A patch in the middle of a kustomization: eight spaces are its margin.
fn strategic(app: &App, margin: &str) -> String {
    format!(
        "{margin}apiVersion: {}\n{margin}kind: {}\n{margin}metadata:\n{margin}  name: {}\n{margin}spec:\n{margin}  {}\n",
        app.version(),
        app.main(),
        app.name,
        app.field()
    )
}

impl Maker<'_> {
    /// Returns fields for a folder that builds these apps; `place` says where it stands.
    pub fn fields(&mut self, folder: &str, apps: &[App], place: &str) -> String {
        let mut dice = self.dice(&format!("fields {folder}"));
        let app = apps[dice.below(apps.len() as u64) as usize].clone();
        let is_base = place == "base";
        let is_entry = place == "entry";
        // Names that stand twice, once under each prefix, can't be told apart from above.
        let named = place != "variant" && !(is_entry && app.twice);
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.namespace(&mut dice, apps, place));
        parts.extend(self.simple(&mut dice, &app, place));
        if named {
            parts.extend(self.patches(&mut dice, folder, &app, is_base));
            parts.extend(self.rewrites(&mut dice, folder, &app, is_base));
        }
        parts.extend(self.components(&mut dice, folder, &app, place));
        parts.extend(self.plugins(&mut dice, folder, &app, place));
        dice.shuffle(&mut parts);
        parts.concat()
    }

    fn namespace(&self, dice: &mut Dice, apps: &[App], place: &str) -> Option<String> {
        // One name for several Namespaces would make them one object.
        let name = match apps {
            [only] => format!("{}-{place}", only.name),
            _ => "all".to_owned(),
        };
        let several = apps.len() > 1 || (place == "base" && dice.one_in(2));
        let hits = self.has(dice, "namespace-field", 4);
        (hits && !(several && self.may_have("namespace-object"))).then(|| format!("namespace: {name}\n"))
    }

    fn simple(&self, dice: &mut Dice, app: &App, place: &str) -> Vec<String> {
        let mut parts = Vec::new();
        if self.has(dice, "name-prefix", 4) && place != "variant" {
            parts.push(format!("namePrefix: {}-\n", dice.of(&["p", "prod", "x1"])));
        }
        if self.has(dice, "name-suffix", 5) {
            parts.push("nameSuffix: -s\n".to_owned());
        }
        if self.has(dice, "labels", 4) {
            parts.push(
                dice.of(&[
                    "labels:\n  - pairs: {team: a}\n",
                    "labels:\n  - pairs:\n      team: b\n    includeSelectors: true\n",
                    "labels:\n- includeTemplates: true\n  pairs:\n    tier: web # why\n",
                ])
                .to_owned(),
            );
        }
        if self.has(dice, "common-annotations", 5) {
            parts.push("commonAnnotations:\n  note: \"1\"\n".to_owned());
        }
        if self.has(dice, "common-labels", 6) {
            parts.push("commonLabels: {part-of: web}\n".to_owned());
        }
        if self.has(dice, "images", 3) {
            parts.push(format!(
                "images:\n  - name: registry.example/{0}\n    newName: mirror.example/{0} # {{\"$imagepolicy\": \"flux-system:{0}:name\"}}\n    newTag: v2.0 # {{\"$imagepolicy\": \"flux-system:{0}:tag\"}}\n",
                app.name
            ));
        }
        if self.has(dice, "replicas", 6)
            && !app.helm
            && place != "variant"
            && !(place == "entry" && app.twice)
        {
            parts.push(format!("replicas:\n- name: {}\n  count: 3\n", app.name));
        }
        if self.has(dice, "generator-options", 4) {
            parts.push(
                dice.of(&[
                    "generatorOptions:\n  disableNameSuffixHash: true\n",
                    "generatorOptions:\n  labels: {made: here}\n  annotations:\n    by: us\n",
                    "generatorOptions: {immutable: true}\n",
                ])
                .to_owned(),
            );
        }
        parts
    }

    fn patches(&mut self, dice: &mut Dice, folder: &str, app: &App, is_base: bool) -> Vec<String> {
        let mut items = String::new();
        let mut parts = Vec::new();
        let (kind, name) = (app.main(), &app.name);
        if self.has(dice, "json-patch", 4) {
            let target = dice.of(&[
                "kind: KIND",
                "name: NAME.*",
                "kind: KIND\n      name: NAME",
                "version: v1",
                "labelSelector: team",
            ]);
            let target = target.replace("KIND", kind).replace("NAME", name);
            items.push_str(&format!(
                "  - target:\n      {target}\n    patch: |-\n      - op: add\n        path: /metadata/labels\n        value: {{patched: here}}\n"
            ));
        }
        if self.has(dice, "inline-patch", 4) {
            items.push_str(&format!("  - patch: |-\n{}", strategic(app, "      ")));
        }
        if self.has(dice, "patch-file", 3) {
            if dice.one_in(2) {
                self.put(&format!("{folder}/patch.yaml"), &strategic(app, ""));
                items.push_str("  - path: patch.yaml # ours\n");
            } else {
                self.put(
                    &format!("{folder}/patches/any.yaml"),
                    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: any\n  annotations:\n    patched: here\n",
                );
                items.push_str("  - path: ./patches/any.yaml\n    target:\n      kind: ConfigMap\n");
            }
        }
        // What is deleted in the base can't be named above it.
        if self.has(dice, "delete-patch", 8) && !is_base {
            items.push_str(&format!(
                "  - target: {{kind: Service, name: {name}}}\n    patch: |\n      $patch: delete\n      apiVersion: v1\n      kind: Service\n      metadata:\n        name: {name}\n"
            ));
        }
        if !items.is_empty() {
            parts.push(format!("patches:\n{items}"));
        }
        if self.has(dice, "old-patches", 6) {
            self.put(&format!("{folder}/old.yaml"), &strategic(app, ""));
            parts.push("patchesStrategicMerge:\n- old.yaml\n".to_owned());
            let (group, version) = app.version().split_once('/').unwrap();
            self.put(
                &format!("{folder}/six.yaml"),
                "- op: add\n  path: /metadata/annotations\n  value: {six: \"902\"}\n",
            );
            parts.push(format!(
                "patchesJson6902:\n- target: {{group: {group}, version: {version}, kind: {kind}, name: {name}}}\n  path: six.yaml\n"
            ));
        }
        parts
    }

    fn rewrites(&mut self, dice: &mut Dice, folder: &str, app: &App, is_base: bool) -> Vec<String> {
        let mut parts = Vec::new();
        let name = &app.name;
        if self.has(dice, "replacements", 5) {
            let text = format!(
                "source: {{kind: {}, name: {name}, fieldPath: metadata.name}}\ntargets:\n  - select: {{kind: Service}}\n    fieldPaths: [metadata.annotations.runs]\n    options: {{create: true}}\n",
                app.main()
            );
            if dice.one_in(2) {
                self.put(&format!("{folder}/replacement.yaml"), &text);
                parts.push("replacements:\n  - path: replacement.yaml\n".to_owned());
            } else {
                parts.push(format!("replacements:\n{}", crate::objects::item(&text)));
            }
        }
        if is_base && app.variable {
            parts.push(format!(
                "vars:\n  - name: {}_HOST\n    objref: {{kind: Service, name: {name}, apiVersion: v1}}\n    fieldref: {{fieldpath: metadata.name}}\n",
                name.to_uppercase()
            ));
        }
        if self.has(dice, "configurations", 4) {
            self.put(
                &format!("{folder}/names.yaml"),
                "nameReference:\n- kind: ConfigMap\n  version: v1\n  fieldSpecs:\n  - kind: Widget\n    path: spec/config\n",
            );
            parts.push("configurations:\n- names.yaml\n".to_owned());
        }
        parts
    }

    fn components(&mut self, dice: &mut Dice, folder: &str, app: &App, place: &str) -> Option<String> {
        let mut list: Vec<String> = Vec::new();
        if self.has(dice, "component", 5) {
            let component = "components/marked";
            self.put(
                &format!("{component}/kustomization.yaml"),
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n  - target: {kind: Service}\n    patch: |-\n      - op: add\n        path: /metadata/labels\n        value: {component: here}\n",
            );
            list.push(seen(folder, component));
        }
        let own = self.has(dice, "component-with-objects", 5);
        if own && place != "variant" && !app.twice && self.with_component.insert(app.name.clone() + place) {
            // An app's base and its overlays share no component, lest its objects come twice.
            let component = format!("components/{}-{place}", app.name);
            let name = format!("{}-{place}-extra", app.name);
            let mut inner = self.dice(&component);
            let both = format!(
                "{}---\n{}",
                crate::objects::config_map(&mut inner, &name, None),
                head("v1", "ServiceAccount", &name)
            );
            self.put(&format!("{component}/extra.yaml"), &both);
            let generator = self.generator(
                &component,
                "configMapGenerator",
                &format!("{name}-made"),
                "",
                inner.one_in(2),
                &mut inner,
            );
            self.put(
                &format!("{component}/kustomization.yaml"),
                &format!("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [extra.yaml]\n{generator}"),
            );
            list.push(seen(folder, &component));
        }
        if list.is_empty() {
            return None;
        }
        let items: String = list.iter().map(|path| format!("  - {path}\n")).collect();
        Some(format!("components:\n{items}"))
    }

    fn plugins(&mut self, dice: &mut Dice, folder: &str, app: &App, place: &str) -> Vec<String> {
        let mut parts = Vec::new();
        if self.has(dice, "transformer-file", 6) {
            self.put(
                &format!("{folder}/stamp.yaml"),
                "apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata:\n  name: stamp\nannotations:\n  stamp: here\nfieldSpecs:\n- path: metadata/annotations\n  create: true\n",
            );
            parts.push("transformers:\n- stamp.yaml\n".to_owned());
        }
        if self.has(dice, "validator-file", 6) {
            self.put(
                &format!("{folder}/valid.yaml"),
                "apiVersion: builtin\nkind: LabelTransformer\nmetadata:\n  name: valid\nlabels:\n  none: set\n",
            );
            parts.push("validators:\n- valid.yaml\n".to_owned());
        }
        if self.has(dice, "generator-file", 6) && place != "variant" && !app.twice {
            let name = format!("{}-{place}-file", app.name);
            self.put(
                &format!("{folder}/make.yaml"),
                &format!("apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: {name}\nliterals:\n- a=b\n"),
            );
            parts.push("generators:\n- make.yaml\n".to_owned());
        }
        parts
    }
}
