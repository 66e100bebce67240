//! A section: the lists of one direction of a layer, in columns.
//!
//! * The *main* lists have the arcs that are alive at the end of the layer's range: offsets, targets, the
//!   values of edge properties, and the version in which each arc was born. In a complete layer each vertex
//!   has its whole list.
//! * A later layer has a fragment for each vertex that changed, with the degree of the vertex and the address
//!   of the previous, older fragment. So the list of a vertex is a chain through the layers (`stack`).
//! * *Tombstones* delete arcs of older layers.
//! * *Past* arcs were born and died within the range of the layer. Only its earlier versions see them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Files;
use esker_format::{
    Column, ColumnSpec, Element, Encoding, Error, LayerRecord, Origin, Owner, PageHint, PropertyRecord,
    Result, SectionRecord, Values,
};
use esker_graph::{Direction, Run, VertexId};

use super::arrays::Arrays;
use super::coded::{Coded, CodedColumns};
use super::codes::{CodeSlice, Codes};
use super::columns::SectionColumn;
use super::extents::List;
use super::lists::{Body, ListColumns, OpenedColumns};
use super::offsets::ListCounts;
use super::tiled::TiledLists;
use crate::tiles::Tiles;

/// The address of a fragment in a stack of layers: 24 bits of layer number, 40 bits of the fragment's slot in
/// the layer's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Address(pub u64);

impl Address {
    const SLOT_BITS: u32 = 40;

    /// The fragment in `slot` of layer number `layer`, which is not 0.
    pub fn new(layer: u32, slot: usize) -> Self {
        Self(u64::from(layer) << Self::SLOT_BITS | slot as u64)
    }

    /// The number of the layer.
    #[inline(always)]
    pub(crate) fn layer(self) -> u32 {
        (self.0 >> Self::SLOT_BITS) as u32
    }

    /// The slot of the fragment.
    #[inline(always)]
    pub(crate) fn slot(self) -> usize {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as usize
    }
}

/// Tombstones: pairs (vertex, target) that delete arcs of older layers.
#[derive(Debug)]
pub struct Dead {
    /// The pairs.
    pub lists: ListColumns,
    /// The code of the version of each tombstone; `None` if the layer holds a single version.
    pub codes: Option<Codes>,
}

/// Past arcs: arcs that lived and died within the range of a layer.
#[derive(Debug)]
pub struct Past {
    /// The arcs.
    pub lists: ListColumns,
    /// The codes of the versions in which they were born.
    pub born: Codes,
    /// The codes of the versions in which they died.
    pub died: Codes,
}

/// The lists of one direction of a layer.
#[derive(Debug)]
pub struct Section {
    main: ListColumns,
    /// The code of the version in which each arc of the main lists was born; `None` if the layer holds a
    /// single version.
    born: Option<Codes>,
    /// For each fragment, the degree of its vertex. `None` in a complete layer.
    degrees: Option<Column<VertexId>>,
    /// For each fragment, the [`Address`] of the next older one; 0 ends the chain. `None` in a complete
    /// layer.
    previous: Option<Column<u64>>,
    dead: Option<Dead>,
    past: Option<Past>,
}

/// The arguments for opening the files of a section.
struct Opener<'a> {
    files: &'a dyn Files,
    layer: &'a Path,
    direction: Direction,
    origin: Origin,
    record: &'a LayerRecord,
    properties: Vec<&'a PropertyRecord>,
    tiles: Option<&'a Arc<Tiles>>,
}

