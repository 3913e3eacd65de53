//! What has to happen before a source fetches a commit that is merged.

use crate::delivery::{Cluster, SourceId};

/// Who brings a merged commit to what a source fetches, where that is not the merge itself. When it does is not in Git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// CI pushes it, at the merge or by a release, to what an OCIRepository or a Bucket fetches.
    Push,
    /// Somebody tags it: the `ref` of a GitRepository names tags (source-controller, `GitRepositoryRef`).
    Tag,
}

impl Release {
    /// Returns the word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Release::Push => "push",
            Release::Tag => "tag",
        }
    }

    /// Says from when times count.
    pub fn since(self) -> &'static str {
        match self {
            Release::Push => "from when CI pushes it",
            Release::Tag => "from when it is tagged",
        }
    }

    /// Says what has to happen, as a condition.
    pub fn once(self) -> &'static str {
        match self {
            Release::Push => "once CI has pushed it",
            Release::Tag => "once it is tagged",
        }
    }

    /// Says what to do, as the beginning of a sentence.
    pub fn order(self) -> &'static str {
        match self {
            Release::Push => "Have CI push it",
            Release::Tag => "Tag it",
        }
    }
}

impl Cluster {
    /// Returns what has to happen before a source fetches a merged commit; `None` where it follows a branch.
    pub fn release(&self, id: &SourceId) -> Option<Release> {
        if id.kind == "OCIRepository" || id.kind == "Bucket" {
            return Some(Release::Push);
        }
        let spec = self.source(id).filter(|_| id.kind == "GitRepository")?;
        let said = |field: &str| spec["ref"][field].as_str().filter(|text| !text.is_empty());
        let is_tag = ["commit", "semver", "tag"].into_iter().any(|field| said(field).is_some())
            || said("name").is_some_and(|name| name.starts_with("refs/tags/"));
        is_tag.then_some(Release::Tag)
    }
}
