//! Lines of columns: where a line ends, what its fields are.
//!
//! A quote opens a quoted field only where a field begins; two quotes within one stand for one; a line may go
//! on within one. Everywhere else a quote is an ordinary byte. The cutter of blocks and the splitter of lines
//! share this rule, so a block never ends within a quoted field.

use memchr::{memchr, memrchr};

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Any run of spaces and tabs.
    Blank,
    /// This byte, once.
    Byte(u8),
}

impl Separator {
    /// The separator that a byte stands for: a space for any run of blanks.
    pub(crate) fn of(byte: u8) -> Self {
        if byte == b' ' { Self::Blank } else { Self::Byte(byte) }
    }

    /// The byte that stands for it: see [`Separator::of`].
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Blank => b' ',
            Self::Byte(byte) => byte,
        }
    }

    /// Its name for messages.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Blank => "spaces or tabs".into(),
            Self::Byte(b'\t') => "tabs".into(),
            Self::Byte(byte) => format!("'{}'", char::from(byte)),
        }
    }

    #[inline(always)]
    pub(crate) fn is(self, byte: u8) -> bool {
        match self {
            Self::Blank => byte == b' ' || byte == b'\t',
            Self::Byte(own) => byte == own,
        }
    }
}

/// Which lines are comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// None.
    None,
    /// Those that begin with `#` or `%`.
    Marked,
    /// Those that begin with `#` and a space, a tab, another `#`, or nothing: a text id may begin with `#`
    /// itself.
    Spaced,
    /// Those that begin with the letter `c` alone.
    Letter,
    /// These, and what a graph to be coloured says of vertices: [`of_colouring`].
    Colouring,
}

/// Whether a line of a graph to be coloured describes vertices: colours (`n`), dimensions (`d`), places (`v`)
/// and parameters (`x`).
pub(crate) fn of_colouring(line: &[u8]) -> bool {
    matches!(line, [b'n' | b'd' | b'v' | b'x', b' ' | b'\t', ..])
}

/// How lines are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// What separates columns.
    pub(crate) separator: Separator,
    /// Whether quotes quote.
    pub(crate) quotes: bool,
    /// Which lines are comments.
    pub(crate) comments: Comments,
}

impl Dialect {
    /// Whether a line is a comment.
    pub(crate) fn is_comment(&self, line: &[u8]) -> bool {
        match self.comments {
            Comments::None => false,
            Comments::Marked => matches!(line, [b'#' | b'%', ..]),
            Comments::Letter => is_letter_comment(line),
            Comments::Colouring => is_letter_comment(line) || of_colouring(line),
            Comments::Spaced => matches!(line, [b'#'] | [b'#', b' ' | b'\t' | b'#' | b'\r', ..]),
        }
    }
}

fn is_letter_comment(line: &[u8]) -> bool {
    matches!(line, [b'c'] | [b'c', b' ' | b'\t' | b'\r', ..])
}

/// A field within the bytes that were split, without its quotes and the blanks around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Two quotes within it stand for one.
    pub(crate) doubled: bool,
}

/// What is wrong with the quotes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadQuote {
    /// A field that opens and never closes.
    Unclosed,
    /// Something other than a separator follows the closing quote.
    Followed,
}

impl BadQuote {
    /// What to say of the line.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Unclosed => "a quote opens a field and never closes; mend the line, or turn quotes off",
            Self::Followed => "something follows a closing quote; mend the line, or turn quotes off",
        }
    }
}

/// One line, split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SplitLine {
    /// Where the line ends, its line end left aside.
    pub(crate) end: usize,
    /// Where the next one begins.
    pub(crate) next: usize,
    /// Number of columns, those beyond the limit included.
    pub(crate) columns: usize,
}

/// The end of the line that begins at `at`, and the beginning of the next, without regard to quotes.
#[inline]
pub(crate) fn line_end(bytes: &[u8], at: usize) -> (usize, usize) {
    let (end, next) = match memchr(b'\n', &bytes[at..]) {
        Some(length) => (at + length, at + length + 1),
        None => (bytes.len(), bytes.len()),
    };
    if end > at && bytes[end - 1] == b'\r' { (end - 1, next) } else { (end, next) }
}

/// Splits the line at `at`, keeping at most `limit` fields.
///
/// # Errors
/// A wrong quote, with the place where the next line is taken to begin.
pub(crate) fn split(
    bytes: &[u8],
    at: usize,
    dialect: &Dialect,
    limit: usize,
    fields: &mut Vec<Field>,
) -> Result<SplitLine, (BadQuote, SplitLine)> {
    fields.clear();
    let (end, next) = line_end(bytes, at);
    if dialect.quotes && memchr(b'"', &bytes[at..end]).is_some() {
        return split_quoted(bytes, at, dialect.separator, limit, fields);
    }
    let columns = match dialect.separator {
        Separator::Blank => split_blank(bytes, at, end, limit, fields),
        Separator::Byte(byte) => split_byte(bytes, at, end, byte, limit, fields),
    };
    Ok(SplitLine { end, next, columns })
}

