//! The changes of one vertex against its list.

use std::borrow::Cow;
use std::hint::select_unpredictable;

use esker_graph::{Direction, Flow, VertexId};

use super::changes::{Changes, CopyPolicy, EdgeChange, Growth, REMOVAL, Tally};
use super::known::KnownEdges;
use crate::error::Result;
use crate::layer::{Address, ArcChunk, ListColumns, SectionChunk};
use crate::stack::{Stretch, Table};

/// Lists of at most so many arcs are copied instead of being continued.
const COPIED_LEN_MAX: usize = 4;
/// A list of at most so many arcs is copied instead of getting tombstones: scans then need no check.
const BURIED_LEN_MIN: usize = 32;

/// So many lists are searched at a time.
const SIDE_BY_SIDE: usize = 16;

/// What resolving needs to know.
pub(super) struct Resolver<'a> {
    changes: &'a Changes<'a>,
    direction: Direction,
    table: Option<&'a Table>,
    /// The lists of the complete layer.
    base: &'a ListColumns,
    /// Vertices that are copied whatever their degree, ascending.
    largest: &'a [VertexId],
    /// Whether the layer tells several versions apart.
    tells: bool,
    multigraph: bool,
    /// Whether this direction decides what the outcome is.
    directed: bool,
}

/// Where the values of the properties of an arc stand.
#[derive(Clone, Copy)]
enum Source<'a> {
    Row(u32),
    Old(&'a ListColumns, usize),
}

/// An arc that is written.
#[derive(Clone, Copy)]
struct NewArc<'a> {
    target: VertexId,
    born: u32,
    died: u32,
    source: Source<'a>,
}

/// What becomes of one vertex.
#[derive(Default)]
struct Scratch<'a> {
    old: Vec<Stretch<'a>>,
    alive: Vec<NewArc<'a>>,
    past: Vec<NewArc<'a>>,
    /// Target, code, number of copies.
    dead: Vec<(VertexId, u32, usize)>,
    /// Old copies of the edge in hand.
    copies: Vec<(&'a ListColumns, usize)>,
}

impl Scratch<'_> {
    fn find_copies(&mut self, target: VertexId) {
        for stretch in &self.old {
            let first = stretch.targets.partition_point(|&other| other < target);
            let same = stretch.targets[first..].iter().take_while(|&&other| other == target).count();
            self.copies.extend((0..same).map(|i| (stretch.lists, stretch.start + first + i)));
        }
    }
}

