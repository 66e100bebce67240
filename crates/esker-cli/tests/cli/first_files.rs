//! Where a first import, and the next file, go wrong for a newcomer: refused, warned of, or read as meant.

use serde_json::json;

use crate::place::Place;

/// Edges of an export, in order.
fn edges(place: &Place, database: &str) -> Vec<String> {
    place.ok(&format!("export {database} edges.csv --force"));
    let text = std::fs::read_to_string(place.path().join("edges.csv")).unwrap();
    let mut edges: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    edges.sort();
    edges
}

fn said(place: &Place, line: &str) -> String {
    let output = place.run(line);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {said}");
    said
}

#[test]
fn edges_of_a_kind_are_deleted_by_their_kind() {
    let place = Place::new();
    place.file("k.csv", "source,target,kind,n\na,b,x,1\na,b,y,2\nb,c,x,3\nb,c,y,4\n");
    place.ok("import k.csv k.esker --kind kind --property n");
    place.file("d.csv", "source,target,kind,n\na,b,y,7\n");
    assert!(place.ok("delete k.esker d.csv").contains("Deleted 1 edge for 1 row"));
    assert_eq!(edges(&place, "k.esker"), ["a,b,1,x", "b,c,3,x", "b,c,4,y"]);
    place.file("other.csv", "source,target,type\na,b,x\n");
    let message = "call the column of the kinds so, or leave the ends alone in the file";
    place.fails(1, "delete k.esker other.csv", message);
    place.ok("options k.esker --column kind=type");
    place.ok("delete k.esker other.csv");
    place.ok("options k.esker --column kind=kind");
    assert_eq!(edges(&place, "k.esker"), ["b,c,3,x", "b,c,4,y"]);
    // A file with kinds behind one without: its kinds are not passed over.
    place.file("ends.csv", "source,target\na,c\n");
    place.file("kinds.csv", "source,target,kind\nb,c,y\n");
    place.fails(1, "delete k.esker ends.csv kinds.csv --new", "leave the ends alone");
    place.file("n.csv", "source,target,n,kind\nb,c,4,x\n");
    assert!(place.ok("delete k.esker n.csv --property n").contains("Deleted 0 edges"));
    place.file("both.csv", "source,target\nb,c\n");
    let told = said(&place, "delete k.esker both.csv");
    assert!(told.contains("edges of all kinds are removed") && !told.contains("--define"), "{told}");
    assert_eq!(place.json("info k.esker --json")["edges"], 0);
    // The note of a database without kinds names a setting that deletes by values.
    place.file("p.csv", "source,target,n\na,b,1\n");
    place.ok("import p.csv p.esker --property n");
    let told = said(&place, "delete p.esker p.csv");
    assert!(told.contains("--property NAME") && !told.contains("--define"), "{told}");
}

#[test]
fn later_files_write_values_as_the_first() {
    let place = Place::new();
    place.file("a.csv", "day;payer;payee;amount\n01.03.2024;a;b;1.250,50\n");
    place.file("b.csv", "day;payer;payee;amount\n03.04.2024;c;d;1.500\n");
    place.ok("import a.csv a.esker --time day --property amount --decimal-comma --date-format day=%d.%m.%Y");
    let told = said(&place, "add a.esker b.csv");
    assert!(!told.contains("not remembered"), "{told}");
    let all = ["a,b,2024-03-01T00:00:00Z,1250.5", "c,d,2024-04-03T00:00:00Z,1500.0"];
    assert_eq!(edges(&place, "a.esker"), all.map(|edge| edge.replace('Z', "")));
    let shown = place.ok("options a.esker");
    assert!(shown.contains(", with a decimal comma, day as %d.%m.%Y; source payer"), "{shown}");
    let reading = &place.json("options a.esker --json")["reading"];
    assert_eq!(
        (&reading["decimal_comma"], &reading["date_format"]),
        (&json!(true), &json!({ "day": "%d.%m.%Y" }))
    );
    // A choice wins for its file, and is told.
    place.file("us.csv", "day,payer,payee,amount\n04/05/2024,e,f,1.500\n");
    let told = said(&place, "add a.esker us.csv --date-format day=%m/%d/%Y --decimal-comma=false");
    let words = "--date-format day=%m/%d/%Y in place of day=%d.%m.%Y, --decimal-comma=false though the import had some";
    assert!(told.contains(words), "{told}");
    assert!(edges(&place, "a.esker").contains(&"e,f,2024-04-05T00:00:00,1.5".to_owned()));
    // Through the other doors.
    place.file("s.csv", "day;payer;payee;amount\n05.06.2024;g;h;2.500,25\n");
    place.ok("stream a.esker s.csv");
    assert!(edges(&place, "a.esker").contains(&"g,h,2024-06-05T00:00:00,2500.25".to_owned()));
    place.ok("delete a.esker s.csv --property day --property amount");
    assert_eq!(edges(&place, "a.esker").len(), 3);
    place.ok("options a.esker --forget-reading");
    place.fails(1, "add a.esker b.csv", "03.04.2024");
}

