//! The first rows of a live answer, kept up to date from what each step changed.
//!
//! The rows from some rank upwards are kept, several times as many as are asked for. A value that changed
//! leaves them or comes to them at O(log) cost. Only when so many left that fewer remain than are asked for,
//! all rows are ranked anew.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use esker_graph::{Cancel, NONE, Reservation, Run, VertexId, vertex};

use crate::answer::{AnswerColumn, Ranking, Value, Values};
use crate::error::Result;
use crate::top::TopVertex;

/// How many times as many rows are kept as are asked for.
const SPARE: usize = 4;
/// Rows that are kept at least.
const KEPT_MIN: usize = 256;
/// Rows between two checks for cancellation.
const CHECK_LEN: usize = 1 << 16;

/// A row by rank, greater ones first: its value as a number that ascends with it, and the vertex or the
/// label, of which the lesser goes first.
type Rank = (u64, Reverse<u64>);
/// A rank in the ordered set, whose nodes are half full at least.
const RANK_BYTES: usize = 3 * size_of::<Rank>();

/// A vertex, its value before, and its value now.
pub(super) type ChangedValue = (VertexId, Value, Value);

/// The first rows of a column whose values change.
#[derive(Debug)]
pub(super) struct LiveTop {
    ranking: Ranking,
    /// The most rows that can be asked for.
    count_max: usize,
    /// All rows that rank as `floor` or higher.
    rows: BTreeSet<Rank>,
    /// The least rank that is kept; `None`: all rows are.
    floor: Option<Rank>,
    /// The number of vertices of each label, of groups.
    sizes: Vec<VertexId>,
    memory: Reservation,
}

impl LiveTop {
    /// Ranks all rows of a column. `None` for groups whose labels are not numbers of vertices, or do not fit
    /// in memory.
    pub(super) fn new(
        column: &AnswerColumn,
        count: usize,
        run: &Run,
        cancel: &Cancel,
    ) -> Result<Option<Self>> {
        let (mut sizes, mut bytes) = (Vec::new(), 0);
        if column.ranking.is_of_groups() {
            let (Values::Vertex(labels) | Values::Index(labels)) = &column.values else { return Ok(None) };
            let named = labels.iter().copied().filter(|&label| label != NONE);
            let len = named.clone().max().map_or(0, |most| most as usize + 1);
            if len > 2 * labels.len() {
                return Ok(None);
            }
            bytes = (len * size_of::<VertexId>()) as u64;
            sizes = vec![0; len];
            named.for_each(|label| sizes[label as usize] += 1);
        }
        let rows_max = kept_of(count).saturating_mul(2).min(2 * (column.values.len() + KEPT_MIN));
        let bytes = bytes + (rows_max * RANK_BYTES) as u64;
        let Some(memory) = run.budget().try_reserve(bytes) else { return Ok(None) };
        let mut top = Self {
            ranking: column.ranking,
            count_max: count,
            rows: BTreeSet::new(),
            floor: None,
            sizes,
            memory,
        };
        let length = match column.ranking {
            Ranking::Largest => column.values.len(),
            Ranking::Groups | Ranking::Blocks => top.sizes.len(),
        };
        let kept = kept_of(count);
        for row in 0..length {
            if row % CHECK_LEN == 0 {
                cancel.check()?;
            }
            let rank = match column.ranking {
                Ranking::Largest => rank_of(column.values.get(row), row as u64),
                Ranking::Groups | Ranking::Blocks => group_rank(top.sizes[row], row as u64),
            };
            let Some(rank) = rank.filter(|rank| top.floor.is_none_or(|floor| *rank >= floor)) else {
                continue;
            };
            top.rows.insert(rank);
            if top.rows.len() > kept.saturating_mul(2) {
                top.lower_to(kept);
            }
        }
        Ok(Some(top))
    }

    /// Leaves out the lowest rows.
    fn lower_to(&mut self, kept: usize) {
        while self.rows.len() > kept {
            self.rows.pop_first();
        }
        self.floor = self.rows.first().copied();
    }

    /// Takes in what a step changed. Returns whether the first rows are still known.
    #[must_use]
    pub(super) fn update(&mut self, changed: impl Iterator<Item = ChangedValue>) -> bool {
        match self.ranking {
            Ranking::Largest => {
                for (v, old, new) in changed {
                    let v = number_of(v);
                    self.put(rank_of(old, v), rank_of(new, v));
                }
            }
            Ranking::Groups | Ranking::Blocks => {
                let mut growth: HashMap<usize, i64> = HashMap::new();
                for (_, old, new) in changed {
                    for (label, by) in [(old, -1), (new, 1)] {
                        let label = match label {
                            Value::Vertex(label) => label as usize,
                            Value::Count(label) => label as usize,
                            _ => continue,
                        };
                        *growth.entry(label).or_default() += by;
                    }
                }
                for (label, by) in growth {
                    if label >= self.sizes.len() && !self.grow_to(label + 1) {
                        return false;
                    }
                    let before = self.sizes[label];
                    let after = vertex((before as i64 + by) as usize);
                    self.sizes[label] = after;
                    self.put(group_rank(before, label as u64), group_rank(after, label as u64));
                }
            }
        }
        self.floor.is_none() || self.rows.len() >= self.count_max
    }

    /// Makes room for labels of new vertices; whether there is any.
    fn grow_to(&mut self, len: usize) -> bool {
        let more = ((len - self.sizes.len()) * size_of::<VertexId>()) as u64;
        if !self.memory.try_grow(more) {
            return false;
        }
        self.sizes.resize(len, 0);
        true
    }

