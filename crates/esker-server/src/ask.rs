//! A question: what was asked, of what.

use esker::graph::Run;
use serde_json::Value;

use crate::query::Query;
use crate::served::Served;

/// A question.
pub(crate) struct Ask<'a> {
    pub(crate) served: &'a Served,
    /// Its threads, budget and token.
    pub(crate) run: &'a Run,
    pub(crate) query: &'a Query,
    /// The body; null without one.
    pub(crate) body: &'a Value,
}
