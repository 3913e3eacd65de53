//! What a source leaves out of its artifact.

use crate::repository::{CONFIG_MAP, INIT, SERVICE, notes, repository, root, spoken, told};
use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

/// A cluster whose source fetches one folder of the repository.
fn narrow() -> Scratch {
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
        metadata: { name: flux-system, namespace: flux-system }\n\
        spec: { interval: 1m, url: https://example.com/all.git, ignore: \"/*\\n!/deploy\\n\" }\n";
    repository(&[
        ("deploy/clusters/prod/source.yaml", source),
        ("deploy/clusters/prod/flux.yaml", &root("prod").replace("./clusters", "./deploy/clusters")),
        ("deploy/clusters/prod/shop.yaml", &flux_kustomization("shop", "deploy/shop", "")),
        ("deploy/shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("deploy/shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ])
}

#[test]
fn a_gate_goes_where_flux_fetches_it() {
    let scratch = narrow();
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: the gate of cluster prod suspends shop entirely. Every object there has a window
     --> windows.yaml
     = help: leave it undivided
             or give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`
    prod
      deploy/shop  Flux Kustomization shop
    Gate: what opens and closes the windows in a cluster.
    From Sun 2026-11-29 04:00 UTC, 1 Flux Kustomization waits for Sat 2026-12-05 22:00 UTC. Nothing else changes.
    ");
    let files = scratch.git(&["ls-files"]);
    let outside: Vec<&str> = files.lines().filter(|path| !path.starts_with("deploy/")).collect();
    assert_eq!(outside, ["windows.schema.json", "windows.yaml"]);
    assert_eq!(notes(&scratch), [""; 0]);
    let when = scratch.expect(0, &["when", "shop", "--now", "2026-11-23T12:00:00Z"]);
    assert!(when.stdout.contains("closed"), "{}", when.stdout);
}

#[test]
fn no_gate_is_written_where_flux_fetches_nothing() {
    let scratch = narrow();
    told(&scratch, &INIT);
    scratch.replace("windows.yaml", "\"deploy/", "\"").commit();
    let run = scratch.expect(5, &["sync", "--yes"]);
    insta::assert_snapshot!(spoken(&run), @r"
    error: GitRepository flux-system does not fetch clusters/prod/infra/reconciliation-windows/kustomization.yaml of the gate: `/*` in `spec.ignore` of its source leaves it out. No other source in Git does
     --> deploy/clusters/prod/shop.yaml:8:14
      |
    8 |   sourceRef: { kind: GitRepository, name: flux-system }
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: commit what `flux bootstrap` wrote, so that its source is known
              or add `!/clusters/prod/infra/reconciliation-windows` below `/*` in `spec.ignore`, or remove that line
              or name folders that Flux fetches under `layout`
    ");
}

/// Clusters that fetch a folder of their own and one that they share.
#[test]
fn gates_go_where_each_cluster_fetches_its_own() {
    let of = |cluster: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
            metadata: {{ name: flux-system, namespace: flux-system }}\n\
            spec: {{ interval: 1m, url: https://example.com/all.git, ignore: \"/*\\n!/k/{cluster}\\n!/k/shared\\n\" }}\n"
        )
    };
    let path = |cluster: &str, file: &str| format!("k/{cluster}/start/{file}");
    let mut files: Vec<(String, String)> = Vec::new();
    for cluster in ["east", "west"] {
        let root = root(cluster).replace(&format!("./clusters/{cluster}"), &format!("./k/{cluster}/start"));
        files.push((path(cluster, "source.yaml"), of(cluster)));
        files.push((path(cluster, "flux.yaml"), root));
        files.push((path(cluster, "shop.yaml"), flux_kustomization("shop", "k/shared/apps/shop", "")));
    }
    let texts = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let service = SERVICE.replace("NAME", "shop");
    let shared = [
        ("k/shared/apps/shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("k/shared/apps/shop/service.yaml", &service),
    ];
    let scratch = repository(&texts.chain(shared).collect::<Vec<_>>());
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: the gate of clusters east, west suspends shop entirely. Every object there has a window
     --> windows.yaml
     = help: leave it undivided
             or give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`
    east, west
      k/shared/apps/shop  Flux Kustomization shop
    Gate: what opens and closes the windows in a cluster.
    From Sun 2026-11-29 04:00 UTC, 2 Flux Kustomizations in 2 clusters wait for Sat 2026-12-05 22:00 UTC. Nothing else changes.
    ");
    let files = scratch.git(&["ls-files", "k/*/infra/*"]);
    insta::assert_snapshot!(files, @r"
    k/east/infra/reconciliation-windows/close-reconciliation-window-patch.yaml
    k/east/infra/reconciliation-windows/kustomization.yaml
    k/east/infra/reconciliation-windows/open-reconciliation-window-patch.yaml
    k/shared/infra/reconciliation-windows/close-reconciliation-window-job.yaml
    k/shared/infra/reconciliation-windows/kustomization.yaml
    k/shared/infra/reconciliation-windows/namespace.yaml
    k/shared/infra/reconciliation-windows/open-reconciliation-window-job.yaml
    k/shared/infra/reconciliation-windows/role-binding.yaml
    k/shared/infra/reconciliation-windows/role.yaml
    k/shared/infra/reconciliation-windows/service-account.yaml
    k/west/infra/reconciliation-windows/close-reconciliation-window-patch.yaml
    k/west/infra/reconciliation-windows/kustomization.yaml
    k/west/infra/reconciliation-windows/open-reconciliation-window-patch.yaml
    ");
    assert_eq!(notes(&scratch), [""; 0]);
}

/// Another cluster that fetches everything is no reason to write what a cluster would never get.
#[test]
fn a_gate_is_written_where_its_own_cluster_fetches_it() {
    let scratch = narrow();
    let all = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
        metadata: { name: flux-system, namespace: flux-system }\n\
        spec: { interval: 1m, url: https://example.com/all.git }\n";
    scratch.write("deploy/clusters/test/source.yaml", all);
    scratch.write("deploy/clusters/test/flux.yaml", root("test").replace("./clusters", "./deploy/clusters"));
    scratch.write("deploy/clusters/test/shop.yaml", flux_kustomization("shop", "deploy/shop", ""));
    scratch.commit();
    told(&scratch, &INIT);
    scratch
        .write(".sourceignore", "# not for Flux\ninfra/\n")
        .replace("windows.yaml", "22 * * SAT", "21 * * SAT")
        .commit();
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("`infra/` in .sourceignore leaves it out"), "{}", run.stderr);
}

#[test]
fn a_gate_that_flux_does_not_fetch_is_told() {
    let scratch = narrow();
    told(&scratch, &INIT);
    let source = "deploy/clusters/prod/source.yaml";
    scratch.replace(source, "!/deploy", "!/deploy\\n/deploy/infra").commit();
    let run = scratch.expect(1, &["check"]);
    insta::assert_snapshot!(run.stdout, @r#"
error[GW066]: GitRepository flux-system does not fetch `deploy/infra/reconciliation-windows/kustomization.yaml`: `/deploy/infra` in `spec.ignore` of its source leaves it out. flux-system of cluster prod does not build, and applies nothing new
 --> deploy/clusters/prod/source.yaml:4:65
  |
4 | …//example.com/all.git, ignore: "/*\n!/deploy\n/deploy/infra\n" }
  |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: add `!/deploy/infra/reconciliation-windows` below `/deploy/infra` in `spec.ignore`, or remove that line
note: deploy/clusters/prod/infra/reconciliation-windows/kustomization.yaml names it
 --> deploy/clusters/prod/infra/reconciliation-windows/kustomization.yaml:5:5
  |
5 |   - ../../../../infra/reconciliation-windows
  |     ----------------------------------------

error[GW039]: the sources of cluster prod leave out files of deploy/infra/reconciliation-windows. What the cluster has of `close-reconciliation-window` and `open-reconciliation-window` runs on, and nothing new arrives
 --> deploy/infra/reconciliation-windows/kustomization.yaml
 = help: choose folders that Flux fetches for `gate` and `clusterGate` under `layout`
         or add `!/deploy/infra/reconciliation-windows` below `/deploy/infra` in `spec.ignore`, or remove that line
"#);
    let when = scratch.expect(0, &["when", "shop", "--now", "2026-11-23T12:00:00Z"]);
    assert!(when.stdout.contains("does not build. It is assumed"), "{}", when.stdout);
}

/// A cluster whose apps are read from a source that begins to fetch nothing else as the gate comes, or later. An older
/// release let the gate read that one.
fn read_in_vain(is_later: bool) -> Scratch {
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
        metadata: { name: NAME, namespace: flux-system }\n\
        spec: { interval: 1m, url: https://example.com/all.git }\n";
    let shop = flux_kustomization("shop", "shop", "").replace("name: flux-system }", "name: apps }");
    let scratch = repository(&[
        ("clusters/prod/source.yaml", &source.replace("NAME", "flux-system")),
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/apps.yaml", &source.replace("NAME", "apps")),
        ("clusters/prod/shop.yaml", &shop),
        ("clusters/prod/kustomization.yaml", "resources: [source.yaml, flux.yaml, apps.yaml, shop.yaml]\n"),
        ("shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ]);
    told(&scratch, &INIT);
    let gate = scratch.text("clusters/prod/reconciliation-windows.yaml");
    assert!(gate.ends_with("    name: apps\n"), "{gate}");
    scratch.replace("clusters/prod/apps.yaml", "all.git", "all.git, ignore: \"/*\\n!/shop\\n\"");
    let amend: &[&str] = if is_later { &[] } else { &["--amend"] };
    scratch.git(&[&["commit", "--quiet", "--all", "--message", "narrow"], amend].concat());
    scratch
}

#[test]
fn a_gate_that_never_came_is_not_told_as_closed() {
    let asked = |scratch: &Scratch| {
        let commands = [
            &["when", "shop", "--now", "2026-11-23T12:00:00Z"][..],
            &["calendar", "--now", "2026-11-23T12:00:00Z"],
            &["clusters"],
        ];
        commands.map(|command| scratch.expect(0, command).stdout).join("---\n")
    };
    let scratch = read_in_vain(false);
    assert!(scratch.expect(1, &["check"]).stdout.contains("error[GW066]"));
    insta::assert_snapshot!("never_came", asked(&scratch));
    assert_eq!(told(&scratch, &["sync", "--yes"]), "");
    let gate = scratch.text("clusters/prod/reconciliation-windows.yaml");
    assert!(gate.ends_with("    name: flux-system\n"), "{gate}");
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    assert_eq!(notes(&scratch), [""; 0]);
    let when = scratch.expect(0, &["when", "shop", "--now", "2026-11-23T12:00:00Z"]).stdout;
    assert!(!when.contains("has not come"), "{when}");

    // What the cluster has from before runs on.
    let scratch = read_in_vain(true);
    let when = scratch.expect(0, &["when", "shop", "--now", "2026-11-23T12:00:00Z"]).stdout;
    assert!(when.contains("closed") && when.contains("does not build. It is assumed"), "{when}");
    told(&scratch, &["sync", "--yes"]);
    assert_eq!(notes(&scratch), [""; 0]);
}

/// Flux lists by itself what lies in a folder of which the source leaves out only the list.
#[test]
fn a_list_that_is_left_out_is_built_as_flux_lists_the_folder() {
    let scratch = narrow();
    scratch.write("deploy/shop/more.yaml", SERVICE.replace("NAME", "more")).commit();
    told(&scratch, &INIT);
    let source = "deploy/clusters/prod/source.yaml";
    scratch.replace(source, "!/deploy", "!/deploy\\n/deploy/shop/kustomization.yaml").commit();
    // Both services, of which the list names one.
    let verified = scratch.expect(0, &["verify", "--verbose"]).stdout;
    assert!(verified.contains("deploy/shop (prod): not split, 2 objects"), "{verified}");
    let told = scratch.expect(1, &["check"]).stdout;
    let codes: Vec<&str> = told.lines().filter(|line| line.contains("[GW")).collect();
    assert!(matches!(codes[..], [only] if only.contains("[GW066]")), "{told}");
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    // No side of the list would be what Flux builds.
    scratch.write("deploy/shop/config.yaml", CONFIG_MAP.replace("NAME", "config"));
    scratch.replace("deploy/shop/kustomization.yaml", "service.yaml", "service.yaml, config.yaml").commit();
    let told = scratch.expect(5, &["split", "--all", "--yes"]).stderr;
    assert!(told.contains("shop never sees deploy/shop/kustomization.yaml"), "{told}");
    assert!(told.contains("add `!/deploy/shop/kustomization.yaml` below"), "{told}");
}

/// A folder whose build reads what no source fetches.
fn generated(more: &str) -> Scratch {
    let list = format!(
        "resources: [service.yaml{more}]\nconfigMapGenerator: [{{ name: shop, envs: [shop.env] }}]\n"
    );
    let scratch = narrow();
    scratch.write("deploy/shop/shop.env", "a=1\n").commit();
    told(&scratch, &INIT);
    scratch.write("deploy/shop/kustomization.yaml", list);
    scratch.replace("deploy/clusters/prod/source.yaml", "!/deploy", "!/deploy\\n*.env").commit();
    scratch
}

#[test]
fn a_gate_that_holds_what_does_not_build_stays_as_it_is() {
    let scratch = generated("");
    let run = scratch.expect(1, &["check"]);
    let codes: Vec<&str> = run.stdout.lines().filter(|line| line.contains("[GW")).collect();
    assert!(matches!(codes[..], [only] if only.contains("[GW066]")), "{}", run.stdout);
    let told = [&["sync", "--yes"][..], &["split", "--all", "--yes"]].map(|command| {
        let run = scratch.run(command);
        format!("{command:?} ends with {}\n{}", run.code, spoken(&run))
    });
    insta::assert_snapshot!(told.join("\n"));
}

/// What a build lacks here is told first: Flux fetches it.
#[test]
fn a_remote_base_is_fetched_before_anything_is_said_of_the_source() {
    let scratch = generated(", 'https://github.com/example/shop//deploy?ref=v1'");
    let told = scratch.expect(5, &["split", "--all", "--yes"]).stderr;
    assert!(told.contains("`gitops-windows fetch-bases`") && !told.contains("never sees"), "{told}");
}

/// What Flux does not list is no reason why the rest does not build.
#[cfg(unix)]
#[test]
fn a_link_that_flux_does_not_list_hides_no_error() {
    let scratch = narrow();
    told(&scratch, &INIT);
    scratch.git(&["rm", "--quiet", "deploy/shop/kustomization.yaml"]);
    std::os::unix::fs::symlink("service.yaml", scratch.top().join("deploy/shop/linked.yaml")).unwrap();
    scratch.write("deploy/shop/wrong.yaml", "kind: Service\nmetadata: {}\n").commit();
    let told = scratch.expect(0, &["sync", "--yes"]).stderr;
    assert!(told.contains("missing metadata.name") && !told.contains("never sees"), "{told}");
}

/// Two clusters read one folder by sources of which one leaves a file out.
#[test]
fn each_cluster_is_told_what_its_own_source_fetches() {
    let of = |cluster: &str, ignore: &str| {
        let source = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: flux-system, namespace: flux-system }}\nspec: {{ interval: 1m, url: https://example.com/all.git{ignore} }}\n"
        );
        format!("{source}---\n{}", root(cluster))
    };
    let (one, two) = (of("one", ""), of("two", ", ignore: /shop/config.yaml"));
    let shop = flux_kustomization("shop", "shop", "");
    let scratch = repository(&[
        ("clusters/one/flux-system.yaml", &one),
        ("clusters/one/shop.yaml", &shop),
        ("clusters/one/more/kustomization.yaml", "resources: [service.yaml]\n"),
        ("clusters/one/more/service.yaml", &SERVICE.replace("NAME", "more")),
        ("clusters/two/flux-system.yaml", &two),
        ("clusters/two/shop.yaml", &shop),
        ("shop/service.yaml", &SERVICE.replace("NAME", "shop")),
        ("shop/config.yaml", &CONFIG_MAP.replace("NAME", "shop")),
    ]);
    told(&scratch, &INIT);
    // What a root lists by itself has the root's Flux Kustomization.
    let explained = ["shop", "clusters/one/more"].map(|path| scratch.expect(0, &["explain", path]).stdout);
    insta::assert_snapshot!(explained.join("\n"));
    scratch.expect(0, &["verify"]);
}
