//! A cluster with a Flux Kustomization that CronJobs hold back and one that lands at once, and what `pr` says of its
//! changes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use jiff::Timestamp;

use crate::check::{SpecLintOptions, Standard};
use crate::delivery::{History, Known, Model, Pair, Part, State, Unclosed, World};
use crate::mechanism;
use crate::path::RepoPath;
use crate::pr::{Clock, Landing, Question, Report, Standards, Topic, Tree, Wanted, report};
use crate::render::Lent;
use crate::repo::{Appeared, Entry, File, Snapshot};
use crate::spec::{Spec, parse};
use crate::template::Templates;

/// A Monday; the window opens on Saturday at 22:00 in Berlin.
pub const NOW: &str = "2026-11-23T12:00:00Z";

/// A Saturday within the window.
pub const OPEN: &str = "2026-11-28T22:00:00Z";

/// Where the spec stands.
pub const SPEC_FILE: &str = "windows.yaml";

/// A spec with the windows of the cluster.
pub const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: saturday } }
windows: { saturday: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 2 * * SUN } }
clusters: { one: { paths: [clusters/one] } }
rules: [{ kind: ConfigMap, type: rt }, { type: rw }]
flux: { namespace: flux-system, source: { kind: GitRepository, name: flux-system } }
gate: { enabled: true, namespace: flux-system }
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers: [{ name: web, image: 'nginx:1.29.0' }]
      volumes: [{ name: settings, configMap: { name: settings } }]
";

/// The files of a repository.
pub type Files = BTreeMap<String, String>;

/// Makes a ConfigMap of the namespace of all objects, with data as a mapping in one line.
pub fn map(name: &str, data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: shop }}\ndata: {{ {data} }}\n"
    )
}

/// Makes a Flux Kustomization with more lines of its spec.
pub fn flux(name: &str, path: &str, more: &str) -> String {
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
         flux-system }}\nspec:\n  interval: 5m\n  path: ./{path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, \
         name: flux-system }}\n{more}"
    )
}

/// Makes a GitRepository that is fetched every `interval`.
pub fn source(interval: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: flux-system, namespace: \
         flux-system }}\nspec: {{ interval: {interval}, url: 'https://example.org/fleet' }}\n"
    )
}

/// Makes a CronJob of a gate.
pub fn job(name: &str, verb: &str, schedule: &str, targets: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  schedule: \
         \"{schedule}\"\n  timeZone: Europe/Berlin\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          \
         restartPolicy: Never\n          containers:\n          - name: flux\n            image: \
         ghcr.io/fluxcd/flux-cli:v2.9.4\n            args: [{verb}, kustomization, {targets}]\n"
    )
}

/// The repository.
pub fn files() -> Files {
    let apps = [flux("apps-rt", "apps/apps-rt", ""), flux("apps-rw", "apps/apps-rw", "")].concat();
    let sync = source("1m") + &flux("flux-system", "clusters/one", "");
    BTreeMap::from(
        [
            ("clusters/one/flux-system/gotk-sync.yaml", sync),
            ("clusters/one/apps.yaml", apps),
            ("clusters/one/gate/open.yaml", job("open", "resume", "0 22 * * SAT", "apps-rw")),
            ("clusters/one/gate/close.yaml", job("close", "suspend", "0 2 * * SUN", "apps-rw")),
            ("apps/apps-rt/kustomization.yaml", "resources: [settings.yaml]\n".to_owned()),
            ("apps/apps-rt/settings.yaml", map("settings", "a: '1'")),
            ("apps/apps-rw/kustomization.yaml", "resources: [deployment.yaml]\n".to_owned()),
            ("apps/apps-rw/deployment.yaml", DEPLOYMENT.to_owned()),
        ]
        .map(|(path, text)| (path.to_owned(), text)),
    )
}

/// Changes files: the text to replace, and what comes in its place; an empty text stands for the whole file.
pub fn with(files: &Files, edits: &[(&str, &str, &str)]) -> Files {
    let mut files = files.clone();
    for (path, from, to) in edits {
        let old = files.get(*path).cloned().unwrap_or_default();
        assert!(old.contains(from), "{path} does not hold {from:?}:\n{old}");
        files.insert(
            (*path).to_owned(),
            if from.is_empty() { (*to).to_owned() } else { old.replace(from, to) },
        );
    }
    files
}

/// Adds a cluster that has what cluster `one` has.
pub fn with_cluster(files: &Files, name: &str) -> Files {
    let own = format!("clusters/{name}");
    let of_it = |text: &str| text.replace("clusters/one", &own);
    let ones = files.iter().filter(|(path, _)| path.starts_with("clusters/one/"));
    let copies: Vec<_> = ones.map(|(path, text)| (of_it(path), of_it(text))).collect();
    files.clone().into_iter().chain(copies).collect()
}

