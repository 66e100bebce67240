//! Requests of others: foreign hosts and origins, wrong tokens, and what is malformed, large or slow.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use esker_server::{ServeError, ServeOptions, Server};
use serde_json::json;

use crate::client::{Reply, Served};

fn small() -> Served {
    Served::of("source,target\nalice,bob\nbob,carol\n")
}

/// A request for the description of the database with these headers.
fn with(served: &Served, headers: &[(&str, &str)]) -> Reply {
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    served.raw(format!("GET /api/v1/database HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").as_bytes())
}

#[test]
fn only_requests_to_the_name_of_this_server_are_answered() {
    let served = small();
    let (own, cookie) = (served.address.to_string(), served.cookie.as_str());
    let localhost = format!("localhost:{}", served.address.port());
    for host in [&own, &localhost] {
        assert_eq!(with(&served, &[("Host", host), ("Cookie", cookie)]).status, 200);
    }
    // A page whose name was bound to this machine sends that name.
    let rebound = format!("evil.example:{}", served.address.port());
    let (other_port, no_port) = (format!("127.0.0.1:{}", served.address.port() ^ 1), "127.0.0.1".to_owned());
    for host in [&rebound, &other_port, &no_port] {
        assert_eq!(with(&served, &[("Host", host), ("Cookie", cookie)]).status, 421, "{host}");
    }
    assert_eq!(with(&served, &[("Cookie", cookie)]).status, 421, "no host");
    assert_eq!(with(&served, &[("Host", &own), ("Host", &rebound), ("Cookie", cookie)]).status, 421);
    let absolute = format!(
        "GET http://evil.example/api/v1/database HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(served.raw(absolute.as_bytes()).status, 421);
    let page = format!("GET / HTTP/1.1\r\nHost: {rebound}\r\nConnection: close\r\n\r\n");
    assert_eq!(served.raw(page.as_bytes()).status, 421, "not even the page");
}

#[test]
fn requests_that_another_site_sends_are_refused() {
    let served = small();
    let (own, cookie) = (served.address.to_string(), served.cookie.as_str());
    let ask =
        |name: &str, value: &str| with(&served, &[("Host", &own), ("Cookie", cookie), (name, value)]).status;
    assert_eq!(ask("Origin", &format!("http://{own}")), 200);
    for origin in ["http://evil.example", "null", &format!("https://{own}"), "http://127.0.0.1:1", ""] {
        assert_eq!(ask("Origin", origin), 403, "{origin}");
    }
    assert_eq!((ask("Sec-Fetch-Site", "same-origin"), ask("Sec-Fetch-Site", "none")), (200, 200));
    for site in ["cross-site", "same-site", "x"] {
        assert_eq!(ask("Sec-Fetch-Site", site), 403, "{site}");
    }
    let reply = ask_head(&served);
    for header in [
        "content-security-policy: default-src 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-store",
        "x-frame-options: deny",
    ] {
        assert!(reply.contains(header), "{header}: {reply}");
    }
    assert!(!reply.contains("access-control"), "{reply}");
}

fn ask_head(served: &Served) -> String {
    served.get("/database").head.to_lowercase()
}

#[test]
fn tokens_that_are_missing_wrong_or_of_another_server_open_nothing() {
    let (served, other) = (small(), small());
    let own = served.address.to_string();
    let secret = served.cookie.split_once('=').expect("a pair").1.to_owned();
    let log_in = |token: &str| served.post("/session", &json!({ "token": token }).to_string());
    let shorter = &served.token[1..];
    let longer = format!("{}0", served.token);
    for wrong in ["", "0", shorter, &longer, &served.token.to_uppercase(), &other.token, &secret] {
        let reply = log_in(wrong);
        let is_right = wrong == served.token;
        assert!(is_right || reply.status == 401 && !reply.head.contains("set-cookie"), "{wrong}: {reply:?}");
    }
    assert_eq!(log_in(&served.token).status, 204, "twice: several people may have the link");
    for body in ["{}", "[]", "null", r#"{"token":1}"#, r#"{"token":null}"#] {
        assert_eq!(served.post("/session", body).status, 400, "{body}");
    }
    let name = served.cookie.split_once('=').expect("a pair").0.to_owned();
    for cookie in [
        String::new(),
        format!("{name}={}", served.token),
        format!("{name}="),
        other.cookie.clone(),
        format!("esker={secret}"),
        format!("{name}={secret}0"),
    ] {
        assert_eq!(with(&served, &[("Host", &own), ("Cookie", &cookie)]).status, 401, "{cookie}");
    }
    assert_eq!(with(&served, &[("Host", &own)]).status, 401);
    let unknown = format!("GET /api/v1/nothing HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
    assert_eq!(served.raw(unknown.as_bytes()).status, 401, "which routes there are needs a session too");
    let session = served.post("/session", &json!({ "token": served.token }).to_string()).head;
    assert!(session.contains("; HttpOnly; SameSite=Strict; Path=/"), "{session}");
}

#[test]
fn a_form_of_another_site_has_no_body_that_is_taken() {
    let served = small();
    let (own, cookie) = (served.address, &served.cookie);
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let body = r#"{"algorithm":"wcc"}"#;
        let request = format!(
            "POST /api/v1/runs HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(served.raw(request.as_bytes()).status, 415, "{media_type}");
    }
}

#[test]
fn bodies_and_heads_that_are_too_large_are_refused() {
    let served = small();
    let large = format!("{{\"token\":\"{}\"}}", "x".repeat(2 << 20));
    let reply = served.post("/session", &large);
    assert!(reply.status == 413 || reply.status == 0, "{reply:?}");
    let long = format!("/vertex?id={}", "x".repeat(200 << 10));
    let reply = served.get(&long);
    assert!(matches!(reply.status, 414 | 431 | 0), "{}", reply.status);
    let own = served.address;
    let many: String = (0..500).map(|i| format!("X-{i}: 1\r\n")).collect();
    let reply = served.raw(format!("GET / HTTP/1.1\r\nHost: {own}\r\n{many}\r\n").as_bytes());
    assert!(matches!(reply.status, 431 | 400 | 0), "{}", reply.status);
    assert_eq!(served.get("/database").status, 200, "it goes on");
}

#[test]
fn malformed_requests_end_their_connection_alone() {
    let served = small();
    let own = served.address;
    let garbage: [&[u8]; 7] = [
        b"\r\n\r\n\r\n",
        b"\0\0\0\0\xff\xfe\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"POST /api/v1/session HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ];
    for request in garbage {
        let status = served.raw(request).status;
        assert!(matches!(status, 0 | 400..500 | 505), "{request:?}: {status}");
    }
    let both = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: {own}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    );
    assert!(matches!(served.raw(both.as_bytes()).status, 0 | 400..500));
    for body in ["", "{", "{\"token\":", "\"\\ud800\"", "{\"a\":1e999}", &"[".repeat(100_000)] {
        let reply = served.post("/session", body);
        assert_eq!(reply.status, 400, "{}: {reply:?}", &body[..body.len().min(20)]);
    }
    assert_eq!(served.get("/database").status, 200, "it goes on");
}

#[test]
fn paths_lead_nowhere_but_to_routes() {
    let served = small();
    let own = served.address;
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/app.js/..",
        "//etc/passwd",
        "/%00",
        "/%ff",
        "/app.js%00",
        "/index.html",
        "/MANIFEST",
        "/./",
        "/api/v1/../../MANIFEST",
        "/api/v1/runs/../rows",
        "/api/v1/runs/%2e%2e/rows",
        "/api/v1/runs/%ff/rows",
    ] {
        let cookie = &served.cookie;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
        let reply = served.raw(request.as_bytes());
        assert!(matches!(reply.status, 400..500), "{path}: {reply:?}");
    }
    assert_eq!(served.ask("POST", "/database", Some("{}")).status, 405);
    assert_eq!(served.ask("DELETE", "/runs/7", None).status, 404);
}

