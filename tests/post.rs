//! `pr --post` against a stand-in on the loopback that speaks as the forges do.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use divided::finished;
use gitops_windows::post::{Forge, Given, Marker, Posted, Target, post};
use gitops_windows::pr::Flavor;
use serde_json::{Value, json};
use support::scratch::{Run, Scratch, clean};

const TOKEN: &str = "s3cr3t-t0k3n";
const FORGES: [Forge; 3] = [Forge::Github, Forge::Gitlab, Forge::Forgejo];

/// The user of the token. Forgejo's own automation has a negative number.
fn own(forge: Forge) -> i64 {
    if forge == Forge::Forgejo { -2 } else { 41_898_282 }
}

/// A request as it came in.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    path: String,
    head: String,
    body: Value,
}

/// An answer: status, further headers, body.
type Reply = (u16, String, Value);

/// A comment: its number, its author, its text.
type Kept = (i64, i64, String);

#[derive(Default)]
struct State {
    comments: Vec<Kept>,
    asked: Vec<Asked>,
    /// Answers that come first, each to the first request of its method.
    next: Vec<(&'static str, Reply)>,
    longest: Option<usize>,
}

/// A forge that has one pull request, number 12 of `o/n`.
struct StandIn {
    forge: Forge,
    address: String,
    state: Arc<Mutex<State>>,
}

impl StandIn {
    fn new(forge: Forge, comments: Vec<Kept>) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { comments, ..State::default() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(forge, &stream.unwrap(), &mut shared.lock().unwrap());
            }
        });
        StandIn { forge, address, state }
    }

    /// Answers so once.
    fn next(self, method: &'static str, status: u16, headers: &str, body: Value) -> StandIn {
        self.state.lock().unwrap().next.push((method, (status, headers.to_owned(), body)));
        self
    }

    fn target(&self) -> Target {
        let given = Given {
            api: Some(self.address.clone()),
            repository: Some("o/n".to_owned()),
            number: Some(12),
            roots: None,
        };
        let token =
            |name: &str| (name.ends_with("TOKEN") && !name.starts_with("CI_")).then(|| TOKEN.to_owned());
        Target::find(self.forge, given, &token).unwrap()
    }

    fn post(&self, text: &str) -> Result<Posted, String> {
        self.post_within(&|_| Some(text.to_owned()))
    }

    /// Posts; an error as its message and its help.
    fn post_within(&self, write: &dyn Fn(usize) -> Option<String>) -> Result<Posted, String> {
        let write = |limit: usize| Some(marker().line(Flavor::Github) + &write(limit)?);
        post(&self.target(), &marker(), &write).map_err(|error| {
            let first = &error.diagnostics[0];
            assert_eq!(error.exit_code(), 3);
            format!("{} | {}", first.message, first.help.clone().unwrap_or_default())
        })
    }

    fn comments(&self) -> Vec<Kept> {
        self.state.lock().unwrap().comments.clone()
    }

    /// Returns the requests that write a comment, and forgets all.
    fn writes(&self) -> Vec<String> {
        let asked = std::mem::take(&mut self.state.lock().unwrap().asked);
        let lines = asked.iter().map(|asked| format!("{} {}", asked.method, asked.path));
        lines.filter(|line| !line.starts_with("GET") && !line.ends_with("/graphql")).collect()
    }
}

fn marker() -> Marker<'static> {
    Marker { name: "default", head: Some("1f0c") }
}

fn marked(text: &str) -> String {
    marker().line(Flavor::Github) + text
}

/// Reads a request, answers it and closes.
fn serve(forge: Forge, stream: &TcpStream, state: &mut State) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let mut first = head.split_whitespace();
    let (method, path) = (first.next().unwrap().to_owned(), first.next().unwrap().to_owned());
    let asked = Asked { method, path, head, body: serde_json::from_slice(&body).unwrap_or(Value::Null) };
    let (status, headers, body) = answer(forge, &asked, state);
    state.asked.push(asked);
    let body = body.to_string();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
    .unwrap();
}

