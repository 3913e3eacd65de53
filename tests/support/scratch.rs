//! A repository in a temporary folder, and runs of the real binary in it.

#![allow(clippy::disallowed_methods, reason = "writes into temporary folders")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use clap::Parser;
use gitops_windows::commands::Cli;
use gitops_windows::output::Printed;
use gitops_windows::render::{Embedded, Shared};
use serde_json::Value;

/// The binary: cargo names it to tests, but not to the examples that share this module.
const PROGRAM: Option<&str> = option_env!("CARGO_BIN_EXE_gitops-windows");

/// The options with which the README begins on the sample.
pub const WINDOW: [&str; 6] =
    ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];

/// A spec for the sample, its gates switched off.
pub const SPEC: &str = "\
apiVersion: gitops-windows/v1
types:
  rt: {}
  rw: { window: nights }
windows:
  nights: { timeZone: Europe/Berlin, open: 0 22 * * *, close: 0 4 * * * }
clusters:
  edge-01: {}
  edge-02: {}
gate: { enabled: false }
";

/// A file or link as a test compares it; folders stand for themselves only where they are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file's bytes and whether it may be executed.
    File(Vec<u8>, bool),
    /// A link's target.
    Link(PathBuf),
    /// A folder without content.
    EmptyFolder,
}

/// Everything below a folder but `.git`, by path.
pub type Tree = BTreeMap<PathBuf, Node>;

/// What a run gave.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// The results.
    pub stdout: String,
    /// All that is for people.
    pub stderr: String,
}

/// A git repository that lives as long as the test.
pub struct Scratch {
    temporary: tempfile::TempDir,
    top: PathBuf,
    is_of_binary: bool,
}

/// Renderers that no test uses at the moment. All know the same builds; each has instances of its own.
static RENDERERS: Mutex<Vec<Embedded>> = Mutex::new(Vec::new());

impl Scratch {
    /// Makes an empty folder with a git repository.
    pub fn empty() -> Scratch {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().join("fleet");
        std::fs::create_dir(&top).unwrap();
        let scratch = Scratch { temporary, top, is_of_binary: false };
        // The samples of hooks are four times as many files as the rest.
        scratch.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        scratch
    }

    /// Copies a folder of `fixtures/` and commits it.
    pub fn fixture(name: &str) -> Scratch {
        let scratch = Scratch::empty();
        copy(&fixtures().join(name), &scratch.top);
        scratch.commit();
        scratch
    }

    /// Returns all that is there, with what git keeps of it, for [`Scratch::again`].
    pub fn kept(&self) -> Tree {
        read(&self.top, |_| true)
    }

    /// Makes a repository as another one was.
    pub fn again(kept: &Tree) -> Scratch {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().join("fleet");
        for (path, node) in kept {
            let path = top.join(path);
            match node {
                Node::EmptyFolder => std::fs::create_dir_all(path).unwrap(),
                Node::File(bytes, is_executable) => {
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(&path, bytes).unwrap();
                    if *is_executable {
                        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
                    }
                }
                Node::Link(target) => {
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    link(target, &path);
                }
            }
        }
        let scratch = Scratch { temporary, top, is_of_binary: false };
        // Git knows its files by their times and numbers too.
        scratch.git(&["update-index", "-q", "--refresh"]);
        scratch
    }

    /// Runs the binary itself from now on.
    pub fn with_binary(self) -> Scratch {
        Scratch { is_of_binary: true, ..self }
    }

