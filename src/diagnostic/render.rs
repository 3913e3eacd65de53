//! Diagnostics as people read them.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};

use crate::diagnostic::alike::{Alike, Other, alike};
use crate::diagnostic::{Diagnostic, Place, Severity, line_column};

/// The narrowest width that is laid out for.
const NARROWEST: usize = 40;

/// How many others of which the same is said are listed.
const MOST_OTHERS: usize = 5;

/// Writes diagnostics for a terminal or a log, each with the source line and a caret under it.
///
/// ```text
/// error: there is no window `wrok-week`
///  --> windows.yaml:4:17
///   |
/// 4 |   rw: { window: wrok-week }
///   |                 ^^^^^^^^^
///   |
///   = help: did you mean `work-week`?
/// ```
///
/// What is the same at several places is written once, at the first, and the others are listed below its help. So is what is
/// said of at least four things in the same words but for paths and one name; long lists are cut. A blank
/// line stands between two of them, and the last ends with a newline. `width` is the
/// number of columns; longer source lines are cut around the caret. Colours are ANSI sequences and
/// the only control characters besides newlines: those of files become visible replacements.
pub fn render(diagnostics: &[Diagnostic], color: bool, width: usize) -> String {
    written(&alike(diagnostics, true), MOST_OTHERS, color, width)
}

/// As [`render`], but that each thing is told by itself and no list is cut.
pub fn render_all(diagnostics: &[Diagnostic], color: bool, width: usize) -> String {
    written(&alike(diagnostics, false), usize::MAX, color, width)
}

fn written(groups: &[Alike<'_>], most: usize, color: bool, width: usize) -> String {
    let width = width.max(NARROWEST);
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(width);
    let shown = groups
        .iter()
        .map(|group| one(group.first, listed(&group.others, most), &renderer, color, width) + "\n");
    shown.collect::<Vec<_>>().join("\n")
}

/// Lists of what else the same is said, and how many there are beside these.
fn listed(others: &[Other<'_>], most: usize) -> Option<String> {
    if others.is_empty() {
        return None;
    }
    let shown = if others.len() > most.saturating_add(1) { &others[..most] } else { others };
    // A file is its own name.
    let name_of = |other: &Other<'_>| {
        let is_file = |name: &&str| other.place.is_some_and(|place| place.path.as_str() == *name);
        other.name.filter(|name| !is_file(name)).map(clean)
    };
    let names = shown.iter().filter_map(name_of).map(|name| name.chars().count());
    let room = names.max().unwrap_or_default();
    let told = shown.iter().map(|other| {
        let place = other.place.map(position).unwrap_or_default();
        match name_of(other) {
            Some(name) => format!("{name:room$}  {place}").trim_end().to_owned(),
            None => place,
        }
    });
    let head = match (room, others.len()) {
        (0, _) => "the same at".to_owned(),
        (_, count) => format!("the same of {count} more"),
    };
    let more = others.len() - shown.len();
    let more = (more > 0).then(|| format!("and {more} more (--verbose names them)"));
    Some(std::iter::once(head).chain(told).chain(more).collect::<Vec<_>>().join("\n"))
}

fn one(
    diagnostic: &Diagnostic,
    others: Option<String>,
    renderer: &Renderer,
    color: bool,
    width: usize,
) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut title = level.clone().primary_title(clean_lines(&diagnostic.message));
    if let Some(code) = diagnostic.code {
        title = title.id(code);
    }
    let mut parts = vec![renderer.render(&[Group::with_title(title)])];
    let mut group = Group::with_level(level);
    if let Some(place) = &diagnostic.place {
        let excerpt = excerpt(place, width);
        parts.push(arrow(place, excerpt.as_ref(), color));
        if let Some(Excerpt { line, text, caret }) = excerpt {
            let caret = AnnotationKind::Primary.span(caret);
            group = group.element(Snippet::source(text).line_start(line).fold(false).annotation(caret));
        }
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(clean_lines(help)));
    }
    if let Some(others) = others {
        group = group.element(Level::NOTE.message(others));
    }
    if !group.is_empty() {
        parts.push(renderer.render(&[group]));
    }
    for (message, place) in &diagnostic.related {
        let title = Level::NOTE.primary_title(clean_lines(message));
        parts.push(renderer.render(&[Group::with_title(title)]));
        let excerpt = excerpt(place, width);
        parts.push(arrow(place, excerpt.as_ref(), color));
        if let Some(Excerpt { line, text, caret }) = excerpt {
            let caret = AnnotationKind::Context.span(caret);
            let snippet = Snippet::source(text).line_start(line).fold(false).annotation(caret);
            parts.push(renderer.render(&[Group::with_level(Level::NOTE).element(snippet)]));
        }
    }
    parts.join("\n")
}

