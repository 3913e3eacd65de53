//! The long text of a code.

/// What `docs/codes.md` says about all of them.
const DOCUMENT: &str = include_str!("../../docs/codes.md");

/// Returns the section of a code: what it is about, why it matters, the source, and what is wrong and right.
///
/// ```
/// let text = gitops_windows::check::explain("GW014").unwrap();
/// assert!(text.starts_with("GW014 patch-without-match"));
/// ```
pub fn explain(code: &str) -> Option<&'static str> {
    let heading = format!("\n## {code} ");
    let start = DOCUMENT.find(&heading)? + "\n## ".len();
    let rest = &DOCUMENT[start..];
    Some(rest.split("\n## ").next().unwrap_or(rest).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CODES;

    #[test]
    fn every_code_is_explained_in_order() {
        let headings: Vec<&str> = DOCUMENT
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .filter(|line| line.starts_with("GW"))
            .collect();
        let codes: Vec<String> = CODES.iter().map(|code| format!("{} {}", code.code, code.name)).collect();
        assert_eq!(headings, codes);
    }

    #[test]
    fn every_explanation_has_its_parts() {
        for code in CODES {
            let text = explain(code.code).unwrap();
            for part in ["\n\n", "\nSource: ", "\nWrong:\n", "\nRight:\n"] {
                assert!(text.contains(part), "{} lacks {part:?}", code.code);
            }
        }
    }
}
