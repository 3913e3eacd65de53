//! The real kustomize inside this program.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use serde::{Deserialize, Serialize};

use crate::render::memo::{Memo, Seen};
use crate::render::sandbox::{Desk, End, STACK, Sandbox};
use crate::render::tree::{Found, Tree};
use crate::render::{Limits, Object, Origin, RenderError, Renderer, Request};
use crate::repo::{RepoPath, Snapshot};

/// How many requests make another instance worth its start.
const SHARE: usize = 4;

/// At most this many instances side by side.
const INSTANCES: usize = 4;

/// What a thread needs beside the instance's stack.
const THREAD: usize = 4 << 20;

/// Builds with the kustomize that is part of this program.
///
/// It is kustomize's own code, of the version that Flux's kustomize-controller links, run in a
/// sandbox: it sees the snapshot's files, and no other file, no network, no clock and no process.
/// Memory and time are bounded, so that a hostile repository ends in a [`RenderError`].
/// What was built before and would look at the same files again is not built again.
#[derive(Clone, Debug, Default)]
pub struct Embedded {
    limits: Limits,
    memo: Arc<Mutex<Memo>>,
}

impl Embedded {
    /// Makes a renderer with the given limits.
    pub fn new(limits: Limits) -> Embedded {
        Embedded { limits, memo: Arc::default() }
    }

    /// Tells why this program has no embedded kustomize; `None` when it has.
    pub fn missing() -> Option<String> {
        Sandbox::shared().err()
    }
}

/// A request as `renderer/main.go` reads it.
#[derive(Serialize)]
struct Line<'a> {
    index: usize,
    path: &'a str,
    origins: bool,
    flux: Option<&'a serde_json::Value>,
}

/// An answer as `renderer/main.go` writes it.
#[derive(Deserialize)]
struct Answer {
    index: usize,
    objects: Option<Vec<serde_json::Value>>,
    #[serde(default)]
    origins: Vec<Option<AnswerOrigin>>,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct AnswerOrigin {
    path: String,
    generator: Option<String>,
}

type Outcome = Result<Vec<Object>, RenderError>;

/// The requests of one call and what has become of them, shared by its instances.
struct Work {
    requests: Vec<Request>,
    tree: Arc<Tree>,
    state: Mutex<State>,
    memo: Arc<Mutex<Memo>>,
}

fn memo(memo: &Mutex<Memo>) -> MutexGuard<'_, Memo> {
    memo.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct State {
    next: usize,
    outcomes: Vec<Option<Outcome>>,
    /// Why what is without an outcome has none.
    broken: Option<String>,
}

impl Work {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, index: usize, outcome: Outcome) {
        if let Some(place) = self.state().outcomes.get_mut(index) {
            *place = Some(outcome);
        }
    }
}

/// One instance's access to the work.
struct Seat {
    work: Arc<Work>,
    current: usize,
}

impl Desk for Seat {
    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let index = {
                let mut state = self.work.state();
                let index = state.next;
                state.next += 1;
                index
            };
            let request = self.work.requests.get(index)?;
            let line = Line {
                index,
                path: request.path.as_str(),
                origins: request.origins,
                flux: request.flux.as_ref(),
            };
            self.current = index;
            match serde_json::to_vec(&line) {
                Ok(line) => return Some(line),
                Err(error) => self.fail(error.to_string()),
            }
        }
    }

    fn answer(&mut self, line: &[u8], seen: Seen) {
        let outcome = match serde_json::from_slice::<Answer>(line) {
            Ok(answer) if answer.index != self.current => {
                Err(RenderError { message: "kustomize answered another request".to_owned() })
            }
            Ok(answer) => {
                let outcome = self.work.outcome(answer);
                if let Some(request) = self.work.requests.get(self.current) {
                    memo(&self.work.memo).remember(request, seen, &outcome);
                }
                outcome
            }
            Err(error) => Err(RenderError { message: format!("kustomize's answer can't be read: {error}") }),
        };
        self.work.settle(self.current, outcome);
    }

    fn fail(&mut self, reason: String) {
        self.work.settle(self.current, Err(RenderError { message: reason }));
    }
}

