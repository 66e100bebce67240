//! Documents that are broken, cut short, or made to do harm.

use esker_import::{ImportOptions, Input, ReadOptions, import_inputs};

use super::text_meaning;

const GRAPHML: &str = "<graphml><key id='w' for='edge' attr.name='w' attr.type='int'/><graph edgedefault='directed'>\
    <node id='a'/><node id='b'/><edge source='a' target='b'><data key='w'>1</data></edge></graph></graphml>";

#[track_caller]
fn refused(name: &str, text: &str, why: &str) {
    let error = text_meaning(name, text, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn xml_that_would_do_harm_is_refused() {
    let with = |from: &str, to: &str| {
        assert!(GRAPHML.contains(from), "{from}");
        GRAPHML.replacen(from, to, 1)
    };
    assert!(text_meaning("a.graphml", GRAPHML, &ReadOptions::default()).is_ok());
    let bomb = format!(
        "<?xml version='1.0'?><!DOCTYPE g [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]>{}",
        with("<data key='w'>1", "<data key='w'>&b;")
    );
    refused("a.graphml", &bomb, "document type declares");
    let external =
        format!("<!DOCTYPE g [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>{}", with("'a'/>", "'&x;'/>"));
    refused("a.graphml", &external, "document type declares");
    refused("a.graphml", &with("'a'/>", "'&x;'/>"), "entity not understood");
    refused("a.graphml", &with(">1<", ">&x;<"), "entity not understood");
    refused("a.graphml", &with("</graph></graphml>", ""), "cut short");
    refused("a.graphml", &with("</edge>", ""), "edge");
    refused("a.graphml", &with("</data>", ""), "data");
    refused("a.graphml", &with("'a'/>", "'a'>"), "not closed");
    refused("a.graphml", &with("'a'/>", "'a\0'/>"), "zero byte");
    refused("a.graphml", &with("'a'/>", "'a' x='<edge '/>"), "<");
    refused("a.graphml", &with("key='w'>1", "key='v'>1"), "no key \"v\"");
    refused("a.graphml", &with("<node id='b'/>", "<hyperedge/>"), "hyperedge");
    refused("a.graphml", &with("target='b'", ""), "the target is missing");
    refused("a.graphml", &with(">1<", ">one<"), "w");
    refused("a.graphml", &format!("<?xml version='1.0' encoding='ISO-8859-1'?>{GRAPHML}"), "iconv");
    let deep = with("<data key='w'>1", &format!("<data key='w'>{}1", "<x>".repeat(100_000)));
    refused("a.graphml", &deep, "not closed");
    let long = with("id='a'", &format!("id='{}'", "a".repeat(3 << 20)));
    refused("a.graphml", &long, "longer");
}

#[test]
fn json_that_would_do_harm_is_refused() {
    let json = r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}"#;
    let with = |from: &str, to: &str| {
        assert!(json.contains(from), "{from}");
        json.replacen(from, to, 1)
    };
    assert!(text_meaning("a.json", json, &ReadOptions::default()).is_ok());
    refused("a.json", &with("]}", ""), "cut short");
    refused("a.json", &with("}], \"edges", "}, \"edges"), "no JSON");
    refused("a.json", &with("{\"id\": 2}", "{\"id\": 2]"), "no JSON");
    refused("a.json", &with("{\"id\": 2}", "{\"id\" 2}"), "no JSON");
    refused("a.json", &with("1}, {", "1} {"), "comma");
    refused("a.json", &with("\"target\": 2", "\"target\": null"), "the target is missing");
    refused("a.json", &with("\"id\": 2", "\"id\": 2, \"x\": \"\\ud800\""), "no JSON");
    refused("a.json", &with("]}", "]} {}"), "behind the document");
    let deep =
        with("\"id\": 2", &format!("\"id\": 2, \"x\": {}{}", "[".repeat(100_000), "]".repeat(100_000)));
    refused("a.json", &deep, "longer than 65536 bytes");
    let long = with("\"id\": 2", &format!("\"id\": 2, \"x\": \"{}\"", "x".repeat(3 << 20)));
    refused("a.json", &long, "longer");
    refused("a.json", r#"{"nodes": {"a": {}}, "edges": []}"#, "JSON");
}

/// Properties of vertices beyond the memory limit go to the disk and come back in order.
#[test]
fn properties_of_vertices_may_exceed_the_memory() {
    let (count, pad) = (150_000_u64, "x".repeat(300));
    let mut text = String::from("{\"directed\": true, \"nodes\": [");
    for v in 0..count {
        let v = v * 7919 % count;
        text += &format!(
            "{}{{\"id\": {v}, \"n\": {v}, \"t\": \"{v}{pad}\"}}",
            if text.ends_with('[') { "" } else { "," }
        );
    }
    text += "], \"edges\": [";
    for v in 0..count {
        text += &format!("{}{{\"source\": {v}, \"target\": {}}}", if v == 0 { "" } else { "," }, v / 2);
    }
    text += "]}";
    let shown = |memory_bytes: u64, threads: usize| {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("read.esker");
        let options = ImportOptions { memory_bytes, threads, ..ImportOptions::default() };
        let input = Input::memory("a.json", text.as_bytes());
        let report = import_inputs(&[input], &database, &ReadOptions::default(), &options).unwrap();
        assert!(report.reserved_bytes <= memory_bytes);
        super::shown(&database)
    };
    let all = shown(1 << 30, 2);
    let vertices: Vec<&str> = all.lines().take(count as usize).collect();
    for v in [0, 1, 77_777, count - 1] {
        let line = format!("{v} n:i64={v} t:text={v}{pad}");
        assert!(vertices.binary_search(&line.as_str()).is_ok(), "{v}");
    }
    assert!(shown(64 << 20, 1) == all);
}
