//! What is found beside a spec only.

use std::collections::BTreeMap;

use super::repository::{Files, together, told};
use crate::check::{Former, Subject, audit, generated};
use crate::delivery::Input;
use crate::delivery::Known;
use crate::delivery::Model;
use crate::diagnostic::{Diagnostic, Severity};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::with_header;
use crate::plan::gate;
use crate::render::Lent;
use crate::repo::Snapshot;
use crate::spec::{Spec, parse};
use crate::template::Templates;

pub const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: week } }
windows: { week: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN } }
clusters: { edge: {} }
rules: [{ kind: ConfigMap, type: rt }, { type: rw }]
flux: { namespace: flux-system, source: { kind: GitRepository, name: flux-system } }
gate: { enabled: true, namespace: jobs }
";

pub fn files() -> Files {
    let flux = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
             flux-system }}\nspec:\n  interval: 5m\n  path: ./clusters/edge/{path}\n  prune: true\n  sourceRef: {{ kind: \
             GitRepository, name: flux-system }}\n---\n"
        )
    };
    let object = |kind: &str, name: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: shop }}\n")
    };
    let all =
        [flux("infra", "infra"), flux("apps-rt", "apps/apps-rt"), flux("apps-rw", "apps/apps-rw")].concat();
    BTreeMap::from(
        [
            ("clusters/edge/flux.yaml", all),
            ("clusters/edge/infra/kustomization.yaml", "resources: [../../../infra]\n".to_owned()),
            ("infra/kustomization.yaml", "resources: [notes.yaml]\n".to_owned()),
            ("infra/notes.yaml", object("ConfigMap", "notes")),
            (
                "clusters/edge/apps/apps-rt/kustomization.yaml",
                "resources: [../../../../apps/web/rt]\n".to_owned(),
            ),
            (
                "clusters/edge/apps/apps-rw/kustomization.yaml",
                "resources: [../../../../apps/web/rw]\n".to_owned(),
            ),
            ("apps/web/rt/kustomization.yaml", "resources: [settings.yaml]\n".to_owned()),
            ("apps/web/rt/settings.yaml", object("ConfigMap", "settings")),
            ("apps/web/rw/kustomization.yaml", "resources: [service.yaml]\n".to_owned()),
            ("apps/web/rw/service.yaml", object("Service", "web")),
        ]
        .map(|(path, text)| (path.to_owned(), text)),
    )
}

pub fn spec(text: &str) -> Spec {
    parse(&RepoPath::parse("p000/windows.yaml").unwrap(), text.as_bytes()).unwrap().spec
}

/// Returns what `look` finds in the repository with one more file.
pub fn with<T>(snapshot: &Snapshot, spec: &Spec, look: impl Fn(&Input<'_>) -> T) -> T {
    let renderer = Lent::default();
    let model = Model::read(snapshot, &spec.folder(), &Known::default(), &renderer);
    look(&Input { spec, snapshot, model: &model, renderer: &renderer })
}

fn audited(path: &str, text: &str) -> Vec<String> {
    let mut files = files();
    files.insert(path.to_owned(), text.to_owned());
    let found = with(&together(&[files]), &spec(SPEC), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
    });
    told(found, 1).remove(0).0
}

#[test]
fn sides_that_nothing_applies() {
    let all = files().remove("clusters/edge/flux.yaml").unwrap();
    let infra = all.split_inclusive("---\n").next().unwrap();
    let told = audited("clusters/edge/flux.yaml", infra);
    assert_eq!(told, ["GW052 clusters/edge/apps/apps-rt/kustomization.yaml:0"]);
    // With one of them people may have left the other type out.
    let some = all.split_inclusive("---\n").take(2).collect::<String>();
    let told = audited("clusters/edge/flux.yaml", &some);
    assert!(!told.iter().any(|told| told.starts_with("GW052")), "{told:?}");
    assert_eq!(audited("clusters/edge/flux.yaml", ""), Vec::<String>::new());
}

