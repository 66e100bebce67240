//! From sorted arcs to neighbour lists: what becomes of duplicates, and the arrays that are handed on.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use esker_format::{ElementType, Error, Result};
use esker_graph::VertexId;
use hashbrown::HashTable;

use crate::build::scatter::Ranges;
use crate::build::values::{ValueLayout, put_wide, wide, words as words_of};
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
    /// The first of the duplicates.
    pub(crate) first_duplicate: Option<Duplicate>,
    /// Arcs from a vertex to itself that stayed.
    pub(crate) loops: u64,
}

/// An arc that repeats another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub(crate) source: VertexId,
    pub(crate) target: VertexId,
    /// The code of its kind, if edges have kinds.
    pub(crate) kind: Option<u32>,
}

impl BuiltLists {
    fn count_duplicate(&mut self, source: u64, target: VertexId, kind: Option<u32>) {
        self.duplicates += 1;
        self.duplicate_loops += u64::from(u64::from(target) == source);
        let found = Duplicate { source: source as VertexId, target, kind };
        self.first_duplicate = self.first_duplicate.or(Some(found));
    }
}

/// Which arcs of equal ends are duplicates of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DuplicateScope {
    /// None.
    Nothing,
    /// All.
    Ends,
    /// Those of one kind: its code is this word beside an arc.
    Kind(usize),
    /// Those with the same words.
    Row,
}

impl DuplicateScope {
    /// The scope of a rule, where the kinds are in this word.
    pub(crate) fn of(rule: Duplicates, kind: Option<usize>) -> Self {
        match (rule, kind) {
            (Duplicates::Keep, _) => Self::Nothing,
            (Duplicates::Rows, _) => Self::Row,
            (_, Some(word)) => Self::Kind(word),
            (_, None) => Self::Ends,
        }
    }

    /// Whether arcs of equal ends may stay beside each other although some are duplicates.
    fn is_within_ends(self) -> bool {
        matches!(self, Self::Kind(_) | Self::Row)
    }

    /// Memory to find what an arc repeats: a slot of a table, which doubles.
    pub(crate) fn arc_bytes(self) -> u64 {
        if self.is_within_ends() { 16 } else { 0 }
    }
}

/// The arcs of the ends that came last: later arcs may repeat one of them.
#[derive(Debug, Default)]
pub(crate) struct LastEnds {
    key: Option<u64>,
    /// Where they begin among the targets of the lists.
    first: usize,
    /// Their places behind `first` by the hash of what tells them apart, once they are many.
    places: HashTable<u32>,
    hasher: RandomState,
}

/// So many arcs of equal ends are compared one by one.
const COMPARED_MAX: usize = 16;

impl LastEnds {
    /// Begins with arcs of other ends.
    fn begin(&mut self, key: u64, first: usize) {
        (self.key, self.first) = (Some(key), first);
        self.places.clear();
    }

    /// The place behind `first` of the arc whose words in `compared` are those of an arc with the words
    /// `beside`. There are `words` beside each arc.
    fn find(
        &mut self,
        lists: &BuiltLists,
        words: usize,
        compared: Range<usize>,
        beside: &[u32],
    ) -> Option<usize> {
        let (first, hasher) = (self.first, &self.hasher);
        let count = lists.targets.len() - first;
        let own = |place: usize| &lists.words[(first + place) * words..][compared.clone()];
        let wanted = &beside[compared.clone()];
        if count <= COMPARED_MAX {
            return (0..count).find(|&place| own(place) == wanted);
        }
        let hash_of = |&place: &u32| hasher.hash_one(own(place as usize));
        for place in self.places.len() as u32..count as u32 {
            self.places.insert_unique(hash_of(&place), place, hash_of);
        }
        let is_wanted = |&place: &u32| own(place as usize) == wanted;
        self.places.find(hasher.hash_one(wanted), is_wanted).map(|&place| place as usize)
    }
}

