//! Bases in other repositories, as kustomize reads their addresses.

use crate::path::RepoPath;

/// A folder of another git repository, taken apart as kustomize does (`api/internal/git/repospec.go`,
/// `NewRepoSpecFromURL`).
///
/// ```
/// use gitops_windows::repo::RemoteBase;
///
/// let base = RemoteBase::parse("https://github.com/acme/bases//web?ref=v1.2.0").unwrap();
/// assert_eq!(base.url, "https://github.com/acme/bases");
/// assert_eq!(base.folder.as_str(), "web");
/// assert_eq!(base.reference.as_deref(), Some("v1.2.0"));
/// assert_eq!(base.name, "github.com/acme/bases");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteBase {
    /// What git clones.
    pub url: String,
    /// The folder in it that is built.
    pub folder: RepoPath,
    /// The branch, tag or commit; `None` for the repository's own default branch.
    pub reference: Option<String>,
    /// Host and path, of letters, digits and `.-_/` only: a folder of that name is the repository's own.
    pub name: String,
}

/// The schemes that kustomize knows.
const SCHEMES: [&str; 4] = ["ssh://", "https://", "http://", "file://"];

impl RemoteBase {
    /// Takes an address apart; `None` where kustomize does not take it for a git repository.
    pub fn parse(text: &str) -> Option<RemoteBase> {
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let address = strip_ignoring_case(address, "git::").unwrap_or(address);
        let scheme = SCHEMES.into_iter().find(|scheme| strip_ignoring_case(address, scheme).is_some());
        let rest = &address[scheme.map_or(0, str::len)..];
        if scheme == Some("file://") {
            let (repository, folder) = marked(rest).unwrap_or((rest, ""));
            return RemoteBase::new(format!("file://{repository}"), repository, folder, query);
        }
        let (user, rest) = user(rest);
        let lower = rest.to_ascii_lowercase();
        let is_github = lower.starts_with("github.com/") || lower.starts_with("github.com:");
        let is_short = scheme.is_none() && (!user.is_empty() || is_github);
        if scheme.is_none() && !is_short {
            return None;
        }
        let slash = rest.find('/');
        let colon =
            rest.find(':').filter(|colon| is_short && *colon > 0 && slash.is_none_or(|slash| *colon < slash));
        let (host, path) = rest.split_at(colon.or(slash)? + 1);
        let (repository, folder) = marked(path).or_else(|| first_two(path))?;
        let begin = match (is_github, scheme) {
            (true, Some("ssh://")) => format!("{user}github.com:"),
            (true, _) if !user.is_empty() => format!("{user}github.com:"),
            (true, _) => "https://github.com/".to_owned(),
            (false, scheme) => format!("{}{user}{host}", scheme.unwrap_or_default()),
        };
        RemoteBase::new(
            format!("{begin}{repository}"),
            &format!("{}/{repository}", &host[..host.len() - 1]),
            folder,
            query,
        )
    }

    fn new(url: String, name: &str, folder: &str, query: &str) -> Option<RemoteBase> {
        let name = name.trim_end_matches(".git").trim_matches('/');
        let folder = RepoPath::parse(folder.trim_matches('/')).ok()?;
        let name = name.split('/').map(segment).collect::<Vec<_>>().join("/");
        let reference = reference(query);
        // git would take such a text for one of its options; what is escaped is no usual name.
        let is_odd = |text: &String| text.starts_with('-') || text.contains(['%', '+']);
        let is_right = !name.is_empty() && !url.starts_with('-') && !reference.as_ref().is_some_and(is_odd);
        is_right.then_some(RemoteBase { url, folder, reference, name })
    }
}

/// Returns a part of an address as the name of a folder.
pub fn segment(text: &str) -> String {
    let fits = |one: char| one.is_ascii_alphanumeric() || matches!(one, '.' | '-' | '_');
    let name: String = text.chars().map(|one| if fits(one) { one } else { '_' }).collect();
    if name.chars().all(|one| one == '.') { "_".repeat(name.len().max(1)) } else { name }
}

fn strip_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let begin = text.get(..prefix.len())?;
    begin.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Splits off `name@`.
fn user(text: &str) -> (&str, &str) {
    let Some(at) = text.find('@') else { return ("", text) };
    let name = &text[..at];
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '-');
    if is_name { text.split_at(at + 1) } else { ("", text) }
}

/// Splits at what says where the repository ends: `_git/NAME`, `//`, `.git`.
fn marked(path: &str) -> Option<(&str, &str)> {
    if let Some(at) = path.find("_git/") {
        let begin = at + "_git/".len();
        let end = path[begin..].find('/').map_or(path.len(), |slash| begin + slash);
        return Some((&path[..end], path[end..].trim_start_matches('/')));
    }
    if let Some(parts) = path.split_once("//") {
        return Some(parts);
    }
    path.find(".git").map(|at| path.split_at(at + ".git".len()))
}

/// Splits after an organization and a repository, as GitHub has them.
fn first_two(path: &str) -> Option<(&str, &str)> {
    let first = path.find('/')?;
    let end = path[first + 1..].find('/').map_or(path.len(), |second| first + 1 + second);
    Some((&path[..end], path[end..].trim_start_matches('/')))
}

/// Returns `ref` of a query, or else `version`.
fn reference(query: &str) -> Option<String> {
    let value = |key: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, value)| *name == key && !value.is_empty()).map(|(_, value)| value.to_owned())
    };
    value("ref").or_else(|| value("version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_as_kustomize_does() {
        let shown = |text: &str| {
            RemoteBase::parse(text).map_or("none".to_owned(), |base| {
                format!(
                    "{} | {} | {} | {}",
                    base.url,
                    base.folder,
                    base.reference.unwrap_or_default(),
                    base.name
                )
            })
        };
        // As `kustomize/api/internal/git/repospec_test.go` has them.
        let told = [
            "https://github.com/acme/bases//web?ref=v1",
            "https://github.com/acme/bases/web/deep?ref=v1&timeout=90s",
            "github.com/acme/bases?ref=v1",
            "git@github.com:acme/bases.git//web",
            "ssh://git@github.com/acme/bases.git?ref=main",
            "git::https://gitlab.com/acme/bases.git/web?version=v2",
            "https://git.example.com/a/b/c//web",
            "https://dev.azure.com/org/project/_git/bases/web",
            "git@git.example.com:acme/bases//web",
            "file:///srv/bases//web?ref=main",
            "file:///srv/bases",
            "https://github.com/acme/bases//../web",
            "https://github.com/acme",
            "../web",
            "https://example.com/a/b?ref=--upload-pack=x",
            "https://example.com/../..//x",
        ];
        let all: Vec<String> = told.into_iter().map(|text| format!("{text}\n  {}", shown(text))).collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
