//! Mistakes in the command line, and what they are answered with.

use crate::place::Place;

fn fails(place: &Place, code: i32, line: &str, fragments: &[&str]) {
    let output = place.run(line);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{line}: {message}");
    for fragment in fragments {
        assert!(message.contains(fragment), "{line}: {message}");
    }
    assert!(
        !message.contains("digit found in string") && !message.contains("as a value"),
        "{line}: {message}"
    );
}

#[test]
fn numbers_that_an_option_does_not_take_are_named_with_what_it_takes() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\nb,c\n");
    place.ok("import a.csv g.esker");
    for given in ["x", "-1", "1.5"] {
        let line = format!("run pagerank g.esker --top {given}");
        fails(&place, 2, &line, &[given, "--top <N>", "it takes a whole number, 0 or more"]);
    }
    fails(&place, 2, "run pagerank g.esker --top 99999999999999999999999", &["--top <N>", "too large"]);
    fails(&place, 2, "run pagerank g.esker --rounds -1", &["-1", "--rounds"]);
    fails(&place, 2, "retain g.esker -1", &["all, last N or since TIME"]);
    fails(&place, 1, "path g.esker a -1", &["no vertex has the id \"-1\""]);
    // What was right before still is.
    place.ok("run pagerank g.esker --top 1 --damping 0.5");
    fails(&place, 2, "run pagerank g.esker --topp 1", &["--top"]);
    assert!(place.ok("run bfs --help").contains("--source"));
}

#[test]
fn a_column_that_the_input_does_not_have_is_a_wrong_option() {
    let place = Place::new();
    place.file("a.csv", "from,to,cost\na,b,1\n");
    place.file("a.el", "1 2\n");
    place.ok("import a.csv g.esker");
    place.ok("export g.esker a.parquet");
    let columns = "there is no column \"zzz\"; the columns are from, to, cost";
    for option in
        ["--src zzz", "--dst zzz", "--weight zzz", "--time zzz", "--property zzz", "--schema zzz:i64"]
    {
        fails(&place, 2, &format!("import a.csv h.esker {option}"), &["a.csv: ", columns]);
        fails(&place, 2, &format!("add g.esker a.csv {option}"), &["zzz"]);
    }
    fails(&place, 2, "run pagerank a.csv --weight zzz", &["a.csv: ", columns]);
    let properties = "the edges of g.esker have no property \"zzz\"";
    for line in ["run pagerank g.esker --weight zzz", "export g.esker b.csv --where zzz=1"] {
        fails(&place, 2, line, &[properties]);
    }
    fails(&place, 2, "import a.el h.esker --weight 3", &["a.el: there is no column 3; the last column is 2"]);
    let told = "a.parquet: there is no column \"zzz\"; the columns are ";
    fails(&place, 2, "import a.parquet h.esker --weight zzz", &[told]);
}

#[test]
fn numbers_of_one_thing_are_named_in_the_singular() {
    let place = Place::new();
    place.file("cut.sg", "x");
    let output = place.run("import cut.sg g.esker");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("1 byte long") || message.contains("1 byte,"), "{message}");
    place.file("one.csv", "source,target\n1\n");
    fails(&place, 1, "import one.csv g.esker", &["the line has 1 column and needs 2"]);
}

#[test]
fn versions_and_times_that_mean_nothing_are_answered_with_what_would() {
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\n");
    place.ok("import a.csv g.esker");
    fails(&place, 2, "forget g.esker 5-3", &["5-3 ends before it begins"]);
    fails(&place, 1, "forget g.esker 2026-01-01", &["2026"]);
    fails(&place, 2, "add g.esker a.csv --time 2011-06-01", &["--event-time sets the time of the version"]);
    fails(&place, 2, "run wcc g.esker --json --format csv", &["--format has no effect with --json"]);
    place.ok("run wcc g.esker --json --format csv --output -");
    let output = place.run("tag g.esker");
    assert!(output.stdout.is_empty());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "g.esker has no tags\n");
}
