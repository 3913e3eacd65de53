//! Renders manifests from templates in which no value can become anything but the value.
//!
//! `{{ value }}` writes a whole YAML value: text quoted where that is needed, lists and mappings in
//! flow style. `{{ list | json }}` writes JSON. After rendering the result is read, and every value
//! that was written must stand there as one whole YAML value. Part of a longer text
//! (`open-{{ name }}`) may only be what consists of letters, digits and `. _ / @ + = -`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, ValueKind};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::repo::RepoPath;
use crate::yaml::{self, Node, NodeKind};

/// The templates of the program: name and text.
const EMBEDDED: &[(&str, &str)] = &[
    ("alert-provider.yaml", include_str!("../templates/alert-provider.yaml.j2")),
    ("alert.yaml", include_str!("../templates/alert.yaml.j2")),
    ("app-configmap.yaml", include_str!("../templates/app-configmap.yaml.j2")),
    ("app-deployment.yaml", include_str!("../templates/app-deployment.yaml.j2")),
    ("app-service.yaml", include_str!("../templates/app-service.yaml.j2")),
    ("cluster-gate-kustomization.yaml", include_str!("../templates/cluster-gate-kustomization.yaml.j2")),
    ("flux-kustomization.yaml", include_str!("../templates/flux-kustomization.yaml.j2")),
    ("gate-kustomization.yaml", include_str!("../templates/gate-kustomization.yaml.j2")),
    ("job.yaml", include_str!("../templates/job.yaml.j2")),
    ("namespace.yaml", include_str!("../templates/namespace.yaml.j2")),
    ("patch.yaml", include_str!("../templates/patch.yaml.j2")),
    ("role-binding.yaml", include_str!("../templates/role-binding.yaml.j2")),
    ("role-patch.yaml", include_str!("../templates/role-patch.yaml.j2")),
    ("role.yaml", include_str!("../templates/role.yaml.j2")),
    ("service-account.yaml", include_str!("../templates/service-account.yaml.j2")),
];

/// Stand around each written value until the result is checked. No value holds them: both are
/// written as escapes.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// How many instructions one rendering may take, so that an override can't run for ever.
const FUEL: u64 = 5_000_000;

/// The templates of the program with a user's overrides.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
    sources: BTreeMap<String, Arc<str>>,
}

impl Templates {
    /// Takes the program's templates, of which a user's `overrides` (name and text) replace some.
    ///
    /// # Errors
    ///
    /// When an override names no template of the program, and when a template has a syntax error.
    pub fn new(overrides: BTreeMap<String, String>) -> Result<Templates, Error> {
        Templates::with(EMBEDDED, overrides)
    }

    /// Takes the given templates instead of the program's.
    ///
    /// # Errors
    ///
    /// See [`Templates::new`].
    pub fn with(embedded: &[(&str, &str)], overrides: BTreeMap<String, String>) -> Result<Templates, Error> {
        let mut sources: BTreeMap<String, Arc<str>> =
            embedded.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text))).collect();
        let mut diagnostics = Vec::new();
        for (name, text) in overrides {
            match sources.get_mut(&name) {
                Some(source) => *source = Arc::from(text),
                None => {
                    let known: Vec<&str> = embedded.iter().map(|(name, _)| *name).collect();
                    diagnostics.push(
                        Diagnostic::error(format!(
                            "there is no template `{name}` to override, so the file would have no effect"
                        ))
                        .help(format!("rename it to one of {}", known.join(", "))),
                    );
                }
            }
        }
        let mut environment = environment();
        for (name, source) in &sources {
            if source.contains([OPEN, CLOSE]) {
                let message = format!("template `{name}` holds a private character (U+E000 or U+E001)");
                diagnostics.push(Diagnostic::error(message).at(place(name, source, None)));
            }
            if let Err(error) = environment.add_template_owned(name.clone(), source.to_string()) {
                diagnostics.push(template_diagnostic(&sources, name, &error));
            }
        }
        match diagnostics.is_empty() {
            true => Ok(Templates { environment, sources }),
            false => Err(Error { kind: crate::error::ErrorKind::Invalid, diagnostics }),
        }
    }

    /// Gives the names of all templates, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }

    /// Renders a template and checks the result.
    ///
    /// # Errors
    ///
    /// When the template uses a value that `context` does not have; when the result is not YAML,
    /// has a key twice, or holds `${`, which Flux would try to substitute; when a written value is
    /// not one whole YAML value in the result. Each names the template and the line.
    pub fn render(&self, name: &str, context: impl Serialize) -> Result<String, Error> {
        let render = || self.environment.get_template(name)?.render(Serde(&context));
        let marked =
            render().map_err(|error| Error::invalid(template_diagnostic(&self.sources, name, &error)))?;
        let (text, written) = unmark(&marked);
        check(name, &text, &written)?;
        Ok(text)
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true).trim_blocks(true).lstrip_blocks(true);
    // The default delimiters can't fail to build.
    if let Ok(syntax) = syntax.build() {
        environment.set_syntax(syntax);
    }
    environment.set_fuel(Some(FUEL));
    // A custom name makes sure that nothing but this formatter ever writes a value.
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("yaml".into()));
    environment.set_formatter(|out, _, value| {
        // Safe is what already went through here: macros and the `json` filter.
        if value.is_safe() {
            return Ok(out.write_str(value.as_str().unwrap_or_default())?);
        }
        let text = yaml::flow_text(&to_json(value)?);
        Ok(out.write_str(&format!("{OPEN}{text}{CLOSE}"))?)
    });
    environment.remove_filter("safe");
    environment.remove_filter("escape");
    environment.remove_filter("e");
    environment.add_filter("json", |value: Value, _: Kwargs| -> Result<Value, minijinja::Error> {
        let mut out = String::from(OPEN);
        write_json(&to_json(&value)?, &mut out);
        out.push(CLOSE);
        Ok(Value::from_safe_string(out))
    });
    environment
}

