//! Merges the fragments of a range of vertices, one vertex after another.

use std::ops::Range;

use esker_format::Result;
use esker_graph::{Flow, VertexId, vertex};
use esker_layers::layer::{ListTargets, SectionChunk};

use super::direction::{DirectionMerge, Fragment, MergedRange};
use super::input::InputCursor;
use super::list::{
    ArcLocation, BornArc, EntryKind, HistoryEntry, OLDER, PropertyRuns, TargetHistory, WholeFragment,
};

/// Merges vertices one after another.
pub(super) struct VertexMerger<'m, 'a> {
    pub(super) merge: &'m DirectionMerge<'a>,
    /// The targets of the complete layer for the vertices of the range, if there is one, and if they were
    /// read.
    base: ListTargets<'a>,
    /// Whether they are in the complete layer, but no list of the range changes.
    is_unread: bool,
    pub(super) cursors: Vec<InputCursor>,
    pub(super) chunk: SectionChunk,
    entries: Vec<HistoryEntry>,
    pub(super) target: TargetHistory<'m>,
    pub(super) main: PropertyRuns,
    pub(super) past: PropertyRuns,
    /// A list before a whole fragment: see `whole`.
    pub(super) before: Vec<BornArc>,
    /// The additions after it.
    pub(super) after: Vec<BornArc>,
    /// Of the list before it, the arcs with the target at hand that have not continued yet.
    pub(super) same: Vec<BornArc>,
}

impl<'a> DirectionMerge<'a> {
    /// Merges the vertices of `range` that are `is_wanted`, one by one, and copies those that only the
    /// complete layer has.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    pub(super) fn merge_vertices(
        &self,
        range: Range<usize>,
        is_wanted: impl Fn(VertexId) -> bool,
    ) -> Result<SectionChunk> {
        Ok(self.merge_range(range, is_wanted)?.chunk)
    }

    /// The same, and which lists may have changed.
    pub(super) fn merge_range(
        &self,
        range: Range<usize>,
        is_wanted: impl Fn(VertexId) -> bool,
    ) -> Result<MergedRange<'a>> {
        let mut fragments: Vec<Fragment> = Vec::new();
        for (position, input) in (0..).zip(&self.inputs) {
            let fragment = |vertex, slot| Fragment { vertex, input: position, slot };
            if !input.is_complete() {
                let slots = input.main.slot_from(range.start)..input.main.slot_from(range.end);
                let own = slots.map(|slot| fragment(input.main.vertices[slot], slot));
                fragments.extend(own.filter(|fragment| is_wanted(fragment.vertex)));
            } else if self.undoes {
                fragments.extend(range.clone().map(|v| fragment(vertex(v), v)));
            } else if let Some(past) = &input.past {
                let slots = past.lists.slot_from(range.start)..past.lists.slot_from(range.end);
                fragments.extend(slots.map(|slot| fragment(past.lists.vertices[slot], slot)));
            }
        }
        // A stable sort, fast for consecutive sorted runs.
        fragments.sort_by_key(|fragment| fragment.vertex);
        let is_later = |fragment: &&Fragment| !self.inputs[fragment.input as usize].is_complete();
        let mut touched: Vec<VertexId> = fragments.iter().filter(is_later).map(|own| own.vertex).collect();
        touched.dedup();
        let is_unread = self.without_targets && touched.is_empty();
        let mut merger = VertexMerger::new(self, range.clone(), is_unread)?;
        let mut next = range.start;
        for fragments in fragments.chunk_by(|a, b| a.vertex == b.vertex) {
            let v = fragments[0].vertex;
            merger.copy_untouched(next..v as usize)?;
            merger.vertex(v, fragments)?;
            next = v as usize + 1;
        }
        merger.copy_untouched(next..range.end)?;
        let VertexMerger { mut chunk, main, past, base, .. } = merger;
        main.finish(&self.lists, &self.properties, &mut chunk.main)?;
        past.finish(&self.lists, &self.properties, &mut chunk.past)?;
        Ok(MergedRange { chunk, touched, base })
    }
}

