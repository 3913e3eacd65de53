//! What the labels and annotations of an object tell kustomize-controller.

use serde_json::Value;

/// Returns whether an object says something in its labels or its annotations, whatever the case of the value (fluxcd/pkg,
/// `ssa/utils`, `AnyInMetadata`). `key` stands behind `kustomize.toolkit.fluxcd.io/`.
fn says(object: &Value, key: &str, word: &str) -> bool {
    let key = format!("kustomize.toolkit.fluxcd.io/{key}");
    let said = |part: &str| object["metadata"][part][&key].as_str();
    ["labels", "annotations"].into_iter().filter_map(said).any(|said| said.eq_ignore_ascii_case(word))
}

/// Returns whether an object that its Flux Kustomization loses is not deleted (kustomize-controller, `prune`).
pub(crate) fn is_kept(object: &Value) -> bool {
    says(object, "prune", "disabled") || is_passed_over(object)
}

/// Returns whether an object is never applied (kustomize-controller, `apply`, `ExclusionSelector`).
pub(crate) fn is_passed_over(object: &Value) -> bool {
    says(object, "reconcile", "disabled") || says(object, "ssa", "ignore")
}

/// Returns whether an object is applied only while the cluster has none of its name (kustomize-controller, `apply`,
/// `IfNotPresentSelector`).
pub(crate) fn is_only_created(object: &Value) -> bool {
    says(object, "ssa", "ifnotpresent")
}

/// Returns whether the cluster has what Git says of an object, and perhaps more (kustomize-controller, `apply`).
pub(crate) fn is_merged(object: &Value) -> bool {
    says(object, "ssa", "merge")
}

/// Returns whether an object is made anew where Kubernetes refuses a change (kustomize-controller, `apply`, `ForceSelector`).
pub(crate) fn is_forced(object: &Value) -> bool {
    says(object, "force", "enabled")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_case_of_a_value_does_not_count_and_that_of_a_key_does() {
        let own = |part: &str, key: &str, word: &str| json!({ "metadata": { part: { key: word } } });
        let prune = "kustomize.toolkit.fluxcd.io/prune";
        assert!(
            is_kept(&own("annotations", prune, "Disabled")) && is_kept(&own("labels", prune, "disabled"))
        );
        assert!(!is_kept(&own("annotations", "kustomize.toolkit.fluxcd.io/Prune", "disabled")));
        assert!(!is_kept(&own("annotations", prune, "enabled")) && !is_kept(&json!({})));
        let ssa = "kustomize.toolkit.fluxcd.io/ssa";
        assert!(is_kept(&own("annotations", ssa, "Ignore")) && is_passed_over(&own("labels", ssa, "Ignore")));
        assert!(is_only_created(&own("annotations", ssa, "IfNotPresent")));
        assert!(
            is_merged(&own("annotations", ssa, "Merge"))
                && !is_passed_over(&own("annotations", ssa, "Merge"))
        );
    }
}
