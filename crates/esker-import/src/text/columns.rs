//! Which column of a table is what.

use esker_format::notation::ColumnNotation;
use esker_format::value::decimal::{self, Number};
use esker_format::{LogicalType, PropertyType};
use esker_graph::{Setting, message};

use super::blocks::excerpt;
use super::sampled::{Unfit, find, listed, name_of, notation, sniffed, values};
use super::shape::TableShape;
use super::table_ends::{ends, given_ends, one_column_twice, samples, taken};
use crate::columns::columns_do_not_fit;
use crate::columns::direction::{DirectionColumn, direction_column, mixed};
use crate::columns::ends::{GivenEnds, are_named};
use crate::columns::expected::FittedColumns;
use crate::columns::names::{TIMES, WEIGHTS, sole_position};
use crate::columns::pairs::EdgeEnds;
use crate::columns::types;
use crate::read::format::{Declaration, Pick, PickIds, PickProperties, ReadOptions, Suffix, split_type};
use crate::read::operation::OperationColumn;
use crate::read::typed::weight_fits;

/// The largest number of a column of an empty input that is told from those of others.
const COLUMNS_MAX: usize = 1 << 16;

/// A column that becomes an edge property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EdgeColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its place, from 0.
    pub(crate) column: usize,
    /// What its values are; `None`: numbers.
    pub(crate) property_type: Option<PropertyType>,
    /// How they are written.
    pub(crate) notation: ColumnNotation,
}

impl EdgeColumn {
    /// A column whose values are written in the common way, as far as is known.
    fn new(name: String, column: usize, property_type: Option<PropertyType>) -> Self {
        Self { name, column, property_type, notation: ColumnNotation::default() }
    }

    /// How the values are written, if reading them has to know it.
    pub(crate) fn own_notation(&self) -> Option<ColumnNotation> {
        let logical = self.property_type.as_ref().map_or(&LogicalType::Number, |known| &known.logical);
        self.notation.changes(logical).then(|| self.notation.clone())
    }
}

/// Which column is what, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableColumns {
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// The weight, the time, then others.
    pub(crate) properties: Vec<EdgeColumn>,
    /// Index of the weight in `properties`.
    pub(crate) weight: Option<usize>,
    /// Index of the time in `properties`, if the user named it.
    pub(crate) time: Option<usize>,
    /// Index in `properties` of the column that says what happens to edges.
    pub(crate) operation: Option<usize>,
    /// The column that says whether edges are directed.
    pub(crate) direction: Option<DirectionColumn>,
    /// Whether columns that the database remembers by names were taken by their places.
    pub(crate) lacks_names: bool,
}

/// Decides which column is what.
///
/// # Errors
/// A column that is named does not exist, or nothing tells which columns are the ends; in words.
pub(crate) fn columns(shape: &TableShape, options: &ReadOptions) -> Result<TableColumns, Unfit> {
    if shape.columns > 0 {
        return match fitted(shape, options)? {
            None => {
                let EdgeEnds { source, target } = ends(shape, options)?;
                if options.ids == PickIds::Auto {
                    check_ids(shape, [source, target])?;
                }
                columns_between(source, target, shape, options)
            }
            Some(fitted) => {
                let given = given_ends(shape, options)?;
                let source = given.source.unwrap_or(fitted.ends.source);
                let target = given.target.unwrap_or(fitted.ends.target);
                if source == target {
                    return Err(one_column_twice(shape, source));
                }
                let fitted = fitted.between(EdgeEnds { source, target });
                let header = fitted.rename(shape.header.as_deref().unwrap_or_default(), shape.columns);
                let shape = TableShape { header: Some(header), ..shape.clone() };
                let columns = columns_between(source, target, &shape, options)?;
                Ok(TableColumns { lacks_names: fitted.lacks_names, ..columns })
            }
        };
    }
    // An empty input has the columns that options name.
    columns_between(0, 1, &TableShape { header: Some(named(options)), ..shape.clone() }, options)
}

