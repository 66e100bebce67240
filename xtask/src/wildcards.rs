//! Matches on enums that will grow: an arm for all other variants hides those that are added later.

use crate::findings::Findings;
use crate::modules::Tree;

/// Enums whose variants have to be named, so that the compiler lists the matches that a new one concerns.
const ENUMS: [&str; 4] = ["Format", "Residency", "Access", "Encoding"];

/// Reports arms for all other variants in matches that name variants of one of the enums.
pub(crate) fn check(trees: &[Tree], findings: &mut Findings) {
    for module in trees.iter().flat_map(|tree| tree.modules.values()) {
        let file = module.file.display();
        for breach in wildcards(&module.code) {
            let Wildcard { line, function, name, pattern } = breach;
            let message =
                format!("{file}:{line}: fn {function}: `{pattern} =>` hides variants of {name}: name them");
            findings.breach("wildcard", &format!("{file}:{function}"), message);
        }
    }
}

/// An arm for all other variants of an enum.
#[derive(Debug, PartialEq, Eq)]
struct Wildcard {
    /// The line of the match.
    line: usize,
    function: String,
    /// The enum.
    name: &'static str,
    pattern: String,
}

fn wildcards(code: &str) -> Vec<Wildcard> {
    let mut found = Vec::new();
    for at in words(code, "match") {
        let patterns = patterns(&code[at..]);
        let name = ENUMS.into_iter().find(|name| patterns.iter().any(|pattern| has_variant(pattern, name)));
        let pattern = patterns.iter().find(|pattern| takes_all(pattern));
        if let (Some(name), Some(pattern)) = (name, pattern) {
            let line = code[..at].matches('\n').count() + 1;
            let (function, pattern) = (enclosing_function(&code[..at]), (*pattern).to_owned());
            found.push(Wildcard { line, function, name, pattern });
        }
    }
    found
}

/// Places of a word.
fn words<'c>(code: &'c str, word: &'c str) -> impl Iterator<Item = usize> + 'c {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let after = &code[at + word.len()..];
        !code[..at].ends_with(is_part) && !after.starts_with(is_part) && !after.starts_with('!')
    })
}

/// The name behind the last `fn`.
fn enclosing_function(before: &str) -> String {
    let name = words(before, "fn").last().map_or("", |at| before[at + 2..].trim_start());
    name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The patterns of the match that begins a text, with their guards.
fn patterns(text: &str) -> Vec<&str> {
    let Some(open) = outside(text, |rest| rest.starts_with('{')) else { return Vec::new() };
    let body = &text[open..];
    let mut rest = &body[1..(bracket_end(body) - 1).max(1)];
    let mut found = Vec::new();
    while let Some(arrow) = outside(rest, |rest| rest.starts_with("=>")) {
        found.push(rest[..arrow].trim_matches(|c: char| c.is_whitespace() || c == ','));
        let value = rest[arrow + 2..].trim_start();
        let end = match value.starts_with('{') {
            true => bracket_end(value),
            false => outside(value, |rest| rest.starts_with(',')).unwrap_or(value.len()),
        };
        rest = &value[end..];
    }
    found
}

/// The first place outside of brackets where the rest meets a condition.
fn outside(text: &str, is_met: impl Fn(&str) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if depth == 0 && is_met(&text[at..]) {
            return Some(at);
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The end of the bracket that begins a text.
fn bracket_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// Whether a pattern names a variant of an enum.
fn has_variant(pattern: &str, name: &str) -> bool {
    words(pattern, name).any(|at| pattern[at + name.len()..].starts_with("::"))
}

/// Whether a pattern without a guard takes everything: `_`, tuples of it, or a new name.
fn takes_all(pattern: &str) -> bool {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !matches!(text, "true" | "false")
    };
    let inner = pattern.trim_start_matches('(').trim_end_matches(')');
    !inner.is_empty() && inner.split(',').map(str::trim).all(|part| part.is_empty() || is_name(part))
}

#[cfg(test)]
mod tests {
    use super::{Wildcard, wildcards};

    #[test]
    fn arms_for_all_other_variants_are_found() {
        let code = "fn tells(format: Format) -> u8 {\n    match format {\n        Format::Csv => 1,\n        _ => 2,\n    }\n}\n\
            fn binds(format: Format) {\n    let tell = |x: u8| { x };\n    match (format, tell(1)) {\n        \
            (esker::Format::Csv, n) if n > 1 => { f(n); }\n        (other, _) => g(other),\n    }\n}\n\
            fn nests(a: u8, kind: Residency) -> u8 {\n    match a {\n        0 => match kind {\n            \
            Residency::Memory { .. } | Residency::Mapped => 1,\n            _ => 2,\n        },\n        _ => 3,\n    }\n}\n";
        let found = |line, function: &str, name, pattern: &str| Wildcard {
            line,
            function: function.to_owned(),
            name,
            pattern: pattern.to_owned(),
        };
        assert_eq!(
            wildcards(code),
            [
                found(2, "tells", "Format", "_"),
                found(9, "binds", "Format", "(other, _)"),
                found(16, "nests", "Residency", "_"),
            ]
        );
    }

    #[test]
    fn matches_that_name_all_variants_or_other_enums_are_not() {
        let code = "fn names(a: Encoding, b: RowFormat, c: u8) -> u8 {\n    let a = match a {\n        \
            Encoding::Plain => Encoding::Tiles,\n        Encoding::Tiles => match c { 0 => Encoding::Plain, _ => a },\n    \
            };\n    let d = matches!(a, Encoding::Plain);\n    match b {\n        RowFormat::Csv => 1,\n        _ => 2,\n    }\n}\n\
            fn guards(a: Encoding) {\n    match a {\n        Encoding::Plain => {}\n        _ if true => {}\n        \
            Encoding::Tiles => {}\n    }\n}\n";
        assert_eq!(wildcards(code), []);
    }
}
