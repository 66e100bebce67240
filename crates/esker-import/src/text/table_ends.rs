//! Which columns of a table are the ends of its edges, and what the marks of a header say of them.

use std::borrow::Cow;

use esker_format::value::decimal;
use esker_graph::{Setting, message};

use super::sampled::{Unfit, fields, find, listed, name_of, notation};
use super::shape::TableShape;
use crate::columns::ends::{ColumnSample, GivenEnds, find_ends};
use crate::columns::kinds::ValueKind;
use crate::columns::neo4j::{Neo4jRole, edge_columns};
use crate::columns::pairs::EdgeEnds;
use crate::read::format::{Declaration, Pick, PickProperties, ReadOptions, split_type};

/// The columns that options name as ends.
pub(super) fn given_ends(shape: &TableShape, options: &ReadOptions) -> Result<GivenEnds, Unfit> {
    let named = |name: &Option<String>| name.as_deref().map(|name| find(shape, name)).transpose();
    let (source, target) = (named(&options.source)?, named(&options.target)?);
    Ok(GivenEnds { source, target, others: Vec::new() })
}

pub(super) fn one_column_twice(shape: &TableShape, column: usize) -> Unfit {
    let name = name_of(shape, column, &(column + 1).to_string());
    Unfit::Option(message![
        format!("the column {name:?} cannot be both ends of the edges; name two columns with "),
        Setting::SourceColumn,
        " and ",
        Setting::TargetColumn,
    ])
}

pub(super) fn ends(shape: &TableShape, options: &ReadOptions) -> Result<EdgeEnds, Unfit> {
    let header = shape.header.as_deref().unwrap_or_default();
    let GivenEnds { source, target, .. } = given_ends(shape, options)?;
    if let (Some(source), true) = (source, source == target) {
        return Err(one_column_twice(shape, source));
    }
    if shape.columns == 1 {
        let reason = "the lines have one column, and an edge needs two; name what separates them with ";
        return Err(message![reason, Setting::Delimiter].into());
    }
    if source.is_none() && target.is_none() && is_matrix(shape) {
        return Err(message![
            "this looks like a matrix with a row and a column for each vertex, which is not read as text: write it as Matrix \
             Market, or if it is a list of edges, name their columns with ",
            Setting::SourceColumn,
            " and ",
            Setting::TargetColumn,
        ]
        .into());
    }
    let given = GivenEnds { source, target, others: taken(shape, options) };
    let shown = match header {
        [] => format!("{} columns without names", shape.columns),
        header => format!("columns: {}", listed(header)),
    };
    find_ends(&samples(shape, options), &given).or_ask(header, &shown).map_err(Unfit::Sample)
}

/// Columns without names beyond which a table of numbers is no list of edges.
const LIST_COLUMNS_MAX: usize = 64;

/// Whether a table has a row and a column for each vertex: the names of the columns stand in the first
/// column, or nothing but numbers stands in as many rows as columns.
fn is_matrix(shape: &TableShape) -> bool {
    let rows = &shape.rows;
    if let Some(header) = &shape.header {
        let same =
            |(row, name): (&Vec<Vec<u8>>, &String)| row.first().is_some_and(|first| first == name.as_bytes());
        return header.len() > 3 && rows.len() + 1 == header.len() && rows.iter().zip(&header[1..]).all(same);
    }
    let cell = |row: usize, column: usize| rows[row].get(column);
    let is_distance = |n: usize| {
        (0..n)
            .all(|v| cell(v, v).is_some_and(|zero| zero == b"0") && (0..v).all(|u| cell(u, v) == cell(v, u)))
    };
    // Distances, similarities, and whether there is an edge: edges with weights and times are nothing
    // like it.
    let is_plain = |n: usize| {
        let is_bit = |value: &Vec<u8>| value == b"0" || value == b"1";
        let has_one_diagonal = (1..n).all(|v| cell(v, v) == cell(0, 0));
        has_one_diagonal || rows.iter().flatten().all(is_bit)
    };
    let is_square = match shape.columns {
        0..=2 => false,
        // As many are three edges with weights.
        3 => rows.len() == 3 && is_distance(3),
        // These may have times and more.
        n @ 4..=5 => rows.len() == n && is_plain(n),
        columns => rows.len() == columns || columns > LIST_COLUMNS_MAX,
    };
    is_square && rows.iter().all(|row| decimal::are_numbers(row.iter().map(Vec::as_slice)))
}

