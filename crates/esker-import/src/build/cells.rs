//! The values of the vertices of a block, by vertex.

use crate::read::source::VertexColumn;

/// A value: its column, and its place in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    pub(super) column: u32,
    pub(super) place: u32,
}

/// The values of so many vertices: where those of each begin, and all, those of a vertex in the order of the
/// columns.
pub(super) fn by_row(columns: &[VertexColumn], count: usize) -> (Vec<u32>, Vec<Cell>) {
    let mut starts = vec![0_u32; count + 1];
    let all = || columns.iter().flat_map(|column| &column.rows);
    all().for_each(|row| starts[*row as usize + 1] += 1);
    for index in 0..count {
        starts[index + 1] += starts[index];
    }
    let mut cells = vec![Cell::default(); starts[count] as usize];
    let mut next = starts.clone();
    for (column, own) in (0..).zip(columns) {
        for (place, row) in (0..).zip(&own.rows) {
            let at = &mut next[*row as usize];
            cells[*at as usize] = Cell { column, place };
            *at += 1;
        }
    }
    (starts, cells)
}