/// A copied cluster whose entry point has its name keeps the folders of the sides of the other one.
#[test]
fn sides_that_are_named_after_another_folder() {
    let found = |from: &str, to: &str| {
        let files = files().into_iter().map(|(path, text)| (path.replace(from, to), text.replace(from, to)));
        let files = files.collect::<Files>();
        with(&together(&[files]), &spec(SPEC), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            let all = audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap());
            all.into_iter().filter(|one| one.code == Some("GW072")).collect::<Vec<_>>()
        })
    };
    let told = found("apps/apps-", "shop/apps-");
    let [one] = &told[..] else { panic!("{told:#?}") };
    insta::assert_snapshot!(format!("{}\n{}", one.message, one.help.as_deref().unwrap_or_default()), @r"
    apps-rt, apps-rw in p000/clusters/edge/shop have names of sides of `apps`. So apps has no sides here: each is an entry point of its own
    1. run `git mv p000/clusters/edge/shop/apps-rt p000/clusters/edge/shop/shop-rt` and `git mv p000/clusters/edge/shop/apps-rw p000/clusters/edge/shop/shop-rw`
    2. write these folders into `spec.path` of the Flux Kustomizations
    3. run `gitops-windows sync`
    ");
    for (from, to) in
        [("apps/apps-", "apps/apps-"), ("apps/apps-rt", "shop/apps-rt"), ("apps/apps-", "shop/")]
    {
        assert_eq!(found(from, to), [], "{to}");
    }
}

#[test]
fn patches_of_what_flux_lists_by_itself() {
    let flux = |name: &str, role: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system \
             }}\nspec:\n  interval: 5m\n  path: ./{name}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: \
             flux-system }}\n  patches:\n  - target: {{ labelSelector: role={role} }}\n    patch: |-\n      - {{ op: add, \
             path: /metadata/labels/x, value: y }}\n"
        )
    };
    let told = |role: &str| {
        let mut files = files();
        for name in ["tenants", "listed"] {
            files.insert(
                format!("clusters/edge/{name}.yaml"),
                flux(name, if name == "tenants" { role } else { "a" }),
            );
            let labelled = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: shop, labels: {{ role: a }} }}\n"
            );
            files.insert(format!("{name}/one.yaml"), labelled);
        }
        files.insert("listed/kustomization.yaml".to_owned(), "resources: [one.yaml]\n".to_owned());
        let found = with(&together(&[files]), &spec(SPEC), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
        });
        told(found, 1).remove(0).0
    };
    assert_eq!(told("a"), Vec::<String>::new());
    assert_eq!(told("b"), ["GW014 clusters/edge/tenants.yaml:10"]);
}

#[test]
fn objects_on_the_side_of_another_type() {
    let list = |kind: &str, name: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: shop }}\n")
    };
    assert_eq!(audited("README.md", ""), Vec::<String>::new());
    let late = list("ConfigMap", "settings") + "---\n" + &list("Service", "zz");
    assert_eq!(audited("apps/web/rt/settings.yaml", &late), ["GW008 apps/web/rt/settings.yaml:7"]);
    let early = list("Service", "web") + "---\n" + &list("ConfigMap", "zz");
    assert_eq!(audited("apps/web/rw/service.yaml", &early), ["GW045 apps/web/rw/service.yaml:7"]);
    let both = list("ConfigMap", "settings") + "---\n" + &list("ConfigMap", "zz");
    assert_eq!(audited("apps/web/rt/settings.yaml", &both), Vec::<String>::new());
}

#[test]
fn two_types_that_wait_are_not_said_to_land_at_once() {
    let mut files = files();
    for (name, value) in [("r", 1), ("rw", 2)] {
        let object = format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{ name: web, namespace: shop, labels: {{ a: '{value}' }} }}\n"
        );
        files.insert(format!("apps/web/{name}/service.yaml"), object);
    }
    files.insert("apps/web/r/kustomization.yaml".to_owned(), "resources: [service.yaml]\n".to_owned());
    files.insert(
        "clusters/edge/apps/apps-r/kustomization.yaml".to_owned(),
        "resources: [../../../../apps/web/r]\n".to_owned(),
    );
    let flux = files["clusters/edge/flux.yaml"].replace("apps-rt", "apps-r");
    files.insert("clusters/edge/more.yaml".to_owned(), flux.split("---\n").nth(1).unwrap().to_owned());
    let text = SPEC.replace("rt: {}, rw", "rt: {}, r: { window: week }, rw");
    let found = with(&together(&[files]), &spec(&text), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
    });
    let overwritten = found.iter().find(|finding| finding.code == Some("GW010")).unwrap();
    assert_eq!(
        overwritten.message,
        "apps-r and apps-rw apply Service shop/web with different content. apps-r applies it in the windows of type \
         `r`, and apps-rw overwrites it when type `rw` opens"
    );
}

