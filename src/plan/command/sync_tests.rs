//! What `sync` says of gates that the spec no longer wants.

use std::collections::BTreeMap;

use super::*;
use crate::delivery::{Known, Model};
use crate::diagnostic;
use crate::plan::edit::generated::with_header;
use crate::plan::gate::Late;
use crate::render::Lent;
use crate::repo::{File, Snapshot};
use crate::spec::Spec;

const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: saturday } }
windows: { saturday: { timeZone: Etc/UTC, open: 0 22 * * SAT, close: 0 2 * * SUN } }
clusters: { one: {}, two: {} }
rules: [{ kind: ConfigMap, type: rt }, { type: rw }]
gate: { enabled: true, namespace: flux-system }
";

/// Two clusters, of which each has one app; `list` stands beside the root of each.
fn files(list: &str) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut put = |path: String, text: String| {
        snapshot.insert(RepoPath::parse(&path).unwrap(), File::new(text.into_bytes()));
    };
    let flux = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: \
             flux-system\nspec:\n  interval: 5m\n  path: ./{path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    \
             name: flux-system\n"
        )
    };
    for cluster in ["one", "two"] {
        let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: \
                      flux-system }\nspec: { interval: 1m, url: 'https://example.org/fleet', ref: { branch: main } }\n---\n";
        put(
            format!("clusters/{cluster}/gotk-sync.yaml"),
            format!("{source}{}", flux("flux-system", &format!("clusters/{cluster}"))),
        );
        put(format!("clusters/{cluster}/apps.yaml"), flux("apps", &format!("apps/{cluster}")));
        if !list.is_empty() {
            put(format!("clusters/{cluster}/kustomization.yaml"), list.replace("CLUSTER", cluster));
        }
        put(format!("apps/{cluster}/kustomization.yaml"), "resources: [service.yaml]\n".to_owned());
        put(
            format!("apps/{cluster}/service.yaml"),
            "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: shop }\n".to_owned(),
        );
    }
    snapshot
}

fn spec(text: &str) -> Spec {
    spec::parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec
}

fn planned(snapshot: &Snapshot, text: &str, options: SyncOptions) -> Result<Plan, Error> {
    let (spec, renderer) = (spec(text), Lent::default());
    let model = Model::read(snapshot, &RepoPath::top(), &Known::of(&spec), &renderer);
    let input = Input { spec: &spec, snapshot, model: &model, renderer: &renderer };
    sync(&input, &Templates::new(BTreeMap::new()).unwrap(), options)
}

fn synced(snapshot: &Snapshot, text: &str) -> Snapshot {
    planned(snapshot, text, SyncOptions::default()).unwrap().changes.apply(snapshot)
}

/// What a plan changes and says.
fn shown(snapshot: &Snapshot, text: &str, options: SyncOptions) -> String {
    let (files, told) = match planned(snapshot, text, options) {
        Ok(plan) => (plan.changes.apply(snapshot).differing(snapshot), plan.remarks),
        Err(error) => (BTreeSet::new(), error.diagnostics),
    };
    let files: Vec<String> = files.iter().map(|file| format!("writes {file}\n")).collect();
    format!("{}{}", files.concat(), diagnostic::render(&told, false, 100))
}

/// What is said with and without leave to delete, and to write what has to come while a window is open.
fn said(snapshot: &Snapshot, text: &str) -> String {
    let option = |allow_deletion, is_written| SyncOptions {
        allow_deletion,
        late: if is_written { Late::Written } else { Late::Refused },
    };
    let ways =
        [("", option(false, false)), ("--allow-deletion", option(true, false)), ("both", option(true, true))];
    let told = ways.map(|(name, options)| format!("# sync {name}\n{}", shown(snapshot, text, options)));
    told.join("\n")
}

const FOLLOW: &str = "enabled: true, mechanism: follow, every: 5m, from: 2026-11-01, through: 2026-12-01";

/// A list of the root: the gate gets a Flux Kustomization of its own.
const LIST: &str = "resources: [gotk-sync.yaml, apps.yaml]\n";

