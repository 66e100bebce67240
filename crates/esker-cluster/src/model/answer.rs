//! Answers by external id: rows of a shard, and how they travel to the command.

use std::cmp::Ordering;

use esker_format::Result;
use esker_store::ids::ExternalId;
use serde::{Deserialize, Serialize};

pub use crate::model::owner::OwnedId;
use crate::net::wire::{Taker, put_id, put_u64};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnKind {
    /// Counts and distances; `u64::MAX` means no value.
    Count,
    /// Numbers.
    Float,
    /// External ids.
    Id,
}

/// The second column of an answer whose rows are groups: the number of vertices that have the id in the first
/// one.
pub const MEMBERS: &str = "members";

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value, such as unreached.
    Missing,
    /// A count or distance.
    Count(u64),
    /// A number.
    Float(f64),
    /// The id of a vertex.
    Id(OwnedId),
}

impl Cell {
    /// The order of values: missing ones first, then by size. Ids are equal.
    pub fn cmp_as_value(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Count(a), Self::Count(b)) => a.cmp(b),
            // -0 is 0.
            (Self::Float(a), Self::Float(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Self::Missing, Self::Missing) => Ordering::Equal,
            (Self::Missing, _) => Ordering::Less,
            (_, Self::Missing) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }
}

/// The columns of an answer, and facts about the whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outline {
    /// Name and kind of each column.
    pub columns: Vec<(String, ColumnKind)>,
    /// Counts of the whole graph or of the run, by name; equal in all processes.
    pub facts: Vec<(String, f64)>,
    /// Rounds of the algorithm.
    pub rounds: u64,
}

/// Takes blocks of rows, and before them the outline.
pub trait AnswerSink {
    /// Takes the outline, once.
    ///
    /// # Errors
    /// If it cannot be passed on.
    fn outline(&mut self, outline: &Outline) -> Result<()>;

    /// Takes some rows, encoded.
    ///
    /// # Errors
    /// If they cannot be passed on.
    fn rows(&mut self, block: Vec<u8>) -> Result<()>;
}

/// A row: a vertex and its values.
pub type VertexRow = (OwnedId, Vec<Cell>);

impl Outline {
    pub(crate) fn new(columns: &[(&str, ColumnKind)], rounds: u64) -> Self {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Self { columns, facts: Vec::new(), rounds }
    }

    pub(crate) fn with_fact(mut self, name: &str, value: f64) -> Self {
        self.facts.push((name.to_owned(), value));
        self
    }
}

/// Appends a row.
pub(crate) fn put_row(out: &mut Vec<u8>, id: ExternalId<'_>, cells: &[Cell]) {
    put_id(out, id);
    cells.iter().for_each(|cell| put_cell(out, cell));
}

fn put_cell(out: &mut Vec<u8>, cell: &Cell) {
    match cell {
        Cell::Missing => put_u64(out, u64::MAX),
        Cell::Count(count) => put_u64(out, *count),
        Cell::Float(number) => put_u64(out, number.to_bits()),
        Cell::Id(id) => put_id(out, id.as_id()),
    }
}

fn take_cell(taker: &mut Taker<'_>, kind: ColumnKind, is_text: bool) -> Result<Cell> {
    Ok(match kind {
        ColumnKind::Id => Cell::Id(taker.id(is_text)?.into()),
        // As a float, that would be no number.
        ColumnKind::Float | ColumnKind::Count => match (taker.u64()?, kind) {
            (u64::MAX, _) => Cell::Missing,
            (bits, ColumnKind::Float) => Cell::Float(f64::from_bits(bits)),
            (count, _) => Cell::Count(count),
        },
    })
}

/// Appends a change: a vertex, its old value, which a new vertex has not, and the new one.
pub(crate) fn put_change(out: &mut Vec<u8>, id: ExternalId<'_>, old: Option<&Cell>, new: &Cell) {
    put_id(out, id);
    out.push(u8::from(old.is_some()));
    old.iter().for_each(|old| put_cell(out, old));
    put_cell(out, new);
}

/// Takes the changes of a block, as rows of an old value and a new one.
pub(crate) fn take_changes(block: &[u8], kind: ColumnKind, is_text: bool) -> Result<Vec<VertexRow>> {
    let (mut taker, mut rows) = (Taker(block), Vec::new());
    while !taker.is_empty() {
        let id = taker.id(is_text)?.into();
        let old = match taker.bytes(1)?[0] {
            0 => Cell::Missing,
            _ => take_cell(&mut taker, kind, is_text)?,
        };
        rows.push((id, vec![old, take_cell(&mut taker, kind, is_text)?]));
    }
    Ok(rows)
}

/// Takes the rows of a block.
pub(crate) fn take_rows(block: &[u8], kinds: &[ColumnKind], is_text: bool) -> Result<Vec<VertexRow>> {
    let (mut taker, mut rows) = (Taker(block), Vec::new());
    while !taker.is_empty() {
        let id = taker.id(is_text)?.into();
        let cells = kinds.iter().map(|kind| take_cell(&mut taker, *kind, is_text)).collect::<Result<_>>()?;
        rows.push((id, cells));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::messages::{decode, encode};

    #[test]
    fn outlines_and_rows_are_decoded_as_they_were() {
        let columns =
            [("depth", ColumnKind::Count), ("score", ColumnKind::Float), ("component", ColumnKind::Id)];
        let outline = Outline::new(&columns, 7).with_fact("reached", 12.0).with_fact("residual", 1e-9);
        let encoded = encode(&outline).expect("encode");
        assert_eq!(decode::<Outline>(&encoded).expect("decode"), outline);
        let kinds = columns.map(|(_, kind)| kind);
        for ids in
            [[OwnedId::Int(4), OwnedId::Int(u64::MAX)], [OwnedId::Text(vec![]), OwnedId::Text(b"bob".into())]]
        {
            let is_text = matches!(ids[0], OwnedId::Text(_));
            let rows = [
                (ids[0].clone(), vec![Cell::Count(3), Cell::Float(-0.5), Cell::Id(ids[1].clone())]),
                (ids[1].clone(), vec![Cell::Missing, Cell::Missing, Cell::Id(ids[1].clone())]),
            ];
            let mut block = Vec::new();
            rows.iter().for_each(|(id, cells)| put_row(&mut block, id.as_id(), cells));
            assert_eq!(take_rows(&block, &kinds, is_text).expect("rows"), rows);
            let (mut block, name) = (Vec::new(), Cell::Id(ids[1].clone()));
            put_change(&mut block, ids[0].as_id(), None, &name);
            put_change(&mut block, ids[1].as_id(), Some(&name), &name);
            let changes = take_changes(&block, ColumnKind::Id, is_text).expect("changes");
            let expected = [(&ids[0], Cell::Missing), (&ids[1], name.clone())];
            assert_eq!(changes, expected.map(|(id, old)| (id.clone(), vec![old, name.clone()])));
        }
    }
}
