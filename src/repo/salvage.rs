//! What a kustomization file lists that can't be used, as far as its lines show it.

use crate::path::RepoPath;
use crate::repo::kustomization::{Target, target};

/// The fields on which a build builds.
const FIELDS: [&str; 3] = ["resources", "bases", "components"];

/// Returns the paths that the file of a folder lists, whatever keeps it from being read: marks of a merge conflict, a key that
/// stands twice, a line that is half written; none where its lines do not show all of them.
///
/// A cluster got what it has from a commit in which the file was whole.
pub(super) fn salvaged(folder: &RepoPath, text: &str) -> Vec<RepoPath> {
    let mut found = Vec::new();
    let mut is_listing = false;
    for line in text.lines() {
        let item = line.trim_start().strip_prefix("- ").map(str::trim);
        match item {
            Some(item) if is_listing => {
                let item = item.split(" #").next().unwrap_or_default().trim();
                let item = item.trim_matches(|character| matches!(character, '"' | '\''));
                if let Target::Path(path) = target(folder, item)
                    && !item.is_empty()
                    && !item.contains(": ")
                    && !found.contains(&path)
                {
                    found.push(path);
                }
            }
            Some(_) => {}
            None => {
                let pair = line.split_once(':');
                let pair = pair.filter(|(key, _)| key.starts_with(|first: char| first.is_ascii_alphabetic()));
                if let Some((key, value)) = pair {
                    is_listing = FIELDS.iter().any(|field| field.eq_ignore_ascii_case(key.trim()));
                    // What stands behind the key is no list of lines, so these do not show all.
                    if is_listing && !value.trim().is_empty() && !value.trim().starts_with('#') {
                        return Vec::new();
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_what_a_broken_file_lists() {
        let text = "\
kind: Kustomization
Resources:
- a.yaml # first
<<<<<<< HEAD
  - \"../b\"
=======
- https://example.org/c.yaml
- ../../../outside
>>>>>>> other
- a.yaml
# resources
images:
- name: nginx
components:
  - d
patches:
- path: e.yaml
- f.yaml
";
        let folder = RepoPath::parse("apps/x").unwrap();
        let found: Vec<String> = salvaged(&folder, text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["apps/x/a.yaml", "apps/b", "apps/x/d"]);
        assert!(salvaged(&folder, &format!("bases: [ g ]\n{text}")).is_empty());
    }
}