/// Writes the CronJobs of each cluster as the spec says, with its times or its table.
pub fn synced(files: &Files) -> Files {
    let spec = parse(&RepoPath::parse(SPEC_FILE).unwrap(), files[SPEC_FILE].as_bytes()).unwrap().spec;
    let jobs = mechanism::of(spec.gate.mechanism).jobs(&spec).unwrap();
    let mut files = files.clone();
    for (cluster, own) in &jobs.schedules {
        for (position, schedule) in own {
            let named = &jobs.all[*position];
            let is_open = named.name.starts_with("open");
            let (name, verb) = if is_open { ("open", "resume") } else { ("close", "suspend") };
            let zone = schedule.time_zone.as_deref().unwrap_or("UTC");
            let text = job(name, verb, &schedule.cron, "apps-rw").replace("Europe/Berlin", zone);
            let table = jobs.tables.get(cluster).and_then(|own| own.get(&named.change_type));
            let text = match table {
                Some(lines) => {
                    let words: Vec<&str> =
                        std::iter::once("open-times").chain(lines.iter().map(String::as_str)).collect();
                    let own = format!("args: [{verb}, kustomization, apps-rw]");
                    let command = format!("command: [sh, -c, flux {verb} kustomization apps-rw]");
                    let args = serde_json::to_string(&words).unwrap();
                    assert!(text.contains(&own), "{text}");
                    text.replace(&own, &format!("{command}\n            args: {args}"))
                }
                None => text,
            };
            files.insert(format!("clusters/{cluster}/gate/{name}.yaml"), text);
        }
    }
    files
}

/// Removes a file.
pub fn without(files: &Files, path: &str) -> Files {
    let mut files = files.clone();
    assert!(files.remove(path).is_some(), "{path} is not there");
    files
}

/// What stands for a submodule in place of a file's text.
pub const SUBMODULE: &str = "<submodule>";

/// The files as a tree; a text that begins with `<link>` is a symbolic link.
pub fn snapshot(files: &Files) -> Snapshot {
    let path = |path: &String| RepoPath::parse(path).unwrap();
    let entry = |(at, text): (&String, &String)| {
        let entry = match text.strip_prefix("<link>") {
            Some(target) => Entry::Symlink { target: target.to_owned() },
            None => Entry::File(File::new(text.clone().into_bytes())),
        };
        (path(at), entry)
    };
    let (submodules, files): (Vec<_>, Vec<_>) = files.iter().partition(|(_, text)| *text == SUBMODULE);
    Snapshot::new(files.into_iter().map(entry).collect())
        .with_hollow(submodules.into_iter().map(|(at, _)| path(at)).collect())
}

/// Understands a state.
pub fn model(files: &Files) -> Model {
    let renderer = Lent::default();
    let path = RepoPath::parse(SPEC_FILE).unwrap();
    let known = files.get(SPEC_FILE).map(|text| Known::of(&parse(&path, text.as_bytes()).unwrap().spec));
    Model::read(&snapshot(files), &RepoPath::top(), &known.unwrap_or_default(), &renderer)
}

/// Compares two states at [`NOW`].
pub fn compared(before: &Files, after: &Files) -> Report {
    compared_at(NOW, before, after)
}

/// Compares two states at an instant.
pub fn compared_at(now: &str, before: &Files, after: &Files) -> Report {
    compared_since(now, before, after, &|_| Appeared::Before)
}

/// As [`compared_at`], with what Git tells of since when each file is there.
pub fn compared_since(now: &str, before: &Files, after: &Files, since: &dyn Fn(&str) -> Appeared) -> Report {
    let renderer = Lent::default();
    let spec = |files: &Files| -> Option<Spec> {
        let path = RepoPath::parse(SPEC_FILE).unwrap();
        files.get(SPEC_FILE).map(|text| parse(&path, text.as_bytes()).unwrap().spec)
    };
    let (old, new) = (spec(before), spec(after));
    let has_spec = old.is_some();
    // As the command does, where only the newer one has a spec.
    let old = old.or_else(|| new.clone());
    let before_files = before;
    let (before, after) = (snapshot(before), snapshot(after));
    let known = |spec: &Option<Spec>| spec.as_ref().map(Known::of).unwrap_or_default();
    let model =
        |snapshot: &Snapshot, known: &Known| Model::read(snapshot, &RepoPath::top(), known, &renderer);
    let old_model = model(&before, &known(&old).before(&after));
    let mut new_model = model(&after, &known(&new).after(World { snapshot: &before, model: &old_model }));
    new_model.keep_unread(&old_model);
    let now = now.parse().unwrap();
    let tree = |world, spec| Tree::new(world, spec).by_its_gates(now);
    let old = tree(World { snapshot: &before, model: &old_model }, old.as_ref());
    let old =
        old.with_history(now, &Told { files: before_files, since, model: &old_model, renderer: &renderer });
    let new = tree(World { snapshot: &after, model: &new_model }, new.as_ref());
    let new = new.in_place_of(&old, now);
    let clock = Clock { before: old, after: new, now };
    let templates = Templates::new(BTreeMap::new()).unwrap();
    let standard = || Standard {
        warnings: Vec::new(),
        templates: Some(&templates),
        now: clock.now,
        options: SpecLintOptions::default(),
    };
    let standards = Some(Standards { before: standard(), after: standard(), has_spec });
    let question = Question { base: "base".to_owned(), head: None, broken: None, standards };
    report(question, &clock, &renderer)
}

