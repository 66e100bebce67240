//! A list of the ids of consecutive vertices, integers or texts.

use esker_format::{Column, Result};

use super::external::ExternalId;
use super::files::{IdColumnFile, IdFiles};

/// A mapped list of ids.
#[derive(Debug)]
pub(super) enum IdList {
    Integers(Column<u64>),
    Texts { texts: Column<u8>, ends: Column<u64> },
}

impl IdList {
    /// Opens a list of `count` integers.
    pub(super) fn integers(files: &IdFiles<'_>, file: IdColumnFile, count: usize) -> Result<Self> {
        let integers = files.open(file)?;
        integers.expect_len(count as u64)?;
        Ok(Self::Integers(integers))
    }

    /// Opens a list of `count` texts.
    pub(super) fn texts(
        files: &IdFiles<'_>,
        texts: IdColumnFile,
        ends: IdColumnFile,
        count: usize,
    ) -> Result<Self> {
        let (texts, ends) = (files.open(texts)?, files.open(ends)?);
        ends.expect_len(count as u64)?;
        Ok(Self::Texts { texts, ends })
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Texts { .. })
    }

    /// Whether the id at an existing position ends as another one does, as most that are equal and few others do.
    #[inline]
    pub(super) fn resembles(&self, at: usize, id: ExternalId<'_>) -> Result<bool> {
        Ok(match (self.get(at)?, id) {
            (ExternalId::Text(own), ExternalId::Text(other)) => {
                own.len() == other.len() && own.last() == other.last()
            }
            (own, other) => own == other,
        })
    }

    /// The id at an existing position.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Result<ExternalId<'_>> {
        match self {
            Self::Integers(integers) => integers.at(at).map(ExternalId::Int),
            Self::Texts { texts, ends } => {
                let (start, end) = match at.checked_sub(1) {
                    None => (0, ends.at(0)?),
                    Some(before) => (ends.at(before)?, ends.at(at)?),
                };
                texts.get(start as usize..end as usize).map(ExternalId::Text)
            }
        }
    }
}
