//! The part of WASI preview 1 that a Go program needs in order to compute.
//!
//! There are standard streams, a clock that counts how often it was read, and random numbers that
//! are always the same. Every other function answers that it does not exist.

use std::collections::BTreeSet;

use wasmtime::{Caller, Extern, Linker, Memory, Module, Result, Val, ValType};

/// The name under which WASI's functions are imported.
const WASI: &str = "wasi_snapshot_preview1";

const SUCCESS: i32 = 0;
const BAD_DESCRIPTOR: i32 = 8;
const FAULT: i32 = 21;
const INVALID: i32 = 28;
const NO_SYSTEM_CALL: i32 = 52;

/// What the program's standard streams and environment stand for.
pub(super) trait Streams: 'static {
    /// Fills `room` from standard input and tells how much; 0 is the end.
    fn read(&mut self, room: &mut [u8]) -> usize;
    /// Takes what was written to standard output.
    fn write(&mut self, bytes: &[u8]);
    /// Takes what was written to standard error.
    fn complain(&mut self, bytes: &[u8]);
    /// Notes that the program ended, with its exit code.
    fn exit(&mut self, code: i32);
    /// Returns the next moment of the clock, `nanoseconds` after the last.
    fn tick(&mut self, nanoseconds: u64) -> u64;
    /// Returns the environment's settings.
    fn environment(&self) -> &'static [&'static str];
}

/// The program ended by itself.
#[derive(Debug)]
pub(super) struct Exited;

impl std::fmt::Display for Exited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the program ended")
    }
}

impl std::error::Error for Exited {}

/// Returns the program's memory.
pub(super) fn memory<T>(caller: &mut Caller<'_, T>) -> Option<Memory> {
    caller.get_export("memory").and_then(Extern::into_memory)
}

/// Reads a little-endian number out of the program's memory.
fn number(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

/// Writes bytes into the program's memory.
fn put(data: &mut [u8], at: usize, bytes: &[u8]) -> Option<()> {
    data.get_mut(at..at.checked_add(bytes.len())?)?.copy_from_slice(bytes);
    Some(())
}

/// Turns a missing memory or an address outside of it into WASI's error.
fn outcome(done: Option<()>) -> i32 {
    if done.is_some() { SUCCESS } else { FAULT }
}

/// Links the functions; those that only have to exist are found from the module's imports.
pub(super) fn link<T: Streams>(linker: &mut Linker<T>, module: &Module) -> Result<()> {
    linker.func_wrap(
        WASI,
        "fd_read",
        |mut caller: Caller<'_, T>, fd: i32, list: u32, count: u32, read: u32| {
            if fd != 0 {
                return BAD_DESCRIPTOR;
            }
            outcome(fill(&mut caller, list as usize, count as usize, read as usize))
        },
    )?;
    linker.func_wrap(
        WASI,
        "fd_write",
        |mut caller: Caller<'_, T>, fd: i32, list: u32, count: u32, written: u32| {
            if fd != 1 && fd != 2 {
                return BAD_DESCRIPTOR;
            }
            outcome(drain(&mut caller, fd == 2, list as usize, count as usize, written as usize))
        },
    )?;
    linker.func_wrap(WASI, "fd_fdstat_get", |mut caller: Caller<'_, T>, fd: i32, at: u32| {
        if !(0..=2).contains(&fd) {
            return BAD_DESCRIPTOR;
        }
        // A character device with every right.
        let mut stat = [0xff; 24];
        stat[..8].copy_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        outcome(store(&mut caller, &[(at as usize, &stat)]))
    })?;
    linker.func_wrap(WASI, "fd_fdstat_set_flags", |_: Caller<'_, T>, _: i32, _: i32| SUCCESS)?;
    linker.func_wrap(WASI, "fd_prestat_get", |_: Caller<'_, T>, _: i32, _: i32| BAD_DESCRIPTOR)?;
    linker.func_wrap(WASI, "args_sizes_get", |mut caller: Caller<'_, T>, count: u32, bytes: u32| {
        outcome(sizes(&mut caller, &["renderer"], count as usize, bytes as usize))
    })?;
    linker.func_wrap(WASI, "args_get", |mut caller: Caller<'_, T>, list: u32, text: u32| {
        outcome(texts(&mut caller, &["renderer"], list as usize, text as usize))
    })?;
    linker.func_wrap(WASI, "environ_sizes_get", |mut caller: Caller<'_, T>, count: u32, bytes: u32| {
        let settings = caller.data().environment();
        outcome(sizes(&mut caller, settings, count as usize, bytes as usize))
    })?;
    linker.func_wrap(WASI, "environ_get", |mut caller: Caller<'_, T>, list: u32, text: u32| {
        let settings = caller.data().environment();
        outcome(texts(&mut caller, settings, list as usize, text as usize))
    })?;
    linker.func_wrap(WASI, "clock_time_get", |mut caller: Caller<'_, T>, _: i32, _: i64, at: u32| {
        let now = caller.data_mut().tick(1000);
        outcome(store(&mut caller, &[(at as usize, &now.to_le_bytes())]))
    })?;
    linker.func_wrap(WASI, "random_get", |mut caller: Caller<'_, T>, at: u32, length: u32| {
        let done = memory(&mut caller).and_then(|memory| {
            let end = (at as usize).checked_add(length as usize)?;
            let room = memory.data_mut(&mut caller).get_mut(at as usize..end)?;
            for (index, byte) in room.iter_mut().enumerate() {
                *byte = (index as u8).wrapping_mul(167).wrapping_add(89);
            }
            Some(())
        });
        outcome(done)
    })?;
    linker.func_wrap(
        WASI,
        "poll_oneoff",
        |mut caller: Caller<'_, T>, list: u32, events: u32, count: u32, ready: u32| match sleep(
            &mut caller,
            list as usize,
            events as usize,
            count as usize,
            ready as usize,
        ) {
            Some(true) => SUCCESS,
            Some(false) => INVALID,
            None => FAULT,
        },
    )?;
    linker.func_wrap(WASI, "sched_yield", |_: Caller<'_, T>| SUCCESS)?;
    linker.func_wrap(WASI, "proc_exit", |mut caller: Caller<'_, T>, code: i32| -> Result<()> {
        caller.data_mut().exit(code);
        Err(Exited.into())
    })?;
    refuse_the_rest(linker, module)
}

