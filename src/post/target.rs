//! Which pull request to post to, as the variables of a CI say.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::post::forge::Forge;

/// What the command line says, which outranks the environment.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The address of the API.
    pub api: Option<String>,
    /// The repository: `owner/name`, or of GitLab the project's path or number.
    pub repository: Option<String>,
    /// The number of the pull request.
    pub number: Option<u64>,
    /// Certificates in PEM to trust instead of Mozilla's.
    pub roots: Option<Vec<u8>>,
}

/// One pull request, and what it takes to write to it.
pub struct Target {
    /// The forge.
    pub forge: Forge,
    /// The address of the API, without a slash at its end.
    pub api: String,
    /// The repository: `owner/name`, or of GitLab the project's path or number.
    pub repository: String,
    /// The number of the pull request.
    pub number: u64,
    /// The secret.
    pub token: String,
    /// Whether it is the token that GitLab gives to each job.
    pub is_job_token: bool,
    /// Certificates in PEM to trust instead of Mozilla's.
    pub roots: Option<Vec<u8>>,
}

impl Target {
    /// Finds it out: from what is given, then from the forge's own CI.
    ///
    /// # Errors
    ///
    /// Where the environment lacks something, or something in it is malformed.
    pub fn find(
        forge: Forge,
        given: Given,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Target, Error> {
        let one =
            |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|text| !text.is_empty()));
        let (tokens, apis, repositories): (&[&str], &[&str], &[&str]) = match forge {
            Forge::Github => (&["GITHUB_TOKEN"], &["GITHUB_API_URL"], &["GITHUB_REPOSITORY"]),
            // A merge request of a fork runs in the fork's project.
            Forge::Gitlab => (
                &["GITLAB_TOKEN", "CI_JOB_TOKEN"],
                &["CI_API_V4_URL"],
                &["CI_MERGE_REQUEST_PROJECT_ID", "CI_PROJECT_ID"],
            ),
            Forge::Forgejo => (
                &["FORGEJO_TOKEN", "GITHUB_TOKEN"],
                &["FORGEJO_API_URL", "GITHUB_API_URL"],
                &["FORGEJO_REPOSITORY", "GITHUB_REPOSITORY"],
            ),
        };
        let token = one(tokens).ok_or_else(|| {
            lacks(forge, "token", format!("set {} in the environment of this step", tokens[0]))
        })?;
        let public = (forge == Forge::Github).then(|| "https://api.github.com".to_owned());
        let api = given.api.or_else(|| one(apis)).or(public);
        let api = api.ok_or_else(|| lacks(forge, "address", "name the API with --api-url".to_owned()))?;
        let repository = given.repository.or_else(|| one(repositories));
        let repository =
            repository.ok_or_else(|| lacks(forge, "repository", "name it with --repository".to_owned()))?;
        let number = given.number.or_else(|| match forge {
            Forge::Gitlab => one(&["CI_MERGE_REQUEST_IID"])?.parse().ok(),
            Forge::Github | Forge::Forgejo => number(&one(&["FORGEJO_REF", "GITHUB_REF"])?),
        });
        let number = number.ok_or_else(|| {
            lacks(
                forge,
                "pull request",
                "run the job for pull requests, or name one with --number".to_owned(),
            )
        })?;
        let is_job_token =
            forge == Forge::Gitlab && variable("GITLAB_TOKEN").is_none_or(|text| text.is_empty());
        let target =
            Target { forge, api: api_of(&api)?, repository, number, token, is_job_token, roots: given.roots };
        target.check()
    }

    /// Refuses what would make another request of this one.
    fn check(self) -> Result<Target, Error> {
        let is_segment = |part: &str| {
            !part.is_empty()
                && part.chars().any(|letter| letter != '.')
                && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
        };
        let parts = self.repository.split('/').count();
        let has_parts = match self.forge {
            Forge::Gitlab => parts >= 1,
            Forge::Github | Forge::Forgejo => parts == 2,
        };
        if !has_parts || !self.repository.split('/').all(is_segment) {
            let problem = Diagnostic::error(format!("`{}` is not the name of a repository", self.repository));
            return Err(Error::invalid(problem.help("write it as OWNER/NAME")));
        }
        if self.token.chars().any(|letter| !letter.is_ascii_graphic()) {
            let problem =
                Diagnostic::error("the token holds a space, a line break or another strange character");
            return Err(Error::invalid(
                problem.help("store the token again, without a line break at its end"),
            ));
        }
        Ok(self)
    }
}

