//! Small well-formed inputs of every format, which use every feature that the reader has code for.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    StringViewArray, TimestampSecondArray, UInt32Array, types::Int8Type,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn edge_list() -> Vec<Vec<u8>> {
    texts(&["0 1\n1 2\n2 0\n3 3\n", "10 20\r\n20 10\r\n", "# two\n4294967295 7\n\n7 8", "a b\nb c\n"])
}

pub(crate) fn weighted_edge_list() -> Vec<Vec<u8>> {
    texts(&["0 1 5\n1 2 -7\n2 0 9\n", "0 1 0.5\n1 2 1e-3\n", "5 6 9223372036854775807\n", "a b 1\nb c 2\n"])
}

pub(crate) fn snap() -> Vec<Vec<u8>> {
    texts(&[
        "# Directed graph\n# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n900000000000\t0\n",
        "1 2\n  3   4  \n5\t6\t7\n",
        "% comment\nx#y z\nz x#y\n",
    ])
}

pub(crate) fn csv() -> Vec<Vec<u8>> {
    texts(&[
        "source,target,weight,time,kind\n1,2,0.5,100,a\n2,3,1,200,b\n3,1,,300,\"a,b\"\n",
        "\u{feff}from;to;w\r\n\"x y\";\"z\"\"q\";3\r\nz;x;4\r\n",
        "1,2\n2,3\n3,4\n",
        "u|v|note\n7|8|\"two\nlines\"\n8|9|one\n",
        "a, b , c\n\n1 ,2 ,3\n",
    ])
}

pub(crate) fn tsv() -> Vec<Vec<u8>> {
    texts(&["src\tdst\tw\nalice\tbob\t1.5\nbob\tcarol\t-2\n", "1\t2\n\t3\n4\t\n", "a\tb\tc\td\n1\t2\t3\t4\n"])
}

pub(crate) fn matrix_market() -> Vec<Vec<u8>> {
    texts(&[
        "%%MatrixMarket matrix coordinate pattern general\n% note\n3 3 3\n1 2\n2 3\n3 1\n",
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 0.5\n3 1 1e3\n4 4 -7\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -6\n",
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n",
        "%%matrixmarket MATRIX Coordinate Integer General\r\n\r\n2 5 2\r\n1 5 3\r\n2 4 1\r\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0.5\n2\n",
    ])
}

pub(crate) fn metis() -> Vec<Vec<u8>> {
    texts(&[
        "% note\n4 3\n2 3\n1\n1 4\n3\n",
        "3 2 1\n2 5\n1 5 3 6\n2 6\n",
        "3 2 11 2\n1 1 2 5\n1 1 1 5 3 6\n9 9 2 6\n",
        "3 2 100\n7 2\n7 1 3\n7 2\n",
        "3 0\n\n\n\n",
    ])
}

pub(crate) fn dimacs() -> Vec<Vec<u8>> {
    texts(&[
        "c note\np sp 3 4\na 1 2 5\na 2 1 5\na 2 3 7\nc\na 3 2 -7\n",
        "p sp 1 0\n",
        "c\r\np sp 2 1\r\na 1 2 0\r\n",
    ])
}

pub(crate) fn adjacency() -> Vec<Vec<u8>> {
    texts(&[
        "AdjacencyGraph\n3\n4\n0\n1\n3\n1\n0\n2\n1\n",
        "WeightedAdjacencyGraph\n3\n2\n0\n1\n1\n1\n2\n10\n-20\n",
        "AdjacencyGraph\n2\n0\n0\n0\n",
        "WeightedAdjacencyGraph 2 2 0 1 1 0 5 6",
    ])
}

/// Separates the three files of a Graphalytics graph.
pub(crate) const SEPARATOR: &[u8] = b"\n====\n";

