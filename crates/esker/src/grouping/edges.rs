//! Groups and lists of edges.

use esker_graph::{Direction, Run, VertexId, vertex};
use esker_store::format::PropertyRecord;
use esker_store::{Version, View};
use serde_json::Value;

use super::groups::Groups;
use super::keys::{KEYS_MAX, KeyColumn, id_json};
use super::measures::MeasureColumn;
use super::query::GroupQuery;
use super::rows::QueryScan;
use super::sort::{RowMemory, SortKey, sorted};
use super::table::{GroupOrder, GroupTable, place_of, told_apart};
use crate::differences::value_json;
use crate::edge_rows::{EdgeRowBlock, EdgeScan};
use crate::error::{Error, Result};
use crate::window::Times;

/// Vertices whose edges a thread takes at a time, and those between two looks for a signal.
const GRAIN: usize = 1 << 12;
const CHECK_VERTICES: VertexId = 1 << 6;
/// Rows that are added up at a time.
const BLOCK_ROWS: usize = 1 << 12;

/// Groups the edges of a view; `times` are those of its edges, for [`GroupQuery::every`]. An undirected edge
/// counts once, or, by `vertex`, for each of its ends.
///
/// Time: one pass over the edges, on the threads of `run`. Memory: 60 to 200 bytes a group for each thread,
/// four bytes a vertex for each thread and once more if ends are the only key, eight a vertex for each
/// property of ends.
///
/// # Errors
/// [`Error::Usage`] for keys and measures that there are not, and for a view that turns edges round, drops
/// their directions or joins copies; the memory limit of `run`; cancellation;
/// [`esker_store::Error::Corrupt`].
pub fn group_edges(view: &View, times: Option<&Times>, query: &GroupQuery, run: &Run) -> Result<GroupTable> {
    let version = view.version();
    let mut keys = Vec::new();
    for key in &query.by {
        keys.push(KeyColumn::of_edges(key, version, run)?);
    }
    match (query.every, times) {
        (Some(every), Some(times)) => keys.push(KeyColumn::steps(view, times.clone(), every)?),
        (Some(_), None) => return Err(Error::usage("steps of time need the times of the edges".to_owned())),
        (None, _) => {}
    }
    if keys.len() > KEYS_MAX {
        return Err(Error::usage(format!("edges are grouped by {KEYS_MAX} keys at most")));
    }
    query.expect_each_once()?;
    let measures = query.measures.iter().map(|measure| {
        let property = measure.property().map(|name| version.edge_property(name).cloned()).transpose()?;
        MeasureColumn::new(measure.clone(), property)
    });
    let measures = measures.collect::<Result<Vec<_>>>()?;
    let domains: Vec<_> = keys.iter().map(|key| key.domain(version)).collect();
    let query_scan = QueryScan::new(view, &keys, &measures)?;
    let parts = run.share_ranges(
        version.num_vertices(),
        GRAIN,
        || None,
        |part: &mut Option<(Groups, EdgeRowBlock)>, range| {
            let (groups, block) = match part {
                Some(part) => part,
                None => part.insert((Groups::new(&domains, &measures, run)?, query_scan.scan.block())),
            };
            for v in range.map(vertex) {
                if v % CHECK_VERTICES == 0 {
                    run.check()?;
                }
                query_scan.scan.append_in_blocks(v, block, BLOCK_ROWS, |block| {
                    groups.add_block(block, &query_scan, &keys, run)
                })?;
            }
            Ok::<_, Error>(())
        },
    )?;
    let mut groups = Groups::new(&domains, &measures, run)?;
    if keys.is_empty() {
        groups.expect_whole(run)?;
    }
    for (mut part, block) in parts.into_iter().flatten() {
        part.add_block(&block, &query_scan, &keys, run)?;
        groups.add_all(&part, run)?;
    }
    groups.table(keys, &query.by, &query.order, version, run)
}

