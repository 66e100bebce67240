//! The view that an algorithm has of its shard.

use std::str::FromStr;

use esker_format::{Error, Result, Sought};
use esker_graph::{Direction, Graph, Message, Operation, Run, Setting, Stop, VertexId, message, vertex};
use esker_store::{StoredGraph, Version};

use crate::exchange::routes::Routes;
use crate::model::answer::{Cell, Outline};
use crate::model::owner::{Owners, typed_id};
use crate::net::engine::Engine;

/// Appends the cells of an own vertex to a row.
pub(crate) type PutCells = dyn Fn(VertexId, &mut Vec<Cell>);

/// What an algorithm found.
pub(crate) type FoundValues = (Outline, Box<PutCells>);

/// The shard of this process.
pub(crate) struct Local<'a, 's> {
    pub(crate) version: &'s Version,
    pub(crate) graph: &'a StoredGraph<'s, ()>,
    pub(crate) run: &'a Run,
    pub(crate) routes: &'a Routes,
    pub(crate) owners: Owners,
}

impl Local<'_, '_> {
    /// The lengths of the out-lists: those of own vertices whole, with the parts of delegates in other
    /// shards; those of ghosts as they are here.
    ///
    /// # Errors
    /// That of the exchange.
    pub(crate) fn out_degrees(&self, engine: &mut Engine<'_>) -> Result<Vec<u64>> {
        let degree = |v: usize| self.graph.degree(Direction::Out, vertex(v)) as u64;
        let mut degrees: Vec<u64> = (0..self.graph.num_vertices()).map(degree).collect();
        if self.routes.has_delegates() {
            let parts = self.routes.delegated_ghosts().iter().map(|&v| (v, degree(v as usize)));
            self.routes.tell_owners(engine, 0, parts, |v, part| degrees[v as usize] += part)?;
        }
        Ok(degrees)
    }

    /// The vertex whose id a user typed, if this shard owns it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if this shard would own it but has no such vertex; [`Error::Usage`] if the id is
    /// not of the cluster's kind.
    pub(crate) fn find_owned(&self, text: &str) -> Result<Option<VertexId>> {
        let id = typed_id(text, self.version.ids().is_text())?;
        if self.owners.of(id) != self.routes.shard() {
            return Ok(None);
        }
        let found = self.version.ids().vertex_of(id)?.filter(|&v| (v as usize) < self.version.num_vertices());
        found.map(Some).ok_or_else(|| no_vertex(text))
    }
}

/// An error unless the cluster is undirected, for the algorithm of this name.
pub(crate) fn expect_undirected(algorithm: &str, directed: bool) -> Result<()> {
    if !directed {
        return Ok(());
    }
    let create = Operation::ClusterCreate.with(Setting::Directed.to(false));
    Err(unsuitable(message![format!("{algorithm} needs an undirected cluster: make one with "), create]))
}

/// The error of a question that the graph cannot answer, whichever worker finds out.
pub(crate) fn unsuitable(reason: impl Into<Message>) -> Error {
    Stop::unsuitable(reason.into()).into()
}

/// The error of a vertex that no shard has.
pub(crate) fn no_vertex(id: &str) -> Error {
    Error::not_found(Sought::Vertex, format!("no vertex of the cluster has the id {id:?}"))
}

/// The options of a run, as a user typed them.
pub(crate) struct Options<'a>(pub(crate) &'a [(String, String)]);

impl Options<'_> {
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of an option that may be given several times.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// An integer from 0, or its default.
    pub(crate) fn integer(&self, name: &str, default: u64) -> Result<u64> {
        self.parsed(name, default, "an integer from 0")
    }

    /// A number from 0, or its default.
    pub(crate) fn number(&self, name: &str, default: f64) -> Result<f64> {
        let kind = "a number from 0";
        let number: f64 = self.parsed(name, default, kind)?;
        // A number that is none is not from 0 either.
        if number >= 0.0 { Ok(number) } else { Err(refused(name, &number.to_string(), kind)) }
    }

    fn parsed<T: FromStr>(&self, name: &str, default: T, kind: &str) -> Result<T> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().map_err(|_| refused(name, text, kind))
    }
}

fn refused(name: &str, text: &str, kind: &str) -> Error {
    Error::usage(format!("{name}={text} is not {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_no_numbers_of_their_kind_are_refused() {
        let given = |value: &str| [("tolerance".to_owned(), value.to_owned())];
        let number = |value: &str| Options(&given(value)).number("tolerance", 1.0);
        assert_eq!(number("0.5").ok(), Some(0.5));
        assert_eq!(Options(&[]).number("tolerance", 0.25).ok(), Some(0.25));
        for value in ["NaN", "-1", "-inf", "x"] {
            let message = number(value).expect_err(value).to_string();
            assert_eq!(message, format!("tolerance={value} is not a number from 0"));
        }
        let message = Options(&given("1.5")).integer("tolerance", 1).expect_err("a fraction").to_string();
        assert_eq!(message, "tolerance=1.5 is not an integer from 0");
    }
}
