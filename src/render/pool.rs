//! Instances of the embedded kustomize that wait for work, so that each is started once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use serde::Serialize;

use crate::render::answer::{Answer, Kept};
use crate::render::cache::Cache;
use crate::render::memo::{Built, Memo};
use crate::render::sandbox::{Desk, End, STACK, Sandbox, at_once};
use crate::render::seen::Seen;
use crate::render::tree::Tree;
use crate::render::{Limits, Object, RenderError, Request};

/// How many requests surely make another instance worth its start.
const SHARE: usize = 64;

/// How long the start of an instance takes, about, on a busy machine.
///
/// It reads Kubernetes' schema when it first merges a patch, which takes as long as building dozens of small
/// folders, or one large one: that is not known before. Whoever works for as long as a start takes, and starts
/// another for what is left, is never far from the best.
const START: Duration = Duration::from_secs(1);

/// What a thread needs beside the instance's stack.
const THREAD: usize = 4 << 20;

type Outcome = Result<Vec<Object>, RenderError>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request on its way to an instance.
pub(super) struct Job {
    /// Which of the call's requests it is; given back with the answer.
    pub(super) index: usize,
    /// What is to be built.
    pub(super) request: Request,
    /// In which files.
    pub(super) tree: Arc<Tree>,
    /// Where the outcome is remembered.
    pub(super) memo: Arc<Mutex<Memo>>,
    /// Where it is kept for other runs, if it is.
    pub(super) cache: Option<Arc<Cache>>,
    /// Where the outcome goes.
    pub(super) answers: mpsc::Sender<(usize, Outcome)>,
}

impl Job {
    fn settle(self, outcome: Outcome) {
        // Nobody waits for it where the caller is gone.
        let _ = self.answers.send((self.index, outcome));
    }
}

/// The threads that run instances. They end when the pool is dropped.
#[derive(Debug, Default)]
pub(super) struct Pool {
    jobs: Option<mpsc::Sender<Job>>,
    waiting: Option<Arc<Mutex<mpsc::Receiver<Job>>>>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// How many jobs these got.
    sent: usize,
}

impl Pool {
    /// Makes sure that there are instances enough to begin with so many requests.
    ///
    /// # Errors
    ///
    /// When there is none, and no thread can be started.
    pub(super) fn grow(
        &mut self,
        requests: usize,
        sandbox: &'static Sandbox,
        limits: Limits,
    ) -> std::io::Result<()> {
        self.threads.retain(|thread| !thread.is_finished());
        self.start(requests.div_ceil(SHARE), sandbox, limits)
    }

    /// Starts another instance where that is worth it, judged by what was done in this time.
    pub(super) fn help(
        &mut self,
        work: (usize, usize),
        time: Duration,
        sandbox: &'static Sandbox,
        limits: Limits,
    ) {
        self.threads.retain(|thread| !thread.is_finished());
        if is_worth_another(self.threads.len(), work, time) {
            // Without another the work goes on as before.
            let _ = self.start(self.threads.len() + 1, sandbox, limits);
        }
    }

