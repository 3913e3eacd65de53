//! Values of HelmReleases, which wait with the release that reads them.

use crate::repository::{CONFIG_MAP, INIT, flux};
use crate::support::scratch::Scratch;

/// A HelmRelease `web` that reads ConfigMap `values`.
const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: web\n  namespace: n\nspec:\n  interval: 10m\n  chart:\n    spec:\n      chart: web\n      version: 1.2.3\n      sourceRef: { kind: HelmRepository, name: charts }\n  valuesFrom:\n    - { kind: ConfigMap, name: values }\n";

/// A generated ConfigMap without a hash, as HelmReleases need it.
const GENERATOR: &str = "configMapGenerator:\n  - { name: values, namespace: \"n\", literals: [a=b], options: { disableNameSuffixHash: true } }\n";

/// A repository whose app `web` holds the release, a ConfigMap that nobody reads by values, and these files.
fn repository(list: &str, files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::empty();
    scratch
        .write("apps/kustomization.yaml", "resources:\n  - web\n")
        .write("apps/web/kustomization.yaml", format!("resources:\n  - release.yaml\n  - page.yaml\n{list}"))
        .write("apps/web/release.yaml", RELEASE)
        .write("apps/web/page.yaml", CONFIG_MAP.replace("NAME", "page"));
    for (path, text) in files {
        scratch.write(path, text);
    }
    flux(&scratch, "apps");
    scratch
}

#[test]
fn init_writes_the_rule_and_values_are_divided_with_their_release() {
    let values = CONFIG_MAP.replace("NAME", "values");
    let scratch = repository("  - values.yaml\n", &[("apps/web/values.yaml", &values)]);
    scratch.take(&INIT);
    let rules = "  - { kind: Namespace, type: rt }\n  - { valuesOf: HelmRelease, type: rw }\n  - { kind: ConfigMap, type: rt }\n";
    assert!(scratch.text("windows.yaml").contains(rules), "{}", scratch.text("windows.yaml"));
    let told = scratch.expect(0, &["explain", "apps/web/values.yaml"]).stdout;
    assert!(told.contains("values: rw (rule 2 of the spec: values go with their HelmRelease)"), "{told}");
    scratch.take(&["split", "--all", "--yes"]);
    assert_eq!(scratch.text("apps/apps-rw/web/values.yaml"), values);
    assert!(scratch.text("apps/apps-rt/web/page.yaml").contains("name: page"));
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync", "--yes"]).stdout, "");
    assert!(!scratch.run(&["check"]).stdout.contains("GW020"));
}

#[test]
fn generated_values_are_kept_by_the_side_of_their_release() {
    let scratch = repository(GENERATOR, &[]);
    scratch.take(&INIT);
    scratch.take(&["split", "--all", "--yes"]);
    insta::assert_snapshot!(scratch.text("apps/apps-rw/web/kustomization.yaml"));
    scratch.expect(0, &["verify"]);
    assert!(!scratch.run(&["check"]).stdout.contains("GW020"));
    assert!(scratch.expect(0, &["when", "apps/web/release.yaml"]).stdout.contains("rw  apps-rw"));
}

#[test]
fn a_spec_without_the_rule_stays_as_it_is_and_check_names_the_rule() {
    let scratch = repository(GENERATOR, &[]);
    scratch.take(&INIT);
    let spec = scratch.text("windows.yaml").replace("  - { valuesOf: HelmRelease, type: rw }\n", "");
    scratch.write("windows.yaml", spec).commit();
    scratch.take(&["split", "--all", "--yes"]);
    let run = scratch.run(&["check"]);
    let told = run.stdout + &run.stderr;
    assert!(told.contains("GW020"), "{told}");
    assert!(told.contains("put the rule `- { valuesOf: HelmRelease, type: rw }`"), "{told}");
}