/// Refuses ids such as `1.0000e+00`, which would become texts.
fn check_ids(shape: &TableShape, ends: [usize; 2]) -> Result<(), Unfit> {
    let is_float = |id: &[u8]| {
        let mut parts = id.split(|byte| *byte == b'e');
        let (Some(digits), Some([b'+' | b'-', ..])) = (parts.next(), parts.next()) else { return false };
        digits.contains(&b'.') && decimal::is_numeral(id)
    };
    let first = shape.rows.first().map(|row| ends.map(|end| row.get(end).map_or(&[][..], Vec::as_slice)));
    match first {
        Some([source, target]) if is_float(source) && is_float(target) => Err(message![
            format!(
                "the ids are floating-point numbers, such as {}: write integers (numpy.savetxt with fmt='%d'), or take them \
                 as texts with ",
                excerpt(source)
            ),
            Setting::Ids.to("text"),
        ]
        .into()),
        _ => Ok(()),
    }
}

/// The columns that the database remembers; `None` if it remembers none, or the table has others that names
/// or options tell.
fn fitted(shape: &TableShape, options: &ReadOptions) -> Result<Option<FittedColumns>, Unfit> {
    let Some(expected) = &options.expected else { return Ok(None) };
    let header = shape.header.as_deref();
    let are_given = options.source.is_some() && options.target.is_some();
    if header.is_none() || expected.named {
        let bare = if header.is_none() { bare_columns(shape, options) } else { shape.columns };
        let asked = options.num_asked() - (shape.columns - bare);
        let found = FittedColumns::find(expected, header, bare, asked);
        if found.is_some() || are_given {
            return Ok(found);
        }
    } else {
        // Places tell nothing of columns with names.
        let given = GivenEnds { others: taken(shape, options), ..given_ends(shape, options)? };
        if are_given || are_named(&samples(shape, options), &given) {
            return Ok(None);
        }
    }
    let listed = header.map_or_else(|| format!("{} columns without names", shape.columns), listed);
    Err(Unfit::Table(columns_do_not_fit(expected, &listed, header.is_some())))
}

/// The header that an empty input might have had: the columns that options name, behind those that they
/// number.
fn named(options: &ReadOptions) -> Vec<String> {
    let names: Vec<&str> = options.named_columns().collect();
    let numbered = names.iter().filter_map(|name| name.parse::<usize>().ok()).max().unwrap_or(0);
    let mut header = vec![String::new(); numbered.clamp(2, COLUMNS_MAX)];
    for name in names {
        if name.parse::<usize>().is_err() && !header.iter().any(|known| known == name) {
            header.push(name.to_owned());
        }
    }
    header
}

fn columns_between(
    source: usize,
    target: usize,
    shape: &TableShape,
    options: &ReadOptions,
) -> Result<TableColumns, Unfit> {
    let mut taken = vec![source, target];
    let mut properties = Vec::new();
    let time = match &options.time {
        Pick::Skip => None,
        Pick::Column(name) => Some(find(shape, name)?),
        Pick::Auto => sole_position(shape.header.as_deref().unwrap_or_default(), TIMES)?,
    };
    let time = time.filter(|column| !taken.contains(column) || options.time != Pick::Auto);
    let weight = match &options.weight {
        Pick::Skip => None,
        Pick::Column(name) => Some(find(shape, name)?),
        Pick::Auto => {
            usual_weight(shape, options)?.filter(|column| !taken.contains(column) && time != Some(*column))
        }
    };
    if let Some(column) = weight {
        taken.push(column);
        properties.push(EdgeColumn::new(name_of(shape, column, "weight"), column, None));
    }
    if let Some(column) = time {
        taken.push(column);
        let is_named = matches!(options.time, Pick::Column(_));
        let given: Vec<&[u8]> = values(shape, column).collect();
        let property_type = types::sniffed_time(&given, &notation(shape, column, options), is_named);
        properties.push(EdgeColumn::new(name_of(shape, column, "time"), column, property_type));
    }
    others(shape, options, &taken, &mut properties)?;
    declare(shape, options, &mut properties)?;
    let operation = operation(shape, options, &mut properties)?;
    taken.extend(operation.map(|operation| properties[operation].column));
    for property in &mut properties {
        property.notation = notation(shape, property.column, options);
    }
    check_formats(shape, options, &properties)?;
    for (index, property) in properties.iter().enumerate() {
        if properties[..index].iter().any(|other| other.name == property.name) {
            let reason =
                format!("two edge properties would be called {:?}; choose one of them", property.name);
            return Err(reason.into());
        }
    }
    if let (Some(_), Some(declared)) =
        (weight, properties.first().and_then(|weight| weight.property_type.as_ref()))
    {
        weight_fits(declared)?;
    }
    let time = match &options.time {
        Pick::Column(_) => properties.iter().position(|property| Some(property.column) == time),
        _ => None,
    };
    if let Some(property) = time.map(|time| &properties[time]) {
        are_whole(shape, property)?;
    }
    let direction = direction_column(shape.header.as_deref().unwrap_or_default(), &shape.rows)
        .filter(|found| !taken.contains(&found.column));
    if direction.is_some_and(|found| found.is_mixed) && options.directed.is_none() {
        return Err(mixed().into());
    }
    let weight = weight.map(|_| 0);
    Ok(TableColumns { source, target, properties, weight, time, operation, direction, lacks_names: false })
}