#[test]
fn what_lands_at_once_by_its_type_needs_no_gate_where_another_applies_it() {
    let told = |objects: &[(&str, &str)], has_gate: bool| {
        let mut files = files();
        if has_gate {
            let gate = "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: close, namespace: jobs }\nspec:\n  schedule: 0 17 * * MON\n  jobTemplate: { spec: { template: { spec: { containers: [{ name: gate, image: cli, command: [flux, suspend, kustomization, apps-rw, -n, flux-system] }] } } } }\n";
            files.insert("infra/gate.yaml".to_owned(), gate.to_owned());
            let list = "resources: [notes.yaml, gate.yaml]\n".to_owned();
            files.insert("infra/kustomization.yaml".to_owned(), list);
        }
        let inner = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: inner, namespace: flux-system }\nspec: { interval: 5m, path: ./clusters/edge/inner, sourceRef: { kind: GitRepository, name: flux-system } }\n";
        files.insert("apps/web/rw/inner.yaml".to_owned(), inner.to_owned());
        let list = "resources: [service.yaml, inner.yaml]\n".to_owned();
        files.insert("apps/web/rw/kustomization.yaml".to_owned(), list);
        files.insert(
            "clusters/edge/inner/kustomization.yaml".to_owned(),
            "resources: [all.yaml]\n".to_owned(),
        );
        let object = |(kind, name): &(&str, &str)| {
            format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: shop }}\n")
        };
        files.insert("clusters/edge/inner/all.yaml".to_owned(), objects.iter().map(object).collect());
        let found = with(&together(&[files]), &spec(SPEC), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
        });
        found.iter().any(|finding| finding.code == Some("GW021"))
    };
    assert!(!told(&[("ConfigMap", "a"), ("ConfigMap", "b")], true));
    assert!(told(&[("ConfigMap", "a"), ("Service", "b")], true));
    // Nothing holds the manifest back either.
    assert!(!told(&[("ConfigMap", "a"), ("Service", "b")], false));
}

#[test]
fn a_gate_turns_what_a_component_names_by_a_variable() {
    let told = |gated: &str| {
        let mut files = files();
        let inner = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: '${APP}-db', namespace: flux-system }\nspec: { interval: 5m, path: ./db, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
        files.insert("apps/web/rw/db.yaml".to_owned(), inner.to_owned());
        let list = files["apps/web/rw/kustomization.yaml"].replace("resources: [", "resources: [db.yaml, ");
        files.insert("apps/web/rw/kustomization.yaml".to_owned(), list);
        let object = |kind: &str| {
            format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {{ name: db, namespace: shop }}\n")
        };
        files.insert("db/all.yaml".to_owned(), object("ConfigMap") + &object("Service"));
        let gate = format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: close, namespace: jobs }}\nspec:\n  schedule: 0 4 * * SUN\n  jobTemplate: {{ spec: {{ template: {{ spec: {{ containers: [{{ name: gate, image: cli, command: [flux, suspend, kustomization, {gated}, -n, flux-system] }}] }} }} }} }}\n"
        );
        files.insert("infra/gate.yaml".to_owned(), gate);
        files
            .insert("infra/kustomization.yaml".to_owned(), "resources: [notes.yaml, gate.yaml]\n".to_owned());
        let flux = files["clusters/edge/flux.yaml"].clone();
        let (rt, rw) = flux.split_once("name: apps-rw").unwrap();
        let rw = rw.replacen("spec:", "spec:\n  postBuild: { substitute: { APP: web } }", 1);
        files.insert("clusters/edge/flux.yaml".to_owned(), format!("{rt}name: apps-rw{rw}"));
        let found = with(&together(&[files]), &spec(SPEC), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
        });
        let found = found.into_iter().filter(|finding| finding.code == Some("GW021"));
        found.map(|finding| finding.message).collect::<Vec<_>>()
    };
    assert_eq!(told("apps-rw, web-db"), Vec::<String>::new());
    assert_eq!(
        told("apps-rw"),
        [
            "Flux Kustomization web-db lands at once. Only its manifest waits for type `rw`, and no gate suspends it"
        ]
    );
}

