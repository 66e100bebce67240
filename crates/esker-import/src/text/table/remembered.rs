//! Whether a table is written in the notation that a database remembers.
//!
//! A database remembers how its import wrote numbers, dates and quotes, for later files of the same kind. An
//! export writes the common notation, whatever is remembered, and so may any file that was made of one. It is
//! known by its header, and by values that fit one notation alone. Where both notations fit and say different
//! things, the user decides: `10.125` is ten, or ten thousand.

use std::cmp::Ordering;

use esker_format::{LogicalType, NotationRecord, TableRecord};
use esker_graph::{Setting, message};

use super::super::columns::columns;
use super::super::line::{BadQuote, Dialect, Separator, split};
use super::super::sampled::{Unfit, values};
use super::super::shape::{TableShape, is_quoted};
use crate::columns::expected::{EXPORTED_ENDS, names_ends};
use crate::columns::notations::NotationFits;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;

/// What made a table, by its header and separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableOrigin {
    /// Something else than an export.
    Others,
    /// An export, or a copy of its form.
    Export,
    /// An export or what made the table of the import: both look the same.
    Unclear,
}

impl TableOrigin {
    fn of(shape: &TableShape, remembered: &TableRecord) -> Self {
        let is_exported = match &shape.header {
            Some(header) => {
                let is_separator =
                    matches!(shape.dialect.separator, Separator::Byte(b',') | Separator::Byte(b'\t'));
                is_separator && header.iter().take(2).map(String::as_str).eq(EXPORTED_ENDS)
            }
            None => shape.dialect.separator == Separator::Blank,
        };
        if !is_exported {
            return Self::Others;
        }
        let has_its_names = match &shape.header {
            Some(header) => names_ends(remembered, header),
            None => !remembered.named,
        };
        match has_its_names && remembered.delimiter == Some(shape.dialect.separator.byte()) {
            true => Self::Unclear,
            false => Self::Export,
        }
    }
}

/// The options for a table of which `shape` is known, in the notation of its values: `given`, or those with
/// what is `remembered`. The first says whether the common notation took the place of the remembered one.
pub(super) fn in_notation<'o>(
    shape: &TableShape,
    given: &'o ReadOptions,
    remembered: &'o ReadOptions,
) -> Result<(bool, &'o ReadOptions), Unfit> {
    let known = given.expected.as_ref().filter(|table| table.notation != NotationRecord::default());
    let Some(table) = known else { return Ok((false, remembered)) };
    let origin = TableOrigin::of(shape, table);
    // What is still being written may have too few rows to tell.
    if origin == TableOrigin::Others || given.live.is_some() {
        return Ok((false, remembered));
    }
    let (Ok(common), Ok(own)) = (columns(shape, given), columns(shape, remembered)) else {
        return Ok((false, remembered));
    };
    let mut fits = NotationFits::default();
    for (common, own) in common.properties.iter().zip(&own.properties) {
        let logical = common.property_type.as_ref().map_or(&LogicalType::Number, |known| &known.logical);
        let notations = [&common.notation, &own.notation];
        fits.count(&common.name, logical, notations, values(shape, common.column));
    }
    match (fits.order(), origin) {
        (Ordering::Greater, _) | (Ordering::Equal, TableOrigin::Export) => Ok((fits.differ(), given)),
        _ => match fits.doubt() {
            Some(doubt) => Err(Unfit::Sample(doubt)),
            None => Ok((false, remembered)),
        },
    }
}

/// Whether a table has quotes around fields although the database remembers that its import had none: an
/// export has, where texts need them. `shape` is that without quotes.
pub(super) fn has_quotes(head: &InputHead, shape: &TableShape, given: &ReadOptions) -> Result<bool, Unfit> {
    let known = given.expected.as_ref().filter(|table| table.quotes == Some(false));
    let Some(table) = known.filter(|_| given.quotes.is_none() && given.live.is_none()) else {
        return Ok(false);
    };
    match (TableOrigin::of(shape, table), quotes_of(head, shape)) {
        (TableOrigin::Others, _) | (TableOrigin::Export, QuotesInUse::Wrong) => Ok(false),
        (TableOrigin::Export, QuotesInUse::None | QuotesInUse::Right) => Ok(true),
        (TableOrigin::Unclear, QuotesInUse::None | QuotesInUse::Wrong) => Ok(false),
        (TableOrigin::Unclear, QuotesInUse::Right) => Err(Unfit::Table(message![
            "fields stand in quotes, which an export writes around some texts, and which are parts of texts as the \
             import read them; say which with ",
            Setting::Quotes.to(true),
            " or ",
            Setting::Quotes.to(false),
        ])),
    }
}

/// Whether fields stand in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuotesInUse {
    None,
    Right,
    /// Some open and do not close, or close within a field.
    Wrong,
}

