//! Finds the columns that a database remembers from its import in a later input.
//!
//! Columns with names are found by their names, whatever their order, or by those that an export writes.
//! Columns without names are taken by their places, if there are as many as the import had; else two columns
//! are the ends, and a third is the only property, unless the import had the target before the source. Where
//! both may be meant and differ, neither is. A column that was named later has no known place.

use esker_format::{ColumnRecord, TableRecord};

use super::pairs::EdgeEnds;

/// The ends of columns without names.
const USUAL: EdgeEnds = EdgeEnds { source: 0, target: 1 };

/// Where the remembered columns lie in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FittedColumns {
    /// The ends.
    pub(crate) ends: EdgeEnds,
    /// The columns of properties that are there.
    properties: Vec<FittedProperty>,
    /// Whether columns with names were taken by their places, for the input has no names.
    pub(crate) lacks_names: bool,
}

/// The column of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FittedProperty {
    name: String,
    column: usize,
}

impl FittedColumns {
    /// Finds the columns in an input. `names` are those of its columns, if it has some; `count` is their
    /// number; `asked` is the number of properties that are read. `None`: they are not there.
    pub(crate) fn find(
        expected: &TableRecord,
        names: Option<&[String]>,
        count: usize,
        asked: usize,
    ) -> Option<Self> {
        let place = |column: &ColumnRecord| match names {
            Some(names) => named(column, names),
            None => Some(column.place as usize).filter(|&place| place < count),
        };
        let fitted = |property: &esker_format::PropertyColumnRecord| {
            let column = place(&property.column)?;
            Some(FittedProperty { name: property.property.clone(), column })
        };
        let is_usual = names.is_none() && count != expected.columns as usize;
        if is_usual {
            let is_turned = expected.source.place >= expected.target.place;
            return (count == asked + 2 && asked < 2 && !is_turned).then(|| Self {
                ends: USUAL,
                properties: usual_property(expected, asked),
                lacks_names: false,
            });
        }
        let ends = match (place(&expected.source), place(&expected.target)) {
            (Some(source), Some(target)) => EdgeEnds { source, target },
            _ => return Self::exported(names?),
        };
        let lacks_names = names.is_none() && expected.named;
        // Without names, the usual order is as likely as another one that the import had.
        let is_doubtful = lacks_names && count == asked + 2 && ends != USUAL;
        let is_possible = ends.source != ends.target && ends.source.max(ends.target) < count;
        let properties: Vec<_> = expected.properties.iter().filter_map(fitted).collect();
        // A place may be unknown, or that of an end, and no name tells the right one.
        let is_end = |one: &FittedProperty| one.column == ends.source || one.column == ends.target;
        let is_vague =
            lacks_names && (properties.len() < expected.properties.len() || properties.iter().any(is_end));
        (is_possible && !is_doubtful && !is_vague).then_some(Self { ends, properties, lacks_names })
    }

    /// The ends of a file that Esker wrote, in which properties are called as in the database.
    fn exported(names: &[String]) -> Option<Self> {
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        let ends = EdgeEnds { source: place("source")?, target: place("target")? };
        Some(Self { ends, properties: Vec::new(), lacks_names: false })
    }

    /// The same with other ends, which are no columns of properties then.
    pub(crate) fn between(mut self, ends: EdgeEnds) -> Self {
        let old = self.ends;
        self.properties.retain(|&FittedProperty { column, .. }| {
            let is_source = column == ends.source && ends.source != old.source;
            let is_target = column == ends.target && ends.target != old.target;
            !is_source && !is_target
        });
        Self { ends, ..self }
    }

    /// The names of the columns, where those of properties are called as these.
    pub(crate) fn rename(&self, names: &[String], count: usize) -> Vec<String> {
        let mut renamed = names.to_vec();
        renamed.resize(count, String::new());
        for FittedProperty { name, column } in &self.properties {
            renamed.iter_mut().filter(|other| *other == name).for_each(String::clear);
            renamed[*column].clone_from(name);
        }
        renamed
    }
}

/// The columns of the ends in an export.
pub(crate) const EXPORTED_ENDS: [&str; 2] = ["source", "target"];

/// The third of three columns without names is the only property.
fn usual_property(expected: &TableRecord, asked: usize) -> Vec<FittedProperty> {
    let only = expected.properties.first().filter(|_| asked == 1 && expected.properties.len() == 1);
    only.map(|one| FittedProperty { name: one.property.clone(), column: 2 }).into_iter().collect()
}

/// The place of a remembered column among names: by the same name, else by the only one that differs in case
/// and blanks.
fn named(column: &ColumnRecord, names: &[String]) -> Option<usize> {
    let is_same = |(_, name): &(usize, &String)| **name == column.name && !name.is_empty();
    let exact = names.iter().enumerate().filter(is_same).nth(column.before as usize);
    if let Some((place, _)) = exact {
        return Some(place);
    }
    let wanted = column.name.trim();
    let mut alike = names.iter().enumerate().filter(|(_, name)| name.trim().eq_ignore_ascii_case(wanted));
    match (alike.next(), alike.next()) {
        (Some((place, _)), None) if column.before == 0 && !wanted.is_empty() => Some(place),
        _ => None,
    }
}

/// Whether names have those of both remembered ends.
pub(crate) fn names_ends(expected: &TableRecord, names: &[String]) -> bool {
    expected.named && [&expected.source, &expected.target].iter().all(|end| named(end, names).is_some())
}

/// A column as a later input finds it again; `names` are those of all columns, if they have some.
pub(crate) fn column_record(column: usize, names: Option<&[String]>) -> ColumnRecord {
    let name = names.and_then(|names| names.get(column)).cloned().unwrap_or_default();
    let same = |other: &&String| **other == name && !name.is_empty();
    let before = names.map_or(0, |names| names.iter().take(column).filter(same).count() as u32);
    ColumnRecord { name, before, place: column as u32 }
}

