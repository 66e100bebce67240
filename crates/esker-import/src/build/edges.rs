//! The edges of an import as pairs of vertices with words of properties beside them, block by block.

use esker_format::{ElementType, Error, LogicalType, PropertyType, Result, missing_bits};
use esker_graph::{Reservation, VertexId};

use crate::build::gather::{GatheredInput, RawEnds};
use crate::build::texts::{PropertyTexts, RankedTexts, SortedTexts};
use crate::build::values::{ValueLayout, words as words_of};
use crate::keys::Keys;
use crate::options::Duplicates;
use crate::read::source::{Schema, id_column};
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;
use crate::text::beside_fractions;

/// All edges, to be read by any number of threads.
pub(crate) struct Edges {
    gathered: GatheredInput,
    /// Index of the first edge of each block.
    starts: Vec<u64>,
    /// What is subtracted from each id as the input has it.
    base: u64,
    /// Pairs that replace the ids of the input.
    numbered: Option<Spool<[VertexId; 2]>>,
    pub(crate) num_vertices: u64,
    pub(crate) layouts: Vec<ValueLayout>,
    /// Words of 32 bits beside each edge.
    pub(crate) words: usize,
    /// For each property, its texts in order of their codes.
    pub(crate) dictionaries: Vec<SortedTexts>,
    /// For the ranks of the codes.
    _ranks: Vec<Reservation>,
}

/// Room for the edges of a block.
#[derive(Default)]
pub(crate) struct EdgeBuffer {
    narrow: Vec<[u32; 2]>,
    wide: Vec<[u64; 2]>,
    pairs: Vec<[VertexId; 2]>,
    /// The properties of the block after [`Edges::read_words`].
    pub(crate) words: Vec<u32>,
}

impl Edges {
    /// Edges whose ids are `base..base + num_vertices`, or are replaced by `numbered`.
    pub(crate) fn new(
        work: &Workspace,
        mut gathered: GatheredInput,
        schema: &Schema,
        duplicates: Duplicates,
        base: u64,
        num_vertices: u64,
        numbered: Option<Spool<[VertexId; 2]>>,
    ) -> Result<Self> {
        if num_vertices > u64::from(esker_graph::NONE) {
            return Err(Error::invalid(format!(
                "the graph has {num_vertices} vertices, and this build holds {} at most: use a build with 64-bit ids",
                esker_graph::NONE
            )));
        }
        let rank_bytes = gathered.texts.iter().map(PropertyTexts::rank_bytes).sum::<u64>();
        gathered.make_room(|| rank_bytes <= work.budget.free_bytes())?;
        let mut layouts = Vec::new();
        let (mut dictionaries, mut reserved) = (Vec::new(), Vec::new());
        let mut words = 0;
        for (i, range) in gathered.ranges.iter().enumerate() {
            let RankedTexts { texts: dictionary, ranks, memory } = gathered.texts[i].take_ranked()?;
            reserved.push(memory);
            let name = &schema.properties[i];
            let narrowest = range.element(name, schema.declared(i), dictionary.len());
            let narrowest = narrowest.map_err(|error| match gathered.wide.get(&i) {
                Some(wide) if range.is_mixed() => Error::Input {
                    path: wide.path.to_path_buf(),
                    line: Some(wide.line),
                    text: String::new(),
                    reason: beside_fractions(name, wide.value, "other lines"),
                },
                _ => error,
            })?;
            let carried = match duplicates {
                Duplicates::Sum if schema.weight == Some(i) => for_sums(narrowest, name)?,
                Duplicates::Min | Duplicates::Max if schema.weight == Some(i) => {
                    expect_number(narrowest, name)?
                }
                _ => narrowest,
            };
            let missing = missing_bits(carried, &range.logical(schema.declared(i))).filter(|_| range.missing);
            layouts.push(ValueLayout { carried, word: words, ranks, optional: range.missing, missing });
            words += words_of(carried);
            dictionaries.push(dictionary);
        }
        let mut starts = vec![0];
        starts.extend(gathered.blocks.iter().scan(0, |sum, block| {
            *sum += block.len as u64;
            Some(*sum)
        }));
        Ok(Self {
            gathered,
            starts,
            base,
            numbered,
            num_vertices,
            layouts,
            words,
            dictionaries,
            _ranks: reserved,
        })
    }

    /// Of each property, whether edges are without a value.
    pub(crate) fn optional(&self) -> Vec<bool> {
        self.layouts.iter().map(|layout| layout.optional).collect()
    }