/// The quotes of what is known of a table without quotes, if they were some.
fn quotes_of(head: &InputHead, shape: &TableShape) -> QuotesInUse {
    let bytes = &head.bytes[..];
    let dialect = Dialect { quotes: true, ..shape.dialect };
    let (mut at, mut found, mut fields) = (shape.skip_bytes, QuotesInUse::None, Vec::new());
    while at < bytes.len() {
        match split(bytes, at, &dialect, usize::MAX, &mut fields) {
            Ok(line) => {
                if fields.iter().any(|field| is_quoted(bytes, *field)) {
                    found = QuotesInUse::Right;
                }
                at = line.next;
            }
            // The text goes on behind the sample.
            Err((BadQuote::Unclosed, _)) if !head.whole => return found,
            Err(_) => return QuotesInUse::Wrong,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use esker_format::{ColumnRecord, DateFormatRecord, PropertyColumnRecord};

    use super::*;
    use crate::read::format::{Pick, PickProperties};
    use crate::text::tests::testing::read_text;

    /// The record of a table with a separator, names of ends and two properties.
    fn record(delimiter: u8, ends: [&str; 2], quotes: Option<bool>) -> TableRecord {
        let column = |name: &str, place| ColumnRecord { name: name.to_owned(), before: 0, place };
        let property = |name: &str, place| PropertyColumnRecord {
            property: name.to_owned(),
            column: column(name, place),
        };
        TableRecord {
            source: column(ends[0], 0),
            target: column(ends[1], 1),
            properties: vec![property("amount", 2), property("day", 3)],
            columns: 4,
            named: true,
            delimiter: Some(delimiter),
            quotes,
            both_ends: false,
            nulls: Vec::new(),
            notation: NotationRecord::default(),
            defaults: Vec::new(),
        }
    }

    fn options(expected: TableRecord, properties: &[&str]) -> ReadOptions {
        ReadOptions {
            expected: Some(expected),
            weight: Pick::Skip,
            types_are_fixed: true,
            properties: PickProperties::Columns(properties.iter().map(|&name| name.to_owned()).collect()),
            ..ReadOptions::default()
        }
    }

    /// Values of the two properties, or why the table is refused.
    fn values_of(text: &str, options: &ReadOptions) -> std::result::Result<Vec<String>, String> {
        let read = read_text("later.csv", text, options).map_err(|error| error.to_string())?;
        assert_eq!(read.rejected, Vec::<String>::new());
        Ok(read.edges.iter().map(|edge| edge[2..].join(" ")).collect())
    }

    #[test]
    fn exports_are_read_as_such_though_the_import_wrote_otherwise() {
        let notation = NotationRecord {
            decimal_comma: true,
            date_formats: vec![DateFormatRecord { property: "day".into(), format: "%Y-%d-%m".into() }],
        };
        let of = |delimiter, ends| {
            let expected = TableRecord { notation: notation.clone(), ..record(delimiter, ends, None) };
            options(expected, &["amount:number", "day:date"])
        };
        let other = of(b';', ["von", "nach"]);
        let same = of(b'\t', ["source", "target"]);
        let exported = |rows: &str, separator: &str| {
            format!("source target amount day\n{rows}\n").replace(' ', separator)
        };
        // No value of the sample tells one from the other.
        let doubtful = "a b 10.125 2026-02-01";
        assert_eq!(values_of(&exported(doubtful, ","), &other), Ok(vec!["10.125 20485".to_owned()]));
        let refused = values_of(&exported(doubtful, "\t"), &same).unwrap_err();
        assert!(refused.contains("10.125 is 10.125 if an export wrote it, and 10125"), "{refused}");
        let days = values_of(&exported("a b 7 2026-02-01", "\t"), &same).unwrap_err();
        assert!(days.contains("2026-02-01 is 2026-02-01") && days.contains("2026-01-02"), "{days}");
        for (chosen, read) in [(true, "10125 20455"), (false, "10.125 20455")] {
            let mut chosen_options = same.clone();
            chosen_options.notation.decimal_comma = Some(chosen);
            chosen_options.notation.formats.push("day=%Y-%d-%m".parse().unwrap());
            assert_eq!(values_of(&exported(doubtful, "\t"), &chosen_options), Ok(vec![read.to_owned()]));
        }
        // Some value does.
        let told = [
            ("a b 10.125 2026-02-01\nc d 2.5 2026-02-13", "10.125 20485,2.5 20497"),
            ("a b 10.125 2026-02-01\nc d 2,5 2026-13-02", "10125 20455,2.5 20497"),
        ];
        for (rows, read) in told {
            for (options, separator) in [(&same, "\t"), (&other, "\t")] {
                let found = values_of(&exported(rows, separator), options).map(|rows| rows.join(","));
                assert_eq!(found, Ok(read.to_owned()), "{rows}");
            }
        }
        // Other headers are those of the import.
        let import = "von;nach;amount;day\na;b;10.125;2026-02-01\n";
        assert_eq!(values_of(import, &other), Ok(vec!["10125 20455".to_owned()]));
    }

    #[test]
    fn exports_have_quotes_though_the_import_had_none() {
        let of = |delimiter, ends| options(record(delimiter, ends, Some(false)), &["day:text"]);
        let (other, same) = (of(b';', ["von", "nach"]), of(b'\t', ["source", "target"]));
        let exported = |texts: &str| format!("source\ttarget\tamount\tday\na\tb\t1\t{texts}\n");
        let read = |texts: &str, options: &ReadOptions| values_of(&exported(texts), options);
        assert_eq!(read("\"\"\"x\"", &other), Ok(vec!["\"x".to_owned()]));
        assert_eq!(read("\"x", &other), Ok(vec!["\"x".to_owned()]));
        assert_eq!(read("y\"z", &same), Ok(vec!["y\"z".to_owned()]));
        assert_eq!(read("\"x", &same), Ok(vec!["\"x".to_owned()]));
        let refused = read("\"x\"", &same).unwrap_err();
        assert!(refused.contains("fields stand in quotes"), "{refused}");
        for (quotes, text) in [(true, "x"), (false, "\"x\"")] {
            let chosen = ReadOptions { quotes: Some(quotes), ..same.clone() };
            assert_eq!(read("\"x\"", &chosen), Ok(vec![text.to_owned()]));
        }
    }
}
