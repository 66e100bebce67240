//! The rows of a graph: the one order and numbering of its vertices that Python sees.
//!
//! Row `r` is the vertex whose id is the `r`-th of `Graph.ids()`. Integer ids ascend; text ids are in the
//! order in which the database numbers their vertices. Removed vertices have no row. Whatever goes to Python
//! or comes from it is numbered by rows; no other module shows numbers of the store.

use std::sync::{Arc, OnceLock};

use esker::answer::{Answer, Values};
use esker::graph::{NONE, VertexId, vertex};
use esker::store::View;
use esker::store::format::IdMapKind;
use esker::store::ids::ExternalId;

use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::settings::brief;

/// The rows of a version. Clones share the order, which is found when it is first needed.
#[derive(Clone)]
pub(crate) struct VersionRows(Arc<Shared>);

struct Shared {
    view: View,
    order: OnceLock<Option<RowOrder>>,
}

/// The order of rows, where row `v` is not vertex `v`. Memory: two vertex ids a vertex.
pub(crate) struct RowOrder {
    /// The vertex of each row.
    vertices: Vec<VertexId>,
    /// The row of each vertex; [`NONE`] for removed ones.
    rows: Vec<VertexId>,
    /// Whether vertices ascend with rows.
    ascends: bool,
}

impl VersionRows {
    /// The rows of a version.
    pub(crate) fn new(view: &View) -> Self {
        Self(Arc::new(Shared { view: view.clone(), order: OnceLock::new() }))
    }

    /// Rows that are the vertices of a version, in any order.
    pub(crate) fn of_vertices(view: &View) -> Self {
        Self(Arc::new(Shared { view: view.clone(), order: OnceLock::from(None) }))
    }

    /// The view.
    pub(crate) fn view(&self) -> &View {
        &self.0.view
    }

