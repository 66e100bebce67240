//! Numbers as they are stored: whole ones are not rounded.

use esker::{Params, Selection, Session, SessionOptions};
use serde_json::{Value, json};

use crate::answers::hub;
use crate::client::Served;

/// 2^53 + 1 and 2^62 + 1 are no floats; two of the latter are more than an `i64`.
const ODD: &str =
    "source,target,weight\na,b,9007199254740993\na,c,4611686018427387905\na,c,4611686018427387905\na,d,1\n";

#[test]
fn weights_and_their_sums_are_exact() {
    let served = Served::with_parallel(ODD);
    let neighbors = served.get("/neighbors?id=a&sort=weight").answer();
    let found: Vec<(&Value, &Value)> = neighbors["neighbors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (&one["id"], &one["weight"]))
        .collect();
    let [b, c] = [json!("9007199254740993"), json!("9223372036854775810")];
    assert_eq!(found, [(&json!("c"), &c), (&json!("b"), &b), (&json!("d"), &json!(1))]);
    assert_eq!(neighbors["neighbors"][1]["properties"]["weight"], b);
    let edges = served.post("/subgraph", r#"{"vertices":["a","b","c"]}"#).answer();
    let expected = json!([
        { "source": "a", "target": "b", "count": 1, "weight": b },
        { "source": "a", "target": "c", "count": 2, "weight": c },
    ]);
    assert_eq!(edges["edges"], expected);
    let scene = served.get("/scene?rounds=0").answer();
    let id = |place: &Value| scene["vertices"][place.as_u64().expect("a place") as usize]["id"].clone();
    let mut weights: Vec<(Value, Value)> = scene["edges"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|edge| (id(&edge["target"]), edge["weight"].clone()))
        .collect();
    weights.sort_by_key(|(id, _)| id.to_string());
    assert_eq!(weights, [(json!("b"), b), (json!("c"), c), (json!("d"), json!(1))]);
    let none = Served::of("source,target\na,b\n");
    assert_eq!(none.get("/scene?rounds=0").answer()["edges"][0].get("weight"), None);
}

#[test]
fn groups_are_those_of_the_library() {
    let served = Served::with_parallel(ODD);
    let groups = served.get("/groups?by=target&sum=weight").answer();
    assert_eq!(groups["columns"], json!(["target", "sum_weight", "count"]));
    let [b, c] = [json!("9007199254740993"), json!("9223372036854775810")];
    let expected = json!([
        { "target": "c", "sum_weight": c, "count": 2 },
        { "target": "b", "sum_weight": b, "count": 1 },
        { "target": "d", "sum_weight": 1, "count": 1 },
    ]);
    assert_eq!((&groups["rows"], &groups["found"]), (&expected, &json!(3)));
    let few =
        served.get("/groups?by=source,target&sort=count&ascending=true&limit=1&where=target!=b").answer();
    assert_eq!(
        (&few["rows"][0]["target"], &few["shown"], &few["found"]),
        (&json!("d"), &json!(1), &json!(2))
    );
    let all = served.get("/groups?mean=weight&min=weight").answer();
    assert_eq!((&all["rows"][0]["count"], &all["rows"][0]["min_weight"]), (&json!(4), &json!(1)));
    for refused in ["by=nope", "sum=nope", "sort=count", "by=target&sort=nope", "reverse=true&by=source"] {
        assert_eq!(served.get(&format!("/groups?{refused}")).status, 400, "{refused}");
    }
    assert_eq!(served.get("/groups?every=1h").json()["error"]["kind"], "no_times");
    let timed = Served::of(&hub()).get("/groups?every=10m&sum=amount").answer();
    let counts: Vec<u64> =
        timed["rows"].as_array().expect("rows").iter().filter_map(|row| row["count"].as_u64()).collect();
    assert!(counts.len() > 1 && counts.iter().sum::<u64>() == 23, "{timed}");
}

#[test]
fn bins_of_whole_numbers_have_whole_limits() {
    let served = Served::with_parallel(ODD);
    let body = r#"{"algorithm":"sssp","options":{"source":"a"},"weight":"weight"}"#;
    let (run, event, done) = served.run(body);
    assert_eq!(event, "done", "{done}");
    let of = |bins: usize| served.get(&format!("/runs/{run}/histogram?bins={bins}")).answer()["bins"].clone();
    let each: Vec<Value> = of(9).as_array().expect("a list").iter().map(|bin| bin["from"].clone()).collect();
    assert_eq!(each, [json!(0), json!(1), json!("9007199254740993"), json!("4611686018427387905")]);
    let two = of(2);
    assert_eq!((&two[0]["from"], &two[0]["count"], &two[1]["count"]), (&json!(0), &json!(3), &json!(1)));
    assert_eq!(
        (&two[1]["from"], &two[1]["to"]),
        (&json!("2305843009213693953"), &json!("4611686018427387905"))
    );
}

/// What a run on a window is repeated with reads the same edges, whatever edges come later.
#[test]
fn runs_on_windows_say_how_they_are_repeated() {
    let served = Served::of(&hub());
    for window in ["5m", "1700000060..1700000420", "2023-11-14T22:14:20Z..2023-11-14T22:20:20Z"] {
        let body = json!({ "algorithm": "wcc", "selection": { "window": window, "where": "amount < 90" } });
        let (run, event, done) = served.run(&body.to_string());
        assert_eq!(event, "done", "{done}");
        let command = done["command"].as_str().expect("a command");
        let [_, first, second] = command.split(" --where ").collect::<Vec<_>>()[..] else {
            panic!("{command}")
        };
        assert_eq!(first, "'amount < 90'");
        let python = done["python"].as_str().expect("an expression");
        assert!(python.contains(".where(\"amount < 90\", \"\\\"time\\\" > "), "{python}");
        let condition = second.trim_matches('\'').replace("'\\''", "'");
        let selection =
            Selection::version(1).filtered("amount < 90").and_then(|one| one.filtered(&condition));
        let session = Session::open_with(served.path(), &SessionOptions::default()).expect("a session");
        let view = session.view(&selection.expect("a selection")).expect("a view");
        let answer = view.run("wcc", &Params::default()).expect("an answer");
        let rows = served.get(&format!("/runs/{run}/rows")).answer();
        let kept = answer.vertices.as_ref().map(|vertices| vertices.len());
        assert_eq!(rows["found"].as_u64().map(|rows| rows as usize), kept, "{window}: {condition}");
        assert!(kept.is_some_and(|kept| kept > 3 && kept < 20), "{window}: {kept:?}");
    }
}
