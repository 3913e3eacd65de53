//! Successors of Flux Kustomizations with anchors and aliases.

use super::*;

const KIND: &str = "# the player\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n";

fn heir() -> Heir {
    Heir {
        name: "player-rt".into(),
        path: "./apps/player/app/app-rt".into(),
        components: Vec::new(),
        decryption: true,
        health_checks: vec![0],
        health_check_exprs: Vec::new(),
        depends_on: Vec::new(),
    }
}

/// Writes a successor; a refusal gives the line of the file that it points at.
fn written(heir: &Heir, file: &str, document: usize) -> Result<String, String> {
    heir.write(file, document).map_err(|error| {
        let (line, _) = crate::diagnostic::line_column(file, error.span.unwrap().start);
        format!("{}, line {line}", error.message)
    })
}

#[test]
fn aliases_of_the_name_keep_what_it_was() {
    let file = format!(
        "---\n{KIND}metadata:
  name: &app player # as everywhere
  namespace: &ns media
spec:
  targetNamespace: *ns
  commonMetadata:
    labels:
      app.kubernetes.io/name: *app
  path: ./apps/player/app
  prune: true
  healthChecks:
    - {{apiVersion: apps/v1, kind: Deployment, name: *app, namespace: *ns}}
    - apiVersion: apps/v1
      kind: Deployment
      name: &cache player-cache
      namespace: *ns
  dependsOn:
    - name: storage
      namespace: *ns
    - {{name: *cache, namespace: *ns}}
  postBuild: # for the templates
    substitute: {{APP: *app, CACHE: *cache, SPACE: *ns}}
"
    );
    let mut heir = heir();
    let keep = |index, name: &str| Dependency { from: Some(index), name: name.into() };
    heir.depends_on = vec![keep(1, "cache-rt"), Dependency { from: None, name: "player-first".into() }];
    let expected = format!(
        "---\n{KIND}metadata:
  name: player-rt # as everywhere
  namespace: &ns media
spec:
  targetNamespace: *ns
  commonMetadata:
    labels:
      app.kubernetes.io/name: player
  path: ./apps/player/app/app-rt
  prune: false # gitops-windows: was true
  healthChecks:
    - {{apiVersion: apps/v1, kind: Deployment, name: player, namespace: *ns}}
  dependsOn:
    - {{name: cache-rt, namespace: *ns}}
    - name: player-first
  postBuild: # for the templates
    substitute: {{APP: player, CACHE: player-cache, SPACE: *ns}}
"
    );
    assert_eq!(written(&heir, &file, 0).unwrap(), expected);
}

#[test]
fn anchors_hold_within_their_document() {
    let one = |name: &str| {
        format!(
            "---\n{KIND}metadata: {{ name: &app {name} }}\nspec:\n  path: ./apps/player/app\n  prune: &on true\n  wait: *on\n  commonMetadata: {{ labels: {{ app: *app }} }}\n"
        )
    };
    let file = format!("{}{}", one("other"), one("player"));
    let expected = format!(
        "---\n{KIND}metadata: {{ name: player-rt }}\nspec:\n  path: ./apps/player/app/app-rt\n# gitops-windows: lines 2, which were:\n#|   prune: &on true\n#|   wait: *on\n  prune: false\n  wait: true\n  commonMetadata: {{ labels: {{ app: player }} }}\n"
    );
    let copy = written(&heir(), &file, 1).unwrap();
    assert_eq!(copy, expected);
    assert_eq!(
        restored(&copy),
        expected
            .replace("# gitops-windows: lines 2, which were:\n", "")
            .replace("  prune: false\n  wait: true\n", "")
            .replace("#| ", "")
    );
}

#[test]
fn lists_and_mappings_in_one_line_are_written_out() {
    let file = format!(
        "---\n{KIND}metadata: &meta {{ name: player, labels: {{ tier: &tier front }} }}\nspec:\n  path: ./apps/player/app\n  prune: false\n  commonMetadata:\n    labels: {{ tier: *tier }}\n    annotations:\n      <<: *meta\n  healthChecks: &checks [{{ kind: Job, name: a }}, {{ kind: Job, name: b }}]\n  patches: *checks\n"
    );
    let copy = written(&heir(), &file, 0).unwrap();
    let expected = file
        .replace("&meta { name: player,", "{ name: player-rt,")
        .replace("<<: *meta", "<<: { name: player, labels: { tier: front } }")
        .replace("./apps/player/app", "./apps/player/app/app-rt")
        .replace(
            "healthChecks: &checks [{ kind: Job, name: a }, { kind: Job, name: b }]",
            "healthChecks: [{ kind: Job, name: a }]",
        )
        .replace("patches: *checks", "patches: [{ kind: Job, name: a }, { kind: Job, name: b }]");
    assert_eq!(copy, expected);
}

#[test]
fn what_would_have_to_be_written_anew_is_refused_with_its_line() {
    let spec = "spec:\n  path: ./apps/player/app\n  prune: false # gitops-windows: was true\n  deletionPolicy: Orphan # gitops-windows: was unset\n";
    // Only the line of the file counts, though the copy has lost one above.
    let file = format!("---\n{KIND}{spec}metadata: &meta\n  name: player\nx-copy:\n  <<: *meta\n");
    assert_eq!(
        written(&heir(), &file, 0).unwrap_err(),
        "the alias `*meta` can't be written out in one line, and its meaning changes, line 12"
    );
    let file = format!(
        "x-common: &common\n  suspend: false\n{KIND}metadata: {{ name: player }}\n{spec}  <<: *common\n"
    );
    assert_eq!(
        written(&heir(), &file, 0).unwrap_err(),
        "`spec.suspend` comes from what is merged here, line 11"
    );
    let file = format!(
        "x-checks: &checks\n- {{ kind: Job, name: a }}\n- {{ kind: Job, name: b }}\n{KIND}metadata: {{ name: player }}\n{spec}  healthChecks: *checks\n"
    );
    assert_eq!(
        written(&heir(), &file, 0).unwrap_err(),
        "the alias `*checks` can't be written out in one line, and only here it is to change, line 12"
    );
}

#[test]
fn waiters_keep_what_their_anchors_named() {
    let file = "metadata: { name: web, namespace: &ns media }\nspec:\n  dependsOn:\n    - name: &first player\n      namespace: *ns\n    - name: old\n      namespace: *ns\n  postBuild: { substitute: { FIRST: *first, NS: *ns } }\n";
    let wanted = [
        Dependency { from: Some(0), name: "player-rt".into() },
        Dependency { from: Some(0), name: "player-rw".into() },
    ];
    assert_eq!(
        rewrite_dependencies(file, 0, &wanted).unwrap(),
        "metadata: { name: web, namespace: &ns media }\nspec:\n  dependsOn:\n    - name: player-rt\n      namespace: *ns\n    - {name: player-rw, namespace: media}\n  postBuild: { substitute: { FIRST: player, NS: *ns } }\n"
    );
}
