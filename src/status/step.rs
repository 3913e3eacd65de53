//! The commands by which people mend what is not as it should be.

use crate::mechanism::{Action, SourceKind, shell_line};
use crate::status::{Cluster, Gated, Held, LiveJob, Run, Window};

/// Returns whether a job does now what the spec says: one that opens would open outside of the windows too.
pub fn is_due(gated: &Gated, job: &LiveJob) -> bool {
    let wanted = |window: &Window| match job.action {
        Action::Open => window.is_open || window.tick > 0,
        Action::Close => !window.is_open || window.tick > 0,
        Action::Follow => true,
    };
    gated.window.as_ref().is_some_and(wanted)
}

/// Returns the command that ends what people have suspended or stopped.
pub fn resume(held: &Held, cluster: &Cluster) -> String {
    let source = held.decider.split_once(' ').and_then(|(kind, name)| Some((SourceKind::of(kind)?, name)));
    let name = source.map_or(held.target.name.as_str(), |(_, name)| name);
    let take = held.annotation.map(|annotation| format!("{annotation}-"));
    let words = match (&take, source) {
        (Some(take), Some((kind, _))) => {
            vec!["kubectl", "annotate", kind.resource(), name, take, "--field-manager=flux"]
        }
        (Some(take), None) => {
            let resource = "kustomizations.kustomize.toolkit.fluxcd.io";
            vec!["kubectl", "annotate", resource, name, take, "--field-manager=flux"]
        }
        (None, Some((kind, _))) => vec!["flux", "resume", "source", kind.word(), name],
        (None, None) => vec!["flux", "resume", "kustomization", name],
    };
    command(&words, &held.decider_namespace, cluster)
}

/// Returns the command that tells why a run failed.
pub fn logs(job: &LiveJob, run: &Run, cluster: &Cluster) -> String {
    let of = format!("job/{}", run.name);
    format!("See why: {}", command(&["kubectl", "logs", &of], &job.namespace, cluster))
}

/// Returns the command that lets some commit in by a held source that has none; `None` where nothing is held at its source.
pub fn pin(held: &Held, cluster: &Cluster) -> Option<String> {
    let (kind, name) = held.decider.split_once(' ')?;
    let kind = SourceKind::of(kind)?;
    let (field, prefix) = (kind.field(), kind.prefix());
    let patch = format!("--patch={{\"spec\":{{\"ref\":{{\"{field}\":\"{prefix}HASH\"}}}}}}");
    let words =
        ["kubectl", "patch", kind.resource(), name, "--type=merge", "--field-manager=flux", patch.as_str()];
    let set = command(&words, &held.decider_namespace, cluster);
    Some(format!("If it names several commits, set the newest in place of HASH: {set}"))
}

/// Returns the command that runs a CronJob once; the Job has another name each time, as Kubernetes keeps the last one.
pub fn once(job: &LiveJob, cluster: &Cluster) -> String {
    let rest = command(&[&format!("--from=cronjob/{}", job.name)], &job.namespace, cluster);
    format!("kubectl create job {}-$(date +%s) {rest}", job.name)
}

/// Returns a command on something in a namespace of a cluster.
pub fn command(words: &[&str], namespace: &str, cluster: &Cluster) -> String {
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    words.push(format!("--namespace={namespace}"));
    words.extend(cluster.context.as_ref().map(|context| format!("--context={context}")));
    shell_line(&words)
}