fn to_json(value: &Value) -> Result<serde_json::Value, minijinja::Error> {
    let refused = |what: String| minijinja::Error::new(ErrorKind::InvalidOperation, what);
    if value.is_undefined() {
        return Err(minijinja::Error::from(ErrorKind::UndefinedError));
    }
    if !matches!(
        value.kind(),
        ValueKind::None
            | ValueKind::Bool
            | ValueKind::Number
            | ValueKind::String
            | ValueKind::Seq
            | ValueKind::Map
            | ValueKind::Iterable
    ) {
        return Err(refused(format!("a value of kind {} can't be written", value.kind())));
    }
    serde_json::to_value(value).map_err(|error| refused(error.to_string()))
}

/// Writes JSON that is YAML too: invisible characters as escapes, those beyond the basic plane as
/// themselves, since YAML knows no surrogate pairs.
fn write_json(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::String(text) => {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    ' '..='~' => out.push(c),
                    _ if u32::from(c) > 0xffff => out.push(c),
                    _ => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                }
            }
            out.push('"');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_json(item, out);
            }
            out.push(']');
        }
        serde_json::Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_json(&serde_json::Value::String(key.clone()), out);
                out.push_str(": ");
                write_json(value, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Takes the marks away and tells where the written values stand.
fn unmark(marked: &str) -> (String, Vec<Range<usize>>) {
    let mut text = String::with_capacity(marked.len());
    let mut written = Vec::new();
    let mut open = Vec::new();
    for c in marked.chars() {
        match c {
            OPEN => open.push(text.len()),
            CLOSE => written.extend(open.pop().map(|start| start..text.len())),
            _ => text.push(c),
        }
    }
    (text, written)
}

fn check(name: &str, text: &str, written: &[Range<usize>]) -> Result<(), Error> {
    let fail = |what: &str, span: Range<usize>| {
        let line = text[..span.start].matches('\n').count() + 1;
        let message = format!("what template `{name}` renders {what}, in line {line} of the result");
        Error::invalid(
            Diagnostic::error(message)
                .at(place(name, &Arc::from(text), Some(span)))
                .help("correct the template"),
        )
    };
    if let Some(at) = text.find("${") {
        return Err(fail("holds `${`, which Flux would try to substitute", at..at + 2));
    }
    let documents = yaml::read_documents(text)
        .map_err(|error| fail(&format!("is not YAML ({})", error.message), error.span.clone()))?;
    let mut spans = std::collections::BTreeSet::new();
    for document in &documents {
        if let Some(twice) = document.duplicates.first() {
            return Err(fail(&format!("has the key `{}` twice", twice.key), twice.second.clone()));
        }
        collect(&document.root, &mut spans)
            .map_err(|span| fail("holds `${` behind escapes, which Flux would try to substitute", span))?;
    }
    for span in written {
        let harmless = text[span.clone()].bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'@' | b'+' | b'=' | b'-')
        });
        if !harmless && !spans.contains(&(span.start, span.end)) {
            return Err(fail(
                "writes a value as part of other text, where it could mean something else",
                span.clone(),
            ));
        }
    }
    Ok(())
}

/// Notes the bytes of every value and key; the error is the place of a text that holds `${`.
fn collect(node: &Node, spans: &mut std::collections::BTreeSet<(usize, usize)>) -> Result<(), Range<usize>> {
    spans.insert((node.span.start, node.span.end));
    match &node.kind {
        NodeKind::Scalar { value, .. } if value.contains("${") => Err(node.span.clone()),
        NodeKind::Mapping(entries) => entries.iter().try_for_each(|(key, value)| {
            collect(key, spans)?;
            collect(value, spans)
        }),
        NodeKind::Sequence(items) => items.iter().try_for_each(|item| collect(item, spans)),
        _ => Ok(()),
    }
}

fn place(name: &str, text: &Arc<str>, span: Option<Range<usize>>) -> Place {
    let path = RepoPath::parse("templates").and_then(|folder| folder.join(name)).unwrap_or_default();
    Place { path, text: Some(text.clone()), span }
}

