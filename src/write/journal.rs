//! The journal: every step of a write, with hashes, so that each can be told done from undone.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::path::RepoPath;
use crate::text::sha256;

/// The version of the journal's form; another one is not understood and not touched.
const VERSION: u32 = 1;

/// Says in the writer's folder that the tree is the new one: all of its files are there, and on disk.
pub(super) const MARKER: &str = "next/committed";

/// A write as a list of steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    /// Marks the temporary names of this write.
    pub(super) id: String,
    /// Whether this takes back another write, so that it is not itself kept for `undo`.
    pub(super) undo: bool,
    /// The files, in the order of paths.
    pub(super) steps: Vec<Step>,
    /// Folders that are new, each after the one that holds it.
    pub(super) made: Vec<Folder>,
    /// Folders that are emptied and go, each after the ones in it.
    pub(super) removed: Vec<Folder>,
}

/// One file's step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Step {
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub(super) path: RepoPath,
    pub(super) before: Option<Stat>,
    pub(super) after: Option<Stat>,
    /// Only for showing an undone move as a move.
    pub(super) moved_from: Option<String>,
}

/// What a file is, as far as the writer cares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stat {
    pub(super) sha256: String,
    pub(super) executable: bool,
    /// Permission bits; without them the umask decides.
    pub(super) mode: Option<u32>,
}

/// A folder that is made or removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Folder {
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub(super) path: RepoPath,
    /// Permission bits; without them the umask decides.
    pub(super) mode: Option<u32>,
}

impl Stat {
    /// Describes a file.
    pub(super) fn of(bytes: &[u8], executable: bool, mode: Option<u32>) -> Stat {
        Stat { sha256: sha256(bytes), executable, mode }
    }
}

impl Journal {
    /// Makes a journal with an identity of its own.
    pub(super) fn new(undo: bool, steps: Vec<Step>, made: Vec<Folder>, removed: Vec<Folder>) -> Journal {
        // Two writes that live at once must differ; the lock sees to the rest.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let id = format!("{:x}-{:x}", std::process::id(), now.as_nanos());
        Journal { version: VERSION, id, undo, steps, made, removed }
    }

    pub(super) fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(std::io::Error::other)
    }

    /// Reads a journal, or says why it can't be understood.
    pub(super) fn parse(bytes: &[u8]) -> Result<Journal, String> {
        let journal: Journal = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if journal.version != VERSION {
            return Err(format!("its version is {} and not {VERSION}", journal.version));
        }
        // The identity becomes part of file names.
        if !journal.id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Err("its id is malformed".to_owned());
        }
        let folders = journal.made.iter().chain(&journal.removed).map(|folder| &folder.path);
        for path in journal.steps.iter().map(|step| &step.path).chain(folders) {
            if let Some(why) = super::preflight::reserved(path) {
                return Err(format!("`{path}` {why}"));
            }
        }
        Ok(journal)
    }

    /// Returns the temporary name beside a step's file, for file systems that can't be crossed.
    pub(super) fn beside(&self, number: usize) -> Option<RepoPath> {
        let folder = self.steps.get(number)?.path.parent()?;
        folder.join(&format!(".gitops-windows-{}-{number}.tmp", self.id)).ok()
    }
}

fn to_text<S: Serializer>(path: &RepoPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(path.as_str())
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RepoPath, D::Error> {
    let text = String::deserialize(deserializer)?;
    RepoPath::parse(&text).map_err(serde::de::Error::custom)
}
