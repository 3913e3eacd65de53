//! Repositories in which reading would never end.

use crate::delivery::Known;
use crate::delivery::reading::tests::{believed, flux, read};
use crate::limit::KUSTOMIZATIONS_DEPTH;

#[test]
fn a_hub_whose_folder_holds_itself_does_not_bring_its_clusters_to_each_other() {
    let root = flux("flux-system", "./hub", "");
    let to = |name: &str| flux(name, "./hub", &format!("kubeConfig: {{ secretRef: {{ name: {name} }} }}"));
    let (dev, staging, prod) = (to("dev"), to("staging"), to("prod"));
    let files = [
        ("hub/flux-system/gotk-sync.yaml", root.as_str()),
        ("hub/clusters/dev.yaml", dev.as_str()),
        ("hub/clusters/staging.yaml", staging.as_str()),
        ("hub/clusters/prod.yaml", prod.as_str()),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    hub: hub applies itself
      flux-system/flux-system hub by flux-system/flux-system
      flux-system/dev hub by flux-system/flux-system
      flux-system/prod hub by flux-system/flux-system
      flux-system/staging hub by flux-system/flux-system
    ");
}

#[test]
fn a_flux_kustomization_that_brings_itself_by_ever_longer_names_ends() {
    let root = flux("flux-system", "./prod", "postBuild: { substitute: { n: \"1\" } }");
    let apps = flux("\"apps-${n}\"", "./apps", "postBuild: { substitute: { n: \"${n}1\" } }");
    let files = [
        ("prod/flux-system/gotk-sync.yaml", root.as_str()),
        ("prod/apps.yaml", apps.as_str()),
        ("apps/apps.yaml", apps.as_str()),
    ];
    let model = read(&Known::default(), &files);
    let all = &model.delivered.all[0].kustomizations;
    assert_eq!(all.len(), KUSTOMIZATIONS_DEPTH + 1);
    let errors: Vec<_> = all.iter().filter_map(|one| one.error.as_deref()).collect();
    assert_eq!(errors, ["Flux Kustomizations bring each other, 65 deep"]);
}
