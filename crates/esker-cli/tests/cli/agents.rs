//! `esker mcp`: each tool over standard input and output, against the command's own answer.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::place::{Place, limited};

/// A server, and its client.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Talk {
    fn with(place: &Place, line: &str) -> Self {
        let child = place.command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut child = limited(child);
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut talk = Self { child, input, output, calls: 0 };
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let info = talk.ask("initialize", &hello);
        assert_eq!(info["result"]["serverInfo"]["name"], "esker", "{info}");
        talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        talk
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.calls, "{answer}");
        answer
    }

    /// The text that a tool gives, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    fn answer(&mut self, tool: &str, arguments: &Value) -> Value {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{tool} {arguments}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(is_error, "{tool} {arguments}: {text}");
        text
    }

    /// Closes its input; returns its exit code.
    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

/// Payments with times, in two versions.
fn payments() -> Place {
    let place = Place::new();
    let mut csv = "source,target,amount,time\n".to_owned();
    for payment in 0..40 {
        let (from, to) = (payment * 7 % 10, payment * 3 % 11);
        csv += &format!("p{from},p{to},{},{}\n", payment + 1, 1_700_000_000 + payment * 60);
    }
    place.file("pay.csv", &csv);
    place.ok("import pay.csv g.esker --time time --property amount --duplicates keep");
    place.file("more.csv", "source,target,amount,time\np1,new,7,1700009000\n");
    place.ok("add g.esker more.csv");
    place
}

