//! Tells the format of an input from its name and its first bytes.

use std::collections::HashSet;

use esker_format::value::decimal::is_numeral;

use super::formats::FORMATS;
use super::read::format::Format;
use super::read::input_format::{starts_with_word, without_mark};

/// What an input is taken for.
///
/// What only one format begins with decides first, then the name; any other text is a table.
///
/// # Errors
/// The bytes are of a known kind that is not read, in words.
pub(crate) fn sniff(name: &str, head: &[u8]) -> Result<Format, String> {
    if let Some(entry) = FORMATS.iter().find(|entry| (entry.input.begins)(head)) {
        return Ok(entry.format);
    }
    refuse_foreign(head)?;
    match Format::from_name(name) {
        Some(format) if format.input().always_begins_so && begins_as_list(without_mark(head)) => {
            Ok(table(without_mark(head)))
        }
        Some(format) => match (format.input().mistaken)(head) {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(format),
        },
        None => Ok(table(without_mark(head))),
    }
}

/// Refuses what begins as a file of a known kind that is not read.
fn refuse_foreign(head: &[u8]) -> Result<(), String> {
    let refused = |what: &str, remedy: &str| Err(format!("the file is {what}; {remedy}"));
    match head {
        [b'F', b'E', b'A', b'1', ..] => {
            refused("Feather of version 1", "write it again as Feather 2 or Parquet")
        }
        [b'P', b'K', 3, 4, ..] => refused("a zip archive or a spreadsheet", "unpack it, or save it as CSV"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            refused("compressed with xz", "unpack it, or pipe: xz -dc file | esker import -")
        }
        [0x04, 0x22, 0x4d, 0x18, ..] => {
            refused("compressed with lz4", "unpack it, or pipe: lz4 -dc file | esker import -")
        }
        [0x1f, 0x9d, ..] => refused("compressed with compress", "unpack it with uncompress"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => refused(
            "an array of NumPy",
            "write its rows with numpy.savetxt and fmt='%d', or pass it in Python",
        ),
        [0x89, b'H', b'D', b'F', ..] => refused("HDF5", "export its edges as CSV or Parquet"),
        _ if head.get(257..262) == Some(b"ustar") => refused("a tar archive", "unpack it first"),
        _ if is_html(head) => refused("HTML", "export its table as CSV"),
        _ if starts_with_word(head, b"<?xml") => {
            refused("XML, but neither GraphML nor GEXF", "export its edges as CSV")
        }
        _ if is_json_lines(head) => refused(
            "JSON with an object a line",
            "make a CSV of its edges first, for example: jq -r '[.source, .target] | @csv' file | esker import - ...",
        ),
        _ if is_json(head) => refused(
            "JSON without arrays of nodes and of edges or links",
            "make a CSV of its edges first, for example: jq -r '.list[] | [.source, .target] | @csv' file | esker import - ...",
        ),
        _ => match foreign(head) {
            Some(what) => refused(what, "export its edges as CSV"),
            None => Ok(()),
        },
    }
}

/// Whether a text is a page or a table of one.
fn is_html(head: &[u8]) -> bool {
    [&b"<!doctype html"[..], b"<html", b"<table"].iter().any(|mark| {
        without_mark(head)
            .trim_ascii_start()
            .get(..mark.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(mark))
    })
}

/// With what the first line of other formats begins, in small letters.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"nodedef>", "a GDF graph"),
    (b"*node data", "a VNA network"),
    (b"(tlp ", "a TLP graph of Tulip"),
    (b"dl n", "a DL network of UCINET"),
    (b"@prefix ", "RDF"),
    (b"@base ", "RDF"),
    (b"prefix ", "RDF"),
];

/// The name of a text format of graphs that is not read, if a text begins as one does.
fn foreign(head: &[u8]) -> Option<&'static str> {
    let is_comment = |line: &&[u8]| matches!(line.trim_ascii().first(), None | Some(b'#' | b'%'));
    let mut lines = without_mark(head).split(|byte| *byte == b'\n').skip_while(is_comment);
    let first = lines.next()?.trim_ascii().to_ascii_lowercase();
    if let Some((_, what)) = FOREIGN.iter().find(|(mark, _)| first.starts_with(mark)) {
        return Some(what);
    }
    if (first.starts_with(b"<") || first.starts_with(b"_:")) && first.ends_with(b" .") {
        return Some("RDF");
    }
    if is_stanzas(without_mark(head)) {
        return Some("a list of fields, as packages of Debian have it");
    }
    // Lines of vertices, a line with this sign alone, lines of edges.
    is_tgf(without_mark(head)).then_some("a TGF graph")
}

