//! Makes a repository of a seed.

use std::collections::BTreeMap;

/// A small generator of numbers (splitmix64): the same seed gives the same repository for ever.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Once in so many times.
    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

struct Maker {
    dice: Dice,
    files: BTreeMap<String, String>,
}

/// Makes a repository: paths and texts, the spec among them.
pub fn make(seed: u64) -> BTreeMap<String, String> {
    let mut maker = Maker { dice: Dice(seed), files: BTreeMap::new() };
    let clusters: Vec<&str> = if maker.dice.one_in(3) { vec!["east"] } else { vec!["east", "west"] };
    let apps: Vec<&str> = ["api", "shop", "mail"][..1 + maker.dice.below(3) as usize].to_vec();
    let with_base_layout = maker.dice.one_in(2);
    for app in &apps {
        maker.base(&if with_base_layout { format!("apps/base/{app}") } else { format!("apps/{app}") }, app);
    }
    for cluster in &clusters {
        let entry =
            if with_base_layout { format!("apps/{cluster}") } else { format!("clusters/{cluster}/apps") };
        maker.entry(&entry, cluster, &apps, with_base_layout);
        if with_base_layout || maker.dice.one_in(2) {
            maker.flux(cluster, &entry);
        }
    }
    let split = if maker.dice.one_in(4) { &clusters[..1] } else { &clusters[..] };
    let names: String = split.iter().map(|name| format!("  {name}: {{}}\n")).collect();
    maker.files.insert(
        "windows.yaml".into(),
        format!("apiVersion: gitops-windows/v1\ntypes:\n  rt: {{}}\n  rw: {{ window: work }}\nwindows:\n  work: {{ timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * THU }}\nclusters:\n{names}"),
    );
    maker.files
}

impl Maker {
    /// Writes a file, now and then with odd bytes.
    fn put(&mut self, path: &str, text: &str) {
        let mut text = text.to_owned();
        if self.dice.one_in(6) {
            text = text.trim_end_matches('\n').to_owned();
        }
        if self.dice.one_in(8) {
            text = text.replace('\n', "\r\n");
        }
        if self.dice.one_in(8) {
            text = format!("# {path}, ours\n\n{text}");
        }
        self.files.insert(path.to_owned(), text);
    }

    fn kustomization(&mut self, folder: &str, body: &str) {
        let name = match self.dice.below(8) {
            0 => "kustomization.yml",
            1 => "Kustomization",
            _ => "kustomization.yaml",
        };
        let head = if self.dice.one_in(3) {
            ""
        } else {
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        };
        self.put(&format!("{folder}/{name}"), &format!("{head}{body}"));
    }

    fn config_map(&mut self, name: &str) -> String {
        let data =
            self.dice.of(&["  k: v\n", "  nginx.conf: |\n    a;\n    b;\n", "  e: \"${ENV}\" # text\n"]);
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{data}")
    }

