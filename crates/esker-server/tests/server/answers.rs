//! Answers against those of the library, and against the OpenAPI document.

use std::collections::BTreeSet;

use esker::drawing::{Arrangement, Look, Paint, Picture, Scene};
use esker::graph::Run;
use esker::local::{Incidence, PathOptions, edges_of, paths};
use esker::store::{Store, Version};
use esker::{Params, Selection, Session, SessionOptions};
use serde_json::{Value, json};

use crate::client::Served;
use crate::schema::mismatch;

/// A hub with leaves, a tail, parallel edges of two kinds, times and amounts.
pub(crate) fn hub() -> String {
    let mut csv = String::from("source,target,amount,kind,time\n");
    for leaf in 0..20 {
        csv += &format!("hub,leaf{leaf:02},{leaf},call,{}\n", 1_700_000_000 + 60 * leaf);
    }
    csv + "leaf07,tail1,1,mail,1700000100\ntail1,tail2,7,mail,1700001200\nhub,tail2,100,call,1700000000\n"
}

fn version(served: &Served) -> Version {
    Store::open(served.path()).and_then(|store| store.latest()).expect("a version")
}

fn id(version: &Version, v: esker::graph::VertexId) -> String {
    version.ids().external_of(v).expect("an id").to_string()
}

#[test]
fn the_database_and_its_versions_are_described() {
    let served = Served::of(&hub());
    let (answer, version) = (served.get("/database").answer(), version(&served));
    assert_eq!(answer["name"], "g.esker");
    assert_eq!(answer["vertices"], version.num_vertices() as u64);
    assert_eq!(answer["edges"], version.num_edges());
    assert_eq!(answer["directed"], version.is_directed());
    let listed = answer["edge_properties"].as_array().expect("a list");
    let names: Vec<&str> = listed.iter().filter_map(|one| one["name"].as_str()).collect();
    let expected: Vec<&str> = version.edge_properties().map(|property| property.name.as_str()).collect();
    assert_eq!((names, listed.len()), (expected, 3));
    assert_eq!(answer["event_times"]["property"], "time");
    let versions = served.get("/versions").answer();
    assert_eq!((&versions["shown"], &versions["found"]), (&json!(1), &json!(1)));
    assert_eq!(versions["versions"][0]["edges"], version.num_edges());
    assert_eq!(versions["versions"][0]["time"], version.record().time_ms);
}

#[test]
fn an_integer_that_nobody_called_a_time_is_none() {
    let served = Served::of("source,target,stars\n1,2,3\n2,3,9\n");
    assert_eq!(served.get("/database").answer()["event_times"], Value::Null);
    let refused = served.get("/window");
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (422, &json!("no_times")));
}

