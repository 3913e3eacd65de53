//! What nothing is said of: what does not build, and what nobody here looks at.

use super::{Scratch, answer, changes, pr, support, text_of};

/// What an answer does not tell, a line each.
fn not_rendered(answer: &serde_json::Value) -> Vec<String> {
    let line = |one: &serde_json::Value| {
        let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
        let name = one["kustomization"]["name"].as_str().unwrap_or("-");
        format!(
            "{} {} {name} {} {}: {}",
            text("cluster"),
            text("path"),
            text("side"),
            text("cause"),
            text("reason")
        )
    };
    answer["notRendered"].as_array().unwrap().iter().map(line).collect()
}

fn map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: n }}\ndata: {{ k: {value} }}\n"
    )
}

/// A cluster with a Flux Kustomization of `apps` and one that reads another source.
fn cluster_with(source: &str) -> Scratch {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/apps.yaml", flux("apps", "apps"));
    let other = flux("web", "").replace("kind: GitRepository, name: flux-system", source);
    scratch.write("clusters/one/web.yaml", other);
    scratch.write("apps/kustomization.yaml", "resources: [a.yaml]\n").write("apps/a.yaml", map("a", "v"));
    scratch.write("web/a.yaml", map("web", "v")).write("docs/a.md", "words\n");
    scratch
}

#[test]
fn what_an_artifact_generator_copies_is_looked_at_where_it_keeps_its_place() {
    let scratch = generated("@artifact/");
    scratch.write("web/a.yaml", map("web", "w")).write("docs/a.md", "other words\n");
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), ["one web changed ConfigMap/web - at-once"]);
    assert_eq!(not_rendered(&told), Vec::<String>::new());
}

/// A change of a cluster with what a generator copies of `web` to a folder of an artifact.
fn generated(to: &str) -> Scratch {
    let scratch = cluster_with("kind: ExternalArtifact, name: web");
    let generator = format!(
        "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{ name: g, namespace: \
         flux-system }}\nspec:\n  sources:\n  - {{ alias: repo, kind: GitRepository, name: flux-system }}\n  \
         artifacts:\n  - name: web\n    copy:\n    - {{ from: \"@repo/web/**\", to: \"{to}\" }}\n"
    );
    scratch.write("clusters/one/generator.yaml", generator).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch
}

#[test]
fn what_an_artifact_generator_moves_is_not_looked_at_and_told() {
    let scratch = generated("@artifact/other/");
    scratch.write("web/a.yaml", map("web", "w"));
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), Vec::<String>::new());
    assert_eq!(
        not_rendered(&told),
        [
            "one . web head source: Flux Kustomization web reads ExternalArtifact web, which is not looked at: it moves web \
          to another folder"
        ]
    );
    insta::assert_snapshot!(text_of(&scratch));
    let comment = pr(&scratch, &["--format", "markdown"]).stdout;
    assert!(comment.contains("**1 Flux Kustomization is not looked at, so nothing is said"), "{comment}");
    let page = pr(&scratch, &["--format", "html"]).stdout;
    assert!(page.contains("Not looked at") && page.contains("ExternalArtifact web"), "{page}");
    // What it does not copy it can't bring; both are told where both change.
    scratch.write("apps/a.yaml", map("a", "w"));
    let first = text_of(&scratch);
    assert_eq!(
        first.lines().next().unwrap(),
        "1 object changes in 1 cluster: it lands at once. 1 Flux Kustomization is not looked at, so nothing is said \
         of what changes there."
    );
    scratch.write("web/a.yaml", map("web", "v"));
    assert_eq!(not_rendered(&answer(&scratch, &[])), Vec::<String>::new());
}

#[test]
fn an_artifact_of_a_registry_may_come_from_files_that_no_build_reads() {
    let scratch = cluster_with("kind: OCIRepository, name: web");
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("docs/a.md", "other words\n").write(".github/workflows/a.yaml", "on: push\n");
    assert_eq!(text_of(&scratch), "Nothing changes in any cluster.\n");
    scratch.write("web/a.yaml", map("web", "w"));
    assert_eq!(
        not_rendered(&answer(&scratch, &[])),
        ["one . web head source: Flux Kustomization web reads OCIRepository web, which is not looked at"]
    );
}

