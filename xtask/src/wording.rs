//! Words of one interface: no library crate names an option or a verb of the command in a text. A message
//! names settings and operations as facts (`esker_graph::Message`), and each interface renders them.

use std::path::Path;

use crate::findings::Findings;
use crate::modules::Tree;

/// The crate of the command, whose words these are.
const COMMAND: &str = "crates/esker-cli";
/// The crates of other interfaces, which name the command for what only it can do.
const INTERFACES: &[&str] = &["crates/esker-duckdb", "crates/esker-server"];
/// The page about the files of databases, which is for people and no message.
const PAGE: &str = "crates/esker-format/src/document.rs";

/// Reports texts of library crates that hold `--option` or `` `esker verb` ``, tests apart.
pub(crate) fn check(root: &Path, trees: &[Tree], findings: &mut Findings) -> std::io::Result<()> {
    for module in trees.iter().flat_map(|tree| tree.modules.values()) {
        let file = module.file.display().to_string();
        let is_interface = file.starts_with(COMMAND) || INTERFACES.iter().any(|own| file.starts_with(own));
        if !file.starts_with("crates/") || is_interface || file == PAGE {
            continue;
        }
        let text = std::fs::read_to_string(root.join(&module.file))?;
        for (line, word) in breaches(&text) {
            let message = format!(
                "{file}:{line}: a library names {word} of the command: use a setting or an operation in a message"
            );
            findings.breach("words-of-command", &file, message);
        }
    }
    Ok(())
}

/// The lines with words of the command outside of comments and before the tests, and the words.
fn breaches(text: &str) -> Vec<(usize, String)> {
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines = before_tests.lines().enumerate().filter(|(_, line)| is_code(line));
    lines.filter_map(|(at, line)| word_of_command(line).map(|word| (at + 1, word))).collect()
}

/// The first option or command in a line.
fn word_of_command(line: &str) -> Option<String> {
    let options = line.match_indices("--").filter(|(at, _)| {
        let stands_alone = !line[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        stands_alone && line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase() || c == '{')
    });
    let commands = line.match_indices("`esker ");
    let (at, _) = options.chain(commands).min_by_key(|(at, _)| *at)?;
    let rest = line[at..].trim_start_matches('`');
    let is_part = |c: char| c.is_alphanumeric() || "-_ {}".contains(c);
    let taken: String = rest.chars().take_while(|c| is_part(*c)).collect();
    Some(match taken.split_once(' ') {
        Some((option, _)) if option.starts_with("--") => option.to_owned(),
        _ => taken.trim_end().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::breaches;

    #[test]
    fn options_and_commands_in_texts_are_found_and_other_dashes_are_not() {
        let found = |text| {
            breaches(text).into_iter().map(|(line, word)| format!("{line} {word}")).collect::<Vec<_>>()
        };
        let bad = "// pass --weight\nlet a = \"pass --weight here\";\nlet b = \"`esker compact` merges\";\nf(\"--{name}\");";
        assert_eq!(found(bad), ["2 --weight", "3 esker compact", "4 --{name}"]);
        let good = "/// `esker run` --weight\nlet a = \"a -- b, x--y, ---\";\nlet b = -x - -y;";
        assert_eq!(found(good), [""; 0]);
        assert_eq!(found("#[cfg(test)]\nmod tests {\n    f(\"--weight\");"), [""; 0]);
    }
}
