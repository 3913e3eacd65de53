//! `postBuild` against fluxcd/pkg/envsubst and Go's YAML, which fill it in for kustomize-controller.
//!
//! Builds `tests/envsubst-oracle` from the Go module proxy; says so and passes where Go is not at hand. What the controller does
//! around them is `varSubstitution` of fluxcd/pkg/kustomize. `GITOPS_WINDOWS_TEST_THOROUGH` tries ten times as many texts, and
//! fails without Go.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test's helpers may fail loudly and speak")]

#[path = "support/oracle.rs"]
mod oracle;
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gitops_windows::repo::envsubst::{Failure, Filler, Variable};
use gitops_windows::repo::post_build::{Unfilled, substituted};
use gitops_windows::yaml::emit;
use oracle::{ask, built, same};
use serde_json::{Value, json};
use support::thorough::is_thorough;

/// Builds the oracle once; `None` without Go, which fails where all is to be tried.
fn oracle() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = BUILT.get_or_init(|| built("envsubst-oracle")).as_deref();
    assert!(program.is_some() || !is_thorough(), "Go could not build tests/envsubst-oracle");
    program
}

/// Texts made by chance.
struct Chance(u64);

impl Chance {
    fn new() -> Chance {
        Chance(0x676f_6c64)
    }

    fn below(&mut self, count: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % count
    }

    fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Pieces of expressions, in any order.
    fn pieces(&mut self) -> String {
        let count = 1 + self.below(9);
        (0..count).map(|_| self.one(PIECES)).collect()
    }

    /// An expression that is mostly well formed.
    fn expression(&mut self, depth: usize) -> String {
        let name = self.one(&["A", "B", "N", "EMPTY", "NONE", "PATH"]);
        let argument = |this: &mut Chance| match this.below(4) {
            0 if depth > 0 => this.expression(depth - 1),
            1 => this.one(&["*", "a*", "?", "[a-z]", "[^a]*", "\\*", "*/", "\\/", "$$", ""]).to_owned(),
            _ => this.one(&["x", "a", "-", "y z", "1", "true", ": ", "b/c", "#", "'", "\""]).to_owned(),
        };
        match self.below(9) {
            0 | 1 => format!("${{{name}}}"),
            2 => {
                let sign = self.one(&[":-", ":=", "=", ":+", ":?", "-", "?", "+"]);
                format!("${{{name}{sign}{}{}}}", argument(self), argument(self))
            }
            3 => format!("${{{name}{}}}", self.one(&["^", "^^", ",", ",,", "^,", "^^^"])),
            4 => format!("${{#{name}}}"),
            5 => format!("${{{name}{}{}}}", self.one(&["#", "##", "%", "%%"]), argument(self)),
            6 => {
                let sign = self.one(&["/", "//", "/#", "/%"]);
                format!("${{{name}{sign}{}/{}}}", argument(self), argument(self))
            }
            7 => format!("${{{name}:{}}}", self.one(&["0", "1", "-1", "-9", "99", "x"])),
            _ => {
                let (from, length) = (
                    self.one(&["0", "1", "2", "-2", "9"]),
                    self.one(&["0", "1", "2", "-1", "-9", "99", "y", ""]),
                );
                format!("${{{name}:{from}:{length}}}")
            }
        }
    }

    /// A text as manifests have it.
    fn text(&mut self) -> String {
        let count = 1 + self.below(3);
        let mut text = String::new();
        for _ in 0..count {
            text += &match self.below(5) {
                0 => self.one(WORDS).to_owned(),
                1 => self.one(&["\n", "\n\n", "\n  ", "\t", " ", "'", "\"", "\\", "Ä", "😀"]).to_owned(),
                2 => self.one(PIECES).to_owned(),
                _ => self.expression(1),
            };
        }
        text
    }

    fn object(&mut self) -> Value {
        let text = |this: &mut Chance| match this.below(3) {
            0 => this.text(),
            1 => this.one(WORDS).to_owned(),
            _ => this.expression(1),
        };
        let long = format!("{}${{A}}", "k".repeat(self.below(140)));
        let key =
            self.one(&["k", "k2", "k10", "${A}", "a.b/c", "y", "01", "${NONE:-x}", long.as_str()]).to_owned();
        let items: Vec<Value> = (0..self.below(3)).map(|_| json!(text(self))).collect();
        json!({
            "apiVersion": "v1",
            "kind": self.one(&["ConfigMap", "${KIND:-Secret}"]),
            "metadata": { "name": text(self), "labels": {} },
            "data": { key: text(self), "l": text(self) },
            "spec": { "n": 3, "is": true, "none": null, "list": items, "deep": [[text(self)], [{ "a": [], "b": text(self) }]] },
        })
    }
}

const PIECES: &[&str] = &[
    "$", "$$", "${", "}", "{", "A", "${A}", "$A", "$(A)", "$${A}", "$$${A}", "B", ":", "::", ":-", ":=", "=",
    "-", "#", "##", "%", "/", "//", "^", ",", "\\", "\\\\", "\\/", "x", " ", "0", "1", "é", "?", "+", "é}",
    "${B:-", "${#", "a}", "\u{85}",
];