pub(crate) fn graphalytics() -> Vec<Vec<u8>> {
    texts(&[
        "graph.web.vertex-file = web.v\ngraph.web.edge-file = web.e\ngraph.web.meta.vertices = 4\n\
         graph.web.meta.edges = 3\ngraph.web.directed = true\n====\n1\n2\n30\n7\n====\n1 2\n2 30\n30 1\n",
        "# note\ngraph.web.directed = false\ngraph.web.edge-properties.names = weight\n\
         graph.web.edge-properties.types = real\n====\n1\n2\n====\n1 2 0.5\n",
        "\n====\n\n====\n5 6\n",
    ])
}

pub(crate) fn gml() -> Vec<Vec<u8>> {
    texts(&[
        "Creator \"x\"\nVersion 1\ngraph\n[\n directed 1\n node [ id 0 label \"a &#233;\" n 1 graphics [ x 1.5 ] ]\n node [ id 1 label \
         \"b\" n \"12345678901\" ]\n edge [ source 0 target 1 w 2.5E-3 k \"\" ]\n]\n",
        "# esker {\"vertices\": {\"d\": \"date\"}, \"ids\": \"text\", \"id\": \"name\"}\ngraph [ multigraph 1 node [ id 5 name \"1\" d \
         \"2024-02-29\" ] edge [ source 5 target 5 ] ]",
    ])
}

pub(crate) fn pajek() -> Vec<Vec<u8>> {
    texts(&[
        "/* x */\n*Network n\n*Vertices 3\n1 \"a b\" 0.5 0.5 0 box ic Red\n3 c\n*Arcs :1 \"r\"\n1 2 2.5 l \"x &#34;\"\n*Edges\n2: 2 3 1 [5-7]\n",
        "*Vertices 3\n*Arcslist\n1 2 3\n*Edgeslist\n2 3\n*Partition p\n1\n",
        "% esker {\"edges\": {\"k\": \"text\"}, \"id\": \"label\"}\n*Vertices 1\n1 \"7\" 0 0 ellipse \"k\" \"v\"\n*Edges\n1 1 1 \"k\" \"v\"\n",
    ])
}

pub(crate) fn dot() -> Vec<Vec<u8>> {
    texts(&[
        "strict digraph \"g\" {\n# x\n rankdir=LR; edge [w=1]; node [shape=box]\n a:n -> b -> { c; d }\n\
         [w=\"2.5\"] // y\n subgraph s { e [l=<b>] e -> \"f\" + \"g\\\"\" } /* z */ }\n",
        "graph{1--2--1e-3;2[x=-.5]}",
        "// esker {\"vertices\": {\"x\": \"u64\"}, \"ids\": \"text\"}\ngraph {\n\"1\" [x=\"18446744073709551615\"];\n}\n",
    ])
}

pub(crate) fn leda() -> Vec<Vec<u8>> {
    texts(&[
        "LEDA.GRAPH\nstring\ndouble\n-1\n# v\n2\n|{a}|\n|{b}|\n# e\n2\n1 2 0 |{2.5}|\n2 2 0 |{1}|\n",
        "LEDA.GRAPH\nint\nvoid\n-2\n1\n|{7}|\n1\n1 1 0 |{}|\n",
    ])
}

pub(crate) fn ncol() -> Vec<Vec<u8>> {
    texts(&["a b 1\nb c 2.5\n", "1 2\n#x y\n"])
}

pub(crate) fn lgl() -> Vec<Vec<u8>> {
    texts(&["# a\nb 1\nc 2.5\n# d\n", "# 1\n2\n"])
}

pub(crate) fn sif() -> Vec<Vec<u8>> {
    texts(&["a pp b c\nd\n", "a b\tx\tc\td\ne\t-\tf\n"])
}

pub(crate) fn graph6() -> Vec<Vec<u8>> {
    texts(&["DQc\n", ">>graph6<<DwC\n", ":Fa@x^\n", ">>sparse6<<:Da@o~", "&DI?AO?\n", "?\n", "~?@A?"])
}