/// Answers as the forge does: the shapes are those of their documentation, cut to some of their fields.
fn answer(forge: Forge, asked: &Asked, state: &mut State) -> Reply {
    let (method, path) = (asked.method.as_str(), asked.path.as_str());
    let proper = match forge {
        Forge::Github => format!("authorization: bearer {TOKEN}\r\n"),
        Forge::Gitlab => format!("authorization: bearer {TOKEN}\r\n"),
        Forge::Forgejo => format!("authorization: token {TOKEN}\r\n"),
    };
    let said = asked.head.to_lowercase();
    if !said.contains(&proper) && !said.contains(&format!("job-token: {TOKEN}\r\n")) {
        return (401, String::new(), json!({ "message": "Bad credentials" }));
    }
    assert!(said.contains("user-agent: gitops-windows/"), "GitHub refuses requests without: {said}");
    if let Some(at) = state.next.iter().position(|(known, _)| *known == method && !path.ends_with("/graphql"))
    {
        return state.next.remove(at).1;
    }
    let own = own(forge);
    let (list, one) = match forge {
        Forge::Github | Forge::Forgejo => ("/repos/o/n/issues/12/comments", "/repos/o/n/issues/comments/"),
        Forge::Gitlab => {
            ("/projects/o%2Fn/merge_requests/12/notes", "/projects/o%2Fn/merge_requests/12/notes/")
        }
    };
    let shown = |(id, author, body): &Kept| match forge {
        Forge::Github | Forge::Forgejo => {
            json!({ "id": id, "html_url": "https://x", "body": body, "user": { "login": "x", "id": author } })
        }
        Forge::Gitlab => {
            json!({ "id": id, "body": body, "author": { "id": author, "username": "x" }, "system": false })
        }
    };
    let text = asked.body["body"].as_str().unwrap_or_default().to_owned();
    let plain = |status, body| (status, String::new(), body);
    if let Some(longest) = state.longest.filter(|longest| method != "GET" && text.len() > *longest) {
        return plain_too_long(forge, longest);
    }
    let (place, query) = path.split_once('?').unwrap_or((path, ""));
    match (method, place) {
        ("POST", "/graphql") if forge == Forge::Github => {
            assert_eq!(asked.body, json!({ "query": "query { viewer { databaseId } }" }));
            plain(200, json!({ "data": { "viewer": { "databaseId": own } } }))
        }
        ("GET", "/user") if forge == Forge::Github => {
            plain(403, json!({ "message": "Resource not accessible by integration", "status": "403" }))
        }
        ("GET", "/user") => plain(200, json!({ "id": own, "username": "bot", "login": "bot" })),
        ("GET", "/job") => plain(200, json!({ "id": 1, "status": "running", "user": { "id": own } })),
        ("GET", place) if place == list => {
            let number = |key: &str| {
                let of = |pair: &str| pair.strip_prefix(key)?.strip_prefix('=')?.parse::<usize>().ok();
                query.split('&').find_map(of)
            };
            // Forgejo and Gitea list all comments at once.
            let size =
                if forge == Forge::Forgejo { usize::MAX } else { number("per_page").unwrap_or(30).min(100) };
            let from = (number("page").unwrap_or(1) - 1).saturating_mul(size);
            let page: Vec<Value> = state.comments.iter().skip(from).take(size).map(shown).collect();
            let is_more = from.saturating_add(size) < state.comments.len();
            // GitHub's addresses lead to another path than that which was asked for.
            let link = "Link: <http://127.0.0.1:9/repositories/1/issues/12/comments?page=2>; rel=\"next\", <x>; rel=\"last\"\r\n";
            (200, if is_more { link.to_owned() } else { String::new() }, page.into())
        }
        ("POST", place) if place == list => {
            let id = state.comments.iter().map(|(id, ..)| *id).max().unwrap_or(0) + 1;
            state.comments.push((id, own, text));
            plain(201, shown(state.comments.last().unwrap()))
        }
        ("PATCH" | "PUT", place) if place.starts_with(one) => {
            assert_eq!(method == "PUT", forge == Forge::Gitlab);
            let id: i64 = place[one.len()..].parse().unwrap();
            match state.comments.iter_mut().find(|(known, ..)| *known == id) {
                Some(comment) => {
                    // A maintainer's token may edit what others have written: nothing here stops that.
                    comment.2 = text;
                    plain(200, shown(comment))
                }
                None => plain(404, json!({ "message": "Not Found" })),
            }
        }
        _ => plain(
            404,
            json!({ "message": "Not Found", "documentation_url": "https://docs", "status": "404" }),
        ),
    }
}

