//! The vertex table of a version: for each vertex its newest fragment, its degree, and flags for scans.
//!
//! Both arrays are large array multiversioned arrays ([`Lama`]): the table of a version with one more layer
//! shares all pages that this layer does not touch. The disk holds only the directories of the layers; the
//! table of any version follows from them, so old versions cost almost nothing.

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Direction, Reservation, Run, VertexId};

use super::bit_set::BitSet;
use super::chain::Chains;
use crate::lama::{Lama, Paged};
use crate::layer::{Address, Section};

/// The vertex table of one direction of a stack.
///
/// Memory: 8 bytes, a vertex id and three bits for each vertex, minus the pages shared with other versions,
/// and a bit for each fragment.
#[derive(Debug, Clone)]
pub struct ListTable {
    heads: Lama<u64>,
    degrees: Lama<VertexId>,
    /// Vertices whose lists must be assembled along their chains, because some of their arcs are dead or not
    /// yet born.
    special: Arc<BitSet>,
    /// Vertices whose newest fragment is not in the oldest layer.
    chained: Arc<BitSet>,
    /// For each layer, the slots that scans of the layer skip: a newer fragment replaced them, or their
    /// vertex is special.
    skipped: Vec<Arc<BitSet>>,
    /// Held as long as the table.
    pub(super) memory: Option<Arc<Reservation>>,
}

/// Vertices of a layer that a thread looks at in one step.
const UNIT_LEN: usize = 1 << 12;

/// Bytes for each vertex, with the bits rounded up.
const VERTEX_BYTES: usize = 8 + size_of::<VertexId>() + 1;

impl ListTable {
    /// The most bytes that a table of `num_vertices` vertices takes, if the stack has few fragments.
    pub(crate) fn bytes_for(num_vertices: usize) -> usize {
        num_vertices.saturating_mul(VERTEX_BYTES)
    }

    /// Builds a table from the layers.
    pub(super) fn new(stack: &Chains, direction: Direction, run: &Run) -> Result<Self> {
        let first = stack.section(0, direction)?;
        let extents = first.main().extents(run)?;
        let number = stack.layers()[0].record().number;
        let n = stack.num_vertices();
        let listed = n.min(extents.len());
        let mut heads = Lama::build(run, n, |first, heads: &mut [u64]| -> Result<()> {
            for (v, head) in (first..).zip(heads) {
                let listed = v < listed && !extents.range(v).is_empty();
                *head = if listed { Address::new(number, v).0 } else { 0 };
            }
            Ok(())
        })?;
        let counted = if stack.layers().len() == 1 { stack.rank().zip(first.born()) } else { None };
        let mut degrees = Lama::build(run, n, |first, degrees: &mut [VertexId]| -> Result<()> {
            for (v, degree) in (first..).zip(degrees) {
                *degree = match counted {
                    _ if v >= listed => 0,
                    None => extents.range(v).len() as VertexId,
                    Some((rank, born)) => born.get(extents.range(v))?.count_up_to(rank) as VertexId,
                };
            }
            Ok(())
        })?;
        if let (Some((rank, _)), Some(past)) = (counted, first.past()) {
            for &v in past.lists.vertices(run)?.unwrap_or(&[]) {
                first.past_runs(v, rank, |_, _, alive| {
                    let index = v as usize;
                    if index < n {
                        // All visible arcs of `v` may be past arcs.
                        heads.set(index, Address::new(number, index).0);
                        degrees.set(index, degrees.get(index) + alive.len() as VertexId);
                    }
                    Ok(())
                })?;
            }
        }
        // Not in memory beside later layers, nor beside tiles, which do without offsets.
        first.release();
        let skipped = vec![Arc::new(BitSet::new(listed))];
        let special = Arc::new(BitSet::new(n));
        let chained = Arc::clone(&special);
        let table = Self { heads, degrees, special, chained, skipped, memory: None };
        table.extended(stack, 1, direction, run)
    }

    /// Applies the layers of `stack` from position `from` to this table of the layers before.
    pub(super) fn extended(
        &self,
        stack: &Chains,
        from: usize,
        direction: Direction,
        run: &Run,
    ) -> Result<Self> {
        let mut table = self.clone();
        let n = stack.num_vertices();
        table.heads.grow(n);
        table.degrees.grow(n);
        Arc::make_mut(&mut table.special).grow(n);
        Arc::make_mut(&mut table.chained).grow(n);
        for layer in from..stack.layers().len() {
            run.check()?;
            table.apply(stack, layer, direction, run)?;
        }
        Ok(table)
    }

