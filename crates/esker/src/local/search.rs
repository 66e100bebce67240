//! The shortest paths between two vertices.
//!
//! One path: Dijkstra's algorithm from both ends, if the lists of both directions are stored. Further ones:
//! Yen's [1], which searches for the best deviation from each vertex of the paths that it has, but from none
//! before the one where a path itself left an earlier one: these deviations are known (Lawler [2]). No
//! deviation is sought that is longer than as many candidates as are still wanted. A path meets
//! no vertex twice; of parallel edges the shortest counts. Where a shortest path by weights has more steps
//! than are allowed, a search over pairs of a vertex and a number of steps finds the shortest of the others.
//!
//! [1] J. Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17, 1971.
//! [2] E. Lawler, "A Procedure for Computing the K Best Solutions to Discrete Optimization Problems",
//!     Management Science 18, 1972.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use esker_graph::{Direction, Operation, Run, Setting, VertexId, message};
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::property::PropertyValue;

use super::edges::{Incidence, LocalGraph, value};
use super::path::{Path, PathDirection, PathLength, PathOptions};
use super::steps_met::StepsMet;
use crate::error::{Error, Result};

/// The shortest paths from one vertex to another, shortest first, ties by their vertices; fewer than asked
/// for if there are no more.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\n0,1\n1,3\n0,2\n2,4\n4,3\n");
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::local::{PathOptions, paths};
///
/// let run = esker::graph::Run::with_threads(1)?;
/// let found = paths(&version, 0, 3, PathOptions { count: 2, ..Default::default() }, &run)?;
/// assert_eq!(found[0].vertices, [0, 1, 3]);
/// assert_eq!(found[1].vertices, [0, 2, 4, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] for a weight that is a text, an edge with a negative weight, anywhere in the graph, an
/// end that is to be avoided, and a direction that needs in-edges where none are stored; cancellation;
/// [`esker_store::Error::Invalid`] for a length beyond a double; [`esker_store::Error::Corrupt`].
pub fn paths<'a>(
    graph: impl Into<LocalGraph<'a>>,
    from: VertexId,
    to: VertexId,
    options: PathOptions<'_>,
    run: &Run,
) -> Result<Vec<Path>> {
    if let Some(weight) = options.weight.filter(|weight| !weight.is_number()) {
        let held = if weight.is_text() {
            "texts".to_owned()
        } else {
            format!("values of type {}", weight.type_name())
        };
        return Err(Error::usage(format!("{} holds {held}, and a length is a number", weight.name)));
    }
    let graph = graph.into();
    if let Some(&end) = options.avoid.iter().find(|&&v| v == from || v == to) {
        let id = graph.version.ids().external_of(end)?.to_string();
        return Err(Error::usage(format!("{id:?} is an end of the paths, and cannot be avoided")));
    }
    Ok(found_paths(graph, from, to, options, run)?.paths)
}

/// Paths that were found, and the work of finding them.
pub(super) struct FoundPaths {
    pub(super) paths: Vec<Path>,
    /// Searches for deviations.
    pub(super) searches: usize,
}

/// The paths that [`paths`] returns, where the weight is a number and no end is avoided.
pub(super) fn found_paths(
    graph: LocalGraph<'_>,
    from: VertexId,
    to: VertexId,
    options: PathOptions<'_>,
    run: &Run,
) -> Result<FoundPaths> {
    let ways = Ways::new(graph, &options, run)?;
    ways.expect_lengths()?;
    let mut found = FoundPaths { paths: Vec::new(), searches: 0 };
    let first = ways.shortest(from, to, &Detour::default(), options.max_steps, None)?;
    let mut candidates: Candidates = first.into_iter().map(|path| ((path.length(), path), 0)).collect();
    while found.paths.len() < options.count
        && let Some(((length, path), left_at)) = candidates.pop_first()
    {
        if !f64::from(length).is_finite() {
            // Its order among others as long is not known either.
            return Err(esker_store::Error::invalid("the length of a path does not fit in a double").into());
        }
        found.paths.push(path);
        let wanted = options.count - found.paths.len();
        if wanted > 0 {
            found.searches +=
                ways.deviate(&found.paths, left_at, wanted, options.max_steps, &mut candidates)?;
        }
    }
    Ok(found)
}