#[test]
fn every_tool_answers_as_the_command_does() {
    let place = payments();
    let mut talk = Talk::with(&place, "mcp g.esker");
    let listed = talk.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let mut names: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{listed}");
    let mut ask = |tool: &str, arguments: Value| {
        names.remove(tool);
        talk.answer(tool, &arguments)
    };

    let info = place.json("info g.esker --json");
    let described = ask("describe", json!({}));
    assert_eq!((&described["vertices"], &described["edges"]), (&info["vertices"], &info["edges"]));

    let degree = place.json("degree g.esker p1 --json");
    let vertex = ask("vertex", json!({ "id": "p1" }));
    assert_eq!(vertex["out_degree"], degree[0]["out_degree"], "{degree}");

    let found = ask("search", json!({ "prefix": "p1" }));
    assert_eq!((&found["found"], &found["vertices"][0]["id"]), (&json!(2), &json!("p1")));

    let neighbors = place.json("neighbors g.esker p1 --count --json");
    let answer = ask("neighbors", json!({ "id": "p1" }));
    let edges: u64 =
        answer["neighbors"].as_array().unwrap().iter().map(|one| one["count"].as_u64().unwrap()).sum();
    assert_eq!(neighbors[0]["count"], edges, "{neighbors}");

    let path = place.json("path g.esker p1 p5 --weight amount --json");
    let answer = ask("path", json!({ "from": "p1", "to": "p5", "weight": "amount" }));
    let stops = path.as_array().unwrap();
    let ids: Vec<&Value> = stops.iter().map(|stop| &stop["vertex"]).collect();
    assert_eq!((&answer["length"], &answer["vertices"]), (&stops.last().unwrap()["distance"], &json!(ids)));

    let part = ask("subgraph", json!({ "vertices": ["p1", "new", "nobody"] }));
    assert_eq!(part["edges"][0]["target"], "new");

    let groups = place.json("edges g.esker --group-by source --sum amount --count --top 3 --json");
    let answer = ask("groups", json!({ "by": "source", "sum": ["amount"], "limit": 3 }));
    assert_eq!(answer["rows"], groups);
    assert!(answer["note"].as_str().unwrap().starts_with("3 of "), "{answer}");

    let counts = ask("windows", json!({ "steps": 4 }));
    let sum: u64 = counts["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(described["edges"], sum);

    assert_eq!(ask("versions", json!({}))["found"], 2);
    let diff = ask("diff", json!({ "from": 1, "to": 2 }));
    assert!(diff["added"].to_string().contains("\"new\""), "{diff}");

    let all = ask("algorithms", json!({})).to_string();
    assert!(esker::catalogue::CATALOGUE.iter().all(|entry| all.contains(entry.name)), "{all}");
    assert_eq!(ask("algorithms", json!({ "name": "bfs" }))["options"][0]["name"], "source");

    let estimate = place.json("estimate pagerank g.esker --json --memory 1GiB");
    let wanted = json!({ "algorithm": "pagerank", "options": { "damping": 0.9 } });
    assert_eq!(ask("estimate", wanted.clone())["fits"], estimate["fits"]);

    let ranks = place.json("run pagerank g.esker --damping 0.9 --top 5 --json");
    let mut with_top = wanted;
    with_top["top"] = json!(5);
    let run = ask("run", with_top);
    for (row, top) in run["rows"].as_array().unwrap().iter().zip(ranks["top"].as_array().unwrap()) {
        let (rank, expected) = (row["rank"].as_f64().unwrap(), top["value"].as_f64().unwrap());
        assert!(row["id"] == top["vertex"] && (rank - expected).abs() < 1e-9, "{row} {top}");
    }
    assert_eq!((run["shown"].as_u64(), &run["found"]), (Some(5), &info["vertices"]));
    let groups = ask("run", json!({ "algorithm": "wcc" }));
    let components = place.json("run wcc g.esker --top 1 --json");
    assert_eq!(groups["groups"][0]["count"], components["top"][0]["value"], "{components}");
    assert_eq!(groups["figures"]["components"], components["answers"]["components"]);

    let lowest = ask("rows", json!({ "run": run["run"], "sort": "rank", "limit": 2 }));
    assert_eq!((lowest["shown"].as_u64(), &lowest["found"]), (Some(2), &info["vertices"]));
    assert!(names.is_empty(), "not asked: {names:?}");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn what_cannot_be_answered_is_an_error_that_says_why() {
    let place = payments();
    let mut talk = Talk::with(&place, "mcp g.esker --memory 64MiB");
    for (tool, arguments, expected) in [
        ("vertex", json!({ "id": "nobody" }), "nobody"),
        ("vertex", json!({}), "the request needs id"),
        ("neighbors", json!({ "id": "p1", "lmit": 3 }), "there is no parameter \"lmit\""),
        ("neighbors", json!({ "id": "p1", "where": "nope > 3" }), "nope"),
        ("run", json!({ "algorithm": "bfs", "options": { "source": "nobody" } }), "nobody"),
        ("run", json!({ "algorithm": "pagernak" }), "did you mean pagerank"),
        ("run", json!({ "algorithm": "wcc", "sure": true }), "the body has no \"sure\""),
        ("rows", json!({ "run": "7" }), "there is no run \"7\""),
        ("groups", json!({ "by": "nope" }), "nope"),
    ] {
        let said = talk.refused(tool, &arguments);
        assert!(
            said.contains(expected) && !said.contains(&place.path().display().to_string()),
            "{tool}: {said}"
        );
    }
    let unknown = talk.ask("tools/call", &json!({ "name": "drop", "arguments": {} }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("there is no tool \"drop\""), "{unknown}");
    assert_eq!(talk.end(), Some(0));
    place.fails(1, "mcp nothing.esker", "does not exist");
}

/// Nobody waits for a run of hours that a model began by mistake.
#[test]
fn a_run_that_would_take_much_is_refused_unless_it_is_confirmed() {
    let place = Place::new();
    place.ok("generate kron --scale 15 --degree 16 k.esker");
    let mut talk = Talk::with(&place, "mcp k.esker");
    let exact = json!({ "algorithm": "betweenness" });
    let said = talk.refused("run", &exact);
    assert!(said.contains("confirm=true"), "{said}");
    let begin = std::time::Instant::now();
    let sampled =
        json!({ "algorithm": "betweenness", "options": { "samples": 1 }, "top": 1, "confirm": true });
    assert_eq!(talk.answer("run", &sampled)["shown"], 1);
    assert!(begin.elapsed().as_secs() < 60);
    // More than a model reads: the answer says how much of it is shown.
    let many = talk.answer("search", &json!({ "limit": 1000 }));
    assert_eq!(many["shown"], 1000);
    let rows = talk.answer("run", &json!({ "algorithm": "pagerank", "top": 1000 }));
    let rows = talk.answer("rows", &json!({ "run": rows["run"], "limit": 10000 }));
    let (shown, note) = (rows["shown"].as_u64().unwrap(), rows["note"].as_str().unwrap());
    assert!(
        shown < 10_000
            && note
                == format!(
                    "{shown} of {} shown: the answer would be too long; pass over these by offset",
                    rows["found"]
                ),
        "{note}"
    );
    assert_eq!(many["note"], "1000 of 32768 shown");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn ids_of_no_vertex_are_told_and_directions_without_effect_refused() {
    let place = Place::new();
    place.file("u.csv", "source,target\na,b\nb,c\n");
    place.ok("import u.csv u.esker --undirected");
    let mut talk = Talk::with(&place, "mcp u.esker");
    let among = talk.answer("subgraph", &json!({ "vertices": ["a", "b", "nobody"] }));
    assert_eq!((&among["found"], &among["unknown"]), (&json!(1), &json!(["nobody"])));
    let among = talk.answer("subgraph", &json!({ "vertices": ["a", "b"] }));
    assert_eq!(among["unknown"], json!([]));
    let run = talk.answer("run", &json!({ "algorithm": "wcc" }));
    let rows = talk.answer("rows", &json!({ "run": run["run"], "vertex": ["a", "nobody", "c"] }));
    assert_eq!((&rows["found"], &rows["unknown"]), (&json!(2), &json!(["nobody"])));
    for direction in ["out", "in"] {
        let said = talk.refused("neighbors", &json!({ "id": "b", "direction": direction }));
        assert!(said.contains("undirected; leave it out"), "{said}");
    }
    assert_eq!(talk.answer("neighbors", &json!({ "id": "b", "direction": "both" }))["found"], 2);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn a_line_that_is_no_message_is_an_error_and_the_next_is_answered() {
    let place = Place::new();
    place.ok("generate kron --scale 6 --degree 4 k.esker");
    let mut talk = Talk::with(&place, "mcp k.esker");
    for (line, code, id) in [
        ("{\"jsonrpc\":", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":70}"#, -32600, json!(70)),
        (r#"{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":3}}"#, -32602, json!(71)),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"nothing"}}"#,
            -32602,
            json!("x"),
        ),
        (r#"{"jsonrpc":"2.0","id":72,"method":"nothing"}"#, -32601, json!(72)),
    ] {
        writeln!(talk.input.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        talk.output.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
        assert_eq!(talk.answer("describe", &json!({}))["vertices"], 64, "{line}");
    }
    assert_eq!(talk.end(), Some(0));
}

/// A program may write all its calls to a pipe, and close it.
#[test]
fn the_end_of_the_input_waits_for_the_answers() {
    let place = Place::new();
    place.ok("generate kron --scale 15 --degree 16 k.esker");
    let mut talk = Talk::with(&place, "mcp k.esker");
    let sampled =
        json!({ "algorithm": "betweenness", "options": { "samples": 40 }, "top": 1, "confirm": true });
    let call = |id: u64, name: &str, arguments: &Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    talk.send(&call(80, "run", &sampled));
    // Without the end of the line.
    write!(talk.input.as_mut().unwrap(), "{}", call(81, "describe", &json!({}))).unwrap();
    drop(talk.input.take());
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        let mut line = String::new();
        talk.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        ids.insert(answer["id"].as_u64().unwrap());
    }
    assert_eq!(ids, BTreeSet::from([80, 81]));
    assert_eq!(talk.end(), Some(0));
}
