//! Prepares a Flux Kustomization for the loss of its objects: step 1 of a migration.
//!
//! `prune: true` deletes what leaves the inventory, and deleting a Kustomization deletes all of it.
//! So before objects move, the old one gets `prune: false` and `deletionPolicy: Orphan`
//! (kustomize-controller, `finalize` and `prune`).

mod lines;
mod refused;

use serde_json::Value;

use crate::delivery::inventory::deletes_anyway;
use crate::plan::edit::Builder;
use crate::plan::problem::Problem;
use crate::repo::flux::{API_VERSION, flux_kustomizations};
use crate::repo::{File, FluxKustomization, Snapshot};
use crate::yaml::{EditError, Editor, Key, Node, NodeKind, ScalarText, read_documents};

pub use refused::{refused, without_policy};

/// Begins the remark that remembers a value for `join`.
pub const MEMORY: &str = "# gitops-windows: was ";

/// Fields that `v1beta2` had and `v1` has not; with one of them the version can't simply be raised.
const GONE_WITH_V1: [&str; 3] = ["validation", "patchesStrategicMerge", "patchesJson6902"];

/// Prepares one Kustomization in the builder; nothing changes where it is prepared already.
///
/// # Errors
///
/// When the manifest can't be edited in place, uses fields that went with `v1`, or has a value that the
/// API server refuses.
pub fn prepare(builder: &mut Builder<'_>, kustomization: &FluxKustomization) -> Result<(), Problem> {
    if !kustomization.is_document {
        return Err(Problem::listed(kustomization));
    }
    // The remark would remember it, and the last step bring it back.
    if let Some(stop) = refused(kustomization) {
        return Err(stop);
    }
    let path = &kustomization.file;
    let file = builder.now().file(path).cloned();
    let text = file.as_ref().and_then(File::text);
    let text = text.ok_or_else(|| Problem::file(format!("{path} is no text any more"), path))?;
    let mut values = wanted(kustomization, kustomization.takes("deletionPolicy"))?;
    // Another cluster's reading of the same document may have brought it about in this run.
    let documents = read_documents(text).unwrap_or_default();
    if let Some(now) = documents.get(kustomization.document) {
        values.retain(|(path, value)| !written(&now.root, path).is_some_and(|node| is_it(node, value)));
    }
    let edited = edited(text, kustomization.document, &values);
    builder.put(path, &edited.map_err(|error| Problem::edit(path, text, &error))?);
    Ok(())
}

/// Returns whether a value is written already.
fn is_it(node: &Node, value: &ScalarText) -> bool {
    match value {
        ScalarText::Bool(value) => node.to_json() == *value,
        ScalarText::String(value) => node.to_json() == value.as_str(),
        ScalarText::Int(_) => false,
    }
}

/// A field of the object with the value that it gets.
pub type Wanted = (&'static [&'static str], ScalarText);

/// Returns the version of the API that has `deletionPolicy`, where a Flux Kustomization is of an older one: that would refuse
/// or drop it.
///
/// # Errors
///
/// When it has a field that went with that version.
pub fn newer_version(kustomization: &FluxKustomization) -> Result<Option<Wanted>, Problem> {
    if kustomization.value["apiVersion"] == API_VERSION {
        return Ok(None);
    }
    match GONE_WITH_V1.iter().find(|field| !kustomization.said(field).is_null()) {
        Some(field) => Err(Problem::lasting(
            format!("{} has `spec.{field}`, which {API_VERSION} does not know", kustomization.name),
            "remove that field\nwait until the cluster has applied that\nrun the same command again",
            kustomization.place(field),
        )),
        None => Ok(Some((&["apiVersion"], API_VERSION.into()))),
    }
}

/// Lists what must change.
///
/// Before Flux 2.5 there is no policy, and `prune: false` alone keeps all objects, also of what goes (kustomize-controller
/// v1.4, `finalize`).
fn wanted(kustomization: &FluxKustomization, has_policy: bool) -> Result<Vec<Wanted>, Problem> {
    let mut values: Vec<Wanted> = Vec::new();
    values.extend(newer_version(kustomization)?);
    if kustomization.said("prune") != &Value::Bool(false) {
        values.push((&["spec", "prune"], ScalarText::Bool(false)));
    }
    if has_policy && kustomization.said("deletionPolicy") != "Orphan" {
        values.push((&["spec", "deletionPolicy"], "Orphan".into()));
    }
    Ok(values)
}