/// Columns that are named as something else than an end, unless too few others are left.
pub(super) fn taken(shape: &TableShape, options: &ReadOptions) -> Vec<usize> {
    let named = |pick: &Pick| match pick {
        Pick::Column(name) => find(shape, name).ok(),
        Pick::Auto | Pick::Skip => None,
    };
    let mut taken: Vec<usize> = [&options.time, &options.weight].into_iter().filter_map(named).collect();
    if taken.len() + 2 > shape.columns {
        taken.clear();
    }
    let others: &[String] = match &options.properties {
        PickProperties::Columns(names) => names,
        PickProperties::None | PickProperties::All => &[],
    };
    let declared = options.schema.iter().map(|declaration| declaration.name.as_str());
    let operation = options.operation.iter().map(|operation| operation.column.as_str());
    let others = others.iter().map(|name| split_type(name).0).chain(declared).chain(operation);
    let others: Vec<usize> = others.filter_map(|name| find(shape, name).ok()).collect();
    if taken.len() + others.len() + 2 <= shape.columns {
        taken.extend(others);
    }
    taken
}

/// What the sample tells of each column.
pub(super) fn samples<'s>(shape: &'s TableShape, options: &ReadOptions) -> Vec<ColumnSample<'s>> {
    let sample = |column: usize| {
        let read = notation(shape, column, options).sample(fields(shape, column));
        ColumnSample {
            name: shape.header.as_ref().map(|header| header.get(column).map_or("", String::as_str)),
            kind: Some(ValueKind::of(read.iter().map(AsRef::as_ref))),
            values: fields(shape, column).collect(),
        }
    };
    (0..shape.columns).map(sample).collect()
}

/// A table, and how it is read.
pub(super) struct MarkedTable<'o> {
    /// The table, its columns called by their names without marks, unless an option has them.
    pub(super) shape: TableShape,
    /// The options, with what the marks say of ends, properties and types where no option says it.
    pub(super) options: Cow<'o, ReadOptions>,
    /// The name of the column of kinds, if a mark names it, and no option.
    pub(super) kind: Option<String>,
}

/// Reads the marks of a table, if its header has those of both ends.
pub(super) fn by_marks(mut shape: TableShape, options: &ReadOptions) -> MarkedTable<'_> {
    let header = shape.header.clone().unwrap_or_default();
    let Some(columns) = edge_columns(&header) else {
        return MarkedTable { shape, options: Cow::Borrowed(options), kind: None };
    };
    let asked: Vec<&str> = options.named_columns().chain(options.kind.as_deref()).collect();
    let names = columns.iter().zip(&header).map(|(column, own)| match asked.contains(&own.as_str()) {
        true => own.clone(),
        false => column.name.clone(),
    });
    shape.header = Some(names.collect());
    let places = |roles: &[Neo4jRole]| -> Vec<usize> {
        (0..columns.len()).filter(|&place| roles.contains(&columns[place].role)).collect()
    };
    // By their numbers, because two columns may have one name.
    let number = |place: &usize| (place + 1).to_string();
    let mut marked = options.clone();
    if options.source.is_none() && options.target.is_none() {
        marked.source = places(&[Neo4jRole::Start]).first().map(number);
        marked.target = places(&[Neo4jRole::End]).first().map(number);
    }
    let types = places(&[Neo4jRole::Type]);
    let mut kind = None;
    if !options.types_are_fixed {
        if options.properties == PickProperties::None {
            let read = places(&[Neo4jRole::Type, Neo4jRole::Property]);
            marked.properties = PickProperties::Columns(read.iter().map(number).collect());
        }
        let is_declared = |place: usize| {
            options.schema.iter().any(|declared| find(&shape, &declared.name).ok() == Some(place))
        };
        let is_read = |place: usize| match &marked.properties {
            PickProperties::Columns(names) => names.iter().any(|name| find(&shape, name).ok() == Some(place)),
            PickProperties::All => true,
            PickProperties::None => false,
        };
        for (place, column) in columns.iter().enumerate() {
            if let (Some(property_type), true) =
                (&column.property_type, is_read(place) && !is_declared(place))
            {
                let property_type = property_type.clone();
                marked.schema.push(Declaration { name: number(&place), property_type });
            }
        }
        let is_free = options.kind.is_none() && types.len() == 1;
        let name = |place: &usize| shape.header.as_ref().and_then(|names| names.get(*place)).cloned();
        kind = types.first().filter(|&&place| is_free && is_read(place)).and_then(name);
    }
    MarkedTable { shape, options: Cow::Owned(marked), kind }
}
