//! The bases of apps, and the overlays over them.

use gitops_windows::repo::File;

use crate::dice::Dice;
use crate::objects::{self, App, head, item};
use crate::repository::{Layout, Maker, seen};

/// What a file of a base holds.
struct Piece {
    file: &'static str,
    text: String,
}

impl Maker<'_> {
    /// Decides what an app is like.
    pub fn app(&mut self, name: &str) -> App {
        let mut dice = self.dice(&format!("app {name}"));
        let folder = if self.has(&mut dice, "folder-names", 3) {
            dice.of(&["NAME+x", "my NAME", "v1.NAME", "NAME_app", "NAME-rt"]).replace("NAME", name)
        } else {
            name.to_owned()
        };
        let helm = self.has(&mut dice, "helm-release", 5);
        let variable = self.has(&mut dice, "vars", 3) && !helm;
        let twice = self.has(&mut dice, "variants", 8) && matches!(self.layout, Layout::A | Layout::B);
        App { name: name.to_owned(), folder, helm, variable, twice, ..App::default() }
    }

    /// Returns the folder of an app's base.
    pub fn folder(&self, app: &App) -> String {
        match self.layout {
            Layout::A => format!("apps/{}", app.folder),
            Layout::B => format!("apps/base/{}", app.folder),
            Layout::Overlays => format!("apps/{}/base", app.folder),
            Layout::C => format!("apps/web/{}/app", app.folder),
        }
    }

    /// Writes the base of an app.
    pub fn base(&mut self, mut app: App) -> App {
        let folder = self.folder(&app);
        let mut dice = self.dice(&format!("base {}", app.name));
        let mut fields = String::new();
        app.secret = !app.helm && dice.one_in(2);
        let secret = if app.secret && self.has(&mut dice, "secret-generator", 2) {
            let plain = dice.one_in(2);
            fields.push_str(&self.generator(
                &folder,
                "secretGenerator",
                &format!("{}-secret", app.name),
                "",
                plain,
                &mut dice,
            ));
            app.generated.push(("secretGenerator", format!("{}-secret", app.name)));
            None
        } else if app.secret && self.has(&mut dice, "sops", 1) {
            Some(objects::sops(&format!("{}-secret", app.name)))
        } else if app.secret {
            Some(format!("{}stringData: {{a: b}}\n", head("v1", "Secret", &format!("{}-secret", app.name))))
        } else {
            None
        };
        let config = if self.has(&mut dice, "generator", 2) {
            let plain = dice.one_in(2);
            fields.push_str(&self.generator(
                &folder,
                "configMapGenerator",
                &app.config(),
                "",
                plain,
                &mut dice,
            ));
            app.generated.push(("configMapGenerator", app.config()));
            None
        } else {
            let annotation = self.has(&mut dice, "annotation-type", 5).then_some("rw");
            Some(objects::config_map(&mut dice, &app.config(), annotation))
        };
        let anchors = self.has(&mut dice, "anchors", 3);
        let mut pieces = vec![
            Piece { file: "main", text: objects::main(&app, anchors) },
            Piece { file: "service", text: objects::service(&app.name) },
        ];
        pieces.extend(config.map(|text| Piece { file: "config map", text }));
        pieces.extend(secret.map(|text| Piece { file: "secret", text }));
        if self.has(&mut dice, "widget", 3) {
            pieces.push(Piece { file: "widget", text: objects::widget(&app) });
        }
        if self.has(&mut dice, "namespace-object", 4) && !app.twice {
            pieces.push(Piece { file: "namespace", text: head("v1", "Namespace", &app.name) });
        }
        dice.shuffle(&mut pieces);
        let mut resources = self.files(&folder, &app, pieces, &mut dice);
        if self.has(&mut dice, "nested-folder", 6) {
            let text = objects::config_map(&mut dice, &format!("{}-nested", app.name), None);
            self.put(&format!("{folder}/nested/own.yaml"), &text);
            self.kustomization(&format!("{folder}/nested"), &["own.yaml".to_owned()], "");
            resources.push(dice.of(&["nested", "nested/", "./nested/"]).to_owned());
        }
        fields.push_str(&self.fields(&folder, &[app.clone()], "base"));
        self.kustomization(&folder, &resources, &fields);
        app
    }

    /// Writes objects into files: one for each, several in one, or a list.
    fn files(&mut self, folder: &str, app: &App, pieces: Vec<Piece>, dice: &mut Dice) -> Vec<String> {
        let mut resources = Vec::new();
        let mut rest = pieces;
        if self.has(dice, "multi-document", 3) {
            let several: Vec<Piece> = rest.drain(..1 + dice.below(rest.len() as u64) as usize).collect();
            let begin = dice.of(&["", "---\n", "# all of it\n---\n"]);
            let between = dice.of(&["---\n", "---\n# next\n", "\n---\n\n---\n", "--- # why\n"]);
            let end = dice.of(&["", "---\n", "...\n"]);
            let texts: Vec<String> = several.into_iter().map(|piece| piece.text).collect();
            self.put(&format!("{folder}/all.yaml"), &format!("{begin}{}{end}", texts.join(between)));
            resources.push("all.yaml".to_owned());
        } else if self.has(dice, "kind-list", 6) {
            let several: Vec<Piece> = rest.drain(..1 + dice.below(rest.len() as u64) as usize).collect();
            let items: String = several.iter().map(|piece| item(&piece.text)).collect();
            self.put(&format!("{folder}/list.yaml"), &format!("apiVersion: v1\nkind: List\nitems:\n{items}"));
            resources.push("list.yaml".to_owned());
        }
        for piece in rest {
            let name = match dice.below(6) {
                0 => format!("{}.yml", piece.file.replace(' ', "-")),
                1 => format!("conf/{}.yaml", piece.file.replace(' ', "_")),
                2 => format!("{}.yaml", piece.file),
                _ => format!("{}.yaml", piece.file.replace(' ', "")),
            };
            if self.has(dice, "link-to-file", 10) {
                let real = format!("shared/{}/{name}", app.name);
                self.put(&real, &piece.text);
                self.link(&format!("{folder}/{name}"), &real);
            } else {
                self.put(&format!("{folder}/{name}"), &piece.text);
            }
            resources.push(name);
        }
        resources
    }

    /// Writes a generator's sources and gives the field.
    pub fn generator(
        &mut self,
        folder: &str,
        field: &str,
        name: &str,
        behavior: &str,
        plain: bool,
        dice: &mut Dice,
    ) -> String {
        let mut text = format!("{field}:\n  - name: {name}\n");
        if !behavior.is_empty() {
            text.push_str(&format!("    behavior: {behavior}\n"));
        }
        let stem = if behavior.is_empty() { name.to_owned() } else { format!("{name}-{behavior}") };
        match dice.below(4) {
            0 => {
                self.put(&format!("{folder}/{stem}.env"), "A=1\n# no\nB=2 3\n");
                text.push_str(&format!("    envs: [{stem}.env]\n"));
            }
            1 => {
                self.put(&format!("{folder}/data/{stem}.conf"), "a;\nb;\n");
                text.push_str(&format!(
                    "    files:\n      - data/{stem}.conf\n      - key.conf=data/{stem}.conf # twice\n"
                ));
            }
            2 => text.push_str(&format!("    literals:\n      - A={stem}\n      - \"B=x y\"\n")),
            _ => {
                self.put(&format!("{folder}/{stem}.properties"), "x=1\n");
                text.push_str(&format!("    files: [ \"./{stem}.properties\" ]\n    literals: [C=c]\n"));
            }
        }
        if self.has(dice, "binary-file", 5) {
            let bytes: &[u8] = &[0x89, b'P', 0xff, 0, b'\r', b'\n', 0xfe];
            self.write(&format!("{folder}/{stem}.bin"), File::new(bytes));
            if text.contains("files:\n") {
                text.push_str(&format!("      - {stem}.bin\n"));
            } else if !text.contains("files:") {
                text.push_str(&format!("    files:\n      - {stem}.bin\n"));
            }
        }
        if plain {
            text.push_str("    options:\n      disableNameSuffixHash: true\n");
        }
        text
    }
}