/// Asks when a change of the files of a Flux Kustomization lands, at one instant of a merge after another.
pub fn asked<T>(files: &Files, name: &str, ask: impl FnOnce(&dyn Fn(Timestamp) -> Landing) -> T) -> T {
    let path = RepoPath::parse(SPEC_FILE).unwrap();
    let spec = files.get(SPEC_FILE).map(|text| parse(&path, text.as_bytes()).unwrap().spec);
    let (snapshot, model) = (snapshot(files), model(files));
    let world = World { snapshot: &snapshot, model: &model };
    let at = |now: Timestamp| {
        let before = Tree::new(world, spec.as_ref());
        let after = Tree::new(world, spec.as_ref()).in_place_of(&before, now);
        let one = || after.find("one", "", ("flux-system", name));
        let pair = Pair {
            cluster: "one".to_owned(),
            before: one(),
            after: one(),
            old: Ok(Vec::new()),
            new: Ok(Vec::new()),
            unsaid: None,
            part: Part::Whole,
        };
        Clock { before, after, now }.lands(&pair, &Wanted::new(&Lent::default()))
    };
    ask(&at)
}

/// Returns what nothing has closed yet at an instant, with what Git tells of since when each file is there.
pub fn unclosed_since(now: &str, files: &Files, since: &dyn Fn(&str) -> Appeared) -> Unclosed {
    let renderer = Lent::default();
    let path = RepoPath::parse(SPEC_FILE).unwrap();
    let spec = parse(&path, files[SPEC_FILE].as_bytes()).unwrap().spec;
    let snapshot = snapshot(files);
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::of(&spec), &renderer);
    let now = now.parse().unwrap();
    let tree = Tree::new(World { snapshot: &snapshot, model: &model }, Some(&spec));
    tree.with_history(now, &Told { files, since, model: &model, renderer: &renderer }).unclosed(now)
}

/// What each file tells of since when it is there.
struct Told<'a> {
    files: &'a Files,
    since: &'a dyn Fn(&str) -> Appeared,
    model: &'a Model,
    renderer: &'a Lent,
}

impl History for Told<'_> {
    fn states(&self, _: Timestamp) -> Option<Vec<State>> {
        let all: Vec<Appeared> = self.files.keys().map(|file| (self.since)(file)).collect();
        let at = |one: &Appeared| if let Appeared::At(at) = one { Some(*at) } else { None };
        let instants: BTreeSet<Timestamp> = all.iter().filter_map(at).collect();
        let state = |since, at: Timestamp| State { since, commit: Some(at.to_string()) };
        let later = instants.into_iter().map(|at| state(Appeared::At(at), at));
        let edited =
            all.contains(&Appeared::Nowhere).then_some(State { since: Appeared::Nowhere, commit: None });
        let first = state(Appeared::Before, Timestamp::MIN);
        (!all.contains(&Appeared::Unknown)).then(|| [first].into_iter().chain(later).chain(edited).collect())
    }

    fn states_of(&self, _: &BTreeSet<RepoPath>, since: Timestamp) -> Option<Vec<State>> {
        self.states(since)
    }

    fn model(&self, commit: &str) -> Option<Rc<Model>> {
        let at: Timestamp = commit.parse().unwrap();
        let is_there = |file: &str| match (self.since)(file) {
            Appeared::Before => true,
            Appeared::At(since) => since <= at,
            _ => false,
        };
        let files = self.files.iter().filter(|(file, _)| is_there(file));
        let files = files.map(|(file, text)| (file.clone(), text.clone())).collect();
        Some(Rc::new(self.model.again(&snapshot(&files), self.renderer)))
    }

    fn appeared(&self, files: &BTreeSet<RepoPath>, _: Timestamp) -> BTreeMap<RepoPath, Appeared> {
        files.iter().map(|file| (file.clone(), (self.since)(file.as_str()))).collect()
    }
}

/// The findings about some topics, a line each: the topic, the code, and what happens.
pub fn told(report: &Report, topics: &[Topic]) -> Vec<String> {
    let findings = report.findings.iter().filter(|one| topics.contains(&one.topic));
    findings
        .map(|one| {
            let code = one.code.map(|code| format!("{code} ")).unwrap_or_default();
            format!("{} {code}{}", one.topic.as_str(), one.message)
        })
        .collect()
}

/// The codes of `check` that are told, each once.
pub fn codes(report: &Report) -> Vec<&'static str> {
    let mut codes: Vec<&str> = report.findings.iter().filter_map(|one| one.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The objects that change, a line each: kind and name, what becomes of it, and when it lands.
pub fn lines(report: &Report) -> Vec<String> {
    let line = |line: &crate::pr::Line| {
        format!("{}/{} {} {}", line.id.kind, line.id.name, line.kind.as_str(), line.lands.state)
    };
    report.changes.iter().map(line).collect()
}

/// The report for people, without its last paragraph.
pub fn words(report: &Report) -> String {
    let told = crate::pr::text(report);
    told.rsplit_once("\n\n").map(|(told, _)| format!("{told}\n")).unwrap_or_default()
}
