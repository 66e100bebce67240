//! The vertices of the database that edges go to.

use std::sync::Arc;

use esker_format::value::decimal::shown;
use esker_graph::Message;

/// Tells whether an id is a vertex.
type IsVertex = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Tells which ids are vertices of a database already: a first line such as `id` names the column of ids,
/// unless it is one of them.
#[derive(Clone, Default)]
pub struct KnownVertices(Option<Arc<IsVertex>>);

impl KnownVertices {
    /// Those of which `is_vertex` says so.
    pub fn of(is_vertex: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_vertex)))
    }

    pub(crate) fn contains(&self, id: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|is_vertex| is_vertex(id))
    }

    /// Checks that there is a vertex with an id.
    ///
    /// # Errors
    /// That there is none, in words.
    pub(crate) fn expect(&self, id: &[u8]) -> std::result::Result<(), Message> {
        match self.contains(id) {
            true => Ok(()),
            false => Err(format!("no vertex has the id {:?}", shown(id)).into()),
        }
    }
}

impl std::fmt::Debug for KnownVertices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("KnownVertices").field(&self.0.is_some()).finish()
    }
}
