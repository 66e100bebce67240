//! `cargo xtask tidy`: the rules of the house that no other tool checks.

use std::path::{Path, PathBuf};

use crate::files;
use crate::findings::Findings;
use crate::lengths;
use crate::modules;
use crate::names;
use crate::singles;
use crate::tuples;
use crate::wildcards;
use crate::wording;

/// Checks all rules and prints the breaches. Returns whether there are none but known ones. With `shrink`,
/// repaired entries leave the list of known ones; otherwise they are errors.
#[allow(clippy::print_stdout)]
pub(crate) fn run(root: &Path, shrink: bool) -> std::io::Result<bool> {
    let mut findings = check(root)?;
    if shrink {
        findings.shrink_list(root)?;
    } else {
        findings.check_list();
    }
    for warning in &findings.warnings {
        println!("warning: {warning}");
    }
    for error in &findings.errors {
        println!("error: {error}");
    }
    println!("tidy: {} errors, {} warnings", findings.errors.len(), findings.warnings.len());
    Ok(findings.errors.is_empty())
}

fn check(root: &Path) -> std::io::Result<Findings> {
    let mut findings = Findings::new(root)?;
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
    modules::check_test_programs(&tracked, &mut findings);
    names::check(&trees, &mut findings);
    tuples::check(&trees, &mut findings);
    wildcards::check(&trees, &mut findings);
    singles::check(root, &tracked, &mut findings)?;
    wording::check(root, &trees, &mut findings)?;
    files::check(root, &tracked, &mut findings)?;
    Ok(findings)
}

/// The `lib.rs` or `main.rs` of every crate, relative to the root of the workspace.
fn crate_roots(tracked: &[PathBuf]) -> Vec<PathBuf> {
    let is_root = |path: &&PathBuf| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    tracked.iter().filter(is_root).cloned().collect()
}
