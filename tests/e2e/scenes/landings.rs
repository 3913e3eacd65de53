//! What `pr` says of changes that wait for others, and when they land.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::walk_through::scaffold;
use crate::fleet::Fleet;
use crate::wait::{WORK, until};
use crate::watch::Watch;
use crate::window::Window;

const NAME: &str = "landings_lie_within_what_pr_says";
const FLUX: &str = "clusters/edge-01/flux/more.yaml";
const HELD: &str = "clusters/edge-01/apps/apps-rw/more.yaml";

/// How long an opening lasts, and how long the window is closed until the second one.
const MINUTES: [i64; 2] = [2, 1];

fn flux(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
         flux-system }}\nspec:\n  interval: 30s\n  retryInterval: 10s\n  timeout: 1m\n  path: ./more/{name}\n  prune: \
         true\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n{more}"
    )
}

fn map(namespace: &str, name: &str, color: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: {namespace} }}\ndata: {{ color: \
         \"{color}\" }}\n"
    )
}

/// A Job that is complete only some seconds after it was made.
fn slow(name: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: {name}, namespace: jobs }}\nspec:\n  template:\n    spec:\n      \
         serviceAccountName: default\n      restartPolicy: Never\n      containers: [{{ name: it, image: slow, command: \
         [/bin/sleep, \"8\"] }}]\n"
    )
}

/// Adds to the walk-through who brings values and who takes them in, on both sides of the window, and a chain.
fn write(fleet: &Fleet) {
    let takes =
        |name: &str| format!("  postBuild: {{ substituteFrom: [{{ kind: ConfigMap, name: {name} }}] }}\n");
    let all = [
        flux("values", ""),
        flux("reader", &takes("held-values")),
        flux("first", ""),
        flux("middle", "  wait: true\n  dependsOn: [{ name: first }]\n"),
        flux("last", "  dependsOn: [{ name: middle }]\n"),
    ];
    fleet.tree.write(FLUX, all.concat());
    fleet.tree.write("more/values/map.yaml", map("flux-system", "values", "red"));
    fleet.tree.write("more/reader/map.yaml", map("default", "reader", "${color}"));
    fleet.tree.write("more/first/map.yaml", map("default", "first", "red"));
    fleet.tree.write("more/middle/job.yaml", slow("red"));
    fleet.tree.write("more/last/map.yaml", map("default", "last", "red"));
    let held = [
        map("flux-system", "held-values", "red"),
        map("default", "held-reader", "${color}"),
        map("default", "held", "red"),
    ];
    fleet.tree.write(HELD, held.concat());
    fleet.tree.replace(
        "clusters/edge-01/apps/apps-rw/kustomization.yaml",
        "  - nginx\n",
        "  - nginx\n  - more.yaml\n",
    );
    let alone = format!("interval: 30s\n{}", takes("values"));
    fleet
        .tree
        .replace("clusters/edge-01/flux/apps-rw.yaml", "interval: 10m\n", &alone)
        .replace("clusters/edge-01/flux/apps-rw.yaml", "retryInterval: 2m", "retryInterval: 10s")
        .replace("clusters/edge-01/flux/apps-rw.yaml", "  dependsOn:\n    - name: apps-rt\n", "")
        .replace("clusters/edge-01/flux/flux-system/gotk-sync.yaml", "interval: 1m0s\n", "interval: 30s\n");
}

/// Closes the cluster and gives it a window that opens soon, and again soon after its end.
fn closed_until_soon(fleet: &Fleet) -> [Window; 2] {
    fleet.clusters[0].run_job("close-reconciliation-window");
    let first = Window::ahead(SignedDuration::from_secs(75), MINUTES[0]);
    let open = first.close + MINUTES[1].minutes();
    let second = Window { open, close: open + MINUTES[0].minutes() };
    let minute = |at: Timestamp| at.to_zoned(TimeZone::get(crate::window::ZONE).unwrap()).minute();
    let text = fleet.tree.text("windows.yaml");
    let lines = |key: &str, [one, other]: [Timestamp; 2]| {
        let start = text.find(&format!("    {key}: ")).unwrap();
        let line = text[start..].lines().next().unwrap();
        fleet.tree.replace(
            "windows.yaml",
            line,
            &format!("    {key}: {},{} * * * *", minute(one), minute(other)),
        );
    };
    lines("open", [first.open, second.open]);
    lines("close", [first.close, second.close]);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Windows");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    assert!(fleet.clusters[0].is_suspended("apps-rw"));
    [first, second]
}

/// Looks at what lands until an instant.
fn pass(watch: &mut Watch<'_>, what: &str, at: Timestamp) {
    until(what, WORK, || {
        watch.have_landed();
        (Timestamp::now() >= at).then_some(())
    });
}

/// Plays it; Flux fetches by itself.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    write(fleet);
    fleet.merge("Values, who takes them in, and a chain");
    let all = ["flux-system", "infra", "apps-rt", "apps-rw", "values", "reader", "first", "middle", "last"];
    fleet.landed(0, &all);
    let [first, second] = closed_until_soon(fleet);
    let (tree, cluster) = (&fleet.tree, &fleet.clusters[0]);
    let mut watch = Watch::new(NAME, cluster);

    for name in ["values", "first", "last"] {
        tree.replace(&format!("more/{name}/map.yaml"), "red", "blue");
    }
    tree.write("more/middle/job.yaml", slow("blue"));
    let values = tree.text(HELD).replacen("red", "blue", 1);
    tree.write(HELD, values);
    let new = [flux("ground", ""), flux("roof", "  dependsOn: [{ name: ground }]\n")];
    tree.write(FLUX, tree.text(FLUX) + &new.concat());
    tree.write("more/ground/map.yaml", map("default", "ground", "blue"));
    tree.write("more/roof/map.yaml", map("default", "roof", "blue"));
    watch.predict(fleet);
    fleet.merge_unseen("While it is closed");
    assert!(Timestamp::now() < first.open, "the machine is too slow for this window");
    pass(&mut watch, "the first opening", first.open + 5.seconds());

    let edit = |from: &str, to: &str| {
        let text = tree.text(HELD);
        let (values, held) = text.split_at(text.find("name: held,").unwrap());
        tree.write(HELD, format!("{values}{}", held.replace(from, to)));
    };
    edit("red", "blue");
    let answer = watch.predict(fleet);
    let deadline: Timestamp = answer["deadline"].as_str().unwrap().parse().unwrap();
    assert!(Timestamp::now() < deadline, "{answer:#}");
    fleet.merge_unseen("Before the deadline");
    pass(&mut watch, "the end of the first opening", first.close - 12.seconds());
    let landed = watch.landed("ConfigMap held").unwrap();
    assert!(landed < first.close, "what was merged before the deadline landed at {landed}");

    edit("blue", "green");
    let answer = watch.predict(fleet);
    assert!(answer["deadline"].is_null(), "{answer:#}");
    // Flux looks at the repository later than that.
    cluster.hold_source(true);
    fleet.merge_unseen("Behind the deadline");
    until("the window closes", WORK, || {
        watch.have_landed();
        cluster.is_suspended("apps-rw").then_some(())
    });
    cluster.hold_source(false);
    until("all lands", WORK, || watch.have_landed().then_some(()));
    watch.record();
    let landed = watch.landed("ConfigMap held").unwrap();
    assert!(landed >= second.open, "what was merged behind the deadline landed at {landed}");
}
