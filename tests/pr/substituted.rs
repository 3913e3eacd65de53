//! What the values of `postBuild.substitute` make of objects.

use super::{Scratch, Value, answer, changes, support, text_of};

/// Two Flux Kustomizations of one folder, whose claims have the names that their variables give.
fn apps() -> Scratch {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str, more: &str| support::flux_kustomization(name, path, more);
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one", ""));
    for name in ["web", "api"] {
        let more = format!("  postBuild: {{ substitute: {{ APP: {name}, SIZE: 1Gi }} }}\n");
        scratch.write(&format!("clusters/one/{name}.yaml"), flux(name, "claim", &more));
    }
    scratch.write(
        "claim/claim.yaml",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: \"${APP}-data\", namespace: n }\nspec:\n  \
         resources: { requests: { storage: \"${SIZE}\" } }\n",
    );
    scratch.write(
        "claim/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: \"${APP}\" }\nstringData: { k: \"${SIZE}\" }\n",
    );
    scratch.write("claim/kustomization.yaml", "resources: [claim.yaml, secret.yaml]\n").commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch
}

/// What only the values make different, a line each.
fn substituted(answer: &Value) -> Vec<String> {
    let line = |one: &Value| {
        let name = one["live"]["name"].as_str().unwrap_or("-");
        let fields: Vec<&str> =
            one["fields"].as_array().unwrap().iter().map(|field| field["path"].as_str().unwrap()).collect();
        format!(
            "{} {} {} is {name} {} {}",
            one["kustomization"]["name"].as_str().unwrap(),
            one["change"].as_str().unwrap(),
            one["object"]["name"].as_str().unwrap(),
            fields.join(","),
            one["files"],
        )
    };
    answer["substituted"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn a_file_that_changes_is_told_by_its_built_name_and_by_that_of_the_cluster() {
    let scratch = apps();
    scratch.replace("claim/claim.yaml", "namespace: n }", "namespace: n, labels: { a: b } }");
    let told = answer(&scratch, &[]);
    assert_eq!(
        changes(&told),
        [
            "one claim changed PersistentVolumeClaim/${APP}-data - at-once",
            "one claim changed PersistentVolumeClaim/${APP}-data - at-once",
        ]
    );
    let live: Vec<&Value> =
        told["changes"].as_array().unwrap().iter().map(|one| &one["live"]["name"]).collect();
    assert_eq!(live, ["api-data", "web-data"]);
    assert_eq!(substituted(&told), Vec::<String>::new());
    let text = text_of(&scratch);
    assert!(text.contains("n/web-data") && !text.contains("${APP}"), "{text}");
}

#[test]
fn a_value_that_changes_is_told_with_what_it_changes() {
    let scratch = apps();
    scratch.replace("clusters/one/web.yaml", "SIZE: 1Gi", "SIZE: 2Gi");
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), ["one clusters/one changed Kustomization/web - at-once"]);
    assert_eq!(
        substituted(&told),
        [
            "web changed ${APP}-data is web-data spec.resources.requests.storage [\"clusters/one/web.yaml\"]",
            "web changed s is s stringData.k [\"clusters/one/web.yaml\"]",
        ]
    );
    let secret = &told["substituted"][1]["fields"][0];
    assert_eq!((&secret["before"], &secret["after"]), (&"*** (before)".into(), &"*** (after)".into()));
    insta::assert_snapshot!(text_of(&scratch));
}

