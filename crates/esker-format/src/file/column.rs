//! Reading a column file: mapped, with each block loaded and verified at first use.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use esker_graph::{Run, prefetch};

use crate::error::{Error, Result};
use crate::file::header::{
    COLUMN_MAGIC, ColumnHeader, ColumnSpec, Element, Origin, place_checksum, read_header_page_at,
};
use crate::file::size::{BLOCK_BYTES, PAGE_BYTES};
use crate::file::writer::range_of;
use crate::io::{Disk, File, Files, Map};

/// Number of blocks that a worker verifies at a time.
const UNIT_BLOCKS: usize = 16;

/// An array in a file. Opening checks the header and the length of the file. Reading elements first verifies
/// the checksums of their blocks, once per block and process.
///
/// Memory: address space backed by the page cache, and one bit for each 64 KiB.
pub struct Column<T> {
    path: PathBuf,
    map: Map,
    count: usize,
    /// Boxed, because few columns have one.
    range: Option<Box<(i64, i64)>>,
    /// One bit a block: set once its checksum has matched.
    verified: Box<[AtomicU64]>,
    complete: AtomicBool,
    /// Those that read it at random now.
    random_readers: AtomicU32,
    element: PhantomData<T>,
}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("path", &self.path).field("count", &self.count).finish_non_exhaustive()
    }
}

/// A hint to the system about the pages of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageHint {
    /// See [`Column::release`].
    Release,
    /// See [`Column::read_at_random`].
    AtRandom(bool),
}

/// Why a column is refused whose set is not the one that its record names.
const FOREIGN: &str = "it is not the file that MANIFEST lists: one of the two is of a copy of the database that took another course, or of another time";

impl<T: Element> Column<T> {
    /// Maps the file at `path` and checks that it is the column described by `spec` and `T`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if it is another column, or its length differs from its header;
    /// [`Error::Invalid`] for an unsupported format version.
    pub fn open(files: &dyn Files, path: &Path, spec: ColumnSpec) -> Result<Self> {
        Self::open_of_place(files, path, path, spec)
    }

    /// As [`Column::open`], of a file that was written at the path `place` and has another name now.
    ///
    /// # Errors
    /// As [`Column::open`].
    pub fn open_of_place(files: &dyn Files, path: &Path, place: &Path, spec: ColumnSpec) -> Result<Self> {
        let place = place_checksum(place);
        let file = files.open(path)?;
        let (map, path) = (file.map()?, file.path());
        let start = map.start() as u64;
        let page = map.load(0..map.len().min(PAGE_BYTES))?;
        let header: ColumnHeader = read_header_page_at(path, start, page, COLUMN_MAGIC)?;
        let wrong = |reason: String| Err(Error::corrupt(path, start, reason));
        let Origin { database, stamp } = spec.origin;
        if header.database != database {
            return wrong(format!("it belongs to database {}, not {database}", header.database));
        }
        if header.stamp != stamp {
            return wrong(FOREIGN.to_owned());
        }
        if header.kind != spec.kind {
            return wrong(format!("it is a column of {:?}, not {:?}", header.kind, spec.kind));
        }
        if header.place_checksum != place {
            return wrong("it was written for another layer, or under another name".to_owned());
        }
        if header.element != T::TYPE {
            return wrong(format!("its elements are {}, not {}", header.element.name(), T::TYPE.name()));
        }
        if header.block_bytes as usize != BLOCK_BYTES {
            return wrong(format!("its blocks have {} bytes, not {BLOCK_BYTES}", header.block_bytes));
        }
        if file_bytes(header.count, size_of::<T>()) != Some(map.len() as u64) {
            let reason = format!("the file has the wrong length for a column of {} elements", header.count);
            return Err(Error::corrupt(path, start + map.len() as u64, reason));
        }
        let count = header.count as usize;
        let blocks = (count * size_of::<T>()).div_ceil(BLOCK_BYTES);
        let verified = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let complete = AtomicBool::new(blocks == 0);
        let range = (header.has_range == 1).then(|| Box::new((header.least, header.greatest)));
        let random_readers = AtomicU32::new(0);
        Ok(Self {
            path: path.to_owned(),
            map,
            count,
            range,
            verified,
            complete,
            random_readers,
            element: PhantomData,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the column has no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The least and the greatest value, of floats rounded down and up to integers of 64 bits, without
    /// reading them; `None` if the file does not say: it has no elements, or they have no sign.
    pub fn value_range(&self) -> Option<(i64, i64)> {
        self.range.as_deref().copied()
    }

    /// Verifies all checksums, and that the least and the greatest value are those that the header states.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(crate) fn expect_range(&self, run: &Run) -> Result<()> {
        let values = self.all(run)?;
        let Some(stated) = self.value_range() else { return Ok(()) };
        let found = range_of(values);
        if found == Some(stated) {
            return Ok(());
        }
        let reason = format!("the header states values from {} to {}, but they are not", stated.0, stated.1);
        Err(Error::corrupt(&self.path, self.map.start() as u64, reason))
    }

    /// The file that holds it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Offset of its first element in the file.
    pub fn first_byte(&self) -> u64 {
        (self.map.start() + PAGE_BYTES) as u64
    }

    /// An error unless it has `expected` elements.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn expect_len(&self, expected: u64) -> Result<()> {
        if self.count as u64 == expected {
            return Ok(());
        }
        let reason = format!("the column that begins here has {} elements, not {expected}", self.count);
        Err(Error::corrupt(&self.path, self.map.start() as u64, reason))
    }

    /// Size in bytes, header and checksums included.
    pub fn file_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// Opens the file anew for reads past the page cache. If it was removed or replaced since it was mapped,
    /// the reads come from the map.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open_direct(&self, disk: &dyn Disk) -> Result<Arc<dyn File>> {
        self.map.open_direct(disk)
    }

