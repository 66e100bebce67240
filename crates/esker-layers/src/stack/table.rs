//! The vertex table of a version: for each vertex its newest fragment, its degree, and flags for scans.
//!
//! Both arrays are large array multiversioned arrays ([`Lama`]): the table of a version with one more layer
//! shares all pages that this layer does not touch. The disk holds only the directories of the layers; the table
//! of any version follows from them, so old versions cost almost nothing.

use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{Direction, Reservation, Run, VertexId};

use super::chain::Chains;
use super::marks::Marks;
use crate::lama::Lama;
use crate::layer::{Address, Section};

/// The vertex table of one direction of a stack.
///
/// Memory: 8 bytes, a vertex id and three bits for each vertex, minus the pages shared with other versions, and a
/// bit for each fragment.
#[derive(Debug, Clone)]
pub struct Table {
    heads: Lama<u64>,
    degrees: Lama<VertexId>,
    /// Vertices whose lists must be assembled along their chains, because some of their arcs are dead or not
    /// yet born.
    special: Arc<Marks>,
    /// Vertices whose newest fragment is not in the oldest layer.
    chained: Arc<Marks>,
    /// For each layer, the slots that scans of the layer skip: a newer fragment replaced them, or their
    /// vertex is special.
    skipped: Vec<Arc<Marks>>,
    /// Held as long as the table.
    pub(super) memory: Option<Arc<Reservation>>,
}

/// Bytes for each vertex, with the bits rounded up.
const VERTEX_BYTES: usize = 8 + size_of::<VertexId>() + 1;

impl Table {
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
                        heads.set(index, Address::new(number, index).0); // All visible arcs of `v` may be past arcs.
                        degrees.set(index, degrees.get(index) + alive.len() as VertexId);
                    }
                    Ok(())
                })?;
            }
        }
        let skipped = vec![Arc::new(Marks::new(listed))];
        let special = Arc::new(Marks::new(n));
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
        let lists = section.main();
        let wrong = || {
            let path = stack.layers()[layer].directory();
            Error::corrupt(path, 0, "a layer above the complete one has no directory of vertices")
        };
        let vertices = lists.vertices(run)?.ok_or_else(wrong)?;
        let (degrees, previous) = section.links(run)?.ok_or_else(wrong)?;
        let number = stack.layers()[layer].record().number;
        self.skipped.push(Arc::new(Marks::new(vertices.len())));
        let special = dead_vertices(section, run)?;
        let mut special = special.iter().copied().peekable();
        // Taken out, since `Arc::make_mut` for each vertex costs more than the marks.
        let mut chained = Arc::unwrap_or_clone(std::mem::take(&mut self.chained));
        let mut marks = Arc::unwrap_or_clone(std::mem::take(&mut self.special));
        for (slot, &v) in vertices.iter().enumerate() {
            let index = v as usize;
            if index >= self.heads.len() {
                break; // Later versions in a partial layer's range added these vertices.
            }
            while special.next_if(|&dead| dead < v).is_some() {}
            let buried = special.next_if_eq(&v).is_some();
            let whole = previous[slot] == 0;
            if whole || buried || partial {
                self.skip_chain(stack, direction, v)?;
            }
            self.heads.set(index, Address::new(number, slot).0);
            chained.insert(index);
            if whole && !partial {
                marks.remove(index);
            } else if buried || partial || marks.has(index) {
                marks.insert(index);
                Arc::make_mut(&mut self.skipped[layer]).insert(slot);
            }
            let degree = if partial {
                stack.count(Some((layer, slot)), direction, v)? as VertexId
            } else {
                degrees[slot]
            };
            self.degrees.set(index, degree);
        }
        (self.chained, self.special) = (Arc::new(chained), Arc::new(marks));
        Ok(())
    }

    /// Marks all fragments of a vertex so far as skipped.
    fn skip_chain(&mut self, stack: &Chains, direction: Direction, v: VertexId) -> Result<()> {
        let mut above = self.skipped.len();
        let mut next = self.head(v);
        while let Some(address) = next {
            let Some((layer, slot)) = stack.place(above, address, direction, v)? else { break };
            let section = stack.section(layer, direction)?;
            // `slot` can lie beyond the oldest layer's lists, for a vertex that the layer does not
            // have.
            let slots = section.main().num_lists().max(stack.num_vertices());
            if slot >= slots {
                let reason =
                    format!("the list of vertex {v} goes on in fragment {slot}, but there are only {slots}");
                return Err(Error::corrupt(stack.layers()[layer].directory(), 0, reason));
            }
            let marks = Arc::make_mut(&mut self.skipped[layer]);
            marks.grow(slot + 1);
            marks.insert(slot);
            next = section.previous_at(slot)?;
            above = layer;
        }
        Ok(())
    }

    /// The newest fragment of `v`; `None` if the list is empty.
    #[inline(always)]
    pub fn head(&self, v: VertexId) -> Option<Address> {
        let head = self.heads.get(v as usize);
        (head != 0).then_some(Address(head))
    }

    /// The degree of `v`.
    #[inline(always)]
    pub fn degree(&self, v: VertexId) -> usize {
        self.degrees.get(v as usize) as usize
    }

    /// The vertices whose lists must be assembled along their chains.
    pub(crate) fn special(&self) -> &Marks {
        &self.special
    }

    /// The vertices whose newest fragment is not in the oldest layer.
    pub(crate) fn chained(&self) -> &Marks {
        &self.chained
    }

    /// The slots of a layer that scans of the layer skip.
    pub(crate) fn skipped(&self, layer: usize) -> &Marks {
        &self.skipped[layer]
    }
}

fn dead_vertices<'a>(section: &'a Section, run: &Run) -> Result<&'a [VertexId]> {
    let Some(dead) = section.dead() else { return Ok(&[]) };
    Ok(dead.lists.vertices(run)?.unwrap_or(&[]))
}
