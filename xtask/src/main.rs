//! Chores of the project: `cargo xtask tidy` checks the rules of the house that no other tool holds.

mod findings;
mod source;
mod modules;
mod lengths;
mod files;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::findings::Findings;

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["tidy"] {
        eprintln!("usage: cargo xtask tidy");
        return ExitCode::from(2);
    }
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned();
    let findings = match tidy(&root) {
        Ok(findings) => findings,
        Err(error) => {
            eprintln!("tidy: {error}");
            return ExitCode::from(2);
        }
    };
    for warning in &findings.warnings {
        println!("warning: {warning}");
    }
    for error in &findings.errors {
        println!("error: {error}");
    }
    println!("tidy: {} errors, {} warnings", findings.errors.len(), findings.warnings.len());
    if findings.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tidy(root: &Path) -> std::io::Result<Findings> {
    let mut findings = Findings::default();
    let tracked = files::tracked(root)?;
    let mut trees = Vec::new();
    for krate in crate_roots(&tracked) {
        trees.push(modules::Tree::read(root, &krate, &mut findings)?);
    }
    for tree in &trees {
        tree.check_order(&mut findings);
        lengths::check(root, tree, &mut findings)?;
    }
    modules::check_dead_files(&trees, &tracked, &mut findings);
    files::check(root, &tracked, &mut findings)?;
    Ok(findings)
}

/// The `lib.rs` or `main.rs` of every crate, relative to the root of the workspace.
fn crate_roots(tracked: &[PathBuf]) -> Vec<PathBuf> {
    let is_root = |path: &&PathBuf| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    tracked.iter().filter(is_root).cloned().collect()
}
