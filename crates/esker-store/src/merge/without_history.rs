//! Merges a vertex with at most one whole fragment and no tombstones or past arcs, without histories.
//!
//! A freeze copies short lists, so such vertices are frequent. The list before and after the copy are two
//! ascending lists of targets: one pass over both finds the arcs that continued and those that died with the
//! fragment's layer. Without a whole fragment, the list of the complete layer is copied between the arcs that
//! later layers add.

use std::ops::Range;

use esker_format::Result;
use esker_graph::VertexId;

use super::direction::Fragment;
use super::list::{ArcLocation, BornArc};
use super::vertices::VertexMerger;

impl VertexMerger<'_, '_> {
    /// The number of whole fragments of a vertex, 0 or 1, if one pass can merge them: neither the fragments
    /// nor the complete layer have tombstones or past arcs of it. Else `None`.
    pub(super) fn plain_wholes(
        &mut self,
        v: VertexId,
        fragments: &[Fragment],
        is_oldest: bool,
    ) -> Option<usize> {
        let merge = self.merge;
        let wholes = fragments.iter().filter(|fragment| merge.is_whole(**fragment)).count();
        // Without a whole fragment, what is below stays there unless the merge is complete.
        if merge.undoes || wholes > 1 || (wholes == 0 && !merge.is_complete()) {
            return None;
        }
        let cursors = &mut self.cursors;
        let mut has_history = |position: usize| {
            let (input, cursor) = (&merge.inputs[position], &mut cursors[position]);
            input.dead_of(cursor, v).is_some() || input.past_of(cursor, v).is_some()
        };
        let is_any = fragments.iter().any(|fragment| has_history(fragment.input as usize));
        let is_base = !is_oldest && merge.is_complete() && has_history(0);
        (!is_any && !is_base).then_some(wholes)
    }

    /// Merges a vertex with one whole fragment. If `is_oldest`, it is the first and no distinguished version
    /// precedes it.
    pub(super) fn replace_once(
        &mut self,
        v: VertexId,
        fragments: &[Fragment],
        is_oldest: bool,
    ) -> Result<()> {
        let merge = self.merge;
        let whole = fragments.iter().position(|fragment| merge.is_whole(*fragment)).unwrap_or(0);
        let (mut before, mut after) = (std::mem::take(&mut self.before), std::mem::take(&mut self.after));
        before.clear();
        if !is_oldest {
            self.add_older(v, &mut before)?;
            self.add_arcs(&fragments[..whole], &mut before)?;
        }
        after.clear();
        self.add_arcs(&fragments[whole + 1..], &mut after)?;
        let Fragment { input: position, slot, .. } = fragments[whole];
        let input = &merge.inputs[position as usize];
        let first_code = input.first_code();
        let unmatched = if is_oldest { 0 } else { first_code };
        let range = input.main.range(slot);
        let mut has_past = false;
        if before.is_empty() && after.is_empty() && input.born.is_none() {
            self.append_born_together(position, range, unmatched);
        } else {
            let mut same = std::mem::take(&mut self.same);
            let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
            for at in range {
                let target = input.main.targets[at];
                if at == input.main.range(slot).start || input.main.targets[at - 1] < target {
                    has_past |= self.append_all_past(&mut same, first_code);
                    while let Some(&arc) = old.next_if(|arc| arc.target < target) {
                        has_past |= self.append_past(arc, first_code);
                    }
                    while let Some(&arc) = new.next_if(|arc| arc.target < target) {
                        self.append_living(arc);
                    }
                    same.extend(std::iter::from_fn(|| old.next_if(|arc| arc.target == target)));
                }
                let source = ArcLocation { lists: 2 * position, at };
                let born = match input.born.map_or(Ok(0), |codes| input.code(codes.at(at)))? {
                    0 => self.birth(&mut same, source)?.unwrap_or(unmatched),
                    own => own,
                };
                self.append_living(BornArc { target, born, source });
            }
            has_past |= self.append_all_past(&mut same, first_code);
            for &arc in old {
                has_past |= self.append_past(arc, first_code);
            }
            new.for_each(|&arc| self.append_living(arc));
            self.same = same;
        }
        if has_past {
            self.chunk.past_vertices.push(v);
            self.chunk.past.end_list();
        }
        (self.before, self.after) = (before, after);
        self.target.is_chained = false;
        self.end(v, fragments)
    }

