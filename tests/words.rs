//! Words for people: string literals and help texts are short, and use none of the words that mislead.
//!
//! What is not as it should be yet is counted by room, and the counts only go down.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod source;

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use source::compiled;

/// The most words of a sentence that says how things are.
const MESSAGE: usize = 15;

/// The most words of a sentence that says what to do: a step, or the help of an option.
const STEP: usize = 20;

/// Words that mislead, with what says it better.
const BANNED: &[(&str, &str)] = &[
    ("heir", "successor"),
    ("heirs", "successors"),
    ("take over", "own, apply"),
    ("takes over", "owns, applies"),
    ("taken over", "owned, applied"),
    ("took over", "owned, applied"),
    ("let go", "delete and keep its objects"),
    ("lets go", "keeps its objects"),
    ("lets one go", "keeps its objects"),
    ("turned", "suspended or resumed"),
    ("taken out", "removed"),
    ("held back", "suspended, waits"),
    ("hold back", "suspend, make wait"),
    ("holds back", "suspends, makes wait"),
    ("holding back", "suspending"),
    ("hold it back", "suspend it, make it wait"),
    ("holds it back", "suspends it, makes it wait"),
    ("held it back", "suspended it, made it wait"),
    ("hold them back", "suspend them, make them wait"),
    ("holds them back", "suspends them, makes them wait"),
    ("change hands", "get another owner"),
    ("changes hands", "gets another owner"),
    ("leave it whole", "leave it undivided"),
    ("left whole", "undivided"),
    ("stays whole", "stays undivided"),
    ("one that", "the noun"),
    ("ones that", "the noun"),
    ("one which", "the noun"),
    ("one of which", "the noun"),
    ("those that", "the noun"),
    ("those which", "the noun"),
    ("those of", "the noun"),
    ("that of", "the noun"),
    ("that which", "the noun"),
    ("what applies", "the Flux Kustomization"),
    ("what it", "the noun"),
    ("what its", "the noun"),
    ("what they", "the noun"),
    ("what these", "the noun"),
    ("what those", "the noun"),
    ("what this", "the noun"),
    ("what that", "the noun"),
    ("what holds", "the noun"),
    ("what stands", "the noun"),
    ("what surrounds", "the noun"),
    ("whatever it", "the noun"),
    ("speaks of", "names"),
    ("speak of", "name"),
];

/// Phrases of [`BANNED`] that a guide may use, where the sentences around them say what they stand for.
const GUIDES: &[&str] = &[
    "what it",
    "what its",
    "what they",
    "what these",
    "what stands",
    "what holds",
    "that of",
    "those of",
    "speaks of",
    "speak of",
];

/// Texts by room that are too long, and that use a word of [`BANNED`].
const COUNTS: &[(&str, usize, usize)] = &[
    // A script that runs in a shell.
    ("plan", 1, 0),
    // Stands in files of users.
    ("plan/split", 1, 0),
    // Stands in files of users.
    ("repo", 1, 0),
];

/// How many sentences of findings and refusals in snapshots are too long once their parts are put together.
const SHOWN: usize = 8;

/// Derives whose documentation is the help of a command.
const HELP: &[&str] = &["Parser", "Args", "Subcommand", "ValueEnum"];

/// Calls whose arguments say what to do.
const REMEDIES: &[&str] = &["help", "then", "or"];

/// A text for people.
struct Text {
    line: usize,
    text: String,
    most: usize,
}

/// What is known of the place in which tokens stand.
#[derive(Clone, Copy)]
struct Within {
    /// Whether the documentation of items is shown as help.
    is_help: bool,
    /// Whether a text says what to do.
    is_remedy: bool,
}