/// A cluster of which Git says no root, and whose Flux Kustomizations read what is pushed from `k8s`.
fn pushed() -> Scratch {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| {
        let text = support::flux_kustomization(name, path, "");
        text.replace("kind: GitRepository, name: flux-system", "kind: OCIRepository, name: flux-system")
    };
    let all = flux("apps", "apps") + "---\n" + &flux("variables", "clusters/one/variables");
    scratch.write("k8s/clusters/one/flux-system/all.yaml", all);
    scratch.write("k8s/clusters/one/variables/a.yaml", map("variables", "v"));
    scratch.write(
        "k8s/apps/kustomization.yaml",
        "resources: [a.yaml]\nconfigMapGenerator: [{ name: c, files: [c.sh] }]\n",
    );
    scratch.write("k8s/apps/a.yaml", map("a", "v")).write("k8s/apps/c.sh", "true\n");
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch
}

#[test]
fn what_a_folder_is_pushed_from_is_not_known_and_told() {
    let told = [
        "one apps apps head source: Flux Kustomization apps reads OCIRepository flux-system, which is not looked at",
        "one clusters/one/variables variables head source: Flux Kustomization variables reads OCIRepository \
         flux-system, which is not looked at",
    ];
    let files = ["k8s/clusters/one/variables/a.yaml", "k8s/apps/a.yaml", "k8s/apps/c.sh"];
    for file in files {
        let scratch = pushed();
        scratch.write(file, map("other", "w"));
        assert_eq!(not_rendered(&answer(&scratch, &[])), told, "{file}");
    }
    // A folder of that name may be the one, whoever else reads it.
    let scratch = pushed();
    scratch.write("k8s/clusters/one/git.yaml", support::flux_kustomization("git", "k8s/apps", "")).commit();
    scratch.git(&["branch", "--force", "main", "HEAD"]);
    scratch.write("k8s/apps/a.yaml", map("a", "w"));
    let answered = answer(&scratch, &[]);
    assert_eq!(changes(&answered), ["one k8s/apps changed ConfigMap/a - at-once"]);
    assert_eq!(not_rendered(&answered), told[..1]);
}

#[test]
fn what_reads_another_revision_of_this_repository_is_told() {
    let scratch = cluster_with("kind: GitRepository, name: release");
    scratch.replace("clusters/one/web.yaml", "path: ./", "path: ./web");
    let source = |name: &str, more: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ interval: 1m, url: https://example.org/fleet, ref: {{ {more} }} }}\n"
        )
    };
    scratch.write("clusters/one/flux-system/source.yaml", source("flux-system", "branch: main"));
    scratch.write("clusters/one/release.yaml", source("release", "tag: v1")).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("web/a.yaml", map("web", "w"));
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), Vec::<String>::new());
    assert_eq!(
        not_rendered(&told),
        [
            "one web web head revision: GitRepository release follows tag `v1`, and flux-system, which brings it, branch \
             `main`: this commit reaches it once it is there"
        ]
    );
}

/// What is copied out of an artifact of a registry may be pushed from any folder.
#[test]
fn what_a_generator_copies_of_what_is_pushed_is_not_known_and_told() {
    let scratch = Scratch::empty();
    let flux = support::flux_kustomization("web", "apps/web", "");
    let web = flux.replace("kind: GitRepository, name: flux-system", "kind: ExternalArtifact, name: web");
    let root = support::flux_kustomization("flux-system", "k8s/clusters/one", "");
    let generator = "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: { name: all, namespace: flux-system }\nspec:\n  sources: [{ alias: repo, kind: OCIRepository, name: fleet }]\n  artifacts:\n  - name: web\n    copy: [{ from: '@repo/apps/web/', to: '@artifact/apps/web/' }]\n";
    scratch
        .write("k8s/clusters/one/flux-system/gotk-sync.yaml", root)
        .write("k8s/clusters/one/web.yaml", web);
    scratch.write("k8s/clusters/one/generator.yaml", generator);
    scratch.write("k8s/apps/web/a.yaml", map("web", "v")).write("k8s/apps/other/a.yaml", map("other", "v"));
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("k8s/apps/other/a.yaml", map("other", "w"));
    assert_eq!(not_rendered(&answer(&scratch, &[])), Vec::<String>::new());
    scratch.write("k8s/apps/web/a.yaml", map("web", "w"));
    assert_eq!(
        not_rendered(&answer(&scratch, &[])),
        [
            "one apps/web web head source: Flux Kustomization web reads ExternalArtifact web, which is not looked at: \
          it copies from OCIRepository fleet, another repository"
        ]
    );
}

