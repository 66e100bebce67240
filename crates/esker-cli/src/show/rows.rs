//! Rows of answers on standard output: as a table for people, or in a form for programs.

use std::borrow::Cow;
use std::sync::Once;

use clap::ValueEnum;
use esker::histogram::Histogram;
use esker::import::export::push_quoted;
use serde_json::{Map, Value};

use crate::failure::Outcome;
use crate::interrupt;
use crate::show::rounding::{float_text, number_text, rounded, rounded_bins};
use crate::show::text;

/// Signs of the longest bar of a histogram.
const BAR_WIDTH: usize = 40;

/// `--format`: the form of rows on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum RowFormat {
    /// Aligned columns, for people.
    #[default]
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// One array of objects.
    Json,
    /// An object a line.
    Jsonl,
}

/// Columns of equal length.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RowTable {
    header: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// A bar for each row, in tables; empty for none.
    bars: Vec<String>,
    /// The shares of a histogram in tables, which add up to 1.
    shares: Vec<f64>,
    /// Whether [`NO_BIN`] stands for missing values.
    is_histogram: bool,
}

/// Parts of a whole that shares in tables tell apart.
const SHARE_PARTS: u128 = 10_000;

/// What counts missing values in a histogram.
const NO_BIN: &str = "none";

impl RowTable {
    /// No rows yet, of columns with these names. A property that is called like a column before it becomes
    /// `property.NAME`, so that each column can be told by its name.
    pub(crate) fn of<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for name in header {
            let mut name = name.into();
            while names.contains(&name) {
                name.insert_str(0, "property.");
            }
            names.push(name);
        }
        Self { header: names, ..Self::default() }
    }

    /// Adds a row with a value for each column, rounded as `--round` asks.
    pub(crate) fn push(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row.into_iter().map(rounded).collect());
    }

    /// The rows, or if there are none, one without values: a reader sees that there are none.
    pub(crate) fn or_missing(mut self) -> Self {
        if self.rows.is_empty() {
            self.rows.push(vec![Value::Null; self.header.len()]);
        }
        self
    }

    /// Adds the rows of another table behind a value; the first gives the names of the columns.
    pub(crate) fn append(&mut self, name: &str, value: &Value, other: Self) {
        if self.header.is_empty() {
            self.header = std::iter::once(name.to_owned()).chain(other.header).collect();
        }
        self.is_histogram |= other.is_histogram;
        self.shares.extend(other.shares);
        self.rows
            .extend(other.rows.into_iter().map(|row| std::iter::once(value.clone()).chain(row).collect()));
    }

    /// Adds the rows of another table with the same columns.
    fn extend(&mut self, other: Self) {
        self.header = other.header;
        self.is_histogram |= other.is_histogram;
        self.shares.extend(other.shares);
        self.rows.extend(other.rows);
    }

    /// Prints all rows on standard output.
    pub(crate) fn print(&self, format: RowFormat) -> Outcome {
        match format {
            // Nothing told the names of the columns.
            RowFormat::Table | RowFormat::Csv if self.header.is_empty() => Ok(()),
            RowFormat::Table => self.print_table(),
            RowFormat::Csv => {
                let names = self.header.iter().map(|name| Some(Cow::Borrowed(name.as_str())));
                text::print(&fields(names, None))?;
                self.print_more(format)
            }
            RowFormat::Json => {
                text::json(&self.rows.iter().map(|row| self.object(row)).collect::<Vec<_>>().into())
            }
            RowFormat::Jsonl => {
                self.rows.iter().try_for_each(|row| text::print(&self.object(row).to_string()))
            }
        }
    }

    /// As [`RowTable::print`], of rows that go on from earlier ones: without a header.
    fn print_more(&self, format: RowFormat) -> Outcome {
        match format {
            RowFormat::Csv => {
                let plain = self.is_histogram.then_some(NO_BIN);
                self.rows.iter().try_for_each(|row| text::print(&fields(row.iter().map(field), plain)))
            }
            _ => self.print(format),
        }
    }

    /// An object for each row.
    #[cfg(feature = "cluster")]
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.rows.iter().map(|row| self.object(row)).collect()
    }

    fn object(&self, row: &[Value]) -> Value {
        let is_missing = |cell: &Value| self.is_histogram && *cell == NO_BIN;
        let cells = row.iter().map(|cell| if is_missing(cell) { Value::Null } else { cell.clone() });
        self.header.iter().cloned().zip(cells).collect::<Map<_, _>>().into()
    }

    fn print_table(&self) -> Outcome {
        let mut lines = vec![self.header.clone()];
        for row in &self.rows {
            interrupt::check()?;
            lines.push(row.iter().map(cell).collect());
        }
        for (line, share) in lines.iter_mut().skip(1).zip(&self.shares) {
            line.pop();
            line.push(cell(&Value::from(*share)));
        }
        let is_number =
            |column: usize| self.rows.iter().all(|row| row[column].is_number() || row[column].is_null());
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let columns: Vec<(usize, bool)> = (0..self.header.len()).map(|i| (width(i), is_number(i))).collect();
        for (number, line) in lines.iter().enumerate() {
            let bar = number.checked_sub(1).and_then(|row| self.bars.get(row)).map(String::as_str);
            let cells = line.iter().zip(&columns).map(|(cell, &(width, is_number))| {
                if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            let cells: Vec<String> = cells.chain(bar.map(str::to_owned)).collect();
            text::print(cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// Rows that are printed as they come, in forms that allow it; in others, which need all rows first, at the
/// end.
pub(crate) struct PrintedRows {
    format: RowFormat,
    has_header: bool,
    /// Rows that are printed at the end.
    gathered: RowTable,
}

impl PrintedRows {
    /// No rows yet.
    pub(crate) fn new(format: RowFormat) -> Self {
        Self { format, has_header: false, gathered: RowTable::default() }
    }

    /// Adds rows of the same columns as those before.
    pub(crate) fn add(&mut self, rows: RowTable) -> Outcome {
        if matches!(self.format, RowFormat::Table | RowFormat::Json) {
            self.gathered.extend(rows);
            return Ok(());
        }
        match std::mem::replace(&mut self.has_header, true) {
            true => rows.print_more(self.format),
            false => rows.print(self.format),
        }
    }

    /// Prints what was not printed yet.
    pub(crate) fn finish(&self) -> Outcome {
        match self.format {
            RowFormat::Table | RowFormat::Json => self.gathered.print(self.format),
            RowFormat::Csv | RowFormat::Jsonl => Ok(()),
        }
    }
}

/// A histogram as rows with bars.
pub(crate) fn bars(name: &str, histogram: &Histogram) -> RowTable {
    let mut rows = RowTable {
        header: vec![name.to_owned(), "count".to_owned(), "share".to_owned()],
        is_histogram: true,
        ..RowTable::default()
    };
    let most = histogram.bins.iter().map(|bin| bin.1).max().unwrap_or(1).max(1);
    let missing = (histogram.missing > 0).then(|| (NO_BIN.to_owned(), histogram.missing));
    let all: u64 = histogram.bins.iter().map(|bin| bin.1).sum::<u64>() + histogram.missing;
    let names = rounded_bins(histogram.bins.iter().map(|bin| bin.0.clone()).collect());
    // Single values are numbers, and ranges are texts.
    let numbers: Option<Vec<Value>> =
        names.iter().map(|name| name.parse::<u64>().ok().map(Value::from)).collect();
    let names = numbers.unwrap_or_else(|| names.into_iter().map(Value::from).collect());
    let counts: Vec<u64> = histogram.bins.iter().map(|bin| bin.1).collect();
    let missing = missing.map(|(name, count)| (Value::from(name), count));
    for (bin, count) in names.into_iter().zip(counts.iter().copied()).chain(missing) {
        rows.push(vec![bin, count.into(), (count as f64 / all as f64).into()]);
        let length = (count as f64 / most as f64 * BAR_WIDTH as f64).ceil() as usize;
        rows.bars.push("#".repeat(length.min(BAR_WIDTH)));
    }
    // With --round, the digits were chosen.
    if float_text(0.0).is_none() {
        let counts: Vec<u64> =
            counts.into_iter().chain((histogram.missing > 0).then_some(histogram.missing)).collect();
        rows.shares = rounded_shares(&counts, all);
    }
    rows
}

/// The shares of counts in a sum, with four digits: those with the greatest remainders are rounded up, so
/// that they add up to 1.
fn rounded_shares(counts: &[u64], all: u64) -> Vec<f64> {
    let all = u128::from(all.max(1));
    let exact = |count: u64| u128::from(count) * SHARE_PARTS;
    let mut parts: Vec<u128> = counts.iter().map(|&count| exact(count) / all).collect();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(exact(counts[place]) % all));
    let left = SHARE_PARTS.saturating_sub(parts.iter().sum());
    order.iter().take(left as usize).for_each(|&place| parts[place] += 1);
    parts.into_iter().map(|part| part as f64 / SHARE_PARTS as f64).collect()
}

/// A value as text; `None` for a missing one.
fn field(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => {
            warn_of_replaced(text);
            Some(Cow::Borrowed(text))
        }
        Value::Number(number) => Some(Cow::Owned(number_text(number))),
        // A vector.
        Value::Array(items) => {
            let text = |item: &Value| item.as_number().map_or_else(|| item.to_string(), number_text);
            Some(Cow::Owned(format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(","))))
        }
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// Says once that a text is not shown as it is stored: `\u{fffd}` stands for bytes that are not UTF-8.
fn warn_of_replaced(text: &str) {
    static SAID: Once = Once::new();
    if text.contains(char::REPLACEMENT_CHARACTER) {
        SAID.call_once(|| {
            text::warn(
                "warning: some texts have the sign \u{fffd}, which stands for bytes that are not UTF-8; esker export \
                 writes these as they are, to CSV",
            );
        });
    }
}

/// A value as the cell of a table. The empty text is two quotes, a missing value nothing.
fn cell(value: &Value) -> String {
    match field(value) {
        None => String::new(),
        Some(text) if text.is_empty() => "\"\"".to_owned(),
        Some(text) => text::cell(&text).into_owned(),
    }
}

/// Joins fields with commas, quoted where they need it, as in the files of an export: nothing is a missing
/// value, two quotes are the empty text. `plain` never needs quotes.
fn fields<'a>(fields: impl Iterator<Item = Option<Cow<'a, str>>>, plain: Option<&str>) -> String {
    let mut line = Vec::new();
    for (at, field) in fields.enumerate() {
        if at > 0 {
            line.push(b',');
        }
        match field {
            None => {}
            Some(field) if plain == Some(&*field) => line.extend_from_slice(field.as_bytes()),
            Some(field) => push_quoted(&mut line, field.as_bytes(), b','),
        }
    }
    if line.is_empty() {
        // Readers skip an empty line, and so a row of one field without a value.
        line.extend_from_slice(b"\"\"");
    }
    String::from_utf8_lossy(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shares_add_up_to_one() {
        for counts in [&[1, 1, 1][..], &[5, 0, 3, 3], &[1, 999_999], &[u64::MAX / 2, 7], &[4]] {
            let shares = rounded_shares(counts, counts.iter().sum());
            let parts: f64 = shares.iter().map(|share| share * SHARE_PARTS as f64).sum();
            assert_eq!(parts.round() as u128, SHARE_PARTS, "{counts:?}: {shares:?}");
        }
        assert_eq!(rounded_shares(&[1, 1, 1], 3), [0.3334, 0.3333, 0.3333]);
        assert!(rounded_shares(&[], 0).iter().all(|share| *share == 0.0));
    }

    #[test]
    fn fields_of_csv_are_quoted_where_they_need_it() {
        assert_eq!(fields(std::iter::once(None), None), "\"\"");
        let row = json!(["a", "b,c", "say \"x\"", null, 1.5, " a", "", "NA", "none"]);
        let row = row.as_array().unwrap();
        let expected = "a,\"b,c\",\"say \"\"x\"\"\",,1.5,\" a\",\"\",\"NA\",";
        assert_eq!(fields(row.iter().map(field), None), format!("{expected}\"none\""));
        assert_eq!(fields(row.iter().map(field), Some(NO_BIN)), format!("{expected}none"));
        assert_eq!(
            row.iter().map(cell).collect::<Vec<_>>().join("|"),
            "a|b,c|say \"x\"||1.5| a|\"\"|NA|none"
        );
    }
}
