//! The kinds of edges of the database that rows name edges of.

use std::sync::Arc;

use esker_graph::Message;

/// Refuses a kind that no edge ever had.
type ExpectKind = dyn Fn(&[u8]) -> std::result::Result<(), Message> + Send + Sync;

/// Tells which kinds rows may name.
#[derive(Clone)]
pub struct KnownKinds {
    /// The property that has the kinds.
    pub(crate) property: String,
    expect: Arc<ExpectKind>,
}

impl KnownKinds {
    /// Kinds in a property; `expect` says why a text is none of them.
    pub fn of(
        property: impl Into<String>,
        expect: impl Fn(&[u8]) -> std::result::Result<(), Message> + Send + Sync + 'static,
    ) -> Self {
        Self { property: property.into(), expect: Arc::new(expect) }
    }

    /// Checks that there is a kind.
    ///
    /// # Errors
    /// That there is none, in words.
    pub(crate) fn expect(&self, kind: &[u8]) -> std::result::Result<(), Message> {
        (self.expect)(kind)
    }
}

impl std::fmt::Debug for KnownKinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KnownKinds").field("property", &self.property).finish_non_exhaustive()
    }
}
