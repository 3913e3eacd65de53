//! Compiles the kustomize of the crate `gitops-windows-renderer` from WebAssembly to machine code, and compresses
//! that, for `src/render/module.rs` to carry in the binary.
//!
//! Without it the result is empty, and the embedded renderer says so at run time. Each step is kept in the target
//! directory by a hash of what goes in, so that the profiles of `check`, `clippy`, `test` and `doc` share one
//! compilation.
#![allow(clippy::disallowed_methods, reason = "a build script writes into the target directory only")]

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use gitops_windows_renderer::kept::{cache, kept};
use gitops_windows_renderer::{KUSTOMIZE, MISSING, WASM};
use wasmtime::{Config, Engine};

#[path = "src/render/engine.rs"]
mod engine;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/render");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut version = DefaultHasher::new();
    let (mut packed, mut digest, mut length) = (Vec::new(), String::new(), 0);
    if WASM.is_empty() {
        println!(
            "cargo::warning=built without the embedded kustomize ({MISSING}): install Go 1.24 or later and build again, or use --renderer kustomize|kubectl"
        );
    } else {
        let cache = cache(&out);
        let (key, module) = precompiled(&cache)?;
        digest = blake3::hash(&module).to_hex().to_string();
        length = module.len();
        let level = if is_for(&out, "dist") {
            19
        } else if is_for(&out, "release") {
            9
        } else {
            3
        };
        packed =
            kept(&cache.join(format!("{key}.{level}.zst")), || Ok(zstd::bulk::compress(&module, level)?))?;
    }
    fs::write(out.join("renderer.zst"), packed)?;
    println!("cargo::rustc-env=RENDERER_DIGEST={digest}");
    println!("cargo::rustc-env=RENDERER_LENGTH={length}");
    println!("cargo::rustc-env=RENDERER_KUSTOMIZE={KUSTOMIZE}");
    // What is made of kustomize's answers, and how, decides as well.
    digest.hash(&mut version);
    let mut sources = fs::read_dir("src/render")?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    sources.sort();
    for source in sources {
        fs::read(source)?.hash(&mut version);
    }
    println!("cargo::rustc-env=RENDERER_VERSION={:016x}", version.finish());
    Ok(())
}

/// Tells whether this is built for a profile, after which the folder above `build/PACKAGE/out` is named. What packages
/// carry is small; whoever builds the program waits less: the last eighth takes half a minute, on one processor.
fn is_for(out: &Path, profile: &str) -> bool {
    out.ancestors().nth(3).and_then(Path::file_name).is_some_and(|name| name == profile)
}

/// Gives the machine code, from the cache if it is there, and its name in there.
fn precompiled(cache: &Path) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let mut config = Config::new();
    // The code calls no C library, so that of one serves with the other.
    config.target(&std::env::var("TARGET")?.replace("-musl", "-gnu"))?;
    engine::configure(&mut config);
    let engine = Engine::new(&config)?;
    let mut hasher = DefaultHasher::new();
    WASM.hash(&mut hasher);
    // An empty module tells the compiler's version, target and settings.
    engine.precompile_module(b"\0asm\x01\0\0\0")?.hash(&mut hasher);
    let key = format!("{:016x}", hasher.finish());
    let module = kept(&cache.join(format!("{key}.module")), || Ok(engine.precompile_module(WASM)?))?;
    Ok((key, module))
}
