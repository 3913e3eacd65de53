//! An edit of the spec's text, whose result is read as any spec is read.

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::spec::parse::parse_beside;
use crate::spec::{Parsed, Spec};
use crate::yaml::{EditError, Editor};

/// Edits the text of a spec in place and reads the result; bytes that the edit does not name stay.
///
/// # Errors
///
/// * [`ErrorKind::Usage`] when the result is no valid spec; the places are those of the text as it would be.
/// * [`ErrorKind::Invalid`] when the text can't be edited in place.
pub(super) fn edited(
    spec: &Spec,
    text: &str,
    change: impl FnOnce(&mut Editor) -> Result<(), EditError>,
) -> Result<(String, Parsed), Error> {
    let failed = |error: EditError| Error::invalid(error.diagnostic(spec.path.clone(), text.into()));
    let mut editor = Editor::new(text, 0).map_err(failed)?;
    change(&mut editor).map_err(failed)?;
    let after = editor.into_text();
    let parsed = parse_beside(&spec.path, after.as_bytes(), &|path| spec.calendars.get(path).cloned());
    let parsed = parsed.map_err(|error| as_usage(error, &spec.path))?;
    Ok((after, parsed))
}

/// The spec was valid before, so what is wrong now came from the command line.
fn as_usage(mut error: Error, path: &RepoPath) -> Error {
    error.kind = ErrorKind::Usage;
    error.diagnostics.push(
        Diagnostic::note(format!("these are lines of {path} as the edit would have left it"))
            .at(Place::file(path.clone()))
            .help("nothing was written"),
    );
    error
}
