use super::*;
use crate::delivery::{Known, Model};
use crate::render::Lent;
use crate::repo::{File, Snapshot};
use crate::spec::parse;

const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: saturday } }
windows: { saturday: { timeZone: Etc/UTC, open: 0 22 * * SAT, close: 0 2 * * SUN } }
clusters: { one: {} }
rules: [{ kind: ConfigMap, type: rt }, { type: rw }]
";

/// Explains a path or a name.
fn asked(files: &[(&str, &str)], path: &str) -> Result<Explanation, Error> {
    let path_of = |path: &str| RepoPath::parse(path).unwrap();
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        snapshot.insert(path_of(path), File::new(text.as_bytes().to_vec()));
    }
    let spec = parse(&path_of("windows.yaml"), SPEC.as_bytes()).unwrap().spec;
    let renderer = Lent::default();
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::of(&spec), &renderer);
    let input = Input { spec: &spec, snapshot: &snapshot, model: &model, renderer: &renderer };
    let is_there = snapshot.is_dir(&path_of(path));
    match explain_app(&input, path)? {
        Some(explained) if !is_there => Ok(explained),
        _ => explain(&input, &path_of(path)),
    }
}

/// Explains a path, a line for each object.
fn explained(files: &[(&str, &str)], path: &str) -> String {
    let explained = asked(files, path).unwrap();
    let by = |one: &Consumer| one.kustomization.as_ref().map_or("-".to_owned(), |(_, name)| name.clone());
    let line = |one: &Explained| {
        let by: Vec<String> = one.consumers.iter().map(by).collect();
        format!(
            "{}: {} ({}) from {} by {}\n",
            one.live,
            one.change_type,
            one.reason,
            one.origin,
            by.join(", ")
        )
    };
    explained.objects.iter().map(line).collect()
}

#[test]
fn what_components_of_a_flux_kustomization_bring_is_explained_too() {
    let flux = |name: &str, more: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\n\
             spec: {{ interval: 5m, path: ./apps/web, prune: true, sourceRef: {{ kind: GitRepository, name: flux-system }}{more} }}\n"
        )
    };
    let (web, plain) = (flux("web", ", targetNamespace: shop, components: [../../parts]"), flux("plain", ""));
    let files = [
        ("clusters/one/web.yaml", web.as_str()),
        ("clusters/one/plain.yaml", plain.as_str()),
        ("apps/web/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/web/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: { name: web }\n"),
        (
            "parts/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [more.yaml]\n",
        ),
        ("parts/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more }\n"),
    ];
    insta::assert_snapshot!(
        ["apps/web", "parts", "parts/more.yaml"].map(|path| explained(&files, path)).join("\n")
    );
}

#[test]
fn an_app_is_explained_by_its_name() {
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps, namespace: flux-system }\n\
                spec: { interval: 5m, path: ./apps/one, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
    let service = |name: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: {name}, namespace: shop }}\n")
    };
    let (web, api) = (service("web"), service("api"));
    let files = [
        ("clusters/one/apps.yaml", flux),
        ("apps/one/kustomization.yaml", "resources: [site, api]\n"),
        ("apps/one/site/kustomization.yaml", "resources: [../../base/web]\n"),
        ("apps/base/web/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/base/web/service.yaml", web.as_str()),
        ("apps/one/api/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/one/api/service.yaml", api.as_str()),
    ];
    // By its folder, by that of the base, and the Flux Kustomization with all.
    insta::assert_snapshot!(["site", "web", "api", "apps"].map(|name| explained(&files, name)).join("\n"));
}

#[test]
fn a_misspelt_name_is_told_what_was_meant() {
    let files = [
        ("apps/one/kustomization.yaml", "resources: [keycloak]\n"),
        ("apps/one/keycloak/kustomization.yaml", "resources: [a.yaml]\n"),
        ("apps/one/keycloak/a.yaml", "apiVersion: v1\nkind: Service\nmetadata: { name: a }\n"),
        (
            "clusters/one/apps.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: tenants, namespace: flux-system }\n\
             spec: { interval: 5m, path: ./apps/one, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n",
        ),
    ];
    let help = |word: &str| asked(&files, word).unwrap_err().diagnostics[0].help.clone().unwrap();
    assert_eq!(help("keyclok"), "did you mean `keycloak`?");
    assert_eq!(help("tenant"), "did you mean `tenants`?");
    // As `clusters` prints it.
    assert_eq!(explained(&files, "flux-system/tenants"), explained(&files, "tenants"));
    assert_eq!(help("other/tenants"), help("nothing/there"));
}
