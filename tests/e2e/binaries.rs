//! The programs of a cluster, built from the Go module proxy at pinned versions.
//!
//! `programs/go.mod` lists them in one module, so they link one version of each library, which Go
//! then compiles once for all of them. They are kept in `target/e2e`, or in the folder that
//! `GITOPS_WINDOWS_E2E_CACHE` names, and built again only when that file, this one or Go changes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

/// The module of the programs: the one place that pins them.
const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/programs");

/// Lets the compiler collect its garbage later, which saves a tenth of its time. Compiling without
/// inlining saves more, but the scenes then need as much more.
const COLLECTION: (&str, &str) = ("GOGC", "400");

/// Makes nothing for debuggers, which the linker would leave out: it saves an eighth of the time.
const NO_DEBUGGING: &str = "-gcflags=all=-dwarf=false";

/// The modules whose CustomResourceDefinitions lie beside their programs.
const CONTROLLERS: [&str; 2] =
    ["github.com/fluxcd/source-controller", "github.com/fluxcd/kustomize-controller"];

/// Kinds whose controller is not to be had as a module: their definitions are made from their types,
/// as the controller's own release makes them. The older versions are converted by nobody here.
const TYPES: [&str; 2] = [
    "github.com/fluxcd/notification-controller/api/v1",
    "github.com/fluxcd/notification-controller/api/v1beta3",
];

/// Where the programs and the Flux CustomResourceDefinitions are.
pub struct Binaries {
    /// The folder of the programs.
    pub bin: PathBuf,
    /// The folder of the CustomResourceDefinitions.
    pub crds: PathBuf,
}

impl Binaries {
    /// Builds them, if they are missing or of other versions.
    pub fn ready() -> Binaries {
        let cache = std::env::var_os("GITOPS_WINDOWS_E2E_CACHE").map_or_else(
            || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("e2e"),
            |folder| std::path::absolute(folder).unwrap(),
        );
        std::fs::create_dir_all(&cache).unwrap();
        // Another run may be building the same.
        let lock = std::fs::File::create(cache.join("lock")).unwrap();
        lock.lock().unwrap();
        let binaries = Binaries { bin: cache.join("bin"), crds: cache.join("crds") };
        // What decides about their bytes.
        let module = std::fs::read_to_string(format!("{MODULE}/go.mod")).unwrap();
        let wanted =
            format!("{}\n{module}\n{}", run(Command::new("go").arg("version")), include_str!("binaries.rs"));
        let stamp = cache.join("stamp");
        if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            return binaries;
        }
        let started = Instant::now();
        eprintln!("building the programs of tests/e2e/programs/go.mod");
        // An end halfway must not leave it beside other programs.
        if stamp.exists() {
            std::fs::remove_file(&stamp).unwrap();
        }
        binaries.build(&cache.join("build"));
        std::fs::write(stamp, wanted).unwrap();
        eprintln!("built them in {} s", started.elapsed().as_secs());
        binaries
    }

    /// Returns the path of a program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    fn build(&self, work: &Path) {
        for folder in [work, &self.bin, &self.crds] {
            empty(folder);
        }
        for name in ["go.mod", "go.sum"] {
            std::fs::write(work.join(name), std::fs::read(format!("{MODULE}/{name}")).unwrap()).unwrap();
        }
        let flux = add_manifests(work);
        let kubernetes = module(work, "k8s.io/kubernetes").version;
        let (major, minor) = kubernetes.trim_start_matches('v').split_once('.').unwrap();
        let minor = minor.split('.').next().unwrap();
        run(go(work)
            .args(["build", "-trimpath", "-buildvcs=false", NO_DEBUGGING])
            .arg(format!(
                "-ldflags=-s -w -X main.VERSION={} \
                 -X k8s.io/component-base/version.gitVersion={kubernetes} \
                 -X k8s.io/component-base/version.gitMajor={major} \
                 -X k8s.io/component-base/version.gitMinor={minor}",
                flux.trim_start_matches('v'),
            ))
            .arg("-o")
            .arg(&self.bin)
            .arg("tool"));
        // Go names a program after its folder.
        std::fs::rename(self.program("server"), self.program("etcd")).unwrap();
        for controller in CONTROLLERS {
            copy(&module(work, controller).folder.join("config/crd/bases"), &self.crds);
        }
        let mut define = Command::new(self.program("controller-gen"));
        define.arg("crd").arg(format!("output:crd:dir={}", self.crds.display()));
        run(within(&mut define, work).args(TYPES.map(|package| format!("paths={package}"))));
        std::fs::remove_dir_all(work).unwrap();
    }
}

/// A module at the version that go.mod leads to.
struct Module {
    version: String,
    folder: PathBuf,
}

/// Downloads a module, whose checksum Go compares with go.sum.
fn module(work: &Path, path: &str) -> Module {
    let told = run(go(work).args(["mod", "download", "-json", path]));
    let told: Value = serde_json::from_str(&told).unwrap();
    let text = |field: &str| told[field].as_str().unwrap().to_owned();
    Module { version: text("Version"), folder: text("Dir").into() }
}

/// Returns the flux command a manifest to embed, and tells the command's version.
///
/// The manifests of `flux install` are not part of the module; nothing here needs them.
fn add_manifests(work: &Path) -> String {
    const PATH: &str = "github.com/fluxcd/flux2/v2";
    let Module { version, folder } = module(work, PATH);
    // The module cache is read-only.
    let source = work.join("flux");
    copy(&folder, &source);
    let manifests = source.join("cmd/flux/manifests");
    empty(&manifests);
    std::fs::write(manifests.join("placeholder.yaml"), "{}\n").unwrap();
    run(go(work).args(["mod", "edit", &format!("-replace={PATH}=./flux")]));
    version
}

fn go(work: &Path) -> Command {
    let mut command = Command::new("go");
    within(&mut command, work);
    command
}

/// Lets a command use Go in a folder, whatever the user has set.
fn within<'a>(command: &'a mut Command, work: &Path) -> &'a mut Command {
    command
        .envs([("GOWORK", "off"), ("CGO_ENABLED", "0"), ("GOFLAGS", "-mod=readonly"), COLLECTION])
        .env_remove("GOOS")
        .env_remove("GOARCH")
        .current_dir(work)
}

/// Makes a folder, without what was in it.
fn empty(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).unwrap();
    }
    std::fs::create_dir_all(folder).unwrap();
}

/// Copies what a folder holds, writable.
fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let to = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(to).unwrap();
        } else {
            std::fs::write(to, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
