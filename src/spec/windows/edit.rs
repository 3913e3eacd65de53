//! One edit of the windows in `windows.yaml`.

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::schedule::WindowKey;
use crate::spec::edited::edited;
use crate::spec::windows::complete::complete;
use crate::spec::windows::json::users;
use crate::spec::windows::parts::{at, below, replace};
use crate::spec::windows::{parts, unknown_cluster, unknown_type, unknown_window};
use crate::spec::{Parsed, Spec};
use crate::yaml::{EditError, Editor, Key};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Gives a named window these values; one that is not there is added.
    Define {
        /// The window.
        name: String,
        /// Its values; what is not named keeps its own.
        parts: Vec<(WindowKey, String)>,
    },
    /// Takes a named window away.
    Remove {
        /// The window.
        name: String,
    },
    /// Has somebody use these named windows, in this order.
    Use {
        /// Who uses them.
        owner: Owner,
        /// The windows, at least one.
        names: Vec<String>,
    },
    /// Gives a cluster a window of its own, written in place.
    Inline {
        /// The cluster.
        cluster: String,
        /// The type; `None` where only one is gated.
        change_type: Option<String>,
        /// Its values; what is not named keeps its own.
        parts: Vec<(WindowKey, String)>,
    },
    /// Gives a cluster the type's windows again.
    Reset {
        /// The cluster.
        cluster: String,
        /// The type; `None` where only one is gated.
        change_type: Option<String>,
    },
}

/// Who uses named windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A type, in every cluster that has none of its own.
    Type(String),
    /// One cluster.
    Cluster {
        /// The cluster.
        cluster: String,
        /// The type; `None` where only one is gated.
        change_type: Option<String>,
    },
}

/// Edits the spec's text and reads the result as any spec is read.
///
/// Bytes that the edit does not name stay: comments, order, quotes, indentation, line breaks.
///
/// # Errors
///
/// * [`ErrorKind::Usage`] when a name means nothing, or the result is no valid spec; the places are
///   those of the text as it would be.
/// * [`ErrorKind::Invalid`] when the text can't be edited in place.
///
/// ```
/// use gitops_windows::{path::RepoPath, schedule::WindowKey, spec, spec::windows::{Edit, edit}};
/// let text = "apiVersion: gitops-windows/v1\n\
///     types: { rt: {}, rw: { window: night } }\n\
///     windows:\n  night: { timeZone: UTC, open: 0 22 * * *, for: 4h } # quiet\n";
/// let spec = spec::parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
/// let parts = vec![(WindowKey::For, "6h".to_owned())];
/// let (after, _) = edit(&spec, text, &Edit::Define { name: "night".into(), parts }).unwrap();
/// assert_eq!(after, text.replace("4h", "6h"));
/// ```
pub fn edit(spec: &Spec, text: &str, edit: &Edit) -> Result<(String, Parsed), Error> {
    known(spec, edit)?;
    let change_type = match edit {
        Edit::Use { owner: Owner::Cluster { change_type, .. }, .. }
        | Edit::Inline { change_type, .. }
        | Edit::Reset { change_type, .. } => gated(spec, change_type.as_deref())?,
        _ => "",
    };
    match edit {
        Edit::Define { name, parts } => {
            complete(text, &window_path(name), parts, &format!("window `{name}`"))?;
        }
        Edit::Inline { cluster, parts, .. } => {
            let path = below(&overrides(cluster), change_type);
            complete(text, &path, parts, &format!("the window of cluster {cluster}"))?;
        }
        _ => {}
    }
    edited(spec, text, |editor| match edit {
        Edit::Define { name, parts } => parts::set(editor, &window_path(name), parts),
        Edit::Remove { name } => editor.remove_key(&window_path(name)),
        Edit::Use { owner: Owner::Type(name), names } => {
            let path = [Key::from("types"), Key::from(name.as_str()), Key::from("window")];
            set_names(editor, &path, names)
        }
        Edit::Use { owner: Owner::Cluster { cluster, .. }, names } => {
            set_names(editor, &below(&overrides(cluster), change_type), names)
        }
        Edit::Inline { cluster, parts, .. } => {
            parts::set(editor, &below(&overrides(cluster), change_type), parts)
        }
        Edit::Reset { cluster, .. } => reset(editor, &overrides(cluster), change_type),
    })
}

fn window_path(name: &str) -> [Key; 2] {
    [Key::from("windows"), Key::from(name)]
}

fn overrides(cluster: &str) -> [Key; 3] {
    [Key::from("clusters"), Key::from(cluster), Key::from("windows")]
}

