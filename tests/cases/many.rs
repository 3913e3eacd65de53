//! Many things of which the same is true: told once.

use std::fmt::Write as _;

use crate::repository::{CONFIG_MAP, INIT, SERVICE, repository, root, told};
use crate::support::flux_kustomization;

/// An ArtifactGenerator nests folders that it copies without `/**` (source-watcher, `applySingleDirectoryCopy`).
#[test]
fn what_a_generator_moves_is_told_once_by_every_command() {
    let names = ["one", "two", "three", "four", "five", "six", "seven"];
    let mut generator = "apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: { name: all, namespace: flux-system }
spec:
  sources: [{ alias: repo, kind: GitRepository, name: flux-system }]
  artifacts:
"
    .to_owned();
    let mut files = vec![
        ("clusters/prod/flux.yaml".to_owned(), root("prod")),
        ("clusters/prod/shop.yaml".to_owned(), flux_kustomization("shop", "shop", "")),
        (
            "shop/kustomization.yaml".to_owned(),
            "resources: [config.yaml, service.yaml, children]\n".to_owned(),
        ),
        ("shop/config.yaml".to_owned(), CONFIG_MAP.replace("NAME", "shop")),
        ("shop/service.yaml".to_owned(), SERVICE.replace("NAME", "shop")),
    ];
    for name in names {
        writeln!(
            generator,
            "    - {{ name: {name}, copy: [{{ from: '@repo/apps/{name}/', to: '@artifact/apps/{name}/' }}] }}"
        )
        .unwrap();
        let child = flux_kustomization(name, &format!("apps/{name}"), "").replace(
            "kind: GitRepository, name: flux-system",
            &format!("kind: ExternalArtifact, name: {name}"),
        );
        files.push((format!("shop/children/{name}.yaml"), child));
        files.push((format!("apps/{name}/service.yaml"), SERVICE.replace("NAME", name)));
    }
    let list: Vec<String> = names.iter().map(|name| format!("{name}.yaml")).collect();
    files
        .push(("shop/children/kustomization.yaml".to_owned(), format!("resources: [{}]\n", list.join(", "))));
    files.push(("clusters/prod/generator.yaml".to_owned(), generator));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let scratch = repository(&files);
    let mut all = String::new();
    for command in [&INIT[..], &["split", "--all", "--yes"], &["migrate", "--yes"], &["migrate", "--yes"]] {
        all += &format!("## {}\n{}", command[0], told(&scratch, command));
    }
    all += &format!("## migrate\n{}", told(&scratch, &["migrate", "--yes"]));
    all += &format!("## check\n{}", scratch.run(&["check"]).stdout);
    insta::assert_snapshot!(all);
    let every = scratch.run(&["check", "--verbose"]).stdout;
    assert_eq!(every.matches("lands at once. Only its manifest").count(), names.len(), "{every}");
    let json = scratch.run(&["check", "--format", "json"]).stdout;
    assert_eq!(json.matches("lands at once. Only its manifest").count(), names.len(), "{json}");
}

#[test]
fn many_that_no_cluster_gets_are_told_by_folder() {
    let scratch = repository(&[
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/shop.yaml", &flux_kustomization("shop", "shop", "")),
        ("shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ]);
    for (folder, count) in [(".archive/old", 8), ("apps", 3)] {
        for number in 1..=count {
            let name = format!("app-{number}");
            scratch.write(&format!("{folder}/{name}/ks.yaml"), flux_kustomization(&name, "gone", ""));
        }
    }
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    let (_, unlisted) = told.split_once("not alive: ").unwrap();
    assert_eq!(
        unlisted,
        "no cluster gets them\n  .archive  app-1, app-2, app-3, app-4, app-5 and 3 more\n  apps  app-1, app-2, app-3\n  (--verbose names their files)\n"
    );
    let every = scratch.expect(0, &["clusters", "--verbose"]).stdout;
    assert!(every.contains("  .archive/old/app-8/ks.yaml  app-8\n"), "{every}");
}
