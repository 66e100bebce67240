//! Tuples that hide names: parameters that take a tuple apart, and tuple structs of several fields.

use crate::findings::Findings;
use crate::modules::Tree;

/// Reports functions with tuple patterns in their parameters, and tuple structs of two or more fields.
pub(crate) fn check(trees: &[Tree], findings: &mut Findings) {
    for module in trees.iter().flat_map(|tree| tree.modules.values()) {
        let file = module.file.display();
        for (line, name) in tuple_parameters(&module.code) {
            let message = format!("{file}:{line}: fn {name} takes a tuple apart in its parameters");
            findings.breach("tuple-parameter", &format!("{file}:{name}"), message);
        }
        for (line, name) in tuple_structs(&module.code) {
            let message = format!("{file}:{line}: struct {name} has several fields without names");
            findings.breach("tuple-struct", &format!("{file}:{name}"), message);
        }
    }
}

/// Functions with a tuple pattern among their parameters: line and name.
fn tuple_parameters(code: &str) -> Vec<(usize, String)> {
    let is_pattern = |parameter: &&str| {
        let pattern = parameter.trim_start().trim_start_matches('&').trim_start_matches("mut ").trim_start();
        pattern.starts_with('(') && !pattern.starts_with("()")
    };
    items(code, "fn ")
        .filter(|(_, _, rest)| parts(parenthesised(rest)).iter().any(&is_pattern))
        .map(|(line, name, _)| (line, name.to_owned()))
        .collect()
}

/// Tuple structs of two or more fields: line and name.
fn tuple_structs(code: &str) -> Vec<(usize, String)> {
    items(code, "struct ")
        .filter(|(_, _, rest)| parts(parenthesised(rest)).len() > 1)
        .map(|(line, name, _)| (line, name.to_owned()))
        .collect()
}

/// The items that a keyword begins: the line, the name, and the code after its generic parameters.
fn items<'c>(code: &'c str, keyword: &'static str) -> impl Iterator<Item = (usize, &'c str, &'c str)> {
    code.match_indices(keyword).filter_map(move |(at, _)| {
        let is_in_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = &code[at + keyword.len()..];
        let len = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let (name, rest) = after.split_at(len);
        let rest = rest.trim_start();
        let rest = if rest.starts_with('<') { &rest[bracket_end(rest)..] } else { rest };
        let line = code[..at].matches('\n').count() + 1;
        (!is_in_word && !name.is_empty()).then_some((line, name, rest.trim_start()))
    })
}

/// What the parentheses that begin a text enclose; nothing if it begins with something else.
fn parenthesised(text: &str) -> &str {
    if text.starts_with('(') { &text[1..bracket_end(text) - 1] } else { "" }
}

/// The end of the bracket that begins a text.
fn bracket_end(text: &str) -> usize {
    let mut depths = Depths::default();
    let end = text.char_indices().find(|&(_, c)| depths.pass(c) == 0);
    end.map_or(text.len(), |(at, c)| at + c.len_utf8())
}

/// The parts between the commas that no bracket encloses, without an empty one at the end.
fn parts(text: &str) -> Vec<&str> {
    let mut depths = Depths::default();
    let mut parts: Vec<&str> = text.split(|c| depths.pass(c) == 0 && c == ',').collect();
    parts.pop_if(|part| part.trim().is_empty());
    parts
}

/// The number of open brackets in a text that is read from its beginning.
#[derive(Debug, Default)]
struct Depths {
    open: usize,
    last: char,
}

impl Depths {
    /// Passes a character; returns how many brackets are open after it. An arrow closes none.
    fn pass(&mut self, c: char) -> usize {
        match c {
            '(' | '[' | '{' | '<' => self.open += 1,
            '>' if self.last == '-' || self.last == '=' => {}
            ')' | ']' | '}' | '>' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.last = c;
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::{tuple_parameters, tuple_structs};

    fn found(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
        lines.iter().map(|&(line, name)| (line, name.to_owned())).collect()
    }

    #[test]
    fn parameters_that_take_a_tuple_apart_are_found() {
        let code = "fn good(a: (u8, u8), (): &mut (), f: impl Fn((u8, u8)) -> u8) { f(|(a, b)| a) }\n\
            pub fn bad((a, b): (u8, u8)) {}\n\
            fn worse<F: Fn(u8) -> u8>(\n    &self,\n    ((a, b), c): &mut ((u8, u8), u8),\n) {}\n\
            fn reference(n: u8, &(a, b): &(u8, u8)) {}\n\
            type Pointer = fn (u8, (u8, u8)) -> u8;\n";
        assert_eq!(tuple_parameters(code), found(&[(2, "bad"), (3, "worse"), (7, "reference")]));
    }

    #[test]
    fn tuple_structs_of_several_fields_are_found() {
        let code = "struct One(u8);\npub struct Two<'a, T: Fn(u8) -> u8>(&'a T, u8);\n\
            struct Wide(\n    Map<u8, u8>,\n);\nstruct Named { a: (u8, u8) }\nstruct Empty;\n";
        assert_eq!(tuple_structs(code), found(&[(2, "Two")]));
    }
}
