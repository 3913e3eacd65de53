//! Paths inside the repository, which can't name anything outside of it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

/// A normalised path relative to the top of the git repository.
///
/// Segments are separated by `/`; there is no `.`, `..`, empty segment, leading or trailing
/// slash. The top itself is the empty path. A value of this type can't leave the repository
/// lexically; symbolic links are the snapshot's concern. Cloning one shares its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RepoPath(Arc<str>);

/// Why a text is no path inside the repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepoPathError {
    /// The path begins with `/`.
    #[error("`{0}` is an absolute path")]
    Absolute(String),
    /// The path climbs above the top of the repository.
    #[error("`{0}` leaves the repository")]
    Escapes(String),
    /// The path holds a NUL byte or a backslash, which no Flux or kustomize path means to.
    #[error("`{0}` holds a character that no path in a repository may hold")]
    Character(String),
}

impl RepoPath {
    /// The top of the repository.
    pub fn top() -> RepoPath {
        RepoPath::default()
    }

    /// Parses a path relative to the top, normalising `./`, `..`, doubled and trailing slashes.
    ///
    /// # Errors
    ///
    /// When the path is absolute or leaves the repository.
    ///
    /// ```
    /// use gitops_windows::path::RepoPath;
    /// assert_eq!(RepoPath::parse("./clusters/edge-01/apps/").unwrap().as_str(), "clusters/edge-01/apps");
    /// assert!(RepoPath::parse("../x").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<RepoPath, RepoPathError> {
        RepoPath::top().join(text)
    }

    /// Resolves `text` against this folder.
    ///
    /// # Errors
    ///
    /// When `text` is absolute or the result leaves the repository.
    pub fn join(&self, text: &str) -> Result<RepoPath, RepoPathError> {
        if text.starts_with('/') {
            return Err(RepoPathError::Absolute(text.to_owned()));
        }
        if text.contains(['\0', '\\']) {
            return Err(RepoPathError::Character(text.to_owned()));
        }
        let mut joined = String::with_capacity(self.0.len() + text.len() + 1);
        joined.push_str(&self.0);
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." if joined.is_empty() => return Err(RepoPathError::Escapes(text.to_owned())),
                ".." => joined.truncate(joined.rfind('/').unwrap_or_default()),
                name => {
                    if !joined.is_empty() {
                        joined.push('/');
                    }
                    joined.push_str(name);
                }
            }
        }
        Ok(RepoPath(joined.into()))
    }

    /// Returns the text; empty for the top.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether this is the top of the repository.
    pub fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the segments from the top down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// Returns the last segment; `None` for the top.
    pub fn name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Returns the folder that holds this path; `None` for the top.
    pub fn parent(&self) -> Option<RepoPath> {
        if self.is_top() {
            return None;
        }
        let end = self.0.rfind('/').unwrap_or(0);
        Some(RepoPath(self.0[..end].into()))
    }

    /// Returns the folders that hold this path, from the nearest up to the top.
    ///
    /// ```
    /// use gitops_windows::path::RepoPath;
    /// let path = RepoPath::parse("clusters/edge-01/apps").unwrap();
    /// assert_eq!(path.parents().map(|folder| folder.to_string()).collect::<Vec<_>>(), ["clusters/edge-01", "clusters", "."]);
    /// ```
    pub fn parents(&self) -> impl Iterator<Item = RepoPath> + use<> {
        std::iter::successors(self.parent(), RepoPath::parent)
    }

    /// Returns this path and the folders that hold it, as [`std::path::Path::ancestors`] does.
    pub fn ancestors(&self) -> impl Iterator<Item = RepoPath> + use<> {
        std::iter::successors(Some(self.clone()), RepoPath::parent)
    }

    /// Returns whether this path is `folder` or lies below it.
    pub fn is_within(&self, folder: &RepoPath) -> bool {
        folder.is_top()
            || self.0 == folder.0
            || (self.0.starts_with(&*folder.0) && self.0.as_bytes().get(folder.0.len()) == Some(&b'/'))
    }

    /// Writes this path as seen from `folder`, with `..` where needed; `.` for the folder itself.
    ///
    /// ```
    /// use gitops_windows::path::RepoPath;
    /// let folder = RepoPath::parse("clusters/edge-01/apps").unwrap();
    /// let path = RepoPath::parse("apps/nginx").unwrap();
    /// assert_eq!(path.relative_to(&folder), "../../../apps/nginx");
    /// ```
    pub fn relative_to(&self, folder: &RepoPath) -> String {
        let from: Vec<&str> = folder.segments().collect();
        let to: Vec<&str> = self.segments().collect();
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let mut parts = vec![".."; from.len() - shared];
        parts.extend(&to[shared..]);
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }
}

/// Returns what a map has for the paths below a folder, in their order.
pub fn below<'m, V>(
    map: &'m BTreeMap<RepoPath, V>,
    folder: &RepoPath,
) -> impl Iterator<Item = (&'m RepoPath, &'m V)> + use<'m, V> {
    let prefix = if folder.is_top() { String::new() } else { format!("{folder}/") };
    let from = map.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
    from.take_while(move |(path, _)| path.as_str().starts_with(&prefix))
}

/// A path compares and hashes as its text does, so a map of paths can be searched by text.
impl std::borrow::Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_top() { "." } else { &self.0 })
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