impl Opener<'_> {
    fn spec(&self, column: SectionColumn) -> ColumnSpec {
        ColumnSpec { origin: self.origin, kind: column.kind(self.direction) }
    }

    fn column<T: Element>(&self, column: SectionColumn) -> Result<Column<T>> {
        Column::open(self.files, &column.path(self.layer, self.direction), self.spec(column))
    }

    fn codes(&self, column: SectionColumn) -> Result<Codes> {
        Codes::new(Values::open_of_kind(
            self.files,
            &column.path(self.layer, self.direction),
            self.spec(column),
        )?)
    }

    fn properties(&self, column: impl Fn(u32) -> SectionColumn) -> Result<Vec<Values>> {
        let open = |record: &&PropertyRecord| {
            let column = column(record.number);
            let (path, spec) = (column.path(self.layer, self.direction), self.spec(column));
            // The codes of texts grow wider with their dictionary.
            match record.is_text() {
                true => Values::open_of_kind(self.files, &path, spec),
                false => Values::open(self.files, &path, spec, record.element),
            }
        };
        self.properties.iter().map(open).collect()
    }

    fn sizes(&self) -> &SectionRecord {
        self.record.section(self.direction)
    }

    /// Opens lists stored as arrays.
    fn arrays(&self, offsets: SectionColumn, targets: SectionColumn, counts: ListCounts) -> Result<Body> {
        let (offsets, targets) = (self.column(offsets)?, self.column(targets)?);
        Arrays::new(offsets, targets, self.record.num_vertices, counts).map(Body::Arrays)
    }

    /// Opens the compressed lists of all vertices.
    fn coded(&self, counts: ListCounts) -> Result<Body> {
        if !self.record.complete {
            return Err(Error::corrupt(
                self.layer,
                0,
                "only complete layers can be compressed, and this one is not complete",
            ));
        }
        let columns = CodedColumns {
            groups: self.column(SectionColumn::Groups)?,
            sizes: self.column(SectionColumn::Sizes)?,
            lists: self.column(SectionColumn::Lists)?,
            blocks: self.column(SectionColumn::Blocks)?,
        };
        Coded::new(columns, self.record.num_vertices, counts).map(Body::Coded)
    }

    /// Opens the lists of all vertices that are kept only as tiles.
    fn tiled(&self, counts: ListCounts) -> Result<Body> {
        let Some(tiles) = self.tiles.filter(|_| self.record.complete) else {
            let reason = "its lists are kept in tiles, but it has none, or is not complete";
            return Err(Error::corrupt(self.layer, 0, reason));
        };
        let offsets = self.column(SectionColumn::Offsets)?;
        TiledLists::new(offsets, Arc::clone(tiles), self.direction, counts).map(Body::Tiled)
    }

    fn main(&self) -> Result<ListColumns> {
        let vertices = if self.record.complete { None } else { Some(self.column(SectionColumn::Vertices)?) };
        let counts = ListCounts { lists: self.sizes().lists, arcs: self.sizes().arcs };
        let body = match self.record.encoding {
            Encoding::Plain => self.arrays(SectionColumn::Offsets, SectionColumn::Targets, counts)?,
            Encoding::Compressed => self.coded(counts)?,
            Encoding::Tiles => self.tiled(counts)?,
        };
        let columns = OpenedColumns { vertices, body, properties: self.properties(SectionColumn::Property)? };
        ListColumns::new(columns, self.record.num_vertices)
    }

    fn dead(&self) -> Result<Option<Dead>> {
        let sizes = self.sizes();
        if sizes.dead_lists == 0 {
            return Ok(None);
        }
        let counts = ListCounts { lists: sizes.dead_lists, arcs: sizes.dead_arcs };
        let columns = OpenedColumns {
            vertices: Some(self.column(SectionColumn::DeadVertices)?),
            body: self.arrays(SectionColumn::DeadOffsets, SectionColumn::DeadTargets, counts)?,
            properties: Vec::new(),
        };
        let lists = ListColumns::new(columns, self.record.num_vertices)?;
        let codes =
            (self.record.num_versions > 1).then(|| self.codes(SectionColumn::DeadCodes)).transpose()?;
        if let Some(codes) = &codes {
            codes.column().expect_len(sizes.dead_arcs)?;
        }
        Ok(Some(Dead { lists, codes }))
    }

    fn past(&self) -> Result<Option<Past>> {
        let sizes = self.sizes();
        if sizes.past_lists == 0 {
            return Ok(None);
        }
        let counts = ListCounts { lists: sizes.past_lists, arcs: sizes.past_arcs };
        let columns = OpenedColumns {
            vertices: Some(self.column(SectionColumn::PastVertices)?),
            body: self.arrays(SectionColumn::PastOffsets, SectionColumn::PastTargets, counts)?,
            properties: self.properties(SectionColumn::PastProperty)?,
        };
        let lists = ListColumns::new(columns, self.record.num_vertices)?;
        let (born, died) = (self.codes(SectionColumn::PastBorn)?, self.codes(SectionColumn::PastDied)?);
        for codes in [&born, &died] {
            codes.column().expect_len(sizes.past_arcs)?;
        }
        Ok(Some(Past { lists, born, died }))
    }
}