fn split_blank(bytes: &[u8], mut at: usize, end: usize, limit: usize, fields: &mut Vec<Field>) -> usize {
    let mut columns = 0;
    loop {
        while at < end && is_blank(bytes[at]) {
            at += 1;
        }
        if at == end {
            return columns;
        }
        let start = at;
        while at < end && !is_blank(bytes[at]) {
            at += 1;
        }
        if columns < limit {
            fields.push(Field { start, end: at, doubled: false });
        }
        columns += 1;
    }
}

fn split_byte(bytes: &[u8], at: usize, end: usize, byte: u8, limit: usize, fields: &mut Vec<Field>) -> usize {
    let mut columns = 0;
    let mut start = at;
    loop {
        let mut stop = start;
        while stop < end && bytes[stop] != byte {
            stop += 1;
        }
        if columns < limit {
            fields.push(trimmed(bytes, start, stop));
        }
        columns += 1;
        if stop == end {
            return columns;
        }
        start = stop + 1;
    }
}

fn trimmed(bytes: &[u8], mut start: usize, mut end: usize) -> Field {
    while start < end && is_blank(bytes[start]) {
        start += 1;
    }
    while end > start && is_blank(bytes[end - 1]) {
        end -= 1;
    }
    Field { start, end, doubled: false }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn split_quoted(
    bytes: &[u8],
    mut at: usize,
    separator: Separator,
    limit: usize,
    fields: &mut Vec<Field>,
) -> Result<SplitLine, (BadQuote, SplitLine)> {
    let mut columns = 0;
    let mut is_followed = false;
    loop {
        at = skip_padding(bytes, at, separator);
        if separator == Separator::Blank && ends_line(bytes, at) {
            break;
        }
        let field = if bytes.get(at) == Some(&b'"') {
            let Some((end, doubled)) = close(bytes, at + 1) else {
                let (end, next) = line_end(bytes, at);
                return Err((BadQuote::Unclosed, SplitLine { end, next, columns }));
            };
            let start = std::mem::replace(&mut at, end + 1) + 1;
            Field { start, end, doubled }
        } else {
            let start = at;
            at = field_end(bytes, at, separator);
            trimmed(bytes, start, at)
        };
        if columns < limit {
            fields.push(field);
        }
        columns += 1;
        at = if separator == Separator::Blank { at } else { skip_padding(bytes, at, separator) };
        // The line goes on behind a fault as the cutter of blocks sees it, so both agree where the next one
        // begins.
        let end = field_end(bytes, at, separator);
        is_followed |= end > at;
        at = end;
        if ends_line(bytes, at) {
            break;
        }
        at += 1;
    }
    let line = line_at(bytes, at, columns);
    if is_followed { Err((BadQuote::Followed, line)) } else { Ok(line) }
}

/// Where the bytes that belong to no quoted field end: at a separator or the end of the line.
fn field_end(bytes: &[u8], mut at: usize, separator: Separator) -> usize {
    while !ends_line(bytes, at) && !separator.is(bytes[at]) {
        at += 1;
    }
    at
}

/// Skips blanks that do not separate fields alone.
fn skip_padding(bytes: &[u8], mut at: usize, separator: Separator) -> usize {
    while at < bytes.len() && is_blank(bytes[at]) && separator != Separator::Byte(bytes[at]) {
        at += 1;
    }
    at
}

/// Whether a line ends at `at`: a line feed, with a carriage return before it perhaps, or the end of all.
fn ends_line(bytes: &[u8], at: usize) -> bool {
    matches!(&bytes[at..], [] | [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..])
}

fn line_at(bytes: &[u8], end: usize, columns: usize) -> SplitLine {
    let next = memchr(b'\n', &bytes[end..]).map_or(bytes.len(), |more| end + more + 1);
    SplitLine { end, next, columns }
}

/// Where the quoted field whose text begins at `at` closes, and whether quotes are doubled in it.
fn close(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut doubled = false;
    loop {
        let quote = at + memchr(b'"', &bytes[at..])?;
        if bytes.get(quote + 1) != Some(&b'"') {
            return Some((quote, doubled));
        }
        doubled = true;
        at = quote + 2;
    }
}

/// Where the last whole line of `bytes` ends, which begin with a line: behind its line feed. `quoted` says
/// how lines are read if quotes quote.
pub(crate) fn last_line_end(bytes: &[u8], quoted: Option<&Dialect>) -> Option<usize> {
    let Some(dialect) = quoted else {
        return memrchr(b'\n', bytes).map(|at| at + 1);
    };
    let mut at = 0;
    let mut last = None;
    while let Some(quote) = memchr(b'"', &bytes[at..]).map(|more| at + more) {
        last = memrchr(b'\n', &bytes[at..quote]).map(|more| at + more + 1).or(last);
        at = quote + 1;
        if !opens(bytes, quote, dialect.separator) {
            continue;
        }
        if dialect.is_comment(&bytes[last.unwrap_or(0)..quote]) {
            match memchr(b'\n', &bytes[quote..]) {
                Some(more) => at = quote + more,
                None => return last,
            }
        } else {
            match close(bytes, quote + 1) {
                Some((end, _)) => at = end + 1,
                None => return last,
            }
        }
    }
    memrchr(b'\n', &bytes[at..]).map(|more| at + more + 1).or(last)
}

/// Whether the quote at `at` stands where a field begins.
fn opens(bytes: &[u8], at: usize, separator: Separator) -> bool {
    let before = bytes[..at].iter().rposition(|&byte| !is_blank(byte) || separator == Separator::Byte(byte));
    match before {
        None => true,
        Some(before) if separator == Separator::Blank => before + 1 < at || bytes[before] == b'\n',
        Some(before) => separator.is(bytes[before]) || bytes[before] == b'\n',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Dialect =
        Dialect { separator: Separator::Byte(b','), quotes: true, comments: Comments::None };

    fn fields(text: &str, dialect: Dialect) -> Result<Vec<String>, BadQuote> {
        let mut fields = Vec::new();
        match split(text.as_bytes(), 0, &dialect, 100, &mut fields) {
            Ok(line) => {
                assert_eq!(line.columns, fields.len());
                Ok(fields.iter().map(|f| text[f.start..f.end].to_owned()).collect())
            }
            Err((fault, _)) => Err(fault),
        }
    }

    #[test]
    fn fields_of_every_kind() {
        let blank = Dialect { separator: Separator::Blank, ..COMMA };
        let tab = Dialect { separator: Separator::Byte(b'\t'), ..COMMA };
        let table: [(&str, Dialect, &[&str]); 14] = [
            ("1,2\n3", COMMA, &["1", "2"]),
            ("1 , 2\r\n", COMMA, &["1", "2"]),
            ("a,\"b,\nc\",d", COMMA, &["a", "b,\nc", "d"]),
            ("a, \"b\" ,d\r\n", COMMA, &["a", "b", "d"]),
            ("\"\",\r", COMMA, &["", ""]),
            ("\"a\",b\"c\n", COMMA, &["a", "b\"c"]),
            ("5\" pipe,x\n", COMMA, &["5\" pipe", "x"]),
            ("\"a\"\"b\",c", COMMA, &["a\"\"b", "c"]),
            ("a,,\n", COMMA, &["a", "", ""]),
            (" a \t b\t\n", blank, &["a", "b"]),
            ("\"a b\" c\n", blank, &["a b", "c"]),
            ("\"a b\" \n", blank, &["a b"]),
            ("\"a\"\t b\t\t\"c\"\n", tab, &["a", "b", "", "c"]),
            ("", COMMA, &[""]),
        ];
        for (text, dialect, expected) in table {
            assert_eq!(fields(text, dialect).unwrap(), expected, "{text:?}");
        }
        assert_eq!(fields("a,\"b\nc", COMMA), Err(BadQuote::Unclosed));
        assert_eq!(fields("\"a\"b,c", COMMA), Err(BadQuote::Followed));
        assert_eq!(fields("a\"b c\"", blank).unwrap(), ["a\"b", "c\""]);
    }

    #[test]
    fn quotes_of_comments_open_nothing() {
        let blank = Dialect { separator: Separator::Blank, comments: Comments::Marked, ..COMMA };
        assert_eq!(last_line_end(b"\"a\" b\n# the \"web\nc d\ne", Some(&blank)), Some(21));
        assert_eq!(last_line_end(b"# the \"web", Some(&blank)), None);
    }

    #[test]
    fn blocks_end_where_the_splitter_ends_lines() {
        let texts = [
            "a,\"b\nc\",d\ne,f\n\"g\",\"h\"\n",
            "a,b\"c\nd,\"e\"\"\n\",f\n  \"x\ny\" , z\n5\",6\n",
            "\"\n\",\"\"\n\"\"\"\n\",1\n,\n",
            "a\",\"b\"c,\"d\ne\"\nf,\"g\" \"h\ni,j\n",
        ];
        for text in texts {
            let bytes = text.as_bytes();
            let (mut ends, mut at, mut fields) = (vec![], 0, Vec::new());
            while at < bytes.len() {
                at = split(bytes, at, &COMMA, 9, &mut fields).unwrap_or_else(|(_, line)| line).next;
                ends.push(at);
            }
            assert_eq!(last_line_end(bytes, Some(&COMMA)), ends.last().copied(), "{text:?}");
            for cut in 0..bytes.len() {
                let expected = ends.iter().rev().find(|end| **end <= cut).copied();
                let got = last_line_end(&bytes[..cut], Some(&COMMA));
                // A cut right behind the first of two quotes looks like a closing quote, but no line ends
                // there.
                assert_eq!(got, expected, "{text:?} cut at {cut}");
            }
        }
    }
}
