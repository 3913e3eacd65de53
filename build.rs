//! Compiles the Go program in `renderer/` to WebAssembly and that to machine code, which
//! `src/render/module.rs` carries in the binary.
//!
//! Without Go at hand the result is empty, and the embedded renderer says so at run time. Both
//! steps are kept in the target directory by a hash of what goes in, so that the profiles of
//! `check`, `clippy`, `test` and `doc` share one compilation.
#![allow(clippy::disallowed_methods, reason = "a build script writes into the target directory only")]

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmtime::{Config, Engine};

#[path = "src/render/engine.rs"]
mod engine;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/render");
    println!("cargo::rerun-if-changed=renderer");
    println!("cargo::rerun-if-env-changed=GITOPS_WINDOWS_NO_RENDERER");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let target = std::env::var("TARGET")?;
    let mut version = DefaultHasher::new();
    let module = match version_of_go() {
        Ok(go) => precompiled(&target, &go, &cache(&out), &mut version)?,
        Err(reason) => {
            println!("cargo::rerun-if-env-changed=PATH");
            println!(
                "cargo::warning=built without the embedded kustomize ({reason}): install Go 1.24 or later and build again, or use --renderer kustomize|kubectl"
            );
            Vec::new()
        }
    };
    fs::write(out.join("renderer.length"), module.len().to_string())?;
    println!("cargo::rustc-env=RENDERER_FILE={}", write(&out, &module)?);
    println!("cargo::rustc-env=RENDERER_KUSTOMIZE=api/{}", version_of_kustomize()?);
    // What is made of kustomize's answers, and how, decides as well.
    for source in files(Path::new("src/render"))? {
        fs::read(source)?.hash(&mut version);
    }
    println!("cargo::rustc-env=RENDERER_VERSION={:016x}", version.finish());
    Ok(())
}

/// Writes the machine code under a name that its content decides, instead of an earlier one; gives the name.
///
/// rustc asks only whether the text of `.incbin` is new. Under one name it would keep what an earlier build had put
/// in: the code of another version, or of a build without Go.
fn write(out: &Path, module: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut hasher = DefaultHasher::new();
    module.hash(&mut hasher);
    let name = format!("renderer-{:016x}.bin", hasher.finish());
    for entry in fs::read_dir(out)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            fs::remove_file(path)?;
        }
    }
    fs::write(out.join(&name), module)?;
    Ok(name)
}

/// Gives the machine code, from the cache if it is there; `hasher` learns all that it is made of.
fn precompiled(
    target: &str,
    go: &str,
    cache: &Path,
    hasher: &mut DefaultHasher,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut config = Config::new();
    config.target(target)?;
    engine::configure(&mut config);
    let engine = Engine::new(&config)?;

    go.hash(hasher);
    for source in sources()? {
        source.hash(hasher);
        fs::read(&source)?.hash(hasher);
    }
    let wasm_key = hasher.finish();
    // An empty module tells the compiler's version, target and settings.
    engine.precompile_module(b"\0asm\x01\0\0\0")?.hash(hasher);
    let module_key = hasher.finish();

    kept(&cache.join(format!("{module_key:016x}.module")), || {
        let wasm = kept(&cache.join(format!("{wasm_key:016x}.wasm")), || wasm(cache))?;
        Ok(engine.precompile_module(&wasm)?)
    })
}

/// Gives a file's content, made first if it is not there.
fn kept(
    path: &Path,
    make: impl FnOnce() -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    if let Ok(content) = fs::read(path) {
        return Ok(content);
    }
    let content = make()?;
    // Another build may run beside this one: appear whole or not at all.
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    fs::write(&partial, &content)?;
    fs::rename(&partial, path)?;
    Ok(content)
}

/// What is changed in kustomize's module, to build the same with less work: in which file, what, by what. The files
/// of `renderer/_kustomize` say why.
const CHANGES: [(&str, &str, &str); 4] = [
    (
        "krusty/kustomizer.go",
        "\tldr, err := fLdr.NewLoader(",
        "\ttarget.Watch(fSys)\n\tldr, err := fLdr.NewLoader(",
    ),
    (
        "internal/target/kusttarget.go",
        "\tdefer ldr.Cleanup()\n",
        concat!(
            "\tdefer ldr.Cleanup()\n\tknown := kt.enter(ldr, isComponent)\n\tdefer known.leave()\n",
            "\tif done, err := known.again(ra); done {\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\treturn ra, nil\n\t}\n",
        ),
    ),
    (
        "internal/target/kusttarget.go",
        "\terr = ra.MergeAccumulator(subRa)\n",
        "\tknown.keep(subKt, subRa)\n\terr = ra.MergeAccumulator(subRa)\n",
    ),
    (
        "internal/plugins/builtinconfig/transformerconfig.go",
        "// Merge merges two TransformerConfigs objects into\n// a new TransformerConfig object\nfunc (t *TransformerConfig) Merge(",
        "// merge does as Merge.\nfunc (t *TransformerConfig) merge(",
    ),
];

/// Where the files of `renderer/_kustomize` belong in kustomize's module.
const ADDITIONS: [(&str, &str); 3] = [
    ("memo.go", "internal/target"),
    ("copy.go", "internal/accumulator"),
    ("merge.go", "internal/plugins/builtinconfig"),
];

const KUSTOMIZE: &str = "sigs.k8s.io/kustomize/api";

