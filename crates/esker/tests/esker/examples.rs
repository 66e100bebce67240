//! The programs in `examples/` print what their headers say.

use std::error::Error;
use std::io::Write;
use std::path::Path;

#[path = "../../examples/arrow_stream.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod arrow_stream;
#[path = "../../examples/commits.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod commits;
#[path = "../../examples/edge_map.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod edge_map;
#[path = "../../examples/follow.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod follow;
#[path = "../../examples/import_and_rank.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod import_and_rank;
#[path = "../../examples/larger_than_memory.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod larger_than_memory;
#[path = "../../examples/own_graph.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod own_graph;
#[path = "../../examples/plan.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod plan;
#[path = "../../examples/properties.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod properties;
#[path = "../../examples/time_travel.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod time_travel;
#[path = "../../examples/windows.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod windows;
#[path = "../../examples/writer_and_readers.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod writer_and_readers;

/// What a program prints, by its header.
fn promised(source: &str) -> String {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let block = header.skip_while(|line| line.trim() != "```text").skip(1);
    let lines = block.take_while(|line| line.trim() != "```");
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

/// The function of a program. It takes a directory for its files, and where to print.
type Program = fn(&Path, &mut dyn Write) -> Result<(), Box<dyn Error>>;

fn check(run: Program, source: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut printed = Vec::new();
    run(directory.path(), &mut printed).expect("the program ends well");
    let promised = promised(source);
    assert!(!promised.is_empty(), "the header does not say what the program prints");
    assert_eq!(String::from_utf8_lossy(&printed), promised);
}

#[test]
fn arrow_stream_prints_what_its_header_says() {
    check(arrow_stream::run, include_str!("../../examples/arrow_stream.rs"));
}

#[test]
fn commits_prints_what_its_header_says() {
    check(commits::run, include_str!("../../examples/commits.rs"));
}

#[test]
fn edge_map_prints_what_its_header_says() {
    check(edge_map::run, include_str!("../../examples/edge_map.rs"));
}

#[test]
fn follow_prints_what_its_header_says() {
    check(follow::run, include_str!("../../examples/follow.rs"));
}

#[test]
fn import_and_rank_prints_what_its_header_says() {
    check(import_and_rank::run, include_str!("../../examples/import_and_rank.rs"));
}

#[test]
fn larger_than_memory_prints_what_its_header_says() {
    check(larger_than_memory::run, include_str!("../../examples/larger_than_memory.rs"));
}

#[test]
fn own_graph_prints_what_its_header_says() {
    check(own_graph::run, include_str!("../../examples/own_graph.rs"));
}

#[test]
fn plan_prints_what_its_header_says() {
    check(plan::run, include_str!("../../examples/plan.rs"));
}

#[test]
fn properties_prints_what_its_header_says() {
    check(properties::run, include_str!("../../examples/properties.rs"));
}

#[test]
fn time_travel_prints_what_its_header_says() {
    check(time_travel::run, include_str!("../../examples/time_travel.rs"));
}

#[test]
fn windows_prints_what_its_header_says() {
    check(windows::run, include_str!("../../examples/windows.rs"));
}

#[test]
fn writer_and_readers_prints_what_its_header_says() {
    check(writer_and_readers::run, include_str!("../../examples/writer_and_readers.rs"));
}

#[test]
fn each_program_has_a_test() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    let programs = std::fs::read_dir(directory).expect("the programs").count();
    let tests = include_str!("examples.rs").matches("    check(").count() - 1; // this line has one more
    assert_eq!(tests, programs);
}
