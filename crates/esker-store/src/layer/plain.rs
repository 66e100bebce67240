//! The `plain` encoding: arrays of ids, fastest to compute on.
//!
//! For each direction, `offsets` (u64, n + 1) says where the list of each vertex begins in `targets` (vertex ids, each list
//! ascending); one column a property lies parallel to `targets`. So a stored arc takes 4 bytes (8 with 64-bit ids) plus its
//! properties, and a vertex 8 bytes, in each direction that is kept; checksums add 1/16384.
//!
//! Nothing read from disk is used as a position before it was checked: [`Section::offsets`] and
//! [`Section::targets`] verify all of a column once, and the numbers in it during the same pass; [`Section::list`]
//! verifies the blocks that it touches.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Direction, Run, VertexId};

use crate::error::{Error, Result};
use crate::format::{
    Column, ColumnKind, ColumnSpec, ColumnWriter, DatabaseId, Element, LayerRecord, Owner, PropertyRecord,
    Values,
};
use crate::io::Disk;

/// Where the texts of the dictionary of a property lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryFiles {
    /// The texts, concatenated.
    pub texts: PathBuf,
    /// Where each ends.
    pub ends: PathBuf,
}

impl DictionaryFiles {
    /// Those of the edge property `number` in the layer whose directory is given.
    pub fn of(layer: &Path, number: u32) -> Self {
        Self {
            texts: layer.join(format!("dictionary.{number}.texts")),
            ends: layer.join(format!("dictionary.{number}.ends")),
        }
    }
}

fn column_path(layer: &Path, direction: Direction, what: &str) -> PathBuf {
    let side = match direction {
        Direction::Out => "out",
        Direction::In => "in",
    };
    layer.join(format!("{side}.{what}"))
}

/// The kinds of the columns of a direction: offsets, targets, property.
const fn kinds(direction: Direction) -> [ColumnKind; 3] {
    match direction {
        Direction::Out => [ColumnKind::OutOffsets, ColumnKind::OutTargets, ColumnKind::OutProperty],
        Direction::In => [ColumnKind::InOffsets, ColumnKind::InTargets, ColumnKind::InProperty],
    }
}

/// Makes the files of a plain layer. Each method makes one; its columns are written in any order, by any threads, and
/// must agree with the [`LayerRecord`] that the manifest gets.
#[derive(Debug, Clone)]
pub struct PlainWriter<'a> {
    disk: &'a dyn Disk,
    directory: PathBuf,
    database: DatabaseId,
}

impl<'a> PlainWriter<'a> {
    /// Writes to `directory`, which exists.
    pub fn new(disk: &'a dyn Disk, directory: &Path, database: DatabaseId) -> Self {
        Self { disk, directory: directory.to_owned(), database }
    }

    /// The offsets of a direction: n + 1, ascending from 0 to the number of arcs.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn offsets(&self, direction: Direction) -> Result<ColumnWriter<u64>> {
        self.column(&column_path(&self.directory, direction, "offsets"), kinds(direction)[0])
    }

    /// The targets of a direction: all lists, each ascending.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn targets(&self, direction: Direction) -> Result<ColumnWriter<VertexId>> {
        self.column(&column_path(&self.directory, direction, "targets"), kinds(direction)[1])
    }

    /// The values of an edge property, parallel to the targets.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn property<T: Element>(&self, direction: Direction, number: u32) -> Result<ColumnWriter<T>> {
        let path = column_path(&self.directory, direction, &format!("property.{number}"));
        self.column(&path, kinds(direction)[2])
    }

    /// The dictionary of an edge property: distinct texts, ascending by their bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn dictionary<'t>(&self, number: u32, texts: impl IntoIterator<Item = &'t [u8]>) -> Result<()> {
        let files = DictionaryFiles::of(&self.directory, number);
        let mut bytes = self.column::<u8>(&files.texts, ColumnKind::DictionaryTexts)?;
        let mut ends = self.column::<u64>(&files.ends, ColumnKind::DictionaryEnds)?;
        let mut end = 0;
        for text in texts {
            end += text.len() as u64;
            bytes.append(text)?;
            ends.append(&[end])?;
        }
        bytes.finish()?;
        ends.finish()?;
        Ok(())
    }

    fn column<T: Element>(&self, path: &Path, kind: ColumnKind) -> Result<ColumnWriter<T>> {
        ColumnWriter::create(self.disk, path, ColumnSpec { database: self.database, kind })
    }
}

