//! What a scene that failed leaves behind to read.

use serde_json::Value;

use crate::cluster::Cluster;
use crate::fleet::{CRON_JOBS, Fleet, JOBS, KUSTOMIZATIONS, SOURCES};

/// Prints commits, conditions, jobs, events and the logs that matter.
pub fn print(fleet: &Fleet) {
    eprintln!("--- commits");
    eprintln!("{}", fleet.tree.git(&["log", "--stat", "--format=%h %ad %s", "--date=iso-strict"]));
    for cluster in &fleet.clusters {
        of_cluster(cluster);
    }
}

fn of_cluster(cluster: &Cluster) {
    let name = &cluster.name;
    if let Some(ended) = cluster.ended() {
        eprintln!("--- {name}: {ended}");
    }
    eprintln!("--- {name}: conditions");
    for path in [SOURCES, KUSTOMIZATIONS] {
        for object in cluster.api.list(path) {
            let (spec, status) = (&object["spec"], &object["status"]);
            eprintln!(
                "{} {}: suspend {}, prune {}, generation {} observed {}, applied {}, attempted {}, artifact {}",
                text(&object["kind"]),
                text(&object["metadata"]["name"]),
                spec["suspend"],
                spec["prune"],
                object["metadata"]["generation"],
                status["observedGeneration"],
                status["lastAppliedRevision"],
                status["lastAttemptedRevision"],
                status["artifact"]["revision"],
            );
            for condition in status["conditions"].as_array().into_iter().flatten() {
                eprintln!(
                    "  {} {} {}: {}",
                    text(&condition["type"]),
                    text(&condition["status"]),
                    text(&condition["reason"]),
                    text(&condition["message"])
                );
            }
        }
    }
    eprintln!("--- {name}: jobs");
    for path in [CRON_JOBS, JOBS] {
        for object in cluster.api.list(path) {
            eprintln!(
                "{} {}: schedule {} {}, suspend {}, status {}",
                text(&object["kind"]),
                text(&object["metadata"]["name"]),
                object["spec"]["schedule"],
                object["spec"]["timeZone"],
                object["spec"]["suspend"],
                object["status"],
            );
        }
    }
    for pod in cluster.api.list("/api/v1/namespaces/jobs/pods") {
        let ended = &pod["status"]["containerStatuses"][0]["state"]["terminated"];
        eprintln!("pod {}: {} {ended}", text(&pod["metadata"]["name"]), pod["status"]["phase"]);
    }
    eprintln!("--- {name}: events");
    for event in cluster.api.list("/api/v1/events") {
        let about = &event["involvedObject"];
        eprintln!(
            "{} {} {}/{}: {}",
            text(&event["lastTimestamp"]),
            text(&event["reason"]),
            text(&about["kind"]),
            text(&about["name"]),
            text(&event["message"])
        );
    }
    for program in ["source-controller", "kustomize-controller"] {
        eprintln!("--- {name}: the end of {program}'s log\n{}", cluster.log(program, 25));
    }
    for program in ["kube-controller-manager", "kube-apiserver"] {
        let log = cluster.log(program, usize::MAX);
        // klog marks errors by the first letter.
        let errors: Vec<&str> = log.lines().filter(|line| line.starts_with(['E', 'F'])).collect();
        let last = &errors[errors.len().saturating_sub(10)..];
        eprintln!("--- {name}: the last errors of {program}\n{}", last.join("\n"));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}