    /// Returns the top of the repository.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Lets the configuration, the attributes and the hooks of the repository name programs for all that git may run
    /// one for, and returns the file that each of them makes.
    pub fn make_hostile(&self) -> PathBuf {
        let marker = self.outside().join("executed");
        let run = format!("sh -c 'touch {}; cat'", marker.display());
        // In the repository's own attributes, so that the tree stays clean.
        let attributes = "* filter=evil diff=evil merge=evil\n/apps/** filter=also=evil\n";
        std::fs::create_dir_all(self.top.join(".git/info")).unwrap();
        std::fs::write(self.top.join(".git/info/attributes"), attributes).unwrap();
        let included = self.outside().join("included");
        std::fs::write(&included, format!("[filter \"also=evil\"]\n\tclean = \"{run}\"\n")).unwrap();
        for (key, value) in [
            ("include.path", included.to_str().unwrap()),
            ("filter.evil.clean", run.as_str()),
            ("filter.evil.smudge", &run),
            ("filter.evil.process", &run),
            ("filter.evil.required", "true"),
            ("diff.evil.textconv", &run),
            ("diff.evil.command", &run),
            ("diff.external", &run),
            ("core.fsmonitor", &run),
            ("core.pager", &run),
            ("core.sshCommand", &run),
            ("core.alternateRefsCommand", &run),
            ("core.askPass", &run),
            ("core.hooksPath", "hooks"),
            ("log.showSignature", "true"),
            ("gpg.program", &run),
            ("gpg.ssh.program", &run),
            ("gpg.x509.program", &run),
            ("gpg.format", "ssh"),
            ("gpg.ssh.defaultKeyCommand", &run),
            ("submodule.inner.update", &format!("!{run}")),
            ("submodule.inner.url", &format!("ext::{run}")),
            ("submodule.inner.active", "true"),
            ("submodule.recurse", "true"),
            ("status.submoduleSummary", "true"),
            ("diff.submodule", "diff"),
            ("credential.helper", &format!("!{run}")),
            ("uploadpack.packObjectsHook", &run),
            ("core.editor", &run),
            ("sequence.editor", &run),
            ("core.gitProxy", &run),
            ("trailer.evil.command", &run),
            ("remote.origin.url", &format!("ext::{run}")),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
            ("extensions.partialClone", "origin"),
            ("protocol.ext.allow", "always"),
        ] {
            self.git(&["config", key, value]);
        }
        // Configuration of this working tree alone, which git reads last.
        self.git(&["config", "extensions.worktreeConfig", "true"]);
        let of_tree = format!("[core]\n\tfsmonitor = \"{run}\"\n[filter \"evil\"]\n\tclean = \"{run}\"\n");
        std::fs::write(self.top.join(".git/config.worktree"), of_tree).unwrap();
        // Objects of elsewhere, for which git may ask another repository.
        let alternate = self.outside().join("alternate/objects");
        std::fs::create_dir_all(&alternate).unwrap();
        let alternates = format!("{}\n", alternate.display());
        std::fs::write(self.top.join(".git/objects/info/alternates"), alternates).unwrap();
        // A folder that git takes for a bare repository, with a configuration of its own, and one whose tree is elsewhere.
        self.bare(&run);
        let elsewhere = format!(
            "[core]\n\trepositoryformatversion = 0\n\tworktree = {}\n\tfsmonitor = \"{run}\"\n",
            self.outside().display()
        );
        for (file, text) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", &elsewhere), ("objects/x", ""), ("refs/x", "")]
        {
            self.write(&format!("elsewhere/{file}"), text);
        }
        self.write(
            ".gitmodules",
            format!("[submodule \"inner\"]\n\tpath = inner\n\turl = ext::{run}\n\tupdate = !{run}\n"),
        );
        for hook in [
            "pre-commit",
            "post-commit",
            "fsmonitor-watchman",
            "post-index-change",
            "post-checkout",
            "pre-auto-gc",
            "reference-transaction",
        ] {
            let path = format!("hooks/{hook}");
            self.write(&path, format!("#!/bin/sh\ntouch {}\n", marker.display()));
            std::fs::set_permissions(self.top.join(path), PermissionsExt::from_mode(0o755)).unwrap();
        }
        marker
    }

    /// Lays a bare repository into the tree, whose configuration names a program.
    fn bare(&self, run: &str) {
        let config =
            format!("[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = \"{run}\"\n");
        for (file, text) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", &config), ("objects/x", ""), ("refs/x", "")]
        {
            self.write(&format!("bare/{file}"), text);
        }
    }

