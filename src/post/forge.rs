//! What the APIs of the forges call their things.

use clap::ValueEnum;
use serde_json::{Value, json};
use ureq::http::Method;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::post::client::{Answer, Client};
use crate::post::target::Target;
use crate::pr::Flavor;

/// Where to post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Forge {
    /// GitHub, with GITHUB_TOKEN
    Github,
    /// GitLab, with GITLAB_TOKEN or CI_JOB_TOKEN
    Gitlab,
    /// Forgejo and Gitea, with FORGEJO_TOKEN or GITHUB_TOKEN
    Forgejo,
}

impl Forge {
    /// Returns the flavor of its Markdown.
    pub fn flavor(self) -> Flavor {
        match self {
            Forge::Github => Flavor::Github,
            Forge::Gitlab => Flavor::Gitlab,
            Forge::Forgejo => Flavor::Forgejo,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Forge::Github => "GitHub",
            Forge::Gitlab => "GitLab",
            Forge::Forgejo => "Forgejo",
        }
    }

    /// Says how to let the token write comments.
    fn permission(self) -> &'static str {
        match self {
            Forge::Github => {
                "1. Give the job `permissions: pull-requests: write`. 2. For forks, post from the second workflow of \
                 docs/pr.md."
            }
            Forge::Gitlab => {
                "set GITLAB_TOKEN to a project access token with scope `api`; job tokens write no comments"
            }
            Forge::Forgejo => {
                "1. Set FORGEJO_TOKEN to a token with `write:issue` and `read:user`. 2. For forks, see docs/pr.md."
            }
        }
    }
}

/// A comment as a forge keeps it.
pub struct Comment {
    /// Its number.
    pub id: i64,
    /// Its Markdown.
    pub body: String,
    /// Who wrote it, by id; `None` where the forge has forgotten.
    pub author: Option<i64>,
}

/// Why a comment is not written.
pub enum Refusal {
    /// It is longer than the forge takes.
    TooLong,
    /// The comment that was to be edited is gone.
    Gone,
    /// Anything else.
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Error(error)
    }
}

/// The comments on one pull request.
pub struct Comments<'t> {
    target: &'t Target,
    client: Client,
}

