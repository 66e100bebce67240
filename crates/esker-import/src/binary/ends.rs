//! Which columns of a file with types are the ends of its edges.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, LogicalType, PropertyType, Result};

use super::holds::Holds;
use super::region::unusable;
use crate::columns::ends::{ColumnSample, GivenEnds, find_ends};
use crate::columns::kinds::ValueKind;
use crate::columns::pairs::EdgeEnds;
use crate::read::format::{Pick, PickProperties, ReadOptions, split_type};

pub(super) fn choose_ends(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    types: &[Option<PropertyType>],
    options: &ReadOptions,
) -> Result<EdgeEnds> {
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
    let asked = properties.iter().map(|name| split_type(name).0).chain(declared);
    let asked: Vec<usize> = asked.filter_map(|name| find(path, names, name).ok()).collect();
    if others.len() + asked.len() + 2 <= names.len() {
        others.extend(asked);
    }
    let given = GivenEnds { source: named(&options.source)?, target: named(&options.target)?, others };
    let kind = |(holds, own): (Holds, Option<&PropertyType>)| match holds {
        Holds::Numbers if own.is_some_and(|own| own.logical == LogicalType::Boolean) => ValueKind::Truths,
        Holds::Numbers => ValueKind::Integers,
        Holds::Fractions => ValueKind::Fractions,
        Holds::Times | Holds::Spans(_) => ValueKind::Times,
        Holds::Texts => ValueKind::Texts,
        Holds::Other => ValueKind::Other,
    };
    let samples = names.iter().enumerate().map(|(column, (name, holds))| ColumnSample {
        name: Some(name),
        kind: Some(kind((*holds, types.get(column).and_then(Option::as_ref)))),
        values: Vec::new(),
    });
    let header: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let found = find_ends(&samples.collect::<Vec<_>>(), &given);
    found.or_ask(&header, &format!("columns: {}", list(names))).map_err(|reason| unusable(path, reason))
}

/// A column by its exact name, its name in other letters, or its number from 1.
pub(super) fn find(path: &Arc<PathBuf>, names: &[(String, Holds)], name: &str) -> Result<usize> {
    let exact = names.iter().position(|(n, _)| n == name);
    let alike = || names.iter().position(|(n, _)| n.eq_ignore_ascii_case(name));
    let numbered = || name.parse::<usize>().ok().filter(|i| (1..=names.len()).contains(i)).map(|i| i - 1);
    let index = exact.or_else(alike).or_else(numbered).ok_or_else(|| {
        let (path, columns) = (path.display(), list(names));
        Error::usage(format!("{path}: there is no column {name:?}; the columns are {columns}"))
    })?;
    if names[index].1 == Holds::Other {
        return Err(unusable(
            path,
            format!("the column {:?} holds neither numbers nor texts and cannot be used", names[index].0),
        ));
    }
    Ok(index)
}

fn list(names: &[(String, Holds)]) -> String {
    names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}
