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
    for line in ["run wcc two.esker --window 1h", "window wcc two.esker --length 1h", "expire two.esker 1h"] {
        place.fails(2, line, "name the edge property that holds the times with --time: sent, size");
    }
    place.fails(2, "stream two.esker a.csv", "name one with --time: sent, size");
    place.ok("import a.csv g.esker --time sent --property size");
    assert!(place.ok("options g.esker").contains("sent"), "it is shown");
    assert_eq!(place.json("run wcc g.esker --window 1h --json")["edges"], 1);
    place.ok("window wcc g.esker --length 1h");
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
        let rows = place.ok("window wcc g.esker --length 2d --format csv");
        assert!(rows.contains("2024-01-05T23:59:59Z,2d,2,1,1"), "{file}: {rows}");
        assert_eq!(
            place.ok("export g.esker - --format csv"),
            "source,target,day\na,b,2024-01-01T00:00:00\nb,c,2024-01-02T00:00:00\nc,d,2024-01-05T00:00:00\n"
        );
        for more in ["a.csv", "a.parquet"] {
            let ends = if (file, more) == ("a.parquet", "a.csv") { " --src from --dst to" } else { "" };
            place.ok(&format!("add g.esker {more}{ends}"));
            assert_eq!(place.json("run wcc g.esker --window 2d --json")["edges"], 1, "{file}, {more}");
        }
    }
}

#[test]
fn times_with_fractions_are_refused_with_a_remedy() {
    let place = Place::new();
    place.file("a.csv", "from,to,sent\n1,2,17.5\n2,3,18\n");
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

#[test]
fn values_in_other_notations_come_through_every_door() {
    let place = Place::new();
    let options =
        "--decimal-comma --timezone Europe/Berlin --date-format %d.%m.%YT%H:%M --date-format day=%m/%d/%Y";
    let table = |rows: &str| format!("from;to;at;day;amount\n{rows}");
    place.file(
        "a.csv",
        &table("a;b;01.07.2026T12:00;03/04/2026;1.234,5\nb;c;25.10.2026T02:30;12/31/2026;2\n"),
    );
    place.file("b.csv", &table("c;d;01.01.2026T12:00;01/02/2026;0,25\n"));
    let day = "01/02/2026;1\n";
    let right = format!("c;d;01.01.2026T12:00;{day}c;e;01.01.2026T12:00;{day}");
    place.file("wrong.csv", &table(&format!("{right}c;f;2026-01-01 12:00;{day}")));
    let told = said(&place, &format!("import a.csv g.esker --property all {options}"));
    assert!(told.contains("1 that the clocks of their zone showed twice"), "{told}");
    let rows = |more: &str| format!("source,target,at,day,amount\n{more}");
    let first =
        "a,b,2026-07-01T12:00:00+02:00,2026-03-04,1234.5\nb,c,2026-10-25T02:30:00+02:00,2026-12-31,2.0\n";
    let found = place.ok("export g.esker - --format csv");
    assert_eq!(sorted(&found), sorted(&rows(first)));
    place.ok(&format!("add g.esker b.csv {options}"));
    let third = "c,d,2026-01-01T12:00:00+01:00,2026-01-02,0.25\n";
    assert_eq!(
        sorted(&place.ok("export g.esker - --format csv")),
        sorted(&rows(&(first.to_owned() + third)))
    );
    place.fails(
        1,
        &format!("add g.esker wrong.csv {options}"),
        "at does not fit the date format %d.%m.%YT%H:%M",
    );
    place.fails(2, &format!("add g.esker b.csv {options} --date-format no=%d.%m.%Y"), "names \"no\"");
    place.ok("delete g.esker b.csv --property amount --decimal-comma");
    assert_eq!(place.json("info g.esker --json")["edges"], 2);
    // Properties of vertices.
    place.file("v.csv", "id;born;height\na;01.02.1990;1,75\n");
    place.ok("set g.esker v.csv --decimal-comma --date-format %d.%m.%Y --delimiter ;");
    place.ok("set g.esker --vertex b born=03.02.1990 height=1,5 --decimal-comma --date-format born=%d.%m.%Y");
    let values = |id: &str| {
        let vertex = place.json(&format!("get g.esker {id} --json"))[0].clone();
        [vertex["born"].clone(), vertex["height"].clone()]
    };
    assert_eq!(values("a"), [serde_json::json!("1990-02-01"), serde_json::json!(1.75)]);
    assert_eq!(values("b"), [serde_json::json!("1990-02-03"), serde_json::json!(1.5)]);
    place.fails(
        1,
        "set g.esker --vertex b born=1990 --date-format born=%d.%m.%Y",
        "does not fit the date format",
    );
    place.fails(2, "import a.csv h.esker --date-format %H", "has no day, month and year");
    place.fails(2, "import a.csv h.esker --timezone Berlin", "such as Europe/Berlin");
}

/// The lines in order.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_unit_of_times_is_found_and_told() {
    let place = Place::new();
    let import = |first: i64, last: i64, options: &str| {
        place.file("n.csv", &format!("from,to,sent\n1,2,{first}\n2,3,{last}\n"));
        place.json(&format!("import n.csv n.esker --time sent --force --json {options}"))["times"].clone()
    };
    let (first, last) = (1_704_067_200, 1_711_886_400);
    for (unit, scale) in
        [("seconds", 1), ("milliseconds", 1000), ("microseconds", 1_000_000), ("nanoseconds", 1_000_000_000)]
    {
        let told = import(first * scale, last * scale, "");
        assert_eq!(told, format!("{unit} since 1970: 2024-01-01 to 2024-03-31"));
    }
    assert_eq!(
        import(first, first + 60, ""),
        "seconds since 1970: 2024-01-01T00:00:00Z to 2024-01-01T00:01:00Z"
    );
    assert_eq!(import(1, 500, ""), "numbers, 1 to 500: no times since 1973 in any unit");
    assert_eq!(import(1, 90_000, "--time-unit s"), "seconds since 1970: 1970-01-01 to 1970-01-02");
    assert_eq!(place.json("run wcc n.esker --window 1h --json")["window"]["unit"], "seconds");
    assert!(place.ok("options n.esker").contains('s'), "the unit is remembered");
    place.file("d.csv", "from,to,day\n1,2,2024-01-01\n");
    place.fails(2, "import d.csv d.esker --time day --time-unit s", "has no effect: the times in \"day\"");
    assert!(
        place.ok("import d.csv d.esker --time day").contains("2024-01-01T00:00:00"),
        "dates are told, too"
    );
}