fn plain_too_long(forge: Forge, longest: usize) -> Reply {
    let said = format!("is too long (maximum is {longest} characters)");
    match forge {
        Forge::Github => (
            422,
            String::new(),
            json!({ "message": "Validation Failed", "errors": [{ "resource": "IssueComment", "code": "unprocessable",
                "field": "data", "message": format!("Body {said}") }], "documentation_url": "https://docs" }),
        ),
        Forge::Gitlab => (
            400,
            String::new(),
            json!({ "message": format!("400 Bad request - Note {{:note=>[\"{said}\"]}}") }),
        ),
        Forge::Forgejo => (413, String::new(), Value::Null),
    }
}

#[test]
fn one_comment_is_written_left_alone_and_edited() {
    for forge in FORGES {
        let forge = StandIn::new(forge, Vec::new());
        let text = |what: &str, now: &str| {
            format!("**{what}**\n\n<sub>a against b, as if merged at {now}; zones x.</sub>\n")
        };
        assert_eq!(forge.post(&text("one", "2026-01-01T00:00:00Z")), Ok(Posted::New(1)));
        assert_eq!(forge.writes().len(), 1);
        // The forge keeps other ends of lines, and none at the end; only the instant is another.
        let mut state = forge.state.lock().unwrap();
        state.comments[0].2 = state.comments[0].2.trim_end().replace('\n', "\r\n");
        drop(state);
        assert_eq!(forge.post(&text("one", "2026-01-02T00:00:00Z")), Ok(Posted::Same(1)));
        assert_eq!(forge.writes(), [""; 0]);
        assert_eq!(forge.post(&text("two", "2026-01-02T00:00:00Z")), Ok(Posted::Edited(1)));
        assert_eq!(forge.writes().len(), 1);
        let comments = forge.comments();
        assert_eq!(comments.len(), 1);
        assert!(comments[0].2.contains("**two**"));
    }
}

#[test]
fn a_marker_that_somebody_else_planted_is_left_alone() {
    for forge in FORGES {
        let planted = vec![
            (1, 666, marked("planted")),
            (2, own(forge), format!("> {}", marked("quoted"))),
            (3, own(forge), Marker { name: "default-2", head: None }.line(Flavor::Github) + "of another job"),
        ];
        let forge = StandIn::new(forge, planted.clone());
        assert_eq!(forge.post("ours"), Ok(Posted::New(4)));
        assert_eq!(forge.comments()[..3], planted);
        assert_eq!(forge.post("ours, again"), Ok(Posted::Edited(4)));
        assert_eq!(forge.comments()[..3], planted);
    }
}

#[test]
fn our_comment_is_found_behind_many_others() {
    for forge in FORGES {
        let mut comments: Vec<Kept> = (1..=250).map(|id| (id, 7, format!("comment {id}"))).collect();
        comments.push((251, own(forge), marked("old")));
        let forge = StandIn::new(forge, comments);
        assert_eq!(forge.post("new"), Ok(Posted::Edited(251)));
        assert_eq!(forge.comments().len(), 251);
    }
}

