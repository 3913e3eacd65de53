//! Requests to a forge: one at a time, with patience where it asks for some.

use std::time::Duration;

use serde_json::Value;
use ureq::http::{Method, Request, Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use crate::diagnostic::{Diagnostic, clean};
use crate::error::Error;
use crate::live::trusted;

/// How often a request is made that the forge turns down for now.
const TRIES: u32 = 3;

/// The longest time to wait in one go; who has to wait longer runs the job again.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long one request may take.
const TIME: Duration = Duration::from_secs(30);

/// The most of an answer that is read: a hundred comments of the greatest length are more, and none is so long.
const MOST: u64 = 32 << 20;

/// What a forge answers.
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Whether a further page follows.
    pub is_more: bool,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Answer {
    /// Returns what the forge says of a failure, on one line.
    ///
    /// GitHub and Forgejo have `message` and `errors`, GitLab `message` or `error`.
    pub fn said(&self) -> String {
        let texts = ["message", "error", "errors"].iter().filter_map(|key| match &self.body[key] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        });
        let text = texts.collect::<Vec<_>>().join(" ");
        clean(&text.chars().take(300).collect::<String>())
    }
}

/// Speaks with one API, with one token.
pub struct Client {
    agent: Agent,
    header: &'static str,
    value: String,
    token: String,
}

impl Client {
    /// Makes a client that sends `token` in `header`, after `scheme`. `roots` are certificates in PEM that are trusted
    /// instead of Mozilla's.
    ///
    /// # Errors
    ///
    /// Where `roots` holds no certificate.
    pub fn new(
        header: &'static str,
        scheme: &str,
        token: String,
        roots: Option<&[u8]>,
    ) -> Result<Client, Error> {
        let roots = roots.map_or_else(|| Ok(RootCerts::WebPki), trusted)?;
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could lead the token elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(TIME))
            .user_agent(concat!("gitops-windows/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build()
            .new_agent();
        Ok(Client { agent, header, value: format!("{scheme}{token}"), token })
    }

    /// Makes a request, again where the forge says when. A body is sent as JSON.
    ///
    /// # Errors
    ///
    /// Where no answer comes, or none but that it is too early.
    pub fn ask(&self, method: &Method, url: &str, body: Option<&Value>) -> Result<Answer, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut response = self.once(method, url, body).map_err(|error| self.unreachable(url, &error))?;
            let status = response.status();
            let wait = wait(&response, method, tries);
            let read = response.body_mut().with_config().limit(MOST).lossy_utf8(true).read_to_string();
            let text = read.map_err(|error| self.unreachable(url, &error))?.replace(&self.token, "***");
            let body = serde_json::from_str(&text).unwrap_or(Value::Null);
            let answer = Answer { status: status.as_u16(), is_more: is_more(&response), body };
            match wait {
                Some(wait) if tries < TRIES && wait <= PATIENCE => std::thread::sleep(wait),
                Some(wait) if is_too_early(status, &response) => return Err(too_early(&answer, wait)),
                _ => return Ok(answer),
            }
        }
    }

    fn once(&self, method: &Method, url: &str, body: Option<&Value>) -> Result<Response<Body>, ureq::Error> {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(self.header, &self.value)
            .header("Accept", "application/json");
        match body {
            Some(body) => {
                self.agent.run(request.header("Content-Type", "application/json").body(body.to_string())?)
            }
            None => self.agent.run(request.body(())?),
        }
    }

    fn unreachable(&self, url: &str, error: &ureq::Error) -> Error {
        let reason = error.to_string().replace(&self.token, "***");
        let problem = Diagnostic::error(format!("no answer from {url}: {}", clean(&reason)));
        Error::invalid(
            problem.help(
                "check the address, the proxy (HTTPS_PROXY), and for a private authority SSL_CERT_FILE",
            ),
        )
    }
}

/// Returns how long to wait before the same request may be made again; `None` where that would not help.
///
/// Too many requests: 429, on GitHub also 403 with `Retry-After`. What a gateway has lost is asked again, but not
/// where that could make a second comment.
fn wait(response: &Response<Body>, method: &Method, tries: u32) -> Option<Duration> {
    let status = response.status();
    if is_too_early(status, response) {
        let told = header(response, "retry-after").and_then(|text| text.trim().parse().ok());
        return Some(told.map_or(PATIENCE, Duration::from_secs));
    }
    let is_lost = [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT]
        .contains(&status);
    (is_lost && method != Method::POST).then(|| Duration::from_millis(500) * tries)
}

fn is_too_early(status: StatusCode, response: &Response<Body>) -> bool {
    let is_used_up = || header(response, "x-ratelimit-remaining") == Some("0");
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::FORBIDDEN && (header(response, "retry-after").is_some() || is_used_up())
}

/// Returns whether `Link` names a further page (RFC 8288).
fn is_more(response: &Response<Body>) -> bool {
    header(response, "link").is_some_and(|link| link.contains("rel=\"next\""))
}

fn header<'r>(response: &'r Response<Body>, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

fn too_early(answer: &Answer, wait: Duration) -> Error {
    let said = answer.said();
    let problem = Diagnostic::error(format!("the forge takes no more requests for now: {said}"));
    Error::invalid(problem.help(format!("run the job again in {} s or later", wait.as_secs())))
}
