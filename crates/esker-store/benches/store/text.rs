//! Megabytes per second of the text readers, on one thread: cutting blocks and parsing them, separately.
//!
//! `cargo bench -p esker-store --bench store -- text` takes 64 MiB of each kind, in memory. `cargo test` runs
//! it on 64 KiB and checks the counts only. The bound: `copy` reads and writes every byte once.

use std::fmt::Write;
use std::time::Instant;

use esker_graph::random::Random;
use esker_import::open::open_inputs;
use esker_import::read::format::ReadOptions;
use esker_import::read::input::Input;

const VERTICES: u64 = 1 << 22;

type LineWriter = fn(&mut String, u64, u64, u64);

/// Name of the input, its header, and a writer of its lines.
const KINDS: [(&str, &str, LineWriter); 9] = [
    ("plain.el", "", |out, u, v, _| writeln!(out, "{u} {v}").unwrap()),
    ("integers.wel", "", |out, u, v, w| writeln!(out, "{u} {v} {}", w % 256).unwrap()),
    ("floats.wel", "", |out, u, v, w| writeln!(out, "{u} {v} 0.{}", w % 100_000).unwrap()),
    ("wide.el", "", |out, u, v, w| writeln!(out, "{} {}", u * 1_000_003 + w, v * 1_000_003).unwrap()),
    ("integers.csv", "src,dst,weight\n", |out, u, v, w| writeln!(out, "{u},{v},{w}").unwrap()),
    ("texts.csv", "src,dst\n", |out, u, v, _| writeln!(out, "user-{u},user-{v}").unwrap()),
    ("quoted.csv", "src,dst,weight\n", |out, u, v, w| {
        writeln!(out, "\"user, {u}\",\"user, {v}\",{w}").unwrap();
    }),
    ("roads.gr", "", |out, u, v, w| writeln!(out, "a {} {} {}", u + 1, v + 1, w % 10_000).unwrap()),
    ("lists.graph", "", |out, u, v, w| write!(out, "{} {} {} ", u + 1, v + 1, w % VERTICES + 1).unwrap()),
];

fn input(kind: usize, bytes: usize) -> (String, u64) {
    let (name, header, line) = KINDS[kind];
    let mut random = Random::new(7);
    let mut body = String::with_capacity(bytes + 100);
    body.push_str(header);
    let mut edges = 0;
    while body.len() < bytes {
        line(&mut body, random.below(VERTICES), random.below(VERTICES), random.below(1 << 20));
        edges += 1;
    }
    match name {
        "roads.gr" => (format!("p sp {VERTICES} {edges}\n{body}"), edges),
        "lists.graph" => {
            // An even number of neighbours, because each edge is listed twice.
            let odd = edges * 3 % 2;
            (
                format!("{VERTICES} {}\n{body}{}\n", (edges * 3 + odd) / 2, if odd == 1 { "1" } else { "" }),
                edges * 3 + odd,
            )
        }
        _ => (body, edges),
    }
}

pub(crate) fn main() {
    let is_bench = crate::is_bench();
    let bytes = if is_bench { 64 << 20 } else { 64 << 10 };
    if is_bench {
        println!("{:14} {:>10} {:>10} {:>10}  edges/s", "input", "cut MB/s", "parse MB/s", "copy MB/s");
    }
    for (kind, (name, ..)) in KINDS.into_iter().enumerate() {
        let (text, edges) = input(kind, bytes);
        let megabytes = text.len() as f64 / 1e6;
        let copy = Instant::now();
        let input = Input::memory(name, text.as_bytes());
        let copy = copy.elapsed().as_secs_f64();
        let mut reader = open_inputs(&[input], &ReadOptions::default()).unwrap().reader;
        let parser = reader.parser();
        let (mut cut, mut parse, mut count) = (0.0, 0.0, 0);
        loop {
            let start = Instant::now();
            let Some(block) = reader.next_block().unwrap() else { break };
            cut += start.elapsed().as_secs_f64();
            let start = Instant::now();
            let batch = parser.parse(block).unwrap();
            count += batch.len() as u64;
            assert_eq!(batch.rejected, []);
            drop(batch);
            parse += start.elapsed().as_secs_f64();
        }
        assert_eq!(count, edges, "{name}");
        if is_bench {
            let rate = |seconds: f64| megabytes / seconds;
            println!(
                "{name:14} {:10.0} {:10.0} {:10.0}  {:.1} M",
                rate(cut),
                rate(parse),
                rate(copy),
                edges as f64 / parse / 1e6
            );
        }
    }
}