#[test]
fn a_cluster_that_leaves_the_spec_with_its_gate() {
    let gone = |text: &str| text.replace(", two: {}", "");
    insta::assert_snapshot!("suspend", said(&synced(&files(""), SPEC), &gone(SPEC)));
    let follow = SPEC.replace("enabled: true", FOLLOW);
    insta::assert_snapshot!("follow", said(&synced(&files(""), &follow), &gone(&follow)));
    insta::assert_snapshot!("listed", said(&synced(&files(LIST), &follow), &gone(&follow)));
}

#[test]
fn the_last_window_leaves_the_spec_and_the_gates_stay() {
    let gone =
        |text: &str| text.replace(", rw: { window: saturday }", "").replace("{ type: rw }", "{ type: rt }");
    insta::assert_snapshot!("windowless_suspend", said(&synced(&files(""), SPEC), &gone(SPEC)));
    let follow = SPEC.replace("enabled: true", FOLLOW);
    insta::assert_snapshot!("windowless_follow", said(&synced(&files(""), &follow), &gone(&follow)));
}

#[test]
fn a_cluster_with_roots_gets_no_second_gate_under_another_name() {
    let rooted = |name: &str| {
        SPEC.replace(
            "two: {}",
            &format!("{name}: {{ roots: [clusters/two], paths: [clusters/two, apps/two] }}"),
        )
    };
    let gated = synced(&files(""), &rooted("two"));
    insta::assert_snapshot!(shown(&gated, &rooted("zwei"), SyncOptions::default()));
}

/// Whether what applies the root prunes is not in Git.
#[test]
fn a_gate_goes_from_a_root_that_nothing_in_git_applies() {
    let mut files = files(LIST);
    for cluster in ["one", "two"] {
        let sync = RepoPath::parse(&format!("clusters/{cluster}/gotk-sync.yaml")).unwrap();
        let text = files.file(&sync).unwrap().text().unwrap().split("---\n").next().unwrap().to_owned();
        files.insert(sync, File::new(text.into_bytes()));
    }
    let rooted = SPEC.replace("two: {}", "two: { roots: [clusters/two], paths: [clusters/two, apps/two] }");
    let gone = rooted.replace("two: { ", "two: { hasGate: false, ");
    let option = SyncOptions { allow_deletion: true, ..SyncOptions::default() };
    insta::assert_snapshot!(shown(&synced(&files, &rooted), &gone, option));
}

/// Each cluster reads its apps from a source that fetches nothing else.
fn narrow() -> Snapshot {
    let mut files = files(LIST);
    for cluster in ["one", "two"] {
        let path = RepoPath::parse(&format!("clusters/{cluster}/apps.yaml")).unwrap();
        let text =
            files.file(&path).unwrap().text().unwrap().replace("    name: flux-system", "    name: apps");
        let source = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: apps, namespace: \
                      flux-system }\nspec: { interval: 1m, url: 'https://example.org/fleet', ref: { branch: main }, ignore: \
                      \"/*\\n!/apps\\n\" }\n";
        files.insert(path, File::new(format!("{text}{source}").into_bytes()));
    }
    files
}

#[test]
fn a_gate_is_read_from_a_source_that_fetches_it() {
    let gate = RepoPath::parse("clusters/one/reconciliation-windows.yaml").unwrap();
    let synced = synced(&narrow(), SPEC);
    let right = synced.file(&gate).unwrap().text().unwrap().to_owned();
    assert!(right.ends_with("    kind: GitRepository\n    name: flux-system\n"), "{right}");
}

/// As an older release wrote it.
#[test]
fn a_gate_that_reads_a_source_without_it_is_mended() {
    let gate = RepoPath::parse("clusters/one/reconciliation-windows.yaml").unwrap();
    let right = synced(&narrow(), SPEC);
    let text = right.file(&gate).unwrap().text().unwrap().to_owned();
    let body = text.split_once('\n').unwrap().1.replace("name: flux-system\n", "name: apps\n");
    let body = body.replace("name: apps\nspec", "name: flux-system\nspec");
    assert!(body.ends_with("    kind: GitRepository\n    name: apps\n"), "{body}");
    let mut wrong = right.clone();
    wrong.insert(gate.clone(), File::new(with_header(&body).into_bytes()));
    assert_eq!(synced(&wrong, SPEC).file(&gate).unwrap().text(), Some(&*text));
    // What people wrote is theirs.
    let theirs = with_header(&body) + "# mine\n";
    wrong.insert(gate.clone(), File::new(theirs.clone().into_bytes()));
    assert_eq!(synced(&wrong, SPEC).file(&gate).unwrap().text(), Some(&*theirs));
}

