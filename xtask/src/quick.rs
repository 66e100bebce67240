//! `cargo xtask quick`: the tests of what a change touches.
//!
//! A source file maps to the unit tests below its module; a file of `esker-algo` also to the integration
//! tests that name it. The map is made for speed, not for proof: `./test.sh` runs everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::files::git;
use crate::steps::Step;

/// Integration tests of `esker-algo` for a file that most algorithms use.
const SAMPLE: [&str; 6] = ["bfs", "kcore", "pagerank", "sssp", "triangles", "wcc"];
/// A test that names more algorithms checks a property of all of them, not one.
const ALGORITHMS_MAX: usize = 3;

/// A package and one of its test programs: `--lib`, `--test NAME`, or nothing for all.
type Target = (String, String);

/// Chosen tests: the names to run of each program; none means all.
#[derive(Debug, Default)]
struct Plan {
    tests: BTreeMap<Target, Option<BTreeSet<String>>>,
    others: BTreeSet<Step>,
}

impl Plan {
    fn add(&mut self, package: &str, program: &str, filter: &str) {
        let names = self
            .tests
            .entry((package.to_owned(), program.to_owned()))
            .or_insert_with(|| Some(BTreeSet::new()));
        if let Some(names) = names {
            names.insert(filter.to_owned());
        }
    }

    fn add_all(&mut self, package: &str, program: &str) {
        self.tests.insert((package.to_owned(), program.to_owned()), None);
    }

    fn other(&mut self, line: &str) {
        self.others.insert(Step::new(line));
    }

    fn steps(self) -> Vec<Step> {
        let test = |((package, program), filters): (Target, Option<BTreeSet<String>>)| {
            let filters = filters.into_iter().flatten().collect::<Vec<_>>().join(" ");
            Step::new(&format!("cargo test --quiet -p {package} {program} -- {filters}"))
                .with("ESKER_CASES", 16)
        };
        self.tests.into_iter().map(test).chain(self.others).collect()
    }
}

/// Runs `tidy`, the formatter and the chosen tests; stops at the first failure. Returns whether all passed.
#[allow(clippy::print_stdout)]
pub(crate) fn run(root: &Path, base: &str) -> std::io::Result<bool> {
    let start = Instant::now();
    let mut plan = Plan::default();
    let changed = changed(root, base)?;
    for path in &changed {
        choose(root, path, &mut plan)?;
    }
    let mut steps = vec![Step::new("cargo fmt --all --check"), Step::new("cargo xtask tidy")];
    steps.extend(plan.steps());
    for step in &steps {
        if !step.run(root, |_| false)?.success {
            println!("\nquick: failed: {}", step.line());
            return Ok(false);
        }
    }
    println!("\nquick: {} files changed, all passed in {} s", changed.len(), start.elapsed().as_secs());
    Ok(true)
}

/// Files that differ from a commit, and new ones.
fn changed(root: &Path, base: &str) -> std::io::Result<BTreeSet<PathBuf>> {
    let mut names = git(root, &["diff", "--name-only", "--diff-filter=d", base])?;
    names += &git(root, &["ls-files", "--others", "--exclude-standard"])?;
    Ok(names.lines().map(PathBuf::from).collect())
}

fn choose(root: &Path, path: &Path, plan: &mut Plan) -> std::io::Result<()> {
    let text = path.to_string_lossy();
    let words: Vec<&str> = text.split('/').collect();
    match words[..] {
        ["crates", package, "src", ..] if path.extension().is_some_and(|e| e == "rs") => {
            choose_source(root, package, &words[3..], plan)?;
        }
        ["crates", package, "tests", program, file, ..] => match module_name(file) {
            "main" | "common" => plan.add_all(package, &format!("--test {program}")),
            name => plan.add(package, &format!("--test {program}"), &format!("{name}::")),
        },
        ["crates", package, "benches", ..] => {
            plan.other(&format!("cargo check --quiet -p {package} --benches"));
        }
        ["crates", package, "examples", ..] => {
            plan.other(&format!("cargo check --quiet -p {package} --examples"));
        }
        ["crates", package, "Cargo.toml"] => plan.other(&format!("cargo check --quiet -p {package} --tests")),
        ["Cargo.toml" | "Cargo.lock"] => plan.other("cargo check --quiet --workspace"),
        ["xtask", ..] => plan.add_all("xtask", ""),
        ["fuzz", ..] => plan.add_all("esker-fuzz", ""),
        ["docs", "format.md"] => plan.add("esker-format", "--lib", "document::"),
        ["python", "src", ..] => plan.other("cargo check --quiet -p esker-python"),
        ["python", "tests", file] if file.starts_with("test_") => {
            plan.other("cargo build --quiet -p esker-python");
            plan.other(&format!("python/test.sh -q {text}"));
        }
        ["examples", "debian", file] if file.ends_with(".py") => {
            plan.other("python3 -m unittest discover --start-directory examples/debian");
        }
        ["tests", "interleave", ..] => plan.other("cargo test --manifest-path tests/interleave/Cargo.toml"),
        _ if text.ends_with(".py") => plan.other(&format!("python3 -m py_compile {text}")),
        _ if text.ends_with(".sh") || text == ".ci/run" => plan.other(&format!("bash -n {text}")),
        _ => {}
    }
    Ok(())
}