const WORDS: &[&str] = &[
    "plain",
    "a b",
    "1",
    "true",
    "null",
    "~",
    "",
    "2024-01-01",
    "12:30:45",
    "- a",
    "a: b",
    "# c",
    "a #b",
    "*",
    "a&b",
    "a!t",
    "|",
    "%",
    "@a",
    "`",
    "[a]",
    "{a: b}",
    "{}",
    "a,b",
    "yes",
    ".inf",
    "<<",
    "...",
    "---",
    "-",
    "?",
    ":a",
    "a:",
    "'a'",
    "\"a\"",
    "$A",
    "a\n",
    "a\nb",
    " a",
    "a ",
    "\na",
    "a \nb",
    "a\n\n",
    "\ta",
    "# a\nb: c\n",
    "1e3",
];

fn vars() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("A", "a-b.a/Äa"),
        ("B", "banana"),
        ("N", "12"),
        ("EMPTY", ""),
        ("PATH", "/usr/local/bin"),
    ])
}

fn many(count: usize) -> usize {
    if is_thorough() { 10 * count } else { count }
}

#[test]
fn texts_come_to_what_envsubst_makes_of_them() {
    let Some(program) = oracle() else { return };
    let mut chance = Chance::new();
    let mut texts: Vec<String> = TABLE.iter().map(|text| (*text).to_owned()).collect();
    texts.extend((0..many(6_000)).map(|_| chance.pieces()));
    texts.extend((0..many(6_000)).map(|_| chance.expression(3)));
    let vars = vars();
    let questions: Vec<Value> = texts.iter().map(|text| json!({ "text": text, "vars": vars })).collect();
    let (mut different, mut failing) = (Vec::new(), 0);
    for (text, theirs) in texts.iter().zip(ask(program, &questions)) {
        let lookup = |name: &str| Variable::Value((*vars.get(name).unwrap_or(&"")).into());
        let ours = match Filler::new(&lookup).fill(text) {
            Ok(filled) if filled.is_known => filled.text,
            Ok(_) => "unknown".to_owned(),
            Err(failure) => {
                failing += 1;
                format!("error: {failure}")
            }
        };
        let is_same = match theirs["error"].as_str() {
            Some(error) => ours == format!("error: {error}"),
            // What is no UTF-8 is no YAML.
            None => theirs["text"] == *ours || theirs["bytes"] == true || ours.contains("within a character"),
        };
        if !is_same {
            different.push(format!("{text:?}\n  ours   {ours:?}\n  theirs {theirs}"));
        }
    }
    eprintln!("{} texts, {failing} of which fail: {} differences", texts.len(), different.len());
    assert!(failing > 1000 && failing < texts.len() / 2, "{failing}");
    assert!(different.is_empty(), "{}", different[..different.len().min(20)].join("\n"));
}

#[test]
fn what_nothing_sets_fails_as_it_fails_envsubst() {
    let Some(program) = oracle() else { return };
    let mut chance = Chance::new();
    let mut texts: Vec<String> = TABLE.iter().map(|text| (*text).to_owned()).collect();
    texts.extend((0..many(2_000)).map(|_| chance.expression(3)));
    let mut vars = vars();
    vars.retain(|name, _| *name != "B");
    let questions: Vec<Value> =
        texts.iter().map(|text| json!({ "text": text, "vars": vars, "strict": true })).collect();
    let (mut different, mut not_set) = (Vec::new(), 0);
    for (text, theirs) in texts.iter().zip(ask(program, &questions)) {
        let lookup =
            |name: &str| vars.get(name).map_or(Variable::Missing, |value| Variable::Value((*value).into()));
        let ours = Filler::new(&lookup).fill(text);
        not_set += usize::from(matches!(ours, Err(Failure::NotSet(_))));
        let is_same = match (&ours, theirs["error"].as_str()) {
            (Err(failure), Some(error)) => failure.to_string() == error,
            (Err(failure), None) => *failure == Failure::NotUtf8,
            (Ok(filled), None) => theirs["text"] == *filled.text || theirs["bytes"] == true,
            (Ok(_), Some(_)) => false,
        };
        if !is_same {
            different.push(format!("{text:?}\n  ours   {ours:?}\n  theirs {theirs}"));
        }
    }
    assert!(not_set > 100, "{not_set}");
    assert!(different.is_empty(), "{}", different[..different.len().min(20)].join("\n"));
}

