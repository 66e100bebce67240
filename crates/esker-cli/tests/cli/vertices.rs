//! A vertex exists if, and only if, the input says so.

use crate::place::Place;

fn num_vertices(place: &Place, database: &str) -> u64 {
    place.json(&format!("info {database} --json"))["vertices"].as_u64().unwrap()
}

/// The ids of the vertices, ascending.
fn ids(place: &Place, database: &str) -> Vec<u64> {
    let answers = place.ok(&format!("run wcc {database} --output -"));
    let mut ids: Vec<u64> =
        answers.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn an_edge_list_has_the_vertices_of_its_edges_and_no_others() {
    let place = Place::new();
    place.file("back.el", "1000 1001\n1001 1000\n");
    place.ok("import back.el back.esker");
    assert_eq!(ids(&place, "back.esker"), [1000, 1001]);
    place.file("one.csv", "1,2\n");
    place.ok("import one.csv one.esker");
    assert_eq!(ids(&place, "one.esker"), [1, 2]);
    place.file("gap.txt", "0 1\n1 5\n5 2\n");
    place.ok("import gap.txt gap.esker --order degree");
    assert_eq!(ids(&place, "gap.esker"), [0, 1, 2, 5]);
    place.ok("check gap.esker");
    let missing = place.run("run bfs gap.esker --source 3");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no vertex has the id"));
}

#[test]
fn a_later_edge_makes_its_ends_vertices_and_no_others() {
    let place = Place::new();
    place.file("dense.el", "0 1\n1 2\n2 3\n");
    place.file("later.el", "3 1000\n1000 1001\n");
    place.file("later.v", "500\n2\n");
    for order in ["keep", "degree"] {
        place.ok(&format!("import dense.el g.esker --force --order {order}"));
        place.ok("add g.esker later.el");
        assert_eq!(ids(&place, "g.esker"), [0, 1, 2, 3, 1000, 1001]);
        place.ok("add g.esker --vertices later.v");
        let expected = [0, 1, 2, 3, 500, 1000, 1001];
        assert_eq!(ids(&place, "g.esker"), expected);
        place.ok("compact g.esker");
        assert_eq!(ids(&place, "g.esker"), expected);
        place.ok("check g.esker");
        assert!(place.ok("info g.esker").contains("integers with gaps"));
    }
}

#[test]
fn formats_that_state_a_count_have_that_many_vertices() {
    let place = Place::new();
    place.file("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n2 4\n");
    place.file("g.graph", "4 1\n2\n1\n\n\n");
    place.file("edges.el", "2 3\n");
    place.file("names.v", "7\n2\n");
    for (import, expected) in [
        ("import g.mtx", vec![1, 2, 3, 4, 5]),
        ("import g.graph", vec![1, 2, 3, 4]),
        ("import edges.el --vertices 5", vec![0, 1, 2, 3, 4]),
        ("import edges.el --vertices names.v", vec![2, 3, 7]),
    ] {
        place.ok(&format!("{import} g.esker --force"));
        assert_eq!(ids(&place, "g.esker"), expected, "{import}");
        place.ok("import edges.el one.esker --force");
        place.ok(&import.replace("import", "add one.esker"));
        let both: std::collections::BTreeSet<u64> = expected.into_iter().chain([2, 3]).collect();
        assert_eq!(ids(&place, "one.esker"), both.into_iter().collect::<Vec<_>>(), "{import}");
    }
    place.ok("add one.esker --vertices 9");
    assert_eq!(num_vertices(&place, "one.esker"), 9);
}

#[test]
fn a_count_of_vertices_that_cannot_be_meant_is_refused() {
    let place = Place::new();
    place.file("edges.el", "2 3\n");
    place.file("texts.csv", "a,b\n");
    place.file("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n2 4\n");
    place
        .file("huge.mtx", "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 1\n2 4\n");
    place.ok("import edges.el g.esker");
    for (line, reason) in [
        (
            "import edges.el no.esker --vertices 3",
            "names vertex 3, but --vertices 3 promises ids from 0 to 2",
        ),
        ("import texts.csv no.esker --no-header --vertices 3", "name a file of ids"),
        ("import g.mtx no.esker --vertices 3", "the format mtx states how many"),
        ("delete g.esker --vertices 3", "name a file of ids to delete"),
        ("add g.esker huge.mtx", "but 4000000000 vertices are stated for it"),
        ("add g.esker edges.el --vertices 4000000000", "but 4000000000 vertices are stated for it"),
    ] {
        let output = place.run(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = if line.starts_with("delete") { 2 } else { 1 };
        assert!(output.status.code() == Some(code) && message.contains(reason), "{line}: {message}");
    }
}

#[test]
fn an_export_and_import_gives_the_same_vertices() {
    let place = Place::new();
    place.file("g.el", "10 12\n12 15\n15 10\n");
    place.file("g.v", "11\n40\n");
    place.ok("import g.el g.esker --undirected --vertices g.v");
    let expected = ids(&place, "g.esker");
    assert_eq!(expected, [10, 11, 12, 15, 40]);
    // With ids.
    place.ok("export g.esker again.v");
    place.ok("import again.v again.esker");
    assert_eq!(ids(&place, "again.esker"), expected);
    // Formats that number the vertices.
    for file in ["g.mtx", "g.graph", "g.gr", "g.adj", "g.sg"] {
        let output = place.run(&format!("export g.esker {file}"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("numbers instead of ids"), "{file}: {message}");
        place.ok(&format!("import {file} again.esker --force"));
        assert_eq!(num_vertices(&place, "again.esker"), 5, "{file}");
    }
    // Lists of edges cannot state a vertex without edges, and the export says so.
    for file in ["g.csv", "g.tsv", "g.txt", "g.parquet", "g.arrow", "g.graph500"] {
        let output = place.run(&format!("export g.esker {file} --vertices {file}.v"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !message.contains("without edges"), "{file}: {message}");
        place.ok(&format!("import {file} again.esker --undirected --force --vertices {file}.v"));
        assert_eq!(ids(&place, "again.esker"), expected, "{file}");
        let output = place.run(&format!("export g.esker {file} --force"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("2 vertices without edges"), "{file}: {message}");
        place.ok(&format!("import {file} again.esker --undirected --force"));
        assert_eq!(ids(&place, "again.esker"), [10, 12, 15], "{file}");
    }
}

#[test]
fn an_undirected_graph_comes_back_as_it_was_from_columns() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\nann,bob,1\nbob,cid,2\ndan,dan,3\n");
    for directed in [true, false] {
        let option = if directed { "--directed" } else { "--undirected" };
        place.ok(&format!("import a.csv g.esker --force {option}"));
        for file in ["g.parquet", "g.arrow"] {
            let report = place.json(&format!("export g.esker {file} --force --json"));
            assert!(!report.to_string().contains("says that the graph is"), "{report}");
            place.ok(&format!("import {file} back.esker --force"));
            let [before, after] = ["g", "back"].map(|name| place.json(&format!("info {name}.esker --json")));
            for what in ["directed", "vertices", "edges"] {
                assert_eq!(before[what], after[what], "{file}: {what}");
            }
            assert_eq!(after["directed"], directed, "{file}");
        }
        place.ok("import g.parquet back.esker --force --directed");
        assert_eq!(place.json("info back.esker --json")["directed"], true);
    }
    // A file that does not say it decides nothing.
    place.ok("import a.csv one.esker --directed");
    place.ok("export one.esker one.parquet");
    place.ok("import one.parquet g.parquet both.esker");
    assert_eq!(place.json("info both.esker --json")["directed"], true);
}

#[test]
fn a_row_of_values_is_not_taken_for_the_header_of_a_table_of_vertices() {
    let place = Place::new();
    place.file("a.csv", "source,target\nalice,bob\nbob,carol\n");
    place.file("b.csv", "source,target\n1,2\n2,3\n");
    place.ok("import a.csv a.esker");
    place.ok("import b.csv b.esker");
    for (database, table, why) in [
        ("a.esker", "alice,41\nbob,42\n", "\"alice\" is a vertex"),
        ("a.esker", "dave,41\nbob,42\n", "\"41\" is a number"),
        ("b.esker", "1,old\n2,new\n", "\"1\" is a vertex"),
        ("b.esker", "9,old\n2,new\n", "\"9\" is an id"),
    ] {
        place.file("t.csv", table);
        place.fails(
            1,
            &format!("set {database} t.csv --new"),
            &format!("t.csv:1: the first line must name the columns, but {why}"),
        );
        assert_eq!(place.json(&format!("info {database} --json"))["version"], 1);
    }
    place.file("years.csv", "name,2023,2024\nalice,1,2\n");
    place.fails(1, "set a.esker years.csv", "pass --header if it does name them");
    place.ok("set a.esker years.csv --header");
    place.ok("set a.esker years.csv");
    assert_eq!(place.json("get a.esker alice --format json")[0]["2023"], 1);
    place.fails(2, "set a.esker --vertex alice age=3 --header", "--header");
}

#[test]
fn a_vertex_that_a_table_names_twice_is_said() {
    let place = Place::new();
    place.file("b.csv", "source,target\n1,2\n2,3\n");
    place.ok("import b.csv b.esker");
    place.file("t.csv", "id,age\n1,7\n 1 ,8\n2,9\n1,10\n");
    let output = place.run("set b.esker t.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("warning: 2 rows name a vertex that an earlier row names too"), "{said}");
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("4 values set on 2 vertices\n"));
    assert_eq!(place.json("get b.esker 1 --format json")[0]["age"], 10);
    let report = place.json("set b.esker t.csv --json");
    assert_eq!((&report["vertices"], &report["repeated"]), (&2.into(), &2.into()));
}

#[test]
fn removed_vertices_are_not_counted_by_answers_without_rows() {
    let place = Place::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", i % 30, (i * i + 7) % 30)).collect();
    place.file("y.csv", &format!("source,target\n{rows}"));
    place.ok("import y.csv y.esker --duplicates keep --undirected --order keep");
    place.file("gone.txt", "- 1\n");
    place.ok("commit y.esker gone.txt");
    for algorithm in ["wcc", "triangles", "truss", "forest", "densest"] {
        let report = place.json(&format!("run {algorithm} y.esker --json"));
        assert_eq!(report["vertices"], 29, "{algorithm}");
    }
}

#[test]
fn a_property_that_is_called_like_an_end_is_named_in_quotes() {
    let place = Place::new();
    place.file("v.csv", "id,source,country\n1,4,DE\n2,7,CH\n");
    place.file("e.csv", "source,target\n1,2\n");
    place.ok("import e.csv e.esker");
    place.ok("set e.esker v.csv");
    for end in ["source", "target"] {
        let told = format!("a property called {end} is put in double quotes, as \"{end}\"");
        place.fails(2, &format!("vertices e.esker --where {end}<5"), &told);
        place.fails(2, &format!("vertices e.esker --group-by {end} --count"), &told);
        let told = format!("a vertex has no {end}.country: name its property alone, as \"country\"");
        place.fails(2, &format!("vertices e.esker --where {end}.country=DE"), &told);
        place.fails(2, &format!("vertices e.esker --group-by {end}.country"), &told);
    }
    assert_eq!(
        place.ok("vertices e.esker --where \"source\"<5 --format csv"),
        "vertex,source,country\n1,4,DE\n"
    );
    assert_eq!(place.ok("vertices e.esker --group-by \"source\" --count --format csv").lines().count(), 3);
}

#[test]
fn a_missing_text_is_told_from_an_empty_one_in_every_table() {
    let place = Place::new();
    place.file("e.csv", "source,target,s\n1,2,\"\"\n1,3,\n1,4,x\n1,5,\n");
    place.ok("import e.csv e.esker --schema s:text --property s --ids int");
    place.file("v.csv", "id,t\n2,\n3,y\n");
    place.ok("set e.esker v.csv --schema t:text");
    place.file("script", "~ 1 t=\"\"\n");
    place.ok("commit e.esker script");
    let csv = |line: &str| place.ok(&format!("{line} --format csv"));
    let rows = "1,2,\"\"\n1,3,\n1,4,x\n1,5,\n";
    assert_eq!(csv("edges e.esker"), format!("source,target,s\n{rows}"));
    assert_eq!(csv("neighbors e.esker 1"), format!("source,target,s\n{rows}"));
    assert_eq!(csv("subgraph e.esker 1 --radius 1"), format!("source,target,s\n{rows}"));
    assert_eq!(place.ok("export e.esker - --format csv"), format!("source,target,s\n{rows}"));
    let groups = csv("edges e.esker --group-by s --count --sort s --ascending");
    assert!(groups.contains("\"\",1\n") && groups.contains("\n,2\n"), "{groups}");
    assert_eq!(csv("vertices e.esker"), "vertex,t\n1,\"\"\n2,\n3,y\n4,\n5,\n");
    assert_eq!(
        csv("get e.esker 1 2")
            .lines()
            .map(|row| row.rsplit(',').next().unwrap().to_owned())
            .collect::<Vec<_>>(),
        ["t", "\"\"", ""]
    );
    let shown = place.ok("vertices e.esker");
    assert!(shown.contains("1  \"\"\n     2\n"), "{shown}");
    let info = place.ok("info e.esker");
    assert!(info.contains("s (text, 2 distinct)"), "{info}");
}
