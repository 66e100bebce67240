//! Numbers that no type holds are not rounded in silence.

use crate::place::Place;

#[test]
fn an_integer_beyond_64_bits_is_refused_with_its_line_or_kept_as_text() {
    let place = Place::new();
    let file = "source,target,weight\n1,2,5\n2,3,12345678901234567890123\n";
    place.file("long.csv", file);
    place.fails(1, "import long.csv a.esker", "long.csv:3: weight is an integer beyond 64 bits");
    place.fails(
        1,
        "import long.csv a.esker --no-weight --property weight:number",
        "long.csv:3: weight is an integer beyond",
    );
    place.ok("import long.csv a.esker --no-weight --property weight:text");
    assert_eq!(place.ok("export a.esker - --format csv").lines().nth(2), Some("2,3,12345678901234567890123"));
    let skipped = place.run("import long.csv b.esker --bad-lines skip");
    assert!(skipped.status.success());
    assert_eq!(place.json("info b.esker --json")["edges"], 1);
    // One that is a float exactly is one, and what is written with an exponent may be rounded.
    place.file(
        "exact.csv",
        "source,target,weight\n1,2,18446744073709551616\n2,3,1.2345678901234567890123e22\n",
    );
    place.ok("import exact.csv c.esker");
    place.file(
        "edges.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 99999999999999999999\n",
    );
    place.fails(1, "import edges.mtx d.esker", "edges.mtx:3: ");
    place.file("edges.metis", "2 1 1\n2 99999999999999999999\n1 99999999999999999999\n");
    place.fails(1, "import edges.metis d.esker --format metis", "the weight is an integer beyond 64 bits");
}

#[test]
fn numbers_too_large_or_too_small_for_a_float_are_refused_with_their_line() {
    let place = Place::new();
    place.file("large.csv", "source,target,weight\n1,2,5\n2,3,-1e400\n");
    place.fails(1, "import large.csv a.esker", "large.csv:3: weight is not a finite number");
    place.file("small.csv", "source,target,weight\n1,2,5.5\n2,3,1e-400\n");
    place.fails(1, "import small.csv a.esker", "small.csv:3: weight is closer to 0 than a number can be");
}

#[test]
fn additions_and_scripts_refuse_numbers_that_their_property_cannot_hold() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,0.5\n");
    place.ok("import a.csv a.esker");
    place.file("long.csv", "source,target,weight\n2,3,12345678901234567890123\n");
    place.fails(1, "add a.esker long.csv", "long.csv:2: weight is an integer beyond 64 bits");
    for value in ["12345678901234567890123", "1e400", "1e-400"] {
        place.file("script", &format!("+ 2 3 weight={value}\n"));
        place.fails(1, "commit a.esker script", "script:1:");
    }
    assert_eq!(place.json("log a.esker --json")["versions"].as_array().unwrap().len(), 1);
}
