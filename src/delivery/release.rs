//! What has to happen before a source fetches a commit that is merged.

use crate::delivery::{Cluster, SourceId};
use crate::text::words;

words! {
    /// Who brings a merged commit to what a source fetches, where that is not the merge itself. When it does is not in Git.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Release {
        /// CI pushes it, at the merge or by a release, to what an OCIRepository or a Bucket fetches.
        Push = "push",
        /// Somebody tags it: the `ref` of a GitRepository names tags (source-controller, `GitRepositoryRef`).
        Tag = "tag",
        /// Somebody names it: the `ref` of a GitRepository names a commit.
        Pin = "commit",
    }
}

impl Release {
    /// Says from when times count.
    pub fn since(self) -> &'static str {
        match self {
            Release::Push => "from when CI pushes it",
            Release::Tag => "from when it is tagged",
            Release::Pin => "from when `ref.commit` names it",
        }
    }

    /// Says what has to happen, as a condition.
    pub fn once(self) -> &'static str {
        match self {
            Release::Push => "once CI has pushed it",
            Release::Tag => "once it is tagged",
            Release::Pin => "once `ref.commit` names it",
        }
    }

    /// Says what to do, as the beginning of a sentence.
    pub fn order(self) -> &'static str {
        match self {
            Release::Push => "Have CI push it",
            Release::Tag => "Tag it",
            Release::Pin => "Name it in `ref.commit`",
        }
    }
}

impl Cluster {
    /// Returns what has to happen before a source fetches a merged commit; `None` where it follows a branch.
    ///
    /// Of the fields of `ref`, `commit` counts before `name`, that before `semver`, `tag` and `branch` (source-controller,
    /// `GitRepositoryRef`).
    pub fn release(&self, id: &SourceId) -> Option<Release> {
        if id.kind == "OCIRepository" || id.kind == "Bucket" {
            return Some(Release::Push);
        }
        let spec = self.source(id).filter(|_| id.kind == "GitRepository")?;
        let said = |field: &str| spec["ref"][field].as_str().filter(|text| !text.is_empty());
        if said("commit").is_some() {
            return Some(Release::Pin);
        }
        let is_tag = match said("name") {
            Some(name) => name.starts_with("refs/tags/"),
            None => said("semver").or_else(|| said("tag")).is_some(),
        };
        is_tag.then_some(Release::Tag)
    }
}
