//! Flux Operator, built from the Go module proxy when its scene needs it.
//!
//! It is a module of its own (`operator/go.mod`), so that the other programs keep their libraries; it is kept beside them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binaries::Binaries;
use crate::scratch::copy;

/// The module, the one place that pins it.
const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/operator");

/// Its path.
const PATH: &str = "github.com/controlplaneio-fluxcd/flux-operator";

/// The program and its CustomResourceDefinitions.
pub struct Operator {
    /// The program.
    pub program: PathBuf,
    /// The folder of the CustomResourceDefinitions.
    pub crds: PathBuf,
}

impl Operator {
    /// Builds it, if it is missing or of another version.
    pub fn ready(binaries: &Binaries) -> Operator {
        let cache = binaries.bin.with_file_name("operator");
        std::fs::create_dir_all(&cache).unwrap();
        let lock = std::fs::File::create(cache.join("lock")).unwrap();
        lock.lock().unwrap();
        let operator = Operator { program: cache.join("bin/operator"), crds: cache.join("crds") };
        let pinned = std::fs::read_to_string(format!("{MODULE}/go.mod")).unwrap();
        let wanted = format!("{}\n{pinned}", run(Command::new("go").arg("version")));
        let stamp = cache.join("stamp");
        if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            return operator;
        }
        eprintln!("building Flux Operator");
        let work = cache.join("build");
        for folder in [&work, &operator.crds] {
            _ = std::fs::remove_dir_all(folder);
            std::fs::create_dir_all(folder).unwrap();
        }
        copy(Path::new(MODULE), &work);
        let told = run(go(&work).args(["mod", "download", "-json", PATH]));
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        let downloaded = Path::new(told["Dir"].as_str().unwrap());
        // The pages that it serves are not part of the module; nothing here needs them. The module cache is read-only.
        let source = work.join("flux-operator");
        std::fs::create_dir_all(source.join("web/dist")).unwrap();
        copy(downloaded, &source);
        std::fs::write(source.join("web/dist/index.html"), "\n").unwrap();
        run(go(&work).args(["mod", "edit", &format!("-replace={PATH}=./flux-operator")]));
        let mut build = go(&work);
        build.args(["build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-s -w"]);
        run(build.arg("-o").arg(&operator.program).arg(format!("{PATH}/cmd/operator")));
        copy(&downloaded.join("config/crd/bases"), &operator.crds);
        std::fs::remove_dir_all(work).unwrap();
        std::fs::write(stamp, wanted).unwrap();
        operator
    }
}

/// Lets Go run in a folder, whatever the user has set.
fn go(work: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .envs([("GOWORK", "off"), ("CGO_ENABLED", "0"), ("GOFLAGS", "-mod=readonly"), ("GOGC", "400")])
        .env_remove("GOOS")
        .env_remove("GOARCH")
        .current_dir(work);
    command
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
