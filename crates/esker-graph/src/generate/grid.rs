//! Grids, tori and road-like networks.
//!
//! Vertex `row * columns + column` is joined to the next vertex in its row and in its column; a torus also
//! joins the last to the first. A road-like network lacks a fraction of these edges and has diagonals in a
//! fraction of the cells. Pseudo-random permutations select both, so their numbers are exact. Lengths are
//! around 1000, or 1414 on diagonals. With less than about 0.4 of the edges removed, nearly all vertices are
//! connected [1]. Work: O(1) per edge.
//!
//! [1] bond percolation on the square lattice: H. Kesten, Commun. Math. Phys. 74, 1980.

use crate::random::RandomKey;
use crate::stop::Stop;

use super::bijection::Bijection;
use super::limits;
use super::stream::GeneratedEdges;

/// A grid or torus.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
    /// Whether the last row and column are joined to the first; this needs at least 3 rows and 3 columns.
    pub torus: bool,
}

impl Grid {
    pub(super) fn prepare(&self) -> Result<GridEdges, Stop> {
        let Self { rows, columns, torus } = *self;
        let num_vertices = limits::vertices(u128::from(rows) * u128::from(columns))?;
        if torus && rows.min(columns) < 3 {
            return Err(Stop::unsuitable(format!(
                "cannot make a torus of {rows} x {columns} vertices: it needs at least 3 rows and 3 columns"
            )));
        }
        limits::edges(2 * u128::from(num_vertices))?;
        Ok(GridEdges { rows, columns, torus })
    }
}

/// The edges of a grid: slot `2 * v` is along the row of `v`, slot `2 * v + 1` along its column.
#[derive(Debug)]
pub(super) struct GridEdges {
    rows: u64,
    columns: u64,
    torus: bool,
}

impl GridEdges {
    fn across(&self) -> u64 {
        if self.torus { self.rows * self.columns } else { self.rows * self.columns.saturating_sub(1) }
    }

    fn down(&self) -> u64 {
        if self.torus { self.rows * self.columns } else { self.rows.saturating_sub(1) * self.columns }
    }
}

impl GeneratedEdges for GridEdges {
    fn num_vertices(&self) -> u64 {
        self.rows * self.columns
    }

    fn num_edges(&self) -> u64 {
        self.across() + self.down()
    }

    fn num_slots(&self) -> u64 {
        2 * self.num_vertices()
    }

    #[inline(always)]
    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        let v = slot / 2;
        let (row, column) = (v / self.columns, v % self.columns);
        if slot & 1 == 0 {
            let last = column + 1 == self.columns;
            (!last || self.torus).then(|| (v, if last { v - column } else { v + 1 }))
        } else {
            let last = row + 1 == self.rows;
            (!last || self.torus).then(|| (v, if last { column } else { v + self.columns }))
        }
    }
}

/// A road-like network.
#[derive(Debug, Clone, PartialEq)]
pub struct Road {
    /// Number of rows of the grid.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
    /// Fraction of the grid's edges removed.
    pub removed: f64,
    /// Fraction of the grid's cells that have a diagonal.
    pub diagonals: f64,
}

impl Road {
    /// A network of `rows` by `columns` crossings, with 30 % of the edges removed and diagonals in 5 % of the
    /// cells.
    pub fn new(rows: u64, columns: u64) -> Self {
        Self { rows, columns, removed: 0.3, diagonals: 0.05 }
    }

    pub(super) fn prepare(&self, seed: u64) -> Result<RoadEdges, Stop> {
        let grid = Grid { rows: self.rows, columns: self.columns, torus: false }.prepare()?;
        limits::edges(3 * u128::from(grid.num_vertices()))?;
        let removed = limits::probability("the fraction of removed edges", self.removed)?;
        let diagonals = limits::probability("the fraction of diagonals", self.diagonals)?;
        let cells = self.rows.saturating_sub(1) * self.columns.saturating_sub(1);
        Ok(RoadEdges {
            num_straight: grid.num_edges() - (grid.num_edges() as f64 * removed).round() as u64,
            num_diagonal: (cells as f64 * diagonals).round() as u64,
            straight: Bijection::new(grid.num_edges(), RandomKey::new(seed, 7)),
            diagonal: Bijection::new(cells, RandomKey::new(seed, 8)),
            lean: RandomKey::new(seed, 9),
            length: RandomKey::new(seed, 10),
            grid,
        })
    }
}

