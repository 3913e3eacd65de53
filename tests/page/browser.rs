//! A Chromium without a screen, driven through the pipe of its DevTools protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A running browser with one page.
pub struct Browser {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    number: u64,
    /// What it told without being asked.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// Returns the Chromium to be used; `None` where there is none.
pub fn program() -> Option<PathBuf> {
    let named =
        std::env::var_os("GITOPS_WINDOWS_CHROMIUM").filter(|name| !name.is_empty()).map(PathBuf::from);
    named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut files = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
        files.find(|file| file.is_file())
    })
}

impl Browser {
    /// Starts a browser with a profile of its own.
    pub fn start(program: &Path) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // It reads requests from descriptor 3 and answers to 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            // A zone that none of the pages is made in.
            .env("TZ", "Asia/Kathmandu")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (requests, answers) =
            (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let (session, number, events) = (None, 0, Vec::new());
        Browser { process, requests, answers, session, number, events, _profile: profile }
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.ask("Target.attachToTarget", target)["sessionId"].as_str().unwrap().to_owned();
        self.session = Some(session);
        for domain in ["Page", "Network", "Log", "Runtime"] {
            self.ask(&format!("{domain}.enable"), json!({}));
        }
        self.ask("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// Returns what an expression gives on the page; of a promise, what it comes to.
    pub fn value(&mut self, expression: &str) -> Value {
        let expression = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", expression);
        assert!(answer["exceptionDetails"].is_null(), "{answer:#}");
        answer["result"]["value"].clone()
    }

    /// Presses a key and lets it go.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowDown" => 40,
            other => panic!("{other} has no code here"),
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in [if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "keyUp"] {
            let key =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.ask("Input.dispatchKeyEvent", key);
        }
    }

    /// Returns the page a screen of this width and colour scheme.
    pub fn screen(&mut self, width: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", scheme);
    }

    /// Leaves a picture of the whole page in a file.
    pub fn picture(&mut self, file: &Path) {
        let picture = self.ask("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
        let mut decode = Command::new("base64");
        let decode =
            decode.arg("--decode").stdin(Stdio::piped()).stdout(std::fs::File::create(file).unwrap());
        let mut decode = decode.spawn().unwrap();
        decode.stdin.take().unwrap().write_all(picture["data"].as_str().unwrap().as_bytes()).unwrap();
        assert!(decode.wait().unwrap().success());
    }

    /// Returns the addresses that the page asked for, itself first.
    pub fn asked(&self) -> Vec<String> {
        let of = |event: &&Value| event["method"] == "Network.requestWillBeSent";
        let url = |event: &Value| event["params"]["request"]["url"].as_str().unwrap().to_owned();
        self.events.iter().filter(of).map(url).collect()
    }

    /// Returns what the browser and the page's script complain about.
    pub fn problems(&self) -> Vec<String> {
        let is_problem = |event: &&Value| match event["method"].as_str() {
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            method => method == Some("Runtime.exceptionThrown"),
        };
        self.events.iter().filter(is_problem).map(|event| event["params"].to_string()).collect()
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut request = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.answers.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&message).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.requests.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.process.wait();
    }
}
