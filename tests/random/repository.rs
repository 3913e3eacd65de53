//! Makes a repository of a seed.

use std::collections::{BTreeMap, BTreeSet};

use gitops_windows::path::RepoPath;
use gitops_windows::repo::{Entry, File, Snapshot};

use crate::dice::{Dice, FEATURES, Switches};
use crate::objects::App;

/// How the folders of a repository lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `clusters/C/apps` lists `apps/NAME`.
    A,
    /// `apps/C` lists `apps/base/NAME`.
    B,
    /// `clusters/C/apps` lists `apps/NAME/overlays/C`.
    Overlays,
    /// One Flux Kustomization for each app, `apps/GROUP/NAME/ks.yaml`.
    C,
}

/// A repository, and what is known of it.
pub struct Repository {
    /// Its files without the spec.
    pub snapshot: Snapshot,
    /// The text of `windows.yaml`; the clusters are added to it.
    pub spec: String,
    /// Entry points that were broken on purpose.
    pub broken: BTreeSet<String>,
    /// How its folders lie.
    pub layout: Layout,
    /// The names of its apps.
    pub apps: Vec<String>,
}

/// Collects the files.
pub struct Maker<'a> {
    pub seed: u64,
    switches: &'a Switches,
    entries: BTreeMap<RepoPath, Entry>,
    pub layout: Layout,
    pub apps: Vec<App>,
    pub broken: BTreeSet<String>,
    /// Components that an app's base or overlay took in: none does so twice.
    pub with_component: BTreeSet<String>,
}

/// Makes a repository.
pub fn make(seed: u64, switches: &Switches) -> Repository {
    let mut dice = Dice::at(seed, "repository");
    let layout = match dice.below(8) {
        0..=2 => Layout::A,
        3..=4 => Layout::B,
        5 => Layout::Overlays,
        _ => Layout::C,
    };
    let mut maker = Maker {
        seed,
        switches,
        entries: BTreeMap::new(),
        layout,
        apps: Vec::new(),
        broken: BTreeSet::new(),
        with_component: BTreeSet::new(),
    };
    let clusters: &[&str] = [&["east"][..], &["east", "west"], &["east", "west"]][dice.below(3) as usize];
    let names = ["api", "shop", "mail", "blog"];
    let first = dice.below(4) as usize;
    for position in 0..=dice.below(3) as usize {
        let app = maker.app(names[(first + position) % 4]);
        maker.apps.push(app);
    }
    for app in maker.apps.clone() {
        let app = maker.base(app);
        let place = maker.apps.iter().position(|other| other.name == app.name).unwrap();
        maker.apps[place] = app;
    }
    maker.clusters(clusters);
    let spec = maker.spec();
    let apps = maker.apps.iter().map(|app| app.name.clone()).collect();
    Repository { snapshot: Snapshot::new(maker.entries), spec, broken: maker.broken, layout, apps }
}

