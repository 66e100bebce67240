//! Applies the rule for duplicate edges to a commit, so that neither the log nor a layer needs to know the
//! rule.

use std::cell::Cell;
use std::collections::HashSet;

use esker_format::memory::{filled, with_room};
use esker_format::{Duplicates, ElementType, Error, PropertyRecord, Result, Widening};
use esker_graph::{Cancel, Run, VertexId};
use esker_layers::property::PropertyValue;

use super::content::{Commit, CommitEdge};
use super::exact::exact_number;
use super::missing::reserved;
use super::pair::{PairEdges, Rewritten, rewrite};
use super::scope::{RuleScope, reads_edges};
use crate::freeze::{EdgeChange, REMOVAL, sorted_edges};

/// A rule, and what its application needs to know.
pub(crate) struct DuplicateRule<'a> {
    pub(crate) rule: Duplicates,
    pub(crate) scope: RuleScope,
    /// The rows of edges that replace the one that exists.
    pub(crate) replacing: &'a HashSet<u32>,
    /// The property that has ids of edges.
    pub(crate) edge_ids: Option<usize>,
    pub(crate) directed: bool,
    /// The edge properties of the database, by number.
    pub(crate) properties: &'a [PropertyRecord],
    /// The property bits of the edges between two vertices after all earlier commits. Only rules for which
    /// [`reads_edges`] holds ask.
    pub(crate) earlier: &'a dyn Fn(VertexId, VertexId) -> Result<Vec<Vec<u64>>>,
    /// The external id of a vertex, for errors.
    pub(crate) name: &'a dyn Fn(VertexId) -> String,
    pub(crate) cancel: &'a Cancel,
    /// The threads that sort the edges.
    pub(crate) run: &'a Run,
    /// The number of vertices, those of the commit included.
    pub(crate) num_vertices: u64,
    /// Set with an error if the rule can be applied once a property has a wider type.
    pub(crate) wider: &'a Cell<Option<WiderSum>>,
}

/// The wider type that an edge property needs for a sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WiderSum {
    /// The number of the property.
    pub(crate) property: usize,
    pub(crate) element: ElementType,
}

/// The number of edges to unite between two checks for cancellation.
const EDGES_PER_CHECK: usize = 1 << 17;

/// An edge while the changes of it are read in order.
enum Standing {
    Absent,
    /// As an earlier commit left it.
    Earlier(Vec<u64>),
    /// As the change with this index of the same commit sets it.
    Set(usize),
}

