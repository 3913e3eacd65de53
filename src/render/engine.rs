//! The settings that the compiler in `build.rs` and the runtime in `sandbox.rs` must share.

use wasmtime::Config;

/// Sets what decides whether a precompiled module fits an engine.
pub fn configure(config: &mut Config) {
    config
        .epoch_interruption(true)
        .generate_address_map(false)
        .wasm_backtrace_max_frames(None)
        .native_unwind_info(false);
}