#[cfg(test)]
mod tests {
    use esker_format::{NotationRecord, PropertyColumnRecord};

    use super::*;

    /// The record of a table with the ends in two columns, and the property `w` in a third.
    fn record(
        names: Option<&[&str]>,
        columns: usize,
        ends: EdgeEnds,
        property: Option<usize>,
    ) -> TableRecord {
        let names: Option<Vec<String>> =
            names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let column = |place| column_record(place, names.as_deref());
        let property =
            property.map(|place| PropertyColumnRecord { property: "w".to_owned(), column: column(place) });
        TableRecord {
            source: column(ends.source),
            target: column(ends.target),
            properties: property.into_iter().collect(),
            columns: columns as u32,
            named: names.is_some(),
            delimiter: None,
            quotes: None,
            both_ends: false,
            nulls: Vec::new(),
            notation: NotationRecord::default(),
            defaults: Vec::new(),
        }
    }

    /// Source, target and property as they are found.
    fn found(expected: &TableRecord, names: Option<&str>, count: usize) -> Option<[Option<usize>; 3]> {
        let names: Option<Vec<String>> = names.map(|names| names.split(',').map(str::to_owned).collect());
        let asked = expected.properties.len();
        let fitted = FittedColumns::find(expected, names.as_deref(), count, asked)?;
        let property = fitted.properties.first().map(|one| one.column);
        Some([Some(fitted.ends.source), Some(fitted.ends.target), property])
    }

    #[test]
    fn columns_are_found_by_names_else_by_places() {
        let ends = EdgeEnds { source: 2, target: 0 };
        let named = record(Some(&["to", "x", "from", "w"]), 4, ends, Some(3));
        let turned = record(Some(&["to", "from", "w"]), 3, EdgeEnds { source: 1, target: 0 }, Some(2));
        let twice = record(Some(&["a", "a", "w"]), 3, EdgeEnds { source: 0, target: 1 }, Some(2));
        let usual = || record(Some(&["a", "b", "w"]), 3, USUAL, Some(2));
        let (mut column_named, mut end_named, on_end) =
            (usual(), usual(), record(Some(&["a", "b", "w"]), 3, USUAL, Some(0)));
        column_named.properties[0].column.place = ColumnRecord::UNKNOWN_PLACE;
        end_named.source.place = ColumnRecord::UNKNOWN_PLACE;
        let wide = record(Some(&["from", "x", "to", "w"]), 4, EdgeEnds { source: 0, target: 2 }, Some(3));
        let wide_bare = record(None, 4, EdgeEnds { source: 0, target: 2 }, None);
        let placed = record(None, 4, ends, Some(3));
        let bare = record(None, 4, ends, None);
        let table = [
            (&named, Some("to,x,from,w"), 4, Some([Some(2), Some(0), Some(3)])),
            (&named, Some("w,from,to"), 3, Some([Some(1), Some(2), Some(0)])),
            (&named, Some("W, From ,to,more"), 4, Some([Some(1), Some(2), Some(0)])),
            (&named, Some("from,to"), 2, Some([Some(0), Some(1), None])),
            (&named, Some("from,TO,To,w"), 4, None),
            (&named, Some("who,whom,w"), 3, None),
            (&named, Some("w,source,target"), 3, Some([Some(1), Some(2), None])),
            (&named, None, 4, Some([Some(2), Some(0), Some(3)])),
            (&named, None, 3, None),
            (&wide, None, 3, Some([Some(0), Some(1), Some(2)])),
            (&named, None, 5, None),
            (&named, None, 2, None),
            (&turned, Some("w,to,from"), 3, Some([Some(2), Some(1), Some(0)])),
            (&turned, None, 3, None),
            (&twice, Some("w,a,b,a"), 4, Some([Some(1), Some(3), Some(0)])),
            (&twice, Some("w,a"), 2, None),
            (&placed, None, 4, Some([Some(2), Some(0), Some(3)])),
            (&placed, None, 3, None),
            (&placed, None, 6, None),
            (&bare, None, 2, None),
            (&wide_bare, None, 2, Some([Some(0), Some(1), None])),
            (&bare, None, 3, None),
            (&column_named, None, 3, None),
            (&column_named, Some("w,a,b"), 3, Some([Some(1), Some(2), Some(0)])),
            (&end_named, None, 3, None),
            (&on_end, None, 3, None),
        ];
        for (expected, names, count, wanted) in table {
            assert_eq!(found(expected, names, count), wanted, "{names:?}, {count}");
        }
    }

    #[test]
    fn columns_of_properties_are_called_as_these() {
        let mut record = record(Some(&["a", "b", "cost"]), 3, EdgeEnds { source: 0, target: 1 }, Some(2));
        let names: Vec<String> = ["a", "b", "w", "cost"].map(str::to_owned).to_vec();
        let renamed = |record: &TableRecord, names: Option<&[String]>, count| {
            let fitted = FittedColumns::find(record, names, count, 1).unwrap();
            fitted.rename(names.unwrap_or_default(), count).join(",")
        };
        assert_eq!(renamed(&record, Some(&names), 4), "a,b,,w");
        assert_eq!(renamed(&record, None, 3), ",,w");
        let fitted = FittedColumns::find(&record, None, 3, 1).unwrap();
        let moved = fitted.between(EdgeEnds { source: 1, target: 2 });
        assert_eq!(moved.rename(&[], 3).join(","), ",,", "the column of a property is an end now");
        record.properties.clear();
        assert_eq!(renamed(&record, Some(&names), 4), "a,b,w,cost");
    }
}