impl<'m, 'a> VertexMerger<'m, 'a> {
    fn new(merge: &'m DirectionMerge<'a>, range: Range<usize>, is_unread: bool) -> Result<Self> {
        let mut chunk = SectionChunk::default();
        for arcs in [&mut chunk.main, &mut chunk.past] {
            arcs.properties = vec![Vec::new(); merge.num_properties];
        }
        let target = TargetHistory {
            lists: &merge.lists,
            wholes: Vec::new(),
            newest: merge.versions.newest(),
            is_chained: false,
            multigraph: merge.multigraph,
            alive: Vec::new(),
            before: Vec::new(),
            past: Vec::new(),
            died: None,
        };
        Ok(Self {
            merge,
            base: match &merge.inputs[..] {
                [base, ..] if base.is_complete() && !is_unread => base.main.window(range.clone())?,
                _ => ListTargets::default(),
            },
            is_unread,
            cursors: merge.inputs.iter().map(|input| input.cursor(range.start)).collect(),
            chunk,
            entries: Vec::new(),
            target,
            main: PropertyRuns::default(),
            past: PropertyRuns::default(),
            before: Vec::new(),
            after: Vec::new(),
            same: Vec::new(),
        })
    }

    fn has_codes(&self) -> bool {
        self.merge.versions.len() > 1
    }

    /// Copies in bulk the lists of vertices that only the complete layer has.
    fn copy_untouched(&mut self, range: Range<usize>) -> Result<()> {
        if !self.merge.is_complete() || range.is_empty() {
            return Ok(());
        }
        let lists = &self.merge.inputs[0].main;
        let (first, end) = (lists.slot_from(range.start), lists.slot_from(range.end));
        let extents = lists.all.extents();
        let arcs = extents.before(first)..extents.before(end);
        let before = self.chunk.main.targets.len();
        let ends = (first..end).map(|slot| (extents.range(slot).end - arcs.start + before) as u64);
        self.chunk.main.ends.extend(ends);
        self.copy_base(arcs)?;
        // Vertices added later have no arcs in the complete layer.
        (end - first..range.len()).for_each(|_| self.chunk.main.end_list());
        Ok(())
    }