#[test]
fn objects_come_to_what_the_controller_makes_of_them() {
    let Some(program) = oracle() else { return };
    let mut chance = Chance::new();
    let values = [
        "x", "2", "true", "a: b", "- a", "{a: b}", "# c", "*", "'", "\"", "", " a", "a\nb", "yes", "&x y",
        "é", "1e3", ".inf",
    ];
    let cases: Vec<(Value, BTreeMap<&str, &str>)> = (0..many(4_000))
        .map(|_| {
            let mut vars = vars();
            // Text by text is the usual way, so that values which break YAML are the rarer ones.
            vars.insert("A", if chance.below(3) > 0 { "x" } else { chance.one(&values) });
            vars.insert("B", chance.one(&["web", "3", "a.b"]));
            vars.extend(["NONE", "KIND", "a"].map(|name| (name, "")));
            (chance.object(), vars)
        })
        // Another break of lines is a space as soon as Go reads the JSON as YAML.
        .filter(|(object, _)| !object.to_string().contains('\u{85}'))
        .collect();
    let flat = |vars: &BTreeMap<&str, &str>| -> BTreeMap<String, String> {
        vars.iter().map(|(name, value)| ((*name).to_owned(), value.replace('\n', ""))).collect()
    };
    let questions: Vec<Value> =
        cases.iter().map(|(object, vars)| json!({ "object": object, "vars": flat(vars) })).collect();
    let (mut different, mut failing) = (Vec::new(), 0);
    for ((object, vars), theirs) in cases.iter().zip(ask(program, &questions)) {
        let written = emit(object);
        let is_written = written.as_deref() == theirs["text"].as_str();
        let ours = substituted(&json!({ "substitute": vars }), object);
        failing += usize::from(ours.is_err());
        let is_same = match (&ours, theirs["error"].as_str()) {
            (Err(ours), Some(theirs)) => is_same_kind(ours, theirs),
            // A quote that is not closed swallows lines, and Go reads on where none is indented.
            (Err(failure), None) => failure.to_string().contains("multiline quoted"),
            (Ok(ours), None) => same(ours.as_ref().unwrap_or(object), &theirs["object"]),
            _ => false,
        };
        if !is_same || !is_written {
            let written = written.filter(|_| !is_written);
            different
                .push(format!("{object}\n  {vars:?}\n  ours   {ours:?}\n  theirs {theirs}\n  {written:?}"));
        }
    }
    eprintln!("{} objects, {failing} of which fail: {} differences", cases.len(), different.len());
    // The readers of YAML differ in `"\/"`, and in a comment right behind a quote.
    assert!(different.len() <= cases.len() / 5000, "{}", different[..different.len().min(5)].join("\n"));
}

/// Returns whether two failures are of one kind: of envsubst by the same word, of YAML, or of what is no object.
fn is_same_kind(ours: &Unfilled, theirs: &str) -> bool {
    let (yaml, object) = (theirs.starts_with("YAMLToJSON: "), theirs.starts_with("UnmarshalJSON: "));
    match ours {
        // Go fills in bytes, which then are no YAML.
        Unfilled::Envsubst(Failure::NotUtf8) => yaml,
        Unfilled::Envsubst(failure) => failure.to_string() == theirs,
        Unfilled::Yaml(_) | Unfilled::NoJson(_) => yaml,
        Unfilled::NoObject => object,
        Unfilled::Name(_) => false,
    }
}

/// What each function does, and what is none.
const TABLE: &[&str] = &[
    "",
    "plain",
    "${A}",
    "${A:-x}",
    "${NONE:-x}",
    "${NONE:=x}",
    "${NONE=x}",
    "${NONE-x}",
    "${NONE:?x}",
    "${NONE:+x}",
    "${A:+x}",
    "${A:?}",
    "${NONE:?}",
    "${EMPTY:-x}",
    "${EMPTY=x}",
    "${A^}",
    "${A^^}",
    "${A,}",
    "${A,,}",
    "${A#a}",
    "${A##*a}",
    "${A%a}",
    "${A%%a*}",
    "${A/a/x}",
    "${A//a/x}",
    "${A/#a/x}",
    "${A/%a/x}",
    "${A/a/}",
    "${A//a/}",
    "${A/a}",
    "${PATH//\\//-}",
    "${A:0}",
    "${A:1:2}",
    "${A:-1}",
    "${A:1:-1}",
    "${A:9:-9}",
    "${A:x}",
    "${A:1:y}",
    "${#A}",
    "${#NONE}",
    "${#}",
    "${NONE:-${A}}",
    "${NONE:-${EMPTY:-${A}}}",
    "${NONE:-a${A}b${B}c}",
    "$${A}",
    "$$A",
    "$$$",
    "$$$${A}",
    "$A",
    "$",
    "$(A)",
    "${A",
    "${",
    "${}",
    "${ A }",
    "${a.b}",
    "${A:bad}",
    "${A:}",
    "${A::}",
    "${A:é}",
    "${A:😀}",
    "${1}",
    "${_}",
    "${A:-a:b}",
    "${A:-}",
    "${NONE:-$$}",
    "${NONE:-$A}",
    "${A/$$/x}",
    "${A/\\\\/x}",
    "{${A}}",
    "}",
    "${A}}",
    "${A#[a}",
    "${A#[]}",
    "${A#\\}",
    "${A#${B}}",
    "${A/${EMPTY}/x}",
    "${A//${EMPTY}/x}",
    "a\u{0}b${A}",
];
