//! Merging the fragments of a range of vertices.

use std::ops::Range;
use std::sync::Arc;

use esker_graph::{Direction, Flow, VertexId, vertex};

use super::input::{Cursor, Input};
use super::list::{Copied, Entry, Kind, OLDER, Source, Target, Whole};
use super::told::Told;
use crate::error::Result;
use crate::format::ValueSlice;
use crate::layer::{ListColumns, SectionChunk, Window};
use crate::stack::{Stack, Table};

/// One direction of the layers that are merged.
#[derive(Debug)]
pub(super) struct Direct<'a> {
    pub(super) direction: Direction,
    /// Oldest first.
    pub(super) inputs: Vec<Input<'a>>,
    pub(super) told: &'a Told,
    /// The layers below the inputs; none if the oldest input is complete.
    pub(super) below: Option<&'a Stack>,
    /// Their vertex table, if it was worth making.
    pub(super) table: Option<Arc<Table>>,
    /// For each input its main and its past lists, then the main lists of each layer below.
    pub(super) lists: Vec<&'a ListColumns>,
    /// The properties of the lists of the inputs.
    pub(super) properties: Vec<Vec<ValueSlice<'a>>>,
    /// Whether versions after the last one told apart are undone.
    pub(super) is_cut: bool,
    pub(super) multigraph: bool,
    /// Number of vertices of the merged layer, and of edge properties.
    pub(super) num_vertices: usize,
    pub(super) num_properties: usize,
}

/// A fragment of a vertex: the input it is in, and its slot there.
pub(super) type Place = (VertexId, u32, usize);

/// Merges vertices one after another.
pub(super) struct Weave<'m, 'a> {
    pub(super) direct: &'m Direct<'a>,
    /// The targets of the complete layer, if there is one, for the vertices of the range.
    base: Window<'a>,
    pub(super) cursors: Vec<Cursor>,
    pub(super) chunk: SectionChunk,
    entries: Vec<Entry>,
    pub(super) target: Target<'m>,
    pub(super) main: Copied,
    pub(super) past: Copied,
    /// What a list was, and what it gained: see `whole`.
    pub(super) before: Vec<(VertexId, u32, Source)>,
    pub(super) after: Vec<(VertexId, u32, Source)>,
}

impl<'a> Direct<'a> {
    pub(super) fn is_complete(&self) -> bool {
        self.below.is_none()
    }

    /// Lists and entries of vertices below `v`.
    pub(super) fn entries_before(&self, v: usize) -> usize {
        self.inputs.iter().map(|input| input.entries_before(v)).sum::<usize>() + v
    }

    /// Merges those vertices of a range that are wanted, one by one; and what only the complete layer has.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub(super) fn weave(
        &self,
        range: Range<usize>,
        is_wanted: impl Fn(VertexId) -> bool,
    ) -> Result<SectionChunk> {
        let mut places: Vec<Place> = Vec::new();
        for (position, input) in (0..).zip(&self.inputs) {
            if !input.is_complete() {
                let slots = input.main.slot_from(range.start)..input.main.slot_from(range.end);
                let own = slots.map(|slot| (input.main.vertices[slot], position, slot));
                places.extend(own.filter(|place| is_wanted(place.0)));
            } else if self.is_cut {
                places.extend(range.clone().map(|v| (vertex(v), position, v)));
            } else if let Some(past) = &input.past {
                let slots = past.lists.slot_from(range.start)..past.lists.slot_from(range.end);
                places.extend(slots.map(|slot| (past.lists.vertices[slot], position, slot)));
            }
        }
        // Stable, and fast where sorted runs follow one another.
        places.sort_by_key(|place| place.0);
        let mut weave = Weave::new(self, range.clone());
        let mut next = range.start;
        for places in places.chunk_by(|a, b| a.0 == b.0) {
            let v = places[0].0;
            weave.copy_untouched(next..v as usize)?;
            weave.vertex(v, places)?;
            next = v as usize + 1;
        }
        weave.copy_untouched(next..range.end)?;
        let Weave { mut chunk, main, past, .. } = weave;
        main.finish(&self.lists, &self.properties, &mut chunk.main)?;
        past.finish(&self.lists, &self.properties, &mut chunk.past)?;
        Ok(chunk)
    }
}

