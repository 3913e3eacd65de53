//! Gates that look at a table every minute.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::json;

use super::walk_through::{change_both, conf, image, scaffold};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, KUSTOMIZATIONS};
use crate::landing::{predict, record, told};
use crate::wait::{WORK, holds, until};
use crate::window::Window;

pub fn utc(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%MZ").to_string()
}

/// Returns whether a job of the gate has suspended it.
pub fn is_held(cluster: &Cluster) -> bool {
    let found = cluster.api.get(&format!("{KUSTOMIZATIONS}/apps-rw")).unwrap();
    found["metadata"]["annotations"]["gitops-windows/held"].is_string() && found["spec"]["suspend"] == true
}

/// Begins with a gate that looks at a table; `more` lines stand under `gate` too.
pub fn look_every_minute(fleet: &mut Fleet, more: &str) {
    scaffold(fleet);
    let last = Timestamp::now().to_zoned(TimeZone::UTC).checked_add(300.days()).unwrap();
    let gate = format!("gate:\n  every: 1m\n  through: {}\n{more}", last.strftime("%Y-%m-%d"));
    fleet.tree.replace("windows.yaml", "gate:\n", &gate);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    // A minute after the pair came, so that it had closed nothing, as in this cluster.
    fleet.merge_of("2020-01-01T00:01:00Z", "Look at a table");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
}

/// A resumption by hand, one that was made again and missed runs are mended, an override opens, and a freeze closes whatever it
/// says.
pub fn play(fleet: &mut Fleet) {
    look_every_minute(fleet, "");
    let cluster = &fleet.clusters[0];
    until("the first tick closes", WORK * 3, || is_held(cluster).then_some(()));
    let uids = cluster.uids();

    cluster.reconciled("flux-system");
    assert!(is_held(cluster), "the parent took the suspension back");
    let resume = json!({ "spec": { "suspend": false } });
    cluster.api.change(&format!("{KUSTOMIZATIONS}/apps-rw"), Change::Merge("flux", &resume)).unwrap();
    until("a resumption by hand is mended", WORK * 3, || is_held(cluster).then_some(()));
    // Deleted, which leaves its objects as it is suspended, and made again without that.
    let own = format!("{KUSTOMIZATIONS}/apps-rw");
    cluster.api.change(&own, Change::Delete).unwrap();
    until("apps-rw goes", WORK, || cluster.kustomization("apps-rw").is_none().then_some(()));
    cluster.reconciled("flux-system");
    assert!(!cluster.is_suspended("apps-rw"), "it came suspended");
    until("one that was made again is mended", WORK * 3, || is_held(cluster).then_some(()));
    assert_eq!(cluster.uids(), uids, "an object was made again");

    // An override of some minutes, of which a freeze takes the last.
    let given = Window::ahead(SignedDuration::from_secs(75), 4);
    let freeze = given.open + 2.minutes();
    let spec = fleet.tree.text("windows.yaml");
    let stretches = format!(
        "overrides:\n  - {{ cluster: edge-01, type: rw, from: {}, until: {}, reason: INC-1 }}\n\
         freezes:\n  peak: {{ from: {}, to: {}, reason: trading peak }}\n",
        utc(given.open),
        utc(given.close),
        utc(freeze),
        utc(given.close + 60.minutes()),
    );
    fleet.tree.write("windows.yaml", format!("{spec}{stretches}"));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Let an urgent change in");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let by_when = predict(fleet, "edge-01", "nginx", "rw");
    assert_eq!(by_when.from, given.open);
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    let by_pr = told(fleet, "edge-01", "rw");
    assert_eq!(by_pr.from, given.open);
    fleet.merge("An urgent change");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    assert!(Timestamp::now() < given.open, "the machine is too slow for this override");
    holds(
        "the image waits for the override",
        WORK * 3,
        || Timestamp::now() >= given.open,
        || image(cluster).ends_with("1.29-alpine") || Timestamp::now() >= given.open,
    );
    let landed = until("the image lands with the override", WORK * 2, || {
        image(cluster).ends_with("1.30-alpine").then(Timestamp::now)
    });
    record("a_table_mends_what_others_do: the image", &by_when, landed);
    record("a_table_mends_what_others_do: the image, by pr", &by_pr, landed);
    assert!(landed < freeze, "the machine is too slow for this override");

    // Nothing runs as the freeze begins; the first run afterwards closes, although the override still lasts.
    cluster.stop_controllers();
    until("the freeze begins", WORK * 5, || (Timestamp::now() >= freeze).then_some(()));
    cluster.start_controllers();
    until("the freeze closes", WORK * 3, || is_held(cluster).then_some(()));
    assert!(Timestamp::now() < given.close, "the override ended before the freeze was seen");
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("A change in the freeze");
    until("the second configuration lands", WORK, || conf(cluster).contains("Second change").then_some(()));
    let looked = Timestamp::now() + SignedDuration::from_secs(75);
    let is_over = || Timestamp::now() >= looked;
    holds("the image waits", WORK, is_over, || image(cluster).ends_with("1.30-alpine"));
    assert_eq!(cluster.uids(), uids, "an object was made again");
}

/// What is merged in a freeze lands after it, within what `pr` says.
pub fn frozen(fleet: &mut Fleet) {
    look_every_minute(fleet, "");
    let cluster = &fleet.clusters[0];
    until("the first tick closes", WORK * 3, || is_held(cluster).then_some(()));

    let frozen = Window::ahead(SignedDuration::from_secs(120), 0).open;
    let spec = fleet.tree.text("windows.yaml");
    let stretches = format!(
        "overrides:\n  - {{ cluster: edge-01, type: rw, from: {0}, until: {2}, reason: INC-1 }}\n\
         freezes:\n  peak: {{ from: {0}, to: {1}, reason: trading peak }}\n",
        utc(frozen - 60.minutes()),
        utc(frozen),
        utc(frozen + 60.minutes()),
    );
    fleet.tree.write("windows.yaml", format!("{spec}{stretches}"));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Let changes in after the peak");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    let said = told(fleet, "edge-01", "rw");
    assert_eq!(said.from, frozen);
    fleet.merge("A change in the freeze");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    assert!(Timestamp::now() < frozen, "the machine is too slow for this freeze");
    let is_over = || Timestamp::now() >= frozen;
    let waits = || image(cluster).ends_with("1.29-alpine") || is_over();
    holds("the image waits for the end of the freeze", WORK * 5, is_over, waits);
    let landed = until("the image lands after the freeze", WORK * 2, || {
        image(cluster).ends_with("1.30-alpine").then(Timestamp::now)
    });
    record("a_freeze_ends: the image, by pr", &said, landed);
}
