//! A view: the edges, directions, weights, encoding and residency with which a run reads a version.

use std::sync::Arc;

use esker_format::{ElementType, Error, PropertyRecord, Result};
use esker_graph::{Direction, Remaining, Run, VertexId};
use esker_layers::graph::bounded::headed::HeadedNeeds;
use esker_layers::graph::bounded::pooled::PooledNeeds;
use esker_layers::graph::views::window::{ArcFilter, Copies, WindowIndex};
use esker_layers::graph::{Access, GraphEncoding};
use esker_layers::property::RemovedVertices;

use super::part::WindowPart;
use crate::version::Version;

/// Removed vertices stay in a graph if they are at most this part of all: arrays of algorithms have room for
/// them.
const KEPT_DIVISOR: usize = 8;

/// The types of numbers that weights can have.
pub(super) const WEIGHT_ELEMENTS: [ElementType; 4] =
    [ElementType::I32, ElementType::I64, ElementType::F32, ElementType::F64];

/// How a run reads a version: with which edges, directions and weights, and in which encoding and residency.
/// A view is no copy: it is as cheap to clone as a version.
///
/// [`Version::view`] gives the view of all edges as they are stored, in mapped lists. Each method that
/// returns a view changes one choice. `docs/views.md` says what a combination means, whatever the order of
/// the calls: window and conditions first, then the direction, then the joining of copies. Two choices look
/// at earlier ones: a window is counted in the encoding and residency chosen before it, and
/// [`View::reading`] comes after the window and the direction.
///
/// ```no_run
/// use esker_graph::{Graph, Run};
/// use esker_store::{Access, Result, Store};
///
/// # fn main() -> Result<()> {
/// let run = Run::with_threads(2)?;
/// let version = Store::open("people.esker")?.latest()?;
/// let view = version.view().reversed().resident(Access::Memory)?;
/// let graph = view.graph::<()>(&run)?;
/// println!("{} vertices, {} arcs", graph.num_vertices(), view.num_arcs());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct View {
    pub(super) version: Version,
    /// The encoding and residency of the lists of the complete layer.
    pub(super) access: Access,
    /// What keeps edges by their properties; `None`: all are kept.
    pub(super) filter: Option<Arc<dyn ArcFilter>>,
    /// The vertices that are left out with their edges, ascending; the filter leaves out the edges.
    pub(super) left_out: Option<Arc<[VertexId]>>,
    /// What the window and the filter leave of the edges; `None`: all edges.
    pub(super) window: Option<Arc<WindowPart>>,
    /// Whether graphs of a window are copied to memory.
    pub(super) gathers: bool,
    /// Whether the edges of a directed graph are turned round.
    pub(super) reversed: bool,
    /// Whether a directed graph is read as undirected.
    pub(super) undirected: bool,
    /// The number of the edge property that is the weight; `None`: that of the import.
    pub(super) weight: Option<u32>,
    /// The direction whose lists alone are read; `None`: all.
    pub(super) only: Option<Direction>,
    /// Of a window: the one direction whose lists are copied to memory; `None`: both directions are.
    pub(super) gathers_only: Option<Direction>,
    /// Whether removed vertices may stay, as vertices without edges.
    pub(super) keeps_removed: bool,
    /// Whether in-lists that are not kept are made in memory.
    pub(super) makes_in_lists: bool,
}

impl Version {
    /// The view of all edges as they are stored, in mapped lists, with the weights of the import.
    pub fn view(&self) -> View {
        View {
            version: self.clone(),
            access: Access::default(),
            filter: None,
            left_out: None,
            window: None,
            gathers: false,
            reversed: false,
            undirected: false,
            weight: None,
            only: None,
            gathers_only: None,
            keeps_removed: false,
            makes_in_lists: false,
        }
    }
}

impl View {
    /// The version that is read.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Number of edges, of the window and the filter if there are any; an undirected one counts once.
    pub fn num_edges(&self) -> u64 {
        self.window_index().map_or(self.version.num_edges(), WindowIndex::num_edges)
    }

    /// Entries of all out-lists, of the window and the filter if there are any; an undirected edge counts
    /// twice, a self-loop once.
    pub fn num_arcs(&self) -> u64 {
        self.window_index().map_or(self.version.num_arcs(), WindowIndex::num_arcs)
    }

    /// What the window and the filter leave; `None` if there are none.
    pub fn window_index(&self) -> Option<&WindowIndex> {
        self.window.as_deref().map(WindowPart::index)
    }

    /// The vertices that are removed in the version, or have no edge in the view and are not kept in it. No
    /// number of a later vertex is theirs.
    ///
    /// # Errors
    /// As [`Version::removed`].
    pub fn removed(&self, run: &Run) -> Result<&RemovedVertices> {
        match &self.window {
            Some(part) => Ok(part.removed()),
            None => self.version.removed(run),
        }
    }

