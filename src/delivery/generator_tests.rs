//! Repositories with an ArtifactGenerator, each with what their Flux Kustomizations build.

use std::fmt::Write;

use crate::delivery::Known;
use crate::delivery::reading::tests::{LIST, SERVICE, flux, read, source};
use crate::diagnostic::line_column;

/// Returns what two Flux Kustomizations build that read the artifacts `apps` and `more`: their folders and where these
/// artifacts begin, or why there are none.
fn built(generator: &str) -> String {
    let external = |name: &str, path: &str| {
        let read = format!("{{ kind: ExternalArtifact, name: {name} }}");
        flux(name, path, "").replace("{ kind: GitRepository, name: flux-system }", &read)
    };
    let generator = format!(
        "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{ name: g, namespace: flux-system }}\nspec:\n{generator}"
    );
    let (root, other) =
        (flux("flux-system", "./clusters/prod", ""), source("charts", "https://x.test/charts", ""));
    let own = source("flux-system", "https://x.test/fleet", "");
    let (apps, more) = (external("apps", "./prod"), external("more", "./"));
    let files = [
        ("clusters/prod/flux-system/gotk-sync.yaml", (own + "---\n" + &root)),
        ("clusters/prod/a-apps.yaml", apps),
        ("clusters/prod/b-generator.yaml", generator),
        ("clusters/prod/c-more.yaml", more + "---\n" + &other),
        ("apps/base/kustomization.yaml", LIST.to_owned()),
        ("apps/base/s.yaml", SERVICE.to_owned()),
        ("apps/prod/kustomization.yaml", "resources: [../base]\n".to_owned()),
        ("apps/prod/values.tgz", String::new()),
        ("more/s.yaml", SERVICE.to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let model = read(&Known::default(), &files);
    let mut told = String::new();
    for name in ["apps", "more"] {
        let one = model.flux.iter().find(|one| one.name == name).unwrap();
        let mut reason = "elsewhere".to_owned();
        if let Some(unmapped) = &one.unmapped {
            let place = unmapped.place.as_ref().unwrap();
            let (line, column) =
                line_column(place.text.as_ref().unwrap(), place.span.as_ref().unwrap().start);
            reason = format!("{}:{line}:{column} {}", place.path.name().unwrap(), unmapped.reason);
        }
        let path = one.path.as_ref().map_or(reason, |path| format!("{path} from {}", one.top));
        writeln!(told, "{name}: {path}").unwrap();
    }
    told
}

const SOURCES: &str = "  sources:
  - { alias: repo, kind: GitRepository, name: flux-system }
  - { alias: charts, kind: GitRepository, name: charts }
";

#[test]
fn folders_that_keep_their_places_are_those_of_the_repository() {
    let artifacts = "  artifacts:
  - name: apps
    copy:
    - { from: \"@repo/apps/base/**\", to: \"@artifact/base/\" }
    - { from: \"@repo/apps/prod/**\", to: \"@artifact/prod/\", exclude: [\"*.tgz\"] }
  - name: more
    copy:
    - { from: \"@repo/more/**\", to: \"@artifact/\" }
";
    insta::assert_snapshot!(built(&format!("{SOURCES}{artifacts}")), @r"
    apps: apps/prod from apps
    more: more from more
    ");
    let artifacts = "  pathPattern: \"@repo/{folder}/prod\"
  artifacts:
  - name: \"{folder}\"
    copy:
    - { from: \"@repo/{folder}/**\", to: \"@artifact/\" }
";
    insta::assert_snapshot!(built(&format!("{SOURCES}{artifacts}")), @r"
    apps: apps/prod from apps
    more: elsewhere
    ");
}

#[test]
fn a_source_that_git_does_not_hold_is_copied_from_here_where_it_has_a_folder_of_this_repository() {
    let of = |from: &str| {
        format!(
            "  sources: [{{ alias: repo, kind: GitRepository, name: tenant }}]
  artifacts:
  - name: apps
    copy: [{{ from: \"@repo/{from}\", to: \"@artifact/\" }}]
"
        )
    };
    insta::assert_snapshot!(built(&of("apps/**")), @r"
    apps: apps/prod from apps
    more: elsewhere
    ");
    let reason = "apps: b-generator.yaml:8:20 it copies from GitRepository tenant, another repository\nmore: elsewhere\n";
    assert_eq!(built(&of("**")), reason);
    assert_eq!(built(&of("gone/**")), reason);
}

#[test]
fn what_can_not_be_mapped_back_is_told_with_its_line() {
    let copies = [
        "{ from: \"@repo/apps/**\", to: \"@artifact/web/\" }",
        "{ from: \"@charts/apps/**\", to: \"@artifact/\" }",
        "{ from: \"@none/apps/**\", to: \"@artifact/\" }",
        "{ from: \"@repo/gone/**\", to: \"@artifact/\" }",
        "{ from: \"@repo/apps/base/s.yaml\", to: \"@artifact/t.yaml\" }",
        "{ from: \"@repo/apps/**\", to: \"@artifact/\", strategy: Extract }",
        "{ from: \"@repo/apps/**\", to: \"@artifact/\", exclude: [\"[\"] }",
        "{ from: \"@repo/apps/**\", to: \"@artifact/\" }\n    - { from: \"@repo/more/**\", to: \"@artifact/more/\" }",
        "{ from: \"@repo/apps/**\", to: \"@artifact/\" }\n    - { from: \"@repo/apps/base/s.yaml\", to: \"@artifact/base/\", strategy: Merge }",
    ];
    let mut told = String::new();
    for copy in copies {
        let artifacts = format!(
            "  artifacts:\n  - name: apps\n    copy:\n    - {copy}\n  - name: more\n    copy:\n    - {{ from: \"@repo/more/**\", to: \"@artifact/\" }}\n"
        );
        writeln!(told, "{copy}\n{}", built(&format!("{SOURCES}{artifacts}"))).unwrap();
    }
    insta::assert_snapshot!(told, @r#"
    { from: "@repo/apps/**", to: "@artifact/web/" }
    apps: b-generator.yaml:11:36 it moves apps to another folder
    more: more from more

    { from: "@charts/apps/**", to: "@artifact/" }
    apps: b-generator.yaml:11:15 it copies from GitRepository charts, another repository
    more: more from more

    { from: "@none/apps/**", to: "@artifact/" }
    apps: b-generator.yaml:11:15 its generator has no source with alias none
    more: b-generator.yaml:11:15 its generator has no source with alias none

    { from: "@repo/gone/**", to: "@artifact/" }
    apps: b-generator.yaml:11:15 nothing matches `@repo/gone/**`, so it is not made
    more: b-generator.yaml:11:15 nothing matches `@repo/gone/**`, so it is not made

    { from: "@repo/apps/base/s.yaml", to: "@artifact/t.yaml" }
    apps: b-generator.yaml:11:45 it renames apps/base/s.yaml
    more: more from more

    { from: "@repo/apps/**", to: "@artifact/", strategy: Extract }
    apps: b-generator.yaml:11:60 it has what an archive holds
    more: more from more

    { from: "@repo/apps/**", to: "@artifact/", exclude: ["["] }
    apps: b-generator.yaml:11:59 a pattern of `exclude` is none
    more: b-generator.yaml:11:59 a pattern of `exclude` is none

    { from: "@repo/apps/**", to: "@artifact/" }
        - { from: "@repo/more/**", to: "@artifact/more/" }
    apps: b-generator.yaml:12:36 it moves more beside what else it has
    more: more from more

    { from: "@repo/apps/**", to: "@artifact/" }
        - { from: "@repo/apps/base/s.yaml", to: "@artifact/base/", strategy: Merge }
    apps: b-generator.yaml:12:74 it merges files
    more: more from more
    "#);
}
