//! Runs, cancellation, new versions, and many viewers.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use esker::{Session, SessionOptions};
use serde_json::json;

use crate::answers::hub;
use crate::bounds::files;
use crate::client::Served;

/// A ring with chords: betweenness of all its vertices takes seconds.
fn ring(vertices: usize) -> String {
    let edge = |v: usize| {
        let (next, far) = ((v + 1) % vertices, (v * 7919 + 13) % vertices);
        format!("{v},{next}\n{v},{far}\n")
    };
    "source,target\n".to_owned() + &(0..vertices).map(edge).collect::<String>()
}

const LONG: &str = r#"{"algorithm":"betweenness"}"#;

/// Waits until something holds; panics if it does not within ten seconds.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_is_cancelled_at_once_and_the_next_one_begins() {
    let served = Served::of(&ring(30_000));
    let run = served.post("/runs", LONG).answer()["run"].as_str().expect("a name").to_owned();
    let mut events = served.connect();
    let (host, cookie) = (served.address, &served.cookie);
    let request =
        format!("GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    events.write_all(request.as_bytes()).expect("a request");
    let mut told = String::new();
    let mut buffer = [0; 4096];
    while !told.contains("betweenness") {
        let count = events.read(&mut buffer).expect("events");
        assert!(count > 0 && !told.contains("event: done"), "{told}");
        told += &String::from_utf8_lossy(&buffer[..count]);
    }
    let begin = Instant::now();
    assert_eq!(served.ask("DELETE", &format!("/runs/{run}"), None).status, 204);
    while !told.contains("event: cancelled") {
        let count = events.read(&mut buffer).expect("events");
        assert!(count > 0, "{told}");
        told += &String::from_utf8_lossy(&buffer[..count]);
    }
    // 100 ms for the run; what is beyond that is the waiting of a busy machine that builds and tests.
    assert!(begin.elapsed() < Duration::from_millis(1000), "{:?}", begin.elapsed());
    assert_eq!(served.get(&format!("/runs/{run}/rows")).status, 404, "it is forgotten");
    let (_, event, _) = served.run(r#"{"algorithm":"wcc"}"#);
    assert_eq!(event, "done", "the threads are free again");
}

/// Pages behind the end of a mapped file ended the process by SIGBUS.
#[test]
fn a_file_that_is_cut_short_during_a_run_fails_the_run_and_not_the_server() {
    esker::store::io::outlive_failing_pages();
    let served = Served::of(&ring(30_000));
    let run = served.post("/runs", LONG).answer()["run"].as_str().expect("a name").to_owned();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(served.get(&format!("/runs/{run}/rows")).status, 409, "it computes");
    for file in files(&served.path().join("layers")) {
        std::fs::File::options().write(true).open(file).and_then(|file| file.set_len(0)).expect("a cut");
    }
    let (event, failed) = served.ended(&run);
    let said = failed["message"].as_str().unwrap_or_default();
    assert!(
        event == "failed" && said.contains("the file was cut short after it was opened"),
        "{event} {said}"
    );
    let refused = served.get("/vertex?id=7");
    assert!(refused.status == 500 && refused.text().contains("restore the database"), "{refused:?}");
    assert_eq!(served.get("/algorithms").status, 500, "no question is answered of a damaged database");
}

#[test]
fn a_client_that_goes_away_cancels_its_question() {
    let served = Served::of(&ring(3000));
    let (host, cookie) = (served.address, &served.cookie);
    // More than are answered at the same time, each of many seconds.
    for _ in 0..8 {
        let mut stream = served.connect();
        let path = "/api/v1/scene?vertices=3000&rounds=2000";
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        std::thread::sleep(Duration::from_millis(20));
        stream.shutdown(Shutdown::Both).expect("an end");
    }
    let begin = Instant::now();
    assert_eq!(served.get("/vertex?id=7").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// Eight pictures took all places, so that a small question was refused after ten seconds.
#[test]
fn small_questions_are_answered_while_large_ones_take_their_time() {
    let served = Served::of(&ring(3000));
    let (host, cookie) = (served.address, &served.cookie);
    let large: Vec<_> = (0..12)
        .map(|_| {
            let mut stream = served.connect();
            let path = "/api/v1/scene?vertices=3000&rounds=2000";
            let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("a request");
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    for question in ["/vertex?id=7", "/database", "/neighbors?id=7", "/algorithms"] {
        let begin = Instant::now();
        assert_eq!(served.get(question).status, 200, "{question}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{question}: {:?}", begin.elapsed());
    }
    drop(large);
}

#[test]
fn progress_is_told_a_few_times_a_second() {
    let served = Served::of(&ring(30_000));
    let run = served.post("/runs", LONG).answer()["run"].as_str().expect("a name").to_owned();
    let mut events = served.connect();
    let (host, cookie) = (served.address, &served.cookie);
    let request =
        format!("GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    events.write_all(request.as_bytes()).expect("a request");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(served.ask("DELETE", &format!("/runs/{run}"), None).status, 204);
    let (mut told, mut buffer) = (String::new(), [0; 1 << 16]);
    while !told.contains("event: cancelled") {
        let count = events.read(&mut buffer).expect("events");
        assert!(count > 0, "{told}");
        told += &String::from_utf8_lossy(&buffer[..count]);
    }
    let progress = told.matches("event: progress").count();
    assert!((2..30).contains(&progress), "{told}");
}

#[test]
fn only_the_last_runs_are_kept() {
    let served = Served::of("source,target\n1,2\n");
    let runs: Vec<String> = (0..10).map(|_| served.run(r#"{"algorithm":"wcc"}"#).0).collect();
    let statuses: Vec<u16> = runs.iter().map(|run| served.get(&format!("/runs/{run}/rows")).status).collect();
    assert_eq!(statuses, [404, 404, 200, 200, 200, 200, 200, 200, 200, 200]);
    let (event, done) = served.ended(&runs[9]);
    assert_eq!((event.as_str(), &done["rows"]), ("done", &json!(2)), "events are told again");
}

#[test]
fn a_run_that_does_not_fit_the_memory_is_refused() {
    let served = Served::within(&ring(200_000), 2 << 20);
    let estimate = served.post("/estimate", LONG);
    let (_, event, failed) = served.run(LONG);
    assert_eq!(event, "failed", "{failed} {estimate:?}");
    assert!(failed["message"].as_str().is_some_and(|said| said.contains("memory")), "{failed}");
    let estimate = estimate.answer();
    assert_eq!((&estimate["fits"], &estimate["text"]), (&json!(false), &failed["message"]));
    assert!(estimate["memory_bytes"].as_u64().is_some_and(|needed| needed > 2 << 20), "{estimate}");
}

/// Such a run began, and was told as failed; an estimate of it was given.
#[test]
fn what_a_run_cannot_do_is_refused_before_it_begins_and_not_estimated() {
    let served = Served::of(&hub());
    let of = |selection: &str| format!(r#"{{"algorithm":"wcc","selection":{{{selection}}}}}"#);
    for (body, status, expected) in [
        (r#"{"algorithm":"bfs","options":{"source":"nobody"}}"#, 404, "nobody"),
        (r#"{"algorithm":"bfs","options":{"source":["hub","nobody"]}}"#, 404, "nobody"),
        (r#"{"algorithm":"quality","options":{"labels":"nope"}}"#, 400, "nope"),
        (r#"{"algorithm":"pagerank","options":{"damping":7}}"#, 400, "damping"),
        (r#"{"algorithm":"sssp","options":{"source":"hub"},"weight":"nope"}"#, 400, "nope"),
        (r#"{"algorithm":"sssp","options":{"source":"hub"},"weight":"kind"}"#, 400, "cannot be a weight"),
        (r#"{"algorithm":"wcc","weight":"amount"}"#, 400, "does not read the weights"),
        (r#"{"algorithm":"msf"}"#, 422, "undirected=true"),
        (&of(r#""at":7"#), 404, "7"),
        (&of(r#""where":"nope > 3""#), 400, "nope"),
        (&of(r#""kind":"nope""#), 400, "have no kinds"),
        (&of(r#""window":"soon""#), 400, "soon"),
        (&of(r#""window":"2030-01-01..2020-01-01""#), 400, "ends before it begins"),
    ] {
        for route in ["/runs", "/estimate"] {
            let reply = served.post(route, body);
            assert_eq!(reply.status, status, "{route} {body}: {}", reply.text());
            assert!(reply.text().contains(expected), "{route} {body}: {}", reply.text());
        }
    }
    let windowed = of(r#""window":"1h","where":"amount > 3""#);
    assert_eq!((served.run(&windowed).1.as_str(), served.post("/estimate", &windowed).status), ("done", 200));
}

#[test]
fn versions_of_another_writer_are_seen_and_told() {
    let served = Served::of("source,target\n1,2\n");
    let mut events = served.connect();
    let (host, cookie) = (served.address, &served.cookie);
    let request = format!("GET /api/v1/changes HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    events.write_all(request.as_bytes()).expect("a request");
    let session = Session::open_to_write(served.path(), &SessionOptions::default()).expect("a session");
    let mut batch = session.batch().expect("a batch");
    batch.add_edge(2, 3, &[]).expect("an edge");
    session.commit(batch, "one more").expect("a commit");
    let (mut told, mut buffer) = (String::new(), [0; 4096]);
    while !told.contains("{\"latest\":2}") {
        let count = events.read(&mut buffer).expect("events");
        assert!(count > 0, "{told}");
        told += &String::from_utf8_lossy(&buffer[..count]);
    }
    eventually("the edge is seen", || served.get("/database").answer()["edges"] == 2);
    assert_eq!(served.get("/versions").answer()["versions"][1]["edges"], 2);
    assert_eq!(served.get("/vertex?id=3").answer()["in_degree"], 1);
    assert_eq!(served.get("/vertex?id=3&at=1").status, 404);
    session.database().and_then(|db| Ok(db.tag("first", 1)?)).expect("a tag");
    eventually("the tag is seen", || served.get("/vertex?id=1&at=first").status == 200);
}

#[test]
fn a_vertex_that_was_removed_is_as_unknown_as_one_that_never_was() {
    let served = Served::of("source,target\n1,2\n2,3\n");
    let session = Session::open_to_write(served.path(), &SessionOptions::default()).expect("a session");
    let mut batch = session.batch().expect("a batch");
    batch.remove_vertex(3).expect("a deletion");
    session.commit(batch, "without one").expect("a commit");
    eventually("the version is seen", || served.get("/database").answer()["latest"] == 2);
    for question in ["/vertex?id=", "/neighbors?id=", "/scene?ego=", "/path?from=1&to="] {
        for id in [3, 7] {
            let reply = served.get(&format!("{question}{id}"));
            let kind = reply.json()["error"]["kind"].clone();
            assert_eq!((reply.status, kind), (404, json!("vertex_not_found")), "{question}{id}: {reply:?}");
        }
        assert_eq!(served.get(&format!("{question}3&at=1")).status, 200, "{question}");
        assert_eq!(served.get(&format!("{question}x")).status, 400, "{question}: ids are integers");
    }
}

#[test]
fn twenty_viewers_read_while_a_thread_commits() {
    let served = Served::of("source,target\n0,1\n");
    let session = Session::open_to_write(served.path(), &SessionOptions::default()).expect("a session");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let viewers: Vec<_> = (0..20)
            .map(|viewer| {
                let (served, is_done) = (&served, &is_done);
                scope.spawn(move || {
                    let mut last = 0;
                    let mut questions = 0;
                    while !is_done.load(Ordering::Relaxed) || questions == 0 {
                        let latest = served.get("/database").answer()["latest"].as_u64().expect("a number");
                        assert!(latest >= last, "viewer {viewer}: {latest} after {last}");
                        last = latest;
                        // Each version adds one edge to the first.
                        let edges = served.get(&format!("/neighbors?id=0&at={latest}&limit=1")).answer();
                        assert_eq!(edges["found"], latest);
                        questions += 1;
                    }
                    questions
                })
            })
            .collect();
        for target in 2..40 {
            let mut batch = session.batch().expect("a batch");
            batch.add_edge(0, target, &[]).expect("an edge");
            session.commit(batch, "").expect("a commit");
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(viewers.into_iter().all(|viewer| viewer.join().expect("a viewer") > 0));
    });
    eventually("all versions", || served.get("/database").answer()["latest"] == 39);
}

#[test]
fn the_server_ends_at_once_whoever_waits() {
    let mut served = Served::of(&ring(30_000));
    served.post("/runs", LONG).answer();
    let (host, cookie) = (served.address, served.cookie.clone());
    let mut waiting = served.connect();
    let request = format!("GET /api/v1/changes HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    waiting.write_all(request.as_bytes()).expect("a request");
    let took = served.end();
    assert!(took < Duration::from_millis(500), "{took:?}");
    let mut rest = Vec::new();
    assert!(waiting.read_to_end(&mut rest).is_ok() || rest.is_empty());
}
