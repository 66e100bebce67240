//! The id map of a version, for reading.

use std::ops::Range;
use std::sync::Arc;

use esker_format::value::decimal::{self, NotId};
use esker_format::{Error, IdMapKind, Result, Sought};
use esker_graph::{Run, VertexId};

use super::base::BaseMap;
use super::external::ExternalId;
use super::files::IdFiles;
use super::hash::IdHasher;
use super::index::GROUP_LEN;
use super::segment::{IdSegment, check_adjacent};
use super::suggest::suggest;

/// With one look-up for this many vertices, verifying a map at once takes less time than asking for the block
/// of each access.
const VERTICES_PER_LOOKUP: usize = 16;

/// The map between external ids and vertices: the map of the import, and a segment for each layer that added
/// vertices. Its files are mapped, not loaded; a look-up verifies the blocks that it touches.
///
/// A map holds only the vertices of its version, not those that later versions added. Clones share files.
#[derive(Debug, Clone)]
pub struct IdMap {
    num_vertices: usize,
    base: Arc<BaseMap>,
    hasher: IdHasher,
    /// The segments with vertices of this map, in order.
    segments: Arc<[Arc<IdSegment>]>,
}

impl IdMap {
    /// The map of the ids `base..base + num_vertices` in order of vertex. It has no files.
    pub fn identity(base: u64, num_vertices: usize, hasher: IdHasher) -> Self {
        Self::from_base(BaseMap::identity(base, num_vertices), hasher)
    }

    /// A map of no ids, of texts or integers: segments of layers hold all.
    pub fn in_layers(texts: bool, hasher: IdHasher) -> Self {
        Self::from_base(BaseMap::empty(texts), hasher)
    }

    /// Opens the map of the imported vertices, as the manifest describes it. `base` applies to dense integers
    /// only.
    ///
    /// # Errors
    /// If a file is missing, has a damaged header, or is for another number of vertices.
    pub fn open(files: &IdFiles<'_>, kind: IdMapKind, base: u64, num_vertices: usize) -> Result<Self> {
        Ok(Self::from_base(BaseMap::open(files, kind, base, num_vertices)?, files.hasher))
    }

    fn from_base(base: BaseMap, hasher: IdHasher) -> Self {
        Self { num_vertices: base.num_vertices, base: Arc::new(base), hasher, segments: Arc::new([]) }
    }

    /// The map of a version with `num_vertices`: the same import with these segments, oldest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] if segments are not adjacent, are of another kind than the base, or end before
    /// `num_vertices`.
    pub fn with_segments(
        &self,
        segments: impl IntoIterator<Item = Arc<IdSegment>>,
        num_vertices: usize,
    ) -> Result<Self> {
        let has_any = |segment: &Arc<IdSegment>| !segment.is_empty() && segment.first() < num_vertices;
        let segments: Vec<_> = segments.into_iter().filter(has_any).collect();
        check_adjacent(&segments, self.base.is_text())?;
        let first = segments.first().map_or(self.base.num_vertices, |segment| segment.first());
        let end = segments.last().map_or(first, |segment| segment.first() + segment.len());
        if first != self.base.num_vertices || end < num_vertices {
            return Err(Error::invalid(format!(
                "there are ids for {} and for vertices {first} to {end}, but the version has {}",
                esker_graph::counted(self.base.num_vertices, "imported vertex", "imported vertices"),
                esker_graph::counted(num_vertices, "vertex", "vertices")
            )));
        }
        let (base, hasher) = (Arc::clone(&self.base), self.hasher);
        Ok(Self { num_vertices, base, hasher, segments: segments.into() })
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// The hash of the ids.
    pub fn hasher(&self) -> IdHasher {
        self.hasher
    }

    /// Whether the ids are texts; else they are integers.
    pub fn is_text(&self) -> bool {
        self.base.is_text()
    }

    /// The base, if the ids are exactly the integers `base..base + n`, in any order. Ids added
    /// after the import always count as sparse.
    pub fn dense_base(&self) -> Option<u64> {
        self.base.dense_base().filter(|_| self.num_vertices == self.base.num_vertices)
    }

    /// The vertex with an id, if there is one. Integers and texts are never equal; [`IdMap::find`] converts
    /// user input to the kind of this map.
    ///
    /// Expected cost: verifies at most four blocks of 64 KiB, if they are not verified yet; for an id that is
    /// not of an imported vertex, also reads one word of each segment.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a touched block is damaged.
    pub fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        if self.is_text() != matches!(id, ExternalId::Text(_)) {
            return Ok(None);
        }
        let mut found = self.base.vertex_of(id, &self.hasher)?;
        if found.is_none() && !self.segments.is_empty() {
            let hash = self.hasher.id(id);
            for segment in self.segments.iter().rev() {
                found = segment.vertex_of(id, hash)?;
                if found.is_some() {
                    break;
                }
            }
        }
        Ok(found.filter(|&v| (v as usize) < self.num_vertices))
    }

