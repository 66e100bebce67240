//! The constructors of stored graphs, compiled once for each type of weight.
//!
//! A generic function is compiled again in every crate that calls it, with all sources of lists that it may open. These
//! constructors call a method of [`StoredWeight`] instead, whose implementations are compiled here alone.

use std::sync::Arc;

use esker_format::Result;
use esker_format::io::Disk;
use esker_graph::{Remaining, Run};

use super::headed::StoredHeads;
use super::residency::HeadedOptions;
use super::stored::StoredGraph;
use super::weight::ColumnWeight;
use super::window::WindowIndex;
use crate::pool::PoolOptions;
use crate::stack::Stack;
use crate::tiles::Tiles;

/// A type of weight with which stored graphs can be opened.
pub trait StoredWeight: ColumnWeight {
    /// Opens a graph.
    ///
    /// # Errors
    /// Those of the constructors of [`StoredGraph`].
    fn open<'a>(opening: Opening<'a, '_, Self>, run: &Run) -> Result<StoredGraph<'a, Self>>;

    /// Shows a part of a graph.
    fn view<'a>(view: View<'a, Self>) -> StoredGraph<'a, Self>;
}

/// How a graph is opened: the arguments of the constructors of [`StoredGraph`].
#[allow(missing_docs, clippy::large_enum_variant)] // Made and taken once a graph.
pub enum Opening<'a, 'o, W> {
    Mapped {
        stack: &'a Stack,
        num_arcs: u64,
        property: u32,
    },
    Tiled {
        stack: &'a Stack,
        tiles: &'a Tiles,
        pool: Option<&'o PoolOptions>,
        weight: (u32, u64),
    },
    Pooled {
        disk: &'o Arc<dyn Disk>,
        stack: &'a Stack,
        weight: (u32, u64),
        options: &'o PoolOptions,
    },
    Headed {
        disk: &'o Arc<dyn Disk>,
        stack: &'a Stack,
        stored: Option<&'o StoredHeads>,
        weight: (u32, u64),
        options: HeadedOptions,
    },
    Undirected {
        graph: StoredGraph<'a, W>,
        multigraph: bool,
    },
    Gathered {
        times: StoredGraph<'a, i64>,
        weights: Option<StoredGraph<'a, W>>,
        index: &'o WindowIndex,
    },
}

/// A part of an open graph.
#[allow(missing_docs, clippy::large_enum_variant)] // Made and taken once a graph.
pub enum View<'a, W> {
    Window { times: StoredGraph<'a, i64>, weights: Option<StoredGraph<'a, W>>, index: &'a WindowIndex },
    Induced { graph: StoredGraph<'a, W>, remaining: &'a Remaining },
}

macro_rules! stored_weights {
    ($($type:ty),*) => {$(
        impl StoredWeight for $type {
            fn open<'a>(opening: Opening<'a, '_, Self>, run: &Run) -> Result<StoredGraph<'a, Self>> {
                match opening {
                    Opening::Mapped { stack, num_arcs, property } => {
                        StoredGraph::build_mapped(stack, num_arcs, property, run)
                    }
                    Opening::Tiled { stack, tiles, pool, weight } => {
                        StoredGraph::build_tiled(stack, tiles, pool, weight, run)
                    }
                    Opening::Pooled { disk, stack, weight, options } => {
                        StoredGraph::build_pooled(disk, stack, weight, options, run)
                    }
                    Opening::Headed { disk, stack, stored, weight, options } => {
                        StoredGraph::build_headed(disk, stack, stored, weight, options, run)
                    }
                    Opening::Undirected { graph, multigraph } => graph.build_undirected(multigraph, run),
                    Opening::Gathered { times, weights, index } => {
                        StoredGraph::build_gathered(times, weights, index, run)
                    }
                }
            }

            fn view<'a>(view: View<'a, Self>) -> StoredGraph<'a, Self> {
                match view {
                    View::Window { times, weights, index } => {
                        StoredGraph::build_windowed(times, weights, index)
                    }
                    View::Induced { graph, remaining } => graph.build_induced(remaining),
                }
            }
        }
    )*};
}

stored_weights!((), i32, i64, f32, f64);

