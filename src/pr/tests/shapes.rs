//! Changes of shape: what moves, is renamed, listed or wrapped otherwise, and what the cluster gets of it.

use super::repository::{Files, compared, files, flux, lines, map, with, with_cluster, without};

const LIST: &str = "apps/apps-rt/kustomization.yaml";

const APPS: &str = "clusters/one/apps.yaml";

/// Returns the objects that change, each with its namespace and the folder that builds it.
fn placed(before: &Files, after: &Files) -> Vec<String> {
    let report = compared(before, after);
    let line = |line: &crate::pr::Line| {
        format!(
            "{} {}/{} in {}: {}",
            line.by.path,
            line.id.kind,
            line.id.name,
            line.id.namespace,
            line.kind.as_str()
        )
    };
    report.changes.iter().map(line).collect()
}

/// The Flux Kustomizations, with more lines in the spec of the first.
fn apps(more: &str) -> String {
    [flux("apps-rt", "apps/apps-rt", more), flux("apps-rw", "apps/apps-rw", "")].concat()
}

#[test]
fn an_object_that_moves_to_another_file_or_into_a_list_stays_as_it_is() {
    let base = files();
    let settings = base["apps/apps-rt/settings.yaml"].clone();
    let moved = without(&base, "apps/apps-rt/settings.yaml");
    let moved = with(&moved, &[("apps/apps-rt/other.yaml", "", &settings), (LIST, "settings", "other")]);
    assert_eq!(lines(&compared(&base, &moved)), [""; 0]);
    let item = "{ apiVersion: v1, kind: ConfigMap, metadata: { name: settings, namespace: shop }, data: { a: '1' } }";
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n");
    let wrapped = with(&base, &[("apps/apps-rt/settings.yaml", "", &list)]);
    assert_eq!(lines(&compared(&base, &wrapped)), [""; 0]);
    let other = with(&wrapped, &[("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'")]);
    assert_eq!(lines(&compared(&wrapped, &other)), ["ConfigMap/settings changed at-once"]);
}

#[test]
fn another_namespace_makes_other_objects() {
    let base = files();
    let renamed = with(&base, &[(LIST, "", "namespace: other\nresources: [settings.yaml]\n")]);
    let both = [
        "apps/apps-rt ConfigMap/settings in other: created",
        "apps/apps-rt ConfigMap/settings in shop: deleted",
    ];
    assert_eq!(placed(&base, &renamed), both);
    let target = with(&base, &[(APPS, "", &apps("  targetNamespace: other\n"))]);
    let mut all = placed(&base, &target);
    assert_eq!(all.remove(all.len() - 3), "clusters/one Kustomization/apps-rt in flux-system: changed");
}

#[test]
fn a_generated_map_with_another_hash_is_another_object() {
    let generated = |value: &str| {
        format!(
            "configMapGenerator:\n- name: made\n  namespace: shop\n  literals: [a={value}]\nresources: [deployment.yaml]\n"
        )
    };
    let list = "apps/apps-rw/kustomization.yaml";
    let deployment =
        ("apps/apps-rw/deployment.yaml", "configMap: { name: settings }", "configMap: { name: made }");
    let base = with(&files(), &[(list, "", &generated("1")), deployment]);
    let other = with(&base, &[(list, "", &generated("2"))]);
    let told = lines(&compared(&base, &other));
    let kinds: Vec<String> =
        told.iter().map(|one| one.split_whitespace().nth(1).unwrap().to_owned()).collect();
    assert_eq!(
        (told.len(), kinds),
        (3, ["created", "deleted", "changed"].map(str::to_owned).to_vec()),
        "{told:?}"
    );
}

#[test]
fn a_flux_kustomization_with_another_name_or_path() {
    let base = files();
    let renamed = with(&base, &[(APPS, "name: apps-rt,", "name: settings,")]);
    insta::assert_snapshot!(placed(&base, &renamed).join("\n"));
    let mut moved = with(&base, &[(APPS, "./apps/apps-rt", "./apps/settings")]);
    for name in ["kustomization", "settings"] {
        let text = moved.remove(&format!("apps/apps-rt/{name}.yaml")).unwrap();
        moved.insert(format!("apps/settings/{name}.yaml"), text);
    }
    assert_eq!(placed(&base, &moved), ["clusters/one Kustomization/apps-rt in flux-system: changed"]);
    let other = with(&moved, &[("apps/settings/settings.yaml", "a: '1'", "a: '2'")]);
    assert_eq!(
        placed(&base, &other),
        [
            "clusters/one Kustomization/apps-rt in flux-system: changed",
            "apps/settings ConfigMap/settings in shop: changed"
        ]
    );
}

