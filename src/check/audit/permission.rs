//! What the ServiceAccount of a gate may do.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::code::{BROAD_PERMISSIONS, MISSING_PERMISSION};
use crate::check::subject::Subject;
use crate::delivery::privilege::{RBAC, binds, is_account};
use crate::delivery::{Applied, ClusterKey, GateJob};
use crate::diagnostic::Diagnostic;
use crate::mechanism::HeldId;
use crate::repo::flux::{GROUP, SOURCES};
use crate::spec::FluxDefaults;

const NEEDED: [&str; 3] = ["get", "list", "patch"];

/// Finds permissions beyond suspending and resuming the targets, and targets without permission.
///
/// Patching any Flux Kustomization is as good as being cluster-admin: it can name another path, source
/// and ServiceAccount. Where the cluster's Git has no binding of the ServiceAccount itself, nothing is said to be missing.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    // What one that does both needs is for its mechanism to say.
    for job in &subject.jobs {
        // What the others of the cluster turn is not known, so neither is what the account has to do.
        if subject.unclear.iter().any(|unclear| unclear.cluster == job.cluster) {
            continue;
        }
        let grants = grants(subject, job);
        if let Some(held) = &job.reading.held {
            findings.extend(of_source(subject, job, &grants, held));
            continue;
        }
        let wanted: BTreeSet<(&str, &str)> = subject
            .jobs_of(&job.cluster)
            .filter(|other| account(other) == account(job))
            .flat_map(|other| &other.targets)
            .map(|(namespace, name)| (namespace.as_str(), name.as_str()))
            .collect();
        let beyond = grants.iter().filter(|grant| !keeps_parameters(subject, job, grant));
        let mut found: Vec<Diagnostic> =
            beyond.filter_map(|grant| broad(subject, job, grant, &wanted)).collect();
        found.extend(missing(subject, job, &grants));
        for finding in found {
            if !findings.iter().any(|other| other.place == finding.place && other.code == finding.code) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// As [`audit`], of a job that moves a held source: it may patch held sources, note which commit, create Events, and read.
fn of_source(
    subject: &Subject<'_>,
    job: &GateJob,
    grants: &[Grant<'_>],
    HeldId { kind, namespace, name: source }: &HeldId,
) -> Option<Diagnostic> {
    let (kind, plural) = (kind.as_str(), kind.plural());
    let held: BTreeSet<&str> = subject
        .jobs_of(&job.cluster)
        .filter(|other| account(other) == account(job))
        .filter_map(|other| Some(other.reading.held.as_ref()?.name.as_str()))
        .collect();
    let is = |grant: &Grant<'_>, key: &str, word: &str| words(grant.rule, key) == BTreeSet::from([word]);
    let is_of_sources = |grant: &Grant<'_>| is(grant, "apiGroups", SOURCES) && is(grant, "resources", plural);
    let is_broad = |grant: &&Grant<'_>| {
        let verbs = words(grant.rule, "verbs");
        let names = words(grant.rule, "resourceNames");
        let moves = is_of_sources(grant)
            && grant.namespace == Some(namespace.as_str())
            && !names.is_empty()
            && names.is_subset(&held)
            && verbs.iter().all(|verb| matches!(*verb, "get" | "patch"));
        let tells = is(grant, "resources", "events") && is(grant, "verbs", "create");
        let notes = is(grant, "apiGroups", "")
            && is(grant, "resources", "configmaps")
            && grant.namespace == Some(job.namespace.as_str())
            && !names.is_empty()
            && names.is_subset(&held)
            && verbs.iter().all(|verb| matches!(*verb, "get" | "patch"));
        !moves && !tells && !notes && !verbs.iter().all(|verb| matches!(*verb, "get" | "list" | "watch"))
    };
    let moves = |grant: &Grant<'_>| {
        let has = |key: &str, word: &str| {
            words(grant.rule, key).contains(word) || words(grant.rule, key).contains("*")
        };
        let names = words(grant.rule, "resourceNames");
        has("apiGroups", SOURCES)
            && has("resources", plural)
            && has("verbs", "patch")
            && (names.is_empty() || names.contains(source.as_str()))
            && grant.namespace.is_none_or(|own| own == namespace)
    };
    let account = account(job).1;
    let broad = grants.iter().find(is_broad).map(|grant| {
        BROAD_PERMISSIONS
            .finding(format!("ServiceAccount {account} of the gate may change more than {kind} {source}. So may everybody who can start a pod with it"))
            .at(subject.sources.place(grant.role, &["rules"]))
            .related("the CronJob that uses it", job.place.clone())
            .help(format!("allow get and patch on {plural} with `resourceNames: [{source}]` in {namespace}\nallow create on events"))
    });
    let first = grants.iter().find(|grant| grant.is_own).filter(|_| !grants.iter().any(moves));
    broad.or_else(|| {
        first.map(|grant| {
            MISSING_PERMISSION
                .finding(format!("ServiceAccount {account} of CronJob `{}` may not patch {kind} {source} in {namespace}. No window opens", job.name))
                .at(job.place.clone())
                .related("its permissions", subject.sources.place(grant.role, &["rules"]))
                .help(format!("allow get and patch on {plural} with the name {source} in {namespace}"))
        })
    })
}

/// A rule of a role that is bound to the ServiceAccount.
struct Grant<'s> {
    role: &'s Applied,
    rule: &'s Value,
    /// Where it holds; `None` in all namespaces.
    namespace: Option<&'s str>,
    /// Whether it is bound to the account itself, and not to a group.
    is_own: bool,
}

