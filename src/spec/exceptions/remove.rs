//! Freezes and overrides that go.

use jiff::Timestamp;

use crate::diagnostic::Place;
use crate::error::{Error, ErrorKind};
use crate::spec::edited::edited;
use crate::spec::exceptions::about::words;
use crate::spec::exceptions::times::Zone;
use crate::spec::exceptions::{About, usage};
use crate::spec::instant::instant;
use crate::spec::windows::{at, unknown};
use crate::spec::{Override, Parsed, Placed, Spec};
use crate::yaml::{EditError, Editor, Key};

/// An override that is meant, which has no name.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// The clusters that it names, just as it does.
    pub about: About,
    /// Its type; `None` where that is clear.
    pub change_type: Option<String>,
    /// When it begins; `None` where that is clear.
    pub from: Option<String>,
}

/// Takes freezes away.
///
/// # Errors
///
/// [`ErrorKind::Usage`] when there is none of a name; [`ErrorKind::Invalid`] when the text can't be edited in place.
pub fn remove_freeze(spec: &Spec, text: &str, names: &[String]) -> Result<(String, Parsed), Error> {
    let known = || spec.freezes.iter().map(|freeze| freeze.name.value.as_str());
    if let Some(name) = names.iter().find(|name| !known().any(|known| known == *name)) {
        return Err(unknown("freeze", name, &spec.path, known()));
    }
    edited(spec, text, |editor| take(editor, names, &[]))
}

/// Takes an override away.
///
/// # Errors
///
/// [`ErrorKind::Usage`] when there is none, or several begin at different times and none is named;
/// [`ErrorKind::Invalid`] when the text can't be edited in place.
pub fn remove_override(spec: &Spec, text: &str, which: &Which) -> Result<(String, Parsed), Error> {
    which.about.known(spec)?;
    let zone = Zone::new(spec, None, &[which.from.as_deref()])?;
    let from = match &which.from {
        Some(from) => {
            let from = Placed::new(from.clone(), Place::file(spec.path.clone()));
            let found = instant(&from, &zone.zone, false);
            Some(found.map_err(|error| Error::new(ErrorKind::Usage, *error))?)
        }
        None => None,
    };
    let is_it = |given: &Override| {
        which.about.is(&given.clusters)
            && which.change_type.as_ref().is_none_or(|name| given.type_name.value == *name)
            && from.is_none_or(|from| given.interval.open == from)
    };
    let found: Vec<usize> = (0..spec.overrides.len()).filter(|at| is_it(&spec.overrides[*at])).collect();
    // As the list tells it.
    let zone = Zone::told(spec);
    let name = zone.name();
    let told = |given: &Override| {
        let from = zone.text(given.interval.open);
        format!("{} of {} from {from}", given.type_name.value, words(&given.clusters))
    };
    match found[..] {
        [] => {
            let known: Vec<String> = spec.overrides.iter().map(|given| told(given)).collect();
            let help = match &known[..] {
                [] => format!("{} has none", spec.path),
                known => format!("{} has {} ({name})", spec.path, known.join("; ")),
            };
            Err(usage("there is no such override", help))
        }
        [_] => edited(spec, text, |editor| take(editor, &[], &found)),
        _ if from.is_some() => edited(spec, text, |editor| take(editor, &[], &found)),
        _ => {
            let known: Vec<String> = found.iter().map(|at| told(&spec.overrides[*at])).collect();
            let message = format!("{} overrides are meant: {} ({name})", known.len(), known.join("; "));
            Err(usage(message, "name one with --type, or with --from and the time as it stands here"))
        }
    }
}

/// Takes all freezes and overrides away that are over.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] when the text can't be edited in place.
pub fn clean(spec: &Spec, text: &str, now: Timestamp) -> Result<(String, Parsed), Error> {
    // A calendar is for somebody to replace.
    let own = spec.freezes.iter().filter(|freeze| freeze.calendar.is_none());
    let freezes = own.filter(|freeze| freeze.interval.close <= now);
    let names: Vec<String> = freezes.map(|freeze| freeze.name.value.clone()).collect();
    let is_over = |at: &usize| spec.overrides[*at].interval.close <= now;
    let overrides: Vec<usize> = (0..spec.overrides.len()).filter(is_over).collect();
    edited(spec, text, |editor| take(editor, &names, &overrides))
}

/// Takes freezes by name and overrides by position, and the keys above them where nothing is left.
fn take(editor: &mut Editor, freezes: &[String], overrides: &[usize]) -> Result<(), EditError> {
    for name in freezes {
        editor.remove_key(&[Key::from("freezes"), Key::from(name.as_str())])?;
    }
    if !overrides.is_empty() {
        editor.remove_items(&[Key::from("overrides")], overrides)?;
    }
    let went = [("freezes", !freezes.is_empty()), ("overrides", !overrides.is_empty())];
    for (key, _) in went.into_iter().filter(|(_, went)| *went) {
        let path = [Key::from(key)];
        let is_empty = at(editor, &path).is_some_and(|value| {
            value.as_object().is_some_and(serde_json::Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty)
        });
        if is_empty && !has_remark(editor, key) {
            editor.remove_key(&path)?;
        }
    }
    Ok(())
}

/// Returns whether somebody wrote something behind an empty value.
fn has_remark(editor: &Editor, key: &str) -> bool {
    let end = editor.root().get(key).map_or(0, |node| node.span.end);
    let rest = editor.text().get(end..).unwrap_or_default().lines().next().unwrap_or_default();
    !rest.trim().is_empty()
}
