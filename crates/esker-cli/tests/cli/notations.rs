//! Files in other notations than the common one, and what a database remembers of them.

use crate::place::Place;

/// Exports were read in the notation of the import: `10.125` became ten thousand, and quotes parts of texts.
#[test]
fn an_export_changes_nothing_where_it_is_synced_back() {
    let place = Place::new();
    place.file("comma.csv", "von;nach;amount;day\na;b;1.234,5;01.02.2026\nb;c;10,125;13.02.2026\nc;a;7;\n");
    place.file("three.csv", "von;nach;amount\na;b;10,125\nb;c;1.250,125\n");
    place.file("days.csv", "von;nach;day\na;b;2026-02-01\nb;c;2026-02-03\n");
    place.file("quotes.tsv", "von\tnach\tnote\na\tb\t\"x\nb\tc\ty\"z\nb\td\t\"q\"\ne\"\tf\t\n");
    place.file("same.tsv", "source\ttarget\tamount\na\tb\t1.234,5\nb\tc\t10,125\n");
    let options = [
        ("comma.csv", "--property amount --schema day:date --date-format %d.%m.%Y --decimal-comma"),
        ("comma.csv", "--weight amount --property day --date-format day=%d.%m.%Y --decimal-comma"),
        ("three.csv", "--property amount --decimal-comma"),
        ("days.csv", "--schema day:date --date-format %Y-%d-%m"),
        ("quotes.tsv", "--property note --no-quotes"),
        ("same.tsv", "--weight amount --decimal-comma"),
    ];
    for (file, chosen) in options {
        let columns = if file == "same.tsv" { "" } else { "--src von --dst nach" };
        place.ok(&format!("import {file} d.esker {columns} {chosen} -q --force"));
        let own = place.ok(&format!("sync d.esker {file} --dry-run"));
        assert!(own.ends_with("would be: no changes\n"), "{file} {chosen}: {own}");
        for output in ["out.csv", "out.tsv"] {
            place.ok(&format!("export d.esker {output} --force"));
            let synced = place.ok(&format!("sync d.esker {output} --dry-run"));
            assert!(synced.ends_with("would be: no changes\n"), "{output} of {file} {chosen}: {synced}");
            let added = place.json(&format!("add d.esker {output} --json"));
            assert_eq!(added["changes"]["edges_changed"], 0, "{output} of {file} {chosen}");
            assert_eq!(added["changes"]["edges_added"], 0, "{output} of {file} {chosen}");
        }
    }
}

#[test]
fn where_an_export_looks_like_the_file_of_the_import_the_user_says_which_it_is() {
    let place = Place::new();
    place.file("in.tsv", "source\ttarget\tamount\na\tb\t10,125\n");
    place.ok("import in.tsv d.esker --weight amount --decimal-comma -q");
    place.ok("export d.esker out.tsv -q");
    let doubt = "10.125 is 10.125 if an export wrote it, and 10125";
    place.fails(1, "sync d.esker out.tsv", doubt);
    place.fails(1, "sync d.esker out.tsv", "--decimal-comma=false or --decimal-comma");
    let none = "d.esker: nothing to commit: the newest version equals the input\n";
    assert_eq!(place.ok("sync d.esker out.tsv --decimal-comma=false"), none);
    assert!(place.ok("sync d.esker out.tsv --decimal-comma --dry-run").contains("1 edge changed"));
    place.file("quoted.tsv", "source\ttarget\tnote\na\tb\t\"q\"\n");
    place.ok("import quoted.tsv q.esker --property note --no-quotes -q");
    place.ok("export q.esker quoted-out.tsv -q");
    place.fails(1, "sync q.esker quoted-out.tsv", "--no-quotes=false or --no-quotes");
    let none = none.replace("d.esker", "q.esker");
    assert_eq!(place.ok("sync q.esker quoted-out.tsv --no-quotes=false"), none);
    assert_eq!(place.ok("sync q.esker quoted.tsv --no-quotes"), none);
}

/// One value that is none made all numbers with commas between thousands bad.
#[test]
fn one_bad_value_is_one_bad_row() {
    let place = Place::new();
    let rows = "a,b,\"1,234.50\"\nb,c,?!\nc,d,\"2,000.25\"\n";
    place.file("in.csv", &format!("source,target,amount\n{rows}"));
    place.ok("import in.csv d.esker --schema amount:f64 --rejects bad.csv -q");
    assert_eq!(place.ok("edges d.esker --format csv"), "source,target,amount\na,b,1234.5\nc,d,2000.25\n");
    let bad = std::fs::read_to_string(place.path().join("bad.csv")).unwrap();
    assert_eq!(bad.lines().count(), 2, "{bad}");
}

/// The options of notation had no effect on tables of vertices.
#[test]
fn tables_of_vertices_have_notations() {
    let place = Place::new();
    place.file("e.csv", "source,target\na,b\n");
    place.file("v.csv", "id;score;born\na;1.234,5;01.02.2026\nb;10,125;13.02.2026\n");
    let chosen = "--decimal-comma --date-format %d.%m.%Y";
    let expected = "vertex,score,born\na,1234.5,2026-02-01\nb,10.125,2026-02-13\n";
    place.ok(&format!("import e.csv d.esker --vertices v.csv {chosen} -q"));
    assert_eq!(place.ok("vertices d.esker --format csv --sort vertex --ascending"), expected);
    // What is remembered holds for later tables, and an export is known by its values.
    std::fs::write(place.path().join("own.csv"), expected).unwrap();
    for table in ["v.csv", "own.csv"] {
        let synced = place.ok(&format!("sync d.esker e.csv --vertices {table} --dry-run"));
        assert!(synced.ends_with("no changes\n"), "{table}: {synced}");
    }
    place.file("one.csv", "vertex,score\na,10.125\n");
    place.fails(1, "sync d.esker e.csv --vertices one.csv", "--decimal-comma=false");
    // Into a database that remembers none, and beside edges of a format that is no table of text.
    place.ok("import e.csv p.esker -q");
    place.ok("add p.esker --vertices v.csv --decimal-comma --date-format born=%d.%m.%Y -q");
    assert_eq!(place.ok("vertices p.esker --format csv --sort vertex --ascending"), expected);
    place.ok("export p.esker e.parquet -q");
    place.ok(&format!("import e.parquet p.esker --vertices v.csv {chosen} -q --force"));
    assert_eq!(place.ok("vertices p.esker --format csv --sort vertex --ascending"), expected);
}
