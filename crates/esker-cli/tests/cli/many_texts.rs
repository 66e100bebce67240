//! A property of edges with more texts than codes of 16 bits tell apart goes through every door.

use std::fmt::Write;

use crate::place::Place;

const COLUMNS: &str = "source,target,note\n";

/// An edge with a text of its own.
fn row(number: u32) -> String {
    format!("{},{},note {}\n", number % 9001, number % 8999, number.wrapping_mul(2_654_435_761))
}

fn rows(numbers: std::ops::Range<u32>) -> String {
    numbers.map(row).collect()
}

/// The edges that an export writes, in order.
fn exported(place: &Place, database: &str) -> Vec<String> {
    let mut found: Vec<String> =
        place.ok(&format!("export {database} - --format csv")).lines().map(str::to_owned).collect();
    assert_eq!(found.remove(0), COLUMNS.trim_end());
    found.sort();
    found
}

#[test]
fn seventy_thousand_texts_are_imported_added_merged_and_exported() {
    let place = Place::new();
    place.file("all.csv", &format!("{COLUMNS}{}", rows(0..70_000)));
    place.file("first.csv", &format!("{COLUMNS}{}", rows(0..60_000)));
    place.file("later.csv", &format!("{COLUMNS}{}", rows(60_000..70_000)));
    place.ok("import all.csv all.esker --property all -q");
    place.ok("import first.csv grown.esker --property all -q");
    place.ok("add grown.esker later.csv -q");
    let mut expected: Vec<String> = rows(0..70_000).lines().map(str::to_owned).collect();
    expected.sort();
    // The commit is in the log, then merged with the import.
    assert_eq!(exported(&place, "grown.esker"), expected);
    place.ok("compact grown.esker");
    place.ok("backup grown.esker copy.esker");
    assert_eq!(exported(&place, "copy.esker"), expected);
    place.ok("check copy.esker");
    place.ok("export all.esker again.parquet -q");
    place.ok("import again.parquet again.esker --property all -q");
    assert_eq!(exported(&place, "again.esker"), expected);
}

#[test]
fn each_of_many_texts_is_found_by_conditions_and_deletions() {
    let place = Place::new();
    place.file("first.csv", &format!("{COLUMNS}{}", rows(0..300)));
    place.file("later.csv", &format!("{COLUMNS}{}", rows(300..66_000)));
    place.ok("import first.csv g.esker --property all -q");
    place.ok("add g.esker later.csv --freeze -q");
    let mut gone = COLUMNS.to_owned();
    for number in [0, 299, 300, 65_535, 65_536, 65_999] {
        let line = row(number);
        let note = line.trim_end().rsplit(',').next().unwrap().to_owned();
        let output = place
            .command("export g.esker - --format csv --where")
            .arg(format!("note='{note}'"))
            .output()
            .unwrap();
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(found, format!("{COLUMNS}{line}"), "{}", String::from_utf8_lossy(&output.stderr));
        write!(gone, "{line}").unwrap();
    }
    place.file("gone.csv", &gone);
    place.ok("delete g.esker gone.csv --property note");
    assert_eq!(exported(&place, "g.esker").len(), 66_000 - 6);
    place.ok("check g.esker");
}
