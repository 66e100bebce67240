//! HTTP as its clients expect it, and requests that say what is not there.

use std::io::{Read, Write};

use serde_json::json;

use crate::answers::hub;
use crate::client::{Reply, Served};

fn small() -> Served {
    Served::of("source,target\nalice,bob\nbob,carol\n")
}

/// Sends a request with more lines in its head.
fn sent(served: &Served, request: &str, lines: &str, body: &str) -> Reply {
    let (host, cookie, bytes) = (served.address, &served.cookie, body.len());
    served.raw(
        format!(
            "{request} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n{lines}Content-Length: {bytes}\r\n\r\n{body}"
        )
        .as_bytes(),
    )
}

#[test]
fn media_types_are_the_same_in_any_case() {
    let served = small();
    let body = r#"{"algorithm":"wcc"}"#;
    for media_type in ["application/json", "Application/JSON", "APPLICATION/JSON; charset=UTF-8"] {
        let line = format!("Content-Type: {media_type}\r\n");
        assert_eq!(sent(&served, "POST /api/v1/estimate", &line, body).status, 200, "{media_type}");
    }
}

#[test]
fn another_method_is_refused_with_those_that_are_allowed() {
    let served = small();
    for (request, allowed) in [
        ("POST /api/v1/database", "GET, HEAD"),
        ("GET /api/v1/runs", "POST"),
        ("PUT /api/v1/runs/7", "DELETE"),
        ("DELETE /", "GET, HEAD"),
        ("POST /favicon.ico", "GET, HEAD"),
    ] {
        let reply = sent(&served, request, "", "");
        let head = reply.head.to_lowercase();
        assert_eq!(reply.status, 405, "{request}");
        assert!(head.contains(&format!("\r\nallow: {}\r\n", allowed.to_lowercase())), "{request}: {head}");
        assert_eq!(head.matches("\r\nallow:").count(), 1, "{head}");
    }
}

#[test]
fn the_page_is_not_compressed_for_those_who_do_not_take_that() {
    let served = small();
    for path in ["/", "/app.js", "/app.css"] {
        let plain = sent(&served, &format!("GET {path}"), "Accept-Encoding: identity;q=1, gzip;q=0\r\n", "");
        let head = plain.head.to_lowercase();
        assert!(plain.status == 200 && !head.contains("content-encoding"), "{head}");
        assert!(head.contains("vary: accept-encoding") && std::str::from_utf8(&plain.body).is_ok(), "{head}");
        let packed = sent(&served, &format!("GET {path}"), "Accept-Encoding: gzip\r\n", "");
        assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < plain.body.len());
    }
}

#[test]
fn a_head_is_that_of_the_answer_without_its_body() {
    let served = small();
    assert_eq!(served.run(r#"{"algorithm":"wcc"}"#).1, "done");
    for path in
        ["/", "/api/v1/database", "/api/v1/vertex?id=bob", "/api/v1/runs/1/rows", "/api/v1/vertex?id=x"]
    {
        let [head, get] = ["HEAD", "GET"].map(|method| sent(&served, &format!("{method} {path}"), "", ""));
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        let length = format!("content-length: {}", get.body.len());
        assert!(head.head.to_lowercase().contains(&length), "{path}: {} {length}", head.head);
    }
    // What has no end ends with its head.
    for (path, media_type) in [
        ("/changes", "text/event-stream"),
        ("/runs/1/events", "text/event-stream"),
        ("/runs/1/download", "text/csv"),
    ] {
        let head = sent(&served, &format!("HEAD /api/v1{path}"), "", "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert!(head.head.to_lowercase().contains(media_type), "{path}: {}", head.head);
    }
}

#[test]
fn members_that_a_body_has_not_are_named_and_refused() {
    let served = small();
    let session = json!({ "token": served.token, "password": 1 }).to_string();
    for (route, body, name) in [
        ("/session", session.as_str(), "password"),
        ("/subgraph", r#"{"vertices":["bob"],"vertexes":[]}"#, "vertexes"),
        ("/subgraph", r#"{"vertices":["bob"],"selection":{"wear":"x"}}"#, "wear"),
        ("/estimate", r#"{"algorithm":"wcc","option":{}}"#, "option"),
        ("/runs", r#"{"algorithm":"wcc","selections":{}}"#, "selections"),
    ] {
        let reply = served.post(route, body);
        assert!(
            reply.status == 400 && reply.text().contains(&format!("{name:?}").replace('"', "\\\"")),
            "{reply:?}"
        );
    }
    for route in ["/session", "/subgraph", "/estimate", "/runs"] {
        assert_eq!(served.post(route, "[]").status, 400, "{route}");
    }
}

#[test]
fn a_vertex_that_is_given_twice_has_one_row() {
    let served = small();
    assert_eq!(served.run(r#"{"algorithm":"wcc"}"#).1, "done");
    let rows = served.get("/runs/1/rows?vertex=bob&vertex=alice&vertex=bob").answer();
    assert_eq!(
        (&rows["found"], &rows["rows"][0]["id"], &rows["rows"][1]["id"]),
        (&json!(2), &json!("bob"), &json!("alice"))
    );
}

#[test]
fn there_are_no_more_steps_than_times() {
    let served = Served::of("source,target,time\na,b,1700000000\nb,c,1700000001\nc,d,1700000003\n");
    let answer = served.get("/window?steps=1000").answer();
    assert_eq!(answer["counts"], json!([1, 1, 1]));
    let mut limits: Vec<&str> =
        answer["limits"].as_array().expect("a list").iter().filter_map(|limit| limit.as_str()).collect();
    limits.dedup();
    assert_eq!(limits.len(), 4, "{answer}");
    let alone = Served::of("source,target,time\na,b,1700000000\n").get("/window").answer();
    assert_eq!((&alone["counts"], alone["limits"].as_array().map(Vec::len)), (&json!([1]), Some(2)));
}

/// The first event of a stream.
fn first_event(served: &Served, path: &str) -> String {
    let mut stream = served.connect();
    let (host, cookie) = (served.address, &served.cookie);
    let request = format!("GET /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let (mut told, mut buffer) = (String::new(), [0; 4096]);
    while !told.contains("\ndata: ") {
        let count = stream.read(&mut buffer).expect("events");
        assert!(count > 0, "{told}");
        told += &String::from_utf8_lossy(&buffer[..count]);
    }
    told
}

/// The version that was the newest when the last client went away was told first.
#[test]
fn a_client_that_comes_back_is_told_the_newest_version_first() {
    let served = Served::of(&hub());
    assert!(first_event(&served, "/changes").contains("{\"latest\":1}"));
    // The server notices that nobody waits any more.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let session = esker::Session::open_to_write(served.path(), &esker::SessionOptions::default());
    let session = session.expect("a session");
    let mut batch = session.batch().expect("a batch");
    batch.remove_edge("leaf07", "tail1").expect("a deletion");
    session.commit(batch, "one less").expect("a commit");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let told = first_event(&served, "/changes");
    assert!(told.contains("{\"latest\":2}") && !told.contains("{\"latest\":1}"), "{told}");
}
