//! GML, Pajek, DOT, LEDA, lists of names, graph6 and DIMACS, as libraries write them and as they are meant.

use esker_graph::Run;
use esker_import::export::{ExportOptions, StoredExport, export};
use esker_import::open::open_inputs;
use esker_import::read::format::{Format, PickIds};
use esker_import::{Duplicates, ImportOptions, Input, ReadOptions, import_inputs};
use esker_store::Store;

use super::{MIXED, check, meaning, meaning_of, text_meaning};

/// Checks what a text means, however it is cut into blocks, and returns the warnings.
#[track_caller]
fn means(name: &str, text: &str, expected: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for block_bytes in [1, 13, 1 << 20] {
        let read = ReadOptions { block_bytes, ..ReadOptions::default() };
        let (shown, report) = text_meaning(name, text, &read).unwrap();
        assert_eq!(shown, expected, "{block_bytes}: {text}");
        warnings = report.warnings.iter().map(ToString::to_string).collect();
    }
    warnings
}

/// Checks that texts are refused for these reasons.
#[track_caller]
fn refused(name: &str, texts: &[[&str; 2]]) {
    for [text, why] in texts {
        for block_bytes in [1, 1 << 20] {
            let read = ReadOptions { block_bytes, ..ReadOptions::default() };
            let error = text_meaning(name, text, &read).map(|read| read.0).unwrap_err().to_string();
            assert!(error.contains(why), "{error}\n{text}");
        }
    }
}

