//! The checks before a byte is written: they read only, and tell everything that is wrong at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::Changes;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::{File, STATE};
use crate::write::disk::{Disk, Seen, refusal};
use crate::write::journal::{Folder, Journal, Stat, Step};

/// What an `undo` wants besides the plan.
#[derive(Debug, Default)]
pub(super) struct Wish {
    /// Whether this takes back another write.
    pub(super) undo: bool,
    /// Permission bits that files and folders had.
    pub(super) modes: BTreeMap<RepoPath, u32>,
}

/// Says why no path of this name is ever written; the words follow the name.
pub(super) fn reserved(path: &RepoPath) -> Option<&'static str> {
    if path.is_top() {
        return Some("is the top of the repository and no file");
    }
    if path.as_str().chars().any(char::is_control) {
        return Some("has a control character in its name");
    }
    if path.segments().next().is_some_and(|first| first.eq_ignore_ascii_case(STATE)) {
        return Some("is in the folder of this program's own journal");
    }
    path.segments()
        .any(is_git)
        .then_some("is in a `.git` folder, where a file can become a program that git runs")
}

/// Returns whether a name means `.git` on some file system (git, path.c, `is_ntfs_dotgit` and
/// `is_hfs_dotgit`).
fn is_git(name: &str) -> bool {
    let ignored = |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(|c| !ignored(*c)).collect::<String>().to_lowercase();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name == ".git" || name == "git~1"
}

/// Compares the plan with the disk and gives the steps to take.
pub(super) fn check(disk: &Disk<'_>, plan: &Changes, wish: &Wish) -> Result<Journal, Error> {
    let mut problems = Problems::default();
    let mut steps = Vec::new();
    let mut modes = BTreeMap::new();
    let mut nested = BTreeMap::new();
    for (path, change) in plan.iter() {
        if change.before == change.after {
            continue;
        }
        if let Some(why) = reserved(path) {
            problems.invalid(path, format!("`{path}` {why}"), "choose another path");
            continue;
        }
        if let Some(repository) = other_repository(disk, path, &mut nested)? {
            let message = format!("`{path}` is in another git repository, `{repository}`");
            problems.invalid(path, message, "run in that repository, or choose another path");
            continue;
        }
        let seen = disk.see(path).map_err(|error| refusal(&format!("can't read `{path}`"), &error))?;
        let Some(mode) = compare(disk, plan, path, change.before.as_ref(), seen, &mut problems) else {
            continue;
        };
        modes.extend(mode.map(|mode| (path.clone(), mode)));
        steps.push((path, change));
    }
    problems.two_roles(plan);
    problems.into_result()?;

    let removed = emptied(disk, plan)?;
    collisions(disk, plan, &removed)?;
    let made = missing(disk, plan, &removed, wish)?;
    let stat = |file: &File, mode| Stat::of(file.bytes(), file.executable, mode);
    let step = |(path, change): (&RepoPath, &crate::change::Change)| {
        let old_mode = modes.get(path).copied();
        // A moved file takes its permission bits along.
        let from = change.moved_from.as_ref().and_then(|from| modes.get(from)).copied();
        let after = change.after.as_ref().map(|file| {
            let kept = wish.modes.get(path).copied().or(old_mode).or(from);
            stat(file, kept.map(|mode| with_executable(mode, file.executable, disk.file_mode())))
        });
        let step = Step {
            path: path.clone(),
            before: change.before.as_ref().map(|file| stat(file, old_mode)),
            after,
            moved_from: change.moved_from.as_ref().map(RepoPath::to_string),
        };
        // Where the disk keeps no executable bit, a change of it alone can't be written.
        let same = match (&step.before, &step.after) {
            (Some(before), Some(after)) => before.sha256 == after.sha256 && !disk.file_mode(),
            _ => false,
        };
        (!same).then_some(step)
    };
    Ok(Journal::new(wish.undo, steps.into_iter().filter_map(step).collect(), made, removed))
}