impl Work {
    fn outcome(&self, answer: Answer) -> Outcome {
        let Some(values) = answer.objects else { return Err(RenderError::reported(&answer.error)) };
        let mut origins = answer.origins.into_iter();
        let objects = values.into_iter().map(|value| {
            let origin = origins.next().flatten().and_then(|origin| self.origin(origin));
            Object { value, origin }
        });
        Ok(objects.collect())
    }

    /// Gives the origin with its path without links; `None` unless there is such a file.
    fn origin(&self, origin: AnswerOrigin) -> Option<Origin> {
        match self.tree.find(&origin.path) {
            Found::File(place, _) => {
                Some(Origin { path: RepoPath::parse(&place).ok()?, generator: origin.generator })
            }
            _ => None,
        }
    }
}

impl Renderer for Embedded {
    fn describe(&self) -> String {
        format!("embedded kustomize {}", env!("RENDERER_KUSTOMIZE"))
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Outcome> {
        let sandbox = match Sandbox::shared() {
            Ok(sandbox) => sandbox,
            Err(message) => {
                return requests.iter().map(|_| Err(RenderError { message: message.clone() })).collect();
            }
        };
        let tree = Arc::new(Tree::new(snapshot));
        let known: Vec<Option<Outcome>> = {
            let memo = memo(&self.memo);
            requests.iter().map(|request| memo.recall(&tree, request)).collect()
        };
        let unknown = requests.iter().zip(&known).filter(|(_, known)| known.is_none());
        let requests: Vec<Request> = unknown.map(|(request, _)| request.clone()).collect();
        let mut built = self.build(sandbox, tree, requests).into_iter();
        let missing = || Err(RenderError { message: "kustomize gave no answer".to_owned() });
        known.into_iter().map(|known| known.or_else(|| built.next()).unwrap_or_else(missing)).collect()
    }
}

impl Embedded {
    /// Builds in as many instances as there is work for.
    fn build(&self, sandbox: &Sandbox, tree: Arc<Tree>, requests: Vec<Request>) -> Vec<Outcome> {
        if requests.is_empty() {
            return Vec::new();
        }
        let count = requests.len();
        let outcomes = requests.iter().map(|_| None).collect();
        let state = Mutex::new(State { next: 0, outcomes, broken: None });
        let work = Arc::new(Work { requests, tree, state, memo: Arc::clone(&self.memo) });
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let instances = count.div_ceil(SHARE).min(cores).min(INSTANCES);
        let (done, watched) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || sandbox.watch(&watched));
            for _ in 0..instances {
                let (worker, done) = (Arc::clone(&work), done.clone());
                let thread = std::thread::Builder::new().stack_size(STACK + THREAD);
                let started = thread.spawn_scoped(scope, move || {
                    self.work(sandbox, &worker);
                    drop(done);
                });
                if let Err(error) = started {
                    work.state().broken = Some(format!("there is no thread to build on: {error}"));
                }
            }
            drop(done);
        });
        let (outcomes, broken) = {
            let mut state = work.state();
            (std::mem::take(&mut state.outcomes), state.broken.take())
        };
        let message = broken.unwrap_or_else(|| "kustomize gave no answer".to_owned());
        let unanswered = || Err(RenderError { message: message.clone() });
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(unanswered)).collect()
    }

    /// Runs one instance after the other until the work is done.
    fn work(&self, sandbox: &Sandbox, work: &Arc<Work>) {
        loop {
            let seat = Box::new(Seat { work: Arc::clone(work), current: 0 });
            match sandbox.run(&work.tree, self.limits, seat) {
                End::Done => return,
                End::Next if work.state().next >= work.requests.len() => return,
                End::Next => {}
                End::Broken(reason) => {
                    work.state().broken = Some(reason);
                    return;
                }
            }
        }
    }
}