/// A plain layer, mapped.
#[derive(Debug)]
pub struct PlainLayer {
    directory: PathBuf,
    out: Section,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Section>,
    directed: bool,
}

impl PlainLayer {
    /// Maps the files of a layer and checks their headers and lengths. `properties` are those of edges, by number.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if a file is not what the manifest says.
    pub fn open(
        disk: &dyn Disk,
        directory: &Path,
        database: DatabaseId,
        record: &LayerRecord,
        properties: &[PropertyRecord],
    ) -> Result<Self> {
        let edge_properties: Vec<_> =
            properties.iter().filter(|property| property.owner == Owner::Edges).collect();
        let section =
            |direction| Section::open(disk, directory, direction, database, record, &edge_properties);
        Ok(Self {
            directory: directory.to_owned(),
            out: section(Direction::Out)?,
            incoming: if record.in_edges { Some(section(Direction::In)?) } else { None },
            directed: record.directed,
        })
    }

    /// The lists of a direction, if kept. In an undirected graph both directions are the same section.
    pub fn section(&self, direction: Direction) -> Option<&Section> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    /// The out-lists.
    pub fn out(&self) -> &Section {
        &self.out
    }

    /// The in-lists, if the layer is directed and they are kept.
    pub fn incoming(&self) -> Option<&Section> {
        self.incoming.as_ref()
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Where its files are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The lists of one direction of a plain layer.
#[derive(Debug)]
pub struct Section {
    offsets: Column<u64>,
    targets: Column<VertexId>,
    properties: Vec<Values>,
    /// A weight of no size for each arc.
    units: Vec<()>,
    offsets_sound: AtomicBool,
    targets_sound: AtomicBool,
}

impl Section {
    fn open(
        disk: &dyn Disk,
        directory: &Path,
        direction: Direction,
        database: DatabaseId,
        record: &LayerRecord,
        properties: &[&PropertyRecord],
    ) -> Result<Self> {
        let [offsets, targets, property] = kinds(direction).map(|kind| ColumnSpec { database, kind });
        let offsets = Column::open(disk, &column_path(directory, direction, "offsets"), offsets)?;
        let targets = Column::open(disk, &column_path(directory, direction, "targets"), targets)?;
        let properties = properties.iter().map(|record| {
            let path = column_path(directory, direction, &format!("property.{}", record.number));
            Values::open(disk, &path, property, record.element)
        });
        let properties = properties.collect::<Result<Vec<_>>>()?;
        expect_count(offsets.path(), offsets.len(), record.num_vertices.saturating_add(1))?;
        expect_count(targets.path(), targets.len(), record.num_arcs)?;
        for values in &properties {
            expect_count(values.path(), values.len(), record.num_arcs)?;
        }
        let units = vec![(); targets.len()];
        let (offsets_sound, targets_sound) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self { offsets, targets, properties, units, offsets_sound, targets_sound })
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of arcs.
    pub fn num_arcs(&self) -> usize {
        self.targets.len()
    }

    /// The values of an edge property.
    pub fn property(&self, number: usize) -> Option<&Values> {
        self.properties.get(number)
    }

    /// As many weights of no size as there are arcs.
    pub fn units(&self) -> &[()] {
        &self.units
    }

    /// The column of offsets.
    pub fn offsets_column(&self) -> &Column<u64> {
        &self.offsets
    }

    /// The column of targets.
    pub fn targets_column(&self) -> &Column<VertexId> {
        &self.targets
    }

    /// All offsets. The first call verifies their checksums, and that they ascend from 0 to the number of arcs.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn offsets(&self, run: &Run) -> Result<&[u64]> {
        if !self.offsets_sound.load(Ordering::Acquire) {
            self.offsets.inspect(run, |offsets, range| self.inspect_offsets(offsets, range))?;
            self.offsets_sound.store(true, Ordering::Release);
        }
        self.offsets.all(run)
    }

    /// All targets. The first call verifies their checksums, and that each is a vertex.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn targets(&self, run: &Run) -> Result<&[VertexId]> {
        if !self.targets_sound.load(Ordering::Acquire) {
            self.targets.inspect(run, |targets, range| self.inspect_targets(targets, range))?;
            self.targets_sound.store(true, Ordering::Release);
        }
        self.targets.all(run)
    }

