//! What a user of a table may not expect, and is warned of: columns that are not read, and ids that become
//! texts although most are integers.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::value::decimal;
use esker_graph::{Message, Setting, message};

use super::blocks::excerpt;
use super::columns::{EdgeColumn, TableColumns};
use super::reasons::texts_for_some;
use super::sampled::values;
use super::shape::TableShape;
use crate::columns::dates::date_formats;
use crate::columns::names::{WEIGHTS, position};
use crate::columns::store_unread;
use crate::read::format::{Pick, PickIds, ReadOptions};

/// Letters and blanks of a unit beside a number.
const UNIT_SIGNS_MAX: usize = 5;

/// A table as it is read.
pub(super) struct TableView<'t> {
    /// Where it lies.
    pub(super) path: &'t Arc<PathBuf>,
    /// Its columns and first rows.
    pub(super) shape: &'t TableShape,
    /// Which of them is what.
    pub(super) columns: &'t TableColumns,
}

/// What to warn of. Tables in which the same is left out are named once.
pub(super) fn warnings(tables: &[TableView<'_>], is_text: bool, options: &ReadOptions) -> Vec<Message> {
    let mut unread: Vec<(Vec<String>, Vec<&Arc<PathBuf>>)> = Vec::new();
    for table in tables {
        let names = table.unread(options);
        match unread.iter_mut().find(|(known, _)| *known == names) {
            Some((_, paths)) => paths.push(table.path),
            None => unread.push((names, vec![table.path])),
        }
    }
    let of_columns = unread.iter().filter(|(names, _)| !names.is_empty()).map(|(names, paths)| {
        let more = paths.len() - 1;
        let others = if more > 0 {
            format!(" and {}", esker_graph::counted(more as u64, "other", "others"))
        } else {
            String::new()
        };
        let columns = if names.len() == 1 { "the column" } else { "the columns" };
        let not_read = format!("{}{others}: {columns} {} not read; ", paths[0].display(), is_or_are(names));
        message![not_read, store_unread(options)]
    });
    let auto = is_text && options.ids == PickIds::Auto;
    let of_ids = tables.iter().filter(|_| auto).find_map(TableView::first_text_id);
    let each = tables.iter().flat_map(|table| {
        let first = table.without_names(options).into_iter();
        first
            .chain(table.odd_texts(options))
            .chain(table.odd_numbers(options))
            .chain(table.escaped_quotes())
            .chain(table.unread_dates())
    });
    of_columns.chain(of_ids).chain(each).collect()
}

fn is_or_are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", excerpt(names.join(", ").as_bytes()))
}