/// Paths by their lengths, and the place in each where it leaves an earlier path.
type Candidates = BTreeMap<(PathLength, Path), usize>;

/// What a search must not use.
#[derive(Debug, Default)]
struct Detour {
    vertices: HashSet<VertexId>,
    edges: HashSet<(VertexId, VertexId)>,
}

/// A vertex that a search has met.
#[derive(Debug, Clone, Copy)]
struct Met {
    length: PathLength,
    /// The vertex before it, and the length of the edge between them.
    previous: Option<(VertexId, PathLength)>,
    is_settled: bool,
}

/// One direction of a search.
struct SearchSide {
    directions: &'static [Direction],
    met: HashMap<VertexId, Met>,
    queue: BinaryHeap<Reverse<(PathLength, VertexId)>>,
}

impl SearchSide {
    fn from(v: VertexId, directions: &'static [Direction], zero: PathLength) -> Self {
        let met = HashMap::from([(v, Met { length: zero, previous: None, is_settled: false })]);
        Self { directions, met, queue: BinaryHeap::from([Reverse((zero, v))]) }
    }

    /// The length of the nearest vertex that is not settled.
    fn nearest(&mut self) -> Option<PathLength> {
        while let Some(Reverse((length, v))) = self.queue.peek() {
            if !self.met[v].is_settled && self.met[v].length == *length {
                return Some(*length);
            }
            self.queue.pop();
        }
        None
    }

    /// The way back from a vertex to where the search began, with the length of each edge.
    fn way_back(&self, mut v: VertexId) -> Vec<(VertexId, PathLength)> {
        let mut way = Vec::new();
        while let Some((previous, length)) = self.met[&v].previous {
            way.push((previous, length));
            v = previous;
        }
        way
    }
}

/// The graph as a search sees it.
struct Ways<'a> {
    graph: LocalGraph<'a>,
    weight: Option<&'a PropertyRecord>,
    /// The lists that lead on from a vertex.
    ahead: &'static [Direction],
    /// The lists that lead back, if they are stored.
    behind: Option<&'static [Direction]>,
    avoid: HashSet<VertexId>,
    run: &'a Run,
}

impl<'a> Ways<'a> {
    fn new(graph: LocalGraph<'a>, options: &PathOptions<'a>, run: &'a Run) -> Result<Self> {
        let version = graph.version;
        let (ahead, behind) = match options.direction {
            _ if !version.is_directed() => (&[Direction::Out][..], Some(&[Direction::Out][..])),
            PathDirection::Along => {
                (&[Direction::Out][..], version.has(Direction::In).then_some(&[Direction::In][..]))
            }
            PathDirection::Against => (Incidence::In.directions(version)?, Some(&[Direction::Out][..])),
            PathDirection::Either => {
                let both = Incidence::Both.directions(version)?;
                (both, Some(both))
            }
        };
        let avoid = options.avoid.iter().copied().collect();
        Ok(Self { graph, weight: options.weight, ahead, behind, avoid, run })
    }

    fn zero(&self) -> PathLength {
        let is_float = |weight: &PropertyRecord| {
            matches!(
                PropertyValue::from_bits(weight.element, 0),
                PropertyValue::F32(_) | PropertyValue::F64(_)
            )
        };
        if self.weight.is_some_and(is_float) { PathLength::Real(0.0) } else { PathLength::Whole(0) }
    }

