//! What the API server itself refuses and adds while a window is closed, for gates that ask for it.
//!
//! Jobs mend at their next tick what was done beside them; these policies leave nothing to mend. A
//! ValidatingAdmissionPolicy refuses to resume what is closed, and a MutatingAdmissionPolicy lets what is made again come
//! suspended, as a job would have suspended it. CEL has no clock in admission (Kubernetes,
//! `apiserver/pkg/cel/environment/base.go`), so the jobs keep in a ConfigMap which types are open.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::error::Error;
use crate::mechanism::suspend::look::HELD;
use crate::mechanism::{ClusterGate, GateTarget, STOP, Writing};
use crate::spec::Spec;

/// The ConfigMap in which the jobs keep which types are open.
pub const NAME: &str = "reconciliation-windows";

/// The file of a cluster's gate that has all of it.
pub const FILE: &str = "admission.yaml";

/// The value of an open type; any other one, or none, is closed.
pub const OPEN: &str = "open";

/// The value of a closed type.
pub const CLOSED: &str = "closed";

/// The group of Flux Kustomizations.
const GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// Where the jobs keep whether a type is open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    /// The namespace of the ConfigMap.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The key, which is the name of the type.
    pub key: String,
}

impl Parameter {
    /// Returns that of a type of a spec; `None` where its gates have no policies.
    pub fn of(spec: &Spec, change_type: &str) -> Option<Parameter> {
        let namespace = spec.gate.namespace.clone();
        spec.gate.admission.then(|| Parameter {
            namespace,
            name: NAME.to_owned(),
            key: change_type.to_owned(),
        })
    }

    /// Returns what a patch of a ConfigMap sets; `None` for one that is none of a gate.
    pub(super) fn set_by(namespace: &str, name: &str, patch: &Value) -> Option<Parameter> {
        let (key, value) = patch["data"].as_object()?.iter().next()?;
        let is_it = name == NAME && [OPEN, CLOSED].iter().any(|known| value == known);
        is_it.then(|| Parameter { namespace: namespace.to_owned(), name: name.to_owned(), key: key.clone() })
    }

    /// Returns the words of the command that tells what it is.
    pub fn get(&self) -> Vec<String> {
        let Parameter { namespace, name, key } = self;
        let (space, field) =
            (format!("--namespace={namespace}"), format!("--output=jsonpath={{.data.{key}}}"));
        ["kubectl", "get", "configmaps", name, &space, &field].map(str::to_owned).into()
    }

