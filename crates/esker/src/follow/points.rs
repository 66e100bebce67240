//! A version of a graph whose lists are read one by one, from mapped layers.

use std::marker::PhantomData;

use esker_algo::live;
use esker_graph::{Direction, Flow, VertexId};
use esker_store::layer::ListColumns;
use esker_store::{Error, Result, StoredWeight, View};

/// A weight that can be made from its bits in a column.
pub(super) trait LiveWeight: StoredWeight {
    /// Whether there is one.
    const IS_READ: bool = true;
    /// The weight of these bits, zero-extended to 64.
    fn of_bits(bits: u64) -> Self;
}

impl LiveWeight for () {
    const IS_READ: bool = false;
    fn of_bits(_: u64) {}
}

impl LiveWeight for i32 {
    fn of_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl LiveWeight for i64 {
    fn of_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl LiveWeight for f32 {
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
}

impl LiveWeight for f64 {
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

/// The bits of the weight of an arc.
fn weight_bits(lists: &ListColumns, property: u32, index: usize) -> Result<u64> {
    let values = lists.property(property as usize);
    values.ok_or_else(|| Error::invalid("the edges have no weights".to_owned()))?.bits_at(index)
}

/// The lists of a version, or of a window of it, with weights of type `W`. Removed vertices keep their
/// numbers and have no edges. Blocks that are read are verified, each once.
pub(super) struct Points<'a, W> {
    view: &'a View,
    /// The number of the property that is the weight.
    property: u32,
    weight: PhantomData<W>,
}

impl<'a, W: LiveWeight> Points<'a, W> {
    pub(super) fn new(view: &'a View) -> Self {
        let property = view.weight_property().map_or(u32::MAX, |property| property.number);
        Self { view, property, weight: PhantomData }
    }
}

impl<W: LiveWeight> live::LiveGraph for Points<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.view.version().num_vertices()
    }

    fn is_directed(&self) -> bool {
        self.view.version().is_directed()
    }

    fn has(&self, direction: Direction) -> bool {
        self.view.version().has(direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        match self.view.window_index() {
            Some(index) => Ok(index.degree(direction, v)),
            None => self.view.version().degree(direction, v),
        }
    }

    fn each(&self, direction: Direction, v: VertexId, mut take: impl FnMut(VertexId, W)) -> Result<()> {
        if let Some(window) = self.view.window_lists() {
            return window.visit(direction, v, |target, lists, index| {
                let bits = if W::IS_READ { weight_bits(lists, self.property, index)? } else { 0 };
                take(target, W::of_bits(bits));
                Ok(())
            });
        }
        self.view.version().stack().visit(direction, v, |stretch| {
            if !W::IS_READ {
                stretch.targets.iter().for_each(|&target| take(target, W::of_bits(0)));
                return Ok(Flow::More);
            }
            for (index, &target) in (stretch.start..).zip(stretch.targets.iter()) {
                take(target, W::of_bits(weight_bits(stretch.lists, self.property, index)?));
            }
            Ok(Flow::More)
        })
    }
}
