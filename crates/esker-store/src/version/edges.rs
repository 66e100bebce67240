//! The edges of one vertex: neighbours, and where their properties lie.

use std::borrow::Cow;
use std::ops::Range;

use esker_format::{Error, Result, Values};
use esker_graph::{Direction, Flow, VertexId};
use esker_layers::layer::ListColumns;
use esker_layers::stack::Stack;

/// The list of a vertex, ascending.
///
/// Memory: none of its own if the list lies in one piece; else 24 bytes an arc.
#[derive(Debug)]
pub struct VertexEdges<'a> {
    targets: Cow<'a, [VertexId]>,
    places: Places<'a>,
}

#[derive(Debug)]
enum Places<'a> {
    Run(&'a ListColumns, usize),
    Each(Vec<(&'a ListColumns, usize)>),
}

impl<'a> VertexEdges<'a> {
    /// The list of `v` in some layers.
    pub(crate) fn read(stack: &'a Stack, direction: Direction, v: VertexId) -> Result<Self> {
        let mut stretches = Vec::new();
        stack.visit(direction, v, |stretch| {
            stretches.push(stretch);
            Ok(Flow::More)
        })?;
        if let [stretch] = &mut stretches[..] {
            let places = Places::Run(stretch.lists, stretch.start);
            return Ok(Self { targets: std::mem::take(&mut stretch.targets), places });
        }
        let arcs = stretches.iter().flat_map(|stretch| {
            (stretch.start..).zip(&*stretch.targets).map(|(index, &target)| (target, stretch.lists, index))
        });
        let mut arcs: Vec<(VertexId, &ListColumns, usize)> = arcs.collect();
        // Stable: copies of an edge in several layers stand newest first.
        arcs.sort_by_key(|arc| arc.0);
        Ok(Self {
            targets: arcs.iter().map(|arc| arc.0).collect(),
            places: Places::Each(arcs.into_iter().map(|arc| (arc.1, arc.2)).collect()),
        })
    }

    /// The edges from `v` to some vertices only, which are ascending and distinct.
    pub(crate) fn to(stack: &'a Stack, v: VertexId, to: &[VertexId]) -> Result<Self> {
        let (mut targets, mut places) = (Vec::new(), Vec::new());
        for &target in to {
            stack.visit_copies(Direction::Out, v, target, |lists, index| {
                targets.push(target);
                places.push((lists, index));
                Ok(Flow::More)
            })?;
        }
        Ok(Self { targets: targets.into(), places: Places::Each(places) })
    }

    /// Those that `keeps` keeps, of the neighbour, the lists, and the place in them where each lies.
    ///
    /// # Errors
    /// What `keeps` returns.
    pub fn filtered(self, keeps: impl Fn(VertexId, &ListColumns, usize) -> Result<bool>) -> Result<Self> {
        let (mut targets, mut places) = (Vec::new(), Vec::new());
        for (index, &target) in self.targets.iter().enumerate() {
            let (lists, at) = self.place(index);
            if keeps(target, lists, at)? {
                targets.push(target);
                places.push((lists, at));
            }
        }
        Ok(Self { targets: targets.into(), places: Places::Each(places) })
    }

    /// The neighbours, ascending.
    pub fn targets(&self) -> &[VertexId] {
        &self.targets
    }

    /// The neighbours, ascending.
    pub(crate) fn into_targets(self) -> Cow<'a, [VertexId]> {
        self.targets
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Where an edge lies: the lists and its place in them.
    pub(crate) fn place(&self, index: usize) -> (&'a ListColumns, usize) {
        match &self.places {
            Places::Run(lists, start) => (lists, start + index),
            Places::Each(places) => places[index],
        }
    }

    /// Where the values of a property of the edges of a range lie: stretches of columns, in the order of the
    /// edges.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such property. Panics if the range is not within the list.
    pub fn values(&self, property: u32, range: Range<usize>) -> Result<Vec<(&'a Values, Range<usize>)>> {
        let column =
            |lists: &'a ListColumns| lists.property(property as usize).ok_or_else(|| no_property(property));
        match &self.places {
            Places::Run(lists, start) => Ok(vec![(column(lists)?, start + range.start..start + range.end)]),
            Places::Each(places) => {
                places[range].iter().map(|&(lists, index)| Ok((column(lists)?, index..index + 1))).collect()
            }
        }
    }

    /// The bits of the value of a property of one edge: see [`Values::bits_at`].
    ///
    /// # Errors
    /// As [`VertexEdges::values`]; [`Error::Corrupt`].
    pub fn bits(&self, property: u32, index: usize) -> Result<u64> {
        let (lists, at) = self.place(index);
        let values = lists.property(property as usize);
        values.ok_or_else(|| no_property(property))?.bits_at(at)
    }
}

#[cold]
fn no_property(number: u32) -> Error {
    Error::invalid(format!("there is no edge property number {number}"))
}