impl Section {
    pub(super) fn open(
        files: &dyn Files,
        layer: &Path,
        direction: Direction,
        origin: Origin,
        record: &LayerRecord,
        tiles: Option<&Arc<Tiles>>,
        properties: &[PropertyRecord],
    ) -> Result<Self> {
        let properties = properties.iter().filter(|property| property.owner == Owner::Edges).collect();
        let opener = Opener { files, layer, direction, origin, record, properties, tiles };
        let main = opener.main()?;
        let born = (record.num_versions > 1).then(|| opener.codes(SectionColumn::Born)).transpose()?;
        if let Some(born) = &born {
            born.column().expect_len(main.num_arcs() as u64)?;
        }
        let (mut degrees, mut previous) = (None, None);
        if !record.complete {
            let (lengths, links) =
                (opener.column(SectionColumn::Degrees)?, opener.column(SectionColumn::Previous)?);
            lengths.expect_len(main.num_lists() as u64)?;
            links.expect_len(main.num_lists() as u64)?;
            (degrees, previous) = (Some(lengths), Some(links));
        } else if main.num_lists() as u64 != record.num_vertices {
            let path = SectionColumn::Offsets.path(layer, direction);
            return Err(Error::corrupt(path, 0, "a complete layer does not have one list for each vertex"));
        }
        Ok(Self { main, born, degrees, previous, dead: opener.dead()?, past: opener.past()? })
    }

    /// The lists, or fragments of lists, at the end of the layer's range.
    pub fn main(&self) -> &ListColumns {
        &self.main
    }

    /// The versions in which the main arcs were born; `None` if the layer holds a single version.
    pub fn born(&self) -> Option<&Codes> {
        self.born.as_ref()
    }

    /// The tombstones; `None` if there are none.
    pub fn dead(&self) -> Option<&Dead> {
        self.dead.as_ref()
    }

    /// The past arcs; `None` if there are none.
    pub fn past(&self) -> Option<&Past> {
        self.past.as_ref()
    }