#[test]
fn a_gate_that_no_source_fetches_is_refused() {
    let mut files = narrow();
    for cluster in ["one", "two"] {
        files.insert(
            RepoPath::parse(&format!("clusters/{cluster}/gotk-sync.yaml")).unwrap(),
            File::new(&b""[..]),
        );
    }
    let rooted =
        SPEC.replace("one: {}, two: {}", "one: { roots: [clusters/one], paths: [clusters/one, apps/one] }");
    insta::assert_snapshot!(shown(&files, &rooted, SyncOptions::default()), @r"
    error: GitRepository apps does not fetch clusters/one/infra/reconciliation-windows/kustomization.yaml of the gate: `/*` in `spec.ignore` of its source leaves it out. No other source in Git does
      --> clusters/one/apps.yaml:11:5
       |
    11 |     kind: GitRepository
       |     ^^^^^^^^^^^^^^^^^^^
       |
       = help: commit what `flux bootstrap` wrote, so that its source is known
               or add `!/clusters/one/infra/reconciliation-windows` below `/*` in `spec.ignore`, or remove that line
               or name folders that Flux fetches under `layout`
    ");
}

/// No rule gives a window to what another repository holds, or to what only applies Flux Kustomizations.
#[test]
fn what_can_have_no_window_is_not_told_to_get_one() {
    let mut snapshot = files("resources: [gotk-sync.yaml, apps.yaml, more.yaml]\n");
    let put = |snapshot: &mut Snapshot, path: &str, text: &str| {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    };
    let waiter = |path: &str, source: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: more, namespace: flux-system }}\nspec:\n  dependsOn: [{{ name: apps }}]\n  interval: 5m\n  path: {path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: {source} }}\n"
        )
    };
    let child = waiter("./deploy", "other")
        .replace("name: more,", "name: child,")
        .replace("  dependsOn: [{ name: apps }]\n", "");
    let other = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: other, namespace: flux-system }\nspec: { interval: 1m, url: 'https://example.org/other' }\n";
    put(&mut snapshot, "clusters/one/more.yaml", &(waiter("./deploy", "other") + other));
    put(&mut snapshot, "clusters/two/more.yaml", &(waiter("./more", "flux-system") + other));
    put(&mut snapshot, "more/kustomization.yaml", "resources: [child.yaml]\n");
    put(&mut snapshot, "more/child.yaml", &child);
    insta::assert_snapshot!(shown(&snapshot, SPEC, SyncOptions::default()), @r"
    warning: no gate suspends Flux Kustomization apps of cluster one: real-time more depends on it. Its changes land at once, although all of its objects have a window
     --> clusters/one/more.yaml:5:23
      |
    5 |   dependsOn: [{ name: apps }]
      |                       ^^^^
      |
      = help: remove apps from the `dependsOn` of more
              or let the gate hold a source: `mechanism: follow` under `gate`

    warning: no gate suspends Flux Kustomization apps of cluster two: ungated more depends on it. Its changes land at once, although all of its objects have a window
     --> clusters/two/more.yaml:5:23
      |
    5 |   dependsOn: [{ name: apps }]
      |                       ^^^^
      |
      = help: remove apps from the `dependsOn` of more
              or let the gate hold a source: `mechanism: follow` under `gate`
    ");
    // Of objects in this repository a rule may say so.
    put(
        &mut snapshot,
        "more/child.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more, namespace: shop }\n",
    );
    let told = shown(&snapshot, SPEC, SyncOptions::default());
    assert!(told.contains("or give all objects of more a window too"), "{told}");
}