#[test]
fn a_comment_that_is_too_long_is_written_shorter() {
    for forge in FORGES {
        let forge = StandIn::new(forge, Vec::new());
        forge.state.lock().unwrap().longest = Some(9_000);
        let write = |limit: usize| Some("x".repeat((limit - 100).min(30_000)));
        assert_eq!(forge.post_within(&write), Ok(Posted::New(1)));
        let length = forge.comments()[0].2.len();
        assert!((4_000..=9_000).contains(&length), "{length}");
        // What is shorter and there already is left alone.
        assert_eq!(forge.post_within(&write), Ok(Posted::Same(1)));
        forge.state.lock().unwrap().longest = Some(10);
        forge.state.lock().unwrap().comments.clear();
        let said = forge.post_within(&write).unwrap_err();
        assert!(said.contains("takes no comment of this length"), "{said}");
    }
}

#[test]
fn a_fork_is_told_the_way_on() {
    let no = json!({ "message": "Resource not accessible by integration", "documentation_url": "https://docs", "status": "403" });
    let said = StandIn::new(Forge::Github, Vec::new()).next("POST", 403, "", no).post("x").unwrap_err();
    assert!(said.contains("403 Resource not accessible by integration"), "{said}");
    assert!(said.contains("pull-requests: write") && said.contains("second workflow"), "{said}");
    let no = json!({ "message": "403 Forbidden" });
    let said = StandIn::new(Forge::Gitlab, Vec::new()).next("POST", 403, "", no).post("x").unwrap_err();
    assert!(said.contains("GITLAB_TOKEN") && said.contains("scope `api`"), "{said}");
    let no = json!({ "message": "token does not have at least one of required scope(s): [read:user]", "url": "x" });
    let said = StandIn::new(Forge::Forgejo, Vec::new()).next("GET", 403, "", no).post("x").unwrap_err();
    assert!(said.contains("[read:user]") && said.contains("`write:issue`"), "{said}");
}

#[test]
fn what_is_not_there_and_what_leads_elsewhere_is_said() {
    for forge in FORGES {
        let missing = json!({ "message": "Not Found" });
        let method = if forge == Forge::Github { "GET" } else { "POST" };
        let said = StandIn::new(forge, Vec::new()).next(method, 404, "", missing).post("x").unwrap_err();
        assert!(said.contains("404 Not Found") && said.contains("o/n has number 12"), "{said}");
        let moved = StandIn::new(forge, Vec::new()).next(
            method,
            301,
            "Location: http://127.0.0.1:9/\r\n",
            Value::Null,
        );
        let said = moved.post("x").unwrap_err();
        assert!(said.contains("301") && said.contains("--api-url"), "{said}");
        let echo = json!({ "message": format!("no rights for {TOKEN}") });
        let said = StandIn::new(forge, Vec::new()).next(method, 401, "", echo).post("x").unwrap_err();
        assert!(said.contains("no rights for ***") && !said.contains(TOKEN), "{said}");
    }
}

#[test]
fn a_comment_that_is_gone_meanwhile_is_written_anew() {
    for forge in FORGES {
        let method = if forge == Forge::Gitlab { "PUT" } else { "PATCH" };
        let gone = json!({ "message": "404 Not found" });
        let forge = StandIn::new(forge, vec![(1, own(forge), marked("old"))]).next(method, 404, "", gone);
        assert_eq!(forge.post("new"), Ok(Posted::New(2)));
    }
}

