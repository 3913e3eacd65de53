//! `explain PATH` and `explain NAME`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Answer, Global};
use crate::commands::apply::Exit;
use crate::commands::workspace::Loaded;
use crate::delivery::fleet::{others_reading, reached_by};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::explain::{Explained, Read, explain, explain_app, text};
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
            let mut told = text(&explained, output.verbose());
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
