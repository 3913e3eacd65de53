//! A git server for one folder of bare repositories: smart HTTP by `git http-backend`, and of Gitea's API the two answers
//! that Flux Operator asks for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;

/// Whom all repositories belong to; an API has no repository without an owner.
const OWNER: &str = "/acme";

/// A server that ends with the value.
pub struct GitServer {
    port: u16,
    stop: Arc<AtomicBool>,
}

impl GitServer {
    /// Serves the bare repositories in a folder.
    pub fn start(folder: &Path) -> GitServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let (folder, asked) = (folder.to_owned(), Arc::clone(&stop));
        spawn(move || {
            for stream in listener.incoming() {
                if asked.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), folder) = (stream, folder.clone()) else { continue };
                // A client that goes away is the client's matter.
                spawn(move || answer(&stream, folder));
            }
        });
        GitServer { port, stop }
    }

    /// Returns the address of a repository.
    pub fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}{OWNER}/{name}", self.port)
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the loop.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Answers one request as RFC 3875 says: the head becomes variables, the body standard input.
fn answer(stream: &TcpStream, folder: PathBuf) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Some(asked) = path.strip_prefix("/api/v1/") {
        return tell(stream, &folder, asked);
    }
    let path = path.strip_prefix(OWNER).unwrap_or(path);
    let mut backend = Command::new("git");
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", folder)
        .envs([("GIT_HTTP_EXPORT_ALL", "1"), ("REQUEST_METHOD", method)])
        .envs([("PATH_INFO", path), ("QUERY_STRING", query)])
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "content-type" => drop(backend.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(backend.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(backend.env("GIT_PROTOCOL", value)),
            _ => {}
        }
    }
    let body = if chunked { read_chunks(&mut reader)? } else { read_exactly(&mut reader, length)? };
    backend.env("CONTENT_LENGTH", body.len().to_string());
    let mut child =
        backend.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut input = child.stdin.take()?;
    let writing = spawn(move || input.write_all(&body));
    let mut output = Vec::new();
    child.stdout.take()?.read_to_end(&mut output).ok()?;
    let _ = writing.join();
    child.wait().ok()?;
    let end = output.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let others: String =
        head.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n")).collect();
    let content = &output[end + 4..];
    let mut stream = stream;
    let length = content.len();
    write!(stream, "HTTP/1.1 {status}\r\n{others}Content-Length: {length}\r\nConnection: close\r\n\r\n")
        .ok()?;
    stream.write_all(content).ok()
}

/// Answers as the API of Gitea does: its version, and the branches of a repository.
fn tell(mut stream: &TcpStream, folder: &Path, asked: &str) -> Option<()> {
    let body = match asked.split('/').collect::<Vec<_>>()[..] {
        ["version"] => r#"{"version":"1.25.0"}"#.to_owned(),
        ["repos", _, repository, "branches"] => {
            let bare = folder.join(format!("{repository}.git"));
            let mut git = Command::new("git");
            git.arg("-C").arg(bare).args(["for-each-ref", "refs/heads"]);
            git.arg(r#"--format={"name":"%(refname:lstrip=2)","commit":{"id":"%(objectname)"}}"#);
            let lines = String::from_utf8(git.output().ok()?.stdout).ok()?;
            format!("[{}]", lines.lines().collect::<Vec<_>>().join(","))
        }
        _ => return None,
    };
    let length = body.len();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}").ok()
}

fn read_exactly(reader: &mut BufReader<&TcpStream>, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn read_chunks(reader: &mut BufReader<&TcpStream>) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        all.extend(read_exactly(reader, size)?);
        // What stands behind a chunk is a line break.
        read_exactly(reader, 2)?;
        if size == 0 {
            return Some(all);
        }
    }
}