#[test]
fn a_flux_kustomization_that_changes_its_namespace_is_told_from_itself() {
    let base =
        with(&files(), &[(APPS, "name: flux-system }", "name: flux-system, namespace: flux-system }")]);
    let elsewhere =
        with(&base, &[(APPS, "name: apps-rt, namespace: flux-system", "name: apps-rt, namespace: tenants")]);
    let told = super::repository::words(&compared(&base, &elsewhere));
    let moved = "moved    ConfigMap shop/settings  in one by Flux Kustomization flux-system/apps-rt → tenants/apps-rt";
    assert!(told.contains(moved), "{told}");
    let deletes = "flux-system/apps-rt goes while tenants/apps-rt starts to apply ConfigMap shop/settings";
    assert!(told.contains(deletes), "{told}");
}

#[test]
fn components_patches_and_common_metadata_change_what_is_applied() {
    let component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [extra.yaml]\n";
    let base = with(
        &files(),
        &[("apps/part/kustomization.yaml", "", component), ("apps/part/extra.yaml", "", &map("extra", ""))],
    );
    let change = |more: &str| placed(&base, &with(&base, &[(APPS, "", &apps(more))]));
    let all = [
        "  components: [../part]\n",
        "  patches: [{ target: { kind: ConfigMap }, patch: '[{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"c\"}]' }]\n",
        "  namePrefix: pre-\n",
        "  commonMetadata: { labels: { team: a } }\n",
        "  postBuild: { substitute: { a: b } }\n",
        "  suspend: true\n",
        "  deletionPolicy: Orphan\n",
    ];
    let all = all.map(|more| format!("{more}{}\n", change(more).join("\n")));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_folder_of_a_cluster_that_goes_deletes_nothing_by_itself() {
    let base = with_cluster(&files(), "two");
    let mut gone = base.clone();
    gone.retain(|path, _| !path.starts_with("clusters/two"));
    let report = compared(&base, &gone);
    assert_eq!(lines(&report), Vec::<String>::new());
    let errors = super::repository::told(&report, &[crate::pr::Topic::Error]);
    assert!(matches!(&errors[..], [one] if one.contains("there is no folder clusters/two")), "{errors:?}");
}

#[test]
fn what_sops_encrypts_is_told_and_never_shown() {
    let secret = |data: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{ name: s, namespace: shop }}\nstringData: {{ key: 'ENC[AES256_GCM,data:{data}]' }}\nsops: {{ mac: 'ENC[AES256_GCM,data:{data}]' }}\n"
        )
    };
    let base = with(
        &files(),
        &[(LIST, "settings", "secret.yaml, settings"), ("apps/apps-rt/secret.yaml", "", &secret("a"))],
    );
    let decrypted = with(&base, &[(APPS, "", &apps("  decryption: { provider: sops }\n"))]);
    assert_eq!(placed(&base, &decrypted), ["clusters/one Kustomization/apps-rt in flux-system: changed"]);
    let other = with(&decrypted, &[("apps/apps-rt/secret.yaml", "", &secret("b"))]);
    assert_eq!(placed(&decrypted, &other), ["apps/apps-rt Secret/s in shop: changed"]);
    assert!(!super::repository::words(&compared(&decrypted, &other)).contains("AES256"));
    // Also where its kind and its name are.
    let whole = |data: &str| {
        let hide = |word: &str| secret(data).replace(word, &format!("'ENC[AES256_GCM,data:{data}]'"));
        hide("Secret").replace("name: s,", &format!("name: 'ENC[AES256_GCM,data:{data}{data}]',"))
    };
    let base = with(&decrypted, &[("apps/apps-rt/secret.yaml", "", &whole("a"))]);
    let other = with(&decrypted, &[("apps/apps-rt/secret.yaml", "", &whole("b"))]);
    let told = super::repository::words(&compared(&base, &other));
    assert!(told.contains("changed  object shop/encrypted in apps/apps-rt/secret.yaml"), "{told}");
    assert!(!told.contains("AES256"), "{told}");
}

/// Each applies it as its own, one over the other, and so do those that come in their place.
#[test]
fn an_object_of_several_goes_from_each_to_the_one_that_applies_it_alike() {
    let both = |first: &str, second: &str| {
        with(
            &files(),
            &[
                (APPS, "", &[apps(""), flux(first, "more/b", ""), flux(second, "more/a", "")].concat()),
                ("more/a/kustomization.yaml", "", "resources: [m.yaml]\n"),
                ("more/a/m.yaml", "", &map("shared", "by: a")),
                ("more/b/kustomization.yaml", "", "resources: [m.yaml]\n"),
                ("more/b/m.yaml", "", &map("shared", "by: b")),
            ],
        )
    };
    // In the order of names the second takes over what the first applied.
    let mut told: Vec<String> = placed(&both("one", "two"), &both("zone-b", "away-a"))
        .into_iter()
        .filter(|line| line.contains("ConfigMap"))
        .collect();
    told.sort();
    assert_eq!(told, ["more/a ConfigMap/shared in shop: moved", "more/b ConfigMap/shared in shop: moved"]);
    let report = compared(&both("one", "two"), &both("zone-b", "away-a"));
    assert!(
        report.changes.iter().filter(|line| line.id.kind == "ConfigMap").all(|line| line.fields.is_empty())
    );
}
