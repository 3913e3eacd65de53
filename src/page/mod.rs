//! Pages for a browser that need nothing else: no network, light and dark, for keyboards and small screens.
//!
//! Everything is there without a script; that only filters, and tells the time of whoever reads. Names and values are
//! text, never markup, and a policy in the page forbids it to load anything.

use crate::diff::clean;
use crate::text::escape;

/// What pages look like, in light and dark, on any width.
const STYLE: &str = include_str!("page.css");

/// Filters, and tells what is open now.
const SCRIPT: &str = include_str!("page.js");

/// Returns the begin of a page, up to its content.
pub fn start(title: &str) -> String {
    let title = text(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <p class=\"faint\">{title}</p>\n"
    )
}

/// Returns the end of a page, behind its content.
pub fn end() -> String {
    format!("</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

/// The options of a list, as value and text.
pub type Options<'o> = Vec<(String, &'o str)>;

/// Returns the lists that filter, each with its name, its label and its options as value and text; which only a script
/// makes useful. `more` are further fields.
pub fn form(lists: &[(&str, &str, Options<'_>)], more: &str) -> String {
    let option =
        |(value, name): &(String, &str)| format!("<option value=\"{}\">{}</option>", text(value), text(name));
    let lists = lists.iter().filter(|(_, _, options)| !options.is_empty()).map(|(name, label, options)| {
        let options: String = options.iter().map(option).collect();
        format!(
            "<label>{label} <select name=\"{name}\"><option value=\"\">all</option>{options}</select></label>\n"
        )
    });
    let lists: String = lists.collect();
    format!(
        "<form hidden>\n{lists}{more}<button type=\"button\">Open all</button>\n<output></output>\n</form>\n"
    )
}

/// Names some of `all` by runs of their positions: `0-39 41`; a row that has none of them is `none`.
pub fn runs(all: usize, is_one: impl Fn(usize) -> bool) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in (0..all).filter(|at| is_one(*at)) {
        match runs.last_mut().filter(|(_, last)| last + 1 == at) {
            Some((_, last)) => *last = at,
            None => runs.push((at, at)),
        }
    }
    let run = |(first, last): (usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    if runs.is_empty() { "none".to_owned() } else { runs.into_iter().map(run).collect::<Vec<_>>().join(" ") }
}

/// Writes an element on a line of its own; `start` is what stands in its first tag.
pub fn element(start: &str, content: &str) -> String {
    let name = start.split(' ').next().unwrap_or_default();
    format!("<{start}>{content}</{name}>\n")
}

/// Writes text that is never markup, without characters that hide or turn others.
pub fn text(text: &str) -> String {
    escape(&clean(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_named_in_runs() {
        let named = |all: &[usize]| runs(10, |at| all.contains(&at));
        assert_eq!(named(&[0, 1, 2, 4, 8, 9]), "0-2 4 8-9");
        assert_eq!(named(&[]), "none");
    }
}
