//! Processes that end when the test ends, however it ends.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Kills every process group that it was told of, and removes the folder, once its input ends.
///
/// The input ends when the test process ends: after a panic, an interrupt or a kill alike. `+N`
/// adds a group, `-N` takes one out that has ended.
const WATCHER: &str = r#"
groups=""
while read -r line; do
  case $line in
    +*) groups="$groups ${line#+}" ;;
    -*) left=""
        for group in $groups; do [ "$group" = "${line#-}" ] || left="$left $group"; done
        groups=$left ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
tries=0
until rm -rf "$1" 2>/dev/null || [ $tries -ge 50 ]; do tries=$((tries + 1)); sleep 0.1; done
"#;

/// A set of processes and the folder that they use.
pub struct Processes {
    watcher: Child,
    input: Option<ChildStdin>,
    children: Vec<(String, Child)>,
}

impl Processes {
    /// Begins with none. The folder vanishes with the value.
    pub fn new(folder: &Path) -> Processes {
        let mut watcher = Command::new("/bin/sh")
            .args(["-c", WATCHER, "watcher"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // An interrupt of the terminal is for the test, not for what tidies up after it.
            .process_group(0)
            .spawn()
            .unwrap();
        let input = watcher.stdin.take();
        Processes { watcher, input, children: Vec::new() }
    }

    /// Starts a command in a process group of its own.
    pub fn start(&mut self, name: &str, command: &mut Command) {
        let child = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} did not start: {error}"));
        writeln!(self.input.as_mut().unwrap(), "+{}", child.id()).unwrap();
        self.children.push((name.to_owned(), child));
    }

    /// Kills one.
    pub fn stop(&mut self, name: &str) {
        let position = self.children.iter().position(|(known, _)| known == name).unwrap();
        let (_, mut child) = self.children.remove(position);
        child.kill().unwrap();
        child.wait().unwrap();
        writeln!(self.input.as_mut().unwrap(), "-{}", child.id()).unwrap();
    }

    /// Names one that ended by itself, with how.
    pub fn ended(&mut self) -> Option<String> {
        self.children.iter_mut().find_map(|(name, child)| {
            child.try_wait().unwrap().map(|status| format!("{name} ended: {status}"))
        })
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.watcher.wait();
        for (_, child) in &mut self.children {
            let _ = child.wait();
        }
    }
}
