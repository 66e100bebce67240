//! The matrix that tiles are cut from, and the tiles that a scan needs.

use std::ops::Range;

use esker_graph::{AnyVisitor, Bitmap, Direction, Select, Tile, VertexId, Weight, ones};

use super::schedule::EdgeEnds;
use super::strip::STRIP_LEN;

/// The vertices of the matrix that tiles are cut from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) num_vertices: usize,
    /// Whether it is kept whole; else only its upper triangle.
    pub(crate) directed: bool,
}

/// The vertices selected for a scan, and the strips that it needs for them.
pub(super) struct WantedTiles<'a> {
    pub(super) bits: Option<&'a Bitmap>,
    /// Per strip: whether a vertex is selected. `None`: all are.
    strips: Option<Vec<bool>>,
    /// Per strip: whether a vertex matters as a neighbour. `None`: all do.
    minded: Option<Vec<bool>>,
    pub(super) sides: EdgeEnds,
}

impl WantedTiles<'_> {
    pub(super) fn has(&self, tile: Tile) -> bool {
        let Tile { row, column } = tile;
        let among = |of: &Option<Vec<bool>>, strip: u32| of.as_ref().is_none_or(|of| of[strip as usize]);
        let reach = |from: u32, to: u32| among(&self.strips, from) && among(&self.minded, to);
        self.sides.rows && reach(row, column) || self.sides.columns && reach(column, row)
    }
}

impl Matrix {
    pub(super) fn num_strips(self) -> usize {
        self.num_vertices.div_ceil(STRIP_LEN)
    }

    fn vertices(self, strip: u32) -> Range<usize> {
        let first = strip as usize * STRIP_LEN;
        first..self.num_vertices.min(first + STRIP_LEN)
    }

    /// A list of vertices as a bitmap.
    pub(super) fn bits_of(self, select: Select<'_>) -> Option<Bitmap> {
        let Select::List(list) = select else { return None };
        let bits = Bitmap::new(self.num_vertices);
        list.iter().for_each(|&v| bits.insert_alone(v));
        Some(bits)
    }

    /// The vertices and tiles that a scan wants; `list` is its list of vertices as a bitmap. Only vertices
    /// that `has_list` are wanted.
    pub(super) fn wanted<'s, W: Weight>(
        self,
        direction: Direction,
        select: Select<'s>,
        list: Option<&'s Bitmap>,
        visitor: &dyn AnyVisitor<W>,
        has_list: impl Fn(VertexId) -> bool,
    ) -> WantedTiles<'s> {
        let sides = EdgeEnds {
            rows: !self.directed || direction == Direction::Out,
            columns: !self.directed || direction == Direction::In,
        };
        let bits = match select {
            Select::All => None,
            Select::Bits(bits) => Some(bits),
            Select::List(_) => list,
        };
        let strips = 0..self.num_strips() as u32;
        let Some(bits) = bits else {
            let needed = strips.clone().map(|strip| self.is_needed(visitor, strip, &has_list)).collect();
            let minded = strips.map(|strip| visitor.minds_any(self.vertices(strip))).collect();
            return WantedTiles { bits: None, strips: Some(needed), minded: Some(minded), sides };
        };
        let words = STRIP_LEN / 64;
        let has_any = |strip: u32| {
            let first = strip as usize * words;
            (first..bits.num_words().min(first + words)).any(|word| bits.word(word) != 0)
        };
        WantedTiles { bits: Some(bits), strips: Some(strips.map(has_any).collect()), minded: None, sides }
    }

    /// Whether the visitor wants a vertex with a list in a strip.
    pub(super) fn is_needed<W: Weight>(
        self,
        visitor: &dyn AnyVisitor<W>,
        strip: u32,
        has_list: impl Fn(VertexId) -> bool,
    ) -> bool {
        let vertices = self.vertices(strip);
        vertices.clone().step_by(64).any(|first| {
            let selected = u64::MAX >> (64 - (vertices.end - first).min(64));
            let wanted = visitor.wanted(first, selected);
            ones(wanted).any(|i| has_list((first + i) as VertexId))
        })
    }
}
