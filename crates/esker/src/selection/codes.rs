//! Questions about the texts of an edge property, answered by code.

use std::ops::Range;

use esker_graph::{Bitmap, Reservation, Run, vertex};
use esker_store::Version;
use esker_store::format::{MISSING_TEXT, PropertyRecord};
use esker_store::property::Dictionary;

use super::value::{TextTest, ValueTest};
use crate::error::{Error, Result};

/// Texts that are compared at a time.
const GRAIN: usize = 1 << 10;

/// The answers to a question about texts, by code.
#[derive(Debug)]
pub(super) enum TextCodes {
    /// Of texts that were all compared.
    Compared {
        /// Those that meet it.
        met: Bitmap,
        /// The code that stands for a missing text.
        missing: Option<u64>,
        _memory: Reservation,
    },
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
    pub(super) fn of(
        test: &ValueTest,
        texts: &Dictionary,
        property: &PropertyRecord,
        run: &Run,
    ) -> Result<Self> {
        let code_of = |text: &[u8]| Ok::<_, Error>(texts.code_of(text)?.map(|code| code as u64));
        let missing = if property.optional { code_of(MISSING_TEXT)? } else { None };
        let ValueTest::Texts(test) = test else {
            // What is not asked of the text itself is whether it is missing.
            return Ok(Self::Some { codes: missing.into_iter().collect(), answer: true, missing: None });
        };
        let Some(wanted) = test.wanted() else { return Self::compared(test, texts, missing, run) };
        let codes = wanted.iter().map(|text| code_of(text.as_bytes()));
        let mut codes: Vec<u64> = codes.filter_map(Result::transpose).collect::<Result<_>>()?;
        codes.sort_unstable();
        Ok(Self::Some { codes, answer: test.is_equality(), missing })
    }

    /// Compares all texts. Memory: a bit for each.
    fn compared(test: &TextTest, texts: &Dictionary, missing: Option<u64>, run: &Run) -> Result<Self> {
        let bytes = texts.len().div_ceil(8) as u64;
        let memory = run.budget().reserve("the texts that meet conditions", bytes).map_err(Error::from)?;
        let met = Bitmap::new(texts.len());
        let compare = |(): &mut (), range: Range<usize>| {
            for code in range {
                if test.is_met(texts.text(code)?) {
                    met.insert_alone(vertex(code));
                }
            }
            Ok::<_, Error>(())
        };
        run.share_ranges(texts.len(), GRAIN, || (), compare)?;
        Ok(Self::Compared { met, missing, _memory: memory })
    }

    pub(super) fn answer(&self, code: u64) -> Option<bool> {
        match self {
            Self::Compared { missing, .. } | Self::Some { missing, .. } if *missing == Some(code) => None,
            Self::Compared { met, .. } => Some((code as usize) < met.len() && met.get(vertex(code as usize))),
            Self::Some { codes, answer, .. } => Some(codes.binary_search(&code).is_ok() == *answer),
        }
    }
}

/// Whether an edge of a version, or of an earlier one, has a text as its value of a property.
pub(super) fn text_is_known(text: &str, property: &PropertyRecord, version: &Version) -> Result<bool> {
    let Some(texts) = version.dictionary(property.number) else { return Ok(false) };
    Ok(texts.code_of(text.as_bytes())?.is_some())
}
