//! What a verifier reads, what stops it, and why it does not accept a result.

use esker_graph::{Cancel, Rows, Stop, VertexId, Weight};

/// Why a verifier does not accept a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The first violated property.
    Wrong(String),
    /// The verifier was stopped before it could tell.
    Stopped(Stop),
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wrong(reason) => f.write_str(reason),
            Self::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Rejection {}

/// The out-lists that a verifier reads, and the token that stops it. Rows alone are read to the end.
#[derive(Debug)]
pub struct WatchedRows<'a, W: Weight> {
    rows: &'a Rows<'a, W>,
    cancel: Option<&'a Cancel>,
}

impl<W: Weight> Clone for WatchedRows<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Weight> Copy for WatchedRows<'_, W> {}

impl<'a, W: Weight> From<&'a Rows<'a, W>> for WatchedRows<'a, W> {
    fn from(rows: &'a Rows<'a, W>) -> Self {
        Self { rows, cancel: None }
    }
}

impl<'a, W: Weight> WatchedRows<'a, W> {
    /// Rows that a verifier reads until `cancel` stops it.
    pub fn until(rows: &'a Rows<'a, W>, cancel: &'a Cancel) -> Self {
        Self { rows, cancel: Some(cancel) }
    }

    /// Other rows, which the same token stops.
    pub(super) fn beside<'b, V: Weight>(self, rows: &'b Rows<'b, V>) -> WatchedRows<'b, V>
    where
        'a: 'b,
    {
        WatchedRows { rows, cancel: self.cancel }
    }

    pub(super) fn num_vertices(self) -> usize {
        self.rows.num_vertices()
    }

    /// The list of a vertex with its weights, or an error if the verifier was stopped.
    pub(super) fn list(self, v: VertexId) -> Result<(&'a [VertexId], &'a [W]), Rejection> {
        self.check()?;
        Ok(self.rows.list(v))
    }

    /// The weights of the edges between two vertices.
    pub(super) fn between(self, u: VertexId, v: VertexId) -> &'a [W] {
        self.rows.between(u, v)
    }

    /// An error if the verifier was stopped. Called in every loop.
    pub(super) fn check(self) -> Result<(), Rejection> {
        self.cancel.map_or(Ok(()), Cancel::check).map_err(Rejection::Stopped)
    }

    /// An error with the message unless `holds`, or if the verifier was stopped.
    pub(super) fn ensure(self, holds: bool, message: impl FnOnce() -> String) -> Result<(), Rejection> {
        self.check()?;
        if holds { Ok(()) } else { Err(Rejection::Wrong(message())) }
    }
}
