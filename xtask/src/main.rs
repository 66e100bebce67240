//! Chores of the project: `cargo xtask tidy`, `cargo xtask quick` and `cargo xtask prove`.

mod findings;
mod source;
mod modules;
mod lengths;
mod names;
mod files;
mod tidy;
mod steps;
mod quick;
mod prove;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  tidy [--shrink]                    check the rules of the house that no other tool checks; --shrink deletes
                                     repaired entries from xtask/known.txt
  quick [BASE]                       run the tests of the files that differ from a commit (default: HEAD)
  prove [--effort FACTOR] [NAME...]  run the slow proofs: fuzz, kills, crashes, interleavings, properties, memory";

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
