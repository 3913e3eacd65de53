//! Builds that were made before, each with everything that it looked at.
//!
//! A build is a function of what it looks at. A plan tries one way after the other and the proof
//! renders again what the plan has rendered, mostly in trees that differ elsewhere; such a build
//! need not be made twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::render::answer::Kept;
use crate::render::seen::Looked;
use crate::render::tree::Tree;
use crate::render::values::Values;
use crate::render::{Object, RenderError, Request, Tally};

/// How many builds of one request are kept: the tree before, and what is tried.
const KEPT: usize = 16;

/// What a build came to.
type Outcome = Result<Vec<Object>, RenderError>;

/// A build that was made.
#[derive(Debug)]
struct Build {
    looked: Looked,
    outcome: Result<Vec<Kept>, RenderError>,
    /// Whether the objects have their origins.
    origins: bool,
    /// Whether another run made it.
    is_kept: bool,
    /// The tree in which it was found to hold last.
    held: Mutex<Option<Tree>>,
}

impl Build {
    /// Returns whether this is what a request would come to.
    fn answers(&self, tree: &Tree, request: &Request) -> bool {
        // What does not build has no origins.
        (self.origins || !request.origins || self.outcome.is_err()) && self.holds_in(tree)
    }

    /// Returns whether the build would see the same in a tree.
    fn holds_in(&self, tree: &Tree) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| held.is_shared_with(tree)) {
            return true;
        }
        let holds = self.looked.holds_in(tree);
        if holds {
            *held = Some(tree.clone());
        }
        holds
    }
}

/// Which builds are good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that were made in this run.
    ThisRun,
    /// Those too that other runs have kept.
    AllRuns,
}

/// The builds that were made, by request without origins.
#[derive(Debug, Default)]
pub(super) struct Memo {
    builds: HashMap<Request, VecDeque<Arc<Build>>>,
    values: Values,
    tally: Tally,
}

impl Memo {
    /// Returns what a build of this tree would come to, if that is known.
    pub(super) fn recall(&self, tree: &Tree, request: &Request, trust: Trust) -> Option<Outcome> {
        let build = self.find(tree, request, trust)?;
        let objects = |kept: &Vec<Kept>| kept.iter().map(Kept::object).collect();
        Some(as_asked(request, build.outcome.as_ref().map_err(Clone::clone).and_then(objects)))
    }

    /// Returns whether it is known what a build of this tree would come to.
    pub(super) fn knows(&self, tree: &Tree, request: &Request, trust: Trust) -> bool {
        self.find(tree, request, trust).is_some()
    }

    fn find(&self, tree: &Tree, request: &Request, trust: Trust) -> Option<&Arc<Build>> {
        let builds = self.builds.get(&request.without_origins())?.iter();
        let mut trusted = builds.filter(|build| trust == Trust::AllRuns || !build.is_kept);
        trusted.find(|build| build.answers(tree, request))
    }

    /// Remembers what a build of this tree came to, and whether the request's twin comes to the same.
    pub(super) fn remember(&mut self, tree: &Tree, request: &Request, built: Built) {
        let Built { mut looked, outcome, has_twin, is_kept } = built;
        let plain = request.without_origins();
        let known = self.builds.get(&plain).into_iter().flatten();
        if !known.clone().any(|build| build.holds_in(tree)) {
            self.tally.distinct += 1;
        }
        known.into_iter().for_each(|build| looked.share(&build.looked));
        let held = Mutex::new(Some(tree.clone()));
        let build = Arc::new(Build { looked, outcome, origins: request.origins, is_kept, held });
        for request in plain.twin().filter(|_| has_twin).into_iter().chain([plain]) {
            let builds = self.builds.entry(request).or_default();
            builds.push_front(Arc::clone(&build));
            builds.truncate(KEPT);
        }
    }

    /// Counts requests, and the builds that were made or found for them or ahead of them.
    pub(super) fn count(&mut self, asked: usize, made: usize, kept: usize) {
        self.tally.asked += asked;
        self.tally.made += made;
        self.tally.kept += kept;
        self.tally.remembered += asked.saturating_sub(made + kept);
    }

    /// Returns the values of the objects.
    pub(super) fn values(&self) -> Values {
        self.values.clone()
    }

    /// Returns what was counted.
    pub(super) fn tally(&self) -> Tally {
        self.tally
    }
}

/// What is to be remembered of a build.
pub(super) struct Built {
    /// What it looked at.
    pub(super) looked: Looked,
    /// What it came to.
    pub(super) outcome: Result<Vec<Kept>, RenderError>,
    /// Whether the request's twin looks at the same and comes to the same.
    pub(super) has_twin: bool,
    /// Whether another run made it.
    pub(super) is_kept: bool,
}

