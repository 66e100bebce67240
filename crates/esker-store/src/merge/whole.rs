//! Merges a vertex with exactly one whole fragment and no tombstones or past arcs.
//!
//! A freeze copies short lists when one of their edges is removed, so such vertices are frequent. The list before
//! and after the copy are two ascending lists of targets: one pass over both finds the arcs that continued and
//! those that died with the fragment's layer.

use esker_format::Result;
use esker_graph::VertexId;

use super::direction::Fragment;
use super::list::{ArcLocation, BornArc};
use super::vertices::VertexMerger;

impl VertexMerger<'_, '_> {
    /// Whether exactly one fragment of a vertex is whole, none has tombstones or past arcs, and the graph has
    /// no parallel edges.
    pub(super) fn is_replaced_once(&mut self, v: VertexId, fragments: &[Fragment]) -> bool {
        let merge = self.merge;
        let wholes = fragments.iter().filter(|fragment| merge.is_whole(**fragment)).count();
        let cursors = &mut self.cursors;
        let has_history = |fragment: &Fragment| {
            let position = fragment.input as usize;
            let (input, cursor) = (&merge.inputs[position], &mut cursors[position]);
            input.dead_of(cursor, v).is_some() || input.past_of(cursor, v).is_some()
        };
        let is_plain = !merge.is_complete() && !merge.undoes && !merge.multigraph;
        is_plain && wholes == 1 && !fragments.iter().any(has_history)
    }

    /// Merges such a vertex. If `is_oldest`, the first fragment is whole and no distinguished version
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
            let first_lists = 2 * merge.inputs.len();
            self.visit_below(v, |layer, start, targets| {
                let lists = (first_lists + layer) as u32;
                let arcs = (start..).zip(targets);
                before.extend(arcs.map(|(at, &target)| (target, 0, ArcLocation { lists, at })));
            })?;
            self.add_arcs(&fragments[..whole], &mut before)?;
        }
        after.clear();
        self.add_arcs(&fragments[whole + 1..], &mut after)?;
        let Fragment { input: position, slot, .. } = fragments[whole];
        let input = &merge.inputs[position as usize];
        let first_code = input.first_code();
        let unmatched = if is_oldest { 0 } else { first_code };
        let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
        let mut has_past = false;
        for at in input.main.range(slot) {
            let target = input.main.targets[at];
            while let Some(&arc) = old.next_if(|arc| arc.0 < target) {
                has_past |= self.bury(arc, first_code);
            }
            while let Some(&arc) = new.next_if(|arc| arc.0 < target) {
                self.keep(arc);
            }
            let source = ArcLocation { lists: 2 * position, at };
            let own = input.born.map_or(Ok(0), |codes| input.code(codes.at(at)))?;
            let mut born = if own == 0 { unmatched } else { own };
            if let Some(&arc) = old.next_if(|arc| arc.0 == target) {
                if own == 0 && self.is_same(arc.2, source)? {
                    born = arc.1;
                } else {
                    has_past |= self.bury(arc, first_code);
                }
            }
            self.keep((target, born, source));
        }
        for &arc in old {
            has_past |= self.bury(arc, first_code);
        }
        new.for_each(|&arc| self.keep(arc));
        if has_past {
            self.chunk.past_vertices.push(v);
            self.chunk.past.end_list();
        }
        (self.before, self.after) = (before, after);
        self.target.is_chained = false;
        self.end(v, fragments)
    }

    /// Appends the arcs of fragments, and sorts all by target.
    fn add_arcs(&self, fragments: &[Fragment], arcs: &mut Vec<BornArc>) -> Result<()> {
        for &Fragment { input: position, slot, .. } in fragments {
            let input = &self.merge.inputs[position as usize];
            for at in input.main.range(slot) {
                let born = input.born.map_or(Ok(input.first_code()), |born| input.code(born.at(at)))?;
                arcs.push((input.main.targets[at], born, ArcLocation { lists: 2 * position, at }));
            }
        }
        // The layers below may have given several pieces.
        if !arcs.is_sorted_by_key(|arc| arc.0) {
            arcs.sort_by_key(|arc| arc.0);
        }
        Ok(())
    }

    /// Appends a living arc to the chunk.
    fn keep(&mut self, (target, born, source): BornArc) {
        self.chunk.main.targets.push(target);
        if self.merge.versions.len() > 1 {
            self.chunk.main.born.push(born);
        }
        self.main.note(source.lists, source.at..source.at + 1);
    }

    /// Appends a past arc to the chunk if a version saw it; returns whether it did.
    pub(super) fn bury(&mut self, (target, born, source): BornArc, died: u32) -> bool {
        let was_seen = born.max(1) < died;
        if was_seen {
            self.chunk.past.targets.push(target);
            self.chunk.past.born.push(born);
            self.chunk.past.died.push(died);
            self.past.note(source.lists, source.at..source.at + 1);
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