/// Makes sure that what an edit speaks of is there.
fn known(spec: &Spec, edit: &Edit) -> Result<(), Error> {
    let cluster = match edit {
        Edit::Define { .. } => None,
        Edit::Remove { name } => {
            if !spec.windows.contains_key(name) {
                return Err(unknown_window(spec, name));
            }
            return used(spec, name);
        }
        Edit::Use { owner, names } => {
            if let Some(name) = names.iter().find(|name| !spec.windows.contains_key(*name)) {
                return Err(unknown_window(spec, name));
            }
            match owner {
                Owner::Type(name) if spec.change_type(name).is_none() => {
                    return Err(unknown_type(spec, name));
                }
                Owner::Type(_) => None,
                Owner::Cluster { cluster, .. } => Some(cluster),
            }
        }
        Edit::Inline { cluster, .. } | Edit::Reset { cluster, .. } => Some(cluster),
    };
    match cluster {
        Some(name) if !spec.clusters.contains_key(name) => Err(unknown_cluster(spec, name)),
        _ => Ok(()),
    }
}

/// Refuses to take away a window that somebody has.
fn used(spec: &Spec, name: &str) -> Result<(), Error> {
    let users: Vec<String> = users(spec, name)
        .iter()
        .map(|user| match user.cluster {
            None => format!("type {}", user.change_type),
            Some(cluster) => format!("type {} of cluster {cluster}", user.change_type),
        })
        .collect();
    let Some(definition) = spec.windows.get(name).filter(|_| !users.is_empty()) else { return Ok(()) };
    Err(Error::new(
        ErrorKind::Usage,
        Diagnostic::error(format!("window `{name}` is used by {}", users.join(", ")))
            .at(definition.place.clone())
            .help("give them other windows first, with `gitops-windows windows set --type … --use …`, or `windows remove --cluster …`"),
    ))
}

/// Returns the type that is meant: the one that is named, or the only gated one.
///
/// # Errors
///
/// When there is no such type, or none is named where several are gated.
pub fn gated<'a>(spec: &'a Spec, named: Option<&'a str>) -> Result<&'a str, Error> {
    if let Some(name) = named {
        return spec.change_type(name).map(|_| name).ok_or_else(|| unknown_type(spec, name));
    }
    let gated: Vec<&str> = spec.gated_types().map(|change_type| change_type.name.as_str()).collect();
    match gated[..] {
        [only] => Ok(only),
        _ => {
            let message = format!("the spec has {} types with a window, and none is named", gated.len());
            let help = match gated[..] {
                [] => "give a type a window under `types`".to_owned(),
                _ => format!("name one with --type: {}", gated.join(", ")),
            };
            let place = Place::file(spec.path.clone());
            Err(Error::new(ErrorKind::Usage, Diagnostic::error(message).at(place).help(help)))
        }
    }
}

/// Writes the names of windows as one scalar or a list, in place where that is possible.
pub(in crate::spec) fn set_names(
    editor: &mut Editor,
    path: &[Key],
    names: &[String],
) -> Result<(), EditError> {
    let write = |editor: &mut Editor, path: &[Key]| match names {
        [name] => editor.set_scalar(path, name.as_str()),
        names => names.iter().try_for_each(|name| editor.append_item(path, name.as_str())),
    };
    let existing = at(editor, path);
    let fits = |value: &serde_json::Value| value.is_null() || (value.is_string() && names.len() == 1);
    match existing.filter(|value| !fits(value)) {
        None => write(editor, path),
        Some(value) => {
            let listed = value.as_array().and_then(|items| {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            });
            match listed.filter(|_| names.len() > 1) {
                Some(listed) if keeps_order(&listed, names) => {
                    let gone: Vec<usize> =
                        (0..listed.len()).filter(|index| !names.contains(&listed[*index])).collect();
                    let mut new = names.iter().filter(|name| !listed.contains(name));
                    new.try_for_each(|name| editor.append_item(path, name.as_str()))?;
                    editor.remove_items(path, &gone)
                }
                _ => replace(editor, path, write),
            }
        }
    }
}

/// Returns whether a list becomes another by taking items away and adding some at its end.
fn keeps_order(listed: &[String], names: &[String]) -> bool {
    let kept: Vec<&String> = listed.iter().filter(|name| names.contains(name)).collect();
    names.iter().zip(&kept).all(|(name, kept)| name == *kept)
}

fn reset(editor: &mut Editor, overrides: &[Key], change_type: &str) -> Result<(), EditError> {
    let path = below(overrides, change_type);
    if at(editor, &path).is_none() {
        return Ok(());
    }
    editor.remove_key(&path)?;
    match at(editor, overrides) {
        Some(value) if value.as_object().is_some_and(serde_json::Map::is_empty) => {
            editor.remove_key(overrides)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