#[test]
fn what_lies_in_a_root_of_nobody_is_not_looked_at() {
    let scratch = Scratch::empty();
    scratch.write("clusters/one/apps.yaml", support::flux_kustomization("apps", "apps", ""));
    scratch.write("clusters/one/a.yaml", map("loose", "v")).write("apps/a.yaml", map("a", "v")).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("clusters/one/apps.yaml", "10m", "9m");
    assert_eq!(not_rendered(&answer(&scratch, &[])), Vec::<String>::new());
    scratch.write("clusters/one/a.yaml", map("loose", "w"));
    assert_eq!(
        not_rendered(&answer(&scratch, &[])),
        [
            "one clusters/one - head unreached: no Flux Kustomization in Git applies clusters/one/a.yaml to one"
        ]
    );
}

#[test]
fn what_begins_to_read_another_source_is_not_deleted() {
    let scratch = cluster_with("kind: OCIRepository, name: web");
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace(
        "clusters/one/apps.yaml",
        "kind: GitRepository, name: flux-system",
        "kind: ExternalArtifact, name: apps",
    );
    scratch.replace(
        "clusters/one/web.yaml",
        "kind: OCIRepository, name: web",
        "kind: GitRepository, name: flux-system",
    );
    scratch.replace("clusters/one/web.yaml", "path: ./", "path: ./web");
    let told = answer(&scratch, &[]);
    assert_eq!(
        changes(&told),
        [
            "one clusters/one changed Kustomization/apps - at-once",
            "one clusters/one changed Kustomization/web - at-once"
        ]
    );
    insta::assert_debug_snapshot!(not_rendered(&told));
}

#[test]
fn a_repository_without_flux_is_told_to_be_one() {
    let scratch = Scratch::empty();
    scratch.write("deploy/a.yaml", map("a", "v")).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    assert_eq!(text_of(&scratch), "Nothing changes in any cluster.\n");
    scratch.write("deploy/a.yaml", map("a", "w"));
    insta::assert_snapshot!(text_of(&scratch));
    insta::assert_debug_snapshot!(not_rendered(&answer(&scratch, &[])));
    let comment = pr(&scratch, &["--format", "markdown"]).stdout;
    assert!(
        comment.starts_with("<!--") && comment.contains("**There is no Flux Kustomization here"),
        "{comment}"
    );
}

#[test]
fn what_no_cluster_gets_is_not_looked_at() {
    let scratch = cluster_with("kind: GitRepository, name: flux-system");
    scratch.replace("clusters/one/web.yaml", "path: ./", "path: ./web");
    scratch.write("unused/lost.yaml", support::flux_kustomization("lost", "lost", ""));
    scratch.write("lost/a.yaml", map("lost", "v")).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("lost/a.yaml", map("lost", "w"));
    insta::assert_snapshot!(text_of(&scratch));
}

/// A parent that lists a child by a kustomization of its own.
fn family() -> Scratch {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/parent.yaml", flux("parent", "parent"));
    scratch.write("parent/kustomization.yaml", "resources: [child.yaml]\n");
    scratch.write("parent/child.yaml", flux("child", "child"));
    scratch.write("child/kustomization.yaml", "resources: [a.yaml]\n").write("child/a.yaml", map("a", "v"));
    scratch.write("other/kustomization.yaml", "resources: [a.yaml]\n").write("other/a.yaml", map("b", "v"));
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch
}

