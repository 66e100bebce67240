//! What documents mean that are unusual, or the refusal where they could be misunderstood.

use esker_import::{Pick, PickProperties, ReadOptions};

use super::text_meaning;

#[track_caller]
fn means(name: &str, text: &str, expected: &str) -> Vec<String> {
    let (shown, report) = text_meaning(name, text, &ReadOptions::default()).unwrap();
    assert_eq!(shown, expected, "{text}");
    report.warnings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn refused(name: &str, text: &str, why: &str) {
    let error = text_meaning(name, text, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains(why), "{error}\n{text}");
}

/// A GraphML document.
fn graphml(graphs: &str) -> String {
    format!("<graphml><key id='w' for='edge' attr.name='w' attr.type='int'/>{graphs}</graphml>")
}

/// Edges that say nothing have the direction of the graph in which they stand, however blocks are cut.
#[test]
fn edges_have_the_direction_of_their_graph() {
    let node = |id: &str| format!("<node id='{id}'/>");
    let edge = |ends: &str, rest: &str| {
        format!("<edge source='{}' target='{}'{rest}><data key='w'>1</data></edge>", &ends[..1], &ends[1..])
    };
    let nodes = ["a", "b", "c"].map(node).concat();
    let mixed = format!(
        "<graph edgedefault='undirected'>{nodes}{}{}</graph>",
        edge("ab", ""),
        edge("bc", " directed='true'")
    );
    let two = format!(
        "<graph edgedefault='directed'>{nodes}{}</graph><graph edgedefault='undirected'>{}</graph><graph \
         edgedefault='directed'>{}</graph>",
        edge("ab", ""),
        edge("bc", ""),
        edge("ca", "")
    );
    let nested = format!(
        "<graph edgedefault='directed'><node id='a'><graph edgedefault='undirected'>{}{}{}<graph>{}</graph></graph></node>{}</graph>",
        node("b"),
        node("c"),
        edge("bc", ""),
        edge("cc", ""),
        edge("ab", "")
    );
    let end = |edges: &str| format!("a\nb\nc\n-> w:i32\n{edges}");
    for block_bytes in [1, 60, 1 << 20] {
        let read = ReadOptions { block_bytes, ..ReadOptions::default() };
        let shown = |graphs: &str| text_meaning("a.graphml", &graphml(graphs), &read).unwrap().0;
        assert_eq!(shown(&mixed), end("a,b,1\nb,a,1\nb,c,1\n"));
        assert_eq!(shown(&two), end("a,b,1\nb,c,1\nc,a,1\nc,b,1\n"));
        assert_eq!(shown(&nested), end("a,b,1\nb,c,1\nc,b,1\nc,c,1\n"));
    }
    let later = two.replacen("'directed'", "'undirected'", 1);
    // The sample shows the later graph.
    means("a.graphml", &graphml(&later), &end("a,b,1\nb,a,1\nb,c,1\nc,a,1\nc,b,1\n"));
    let undirected = ReadOptions { directed: Some(false), ..ReadOptions::default() };
    let (shown, _) = text_meaning("a.graphml", &graphml(&mixed), &undirected).unwrap();
    assert!(!shown.contains("b,a,1\n") && shown.contains("a,b,1\n"), "{shown}");
    refused("a.graphml", &graphml(&mixed.replace("'true'", "'maybe'")), "write true or false");
    means("a.graphml", &graphml(&mixed.replace("'true'", "'True'")), &end("a,b,1\nb,a,1\nb,c,1\n"));
    refused("a.graphml", &graphml(&mixed.replace("'undirected'", "'both'")), "edgedefault is \"both\"");
}

/// Edges may stand behind more nodes than the beginning of a file holds.
#[test]
fn directions_are_looked_for_behind_many_nodes() {
    let nodes: String = (0..20_000).map(|node| format!("<node id='{node}'/>")).collect();
    let edges = "<edge source='0' target='1'/><edge source='1' target='2' directed='true'/>";
    let text = format!("<graphml><graph edgedefault='undirected'>{nodes}{edges}</graph></graphml>");
    let (shown, _) = text_meaning("a.graphml", &text, &ReadOptions::default()).unwrap();
    assert!(shown.ends_with("-> \n0,1\n1,0\n1,2\n"), "{}", &shown[shown.len() - 60..]);
}

#[test]
fn gexf_of_two_directions() {
    let gexf = |default: &str, edges: &str| {
        format!(
            "<gexf><graph{default}><nodes><node id='a'/><node id='b'/></nodes><edges>{edges}</edges></graph></gexf>"
        )
    };
    let mixed = "<edge source='a' target='b'/><edge source='b' target='b' type='directed'/>";
    means("a.gexf", &gexf("", mixed), "a\nb\n-> \na,b\nb,a\nb,b\n");
    refused("a.gexf", &gexf("", &mixed.replace("'directed'", "'one-way'")), "type of the edge");
    refused("a.gexf", &gexf(" defaultedgetype='any'", mixed), "defaultedgetype");
    let second = gexf("", mixed).replace("</graph>", "</graph><graph defaultedgetype='directed'/>");
    refused("a.gexf", &second, "another defaultedgetype");
}

/// Nothing in front of the first node is passed over that could be one.
#[test]
fn elements_that_are_not_read_are_refused() {
    let prefixed = "<?xml version='1.0'?><g:graphml xmlns:g='x'><g:graph edgedefault='directed'><g:node id='a'/></g:graph></g:graphml>";
    refused("a.graphml", prefixed, "prefix \"g\"");
    refused("a.gexf", "<g:gexf><g:graph/></g:gexf>", "prefix \"g\"");
    refused("a.graphml", &graphml("<graph><hyperedge/></graph>"), "hyperedge");
    refused("a.graphml", &graphml("<graph><Node id='a'/></graph>"), "<Node>");
    refused("a.graphml", &graphml("<graph><g:node id='a'/></graph>"), "<node>");
    refused("a.gexf", "<gexf><graph><nodes><Node id='a'/></nodes></graph></gexf>", "<Node>");
    let described =
        graphml("<graph edgedefault='undirected'><desc><p>x</p></desc><data key='w'>1</data></graph>");
    let notes = means("a.graphml", &described, "\n-- w:i32\n\n");
    assert_eq!(notes, ["1 value of graphs, rather than of vertices or edges, not read"]);
    let id = "<graph edgedefault='directed'><node xml:id='x' id='a'/><node id='b' xml:id='y'/></graph>";
    means("a.graphml", &graphml(id), "a\nb\n-> w:i32\n\n");
}

#[test]
fn names_of_nodes_that_have_no_ids() {
    let d3 =
        |links: &str| format!("{{\"nodes\":[{{\"name\":\"A\"}},{{\"name\":\"B\"}}],\"links\":[{links}]}}");
    refused("a.json", &d3(r#"{"source":"A","target":"B"}"#), "call what edges name \"id\"");
    refused("a.json", &d3(r#"{"source":0,"target":2}"#), "from 0 to 1");
    let first = r#"{"links":[{"source":0,"target":1}],"nodes":[{"name":"A"},{"name":"B"}]}"#;
    refused("a.json", first, "put them first");
    let cytoscape = r#"{"elements":{"nodes":[{"data":{"x":1}}],"edges":[]}}"#;
    assert!(text_meaning("a.cyjs", cytoscape, &ReadOptions::default()).is_ok());
    refused("a.cyjs", r#"{"elements":[{"data":{"x":1}}]}"#, "id of the vertex is missing");
    means("a.json", r#"{"links":[{"source":"a","target":"b"}]}"#, "a\nb\n-> \na,b\n");
}

#[test]
fn directions_in_json() {
    let text = |of_graph: &str, of_edge: &str| {
        format!("{{\"directed\":{of_graph},\"nodes\":[],\"edges\":[{{\"source\":0,\"target\":1{of_edge}}}]}}")
    };
    for yes in ["true", "\"true\"", "1", "\"1\""] {
        means("a.json", &text(yes, ""), "0\n1\n-> \n0,1\n");
        means("a.json", &text("true", &format!(",\"directed\":{yes}")), "0\n1\n-> \n0,1\n");
        means("a.json", &text("true", &format!(",\"undirected\":{yes}")), "0\n1\n-> \n0,1\n1,0\n");
    }
    for no in ["false", "\"false\"", "0", "\"0\""] {
        means("a.json", &text(no, ""), "0\n1\n-- \n0,1\n");
        means("a.json", &text("true", &format!(",\"directed\":{no}")), "0\n1\n-> \n0,1\n1,0\n");
    }
    refused("a.json", &text("\"maybe\"", ""), "write true or false");
    refused("a.json", &text("true", ",\"directed\":\"maybe\""), "write true or false");
}

#[test]
fn times_of_vertices_keep_their_type() {
    let gexf = |format: &str| {
        format!(
            "<gexf><graph timeformat='{format}'><nodes><node id='a' start='2020-01-02' end='2021-01-01'/></nodes></graph></gexf>"
        )
    };
    means("a.gexf", &gexf("date"), "a end:date=2021-01-01 start:date=2020-01-02\n-- \n\n");
    means("a.gexf", &gexf("integer"), "a end:text=2021-01-01 start:text=2020-01-02\n-- \n\n");
}

#[test]
fn weights_are_numbers_or_refused() {
    let json = |weights: [&str; 2]| {
        let [one, other] = weights;
        format!(
            "{{\"edges\":[{{\"source\":0,\"target\":1,\"weight\":{one}}},{{\"source\":1,\"target\":0,\"weight\":{other}}}]}}"
        )
    };
    means("a.json", &json(["2", "\"3\""]), "0\n1\n-> weight:i32 (weight)\n0,1,2\n1,0,3\n");
    refused("a.json", &json(["2", "\"heavy\""]), "weight");
    refused("a.json", &json(["true", "false"]), "is no number, but bool");
    let read = ReadOptions {
        weight: Pick::Skip,
        schema: vec!["weight:text".parse().unwrap()],
        ..ReadOptions::default()
    };
    let (shown, _) = text_meaning("a.json", &json(["2", "\"heavy\""]), &read).unwrap();
    assert_eq!(shown, "0\n1\n-> weight:text\n0,1,2\n1,0,heavy\n");
}

#[test]
fn values_that_are_several_or_have_no_effect() {
    let edge = "<graph edgedefault='directed'><node id='a'/><edge source='a' target='a'><data key='w'>1</data><data \
                key='w'>2</data></edge></graph>";
    refused("a.graphml", &graphml(edge), "several values of \"w\"");
    means("a.graphml", &graphml(&edge.replace(">2<", ">1<")), "a\n-> w:i32\na,a,1\n");
    let vertex = "<graphml><key id='x' for='node'/><graph edgedefault='directed'><node id='a'><data key='x'>1</data><data \
                  key='x'>2</data></node></graph></graphml>";
    refused("a.graphml", vertex, "several values of \"x\"");
    let json = r#"{"edges":[{"source":0,"target":1,"a":1,"b":2,"a":3}]}"#;
    refused("a.json", json, "several values of \"a\"");
    let read = ReadOptions {
        properties: PickProperties::Columns(vec!["a".to_owned()]),
        defaults: vec!["b=1".parse().unwrap()],
        ..ReadOptions::default()
    };
    let error = text_meaning("a.json", &json.replace(",\"a\":3", ""), &read).unwrap_err().to_string();
    assert!(error.contains("has no effect"), "{error}");
}

/// An integer that no type holds is not rounded.
#[test]
fn integers_beyond_64_bits() {
    let text = |of: &str, value: &str| {
        format!(
            "<graphml><key id='x' for='{of}' attr.name='x' attr.type='long'/><graph edgedefault='directed'><node id='a'>{}</node><edge \
             source='a' target='a'>{}</edge></graph></graphml>",
            if of == "node" { format!("<data key='x'>{value}</data>") } else { String::new() },
            if of == "edge" { format!("<data key='x'>{value}</data>") } else { String::new() },
        )
    };
    let wide = "12345678901234567890123";
    means("a.graphml", &text("node", wide), &format!("a x:text={wide}\n-> \na,a\n"));
    refused("a.graphml", &text("edge", wide), "x");
    means("a.graphml", &text("edge", "+5"), "a\n-> x:i32\na,a,5\n");
}

#[test]
fn memory_does_not_grow_with_odd_documents() {
    // Neighbours of one vertex over many blocks.
    let neighbours: String = (1..=3000).map(|v| format!("{v} {{}}\n")).collect();
    let list = format!("#x.py\n# GMT Sun Nov 29 16:28:29 2026\n#\n0 3000\n{neighbours}7 0\n8 1\n9 {{}}\n");
    let read = |block_bytes: usize| {
        let read = ReadOptions { block_bytes, ..ReadOptions::default() };
        text_meaning("a.txt", &list, &read).unwrap().0
    };
    let all = read(1 << 20);
    assert!(all.ends_with("\n8,9\n") && all.matches("\n0,").count() == 3000);
    assert!(read(100) == all && read(1) == all);
    refused("a.txt", &list.replace("8 1\n", "8 2\n"), "cut short");
    let blanks = " ".repeat(3 << 20);
    refused("a.json", &format!("{{\"nodes\":[{{\"id\":1}},{blanks}{{\"id\":2}}]}}"), "blanks");
    let names: String = (0..5000).map(|name| format!(",{{\"id\":{name},\"p{name}\":1}}")).collect();
    refused("a.json", &format!("{{\"nodes\":[{}]}}", &names[1..]), "more than 4096 properties");
}