#[test]
fn slow_clients_keep_nobody_waiting() {
    let served = small();
    let own = served.address;
    let mut slow: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = served.connect();
            stream.write_all(b"GET /api/v1/database HTTP/1.1\r\nHo").expect("a part");
            stream
        })
        .collect();
    let begin = Instant::now();
    assert_eq!(served.get("/database").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(5));
    // The server gives up on a head that does not come.
    let mut bytes = Vec::new();
    let begin = Instant::now();
    let _ = slow[0].read_to_end(&mut bytes);
    assert!(begin.elapsed() < Duration::from_secs(40), "after {:?}", begin.elapsed());
    // And on a body.
    let mut stream = served.connect();
    let head = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: {own}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).expect("a part");
    let mut reply = [0; 64];
    let count = stream.read(&mut reply).expect("a reply");
    assert!(String::from_utf8_lossy(&reply[..count]).starts_with("HTTP/1.1 408"), "{reply:?}");
}

#[test]
fn those_without_a_session_take_no_connection_from_others() {
    let served = small();
    let (own, cookie) = (served.address, &served.cookie);
    let question = format!("GET /api/v1/vertex?id=bob HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\n\r\n");
    let ask = |stream: &mut TcpStream| {
        stream.write_all(question.as_bytes()).expect("a question");
        let mut reply = [0; 4096];
        let count = stream.read(&mut reply).expect("a reply");
        assert!(reply[..count].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&reply[..count]));
    };
    let mut kept = served.connect();
    ask(&mut kept);
    let body = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: {own}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    for sent in ["", "GET / HT", &body] {
        let strangers: Vec<TcpStream> = (0..300)
            .map(|_| {
                let mut stream = served.connect();
                stream.write_all(sent.as_bytes()).expect("a part");
                stream
            })
            .collect();
        let begin = Instant::now();
        assert_eq!(served.get("/database").status, 200);
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(3), "{sent}: {took:?}");
        drop(strangers);
    }
    ask(&mut kept);
}

