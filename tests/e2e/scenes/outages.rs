//! Nothing fires for a while: the state is right afterwards.

use jiff::{SignedDuration, Timestamp};

use super::walk_through::{change_both, closed_until_soon, conf, image, scaffold};
use crate::cluster::Cluster;
use crate::fleet::{CRON_JOBS, Fleet};
use crate::landing::{predict, record};
use crate::wait::{WORK, until};
use crate::window::Window;

/// Makes a closed cluster with a change that waits for the window.
fn closed(fleet: &mut Fleet, minutes: i64) -> Window {
    scaffold(fleet);
    let window = closed_until_soon(fleet, minutes);
    let cluster = &fleet.clusters[0];
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A new image");
    until("the configuration lands", WORK, || conf(cluster).contains("First change").then_some(()));
    assert!(image(cluster).ends_with("1.29-alpine") && cluster.is_suspended("apps-rw"));
    assert!(Timestamp::now() < window.open, "the machine is too slow for this window");
    window
}

fn pass(instant: Timestamp, what: &str) {
    until(what, WORK * 5, || (Timestamp::now() >= instant).then_some(()));
}

/// Waits until a CronJob has dealt with a time that it missed.
fn scheduled(cluster: &Cluster, cron_job: &str, at: Timestamp) {
    until(&format!("{cron_job} makes up for {at}"), WORK, || {
        let found = cluster.api.get(&format!("{CRON_JOBS}/{cron_job}"))?;
        let last: Timestamp = found["status"]["lastScheduleTime"].as_str()?.parse().ok()?;
        let active = found["status"]["active"].as_array().map_or(0, Vec::len);
        (last >= at && active == 0).then_some(())
    });
}

/// The opening is missed; while the window lasts it is made up for.
pub fn over_the_opening(fleet: &mut Fleet) {
    let window = closed(fleet, 3);
    let said = predict(fleet, "edge-01", "nginx", "rw");
    let cluster = &fleet.clusters[0];
    cluster.stop_controllers();
    pass(window.open + SignedDuration::from_secs(5), "the opening passes");
    assert!(cluster.is_suspended("apps-rw"));
    cluster.start_controllers();
    let landed = until("the image lands within the window", WORK, || {
        image(cluster).ends_with("1.30-alpine").then(Timestamp::now)
    });
    assert!(landed < window.close, "landed at {landed}, after the closing");
    record("outage_over_the_opening: the image", &said, landed);
    scheduled(cluster, "open-reconciliation-window", window.open);
}

/// The closing is missed; it is made up for, however late.
pub fn over_the_closing(fleet: &mut Fleet) {
    let window = closed(fleet, 1);
    let said = predict(fleet, "edge-01", "nginx", "rw");
    let cluster = &fleet.clusters[0];
    let landed = until("the image lands at the opening", WORK * 3, || {
        image(cluster).ends_with("1.30-alpine").then(Timestamp::now)
    });
    record("outage_over_the_closing: the image", &said, landed);
    scheduled(cluster, "open-reconciliation-window", window.open);
    cluster.stop_controllers();
    pass(window.close + SignedDuration::from_secs(30), "the closing passes");
    assert!(!cluster.is_suspended("apps-rw"), "nothing can have closed it");
    cluster.start_controllers();
    scheduled(cluster, "close-reconciliation-window", window.close);
    assert!(cluster.is_suspended("apps-rw"));
}

/// Opening and closing are missed; nothing opens any more, and nothing lands.
pub fn over_the_window(fleet: &mut Fleet) {
    let window = closed(fleet, 1);
    let cluster = &fleet.clusters[0];
    cluster.stop_controllers();
    pass(window.close + SignedDuration::from_secs(5), "the window passes");
    cluster.start_controllers();
    scheduled(cluster, "close-reconciliation-window", window.close);
    // The closing runs although it does not have to; the opening is too old.
    cluster.reconciled("infra");
    assert!(cluster.is_suspended("apps-rw"), "the window opened after it was over");
    assert!(image(cluster).ends_with("1.29-alpine"), "the image landed without a window");
    let opening = cluster.api.get(&format!("{CRON_JOBS}/open-reconciliation-window")).unwrap();
    assert!(opening["status"]["lastScheduleTime"].is_null(), "{}", opening["status"]);
}