pub(crate) fn colouring() -> Vec<Vec<u8>> {
    texts(&["c x\np edge 3 2\ne 1 2\ne 3 2\n", "p col 1 0\n"])
}

pub(crate) fn max_flow() -> Vec<Vec<u8>> {
    texts(&["c x\np max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 1.5\n", "p max 1 0\n"])
}

pub(crate) fn npz() -> Vec<Vec<u8>> {
    vec![
        include_bytes!("../../crates/esker-import/tests/written/corpus/scipy/coo.npz").to_vec(),
        include_bytes!("../../crates/esker-import/tests/written/corpus/scipy/csr.npz").to_vec(),
    ]
}

pub(crate) fn sniffed() -> Vec<Vec<u8>> {
    [edge_list(), snap(), csv(), tsv(), matrix_market(), dimacs(), adjacency(), gzip()].concat()
}

/// A serialised graph of GAP, with `weight` after each neighbour.
fn gap(directed: bool, lists: &[&[u32]], weight: bool) -> Vec<u8> {
    let edges: usize = lists.iter().map(|list| list.len()).sum();
    let mut bytes = vec![u8::from(directed)];
    bytes.extend((edges as i64).to_le_bytes());
    bytes.extend((lists.len() as i64).to_le_bytes());
    for _ in 0..=usize::from(directed) {
        let mut offset = 0i64;
        bytes.extend(offset.to_le_bytes());
        for list in lists {
            offset += list.len() as i64;
            bytes.extend(offset.to_le_bytes());
        }
        for target in lists.iter().flat_map(|list| list.iter()) {
            bytes.extend(target.to_le_bytes());
            if weight {
                bytes.extend((*target * 3).to_le_bytes());
            }
        }
    }
    bytes
}

pub(crate) fn networkx() -> Vec<Vec<u8>> {
    texts(&[
        "# edges\na b {'weight': 2.5, 'kind': \"it's\", 'x': None}\nb c {'weight': 1, 'kind': 'a\\n\\x23', 'x': [1, (2, '}')]}\n",
        "#x.py\n# GMT Sun Nov 29 16:28:29 2026\n# \n1 2 3\n2\n3 1\n",
        "#x.py\n# GMT Sun Nov 29 16:28:29 2026\n# \na 2\nb {'w': np.float64(2.5)}\nc {'w': True}\nb 0\nc 1\nc {'w': False}\n",
    ])
}

pub(crate) fn graphml() -> Vec<Vec<u8>> {
    texts(&[
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n<!-- made -->\n\
         <key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"><default>1</default></key>\n\
         <key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n<graph edgedefault=\"directed\">\n\
         <node id=\"a\"><data key=\"n\">x &amp; &#233;<![CDATA[<y>]]></data></node><node id=\"b\"/>\n\
         <edge source=\"a\" target=\"b\"><data key=\"w\">2.5</data></edge>\n<edge source=\"b\" target=\"a\"/>\n\
         </graph></graphml>\n",
        "<graphml><key id=\"g\" for=\"node\" yfiles.type=\"nodegraphics\"/><key id=\"b\" for=\"all\" attr.name=\"b\" \
         attr.type=\"boolean\"/><graph edgedefault=\"undirected\"><node id=\"1\"><data key=\"g\"><y:Shape/></data><port name=\"p\"/>\
         <graph edgedefault=\"undirected\"><node id=\"2\"/></graph></node><edge id=\"e\" source=\"1\" target=\"2\" \
         directed=\"false\"><data key=\"b\">true</data></edge></graph></graphml>",
        "<graphml><key id=\"t\" for=\"edge\" attr.name=\"t\" attr.type=\"string\" esker.type=\"date\" esker.weight=\"false\"/>\
         <graph><edge source=\"5\" target=\"7\"><data key=\"t\">2024-02-29</data></edge></graph></graphml>",
    ])
}

