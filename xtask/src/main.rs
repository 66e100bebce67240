//! Chores of the project: `cargo xtask tidy`, `quick`, `prove`, `dist`, `duckdb` and `package`.

mod findings;
mod source;
mod modules;
mod lengths;
mod names;
mod tuples;
mod wildcards;
mod singles;
mod wording;
mod files;
mod tidy;
mod steps;
mod quick;
mod prove;
mod dist;
mod duckdb;
mod package;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  tidy [--shrink]                    check the rules of the house that no other tool checks; --shrink deletes
                                     repaired entries from xtask/known.txt
  quick [BASE]                       run the tests of the files that differ from a commit (default: HEAD)
  prove [--effort FACTOR] [NAME...]  run the slow proofs: fuzz, kills, crashes, interleavings, properties, memory
  dist [program|wheel|check]...      make a program and a wheel that need no build, and check both in a bare root
  duckdb [LIBRARY FILE]              make the extension of DuckDB, or FILE of a LIBRARY that was built
  package [--no-verify]              rehearse a release: make the package of every crate and look into each;
                                     --no-verify does not compile them";

#[allow(clippy::print_stderr)]
fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["tidy"] => tidy::run(root, false).map_err(|error| error.to_string()),
        ["tidy", "--shrink"] => tidy::run(root, true).map_err(|error| error.to_string()),
        ["quick"] => quick::run(root, "HEAD").map_err(|error| error.to_string()),
        ["quick", base] => quick::run(root, base).map_err(|error| error.to_string()),
        ["prove", ..] => prove::run(root, &arguments[1..]),
        ["package"] => package::run(root, true),
        ["package", "--no-verify"] => package::run(root, false),
        ["duckdb", ..] => duckdb::run(root, &arguments[1..]),
        ["dist", ..] => dist::run(root, &arguments[1..]),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
