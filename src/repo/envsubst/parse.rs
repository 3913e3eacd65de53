//! The tree of a text with variables (fluxcd/pkg/envsubst, `parse/parse.go`).

use super::function::Operator;
use super::scanner::{Accept, ESCAPE, IDENT, LEFT, RIGHT, Scanner, Token};
use super::{Failure, Function, Node};
use crate::limit::SUBSTITUTED_DEPTH;

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Vec<Node<'_>>, Failure> {
    let mut parser = Parser { scanner: Scanner::new(text), depth: 0 };
    let mut nodes = Vec::new();
    loop {
        parser.scanner.escapes_all = false;
        match parser.scanner.scan(IDENT | LEFT | ESCAPE, any) {
            Token::Ident => nodes.push(Node::Text(parser.scanner.token())),
            Token::End => return Ok(nodes),
            Token::Left => nodes.push(parser.function()?),
            Token::Right | Token::Illegal => return Err(Failure::BadSubstitution),
        }
    }
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// Reads what follows `${`.
    fn function(&mut self) -> Result<Node<'t>, Failure> {
        if self.depth >= SUBSTITUTED_DEPTH {
            return Err(Failure::TooMuch);
        }
        self.depth += 1;
        let begin = self.scanner.position() - "${".len();
        let mut function = self.within()?;
        self.depth -= 1;
        function.written = self.scanner.since(begin);
        Ok(Node::Function(function))
    }

    fn within(&mut self) -> Result<Function<'t>, Failure> {
        self.scanner.escapes_all = true;
        if self.scanner.peek() == '#' {
            return self.length();
        }
        if self.scanner.scan(IDENT, name) != Token::Ident {
            return Err(Failure::VariableName);
        }
        let name = self.scanner.token();
        let mut function = Function { name, operator: Operator::Plain, arguments: Vec::new(), written: "" };
        match self.scanner.peek() {
            ':' => self.default_or_part(&mut function)?,
            '=' => self.default(&mut function)?,
            ',' | '^' => {
                function.operator = self.operator(casing, Failure::BadSubstitution)?;
                self.close()?;
            }
            '/' => self.replace(&mut function)?,
            '#' => self.trim(&mut function, hashes)?,
            '%' => self.trim(&mut function, percents)?,
            _ => {
                if self.scanner.scan(RIGHT, none) != Token::Right {
                    return Err(Failure::MissingClosingBrace);
                }
            }
        }
        Ok(function)
    }

    /// Reads an operator.
    fn operator(&mut self, accept: Accept, failure: Failure) -> Result<Operator, Failure> {
        match self.scanner.scan(IDENT, accept) {
            Token::Ident => Operator::of(&self.scanner.token()).ok_or(failure),
            _ => Err(failure),
        }
    }

    /// Reads one argument.
    fn argument(&mut self, mode: u8, accept: Accept) -> Result<Node<'t>, Failure> {
        match self.scanner.scan(mode | LEFT, accept) {
            Token::Left => self.function(),
            Token::Ident => Ok(Node::Text(self.scanner.token())),
            _ => Err(Failure::FunctionParameter),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        match self.scanner.scan(RIGHT, none) {
            Token::Right => Ok(()),
            _ => Err(Failure::BadSubstitution),
        }
    }

    /// Reads `${name:…}`. The peek sets how far to go back, so that a wide character fails, as in `parseDefaultOrSubstr`.
    fn default_or_part(&mut self, function: &mut Function<'t>) -> Result<(), Failure> {
        self.scanner.read();
        let next = self.scanner.peek();
        self.scanner.unread();
        match next {
            '=' | '-' | '?' | '+' => self.default(function),
            _ => self.part(function),
        }
    }

    /// Reads `${name:from}` or `${name:from:length}`.
    fn part(&mut self, function: &mut Function<'t>) -> Result<(), Failure> {
        function.operator = self.operator(one_colon, Failure::BadSubstitution)?;
        function.arguments.push(self.argument(IDENT, |c, _| c != ':' && c != '}')?);
        match self.scanner.scan(IDENT | RIGHT, |c, _| c == ':') {
            Token::Right => return Ok(()),
            Token::Ident => {}
            _ => return Err(Failure::BadSubstitution),
        }
        function.arguments.push(self.argument(IDENT, not_closing)?);
        self.close()
    }

    /// Reads what trims a beginning or an end.
    fn trim(&mut self, function: &mut Function<'t>, accept: Accept) -> Result<(), Failure> {
        function.operator = self.operator(accept, Failure::BadSubstitution)?;
        function.arguments.push(self.argument(IDENT, not_closing)?);
        self.close()
    }

    /// Reads `${name/pattern/text}` and its like.
    fn replace(&mut self, function: &mut Function<'t>) -> Result<(), Failure> {
        function.operator = self.operator(slashes, Failure::BadSubstitution)?;
        function.arguments.push(self.argument(IDENT | ESCAPE, |c, _| c != '/')?);
        if self.scanner.scan(IDENT, |c, _| c == '/') != Token::Ident {
            return Err(Failure::BadSubstitution);
        }
        if self.scanner.peek() == '}' {
            return self.close();
        }
        function.arguments.push(self.argument(IDENT | ESCAPE, not_closing)?);
        self.close()
    }

    /// Reads a default, of as many parts as it has.
    fn default(&mut self, function: &mut Function<'t>) -> Result<(), Failure> {
        let is_equal = self.scanner.peek() == '=';
        let accept: Accept = if is_equal { one_equal } else { colon_and_sign };
        function.operator = self.operator(accept, Failure::DefaultFunction)?;
        while self.scanner.peek() != '}' {
            function.arguments.push(self.argument(IDENT, not_closing)?);
        }
        self.close()
    }

    /// Reads `${#name}`.
    fn length(&mut self) -> Result<Function<'t>, Failure> {
        let operator = self.operator(|c, i| c == '#' && i == 1, Failure::BadSubstitution)?;
        if self.scanner.scan(IDENT, name) != Token::Ident {
            return Err(Failure::BadSubstitution);
        }
        let name = self.scanner.token();
        self.close()?;
        Ok(Function { name, operator, arguments: Vec::new(), written: "" })
    }
}

fn any(_: char, _: usize) -> bool {
    true
}

fn none(_: char, _: usize) -> bool {
    false
}

fn name(c: char, _: usize) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn not_closing(c: char, _: usize) -> bool {
    c != '}'
}

fn hashes(c: char, i: usize) -> bool {
    c == '#' && i < 3
}

fn percents(c: char, i: usize) -> bool {
    c == '%' && i < 3
}

fn casing(c: char, i: usize) -> bool {
    (c == ',' || c == '^') && i < 3
}

fn one_equal(c: char, i: usize) -> bool {
    i == 1 && c == '='
}

fn one_colon(c: char, i: usize) -> bool {
    i == 1 && c == ':'
}

fn colon_and_sign(c: char, i: usize) -> bool {
    match i {
        1 => c == ':',
        2 => matches!(c, '=' | '-' | '?' | '+'),
        _ => false,
    }
}

fn slashes(c: char, i: usize) -> bool {
    match i {
        1 => c == '/',
        2 => matches!(c, '/' | '#' | '%'),
        _ => false,
    }
}
