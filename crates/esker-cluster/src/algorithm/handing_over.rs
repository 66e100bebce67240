//! What a shard hands over of an answer: a row for each own vertex, for the greatest, or for each group.

use esker_format::Result;
use esker_graph::VertexId;
use esker_store::ids::ExternalId;

use super::local::{Local, PutCells};
use crate::model::answer::{AnswerSink, Cell, ColumnKind, MEMBERS, Outline, OwnedId, put_row};

/// Bytes of rows handed over together, about.
const ROWS_BYTES: usize = 1 << 18;
/// Rows kept beside twice those that are wanted, before the least are left out.
const ROWS_ASIDE: usize = 1 << 10;

/// Hands over the rows of all own vertices; if `top` is given, only of the `top` vertices with the greatest
/// first values. Where these values are ids, hands over each id with the number of own vertices that have it.
///
/// # Errors
/// Those of the shard and of the sink.
pub(super) fn hand_over(
    local: &Local<'_, '_>,
    mut outline: Outline,
    cells: &PutCells,
    top: Option<usize>,
    sink: &mut dyn AnswerSink,
) -> Result<()> {
    let has_ids = outline.columns.first().is_some_and(|(_, kind)| *kind == ColumnKind::Id);
    if top.is_some() && has_ids {
        outline.columns.truncate(1);
        outline.columns.push((MEMBERS.to_owned(), ColumnKind::Count));
    }
    sink.outline(&outline)?;
    let mut rows = Handing { sink, block: Vec::new() };
    let (mut row, ids) = (Vec::new(), local.version.ids());
    match top {
        None => {
            for v in local.routes.owned() {
                row.clear();
                cells(v, &mut row);
                rows.put(ids.external_of(v)?, &row)?;
            }
        }
        Some(_) if has_ids => {
            for (id, members) in groups(local, cells) {
                rows.put(id.as_id(), &[Cell::Id(id.clone()), Cell::Count(members)])?;
            }
        }
        Some(len) => {
            for v in greatest(local, cells, len)? {
                row.clear();
                cells(v, &mut row);
                rows.put(ids.external_of(v)?, &row)?;
            }
        }
    }
    if rows.block.is_empty() { Ok(()) } else { rows.sink.rows(rows.block) }
}

/// Rows on their way to a sink.
struct Handing<'a> {
    sink: &'a mut dyn AnswerSink,
    block: Vec<u8>,
}

impl Handing<'_> {
    fn put(&mut self, id: ExternalId<'_>, row: &[Cell]) -> Result<()> {
        put_row(&mut self.block, id, row);
        if self.block.len() >= ROWS_BYTES {
            self.sink.rows(std::mem::take(&mut self.block))?;
        }
        Ok(())
    }
}

/// The own vertices with the greatest first values, in the order of [`Cell::cmp_as_value`], then of ids.
fn greatest(local: &Local<'_, '_>, cells: &PutCells, len: usize) -> Result<Vec<VertexId>> {
    let first = |a: &(Cell, ExternalId<'_>, _), b: &(Cell, ExternalId<'_>, _)| {
        b.0.cmp_as_value(&a.0).then_with(|| a.1.cmp(&b.1))
    };
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    // The least value that may still be one of the greatest.
    let mut least = Cell::Missing;
    for v in local.routes.owned().filter(|_| len > 0) {
        row.clear();
        cells(v, &mut row);
        let value = row.first().unwrap_or(&Cell::Missing);
        if value.cmp_as_value(&least).is_lt() {
            continue;
        }
        rows.push((value.clone(), local.version.ids().external_of(v)?, v));
        if rows.len() / 2 >= len.saturating_add(ROWS_ASIDE) {
            rows.select_nth_unstable_by(len - 1, first);
            rows.truncate(len);
            least = rows[len - 1].0.clone();
        }
    }
    if len < rows.len() {
        rows.select_nth_unstable_by(len, first);
        rows.truncate(len);
    }
    Ok(rows.into_iter().map(|(_, _, v)| v).collect())
}

/// The ids that are values of own vertices, and of how many. Memory: 64 bytes a vertex at most, and the
/// texts.
fn groups(local: &Local<'_, '_>, cells: &PutCells) -> Vec<(OwnedId, u64)> {
    let mut groups: Vec<(OwnedId, u64)> = Vec::new();
    let (mut unmerged_max, mut row) = (ROWS_ASIDE, Vec::new());
    for v in local.routes.owned() {
        row.clear();
        cells(v, &mut row);
        let Some(Cell::Id(id)) = row.drain(..).next() else { continue };
        match groups.last_mut() {
            Some((last, members)) if *last == id => *members += 1,
            _ => groups.push((id, 1)),
        }
        if groups.len() >= unmerged_max {
            merge(&mut groups);
            unmerged_max = 2 * groups.len() + ROWS_ASIDE;
        }
    }
    merge(&mut groups);
    groups
}

/// Makes one group of those with equal ids.
fn merge(groups: &mut Vec<(OwnedId, u64)>) {
    groups.sort_unstable();
    groups.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        kept.1 += if is_same { later.1 } else { 0 };
        is_same
    });
}
