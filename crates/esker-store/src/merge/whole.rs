//! Merging a vertex of which one fragment stands for the whole list, where nothing else died.
//!
//! Short lists are copied when an edge of theirs goes, so there are many of these. What the list was before, and what became of it, are two
//! ascending lists of targets: one pass over both says which arcs went on, and which died with the layer of the fragment.

use esker_graph::VertexId;

use super::list::Source;
use super::weave::{Place, Weave};
use crate::error::Result;

/// An arc with its birth.
pub(super) type Arc = (VertexId, u32, Source);

impl Weave<'_, '_> {
    /// Whether exactly one fragment of a vertex is whole, no tombstones or past arcs stand beside any of them, and no edge has copies.
    pub(super) fn is_replaced_once(&mut self, v: VertexId, places: &[Place]) -> bool {
        let direct = self.direct;
        let wholes = places.iter().filter(|place| direct.inputs[place.1 as usize].is_whole(place.2)).count();
        let cursors = &mut self.cursors;
        let has_history = |&(_, position, _): &Place| {
            let (input, cursor) = (&direct.inputs[position as usize], &mut cursors[position as usize]);
            input.dead_of(cursor, v).is_some() || input.past_of(cursor, v).is_some()
        };
        let is_plain = !direct.is_complete() && !direct.is_cut && !direct.multigraph;
        is_plain && wholes == 1 && !places.iter().any(has_history)
    }

    /// Merges such a vertex. `is_oldest`: whatever was before its first fragment, which is whole, is of no version that is told apart.
    pub(super) fn replace_once(&mut self, v: VertexId, places: &[Place], is_oldest: bool) -> Result<()> {
        let direct = self.direct;
        let is_whole = |place: &Place| direct.inputs[place.1 as usize].is_whole(place.2);
        let whole = places.iter().position(is_whole).unwrap_or(0);
        let (mut before, mut after) = (std::mem::take(&mut self.before), std::mem::take(&mut self.after));
        before.clear();
        if !is_oldest {
            let first_lists = 2 * direct.inputs.len();
            self.visit_below(v, |layer, start, targets| {
                let lists = (first_lists + layer) as u32;
                let arcs = (start..).zip(targets);
                before.extend(arcs.map(|(at, &target)| (target, 0, Source { lists, at })));
            })?;
            self.add_arcs(&places[..whole], &mut before)?;
        }
        after.clear();
        self.add_arcs(&places[whole + 1..], &mut after)?;
        let (_, position, slot) = places[whole];
        let input = &direct.inputs[position as usize];
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
            let source = Source { lists: 2 * position, at };
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
        self.end(v, places)
    }

    /// Adds the arcs of fragments to others, by target.
    fn add_arcs(&self, places: &[Place], arcs: &mut Vec<Arc>) -> Result<()> {
        for &(_, position, slot) in places {
            let input = &self.direct.inputs[position as usize];
            for at in input.main.range(slot) {
                let born = input.born.map_or(Ok(input.first_code()), |born| input.code(born.at(at)))?;
                arcs.push((input.main.targets[at], born, Source { lists: 2 * position, at }));
            }
        }
        // The layers below may have given several stretches.
        if !arcs.is_sorted_by_key(|arc| arc.0) {
            arcs.sort_by_key(|arc| arc.0);
        }
        Ok(())
    }

    /// Puts an arc that is alive into the chunk.
    fn keep(&mut self, (target, born, source): Arc) {
        self.chunk.main.targets.push(target);
        if self.direct.told.len() > 1 {
            self.chunk.main.born.push(born);
        }
        self.main.note(source.lists, source.at..source.at + 1);
    }

    /// Puts an arc into the past, if a version ever saw it.
    fn bury(&mut self, (target, born, source): Arc, died: u32) -> bool {
        let was_seen = born.max(1) < died;
        if was_seen {
            self.chunk.past.targets.push(target);
            self.chunk.past.born.push(born);
            self.chunk.past.died.push(died);
            self.past.note(source.lists, source.at..source.at + 1);
        }
        was_seen
    }

    /// Whether two arcs have the same properties.
    fn is_same(&self, one: Source, other: Source) -> Result<bool> {
        for number in 0..self.direct.num_properties {
            if self.bits(one, number)? != self.bits(other, number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn bits(&self, source: Source, number: usize) -> Result<u64> {
        let which = source.lists as usize;
        match self.direct.properties.get(which) {
            // A property that was defined later has no values here.
            Some(verified) => Ok(verified.get(number).map_or(0, |values| values.bits_at(source.at))),
            None => {
                let values = self.direct.lists[which].property(number);
                values.map_or(Ok(0), |values| values.bits_at(source.at))
            }
        }
    }
}
