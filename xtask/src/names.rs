//! Names of public types: each has one meaning in all libraries.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::Findings;
use crate::modules::Tree;

/// Names that every crate has by convention.
const CONVENTIONAL: [&str; 2] = ["Error", "Result"];

/// Reports names that public structs, enums, traits, unions or type aliases of several files of the libraries share. Definitions in one
/// file are alternatives for different features.
pub(crate) fn check(trees: &[Tree], findings: &mut Findings) {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let modules = trees.iter().flat_map(|tree| tree.modules.values());
    for module in modules.filter(|module| module.file.starts_with("crates")) {
        for name in module.code.lines().filter_map(public_type) {
            files.entry(name).or_default().insert(module.file.display().to_string());
        }
    }
    files.retain(|name, files| files.len() > 1 && !CONVENTIONAL.contains(&name.as_str()));
    for (name, files) in &files {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let message = format!("the public type {name} has several definitions: {}", files.join(", "));
        findings.breach("repeated-type", name, message);
    }
}

/// The name of the type that a line such as `pub struct Name<T>` at the left margin defines.
fn public_type(line: &str) -> Option<String> {
    let mut rest = line.strip_prefix("pub ")?;
    rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let kinds = ["struct ", "enum ", "trait ", "union ", "type "];
    let name = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    Some(name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

#[cfg(test)]
mod tests {
    use super::public_type;

    #[test]
    fn public_types_are_found_and_others_are_not() {
        assert_eq!(public_type("pub struct Pool<T> {"), Some("Pool".to_owned()));
        assert_eq!(public_type("pub unsafe trait Plain: Copy {"), Some("Plain".to_owned()));
        assert_eq!(public_type("pub(crate) struct Pool;"), None);
        assert_eq!(public_type("    pub enum Inner {"), None);
        assert_eq!(public_type("pub fn pool() {"), None);
    }
}