impl<'m, 'a> Weave<'m, 'a> {
    fn new(direct: &'m Direct<'a>, range: Range<usize>) -> Self {
        let mut chunk = SectionChunk::default();
        for arcs in [&mut chunk.main, &mut chunk.past] {
            arcs.properties = vec![Vec::new(); direct.num_properties];
        }
        let target = Target {
            lists: &direct.lists,
            wholes: Vec::new(),
            newest: direct.told.newest(),
            is_chained: false,
            multigraph: direct.multigraph,
            alive: Vec::new(),
            before: Vec::new(),
            past: Vec::new(),
            died: None,
        };
        Self {
            direct,
            base: match &direct.inputs[..] {
                [base, ..] if base.is_complete() => base.main.window(range.clone()),
                _ => Window::default(),
            },
            cursors: direct.inputs.iter().map(|input| input.cursor(range.start)).collect(),
            chunk,
            entries: Vec::new(),
            target,
            main: Copied::default(),
            past: Copied::default(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    fn tells(&self) -> bool {
        self.direct.told.len() > 1
    }

    /// Copies the lists of vertices that only the complete layer has; in bulk.
    fn copy_untouched(&mut self, range: Range<usize>) -> Result<()> {
        if !self.direct.is_complete() || range.is_empty() {
            return Ok(());
        }
        let lists = &self.direct.inputs[0].main;
        let (first, end) = (lists.slot_from(range.start), lists.slot_from(range.end));
        let extents = lists.all.extents();
        let arcs = extents.before(first)..extents.before(end);
        let before = self.chunk.main.targets.len();
        let ends = (first..end).map(|slot| (extents.range(slot).end - arcs.start + before) as u64);
        self.chunk.main.ends.extend(ends);
        self.copy_base(arcs)?;
        // Vertices that are newer have no arcs.
        (end - first..range.len()).for_each(|_| self.chunk.main.end_list());
        Ok(())
    }

    /// Copies arcs of the complete layer; their properties are noted.
    fn copy_base(&mut self, arcs: Range<usize>) -> Result<()> {
        if arcs.is_empty() {
            return Ok(());
        }
        let (base, tells) = (&self.direct.inputs[0], self.tells());
        let main = &mut self.chunk.main;
        main.targets.extend_from_slice(self.base.targets(arcs.clone()));
        match base.born {
            _ if !tells => {}
            Some(born) => {
                for at in arcs.clone() {
                    main.born.push(base.code(born.at(at))?);
                }
            }
            None => main.born.resize(main.born.len() + arcs.len(), 0),
        }
        self.main.note(0, arcs);
        Ok(())
    }

    /// Merges the fragments of one vertex.
    fn vertex(&mut self, v: VertexId, places: &[Place]) -> Result<()> {
        let direct = self.direct;
        let places = &places[places.partition_point(|place| direct.inputs[place.1 as usize].is_complete())..];
        let whole = |place: &Place| direct.inputs[place.1 as usize].is_whole(place.2);
        // A whole fragment before which no version is told apart makes older ones irrelevant.
        let start = places.iter().rposition(|place| {
            let input = &direct.inputs[place.1 as usize];
            input.is_whole(place.2) && !input.has_before
        });
        let places_left = &places[start.unwrap_or(0)..];
        if self.is_replaced_once(v, places_left) {
            return self.replace_once(v, places_left, start.is_some());
        }
        let is_any_whole = places_left.iter().any(whole);
        self.entries.clear();
        self.target.wholes.clear();
        self.target.is_chained = !direct.is_complete() && !is_any_whole;
        let mut spine = 0..0;
        if start.is_none() && direct.is_complete() {
            let base = &direct.inputs[0];
            let list =
                if (v as usize) < base.main.all.extents().len() { base.main.range(v as usize) } else { 0..0 };
            if is_any_whole || direct.is_cut {
                self.gather_main(0, list, false, 0)?;
            } else {
                spine = list;
            }
            self.gather_past(0, v, false, 0)?;
        } else if start.is_none() && is_any_whole {
            self.gather_below(v)?;
        }
        for (fragment, place) in (1..).zip(places_left) {
            let (_, position, slot) = *place;
            let input = &direct.inputs[position as usize];
            if whole(place) {
                let first_code = input.first_code();
                // Of what is below the first fragment, nothing is known if older ones are irrelevant.
                let unmatched = if fragment == 1 && start.is_some() { 0 } else { first_code };
                self.target.wholes.push(Whole { fragment, first_code, unmatched });
            } else {
                self.gather_dead(position, v, fragment)?;
            }
            self.gather_main(position, input.main.range(slot), whole(place), fragment)?;
            self.gather_past(position, v, whole(place), fragment)?;
        }
        self.entries.sort_by_key(|entry| entry.target);
        self.tell(v, spine)?;
        self.end(v, places)
    }

    /// Tells the histories of all targets of `v`. In between, arcs of the complete layer pass untouched.
    fn tell(&mut self, v: VertexId, spine: Range<usize>) -> Result<()> {
        let entries = std::mem::take(&mut self.entries);
        let mut rest = spine;
        let (mut has_past, mut has_dead) = (false, false);
        for entries in entries.chunk_by(|a, b| a.target == b.target) {
            let target = entries[0].target;
            if !rest.is_empty() {
                let list = self.base.targets(rest.clone());
                let passed = list.partition_point(|&other| other < target);
                let same = list[passed..].iter().take_while(|&&other| other == target).count();
                self.copy_base(rest.start..rest.start + passed)?;
                for at in rest.start + passed..rest.start + passed + same {
                    let born = self.base_code(at)?;
                    self.target.alive.push((born, Source { lists: 0, at }));
                }
                rest.start += passed + same;
            }
            self.target.tell(entries)?;
            has_past |= !self.target.past.is_empty();
            has_dead |= self.target.died.is_some();
            self.put(target);
        }
        self.copy_base(rest)?;
        self.entries = entries;
        if has_past {
            self.chunk.past_vertices.push(v);
            self.chunk.past.end_list();
        }
        if has_dead {
            self.chunk.dead_vertices.push(v);
            self.chunk.dead.end_list();
        }
        Ok(())
    }

    fn base_code(&self, at: usize) -> Result<u32> {
        let base = &self.direct.inputs[0];
        base.born.map_or(Ok(0), |born| base.code(born.at(at)))
    }

    /// Puts what became of a target into the chunk.
    fn put(&mut self, target: VertexId) {
        let tells = self.tells();
        for (born, source) in self.target.alive.drain(..) {
            self.chunk.main.targets.push(target);
            if tells {
                self.chunk.main.born.push(born);
            }
            self.main.note(source.lists, source.at..source.at + 1);
        }
        for (born, died, source) in self.target.past.drain(..) {
            self.chunk.past.targets.push(target);
            self.chunk.past.born.push(born);
            self.chunk.past.died.push(died);
            self.past.note(source.lists, source.at..source.at + 1);
        }
        if let Some(died) = self.target.died.take() {
            self.chunk.dead.targets.push(target);
            if tells {
                self.chunk.dead.died.push(died);
            }
        }
    }

    /// Ends the list of a vertex, whose fragments in sparse inputs are given.
    pub(super) fn end(&mut self, v: VertexId, places: &[Place]) -> Result<()> {
        let direct = self.direct;
        if direct.is_complete() {
            self.chunk.main.end_list();
            return Ok(());
        }
        let list = self.chunk.main.list_start()..self.chunk.main.targets.len();
        let has_dead = self.chunk.dead_vertices.last() == Some(&v);
        let has_past = self.chunk.past_vertices.last() == Some(&v);
        let is_beyond = v as usize >= direct.num_vertices;
        if list.is_empty() && !has_dead && !has_past && (self.target.is_chained || is_beyond) {
            return Ok(());
        }
        let (_, oldest, first_slot) = places[0];
        let (_, newest, last_slot) = places[places.len() - 1];
        let degree = match (direct.is_cut, self.target.is_chained) {
            (false, _) => direct.inputs[newest as usize].degrees[last_slot],
            (true, false) => list.len() as VertexId,
            (true, true) => (list.len() + self.count_below(v, has_dead)?) as VertexId,
        };
        let chained = self.target.is_chained;
        self.chunk.vertices.push(v);
        self.chunk.degrees.push(degree);
        self.chunk.previous.push(if chained {
            direct.inputs[oldest as usize].previous[first_slot]
        } else {
            0
        });
        self.chunk.main.end_list();
        Ok(())
    }

    /// How many arcs of the layers below are left.
    fn count_below(&self, v: VertexId, has_dead: bool) -> Result<usize> {
        let dead = &self.chunk.dead;
        let ends = &dead.ends[..dead.ends.len() - usize::from(has_dead)];
        let first = if has_dead { ends.last().map_or(0, |&end| end as usize) } else { dead.targets.len() };
        let dead = &dead.targets[first..];
        let mut count = 0;
        self.visit_below(v, |_, _, targets| {
            count += targets.iter().filter(|target| dead.binary_search(target).is_err()).count();
        })?;
        Ok(count)
    }

    /// Calls `take` with the stretches of the list of `v` in the layers below: position of the layer, first arc, targets.
    pub(super) fn visit_below(
        &self,
        v: VertexId,
        mut take: impl FnMut(usize, usize, &[VertexId]),
    ) -> Result<()> {
        let Some(below) = self.direct.below.filter(|below| (v as usize) < below.num_vertices()) else {
            return Ok(());
        };
        let direction = self.direct.direction;
        let place = match &self.direct.table {
            Some(table) => {
                let place = table.head(v).map(|head| below.place(below.layers().len(), head, direction, v));
                place.transpose()?.flatten()
            }
            None => below.newest_fragment(direction, v)?,
        };
        below.visit_from(place, direction, v, |stretch| {
            take(stretch.layer, stretch.start, &stretch.targets);
            Ok(Flow::More)
        })
    }

    /// Gathers the list of `v` in the layers below.
    fn gather_below(&mut self, v: VertexId) -> Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        let first_lists = 2 * self.direct.inputs.len();
        self.visit_below(v, |layer, start, targets| {
            let lists = (first_lists + layer) as u32;
            entries.extend((start..).zip(targets).map(|(at, &target)| {
                let source = Source { lists, at };
                Entry { target, fragment: 0, kind: Kind::Main, born: 0, died: 0, source }
            }));
        })?;
        self.entries = entries;
        Ok(())
    }

    fn gather_dead(&mut self, position: u32, v: VertexId, fragment: u32) -> Result<()> {
        let input = &self.direct.inputs[position as usize];
        let Some((dead, range)) = input.dead_of(&mut self.cursors[position as usize], v) else {
            return Ok(());
        };
        for at in range {
            let died = match dead.died {
                Some(codes) => input.code(codes.at(at))?,
                None => input.first_code(),
            };
            if died <= self.target.newest {
                let (target, source) = (dead.lists.targets[at], Source { lists: 0, at: 0 });
                self.entries.push(Entry { target, fragment, kind: Kind::Dead, born: 0, died, source });
            }
        }
        Ok(())
    }

    fn gather_main(
        &mut self,
        position: u32,
        range: Range<usize>,
        is_whole: bool,
        fragment: u32,
    ) -> Result<()> {
        let input = &self.direct.inputs[position as usize];
        let unknown = if input.is_complete() { 0 } else { input.first_code() };
        let targets = match input.is_complete() {
            true => self.base.targets(range.clone()),
            false => &input.main.targets[range.clone()],
        };
        for (at, &target) in range.zip(targets) {
            let born = match input.born {
                Some(codes) => input.code(codes.at(at))?,
                None if is_whole => 0,
                None => unknown,
            };
            let born = if born == 0 && is_whole { OLDER } else { born };
            if born <= self.target.newest || born == OLDER {
                let source = Source { lists: 2 * position, at };
                self.entries.push(Entry { target, fragment, kind: Kind::Main, born, died: 0, source });
            }
        }
        Ok(())
    }

    fn gather_past(&mut self, position: u32, v: VertexId, is_whole: bool, fragment: u32) -> Result<()> {
        let input = &self.direct.inputs[position as usize];
        let Some((past, range)) = input.past_of(&mut self.cursors[position as usize], v) else {
            return Ok(());
        };
        for at in range {
            let (born, died) = (input.code(past.born.at(at))?, input.code(past.died.at(at))?);
            let born = if born == 0 && is_whole { OLDER } else { born };
            if born <= self.target.newest || born == OLDER {
                let (target, source) = (past.lists.targets[at], Source { lists: 2 * position + 1, at });
                self.entries.push(Entry { target, fragment, kind: Kind::Past, born, died, source });
            }
        }
        Ok(())
    }
}