/// What an export of the graph of a text writes.
fn written(name: &str, text: &str, ending: &str) -> Result<String, String> {
    written_bytes(name, text, ending).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn written_bytes(name: &str, text: &str, ending: &str) -> Result<Vec<u8>, String> {
    let directory = tempfile::tempdir().unwrap();
    let (database, file) =
        (directory.path().join("a.esker"), directory.path().join("a").with_extension(ending));
    let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
    let input = Input::memory(name, text.as_bytes());
    import_inputs(&[input], &database, &ReadOptions::default(), &options).unwrap();
    let view = Store::open(&database).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    match export(&graph, &file, &ExportOptions::default()) {
        Ok(_) => Ok(std::fs::read(&file).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

const PEOPLE: &str = "alice age:i64=30\nbob age:i64=41\ncarol\ndave age:i64=7\n-> weight:f64 (weight), kind:text\n\
    alice,bob,1.0,a\nbob,carol,2.5,b\ncarol,alice,3.0,a\ndave,dave,0.3,\"\"\n";

/// The edges of [`PEOPLE`] in a format that has nothing else.
const PEOPLE_EDGES: &str = "alice\nbob\ncarol\ndave\n-> weight:f64 (weight)\n\
    alice,bob,1.0\nbob,carol,2.5\ncarol,alice,3.0\ndave,dave,0.3\n";

#[test]
fn gml_of_libraries() {
    let mixed = MIXED.replace("active:bool=true", "active:i64=1");
    check("networkx-3.6.1-mixed.gml", &mixed);
    // Integers beyond 32 bits are texts there.
    check(
        "networkx-3.6.1-numbers.gml",
        "0\n1\n2\n3\n4\n-- weight:i64 (weight)\n0,1,1\n0,1,2\n1,3,9007199254740993\n2,2,3\n",
    );
    // igraph has no labels, but names.
    check("igraph-1.0.0-people.gml", PEOPLE);
    check("networkit-11.3-weights.gml", "0\n1\n2\n3\n-- \n0,1\n0,2\n1,2\n");
    let numbers = ReadOptions { ids: PickIds::Int, ..ReadOptions::default() };
    let (shown, _) = meaning_of("igraph-1.0.0-people.gml", &numbers).unwrap();
    assert!(shown.starts_with("0 age:i64=30 name:text=alice\n1 age"), "{shown}");
}

#[test]
fn pajek_of_libraries() {
    // A place and a shape for each vertex mean nothing there.
    check(
        "networkx-3.6.1-mixed.net",
        "a note:text=x & <y>\nb\ncafé\n-> weight:f32 (weight), kind:text\n\
         a,b,2.0,likes\nb,café,0.5,knows\ncafé,a,3.0,likes\n",
    );
    check("igraph-1.0.0-people.pajek", PEOPLE_EDGES);
}

#[test]
fn dot_of_libraries() {
    check(
        "igraph-1.0.0-people.dot",
        "0 age:i64=30 name:text=alice\n1 age:i64=41 name:text=bob\n2 name:text=carol\n3 age:i64=7 name:text=dave\n\
         -> weight:f64 (weight), kind:text\n0,1,1.0,a\n1,2,2.5,b\n2,0,3.0,a\n3,3,0.3,\"\"\n",
    );
    check("networkit-11.3-weights.dot", "0\n1\n2\n-- \n0,1\n0,2\n1,2\n");
}

#[test]
fn lists_of_igraph() {
    check("igraph-1.0.0-people.ncol", PEOPLE_EDGES);
    // A list of LGL is undirected, whatever the graph was.
    let undirected = PEOPLE_EDGES.replace("->", "--").replace("carol,alice,", "alice,carol,");
    let (head, mut edges) = (
        &undirected[..undirected.find("alice,bob").unwrap()],
        undirected.lines().skip(5).collect::<Vec<_>>(),
    );
    edges.sort_unstable();
    check("igraph-1.0.0-people.lgl", &format!("{head}{}\n", edges.join("\n")));
    check("igraph-1.0.0-people.leda", PEOPLE_EDGES);
    check("igraph-1.0.0-flow.dimacs", "1\n2\n3\n-> capacity:i32\n1,2,5\n2,3,4\n");
    let warnings = meaning("igraph-1.0.0-flow.dimacs").1.warnings;
    assert!(warnings[0].to_string().starts_with("2 sections not read"), "{warnings:?}");
}

#[test]
fn graph6_of_networkx() {
    let plain = "0\n1\n2\n3\n4\n-- \n";
    check("networkx-3.6.1-plain.g6", &format!("{plain}0,1\n0,2\n1,2\n3,4\n"));
    check("networkx-3.6.1-plain.s6", &format!("{plain}0,1\n0,2\n1,2\n3,4\n"));
}

/// Graphviz writes names instead of labels, and empty texts for values that are missing.
#[test]
fn gml_as_it_is_meant() {
    let graph = |rest: &str| format!("# made by hand\nCreator \"x\"\ngraph [\n{rest}]\n");
    let two = "node [ id 1 label \"\" name \"a\" size 2 graphics [ x 1 fill [ y \"]\" ] ] ]\n\
               node [ id 7 label \"\" name \"caf&eacute; &#8364;\" size \"\" ]\n";
    let warnings = means(
        "a.gml",
        &graph(&format!("comment \"a [\" directed 1 {two} edge [ source 7 target 1 w 1.5E+2 ]")),
        "a label:text= size:i64=2\ncafé € label:text=\n-> w:f32\ncafé €,a,150.0\n",
    );
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let same = "node [ id 1 label \"x\" ] node [ id 2 label \"x\" ] edge [ source 1 target 2 ]";
    means("a.gml", &graph(same), "1 label:text=x\n2 label:text=x\n-- \n1,2\n");
    let many: String = (0..1001).map(|id| format!("node [ id {id} label \"{}\" ]\n", id % 1000)).collect();
    refused(
        "a.gml",
        &[
            [&graph(&many), "another vertex is called \"0\" too; take the numbers"],
            [
                &graph("edge [ source 1 target 2 ] node [ id 1 label \"a\" ] node [ id 2 label \"b\" ]"),
                "put all vertices first",
            ],
            [&graph("directed 2"), "directed is 0 or 1"],
            [&graph("node [ id 1"), "cut short"],
            [&graph("node [ label \"a\" ]"), "no id"],
            [&graph("node [ id ]"), "no value"],
            [&graph("edge [ source 1 ]"), "no source and target"],
            [&graph("node [ id 1 label \"a ]"), "quotes"],
            ["graph [ node [ id 1 ] ] graph [ directed 1 ] graph [ directed 0 ]", "other direction"],
        ],
    );
    let exported = written(
        "a.gml",
        &graph("directed 1 node [ id 0 label \"é&\" ] edge [ source 0 target 0 w 1 ]"),
        "gml",
    );
    let rest = exported.unwrap().lines().skip(2).collect::<Vec<_>>().join(" ");
    assert_eq!(
        rest,
        "graph [   directed 1   multigraph 1   node [     id 0     label \"&#233;&amp;\"   ]   edge [     source 0     \
         target 0     w 1   ] ]"
    );
}

#[test]
fn pajek_as_it_is_meant() {
    let head = "/* note */\n*Network x\n*Vertices 4\n1 \"a b\" 0.5 0.5 0.5 box ic Red\n2 b\n4\n";
    let vertices = "3\n4\na b ic:text=Red shape:text=box x:f64=0.5 y:f64=0.5 z:f64=0.5\nb\n";
    // Neighbours were read as weights by others, and edges behind arcs in one direction.
    let text = format!("{head}*Arcslist\n1 2 3\n*Edgeslist\n2 3\n");
    let warnings = means("a.net", &text, &format!("{vertices}-> \n3,b\na b,3\na b,b\nb,3\n"));
    assert!(warnings[0].contains("1 undirected edge of a directed graph"), "{warnings:?}");
    means(
        "a.net",
        &format!("{head}*Arcs\n*Edges\n1 4 2.5\n"),
        &format!("{vertices}-- weight:f32 (weight)\na b,4,2.5\n"),
    );
    let relations = "*Vertices 2\n*Arcs :1 \"likes\"\n1 2 1 [1-5]\n*Arcs :2\n2 1 3\n*Partition p\n1\n";
    let warnings =
        means("a", relations, "1\n2\n-> weight:i32 (weight), relation:text\n1,2,1,likes\n2,1,3,2\n");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    means("a.net", "*vertices 3\n*arcs\n1 3\n", "1\n2\n3\n-> \n1,3\n");
    means("a.net", "*vertices 2\n", "1\n2\n-> \n\n");
    // The value of a line that has none is 1, if others have values.
    means("a.net", "*Vertices 2\n*Arcs\n1 2 3\n2 1\n", "1\n2\n-> weight:i32 (weight)\n1,2,3\n2,1,1\n");
    refused(
        "a.net",
        &[
            ["*Vertices 2\n*Arcs\n1 3\n", "from 1 to 2"],
            ["*Vertices 2\n1 a\n2 b\n*Arcs\n1 3\n", "no vertex before has this number"],
            ["*Vertices 2\n3 a\n", "a number from 1 to 2"],
            ["*Vertices 2\n1 \"a\n", "quotes"],
            ["*Vertices 2\n1 a x\n", "has no value"],
            ["*Vertices 2\n*Matrix\n0 1\n1 0\n", "matrix"],
            ["*Vertices 2\n*Arcs\n1 2\n*Vertices 2\n", "another network"],
            ["*Vertices\n", "number of vertices"],
            ["*Network\n*Arcs\n1 2\n", "belongs before"],
            ["*Vertices 99999999999\n1 a\n*Arcs\n1 1\n", "have no line"],
        ],
    );
}

#[test]
fn dot_as_it_is_meant() {
    let text = r#"/* a */ strict DiGraph "g" {
        # a line
        rankdir=LR; node [shape=box]; edge [w=1, k="x"]
        a:n -> b:p:s -> { c; "d \"e\"" } [w=2.5]; // chain
        subgraph cluster_1 { edge [k="y" + "z"] f -> "-1"; g [label=<<b>x</b>>, size=3] }
        f -> f
        h
    }"#;
    let warnings = means(
        "a.dot",
        text,
        "-1\na\nb\nc\nd \"e\"\nf\ng size:i64=3\nh\n-> w:f32, k:text\na,b,2.5,x\nb,\"d \"\"e\"\"\",2.5,x\n\
         b,c,2.5,x\nf,-1,1.0,yz\nf,f,1.0,x\n",
    );
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    means("a", "graph{1--2--3;2--2}", "1\n2\n3\n-- \n1,2\n2,2\n2,3\n");
    // Values are texts in quotes or without.
    means(
        "a.gv",
        "graph { a [x=\"1\", y=\"01\", z=nan]; b [x=2.5, y=2, z=1]; a -- b [weight=\"0.5\"]; b -- b [weight=1e-3] }",
        "a x:f64=1 y:text=01\nb x:f64=2.5 y:text=2 z:i64=1\n-- weight:f64 (weight)\na,b,0.5\nb,b,0.001\n",
    );
    let deep = format!("graph {{ {}", "{".repeat(1000));
    let wide = (0..300).map(|v| format!("{v} ")).collect::<String>();
    let wide = format!("graph {{ a -- {{ {wide} }} -- {{ {wide} }} }}");
    refused(
        "a.dot",
        &[
            ["digraph { a -- b }", "-> in a digraph"],
            ["graph { { a b } -- c }", "leaves a subgraph"],
            ["graph { a -- { b -- c } }", "only names of vertices"],
            ["graph { a -- b", "cut short"],
            ["graph { a [x=\"1 }", "quotes"],
            ["graph { a [x=1 }", "the name of a value"],
            ["graph { a } graph { b }", "another graph"],
            ["graph { a -- }", "belongs behind the edge"],
            ["graph { & }", "DOT does not have"],
            [&deep, "within each other"],
            [&wide, "edges between them"],
        ],
    );
    let exported = written("a.dot", "graph { a [x=\"q\\\"\"]; a -- \"b c\" [w=0.5] }", "dot").unwrap();
    let rest = exported.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(rest, "graph {\n\"a\" [x=\"q\\\"\"];\n\"b c\";\n\"a\" -- \"b c\" [w=\"0.5\"];\n}");
    assert!(written("a.csv", "source,target\na\\,b\n", "dot").unwrap_err().contains("backslash"));
    // A backslash joins lines, two do not.
    means("a.dot", "graph { a -- \"b\\\nc\\\\d\\e\" }", "a\nbc\\\\d\\e\n-- \na,bc\\\\d\\e\n");
    let two = "graph {\n\"a\";\n\"b\\\\\nc\";\n\"a\" -- \"b\\\\\nc\";\n}";
    assert!(written("a.dot", two, "dot").unwrap().contains("\"a\" -- \"b\\\\\nc\";"));
}

#[test]
fn lists_as_they_are_meant() {
    let leda =
        "LEDA.GRAPH\nvoid\nstring\n-2\n# vertices\n3\n|{}|\n|{}|\n|{}|\n2\n1 2 0 |{a b}|\n3 3 0 |{}|\n";
    means("a", leda, "1\n2\n3\n-- label:text\n1,2,a b\n3,3,\"\"\n");
    refused(
        "a.leda",
        &[
            [&leda.replace("3\n|", "4\n|"), "the label of a vertex"],
            [&leda.replace("\n2\n1", "\n3\n1"), "1 more lines"],
            [&leda.replace("\n2\n1", "\n1\n1"), "more lines than edges"],
            [&leda.replace("-2", "2"), "directed"],
            [&leda.replace("3 3 0", "3 x 0"), "source target reversal"],
            ["LEDA.GRAPH\nvoid\n", "its head"],
        ],
    );
    // A line that begins with # is a vertex, no comment.
    means("a.lgl", "# a\nb\nc\n# d\n", "a\nb\nc\nd\n-- \na,b\na,c\n");
    refused("a.lgl", &[["a\n", "begins with #"], ["# a\nb 1 2\n", "blanks"]]);
    means("a.lgl", "# a\nb 1\nc\n", "a\nb\nc\n-- weight:i64 (weight)\na,b,1\na,c,\n");
    means("a.ncol", "a b 1\nb c\n", "a\nb\nc\n-> weight:i64 (weight)\na,b,1\nb,c,\n");
    refused("a.ncol", &[["a\n", "two vertices"]]);
    means("a.sif", "a pp b c\nd\nb pd c\n", "a\nb\nc\nd\n-> interaction:text\na,b,pp\na,c,pp\nb,c,pd\n");
    means("a.sif", "a x\t-\tb y\n", "a x\nb y\n-> \na x,b y\n");
    // A tab anywhere divides all lines, also above it.
    means(
        "a.sif",
        "Protein kinase C\nA b\tpp\tC d\nProtein kinase\n",
        "A b\nC d\nProtein kinase\nProtein kinase C\n-> interaction:text\nA b,C d,pp\n",
    );
    refused("a.sif", &[["a pp\n", "source interaction target"]]);
    assert_eq!(written("a.sif", "a pp b c\nb pd c\n", "sif").unwrap(), "a\tpp\tb\na\tpp\tc\nb\tpd\tc\n");
    for interaction in ["-", ""] {
        let edge = format!("edge [ source 1 target 2 interaction \"{interaction}\" ]");
        let error = written("a.gml", &format!("graph [ directed 1 {edge} ]"), "sif").unwrap_err();
        assert!(
            error.contains(&format!("the interaction {interaction:?} cannot stand in a SIF list")),
            "{error}"
        );
    }
    assert_eq!(written("a.lgl", "# a\nb 2\nc 3\n", "lgl").unwrap(), "# a\nb 2\nc 3\n");
}

/// A pipe can be read only once; its edges may come late.
#[cfg(unix)]
#[test]
fn documents_from_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let gml: String = (0..6000).map(|v| format!("node [ id {v} ]\n")).collect();
    let pajek: String = (1..6001).map(|v| format!("{v} \"{v}\"\n")).collect();
    for (name, text, expected) in [
        ("a.gml", format!("graph [\n{gml}edge [ source 1 target 2 w 3 ]\n]\n"), "-- w:i32\n1,2,3\n"),
        ("a.net", format!("*Vertices 6000\n{pajek}*Edges\n1 2 3\n"), "-- weight:i32 (weight)\n1,2,3\n"),
    ] {
        let pipe = directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, text)
        });
        let database = directory.path().join(format!("{name}.esker"));
        let (read, options) = (ReadOptions::default(), ImportOptions::default());
        esker_import::import_files(&[pipe.to_string_lossy()], &database, &read, &options).unwrap();
        writer.join().unwrap().unwrap();
        let shown = super::shown(&database);
        assert!(shown.ends_with(expected), "{}", &shown[shown.len() - 60..]);
    }
}

