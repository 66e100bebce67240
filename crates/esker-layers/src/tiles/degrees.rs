//! The degree of every vertex in two bytes (G-Store, IV-C), with a table of the few that are larger.

use std::path::Path;

use esker_format::Result;
use esker_format::io::Files;
use esker_format::{Column, ColumnKind, ColumnSpec, ColumnWriter, Origin};
use esker_graph::{Direction, Run, VertexId};

/// Means that the degree is in the table.
const LARGE: u16 = u16::MAX;
/// Degrees written at a time.
const WRITE_LEN: usize = 1 << 12;

/// The degrees of one direction, verified. Memory: two bytes per vertex, and 16 for each with 65535
/// neighbours or more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TileDegrees<'a> {
    small: &'a [u16],
    /// Vertices, ascending, each followed by its degree.
    hubs: &'a [[u64; 2]],
}

impl TileDegrees<'_> {
    /// The degree of a vertex. Panics if there is no such vertex. O(1), or O(log hubs) for hubs.
    #[inline(always)]
    pub(crate) fn get(&self, v: VertexId) -> usize {
        match self.small[v as usize] {
            LARGE => self.large(v),
            small => usize::from(small),
        }
    }

    #[cold]
    fn large(&self, v: VertexId) -> usize {
        let found = self.hubs.binary_search_by_key(&u64::from(v), |hub| hub[0]);
        found.map_or(usize::from(LARGE), |hub| self.hubs[hub][1] as usize)
    }
}

fn kinds(direction: Direction) -> [ColumnKind; 2] {
    match direction {
        Direction::Out => [ColumnKind::TileOutDegrees, ColumnKind::TileOutHubs],
        Direction::In => [ColumnKind::TileInDegrees, ColumnKind::TileInHubs],
    }
}

fn names(direction: Direction) -> [&'static str; 2] {
    match direction {
        Direction::Out => ["out.degrees", "out.hubs"],
        Direction::In => ["in.degrees", "in.hubs"],
    }
}

/// Writes the degrees of a direction, in the order of the vertices.
#[derive(Debug)]
pub(super) struct DegreeWriter {
    small: ColumnWriter<u16>,
    hubs: ColumnWriter<u64>,
    num_vertices: u64,
}

impl DegreeWriter {
    pub(super) fn create(
        files: &dyn Files,
        directory: &Path,
        origin: Origin,
        direction: Direction,
    ) -> Result<Self> {
        let ([small_kind, hub_kind], [small_name, hub_name]) = (kinds(direction), names(direction));
        let spec = |kind| ColumnSpec { origin, kind };
        let small = ColumnWriter::create(files, &directory.join(small_name), spec(small_kind))?;
        let hubs = ColumnWriter::create(files, &directory.join(hub_name), spec(hub_kind))?;
        Ok(Self { small, hubs, num_vertices: 0 })
    }

    /// Appends the degrees of the next vertices.
    pub(super) fn append(&mut self, degrees: impl Iterator<Item = u64>) -> Result<()> {
        let mut degrees = degrees.peekable();
        let mut values = Vec::with_capacity(WRITE_LEN);
        while degrees.peek().is_some() {
            values.clear();
            for degree in degrees.by_ref().take(WRITE_LEN) {
                if degree >= u64::from(LARGE) {
                    self.hubs.append(&[self.num_vertices, degree])?;
                }
                self.num_vertices += 1;
                values.push(degree.min(u64::from(LARGE)) as u16);
            }
            self.small.append(&values)?;
        }
        Ok(())
    }

    /// Completes and syncs the files. Returns the number of vertices.
    pub(super) fn finish(self) -> Result<u64> {
        self.hubs.finish()?;
        self.small.finish()
    }
}

/// Writes the degrees of the vertices `0..num_vertices`.
pub(super) fn write_degrees(
    files: &dyn Files,
    directory: &Path,
    origin: Origin,
    direction: Direction,
    num_vertices: usize,
    degree: impl Fn(usize) -> u64,
) -> Result<()> {
    let mut writer = DegreeWriter::create(files, directory, origin, direction)?;
    writer.append((0..num_vertices).map(degree))?;
    writer.finish().map(drop)
}

/// The columns of the degrees of a direction.
#[derive(Debug)]
pub(super) struct DegreeColumns {
    small: Column<u16>,
    hubs: Column<u64>,
}

impl DegreeColumns {
    pub(super) fn open(
        files: &dyn Files,
        directory: &Path,
        origin: Origin,
        direction: Direction,
        num_vertices: u64,
    ) -> Result<Self> {
        let ([small_kind, hub_kind], [small_name, hub_name]) = (kinds(direction), names(direction));
        let spec = |kind| ColumnSpec { origin, kind };
        let small = Column::open(files, &directory.join(small_name), spec(small_kind))?;
        small.expect_len(num_vertices)?;
        let hubs = Column::open(files, &directory.join(hub_name), spec(hub_kind))?;
        Ok(Self { small, hubs })
    }

    /// All degrees, verified.
    pub(super) fn all(&self, run: &Run) -> Result<TileDegrees<'_>> {
        let hubs = self.hubs.all(run)?;
        let (pairs, rest) = hubs.as_chunks::<2>();
        if !rest.is_empty() || !pairs.is_sorted_by(|a, b| a[0] < b[0]) {
            return Err(self.hubs.corrupt(0, "the vertices of large degree do not ascend"));
        }
        Ok(TileDegrees { small: self.small.all(run)?, hubs: pairs })
    }

    /// Bytes of the files.
    pub(super) fn file_bytes(&self) -> u64 {
        self.small.file_bytes() + self.hubs.file_bytes()
    }
}