#[test]
fn a_limit_of_rate_is_waited_for_where_it_is_short() {
    for forge in FORGES {
        let later = json!({ "message": "You have exceeded a secondary rate limit." });
        let limited = StandIn::new(forge, Vec::new())
            .next("POST", 429, "Retry-After: 0\r\n", later.clone())
            .next("POST", 403, "Retry-After: 0\r\n", later.clone())
            .next("GET", 502, "", Value::Null);
        assert_eq!(limited.post("x"), Ok(Posted::New(1)));
        let limited =
            StandIn::new(forge, Vec::new()).next("POST", 429, "Retry-After: 4000\r\n", later.clone());
        let said = limited.post("x").unwrap_err();
        assert!(said.contains("secondary rate limit") && said.contains("in 4000 s or later"), "{said}");
        let used_up = StandIn::new(forge, Vec::new()).next(
            "POST",
            403,
            "X-RateLimit-Remaining: 0\r\nRetry-After: 99\r\n",
            later.clone(),
        );
        assert!(used_up.post("x").unwrap_err().contains("takes no more requests"));
        // A second request could make a second comment.
        let lost = StandIn::new(forge, Vec::new()).next("POST", 502, "", Value::Null);
        assert!(lost.post("x").unwrap_err().contains("502"));
        assert_eq!(lost.writes().len(), 1);
    }
}

#[test]
fn a_job_token_of_gitlab_goes_by_its_own_name() {
    let forge = StandIn::new(Forge::Gitlab, vec![(1, own(Forge::Gitlab), marked("old"))]);
    let given = Given {
        api: Some(forge.address.clone()),
        repository: Some("o/n".to_owned()),
        number: Some(12),
        roots: None,
    };
    let target =
        Target::find(Forge::Gitlab, given, &|name| (name == "CI_JOB_TOKEN").then(|| TOKEN.to_owned()));
    let posted = post(&target.unwrap(), &marker(), &|_| Some(marked("new"))).unwrap();
    assert_eq!(posted, Posted::Edited(1));
    let asked = &forge.state.lock().unwrap().asked;
    assert!(asked.iter().all(|asked| !asked.head.to_lowercase().contains("authorization:")));
}

/// The sample with a branch that changes a Deployment in both clusters.
fn changed() -> Scratch {
    let scratch = Scratch::fixture("sample").with_binary();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("apps/web/deployment.yaml", "replicas: 2", "replicas: 3").commit();
    scratch
}

/// Runs the program as a CI does.
fn in_ci(scratch: &Scratch, forge: &StandIn, arguments: &[&str]) -> Run {
    let mut command = clean(Command::new(env!("CARGO_BIN_EXE_gitops-windows")), scratch.top());
    command.args(arguments).envs([
        ("GITHUB_TOKEN", TOKEN),
        ("GITHUB_API_URL", forge.address.as_str()),
        ("GITHUB_REPOSITORY", "o/n"),
        ("GITHUB_REF", "refs/pull/12/merge"),
    ]);
    let run = Run::of(&command.output().unwrap());
    assert!(!run.stdout.contains(TOKEN) && !run.stderr.contains(TOKEN), "{}\n{}", run.stdout, run.stderr);
    run
}

#[test]
fn the_program_posts_what_it_prints() {
    let scratch = changed();
    let forge = StandIn::new(Forge::Github, Vec::new());
    let ask = ["pr", "--base", "main", "--head", "change", "--post", "github", "--format", "markdown"];
    let at = |now| [&ask[..], &["--now", now]].concat();
    let run = in_ci(&scratch, &forge, &at("2026-03-23T12:00:00Z"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("Posted to GitHub: comment 1."), "{}", run.stderr);
    let posted = forge.comments()[0].2.clone();
    assert_eq!(posted, run.stdout);
    let head = scratch.git(&["rev-parse", "change"]);
    assert!(
        posted.starts_with(&format!("<!-- gitops-windows pr default {} -->\n**", head.trim())),
        "{posted}"
    );
    assert!(posted.contains("Deployment"), "{posted}");
    let run = in_ci(&scratch, &forge, &at("2026-03-23T12:00:00Z"));
    assert!(run.stderr.contains("Left as it is on GitHub: comment 1."), "{}", run.stderr);
    let refusing = StandIn::new(Forge::Github, Vec::new()).next("POST", 403, "", json!({ "message": "no" }));
    let run = in_ci(&scratch, &refusing, &ask);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("GitHub does not take the comment: 403 no"), "{}", run.stderr);
}