pub(crate) fn gexf() -> Vec<Vec<u8>> {
    texts(&[
        "<?xml version=\"1.0\"?>\n<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\"><graph defaultedgetype=\"directed\" \
         timeformat=\"date\">\n<attributes class=\"node\"><attribute id=\"0\" title=\"age\" type=\"integer\"><default>3</default>\
         </attribute></attributes>\n<attributes class=\"edge\"><attribute id=\"0\" title=\"kind\" type=\"string\"/></attributes>\n\
         <nodes><node id=\"a\" label=\"A\" start=\"2024-01-01\"><attvalues><attvalue for=\"0\" value=\"7\"/></attvalues></node>\
         <node id=\"b\"><viz:color r=\"1\"/><spells><spell start=\"2024-01-01\" endopen=\"2024-02-01\"/></spells></node></nodes>\n\
         <edges><edge id=\"0\" source=\"a\" target=\"b\" weight=\"2.5\" type=\"mutual\"><attvalues><attvalue for=\"0\" value=\"x\"/>\
         </attvalues></edge>\n<edge source=\"b\" target=\"a\" weight=\"1\"><attvalues><attvalue for=\"0\" value=\"y\"/></attvalues>\
         </edge></edges></graph></gexf>\n",
        "<gexf><graph><nodes><node id=\"1\"><nodes><node id=\"2\"/></nodes></node></nodes><edges><edge source=\"1\" target=\"2\"/>\
         <edge source=\"2\" target=\"1\" type=\"undirected\" weight=\"3\"/></edges></graph></gexf>",
    ])
}

pub(crate) fn node_link() -> Vec<Vec<u8>> {
    texts(&[
        "{\"directed\": false, \"multigraph\": true, \"graph\": {\"name\": \"x\"},\n\"nodes\": [{\"id\": 0, \"a\": 1.5, \"b\": null},\n\
         {\"id\": 1, \"a\": NaN, \"c\": [1, {\"d\": \"}\"}]}],\n\"edges\": [{\"source\": 0, \"target\": 1, \"key\": 0, \"w\": 7},\n\
         {\"source\": 1, \"target\": 1, \"w\": -2, \"directed\": false}]}\n",
        "{\"nodes\":[{\"name\":\"caf\\u00e9 \\\"q\\\"\"},{\"name\":\"b\"}],\"links\":[{\"source\":0,\"target\":1,\"value\":true}]}",
        "{\"edges\":[{\"from\":\"a\",\"to\":\"b\",\"data\":{\"t\":\"2024-02-29\"}}],\"nodes\":[\"a\",\"b\",\"c\"]}",
        "{\"graph\": {\"esker\": {\"vertices\": {\"n\": \"i32\"}, \"edges\": {\"t\": \"date\"}, \"weight\": \"w\"}}, \"nodes\": \
         [{\"id\": \"a\", \"n\": 1}], \"edges\": [{\"source\": \"a\", \"target\": \"a\", \"t\": \"2024-02-29\", \"w\": 1.0}]}",
    ])
}

pub(crate) fn cytoscape() -> Vec<Vec<u8>> {
    texts(&[
        "{\"data\": [], \"directed\": true, \"elements\": {\"nodes\": [{\"data\": {\"id\": \"a\", \"value\": \"a\", \"n\": 1}},\n\
         {\"data\": {\"id\": \"b\"}, \"position\": {\"x\": 1}}], \"edges\": [{\"data\": {\"id\": \"e\", \"source\": \"a\", \"target\": \
         \"b\", \"w\": 0.5}}]}}\n",
        "{\"elements\":[{\"group\":\"nodes\",\"data\":{\"id\":\"1\"}},{\"data\":{\"source\":\"1\",\"target\":\"2\"}},{\"data\":\
         {\"id\":\"2\"}}]}",
    ])
}

