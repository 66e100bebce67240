//! The published validation graphs of LDBC Graphalytics: all six algorithms, directed and undirected, as
//! `graphalytics-validation` runs and compares them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::place::Place;

/// How answers are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Equal numbers; unreached is `9223372036854775807`.
    Equal,
    /// The same groups of vertices, whatever they are called.
    SameGroups,
    /// Numbers at most this far apart.
    Absolute(f64),
    /// Numbers at most this far apart in relation to the expected one; unreached is `Infinity`.
    Relative(f64),
}

/// An algorithm, the options that the published tests give it, and the vertices without a path in their
/// answers.
struct Case {
    algorithm: &'static str,
    /// The directory and the ending of the answers for the example graphs.
    names: (&'static str, &'static str),
    /// For the directed and the undirected validation graph, and for the two example graphs.
    options: [&'static str; 4],
    rule: Rule,
}

const CASES: [Case; 6] = [
    Case {
        algorithm: "bfs",
        names: ("bfs", "BFS"),
        options: ["--source 1", "--source 1", "--source 1", "--source 2"],
        rule: Rule::Equal,
    },
    Case {
        algorithm: "cdlp",
        names: ("cdlp", "CDLP"),
        options: ["--iterations 5", "--iterations 5", "--iterations 2", "--iterations 2"],
        rule: Rule::Equal,
    },
    Case { algorithm: "lcc", names: ("lcc", "LCC"), options: [""; 4], rule: Rule::Absolute(1e-6) },
    Case {
        algorithm: "pagerank",
        names: ("pr", "PR"),
        options: [
            "--tolerance 0 --rounds 14",
            "--tolerance 0 --rounds 26",
            "--tolerance 0 --rounds 2",
            "--tolerance 0 --rounds 2",
        ],
        rule: Rule::Relative(1e-4),
    },
    Case {
        algorithm: "sssp",
        names: ("sssp", "SSSP"),
        options: ["--source 1", "--source 1", "--source 1", "--source 2"],
        rule: Rule::Relative(1e-4),
    },
    Case { algorithm: "wcc", names: ("wcc", "WCC"), options: [""; 4], rule: Rule::SameGroups },
];

/// How a graph may be stored: no answer depends on it.
const FORMS: [&str; 4] = [
    "--order keep",
    "--order degree --encoding compressed",
    "--order auto --encoding tiles",
    "--order degree --memory 16MiB --threads 1",
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/graphalytics").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(data(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Writes `g.v` and `g.e`: copies, or made from lists of neighbours.
fn write_graph(place: &Place, name: &str) {
    if data(&format!("{name}.v")).exists() {
        place.file("g.v", &read(&format!("{name}.v")));
        place.file("g.e", &read(&format!("{name}.e")));
        return;
    }
    let text = read(&format!("{name}-input"));
    let (mut vertices, mut edges) = (BTreeSet::<u64>::new(), String::new());
    for line in text.lines() {
        let ids: Vec<u64> = line.split_whitespace().map(|id| id.parse().unwrap()).collect();
        vertices.extend(&ids);
        ids.iter().skip(1).for_each(|target| edges += &format!("{} {target}\n", ids[0]));
    }
    let vertices: String = vertices.iter().map(|v| format!("{v}\n")).collect();
    place.file("g.v", &vertices);
    place.file("g.e", &edges);
}

/// Values by vertex. A missing one is empty.
fn values(text: &str, separator: char) -> BTreeMap<u64, String> {
    let pair = |line: &str| {
        let (vertex, value) = line.split_once(separator).unwrap();
        let is_missing = ["9223372036854775807", "Infinity"].contains(&value.trim());
        (vertex.parse().unwrap(), if is_missing { String::new() } else { value.trim().to_owned() })
    };
    text.lines().map(pair).collect()
}

fn compare(rule: Rule, found: &BTreeMap<u64, String>, expected: &BTreeMap<u64, String>, what: &str) {
    let vertices = |values: &BTreeMap<u64, String>| values.keys().copied().collect::<Vec<_>>();
    assert_eq!(vertices(found), vertices(expected), "{what}: the vertices");
    let mut groups = (BTreeMap::new(), BTreeMap::new());
    for (v, expected) in expected {
        let found = &found[v];
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
        let (a, b) = (number(found), number(expected));
        let agrees = match rule {
            Rule::Equal => found == expected,
            Rule::SameGroups => {
                groups.0.entry(found.clone()).or_insert(expected.clone()) == expected
                    && groups.1.entry(expected.clone()).or_insert(found.clone()) == found
            }
            Rule::Absolute(most) => (a - b).abs() <= most,
            Rule::Relative(most) => a == b || (a - b).abs() <= most * b,
        };
        assert!(agrees, "{what}: vertex {v} has {found}, not {expected}");
    }
}

#[test]
fn the_published_validation_graphs_agree() {
    for case in &CASES {
        let (directory, ending) = case.names;
        for (number, options) in case.options.iter().enumerate() {
            let (graph, answer) = match number {
                0 => (format!("{directory}/dir"), format!("{directory}/dir-output")),
                1 => (format!("{directory}/undir"), format!("{directory}/undir-output")),
                2 => ("example/example-directed".into(), format!("example/example-directed-{ending}")),
                _ => ("example/example-undirected".into(), format!("example/example-undirected-{ending}")),
            };
            let graph = if directory == "sssp" && number < 2 { graph + "-input" } else { graph };
            let place = Place::new();
            write_graph(&place, &graph);
            let direction = if number % 2 == 0 { "--directed" } else { "--undirected" };
            for form in FORMS {
                place.ok(&format!("import g.e g.esker --force {direction} {form}"));
                let answers = place.ok(&format!("run {} g.esker {options} --output -", case.algorithm));
                let found = values(answers.strip_prefix("vertex,value\n").unwrap(), ',');
                let what = format!("{} of {graph}, {direction} {form}", case.algorithm);
                compare(case.rule, &found, &values(&read(&answer), ' '), &what);
            }
        }
    }
}