    /// Verifies the whole map if `count` look-ups, which follow, are enough to pay for it. They then skip the
    /// check of each block. A block that is damaged ends it, whether or not they would read it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a block is damaged; cancellation.
    pub fn expect_lookups(&self, count: usize, run: &Run) -> Result<()> {
        if count < self.num_vertices / VERTICES_PER_LOOKUP {
            return Ok(());
        }
        self.base.verify(run)?;
        self.segments.iter().try_for_each(|segment| segment.verify(run))
    }

    /// [`IdMap::vertex_of`] for many ids: the processor waits for the memory of several ids at a time.
    ///
    /// # Errors
    /// As [`IdMap::vertex_of`].
    pub fn vertices_of(&self, ids: &[ExternalId<'_>], found: &mut [Option<VertexId>]) -> Result<()> {
        for (ids, found) in ids.chunks(GROUP_LEN).zip(found.chunks_mut(GROUP_LEN)) {
            self.base.vertices_of(ids, &self.hasher, found)?;
            if !self.segments.is_empty() && found.iter().any(Option::is_none) {
                let mut hashes = [0; GROUP_LEN];
                hashes.iter_mut().zip(ids).for_each(|(hash, &id)| *hash = self.hasher.id(id));
                for segment in self.segments.iter().rev() {
                    segment.vertices_of(ids, &hashes, found)?;
                }
            }
            found.iter_mut().for_each(|found| *found = found.filter(|&v| (v as usize) < self.num_vertices));
        }
        Ok(())
    }

    /// The id of a vertex.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a touched block is damaged; [`Error::Invalid`] if there is no such vertex.
    #[inline]
    pub fn external_of(&self, v: VertexId) -> Result<ExternalId<'_>> {
        let index = v as usize;
        if index >= self.num_vertices {
            return Err(self.no_vertex(index));
        }
        if index < self.base.num_vertices {
            return self.base.external_of(v);
        }
        let next = self.segments.partition_point(|segment| segment.first() <= index);
        self.segments[next - 1].external_of(v)
    }

    /// Calls `take` with the ids of a range of vertices, in order.
    ///
    /// Expected cost: a few nanoseconds an id, where [`IdMap::external_of`] takes 35.
    ///
    /// # Errors
    /// As [`IdMap::external_of`]; that of `take`.
    pub fn each_external<'a>(
        &'a self,
        range: Range<usize>,
        mut take: impl FnMut(ExternalId<'a>) -> Result<()>,
    ) -> Result<()> {
        if range.end > self.num_vertices {
            return Err(self.no_vertex(range.end - 1));
        }
        self.base.each_external(range.clone(), &mut take)?;
        self.segments.iter().try_for_each(|segment| segment.each_external(range.clone(), &mut take))
    }

    #[cold]
    fn no_vertex(&self, index: usize) -> Error {
        Error::invalid(format!(
            "there is no vertex {index}: the graph has {}",
            esker_graph::counted(self.num_vertices, "vertex", "vertices")
        ))
    }

    /// Parses user input as an id of this map's kind.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the text is no id of this kind.
    pub fn parse<'a>(&self, text: &'a [u8]) -> Result<ExternalId<'a>> {
        ExternalId::parse(text, self.is_text()).or_else(|why| {
            let (shown, remedy) = (decimal::shown(text), self.describe());
            Err(Error::invalid(match why {
                // No vertex has a longer id: the lookup says so, as of any other unknown id.
                NotId::Long if self.is_text() => return Ok(ExternalId::Text(text)),
                NotId::Other => format!("{shown:?} is not an id: {remedy}"),
                why => format!("{shown:?} is not an id, as it {}: {remedy}", why.reason()),
            }))
        })
    }

    /// The vertex whose id is given as user input.
    ///
    /// # Errors
    /// [`Error::NotFound`] with a suggestion; [`Error::Invalid`] if the text is no id of this kind;
    /// [`Error::Corrupt`] as [`IdMap::vertex_of`].
    pub fn find(&self, text: &str) -> Result<VertexId> {
        let id = self.parse(text.as_bytes())?;
        match self.vertex_of(id)? {
            Some(v) => Ok(v),
            None => {
                let exists = |other: &str| Ok(self.vertex_of(ExternalId::from(other))?.is_some());
                let near = if self.is_text() && !decimal::is_too_long(text.as_bytes()) {
                    suggest(text, exists)?
                } else {
                    None
                };
                let remedy = match near {
                    Some(other) => format!("did you mean {other:?}?"),
                    None => self.describe(),
                };
                let shown = decimal::shown(text.as_bytes());
                Err(Error::not_found(Sought::Vertex, format!("no vertex has the id {shown:?}: {remedy}")))
            }
        }
    }

    /// A short description of the ids, for messages.
    fn describe(&self) -> String {
        let Some(last) = self.num_vertices.checked_sub(1) else {
            return "this graph has no vertices".to_owned();
        };
        let form = if self.is_text() { "texts" } else { "integers" };
        match (self.dense_base(), self.external_of(0)) {
            (Some(base), _) => {
                format!(
                    "the ids of this graph are the integers {base} to {}",
                    base.saturating_add(last as u64)
                )
            }
            (_, Ok(first)) => format!("the ids of this graph are {form} such as {:?}", first.to_string()),
            (_, Err(_)) => format!("the ids of this graph are {form}"),
        }
    }
}
