//! Removes some of the edges between two vertices.
//!
//! A commit knows only the removal of all of them. So it removes all, and adds those that stay again, with
//! the same values; where it becomes a layer, these stay what they were.

use std::collections::HashSet;

use esker_format::memory::push;
use esker_format::{Duplicates, Error, Result};

use crate::commit::{Batch, BatchMatch, CommitEdge, KINDS_NAMED_MAX, RuleScope, UnitedEdges, unknown_kind};
use crate::database::batch::resolve::{CommitBuilder, Earlier, IDS_PER_CHECK};
use crate::database::batch::standing::Ends;
use crate::freeze::REMOVAL;

impl CommitBuilder<'_> {
    /// Refuses removals of edges of a kind that no edge ever had: nothing would tell a slip of the pen from
    /// edges that are gone.
    pub(crate) fn expect_kinds(&self, batch: &Batch) -> Result<()> {
        let Some(property) = batch.edge_properties().iter().position(|property| property.kind) else {
            return Ok(());
        };
        // A removal that finds nothing is counted.
        if batch.counts_not_found {
            return Ok(());
        }
        let Some(known) = self.writer.texts.get(property).and_then(Option::as_ref) else { return Ok(()) };
        let mut seen: HashSet<&[u8]> = HashSet::new();
        for (index, wanted) in batch.matches.iter().enumerate() {
            if index % IDS_PER_CHECK == 0 {
                self.cancel.check()?;
            }
            let Some(kind) = wanted.text_of(property as u32).filter(|kind| !seen.contains(kind)) else {
                continue;
            };
            // The batch itself may add the first edge of a kind.
            let is_new = || batch.texts[property].list.iter().any(|text| text == kind);
            if known.code_of(kind)?.is_none() && !is_new() {
                let kinds = known.first(KINDS_NAMED_MAX)?;
                let kind = String::from_utf8_lossy(kind);
                return Err(Error::invalid(unknown_kind(&kind, "the database", &kinds, known.len())));
            }
            seen.insert(kind);
        }
        Ok(())
    }

    /// The property bits of the edges between two vertices after the changes so far. Those that are kept are
    /// taken out.
    fn edges_between(
        &mut self,
        batch: &Batch,
        ends: Ends,
        rule: Duplicates,
        earlier: &Earlier<'_>,
    ) -> Result<Vec<Vec<u64>>> {
        let scope = RuleScope::of(rule, batch.edge_properties());
        if let Some(kept) = self.standing.kept.remove(&ends) {
            return Ok(kept);
        }
        let changes = self.standing.changes_of(ends, &self.commit.edges);
        let is_new = u64::from(ends.source.max(ends.target))
            >= self.writer.num_vertices() - self.commit.new_ids.len() as u64;
        let mut edges = match is_new || changes.is_removed {
            true => Vec::new(),
            false => (earlier.edges)(ends.source, ends.target)?,
        };
        for row in changes.rows {
            let added: Vec<u64> = self.commit.rows.iter().map(|column| column[row as usize]).collect();
            let same = edges.iter_mut().find(|edge| scope.is_same(edge, &added));
            let rule = if batch.replacing.contains(&row) { Duplicates::Last } else { rule };
            match (same, rule) {
                (None, _) | (_, Duplicates::Keep) => edges.push(added),
                (Some(_), Duplicates::Rows) => {}
                (Some(same), rule) => {
                    // The rule refuses the second of two later, and names both.
                    let rule = if rule == Duplicates::Refuse { Duplicates::Last } else { rule };
                    let names = || {
                        format!(
                            "from {} to {}",
                            self.writer.name_of(ends.source),
                            self.writer.name_of(ends.target)
                        )
                    };
                    let united = UnitedEdges { properties: batch.edge_properties(), wider: earlier.wider };
                    let Some(mut bits) = united.united(rule, same, added, &names)? else { continue };
                    if let Some(ids) = batch.edge_ids {
                        bits[ids] = same[ids];
                    }
                    *same = bits;
                }
            }
        }
        Ok(edges)
    }

    /// Counts the edges between two vertices, which are about to be removed; returns how many they are.
    pub(crate) fn count_removed(&mut self, batch: &Batch, ends: Ends, earlier: &Earlier<'_>) -> Result<u64> {
        let rule = match batch.duplicates() {
            rule if rule.keeps_parallel() => rule,
            // There is one edge at most, or one of each kind, whatever the rule makes of it.
            _ => Duplicates::Last,
        };
        let removed = self.edges_between(batch, ends, rule, earlier)?.len() as u64;
        self.standing.removed += removed;
        Ok(removed)
    }

    /// Removes those edges between two vertices that a match of the batch selects; returns how many.
    pub(crate) fn remove_edges(
        &mut self,
        batch: &Batch,
        ends: Ends,
        wanted: u32,
        earlier: &Earlier<'_>,
    ) -> Result<u64> {
        let wanted = &batch.matches[wanted as usize];
        let code_of = |property: u32, text: &[u8]| {
            let known = self.writer.texts.get(property as usize).and_then(Option::as_ref);
            known.map_or(Ok(None), |known| known.code_of(text))
        };
        let Some(bits) = wanted.bits(batch.edge_properties(), code_of)? else { return Ok(0) };
        let was_kept = self.standing.kept.contains_key(&ends);
        let mut edges = self.edges_between(batch, ends, batch.duplicates(), earlier)?;
        let (before, mut quota) = (edges.len(), wanted.at_most.unwrap_or(u64::MAX));
        edges.retain(|edge| {
            let is_removed = quota > 0 && BatchMatch::has(batch.edge_properties(), edge, &bits);
            quota -= u64::from(is_removed);
            !is_removed
        });
        let removed = (before - edges.len()) as u64;
        self.standing.removed += removed;
        if removed > 0 || was_kept {
            self.standing.kept.insert(ends, edges);
        }
        Ok(removed)
    }

    /// Gives the commit the edges that stay between two vertices, where it has not got them yet.
    pub(crate) fn settle(&mut self, batch_rows: u32, ends: Ends) -> Result<()> {
        let Some(kept) = self.standing.kept.remove(&ends) else { return Ok(()) };
        let Ends { source, target } = ends;
        self.push_change(CommitEdge { source, target, row: REMOVAL })?;
        for bits in &kept {
            let row = batch_rows.checked_add(self.standing.added_rows).filter(|&row| row < REMOVAL);
            let row =
                row.ok_or_else(|| Error::invalid("a commit takes at most 2^32 - 2 edges".to_owned()))?;
            self.standing.added_rows += 1;
            for (column, &bits) in self.commit.rows.iter_mut().zip(bits) {
                push(column, bits)?;
            }
            self.push_change(CommitEdge { source, target, row })?;
        }
        Ok(())
    }

    /// The same between all vertices.
    pub(crate) fn settle_all(&mut self, batch_rows: u32) -> Result<()> {
        while let Some((&ends, _)) = self.standing.kept.first_key_value() {
            self.cancel.check()?;
            self.settle(batch_rows, ends)?;
        }
        Ok(())
    }
}
