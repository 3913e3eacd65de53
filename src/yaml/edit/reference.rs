//! What depends on a value that an edit changes: aliases, written out before.

use std::ops::Range;

use super::path::show;
use super::{EditError, Editor, Key, Splice};
use crate::yaml::node::{Node, NodeKind, ScalarStyle};
use crate::yaml::{double_quote, lines};

impl Editor {
    /// Frees an edit of anchors and aliases: `way` leads to the collection that is edited, `gone` to the
    /// values that go as a whole. The document's value stays.
    ///
    /// An alias on the way is written out, lest the edit reach the anchored value as well. Then every
    /// alias of a value that changes or goes is written out and the anchor goes.
    ///
    /// # Errors
    ///
    /// When an alias can't be written out on its line.
    pub(super) fn release(&mut self, way: &[Key], gone: &[Vec<Key>]) -> Result<(), EditError> {
        if !self.resolving {
            return Ok(());
        }
        for depth in 0..=way.len() {
            self.write_out(&way[..depth])?;
        }
        let splices = self.dependents(way, gone)?;
        if splices.is_empty() {
            return Ok(());
        }
        let same = self.root().to_json();
        self.commit(splices, &same)
    }

    /// Writes out the alias at a path, if one stands there.
    fn write_out(&mut self, path: &[Key]) -> Result<(), EditError> {
        let (steps, _) = self.walk(path)?;
        let Some(step) = steps.last().filter(|_| steps.len() == path.len() + 1) else { return Ok(()) };
        let NodeKind::Alias { name, target } = &step.node.kind else { return Ok(()) };
        let span = step.node.span.clone();
        let text = self
            .on_one_line(target, true)
            .ok_or_else(|| too_long(name, &span, "only here it is to change"))?;
        let same = self.root().to_json();
        self.commit(vec![Splice { range: span, text }], &same)
    }

    /// Returns the replacements that write out what depends on the values that change.
    fn dependents(&self, way: &[Key], gone: &[Vec<Key>]) -> Result<Vec<Splice>, EditError> {
        let (steps, _) = self.walk(way)?;
        let mut edited: Vec<&Node> = steps.iter().map(|step| step.node).collect();
        let mut removed: Vec<&Node> = Vec::new();
        for path in gone {
            let (steps, _) = self.walk(path)?;
            if let Some(step) = steps.last().filter(|_| steps.len() == path.len() + 1) {
                edited.push(step.node);
                removed.extend(step.key.into_iter().chain([step.node]));
            }
        }
        let mut aliases = Vec::new();
        find_aliases(self.root(), false, &mut aliases);
        aliases.retain(|(alias, _)| !removed.iter().any(|node| holds(node, alias)));
        let mut changed = edited.clone();
        removed.iter().for_each(|node| find_anchors(node, &mut changed));
        let mut splices: Vec<Splice> = Vec::new();
        for (alias, in_flow) in aliases {
            let NodeKind::Alias { name, target } = &alias.kind else { continue };
            if !changed.iter().any(|node| is_same(node, target)) {
                continue;
            }
            let text = self.on_one_line(target, in_flow);
            let text = text.ok_or_else(|| too_long(name, &alias.span, "its meaning changes"))?;
            splices.push(Splice { range: alias.span.clone(), text });
        }
        for node in edited {
            if let Some(splice) = self.without_anchor(node)?
                && !splices.contains(&splice)
            {
                splices.push(splice);
            }
        }
        Ok(splices)
    }

    /// Returns a value as it is written, without anchors and with what its aliases stand for; `None` for
    /// a collection of several lines and for what has a tag.
    fn on_one_line(&self, node: &Node, in_flow: bool) -> Option<String> {
        let written = &self.text[node.span.clone()];
        if node.tag().is_some() {
            return None;
        }
        match &node.kind {
            NodeKind::Alias { target, .. } => self.on_one_line(target, in_flow),
            NodeKind::Null if written.is_empty() => Some("null".to_owned()),
            NodeKind::Null => Some(written.to_owned()),
            NodeKind::Scalar { value, style } => {
                let fits = match style {
                    ScalarStyle::Plain => !in_flow || !written.contains([',', '[', ']', '{', '}']),
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => true,
                    ScalarStyle::Literal | ScalarStyle::Folded => false,
                };
                let fits = fits && !written.contains(['\n', '\r']);
                Some(if fits { written.to_owned() } else { double_quote(value) })
            }
            NodeKind::Mapping(_) | NodeKind::Sequence(_) => {
                let fits = written.starts_with(['[', '{']) && !written.contains(['\n', '\r']);
                let mut splices = Vec::new();
                self.strip(node, &mut splices).filter(|()| fits)?;
                splices.sort_by_key(|splice| splice.range.start);
                let (mut text, mut at) = (String::new(), node.span.start);
                for splice in splices {
                    text.push_str(self.text.get(at..splice.range.start)?);
                    text.push_str(&splice.text);
                    at = splice.range.end;
                }
                text.push_str(self.text.get(at..node.span.end)?);
                Some(text)
            }
        }
    }

