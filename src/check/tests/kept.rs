//! What a gate that stands goes on holding.

use super::doubt::{below, job, suspended, synced_as};
use super::repository::together;
use super::spec::SPEC;

#[test]
fn what_is_perhaps_not_there_keeps_its_gate_under_another_type() {
    let typed = |rule: &str| {
        let types = SPEC.replace("rw: { window: week }", "rw: { window: week }, slow: { window: week }");
        types.replace("{ type: rw }", &format!("{rule}{{ type: rw }}"))
    };
    let (gated, _) = synced_as(&typed(""), &together(&[below()]));
    let mut off = gated.clone();
    for (path, entry) in together(&[suspended(below())]).entries() {
        if path.as_str().ends_with("above.yaml") {
            off.put(path.clone(), entry.clone());
        }
    }
    let rule = "{ kind: Service, name: other, type: slow }, ";
    let (after, remarks) = synced_as(&typed(rule), &off);
    assert!(job(&gated).contains("\"web\"") && job(&after).contains("\"web\""), "{remarks:?}");
}
