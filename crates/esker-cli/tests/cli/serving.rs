//! `esker serve`: what the command does beside answering.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Place, limited};

/// All users of a machine see the arguments of programs.
#[test]
fn the_program_that_opens_the_link_is_not_told_the_token() {
    let place = Place::new();
    place.file("a.csv", "from,to\na,b\n");
    place.ok("import a.csv g.esker");
    place.file(
        "xdg-open",
        "#!/bin/sh\nls -l \"$1\" > told.part\ncat \"$1\" >> told.part\nmv told.part told\n",
    );
    let shim = place.path().join("xdg-open");
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command("serve g.esker --open");
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap());
    let mut child =
        command.env("PATH", path).env("TMPDIR", place.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut link = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
    let told = place.path().join("told");
    let begin = Instant::now();
    while !told.exists() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = std::fs::read_to_string(told).unwrap();
    let (argument, page) = told.split_once('\n').unwrap();
    let token = link.trim().split_once("#token=").unwrap().1;
    assert!(argument.starts_with("-rw-------") && !argument.contains(token), "{argument}");
    assert!(page.contains(link.trim()), "{page}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap();
    let left = std::fs::read_dir(place.path())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert_eq!(left.filter(|name| name.ends_with(".html")).count(), 0);
}

/// A server in a place, whose temporary files lie there too; its address and the cookie of a session.
struct Started {
    child: Child,
    address: String,
    cookie: String,
}

impl Started {
    fn of(place: &Place) -> Self {
        let mut command = place.command("serve g.esker");
        let child = command.env("TMPDIR", place.path().join("temporary")).stdout(Stdio::piped()).spawn();
        let mut child = limited(child.unwrap());
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let (address, token) = link.trim().split_once("/#token=").unwrap();
        let address = address.strip_prefix("http://").unwrap().to_owned();
        let mut started = Self { child, address, cookie: String::new() };
        let session = started.ask("POST /api/v1/session", &format!("{{\"token\":\"{token}\"}}"));
        let cookie = session.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        started.cookie = cookie.split(';').next().unwrap().to_owned();
        started
    }

    fn begin(&self, request: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, cookie, bytes) = (&self.address, &self.cookie, body.len());
        let head =
            format!("{request} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n");
        let rest = format!("Content-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n{body}");
        stream.write_all(format!("{head}{rest}").as_bytes()).unwrap();
        stream
    }

    fn ask(&self, request: &str, body: &str) -> String {
        let mut answer = String::new();
        self.begin(request, body).read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as Ctrl-C does; returns its exit code.
    fn interrupted(mut self) -> Option<i32> {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// Files that were being sent stayed behind.
#[test]
fn a_server_that_is_interrupted_leaves_no_files_and_ends_well() {
    let place = Place::new();
    place.ok("generate kron --scale 16 --degree 4 g.esker");
    std::fs::create_dir(place.path().join("temporary")).unwrap();
    let served = Started::of(&place);
    assert!(served.ask("POST /api/v1/runs", "{\"algorithm\":\"pagerank\"}").contains("202"));
    assert!(served.ask("GET /api/v1/runs/1/events", "").contains("event: done"));
    let left = || std::fs::read_dir(place.path().join("temporary")).unwrap().count();
    let clients: Vec<TcpStream> = (0..12)
        .map(|_| {
            let mut stream = served.begin("GET /api/v1/runs/1/download?format=csv", "");
            // The head: the file is written. The rest is not taken.
            stream.read_exact(&mut [0; 64]).unwrap();
            stream
        })
        .collect();
    assert_eq!(left(), 0, "what is sent has no name");
    assert_eq!(served.interrupted(), Some(0));
    assert_eq!(left(), 0);
    drop(clients);
}
