//! Prepares a Flux Kustomization for the loss of its objects: step 1 of a migration.
//!
//! `prune: true` deletes what leaves the inventory, and deleting a Kustomization deletes all of it.
//! So before objects move, the old one gets `prune: false` and `deletionPolicy: Orphan`
//! (kustomize-controller, `finalize` and `prune`).

mod lines;

use serde_json::Value;

use crate::plan::Builder;
use crate::repo::flux::{API_VERSION, flux_kustomizations};
use crate::repo::{File, FluxKustomization, RepoPath, Snapshot};
use crate::yaml::{Editor, Key, NodeKind, ScalarText, read_documents};

/// Begins the remark that remembers a value for `join`.
pub const MEMORY: &str = "# gitops-windows: was ";

/// Fields that `v1beta2` had and `v1` has not; with one of them the version can't simply be raised.
const GONE_WITH_V1: [&str; 3] = ["validation", "patchesStrategicMerge", "patchesJson6902"];

/// Prepares one Kustomization in the builder; nothing changes where it is prepared already.
///
/// # Errors
///
/// When the manifest can't be edited in place or uses fields that went with `v1`, with the reason.
pub fn prepare(builder: &mut Builder<'_>, kustomization: &FluxKustomization) -> Result<(), String> {
    if !kustomization.is_document {
        return Err(format!("{} stands inside a list in {}", kustomization.name, kustomization.file));
    }
    let file = builder.now().file(&kustomization.file).cloned().ok_or("its file vanished")?;
    let text = file.text().ok_or("its file is not UTF-8")?;
    let values = wanted(kustomization)?;
    builder.put(&kustomization.file, &edited(text, kustomization.document, &values)?);
    Ok(())
}

/// A field of the object with the value that it gets.
type Wanted = (&'static [&'static str], ScalarText);

/// Lists what must change.
fn wanted(kustomization: &FluxKustomization) -> Result<Vec<Wanted>, String> {
    let mut values: Vec<Wanted> = Vec::new();
    if kustomization.value["apiVersion"] != API_VERSION {
        // `deletionPolicy` came with v1; older versions of the object would refuse or drop it.
        if let Some(field) = GONE_WITH_V1.iter().find(|field| !kustomization.spec(field).is_null()) {
            return Err(format!("it has `spec.{field}`, which {API_VERSION} does not know"));
        }
        values.push((&["apiVersion"], API_VERSION.into()));
    }
    if kustomization.spec("prune") != &Value::Bool(false) {
        values.push((&["spec", "prune"], ScalarText::Bool(false)));
    }
    if kustomization.spec("deletionPolicy") != "Orphan" {
        values.push((&["spec", "deletionPolicy"], "Orphan".into()));
    }
    Ok(values)
}

/// Sets the values and remembers what they were: behind each, or above their lines where that is
/// no place for a comment.
fn edited(text: &str, document: usize, values: &[Wanted]) -> Result<String, String> {
    let mut remembering = Some(text.to_owned());
    let mut plain = text.to_owned();
    for (path, value) in values {
        remembering = match remembering {
            Some(text) => set(&text, document, path, value.clone())?.1,
            None => None,
        };
        plain = set(&plain, document, path, value.clone())?.0;
    }
    match remembering {
        Some(text) => Ok(text),
        None => lines::remember(text, &plain, document).ok_or_else(|| {
            "its old values can't be remembered in a comment; write `spec` in block style".into()
        }),
    }
}

/// Gives a Kustomization back what [`prepare`] took; nothing changes where nothing is remembered.
///
/// # Errors
///
/// When the result would not be prepared as the file is now: somebody edited the values since.
pub fn unprepare(builder: &mut Builder<'_>, kustomization: &FluxKustomization) -> Result<(), String> {
    let file = builder.now().file(&kustomization.file).cloned().ok_or("its file vanished")?;
    let text = file.text().ok_or("its file is not UTF-8")?.to_owned();
    let documents = read_documents(&text).map_err(|error| error.message)?;
    let range =
        documents.get(kustomization.document).map(|document| document.whole.clone()).unwrap_or_default();
    let mut restored = text[..range.start].to_owned();
    match lines::recall(&text[range.clone()]) {
        Some(document) => restored.push_str(&document),
        None => unremark(&text[range.clone()], &mut restored),
    }
    restored.push_str(&text[range.end..]);
    if restored != text && read_documents(&restored).is_err() {
        return Err("its remembered values don't fit any more".into());
    }
    if lines::recall(&text[range]).is_some() && !is_prepared_as(&restored, &text, kustomization) {
        return Err(format!("{} was edited where its old values are remembered", kustomization.file));
    }
    builder.put(&kustomization.file, &restored);
    Ok(())
}