#[test]
fn ids_with_markup_and_control_characters_are_text() {
    let odd = "<img src=x onerror=alert(1)>\u{1}\u{7f}\u{202e}\"'\\";
    let served = Served::of(&format!("source,target\n\"{}\",b\n", odd.replace('"', "\"\"")));
    let escaped: String = odd.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let reply = served.get(&format!("/vertex?id={escaped}"));
    assert_eq!(reply.answer()["id"], odd);
    assert!(
        reply.head.contains("content-type: application/json") && reply.head.contains("nosniff"),
        "{reply:?}"
    );
    assert_eq!(served.get("/scene").answer()["vertices"].as_array().map(Vec::len), Some(2));
    let (_, event, _) = served.run(r#"{"algorithm":"wcc"}"#);
    assert_eq!(event, "done");
    let rows = served.get("/runs/1/rows").text();
    assert!(rows.contains("\\u0001") && !rows.contains('\u{1}'), "{rows}");
    let missing = served.get("/vertex?id=%3Cscript%3E%0d%0aSet-Cookie:x");
    assert_eq!(missing.status, 404);
    assert!(
        !missing.head.contains("x:") && !missing.head.to_lowercase().contains("set-cookie"),
        "{missing:?}"
    );
}

#[test]
fn no_message_names_a_path_of_the_machine() {
    let served = small();
    let directory = served.directory.path().display().to_string();
    std::fs::write(served.path().join("MANIFEST"), b"damaged").expect("a damage");
    std::thread::sleep(Duration::from_millis(100));
    let reply = served.get("/database");
    assert_eq!(reply.status, 500, "{reply:?}");
    assert!(!reply.text().contains(&directory) && reply.text().contains("g.esker"), "{}", reply.text());
}

#[test]
fn what_is_no_database_is_told_as_other_commands_tell_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("d.csv"), "source,target\n1,2\n").expect("a file");
    std::fs::create_dir(at("empty")).expect("a directory");
    for (name, expected) in [
        ("d.csv", "is a file, not a database: import the file first"),
        ("empty", "is not a database: it has no file MANIFEST"),
        ("nothing", "does not exist: check the path, or import a graph to it"),
    ] {
        let Err(ServeError::Database(error)) = Server::bind(&ServeOptions::of(at(name))) else {
            panic!("{name} is served");
        };
        assert_eq!(error.to_string(), format!("{} {expected}", at(name).display()));
    }
}
