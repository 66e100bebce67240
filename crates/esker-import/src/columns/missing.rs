//! What says in a table of text that there is no value.

use crate::read::format::ReadOptions;

/// Words for a missing number, truth value, date or time, in lower case. In a column of texts they are texts.
const WORDS: &[&[u8]] =
    &[b"na", b"n/a", b"#n/a", b"<na>", b"nan", b"nat", b"null", b"none", b"nil", b"-", b"\\n", b"\\\\n"];

/// What PostgreSQL, MySQL and Hive write for a missing value of any column.
const OF_DATABASES: &[u8] = b"\\N";

/// Whether a value that is no text says that there is none.
pub fn says_missing(value: &[u8]) -> bool {
    // No number is looked for in the list.
    if value.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let value = value.trim_ascii();
    value.is_empty() || WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// The words of an input that stand for no value in columns of every type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingWords {
    /// Those that the user or the input names.
    named: Vec<Vec<u8>>,
    /// A bit for each length below 64 that a word of texts has.
    lengths: u64,
    /// The word for the empty text, if the input names one.
    empty: Option<Vec<u8>>,
}

/// What a field of a column of texts holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextField {
    /// Nothing.
    Missing,
    /// The empty text.
    Empty,
    /// Itself.
    Given,
}

impl MissingWords {
    /// The words that options name or the database remembers.
    pub fn of(options: &ReadOptions) -> Self {
        let remembered = options.expected.iter().flat_map(|expected| &expected.nulls);
        let mut words = Self::default();
        words.add(OF_DATABASES);
        options.nulls.iter().chain(remembered).for_each(|word| words.name(word.as_bytes()));
        words
    }

    /// Adds a word that the input names.
    pub(crate) fn name(&mut self, word: &[u8]) {
        self.add(word);
        self.named.push(word.to_vec());
    }

    fn add(&mut self, word: &[u8]) {
        self.lengths |= 1 << word.len().min(63);
    }

    /// The same, with the word for the empty text.
    pub(crate) fn set_empty(&mut self, word: &[u8]) {
        self.add(word);
        self.empty = Some(word.to_vec());
    }

    /// Whether the user or the input names words.
    pub(crate) fn has_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// Whether a value is a word that the user or the input names.
    #[inline]
    pub fn is_named(&self, value: &[u8]) -> bool {
        self.has_named() && self.named.iter().any(|word| word == value)
    }

    /// What a text without quotes stands for.
    #[inline]
    pub fn text(&self, value: &[u8]) -> TextField {
        if value.is_empty() {
            return TextField::Missing;
        }
        if self.lengths >> value.len().min(63) & 1 == 0 {
            return TextField::Given;
        }
        match () {
            () if value == OF_DATABASES || self.is_named(value) => TextField::Missing,
            () if self.empty.as_deref() == Some(value) => TextField::Empty,
            () => TextField::Given,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_values() {
        for missing in ["", " ", "NA", "nan", "NaN", "NULL", "None", "-", "\\N", "<NA>", "#N/A", " NA "] {
            assert!(says_missing(missing.as_bytes()), "{missing:?}");
        }
        for given in ["0", "-1", "?", "+", "nano", "N", ".5", "5 ", "--"] {
            assert!(!says_missing(given.as_bytes()), "{given:?}");
        }
        let options = ReadOptions { nulls: vec!["-1".to_owned(), "x".repeat(80)], ..ReadOptions::default() };
        let mut words = MissingWords::of(&options);
        words.set_empty(b"(empty)");
        let texts = ["", "\\N", "-1", "NA", "(empty)", "0"].map(|text| words.text(text.as_bytes()));
        use TextField::{Empty, Given, Missing};
        assert_eq!(texts, [Missing, Missing, Missing, Given, Empty, Given]);
        assert_eq!(words.text("x".repeat(80).as_bytes()), Missing);
        assert!(words.is_named(b"-1") && !words.is_named(b"\\N"));
        assert!(!MissingWords::of(&ReadOptions::default()).has_named());
    }
}
