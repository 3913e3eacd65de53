//! The programs of a cluster, built from the Go module proxy at pinned versions.
//!
//! They are kept in `target/e2e`, or in the folder that `GITOPS_WINDOWS_E2E_CACHE` names, and built
//! again only when what is written here changes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

/// The version of every program: the one place that pins them.
const PROGRAMS: [Module; 7] = [
    Module {
        path: "k8s.io/kubernetes",
        version: "v1.36.3",
        // Its go.mod takes these modules from folders that are not part of it.
        staging: Some("v0.36.3"),
        flags: "-X k8s.io/component-base/version.gitVersion=v1.36.3 \
                -X k8s.io/component-base/version.gitMajor=1 \
                -X k8s.io/component-base/version.gitMinor=36",
        packages: &[
            ("kube-apiserver", "./cmd/kube-apiserver"),
            ("kube-controller-manager", "./cmd/kube-controller-manager"),
            ("kubectl", "./cmd/kubectl"),
        ],
        placeholder: None,
    },
    Module::one("go.etcd.io/etcd/server/v3", "v3.6.5", &[("etcd", ".")]),
    Module::one("github.com/fluxcd/source-controller", "v1.9.0", &[("source-controller", ".")]),
    Module::one("github.com/fluxcd/kustomize-controller", "v1.9.5", &[("kustomize-controller", ".")]),
    Module {
        flags: "-X main.VERSION=2.9.5",
        // The manifests of `flux install` are not part of the module; nothing here needs them.
        placeholder: Some("cmd/flux/manifests/placeholder.yaml"),
        ..Module::one("github.com/fluxcd/flux2/v2", "v2.9.5", &[("flux", "./cmd/flux")])
    },
    Module::one("sigs.k8s.io/kustomize/kustomize/v5", "v5.8.1", &[("kustomize", ".")]),
    Module::one("sigs.k8s.io/controller-tools", "v0.21.0", &[("controller-gen", "./cmd/controller-gen")]),
];

/// Kinds whose controller is not to be had as a module: their definitions are made from their types,
/// as the controller's own release makes them.
const TYPES: Module = Module {
    // The older versions are converted by nobody here, and nothing names them.
    packages: &[("v1", "./v1"), ("v1beta3", "./v1beta3")],
    ..Module::one("github.com/fluxcd/notification-controller/api", "v1.9.4", &[])
};

struct Module {
    path: &'static str,
    version: &'static str,
    staging: Option<&'static str>,
    flags: &'static str,
    packages: &'static [(&'static str, &'static str)],
    placeholder: Option<&'static str>,
}

/// Where the programs and the Flux CustomResourceDefinitions are.
pub struct Binaries {
    /// The folder of the programs.
    pub bin: PathBuf,
    /// The folder of the CustomResourceDefinitions.
    pub crds: PathBuf,
}

impl Binaries {
    /// Builds what is missing or of another version.
    pub fn ready() -> Binaries {
        let cache = std::env::var_os("GITOPS_WINDOWS_E2E_CACHE").map_or_else(
            || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("e2e"),
            |folder| std::path::absolute(folder).unwrap(),
        );
        let binaries = Binaries { bin: cache.join("bin"), crds: cache.join("crds") };
        std::fs::create_dir_all(&binaries.bin).unwrap();
        std::fs::create_dir_all(&binaries.crds).unwrap();
        // Another run may be building the same.
        let lock = std::fs::File::create(cache.join("lock")).unwrap();
        lock.lock().unwrap();
        for module in &PROGRAMS {
            module.ready(&cache, &binaries);
        }
        TYPES.define(&cache, &binaries);
        binaries
    }

    /// Gives the path of a program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

impl Module {
    const fn one(
        path: &'static str,
        version: &'static str,
        packages: &'static [(&'static str, &'static str)],
    ) -> Module {
        Module { path, version, staging: None, flags: "", packages, placeholder: None }
    }

    /// What decides about the bytes of the programs.
    fn stamp(&self) -> String {
        let Module { path, version, staging, flags, packages, .. } = self;
        format!("{path}@{version} {staging:?} {flags} {packages:?}\n")
    }

