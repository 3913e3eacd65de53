//! From nodes to values, with everything that is wrong said on the way.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::spec::keys::{Key, Map, Shape, Table};
use crate::spec::names::TextRule;
use crate::spec::node::{Node, Value};
use crate::spec::{Placed, trap};
use crate::text::{did_you_mean, did_you_mean_length};

/// Reads nodes and collects what is wrong with them; nothing stops it.
pub(crate) struct Reader {
    path: RepoPath,
    text: Arc<str>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The entries of a mapping with known keys, each at most once, unknown ones left out.
pub(crate) struct Fields<'n> {
    table: &'static Table,
    entries: Vec<(&'static Key, &'n Node, &'n Node)>,
}

/// A value and the key that leads to it.
#[derive(Clone, Copy)]
pub(crate) struct Field<'n> {
    pub(crate) key: &'static Key,
    /// Where to point at when something is missing below.
    pub(crate) home: &'n Node,
    pub(crate) node: &'n Node,
}

impl<'n> Fields<'n> {
    pub(crate) fn get(&self, name: &str) -> Option<Field<'n>> {
        debug_assert!(self.table.keys.iter().any(|key| key.name == name), "{name} is in no table");
        let (key, home, node) = self.entries.iter().find(|(key, ..)| key.name == name)?;
        Some(Field { key, home, node })
    }
}

impl Reader {
    pub(crate) fn new(path: RepoPath, text: Arc<str>) -> Reader {
        Reader { path, text, diagnostics: Vec::new() }
    }

    pub(crate) fn place(&self, span: &Range<usize>) -> Place {
        Place::span(self.path.clone(), self.text.clone(), span.clone())
    }

    pub(crate) fn file(&self) -> Place {
        Place::file(self.path.clone())
    }

    fn error(&mut self, span: &Range<usize>, message: String, help: impl Into<String>) {
        let place = self.place(span);
        self.diagnostics.push(Diagnostic::error(message).at(place).help(help));
    }