impl DuplicateRule<'_> {
    /// Leaves one of the edges that the commit adds between two vertices, and none where the rule prefers the
    /// edge of an earlier commit. Returns the number of edges that were given in addition to another.
    pub(crate) fn apply(&self, commit: &mut Commit) -> Result<u64> {
        let (count, reads_edges) = (commit.edges.len(), reads_edges(self.rule, self.properties));
        if self.rule == Duplicates::Keep || (count < 2 && !reads_edges) {
            return Ok(0);
        }
        let (directed, edges) = (self.directed, &commit.edges);
        let edge = |index: usize| {
            let CommitEdge { source: a, target: b, .. } = edges[index];
            let (source, target) = if directed || a <= b { (a, b) } else { (b, a) };
            EdgeChange { source, target, code: (index >> 32) as u32, row: index as u32 }
        };
        let order = sorted_edges(count, &edge, self.num_vertices, self.run, self.cancel)?;
        let index_of = |edge: &EdgeChange| (edge.code as usize) << 32 | edge.row as usize;
        let (mut dropped, mut rewritten) = (filled(false, count)?, Vec::new());
        let (mut duplicates, mut edges, mut next_check) = (0, 0, EDGES_PER_CHECK);
        for same in order.chunk_by(|a, b| (a.source, a.target) == (b.source, b.target)) {
            edges += same.len();
            if edges >= next_check {
                self.cancel.check()?;
                next_check = edges + EDGES_PER_CHECK;
            }
            if same.len() > 1 || reads_edges {
                let indexes = same.iter().map(index_of);
                let (a, b) = (same[0].source, same[0].target);
                duplicates += match self.scope {
                    RuleScope::Ends => self.unite(commit, a, b, indexes, &mut dropped)?,
                    RuleScope::Kind(_) | RuleScope::Row { .. } => {
                        self.unite_within(commit, a, b, indexes, &mut dropped, &mut rewritten)?
                    }
                };
            }
        }
        drop(order);
        if dropped.contains(&true) {
            remove(commit, &dropped)?;
        }
        rewrite(commit, &rewritten)?;
        Ok(duplicates)
    }

    /// Applies the rule to the changes of the edges between two vertices, in order.
    fn unite(
        &self,
        commit: &mut Commit,
        a: VertexId,
        b: VertexId,
        indexes: impl Iterator<Item = usize>,
        dropped: &mut [bool],
    ) -> Result<u64> {
        let reads_edges = reads_edges(self.rule, self.properties);
        let earlier = if reads_edges { (self.earlier)(a, b)?.pop() } else { None };
        let mut standing = earlier.map_or(Standing::Absent, Standing::Earlier);
        let mut duplicates = 0;
        for index in indexes {
            let CommitEdge { source, target, row } = commit.edges[index];
            if row == REMOVAL {
                standing = Standing::Absent;
                continue;
            }
            let (before, earlier): (Vec<u64>, _) = match &standing {
                Standing::Absent => {
                    standing = Standing::Set(index);
                    continue;
                }
                Standing::Earlier(bits) => (bits.clone(), None),
                Standing::Set(at) => (bits_of(commit, *at), Some(*at)),
            };
            let rule = self.rule_of(row);
            duplicates += u64::from(!self.replacing.contains(&row));
            if rule == Duplicates::Refuse {
                return Err(self.refused(source, target, earlier, index));
            }
            let names = || format!("from {} to {}", (self.name)(source), (self.name)(target));
            let Some(bits) = self.as_united().united(rule, &before, bits_of(commit, index), &names)? else {
                dropped[index] = true;
                continue;
            };
            // The change that stays is the first of those of this commit.
            let kept = match standing {
                Standing::Set(at) => at,
                _ => index,
            };
            let row = commit.edges[kept].row as usize;
            commit.rows.iter_mut().zip(bits).for_each(|(column, bits)| column[row] = bits);
            dropped[index] = kept != index;
            standing = Standing::Set(kept);
        }
        Ok(duplicates)
    }

    /// As [`DuplicateRule::unite`] where edges that are no duplicates stay beside each other. A commit can
    /// only remove all edges between two vertices, so it removes all and adds them again if one of an earlier
    /// commit changes.
    fn unite_within(
        &self,
        commit: &mut Commit,
        source: VertexId,
        target: VertexId,
        indexes: impl Iterator<Item = usize> + Clone,
        dropped: &mut [bool],
        rewritten: &mut Vec<Rewritten>,
    ) -> Result<u64> {
        let mut standing = PairEdges::new(self.scope, (self.earlier)(source, target)?);
        let (mut duplicates, mut is_rewritten) = (0, false);
        let names = || format!("from {} to {}", (self.name)(source), (self.name)(target));
        for index in indexes.clone() {
            if commit.edges[index].row == REMOVAL {
                standing.clear();
                is_rewritten = false;
                continue;
            }
            let added = bits_of(commit, index);
            let Some(same) = standing.find(&added) else {
                standing.push(added, index);
                continue;
            };
            let row = commit.edges[index].row;
            let rule = self.rule_of(row);
            duplicates += u64::from(!self.replacing.contains(&row));
            if rule == Duplicates::Refuse {
                let CommitEdge { source, target, .. } = commit.edges[index];
                return Err(self.refused(source, target, same.change, index));
            }
            dropped[index] = true;
            let Some(mut bits) = self.as_united().united(rule, &same.bits, added, &names)? else { continue };
            if let Some(ids) = self.edge_ids {
                bits[ids] = same.bits[ids];
            }
            if bits == same.bits {
                continue;
            }
            match same.change {
                Some(first) => {
                    let row = commit.edges[first].row as usize;
                    commit.rows.iter_mut().zip(&bits).for_each(|(column, &bits)| column[row] = bits);
                }
                None => is_rewritten = true,
            }
            same.bits = bits;
        }
        if is_rewritten {
            indexes.for_each(|index| dropped[index] = true);
            rewritten.push(Rewritten { source, target, edges: standing.into_bits() });
        }
        Ok(duplicates)
    }

    /// The error for the edge of a commit at an index that exists since the commit's edge `earlier`, or since
    /// an earlier commit.
    fn refused(&self, source: VertexId, target: VertexId, earlier: Option<usize>, index: usize) -> Error {
        let number = index + 1;
        let what = match earlier {
            Some(earlier) => format!("is added twice, as edges {} and {number} of the commit", earlier + 1),
            None => format!("exists already and is added again, as edge {number} of the commit"),
        };
        let (source, target) = ((self.name)(source), (self.name)(target));
        Error::invalid(format!(
            "the edge from {source} to {target} {what}: leave it out, or choose another rule for duplicates"
        ))
    }

    fn as_united(&self) -> UnitedEdges<'_> {
        UnitedEdges { properties: self.properties, wider: self.wider }
    }

    /// The rule for the edge of a row.
    fn rule_of(&self, row: u32) -> Duplicates {
        if self.replacing.contains(&row) { Duplicates::Last } else { self.rule }
    }
}

/// What tells how edges of the same ends are united.
#[derive(Clone, Copy)]
pub(crate) struct UnitedEdges<'a> {
    /// The edge properties of the database, by number.
    pub(crate) properties: &'a [PropertyRecord],
    /// Set with an error if the rule can be applied once a property has a wider type.
    pub(crate) wider: &'a Cell<Option<WiderSum>>,
}

