//! What separates the columns of a table, by its first lines.

use esker_format::value::decimal;

use super::line::{Comments, Dialect, Separator, line_end, split};
use crate::read::format::ReadOptions;

/// A line of the sample: where it begins and ends in it.
pub(super) type LineRange = (usize, usize);

const TAB: Separator = Separator::Byte(b'\t');
const COMMA: Separator = Separator::Byte(b',');

/// How well a separator divides lines.
struct Score {
    /// The commonest number of columns that is at least two.
    columns: usize,
    /// In thousandths: how many of the lines have it.
    thousandths: usize,
    /// Whether a field has the separator within quotes.
    has_quoted: bool,
}

/// What separates the columns. Where decimals have a comma, columns have one only if a field has a comma
/// within quotes, or nothing else divides most lines into more columns: between other separators a number has
/// one comma at most, and an end none.
pub(super) fn likeliest(
    head: &[u8],
    lines: &[LineRange],
    candidates: &[Separator],
    options: &ReadOptions,
) -> Separator {
    let scored = |separator: Separator| score(head, lines, separator, options);
    let commas = Some(COMMA).filter(|_| options.notation.has_decimal_comma() && candidates.contains(&COMMA));
    let commas = commas.map(scored);
    if commas.as_ref().is_some_and(|commas| commas.has_quoted && commas.thousandths > 500) {
        return COMMA;
    }
    let rank = |(index, separator): (usize, Separator)| {
        let score = scored(separator);
        let beats = |commas: &Score| {
            separator != COMMA
                && score.thousandths * 2 >= commas.thousandths
                && score.columns > commas.columns
        };
        let is_likely = score.thousandths > 0 && commas.as_ref().is_none_or(beats);
        // Commas come next.
        let is_comma = separator == COMMA && commas.is_some() && score.thousandths > 0;
        (is_likely, is_comma, score.thousandths, std::cmp::Reverse(index))
    };
    let best = candidates.iter().copied().enumerate().max_by_key(|&candidate| rank(candidate));
    match best.map_or(Separator::Blank, |(_, separator)| separator) {
        Separator::Blank if candidates.contains(&TAB) && are_divided_by_tabs(head, lines) => TAB,
        separator => separator,
    }
}

fn score(head: &[u8], lines: &[LineRange], separator: Separator, options: &ReadOptions) -> Score {
    let dialect = Dialect { separator, quotes: options.quotes != Some(false), comments: Comments::Marked };
    let mut counts = std::collections::BTreeMap::new();
    let mut fields = Vec::new();
    let (mut total, mut has_quoted) = (0, false);
    let kept = if separator == COMMA && options.notation.has_decimal_comma() { usize::MAX } else { 0 };
    let sample = &head[..lines.last().map_or(0, |line| line.1)];
    let mut at = lines.first().map_or(sample.len(), |line| line.0);
    while at < sample.len() {
        let (end, next) = line_end(sample, at);
        if sample[at..end].trim_ascii().is_empty() || dialect.is_comment(&sample[at..end]) {
            at = next;
            continue;
        }
        total += 1;
        // A row has several lines where a field has line breaks within its quotes.
        at = match split(sample, at, &dialect, kept, &mut fields) {
            Ok(split) => {
                *counts.entry(split.columns).or_insert(0usize) += 1;
                has_quoted |=
                    fields.iter().any(|field| sample[field.start..field.end].contains(&separator.byte()));
                split.next
            }
            Err((_, split)) => split.next,
        };
    }
    let best = counts.range(2..).max_by_key(|(_, lines)| **lines);
    let (columns, lines) = best.map_or((0, 0), |(columns, lines)| (*columns, *lines));
    Score { columns, thousandths: (lines * 1000).checked_div(total).unwrap_or(0), has_quoted }
}

/// Whether the lines have the same number of fields between tabs, none of them empty, and others between
/// blanks, which do not divide numbers: in `1 2\t5`, a tab is one blank of many.
fn are_divided_by_tabs(head: &[u8], lines: &[LineRange]) -> bool {
    let rows = lines.iter().map(|&(start, end)| head[start..end].trim_ascii_end());
    let rows = rows.filter(|row| !row.is_empty() && !matches!(row[0], b'#' | b'%'));
    let rows: Vec<Vec<&[u8]>> =
        rows.map(|row| row.split(|byte| *byte == b'\t').map(<[u8]>::trim_ascii).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let is_regular = |row: &Vec<&[u8]>| row.len() == columns && row.iter().all(|field| !field.is_empty());
    if columns < 2 || !rows.iter().all(is_regular) {
        return false;
    }
    // The first row may name the columns.
    let body = &rows[usize::from(rows.len() > 1)..];
    !(divides_numbers(body.iter().flatten()) || divides_numbers(body.iter().flat_map(|row| &row[..2])))
        && rows.iter().flatten().any(|field| field.contains(&b' '))
}

/// Whether some fields have blanks within them, and only between numbers.
fn divides_numbers<'h>(fields: impl Iterator<Item = &'h &'h [u8]>) -> bool {
    let mut divided = fields.filter(|field| field.contains(&b' ')).peekable();
    let are_numbers = |field: &&[u8]| {
        field.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).all(decimal::is_numeral)
    };
    divided.peek().is_some() && divided.all(are_numbers)
}