#[test]
fn a_claim_that_a_value_renames_is_deleted_and_made_anew() {
    let scratch = apps();
    scratch.replace("clusters/one/web.yaml", "APP: web", "APP: www");
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), ["one clusters/one changed Kustomization/web - at-once"]);
    assert_eq!(
        substituted(&told),
        [
            "web deleted ${APP}-data is web-data  [\"clusters/one/web.yaml\"]",
            "web created ${APP}-data is www-data  [\"clusters/one/web.yaml\"]",
            "web deleted s is s  [\"clusters/one/web.yaml\"]",
            "web created s is s  [\"clusters/one/web.yaml\"]",
        ]
    );
    let topics: Vec<&str> =
        told["findings"].as_array().unwrap().iter().map(|one| one["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["deletion"], "{told:#}");
    // The file changes too.
    scratch.replace("claim/claim.yaml", "namespace: n", "namespace: m");
    let told = answer(&scratch, &[]);
    assert_eq!(
        changes(&told),
        [
            "one clusters/one changed Kustomization/web - at-once",
            "one claim created PersistentVolumeClaim/${APP}-data - at-once",
            "one claim deleted PersistentVolumeClaim/${APP}-data - at-once",
            "one claim created PersistentVolumeClaim/${APP}-data - at-once",
            "one claim deleted PersistentVolumeClaim/${APP}-data - at-once",
        ]
    );
}

#[test]
fn a_value_in_place_of_its_variable_changes_nothing_in_the_cluster() {
    let scratch = apps();
    scratch.replace("clusters/one/api.yaml", "SIZE: 1Gi", "SIZE: 1Gi, MORE: a");
    scratch.replace("claim/claim.yaml", "\"${SIZE}\"", "1Gi");
    let told = answer(&scratch, &[]);
    assert_eq!(
        changes(&told),
        [
            "one clusters/one changed Kustomization/api - at-once",
            "one claim changed PersistentVolumeClaim/${APP}-data - at-once",
            "one claim changed PersistentVolumeClaim/${APP}-data - at-once",
        ]
    );
    assert_eq!(substituted(&told), Vec::<String>::new());
    let first = text_of(&scratch);
    assert_eq!(first.lines().next().unwrap(), "1 object changes in 1 cluster: it lands at once.");
}

#[test]
fn one_name_in_two_flux_kustomizations_is_no_move_where_its_variable_differs() {
    let scratch = apps();
    scratch.write("none/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: n }\n");
    scratch.write("none/kustomization.yaml", "resources: [a.yaml]\n");
    scratch.replace("clusters/one/web.yaml", "path: ./claim", "path: ./none");
    let new = scratch.text("clusters/one/api.yaml").replace("api", "new");
    scratch.write("clusters/one/new.yaml", new);
    let told = answer(&scratch, &[]);
    assert!(changes(&told).iter().all(|line| !line.contains(" moved ")), "{:#?}", changes(&told));
    assert_eq!(substituted(&told), Vec::<String>::new());
}

/// It is one object, whoever fills in its name.
#[test]
fn what_moves_to_a_name_that_a_variable_gives_is_told_once() {
    let scratch = apps();
    let claim = scratch.text("claim/claim.yaml").replace("${APP}", "old").replace("${SIZE}", "1Gi");
    scratch.write("old/claim.yaml", claim).write("old/kustomization.yaml", "resources: [claim.yaml]\n");
    scratch.write("clusters/one/old.yaml", support::flux_kustomization("old", "old", "")).commit();
    scratch.git(&["branch", "--force", "main", "HEAD"]);
    scratch.git(&["rm", "--quiet", "clusters/one/old.yaml"]);
    scratch.write("new/claim.yaml", scratch.text("claim/claim.yaml"));
    scratch.write("new/kustomization.yaml", "resources: [claim.yaml]\n");
    let values = "  postBuild: { substitute: { APP: old, SIZE: 1Gi } }\n";
    scratch.write("clusters/one/new.yaml", support::flux_kustomization("new", "new", values));
    let told = answer(&scratch, &[]);
    assert_eq!(
        changes(&told),
        [
            "one clusters/one created Kustomization/new - at-once",
            "one clusters/one deleted Kustomization/old - at-once",
            "one new moved PersistentVolumeClaim/${APP}-data - at-once",
        ]
    );
    assert_eq!(substituted(&told), Vec::<String>::new());
    // In one Flux Kustomization it is the same object, under another built name.
    scratch.commit();
    scratch.git(&["branch", "--force", "main", "HEAD"]);
    scratch.replace("new/claim.yaml", "\"${APP}-data\"", "old-data");
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), ["one new changed PersistentVolumeClaim/old-data - at-once"]);
    assert_eq!(substituted(&told), Vec::<String>::new());
    assert_eq!(text_of(&scratch), "Nothing changes in any cluster.\n");
}
