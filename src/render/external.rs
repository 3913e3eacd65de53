//! A kustomize that is installed beside this program.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::path::RepoPath;
use crate::render::output::{read, take_origin};
use crate::render::tree::{Found, Tree};
use crate::render::{LATE, Object, Origin, RenderError, Renderer, Request};
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, Snapshot, program};

/// How often it is looked whether the tool has ended.
const TICK: Duration = Duration::from_millis(2);

/// How long one build may take.
const TIME: Duration = Duration::from_secs(120);

/// Why there is nothing behind the network's door: nobody listens at this address.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Which tool builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `kustomize build`.
    Kustomize,
    /// `kubectl kustomize`.
    Kubectl,
}

impl Tool {
    /// Returns the name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Tool::Kustomize => "kustomize",
            Tool::Kubectl => "kubectl",
        }
    }
}

/// Builds with a kustomize that is installed.
///
/// The snapshot is written to a private temporary folder, which is removed afterwards. The tool
/// finds no git, no proxy that answers and nothing of the environment, so remote bases fail as
/// they do in [`Embedded`](crate::render::Embedded); otherwise it is not locked in.
#[derive(Clone, Debug)]
pub struct External {
    tool: Tool,
    program: PathBuf,
    version: String,
}

impl External {
    /// Finds the tool on `PATH` and asks for its version.
    ///
    /// # Errors
    ///
    /// When it is not there or does not tell its version; says so in one sentence.
    pub fn find(tool: Tool) -> Result<External, String> {
        let name = tool.program();
        let program = program(name).ok_or_else(|| format!("`{name}` is not on PATH"))?;
        External::at(tool, program)
    }

    /// Takes the tool at a given place and asks for its version.
    ///
    /// # Errors
    ///
    /// When it does not tell its version.
    pub fn at(tool: Tool, program: PathBuf) -> Result<External, String> {
        let room = Room::new().map_err(|error| error.to_string())?;
        let mut external = External { tool, program, version: String::new() };
        let arguments: &[&str] = match tool {
            Tool::Kustomize => &["version"],
            Tool::Kubectl => &["version", "--client"],
        };
        let text = external.run(&room, arguments)?;
        let version = text.lines().find_map(|line| line.strip_prefix("Kustomize Version:")).unwrap_or(&text);
        external.version = version.trim().lines().next().unwrap_or_default().to_owned();
        Ok(external)
    }

    /// Runs the tool without any of the environment and gives what it prints.
    fn run(&self, room: &Room, arguments: &[&str]) -> Result<String, String> {
        let output =
            |name: &str| File::create(room.folder.path().join(name)).map_err(|error| error.to_string());
        let mut child = Command::new(&self.program)
            .args(arguments)
            .env_clear()
            .env("HOME", room.folder.path())
            .env("TMPDIR", room.folder.path())
            .env("PATH", "")
            .env("HTTP_PROXY", NOWHERE)
            .env("HTTPS_PROXY", NOWHERE)
            .current_dir(room.folder.path())
            .stdin(Stdio::null())
            .stdout(output("stdout")?)
            .stderr(output("stderr")?)
            .spawn()
            .map_err(|error| format!("`{}` can't be run: {error}", self.program.display()))?;
        let deadline = Instant::now() + TIME;
        let status = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    let killed = child.kill().and_then(|()| child.wait());
                    let more = killed.err().map(|error| format!(" ({error})")).unwrap_or_default();
                    return Err(format!("{LATE}{} s that it may{more}", TIME.as_secs()));
                }
                None => std::thread::sleep(TICK),
            }
        };
        if status.success() {
            return room.text("stdout");
        }
        Err(room.explain(&room.text("stderr")?))
    }

    fn build(&self, room: &Room, folder: &Path) -> Result<Vec<Value>, String> {
        let folder = folder.to_str().ok_or("the temporary folder's name is no text")?;
        let restriction = ["--load-restrictor", "LoadRestrictionsNone", folder];
        let command = match self.tool {
            Tool::Kustomize => "build",
            Tool::Kubectl => "kustomize",
        };
        let text = self.run(room, &[&[command], restriction.as_slice()].concat())?;
        read(&text).map_err(|error| format!("what {} printed can't be read: {error}", self.tool.program()))
    }

    fn one(&self, room: &Room, tree: &Tree, request: &Request) -> Result<Vec<Object>, String> {
        // Where nothing is set it builds what the controller does, but refuses a list that only that can read.
        let has_list = || {
            let mut files = FILE_NAMES.into_iter().filter_map(|name| request.path.join(name).ok());
            files.any(|file| matches!(tree.find(file.as_str()), Found::File(..)))
        };
        let says_nothing = |fields: &Value| fields.as_object().is_some_and(Map::is_empty);
        if request.fields().is_some_and(|fields| !says_nothing(fields) || !has_list()) {
            return Err(
                "the fields of a Flux Kustomization can be built by the embedded kustomize only".to_owned()
            );
        }
        let values = self.build(room, &room.repository().join(request.path.as_str()))?;
        let mut origins = if request.origins { self.origins(room, tree, request) } else { HashMap::new() };
        let objects = values.into_iter().map(|value| {
            let mut bare = value.clone();
            take_origin(&mut bare);
            let origin = origins.get_mut(&bare.to_string()).and_then(Vec::pop);
            Object { value: Arc::new(value), origin }
        });
        Ok(objects.collect())
    }

    /// Builds again through a folder that asks for origins; by object, without its origin.
    fn origins(&self, room: &Room, tree: &Tree, request: &Request) -> HashMap<String, Vec<Origin>> {
        let mut origins: HashMap<String, Vec<Origin>> = HashMap::new();
        let Ok(wrapper) = room.wrapper(&request.path) else { return origins };
        for mut value in self.build(room, &wrapper).unwrap_or_default() {
            let Some(fields) = take_origin(&mut value) else { continue };
            if let Some(origin) = origin(tree, &fields) {
                origins.entry(value.to_string()).or_default().push(origin);
            }
        }
        origins
    }
}

