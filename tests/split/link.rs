//! Folders and files behind symbolic links.

use crate::repository::{DEPLOYMENT, app, flux, repository};
use crate::support::scratch::assert_same;

#[cfg(unix)]
#[test]
fn an_app_behind_a_link_is_divided_where_it_is() {
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n"),
        ("apps/two/kustomization.yaml", "resources:\n  - ../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    std::os::unix::fs::symlink("../../base/web", scratch.top().join("apps/one/web")).unwrap();
    flux(&scratch, "apps/one");
    flux(&scratch, "apps/two");
    let before = scratch.tree();
    let run = scratch.expect(0, &["split", "app", "web", "--yes"]);
    assert!(run.stderr.contains("c\n  apps/one  split\n"), "{}", run.stderr);
    assert!(scratch.text("apps/one/one-rt/kustomization.yaml").contains("../../../base/web/web-rt"));
    scratch.commit();
    assert_eq!(scratch.expect(0, &["split", "app", "web", "--yes"]).stdout, "");
    scratch.expect(0, &["verify"]);
    scratch.expect(0, &["join", "app", "web", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[cfg(unix)]
#[test]
fn what_a_linked_folder_builds_on_is_known_to_come_from_there() {
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n"),
        ("overlays/far/away/web/kustomization.yaml", "resources:\n  - ../../../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    std::os::unix::fs::symlink("../../overlays/far/away/web", scratch.top().join("apps/one/web")).unwrap();
    flux(&scratch, "apps/one");
    let told = scratch.expect(0, &["explain", "base/web/config.yaml"]).stdout;
    assert!(told.contains("apps/one"), "{told}");
    assert!(told.contains("app web"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_generator_behind_a_linked_kustomization_stays_with_its_consumer() {
    let generator = "configMapGenerator:\n  - { name: conf, namespace: 'n', literals: [a=b] }\nresources:\n  - deployment.yaml\n";
    let reading = format!("{DEPLOYMENT}          envFrom: [{{ configMapRef: {{ name: conf }} }}]\n");
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n  - mail\n"),
        ("shared/kustomization.yaml", generator),
        ("apps/one/web/deployment.yaml", &reading.replace("NAME", "web")),
    ]);
    app(&scratch, "apps/one/mail");
    let link = scratch.top().join("apps/one/web/kustomization.yaml");
    std::os::unix::fs::symlink("../../../shared/kustomization.yaml", link).unwrap();
    flux(&scratch, "apps/one");
    scratch.take(&["split", "--all", "--yes"]);
    scratch.expect(0, &["verify"]);
    assert!(!scratch.text("apps/one/one-rt/kustomization.yaml").contains("web"));
}
