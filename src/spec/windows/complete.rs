//! Whether the options of a command say one window.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::schedule::WindowKey;
use crate::spec::keys::WINDOW;
use crate::spec::windows::parts;
use crate::yaml::{Editor, Key};

/// Makes sure that a window says when it opens and closes once it has these values; `subject` is what it is called.
///
/// # Errors
///
/// [`ErrorKind::Usage`], with the options that are missing.
pub(super) fn complete(
    text: &str,
    path: &[Key],
    parts: &[(WindowKey, String)],
    subject: &str,
) -> Result<(), Error> {
    // What can't be read is told by the edit itself.
    let Ok(editor) = Editor::new(text, 0) else { return Ok(()) };
    let left = parts::left(&editor, path, parts);
    let is_whole = |form: &&&[&str]| form.len() == left.len() && left.iter().all(|key| form.contains(key));
    if WINDOW.forms.iter().any(|form| is_whole(&form)) {
        return Ok(());
    }
    let missing = |form: &&[&str]| {
        let all = left.iter().all(|key| form.contains(key));
        all.then(|| options(form.iter().copied().filter(|key| !left.contains(key))))
    };
    let fitting: Vec<String> = WINDOW.forms.iter().filter_map(missing).collect();
    let message = match &left[..] {
        [] => format!("{subject} has no times, so it would never open"),
        left => format!(
            "{subject} has {}, which does not say when it opens and closes",
            options(left.iter().copied())
        ),
    };
    let help = if fitting.is_empty() {
        let forms = WINDOW.forms.iter().map(|form| options(form.iter().copied()));
        format!("give only {}", forms.collect::<Vec<_>>().join(", or "))
    } else {
        format!("add {}", fitting.join(", or "))
    };
    Err(Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help)))
}

/// Names keys as the options that set them.
fn options<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let all: Vec<String> = keys.map(|key| format!("`--{key}`")).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => all.concat(),
    }
}