/// The examples of their specification, and what its authors warn of.
#[test]
fn graph6_by_its_specification() {
    let graphs = [
        ["g6", "DQc", "0\n1\n2\n3\n4\n-- \n0,2\n0,4\n1,3\n3,4\n"],
        ["s6", ":Fa@x^", "0\n1\n2\n3\n4\n5\n6\n-- \n0,1\n0,2\n1,2\n5,6\n"],
        ["d6", "&DI?AO?", "0\n1\n2\n3\n4\n-> \n0,2\n0,4\n3,1\n3,4\n"],
        // Loops and parallel edges.
        ["s6", ":AG", "0\n1\n-- \n0,0\n0,1\n0,1\n"],
        ["g6", "?", "\n-- \n\n"],
        ["g6", "@", "0\n-- \n\n"],
    ];
    for [ending, line, expected] in graphs {
        // The first character tells which it is, not the ending.
        for name in ["a.g6", "a.s6", "a.d6"] {
            means(name, &format!("{line}\n"), expected);
        }
        assert_eq!(written("a.g6", line, ending).unwrap(), format!("{line}\n"));
    }
    // Vertices in three characters; padding that would be a loop.
    let path: String = (1..100).map(|v| format!("{},{v}\n", v - 1)).collect();
    let list = format!("source,target\n{path}");
    for [ending, padded] in [["g6", "source,target\n0,1\n2,3\n"], ["s6", "source,target\n0,2\n1,2\n"]] {
        for text in [list.as_str(), padded] {
            let gml = format!(
                "graph [ {} ]",
                text.lines()
                    .skip(1)
                    .map(|line| {
                        let (u, v) = line.split_once(',').unwrap();
                        format!("edge [ source {u} target {v} ] ")
                    })
                    .collect::<String>()
            );
            let line = written("a.gml", &gml, ending).unwrap();
            let (expected, _) = text_meaning("a.gml", &gml, &ReadOptions::default()).unwrap();
            means("a.g6", &line, &expected);
        }
    }
    refused(
        "a.g6",
        &[
            ["DQ", "cut short"],
            ["DQcc", "more bits"],
            ["DQc\nDQc\n", "another graph"],
            ["D Q", "does not have"],
            [";x", "incremental"],
            ["~", "number of vertices"],
            ["", "empty"],
            ["~~~~~~~~", "cut short"],
        ],
    );
    let loops = "graph [ edge [ source 0 target 0 ] edge [ source 0 target 1 ] edge [ source 1 target 0 ] ]";
    let error = written("a.gml", loops, "g6").unwrap_err();
    assert!(error.contains("no place for 1 self-loop and 1 parallel edge"), "{error}");
}

