//! The edges of a vertex, and those among some vertices.

use std::collections::BTreeSet;

use esker_graph::{Direction, Run, Setting, VertexId, message, vertex};
use esker_store::format::PropertyRecord;
use esker_store::property::PropertyValue;
use esker_store::windows::{ArcFilter, ListedArc, TimeWindow, time_at};
use esker_store::{Version, VertexEdges};

use crate::error::{Error, Result};
use crate::selection::Conditions;

/// What a small question is asked of: a version, or those of its edges that meet conditions and lie in a
/// window.
#[derive(Debug, Clone, Copy)]
pub struct LocalGraph<'a> {
    pub(super) version: &'a Version,
    conditions: Option<&'a Conditions>,
    /// The number of the property that holds the times, and the range.
    window: Option<(u32, TimeWindow)>,
}

impl<'a> From<&'a Version> for LocalGraph<'a> {
    fn from(version: &'a Version) -> Self {
        Self { version, conditions: None, window: None }
    }
}

impl<'a> LocalGraph<'a> {
    /// The edges of a version that meet conditions.
    pub fn new(version: &'a Version, conditions: Option<&'a Conditions>) -> Self {
        Self { version, conditions, window: None }
    }

    /// Those of its edges whose time in a property lies in a window. Copies of an edge stay as they are.
    #[must_use]
    pub fn within(self, times: &PropertyRecord, window: TimeWindow) -> Self {
        Self { window: Some((times.number, window)), ..self }
    }

    /// The version.
    pub fn version(self) -> &'a Version {
        self.version
    }

    /// Whether edges must meet conditions.
    pub fn has_conditions(self) -> bool {
        self.conditions.is_some()
    }

    /// The edges of a vertex in one direction.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn edges(self, direction: Direction, v: VertexId) -> Result<VertexEdges<'a>> {
        let edges = self.version.edges(direction, v)?;
        if self.conditions.is_none() && self.window.is_none() {
            return Ok(edges);
        }
        Ok(edges.filtered(|other, lists, index| {
            if let Some((times, window)) = self.window
                && let Some(times) = lists.property(times as usize)
                && !window.contains(time_at(times, index)?)
            {
                return Ok(false);
            }
            let arc = ListedArc::of_list(direction, v, other, lists, index);
            self.conditions.map_or(Ok(true), |conditions| conditions.keeps(&arc))
        })?)
    }

    /// Their number.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn degree(self, direction: Direction, v: VertexId) -> Result<usize> {
        match (self.conditions, self.window) {
            (None, None) => Ok(self.version.degree(direction, v)?),
            _ => Ok(self.edges(direction, v)?.len()),
        }
    }
}

/// An edge with the values of its properties, by number of the property.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalEdge<'a> {
    /// Where it leaves; in an undirected graph, the vertex it was asked of.
    pub source: VertexId,
    /// Where it arrives.
    pub target: VertexId,
    /// A value for each edge property.
    pub values: Vec<PropertyValue<'a>>,
}

impl<'a> LocalEdge<'a> {
    /// The edge at a place in a list of `v`.
    pub(super) fn of_list(
        version: &'a Version,
        direction: Direction,
        v: VertexId,
        edges: &VertexEdges<'a>,
        index: usize,
    ) -> Result<Self> {
        let values = version.edge_properties().map(|property| value(version, edges, property, index));
        let other = edges.targets()[index];
        let (source, target) = if direction == Direction::Out { (v, other) } else { (other, v) };
        Ok(Self { source, target, values: values.collect::<Result<_>>()? })
    }
}

/// Which edges of a vertex count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Incidence {
    /// Those that leave it.
    #[default]
    Out,
    /// Those that arrive.
    In,
    /// Both; an edge from a vertex to itself counts once.
    Both,
}

impl Incidence {
    /// The lists to read in this graph: an undirected graph has one.
    ///
    /// # Errors
    /// [`Error::Usage`] if in-edges are needed and not stored.
    pub(crate) fn directions(self, version: &Version) -> Result<&'static [Direction]> {
        let directions: &[Direction] = match self {
            _ if !version.is_directed() => &[Direction::Out],
            Self::Out => &[Direction::Out],
            Self::In => &[Direction::In],
            Self::Both => &[Direction::Out, Direction::In],
        };
        if directions.iter().all(|&direction| version.has(direction)) {
            return Ok(directions);
        }
        Err(Error::usage(message![
            "the database stores no in-edges: ask for out-edges, or import it again without ",
            Setting::InEdges.to(false),
        ]))
    }
}

/// The value of a property of the edge at `index` of a list.
pub(super) fn value<'a>(
    version: &'a Version,
    edges: &esker_store::VertexEdges<'_>,
    property: &PropertyRecord,
    index: usize,
) -> Result<PropertyValue<'a>> {
    Ok(version.edge_value(property, edges.bits(property.number, index)?)?)
}

