//! The renderer's machine code, as it stands in this program.

use std::sync::Arc;

use wasmtime::{Config, CustomCodeMemory, Engine, Module, Result};

/// The renderer as `build.rs` compiled it; empty where there was no Go.
///
/// It is run where it stands: among the code of this program, which the kernel reads from the disk as
/// it is run, shares between processes and lets nobody write to. A copy costs 60 MB and half of the
/// time of a small command.
#[cfg_attr(
    target_os = "linux",
    allow(unsafe_code, reason = "only the place is chosen, and nothing is replaced")
)]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".text.renderer"))]
static CODE: Pages<[u8; LENGTH]> = Pages(*BYTES);

const BYTES: &[u8; LENGTH] = include_bytes!(concat!(env!("OUT_DIR"), "/renderer.bin"));
const LENGTH: usize = include_bytes!(concat!(env!("OUT_DIR"), "/renderer.bin")).len();

/// Bytes that begin at a page, to which the addresses in machine code may be relative.
#[repr(C, align(4096))]
struct Pages<T>(T);

/// Memory that is executable already, and stays so.
struct InPlace;

impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        1
    }

    fn publish_executable(&self, _: *const u8, _: usize) -> Result<()> {
        Ok(())
    }

    fn unpublish_executable(&self, _: *const u8, _: usize) -> Result<()> {
        Ok(())
    }
}

/// Tells whether this program was built with the renderer.
pub(super) fn is_there() -> bool {
    LENGTH > 0
}

/// Sets what the code needs to be run where it stands.
pub(super) fn configure(config: &mut Config) {
    if cfg!(target_os = "linux") {
        config.with_custom_code_memory(Some(Arc::new(InPlace)));
    }
}

/// Makes the code ready to run, in place on Linux and as a copy elsewhere.
///
/// # Errors
///
/// When the machine lacks what the code was compiled for.
pub(super) fn load(engine: &Engine) -> Result<Module> {
    #[allow(unsafe_code, reason = "the bytes are what build.rs compiled, and part of this program")]
    // SAFETY: nobody but build.rs made these bytes, with the same version and settings, and nobody can
    // write to them.
    unsafe {
        #[cfg(target_os = "linux")]
        return Module::deserialize_raw(engine, std::ptr::NonNull::from(CODE.0.as_slice()));
        #[cfg(not(target_os = "linux"))]
        return Module::deserialize(engine, CODE.0);
    }
}
