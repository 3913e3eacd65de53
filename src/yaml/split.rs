//! Cuts a file of several documents without touching a byte of those that stay.

use super::edit::EditError;
use super::read::read_documents;

/// Returns a text that holds just the documents with the given numbers, in the file's order.
///
/// Each document keeps its bytes with the `---` line, directives and comments that belong to it
/// ([`Document::whole`](super::Document::whole)). A `---` line is put between two documents only
/// where the one that stood there went with a document that was left out. A byte order mark goes
/// with the first document.
///
/// # Errors
///
/// When the text is not YAML, when there is no such document, and when the result does not read as
/// exactly these documents.
///
/// ```
/// use gitops_windows::yaml::cut_documents;
///
/// let text = "a: 1\n---\n# two\nb: 2\n---\nc: 3";
/// assert_eq!(cut_documents(text, &[1]).unwrap(), "---\n# two\nb: 2\n");
/// assert_eq!(cut_documents(text, &[0, 2]).unwrap(), "a: 1\n---\nc: 3");
/// ```
pub fn cut_documents(text: &str, keep: &[usize]) -> Result<String, EditError> {
    let documents = read_documents(text)?;
    let mut keep = keep.to_vec();
    keep.sort_unstable();
    keep.dedup();
    if let Some(missing) = keep.iter().find(|index| **index >= documents.len()) {
        return Err(EditError::new(format!(
            "the file has {} documents, not {}",
            documents.len(),
            missing + 1
        )));
    }
    let kept: Vec<_> = keep.iter().filter_map(|index| documents.get(*index)).collect();
    let mut out = String::new();
    let mut ended = true;
    for document in &kept {
        let piece = &text[document.whole.clone()];
        let directives = document.explicit && !piece.trim_start_matches('\u{feff}').starts_with("---");
        if !out.is_empty() && !ended {
            let line_break = super::lines::line_break_near(text, document.whole.start);
            if directives {
                out.push_str("...");
                out.push_str(line_break);
            } else if !document.explicit {
                out.push_str("---");
                out.push_str(line_break);
            }
        }
        out.push_str(piece);
        ended = document.ended;
    }
    let again = read_documents(&out)?;
    let same = again.len() == kept.len()
        && again.iter().zip(&kept).all(|(a, b)| a.root.to_json() == b.root.to_json());
    if same { Ok(out) } else { Err(EditError::new("the documents read differently once they are cut apart")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_of_documents_reads_as_itself() {
        for text in [
            "a: 1\n---\nb: 2\n---\nc: 3\n",
            "\u{feff}---\r\na: 1\r\n--- # two\r\nb: |\r\n  x\r\n\r\n---\r\nc: 3",
            "# head\n---\na: 1\n...\n# next\n%YAML 1.1\n---\nb: 2\n...\nc: 3\n",
            "---\n---\n# only\n---\na: &x 1\nb: *x\n",
            "--- {a: 1}\n--- |\n text\n--- >+\n text\n\n---\nlast: |\n  no end",
        ] {
            let documents = read_documents(text).unwrap();
            let whole: String = documents.iter().map(|document| &text[document.whole.clone()]).collect();
            assert_eq!(whole, text);
            for choice in 0..1usize << documents.len() {
                let keep: Vec<usize> =
                    (0..documents.len()).filter(|index| choice >> index & 1 == 1).collect();
                let cut = cut_documents(text, &keep).unwrap();
                for index in keep {
                    assert!(cut.contains(&text[documents[index].span.clone()]));
                }
            }
        }
    }

    #[test]
    fn a_document_that_is_not_there_is_refused() {
        assert!(cut_documents("a: 1\n", &[1]).is_err());
    }
}