    /// Hint: unmaps the pages from the process. The next access maps them again from the page cache.
    pub fn release(&self) {
        self.map.release();
    }

    /// Hint: elements will be read in no order, so the system reads only the pages that are accessed. It
    /// holds until each call with `true` was followed by one with `false`. See [`Column::will_need`] for
    /// ranges of more than a page.
    pub fn read_at_random(&self, at_random: bool) {
        let is_changed = if at_random {
            self.random_readers.fetch_add(1, Ordering::Relaxed) == 0
        } else {
            self.random_readers.fetch_sub(1, Ordering::Relaxed) == 1
        };
        if is_changed {
            self.map.read_at_random(at_random);
        }
    }

    /// Gives the system a hint about its pages.
    pub fn hint(&self, hint: PageHint) {
        match hint {
            PageHint::Release => self.release(),
            PageHint::AtRandom(at_random) => self.read_at_random(at_random),
        }
    }

    /// The elements of a range, after verifying their blocks.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a checksum does not match, or if the range exceeds the column: ranges come
    /// from other files of the database.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> Result<&[T]> {
        let Some(values) = self.unverified().get(range.clone()) else {
            let reason = format!(
                "elements {} to {} were requested, but it has {}",
                range.start, range.end, self.count
            );
            return Err(Error::corrupt(&self.path, (self.map.start() + self.map.len()) as u64, reason));
        };
        if !values.is_empty() && !self.complete.load(Ordering::Acquire) {
            let width = size_of::<T>();
            self.verify_blocks(range.start * width / BLOCK_BYTES..(range.end * width).div_ceil(BLOCK_BYTES))?;
        }
        Ok(values)
    }

    /// The element at `index`, after verifying its block.
    ///
    /// # Errors
    /// As [`Column::get`].
    #[inline]
    pub fn at(&self, index: usize) -> Result<T> {
        self.get(index..index.saturating_add(1)).map(|values| values[0])
    }

    /// A view for reading many elements one by one.
    #[inline]
    pub fn reader(&self) -> ColumnReader<'_, T> {
        let is_complete = self.complete.load(Ordering::Acquire);
        ColumnReader { column: self, elements: self.unverified(), is_complete }
    }

    /// All elements, after verifying the remaining blocks on the threads of `run`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a checksum does not match; cancellation.
    pub fn all(&self, run: &Run) -> Result<&[T]> {
        if !self.complete.load(Ordering::Acquire) {
            self.inspect(run, |_, _| Ok(()))?;
        }
        Ok(self.unverified())
    }

    /// All elements, if every block is already verified.
    #[inline]
    pub fn if_complete(&self) -> Option<&[T]> {
        self.complete.load(Ordering::Acquire).then(|| self.unverified())
    }

    /// Verifies every block not yet verified. While a block is in the cache, calls `look` with all elements
    /// of the column and the range in the block. Elements outside of the range may be unverified.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a checksum does not match; an error of `look`; cancellation.
    pub fn inspect(&self, run: &Run, look: impl Fn(&[T], Range<usize>) -> Result<()> + Sync) -> Result<()> {
        let blocks = self.num_blocks();
        let per_block = BLOCK_BYTES / size_of::<T>();
        run.share(
            blocks.div_ceil(UNIT_BLOCKS),
            || (),
            |(), unit| {
                let range = unit * UNIT_BLOCKS..((unit + 1) * UNIT_BLOCKS).min(blocks);
                self.load(range.clone())?;
                for block in range {
                    if !self.is_verified(block) {
                        self.compare(block)?;
                    }
                    look(self.unverified(), block * per_block..((block + 1) * per_block).min(self.count))?;
                }
                Ok::<(), Error>(())
            },
        )?;
        self.complete.store(true, Ordering::Release);
        Ok(())
    }

    /// Hint: the element at `index`, if there is one, will be read at once. Moves it to the cache of the
    /// processor without waiting.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.unverified(), index);
    }

    /// Hint: the elements of a range will be read soon.
    pub fn will_need(&self, range: Range<usize>) {
        let end = range.end.min(self.count);
        let bytes = range.start.min(end) * size_of::<T>()..end * size_of::<T>();
        self.map.will_need(PAGE_BYTES + bytes.start..PAGE_BYTES + bytes.end);
    }

    /// An [`Error::Corrupt`] at the element `index`.
    pub fn corrupt(&self, index: usize, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.path, (self.map.start() + PAGE_BYTES + index * size_of::<T>()) as u64, reason)
    }

    fn num_blocks(&self) -> usize {
        (self.count * size_of::<T>()).div_ceil(BLOCK_BYTES)
    }

    /// The range of a block's data in the column's file.
    fn block_bytes(&self, block: usize) -> Range<usize> {
        let end = ((block + 1) * BLOCK_BYTES).min(self.count * size_of::<T>());
        PAGE_BYTES + block * BLOCK_BYTES..PAGE_BYTES + end
    }

    #[inline(always)]
    fn unverified(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[PAGE_BYTES..PAGE_BYTES + self.count * size_of::<T>()])
    }

    /// Verifies a copy of a block's bytes that the caller has read.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the checksum does not match.
    pub fn verify_copy(&self, block: usize, bytes: &[u8]) -> Result<()> {
        let range = self.block_bytes(block);
        self.map.load(self.checksums(block..block + 1))?;
        if bytes.len() != range.len() || !self.matches(block, bytes) {
            return Err(self.damaged(&range));
        }
        Ok(())
    }

    /// The range of the checksums of some blocks in the column's file.
    fn checksums(&self, blocks: Range<usize>) -> Range<usize> {
        let table = PAGE_BYTES + self.count * size_of::<T>();
        table + 4 * blocks.start..table + 4 * blocks.end
    }

    fn matches(&self, block: usize, bytes: &[u8]) -> bool {
        crc32c::crc32c(bytes).to_le_bytes() == self.map[self.checksums(block..block + 1)]
    }

    fn damaged(&self, range: &Range<usize>) -> Error {
        let reason = format!(
            "the checksum of {} from here on does not match",
            esker_graph::counted(range.len(), "byte", "bytes")
        );
        Error::corrupt(&self.path, (self.map.start() + range.start) as u64, reason)
    }

    #[inline(always)]
    fn is_verified(&self, block: usize) -> bool {
        self.verified[block / 64].load(Ordering::Relaxed) >> (block % 64) & 1 == 1
    }

    #[inline]
    fn verify_blocks(&self, blocks: Range<usize>) -> Result<()> {
        for block in blocks {
            if !self.is_verified(block) {
                self.verify_block(block)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn verify_block(&self, block: usize) -> Result<()> {
        self.load(block..block + 1)?;
        self.compare(block)
    }

    /// Has the system read some blocks and their checksums.
    fn load(&self, blocks: Range<usize>) -> Result<()> {
        self.map.load(self.checksums(blocks.clone()))?;
        let bytes = self.block_bytes(blocks.start).start..self.block_bytes(blocks.end - 1).end;
        // In one read, even where pages are read at random.
        self.map.will_need(bytes.clone());
        self.map.load(bytes)?;
        Ok(())
    }

    /// Compares a block, which was loaded, with its checksum.
    fn compare(&self, block: usize) -> Result<()> {
        let range = self.block_bytes(block);
        if !self.matches(block, &self.map[range.clone()]) {
            return Err(self.damaged(&range));
        }
        self.verified[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        Ok(())
    }
}

/// A view of a column for reading many elements one by one: it finds the map, and whether all blocks are
/// verified, only once.
#[derive(Debug)]
pub struct ColumnReader<'a, T> {
    column: &'a Column<T>,
    /// Verified if `is_complete`.
    elements: &'a [T],
    is_complete: bool,
}

impl<'a, T: Element> ColumnReader<'a, T> {
    /// As [`Column::at`].
    ///
    /// # Errors
    /// As [`Column::get`].
    #[inline(always)]
    pub fn at(&self, index: usize) -> Result<T> {
        match self.elements.get(index) {
            Some(&element) if self.is_complete => Ok(element),
            _ => self.column.at(index),
        }
    }

    /// As [`Column::get`].
    ///
    /// # Errors
    /// As [`Column::get`].
    #[inline(always)]
    pub fn get(&self, range: Range<usize>) -> Result<&'a [T]> {
        match self.elements.get(range.clone()) {
            Some(elements) if self.is_complete => Ok(elements),
            _ => self.column.get(range),
        }
    }

    /// As [`Column::prefetch`].
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.elements, index);
    }
}

