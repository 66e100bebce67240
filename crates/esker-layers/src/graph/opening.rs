//! The constructors of stored graphs, compiled once for each type of weight.
//!
//! A generic function is compiled again in every crate that calls it, with all sources of lists that it may
//! open. These constructors call a method of [`StoredWeight`] instead, whose implementations are compiled
//! only here.

use esker_format::Result;
use esker_graph::{Direction, Remaining, Run};

use super::stored::{CompleteLists, StoredGraph};
use super::views::window::{SharedLists, TimeWindow, WindowIndex};
use super::weight::{ArcWeights, ColumnWeight};
use super::windowed::ArcsInTime;
use crate::stack::Stack;

/// A type of weight with which stored graphs can be opened.
pub trait StoredWeight: ColumnWeight {
    /// The lists of a version, with its weights. If `only` one direction is to be read, the memory of pools
    /// and heads is all for its lists; the lists of the other are mapped.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`], and for pooled lists [`esker_format::Error::Invalid`], if the
    /// memory is too little (see [`super::HeadedNeeds`], [`super::PooledNeeds`]);
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Io`]; cancellation.
    fn open<'a>(
        stack: &'a Stack,
        weight: ArcWeights,
        lists: CompleteLists<'a, '_>,
        only: Option<Direction>,
        run: &Run,
    ) -> Result<StoredGraph<'a, Self>>;

    /// The same edges without their directions; an undirected graph stays as it is. Where there is one edge
    /// at most from a vertex to another, `a -> b` and `b -> a` become one edge, with the smaller weight; in a
    /// multigraph, each becomes an edge. Reads all lists once to count their arcs.
    ///
    /// # Errors
    /// [`esker_graph::Stop::Unsuitable`] if in-edges are not kept; [`esker_format::Error::Corrupt`];
    /// cancellation; [`esker_graph::Stop::OverBudget`].
    fn undirected<'a>(
        graph: StoredGraph<'a, Self>,
        multigraph: bool,
        run: &Run,
    ) -> Result<StoredGraph<'a, Self>>;

    /// The edges of a window, filtered as they are read.
    fn windowed<'a>(arcs: ArcsInTime<'a, Self>, index: &'a WindowIndex) -> StoredGraph<'a, Self>;

    /// The edges of a window of a directed graph, without their directions: all copies of an edge, whichever
    /// way they lead, are joined by the rule of the window. Reads all lists once to count them.
    ///
    /// # Errors
    /// As [`StoredWeight::undirected`]; [`esker_format::Error::Invalid`] if a sum of weights is beyond their
    /// type.
    fn joined<'a>(arcs: ArcsInTime<'a, Self>, window: TimeWindow, run: &Run)
    -> Result<StoredGraph<'a, Self>>;

    /// The same directed graph with in-lists. Where it has none, they are made in memory from its out-lists;
    /// each list is read once. With `reads_single`, they are also made where single in-lists cannot be read:
    /// tiles without in-lists only serve scans.
    ///
    /// # Errors
    /// As [`StoredWeight::copied`].
    fn with_in_lists<'a>(
        graph: StoredGraph<'a, Self>,
        reads_single: bool,
        run: &Run,
    ) -> Result<StoredGraph<'a, Self>>;

    /// The graph with each edge reversed; an undirected graph stays as it is.
    ///
    /// # Errors
    /// [`esker_graph::Stop::Unsuitable`] if in-edges are not kept.
    fn reversed<'a>(graph: StoredGraph<'a, Self>) -> Result<StoredGraph<'a, Self>>;

    /// As [`StoredWeight::windowed`], copied to memory and without the vertices that are not in the window.
    /// If `only` one direction is to be read, only its lists are copied; those of the other are filtered, if
    /// something reads them nevertheless.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`]; [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`]
    /// if a sum of weights is beyond their type; cancellation.
    fn gathered<'a>(
        arcs: ArcsInTime<'a, Self>,
        index: &'a WindowIndex,
        only: Option<Direction>,
        run: &Run,
    ) -> Result<StoredGraph<'a, Self>>;

    /// As [`StoredWeight::gathered`], from lists that several windows share. All weights are 0. `only`
    /// is the direction that is copied, with the same version whose weights are the times of the edges: the
    /// lists of the other direction are filtered from it.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`]; cancellation; [`esker_format::Error::Invalid`] for a window that
    /// does not share the lists.
    fn shared<'a>(
        shared: &SharedLists,
        index: &'a WindowIndex,
        only: Option<(Direction, StoredGraph<'a, i64>)>,
        run: &Run,
    ) -> Result<StoredGraph<'a, Self>>;

    /// The graph with its lists copied to memory, or those of `only` one direction; the others stay as they
    /// are. Copied lists are scanned like those of one plain layer. Reads each list once, on all threads of
    /// the run.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`]; [`esker_format::Error::Corrupt`]; [`esker_format::Error::Io`];
    /// cancellation.
    fn copied<'a>(
        graph: StoredGraph<'a, Self>,
        only: Option<Direction>,
        run: &Run,
    ) -> Result<StoredGraph<'a, Self>>;

    /// The graph over the remaining vertices, renumbered. Removed vertices must have no edges.
    fn induced<'a>(graph: StoredGraph<'a, Self>, remaining: &'a Remaining) -> StoredGraph<'a, Self>;
}