#[test]
fn patches_that_successors_share_may_mean_objects_of_any_side() {
    let patched = |kind: &str| {
        let patch = format!(
            "  patches: [{{ target: {{ kind: {kind} }}, patch: '- {{ op: add, path: /metadata/labels, value: {{ a: b }} }}' }}]\n"
        );
        let all = files().remove("clusters/edge/flux.yaml").unwrap();
        let at = |path: &str| format!("  path: ./clusters/edge/apps/{path}\n");
        let with = |text: String, path: &str| text.replace(&at(path), &(at(path) + &patch));
        audited("clusters/edge/flux.yaml", &with(with(all, "apps-rt"), "apps-rw"))
    };
    assert_eq!(patched("ConfigMap"), Vec::<String>::new());
    assert_eq!(patched("Service"), Vec::<String>::new());
    assert_eq!(patched("Job").len(), 2);
}

#[test]
fn what_a_projection_drops_may_be_missing() {
    let body = "resources: [settings.yaml]\npatches:\n- target: { kind: Service }\n  patch: '- { op: add, path: /metadata/labels, value: { a: b } }'\n";
    let list = "apps/web/rt/kustomization.yaml";
    assert_eq!(audited(list, body).len(), 1);
    assert_eq!(audited(list, &with_header(body)), Vec::<String>::new());
}

#[test]
fn what_flux_bootstrap_writes_is_missed_by_a_note() {
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 5m, path: ./clusters/edge, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
    let mut files = files();
    files.insert("clusters/edge/flux-system/gotk-sync.yaml".to_owned(), sync.to_owned());
    let list = "resources: [gotk-components.yaml, gotk-sync.yaml]\n".to_owned();
    files.insert("clusters/edge/flux-system/kustomization.yaml".to_owned(), list);
    let found = with(&together(&[files]), &spec(SPEC), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
    });
    let told: Vec<_> = found.iter().map(|finding| (finding.code, finding.severity)).collect();
    assert_eq!(told, [(Some("GW032"), Severity::Note)]);
}

/// The repository after the gate of a spec was written.
pub fn gated_by(text: &str) -> Snapshot {
    gated(&files(), text)
}

fn gated(files: &Files, text: &str) -> Snapshot {
    let snapshot = together(std::slice::from_ref(files));
    let plan = with(&snapshot, &spec(text), |input| {
        let mut builder = Builder::new(input.snapshot);
        gate::sync_built(input, &Templates::new(BTreeMap::new()).unwrap(), &mut builder, gate::Late::Refused)
            .unwrap();
        builder.finish()
    });
    assert!(plan.changes.files() > 5);
    plan.changes.apply(&snapshot)
}

fn told_of(snapshot: &Snapshot, text: &str) -> Vec<String> {
    let templates = Templates::new(BTreeMap::new()).unwrap();
    told(with(snapshot, &spec(text), |input| generated(input, &templates).findings), 1).remove(0).0
}

#[test]
fn gates_that_the_spec_no_longer_wants_are_told() {
    let gated = gated_by(SPEC);
    let shown = |text: &str| {
        let found = with(&gated, &spec(text), |input| {
            let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
            audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap())
        });
        let found: Vec<_> = found.into_iter().filter(|one| one.code == Some("GW065")).collect();
        crate::diagnostic::render(&found, false, 100)
    };
    assert_eq!(shown(SPEC), "");
    let dropped = shown(&SPEC.replace("{ edge: {} }", "{ other: {} }"));
    let windowless =
        shown(&SPEC.replace(", rw: { window: week }", "").replace("{ type: rw }", "{ type: rt }"));
    insta::assert_snapshot!(format!("{dropped}\n{windowless}"));
}

#[test]
fn generated_files_that_are_behind_the_spec() {
    let gated = gated_by(SPEC);
    assert_eq!(told_of(&gated, SPEC), Vec::<String>::new());
    assert_eq!(told_of(&gated, &SPEC.replace("22 * * SAT", "21 * * SAT")), ["GW047 windows.yaml:0"]);
    // Before the first `sync` there is nothing to be behind.
    assert_eq!(told_of(&together(&[files()]), SPEC), Vec::<String>::new());
}

