//! Databases that older releases created.

use std::path::Path;

use serde_json::json;

use crate::place::Place;

/// A copy of a database in `databases`, under the name `old.esker`.
fn old(name: &str) -> Place {
    let place = Place::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/databases").join(name);
    copy(&from, &place.path().join("old.esker"));
    place
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Its ids are hashed without a secret. Version 1 is the import of alice, bob, carol; version 2 adds dave in a layer;
/// version 3 erin in the log.
#[test]
fn a_database_of_format_version_4_finds_its_ids_and_grows() {
    let place = old("format-4");
    place.ok("check old.esker");
    let depths = |source: &str| place.ok(&format!("run bfs old.esker --source {source} --output -"));
    assert_eq!(depths("alice"), "vertex,value\nalice,0\nbob,1\ncarol,2\ndave,3\nerin,4\n");
    for id in ["bob", "dave", "erin"] {
        assert!(depths(id).contains(&format!("\n{id},0\n")), "{id}");
    }
    place.file("more.csv", "source,target,weight\nerin,alice,5\nerin,dave,6\nerin,frank,7\n");
    assert_eq!(
        place.ok("add old.esker more.csv --freeze"),
        "old.esker: version 4: 3 edges added, 1 vertex added\n"
    );
    place.ok("compact old.esker");
    place.ok("check old.esker");
    assert_eq!(place.json("info old.esker --json")["vertices"], json!(6));
    assert_eq!(depths("frank").lines().nth(6), Some("frank,0"));
}

/// It has neither event times nor a rule for duplicates. Version 1 is an import, version 2 a layer tagged second, version 3 in the log.
#[test]
fn a_database_of_format_version_5_keeps_its_times_and_its_rule() {
    let place = old("format-5");
    let log = place.json("log old.esker --json");
    let times: Vec<_> =
        log["versions"].as_array().unwrap().iter().map(|version| version["time_ms"].clone()).collect();
    assert_eq!(times, [1_795_412_018_116_u64, 1_795_412_017_829, 1_795_412_017_659]);
    for version in log["versions"].as_array().unwrap() {
        assert_eq!(version["time_ms"], version["committed_ms"]);
    }
    assert_eq!(place.json("info old.esker --json")["duplicates"], "last");
    place.file("more.wel", "ann bob 6\nann bob 8\n");
    place.ok("add old.esker more.wel --event-time 2100-01-01");
    assert_eq!(place.ok("diff old.esker 3 4"), "~ ann bob weight=4 -> 8\n");
    place.ok("compact old.esker");
    place.ok("check old.esker");
    let after = place.json("log old.esker --json");
    assert_eq!(
        after["versions"].as_array().unwrap()[1..].iter().map(|v| v["time_ms"].clone()).collect::<Vec<_>>(),
        times
    );
    assert_eq!(after["versions"][0]["time"], "2100-01-01T00:00:00Z");
}

/// Its properties are numbers and texts only. Version 1 is an import, version 2 a layer with ages and cities, versions 3 and 4 in the log.
#[test]
fn a_database_of_format_version_6_keeps_its_types_and_gets_others() {
    let place = old("format-6");
    let info = place.json("info old.esker --json");
    let types = |info: &serde_json::Value, of: &str| -> Vec<String> {
        let properties = info[of].as_array().unwrap().iter();
        properties.map(|one| format!("{} {}", one["name"], one["type"]).replace('"', "")).collect()
    };
    assert_eq!(types(&info, "edge_properties"), ["weight i32", "kind text", "since i32"]);
    assert_eq!(types(&info, "vertex_properties"), ["age i64", "city text", "height f64", "nick text"]);
    let cid = json!({ "vertex": "cid", "out_degree": 1, "in_degree": 1, "age": 7, "city": null, "height": 1.5, "nick": "C" });
    assert_eq!(place.json("get old.esker cid --format json")[0], cid);
    place.ok("set old.esker --vertex ann age=40.5 born=1986-01-01");
    place.file("more.csv", "source,target,weight,kind,since,seen\ndan,ann,1,x,2014,2026-11-21T10:00:00Z\n");
    place.ok("add old.esker more.csv --define seen:timestamp[ms,UTC]");
    place.ok("compact old.esker");
    place.ok("check old.esker");
    let info = place.json("info old.esker --json");
    assert_eq!(types(&info, "edge_properties")[3], "seen timestamp[ms, UTC]");
    assert_eq!(
        types(&info, "vertex_properties"),
        ["age f64", "city text", "height f64", "nick text", "born date"]
    );
    let edges = place.ok("neighbors old.esker dan --format csv");
    assert!(edges.contains("ann") && edges.contains("2026-11-21T10:00:00Z"), "{edges}");
}

/// It has no options. Version 1 is an import with tiles and heads, version 2 a layer, version 3 in the log.
#[test]
fn a_database_of_format_version_7_keeps_its_forms_and_gets_options() {
    let place = old("format-7");
    place.ok("check old.esker");
    assert_eq!(place.ok("options old.esker"), "old.esker: copy mixed, freeze at 64.00 MiB, merge auto\n");
    assert_eq!(place.json("info old.esker --at 1 --json")["head_length"], json!(1));
    place.ok("options old.esker --freeze-size 1 --merge never");
    place.file("more.csv", "source,target,weight\neva,ann,6\n");
    place.ok("add old.esker more.csv");
    let info = place.json("info old.esker --json");
    assert_eq!((&info["vertices"], &info["edges"], &info["layers"]), (&json!(5), &json!(6), &json!(4)));
    place.ok("run wcc old.esker --encoding tiles --verify");
    place.ok("compact old.esker");
    place.ok("check old.esker");
    let info = place.json("info old.esker --json");
    assert_eq!((&info["layers"], &info["head_length"]), (&json!(1), &json!(1)));
    assert_eq!(info["options"], json!({ "copy": "mixed", "freeze_bytes": 1, "merge": "never" }));
    assert!(info["tile_bytes_per_arc"].is_number());
}

/// Its vertices are not in order of degree, and its heads hold the first neighbours. Version 1, tagged first, is an import; version 2 a layer.
#[test]
fn a_database_of_format_version_8_keeps_its_heads_until_they_are_chosen_by_degree() {
    let place = old("format-8");
    place.ok("check old.esker");
    let heads = || {
        let info = place.json("info old.esker --json");
        (info["head_length"].clone(), info["head_order"].clone())
    };
    let depths = || {
        let run =
            "run bfs old.esker --source eva --encoding lists --residency headed --head 1 --verify --output -";
        assert_eq!(place.ok(run), "vertex,value\nbob,2\nhub,1\ncid,1\ndan,1\neva,0\nzoe,2\nyan,3\n");
    };
    assert_eq!(heads(), (json!(1), json!("first")));
    depths();
    place.ok("compact old.esker");
    assert_eq!(heads(), (json!(1), json!("degree")));
    assert!(place.ok("info old.esker").contains("of at most 1 neighbour, those of highest degree"));
    place.ok("check old.esker");
    depths();
    place.ok("run pagerank old.esker --at first --encoding lists --residency headed --head 1 --verify");
}

/// It declares no stream. Version 1 is an import of timed edges, version 2 a layer, version 3 in the log.
#[test]
fn a_database_of_format_version_9_becomes_a_declared_stream() {
    let place = old("format-9");
    place.ok("check old.esker");
    assert_eq!(place.json("options old.esker --json")["stream"], json!(null));
    place.ok("options old.esker --time-unit s --expire 15m");
    place.file("more.csv", "source,target,sent\ndan,ann,1709292000\n");
    assert!(place.ok("stream old.esker more.csv --json").contains("\"expired\":2"));
    assert_eq!(place.json("info old.esker --json")["stream"]["expire"], "15m");
    assert_eq!(
        place.ok("export old.esker - --format csv"),
        "source,target,sent\nann,cid,1709291400\ndan,ann,1709292000\n"
    );
    assert_eq!(place.json("info old.esker --at 3 --json")["edges"], 3);
    place.ok("compact old.esker");
    place.ok("check old.esker");
}