macro_rules! stored_weights {
    ($($type:ty),*) => {$(
        impl StoredWeight for $type {
            fn open<'a>(
                stack: &'a Stack,
                weight: ArcWeights,
                lists: CompleteLists<'a, '_>,
                only: Option<Direction>,
                run: &Run,
            ) -> Result<StoredGraph<'a, Self>> {
                StoredGraph::build(stack, weight, lists, only, run)
            }

            fn undirected<'a>(graph: StoredGraph<'a, Self>, multigraph: bool, run: &Run) -> Result<StoredGraph<'a, Self>> {
                graph.build_undirected(multigraph, run)
            }

            fn windowed<'a>(arcs: ArcsInTime<'a, Self>, index: &'a WindowIndex) -> StoredGraph<'a, Self> {
                StoredGraph::build_windowed(arcs, index)
            }

            fn joined<'a>(
                arcs: ArcsInTime<'a, Self>,
                window: TimeWindow,
                run: &Run,
            ) -> Result<StoredGraph<'a, Self>> {
                StoredGraph::build_joined(arcs, window, run)
            }

            fn with_in_lists<'a>(
                graph: StoredGraph<'a, Self>,
                reads_single: bool,
                run: &Run,
            ) -> Result<StoredGraph<'a, Self>> {
                graph.build_with_in_lists(reads_single, run)
            }

            fn reversed<'a>(graph: StoredGraph<'a, Self>) -> Result<StoredGraph<'a, Self>> {
                graph.build_reversed()
            }

            fn gathered<'a>(
                arcs: ArcsInTime<'a, Self>,
                index: &'a WindowIndex,
                only: Option<Direction>,
                run: &Run,
            ) -> Result<StoredGraph<'a, Self>> {
                StoredGraph::build_gathered(arcs, index, only, run)
            }

            fn shared<'a>(
                shared: &SharedLists,
                index: &'a WindowIndex,
                only: Option<(Direction, StoredGraph<'a, i64>)>,
                run: &Run,
            ) -> Result<StoredGraph<'a, Self>> {
                StoredGraph::build_shared(shared, index, only, run)
            }

            fn copied<'a>(
                graph: StoredGraph<'a, Self>,
                only: Option<Direction>,
                run: &Run,
            ) -> Result<StoredGraph<'a, Self>> {
                graph.build_copied(only, run)
            }

            fn induced<'a>(graph: StoredGraph<'a, Self>, remaining: &'a Remaining) -> StoredGraph<'a, Self> {
                graph.build_induced(remaining)
            }
        }
    )*};
}

stored_weights!((), i32, i64, f32, f64);