impl Maker<'_> {
    /// Writes an overlay over a base and gives its folder.
    pub fn overlay(&mut self, folder: &str, app: &App, cluster: &str, prefix: &str) {
        let mut dice = self.dice(&format!("overlay {folder}"));
        let base = self.folder(app);
        let tail = dice.of(&["", "", "/"]);
        let mut resources = vec![format!("{}{tail}", seen(folder, &base))];
        let mut fields = String::new();
        if self.has(&mut dice, "multi-document", 4) {
            let name = format!("{}-{cluster}", app.name);
            let text = objects::config_map(&mut dice, &name, None);
            let second =
                format!("{}{}", head("v1", "ServiceAccount", &name), "automountServiceAccountToken: false\n");
            self.put(&format!("{folder}/own.yaml"), &format!("{text}---\n{second}"));
            resources.push("own.yaml".into());
        }
        let merged = app.generated.first().filter(|_| self.has(&mut dice, "merge-generator", 2)).cloned();
        if let Some((field, name)) = &merged {
            let behavior = dice.of(&["merge", "replace"]);
            fields.push_str(&self.generator(folder, field, name, behavior, false, &mut dice));
        } else if self.has(&mut dice, "own-generator", 3) {
            let plain = dice.one_in(2);
            let name = format!("{}-{cluster}-own", app.name);
            fields.push_str(&self.generator(folder, "configMapGenerator", &name, "", plain, &mut dice));
        }
        if !prefix.is_empty() {
            fields.push_str(&format!("namePrefix: {prefix}\n"));
        }
        fields.push_str(&self.fields(
            folder,
            std::slice::from_ref(app),
            if prefix.is_empty() { cluster } else { "variant" },
        ));
        self.kustomization(folder, &resources, &fields);
    }
}
