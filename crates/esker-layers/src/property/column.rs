//! The changes that one layer makes to a vertex property: sorted by vertex, those of one vertex by version.
//!
//! Size: 8 bytes an entry (12 with `id64`) and the value, or 8 bytes and the text.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use esker_format::{Column, Element, ElementType, Error, Result, Values, Widening, lower_bound};
use esker_graph::{Run, VertexId};

use super::files::{PropertyFile, PropertyFiles};
use super::value::PropertyValue;
use super::vector::VectorValue;

/// In a code: the value was taken away.
pub(super) const UNSET: u32 = 1 << 31;

/// A vertex got a value, or lost it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PropertyChange<'a> {
    /// The vertex.
    pub vertex: VertexId,
    /// The code, in the layer, of the version that changed it.
    pub code: u32,
    /// The value from then on.
    pub value: Option<PropertyValue<'a>>,
}

/// The changes of a property in one layer, mapped.
#[derive(Debug)]
pub struct PropertyColumn {
    vertices: Column<VertexId>,
    codes: Column<u32>,
    stored: Stored,
}

/// The changes of a property in a layer, and how many of them a version sees.
#[derive(Debug, Clone)]
pub struct PropertyLayer {
    /// The changes.
    pub column: Arc<PropertyColumn>,
    /// Changes with a code of at most this are seen. `u32::MAX`: all.
    pub rank: u32,
}

/// How the vectors of a property are stored.
#[derive(Debug, Clone, Copy)]
struct Vectors {
    bytes: usize,
    is_wide: bool,
}

#[derive(Debug)]
enum Stored {
    Fixed(Values),
    /// Texts, or the bytes of vectors.
    Texts {
        texts: Column<u8>,
        ends: Column<u64>,
        vectors: Option<Vectors>,
    },
}

impl PropertyColumn {
    /// Maps the files of a property.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if they are not what is expected.
    pub fn open(files: &PropertyFiles<'_>) -> Result<Self> {
        let vertices: Column<VertexId> = files.open(PropertyFile::Vertices)?;
        let codes = files.open(PropertyFile::Codes)?;
        codes.expect_len(vertices.len() as u64)?;
        let stored = if files.record.holds_bytes() {
            let (texts, ends) = (files.open(PropertyFile::Texts)?, files.open::<u64>(PropertyFile::Ends)?);
            ends.expect_len(vertices.len() as u64)?;
            let is_wide = files.record.element == ElementType::F64;
            let vectors = files.record.vector_bytes().map(|bytes| Vectors { bytes, is_wide });
            Stored::Texts { texts, ends, vectors }
        } else {
            let values = files.open_values()?;
            values.expect_len(vertices.len() as u64)?;
            Stored::Fixed(values)
        };
        Ok(Self { vertices, codes, stored })
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// The last change of `v` with a code of at most `rank`. `None`: the layer says nothing, ask the next
    /// older one.
    ///
    /// Cost: where changes are spread evenly over vertices, or every vertex has one, a handful of reads.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(crate) fn change_of(&self, v: VertexId, rank: u32) -> Result<Option<PropertyChange<'_>>> {
        let Some(guess) = self.guess(v)? else { return Ok(None) };
        let after = lower_bound(self.len(), guess, |at| {
            Ok(match self.vertices.at(at)?.cmp(&v) {
                Ordering::Less => true,
                Ordering::Greater => false,
                Ordering::Equal => self.codes.at(at)? & !UNSET <= rank,
            })
        })?;
        let Some(last) = after.checked_sub(1) else { return Ok(None) };
        if self.vertices.at(last)? != v {
            return Ok(None);
        }
        self.change(last).map(Some)
    }

    /// About where the changes of `v` are; `None` if there cannot be any.
    fn guess(&self, v: VertexId) -> Result<Option<usize>> {
        let Some(end) = self.len().checked_sub(1) else { return Ok(None) };
        let (first, last) = (self.vertices.at(0)?, self.vertices.at(end)?);
        if v < first || v > last {
            return Ok(None);
        }
        let (place, span) = ((v - first) as usize as u128, ((last - first) as usize as u128).max(1));
        // The change sought precedes the place that a search finds.
        Ok(Some((place * end as u128 / span) as usize + 1))
    }