/// The place among the properties of the column that says what happens to edges, which is read as texts.
fn operation(
    shape: &TableShape,
    options: &ReadOptions,
    properties: &mut Vec<EdgeColumn>,
) -> Result<Option<usize>, Unfit> {
    let Some(OperationColumn { column, .. }) = &options.operation else { return Ok(None) };
    let column = find(shape, column)?;
    let place = properties.iter().position(|property| property.column == column);
    let place = place.unwrap_or_else(|| {
        let name = name_of(shape, column, &format!("column{}", column + 1));
        properties.push(EdgeColumn::new(name, column, None));
        properties.len() - 1
    });
    properties[place].property_type = Some(PropertyType::text());
    Ok(Some(place))
}

/// Refuses times with fractions: no window takes them.
fn are_whole(shape: &TableShape, property: &EdgeColumn) -> Result<(), Unfit> {
    let fields = property.notation.sample(values(shape, property.column));
    let broken = |field: &&[u8]| matches!(decimal::number(field.trim_ascii()), Ok(Number::Float(_)));
    let mut given = fields.iter().map(AsRef::as_ref);
    match given.find(broken).filter(|_| property.property_type.is_none()) {
        None => Ok(()),
        Some(field) => Err(Unfit::Option(message![
            format!(
                "{:?} holds {}, but times are whole numbers, dates or timestamps: ",
                property.name,
                excerpt(field)
            ),
            "seconds since 1970 may have fractions, but not other numbers; convert it, to whole milliseconds for example, or take it as a number with ",
            Setting::Property.to_name(&property.name),
        ])),
    }
}

/// The number of columns without the one that says what happens to edges, if that is the last.
fn bare_columns(shape: &TableShape, options: &ReadOptions) -> usize {
    let operation = options.operation.as_ref().and_then(|own| find(shape, &own.column).ok());
    shape.columns - usize::from(operation.is_some_and(|column| column + 1 == shape.columns))
}

fn usual_weight(shape: &TableShape, options: &ReadOptions) -> Result<Option<usize>, Unfit> {
    Ok(match &shape.header {
        Some(header) => sole_position(header, WEIGHTS)?,
        None if bare_columns(shape, options) == 3 => {
            let read = notation(shape, 2, options).sample(values(shape, 2));
            // One bad line in a hundred is a bad line, not a sign that this is no weight.
            let numbers = read.iter().filter(|value| decimal::is_numeral(value)).count();
            let given = read.iter().filter(|value| !value.is_empty()).count();
            (numbers > 0 && numbers * 100 >= given * 99).then_some(2)
        }
        None => None,
    })
}