    /// An error for an edge with a negative length, also where no search comes by: a shorter way may lead
    /// over it. The layers state their least lengths; where one is below zero or not stated, this reads the
    /// lengths of all edges.
    fn expect_lengths(&self) -> Result<()> {
        let Some(weight) = self.weight else { return Ok(()) };
        let has_sign = matches!(
            weight.element,
            ElementType::I32 | ElementType::I64 | ElementType::F32 | ElementType::F64
        );
        if !has_sign || self.graph.version.stated_range(weight).is_some_and(|(least, _)| least >= 0) {
            return Ok(());
        }
        for v in 0..self.graph.version.num_vertices() as VertexId {
            self.run.check()?;
            let edges = self.graph.edges(Direction::Out, v)?;
            for (index, &other) in edges.targets().iter().enumerate() {
                self.step(weight, v, other, &value(self.graph.version, &edges, weight, index)?)?;
            }
        }
        Ok(())
    }

    /// The shortest path of at most `max_steps`, not longer than `limit`, that keeps out of a detour's way.
    fn shortest(
        &self,
        from: VertexId,
        to: VertexId,
        detour: &Detour,
        max_steps: Option<usize>,
        limit: Option<PathLength>,
    ) -> Result<Option<Path>> {
        let zero = self.zero();
        if from == to {
            return Ok(Some(Path { lengths: vec![zero], vertices: vec![from], steps: Vec::new() }));
        }
        // Steps are lengths where no weight is.
        let max_length = max_steps.filter(|_| self.weight.is_none());
        let max_length = max_length.map(|steps| PathLength::Whole(steps as i128));
        let max_length = max_length.into_iter().chain(limit).min();
        let found = self.shortest_up_to(from, to, detour, max_length)?;
        match (found, max_steps) {
            (Some(path), Some(max)) if path.vertices.len() - 1 > max => {
                self.shortest_in_steps(from, to, detour, max)
            }
            (found, _) => Ok(found),
        }
    }

    /// The shortest path between two vertices, if it is not longer than `max_length`.
    fn shortest_up_to(
        &self,
        from: VertexId,
        to: VertexId,
        detour: &Detour,
        max_length: Option<PathLength>,
    ) -> Result<Option<Path>> {
        let zero = self.zero();
        let mut ahead = SearchSide::from(from, self.ahead, zero);
        let mut behind = self.behind.map(|behind| SearchSide::from(to, behind, zero));
        let mut best: Option<(PathLength, VertexId)> = None;
        loop {
            self.run.check()?;
            let (Some(near), far) = (ahead.nearest(), behind.as_mut().map(SearchSide::nearest)) else {
                break;
            };
            let bound = match far {
                Some(Some(far)) => near + far,
                Some(None) => break,
                None => near,
            };
            if best.is_some_and(|(length, _)| length <= bound) || max_length.is_some_and(|max| max < bound) {
                break;
            }
            match &mut behind {
                Some(behind) if behind.queue.len() < ahead.queue.len() => {
                    self.settle(behind, true, detour, |v, length| join(&ahead, v, length, &mut best))?;
                }
                Some(behind) => {
                    self.settle(&mut ahead, false, detour, |v, length| join(behind, v, length, &mut best))?;
                }
                None => self.settle(&mut ahead, false, detour, |v, length| {
                    if v == to && best.is_none_or(|(shortest, _)| length < shortest) {
                        best = Some((length, v));
                    }
                })?,
            }
        }
        let is_short = |&(length, _): &(PathLength, VertexId)| max_length.is_none_or(|max| length <= max);
        let Some((_, middle)) = best.filter(is_short) else { return Ok(None) };
        Ok(Some(joined(&ahead, behind.as_ref(), middle, zero)))
    }

