//! The fuzzer as a command: `cargo run -p esker-fuzz -- --inputs 1000000 --reader csv`. See `fuzz/README.md`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use esker_fuzz::run::{Campaign, CampaignReport, HANG_SECONDS, case, collect, keep_panics_quiet, run};
use esker_fuzz::target::{TARGETS, Target};

const USAGE: &str = "usage: esker-fuzz [--reader NAME|all] [--inputs N] [--seed N] [--threads N] [--collect]";

struct Arguments {
    reader: String,
    campaign: Campaign,
    collect: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        reader: "all".to_owned(),
        campaign: Campaign { inputs: 100_000, seed: 1, threads: 2 },
        collect: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--collect" {
            parsed.collect = true;
            continue;
        }
        let value = words.next().ok_or(USAGE)?;
        let number = || value.parse::<u64>().map_err(|_| format!("{word} {value}: not a number\n{USAGE}"));
        match word.as_str() {
            "--reader" => parsed.reader = value,
            "--inputs" => parsed.campaign.inputs = number()?,
            "--seed" => parsed.campaign.seed = number()?,
            "--threads" => parsed.campaign.threads = number()?.max(1),
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(parsed)
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let chosen = |target: &&Target| arguments.reader == "all" || arguments.reader == target.name;
    let targets: Vec<&Target> = TARGETS.iter().filter(chosen).collect();
    if targets.is_empty() {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("no reader is called {:?}; they are {}", arguments.reader, names.join(", "));
        return ExitCode::from(2);
    }
    keep_panics_quiet();
    println!(
        "| reader | inputs | read | of these with lines left out | refused | edges | kinds of message | failures | slowest | seconds |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut failed = false;
    for target in targets {
        let begun = Instant::now();
        let report = run(
            target,
            &arguments.campaign,
            |number| give_up(target, &arguments.campaign, number),
            |case| {
                eprintln!("{}: case {case} of {}", target.name, arguments.campaign.inputs);
            },
        );
        print_row(target.name, &report, begun.elapsed());
        failed |= !report.failures.is_empty();
        for (number, (story, bytes)) in report.failures.values().enumerate() {
            save(target.name, number, bytes);
            eprintln!("{} failure {number}: {story}", target.name);
        }
        if arguments.collect {
            match collect(target, &report) {
                Ok(count) => eprintln!("{}: {count} inputs in the corpus", target.name),
                Err(error) => eprintln!("{}: cannot write the corpus: {error}", target.name),
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print_row(name: &str, report: &CampaignReport, elapsed: Duration) {
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {:.0} ms | {:.0} |",
        report.inputs,
        report.read,
        report.with_rejected,
        report.refused,
        report.edges,
        report.kinds.len(),
        report.failures.len(),
        report.slowest.as_secs_f64() * 1000.0,
        elapsed.as_secs_f64(),
    );
}

/// Keeps a failing input; it moves to the corpus with the fix.
fn save(name: &str, number: usize, bytes: &[u8]) {
    let folder = std::path::Path::new("target/found");
    let path = folder.join(format!("{name}-{number}"));
    match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes)) {
        Ok(()) => eprintln!("{name} failure {number}: the input is in {}", path.display()),
        Err(error) => eprintln!("{name} failure {number}: cannot write {}: {error}", path.display()),
    }
}

/// Ends the process, because nothing can stop a thread that hangs.
fn give_up(target: &Target, campaign: &Campaign, number: u64) {
    let (bytes, way) = case(target, &(target.seeds)(), campaign, number);
    save(target.name, number as usize, &bytes);
    eprintln!("{}: case {number}, way {way} takes more than {HANG_SECONDS} seconds", target.name);
    std::process::exit(3);
}
