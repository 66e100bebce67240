//! The top rows of an answer: the vertices with the largest values, or the largest groups.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::HashMap;

use esker_graph::{Cancel, NONE, Stop, VertexId, vertex};

use crate::answer::{Answer, Value, Values};

/// One entry of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopVertex {
    /// The vertex, the edge, or the label of the group.
    pub key: Value,
    /// Its value, or the number of vertices in the group.
    pub value: Value,
    /// The row of the answer; `None` for a group.
    pub row: Option<usize>,
}

/// The first `count` rows of the principal column by descending value, ties by ascending vertex; or its first
/// groups by descending size, ties by ascending label. Empty without a column. Vertices without a value are
/// skipped.
///
/// Time: O(n log count); groups take one more pass over the labels for each 16 M vertices. Memory: O(count);
/// groups take 64 MiB (128 MiB with 64-bit ids), or O(number of groups) if labels are not small integers.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::catalogue::{Job, Params, find};
/// use esker::graph::Run;
/// use esker::top::top;
///
/// let (run, params) = (Run::with_threads(1)?, Params::default().with("direction", "both"));
/// let view = version.view();
/// let job = Job { view: &view, run: &run, params: &params, verify: false };
/// let first = top(&find("degrees")?.run(&job)?, 1, run.cancel())?;
/// assert_eq!(first[0].key.to_text(version.ids())?, "bob"); // one edge arrives, one leaves
/// assert_eq!(first[0].value.number(), Some(2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Stop::Cancelled`].
pub fn top(answer: &Answer, count: usize, cancel: &Cancel) -> Result<Vec<TopVertex>, Stop> {
    let Some(column) = answer.columns.first() else { return Ok(Vec::new()) };
    match column.ranking.unlisted() {
        None => {
            let values = (0..column.values.len()).map(|i| (column.values.get(i), i));
            let found = values.filter(|(value, _)| *value != Value::Missing);
            let item = |(value, i)| Item { value, tie: i as u64, key: answer.key(i), row: Some(i) };
            first(found.map(item), count, cancel)
        }
        Some(unlisted) => {
            let groups = match &column.values {
                Values::Vertex(labels) => dense_groups(labels, WINDOW, Value::Vertex, cancel),
                #[allow(clippy::useless_conversion)] // vertex ids may be 64 bits wide
                Values::Index(labels) => {
                    dense_groups(labels, WINDOW, |label| Value::Count(u64::from(label)), cancel)
                }
                _ => None,
            };
            if let Some(groups) = groups {
                return first(groups.map(|group| group.with(unlisted)), count, cancel);
            }
            let mut sizes: HashMap<u64, (Value, u64)> = HashMap::new();
            for i in 0..column.values.len() {
                if i % CHECK_LEN == 0 {
                    cancel.check()?;
                }
                let label = column.values.get(i);
                if let Some(bits) = label_bits(label) {
                    sizes.entry(bits).or_insert((label, 0)).1 += 1;
                }
            }
            let groups = sizes.into_iter();
            let item = |(tie, (key, size))| Item { value: Value::Count(size), tie, key, row: None };
            first(groups.map(|group| item(group).with(unlisted)), count, cancel)
        }
    }
}

/// Number of labels counted in one pass.
const WINDOW: usize = 1 << 24;

/// Number of rows between two checks for cancellation: less than a millisecond.
const CHECK_LEN: usize = 1 << 16;
/// The same, where each row goes through a heap that does not fit into the caches: some milliseconds.
const HEAP_CHECK_LEN: usize = 1 << 12;