/// Lists the edges of a view with all their properties: hands each row of source, target and values to
/// `take`, in the order of the lists, or sorted by a column.
///
/// Memory: 32 bytes and 8 for each property for each edge of the longest list; if they are sorted, of all
/// edges, or of the first `top`, with what they are sorted by.
///
/// # Errors
/// As [`group_edges`]; what `take` returns.
pub fn list_edges(
    view: &View,
    order: &GroupOrder,
    run: &Run,
    mut take: impl FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    let mut scan = EdgeScan::new(view.clone())?;
    let (version, columns) = (view.version(), edge_columns(view));
    let properties: Vec<&PropertyRecord> = version.edge_properties().collect();
    for property in &properties {
        scan.read(property)?;
    }
    let rows = EdgeRows { version, properties };
    if let Some(column) = &order.column {
        let place = place_of(column, &columns)?;
        return rows
            .sorted(&scan, place, order, run)?
            .into_iter()
            .try_for_each(|row| take(rows.shown(&row)?));
    }
    let (mut block, mut left) = (scan.block(), order.top.unwrap_or(usize::MAX));
    for v in (0..version.num_vertices()).map(vertex) {
        if v % CHECK_VERTICES == 0 {
            run.check()?;
        }
        if left == 0 {
            break;
        }
        let degree = version.degree(Direction::Out, v)? as u64;
        let memory = run.budget().reserve("the edges of a vertex", degree * rows.row_bytes())?;
        scan.append(v, &mut block)?;
        // A list with parts in several layers comes part by part.
        let mut places: Vec<usize> = (0..block.len()).collect();
        places.sort_by_key(|&place| block.targets()[place]);
        for place in places.into_iter().take(left) {
            take(rows.shown(&rows.row(&block, place))?)?;
            left -= 1;
        }
        block.clear();
        drop(memory);
    }
    Ok(())
}

/// The edges of a version as rows of all their properties.
struct EdgeRows<'a> {
    version: &'a Version,
    properties: Vec<&'a PropertyRecord>,
}

/// An edge, with the bits of its properties.
struct EdgeRow {
    ends: [VertexId; 2],
    bits: Box<[u64]>,
}

impl EdgeRows<'_> {
    /// Bytes of a row that is gathered.
    fn row_bytes(&self) -> u64 {
        (size_of::<EdgeRow>() + 8 * self.properties.len()) as u64
    }

    fn row(&self, block: &EdgeRowBlock, place: usize) -> EdgeRow {
        let bits = (0..self.properties.len()).map(|property| block.bits(property)[place]);
        EdgeRow { ends: [block.sources()[place], block.targets()[place]], bits: bits.collect() }
    }

    fn shown(&self, row: &EdgeRow) -> Result<Vec<Value>> {
        let mut shown = Vec::with_capacity(2 + row.bits.len());
        for end in row.ends {
            shown.push(id_json(self.version, end)?);
        }
        for (property, &bits) in self.properties.iter().zip(&row.bits) {
            shown.push(value_json(&self.version.edge_value(property, bits)?));
        }
        Ok(shown)
    }

    /// What a row is sorted by, in the column at a place.
    fn sort_key(&self, row: &EdgeRow, place: usize) -> Result<SortKey> {
        Ok(match place.checked_sub(2) {
            Some(property) => {
                (&self.version.edge_value(self.properties[property], row.bits[property])?).into()
            }
            None => self.version.ids().external_of(row.ends[place])?.into(),
        })
    }

    /// All rows, or the first, sorted by the column at a place; those of equal values as they come.
    fn sorted(&self, scan: &EdgeScan, place: usize, order: &GroupOrder, run: &Run) -> Result<Vec<EdgeRow>> {
        let (top, ascending) = (order.top.unwrap_or(usize::MAX), order.ascending.unwrap_or(false));
        let in_order = |a: &(SortKey, EdgeRow), b: &(SortKey, EdgeRow)| a.0.compared(&b.0, ascending);
        let kept = top.saturating_mul(2).max(GRAIN);
        let (mut memory, mut rows) = (RowMemory::default(), Vec::new());
        let (mut block, mut reserved) = (scan.block(), 0);
        for v in (0..self.version.num_vertices()).map(vertex) {
            if v % CHECK_VERTICES == 0 {
                run.check()?;
            }
            scan.append_in_blocks(v, &mut block, BLOCK_ROWS, |block| self.gather(block, place, &mut rows))?;
            self.gather(&block, place, &mut rows)?;
            block.clear();
            if rows.len() >= kept {
                rows = sorted(rows, in_order, top, run)?;
            }
            if rows.len() > reserved {
                let new = &rows[reserved..];
                let of_keys = |row: &(SortKey, EdgeRow)| row.0.bytes() + size_of::<SortKey>() as u64;
                memory.hold(new.iter().map(|row| of_keys(row) + self.row_bytes()).sum(), run)?;
                reserved = rows.len();
            }
        }
        Ok(sorted(rows, in_order, top, run)?.into_iter().map(|row| row.1).collect())
    }

    fn gather(&self, block: &EdgeRowBlock, place: usize, rows: &mut Vec<(SortKey, EdgeRow)>) -> Result<()> {
        for row in 0..block.len() {
            let row = self.row(block, row);
            rows.push((self.sort_key(&row, place)?, row));
        }
        Ok(())
    }
}

/// The names of the columns of [`list_edges`]: `source`, `target` and the properties; one that is called like
/// a column before it is `property.NAME`.
pub fn edge_columns(view: &View) -> Vec<String> {
    let properties = view.version().edge_properties().map(|property| property.name.clone());
    told_apart(["source", "target"].map(str::to_owned).into_iter().chain(properties))
}