fn account(job: &GateJob) -> (&str, &str) {
    (job.namespace.as_str(), job.pod()["serviceAccountName"].as_str().unwrap_or("default"))
}

/// Returns what of a cluster's Git binds a role to a ServiceAccount, given by namespace and name.
pub(super) fn bindings<'s>(
    subject: &'s Subject<'_>,
    cluster: &ClusterKey,
    account: (&str, &str),
) -> Vec<&'s Applied> {
    let objects = subject.deliveries_of(cluster).flat_map(|delivery| &delivery.objects);
    objects.filter(|one| binds(one.value(), account)).collect()
}

fn subjects_of(binding: &Applied) -> impl Iterator<Item = &Value> {
    binding.value()["subjects"].as_array().into_iter().flatten()
}

fn grants<'s>(subject: &'s Subject<'_>, job: &GateJob) -> Vec<Grant<'s>> {
    let objects: Vec<&Applied> =
        subject.deliveries_of(&job.cluster).flat_map(|delivery| &delivery.objects).collect();
    let mut grants = Vec::new();
    for binding in bindings(subject, &job.cluster, account(job)) {
        let reference = &binding.value()["roleRef"];
        let of_cluster = binding.id.kind == "ClusterRoleBinding";
        let role = objects.iter().find(|role| {
            role.id.group == RBAC
                && reference["kind"] == role.id.kind.as_str()
                && reference["name"] == role.id.name.as_str()
                && (role.id.kind == "ClusterRole" || role.id.namespace == binding.id.namespace)
        });
        let namespace = (!of_cluster).then_some(binding.id.namespace.as_str());
        if let Some(role) = role {
            let rules = role.value()["rules"].as_array().into_iter().flatten();
            let is_own = subjects_of(binding).any(|one| is_account(one, account(job)));
            grants.extend(rules.map(|rule| Grant { role, rule, namespace, is_own }));
        }
    }
    grants
}

