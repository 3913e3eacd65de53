//! What the jobs of a gate do once it is built.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::mechanism::{ClusterGate, GateTarget, Gates, Job, pod_of, shown, turns};
use crate::spec::Spec;

/// Says where the jobs of a built gate are others than the spec's, or act on something else.
pub fn problem(spec: &Spec, gates: &Gates, cluster: &ClusterGate, objects: &[&Value]) -> Option<String> {
    let jobs = objects.iter().filter(|object| object["kind"] == "CronJob");
    for index in cluster.schedules.keys() {
        let Job { name, change_type, .. } = &gates.jobs[*index];
        let wanted = cluster.targets.get(change_type)?;
        let Some(job) = jobs.clone().find(|job| job["metadata"]["name"] == name.as_str()) else {
            return Some(format!("it has no CronJob {name}"));
        };
        let containers = pod_of(job)["containers"].as_array().map(Vec::as_slice).unwrap_or_default();
        if containers.iter().any(|container| !container["image"].is_string()) {
            return Some(format!("a container of CronJob {name} has no image"));
        }
        let wanted_lines =
            cluster.tables.get(change_type).filter(|_| cluster.switched_on.contains(change_type));
        if let Some(lines) = wanted_lines {
            let args = containers.iter().flat_map(|container| container["args"].as_array()).flatten();
            if !args.filter_map(Value::as_str).skip(1).eq(lines.iter().map(String::as_str)) {
                return Some(format!("CronJob {name} looks at another table"));
            }
        }
        let switched: BTreeSet<GateTarget> = turns(job).into_iter().map(GateTarget::from).collect();
        if switched != *wanted {
            let (switched, wanted) = (shown(&switched, spec), shown(wanted, spec));
            return Some(format!("CronJob {name} acts on {switched} and not on {wanted}"));
        }
    }
    None
}
