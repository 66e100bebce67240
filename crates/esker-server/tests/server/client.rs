//! A server of a test, and a client that writes requests byte by byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use esker::graph::Cancel;
use esker::import::{Duplicates, ImportOptions, Input, Pick, PickProperties, ReadOptions, import_inputs};
use esker::{MemoryLimit, SessionOptions};
use esker_server::{ServeOptions, Server};
use serde_json::Value;

/// A running server, with the client of a session.
pub(crate) struct Served {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) cookie: String,
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The answer, which must be one.
    pub(crate) fn answer(&self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.text());
        self.json()
    }

    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let body = bytes.get(end + 4..).unwrap_or_default().to_vec();
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Self { status, body: if is_chunked { joined(&body) } else { body }, head }
    }
}

/// The bytes of chunks; the last may be missing.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(end) = chunks.windows(2).position(|two| two == b"\r\n") {
        let length =
            std::str::from_utf8(&chunks[..end]).ok().and_then(|hex| usize::from_str_radix(hex, 16).ok());
        let Some(chunk) = length.and_then(|length| chunks.get(end + 2..end + 2 + length)) else { break };
        bytes.extend_from_slice(chunk);
        chunks = chunks.get(end + 4 + chunk.len()..).unwrap_or_default();
    }
    bytes
}

/// Imports edges with all their properties; a column `time` holds times.
fn import(path: &Path, csv: &str, duplicates: Duplicates) {
    let has_times = csv.lines().next().is_some_and(|header| header.split(',').any(|name| name == "time"));
    let time = if has_times { Pick::Column("time".to_owned()) } else { Pick::Auto };
    let read = ReadOptions { properties: PickProperties::All, time, ..ReadOptions::default() };
    let edges = [Input::memory("g.csv", csv.as_bytes().to_vec())];
    let options = ImportOptions { duplicates, ..ImportOptions::default() };
    import_inputs(&edges, path, &read, &options).expect("an import");
}

impl Served {
    /// Serves edges.
    pub(crate) fn of(csv: &str) -> Self {
        Self::within(csv, 256 << 20)
    }

    /// The same under a memory limit.
    pub(crate) fn within(csv: &str, memory_bytes: u64) -> Self {
        Self::start(csv, Duplicates::default(), memory_bytes)
    }

    /// Serves edges, parallel ones beside each other.
    pub(crate) fn with_parallel(csv: &str) -> Self {
        Self::start(csv, Duplicates::Keep, 256 << 20)
    }

    fn start(csv: &str, duplicates: Duplicates, memory_bytes: u64) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        import(&directory.path().join("g.esker"), csv, duplicates);
        let cancel = Cancel::default();
        let session = SessionOptions {
            threads: 2,
            cancel: cancel.clone(),
            ..SessionOptions::within(MemoryLimit::of(memory_bytes))
        };
        let options = ServeOptions { session, ..ServeOptions::of(directory.path().join("g.esker")) };
        let server = Server::bind(&options).expect("a server");
        let link = server.link();
        let token = link.split_once("#token=").expect("a token").1.to_owned();
        let address = server.address();
        let thread = std::thread::spawn(move || server.run().expect("a run"));
        let mut served =
            Self { directory, address, token, cookie: String::new(), cancel, thread: Some(thread) };
        let reply = served.post("/session", &format!("{{\"token\":\"{}\"}}", served.token));
        assert_eq!(reply.status, 204, "{reply:?}");
        let cookie = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        served.cookie = cookie.split(';').next().expect("a pair").to_owned();
        served
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("g.esker")
    }

    /// Asks with the cookie; `path` is below `/api/v1`.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        self.ask("POST", path, Some(body))
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Reply {
        let host = self.address;
        let cookie = &self.cookie;
        let head = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n"
        );
        let rest = match body {
            Some(body) => {
                format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
            None => "\r\n".to_owned(),
        };
        self.raw(format!("{head}{rest}").as_bytes())
    }

    /// Sends bytes, and reads until the server ends the connection.
    pub(crate) fn raw(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that refuses a large body may end the connection before all is written.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Reply::of(&bytes)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        stream
    }

    /// Begins a run and waits for its end; returns its name and its last event.
    pub(crate) fn run(&self, body: &str) -> (String, String, Value) {
        let run = self.post("/runs", body).answer()["run"].as_str().expect("a name").to_owned();
        let (event, data) = self.ended(&run);
        (run, event, data)
    }

    /// The last event of a run.
    pub(crate) fn ended(&self, run: &str) -> (String, Value) {
        let events = self.get(&format!("/runs/{run}/events")).text();
        let last = events.trim_end().rsplit("\n\n").next().expect("an event").to_owned();
        let (name, data) = last.split_once("\ndata: ").expect("data");
        let name = name.strip_prefix("event: ").expect("a name").to_owned();
        (name, serde_json::from_str(data).expect("data in JSON"))
    }

    /// Ends the server. Returns how long that took.
    pub(crate) fn end(&mut self) -> Duration {
        let begin = std::time::Instant::now();
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server");
        }
        begin.elapsed()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}
