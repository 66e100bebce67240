//! Databases that become equal to files.

use crate::place::Place;

#[test]
fn a_snapshot_of_each_day_becomes_a_version_of_what_has_changed() {
    let place = Place::new();
    place.file("mon.csv", "payer,payee,weight\nann,bob,3\nbob,cid,4\ncid,dan,5\n");
    place.ok("import mon.csv pay.esker --src payer --dst payee");
    place.file("tue.csv", "weight,payer,payee\n3,ann,bob\n9,bob,cid\n1,eve,ann\n");
    let counts = "1 edge added, 1 edge removed, 1 edge changed, 1 vertex added, 1 vertex removed";
    assert_eq!(
        place.ok("sync pay.esker tue.csv --dry-run"),
        format!("pay.esker: nothing committed, would be: {counts}\n")
    );
    assert_eq!(place.json("info pay.esker --json")["version"], 1);
    assert_eq!(place.ok("sync pay.esker tue.csv"), format!("pay.esker: version 2: {counts}\n"));
    assert_eq!(
        place.ok("edges pay.esker --format csv"),
        "source,target,weight\nann,bob,3\nbob,cid,9\neve,ann,1\n"
    );
    assert!(place.ok("sync pay.esker tue.csv").contains("nothing to commit"));
    assert!(place.ok("log pay.esker").contains("sync tue.csv"));
    let report = place.json("sync pay.esker mon.csv --keep-vertices --json -m back");
    assert_eq!((&report["version"], &report["changes"]["vertices_removed"]), (&3.into(), &0.into()));
    place.file("none.csv", "payer,payee,weight\n");
    place.fails(2, "sync pay.esker none.csv", "--allow-empty");
    place.fails(2, "sync pay.esker tue.csv --no-weight", "--no-weight has no effect");
    let report = place.json("sync pay.esker none.csv --allow-empty --json");
    assert_eq!((&report["changes"]["edges_removed"], &report["rows"]), (&3.into(), &0.into()));
    place.ok("check pay.esker");
}

/// The second did nothing.
#[test]
fn a_sync_that_commits_nothing_freezes_nothing() {
    let place = Place::new();
    place.file("e.csv", "source,target\na,b\n");
    place.ok("import e.csv e.esker -q");
    place.fails(2, "sync e.esker e.csv --dry-run --freeze", "cannot be used with");
    place.fails(2, "sync e.esker e.csv --property amount", "use `esker add --define NAME:TYPE`");
}

/// Values of vertices were cleared or kept by whether any vertex had one.
#[test]
fn a_column_of_a_table_of_vertices_decides_the_values_of_all_vertices_of_the_input() {
    let place = Place::new();
    place.file("edges.csv", "source,target\na,b\nb,c\nc,d\n");
    place.file("flags.csv", "id,flag,name\na,1,A\nb,2,B\nc,3,C\nd,4,D\n");
    place.file("fewer.csv", "source,target\na,b\nb,c\n");
    for (table, options, expected) in [
        // Without a table, all stays.
        ("", "", "a,1,A b,2,B c,3,C d,4,D"),
        ("id,flag\na,9\n", "", "a,9,A b,,B c,,C d,,D"),
        ("id,flag\na,\nb,\n", "", "a,,A b,,B c,,C d,,D"),
        ("id,name\na,\nb,X\n", "", "a,1, b,2,X c,3, d,4,"),
        ("id,flag\na,9\n", "fewer.csv --keep-vertices", "a,9,A b,,B c,,C d,4,D"),
        ("id,flag\na,9\n", "fewer.csv", "a,9,A b,,B c,,C"),
    ] {
        place.ok("import edges.csv v.esker --vertices flags.csv -q --force");
        place.file("table.csv", table);
        let vertices = if table.is_empty() { "" } else { "--vertices table.csv" };
        let files = if options.is_empty() { "edges.csv" } else { options };
        place.ok(&format!("sync v.esker {files} {vertices} -q"));
        let rows = place.ok("vertices v.esker --format csv --sort vertex --ascending");
        assert_eq!(rows.lines().skip(1).collect::<Vec<_>>().join(" "), expected, "{table:?} {options}");
        let again = place.ok(&format!("sync v.esker {files} {vertices}"));
        assert!(again.contains("nothing to commit"), "{table:?} {options}: {again}");
    }
}