#[test]
fn graphs_to_be_coloured_and_flows() {
    let colour = "c x\np edge 4 2\ne 1 2\ne 3 2\n";
    means("a", colour, "1\n2\n3\n4\n-- \n1,2\n2,3\n");
    means("a", &colour.replace("edge", "col"), "1\n2\n3\n4\n-- \n1,2\n2,3\n");
    assert_eq!(written("a", colour, "col").unwrap(), "p edge 4 2\ne 1 2\ne 2 3\n");
    refused("a.col", &[["p cnf 1 1\n", "p edge"], ["p edge 2 2\ne 1 2\n", "cut short"]]);
    let flow = "p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 1.5\n";
    means("a", flow, "1\n2\n3\n-> capacity:f32\n1,2,5.0\n2,3,1.5\n");
    refused(
        "a.max",
        &[
            [&flow.replace("3 2", "3 3"), "1 more arcs"],
            [&flow.replace("3 2", "3 1"), "more arcs than the header"],
            [&flow.replace("2 3 1.5", "2 4 1"), "from 1 to 3"],
            [&flow.replace("a 2 3 1.5", "a 2 3"), "a source target capacity"],
            [&flow.replace("p max", "p min"), "begins with: p max"],
        ],
    );
}

/// Texts would have the ends of edges only, not all vertices that the header counts.
#[test]
fn counted_vertices_are_numbers() {
    let read = ReadOptions { ids: PickIds::Text, ..ReadOptions::default() };
    for (name, text) in [("a.max", "p max 9 1\na 1 2 5\n"), ("a.net", "*Vertices 9\n*Arcs\n1 2\n")] {
        let error = text_meaning(name, text, &read).unwrap_err().to_string();
        assert!(error.contains("counts its vertices"), "{error}");
    }
    assert!(text_meaning("a.net", "*Vertices 2\n1 \"a\"\n2 \"b\"\n*Arcs\n1 2\n", &read).is_ok());
}

