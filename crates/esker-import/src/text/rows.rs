//! The rows of a table that is held in memory, by the rules of every other table: blanks outside quotes do
//! not belong to a field.

use std::borrow::Cow;

pub use super::blocks::check_encoding;
use super::blocks::without_line_end;
use super::line::{Comments, Dialect, Field, Separator, split};
pub use super::odd::{check_name, odd_line_warning};

/// Rows one after another; lines without a field are none.
pub struct TextRows<'a> {
    bytes: &'a [u8],
    /// Where the last row begins, and the next one.
    start: usize,
    at: usize,
    line: u64,
    dialect: Dialect,
}

/// Where a field lies in the bytes of its table.
#[derive(Debug, Clone, Copy)]
pub struct FieldPlace(Field);

impl FieldPlace {
    /// The bytes of the field, its doubled quotes as they stand.
    pub fn raw(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.0.start..self.0.end]
    }

    /// Whether quotes hold the field.
    pub fn is_quoted(self, bytes: &[u8]) -> bool {
        self.0.start > 0 && bytes[self.0.start - 1] == b'"' && bytes.get(self.0.end) == Some(&b'"')
    }

    /// The bytes from this field to a later one of its row, with their quotes.
    pub fn through(self, last: Self, bytes: &[u8]) -> &[u8] {
        let start = self.0.start - usize::from(self.is_quoted(bytes));
        &bytes[start..last.0.end + usize::from(last.is_quoted(bytes))]
    }

    /// The text of the field, its doubled quotes undone.
    pub fn text(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self.0.doubled {
            true => Cow::Owned(super::shape::text(bytes, self.0)),
            false => Cow::Borrowed(self.raw(bytes)),
        }
    }
}

/// A row whose quotes are wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Its line, from 1.
    pub line: u64,
    /// What is wrong with it and what to do.
    pub reason: &'static str,
}

impl<'a> TextRows<'a> {
    /// The rows of `bytes`, whose columns a byte separates: a space for blanks. `quotes` says whether quotes
    /// quote.
    pub fn new(bytes: &'a [u8], delimiter: u8, quotes: bool) -> Self {
        let separator = if delimiter == b' ' { Separator::Blank } else { Separator::Byte(delimiter) };
        Self {
            bytes,
            start: 0,
            at: 0,
            line: 1,
            dialect: Dialect { separator, quotes, comments: Comments::None },
        }
    }

    /// The text of the row that was read last, or refused.
    pub fn last_row(&self) -> &'a [u8] {
        without_line_end(&self.bytes[self.start..self.at])
    }

    /// Appends the fields of the next row to `fields`; returns the line where it begins, or `None` at the
    /// end.
    ///
    /// # Errors
    /// If its quotes are wrong.
    pub fn next_row(&mut self, fields: &mut Vec<FieldPlace>) -> Result<Option<u64>, BadRow> {
        let mut split_fields = Vec::new();
        while self.at < self.bytes.len() {
            let (start, line) = (self.at, self.line);
            let found = split(self.bytes, start, &self.dialect, usize::MAX, &mut split_fields);
            let next = found.map_or_else(|(_, line)| line.next, |line| line.next);
            (self.start, self.at) = (start, next);
            self.line += super::blocks::count_lines(&self.bytes[start..next]);
            match found {
                Err((fault, _)) => return Err(BadRow { line, reason: fault.reason() }),
                Ok(row) if row.columns <= 1 && self.bytes[start..row.end].trim_ascii().is_empty() => {}
                Ok(_) => {
                    fields.extend(split_fields.iter().copied().map(FieldPlace));
                    return Ok(Some(line));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(table: &str, expected: &[(u64, &[&str])]) {
        let (mut rows, mut found) = (TextRows::new(table.as_bytes(), b',', true), Vec::new());
        let mut fields = Vec::new();
        while let Some(line) = rows.next_row(&mut fields).unwrap() {
            let texts = fields.drain(..).map(|field| field.text(table.as_bytes()).into_owned());
            found.push((line, texts.map(|text| String::from_utf8(text).unwrap()).collect::<Vec<_>>()));
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(line, row)| (*line, row.iter().map(|&text| text.to_owned()).collect()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn blanks_belong_to_a_field_only_in_quotes() {
        check(
            "id, name\n\n 1 ,\" a \"\"b\"\" \"\n  \n2,\"two\nlines\"\r\n3,",
            &[(1, &["id", "name"]), (3, &["1", " a \"b\" "]), (5, &["2", "two\nlines"]), (7, &["3", ""])],
        );
        let wrong = "1,2\n\"open,3\n";
        let (mut rows, mut fields) = (TextRows::new(wrong.as_bytes(), b',', true), Vec::new());
        assert_eq!(rows.next_row(&mut fields), Ok(Some(1)));
        assert_eq!(rows.next_row(&mut fields).map_err(|bad| bad.line), Err(2));
    }
}
