//! Questions about the texts of an edge property, answered by code.

use esker_store::Version;
use esker_store::format::{MISSING_TEXT, PropertyRecord};
use esker_store::property::{Dictionary, PropertyValue};

use super::value::ValueTest;
use crate::error::{Error, Result};

/// The answers to a question about texts, by code.
#[derive(Debug)]
pub(super) enum TextCodes {
    /// One for each code.
    Each(Vec<Option<bool>>),
    /// Of whether a text is one of some, or is not.
    Some {
        /// Their codes, ascending.
        codes: Vec<u64>,
        /// The answer to these.
        answer: bool,
        /// The code that stands for a missing text.
        missing: Option<u64>,
    },
}

impl TextCodes {
    /// Looks for the texts in a dictionary, or compares all of them.
    pub(super) fn of(test: &ValueTest, texts: &Dictionary, property: &PropertyRecord) -> Result<Self> {
        let wanted = match test {
            ValueTest::Texts(test) => test.wanted().zip(Some(test.is_equality())),
            _ => None,
        };
        let Some((wanted, answer)) = wanted else {
            let answer = |code| Ok(test.is_met(&PropertyValue::from_text(property, texts.text(code)?)));
            return Ok(Self::Each((0..texts.len()).map(answer).collect::<Result<_>>()?));
        };
        let code_of = |text: &[u8]| Ok::<_, Error>(texts.code_of(text)?.map(|code| code as u64));
        let codes = wanted.iter().map(|text| code_of(text.as_bytes()));
        let mut codes: Vec<u64> = codes.filter_map(Result::transpose).collect::<Result<_>>()?;
        codes.sort_unstable();
        let missing = if property.optional { code_of(MISSING_TEXT)? } else { None };
        Ok(Self::Some { codes, answer, missing })
    }

    pub(super) fn answer(&self, code: u64) -> Option<bool> {
        match self {
            Self::Each(answers) => answers.get(code as usize).copied().unwrap_or(Some(false)),
            Self::Some { missing, .. } if *missing == Some(code) => None,
            Self::Some { codes, answer, .. } => Some(codes.binary_search(&code).is_ok() == *answer),
        }
    }
}

/// Whether an edge of a version, or of an earlier one, has a text as its value of a property.
pub(super) fn text_is_known(text: &str, property: &PropertyRecord, version: &Version) -> Result<bool> {
    let Some(texts) = version.dictionary(property.number) else { return Ok(false) };
    Ok(texts.code_of(text.as_bytes())?.is_some())
}