    /// Collects what makes the text of a collection free of anchors and aliases.
    fn strip(&self, node: &Node, splices: &mut Vec<Splice>) -> Option<()> {
        for part in node.parts() {
            if matches!(part.kind, NodeKind::Alias { .. }) {
                let text = self.on_one_line(part, true)?;
                splices.push(Splice { range: part.span.clone(), text });
            }
            splices.extend(self.without_anchor(part).ok()?);
            self.strip(part, splices)?;
        }
        Some(())
    }

    /// Takes the anchor of a value away, with the blanks after it, or before it at the end of a line.
    fn without_anchor(&self, node: &Node) -> Result<Option<Splice>, EditError> {
        let Some(anchor) = node.anchor() else { return Ok(None) };
        let written = format!("&{anchor}");
        let start = node.start;
        if !self.text[start..].starts_with(&written) {
            return Err(EditError::at("an anchor stands here beside a tag", start..node.span.end.max(start)));
        }
        let end = start + written.len();
        let after = lines::skip_blanks(&self.text, end);
        let range = if after == lines::line_end(&self.text, end) {
            self.text[..start].trim_end_matches([' ', '\t']).len()..end
        } else {
            start..after
        };
        Ok(Some(Splice { range, text: String::new() }))
    }

    /// Says that there is nothing at a path.
    pub(super) fn absent(&self, path: &[Key]) -> EditError {
        self.merged(path).unwrap_or_else(|| EditError::new(format!("there is no key {}", show(path))))
    }

    /// Says that only a merge key brings in what a path leads through; `None` where none does.
    pub(super) fn merged(&self, path: &[Key]) -> Option<EditError> {
        let mut node = self.root();
        for (depth, key) in path.iter().enumerate() {
            node = match key {
                Key::Index(index) => node.items().get(*index)?,
                Key::Name(name) => {
                    let entries = node.entries();
                    let own = entries.iter().rev().find(|(key, _)| key.scalar_text() == Some(name.as_str()));
                    let Some((_, value)) = own else {
                        node.get(name)?;
                        let (key, value) = entries.iter().find(|(key, _)| key.is_merge())?;
                        let message = format!("{} comes from what is merged here", show(&path[..=depth]));
                        return Some(EditError::at(message, key.start..value.span.end.max(key.span.end)));
                    };
                    value
                }
            };
        }
        None
    }
}

/// Says which alias is in the way, and why it can't stay.
fn too_long(name: &str, span: &Range<usize>, why: &str) -> EditError {
    EditError::at(format!("the alias `*{name}` can't be written out in one line, and {why}"), span.clone())
}

fn holds(node: &Node, other: &Node) -> bool {
    node.start <= other.start && other.span.end <= node.span.end
}

/// Returns whether an alias's target is this node: both are read from the same bytes.
fn is_same(node: &Node, target: &Node) -> bool {
    node.anchor().is_some() && (node.start, &node.span) == (target.start, &target.span)
}

/// Collects the aliases written in a value, each with whether it stands in flow style.
fn find_aliases<'n>(node: &'n Node, in_flow: bool, found: &mut Vec<(&'n Node, bool)>) {
    if matches!(node.kind, NodeKind::Alias { .. }) {
        found.push((node, in_flow));
    }
    node.parts().for_each(|part| find_aliases(part, in_flow || node.flow, found));
}

/// Collects what is anchored in a value, the value itself included.
fn find_anchors<'n>(node: &'n Node, found: &mut Vec<&'n Node>) {
    if node.anchor().is_some() {
        found.push(node);
    }
    node.parts().for_each(|part| find_anchors(part, found));
}