    /// Copies the targets and births of arcs of the complete layer, and records the arcs for their
    /// properties.
    pub(super) fn copy_base(&mut self, arcs: Range<usize>) -> Result<()> {
        if arcs.is_empty() {
            return Ok(());
        }
        let (base, has_codes) = (&self.merge.inputs[0], self.has_codes());
        let main = &mut self.chunk.main;
        match self.is_unread {
            true => main.targets.resize(main.targets.len() + arcs.len(), 0),
            false => main.targets.extend_from_slice(self.base.targets(arcs.clone())),
        }
        match base.born {
            _ if !has_codes => {}
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
    fn vertex(&mut self, v: VertexId, fragments: &[Fragment]) -> Result<()> {
        let merge = self.merge;
        let is_in_complete = |fragment: &Fragment| merge.inputs[fragment.input as usize].is_complete();
        let fragments = &fragments[fragments.partition_point(is_in_complete)..];
        let is_whole = |fragment: &Fragment| merge.is_whole(*fragment);
        // A whole fragment makes older ones irrelevant if no distinguished version precedes it.
        let start = fragments
            .iter()
            .rposition(|fragment| is_whole(fragment) && !merge.inputs[fragment.input as usize].has_before);
        let relevant = &fragments[start.unwrap_or(0)..];
        if relevant.is_empty() && !merge.undoes {
            return self.keep_with_past(v);
        }
        match self.plain_wholes(v, relevant, start.is_some()) {
            Some(0) => return self.extend_once(v, relevant),
            Some(_) => return self.replace_once(v, relevant, start.is_some()),
            None => {}
        }
        let is_any_whole = relevant.iter().any(is_whole);
        self.entries.clear();
        self.target.wholes.clear();
        self.target.is_chained = !merge.is_complete() && !is_any_whole;
        let mut untouched = 0..0;
        if start.is_none() && merge.is_complete() {
            let list = self.base_range(v);
            if is_any_whole || merge.undoes {
                self.gather_main(0, list, false, 0)?;
            } else {
                untouched = list;
            }
            self.gather_past(0, v, false, 0)?;
        } else if start.is_none() && is_any_whole {
            self.gather_below(v)?;
        }
        for (number, fragment) in (1..).zip(relevant) {
            let Fragment { input: position, slot, .. } = *fragment;
            let input = &merge.inputs[position as usize];
            if is_whole(fragment) {
                let first_code = input.first_code();
                // If older fragments are irrelevant, older arcs of the first fragment count as
                // older than the range.
                let unmatched = if number == 1 && start.is_some() { 0 } else { first_code };
                self.target.wholes.push(WholeFragment { fragment: number, first_code, unmatched });
            } else {
                self.gather_dead(position, v, number)?;
            }
            self.gather_main(position, input.main.range(slot), is_whole(fragment), number)?;
            self.gather_past(position, v, is_whole(fragment), number)?;
        }
        self.entries.sort_by_key(|entry| entry.target);
        self.merge_targets(v, untouched)?;
        self.end(v, fragments)
    }

    /// Copies the list of a vertex that only the complete layer has, with past arcs.
    fn keep_with_past(&mut self, v: VertexId) -> Result<()> {
        let base = &self.merge.inputs[0];
        let list = base.main.range(v as usize);
        self.copy_base(list)?;
        let mut has_past = false;
        if let Some((past, range)) = base.past_of(&mut self.cursors[0], v) {
            for at in range {
                let (born, died) = (base.code(past.born.at(at))?, base.code(past.died.at(at))?);
                let source = ArcLocation { lists: 1, at };
                let arc = BornArc { target: past.lists.targets[at], born, source };
                has_past |= self.append_past(arc, died);
            }
        }
        if has_past {
            self.chunk.past_vertices.push(v);
            self.chunk.past.end_list();
        }
        self.end(v, &[])
    }

    /// Merges the arcs of `v`, target by target. `untouched` are its arcs in the complete layer, which are
    /// copied where no entry has the same target.
    fn merge_targets(&mut self, v: VertexId, untouched: Range<usize>) -> Result<()> {
        let entries = std::mem::take(&mut self.entries);
        let mut rest = untouched;
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
                    self.target.alive.push((born, ArcLocation { lists: 0, at }));
                }
                rest.start += passed + same;
            }
            self.target.apply(entries)?;
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

    /// Where the list of `v` is in the complete layer.
    pub(super) fn base_range(&self, v: VertexId) -> Range<usize> {
        let base = &self.merge.inputs[0];
        if (v as usize) < base.main.all.extents().len() { base.main.range(v as usize) } else { 0..0 }
    }

    /// The targets of a part of that list.
    pub(super) fn base_targets(&self, range: Range<usize>) -> &[VertexId] {
        if range.is_empty() { &[] } else { self.base.targets(range) }
    }

    pub(super) fn base_code(&self, at: usize) -> Result<u32> {
        let base = &self.merge.inputs[0];
        base.born.map_or(Ok(0), |born| base.code(born.at(at)))
    }

    /// Appends the result for a target to the chunk.
    fn put(&mut self, target: VertexId) {
        let has_codes = self.has_codes();
        for (born, source) in self.target.alive.drain(..) {
            self.chunk.main.targets.push(target);
            if has_codes {
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
            if has_codes {
                self.chunk.dead.died.push(died);
            }
        }
    }

    /// Ends the list of a vertex; `fragments` are those in inputs that are not complete.
    pub(super) fn end(&mut self, v: VertexId, fragments: &[Fragment]) -> Result<()> {
        let merge = self.merge;
        if merge.is_complete() {
            self.chunk.main.end_list();
            return Ok(());
        }
        let list = self.chunk.main.list_start()..self.chunk.main.targets.len();
        let has_dead = self.chunk.dead_vertices.last() == Some(&v);
        let has_past = self.chunk.past_vertices.last() == Some(&v);
        let is_beyond = v as usize >= merge.num_vertices;
        if list.is_empty() && !has_dead && !has_past && (self.target.is_chained || is_beyond) {
            return Ok(());
        }
        let (oldest, newest) = (fragments[0], fragments[fragments.len() - 1]);
        let degree = match (merge.undoes, self.target.is_chained) {
            (false, _) => merge.inputs[newest.input as usize].degrees[newest.slot],
            (true, false) => list.len() as VertexId,
            (true, true) => (list.len() + self.count_below(v, has_dead)?) as VertexId,
        };
        let chained = self.target.is_chained;
        self.chunk.vertices.push(v);
        self.chunk.degrees.push(degree);
        self.chunk.previous.push(if chained {
            merge.inputs[oldest.input as usize].previous[oldest.slot]
        } else {
            0
        });
        self.chunk.main.end_list();
        Ok(())
    }

    /// The number of arcs in the layers below that stay alive.
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

    /// Calls `take` with the pieces of the list of `v` in the layers below: index of the layer, first arc,
    /// targets.
    pub(super) fn visit_below(
        &self,
        v: VertexId,
        mut take: impl FnMut(usize, usize, &[VertexId]),
    ) -> Result<()> {
        let Some(below) = self.merge.below.filter(|below| (v as usize) < below.num_vertices()) else {
            return Ok(());
        };
        let direction = self.merge.direction;
        let newest = match &self.merge.table {
            Some(table) => {
                let newest = table.head(v).map(|head| below.place(below.layers().len(), head, direction, v));
                newest.transpose()?.flatten()
            }
            None => below.newest_fragment(direction, v)?,
        };
        below.visit_from(newest, direction, v, &mut |stretch| {
            take(stretch.layer, stretch.start, &stretch.targets);
            Ok(Flow::More)
        })
    }

    /// Adds the list of `v` in the layers below to the entries.
    fn gather_below(&mut self, v: VertexId) -> Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        let first_lists = 2 * self.merge.inputs.len();
        self.visit_below(v, |layer, start, targets| {
            let lists = (first_lists + layer) as u32;
            entries.extend((start..).zip(targets).map(|(at, &target)| {
                let source = ArcLocation { lists, at };
                HistoryEntry { target, fragment: 0, kind: EntryKind::Main, born: 0, died: 0, source }
            }));
        })?;
        self.entries = entries;
        Ok(())
    }

    fn gather_dead(&mut self, position: u32, v: VertexId, fragment: u32) -> Result<()> {
        let input = &self.merge.inputs[position as usize];
        let Some((dead, range)) = input.dead_of(&mut self.cursors[position as usize], v) else {
            return Ok(());
        };
        for at in range {
            let died = match dead.died {
                Some(codes) => input.code(codes.at(at))?,
                None => input.first_code(),
            };
            if died <= self.target.newest {
                let (target, source) = (dead.lists.targets[at], ArcLocation { lists: 0, at: 0 });
                self.entries.push(HistoryEntry {
                    target,
                    fragment,
                    kind: EntryKind::Dead,
                    born: 0,
                    died,
                    source,
                });
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
        let input = &self.merge.inputs[position as usize];
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
                let source = ArcLocation { lists: 2 * position, at };
                self.entries.push(HistoryEntry {
                    target,
                    fragment,
                    kind: EntryKind::Main,
                    born,
                    died: 0,
                    source,
                });
            }
        }
        Ok(())
    }

    fn gather_past(&mut self, position: u32, v: VertexId, is_whole: bool, fragment: u32) -> Result<()> {
        let input = &self.merge.inputs[position as usize];
        let Some((past, range)) = input.past_of(&mut self.cursors[position as usize], v) else {
            return Ok(());
        };
        for at in range {
            let (born, died) = (input.code(past.born.at(at))?, input.code(past.died.at(at))?);
            let born = if born == 0 && is_whole { OLDER } else { born };
            if born <= self.target.newest || born == OLDER {
                let (target, source) = (past.lists.targets[at], ArcLocation { lists: 2 * position + 1, at });
                self.entries.push(HistoryEntry {
                    target,
                    fragment,
                    kind: EntryKind::Past,
                    born,
                    died,
                    source,
                });
            }
        }
        Ok(())
    }
}
