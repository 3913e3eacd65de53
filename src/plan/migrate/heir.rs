//! The Flux Kustomization of a type, made from the one whose objects it takes over.

use std::ops::Range;

use serde_json::{Value, json};

use crate::delivery::inventory::deletes_anyway;
use crate::plan::edit::prepare::{keeping, raised, restored};
use crate::yaml::{EditError, Editor, Key, cut_documents, read_documents};

/// One item of `dependsOn` as it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The item of the old list whose other fields it keeps; `None` for a new one.
    pub from: Option<usize>,
    /// The Flux Kustomization that is waited for.
    pub name: String,
}

/// How a successor differs from the Flux Kustomization that it is made from. Everything else is
/// carried over, whatever the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heir {
    /// `metadata.name`.
    pub name: String,
    /// `spec.path`, spelt like the old one.
    pub path: String,
    /// `spec.components`, by which the deeper folder finds the same ones.
    pub components: Vec<String>,
    /// Whether it applies anything that is encrypted.
    pub decryption: bool,
    /// The items of `spec.healthChecks` whose object it applies.
    pub health_checks: Vec<usize>,
    /// The items of `spec.healthCheckExprs` that speak of a kind that it applies.
    pub health_check_exprs: Vec<usize>,
    /// `spec.dependsOn`.
    pub depends_on: Vec<Dependency>,
}

impl Heir {
    /// Writes the successor's document from that of the old one, byte for byte but for what differs
    /// and for aliases of that, which go on meaning what they did.
    ///
    /// It gets `prune: false` with a remark, by which the last step knows what it was, and so it gets
    /// `deletionPolicy: MirrorPrune` where its policy deletes whatever `prune` says: until the last step the
    /// hand-over can be taken back.
    ///
    /// # Errors
    ///
    /// When a place can't be edited without writing it anew, or the result would not read as meant. The
    /// error points into the file.
    pub fn write(&self, file: &str, document: usize) -> Result<String, EditError> {
        self.copy(file, document).map_err(|mut error| {
            // The copy does not have the lines of the file.
            error.span = self.obstacle(file, document);
            error
        })
    }

    fn copy(&self, file: &str, document: usize) -> Result<String, EditError> {
        let cut = cut_documents(file, &[document])?;
        let text = restored(cut.trim_start_matches('\u{feff}'));
        let text = raised(&text, &value(&text)?)?;
        let mut expected = value(&text)?;
        let mut editor = Editor::new(&text, 0)?.resolving();
        self.edit(&mut editor, &mut expected)?;
        let text = keeping(editor.text(), &expected)?;
        expected["spec"]["prune"] = json!(false);
        if expected["spec"]["deletionPolicy"].as_str().is_some_and(deletes_anyway) {
            expected["spec"]["deletionPolicy"] = json!("MirrorPrune");
        }
        if value(&text)? == expected {
            Ok(text)
        } else {
            Err(EditError::new("the copy would not read as meant"))
        }
    }

    /// Finds what would be in the way of the same edits in the file itself: that place, or the document.
    fn obstacle(&self, file: &str, document: usize) -> Option<Range<usize>> {
        let mut editor = Editor::new(file, document).ok()?.resolving();
        let whole = editor.root().span.clone();
        let mut expected = editor.root().to_json();
        self.edit(&mut editor, &mut expected).err().and_then(|error| error.span).or(Some(whole))
    }

    fn edit(&self, editor: &mut Editor, expected: &mut Value) -> Result<(), EditError> {
        editor.set_scalar(&keys(&["metadata", "name"]), self.name.as_str())?;
        expected["metadata"]["name"] = json!(self.name);
        editor.set_scalar(&keys(&["spec", "path"]), self.path.as_str())?;
        expected["spec"]["path"] = json!(self.path);
        for gone in ["suspend"].into_iter().chain((!self.decryption).then_some("decryption")) {
            remove(editor, expected, gone)?;
        }
        let components = self.components.iter().map(|component| component.as_str().into());
        editor.replace_items(&keys(&["spec", "components"]), &components.enumerate().collect::<Vec<_>>())?;
        for (index, component) in self.components.iter().enumerate() {
            expected["spec"]["components"][index] = json!(component);
        }
        keep_items(editor, expected, "healthChecks", &self.health_checks)?;
        keep_items(editor, expected, "healthCheckExprs", &self.health_check_exprs)?;
        depend_on(editor, expected, &self.depends_on)
    }
}