/// A second look at a pipe found it empty, and the graph was removed.
#[test]
fn what_a_pipe_gave_is_not_read_twice() {
    let place = Place::new();
    place.file("all.csv", "source,target,weight,colour\na,b,1,red\n");
    place.file("some.csv", "source,target,weight\na,b,1\nc,d,4\n");
    place.file("ids.txt", "zed\n");
    place.ok("import all.csv d.esker --property all -q");
    for line in
        ["add d.esker pipe", "sync d.esker pipe --allow-empty", "add d.esker some.csv --vertices pipe"]
    {
        let source = if line.contains("--vertices") { "ids.txt" } else { "some.csv" };
        let program = env!("CARGO_BIN_EXE_esker");
        let script = format!(
            "rm -f pipe; mkfifo pipe; cat {source} > pipe & {program} {line}; kill %1 2>/dev/null; true"
        );
        let output = std::process::Command::new("bash")
            .arg("-c")
            .arg(script)
            .current_dir(place.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("what comes through a pipe is read once"), "{line}: {said}");
        assert_eq!(place.json("info d.esker --json")["version"], 1, "{line}");
    }
    place.ok("sync d.esker some.csv -q");
    assert_eq!(place.json("info d.esker --json")["edges"], 2);
}

#[test]
fn an_input_that_was_imported_changes_nothing() {
    let place = Place::new();
    place.file("sums.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5.0\n1 2 1.5\n");
    place.file("loops.csv", "source,target,weight\na,b,1\nc,c,2\n");
    for (file, options) in [("sums.mtx", ""), ("loops.csv", "--self-loops drop"), ("loops.csv", "")] {
        place.ok(&format!("import {file} same.esker -q --force {options}"));
        let synced = place.ok(&format!("sync same.esker {file}"));
        assert!(synced.contains("nothing to commit"), "{file} {options}: {synced}");
    }
    place.ok("import sums.mtx same.esker -q --force");
    place.file("more.csv", "source,target,weight\nx,y,1\nz,z,2\n");
    place.ok("import loops.csv same.esker -q --force --self-loops drop");
    place.ok("add same.esker more.csv -q");
    assert_eq!(place.json("info same.esker --json")["vertices"], 6, "the end of a loop that is left out");
}

#[test]
fn values_that_go_are_told() {
    let place = Place::new();
    place.file("all.csv", "source,target,weight,note\na,b,1,x\nb,c,2,y\n");
    place.file("bare.dot", "digraph { a -> b; b -> c; }\n");
    place.file("empty.csv", "source,target,weight,note\na,b,1,\nb,c,2,\n");
    for (file, names) in [("bare.dot", &["weight", "note"][..]), ("empty.csv", &["note"])] {
        place.ok("import all.csv d.esker --property all -q --force");
        let output = place.run(&format!("sync d.esker {file}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        for name in names {
            assert!(
                said.contains(&format!("no edge of the input has a value of {name:?}")),
                "{file}: {said}"
            );
        }
        assert_eq!(said.matches("has a value of").count(), names.len(), "{said}");
    }
}

#[test]
fn vertices_go_only_where_in_edges_are_stored() {
    let place = Place::new();
    place.file("two.csv", "source,target\na,b\nb,c\n");
    place.file("one.csv", "source,target\na,b\n");
    place.ok("import two.csv out.esker --no-in-edges -q");
    for options in ["", "--dry-run"] {
        place.fails(
            2,
            &format!("sync out.esker one.csv {options}"),
            "keep vertices that the input does not name",
        );
    }
    assert!(place.ok("sync out.esker one.csv --keep-vertices").contains("1 edge removed"));
}
