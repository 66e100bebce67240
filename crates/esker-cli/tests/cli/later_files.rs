//! What a database remembers of its import, shown, changed and forgotten; integer ids that become texts.

use serde_json::json;

use crate::place::Place;

#[test]
fn what_is_remembered_of_files_is_shown_changed_and_forgotten() {
    let place = Place::new();
    place.file("a.csv", "id;payer;payee;amount\n1;5;6;3\n2;6;7;4\n");
    place.ok("import a.csv g.esker --property amount --no-quotes");
    let shown = place.ok("options g.esker");
    let words =
        "read as csv with header, separated by ';', without quotes; source payer, target payee, amount";
    assert!(shown.contains(words), "{shown}");
    assert!(place.ok("info g.esker").contains("source payer, target payee, amount"));
    let expected = json!({
        "format": "csv", "source": "payer", "target": "payee", "properties": {"amount": "amount"},
        "header": true, "delimiter": ";", "quotes": false, "both_ends": false, "nulls": [],
        "date_format": {}, "decimal_comma": false, "default": {}, "self_loops": "keep",
    });
    assert_eq!(place.json("options g.esker --json")["reading"], expected);
    assert_eq!(place.json("info g.esker --json")["reading"], expected);
    place.file("b.csv", "value,sender,receiver\n8,9,5\n");
    let words = "expected source payer, target payee, amount; found value, sender, receiver; name the ends with --src and --dst";
    place.fails(1, "add g.esker b.csv", words);
    place.ok("options g.esker --src sender --dst receiver --column amount=value");
    place.ok("add g.esker b.csv");
    place.ok("delete g.esker b.csv");
    place.fails(1, "add g.esker a.csv", "expected source sender, target receiver, amount value");
    place.fails(2, "options g.esker --column cost=value", "edges have no property \"cost\"");
    place.file("bare.csv", "1,7,9,250\n2,8,9,3\n");
    place.fails(1, "add g.esker bare.csv", "expected source sender, target receiver, amount value");
    place.ok("options g.esker --forget-reading");
    assert_eq!(place.json("options g.esker --json")["reading"], json!(null));
    place.fails(2, "options g.esker --src sender", "remembers no table");
    place.ok("add g.esker a.csv");
    assert_eq!(place.json("options g.esker --json")["reading"]["target"], json!("payee"));
    place.file("both.csv", "source,target\n3,5\n5,3\n");
    place.file("one.csv", "source,target\n5,3\n");
    place.ok("import both.csv u.esker --undirected --both-ends --duplicates keep");
    place.fails(1, "add u.esker one.csv", "some stand at one end only");
    place.fails(1, "stream u.esker both.csv", "a stream may end between its rows");
    place.ok("add u.esker both.csv");
    place.ok("delete u.esker one.csv");
    assert_eq!(place.json("info u.esker --json")["edges"], json!(0));
    place.file("c.el", "1 2\n");
    place.ok("import c.el p.esker");
    place.fails(2, "options p.esker --dst to", "a number from 1 to 2");
    place.ok("options p.esker --src 2 --dst 1 --event-times given");
    place.fails(2, "add p.esker c.el", "--event-time TIME, or --event-time now");
    place.ok("add p.esker c.el --event-time now");
    assert!(place.ok("neighbors p.esker 2").contains('1'));
    place.ok("check g.esker");
}