/// Turns what the annotation says into a file of the repository.
fn origin(tree: &Tree, fields: &HashMap<String, String>) -> Option<Origin> {
    if fields.contains_key("repo") {
        return None;
    }
    let (place, generator) = match fields.get("configuredIn") {
        Some(place) => (place, fields.get("kind").cloned()),
        None => (fields.get("path")?, None),
    };
    match tree.find(place.strip_prefix("../repository/")?) {
        Found::File(path, _) => Some(Origin { path: RepoPath::parse(&path).ok()?, generator }),
        _ => None,
    }
}

impl Renderer for External {
    fn describe(&self) -> String {
        match self.tool {
            Tool::Kustomize => format!("kustomize {}", self.version),
            Tool::Kubectl => format!("kubectl kustomize {}", self.version),
        }
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        let tree = Tree::new(snapshot);
        let room = Room::new().and_then(|room| {
            room.fill(snapshot, &tree)?;
            Ok(room)
        });
        let room = match room {
            Ok(room) => room,
            Err(error) => {
                let message = format!("the repository can't be written to a temporary folder: {error}");
                return requests.iter().map(|_| Err(RenderError { message: message.clone() })).collect();
            }
        };
        let one =
            |request| self.one(&room, &tree, request).map_err(|message| RenderError::reported(&message));
        requests.iter().map(one).collect()
    }
}

/// A private folder with the repository in it, removed when it is dropped.
struct Room {
    folder: TempDir,
}

#[allow(clippy::disallowed_methods, reason = "this folder is temporary and not the user's repository")]
impl Room {
    fn new() -> std::io::Result<Room> {
        let folder = tempfile::Builder::new().prefix("gitops-windows-").tempdir()?;
        fs::create_dir_all(folder.path().join("repository"))?;
        Ok(Room { folder })
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// Writes the snapshot's files, and its links as far as they stay inside.
    fn fill(&self, snapshot: &Snapshot, tree: &Tree) -> std::io::Result<()> {
        for folder in snapshot.hollow() {
            fs::create_dir_all(self.repository().join(folder.as_str()))?;
        }
        for (path, entry) in snapshot.entries() {
            let place = self.repository().join(path.as_str());
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder)?;
            }
            match entry {
                Entry::File(file) => fs::write(&place, file.bytes())?,
                Entry::Symlink { target } if tree.find(path.as_str()) != Found::Outside => {
                    link(target, &place)?;
                }
                Entry::Symlink { .. } | Entry::Large { .. } | Entry::Lacking { .. } => {}
            }
        }
        Ok(())
    }

    /// Makes a folder that builds the given one and asks for origins.
    fn wrapper(&self, path: &RepoPath) -> std::io::Result<PathBuf> {
        let folder = self.folder.path().join("wrapper");
        let settings = serde_json::json!({
            "resources": [format!("../repository/{}", path.as_str())],
            "buildMetadata": ["originAnnotations"],
        });
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("kustomization.yaml"), settings.to_string())?;
        Ok(folder)
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let mut text = Vec::new();
        let read = File::open(self.folder.path().join(name)).and_then(|mut file| file.read_to_end(&mut text));
        read.map_err(|error| error.to_string())?;
        String::from_utf8(text).map_err(|error| error.to_string())
    }

    /// Turns the tool's complaint into one that speaks of the repository.
    fn explain(&self, complaint: &str) -> String {
        let mut text = complaint.to_owned();
        for top in [fs::canonicalize(self.repository()).unwrap_or_default(), self.repository()] {
            if let Some(top) = top.to_str().filter(|top| !top.is_empty()) {
                text = text.replace(&format!("{top}/"), "").replace(top, ".");
            }
        }
        let text = text.trim().trim_start_matches("error: ").trim_start_matches("Error: ");
        let remote =
            text.contains("no 'git' program on path") || text.contains(NOWHERE.trim_start_matches("http://"));
        if remote {
            return format!("needs a remote base, which is not in the repository: {text}");
        }
        text.to_owned()
    }
}

#[cfg(unix)]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> std::io::Result<()> {
    Ok(())
}