/// The edges of a vertex, by direction and neighbour.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let csv = *b"source,target,kind\nalice,bob,friend\nbob,carol,rival\n";
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::local::{Incidence, edges_of};
///
/// let edges = edges_of(&version, version.ids().find("bob")?, Incidence::Out)?;
/// assert_eq!((edges.len(), edges[0].values[0].to_string()), (1, "rival".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Incidence`]; [`esker_store::Error::Corrupt`].
pub fn edges_of<'a>(
    graph: impl Into<LocalGraph<'a>>,
    v: VertexId,
    reach: Incidence,
) -> Result<Vec<LocalEdge<'a>>> {
    let graph = graph.into();
    let mut found = Vec::new();
    each_edge(graph, v, reach, |direction, edges, index| {
        found.push(LocalEdge::of_list(graph.version, direction, v, edges, index)?);
        Ok(())
    })?;
    Ok(found)
}

/// Calls `take` with each edge of a vertex: the list that holds it, and its place there.
pub(super) fn each_edge<'a>(
    graph: LocalGraph<'a>,
    v: VertexId,
    reach: Incidence,
    mut take: impl FnMut(Direction, &VertexEdges<'a>, usize) -> Result<()>,
) -> Result<()> {
    let directions = reach.directions(graph.version)?;
    for &direction in directions {
        let edges = graph.edges(direction, v)?;
        for (index, &other) in edges.targets().iter().enumerate() {
            // The out-edges had a self-loop.
            let is_known = direction == Direction::In && other == v && directions.len() == 2;
            if !is_known {
                take(direction, &edges, index)?;
            }
        }
    }
    Ok(())
}

/// The number of edges that leave a vertex, and of those that arrive: `None` if in-edges are not stored.
///
/// # Errors
/// [`esker_store::Error::Corrupt`].
pub fn degrees<'a>(graph: impl Into<LocalGraph<'a>>, v: VertexId) -> Result<(usize, Option<usize>)> {
    let graph = graph.into();
    let (version, out) = (graph.version, graph.degree(Direction::Out, v)?);
    let incoming = match (version.is_directed(), version.has(Direction::In)) {
        (false, _) => Some(out),
        (true, true) => Some(graph.degree(Direction::In, v)?),
        (true, false) => None,
    };
    Ok((out, incoming))
}

/// The number of edges of each vertex that is there, in some directions together.
///
/// # Errors
/// [`esker_store::Error::Corrupt`]; cancellation.
pub fn degrees_of_all<'a>(
    graph: impl Into<LocalGraph<'a>>,
    directions: &[Direction],
    run: &Run,
) -> Result<Vec<u64>> {
    let graph = graph.into();
    let version = graph.version;
    let removed = version.removed(run)?;
    let mut found = Vec::new();
    for v in (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
        if v & 0xffff == 0 {
            run.check()?;
        }
        let mut degree = 0;
        for &direction in directions {
            degree += graph.degree(direction, v)? as u64;
        }
        found.push(degree);
    }
    Ok(found)
}

/// The vertices at most `radius` steps from some, ascending.
///
/// # Errors
/// As [`edges_of`]; cancellation.
pub fn within<'a>(
    graph: impl Into<LocalGraph<'a>>,
    from: &[VertexId],
    radius: usize,
    reach: Incidence,
    run: &Run,
) -> Result<Vec<VertexId>> {
    let graph = graph.into();
    let directions = reach.directions(graph.version)?;
    let mut found: BTreeSet<VertexId> = from.iter().copied().collect();
    let mut frontier: Vec<VertexId> = found.iter().copied().collect();
    for _ in 0..radius {
        let mut next = Vec::new();
        for &v in &frontier {
            run.check()?;
            for &direction in directions {
                let edges = graph.edges(direction, v)?;
                next.extend(edges.targets().iter().copied().filter(|&neighbour| found.insert(neighbour)));
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    Ok(found.into_iter().collect())
}

/// The edges whose two ends are among `vertices`, which ascend. An undirected edge appears once.
///
/// # Errors
/// As [`edges_of`]; cancellation.
pub fn between<'a>(
    graph: impl Into<LocalGraph<'a>>,
    vertices: &[VertexId],
    run: &Run,
) -> Result<Vec<LocalEdge<'a>>> {
    let graph = graph.into();
    let mut found = Vec::new();
    for &v in vertices {
        run.check()?;
        let edges = edges_of(graph, v, Incidence::Out)?;
        let is_inside = |edge: &LocalEdge<'_>| {
            (graph.version.is_directed() || edge.target >= v) && vertices.binary_search(&edge.target).is_ok()
        };
        found.extend(edges.into_iter().filter(is_inside));
    }
    Ok(found)
}
