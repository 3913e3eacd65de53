//! The same edits on a plain value: what a verified edit must read as.

use serde_json::{Map, Value};

use super::{EditError, Key, show};

fn missing(path: &[Key]) -> EditError {
    EditError::new(format!("there is nothing at {}", show(path)))
}

/// Returns the value at a path.
pub(super) fn get_at<'v>(value: &'v Value, path: &[Key]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| match key {
        Key::Name(name) => value.get(name),
        Key::Index(index) => value.get(index),
    })
}

/// Returns the place of a path, making mappings of what is missing or null on the way.
fn make_at<'v>(value: &'v mut Value, path: &[Key]) -> Result<&'v mut Value, EditError> {
    let mut value = value;
    for key in path {
        value = match key {
            Key::Index(index) => value.get_mut(index).ok_or_else(|| missing(path))?,
            Key::Name(name) => {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
                let Value::Object(map) = value else { return Err(missing(path)) };
                map.entry(name.clone()).or_insert(Value::Null)
            }
        };
    }
    Ok(value)
}

/// Sets the value at a path.
pub(super) fn set_at(value: &mut Value, path: &[Key], new: Value) -> Result<(), EditError> {
    *make_at(value, path)? = new;
    Ok(())
}

/// Adds an item to the list at a path.
pub(super) fn push_at(value: &mut Value, path: &[Key], new: Value) -> Result<(), EditError> {
    let list = make_at(value, path)?;
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    let Value::Array(items) = list else {
        return Err(EditError::new(format!("{} is no list", show(path))));
    };
    items.push(new);
    Ok(())
}

/// Takes the value at a path away.
pub(super) fn remove_at(value: &mut Value, path: &[Key]) -> Result<Value, EditError> {
    let Some((last, parents)) = path.split_last() else { return Err(missing(path)) };
    if get_at(value, path).is_none() {
        return Err(missing(path));
    }
    match (make_at(value, parents)?, last) {
        (Value::Object(map), Key::Name(name)) => map.remove(name).ok_or_else(|| missing(path)),
        (Value::Array(items), Key::Index(index)) => Ok(items.remove(*index)),
        _ => Err(missing(path)),
    }
}