    /// The shortest path of at most `max_steps`, where the shortest of all has more. A vertex is met again if
    /// that takes fewer steps than before: so the way to it meets no vertex twice.
    fn shortest_in_steps(
        &self,
        from: VertexId,
        to: VertexId,
        detour: &Detour,
        max_steps: usize,
    ) -> Result<Option<Path>> {
        let mut met = vec![StepsMet { v: from, length: self.zero(), previous: None }];
        let mut queue = BinaryHeap::from([Reverse((self.zero(), 0, from, 0))]);
        let mut fewest: HashMap<VertexId, usize> = HashMap::new();
        while let Some(Reverse((length, steps, v, place))) = queue.pop() {
            self.run.check()?;
            if fewest.get(&v).is_some_and(|&fewest| fewest <= steps) {
                continue;
            }
            fewest.insert(v, steps);
            if v == to {
                return Ok(Some(StepsMet::path(&met, place)));
            }
            if steps == max_steps {
                continue;
            }
            self.each_step(self.ahead, v, false, detour, |other, step| {
                if fewest.get(&other).is_none_or(|&fewest| steps + 1 < fewest) {
                    queue.push(Reverse((length + step, steps + 1, other, met.len())));
                    met.push(StepsMet { v: other, length: length + step, previous: Some((place, step)) });
                }
            })?;
        }
        Ok(None)
    }

    /// Calls `take` with the other end and the length of each edge that leads on from a vertex, or back.
    fn each_step(
        &self,
        directions: &[Direction],
        v: VertexId,
        is_back: bool,
        detour: &Detour,
        mut take: impl FnMut(VertexId, PathLength),
    ) -> Result<()> {
        for &direction in directions {
            let edges = self.graph.edges(direction, v)?;
            for (index, &other) in edges.targets().iter().enumerate() {
                let way = if is_back { (other, v) } else { (v, other) };
                let is_avoided = detour.vertices.contains(&other) || self.avoid.contains(&other);
                if is_avoided || detour.edges.contains(&way) {
                    continue;
                }
                let Some(weight) = self.weight else {
                    take(other, PathLength::Whole(1));
                    continue;
                };
                let (source, target) = if direction == Direction::Out { (v, other) } else { (other, v) };
                let length = value(self.graph.version, &edges, weight, index)?;
                take(other, self.step(weight, source, target, &length)?);
            }
        }
        Ok(())
    }

    /// Settles the nearest vertex of a search, and tells `meet` of each vertex that it brings nearer.
    fn settle(
        &self,
        search: &mut SearchSide,
        is_back: bool,
        detour: &Detour,
        mut meet: impl FnMut(VertexId, PathLength),
    ) -> Result<()> {
        let Some(Reverse((length, v))) = search.queue.pop() else { return Ok(()) };
        if let Some(met) = search.met.get_mut(&v) {
            met.is_settled = true;
        }
        self.each_step(search.directions, v, is_back, detour, |other, step| {
            let length = length + step;
            if search.met.get(&other).is_none_or(|met| length < met.length) {
                search.met.insert(other, Met { length, previous: Some((v, step)), is_settled: false });
                search.queue.push(Reverse((length, other)));
                meet(other, length);
            }
        })
    }

    /// The length of an edge.
    fn step(
        &self,
        weight: &PropertyRecord,
        u: VertexId,
        v: VertexId,
        value: &PropertyValue<'_>,
    ) -> Result<PathLength> {
        if value.is_missing() {
            let ids = self.graph.version.ids();
            let (u, v, name) = (ids.external_of(u)?, ids.external_of(v)?, &weight.name);
            return Err(Error::usage(message![
                format!(
                    "the edge from {u} to {v} has no {name}, and so no length: to count steps, leave out "
                ),
                Setting::Weight,
            ]));
        }
        let length = match *value {
            // The sum makes a negative zero a zero.
            PropertyValue::F32(value) => PathLength::Real(f64::from(value) + 0.0),
            PropertyValue::F64(value) => PathLength::Real(value + 0.0),
            PropertyValue::I64(value) => PathLength::Whole(value.into()),
            PropertyValue::I32(value) => PathLength::Whole(value.into()),
            PropertyValue::U64(value) => PathLength::Whole(value.into()),
            PropertyValue::U32(value) => PathLength::Whole(value.into()),
            PropertyValue::U16(value) => PathLength::Whole(value.into()),
            PropertyValue::U8(value) => PathLength::Whole(value.into()),
            // Refused before a search begins.
            _ => PathLength::Real(f64::NAN),
        };
        if length >= length.zero() && f64::from(length).is_finite() {
            return Ok(length);
        }
        let ids = self.graph.version.ids();
        let (u, v, name) = (ids.external_of(u)?.to_string(), ids.external_of(v)?.to_string(), &weight.name);
        Err(Error::usage(message![
            format!(
                "the edge from {u:?} to {v:?} has the {name} {value}, and a length is not negative: to count \
                 steps, leave out "
            ),
            Setting::Weight,
            ", or use ",
            Operation::Run.on("bellman-ford"),
        ]))
    }