    /// Merges a vertex without a whole fragment in a merge with the complete layer.
    pub(super) fn extend_once(&mut self, v: VertexId, fragments: &[Fragment]) -> Result<()> {
        let mut added = std::mem::take(&mut self.after);
        added.clear();
        self.add_arcs(fragments, &mut added)?;
        let mut rest = self.base_range(v);
        for &arc in &added {
            let passed = self.base_targets(rest.clone()).partition_point(|&other| other <= arc.target);
            self.copy_base(rest.start..rest.start + passed)?;
            rest.start += passed;
            self.append_living(arc);
        }
        self.copy_base(rest)?;
        self.after = added;
        self.end(v, fragments)
    }

    /// Adds the arcs of a vertex in layers older than its fragments: in the complete layer, or below the
    /// inputs.
    fn add_older(&self, v: VertexId, arcs: &mut Vec<BornArc>) -> Result<()> {
        if self.merge.is_complete() {
            let range = self.base_range(v);
            for (at, &target) in range.clone().zip(self.base_targets(range)) {
                let source = ArcLocation { lists: 0, at };
                arcs.push(BornArc { target, born: self.base_code(at)?, source });
            }
            return Ok(());
        }
        let first_lists = 2 * self.merge.inputs.len();
        self.visit_below(v, |layer, start, targets| {
            let lists = (first_lists + layer) as u32;
            let born_before = |(at, &target)| BornArc { target, born: 0, source: ArcLocation { lists, at } };
            arcs.extend((start..).zip(targets).map(born_before));
        })
    }

    /// Takes an arc with the same properties as `source` out of some with the same target, and returns its
    /// birth.
    fn birth(&self, same: &mut Vec<BornArc>, source: ArcLocation) -> Result<Option<u32>> {
        for index in 0..same.len() {
            if self.is_same(same[index].source, source)? {
                return Ok(Some(same.remove(index).born));
            }
        }
        Ok(None)
    }

    /// Appends the arcs of an input that were born at the same time to the chunk.
    fn append_born_together(&mut self, position: u32, range: Range<usize>, born: u32) {
        let input = &self.merge.inputs[position as usize];
        let main = &mut self.chunk.main;
        main.targets.extend_from_slice(&input.main.targets[range.clone()]);
        if self.merge.versions.len() > 1 {
            main.born.resize(main.targets.len(), born);
        }
        self.main.note(2 * position, range);
    }

    /// Appends past arcs to the chunk, those that a version saw, and empties the list; returns whether there
    /// was one.
    fn append_all_past(&mut self, arcs: &mut Vec<BornArc>, died: u32) -> bool {
        arcs.drain(..).fold(false, |any, arc| self.append_past(arc, died) | any)
    }

    /// Appends the arcs of fragments, and sorts all by target.
    fn add_arcs(&self, fragments: &[Fragment], arcs: &mut Vec<BornArc>) -> Result<()> {
        for &Fragment { input: position, slot, .. } in fragments {
            let input = &self.merge.inputs[position as usize];
            for at in input.main.range(slot) {
                let born = input.born.map_or(Ok(input.first_code()), |born| input.code(born.at(at)))?;
                let source = ArcLocation { lists: 2 * position, at };
                arcs.push(BornArc { target: input.main.targets[at], born, source });
            }
        }
        // The layers below may have given several pieces.
        if !arcs.is_sorted_by_key(|arc| arc.target) {
            arcs.sort_by_key(|arc| arc.target);
        }
        Ok(())
    }

    /// Appends a living arc to the chunk.
    fn append_living(&mut self, arc: BornArc) {
        self.chunk.main.targets.push(arc.target);
        if self.merge.versions.len() > 1 {
            self.chunk.main.born.push(arc.born);
        }
        self.main.note(arc.source.lists, arc.source.at..arc.source.at + 1);
    }

    /// Appends a past arc to the chunk if a version saw it; returns whether it did.
    pub(super) fn append_past(&mut self, arc: BornArc, died: u32) -> bool {
        let was_seen = arc.born.max(1) < died;
        if was_seen {
            self.chunk.past.targets.push(arc.target);
            self.chunk.past.born.push(arc.born);
            self.chunk.past.died.push(died);
            self.past.note(arc.source.lists, arc.source.at..arc.source.at + 1);
        }
        was_seen
    }

    /// Whether two arcs have the same property values.
    fn is_same(&self, one: ArcLocation, other: ArcLocation) -> Result<bool> {
        for number in 0..self.merge.num_properties {
            if self.bits(one, number)? != self.bits(other, number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn bits(&self, source: ArcLocation, number: usize) -> Result<u64> {
        let which = source.lists as usize;
        match self.merge.properties.get(which) {
            // A property defined later has no values here.
            Some(verified) => Ok(verified.get(number).map_or(0, |values| values.bits_at(source.at))),
            None => {
                let values = self.merge.lists[which].property(number);
                values.map_or(Ok(0), |values| values.bits_at(source.at))
            }
        }
    }
}