    /// The id of the vertex with number 0, unless a map has the ids.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn num_blocks(&self) -> usize {
        self.gathered.blocks.len()
    }

    pub(crate) fn num_edges(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Index of the first edge of block `index`.
    pub(crate) fn block_start(&self, index: usize) -> u64 {
        self.starts[index]
    }

    /// Number of edges of block `index`.
    pub(crate) fn block_len(&self, index: usize) -> usize {
        self.gathered.blocks[index].len
    }

    /// The longest block.
    pub(crate) fn block_len_max(&self) -> usize {
        self.gathered.blocks.iter().map(|block| block.len).max().unwrap_or(0)
    }

    /// Moves the ends of edges from memory to the disk, until there is room enough.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub(crate) fn make_room(&mut self, is_enough: impl Fn() -> bool) -> Result<()> {
        self.gathered.make_room(&is_enough)?;
        match &mut self.numbered {
            Some(numbered) => numbered.make_room(is_enough),
            None => Ok(()),
        }
    }

    /// Puts other pairs in place of the ids that the edges had.
    pub(crate) fn renumber(&mut self, numbered: Spool<[VertexId; 2]>) {
        self.numbered = Some(numbered);
        for block in &mut self.gathered.blocks {
            block.ends = RawEnds::Elsewhere;
        }
    }

    /// Calls `visit` with the two ends of each edge of block `index`, in order.
    #[inline(always)]
    pub(crate) fn for_each(
        &self,
        index: usize,
        buffer: &mut EdgeBuffer,
        mut visit: impl FnMut(VertexId, VertexId) -> Result<()>,
    ) -> Result<()> {
        let block = &self.gathered.blocks[index];
        let base = self.base;
        match (&self.numbered, &block.ends) {
            (Some(numbered), _) => {
                numbered.read_range(self.starts[index], block.len, &mut buffer.pairs)?;
                buffer.pairs.iter().try_for_each(|&[u, v]| visit(u, v))
            }
            (None, RawEnds::Narrow(chunk)) => {
                let base = base as u32;
                let pairs = self.gathered.shelf.get(chunk, &mut buffer.narrow)?;
                pairs.iter().try_for_each(|&[u, v]| visit(VertexId::from(u - base), VertexId::from(v - base)))
            }
            (None, RawEnds::Wide(chunk)) => {
                let pairs = self.gathered.shelf.get(chunk, &mut buffer.wide)?;
                pairs.iter().try_for_each(|&[u, v]| visit((u - base) as VertexId, (v - base) as VertexId))
            }
            (None, RawEnds::Elsewhere) => Err(not_numbered()),
        }
    }

    /// The ends of all edges of block `index`, as `renumbered` has them.
    pub(crate) fn pairs<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut EdgeBuffer,
        renumbered: Option<&[VertexId]>,
    ) -> Result<&'a [[VertexId; 2]]> {
        let block = &self.gathered.blocks[index];
        let shelf = &self.gathered.shelf;
        let EdgeBuffer { narrow, wide, pairs, .. } = buffer;
        // A loop of its own, so that many of the random accesses are under way at the same time.
        let last = |v: VertexId| match renumbered {
            Some(renumbered) => renumbered[v as usize],
            None => v,
        };
        match (&self.numbered, &block.ends) {
            (Some(numbered), _) => {
                numbered.read_range(self.starts[index], block.len, pairs)?;
                pairs.iter_mut().for_each(|pair| *pair = pair.map(last));
            }
            (None, RawEnds::Narrow(chunk)) => {
                let base = self.base as u32;
                pairs.clear();
                pairs.extend(
                    shelf
                        .get(chunk, narrow)?
                        .iter()
                        .map(|pair| pair.map(|id| last(VertexId::from(id - base)))),
                );
            }
            (None, RawEnds::Wide(chunk)) => {
                pairs.clear();
                pairs.extend(
                    shelf
                        .get(chunk, wide)?
                        .iter()
                        .map(|pair| pair.map(|id| last((id - self.base) as VertexId))),
                );
            }
            (None, RawEnds::Elsewhere) => return Err(not_numbered()),
        }
        Ok(pairs)
    }

    /// The two ends of edge `at` of block `index`.
    pub(crate) fn pair(&self, index: usize, at: usize) -> Result<[VertexId; 2]> {
        let shelf = &self.gathered.shelf;
        let base = self.base;
        match (&self.numbered, &self.gathered.blocks[index].ends) {
            (Some(numbered), _) => {
                let mut one = Vec::new();
                numbered.read_range(self.starts[index] + at as u64, 1, &mut one)?;
                Ok(one[0])
            }
            (None, RawEnds::Narrow(chunk)) => {
                let mut one = Vec::new();
                shelf.get_range(chunk, at, 1, &mut one)?;
                Ok(one[0].map(|id| (u64::from(id) - base) as VertexId))
            }
            (None, RawEnds::Wide(chunk)) => {
                let mut one = Vec::new();
                shelf.get_range(chunk, at, 1, &mut one)?;
                Ok(one[0].map(|id| (id - base) as VertexId))
            }
            (None, RawEnds::Elsewhere) => Err(not_numbered()),
        }
    }

    /// Fills `buffer.words` with the properties of block `index`.
    pub(crate) fn read_words(&self, index: usize, buffer: &mut EdgeBuffer) -> Result<()> {
        let block = &self.gathered.blocks[index];
        buffer.words.resize(block.len * self.words, 0);
        for (layout, values) in self.layouts.iter().zip(&block.values) {
            if block.len > 0 {
                layout.fill(&self.gathered.shelf, values, &mut buffer.words, self.words)?;
            }
        }
        Ok(())
    }

    /// Gives back the room that the ends of block `index` take on the disk: they will not be read again.
    pub(crate) fn discard(&self, index: usize) {
        match &self.gathered.blocks[index].ends {
            RawEnds::Narrow(chunk) => self.gathered.shelf.discard(chunk),
            RawEnds::Wide(chunk) => self.gathered.shelf.discard(chunk),
            RawEnds::Elsewhere => {}
        }
    }

    /// Memory that one thread needs to read a block.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        (self.block_len_max() * (16 + 8 + 4 * self.words)) as u64
    }

    /// Frees what was read, once it will not be read again.
    pub(crate) fn into_rejected(self) -> (u64, Vec<crate::read::source::Rejected>) {
        (self.gathered.rejected, self.gathered.rejected_sample)
    }
}

