//! `cargo xtask prove`: the slow proofs, one after another, and a summary for the records.

use std::path::Path;

use crate::files::git;
use crate::steps::{Ended, Step};

/// A proof: its name, its commands, and which lines of their output belong to a record.
struct Proof {
    name: &'static str,
    steps: Vec<Step>,
    keep: fn(&str) -> bool,
}

fn is_result(line: &str) -> bool {
    line.starts_with("test result:") && !line.contains(" 0 passed")
}

fn is_table(line: &str) -> bool {
    line.starts_with('|')
}

/// All proofs. `effort` multiplies inputs, kills, cases and seconds; 1 takes some hours on two cores.
fn proofs(effort: f64) -> Vec<Proof> {
    let times = |count: u32| ((f64::from(count) * effort) as u32).max(1);
    let test = |what: &str| Step::new(&format!("cargo test {what}"));
    vec![
        Proof {
            name: "fuzz",
            steps: vec![Step::new(&format!("cargo run -p esker-fuzz -- --inputs {}", times(1_000_000)))],
            keep: is_table,
        },
        Proof {
            name: "kills",
            steps: vec![
                Step::new("cargo build --release -p esker-cli"),
                Step::new(&format!(
                    "python3 tests/kill/kill_import.py --esker target/release/esker --edges 1000000 --times {}",
                    times(1000)
                )),
                test("-p esker-store --test store killed_at_random_moments")
                    .with("ESKER_TEST_KILLS", times(1000)),
                test("-p esker-cli --test cli an_interrupted_addition_says")
                    .with("ESKER_TEST_KILLS", times(1000)),
                test("-p esker-cli --test cli killed_while_edges_expire").with("ESKER_TEST_KILLS", times(1000)),
                test("-p esker-cli --test cli killed_at_once").with("ESKER_TEST_KILLS", times(1000)),
                test("-p esker-cluster --test processes random_failures").with("ESKER_TEST_KILLS", times(1000)),
                test("-p esker-cli --features cluster --test cli random_failures_leave_all_machines")
                    .with("ESKER_TEST_KILLS", times(1000)),
            ],
            keep: |line| !line.is_empty() && !line.starts_with("running"),
        },
        Proof {
            name: "crashes",
            steps: vec![
                test("-p esker-store --lib crash_tests").with("ESKER_TEST_ROUNDS", times(200)),
                test("-p esker-store --test store stress").with("ESKER_TEST_SECONDS", times(600)),
                test("-p esker-cluster --lib whatever_fails_in_whatever_order").with("ESKER_TEST_RUNS", times(10_000)),
            ],
            keep: is_result,
        },
        Proof {
            name: "interleavings",
            steps: vec![test("--manifest-path tests/interleave/Cargo.toml")],
            keep: is_result,
        },
        Proof {
            name: "properties",
            steps: vec![
                test("-p esker-graph -p esker-algo -p esker-format -p esker-layers -p esker-store -p esker-import")
                    .with("ESKER_CASES", times(2000)),
                test("-p esker-graph -p esker-algo -p esker-format -p esker-layers -p esker-store -p esker-import --features id64")
                    .with("ESKER_CASES", times(1000)),
                test("-p esker --test esker every_form_of").with("ESKER_CASES", times(400)),
                // Every triple of values of the axes of the matrix.
                test("-p esker --test esker every_cell_of_the_matrix -- --nocapture")
                    .with("ESKER_STRENGTH", 3)
                    .with("ESKER_ARRAYS", times(1)),
            ],
            keep: |line| is_result(line) || line.contains(" refused"),
        },
        Proof {
            name: "memory",
            steps: vec![
                test("-p esker-store --test memory"),
                test("-p esker-cli --test cli limits").with("ESKER_TEST_EDGES", times(3_000_000)),
                Step::new("cargo bench -p esker-algo --bench catalogue -- --memory yes --scale 16"),
            ],
            keep: |line| is_result(line) || line.contains("estimate"),
        },
    ]
}

/// Runs the proofs whose names are given, or all, and prints a summary in Markdown. Returns whether all
/// succeeded.
#[allow(clippy::print_stdout)]
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, String> {
    let (effort, names) = match arguments {
        [option, effort, names @ ..] if option == "--effort" => {
            (effort.parse().map_err(|_| format!("--effort {effort}: not a number"))?, names)
        }
        names => (1.0, names),
    };
    let mut proofs = proofs(effort);
    if let Some(name) = names.iter().find(|name| !proofs.iter().any(|proof| proof.name == **name)) {
        let known: Vec<_> = proofs.iter().map(|proof| proof.name).collect();
        return Err(format!("no proof is called {name}: there are {}", known.join(", ")));
    }
    proofs.retain(|proof| names.is_empty() || names.iter().any(|name| name == proof.name));
    let mut results = Vec::new();
    for proof in &proofs {
        for step in &proof.steps {
            let ended = step.run(root, proof.keep).map_err(|error| format!("{}: {error}", step.line()))?;
            results.push((proof.name, step, ended));
        }
    }
    let commit = git(root, &["describe", "--always", "--dirty"]).map_err(|error| error.to_string())?;
    println!("\n{}", summary(commit.trim(), &machine(), &results));
    Ok(results.iter().all(|(_, _, ended)| ended.success))
}

/// Processor, number of cores and memory, as far as the system tells.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".to_owned());
    format!("{processor}, {cores} cores, memory {memory}")
}

/// A table of the steps, then what each of them printed for the record.
fn summary(commit: &str, machine: &str, results: &[(&str, &Step, Ended)]) -> String {
    let mut lines =
        vec![format!("# Proofs of {commit}"), String::new(), format!("{machine}."), String::new()];
    lines.extend(["| proof | command | result | seconds |", "| --- | --- | --- | ---: |"].map(str::to_owned));
    for (name, step, ended) in results {
        let result = if ended.success { "passed" } else { "FAILED" };
        lines.push(format!("| {name} | `{}` | {result} | {} |", step.line(), ended.took.as_secs()));
    }
    for (name, step, ended) in results.iter().filter(|(_, _, ended)| !ended.kept.is_empty()) {
        lines.extend([String::new(), format!("{name}: `{}`", step.line()), String::new()]);
        let indent = if ended.kept[0].starts_with('|') { "" } else { "    " };
        lines.extend(ended.kept.iter().map(|line| format!("{indent}{line}")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{proofs, summary};
    use crate::steps::{Ended, Step};

    #[test]
    fn effort_scales_every_count() {
        let lines = |effort| -> Vec<String> {
            proofs(effort).iter().flat_map(|proof| &proof.steps).map(Step::line).collect()
        };
        assert!(lines(1.0).iter().any(|line| line.ends_with("--inputs 1000000")));
        assert!(lines(0.001).iter().any(|line| line.ends_with("--inputs 1000")));
        assert!(lines(0.001).iter().any(|line| line.starts_with("ESKER_TEST_KILLS=1 ")));
    }

    #[test]
    fn a_summary_tells_what_failed_and_what_was_printed() {
        let step = Step::new("cargo test").with("ESKER_CASES", 5);
        let ended =
            Ended { success: false, took: Duration::from_secs(7), kept: vec!["test result: bad".to_owned()] };
        let text = summary("abc", "a machine", &[("properties", &step, ended)]);
        assert!(text.contains("| properties | `ESKER_CASES=5 cargo test` | FAILED | 7 |"), "{text}");
        assert!(text.ends_with("\n    test result: bad"), "{text}");
    }
}