/// Lets every other function of WASI answer that it does not exist.
fn refuse_the_rest<T: Streams>(linker: &mut Linker<T>, module: &Module) -> Result<()> {
    const LINKED: [&str; 14] = [
        "fd_read",
        "fd_write",
        "fd_fdstat_get",
        "fd_fdstat_set_flags",
        "fd_prestat_get",
        "args_sizes_get",
        "args_get",
        "environ_sizes_get",
        "environ_get",
        "clock_time_get",
        "random_get",
        "poll_oneoff",
        "sched_yield",
        "proc_exit",
    ];
    let mut linked = BTreeSet::from(LINKED);
    for import in module.imports() {
        let Some(kind) = import.ty().func().cloned() else { continue };
        // Go imports some functions several times.
        if import.module() != WASI || !linked.insert(import.name()) {
            continue;
        }
        let answers = kind.results().map(|result| matches!(result, ValType::I32)).eq([true]);
        linker.func_new(WASI, import.name(), kind, move |_, _, results| {
            if let (true, Some(result)) = (answers, results.first_mut()) {
                *result = Val::I32(NO_SYSTEM_CALL);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Reads from standard input into the listed rooms.
fn fill<T: Streams>(caller: &mut Caller<'_, T>, list: usize, count: usize, read: usize) -> Option<()> {
    let (data, streams) = memory(caller)?.data_and_store_mut(caller);
    let mut total = 0;
    for index in 0..count {
        let entry = list.checked_add(index.checked_mul(8)?)?;
        let (at, length) = (number(data, entry)?, number(data, entry + 4)?);
        let room = data.get_mut(at..at.checked_add(length)?)?;
        let taken = streams.read(room);
        total += taken;
        if taken < length {
            break;
        }
    }
    put(data, read, &u32::try_from(total).ok()?.to_le_bytes())
}

/// Returns what the listed stretches of memory hold to an output stream.
fn drain<T: Streams>(
    caller: &mut Caller<'_, T>,
    error: bool,
    list: usize,
    count: usize,
    written: usize,
) -> Option<()> {
    let (data, streams) = memory(caller)?.data_and_store_mut(caller);
    let mut total = 0;
    for index in 0..count {
        let entry = list.checked_add(index.checked_mul(8)?)?;
        let (at, length) = (number(data, entry)?, number(data, entry + 4)?);
        let bytes = data.get(at..at.checked_add(length)?)?;
        if error {
            streams.complain(bytes);
        } else {
            streams.write(bytes);
        }
        total += length;
    }
    put(data, written, &u32::try_from(total).ok()?.to_le_bytes())
}

/// Lets the time pass that the first of the listed clocks is waited for; false without a clock.
fn sleep<T: Streams>(
    caller: &mut Caller<'_, T>,
    list: usize,
    events: usize,
    count: usize,
    ready: usize,
) -> Option<bool> {
    let (data, streams) = memory(caller)?.data_and_store_mut(caller);
    let mut first: Option<(u64, [u8; 8])> = None;
    for index in 0..count {
        let at = list.checked_add(index.checked_mul(48)?)?;
        let subscription = data.get(at..at.checked_add(48)?)?;
        if subscription[8] != 0 {
            continue;
        }
        let wait = u64::from_le_bytes(subscription[24..32].try_into().ok()?);
        if first.is_none_or(|(shortest, _)| wait < shortest) {
            first = Some((wait, subscription[..8].try_into().ok()?));
        }
    }
    let Some((wait, name)) = first else { return Some(false) };
    streams.tick(wait);
    let mut event = [0; 32];
    event[..8].copy_from_slice(&name);
    put(data, events, &event)?;
    put(data, ready, &1_u32.to_le_bytes())?;
    Some(true)
}

/// Writes the number and the total length of some texts.
fn sizes<T>(caller: &mut Caller<'_, T>, texts: &[&str], count: usize, bytes: usize) -> Option<()> {
    let total: usize = texts.iter().map(|text| text.len() + 1).sum();
    let (number, total) = (u32::try_from(texts.len()).ok()?, u32::try_from(total).ok()?);
    store(caller, &[(count, &number.to_le_bytes()), (bytes, &total.to_le_bytes())])
}

/// Writes some texts, each with a NUL, and the list of where they are.
fn texts<T>(caller: &mut Caller<'_, T>, texts: &[&str], list: usize, mut at: usize) -> Option<()> {
    for (index, text) in texts.iter().enumerate() {
        let place = u32::try_from(at).ok()?.to_le_bytes();
        store(caller, &[(list + 4 * index, &place), (at, text.as_bytes()), (at + text.len(), &[0])])?;
        at += text.len() + 1;
    }
    Some(())
}

/// Writes several things into the program's memory.
fn store<T>(caller: &mut Caller<'_, T>, things: &[(usize, &[u8])]) -> Option<()> {
    let data = memory(caller)?.data_mut(caller);
    for (at, bytes) in things {
        put(data, *at, bytes)?;
    }
    Some(())
}
