//! The words and signs of a DOT graph.

use std::borrow::Cow;

use crate::attributed::types::Types;

/// Why a text cannot be read on.
pub(super) enum Stop {
    /// More of it is needed.
    More,
    Broken(usize, &'static str),
}

/// A name or a value.
pub(super) struct Id<'a> {
    pub(super) text: Cow<'a, str>,
    is_bare: bool,
}

impl Id<'_> {
    /// Whether it is a word of the language, in any case.
    pub(super) fn is_keyword(&self, word: &str) -> bool {
        self.is_bare && self.text.eq_ignore_ascii_case(word)
    }
}

pub(super) enum Token<'a> {
    Id(Id<'a>),
    /// A text of HTML.
    Html,
    /// An edge, and whether it has a direction.
    Edge(bool),
    Sign(char),
    End,
}

pub(super) struct Tokens<'a> {
    text: &'a str,
    pub(super) at: usize,
    is_last: bool,
    /// What a comment of Esker says of types.
    pub(super) types: Option<Types>,
    /// How many ports were left out.
    pub(super) ports: usize,
    /// How many texts of HTML were left out.
    pub(super) html: usize,
}

/// A text without the backslashes before quotes, and without the line ends that have one before them. Two
/// backslashes are no such.
fn without_escapes(raw: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(raw.len()), raw);
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, used) = match rest.as_bytes() {
            [_, b'"', ..] => ("\"", 2),
            [_, b'\n', ..] => ("", 2),
            [_, b'\r', b'\n', ..] => ("", 3),
            [_, b'\\', ..] => ("\\\\", 2),
            _ => ("\\", 1),
        };
        text.push_str(kept);
        rest = &rest[used..];
    }
    text + rest
}

/// Whether a sign may stand in a name without quotes.
fn is_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_' || !sign.is_ascii()
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str, is_last: bool) -> Self {
        Self { text, at: 0, is_last, types: None, ports: 0, html: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The place of `what` from `at` on, or why it is not there.
    fn find(&self, what: &str, from: usize, or: &'static str) -> Result<usize, Stop> {
        match self.text[from..].find(what) {
            Some(end) => Ok(from + end),
            None if self.is_last => Err(Stop::Broken(self.at, or)),
            None => Err(Stop::More),
        }
    }

    /// Goes behind blanks and comments.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                let end = match rest.find('\n') {
                    Some(end) => end,
                    None if self.is_last => rest.len(),
                    None => return Err(Stop::More),
                };
                let comment = rest[..end].trim_start_matches(['/', '#']);
                self.types = self.types.take().or_else(|| Types::of_comment(comment));
                self.at += end;
            } else if rest.starts_with("/*") {
                self.at = self.find("*/", self.at + 2, "a comment does not end")? + 2;
            } else if rest == "/" && !self.is_last {
                return Err(Stop::More);
            } else {
                return Ok(());
            }
        }
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Result<Token<'a>, Stop> {
        self.skip()?;
        let at = self.at;
        let token = self.next();
        self.at = at;
        token
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, Stop> {
        self.skip()?;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return if self.is_last { Ok(Token::End) } else { Err(Stop::More) };
        };
        match first {
            '"' => self.quoted().map(Token::Id),
            '<' => self.skip_html().map(|()| Token::Html),
            '-' if rest.len() == 1 && !self.is_last => Err(Stop::More),
            '-' if rest.starts_with("->") || rest.starts_with("--") => {
                self.at += 2;
                Ok(Token::Edge(rest.starts_with("->")))
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' | '+' => {
                self.at += 1;
                Ok(Token::Sign(first))
            }
            '-' | '.' => self.bare(),
            sign if is_name(sign) => self.bare(),
            _ => Err(Stop::Broken(self.at, "a sign that DOT does not have here")),
        }
    }

    /// A name or a number without quotes. Some writers have names that begin with a digit, and exponents.
    fn bare(&mut self) -> Result<Token<'a>, Stop> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let end_from = |from: usize, is_part: fn(char) -> bool| match rest[from..].find(|sign| !is_part(sign))
        {
            Some(length) => Ok(from + length),
            None if self.is_last => Ok(rest.len()),
            None => Err(Stop::More),
        };
        let mut end = end_from(sign, |sign| is_name(sign) || sign == '.')?;
        let mantissa = rest[..end].strip_suffix(['e', 'E']);
        if rest[end..].starts_with(['-', '+']) && mantissa.is_some_and(|text| text.parse::<f64>().is_ok()) {
            let digits = end_from(end + 1, |sign| sign.is_ascii_digit())?;
            end = if digits > end + 1 { digits } else { end };
        }
        if end == sign {
            return Err(Stop::Broken(self.at, "a sign that DOT does not have here"));
        }
        self.at += end;
        Ok(Token::Id(Id { text: rest[..end].into(), is_bare: true }))
    }

    /// Texts in quotes, joined by plus signs. Only `\"`, and a line end behind a backslash, are replaced.
    fn quoted(&mut self) -> Result<Id<'a>, Stop> {
        let mut text = self.one_quoted()?;
        loop {
            let at = self.at;
            self.skip()?;
            if !self.rest().starts_with('+') {
                if self.rest().is_empty() && !self.is_last {
                    return Err(Stop::More);
                }
                self.at = at;
                return Ok(Id { text, is_bare: false });
            }
            self.at += 1;
            self.skip()?;
            match self.rest().chars().next() {
                Some('"') => text = Cow::Owned(text.into_owned() + &self.one_quoted()?),
                None if !self.is_last => return Err(Stop::More),
                _ => return Err(Stop::Broken(at, "a text in quotes belongs behind the plus")),
            }
        }
    }

    fn one_quoted(&mut self) -> Result<Cow<'a, str>, Stop> {
        let start = self.at + 1;
        let mut from = start;
        let end = loop {
            let end = self.find("\"", from, "the quotes of a text do not end")?;
            let backslashes = self.text[start..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
            if backslashes % 2 == 0 {
                break end;
            }
            from = end + 1;
        };
        self.at = end + 1;
        let raw = &self.text[start..end];
        match raw.contains('\\') {
            false => Ok(raw.into()),
            true => Ok(without_escapes(raw).into()),
        }
    }

    fn skip_html(&mut self) -> Result<(), Stop> {
        let mut depth = 0_usize;
        for (at, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                self.at += at + 1;
                self.html += 1;
                return Ok(());
            }
        }
        match self.is_last {
            true => Err(Stop::Broken(self.at, "the brackets of a text of HTML do not end")),
            false => Err(Stop::More),
        }
    }

    /// The value behind an equals sign; `None` for a text of HTML.
    pub(super) fn value(&mut self) -> Result<Option<Cow<'a, str>>, Stop> {
        let at = self.at;
        match self.next()? {
            Token::Id(id) => Ok(Some(id.text)),
            Token::Html => Ok(None),
            _ => Err(Stop::Broken(at, "a value belongs behind the equals sign")),
        }
    }
}