/// Takes the number out of `refs/pull/12/merge`, as GitHub and Forgejo name what they run.
fn number(reference: &str) -> Option<u64> {
    reference.strip_prefix("refs/pull/")?.split('/').next()?.parse().ok()
}

fn api_of(text: &str) -> Result<String, Error> {
    let rest = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_address = rest.is_some_and(|rest| {
        !rest.starts_with(['/', ':']) && !rest.is_empty() && !rest.contains(['@', '?', '#', ' ', '\\'])
    });
    if is_address && text.chars().all(|letter| letter.is_ascii_graphic()) {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    let problem = Diagnostic::error("the address of the API is none");
    Err(Error::invalid(
        problem.help("write it as https://forge.example/api/v1, without user, query or fragment"),
    ))
}

fn lacks(forge: Forge, what: &str, help: String) -> Error {
    Error::invalid(Diagnostic::error(format!("no {what} to post to {} with", forge.name())).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(forge: Forge, given: Given, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let target = Target::find(forge, given, &variable).map_err(|error| error.to_string())?;
        Ok(format!("{} {} {} {}", target.api, target.repository, target.number, target.is_job_token))
    }

    #[test]
    fn the_ci_says_where() {
        let github = [
            ("GITHUB_TOKEN", "t"),
            ("GITHUB_API_URL", "https://ghe.example/api/v3/"),
            ("GITHUB_REPOSITORY", "o/n"),
            ("GITHUB_REF", "refs/pull/12/merge"),
        ];
        let says = |text: &str| Ok(text.to_owned());
        assert_eq!(
            found(Forge::Github, Given::default(), &github),
            says("https://ghe.example/api/v3 o/n 12 false")
        );
        let given = Given {
            api: Some("http://localhost:1/api/v1".to_owned()),
            repository: Some("a/b".to_owned()),
            number: Some(3),
            roots: None,
        };
        assert_eq!(found(Forge::Forgejo, given, &github), says("http://localhost:1/api/v1 a/b 3 false"));
        let gitlab = [
            ("CI_JOB_TOKEN", "t"),
            ("CI_API_V4_URL", "https://gitlab.example/api/v4"),
            ("CI_PROJECT_ID", "7"),
            ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_IID", "9"),
        ];
        assert_eq!(
            found(Forge::Gitlab, Given::default(), &gitlab),
            says("https://gitlab.example/api/v4 5 9 true")
        );
    }

    #[test]
    fn what_is_missing_or_malformed_is_said() {
        let of = |change: &[(&'static str, &'static str)]| {
            let mut all = vec![
                ("GITHUB_TOKEN", "t"),
                ("GITHUB_REPOSITORY", "o/n"),
                ("GITHUB_REF", "refs/pull/1/merge"),
            ];
            all.retain(|(name, _)| change.iter().all(|(other, _)| other != name));
            all.extend(change);
            found(Forge::Github, Given::default(), &all).unwrap_err()
        };
        assert_eq!(of(&[("GITHUB_TOKEN", "")]), "no token to post to GitHub with");
        assert_eq!(of(&[("GITHUB_REF", "refs/heads/main")]), "no pull request to post to GitHub with");
        assert_eq!(of(&[("GITHUB_REPOSITORY", "o/../x")]), "`o/../x` is not the name of a repository");
        assert_eq!(of(&[("GITHUB_REPOSITORY", "o/..")]), "`o/..` is not the name of a repository");
        assert_eq!(of(&[("GITHUB_API_URL", "file:///etc")]), "the address of the API is none");
        assert_eq!(of(&[("GITHUB_API_URL", "https://a@b")]), "the address of the API is none");
        assert!(of(&[("GITHUB_TOKEN", "se cret\n")]).starts_with("the token holds"));
        assert!(!of(&[("GITHUB_TOKEN", "se cret\n")]).contains("cret"));
    }
}