/// With changes at once, in a window, and one that does not fit between the two.
#[test]
fn the_time_of_a_run_does_not_touch_the_comment_and_a_window_that_passes_does() {
    let scratch = finished("sample", &["edge-01", "edge-02"]).with_binary();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    for file in ["apps/web/web-rt/configmap.yaml", "apps/web/web-rw/deployment.yaml"] {
        scratch.replace(file, "name: web-content", "name: web-page");
    }
    scratch.commit();
    let forge = StandIn::new(Forge::Github, Vec::new());
    let post = |now: &str| {
        let ask = ["pr", "--base", "main", "--head", "change", "--post", "github", "--now", now];
        let run = in_ci(&scratch, &forge, &ask);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stderr.lines().last().unwrap().to_owned()
    };
    let told = ["2026-11-23T12:00:00Z", "2026-11-24T08:13:59Z", "2026-11-28T20:40:00Z"].map(post);
    assert_eq!(told[0], "Posted to GitHub: comment 1.");
    assert_eq!(told[1..], ["Left as it is on GitHub: comment 1.", "Left as it is on GitHub: comment 1."]);
    let before = forge.comments()[0].2.clone();
    assert!(before.contains("skew") && before.contains("at once"), "{before}");
    // Open, and closed again.
    let told = ["2026-11-28T22:00:00Z", "2026-11-28T23:30:00Z", "2026-11-30T12:00:00Z"].map(post);
    assert_eq!(told[0], "Edited on GitHub: comment 1.");
    assert_eq!(told[1], "Left as it is on GitHub: comment 1.");
    assert_eq!(told[2], "Edited on GitHub: comment 1.");
}

#[test]
fn a_report_of_another_run_is_posted_only_for_its_commit() {
    let scratch = Scratch::empty();
    let head = "0123456789012345678901234567890123456789";
    let line = Marker { name: "default", head: Some(head) }.line(Flavor::Github);
    scratch.write("pr.md", format!("{line}**1 object changes.** @all [x](https://x.example)\n"));
    let forge = StandIn::new(Forge::Github, Vec::new());
    let of = |head| ["pr", "--post", "github", "--from", "pr.md", "--head", head];
    let run = in_ci(&scratch, &forge, &of("9876543210987654321098765432109876543210"));
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("is no report of commit 98765"), "{}", run.stderr);
    assert_eq!(in_ci(&scratch, &forge, &of("main")).code, 2);
    assert_eq!(forge.comments(), []);
    let run = in_ci(&scratch, &forge, &of(head));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let posted = &forge.comments()[0].2;
    assert!(posted.starts_with(&line), "{posted}");
    assert!(posted.contains("**1 object changes.** ＠all [x] (https:∕∕x.example)"), "{posted}");
    let run = in_ci(&scratch, &forge, &of(head));
    assert!(run.stderr.contains("Left as it is"), "{}", run.stderr);
}

#[test]
fn posting_needs_a_token_and_a_forge() {
    let scratch = changed();
    let run = scratch.expect(3, &["pr", "--base", "main", "--head", "change", "--post", "gitlab"]);
    assert!(run.stderr.contains("no token to post to GitLab with"), "{}", run.stderr);
    assert_eq!(run.stdout, "", "nothing is worked out that can't be posted");
    scratch.expect(2, &["pr", "--api-url", "https://x"]);
    scratch.expect(2, &["pr", "--post", "github", "--from", "x"]);
    scratch.expect(2, &["pr", "--comment", "-->"]);
}

/// Runs a script of a CI, which must succeed.
fn script(scratch: &Scratch, shell: &str, script: &str, variables: &[(&str, &str)]) -> Run {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_gitops-windows"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = clean(Command::new(shell), scratch.top());
    command.args(["-e", "-c", script]).envs(variables.iter().copied()).env("PATH", path);
    let run = Run::of(&command.output().unwrap());
    assert_eq!(run.code, 0, "{script}\n{}\n{}", run.stdout, run.stderr);
    run
}

