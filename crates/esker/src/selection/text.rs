//! Conditions as text, in the words of SQL's `where`.
//!
//! ```text
//! condition   either (or either)*
//! either      part (and part)*
//! part        not part | ( condition ) | name comparison
//! comparison  = VALUE, and != <> < <= > >= | [not] in (VALUE, ...) | [not] like VALUE
//!             | [not] between VALUE and VALUE | is [not] null
//! name        a property of edges | source, target, vertex: an id
//!             | source.NAME, target.NAME, vertex.NAME: a property of vertices
//! ```
//!
//! A name is put in double quotes if it has blanks or other signs, or is one of these words. A value is put
//! in single quotes if it is a text with blanks, commas or parentheses.

use std::cmp::Ordering;

/// Parts within parts that a condition may have.
const DEPTH_MAX: usize = 64;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Test(Comparison),
}

/// A name and what is asked of its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparison {
    pub(super) operand: Operand,
    pub(super) asked: Asked,
}

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) whose: Whose,
    /// A property; `None`: the id of a vertex.
    pub(super) name: Option<String>,
    /// Whether the name is in quotes.
    pub(super) is_quoted: bool,
}

/// Whose property or id is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Edge,
    Source,
    Target,
    /// Both ends: the condition is to be met with each of them.
    Vertex,
}

/// The question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
    /// Whether the order of the value and a wanted one is one of these.
    Order(&'static [Ordering], Literal),
    OneOf(Vec<Literal>),
    Like(Literal),
    Null,
}

/// A value as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) text: String,
    /// Whether it was in quotes.
    pub(super) is_quoted: bool,
}

pub(super) const EQUAL: &[Ordering] = &[Ordering::Equal];
pub(super) const DIFFERENT: &[Ordering] = &[Ordering::Less, Ordering::Greater];
const AT_LEAST: &[Ordering] = &[Ordering::Greater, Ordering::Equal];
const AT_MOST: &[Ordering] = &[Ordering::Less, Ordering::Equal];

const OPERATORS: [(&str, &[Ordering]); 7] = [
    ("!=", DIFFERENT),
    ("<>", DIFFERENT),
    ("<=", AT_MOST),
    (">=", AT_LEAST),
    ("<", &[Ordering::Less]),
    (">", &[Ordering::Greater]),
    ("=", EQUAL),
];

impl std::fmt::Display for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whose = match self.whose {
            Whose::Edge => "",
            Whose::Source => "source",
            Whose::Target => "target",
            Whose::Vertex => "vertex",
        };
        let name = self.name.as_deref().unwrap_or_default();
        let dot = if whose.is_empty() || name.is_empty() { "" } else { "." };
        write!(f, "{whose}{dot}{name}")
    }
}

