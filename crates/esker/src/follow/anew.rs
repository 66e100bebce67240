//! Answers that each step computes anew: of algorithms and options without an update, on windows that join
//! edges, and without the directions of edges.

use std::time::Instant;

use esker_graph::{NONE, VertexId};
use esker_store::format::MemoryLimit;

use super::change::VersionChange;
use super::live::{At, Live, Updated};
use crate::answer::{Answer, Fact, Ranking, Value, Values};
use crate::catalogue::{Entry, Params, Resources};
use crate::computation::Computation;
use crate::error::{Error, Result};
use crate::window::absent::{NamedVertices, OfWindow};

/// The answer of an algorithm on the newest step.
pub(super) struct Anew {
    entry: &'static Entry,
    params: Params,
    /// A row for each vertex; rows of vertices that are not there have no value.
    values: Option<Values>,
    ranking: Ranking,
    facts: Vec<(&'static str, Fact)>,
}

impl Anew {
    /// Without an answer yet.
    pub(super) fn new(entry: &'static Entry, params: &Params) -> Result<Self> {
        if entry.edges {
            let name = entry.name;
            let message = format!(
                "{name} answers with edges and cannot be followed: run it on each new version instead"
            );
            return Err(Error::usage(message));
        }
        Ok(Self { entry, params: params.clone(), values: None, ranking: Ranking::Largest, facts: Vec::new() })
    }
}

impl Live for Anew {
    fn updates(&self) -> bool {
        false
    }

    fn ranking(&self) -> Ranking {
        self.ranking
    }

    fn bytes(&self, n: usize) -> u64 {
        if self.entry.has_rows() { (n * size_of::<u64>()) as u64 } else { 0 }
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let unlimited = MemoryLimit::of(u64::MAX);
        let resources = Resources::within(unlimited, at.run.threads(), at.run.deterministic());
        let removed = at.view.removed(at.run)?;
        let named = match at.view.window_index() {
            Some(_) => NamedVertices::of(self.entry, &self.params, at.view.version(), at.run)?,
            None => NamedVertices::default(),
        };
        let OfWindow { params, lacks } = named.in_window(&self.params, |v| !removed.is_removed(v));
        if lacks.is_some() {
            self.facts = Vec::new();
            self.values = self
                .entry
                .has_rows()
                .then(|| Values::Float(vec![f64::NAN; at.view.version().num_vertices()]));
            return Ok(());
        }
        let planned = Computation::of(self.entry, &params).plan_beside(at.view, &resources, at.run)?;
        let Answer { vertices, columns, facts, .. } = planned.run(at.run)?;
        self.facts = facts;
        if let Some(column) = columns.into_iter().next() {
            let count = at.view.version().num_vertices();
            self.ranking = column.ranking;
            self.values = Some(match &vertices {
                None => column.values,
                Some(vertices) => spread(&column.values, vertices, count),
            });
        }
        Ok(())
    }

    fn update(&mut self, _: At<'_>, _: &VersionChange, _: Option<Instant>) -> Result<Updated> {
        Ok(Updated::Stopped)
    }

    fn values(&self) -> Option<Values> {
        self.values.clone()
    }

    fn value(&self, v: VertexId) -> Value {
        self.values.as_ref().map_or(Value::Missing, |values| values.get(v as usize))
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        self.facts.clone()
    }
}

/// The values of some vertices as rows of all `count` vertices.
fn spread(values: &Values, vertices: &[VertexId], count: usize) -> Values {
    fn of<T: Copy>(values: &[T], vertices: &[VertexId], count: usize, none: T) -> Vec<T> {
        let mut all = vec![none; count];
        vertices.iter().zip(values).for_each(|(&v, &value)| all[v as usize] = value);
        all
    }
    match values {
        Values::Vertex(values) => Values::Vertex(of(values, vertices, count, NONE)),
        Values::Index(values) => Values::Index(of(values, vertices, count, NONE)),
        Values::Integer(values) => Values::Integer(of(values, vertices, count, Values::NO_INTEGER)),
        Values::Count(values) => Values::Count(of(values, vertices, count, u64::MAX)),
        Values::Float(values) => Values::Float(of(values, vertices, count, f64::NAN)),
    }
}