fn words<'v>(rule: &'v Value, key: &str) -> BTreeSet<&'v str> {
    rule[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns whether a grant lets the jobs keep which types are open, for policies, and nothing else.
fn keeps_parameters(subject: &Subject<'_>, job: &GateJob, grant: &Grant<'_>) -> bool {
    let is = |key: &str, word: &str| words(grant.rule, key) == BTreeSet::from([word]);
    let names = words(grant.rule, "resourceNames");
    let own = subject.jobs_of(&job.cluster).filter(|other| account(other) == account(job));
    let kept: BTreeSet<&str> = own
        .filter_map(|other| other.reading.parameter.as_ref())
        .filter(|kept| grant.namespace == Some(&*kept.namespace))
        .map(|kept| kept.name.as_str())
        .collect();
    is("apiGroups", "")
        && is("resources", "configmaps")
        && !names.is_empty()
        && names.is_subset(&kept)
        && words(grant.rule, "verbs").iter().all(|verb| matches!(*verb, "get" | "patch"))
}

fn broad(
    subject: &Subject<'_>,
    job: &GateJob,
    grant: &Grant<'_>,
    wanted: &BTreeSet<(&str, &str)>,
) -> Option<Diagnostic> {
    let (groups, resources) = (words(grant.rule, "apiGroups"), words(grant.rule, "resources"));
    let (verbs, names) = (words(grant.rule, "verbs"), words(grant.rule, "resourceNames"));
    let reads_only = verbs.iter().all(|verb| matches!(*verb, "get" | "list" | "watch"));
    let of_flux = groups.iter().all(|group| *group == GROUP)
        && resources.iter().all(|resource| matches!(*resource, "kustomizations" | "kustomizations/status"));
    let mut excess = Vec::new();
    if groups.contains("*") || resources.contains("*") {
        excess.push("every kind of object".to_owned());
    } else if !of_flux && !reads_only {
        excess.push(format!(
            "{} beside Kustomizations",
            resources.iter().copied().collect::<Vec<_>>().join(", ")
        ));
    }
    if !reads_only && names.is_empty() {
        excess.push("every Flux Kustomization, and through its path and source everything else".to_owned());
    }
    let others: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !wanted.iter().any(|(_, target)| target == name || *target == "*"))
        .collect();
    if !others.is_empty() && !reads_only {
        excess.push(format!("{}, which no CronJob turns", others.join(", ")));
    }
    // Of several namespaces some may come later than the gate, so a ClusterRole may name them.
    let defaults = FluxDefaults::default();
    let usual = subject.spec.map_or(&defaults, |spec| &spec.flux).namespace.as_str();
    let needs_all = |name: &&str| wanted.iter().any(|(space, target)| target == name && *space != usual);
    let is_needed = !names.is_empty() && names.iter().all(needs_all);
    if grant.namespace.is_none() && !reads_only && !is_needed {
        excess.push("all namespaces".to_owned());
    }
    let more: Vec<&str> =
        verbs.iter().copied().filter(|verb| !NEEDED.contains(verb) && *verb != "watch").collect();
    if !more.is_empty() {
        excess.push(format!("the verbs {}", more.join(", ")));
    }
    if excess.is_empty() {
        return None;
    }
    let names: Vec<&str> = wanted.iter().map(|(_, name)| *name).collect();
    let own: Vec<&str> = wanted.iter().filter(|(space, _)| *space == usual).map(|(_, name)| *name).collect();
    Some(
        BROAD_PERMISSIONS
            .finding(format!(
                "ServiceAccount {} of the gate may patch more than {}: {}. So may everybody who can start a pod with it",
                account(job).1,
                names.join(", "),
                excess.join("; ")
            ))
            .at(subject.sources.place(grant.role, &["rules"]))
            .related("the CronJob that uses it", job.place.clone())
            .help(format!(
                "bind a Role in the namespace of Flux with `resourceNames: [{}]` and the verbs get and patch\nfor targets in other namespaces, bind Roles there or a ClusterRole with their names",
                own.join(", ")
            )),
    )
}

fn missing(subject: &Subject<'_>, job: &GateJob, grants: &[Grant<'_>]) -> Option<Diagnostic> {
    let allows = |grant: &&Grant<'_>, namespace: &str, name: &str| {
        let has = |key: &str, word: &str| {
            let words = words(grant.rule, key);
            words.contains(word) || words.contains("*")
        };
        let names = words(grant.rule, "resourceNames");
        has("apiGroups", GROUP)
            && has("resources", "kustomizations")
            && has("verbs", "patch")
            && (names.is_empty() || names.contains(name))
            && grant.namespace.is_none_or(|own| own == namespace)
    };
    let role = grants.iter().find(|grant| grant.is_own)?.role;
    let (namespace, name) = job.targets.iter().find(|(namespace, name)| {
        name != "*" && !grants.iter().any(|grant| allows(&grant, namespace, name))
    })?;
    Some(
        MISSING_PERMISSION
            .finding(format!(
                "CronJob `{}` {} {name} in {namespace}, but its ServiceAccount {} may not patch that. Every run fails",
                job.name,
                job.action.verb(),
                account(job).1
            ))
            .at(job.place.clone())
            .related("its permissions", subject.sources.place(role, &["rules"]))
            .help(format!("allow get and patch on kustomizations with the name {name} in {namespace}")),
    )
}