#[test]
fn texts_are_short_and_plain() {
    let mut found: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (path, code) in compiled() {
        let room = path.trim_start_matches("src/").trim_end_matches(".rs").split('/').next().unwrap();
        let sub = path.trim_start_matches("src/plan/").split_once('/').map(|(sub, _)| format!("plan/{sub}"));
        let room = sub.filter(|_| room == "plan").unwrap_or_else(|| room.to_owned());
        let entry = found.entry(room).or_default();
        for Text { line, text, most } in texts(&code) {
            for sentence in sentences(&text).filter(|sentence| words(sentence) > most) {
                let count = words(sentence);
                entry.0.push(format!("{path}:{line}: {count} words and not {most}: {sentence}"));
            }
            for (word, better) in banned(&text) {
                entry.1.push(format!("{path}:{line}: `{word}`, better {better}: {text}"));
            }
        }
    }
    let mut wrong = Vec::new();
    let now: Vec<(&str, usize, usize)> = found
        .iter()
        .map(|(room, (long, banned))| (room.as_str(), long.len(), banned.len()))
        .filter(|(_, long, banned)| long + banned > 0)
        .collect();
    for (room, (long, banned)) in &found {
        let allowed = COUNTS.iter().find(|(own, ..)| own == room).map_or((0, 0), |one| (one.1, one.2));
        if long.len() > allowed.0 {
            wrong.push(format!(
                "`{room}` has {} sentences that are too long, and {} were there:\n  {}",
                long.len(),
                allowed.0,
                long.join("\n  ")
            ));
        }
        if banned.len() > allowed.1 {
            wrong.push(format!(
                "`{room}` has {} words that mislead, and {} were there:\n  {}",
                banned.len(),
                allowed.1,
                banned.join("\n  ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(now, COUNTS, "fewer than were there: lower COUNTS to the left side");
}

/// A text that is short where it stands in the code may be long with what it is put together from.
#[test]
fn what_is_shown_is_short() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    let mut long = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "snap") {
                let text = std::fs::read_to_string(&entry).unwrap();
                let messages = messages(&text);
                let sentences =
                    messages.into_iter().flat_map(sentences).filter(|sentence| words(sentence) > MESSAGE);
                long.extend(sentences.map(str::to_owned));
            }
        }
    }
    let all: Vec<&str> = long.iter().map(String::as_str).collect();
    assert!(
        all.len() <= SHOWN,
        "{} sentences are too long, and {SHOWN} were:\n{}",
        all.len(),
        all.join("\n")
    );
}

/// Guides use the words of the outputs that they explain.
#[test]
fn guides_are_plain() {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = top.join("docs").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let guides = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut wrong = Vec::new();
    for path in guides.chain([top.join("README.md")]) {
        let text = std::fs::read_to_string(&path).unwrap();
        // Each second part stands in a fence, or in backticks.
        let prose: Vec<&str> =
            text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2)).collect();
        let prose = prose.join("code").split_whitespace().collect::<Vec<_>>().join(" ");
        let found = banned(&prose).into_iter().filter(|(word, _)| !GUIDES.contains(word));
        wrong.extend(found.map(|(word, better)| format!("{}: `{word}`, better {better}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the lines that findings and refusals say; the second and further ones of one are indented as its first words are.
fn messages(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut indent = None;
    for line in text.lines() {
        let said = message(line);
        let start = line.len() - line.trim_start().len();
        let goes_on = indent == Some(start);
        if let Some(said) = said {
            indent = Some(line.len() - said.len());
            found.push(said);
        } else if goes_on {
            found.push(line.trim());
        } else {
            indent = None;
        }
    }
    found
}

/// Returns what a line of a finding or a refusal says.
fn message(line: &str) -> Option<&str> {
    let (head, message) = line.split_once(": ")?;
    let severity = head.split('[').next()?;
    ["error", "warning", "note"].contains(&severity).then_some(message)
}

/// Returns the texts of a file that people may read.
fn texts(code: &str) -> Vec<Text> {
    let mut found = Vec::new();
    let within = Within { is_help: false, is_remedy: false };
    walk(code.parse().unwrap(), within, &mut found);
    found
}

fn walk(tokens: TokenStream, within: Within, found: &mut Vec<Text>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut docs, mut docs_line) = (String::new(), 0);
    let (mut is_help, mut is_remedy) = (false, false);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let before = |back: usize| at.checked_sub(1 + back).and_then(|at| tokens.get(at)).map(name);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let is_inner = matches!(tokens.get(at), Some(TokenTree::Punct(_)));
                at += usize::from(is_inner);
                let Some(TokenTree::Group(group)) = tokens.get(at) else { continue };
                at += 1;
                if is_inner {
                    continue;
                }
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let all = group.stream().to_string();
                match inner.first().map(name).as_deref() {
                    Some("doc") => {
                        let text = inner.last().and_then(literal).unwrap_or_default();
                        docs_line = if docs.is_empty() { group.span_open().start().line } else { docs_line };
                        docs.push_str(if text.is_empty() { "\n" } else { &text });
                    }
                    Some("cfg") if all.contains("test") => at = after_item(&tokens, at),
                    Some("derive") => is_help |= HELP.iter().any(|derive| all.contains(derive)),
                    Some("arg" | "command" | "error" | "value" | "group") => {
                        walk(group.stream(), within, found);
                    }
                    _ => {}
                }
                continue;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                is_remedy = false;
            }
            TokenTree::Ident(ident) => {
                // A constant says by its name that it is what to do.
                is_remedy |= ident.to_string().contains("REMEDY");
            }
            TokenTree::Literal(one) => {
                if let Some(text) = literal(token) {
                    let most = if within.is_remedy || is_remedy { STEP } else { MESSAGE };
                    found.push(Text { line: one.span().start().line, text, most });
                }
            }
            TokenTree::Group(group) => {
                let called = before(1).unwrap_or_default();
                let is_problem = before(4).is_some_and(|name| name == "Problem");
                let is_call = group.delimiter() == Delimiter::Parenthesis;
                let inner = Within {
                    is_help: group.delimiter() == Delimiter::Brace && is_help,
                    is_remedy: within.is_remedy || is_call && REMEDIES.contains(&called.as_str()),
                };
                if is_call && is_problem && ["new", "lasting"].contains(&called.as_str()) {
                    let (reason, remedy) = parted(group.stream());
                    walk(reason, inner, found);
                    walk(remedy, Within { is_remedy: true, ..inner }, found);
                } else {
                    walk(group.stream(), inner, found);
                }
                is_help &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Punct(_) => {}
        }
        if !docs.is_empty() {
            if within.is_help || is_help {
                found.push(Text { line: docs_line, text: docs.clone(), most: STEP });
            }
            docs.clear();
        }
    }
}

/// Parts arguments after the first.
fn parted(arguments: TokenStream) -> (TokenStream, TokenStream) {
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let end = tokens.iter().position(is_comma).unwrap_or(tokens.len());
    (tokens[..end].iter().cloned().collect(), tokens[end..].iter().cloned().collect())
}

/// Returns the position after an item.
fn after_item(tokens: &[TokenTree], start: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens[start..].iter().position(ends).map_or(tokens.len(), |end| start + end + 1)
}

fn name(token: &TokenTree) -> String {
    match token {
        TokenTree::Ident(ident) => ident.to_string(),
        _ => String::new(),
    }
}

/// Returns the text of a string literal.
fn literal(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    let whole = literal.to_string();
    if let Some(raw) = whole.strip_prefix('r') {
        let inner = raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"')?;
        return Some(inner.to_owned());
    }
    let inner = whole.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('\n') => while letters.next_if(|next| next.is_whitespace()).is_some() {},
            Some(other) => text.push(other),
            None => {}
        }
    }
    Some(text)
}

