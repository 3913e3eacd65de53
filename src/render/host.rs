//! What one instance of the embedded kustomize reaches: a snapshot's files, requests, answers.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::{Caller, Linker, ResourceLimiter, Result, Trap};

use crate::limit::SMALL_BUILD;
use crate::render::sandbox::{Desk, End, Limits};
use crate::render::seen::Seen;
use crate::render::spent::spent;
use crate::render::tree::{Found, Kind, Tree};
use crate::render::turn::{Turn, Turns};
use crate::render::wasi::{self, Streams};
use crate::render::{ALIASED, LARGE, LATE, NEEDS};
use crate::repo::File;

/// The module under which the renderer imports the functions of `renderer/host.go`.
const HOST: &str = "gitops_windows";

/// Where the renderer sees the repository, as in `renderer/tree.go`.
const MOUNT: &str = "/.gitops-windows/top of the repository";

/// The Go runtime's settings: collect rarely while there is little, often when there is much.
const ENVIRONMENT: &[&str] = &["GOGC=200", "GOMEMLIMIT=136MiB", "PWD=/", "HOME=/", "PATH="];

/// How much of what a renderer says on standard error is kept.
const COMPLAINT: usize = 16 << 10;

/// What one instance reaches.
pub(super) struct Host {
    tree: Arc<Tree>,
    limits: Limits,
    desk: Box<dyn Desk>,
    /// Text that waits for the renderer to take it.
    kept: Kept,
    /// What is left of the line that is being read.
    input: Vec<u8>,
    /// Where in `input` to go on.
    read: usize,
    /// The line that is being written.
    output: Vec<u8>,
    /// Whether that line is longer than an answer may be.
    long: bool,
    complaint: Vec<u8>,
    clock: u64,
    code: Option<i32>,
    /// Requests given so far.
    given: usize,
    /// How long this thread may have worked when the request that was given is answered; `None` between requests.
    deadline: Option<Duration>,
    /// The size of its memory.
    memory: usize,
    /// Where it waits for its turn to be large, and that turn.
    turns: Arc<Turns>,
    turn: Option<Turn>,
    /// Whether it wanted more memory than it may have.
    refused: bool,
    /// The file that it wanted whose aliases stand for too much.
    aliased: Option<String>,
    /// Whether the desk said that there is nothing more.
    done: bool,
    /// What the request at hand has looked at.
    seen: Seen,
}

/// Text that waits to be taken.
enum Kept {
    Text(Vec<u8>),
    File(File),
}

impl Host {
    pub(super) fn new(limits: Limits, desk: Box<dyn Desk>, turns: Arc<Turns>) -> Host {
        Host {
            tree: Arc::default(),
            limits,
            desk,
            kept: Kept::Text(Vec::new()),
            input: Vec::new(),
            read: 0,
            output: Vec::new(),
            long: false,
            complaint: Vec::new(),
            clock: 0,
            code: None,
            given: 0,
            deadline: None,
            memory: 0,
            turns,
            turn: None,
            refused: false,
            aliased: None,
            done: false,
            seen: Seen::default(),
        }
    }

    /// Returns whether the request at hand has used up its time.
    pub(super) fn late(&self) -> bool {
        self.deadline.is_some_and(|deadline| spent() > deadline)
    }

    /// Says why the request at hand has no answer, if there is one.
    pub(super) fn finish(&mut self, result: Result<()>) -> End {
        if let Some(deadline) = self.deadline.take() {
            let reason = self.reason(deadline, result.err());
            self.desk.fail(reason);
            return End::Next;
        }
        match result {
            _ if self.done => End::Done,
            Err(error) if self.given == 0 => End::Broken(format!("kustomize can't be started: {error:#}")),
            _ => End::Next,
        }
    }

    fn reason(&self, deadline: Duration, error: Option<wasmtime::Error>) -> String {
        if let Some(place) = &self.aliased {
            return format!("{NEEDS}{place}{ALIASED}");
        }
        let complaint = String::from_utf8_lossy(&self.complaint);
        let trap = error.as_ref().and_then(|error| error.downcast_ref::<Trap>()).copied();
        if trap == Some(Trap::Interrupt) || spent() > deadline {
            return format!("{LATE}{} s that it may", self.limits.time.as_secs_f32());
        }
        if self.refused {
            return format!("{LARGE}{} MiB of memory that it may have", self.limits.memory >> 20);
        }
        if trap == Some(Trap::StackOverflow) || complaint.contains("stack exceeds") {
            return "nests too deeply".to_owned();
        }
        let line = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match (line, error) {
            ("", Some(error)) => format!("kustomize failed: {error:#}"),
            ("", None) => format!("kustomize ended with exit code {}", self.code.unwrap_or_default()),
            (line, _) => format!("kustomize failed: {line}"),
        }
    }

    fn keep(&mut self, text: impl Into<Vec<u8>>) -> u64 {
        let text = text.into();
        let length = text.len() as u64;
        self.kept = Kept::Text(text);
        length
    }

    /// Answers `look` of `renderer/host.go`, with the numbers of `kind` in `renderer/tree.go`.
    fn look(&mut self, path: &str) -> u64 {
        let found = match inside(path) {
            Some(path) => self.seen.find(&self.tree, path),
            None => Found::Outside,
        };
        let (kind, place) = match found {
            Found::Missing => (0, None),
            Found::File(place, _) => (1, Some(place)),
            Found::Folder(place) => (2, Some(place)),
            Found::Large(place) => (3, Some(place)),
            Found::Outside => (4, None),
            Found::Cyclic => (5, None),
        };
        let length = match place {
            None => self.keep(""),
            Some(place) if place.is_empty() => self.keep(MOUNT),
            Some(place) => self.keep(format!("{MOUNT}/{place}")),
        };
        kind | length << 8
    }