    /// Number of vertices that are there: those that are not removed.
    ///
    /// # Errors
    /// As [`Version::removed`].
    pub fn num_present(&self, run: &Run) -> Result<usize> {
        Ok(self.version.num_vertices() - self.removed(run)?.count())
    }

    /// The vertices that are there, numbered anew without gaps: see [`Version::remaining`].
    ///
    /// # Errors
    /// As [`Version::remaining`].
    pub fn remaining(&self, run: &Run) -> Result<Option<&Remaining>> {
        match self.window_index() {
            Some(index) => Ok(index.remaining()),
            None => self.version.remaining(run),
        }
    }

    /// The vertex whose id a user typed, if it is there in this view.
    ///
    /// # Errors
    /// As [`Version::find_vertex`]; [`Error::Invalid`] if it has no edge in the view, and is not kept in it.
    pub fn find_vertex(&self, text: &str, run: &Run) -> Result<VertexId> {
        let Some(part) = &self.window else { return self.version.find_vertex(text, run) };
        let v = self.version.ids().find(text)?;
        if self.left_out.as_ref().is_some_and(|left_out| left_out.binary_search(&v).is_ok()) {
            return Err(Error::invalid(format!("the vertex {text:?} is left out of the view: name another")));
        }
        if part.removed().is_removed(v) {
            let view = if self.is_filtered() { "view" } else { "window" };
            return Err(Error::invalid(format!(
                "the vertex {text:?} has no edge in the {view}: name another, or keep all vertices in it"
            )));
        }
        Ok(v)
    }

    /// The same version, whose graphs have an edge property as their weight.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such property, or it holds no numbers.
    pub fn weighted_by(mut self, property: &str) -> Result<Self> {
        let found = self.version.edge_property(property)?;
        let element = found.element;
        if !found.is_number() || !WEIGHT_ELEMENTS.contains(&element) {
            let held = if found.is_text() { "texts".to_owned() } else { found.type_name() };
            let is_weight = |one: &&PropertyRecord| one.is_number() && WEIGHT_ELEMENTS.contains(&one.element);
            let names: Vec<_> =
                self.version.edge_properties().filter(is_weight).map(|one| one.name.as_str()).collect();
            let known = if names.is_empty() { "none can be".to_owned() } else { names.join(", ") };
            return Err(Error::usage(format!(
                "the edge property {property:?} holds {held} and cannot be a weight; properties that can: {known}"
            )));
        }
        self.weight = Some(found.number);
        Ok(self)
    }

    /// Whether [`View::weighted_by`] chose the weight.
    pub fn is_weight_chosen(&self) -> bool {
        self.weight.is_some()
    }

    /// The edge property that [`View::weighted_by`] chose.
    pub(super) fn weight_chosen(&self) -> Option<&PropertyRecord> {
        let chosen = self.weight?;
        self.version.edge_properties().find(|property| property.number == chosen)
    }

    /// Whether weights are asked for: [`View::weighted_by`] chose them, or edges of a window are joined
    /// to weighted ones.
    pub fn asks_for_weights(&self) -> bool {
        let joins = |index: &WindowIndex| matches!(index.window().copies, Copies::Weighted(_));
        self.is_weight_chosen() || self.window_index().is_some_and(joins)
    }

    /// The edge property that is the weight: the one that [`View::weighted_by`] chose, else that of the
    /// import. `None` if there is none, or weights are numbers of edges.
    pub fn weight_property(&self) -> Option<&PropertyRecord> {
        if self.counts_edges() {
            return None;
        }
        match self.weight {
            Some(_) => self.weight_chosen(),
            None => self.version.weight_property(),
        }
    }

    /// Whether the weights of a window are numbers of edges.
    pub fn counts_edges(&self) -> bool {
        self.window.as_ref().is_some_and(|part| part.counts())
    }

    /// The type of the weights: one of i32, i64, f32, f64; `None` if edges have none.
    pub fn weight_type(&self) -> Option<ElementType> {
        if self.counts_edges() {
            return Some(ElementType::I64);
        }
        self.weight_property().map(|property| property.element)
    }

    /// The same version, whose graphs are undirected: see [`esker_layers::graph::StoredWeight::undirected`].
    /// Everything else, point reads among it, stays directed. An undirected graph stays as it is.
    #[must_use]
    pub fn as_undirected(mut self) -> Self {
        self.undirected = self.version.is_directed();
        self
    }