/// Puts the Go program into a folder, beside kustomize's module with its changes.
fn lay_out(folder: &Path) -> Result<(), Box<dyn Error>> {
    let kustomize = folder.join("kustomize");
    fs::create_dir_all(&kustomize)?;
    for source in sources()?.iter().filter(|source| source.parent() == Some(Path::new("renderer"))) {
        fs::copy(source, folder.join(source.file_name().unwrap_or_default()))?;
    }
    let downloaded = go(folder, &["mod", "download", "-json", KUSTOMIZE])?;
    let told = downloaded.lines().find_map(|line| line.trim().strip_prefix("\"Dir\": \""));
    let module = told.and_then(|told| told.strip_suffix("\",")).ok_or("go mod download names no folder")?;
    copy_module(Path::new(module), &kustomize)?;
    for (file, old, new) in CHANGES {
        let text = fs::read_to_string(kustomize.join(file))?;
        if text.matches(old).count() != 1 {
            return Err(format!("{KUSTOMIZE}: {file} is another than the changes of build.rs are for").into());
        }
        fs::write(kustomize.join(file), text.replace(old, new))?;
    }
    for (name, place) in ADDITIONS {
        fs::copy(Path::new("renderer/_kustomize").join(name), kustomize.join(place).join(name))?;
    }
    go(folder, &["mod", "edit", "-replace", &format!("{KUSTOMIZE}=./kustomize")])?;
    Ok(())
}

/// Copies what of a module is built; the module cache is read-only, and the copies are not.
fn copy_module(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for path in files(from)? {
        let place = to.join(path.file_name().unwrap_or_default());
        let name = path.to_string_lossy();
        if path.is_dir() {
            copy_module(&path, &place)?;
        } else if !name.ends_with("_test.go") {
            fs::write(place, fs::read(&path)?)?;
        }
    }
    Ok(())
}

/// Runs Go and gives what it prints.
fn go(folder: &Path, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("go")
        .args(arguments)
        .current_dir(folder)
        .env("GOWORK", "off")
        .env_remove("GOFLAGS")
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("go {} failed:\n{text}{reason}", arguments.join(" ")).into());
    }
    Ok(text)
}

/// Saves the compiler an eighth of its time, for what the linker leaves out.
const NO_DEBUGGING: &str = "-gcflags=all=-dwarf=false";

/// Compiles the Go program to WebAssembly.
fn wasm(cache: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let out = cache.join(format!("{}.go-build", std::process::id()));
    let folder = cache.join(format!("{}.go", std::process::id()));
    lay_out(&folder)?;
    let result = Command::new("go")
        .args([
            "build",
            "-trimpath",
            "-buildvcs=false",
            "-mod=readonly",
            NO_DEBUGGING,
            "-ldflags",
            "-s -w",
            "-o",
        ])
        .arg(&out)
        .arg(".")
        .current_dir(&folder)
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm")
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .env_remove("GOFLAGS")
        .output()?;
    fs::remove_dir_all(&folder)?;
    if !result.status.success() {
        return Err(format!(
            "go build of renderer/ failed:\n{}{}set GITOPS_WINDOWS_NO_RENDERER=1 to build without the embedded kustomize",
            String::from_utf8_lossy(&result.stdout),
            String::from_utf8_lossy(&result.stderr),
        )
        .into());
    }
    let content = fs::read(&out)?;
    fs::remove_file(&out)?;
    Ok(content)
}

/// Tells Go's version, or why there is none.
fn version_of_go() -> Result<String, String> {
    if std::env::var_os("GITOPS_WINDOWS_NO_RENDERER").is_some_and(|value| !value.is_empty()) {
        return Err("GITOPS_WINDOWS_NO_RENDERER is set".to_owned());
    }
    let output = Command::new("go")
        .args(["env", "GOVERSION"])
        .current_dir("renderer")
        .output()
        .map_err(|error| format!("go: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("go env: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Tells the version of kustomize that `renderer/go.mod` names.
fn version_of_kustomize() -> Result<String, Box<dyn Error>> {
    let module = fs::read_to_string("renderer/go.mod")?;
    let version = module.lines().find_map(|line| line.trim().strip_prefix("sigs.k8s.io/kustomize/api "));
    Ok(version.ok_or("renderer/go.mod names no version of sigs.k8s.io/kustomize/api")?.to_owned())
}

/// Lists what the Go program is made of, sorted.
fn sources() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    // How it is compiled stands here.
    let mut found = vec![PathBuf::from("build.rs")];
    for path in files(Path::new("renderer"))?.into_iter().chain(files(Path::new("renderer/_kustomize"))?) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let source = name.ends_with(".go") && !name.ends_with("_test.go");
        if source || name == "go.mod" || name == "go.sum" {
            found.push(path);
        }
    }
    Ok(found)
}

/// Lists the files of a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        found.push(entry?.path());
    }
    found.sort();
    Ok(found)
}

/// Gives a folder of the target directory that all profiles share: `OUT_DIR` is
/// `PROFILE/build/PACKAGE/out` in it.
fn cache(out: &Path) -> PathBuf {
    let mut above = out.ancestors().skip_while(|folder| folder.file_name() != Some(OsStr::new("build")));
    let folder = match above.nth(2) {
        Some(top) => top.join("renderer"),
        None => out.with_extension("cache"),
    };
    if let Err(error) = fs::create_dir_all(&folder) {
        println!("cargo::warning={}: {error}", folder.display());
    }
    folder
}
