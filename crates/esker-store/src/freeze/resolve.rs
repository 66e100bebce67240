//! Resolves the changes of one vertex against its list in the layers below: which arcs are new, which old
//! arcs die, and whether the new layer gets a fragment that continues the list or a copy of the whole list.

use std::borrow::Cow;
use std::hint::select_unpredictable;

use esker_format::{CopyPolicy, Result};
use esker_graph::{Direction, Flow, VertexId};
use esker_layers::layer::{Address, ArcChunk, ListColumns, SectionChunk};
use esker_layers::stack::{ChainStretch, ListTable};

use super::changes::{Changes, EdgeChange, REMOVAL, Tally};
use super::known::KnownEdges;

/// Lists of at most this many arcs are copied instead of getting another fragment.
const COPIED_LEN_MAX: usize = 4;
/// Lists of at most this many arcs are copied instead of getting tombstones, so that scans need no check.
const BURIED_LEN_MIN: usize = 32;

/// The number of lists searched at the same time.
const SEARCHES_AT_ONCE: usize = 16;

/// The inputs shared by all vertices of a direction.
pub(super) struct Resolver<'a> {
    changes: &'a Changes<'a>,
    pub(super) direction: Direction,
    table: Option<&'a ListTable>,
    /// The lists of the complete layer.
    base: &'a ListColumns,
    /// Vertices whose lists are copied whatever their degree, ascending.
    largest: &'a [VertexId],
    /// Whether the layer holds several versions, so that it needs version codes.
    has_codes: bool,
    multigraph: bool,
    /// Whether the graph is directed. If not, each edge passes twice and is counted once.
    pub(super) directed: bool,
    /// The first version code whose changes are counted.
    pub(super) counted_from: u32,
}

/// Where the property values of an arc are.
#[derive(Clone, Copy)]
pub(super) enum ValueSource<'a> {
    Row(u32),
    Old(OldArc<'a>),
}

/// An arc of an older layer.
#[derive(Clone, Copy)]
pub(super) struct OldArc<'a> {
    pub(super) lists: &'a ListColumns,
    /// Its index in the lists.
    pub(super) index: usize,
}

/// An arc of the new layer.
#[derive(Clone, Copy)]
pub(super) struct NewArc<'a> {
    pub(super) target: VertexId,
    pub(super) born: u32,
    pub(super) died: u32,
    pub(super) source: ValueSource<'a>,
}

/// Buffers for the arcs of one vertex.
#[derive(Default)]
pub(super) struct VertexBuffers<'a> {
    pub(super) old: Vec<ChainStretch<'a>>,
    pub(super) alive: Vec<NewArc<'a>>,
    pub(super) past: Vec<NewArc<'a>>,
    /// Tombstones: target, code, number of deleted copies.
    pub(super) dead: Vec<(VertexId, u32, usize)>,
    /// Old arcs that die although others to the same target stay, ascending by target.
    pub(super) some_dead: Vec<DeadCopy<'a>>,
    /// The old copies of the current edge.
    pub(super) copies: Vec<OldArc<'a>>,
    /// The rows of the edges that a commit adds between the current vertices.
    pub(super) rows: Vec<u32>,
}

/// An old arc that dies.
#[derive(Clone, Copy)]
pub(super) struct DeadCopy<'a> {
    pub(super) target: VertexId,
    pub(super) arc: OldArc<'a>,
    pub(super) died: u32,
}

/// The code of the commit that removed an old arc but not others to the same target; 0 if there is none.
fn death_of_copy(some_dead: &[DeadCopy<'_>], target: VertexId, arc: OldArc<'_>) -> u32 {
    let first = some_dead.partition_point(|copy| copy.target < target);
    let mut same = some_dead[first..].iter().take_while(|copy| copy.target == target);
    let is_arc = |old: OldArc<'_>| std::ptr::eq(old.lists, arc.lists) && old.index == arc.index;
    same.find(|copy| is_arc(copy.arc)).map_or(0, |copy| copy.died)
}

impl VertexBuffers<'_> {
    fn find_copies(&mut self, target: VertexId) {
        for stretch in &self.old {
            let first = stretch.targets.partition_point(|&other| other < target);
            let same = stretch.targets[first..].iter().take_while(|&&other| other == target).count();
            let start = stretch.start + first;
            self.copies.extend((start..start + same).map(|index| OldArc { lists: stretch.lists, index }));
        }
    }
}

