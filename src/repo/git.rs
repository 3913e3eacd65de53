//! Calling git, so that neither the caller's environment nor its locale shows in the answer.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, OnceLock};

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::repo::program::{folders, program};

/// Variables that a user may steer git with; every other `GIT_…` is taken away.
const KEPT: [&str; 4] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_DISCOVERY_ACROSS_FILESYSTEM"];

/// Reads what a process says until it ends, as [`Child::wait_with_output`] does, which panics where a pipe can't be read.
fn output(child: &mut Child) -> std::io::Result<Output> {
    fn all(pipe: Option<impl Read>) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
        Ok(bytes)
    }
    let complaint = child.stderr.take();
    let complaint = std::thread::Builder::new().spawn(move || all(complaint))?;
    let said = all(child.stdout.take());
    if said.is_err() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait()?;
    let stderr = complaint.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    Ok(Output { status, stdout: said?, stderr })
}

/// Why git gave no answer.
#[derive(Debug)]
pub(super) enum GitError {
    /// There is no `git` on the path.
    Missing,
    /// git could not be started or talked to.
    Io(std::io::Error),
    /// git ended with another status than 0; holds what it said.
    Failed(String),
}

impl GitError {
    /// Says what was being done when git failed.
    pub(super) fn into_error(self, doing: &str) -> Error {
        let diagnostic = match self {
            GitError::Missing => Diagnostic::error(format!("git was not found, so {doing} is not possible"))
                .help("install git, or put it on PATH"),
            GitError::Io(error) => Diagnostic::error(format!("{doing} failed: git can't be run: {error}")),
            GitError::Failed(message) => {
                let ownership = message.contains("dubious ownership");
                let diagnostic = Diagnostic::error(format!("{doing} failed: git says: {message}"));
                if ownership {
                    diagnostic
                        .help("run as the repository's owner, or add the folder to git's safe.directory")
                } else {
                    diagnostic
                }
            }
        };
        Error::invalid(diagnostic)
    }
}

/// git, run in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Git {
    folder: PathBuf,
    /// Settings that outrank every file, by their key.
    settings: Vec<(String, &'static str)>,
    /// Variables of its environment.
    environment: Vec<(&'static str, String)>,
    /// Why one of its questions could not be asked.
    unasked: Unasked,
}

/// The first reason for which git could not be asked, shared by all who ask in one repository.
pub(super) type Unasked = Arc<OnceLock<String>>;

impl Git {
    /// Will run git in `folder`.
    pub(super) fn in_folder(folder: &Path) -> Git {
        Git {
            folder: folder.to_owned(),
            settings: Vec::new(),
            environment: Vec::new(),
            unasked: Unasked::default(),
        }
    }

    /// Keeps there why git can't be asked, for whom no answer and "no" are the same.
    pub(super) fn telling(mut self, unasked: &Unasked) -> Git {
        self.unasked = unasked.clone();
        self
    }

    /// Returns git without the filters that the repository itself names.
    ///
    /// A filter (`gitattributes`, "filter") is a program by which git turns a file into what it keeps, and git asks it
    /// wherever a file may differ from the index. Filters of the person or the machine stay, such as those of Git LFS.
    pub(super) fn without_own_filters(mut self) -> Result<Git, GitError> {
        let names = r"^filter\..*\.(clean|smudge|process|required)$";
        // Its exit code is 1 where there is none (`git help config`).
        let listing = self.run_with(
            &["config", "--null", "--show-scope", "--name-only", "--get-regexp", names],
            Vec::new(),
            &[0, 1],
        )?;
        let mut fields = listing.split(|byte| *byte == 0);
        while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
            if matches!(scope, b"system" | b"global") {
                continue;
            }
            let key = String::from_utf8(key.to_vec())
                .map_err(|_| GitError::Failed("the name of a filter is not UTF-8".to_owned()))?;
            let value = if key.ends_with(".required") { "false" } else { "" };
            self.settings.push((key, value));
        }
        Ok(self)
    }

    /// Sets a variable of git's environment.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Git {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Runs git and gives its standard output.
    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, GitError> {
        self.run_with(arguments, Vec::new(), &[0])
    }

    /// Runs git with `input` on its standard input and gives its standard output, if it ends with
    /// one of the exit codes.
    pub(super) fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: Vec<u8>,
        codes: &[i32],
    ) -> Result<Vec<u8>, GitError> {
        self.ask(arguments, input, codes).inspect_err(|error| {
            if let GitError::Io(error) = error {
                // The first one tells enough.
                let _ = self.unasked.set(error.to_string());
            }
        })
    }

    fn ask<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: Vec<u8>,
        codes: &[i32],
    ) -> Result<Vec<u8>, GitError> {
        let mut command = self.command().ok_or(GitError::Missing)?;
        let mut child = command.args(arguments).spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => GitError::Missing,
            _ => GitError::Io(error),
        })?;
        // git answers while it is still being asked, so asking needs a thread of its own.
        let asking = child.stdin.take().map(|mut pipe| std::thread::spawn(move || pipe.write_all(&input)));
        let output = output(&mut child).map_err(GitError::Io)?;
        let asked = asking.map_or(Ok(Ok(())), std::thread::JoinHandle::join);
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().trim_start_matches("fatal: ").lines().collect::<Vec<_>>().join(" ");
            let said = if said.is_empty() { output.status.to_string() } else { said };
            return Err(GitError::Failed(said.chars().filter(|c| !c.is_control()).collect()));
        }
        match asked {
            Ok(Ok(())) => Ok(output.stdout),
            Ok(Err(error)) => Err(GitError::Io(error)),
            Err(_) => Err(GitError::Failed("the thread that asks git stopped".to_owned())),
        }
    }

    /// Prepares git; `None` where it is not installed.
    fn command(&self) -> Option<Command> {
        let mut command = Command::new(program("git")?);
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("GIT_") && !KEPT.contains(&name_text.as_ref()) {
                command.env_remove(&name);
            }
        }
        command
            // What git starts it looks for there too, in the folder of the repository.
            .env("PATH", folders())
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .env("GIT_TERMINAL_PROMPT", "0")
            // What a partial clone lacks is told, not fetched: who fetches runs what the configuration names.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "")
            .args(["--no-optional-locks", "--literal-pathspecs", "--no-pager"])
            // A file system monitor is a program named in the configuration: reading starts none.
            .args(["-c", "core.quotePath=false", "-c", "core.fsmonitor=false"])
            .args(["-c", "i18n.logOutputEncoding=UTF-8"])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder)
            // Not by `-c`, which takes the first `=` of a key for its end.
            .env("GIT_CONFIG_COUNT", self.settings.len().to_string())
            .envs(self.settings.iter().enumerate().flat_map(|(index, (key, value))| {
                [
                    (format!("GIT_CONFIG_KEY_{index}"), key.as_str()),
                    (format!("GIT_CONFIG_VALUE_{index}"), *value),
                ]
            }))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Some(command)
    }
}
