//! The entry points of clusters and the Flux Kustomizations that name them.

use crate::dice::Dice;
use crate::objects::{self, App, head};
use crate::repository::{Layout, Maker, seen};

impl Maker<'_> {
    /// Writes everything that clusters apply.
    pub fn clusters(&mut self, clusters: &[&str]) {
        if self.layout == Layout::C {
            return self.by_app(clusters[0]);
        }
        let mut dice = self.dice("clusters");
        if clusters.len() > 1 && self.layout == Layout::B && self.has(&mut dice, "shared-entry", 3) {
            // Two clusters apply one folder.
            self.entry("apps/production", "production");
            for cluster in clusters {
                self.flux(&format!("clusters/{cluster}/apps.yaml"), "apps", "apps/production", false);
            }
            return;
        }
        for cluster in clusters {
            let entry = match self.layout {
                Layout::B => format!("apps/{cluster}"),
                _ => format!("clusters/{cluster}/apps"),
            };
            let generated = self.entry(&entry, cluster);
            // What only Flux can list needs a Kustomization of Flux.
            if generated || self.layout == Layout::B || dice.one_in(2) {
                self.flux(&format!("clusters/{cluster}/flux/apps.yaml"), "apps", &entry, generated);
            }
        }
    }

    /// One Flux Kustomization for each app, all of one cluster, which the bootstrap one applies.
    fn by_app(&mut self, cluster: &str) {
        self.flux(&format!("clusters/{cluster}/cluster.yaml"), "cluster", "apps", true);
        self.flux(
            &format!("clusters/{cluster}/flux-system/sync.yaml"),
            "flux-system",
            &format!("clusters/{cluster}"),
            true,
        );
        let mut dice = self.dice("by app");
        let with_list = dice.one_in(2);
        for app in self.apps.clone() {
            let folder = format!("apps/web/{}", app.folder);
            self.flux(&format!("{folder}/ks.yaml"), &app.name, &format!("{folder}/app"), false);
        }
        let list: Vec<String> = self.apps.iter().map(|app| format!("./{}/ks.yaml", app.folder)).collect();
        if with_list {
            self.kustomization("apps/web", &list, "");
        } else {
            for app in self.apps.clone() {
                self.kustomization(&format!("apps/web/{}", app.folder), &["ks.yaml".to_owned()], "");
            }
        }
    }

    /// Writes an entry point; tells whether Flux alone can list what it holds.
    fn entry(&mut self, entry: &str, cluster: &str) -> bool {
        let mut dice = self.dice(&format!("entry {entry}"));
        let mut paths: Vec<String> = Vec::new();
        let mut apps = self.apps.clone();
        dice.shuffle(&mut apps);
        for app in &apps {
            paths.extend(self.use_of(&mut dice, entry, app, cluster));
        }
        if self.has(&mut dice, "group-folder", 5) && paths.len() > 1 {
            let group = format!("{entry}/group");
            let inner: Vec<String> = paths.split_off(1);
            let inner: Vec<String> = inner.iter().map(|path| format!("../{path}")).collect();
            self.kustomization(&group, &inner, "");
            paths.push("group".to_owned());
        }
        if self.has(&mut dice, "loose-file", 5) {
            let text = objects::config_map(&mut dice, "cluster-wide", None);
            self.put(&format!("{entry}/wide.yaml"), &text);
            paths.push("wide.yaml".into());
        }
        let own_only = paths.iter().all(|path| !path.starts_with('.'));
        if own_only && self.has(&mut dice, "flux-generated", 1) {
            return true;
        }
        let mut fields = if dice.one_in(3) { self.fields(entry, &apps, "entry") } else { String::new() };
        if self.has(&mut dice, "broken", 5) {
            self.broken.insert(entry.to_owned());
            self.break_it(&mut dice, entry, &mut paths, &mut fields);
        }
        self.kustomization(entry, &paths, &fields);
        false
    }

    /// Returns what an entry point lists for an app.
    fn use_of(&mut self, dice: &mut Dice, entry: &str, app: &App, cluster: &str) -> Vec<String> {
        if app.twice {
            return ["blue-", "green-"]
                .map(|prefix| {
                    let folder = format!("{entry}/{prefix}{}", app.folder);
                    self.overlay(&folder, app, cluster, prefix);
                    format!("{prefix}{}", app.folder)
                })
                .to_vec();
        }
        let base = self.folder(app);
        if self.layout == Layout::Overlays {
            let folder = format!("apps/{}/overlays/{cluster}", app.folder);
            self.overlay(&folder, app, cluster, "");
            return vec![seen(entry, &folder)];
        }
        if dice.one_in(2) {
            let tail = dice.of(&["", "", "/"]);
            return vec![format!("{}{tail}", seen(entry, &base))];
        }
        let folder = format!("{entry}/{}", app.folder);
        if self.has(dice, "link-to-folder", 6) {
            let real = format!("overlays/{cluster}/{}", app.folder);
            self.overlay(&real, app, cluster, "");
            self.link(&folder, &real);
        } else {
            self.overlay(&folder, app, cluster, "");
        }
        vec![app.folder.clone()]
    }

    /// Breaks an entry point in one of the ways that kustomize refuses.
    fn break_it(&mut self, dice: &mut Dice, entry: &str, paths: &mut Vec<String>, fields: &mut String) {
        match dice.below(7) {
            0 => paths.push("missing.yaml".into()),
            1 => paths.push("https://example.com/manifests.yaml".into()),
            2 => {
                self.kustomization(&format!("{entry}/round"), &["..".to_owned()], "");
                paths.push("round".into());
            }
            3 => fields.push_str("helmCharts:\n- name: minecraft\n  repo: https://example.com\n"),
            4 => {
                self.put(&format!("{entry}/exec.yaml"), "apiVersion: example.com/v1\nkind: Exec\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./run.sh}\n");
                fields.push_str("generators: [exec.yaml]\n");
            }
            5 => {
                self.put(
                    &format!("{entry}/bad.yaml"),
                    "apiVersion: v1\nkind: ConfigMap\n metadata: {name: [}\n",
                );
                paths.push("bad.yaml".into());
            }
            _ => {
                paths.push("no-target.yaml".into());
                self.put(&format!("{entry}/no-target.yaml"), &head("v1", "ServiceAccount", "sa"));
                self.put(&format!("{entry}/lost.yaml"), &head("v1", "Service", "nobody"));
                fields.push_str("transformers:\n- gone.yaml\n");
            }
        }
    }

    /// Writes a Flux Kustomization.
    fn flux(&mut self, file: &str, name: &str, path: &str, plain: bool) {
        let mut dice = self.dice(&format!("flux {file}"));
        let mut extra = String::new();
        if !plain && self.has(&mut dice, "flux-fields", 2) {
            extra.push_str(dice.of(&[
                "  targetNamespace: target\n",
                "  patches:\n    - target: {kind: Deployment}\n      patch: |-\n        - op: add\n          path: /spec/paused\n          value: true\n",
                "  namePrefix: flux-\n",
                "  nameSuffix: -flux\n",
                "  commonMetadata: {labels: {by: flux}}\n",
                "  images:\n    - name: registry.example/api\n      newTag: v3.0\n",
            ]));
        }
        if !plain && self.has(&mut dice, "flux-components", 4) {
            self.put(
                "components/flux/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels:\n  - pairs: {component: flux}\n",
            );
            extra.push_str(&format!("  components:\n    - {}\n", seen(path, "components/flux")));
        }
        if dice.one_in(3) {
            extra.push_str("  postBuild:\n    substitute: {ENV: prod}\n");
        }
        let prune = dice.of(&[
            "  prune: true\n",
            "  prune: false\n",
            "  prune: true # tidy\n",
            "",
            "  prune:   true\n",
        ]);
        let path = dice.of(&["./PATH", "./PATH", "./PATH/", "PATH"]).replace("PATH", path);
        let mut version = "v1";
        if self.has(&mut dice, "flux-file", 4) {
            version = "v1beta2";
        }
        let head = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/{version}\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\n"
        );
        let source = "sourceRef: {kind: GitRepository, name: flux-system}";
        let mut text =
            format!("{head}spec:\n  interval: 10m\n  path: \"{path}\"\n{prune}  {source}\n{extra}");
        if self.has(&mut dice, "flux-file", 4) {
            let other =
                format!("{}data: {{a: b}}\n", objects::head("v1", "ConfigMap", &format!("vars-{name}")));
            text = if dice.one_in(2) {
                format!("{other}---\n{text}")
            } else {
                format!("---\n{text}---\n{other}")
            };
        }
        self.put(file, &text);
    }
}