/// Binary searches in step: narrows each list to at most one target, which is that of its arc if the list
/// contains it. One step of every search follows another, so that the processor waits for many memory reads
/// at the same time.
fn narrow(lists: &mut [&[VertexId]], arcs: &[EdgeChange]) {
    let mut longest = 2;
    while longest > 1 {
        longest = 0;
        for (list, arc) in lists.iter_mut().zip(arcs) {
            if list.len() > 1 {
                let (low, high) = list.split_at(list.len() / 2);
                *list = select_unpredictable(high[0] <= arc.target, high, low);
                longest = longest.max(list.len());
            }
        }
    }
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        changes: &'a Changes<'a>,
        direction: Direction,
        table: Option<&'a ListTable>,
        largest: &'a [VertexId],
    ) -> Result<Self> {
        let below = changes.stack.layers()[0].record();
        Ok(Self {
            changes,
            direction,
            table,
            base: changes.stack.section(0, direction)?.main(),
            largest,
            has_codes: changes.versions.0 < changes.versions.1,
            multigraph: below.multigraph,
            directed: below.directed,
            counted_from: (changes.counted_from.saturating_sub(changes.versions.0) + 1)
                .min(u64::from(u32::MAX)) as u32,
        })
    }

    /// The fragments of the vertices of sorted arcs.
    pub(super) fn resolve(&self, arcs: &[EdgeChange], tally: &mut Tally) -> Result<SectionChunk> {
        let mut chunk = SectionChunk::default();
        for part in [&mut chunk.main, &mut chunk.past] {
            part.properties = vec![Vec::new(); self.changes.elements.len()];
        }
        let mut buffers = VertexBuffers::default();
        let new = self.changes.known.map(|known| self.find_new(known, arcs)).transpose()?;
        let mut new = new.as_deref();
        for arcs in arcs.chunk_by(|a, b| a.source == b.source) {
            let own = new.map(|new| &new[..arcs.len()]);
            self.vertex(arcs, own, &mut buffers, &mut chunk, tally)?;
            new = new.map(|new| &new[arcs.len()..]);
        }
        Ok(chunk)
    }

    fn vertex(
        &self,
        arcs: &[EdgeChange],
        new: Option<&[bool]>,
        buffers: &mut VertexBuffers<'a>,
        chunk: &mut SectionChunk,
        tally: &mut Tally,
    ) -> Result<()> {
        let v = arcs[0].source;
        let VertexBuffers { old, alive, past, dead, .. } = buffers;
        old.clear();
        alive.clear();
        past.clear();
        dead.clear();
        buffers.some_dead.clear();
        let fragment = self.newest(v)?;
        // Where parallel edges are kept, an addition has no effect on the copies of its edge.
        let adds = self.multigraph && arcs.iter().all(|arc| arc.row != REMOVAL);
        let meets_old = if adds { Some(false) } else { new.map(|new| new.contains(&false)) };
        let old_len = match self.unread_len(v, fragment, meets_old)? {
            Some(len) => len,
            None => self.read_old(v, fragment, old)?,
        };
        let is_continued = old_len > 0 && !self.is_copied(v, old_len, 0);
        let lacks = old_len == 0 || adds || new.is_some_and(|new| !new.contains(&false));
        if lacks && (old_len == 0 || is_continued) && self.adds_each_once(arcs) {
            let previous = self.previous(fragment.filter(|_| is_continued));
            self.add(arcs, old_len, previous, chunk, tally);
            return Ok(());
        }
        let mut first = 0;
        for arcs in arcs.chunk_by(|a, b| a.target == b.target) {
            buffers.copies.clear();
            if !adds && new.is_none_or(|new| !new[first]) {
                buffers.find_copies(arcs[0].target);
            }
            match self.multigraph {
                true => self.parallel(arcs, buffers, tally)?,
                false => self.edge(arcs, buffers, tally)?,
            }
            first += arcs.len();
        }
        let VertexBuffers { old, alive, past, dead, some_dead, .. } = buffers;
        if alive.is_empty() && past.is_empty() && dead.is_empty() && some_dead.is_empty() {
            return Ok(());
        }
        let died = dead.iter().map(|&(_, _, copies)| copies).sum::<usize>() + some_dead.len();
        // A tombstone would delete all copies.
        let copied = !some_dead.is_empty() || self.is_copied(v, old_len, died);
        chunk.vertices.push(v);
        chunk.degrees.push((old_len - died + alive.len()) as VertexId);
        chunk.previous.push(self.previous(fragment.filter(|_| !copied)));
        if copied {
            self.copy_old(old, dead, some_dead, alive, past);
        } else if !dead.is_empty() {
            self.bury(v, dead, chunk);
        }
        self.put(&mut chunk.main, alive, false)?;
        if self.has_codes && !past.is_empty() {
            chunk.past_vertices.push(v);
            past.sort_by_key(|arc| arc.target);
            self.put(&mut chunk.past, past, true)?;
        }
        Ok(())
    }

    /// Writes tombstones.
    fn bury(&self, v: VertexId, dead: &[(VertexId, u32, usize)], chunk: &mut SectionChunk) {
        chunk.dead_vertices.push(v);
        for &(target, code, _) in dead {
            chunk.dead.targets.push(target);
            if self.has_codes {
                chunk.dead.died.push(code);
            }
        }
        chunk.dead.end_list();
    }

    /// Whether changes of one vertex each add another edge, if its list lacks them all.
    fn adds_each_once(&self, arcs: &[EdgeChange]) -> bool {
        let is_ascending = |pair: &[EdgeChange]| self.multigraph || pair[0].target < pair[1].target;
        arcs.iter().all(|arc| arc.row != REMOVAL) && arcs.windows(2).all(is_ascending)
    }

    /// Adds the edges of one vertex to those that it had, `old_len`; none of its changes does anything else.
    fn add(
        &self,
        arcs: &[EdgeChange],
        old_len: usize,
        previous: u64,
        chunk: &mut SectionChunk,
        tally: &mut Tally,
    ) {
        let v = arcs[0].source;
        chunk.vertices.push(v);
        chunk.degrees.push((old_len + arcs.len()) as VertexId);
        chunk.previous.push(previous);
        let main = &mut chunk.main;
        main.targets.extend(arcs.iter().map(|arc| arc.target));
        if self.has_codes {
            main.born.extend(arcs.iter().map(|arc| arc.code));
        }
        for (column, rows) in main.properties.iter_mut().zip(self.changes.rows) {
            column.extend(arcs.iter().map(|arc| rows[arc.row as usize]));
        }
        main.end_list();
        for arc in arcs {
            let growth = &mut tally.growth[arc.code as usize];
            growth.arcs += 1;
            growth.loops += i64::from(arc.target == v);
            let is_first_end = self.direction == Direction::Out && (self.directed || v <= arc.target);
            tally.counts.added += u64::from(is_first_end && arc.code >= self.counted_from);
        }
        tally.added_arcs += arcs.len() as u64;
    }

    /// Whether to copy the list of a vertex that had `old_len` arcs and lost `died` of them.
    fn is_copied(&self, v: VertexId, old_len: usize, died: usize) -> bool {
        match self.changes.policy {
            _ if old_len == 0 => true,
            CopyPolicy::Copy => true,
            CopyPolicy::Chain => false,
            CopyPolicy::Mixed => {
                old_len <= if died > 0 { BURIED_LEN_MIN } else { COPIED_LEN_MAX }
                    || self.largest.binary_search(&v).is_ok()
            }
        }
    }

    /// For each arc, whether it certainly does not exist yet.
    fn find_new(&self, known: &KnownEdges, arcs: &[EdgeChange]) -> Result<Vec<bool>> {
        let mut new = Vec::with_capacity(arcs.len());
        // The lists of the current vertices, and the vertex of the last list.
        let (mut held, mut last): (Vec<Cow<'_, [VertexId]>>, _) =
            (Vec::with_capacity(SEARCHES_AT_ONCE + 1), None);
        for arcs in arcs.chunks(SEARCHES_AT_ONCE) {
            held.drain(..held.len().saturating_sub(1));
            let mut indexes = [0; SEARCHES_AT_ONCE];
            for (index, arc) in indexes.iter_mut().zip(arcs) {
                if last != Some(arc.source) {
                    let slot = arc.source as usize;
                    let is_there = slot < self.base.num_lists();
                    held.push(if is_there { self.base.list(slot)?.targets } else { Cow::Borrowed(&[]) });
                    last = Some(arc.source);
                }
                *index = held.len() - 1;
            }
            let mut lists: [&[VertexId]; SEARCHES_AT_ONCE] = std::array::from_fn(|i| &*held[indexes[i]]);
            narrow(&mut lists, arcs);
            for (list, arc) in lists.iter().zip(arcs) {
                let is_in_base = list.first() == Some(&arc.target);
                new.push(!is_in_base && !known.may_have(self.direction, arc.source, arc.target));
            }
        }
        Ok(new)
    }

    /// The newest fragment of the old list.
    fn newest(&self, v: VertexId) -> Result<Option<(usize, usize)>> {
        let stack = self.changes.stack;
        match self.table {
            _ if v as usize >= stack.num_vertices() => Ok(None),
            Some(table) => match table.head(v) {
                Some(address) => stack.place(stack.layers().len(), address, self.direction, v),
                None => Ok(None),
            },
            // No table exists, or `self.table` would hold it.
            None => stack.search(stack.layers().len(), self.direction, v),
        }
    }

    /// What a fragment says of the one before it; 0 if there is none.
    fn previous(&self, fragment: Option<(usize, usize)>) -> u64 {
        fragment.map_or(0, |(layer, slot)| {
            Address::new(self.changes.stack.layers()[layer].record().number, slot).0
        })
    }

    /// The length of the old list, whose newest fragment is `fragment`, if its arcs need not be read.
    /// `meets_old`: whether a change may be of an edge that is in it, if that is known.
    fn unread_len(
        &self,
        v: VertexId,
        fragment: Option<(usize, usize)>,
        meets_old: Option<bool>,
    ) -> Result<Option<usize>> {
        let Some(meets_old) = meets_old else { return Ok(None) };
        let len = match (fragment, self.table) {
            (None, _) => 0,
            (Some(_), Some(table)) => table.degree(v),
            (Some((layer, slot)), None) => {
                self.changes.stack.section(layer, self.direction)?.degree_at(slot)?
            }
        };
        let matters = meets_old || self.is_copied(v, len, 0);
        Ok((!matters).then_some(len))
    }

    /// Reads the old list; returns its length.
    fn read_old(
        &self,
        v: VertexId,
        fragment: Option<(usize, usize)>,
        old: &mut Vec<ChainStretch<'a>>,
    ) -> Result<usize> {
        let mut len = 0;
        self.changes.stack.visit_from(fragment, self.direction, v, &mut |stretch| {
            len += stretch.targets.len();
            old.push(stretch);
            Ok(Flow::More)
        })?;
        Ok(len)
    }

    /// Whether an arc has the values of a row.
    pub(super) fn same(&self, arc: ValueSource<'_>, row: u32) -> Result<bool> {
        for (number, column) in self.changes.rows.iter().enumerate() {
            if self.bits(arc, number)? != column[row as usize] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn bits(&self, arc: ValueSource<'_>, property: usize) -> Result<u64> {
        match arc {
            ValueSource::Row(row) => Ok(self.changes.rows[property][row as usize]),
            // A layer written before the property was defined has no column for it.
            ValueSource::Old(OldArc { lists, index }) => {
                lists.property(property).map_or(Ok(0), |values| values.bits_at(index))
            }
        }
    }

    /// Adds the old arcs: dead ones to `past`, the others to `alive`.
    fn copy_old(
        &self,
        old: &[ChainStretch<'a>],
        dead: &[(VertexId, u32, usize)],
        some_dead: &[DeadCopy<'a>],
        alive: &mut Vec<NewArc<'a>>,
        past: &mut Vec<NewArc<'a>>,
    ) {
        for stretch in old {
            for (index, &target) in (stretch.start..).zip(&*stretch.targets) {
                let old = OldArc { lists: stretch.lists, index };
                let died = match dead.binary_search_by_key(&target, |&(target, _, _)| target) {
                    Ok(at) => dead[at].1,
                    Err(_) => death_of_copy(some_dead, target, old),
                };
                let arc = NewArc { target, born: 0, died, source: ValueSource::Old(old) };
                if died > 0 { past.push(arc) } else { alive.push(arc) }
            }
        }
        alive.sort_by_key(|arc| arc.target);
    }

    fn put(&self, chunk: &mut ArcChunk, arcs: &[NewArc<'a>], past: bool) -> Result<()> {
        for arc in arcs {
            chunk.targets.push(arc.target);
            if self.has_codes {
                chunk.born.push(arc.born);
                if past {
                    chunk.died.push(arc.died);
                }
            }
            for property in 0..chunk.properties.len() {
                let bits = self.bits(arc.source, property)?;
                chunk.properties[property].push(bits);
            }
        }
        chunk.end_list();
        Ok(())
    }
}