/// Returns the permission bits of a file that is as the plan found it, or notes the problem.
fn compare(
    disk: &Disk<'_>,
    plan: &Changes,
    path: &RepoPath,
    before: Option<&File>,
    seen: Seen,
    problems: &mut Problems,
) -> Option<Option<u32>> {
    match (before, seen) {
        (None, Seen::Nothing) if file_above(disk, plan, path).is_none() => return Some(None),
        (None, Seen::Nothing) => {
            let above = file_above(disk, plan, path).unwrap_or_default();
            let message = format!("`{path}` can't be written: `{above}` is a file and no folder");
            problems.invalid(path, message, "remove or rename the file");
        }
        // A folder that the plan empties makes room; one that keeps a file is told of below.
        (None, Seen::Folder(_)) if plan.keys().any(|other| other != path && other.is_within(path)) => {
            return Some(None);
        }
        (None, Seen::Folder(_)) => {
            let message = format!("`{path}` can't be written: it is a folder");
            problems.invalid(path, message, "remove or rename the folder");
        }
        (_, Seen::Other(what)) => {
            let message = format!("`{path}` is {what}, and nothing is written through or over one");
            problems.invalid(path, message, "put a regular file or folder in its place");
        }
        (None, Seen::File { .. }) => problems.stale(path, "was created"),
        (Some(_), Seen::Nothing) => problems.stale(path, "was removed"),
        (Some(_), Seen::Folder(_)) => problems.stale(path, "became a folder"),
        (Some(file), Seen::File { bytes, executable, mode }) => {
            if *file.bytes() != *bytes {
                problems.stale(path, "was edited");
            } else if disk.file_mode() && file.executable != executable {
                problems.stale(path, "has another mode");
            } else {
                return Some(mode);
            }
        }
    }
    None
}

/// Returns the file that stands where one of the path's folders should, unless the plan removes it.
fn file_above(disk: &Disk<'_>, plan: &Changes, path: &RepoPath) -> Option<RepoPath> {
    let mut folder = path.parent();
    while let Some(above) = folder.filter(|above| !above.is_top()) {
        let removed = plan.get(&above).is_some_and(|change| change.after.is_none());
        if !removed && matches!(disk.see(&above), Ok(Seen::File { .. } | Seen::Other(_))) {
            return Some(above);
        }
        folder = above.parent();
    }
    None
}

/// Returns the nested repository or submodule that a path lies in.
fn other_repository(
    disk: &Disk<'_>,
    path: &RepoPath,
    known: &mut BTreeMap<RepoPath, bool>,
) -> Result<Option<RepoPath>, Error> {
    let mut folder = path.parent();
    while let Some(above) = folder.filter(|above| !above.is_top()) {
        if !known.contains_key(&above) {
            let git =
                above.join(".git").map_err(|error| Error::invalid(Diagnostic::error(error.to_string())))?;
            let seen = disk.see(&git).map_err(|error| refusal(&format!("can't read `{above}`"), &error))?;
            // Below a link nothing is written anyway; that has words of its own.
            let holds = !matches!(seen, Seen::Nothing | Seen::Other("below a symbolic link"));
            known.insert(above.clone(), holds);
        }
        if known.get(&above) == Some(&true) {
            return Ok(Some(above));
        }
        folder = above.parent();
    }
    Ok(None)
}

/// Returns the folders that lose their last file, each after the ones in it.
fn emptied(disk: &Disk<'_>, plan: &Changes) -> Result<Vec<Folder>, Error> {
    let gone = |path: &RepoPath| plan.get(path).is_some_and(|change| change.after.is_none());
    let removed = plan.iter().filter(|(_, change)| change.before.is_some() && change.after.is_none());
    let mut candidates = BTreeSet::new();
    for (path, _) in removed {
        let mut folder = path.parent();
        while let Some(above) = folder.filter(|above| !above.is_top()) {
            folder = above.parent();
            candidates.insert(above);
        }
    }
    let mut left: Vec<RepoPath> = candidates.into_iter().collect();
    left.sort_by_key(|folder| std::cmp::Reverse(folder.segments().count()));
    let mut emptied: BTreeMap<RepoPath, Option<u32>> = BTreeMap::new();
    let mut ordered = Vec::new();
    for folder in left {
        let failed = |error| refusal(&format!("can't read `{folder}`"), &error);
        let Seen::Folder(mode) = disk.see(&folder).map_err(failed)? else { continue };
        let kept = disk.names(&folder).map_err(failed)?.into_iter().any(|name| match folder.join(&name) {
            Ok(child) => !gone(&child) && !emptied.contains_key(&child),
            Err(_) => true,
        });
        let refilled = plan
            .iter()
            .any(|(path, change)| change.after.is_some() && *path != folder && path.is_within(&folder));
        if !kept && !refilled {
            emptied.insert(folder.clone(), mode);
            ordered.push(Folder { path: folder, mode });
        }
    }
    Ok(ordered)
}