#[test]
fn fractional_seconds_are_times() {
    let place = Place::new();
    place.file("a.csv", "ts,source,target\n1709283600.123456,a,b\n1709283601,b,c\n");
    place.file("b.csv", "ts,source,target\n1709283602.5,c,d\n");
    let told = said(&place, "import a.csv a.esker --time ts");
    assert!(told.contains("ts as timestamp[us, UTC]"), "{told}");
    place.ok("add a.esker b.csv");
    let times = ["a,b,2024-03-01T09:00:00.123456Z", "b,c,2024-03-01T09:00:01Z", "c,d,2024-03-01T09:00:02.5Z"];
    assert_eq!(
        edges(&place, "a.esker")
            .iter()
            .map(|edge| edge.replace("00000Z", "Z").replace(".0Z", "Z"))
            .collect::<Vec<_>>(),
        times
    );
    place.file("small.csv", "ts,source,target\n0.5,a,b\n");
    place.fails(2, "import small.csv s.esker --time ts", "seconds since 1970 may have fractions");
}

#[test]
fn dates_and_amounts_in_other_forms_are_read_or_warned_of() {
    let place = Place::new();
    place.file("d.csv", "source,target,at\na,b,7/27/2017 3:30\nb,c,7/7/2017 12:30\n");
    let told = said(&place, "import d.csv d.esker --property at");
    assert!(told.contains("--date-format 'at=%m/%d/%Y %H:%M'"), "{told}");
    place.fails(1, "import d.csv e.esker --time at", "--date-format 'at=%m/%d/%Y %H:%M'");
    place.file("g.csv", "source,target,amount\na,b,\"1,250.00\"\nb,c,90\n");
    place.ok("import g.csv g.esker --property amount");
    assert_eq!(edges(&place, "g.esker"), ["a,b,1250.0", "b,c,90.0"]);
    place.file("u.csv", "source,target,amount\na,b,\"1,250\"\nb,c,90\n");
    let told = said(&place, "import u.csv u.esker --property amount");
    assert!(
        told.contains("--decimal-comma=false reads 1250") && told.contains("--decimal-comma reads 1.25"),
        "{told}"
    );
    for amounts in [["$90.00", "$1,250"], ["75 EUR", "80 USD"], ["3€", "4€"]] {
        let [one, other] = amounts;
        place.file("c.csv", &format!("source,target,amount\na,b,\"{one}\"\nb,c,\"{other}\"\n"));
        let told = said(&place, "import c.csv c.esker --force --property amount");
        assert!(told.contains("are numbers with a unit, such as"), "{told}");
    }
}

