//! How templates are rendered: strictly, and every value by one formatter.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use crate::template::mark::{CLOSE, OPEN};
use crate::template::value::{to_json, write_json};
use crate::yaml;

/// How many instructions one rendering may take, so that an override can't run for ever.
const FUEL: u64 = 5_000_000;

/// Makes an environment without templates.
pub(super) fn environment() -> Environment<'static> {
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