/// Sets the values and remembers what they were: behind each, or above their lines where that is
/// no place for a comment, or where aliases of other lines had to be written out.
fn edited(text: &str, document: usize, values: &[Wanted]) -> Result<String, EditError> {
    let mut editor = Editor::new(text, document)?.resolving();
    let mut remembering = Some(text.to_owned());
    for (path, value) in values {
        editor.set_scalar(&keys(path), value.clone())?;
        remembering = remembering.and_then(|text| marked(&text, document, path, value.clone()));
    }
    match remembering.filter(|marked| without_remarks(marked) == without_remarks(text)) {
        Some(text) => Ok(text),
        None => lines::remember(text, editor.text(), document).ok_or_else(|| {
            EditError::new("its old values can't be remembered in a comment; write `spec` in block style")
        }),
    }
}

/// Returns a Kustomization back what [`prepare`] took; nothing changes where nothing is remembered.
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
    let back = format!("{}{}{}", &text[..range.start], restored(&text[range.clone()]), &text[range.end..]);
    if back != text && read_documents(&back).is_err() {
        return Err("its remembered values don't fit any more".into());
    }
    if lines::recall(&text[range]).is_some() && !is_prepared_as(&back, &text, kustomization) {
        return Err(format!("{} was edited where its old values are remembered", kustomization.file));
    }
    builder.put(&kustomization.file, &back);
    Ok(())
}

/// Returns whether preparing a text again gives the other.
fn is_prepared_as(restored: &str, text: &str, kustomization: &FluxKustomization) -> bool {
    let mut snapshot = Snapshot::default();
    snapshot.insert(kustomization.file.clone(), File::new(restored.as_bytes()));
    let (found, _) = flux_kustomizations(&snapshot);
    let again = found.iter().find(|found| found.document == kustomization.document);
    // The cluster may have got another Flux since.
    again.is_some_and(|found| {
        [true, false].into_iter().any(|has_policy| {
            let again = wanted(found, has_policy).ok();
            let again = again.and_then(|values| edited(restored, found.document, &values).ok());
            again.as_deref() == Some(text)
        })
    })
}

/// Returns the lines of a text without the remarks, as they were.
fn without_remarks(text: &str) -> String {
    let mut restored = String::new();
    for line in text.split_inclusive('\n') {
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
    restored
}

/// Returns whether a Kustomization keeps its objects when it loses them or goes.
pub fn is_prepared(kustomization: &FluxKustomization) -> bool {
    is_orphaning(kustomization)
        || !kustomization.takes("deletionPolicy") && *kustomization.said("prune") == Value::Bool(false)
}

/// Returns whether a Kustomization keeps its objects by its policy: what is only to prune later has none.
pub fn is_orphaning(kustomization: &FluxKustomization) -> bool {
    *kustomization.said("prune") == Value::Bool(false) && kustomization.said("deletionPolicy") == "Orphan"
}

/// Returns whether a Kustomization remembers what it was before, so that its migration is not finished.
pub fn is_remembering(kustomization: &FluxKustomization) -> bool {
    let documents = read_documents(&kustomization.text).unwrap_or_default();
    let whole = documents.get(kustomization.document).map(|document| document.whole.clone());
    let text = whole.and_then(|whole| kustomization.text.get(whole)).unwrap_or_default();
    restored(text) != text
}

/// Returns the text of one document with everything that it remembers back in its place.
pub fn restored(document: &str) -> String {
    lines::recall(document).unwrap_or_else(|| without_remarks(document))
}

/// Returns a restored document the version of the API that goes on; nothing remembers the old one.
///
/// # Errors
///
/// As [`prepare`]; the error points into the document.
pub fn raised(document: &str, value: &Value) -> Result<String, EditError> {
    if value["apiVersion"] == API_VERSION {
        return Ok(document.to_owned());
    }
    if let Some(field) = GONE_WITH_V1.iter().find(|field| !value["spec"][**field].is_null()) {
        return Err(EditError::new(format!("it has `spec.{field}`, which {API_VERSION} does not know")));
    }
    let mut editor = Editor::new(document, 0)?.resolving();
    editor.set_scalar(&keys(&["apiVersion"]), API_VERSION)?;
    Ok(editor.into_text())
}

/// Returns a document `prune: false`, and `deletionPolicy: MirrorPrune` where it has one that deletes all the
/// same, and remembers what they were. `Orphan` is what [`prepare`] writes, and means another step.
///
/// # Errors
///
/// As [`prepare`]; the error points into the document.
pub fn keeping(document: &str, value: &Value) -> Result<String, EditError> {
    let mut values: Vec<Wanted> = Vec::new();
    if value["spec"]["prune"] != Value::Bool(false) {
        values.push((&["spec", "prune"], ScalarText::Bool(false)));
    }
    if value["spec"]["deletionPolicy"].as_str().is_some_and(deletes_anyway) {
        values.push((&["spec", "deletionPolicy"], "MirrorPrune".into()));
    }
    if values.is_empty() { Ok(document.to_owned()) } else { edited(document, 0, &values) }
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

/// Sets a value with a remark that says what it was; `None` where that can't stand behind it.
fn marked(text: &str, document: usize, path: &[&str], value: ScalarText) -> Option<String> {
    let mut editor = Editor::new(text, document).ok()?.resolving();
    let before = written(editor.root(), path);
    let was = before.map_or("unset", |node| &text[node.start..node.span.end]).to_owned();
    let is_scalar =
        before.is_none_or(|node| matches!(node.kind, NodeKind::Scalar { .. } | NodeKind::Alias { .. }));
    editor.set_scalar(&keys(path), value).ok()?;
    remark(editor.text(), document, path, &was).filter(|_| is_scalar && !was.contains('\n'))
}

/// Returns what is written at a path, not what an alias or a merge key on the way brings in.
fn written<'n>(root: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(root, |node, key| match &node.kind {
        NodeKind::Mapping(entries) => {
            entries.iter().rev().find(|(name, _)| name.scalar_text() == Some(key)).map(|(_, value)| value)
        }
        _ => None,
    })
}

