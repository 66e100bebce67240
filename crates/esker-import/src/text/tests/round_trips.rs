//! Random graphs, printed in every format and read back.

use std::fmt::Write;

use esker_graph::random::Random;

use crate::read::format::ReadOptions;
use crate::text::tests::testing::read_text;

/// An edge between vertices from 0, with a weight in quarters.
type Edge = (u64, u64, i64);

fn graph(rng: &mut Random) -> (u64, Vec<Edge>) {
    let n = 1 + rng.below(12);
    let m = rng.below(30);
    let edge = |_| (rng.below(n), rng.below(n), rng.below(100) as i64 - 20);
    (n, (0..m).map(edge).collect())
}

fn weight(quarters: i64) -> String {
    (quarters as f64 / 4.0).to_string()
}

/// A name that needs quotes, or looks like a comment.
fn label(vertex: u64) -> String {
    ["#tag", "a,b", "say \"hi\"", "two\nlines", " blank ", "; bar |", "plain", "ümlaut"][vertex as usize % 8]
        .to_owned()
        + &vertex.to_string()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// What comes back, in order, as words.
type Expected = Vec<Vec<String>>;

fn lines(edges: &[Edge], base: u64, weighted: bool) -> Expected {
    let words = |&(u, v, w): &Edge| {
        let mut words = vec![(u + base).to_string(), (v + base).to_string()];
        words.extend(weighted.then(|| weight(w)));
        words
    };
    edges.iter().map(words).collect()
}

fn table(head: &str, rows: &Expected, separator: &str, end: &str) -> String {
    rows.iter().fold(head.to_owned(), |mut text, row| {
        write!(text, "{}{end}", row.join(separator)).unwrap();
        text
    })
}

fn tables(edges: &[Edge]) -> Vec<(&'static str, String, Expected)> {
    let (plain, weighted) = (lines(edges, 0, false), lines(edges, 0, true));
    let names: Expected = edges.iter().map(|&(u, v, w)| vec![label(u), label(v), weight(w)]).collect();
    let quotes: Expected =
        names.iter().map(|row| vec![quoted(&row[0]), quoted(&row[1]), row[2].clone()]).collect();
    vec![
        ("a.el", table("", &plain, " ", "\n"), plain.clone()),
        ("a.el", table("# c\n", &plain, "  \t", " \r\n"), plain.clone()),
        ("a.txt", table("# x\n", &plain, "\t", "\n# y\n"), plain.clone()),
        ("a.wel", table("", &weighted, " ", "\n"), weighted.clone()),
        ("a.csv", table("src,dst,weight\n", &weighted, ",", "\r\n"), weighted.clone()),
        ("a.csv", table("u;v;w\n", &weighted, " ; ", "\n\n"), weighted),
        ("a.csv", table("from,to,w\n", &quotes, ",", "\n"), names.clone()),
        ("a.tsv", table("Source\tTarget\tWeight\n", &quotes, "\t", "\r\n"), names),
    ]
}

fn matrices(n: u64, edges: &[Edge]) -> Vec<(&'static str, String, Expected)> {
    let head =
        |kind: &str| format!("%%MatrixMarket matrix coordinate {kind}\n% c\n{n} {n} {}\n", edges.len());
    let (plain, weighted) = (lines(edges, 1, false), lines(edges, 1, true));
    // The diagonal of a skew-symmetric matrix is 0.
    let skew: Expected = weighted.iter().filter(|row| row[0] != row[1]).cloned().collect();
    let back = |row: &Vec<String>| {
        let negated = -row[2].parse::<f64>().unwrap() + 0.0;
        [row.clone(), vec![row[1].clone(), row[0].clone(), negated.to_string()]]
    };
    let skew_head = format!("%%MatrixMarket matrix coordinate real skew-symmetric\n{n} {n} {}\n", skew.len());
    let roads: Expected = weighted.iter().map(|row| [vec!["a".into()], row.clone()].concat()).collect();
    vec![
        ("a.mtx", table(&head("pattern general"), &plain, " ", "\n"), plain),
        ("a.mtx", table(&head("real symmetric"), &weighted, "  ", " \n"), weighted.clone()),
        ("a.mtx", table(&skew_head, &skew, " ", "\n"), skew.iter().flat_map(back).collect()),
        ("a.gr", table(&format!("c x\np sp {n} {}\n", edges.len()), &roads, " ", "\nc y\n"), weighted),
    ]
}

fn lists(n: u64, edges: &[Edge]) -> Vec<(&'static str, String, Expected)> {
    let mut by_source = edges.to_vec();
    by_source.sort_by_key(|edge| edge.0);
    let offsets: Vec<String> =
        (0..n).map(|v| by_source.partition_point(|edge| edge.0 < v).to_string()).collect();
    let targets: Vec<String> = by_source.iter().map(|edge| edge.1.to_string()).collect();
    let weights: Vec<String> = by_source.iter().map(|edge| weight(edge.2)).collect();
    let head = vec![n.to_string(), edges.len().to_string()];
    let plain = [vec!["AdjacencyGraph".into()], head.clone(), offsets.clone(), targets.clone()].concat();
    let weighted = [vec!["WeightedAdjacencyGraph".into()], head, offsets, targets, weights].concat();

    // METIS: both ends of every edge that is no loop.
    let proper = edges.iter().filter(|edge| edge.0 != edge.1);
    let mut ends: Vec<Edge> = proper.flat_map(|&(u, v, w)| [(u, v, w), (v, u, w)]).collect();
    ends.sort_by_key(|edge| edge.0);
    let metis = |format: &str, lead: &str, weighted: bool| {
        let mut text = format!("{n} {} {format}\n", ends.len() / 2);
        for vertex in 0..n {
            text += lead;
            for &(_, v, w) in ends.iter().filter(|edge| edge.0 == vertex) {
                write!(text, "{} ", v + 1).unwrap();
                if weighted {
                    write!(text, "{} ", weight(w)).unwrap();
                }
            }
            text += "\n";
        }
        text
    };
    vec![
        ("a.adj", plain.join("\n"), lines(&by_source, 0, false)),
        ("a.adj", weighted.join("\n") + "\n", lines(&by_source, 0, true)),
        ("a.graph", metis("", "", false), lines(&ends, 1, false)),
        ("a.graph", metis("001", "", true), lines(&ends, 1, true)),
        ("a.graph", metis("111 2", "5 6 7 ", true), lines(&ends, 1, true)),
    ]
}

#[test]
fn random_graphs_come_back_from_every_format() {
    let mut rng = Random::new(1);
    for _ in 0..60 {
        let (n, edges) = graph(&mut rng);
        let inputs = [tables(&edges), matrices(n, &edges), lists(n, &edges)].concat();
        for (name, text, expected) in inputs {
            for block_bytes in [1 + rng.index(64), 1 << 14] {
                let line_bytes_max = 64.max(block_bytes);
                let options = ReadOptions { block_bytes, line_bytes_max, ..ReadOptions::default() };
                let read = read_text(name, &text, &options).unwrap();
                assert_eq!(read.rejected, Vec::<String>::new(), "{name}\n{text}");
                assert_eq!(read.edges, expected, "{name}\n{text}");
            }
        }
    }
}
