//! Groups and lists of edges.

use esker_graph::{Direction, Run, VertexId, vertex};
use esker_store::View;
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::layer::ListColumns;
use serde_json::Value;

use super::groups::Groups;
use super::keys::{GroupEnd, GroupKey, KEYS_MAX, KeyBits, KeyColumn, id_json, key_bits};
use super::measures::MeasureColumn;
use super::query::GroupQuery;
use super::table::{GroupOrder, GroupTable, compared, place_of, told_apart};
use crate::differences::value_json;
use crate::error::{Error, Result};
use crate::window::Times;

/// Vertices whose edges a thread takes at a time, and those between two looks for a signal.
const GRAIN: usize = 1 << 12;
const CHECK_VERTICES: VertexId = 1 << 6;

/// Groups the edges of a view; `times` are those of its edges, for [`GroupQuery::every`]. An undirected edge
/// counts once, or, by `vertex`, for each of its ends.
///
/// Time: one pass over the edges, on the threads of `run`. Memory: 60 to 200 bytes a group for each thread,
/// four bytes a vertex if ends are the only key, eight a vertex for each property of ends.
///
/// # Errors
/// [`Error::Usage`] for keys and measures that there are not, and for a view that turns edges round, drops
/// their directions or joins copies; the memory limit of `run`; cancellation;
/// [`esker_store::Error::Corrupt`].
pub fn group_edges(view: &View, times: Option<&Times>, query: &GroupQuery, run: &Run) -> Result<GroupTable> {
    let version = view.version();
    expect_edges(view)?;
    let mut keys = Vec::new();
    for key in &query.by {
        keys.push(KeyColumn::of_edges(key, version, run)?);
    }
    if let (Some(every), Some(times)) = (query.every, times) {
        keys.push(KeyColumn::steps(view, times.clone(), every, run)?);
    }
    if keys.len() > KEYS_MAX {
        return Err(Error::usage(format!("edges are grouped by {KEYS_MAX} keys at most")));
    }
    let names = names_of(&keys, &query.by);
    query.expect_each_once()?;
    let measures = query.measures.iter().map(|measure| {
        let property = measure.property().map(|name| version.edge_property(name).cloned()).transpose()?;
        MeasureColumn::new(measure.clone(), property)
    });
    let measures = measures.collect::<Result<Vec<_>>>()?;
    let domain = if let [key] = &keys[..] { key.domain(version) } else { None };
    let of_both_ends = keys.iter().any(KeyColumn::is_of_both_ends);
    let is_directed = version.is_directed();
    let rows = EdgeRows { view, keys: &keys, measures: &measures };
    let parts = run.share_ranges(
        version.num_vertices(),
        GRAIN,
        || None,
        |groups, range| {
            let groups = match groups {
                Some(groups) => groups,
                None => groups.insert(Groups::new(domain, &measures, run)?),
            };
            for v in range.map(vertex) {
                if v % CHECK_VERTICES == 0 {
                    run.check()?;
                }
                view.visit_kept(Direction::Out, v, |target, lists, index| {
                    let mut add = |end| rows.add([v, target, end], lists, index, groups, run);
                    match (is_directed, of_both_ends) {
                        (true, true) if target != v => add(v).and_then(|()| add(target)),
                        (false, false) if target < v => Ok(()),
                        _ => add(v),
                    }
                })?;
            }
            Ok::<_, Error>(())
        },
    )?;
    let mut groups = Groups::new(domain, &measures, run)?;
    if keys.is_empty() {
        groups.expect_whole(run)?;
    }
    for part in parts.iter().flatten() {
        groups.add_all(part, run)?;
    }
    groups.table(names, &keys, &query.order, version, run)
}

pub(super) fn names_of(keys: &[KeyColumn], by: &[GroupKey]) -> Vec<String> {
    keys.iter().enumerate().map(|(place, key)| key.name(by.get(place))).collect()
}

fn expect_edges(view: &View) -> Result<()> {
    if view.is_reversed() || view.drops_directions() {
        return Err(Error::usage(
            "edges are listed and grouped as they are stored: group by source, by target, or by vertex for both".to_owned(),
        ));
    }
    Ok(())
}

/// The edges of a view as rows.
struct EdgeRows<'a> {
    view: &'a View,
    keys: &'a [KeyColumn],
    measures: &'a [MeasureColumn],
}