/// Whether lines begin with the name of a field and a colon, `Package: curl`, among them several in a row.
fn is_stanzas(text: &[u8]) -> bool {
    let is_field = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_name = name.first().is_some_and(u8::is_ascii_uppercase)
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
        is_name && line[name.len()..].starts_with(b": ") && !line.contains(&b'\t')
    };
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let first: Vec<&[u8]> = lines.by_ref().take(3).collect();
    let mut names: Vec<&[u8]> =
        first.iter().filter_map(|line| line.split(|byte| *byte == b':').next()).collect();
    names.dedup();
    first.len() == 3 && names.len() == 3 && first.iter().all(|line| is_field(line))
}

/// Whether lines of vertices, a line `#`, and lines of edges follow each other: the ends of the edges are
/// among the vertices, which come once each. In a list of edges, `#` alone is a comment.
fn is_tgf(text: &[u8]) -> bool {
    let words = |line: &'_ [u8]| {
        let mut words =
            line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec);
        (words.next(), words.next())
    };
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(text, |end| &text[..end]);
    let lines = || whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    if lines().filter(|line| *line == b"#").count() != 1 {
        return false;
    }
    let is_content = |line: &&[u8]| !line.is_empty() && (*line == b"#" || !matches!(line[0], b'#' | b'%'));
    let mut lines = lines().filter(is_content);
    let rows: Vec<_> = lines.by_ref().take_while(|line| *line != b"#").map(words).collect();
    let vertices: HashSet<_> = rows.iter().map(|(vertex, _)| vertex.as_deref()).collect();
    let mut edges = lines.map(words).peekable();
    if edges.peek().is_none() {
        let is_number = |word: &Option<Vec<u8>>| word.as_deref().is_some_and(is_numeral);
        return !rows.iter().all(|(source, target)| is_number(source) && is_number(target));
    }
    vertices.len() == rows.len()
        && edges.all(|(source, target)| {
            vertices.contains(&source.as_deref()) && vertices.contains(&target.as_deref())
        })
}

/// Whether one of the first two lines is an edge between numbers.
fn begins_as_list(text: &[u8]) -> bool {
    let is_row = |line: &&[u8]| !line.is_empty() && !matches!(line[0], b'#' | b'%');
    let rows = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(is_row).take(2);
    let divides = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'|');
    rows.into_iter().any(|row| {
        let mut words = row.split(divides).filter(|word| !word.is_empty());
        words.next().is_some_and(is_numeral) && words.next().is_some_and(is_numeral)
    })
}

/// Whether a text is JSON whose first line is an object of its own.
fn is_json_lines(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let ends = first.starts_with(b"{") && first.ends_with(b"}");
    ends && is_json(first) && first.len() > 2 && !first.contains(&b'[')
}

/// Whether a text begins as an object or an array of JSON does. Ids rarely begin with two such signs.
fn is_json(head: &[u8]) -> bool {
    let mut signs = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!(
        (signs.next(), signs.next()),
        (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'{' | b'[' | b']'))
    )
}

