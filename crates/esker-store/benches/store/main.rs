//! The benchmarks of the store, in one program: `cargo bench -p esker-store --bench store -- NAME [OPTIONS]`.
//!
//! Each module documents its options. Without a name (`cargo test --bench store` and CI do that) each
//! benchmark runs once, on a small graph.
// Benchmarks print what they measure.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

use std::error::Error;
use std::process::ExitCode;

mod commits;
mod merge;
mod text;
mod tiles;
mod updates;
mod versions;

type Benchmark = (&'static str, fn() -> Result<(), Box<dyn Error>>);

const BENCHMARKS: [Benchmark; 6] = [
    ("commits", || {
        commits::main();
        Ok(())
    }),
    ("merge", || Ok(merge::main()?)),
    ("text", || {
        text::main();
        Ok(())
    }),
    ("tiles", || {
        tiles::main();
        Ok(())
    }),
    ("updates", || {
        updates::main();
        Ok(())
    }),
    ("versions", || {
        versions::main();
        Ok(())
    }),
];

/// The options: the words after the name of the benchmark, without the `--bench` that `cargo bench` adds.
fn arguments() -> impl Iterator<Item = String> {
    std::env::args().skip(2).filter(|argument| argument != "--bench")
}

/// Whether `cargo bench` runs this program, and not `cargo test`.
fn is_bench() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).filter(|name| name != "--bench");
    let is_chosen = |benchmark: &&Benchmark| name.as_ref().is_none_or(|name| name == benchmark.0);
    let chosen: Vec<&Benchmark> = BENCHMARKS.iter().filter(is_chosen).collect();
    if chosen.is_empty() || (name.is_none() && is_bench()) {
        let names = BENCHMARKS.map(|benchmark| benchmark.0).join("|");
        eprintln!("usage: cargo bench -p esker-store --bench store -- {names} [OPTIONS]");
        return ExitCode::from(2);
    }
    for (name, run) in chosen {
        println!("== {name}");
        if let Err(error) = run() {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