impl<'t> Comments<'t> {
    /// Makes a client for a target.
    ///
    /// # Errors
    ///
    /// Where the certificates of the target can't be read.
    pub fn of(target: &'t Target) -> Result<Comments<'t>, Error> {
        let (header, scheme) = match target.forge {
            Forge::Gitlab if target.is_job_token => ("JOB-TOKEN", ""),
            Forge::Github | Forge::Gitlab => ("Authorization", "Bearer "),
            Forge::Forgejo => ("Authorization", "token "),
        };
        let client = Client::new(header, scheme, target.token.clone(), target.roots.as_deref())?;
        Ok(Comments { target, client })
    }

    /// Returns the id of the user that the token stands for.
    ///
    /// GitHub tells a workflow's token only by GraphQL: `GET /user` is 403 then.
    ///
    /// # Errors
    ///
    /// Where the forge does not say.
    pub fn own(&self) -> Result<i64, Error> {
        let api = &self.target.api;
        let (answer, pointer) = match self.target.forge {
            Forge::Github => {
                let query = json!({ "query": "query { viewer { databaseId } }" });
                let url = format!("{}/graphql", api.strip_suffix("/v3").unwrap_or(api));
                (self.client.ask(&Method::POST, &url, Some(&query))?, "/data/viewer/databaseId")
            }
            Forge::Gitlab if self.target.is_job_token => {
                (self.client.ask(&Method::GET, &format!("{api}/job"), None)?, "/user/id")
            }
            Forge::Gitlab | Forge::Forgejo => {
                (self.client.ask(&Method::GET, &format!("{api}/user"), None)?, "/id")
            }
        };
        let id = answer.body.pointer(pointer).and_then(Value::as_i64);
        id.filter(|_| answer.status == 200).ok_or_else(|| self.refused(&answer, "say whose the token is"))
    }

    /// Reads all comments, the oldest first, page by page.
    ///
    /// # Errors
    ///
    /// Where the forge shows them not.
    pub fn all(&self) -> Result<Vec<Comment>, Error> {
        let (query, author) = match self.target.forge {
            Forge::Gitlab => ("sort=asc&order_by=created_at&per_page=100", "/author/id"),
            Forge::Github | Forge::Forgejo => ("per_page=100", "/user/id"),
        };
        let mut found = Vec::new();
        for page in 1.. {
            // The address of the next page is made here: that in `Link` could lead the token elsewhere.
            let url = format!("{}?{query}&page={page}", self.list());
            let answer = self.client.ask(&Method::GET, &url, None)?;
            let Some(items) = answer.body.as_array().filter(|_| answer.status == 200) else {
                return Err(self.refused(&answer, "show the comments"));
            };
            found.extend(items.iter().filter_map(|item| {
                let body = item["body"].as_str()?.to_owned();
                Some(Comment {
                    id: item["id"].as_i64()?,
                    body,
                    author: item.pointer(author).and_then(Value::as_i64),
                })
            }));
            if items.is_empty() || !answer.is_more {
                break;
            }
        }
        Ok(found)
    }

    /// Writes a new comment, or another text into the comment of this number. Returns the number.
    ///
    /// # Errors
    ///
    /// Where the forge does not take it.
    pub fn write(&self, id: Option<i64>, body: &str) -> Result<i64, Refusal> {
        let (method, url) = match (id, self.target.forge) {
            (None, _) => (Method::POST, self.list()),
            (Some(id), Forge::Gitlab) => (Method::PUT, format!("{}/{id}", self.list())),
            (Some(id), _) => (Method::PATCH, format!("{}/issues/comments/{id}", self.repository())),
        };
        let answer = self.client.ask(&method, &url, Some(&json!({ "body": body })))?;
        match answer.status {
            200 | 201 => Ok(answer.body["id"].as_i64().or(id).unwrap_or_default()),
            404 | 410 if id.is_some() => Err(Refusal::Gone),
            // GitHub says 422, GitLab 400, a proxy before them 413.
            413 => Err(Refusal::TooLong),
            400 | 422 if answer.said().contains("too long") => Err(Refusal::TooLong),
            _ => Err(self.refused(&answer, "take the comment").into()),
        }
    }

    fn repository(&self) -> String {
        let Target { api, repository, .. } = self.target;
        match self.target.forge {
            Forge::Gitlab => format!("{api}/projects/{}", repository.replace('/', "%2F")),
            Forge::Github | Forge::Forgejo => format!("{api}/repos/{repository}"),
        }
    }

    fn list(&self) -> String {
        let number = self.target.number;
        match self.target.forge {
            Forge::Gitlab => format!("{}/merge_requests/{number}/notes", self.repository()),
            Forge::Github | Forge::Forgejo => format!("{}/issues/{number}/comments", self.repository()),
        }
    }

    fn refused(&self, answer: &Answer, what: &str) -> Error {
        let Target { forge, repository, number, .. } = self.target;
        let (status, said) = (answer.status, answer.said());
        let problem = Diagnostic::error(format!("{} does not {what}: {status} {said}", forge.name()));
        let help = match status {
            401 => format!("give a token that is valid and has not expired for {}", self.target.api),
            404 => format!(
                "1. Check that {repository} has number {number}. 2. Let the token see it. 3. {}",
                forge.permission().trim_start_matches("1. ")
            ),
            403 => forge.permission().to_owned(),
            300..=399 => {
                "give the address of the API itself with --api-url: no redirect is followed".to_owned()
            }
            _ => "run the job again later; nothing else depends on this comment".to_owned(),
        };
        Error::invalid(problem.help(help))
    }
}
