//! A list of the ids of consecutive vertices, integers or texts.

use std::ops::Range;

use esker_format::{Column, Result};
use esker_graph::Run;

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

    /// Verifies all ids.
    pub(super) fn verify(&self, run: &Run) -> Result<()> {
        match self {
            Self::Integers(integers) => integers.all(run).map(drop),
            Self::Texts { texts, ends } => texts.all(run).and_then(|_| ends.all(run)).map(drop),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Texts { .. })
    }

    /// Prefetches what says where the id at a position lies: its end, or an integer itself.
    #[inline]
    pub(super) fn prefetch_place(&self, at: usize) {
        match self {
            Self::Integers(integers) => integers.prefetch(at),
            Self::Texts { ends, .. } => {
                ends.prefetch(at.wrapping_sub(1));
                ends.prefetch(at);
            }
        }
    }

    /// Prefetches the text at an existing position.
    #[inline]
    pub(super) fn prefetch_text(&self, at: usize) -> Result<()> {
        if let Self::Texts { texts, ends } = self {
            let end = ends.at(at)? as usize;
            texts.prefetch(end.wrapping_sub(1));
            texts.prefetch(if at == 0 { 0 } else { ends.at(at - 1)? as usize });
        }
        Ok(())
    }

    /// Calls `take` with the ids at existing positions, in order.
    pub(super) fn each<'a>(
        &'a self,
        range: Range<usize>,
        take: &mut impl FnMut(ExternalId<'a>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Integers(integers) => {
                integers.get(range)?.iter().map(|&id| ExternalId::Int(id)).try_for_each(take)
            }
            Self::Texts { texts, ends } => {
                let mut start = if range.start == 0 { 0 } else { ends.at(range.start - 1)? };
                ends.get(range)?.iter().try_for_each(|&end| {
                    let text = texts.get(start as usize..end as usize)?;
                    start = end;
                    take(ExternalId::Text(text))
                })
            }
        }
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
