//! Programs in Go that judge what this project does.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Builds the program in a folder of `tests`; says so where Go can't, and returns `None`.
pub fn built(name: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let mut go = Command::new("go");
    match go.args(["build", "-o"]).arg(&program).arg(".").current_dir(source).status() {
        Ok(status) if status.success() => Some(program),
        other => {
            eprintln!("skipped: Go could not build tests/{name} ({other:?})");
            None
        }
    }
}

/// Asks a program, line by line in JSON.
pub fn ask(program: &Path, questions: &[Value]) -> Vec<Value> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    assert_eq!(answers.len(), questions.len());
    answers
}

/// Compares values; numbers by size, since Go's JSON writes 1.0 as 1.
pub fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => ours == theirs,
    }
}