/// Returns the folders that are to be made, each after the one that holds it.
fn missing(disk: &Disk<'_>, plan: &Changes, removed: &[Folder], wish: &Wish) -> Result<Vec<Folder>, Error> {
    let mut folders = BTreeSet::new();
    for (path, change) in plan.iter() {
        if change.after.is_none() {
            continue;
        }
        let seen = disk.see(path).map_err(|error| refusal(&format!("can't read `{path}`"), &error))?;
        if matches!(seen, Seen::Folder(_)) && !removed.iter().any(|folder| folder.path == *path) {
            let message = format!("`{path}` can't be written: it is a folder that keeps other files");
            return Err(Error::invalid(
                Diagnostic::error(message).at(Place::file(path.clone())).help("remove or rename the folder"),
            ));
        }
        let mut folder = path.parent();
        while let Some(above) = folder.filter(|above| !above.is_top()) {
            let seen = disk.see(&above).map_err(|error| refusal(&format!("can't read `{above}`"), &error))?;
            folder = above.parent();
            if !matches!(seen, Seen::Folder(_)) {
                folders.insert(above);
            }
        }
    }
    // A folder's path sorts before the paths in it.
    let folder = |path: RepoPath| Folder { mode: wish.modes.get(&path).copied(), path };
    Ok(folders.into_iter().map(folder).collect())
}

/// Refuses new names that differ from others in case only: macOS and Windows would keep just one.
fn collisions(disk: &Disk<'_>, plan: &Changes, removed: &[Folder]) -> Result<(), Error> {
    let mut problems = Problems::default();
    // Folder → name in lower case → a path that has it after the plan.
    let mut names: BTreeMap<RepoPath, BTreeMap<String, RepoPath>> = BTreeMap::new();
    let created = plan.iter().filter(|(_, change)| change.before.is_none() && change.after.is_some());
    for (path, _) in created {
        let mut at = path.clone();
        while let Some(folder) = at.parent() {
            if !names.contains_key(&folder) {
                let failed = |error| refusal(&format!("can't read `{folder}`"), &error);
                let stays = |child: &RepoPath| {
                    plan.get(child).is_none_or(|change| change.after.is_some())
                        && !removed.iter().any(|folder| folder.path == *child)
                };
                let children = disk.names(&folder).map_err(failed)?;
                let children = children.iter().filter_map(|name| folder.join(name).ok()).filter(stays);
                names.insert(
                    folder.clone(),
                    children.filter_map(|child| Some((fold(&child)?, child))).collect(),
                );
            }
            let Some(key) = fold(&at) else { break };
            let others = names.entry(folder.clone()).or_default();
            if let Some(other) = others.insert(key, at.clone()).filter(|other| *other != at) {
                let message = format!(
                    "`{at}` and `{other}` differ in case only. On macOS or Windows one replaces the other"
                );
                problems.invalid(path, message, "choose another name");
            }
            at = folder;
        }
    }
    problems.into_result()
}

fn fold(path: &RepoPath) -> Option<String> {
    path.name().map(str::to_lowercase)
}

/// Sets or clears the executable bit as git does: for whoever may read.
fn with_executable(mode: u32, executable: bool, file_mode: bool) -> u32 {
    if !file_mode || executable == (mode & 0o100 != 0) {
        mode
    } else if executable {
        mode | ((mode & 0o444) >> 2)
    } else {
        mode & !0o111
    }
}

/// Everything that was found wrong.
#[derive(Default)]
struct Problems {
    diagnostics: Vec<Diagnostic>,
    /// Whether one of them is more than a stale plan.
    invalid: bool,
}

impl Problems {
    fn invalid(&mut self, path: &RepoPath, message: String, help: &str) {
        self.invalid = true;
        self.diagnostics.push(Diagnostic::error(message).at(Place::file(path.clone())).help(help));
    }

    fn stale(&mut self, path: &RepoPath, what: &str) {
        let message =
            format!("stale plan: `{path}` {what} since the repository was read; nothing was written");
        let diagnostic = Diagnostic::error(message).at(Place::file(path.clone()));
        self.diagnostics.push(diagnostic.help("run again, and look at the new diff"));
    }

    /// Refuses a plan in which one path is both a file and a folder.
    fn two_roles(&mut self, plan: &Changes) {
        let after = |path: &RepoPath| plan.get(path).is_some_and(|change| change.after.is_some());
        for path in plan.keys().filter(|path| after(path)) {
            let mut folder = path.parent();
            while let Some(above) = folder.filter(|above| !above.is_top()) {
                if after(&above) {
                    let message = format!("`{path}` can't be written: `{above}` is planned as a file");
                    self.invalid(path, message, "choose another path");
                }
                folder = above.parent();
            }
        }
    }

    fn into_result(self) -> Result<(), Error> {
        if self.diagnostics.is_empty() {
            return Ok(());
        }
        let kind = if self.invalid { ErrorKind::Invalid } else { ErrorKind::Conflict };
        Err(Error { kind, diagnostics: self.diagnostics })
    }
}