    fn apply(&mut self, stack: &Chains, layer: usize, direction: Direction, run: &Run) -> Result<()> {
        let section = stack.section(layer, direction)?;
        let partial = stack.rank().is_some() && layer + 1 == stack.layers().len();
        let vertices = section.main().vertices(run)?.ok_or_else(|| stack.no_directory(layer))?;
        let (degrees, previous) = section.links(run)?.ok_or_else(|| stack.no_directory(layer))?;
        let number = stack.layers()[layer].record().number;
        self.skipped.push(Arc::new(BitSet::new(vertices.len())));
        // Later versions in a partial layer's range added the vertices beyond the table.
        let vertices = &vertices[..vertices.partition_point(|&v| (v as usize) < self.heads.len())];
        let dead = dead_vertices(section, run)?;
        // Taken out, since `Arc::make_mut` for each vertex costs more than the marks.
        let marks = Mutex::new(BitSetsInChange {
            special: Arc::unwrap_or_clone(std::mem::take(&mut self.special)),
            chained: Arc::unwrap_or_clone(std::mem::take(&mut self.chained)),
            skipped: std::mem::take(&mut self.skipped),
        });
        let step =
            LayerStep { heads: &self.heads, stack, direction, layer, vertices, previous, dead, partial };
        run.share(
            vertices.len().div_ceil(UNIT_LEN),
            || (),
            |(), unit| {
                step.note_fragments(unit * UNIT_LEN..vertices.len().min((unit + 1) * UNIT_LEN), &marks)
            },
        )?;
        let marks = marks.into_inner();
        (self.special, self.chained) = (Arc::new(marks.special), Arc::new(marks.chained));
        self.skipped = marks.skipped;
        // The degrees of a layer that is read in part are counted along the chains.
        let degree = |slot: usize| -> Result<VertexId> {
            match partial {
                true => Ok(stack.count(Some((layer, slot)), direction, vertices[slot])? as VertexId),
                false => Ok(degrees[slot]),
            }
        };
        edit(&mut self.heads, vertices, run, |slot| Ok(Address::new(number, slot).0))?;
        edit(&mut self.degrees, vertices, run, degree)?;
        // What was read of the layer is mapped. The next reader may not need it, and then it must not be in
        // memory.
        section.release();
        Ok(())
    }

    /// The newest fragment of `v`; `None` if the list is empty.
    #[inline(always)]
    pub fn head(&self, v: VertexId) -> Option<Address> {
        address(self.heads.get(v as usize))
    }

    /// The degree of `v`.
    #[inline(always)]
    pub fn degree(&self, v: VertexId) -> usize {
        self.degrees.get(v as usize) as usize
    }

    /// The vertices whose lists must be assembled along their chains.
    pub(crate) fn special(&self) -> &BitSet {
        &self.special
    }

    /// The vertices whose newest fragment is not in the oldest layer.
    pub(crate) fn chained(&self) -> &BitSet {
        &self.chained
    }

    /// The slots of a layer that scans of the layer skip.
    pub(crate) fn skipped(&self, layer: usize) -> &BitSet {
        &self.skipped[layer]
    }
}

/// The marks of a table while the threads of a run change them.
struct BitSetsInChange {
    special: BitSet,
    chained: BitSet,
    skipped: Vec<Arc<BitSet>>,
}

/// One layer that is added to a table.
struct LayerStep<'a> {
    /// The newest fragments without the layer.
    heads: &'a Lama<u64>,
    stack: &'a Chains,
    direction: Direction,
    layer: usize,
    /// The vertices of the layer that the version has, ascending.
    vertices: &'a [VertexId],
    /// Their previous fragments; 0: the list is whole.
    previous: &'a [u64],
    /// The vertices with tombstones in the layer, ascending.
    dead: &'a [VertexId],
    /// Whether the version reads the layer in part.
    partial: bool,
}