impl TableView<'_> {
    /// Columns with names that nothing reads, unless the user chose what is read.
    fn unread(&self, options: &ReadOptions) -> Vec<String> {
        let Self { shape, columns, .. } = self;
        if !options.tells_unread() {
            return Vec::new();
        }
        let header = shape.header.as_deref();
        let skipped = match options.weight {
            Pick::Skip if !options.types_are_fixed => header.and_then(|header| position(header, WEIGHTS)),
            _ => None,
        };
        let is_used = |column: usize| {
            let is_property = columns.properties.iter().any(|property| property.column == column);
            let is_direction = columns.direction.is_some_and(|direction| direction.column == column);
            let is_end = column == columns.source || column == columns.target;
            is_end || is_property || is_direction || skipped == Some(column)
        };
        let is_empty = |column: usize| {
            let mut values = shape.rows.iter().filter_map(|row| row.get(column));
            header.is_none() && values.all(Vec::is_empty)
        };
        let name = |column: usize| match header {
            Some(header) => header.get(column).cloned().unwrap_or_default(),
            None => format!("column {}", column + 1),
        };
        let unread = (0..shape.columns).filter(|&column| !is_used(column) && !is_empty(column)).map(name);
        // A column without a name is the index that pandas writes: nothing is lost with it.
        unread.filter(|name| !name.is_empty()).collect()
    }

    /// Columns whose values look like dates and are read as something else.
    fn unread_dates(&self) -> impl Iterator<Item = Message> {
        let others = self.columns.properties.iter().filter(|property| {
            let logical = property.property_type.as_ref().map(|known| &known.logical);
            !property.notation.has_format()
                && logical.is_none_or(|known| known.is_text() || known.is_number())
        });
        others.filter_map(|property| {
            let values = || values(self.shape, property.column);
            let formats = date_formats(values())?;
            let kept = if property.property_type.is_none() { "numbers" } else { "texts" };
            let first = values().find(|value| !value.is_empty())?;
            Some(message![
                format!(
                    "{}: the values of {:?} look like dates, such as {:?}, and are kept as {kept}; ",
                    self.path.display(),
                    property.name,
                    excerpt(first)
                ),
                Setting::DateFormat.to(format!("{}={}", property.name, formats[0])),
                match formats.get(1) {
                    None => " reads them".to_owned(),
                    Some(other) => format!(" reads them, or {other} if the month comes first"),
                },
            ])
        })
    }

    /// The warning that columns are taken by their places, though the database remembers their names.
    fn without_names(&self, options: &ReadOptions) -> Option<Message> {
        let is_whole = options.source.is_none() || options.target.is_none();
        (self.columns.lacks_names && is_whole).then(|| {
            let path = self.path.display();
            format!("{path}: no header names the columns, so they are taken in the order of the import")
                .into()
        })
    }

    /// The warnings that properties become texts although most of their first values are numbers.
    fn odd_texts(&self, options: &ReadOptions) -> Vec<Message> {
        let is_sniffed = |property: &&EdgeColumn| {
            let is_text = property.property_type.as_ref().is_some_and(|own| own.logical.is_text());
            is_text && !options.types_are_fixed && options.schema.iter().all(|own| own.name != property.name)
        };
        let odd = |property: &EdgeColumn| {
            let given = values(self.shape, property.column).filter(|value| !value.is_empty());
            let texts = given.clone().filter(|value| !decimal::is_numeral(value)).count();
            let first = given.clone().find(|value| !decimal::is_numeral(value))?;
            (texts * 2 < given.count()).then(|| {
                message![
                    format!(
                        "{}: all values of {:?} are taken as texts, for some are no numbers, such as {:?}; ",
                        self.path.display(),
                        property.name,
                        excerpt(first)
                    ),
                    Setting::Schema.to_type(&property.name, "f64"),
                    " refuses these lines",
                ]
            })
        };
        self.columns.properties.iter().filter(is_sniffed).filter_map(odd).collect()
    }

    /// The warnings that properties become texts although their first values are numbers in another notation:
    /// with commas that may be decimal or between thousands, or with a unit.
    fn odd_numbers(&self, options: &ReadOptions) -> Vec<Message> {
        let is_sniffed = |property: &&EdgeColumn| {
            let is_text = property.property_type.as_ref().is_some_and(|own| own.logical.is_text());
            is_text && !options.types_are_fixed && options.schema.iter().all(|own| own.name != property.name)
        };
        let odd = |property: &EdgeColumn| {
            let values = || self.shape.rows.iter().filter_map(|row| row.get(property.column));
            let given = || values().map(|value| value.trim_ascii()).filter(|value| !value.is_empty());
            let begin = |first: &[u8], what: &str| {
                let (path, name) = (self.path.display(), &property.name);
                format!(
                    "{path}: the values of {name:?} are numbers with {what}, such as {:?}, and kept as texts; ",
                    excerpt(first)
                )
            };
            let is_one = |value: &[u8]| decimal::is_numeral(value) || digits_with_commas(value).is_some();
            let first = given().find(|value| !decimal::is_numeral(value))?;
            if given().all(is_one) {
                let grouped = digits_with_commas(first)?;
                return Some(message![
                    begin(first, "commas"),
                    Setting::DecimalComma.to(false),
                    format!(" reads {grouped}, "),
                    Setting::DecimalComma.to(true),
                    format!(" reads {}", String::from_utf8_lossy(first).replace(',', ".")),
                ]);
            }
            let has_unit = |value: &[u8]| {
                let bare = without_unit(value);
                bare.len() < value.len() && (decimal::is_numeral(bare) || digits_with_commas(bare).is_some())
            };
            given().all(|value| is_one(value) || has_unit(value)).then(|| {
                let first = begin(first, "a unit");
                format!("{first}write the numbers alone, and the unit in a column of its own").into()
            })
        };
        self.columns.properties.iter().filter(is_sniffed).filter_map(odd).collect()
    }

    /// The warning that quotes within fields are not doubled, as MySQL writes them.
    fn escaped_quotes(&self) -> Option<Message> {
        let has_one = |field: &&Vec<u8>| memchr::memmem::find(field, b"\\\"").is_some();
        let field = self.shape.rows.iter().flatten().find(has_one)?;
        Some(Message::from(format!(
            "{}: backslashes before quotes are kept, as in {}; double such quotes instead if they are to be undone",
            self.path.display(),
            excerpt(field)
        )))
    }

    /// The warning that ids become texts, if most of the first are integers: the first that is none tells
    /// why.
    fn first_text_id(&self) -> Option<Message> {
        let ends = [self.columns.source, self.columns.target];
        let ids = || self.shape.rows.iter().flat_map(|row| ends.iter().filter_map(|&end| row.get(end)));
        let given = ids().filter(|id| !id.is_empty());
        let texts = given.clone().filter(|id| decimal::id(id).is_err()).count();
        let first = given.clone().find(|id| decimal::id(id).is_err())?;
        let is_odd = texts * 2 < given.count();
        is_odd.then(|| texts_for_some(self.path, first))
    }
}

/// A number of digits with a comma before each three of them, without the commas.
fn digits_with_commas(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    let whole = text.split('.').next()?;
    let mut groups = whole.trim_start_matches('-').split(',');
    let is_first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
    let plain = text.replace(',', "");
    let are_groups = is_first && whole.contains(',') && groups.all(|group| group.len() == 3);
    (are_groups && decimal::is_numeral(plain.as_bytes())).then_some(plain)
}

/// A value without a sign or a short word of a unit before or behind it: `$90`, `75 EUR`, `12%`.
fn without_unit(value: &[u8]) -> &[u8] {
    let Ok(text) = std::str::from_utf8(value) else { return value };
    let is_part = |sign: char| !sign.is_ascii_digit() && !matches!(sign, '-' | '+' | '.' | ',');
    let bare = text.trim_start_matches(is_part).trim_end_matches(is_part);
    if text.chars().count() - bare.chars().count() <= UNIT_SIGNS_MAX { bare.as_bytes() } else { value }
}
