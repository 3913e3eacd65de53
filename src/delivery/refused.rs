//! Flux's own objects that no API server takes, so that nothing of their build is applied.

use std::fmt;

use serde_json::Value;

use crate::delivery::metadata::{is_only_created, is_passed_over};
use crate::repo::flux::{GROUP, SOURCES};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::substituted;

/// Begins what is said of a build of which an object is refused.
pub(crate) const REFUSED: &str = "the API server refuses ";

/// What a field has to be.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    List,
    Fields,
    /// A duration of these units.
    Duration(&'static [&'static str]),
    /// One of these words.
    Word(&'static [&'static str]),
}

use Shape::{Duration, Fields, Flag, List, Text, Word};

/// A field of an object, by the keys on the way; whether its parent has to have it, and what it has to be.
type Field = (&'static [&'static str], bool, Shape);

const UNITS: &[&str] = &["ms", "s", "m", "h"];

/// Those of `kustomize.toolkit.fluxcd.io/v1`, as all versions have them that serve it (kustomize-controller,
/// `config/crd/bases`).
const OF_KUSTOMIZATIONS: &[Field] = &[
    (&["spec"], true, Fields),
    (&["spec", "interval"], true, Duration(UNITS)),
    (&["spec", "prune"], true, Flag),
    (&["spec", "sourceRef"], true, Fields),
    (
        &["spec", "sourceRef", "kind"],
        true,
        Word(&["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"]),
    ),
    (&["spec", "sourceRef", "name"], true, Text),
    (&["spec", "sourceRef", "namespace"], false, Text),
    (&["spec", "timeout"], false, Duration(UNITS)),
    (&["spec", "retryInterval"], false, Duration(UNITS)),
    (&["spec", "path"], false, Text),
    (&["spec", "targetNamespace"], false, Text),
    (&["spec", "serviceAccountName"], false, Text),
    (&["spec", "suspend"], false, Flag),
    (&["spec", "wait"], false, Flag),
    (&["spec", "force"], false, Flag),
    (&["spec", "components"], false, List),
    (&["spec", "dependsOn"], false, List),
    (&["spec", "healthChecks"], false, List),
    (&["spec", "images"], false, List),
    (&["spec", "patches"], false, List),
    (&["spec", "commonMetadata"], false, Fields),
    (&["spec", "decryption"], false, Fields),
    (&["spec", "decryption", "provider"], true, Word(&["sops"])),
    (&["spec", "kubeConfig"], false, Fields),
    (&["spec", "postBuild"], false, Fields),
    (&["spec", "postBuild", "substitute"], false, Fields),
    (&["spec", "postBuild", "substituteFrom"], false, List),
    (&["spec", "deletionPolicy"], false, Word(&["MirrorPrune", "Delete", "WaitForTermination", "Orphan"])),
];

/// Those of `source.toolkit.fluxcd.io/v1` that its GitRepository and its OCIRepository share (source-controller,
/// `config/crd/bases`).
const OF_SOURCES: &[Field] = &[
    (&["spec"], true, Fields),
    (&["spec", "interval"], true, Duration(UNITS)),
    (&["spec", "url"], true, Text),
    (&["spec", "timeout"], false, Duration(&["ms", "s", "m"])),
    (&["spec", "suspend"], false, Flag),
    (&["spec", "ignore"], false, Text),
    (&["spec", "ref"], false, Fields),
    (&["spec", "secretRef"], false, Fields),
    (&["spec", "secretRef", "name"], true, Text),
];

/// A field for which an API server refuses an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The object.
    pub id: ObjectId,
    /// The keys that lead to the field.
    pub keys: &'static [&'static str],
    /// Whether it is not there; else it is something else than it has to be.
    pub is_missing: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_missing { "is missing" } else { "is not valid" };
        write!(f, "{REFUSED}{}: `{}` {what}", self.id, self.keys.join("."))
    }
}

