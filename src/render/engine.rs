//! The settings that the compiler in `build.rs` and the runtime in `sandbox.rs` must share.

use wasmtime::Config;

/// Sets what decides whether a precompiled module fits an engine.
pub fn configure(config: &mut Config) {
    config
        .epoch_interruption(true)
        // An image of the memory in a sealed memfd: on a busy machine the kernel refuses the seal
        // (EBUSY while a page of it is pinned), and nothing could be built. An instance serves
        // hundreds of requests; copying its few MiB of data once costs nothing beside them.
        .memory_init_cow(false)
        .generate_address_map(false)
        .wasm_backtrace_max_frames(None)
        .native_unwind_info(false);
}