/// Size of the file of a column; `None` if it exceeds the address space.
fn file_bytes(count: u64, width: usize) -> Option<u64> {
    let data = count.checked_mul(width as u64)?;
    let table = data.div_ceil(BLOCK_BYTES as u64).checked_mul(4)?;
    data.checked_add(table)?.checked_add(PAGE_BYTES as u64).filter(|&bytes| bytes <= isize::MAX as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::header::{ColumnKind, DatabaseId, Stamp};
    use crate::file::writer::ColumnWriter;
    use crate::io::{Disk, FaultyDisk, RealDisk};

    const SPEC: ColumnSpec =
        ColumnSpec { origin: Origin::of_import(DatabaseId([7; 16])), kind: ColumnKind::OutTargets };

    fn write(disk: &FaultyDisk, name: &str, chunks: &[&[u32]]) {
        let mut writer = ColumnWriter::create(disk, Path::new(name), SPEC).unwrap();
        for chunk in chunks {
            writer.append(chunk).unwrap();
        }
        let count = writer.finish().unwrap();
        assert_eq!(count as usize, chunks.iter().map(|chunk| chunk.len()).sum::<usize>());
    }

    fn open(disk: &FaultyDisk, name: &str) -> Result<Column<u32>> {
        Column::open(disk, Path::new(name), SPEC)
    }

    #[test]
    fn an_empty_column_is_only_a_header() {
        let disk = FaultyDisk::new(0);
        write(&disk, "c", &[]);
        let column = open(&disk, "c").unwrap();
        assert_eq!((column.len(), column.file_bytes()), (0, PAGE_BYTES as u64));
        assert_eq!(column.all(&Run::with_threads(1).unwrap()).unwrap(), [0_u32; 0]);
        assert_eq!(column.get(0..0).unwrap(), [0_u32; 0]);
        assert!(
            column.at(0).unwrap_err().to_string().contains("elements 0 to 1 were requested, but it has 0")
        );
        assert!(column.at(usize::MAX).is_err());
    }

    #[test]
    fn a_reader_verifies_what_it_reads_until_all_is_verified() {
        let disk = FaultyDisk::new(0);
        let elements: Vec<u32> = (0..40_000).collect();
        write(&disk, "c", &[&elements]);
        let (run, column) = (Run::with_threads(1).unwrap(), open(&disk, "c").unwrap());
        let expect = |reader: &ColumnReader<'_, u32>| {
            assert_eq!((reader.at(39_999).unwrap(), reader.get(5..7).unwrap()), (39_999, &elements[5..7]));
            assert!(reader.at(40_000).is_err() && reader.get(39_999..40_001).is_err());
        };
        expect(&column.reader());
        column.all(&run).unwrap();
        expect(&column.reader());
        disk.flip(Path::new("c"), (PAGE_BYTES + BLOCK_BYTES + 100) as u64, 3).unwrap();
        let damaged = open(&disk, "c").unwrap();
        assert_eq!(damaged.reader().at(7).unwrap(), 7);
        assert!(matches!(damaged.reader().at(30_000), Err(Error::Corrupt { .. })));
    }

    #[test]
    fn the_header_states_the_range_of_values_with_a_sign() {
        fn range<T: Element>(chunks: &[&[T]]) -> Option<(i64, i64)> {
            let disk = FaultyDisk::new(0);
            let mut writer = ColumnWriter::create(&disk, Path::new("c"), SPEC).unwrap();
            chunks.iter().for_each(|chunk| writer.append(chunk).unwrap());
            writer.finish().unwrap();
            let column: Column<T> = Column::open(&disk, Path::new("c"), SPEC).unwrap();
            column.expect_range(&Run::with_threads(1).unwrap()).unwrap();
            column.value_range()
        }
        assert_eq!(range(&[&[3_i64, -5], &[], &[i64::MAX]]), Some((-5, i64::MAX)));
        assert_eq!(range(&[&[7_i32]]), Some((7, 7)));
        assert_eq!(range::<i64>(&[&[]]), None);
        assert_eq!(range(&[&[7_u64]]), None);
        assert_eq!(range(&[&[7.0_f64], &[-0.25, 2.5]]), Some((-1, 7)));
        assert_eq!(range(&[&[-0.0_f32, 0.5]]), Some((0, 1)));
        assert_eq!(range(&[&[-1e300, 1e300]]), Some((i64::MIN, i64::MAX)));
        assert_eq!(range(&[&[f64::NAN], &[5.0, 7.0]]), Some((i64::MIN, i64::MAX)));
    }

    #[test]
    fn a_wrong_range_in_a_header_is_found() {
        let disk = FaultyDisk::new(0);
        let path = Path::new("c");
        let mut writer = ColumnWriter::create(&disk, path, SPEC).unwrap();
        writer.append(&[1_i64, 2, 3]).unwrap();
        writer.finish().unwrap();
        let file = disk.open(path).unwrap();
        let page = file.map().unwrap();
        let mut header: ColumnHeader =
            read_header_page_at(path, 0, page.load(0..PAGE_BYTES).unwrap(), COLUMN_MAGIC).unwrap();
        header.greatest = 4;
        disk.open_for_writing(path).unwrap().write_at(&crate::file::header::header_page(&header), 0).unwrap();
        let column: Column<i64> = Column::open(&disk, path, SPEC).unwrap();
        let found = column.expect_range(&Run::with_threads(1).unwrap()).unwrap_err().to_string();
        assert!(found.contains("states values from 1 to 4"), "{found}");
    }

    proptest! {
        #![proptest_config(crate::testing::cases(40))]
        #[test]
        fn appended_elements_read_back(lengths in prop::collection::vec(0_usize..300_000, 0..5)) {
            let values: Vec<u32> = (0..lengths.iter().sum::<usize>() as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            let mut rest = &values[..];
            let chunks: Vec<&[u32]> = lengths.iter().map(|&length| {
                let (now, later) = rest.split_at(length);
                rest = later;
                now
            }).collect();
            let disk = FaultyDisk::new(0);
            write(&disk, "c", &chunks);
            let column = open(&disk, "c").unwrap();
            let middle = values.len() / 3..values.len() / 2;
            prop_assert_eq!(column.get(middle.clone()).unwrap(), &values[middle]);
            prop_assert_eq!(column.all(&Run::with_threads(2).unwrap()).unwrap(), &values[..]);
        }

        #[test]
        fn the_file_depends_neither_on_the_buffer_nor_on_how_elements_are_appended(
            count in 0_usize..100_000, chunk in 1_usize..50_000, blocks in 1_usize..4,
        ) {
            let values: Vec<u32> = (0..count as u32).map(|i| i ^ 0x5555).collect();
            let (disk, other) = (FaultyDisk::new(0), FaultyDisk::new(0));
            write(&other, "c", &[&values]);
            let path = Path::new("c");
            let mut writer = ColumnWriter::create_buffered(&disk, path, SPEC, blocks * BLOCK_BYTES - 1).unwrap();
            values.chunks(chunk).try_for_each(|chunk| writer.append(chunk)).unwrap();
            prop_assert_eq!(writer.finish().unwrap(), count as u64);
            prop_assert_eq!(disk.read(path).unwrap(), other.read(path).unwrap());
        }
    }

    /// Files of the same kind and length could be exchanged unnoticed.
    #[test]
    fn a_column_in_the_place_of_another_is_an_error() {
        let disk = FaultyDisk::new(0);
        for directory in ["layers", "layers/7", "layers/8"] {
            disk.create_directory(Path::new(directory)).unwrap();
        }
        for other in ["layers/8/out.property.0", "layers/7/out.property.1"] {
            write(&disk, "layers/7/out.property.0", &[&[1, 2, 3]]);
            open(&disk, "layers/7/out.property.0").unwrap();
            disk.rename(Path::new("layers/7/out.property.0"), Path::new(other)).unwrap();
            let message = open(&disk, other).unwrap_err().to_string();
            let expected = format!(
                "{other} is damaged at byte 0: it was written for another layer, or under another name"
            );
            assert!(message.starts_with(&expected), "{message}");
        }
    }

    #[test]
    fn opening_another_column_fails() {
        let disk = FaultyDisk::new(0);
        write(&disk, "c", &[&[1, 2, 3]]);
        let path = Path::new("c");
        let message = |error: Error| error.to_string();
        let other = ColumnSpec { origin: Origin::of_import(DatabaseId([8; 16])), ..SPEC };
        assert!(
            message(Column::<u32>::open(&disk, path, other).unwrap_err())
                .contains("belongs to database 0707")
        );
        // A copy of the database that took another course has files of the same names.
        let other = ColumnSpec { origin: Origin { stamp: Stamp([9; 16]), ..SPEC.origin }, ..SPEC };
        assert!(
            message(Column::<u32>::open(&disk, path, other).unwrap_err()).contains("took another course")
        );
        let other = ColumnSpec { kind: ColumnKind::InTargets, ..SPEC };
        assert!(
            message(Column::<u32>::open(&disk, path, other).unwrap_err())
                .contains("a column of OutTargets, not InTargets")
        );
        assert!(
            message(Column::<u64>::open(&disk, path, SPEC).unwrap_err())
                .contains("its elements are u32, not u64")
        );
    }

    #[test]
    fn opening_detects_truncation_to_any_length() {
        let disk = FaultyDisk::new(0);
        write(&disk, "c", &[&[9; 100]]);
        let whole = disk.look(Path::new("c")).unwrap().unwrap().bytes;
        for bytes in (0..whole).rev() {
            disk.truncate(Path::new("c"), bytes).unwrap();
            match open(&disk, "c").unwrap_err() {
                Error::Corrupt { path, offset, .. } => {
                    assert_eq!((path.as_path(), offset), (Path::new("c"), bytes));
                }
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_an_error_with_file_and_offset() {
        let disk = FaultyDisk::new(0);
        let values: Vec<u32> = (0..20_000).collect();
        write(&disk, "c", &[&values]);
        let run = Run::with_threads(1).unwrap();
        let bytes = disk.look(Path::new("c")).unwrap().unwrap().bytes;
        for offset in
            (0..PAGE_BYTES as u64).chain((PAGE_BYTES as u64..bytes - 8).step_by(977)).chain(bytes - 8..bytes)
        {
            disk.flip(Path::new("c"), offset, (offset % 8) as u8).unwrap();
            let outcome = open(&disk, "c").and_then(|column| {
                // Point reads of the undamaged blocks still work.
                let _ = column.at(0);
                column.all(&run).map(<[u32]>::len)
            });
            match outcome.unwrap_err() {
                Error::Corrupt { path, offset: reported, .. } => {
                    assert_eq!(path.as_path(), Path::new("c"));
                    assert!(
                        offset < PAGE_BYTES as u64 || reported >= PAGE_BYTES as u64,
                        "{reported} for {offset}"
                    );
                }
                other => panic!("{other}"),
            }
            disk.flip(Path::new("c"), offset, (offset % 8) as u8).unwrap();
        }
        assert_eq!(open(&disk, "c").unwrap().all(&run).unwrap(), values);
    }

    #[test]
    fn a_point_read_verifies_only_the_blocks_it_touches() {
        let disk = FaultyDisk::new(0);
        let values: Vec<u32> = (0..40_000).collect();
        write(&disk, "c", &[&values]);
        disk.flip(Path::new("c"), (PAGE_BYTES + BLOCK_BYTES + 5) as u64, 3).unwrap();
        let column = open(&disk, "c").unwrap();
        assert_eq!(column.at(3).unwrap(), 3);
        assert_eq!(column.at(39_999).unwrap(), 39_999);
        let message = column.get(10_000..20_000).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("c is damaged at byte {}: the checksum", PAGE_BYTES + BLOCK_BYTES)),
            "{message}"
        );
        assert_eq!(column.if_complete(), None);
    }

    /// All that can go wrong at a byte of the column `c` of 20,000 elements, which has two blocks.
    fn read_all(disk: &FaultyDisk) -> Result<()> {
        let column = open(disk, "c")?;
        column.at(0)?;
        column.all(&Run::with_threads(2).unwrap()).map(drop)
    }

    #[test]
    fn a_sector_that_cannot_be_read_is_an_error_that_names_the_file() {
        for page in 0..21 {
            let disk = FaultyDisk::new(0);
            write(&disk, "c", &[&[7; 20_000]]);
            read_all(&disk).unwrap();
            disk.break_page(Path::new("c"), page * 4096).unwrap();
            let error = read_all(&disk).unwrap_err();
            assert!(matches!(error, Error::Io { action: "read", .. }), "page {page}: {error}");
            assert!(error.to_string().starts_with("cannot read c: "), "{error}");
        }
    }

    #[test]
    fn a_file_cut_short_after_it_was_opened_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c");
        for bytes in [0, 1, 4096, 70_000] {
            let mut writer = ColumnWriter::create(&RealDisk, &path, SPEC).unwrap();
            writer.append(&[7_u32; 20_000]).unwrap();
            writer.finish().unwrap();
            let column = Column::<u32>::open(&RealDisk, &path, SPEC).unwrap();
            RealDisk.open_for_writing(&path).unwrap().set_length(bytes).unwrap();
            for error in
                [column.at(19_999).unwrap_err(), column.all(&Run::with_threads(2).unwrap()).unwrap_err()]
            {
                assert!(error.to_string().contains("cut short"), "{error}");
            }
            RealDisk.remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_column_outlives_the_name_of_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c");
        let faulty = FaultyDisk::new(0);
        for (disk, path) in [(&RealDisk as &dyn Disk, path.as_path()), (&faulty, Path::new("c"))] {
            let write = |value: u32| {
                let mut writer = ColumnWriter::create(disk, path, SPEC).unwrap();
                writer.append(&[value; 20_000]).unwrap();
                writer.finish().unwrap();
            };
            let read = |column: &Column<u32>| {
                let mut bytes = [0; 8192];
                column.open_direct(disk).unwrap().read_exact_at(&mut bytes, column.first_byte()).unwrap();
                bytemuck::pod_read_unaligned::<[u32; 2048]>(&bytes)
            };
            write(7);
            let column = Column::<u32>::open(disk, path, SPEC).unwrap();
            assert_eq!(read(&column), [7; 2048]);
            disk.remove_file(path).unwrap();
            assert_eq!(read(&column), [7; 2048]);
            write(8);
            assert_eq!(read(&column), [7; 2048], "another file has the name now");
            assert_eq!(column.at(19_999).unwrap(), 7);
        }
    }
}