pub(crate) fn sg() -> Vec<Vec<u8>> {
    vec![
        gap(false, &[&[1, 2], &[0], &[0, 2]], false),
        gap(true, &[&[1], &[2], &[0]], false),
        gap(true, &[], false),
        gap(false, &[&[], &[]], false),
    ]
}

pub(crate) fn wsg() -> Vec<Vec<u8>> {
    vec![gap(false, &[&[1, 2], &[0], &[0, 2]], true), gap(true, &[&[1], &[2], &[0]], true)]
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().copied().flat_map(u64::to_le_bytes).collect()
}

pub(crate) fn x_stream() -> Vec<Vec<u8>> {
    let edges = [(0_u32, 1_u32, 0.5_f32), (u32::MAX, 5, -3.0), (2, 2, f32::NAN)];
    let edge = |(u, v, w): (u32, u32, f32)| [u.to_le_bytes(), v.to_le_bytes(), w.to_le_bytes()].concat();
    vec![edges.into_iter().flat_map(edge).collect(), Vec::new()]
}

/// The graph of the edges 0-1 and 1-2, symmetric, without and with weights, and the arcs of it with in-lists.
pub(crate) fn gbbs() -> Vec<Vec<u8>> {
    let entries = |all: &[u32]| all.iter().copied().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let plain = [words(&[3, 4, 24 + 32 + 16, 0, 1, 3, 4]), entries(&[1, 0, 2, 1])].concat();
    let weighted = [words(&[3, 4, 24 + 32 + 32, 0, 1, 3, 4]), entries(&[1, 5, 0, 5, 2, 7, 1, 7])].concat();
    vec![plain.repeat(2), plain, weighted, words(&[0, 0, 32, 0])]
}

/// The same, byte-coded.
pub(crate) fn gbbs_bytes() -> Vec<Vec<u8>> {
    let coded = |lists: &[&[u8]]| {
        let mut offsets = vec![0];
        lists.iter().for_each(|list| offsets.push(offsets.last().unwrap_or(&0) + list.len() as u64));
        let degrees: Vec<u8> = [1_u32, 2, 1].into_iter().flat_map(u32::to_le_bytes).collect();
        [words(&[3, 4, offsets[3]]), words(&offsets), degrees, lists.concat()].concat()
    };
    let plain = coded(&[
        &[1, 0, 0, 0, 0, 0, 0, 0, 1],
        &[2, 0, 0, 0, 0, 0, 0, 0, 0x41, 2],
        &[1, 0, 0, 0, 0, 0, 0, 0, 0x41],
    ]);
    let weighted = coded(&[
        &[1, 0, 0, 0, 0, 0, 0, 0, 1, 5],
        &[2, 0, 0, 0, 0, 0, 0, 0, 0x41, 5, 2, 0xc7, 1],
        &[1, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xc7, 1],
    ]);
    let directed = [plain.clone(), plain[16..].to_vec()].concat();
    vec![plain, weighted, directed]
}

pub(crate) fn graph500() -> Vec<Vec<u8>> {
    let edges = [(0u64, 1u64), (1 << 33, 5), (7, (1 << 47) + 3), (2, 2)];
    let packed = edges.iter().flat_map(|&(u, v)| {
        let high = (u >> 32 & 0xffff) | (v >> 32 & 0xffff) << 16;
        [u as u32, v as u32, high as u32].into_iter().flat_map(u32::to_le_bytes)
    });
    vec![packed.collect(), Vec::new()]
}

pub(crate) fn graph500_wide() -> Vec<Vec<u8>> {
    let edges = [(0i64, 1i64), (1 << 40, 5), (i64::MAX, 3)];
    vec![edges.iter().flat_map(|&(u, v)| [u, v].into_iter().flat_map(i64::to_le_bytes)).collect(), Vec::new()]
}