fn template_diagnostic(
    sources: &BTreeMap<String, Arc<str>>,
    name: &str,
    error: &minijinja::Error,
) -> Diagnostic {
    let name = error.name().unwrap_or(name);
    let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let diagnostic = Diagnostic::error(format!("template `{name}`{line}: {}{detail}", error.kind()));
    match sources.get(name) {
        Some(source) => {
            let whole_line = error.line().map(|line| line_span(source, line));
            diagnostic.at(place(
                name,
                source,
                error.range().filter(|span| source.get(span.clone()).is_some()).or(whole_line),
            ))
        }
        None => diagnostic,
    }
}

fn line_span(text: &str, line: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text[start..].lines().next().map_or(0, str::len);
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn render(template: &str, context: serde_json::Value) -> Result<String, Error> {
        Templates::with(&[("t.yaml.j2", template)], BTreeMap::new())?.render("t.yaml.j2", context)
    }

    fn message(template: &str, context: serde_json::Value) -> String {
        render(template, context).unwrap_err().diagnostics[0].message.clone()
    }

    #[test]
    fn values_are_written_as_whole_yaml_values() {
        let template = "name: {{ name }}\nlist: {{ list }}\ncommand: {{ list | json }}\n{% for item in list %}\n- no\n{% endfor %}\n"
            .replace("- no", "k{{ loop.index }}: {{ item }} # {{ loop.index }}");
        let context = json!({"name": "on", "list": ["a", "b: c", "é\u{2028}😀"]});
        let text = render(&template, context).unwrap();
        assert_eq!(
            text,
            "name: \"on\"\nlist: [a, \"b: c\", \"é\\u2028\\U0001f600\"]\ncommand: [\"a\", \"b: c\", \"\\u00e9\\u2028😀\"]\n\
             k1: a # 1\nk2: \"b: c\" # 2\nk3: \"é\\u2028\\U0001f600\" # 3\n"
        );
        let macros = "{% macro item(x) %}- {{ x }}\n{% endmacro %}{{ item(a) }}{{ item('x: y') }}";
        assert_eq!(render(macros, json!({"a": 1})).unwrap(), "- 1\n- \"x: y\"\n");
        assert_eq!(render("a: open-{{ a }}-job", json!({"a": "apps-rw"})).unwrap(), "a: open-apps-rw-job");
        assert_eq!(
            render("{{ a }}: {{ b }}\n", json!({"a": "x\n- y", "b": null})).unwrap(),
            "\"x\\n- y\": null\n"
        );
    }

    #[test]
    fn a_value_never_becomes_part_of_other_text() {
        for template in [
            "a: open-{{ x }}",
            "a: \"{{ x }}\"",
            "a: b {{ x }}",
            "# {{ x }}\n",
            "a: |\n  {{ x }}\n",
            "a: '{{ x }}'",
        ] {
            for value in ["x: y", "a #b", "\"", "x\ny", "' b"] {
                let error = message(template, json!({"x": value}));
                assert!(
                    error.contains("as part of other text") || error.contains("not YAML"),
                    "{template} {value}"
                );
            }
        }
    }

    #[test]
    fn errors_name_template_and_line() {
        let error = render("a: 1\nb: {{ nothing }}\n", json!({})).unwrap_err();
        assert!(
            error.diagnostics[0].message.starts_with("template `t.yaml.j2`, line 2: undefined value"),
            "{error}"
        );
        let place = error.diagnostics[0].place.as_ref().unwrap();
        assert_eq!(place.path.as_str(), "templates/t.yaml.j2");
        assert!(place.text.as_ref().unwrap()[place.span.clone().unwrap()].contains("nothing"));
        assert!(message("a: {% if %}", json!({})).contains("line 1: syntax error"));
        assert!(message("a: [\n", json!({})).contains("not YAML"));
        assert!(message("a: 1\na: {{ x }}\n", json!({"x": 1})).contains("key `a` twice, in line 2"));
        assert!(message("a: {{ x }}\n", json!({"x": "${y}"})).contains("${"));
        assert!(message("a: \"$\\x7by}\"\n", json!({})).contains("behind escapes"));
        assert!(message("a: {{ x | safe }}\n", json!({"x": "y"})).contains("unknown filter"));
        assert!(
            message(
                "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
                json!({})
            )
            .contains("fuel")
        );
    }

    #[test]
    fn overrides_replace_templates_of_the_program_only() {
        let embedded = [("a.j2", "a: 1\n"), ("b.j2", "b: 1\n")];
        let given = BTreeMap::from([("a.j2".to_owned(), "a: {{ x }}\n".to_owned())]);
        let templates = Templates::with(&embedded, given).unwrap();
        assert_eq!(templates.render("a.j2", json!({"x": "yes"})).unwrap(), "a: \"yes\"\n");
        assert_eq!(templates.render("b.j2", json!({})).unwrap(), "b: 1\n");
        let given =
            BTreeMap::from([("c.j2".to_owned(), String::new()), ("a.j2".to_owned(), "{{".to_owned())]);
        assert_eq!(Templates::with(&embedded, given).unwrap_err().diagnostics.len(), 2);
        assert!(templates.render("c.j2", json!({})).is_err());
    }
}
