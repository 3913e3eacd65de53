//! `pr --post`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::Global;
use crate::commands::apply::Exit;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::post::{self, Forge, Given, Marker, Posted, Target};
use crate::pr::{Flavor, Report, markdown};

/// What a foreign report says first.
const ORIGIN: &str = "_A run of the pull request's own workflow has written this._\n\n";

/// Where `pr` posts to.
#[derive(Args, Debug)]
pub struct Posting {
    /// Post the report as one comment, edited in place; the token comes from the environment
    #[arg(long, value_name = "FORGE", value_enum)]
    pub post: Option<Forge>,
    /// The address of the forge's API [default: what the CI says]
    #[arg(long, value_name = "URL", requires = "post")]
    pub api_url: Option<String>,
    /// The repository, as OWNER/NAME [default: what the CI says]
    #[arg(long, value_name = "REPOSITORY", requires = "post")]
    pub repository: Option<String>,
    /// The number of the pull request [default: what the CI says]
    #[arg(long, value_name = "N", requires = "post")]
    pub number: Option<u64>,
    /// The name of the comment, where one pull request has several
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = post::name)]
    pub comment: String,
    /// Post this file, which another run has written with --format markdown for --head, and compare nothing
    #[arg(long, value_name = "FILE", requires = "post", requires = "head")]
    pub from: Option<PathBuf>,
}

/// Posts a report.
pub fn report(posting: &Posting, target: &Target, report: &Report, output: &Output) -> Result<(), Error> {
    let marker = Marker { name: &posting.comment, head: report.head.as_deref() };
    let write = |limit| Some(marked(report, marker, target.forge.flavor(), limit));
    tell(output, target.forge, post::post(target, &marker, &write)?);
    Ok(())
}

/// Writes a report as Markdown of at most so many bytes, with the marker on top.
pub fn marked(report: &Report, marker: Marker<'_>, flavor: Flavor, limit: usize) -> String {
    let line = marker.line(flavor);
    let text = markdown(report, flavor, limit.min(flavor.limit()).saturating_sub(line.len()));
    line + &text
}

/// Posts what another run has written, once it is sure that this is a report of that commit.
pub fn foreign(
    global: &Global,
    posting: &Posting,
    file: &Path,
    head: &str,
    output: &Output,
) -> Result<Exit, Error> {
    let Some(forge) = posting.post else { return Ok(Exit::Clean) };
    if head.len() < 40 || !head.bytes().all(|letter| letter.is_ascii_hexdigit()) {
        let problem = Diagnostic::error("--from needs the whole hash of the commit as --head");
        return Err(Error::new(
            ErrorKind::Usage,
            problem.help("take it from the event, not from the report"),
        ));
    }
    let path = global.directory.join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Error::invalid(Diagnostic::error(format!("{} can't be read: {error}", path.display())))
    })?;
    let marker = Marker { name: &posting.comment, head: Some(head) };
    let line = marker.line(forge.flavor());
    let Some(text) = text.strip_prefix(&line) else {
        let problem = Diagnostic::error(format!("{} is no report of commit {head}", path.display()));
        return Err(Error::invalid(
            problem.help("nothing is posted; the run for the newest commit posts its own"),
        ));
    };
    let body = line + ORIGIN + &post::foreign(text);
    let write = |_| Some(body.clone());
    tell(output, forge, post::post(&target(posting, forge)?, &marker, &write)?);
    Ok(Exit::Clean)
}

/// Finds out where to post, and with which token.
///
/// # Errors
///
/// Where the environment lacks something.
pub fn target(posting: &Posting, forge: Forge) -> Result<Target, Error> {
    let variable = |name: &str| std::env::var(name).ok();
    let files: &[&str] = match forge {
        Forge::Gitlab => &["SSL_CERT_FILE", "CI_SERVER_TLS_CA_FILE"],
        Forge::Github | Forge::Forgejo => &["SSL_CERT_FILE"],
    };
    let given = Given {
        api: posting.api_url.clone(),
        repository: posting.repository.clone(),
        number: posting.number,
        roots: certificates(files)?,
    };
    Target::find(forge, given, &variable)
}

/// Reads the certificates that the first of these variables names, if any.
///
/// # Errors
///
/// When the file can't be read.
pub(super) fn certificates(variables: &[&str]) -> Result<Option<Vec<u8>>, Error> {
    let file = variables.iter().find_map(|name| std::env::var(name).ok().filter(|file| !file.is_empty()));
    let read = file.map(|file| {
        std::fs::read(&file).map_err(|error| {
            let problem =
                Diagnostic::error(format!("the trusted certificates can't be read: {file}: {error}"));
            Error::invalid(problem.help("let SSL_CERT_FILE name a file in PEM, or unset it"))
        })
    });
    read.transpose()
}

fn tell(output: &Output, forge: Forge, posted: Posted) {
    let name = forge.name();
    output.say(&match posted {
        Posted::New(id) => format!("Posted to {name}: comment {id}."),
        Posted::Edited(id) => format!("Edited on {name}: comment {id}."),
        Posted::Same(id) => format!("Left as it is on {name}: comment {id}."),
    });
}
