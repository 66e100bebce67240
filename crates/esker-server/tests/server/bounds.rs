//! Requests whose parts are too long or too many, and files that are cut short.

use std::time::{Duration, Instant};

use serde_json::json;

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
