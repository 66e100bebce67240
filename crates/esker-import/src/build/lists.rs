//! From sorted arcs to neighbour lists: what becomes of duplicates, and the arrays that are handed on.

use esker_format::{ElementType, Error, Result};
use esker_graph::VertexId;

use crate::build::scatter::Ranges;
use crate::build::values::{ValueLayout, put_wide, wide};
use crate::options::Duplicates;

/// Neighbour lists of some vertices, ascending.
#[derive(Debug, Default)]
pub(crate) struct BuiltLists {
    /// Vertices that have a list, and its length.
    pub(crate) lengths: Vec<(VertexId, u32)>,
    /// The lists, one after another.
    pub(crate) targets: Vec<VertexId>,
    /// The properties beside them.
    pub(crate) words: Vec<u32>,
    /// Arcs that were left out or added to the one before.
    pub(crate) duplicates: u64,
    /// Duplicates among the self-loops.
    pub(crate) duplicate_loops: u64,
    /// The ends of the first of the duplicates.
    pub(crate) first_duplicate: Option<(VertexId, VertexId)>,
    /// Arcs from a vertex to itself that stayed.
    pub(crate) loops: u64,
}

impl BuiltLists {
    fn count_duplicate(&mut self, source: u64, target: VertexId) {
        self.duplicates += 1;
        self.duplicate_loops += u64::from(u64::from(target) == source);
        self.first_duplicate = self.first_duplicate.or(Some((source as VertexId, target)));
    }
}

/// What happens to arcs of equal ends.
pub(crate) struct Policy<'a> {
    pub(crate) duplicates: Duplicates,
    pub(crate) ranges: &'a Ranges,
    /// Words beside each arc.
    pub(crate) words: usize,
    /// The layout of the weight, if the rule adds or compares weights.
    pub(crate) weight: Option<&'a ValueLayout>,
}

impl Policy<'_> {
    /// Whether equal arcs become one.
    fn unites(&self) -> bool {
        self.duplicates != Duplicates::Keep
    }

    /// Appends sorted arcs without properties. `last` is the key before the first of them, if it is of this
    /// bucket.
    pub(crate) fn append_keys(
        &self,
        lists: &mut BuiltLists,
        bucket: usize,
        keys: &[u64],
        mut last: Option<u64>,
    ) {
        let bits = self.ranges.target_bits();
        let unites = self.unites();
        let mut rest = keys;
        while let Some(&first) = rest.first() {
            let row = first >> bits;
            let source = self.ranges.unpack(bucket, first).0;
            let before = lists.targets.len();
            let mut taken = 0;
            for &key in rest {
                if key >> bits != row {
                    break;
                }
                taken += 1;
                let target = self.ranges.unpack(bucket, key).1;
                let is_loop = u64::from(u64::from(target) == source);
                if unites && last == Some(key) {
                    lists.count_duplicate(source, target);
                    continue;
                }
                last = Some(key);
                lists.loops += is_loop;
                lists.targets.push(target);
            }
            lists.lengths.push((source as VertexId, (lists.targets.len() - before) as u32));
            rest = &rest[taken..];
        }
    }

    /// Appends sorted arcs with properties: `records` gives key and place in `words`.
    pub(crate) fn append_records(
        &self,
        lists: &mut BuiltLists,
        bucket: usize,
        records: &[[u64; 2]],
        words: &[u32],
    ) -> Result<()> {
        let mut last = None;
        for &[key, at] in records {
            let beside = &words[at as usize * self.words..][..self.words];
            self.append_one(lists, bucket, key, beside, &mut last)?;
        }
        Ok(())
    }

    /// Appends one arc; `last` is the key before it.
    pub(crate) fn append_one(
        &self,
        lists: &mut BuiltLists,
        bucket: usize,
        key: u64,
        beside: &[u32],
        last: &mut Option<u64>,
    ) -> Result<()> {
        let (source, target) = self.ranges.unpack(bucket, key);
        let is_loop = u64::from(u64::from(target) == source);
        if self.unites() && *last == Some(key) {
            lists.count_duplicate(source, target);
            let kept = lists.words.len().saturating_sub(self.words);
            return self.unite(&mut lists.words[kept..], beside);
        }
        *last = Some(key);
        lists.loops += is_loop;
        lists.targets.push(target);
        lists.words.extend_from_slice(beside);
        match lists.lengths.last_mut() {
            Some((vertex, length)) if u64::from(*vertex) == source => *length += 1,
            _ => lists.lengths.push((source as VertexId, 1)),
        }
        Ok(())
    }

    /// Puts what the policy says of the properties of two equal arcs in `kept`, those of the first.
    pub(crate) fn unite(&self, kept: &mut [u32], other: &[u32]) -> Result<()> {
        if self.duplicates == Duplicates::Last {
            kept.copy_from_slice(other);
            return Ok(());
        }
        let Some(layout) = self.weight else { return Ok(()) };
        if self.duplicates != Duplicates::Sum {
            let (new, old) = (&other[layout.word..], &kept[layout.word..]);
            let is_better = match self.duplicates {
                Duplicates::Min => is_less(layout.carried, new, old),
                _ => is_less(layout.carried, old, new),
            };
            if is_better {
                kept.copy_from_slice(other);
            }
            return Ok(());
        }
        let (kept, other) = (&mut kept[layout.word..], wide(&other[layout.word..]));
        let sum = if layout.carried == ElementType::I64 {
            let sum = (wide(kept) as i64).checked_add(other as i64).ok_or_else(|| {
                Error::invalid(
                    "the weights of duplicate edges add up to more than 64 bits hold: choose another rule for duplicates"
                        .to_owned(),
                )
            })?;
            sum as u64
        } else {
            (f64::from_bits(wide(kept)) + f64::from_bits(other)).to_bits()
        };
        put_wide(kept, sum);
        Ok(())
    }
}

/// Whether the first of two weights is the smaller; of codes of texts none is.
fn is_less(carried: ElementType, a: &[u32], b: &[u32]) -> bool {
    match carried {
        ElementType::I32 => (a[0] as i32) < (b[0] as i32),
        ElementType::F32 => f32::from_bits(a[0]) < f32::from_bits(b[0]),
        ElementType::I64 => (wide(a) as i64) < (wide(b) as i64),
        ElementType::F64 => f64::from_bits(wide(a)) < f64::from_bits(wide(b)),
        _ => false,
    }
}