#[test]
fn integer_ids_become_texts_through_every_door() {
    let place = Place::new();
    place.file("a.csv", "source,target\n30,7\n7,1000000\n");
    place.file("b.csv", "source,target\nann,7\n");
    place.ok("import a.csv g.esker");
    place.ok("tag g.esker 1 old");
    place.fails(1, "add g.esker b.csv", "`esker options --ids text`");
    place.fails(2, "add g.esker b.csv --ids text", "`esker options g.esker --ids text`");
    place.ok("options g.esker --ids text");
    place.ok("options g.esker --ids text");
    place.ok("add g.esker b.csv");
    assert!(place.ok("info g.esker").contains("text, vertex order"));
    place.ok("check g.esker");
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    for at in ["old", "latest"] {
        place.ok(&format!("export g.esker {at}.csv --at {at}"));
    }
    assert_eq!(read("old.csv"), "source,target\n7,1000000\n30,7\n");
    assert!(read("latest.csv").contains("ann,7\n"));
    let changes = place.ok("diff g.esker old latest");
    assert!(changes.contains("ann"), "{changes}");
    let row = place.ok("run bfs g.esker --source ann --output -");
    assert!(row.contains("1000000"), "{row}");
    place.ok("backup g.esker copy.esker");
    place.ok("compact copy.esker");
    place.ok("delete copy.esker b.csv");
    assert!(place.ok("neighbors copy.esker 7").contains("1000000"));
    place.file("script", "+ bob 30\n- 30 7\n");
    place.ok("commit copy.esker script");
    place.ok("check copy.esker");
    std::fs::remove_file(place.path().join("copy.esker/MANIFEST")).unwrap();
    place.ok("recover --accept-loss copy.esker");
    assert!(place.ok("neighbors copy.esker bob").contains("30"));
}

#[cfg(feature = "cluster")]
#[test]
fn a_cluster_reads_later_files_as_the_first() {
    let place = Place::new();
    place.file("a.csv", "id,payer,payee,cost\n1,ann,bob,3\n2,bob,cy,4\n");
    place.file("b.csv", "cost,payee,payer\n8,ann,cy\n");
    place.file("flows.csv", "ts,orig_h,resp_h,cost\n1,h,i,3\n");
    place.file("unclear.csv", "ann,bob,x\ncy,dan,y\n");
    place.ok("cluster create c --shards 2 --ids text --weights int");
    place.ok("cluster add c a.csv --weight cost");
    place.ok("cluster add c b.csv");
    let words = "expected source payer, target payee, weight cost; found ts, orig_h, resp_h, cost; name the ends with --src and --dst";
    place.fails(1, "cluster add c flows.csv", words);
    place.ok("cluster add c flows.csv --src orig_h --dst resp_h --weight cost");
    place.fails(1, "cluster delete c unclear.csv", "--no-header if it is an edge");
    place.ok("cluster delete c b.csv");
    let edges = place.ok("cluster export c -");
    for (edge, is_there) in [("ann,bob,3", true), ("h,i,3", true), ("cy,ann", false)] {
        assert_eq!(edges.contains(edge), is_there, "{edge}: {edges}");
    }
}

/// The default filled the empty fields of an export, which stand for no value.
#[test]
fn a_remembered_default_does_not_fill_the_values_that_an_export_lacks() {
    let place = Place::new();
    place.file("script", "+ b c weight=~\n");
    for (ends, database) in [("from,to", "g.esker"), ("source,target", "h.esker")] {
        place.file("e.csv", &format!("{ends},weight\na,b,\n"));
        place.ok(&format!("import e.csv {database} --default weight=1"));
        place.ok(&format!("commit {database} script --new"));
        place.ok(&format!("export {database} {database}.csv"));
        place.ok(&format!("export {database} {database}.parquet"));
        assert_eq!(place.json(&format!("info {database} --json"))["version"], 2);
    }
    for end in ["csv", "parquet"] {
        let weights = |database: &str| place.ok(&format!("edges {database} --format csv -q"));
        let rows = "source,target,weight\na,b,1\nb,c,\n";
        place.ok(&format!("sync g.esker g.esker.{end}"));
        assert_eq!(weights("g.esker"), rows, "{end}");
        let wrong = "edges lack a value of \"weight\": the database remembers the default \"1\"";
        place.fails(2, &format!("sync h.esker h.esker.{end}"), wrong);
        place.fails(
            2,
            &format!("add h.esker h.esker.{end}"),
            "--default weight=1, or with --default weight=",
        );
        place.ok(&format!("sync h.esker h.esker.{end} --default weight="));
        assert_eq!(weights("h.esker"), rows, "{end}");
    }
    place.ok("sync h.esker h.esker.csv --default weight=1");
    assert_eq!(place.ok("edges h.esker --format csv -q"), "source,target,weight\na,b,1\nb,c,1\n");
}
