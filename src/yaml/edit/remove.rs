//! Which bytes go when a key or an item goes.

use std::ops::Range;

use super::{EditError, Editor, Splice, Step};
use crate::yaml::block::first_on_line;
use crate::yaml::lines;
use crate::yaml::node::{Node, NodeKind};

impl Editor {
    /// Cuts an entry out of its mapping.
    pub(super) fn cut_entry(&self, mapping: &Step<'_>, target: &Step<'_>) -> Result<Vec<Splice>, EditError> {
        let node = mapping.node;
        let (NodeKind::Mapping(entries), Some(key)) = (&node.kind, target.key) else {
            return Err(EditError::at("no mapping stands here", node.span.clone()));
        };
        self.refuse_reference(key)?;
        self.refuse_reference(target.node)?;
        let position = entries.iter().position(|(name, _)| name.start == key.start).unwrap_or(0);
        if node.flow {
            let spans: Vec<Range<usize>> =
                entries.iter().map(|(name, value)| name.start..value.span.end.max(name.span.end)).collect();
            return self.cut_flow(node, &spans, position);
        }
        let end = target.node.span.end;
        if entries.len() == 1 {
            let lines = self.entry_lines(key.start, target.node);
            return self.leave_empty(mapping, lines.ok().into_iter().collect(), "{}");
        }
        if first_on_line(&self.text, key.start) {
            let lines = self.entry_lines(key.start, target.node)?;
            return Ok(vec![remove(lines)]);
        }
        // The entry shares its line with the dash of the item that holds the mapping.
        match entries.get(position + 1) {
            Some((next, _)) if position == 0 && !self.text[..key.start].ends_with("? ") => {
                self.refuse_rest(end)?;
                let after = lines::line_end(&self.text, end);
                if !self.text[after..next.start].trim().is_empty() {
                    return Err(EditError::at(
                        "a comment stands between this key and the next",
                        after..next.start,
                    ));
                }
                Ok(vec![remove(key.start..next.start)])
            }
            _ => Err(EditError::at("the key does not stand on a line of its own", key.span.clone())),
        }
    }

    /// Cuts items out of a list; `indices` are sorted and exist.
    pub(super) fn cut_items(&self, list: &Step<'_>, indices: &[usize]) -> Result<Vec<Splice>, EditError> {
        let node = list.node;
        let NodeKind::Sequence(items) = &node.kind else {
            return Err(EditError::at("no list stands here", node.span.clone()));
        };
        let chosen: Vec<&Node> = indices.iter().filter_map(|index| items.get(*index)).collect();
        chosen.iter().try_for_each(|item| self.refuse_reference(item))?;
        if node.flow {
            let spans: Vec<Range<usize>> = items.iter().map(|item| item.start..item.span.end).collect();
            let [index] = indices else { return Err(EditError::new("one item at a time")) };
            return self.cut_flow(node, &spans, *index);
        }
        let mut ranges = Vec::new();
        for item in &chosen {
            let dash = item.dash().ok_or_else(|| EditError::at("the item has no dash", item.span.clone()))?;
            if first_on_line(&self.text, dash) {
                ranges.push(self.entry_lines(dash, item)?);
            } else if chosen.len() < items.len() {
                return Err(EditError::at("the item does not stand on a line of its own", item.span.clone()));
            }
        }
        if chosen.len() == items.len() {
            return self.leave_empty(list, ranges, "[]");
        }
        Ok(ranges.into_iter().map(remove).collect())
    }

    /// Returns the whole lines of an entry or item. To a block collection belong comments right below it
    /// that are indented deeper than the entry; below a scalar they may be other entries, switched off.
    fn entry_lines(&self, start: usize, value: &Node) -> Result<Range<usize>, EditError> {
        let end = value.span.end;
        self.refuse_rest(end)?;
        let collection = matches!(value.kind, NodeKind::Mapping(_) | NodeKind::Sequence(_)) && !value.flow;
        let after = if collection {
            self.after_comments(end, self.column(start)? + 1)
        } else {
            lines::next_line(&self.text, end)
        };
        Ok(lines::without_bom(&self.text, lines::line_start(&self.text, start))..after)
    }

    /// Refuses where something else than a comment stands after a value on its last line.
    fn refuse_rest(&self, end: usize) -> Result<(), EditError> {
        if lines::rest_is_comment(&self.text, end) {
            return Ok(());
        }
        Err(EditError::at("something else stands on the same line", lines::char_at(&self.text, end)))
    }

    /// Leaves `[]` or `{}` of a block collection. `element_lines` are the lines of what was in it.
    fn leave_empty(
        &self,
        step: &Step<'_>,
        element_lines: Vec<Range<usize>>,
        empty: &str,
    ) -> Result<Vec<Splice>, EditError> {
        let node = step.node;
        if node.anchor().is_some() || node.tag().is_some() {
            self.refuse_reference(node)?;
        }
        let colon = step
            .key
            .and_then(|key| lines::after_colon(&self.text, key.span.end))
            .filter(|at| lines::rest_is_comment(&self.text, *at) && !element_lines.is_empty());
        if let Some(at) = colon {
            let mut splices: Vec<Splice> = element_lines.into_iter().map(remove).collect();
            splices.push(Splice { range: at..at, text: format!(" {empty}") });
            return Ok(splices);
        }
        // At the root or as an item: the collection's own bytes. A comment on the last line stays.
        let several = match &node.kind {
            NodeKind::Sequence(items) => items.len() > 1,
            NodeKind::Mapping(entries) => entries.len() > 1,
            _ => false,
        };
        if several && self.text[node.span.clone()].contains('#') {
            return Err(EditError::at("a comment may stand within what is removed", node.span.clone()));
        }
        Ok(vec![Splice { range: node.span.clone(), text: empty.to_owned() }])
    }

    /// Cuts one element out of a collection in flow style, with the comma that goes with it.
    fn cut_flow(&self, node: &Node, spans: &[Range<usize>], index: usize) -> Result<Vec<Splice>, EditError> {
        if !self.text[node.span.clone()].ends_with([']', '}']) {
            return Err(EditError::at("a pair without braces stands here", node.span.clone()));
        }
        let Some(own) = spans.get(index) else { return Err(EditError::new("there is no such element")) };
        let range = match (index.checked_sub(1).and_then(|before| spans.get(before)), spans.get(index + 1)) {
            (_, Some(next)) => own.start..next.start,
            (Some(before), None) => before.end..own.end,
            (None, None) => node.span.start + 1..node.span.end - 1,
        };
        let gaps = [
            &self.text[range.start..own.start.max(range.start)],
            &self.text[own.end..range.end.max(own.end)],
        ];
        if gaps.iter().any(|gap| gap.contains('#')) {
            return Err(EditError::at("a comment stands beside what is removed", range));
        }
        Ok(vec![remove(range)])
    }
}

fn remove(range: Range<usize>) -> Splice {
    Splice { range, text: String::new() }
}