/// Returns the first field for which every API server refuses an object, after `postBuild` has put in what Git tells; `None`
/// also for kinds that are not known, and for what a variable stands for.
///
/// Flux lets the server try all objects of a build first, so that nothing of it is applied (fluxcd/pkg/ssa,
/// `ResourceManager.ApplyAllStaged`).
pub fn refused(post_build: &Value, object: &Value) -> Option<Refused> {
    let (group, version) = object["apiVersion"].as_str()?.split_once('/')?;
    let fields = match (group, object["kind"].as_str()?) {
        (GROUP, "Kustomization") => OF_KUSTOMIZATIONS,
        (SOURCES, "GitRepository" | "OCIRepository") => OF_SOURCES,
        _ => return None,
    };
    // Flux passes it over before the server sees it.
    if is_passed_over(object) || is_only_created(object) {
        return None;
    }
    let filled = substituted(post_build, object).ok().flatten();
    let object = filled.as_ref().unwrap_or(object);
    fields.iter().filter(|_| version == "v1").find_map(|(keys, is_needed, shape)| {
        let (last, above) = keys.split_last()?;
        let above =
            above.iter().try_fold(object, |value, key| value.get(key)).filter(|above| above.is_object())?;
        let is_missing = match above.get(last).filter(|value| !value.is_null()) {
            Some(value) if fits(value, *shape) => return None,
            Some(_) => false,
            None if *is_needed => true,
            None => return None,
        };
        Some(Refused { id: ObjectId::of(object), keys, is_missing })
    })
}

/// Says why nothing of a build is applied: an API server refuses one of its objects.
pub(super) fn refusal<'o>(post_build: &Value, objects: impl Iterator<Item = &'o Value>) -> Option<String> {
    objects.filter_map(|one| refused(post_build, one)).map(|refused| refused.to_string()).next()
}

fn fits(value: &Value, shape: Shape) -> bool {
    if value.as_str().is_some_and(|text| text.contains("${")) {
        return true;
    }
    match shape {
        Text => value.is_string(),
        Flag => value.is_boolean(),
        List => value.is_array(),
        Fields => value.is_object(),
        Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Duration(units) => value.as_str().is_some_and(|text| is_duration(text, units)),
    }
}

/// Returns whether a text is numbers, each with a unit (`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`).
fn is_duration(text: &str, units: &[&str]) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut rest = text;
    while !rest.is_empty() {
        let whole = rest.trim_start_matches(is_digit);
        let number = match whole.strip_prefix('.') {
            Some(fraction) if fraction.starts_with(is_digit) => fraction.trim_start_matches(is_digit),
            _ => whole,
        };
        let Some(next) = units.iter().find_map(|unit| number.strip_prefix(unit)).filter(|_| whole != rest)
        else {
            return false;
        };
        rest = next;
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(change: impl Fn(&mut Value)) -> Option<String> {
        let mut object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": { "name": "infra", "namespace": "flux-system" },
            "spec": {
                "interval": "1h30m", "path": "./infra", "prune": true, "timeout": "1.5m", "wait": null,
                "sourceRef": { "kind": "GitRepository", "name": "flux-system" },
            },
        });
        change(&mut object);
        let told = refused(&json!({ "substitute": { "EVERY": "5 min" } }), &object)?.to_string();
        Some(
            told.strip_prefix("the API server refuses Kustomization flux-system/infra: ").unwrap().to_owned(),
        )
    }

    #[test]
    fn what_every_server_refuses_is_told() {
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(told(|_| {}), None);
        assert_eq!(
            told(|one| _ = one["spec"].as_object_mut().unwrap().remove("prune")),
            of("`spec.prune` is missing")
        );
        assert_eq!(told(|one| one["spec"]["prune"] = Value::Null), of("`spec.prune` is missing"));
        assert_eq!(told(|one| one["spec"]["prune"] = json!("true")), of("`spec.prune` is not valid"));
        assert_eq!(
            told(|one| one["spec"]["components"] = json!("../c")),
            of("`spec.components` is not valid")
        );
        assert_eq!(
            told(|one| one["spec"]["sourceRef"] = json!({ "kind": "GitRepository" })),
            of("`spec.sourceRef.name` is missing")
        );
        assert_eq!(
            told(|one| one["spec"]["sourceRef"]["kind"] = json!("HelmChart")),
            of("`spec.sourceRef.kind` is not valid")
        );
        assert_eq!(
            told(|one| one["spec"]["decryption"] = json!({})),
            of("`spec.decryption.provider` is missing")
        );
        for interval in ["10 min", "10", "", "m", "1.h", "1d", "-1m"] {
            assert_eq!(
                told(|one| one["spec"]["interval"] = json!(interval)),
                of("`spec.interval` is not valid"),
                "{interval}"
            );
        }
        // What a variable stands for is not known, or is.
        assert_eq!(told(|one| one["spec"]["interval"] = json!("${UNKNOWN:-}${OTHER}${")), None);
        assert_eq!(
            told(|one| one["spec"]["interval"] = json!("${EVERY}")),
            of("`spec.interval` is not valid")
        );
        // Another version may have other fields.
        assert_eq!(told(|one| one["apiVersion"] = json!("kustomize.toolkit.fluxcd.io/v1beta1")), None);
    }
}
