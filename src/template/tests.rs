use serde_json::json;

use super::*;

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
        message("{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}", json!({}))
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
    let given = BTreeMap::from([("c.j2".to_owned(), String::new()), ("a.j2".to_owned(), "{{".to_owned())]);
    assert_eq!(Templates::with(&embedded, given).unwrap_err().diagnostics.len(), 2);
    assert!(templates.render("c.j2", json!({})).is_err());
}
