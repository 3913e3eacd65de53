//! kustomize as WebAssembly, for the crate `gitops-windows`, which compiles it to machine code when it is built. Not
//! meant for other uses: what the program imports and how it is asked change without notice.

pub mod kept;

/// The program; empty where it was built without Go.
pub static WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/renderer.wasm"));

/// Why there is no program; empty where there is one.
pub const MISSING: &str = env!("RENDERER_MISSING");

/// The version of kustomize, as its tags name it.
pub const KUSTOMIZE: &str = env!("RENDERER_KUSTOMIZE");
