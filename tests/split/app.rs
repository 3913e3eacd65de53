//! Apps of an entry point that are divided one by one, and how their objects find their sides.

use crate::repository::{CONFIG_MAP, app, flux, repository, spec};
use crate::support::scratch::assert_same;

#[test]
fn an_object_whose_type_changed_does_not_keep_another_app_from_being_divided() {
    let scratch = repository(&[("apps/first/kustomization.yaml", "resources:\n  - web\n  - mail\n")]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    flux(&scratch, "apps/first");
    scratch.expect(0, &["split", "app", "web", "--yes"]);
    let rules = "rules:\n  - { name: web, type: rw }\n  - { kind: ConfigMap, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", spec() + rules).commit();
    scratch.expect(0, &["split", "app", "mail", "--yes"]);
    assert!(scratch.text("apps/first/first-rt/kustomization.yaml").contains("mail"));
}

#[test]
fn who_does_not_use_an_app_has_nothing_to_say_of_it() {
    let list = "resources:\n  - web\n";
    let scratch = repository(&[
        ("apps/first/kustomization.yaml", list),
        ("apps/second/kustomization.yaml", "resources:\n  - mail\n"),
    ]);
    for (entry, name) in [("apps/first", "web"), ("apps/second", "mail")] {
        app(&scratch, &format!("{entry}/{name}"));
        flux(&scratch, entry);
    }
    let run = scratch.expect(1, &["split", "app", "web", "--dry-run"]);
    assert!(run.stderr.contains("c\n  apps/first  split\n"), "{}", run.stderr);
    assert!(!run.stderr.contains("apps/second"), "{}", run.stderr);
}

#[test]
fn a_label_of_the_entry_point_may_decide_about_a_type() {
    let labels = "resources:\n  - web\n  - mail\nlabels:\n  - pairs: { team: a }\n";
    let scratch = repository(&[("apps/first/kustomization.yaml", labels)]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    flux(&scratch, "apps/first");
    let rules = "rules:\n  - { label: team=a, kind: ConfigMap, type: rw }\n  - { kind: ConfigMap, type: rt }\n  - { kind: Deployment, name: mail, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", spec() + rules).commit();
    let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
    assert!(run.stderr.contains("is rw as apps/first builds it"), "{}", run.stderr);
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.expect(0, &["verify"]);
}

#[test]
fn an_app_keeps_its_name_where_its_entry_point_is_divided_as_a_whole() {
    let own = "resources:\n  - own.yaml\n  - web\n  - mail\n";
    let loose = CONFIG_MAP.replace("NAME", "own");
    let scratch = repository(&[("apps/first/kustomization.yaml", own), ("apps/first/own.yaml", &loose)]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    flux(&scratch, "apps/first");
    let rules = "rules:\n  - { app: web, kind: ConfigMap, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", spec() + rules).commit();
    scratch.take(&["split", "--all", "--yes"]);
    assert!(scratch.text("apps/first/first-rt/kustomization.yaml").contains("first-all"));
    scratch.expect(0, &["verify"]);
    let told = scratch.expect(0, &["explain", "apps/first/web/config.yaml"]).stdout;
    assert!(told.contains("app web"), "{told}");
}

/// Fields that speak of all apps stand on each side where that builds the same.
#[test]
fn one_app_is_divided_where_a_field_speaks_of_all_of_them() {
    let list = "resources:\n  - web\n  - mail\n";
    let label = "patches:\n  - target: { kind: Deployment }\n    patch: |-\n      - op: add\n        path: /metadata/labels\n        value: { team: a }\n";
    let made = "configMapGenerator:\n  - name: made\n    namespace: other\n    literals: [a=b]\n";
    for (field, works) in [(label, true), (made, false)] {
        let scratch = repository(&[("apps/kustomization.yaml", &format!("{list}{field}"))]);
        app(&scratch, "apps/web");
        app(&scratch, "apps/mail");
        flux(&scratch, "apps");
        let before = scratch.tree();
        if !works {
            let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
            let words = "apps/kustomization.yaml has `configMapGenerator`, which concerns all apps together";
            assert!(run.stderr.contains(words), "{}", run.stderr);
            let help = "split all of its apps at once: `gitops-windows split apps`";
            assert!(run.stderr.contains(help), "{}", run.stderr);
            assert!(run.stderr.contains(" --> apps/kustomization.yaml:4:1"), "{}", run.stderr);
            assert_same(&before, &scratch.tree(), "a refused split wrote");
            continue;
        }
        scratch.expect(0, &["split", "app", "web", "--yes"]);
        assert!(scratch.text("apps/apps-rw/kustomization.yaml").contains("team: a"));
        scratch.commit();
        let with_web = scratch.tree();
        scratch.expect(0, &["verify"]);
        assert_eq!(scratch.expect(0, &["split", "app", "web", "--yes"]).stdout, "");
        scratch.take(&["split", "--all", "--yes"]);
        scratch.expect(0, &["verify"]);
        assert_eq!(scratch.expect(0, &["split", "--all", "--yes"]).stdout, "");
        scratch.expect(0, &["join", "app", "mail", "--yes"]);
        assert_same(&with_web, &scratch.tree(), "join of one app changed more");
        scratch.commit();
        scratch.expect(0, &["join", "--all", "--yes"]);
        assert_same(&before, &scratch.tree(), "join did not give back what was there");
    }
}