    /// Returns the words of the command that sets it.
    pub fn set(&self, value: &str) -> Vec<String> {
        let Parameter { namespace, name, key } = self;
        [
            "kubectl",
            "patch",
            "configmaps",
            name,
            &format!("--namespace={namespace}"),
            "--type=merge",
            "--field-manager=flux",
            &format!(r#"--patch={{"data":{{"{key}":"{value}"}}}}"#),
        ]
        .map(str::to_owned)
        .into()
    }
}

/// The policies of a type in a cluster, as their expressions.
struct Policy {
    change_type: String,
    name: String,
    gated: String,
    closed: String,
    not_resumed: String,
    not_stopped: String,
    suspended: String,
}

impl Policy {
    fn new(change_type: &str, targets: &BTreeSet<GateTarget>) -> Policy {
        let names: Vec<String> =
            targets.iter().map(|GateTarget { namespace, name }| format!("'{namespace}/{name}'")).collect();
        let is_open = format!(
            "has(params.data) && '{change_type}' in params.data && params.data['{change_type}'] == '{OPEN}'"
        );
        let suspended = |object: &str| format!("(has({object}.spec.suspend) && {object}.spec.suspend)");
        let stays = format!("!{} || {}", suspended("oldObject"), suspended("object"));
        let annotations = "has(object.metadata.annotations)";
        let add = |path: &str, value: &str| format!("[JSONPatch{{op: 'add', path: {path}, value: {value}}}]");
        let key = format!("'/metadata/annotations/' + jsonpatch.escapeKey('{HELD}')");
        let annotated = add(&key, "'until the window opens'");
        let first = json!({ HELD: "until the window opens" }).to_string();
        let first = add("'/metadata/annotations'", &first);
        Policy {
            change_type: change_type.to_owned(),
            name: format!("reconciliation-window-{change_type}"),
            gated: format!(
                "has(object.metadata.name) && (object.metadata.namespace + '/' + object.metadata.name) in [{}]",
                names.join(", ")
            ),
            closed: format!("!({is_open})"),
            not_resumed: format!("{stays} || ({is_open})"),
            not_stopped: format!("{stays} || !({annotations} && '{STOP}' in object.metadata.annotations)"),
            suspended: format!(
                "{} + ({annotations} ? {annotated} : {first})",
                add("'/spec/suspend'", "true")
            ),
        }
    }
}

/// Returns the policies of a cluster: of each type whose jobs run there.
fn policies(spec: &Spec, cluster: &ClusterGate) -> Vec<Policy> {
    if !spec.gate.admission || !cluster.enabled {
        return Vec::new();
    }
    let own = cluster
        .targets
        .iter()
        .filter(|(position, targets)| cluster.switched_on.contains(position) && !targets.is_empty());
    own.map(|(position, targets)| Policy::new(&spec.types[*position].name.value, targets)).collect()
}

/// Returns the text of a cluster's policies; `None` where it has none.
///
/// # Errors
///
/// When the template fails.
pub fn text(writing: &Writing<'_>, cluster: &ClusterGate) -> Result<Option<String>, Error> {
    let Writing { spec, templates, .. } = *writing;
    let all = policies(spec, cluster);
    if all.is_empty() {
        return Ok(None);
    }
    let policies: Vec<Value> = all
        .iter()
        .map(|policy| {
            json!({
                "type": policy.change_type,
                "name": policy.name,
                "gated": policy.gated,
                "closed": policy.closed,
                "not_resumed": policy.not_resumed,
                "not_stopped": policy.not_stopped,
                "suspended": policy.suspended,
            })
        })
        .collect();
    let context = json!({
        "parameter": NAME,
        "namespace": spec.gate.namespace,
        "service_account": spec.gate.service_account,
        "group": GROUP,
        "policies": policies,
    });
    templates.render("admission.yaml", context).map(Some)
}

/// Returns the objects that a policy is asked about: the Flux Kustomizations that are made, or changed.
fn constraints(operation: &str) -> Value {
    let rule = json!({
        "apiGroups": [GROUP],
        "apiVersions": ["*"],
        "operations": [operation],
        "resources": ["kustomizations"],
    });
    json!({ "resourceRules": [rule] })
}

/// Returns whether the jobs may keep in the ConfigMap which types are open.
fn keeps(spec: &Spec, objects: &[&Value]) -> bool {
    let namespace = spec.gate.namespace.as_str();
    let of = |kind: &str| {
        let is_it = |one: &&&Value| {
            let metadata = &one["metadata"];
            one["kind"] == kind && metadata["name"] == NAME && metadata["namespace"] == namespace
        };
        objects.iter().find(is_it).copied().unwrap_or(&Value::Null)
    };
    let (role, binding) = (of("Role"), of("RoleBinding"));
    let subject =
        json!({ "kind": "ServiceAccount", "name": spec.gate.service_account, "namespace": namespace });
    let rule = json!({
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [NAME],
        "verbs": ["get", "patch"],
    });
    role["rules"] == json!([rule])
        && binding["subjects"] == json!([subject])
        && (&binding["roleRef"]["kind"], &binding["roleRef"]["name"]) == (&json!("Role"), &json!(NAME))
}

/// Says where the built policies of a cluster are others than those of the spec.
pub fn problem(spec: &Spec, cluster: &ClusterGate, objects: &[&Value]) -> Option<String> {
    const KINDS: [&str; 4] = [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    ];
    let wanted = policies(spec, cluster);
    let found: BTreeMap<(&str, &str), &Value> = objects
        .iter()
        .filter_map(|one| Some(((one["kind"].as_str()?, one["metadata"]["name"].as_str()?), *one)))
        .filter(|((kind, _), _)| KINDS.contains(kind))
        .collect();
    if found.len() != KINDS.len() * wanted.len() {
        return Some("it has other admission policies".to_owned());
    }
    if !wanted.is_empty() {
        let is_it = |one: &&&Value| one["kind"] == "ConfigMap" && one["metadata"]["name"] == NAME;
        let map = objects.iter().find(is_it);
        if !map.is_some_and(|map| {
            map["data"].is_null() && map["metadata"]["namespace"] == spec.gate.namespace.as_str()
        }) {
            return Some(format!("it has no ConfigMap {NAME} without data"));
        }
        if !keeps(spec, objects) {
            return Some(format!("its Role {NAME} lets the jobs do something else than keep what is open"));
        }
    }
    let reference =
        json!({ "name": NAME, "namespace": spec.gate.namespace, "parameterNotFoundAction": "Allow" });
    for policy in wanted {
        let of = |kind: &'static str| found.get(&(kind, policy.name.as_str())).map(|one| &one["spec"]);
        let expressions = |list: &Value| -> Vec<String> {
            let all = list.as_array().into_iter().flatten();
            all.filter_map(|one| one["expression"].as_str().map(str::to_owned)).collect()
        };
        let [Some(refuses), Some(refusing), Some(mutates), Some(mutating)] = KINDS.map(of) else {
            return Some(format!("it lacks an admission policy of type `{}`", policy.change_type));
        };
        let is_whole = |policy: &Value, operation: &str| {
            // Without a word a failure refuses (Kubernetes, `FailurePolicyType`).
            ["Fail", ""].contains(&policy["failurePolicy"].as_str().unwrap_or_default())
                && policy["paramKind"] == json!({ "apiVersion": "v1", "kind": "ConfigMap" })
                && policy["matchConstraints"] == constraints(operation)
        };
        let is_it = is_whole(refuses, "UPDATE")
            && is_whole(mutates, "CREATE")
            && mutates["mutations"].as_array().is_some_and(|all| all.len() == 1)
            && expressions(&refuses["validations"]) == [&*policy.not_resumed, &*policy.not_stopped]
            && expressions(&refuses["matchConditions"]) == [&*policy.gated]
            && expressions(&mutates["matchConditions"]) == [&*policy.gated, &*policy.closed]
            && mutates["mutations"][0]["jsonPatch"]["expression"] == policy.suspended.as_str()
            && refusing["validationActions"] == json!(["Deny"])
            && [refusing, mutating].iter().all(|binding| {
                binding["policyName"] == policy.name.as_str()
                    && binding["paramRef"] == reference
                    && binding["matchResources"].is_null()
            });
        if !is_it {
            return Some(format!(
                "the admission policies of type `{}` say something else",
                policy.change_type
            ));
        }
    }
    None
}