/// Tells whether preparing a text again gives the other.
fn is_prepared_as(restored: &str, text: &str, kustomization: &FluxKustomization) -> bool {
    let mut snapshot = Snapshot::default();
    snapshot.insert(kustomization.file.clone(), File::new(restored.as_bytes()));
    let (found, _) = flux_kustomizations(&snapshot, &RepoPath::top());
    let again = found.iter().find(|found| found.document == kustomization.document);
    let again = again.and_then(|found| edited(restored, found.document, &wanted(found).ok()?).ok());
    again.as_deref() == Some(text)
}

/// Gives the lines of a document without the remarks, as they were.
fn unremark(document: &str, restored: &mut String) {
    for line in document.split_inclusive('\n') {
        match remembered(line) {
            Some(Some(line)) => restored.push_str(&line),
            Some(None) if !line.ends_with('\n') => {
                // The line was added at the end of a text without a line break.
                restored.truncate(restored.trim_end_matches(['\r', '\n']).len());
            }
            Some(None) => {}
            None => restored.push_str(line),
        }
    }
}

/// Tells whether a Kustomization keeps its objects when it loses them or goes.
pub fn is_prepared(kustomization: &FluxKustomization) -> bool {
    *kustomization.spec("prune") == Value::Bool(false) && kustomization.spec("deletionPolicy") == "Orphan"
}

/// Tells whether a Kustomization remembers what it was before, so that its migration is not finished.
pub fn is_remembering(kustomization: &FluxKustomization) -> bool {
    let documents = read_documents(&kustomization.text).unwrap_or_default();
    let whole = documents.get(kustomization.document).map(|document| document.whole.clone());
    let text = whole.and_then(|whole| kustomization.text.get(whole)).unwrap_or_default();
    restored(text) != text
}

/// Gives the text of one document with everything that it remembers back in its place.
pub fn restored(document: &str) -> String {
    lines::recall(document).unwrap_or_else(|| {
        let mut restored = String::new();
        unremark(document, &mut restored);
        restored
    })
}

/// Gives a restored document the version of the API that goes on; nothing remembers the old one.
///
/// # Errors
///
/// As [`prepare`].
pub fn raised(document: &str, value: &Value) -> Result<String, String> {
    if value["apiVersion"] == API_VERSION {
        return Ok(document.to_owned());
    }
    if let Some(field) = GONE_WITH_V1.iter().find(|field| !value["spec"][**field].is_null()) {
        return Err(format!("it has `spec.{field}`, which {API_VERSION} does not know"));
    }
    Ok(set(document, 0, &["apiVersion"], API_VERSION.into())?.0)
}

/// Gives a document `prune: false`, and remembers what it was.
///
/// # Errors
///
/// As [`prepare`].
pub fn keeping(document: &str, value: &Value) -> Result<String, String> {
    if value["spec"]["prune"] == Value::Bool(false) {
        return Ok(document.to_owned());
    }
    edited(document, 0, &[(&["spec", "prune"], ScalarText::Bool(false))])
}

/// Reads a line with a remark: the line as it was, or nothing where it was not there.
fn remembered(line: &str) -> Option<Option<String>> {
    let (now, rest) = line.split_once(&format!(" {MEMORY}"))?;
    if rest.trim_end() == "unset" {
        return Some(None);
    }
    let (key, value) = now.split_once(':')?;
    let space = &value[..value.len() - value.trim_start().len()];
    // What followed the value on its line follows the remembered one.
    let (was, after) = match rest.find(" #") {
        Some(position) => rest.split_at(rest[..position].trim_end().len()),
        None => rest.split_at(rest.trim_end().len()),
    };
    Some(Some(format!("{key}:{space}{was}{after}")))
}

/// Sets a value: the text without a remark, and with one that says what the value was, where that
/// can stand behind it.
fn set(
    text: &str,
    document: usize,
    path: &[&str],
    value: ScalarText,
) -> Result<(String, Option<String>), String> {
    let keys: Vec<Key> = path.iter().map(|name| Key::from(*name)).collect();
    let mut editor = Editor::new(text, document).map_err(|error| error.message)?;
    let before = editor.root().get_path(path);
    let was = before.map_or("unset", |node| &text[node.span.clone()]).to_owned();
    let block = before.is_none_or(|node| matches!(node.kind, NodeKind::Scalar { .. }));
    editor.set_scalar(&keys, value).map_err(|error| error.message)?;
    let edited = editor.into_text();
    let remembered = remark(&edited, document, path, &was).filter(|_| block && !was.contains('\n'));
    Ok((edited, remembered))
}