/// Reads a condition.
///
/// # Errors
/// Where the text is none, and what belongs there.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let found = parser.any().and_then(|found| match parser.rest() {
        "" => Ok(found),
        rest => Err(format!(
            "{:?} cannot stand there: join conditions with and, or or, and put a text with blanks in single quotes",
            rest.split_whitespace().next().unwrap_or(rest)
        )),
    });
    found.map_err(|reason| format!("{text:?} is not a condition: {reason}"))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// What is left, without blanks in front.
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// Passes over a word of the language, if it is next.
    fn takes_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let is_next = rest.get(..word.len()).is_some_and(|next| next.eq_ignore_ascii_case(word));
        let ends = |rest: &str| {
            rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || "()'\"".contains(c))
        };
        let takes = is_next && ends(&rest[word.len()..]);
        self.at += if takes { word.len() } else { 0 };
        takes
    }

    /// Passes over a sign, if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        let takes = self.rest().starts_with(sign);
        self.at += if takes { sign.len() } else { 0 };
        takes
    }

    fn any(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.all()?];
        while self.takes_word("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.part()?];
        while self.takes_word("and") {
            parts.push(self.part()?);
        }
        Ok(one_or(parts, Expression::All))
    }

    fn part(&mut self) -> Result<Expression, String> {
        if self.depth == DEPTH_MAX {
            return Err(format!("it has more than {DEPTH_MAX} parts within each other"));
        }
        self.depth += 1;
        let found = if self.takes_word("not") {
            self.part().map(|part| Expression::Not(Box::new(part)))
        } else if self.takes("(") {
            let inside = self.any()?;
            match self.takes(")") {
                true => Ok(inside),
                false => Err("a parenthesis is not closed".to_owned()),
            }
        } else {
            self.comparison()
        };
        self.depth -= 1;
        found
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        let operand = self.operand()?;
        let test = |asked| Expression::Test(Comparison { operand: operand.clone(), asked });
        if self.takes_word("is") {
            let is_negated = self.takes_word("not");
            return match self.takes_word("null") {
                true => Ok(negated_if(is_negated, test(Asked::Null))),
                false => Err("null or not null belongs behind is".to_owned()),
            };
        }
        let is_negated = self.takes_word("not");
        if self.takes_word("in") {
            return Ok(negated_if(is_negated, test(Asked::OneOf(self.values()?))));
        }
        if self.takes_word("like") {
            return Ok(negated_if(is_negated, test(Asked::Like(self.value("like")?))));
        }
        if self.takes_word("between") {
            let least = self.value("between")?;
            if !self.takes_word("and") {
                return Err("between is written: between LEAST and GREATEST".to_owned());
            }
            let greatest = self.value("and")?;
            let range = [Asked::Order(AT_LEAST, least), Asked::Order(AT_MOST, greatest)];
            return Ok(negated_if(is_negated, Expression::All(range.map(test).into())));
        }
        let found = OPERATORS.iter().find(|(sign, _)| self.takes(sign)).filter(|_| !is_negated);
        let Some((sign, met)) = found else {
            return Err(format!(
                "behind {operand} belongs a comparison, such as {operand}=5, {operand} in ('a', 'b'), {operand} like \
                 'a%' or {operand} is not null"
            ));
        };
        if self.text[self.at..].starts_with('=') {
            return Err(format!("one sign compares, as in {operand}{}", self.text[self.at..].trim()));
        }
        Ok(test(Asked::Order(met, self.value(sign)?)))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let edge = |name, is_quoted| Operand { whose: Whose::Edge, name: Some(name), is_quoted };
        if let Some(name) = self.quoted('"')? {
            return Ok(edge(name, true));
        }
        let word = self.word(|c| c.is_whitespace() || "()!<>=,'\"".contains(c));
        if word.is_empty() {
            return Err(match self.rest() {
                "" => "it ends where the name of a property belongs".to_owned(),
                rest => format!(
                    "{:?} stands where the name of a property belongs",
                    rest.chars().next().unwrap_or(' ')
                ),
            });
        }
        let (first, name) = word.split_once('.').map_or((word, None), |(first, name)| (first, Some(name)));
        let whose = match first {
            "source" => Whose::Source,
            "target" => Whose::Target,
            "vertex" => Whose::Vertex,
            _ => return Ok(edge(word.to_owned(), false)),
        };
        let name = match name {
            Some("") => {
                self.quoted('"')?.map(Some).ok_or(format!("the name of a property belongs behind {word}"))?
            }
            name => name.map(str::to_owned),
        };
        Ok(Operand { whose, name, is_quoted: false })
    }

    fn word(&mut self, ends: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// A text in quotes, in which two quotes stand for one; `None` if no quote is next.
    fn quoted(&mut self, quote: char) -> Result<Option<String>, String> {
        if !self.takes(quote.encode_utf8(&mut [0; 4])) {
            return Ok(None);
        }
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(quote) else { return Err("a quote is not closed".to_owned()) };
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if !self.text[self.at..].starts_with(quote) {
                return Ok(Some(text));
            }
            text.push(quote);
            self.at += 1;
        }
    }

    /// The value behind a sign or a word.
    fn value(&mut self, behind: &str) -> Result<Literal, String> {
        for quote in ['\'', '"'] {
            if let Some(text) = self.quoted(quote)? {
                return Ok(Literal { text, is_quoted: true });
            }
        }
        let word = self.word(|c| c.is_whitespace() || "(),'\"".contains(c));
        match word {
            "" => Err(format!("a value belongs behind {behind}; '' is the empty text")),
            _ if word.eq_ignore_ascii_case("null") => {
                Err("no value equals null: ask with is null or is not null".to_owned())
            }
            word => Ok(Literal { text: word.to_owned(), is_quoted: false }),
        }
    }

    fn values(&mut self) -> Result<Vec<Literal>, String> {
        const FORM: &str = "in is written: in (VALUE, VALUE, ...)";
        if !self.takes("(") {
            return Err(FORM.to_owned());
        }
        let mut values = vec![self.value("in (")?];
        while self.takes(",") {
            values.push(self.value("a comma")?);
        }
        if self.takes(")") { Ok(values) } else { Err(FORM.to_owned()) }
    }
}

fn one_or(mut parts: Vec<Expression>, several: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { several(parts) }
}

