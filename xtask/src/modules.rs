//! The modules of a crate: the order of `mod` lines is the layer order, and a module imports only modules
//! declared above it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::findings::Findings;
use crate::source::{code_only, without_tests};

/// One module: its file and its code.
#[derive(Debug)]
pub(crate) struct Module {
    /// Relative to the root of the workspace.
    pub(crate) file: PathBuf,
    /// Code without comments, literals and tests.
    pub(crate) code: String,
    /// Names of the modules declared in it, in order.
    children: Vec<String>,
}

/// All modules of a crate by their path: `["import", "spool"]`; the root is `[]`.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) modules: BTreeMap<Vec<String>, Module>,
    /// Files of modules that exist in tests only. The rule of order does not apply to them.
    test_files: Vec<PathBuf>,
    folder: PathBuf,
}

impl Tree {
    /// Follows the `mod` lines from the root file of a crate.
    pub(crate) fn read(root: &Path, file: &Path, findings: &mut Findings) -> std::io::Result<Self> {
        let folder = file.parent().expect("a crate's root lies in a folder").to_owned();
        let mut tree = Self { modules: BTreeMap::new(), test_files: Vec::new(), folder: folder.clone() };
        let mut open = vec![(Vec::new(), file.to_owned(), folder, false)];
        while let Some((path, file, folder, in_tests)) = open.pop() {
            let all = code_only(&std::fs::read_to_string(root.join(&file))?);
            let code = without_tests(&all);
            let declared = declared_modules(&code);
            for name in declared_modules(&all) {
                let inner = folder.join(&name);
                let candidates = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
                let tests = in_tests || !declared.contains(&name);
                let child = [path.clone(), vec![name.clone()]].concat();
                match candidates.into_iter().find(|candidate| root.join(candidate).exists()) {
                    Some(found) => open.push((child, found, inner, tests)),
                    None => findings.errors.push(format!("{}: no file for `mod {name}`", file.display())),
                }
            }
            if in_tests {
                tree.test_files.push(file);
            } else {
                tree.modules.insert(path, Module { file, code, children: declared });
            }
        }
        Ok(tree)
    }

    /// Reports imports of modules that are declared at or below the importing one.
    pub(crate) fn check_order(&self, findings: &mut Findings) {
        for (path, module) in &self.modules {
            for (line, target) in self.references(path, &module.code) {
                if let Some(problem) = self.judge(path, &target) {
                    findings.errors.push(format!("{}:{line}: {problem}", module.file.display()));
                }
            }
        }
    }

    /// The modules that the code names, with line numbers, as paths from the root.
    fn references(&self, from: &[String], code: &str) -> Vec<(usize, Vec<String>)> {
        let mut found = Vec::new();
        for (number, line) in code.lines().enumerate() {
            for (prefix, base) in [("crate::", Vec::new()), ("super::", parent(from))] {
                for (at, _) in line.match_indices(prefix) {
                    let before = line[..at].chars().next_back().unwrap_or(' ');
                    if before.is_alphanumeric() || before == '_' || before == ':' {
                        continue;
                    }
                    let target = self.resolve(base.clone(), &line[at + prefix.len()..]);
                    found.push((number + 1, target));
                }
            }
        }
        found
    }

    /// Follows segments as long as they name modules.
    fn resolve(&self, mut path: Vec<String>, text: &str) -> Vec<String> {
        for segment in text.split("::") {
            let name: String = segment.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name == "super" {
                path.pop();
                continue;
            }
            let child = [path.clone(), vec![name.clone()]].concat();
            if !self.modules.contains_key(&child) {
                break;
            }
            path = child;
            if name.len() != segment.len() {
                break;
            }
        }
        path
    }

    fn judge(&self, from: &[String], target: &[String]) -> Option<String> {
        let shared = from.iter().zip(target).take_while(|(a, b)| a == b).count();
        if target.len() == shared && shared == from.len() {
            return None; // itself
        }
        if target.len() == shared {
            let what = if target.is_empty() { "the root of the crate".to_owned() } else { target.join("::") };
            return Some(format!(
                "imports from {what}, which contains it: import from the module that defines the item"
            ));
        }
        if from.len() == shared {
            return None; // a module uses what it contains
        }
        let siblings = &self.modules[&from[..shared].to_vec()].children;
        let place = |name: &String| siblings.iter().position(|sibling| sibling == name);
        (place(&target[shared]) >= place(&from[shared]))
            .then(|| format!("{} imports {}, which is declared below it", from[shared], target[shared]))
    }
}

/// Reports source files that no `mod` line of any crate reaches. A package may have a library and a program.
pub(crate) fn check_dead_files(trees: &[Tree], tracked: &[PathBuf], findings: &mut Findings) {
    let in_crate = |path: &&PathBuf| {
        trees.iter().any(|tree| path.starts_with(&tree.folder) && !path.starts_with(tree.folder.join("bin")))
            && path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("main.rs")
            && !path.ends_with("lib.rs")
    };
    let reaches = |tree: &Tree, path: &PathBuf| {
        tree.modules.values().any(|module| module.file == *path) || tree.test_files.contains(path)
    };
    for path in tracked.iter().filter(in_crate) {
        if !trees.iter().any(|tree| reaches(tree, path)) {
            findings.errors.push(format!("{}: no `mod` line reaches this file", path.display()));
        }
    }
}

/// Reports test programs beside the one of their crate: each links the whole library. A folder is a program
/// that needs its own process.
pub(crate) fn check_test_programs(tracked: &[PathBuf], findings: &mut Findings) {
    for path in tracked {
        let words: Vec<_> = path.iter().map(|word| word.to_string_lossy()).collect();
        if let [root, krate, tests, file] = &words[..]
            && root == "crates"
            && tests == "tests"
            && file.ends_with(".rs")
        {
            let message =
                format!("{}: make it a module of the test program in a folder beside it", path.display());
            findings.breach("test-program", &format!("{krate} {file}"), message);
        }
    }
}

fn parent(path: &[String]) -> Vec<String> {
    path[..path.len().saturating_sub(1)].to_vec()
}

/// Names after `mod` in lines such as `pub(crate) mod name;`.
fn declared_modules(code: &str) -> Vec<String> {
    let is_declaration = |line: &&str| line.ends_with(';');
    code.lines()
        .map(str::trim)
        .filter(is_declaration)
        .filter_map(|line| {
            let (before, name) = line.trim_end_matches(';').split_once("mod ")?;
            let visibility = before.trim();
            let is_item = visibility.is_empty() || visibility == "pub" || visibility.starts_with("pub(");
            is_item.then(|| name.trim().to_owned())
        })
        .collect()
}