/// Headers that promise more than memory holds, and elements that do not end.
#[test]
fn hostile_lists() {
    for (name, text) in [
        ("a.net", "*Vertices 90000000000\n*Arcs\n1 2\n".to_owned()),
        ("a.s6", ":~~~~~~~~".to_owned()),
        ("a.max", "p max 90000000000 1\na 1 2 3\n".to_owned()),
        ("a.leda", "LEDA.GRAPH\nvoid\nvoid\n-1\n90000000000\n|{}|\n".to_owned()),
        ("a.gml", format!("graph [ node [ id 1 x {}", "[ x ".repeat(1 << 20))),
        ("a.dot", format!("graph {{ a [x=<{}", "<".repeat(3 << 20))),
        ("a.dot", format!("graph {{ a [x=\"{}", "x".repeat(3 << 20))),
        ("a.ncol", "x".repeat(3 << 20)),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let options = ImportOptions { memory_bytes: 64 << 20, ..ImportOptions::default() };
        let input = Input::memory(name, text.as_bytes());
        let error =
            import_inputs(&[input], directory.path().join("a.esker"), &ReadOptions::default(), &options);
        assert!(error.is_err(), "{name}");
    }
}

/// SciPy's matrices, which keep the values of entries that come twice for their sum.
#[test]
fn matrices_of_scipy() {
    let directory = tempfile::tempdir().unwrap();
    for (text, is_weighted) in
        [("source,target,weight\n0,1,2.5\n2,0,-1\n", true), ("source,target\n0,1\n1,1\n", false)]
    {
        let bytes = written_bytes("a.csv", text, "npz").unwrap();
        let database = directory.path().join(format!("{is_weighted}.esker"));
        let input = Input::memory("a", bytes.as_slice());
        import_inputs(&[input], &database, &ReadOptions::default(), &ImportOptions::default()).unwrap();
        let expected = match is_weighted {
            true => "0\n1\n2\n-> weight:f32 (weight)\n0,1,2.5\n2,0,-1.0\n",
            false => "0\n1\n-> weight:i32 (weight)\n0,1,1\n1,1,1\n",
        };
        assert_eq!(super::shown(&database), expected);
        // Whatever is damaged or cut is refused, or read as other numbers.
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            for bytes in [&damaged[..], &bytes[..at]] {
                let read = ReadOptions { format: Some(Format::Npz), ..ReadOptions::default() };
                let mut reader = match open_inputs(&[Input::memory("a.npz", bytes)], &read) {
                    Ok(opened) => opened.reader,
                    Err(_) => continue,
                };
                let parser = reader.parser();
                while let Ok(Some(block)) = reader.next_block() {
                    assert!(parser.parse(block).unwrap().len() < 8);
                }
            }
        }
    }
}