    fn put(&mut self, old: Option<Rank>, new: Option<Rank>) {
        if let Some(old) = old {
            self.rows.remove(&old);
        }
        if let Some(new) = new.filter(|new| self.floor.is_none_or(|floor| *new >= floor)) {
            self.rows.insert(new);
            let kept = kept_of(self.count_max);
            if self.rows.len() > kept.saturating_mul(2) {
                self.lower_to(kept);
            }
        }
    }

    /// The first rows, if no more are asked for than are known.
    pub(super) fn first(&self, column: &AnswerColumn, count: usize) -> Option<Vec<TopVertex>> {
        if count > self.count_max {
            return None;
        }
        let ranked = self.rows.iter().rev().take(count);
        let row = |&(value, Reverse(tie)): &Rank| match (self.ranking.unlisted(), &column.values) {
            (None, values) => {
                let row = tie as usize;
                TopVertex { key: Value::Vertex(vertex(row)), value: values.get(row), row: Some(row) }
            }
            (Some(unlisted), values) => {
                let is_vertex = matches!(values, Values::Vertex(_));
                let key = if is_vertex { Value::Vertex(vertex(tie as usize)) } else { Value::Count(tie) };
                TopVertex { key, value: Value::Count(value + unlisted), row: None }
            }
        };
        Some(ranked.map(row).collect())
    }
}

#[allow(clippy::useless_conversion)] // vertex ids may be 64 bits wide
fn number_of(v: VertexId) -> u64 {
    u64::from(v)
}

/// The most rows that are kept after some were left out, if at most `count_max` can be asked for.
fn kept_of(count_max: usize) -> usize {
    SPARE.saturating_mul(count_max).max(KEPT_MIN)
}

fn rank_of(value: Value, tie: u64) -> Option<Rank> {
    const SIGN: u64 = 1 << 63;
    let number = match value {
        Value::Missing | Value::Edge(..) => return None,
        Value::Vertex(v) => number_of(v),
        Value::Count(count) => count,
        Value::Integer(integer) => integer.cast_unsigned() ^ SIGN,
        Value::Float(number) => match number.to_bits() {
            bits if bits & SIGN == 0 => bits | SIGN,
            bits => !bits,
        },
    };
    Some((number, Reverse(tie)))
}

/// A group without vertices is none.
fn group_rank(size: VertexId, label: u64) -> Option<Rank> {
    (size > 0).then_some((number_of(size), Reverse(label)))
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;
    use crate::answer::Answer;
    use crate::follow::given::set;
    use crate::top::top;

    /// Changes values at random, and compares the first rows with those of all rows at each step.
    fn follow(column: AnswerColumn, steps: usize, value: impl Fn(u64) -> Value) -> usize {
        let (run, cancel) = (Run::with_threads(1).unwrap(), Cancel::default());
        let mut random = Random::new(1);
        let mut below = |bound: u64| random.below(bound);
        let mut answer = Answer { columns: vec![column], ..Answer::default() };
        let count = 150;
        let new = |answer: &Answer| LiveTop::new(&answer.columns[0], count, &run, &cancel).unwrap().unwrap();
        let mut live = new(&answer);
        let mut anew = 0;
        for step in 0..steps {
            let mut changed = Vec::new();
            for _ in 0..below(30) {
                let vertex = vertex(below(answer.columns[0].values.len() as u64 + 1) as usize);
                let values = &mut answer.columns[0].values;
                let is_new = vertex as usize >= values.len();
                let old = if is_new { Value::Missing } else { values.get(vertex as usize) };
                let new = value(below(1 << 20));
                set(values, vertex, new);
                changed.push((vertex, old, new));
            }
            if !live.update(changed.into_iter()) {
                anew += 1;
                live = new(&answer);
            }
            for count in [0, 1, 10, count] {
                let expected = top(&answer, count, &cancel).unwrap();
                assert_eq!(live.first(&answer.columns[0], count).unwrap(), expected, "step {step}");
            }
            assert!(live.first(&answer.columns[0], count + 1).is_none());
        }
        anew
    }

    fn column(values: Values, ranking: Ranking) -> AnswerColumn {
        AnswerColumn { name: "value", values, ranking }
    }

    #[test]
    fn first_rows_are_those_of_all_rows_at_every_step() {
        let counts = column(Values::Count((0..2000).map(|i| i % 977).collect()), Ranking::Largest);
        // Values fall, so that the rows that are kept run out.
        let anew = follow(counts.clone(), 300, |noise| Value::Count(noise % 700));
        assert!(anew == 0, "few of many rows change: {anew}");
        assert!(follow(counts, 1000, |noise| Value::Count(noise % 100)) > 0);
        let floats = column(Values::Float(vec![0.5; 700]), Ranking::Largest);
        follow(floats, 300, |noise| match noise % 7 {
            0 => Value::Missing,
            part => Value::Float((part as f64 - 3.0) * (noise % 31) as f64),
        });
        let integers = column(Values::Integer((-300..300).collect()), Ranking::Largest);
        follow(integers, 300, |noise| Value::Integer(noise.cast_signed() % 2000 - 1000));
    }

    #[test]
    fn largest_groups_are_those_of_all_rows_at_every_step() {
        let labels = (0..3000).map(|v| if v % 3 == 0 { v } else { v % 40 }).collect();
        let groups = column(Values::Vertex(labels), Ranking::Groups);
        follow(groups, 500, |noise| match noise % 11 {
            0 => Value::Missing,
            _ => Value::Vertex(vertex((noise % 90) as usize)),
        });
        let colours = column(Values::Index((0..500).map(|v| v % 7).collect()), Ranking::Groups);
        follow(colours, 200, |noise| Value::Count(noise % 500));
    }
}