/// Returns an outcome with origins only if the request wants them.
pub(super) fn as_asked(request: &Request, mut outcome: Outcome) -> Outcome {
    if let (false, Ok(objects)) = (request.origins, &mut outcome) {
        objects.iter_mut().for_each(|object| object.origin = None);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Trust::{AllRuns, ThisRun};
    use super::*;
    use crate::path::RepoPath;
    use crate::render::Origin;
    use crate::render::answer::Answer;
    use crate::render::seen::Seen;
    use crate::repo::{File, Snapshot};

    fn tree(text: &str) -> Tree {
        let mut snapshot = Snapshot::default();
        snapshot.insert(RepoPath::parse("a/x.yaml").unwrap(), File::new(text.as_bytes()));
        Tree::new(&snapshot)
    }

    fn looked_at(text: &str) -> Looked {
        let mut seen = Seen::default();
        seen.find(&tree(text), "a/x.yaml");
        seen.looked()
    }

    fn object() -> Object {
        let path = RepoPath::parse("a/x.yaml").unwrap();
        Object { value: Arc::new(json!({})), origin: Some(Origin { path, generator: None }) }
    }

    fn built(outcome: Outcome, has_twin: bool) -> Built {
        let answer = match outcome {
            Ok(objects) => json!({
                "index": 0,
                "objects": objects.iter().map(|object| &*object.value).collect::<Vec<_>>(),
                "origins": objects.iter().map(|_| json!({ "path": "a/x.yaml" })).collect::<Vec<_>>(),
            }),
            Err(error) => json!({ "index": 0, "error": error.message }),
        };
        let answer = Answer::read(answer.to_string().as_bytes(), &Values::default()).unwrap();
        Built { looked: looked_at("one"), outcome: answer.kept(&tree("one")), has_twin, is_kept: false }
    }

    #[test]
    fn a_build_with_origins_answers_for_one_without_and_only_then() {
        let plain = Request::base(RepoPath::parse("a").unwrap());
        let marked = plain.clone().with_origins();
        let mut memo = Memo::default();
        memo.remember(&tree("one"), &marked, built(Ok(vec![object()]), false));
        assert_eq!(memo.recall(&tree("one"), &marked, AllRuns), Some(Ok(vec![object()])));
        assert_eq!(
            memo.recall(&tree("one"), &plain, AllRuns),
            Some(Ok(vec![Object { origin: None, ..object() }]))
        );
        assert_eq!(memo.recall(&tree("two"), &plain, AllRuns), None);
        let mut memo = Memo::default();
        memo.remember(&tree("one"), &plain, built(Ok(vec![object()]), false));
        assert_eq!(memo.recall(&tree("one"), &marked, AllRuns), None);
        assert_eq!(memo.tally().distinct, 1);
    }

    #[test]
    fn what_does_not_build_has_no_origins_to_be_built_for() {
        let plain = Request::base(RepoPath::parse("a").unwrap());
        let error = Err(RenderError { message: "no".to_owned() });
        let mut memo = Memo::default();
        memo.remember(&tree("one"), &plain, built(error.clone(), false));
        assert_eq!(memo.recall(&tree("one"), &plain.with_origins(), AllRuns), Some(error));
    }

    #[test]
    fn a_twin_is_known_where_the_renderer_says_so() {
        let alone = Request::base(RepoPath::parse("a").unwrap());
        let flux = Request::flux(alone.path.clone(), &json!({"interval": "1m"}));
        let other = Request::flux(alone.path.clone(), &json!({"namePrefix": "a-"}));
        let mut memo = Memo::default();
        memo.remember(&tree("one"), &alone, built(Ok(Vec::new()), false));
        assert_eq!(memo.recall(&tree("one"), &flux, AllRuns), None);
        memo.remember(&tree("one"), &flux, built(Ok(Vec::new()), true));
        assert_eq!(memo.recall(&tree("one"), &flux.with_origins(), AllRuns), None);
        assert_eq!(memo.recall(&tree("one"), &alone, AllRuns), Some(Ok(Vec::new())));
        assert_eq!(memo.recall(&tree("one"), &other, AllRuns), None);
    }

    #[test]
    fn a_build_of_another_run_is_not_one_of_this() {
        let plain = Request::base(RepoPath::parse("a").unwrap());
        let mut memo = Memo::default();
        memo.remember(&tree("one"), &plain, Built { is_kept: true, ..built(Ok(Vec::new()), false) });
        assert_eq!(memo.recall(&tree("one"), &plain, AllRuns), Some(Ok(Vec::new())));
        assert_eq!(memo.recall(&tree("one"), &plain, ThisRun), None);
    }
}
