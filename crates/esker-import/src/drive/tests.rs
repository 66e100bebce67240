//! Damaged inputs, in great number, from a seed.

use esker_graph::random::Random;

use super::drive;
use crate::read::format::{Format, ReadOptions};

/// Whole inputs to damage, for every text format.
const SEEDS: [(&str, Option<Format>, &str); 16] = [
    ("a.el", None, "0 1\n1 2\n12345678 3\n# c\n4 18446744073709551615\n"),
    ("a.wel", None, "0 1 5\n1 2 0.5\n2 0 -1e3\n3 4 123456.789\n"),
    ("a.txt", None, "# Directed\n# From\tTo\n0\t4\n4\t0\r\n7\t7\n"),
    ("a.csv", None, "src,dst,weight,kind\na,\"b,\n\"\"c\",1.5,x\n\"d\",e,2,\"y\"\n"),
    ("a.csv", Some(Format::Csv), "1;2;3\n4;5;6\n7;8;9\n"),
    ("a.tsv", None, "from\tto\ttime\n7\t8\t1700000000\n9\t10\t1700000001\n"),
    ("a.mtx", None, "%%MatrixMarket matrix coordinate real general\n% c\n3 3 3\n1 2 0.5\n3 1 -2e1\n2 2 1\n"),
    ("a.mtx", None, "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -7\n"),
    (
        "a.mtx",
        Some(Format::MatrixMarket),
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
    ),
    ("a.graph", None, "% c\n4 3\n2 3\n% in\n1 3\n2 1\n\n"),
    ("a.graph", Some(Format::Metis), "2 1 111 2\n9 8 7 2 5\n9 8 7 1 5\n"),
    ("a.gr", None, "c roads\np sp 3 3\na 1 2 7\na 2 3 2.5\na 3 1 1\n"),
    ("a.adj", None, "AdjacencyGraph\n4\n5\n0\n2\n2\n4\n1\n2\n0\n3\n3\n"),
    ("a.adj", Some(Format::Adjacency), "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n7\n8.5\n"),
    ("a.e", Some(Format::Graphalytics), "7 5000000000 0.5\n9 7 1\n"),
    ("a", None, "1 2\n"),
];

/// Bytes that mean something to one of the formats.
const TELLING: &[u8] = b"\0\t\n\r \"#%+,-.0123456789;:aceinps|\x1f\x8b\xef\xbb\xbf\xff";

/// Damages `bytes` in up to four places.
fn mutate(rng: &mut Random, bytes: &mut Vec<u8>) {
    let mut below = |bound: usize| rng.index(bound);
    for _ in 0..=below(4) {
        let at = below(bytes.len() + 1);
        let telling = TELLING[below(TELLING.len())];
        match below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(8),
            1 if at < bytes.len() => bytes[at] = telling,
            2 => bytes.insert(at, telling),
            3 => bytes.truncate(at),
            4 if at < bytes.len() => drop(bytes.drain(at..(at + 1 + below(9)).min(bytes.len()))),
            5 => {
                let piece = bytes[at..(at + below(12)).min(bytes.len())].to_vec();
                let to = below(bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            _ => drop(bytes.splice(
                at..at,
                [b"99999999999999999999", b"-9223372036854775808"][below(2)].iter().copied(),
            )),
        }
    }
}

/// Every damaged input gives edges or an error, and the same at any size of block.
#[test]
fn damaged_inputs_never_surprise() {
    let runs: u64 = std::env::var("ESKER_MUTATIONS").map_or(1500, |text| text.parse().unwrap());
    let mut rng = Random::new(7);
    for (name, format, seed) in SEEDS {
        // Every input fits one such block; the default size would spend the time on clearing memory.
        let whole = ReadOptions { block_bytes: 1 << 12, ..ReadOptions::default() };
        let driven = drive(name, format, seed.as_bytes(), &whole).unwrap();
        assert!(driven.edges > 0 && driven.rejected == 0, "{name} {driven:?}");
        for _ in 0..runs {
            let mut bytes = seed.as_bytes().to_vec();
            mutate(&mut rng, &mut bytes);
            let block_bytes = 1 + rng.index(40);
            let large = drive(name, format, &bytes, &whole);
            let small = drive(name, format, &bytes, &ReadOptions { block_bytes, ..whole.clone() });
            match (large, small) {
                // Where the two numbers lie in different blocks, the import refuses them once all blocks are
                // read.
                (Err(large), _) if large.to_string().contains("no number type holds both exactly") => {}
                (Ok(large), Ok(small)) => {
                    assert_eq!(large, small, "{name} {block_bytes} {}", bytes.escape_ascii());
                }
                (Err(large), Err(small)) => {
                    assert_eq!(large.to_string(), small.to_string(), "{}", bytes.escape_ascii());
                }
                (large, small) => {
                    panic!("{name} {block_bytes} {}: {large:?} but {small:?}", bytes.escape_ascii())
                }
            }
        }
    }
}