/// `words` is the path below `src`.
fn choose_source(root: &Path, package: &str, words: &[&str], plan: &mut Plan) -> std::io::Result<()> {
    let name = module_name(words[words.len() - 1]);
    let folder = &words[..words.len() - 1];
    let name = if name == "mod" { folder.last().copied().unwrap_or("lib") } else { name };
    match (package, folder) {
        ("esker-cli", _) => plan.add_all(package, "--test cli"),
        ("esker-algo", _) => {
            plan.add(package, "--lib", &format!("{name}::"));
            for test in tests_that_name(root, name)? {
                plan.add(package, "--test algo", &format!("{test}::"));
            }
        }
        (_, []) if name == "lib" => plan.add_all(package, "--lib"),
        (_, []) => plan.add(package, "--lib", &format!("{name}::")),
        _ => plan.add(package, "--lib", &format!("{}::", folder.join("::"))),
    }
    Ok(())
}

fn module_name(file: &str) -> &str {
    file.strip_suffix(".rs").unwrap_or(file)
}

/// Integration tests of `esker-algo` for one of its modules: the test of that name; else those that name it;
/// else a sample.
fn tests_that_name(root: &Path, module: &str) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("crates/esker-algo/tests/algo"))? {
        let path = entry?.path();
        let Some(test) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if test == module {
            return Ok(vec![test.to_owned()]);
        }
        if path.is_file() && names_it(&std::fs::read_to_string(&path)?, module) {
            found.push(test.to_owned());
        }
    }
    found.sort();
    Ok(if found.is_empty() { SAMPLE.map(str::to_owned).into() } else { found })
}

/// Whether a test imports a module, and few others beside it.
fn names_it(text: &str, module: &str) -> bool {
    let names = |prefix: &'static str| {
        text.match_indices(prefix).map(move |(at, _)| {
            let rest = &text[at + prefix.len()..];
            &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())]
        })
    };
    let algorithms: BTreeSet<&str> = names("algorithm::").collect();
    let is_named =
        names("algorithm::").chain(names("check::")).chain(names("primitive::")).any(|name| name == module);
    is_named && algorithms.len() <= ALGORITHMS_MAX + 1
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Plan, choose};

    fn lines_of(paths: &[&str]) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut plan = Plan::default();
        paths.iter().for_each(|path| choose(root, Path::new(path), &mut plan).unwrap());
        plan.steps()
            .iter()
            .map(|step| step.line().replace("ESKER_CASES=16 cargo test --quiet ", ""))
            .collect()
    }

    #[test]
    fn an_algorithm_is_tested_by_its_own_test() {
        let lines = lines_of(&["crates/esker-algo/src/algorithm/paths/bfs.rs"]);
        assert_eq!(lines, ["-p esker-algo --lib -- bfs::", "-p esker-algo --test algo -- bfs::"]);
        let lines = lines_of(&["crates/esker-algo/src/algorithm/paths/widest.rs"]);
        assert_eq!(lines[1], "-p esker-algo --test algo -- paths:: verifiers::");
        assert_eq!(lines_of(&["crates/esker-algo/src/primitive/edge_map.rs"])[1].matches("::").count(), 6);
    }

    #[test]
    fn tests_of_one_program_run_together() {
        let lines = lines_of(&[
            "crates/esker-store/src/log/writer.rs",
            "crates/esker-store/src/store.rs",
            "crates/esker-store/tests/store/commits/kill.rs",
            "docs/memory.md",
        ]);
        assert_eq!(
            lines,
            ["-p esker-store --lib -- log:: store::", "-p esker-store --test store -- commits::"]
        );
    }
}
