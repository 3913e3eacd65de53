//! Where and how new text goes in.

use super::{EditError, Editor, Splice, Step};
use crate::yaml::block::{NewEntry, NewItems, column, first_on_line, indent};
use crate::yaml::lines;
use crate::yaml::node::{Node, NodeKind, ScalarStyle};
use crate::yaml::scalar::ScalarText;

impl Editor {
    /// Replaces a scalar or fills in a null.
    pub(super) fn replace_scalar(
        &self,
        target: &Step<'_>,
        value: &ScalarText,
    ) -> Result<Vec<Splice>, EditError> {
        let node = target.node;
        if self.resolving && matches!(node.kind, NodeKind::Alias { .. }) {
            return Ok(vec![Splice { range: node.span.clone(), text: value.to_yaml() }]);
        }
        self.refuse_reference(node)?;
        match &node.kind {
            NodeKind::Null if node.span.is_empty() => self.fill_null(target, &value.to_yaml()),
            NodeKind::Null => Ok(vec![Splice { range: node.span.clone(), text: value.to_yaml() }]),
            NodeKind::Scalar { style, .. } => {
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    let header = &self.text[node.span.start..lines::line_end(&self.text, node.span.start)];
                    if header.contains('#') {
                        return Err(EditError::at(
                            "a comment stands in the head of the text block",
                            node.span.clone(),
                        ));
                    }
                }
                let old = &self.text[node.span.clone()];
                Ok(vec![Splice { range: node.span.clone(), text: value.to_yaml_like(old) }])
            }
            _ => Err(EditError::at(
                "a list or mapping stands where a single value is to be set",
                node.span.clone(),
            )),
        }
    }

    /// Writes a value where nothing stands after a colon or dash.
    fn fill_null(&self, target: &Step<'_>, text: &str) -> Result<Vec<Splice>, EditError> {
        let at = target.node.span.start;
        if !self.text[..at].ends_with([':', '-']) {
            return Err(EditError::at("the value's place is not clear", target.node.span.clone()));
        }
        Ok(vec![Splice { range: at..at, text: format!(" {text}") }])
    }

    /// Adds an entry to a mapping; several ways where the last lines of the text forbid the first.
    pub(super) fn add_entry(
        &self,
        target: &Step<'_>,
        entry: &NewEntry,
    ) -> Result<Vec<Vec<Splice>>, EditError> {
        let node = target.node;
        if node.anchor().is_some() || node.tag().is_some() {
            self.refuse_reference(node)?;
        }
        match &node.kind {
            NodeKind::Mapping(entries) if node.flow => {
                self.add_flow(node, entries.last().map(|(_, value)| value), entries.len(), &entry.flow)
            }
            NodeKind::Mapping(entries) => {
                let Some((first, _)) = entries.first() else {
                    return Err(EditError::at("the mapping is empty", node.span.clone()));
                };
                let column = self.column(first.start)?;
                let block: Vec<String> = entry.block.iter().map(|line| indent(line, column)).collect();
                let mut ways = vec![self.lines_after(node.span.end, Some(column), &block)?];
                if let [.., (_, before), _] = entries.as_slice() {
                    ways.extend(self.lines_after(before.span.end, None, &block).ok());
                } else if first_on_line(&self.text, first.start) {
                    ways.push(vec![self.lines_before(first.start, &block)]);
                }
                Ok(ways)
            }
            NodeKind::Null => match target.key {
                None if node.dash().is_none() && !target.in_flow => {
                    Ok(vec![self.lines_at_end(&entry.block)?])
                }
                Some(key) if node.span.is_empty() && !target.in_flow => {
                    let column = self.column(key.start)? + self.style().step;
                    let block: Vec<String> = entry.block.iter().map(|line| indent(line, column)).collect();
                    Ok(vec![self.lines_after(node.span.end, None, &block)?])
                }
                _ if node.span.is_empty() => {
                    Ok(vec![self.fill_null(target, &format!("{{{}}}", entry.flow))?])
                }
                _ => Ok(vec![vec![Splice { range: node.span.clone(), text: format!("{{{}}}", entry.flow) }]]),
            },
            _ => Err(EditError::at("something else than a mapping stands here", node.span.clone())),
        }
    }

    /// Adds items to a list, or makes a list of a null.
    pub(super) fn add_items(&self, target: &Step<'_>, new: &NewItems) -> Result<Vec<Splice>, EditError> {
        let node = target.node;
        match &node.kind {
            NodeKind::Alias { .. } => self.refuse_reference(node)?,
            _ if node.anchor().is_some() || node.tag().is_some() => self.refuse_reference(node)?,
            _ => {}
        }
        match &node.kind {
            NodeKind::Sequence(items) => match items.as_slice() {
                [.., last] if node.flow => {
                    self.only(self.add_flow(node, Some(last), items.len(), &new.flow)?)
                }
                [first, .., last] | [first @ last] => {
                    let dash = first.dash().ok_or_else(|| EditError::new("the list has no dash"))?;
                    let column = self.column(dash)?;
                    let lines: Vec<String> =
                        new.lines(self.gap(last)).iter().map(|line| indent(line, column)).collect();
                    // Comments indented deeper than the list's key stand in the list.
                    let least = self.column(target.key.map_or(dash, |key| key.start))? + 1;
                    self.lines_after(node.span.end, Some(least), &lines)
                }
                [] => self.start_list(target, new),
            },
            NodeKind::Null => self.start_list(target, new),
            _ => Err(EditError::at("something else than a list stands here", node.span.clone())),
        }
    }

    /// Makes a block list of `[]` or null below a key; elsewhere a flow list.
    fn start_list(&self, target: &Step<'_>, new: &NewItems) -> Result<Vec<Splice>, EditError> {
        let node = target.node;
        let flow = format!("[{}]", new.flow);
        let Some(key) = target.key.filter(|_| !target.in_flow) else {
            return match (node.span.is_empty(), node.dash(), target.in_flow) {
                (true, None, false) => self.lines_at_end(&new.lines(1)),
                (true, ..) => self.fill_null(target, &flow),
                (false, ..) => Ok(vec![Splice { range: node.span.clone(), text: flow }]),
            };
        };
        let column = self.column(key.start)? + self.style().list;
        let block: Vec<String> = new.lines(1).iter().map(|line| indent(line, column)).collect();
        let mut splices = self.lines_after(node.span.end, None, &block)?;
        if !node.span.is_empty() {
            let colon = lines::after_colon(&self.text, key.span.end).filter(|at| *at <= node.span.start);
            let from = colon
                .ok_or_else(|| EditError::at("the value stands apart from its key", node.span.clone()))?;
            if !self.text[from..node.span.start].trim().is_empty()
                || self.text[node.span.clone()].contains('#')
            {
                return Err(EditError::at("a comment stands within the empty list", node.span.clone()));
            }
            splices.push(Splice { range: from..node.span.end, text: String::new() });
        }
        Ok(splices)
    }

    /// Adds an element before the closing bracket of a collection in flow style.
    fn add_flow(
        &self,
        node: &Node,
        last: Option<&Node>,
        count: usize,
        element: &str,
    ) -> Result<Vec<Vec<Splice>>, EditError> {
        if !self.text[node.span.clone()].ends_with([']', '}']) {
            return Err(EditError::at("a pair without braces stands here", node.span.clone()));
        }
        let Some(last) = last else {
            let at = node.span.start + 1;
            return Ok(vec![vec![Splice { range: at..at, text: element.to_owned() }]]);
        };
        let line = lines::line_start(&self.text, last.span.end);
        // On lines of their own, elements stay so.
        let own_line =
            count > 0 && line > node.span.start && lines::line_end(&self.text, last.span.end) < node.span.end;
        let separator = if own_line {
            let end = lines::skip_blanks(&self.text, line);
            format!(",{}{}", lines::line_break_near(&self.text, line), &self.text[line..end])
        } else {
            ", ".to_owned()
        };
        let at = last.span.end;
        let mut ways = Vec::new();
        let after = lines::skip_blanks(&self.text, at);
        let comma = self.text[after..].starts_with(',');
        if own_line && lines::rest_is_comment(&self.text, if comma { after + 1 } else { at }) {
            // The comment on the last element's line stays with it.
            let line_end = lines::line_end(&self.text, at);
            let mut splices = vec![Splice {
                range: line_end..line_end,
                text: format!("{}{element}{}", &separator[1..], if comma { "," } else { "" }),
            }];
            if !comma {
                splices.push(Splice { range: at..at, text: ",".to_owned() });
            }
            ways.push(splices);
        }
        ways.push(vec![Splice { range: at..at, text: format!("{separator}{element}") }]);
        Ok(ways)
    }

    fn only(&self, ways: Vec<Vec<Splice>>) -> Result<Vec<Splice>, EditError> {
        ways.into_iter().next().ok_or_else(|| EditError::new("no place for it was found"))
    }

    /// Returns the spaces between dash and content as the given item has them.
    fn gap(&self, item: &Node) -> usize {
        let Some(dash) = item.dash() else { return 1 };
        let blanks = lines::skip_blanks(&self.text, dash + 1) - dash - 1;
        let content = dash + 1 + blanks;
        let own_line = content < lines::line_end(&self.text, dash) && !self.text[content..].starts_with('#');
        if own_line && blanks > 0 && !self.text[dash + 1..content].contains('\t') { blanks } else { 1 }
    }

    /// Inserts lines after the line that holds `end`, and after comments that stand right below it
    /// in column `comments` or deeper.
    fn lines_after(
        &self,
        end: usize,
        comments: Option<usize>,
        block: &[String],
    ) -> Result<Vec<Splice>, EditError> {
        let text = &self.text;
        if !lines::rest_is_comment(text, end) && end != lines::line_end(text, end) {
            return Err(EditError::at("something else stands on the same line", lines::char_at(text, end)));
        }
        let line_break = lines::line_break_near(text, end);
        let at = match comments {
            Some(least) => self.after_comments(end, least),
            None => lines::next_line(text, end),
        };
        let body = block.join(line_break);
        let unterminated = at == text.len() && !text.is_empty() && !text.ends_with(['\n', '\r']);
        let new = if unterminated { format!("{line_break}{body}") } else { format!("{body}{line_break}") };
        Ok(vec![Splice { range: at..at, text: new }])
    }

    fn lines_before(&self, start: usize, block: &[String]) -> Splice {
        let line = lines::without_bom(&self.text, lines::line_start(&self.text, start));
        let line_break = lines::line_break_near(&self.text, start);
        Splice { range: line..line, text: format!("{}{line_break}", block.join(line_break)) }
    }

    /// Puts lines at the end of a document that has no value.
    fn lines_at_end(&self, block: &[String]) -> Result<Vec<Splice>, EditError> {
        let document = self.document();
        if !document.root.span.is_empty() {
            let range = document.root.span.clone();
            return Err(EditError::at("the document is `null`", range));
        }
        let at = document.span.end;
        let text = &self.text;
        let line_break = lines::line_break_near(text, at);
        let start_of_line = lines::without_bom(text, lines::line_start(text, at)) == at;
        let before = if start_of_line { "" } else { line_break };
        Ok(vec![Splice { range: at..at, text: format!("{before}{}{line_break}", block.join(line_break)) }])
    }

    /// Returns the start of the first line below `end` that is no comment in column `least` or deeper.
    pub(super) fn after_comments(&self, end: usize, least: usize) -> usize {
        let text = &self.text;
        let mut at = lines::next_line(text, end);
        while at < text.len() {
            let content = lines::skip_blanks(text, at);
            if !text[content..].starts_with('#') || content - at < least {
                break;
            }
            at = lines::next_line(text, at);
        }
        at
    }

    pub(super) fn column(&self, at: usize) -> Result<usize, EditError> {
        column(&self.text, at)
            .ok_or_else(|| EditError::at("a tab stands in the indentation", lines::char_at(&self.text, at)))
    }

    /// Refuses what an edit in one place does not see all of; what is resolved has no such places but tags.
    pub(super) fn refuse_reference(&self, node: &Node) -> Result<(), EditError> {
        let is_refused = if self.resolving { node.has_tag() } else { node.has_reference() };
        if is_refused {
            return Err(EditError::at(
                "an anchor, alias, merge key or tag stands here",
                node.start..node.span.end,
            ));
        }
        Ok(())
    }
}