/// The sizes of groups in ascending order of label, counted in an array; `None` if the largest label exceeds
/// twice the number of labels. Once cancelled, the sizes are not whole.
fn dense_groups(
    labels: &[VertexId],
    window: usize,
    value: fn(VertexId) -> Value,
    cancel: &Cancel,
) -> Option<impl Iterator<Item = Item>> {
    let end = labels.iter().filter(|&&label| label != NONE).max().map_or(0, |&most| most as usize + 1);
    let window_of = move |first: usize| {
        let mut sizes: Vec<VertexId> = vec![0; window.min(end - first)];
        for labels in labels.chunks(CHECK_LEN).take_while(|_| !cancel.is_cancelled()) {
            for &label in labels {
                // `NONE`, the marker for no value, is larger than every label.
                if let Some(size) = sizes.get_mut((label as usize).wrapping_sub(first)) {
                    *size += 1;
                }
            }
        }
        let groups = sizes.into_iter().enumerate().filter(|&(_, size)| size > 0);
        groups.map(move |(at, size)| {
            let label = first + at;
            Item { value: Value::Count(size as u64), tie: label as u64, key: value(vertex(label)), row: None }
        })
    };
    (end <= 2 * labels.len()).then(|| (0..end).step_by(window).flat_map(window_of))
}

/// An integer that identifies a label and orders labels.
pub(crate) fn label_bits(label: Value) -> Option<u64> {
    match label {
        Value::Missing | Value::Edge(..) => None,
        #[allow(clippy::useless_conversion)] // vertex ids may be 64 bits wide
        Value::Vertex(v) => Some(u64::from(v)),
        Value::Count(count) => Some(count),
        Value::Integer(integer) => Some(integer as u64),
        Value::Float(number) => Some(number.to_bits()),
    }
}

#[derive(Debug, Clone, Copy)]
struct Item {
    value: Value,
    tie: u64,
    key: Value,
    row: Option<usize>,
}

impl Item {
    /// A group with this number of further vertices.
    fn with(self, more: u64) -> Self {
        match self.value {
            Value::Count(size) => Self { value: Value::Count(size + more), ..self },
            _ => self,
        }
    }

    fn rank(&self, other: &Self) -> Ordering {
        compare(self.value, other.value).then(other.tie.cmp(&self.tie))
    }
}

