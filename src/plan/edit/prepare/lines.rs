//! Lines that are remembered above those that took their place.
//!
//! In flow style (`{prune: true}`) a comment behind a value would swallow what follows it.

use crate::yaml::read_documents;

const HEAD: &str = "# gitops-windows: lines ";
const TAIL: &str = ", which were:";
const TAIL_UNENDED: &str = ", which were, without a line break at the end:";
const LINE: &str = "#| ";

/// Returns the new text with the lines that differ from the old one's in comments above them;
/// `None` where a comment there would become part of something else.
pub(super) fn remember(old: &str, new: &str, document: usize) -> Option<String> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let start = before.iter().zip(&after).take_while(same).count();
    let room = before.len().min(after.len()) - start;
    let end = before.iter().rev().zip(after.iter().rev()).take_while(same).count().min(room);
    let gone = &before[start..before.len() - end];
    let came = &after[start..after.len() - end];
    let ended = gone.last().is_some_and(|line| line.ends_with('\n'));
    let tail = if ended { TAIL } else { TAIL_UNENDED };
    let mut text = after[..start].concat();
    text.push_str(&format!("{HEAD}{}{tail}\n", came.len()));
    for line in gone {
        text.push_str(&format!("{LINE}{line}"));
    }
    if !ended {
        text.push('\n');
    }
    text.push_str(&after[start..].concat());
    let values = |text: &str| -> Option<Vec<serde_json::Value>> {
        Some(read_documents(text).ok()?.iter().map(|document| document.root.to_json()).collect())
    };
    let is_right = values(&text)? == values(new)? && {
        let whole = read_documents(&text).ok()?.get(document)?.whole.clone();
        text[whole].contains(HEAD)
    };
    is_right.then_some(text)
}

/// Returns the text with the remembered lines in their place; `None` where none are remembered.
pub(super) fn recall(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = lines.iter().position(|line| line.starts_with(HEAD))?;
    let said = lines[head].trim_end().strip_prefix(HEAD)?;
    let (count, ended) = match said.strip_suffix(TAIL) {
        Some(count) => (count, true),
        None => (said.strip_suffix(TAIL_UNENDED)?, false),
    };
    let count: usize = count.parse().ok()?;
    let gone: String = lines[head + 1..].iter().map_while(|line| line.strip_prefix(LINE)).collect();
    let first = head + 1 + lines[head + 1..].iter().take_while(|line| line.starts_with(LINE)).count();
    let gone = if ended { gone.as_str() } else { gone.strip_suffix('\n').unwrap_or(&gone) };
    let rest = lines.get(first.checked_add(count)?..)?;
    Some(format!("{}{gone}{}", lines[..head].concat(), rest.concat()))
}
