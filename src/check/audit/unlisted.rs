//! Flux Kustomizations that reach no cluster.

use crate::check::code::UNLISTED_KUSTOMIZATION;
use crate::check::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::repo::RepoPath;

/// Finds Flux Kustomizations in folders that Flux builds, which no kustomization there lists.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let graph = &subject.model.graph;
    let found = subject.model.unlisted.iter().map(|one| {
        let mut above = std::iter::successors(one.file.parent(), RepoPath::parent);
        let list = above.find_map(|folder| graph.get(&folder)).map(|kustomization| &kustomization.file);
        let list = list.map_or_else(|| "a kustomization".to_owned(), ToString::to_string);
        UNLISTED_KUSTOMIZATION
            .finding(format!(
                "nothing lists {}, so Flux Kustomization {} reaches no cluster and nothing here counts on it",
                one.file, one.name
            ))
            .at(one.place("path"))
            .help(format!("list it in {list}, or remove the file"))
    });
    found.collect()
}
