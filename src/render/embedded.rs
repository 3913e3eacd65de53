//! The real kustomize inside this program.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::render::answer::Answer;
use crate::render::cache::Cache;
use crate::render::memo::{Built, Memo, Trust, as_asked};
use crate::render::pool::{Job, Pool};
use crate::render::sandbox::Sandbox;
use crate::render::tree::Tree;
use crate::render::{Limits, Object, Progress, RenderError, Renderer, Request, Tally};
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
    cache: Option<Arc<Cache>>,
    progress: Option<Progress>,
}

impl Embedded {
    /// Makes a renderer with the given limits.
    pub fn new(limits: Limits) -> Embedded {
        Embedded { limits, ..Embedded::default() }
    }

    /// Keeps builds for other runs in the user's cache, and takes them from there.
    #[must_use]
    pub fn with_cache_of_user(self) -> Embedded {
        Embedded { cache: Cache::of_user().map(Arc::new), ..self }
    }

    /// Keeps builds for other runs in this folder, and takes them from there.
    #[must_use]
    pub fn with_cache(self, folder: &Path) -> Embedded {
        Embedded { cache: Some(Arc::new(Cache::at(folder))), ..self }
    }

    /// Returns a renderer with the same instances that has forgotten what was built before.
    #[must_use]
    pub fn forgetful(&self) -> Embedded {
        Embedded { memo: Arc::default(), ..self.clone() }
    }

    /// Returns a renderer with instances of its own that knows and keeps the same builds, for another thread.
    #[must_use]
    pub fn beside(&self) -> Embedded {
        Embedded { pool: Arc::default(), ..self.clone() }
    }

    /// Tells why this program has no embedded kustomize; `None` when it has.
    pub fn missing() -> Option<String> {
        Sandbox::missing()
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
        self.settle(snapshot, requests, requests.len(), Trust::AllRuns)
    }

    fn render_anew(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Outcome> {
        self.settle(snapshot, requests, requests.len(), Trust::ThisRun)
    }

    fn prepare(&self, snapshot: &Snapshot, requests: &[Request]) {
        self.settle(snapshot, requests, 0, Trust::AllRuns);
    }

    fn report_to(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    fn rest(&self) {
        locked(&self.pool).rest();
    }

    fn tally(&self) -> Option<Tally> {
        Some(locked(&self.memo).tally())
    }
}

impl Embedded {
    /// Returns the outcome of each request, of which so many were asked for.
    fn settle(&self, snapshot: &Snapshot, requests: &[Request], asked: usize, trust: Trust) -> Vec<Outcome> {
        let tree = Arc::new(Tree::new(snapshot));
        let mut outcomes: Vec<Option<Outcome>> = vec![None; requests.len()];
        let (mut made, mut kept) = (0, 0);
        loop {
            let memo = locked(&self.memo);
            let open = outcomes.iter_mut().zip(requests).filter(|(outcome, _)| outcome.is_none());
            open.for_each(|(outcome, request)| {
                *outcome = match asked {
                    // Nobody looks at what is prepared.
                    0 => memo.knows(&tree, request, trust).then(|| Ok(Vec::new())),
                    _ => memo.recall(&tree, request, trust),
                }
            });
            drop(memo);
            let unknown = requests.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_none());
            let jobs = Jobs::of(unknown.map(|(request, _)| request));
            if jobs.requests.is_empty() {
                break;
            }
            let found = match trust {
                Trust::AllRuns => jobs.requests.iter().filter(|request| self.find(&tree, request)).count(),
                Trust::ThisRun => 0,
            };
            kept += found;
            // What was found is known now, and so are its twins.
            if found > 0 {
                continue;
            }
            made += jobs.requests.len();
            let built = self.build(&tree, &jobs.requests);
            // What was stopped is not remembered, and not built again either.
            let open = outcomes.iter_mut().zip(requests).filter(|(outcome, _)| outcome.is_none());
            open.for_each(|(outcome, request)| {
                let position = jobs.positions.get(&request.without_origins());
                *outcome = position.map(|position| as_asked(request, built[*position].clone()));
            });
        }
        locked(&self.memo).count(asked, made, kept);
        outcomes.into_iter().flatten().collect()
    }

    /// Looks for a build in the cache, its twin's included, and remembers it; tells whether there is one.
    fn find(&self, tree: &Tree, request: &Request) -> bool {
        let Some(cache) = &self.cache else { return false };
        let own = Some(request.clone());
        let values = locked(&self.memo).values();
        let found = [own, request.twin()].into_iter().flatten().find_map(|from| {
            let (looked, line) = cache.recall(tree, &from)?;
            let answer =
                Answer::read(&line, &values).ok().filter(|answer| answer.twin || from == *request)?;
            Some((from, looked, answer))
        });
        let Some((from, looked, answer)) = found else { return false };
        let has_twin = answer.twin;
        let built = Built { looked, outcome: answer.kept(tree), has_twin, is_kept: true };
        locked(&self.memo).remember(tree, &from, built);
        true
    }

    /// Builds each request.
    fn build(&self, tree: &Arc<Tree>, requests: &[Request]) -> Vec<Outcome> {
        let failed = |message: String| {
            requests.iter().map(|_| Err(RenderError { message: message.clone() })).collect()
        };
        let sandbox = match Sandbox::shared() {
            Ok(sandbox) => sandbox,
            Err(message) => return failed(message),
        };
        let mut pool = locked(&self.pool);
        if let Err(error) = pool.grow(requests.len(), sandbox, self.limits) {
            return failed(format!("there is no thread to build on: {error}"));
        }
        let (answers, answered) = mpsc::channel();
        for (index, request) in requests.iter().enumerate() {
            pool.send(Job {
                index,
                request: request.clone(),
                tree: Arc::clone(tree),
                memo: Arc::clone(&self.memo),
                cache: self.cache.clone(),
                answers: answers.clone(),
            });
        }
        drop(answers);
        let (done, watched) = mpsc::channel();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; requests.len()];
        let mut count = 0;
        std::thread::scope(|scope| {
            scope.spawn(move || sandbox.watch(&watched));
            let begun = Instant::now();
            // A job that is dropped drops its end of the channel, so this comes to an end.
            loop {
                match answered.recv_timeout(PATIENCE) {
                    Ok((index, outcome)) => {
                        outcomes[index] = Some(outcome);
                        count += 1;
                        if let Some(Progress(hear)) = &self.progress {
                            hear(count, requests.len());
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => pool.rescue(),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                pool.help((count, requests.len() - count), begun.elapsed(), sandbox, self.limits);
            }
            drop(done);
        });
        let missing = || Err(RenderError { message: "kustomize gave no answer".to_owned() });
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
    }
}

/// The builds that some requests need.
#[derive(Default)]
struct Jobs {
    /// Each distinct one once, with origins if any request wants them.
    requests: Vec<Request>,
    /// Where it is, by the request without origins.
    positions: HashMap<Request, usize>,
}

impl Jobs {
    /// Of a request and its twin one is built first: mostly that answers both.
    fn of<'r>(wanted: impl Iterator<Item = &'r Request>) -> Jobs {
        let mut jobs = Jobs::default();
        for request in wanted {
            let plain = request.without_origins();
            let twin = plain.twin().and_then(|twin| jobs.positions.get(&twin));
            match jobs.positions.get(&plain).or(twin) {
                Some(position) => jobs.requests[*position].origins |= request.origins,
                None => {
                    jobs.positions.insert(plain, jobs.requests.len());
                    jobs.requests.push(request.clone());
                }
            }
        }
        jobs
    }
}
