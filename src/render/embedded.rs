//! The real kustomize inside this program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::render::memo::Memo;
use crate::render::pool::{Job, Pool};
use crate::render::sandbox::Sandbox;
use crate::render::tree::Tree;
use crate::render::{Limits, Object, RenderError, Renderer, Request};
use crate::repo::Snapshot;

/// How often it is looked whether there is still somebody who will answer, and whether others should help.
const PATIENCE: Duration = Duration::from_secs(1);

/// Builds with the kustomize that is part of this program.
///
/// It is kustomize's own code, of the version that Flux's kustomize-controller links, run in a
/// sandbox: it sees the snapshot's files, and no other file, no network, no clock and no process.
/// Memory and time are bounded, so that a hostile repository ends in a [`RenderError`].
/// Instances wait for further requests until the last clone of this renderer is dropped, and what
/// was built before and would look at the same files again is not built again.
#[derive(Clone, Debug, Default)]
pub struct Embedded {
    limits: Limits,
    memo: Arc<Mutex<Memo>>,
    pool: Arc<Mutex<Pool>>,
}

impl Embedded {
    /// Makes a renderer with the given limits.
    pub fn new(limits: Limits) -> Embedded {
        Embedded { limits, ..Embedded::default() }
    }

    /// Gives a renderer with the same instances that has forgotten what was built before.
    #[must_use]
    pub fn forgetful(&self) -> Embedded {
        Embedded { memo: Arc::default(), ..self.clone() }
    }

    /// Tells why this program has no embedded kustomize; `None` when it has.
    pub fn missing() -> Option<String> {
        Sandbox::shared().err()
    }
}

type Outcome = Result<Vec<Object>, RenderError>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut outcomes: Vec<Option<Outcome>> = {
            let memo = locked(&self.memo);
            requests.iter().map(|request| memo.recall(&tree, request)).collect()
        };
        let unknown: Vec<usize> = (0..requests.len()).filter(|index| outcomes[*index].is_none()).collect();
        for (index, outcome) in self.build(sandbox, &tree, requests, &unknown) {
            outcomes[index] = Some(outcome);
        }
        let missing = || Err(RenderError { message: "kustomize gave no answer".to_owned() });
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
    }

    fn prepare(&self, snapshot: &Snapshot, requests: &[Request]) {
        self.render(snapshot, requests);
    }
}

impl Embedded {
    /// Builds the requests at these positions, in any order.
    fn build(
        &self,
        sandbox: &'static Sandbox,
        tree: &Arc<Tree>,
        requests: &[Request],
        positions: &[usize],
    ) -> Vec<(usize, Outcome)> {
        if positions.is_empty() {
            return Vec::new();
        }
        let mut pool = locked(&self.pool);
        if let Err(error) = pool.grow(positions.len(), sandbox, self.limits) {
            let message = format!("there is no thread to build on: {error}");
            return positions
                .iter()
                .map(|index| (*index, Err(RenderError { message: message.clone() })))
                .collect();
        }
        let (answers, answered) = mpsc::channel();
        for index in positions {
            pool.send(Job {
                index: *index,
                request: requests[*index].clone(),
                tree: Arc::clone(tree),
                memo: Arc::clone(&self.memo),
                answers: answers.clone(),
            });
        }
        drop(answers);
        let (done, watched) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || sandbox.watch(&watched));
            let mut outcomes = Vec::new();
            let begun = Instant::now();
            // A job that is dropped drops its end of the channel, so this comes to an end.
            loop {
                match answered.recv_timeout(PATIENCE) {
                    Ok(outcome) => outcomes.push(outcome),
                    Err(mpsc::RecvTimeoutError::Timeout) => pool.rescue(),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                let left = positions.len() - outcomes.len();
                pool.help((outcomes.len(), left), begun.elapsed(), sandbox, self.limits);
            }
            drop(done);
            outcomes
        })
    }
}
