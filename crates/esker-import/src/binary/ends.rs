//! Which columns of a file with types are the ends of its edges.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::value::name::place_of_name;
use esker_format::{Error, LogicalType, PropertyType, Result};

use super::holds::Holds;
use super::region::unusable;
use crate::columns::columns_do_not_fit;
use crate::columns::ends::{ColumnSample, GivenEnds, are_named, find_ends};
use crate::columns::expected::FittedColumns;
use crate::columns::kinds::ValueKind;
use crate::columns::names::{called_alike, sole_position};
use crate::columns::pairs::EdgeEnds;
use crate::read::format::{Pick, PickProperties, ReadOptions, split_type};

pub(super) fn choose_ends(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    types: &[Option<PropertyType>],
    options: &ReadOptions,
) -> Result<EdgeEnds> {
    let given = given_ends(path, names, options)?;
    let samples = samples(names, types);
    let header: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let found = find_ends(&samples, &given);
    found.or_ask(&header, &format!("columns: {}", list(names))).map_err(|reason| unusable(path, reason))
}

/// The columns that the database remembers; `None` if it remembers none, or none with names.
pub(super) fn fitted(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    types: &[Option<PropertyType>],
    options: &ReadOptions,
) -> Result<Option<FittedColumns>> {
    let Some(expected) = &options.expected else { return Ok(None) };
    let given = given_ends(path, names, options)?;
    let are_given = given.source.is_some() && given.target.is_some();
    let found = if expected.named {
        let header: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
        FittedColumns::find(expected, Some(&header), names.len(), options.num_asked())
    } else {
        None
    };
    // Places tell nothing of columns with names.
    let are_named = !expected.named && are_named(&samples(names, types), &given);
    if found.is_some() || are_given || are_named {
        return Ok(found);
    }
    Err(unusable(path, columns_do_not_fit(expected, &list(names), false)))
}

/// The ends: those that options name, else those that the database remembers.
pub(super) fn fitted_ends(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    fitted: &FittedColumns,
    options: &ReadOptions,
) -> Result<EdgeEnds> {
    let end = |name: &Option<String>, known: usize| match name {
        Some(name) => find(path, names, name),
        None => find(path, names, &names[known].0).map(|_| known),
    };
    let source = end(&options.source, fitted.ends.source)?;
    Ok(EdgeEnds { source, target: end(&options.target, fitted.ends.target)? })
}

/// The columns that options name, as ends or as something else.
fn given_ends(path: &Arc<PathBuf>, names: &[(String, Holds)], options: &ReadOptions) -> Result<GivenEnds> {
    let named = |name: &Option<String>| name.as_ref().map(|name| find(path, names, name)).transpose();
    let picked = |pick: &Pick| match pick {
        Pick::Column(name) => find(path, names, name).ok(),
        Pick::Auto | Pick::Skip => None,
    };
    let mut others: Vec<usize> = [&options.time, &options.weight].into_iter().filter_map(picked).collect();
    let properties: &[String] = match &options.properties {
        PickProperties::Columns(names) => names,
        PickProperties::None | PickProperties::All => &[],
    };
    let declared = options.schema.iter().map(|declaration| declaration.name.as_str());
    let operation = options.operation.iter().map(|operation| operation.column.as_str());
    let asked = properties.iter().map(|name| split_type(name).0).chain(declared).chain(operation);
    let asked: Vec<usize> = asked.filter_map(|name| find(path, names, name).ok()).collect();
    if others.len() + asked.len() + 2 <= names.len() {
        others.extend(asked);
    }
    Ok(GivenEnds { source: named(&options.source)?, target: named(&options.target)?, others })
}

fn samples<'n>(names: &'n [(String, Holds)], types: &[Option<PropertyType>]) -> Vec<ColumnSample<'n>> {
    let kind = |(holds, own): (Holds, Option<&PropertyType>)| match holds {
        Holds::Numbers if own.is_some_and(|own| own.logical == LogicalType::Boolean) => ValueKind::Truths,
        Holds::Numbers => ValueKind::Integers,
        Holds::Fractions => ValueKind::Fractions,
        Holds::Times | Holds::Spans(_) => ValueKind::Times,
        Holds::Texts => ValueKind::Texts,
        Holds::Vectors | Holds::Other => ValueKind::Other,
    };
    let samples = names.iter().enumerate().map(|(column, (name, holds))| ColumnSample {
        name: Some(name),
        kind: Some(kind((*holds, types.get(column).and_then(Option::as_ref)))),
        values: Vec::new(),
    });
    samples.collect()
}

/// A column by its exact name, which may stand in double quotes, its name in other letters, or its number
/// from 1.
pub(super) fn find(path: &Arc<PathBuf>, names: &[(String, Holds)], name: &str) -> Result<usize> {
    let exact = names.iter().position(|(n, _)| n == name);
    let alike = || names.iter().position(|(n, _)| n.eq_ignore_ascii_case(name));
    let numbered = || name.parse::<usize>().ok().filter(|i| (1..=names.len()).contains(i)).map(|i| i - 1);
    let quoted = || place_of_name(name, names.iter().map(|(n, _)| n.as_str()));
    let index = exact.or_else(quoted).or_else(alike).or_else(numbered).ok_or_else(|| {
        let (path, columns) = (path.display(), list(names));
        Error::usage(format!("{path}: there is no column {name:?}; the columns are {columns}"))
    })?;
    // A number means one column.
    if numbered() != Some(index)
        && let Some(reason) = called_alike(names.iter().map(|(n, _)| n.as_str()), index)
    {
        return Err(Error::usage(format!("{}: {reason}", path.display())));
    }
    if names[index].1 == Holds::Other {
        return Err(unusable(
            path,
            format!("the column {:?} holds neither numbers nor texts and cannot be used", names[index].0),
        ));
    }
    Ok(index)
}

/// Refuses two properties of one name.
pub(super) fn expect_once_each(path: &Arc<PathBuf>, properties: &[String]) -> Result<()> {
    match properties.iter().enumerate().find(|&(at, name)| properties[..at].contains(name)) {
        None => Ok(()),
        Some((_, name)) => {
            let reason = format!("two edge properties would be called {name:?}; choose one of them");
            Err(unusable(path, reason))
        }
    }
}

/// The column with a usual name, unless several have it.
pub(super) fn usual(path: &Arc<PathBuf>, header: &[String], names: &[&str]) -> Result<Option<usize>> {
    sole_position(header, names).map_err(|reason| unusable(path, reason))
}

fn list(names: &[(String, Holds)]) -> String {
    names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}
