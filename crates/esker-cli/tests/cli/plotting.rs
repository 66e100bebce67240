//! `esker plot`: charts of a graph, and the same as tables.

use serde_json::json;

use crate::place::Place;

fn star() -> Place {
    let place = Place::new();
    place.file("a.csv", "source,target,km\nhub,a,1\nhub,b,2\nhub,c,3\nx,y,9\n");
    place.ok("import a.csv g.esker --property km");
    place
}

#[test]
fn distributions_are_tables_and_charts() {
    let place = star();
    let table = place.json("plot degrees g.esker --json");
    assert_eq!(table, place.json("degree g.esker --json"));
    assert_eq!((&table[0]["degree"], &table[0]["count"]), (&json!(0), &json!(4)));
    assert_eq!(place.json("plot degrees g.esker --direction in --json")[1]["count"], 4);
    let sizes = place.json("plot components g.esker --json");
    assert_eq!((&sizes[0]["size"], &sizes[1]["size"], &sizes[1]["count"]), (&json!(2), &json!(4), &json!(1)));
    let far = place.json("plot components g.esker --where km>5 --json");
    assert_eq!((far.as_array().map(Vec::len), &far[0]["size"]), (Some(1), &json!(2)));
    // As `run` counts: only vertices with an edge that meets the condition.
    let far = place.json("plot degrees g.esker --where km>5 --json");
    let halves = [0, 1].map(|degree| json!({ "degree": degree, "count": 1, "share": 0.5 }));
    assert_eq!(far, json!(halves));
    assert_eq!(far, place.json("degree g.esker --where km>5 --json"));
    assert_eq!(far, place.json("plot degrees g.esker --where km>5 --direction in --json"));
    let run = place.ok("run degrees g.esker --where km>5 -o - -q");
    assert_eq!(run.lines().count(), 3, "{run}");
    let none = place.run("plot degrees g.esker --where km>50 -o none.svg");
    let said = String::from_utf8_lossy(&none.stderr);
    assert!(none.status.success() && said.contains("the chart is empty"), "{none:?}");
    assert!(std::fs::read_to_string(place.path().join("none.svg")).unwrap().contains("nothing to show"));
    for (what, dots) in [("degrees", 2), ("components", 2)] {
        place.ok(&format!("plot {what} g.esker -o {what}.svg"));
        let svg = std::fs::read_to_string(place.path().join(format!("{what}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("<title>g"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), dots, "{svg}");
    }
}

#[test]
fn versions_are_lines() {
    let place = star();
    place.file("b.csv", "source,target,km\nhub,d,1\n");
    place.ok("add g.esker b.csv");
    place.file("gone.txt", "x\n");
    place.ok("delete g.esker --vertices gone.txt");
    let rows = place.json("plot versions g.esker --json");
    let expected = json!([
        { "version": 1, "vertices": 6, "edges": 4 },
        { "version": 2, "vertices": 7, "edges": 5 },
        { "version": 3, "vertices": 6, "edges": 4 },
    ]);
    assert_eq!(rows, expected);
    place.ok("plot versions g.esker -o growth.svg");
    let svg = std::fs::read_to_string(place.path().join("growth.svg")).unwrap();
    assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
}

#[test]
fn what_has_no_effect_on_a_chart_is_refused() {
    let place = star();
    for (line, fragment) in [
        ("plot versions g.esker --at 1", "--at has no effect"),
        ("plot versions g.esker --where km>1", "--where and --kind have no effect"),
        ("plot components g.esker --direction in", "--direction has no effect"),
        ("plot degrees g.esker -o a.png", "does not end in .svg"),
        ("plot degrees g.esker --force", "--output"),
        ("plot degrees g.esker -o a.svg --json", "cannot be used with"),
        ("plot nothing g.esker", "degrees"),
    ] {
        place.fails(2, line, fragment);
    }
    place.ok("plot degrees g.esker -o a.svg");
    place.fails(1, "plot degrees g.esker -o a.svg", "a.svg");
    place.ok("plot degrees g.esker -o a.svg --force");
}
