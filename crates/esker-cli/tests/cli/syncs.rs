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
