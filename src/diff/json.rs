//! The plan for programs.

use crate::change::Changes;
use crate::diff::file::{FileChange, file_changes};
use crate::diff::unified::shown;
use crate::repo::File;
use crate::text::json_schema::{list, object, object_with, one_of, text};
use crate::text::sha256;

/// Returns the plan as JSON.
///
/// ```json
/// {
///   "version": 1,
///   "changes": [
///     {
///       "path": "apps/nginx/nginx-rt/configmap.yaml",
///       "kind": "move",
///       "from": "apps/nginx/configmap.yaml",
///       "before": { "sha256": "…", "mode": "100644" },
///       "after": { "sha256": "…", "mode": "100644" },
///       "diff": "diff --git …"
///     }
///   ]
/// }
/// ```
///
/// `kind` is `create`, `edit`, `move` or `remove`; `from` is there for a move only, which may be edited on the way:
/// `before` and `after` tell. `before` is
/// missing for a created file, `after` for a removed one. `mode` is git's. `diff` is the text that
/// [`unified`](crate::diff::unified()) shows, for reading: it is no patch. Entries stand in the order
/// of `path`. Fields may be added under the same version; none changes its meaning.
pub fn json(plan: &Changes) -> serde_json::Value {
    let changes: Vec<_> = file_changes(plan).iter().map(entry).collect();
    serde_json::json!({ "version": 1, "changes": changes })
}

/// Returns the JSON Schema of [`json()`].
pub fn schema() -> serde_json::Value {
    let side = || object(vec![("sha256", text()), ("mode", one_of(&["100644", "100755"]))]);
    let change = object_with(
        vec![("path", text()), ("kind", one_of(&["create", "edit", "move", "remove"])), ("diff", text())],
        vec![("from", text()), ("before", side()), ("after", side())],
    );
    object(vec![("version", serde_json::json!({ "const": 1 })), ("changes", list(change))])
}

fn entry(change: &FileChange<'_>) -> serde_json::Value {
    let side = |file: &File| {
        let mode = if file.executable { "100755" } else { "100644" };
        serde_json::json!({ "sha256": sha256(file.bytes()), "mode": mode })
    };
    let diff: String = shown(change).into_iter().map(|(_, line)| line + "\n").collect();
    let mut entry = serde_json::Map::new();
    entry.insert("path".to_owned(), change.path.as_str().into());
    entry.insert("kind".to_owned(), change.kind().as_str().into());
    if let Some(from) = change.from {
        entry.insert("from".to_owned(), from.as_str().into());
    }
    if let Some(before) = change.before {
        entry.insert("before".to_owned(), side(before));
    }
    if let Some(after) = change.after {
        entry.insert("after".to_owned(), side(after));
    }
    entry.insert("diff".to_owned(), diff.into());
    serde_json::Value::Object(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::path::RepoPath;

    #[test]
    fn has_the_documented_shape() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let file = |bytes: &[u8], executable| Some(File::new(bytes).with_mode(executable));
        let change = |before, after, from: Option<&str>| Change { before, after, moved_from: from.map(path) };
        let plan = [
            (path("a"), change(file(b"x", false), None, None)),
            (path("b"), change(None, file(b"x", true), Some("a"))),
            (path("c"), change(None, file(b"", false), None)),
        ]
        .into_iter()
        .collect();
        let x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let expected = serde_json::json!({ "version": 1, "changes": [
            { "path": "b", "kind": "move", "from": "a",
              "before": { "sha256": x, "mode": "100644" }, "after": { "sha256": x, "mode": "100755" },
              "diff": "diff --git a/a b/b\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from a\nrename to b\n" },
            { "path": "c", "kind": "create", "after": { "sha256": empty, "mode": "100644" },
              "diff": "diff --git a/c b/c\nnew file mode 100644\n" },
        ]});
        assert_eq!(json(&plan), expected);
    }
}