fn negated_if(is_negated: bool, expression: Expression) -> Expression {
    if is_negated { Expression::Not(Box::new(expression)) } else { expression }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::sample::select;

    use super::*;

    /// Pieces of conditions, and of what is none.
    const PIECES: &[&str] = &[
        "a", "source", "vertex.", "target.b", "\"", "'", "it''s", "=", "!=", "<", ">", "(", ")", ",", " ",
        "and", "or", "not", "in", "like", "between", "is", "null", "5", "-1.5e3", "%", "_", "é", "\u{2028}",
        "\0", "\\", ".",
    ];

    proptest::proptest! {
        #[test]
        fn any_text_is_a_condition_or_is_refused_with_a_reason(pieces in vec(select(PIECES), 0..16)) {
            if let Err(said) = parse(&pieces.concat()) {
                assert!(said.contains(" is not a condition: ") && !said.ends_with(' '), "{said}");
            }
        }
    }

    /// A condition with a parenthesis around each part.
    fn shown(expression: &Expression) -> String {
        let joined =
            |parts: &[Expression], word: &str| parts.iter().map(shown).collect::<Vec<_>>().join(word);
        match expression {
            Expression::All(parts) => format!("({})", joined(parts, " and ")),
            Expression::Any(parts) => format!("({})", joined(parts, " or ")),
            Expression::Not(part) => format!("not {}", shown(part)),
            Expression::Test(Comparison { operand, asked }) => match asked {
                Asked::Order(met, wanted) => {
                    let sign = OPERATORS.iter().find(|(_, own)| own == met).map_or("?", |(sign, _)| sign);
                    format!("{operand} {sign} {}", quoted(wanted))
                }
                Asked::OneOf(values) => {
                    format!("{operand} in [{}]", values.iter().map(quoted).collect::<Vec<_>>().join(" "))
                }
                Asked::Like(pattern) => format!("{operand} like {}", quoted(pattern)),
                Asked::Null => format!("{operand} is null"),
            },
        }
    }

    fn quoted(literal: &Literal) -> String {
        if literal.is_quoted { format!("'{}'", literal.text) } else { literal.text.clone() }
    }

    #[test]
    fn conditions_are_read_as_sql_reads_them() {
        let table = [
            ("kind=depends", "kind = depends"),
            (" since >= 2011 ", "since >= 2011"),
            ("at<2024-01-01T00:00:00Z", "at < 2024-01-01T00:00:00Z"),
            ("a=1 or b=2 and not c=3", "(a = 1 or (b = 2 and not c = 3))"),
            ("(a=1 OR b=2) And c<>3", "((a = 1 or b = 2) and c != 3)"),
            ("currency in ('EUR', CHF,'it''s')", "currency in ['EUR' CHF 'it's']"),
            ("x not in (1)", "not x in [1]"),
            ("x not like 'a%'", "not x like 'a%'"),
            ("x between 1 and 2 and y=3", "((x >= 1 and x <= 2) and y = 3)"),
            ("not(x is not null)", "not not x is null"),
            ("\"Amount Paid\" > 5", "Amount Paid > 5"),
            ("\"source\"=1 and source='ann'", "(source = 1 and source = 'ann')"),
            (
                "source.country=DE or target.\"of birth\" is null",
                "(source.country = DE or target.of birth is null)",
            ),
            ("vertex.group != 3", "vertex.group != 3"),
            ("note=''", "note = ''"),
            ("source_ip=10.0.0.1", "source_ip = 10.0.0.1"),
        ];
        for (text, wanted) in table {
            assert_eq!(parse(text).map(|found| shown(&found)).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_where_it_ends() {
        let table = [
            ("", "it ends where the name"),
            ("kind", "behind kind belongs a comparison"),
            ("kind==depends", "one sign compares, as in kind=depends"),
            ("city=New York", "\"York\" cannot stand there"),
            ("a=1 and", "it ends where the name"),
            ("a=1 b=2", "\"b=2\" cannot stand there"),
            ("a=", "a value belongs behind ="),
            ("a='x", "a quote is not closed"),
            ("(a=1", "a parenthesis is not closed"),
            ("a=1)", "\")\" cannot stand there"),
            ("a in 1", "in is written"),
            ("a in (1", "in is written"),
            ("a in ()", "a value belongs behind in ("),
            ("a is 5", "null or not null"),
            ("a=null", "ask with is null"),
            ("a not = 1", "behind a belongs"),
            ("a between 1", "between LEAST"),
            ("source. = 1", "behind source."),
            ("=1", "'=' stands where"),
        ];
        for (text, wanted) in table {
            let said = parse(text).expect_err(text);
            assert!(said.contains(wanted), "{text}: {said}");
        }
        let deep = |depth: usize| format!("{}a=1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(parse(&deep(60)).is_ok() && parse(&deep(100_000)).unwrap_err().contains("within each other"));
    }
}