fn keys(path: &[&str]) -> Vec<Key> {
    path.iter().map(|name| Key::from(*name)).collect()
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
    use crate::path::RepoPath;

    fn prepared(text: &str) -> Result<String, Problem> {
        let path = RepoPath::parse("flux/apps.yaml").unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(path.clone(), File::new(text.as_bytes()));
        let (found, _) = flux_kustomizations(&snapshot);
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
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: &app apps}\nspec:\n  prune: &on true # tidy\n  path: ./apps\n  sourceRef: {name: s}\n  commonMetadata: {labels: {app: *app}}",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  wait: &on true\n  prune: *on # tidy\n  path: ./apps\n  sourceRef: {name: s}\n",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\r\nkind: Kustomization\r\nmetadata: {name: apps}\r\nspec:\r\n  prune: &on true\r\n  path: ./apps\r\n  wait: *on\r\n  sourceRef: {name: s}\r\n---\r\na: &on 1\r\nb: *on\r\n",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nx-tidy: &tidy\n  prune: true\nspec:\n  <<: *tidy\n  path: ./apps\n  sourceRef: {name: s}\n",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nx-spec: &spec {prune: true, path: ./apps, sourceRef: {name: s}}\nspec: *spec\n",
        ] {
            let path = RepoPath::parse("flux/apps.yaml").unwrap();
            let mut snapshot = Snapshot::default();
            snapshot.insert(path.clone(), File::new(prepared(text).unwrap().as_bytes()));
            let (found, _) = flux_kustomizations(&snapshot);
            let mut builder = Builder::new(&snapshot);
            unprepare(&mut builder, &found[0]).unwrap();
            assert_eq!(builder.now().file(&path).unwrap().text().unwrap(), text);
        }
    }

    #[test]
    fn what_depends_on_a_value_is_written_out_and_remembered() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: &app apps}\nspec:\n  prune: &on true\n  wait: *on\n  path: ./apps\n  sourceRef: {name: s}\n  deletionPolicy: Orphan\n  commonMetadata: {labels: {app: *app}}\n";
        assert_eq!(
            prepared(text).unwrap(),
            text.replace(
                "  prune: &on true\n  wait: *on\n",
                "# gitops-windows: lines 2, which were:\n#|   prune: &on true\n#|   wait: *on\n  prune: false\n  wait: true\n"
            )
        );
    }

    #[test]
    fn an_item_of_a_list_is_named() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n- apiVersion: kustomize.toolkit.fluxcd.io/v1\n  kind: Kustomization\n  metadata: {name: apps}\n  spec: {path: ./apps, sourceRef: {name: s}}\n";
        let stop = prepared(text).unwrap_err();
        assert!(stop.reason.contains("stands inside a list"), "{}", stop.reason);
        let place = stop.place.unwrap();
        assert_eq!(crate::diagnostic::line_column(text, place.span.unwrap().start).0, 6);
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
        let (found, _) = flux_kustomizations(&snapshot);
        let reason = unprepare(&mut Builder::new(&snapshot), &found[0]).unwrap_err();
        assert!(reason.contains("was edited"), "{reason}");
    }

    #[test]
    fn fields_that_went_are_a_refusal() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  sourceRef: {name: s}\n  path: ./apps\n  validation: client\n";
        let stop = prepared(text).unwrap_err();
        assert!(stop.reason.contains("spec.validation"));
        assert_eq!(&text[stop.place.unwrap().span.unwrap()], "client");
    }
}