/// Tables of edges: small integers, texts, every kind of column that a reader accepts.
fn tables() -> Result<Vec<RecordBatch>, ArrowError> {
    let column = |array: ArrayRef| array;
    let kinds: DictionaryArray<Int8Type> = vec!["a", "b", "a", "c"].into_iter().collect();
    Ok(vec![
        RecordBatch::try_from_iter([
            ("source", column(Arc::new(Int64Array::from(vec![1, 2, 3, 1 << 40])))),
            ("target", column(Arc::new(UInt32Array::from(vec![2, 3, 1, 1])))),
            ("weight", column(Arc::new(Float64Array::from(vec![0.5, 1.0, -2.0, 1e300])))),
            ("time", column(Arc::new(TimestampSecondArray::from(vec![1, 2, 3, 4])))),
            ("kind", column(Arc::new(kinds))),
        ])?,
        RecordBatch::try_from_iter_with_nullable([
            ("from", column(Arc::new(StringArray::from(vec![Some("alice"), Some("bob"), None]))), true),
            (
                "to",
                column(Arc::new(StringViewArray::from(vec!["bob", "a name longer than twelve", "alice"]))),
                false,
            ),
            ("w", column(Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))), true),
        ])?,
    ])
}

/// Writing to memory cannot fail; if it did, seeds would be missing and a test would fail.
pub(crate) fn parquet() -> Vec<Vec<u8>> {
    let write = |table: &RecordBatch, properties| {
        let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties))?;
        writer.write(table)?;
        writer.into_inner()
    };
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
    ];
    let all = || -> Result<Vec<Vec<u8>>, ParquetError> {
        let mut files = Vec::new();
        for table in tables()? {
            for (i, codec) in codecs.iter().enumerate() {
                let version =
                    if i % 2 == 0 { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 };
                let properties = WriterProperties::builder()
                    .set_compression(*codec)
                    .set_writer_version(version)
                    .set_dictionary_enabled(i % 3 == 0)
                    .set_max_row_group_row_count(Some(2));
                files.push(write(&table, properties.build())?);
            }
        }
        Ok(files)
    };
    all().unwrap_or_default()
}

pub(crate) fn arrow() -> Vec<Vec<u8>> {
    let all = || -> Result<Vec<Vec<u8>>, ArrowError> {
        let mut files = Vec::new();
        for table in tables()? {
            for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
                let options = || IpcWriteOptions::default().try_with_compression(compression);
                let mut file = FileWriter::try_new_with_options(Vec::new(), &table.schema(), options()?)?;
                file.write(&table)?;
                file.write(&table)?;
                file.finish()?;
                files.push(file.into_inner()?);
                let mut stream = StreamWriter::try_new_with_options(Vec::new(), &table.schema(), options()?)?;
                stream.write(&table)?;
                files.push(stream.into_inner()?);
            }
        }
        Ok(files)
    };
    all().unwrap_or_default()
}

/// The text inputs of all compressions: one small, one of many lines, one of two members.
fn compressed(compress: impl Fn(&[u8]) -> std::io::Result<Vec<u8>>) -> Vec<Vec<u8>> {
    let small = b"source,target\n1,2\n2,3\n".to_vec();
    let many: Vec<u8> = (0..200).flat_map(|i| format!("{i},{}\n", i * 7 % 200).into_bytes()).collect();
    let all = || {
        Ok([compress(&small)?, compress(&many)?, [compress(&small)?, compress(b"5,6\n")?].concat()].to_vec())
    };
    all().unwrap_or_else(|_: std::io::Error| Vec::new())
}

pub(crate) fn gzip() -> Vec<Vec<u8>> {
    compressed(|bytes| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes)?;
        encoder.finish()
    })
}

pub(crate) fn zstd() -> Vec<Vec<u8>> {
    compressed(|bytes| zstd::encode_all(bytes, 3))
}

pub(crate) fn bzip2() -> Vec<Vec<u8>> {
    compressed(|bytes| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
        encoder.write_all(bytes)?;
        encoder.finish()
    })
}
