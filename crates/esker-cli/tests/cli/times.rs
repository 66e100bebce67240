//! The time of edges: what an import takes for one, and what the database remembers of it.

use crate::place::Place;

fn said(place: &Place, line: &str) -> String {
    let output = place.run(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_time_that_an_import_names_needs_no_name_later() {
    let place = Place::new();
    place.file("a.csv", "from,to,sent,size\n1,2,1700000000,7\n2,3,1700003600,8\n");
    place.ok("import a.csv two.esker --property sent --property size");
    for line in
        ["run wcc two.esker --window 1h", "window two.esker --length 1h --run wcc", "expire two.esker 1h"]
    {
        place.fails(2, line, "name the edge property that holds the times with --time: sent, size");
    }
    place.fails(2, "stream two.esker a.csv", "name one with --time: sent, size");
    place.ok("import a.csv g.esker --time sent --property size");
    assert!(place.ok("options g.esker").contains("sent"), "it is shown");
    assert_eq!(place.json("run wcc g.esker --window 1h --json")["edges"], 1);
    place.ok("window g.esker --length 1h --run wcc");
    place.file("b.csv", "from,to,sent,size\n3,4,1700007200,9\n");
    place.ok("stream g.esker b.csv");
    place.ok("expire g.esker 1h");
    assert_eq!(place.json("info g.esker --json")["edges"], 1);
}

#[test]
fn dates_are_times_if_they_are_named_so() {
    let place = Place::new();
    place.file("a.csv", "from,to,day\na,b,2024-01-01\nb,c,2024-01-02\nc,d,2024-01-05\n");
    place.ok("import a.csv dates.esker --property day");
    place.ok("export dates.esker a.parquet");
    place.fails(2, "run wcc dates.esker --window 2d", "as --time of an import makes of dates");
    for file in ["a.csv", "a.parquet"] {
        place.ok(&format!("import {file} g.esker --time day --force"));
        assert_eq!(place.json("info g.esker --json")["edge_properties"][0]["type"], "timestamp[s]");
        let rows = place.ok("window g.esker --length 2d --run wcc --format csv");
        assert!(rows.contains("2024-01-05T23:59:59Z,2d,2,1,1"), "{file}: {rows}");
        assert_eq!(
            place.ok("export g.esker - --format csv"),
            "source,target,day\na,b,2024-01-01T00:00:00\nb,c,2024-01-02T00:00:00\nc,d,2024-01-05T00:00:00\n"
        );
        for more in ["a.csv", "a.parquet"] {
            place.ok(&format!("add g.esker {more}"));
            assert_eq!(place.json("run wcc g.esker --window 2d --json")["edges"], 1, "{file}, {more}");
        }
    }
}

#[test]
fn times_with_fractions_are_refused_with_a_remedy() {
    let place = Place::new();
    place.file("a.csv", "from,to,sent\n1,2,1700000000.5\n2,3,1700000001\n");
    let told = "convert it, to whole milliseconds for example, or take it as a number with --property sent";
    place.fails(2, "import a.csv g.esker --time sent", told);
    place.ok("import a.csv g.esker --property sent");
    // Behind the sample.
    let mut rows = "from,to,sent\n".to_owned();
    (0..2000).for_each(|row| rows += &format!("{row},{},{row}\n", row + 1));
    place.file("b.csv", &(rows + "1,1,0.5\n"));
    let told = said(&place, "import b.csv h.esker --time sent");
    assert!(told.contains("warning: sent holds f64") || told.contains("warning: sent holds f32"), "{told}");
    place.ok("export h.esker b.parquet");
    assert!(said(&place, "import b.parquet i.esker --time sent").contains("warning: sent holds f"));
}