    fn deployment(&mut self, name: &str, config: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n        - name: main\n          image: registry.example/{name}:1.0 # keep\n          envFrom: [{{configMapRef: {{name: {config}}}}}]\n"
        )
    }

    fn base(&mut self, folder: &str, app: &str) {
        let config = format!("{app}-conf");
        let mut resources = Vec::new();
        let mut rest = String::new();
        let deployment = self.deployment(app, &config);
        let service = format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: {app}\nspec:\n  ports: [{{port: 80}}]\n"
        );
        let map = self.config_map(&config);
        match self.dice.below(7) {
            0 => {
                self.put(
                    &format!("{folder}/all.yaml"),
                    &format!("{map}---\n{deployment}---\n# the service\n{service}"),
                );
                resources.push("all.yaml");
            }
            1 => {
                self.put(&format!("{folder}/all.yaml"), &format!("---\n{deployment}\n---\n\n---\n{map}"));
                self.put(&format!("{folder}/service.yaml"), &service);
                resources.extend(["all.yaml", "service.yaml"]);
            }
            2 => {
                let indent = |text: &str| text.replace('\n', "\n  ").trim_end().to_owned();
                let list = format!(
                    "apiVersion: v1\nkind: List\nitems:\n- {}\n- {}\n",
                    indent(&map),
                    indent(&service)
                );
                self.put(&format!("{folder}/list.yaml"), &list);
                self.put(&format!("{folder}/deployment.yaml"), &deployment);
                resources.extend(["list.yaml", "deployment.yaml"]);
            }
            3 => {
                self.put(&format!("{folder}/deployment.yaml"), &deployment);
                self.put(&format!("{folder}/service.yaml"), &service);
                self.put(&format!("{folder}/conf/app.env"), "A=1\nB=2\n");
                resources.extend(["deployment.yaml", "service.yaml"]);
                let plain =
                    if self.dice.one_in(2) { "    options: {disableNameSuffixHash: true}\n" } else { "" };
                rest.push_str(&format!(
                    "configMapGenerator:\n  - name: {config}\n    envs: [conf/app.env]\n{plain}"
                ));
            }
            _ => {
                self.put(&format!("{folder}/deployment.yaml"), &deployment);
                self.put(&format!("{folder}/service.yaml"), &service);
                self.put(&format!("{folder}/configmap.yaml"), &map);
                resources.extend(["deployment.yaml", "service.yaml", "configmap.yaml"]);
            }
        }
        if self.dice.one_in(4) {
            self.put(
                &format!("{folder}/namespace.yaml"),
                &format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {app}\n"),
            );
            resources.insert(0, "namespace.yaml");
        }
        rest.push_str(&self.fields(folder, app));
        let list = self.list(&resources);
        let body = if self.dice.one_in(3) {
            format!("{rest}resources:\n{list}")
        } else {
            format!("resources:\n{list}{rest}")
        };
        self.kustomization(folder, &body);
    }

    fn list(&mut self, paths: &[&str]) -> String {
        let mut text = String::new();
        let indent = self.dice.of(&["", "  "]);
        for path in paths {
            let lead = if self.dice.one_in(5) && !path.starts_with('.') { "./" } else { "" };
            let comment = if self.dice.one_in(6) { " # why" } else { "" };
            if self.dice.one_in(8) {
                text.push_str(&format!("{indent}# - {path}.old\n"));
            }
            text.push_str(&format!("{indent}- {lead}{path}{comment}\n"));
        }
        text
    }

    /// Fields that change what resources become.
    fn fields(&mut self, folder: &str, app: &str) -> String {
        let mut text = String::new();
        if self.dice.one_in(4) {
            text.push_str(&format!("namespace: {app}\n"));
        }
        if self.dice.one_in(5) {
            text.push_str("namePrefix: p-\n");
        }
        if self.dice.one_in(8) {
            text.push_str("nameSuffix: -s\n");
        }
        if self.dice.one_in(6) {
            text.push_str("labels:\n  - pairs: {team: a}\n");
        }
        if self.dice.one_in(8) {
            text.push_str("commonAnnotations:\n  note: \"1\"\n");
        }
        if self.dice.one_in(8) {
            text.push_str("commonLabels: {tier: web}\n");
        }
        if self.dice.one_in(8) {
            text.push_str(&format!("images:\n  - name: registry.example/{app}\n    newTag: 2.0 # {{\"$imagepolicy\": \"flux-system:{app}\"}}\n"));
        }
        match self.dice.below(9) {
            0 => text.push_str("patches:\n  - target: {kind: Deployment}\n    patch: |-\n      - op: add\n        path: /spec/replicas\n        value: 2\n"),
            1 => {
                self.put(&format!("{folder}/patch.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: any\ndata:\n  more: x\n");
                text.push_str("patches:\n  - path: patch.yaml\n    target:\n      kind: ConfigMap\n");
            }
            2 => {
                self.put("components/extra/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [extra.yaml]\npatches:\n  - target: {kind: Service}\n    patch: |-\n      - op: add\n        path: /metadata/labels\n        value: {extra: \"1\"}\n");
                let both = format!("{}---\n{}", self.config_map("extra"), "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: extra\n");
                self.put("components/extra/extra.yaml", &both);
                let up = "../".repeat(folder.split('/').count());
                text.push_str(&format!("components:\n  - {up}components/extra\n"));
            }
            3 => text.push_str(&format!("replacements:\n  - source: {{kind: Service, fieldPath: spec.ports.0.port}}\n    targets:\n      - select: {{kind: Deployment}}\n        fieldPaths: [metadata.annotations.port]\n        options: {{create: true}}\n# of {app}\n")),
            _ => {}
        }
        text
    }

    fn entry(&mut self, entry: &str, cluster: &str, apps: &[&str], with_base_layout: bool) {
        let up = "../".repeat(entry.split('/').count());
        let mut paths: Vec<String> = Vec::new();
        for app in apps {
            let base = if with_base_layout { format!("apps/base/{app}") } else { format!("apps/{app}") };
            if self.dice.one_in(2) {
                let tail = if self.dice.one_in(4) { "/" } else { "" };
                paths.push(format!("{up}{base}{tail}"));
                continue;
            }
            let overlay = format!("{entry}/{app}");
            let mut list = vec![format!("../{up}{base}")];
            if self.dice.one_in(3) {
                let map = self.config_map(&format!("{app}-{cluster}"));
                self.put(&format!("{overlay}/own.yaml"), &map);
                list.push("own.yaml".into());
            }
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            let body = format!("resources:\n{}{}", self.list(&list), self.fields(&overlay, app));
            self.kustomization(&overlay, &body);
            paths.push(app.to_string());
        }
        if self.dice.one_in(6) {
            let map = self.config_map("cluster-wide");
            self.put(&format!("{entry}/wide.yaml"), &map);
            paths.push("wide.yaml".into());
        }
        let own_only = paths.iter().all(|path| !path.starts_with('.'));
        if own_only && with_base_layout && self.dice.one_in(2) {
            return; // Flux lists what lies there.
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let fields = if self.dice.one_in(3) { self.fields(entry, apps[0]) } else { String::new() };
        let body = format!("resources:\n{}{fields}", self.list(&paths));
        self.kustomization(entry, &body);
    }

    fn flux(&mut self, cluster: &str, entry: &str) {
        let extra = match self.dice.below(6) {
            0 => "  targetNamespace: target\n",
            1 => {
                "  patches:\n    - target: {kind: Deployment}\n      patch: |-\n        - op: add\n          path: /spec/paused\n          value: true\n"
            }
            2 => "  namePrefix: flux-\n",
            _ => "",
        };
        let prune = self.dice.of(&["true", "false", "true # tidy"]);
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: apps\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: ./{entry}\n  prune: {prune}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n{extra}"
        );
        self.put(&format!("clusters/{cluster}/flux/apps.yaml"), &text);
    }
}