    fn start(&mut self, wanted: usize, sandbox: &'static Sandbox, limits: Limits) -> std::io::Result<()> {
        while self.threads.len() < wanted.min(at_once()) {
            let waiting = Arc::clone(self.waiting.get_or_insert_with(|| {
                let (jobs, waiting) = mpsc::channel();
                self.jobs = Some(jobs);
                Arc::new(Mutex::new(waiting))
            }));
            let thread = std::thread::Builder::new().stack_size(STACK + THREAD);
            let alone = self.threads.is_empty();
            match thread.spawn(move || work(sandbox, limits, &waiting, alone)) {
                Ok(thread) => self.threads.push(thread),
                Err(error) if self.threads.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Ends the instances where another start is little beside what they have done, so that their memory is free.
    pub(super) fn rest(&mut self) {
        if self.sent >= SHARE {
            let Pool { jobs, waiting, threads, sent: _ } = std::mem::take(self);
            drop((jobs, waiting));
            // One that has panicked has told whoever waited for it.
            threads.into_iter().for_each(|thread| drop(thread.join()));
        }
    }

    /// Returns a job to the next instance that is free.
    pub(super) fn send(&mut self, job: Job) {
        self.sent += 1;
        if let Some(Err(mpsc::SendError(job))) = self.jobs.as_ref().map(|jobs| jobs.send(job)) {
            job.settle(Err(RenderError { message: "kustomize is not there any more".to_owned() }));
        }
    }
}

impl Pool {
    /// Answers what waits in vain: every thread has ended, which takes a panic in it.
    pub(super) fn rescue(&self) {
        if self.threads.iter().any(|thread| !thread.is_finished()) {
            return;
        }
        let Some(waiting) = &self.waiting else { return };
        while let Ok(job) = locked(waiting).try_recv() {
            job.settle(Err(RenderError { message: "kustomize failed".to_owned() }));
        }
    }
}

/// Returns whether so many instances, which were this long about what is done, need help with what is left.
fn is_worth_another(instances: usize, (done, left): (usize, usize), time: Duration) -> bool {
    let rest = time.as_secs_f64() * left as f64 / done.max(1) as f64;
    time >= START && left > instances && rest >= START.as_secs_f64() * instances as f64
}

/// Runs one instance after the other until there is no more work. Where none can be started, the first says
/// so to whoever waits, and the others leave the work to it.
fn work(sandbox: &Sandbox, limits: Limits, waiting: &Arc<Mutex<mpsc::Receiver<Job>>>, alone: bool) {
    loop {
        let seat = Box::new(Seat { waiting: Arc::clone(waiting), current: None });
        match sandbox.run(limits, seat) {
            End::Done => return,
            End::Next => {}
            End::Broken(_) if !alone => return,
            End::Broken(reason) => {
                while let Ok(job) = { locked(waiting).recv() } {
                    job.settle(Err(RenderError { message: reason.clone() }));
                }
                return;
            }
        }
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

/// One instance's access to the work.
struct Seat {
    waiting: Arc<Mutex<mpsc::Receiver<Job>>>,
    current: Option<Job>,
}

impl Desk for Seat {
    fn next(&mut self) -> Option<(Arc<Tree>, Vec<u8>)> {
        loop {
            let job = { locked(&self.waiting).recv() }.ok()?;
            let line = Line {
                index: job.index,
                path: job.request.path.as_str(),
                origins: job.request.origins,
                flux: job.request.fields(),
            };
            match serde_json::to_vec(&line) {
                Ok(line) => {
                    let tree = Arc::clone(&job.tree);
                    self.current = Some(job);
                    return Some((tree, line));
                }
                Err(error) => job.settle(Err(RenderError { message: error.to_string() })),
            }
        }
    }

    fn answer(&mut self, line: &[u8], seen: Seen) {
        let Some(job) = self.current.take() else { return };
        let values = locked(&job.memo).values();
        let outcome = match Answer::read(line, &values) {
            Ok(answer) if answer.index != job.index => {
                Err(RenderError { message: "kustomize answered another request".to_owned() })
            }
            Ok(answer) => {
                let (looked, has_twin) = (seen.looked(), answer.twin);
                let outcome = answer.kept(&job.tree);
                let objects = outcome.as_ref().map_err(Clone::clone);
                let objects = objects.and_then(|kept| kept.iter().map(Kept::object).collect());
                if let Some(cache) = job.cache.as_ref().filter(|_| outcome.is_err() || objects.is_ok()) {
                    cache.keep(&job.request, &looked, line);
                }
                let built = Built { looked, outcome, has_twin, is_kept: false };
                locked(&job.memo).remember(&job.tree, &job.request, built);
                objects
            }
            Err(error) => Err(RenderError { message: format!("kustomize's answer can't be read: {error}") }),
        };
        job.settle(outcome);
    }

    fn fail(&mut self, reason: String) {
        if let Some(job) = self.current.take() {
            job.settle(Err(RenderError { message: reason }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_instance_is_started_for_work_that_takes_longer_than_its_start() {
        let second = Duration::from_secs(1);
        assert!(is_worth_another(1, (0, 4), second), "large folders");
        assert!(is_worth_another(1, (20, 60), second), "many folders");
        assert!(!is_worth_another(1, (20, 60), second / 2), "too early to tell");
        assert!(!is_worth_another(1, (8, 4), second), "soon done");
        assert!(!is_worth_another(1, (0, 1), 9 * second), "nothing to help with");
        assert!(!is_worth_another(3, (60, 80), 2 * second), "soon done by three");
    }
}
