//! Flux Kustomizations that reach no cluster.

use crate::check::code::UNLISTED_KUSTOMIZATION;
use crate::check::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::repo::unlisted::commented_out;

/// Finds Flux Kustomizations in folders that Flux builds, which no kustomization there lists.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let (graph, known) = (&subject.model.graph, subject.model.known());
    let found = subject.model.unlisted.iter().map(|one| {
        let lists = graph.builders(&one.file).into_iter();
        let mut out = lists.filter_map(|folder| commented_out(graph, known, &folder).map(|list| (folder, list)));
        let (what, list) = match out.next() {
            Some((folder, list)) => (folder, list.file.to_string()),
            None => {
                let mut above = one.file.parents();
                let list = above.find_map(|folder| graph.get(&folder)).map(|list| list.file.to_string());
                (one.file.clone(), list.unwrap_or_else(|| "a kustomization".to_owned()))
            }
        };
        UNLISTED_KUSTOMIZATION
            .finding(format!(
                "nothing lists {what}, so Flux Kustomization {} reaches no cluster and nothing here counts on it",
                one.name
            ))
            .at(one.place("path"))
            .help(format!(
                "list it in {list}, or remove it; where something outside of Git applies it, name its folder under \
                 `clusters` in windows.yaml"
            ))
    });
    found.collect()
}
