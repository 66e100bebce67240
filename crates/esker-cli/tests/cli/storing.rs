//! `run --store`: the values of a run as vertex properties.

use crate::place::Place;

/// The vertices that have a value of a property, with it, sorted.
fn property(place: &Place, database: &str, name: &str) -> Vec<String> {
    let rows = place.ok(&format!("vertices {database} --format csv"));
    let column = rows.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    cells(&rows, column)
}

/// The same of a column of an answer.
fn answer(place: &Place, line: &str, column: usize) -> Vec<String> {
    cells(&place.ok(&format!("run {line} --output -")), column)
}

fn cells(rows: &str, column: usize) -> Vec<String> {
    let of = |row: &str| {
        let cells: Vec<_> = row.split(',').collect();
        (!cells[column].is_empty()).then(|| format!("{},{}", cells[0], cells[column].trim_end_matches(".0")))
    };
    let mut rows: Vec<_> = rows.lines().skip(1).filter_map(of).collect();
    rows.sort();
    rows
}

fn graphs() -> Place {
    let place = Place::new();
    place.file("t.csv", "from,to,at\nann,bob,1\nbob,cid,2\ncid,ann,3\ncid,dan,4\neva,eva,5\nfay,dan,90\n");
    place.ok("import t.csv text.esker --time at");
    place.file("n.csv", "from,to,at\n10,20,1\n20,30,2\n30,10,3\n30,40,4\n50,50,5\n60,40,90\n");
    place.ok("import n.csv whole.esker --time at");
    place
}

#[test]
fn a_property_holds_what_the_run_answers() {
    for (database, source) in [("text.esker", "ann"), ("whole.esker", "10")] {
        let place = graphs();
        for (line, store, column) in [
            ("pagerank D", "pagerank_score", 1),
            ("wcc D", "part", 1),
            ("bfs D --source S", "steps", 1),
            ("bfs D --source S --parents", "parent=before", 2),
            ("degrees D", "links", 1),
            ("hits D", "hub=hubness", 2),
            ("pagerank D --window 10 --time-unit ms", "pagerank_score", 1),
            ("bfs D --source S --where at<3", "steps", 1),
        ] {
            let line = line.replace('D', database).replace('S', source);
            let expected = answer(&place, &line, column);
            place.ok(&format!("run {line} --store {store}"));
            let name = store.split_once('=').map_or(store, |(_, name)| name);
            assert_eq!(property(&place, database, name), expected, "{line} --store {store}");
        }
        let report = place.ok(&format!("log {database}"));
        assert!(report.contains("store pagerank_score of pagerank"), "{report}");
    }
}

#[test]
fn columns_that_are_stored_together_are_one_version() {
    let place = graphs();
    let versions = |place: &Place| place.ok("log text.esker").lines().count();
    let before = versions(&place);
    place.ok("run hits text.esker --store authority=a --store hub=h");
    assert_eq!(versions(&place), before + 1);
    assert_eq!(property(&place, "text.esker", "a").len(), property(&place, "text.esker", "h").len());
}

#[test]
fn an_answer_of_an_older_version_is_stored_for_the_vertices_that_are_left() {
    let place = graphs();
    place.file("gone.txt", "fay\n");
    place.ok("delete text.esker --vertices gone.txt");
    let output = place.command("run degrees text.esker --at 1 --store links").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("1 value of vertices that are no longer there"), "{said}");
    let rows = property(&place, "text.esker", "links");
    assert!(rows.len() == 5 && !rows.iter().any(|row| row.starts_with("fay")), "{rows:?}");
}

#[test]
fn what_cannot_be_stored_is_refused_before_the_run() {
    let place = graphs();
    for (line, reason) in [
        ("run triangles text.esker --store t", "no value for each vertex"),
        ("run msf text.esker --as-undirected --store t", "no value for each vertex"),
        ("run wcc t.csv --store t", "t.csv is no database"),
        ("run wcc text.esker --each-version --store t", "one version"),
        ("run wcc text.esker --store rank=t", "wcc has no column rank; it has component"),
        ("run wcc text.esker --store component=", "the property has no name"),
        ("run wcc text.esker --event-time now", "--store"),
    ] {
        place.fails(2, line, reason);
    }
    // A property of another type is not changed.
    place.ok("run pagerank text.esker --store value");
    place.fails(1, "run wcc text.esker --store value", "value");
    assert_eq!(property(&place, "text.esker", "value"), answer(&place, "pagerank text.esker", 1));
}