    /// The order; `None` if row `v` is vertex `v`. Time: at first O(n), and a sort if integer ids are sparse
    /// and do not ascend.
    pub(crate) fn order(&self) -> PyOutcome<Option<&RowOrder>> {
        if let Some(known) = self.0.order.get() {
            return Ok(known.as_ref());
        }
        let found = RowOrder::of(&self.0.view)?;
        Ok(self.0.order.get_or_init(|| found).as_ref())
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> PyOutcome<usize> {
        Ok(self.0.view.num_present(&*brief()?)?)
    }

    /// The vertex of a row, which must exist.
    pub(crate) fn vertex(&self, row: VertexId) -> PyOutcome<VertexId> {
        let len = self.len()?;
        if row as usize >= len {
            return invalid(format!("there is no vertex number {row}: there are {len}"));
        }
        Ok(self.order()?.map_or(row, |order| order.vertex(row)))
    }

    /// The row of a vertex that is not removed.
    pub(crate) fn row(&self, v: VertexId) -> PyOutcome<VertexId> {
        Ok(self.order()?.map_or(v, |order| order.row(v)))
    }

    /// Puts vertices in the order of their rows. Does not need the order of all vertices.
    pub(crate) fn sort(&self, vertices: &mut Vec<VertexId>) -> PyOutcome<()> {
        let ids = self.0.view.version().ids();
        if !ids.is_text() {
            let keyed = vertices.iter().map(|&v| Ok((integer(ids.external_of(v)?)?, v)));
            let mut keyed = keyed.collect::<PyOutcome<Vec<_>>>()?;
            keyed.sort_by_key(|&(id, _)| id);
            *vertices = keyed.into_iter().map(|(_, v)| v).collect();
        }
        Ok(())
    }
}

impl RowOrder {
    fn of(view: &View) -> PyOutcome<Option<Self>> {
        let run = brief()?;
        let remaining = view.remaining(&run)?;
        let ascends = ids_ascend(view)?;
        let vertices = match (ascends, remaining) {
            (true, None) => return Ok(None),
            (true, Some(remaining)) => remaining.origins().to_vec(),
            (false, None) => by_id(view, |_| true)?,
            (false, Some(remaining)) => by_id(view, |v| remaining.place(v).is_some())?,
        };
        let mut rows = vec![NONE; view.version().num_vertices()];
        for (row, &v) in vertices.iter().enumerate() {
            rows[v as usize] = vertex(row);
        }
        Ok(Some(Self { vertices, rows, ascends }))
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// The vertex of each row.
    pub(crate) fn vertices(&self) -> &[VertexId] {
        &self.vertices
    }

    /// The vertex of an existing row, or that of [`Self::name_of`].
    pub(crate) fn vertex(&self, row: VertexId) -> VertexId {
        self.vertices.get(row as usize).copied().unwrap_or_else(|| row - vertex(self.len()))
    }

    /// The row of a vertex; of a removed one, which may name a group, its number after all rows.
    fn name_of(&self, v: VertexId) -> VertexId {
        match self.row(v) {
            NONE => v + vertex(self.len()),
            row => row,
        }
    }

    /// The row of a vertex; [`NONE`] for removed ones and for [`NONE`].
    pub(crate) fn row(&self, v: VertexId) -> VertexId {
        self.rows.get(v as usize).copied().unwrap_or(NONE)
    }

    /// Whether vertices ascend with rows.
    pub(crate) fn ascends(&self) -> bool {
        self.ascends
    }

    /// The values of rows, from those of vertices.
    pub(crate) fn gather<T: Copy>(&self, of_vertices: &[T]) -> Vec<T> {
        pick(of_vertices, &self.vertices)
    }

    /// An answer with rows in place of vertices. Rows of vertices are in order; rows that are edges keep
    /// theirs.
    pub(crate) fn answer(&self, mut answer: Answer) -> Answer {
        for (u, v) in answer.edges.iter_mut().flatten() {
            (*u, *v) = (self.row(*u), self.row(*v));
        }
        let places = match (&answer.edges, answer.columns.first()) {
            (None, Some(column)) => Some(self.places(answer.vertices.as_deref(), column.values.len())),
            _ => None,
        };
        for column in &mut answer.columns {
            if let Some((_, places)) = &places {
                let values = std::mem::replace(&mut column.values, Values::Count(Vec::new()));
                column.values = match values {
                    Values::Vertex(values) => Values::Vertex(pick(&values, places)),
                    Values::Index(values) => Values::Index(pick(&values, places)),
                    Values::Integer(values) => Values::Integer(pick(&values, places)),
                    Values::Count(values) => Values::Count(pick(&values, places)),
                    Values::Float(values) => Values::Float(pick(&values, places)),
                };
            }
            if let Values::Vertex(values) = &mut column.values {
                values.iter_mut().filter(|v| **v != NONE).for_each(|v| *v = self.name_of(*v));
            }
        }
        answer.vertices = places.and_then(|(rows, _)| rows).map(Arc::from);
        answer
    }

    /// For an answer on `count` vertices, in ascending order: the rows that it has, unless it has all, and
    /// the place of each in the answer.
    fn places(&self, vertices: Option<&[VertexId]>, count: usize) -> (Option<Vec<VertexId>>, Vec<VertexId>) {
        let vertex_at = |place: usize| vertices.map_or_else(|| vertex(place), |some| some[place]);
        if count == self.len() {
            let mut places = vec![0; count];
            for place in 0..count {
                places[self.row(vertex_at(place)) as usize] = vertex(place);
            }
            return (None, places);
        }
        let mut pairs: Vec<_> = (0..count).map(|place| (self.row(vertex_at(place)), vertex(place))).collect();
        if !self.ascends {
            pairs.sort_unstable();
        }
        let (rows, places) = pairs.into_iter().unzip();
        (Some(rows), places)
    }
}

fn pick<T: Copy>(values: &[T], places: &[VertexId]) -> Vec<T> {
    places.iter().map(|&place| values[place as usize]).collect()
}

fn integer(id: ExternalId<'_>) -> PyOutcome<u64> {
    match id {
        ExternalId::Int(id) => Ok(id),
        ExternalId::Text(_) => {
            Err(PyFailure::Named("Error", "an integer id became a text; this is a bug".to_owned()))
        }
    }
}

/// Whether the ids of all vertices, removed ones included, are in the order of rows.
fn ids_ascend(view: &View) -> PyOutcome<bool> {
    let ids = view.version().ids();
    let is_identity = view.version().manifest().ids.kind == IdMapKind::Identity && ids.dense_base().is_some();
    if ids.is_text() || is_identity {
        return Ok(true);
    }
    let (mut ascend, mut last) = (true, None);
    ids.each_external(0..ids.num_vertices(), |id| {
        if let ExternalId::Int(id) = id {
            ascend &= last.is_none_or(|last| last < id);
            last = Some(id);
        }
        Ok(())
    })?;
    Ok(ascend)
}

/// The vertices that are there, by ascending integer id.
fn by_id(view: &View, is_there: impl Fn(VertexId) -> bool) -> PyOutcome<Vec<VertexId>> {
    let ids = view.version().ids();
    let mut keyed: Vec<(u64, VertexId)> = Vec::with_capacity(ids.num_vertices());
    let mut next = 0;
    ids.each_external(0..ids.num_vertices(), |id| {
        if let ExternalId::Int(id) = id
            && is_there(vertex(next))
        {
            keyed.push((id, vertex(next)));
        }
        next += 1;
        Ok(())
    })?;
    if let Some(base) = ids.dense_base().filter(|_| keyed.len() == ids.num_vertices()) {
        // Each id is one of these consecutive integers.
        let mut vertices = vec![0; keyed.len()];
        keyed.iter().for_each(|&(id, v)| vertices[(id - base) as usize] = v);
        return Ok(vertices);
    }
    keyed.sort_unstable();
    Ok(keyed.into_iter().map(|(_, v)| v).collect())
}