/// What a rule lets wait says so in other words than what a gate holds back.
#[test]
fn a_gate_that_goes_off_makes_no_old_finding_new() {
    let mut all = files();
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: { name: web, namespace: shop }\nspec: { chart: { spec: { chart: web, version: 1.x, sourceRef: { kind: HelmRepository, name: charts } } } }\n";
    all.insert("apps/web/rw/release.yaml".to_owned(), release.to_owned());
    all.insert(
        "apps/web/rw/kustomization.yaml".to_owned(),
        "resources: [service.yaml, release.yaml]\n".to_owned(),
    );
    let off = SPEC.replace("enabled: true", "enabled: false");
    let (before, after) = (gated(&all, SPEC), gated(&all, &off));
    let now = "2026-01-05T12:00:00Z".parse().unwrap();
    let subject = |input: &Input<'_>, look: &dyn Fn(&Subject<'_>) -> Vec<Diagnostic>| {
        look(&Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer))
    };
    let new = with(&after, &spec(&off), |after| {
        subject(after, &|after| {
            let found = audit(after, now);
            assert!(found.iter().any(|one| one.message.contains("is to wait for")), "{found:?}");
            with(&before, &spec(SPEC), |before| {
                subject(before, &|before| Former::new(before, audit(before, now)).news(found.clone(), after))
            })
        })
    });
    assert!(!new.iter().any(|one| one.code == Some("GW019")), "{new:?}");
}

/// The files that clusters share may keep what only one that is gone needed.
#[test]
fn a_cluster_that_is_retired_leaves_the_others_as_they_are() {
    let mut both = files();
    for (path, text) in files().iter().filter(|(path, _)| path.starts_with("clusters/edge")) {
        let far = |text: &str| {
            text.replace("edge", "far").replace("/apps/apps-", "/shop/shop-").replace(": apps-", ": shop-")
        };
        both.insert(far(path), far(text));
    }
    let (mut found, templates) = (Vec::new(), Templates::new(BTreeMap::new()).unwrap());
    for gone in ["edge", "far"] {
        let mut rest = gated(&both, &SPEC.replace("{ edge: {} }", "{ edge: {}, far: {} }"));
        let folder = RepoPath::parse(&format!("p000/clusters/{gone}")).unwrap();
        let own: Vec<RepoPath> = rest.below(&folder).map(|(path, _)| path.clone()).collect();
        for path in own {
            rest.remove(&path);
        }
        let kept = if gone == "edge" { "{ far: {} }" } else { "{ edge: {} }" };
        let spec = spec(&SPEC.replace("{ edge: {} }", kept));
        found.extend(with(&rest, &spec, |input| generated(input, &templates).findings));
    }
    assert!(!found.is_empty());
    for one in found {
        assert_eq!((one.code, one.severity), (Some("GW047"), Severity::Note), "{one:?}");
    }
}

#[test]
fn generated_files_that_were_edited_by_hand() {
    let mut snapshot = gated_by(SPEC);
    let path = RepoPath::parse("p000/infra/by-hand.yaml").unwrap();
    let text = with_header("a: 1\n");
    snapshot.insert(path.clone(), crate::repo::File::new(text.clone().into_bytes()));
    assert_eq!(told_of(&snapshot, SPEC), Vec::<String>::new());
    snapshot.insert(path, crate::repo::File::new((text + "b: 2\n").into_bytes()));
    assert_eq!(told_of(&snapshot, SPEC), ["GW046 infra/by-hand.yaml:1"]);
}

#[test]
fn what_no_gate_holds_is_told_where_it_can_not_be_built() {
    let with_remote = |mut snapshot: Snapshot| {
        let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: far, namespace: flux-system }\nspec: { interval: 5m, path: ./p000/clusters/edge/far, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
        let list = "resources: ['https://github.com/example/shop//deploy?ref=v1']\n";
        for (path, text) in [("far.yaml", flux), ("far/kustomization.yaml", list)] {
            let path = RepoPath::parse(&format!("p000/clusters/edge/{path}")).unwrap();
            snapshot.insert(path, crate::repo::File::new(text.as_bytes()));
        }
        snapshot
    };
    let gated = with_remote(gated_by(SPEC));
    assert_eq!(told_of(&gated, SPEC), ["GW067 clusters/edge/far.yaml:4"]);
    let templates = Templates::new(BTreeMap::new()).unwrap();
    let found = with(&gated, &spec(SPEC), |input| generated(input, &templates).findings);
    insta::assert_snapshot!(crate::diagnostic::render(&found, false, 200));
    // Without a gate nothing is said that `init` has not said.
    assert_eq!(told_of(&with_remote(together(&[files()])), SPEC), Vec::<String>::new());
}