    /// Where the list of `v` lies in the targets and properties; verifies the offsets that it reads.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there is no such vertex.
    #[inline]
    pub fn range(&self, v: VertexId) -> Result<Range<usize>> {
        let index = v as usize;
        if index >= self.num_vertices() {
            return Err(Error::Invalid(format!(
                "there is no vertex {v}: the graph has {}",
                self.num_vertices()
            )));
        }
        let bounds = self.offsets.get(index..index + 2)?;
        if bounds[0] > bounds[1] || bounds[1] > self.targets.len() as u64 {
            return Err(self.bad_offset(index + 1));
        }
        Ok(bounds[0] as usize..bounds[1] as usize)
    }

    /// The list of `v`; verifies the blocks that hold it, and that its entries are vertices.
    ///
    /// # Errors
    /// As [`Section::range`].
    #[inline]
    pub fn list(&self, v: VertexId) -> Result<&[VertexId]> {
        let range = self.range(v)?;
        let list = self.targets.get(range.clone())?;
        if !self.targets_sound.load(Ordering::Acquire) {
            self.check_targets(list, range.start)?;
        }
        Ok(list)
    }

    fn inspect_offsets(&self, offsets: &[u64], range: Range<usize>) -> Result<()> {
        let first = range.start.saturating_sub(1);
        let checked = &offsets[first..range.end];
        if !checked.is_sorted() {
            let wrong = checked.windows(2).position(|pair| pair[0] > pair[1]).unwrap_or(0);
            return Err(self.bad_offset(first + wrong + 1));
        }
        if range.start == 0 && offsets[0] != 0 {
            return Err(self.bad_offset(0));
        }
        if range.end == offsets.len() && offsets[range.end - 1] != self.targets.len() as u64 {
            return Err(self.bad_offset(range.end - 1));
        }
        Ok(())
    }

    fn inspect_targets(&self, targets: &[VertexId], range: Range<usize>) -> Result<()> {
        self.check_targets(&targets[range.clone()], range.start)
    }

    fn check_targets(&self, targets: &[VertexId], first: usize) -> Result<()> {
        let n = self.num_vertices() as u64;
        // A maximum is a loop without branches, which the compiler vectorises.
        let largest = targets.iter().fold(0, |largest, &target| largest.max(target));
        if targets.is_empty() || u64::from(largest) < n {
            return Ok(());
        }
        let wrong = targets.iter().position(|&target| u64::from(target) >= n).unwrap_or(0);
        Err(self.targets.corrupt(first + wrong, format!("vertex {largest} in a graph of {n} vertices")))
    }

    fn bad_offset(&self, index: usize) -> Error {
        self.offsets.corrupt(index, format!("offsets do not ascend from 0 to {}", self.targets.len()))
    }
}

fn expect_count(path: &Path, found: usize, expected: u64) -> Result<()> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(Error::corrupt(path, 0, format!("it has {found} elements where the manifest says {expected}")))
}