/// Local times without an offset are of the zone of the property: in files, in scripts and in conditions.
#[test]
fn local_times_are_of_the_zone_of_the_property_in_every_door() {
    let place = Place::new();
    let times = ["2024-03-30T23:30", "2024-03-31T00:30", "2024-03-31T03:30", "2024-10-27T02:30"];
    let rows: String = times.iter().enumerate().map(|(i, time)| format!("{i},9,{time}\n")).collect();
    place.file("a.csv", &format!("source,target,ts\n{rows}"));
    place.ok("import a.csv a.esker --time ts --timezone Europe/Berlin");
    let edges = |condition: &str| {
        place.json(&format!("run degrees a.esker --where {condition} --json"))["edges"].as_u64().unwrap()
    };
    // The first of the moments that the clocks showed as 02:30 in October.
    for (local, utc, later) in [
        ("2024-03-31", "2024-03-30T23:00:00Z", 3),
        ("2024-03-31T03:30", "2024-03-31T01:30:00Z", 2),
        ("2024-10-27T02:30:00", "2024-10-27T00:30:00Z", 1),
        ("2024-10-27T02:31:00", "2024-10-27T00:31:00Z", 0),
    ] {
        assert_eq!((edges(&format!("ts>={local}")), edges(&format!("ts>={utc}"))), (later, later), "{local}");
    }
    assert_eq!(edges("ts=2024-03-30T23:30"), 1);
    place.file("more.csv", "source,target,ts\n7,9,2024-07-01T12:00\n");
    place.ok("add a.esker more.csv");
    place.file("script", "+ 8 9 ts=2024-07-01T12:00\n");
    place.ok("commit a.esker script");
    assert_eq!(edges("ts=2024-07-01T10:00:00Z"), 2);
    place.fails(2, "run degrees a.esker --where ts>=yesterday", "is not a time");
}