impl Maker<'_> {
    /// Returns whether a feature comes in, once in so many times where the repository may have it.
    pub fn has(&self, dice: &mut Dice, feature: &str, times: u64) -> bool {
        dice.one_in(times) && self.may_have(feature)
    }

    /// Returns whether a feature may come in at all.
    pub fn may_have(&self, feature: &str) -> bool {
        let position = FEATURES.iter().position(|name| *name == feature);
        self.switches[position.unwrap_or_else(|| panic!("no feature {feature}"))]
    }

    /// Returns the numbers of a place.
    pub fn dice(&self, place: &str) -> Dice {
        Dice::at(self.seed, place)
    }

    /// Writes a text, now and then with odd bytes.
    pub fn put(&mut self, path: &str, text: &str) {
        let mut dice = self.dice(&format!("bytes of {path}"));
        let mut text = text.to_owned();
        let is_yaml = path.ends_with("yaml") || path.ends_with("yml");
        if self.has(&mut dice, "comments", 4) {
            text = format!("# {path}, ours\n\n{text}");
        }
        if self.has(&mut dice, "indented", 10) && is_yaml && !text.contains("---\n") {
            text = text.lines().map(|line| format!("  {line}\n")).collect();
        }
        if self.has(&mut dice, "no-final-newline", 4) {
            text = text.trim_end_matches('\n').to_owned();
        }
        if self.has(&mut dice, "crlf", 5) {
            text = text.replace('\n', "\r\n");
        }
        if self.has(&mut dice, "mixed-line-ends", 8) {
            let lines: Vec<String> = text
                .split_inclusive('\n')
                .map(|line| {
                    if dice.one_in(3) {
                        line.trim_end_matches(['\r', '\n']).to_owned() + "\r\n"
                    } else {
                        line.to_owned()
                    }
                })
                .collect();
            let ends = text.ends_with('\n');
            text = lines.concat();
            if !ends {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
            }
        }
        if self.has(&mut dice, "byte-order-mark", 6) && is_yaml {
            text.insert(0, '\u{feff}');
        }
        let executable = self.has(&mut dice, "executable", 8);
        self.write(path, File::new(text.into_bytes()).with_mode(executable));
    }

    /// Writes a file as it is.
    pub fn write(&mut self, path: &str, file: File) {
        self.entries.insert(RepoPath::parse(path).unwrap(), Entry::File(file));
    }

    /// Makes a link.
    pub fn link(&mut self, path: &str, to: &str) {
        let path = RepoPath::parse(path).unwrap();
        let target = RepoPath::parse(to).unwrap().relative_to(&path.parent().unwrap());
        self.entries.insert(path, Entry::Symlink { target });
    }

    /// Writes a kustomization with a list of resources and further fields.
    pub fn kustomization(&mut self, folder: &str, resources: &[String], fields: &str) {
        let mut dice = self.dice(&format!("kustomization {folder}"));
        let name = match dice.below(8) {
            0 => "kustomization.yml",
            1 => "Kustomization",
            _ => "kustomization.yaml",
        };
        let head = match dice.below(3) {
            0 => "",
            _ => "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        };
        let list = self.list(&mut dice, resources);
        let body = if dice.one_in(3) { format!("{fields}{list}") } else { format!("{list}{fields}") };
        self.put(&format!("{folder}/{name}"), &format!("{head}{body}"));
    }

    fn list(&self, dice: &mut Dice, paths: &[String]) -> String {
        let mut quoted: Vec<String> = Vec::new();
        for path in paths {
            let lead = if dice.one_in(5) && !path.starts_with('.') { "./" } else { "" };
            quoted.push(match dice.below(8) {
                0 => format!("\"{lead}{path}\""),
                1 => format!("'{lead}{path}'"),
                _ => format!("{lead}{path}"),
            });
        }
        let mut text = String::new();
        let field = if self.has(dice, "bases-field", 10) && paths.iter().all(|path| path.starts_with("..")) {
            "bases"
        } else {
            "resources"
        };
        if self.has(dice, "flow-lists", 6) {
            let space = dice.of(&["", " "]);
            return format!("{field}: [{space}{}{space}]\n", quoted.join(", "));
        }
        let indent = dice.of(&["", "  ", "    "]);
        text.push_str(&format!("{field}:\n"));
        for path in quoted {
            let dash = dice.of(&["- ", "- ", "- ", "-   "]);
            if self.has(dice, "comments", 5) {
                text.push_str(&format!("{indent}# - {path}.old\n"));
            }
            let comment = if self.has(dice, "comments", 5) { " # why" } else { "" };
            text.push_str(&format!("{indent}{dash}{path}{comment}\n"));
        }
        text
    }
}

/// Returns a path as seen from a folder.
pub fn seen(from: &str, to: &str) -> String {
    RepoPath::parse(to).unwrap().relative_to(&RepoPath::parse(from).unwrap())
}