/// The edges of a road-like network: slots `3 * v` and `3 * v + 1` as in the grid, `3 * v + 2` for the cell
/// below and right of `v`.
#[derive(Debug)]
pub(super) struct RoadEdges {
    grid: GridEdges,
    num_straight: u64,
    num_diagonal: u64,
    straight: Bijection,
    diagonal: Bijection,
    lean: RandomKey,
    length: RandomKey,
}

impl GeneratedEdges for RoadEdges {
    fn num_vertices(&self) -> u64 {
        self.grid.num_vertices()
    }

    fn num_edges(&self) -> u64 {
        self.num_straight + self.num_diagonal
    }

    fn num_slots(&self) -> u64 {
        3 * self.num_vertices()
    }

    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        let (v, kind, columns) = (slot / 3, slot % 3, self.grid.columns);
        let (row, column) = (v / columns, v % columns);
        if kind < 2 {
            let edge = self.grid.edge(2 * v + kind)?;
            // The edge's index among the edges of the grid: those along rows come first.
            let number = if kind == 0 { row * (columns - 1) + column } else { self.grid.across() + v };
            return (self.straight.apply(number) < self.num_straight).then_some(edge);
        }
        if row + 1 == self.grid.rows || column + 1 == columns {
            return None;
        }
        let cell = row * (columns - 1) + column;
        let falling = self.lean.sequence(cell).next_u64() & 1 == 0;
        let edge = if falling { (v, v + columns + 1) } else { (v + 1, v + columns) };
        (self.diagonal.apply(cell) < self.num_diagonal).then_some(edge)
    }

    fn has_lengths(&self) -> bool {
        true
    }

    fn length(&self, slot: u64) -> i64 {
        let straight = if slot % 3 == 2 { std::f64::consts::SQRT_2 } else { 1.0 };
        (1000.0 * straight * (0.75 + 0.5 * self.length.sequence(slot).unit())) as i64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn all(stream: &impl GeneratedEdges) -> Vec<(u64, u64)> {
        (0..stream.num_slots()).filter_map(|slot| stream.edge(slot)).collect()
    }

    #[test]
    fn a_small_grid_and_its_degenerate_forms() {
        let grid = |rows, columns| Grid { rows, columns, torus: false }.prepare().unwrap();
        assert_eq!(all(&grid(2, 3)), [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
        assert_eq!(all(&grid(1, 3)), [(0, 1), (1, 2)]);
        assert_eq!(all(&grid(3, 1)), [(0, 1), (1, 2)]);
        for (rows, columns) in [(0, 0), (0, 5), (1, 1), (5, 0), (4, 7)] {
            assert_eq!(all(&grid(rows, columns)).len() as u64, grid(rows, columns).num_edges());
        }
    }

    #[test]
    fn every_vertex_of_a_torus_has_four_neighbours() {
        let torus = Grid { rows: 3, columns: 5, torus: true }.prepare().unwrap();
        let mut neighbours = vec![HashSet::new(); 15];
        for (u, v) in all(&torus) {
            neighbours[u as usize].insert(v);
            neighbours[v as usize].insert(u);
        }
        assert!(neighbours.iter().all(|n| n.len() == 4), "{neighbours:?}");
        let error = Grid { rows: 2, columns: 5, torus: true }.prepare().unwrap_err().to_string();
        assert_eq!(error, "cannot make a torus of 2 x 5 vertices: it needs at least 3 rows and 3 columns");
    }

    #[test]
    fn a_road_network_has_exactly_the_requested_fractions() {
        let roads = Road { rows: 50, columns: 40, removed: 0.25, diagonals: 0.1 }.prepare(1).unwrap();
        let edges = all(&roads);
        assert_eq!(edges.len() as u64, roads.num_edges());
        assert_eq!(edges.iter().collect::<HashSet<_>>().len(), edges.len());
        let diagonal = edges.iter().filter(|(u, v)| ![1, 40].contains(&(v - u))).count();
        assert_eq!(diagonal, 191); // a tenth of 49 x 39
        assert_eq!(edges.len() - diagonal, 2932); // 50 x 39 + 49 x 40 = 3910, less 978
    }

    #[test]
    fn lengths_are_near_euclidean_lengths() {
        let roads = Road::new(30, 30).prepare(1).unwrap();
        for slot in 0..roads.num_slots() {
            let range = if slot % 3 == 2 { 1060..1768 } else { 750..1250 };
            assert!(range.contains(&roads.length(slot)), "slot {slot}: {}", roads.length(slot));
        }
    }
}
