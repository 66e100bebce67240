//! What the rows of a stream say happens to their edges.

use esker_graph::{Message, Setting, message};

/// What happens to the edge of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowOperation {
    /// It is added.
    Add,
    /// It is removed.
    Remove,
    /// It takes the place of the one that exists, or is added.
    Replace,
}

/// The words for each, in lower case; the first is the one that is written.
const WORDS: [(RowOperation, &[&str]); 3] = [
    (RowOperation::Add, &["insert", "add", "i", "+", "c", "create"]),
    (RowOperation::Remove, &["delete", "remove", "d", "-"]),
    (RowOperation::Replace, &["update", "upsert", "u", "replace"]),
];

impl RowOperation {
    /// The operation that a word means, whatever its case.
    pub fn of(word: &[u8]) -> Option<Self> {
        let word = word.trim_ascii();
        let is_word = |known: &&str| known.as_bytes().eq_ignore_ascii_case(word);
        WORDS.iter().find(|(_, words)| words.iter().any(is_word)).map(|(own, _)| *own)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Add => "insert",
            Self::Remove => "delete",
            Self::Replace => "update",
        }
    }
}

/// The column that says what happens to the edge of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationColumn {
    /// Its name, or its number from 1.
    pub column: String,
    /// Whether a row may replace an edge.
    pub may_replace: bool,
}

/// The place of that column among the properties that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperationPlace {
    pub(crate) property: usize,
    pub(crate) may_replace: bool,
}

impl OperationPlace {
    /// What a row says in the column `name`; `None`: it says nothing.
    pub(crate) fn read(self, word: Option<&[u8]>, name: &str) -> Result<RowOperation, Message> {
        expect_operation(word, name, self.may_replace)
    }
}

/// What a row says of its edge in the column `name`; `None`: it says nothing.
///
/// # Errors
/// Why the row is refused.
pub fn expect_operation(word: Option<&[u8]>, name: &str, may_replace: bool) -> Result<RowOperation, Message> {
    let Some(word) = word.filter(|word| !word.trim_ascii().is_empty()) else {
        return Err(format!("the row does not say what happens to the edge: its {name:?} is missing").into());
    };
    match RowOperation::of(word) {
        Some(RowOperation::Replace) if !may_replace => Err(message![
            format!(
                "its {name:?} is {}, which replaces an edge, and the rule for duplicates does not: ",
                shown(word)
            ),
            Setting::Duplicates.to("last"),
            " does",
        ]),
        Some(operation) => Ok(operation),
        None => Err(format!(
            "its {name:?} is {}, which is none of insert, add, i, +, create, c; delete, remove, d, -; update, upsert, u, replace",
            shown(word)
        )
        .into()),
    }
}

/// The beginning of a word, in quotes.
fn shown(word: &[u8]) -> String {
    const SHOWN_MAX: usize = 40;
    let text = String::from_utf8_lossy(word);
    let mut beginning: String = text.chars().take(SHOWN_MAX).collect();
    if beginning.len() < text.len() {
        beginning.push('…');
    }
    format!("{beginning:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_operations_whatever_their_case() {
        for (operation, words) in WORDS {
            assert_eq!(words[0], operation.word());
            for word in words {
                assert_eq!(RowOperation::of(word.as_bytes()), Some(operation), "{word}");
                let padded = format!(" {} ", word.to_uppercase());
                assert_eq!(RowOperation::of(padded.as_bytes()), Some(operation), "{word}");
            }
        }
        for other in ["", "x", "++", "inserted", "r", "0"] {
            assert_eq!(RowOperation::of(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_row_is_refused_that_says_nothing_or_what_the_rule_does_not_do() {
        let place = |may_replace| OperationPlace { property: 0, may_replace };
        assert_eq!(place(false).read(Some(b"D"), "op"), Ok(RowOperation::Remove));
        assert_eq!(place(true).read(Some(b"u"), "op"), Ok(RowOperation::Replace));
        let refused = |word| place(false).read(word, "op").unwrap_err().to_string();
        assert!(refused(None).contains("its \"op\" is missing"), "{}", refused(None));
        assert!(refused(Some(b" ")).contains("is missing"));
        assert!(refused(Some(b"u")).contains("the rule for duplicates does not"));
        assert!(refused(Some(b"gone")).contains("\"gone\", which is none of insert"));
    }
}