#[test]
fn what_sync_writes_anew_is_told_once() {
    let mut gone = gated_by(SPEC);
    let flux = RepoPath::parse("p000/clusters/edge/flux.yaml").unwrap();
    let text = gone.file(&flux).unwrap().text().unwrap().to_owned();
    let rest: String = text.split_inclusive("---\n").filter(|one| !one.contains("apps-rw")).collect();
    gone.insert(flux, crate::repo::File::new(rest.into_bytes()));
    let templates = Templates::new(BTreeMap::new()).unwrap();
    let found = with(&gone, &spec(SPEC), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        let audited = audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap());
        assert!(audited.iter().any(|one| one.code == Some("GW005")), "{audited:?}");
        let generated = generated(input, &templates);
        let mut all = generated.without_mended(audited);
        all.extend(generated.findings);
        all
    });
    let codes: Vec<_> = found.iter().filter_map(|one| one.code).collect();
    assert!(codes.contains(&"GW047") && !codes.contains(&"GW005"), "{codes:?}");
}

/// The list of an entry point whose sides were handed over, as a revert of the last step restores it.
#[test]
fn a_list_that_its_sides_have_left_behind() {
    const LIST: &str = "clusters/edge/apps/kustomization.yaml";
    let told = |list: &str| {
        let told = audited(LIST, list);
        told.into_iter().filter(|told| told.starts_with("GW077")).collect::<Vec<_>>()
    };
    let (rt, rw) = ("../../../apps/web/rt", "../../../apps/web/rw");
    assert_eq!(told(&format!("resources: [{rt}, {rw}]\n")), Vec::<String>::new());
    // What others apply comes back to nobody, and what is missing may have sides for longer.
    assert_eq!(told(&format!("resources: [{rt}, ../../../infra]\n")), Vec::<String>::new());
    let old = "configMapGenerator: [{ name: old, namespace: shop, literals: [a=b] }]\n";
    assert_eq!(told(&format!("resources: [{rt}, {rw}]\n{old}")), [format!("GW077 {LIST}:0")]);
}

/// What two Flux Kustomizations applied with the sides, they apply without them.
#[test]
fn a_hand_over_that_is_taken_back_makes_no_old_finding_new() {
    const FLUX: &str = "clusters/edge/flux.yaml";
    let mut before = files();
    before.insert(
        "clusters/edge/extra/kustomization.yaml".to_owned(),
        "resources: [../../../apps/web/rw]\n".to_owned(),
    );
    let all = before[FLUX].clone();
    let [infra, rt, rw] = all.split_inclusive("---\n").collect::<Vec<_>>()[..] else { panic!("{all}") };
    let named = |name: &str, path: &str| {
        rw.replace("name: apps-rw", &format!("name: {name}")).replace("edge/apps/apps-rw", path)
    };
    let extra = named("extra", "edge/extra");
    before.insert(FLUX.to_owned(), [infra, rt, rw, &extra].concat());
    let mut after = before.clone();
    after.insert(FLUX.to_owned(), [infra, &named("apps", "edge/apps"), &extra].concat());
    let list = "resources: [../../../apps/web/rt, ../../../apps/web/rw]\n";
    after.insert("clusters/edge/apps/kustomization.yaml".to_owned(), list.to_owned());
    let (before, after) = (gated(&before, SPEC), gated(&after, SPEC));
    let now = "2026-01-05T12:00:00Z".parse().unwrap();
    let codes = |all: &[Diagnostic]| all.iter().filter_map(|one| one.code).collect::<Vec<_>>();
    with(&after, &spec(SPEC), |after| {
        let after = Subject::new(after.snapshot, after.model, Some(after.spec), after.renderer);
        with(&before, &spec(SPEC), |before| {
            let before = Subject::new(before.snapshot, before.model, Some(before.spec), before.renderer);
            let (old, new) = (audit(&before, now), audit(&after, now));
            assert!(codes(&new).contains(&"GW008"), "{new:?}");
            let news = Former::new(&before, old).news(new, &after);
            assert!(!codes(&news).contains(&"GW008"), "{news:?}");
        });
    });
}