impl LayerStep<'_> {
    /// Notes the fragments in some slots of the layer, and the older fragments that they hide.
    ///
    /// Scans already skip all fragments of a vertex that is special before the layer, so its chain is not
    /// followed again.
    fn note_fragments(&self, slots: Range<usize>, marks: &Mutex<BitSetsInChange>) -> Result<()> {
        let lock = || marks.lock();
        let vertices = &self.vertices[slots.clone()];
        let Some(&first) = vertices.first() else { return Ok(()) };
        let were_special: Vec<bool> = {
            let marks = lock();
            vertices.iter().map(|&v| marks.special.has(v as usize)).collect()
        };
        let mut dead = self.dead[self.dead.partition_point(|&v| v < first)..].iter().copied().peekable();
        let (mut hidden, mut special) = (Vec::new(), Vec::with_capacity(vertices.len()));
        for ((slot, &v), was_special) in slots.clone().zip(vertices).zip(were_special) {
            while dead.next_if(|&dead| dead < v).is_some() {}
            let buried = dead.next_if_eq(&v).is_some();
            let is_whole_list = self.previous[slot] == 0;
            if (is_whole_list || buried || self.partial) && !was_special {
                self.add_chain(v, &mut hidden)?;
            }
            special.push(self.partial || !is_whole_list && (buried || was_special));
        }
        hidden.sort_unstable();
        let mut marks = lock();
        for fragments in hidden.chunk_by(|a, b| a.0 == b.0) {
            let skipped = Arc::make_mut(&mut marks.skipped[fragments[0].0]);
            skipped.grow(fragments[fragments.len() - 1].1 + 1);
            fragments.iter().for_each(|&(_, slot)| skipped.insert(slot));
        }
        let marks = &mut *marks;
        let own = Arc::make_mut(&mut marks.skipped[self.layer]);
        for ((slot, &v), is_special) in slots.zip(vertices).zip(special) {
            marks.chained.insert(v as usize);
            if is_special {
                marks.special.insert(v as usize);
                own.insert(slot);
            } else {
                marks.special.remove(v as usize);
            }
        }
        Ok(())
    }

    /// Adds the layer and slot of each fragment of a vertex below the layer.
    fn add_chain(&self, v: VertexId, fragments: &mut Vec<(usize, usize)>) -> Result<()> {
        let stack = self.stack;
        let mut above = self.layer;
        let mut next = address(self.heads.get(v as usize));
        while let Some(address) = next {
            let Some((layer, slot)) = stack.place(above, address, self.direction, v)? else { break };
            let section = stack.section(layer, self.direction)?;
            // `slot` can lie beyond the oldest layer's lists, for a vertex that the layer does not
            // have.
            let slots = section.main().num_lists().max(stack.num_vertices());
            if slot >= slots {
                let reason =
                    format!("the list of vertex {v} goes on in fragment {slot}, but there are only {slots}");
                return Err(Error::corrupt(stack.layers()[layer].directory(), 0, reason));
            }
            fragments.push((layer, slot));
            next = section.previous_at(slot)?;
            above = layer;
        }
        Ok(())
    }
}

/// Writes a value for each of some ascending vertices, found by the index of the vertex among them. Few are
/// written one by one.
pub(super) fn edit<T: Paged>(
    array: &mut Lama<T>,
    vertices: &[VertexId],
    run: &Run,
    value: impl Fn(usize) -> Result<T> + Sync,
) -> Result<()> {
    if vertices.len() < array.num_pages().max(UNIT_LEN) {
        return vertices.iter().enumerate().try_for_each(|(slot, &v)| {
            array.set(v as usize, value(slot)?);
            Ok(())
        });
    }
    let slots = |range: Range<usize>| {
        let from = vertices.partition_point(|&v| (v as usize) < range.start);
        from..from + vertices[from..].partition_point(|&v| (v as usize) < range.end)
    };
    array.edit(
        run,
        |range| !slots(range).is_empty(),
        |first, values| {
            for slot in slots(first..first + values.len()) {
                values[vertices[slot] as usize - first] = value(slot)?;
            }
            Ok(())
        },
    )
}

fn address(head: u64) -> Option<Address> {
    (head != 0).then_some(Address(head))
}

fn dead_vertices<'a>(section: &'a Section, run: &Run) -> Result<&'a [VertexId]> {
    let Some(dead) = section.dead() else { return Ok(&[]) };
    Ok(dead.lists.vertices(run)?.unwrap_or(&[]))
}
