//! Umbrellas: what stands in a folder whose content moved into parts.
//!
//! An umbrella lists the parts, so that everybody who refers to the folder goes on getting all of
//! it. It also keeps the text that it replaced, line for line in a comment, which is what lets
//! `join` give back the very bytes without any state beside the repository.

use crate::yaml::quote;

/// How a kustomization begins that only lists the parts which a split made of it; what it said
/// before follows as a comment.
pub const HEAD: &str = "# The parts of this folder reach clusters at different times, so its content moved into them.\n\
                                 # What stood here, for `gitops-windows join` and for you:\n";

const LINE: &str = "#| ";
const EMPTY: &str = "#|";
const NOTE: &str = "#/ ";
const UNTERMINATED: &str = "#\\ no newline at the end";
const BYTE_ORDER_MARK: &str = "#\\ byte order mark at the start";

/// Writes an umbrella over parts in the place of a text.
///
/// `parts` are the folders as seen from the umbrella's own; `notes` are lines for whoever takes the
/// umbrella away again.
pub fn write(original: &str, parts: &[String], notes: &[String]) -> String {
    let mut text = String::from(HEAD);
    let body = match original.strip_prefix('\u{feff}') {
        Some(body) => {
            text.push_str(BYTE_ORDER_MARK);
            text.push('\n');
            body
        }
        None => original,
    };
    for line in body.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        text.push_str(if content.is_empty() { EMPTY } else { LINE });
        text.push_str(content);
        text.push('\n');
    }
    if !body.is_empty() && !body.ends_with('\n') {
        text.push_str(UNTERMINATED);
        text.push('\n');
    }
    for note in notes {
        text.push_str(&format!("{NOTE}{note}\n"));
    }
    text.push_str("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n");
    for part in parts {
        text.push_str(&format!("  - {}\n", quote(part)));
    }
    text
}

/// Returns back the text that an umbrella replaced; `None` where a text is no umbrella.
pub fn original(umbrella: &str) -> Option<String> {
    let body = umbrella.strip_prefix(HEAD)?;
    let mut text = String::new();
    let mut unterminated = false;
    for line in body.split('\n') {
        if line == BYTE_ORDER_MARK {
            text.push('\u{feff}');
        } else if line == UNTERMINATED {
            unterminated = true;
        } else if let Some(content) = line.strip_prefix(LINE) {
            text.push_str(content);
            text.push('\n');
        } else if line == EMPTY {
            text.push('\n');
        } else {
            break;
        }
    }
    if unterminated {
        text.pop();
    }
    Some(text)
}

/// Returns whether a line of an umbrella keeps one of the text that it replaced.
pub fn keeps(line: &str) -> bool {
    line.starts_with(LINE) || line == EMPTY
}

/// Returns the notes of an umbrella.
pub fn notes(umbrella: &str) -> Vec<String> {
    let lines = umbrella.lines().take_while(|line| line.starts_with('#'));
    lines.filter_map(|line| line.strip_prefix(NOTE)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::read_documents;
    use proptest::prelude::*;

    #[test]
    fn every_peculiarity_of_bytes_comes_back() {
        for text in [
            "",
            "resources:\n- a.yaml\n",
            "resources:\n- a.yaml",
            "\u{feff}resources:\r\n- a.yaml\r\n\r\n# c\r\n",
            "\n\n#| not ours\nresources: []\n  \n",
            "x: 1\n\n",
        ] {
            let umbrella = write(text, &["a-rt".into(), "a-rw".into()], &["n".into()]);
            assert_eq!(notes(&umbrella), ["n"]);
            assert_eq!(original(&umbrella).as_deref(), Some(text));
            let documents = read_documents(&umbrella).unwrap();
            assert_eq!(documents[0].root.to_json()["resources"], serde_json::json!(["a-rt", "a-rw"]));
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "[ -~\\n\\r#|]{0,80}") {
            prop_assert_eq!(original(&write(&text, &["a".into()], &[])), Some(text));
        }
    }

    #[test]
    fn other_files_are_no_umbrella() {
        assert_eq!(original("resources:\n- a.yaml\n"), None);
    }
}
