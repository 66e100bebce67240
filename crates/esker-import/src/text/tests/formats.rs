//! Formats with a header: small inputs with what they must give, and bad ones with what they must say.

use esker_format::io::{Disk, RealDisk};

use crate::open::open;
use crate::read::format::{Format, Pick, PickIds, ReadOptions};
use crate::read::input::Input;
use crate::read::source::IdKind;
use crate::text::tests::testing::{ReadResult, read, read_text};

fn default() -> ReadOptions {
    ReadOptions::default()
}

fn good(name: &str, text: &str, options: &ReadOptions) -> ReadResult {
    let read = read_text(name, text, options).unwrap();
    assert_eq!(read.rejected, Vec::<String>::new(), "{name} {text:?}");
    read
}

fn refused(name: &str, text: &str) -> String {
    read_text(name, text, &default()).unwrap_err().to_string()
}

const MTX: &str = "%%MatrixMarket matrix coordinate";

#[test]
fn matrix_market_of_every_symmetry() {
    let text = format!("{MTX} real general\n% comment\n\n3 3 3\n1 2 0.5\n 3  1 -2e1\n2 2 1");
    let read = good("a.mtx", &text, &default());
    assert_eq!(read.lines(), ["1 2 0.5", "3 1 -20", "2 2 1"]);
    assert_eq!(read.schema.ids, IdKind::Numbered { first: 1, num_vertices: 3 });
    assert_eq!((read.schema.directed, read.schema.both_ends, read.schema.weight), (None, false, Some(0)));

    let text = format!("{} PATTERN Symmetric\r\n3 3 2\r\n2 1\r\n3 3\r\n", MTX.to_uppercase());
    let read = good("a.txt", &text, &default());
    assert_eq!(
        (read.lines(), read.schema.directed, read.schema.weight),
        (vec!["2 1".into(), "3 3".into()], Some(false), None)
    );

    let text = format!("{MTX} integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -7\n");
    let read = good("a.mtx", &text, &default());
    assert_eq!(
        (read.lines(), read.schema.directed),
        (vec!["2 1 5".into(), "1 2 -5".into(), "3 2 -7".into(), "2 3 7".into()], Some(true))
    );

    let skip = ReadOptions { weight: Pick::Skip, ..default() };
    assert_eq!(good("a.mtx", &text, &skip).lines(), ["2 1", "1 2", "3 2", "2 3"]);
    let empty = good("a.mtx", &format!("{MTX} pattern general\n0 0 0"), &default());
    assert_eq!((empty.edges.len(), empty.schema.ids), (0, IdKind::Numbered { first: 1, num_vertices: 0 }));
}