/// Rewrites the `dependsOn` of one document of a file.
///
/// # Errors
///
/// As [`Heir::write`].
pub fn rewrite_dependencies(file: &str, document: usize, wanted: &[Dependency]) -> Result<String, EditError> {
    let mut editor = Editor::new(file, document)?.resolving();
    let mut expected = editor.root().to_json();
    depend_on(&mut editor, &mut expected, wanted)?;
    if editor.root().to_json() == expected {
        Ok(editor.into_text())
    } else {
        Err(EditError::new("its `dependsOn` would not read as meant"))
    }
}

fn depend_on(editor: &mut Editor, expected: &mut Value, wanted: &[Dependency]) -> Result<(), EditError> {
    let path = keys(&["spec", "dependsOn"]);
    let old: Vec<Value> = expected["spec"]["dependsOn"].as_array().cloned().unwrap_or_default();
    let (mut used, mut list, mut added) = (vec![false; old.len()], vec![Value::Null; old.len()], Vec::new());
    for dependency in wanted {
        let mut item = dependency.from.and_then(|index| old.get(index)).cloned().unwrap_or_else(|| json!({}));
        let was = item["name"].clone();
        item["name"] = json!(dependency.name);
        match dependency.from {
            Some(index) if index < old.len() && !used[index] => {
                used[index] = true;
                if was != item["name"] {
                    let name = [&path[..], &[Key::from(index), Key::from("name")]].concat();
                    editor.set_scalar(&name, dependency.name.as_str())?;
                }
                list[index] = item;
            }
            _ => {
                // JSON is YAML; a plain name, which is what nearly every item is, looks better plain.
                let only_name = item.as_object().is_some_and(|item| item.len() == 1);
                let block = if only_name {
                    format!("name: {}", crate::yaml::quote(&dependency.name))
                } else {
                    crate::yaml::flow_text(&item)
                };
                editor.append_raw_item(&path, &block)?;
                added.push(item);
            }
        }
    }
    let unused: Vec<usize> = (0..old.len()).filter(|index| !used[*index]).collect();
    if !unused.is_empty() {
        if unused.len() == old.len() && added.is_empty() {
            return remove(editor, expected, "dependsOn");
        }
        editor.remove_items(&path, &unused)?;
    }
    let list: Vec<Value> =
        list.into_iter().zip(used).filter(|(_, used)| *used).map(|(item, _)| item).chain(added).collect();
    if !list.is_empty() || !old.is_empty() {
        expected["spec"]["dependsOn"] = json!(list);
    }
    Ok(())
}

fn keep_items(
    editor: &mut Editor,
    expected: &mut Value,
    field: &str,
    kept: &[usize],
) -> Result<(), EditError> {
    let count = expected["spec"].get(field).and_then(Value::as_array).map_or(0, Vec::len);
    let gone: Vec<usize> = (0..count).filter(|index| !kept.contains(index)).collect();
    if gone.is_empty() {
        return Ok(());
    }
    if gone.len() == count {
        return remove(editor, expected, field);
    }
    editor.remove_items(&keys(&["spec", field]), &gone)?;
    if let Some(list) = expected["spec"][field].as_array_mut() {
        let mut index = 0;
        list.retain(|_| {
            index += 1;
            kept.contains(&(index - 1))
        });
    }
    Ok(())
}

fn remove(editor: &mut Editor, expected: &mut Value, field: &str) -> Result<(), EditError> {
    if expected["spec"].get(field).is_none() {
        return Ok(());
    }
    editor.remove_key(&keys(&["spec", field]))?;
    if let Some(spec) = expected["spec"].as_object_mut() {
        spec.remove(field);
    }
    Ok(())
}

fn keys(names: &[&str]) -> Vec<Key> {
    names.iter().map(|name| Key::from(*name)).collect()
}

fn value(text: &str) -> Result<Value, EditError> {
    let documents = read_documents(text)?;
    let first = documents.first().map(|document| document.root.to_json());
    first.ok_or_else(|| EditError::new("the document vanished"))
}

#[cfg(test)]
mod tests;
