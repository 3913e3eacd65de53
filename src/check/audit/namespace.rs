//! Namespaces that wait for a window.

use crate::check::code::GATED_NAMESPACE;
use crate::check::subject::Subject;
use crate::delivery::Applied;
use crate::diagnostic::Diagnostic;

/// Finds Namespaces that wait for a window while objects in them land at once.
///
/// On a fresh cluster the API server refuses those objects until the window opens, and where the gated
/// side waits for the real-time one, it never does.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for deliveries in subject.clusters().values() {
        let all = || deliveries.iter().flat_map(|delivery| &delivery.objects);
        let namespaces = || all().filter(|applied| applied.is("", "Namespace"));
        for namespace in namespaces() {
            let Some(held) = namespace.window() else { continue };
            let name = namespace.id.name.as_str();
            let at_once = |other: &&Applied| other.rank() < namespace.rank();
            if namespaces().any(|other| other.id.name == name && at_once(&other)) {
                continue;
            }
            let Some(user) = all().filter(at_once).find(|other| other.id.namespace == name) else { continue };
            let finding = GATED_NAMESPACE
                .finding(format!(
                    "Namespace {name} waits for {held}, but {} lands at once in it. A new cluster refuses that until the window opens",
                    user.id
                ))
                .at(subject.sources.place(namespace, &["metadata", "name"]))
                .related("this lands at once", subject.sources.place(user, &["metadata", "name"]))
                .help("give the Namespace the first type");
            findings.push(finding);
        }
    }
    findings
}