fn others(
    shape: &TableShape,
    options: &ReadOptions,
    taken: &[usize],
    properties: &mut Vec<EdgeColumn>,
) -> Result<(), Unfit> {
    match &options.properties {
        PickProperties::None => {}
        PickProperties::All => {
            let is_kept = |column: &usize| !taken.contains(column) && !is_trailing(shape, *column);
            for column in (0..shape.columns).filter(is_kept) {
                let name = name_of(shape, column, &format!("column{}", column + 1));
                properties.push(EdgeColumn::new(name, column, sniffed(shape, column, options)));
            }
        }
        PickProperties::Columns(names) => {
            for name in names {
                let (name, suffix) = split_type(name);
                let column = find(shape, name)?;
                if properties.iter().any(|property| property.column == column) {
                    continue;
                }
                let name = name_of(shape, column, &format!("column{}", column + 1));
                let property_type = match suffix {
                    Suffix::None => sniffed(shape, column, options),
                    Suffix::Number => None,
                    Suffix::Type(property_type) => Some(property_type),
                };
                properties.push(EdgeColumn::new(name, column, property_type));
            }
        }
    }
    Ok(())
}

/// Whether a column is but a separator at the end of each line.
fn is_trailing(shape: &TableShape, column: usize) -> bool {
    let is_last = column + 1 == shape.columns;
    let unnamed = shape.header.as_ref().is_none_or(|header| header.get(column).is_none_or(String::is_empty));
    is_last && unnamed && shape.rows.iter().all(|row| row.get(column).is_none_or(Vec::is_empty))
}

/// Gives properties the types that the user declares.
fn declare(shape: &TableShape, options: &ReadOptions, properties: &mut Vec<EdgeColumn>) -> Result<(), Unfit> {
    for Declaration { name, property_type } in &options.schema {
        let column = find(shape, name)?;
        let property_type = Some(property_type.clone());
        match properties.iter_mut().find(|property| property.column == column) {
            Some(property) => property.property_type = property_type,
            None => {
                let name = name_of(shape, column, &format!("column{}", column + 1));
                properties.push(EdgeColumn::new(name, column, property_type));
            }
        }
    }
    Ok(())
}

/// Refuses a date format of a column that does not exist or is not read.
fn check_formats(shape: &TableShape, options: &ReadOptions, read: &[EdgeColumn]) -> Result<(), Unfit> {
    for name in options.notation.formats.iter().filter_map(|format| format.column.as_deref()) {
        // A database has other properties than those that a change reads.
        if options.types_are_fixed {
            continue;
        }
        let column = find(shape, name)?;
        if !read.iter().any(|property| property.column == column) {
            return Err(Unfit::Option(message![
                Setting::DateFormat,
                format!(" has no effect on the column {name:?}, which is not read; add "),
                Setting::Property.to_name(name),
            ]));
        }
    }
    Ok(())
}

/// Whether the ids of a sample are to be taken as texts.
pub(crate) fn ids_are_texts(shape: &TableShape, columns: &TableColumns, options: &ReadOptions) -> bool {
    match options.ids {
        PickIds::Int => false,
        PickIds::Text => true,
        PickIds::Auto => {
            let ends = [columns.source, columns.target];
            let fields = shape.rows.iter().flat_map(|row| ends.iter().filter_map(|&end| row.get(end)));
            decimal::are_text_ids(fields.map(Vec::as_slice))
        }
    }
}

/// The end that has floats in the sample where the other has integers, as programs write integers of which
/// some are missing.
pub(crate) fn float_end(shape: &TableShape, columns: &TableColumns) -> Option<usize> {
    let ids = |end: usize| {
        let fields = shape.rows.iter().filter_map(move |row| row.get(end)).filter(|id| !id.is_empty());
        fields.filter(|id| decimal::id(id).is_ok())
    };
    let are_floats = |end: usize| ids(end).next().is_some() && ids(end).all(|id| id.contains(&b'.'));
    let are_integers = |end: usize| ids(end).next().is_some() && ids(end).all(|id| !id.contains(&b'.'));
    let TableColumns { source, target, .. } = *columns;
    match (are_floats(source), are_floats(target)) {
        (true, false) if are_integers(target) => Some(source),
        (false, true) if are_integers(source) => Some(target),
        _ => None,
    }
}