    /// The change at a position.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn change(&self, at: usize) -> Result<PropertyChange<'_>> {
        let code = self.codes.at(at)?;
        let value = if code & UNSET == 0 { Some(self.value(at)?) } else { None };
        Ok(PropertyChange { vertex: self.vertices.at(at)?, code: code & !UNSET, value })
    }

    /// All changes in order.
    pub fn changes(&self) -> impl Iterator<Item = Result<PropertyChange<'_>>> {
        (0..self.len()).map(|at| self.change(at))
    }

    pub(super) fn value(&self, at: usize) -> Result<PropertyValue<'_>> {
        match &self.stored {
            Stored::Fixed(values) => Ok(PropertyValue::from_bits(values.element(), values.bits_at(at)?)),
            Stored::Texts { texts, ends, vectors } => {
                let end = ends.at(at)?;
                let start = at.checked_sub(1).map_or(Ok(0), |before| ends.at(before))?;
                let bytes = texts.get(start as usize..end as usize)?;
                match vectors {
                    None => Ok(PropertyValue::Text(bytes)),
                    Some(vectors) if vectors.bytes == bytes.len() => {
                        Ok(PropertyValue::Vector(VectorValue::new(bytes, vectors.is_wide)))
                    }
                    Some(vectors) => {
                        let reason = format!("a vector of {} bytes, not {}", bytes.len(), vectors.bytes);
                        Err(ends.corrupt(at, reason))
                    }
                }
            }
        }
    }

    /// All vertices and codes (with the mark), verified.
    pub(super) fn places(&self, run: &Run) -> Result<(&[VertexId], &[u32])> {
        Ok((self.vertices.all(run)?, self.codes.all(run)?))
    }

    /// All values, verified. Those of a narrower type are converted, which takes memory for all of them.
    pub(super) fn values<T: Element>(&self, run: &Run) -> Result<Cow<'_, [T]>> {
        let Stored::Fixed(values) = &self.stored else {
            return Err(Error::invalid(format!("the property holds texts, not {}", T::TYPE.name())));
        };
        let wrong = || {
            let found = values.element().name();
            Error::invalid(format!("the property holds {found}, not {}", T::TYPE.name()))
        };
        if let Some(column) = values.typed::<T>() {
            return column.all(run).map(Cow::Borrowed);
        }
        let widening = Widening { property: 0, from: values.element(), to: T::TYPE, optional: false };
        if !Widening::is_possible(widening.from, widening.to) {
            return Err(wrong());
        }
        let all = values.all(run)?;
        let wide = |at| {
            let bits = all.bits_at(at);
            let bits = widening.bits(bits).ok_or_else(|| widening.too_wide(bits))?;
            Ok(bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<T>()]))
        };
        (0..values.len()).map(wide).collect::<Result<Vec<T>>>().map(Cow::Owned)
    }

    /// An error about the order of the change at `at`.
    #[cold]
    pub(super) fn out_of_order(&self, at: usize) -> Error {
        self.vertices.corrupt(at, "changes do not ascend by vertex and version")
    }

    /// Verifies checksums, that changes ascend, that they are of the vertices `0..num_vertices`, and that no
    /// code is beyond `last_code`.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn verify(&self, num_vertices: usize, last_code: u32, run: &Run) -> Result<()> {
        let (vertices, codes) = self.places(run)?;
        let key = |at: usize| (vertices[at], codes[at] & !UNSET);
        if let Some(at) = (1..self.len()).find(|&at| key(at - 1) >= key(at)) {
            return Err(self.out_of_order(at));
        }
        if let Some(at) = codes.iter().position(|code| code & !UNSET > last_code) {
            let reason = format!(
                "code {} in a layer of {}",
                codes[at] & !UNSET,
                esker_graph::counted(last_code, "version", "versions")
            );
            return Err(self.codes.corrupt(at, reason));
        }
        if let Some(&last) = vertices.last().filter(|&&last| last as usize >= num_vertices) {
            let reason = format!(
                "vertex {last} in a graph of {}",
                esker_graph::counted(num_vertices, "vertex", "vertices")
            );
            return Err(self.vertices.corrupt(self.len() - 1, reason));
        }
        match &self.stored {
            Stored::Fixed(values) => values.verify(run),
            Stored::Texts { texts, ends, vectors } => {
                if vectors.is_some() {
                    let set = (0..self.len()).filter(|&at| codes[at] & UNSET == 0);
                    set.map(|at| self.value(at)).try_for_each(|value| value.map(drop))?;
                }
                let (texts, all) = (texts.all(run)?, ends.all(run)?);
                let total = all.last().copied().unwrap_or(0);
                if all.is_sorted() && total == texts.len() as u64 {
                    return Ok(());
                }
                Err(ends.corrupt(0, format!("the ends of texts do not ascend to {}", texts.len())))
            }
        }
    }
}