    /// The degree, at the end of the range, of the vertex whose fragment is in `slot`.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    pub fn degree_at(&self, slot: usize) -> Result<usize> {
        match &self.degrees {
            Some(degrees) => degrees.at(slot).map(|degree| degree as usize),
            None => self.main.range(slot).map(|range| range.len()),
        }
    }

    /// The address of the next older fragment; `None` if this fragment is the end of its chain.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    #[inline]
    pub fn previous_at(&self, slot: usize) -> Result<Option<Address>> {
        match &self.previous {
            Some(previous) => previous.at(slot).map(|address| (address != 0).then_some(Address(address))),
            None => Ok(None),
        }
    }

    /// Gives up the memory of all columns: see [`Column::release`].
    pub(crate) fn release(&self) {
        self.hint(PageHint::Release);
    }

    /// Gives the system a hint about the pages of all columns.
    pub(crate) fn hint(&self, hint: PageHint) {
        let past = self.past.as_ref();
        let codes = [self.born.as_ref(), past.map(|past| &past.born), past.map(|past| &past.died)];
        codes.into_iter().flatten().for_each(|codes| codes.column().hint(hint));
        let lists =
            [Some(&self.main), self.dead.as_ref().map(|dead| &dead.lists), past.map(|past| &past.lists)];
        for lists in lists.into_iter().flatten() {
            lists.hint(hint);
            lists.vertices_column().into_iter().for_each(|vertices| vertices.hint(hint));
        }
        self.degrees.iter().for_each(|degrees| degrees.hint(hint));
        self.previous.iter().for_each(|previous| previous.hint(hint));
    }

    /// Hint: the links of these fragments will be read soon.
    pub(crate) fn will_need_links(&self, slots: Range<usize>) {
        self.previous.iter().for_each(|previous| previous.will_need(slots.clone()));
    }

    /// Bytes of the files of degrees and links.
    pub(crate) fn links_bytes(&self) -> u64 {
        self.degrees.as_ref().map_or(0, Column::file_bytes)
            + self.previous.as_ref().map_or(0, Column::file_bytes)
    }

    /// All degrees and all links, verified; `None` in a complete layer.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn links(&self, run: &Run) -> Result<Option<(&[VertexId], &[u64])>> {
        match (&self.degrees, &self.previous) {
            (Some(degrees), Some(previous)) => Ok(Some((degrees.all(run)?, previous.all(run)?))),
            _ => Ok(None),
        }
    }

    /// Appends to `out` the tombstones of `v` at `rank` (`None`: at the end of the range), in ascending
    /// order.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(crate) fn dead_targets(&self, v: VertexId, rank: Option<u32>, out: &mut Vec<VertexId>) -> Result<()> {
        let Some(dead) = &self.dead else { return Ok(()) };
        let Some(slot) = dead.lists.slot_of(v)? else { return Ok(()) };
        let list = dead.lists.list(slot)?;
        let targets = &*list.targets;
        match (&dead.codes, rank) {
            (Some(codes), Some(rank)) => {
                let codes = codes.get(list.start..list.start + targets.len())?;
                let counts = targets.iter().enumerate().filter(|(i, _)| codes.at(*i) <= rank);
                out.extend(counts.map(|(_, &target)| target));
            }
            _ => out.extend_from_slice(targets),
        }
        Ok(())
    }

    /// Whether a tombstone deletes the arc at `rank` (`None`: at the end of the range).
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(crate) fn is_dead(&self, v: VertexId, target: VertexId, rank: Option<u32>) -> Result<bool> {
        let Some(dead) = &self.dead else { return Ok(false) };
        let Some(slot) = dead.lists.slot_of(v)? else { return Ok(false) };
        for at in dead.lists.find(slot, target)? {
            let counts = match (&dead.codes, rank) {
                (Some(codes), Some(rank)) => codes.at(at)? <= rank,
                _ => true,
            };
            if counts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds the past arcs of a vertex that are alive at `rank`. Calls `take` with all past arcs of the
    /// vertex and each maximal run of positions among them that is alive.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; what `take` returns.
    pub(crate) fn past_runs<'a>(
        &'a self,
        v: VertexId,
        rank: u32,
        mut take: impl FnMut(&'a ListColumns, &List<'a>, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let Some(past) = &self.past else { return Ok(()) };
        let Some(slot) = past.lists.slot_of(v)? else { return Ok(()) };
        let list = past.lists.list(slot)?;
        let range = list.start..list.start + list.targets.len();
        let (born, died): (CodeSlice<'_>, CodeSlice<'_>) =
            (past.born.get(range.clone())?, past.died.get(range.clone())?);
        let alive = |i: usize| born.at(i) <= rank && died.at(i) > rank;
        for_runs(0..range.len(), alive, |run| take(&past.lists, &list, run))
    }
}

/// Calls `take` with each maximal run of `range` whose positions, counted from its start, are `wanted`.
pub(crate) fn for_runs(
    range: Range<usize>,
    wanted: impl Fn(usize) -> bool,
    mut take: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut i = 0;
    while i < range.len() {
        if !wanted(i) {
            i += 1;
            continue;
        }
        let first = i;
        while i < range.len() && wanted(i) {
            i += 1;
        }
        take(range.start + first..range.start + i)?;
    }
    Ok(())
}
