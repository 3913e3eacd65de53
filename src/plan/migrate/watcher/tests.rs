use super::*;
use crate::delivery::Known;
use crate::delivery::Model;
use crate::render::Nothing;
use crate::repo::{File, Snapshot};
use crate::spec;

const SPEC: &str = "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: nights }\nwindows:\n  nights: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN }\nclusters:\n  edge: {}\n";
const ALERT: &str = "apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Alert\nmetadata: { name: chat, namespace: flux-system }\nspec:\n  providerRef: { name: chat }\n";

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// Hands `apps` over where an Alert has this list; gives the Alert after that.
fn handed_over(list: &str) -> Result<String, String> {
    let file = path("clusters/edge/flux/alert.yaml");
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps, namespace: flux-system }\nspec:\n  path: ./clusters/edge/apps\n  prune: false\n  sourceRef: { kind: GitRepository, name: flux-system }\n";
    let mut snapshot = Snapshot::default();
    for (path, text) in [
        (path("clusters/edge/flux/apps.yaml"), flux.to_owned()),
        (path("clusters/edge/apps/kustomization.yaml"), "resources: []\n".to_owned()),
        (file.clone(), format!("{ALERT}{list}")),
    ] {
        snapshot.insert(path, File::new(text.as_bytes()));
    }
    let parsed = spec::parse(&path("windows.yaml"), SPEC.as_bytes()).unwrap();
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &Nothing);
    let input = Input { spec: &parsed.spec, snapshot: &snapshot, model: &model, renderer: &Nothing };
    let heirs = vec![(0, "apps-rt".to_owned()), (1, "apps-rw".to_owned())];
    let old = ("edge".to_owned(), "flux-system".to_owned(), "apps".to_owned());
    let succession = Succession { heirs: [(old, (false, heirs))].into(), ..Succession::default() };
    let mut builder = Builder::new(&snapshot);
    rewrite(&input, &mut builder, &succession).map_err(|(cluster, stop)| {
        assert_eq!(cluster, "edge");
        stop.reason
    })?;
    let text = builder.now().file(&file).and_then(|file| file.text()).unwrap().to_owned();
    Ok(text.strip_prefix(ALERT).unwrap().to_owned())
}

#[test]
fn an_alert_names_the_successors_in_block_and_in_flow_style() {
    let block = "  eventSources:\n    - kind: Kustomization\n      name: apps\n";
    let wanted = "  eventSources:\n    - kind: Kustomization\n      name: apps-rt\n    - kind: Kustomization\n      name: apps-rw\n";
    assert_eq!(handed_over(block).unwrap(), wanted);
    let flow = "  eventSources:\n    - { kind: Kustomization, name: apps } # all\n";
    let text = handed_over(flow).unwrap();
    assert!(text.contains("name: apps-rt } # all\n") && text.contains("name: apps-rw"), "{text}");
}

#[test]
fn an_alert_for_another_namespace_or_group_stays() {
    for item in [
        "{ kind: Kustomization, name: apps, namespace: other }",
        "{ kind: Kustomization, name: apps, apiVersion: example.org/v1 }",
        "{ kind: HelmRelease, name: apps }",
    ] {
        let list = format!("  eventSources:\n    - {item}\n");
        assert_eq!(handed_over(&list).unwrap(), list);
    }
}

#[test]
fn an_alert_that_can_not_be_edited_stops_the_step() {
    let list = "  extra: &all\n  - { kind: Kustomization, name: apps }\n  eventSources: *all\n";
    let reason = handed_over(list).unwrap_err();
    let said =
        "names what goes, and line 8 of clusters/edge/flux/alert.yaml can't be edited: the alias `*all`";
    assert!(reason.contains(said), "{reason}");
}

#[test]
fn what_else_an_alert_says_with_the_same_anchor_stays() {
    let list = "  summary: &main apps\n  eventSources:\n    - { kind: Kustomization, name: *main }\n";
    let text = handed_over(list).unwrap();
    assert!(text.starts_with(&list.replace("*main", "apps-rt")), "{text}");
    let list = "  eventSources: [{ kind: Kustomization, name: &main apps }]\n  summary: *main\n";
    let wanted = "  eventSources: [{ kind: Kustomization, name: apps-rt }, {kind: Kustomization, name: apps-rw}]\n  summary: apps\n";
    assert_eq!(handed_over(list).unwrap(), wanted);
}
