//! Builds that were made before, each with everything that it looked at.
//!
//! A build is a function of what it looks at. A plan tries one way after the other and the proof
//! renders again what the plan has rendered, mostly in trees that differ elsewhere; such a build
//! need not be made twice.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::render::tree::{Found, Kind, Tree};
use crate::render::{Object, RenderError, Request};

/// How many builds of one folder are kept: the tree before, and what is tried.
const KEPT: usize = 4;

/// What a build looked at, and what it saw.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    found: BTreeMap<String, Found>,
    listed: BTreeMap<String, Vec<(Kind, String)>>,
}

impl Seen {
    /// Looks at a path on behalf of a build.
    pub(super) fn find(&mut self, tree: &Tree, path: &str) -> Found {
        if let Some(found) = self.found.get(path) {
            return found.clone();
        }
        let found = tree.find(path);
        self.found.insert(path.to_owned(), found.clone());
        found
    }

    /// Lists a folder on behalf of a build.
    pub(super) fn list(&mut self, tree: &Tree, path: &str) -> &[(Kind, String)] {
        self.listed.entry(path.to_owned()).or_insert_with(|| tree.list(path))
    }

    /// Tells whether a build would see the same in another tree.
    fn holds_in(&self, tree: &Tree) -> bool {
        self.found.iter().all(|(path, found)| tree.find(path) == *found)
            && self.listed.iter().all(|(path, names)| tree.list(path) == *names)
    }
}

/// What a build came to.
type Outcome = Result<Vec<Object>, RenderError>;

/// The builds that were made, by request.
#[derive(Debug, Default)]
pub(super) struct Memo {
    builds: HashMap<Request, VecDeque<(Seen, Outcome)>>,
}

impl Memo {
    /// Gives what a build of this tree would come to, if that is known.
    pub(super) fn recall(&self, tree: &Tree, request: &Request) -> Option<Outcome> {
        if let Some(outcome) = self.known(tree, request) {
            return Some(outcome.clone());
        }
        if request.origins {
            return None;
        }
        // With origins the objects are the same.
        let without = |object: &Object| Object { value: object.value.clone(), origin: None };
        let outcome = self.known(tree, &request.clone().with_origins())?;
        Some(outcome.as_ref().map(|objects| objects.iter().map(without).collect()).map_err(Clone::clone))
    }

    fn known(&self, tree: &Tree, request: &Request) -> Option<&Outcome> {
        let builds = self.builds.get(request)?;
        builds.iter().find(|(seen, _)| seen.holds_in(tree)).map(|(_, outcome)| outcome)
    }

    /// Remembers what a build came to.
    pub(super) fn remember(&mut self, request: &Request, seen: Seen, outcome: &Outcome) {
        let builds = self.builds.entry(request.clone()).or_default();
        builds.push_front((seen, outcome.clone()));
        builds.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::RepoPath;
    use crate::render::Origin;
    use crate::repo::{File, Snapshot};

    fn tree(text: &str) -> Tree {
        let mut snapshot = Snapshot::default();
        snapshot.insert(RepoPath::parse("a/x.yaml").unwrap(), File::new(text.as_bytes()));
        Tree::new(&snapshot)
    }

    #[test]
    fn a_build_with_origins_answers_for_one_without_and_only_then() {
        let path = RepoPath::parse("a").unwrap();
        let (plain, marked) = (Request::folder(path.clone()), Request::folder(path.clone()).with_origins());
        let mut seen = Seen::default();
        seen.find(&tree("one"), "a/x.yaml");
        let object = Object { value: json!({}), origin: Some(Origin { path, generator: None }) };
        let mut memo = Memo::default();
        memo.remember(&marked, seen.clone(), &Ok(vec![object.clone()]));
        assert_eq!(memo.recall(&tree("one"), &marked), Some(Ok(vec![object.clone()])));
        assert_eq!(
            memo.recall(&tree("one"), &plain),
            Some(Ok(vec![Object { origin: None, ..object.clone() }]))
        );
        assert_eq!(memo.recall(&tree("two"), &plain), None);
        let mut memo = Memo::default();
        memo.remember(&plain, seen, &Ok(vec![object]));
        assert_eq!(memo.recall(&tree("one"), &marked), None);
    }
}