    /// Commits everything in a hostile repository, and lets git run nothing.
    pub fn commit_hostile(&self) -> &Scratch {
        let quiet = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
        std::fs::rename(self.top.join(".git/info/attributes"), self.outside().join("attributes")).unwrap();
        for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--message", "a state"]] {
            self.git(&[&quiet, arguments].concat());
        }
        std::fs::rename(self.outside().join("attributes"), self.top.join(".git/info/attributes")).unwrap();
        self
    }

    /// Returns the temporary folder around the repository.
    pub fn outside(&self) -> &Path {
        self.temporary.path()
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Scratch {
        let path = self.top.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Reads a file.
    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.top.join(path)).unwrap()
    }

    /// Replaces a text that must be there.
    pub fn replace(&self, path: &str, from: &str, to: &str) -> &Scratch {
        let text = self.text(path);
        assert!(text.contains(from), "{path} has no {from:?}");
        self.write(path, text.replace(from, to))
    }

    /// Commits everything.
    pub fn commit(&self) -> &Scratch {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "a state"]);
        self
    }

    /// Runs git, which must succeed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = git(&self.top).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// As [`git`](Scratch::git), with commits that were made at a time.
    pub fn git_at(&self, date: &str, arguments: &[&str]) -> String {
        let mut command = git(&self.top);
        let output =
            command.envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)]).args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Does at the top of the repository what the binary does.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let run = if self.is_of_binary { self.run_in(&self.top, arguments) } else { self.play(arguments) };
        held_to_schema(arguments, &run.stdout);
        run
    }

    /// Runs the binary in a folder.
    pub fn run_in(&self, folder: &Path, arguments: &[&str]) -> Run {
        let program = Command::new(PROGRAM.unwrap());
        let output = clean(program, folder).args(arguments).output().unwrap();
        Run::of(&output)
    }

    /// Does at the top of the repository what the binary does, with what was built before in this process.
    ///
    /// Proofs believe builds of their own process, so what another test has built is not built again.
    fn play(&self, arguments: &[&str]) -> Run {
        let place = ["gitops-windows", "--directory", self.top.to_str().unwrap()];
        let Ok(mut cli) = Cli::try_parse_from(place.iter().chain(arguments)) else {
            return self.run_in(&self.top, arguments);
        };
        static SHARED: LazyLock<Embedded> = LazyLock::new(Embedded::default);
        let free = || RENDERERS.lock().unwrap_or_else(PoisonError::into_inner);
        let renderer = free().pop().unwrap_or_else(|| SHARED.beside());
        cli.global.builder = Some(Shared(Arc::new(renderer.clone())));
        let output = gitops_windows::output::Output::kept(&cli.global, 100);
        let code = gitops_windows::commands::run_to(&cli, &output);
        free().push(renderer);
        let Printed { stdout, stderr } = output.printed();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: code.into(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs the binary, which must end with this code.
    #[track_caller]
    pub fn expect(&self, code: i32, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}\n{}\n{}", run.stdout, run.stderr);
        run
    }

    /// Runs the binary, which must succeed, and commits what it made.
    #[track_caller]
    pub fn take(&self, arguments: &[&str]) -> Run {
        let run = self.expect(0, arguments);
        self.commit();
        run
    }

    /// Reads the whole tree.
    pub fn tree(&self) -> Tree {
        tree(&self.top)
    }
}

/// Forbids what a schema does not name, so that a field that it forgets is found.
pub fn closed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(object) => {
            for value in object.values_mut() {
                *value = closed(value.take());
            }
            if object.get("type").is_some_and(|kind| kind == "object") {
                object.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = closed(item.take())),
        _ => {}
    }
    schema
}

/// Holds what a command printed with `--format json` to the schema that the program has of it, and returns it; `None`
/// where it was not asked for JSON, printed none, or has no schema.
#[track_caller]
pub fn held_to_schema(arguments: &[&str], printed: &str) -> Option<Value> {
    if !arguments.windows(2).any(|two| two == ["--format", "json"]) || printed.is_empty() {
        return None;
    }
    let schema = gitops_windows::commands::schema_of(arguments.first()?)?;
    let value: Value = serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    let validator = jsonschema::validator_for(&closed(schema)).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{arguments:?}: {errors:#?}\n{printed}");
    Some(value)
}

impl Run {
    /// Takes over what a process gave.
    pub fn of(output: &Output) -> Run {
        Run {
            code: output.status.code().expect("the program was killed"),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}

/// Returns a cache in which the program keeps its code, but no builds: a file is where they would be.
pub fn cache() -> &'static Path {
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| {
        let target = option_env!("CARGO_TARGET_TMPDIR").unwrap_or("target/tmp");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(target).join("cache");
        std::fs::create_dir_all(folder.join("gitops-windows")).unwrap();
        std::fs::write(folder.join("gitops-windows/builds"), "").unwrap();
        folder
    });
    &MADE
}

/// Returns a command an environment of its own, without a terminal.
pub fn clean(mut command: Command, folder: &Path) -> Command {
    let kept = ["PATH", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "SystemRoot", "TMPDIR"];
    command.env_clear();
    command.envs(kept.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.com")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.com")])
        // Long before any window that a test asks for: a gate that has just come has closed nothing yet.
        .envs([("GIT_AUTHOR_DATE", "2026-01-05T12:00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-05T12:00:00Z")])
        .envs([("LC_ALL", "C"), ("TZ", "UTC"), ("COLUMNS", "100")])
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", cache())
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// Returns git in an environment of its own.
///
/// By its path: a program that is looked for in a new PATH is started by a copy of this process, which is large.
/// Alone: a commit asks another git whether there is something to clean up.
fn git(folder: &Path) -> Command {
    static FOUND: LazyLock<PathBuf> = LazyLock::new(|| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&folders).map(|folder| folder.join("git")).find(|git| git.is_file());
        found.unwrap_or("git".into())
    });
    let mut command = clean(Command::new(&*FOUND), folder);
    command.args(["-c", "maintenance.auto=false"]);
    command
}