/// Puts a remark behind a value; `None` where it would become part of something else.
fn remark(text: &str, document: usize, path: &[&str], was: &str) -> Option<String> {
    let before = read_documents(text).ok()?;
    let root = &before.get(document)?.root;
    let end = root.get_path(path)?.span.end;
    let mut remembered = text.to_owned();
    remembered.insert_str(end, &format!(" {MEMORY}{was}"));
    let after = read_documents(&remembered).ok()?;
    (after.len() == before.len() && after.get(document)?.root.to_json() == root.to_json())
        .then_some(remembered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(text: &str) -> Result<String, String> {
        let path = RepoPath::parse("flux/apps.yaml").unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(path.clone(), File::new(text.as_bytes()));
        let (found, _) = flux_kustomizations(&snapshot, &RepoPath::top());
        let mut builder = Builder::new(&snapshot);
        prepare(&mut builder, &found[0])?;
        Ok(builder.now().file(&path).unwrap().text().unwrap().to_owned())
    }

    #[test]
    fn values_are_changed_and_remembered() {
        let text = "# ours\napiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata:\n  name: apps\nspec:\n  prune: true # keep tidy\n  sourceRef: {name: s}\n  path: ./apps\n";
        assert_eq!(
            prepared(text).unwrap(),
            "# ours\napiVersion: kustomize.toolkit.fluxcd.io/v1 # gitops-windows: was kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata:\n  name: apps\nspec:\n  prune: false # gitops-windows: was true # keep tidy\n  sourceRef: {name: s}\n  path: ./apps\n  deletionPolicy: Orphan # gitops-windows: was unset\n"
        );
    }

    #[test]
    fn what_was_remembered_comes_back() {
        for text in [
            "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata:\n  name: apps\nspec:\n  prune: true # keep tidy\n  sourceRef: {name: s}\n  path: ./apps\n",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\r\nkind: Kustomization\r\nmetadata:\r\n  name: apps\r\nspec:\r\n  deletionPolicy:   Delete\r\n  sourceRef: {name: s}\n  path: ./apps",
            "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  sourceRef: {name: s}\n  path: ./apps\n---\nother: 1\n",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {prune: true, path: ./apps, sourceRef: {name: s}}\n",
            "# a\r\napiVersion: kustomize.toolkit.fluxcd.io/v1beta2\r\nkind: Kustomization\r\nspec: {path: ./apps,\r\n  prune: true, # tidy\r\n  sourceRef: {name: s}}\r\nmetadata: {name: apps}",
            "other: 1\n---\n{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps}, spec: {path: ./apps, sourceRef: {name: s}}}",
        ] {
            let path = RepoPath::parse("flux/apps.yaml").unwrap();
            let mut snapshot = Snapshot::default();
            snapshot.insert(path.clone(), File::new(prepared(text).unwrap().as_bytes()));
            let (found, _) = flux_kustomizations(&snapshot, &RepoPath::top());
            let mut builder = Builder::new(&snapshot);
            unprepare(&mut builder, &found[0]).unwrap();
            assert_eq!(builder.now().file(&path).unwrap().text().unwrap(), text);
        }
    }

    #[test]
    fn what_is_prepared_stays_as_it_is() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {prune: false, deletionPolicy: Orphan, path: ./apps, sourceRef: {name: s}}\n";
        assert_eq!(prepared(text).unwrap(), text);
    }

    #[test]
    fn lines_in_flow_style_are_remembered_above() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {prune: true, path: ./apps, sourceRef: {name: s}}\n";
        let after = prepared(text).unwrap();
        assert_eq!(
            after,
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\n# gitops-windows: lines 1, which were:\n#| spec: {prune: true, path: ./apps, sourceRef: {name: s}}\nspec: {prune: false, path: ./apps, sourceRef: {name: s}, deletionPolicy: Orphan}\n"
        );
    }

    #[test]
    fn an_edit_of_remembered_lines_is_not_lost() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {prune: true, path: ./apps, sourceRef: {name: s}}\n";
        let edited =
            prepared(text).unwrap().replace("spec: {prune: false", "spec: {prune: false, wait: true");
        let path = RepoPath::parse("flux/apps.yaml").unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(path, File::new(edited.as_bytes()));
        let (found, _) = flux_kustomizations(&snapshot, &RepoPath::top());
        let reason = unprepare(&mut Builder::new(&snapshot), &found[0]).unwrap_err();
        assert!(reason.contains("was edited"), "{reason}");
    }

    #[test]
    fn fields_that_went_are_a_refusal() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  sourceRef: {name: s}\n  path: ./apps\n  validation: client\n";
        assert!(prepared(text).unwrap_err().contains("spec.validation"));
    }
}