    /// The same version, whose graphs have each edge turned round. Everything else, point reads among it,
    /// stays as it was. An undirected graph stays as it is.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.reversed = self.version.is_directed() && !self.reversed;
        self
    }

    /// Whether [`View::reversed`] turns edges round.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// The same version, whose graphs have in-lists even where these are not kept: out-lists are then copied
    /// to memory, and turned round there.
    #[must_use]
    pub fn making_in_lists(mut self, makes: bool) -> Self {
        self.makes_in_lists = makes && self.version.is_directed() && !self.version.has(Direction::In);
        self
    }

    /// Whether [`View::making_in_lists`] has an effect.
    pub fn makes_in_lists(&self) -> bool {
        self.makes_in_lists
    }

    /// A direction of the graphs, as the lists of the version are kept; and the reverse.
    pub(super) fn as_kept(&self, direction: Direction) -> Direction {
        match (self.reversed, direction) {
            (true, Direction::Out) => Direction::In,
            (true, Direction::In) => Direction::Out,
            (false, kept) => kept,
        }
    }

    /// Whether [`View::as_undirected`] takes the directions away.
    pub fn drops_directions(&self) -> bool {
        self.undirected
    }

    /// The same version, of whose graphs the lists of one direction alone are to be read. The other direction
    /// takes no part of the memory of pooled and headed lists; its lists are mapped, and verified if
    /// something reads them nevertheless. Degrees of both are at hand. Of a window, the lists of that
    /// direction alone are [gathered](View::gathered), and both are counted. Has no effect where there is
    /// one direction only, and on a graph that is read as undirected.
    #[must_use]
    pub fn reading(mut self, only: Option<Direction>) -> Self {
        let two = self.version.is_directed() && self.version.has(Direction::In);
        let only = only.filter(|_| two && !self.undirected).map(|only| self.as_kept(only));
        let is_window = self.window.is_some();
        self.only = only.filter(|_| !is_window);
        self.gathers_only = only.filter(|_| is_window);
        self
    }

    /// The direction of [`View::reading`], where it has an effect.
    pub fn reads_only(&self) -> Option<Direction> {
        self.only.or(self.gathers_only()).map(|only| self.as_kept(only))
    }

    /// The kept lists of one direction that alone are copied to memory where a window is: see
    /// [`View::gathered`].
    pub fn gathers_only(&self) -> Option<Direction> {
        self.gathers_only.filter(|_| self.window.is_some() && !self.undirected)
    }

    /// Whether analyses are to read the kept lists of a direction: see [`View::reading`].
    pub fn reads(&self, direction: Direction) -> bool {
        self.version.has(direction) && self.only.is_none_or(|only| only == direction)
    }

    /// The same version, in whose graphs removed vertices may stay, as vertices without edges. Lists are then
    /// read as they are stored, where else each target is renumbered. Has no effect where more than an eighth
    /// of the vertices are removed, and on a window.
    #[must_use]
    pub fn keeping_removed(mut self, keeps: bool) -> Self {
        self.keeps_removed = keeps;
        self
    }

    /// Whether removed vertices stay in [`View::present_graph`]: some are removed, and
    /// [`View::keeping_removed`] has an effect.
    ///
    /// # Errors
    /// As [`View::removed`].
    pub fn keeps_removed(&self, run: &Run) -> Result<bool> {
        if !self.keeps_removed || self.window.is_some() {
            return Ok(false);
        }
        let count = self.removed(run)?.count();
        Ok(count > 0 && count <= self.version.num_vertices() / KEPT_DIVISOR)
    }

    /// How [`View::present_graph`] numbers vertices; `None`: as the version does.
    ///
    /// # Errors
    /// As [`View::remaining`].
    pub fn renumbering(&self, run: &Run) -> Result<Option<&Remaining>> {
        if self.keeps_removed(run)? { Ok(None) } else { self.remaining(run) }
    }

    /// The same version, with another encoding and residency for its graphs. Mapped lists are the default.
    /// The choice is for the complete layer; later layers are mapped. Where lists are copied to memory, all
    /// layers are.
    ///
    /// # Errors
    /// As [`Version::tiles`], for tiles.
    pub fn resident(mut self, access: Access) -> Result<Self> {
        if access.encoding() == GraphEncoding::Tiles {
            self.version.tiles()?;
        }
        self.access = access;
        Ok(self)
    }

    /// The memory that its lists need if they are headed.
    ///
    /// # Errors
    /// As [`HeadedNeeds::for_layer`] and [`Version::stored_heads`].
    pub fn headed_needs(&self, threads: usize) -> Result<HeadedNeeds> {
        HeadedNeeds::for_direction(
            self.only,
            self.version.complete_layer(),
            self.version.stored_heads()?,
            threads,
        )
    }

    /// The memory that its lists need if they are pooled.
    ///
    /// # Errors
    /// As [`PooledNeeds::for_layer`].
    pub fn pooled_needs(&self, threads: usize) -> Result<PooledNeeds> {
        PooledNeeds::for_direction(self.only, self.version.complete_layer(), threads)
    }
}
