//! Repositories that hold nothing to divide.

use crate::repository::from_source;
use crate::support::scratch::Scratch;

/// What stands in place of kustomizations is named, with what to do instead.
#[test]
fn init_says_what_there_is_instead_of_kustomizations() {
    let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\n";
    let artifact =
        from_source("web", "./web", "web").replace("kind: GitRepository", "kind: ExternalArtifact");
    let list = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n";
    let own = from_source("flux-system", "./clusters/c", "flux-system");
    let both = format!("{own}---\n{artifact}");
    let cases = [
        (
            "clusters/c/all.yaml",
            both,
            "no Flux Kustomization in this repository, apart from Flux's own bootstrap, builds a folder",
        ),
        (
            "clusters/c/flux-system.yaml",
            own.clone(),
            "flux-system applies everything here, Flux included: a window would stop Flux too",
        ),
        (
            "clusters/c/typo.yaml",
            format!("{own}---\n{}", from_source("web", "./app/web", "flux-system")),
            "the folders of web are not in this repository, so there is nothing to divide",
        ),
        (
            "t/web/kustomization.yaml.j2",
            list.to_owned(),
            "only templates of kustomizations: t/web/kustomization.yaml.j2",
        ),
        ("apps/web.yaml", argo.to_owned(), "apps/web.yaml is for Argo CD"),
        (
            "clusters/c/web.yaml",
            artifact,
            "no Flux Kustomization in this repository builds a folder of this repository",
        ),
        (
            "readme.md",
            "web\n".to_owned(),
            "there is no kustomization in this repository, so there is nothing",
        ),
    ];
    for (path, text, expected) in cases {
        let scratch = Scratch::empty();
        scratch.write(path, text).commit();
        let run = scratch.expect(3, &["init"]);
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}
