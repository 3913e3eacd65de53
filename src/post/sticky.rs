//! The one comment: found again, edited in place, left alone where it says the same.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::post::forge::{Comments, Refusal};
use crate::post::marker::Marker;
use crate::post::target::Target;
use crate::pr::SMALLEST;

/// What became of the comment; each with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// There was none, so it was written.
    New(i64),
    /// It said something else, and was edited.
    Edited(i64),
    /// It says this already.
    Same(i64),
}

/// Posts a comment, which `write` makes of at most so many bytes, its marker included; `None` where it can't be so
/// short.
///
/// Edits the first comment that begins with the marker and was written by the token's own user. Where nothing but the
/// instant of the run has changed, it is left alone.
///
/// # Errors
///
/// Where the forge turns something down, or takes no text that `write` makes.
pub fn post(
    target: &Target,
    marker: &Marker<'_>,
    write: &dyn Fn(usize) -> Option<String>,
) -> Result<Posted, Error> {
    let comments = Comments::of(target)?;
    let own = comments.own()?;
    let is_ours = |author: Option<i64>, body: &str| author == Some(own) && marker.is_on(body);
    let mut old = comments.all()?.into_iter().find(|comment| is_ours(comment.author, &comment.body));
    let mut limit = target.forge.flavor().limit();
    loop {
        let body = write(limit).filter(|body| body.len() <= limit).ok_or_else(|| too_long(target))?;
        if let Some(old) = &old
            && essence(&old.body) == essence(&body)
        {
            return Ok(Posted::Same(old.id));
        }
        match comments.write(old.as_ref().map(|old| old.id), &body) {
            Ok(id) => return Ok(if old.is_some() { Posted::Edited(id) } else { Posted::New(id) }),
            Err(Refusal::Gone) => old = None,
            Err(Refusal::TooLong) if body.len() > SMALLEST => limit = (body.len() / 2).max(SMALLEST),
            Err(Refusal::TooLong) => return Err(too_long(target)),
            Err(Refusal::Error(error)) => return Err(error),
        }
    }
}

/// Returns what a comment says, as every forge keeps it and without the instant of the run, wherever that stands.
///
/// All other times move with what happens: a window that has closed meanwhile is another answer.
fn essence(body: &str) -> String {
    let body = body.replace("\r\n", "\n");
    let lines: Vec<&str> = body.trim().lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let instant =
        text.rsplit_once(", as if merged at ").and_then(|(_, after)| Some(after.split_once(';')?.0));
    match instant.filter(|instant| !instant.is_empty()) {
        Some(instant) => text.replace(instant, ""),
        None => text,
    }
}

fn too_long(target: &Target) -> Error {
    let problem = Diagnostic::error(format!("{} takes no comment of this length", target.forge.name()));
    Error::invalid(problem.help("the log and the artifact of this job hold the whole report"))
}
