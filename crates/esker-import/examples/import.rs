//! Imports a file and prints what each stage took: for measurements.
//!
//! `cargo run --release -p esker-import --example import -- INPUT DATABASE [--undirected] [--memory MIB]
//! [--threads N] [--order keep|degree]`
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::format::ReadOptions;
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
    let mut options = ImportOptions::default();
    if args.iter().any(|a| a == "--undirected") {
        options.directed = Some(false);
    }
    if let Some(mebibytes) = value("--memory") {
        options.memory_bytes = mebibytes.parse::<u64>()? << 20;
    }
    if let Some(threads) = value("--threads") {
        options.threads = threads.parse()?;
    }
    match value("--order").map(String::as_str) {
        Some("keep") => options.order = NumberingOrder::Keep,
        Some("degree") => options.order = NumberingOrder::Degree,
        _ => {}
    }
    let start = Instant::now();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let reader = open_reader(&args[1..2], &ReadOptions::default())?;
    let staging = StagingOptions { replace: true, ..StagingOptions::default() };
    let report = import(&disk, reader, Path::new(&args[2]), &options, staging)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{report:#?}");
    println!("{seconds:.2} s, {:.2} M edges/s", report.rows as f64 / seconds / 1e6);
    if let Some(kibibytes) = peak_kibibytes() {
        println!("peak {} MiB", kibibytes >> 10);
    }
    Ok(())
}

/// The most memory that the process ever had, as Linux tells it.
#[allow(clippy::disallowed_methods)]
fn peak_kibibytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
