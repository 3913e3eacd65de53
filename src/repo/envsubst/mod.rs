//! `${…}` in texts, as Flux fills them in.
//!
//! A port of fluxcd/pkg/envsubst, error by error. What it does not have stands here too: a value that is not known, so that
//! what depends on it stays as it is written.

mod function;
mod glob;
mod parse;
mod scanner;

use std::fmt;

use crate::limit::SUBSTITUTED;
use function::Operator;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable<'v> {
    /// This text.
    Value(std::borrow::Cow<'v, str>),
    /// A text that is not known.
    Unknown,
    /// Nothing. A default counts, all else stays as it is written.
    Unset,
    /// Nothing, which fails but for a default (`template.go`, `evalFunc`, in strict mode).
    Refused,
}

/// Why a text can't be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// `bad substitution`, as where a second argument follows.
    BadSubstitution,
    /// What stands behind a name is no function.
    MissingClosingBrace,
    /// No name stands behind `${`.
    VariableName,
    /// An argument is missing.
    FunctionParameter,
    /// `:` and no known sign.
    DefaultFunction,
    /// A name without a value.
    NotSet(String),
    /// A part of a character is cut off.
    NotUtf8,
    /// More than the tool takes: so deep within each other, or as long.
    TooMuch,
}

impl fmt::Display for Failure {
    /// Says it in the words of envsubst, where these are its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::BadSubstitution => "bad substitution",
            Failure::MissingClosingBrace => "missing closing brace",
            Failure::VariableName => "unable to parse variable name",
            Failure::FunctionParameter => "unable to parse substitution within function",
            Failure::DefaultFunction => "unable to parse default function",
            Failure::NotSet(name) => return write!(f, "variable not set (strict mode): {name:?}"),
            Failure::NotUtf8 => "a part of a value ends within a character",
            Failure::TooMuch => "its variables are too deep within each other, or too long",
        })
    }
}

/// A part of a text.
#[derive(Debug)]
enum Node<'t> {
    /// It stays.
    Text(std::borrow::Cow<'t, str>),
    /// It is filled in.
    Function(Function<'t>),
}

/// One `${…}`.
#[derive(Debug)]
struct Function<'t> {
    /// The name of the variable.
    name: std::borrow::Cow<'t, str>,
    operator: Operator,
    arguments: Vec<Node<'t>>,
    /// As it is written, braces and all.
    written: &'t str,
}

/// What a text comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The text; what depends on an unknown value is as it is written.
    pub text: String,
    /// Whether nothing of it does.
    pub is_known: bool,
}

/// Fills in a text.
///
/// # Errors
///
/// Those of envsubst. See [`Failure`].
pub fn fill<'v>(text: &str, lookup: &dyn Fn(&str) -> Variable<'v>) -> Result<Filled, Failure> {
    let nodes = parse::parse(text)?;
    let mut done = Vec::with_capacity(text.len());
    let is_known = write(&nodes, lookup, &mut done)?;
    let text = String::from_utf8(done).map_err(|_| Failure::NotUtf8)?;
    Ok(Filled { text, is_known })
}

/// Writes some nodes; tells whether all of them are known.
fn write<'v>(
    nodes: &[Node<'_>],
    lookup: &dyn Fn(&str) -> Variable<'v>,
    done: &mut Vec<u8>,
) -> Result<bool, Failure> {
    let mut is_known = true;
    for node in nodes {
        match node {
            Node::Text(text) => done.extend_from_slice(text.as_bytes()),
            Node::Function(function) => match function.value(lookup)? {
                Some(value) => done.extend_from_slice(&value),
                None => {
                    is_known = false;
                    done.extend_from_slice(function.written.as_bytes());
                }
            },
        }
        if done.len() > SUBSTITUTED {
            return Err(Failure::TooMuch);
        }
    }
    Ok(is_known)
}

impl Function<'_> {
    /// Returns what it comes to; `None` where that is not known. All arguments are looked at, wanted or not.
    fn value<'v>(&self, lookup: &dyn Fn(&str) -> Variable<'v>) -> Result<Option<Vec<u8>>, Failure> {
        let mut arguments: Vec<Vec<u8>> = Vec::with_capacity(self.arguments.len());
        let mut is_known = true;
        for node in &self.arguments {
            let mut argument = Vec::new();
            is_known &= write(std::slice::from_ref(node), lookup, &mut argument)?;
            arguments.push(argument);
        }
        let value = match lookup(&self.name) {
            Variable::Unknown => return Ok(None),
            Variable::Refused if !self.operator.is_default() => {
                return Err(Failure::NotSet(self.name.to_string()));
            }
            Variable::Unset if !self.operator.is_default() => return Ok(None),
            Variable::Unset | Variable::Refused => std::borrow::Cow::Borrowed(""),
            Variable::Value(value) => value,
        };
        // A default that is not wanted may be anything.
        if !is_known && (value.is_empty() || !self.operator.is_default()) {
            return Ok(None);
        }
        Ok(self.operator.apply(value.as_bytes(), &arguments))
    }
}

#[cfg(test)]
mod tests;