/// Writes ` --> path:line:column`.
///
/// Not left to the renderer, which would count the column in the part of the line that is shown.
fn arrow(place: &Place, excerpt: Option<&Excerpt>, color: bool) -> String {
    let indent = excerpt.map_or(1, |excerpt| excerpt.line.to_string().len());
    let style = if color { AnsiColor::BrightBlue.on_default().bold() } else { Style::new() };
    format!("{:indent$}{style}--> {style:#}{}", "", position(place))
}

/// Writes `path:line:column`.
fn position(place: &Place) -> String {
    let path = clean(&place.path.to_string()).replace('\t', " ");
    let position = place.text.as_deref().zip(place.span.as_ref()).map(|(text, span)| {
        let (line, column) = line_column(text, text.floor_char_boundary(span.start));
        format!(":{line}:{column}")
    });
    path + &position.unwrap_or_default()
}

/// The part of a file that is shown.
struct Excerpt {
    line: usize,
    text: String,
    caret: Range<usize>,
}

/// Cuts the line that a place begins in; what goes on in further lines is not shown.
fn excerpt(place: &Place, width: usize) -> Option<Excerpt> {
    let (text, span) = (place.text.as_deref()?, place.span.clone()?);
    let start = text.floor_char_boundary(span.start);
    let (line, _) = line_column(text, start);
    let from = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let mut whole = text[from..].split('\n').next().unwrap_or_default();
    let mut caret = start - from..text.floor_char_boundary(span.end.max(start)) - from;
    whole = whole.strip_suffix('\r').unwrap_or(whole);
    if let Some(unmarked) = whole.strip_prefix('\u{feff}').filter(|_| from == 0) {
        let mark = whole.len() - unmarked.len();
        caret = caret.start.saturating_sub(mark)..caret.end.saturating_sub(mark);
        whole = unmarked;
    }
    let caret = caret.start.min(whole.len())..caret.end.min(whole.len());
    let (text, caret) = cut(whole, caret, width.saturating_sub(line.to_string().len() + 5));
    Some(Excerpt { line, text, caret })
}

/// Cuts a line to `width` characters around the caret and makes its control characters visible.
fn cut(line: &str, caret: Range<usize>, width: usize) -> (String, Range<usize>) {
    const CUT: char = '…';
    let before = line[..caret.start].chars().count();
    let marked = line[caret.clone()].chars().count();
    let total = before + marked + line[caret.end..].chars().count();
    let (skip, take) = if total <= width {
        (0, total)
    } else {
        // A little of what stands before is worth more than what comes after.
        let lead = width / 3;
        let skip = if before + marked <= width { 0 } else { before.saturating_sub(lead) };
        (skip, width.saturating_sub(2))
    };
    let mut text = String::new();
    let mut range = 0..0;
    if skip > 0 {
        text.push(CUT);
    }
    for (index, character) in line.chars().enumerate().skip(skip).take(take) {
        if index == before {
            range.start = text.len();
        }
        text.push(visible(character));
        if index < before + marked {
            range.end = text.len();
        }
    }
    if before >= skip + take || before >= total {
        range.start = text.len();
    }
    if skip + take < total {
        text.push(CUT);
    }
    let range = range.start..range.end.max(range.start);
    (text, range)
}