/// Halves lists until what is left of each is the target of the arc beside it, if that is in it. All in turn: then the processor waits
/// for the memory of many of them at a time.
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
        table: Option<&'a Table>,
        largest: &'a [VertexId],
    ) -> Result<Self> {
        let below = changes.stack.layers()[0].record();
        Ok(Self {
            changes,
            direction,
            table,
            base: changes.stack.section(0, direction)?.main(),
            largest,
            tells: changes.versions.0 < changes.versions.1,
            multigraph: below.multigraph,
            directed: below.directed,
        })
    }

    /// The fragments of the vertices of some arcs, which are sorted.
    pub(super) fn resolve(&self, arcs: &[EdgeChange], tally: &mut Tally) -> Result<SectionChunk> {
        let mut chunk = SectionChunk::default();
        for part in [&mut chunk.main, &mut chunk.past] {
            part.properties = vec![Vec::new(); self.changes.elements.len()];
        }
        let mut scratch = Scratch::default();
        let new = self.changes.known.map(|known| self.find_new(known, arcs)).transpose()?;
        let mut new = new.as_deref();
        for arcs in arcs.chunk_by(|a, b| a.source == b.source) {
            let own = new.map(|new| &new[..arcs.len()]);
            self.vertex(arcs, own, &mut scratch, &mut chunk, tally)?;
            new = new.map(|new| &new[arcs.len()..]);
        }
        Ok(chunk)
    }

    fn vertex(
        &self,
        arcs: &[EdgeChange],
        new: Option<&[bool]>,
        scratch: &mut Scratch<'a>,
        chunk: &mut SectionChunk,
        tally: &mut Tally,
    ) -> Result<()> {
        let v = arcs[0].source;
        let Scratch { old, alive, past, dead, .. } = scratch;
        old.clear();
        alive.clear();
        past.clear();
        dead.clear();
        let place = self.newest(v)?;
        let old_len = match self.unread_len(v, place, new)? {
            Some(len) => len,
            None => self.read_old(v, place, old)?,
        };
        let mut first = 0;
        for arcs in arcs.chunk_by(|a, b| a.target == b.target) {
            scratch.copies.clear();
            if new.is_none_or(|new| !new[first]) {
                scratch.find_copies(arcs[0].target);
            }
            self.edge(arcs, scratch, tally)?;
            first += arcs.len();
        }
        let Scratch { old, alive, past, dead, .. } = scratch;
        if alive.is_empty() && past.is_empty() && dead.is_empty() {
            return Ok(());
        }
        let died: usize = dead.iter().map(|&(_, _, copies)| copies).sum();
        let copied = self.is_copied(v, old_len, died);
        chunk.vertices.push(v);
        chunk.degrees.push((old_len - died + alive.len()) as VertexId);
        chunk.previous.push(if copied { 0 } else { place.map_or(0, |place| self.address(place).0) });
        if copied {
            self.copy_old(old, dead, alive, past);
        } else if !dead.is_empty() {
            chunk.dead_vertices.push(v);
            for &(target, code, _) in &*dead {
                chunk.dead.targets.push(target);
                if self.tells {
                    chunk.dead.died.push(code);
                }
            }
            chunk.dead.end_list();
        }
        self.put(&mut chunk.main, alive, false)?;
        if self.tells && !past.is_empty() {
            chunk.past_vertices.push(v);
            past.sort_by_key(|arc| arc.target);
            self.put(&mut chunk.past, past, true)?;
        }
        Ok(())
    }

    /// Whether the list of a vertex, of which so many arcs are left and so many died, is copied.
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

    /// For each arc, whether it is certain that none like it is there already.
    fn find_new(&self, known: &KnownEdges, arcs: &[EdgeChange]) -> Result<Vec<bool>> {
        let mut new = Vec::with_capacity(arcs.len());
        // The lists of the vertices in hand, and the vertex of the last.
        let (mut held, mut last): (Vec<Cow<'_, [VertexId]>>, _) =
            (Vec::with_capacity(SIDE_BY_SIDE + 1), None);
        for arcs in arcs.chunks(SIDE_BY_SIDE) {
            held.drain(..held.len().saturating_sub(1));
            let mut places = [0; SIDE_BY_SIDE];
            for (place, arc) in places.iter_mut().zip(arcs) {
                if last != Some(arc.source) {
                    let slot = arc.source as usize;
                    let is_there = slot < self.base.num_lists();
                    held.push(if is_there { self.base.list(slot)?.targets } else { Cow::Borrowed(&[]) });
                    last = Some(arc.source);
                }
                *place = held.len() - 1;
            }
            let mut lists: [&[VertexId]; SIDE_BY_SIDE] = std::array::from_fn(|i| &*held[places[i]]);
            narrow(&mut lists, arcs);
            for (list, arc) in lists.iter().zip(arcs) {
                let is_in_base = list.first() == Some(&arc.target);
                new.push(!is_in_base && !known.may_have(self.direction, arc.source, arc.target));
            }
        }
        Ok(new)
    }

    /// Where the newest fragment of the old list is.
    fn newest(&self, v: VertexId) -> Result<Option<(usize, usize)>> {
        let stack = self.changes.stack;
        match self.table {
            _ if v as usize >= stack.num_vertices() => Ok(None),
            Some(table) => match table.head(v) {
                Some(address) => stack.place(stack.layers().len(), address, self.direction, v),
                None => Ok(None),
            },
            // There is no table: else it would be here.
            None => stack.search(stack.layers().len(), self.direction, v),
        }
    }

    fn address(&self, (layer, slot): (usize, usize)) -> Address {
        Address::new(self.changes.stack.layers()[layer].record().number, slot)
    }

    /// Length of the old list, whose newest fragment is given, if nothing else of it matters.
    fn unread_len(
        &self,
        v: VertexId,
        place: Option<(usize, usize)>,
        new: Option<&[bool]>,
    ) -> Result<Option<usize>> {
        let Some(new) = new else { return Ok(None) };
        let len = match (place, self.table) {
            (None, _) => 0,
            (Some(_), Some(table)) => table.degree(v),
            (Some((layer, slot)), None) => {
                self.changes.stack.section(layer, self.direction)?.degree_at(slot)?
            }
        };
        let matters = self.is_copied(v, len, 0) || new.contains(&false);
        Ok((!matters).then_some(len))
    }

    /// The old list, and its length.
    fn read_old(
        &self,
        v: VertexId,
        place: Option<(usize, usize)>,
        old: &mut Vec<Stretch<'a>>,
    ) -> Result<usize> {
        let mut len = 0;
        self.changes.stack.visit_from(place, self.direction, v, |stretch| {
            len += stretch.targets.len();
            old.push(stretch);
            Ok(Flow::More)
        })?;
        Ok(len)
    }

    /// All that happened to one edge.
    fn edge(&self, arcs: &[EdgeChange], scratch: &mut Scratch<'a>, tally: &mut Tally) -> Result<()> {
        let target = arcs[0].target;
        let Scratch { alive, past, dead, copies, .. } = scratch;
        // In an undirected graph each edge passes twice.
        let counts = self.direction == Direction::Out && (self.directed || arcs[0].source <= target);
        let is_loop = i64::from(arcs[0].source == target);
        let first_alive = alive.len();
        let mut old_alive = copies.len();
        let mut grow = |code: u32, by: i64| {
            let growth: &mut Growth = &mut tally.growth[code as usize];
            growth.arcs += by;
            growth.loops += by * is_loop;
        };
        let outcome = &mut tally.outcome;
        for change in arcs {
            let there = old_alive + alive.len() - first_alive;
            let set = change.row != REMOVAL;
            if set && there > 0 && !self.multigraph {
                let last = alive[first_alive..]
                    .last()
                    .map_or_else(|| Source::Old(copies[0].0, copies[0].1), |arc| arc.source);
                if self.same(last, change.row)? {
                    outcome.unchanged += u64::from(counts);
                    continue;
                }
            }
            // Whatever is there goes, unless a copy is added to others.
            if !(set && self.multigraph) {
                if old_alive > 0 {
                    dead.push((target, change.code, old_alive));
                    grow(change.code, -(old_alive as i64));
                    old_alive = 0;
                }
                for arc in alive.drain(first_alive..) {
                    grow(change.code, -1);
                    if arc.born < change.code {
                        past.push(NewArc { died: change.code, ..arc });
                    }
                }
            }
            if set {
                let source = Source::Row(change.row);
                alive.push(NewArc { target, born: change.code, died: 0, source });
                grow(change.code, 1);
            }
            let there = there as u64;
            *match (set, there) {
                (true, 0) => &mut outcome.added,
                (true, _) if self.multigraph => &mut outcome.added,
                (true, _) => &mut outcome.updated,
                (false, 0) => &mut outcome.missing,
                (false, _) => &mut outcome.removed,
            } += u64::from(counts) * if set || there == 0 { 1 } else { there };
        }
        Ok(())
    }

    /// Whether an arc has the values of a row.
    fn same(&self, arc: Source<'_>, row: u32) -> Result<bool> {
        for (number, column) in self.changes.rows.iter().enumerate() {
            if self.bits(arc, number)? != column[row as usize] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn bits(&self, arc: Source<'_>, property: usize) -> Result<u64> {
        match arc {
            Source::Row(row) => Ok(self.changes.rows[property][row as usize]),
            // A layer from before the property was defined has no column of it.
            Source::Old(lists, index) => {
                lists.property(property).map_or(Ok(0), |values| values.bits_at(index))
            }
        }
    }

    /// Adds the old arcs to the new ones: those that died to the past.
    fn copy_old(
        &self,
        old: &[Stretch<'a>],
        dead: &[(VertexId, u32, usize)],
        alive: &mut Vec<NewArc<'a>>,
        past: &mut Vec<NewArc<'a>>,
    ) {
        for stretch in old {
            for (index, &target) in (stretch.start..).zip(&*stretch.targets) {
                let source = Source::Old(stretch.lists, index);
                match dead.binary_search_by_key(&target, |&(target, _, _)| target) {
                    Ok(at) => past.push(NewArc { target, born: 0, died: dead[at].1, source }),
                    Err(_) => alive.push(NewArc { target, born: 0, died: 0, source }),
                }
            }
        }
        alive.sort_by_key(|arc| arc.target);
    }

    fn put(&self, chunk: &mut ArcChunk, arcs: &[NewArc<'a>], past: bool) -> Result<()> {
        for arc in arcs {
            chunk.targets.push(arc.target);
            if self.tells {
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