#[test]
fn below_a_parent_that_does_not_build_nothing_is_deleted() {
    let scratch = family();
    scratch.write("parent/kustomization.yaml", "resources: [gone.yaml]\n");
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), Vec::<String>::new());
    insta::assert_debug_snapshot!(not_rendered(&told));
    // What the parent's files say of a child is not what the cluster has.
    scratch.write("parent/kustomization.yaml", "resources: [child.yaml, gone.yaml]\n");
    scratch.replace("parent/child.yaml", "path: ./child", "path: ./other");
    let told = answer(&scratch, &[]);
    assert_eq!(changes(&told), Vec::<String>::new());
    insta::assert_debug_snapshot!(not_rendered(&told));
    insta::assert_snapshot!(text_of(&scratch));
    // What is new on the way back was there before, or not: nobody knows.
    scratch.commit();
    scratch.git(&["branch", "--force", "main", "HEAD~0"]);
    scratch.git(&["checkout", "--quiet", "-B", "back"]);
    scratch.write("parent/kustomization.yaml", "resources: [child.yaml]\n");
    assert_eq!(changes(&answer(&scratch, &[])), Vec::<String>::new());
}

#[test]
fn a_child_that_its_parent_no_longer_lists_is_deleted() {
    let scratch = family();
    scratch
        .write("parent/kustomization.yaml", "resources: [a.yaml]\n")
        .write("parent/a.yaml", map("new", "v"));
    let told = answer(&scratch, &[]);
    assert_eq!(
        changes(&told),
        [
            "one parent created ConfigMap/new - at-once",
            "one parent deleted Kustomization/child - at-once",
            "one child deleted ConfigMap/a - at-once",
        ]
    );
}

#[test]
fn the_verdict_says_what_does_not_build_where_something_else_changes_too() {
    let scratch = family();
    scratch.write("clusters/one/more.yaml", map("more", "v"));
    scratch.write("child/kustomization.yaml", "resources: [gone.yaml]\n");
    let told = text_of(&scratch);
    assert_eq!(
        told.lines().next().unwrap(),
        "1 object changes in 1 cluster: it lands at once. 1 folder is not built, so nothing is said of what changes there."
    );
}

#[test]
fn what_flux_does_not_delete_is_kept() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str, more: &str| support::flux_kustomization(name, path, more);
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one", ""));
    let never = flux("never", "never", "").replace("prune: true", "prune: false");
    scratch.write("clusters/one/never.yaml", never);
    scratch.write("clusters/one/orphan.yaml", flux("orphan", "orphan", "  deletionPolicy: Orphan\n"));
    scratch.write("clusters/one/held.yaml", flux("held", "held", "  suspend: true\n"));
    scratch.write("clusters/one/own.yaml", flux("own", "own", ""));
    for name in ["never", "orphan", "held", "own"] {
        scratch.write(&format!("{name}/kustomization.yaml"), "resources: [a.yaml, b.yaml]\n");
        let kept = "metadata: { annotations: { kustomize.toolkit.fluxcd.io/prune: disabled },";
        scratch.write(&format!("{name}/a.yaml"), map(name, "v"));
        scratch.write(&format!("{name}/b.yaml"), map(&format!("{name}-b"), "v").replace("metadata: {", kept));
    }
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    for name in ["never", "held"] {
        scratch.write(&format!("{name}/kustomization.yaml"), "resources: [b.yaml]\n");
    }
    scratch.write("own/kustomization.yaml", "resources: [a.yaml]\n");
    std::fs::remove_file(scratch.top().join("clusters/one/orphan.yaml")).unwrap();
    insta::assert_snapshot!(text_of(&scratch));
    let comment = pr(&scratch, &["--format", "markdown"]).stdout;
    assert!(comment.contains("- kept `ConfigMap n/never`") && !comment.contains("lands never"), "{comment}");
}