/// Orders values of one column.
fn compare(a: Value, b: Value) -> Ordering {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(&b),
        (Value::Count(a), Value::Count(b)) => a.cmp(&b),
        // -0 is 0, and ties go by vertex.
        (Value::Float(a), Value::Float(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
        (Value::Vertex(a), Value::Vertex(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

/// Reverses the order of items, so that the heap drops the lowest-ranked item first.
struct Worst(Item);

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worst {}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.rank(&self.0)
    }
}

fn first(items: impl Iterator<Item = Item>, count: usize, cancel: &Cancel) -> Result<Vec<TopVertex>, Stop> {
    let mut heap = BinaryHeap::new();
    for (number, item) in items.enumerate() {
        if number % HEAP_CHECK_LEN == 0 {
            cancel.check()?;
        }
        if heap.len() < count {
            heap.push(Worst(item));
        } else if heap.peek().is_some_and(|worst: &Worst| item.rank(&worst.0) == Ordering::Greater) {
            heap.pop();
            heap.push(Worst(item));
        }
    }
    // The items may have ended early.
    cancel.check()?;
    let mut ranked = Vec::with_capacity(heap.len());
    while let Some(Worst(item)) = heap.pop() {
        if heap.len() % HEAP_CHECK_LEN == 0 {
            cancel.check()?;
        }
        ranked.push(TopVertex { key: item.key, value: item.value, row: item.row });
    }
    ranked.reverse();
    Ok(ranked)
}

#[cfg(test)]
mod tests {
    use esker_graph::{Cancel, NONE, Stop};

    use super::{TopVertex, dense_groups, first, top};
    use crate::answer::{Answer, AnswerColumn, Ranking, Value, Values};

    fn answer(column: AnswerColumn) -> Answer {
        Answer { columns: vec![column], ..Answer::default() }
    }

    #[test]
    fn a_block_counts_its_head_too() {
        let labels = Values::Vertex(vec![NONE, 1, 1, 3]);
        let block = AnswerColumn { name: "block", values: labels, ranking: Ranking::Blocks };
        let found =
            top(&Answer { columns: vec![block], ..Answer::default() }, 9, &Cancel::default()).unwrap();
        let sizes: Vec<_> = found.iter().map(|group| (group.key, group.value)).collect();
        assert_eq!(sizes, [(Value::Vertex(1), Value::Count(3)), (Value::Vertex(3), Value::Count(2))]);
    }

    #[test]
    fn groups_are_counted_a_window_at_a_time() {
        let calm = Cancel::default();
        let labels = [7, 0, NONE, 7, 3, 0, 7, 4, NONE, 3];
        let expected = [(7, 3), (0, 2), (3, 2), (4, 1)];
        for window in 1..12 {
            let groups = dense_groups(&labels, window, Value::Vertex, &calm).expect("small labels");
            let found: Vec<_> = first(groups, 9, &calm)
                .unwrap()
                .into_iter()
                .map(|ranked| (ranked.key, ranked.value))
                .collect();
            assert_eq!(found, expected.map(|(v, size)| (Value::Vertex(v), Value::Count(size))));
        }
        assert!(dense_groups(&[5, 0], 4, Value::Vertex, &calm).is_none());
        assert_eq!(dense_groups(&[NONE], 4, Value::Vertex, &calm).expect("no labels").count(), 0);
        let far =
            AnswerColumn { name: "label", values: Values::Vertex(vec![9, 1, 9]), ranking: Ranking::Groups };
        assert_eq!(
            top(&answer(far), 1, &calm).unwrap(),
            [TopVertex { key: Value::Vertex(9), value: Value::Count(2), row: None }]
        );
    }

    #[test]
    fn largest_values_first_and_ties_by_vertex() {
        let values = Values::Float(vec![0.5, f64::INFINITY, 2.0, 0.5, 1.0]);
        let column = AnswerColumn { name: "rank", values, ranking: Ranking::Largest };
        let answer = answer(column);
        let found: Vec<_> = top(&answer, 4, &Cancel::default())
            .unwrap()
            .into_iter()
            .map(|ranked| (ranked.key, ranked.value))
            .collect();
        let expected = [(2, 2.0), (4, 1.0), (0, 0.5), (3, 0.5)];
        assert_eq!(found, expected.map(|(v, value)| (Value::Vertex(v), Value::Float(value))));
        assert!(top(&answer, 0, &Cancel::default()).unwrap().is_empty());
        assert!(top(&Answer::default(), 4, &Cancel::default()).unwrap().is_empty());
        let gaps = Answer { vertices: Some([1, 5, 6, 7, 9].into()), ..answer };
        assert_eq!(top(&gaps, 1, &Cancel::default()).unwrap()[0].key, Value::Vertex(6));
    }

    #[test]
    fn largest_groups_first_and_ties_by_label() {
        let column = AnswerColumn {
            name: "component",
            values: Values::Vertex(vec![0, 0, 2, 2, 4]),
            ranking: Ranking::Groups,
        };
        let expected = [(0, 2), (2, 2)].map(|(label, size)| TopVertex {
            key: Value::Vertex(label),
            value: Value::Count(size),
            row: None,
        });
        assert_eq!(top(&answer(column), 2, &Cancel::default()).unwrap(), expected);
    }

    #[test]
    fn ranking_stops_once_it_is_cancelled() {
        let cancel = Cancel::default();
        cancel.cancel();
        let floats =
            AnswerColumn { name: "rank", values: Values::Float(vec![0.5; 9]), ranking: Ranking::Largest };
        let labels = || vec![3; 9];
        let groups = |values| AnswerColumn { name: "component", values, ranking: Ranking::Groups };
        let sparse = Values::Integer(vec![Values::NO_INTEGER; 9]);
        for column in [floats, groups(Values::Vertex(labels())), groups(sparse)] {
            assert_eq!(top(&answer(column), 3, &cancel), Err(Stop::Cancelled));
        }
    }
}
