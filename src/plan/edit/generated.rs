//! Files that the tool writes by itself and may write again, and how it knows them.
//!
//! The first line of such a file carries a checksum of what follows. A file whose checksum fits is
//! ours to replace; one that was edited by hand is a conflict and is never overwritten; one
//! without the line belongs to its authors, and only single values in it are edited.

use sha2::{Digest, Sha256};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::repo::made::HEAD;
use crate::repo::{File, Kustomization, Reference, Target, conflict, umbrella};
use crate::yaml::{Editor, Key};

/// Who a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Written by the tool and not touched since.
    Ours,
    /// Written by the tool and edited by hand since.
    Edited,
    /// Written by the tool in two versions that git could not merge.
    Unmerged,
    /// Somebody else's.
    Theirs,
}

/// Returns a text the line that marks it as generated.
pub fn with_header(body: &str) -> String {
    format!("{HEAD}{}\n{body}", checksum(body))
}

/// Tells whose file it is.
pub fn ownership(file: &File) -> Ownership {
    let Some(text) = file.text() else { return Ownership::Theirs };
    let Some(rest) = text.strip_prefix(HEAD) else {
        return if is_unmerged(text) { Ownership::Unmerged } else { Ownership::Theirs };
    };
    // A checkout may turn line ends into CRLF; that is no edit.
    let rest = rest.replace("\r\n", "\n");
    match rest.split_once('\n') {
        Some((sum, body)) if sum == checksum(body) => Ownership::Ours,
        _ if is_unmerged(text) => Ownership::Unmerged,
        _ => Ownership::Edited,
    }
}

/// As [`ownership`], of a file that the tool would write with this body: what says the same is ours, although its first line
/// may belong to another text, as in a copy of a cluster under another name.
pub fn ownership_for(file: &File, body: &str) -> Ownership {
    match ownership(file) {
        Ownership::Edited if has_body(file, body) => Ownership::Ours,
        own => own,
    }
}

/// Returns whether a file says the same below its first line as a text that the tool would write, first line and all.
pub fn says(file: &File, text: &str) -> bool {
    text.split_once('\n').is_some_and(|(_, body)| has_body(file, body))
}

/// Returns whether a file says the same below its first line.
fn has_body(file: &File, body: &str) -> bool {
    let text = file.text().map(|text| text.replace("\r\n", "\n"));
    text.as_deref().and_then(|text| text.split_once('\n')).is_some_and(|(_, own)| own == body)
}

/// Returns whether git could not merge two versions that the tool wrote, and marks of that are left. The line with the
/// checksum always differs, but somebody may have decided on that one alone.
fn is_unmerged(text: &str) -> bool {
    let mut lines = text.lines();
    let is_begun = lines.next().is_some_and(|line| line.starts_with("<<<<<<< "));
    let has_line = |mut lines: std::str::Lines<'_>| lines.any(|line| line.starts_with(HEAD));
    is_begun && lines.next().is_some_and(|line| line.starts_with(HEAD))
        || conflict(text).is_some() && has_line(text.lines())
}

/// Returns whether a file was written by the tool, and not edited since.
pub fn is_generated(file: &File) -> bool {
    ownership(file) == Ownership::Ours
}

/// Returns whether the kustomization of a folder is the tool's own.
pub fn is_ours(input: &Input<'_>, folder: &RepoPath) -> bool {
    let file = input.model.graph.get(folder).and_then(|found| input.snapshot.file(&found.file));
    file.is_some_and(is_generated)
}

fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Moves the content of an entry point into a folder beside its sides, and leaves an umbrella.
///
/// Only the kustomization moves; the files it names stay, and the paths in it are lengthened.
///
/// # Errors
///
/// When a path in it can't be lengthened without writing the file anew.
pub fn move_whole(
    builder: &mut Builder<'_>,
    kustomization: &Kustomization,
    whole: &RepoPath,
) -> Result<(), String> {
    let text = based(kustomization, whole)?;
    let name = kustomization.file.name().unwrap_or("kustomization.yaml");
    let file = whole.join(name).map_err(|error| error.to_string())?;
    builder.create(&file, &text).map_err(|error| error.to_string())?;
    let part = whole.relative_to(&kustomization.folder);
    builder.put(&kustomization.file, &umbrella::write(&kustomization.text, &[part], &[]));
    Ok(())
}