    /// Adds the shortest deviations from the last of the paths that were found, which left an earlier one at
    /// a place, and keeps as many candidates as are wanted. Returns the number of searches.
    fn deviate(
        &self,
        found: &[Path],
        left_at: usize,
        wanted: usize,
        max_steps: Option<usize>,
        candidates: &mut Candidates,
    ) -> Result<usize> {
        let Some(last) = found.last() else { return Ok(0) };
        let Some(&to) = last.vertices.last() else { return Ok(0) };
        let places = left_at..last.vertices.len() - 1;
        for place in places.clone() {
            while candidates.len() > wanted {
                candidates.pop_last();
            }
            let worst = candidates.last_key_value().filter(|_| candidates.len() == wanted);
            let limit = worst.and_then(|((worst, _), _)| worst.left_of(last.lengths[place]));
            let (start, spur) = (&last.vertices[..place], last.vertices[place]);
            let same_start = found.iter().filter(|path| path.vertices.starts_with(&last.vertices[..=place]));
            let detour = Detour {
                vertices: start.iter().copied().collect(),
                edges: same_start.filter_map(|path| Some((spur, *path.vertices.get(place + 1)?))).collect(),
            };
            // A path that was found has no more steps than are allowed.
            let steps_left = max_steps.map(|max| max - place);
            if let Some(rest) = self.shortest(spur, to, &detour, steps_left, limit)? {
                let before = last.lengths[place];
                let after = rest.lengths.iter().map(|&length| before + length);
                let path = Path {
                    lengths: last.lengths[..place].iter().copied().chain(after).collect(),
                    vertices: [start, &rest.vertices].concat(),
                    steps: [&last.steps[..place], &rest.steps].concat(),
                };
                candidates.insert((path.length(), path), place);
            }
        }
        Ok(places.len())
    }
}

/// Notes a path through a vertex that both searches have met.
fn join(other: &SearchSide, v: VertexId, length: PathLength, best: &mut Option<(PathLength, VertexId)>) {
    if let Some(met) = other.met.get(&v) {
        let whole = length + met.length;
        if best.is_none_or(|(shortest, _)| whole < shortest) {
            *best = Some((whole, v));
        }
    }
}

/// The path through the vertex where two searches met.
fn joined(ahead: &SearchSide, behind: Option<&SearchSide>, middle: VertexId, zero: PathLength) -> Path {
    let mut start = ahead.way_back(middle);
    start.reverse();
    let mut vertices: Vec<VertexId> = start.iter().map(|&(v, _)| v).collect();
    vertices.push(middle);
    let mut steps: Vec<PathLength> = start.iter().map(|&(_, step)| step).collect();
    for (v, step) in behind.map(|behind| behind.way_back(middle)).unwrap_or_default() {
        vertices.push(v);
        steps.push(step);
    }
    let mut length = zero;
    let mut lengths = vec![zero];
    lengths.extend(steps.iter().map(|&step| {
        length = length + step;
        length
    }));
    Path { lengths, vertices, steps }
}
