//! Values of another type than Kubernetes takes.

use std::fmt;

use serde_json::Value;

use crate::delivery::metadata::{is_only_created, is_passed_over};

/// Begins what is said of a build with an object that Kubernetes refuses.
pub(crate) const MISTYPED: &str = "Kubernetes refuses";

/// Where every object has text by names. Labels that are no text are none for kustomize-controller, which writes its own in the
/// place of all (fluxcd/pkg/ssa, `SetOwnerLabels`).
const ANNOTATIONS: &[&str] = &["metadata", "annotations"];

/// A value that has to be text and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistyped {
    path: String,
    is: &'static str,
}

impl Mistyped {
    /// Returns the first of an object, so that its dry run fails and nothing of its stage is applied (structured-merge-diff,
    /// `expected string`; fluxcd/pkg/ssa, `ApplyAll`). Values stay unsaid, as they may be secret.
    ///
    /// What Flux never applies, or only where there is none, is not looked at. A value that is null is taken for none.
    pub(super) fn of(object: &Value) -> Option<Mistyped> {
        let kind = object["kind"].as_str().filter(|_| object["apiVersion"] == "v1");
        let own: &[&[&str]] = match kind {
            Some("ConfigMap") => &[&["data"], &["binaryData"]],
            Some("Secret") => &[&["data"], &["stringData"]],
            _ => &[],
        };
        if is_passed_over(object) || is_only_created(object) {
            return None;
        }
        [ANNOTATIONS].iter().chain(own).find_map(|path| {
            let fields = path.iter().try_fold(object, |value, key| value.get(key))?.as_object()?;
            fields.iter().find_map(|(name, value)| {
                let is = match value {
                    Value::Null | Value::String(_) => return None,
                    Value::Bool(_) => "a boolean",
                    Value::Number(_) => "a number",
                    Value::Array(_) => "a list",
                    Value::Object(_) => "a mapping",
                };
                Some(Mistyped { path: format!("{}.{name}", path.join(".")), is })
            })
        })
    }
}

impl fmt::Display for Mistyped {
    /// Ends a sentence that begins with the object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistyped { path, is } = self;
        write!(f, "`{path}` is {is}, not text")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(object: &Value) -> Option<String> {
        Mistyped::of(object).map(|one| one.to_string())
    }

    #[test]
    fn text_is_wanted_in_data_and_metadata() {
        let map = |data: Value| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": data });
        assert_eq!(told(&map(json!({ "a": "1", "b": null }))), None);
        assert_eq!(
            told(&map(json!({ "a": "1", "b": 2 }))).as_deref(),
            Some("`data.b` is a number, not text")
        );
        assert_eq!(told(&map(json!({ "a": true }))).as_deref(), Some("`data.a` is a boolean, not text"));
        assert_eq!(told(&map(json!({ "a": [] }))).as_deref(), Some("`data.a` is a list, not text"));
        let secret = json!({ "apiVersion": "v1", "kind": "Secret", "stringData": { "a": {} } });
        assert_eq!(told(&secret).as_deref(), Some("`stringData.a` is a mapping, not text"));
        // Others may have any data.
        let other = json!({ "apiVersion": "example.org/v1", "kind": "ConfigMap", "data": { "a": 1 } });
        assert_eq!(told(&other), None);
        let with = |part: &str| json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { part: { "a": 1 } } });
        assert_eq!(
            told(&with("annotations")).as_deref(),
            Some("`metadata.annotations.a` is a number, not text")
        );
        assert_eq!(told(&with("labels")), None);
        let kept = json!({ "kind": "A", "metadata": { "annotations": { "a": 1, "kustomize.toolkit.fluxcd.io/reconcile": "disabled" } } });
        assert_eq!(told(&kept), None);
    }
}