#[test]
fn matrix_market_that_is_refused() {
    let table = [
        ("complex general\n1 1 0\n", "complex weights are not read: write the matrix as real or pattern"),
        (
            "real hermitian\n1 1 0\n",
            "Hermitian matrices are not read: write the matrix as general or symmetric",
        ),
        (
            "pattern skew-symmetric\n1 1 0\n",
            "a skew-symmetric pattern makes no sense: its values have signs; write it as general",
        ),
        (
            "real skew-symmetric\n2 2 2\n2 1 3\n2 2 1\n",
            "the matrix is skew-symmetric, so that its diagonal is 0, but it has an entry (2, 2); remove it",
        ),
        ("real odd\n1 1 0\n", "there is no symmetry \"odd\"; there are general, symmetric, skew-symmetric"),
        ("words general\n1 1 0\n", "there is no field \"words\"; there are pattern, real, integer"),
        (
            "real general\n2 3 0\n",
            "the matrix is 2 x 3, so it is no graph on one set of vertices; to take rows and columns as two sets, add 2 to each column and write 5 x 5",
        ),
        ("real general\n2 2\n", "the size line has 2 numbers, but rows, columns and entries belong there"),
        ("real general\n2 x 1\n", "the header has \"x\" where the number of columns belongs"),
        ("real general\n", "the header is missing: the file is empty or cut short"),
        (
            "pattern general\n2 2 2\n1 2\n",
            "the header promises 2 entries, but 1 came: the file is cut short; copy or download it again",
        ),
        (
            "pattern general\n2 2 1\n1 2\n2 1\n",
            "the header promises 1 entries, but 2 came: the header is wrong, or two files were joined",
        ),
        (
            "pattern general\n2 2 1\n",
            "the header promises 1 entries, but 0 came: the file is cut short; copy or download it again",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(refused("a.mtx", &format!("{MTX} {text}")), format!("a.mtx: {expected}"));
    }
    let array = refused("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
    assert!(
        array.starts_with("a.mtx: matrix array is not read, only matrix coordinate: write it as a sparse"),
        "{array}"
    );
    assert!(refused("a.mtx", "1 2 3\n").starts_with("a.mtx: the first line is not a Matrix Market banner"));
    let read =
        read_text("a.mtx", &format!("{MTX} real general\n2 2 3\n1 3 1\n1 2\n0 1 1\n"), &default()).unwrap();
    assert_eq!(
        read.rejected,
        [
            "3: \"1 3 1\": the target is 3, but the header promises ids from 1 to 2; mend the header or the line",
            "4: \"1 2\": the line has 2 columns and needs 3",
            "5: \"0 1 1\": the source is 0, but the header promises ids from 1 to 2; mend the header or the line",
        ]
    );
}

#[test]
fn dimacs_roads() {
    let text = "c roads\nc\np sp 3 3\nc more\na 1 2 7\na 2 3 2.5\r\n a  3 1 1 \n";
    for name in ["a.gr", "a.txt"] {
        let read = good(name, text, &default());
        assert_eq!(read.lines(), ["1 2 7", "2 3 2.5", "3 1 1"]);
        assert_eq!(
            (read.schema.format, read.schema.directed, read.schema.weight),
            ("dimacs", Some(true), Some(0))
        );
    }
    assert_eq!(
        refused("a.gr", "1 2\n"),
        "a.gr: the first line is \"1 2\", but a DIMACS-9 graph begins with: p sp vertices arcs"
    );
    assert_eq!(
        refused("a.gr", "p sp 3 2\na 1 2 1\n"),
        "a.gr: the header promises 2 arcs, but 1 came: the file is cut short; copy or download it again"
    );
    let read = read_text("a.gr", "p sp 2 4\na 1 2 3\ne 1 2 3\na 1 x 3\na 1 2\n", &default()).unwrap();
    assert_eq!(
        read.rejected,
        [
            "3: \"e 1 2 3\": the line begins with neither a (an edge) nor c (a comment)",
            "4: \"a 1 x 3\": the target is not an integer",
            "5: \"a 1 2\": the line has 3 columns and needs 4",
        ]
    );
}

#[test]
fn metis_of_every_kind() {
    let plain = "% comment\n4 3\n2 3\n% inside\n1 3\r\n 2  1 \n\n";
    let expected = ["1 2", "1 3", "2 1", "2 3", "3 2", "3 1"];
    let read = good("a.graph", plain, &default());
    assert_eq!(read.lines(), expected);
    assert_eq!(read.schema.ids, IdKind::Numbered { first: 1, num_vertices: 4 });
    assert_eq!((read.schema.directed, read.schema.both_ends), (Some(false), true));
    // The last lines are empty, and some writers leave them out.
    assert_eq!(good("a.graph", "4 3\n2 3\n1 3\n2 1", &default()).lines(), expected);

    let weighted = "3 2 1\n2 5\n1 5 3 6.5\n2 6.5\n";
    let read = good("a.graph", weighted, &default());
    assert_eq!(
        (read.lines(), read.schema.weight),
        (vec!["1 2 5".into(), "2 1 5".into(), "2 3 6.5".into(), "3 2 6.5".into()], Some(0))
    );
    let skip = ReadOptions { weight: Pick::Skip, ..default() };
    assert_eq!(good("a.graph", weighted, &skip).lines(), ["1 2", "2 1", "2 3", "3 2"]);
    // Vertex sizes, two vertex weights, edge weights.
    assert_eq!(good("a.graph", "2 1 111 2\n9 8 7 2 5\n9 8 7 1 5\n", &default()).lines(), ["1 2 5", "2 1 5"]);
    assert_eq!(good("a.graph", "2 1 10\n9 2\n9 1\n", &default()).lines(), ["1 2", "2 1"]);
    assert_eq!(good("a.graph", "2 1 100\n9 2\n9 1\n", &default()).lines(), ["1 2", "2 1"]);
    assert_eq!(good("a.graph", "0 0", &default()).edges.len(), 0);
}

#[test]
fn metis_blocks_end_anywhere() {
    let weighted =
        "5 6 011 2\n7 7 2 1 3 2 4 3 5 4\n% one\n1 1 1 1\n7 7 1 2 4 5 5 6\n0 0 1 3 3 5\n1 1 1 4 3 6\n";
    let plain = "% c\n7 7\n3 4 5 6 x\n\n1\n \t% x\n%\n1 5 6\n%%\n1 4\n1 4\n9\n";
    for text in [weighted, plain] {
        let whole = read_text("a.graph", text, &default()).unwrap();
        assert!(whole.edges.len() >= 12);
        for block_bytes in 1..text.len() {
            for line_bytes_max in [8, 9, 10, 11, 1000] {
                let options = ReadOptions { block_bytes, line_bytes_max, ..default() };
                let cut = read_text("a.graph", text, &options).unwrap();
                assert_eq!((&cut.edges, &cut.rejected), (&whole.edges, &whole.rejected), "{options:?}");
            }
        }
    }
}

/// A form feed ends a word but began none, so the parser stood before it for ever.
#[test]
fn metis_form_feeds_are_blanks() {
    assert_eq!(good("a.graph", "2 1\n\x0c2\n1 \x0c\n", &default()).lines(), ["1 2", "2 1"]);
}

#[test]
fn metis_that_is_wrong() {
    let table = [
        ("", "the header is missing: the file is empty or cut short"),
        ("3\n", "the first line is \"3\", but a METIS graph begins with: vertices edges [fmt [ncon]]"),
        ("3 2 7\n", "the header has \"7\" where the format belongs: three digits, each 0 or 1"),
        ("3 x\n", "the header has \"x\" where the number of edges belongs"),
        (
            "2 2\n2\n1\n",
            "the header promises 4 neighbours, two for each edge, but 2 came: the file is cut short; copy or download it again",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(refused("a.graph", text), format!("a.graph: {expected}"));
    }
    let read = read_text("a.graph", "2 3 1\n2 5 x 1 3 2\n1 5 2\n\n1\n", &default()).unwrap();
    assert_eq!(
        read.rejected,
        [
            "2: \"x\": the neighbour is not an integer",
            "2: \"3\": the neighbour is 3, but the header promises ids from 1 to 2; mend the header or the line",
            "3: \"\": the last neighbour of the line has no weight",
            "5: \"1\": the header promises 2 vertices, but more lines follow",
        ]
    );
}

#[test]
fn adjacency_graphs() {
    let text = "AdjacencyGraph\n4\n5\n0\n2\n2\n4\n1\n2\n0\n3\n3\n";
    for block_bytes in [1, 16, 24, 1 << 20] {
        let read = good("a.adj", text, &ReadOptions { block_bytes, ..default() });
        assert_eq!(read.lines(), ["0 1", "0 2", "2 0", "2 3", "3 3"]);
        assert_eq!(read.schema.ids, IdKind::Numbered { first: 0, num_vertices: 4 });
        let weighted = text.replace("Adj", "WeightedAdj") + "10\n20\n30.5\n40\n50";
        let read = good("a.txt", &weighted, &ReadOptions { block_bytes, ..default() });
        assert_eq!(read.lines(), ["0 1 10", "0 2 20", "2 0 30.5", "2 3 40", "3 3 50"]);
        let skip = ReadOptions { block_bytes, weight: Pick::Skip, ..default() };
        assert_eq!(good("a.txt", &weighted, &skip).lines(), ["0 1", "0 2", "2 0", "2 3", "3 3"]);
    }
    assert_eq!(good("a.adj", "AdjacencyGraph 0 0", &default()).edges.len(), 0);
    let table = [
        ("Graph\n", "the first word is neither AdjacencyGraph nor WeightedAdjacencyGraph: \"Graph\""),
        (
            "AdjacencyGraph\n2\n",
            "the file ends where the number of edges belongs: it is cut short; copy or download it again",
        ),
        (
            "AdjacencyGraph\n2\n1\n0\n",
            "the file ends where an offset belongs: it is cut short; copy or download it again",
        ),
        ("AdjacencyGraph\n2\nx\n0\n", "a word stands where the number of edges belongs: \"x\""),
        (
            "AdjacencyGraph\n2\n1\n0\n2\n0\n",
            "the offset of vertex 1 is 2, not between 0 and 1; the file is damaged",
        ),
        ("AdjacencyGraph\n2\n1\n1\n1\n0\n", "the first offset is 1, not 0; the file is damaged"),
        (
            "AdjacencyGraph\n2\n2\n0\n1\n0\n",
            "the file ends 1 targets too early: it is cut short; copy or download it again",
        ),
        (
            "AdjacencyGraph\n2\n1\n0\n1\n0\n0\n",
            "more numbers follow than the 1 edge of the header: the header is wrong, or two files were joined",
        ),
        (
            "WeightedAdjacencyGraph\n2\n1\n0\n1\n0\n",
            "the file ends 1 weights too early: it is cut short; copy or download it again",
        ),
        ("AdjacencyGraph\n0\n1\n", "the header promises edges but no vertices"),
        (
            "AdjacencyGraph\n99999999999\n1\n",
            "the file ends where an offset belongs: it is cut short; copy or download it again",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(refused("a.adj", text), format!("a.adj: {expected}"), "{text:?}");
    }
    let read = read_text("a.adj", "AdjacencyGraph\n2\n3\n0\n1\n7\nx\n0\n", &default()).unwrap();
    assert_eq!(
        (read.lines(), read.rejected),
        (
            vec!["1 0".to_owned()],
            vec![
                "6: \"7\": the target is 7, but the header promises ids from 0 to 1; mend the header or the line".to_owned(),
                "7: \"x\": the target is not an integer".to_owned(),
            ]
        )
    );
}

/// Writes files into a directory and reads the graph that `name` is part of.
fn read_files(files: &[(&str, &str)], name: &str, options: &ReadOptions) -> Result<ReadResult, String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        RealDisk.write(&directory.path().join(name), text.as_bytes()).unwrap();
    }
    let path = directory.path().join(name).to_str().unwrap().to_owned();
    let inputs = crate::read::input::expand(&[path], &esker_graph::Cancel::default())
        .map_err(|error| error.to_string())?;
    let shown = |text: String| text.replace(&format!("{}/", directory.path().display()), "");
    read(&inputs, options).map_err(|error| shown(error.to_string()))
}

#[test]
fn graphalytics_from_any_of_its_files() {
    let properties = "# comment\ngraph.g.1.vertex-file = g.1.v\ngraph.g.1.edge-file = g.1.e\n\
        graph.g.1.meta.vertices = 3\ngraph.g.1.meta.edges = 2\ngraph.g.1.directed = false\n\
        graph.g.1.edge-properties.names = weight\n";
    let files = [
        ("g.1.v", "7\n5000000000\n9\n"),
        ("g.1.e", "7 5000000000 0.5\n9 7 1\n"),
        ("g.1.properties", properties),
    ];
    for name in ["g.1.v", "g.1.e", "g.1.properties"] {
        for block_bytes in [1, 5, 1 << 20] {
            let read = read_files(&files, name, &ReadOptions { block_bytes, ..default() }).unwrap();
            assert_eq!(read.lines(), ["7 5000000000 0.5", "9 7 1"]);
            assert_eq!(read.vertices, ["7", "5000000000", "9"]);
            assert_eq!(
                (read.schema.directed, read.schema.ids, read.schema.weight),
                (Some(false), IdKind::Int, Some(0))
            );
            assert!(read.notes[0].ends_with("; undirected"), "{:?}", read.notes);
        }
    }
    let read = read_files(&[("g.v", "1\n\n2\r\n"), ("g.e", "")], "g.e", &default()).unwrap();
    assert_eq!(
        (read.edges.len(), read.vertices, read.schema.directed),
        (0, vec!["1".into(), "2".into()], None)
    );
    // Alone, a `.e` is an edge list like any other.
    assert_eq!(read_files(&[("g.e", "1 2\n")], "g.e", &default()).unwrap().schema.format, "snap");

    let error = |files: &[(&str, &str)]| read_files(files, "g.properties", &default()).unwrap_err();
    assert_eq!(
        error(&[("g.properties", "graph.g.directed = true\n")]),
        "g.properties: there is no file of edges beside it, which ends in .e"
    );
    assert_eq!(
        error(&[("g.properties", "graph.g.directed = yes\n"), ("g.e", "")]),
        "g.properties: directed is \"yes\", neither true nor false"
    );
    assert!(
        error(&[("g.properties", "a = b\n"), ("g.e", "")])
            .starts_with("g.properties: no line of it begins with graph.")
    );
    assert_eq!(
        error(&[("g.properties", "graph.g.meta.edges = 2\n"), ("g.e", "1 2\n")]),
        "g.e: the header promises 2 edges, but 1 came: the file is cut short; copy or download it again"
    );
    assert_eq!(
        error(&[("g.properties", "graph.g.meta.vertices = 2\n"), ("g.v", "1\n"), ("g.e", "1 2\n")]),
        "g.v: the header promises 2 vertices, but 1 came: the file is cut short; copy or download it again"
    );
}

#[test]
fn vertices_without_edges() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("vertices");
    RealDisk.write(&path, b"# ids\nzoe\n\n alice \r\nbob").unwrap();
    let options = ReadOptions { vertices: Some(path.to_str().unwrap().to_owned()), ..default() };
    let read = good("a.el", "alice carol\n", &options);
    assert_eq!(
        (read.vertices.clone(), read.lines()),
        (vec!["zoe".into(), "alice".into(), "bob".into()], vec!["alice carol".into()])
    );
    let read = read_text("a.csv", "1,2\n", &options).unwrap();
    assert_eq!(
        read.rejected[0],
        "2: \"zoe\": the vertex is not an integer; import with `ids = text` to take all ids as texts"
    );
    RealDisk.remove_file(&path).unwrap();
}

#[test]
fn formats_that_number_their_vertices_take_the_ids_of_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("vertices");
    let read = |ids: &str, options: ReadOptions| {
        let _ = RealDisk.remove_file(&path);
        RealDisk.write(&path, ids.as_bytes()).unwrap();
        let options = ReadOptions { vertices: Some(path.to_str().unwrap().to_owned()), ..options };
        read_text("a.gr", "p sp 3 2\na 1 2 1\na 3 1 4\n", &options)
    };
    let named = read("# ids\nzoe\nbob\n\nann", default()).unwrap();
    assert_eq!(
        (named.lines(), named.vertices),
        (vec!["zoe bob 1".into(), "ann zoe 4".into()], vec!["zoe".into(), "bob".into(), "ann".into()])
    );
    let ints = read("70\n5\n6\n", default()).unwrap();
    assert_eq!(
        (ints.lines(), ints.vertices),
        (vec!["70 5 1".into(), "6 70 4".into()], vec!["70".into(), "5".into(), "6".into()])
    );
    assert_eq!(read("007\n5\n6\n", default()).unwrap().vertices[0], "007");
    let refused = |ids: &str, options| read(ids, options).unwrap_err().to_string();
    assert!(
        refused("1\n9\n", default()).contains("the file has 2 ids, but the edges are between 3 vertices")
    );
    assert!(refused("a\nb\na\n", default()).contains(":3: the id stands in the file twice"));
    let ints_only = ReadOptions { ids: PickIds::Int, ..default() };
    assert!(refused("a\nb\nc\n", ints_only).contains("leave `ids = int` out"));
}

#[test]
fn choices_that_a_format_does_not_have_are_refused() {
    let refused =
        |options: ReadOptions| read_text("a.graph", "2 1\n2\n1\n", &options).unwrap_err().to_string();
    assert_eq!(
        refused(ReadOptions { source: Some("1".into()), ..default() }),
        "`source_column` means nothing for a METIS graph, whose columns are fixed; leave it out"
    );
    assert!(
        refused(ReadOptions { ids: PickIds::Text, ..default() }).starts_with("`ids = text` means nothing")
    );
    assert_eq!(
        refused(ReadOptions { weight: Pick::Column("w".into()), ..default() }),
        "`weight` means nothing for a METIS graph, whose columns are fixed; leave it out"
    );
    let two = [Input::memory("a.mtx", &b""[..]), Input::memory("b.mtx", &b""[..])];
    let named = ReadOptions { format: Some(Format::MatrixMarket), ..default() };
    assert_eq!(
        read(&two, &named).unwrap_err().to_string(),
        "2 inputs are named, but Matrix Market stands in one file; name one"
    );
    assert!(open::<&str>(&[], &default()).is_err_and(|e| e.to_string().starts_with("no input is named;")));
}
