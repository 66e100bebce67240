//! Whole graphs of a version, to compute on.

use esker_format::{Error, PropertyRecord, Result};
use esker_graph::{Direction, Operation, Remaining, Run, Setting, VertexId, message};
use esker_layers::graph::ArcWeights;
use esker_layers::graph::headed::{HeadedNeeds, StoredHeads};
use esker_layers::graph::pooled::PooledNeeds;
use esker_layers::graph::window::{Copies, WindowIndex};
use esker_layers::graph::{Access, CompleteLists, GraphEncoding, StoredGraph, StoredWeight, check_weight};
use esker_layers::layer::{PlainLayer, Section, TiledLists};
use esker_layers::stack::Stack;
use esker_layers::tiles::Tiles;

use super::choice::WEIGHT_ELEMENTS;
use super::state::Snapshot;

/// Removed vertices stay in a graph if they are at most this part of all: arrays of algorithms have room for
/// them.
const KEPT_FRACTION: usize = 8;

impl Snapshot {
    /// The same version, whose graphs have an edge property as their weight.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such property, or it holds no numbers.
    pub fn weighted_by(mut self, property: &str) -> Result<Self> {
        let found = self.edge_property(property)?;
        let element = found.element;
        if !found.is_number() || !WEIGHT_ELEMENTS.contains(&element) {
            let held = if found.is_text() { "texts".to_owned() } else { found.type_name() };
            let is_weight = |one: &&PropertyRecord| one.is_number() && WEIGHT_ELEMENTS.contains(&one.element);
            let names: Vec<_> =
                self.edge_properties().filter(is_weight).map(|one| one.name.as_str()).collect();
            let known = if names.is_empty() { "none can be".to_owned() } else { names.join(", ") };
            return Err(Error::usage(format!(
                "the edge property {property:?} holds {held} and cannot be a weight; properties that can: {known}"
            )));
        }
        self.choice.weight = Some(found.number);
        Ok(self)
    }

    /// Whether [`Snapshot::weighted_by`] chose the weight.
    pub fn is_weight_chosen(&self) -> bool {
        self.choice.weight.is_some()
    }

    /// Whether weights are asked for: [`Snapshot::weighted_by`] chose them, or edges of a window are joined
    /// to weighted ones.
    pub fn asks_for_weights(&self) -> bool {
        let joins = |index: &WindowIndex| matches!(index.window().copies, Copies::Weighted(_));
        self.is_weight_chosen() || self.window_index().is_some_and(joins)
    }

    /// The same version, whose graphs are undirected: see [`StoredWeight::undirected`]. Everything else,
    /// point reads among it, stays directed. An undirected graph stays as it is.
    #[must_use]
    pub fn as_undirected(mut self) -> Self {
        self.choice.undirected = self.is_directed();
        self
    }