fn not_numbered() -> Error {
    Error::invalid("the edges of a block were not numbered".to_owned())
}

/// The type in which weights are added.
fn for_sums(narrowest: ElementType, name: &str) -> Result<ElementType> {
    expect_number(narrowest, name)?;
    let is_integer = matches!(narrowest, ElementType::I32 | ElementType::I64);
    Ok(if is_integer { ElementType::I64 } else { ElementType::F64 })
}

fn expect_number(found: ElementType, name: &str) -> Result<ElementType> {
    match found {
        ElementType::U8 | ElementType::U16 => Err(Error::invalid(format!(
            "the weight {name:?} is a text, which can be neither added nor compared: choose another weight, or another rule for duplicates"
        ))),
        number => Ok(number),
    }
}

/// Refuses ids of edges, which no input gives.
pub(crate) fn check_types(schema: &Schema) -> Result<()> {
    let is_id =
        |found: &Option<PropertyType>| found.as_ref().is_some_and(|one| one.logical == LogicalType::EdgeId);
    schema.types.iter().position(is_id).map_or(Ok(()), |place| {
        Err(Error::usage(format!(
            "{} cannot have the type edge-id, because a database gives edges their ids itself: read the column as text",
            schema.properties[place]
        )))
    })
}

/// Refuses policies for duplicates that ask for weights where there are none.
pub(crate) fn check_weight(schema: &Schema, duplicates: Duplicates) -> Result<()> {
    let what = match duplicates {
        Duplicates::Sum => "added up",
        Duplicates::Min | Duplicates::Max => "compared",
        Duplicates::Keep | Duplicates::Rows | Duplicates::First | Duplicates::Last | Duplicates::Refuse => {
            return Ok(());
        }
    };
    if schema.weight.is_some() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "duplicate edges cannot be {what} because the input has no weights: name the weight, or choose another rule for duplicates"
    )))
}

/// The ids of block `index` as the input has them, for a numberer.
pub(crate) fn raw_keys(gathered: &GatheredInput, index: usize) -> Result<Keys> {
    let block = &gathered.blocks[index];
    let shelf = &gathered.shelf;
    let (source, target): (Vec<u64>, Vec<u64>) = match &block.ends {
        RawEnds::Narrow(chunk) => {
            let mut buffer = Vec::new();
            shelf.get(chunk, &mut buffer)?.iter().map(|&[u, v]| (u64::from(u), u64::from(v))).unzip()
        }
        RawEnds::Wide(chunk) => {
            let mut buffer = Vec::new();
            shelf.get(chunk, &mut buffer)?.iter().map(|&[u, v]| (u, v)).unzip()
        }
        RawEnds::Elsewhere => (Vec::new(), Vec::new()),
    };
    let vertices = match &block.vertices {
        Some(chunk) => Some(id_column(shelf.get(chunk, &mut Vec::new())?.to_vec())),
        None => None,
    };
    Ok(Keys { source: id_column(source), target: id_column(target), vertices })
}