impl EdgeRows<'_> {
    fn add(
        &self,
        [source, target, end]: [VertexId; 3],
        lists: &ListColumns,
        index: usize,
        groups: &mut Groups,
        run: &Run,
    ) -> Result<()> {
        let version = self.view.version();
        let bits = |property: &PropertyRecord| -> Result<Option<u64>> {
            let column = lists.property(property.number as usize);
            let bits = column.map_or(Ok(0), |column| column.bits_at(index))?;
            let is_missing = match version.dictionary(property.number) {
                Some(texts) if property.optional => property.is_missing_text(texts.text(bits as usize)?),
                _ => property.is_missing(bits),
            };
            Ok((!is_missing).then_some(bits))
        };
        let vertex_of = |of: GroupEnd| match of {
            GroupEnd::Source => source,
            GroupEnd::Target => target,
            GroupEnd::Vertex => end,
        };
        let mut keys = KeyBits::default();
        for (place, key) in self.keys.iter().enumerate() {
            let value = match key {
                KeyColumn::End(of) => Some(u64::from(vertex_of(*of))),
                KeyColumn::EndProperty(of, values) => values.of(vertex_of(*of)),
                KeyColumn::Property(property) => bits(property)?.map(|bits| key_bits(property, bits)),
                KeyColumn::Step(step) => bits(&step.property)?.and_then(|bits| {
                    step.of(match step.property.element {
                        ElementType::I32 => i64::from(bits as i32),
                        _ => bits.cast_signed(),
                    })
                }),
            };
            keys.set(place, value);
        }
        groups.add(keys, |place| self.measures[place].reads().map_or(Ok(None), bits), run)
    }
}

/// Lists the edges of a view with all their properties: hands each row of source, target and values to
/// `take`, in the order of the lists, or sorted by a column. Without `top`, sorted rows are all in memory.
///
/// # Errors
/// As [`group_edges`]; what `take` returns.
pub fn list_edges(
    view: &View,
    order: &GroupOrder,
    run: &Run,
    mut take: impl FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    expect_edges(view)?;
    let (version, columns) = (view.version(), edge_columns(view));
    let place = order.column.as_deref().map(|column| place_of(column, &columns)).transpose()?;
    let mut sorted = place.map(|place| SortedRows::new(place, order));
    let mut count = 0;
    for v in (0..version.num_vertices()).map(vertex) {
        if v % CHECK_VERTICES == 0 {
            run.check()?;
        }
        if sorted.is_none() && order.top.is_some_and(|top| count >= top) {
            break;
        }
        let mut rows = Vec::new();
        view.visit_kept(Direction::Out, v, |target, lists, index| {
            if !version.is_directed() && target < v {
                return Ok(());
            }
            let mut row = vec![Value::Null; 2];
            for property in version.edge_properties() {
                let column = lists.property(property.number as usize);
                let bits = column.map_or(Ok(0), |column| column.bits_at(index))?;
                row.push(value_json(&version.edge_value(property, bits)?));
            }
            rows.push((target, row));
            Ok::<_, Error>(())
        })?;
        // A list with parts in several layers comes part by part.
        rows.sort_by_key(|row| row.0);
        for (target, mut row) in rows {
            (row[0], row[1]) = (id_json(version, v)?, id_json(version, target)?);
            match &mut sorted {
                Some(sorted) => sorted.push(row),
                None if order.top.is_some_and(|top| count >= top) => break,
                None => take(row)?,
            }
            count += 1;
        }
    }
    sorted.map_or(Ok(()), |sorted| sorted.finish().into_iter().try_for_each(take))
}

/// The names of the columns of [`list_edges`]: `source`, `target` and the properties; one that is called like
/// a column before it is `property.NAME`.
pub fn edge_columns(view: &View) -> Vec<String> {
    let properties = view.version().edge_properties().map(|property| property.name.clone());
    told_apart(["source", "target"].map(str::to_owned).into_iter().chain(properties))
}

/// The first rows by a column.
pub(super) struct SortedRows {
    rows: Vec<Vec<Value>>,
    place: usize,
    ascending: bool,
    top: usize,
}

impl SortedRows {
    pub(super) fn new(place: usize, order: &GroupOrder) -> Self {
        let (ascending, top) = (order.ascending.unwrap_or(false), order.top.unwrap_or(usize::MAX));
        Self { rows: Vec::new(), place, ascending, top }
    }

    pub(super) fn push(&mut self, row: Vec<Value>) {
        self.rows.push(row);
        if self.rows.len() >= self.top.saturating_mul(2).max(1 << 10) {
            self.cut();
        }
    }

    /// Rows of equal values stay in the order in which they came.
    fn cut(&mut self) {
        let (place, ascending) = (self.place, self.ascending);
        self.rows.sort_by(|a, b| compared(&a[place], &b[place], ascending));
        self.rows.truncate(self.top);
    }

    pub(super) fn finish(mut self) -> Vec<Vec<Value>> {
        self.cut();
        self.rows
    }
}
