//! Names of types: each has one meaning in its crate, and that of a public type one in all libraries.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::Findings;
use crate::modules::Tree;

/// Names that every crate has by convention.
const CONVENTIONAL: [&str; 2] = ["Error", "Result"];

/// Reports names that structs, enums, traits, unions or type aliases of several files share: all those of one
/// crate, and the public ones of all libraries. Definitions in one file are alternatives for different
/// features.
pub(crate) fn check(trees: &[Tree], findings: &mut Findings) {
    let mut public = Files::new();
    for tree in trees {
        let mut own = Files::new();
        for module in tree.modules.values() {
            let file = module.file.display().to_string();
            for (name, is_public) in module.code.lines().filter_map(defined_type) {
                if is_public && file.starts_with("crates") {
                    public.entry(name.clone()).or_default().insert(file.clone());
                }
                own.entry(name).or_default().insert(file.clone());
            }
        }
        report(own, "type", findings);
    }
    report(public, "public type", findings);
}

/// The files that define each name.
type Files = BTreeMap<String, BTreeSet<String>>;

fn report(mut files: Files, what: &str, findings: &mut Findings) {
    files.retain(|name, files| files.len() > 1 && !CONVENTIONAL.contains(&name.as_str()));
    for (name, files) in &files {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let message = format!("the {what} {name} has several definitions: {}", files.join(", "));
        findings.breach("repeated-type", name, message);
    }
}

/// The name of the type that a line such as `pub struct Name<T>` at the left margin defines, and whether it
/// is public.
fn defined_type(line: &str) -> Option<(String, bool)> {
    let (mut rest, mut is_public) = (line, false);
    if let Some(after) = line.strip_prefix("pub ") {
        (rest, is_public) = (after, true);
    } else if let Some(after) = line.strip_prefix("pub(") {
        rest = after.split_once(") ")?.1;
    }
    rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let kinds = ["struct ", "enum ", "trait ", "union ", "type "];
    let name = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    Some((name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect(), is_public))
}

#[cfg(test)]
mod tests {
    use super::defined_type;

    #[test]
    fn types_at_the_margin_are_found_and_others_are_not() {
        let found = |line| defined_type(line);
        assert_eq!(found("pub struct Pool<T> {"), Some(("Pool".to_owned(), true)));
        assert_eq!(found("pub unsafe trait Plain: Copy {"), Some(("Plain".to_owned(), true)));
        assert_eq!(found("pub(crate) struct Pool;"), Some(("Pool".to_owned(), false)));
        assert_eq!(found("enum Pool {"), Some(("Pool".to_owned(), false)));
        assert_eq!(found("    pub enum Inner {"), None);
        assert_eq!(found("pub fn pool() {"), None);
    }
}