/// Replaces control characters, so that no file or name can move the cursor, colour the terminal
/// or turn the direction of writing; a tab stays.
///
/// ```
/// assert_eq!(gitops_windows::diagnostic::clean("a\u{1b}[31m\tb\u{202e}"), "a␛[31m\tb\u{fffd}");
/// ```
pub fn clean(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Cleans each line, and lets none begin as what a CI system takes for a command.
fn clean_lines(text: &str) -> String {
    let line = |line: &str| format!("{}{}", if is_command(line) { "| " } else { "" }, clean(line));
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns whether a CI system would take a line for a command: it looks past spaces.
pub(crate) fn is_command(line: &str) -> bool {
    ["::", "##["].iter().any(|begins| line.trim_start().starts_with(begins))
}

/// Returns whether a character can't be seen and changes how others are: C1 controls, characters that reorder text,
/// that have no width or that break lines.
pub(crate) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

fn visible(character: char) -> char {
    match character {
        '\t' => '\t',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        hidden if is_hidden(hidden) => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::path::RepoPath;

    fn at(text: &str, span: Range<usize>) -> Place {
        Place::span(RepoPath::parse("sub/windows.yaml").unwrap(), Arc::from(text), span)
    }

    fn shown(text: &str, span: Range<usize>) -> String {
        render(&[Diagnostic::error("it is wrong").at(at(text, span)).help("do better")], false, 80)
    }

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        let text = "types:\n  rw: { window: wrok }\n";
        insta::assert_snapshot!(shown(text, 23..27), @r#"
error: it is wrong
 --> sub/windows.yaml:2:17
  |
2 |   rw: { window: wrok }
  |                 ^^^^
  |
  = help: do better
"#);
    }

    #[test]
    fn marks_crlf_and_wide_characters_do_not_move_it() {
        let text = "\u{feff}ä: [日本, x]\r\nb: 1\r\n";
        let start = text.find('x').unwrap();
        insta::assert_snapshot!(shown(text, start..start + 1), @r#"
error: it is wrong
 --> sub/windows.yaml:1:9
  |
1 | ä: [日本, x]
  |           ^
  |
  = help: do better
"#);
    }

    #[test]
    fn codes_severities_and_whole_files() {
        let file = Place::file(RepoPath::parse("windows.yaml").unwrap());
        let diagnostics = [
            Diagnostic::warning("it is odd").code("GW001").at(file),
            Diagnostic::note("two\nlines").help("read\nboth"),
        ];
        insta::assert_snapshot!(render(&diagnostics, false, 80), @r#"
warning[GW001]: it is odd
 --> windows.yaml

note: two
      lines
 = help: 1. read
         2. both
"#);
    }

    #[test]
    fn what_is_the_same_at_several_places_is_told_once() {
        let text = "a: 1\nb: 2\nc: 3\n";
        let wrong = |span| Diagnostic::error("it is wrong").at(at(text, span)).help("do better");
        let diagnostics = [wrong(0..1), Diagnostic::note("it is odd"), wrong(5..6), wrong(10..11)];
        insta::assert_snapshot!(render(&diagnostics, false, 80), @r#"
error: it is wrong
 --> sub/windows.yaml:1:1
  |
1 | a: 1
  | ^
  |
  = help: do better
  = note: the same at
          sub/windows.yaml:2:1
          sub/windows.yaml:3:1

note: it is odd
"#);
    }

    #[test]
    fn what_is_said_of_four_names_is_told_once() {
        let text = "a: 1\nb: 2\nc: 3\n";
        let of = |name: &str, span| {
            Diagnostic::warning(format!("{name} lands at once. No gate suspends {name}"))
                .code("GW001")
                .at(at(text, span))
                .help(format!("suspend {name}, and look at apps/{name}"))
                .related("top applies it", at(text, 0..1))
        };
        let all = [of("one", 0..1), of("two", 5..6), of("three", 10..11), of("four", 0..1)];
        assert_eq!(render(&all[..3], false, 80).matches("lands at once").count(), 3);
        insta::assert_snapshot!(render(&all, false, 80), @r#"
warning[GW001]: one lands at once. No gate suspends one
 --> sub/windows.yaml:1:1
  |
1 | a: 1
  | ^
  |
  = help: suspend one, and look at apps/one
  = note: the same of 3 more
          two    sub/windows.yaml:2:1
          three  sub/windows.yaml:3:1
          four   sub/windows.yaml:1:1
note: top applies it
 --> sub/windows.yaml:1:1
  |
1 | a: 1
  | -
"#);
        assert_eq!(render_all(&all, false, 80).matches("lands at once").count(), 4);
        let many: Vec<Diagnostic> = (0..20).map(|number| of(&format!("app-{number}"), 0..1)).collect();
        let told = render(&many, false, 80);
        let last = "          app-5  sub/windows.yaml:1:1\n          and 14 more (--verbose names them)\n";
        assert!(
            told.contains("note: the same of 19 more\n          app-1  sub") && told.contains(last),
            "{told}"
        );
        let without_place = |name: &str| {
            let help = Some(format!("suspend {name}"));
            Diagnostic { place: None, related: Vec::new(), help, ..of(name, 0..1) }
        };
        insta::assert_snapshot!(render(&["a/b", "a/c", "d", "e/f", "g/h"].map(without_place), false, 80), @r#"
warning[GW001]: a/b lands at once. No gate suspends a/b
 = help: suspend a/b
 = note: the same of 3 more
         a/c
         e/f
         g/h

warning[GW001]: d lands at once. No gate suspends d
 = help: suspend d
"#);
    }

    #[test]
    fn what_has_remedies_of_its_own_is_told_by_itself() {
        let of = |folder: &str| {
            Diagnostic::error(format!("file {folder}/a.yaml is broken")).help(format!("restore {folder}"))
        };
        let all = ["one/x", "two/x", "three/x", "four/x"].map(of);
        assert_eq!(render(&all, false, 80).matches("is broken").count(), 4);
    }

    #[test]
    fn what_differs_in_another_word_is_told_by_itself() {
        let of = |name: &str, what: &str| Diagnostic::warning(format!("{name} waits for {what}"));
        let all = [of("a", "x"), of("b", "y"), of("c", "z"), of("d", "w")];
        assert_eq!(render(&all, false, 80).matches("waits for").count(), 4);
        // It is said of one thing several times, not of several things.
        let all = [of("a", "x"), of("a", "x"), of("a", "x"), of("b", "x"), of("c", "x")];
        assert_eq!(render(&all, false, 80).matches("waits for").count(), 5);
        let all = [of("a", "x"), of("b", "y"), of("b", "x"), of("c", "x"), of("d", "x"), of("d", "y")];
        let told = render(&all, false, 80);
        let heads: Vec<&str> = told.lines().filter(|line| line.starts_with("warning")).collect();
        assert_eq!(heads, ["warning: a waits for x", "warning: b waits for y", "warning: d waits for y"]);
    }

    #[test]
    fn what_has_the_same_further_places_is_told_once() {
        let text = "a: 1\nb: 2\nc: 3\nd: 4\n";
        let wrong = |span, other| {
            Diagnostic::error("it is wrong").at(at(text, span)).related("by this", at(text, other))
        };
        let diagnostics = [wrong(0..1, 10..11), wrong(5..6, 10..11), wrong(5..6, 15..16)];
        let told = render(&diagnostics, false, 80);
        assert_eq!(told.matches("it is wrong").count(), 2, "{told}");
        assert_eq!(told.matches("the same at\n          sub/windows.yaml:2:1\n").count(), 1, "{told}");
    }

    #[test]
    fn further_places_follow_the_help() {
        let text = "a: 1\nb: 2\n";
        let diagnostic = Diagnostic::error("it is wrong").at(at(text, 0..1)).help("do better");
        let diagnostic = diagnostic.related("it stands here too", at(text, 5..6));
        insta::assert_snapshot!(render(&[diagnostic], false, 80), @r#"
error: it is wrong
 --> sub/windows.yaml:1:1
  |
1 | a: 1
  | ^
  |
  = help: do better
note: it stands here too
 --> sub/windows.yaml:2:1
  |
2 | b: 2
  | -
"#);
    }

    #[test]
    fn spans_over_lines_at_the_end_and_beyond_it() {
        let text = "a: {\n  b: 1 }\nlast";
        insta::assert_snapshot!(shown(text, 3..13), @r#"
error: it is wrong
 --> sub/windows.yaml:1:4
  |
1 | a: {
  |    ^
  |
  = help: do better
"#);
        insta::assert_snapshot!(shown(text, text.len()..text.len()), @r#"
error: it is wrong
 --> sub/windows.yaml:3:5
  |
3 | last
  |     ^
  |
  = help: do better
"#);
        assert_eq!(shown(text, 900..1000), shown(text, text.len()..text.len()));
        shown("", 0..0);
        shown("\u{feff}", 0..3);
        shown("ä", 1..2);
        shown("a\r\n", 2..3);
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}HERE{}\n", "a".repeat(50_000), "b".repeat(50_000));
        insta::assert_snapshot!(shown(&text, 50_000..50_004), @r#"
error: it is wrong
 --> sub/windows.yaml:1:50001
  |
1 | …aaaaaaaaaaaaaaaaaaaaaaaaHEREbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
  |                          ^^^^
  |
  = help: do better
"#);
        let long = format!("x: {}\n", "a".repeat(50_000));
        assert!(shown(&long, 3..50_003).lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn nothing_of_a_file_commands_the_build() {
        let hostile = "x\n::error::y\n  ##[error]z\n \u{a0}::stop-commands::a";
        let diagnostic = Diagnostic::error(hostile).help(hostile).related(hostile, at("a: 1\n", 0..1));
        let shown = render(&[diagnostic], false, 80);
        assert!(shown.contains("::error::y"));
        assert!(
            !shown.lines().any(|line| line.trim().starts_with("::") || line.trim().starts_with("##[")),
            "{shown}"
        );
    }

    #[test]
    fn nothing_of_a_file_commands_the_terminal() {
        let hostile = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{7f}\u{0}\r\u{200f}é\t";
        let text = format!("a: {hostile} b\n");
        let place = at(&text, 3..text.len() - 1);
        let diagnostic = Diagnostic::error(hostile).at(place).help(hostile);
        let shown = render(&[diagnostic], false, 80);
        assert!(shown.chars().all(|c| c == '\n' || visible(c) == c && c != '\t'), "{shown:?}");
    }

    #[test]
    fn colour_is_only_there_when_asked_for() {
        let diagnostic = [Diagnostic::error("x").at(at("a: b\n", 3..4))];
        assert!(render(&diagnostic, true, 80).contains("\u{1b}["));
        assert!(!render(&diagnostic, false, 80).contains('\u{1b}'));
    }

    proptest::proptest! {
        #[test]
        fn no_text_and_no_span_panics(text in "(?s).{0,40}", start in 0usize..200, length in 0usize..200, width in 0usize..120) {
            let diagnostic = Diagnostic::error(text.clone()).at(at(&text, start..start + length)).help(text);
            render(&[diagnostic], true, width);
        }
    }
}