    fn ready(&self, cache: &Path, binaries: &Binaries) {
        let there = self.packages.iter().all(|(name, _)| binaries.program(name).is_file());
        if there && self.is_done(cache) {
            return;
        }
        let started = Instant::now();
        eprintln!("building {}@{}", self.path, self.version);
        let work = self.work(cache);
        let source = self.source(&work);
        let modfile = self.modfile(&source, &work);
        for (name, package) in self.packages {
            run(Command::new("go")
                .args(["build", "-trimpath", "-mod=mod", "-buildvcs=false"])
                .arg(format!("-modfile={}", modfile.display()))
                .arg(format!("-ldflags=-s -w {}", self.flags))
                .arg("-o")
                .arg(binaries.program(name))
                .arg(package)
                .envs([("GOWORK", "off"), ("CGO_ENABLED", "0"), ("GOFLAGS", "")])
                .current_dir(&source));
        }
        let definitions = source.join("config/crd/bases");
        if definitions.is_dir() {
            for entry in std::fs::read_dir(definitions).unwrap() {
                let entry = entry.unwrap();
                let text = std::fs::read(entry.path()).unwrap();
                std::fs::write(binaries.crds.join(entry.file_name()), text).unwrap();
            }
        }
        std::fs::remove_dir_all(&work).unwrap();
        self.done(cache);
        eprintln!("built {}@{} in {} s", self.path, self.version, started.elapsed().as_secs());
    }

    /// Makes CustomResourceDefinitions from the types of the module's packages.
    fn define(&self, cache: &Path, binaries: &Binaries) {
        if self.is_done(cache) {
            return;
        }
        let work = self.work(cache);
        let source = self.source(&work);
        let modfile = self.modfile(&source, &work);
        for (_, package) in self.packages {
            run(Command::new(binaries.program("controller-gen"))
                .arg("crd")
                .arg(format!("paths={package}"))
                .arg(format!("output:crd:dir={}", work.join(package).display()))
                .env("GOWORK", "off")
                .env("GOFLAGS", format!("-mod=mod -modfile={}", modfile.display()))
                .current_dir(&source));
        }
        for entry in walkdir::WalkDir::new(&work).into_iter().map(Result::unwrap) {
            if entry.path().extension().is_some_and(|extension| extension == "yaml") {
                std::fs::copy(entry.path(), binaries.crds.join(entry.file_name())).unwrap();
            }
        }
        std::fs::remove_dir_all(&work).unwrap();
        self.done(cache);
    }

    /// An empty folder to work in.
    fn work(&self, cache: &Path) -> PathBuf {
        let work = cache.join("build").join(self.path.replace('/', "+"));
        if work.exists() {
            std::fs::remove_dir_all(&work).unwrap();
        }
        std::fs::create_dir_all(&work).unwrap();
        work
    }

    fn stamp_file(&self, cache: &Path) -> PathBuf {
        cache.join(format!("{}.stamp", self.path.replace('/', "+")))
    }

    fn is_done(&self, cache: &Path) -> bool {
        std::fs::read_to_string(self.stamp_file(cache)).is_ok_and(|found| found == self.stamp())
    }

    fn done(&self, cache: &Path) {
        std::fs::write(self.stamp_file(cache), self.stamp()).unwrap();
    }

    /// Downloads the module, whose checksum Go compares with the public database.
    fn source(&self, work: &Path) -> PathBuf {
        let wanted = format!("{}@{}", self.path, self.version);
        let told = run(Command::new("go").args(["mod", "download", "-json", &wanted]).current_dir(work));
        let told: Value = serde_json::from_str(&told).unwrap();
        let source = PathBuf::from(told["Dir"].as_str().unwrap());
        let Some(placeholder) = self.placeholder else { return source };
        // The module cache is read-only.
        let copy = work.join("source");
        for entry in walkdir::WalkDir::new(&source) {
            let entry = entry.unwrap();
            let to = copy.join(entry.path().strip_prefix(&source).unwrap());
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else {
                std::fs::write(to, std::fs::read(entry.path()).unwrap()).unwrap();
            }
        }
        let placeholder = copy.join(placeholder);
        std::fs::create_dir_all(placeholder.parent().unwrap()).unwrap();
        std::fs::write(placeholder, "{}\n").unwrap();
        copy
    }

    /// Copies go.mod and go.sum, without replacements by folders that the module does not hold.
    fn modfile(&self, source: &Path, work: &Path) -> PathBuf {
        let modfile = work.join("go.mod");
        for name in ["go.mod", "go.sum"] {
            std::fs::write(work.join(name), std::fs::read(source.join(name)).unwrap()).unwrap();
        }
        let edit = |arguments: &[String]| {
            run(Command::new("go").args(["mod", "edit"]).args(arguments).arg(&modfile).current_dir(work))
        };
        let told: Value = serde_json::from_str(&edit(&["-json".to_owned()])).unwrap();
        for replace in told["Replace"].as_array().into_iter().flatten() {
            let old = replace["Old"]["Path"].as_str().unwrap();
            if replace["New"]["Path"].as_str().unwrap().starts_with('.') {
                edit(&[self.staging.map_or_else(
                    || format!("-dropreplace={old}"),
                    |version| format!("-replace={old}={old}@{version}"),
                )]);
            }
        }
        modfile
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