#[test]
fn later_payments_that_replace_earlier_ones_are_told() {
    let place = Place::new();
    place.file("a.csv", "source,target,at\na,b,2024-03-01\n");
    place.file("b.csv", "source,target,at\na,b,2024-03-02\nc,d,2024-03-02\n");
    place.ok("import a.csv a.esker --time at");
    let told = said(&place, "add a.esker b.csv");
    assert!(
        told.contains("1 edge of the same two vertices replaced an earlier one")
            && told.contains("--duplicates keep"),
        "{told}"
    );
    place.ok("import a.csv k.esker --time at --duplicates keep");
    let told = said(&place, "add k.esker b.csv");
    assert!(!told.contains("replaced"), "{told}");
    let many: String = (0..300).map(|n| format!("v{n},w,2024-03-01\n")).collect();
    place.file("many.csv", &format!("source,target,at\n{many}v1,w,2024-03-02\n"));
    let told = said(&place, "import many.csv many.esker --time at");
    assert!(told.contains("1 row (0% of the rows) repeats an edge"), "{told}");
}

#[test]
fn an_import_of_no_good_row_fails() {
    let place = Place::new();
    place.file("a.csv", "source,target,at\na,b,2024-03-01\nb,c,2024-03-02\n");
    place.fails(
        1,
        "import a.csv a.esker --schema at:i64 --bad-lines skip",
        "no row could be taken, of 2; here, ",
    );
    assert!(!place.path().join("a.esker").exists());
    place.file("none.csv", "source,target\n");
    place.ok("import none.csv none.esker --bad-lines skip");
}

#[test]
fn tables_of_vertices_give_ids_and_properties() {
    let place = Place::new();
    place.file("e.csv", "Source,Target\na,b\nb,c\n");
    place.file("n.csv", "Label,Id,age\n\"Ann, A.\",a,7\nBob,b,\nDan,d,9\n");
    let told = said(&place, "import e.csv v.esker --vertices n.csv");
    assert!(told.contains("n.csv as vertices: id Id, properties Label as text, age"), "{told}");
    let rows = |database: &str| {
        place.ok(&format!("export {database} e.out.csv --vertex-properties v.out.csv --force"));
        let text = std::fs::read_to_string(place.path().join("v.out.csv")).unwrap();
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        rows[1..].sort();
        rows
    };
    let wanted = |header: &str| [header, "a,\"Ann, A.\",7", "b,Bob,", "d,Dan,9"].map(str::to_owned);
    let found = rows("v.esker");
    assert_eq!(found, wanted(&found[0]));
    assert!(found[0].ends_with(",Label,age"), "{found:?}");
    // Through later files, with standard input and compressed numbers of lines.
    place.file("more.csv", "Id,age\nb,8\ne,1\n");
    place.ok("add v.esker --vertices more.csv");
    let found = rows("v.esker");
    assert_eq!(found[1..], ["a,\"Ann, A.\",7", "b,Bob,8", "d,Dan,9", "e,,1"]);
    place.ok("delete v.esker --vertices more.csv");
    assert_eq!(rows("v.esker").len(), 3);
    // The label of GEXF.
    place.ok("export v.esker v.gexf");
    let gexf = std::fs::read_to_string(place.path().join("v.gexf")).unwrap();
    assert!(gexf.contains("label=\"Ann, A.\""), "{gexf}");
    place.ok("import v.gexf back.esker");
    assert!(rows("back.esker")[0].ends_with(",Label,age"));
    // Numbers and names, as Common Crawl has them.
    place.file("edges.txt", "0\t1\n1\t2\n");
    place.file("vertices.txt", "0\tcom.example\n1\torg, a\n2\tnet\n3\tde\n");
    place.ok("import edges.txt cc.esker --vertices vertices.txt");
    assert_eq!(rows("cc.esker")[1..], ["0,com.example", "1,\"org, a\"", "2,net", "3,de"]);
    // Whole lines are ids where nothing says that they have columns, and a row of other columns is refused.
    place.file("ids.txt", "a, b\nc, d\n");
    let told = said(&place, "import e.csv w.esker --vertices ids.txt");
    assert!(told.contains("each line is taken as one id, such as a,b"), "{told}");
    assert_eq!(place.json("info w.esker --json")["vertices"], 5);
    place.file("bad.csv", &format!("id,x\na,1\n{}", "b,1\n".repeat(1200)));
    let bad = std::fs::read_to_string(place.path().join("bad.csv")).unwrap() + "c\n";
    place.file("bad.csv", &bad);
    place.fails(1, "import e.csv x.esker --vertices bad.csv", "the row has 1 columns");
    place.file("two.csv", "id,x,x\na,1,2\n");
    place.fails(1, "import e.csv x.esker --vertices two.csv", "two columns are called \"x\"");
}