    /// Reads a mapping with known keys; `home` is pointed at where something is missing.
    pub(crate) fn table<'n>(&mut self, node: &'n Node, home: &'n Node, table: &'static Table) -> Fields<'n> {
        let mut fields = Fields { table, entries: Vec::new() };
        let Some(pairs) = self.pairs(node, home, table.about, table.may_be_null) else { return fields };
        let mut unknown = false;
        for (key, value) in pairs {
            let Value::Scalar { text, .. } = &key.value else {
                self.complex_key(key);
                continue;
            };
            let names = table.keys.iter().map(|key| key.name);
            match table.keys.iter().find(|known| known.name == text) {
                None => {
                    unknown = true;
                    let help = match text.as_str() {
                        "<<" => "write the keys out; merge keys are not read".to_owned(),
                        _ => did_you_mean(text, names.clone()).unwrap_or_else(|| {
                            format!("the keys of {} are {}", table.about, list(names, "and"))
                        }),
                    };
                    self.error(&key.span, format!("unknown key `{}` in {}", shown(text), table.about), help);
                }
                Some(known) => match fields.entries.iter().find(|(other, ..)| other.name == known.name) {
                    Some((_, first, _)) => self.duplicate(text, key, &first.span),
                    None => fields.entries.push((known, key, value)),
                },
            }
        }
        // A misspelt key is likely the one that is missing.
        if !unknown {
            self.missing(&fields, home);
        }
        fields
    }

    fn missing(&mut self, fields: &Fields<'_>, home: &Node) {
        let table = fields.table;
        let given = |name: &str| fields.entries.iter().any(|(key, ..)| key.name == name);
        for key in table.keys.iter().filter(|key| key.required && !given(key.name)) {
            let help = match key.shape {
                Shape::Text(TextRule::OneOf([only])) => format!("add `{}: {only}`", key.name),
                _ => format!("add `{}`: {}", key.name, key.about),
            };
            self.error(&home.span, format!("{} lacks the key `{}`", table.about, key.name), help);
        }
        if let Some([one, other]) = table.exclusive
            && given(one)
            && given(other)
            && let Some((_, key, _)) = fields.entries.iter().find(|(key, ..)| key.name == other)
        {
            let message = format!("{} has both `{one}` and `{other}`", table.about);
            self.error(&key.span, message, format!("move everything to `{other}`"));
        }
        if table.forms.is_empty() {
            return;
        }
        let in_forms = |name: &str| table.forms.iter().any(|form| form.contains(&name));
        let given: Vec<&str> =
            fields.entries.iter().map(|(key, ..)| key.name).filter(|name| in_forms(name)).collect();
        let fits = |form: &&[&str]| form.len() == given.len() && form.iter().all(|name| given.contains(name));
        // What only one form can become lacks the rest of that.
        let mut may_become = table.forms.iter().filter(|form| given.iter().all(|name| form.contains(name)));
        if let (false, Some(form), None) = (given.is_empty(), may_become.next(), may_become.next()) {
            for key in table.keys.iter().filter(|key| form.contains(&key.name) && !given.contains(&key.name))
            {
                let message = format!("{} lacks the key `{}`", table.about, key.name);
                self.error(&home.span, message, format!("add `{}`: {}", key.name, key.about));
            }
        } else if !table.forms.iter().any(fits) {
            let forms: Vec<String> =
                table.forms.iter().map(|form| list(form.iter().copied(), "and")).collect();
            let message = match given.len() {
                0 => format!("{} has no times, so {}", table.about, table.unsaid[0]),
                1 => format!(
                    "{} has only {}, which does not say {}",
                    table.about,
                    list(given, "and"),
                    table.unsaid[1]
                ),
                _ => format!(
                    "{} has {}, which is not one way to say {}",
                    table.about,
                    list(given, "and"),
                    table.unsaid[1]
                ),
            };
            self.error(&home.span, message, format!("give exactly {}", forms.join(", or ")));
        }
    }

    /// Reads a mapping whose keys are the user's; each key at most once.
    pub(crate) fn map<'n>(
        &mut self,
        node: &'n Node,
        home: &'n Node,
        map: &'static Map,
        about: &str,
    ) -> Vec<(Placed<String>, &'n Node, &'n Node)> {
        let about = format!("`{about}`");
        let Some(pairs) = self.pairs(node, home, &about, !map.required) else { return Vec::new() };
        let mut seen: Vec<(Placed<String>, &Node, &Node)> = Vec::with_capacity(pairs.len());
        let mut first = std::collections::HashMap::with_capacity(pairs.len());
        for (key, value) in pairs {
            let Value::Scalar { text, .. } = &key.value else {
                self.complex_key(key);
                continue;
            };
            if let Some(span) = first.get(text.as_str()) {
                self.duplicate(text, key, span);
                continue;
            }
            first.insert(text.as_str(), key.span.clone());
            if let Some(name) = self.text(key, map.rule, map.key) {
                seen.push((name, key, value));
            }
        }
        if map.required && pairs.is_empty() {
            self.error(&home.span, format!("{about} is empty"), "give at least one");
        }
        seen
    }

    fn pairs<'n>(
        &mut self,
        node: &'n Node,
        home: &Node,
        about: &str,
        may_be_null: bool,
    ) -> Option<&'n [(Node, Node)]> {
        match &node.value {
            Value::Mapping(pairs) => Some(pairs),
            _ if node.is_null() && may_be_null => Some(&[]),
            _ => {
                let span = if node.is_null() { &home.span } else { &node.span };
                let message = format!("{about} must be a mapping, not {}", node.describe());
                self.error(span, message, "write `key: value` pairs");
                None
            }
        }
    }

    fn complex_key(&mut self, key: &Node) {
        let message = format!("a key must be text, not {}", key.describe());
        self.error(&key.span, message, "put the name in quotes");
    }

    fn duplicate(&mut self, text: &str, key: &Node, first: &Range<usize>) {
        let line = crate::diagnostic::line_column(&self.text, first.start).0;
        self.error(
            &key.span,
            format!("the key `{}` is given twice, so one of its values would be lost", shown(text)),
            format!("remove one of them; the first is in line {line}"),
        );
    }

    /// Reads the text of a field by the rule of its key.
    pub(crate) fn field_text(&mut self, field: Option<Field<'_>>) -> Option<Placed<String>> {
        let field = field?;
        match &field.key.shape {
            Shape::Text(rule) | Shape::OneOrMore(Shape::Text(rule)) => {
                if field.node.is_null() {
                    // An absent value has no place of its own.
                    let message = format!("{} has no value", field.key.name);
                    self.error(&field.home.span, message, "give a value, or remove the key");
                    return None;
                }
                self.text(field.node, *rule, field.key.name)
            }
            _ => None,
        }
    }

    /// Reads text by a rule; `what` names it in messages.
    pub(crate) fn text(&mut self, node: &Node, rule: TextRule, what: &str) -> Option<Placed<String>> {
        let Value::Scalar { text, plain } = &node.value else {
            let help = match (rule, &node.value) {
                (TextRule::Template(_), Value::Mapping(_)) => {
                    "put the template in quotes, since `{` begins a mapping"
                }
                (TextRule::Kind, Value::Sequence(_)) => "write one rule for each kind",
                _ => "write a single value",
            };
            self.error(&node.span, format!("{what} must be text, not {}", node.describe()), help);
            return None;
        };
        if node.is_null() {
            self.error(&node.span, format!("{what} has no value"), "give a value, or remove the key");
            return None;
        }
        let is_meant = |meaning: &&str| match rule {
            TextRule::Moment => *meaning == "a date",
            TextRule::Clock => *meaning == "a number in base 60",
            _ => false,
        };
        if *plain && let Some(meaning) = trap::meaning(text).filter(|meaning| !is_meant(meaning)) {
            self.error(
                &node.span,
                format!(
                    "`{}` without quotes is {meaning} to YAML parsers, and {what} must be text",
                    shown(text)
                ),
                match what {
                    // None of these is the name of a zone, with quotes or without.
                    "timeZone" => "give an IANA time zone such as `Europe/Berlin`".to_owned(),
                    _ => format!("put it in quotes: \"{}\"", shown(text)),
                },
            );
            return None;
        }
        if let Err(reason) = rule.check(text) {
            let help = match rule {
                TextRule::OneOf(words) => did_you_mean_length(text, words.iter().copied())
                    .or_else(|| did_you_mean(text, words.iter().copied())),
                TextRule::Group if text.contains('/') => Some("leave the version out".to_owned()),
                TextRule::Label | TextRule::Object | TextRule::Cluster => {
                    Some(format!("choose a {what} like `{}`", rule.likeness(text)))
                }
                TextRule::Folder | TextRule::Glob => {
                    Some("give a path relative to the folder of this file".to_owned())
                }
                TextRule::Time | TextRule::Clock => Some("give a value, or remove the key".to_owned()),
                _ => None,
            };
            let place = self.place(&node.span);
            let mut diagnostic = Diagnostic::error(format!("{what} `{}` {reason}", shown(text))).at(place);
            diagnostic.help = help;
            self.diagnostics.push(diagnostic);
            return None;
        }
        Some(Placed::new(text.clone(), self.place(&node.span)))
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&mut self, field: Option<Field<'_>>) -> Option<bool> {
        let Field { key, node, .. } = field?;
        match &node.value {
            Value::Scalar { text, plain: true } if text == "true" => Some(true),
            Value::Scalar { text, plain: true } if text == "false" => Some(false),
            _ => {
                let message = format!("{} must be `true` or `false`", key.name);
                self.error(&node.span, message, "write `true` or `false`, without quotes");
                None
            }
        }
    }

    /// Returns one or several values as several; an empty list is an error.
    pub(crate) fn one_or_more<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.value {
            Value::Sequence(items) => {
                if items.is_empty() {
                    let message = format!("{what} is an empty list");
                    self.error(&node.span, message, "name at least one, or remove the key");
                }
                items
            }
            _ => std::slice::from_ref(node),
        }
    }

    /// Returns the items of a list; nothing for an absent value.
    pub(crate) fn items<'n>(&mut self, field: Option<Field<'n>>) -> Option<&'n [Node]> {
        let Field { key, node, .. } = field?;
        match &node.value {
            Value::Sequence(items) => Some(items),
            _ if node.is_null() => None,
            _ => {
                let message = format!("{} must be a list, not {}", key.name, node.describe());
                self.error(&node.span, message, "begin each item with `- `");
                None
            }
        }
    }
}

/// Cuts what a message repeats of the file.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes names in backticks, the last after `word`.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}
