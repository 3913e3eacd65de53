//! Where new Flux Kustomizations are written.

use serde_json::Value;

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::migrate::lists::Lists;
use crate::plan::problem::Problem;
use crate::repo::{File, FluxKustomization};
use crate::yaml::{EditError, cut_documents, read_documents};

/// Finds a Flux Kustomization in its file as the builder has it now.
///
/// # Errors
///
/// When the file or the document is gone.
pub fn find(builder: &Builder<'_>, one: &FluxKustomization) -> Result<(String, usize), Problem> {
    let lost = || {
        Problem::file(format!("{} is not to be found in {} as one document", one.name, one.file), &one.file)
    };
    let text = builder.now().file(&one.file).and_then(File::text).ok_or_else(lost)?.to_owned();
    let documents = read_documents(&text).map_err(|error| Problem::edit(&one.file, &text, &error.into()))?;
    let is_it = |value: &Value| {
        value["kind"] == "Kustomization"
            && value["spec"]["sourceRef"] == one.value["spec"]["sourceRef"]
            && value["metadata"]["name"] == one.value["metadata"]["name"]
            && value["metadata"]["namespace"] == one.value["metadata"]["namespace"]
            && value["spec"]["path"] == one.value["spec"]["path"]
    };
    let found: Vec<usize> =
        (0..documents.len()).filter(|index| is_it(&documents[*index].root.to_json())).collect();
    match found[..] {
        [index] => Ok((text, index)),
        _ if one.is_document => Err(lost()),
        _ => Err(Problem::listed(one)),
    }
}

/// Writes successors beside an old Flux Kustomization, which goes unless it stays.
///
/// Where the old one has a file of its own, each successor gets one too, listed wherever the old one
/// is. Otherwise they take its place in the file.
///
/// # Errors
///
/// When something stands at a new path, or the file can't be edited.
pub fn succeed(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    lists: &mut Lists,
    old: &FluxKustomization,
    heirs: &[(RepoPath, String)],
    stays: bool,
) -> Result<(), Problem> {
    let (text, index) = find(builder, old)?;
    let edit = |error: EditError| Problem::edit(&old.file, &text, &error);
    let documents = read_documents(&text).map_err(|error| edit(error.into()))?;
    let alone = documents.iter().enumerate().all(|(other, document)| other == index || document.is_empty());
    if !alone {
        let texts: Vec<&str> = heirs.iter().map(|(_, text)| text.as_str()).collect();
        let replaced = replace_document(&text, index, &texts, stays).map_err(edit)?;
        builder.put(&old.file, &replaced);
        return Ok(());
    }
    for (path, text) in heirs {
        builder.create(path, text).map_err(|error| Problem::write(path, &error))?;
    }
    if !stays {
        builder.remove(&old.file);
    }
    for folder in input.model.graph.referrers(&old.file) {
        lists.succeed(folder, &old.file, heirs.iter().map(|(path, _)| path.clone()).collect(), stays);
    }
    Ok(())
}

/// Puts documents in the place of one, or behind it where it stays.
fn replace_document(text: &str, index: usize, new: &[&str], stays: bool) -> Result<String, EditError> {
    let documents = read_documents(text)?;
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::new();
    for (position, document) in documents.iter().enumerate() {
        let own = cut_documents(text, &[position])?;
        let pieces: Vec<&str> = match position == index {
            true => {
                let mut pieces = new.to_vec();
                // What stands before the first mark of the old one is said once.
                pieces.iter_mut().skip(usize::from(!stays)).for_each(|piece| *piece = from_mark(piece));
                stays.then_some(own.as_str()).into_iter().chain(pieces).collect()
            }
            false => vec![&text[document.whole.clone()]],
        };
        for piece in pieces {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push_str(line_break);
            }
            let is_marked = from_mark(piece).starts_with("---") || piece.starts_with('%');
            if !out.is_empty() && !is_marked {
                out.push_str("---");
                out.push_str(line_break);
            }
            out.push_str(piece);
        }
    }
    let after = read_documents(&out).map_err(|error| EditError::new(error.message))?;
    let mut expected: Vec<Value> = documents.iter().map(|document| document.root.to_json()).collect();
    let mut values = Vec::new();
    for piece in new {
        let read = read_documents(piece).map_err(|error| EditError::new(error.message))?;
        values.extend(read.iter().map(|document| document.root.to_json()));
    }
    let end = if stays { index + 1 } else { index };
    expected.splice(end..=index, values);
    let same = after.iter().map(|document| document.root.to_json()).eq(expected);
    if same {
        Ok(out)
    } else {
        Err(EditError::new("it can't hold the new documents without being written anew"))
    }
}

/// Returns a document without the comments before its `---`, where it has one.
fn from_mark(piece: &str) -> &str {
    let mut at = 0;
    for line in piece.split_inclusive('\n') {
        if line.starts_with("---") {
            return &piece[at..];
        }
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            break;
        }
        at += line.len();
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_take_the_place_of_one() {
        let text = "a: 1\n---\n# two\nb: 2\n---\nc: 3";
        let new = ["---\n# two\nb: 3\n", "b: 4"];
        assert_eq!(
            replace_document(text, 1, &new, false).unwrap(),
            "a: 1\n---\n# two\nb: 3\n---\nb: 4\n---\nc: 3"
        );
        assert_eq!(
            replace_document(text, 2, &["d: 4\n"], true).unwrap(),
            "a: 1\n---\n# two\nb: 2\n---\nc: 3\n---\nd: 4\n"
        );
        assert_eq!(
            replace_document("a: 1\n---\nb: 2\n", 0, &["c: 1\n"], false).unwrap(),
            "c: 1\n---\nb: 2\n"
        );
        let text = "# old\n---\na: 1\n---\nb: 2\n";
        let cut = replace_document(text, 0, &["# old\n---\na: 3\n", "# old\n---\na: 4\n"], false);
        assert_eq!(cut.unwrap(), "# old\n---\na: 3\n---\na: 4\n---\nb: 2\n");
        let cut = replace_document(text, 0, &["# old\n---\na: 3\n"], true);
        assert_eq!(cut.unwrap(), "# old\n---\na: 1\n---\na: 3\n---\nb: 2\n");
    }
}
