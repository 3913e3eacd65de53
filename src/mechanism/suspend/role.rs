//! What the jobs may do: suspend and resume what is held back, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::mechanism::GateTarget;
use crate::mechanism::suspend::admission;
use crate::spec::{Runner, Spec};

/// Returns the names of what is held back: in the namespace of the spec, and in all others.
///
/// A Role in each of the others would keep a cluster that is built anew from ever coming up: whatever
/// applies the gate stops at a namespace that is not there yet (kustomize-controller tries all objects
/// before it applies one), and may be what brings that namespace. So a ClusterRole names them.
pub fn reached<'t>(spec: &Spec, held: &'t BTreeSet<GateTarget>) -> (BTreeSet<&'t str>, BTreeSet<&'t str>) {
    let (usual, others): (Vec<_>, Vec<_>) =
        held.iter().partition(|target| target.namespace == spec.flux.namespace);
    let names =
        |targets: Vec<&'t GateTarget>| targets.into_iter().map(|target| target.name.as_str()).collect();
    (names(usual), names(others))
}

/// Returns what the templates of roles and bindings fill in.
pub fn permission(spec: &Spec, names: &BTreeSet<&str>) -> Value {
    let verbs: &[&str] = match spec.gate.runner {
        Runner::Kubectl => &["get", "patch"],
        Runner::Flux => &["get", "list", "patch"],
    };
    json!({
        "namespace": spec.gate.namespace,
        "service_account": spec.gate.service_account,
        "flux_namespace": spec.flux.namespace,
        "targets": names,
        "verbs": verbs,
    })
}

/// Says where the roles allow something else than what is held back, or are not bound.
pub fn unpermitted(spec: &Spec, held: &BTreeSet<GateTarget>, objects: &[&Value]) -> Option<String> {
    // What the jobs keep for policies has a Role of its own.
    let is_own = |object: &Value| !spec.gate.admission || object["metadata"]["name"] != admission::NAME;
    let of_kind = |kind: &str| {
        objects.iter().filter(|object| object["kind"] == *kind && is_own(object)).collect::<Vec<_>>()
    };
    let (usual, others) = reached(spec, held);
    for (role, binding, wanted) in
        [("Role", "RoleBinding", usual), ("ClusterRole", "ClusterRoleBinding", others)]
    {
        let mut allowed = BTreeSet::new();
        for rule in of_kind(role).into_iter().flat_map(|role| role["rules"].as_array().into_iter().flatten())
        {
            let names = rule["resourceNames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut names = names.peekable();
            if names.peek().is_none() {
                return Some(format!("a rule of its {role} names nothing, so it allows everything"));
            }
            allowed.extend(names);
        }
        if allowed != wanted {
            return Some(format!("its {role} allows {allowed:?} and not {wanted:?}"));
        }
        if !wanted.is_empty() && of_kind(binding).is_empty() {
            return Some(format!("it has no {binding}"));
        }
    }
    None
}
