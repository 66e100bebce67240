//! Names that columns of edge tables usually have; case, spaces and punctuation do not count.

/// Usual names of the column of the source, letters and digits only, the most usual first.
pub(crate) const SOURCES: &[&str] = &[
    "src",
    "source",
    "from",
    "u",
    "sourceid",
    "srcid",
    "fromid",
    "startid",
    "start",
    "fromnodeid",
    "fromnode",
    "sourcenode",
    "node1",
    "vertex1",
    "id1",
    "v1",
];
/// Of the target.
pub(crate) const TARGETS: &[&str] = &[
    "dst",
    "target",
    "to",
    "v",
    "targetid",
    "dstid",
    "toid",
    "endid",
    "end",
    "tonodeid",
    "tonode",
    "targetnode",
    "node2",
    "vertex2",
    "id2",
    "v2",
    "dest",
    "destination",
];
/// Of the ids of vertices.
const IDS: &[&str] = &["id", "ids", "vertex", "vertices", "vertexid", "node", "nodes", "nodeid"];
/// Of the weight.
pub(crate) const WEIGHTS: &[&str] = &["weight", "w", "wgt", "edgeweight"];
/// Of the time.
pub(crate) const TIMES: &[&str] = &["time", "timestamp", "ts", "unixts", "unixtime", "datetime"];

/// Whether a name is usual for a time.
pub(crate) fn is_time(name: &str) -> bool {
    position(&[name.to_owned()], TIMES).is_some()
}

/// Whether a line of a file of vertices has a usual name for the column of their ids.
pub(crate) fn names_ids(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|name| position(&[name.to_owned()], IDS).is_some())
}

/// Whether both ends have usual names.
pub(crate) fn names_both_ends(header: &[String]) -> bool {
    position(header, SOURCES).is_some() && position(header, TARGETS).is_some()
}

/// Whether a name is usual for the source or the target. A single letter counts only beside its fellow, for
/// it may well be an id.
pub(crate) fn is_usual_header(header: &[String]) -> bool {
    let long = |name: &&str| name.len() > 2;
    let named = |usual: &[&str]| {
        let usual: Vec<&str> = usual.iter().copied().filter(long).collect();
        position(header, &usual).is_some()
    };
    names_both_ends(header) || named(SOURCES) || named(TARGETS)
}

/// The first column with the most usual name.
pub(crate) fn position(header: &[String], usual: &[&str]) -> Option<usize> {
    let plain = |name: &String| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let header: Vec<String> = header.iter().map(plain).collect();
    usual.iter().find_map(|name| header.iter().position(|column| column == name))
}
