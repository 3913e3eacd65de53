//! `explain PATH` and `explain NAME`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Answer, Global};
use crate::commands::apply::Exit;
use crate::commands::workspace::Loaded;
use crate::delivery::fleet::{others_reading, reached_by};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::explain::{Consumer, Explained, Explanation, Read, explain, explain_app};
use crate::output::Output;

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// The file or folder, relative to the folder of the spec; or an app or a Flux Kustomization (NAMESPACE/NAME)
    #[arg(value_name = "PATH or NAME")]
    pub path: String,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: Answer,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Explain, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open(global, output)?;
    let path = loaded.workspace.path(&arguments.path).map_err(|error| {
        Error::new(
            ErrorKind::Usage,
            Diagnostic::error(error.to_string()).help("name a path below the folder of the spec"),
        )
    })?;
    let input = loaded.input();
    let is_there = input.snapshot.entry(&path).is_some() || input.snapshot.is_dir(&path);
    let named = match is_there {
        true => None,
        false => explain_app(&input, &arguments.path)?,
    };
    let explained = match named {
        Some(explained) => explained,
        None => explain(&input, &path)?,
    };
    let failed = explained.failed.iter().map(|folder| {
        Diagnostic::warning(format!("{folder} does not build: its objects are told as in their files"))
            .help("run `gitops-windows check` to see why")
    });
    output.diagnostics(&failed.collect::<Vec<_>>());
    match arguments.format {
        Answer::Json => {
            let objects: Vec<Value> = explained.objects.iter().map(Explained::to_json).collect();
            let files: Vec<Value> = explained.files.iter().map(Read::to_json).collect();
            output.json(&json!({ "objects": objects, "files": files }));
        }
        Answer::Text => {
            let mut told = text(&explained);
            for other in
                others_reading(input.model, &reached_by(input.model, input.snapshot, &path), &path, &[])
            {
                told += &format!("{other}: a change reaches it once it is there\n");
            }
            output.result(told.as_bytes());
        }
    }
    Ok(Exit::Clean)
}

fn text(explained: &Explanation) -> String {
    let mut text = String::new();
    for object in &explained.objects {
        text.push_str(&format!("{}: {} ({})\n", object.live, object.change_type, object.reason));
        text.push_str(&format!("  from {}\n", object.origin));
        push(&mut text, &object.consumers, Some(object.has_window));
        if object.consumers.is_empty() {
            text.push_str("  no entry point builds it\n");
        }
    }
    for read in &explained.files {
        text.push_str(&format!("{}: no object of its own; it shapes what is built\n", read.file));
        push(&mut text, &read.readers, None);
    }
    if text.is_empty() {
        text.push_str("It declares no object.\n");
    }
    text.lines().map(|line| format!("{}\n", crate::diff::clean(line.as_bytes()))).collect()
}

/// Adds the lines of each entry point and app; `has_window` tells whether the type of an object has windows.
fn push(text: &mut String, consumers: &[Consumer], has_window: Option<bool>) {
    let alike = |a: &Consumer, b: &Consumer| {
        (&a.path, &a.app, &a.kustomization, &a.held_by, &a.doubt)
            == (&b.path, &b.app, &b.kustomization, &b.held_by, &b.doubt)
    };
    for consumers in consumers.chunk_by(alike) {
        let clusters: Vec<&str> = consumers.iter().map(|one| one.cluster.as_str()).collect();
        let word = if clusters.len() == 1 { "cluster" } else { "clusters" };
        let Some(Consumer { path, app, kustomization, held_by, doubt, .. }) = consumers.first() else {
            continue;
        };
        let app = if app.is_empty() { String::new() } else { format!(", app {app}") };
        text.push_str(&format!("  in {word} {}, {path}{app}\n", clusters.join(", ")));
        let Some((_, name)) = kustomization else { continue };
        let lands = match (held_by, has_window) {
            (Some(by), _) => format!(", held by {by}"),
            (None, Some(true)) => ": no gate holds it, and it lands at once".to_owned(),
            (None, Some(false)) => ", at once".to_owned(),
            (None, None) => String::new(),
        };
        let doubt = doubt.as_ref().map(|doubt| format!("; {doubt}")).unwrap_or_default();
        text.push_str(&format!("    by Flux Kustomization {name}{lands}{doubt}\n"));
    }
}