    /// The same version, whose graphs have each edge turned round. Everything else, point reads among it,
    /// stays as it was. An undirected graph stays as it is.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.choice.reversed = self.is_directed() && !self.choice.reversed;
        self
    }

    /// Whether [`Snapshot::reversed`] turns edges round.
    pub fn is_reversed(&self) -> bool {
        self.choice.reversed
    }

    /// The same version, whose graphs have in-lists even where these are not kept: out-lists are then copied
    /// to memory, and turned round there.
    #[must_use]
    pub fn making_in_lists(mut self, makes: bool) -> Self {
        self.choice.makes_in_lists = makes && self.is_directed() && !self.has(Direction::In);
        self
    }

    /// Whether [`Snapshot::making_in_lists`] has an effect.
    pub fn makes_in_lists(&self) -> bool {
        self.choice.makes_in_lists
    }

    /// A direction of the graphs, as the lists of the version are kept; and the reverse.
    fn as_kept(&self, direction: Direction) -> Direction {
        match (self.choice.reversed, direction) {
            (true, Direction::Out) => Direction::In,
            (true, Direction::In) => Direction::Out,
            (false, kept) => kept,
        }
    }

    /// Whether [`Snapshot::as_undirected`] takes the directions away.
    pub fn drops_directions(&self) -> bool {
        self.choice.undirected
    }

    /// The same version, of whose graphs the lists of one direction alone are to be read. The other direction
    /// takes no part of the memory of pooled and headed lists; its lists are mapped, and verified if
    /// something reads them nevertheless. Degrees of both are at hand. Of a window, the lists of that
    /// direction alone are [gathered](Snapshot::gathered), and both are counted. Has no effect where there is
    /// one direction only, and on a graph that is read as undirected.
    #[must_use]
    pub fn reading(mut self, only: Option<Direction>) -> Self {
        let two = self.is_directed() && self.has(Direction::In);
        let only = only.filter(|_| two && !self.choice.undirected).map(|only| self.as_kept(only));
        let is_window = self.choice.window.is_some();
        self.choice.only = only.filter(|_| !is_window);
        self.choice.gathers_only = only.filter(|_| is_window);
        self
    }

    /// The direction of [`Snapshot::reading`], where it has an effect.
    pub fn reads_only(&self) -> Option<Direction> {
        self.choice.only.or(self.gathers_only()).map(|only| self.as_kept(only))
    }

    /// The kept lists of one direction that alone are copied to memory where a window is: see
    /// [`Snapshot::gathered`].
    pub fn gathers_only(&self) -> Option<Direction> {
        self.choice.gathers_only.filter(|_| self.choice.window.is_some() && !self.choice.undirected)
    }

    /// Whether analyses are to read the kept lists of a direction: see [`Snapshot::reading`].
    pub fn reads(&self, direction: Direction) -> bool {
        self.has(direction) && self.choice.only.is_none_or(|only| only == direction)
    }

    /// The graph to compute on, with the weights that it was imported with, or without weights (`W = ()`).
    ///
    /// The offsets of all lists are verified now, on the threads of `run`, so that degrees are at hand; the
    /// rest of a direction when an analysis first uses it. What was verified once stays so for all clones.
    /// The lists are read as [`Snapshot::resident`] chose; heads are gathered and lists copied to memory now,
    /// which reads all lists once. Removed vertices keep their numbers; see [`Snapshot::present_graph`].
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there are no weights, or of another type (see
    /// [`Snapshot::weight_type`]); cancellation.
    pub fn graph<W: StoredWeight>(&self, run: &Run) -> Result<StoredGraph<'_, W>> {
        self.view(None, run)
    }

    /// The graph that was chosen, over the remaining vertices alone if they are given. What a choice means is
    /// independent of the others: first the window and the filter leave edges out, then they are turned
    /// round, then directions are dropped and copies joined.
    fn view<'a, W: StoredWeight>(
        &'a self,
        mut remaining: Option<&'a Remaining>,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        let mut graph = match &self.choice.window {
            None => self.lists(self.stack(), self.weight_of::<W>()?, &self.access, run)?,
            Some(part) => self.windowed(part, run)?,
        };
        if self.choice.makes_in_lists {
            // What is made in memory is not renumbered in each scan.
            graph = remaining.take().into_iter().fold(graph, W::induced);
        }
        graph = self.turned(graph, run)?;
        graph = remaining.into_iter().fold(graph, W::induced);
        match self.access {
            Access::Memory if !(self.choice.makes_in_lists && self.choice.undirected) => {
                W::copied(graph, self.choice.only.map(|only| self.as_kept(only)), run)
            }
            _ => Ok(graph),
        }
    }

    /// A graph with its edges turned round, or without their directions.
    fn turned<'a, W: StoredWeight>(
        &self,
        mut graph: StoredGraph<'a, W>,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        if self.choice.makes_in_lists {
            graph = W::with_in_lists(graph, self.access == Access::Memory, run)?;
        }
        if self.choice.undirected {
            // Copies that a window joins are one edge whichever way they lead.
            let joins = self.choice.window.as_ref().is_some_and(|part| part.joins());
            return W::undirected(graph, self.layer().multigraph && !joins, run);
        }
        if self.choice.reversed { W::reversed(graph) } else { Ok(graph) }
    }

    /// Whether the copies of an edge in both directions are joined by the rule of a window, which needs both
    /// lists of a vertex at once.
    pub(super) fn joins_directions<W: StoredWeight>(&self) -> bool {
        let joins = self.choice.window.as_ref().is_some_and(|part| part.joins());
        joins && self.choice.undirected && W::ELEMENT.is_some()
    }

    /// The same version, in whose graphs removed vertices may stay, as vertices without edges. Lists are then
    /// read as they are stored, where else each target is renumbered. Has no effect where more than an eighth
    /// of the vertices are removed, and on a window.
    #[must_use]
    pub fn keeping_removed(mut self, keeps: bool) -> Self {
        self.choice.keeps_removed = keeps;
        self
    }

    /// Whether removed vertices stay in [`Snapshot::present_graph`]: some are removed, and
    /// [`Snapshot::keeping_removed`] has an effect.
    ///
    /// # Errors
    /// As [`Snapshot::removed`].
    pub fn keeps_removed(&self, run: &Run) -> Result<bool> {
        if !self.choice.keeps_removed || self.choice.window.is_some() {
            return Ok(false);
        }
        let count = self.removed(run)?.count();
        Ok(count > 0 && count <= self.num_vertices() / KEPT_FRACTION)
    }

    /// How [`Snapshot::present_graph`] numbers vertices; `None`: as the version does.
    ///
    /// # Errors
    /// As [`Snapshot::remaining`].
    pub fn renumbering(&self, run: &Run) -> Result<Option<&Remaining>> {
        if self.keeps_removed(run)? { Ok(None) } else { self.remaining(run) }
    }

    /// As [`Snapshot::graph`], without the removed vertices, renumbered: see [`Snapshot::remaining`]; unless
    /// [`Snapshot::keeps_removed`].
    ///
    /// # Errors
    /// As [`Snapshot::graph`] and [`Snapshot::remaining`].
    pub fn present_graph<W: StoredWeight>(&self, run: &Run) -> Result<StoredGraph<'_, W>> {
        match self.choice.window.as_ref().filter(|_| self.choice.gathers) {
            Some(_) if self.joins_directions::<W>() => {
                W::copied(self.view(self.renumbering(run)?, run)?, None, run)
            }
            Some(part) => self.turned(self.gathered_window(part, run)?, run),
            None => self.view(self.renumbering(run)?, run),
        }
    }

    /// The property that stands beside the neighbours of a graph with weights of type `W`; `None` without
    /// weights.
    pub(super) fn weight_of<W: StoredWeight>(&self) -> Result<Option<&PropertyRecord>> {
        if W::ELEMENT.is_none() {
            return Ok(None);
        }
        let found = self.weight_property().ok_or_else(|| {
            Error::invalid(message![
                format!("the edges of {} have no weights: name a numeric property, ", self.path().display()),
                "or import it with ",
                Setting::Weight,
            ])
        })?;
        Ok(Some(found))
    }

    /// The lists of the version, read as `access` says, with a property beside the neighbours. `stack` is
    /// that of the version, or one that leaves out layers of it.
    pub(super) fn lists<'a, W: StoredWeight>(
        &'a self,
        stack: &'a Stack,
        property: Option<&PropertyRecord>,
        access: &Access,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        self.lists_from(stack, property, access, CompleteLists::Mapped, run)
    }

    /// As [`Snapshot::lists`]; `mapped` says what mapped lists are for.
    pub(super) fn lists_from<'a, W: StoredWeight>(
        &'a self,
        stack: &'a Stack,
        property: Option<&PropertyRecord>,
        access: &Access,
        mapped: CompleteLists<'a, '_>,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        let disk = self.state().disk();
        let weight = ArcWeights { property: check_weight::<W>(property)?, num_arcs: self.version().num_arcs };
        let lists = match access {
            _ if stack.leaves_out_oldest() => mapped,
            Access::Mapped(GraphEncoding::Lists) | Access::Memory => mapped,
            Access::Mapped(GraphEncoding::Tiles) => CompleteLists::Tiled(self.tiles_with(property)?, None),
            Access::Pooled(GraphEncoding::Tiles, pool) => {
                CompleteLists::Tiled(self.tiles_with(property)?, Some(pool))
            }
            Access::Pooled(GraphEncoding::Lists, pool) => CompleteLists::Pooled(disk, pool),
            Access::Headed(heads) => CompleteLists::Headed(disk, self.stored_heads()?, *heads),
        };
        W::open(stack, weight, lists, self.choice.only, run)
    }

    /// The same version, with another encoding and residency for its graphs. Mapped lists are the default.
    /// The choice is for the complete layer; later layers are mapped. Where lists are copied to memory, all
    /// layers are.
    ///
    /// # Errors
    /// As [`Snapshot::tiles`], for tiles.
    pub fn resident(mut self, access: Access) -> Result<Self> {
        if access.encoding() == GraphEncoding::Tiles {
            self.tiles()?;
        }
        self.access = access;
        Ok(self)
    }

    /// The oldest layer, which has a list for each vertex that there was.
    pub fn complete_layer(&self) -> &PlainLayer {
        &self.stack().layers()[0]
    }

    /// Whether the complete layer keeps its lists as tiles alone.
    pub fn keeps_only_tiles(&self) -> bool {
        self.complete_layer().out().main().tiles().is_some()
    }

    /// Bytes of the lists that are kept decoded where the complete layer has tiles alone, at most.
    pub fn decoded_bytes_max(&self) -> u64 {
        let layer = self.complete_layer();
        let sections = [Some(layer.out()), layer.incoming()].into_iter().flatten().map(Section::main);
        let tiled = sections.filter(|lists| lists.tiles().is_some());
        tiled
            .map(|lists| lists.num_arcs().min(TiledLists::KEPT_ARCS_MAX) * size_of::<VertexId>())
            .sum::<usize>() as u64
    }

    /// The tiles of the complete layer.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are none; [`Error::Io`]; [`Error::Corrupt`].
    pub fn tiles(&self) -> Result<&Tiles> {
        let found = self.state().tiles_of(self.complete_layer().record().number)?;
        found.ok_or_else(|| {
            let tiles = Operation::Compact.with(Setting::Encoding.to("tiles"));
            let path = self.path().display();
            Error::invalid(message![format!("{path} is not kept as tiles: "), tiles, " makes them"])
        })
    }

    /// The tiles of the complete layer, with the values of a property.
    ///
    /// # Errors
    /// As [`Snapshot::tiles`]; [`Error::Invalid`] if they have not the property.
    pub fn tiles_with(&self, property: Option<&PropertyRecord>) -> Result<&Tiles> {
        let tiles = self.tiles()?;
        match property.filter(|property| !tiles.has_property(property.number, property.element)) {
            None => Ok(tiles),
            Some(property) => Err(Error::invalid(message![
                format!(
                    "the tiles of {} are without the values of {:?}: ",
                    self.path().display(),
                    property.name
                ),
                Operation::Compact.with(Setting::Encoding.to("tiles")),
                " makes them with these",
            ])),
        }
    }

    /// The stored heads of the lists of its oldest layer; `None` if there are none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub fn stored_heads(&self) -> Result<Option<&StoredHeads>> {
        self.state().heads_of(self.stack().layers()[0].record().number)
    }

    /// The memory that its lists need if they are headed.
    ///
    /// # Errors
    /// As [`HeadedNeeds::for_layer`] and [`Snapshot::stored_heads`].
    pub fn headed_needs(&self, threads: usize) -> Result<HeadedNeeds> {
        HeadedNeeds::for_direction(self.choice.only, self.complete_layer(), self.stored_heads()?, threads)
    }

    /// The memory that its lists need if they are pooled.
    ///
    /// # Errors
    /// As [`PooledNeeds::for_layer`].
    pub fn pooled_needs(&self, threads: usize) -> Result<PooledNeeds> {
        PooledNeeds::for_direction(self.choice.only, self.complete_layer(), threads)
    }
}