/// Of several commits the first run may not know the newest.
#[test]
fn what_begins_to_read_a_held_source_together_is_told_to_come_in_an_open_window() {
    let mut snapshot = files("resources: [gotk-sync.yaml, apps.yaml, more.yaml]\n");
    let text = SPEC.replace(
        "gate: { enabled: true,",
        "gate: { enabled: true, mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-01-31,",
    );
    for (cluster, folder) in [("one", "more"), ("two", "apps/two")] {
        let own = snapshot.file(&RepoPath::parse("clusters/two/apps.yaml").unwrap()).unwrap();
        let own = own
            .text()
            .unwrap()
            .replace("name: apps", "name: more")
            .replace("./apps/two", &format!("./{folder}"));
        let empty = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: none, namespace: shop }\n".to_owned();
        let file = RepoPath::parse(&format!("clusters/{cluster}/more.yaml")).unwrap();
        snapshot.insert(file, File::new(if cluster == "one" { own } else { empty }.into_bytes()));
    }
    for (path, text) in [
        ("more/kustomization.yaml", "resources: [service.yaml]\n"),
        ("more/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: { name: more, namespace: shop }\n"),
    ] {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    let told = shown(&snapshot, &text, SyncOptions::default());
    let told = told.split_once("note: flux-system-rw").unwrap().1;
    insta::assert_snapshot!(told, @r"
     of cluster one begins at the commit that apps, more have applied. If these differ, its first run may fail
     --> windows.yaml
     = help: let this reach the cluster while the window is open
             or merge nothing else before that run; where it fails, `gitops-windows status` says what to do
    ");
    let after = synced(&snapshot, &text);
    assert!(!shown(&after, &text, SyncOptions::default()).contains("first run"));
}

/// What a held one brings begins after the first run.
#[test]
fn what_a_held_one_brings_does_not_begin_together_with_it() {
    let mut snapshot = files(LIST);
    let more = snapshot.file(&RepoPath::parse("clusters/one/apps.yaml").unwrap()).unwrap().text().unwrap();
    let more = more.replace("name: apps", "name: more").replace("./apps/one", "./more");
    for (path, text) in [
        ("apps/one/kustomization.yaml", "resources: [service.yaml, more.yaml]\n"),
        ("apps/one/more.yaml", more.as_str()),
        ("more/kustomization.yaml", "resources: [service.yaml]\n"),
        ("more/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: { name: more, namespace: shop }\n"),
    ] {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    let options = SyncOptions { late: Late::Written, ..SyncOptions::default() };
    let told = shown(&snapshot, &SPEC.replace("enabled: true", FOLLOW), options);
    assert!(
        told.contains("more of cluster one will read GitRepository flux-system-rw once gated apps"),
        "{told}"
    );
    assert!(!told.contains("first run"), "{told}");
}

/// A list may let all that stands in it wait for what the gate holds back: nothing could open that again from Git.
#[test]
fn a_gate_does_not_stand_where_it_would_wait_for_what_it_holds() {
    let list = |waits: &str| {
        let patch = format!(
            "- target: {{ kind: Kustomization }}\n  patch: '[{{\"op\": \"add\", \"path\": \"/spec/dependsOn\", \"value\": [{{\"name\": \"{waits}\"}}]}}]'\n"
        );
        format!("resources: [apps.yaml]\npatches:\n{patch}")
    };
    let placed = |waits: &str| {
        let mut tree = files("resources: [gotk-sync.yaml, flux, db.yaml]\n");
        for cluster in ["one", "two"] {
            let (from, to) =
                (format!("clusters/{cluster}/apps.yaml"), format!("clusters/{cluster}/flux/apps.yaml"));
            let file = tree.file(&RepoPath::parse(&from).unwrap()).cloned().unwrap();
            let db = file.text().unwrap().replace("name: apps", "name: db").replace("apps/", "db/");
            tree.remove(&RepoPath::parse(&from).unwrap());
            tree.insert(RepoPath::parse(&to).unwrap(), file);
            let mut put = |path: String, text: &str| {
                tree.insert(RepoPath::parse(&path).unwrap(), File::new(text.as_bytes()));
            };
            put(format!("clusters/{cluster}/flux/kustomization.yaml"), &list(waits));
            put(format!("clusters/{cluster}/db.yaml"), &db);
            put(
                format!("db/{cluster}/service.yaml"),
                "apiVersion: v1\nkind: Service\nmetadata: { name: db, namespace: shop }\n",
            );
        }
        let after = synced(&tree, SPEC);
        let stands = |folder: &str| {
            after.file(&RepoPath::parse(&format!("{folder}/reconciliation-windows.yaml")).unwrap()).is_some()
        };
        ["clusters/one", "clusters/one/flux"].map(stands)
    };
    assert_eq!(placed("db"), [true, false]);
}

const COMPONENTS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: kustomizations.kustomize.toolkit.fluxcd.io, labels: { app.kubernetes.io/version: v0.40.2 } }
spec:
  group: kustomize.toolkit.fluxcd.io
  names: { kind: Kustomization, plural: kustomizations }
  versions:
  - { name: v1beta1, served: true, schema: { openAPIV3Schema: { type: object } } }
  - { name: v1beta2, served: true, schema: { openAPIV3Schema: { type: object } } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: kustomize-controller, namespace: flux-system }
spec: { template: { spec: { containers: [{ name: manager, args: [--default-service-account=default] }] } } }
";

/// The cluster takes what applies its gate, and lets it apply that.
#[test]
fn what_applies_a_gate_is_of_a_version_and_an_account_of_its_cluster() {
    let list = "resources: [gotk-sync.yaml, apps.yaml]\n";
    let patch = "resources: [gotk-sync.yaml, apps.yaml, gotk-components.yaml]\npatches:\n- target: { kind: Kustomization, name: flux-system }\n  patch: '[{ \"op\": \"add\", \"path\": \"/spec/serviceAccountName\", \"value\": \"kustomize-controller\" }]'\n";
    let put = |snapshot: &mut Snapshot, path: &str, text: &str| {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes().to_vec()));
    };
    let written = |snapshot: &Snapshot| {
        let path = RepoPath::parse("clusters/one/reconciliation-windows.yaml").unwrap();
        snapshot.file(&path).unwrap().text().unwrap().to_owned()
    };
    let mut locked = files(list);
    put(&mut locked, "clusters/one/gotk-components.yaml", COMPONENTS);
    put(&mut locked, "clusters/one/kustomization.yaml", patch);
    let text = written(&synced(&locked, SPEC));
    assert!(text.contains("\napiVersion: kustomize.toolkit.fluxcd.io/v1beta2\n"), "{text}");
    assert!(text.contains("\n  serviceAccountName: kustomize-controller\n"), "{text}");
    // One that was written before the cluster was locked down, and for a newer Flux.
    let mut older = synced(&files(list), SPEC);
    assert!(written(&older).contains("/v1\n") && !written(&older).contains("serviceAccountName"));
    put(&mut older, "clusters/one/gotk-components.yaml", COMPONENTS);
    let path = RepoPath::parse("clusters/one/kustomization.yaml").unwrap();
    let listed = older.file(&path).unwrap().text().unwrap().replace("resources:", "patches:\n- target: { kind: Kustomization, name: flux-system }\n  patch: '[{ \"op\": \"add\", \"path\": \"/spec/serviceAccountName\", \"value\": \"kustomize-controller\" }]'\nresources:").replace("[", "[gotk-components.yaml, ").replace("'[gotk-components.yaml, ", "'[");
    put(&mut older, "clusters/one/kustomization.yaml", &listed);
    assert_eq!(written(&synced(&older, SPEC)), text, "{listed}");
}

/// As `split` does, which writes the same version.
#[test]
fn a_flux_kustomization_of_an_old_version_gets_the_newer_one_as_it_begins_to_read_a_held_source() {
    let path = RepoPath::parse("clusters/one/apps.yaml").unwrap();
    let old = |more: &str| {
        let mut old = files("");
        let text = old.file(&path).unwrap().text().unwrap();
        let text =
            text.replace("fluxcd.io/v1", "fluxcd.io/v1beta2").replace("  prune", &format!("{more}  prune"));
        old.insert(path.clone(), File::new(text.into_bytes()));
        old
    };
    let follow = SPEC.replace("enabled: true", FOLLOW);
    let after = synced(&old(""), &follow);
    insta::assert_snapshot!(after.file(&path).unwrap().text().unwrap());
    insta::assert_snapshot!(shown(&old("  validation: client\n"), &follow, SyncOptions::default()));
}
