//! The renderer's machine code, as it stands in this program.

use std::sync::Arc;

use wasmtime::{Config, CustomCodeMemory, Engine, Module, Result};

/// The renderer as `build.rs` compiled it; empty where there was no Go.
///
/// It is run where it stands: among the code of this program, which the kernel reads from the disk as
/// it is run, shares between processes and lets nobody write to. A copy costs 60 MB and half of the
/// time of a small command.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "only a place is named, to which nobody can write")]
mod code {
    // Not `include_bytes!`: the compiler would carry five copies of 60 MB into what it keeps of this library.
    std::arch::global_asm!(
        ".pushsection .text.renderer,\"ax\"",
        // The addresses in machine code may be relative to a page.
        ".balign 4096",
        ".globl gitops_windows_renderer",
        "gitops_windows_renderer:",
        concat!(".incbin \"", env!("OUT_DIR"), "/", env!("RENDERER_FILE"), "\""),
        ".popsection",
        options(raw)
    );

    unsafe extern "C" {
        #[link_name = "gitops_windows_renderer"]
        pub(super) safe static CODE: [u8; super::LENGTH];
    }
}

/// How long the code is, in bytes.
const LENGTH: usize = include!(concat!(env!("OUT_DIR"), "/renderer.length"));

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
        return Module::deserialize_raw(engine, std::ptr::NonNull::from(code::CODE.as_slice()));
        #[cfg(not(target_os = "linux"))]
        return Module::deserialize(
            engine,
            include_bytes!(concat!(env!("OUT_DIR"), "/", env!("RENDERER_FILE"))),
        );
    }
}
