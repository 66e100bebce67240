//! The fast path of tables: lines of two integers and perhaps a number, one separator between each, taken as
//! long as they come.
//!
//! One pass, no search for line ends, no allocation: each number is one or two loads and a few
//! multiplications. What is unusual about a line (blanks, signs, quotes, comments, errors) ends the run, and
//! the splitter takes that line.

use std::ops::RangeInclusive;

use esker_format::value::decimal::{Number, is_padded};

use super::column::NumberColumn;
use super::digits::{decimal_at, uint_at};
use super::line::Separator;

/// The form of the lines.
#[derive(Debug, Clone)]
pub(crate) struct Fast {
    pub(crate) separator: Separator,
    /// A letter and a space before the first integer.
    pub(crate) mark: Option<u8>,
    /// A number behind the second.
    pub(crate) weighted: bool,
    /// The integers that are ids.
    pub(crate) ids: RangeInclusive<u64>,
}

/// Where the parts of an edge go.
pub(crate) struct EdgeParts<'a> {
    pub(crate) sources: &'a mut Vec<u64>,
    pub(crate) targets: &'a mut Vec<u64>,
    pub(crate) weights: Option<&'a mut NumberColumn>,
}

impl Fast {
    /// Takes lines from `at` on; returns where the first that is of another form begins. Lines within the
    /// last bytes of a block are of another form, for numbers are loaded eight bytes at a time.
    pub(crate) fn take(&self, bytes: &[u8], at: usize, edges: EdgeParts<'_>) -> usize {
        match (self.separator, self.weighted) {
            (Separator::Blank, false) => self.run::<false>(bytes, at, edges, |b| b == b' ' || b == b'\t'),
            (Separator::Blank, true) => self.run::<true>(bytes, at, edges, |b| b == b' ' || b == b'\t'),
            (Separator::Byte(own), false) => self.run::<false>(bytes, at, edges, move |b| b == own),
            (Separator::Byte(own), true) => self.run::<true>(bytes, at, edges, move |b| b == own),
        }
    }

    #[inline(always)]
    fn run<const WEIGHTED: bool>(
        &self,
        bytes: &[u8],
        mut at: usize,
        edges: EdgeParts<'_>,
        is_separator: impl Fn(u8) -> bool,
    ) -> usize {
        let (first, last, mark) = (*self.ids.start(), *self.ids.end(), self.mark);
        let EdgeParts { sources, targets, mut weights } = edges;
        let separated = |end: usize| bytes.get(end).is_some_and(|&byte| is_separator(byte));
        loop {
            let Some(start) = behind_mark(bytes, at, mark) else { return at };
            let Some((source, end)) = uint_at(bytes, start).filter(|&(_, end)| separated(end)) else {
                return at;
            };
            let second = end + 1;
            let Some((target, mut end)) = uint_at(bytes, second) else { return at };
            // Integers do not keep zeros in front.
            if is_padded(&bytes[start..end]) || is_padded(&bytes[second..end]) {
                return at;
            }
            let mut weight = Number::Int(0);
            if WEIGHTED {
                let number = if separated(end) { decimal_at(bytes, end + 1) } else { None };
                let Some(number) = number else { return at };
                (weight, end) = number;
            }
            let Some(next) = behind_line(bytes, end) else { return at };
            if source.min(target) < first || source.max(target) > last {
                return at;
            }
            if WEIGHTED
                && let Some(weights) = &mut weights
                && !weights.push_short(weight)
            {
                return at;
            }
            sources.push(source);
            targets.push(target);
            at = next;
        }
    }
}

/// Where the ids of the line at `at` begin.
#[inline(always)]
fn behind_mark(bytes: &[u8], at: usize, mark: Option<u8>) -> Option<usize> {
    match mark {
        None => Some(at),
        Some(mark) => (bytes.get(at..at + 2)? == [mark, b' ']).then_some(at + 2),
    }
}

/// Where the next line begins if this one ends at `at`.
#[inline(always)]
fn behind_line(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at) {
        Some(b'\n') => Some(at + 1),
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => Some(at + 2),
        _ => None,
    }
}