impl<'a, W: StoredWeight> StoredGraph<'a, W> {
    /// The lists of a version, mapped. `property` is the number of the weight.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Io`]; cancellation.
    pub fn mapped(stack: &'a Stack, num_arcs: u64, property: u32, run: &Run) -> Result<Self> {
        W::open(Opening::Mapped { stack, num_arcs, property }, run)
    }

    /// A version whose complete layer is read from tiles, mapped or in a fixed memory. `weight` is the number of the weight, with the
    /// number of arcs of the version. If the layer is the whole version, in-lists are at hand even if they are not stored, but for
    /// point reads.
    ///
    /// # Errors
    /// As [`StoredGraph::pooled`].
    pub fn tiled(
        stack: &'a Stack,
        tiles: &'a Tiles,
        pool: Option<&PoolOptions>,
        weight: (u32, u64),
        run: &Run,
    ) -> Result<Self> {
        W::open(Opening::Tiled { stack, tiles, pool, weight }, run)
    }

    /// A version of which parts of the lists of its complete layer lie in a fixed memory, which both directions share equally.
    /// `weight` is the number of the weight, with the number of arcs of the version.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if the memory is too little (see [`super::PooledNeeds`]);
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Io`]; [`esker_graph::Stop::OverBudget`]; cancellation.
    pub fn pooled(
        disk: &Arc<dyn Disk>,
        stack: &'a Stack,
        weight: (u32, u64),
        options: &PoolOptions,
        run: &Run,
    ) -> Result<Self> {
        W::open(Opening::Pooled { disk, stack, weight, options }, run)
    }

    /// A version of which the heads of the lists of its complete layer lie in memory. Takes them from the stored heads of the layer; if
    /// there are none, or they are shorter than the heads wanted, reads all lists of the layer once to gather them. `weight` is the
    /// number of the weight, with the number of arcs of the version.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if the memory is too little (see [`super::HeadedNeeds`]);
    /// [`esker_format::Error::Invalid`] if the layer is not plain; [`esker_format::Error::Corrupt`];
    /// [`esker_format::Error::Io`]; cancellation.
    pub fn headed(
        disk: &Arc<dyn Disk>,
        stack: &'a Stack,
        stored: Option<&StoredHeads>,
        weight: (u32, u64),
        options: HeadedOptions,
        run: &Run,
    ) -> Result<Self> {
        W::open(Opening::Headed { disk, stack, stored, weight, options }, run)
    }

    /// The same edges without their directions; an undirected graph stays as it is. Where there is one edge at most from a vertex to
    /// another, `a -> b` and `b -> a` become one edge, with the smaller weight; in a multigraph, each becomes an edge. Reads all lists
    /// once to count their arcs.
    ///
    /// # Errors
    /// [`esker_graph::Stop::Unsuitable`] if in-edges are not kept; [`esker_format::Error::Corrupt`]; cancellation;
    /// [`esker_graph::Stop::OverBudget`].
    pub fn undirected(self, multigraph: bool, run: &Run) -> Result<Self> {
        W::open(Opening::Undirected { graph: self, multigraph }, run)
    }

    /// The edges of a window, filtered as they are read. The weights of `times`, the same version, are the times of the edges; `weights`
    /// has the weights of the edges, unless they are not read, or are numbers of edges.
    #[must_use]
    pub fn windowed(times: StoredGraph<'a, i64>, weights: Option<Self>, index: &'a WindowIndex) -> Self {
        W::view(View::Window { times, weights, index })
    }

    /// As [`StoredGraph::windowed`], copied to memory and without the vertices that are not in the window.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`]; [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if a sum of weights is
    /// beyond their type; cancellation.
    pub fn gathered(
        times: StoredGraph<'a, i64>,
        weights: Option<Self>,
        index: &WindowIndex,
        run: &Run,
    ) -> Result<Self> {
        W::open(Opening::Gathered { times, weights, index }, run)
    }

    /// The graph over the remaining vertices, renumbered. Removed vertices must have no edges.
    #[must_use]
    pub fn induced(self, remaining: &'a Remaining) -> Self {
        W::view(View::Induced { graph: self, remaining })
    }
}
