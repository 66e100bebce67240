//! Requests whose parts are too long or too many, and files that are cut short.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::answers::hub;
use crate::client::Served;

fn small() -> Served {
    Served::of("source,target,amount\nalice,bob,1\nbob,carol,2\n")
}

#[test]
fn names_and_conditions_that_are_too_long_or_too_many_are_refused_at_once() {
    let served = small();
    let long = "x".repeat(900_000);
    let many: serde_json::Map<_, _> = (0..101).map(|i| (format!("o{i}"), json!(1))).collect();
    let conditions = vec!["amount > 1"; 101];
    let bodies = [
        (json!({ "algorithm": long }), "the name of the algorithm has 900000 bytes; at most 10000 are taken"),
        (json!({ "algorithm": "wcc", "options": { &long: 1 } }), "the name of an option has 900000 bytes"),
        (json!({ "algorithm": "wcc", "options": many }), "101 options are given, at most 100 are taken"),
        (json!({ "algorithm": "wcc", "weight": long }), "the weight has 900000 bytes"),
        (json!({ "algorithm": "wcc", "selection": { "where": long } }), "where has 900000 bytes"),
        (json!({ "algorithm": "wcc", "selection": { "kind": [long] } }), "kind has 900000 bytes"),
        (json!({ "algorithm": "wcc", "selection": { "where": conditions } }), "more than 100 times"),
        (json!({ "algorithm": "x".repeat(10_000) }), "no algorithm is called"),
    ];
    for (body, expected) in bodies {
        for route in ["/runs", "/estimate"] {
            let begin = Instant::now();
            let reply = served.post(route, &body.to_string());
            let took = begin.elapsed();
            let said = reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
            assert!(
                reply.status == 400 && said.contains(expected),
                "{} {expected}: {said:.200}",
                reply.status
            );
            assert!(took < Duration::from_secs(2), "{expected}: {took:?}");
        }
    }
    let conditions = "&where=amount%3E1".repeat(101);
    let reply = served.get(&format!("/vertex?id=bob{conditions}"));
    assert!(reply.status == 400 && reply.text().contains("more than 100 times"), "{reply:?}");
    let conditions = "&where=amount%3E0".repeat(100);
    assert_eq!(served.get(&format!("/vertex?id=bob{conditions}")).status, 200);
    let nested = "(".repeat(10_000);
    assert_eq!(served.get(&format!("/vertex?id=bob&where={nested}")).status, 400);
}

/// What was read and verified before is mapped still: pages behind the end of the file end a process.
#[test]
fn a_file_that_is_cut_short_fails_questions_and_not_the_server() {
    let served = Served::of(&hub());
    let questions = [
        "/database",
        "/vertices",
        "/vertices?prefix=leaf",
        "/vertex?id=hub",
        "/neighbors?id=hub&sort=amount",
        "/scene?ego=hub",
        "/path?from=hub&to=tail2&weight=amount",
        "/diff?from=1&to=1",
        "/window",
    ];
    let pagerank = r#"{"algorithm":"pagerank"}"#;
    questions.iter().for_each(|path| assert_eq!(served.get(path).status, 200, "{path}"));
    assert_eq!(served.run(pagerank).1, "done");
    for file in files(&served.path().join("layers")) {
        std::fs::File::options().write(true).open(file).and_then(|file| file.set_len(0)).expect("a cut");
    }
    for path in questions {
        let reply = served.get(path);
        assert!(
            reply.status == 500 && reply.text().contains("another program wrote to it"),
            "{path}: {reply:?}"
        );
    }
    let refused = served.post("/runs", pagerank);
    assert!(refused.status == 500 && refused.text().contains("another program wrote to it"), "{refused:?}");
}

/// All files below a directory.
pub(crate) fn files(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn messages_do_not_repeat_all_that_was_asked() {
    let served = small();
    let long = "x".repeat(800_000);
    let of_body = json!({ "algorithm": "wcc", "selection": { "reverse": long } }).to_string();
    let unknown = json!({ "algorithm": "wcc", &long: 1 }).to_string();
    for body in [of_body, unknown] {
        let reply = served.post("/estimate", &body);
        assert!(reply.status == 400 && reply.body.len() < 3000, "{} {}", reply.status, reply.body.len());
        let error = reply.json()["error"].clone();
        assert!(error["message"].as_str().is_some_and(|said| said.ends_with('…')), "{error}");
    }
    let reply = served.get(&format!("/vertices?limit={}", "9".repeat(50_000)));
    assert!(reply.status == 400 && reply.body.len() < 3000, "{}", reply.body.len());
    let source = json!({ "algorithm": "bfs", "options": { "source": long } }).to_string();
    let refused = served.post("/runs", &source);
    let said = refused.json()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(refused.status == 404 && said.chars().count() <= 2001, "{} {}", refused.status, said.len());
}

#[test]
fn parameters_that_would_say_nothing_are_refused() {
    let served = Served::of(&hub());
    assert_eq!(served.run(r#"{"algorithm":"pagerank"}"#).1, "done");
    for (path, expected) in [
        ("/neighbors?id=hub&sort=kind", "kind holds texts: neighbours are sorted by numbers"),
        ("/runs/1/rows?descending=true", "descending says nothing without sort"),
        ("/scene?hops=3", "hops says nothing without ego"),
        ("/scene?vertices=0", "vertices is a whole number from 1 to 5000"),
        ("/window?steps=0", "steps is a whole number from 1 to 1000"),
        ("/runs/1/histogram?bins=0", "bins is a whole number from 1 to 1000"),
    ] {
        let reply = served.get(path);
        assert!(reply.status == 400 && reply.text().contains(expected), "{path}: {reply:?}");
    }
    for path in [
        "/neighbors?id=hub&sort=amount",
        "/runs/1/rows?descending=false",
        "/runs/1/rows?descending=true&sort=rank",
        "/scene?hops=3&ego=hub",
        "/scene?vertices=1",
        "/window?steps=1",
        "/runs/1/histogram?bins=1",
    ] {
        assert_eq!(served.get(path).status, 200, "{path}");
    }
}