/// Returns the text of a kustomization as a base in another folder: as [`rebase`] does, without fields that kustomize does not
/// know. The umbrella keeps them.
///
/// # Errors
///
/// As [`rebase`], and when a field can't be taken out in place.
pub fn based(kustomization: &Kustomization, folder: &RepoPath) -> Result<String, String> {
    let text = rebase(kustomization, folder)?;
    let mut unknown = kustomization.unknown_keys().peekable();
    if unknown.peek().is_none() {
        return Ok(text);
    }
    let mut editor = Editor::new(&text, 0).map_err(|error| error.to_string())?;
    for key in unknown {
        editor.remove_key(&[Key::from(key)]).map_err(|error| error.to_string())?;
    }
    Ok(editor.into_text())
}

/// Returns the text of a kustomization for another folder: every path in it names the same file.
///
/// Paths are changed as text, in place, so that nothing else of the file changes.
///
/// # Errors
///
/// When a path leaves the repository or the result does not read as meant.
pub fn rebase(kustomization: &Kustomization, folder: &RepoPath) -> Result<String, String> {
    let mut text = kustomization.text.to_string();
    let mut references: Vec<&Reference> = kustomization.references().iter().collect();
    references.sort_by_key(|reference| std::cmp::Reverse(reference.span.start));
    references.dedup_by_key(|reference| reference.span.start);
    for reference in references {
        let path = match &reference.target {
            Target::Path(path) => path,
            Target::Remote => continue,
            Target::Outside => return Err(format!("`{}` leaves the repository", reference.text)),
        };
        let old = match reference.field {
            "configMapGenerator" | "secretGenerator" => {
                reference.text.split_once('=').map_or(reference.text.as_str(), |(_, path)| path)
            }
            _ => reference.text.as_str(),
        };
        let new = crate::plan::edit::resources::respell(old, &path.relative_to(folder));
        let written = &text[reference.span.clone()];
        let position = written.rfind(old).ok_or_else(|| {
            format!("`{}` in {} is written with escapes", reference.text, kustomization.file)
        })?;
        // `files: [nginx.conf]` takes the key of the data from the file's name, which stays the same.
        let start = reference.span.start + position;
        text.replace_range(start..start + old.len(), &new);
    }
    let file = folder.join("kustomization.yaml").map_err(|error| error.to_string())?;
    let moved =
        Kustomization::parse(&file, &File::new(text.as_bytes())).map_err(|problem| problem.message)?;
    let targets = |of: &'_ Kustomization| -> Vec<Target> {
        of.references().iter().map(|reference| reference.target.clone()).collect()
    };
    if targets(&moved) != targets(kustomization) {
        return Err(format!("the paths in {} can't be changed in place", kustomization.file));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_file_is_known_until_somebody_edits_it() {
        let text = with_header("a: b\n");
        assert_eq!(ownership(&File::new(text.as_bytes())), Ownership::Ours);
        assert_eq!(ownership(&File::new(text.replace('\n', "\r\n").as_bytes())), Ownership::Ours);
        assert_eq!(ownership(&File::new(text.replace("a: b", "a: c").as_bytes())), Ownership::Edited);
        assert_eq!(ownership(&File::new(&b"a: b\n"[..])), Ownership::Theirs);
        let copied = File::new(text.replace("a: b", "a: c").as_bytes());
        assert_eq!(ownership_for(&copied, "a: c\n"), Ownership::Ours);
        assert_eq!(ownership_for(&copied, "a: d\n"), Ownership::Edited);
        let unmerged = format!("<<<<<<< HEAD\n{text}=======\n{}>>>>>>> main\n", with_header("a: c\n"));
        assert_eq!(ownership(&File::new(unmerged.as_bytes())), Ownership::Unmerged);
        let other = unmerged.replace(HEAD, "# ");
        assert_eq!(ownership(&File::new(other.as_bytes())), Ownership::Theirs);
    }

    #[test]
    fn rebased_paths_name_the_same_files() {
        let text = "resources:\n- ./x.yaml # c\n- \"../../base/\"\npatches:\n- path: p.yaml\nconfigMapGenerator:\n- name: c\n  files: [k=f.txt, g.txt]\n";
        let file = RepoPath::parse("a/b/kustomization.yaml").unwrap();
        let kustomization = Kustomization::parse(&file, &File::new(text.as_bytes())).unwrap();
        let folder = RepoPath::parse("a/b/b-all").unwrap();
        assert_eq!(
            rebase(&kustomization, &folder).unwrap(),
            "resources:\n- ./../x.yaml # c\n- \"../../../base/\"\npatches:\n- path: ../p.yaml\nconfigMapGenerator:\n- name: c\n  files: [k=../f.txt, ../g.txt]\n"
        );
    }
}
