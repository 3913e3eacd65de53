//! Which folder a template of `layout` was filled for.

use std::collections::BTreeMap;

use regex::Regex;

use crate::spec::expand_folder;
use crate::spec::template::{Part, parts, segment};

/// Returns the folder of which [`expand_folder`] makes another one.
///
/// `None` where the template makes it of no folder, or leaves out so much that it can't be told.
///
/// ```
/// use gitops_windows::spec::folder_of;
/// let values = [("type", "live")];
/// let whole = |side| folder_of("{1}/{2}/{3}-{type}/{4..}", side, &values);
/// assert_eq!(whole("clusters/edge/sets-live/asset-01").unwrap(), "clusters/edge/sets/asset-01");
/// assert_eq!(whole("clusters/edge/infra-live").unwrap(), "clusters/edge/infra");
/// assert_eq!(whole("clusters/edge/infra"), None);
/// ```
pub fn folder_of(template: &str, made: &str, values: &[(&str, &str)]) -> Option<String> {
    let mut pattern = String::from("^");
    let mut groups: Vec<&str> = Vec::new();
    for part in parts(template) {
        match part {
            Part::Text(text) => pattern += &regex::escape(text),
            Part::Placeholder("path") => {
                groups.push("path");
                pattern += "(.+)";
            }
            Part::Placeholder(name) if name == "name" || segment(name).is_some_and(|(_, rest)| !rest) => {
                groups.push(name);
                pattern += "([^/]+)";
            }
            Part::Placeholder(name) if segment(name).is_some() => {
                groups.push(name);
                // What is left out takes the slash before it along.
                let slash = pattern.ends_with('/');
                pattern.truncate(pattern.len() - usize::from(slash));
                pattern += if slash { "(?:/(.+))?" } else { "(.+)" };
            }
            Part::Placeholder(name) => {
                pattern += &regex::escape(values.iter().find(|(key, _)| *key == name)?.1);
            }
        }
    }
    pattern.push('$');
    let found = Regex::new(&pattern).ok()?.captures(made)?;
    let text = |index: usize| found.get(index + 1).map_or("", |text| text.as_str());
    let mut candidates: Vec<String> = Vec::new();
    let mut segments: BTreeMap<usize, &str> = BTreeMap::new();
    for (index, name) in groups.iter().enumerate() {
        match segment(name) {
            Some((number, _)) => drop(segments.entry(number).or_insert(text(index))),
            None if *name == "path" => candidates.push(text(index).to_owned()),
            None => {}
        }
    }
    let above = segments.into_values().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("/");
    let last = groups.iter().position(|name| *name == "name").map(text);
    candidates
        .extend(last.map(|name| if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }));
    candidates.push(above);
    candidates.into_iter().find(|folder| expand_folder(template, folder, values).as_deref() == Some(made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_told_from_what_was_made_of_it() {
        let values = [("type", "rt"), ("cluster", "edge")];
        for template in [
            "{path}/{name}-{type}",
            "{path}-{type}",
            "{1}/{2}/{3}-{type}/{4..}",
            "{1}/{2}-{type}/{3..}",
            "{1..}/{type}",
            "{type}/{path}",
            "x/{cluster}/{1}/{type}/{2..}",
            "{1}/{2..}-{type}",
            "{1}/{2}/{name}-{type}",
        ] {
            for folder in ["a/b/c", "a/b/c-rt", "clusters/edge/apps"] {
                let made = expand_folder(template, folder, &values).unwrap();
                assert_eq!(folder_of(template, &made, &values).as_deref(), Some(folder), "{template} {made}");
            }
        }
        for (template, made) in [
            ("{path}/{name}-{type}", "a/b/c-rt"),
            ("{1}/{2}-{type}", "a/b-rw"),
            ("{1}/{3..}-{type}", "a/b-rt"),
            ("{name}-{type}/{unknown}", "a-rt/b"),
            ("{1}.{type}", "axrt"),
        ] {
            assert_eq!(folder_of(template, made, &values), None, "{template} {made}");
        }
    }
}