    /// Answers `read`.
    fn content(&mut self, path: &str) -> u64 {
        match inside(path).map(|path| self.seen.find(&self.tree, path)) {
            // kustomize writes out what aliases stand for, until there is no memory.
            Some(Found::File(place, file)) if file.is_aliased() => {
                self.aliased = Some(place.into_owned());
                self.keep("")
            }
            Some(Found::File(_, file)) => {
                let length = file.bytes().len() as u64;
                self.kept = Kept::File(file);
                length
            }
            _ => self.keep(""),
        }
    }

    /// Answers `list`.
    fn names(&mut self, path: &str) -> u64 {
        let mut text = Vec::new();
        let names = inside(path).map(|path| self.seen.list(&self.tree, path));
        for (kind, name) in names.unwrap_or_default() {
            text.push(match kind {
                Kind::File => b'f',
                Kind::Folder => b'd',
                Kind::Link => b'l',
            });
            text.extend_from_slice(name.as_bytes());
            text.push(0);
        }
        self.keep(text)
    }
}

/// Returns a path of the renderer's as one inside the repository.
fn inside(path: &str) -> Option<&str> {
    let below = path.strip_prefix(MOUNT)?;
    if below.is_empty() { Some("") } else { below.strip_prefix('/') }
}

/// Links the functions of `renderer/host.go`.
pub(super) fn link(linker: &mut Linker<Host>) -> Result<()> {
    type Answer = fn(&mut Host, &str) -> u64;
    let functions: [(&str, Answer); 3] =
        [("look", Host::look), ("read", Host::content), ("list", Host::names)];
    for (name, answer) in functions {
        linker.func_wrap(HOST, name, move |mut caller: Caller<'_, Host>, at: u32, length: u32| {
            let Some(memory) = wasi::memory(&mut caller) else { return Ok(0) };
            let (data, host) = memory.data_and_store_mut(&mut caller);
            let text = data.get(at as usize..).and_then(|data| data.get(..length as usize));
            let told = match text.and_then(|text| std::str::from_utf8(text).ok()) {
                Some(path) => answer(host, path),
                None => host.keep(""),
            };
            match host.aliased {
                Some(_) => Err(wasmtime::Error::msg("aliases stand for too much")),
                None => Ok(told),
            }
        })?;
    }
    linker.func_wrap(HOST, "take", |mut caller: Caller<'_, Host>, at: u32, length: u32| {
        let Some(memory) = wasi::memory(&mut caller) else { return };
        let (data, host) = memory.data_and_store_mut(&mut caller);
        let text: &[u8] = match &host.kept {
            Kept::Text(text) => text,
            Kept::File(file) => file.bytes(),
        };
        let room = data.get_mut(at as usize..).and_then(|data| data.get_mut(..length as usize));
        if let Some(room) = room.filter(|room| room.len() == text.len()) {
            room.copy_from_slice(text);
        }
    })?;
    Ok(())
}

impl Streams for Host {
    fn read(&mut self, room: &mut [u8]) -> usize {
        if self.read == self.input.len() {
            let full = self.given >= self.limits.requests || self.memory > self.limits.full;
            if self.done || self.given > 0 && full {
                return 0;
            }
            let Some((tree, mut line)) = self.desk.next() else {
                self.done = true;
                return 0;
            };
            line.push(b'\n');
            self.given += 1;
            (self.tree, self.seen) = (tree, Seen::default());
            self.deadline = spent().checked_add(self.limits.time);
            (self.input, self.read) = (line, 0);
        }
        let left = self.input.get(self.read..).unwrap_or_default();
        let length = left.len().min(room.len());
        room[..length].copy_from_slice(&left[..length]);
        self.read += length;
        length
    }

    fn write(&mut self, bytes: &[u8]) {
        self.long |= self.output.len().saturating_add(bytes.len()) > self.limits.answer;
        if !self.long {
            self.output.extend_from_slice(bytes);
        }
        if bytes.last() == Some(&b'\n') {
            self.deadline = None;
            let mut line = std::mem::take(&mut self.output);
            if std::mem::take(&mut self.long) {
                self.desk.fail(format!("gives more than {} MiB of objects", self.limits.answer >> 20));
            } else {
                line.pop();
                self.desk.answer(&line, std::mem::take(&mut self.seen));
            }
        }
    }

    fn complain(&mut self, bytes: &[u8]) {
        let room = COMPLAINT.saturating_sub(self.complaint.len());
        self.complaint.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn exit(&mut self, code: i32) {
        self.code = Some(code);
    }

    fn tick(&mut self, nanoseconds: u64) -> u64 {
        self.clock = self.clock.saturating_add(nanoseconds);
        self.clock
    }

    fn environment(&self) -> &'static [&'static str] {
        ENVIRONMENT
    }
}

impl ResourceLimiter for Host {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let allowed = desired <= self.limits.memory;
        if allowed {
            if desired > SMALL_BUILD && self.turn.is_none() {
                let before = spent();
                self.turn = Some(self.turns.take());
                // Where the system tells no processor time, that was none of the build's.
                let waited = spent().saturating_sub(before);
                self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(waited));
            }
            self.memory = desired;
        } else {
            self.refused = true;
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= 1 << 20)
    }
}