#[test]
fn neighbours_are_the_edges_of_a_vertex_the_most_important_first() {
    let served = Served::of(&hub());
    let version = version(&served);
    let hub = version.ids().find("hub").expect("the hub");
    let expected: BTreeSet<String> = edges_of(&version, hub, Incidence::Both)
        .expect("edges")
        .iter()
        .map(|edge| id(&version, if edge.source == hub { edge.target } else { edge.source }))
        .collect();
    let answer = served.get("/neighbors?id=hub&direction=both&sort=amount").answer();
    let found: Vec<&str> =
        answer["neighbors"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(found.iter().map(|&one| one.to_owned()).collect::<BTreeSet<_>>(), expected);
    assert_eq!(found[..3], ["tail2", "leaf19", "leaf18"]);
    assert_eq!(answer["neighbors"][0]["properties"]["amount"], 100);
    let few = served.get("/neighbors?id=hub&limit=2&where=amount%3C3").answer();
    assert_eq!((&few["shown"], &few["found"]), (&json!(2), &json!(3)));
    let by_degree = served.get("/neighbors?id=hub").answer();
    assert_eq!(by_degree["neighbors"][0]["id"], "leaf07", "it has two edges, as tail2");
    let vertex = served.get("/vertex?id=leaf07").answer();
    assert_eq!((&vertex["out_degree"], &vertex["in_degree"]), (&json!(1), &json!(1)));
}

#[test]
fn ids_are_completed_and_numbers_are_texts() {
    let served = Served::of(&hub());
    let answer = served.get("/vertices?prefix=leaf1&limit=3").answer();
    assert_eq!((&answer["shown"], &answer["found"]), (&json!(3), &json!(10)));
    assert_eq!(answer["vertices"][0], json!({ "id": "leaf10", "degree": 1 }));
    let top = served.get("/vertices?limit=1").answer();
    assert_eq!((&top["vertices"][0]["id"], &top["found"]), (&json!("hub"), &json!(23)));
    let numbers = Served::of("source,target\n9007199254740993,2\n");
    let one = numbers.get("/vertices?prefix=9007199254740993").answer();
    assert_eq!(one["vertices"], json!([{ "id": "9007199254740993", "degree": 1 }]));
    assert_eq!(numbers.get("/vertices?prefix=7").answer()["vertices"], json!([]));
}

#[test]
fn a_scene_is_the_picture_of_the_library() {
    let served = Served::of(&hub());
    let version = version(&served);
    let run = Run::with_threads(2).expect("a run");
    let hub = version.ids().find("hub").expect("the hub");
    let scene = Scene::around((&version).into(), &[hub], 1, 10, &run).expect("a scene");
    let look = Look { paint: Paint::Communities, size: None };
    let picture =
        Picture::new((&version).into(), scene, Arrangement::default(), &look, &run).expect("a picture");
    let answer = served.get("/scene?ego=hub&vertices=10&colour=communities").answer();
    assert_eq!((&answer["shown"], &answer["found"]), (&json!(10), &json!(picture.scene().found)));
    let vertices = answer["vertices"].as_array().expect("a list");
    let ids: Vec<&str> = vertices.iter().filter_map(|vertex| vertex["id"].as_str()).collect();
    assert_eq!(ids, picture.places().map(|(id, _)| id).collect::<Vec<_>>());
    let colours: Vec<&str> = vertices.iter().filter_map(|vertex| vertex["colour"].as_str()).collect();
    assert_eq!(colours, picture.colours());
    assert_eq!(answer["edges"].as_array().map(Vec::len), Some(picture.scene().edges.len()));
    assert_eq!(answer["legend"][0]["colour"], picture.legend()[0].0);
    assert!(vertices.iter().all(|vertex| vertex["x"].is_f64() && vertex["y"].is_f64()));
    let layers = served.get("/scene?ego=tail2&hops=3&layout=layers").answer();
    assert_eq!(layers["legend"], Value::Null);
    let edges = served.post("/subgraph", r#"{"vertices":["hub","leaf07","tail1","nobody"]}"#).answer();
    let expected = json!([
        { "source": "hub", "target": "leaf07", "count": 1 }, { "source": "leaf07", "target": "tail1", "count": 1 },
    ]);
    assert_eq!(edges["edges"], expected);
}

#[test]
fn a_path_is_that_of_the_library() {
    let served = Served::of(&hub());
    let version = version(&served);
    let run = Run::with_threads(1).expect("a run");
    let [from, to] = ["hub", "tail2"].map(|id| version.ids().find(id).expect("a vertex"));
    let weight = Some(version.edge_property("amount").expect("a property"));
    let options = PathOptions { weight, ..PathOptions::default() };
    let path = &paths(&version, from, to, options, &run).expect("paths")[0];
    let answer = served.get("/path?from=hub&to=tail2&weight=amount").answer();
    assert_eq!(answer["length"], f64::from(path.length()));
    let ids: Vec<String> = path.vertices.iter().map(|&v| id(&version, v)).collect();
    assert_eq!(answer["vertices"], json!(ids));
    assert_eq!(answer["edges"][0], json!({ "source": "hub", "target": "leaf07", "weight": 7 }));
    assert_eq!(served.get("/path?from=hub&to=tail2").answer()["length"], 1);
    let none = served.get("/path?from=tail2&to=hub").answer();
    assert_eq!((&none["found"], &none["length"]), (&json!(false), &Value::Null));
    assert_eq!(served.get("/path?from=tail2&to=hub&undirected=true").answer()["found"], true);
    let avoiding = "/path?from=hub&to=tail2&weight=amount&avoid=leaf07&avoid=leaf01";
    assert_eq!(served.get(avoiding).answer()["length"], 100);
}

#[test]
fn a_run_has_the_answer_of_the_library() {
    let served = Served::of(&hub());
    let session = Session::open_with(served.path(), &SessionOptions::default()).expect("a session");
    let params = Params::default().with("damping", "0.9");
    let selection = Selection::latest().filtered("amount < 50").expect("a selection");
    let ranks = session.view(&selection).and_then(|view| view.run("pagerank", &params)).expect("an answer");
    let body =
        r#"{"algorithm":"pagerank","options":{"damping":0.9},"selection":{"where":"amount < 50","at":1}}"#;
    assert_eq!(served.post("/estimate", body).answer()["fits"], true);
    let (run, event, done) = served.run(body);
    assert_eq!(event, "done", "{done}");
    assert_eq!(done["rows"], ranks.columns[0].values.len());
    assert_eq!(done["columns"], json!([{ "name": "rank", "type": "number" }]));
    let command = "esker run pagerank g.esker --at 1 --where 'amount < 50' --damping 0.9";
    assert_eq!(done["command"], command);
    assert_eq!(
        done["python"],
        "esker.open(\"g.esker\").graph(1).where(\"amount < 50\").pagerank(damping=0.9)"
    );
    let rows = served.get(&format!("/runs/{run}/rows?sort=rank&descending=true&limit=3")).answer();
    let top = ranks.top(3).expect("the first");
    for (row, (id, value)) in rows["rows"].as_array().expect("a list").iter().zip(&top) {
        let (rank, expected) = (row["rank"].as_f64().expect("a rank"), value.number().expect("a number"));
        assert!(row["id"] == **id && (rank - expected).abs() < 1e-12, "{row} {id} {expected}");
    }
    let one = served.get(&format!("/runs/{run}/rows?vertex=hub&vertex=nobody")).answer();
    assert_eq!((&one["found"], &one["rows"][0]["id"]), (&json!(1), &json!("hub")));
    assert_eq!(one["unknown"], json!(["nobody"]));
    let bins = served.get(&format!("/runs/{run}/histogram?bins=5")).answer();
    let counts = bins["bins"].as_array().expect("a list").iter().filter_map(|bin| bin["count"].as_u64());
    assert_eq!(counts.sum::<u64>(), done["rows"].as_u64().expect("a number"));
    let csv = served.get(&format!("/runs/{run}/download?format=csv"));
    assert_eq!(csv.text().lines().count() as u64, 1 + done["rows"].as_u64().expect("a number"));
    let name = format!("-pagerank-{run}.csv\"");
    assert!(csv.head.contains("attachment") && csv.head.contains(&name), "{}", csv.head);
    let parquet = served.get(&format!("/runs/{run}/download?format=parquet")).body;
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let (run, _, done) = served.run(r#"{"algorithm":"wcc"}"#);
    assert_eq!(done["columns"][0]["type"], "group");
    let groups = served.get(&format!("/runs/{run}/histogram")).answer();
    assert_eq!(groups["groups"][0]["count"], 23);
    let lacking = served.post("/runs", r#"{"algorithm":"bfs"}"#);
    assert!(lacking.status == 400 && lacking.text().contains("bfs needs source=ID"), "{lacking:?}");
}

#[test]
fn all_algorithms_are_listed_by_question() {
    let served = Served::of("source,target\n1,2\n");
    let answer = served.get("/algorithms").answer();
    let groups = answer["groups"].as_array().expect("a list");
    let listed: BTreeSet<&str> = groups
        .iter()
        .flat_map(|group| group["algorithms"].as_array().expect("a list"))
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(listed, esker::catalogue::CATALOGUE.iter().map(|entry| entry.name).collect());
}

#[test]
fn differences_and_steps_of_time_are_counted() {
    let mut csv = String::from("source,target,time\n");
    (0..100).for_each(|i| csv += &format!("a{i},b,{}\n", 1_700_000_000 + i * 10));
    let served = Served::of(&csv);
    let times = served.get("/database").answer()["event_times"].clone();
    assert_eq!(times["from"], json!({ "value": 1_700_000_000, "text": "2023-11-14T22:13:20Z" }));
    let answer = served.get("/window?steps=4").answer();
    assert_eq!(answer["counts"], json!([25, 25, 25, 25]));
    let limits = answer["limits"].as_array().expect("a list");
    assert_eq!((limits.len(), &limits[0], &limits[4]), (5, &times["from"]["text"], &times["to"]["text"]));
    let part = format!("{}..{}", limits[1].as_str().expect("a text"), limits[2].as_str().expect("a text"));
    let within = served.get(&format!("/neighbors?id=b&direction=in&window={part}")).answer();
    let expected = (0..100).filter(|i| (248..=495).contains(&(i * 10))).count();
    assert_eq!(within["found"], expected);
    let session = Session::open_to_write(served.path(), &SessionOptions::default()).expect("a session");
    let mut batch = session.batch().expect("a batch");
    batch.add_edge("x", "b", &[1_700_000_005_i64.into()]).expect("an edge");
    batch.remove_edge("a7", "b").expect("a deletion");
    session.commit(batch, "two changes").expect("a commit");
    let changes = served.get("/diff?from=1&to=2").answer();
    assert_eq!((&changes["shown"], &changes["found"]), (&json!(3), &json!(3)));
    let edge = json!({ "source": "x", "target": "b", "properties": { "time": 1_700_000_005 } });
    assert!(changes["added"].as_array().is_some_and(|added| added.contains(&edge)), "{changes}");
    assert_eq!(changes["removed"][0]["source"], "a7");
    let back = served.get("/diff?from=2&to=1&limit=1").answer();
    assert_eq!((&back["shown"], &back["found"]), (&json!(1), &json!(3)));
    assert_eq!(served.get("/vertex?id=b&at=1").answer()["in_degree"], 100);
}

#[test]
fn differences_count_an_entry_for_each_property_that_changed() {
    let served = Served::of("source,target,amount,size\na,b,1,2\nb,c,3,4\n");
    let session = Session::open_to_write(served.path(), &SessionOptions::default()).expect("a session");
    let mut batch = session.batch().expect("a batch");
    batch.replace_edge("a", "b", &[7.into(), 8.into()]).expect("an edge");
    batch.replace_edge("b", "c", &[3.into(), 9.into()]).expect("an edge");
    session.commit(batch, "three values").expect("a commit");
    for (limit, shown) in [(1000, 3), (2, 2), (1, 1), (0, 0)] {
        let answer = served.get(&format!("/diff?from=1&to=2&limit={limit}")).answer();
        let listed = answer["changed"].as_array().map(Vec::len);
        assert_eq!((listed, &answer["shown"], &answer["found"]), (Some(shown), &json!(shown), &json!(3)));
    }
    let entry = json!({ "source": "b", "target": "c", "property": "size", "old": 4, "new": 9 });
    let all = served.get("/diff?from=1&to=2").answer();
    assert!(all["changed"].as_array().is_some_and(|changed| changed.contains(&entry)), "{all}");
}

/// A request for each route of the document: its path there, and the request.
fn requests() -> Vec<(&'static str, &'static str, &'static str, Option<&'static str>)> {
    vec![
        ("get", "/openapi.json", "/openapi.json", None),
        ("get", "/database", "/database", None),
        ("get", "/versions", "/versions", None),
        ("get", "/vertices", "/vertices", None),
        ("get", "/vertex", "/vertex?id=hub", None),
        ("get", "/neighbors", "/neighbors?id=hub&sort=amount", None),
        ("get", "/scene", "/scene?colour=communities", None),
        ("post", "/subgraph", "/subgraph", Some(r#"{"vertices":["hub","leaf07"]}"#)),
        ("get", "/path", "/path?from=hub&to=tail2&weight=amount", None),
        ("get", "/algorithms", "/algorithms", None),
        ("post", "/estimate", "/estimate", Some(r#"{"algorithm":"wcc"}"#)),
        ("get", "/diff", "/diff?from=1&to=1", None),
        ("get", "/window", "/window", None),
        ("get", "/groups", "/groups?by=source&sum=amount&limit=3", None),
        ("post", "/runs", "/runs", Some(r#"{"algorithm":"wcc"}"#)),
        ("get", "/runs/{run}/rows", "/runs/1/rows", None),
        ("get", "/runs/{run}/histogram", "/runs/1/histogram", None),
    ]
}

#[test]
fn answers_have_the_shape_that_the_document_says_and_it_has_all_routes() {
    let served = Served::of(&hub());
    let (_, event, _) = served.run(r#"{"algorithm":"pagerank"}"#);
    assert_eq!(event, "done");
    let document = served.get("/openapi.json").answer();
    let mut routes: BTreeSet<(String, String)> = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let path = path.strip_prefix("/api/v1").expect("the prefix");
        routes
            .extend(methods.as_object().expect("methods").keys().map(|verb| (verb.clone(), path.to_owned())));
    }
    for (verb, path, request, body) in requests() {
        assert!(routes.remove(&(verb.to_owned(), path.to_owned())), "{verb} {path} is not in the document");
        let reply = served.ask(&verb.to_uppercase(), request, body);
        let operation = &document["paths"][format!("/api/v1{path}")][verb];
        let declared = &operation["responses"][reply.status.to_string()];
        let schema = &declared["content"]["application/json"]["schema"];
        assert_eq!(mismatch(&reply.json(), schema), None, "{verb} {request}");
        assert!(reply.status < 300, "{verb} {request}: {reply:?}");
    }
    // Their answers are no JSON; tests of their own ask them.
    let others = [
        ("post", "/session"),
        ("get", "/changes"),
        ("delete", "/runs/{run}"),
        ("get", "/runs/{run}/events"),
        ("get", "/runs/{run}/download"),
    ];
    assert_eq!(routes, others.map(|(verb, path)| (verb.to_owned(), path.to_owned())).into());
}

#[test]
fn the_page_is_compressed_and_lies_at_the_root() {
    let served = Served::of("source,target\n1,2\n");
    for (path, media_type) in [("/", "text/html"), ("/app.js", "text/javascript"), ("/app.css", "text/css")] {
        let host = served.address;
        let reply = served
            .raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes());
        assert!(reply.status == 200 && reply.head.contains(media_type), "{reply:?}");
        assert!(reply.head.contains("content-encoding: gzip") && reply.body.starts_with(&[0x1f, 0x8b]));
    }
}

#[test]
fn edges_of_a_path_have_the_weights_that_are_stored() {
    let served = Served::of("source,target,w\na,b,1e17\nb,c,1.0\nc,d,0.1\n");
    let answer = served.get("/path?from=a&to=d&weight=w").answer();
    let weights = answer["edges"].as_array().expect("edges").iter().map(|edge| edge["weight"].as_f64());
    assert_eq!(weights.collect::<Vec<_>>(), [Some(1e17), Some(1.0), Some(0.1)]);
    let most = i64::MAX;
    let served = Served::of(&format!("source,target,w\na,b,{most}\nb,c,{most}\nc,d,{most}\n"));
    let length = |to: &str| served.get(&format!("/path?from=a&to={to}&weight=w")).answer()["length"].clone();
    assert_eq!(length("b"), most.to_string());
    assert_eq!(length("d"), (i128::from(most) * 3).to_string());
}

/// What shows edges as they are stored does not take another direction in silence.
#[test]
fn directions_are_refused_where_they_change_nothing() {
    let served = Served::of(&hub());
    for direction in ["reverse=true", "undirected=true"] {
        for route in ["/vertex?id=hub", "/neighbors?id=hub", "/scene?rounds=0", "/vertices?limit=3"] {
            let join = if route.contains('?') { '&' } else { '?' };
            let reply = served.get(&format!("{route}{join}{direction}"));
            assert_eq!(reply.status, 400, "{route} {direction}: {}", reply.text());
        }
        let name = direction.split('=').next().expect("a name");
        let body = format!(r#"{{"vertices":["hub"],"selection":{{"{name}":true}}}}"#);
        assert_eq!(served.post("/subgraph", &body).status, 400);
        assert_eq!(served.get(&format!("/path?from=hub&to=tail2&{direction}")).status, 200);
    }
}

#[test]
fn options_that_are_on_or_off_are_true_or_false() {
    let served = Served::of(&hub());
    let estimate = |option: &str, value: &str| {
        let body = format!(r#"{{"algorithm":"bfs","options":{{"source":"hub","{option}":{value}}}}}"#);
        served.post("/estimate", &body).status
    };
    for good in ["true", "false", "null", "\"true\"", "\"false\""] {
        assert_eq!(estimate("parents", good), 200, "{good}");
    }
    for bad in ["0", "1", "\"maybe\"", "\"\"", "{}"] {
        assert_eq!(estimate("parents", bad), 400, "{bad}");
    }
    // An option that there is not is refused whatever its value.
    for value in ["false", "null", "\"x\""] {
        assert_eq!(estimate("nope", value), 400, "{value}");
    }
    let (_, _, done) = served.run(r#"{"algorithm":"bfs","options":{"source":"hub","parents":"false"}}"#);
    assert!(!done["command"].as_str().expect("a command").contains("--parents"), "{done}");
}
