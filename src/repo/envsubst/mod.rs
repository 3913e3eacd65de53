//! `${…}` in texts, as Flux fills them in.
//!
//! A port of fluxcd/pkg/envsubst, error by error. What it does not have stands here too: a value that is not known, so that
//! what depends on it stays as it is written.

mod function;
mod glob;
mod parse;
mod scanner;

use std::cell::Cell;
use std::fmt;

use crate::limit::{SUBSTITUTED, SUBSTITUTED_STEPS};
use function::Operator;

/// Begins what envsubst says of a variable that nothing sets.
pub const NOT_SET: &str = "variable not set (strict mode)";

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable<'v> {
    /// This text.
    Value(std::borrow::Cow<'v, str>),
    /// A text that is not known.
    Unknown,
    /// Nothing. A default counts, all else stays as it is written.
    Unset,
    /// Nothing, and all but a default fails.
    Missing,
    /// Nothing, and the bare name fails.
    MissingBare,
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
    /// Nothing sets the variable of this name, where that counts.
    NotSet(String),
    /// A part of a character is cut off.
    NotUtf8,
    /// More than the tool takes: so deep within each other, or so long.
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
            Failure::NotSet(name) => return write!(f, "{NOT_SET}: {name:?}"),
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

impl Function<'_> {
    /// Returns whether it is a name alone.
    fn is_bare(&self) -> bool {
        self.written.len() == self.name.len() + "${}".len()
    }
}

/// What a text comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The text; what depends on an unknown value is as it is written.
    pub text: String,
    /// Whether nothing of it does.
    pub is_known: bool,
}

/// What may still be spent.
#[derive(Debug)]
struct Budget {
    /// How much may be written.
    bytes: Cell<usize>,
    /// How many steps patterns may take.
    steps: Cell<usize>,
}

impl Budget {
    /// Spends so much of what is written.
    fn write(&self, count: usize) -> Result<(), Failure> {
        self.has(count)?;
        self.bytes.set(self.bytes.get() - count);
        Ok(())
    }

    /// Refuses what is longer than all that may still be written.
    fn has(&self, count: usize) -> Result<(), Failure> {
        if count > self.bytes.get() { Err(Failure::TooMuch) } else { Ok(()) }
    }

    /// Spends steps; `None` where there are not so many.
    fn steps(&self, count: usize) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(count)?);
        Some(())
    }
}

/// Fills in the texts of an object, as long as these together are no longer than the tool takes.
pub struct Filler<'l, 'v> {
    lookup: &'l dyn Fn(&str) -> Variable<'v>,
    budget: Budget,
}

impl<'l, 'v> Filler<'l, 'v> {
    /// Begins, by what gives names their values.
    pub fn new(lookup: &'l dyn Fn(&str) -> Variable<'v>) -> Filler<'l, 'v> {
        let budget = Budget { bytes: Cell::new(SUBSTITUTED), steps: Cell::new(SUBSTITUTED_STEPS) };
        Filler { lookup, budget }
    }

    /// Fills in a text.
    ///
    /// # Errors
    ///
    /// Those of envsubst. See [`Failure`].
    pub fn fill(&self, text: &str) -> Result<Filled, Failure> {
        let nodes = parse::parse(text)?;
        let mut done = Vec::new();
        let is_known = self.write(&nodes, &mut done)?;
        let text = String::from_utf8(done).map_err(|_| Failure::NotUtf8)?;
        Ok(Filled { text, is_known })
    }

    /// Writes some nodes; tells whether all of them are known.
    fn write(&self, nodes: &[Node<'_>], done: &mut Vec<u8>) -> Result<bool, Failure> {
        let mut is_known = true;
        let mut add = |part: &[u8]| {
            self.budget.write(part.len())?;
            done.extend_from_slice(part);
            Ok(())
        };
        for node in nodes {
            match node {
                Node::Text(text) => add(text.as_bytes())?,
                Node::Function(function) => match self.value(function)? {
                    Some(value) => add(&value)?,
                    None => {
                        is_known = false;
                        add(function.written.as_bytes())?;
                    }
                },
            }
        }
        Ok(is_known)
    }

    /// Returns what a function comes to; `None` where that is not known. All arguments are looked at, wanted or not.
    fn value(&self, function: &Function<'_>) -> Result<Option<Vec<u8>>, Failure> {
        let mut arguments: Vec<Vec<u8>> = Vec::with_capacity(function.arguments.len());
        let mut is_known = true;
        for node in &function.arguments {
            let mut argument = Vec::new();
            is_known &= self.write(std::slice::from_ref(node), &mut argument)?;
            arguments.push(argument);
        }
        let value = match (self.lookup)(&function.name) {
            Variable::Unknown => return Ok(None),
            Variable::Missing if !function.operator.is_default() => {
                return Err(Failure::NotSet(function.name.clone().into_owned()));
            }
            Variable::MissingBare if function.is_bare() => {
                return Err(Failure::NotSet(function.name.clone().into_owned()));
            }
            Variable::Unset | Variable::MissingBare if !function.operator.is_default() => return Ok(None),
            Variable::Unset | Variable::Missing | Variable::MissingBare => std::borrow::Cow::Borrowed(""),
            Variable::Value(value) => value,
        };
        // A default that is not wanted may be anything.
        if !is_known && (value.is_empty() || !function.operator.is_default()) {
            return Ok(None);
        }
        function.operator.apply(value.as_bytes(), &arguments, &self.budget)
    }
}

#[cfg(test)]
mod tests;
