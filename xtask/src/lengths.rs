//! Lengths of files and functions, not counting tests, of which the examples of documentation are some.

use std::path::Path;

use crate::findings::Findings;
use crate::modules::Tree;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Checks every file of a crate.
pub(crate) fn check(root: &Path, tree: &Tree, findings: &mut Findings) -> std::io::Result<()> {
    for module in tree.modules.values() {
        let file = module.file.display().to_string();
        let text = std::fs::read_to_string(root.join(&module.file))?;
        let lines = text.lines().count() - test_lines(&text) - example_lines(&text);
        if lines > FILE_LINES_MAX {
            let message = format!("{file}: {lines} lines without tests, at most {FILE_LINES_MAX}");
            findings.breach("long-file", &file, message);
        }
        for (line, name, length) in long_functions(&module.code) {
            let message =
                format!("{file}:{line}: fn {name} has {length} lines, at most {FUNCTION_LINES_MAX}");
            findings.breach("long-function", &format!("{file}:{name}"), message);
        }
    }
    Ok(())
}

/// Lines from the `#[cfg(test)]` before a module in the same file: by convention the tests end a file.
fn test_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |pair: &[&str]| pair[0].starts_with("#[cfg(test)]") && pair[1].ends_with('{');
    lines.windows(2).position(begins).map_or(0, |first| lines.len() - first)
}

/// Lines of examples in the documentation of items, with their fences and the blank line after each. Those of
/// the tests count as tests.
fn example_lines(text: &str) -> usize {
    let mut block = None; // whether the block is an example, inside of one
    let (mut has_ended, mut count) = (false, 0);
    for line in text.lines().take(text.lines().count() - test_lines(text)) {
        let Some(words) = line.trim_start().strip_prefix("///") else { continue };
        let fence = words.trim_start().strip_prefix("```");
        // A block of another language, such as `text`, is no test.
        let next = match (fence, block) {
            (Some(language), None) => Some(language.is_empty()),
            (Some(_), Some(_)) => None,
            (None, block) => block,
        };
        let is_example = block.or(next) == Some(true);
        count += usize::from(is_example || has_ended && words.is_empty());
        has_ended = is_example && next.is_none();
        block = next;
    }
    count
}

/// Functions over the limit: line, name, length.
fn long_functions(code: &str) -> Vec<(usize, String, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let mut depth = 0;
        for (j, body) in lines[i..].iter().enumerate() {
            depth += body.matches('{').count() as i64 - body.matches('}').count() as i64;
            let opened = lines[i..=i + j].iter().any(|line| line.contains('{'));
            if (opened && depth <= 0) || (!opened && body.trim_end().ends_with(';')) {
                if j + 1 > FUNCTION_LINES_MAX {
                    found.push((i + 1, name.clone(), j + 1));
                }
                break;
            }
        }
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let at = line.find("fn ")?;
    let before = line[..at].trim();
    let is_item = before.split_whitespace().all(|word| {
        ["pub", "const", "async", "unsafe", "extern"].contains(&word) || word.starts_with("pub(")
    });
    let name: String = line[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (is_item && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{example_lines, long_functions};

    #[test]
    fn a_long_function_is_found_and_a_short_one_is_not() {
        let long = format!("pub fn long() {{\n{}}}\n", "    work();\n".repeat(70));
        let code = format!("fn short() {{ work() }}\n{long}");
        let found = long_functions(&code);
        assert_eq!(found, [(2, "long".to_owned(), 72)]);
    }

    #[test]
    fn examples_of_documentation_are_tests() {
        let documented =
            "/// Adds.\n///\n/// ```\n/// assert_eq!(add(1, 2), 3);\n/// ```\n///\n/// More.\nfn add() {}";
        assert_eq!(example_lines(documented), 4);
        assert_eq!(example_lines("/// ```text\n/// a drawing\n/// ```\nstruct Drawn;\n"), 0);
    }
}
