//! Files that came into a folder which Flux listed by itself before the split.

use crate::check::code::UNLISTED_FILE;
use crate::check::subject::Subject;
use crate::delivery::{Input, unlisted};
use crate::diagnostic::{Diagnostic, Place};

/// Finds manifests and apps that reach no cluster, since a split wrote down what Flux listed.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot: subject.snapshot, model: subject.model, renderer: subject.renderer };
    let found = unlisted(&input).into_iter().map(|one| {
        let lists = subject.model.graph.get(&one.list).map_or(&one.list, |list| &list.file);
        let item = one.path.relative_to(&one.list);
        let next = match &one.app {
            Some(app) => format!("gitops-windows split app {app} --allow-dirty"),
            None => "gitops-windows sync".to_owned(),
        };
        UNLISTED_FILE
            .finding(format!(
                "{} reaches no cluster: before the split Flux listed {} by itself",
                one.path, one.whole
            ))
            .at(Place::file(one.path.clone()))
            .help(format!("add `- {item}` to `resources` of {lists}\nrun `{next}`\ncommit both together"))
    });
    found.collect()
}