/// What happens to arcs of equal ends.
pub(crate) struct Policy<'a> {
    pub(crate) duplicates: Duplicates,
    pub(crate) scope: DuplicateScope,
    pub(crate) ranges: &'a Ranges,
    /// Words beside each arc.
    pub(crate) words: usize,
    /// The layout of the weight, if the rule adds or compares weights.
    pub(crate) weight: Option<&'a ValueLayout>,
}

impl Policy<'_> {
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
        // Without properties, arcs of equal ends are equal.
        let unites = self.scope != DuplicateScope::Nothing;
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
                    lists.count_duplicate(source, target, None);
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
        let mut last = LastEnds::default();
        for &[key, at] in records {
            let beside = &words[at as usize * self.words..][..self.words];
            self.append_one(lists, bucket, key, beside, &mut last)?;
        }
        Ok(())
    }

    /// Appends one arc; `last` has those before it.
    pub(crate) fn append_one(
        &self,
        lists: &mut BuiltLists,
        bucket: usize,
        key: u64,
        beside: &[u32],
        last: &mut LastEnds,
    ) -> Result<()> {
        let (source, target) = self.ranges.unpack(bucket, key);
        let is_loop = u64::from(u64::from(target) == source);
        if last.key != Some(key) {
            last.begin(key, lists.targets.len());
        } else if let Some(place) = self.repeated(lists, beside, last) {
            let kind = match self.scope {
                DuplicateScope::Kind(word) => Some(beside[word]),
                DuplicateScope::Nothing | DuplicateScope::Ends | DuplicateScope::Row => None,
            };
            lists.count_duplicate(source, target, kind);
            let kept = (last.first + place) * self.words;
            return self.unite(&mut lists.words[kept..kept + self.words], beside);
        }
        lists.loops += is_loop;
        lists.targets.push(target);
        lists.words.extend_from_slice(beside);
        match lists.lengths.last_mut() {
            Some((vertex, length)) if u64::from(*vertex) == source => *length += 1,
            _ => lists.lengths.push((source as VertexId, 1)),
        }
        Ok(())
    }

    /// The place, among the last arcs of its ends, of the arc that one with these words repeats.
    fn repeated(&self, lists: &BuiltLists, beside: &[u32], last: &mut LastEnds) -> Option<usize> {
        match self.scope {
            DuplicateScope::Nothing => None,
            DuplicateScope::Ends => Some(0),
            DuplicateScope::Kind(word) => last.find(lists, self.words, word..word + 1, beside),
            DuplicateScope::Row => last.find(lists, self.words, 0..self.words, beside),
        }
    }

    /// Puts what the policy says of the properties of two equal arcs in `kept`, those of the first.
    pub(crate) fn unite(&self, kept: &mut [u32], other: &[u32]) -> Result<()> {
        if self.duplicates == Duplicates::Last {
            kept.copy_from_slice(other);
            return Ok(());
        }
        let Some(layout) = self.weight else { return Ok(()) };
        // A missing weight is worse than any, and adds nothing.
        if layout.is_missing(&other[layout.word..]) {
            return Ok(());
        }
        if layout.is_missing(&kept[layout.word..]) {
            match self.duplicates {
                Duplicates::Sum => {
                    let weight = layout.word..layout.word + words_of(layout.carried);
                    kept[weight.clone()].copy_from_slice(&other[weight]);
                }
                _ => kept.copy_from_slice(other),
            }
            return Ok(());
        }
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
            let sum = (wide(kept) as i64).checked_add(other as i64);
            // What stands for a missing weight is none.
            sum.filter(|sum| !layout.optional || *sum > i64::MIN).map(|sum| sum as u64)
        } else {
            let sum = f64::from_bits(wide(kept)) + f64::from_bits(other);
            // What stands for a missing weight stays.
            Some(sum).filter(|sum| !sum.is_infinite()).map(f64::to_bits)
        };
        let sum = sum.ok_or_else(|| {
            let reason = "the weights of duplicate edges add up to more than 64 bits hold: choose another rule for duplicates";
            Error::invalid(reason.to_owned())
        })?;
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