/// Returns the folder of the sample repositories.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Copies what is in a folder into another.
pub fn copy(from: &Path, to: &Path) {
    for item in walkdir::WalkDir::new(from).min_depth(1) {
        let item = item.unwrap();
        let target = to.join(item.path().strip_prefix(from).unwrap());
        if item.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else if item.file_type().is_symlink() {
            link(&std::fs::read_link(item.path()).unwrap(), &target);
        } else {
            std::fs::copy(item.path(), target).unwrap();
        }
    }
}

/// Makes a link.
#[cfg(unix)]
pub fn link(target: &Path, at: &Path) {
    std::os::unix::fs::symlink(target, at).unwrap();
}

/// Links can't be made everywhere.
#[cfg(not(unix))]
pub fn link(_: &Path, at: &Path) {
    panic!("{} is a link", at.display());
}

/// Reads everything below a folder but `.git`.
pub fn tree(top: &Path) -> Tree {
    read(top, |item| item.file_name() != ".git")
}

/// Reads what is wanted of everything below a folder.
fn read(top: &Path, wanted: impl FnMut(&walkdir::DirEntry) -> bool) -> Tree {
    let mut tree = Tree::new();
    let walk = walkdir::WalkDir::new(top).min_depth(1).into_iter();
    for item in walk.filter_entry(wanted) {
        let item = item.unwrap();
        let node = if item.file_type().is_dir() {
            if std::fs::read_dir(item.path()).unwrap().next().is_some() {
                continue;
            }
            Node::EmptyFolder
        } else if item.file_type().is_symlink() {
            Node::Link(std::fs::read_link(item.path()).unwrap())
        } else {
            Node::File(std::fs::read(item.path()).unwrap(), executable(item.path()))
        };
        tree.insert(item.path().strip_prefix(top).unwrap().to_owned(), node);
    }
    tree
}

/// Writes a shell script that can be run at once. Another process writes it, since a child that a further
/// thread starts meanwhile would hold it open, and then the kernel refuses to run it (`ETXTBSY`).
pub fn program(file: &Path, script: &str) {
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod 755 "$1""#;
    let status = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(file).arg(script).status();
    assert!(status.unwrap().success());
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_: &Path) -> bool {
    false
}

/// Fails with the paths that differ, and the first difference of each.
#[track_caller]
pub fn assert_same(expected: &Tree, found: &Tree, hint: &str) {
    let mut wrong = Vec::new();
    for path in expected.keys().chain(found.keys().filter(|path| !expected.contains_key(*path))) {
        let (a, b) = (expected.get(path), found.get(path));
        match (a, b) {
            (a, b) if a == b => {}
            (Some(Node::File(a, _)), Some(Node::File(b, _))) => {
                let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
                let diff = similar::TextDiff::from_lines(a.as_ref(), b.as_ref()).unified_diff().to_string();
                wrong.push(format!("{} differs\n{diff}", path.display()));
            }
            (Some(_), None) => wrong.push(format!("{} is missing", path.display())),
            (None, Some(Node::File(text, _))) => {
                wrong.push(format!("{} is extra\n{}", path.display(), String::from_utf8_lossy(text)));
            }
            _ => wrong.push(format!("{}: {a:?} became {b:?}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{}\n{hint}", wrong.join("\n"));
}