/// Blanks between columns make a SNAP list; anything else is a CSV.
fn table(text: &[u8]) -> Format {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let is_row = |line: &&[u8]| !line.is_empty() && !matches!(line[0], b'#' | b'%');
    match lines.find(is_row) {
        Some(row) if row.iter().any(|byte| matches!(byte, b',' | b';' | b'|')) => Format::Csv,
        _ => Format::Snap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        let table: [(&str, &[u8], Format); 41] = [
            ("a.txt", b"PAR1....", Format::Parquet),
            ("a", b"ARROW1\0\0", Format::Arrow),
            ("a", b"\xff\xff\xff\xff\x10\x01\0\0", Format::Arrow),
            ("a.txt", b"%%MatrixMarket matrix coordinate", Format::MatrixMarket),
            ("a.graph", b"%%matrixmarket matrix", Format::MatrixMarket),
            ("a", b"AdjacencyGraph\n3\n", Format::Adjacency),
            ("a", b"WeightedAdjacencyGraph\n3\n", Format::Adjacency),
            ("a", b"c text\nc\np sp 3 4\na 1 2 3\n", Format::Dimacs),
            ("a.graph.gz", b"3 2\n2\n1 3\n2\n", Format::Metis),
            ("a.sg", b"\0\x01", Format::Sg),
            ("a.wsg", b"\0\x01", Format::Wsg),
            ("a.el", b"1 2", Format::EdgeList),
            ("a.wel", b"1 2 3", Format::WeightedEdgeList),
            ("a.csv", b"1 2", Format::Csv),
            ("a.tsv", b"1\t2", Format::Tsv),
            ("a.txt", b"# x, y\n1\t2", Format::Snap),
            ("a.txt", b"a,b", Format::Csv),
            ("a", b"<?xml version=\"1.0\"?>\n<!-- x --><graphml xmlns=\"y\">", Format::GraphMl),
            ("a.xml", b" <graphml>", Format::GraphMl),
            ("a.xml", b"\xef\xbb\xbf<?xml version='1.0'?><gexf>", Format::Gexf),
            ("a", b"{\"directed\": true, \"nodes\": [], \"links\" : []}", Format::NodeLink),
            ("a.json", b"{\"edges\":[{", Format::NodeLink),
            ("a.json", b"{\"elements\": {\"nodes\": [", Format::Cytoscape),
            ("a.txt", b"{\"elements\": [{\"data\"", Format::Cytoscape),
            ("a", b"digraph { a -> b; b -> c; }\n", Format::Dot),
            ("a.txt", b"// drawn\nstrict graph \"g\"\n{\n a -- b\n}\n", Format::Dot),
            ("a", b"graph G {\n a -- b\n}\n", Format::Dot),
            ("a", b"graph\n[\n node [ id 1 ]\n", Format::Gml),
            ("a.txt", b"Creator \"igraph\"\nVersion 1\ngraph\n[\n", Format::Gml),
            ("a", b"# esker {}\ngraph [\n", Format::Gml),
            ("a.net", b"*Vertices 3\n1 \"a\"\n", Format::Pajek),
            ("a", b"% esker {}\n*vertices 3\n", Format::Pajek),
            ("a", b"LEDA.GRAPH\nstring\n", Format::Leda),
            ("a", b">>graph6<<DwC\n", Format::Graph6),
            ("a", b">>sparse6<<:Da@o~\n", Format::Sparse6),
            ("a", b">>digraph6<<&B??\n", Format::Digraph6),
            ("a", b"c x\np edge 2 1\ne 1 2\n", Format::Colouring),
            ("a", b"p max 2 1\n", Format::MaxFlow),
            ("a.lgl", b"# a\nb\n", Format::Lgl),
            ("-", b"", Format::Snap),
            ("-", b"c d\np q\n", Format::Snap),
        ];
        for (name, head, format) in table {
            assert_eq!(sniff(name, head), Ok(format), "{name}");
        }
        assert!(sniff("a.zip", b"PK\x03\x04").unwrap_err().starts_with("the file is a zip archive"));
        for json in [" {\n  \"a\": 1}", "{}", "[{\"source\": 1}]", "[[1, 2]]", "[]", "{\"nodes\": {}}"] {
            assert!(sniff("a.json", json.as_bytes()).unwrap_err().starts_with("the file is JSON"), "{json}");
        }
        let told = sniff("a.txt", b"{\"source\": \"a\", \"target\": \"b\"}\n{").unwrap_err();
        assert!(told.starts_with("the file is JSON with an object a line; "), "{told}");
        assert!(
            sniff("a.xml", b"<?xml version='1.0'?><html>").unwrap_err().contains("neither GraphML nor GEXF")
        );
        assert!(sniff("a", b"{\"source\": 1}\n").unwrap_err().contains("jq -r '[.source, .target]"));
        for text in ["graph theory\n", "graph,network\n", "digraph 1\n", "creator work\n", "version 1\n2 3\n"]
        {
            assert!(sniff("a", text.as_bytes()).is_ok(), "{text}");
        }
        assert_eq!(sniff("a.csv", b"[a],{b}\n"), Ok(Format::Csv));
        let told = sniff("Packages", b"Package: curl\nVersion: 8.5\nDepends: libc6 (>= 2.34)\n").unwrap_err();
        assert!(told.contains("a list of fields, as packages of Debian have it"), "{told}");
        assert!(sniff("a", b"A: b\nA: c\nB: c\n").is_ok());
        // A list with a comment that is empty, and vertices above their edges.
        for (text, is_tgf) in [
            ("1 2\n2 3\n#\n3 4\n", false),
            ("1 2\n2 3\n#\n3 4", false),
            ("1 2\n1 3\n#\n1 2\n", false),
            ("1 2\n2 3\n#\n3 4\n#\n", false),
            ("1 2\n#\n", false),
            ("1 a\n2\n#\n1 2\n", true),
            ("1 a b\n2 c\n#\n1 2 likes\n2 2", true),
            ("1 a\n2 b\n#\n", true),
        ] {
            assert_eq!(sniff("a.txt", text.as_bytes()).is_err(), is_tgf, "{text}");
        }
        // Endings that lists of edges have too.
        for ending in ["net", "paj", "max", "col", "clq", "dot", "gv", "gml", "leda", "lgr"] {
            let name = format!("a.{ending}.gz");
            assert_eq!(sniff(&name, b"# web\n1 2\n"), Ok(Format::Snap), "{name}");
            assert_eq!(sniff(&name, b"from,to\n1,2\n"), Ok(Format::Csv), "{name}");
            assert_eq!(sniff(&name, b"x y\n"), Ok(Format::from_name(&name).unwrap()), "{name}");
        }
        assert!(sniff("a.graph", b"\x01\0").unwrap_err().starts_with("a binary .graph"));
    }
}
