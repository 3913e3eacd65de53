//! Paths in an artifact, as Flux resolves them.

use crate::path::RepoPath;

/// Returns the folder that a path of an artifact means; `top` is the artifact's top.
///
/// Nothing leaves the artifact: `..` above the top stays at the top, and an absolute path begins there
/// (`cyphar/filepath-securejoin`, `SecureJoin`, which kustomize-controller calls for `spec.path`). No link is followed,
/// since an artifact holds none ([`LeftOut::Link`](crate::delivery::LeftOut::Link)). `None` for characters that no path
/// of a repository has.
pub fn secure_join(top: &RepoPath, text: &str) -> Option<RepoPath> {
    let mut reached = top.clone();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if reached == *top => {}
            ".." => reached = reached.parent().unwrap_or_default(),
            name => reached = reached.join(name).ok()?,
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
        let at = |text: &str| secure_join(&RepoPath::top(), text).map(|path| path.as_str().to_owned());
        assert_eq!(at("./clusters/prod/").as_deref(), Some("clusters/prod"));
        assert_eq!(at("../x").as_deref(), Some("x"));
        assert_eq!(at("/x/../../y").as_deref(), Some("y"));
        assert_eq!(at("").as_deref(), Some(""));
        let inside = secure_join(&path("kube"), "../abs");
        assert_eq!(inside, Some(path("kube/abs")));
    }
}
