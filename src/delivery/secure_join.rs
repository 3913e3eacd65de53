//! Paths in an artifact, as Flux resolves them.

use std::collections::VecDeque;

use crate::path::RepoPath;
use crate::repo::{Entry, Snapshot};

/// How many links one path may lead over before it counts as a cycle (`filepath-securejoin`, `maxSymlinkLimit`).
const LINKS: usize = 255;

/// Returns the folder that a path of an artifact means; `top` is the artifact's top.
///
/// Nothing leaves the artifact: `..` above the top stays at the top, and an absolute path or link begins
/// there (`cyphar/filepath-securejoin`, `SecureJoin`, which kustomize-controller calls for `spec.path`).
/// `None` for a cycle of links, and for characters that no path of a repository has.
pub fn secure_join(snapshot: &Snapshot, top: &RepoPath, text: &str) -> Option<RepoPath> {
    let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let mut left: VecDeque<String> = parts(text).into();
    let mut reached = top.clone();
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        match part.as_str() {
            "" | "." => {}
            ".." => {
                if reached != *top {
                    reached = reached.parent().unwrap_or_default();
                }
            }
            name => {
                let next = reached.join(name).ok()?;
                let Some(Entry::Symlink { target }) = snapshot.entry(&next) else {
                    reached = next;
                    continue;
                };
                links += 1;
                if links > LINKS {
                    return None;
                }
                if target.starts_with('/') {
                    reached = top.clone();
                }
                for part in parts(target).into_iter().rev() {
                    left.push_front(part);
                }
            }
        }
    }
    Some(reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_the_artifact() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let link = |target: &str| Entry::Symlink { target: target.to_owned() };
        let snapshot = Snapshot::new(
            [
                (path("kube/up"), link("../../..")),
                (path("kube/abs"), link("/apps")),
                (path("a"), link("b")),
                (path("b"), link("a")),
            ]
            .into(),
        );
        let top = RepoPath::top();
        let at = |text: &str| secure_join(&snapshot, &top, text).map(|path| path.as_str().to_owned());
        assert_eq!(at("./clusters/prod/").as_deref(), Some("clusters/prod"));
        assert_eq!(at("../x").as_deref(), Some("x"));
        assert_eq!(at("/x/../../y").as_deref(), Some("y"));
        assert_eq!(at("").as_deref(), Some(""));
        assert_eq!(at("kube/up/apps").as_deref(), Some("apps"));
        assert_eq!(at("kube/abs/web").as_deref(), Some("apps/web"));
        assert_eq!(at("a/x"), None);
        let inside = secure_join(&snapshot, &path("kube"), "../abs");
        assert_eq!(inside, Some(path("kube/apps")));
    }
}
