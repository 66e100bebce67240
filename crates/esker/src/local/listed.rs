//! The edges of some vertices together: as a list, sorted, and added up.

use std::collections::HashSet;

use esker_graph::{Direction, Run, VertexId};
use esker_store::{ReservedBits, Version, VertexEdges};
use serde_json::Value;

use super::edges::{Incidence, LocalEdge, LocalGraph, each_edge};
use crate::error::Result;
use crate::grouping::{
    GroupOrder, GroupQuery, Measure, MeasureColumn, SortKey, edge_columns, place_of, sorted,
};

/// The edges of some vertices, vertex by vertex as [`edges_of`](super::edges_of) has them. An edge between
/// two of them, of which both would have it, is listed for the first; a vertex that is named twice counts
/// once.
///
/// # Errors
/// As [`edges_of`](super::edges_of); cancellation.
pub fn edges_of_all<'a>(
    graph: impl Into<LocalGraph<'a>>,
    vertices: &[VertexId],
    reach: Incidence,
    run: &Run,
) -> Result<Vec<LocalEdge<'a>>> {
    let graph = graph.into();
    let mut found = Vec::new();
    each_edge_once(graph, vertices, reach, run, |v, direction, edges, index| {
        found.push(LocalEdge::of_list(graph.version, direction, v, edges, index)?);
        Ok(())
    })?;
    Ok(found)
}

fn each_edge_once<'a>(
    graph: LocalGraph<'a>,
    vertices: &[VertexId],
    reach: Incidence,
    run: &Run,
    mut take: impl FnMut(VertexId, Direction, &VertexEdges<'a>, usize) -> Result<()>,
) -> Result<()> {
    let has_both_ends = reach == Incidence::Both || !graph.version.is_directed();
    let mut listed = HashSet::new();
    for &v in vertices {
        run.check()?;
        if listed.contains(&v) {
            continue;
        }
        each_edge(graph, v, reach, |direction, edges, index| {
            match has_both_ends && listed.contains(&edges.targets()[index]) {
                true => Ok(()),
                false => take(v, direction, edges, index),
            }
        })?;
        listed.insert(v);
    }
    Ok(())
}

/// Sorts edges by a column of [`edge_columns`], the greatest value first unless the order says otherwise.
/// Those of equal values are in the order of their ids, and those without a value are last. Without a
/// column they stay as they are.
///
/// # Errors
/// [`crate::Error::Usage`] for a column that there is not; cancellation; [`esker_store::Error::Corrupt`].
pub fn sort_edges<'a>(
    version: &Version,
    mut edges: Vec<LocalEdge<'a>>,
    order: &GroupOrder,
    run: &Run,
) -> Result<Vec<LocalEdge<'a>>> {
    let top = order.top.unwrap_or(usize::MAX);
    let Some(column) = &order.column else {
        edges.truncate(top);
        return Ok(edges);
    };
    let place = place_of(column, &edge_columns(&version.view()))?;
    let ascending = order.ascending.unwrap_or(false);
    let id = |v: VertexId| -> Result<SortKey> { Ok(version.ids().external_of(v)?.into()) };
    let rows = edges.into_iter().map(|edge| -> Result<_> {
        let key = match place {
            0 => id(edge.source)?,
            1 => id(edge.target)?,
            place => SortKey::from(&edge.values[place - 2]),
        };
        Ok((key, [id(edge.source)?, id(edge.target)?], edge))
    });
    let rows = sorted(
        rows.collect::<Result<Vec<_>>>()?,
        |(a, a_ids, _), (b, b_ids, _)| {
            let by_id = |end: usize| a_ids[end].compared(&b_ids[end], true);
            a.compared(b, ascending).then_with(|| by_id(0)).then_with(|| by_id(1))
        },
        top,
        run,
    )?;
    Ok(rows.into_iter().map(|(_, _, edge)| edge).collect())
}

/// What the edges of some vertices add up to: the names of the measures, and their values. The edges are
/// those of [`edges_of_all`].
///
/// # Errors
/// As [`edges_of_all`]; [`crate::Error::Usage`] for a measure that a property has not, or that is asked for
/// twice, and for a sum beyond 64 bits or a float.
pub fn measure_edges<'a>(
    graph: impl Into<LocalGraph<'a>>,
    vertices: &[VertexId],
    reach: Incidence,
    measures: &[Measure],
    run: &Run,
) -> Result<(Vec<String>, Vec<Value>)> {
    let graph = graph.into();
    GroupQuery { measures: measures.to_vec(), ..GroupQuery::default() }.expect_each_once()?;
    let mut columns: Vec<(MeasureColumn, Option<ReservedBits>)> = Vec::new();
    for measure in measures {
        let property =
            measure.property().map(|name| graph.version.edge_property(name).cloned()).transpose()?;
        let reserved = property.as_ref().map(|one| graph.version.reserved_bits(one)).transpose()?;
        let mut column = MeasureColumn::new(measure.clone(), property)?;
        column.grow(1);
        columns.push((column, reserved));
    }
    each_edge_once(graph, vertices, reach, run, |_, _, edges, index| {
        for (column, reserved) in &mut columns {
            let bits = match (column.reads(), reserved) {
                (Some(property), Some(reserved)) => {
                    Some(edges.bits(property.number, index)?).filter(|&bits| !reserved.has(bits))
                }
                _ => None,
            };
            column.add(0, bits);
        }
        Ok(())
    })?;
    let names = columns.iter().map(|(column, _)| column.name()).collect();
    Ok((names, columns.iter().map(|(column, _)| column.value(0)).collect::<Result<_>>()?))
}
