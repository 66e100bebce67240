//! Applies the changes of the edges between two vertices to those that there are.

use esker_format::Result;
use esker_graph::Direction;

use super::changes::{EdgeChange, Growth, REMOVAL, Tally};
use super::resolve::{DeadCopy, NewArc, Resolver, ValueSource, VertexBuffers};

/// How the changes of the edges between two vertices count.
struct CountedChanges {
    is_loop: i64,
    /// The first version code whose changes are counted; `None`: each edge passes twice, and this is the
    /// second time.
    from: Option<u32>,
}

impl CountedChanges {
    fn new(resolver: &Resolver<'_>, arcs: &[EdgeChange]) -> Self {
        let EdgeChange { source, target, .. } = arcs[0];
        let is_first_end = resolver.direction == Direction::Out && (resolver.directed || source <= target);
        Self { is_loop: i64::from(source == target), from: is_first_end.then_some(resolver.counted_from) }
    }

    /// 1 if the changes of a version are counted, else 0.
    fn counts(&self, code: u32) -> u64 {
        u64::from(self.from.is_some_and(|from| code >= from))
    }

    fn grow(&self, tally: &mut Tally, code: u32, by: i64) {
        let growth: &mut Growth = &mut tally.growth[code as usize];
        growth.arcs += by;
        growth.loops += by * self.is_loop;
    }
}

impl<'a> Resolver<'a> {
    /// Applies all changes of one edge, where there are no parallel ones.
    pub(super) fn edge(
        &self,
        arcs: &[EdgeChange],
        buffers: &mut VertexBuffers<'a>,
        tally: &mut Tally,
    ) -> Result<()> {
        let target = arcs[0].target;
        let VertexBuffers { alive, past, dead, copies, .. } = buffers;
        let counted = CountedChanges::new(self, arcs);
        let first_alive = alive.len();
        let mut old_alive = copies.len();
        for change in arcs {
            let there = old_alive + alive.len() - first_alive;
            let set = change.row != REMOVAL;
            let counts = counted.counts(change.code);
            if set && there > 0 {
                let last =
                    alive[first_alive..].last().map_or_else(|| ValueSource::Old(copies[0]), |arc| arc.source);
                if self.same(last, change.row)? {
                    tally.counts.unchanged += counts;
                    continue;
                }
            }
            // A change replaces the edge.
            if old_alive > 0 {
                dead.push((target, change.code, old_alive));
                counted.grow(tally, change.code, -(old_alive as i64));
                old_alive = 0;
            }
            for arc in alive.drain(first_alive..) {
                counted.grow(tally, change.code, -1);
                if arc.born < change.code {
                    past.push(NewArc { died: change.code, ..arc });
                }
            }
            if set {
                let source = ValueSource::Row(change.row);
                alive.push(NewArc { target, born: change.code, died: 0, source });
                tally.added_arcs += 1;
                counted.grow(tally, change.code, 1);
            }
            *match (set, there) {
                (true, 0) => &mut tally.counts.added,
                (true, _) => &mut tally.counts.updated,
                (false, 0) => &mut tally.counts.missing,
                (false, _) => &mut tally.counts.removed,
            } += counts * if set { 1 } else { there.max(1) as u64 };
        }
        Ok(())
    }

    /// Applies all changes of the edges between two vertices, where parallel ones are kept. Of what a commit
    /// removes, those edges stay that it adds again with the same values: so it removes some of several.
    pub(super) fn parallel(
        &self,
        arcs: &[EdgeChange],
        buffers: &mut VertexBuffers<'a>,
        tally: &mut Tally,
    ) -> Result<()> {
        let target = arcs[0].target;
        let VertexBuffers { alive, past, dead, some_dead, copies, rows, .. } = buffers;
        let counted = CountedChanges::new(self, arcs);
        let first_alive = alive.len();
        // For each old copy the code of the commit that removed it, or 0.
        let mut died = vec![0; copies.len()];
        for changes in arcs.chunk_by(|a, b| a.code == b.code) {
            let (code, counts) = (changes[0].code, counted.counts(changes[0].code));
            let removal = changes.iter().rposition(|change| change.row == REMOVAL);
            rows.clear();
            rows.extend(changes[removal.map_or(0, |at| at + 1)..].iter().map(|change| change.row));
            let mut gone = 0;
            if removal.is_some() {
                let there = died.iter().filter(|&&died| died == 0).count() + alive.len() - first_alive;
                let is_none = there == 0 && changes[0].row == REMOVAL;
                for (&copy, died) in copies.iter().zip(&mut died).filter(|(_, died)| **died == 0) {
                    if !self.take_same(ValueSource::Old(copy), rows)? {
                        (*died, gone) = (code, gone + 1);
                    }
                }
                for arc in alive.split_off(first_alive) {
                    if self.take_same(arc.source, rows)? {
                        alive.push(arc);
                        continue;
                    }
                    past.push(NewArc { died: code, ..arc });
                    gone += 1;
                }
                tally.counts.removed += counts * gone;
                tally.counts.missing += counts * u64::from(is_none);
            }
            let source = |row| NewArc { target, born: code, died: 0, source: ValueSource::Row(row) };
            alive.extend(rows.iter().map(|&row| source(row)));
            tally.added_arcs += rows.len() as u64;
            tally.counts.added += counts * rows.len() as u64;
            counted.grow(tally, code, rows.len() as i64 - gone as i64);
        }
        match died.first() {
            None | Some(0) if died.iter().all(|&died| died == 0) => {}
            Some(&code) if died.iter().all(|&died| died == code) => dead.push((target, code, died.len())),
            _ => some_dead.extend(
                copies.iter().zip(died).filter(|&(_, died)| died > 0).map(|(&arc, died)| DeadCopy {
                    target,
                    arc,
                    died,
                }),
            ),
        }
        Ok(())
    }

    /// Takes a row with the values of an arc out of some; returns whether there was one.
    fn take_same(&self, arc: ValueSource<'_>, rows: &mut Vec<u32>) -> Result<bool> {
        for at in 0..rows.len() {
            if self.same(arc, rows[at])? {
                rows.remove(at);
                return Ok(true);
            }
        }
        Ok(false)
    }
}