/// The scripts of `action.yml` do what their steps are for; the rest of it only GitHub can run.
#[test]
fn the_action_writes_its_report_and_comments() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml")).unwrap();
    let action: Value = serde_saphyr::from_str(&text).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    let runs: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    assert!(runs.iter().all(|run| !run.contains("${{")), "inputs reach scripts through the environment only");
    let of = |part: &str| *runs.iter().find(|run| run.contains(part)).unwrap();

    let scratch = changed();
    let forge = StandIn::new(Forge::Github, Vec::new());
    let (base, head) = (scratch.git(&["rev-parse", "main"]), scratch.git(&["rev-parse", "change"]));
    let file = |name: &str| scratch.outside().join(name).display().to_string();
    let (outside, outputs, summary) = (file(""), file("outputs"), file("summary"));
    let variables = [
        ("BINARY", env!("CARGO_BIN_EXE_gitops-windows")),
        ("DIRECTORY", "."),
        ("BASE", base.trim()),
        ("HEAD", head.trim()),
        ("NAME", "fleet"),
        ("NOW", "2026-03-23T12:00:00Z"),
        ("NUMBER", "12"),
        ("FAIL_ON", "immutable,error"),
        ("RUNNER_TEMP", &outside),
        ("GITHUB_OUTPUT", &outputs),
        ("GITHUB_STEP_SUMMARY", &summary),
        ("GITHUB_TOKEN", TOKEN),
        ("GITHUB_API_URL", &forge.address),
        ("GITHUB_REPOSITORY", "o/n"),
    ];
    let bash = |part: &str| script(&scratch, "bash", of(part), &variables);
    bash("--format json");
    let read = |name: &str| std::fs::read_to_string(scratch.outside().join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("gitops-windows/report/pr.json")).unwrap();
    assert_eq!(report["head"], head.trim());
    assert!(read("summary").contains("Deployment") && read("outputs").contains("folder="));
    assert!(read("gitops-windows/report/pr.html").contains("<html"));
    bash("--post github --number");
    assert!(forge.comments()[0].2.starts_with("<!-- gitops-windows pr fleet "));
    bash("--fail-on");

    // Of a fork, the comment that the first run has written arrives as an artifact.
    let folder = scratch.outside().join("gitops-windows");
    script(
        &scratch,
        "bash",
        "mv \"$FOLDER/report\" \"$FOLDER/foreign\"",
        &[("FOLDER", folder.to_str().unwrap())],
    );
    bash("--from");
    assert!(forge.comments()[0].2.contains("A run of the pull request's own workflow has written this."));
}

#[test]
fn the_component_writes_its_report_and_comments() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/pr.yml")).unwrap();
    let (_, job) = text.split_once("\n---\n").unwrap();
    let job: Value = serde_saphyr::from_str(job).unwrap();
    let scratch = changed();
    let forge = StandIn::new(Forge::Gitlab, Vec::new());
    let (base, head) = (scratch.git(&["rev-parse", "main"]), scratch.git(&["rev-parse", "change"]));
    let variables = [
        ("DIRECTORY", "."),
        ("FAIL_ON", ""),
        ("COMMENT", "true"),
        ("COMMENT_NAME", "default"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.trim()),
        ("CI_COMMIT_SHA", head.trim()),
        ("CI_API_V4_URL", &forge.address),
        ("CI_MERGE_REQUEST_PROJECT_ID", "o/n"),
        ("CI_MERGE_REQUEST_IID", "12"),
    ];
    let text = job["gitops-windows-pr"]["script"][0].as_str().unwrap();
    let run = script(&scratch, "sh", text, &variables);
    assert!(run.stdout.contains("Deployment"), "{}", run.stdout);
    assert_eq!(forge.comments(), [], "there is no token");
    assert!(scratch.text("gitops-windows-pr/pr.md").contains("Deployment"));
    script(&scratch, "sh", text, &[&variables[..], &[("GITLAB_TOKEN", TOKEN)]].concat());
    assert_eq!(forge.comments().len(), 1);
}
