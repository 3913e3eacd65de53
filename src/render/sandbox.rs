//! The machine that runs the embedded kustomize: loaded once, run in instances that see a
//! snapshot's files and nothing else.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use wasmtime::{Config, Engine, InstancePre, Linker, Result, Store, UpdateDeadline};

use crate::limit;
use crate::render::host::{self, Host};
use crate::render::seen::Seen;
use crate::render::tree::Tree;
use crate::render::turn::Turns;
use crate::render::{engine, module, wasi};

/// The stack of the machine that one instance may use; the thread that runs it must have more.
pub(super) const STACK: usize = 16 << 20;

/// How often it is looked whether an instance has used up its time.
const TICK: Duration = Duration::from_millis(20);

/// Returns how many instances may run at once.
pub(super) fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(limit::BUILDS_AT_ONCE)
}

/// What one instance may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: usize,
    /// Time of the processor for one request.
    pub time: Duration,
    /// Requests, after which a new instance goes on, since memory only grows.
    pub requests: usize,
    /// Bytes of memory above which no further request is given.
    pub full: usize,
    /// Bytes of JSON that one answer may have.
    pub answer: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: limit::BUILD_MEMORY,
            time: limit::BUILD_TIME,
            requests: 4096,
            full: 224 << 20,
            answer: limit::BUILD_ANSWER,
        }
    }
}

/// Where requests come from and answers go to.
pub(super) trait Desk: Send + 'static {
    /// Waits for the next request: the files that it is about, and one line without its end;
    /// `None` when there will be no more.
    fn next(&mut self) -> Option<(Arc<Tree>, Vec<u8>)>;
    /// Takes an answer, one line without its end, with all that was looked at for it.
    fn answer(&mut self, line: &[u8], seen: Seen);
    /// Takes the reason why the last request given will have no answer.
    fn fail(&mut self, reason: String);
}

/// How an instance ended.
pub(super) enum End {
    /// There are no more requests.
    Done,
    /// It has done its share, or failed at a request: go on with another instance.
    Next,
    /// It never got as far as to take a request, for this reason: another would not either.
    Broken(String),
}

/// The loaded renderer.
pub(super) struct Sandbox {
    engine: Engine,
    ready: InstancePre<Host>,
    turns: Arc<Turns>,
}

impl Sandbox {
    /// Tells why there is nothing to load; `None` where there is.
    pub(super) fn missing() -> Option<String> {
        (!module::is_there()).then(|| "this program was built without the embedded kustomize".to_owned())
    }

    /// Returns the renderer, loaded when it is first wanted.
    ///
    /// # Errors
    ///
    /// When the program was built without it.
    pub(super) fn shared() -> std::result::Result<&'static Sandbox, String> {
        static LOADED: OnceLock<std::result::Result<Sandbox, String>> = OnceLock::new();
        let loaded = LOADED.get_or_init(|| {
            if let Some(reason) = Sandbox::missing() {
                return Err(reason);
            }
            Sandbox::load().map_err(|error| format!("the embedded kustomize can't be loaded: {error:#}"))
        });
        loaded.as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Sandbox> {
        let mut config = Config::new();
        engine::configure(&mut config);
        config.max_wasm_stack(STACK).async_stack_size(STACK);
        let engine = Engine::new(&config)?;
        let module = module::load(&engine)?;
        let mut linker = Linker::new(&engine);
        wasi::link(&mut linker, &module)?;
        host::link(&mut linker)?;
        let ready = linker.instantiate_pre(&module)?;
        Ok(Sandbox { engine, ready, turns: Turns::of(at_once()) })
    }

    /// Lets time pass for the instances until `done` says so.
    pub(super) fn watch(&self, done: &std::sync::mpsc::Receiver<()>) {
        while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = done.recv_timeout(TICK) {
            self.engine.increment_epoch();
        }
    }

    /// Runs one instance until the desk has no more requests, it has done its share, or it fails.
    ///
    /// The calling thread needs more stack than [`STACK`].
    pub(super) fn run(&self, limits: Limits, desk: Box<dyn Desk>) -> End {
        let mut store = Store::new(&self.engine, Host::new(limits, desk, Arc::clone(&self.turns)));
        store.limiter(|host| host);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            if store.data().late() {
                return Ok(UpdateDeadline::Interrupt);
            }
            Ok(UpdateDeadline::Continue(1))
        });
        let result = self.ready.instantiate(&mut store).and_then(|instance| {
            instance.get_typed_func::<(), ()>(&mut store, "_start")?.call(&mut store, ())
        });
        store.data_mut().finish(result)
    }
}
