//! Why a source does not fetch what stands at a path.

use std::fmt;
use std::ops::Range;

use crate::delivery::pattern::literal;
use crate::path::RepoPath;

/// What keeps a path out of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It is a symbolic link, or leads over one: an archive takes in regular files and folders only (fluxcd/pkg,
    /// `artifact/storage`, `Storage.Archive`).
    Link(RepoPath),
    /// It is a submodule, of which a source makes the folder alone (source-controller, `spec.recurseSubmodules`).
    Submodule(RepoPath),
    /// A line of a `.sourceignore` file.
    File {
        /// The file.
        file: RepoPath,
        /// The line.
        line: String,
        /// Its bytes in the file.
        span: Range<usize>,
        /// The nearest folder that the line matches, or the path itself.
        what: RepoPath,
    },
    /// A line of the `spec.ignore` of the source.
    Source {
        /// The line.
        line: String,
        /// Where the artifact begins.
        top: RepoPath,
        /// The nearest folder that the line matches, or the path itself.
        what: RepoPath,
    },
    /// The `spec.sparseCheckout` of the source has nothing with which it begins; with the folder around it.
    Sparse(RepoPath),
    /// What Flux leaves out where nothing says otherwise.
    Default,
    /// What `flux push artifact` leaves out where `--ignore-paths` does not say otherwise (flux2, `excludeOCI`).
    Pushed,
    /// An ArtifactGenerator copies other files of the source.
    NotCopied,
}

impl LeftOut {
    /// Says what to do about it: a step a line, each other line another way.
    pub fn remedy(&self) -> String {
        let back = |what: &RepoPath, from: &RepoPath, line: &str, home: &str| {
            let path = literal(&what.relative_to(from));
            format!("add `!/{path}` below `{line}` in {home}, or remove that line")
        };
        match self {
            LeftOut::Link(_) => "put files in place of the link, or name its target".to_owned(),
            LeftOut::Submodule(_) => "set `spec.recurseSubmodules: true` on the source".to_owned(),
            LeftOut::File { file, line, what, .. } => {
                back(what, &file.parent().unwrap_or_default(), line, file.as_str())
            }
            LeftOut::Source { line, top, what } => back(what, top, line, "`spec.ignore`"),
            LeftOut::Sparse(folder) if folder.is_top() => {
                "put it into a folder that `spec.sparseCheckout` of the source names".to_owned()
            }
            LeftOut::Sparse(folder) => format!("add `{folder}` to `spec.sparseCheckout` of the source"),
            LeftOut::Default => {
                "rename the file\nor write what to leave out into .sourceignore: that replaces all defaults"
                    .to_owned()
            }
            LeftOut::Pushed => {
                "rename the file\nor push with `--ignore-paths`: that replaces all defaults".to_owned()
            }
            LeftOut::NotCopied => "let the ArtifactGenerator copy all that the folder reads".to_owned(),
        }
    }

    /// Says it of a whole folder of which a line leaves everything out.
    #[must_use]
    pub(super) fn of_folder(mut self, folder: &RepoPath) -> LeftOut {
        if let LeftOut::File { what, .. } | LeftOut::Source { what, .. } = &mut self {
            what.clone_from(folder);
        }
        self
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOut::Link(link) => write!(f, "`{link}` is a symbolic link, and no source fetches links"),
            LeftOut::Submodule(folder) => {
                write!(f, "`{folder}` is a submodule, and the source fetches none")
            }
            LeftOut::File { file, line, .. } => write!(f, "`{line}` in {file} leaves it out"),
            LeftOut::Source { line, .. } => {
                write!(f, "`{line}` in `spec.ignore` of its source leaves it out")
            }
            LeftOut::Sparse(_) => f.write_str("`spec.sparseCheckout` of its source does not name it"),
            LeftOut::Default => f.write_str("Flux leaves out such files by default"),
            LeftOut::Pushed => f.write_str("`flux push artifact` leaves out such files by default"),
            LeftOut::NotCopied => f.write_str("its ArtifactGenerator does not copy it"),
        }
    }
}

/// Returns whether every source leaves a file out unless a line takes it back in (fluxcd/pkg/sourceignore, `ExcludeVCS`).
pub(super) fn is_of_git(file: &RepoPath) -> bool {
    named(file, &[".gitignore", ".gitmodules", ".gitattributes"], &[".git"])
}

/// Returns whether a source without any line of its own leaves a file out (fluxcd/pkg/sourceignore, `ExcludeExt`,
/// `ExcludeCI` and `ExcludeExtra`).
///
/// A name counts for a folder too, and then for all in it.
pub(super) fn is_by_default(file: &RepoPath) -> bool {
    const NAMES: [&str; 10] = [
        ".travis.yml",
        ".gitlab-ci.yml",
        "appveyor.yml",
        ".drone.yml",
        "cloudbuild.yaml",
        "codeship-services.yml",
        "codeship-steps.yml",
        ".goreleaser.yml",
        ".sops.yaml",
        ".flux.yaml",
    ];
    named(file, &NAMES, &[".github", ".circleci"]) || is_never_pushed(file)
}

/// Returns whether `flux push artifact` leaves out a file that is none [of git](is_of_git) (fluxcd/pkg/sourceignore,
/// `ExcludeExt`).
pub(super) fn is_never_pushed(file: &RepoPath) -> bool {
    const ENDS: [&str; 8] = [".jpg", ".jpeg", ".gif", ".png", ".wmv", ".flv", ".tar.gz", ".zip"];
    file.segments().any(|name| ENDS.iter().any(|end| name.ends_with(end)))
}

/// Returns whether a segment of a path has one of these names, or a folder of it one of the others.
fn named(file: &RepoPath, names: &[&str], folders: &[&str]) -> bool {
    let last = file.segments().count().saturating_sub(1);
    let mut segments = file.segments().enumerate();
    segments.any(|(at, name)| names.contains(&name) || at < last && folders.contains(&name))
}