/// Returns the sentences of a text.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.split_inclusive(". ")).map(str::trim)
}

/// Counts words; what stands in backticks or in braces is one.
fn words(sentence: &str) -> usize {
    let mut flat = String::new();
    for (index, part) in sentence.split('`').enumerate() {
        flat.push_str(if index % 2 == 0 { part } else { "code" });
    }
    flat.split_whitespace()
        .filter(|word| word.contains(|letter: char| letter.is_alphanumeric() || letter == '{'))
        .count()
}

/// Returns the words of a text that mislead.
fn banned(text: &str) -> Vec<(&'static str, &'static str)> {
    let lower = text.to_lowercase();
    let letters: String = lower
        .chars()
        .map(|letter| if letter.is_alphanumeric() || letter == '-' { letter } else { ' ' })
        .collect();
    let flat = format!(" {} ", letters.split_whitespace().collect::<Vec<_>>().join(" "));
    BANNED.iter().filter(|(word, _)| flat.contains(&format!(" {word} "))).copied().collect()
}

#[test]
fn texts_are_found_where_they_stand() {
    let code = r##"
        //! Of a module.
        #[cfg(test)]
        mod tests { const A: &str = "no text"; }
        /// One line
        /// and another.
        ///
        /// A paragraph.
        #[derive(Debug, Args)]
        #[allow(dead_code, reason = "no text")]
        struct S {
            /// A field.
            #[arg(help = "a help")]
            field: u8,
        }
        /// No help.
        fn f() -> Problem {
            let raw = r#"raw "text""#;
            Problem::new(format!("a {raw}"), format!("b \
                c")).then("d")
        }
    "##;
    let found: Vec<String> =
        texts(code).iter().map(|one| format!("{} {}", one.most, one.text.trim())).collect();
    let expected = [
        "20 One line and another.\n A paragraph.",
        "15 a help",
        "20 A field.",
        "15 raw \"text\"",
        "15 a {raw}",
        "20 b c",
        "20 d",
    ];
    assert_eq!(found, expected);
}

#[test]
fn words_are_counted_as_people_read_them() {
    assert_eq!(words("`git revert` the commit of {name}: it -- is"), 7);
    assert_eq!(sentences("One. Two.\nThree 1.2").collect::<Vec<_>>(), ["One.", "Two.", "Three 1.2"]);
    assert_eq!(banned("Is that one, that Turned?").len(), 2);
    assert_eq!(banned("a returned heirloom").len(), 0);
}