#[test]
fn ends_are_not_taken_from_times_and_constant_columns() {
    let place = Place::new();
    let flows = "1,0,C1065,389,C3799,N10451,6,10,5323\n1,0,C1423,N1136,C1707,N1,6,5,847\n2,9,C1065,389,C3799,N10452,6,12,6000\n";
    place.file("f.txt", flows);
    place.fails(1, "import f.txt f.esker", "choose with --src");
    let row = "118781,5580,Comp364445,Comp547245,17,5507,Port46272,0,2,0,784\n118783,976,Comp450942,Comp829338,6,Port02583,22,100,88,13108,11868\n";
    place.file("n.txt", row);
    place.fails(1, "import n.txt n.esker", "--src 3 --dst 4");
    place.file("shared.txt", &format!("{row}118790,3,Comp829338,Comp364445,6,1,22,1,8,18,1\n"));
    assert!(said(&place, "import shared.txt n.esker").contains("source column 3, target column 4"));
    place.file("uvwt.txt", "1,2,5,99\n2,3,4,98\n3,4,5,97\n");
    assert!(said(&place, "import uvwt.txt u.esker").contains("source column 1, target column 2"));
    let libraries = "ID,Platform,Project Name,Project ID,Version Number,Version ID,Dependency Name,Dependency Platform,Dependency Kind,Optional Dependency,Dependency Requirements,Dependency Project ID\n1,Pypi,requests,101,2.31.0,9001,urllib3,Pypi,runtime,false,<3,102\n2,Pypi,requests,101,2.31.0,9001,certifi,Pypi,runtime,false,>=2,103\n4,Pypi,flask,110,3.0.0,9010,jinja2,Pypi,runtime,false,>=3,112\n";
    place.file("l.csv", libraries);
    assert!(said(&place, "import l.csv l.esker").contains("source Project Name, target Dependency Name"));
    let crates = "crate_id,default_features,explicit_name,features,id,kind,optional,req,target,version_id\n463,t,,{},29593,0,f,^0.4.1,,24235\n460,t,,{},29622,0,f,^0.6,,24254\n463,t,,{std},29623,1,f,^0.3,cfg(unix),24254\n";
    place.file("dependencies.csv", crates);
    let output = place.run("import dependencies.csv c.esker");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success()
            && told.contains("--src crate_id --dst version_id")
            && !told.contains("--src features"),
        "{told}"
    );
    place.file("Packages", "Package: curl\nVersion: 8.5\nDepends: libc6 (>= 2.34)\n\nPackage: git\n");
    place.fails(1, "import Packages p.esker --bad-lines skip", "as packages of Debian have it");
}

/// Each line of a quoted field counted as a row without commas.
#[test]
fn line_breaks_in_quotes_do_not_hide_the_commas() {
    let place = Place::new();
    place.file("few.csv", "source,target,weight,note\nann x,bob,1,\"two\nlines here\"\nbob,cat,2,bye x\n");
    let mut many = String::from("caller,callee,amount,note\n");
    for row in 0..300 {
        let note =
            if row % 30 == 7 { "\"please call back\nafter the holidays, thanks\"" } else { "all fine today" };
        many += &format!("Ann Lee{row},Bob Ray{},{row},{note}\n", row / 2);
    }
    place.file("many.csv", &many);
    for (file, edges) in [("few.csv", 2), ("many.csv", 300)] {
        let told = said(&place, &format!("import {file} g.esker --property all --force"));
        assert!(!told.contains("warning"), "{file}: {told}");
        assert_eq!(place.json("info g.esker --json")["edges"], edges, "{file}");
        assert!(place.ok("edges g.esker --format csv").contains("lines here") == (edges == 2), "{file}");
        assert!(place.ok(&format!("sync g.esker {file}")).contains("nothing to commit"), "{file}");
    }
}