impl UnitedEdges<'_> {
    /// The property bits of an edge that exists and is added again; `None` if it stays as it is.
    pub(crate) fn united(
        &self,
        rule: Duplicates,
        before: &[u64],
        mut added: Vec<u64>,
        names: &dyn Fn() -> String,
    ) -> Result<Option<Vec<u64>>> {
        let weight = self.properties.iter().position(|property| property.weight);
        match (rule, weight) {
            (Duplicates::Keep | Duplicates::Last, _) => Ok(Some(added)),
            (Duplicates::Min | Duplicates::Max, Some(weight)) => {
                let (property, old, new) = (&self.properties[weight], before[weight], added[weight]);
                let element = property.element;
                let is_better = match rule {
                    // A weight is better than none.
                    _ if property.is_missing(old) || property.is_missing(new) => !property.is_missing(new),
                    Duplicates::Min => is_less(element, new, old),
                    _ => is_less(element, old, new),
                };
                Ok(is_better.then_some(added))
            }
            (Duplicates::Sum, Some(weight)) => {
                let property = &self.properties[weight];
                let sum = match sum(property.element, before[weight], added[weight]) {
                    // A missing weight adds nothing.
                    _ if property.is_missing(added[weight]) => before[weight],
                    _ if property.is_missing(before[weight]) => added[weight],
                    Sum::Held(bits) if !property.is_missing(bits) => bits,
                    Sum::Held(_) => {
                        return Err(reserved(property));
                    }
                    refused => {
                        if let Sum::Wider(element) = refused {
                            self.wider.set(Some(WiderSum { property: weight, element }));
                        }
                        return Err(Error::invalid(format!(
                            "the weights {:?} of the edges {} add up to more than 64 bits hold: choose another rule for duplicates",
                            property.name,
                            names()
                        )));
                    }
                };
                added.copy_from_slice(before);
                added[weight] = sum;
                Ok(Some(added))
            }
            _ => Ok(None),
        }
    }
}

/// The property bits that a change sets.
fn bits_of(commit: &Commit, index: usize) -> Vec<u64> {
    let row = commit.edges[index].row as usize;
    commit.rows.iter().map(|column| column[row]).collect()
}

/// Removes changes, and the rows of those that have one.
fn remove(commit: &mut Commit, dropped: &[bool]) -> Result<()> {
    let mut is_dropped = dropped.iter();
    commit.edges.retain(|_| !is_dropped.next().copied().unwrap_or(false));
    let num_rows = commit.num_rows();
    for column in &mut commit.rows {
        let mut kept = with_room(num_rows)?;
        let added = commit.edges.iter().filter(|edge| edge.row != REMOVAL);
        kept.extend(added.map(|edge| column[edge.row as usize]));
        *column = kept;
    }
    let mut next = 0..;
    for (edge, row) in commit.edges.iter_mut().filter(|edge| edge.row != REMOVAL).zip(&mut next) {
        edge.row = row;
    }
    Ok(())
}

/// Whether the first of two numbers is the smaller.
fn is_less(element: ElementType, a: u64, b: u64) -> bool {
    match (integer(element, a), integer(element, b)) {
        (Some(a), Some(b)) => a < b,
        _ => float(element, a) < float(element, b),
    }
}

/// The sum of two numbers of a type.
enum Sum {
    /// Its bits in that type.
    Held(u64),
    /// This wider type holds it, or is as near as numbers get.
    Wider(ElementType),
    /// No type holds it.
    Beyond,
}

fn sum(element: ElementType, a: u64, b: u64) -> Sum {
    if let (Some(a), Some(b)) = (integer(element, a), integer(element, b)) {
        let sum = i64::try_from(a + b).ok().map(PropertyValue::I64);
        let held = |element| sum.and_then(|sum| exact_number(element, sum));
        return match (held(element), held(ElementType::I64)) {
            (Some(bits), _) => Sum::Held(bits),
            (None, Some(_)) if Widening::is_possible(element, ElementType::I64) => {
                Sum::Wider(ElementType::I64)
            }
            _ => Sum::Beyond,
        };
    }
    let (a, b) = (float(element, a), float(element, b));
    let sum = a + b;
    let is_infinite_as_given = (a.is_infinite() || b.is_infinite()) && !sum.is_nan();
    match element {
        _ if !sum.is_finite() && !is_infinite_as_given => Sum::Beyond,
        ElementType::F32 if f64::from(sum as f32) == sum => Sum::Held(u64::from((sum as f32).to_bits())),
        ElementType::F32 => Sum::Wider(ElementType::F64),
        _ => Sum::Held(sum.to_bits()),
    }
}

fn integer(element: ElementType, bits: u64) -> Option<i128> {
    match PropertyValue::from_bits(element, bits) {
        PropertyValue::I32(x) => Some(x.into()),
        PropertyValue::I64(x) => Some(x.into()),
        PropertyValue::U8(x) => Some(x.into()),
        PropertyValue::U16(x) => Some(x.into()),
        PropertyValue::U32(x) => Some(x.into()),
        PropertyValue::U64(x) => Some(x.into()),
        _ => None,
    }
}

fn float(element: ElementType, bits: u64) -> f64 {
    match element {
        ElementType::F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}
