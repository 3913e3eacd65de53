//! The line by which a comment is found again.

use crate::pr::Flavor;

/// The first line of a comment, which no reader sees.
///
/// ```
/// use gitops_windows::{post::Marker, pr::Flavor};
///
/// let marker = Marker { name: "default", head: Some("1f0c") };
/// assert_eq!(marker.line(Flavor::Github), "<!-- gitops-windows pr default 1f0c -->\n");
/// assert!(marker.is_on("<!-- gitops-windows pr default 77aa -->\ntext"));
/// assert!(!marker.is_on("> <!-- gitops-windows pr default 77aa -->\ntext"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker<'a> {
    /// Tells several comments on one pull request apart; as [`name`] takes it.
    pub name: &'a str,
    /// The commit that the comment tells of; `None` for a working tree that differs from its commit.
    pub head: Option<&'a str>,
}

impl Marker<'_> {
    /// Writes it, with the end of the line.
    ///
    /// Bitbucket shows HTML comments as text, but not the definition of a link.
    pub fn line(&self, flavor: Flavor) -> String {
        let (open, close) =
            if flavor == Flavor::Bitbucket { ("[//]: # (", ")\n\n") } else { ("<!-- ", " -->\n") };
        format!("{open}{} {}{close}", self.begins(), self.head.unwrap_or("working-tree"))
    }

    /// Returns whether a comment begins with a marker of this name, of whatever commit.
    pub fn is_on(&self, comment: &str) -> bool {
        let rest = comment.strip_prefix("<!-- ").and_then(|rest| rest.strip_prefix(&self.begins()));
        rest.is_some_and(|rest| rest.starts_with(' '))
    }

    fn begins(&self) -> String {
        format!("gitops-windows pr {}", self.name)
    }
}

/// Reads the name of a comment.
///
/// # Errors
///
/// Where it is not 1 to 50 letters, digits, `.`, `_` or `-`: it stands inside an HTML comment.
pub fn name(text: &str) -> Result<String, String> {
    let is_plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    if is_plain && (1..=50).contains(&text.len()) && !text.contains("--") {
        Ok(text.to_owned())
    } else {
        Err("write 1 to 50 letters, digits, dots, underscores or single dashes".to_owned())
    }
}
